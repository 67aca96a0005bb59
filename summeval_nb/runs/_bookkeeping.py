# A plain private module: edited here, exported by no notebook, tested in tests/test_batch.py.
"""What a run keeps count of, and its manifest: written before the first shard is scored, and when all is there."""

from __future__ import annotations

import hashlib
import json
import platform
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from summeval_nb.ground.base import JsonDict
from summeval_nb.ground.items import ItemStream, Shard
from summeval_nb.runs._identity import find_unknown
from summeval_nb.runs._run_folder import (
    MANIFEST,
    SHARDS,
    file_check,
    manifest_check,
    read_own_manifest,
    remove_files,
    remove_shards,
)
from summeval_nb.runs.costs import LEDGER, Ledger, read_ledger
from summeval_nb.runs.jobs import Line, Scored
from summeval_nb.runs.workers import RunStopped, write_whole

if TYPE_CHECKING:
    from tqdm.auto import tqdm

OUTPUTS = {"jsonl": "results.jsonl", "parquet": "results.parquet"}


def settings_mark(settings: JsonDict) -> str:
    """Return what tells a run's settings in the head of each of its shards; empty where they cannot be known."""
    plain = json.loads(json.dumps(settings))
    return "" if find_unknown(plain) else manifest_check({"settings": plain})


