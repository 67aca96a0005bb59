"""Edited directly. TER's edits as Tercom and sacrebleu count them: shifts found greedily, edit distance within a beam.

A text is a string of one character a word, so that a shift is a slice. A row of the table of edit distances is a few
whole numbers whose bits are the columns (Myers 1999, Hyyrö 2003); cells outside the beam can never win. Rapidfuzz's
distance, which knows no beam, is a lower bound: only shifts that could be the best one are measured in full.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

__all__ = ["Edits", "Shift", "count_edits", "tercom_words"]

_SHIFT_SIZE, _SHIFT_DISTANCE, _BEAM, _CANDIDATES = 10, 50, 25, 1000  # Tercom's limits, the last one sacrebleu's


class Shift(NamedTuple):
    """`length` words from position `start` go before position `target`; how many edits that saves."""

    start: int
    length: int
    target: int
    saved: int


class Edits(NamedTuple):
    """Shifts, then the operations left to right: " " for the same word, "s" substitute, "d" delete, "i" insert."""

    shifts: tuple[Shift, ...]
    operations: str
    order: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many edits there are, a shift counting one."""
        return len(self.shifts) + len(self.operations) - self.operations.count(" ")


def count_edits(words: Sequence[Hashable], reference: Sequence[Hashable]) -> Edits:
    """Return the edits that turn words into the reference; `order` holds the words' positions after the shifts.

    Examples
    --------
    >>> count_edits("on the mat it sat".split(), "it sat on the mat".split())
    Edits(shifts=(Shift(start=3, length=2, target=0, saved=4),), operations='     ', order=(3, 4, 0, 1, 2))
    """
    order = tuple(range(len(words)))
    if not reference:
        return Edits((), "d" * len(words), order)
    numbers: dict[Hashable, int] = {}
    own, wanted = (
        "".join([chr(_code(numbers.setdefault(word, len(numbers)))) for word in text]) for text in (words, reference)
    )
    table = _Table(wanted)
    shifts: list[Shift] = []
    checked = 0
    while True:
        distance, operations = table.trace(own)
        if not distance:
            break
        found = list(_candidates(own, wanted, operations, checked))
        checked += len(found)
        if checked >= _CANDIDATES:
            break
        best = _best(own, found, table, distance)
        if best is None:
            break
        shifts.append(best)
        own, order = _moved(own, best), _moved(order, best)
    return Edits(tuple(shifts), operations, order)


def _code(number: int) -> int:
    """Leave out the surrogates; beyond Unicode's room (a million different words) Python itself objects."""
    return number if number < 0xD800 else number + 0x800


def _moved(words, shift):  # type: ignore[no-untyped-def]
    """Return the words, a string or a tuple, after a shift."""
    start, length, target = shift[:3]
    end = start + length
    if target < start:
        return words[:target] + words[start:end] + words[target:start] + words[end:]
    if target > end:
        return words[:start] + words[end:target] + words[start:end] + words[target:]
    return words[:start] + words[end : length + target] + words[start:end] + words[length + target :]


def _candidates(own: str, wanted: str, operations: str, checked: int) -> Iterator[tuple[int, int, int]]:
    """Yield (start, length, target) of the shifts that Tercom tries, at most about `_CANDIDATES` in one text."""
    align, wrong_wanted, wrong_own = _alignment(operations)
    places: dict[str, list[int]] = {}
    for position, word in enumerate(wanted):
        places.setdefault(word, []).append(position)
    for start in range(len(own)):
        next_right = wrong_own.find("1", start)
        if next_right < 0:
            return
        for place in places.get(own[start], ()):
            if abs(place - start) > _SHIFT_DISTANCE or (longest := _common(own, wanted, start, place)) == 0:
                continue
            for length in range(1, longest + 1):
                if next_right >= start + length or "1" not in wrong_wanted[place : place + length]:
                    continue
                if start <= align[place] < start + length:
                    continue
                before = -1
                for offset in range(-1, length):
                    target = align[place + offset] + 1 if place + offset >= 0 else 0
                    if target != before:
                        yield start, length, target
                        checked += 1
                        before = target
                if checked >= _CANDIDATES:
                    return


