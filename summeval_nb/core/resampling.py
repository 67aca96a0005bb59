"""Drawing again with replacement, and flipping signs: the one place where intervals and p-values are made by chance.

Chapters 24, 63 and 65 explain what the numbers mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from .base import np, require_count, require_share


class Resampled(NamedTuple):
    """A statistic in every resample, and the ends of the middle part of these values."""

    values: np.ndarray
    low: float
    high: float


def middle(values: np.ndarray, confidence: float) -> tuple[tuple[float, float] | None, np.ndarray]:
    """The ends of the middle part of resampled values, None where fewer than half are defined; and the defined ones."""
    defined = values[~np.isnan(values)]
    if not defined.size or defined.size < values.size / 2:
        return None, defined
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return (float(low), float(high)), defined


def drawings(items: int, n_resamples: int, seed: int) -> Iterator[np.ndarray]:
    """The numbers of `items` items drawn with replacement, n_resamples times, in batches of shape (k, items)."""
    rng, step = np.random.default_rng(seed), max(1, 2_000_000 // items)
    for start in range(0, n_resamples, step):
        yield rng.integers(0, items, (min(step, n_resamples - start), items))


def drawn_counts(items: int, n_resamples: int, seed: int) -> np.ndarray:
    """How often each of `items` items is drawn, in n_resamples drawings with replacement: (n_resamples, items)."""
    return np.random.default_rng(seed).multinomial(items, np.full(items, 1 / items), size=n_resamples).astype(float)


def bootstrap(
    statistic: Callable[[np.ndarray], np.ndarray], items: int, *, confidence: float, n_resamples: int, seed: int
) -> Resampled:
    """Draw the numbers of `items` items with replacement, (k, items), and take the statistic of each drawing, (k,).

    Examples
    --------
    >>> right = np.array([0, 1, 1, 0, 1, 1, 1, 0])
    >>> drawn = bootstrap(lambda batch: right[batch].mean(axis=1), 8, confidence=0.95, n_resamples=1000, seed=0)
    >>> drawn.low, drawn.high
    (0.25, 1.0)
    """
    if items < 2:
        raise ValueError("an interval needs a corpus of at least two texts: with one there is nothing to draw from")
    require_count(n_resamples, "n_resamples", minimum=2)
    if not 0 < require_share(confidence, "confidence") < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    values = np.concatenate([statistic(batch) for batch in drawings(items, n_resamples, seed)])
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Resampled(values, float(low), float(high))


def sign_flip_p_value(differences: np.ndarray, *, n_resamples: int, seed: int) -> float:
    """The two-sided p-value of paired differences when each might as well have the other sign."""
    from scipy.stats import permutation_test

    found = permutation_test(
        (differences,),
        lambda drawn, axis=-1: drawn.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_resamples,
        batch=max(1, 2_000_000 // len(differences)),
        rng=np.random.default_rng(seed),
    )
    return float(found.pvalue)
