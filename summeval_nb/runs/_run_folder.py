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

from summeval_nb.ground._types import JsonDict
from summeval_nb.runs._lock import GATE, HOLDER, LOCK

MANIFEST = "manifest.json"
SHARDS = "shards/[0-9]*-[0-9a-f]*.jsonl"  # how a manifest lists them
_SHARD = re.compile(r"\d{8,}-[0-9a-f]{16}\.jsonl")
_LEFT_BY_A_KILL = re.compile(r"\.[0-9a-f]{16}\.part")  # the temporary names of `_files.replacing`
_CHECK = re.compile("([0-9a-f]{16})?")  # empty: whoever wrote it knew of none
_WRITTEN = (MANIFEST, "ledger.jsonl", "results.jsonl", "results.parquet", "shards", LOCK, HOLDER, GATE)
_SETTINGS = {"summeval_nb", "metric", "shard_size"}
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
    if not ours:
        raise ValueError(f"{str(folder)!r} holds a manifest.json that is not of a run; choose another folder")
    return found


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


def require_usable(folder: Path, target: str, items: object = None) -> None:
    """Raise a `ValueError` unless a folder is new, empty or a run's own, its file of results too, and not the input."""
    _require_outside(items, folder)
    if not folder.is_dir():
        return
    manifest = read_own_manifest(folder)
    if manifest is None:
        foreign = sorted(path.name for path in folder.iterdir() if not _is_nothing(path))
        if foreign:
            names = ", ".join(map(repr, foreign[:3])) + (", …" if len(foreign) > 3 else "")
            raise ValueError(
                f"{str(folder)!r} is no run's folder and not empty (it holds {names}); choose a new or an empty folder"
            )
    elif (folder / target).exists() and target not in listed_files(manifest):
        remedy = "move it away, or choose another folder"
        raise ValueError(f"{str(folder / target)!r} is not a file of the run in this folder; {remedy}")
    _require_no_links(folder)


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
