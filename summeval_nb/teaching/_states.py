# A plain private module: edited directly, exported by no notebook, tested in tests/test_play.py.
"""What pictures hold, beside the one of chapter 72 itself: settings, and all that follows from them."""

from __future__ import annotations

from dataclasses import dataclass

from summeval_nb.agreement.agreement import Correlation
from summeval_nb.ground.base import JsonDict
from summeval_nb.ground.results import Verdict
from summeval_nb.overlap.bleu import BleuScore
from summeval_nb.teaching import _drawings as drawn
from summeval_nb.teaching._points import Points
from summeval_nb.teaching._study import EvidenceStudy


@dataclass(frozen=True, repr=False, eq=False)
class BleuState(drawn.State):
    """A BLEU score with the fate of each n-gram.

    `grams[n - 1]` are the rows of `score.explain(n=n)`; `smoothed[n - 1]` says whether
    the precision of order n is another one than its counts give.
    """

    says, draws = drawn.bleu_words, drawn.bleu_html
    candidate: str
    references: tuple[str, ...]
    smooth: str
    score: BleuScore
    grams: tuple[tuple[JsonDict, ...], ...]
    smoothed: tuple[bool, ...]


@dataclass(frozen=True, repr=False, eq=False)
class EvidenceState(drawn.State):
    """Verdicts and score for one k and one threshold; `start` is to compare with."""

    says, draws = drawn.evidence_words, drawn.evidence_html
    study: EvidenceStudy
    k: int
    threshold: float
    verdicts: tuple[Verdict, ...]
    score: float | None
    start: tuple[int, float, float | None]


@dataclass(frozen=True, repr=False, eq=False)
class CorrelationState(drawn.State):
    """Points (metric, people), their coefficients, and those to compare with."""

    says, draws = drawn.correlation_words, drawn.correlation_html
    points: Points
    values: dict[str, Correlation]
    before: dict[str, float | None]


def smoothed_orders(score: BleuScore) -> tuple[bool, ...]:
    """Say for each order of a BLEU score whether its precision is another one than its counts give."""
    parts = zip(score.precisions, score.counts, score.totals, strict=True)
    return tuple(p > 0 and (not total or abs(p * total - 100 * count) > 1e-6) for p, count, total in parts)