def _common(own: str, wanted: str, start: int, place: int) -> int:
    """Return how many words from both positions on are the same, at most `_SHIFT_SIZE`."""
    most = min(_SHIFT_SIZE, len(own) - start, len(wanted) - place)
    length = 1
    while length < most and own[start + length] == wanted[place + length]:
        length += 1
    return length


def _alignment(operations: str) -> tuple[list[int], str, str]:
    """Return the own position for each wanted one, and strings of 0 and 1 that mark the errors of both sides."""
    align: list[int] = []
    wrong_wanted, wrong_own = [], []
    position = -1
    for operation in operations:
        if operation != "i":
            position += 1
            wrong_own.append("0" if operation == " " else "1")
        if operation != "d":
            align.append(position)
            wrong_wanted.append("0" if operation == " " else "1")
    return align, "".join(wrong_wanted), "".join(wrong_own)


def _best(own: str, found: Sequence[tuple[int, int, int]], table: _Table, distance: int) -> Shift | None:
    """Return the shift that saves most; of several the longest, the earliest, the one with the earliest target."""
    from rapidfuzz.distance.Levenshtein import distance as levenshtein

    known: dict[str, int] = {}
    hopeful = []
    for start, length, target in set(found):
        moved = _moved(own, (start, length, target))
        least = known.get(moved)
        if least is None:
            least = known[moved] = levenshtein(moved, table.wanted, score_cutoff=distance - 1)
        if least < distance:
            hopeful.append((least - distance, -length, start, target, moved))
    best: tuple[int, int, int, int] | None = None
    for least, length, start, target, moved in sorted(hopeful):
        if best is not None and (least, length, start, target) >= best:
            break
        exact = table.distance(moved, least + distance, own) - distance
        if exact < 0 and (best is None or (exact, length, start, target) < best):
            best = (exact, length, start, target)
    return None if best is None else Shift(best[2], -best[1], best[3], -best[0])


class _Row(NamedTuple):
    """Horizontal differences of a row of the table, and its value at the column left of the beam."""

    up: int
    down: int
    value: int


class _Table:
    """Edit distances to one reference."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.size = len(wanted)
        self.places: dict[str, int] = {}
        for position, word in enumerate(wanted):
            self.places[word] = self.places.get(word, 0) | 1 << position
        self.text = ""
        self.rows: list[_Row] = []  # of `text`
        self.known: dict[str, int] = {}

    def distance(self, own: str, least: int, base: str) -> int:
        """Return the distance within the beam, given the distance without one; `base` is the text traced last."""
        if least + abs(len(own) - self.size) < 2 * _BEAM - 2:
            return least  # the way of `least` edits stays within the beam
        if own not in self.known:
            same = next((i for i, (a, b) in enumerate(zip(own, base, strict=True)) if a != b), len(own))
            rows = self._rows(own, same)[0] if base == self.text else self._rows(own, 0)[0]
            self.known[own] = self._end(rows[-1], len(own))
        return self.known[own]

    def trace(self, own: str) -> tuple[int, str]:
        """Return the distance and the operations, from first to last, with Tercom's preference among equals."""
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
        """Return the rows of a text, the first `same` of them those of `self.text`, and what `trace` reads."""
        everywhere = (1 << self.size) - 1
        rows = self.rows[: same + 1] if same else [_Row(everywhere, 0, 0)]
        kept = []
        places = self.places
        up, down, value = rows[-1]
        bands = _bands(len(own), self.size)
        for i in range(len(rows), len(own) + 1):
            band = bands[i]
            equal = places.get(own[i - 1], 0) & band.allowed
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


