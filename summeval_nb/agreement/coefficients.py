"""Coefficients of many rows under many weightings at once, and a level's correlation in every resample.

Chapter 63 says what the three are. A weight says how often a column (a system) is counted: whole numbers make a
resample without writing it out. Arrays have four axes: a batch, the weightings, the rows (articles), the columns
(systems). A missing cell is NaN, and its sign with anything counts as 0, so it drops out.

A rank can be written with signs alone, u_j = sum_k w_k sign(x_j - x_k), the number of values below less the number
above: twice the distance of j's mid-rank from the mean rank, without sorting, and right with ties. Kendall's sum over
pairs is a matrix product (weightings x pairs) (pairs x articles).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

MANY = 64  # columns from which sorting beats comparing all pairs
TOLERANCE = 1e-12  # of the greatest value: means nearer to each other than this are one


def deviations(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Deviations from the weighted mean: x (b, rows, s), w (b, k, s) -> (b, k, rows, s); 0 where a row is constant."""
    present = ~np.isnan(x)
    filled = np.where(present, x, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (w @ filled.swapaxes(-1, -2)) / (w @ present.astype(float).swapaxes(-1, -2))
    drawn = (w > 0)[:, :, None, :] & present[:, None]
    highest = np.where(drawn, filled[:, None], -np.inf).max(axis=-1, keepdims=True)
    lowest = np.where(drawn, filled[:, None], np.inf).min(axis=-1, keepdims=True)
    return np.where(drawn & (lowest < highest), filled[:, None] - mean[..., None], 0.0)


def rank_deviations(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Twice the distance of each weighted mid-rank from the mean rank, in the shapes of `deviations`."""
    signs = np.nan_to_num(np.sign(x[..., :, None] - x[..., None, :]))
    batch, rows, columns = x.shape
    return (w @ signs.reshape(batch, rows * columns, columns).swapaxes(-1, -2)).reshape(batch, -1, rows, columns)


def cosine(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Weighted cosine of deviations: two (b, k, rows, s) and w (b, k, s) -> (b, k, rows); NaN where one is all zero."""
    counted = u * w[:, :, None, :]
    uv, uu = (counted * v).sum(axis=-1), (counted * u).sum(axis=-1)
    vv = (v * v * w[:, :, None, :]).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((uu > 0) & (vv > 0), np.clip(uv / np.sqrt(uu) / np.sqrt(vv), -1, 1), np.nan)


def kendall(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of every row under every weighting: x, y (b, rows, s), w (b, k, s) -> (b, k, rows)."""
    first, second = np.triu_indices(x.shape[-1], 1)
    sx, sy = (np.nan_to_num(np.sign(z[..., first] - z[..., second])).astype(np.float32) for z in (x, y))
    q = (w[..., first] * w[..., second]).astype(np.float32)  # whole numbers: exact in single precision up to 2**24
    both, in_x, in_y = ((q @ (a * b).swapaxes(-1, -2)).astype(float) for a, b in ((sx, sy), (sx, sx), (sy, sy)))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((in_x > 0) & (in_y > 0), both / np.sqrt(in_x * in_y), np.nan)


def moderate(x: np.ndarray) -> np.ndarray:
    """Rows times a power of two: nothing that Pearson's r would notice, but squares neither overflow nor vanish."""
    _, exponent = np.frexp(np.where(np.isnan(x), 0.0, np.abs(x)).max(axis=-1, keepdims=True, initial=0.0))
    return np.ldexp(x, -exponent)


def weighted(x: np.ndarray, y: np.ndarray, w: np.ndarray, coefficient: str) -> np.ndarray:
    """The coefficient of every row under every weighting: (b, rows, s) twice and (b, k, s) -> (b, k, rows)."""
    missing = np.isnan(x) | np.isnan(y)
    x, y = np.where(missing, np.nan, x), np.where(missing, np.nan, y)
    if coefficient == "kendall":
        return kendall(x, y, w)
    if coefficient == "pearson":
        return cosine(deviations(moderate(x), w), deviations(moderate(y), w), w)
    return cosine(rank_deviations(x, w), rank_deviations(y, w), w)


def by_row(x: np.ndarray, y: np.ndarray, coefficient: str) -> np.ndarray:
    """The coefficient of each row of two (rows, s) tables; NaN where it is undefined.

    Examples
    --------
    >>> by_row(np.array([[1.0, 2, 3], [5, 5, 5]]), np.array([[2.0, 3, 9], [1, 2, 3]]), "kendall").tolist()
    [1.0, nan]
    """
    rows, columns = x.shape
    if columns < 2:
        return np.full(rows, np.nan)
    if columns > MANY and coefficient != "pearson":
        return np.array([one_long_row(a, b, coefficient) for a, b in zip(x, y, strict=True)])
    step = max(1, 4_000_000 // columns**2)
    w = np.ones((1, 1, columns))
    return np.concatenate(
        [weighted(x[None, i : i + step], y[None, i : i + step], w, coefficient)[0, 0] for i in range(0, rows, step)]
    )


def one_long_row(x: np.ndarray, y: np.ndarray, coefficient: str) -> float:
    """The coefficient of one row by scipy; NaN where it is undefined."""
    present = ~(np.isnan(x) | np.isnan(y))
    x, y = x[present], y[present]
    if x.size < 2 or x.min() == x.max() or y.min() == y.max():
        return math.nan
    reference = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall": stats.kendalltau,
    }[coefficient]
    return float(reference(x, y).statistic)


def kendall_pooled(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of one long row under many weightings: x, y (n,), w (k, n) -> (k,)."""
    rx, ry = (stats.rankdata(z, method="dense").astype(np.int32) for z in (x, y))
    single = np.ascontiguousarray(w.T, dtype=np.float32)  # sums of whole numbers, exact up to 2**24
    total = np.zeros(len(w))
    for start in range(0, x.size, 256):
        block = slice(start, start + 256)
        agree = (np.sign(rx[block, None] - rx[start:]) * np.sign(ry[block, None] - ry[start:])).astype(np.float32)
        agree[:, : agree.shape[0]] /= 2  # pairs inside the block appear twice, those to its right once
        total += 2 * ((agree @ single[start:]) * single[block]).sum(axis=0, dtype=float)
    untied = [w.sum(axis=1) ** 2 - squares_of_groups(r, single) for r in (rx, ry)]
    defined = (untied[0] > 0) & (untied[1] > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(defined, total / np.sqrt(untied[0] * untied[1]), np.nan)


def squares_of_groups(ranks: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Sum over groups of equal values of (total weight)²: ranks (n,), w (n, k) -> (k,)."""
    order = np.argsort(ranks, kind="stable")
    starts = np.flatnonzero(np.diff(ranks[order], prepend=0))
    return (np.add.reduceat(w[order], starts, axis=0, dtype=float) ** 2).sum(axis=0)


def ranks_pooled(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """`rank_deviations` of one long row by sorting: x (n,), w (k, n) -> (k, n)."""
    values, group = np.unique(x, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(values.size))
    weights = np.add.reduceat(w[:, order], starts, axis=1)
    below = np.cumsum(weights, axis=1) - weights
    above = w.sum(axis=1, keepdims=True) - below - weights
    return (below - above)[:, group]


def tied(means: np.ndarray) -> np.ndarray:
    """Means (k, s) where each chain of neighbours within `TOLERANCE` has the value of its lowest."""
    order = np.argsort(means, axis=-1)
    ordered = np.take_along_axis(means, order, axis=-1)
    near = np.diff(ordered, axis=-1, prepend=-np.inf) <= TOLERANCE
    lowest = np.maximum.accumulate(np.where(near, 0, np.arange(means.shape[-1])), axis=-1)
    tied = np.empty_like(means)
    np.put_along_axis(tied, order, np.take_along_axis(ordered, lowest, axis=-1), axis=-1)
    return tied


def system_means(x: np.ndarray, missing: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Means of the columns under each weighting of the articles: x (articles, s), w (k, articles) -> (k, s)."""
    scale = np.abs(x[~missing]).max(initial=0.0) or 1.0
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (w @ np.where(missing, 0.0, x / scale)) / (w @ (~missing).astype(float))
    return tied(means)


def mean_or_none(values: np.ndarray) -> float | None:
    """The mean of the values that are defined; None where none is."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def resampled_correlations(
    x: np.ndarray,
    y: np.ndarray,
    level: str,
    coefficient: str,
    draws: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """The level's correlation in every resample; NaN where a resample has none."""
    step = max(1, 4_000_000 // x.size)
    parts = [
        one_block(x, y, level, coefficient, draws[0][i : i + step], draws[1][i : i + step])
        for i in range(0, len(draws[0]), step)
    ]
    return np.concatenate(parts) if parts else np.empty(0)


def one_block(
    x: np.ndarray,
    y: np.ndarray,
    level: str,
    coefficient: str,
    articles: np.ndarray,
    systems: np.ndarray,
) -> np.ndarray:
    """One block of resamples: drawings (k, articles) and (k, systems) -> (k,)."""
    missing = np.isnan(x) | np.isnan(y)
    if level == "summary":
        values = weighted(x[None], y[None], systems[None], coefficient)[0]
        weights = np.where(np.isnan(values), 0.0, articles)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights * np.nan_to_num(values)).sum(axis=1) / weights.sum(axis=1)
    if level == "system":
        mx, my = (system_means(table, missing, articles)[:, None] for table in (x, y))
        return weighted(mx, my, systems[:, None], coefficient)[:, 0, 0]
    w = (articles[:, :, None] * systems[:, None, :])[:, ~missing]
    if coefficient == "kendall":
        return kendall_pooled(x[~missing], y[~missing], w)
    deviations = [ranks_pooled(t[~missing], w) for t in (x, y)] if coefficient == "spearman" else None
    if deviations:
        return cosine(deviations[0][None, :, None], deviations[1][None, :, None], w[None])[0, :, 0]
    return weighted(x[~missing][None, None], y[~missing][None, None], w[None], coefficient)[0, :, 0]
