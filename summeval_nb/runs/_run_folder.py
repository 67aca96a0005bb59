# A plain private module: edited here, exported by no notebook, tested in tests/test_run_folder.py.
"""Which folder a run may use, and which files in it are its own.

The promise: a folder is used only if it is new, empty or this run's own, no file is removed that the run's manifest
does not list, and nothing outside the folder is touched: what a run writes in it may not be a link that leads out.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from summeval_nb.ground.base import JsonDict, require_module
from summeval_nb.runs._lock import GATE, HOLDER, LOCK

MANIFEST = "manifest.json"
SHARDS = "shards/[0-9]*-[0-9a-f]*.jsonl"  # how a manifest lists them
_SHARD = re.compile(r"\d{8,}-[0-9a-f]{16}\.jsonl")
_LEFT_BY_A_KILL = re.compile(r"\.[0-9a-f]{16}\.part")  # the temporary names of `_files.replacing`
_CHECK = re.compile("([0-9a-f]{16})?")  # empty: whoever wrote it knew of none
_WRITTEN = (MANIFEST, "ledger.jsonl", "results.jsonl", "results.parquet", "shards", LOCK, HOLDER, GATE)
_SETTINGS = {"summeval_nb", "metric", "shard_size"}
_BEGINNING = b'{\n "check": "'  # of a manifest, as a run writes it
_LONGEST_HEAD = 10_000
_BEGINNINGS = {"ledger.jsonl": b'{"shard": ', "results.jsonl": b'{"item": 0, "id": ', "results.parquet": b"PAR1"}
_ROW = ["item", "id", "score", "status", "reason", "parts", "signature", "content"]
LOST: JsonDict = {"files": [MANIFEST, "results.jsonl"]}  # in the place of a manifest that is lost
RECOVER = "call run again with the same arguments and recover=True, which writes it anew and keeps the whole shards"
_ANYWHERE = 100_000  # lines of an earlier run that are looked through for a known item


def read_own_manifest(folder: Path) -> JsonDict | None:
    """Return the manifest of the run that a folder belongs to, None without one; a foreign file is an error."""
    path = folder / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        ours = _is_of_a_run(found)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except (ValueError, KeyError, TypeError, RecursionError):
        ours = False
    if ours:
        return found
    if is_lost(folder):
        raise ValueError(f"{str(folder)!r} holds a manifest.json that is damaged, and a run's shards: {RECOVER}")
    if _has_shards(folder):
        remedy = f"move it away, then {RECOVER}; or choose another folder"
        raise ValueError(f"{str(folder)!r} holds a manifest.json that is not of a run, and a run's shards: {remedy}")
    raise ValueError(f"{str(folder)!r} holds a manifest.json that is not of a run; choose another folder")


def is_lost(folder: Path) -> bool:
    """Whether a folder has whole shards of a run, and a manifest that is absent, cut, zeroed or changed."""
    try:
        text = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        text = b""
    except OSError:
        return False
    begun = text.rstrip(b"\0")
    ours = begun.startswith(_BEGINNING) or _BEGINNING.startswith(begun) or not text.strip(b"\0{}[] \r\n")
    if not ours:
        return False  # of somebody else, who may want it back
    return not _is_as_written(text) and _has_shards(folder)


def _is_as_written(text: bytes) -> bool:
    try:
        found = json.loads(text)
        return _is_of_a_run(found) and found["check"] in ("", manifest_check(found))
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def _has_shards(folder: Path) -> bool:
    """Whether a folder holds a shard whose head is as a run wrote it."""
    with suppress(OSError):
        for path in (folder / "shards").iterdir():
            if _SHARD.fullmatch(path.name):
                with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                    with path.open("rb") as file:
                        head = json.loads(file.readline(_LONGEST_HEAD))
                    named = f"{head['shard']:08d}-{head['digest'][:16]}.jsonl"
                    if path.name == named and head["check"] == manifest_check(head):
                        return True
    return False


def _is_of_a_run(manifest: Any) -> bool:
    """Whether a manifest has all that a run writes: settings, a checksum, and its own files in its list of files.

    The checksum need not be right, because a run mends its own damaged manifest.
    """
    settings, files = manifest["settings"], manifest["files"]
    listed = isinstance(files, list) and {MANIFEST, SHARDS} <= {one for one in files if isinstance(one, str)}
    checked = isinstance(manifest["check"], str) and _CHECK.fullmatch(manifest["check"])
    return isinstance(settings, dict) and set(settings) >= _SETTINGS and listed and bool(checked)


def manifest_check(manifest: JsonDict) -> str:
    """A checksum over a manifest without its own, as JSON keeps it."""
    kept = {name: value for name, value in manifest.items() if name != "check"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


def file_check(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def listed_files(manifest: JsonDict | None) -> set[str]:
    """Return the names that a manifest lists as files of its run."""
    if manifest is None:
        return set()
    return {str(one) for one in manifest["files"]} | {MANIFEST}


def require_usable(folder: Path, target: str, items: object = None, *, recover: bool = False) -> bool:
    """Raise a `ValueError` unless a folder is new, empty or a run's own, its file of results too, and not the input.

    With `recover` a folder is also a run's own if only its manifest is lost. Return whether it is.
    """
    _require_outside(items, folder)
    if not folder.is_dir():
        return False
    lost = recover and is_lost(folder)
    manifest = None if lost else read_own_manifest(folder)
    if lost:
        for name in (target, "ledger.jsonl"):
            _require_left_by_a_run(folder / name)
    elif manifest is None:
        foreign = sorted(path.name for path in folder.iterdir() if not _is_nothing(path))
        if foreign:
            if is_lost(folder):
                raise ValueError(f"{str(folder)!r} holds a run's shards and no manifest.json: {RECOVER}")
            names = ", ".join(map(repr, foreign[:3])) + (", …" if len(foreign) > 3 else "")
            raise ValueError(
                f"{str(folder)!r} is no run's folder and not empty (it holds {names}); choose a new or an empty folder"
            )
    elif (folder / target).exists() and target not in listed_files(manifest):
        raise ValueError(_not_of_the_run(folder / target))
    _require_no_links(folder)
    return lost


def _not_of_the_run(path: Path) -> str:
    return f"{str(path)!r} is not a file of the run in this folder; move it away, or choose another folder"


def _require_left_by_a_run(path: Path) -> None:
    """Raise a `ValueError` if a file that a run writes is there, where no manifest lists it, and looks foreign."""
    try:
        with path.open("rb") as file:
            beginning = file.read(1 << 16)
        left = not beginning.strip(b"\0") or beginning.startswith(_BEGINNINGS[path.name])
        if left and path.suffix == ".parquet" and beginning.strip(b"\0"):
            left = require_module("pyarrow.parquet", "parquet").read_schema(path).names == _ROW
    except FileNotFoundError:
        return
    except (OSError, ValueError):  # a folder, or a table that is cut
        left = False
    if not left:
        raise ValueError(_not_of_the_run(path))


def _require_no_links(folder: Path) -> None:
    """Raise a `ValueError` if something that a run writes in its folder is a link; the folder itself may be one."""
    shards = folder / "shards"
    inside = shards.iterdir() if shards.is_dir() and not _is_link(shards) else ()
    for path in (*(folder / name for name in _WRITTEN), *inside):
        if _is_link(path):
            remedy = "put what it leads to in its place, or make the whole folder a link"
            raise ValueError(f"{str(path)!r} is a link, by which a run would change what is not its own; {remedy}")


def _is_link(path: Path) -> bool:
    is_junction = getattr(os.path, "isjunction", None)  # of Windows, from Python 3.12 on
    return path.is_symlink() or bool(is_junction and is_junction(path))


def _is_nothing(path: Path) -> bool:
    """Hidden files stay as they are; an empty `shards` is what a run leaves that was stopped at once."""
    return path.name.startswith(".") or (path.name == "shards" and path.is_dir() and not any(path.iterdir()))


def _require_outside(items: object, folder: Path) -> None:
    """Raise a `ValueError` if a run would read its input from the folder into which it writes."""
    name = items if isinstance(items, (str, PathLike)) else getattr(items, "name", None)
    if (
        isinstance(name, (str, PathLike))
        and Path(name).exists()
        and Path(name).resolve().is_relative_to(folder.resolve())
    ):
        raise ValueError(
            f"the input {str(name)!r} lies in the folder of the run, {str(folder)!r}; choose another folder"
        )


def remove_shards(folder: Path, keep: Iterable[str] = ()) -> None:
    """Remove a run's shards that are not in `keep`, and what a kill left half-written; nothing else."""
    kept = {f"{name}.jsonl" for name in keep}
    for path in [*(folder / "shards").iterdir(), *folder.iterdir()]:
        shard = path.parent.name == "shards" and _SHARD.fullmatch(path.name) and path.name not in kept
        if (shard or _LEFT_BY_A_KILL.fullmatch(path.name)) and path.is_file():
            path.unlink()


def remove_files(folder: Path, manifest: JsonDict | None, names: Iterable[str]) -> None:
    """Remove those of some files that a manifest lists."""
    for name in set(names) & listed_files(manifest):
        (folder / name).unlink(missing_ok=True)


def has_results(folder: Path, manifest: JsonDict) -> bool:
    """Whether a run has anything that other settings or another corpus would mix with or overwrite."""
    shards = folder / "shards"
    if shards.is_dir() and any(_SHARD.fullmatch(path.name) for path in shards.iterdir()):
        return True
    return any((folder / name).is_file() for name in listed_files(manifest) if name.startswith("results."))


def known_contents(folder: Path, manifest: JsonDict) -> Iterator[str]:
    """Yield the content keys of an earlier run's items: of its shards, or else of its results."""
    seen = 0
    results = [folder / name for name in sorted(listed_files(manifest)) if name == "results.jsonl"]
    for path in [*sorted((folder / "shards").glob("*.jsonl")), *results]:
        with suppress(OSError), path.open("rb") as file:
            for line in file:
                with suppress(ValueError, AttributeError):
                    if isinstance(content := json.loads(line).get("content"), str):
                        yield content
                seen += 1
                if seen > _ANYWHERE:
                    return
