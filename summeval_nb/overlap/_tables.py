"""Edited directly. What the chapters of this part after ROUGE share: a table of arrays, an interval of any sum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..ground.base import np
from ..ground.resampling import bootstrap
from ..ground.results import ScoreTable, Signature

__all__ = ["ArrayTable", "Interval", "bootstrap_interval", "signed"]


class Interval(NamedTuple):
    """A confidence interval and how it was made."""

    low: float
    high: float
    confidence: float
    n_resamples: int
    seed: int


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ArrayTable(ScoreTable):
    """Scores of many texts with their parts: `values` by name, each of shape (texts,), the main score first."""

    values: Mapping[str, np.ndarray]
    signature: Signature
    nothing = "neither candidate nor references hold anything to compare"

    def arrays(self) -> dict[str, np.ndarray]:
        """Return each number by name, NaN where there is none."""
        return dict(self.values)


def bootstrap_interval(
    rows: np.ndarray, formula: Callable[[list[float]], float], confidence: float, n_resamples: int, seed: int
) -> Interval:
    """Return the percentile bootstrap interval of a corpus score: `formula` of the sum of the texts' rows of counts."""

    def statistic(drawn: np.ndarray) -> np.ndarray:
        sums = rows[drawn].sum(axis=-2)
        flat = [formula(row) for row in sums.reshape(-1, rows.shape[1]).tolist()]
        return np.array(flat, float).reshape(sums.shape[:-1])

    _, low, high = bootstrap(statistic, len(rows), confidence=confidence, n_resamples=n_resamples, seed=seed)
    return Interval(low, high, confidence, n_resamples, seed)


def signed(signature: Signature, references: Sequence[Sequence[str]]) -> Signature:
    """Return a signature with the number of references, "var" when texts have different numbers."""
    sizes = {len(group) for group in references}
    name, *rest = signature.items()
    return Signature(dict([name, ("nrefs", str(sizes.pop()) if len(sizes) == 1 else "var"), *rest]))
