"""The layout of a text: its blocks, and of Markdown the statements, with their words and places."""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from summeval_nb.core.results import Sentence

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_EMPTY_LINE = re.compile(r"(?>\r\n|[\n\r\x85\u2028])(?:[^\S\r\n\x85\u2028\u2029]*+(?>\r\n|[\n\r\x85\u2028]))++|\u2029+")
LINE = re.compile(r"[^\n\r\x85\u2028]++")
_MARKER = re.compile(
    r"\s*+(?:(?P<bullet>[•‣◦▪●○■□⁃])|(?P<dash>[-–—*+·])|(?P<number>\(?\d{1,3}[.)]|\(?[A-Za-z]\)|\(?[ivxIVX]{1,5}\)))\s++(?=\S)"
)
_HEADING_SIGN = re.compile(r"\s*+\#{1,6}\s++\S")
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
        heading = _HEADING_SIGN.match(text, low, high)
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
    for sentence in sentences:
        body = bodies.get(sentence.start, sentence.start)
        start = body if body < sentence.end else sentence.start
        found.append(Sentence(text[start : sentence.end], start, sentence.end))
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


HEADING = "a heading states nothing that could be checked"
CODE = "code is not judged"
RULE = "a line that only divides is not judged"
TABLE_HEAD = "the head of a table states nothing that could be checked"
PICTURE = "a picture is not judged"
WRAPPER = "it wraps the text and says nothing of its subject"
NO_EVIDENCE = frozenset({CODE, RULE, PICTURE})

_SIGNS = re.compile(r"[*_`#>|~\[\\<]|^[ \t]*(?:[-+=]|\d{1,9}[.)])(?:[ \t]|$|[-=])", re.MULTILINE)
_RAW_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_BOLD_LINE = re.compile(r"\s*(\*\*|__)(?!\s)(?P<words>(?:(?!\1).){1,100})\1\s*:?\s*")
_END = re.compile(r"[.!?…。！？][\"'”’»)\]*_`]*\s*$")
_TEXT_FENCES = ("markdown", "md", "text", "txt", "plain", "plaintext")
_LONG_NUMBER = 4  # "1984. It was hot" begins with a year, not with the marker of a list item


def has_word(text: str) -> bool:
    """Return whether a text has a letter or a digit: signs alone are no sentence, neither to judge nor as evidence.

    >>> has_word("- 7"), has_word("***")
    (True, False)
    """
    return any(map(str.isalnum, text))


class Row(NamedTuple):
    """A row of a table, with the whole table: the heads, all rows below them, and which of these it is."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    number: int


class Piece(NamedTuple):
    """A stretch of a text: its words without markup, the place of each character, why it is not judged; or a `row`."""

    plain: str
    places: Sequence[int]
    reason: str = ""
    row: Row | None = None


@cache
def _parser() -> MarkdownIt:
    """Return markdown-it for CommonMark with tables, its inline rules watched, without what plain text trips over."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.disable(["code", "reference", "html_block", "html_inline", "entity", "inline", "text_join"])
    parser.inline.ruler2.disable("fragments_join")
    names = parser.inline.ruler.get_active_rules()
    for name, rule in zip(names, parser.inline.ruler.getRules(""), strict=True):
        parser.inline.ruler.at(name, _watched(name, rule))
    return parser


