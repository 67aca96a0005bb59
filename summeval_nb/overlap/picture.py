"""Where tokens stand in a text, and the picture of what texts share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from summeval_nb.core.base import JsonDict
from summeval_nb.core.html import Mark, Markup, html_table, mark_html, mark_terminal, render, text_table

from .counting import pairs_in_order
from .ngrams import ENTITIES, clipped_counts, list_ngrams

Gram = TypeVar("Gram", bound=tuple[Hashable, ...])
Span: TypeAlias = tuple[int, int] | None  # of a token in its text, where it can be found
Panels: TypeAlias = list[tuple[str, str, list[Mark]]]  # label, text, marks

__all__ = ["CLIPPED", "COLORS", "MatchPicture", "Placed", "colored", "ngram_marks", "token_spans"]

COLORS = ("#ffe08a", "#a8ddb5", "#9ecae1", "#fdc5a0", "#d4b9da", "#c7e9c0", "#f7b6d2", "#c6dbef")
CLIPPED = "#d0d0d0"
_SUBWORD_MARKS = "\u2581\u0120#@"  # SentencePiece, byte-level BPE, WordPiece, subword-nmt
_SHOWN = 100  # pairs that a picture lists


def token_spans(text: str, tokens: Iterable[Hashable]) -> list[Span]:
    """Return for each token its `(start, end)` in the text, or None where it cannot be found.

    Examples
    --------
    >>> token_spans("On the mat.", ["on", "the", "mat"])
    [(0, 2), (3, 6), (7, 10)]
    """
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)  # same positions as `text`
    spans: list[Span] = []
    position = 0
    for token in tokens:
        found = _find(lowered, str(token), position)
        spans.append(found)
        position = found[1] if found else position
    return spans


def _find(lowered: str, token: str, position: int) -> Span:
    """Look for a token near a position; what lies between may be up to 80 characters, if they hold no words."""
    forms = [token, token.strip(_SUBWORD_MARKS)] + [name for name, sign in ENTITIES.items() if sign == token]
    places = [(place, form) for form in forms if form and (place := lowered.find(form.lower(), position)) >= 0]
    if not places:
        return None
    start, form = min(places, key=lambda item: item[0])
    skipped = lowered[position:start]
    wordless = not re.search("[a-z0-9]", skipped)
    return (start, start + len(form)) if wordless or len(skipped) <= 80 else None


class Placed(NamedTuple):
    """A text, its tokens as they are counted, and where each stands."""

    text: str
    tokens: Sequence[Hashable]
    spans: Sequence[Span]


@dataclass(frozen=True)
class MatchPicture:
    """Texts with their shared passages marked, and the counts behind the marks.

    `panels` are the texts in the order in which they are drawn, (label, text, marks), and `rows` the table below them.
    """

    title: str
    panels: Panels
    rows: list[JsonDict]

    def _repr_html_(self) -> str:
        texts = [
            {"text": label, "shared passages": Markup(mark_html(text, marks))} for label, text, marks in self.panels
        ]
        tables = [html_table(texts, caption=self.title), *([html_table(self.rows)] if self.rows else [])]
        return render("parts.html", kind="summeval-match", parts=tables)

    def to_text(self, *, color: bool = False) -> str:
        """Return the picture for a terminal: marks in [brackets], or in colour."""
        texts = [f"{label}: {mark_terminal(text, marks, color=color)}" for label, text, marks in self.panels]
        return "\n".join([self.title, *texts, *(["", text_table(self.rows)] if self.rows else [])])

    def __str__(self) -> str:
        return self.to_text()


def colored(span: tuple[int, int], number: int, title: str) -> Mark:
    """Return a mark in the colour that a number has."""
    return Mark(*span, COLORS[number % len(COLORS)], "#1a1a1a", title)


def ngram_marks(spans: Sequence[Span], grams: Sequence[Gram], shared: Mapping[Gram, int]) -> list[Mark]:
    """Return a mark for every n-gram occurrence that counts, and grey ones for those that clipping left out.

    Parameters
    ----------
    spans : sequence of (start, end) or None
        Place of each token.
    grams : sequence of tuple
        The text's n-grams in order, as they are counted.
    shared : mapping
        How many occurrences of each n-gram count; n-grams that are not in it are not marked.
    """
    numbers = {gram: number for number, gram in enumerate(shared)}
    seen: Counter[Gram] = Counter()
    marks = []
    for first, gram in enumerate(grams):
        places = [span for span in spans[first : first + len(gram)] if span]
        if gram in shared and places:
            seen[gram] += 1
            title = f"{' '.join(map(str, gram))}: number {seen[gram]}, {shared[gram]} counted"
            mark = colored((places[0][0], places[-1][1]), numbers[gram], title)
            marks.append(mark if seen[gram] <= shared[gram] else mark._replace(background=CLIPPED))
    return sorted(marks, key=lambda mark: mark.background == CLIPPED)


def ngram_panels(
    labels: Sequence[str],
    placed: Sequence[Placed],
    n: int,
    columns: Sequence[str] = ("candidate", "reference", "shared"),
) -> tuple[Panels, list[JsonDict], str]:
    """Mark the n-grams that a text shares with others, as often as they count; list them, and say how many they are.

    `columns` are the names of an n-gram's three counts.
    """
    counted = clipped_counts(placed[0].tokens, [other.tokens for other in placed[1:]], n)
    shared = {gram: counts[2] for gram, counts in counted.items() if counts[2]}
    panels = [
        (label, own.text, ngram_marks(own.spans, list_ngrams(own.tokens, n), shared))
        for label, own in zip(labels, placed, strict=True)
    ]
    rows = [
        {"n-gram": " ".join(map(str, gram)), **dict(zip(columns, counts, strict=True))}
        for gram, counts in counted.items()
    ]
    return panels, rows, f"{sum(shared.values())} of {sum(counts[0] for counts in counted.values())}"


def match_panels(
    labels: Sequence[str],
    placed: Sequence[Placed],
    matches: Iterable[tuple[int, int]],
    title: str = "match {number}: {word}",
) -> Panels:
    """Mark matched words of two texts in the same colour."""
    marks: list[list[Mark]] = [[], []]
    for number, match in enumerate(matches):
        named = title.format(number=number + 1, word=placed[1].tokens[match[1]])
        for side, own, place in zip(marks, placed, match, strict=True):
            if span := own.spans[place]:
                side.append(colored(span, number, named))
    return [(label, own.text, side) for label, own, side in zip(labels, placed, marks, strict=True)]


def skip_panels(labels: Sequence[str], placed: Sequence[Placed], kind: str) -> tuple[Panels, list[JsonDict]]:
    """Mark the words that stand in a shared pair, and list the shared pairs, the first hundred of them."""
    pairs = [
        [(tuple(own.tokens[at] for at in places), places) for places in pairs_in_order(own.tokens, kind)]
        for own in placed
    ]
    made, wanted = (Counter(pair for pair, _ in own) for own in pairs)
    shared = made & wanted
    panels: Panels = []
    for label, own, listed in zip(labels, placed, pairs, strict=True):
        left, counted = Counter(shared), Counter[int]()
        for pair, places in listed:
            if left[pair] > 0:
                left[pair] -= 1
                counted.update(places)
        title = f"{{}}: in {{}} of {shared.total()} shared pairs"
        spans = [(at, span) for at, span in enumerate(own.spans) if span and counted[at]]
        marks = [colored(span, 0, title.format(own.tokens[at], counted[at])) for at, span in spans]
        panels.append((label, own.text, marks))
    rows: list[JsonDict] = [
        {"pair": " … ".join(map(str, pair)), "candidate": made[pair], "reference": wanted[pair], "shared": count}
        for pair, count in list(shared.items())[:_SHOWN]
    ]
    if len(shared) > _SHOWN:
        rows.append({"pair": f"and {len(shared) - _SHOWN} more", "shared": sum(list(shared.values())[_SHOWN:])})
    return panels, rows
