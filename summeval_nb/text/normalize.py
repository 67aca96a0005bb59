"""A text in one form: dates, times, numbers, units, titles and initials as they are usually or elsewhere written.

A date, a time and a world war have one usual form. Anything else is written as another text writes the same value,
and is left alone where that text does not hold it. So ordinary text hardly changes, and a wrong value never becomes a
right one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from summeval_nb.text.markdown import trimmed
from summeval_nb.text.values import (
    AS_ELSEWHERE,
    Amount,
    Amounts,
    Form,
    dates,
    figure_dates,
    names_by_initials,
    quarters,
    times,
    wars,
    years_in_periods,
)
from summeval_nb.text.wrapping import Mark, citation_marks, doubles_stop, wrappers

VERSION = "5"  # whatever reads normalised text names it in its signature


class Normalized(NamedTuple):
    """A text in one form, and for each of its characters from where to where it stands in the user's own text."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where `text[start:end]`, not empty, stands in the user's own text.

        Examples
        --------
        >>> normalized = normalize("It rained on Jan. 5.")
        >>> start = normalized.text.index("January 5")
        >>> normalized.span(start, start + 9)
        (13, 19)
        """
        return self.starts[start], self.ends[end - 1]

    def then(self, later: Normalized) -> Normalized:
        """Return two steps as one: `later` was made from this one's text."""
        starts = [self.starts[place] for place in later.starts]
        return Normalized(later.text, starts, [self.ends[place - 1] for place in later.ends])


class Edit(NamedTuple):
    """What stands in the place of `text[start:end]`."""

    start: int
    end: int
    words: str


def edited(text: str, edits: Iterable[Edit]) -> Normalized:
    """Return a text with edits, which are in order and do not overlap; all of an edit leads back to what it replaced.

    Examples
    --------
    >>> edited("a bc d", [Edit(2, 4, "xyz")])
    Normalized(text='a xyz d', starts=[0, 1, 2, 2, 2, 4, 5], ends=[1, 2, 4, 4, 4, 5, 6])
    """
    listed = list(edits)
    if not listed:
        return Normalized(text, range(len(text)), range(1, len(text) + 1))
    pieces, starts, ends, reached = list[str](), list[int](), list[int](), 0
    for edit in chain(listed, [Edit(len(text), len(text), "")]):
        pieces += [text[reached : edit.start], edit.words]
        starts += [*range(reached, edit.start), *[edit.start] * len(edit.words)]
        ends += [*range(reached + 1, edit.start + 1), *[edit.end] * len(edit.words)]
        reached = edit.end
    return Normalized("".join(pieces), starts, ends)


def normalize(text: str, *, like: str = "") -> Normalized:
    """Return a text in one form, with the way back to every character.

    Parameters
    ----------
    text : str
        Any text; a summary or an answer.
    like : str
        The other text, such as the article. A number, an amount, a unit, a title, a numeral or initials are written as
        it writes them, where it holds the same value.

    Returns
    -------
    Normalized
        `text`, and `span(start, end)`, which leads from it to the user's own text.

    Examples
    --------
    >>> normalize("The UN met on 15 Jan. at 15:00.", like="The United Nations met in January.").text
    'The United Nations met on January 15 at 3 pm.'
    >>> normalize("It cost 2,000,000 euros.", like="It cost €2 million.").text
    'It cost €2 million.'
    """
    own = unwrapped(text, like=like).own
    return own.then(in_one_form(own.text, like))


_FOLLOWING = re.compile(r"[ \t]*([^\W\d_])")
_CLOSES = re.compile(r"[\s.,;:!?)\]}\"”’]|\Z")


