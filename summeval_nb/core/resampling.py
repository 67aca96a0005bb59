"""Drawing again with replacement, and flipping signs: the one place where intervals and p-values are made by chance.

Chapters 24, 63 and 65 explain what the numbers mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from .base import JsonDict, np, require_count, require_inner_share


@dataclass(frozen=True)
class Resampling:
    """How often a statistic is taken again, and how much of its values an interval holds; refused if it is nonsense."""

    n_resamples: int = 1000
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        require_count(self.n_resamples, "n_resamples", minimum=0)
        require_inner_share(self.confidence, "confidence")
        require_count(self.seed, "seed", minimum=0)

    @property
    def signature(self) -> JsonDict:
        """The choices, for a signature."""
        return {"n": self.n_resamples, "conf": self.confidence, "seed": self.seed}


class Resampled(NamedTuple):
    """A statistic in every resample, and the ends of the middle part of these values."""

    values: np.ndarray
    low: float
    high: float


def all_alike(values: np.ndarray) -> bool:
    """Whether numbers differ by no more than rounding; so do none."""
    return not values.size or bool(np.ptp(values) <= 1e-12 * max(float(np.abs(values).max()), 1.0))


class Middle(NamedTuple):
    """The ends of the middle part of resampled values, the values that are defined, and why there are no ends."""

    interval: tuple[float, float] | None
    defined: np.ndarray
    reason: str = ""


def middle(values: np.ndarray, confidence: float) -> Middle:
    """Return the middle part of resampled values; None where fewer than half are defined, or it is a single point."""
    defined = values[~np.isnan(values)]
    if not defined.size or defined.size < values.size / 2:
        return Middle(None, defined, "fewer than half of the resamples have a value" if values.size else "")
    ends = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    if all_alike(ends):
        return Middle(None, defined, "the resamples show no spread")
    return Middle((float(ends[0]), float(ends[1])), defined)


def share_interval(share: float, worth: float, quantile: float) -> tuple[float, float]:
    """Return Wilson's interval for a share that is worth so many yes/no items, of the normal's or Student's quantile.

    Examples
    --------
    >>> low, high = share_interval(1.0, 20, 1.96)  # twenty of twenty
    >>> round(low, 3), round(high, 9)
    (0.839, 1.0)
    """
    share, extra = min(1.0, max(0.0, share)), quantile * quantile / worth
    center = (share + extra / 2) / (1 + extra)
    half = quantile * math.sqrt(share * (1 - share) / worth + extra / (4 * worth)) / (1 + extra)
    return max(0.0, center - half), min(1.0, center + half)


class MeanInterval(NamedTuple):
    """The ends of an interval of a mean; None, with a reason, where the values cannot bound it."""

    low: float | None
    high: float | None
    reason: str = ""


def mean_interval(
    values: Sequence[float] | np.ndarray,
    *,
    bounded: bool = False,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> MeanInterval:
    """Return an interval of a mean, which values that are all alike do not shrink to a point.

    Yes/no items (0 and 1) have Wilson's. So has a mean of `bounded` values, in [0, 1], for as many yes/no items as
    would have its variance. Other values are drawn again (percentile bootstrap).

    Examples
    --------
    >>> mean_interval([0.5, 0.5, 0.5]).reason
    'all 3 values are equal'
    """
    values = np.asarray(values, dtype=float)
    n, alike = values.size, all_alike(values)
    bounded = bounded and bool(((values >= 0) & (values <= 1)).all())
    yes_no = bool(n) and np.isin(values, (0, 1)).all() and (bounded or bool(values.any()))
    if yes_no or (bounded and n > 2 and not alike):
        share = float(values.mean())
        worth = n if yes_no else n * share * (1 - share) / float(values.var())
        return MeanInterval(*share_interval(share, worth, NormalDist().inv_cdf((1 + confidence) / 2)))
    if n < 3:
        return MeanInterval(None, None, f"{n or 'no'} value{'s' * (n != 1)}, and an interval needs three at least")
    if alike:
        return MeanInterval(None, None, f"all {n} values are equal")
    means = lambda drawn: values[drawn].mean(axis=1)
    drawn = bootstrap(means, n, confidence=confidence, n_resamples=n_resamples, seed=seed)
    return MeanInterval(drawn.low, drawn.high)


def drawings(items: int, n_resamples: int, seed: int) -> Iterator[np.ndarray]:
    """The numbers of `items` items drawn with replacement, n_resamples times, in batches of shape (k, items)."""
    rng, step = np.random.default_rng(seed), max(1, 2_000_000 // items)
    for start in range(0, n_resamples, step):
        yield rng.integers(0, items, (min(step, n_resamples - start), items))


def times_drawn(drawn: np.ndarray, items: int) -> np.ndarray:
    """How often each item occurs in each drawing: numbers of items (k, n) -> counts (k, items)."""
    places = drawn + items * np.arange(len(drawn))[:, None]
    return np.bincount(places.ravel(), minlength=items * len(drawn)).reshape(-1, items).astype(float)


def drawn_counts(items: int, n_resamples: int, seed: int) -> np.ndarray:
    """How often each of `items` items is drawn, in n_resamples drawings with replacement: (n_resamples, items)."""
    return np.random.default_rng(seed).multinomial(items, np.full(items, 1 / items), size=n_resamples).astype(float)


def bootstrap(
    statistic: Callable[[np.ndarray], np.ndarray], items: int, *, confidence: float, n_resamples: int, seed: int
) -> Resampled:
    """Draw the numbers of `items` items with replacement, (k, items), and take the statistic of each drawing, (k,)."""
    if items < 2:
        raise ValueError("an interval needs a corpus of at least two texts: with one there is nothing to draw from")
    require_count(n_resamples, "n_resamples", minimum=2)
    require_inner_share(confidence, "confidence")
    values = np.concatenate([statistic(batch) for batch in drawings(items, n_resamples, seed)])
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Resampled(values, float(low), float(high))


class SignFlips(NamedTuple):
    """What flipping signs says of a mean: an interval (infinite where too few values bound it) and a p-value."""

    low: float
    high: float
    p_value: float


def sign_flips(differences: np.ndarray, *, confidence: float, n_resamples: int, seed: int) -> SignFlips:
    """Test whether the mean of paired differences is 0, with two sides, and bound it by the same test.

    If there were no difference, each value might as well have the other sign. Flipping the signs of some values gives a
    greater mean where these have a mean below 0. So the test counts means of random subsets, and a mean is inside of
    the interval if the test does not refuse it: the interval holds 0 where p is above 1 - confidence. Six values at
    least bound a mean at 95 %. Up to 2**n = n_resamples every subset is taken.

    References
    ----------
    Hartigan 1969, Using Subsample Values as Typical Values, JASA 64, 1303-1317.

    Examples
    --------
    >>> sign_flips(np.array([1, 2, 3, 4, 5, 6.0]), confidence=0.95, n_resamples=9999, seed=0)
    SignFlips(low=1.0, high=6.0, p_value=0.03125)
    """
    n, means = len(differences), []
    if n < 40 and 2**n <= n_resamples:
        chosen = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1
        means.append(chosen @ differences / chosen.sum(axis=1))
    else:
        rng, step = np.random.default_rng(seed), max(1, 2_000_000 // n)
        for start in range(0, n_resamples, step):
            chosen = rng.integers(0, 2, (min(step, n_resamples - start), n), dtype=np.int8)
            counts = chosen.sum(axis=1)
            means.append((chosen @ differences)[counts > 0] / counts[counts > 0])
    drawn = np.sort(np.concatenate(means))
    drawn[np.abs(drawn) <= 1e-12 * np.abs(differences).max(initial=0.0)] = 0.0  # what rounding left of a tie
    total = drawn.size + 1  # with the values as they are
    beyond = 1 + min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    place = math.floor(round((1 - confidence) / 2 * total, 9))
    low, high = (float(drawn[place - 1]), float(drawn[-place])) if place else (-math.inf, math.inf)
    return SignFlips(low, high, min(1.0, 2 * beyond / total))
