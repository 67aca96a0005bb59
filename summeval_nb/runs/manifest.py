"""What a run keeps count of: its manifest, the heads of its shards, and what is checked before hours of work."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import platform
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, NoReturn, TypeAlias

from summeval_nb.core.base import JsonDict, require_flag, require_module, require_option
from summeval_nb.core.files import replacing
from summeval_nb.core.items import ItemStream, Shard
from summeval_nb.runs.folder import (
    LEDGER,
    LINE_FIELDS,
    LOST,
    MANIFEST,
    RECOVER,
    SHARDS,
    file_check,
    has_results,
    known_contents,
    manifest_check,
    read_own_manifest,
    remove_files,
    remove_shards,
    write_whole,
)
from summeval_nb.runs.jobs import Job, Line, Scored
from summeval_nb.runs.workers import RunStopped

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd
    from tqdm.auto import tqdm

    from summeval_nb.runs.costs import Stages


# ---------------------------------------------------------------- shards


STATES = ("ok", "undefined", "failed")


class Total(NamedTuple):
    """The sum of a run's shards."""

    counts: dict[str, int]
    mean: float | None
    items: int


def shard_head(shard: Shard, lines: Sequence[Line], body: bytes, settings: str = "") -> JsonDict:
    """Return what stands before a shard's lines: counts, their exact sum, and checksums of them and of itself.

    `settings` is the mark of what decided the lines, see `settings_mark`.
    """
    states = [line.status for line in lines]
    head: JsonDict = {"shard": shard.number, "items": len(lines)}
    head |= {name: states.count(name) for name in STATES}
    head |= {"sum": math.fsum(line.score for line in lines if line.score is not None), "digest": shard.digest}
    head |= {"settings": settings} if settings else {}
    head["body"] = hashlib.sha256(body).hexdigest()
    return head | {"check": manifest_check(head)}


def is_as_written(path: Path, head: JsonDict, body: bytes) -> bool:
    """Whether a shard's name, head and lines belong together; a head that is none raises one of several errors."""
    whole = head["check"] == manifest_check(head) and head["body"] == hashlib.sha256(body).hexdigest()
    return whole and path.name == f"{head['shard']:08d}-{head['digest'][:16]}.jsonl"


def note_damage(path: Path, shard: Shard, damaged: list[str]) -> None:
    """Remember that a shard's file is damaged, and warn the caller's caller."""
    damaged.append(shard.name)
    again = f"its {len(shard.items)} items are scored again"
    warnings.warn(f"the shard {path} is damaged or cannot be read; {again}", stacklevel=3)


def write_results(bodies: Iterable[bytes], target: Path) -> None:
    """Write the lines of shards as one file: as they are, or as a table where the file's name asks for one."""
    if target.suffix == ".parquet":
        write_parquet(bodies, target)
    else:
        write_whole(target, bodies)


def write_parquet(bodies: Iterable[bytes], target: Path) -> None:
    """Write the lines of shards as a table, their parts as JSON."""
    arrow, parquet = require_module("pyarrow", "parquet"), require_module("pyarrow.parquet", "parquet")
    types = dict.fromkeys(LINE_FIELDS, arrow.string()) | {"item": arrow.int64(), "score": arrow.float64()}
    schema = arrow.schema(types.items())
    with replacing(target) as file, parquet.ParquetWriter(file, schema) as writer:
        for body in bodies:
            rows = [_flat(json.loads(line)) for line in body.splitlines()]
            writer.write_table(arrow.Table.from_pylist(rows, schema))


def _flat(row: JsonDict) -> JsonDict:
    """A row for a table: parts and odd ids as JSON; half a character, which a table cannot hold, as its escape."""
    known = row["id"] is None or isinstance(row["id"], str)
    flat = row | {"id": row["id"] if known else json.dumps(row["id"]), "parts": json.dumps(row["parts"])}
    return {
        name: value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        for name, value in flat.items()
    }


# ---------------------------------------------------------------- the manifest


OUTPUTS = {"jsonl": "results.jsonl", "parquet": "results.parquet"}


def settings_mark(settings: JsonDict) -> str:
    """Return what tells a run's settings in the head of each of its shards; empty where they cannot be known."""
    plain = json.loads(json.dumps(settings))
    return "" if find_unknown(plain) else manifest_check({"settings": plain})


def is_recovered(folder: Path, lost: bool) -> bool:
    """Whether a run's manifest was lost, now or before a kill: then only a shard's own word counts."""
    manifest = None if lost else read_own_manifest(folder)
    return lost or bool(manifest and manifest.get("recovered") and not manifest.get("complete"))


def is_of_settings(head: JsonDict, mark: str, recovered: bool) -> bool:
    """Whether a whole shard is of the settings with this mark: by its own word, or by a manifest never lost.

    Nothing is of settings that have no mark, because nothing tells them from others.
    """
    said = head.get("settings", "")
    return bool(mark) and (said == mark if said else not recovered)