class Unwrapped(NamedTuple):
    """A text without its citation marks and without what wraps it, and where these stand in the user's own text."""

    own: Normalized
    marks: list[tuple[int, int]]
    wraps: list[tuple[int, int]]

    def with_marks(self, text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return spans of the unwrapped text as spans of the user's own, with the marks beside them.

        A mark belongs to the sentence before it in its line, or else to the one behind it.
        """
        placed = [self.own.span(*span) for span in spans]
        place = 0
        for start, end in self.marks:
            while place < len(placed) and placed[place][1] <= start:
                place += 1
            before, behind = placed[place - 1] if place else None, placed[place] if place < len(placed) else None
            if behind and behind[0] <= start:
                continue
            if before and "\n" not in (gap := text[before[1] : start]) and not gap.strip():
                placed[place - 1] = before[0], end
            elif behind and not text[end : behind[0]].strip():
                placed[place] = start, behind[1]
        return placed


def unwrapped(text: str, *, like: str = "") -> Unwrapped:
    """Return a text without citation marks and without what wraps it.

    An empty line takes the place of what wraps the text, so that no sentence runs across it.

    Examples
    --------
    >>> found = unwrapped("Sure! Anna has two dogs [1].")
    >>> found.own.text, found.wraps
    ('Anna has two dogs.', [(0, 5)])
    """
    wraps = [trimmed(text, *span) for span in wrappers(text, like=like)]
    edits = [Edit(start, end, "\n\n" if start > 0 and end < len(text) else "") for start, end in wraps]
    taken = {place for start, end in wraps for place in range(start, end)}
    marks = [mark for mark in citation_marks(text, like=like) if taken.isdisjoint(range(mark.start, mark.end))]
    edits += [_gone(text, mark) for mark in marks]
    own = edited(text, _disjoint(edits))
    if edits:
        start, end = trimmed(own.text, 0, len(own.text))
        own = Normalized(own.text[start:end], own.starts[start:end], own.ends[start:end])
    return Unwrapped(own, [(mark.start, mark.end) for mark in marks], wraps)


def _disjoint(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Give edits in order; the white space between two is taken out once."""
    reached = 0
    for edit in sorted(edits):
        if edit.end > reached:
            yield edit._replace(start=max(edit.start, reached))
            reached = edit.end


def _gone(text: str, mark: Mark) -> Edit:
    """Return the edit that takes a mark out of a text, with the white space that was there for it."""
    start, end = mark.start, mark.end
    if text[start].isalpha() and (following := _FOLLOWING.match(text, end)):  # According to [1], the bridge fell
        return Edit(start, following.end(), following[1].upper())
    while start and text[start - 1] in " \t\u00a0":
        start -= 1
    if start and text[start - 1] != "\n":
        end += doubles_stop(text, end, start)
        return Edit(start, end, "" if _CLOSES.match(text, end) else " ")
    while end < len(text) and text[end] in ": \t\u00a0":
        end += 1
    return Edit(start, end, "")


# Accents that stand alone after their letter, characters that are not seen, and white space where one space would do.

_HYPHENATED = (
    "all anti co cross ex full half high ill left long low mid multi non one open part post pre pro right self"
)
_HYPHENATED += " semi short so sub then three two ultra un up vice well world year"
_BROKEN = re.compile(r"([^\W\d_]+)(-[^\S\n]*\n[^\S\n]*)(?=[a-z])")  # a word at the end of a line
_WIDE = re.compile(  # spaces side by side, or a line end within a sentence
    r"(?<=\S)(?:[^\S\n]{2,}(?=[^\s])|(?<!\w-)[^\S\n]*\n[^\S\n]*(?=[^\W\d_]))"
    r"|(?<=[^\W\d_]|[,.])[^\S\n]*\n[^\S\n]*(?=\d)"
)
_LOOSE = re.compile(r"[^\W\d_]?[\u0300-\u036f]+|[\u00ad\u200b\ufeff]")


def _composed(text: str) -> Normalized:
    """Return a text whose letters hold their accents, without soft hyphens and spaces of no width or too wide."""
    edits = [Edit(*match.span(), " ") for match in _WIDE.finditer(text)]
    for match in _BROKEN.finditer(text):
        edits.append(Edit(*match.span(2), "-" * (match[1].lower() in _HYPHENATED.split())))
    for match in () if text.isascii() else _LOOSE.finditer(text):
        words = unicodedata.normalize("NFC", match[0]) if match[0][-1] >= "\u0300" and match[0][0] < "\u2000" else ""
        if words != match[0]:
            edits.append(Edit(*match.span(), words))
    return edited(text, sorted(edits))


# All of it together.


class _Written(NamedTuple):
    """How a text writes its values: the forms of each in order, its dates, quantities, and names by their initials."""

    forms: dict[Hashable, dict[str, None]]
    dates: frozenset[tuple[int, int, int]]
    amounts: Amounts
    names: dict[str, set[str]]


@lru_cache(maxsize=16)
def _written(like: str) -> _Written:
    """Return how a text writes its values."""
    forms: dict[Hashable, dict[str, None]] = {}
    amounts: list[tuple[Amount, str]] = []
    dated = [*dates(like), *figure_dates(like, frozenset())]
    taken = _Taken(form for form in (*dated, *times(like), *wars(like), *quarters(like)))
    for finder in (*AS_ELSEWHERE, years_in_periods):
        for form in finder(like):
            words = like[form.start : form.end]
            if finder is years_in_periods or taken.free(form):
                for key in form.keys:
                    if isinstance(key, Amount):
                        amounts.append((key, words))
                    else:
                        forms.setdefault(key, {})[words] = None
    names: dict[str, set[str]] = {}
    for initials, name in names_by_initials(like):
        names.setdefault(initials, set()).add(name)
    days = frozenset(key[1:] for form in dated for key in form.keys if isinstance(key, tuple) and all(key[1:]))
    return _Written(forms, days, Amounts(amounts), names)


class _Taken:
    """The places of a text that are read already."""

    def __init__(self, forms: Iterable[Form]):
        self.places: set[int] = set()
        for form in forms:
            self.add(form)

    def add(self, form: Form) -> None:
        self.places.update(range(form.start, form.end))

    def free(self, form: Form) -> bool:
        return self.places.isdisjoint(range(form.start, form.end))


def in_one_form(text: str, like: str = "", *, lang: str | None = None) -> Normalized:
    """Return a text with its accents in their letters, and in English its values in one form.

    Dates, times and wars get their usual form, other values the one that `like` writes them in.
    """
    composed = _composed(text)
    if lang is not None and lang.partition("-")[0] != "en":
        return composed
    return composed.then(_in_one_form(composed.text, _written(_composed(like).text) if like else None))


def _in_one_form(text: str, known: _Written | None) -> Normalized:
    taken, edits = _Taken(()), list[Edit]()
    always = chain(
        figure_dates(text, known.dates if known else frozenset()), dates(text), times(text), wars(text), quarters(text)
    )
    for form in always:
        if taken.free(form):
            taken.add(form)
            edits += _edit(text, form, form.usual)
    seen: dict[tuple[Hashable, str], str] = {}
    for finder in AS_ELSEWHERE if known else ():
        for form in finder(text):
            said = form.keys, text[form.start : form.end]
            if known and said not in seen:
                seen[said] = _as_in(known, text, form)
            if taken.free(form) and (own := _edit(text, form, seen[said])):
                taken.add(form)
                edits += own
    return edited(text, sorted(edits))


def _as_in(known: _Written, text: str, form: Form) -> str:
    """Return how another text writes what a form says, "" where it writes it the same way or not at all."""
    words = text[form.start : form.end]
    for key in form.keys:
        forms = known.amounts.of(key) if isinstance(key, Amount) else list(known.forms.get(key, ()))
        if isinstance(key, tuple) and key[0] == "initials" and not forms:
            names = known.names.get(str(key[1]), set())
            forms = [name for name in names if len(names) == 1 and name not in text]
        if forms:
            same = {_bare(other) for other in forms}
            alike = (
                isinstance(key, tuple)
                and key[0] == "share"
                and any(_share_kind(other) == _share_kind(words) for other in forms)
            )
            return (
                "" if alike or _bare(words) in same else max(forms, key=lambda other: ("-" in other) == ("-" in words))
            )
    return ""


def _share_kind(words: str) -> str:
    """Return how a share is written: in percent, as one in four, or as a quarter."""
    found = re.search(r"%|per ?cent|pct| (?:in|out of) ", words)
    return found[0].strip().replace("%", "percent") if found else ""


def _bare(words: str) -> str:
    """Return what of an expression a reader of words sees: no separators, no dots of initials."""
    return re.sub(r",(?=\d{3}(?!\d))|(?<=[A-Za-z])\.|-|(?<!\d)[\s\u00a0]|[\s\u00a0](?!\d)", "", words).lower()


_AT_END = re.compile(r"[\"'”’)\]\s]*+\Z")


def _edit(text: str, form: Form, words: str) -> list[Edit]:
    """Return the edit of what differs in a form, none where nothing changes; the dot that ends a text stays."""
    written = text[form.start : form.end]
    end = form.end
    if written.endswith(".") and not words.endswith(".") and _AT_END.match(text, end):
        end, written = end - 1, written[:-1]
    if not words or written.lower() == words.lower():
        return []
    if words.endswith(".") and text[end : end + 1] == ".":
        words = words[:-1]
    start, old, new = form.start, written.split(" "), words.split(" ")
    while len(old) > 1 < len(new) and old[0] == new[0]:
        start += len(old.pop(0)) + 1
        new.pop(0)
    while len(old) > 1 < len(new) and old[-1] == new[-1]:
        end -= len(old.pop()) + 1
        new.pop()
    return [Edit(start, end, " ".join(new))]
