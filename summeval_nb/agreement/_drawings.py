# A plain private module: edited here, exported by no notebook, tested in tests/test_agreement.py.
"""A level's correlation in every resample, from how often each article and each system was drawn (chapter 51)."""

from __future__ import annotations

import numpy as np

from ._coefficients import cosine, kendall_pooled, ranks_pooled, system_means, weighted


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
