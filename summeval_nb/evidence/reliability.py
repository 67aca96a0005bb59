"""Calibration of any checker: the reliability of its probabilities in bins, and Platt scaling."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from summeval_nb.core.base import JsonDict, float_array, require_count
from summeval_nb.core.html import axes_for
from summeval_nb.core.results import Score, Signature

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Reliability", "platt_scaling", "reliability", "reliability_bins", "reliability_diagram"]

Numbers = Sequence[float] | np.ndarray


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Reliability(Score):
    """The reliability of probabilities, held against labels.

    `score` is the expected calibration error in [0, 1], less is better.

    Parameters
    ----------
    bins : list of dict
        The reliability table, see `reliability_bins`.
    brier : float or None
        Mean squared difference between probability and label, in [0, 1].
    slope, offset : float or None
        Platt scaling, see `platt_scaling`; None when only one label occurs.
    n, n_failed : int
        Items that were counted, and items left out because their probability is None.
    """

    bins: list[dict[str, float]] = field(default_factory=list)
    brier: float | None = None
    slope: float | None = None
    offset: float | None = None
    n: int = 0
    n_failed: int = 0

    def rows(self) -> list[JsonDict]:
        """Return the reliability table."""
        return [dict(row) for row in self.bins]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        own = ("brier", "slope", "offset", "n", "n_failed")
        return super().to_dict() | {name: getattr(self, name) for name in own}

    def apply(self, probabilities: Sequence[float] | np.ndarray) -> np.ndarray:
        """Return the probabilities after Platt scaling, shape (n,)."""
        if self.slope is None or self.offset is None:
            why = "Platt scaling needs labels of both kinds"
            raise ValueError(f"nothing to apply: {why}")
        none = np.zeros(len(probabilities))
        values, _ = require_labelled(probabilities, none)
        logits = logits_of(values)
        return 1 / (1 + np.exp(-(self.slope * logits + self.offset)))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the reliability diagram; see `reliability_diagram`."""
        return reliability_diagram(self.bins, ax=ax)


def reliability(probabilities: Collection[float | None], labels: Collection[float], *, n_bins: int = 10) -> Reliability:
    """Return how well probabilities of support keep their word, for any checker.

    Parameters
    ----------
    probabilities, labels, n_bins
        As for `reliability_bins`; a probability may be None, a failed verdict's, and is left out and counted.

    Returns
    -------
    Reliability
        `score` is the expected calibration error; None, with a reason, when there is nothing to count.

    References
    ----------
    Guo et al. (2017), "On Calibration of Modern Neural Networks"; Platt (1999).

    Examples
    --------
    >>> round(float(reliability([0.9, 0.9, 0.1, 0.1], [1, 1, 0, 0])), 3)
    0.1
    """
    if len(probabilities) != len(labels):
        raise ValueError(f"one label for each probability, please: got {len(probabilities)} and {len(labels)}")
    pairs = [(p, label) for p, label in zip(probabilities, labels, strict=True) if p is not None]
    kept, said = [p for p, _ in pairs], [label for _, label in pairs]
    values, truth = require_labelled(kept, said)
    parts = {"bins": require_count(n_bins, "n_bins"), "n": len(kept)}
    more: JsonDict = {"n": len(kept), "n_failed": len(labels) - len(kept)}
    more["signature"] = Signature({"metric": "reliability", **parts})
    if not kept:
        return Reliability(score=None, reason="there is no judged item", **more)
    bins = reliability_bins(values, truth, n_bins=n_bins)
    gaps = [b["n"] * abs(b["mean_probability"] - b["share_supported"]) for b in bins]
    both = 0 < truth.sum() < len(truth)
    slope, offset = platt_scaling(values, truth) if both else (None, None)
    return Reliability(
        score=sum(gaps) / len(kept),
        bins=bins,
        brier=float(np.mean((values - truth) ** 2)),
        slope=slope,
        offset=offset,
        **more,
    )


def reliability_bins(
    probabilities: Sequence[float] | np.ndarray, labels: Sequence[float] | np.ndarray, *, n_bins: int = 10
) -> list[dict[str, float]]:
    """Return the occupied bins of a reliability diagram.

    Parameters
    ----------
    probabilities : sequence of float
        In [0, 1].
    labels : sequence of 0 and 1
        1 for supported.
    n_bins : int
        Bins of equal width over [0, 1]; a value on a border belongs to the upper bin, 1 to the last.

    Returns
    -------
    list of dict
        For each bin that holds something: `low`, `high`, `n`, `mean_probability`, `share_supported` and the share's 95
        % interval (Wilson 1927), `share_low` to `share_high`.
    """
    from scipy.stats import binomtest

    values, truth = require_labelled(probabilities, labels)
    count = require_count(n_bins, "n_bins")
    place = np.minimum((values * count).astype(int), count - 1)
    rows = []
    for b in np.unique(place).tolist():
        inside = place == b
        n, positive = int(inside.sum()), int(truth[inside].sum())
        interval = binomtest(positive, n).proportion_ci(method="wilson")
        row = {"low": b / count, "high": (b + 1) / count, "n": n, "mean_probability": float(values[inside].mean())}
        share = {"share_supported": positive / n, "share_low": float(interval.low), "share_high": float(interval.high)}
        rows.append(row | share)
    return rows


def reliability_diagram(bins: Sequence[Mapping[str, float]], *, ax: Axes | None = None) -> Axes:
    """Draw each bin's share of supported items over its mean probability.

    Each share has its interval and its count.

    Parameters
    ----------
    bins : sequence of mappings
        As `reliability_bins` returns them.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = axes_for(ax, 4.5, 4.5)
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


def platt_scaling(probabilities: Numbers, labels: Numbers) -> tuple[float, float]:
    """Return the slope and offset with which probabilities agree best with labels.

    The new probability is `sigmoid(slope * logit(p) + offset)`.

    Parameters
    ----------
    probabilities : sequence of float
        In [0, 1]; 0 and 1 are taken as 1e-6 away from the border.
    labels : sequence of 0 and 1
        Both must occur.

    Returns
    -------
    slope, offset : float
        A slope of at most 0 says that the labels run against the probabilities.

    References
    ----------
    Platt (1999), "Probabilistic Outputs for Support Vector Machines", with its smoothed
    targets.

    Examples
    --------
    >>> slope, offset = platt_scaling([0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0])
    >>> 0 < slope < 1  # four labels promise no certainty
    True
    """
    values, truth = require_labelled(probabilities, labels)
    positive, negative = int(truth.sum()), int((1 - truth).sum())
    if not positive or not negative:
        counts = f"got {positive} times 1 and {negative} times 0"
        raise ValueError(f"calibration needs labels of both kinds, {counts}")
    target = np.where(truth == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
    return logistic_fit(logits_of(values), target)


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


def logits_of(probabilities: np.ndarray) -> np.ndarray:
    """log(p / (1 - p)); 0 and 1 are taken as 1e-6 away from the border."""
    inside = np.clip(probabilities, 1e-6, 1 - 1e-6)
    return np.log(inside / (1 - inside))


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
