"""Correlations written out with scipy and numpy's own means, and tables to try them on."""

import warnings

import numpy as np

from helpers.late import Late

NAMES = {"pearson": "pearsonr", "spearman": "spearmanr", "kendall": "kendalltau"}
SCIPY = {name: Late("scipy.stats", function) for name, function in NAMES.items()}


def by_scipy(x, y, coefficient):
    """scipy's number over the cells that both have, or NaN."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    present = ~(np.isnan(x) | np.isnan(y))
    x, y = x[present], y[present]
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    return SCIPY[coefficient](x, y).statistic


def at_level(x, y, level, coefficient):
    """The three levels, written out with scipy and numpy's own means."""
    if level == "pooled":
        return by_scipy(x.ravel(), y.ravel(), coefficient)
    if level == "summary":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # mean of no article
            return np.nanmean([by_scipy(a, b, coefficient) for a, b in zip(x, y, strict=True)])
    both = np.where(np.isnan(x) | np.isnan(y), np.nan, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # mean of an empty column
        means = [np.round(np.nanmean(table * both, axis=0), 12) for table in (x, y)]
    return by_scipy(*means, coefficient)


def example(missing=False, seed=0, shape=(9, 7)):
    rng = np.random.default_rng(seed)
    human = rng.integers(1, 5, shape).astype(float)
    metric = np.round(human + rng.normal(0, 2, shape), 1)
    if missing:
        human[rng.random(shape) < 0.1] = np.nan
        metric[rng.random(shape) < 0.1] = np.nan
    return metric, human
