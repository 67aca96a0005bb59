"""Coefficients of many rows under many weightings, against scipy on the lists written out."""

import numpy as np
import pytest
from helpers.correlations import SCIPY, by_scipy
from helpers.late import Late

from summeval_nb.agreement.coefficients import by_row, system_means, tied

stats = Late("scipy.stats")
correlation = Late("summeval_nb.agreement.correlation")  # it imports scipy


def test_pooled_kendall_is_exact_over_several_blocks():
    rng = np.random.default_rng(0)
    x, y, w = rng.integers(0, 40, 700) * 1.0, rng.normal(size=700).round(1), rng.integers(0, 4, (3, 700)) * 1.0
    for weights, ours in zip(w.astype(int), correlation.kendall_pooled(x, y, w), strict=True):
        assert ours == pytest.approx(
            stats.kendalltau(np.repeat(x, weights), np.repeat(y, weights)).statistic, abs=1e-12
        )


def test_long_and_short_rows_agree():
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 9, (3, 90)) * 1.0, rng.normal(size=(3, 90))
    x[0, :5] = np.nan
    for coefficient in SCIPY:
        expected = [by_scipy(a, b, coefficient) for a, b in zip(x, y, strict=True)]
        assert by_row(x, y, coefficient) == pytest.approx(expected, abs=1e-12)


def test_means_are_tied_within_the_stated_tolerance():
    """Neighbours within 1e-12 of the greatest value are one, also across a boundary of rounding to twelve digits."""
    edge = 0.1234567890125  # between two numbers of twelve digits
    assert round(edge - 1e-16, 12) != round(edge + 1e-16, 12)
    found = tied(np.array([[edge + 1e-16, 1.0, edge - 1e-16, np.nan, edge + 3e-12, -1.0]]))
    assert found[0, 0] == found[0, 2] < found[0, 4] and np.isnan(found[0, 3])
    assert found[0, [1, 5]].tolist() == [1.0, -1.0]
    scores = np.array([[edge + 1e-16, edge - 1e-16, 1.0]])
    found = correlation.correlate(scores, [[1, 2, 3]], level="system", n_resamples=0)
    assert found.score == pytest.approx(2 / np.sqrt(6))


def test_resamples_of_thirds_keep_their_ties():
    """Whatever articles are drawn, systems with the same sum of thirds have the same mean."""
    rng = np.random.default_rng(0)
    grades = rng.integers(3, 16, (60, 5))
    table = np.concatenate([grades, grades[rng.permutation(60)]], axis=1) / 3  # equal sums, added in another order
    means = system_means(table, np.zeros(table.shape, bool), np.ones((1, 60)))[0]
    assert (means[:5] == means[5:]).all()
