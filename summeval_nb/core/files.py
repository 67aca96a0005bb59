"""Files that are written whole or not at all, and tables of pandas as rows."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

if TYPE_CHECKING:
    import pandas as pd


__all__ = ["replacing", "require_path", "write_whole", "Table", "require_once", "frame_rows"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a binary file that takes the place of `path` once the block has ended well and all of it is on the disk.

    After any error, a full disk or a Ctrl-C, `path` is what it was before. What is no ordinary file, such as a
    device or a pipe, has no place to be taken and is written to directly; of a link its target is replaced.
    """
    target = Path(os.path.realpath(path))
    known = os.stat(target) if target.exists() else None
    if known is not None and not stat.S_ISREG(known.st_mode):
        with open(target, "wb") as file:
            yield file
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write into", str(target.parent))
    beside = target.with_name(f".{secrets.token_hex(8)}.part")
    number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(number, "wb") as file:
            if known is not None:
                os.chmod(beside, stat.S_IMODE(known.st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def require_path(path: str | os.PathLike[str]) -> Path:
    """Return a path that a file can have, or raise a `ValueError`."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ValueError(f"no file can be called {str(path)!a}: it holds half a character") from None
    return Path(path)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file whole or not at all; text as UTF-8. Half a character (a lone surrogate) becomes `?`."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    with replacing(path) as file:
        file.write(data)


# rows to score: a table of pandas, dictionaries (so does a datasets.Dataset give them), or lists by column
Table: TypeAlias = "pd.DataFrame | Iterable[Mapping[str, object]] | Mapping[str, Sequence[object]]"


def require_once(names: Iterable[object], what: str) -> None:
    """Raise a `ValueError` if a table names a column twice: a row would hold the last of them only."""
    seen: set[str] = set()
    for name in map(str, names):
        if name in seen:
            raise ValueError(f"{what} names a column twice, {name!r}: rename one of them, or leave it out")
        seen.add(name)


def frame_rows(frame: Any) -> list[dict[Any, Any]]:
    """Return the rows of a table of pandas as dictionaries; raise a `ValueError` if two columns have one name.

    Examples
    --------
    >>> import pandas as pd
    >>> frame_rows(pd.DataFrame({"answer": ["Ulm", "Bonn"]}))
    [{'answer': 'Ulm'}, {'answer': 'Bonn'}]
    """
    require_once(frame.columns, "the table")
    return frame.to_dict("records")
