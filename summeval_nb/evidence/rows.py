"""What an article says of the cells of a table: a cell is said where a clause holds it together with its row's name.

A checker of sentences has nothing to hold on to in "lemonade, 6 euros" where another sentence says it of a sandwich.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from summeval_nb.core.results import Finding, Verdict
from summeval_nb.evidence.tokens import Token, take_apart
from summeval_nb.evidence.unsaid import may_be_past, unsaid_spans
from summeval_nb.text.markdown import Row
from summeval_nb.text.normalize import normalize
from summeval_nb.text.split import Reading

__all__ = ["Cell", "RowReading", "cells_said", "judged_row", "read_row", "rows_say"]

Keys = tuple[str, ...]
_ARTICLES = frozenset("a an the".split())
_JOINS = frozenset("and but or while whereas".split())
_MEASURES = frozenset("costs holds measures weighs".split())
_EACH = frozenset("each both".split())
_PARTIES = ("er", "or", "ee")  # a winner and a loser: one sentence names the two, either way round
_LESS = 0.5  # of the threshold: a row that is not said has no greater probability


class Cell(NamedTuple):
    """A cell behind the first one: whether it is said of its row (None: that is open), and by which sentence."""

    text: str
    said: bool | None
    by: str = ""


class _Hit(NamedTuple):
    """Where a sentence holds a name or a value."""

    start: int
    end: int
    what: Keys


class _Told(NamedTuple):
    """A sentence without its articles, cut at its clauses; it is `open` if it denies or supposes something."""

    text: str
    tokens: tuple[Token, ...]
    keys: Keys
    clauses: tuple[tuple[int, int], ...]
    open: bool

    @classmethod
    def of(cls, text: str) -> _Told:
        parts = take_apart(text)
        kept = tuple(token for token in parts.tokens if not _is_article(text, token))
        edges = [0, len(kept)]
        for place in range(1, len(kept)):
            between = text[kept[place - 1].end : kept[place].start]
            if kept[place].key in _JOINS or any(sign in between for sign in ",;:|()\n"):
                edges.append(place)
        edges = sorted(set(edges))
        negated = any(token.kind == "negation" for token in kept)
        keys = tuple(token.key for token in kept)
        return cls(text, kept, keys, tuple(zip(edges, edges[1:], strict=False)), negated or bool(unsaid_spans(parts)))

    def places(self, wanted: Mapping[str, Sequence[Keys]]) -> Iterator[_Hit]:
        """Where phrases stand, which are given by their first keys."""
        for start, key in enumerate(self.keys):
            for phrase in wanted.get(key, ()):
                if self.keys[start : start + len(phrase)] == phrase:
                    yield _Hit(start, start + len(phrase), phrase)

    def unit(self, place: int) -> Keys:
        """What a number counts: the word behind it, or behind the numbers of its list: 4, 5 and 7 euros."""
        after = place + 1
        while after < len(self.keys) and (self.keys[after] in _JOINS or self.tokens[after].kind == "number"):
            after += 1
        return self.keys[after : after + 1]

    def clause(self, hit: _Hit) -> tuple[int, int]:
        """The clause in which a hit begins."""
        return next(clause for clause in self.clauses if clause[0] <= hit.start < clause[1])

    def carries(self, name: _Hit, hit: _Hit) -> bool:
        """Whether the clause of a value goes on with that of a name, without a subject of its own."""
        own, other = self.clause(name), self.clause(hit)
        if own == other:
            return True
        low, high = sorted([self.clauses.index(own), self.clauses.index(other)])
        between = [clause for clause in self.clauses[low : high + 1] if clause != own]
        return all(self._goes_on(clause, hit) for clause in between)

    def _goes_on(self, clause: tuple[int, int], hit: _Hit) -> bool:
        places = [place for place in range(*clause) if self.keys[place] not in _JOINS]
        rest = [place for place in places if not hit.start <= place < hit.end]
        words = {place: self.text[self.tokens[place].start : self.tokens[place].end] for place in places}
        if any(self.tokens[place].kind == "content" and words[place][0].isupper() for place in rest):
            return False
        if not rest or places[0] != rest[0]:
            return True
        first, word = self.tokens[rest[0]], words[rest[0]]
        leads = word.endswith("s") and places[1:2] and self.tokens[places[1]].kind == "function"  # comes in black
        return first.kind == "function" or may_be_past(word.lower()) or leads or word in _MEASURES


def _keys(text: str) -> Keys:
    tokens = take_apart(text).tokens
    return tuple(token.key for token in tokens if len(tokens) == 1 or not _is_article(text, token))


def _is_article(text: str, token: Token) -> bool:
    return token.key in _ARTICLES and (token.start == 0 or text[token.start : token.end] != "A")  # vitamin A


def _is_number(key: str) -> bool:
    return key[:1].isdigit()


def _apart(hits: Sequence[_Hit]) -> list[_Hit]:
    """Hits in order without those that lie in a longer one."""
    found: list[_Hit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start - hit.end, hit.start)):
        if all(hit.end <= other.start or other.end <= hit.start for other in found):
            found.append(hit)
    return sorted(found)


def _by_first(phrases: Iterable[Keys]) -> dict[str, list[Keys]]:
    found: dict[str, list[Keys]] = {}
    for phrase in dict.fromkeys(filter(None, phrases)):
        found.setdefault(phrase[0], []).append(phrase)
    return found


def _name_hits(told: _Told, names: Mapping[str, Sequence[Keys]], head: frozenset[str]) -> list[_Hit]:
    """The names of rows in a sentence; a bare number is one only behind its head, as in bus 4."""
    return _apart(
        [
            hit
            for hit in told.places(names)
            if not (len(hit.what) == 1 and _is_number(hit.what[0])) or (hit.start and told.keys[hit.start - 1] in head)
        ]
    )


class _Column(NamedTuple):
    """A column of a table beside its first one, which holds the names."""

    head: frozenset[str]
    names: tuple[Keys, ...]
    values: tuple[Keys, ...]
    by_first: Mapping[str, Sequence[Keys]]

    def value_hits(self, told: _Told, value: Keys, names: Sequence[_Hit]) -> list[_Hit]:
        """The values of the column in a sentence, and where one is a number all with its unit."""
        hits = list(told.places(self.by_first))
        if _is_number(value[0]):
            for place, token in enumerate(told.tokens):
                unit = told.unit(place)
                if token.kind == "number" and (len(value) == 1 or unit == value[1:2]):
                    hits.append(_Hit(place, place + 1, (token.key, *(value[1:] if len(value) > 1 else ()))))
        taken = {place for name in names for place in range(name.start, name.end)}
        return _apart([hit for hit in hits if taken.isdisjoint(range(hit.start, hit.end))])

    def says(self, told: _Told, names: Sequence[_Hit], number: int, besides: Sequence[Keys]) -> bool | None:
        """Whether a sentence with names says the value of a row (None: it does not tell); `besides` are other cells."""
        name, value = self.names[number], self.values[number]
        mine = next((hit for hit in names if hit.what == name), None)
        if mine is None or told.open:
            return None
        hits = [hit for hit in self.value_hits(told, value, names) if hit.what == value or hit.what not in besides]
        held = any(hit.what == value for hit in hits)
        if len({hit.what for hit in names}) > 1:
            if len(names) == len(hits):  # tea and milk cost 5 and 7 euros
                return hits[names.index(mine)].what == value
            if len(hits) != 1 or not _EACH & set(told.keys):
                inside = [hit for hit in names if told.clause(hit) == told.clause(mine)]
                if len(inside) > 1:
                    return None
                hits = [hit for hit in hits if told.clause(hit) == told.clause(mine)]
        near = [hit for hit in hits if told.clause(hit) == told.clause(mine)]
        far = [hit for hit in hits if hit not in near and told.carries(mine, hit)]
        if any(hit.what == value for hit in near or far):
            return True
        if held or not (near or far):  # of whom it is said is open
            return None
        bare = len(value) == 1 and _is_number(value[0])
        alike = not bare or self.head & set(told.keys) or any(hit.what in self.values for hit in near or far)
        return False if alike else None


def _unit_of(head: str) -> str:
    """The unit that a head has in brackets: length (km)."""
    return head.rpartition("(")[2].rstrip(" )") if head.rstrip().endswith(")") and "(" in head else ""


def _filled(cell: str, head: str, article: str) -> Keys:
    plain = f"{cell} {_unit_of(head)}" if cell.replace(",", "").replace(".", "").isdigit() else cell
    return _keys(normalize(plain.strip(), like=article).text)


@lru_cache(maxsize=64)
def _table_said(heads: Keys, rows: tuple[Keys, ...], sentences: Keys) -> tuple[tuple[Cell, ...], ...]:
    """What sentences say of all cells of a table, row by row."""
    article = "\n".join(sentences)
    told = [_Told.of(sentence) for sentence in sentences]
    filled = [[_filled(cell, head, article) for cell, head in zip(row, heads, strict=True)] for row in rows]
    names = tuple(row[0] for row in filled)
    index, name_head = _by_first(names), frozenset(_keys(heads[0]))
    named = [(sentence, _name_hits(sentence, index, name_head)) for sentence in told]
    columns = []
    for place, head in enumerate(heads):
        values = tuple(row[place] for row in filled)
        columns.append(_Column(frozenset(_keys(head)), names, values, _by_first(values)))
    parties = [place for place, head in enumerate(heads) if head.endswith(_PARTIES) and heads[0].endswith(_PARTIES)]
    found = []
    for number, row in enumerate(rows):
        cells = []
        for place in range(1, len(heads)):
            if not row[place].strip() or not columns[place].values[number]:
                continue
            if place in parties and row[0][:1].isupper() and row[place][:1].isupper():
                cells.append(Cell(row[place], None))
                continue
            besides = [key for other, key in enumerate(filled[number]) if other != place]
            cells.append(_cell(row[place], columns[place], number, besides, named))
        found.append(tuple(cells))
    return tuple(found)


def _cell(
    text: str, column: _Column, number: int, besides: Sequence[Keys], told: Sequence[tuple[_Told, list[_Hit]]]
) -> Cell:
    open_cell = Cell(text, None)
    said = ((column.says(sentence, hits, number, besides), sentence) for sentence, hits in told if hits)
    decided = (Cell(text, value, sentence.text) for value, sentence in said if value is not None)
    return max(decided, key=lambda cell: bool(cell.said), default=open_cell)


def cells_said(row: Row, sentences: Sequence[str]) -> tuple[Cell, ...]:
    """Return what sentences of an article say of the cells of a row behind the first, those not empty.

    Examples
    --------
    >>> row = Row(("drink", "price"), (("tea", "5 euros"), ("milk", "5 euros")), 1)
    >>> [cell.said for cell in cells_said(row, ["Tea costs 5 euros.", "Milk costs 7 euros."])]
    [False]
    """
    return _table_said(row.heads, row.rows, tuple(sentences))[row.number]


def rows_say(rows: Sequence[Row], sentence: str) -> bool | None:
    """Return whether rows of tables say a sentence, with each number and name of it; None if they do not tell.

    Examples
    --------
    >>> row = Row(("drink", "price"), (("tea", "5 euros"),), 0)
    >>> rows_say([row], "Tea costs 5 euros."), rows_say([row], "Tea costs 7 euros."), rows_say([row], "Tea is hot.")
    (True, False, None)
    """
    cells = [(row, cell) for row in rows for cell in cells_said(row, [sentence])]
    if any(cell.said is False for _, cell in cells):
        return False
    held = {
        key
        for row, cell in cells
        if cell.said
        for text in (*row.heads, row.rows[row.number][0], cell.text)
        for key in _keys(normalize(text, like=sentence).text)
    }
    parts = take_apart(sentence)
    told = {token.key for token in (*parts.names, *(token for token in parts.tokens if token.kind == "number"))}
    return True if held and told <= held else None


class RowReading(Reading):
    """A row of a table that is read as the sentences of the article that say it; they have no places in it."""

    def in_sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return the place of the whole row."""
        return 0, len(self.sentence.text)

    @property
    def reworded(self) -> bool:
        """True: a checker reads the article's sentences."""
        return True


