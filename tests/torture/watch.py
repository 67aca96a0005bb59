"""What a case touches outside of its folder: other machines, and files. Python's audit events say so."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LOOPBACK = ("127.", "::1", "localhost", "::ffff:127.")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "sqlite3.connect")
_seen: list[str] = []
_state = {"installed": False, "on": False}


def _outside(path: Any) -> bool:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False  # a number of an open file
    name = os.path.abspath(os.fsdecode(path).removeprefix("file://").partition("?")[0])
    if ".hypothesis" in name.split(os.sep):  # what draws the arguments keeps a store of its own
        return False
    return not f"{name}{os.sep}".startswith((tempfile.gettempdir() + os.sep, "/dev/", "/proc/self/"))


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if not _state["on"]:
        return
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo"):
        asked = arguments[0] if event == "socket.getaddrinfo" else arguments[1]
        host = asked[0] if isinstance(asked, tuple) and asked else asked if event == "socket.getaddrinfo" else ""
        host = host.decode() if isinstance(host, bytes) else str(host or "")
        if host and not host.startswith(LOOPBACK):
            _seen.append(f"{event} {host}")
    elif event == "open":
        if isinstance(arguments[2], int) and arguments[2] & WRITES and _outside(arguments[0]):
            _seen.append(f"opens {arguments[0]} for writing")
    elif event in CHANGES and _outside(arguments[0]):
        _seen.append(f"{event} {arguments[0]}")


@contextmanager
def watching() -> Iterator[list[str]]:
    """Yield the list in which trespasses are noted while the block runs."""
    if not _state["installed"]:
        sys.dont_write_bytecode = True
        os.environ["MPLCONFIGDIR"] = str(Path(tempfile.gettempdir()) / "torture-matplotlib")
        sys.addaudithook(_listen)
        _state["installed"] = True
    _seen.clear()
    _state["on"] = True
    try:
        yield _seen
    finally:
        _state["on"] = False