class _Band(NamedTuple):
    """The columns `low` to `high` (not included) of a row that lie within the beam, as bits of what is needed."""

    low: int
    high: int
    edge: int  # the column left of the beam
    allowed: int  # columns where a match may count
    left: int  # columns left of the beam
    right: int  # columns right of it
    skipped: int  # columns that the edge has passed since the row before


@lru_cache(maxsize=4096)
def _bands(length: int, size: int) -> list[_Band]:
    """Return the beam of each row of a table, for texts of these lengths; row 0 is whole."""
    ratio = size / length if length else 1
    beam = math.ceil(ratio / 2 + _BEAM) if ratio / 2 > _BEAM else _BEAM
    bands = [_Band(0, size + 1, 0, 0, 0, 0, 0)]
    for i in range(1, length + 1):
        middle = math.floor(i * ratio)
        low, high = max(0, middle - beam), min(size + 1, middle + beam)
        if i == length:
            high = size + 1
        before = bands[-1]
        first, last = max(low, before.low + 1, 1), min(high, before.high + 1)  # columns j with j - 1 in the row before
        allowed = _bits(first, last)
        edge = max(low - 1, 0)
        bands.append(
            _Band(low, high, edge, allowed, _bits(1, low), _bits(high, size + 1), _bits(before.edge + 1, edge + 1))
        )
    return bands


def _bits(first: int, last: int) -> int:
    """Return a number whose bits are the columns `first` to `last` (not included); column 1 is the lowest bit."""
    return ((1 << (last - 1)) - 1) & ~((1 << (first - 1)) - 1) if last > first else 0


_ASIAN = re.compile("([\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb])")
_FULL_WIDTH = re.compile("([\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09])")
_KANA = "(^|^[{0}])([{0}]+)(?=$|^[{0}])"
# Tercom's rules as sacrebleu 2.6 (Apache 2.0) writes them, with what looks like slips in them: numbers are to be equal
_WESTERN = [
    (re.compile(rule), put)
    for rule, put in (
        (r"([{-~[-` -&(-+:-@/])", r" \1 "),
        (r"'s ", " 's "),
        (r"'s$", " 's"),
        (r"([^0-9])([\.,])", r"\1 \2 "),
        (r"([\.,])([^0-9])", r" \1 \2"),
        (r"([0-9])(-)", r"\1 \2 "),
    )
]
_SPLIT_ASIAN = [
    (re.compile(rule), put)
    for rule, put in (
        ("([\u4e00-\u9fff\u3400-\u4dbf])", r" \1 "),
        ("([\u31c0-\u31ef\u2e80-\u2eff])", r" \1 "),
        ("([\u3300-\u33ff\uf900-\ufaff\ufe30-\ufe4f])", r" \1 "),
        ("([\u3200-\u3f22])", r" \1 "),
        *((_KANA.format(kana), r"\1 \2 ") for kana in ("\u3040-\u309f", "\u30a0-\u30ff", "\u31f0-\u31ff")),
    )
]


def tercom_words(
    text: str, *, normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool
) -> list[str]:
    """Return a text's words by Tercom's rules.

    Examples
    --------
    >>> tercom_words("The mat.", normalized=True, no_punct=False, asian_support=False, case_sensitive=False)
    ['the', 'mat', '.']
    """
    text = text.rstrip()
    text = text if case_sensitive else text.lower()
    if text and normalized:
        text = text.replace("\n-", "").replace("\n", " ")
        for entity, sign in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
            text = text.replace(entity, sign)
        text = f" {text} "
        for rule, put in _WESTERN + (_SPLIT_ASIAN if asian_support else []):
            text = rule.sub(put, text)
        if asian_support:
            text = _FULL_WIDTH.sub(r" \1 ", _ASIAN.sub(r" \1 ", text))
    if no_punct:
        text = re.sub(r"[\.,\?:;!\"\(\)]", "", text)
        if asian_support:
            text = _FULL_WIDTH.sub("", _ASIAN.sub("", text))
    return text.split()
