"""What of an answer is judged, unit by unit: without what wraps or cites, and of a table one statement a cell.

A cell is read with the head above it and the cell that names its row: the cost of tea is 5 euros.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from rapidfuzz.distance import Indel

from summeval_nb.core.results import Sentence
from summeval_nb.judged.replies import Told, begins_with_verb, ends_with_preposition
from summeval_nb.text.markdown import Row, has_word
from summeval_nb.text.statements import answer_units
from summeval_nb.text.wrapping import citation_marks, wrappers

__all__ = ["AnswerUnit", "TableRow", "own_spans", "spoken", "spoken_units", "table_rows"]

_LINE = re.compile(r"[^\n]+")
_RULE = re.compile(r"[\s|:+-]+")
_MARKUP = re.compile(r"[*_`]+")


class TableRow(NamedTuple):
    """A row of a table: its place in the text, and what it states; the head and the line below it state nothing."""

    start: int
    end: int
    told: tuple[Told, ...]


def _cells(line: str) -> list[str]:
    inner = line.strip().strip("|") if "|" in line else ""
    return [_MARKUP.sub("", cell).strip() for cell in inner.split("|")] if inner else []


def _is_rule(line: str) -> bool:
    return "-" in line and "|" in line and _RULE.fullmatch(line) is not None


def _goes_on(line: re.Match[str], following: re.Match[str], count: int) -> bool:
    """Whether a table of that many columns goes on in the line that follows, without an empty line between."""
    apart = line.string.count("\n", line.end(), following.start()) > 1
    return not apart and (_is_rule(following[0]) or len(_cells(following[0])) == count)


def _tables(lines: Sequence[re.Match[str]]) -> Iterator[Sequence[re.Match[str]]]:
    """Runs of lines with as many cells as each other, of which the first is a head."""
    start = 0
    while start < len(lines):
        count, end = len(_cells(lines[start][0])), start + 1
        while end < len(lines) and count > 1 and _goes_on(lines[end - 1], lines[end], count):
            end += 1
        run = lines[start:end]
        ruled = len(run) > 2 and _is_rule(run[1][0])
        numbers = [any(map(str.isdigit, line[0])) for line in run]
        told = not all(_is_rule(line[0]) for line in run)
        if told and (ruled or (len(run) > 1 and not numbers[0] and all(numbers[1:]))):
            yield run
        start = end


def table_rows(text: str) -> list[TableRow]:
    """Return the lines of a text's tables, in order.

    Examples
    --------
    >>> rows = table_rows("| product | cost |\\n|---|---|\\n| tea | 5 euros |")
    >>> [told.text for row in rows for told in row.told]
    ['The cost of tea is 5 euros.']
    """
    if "|" not in text:
        return []
    found: list[TableRow] = []
    for run in _tables(list(_LINE.finditer(text))):
        head, *body = [line for line in run if not _is_rule(line[0])]
        heads, rows = tuple(_cells(head[0])), tuple(tuple(_cells(line[0])) for line in body)
        told = {line.start(): _told(Row(heads, rows, number)) for number, line in enumerate(body)}
        found += [TableRow(*line.span(), told.get(line.start(), ())) for line in run]
    return found


def _told(row: Row) -> tuple[Told, ...]:
    named, *cells = row.rows[row.number]
    if named.isdigit() and row.heads[0]:  # of bus 4
        named = f"{row.heads[0]} {named}"
    pairs = zip(row.heads[1:], cells, strict=True)
    return tuple(Told(_statement(head, named, cell), cell, made=True, row=row) for head, cell in pairs if cell)


def _statement(head: str, named: str, cell: str) -> str:
    small = head[:1].lower() + head[1:] if head[1:2].islower() else head
    if not head or not named or begins_with_verb(small) or ends_with_preposition(small):  # bus 4 goes to the harbour
        return f"{named} {small} {cell}.".strip()
    return f"The {small} of {named} is {cell}."


_SPACES = re.compile(r"[^\S\n]+(?=[.,;:!?](?:\s|$))|(?<=[^\S\n])[^\S\n]+")


class AnswerUnit(NamedTuple):
    """A unit of a text: its place there, its words without marks of citation, and what it states if it is a row."""

    place: Sentence
    plain: str
    told: tuple[Told, ...] = ()


@lru_cache(maxsize=1024)
def spoken(text: str) -> str:
    """Return a text with blanks for what wraps it and for its marks of citation; every character keeps its place.

    Examples
    --------
    >>> spoken("Sure! It opened in 1931 [2].").strip()
    'It opened in 1931    .'
    """
    spans = [*wrappers(text), *((mark.start, mark.end) for mark in citation_marks(text))]
    for start, end in spans:
        blank = "".join(sign if sign in "\r\n" else " " for sign in text[start:end])
        text = text[:start] + blank + text[end:]
    return text


def spoken_units(text: str, *, keep_lists: bool = False) -> list[AnswerUnit]:
    """Return the units of an answer; the head of a table is none.

    Examples
    --------
    >>> [unit.plain for unit in spoken_units("Sure! It has two moons [1]. The sky is green.")]
    ['It has two moons.', 'The sky is green.']
    """
    said = spoken(text)
    rows = table_rows(said)
    found, reached = list[AnswerUnit](), 0
    for row in [*rows, TableRow(len(said), len(said), ())]:
        for unit in answer_units(said[reached : row.start], keep_lists=keep_lists):
            start, end = unit.start + reached, unit.end + reached
            if has_word(unit.text):
                found.append(AnswerUnit(Sentence(text[start:end], start, end), _SPACES.sub("", unit.text)))
        if row.told:
            place = Sentence(text[row.start : row.end], row.start, row.end)
            found.append(AnswerUnit(place, " ".join(told.text for told in row.told), row.told))
        reached = row.end
    return found


_WORD = re.compile(r"\w+|[^\w\s]")
_ALIGNED = 10_000_000  # pairs of words; an alignment takes a bit of memory for each


def own_spans(place: Sentence, read: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return where stretches of the words in which a unit is read stand in the user's text.

    A word that replaces others stands where they do. What stands nowhere is the whole unit's.

    Examples
    --------
    >>> own_spans(Sentence("She sang [2] in Ulm.", 10, 30), "Anna sang in Ulm.", [(0, 4)])
    [(10, 13)]
    """
    own, said = list(_WORD.finditer(place.text)), list(_WORD.finditer(read))
    instead: list[list[re.Match[str]]] = [[] for _ in said]
    few = len(own) * len(said) <= _ALIGNED
    codes: Iterable[Any] = Indel.opcodes([word[0] for word in own], [word[0] for word in said]) if few else []
    for same, group in groupby(codes, key=lambda code: code.tag == "equal"):
        steps = list(group)
        there, first = own[steps[0].src_start : steps[-1].src_end], steps[0].dest_start
        words = [word for word in there if has_word(word[0])]
        for n in range(first, steps[-1].dest_end):
            instead[n] = [there[n - first]] if same else words
    starts, ends, found = [word.start() for word in said], [word.end() for word in said], []
    for start, end in spans:
        words = [word for n in range(bisect_right(ends, start), bisect_left(starts, end)) for word in instead[n]]
        low, high = (words[0].start(), words[-1].end()) if words else (0, len(place.text))
        found.append((place.start + low, place.start + high))
    return found
