"""Edited directly. What surrounds TER's definition: many texts, a corpus, the picture; tested in tests/test_ter.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from summeval_nb.ground.base import JsonDict
from ..ground.results import Score, Signature
from summeval_nb.ground.html import Mark
from ._ter import Edits, count_edits
from .base import (
    ArrayTable,
    Groups,
    Interval,
    bootstrap_interval,
    require_candidate,
    require_pairs,
    require_references,
    signed,
)
from .picture import COLORS, MatchPicture, token_spans

__all__ = ["TerScore", "TerTable", "score_corpus", "score_one", "score_table"]


class Editing(Protocol):
    """What `Ter` knows: the words of a text, what it counts, and a score from counts."""

    @property
    def signature(self) -> Signature: ...
    def words(self, text: str) -> list[str]: ...
    def reference_words(self, text: str) -> list[str]: ...
    def counts(self, words: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[int, float]: ...
    def from_counts(self, row: Sequence[float]) -> float: ...


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TerScore(Score):
    """TER in per cent, lower is better, with the edits behind it.

    Attributes
    ----------
    score : float or None
        None when neither candidate nor references hold a word.
    edits : int
        Of several references the fewest; added up over a corpus.
    reference_length : float
        Words of the references: their average, added up over a corpus.
    statistics : ndarray, shape (texts, 2)
        Both for each text.
    """

    edits: int
    reference_length: float
    metric: Editing
    statistics: np.ndarray
    texts: Sequence[tuple[str, Sequence[str]]] = field(default=())

    def rows(self) -> list[JsonDict]:
        """Return one row: the edits and the length by which they are divided."""
        return [{"edits": self.edits, "reference_length": self.reference_length}]

    def interval(self, *, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 0) -> Interval:
        """Return a bootstrap interval of a corpus score; see `corpus_ter`."""
        return bootstrap_interval(self.statistics, self.metric.from_counts, confidence, n_resamples, seed)

    def explain(self, index: int = 0) -> MatchPicture:
        """Show each shift and each edit that turns text number `index` into its nearest reference."""
        return _explain(*self.texts[index], self.metric)


class TerTable(ArrayTable):
    """TER of many texts, as `ter`, with `edits` and `reference_length`."""


def score_one(metric: Editing, candidate: str, references: str | Sequence[str]) -> TerScore:
    """Return the score of one text."""
    text, listed = require_candidate(candidate, references), require_references(references)
    return _assemble(metric, [text], [listed])


def score_corpus(metric: Editing, candidates: Sequence[str], references: Groups) -> TerScore:
    """Return the score of a corpus: edits and lengths are added up first."""
    texts, groups = require_pairs(candidates, references)
    if not texts:
        raise ValueError("candidates is empty: a corpus needs at least one text")
    return _assemble(metric, texts, groups)


def score_table(metric: Editing, candidates: Sequence[str], references: Groups) -> TerTable:
    """Return the scores of many texts, NaN where no side holds a word."""
    texts, groups = require_pairs(candidates, references)
    rows = _count_rows(metric, texts, groups)
    scores = np.array([metric.from_counts(row) if any(row) else np.nan for row in rows.tolist()], float)
    values = {"ter": scores, "edits": rows[:, 0], "reference_length": rows[:, 1]}
    return TerTable(values=values, signature=signed(metric.signature, groups))


def _count_rows(metric: Editing, texts: Sequence[str], groups: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the fewest edits and the average reference length of each text; a reference is cut into words once."""
    known: dict[str, list[str]] = {}
    rows = np.zeros((len(texts), 2))
    for row, (text, group) in enumerate(zip(texts, groups, strict=True)):
        known |= {one: metric.reference_words(one) for one in group if one not in known}
        rows[row] = metric.counts(metric.words(text), [known[one] for one in group])
    return rows


def _assemble(metric: Editing, texts: Sequence[str], groups: Sequence[Sequence[str]]) -> TerScore:
    """Add up the texts' counts and compute one score from the sums."""
    rows = _count_rows(metric, texts, groups)
    edits, length = rows.sum(axis=0).tolist()
    return TerScore(
        score=metric.from_counts([edits, length]) if edits or length else None,
        reason="" if edits or length else ArrayTable.nothing,
        signature=signed(metric.signature, groups),
        edits=int(edits),
        reference_length=length,
        metric=metric,
        statistics=rows,
        texts=list(zip(texts, groups, strict=True)),
    )


def _explain(candidate: str, references: Sequence[str], metric: Editing) -> MatchPicture:
    """Mark what stays, what moved, and list the edits."""
    words = metric.words(candidate)
    found = [count_edits(words, metric.reference_words(reference)) for reference in references]
    best = min(range(len(found)), key=lambda i: found[i].total)
    wanted, edits = metric.reference_words(references[best]), found[best]
    spans = [token_spans(text, cut) for text, cut in ((candidate, words), (references[best], wanted))]
    marks: list[list[Mark]] = [[], []]
    rows, i, j = [_shift_row(words, edits, k) for k in range(len(edits.shifts))], 0, 0
    for operation in edits.operations:
        own = edits.order[i] if operation != "i" else None
        theirs = j if operation != "d" else None
        i, j = i + (own is not None), j + (theirs is not None)
        if operation == " ":
            color = COLORS[j % len(COLORS)]
            for side, place in enumerate((own, theirs)):
                span = spans[side][place] if place is not None else None
                marks[side] += [Mark(*span, color, "#1a1a1a", wanted[j - 1])] if span else []
            continue
        kind = {"s": "substitute", "d": "delete", "i": "insert"}[operation]
        before, after = (words[own] if own is not None else ""), (wanted[j - 1] if theirs is not None else "")
        rows.append({"edit": kind, "candidate": before, "reference": after})
    panels = [
        ("candidate", candidate, marks[0]),
        (f"reference {best + 1} of {len(found)}", references[best], marks[1]),
    ]
    title = f"TER: {edits.total} edits for {len(wanted)} words; marked: what stays"
    return MatchPicture(title, panels, rows)


def _shift_row(words: Sequence[str], edits: Edits, number: int) -> JsonDict:
    """Return what one shift moved, and how many edits that saved."""
    order = list(range(len(words)))
    for start, length, target, _ in edits.shifts[:number]:
        block, rest = order[start : start + length], order[:start] + order[start + length :]
        target = target if target <= start + length else target - length
        order = rest[:target] + block + rest[target:]
    start, length, _, saved = edits.shifts[number]
    moved = " ".join(words[i] for i in order[start : start + length])
    return {"edit": f"shift, saves {saved}", "candidate": moved, "reference": moved}
