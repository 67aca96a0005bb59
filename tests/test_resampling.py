"""Resampling by hand equals scipy's, seed by seed."""

import numpy as np
import pytest
from scipy import stats

from summeval_nb.core.resampling import bootstrap, drawings, drawn_counts, middle, sign_flip_p_value


@pytest.mark.parametrize("items", [2, 7, 1500])
def test_the_bootstrap_is_scipys(items):
    data = np.random.default_rng(items).normal(size=items)
    found = bootstrap(lambda drawn: data[drawn].mean(axis=-1), items, confidence=0.9, n_resamples=3000, seed=3)
    kinds = {"n_resamples": 3000, "confidence_level": 0.9, "method": "percentile", "vectorized": True}
    rng = np.random.default_rng(3)
    wanted = stats.bootstrap((data,), lambda x, axis=-1: x.mean(axis=axis), batch=2_000_000 // items, **kinds, rng=rng)
    assert np.array_equal(found.values, wanted.bootstrap_distribution)
    interval = wanted.confidence_interval
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-12)


def test_the_middle_needs_half_of_the_values():
    assert middle(np.array([1.0, np.nan, np.nan]), 0.9)[0] is None
    assert middle(np.array([]), 0.9)[0] is None
    ends, values = middle(np.array([0.0, np.nan, 10.0]), 0.8)
    assert ends == pytest.approx((1.0, 9.0)) and values.tolist() == [0.0, 10.0]


def test_flipped_signs_are_counted():
    differences = np.array([0.1, 0.1, 0.1])
    assert sign_flip_p_value(differences, n_resamples=9999, seed=0) == pytest.approx(2 / 8)


@pytest.mark.parametrize(("name", "value"), [("confidence", 1.0), ("confidence", 0.0), ("n_resamples", 1)])
def test_what_makes_no_interval_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        bootstrap(lambda drawn: drawn.sum(axis=-1), 3, **{"confidence": 0.9, "n_resamples": 9, "seed": 0, name: value})


def test_batches_are_one_stream_of_drawings():
    """What a batch holds does not change what is drawn, so that memory decides nothing."""
    whole = np.concatenate(list(drawings(7, 40, 3)))
    rng = np.random.default_rng(3)
    assert np.array_equal(whole, [rng.integers(0, 7, 7) for _ in range(40)])
    large = list(drawings(400_001, 9, 3))
    assert [len(batch) for batch in large] == [4, 4, 1]
    counts = drawn_counts(5, 1000, 0)
    assert counts.shape == (1000, 5) and set(counts.sum(axis=1)) == {5} and abs(counts.mean() - 1) < 0.1
