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
_seen: list[str] = []
_state = {"installed": False, "on": False}


def _host(address: Any) -> str:
    return str(address[0]) if isinstance(address, tuple) and address else ""


def _outside(path: Any) -> bool:
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False  # a number of an open file
    name = os.path.abspath(os.fsdecode(path))
    if ".hypothesis" in name.split(os.sep):  # what draws the arguments keeps a store of its own
        return False
    return not name.startswith((tempfile.gettempdir() + os.sep, "/dev/", "/proc/self/"))


def _listen(event: str, arguments: tuple[Any, ...]) -> None:
    if not _state["on"]:
        return
    if event in ("socket.connect", "socket.bind"):
        host = _host(arguments[1])
        if host and not host.startswith(LOOPBACK):
            _seen.append(f"{event} {arguments[1]}")
    elif event == "socket.getaddrinfo":
        host = arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0]
        if host and not str(host).startswith(LOOPBACK):
            _seen.append(f"asks for the address of {host}")
    elif event == "open":
        path, _, flags = arguments
        if isinstance(flags, int) and flags & WRITES and _outside(path):
            _seen.append(f"opens {path} for writing")
    elif (
        event in ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink")
        and _outside(arguments[0])
        or event == "sqlite3.connect"
        and _outside(str(arguments[0]).removeprefix("file://").partition("?")[0])
    ):
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
