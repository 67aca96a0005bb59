"""Edited directly. The table of one score a text that chrF, TER, METEOR and BERTScore return for many texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ground.results import Signature, score_card
from .bleu import Interval, _resample

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ScoreTable", "bootstrap_interval"]


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of many texts, one each, with their parts.

    Texts without a score have `defined` False and 0 in `scores`; `mean` leaves them out.

    Attributes
    ----------
    name : str
        What was computed, such as `"chrf"`.
    scores, defined : ndarray, shape (texts,)
        Floats, and whether there is a score.
    signature : Signature
        Every choice that could change a number.
    parts : mapping of str to ndarray, each (texts,)
        What else is known of each text.
    """

    name: str
    scores: np.ndarray
    defined: np.ndarray
    signature: Signature
    parts: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.scores)

    def mean(self) -> float | None:
        """Return the mean of the defined scores; None when there is none."""
        return float(self.scores[self.defined].mean()) if self.defined.any() else None

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain dictionary per text; an undefined score is None."""
        listed = {name: values.tolist() for name, values in self.parts.items()}
        scores = [s if ok else None for s, ok in zip(self.scores.tolist(), self.defined.tolist(), strict=True)]
        return [
            {self.name: score, **{name: values[i] for name, values in listed.items()}} for i, score in enumerate(scores)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python data, ready for JSON."""
        return {"rows": self.rows(), "mean": self.mean(), "signature": str(self.signature)}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per text."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=[self.name, *self.parts])

    def __repr__(self) -> str:
        mean = self.mean()
        shown = "None" if mean is None else f"{mean:.4f}"
        return f"ScoreTable({self.name}: mean {shown} of {len(self)} texts, signature={str(self.signature)!r})"

    def _repr_html_(self) -> str:
        undefined = f"no text of {len(self)} has a score"
        return score_card(
            f"mean {self.name} of {len(self)} texts", self.mean(), undefined, self.rows()[:10], str(self.signature)
        )


def bootstrap_interval(
    rows: np.ndarray, formula: Callable[[list[Any]], float], confidence: float, n_resamples: int, seed: int
) -> Interval:
    """Return the percentile bootstrap interval of a corpus score: `formula` of the sum of the texts' rows of counts."""

    def statistic(drawn: np.ndarray) -> np.ndarray:
        sums = rows[drawn].sum(axis=-2)
        flat = [formula(row) for row in sums.reshape(-1, rows.shape[1]).tolist()]
        return np.array(flat, float).reshape(sums.shape[:-1])

    _, low, high = _resample(statistic, len(rows), confidence, n_resamples, seed)
    return Interval(low, high, confidence, n_resamples, seed)