@dataclass
class Manifest:
    """What the manifest of a run will say: the names of its shards in order, and what was counted."""

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
    usage: Stages = field(default_factory=dict)
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Find out which shards of the folder may be kept."""
        self.mark = settings_mark(self.settings)
        self.recovered = self.resume and is_recovered(self.folder, self.lost)

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
        """Whether a whole shard is of this run; the first that is not is warned about."""
        proven = is_of_settings(head, self.mark, self.recovered)
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

    def note_usage(self, shard: Shard, usage: Stages) -> None:
        """Add what language models used for a shard to the ledger in the folder, and to what this attempt used."""
        if usage:
            from summeval_nb.runs.costs import Ledger, note_usage

            note_usage(self.folder, shard.name, usage)
            ledger = Ledger(self.usage)
            ledger.merge(usage)
            self.usage = ledger.to_dict()

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
        if (self.folder / LEDGER).exists():
            from summeval_nb.runs.costs import read_ledger

            if ledger := read_ledger(self.folder).to_dict():
                found |= {"usage": ledger, "usage_now": self.usage}
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


# ---------------------------------------------------------------- before hours of work


_ENOUGH = 100  # items of a corpus, of which a folder that holds results must know one
_ANOTHER = "choose another folder, or start over with resume=False"


# what is scored: a file, an open one, a table of pandas, or dictionaries
Corpus: TypeAlias = "str | PathLike[str] | BinaryIO | pd.DataFrame | Iterable[Mapping[str, object]]"


def require_choices(on_error: str, output: str, **flags: bool) -> str:
    """Raise if a choice is none of the known, or a flag is neither True nor False; return the results' file name."""
    require_option(on_error, "on_error", ("record", "raise"))
    for name, flag in flags.items():
        require_flag(flag, name)
    if flags.get("recover") and not flags.get("resume", True):
        raise ValueError("recover=True keeps what resume=False would remove: choose one of them")
    return OUTPUTS[require_option(output, "output", OUTPUTS)]


def make_settings(job: Job, shard_size: int) -> JsonDict:
    """Return what must be equal for a run to be continued."""
    from summeval_nb import __version__

    return {"summeval_nb": __version__, **job.describe(), "shard_size": shard_size}


def find_unknown(described: object) -> list[str]:
    """Return why some described data have no identity; empty where all of them have one."""
    if isinstance(described, Mapping):
        inner = [reason for part in described.values() for reason in find_unknown(part)]
        return [*inner, *(described["unknown"] if described.keys() == {"name", "unknown"} else [])]
    if isinstance(described, list):
        return [reason for part in described for reason in find_unknown(part)]
    return []


def differences(before: object, now: object, name: str = "") -> Iterator[str]:
    """Yield what differs between two pieces of plain data, each with its path and both values."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys([*before, *now]):
            inner = f"{name}.{key}" if name else str(key)
            if key not in before or key not in now:
                sides = [repr(side[key]) if key in side else "absent" for side in (before, now)]
                yield f"{inner} ({sides[0]} before, {sides[1]} now)"
            else:
                yield from differences(before[key], now[key], inner)
    elif json.dumps(before, sort_keys=True) != json.dumps(now, sort_keys=True):
        yield f"{name} ({before!r} before, {now!r} now)"


_DECLARE = "declare a fingerprint, as in metric.fingerprint = 'my-metric v1', and change it with what it does"


def warn_if_unknown(settings: JsonDict) -> None:
    """Warn before the first row if a run could not be continued, and say what to declare."""
    if unknown := find_unknown(settings):
        why = f"nothing tells its metric from another ({'; '.join(unknown)})"
        warnings.warn(f"this run cannot be continued if it is stopped, because {why}: {_DECLARE}", stacklevel=3)


def require_same_settings(folder: Path, settings: JsonDict) -> None:
    """Raise a `ValueError` that names what differs, or cannot be known, if a folder holds results of another run."""
    manifest = read_own_manifest(folder)
    if manifest is None or not has_results(folder, manifest):
        return
    new = json.loads(json.dumps(settings))
    if changed := list(differences(manifest["settings"], new)):
        damaged = manifest["check"] not in ("", manifest_check(manifest))
        remedy = f"its manifest was changed after the run wrote it: {RECOVER}; or {_ANOTHER}" if damaged else _ANOTHER
        raise ValueError(f"{str(folder)!r} holds a run with other settings: {', '.join(changed)}; {remedy}")
    if unknown := find_unknown(new):
        raise ValueError(
            f"the run in {str(folder)!r} cannot be continued, because nothing tells its metric from another "
            f"({'; '.join(unknown)}): {_ANOTHER}; to continue the next one, {_DECLARE}"
        )


def require_columns(shards: Iterable[Shard], job: Job) -> Iterator[Shard]:
    """Pass shards on; raise a `ValueError` if the first readable item of the corpus lacks a column."""
    checked = False
    for shard in shards:
        for item in () if checked else shard.items:
            row, problem = job.read(item, typed=False)
            if row:
                checked = True
                if problem:
                    raise ValueError(f"at {item.place} of the corpus {problem}")
                break
        yield shard


def require_same_corpus(shards: Iterable[Shard], job: Job, folder: Path, lost: bool = False) -> Iterator[Shard]:
    """Pass shards on; raise a `ValueError` if none of the first items is in the folder, which holds others.

    With `lost` the folder's manifest is.
    """
    manifest = LOST if lost else read_own_manifest(folder)
    stream, first = iter(shards), list[Shard]()
    wanted: set[str] = set()
    while manifest and has_results(folder, manifest) and sum(len(shard.items) for shard in first) < _ENOUGH:
        if (shard := next(stream, None)) is None:
            break
        first.append(shard)
        for item in shard.items:
            row, problem = job.read(item)
            wanted |= set() if problem else {job.content(item, row)}
    known = known_contents(folder, manifest) if wanted and manifest else iter(())
    if wanted and (held := next(known, None)) and held not in wanted and wanted.isdisjoint(known):
        if lost:  # what an item's content is, its metric says
            which = "of another corpus, or of a metric that reads another part of it; choose another folder"
            raise ValueError(f"{str(folder)!r} holds the results {which}")
        raise ValueError(f"{str(folder)!r} holds the results of another corpus; {_ANOTHER}")
    yield from itertools.chain(first, stream)
