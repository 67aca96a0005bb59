"""Edit distances to one text within Tercom's beam; a row of their table is a few whole numbers, a column a bit.

After Myers (1999) and Hyyrö (2003). Chapter 27 has the table and the search that asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

__all__ = ["BeamTable", "one_character_a_word"]

_BEAM = 25  # words on each side of the diagonal


def one_character_a_word(*texts: Sequence[Hashable]) -> list[str]:
    """Return texts as strings in which equal words are equal characters, surrogates left out.

    Examples
    --------
    >>> one_character_a_word(["a", "cat", "a"], ["cat"])
    ['\\x00\\x01\\x00', '\\x01']
    """
    numbers: dict[Hashable, int] = {}
    listed = [[numbers.setdefault(word, len(numbers)) for word in text] for text in texts]
    return ["".join(chr(number if number < 0xD800 else number + 0x800) for number in text) for text in listed]


class _Row(NamedTuple):
    """Horizontal differences of a row, and its value at the column left of the beam."""

    up: int
    down: int
    value: int


class _Band(NamedTuple):
    """The columns `low` to `high` (not included) of a row that lie within the beam."""

    low: int
    high: int
    edge: int  # the column left of the beam
    allowed: int  # columns where a match may count
    left: int  # columns left of the beam
    right: int  # columns right of it
    skipped: int  # columns that the edge has passed since the row before


class BeamTable:
    """Edit distances to one text, `wanted`."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.size = len(wanted)
        self.places: dict[str, int] = {}
        for position, word in enumerate(wanted):
            self.places[word] = self.places.get(word, 0) | 1 << position
        self.text = ""  # the one traced last, and its rows
        self.rows: list[_Row] = []
        self.known: dict[str, int] = {}

    def distance(self, own: str, least: int, base: str) -> int:
        """Return the distance within the beam, given that without one; `base` is the text traced last."""
        if least + abs(len(own) - self.size) < 2 * _BEAM - 2:
            return least  # the way of `least` edits stays within the beam
        if own not in self.known:
            pairs = enumerate(zip(own, base, strict=True))
            same = next((i for i, (a, b) in pairs if a != b), len(own))
            rows = self._rows(own, same if base == self.text else 0)[0]
            self.known[own] = self._end(rows[-1], len(own))
        return self.known[own]

    def trace(self, own: str) -> tuple[int, str]:
        """Return the distance and the operations, by Tercom's preference of equals."""
        self.rows, kept = self._rows(own, 0)
        self.text = own
        bands = _bands(len(own), self.size)
        operations = []
        i, j = len(own), self.size
        while i or j:
            if not j:
                operations.append("d")
                i -= 1
                continue
            bit = 1 << (j - 1)
            low, high = bands[i - 1][:2] if i else (0, 0)
            equal, zero, vertical = kept[i - 1] if i else (0, 0, 0)
            if i and low <= j - 1 < high and (equal & bit or not zero & bit):
                operations.append(" " if equal & bit else "s")
                i, j = i - 1, j - 1
            elif i and low <= j < high and vertical & bit:
                operations.append("d")
                i -= 1
            else:
                operations.append("i")
                j -= 1
        operations.reverse()
        return self._end(self.rows[-1], len(own)), "".join(operations)

    def _end(self, row: _Row, length: int) -> int:
        """Return the value of a row's last cell."""
        edge = _bands(length, self.size)[-1].edge
        return row.value + (row.up >> edge).bit_count() - (row.down >> edge).bit_count()

    def _rows(self, own: str, same: int) -> tuple[list[_Row], list[tuple[int, int, int]]]:
        """Return rows, the first `same` of `self.text`, and what `trace` reads."""
        everywhere = (1 << self.size) - 1
        rows = self.rows[: same + 1] if same else [_Row(everywhere, 0, 0)]
        kept = []
        up, down, value = rows[-1]
        bands = _bands(len(own), self.size)
        for i in range(len(rows), len(own) + 1):
            band = bands[i]
            equal = self.places.get(own[i - 1], 0) & band.allowed
            if band.skipped:
                value += (up & band.skipped).bit_count() - (down & band.skipped).bit_count()
            value += 1
            zero = (((equal & up) + up) ^ up) | equal | down
            vertical_up = (down | ~(zero | up) | band.left) & everywhere
            vertical_down = zero & up & ~band.left
            kept.append((equal, zero, vertical_up))
            shifted = vertical_up << 1 | 1
            up = ((vertical_down << 1 | ~(zero | shifted)) | band.right) & everywhere
            down = zero & shifted & everywhere & ~band.right
            rows.append(_Row(up, down, value))
        return rows, kept


@lru_cache(maxsize=4096)
def _bands(length: int, size: int) -> list[_Band]:
    """Return the beam of each row, for texts of these lengths; row 0 is whole."""
    ratio = size / length if length else 1
    beam = math.ceil(ratio / 2 + _BEAM) if ratio / 2 > _BEAM else _BEAM
    bands = [_Band(0, size + 1, 0, 0, 0, 0, 0)]
    for i in range(1, length + 1):
        middle = math.floor(i * ratio)
        low, high = max(0, middle - beam), min(size + 1, middle + beam) if i < length else size + 1
        before = bands[-1]
        inner = max(low, before.low + 1, 1), min(high, before.high + 1)  # columns j with j - 1 in the row before
        edge = max(low - 1, 0)
        skipped = _bits(before.edge + 1, edge + 1)
        bands.append(_Band(low, high, edge, _bits(*inner), _bits(1, low), _bits(high, size + 1), skipped))
    return bands


def _bits(first: int, last: int) -> int:
    """Return in bits the columns `first` to `last` (not included); 1 is the lowest."""
    return ((1 << (last - 1)) - 1) & ~((1 << (first - 1)) - 1) if last > first else 0