def read_row(reading: Reading, source: Sequence[Reading]) -> Reading:
    """Return the row of a table as the sentences that say it, and as it is where one of its cells is not said."""
    if reading.row is None or reading.reason:
        return reading
    cells = cells_said(reading.row, [sentence.plain for sentence in source])
    if not cells or not all(cell.said for cell in cells):
        return reading
    return RowReading(*reading)._replace(plain=" ".join(dict.fromkeys(cell.by for cell in cells)))


def judged_row(verdict: Verdict, reading: Reading, source: Sequence[Reading]) -> Verdict:
    """Return the verdict on a row that is not said: contradicted with the cells that are, or else open."""
    if reading.row is None or isinstance(reading, RowReading) or verdict.probability is None:
        return verdict
    text, low, found, reached = reading.sentence.text, reading.sentence.start, list[Finding](), 0
    for cell in cells_said(reading.row, [sentence.plain for sentence in source]):
        at = text.find(cell.text, reached)
        start, end = (at, at + len(cell.text)) if at >= 0 else (0, len(text))
        reached = max(reached, end if at >= 0 else 0)
        if cell.said is False:
            kind = "number" if any(map(str.isdigit, cell.text)) else "name"
            found.append(Finding(kind, text[start:end], low + start, low + end, True))
    probability = min(verdict.probability, _LESS * verdict.threshold)
    border = verdict.threshold if found else 0.0
    return replace(verdict, probability=probability, contradicted_below=border, findings=found)
