# A plain private module: edited here, exported by no notebook, tested in tests/test_store.py.
"""What SQLite's write-ahead log says of a file's first page, read without SQLite, which would write beside the file.

Until the log is moved into the file, its pages are the ones that count. Its format stands in
https://www.sqlite.org/fileformat2.html#walformat: a head, then frames, each a head and a page. A frame counts if it
has the salts of the log's head, a right checksum, and a frame that ends a transaction at or after it.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_HEAD, _FRAME = 32, 24
_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # and the order of bytes in which checksums are added up


def logged_head(log: Path, length: int = 100) -> bytes | None:
    """Return the first bytes of a file's first page as its log has them; None if the log holds no such page."""
    try:
        with log.open("rb") as file:
            return _logged_head(file, length)
    except FileNotFoundError:
        return None


def _logged_head(file: BinaryIO, length: int) -> bytes | None:
    head = file.read(_HEAD)
    if len(head) < _HEAD:
        return None
    magic, _, size = struct.unpack_from(">III", head)
    order, salts = _MAGIC.get(magic), head[16:24]
    if not order or size not in {512 << power for power in range(8)}:
        return None
    if _checksum(head[:24], (0, 0), order) != struct.unpack_from(">II", head, 24):
        return None
    first, committed, number, last = list[tuple[int, bytes]](), 0, 0, head[24:]
    while True:
        file.seek(_HEAD + number * (_FRAME + size))
        frame = file.read(_FRAME)
        if len(frame) < _FRAME or frame[8:16] != salts:
            break
        page, ends = struct.unpack_from(">II", frame)
        if page == 1:
            first.append((number, last))
        if ends:
            committed = number + 1
        number, last = number + 1, frame[16:]
    for number, before in reversed(first):
        if number < committed:
            file.seek(_HEAD + number * (_FRAME + size))
            frame, content = file.read(_FRAME), file.read(size)
            start = struct.unpack(">II", before)
            if len(content) == size and _checksum(frame[:8] + content, start, order) == struct.unpack(
                ">II", frame[16:]
            ):
                return content[:length]
    return None


def _checksum(data: bytes, start: tuple[int, ...], order: str) -> tuple[int, int]:
    """SQLite's checksum over words of four bytes, in pairs."""
    a, b = start
    words = iter(struct.unpack(f"{order}{len(data) // 4}I", data))
    for x, y in zip(words, words, strict=True):
        a = (a + x + b) & 0xFFFFFFFF
        b = (b + y + a) & 0xFFFFFFFF
    return a, b
