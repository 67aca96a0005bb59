# A plain private module: edited here, exported by no notebook, tested in tests/test_workers.py.
"""One holder of a folder: by the system's lock, or by a file that names its holder where a file system has no locks.

The system's lock (`flock`) ends with the process. Some file systems have none (Lustre without `-o flock`, some of
FUSE): there a file is made that only one can make, and one that a dead process of this machine left is taken over.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

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