@dataclass
class Bookkeeping:
    """The memory of a run: the names of its shards in order, and what was counted; a hundred bytes a shard."""

    folder: Path
    settings: JsonDict
    start: JsonDict
    stream: ItemStream
    bar: tqdm[NoReturn]
    resume: bool = True
    retry_failed: bool = False
    lost: bool = False  # the folder's manifest is, and is written anew
    begun: bool = False
    names: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    digest: Any = field(default_factory=hashlib.sha256)
    scored: int = 0
    known: int = 0
    failed: int = 0
    kept: int = 0  # shards from before
    unproven: int = 0  # whole ones of which nothing says that they are of these settings
    usage: Ledger = field(default_factory=Ledger)
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Find out whether the manifest was lost, now or before a kill: then only a shard's own word counts."""
        self.mark, self.recovered = settings_mark(self.settings), self.lost
        if self.resume and not self.lost and (manifest := read_own_manifest(self.folder)):
            self.recovered = bool(manifest.get("recovered")) and not manifest.get("complete")

    def begin(self) -> None:
        """Make the folder this run's: before its first shard is scored, and not before."""
        if not self.begun:
            if not self.resume:
                self._start_over()
            recovered = {"recovered": True} if self.recovered else {}
            self._write_manifest({"complete": False, **recovered, **self.start})
        self.begun = True

    def _start_over(self) -> None:
        """Remove the files of the run that the folder holds, those that its manifest lists."""
        if manifest := read_own_manifest(self.folder):
            text = json.dumps(manifest | {"complete": False}, indent=1)
            write_whole(self.folder / MANIFEST, [text.encode()])
            remove_files(self.folder, manifest, [LEDGER, *OUTPUTS.values()])
            remove_shards(self.folder)

    def see(self, shard: Shard) -> None:
        """Remember that a shard belongs to the corpus."""
        self.names.append(shard.name)
        self.digest.update(shard.digest.encode())
        self.bar.total = self.stream.total()
        if not self.resume or self.lost:
            self.begin()

    def is_of_these_settings(self, head: JsonDict) -> bool:
        """Whether a whole shard is of this run: by its own word, or by the manifest's if that was never lost."""
        said = head.get("settings", "")
        proven = said == self.mark if said else not self.recovered
        if not proven and not self.unproven:
            of = "this metric with these choices and this version of the package"
            again = "the items of all such shards are scored again"
            text = f"nothing proves that the shard {self.names[-1]} in {str(self.folder)!r} is of {of}; {again}"
            warnings.warn(text, stacklevel=2)
        self.unproven += not proven
        return proven

    def count(self, head: Mapping[str, int], *, before: bool = False) -> None:
        """Count a shard that is done; the bar's rate and its time left speak of the work that is done now."""
        if before:
            self.known += head["items"]
            self.kept += 1
            self.bar.initial = self.known
        else:
            self.scored += head["items"]
        self.failed += head["failed"]
        self.bar.update(head["items"])
        if self.failed:
            self.bar.set_postfix_str(f"{self.failed} failed", refresh=False)

    def keep(self, shard: Shard, scored: Scored) -> None:
        """Write a shard's result and count it."""
        raise NotImplementedError

    def consume(self, done: Iterable[tuple[Shard, Scored]], on_error: str) -> None:
        """Keep what an engine brings; with `on_error="raise"` a failed item stops the run after what is finished."""
        bad: list[Line] = []
        for shard, scored in done:
            failed = [line for line in scored.lines if line.status == "failed"] if on_error == "raise" else []
            if failed:
                bad += failed
                self.stop.set()  # what is finished by now still comes
            else:
                self.keep(shard, scored)
        if bad:
            reason = json.loads(bad[0].text)["reason"]
            raise RunStopped(f"an item failed, and on_error='raise': {reason}; what was scored before is kept")

    def tidy(self, target: str) -> None:
        """Remove what is no longer the corpus': shards, and another format of its results."""
        if not self.names:
            raise ValueError(f"there are no items in {self.stream.name}")
        before = read_own_manifest(self.folder) or {}
        self.begin()
        remove_shards(self.folder, self.names)
        if before.get("input_sha256") != self.digest.hexdigest():
            remove_files(self.folder, before, set(OUTPUTS.values()) - {target})

    def complete(self, items: int, counts: Mapping[str, int], mean: float | None, target: str, seconds: float) -> None:
        """Write the manifest of a run of which all is there."""
        found: JsonDict = {"items": items, "counts": counts, "mean": mean, "results": target}
        found |= {"input": self.stream.name, "input_sha256": self.digest.hexdigest()}
        found |= {"results_sha256": file_check(self.folder / target)}
        found |= {"scored_now": self.scored, "kept_from_before": self.known, "seconds": round(seconds, 3)}
        found |= {"damaged": self.damaged} if self.damaged else {}
        if self.recovered:
            again = len(self.names) - self.kept
            found["recovered"] = {"shards_kept": self.kept, "shards_scored": again, "unproven": self.unproven}
        if ledger := read_ledger(self.folder).to_dict():
            found |= {"usage": ledger, "usage_now": self.usage.to_dict()}
        self._write_manifest({"complete": True, **self.start, **found})

    def _write_manifest(self, rest: JsonDict) -> None:
        versions = {"python": platform.python_version(), "platform": platform.platform()}
        earlier = [] if self.lost else (read_own_manifest(self.folder) or {}).get("files", [])
        files = {"files": list(dict.fromkeys([MANIFEST, LEDGER, SHARDS, *earlier, *rest["files"]]))}
        found = json.loads(json.dumps({"settings": self.settings, "versions": versions, **rest, **files}))
        text = json.dumps({"check": manifest_check(found), **found}, indent=1)
        write_whole(self.folder / MANIFEST, [text.encode()])
        self.lost = False


def open_folder(out: str | Path) -> Path:
    """Return the folder of a run, made if there is none; one that cannot be written raises a `RunStopped`."""
    folder = Path(out)
    try:
        (folder / "shards").mkdir(parents=True, exist_ok=True)
        (folder / ".lock").touch()
    except OSError as error:
        raise RunStopped(f"cannot write into {str(folder)!r}: {error.strerror}; choose another folder") from error
    return folder


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """Where the disk is full: say what is lost (nothing) and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        done = len(list((folder / "shards").glob("*.jsonl")))
        remedy = f"the {done} shards written are kept: make room or repair it, then call run again as before"
        raise RunStopped(f"the run in {str(folder)!r} stopped: {error.strerror}; {remedy}") from error
