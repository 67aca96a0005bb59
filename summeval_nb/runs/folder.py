"""The folder of a run: which folder a run may use, and which files in it are its own.

The promise: a folder is used only if it is new, empty or this run's own, no file is removed that the run's manifest
does not list, and nothing outside the folder is touched: what a run writes in it may not be a link that leads out.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import re
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

from summeval_nb.core.base import JsonDict, require_module
from summeval_nb.core.files import replacing
from summeval_nb.runs.workers import RunStopped

# One holder of a folder: by the system's lock, or by a file that names its holder where a file system has no locks.
#
# The system's lock (`flock`) ends with the process. Some file systems have none (Lustre without `-o flock`, some of
# FUSE): there a file is made that only one can make, and one that a dead process of this machine left is taken over.

LOCK = ".lock"
HOLDER = ".lock-holder"  # names the process that holds a folder without `flock`
GATE = ".lock-gate"  # held for the moment in which a dead process' file is taken over
_WITHOUT_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
_HELD_BY_ANOTHER = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK}
_OPEN: set[int] = set()  # locked files of this process; a fork must not keep them


class Busy(Exception):
    """Somebody else holds the folder; the message says who, as far as it is known, and what else may be done."""


def hold(folder: Path) -> Callable[[], None]:
    """Hold a folder and return the function that lets it go; `Busy` if another holds it, `OSError` if none can."""
    if sys.platform == "win32":
        return _hold_by_library(folder)
    number = _take_lock(folder / LOCK)
    if number is None:
        return _hold_by_file(folder)
    try:  # a machine that has no locks on this file system may hold the folder by its file
        if os.path.lexists(folder / HOLDER):
            _require_over(folder)
    except BaseException:
        _let_go(number)
        raise
    return lambda: _let_go(number)


def _hold_by_library(folder: Path) -> Callable[[], None]:
    from filelock import FileLock, Timeout

    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise Busy("") from None
    return lock.release


# ---------------------------------------------------------------- the system's lock

if sys.platform != "win32":
    import fcntl

    def _take_lock(path: Path) -> int | None:
        """Lock a file and return its number; None where the file system has no locks."""
        while True:
            number = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            try:
                fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(number).st_nlink:  # else it was removed meanwhile, and locks nothing
                    _OPEN.add(number)
                    return number
            except OSError as error:
                if error.errno in _WITHOUT_LOCKS:
                    return None
                if error.errno in _HELD_BY_ANOTHER:
                    raise Busy("") from None
                raise
            finally:
                if number not in _OPEN:
                    os.close(number)

    def _let_go(number: int) -> None:
        if number not in _OPEN:  # in a fork of the holder, which must not open its lock
            return
        _OPEN.discard(number)
        with suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_UN)
        os.close(number)

    def _close_after_fork() -> None:
        while _OPEN:
            with suppress(OSError):
                os.close(_OPEN.pop())

    os.register_at_fork(after_in_child=_close_after_fork)


# ---------------------------------------------------------------- a file that names its holder


def _hold_by_file(folder: Path) -> Callable[[], None]:
    """Hold a folder by a file that only one can make."""
    path = folder / HOLDER
    own = {"host": _host(), "process": os.getpid(), "born": _born(os.getpid()), "token": secrets.token_hex(8)}
    try:
        _create_file(path, own)
    except FileExistsError:
        _require_over(folder)
        try:
            _create_file(path, own)
        except FileExistsError:
            raise Busy("") from None

    def let_go() -> None:
        with suppress(OSError):
            if os.getpid() == own["process"] and _read(path) == own:
                path.unlink()

    return let_go


def _create_file(path: Path, record: dict[str, Any]) -> None:
    """Make a file that is not there yet, with a record in it."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with open(number, "wb") as file:
            file.write(json.dumps(record).encode())
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise


def _read(path: Path) -> dict[str, Any] | None:
    """The record in a file, None if there is none that can be read."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _require_over(folder: Path) -> None:
    """Remove the file that a dead process of this machine left; `Busy` if its holder may be at work.

    Two that find a dead one's file at the same time must not remove each other's: the second file, the gate, lets
    one of them look again and remove it.
    """
    path, gate = folder / HOLDER, folder / GATE
    if not _is_over(_read(path)):
        raise Busy(_about(path))
    try:
        _create_file(gate, {"process": os.getpid()})
    except FileExistsError:
        raise Busy(f" (or was killed while it began: if nobody works there, delete {str(gate)!r})") from None
    try:
        if _is_over(_read(path)):
            path.unlink()
    finally:
        gate.unlink(missing_ok=True)


def _is_over(record: dict[str, Any] | None) -> bool:
    """Whether a record names a process of this machine that has ended."""
    process = record and record.get("process")
    if not record or record.get("host") != _host() or type(process) is not int or process < 1:
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    born = _born(process)
    return born == "ended" or (None not in (born, record.get("born")) and born != record["born"])


def _about(path: Path) -> str:
    """Who holds a folder by its file, in words, and what to do if that is no longer true."""
    record = _read(path)
    if record is not None and record.get("host") == _host():
        return f" (process {record.get('process')})"
    host = str(record.get("host", "")).partition(" ")[0] if record else ""
    return f" (on {host or 'another machine'}, if that is still at work; if not, delete {str(path)!r})"


def _host() -> str:
    """This machine since it was started, and its space of process numbers, as a text whose first word is its name."""
    parts = [platform.node() or "unnamed"]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    return " ".join(parts)


def _born(process: int) -> str | None:
    """When a process began, so that another one of its number is not taken for it; "ended" for what is left of one."""
    try:
        state, *rest = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return "ended" if state in "ZXx" else rest[18]


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold a folder for this process; a second holder raises a `RuntimeError`. The lock
    ends with the process. A folder that cannot be locked raises a `RunStopped`."""
    try:
        let_go = hold(folder)
    except Busy as error:
        remedy = "wait for it, or choose another folder"
        raise RuntimeError(f"another run is working in {str(folder)!r}{error}; {remedy}") from None
    except OSError as error:
        remedy = "choose a folder on a disk of this machine"
        raise RunStopped(f"cannot lock {str(folder)!r}: {error.strerror}; {remedy}") from error
    try:
        yield
    finally:
        let_go()


# ---------------------------------------------------------------- files that are whole or absent


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file so that under its name there is the whole content or nothing new, even after a power cut."""
    with replacing(path) as file:  # a file of a temporary name; forced to the disk and renamed at the end
        file.writelines(chunks)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Force a folder's list of names to the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ---------------------------------------------------------------- whose a folder is


MANIFEST = "manifest.json"
LEDGER = "ledger.jsonl"
SHARDS = "shards/[0-9]*-[0-9a-f]*.jsonl"  # how a manifest lists them
_SHARD = re.compile(r"\d{8,}-[0-9a-f]{16}\.jsonl")
_LEFT_BY_A_KILL = re.compile(r"\.[0-9a-f]{16}\.part")  # the temporary names of `_files.replacing`
_CHECK = re.compile("([0-9a-f]{16})?")  # empty: whoever wrote it knew of none
_WRITTEN = (MANIFEST, LEDGER, "results.jsonl", "results.parquet", "shards", LOCK, HOLDER, GATE)
_SETTINGS = {"summeval_nb", "metric", "shard_size"}
_BEGINNING = b'{\n "check": "'  # of a manifest, as a run writes it
_LONGEST_HEAD = 10_000
_BEGINNINGS = {LEDGER: b'{"shard": ', "results.jsonl": b'{"item": 0, "id": ', "results.parquet": b"PAR1"}
LINE_FIELDS = ("item", "id", "score", "status", "reason", "parts", "signature", "content")  # of a line of results
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
    listed = isinstance(files, list) and {MANIFEST, SHARDS} <= {name for name in files if isinstance(name, str)}
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
    return {str(name) for name in manifest["files"]} | {MANIFEST}


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
        for name in (target, LEDGER):
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
            left = require_module("pyarrow.parquet", "parquet").read_schema(path).names == list(LINE_FIELDS)
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
