# A plain private module. Edited directly: no notebook exports it; tested in tests/test_blocks.py.
"""Stretches of a text: paragraphs, list items, headings, and the sentences that are cut from them."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from summeval_nb.ground.results import Sentence

_EMPTY_LINE = re.compile(r"(?>\r\n|[\n\r\x85\u2028])(?:[^\S\r\n\x85\u2028\u2029]*+(?>\r\n|[\n\r\x85\u2028]))++|\u2029+")
LINE = re.compile(r"[^\n\r\x85\u2028]++")
_MARKER = re.compile(
    r"\s*+(?:(?P<bullet>[•‣◦▪●○■□⁃])|(?P<dash>[-–—*+·])|(?P<number>\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\(?[ivxIVX]{1,5}\)))\s++(?=\S)"
)
_HEADING = re.compile(r"\s*+\#{1,6}\s++\S")
_FINISHED = re.compile(r"[.?!…][\"'”’»)\]]*$")


def _paragraphs(text: str) -> list[tuple[int, int]]:
    """Return the stretches between empty lines."""
    edges = [0, *(edge for found in _EMPTY_LINE.finditer(text) for edge in found.span()), len(text)]
    return [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if not text[start:end].isspace()]


class Block(NamedTuple):
    """A stretch that holds whole sentences: what is split begins at `body`, after a list marker."""

    start: int
    body: int
    end: int
    item: bool = False


def blocks_of(text: str) -> list[Block]:
    """Cut a text at empty lines, at list items and at headings."""
    return [block for start, end in _paragraphs(text) for block in _paragraph_blocks(text, start, end)]


def _paragraph_blocks(text: str, start: int, end: int) -> Iterable[Block]:
    """Cut one paragraph at its list items and headings."""
    lines = [line.span() for line in LINE.finditer(text, start, end)]
    markers = [_MARKER.match(text, *line) for line in lines]
    kinds = [marker and marker.lastgroup for marker in markers]
    counts = Counter(kinds)
    body, item = start, False
    for index, ((low, high), marker) in enumerate(zip(lines, markers, strict=True)):
        clear = index == 0 or kinds[index] == "bullet" or counts[kinds[index]] > 1
        begins = marker and (clear or text[slice(*lines[index - 1])].rstrip()[-1:] in (".", ":", ";", "!", "?"))
        heading = _HEADING.match(text, low, high)
        if (begins or heading) and start < low:
            yield Block(start, body, low, item)
            start, body, item = low, low, False
        if begins and marker:
            body, item = marker.end(), True
        if heading:
            yield Block(start, body, high, False)
            start = body = high
    if start < end:
        yield Block(start, body, end, item)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without the white space at both ends."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def cut_blocks(text: str, blocks: Sequence[Block], places: Sequence[Sequence[int]]) -> list[Sentence]:
    """Cut each block at its places, which are counted from the block's body."""
    found = []
    for block, cuts in zip(blocks, places, strict=True):
        inside = sorted({block.body + cut for cut in cuts if 0 < cut < block.end - block.body})
        for low, high in pairwise([block.start, *inside, block.end]):
            start, end = trimmed(text, low, high)
            if start < end:
                found.append(Sentence(text[start:end], start, end))
    return found


def checked_spans(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a callable's spans as pairs of ints, or raise a `ValueError` that names the first bad one."""
    checked: list[tuple[int, int]] = []
    reached = 0
    for index, span in enumerate(spans):
        try:
            start, end = map(operator.index, span)
        except (TypeError, ValueError):
            raise TypeError(f"a splitter must return (start, end) pairs of whole numbers, not {span!r}") from None
        if not reached <= start < end <= len(text):
            rule = f"spans must be ordered, not empty, and lie within {reached}:{len(text)}"
            raise ValueError(f"span {index} of the splitter is {start}:{end}: {rule}")
        _refuse_lost(text, reached, start)
        checked.append((start, end))
        reached = end
    _refuse_lost(text, reached, len(text))
    return checked


def _refuse_lost(text: str, start: int, end: int) -> None:
    if text[start:end].strip():
        lost = text[start:end].strip()[:40]
        raise ValueError(f"the splitter left out {lost!r} at {start}:{end}: every word must stand in a sentence")


def without_marker(text: str, sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return the sentences of a text, those that begin list items without the marker."""
    bodies = {block.start: block.body for block in blocks_of(text) if block.item}
    found = []
    for one in sentences:
        body = bodies.get(one.start, one.start)
        start = body if body < one.end else one.start
        found.append(Sentence(text[start : one.end], start, one.end))
    return found


def with_lead_in(text: str, sentences: Sequence[Sentence], max_chars: int) -> list[tuple[int, int]]:
    """Join list items to the sentence that leads into them, as long as `max_chars` allows."""
    items = [(block.start, block.end) for block in blocks_of(text) if block.item]
    groups: list[tuple[int, int]] = []
    leads, position = False, 0
    for sentence in sentences:
        while position < len(items) and items[position][1] <= sentence.start:
            position += 1
        inside = position < len(items) and items[position][0] <= sentence.start
        if inside and leads and sentence.end - groups[-1][0] <= max_chars:
            groups[-1] = (groups[-1][0], sentence.end)
        else:
            groups.append((sentence.start, sentence.end))
            leads = not inside and not _FINISHED.search(sentence.text)
    return groups


def cut_by(splitter: Callable[[str], Iterable[tuple[int, int]]], text: str) -> list[Sentence]:
    """Split one text with a callable; empty lines end sentences here too."""
    edges = [edge for found in _EMPTY_LINE.finditer(text) for edge in found.span()]
    spans = checked_spans(text, splitter(text))
    blocks = [Block(start, start, end) for start, end in spans]
    return cut_blocks(text, blocks, [[edge - start for edge in edges] for start, _ in spans])
