# A plain private module: edited directly, exported by no notebook, tested in tests/test_reliability.py.
"""Probabilities held against labels: both looked at, one bin's row, the logistic fit, and the diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from summeval_nb.ground._plain import float_array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Numbers = Sequence[float] | np.ndarray


def require_labelled(probabilities: Numbers, labels: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """Both as float arrays of one length, probabilities in [0, 1] and labels 0 or 1; raise otherwise."""
    try:
        values, truth = float_array(probabilities, "probabilities"), float_array(labels, "labels")
    except (TypeError, ValueError) as error:
        remedy = "leave out failed verdicts, whose probability is None, together with their labels"
        raise TypeError(f"probabilities and labels must be lists of numbers ({error}): {remedy}") from error
    if values.ndim != 1 or values.shape != truth.shape:
        raise ValueError(f"one label for each probability, please: got shapes {values.shape} and {truth.shape}")
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("probabilities must lie in [0, 1]; leave out failed verdicts together with their labels")
    if not np.isin(truth, (0, 1)).all():
        raise ValueError(f"labels must be 0 or 1, not {sorted(set(truth[~np.isin(truth, (0, 1))].tolist()))[:3]}")
    return values, truth


def judged_only(
    probabilities: Sequence[float | None] | np.ndarray, labels: Numbers
) -> tuple[list[float], list[float], int]:
    """Probabilities that are not None, their labels, and how many were left out."""
    if len(probabilities) != len(labels):
        counts = f"got {len(probabilities)} and {len(labels)}"
        raise ValueError(f"one label for each probability, please: {counts}")
    kept = [(p, y) for p, y in zip(probabilities, labels, strict=True) if p is not None]
    return [p for p, _ in kept], [y for _, y in kept], len(labels) - len(kept)


def bin_row(low: float, high: float, probabilities: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """What a bin says: its ends, mean probability and share of positive labels with Wilson's 95 % interval."""
    from scipy.stats import binomtest

    n, positive = len(labels), int(labels.sum())
    interval = binomtest(positive, n).proportion_ci(method="wilson")
    row = {"low": low, "high": high, "n": n, "mean_probability": float(probabilities.mean())}
    share = {"share_supported": positive / n}
    return row | share | {"share_low": float(interval.low), "share_high": float(interval.high)}


def logits_of(probabilities: np.ndarray) -> np.ndarray:
    """log(p / (1 - p)); 0 and 1 are taken as 1e-6 away from the border."""
    inside = np.clip(probabilities, 1e-6, 1 - 1e-6)
    return np.log(inside / (1 - inside))


def logistic_fit(logits: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    """The slope and offset whose logistic function of the logits has the least cross-entropy with the targets."""
    from scipy.optimize import minimize

    def loss(ab: np.ndarray) -> tuple[float, np.ndarray]:
        z = ab[0] * logits + ab[1]
        residual = 1 / (1 + np.exp(-np.clip(z, -500, 500))) - target
        gradient = np.array([np.mean(residual * logits), np.mean(residual)])
        return float(np.mean(np.logaddexp(0, z) - target * z)), gradient

    slope, offset = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    return float(slope), float(offset)


def diagram(bins: Sequence[Mapping[str, float]], ax: Axes | None) -> Axes:
    """Each bin's share of positive labels over its mean probability, with its interval and its count."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
    x = np.array([row["mean_probability"] for row in bins])
    y, low, high = (np.array([row[name] for row in bins]) for name in ("share_supported", "share_low", "share_high"))
    ax.plot([0, 1], [0, 1], color="#777777", linestyle="--", linewidth=1, label="calibrated")
    ends = np.abs([y - low, high - y])
    ax.errorbar(x, y, yerr=ends, fmt="o-", color="#1f5f99", capsize=3, label="observed (95 %)")
    for row in bins:
        place = row["mean_probability"], row["share_supported"]
        ax.annotate(f"{row['n']:g}", place, (5, -11), textcoords="offset points")
    ax.set(xlabel="mean probability", ylabel="share supported", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.legend(loc="upper left")
    return ax
