# A plain private module: edited here, exported by no notebook, tested in tests/test_agreement.py.
"""Pairwise accuracy for every threshold of a tie at once, and its picture (chapter 53)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from summeval_nb.ground.base import JsonDict, float_array
from summeval_nb.ground.html import axes_for
from summeval_nb.ground.results import Score

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def require_epsilon(epsilon: float | str) -> bool:
    """Whether the threshold of a tie is calibrated; what is neither that nor a number of at least 0 is refused."""
    if isinstance(epsilon, str) and epsilon == "calibrate":
        return True
    if isinstance(epsilon, (str, bool)) or not epsilon >= 0:
        raise ValueError(f"epsilon must be 'calibrate' or a number of at least 0, not {epsilon!r}")
    float_array(epsilon, "epsilon")
    return False


def weighted_pairs(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """All pairs within each row: size of the metric's difference, concordant?, human tie?, and each pair's weight."""
    first, second = np.triu_indices(x.shape[1], 1)
    dx, dy = x[:, first] - x[:, second], y[:, first] - y[:, second]
    present = ~(np.isnan(dx) | np.isnan(dy))
    per_row = present.sum(axis=1)
    rows = max(1, int((per_row > 0).sum()))
    weight = np.broadcast_to(1 / (rows * np.maximum(per_row, 1))[:, None], dx.shape)
    return (
        np.abs(dx[present]),
        (np.sign(dx) == np.sign(dy))[present],
        (dy == 0)[present],
        weight[present],
    )


def accuracy_curve(
    size: np.ndarray, concordant: np.ndarray, tied: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Candidate tie thresholds (0 first) and the accuracy with each."""
    order = np.argsort(size, kind="stable")
    size, weight = size[order], weight[order]
    right_as_tie = np.concatenate([[0.0], np.cumsum(weight * tied[order])])
    right_as_order = np.concatenate([[0.0], np.cumsum(weight * (concordant & ~tied)[order])])
    thresholds = np.unique(np.concatenate([[0.0], size]))
    upto = np.searchsorted(size, thresholds, side="right")
    return thresholds, right_as_tie[upto] + right_as_order[-1] - right_as_order[upto]


def accuracy_by_threshold(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Candidate tie thresholds, the accuracy with each, the number of pairs and of those that people tied."""
    size, concordant, human_tie, weight = weighted_pairs(x, y)
    return *accuracy_curve(size, concordant, human_tie, weight), size.size, int(human_tie.sum())


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AccuracyCurve(Score):
    """What `PairwiseAccuracy` shows: its row of counts, and the accuracy against the threshold."""

    epsilon: float | None
    calibrated: bool
    n_pairs: int
    n_human_ties: int
    thresholds: np.ndarray
    curve: np.ndarray

    def rows(self) -> list[JsonDict]:
        """Return one row with the accuracy, the threshold and the counts."""
        counts = {"pairs": self.n_pairs, "human ties": self.n_human_ties}
        return [
            {
                "accuracy": self.score,
                "epsilon": self.epsilon,
                "calibrated": self.calibrated,
            }
            | counts
        ]

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the accuracy against the tie threshold."""
        ax = axes_for(ax, 6, 3)
        ax.step(self.thresholds, self.curve, where="post", color="#33628d")
        if self.epsilon is not None and self.score is not None:
            ax.plot(self.epsilon, self.score, "o", color="#b34700")
        ax.set(xlabel="largest difference that counts as a tie", ylabel="pairwise accuracy")
        return ax
