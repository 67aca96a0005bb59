# A plain private module: edited here, exported by no notebook, tested in tests/test_agreement.py.
"""The results of chapter 53: what they hold, and show as rows, plain data, sentences and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from summeval_nb.ground.base import JsonDict
from summeval_nb.ground.html import html_table, text_table
from summeval_nb.ground.results import Rows, Score, Signature

from ._shown import histogram, in_words
from .agreement import Correlation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PairedTest"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PairedTest(Score):
    """The difference of two metrics' correlations with human judgement, tested.

    Parameters
    ----------
    score : float or None
        Correlation of A minus correlation of B.
    a, b : Correlation
        The two correlations, over the cells that all three tables have.
    p_value : float or None
        The largest of `p_values`; None where a correlation is undefined.
    p_values : dict of str to float
        The p-value of each permutation test that was made, by what it swapped.
    interval : (float, float) or None
        Bootstrap interval of the difference.
    alternative : str
        "greater": A better than B; "less": worse; "two-sided": different.
    null : numpy.ndarray
        The differences after random swaps, in the test with the largest p-value.
    """

    a: Correlation
    b: Correlation
    p_value: float | None
    p_values: dict[str, float]
    interval: tuple[float, float] | None
    alternative: str
    null: np.ndarray

    def rows(self) -> list[JsonDict]:
        """Return three rows: A, B and their difference with its p-value."""
        parts: list[tuple[str, float | None, tuple[float, float] | None, float | None]] = [
            ("A", self.a.score, self.a.interval, None),
            ("B", self.b.score, self.b.interval, None),
        ]
        parts.append(("A - B", self.score, self.interval, self.p_value))
        names = ("metric", "correlation", "low", "high", "p")
        return [dict(zip(names, (n, c, *(i or (None, None)), p), strict=True)) for n, c, i, p in parts]

    def to_dict(self) -> JsonDict:
        """Return everything but the resampled values as plain Python data."""
        own = {
            "p_value": self.p_value,
            "p_values": self.p_values,
            "interval": self.interval,
            "alternative": self.alternative,
        }
        return super().to_dict() | own | {"a": self.a.to_dict(), "b": self.b.to_dict()}

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the differences after random swaps, and where the observed difference lies."""
        title = f"p = {self.p_value:.3g}" if self.p_value is not None else self.reason
        return histogram(self.null, self.score, None, title, "difference after random swaps", ax)

    def sentence(self, names: Sequence[str] = ("A", "B"), *, alpha: float = 0.05) -> str:
        """Return what the test allows you to say, at the significance level `alpha`."""
        if self.p_value is None:
            return f"No statement is possible: {self.reason}."
        words = {
            "greater": "agrees better with people than",
            "less": "agrees less with people than",
            "two-sided": "agrees differently with people than",
        }[self.alternative]
        allowed = "You may say" if self.p_value < alpha else "You may not say"
        return (
            f"{allowed} that {names[0]} {words} {names[1]}: "
            f"{self.a.level}-level {self.a.coefficient} "
            f"{self.a.score:.3f} against {self.b.score:.3f}, "
            f"difference {in_words(self.score, self.interval, '')}, "
            f"p = {self.p_value:.3g}."
        )

    def __str__(self) -> str:
        return self.sentence()


@dataclass(frozen=True, repr=False, eq=False)
class RankedMetrics(Rows):
    """What `Comparisons` shows: rows, tables and plain data."""

    correlations: dict[str, Correlation]
    p_values: dict[tuple[str, str], float]
    ranks: dict[str, int]
    undefined: dict[str, str]
    signature: Signature

    def rows(self) -> list[JsonDict]:
        """Return one row a metric, best first, undefined ones last."""
        names = ("metric", "rank", "correlation", "low", "high")
        parts = [(n, self.ranks[n], c.score, *(c.interval or (None, None))) for n, c in self.correlations.items()]
        parts += [(n, None, None, None, None) for n in self.undefined]
        return [dict(zip(names, part, strict=True)) for part in parts]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data."""
        order = list(self.ranks)
        upper = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
        pairs = [{"a": a, "b": b, "p": self.p_values[a, b]} for a, b in upper]
        return {
            "rows": self.rows(),
            "pairs": pairs,
            "undefined": self.undefined,
            "signature": str(self.signature),
        }

    def __repr__(self) -> str:
        return f"Comparisons({len(self.rows())} metrics, signature={str(self.signature)!r})\n{text_table(self.rows())}"

    def _repr_html_(self) -> str:
        return html_table(self.rows(), note=str(self.signature))