def _watched(name: str, rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """Return an inline rule that notes which characters of its text are markup."""

    def run(state: StateInline, silent: bool) -> bool:
        before, held = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        if not silent and state.src == state.env["source"]:  # the label of an image is parsed on its own
            state.env["markup"].update(_markup(name, state, before, held))
            if name in ("emphasis", "strikethrough"):
                end = state.pos
                for sign in reversed(state.tokens[held:]):  # the first of them may be the text before the signs
                    if end > before:
                        end -= len(sign.content)
                        state.env["signs"].append((sign, end, len(sign.content)))
        return True

    return run


def _markup(name: str, state: StateInline, start: int, held: int) -> Iterator[int]:
    """Yield the places in `state.src[start:state.pos]` that a matched rule found to be markup."""
    text, end = state.src, state.pos
    if name == "image":
        yield from range(start, end)
    elif name == "link":
        close = state.md.helpers.parseLinkLabel(state, start, True)
        yield from (start, *range(close, end))
    elif name == "autolink":
        yield from (start, end - 1)
    elif name == "escape" and text[start + 1] in "*_`#[]~|":  # data sets write don\'t, and authors \LaTeX
        yield start
    elif name == "backticks" and len(state.tokens) > held:
        width = len(state.tokens[-1].markup)
        code = text[start + width : end - width]
        if (
            len(code) <= 60 and "'" not in code and not code[:1].isspace()
        ):  # `quoted' and `` quoted '' are older than code
            yield from (*range(start, start + width), *range(end - width, end))


def _inline(content: str) -> set[int]:
    """Return the places in the content of a block that are markup: emphasis, links, pictures, code marks."""
    env: dict[str, Any] = {"source": content, "markup": set(), "signs": []}
    if re.search(r"[*_`\[\\<~]", content):
        _parser().inline.parse(content, _parser(), env, [])
    markup: set[int] = env["markup"]
    for sign, place, width in env["signs"]:
        left, right = content[:place].rstrip("*_")[-1:], content[place + width :].lstrip("*_")[:1]
        within = left.isascii() and right.isascii() and left.isalnum() and right.isalnum()
        if not sign.content and not within:  # 2*3*4 is a product, and f**k a word
            markup.update(range(place, place + width))
    return markup


def markdown_pieces(text: str) -> list[Piece] | None:
    """Return the pieces of a Markdown text in order, or None for a text without any markup that we can place.

    Headings, code, dividing lines, heads of tables and lone pictures come with the reason why they are not judged.
    Items of lists and quotations come without their markers, rows of tables with commas between their cells.
    """
    if not _SIGNS.search(text):
        return None
    lines = [found.span(1) for found in _RAW_LINE.finditer(text)]
    try:
        pieces = [piece for piece in _Walk(text, lines).pieces() if piece.plain]
    except _Unplaced:
        return None
    kept = sum(len(piece.plain) - sum(map(str.isspace, piece.plain)) for piece in pieces)
    if kept == len("".join(text.split())) and not any(piece.reason for piece in pieces):
        return None
    return pieces


class _Unplaced(Exception):
    """A parsed line that cannot be located in the text."""


def _span(token: Token) -> tuple[int, int]:
    """Return the lines of a block: its first, and the one after its last."""
    if token.map is None:
        raise _Unplaced(token.type)
    first, end = token.map
    return first, end


class _Walk:
    """A walk over the blocks that the parser found in a text."""

    def __init__(self, text: str, lines: Sequence[tuple[int, int]]):
        self.text, self.lines = text, lines
        self.tokens = _parser().parse(text)

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces of the text."""
        place, lists, marker = 0, 0, ""
        while place < len(self.tokens):
            token = self.tokens[place]
            lists += token.nesting if token.type in ("bullet_list_open", "ordered_list_open") else 0
            lists -= token.type in ("bullet_list_close", "ordered_list_close")
            if token.type == "list_item_open":
                marker = token.info + token.markup if len(token.info) >= _LONG_NUMBER else ""
            elif token.type == "fence":
                yield from self._fence(token)
            elif token.type == "hr":
                yield self._raw(*_span(token), RULE)
            elif token.type == "heading_open":
                yield from self._heading(token, self.tokens[place + 1])
            elif token.type == "table_open":
                close = next(i for i in range(place, len(self.tokens)) if self.tokens[i].type == "table_close")
                yield from self._table(self.tokens[place : close + 1])
                place = close
            elif token.type == "paragraph_open":
                yield from self._paragraph(self.tokens[place + 1], lists == 0, marker)
                marker = ""
            place += 1

    def _raw(self, first: int, end: int, reason: str) -> Piece:
        """Return whole lines as they stand."""
        start, stop = self.lines[first][0], self.lines[min(end, len(self.lines)) - 1][1]
        places = range(start, stop)
        return _trimmed_piece(self.text[start:stop], places, reason)

    def _fence(self, token: Token) -> Iterator[Piece]:
        """Yield code as one piece; a text that was put into a fence as a whole is read as a text."""
        first, end = _span(token)
        if token.info.strip().lower() not in _TEXT_FENCES or token.level:
            yield self._raw(first, end, CODE)
            return
        closed = self.text[slice(*self.lines[end - 1])].strip().startswith(token.markup) and end - 1 > first
        start, stop = self.lines[first][1], self.lines[end - 1][0] if closed else self.lines[end - 1][1]
        inner = self.text[start:stop]
        found = markdown_pieces(inner) or [_trimmed_piece(inner, range(len(inner)))]
        yield from (piece._replace(places=[start + place for place in piece.places]) for piece in found)

    def _heading(self, token: Token, inline: Token) -> Iterator[Piece]:
        """Yield a heading; what is underlined but reads like a paragraph is one, with a dividing line after it."""
        first, end = _span(token)
        underlined = not token.markup.startswith("#")
        if underlined and ("\n" in inline.content or _END.search(inline.content)):
            yield from self._paragraph(inline, False, "")
            yield self._raw(end - 1, end, RULE)
        else:
            content, places = self._placed(inline.content, first)
            yield _without(content, places, _inline(content), HEADING)

    def _placed(self, content: str, first: int) -> tuple[str, list[int]]:
        """Return a block's content and the place of each of its characters in the text, line by line."""
        places: list[int] = []
        for number, line in enumerate(content.split("\n"), first):
            start, end = self.lines[number] if number < len(self.lines) else (0, 0)
            words = line.strip()
            at = self.text.rfind(words, start, end) if words else end
            if at < 0:
                raise _Unplaced(line)
            lead = len(line) - len(line.lstrip())
            places += [max(start, at - lead + i) for i in range(len(line))]
            places.append(end)  # the line's end
        return content, places[:-1]

    def _paragraph(self, inline: Token, may_head: bool, marker: str) -> Iterator[Piece]:
        """Yield a paragraph; a line of it that is bold as a whole and no sentence is a heading."""
        content, places = self._placed(inline.content, _span(inline)[0])
        markup = _inline(content)
        start = group = 0
        for line in content.split("\n"):
            stop = start + len(line)
            bold = _BOLD_LINE.fullmatch(line) if may_head else None
            if bold and not _END.search(bold["words"]) and start + bold.start(1) in markup:
                yield _without(content, places, markup, "", group, start)
                yield _without(content, places, markup, HEADING, start, stop)
                group = stop
            start = stop + 1
        if marker:
            at = self.text.rfind(marker, self.lines[_span(inline)[0]][0], places[0])
            content, places = f"{marker} {content}", [*range(at, at + len(marker) + 1), *places]
            markup = {place + len(marker) + 1 for place in markup}
        piece = _without(content, places, markup, "", group)
        is_picture = not piece.plain and content.startswith("![")
        yield _trimmed_piece(content, places, PICTURE) if is_picture else piece

    def _table(self, tokens: Sequence[Token]) -> Iterator[Piece]:
        """Yield the rows of a table: its head with the reason, the others as cells with commas between them."""
        lines: list[int] = []
        grid: list[list[str]] = []
        for token in tokens:
            if token.type == "tr_open":
                lines.append(_span(token)[0])
                grid.append([])
            elif token.type == "inline":
                grid[-1].append(token.content)
        heads, *rows = [tuple(map(_bare, cells)) for cells in grid]
        yield self._row(grid[0], lines[0], TABLE_HEAD)
        yield self._raw(lines[0] + 1, lines[0] + 2, RULE)
        for number, (cells, line) in enumerate(zip(grid[1:], lines[1:], strict=True)):
            yield self._row(cells, line)._replace(row=Row(heads, tuple(rows), number))

    def _row(self, cells: Sequence[str], line: int, reason: str = "") -> Piece:
        start, end = self.lines[line]
        plain = ""
        places: list[int] = []
        for cell in filter(str.strip, cells):
            at = self.text.find(cell, start, end)
            if at < 0:
                raise _Unplaced(cell)
            markup = _inline(cell)
            kept = [i for i in range(len(cell)) if i not in markup]
            if plain:
                plain, places = plain + ", ", [*places, start, at]
            plain += "".join(cell[i] for i in kept)
            places += [at + i for i in kept]
            start = at + len(cell)
        return Piece(plain, places, reason)


def _bare(content: str) -> str:
    markup = _inline(content)
    return "".join(sign for i, sign in enumerate(content) if i not in markup).strip()


def _without(
    content: str, places: Sequence[int], markup: set[int], reason: str, start: int = 0, end: int | None = None
) -> Piece:
    """Return a part of a block's content without its markup."""
    kept = [i for i in range(start, len(content) if end is None else end) if i not in markup]
    return _trimmed_piece("".join(content[i] for i in kept), [places[i] for i in kept], reason)


def _trimmed_piece(plain: str, places: Sequence[int], reason: str = "") -> Piece:
    """Return a piece without the white space at both ends."""
    start, end = len(plain) - len(plain.lstrip()), len(plain.rstrip())
    return Piece(plain[start:end], places[start:end], reason) if start < end else Piece("", [], reason)


Read = tuple[Sentence, str, Sequence[int], str, Row | None]  # the parts of a `Reading`
_TOUCHING = frozenset("*_`~[]")


def _reading(text: str, places: Sequence[int], low: int, plain: str, of: Piece) -> Read:
    """Return what stands between two places of a text as a passage, with the markup that touches its ends."""
    start, end = places[0], places[-1] + 1
    while start > low and text[start - 1] in _TOUCHING:
        start -= 1
    while end < len(text) and text[end] in _TOUCHING:
        end += 1
    return Sentence(text[start:end], start, end), plain, [place - start for place in places], of.reason, of.row


def stated_bodies(text: str, pieces: Iterable[Piece] | None) -> list[str]:
    """Return what of a text is to be split: all of it, or of a Markdown text the pieces that state something."""
    return [text] if pieces is None else [piece.plain for piece in pieces if not (piece.reason or piece.row)]


def read_pieces(text: str, pieces: Iterable[Piece] | None, split: Iterator[list[Sentence]]) -> list[Read]:
    """Return the parts of a text's readings; `split` gives the sentences of each of its `stated_bodies`."""
    if pieces is None:
        return [
            (sentence, sentence.text, range(len(sentence.text)), "", None)
            for sentence in without_marker(text, next(split))
        ]
    found: list[Read] = []
    for piece in pieces:
        whole = Sentence(piece.plain, 0, len(piece.plain))
        for sentence in [whole] if piece.reason or piece.row else without_marker(piece.plain, next(split)):
            low = found[-1][0].end if found else 0
            found.append(_reading(text, piece.places[sentence.start : sentence.end], low, sentence.text, piece))
    return found
