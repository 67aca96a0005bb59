"""Where tokens stand in a text, and the picture of what texts share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from summeval_nb.core.base import JsonDict
from summeval_nb.core.html import Mark, Markup, html_table, mark_html, mark_terminal, render, text_table

from .counting import pairs_in_order
from .ngrams import ENTITIES, clipped_counts, list_ngrams

Gram = TypeVar("Gram", bound=tuple[Hashable, ...])

__all__ = ["CLIPPED", "COLORS", "MatchPicture", "ngram_marks", "token_spans"]

_SUBWORD_MARKS = "\u2581\u0120#@"  # SentencePiece, byte-level BPE, WordPiece, subword-nmt


def token_spans(text: str, tokens: Iterable[Hashable]) -> list[tuple[int, int] | None]:
    """Return for each token its `(start, end)` in the text, or None where it cannot be found.

    Examples
    --------
    >>> token_spans("On the mat.", ["on", "the", "mat"])
    [(0, 2), (3, 6), (7, 10)]
    """
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)  # same positions as `text`
    spans: list[tuple[int, int] | None] = []
    position = 0
    for token in tokens:
        found = _find(lowered, str(token), position)
        spans.append(found)
        position = found[1] if found else position
    return spans


def _find(lowered: str, token: str, position: int) -> tuple[int, int] | None:
    """Look for a token near a position; what lies between may be up to 80 characters, if they hold no words."""
    forms = [token, token.strip(_SUBWORD_MARKS)] + [name for name, sign in ENTITIES.items() if sign == token]
    places = [(place, form) for form in forms if form and (place := lowered.find(form.lower(), position)) >= 0]
    if not places:
        return None
    start, form = min(places, key=lambda item: item[0])
    skipped = lowered[position:start]
    wordless = not re.search("[a-z0-9]", skipped)
    return (start, start + len(form)) if wordless or len(skipped) <= 80 else None


@dataclass(frozen=True)
class MatchPicture:
    """Texts with their shared passages marked, and the counts behind the marks.

    Parameters
    ----------
    title : str
        What is shown.
    panels : list of (label, text, marks)
        The texts, in the order in which they are drawn.
    rows : list of dict
        The table of counts below them.
    """

    title: str
    panels: list[tuple[str, str, list[Mark]]]
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


COLORS = ("#ffe08a", "#a8ddb5", "#9ecae1", "#fdc5a0", "#d4b9da", "#c7e9c0", "#f7b6d2", "#c6dbef")
CLIPPED = "#d0d0d0"


def ngram_marks(
    spans: Sequence[tuple[int, int] | None],
    grams: Sequence[Gram],
    shared: Mapping[Gram, int],
) -> list[Mark]:
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
    colors = {gram: COLORS[index % len(COLORS)] for index, gram in enumerate(shared)}
    seen: Counter[Gram] = Counter()
    marks = []
    for first, gram in enumerate(grams):
        places = [span for span in spans[first : first + len(gram)] if span]
        if gram in shared and places:
            seen[gram] += 1
            counts = seen[gram] <= shared[gram]
            title = f"{' '.join(map(str, gram))}: number {seen[gram]}, {shared[gram]} counted"
            back = colors[gram] if counts else CLIPPED
            marks.append(Mark(places[0][0], places[-1][1], back, "#1a1a1a", title))
    return sorted(marks, key=lambda mark: mark.background == CLIPPED)


def ngram_panels(
    labels: Sequence[str],
    placed: Sequence[tuple[str, Sequence[Hashable], Sequence[tuple[int, int] | None]]],
    n: int,
    columns: Sequence[str] = ("candidate", "reference", "shared"),
) -> tuple[list[tuple[str, str, list[Mark]]], list[JsonDict], int]:
    """Mark the n-grams that a text shares with one or several others, as often as they count; list and count them.

    `placed` has the texts, each with its tokens and their places, `columns` the names of an n-gram's three counts.
    """
    counted = clipped_counts(placed[0][1], [tokens for _, tokens, _ in placed[1:]], n)
    shared = {gram: counts[2] for gram, counts in counted.items() if counts[2]}
    panels = [
        (label, text, ngram_marks(spans, list_ngrams(tokens, n), shared))
        for label, (text, tokens, spans) in zip(labels, placed, strict=True)
    ]
    rows = [
        {"n-gram": " ".join(map(str, gram)), **dict(zip(columns, counts, strict=True))}
        for gram, counts in counted.items()
    ]
    return panels, rows, sum(shared.values())


def match_panels(
    labels: Sequence[str],
    texts: Sequence[str],
    words: Sequence[Sequence[Hashable]],
    matches: Iterable[tuple[int, int]],
    title: str = "match {number}: {word}",
) -> list[tuple[str, str, list[Mark]]]:
    """Return the panels of two texts in which matched words have the same colour."""
    marks: list[list[Mark]] = [[], []]
    spans = [token_spans(text, own) for text, own in zip(texts, words, strict=True)]
    for number, match in enumerate(matches):
        named = title.format(number=number + 1, word=words[1][match[1]])
        for side, places, place in zip(marks, spans, match, strict=True):
            if span := places[place]:
                side.append(Mark(*span, COLORS[number % len(COLORS)], "#1a1a1a", named))
    return list(zip(labels, texts, marks, strict=True))


_SHOWN = 100  # pairs that a picture lists


def skip_marks(
    texts: Sequence[tuple[Sequence[Hashable], Sequence[tuple[int, int] | None]]], kind: str
) -> tuple[list[list[Mark]], list[JsonDict]]:
    """Mark the words that stand in a shared pair, and list the shared pairs, the first hundred of them."""
    named = [
        Counter(tuple(tokens[at] for at in places) for places in pairs_in_order(tokens, kind)) for tokens, _ in texts
    ]
    shared = named[0] & named[1]
    marks: list[list[Mark]] = []
    for tokens, spans in texts:
        left, counted = Counter(shared), Counter[int]()
        for places in pairs_in_order(tokens, kind):
            pair = tuple(tokens[at] for at in places)
            if left[pair] > 0:
                left[pair] -= 1
                counted.update(places)
        marks.append(
            [
                Mark(*span, COLORS[0], "#1a1a1a", f"{tokens[at]}: in {counted[at]} of {shared.total()} shared pairs")
                for at, span in enumerate(spans)
                if span and counted[at]
            ]
        )
    rows: list[JsonDict] = [
        {
            "pair": " … ".join(map(str, pair)),
            "candidate": named[0][pair],
            "reference": named[1][pair],
            "shared": count,
        }
        for pair, count in list(shared.items())[:_SHOWN]
    ]
    if len(shared) > _SHOWN:
        rows.append({"pair": f"and {len(shared) - _SHOWN} more", "shared": sum(list(shared.values())[_SHOWN:])})
    return marks, rows
