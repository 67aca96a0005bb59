"""Resampling by hand equals scipy's, seed by seed."""

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb.core.resampling import bootstrap, drawings, drawn_counts, mean_interval, middle, sign_flips

stats = Late("scipy.stats")


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
    ends, values, _ = middle(np.array([0.0, np.nan, 10.0]), 0.8)
    assert ends == pytest.approx((1.0, 9.0)) and values.tolist() == [0.0, 10.0]
    assert middle(np.full(9, 0.3), 0.9).interval is None and "no spread" in middle(np.full(9, 0.3), 0.9).reason


def test_no_interval_of_a_mean_is_a_point():
    """Twenty of twenty right is not certain: Wilson's interval, scipy's to the last digit; otherwise None and why."""
    for hits, n in ((20, 20), (1, 1), (7, 20), (0, 20)):
        wilson = stats.binomtest(hits, n).proportion_ci(0.9, method="wilson")
        found = mean_interval([1.0] * hits + [0.0] * (n - hits), bounded=True, confidence=0.9)
        assert found == pytest.approx((wilson.low, wilson.high, ""))
    assert mean_interval([0.0] * 20).reason == "all 20 values are equal"  # of what scale?
    assert mean_interval([3.0, 4.0]) == (None, None, "2 values, and an interval needs three at least")
    assert mean_interval([0.1 + 0.2, 0.3, 0.3], bounded=True)[:2] == mean_interval([])[:2] == (None, None)
    shares = np.r_[np.ones(19), 0.5]
    assert mean_interval(shares, bounded=True).low < mean_interval(shares).low < shares.mean()


@pytest.mark.parametrize("items", [2, 5, 7, 11, 60])
def test_flipped_signs_are_counted_as_scipy_does(items):
    rng = np.random.default_rng(items)
    for data in (rng.normal(0.4, 1, items), rng.integers(-2, 4, items) / 10):
        theirs = stats.permutation_test(
            (data,), np.mean, permutation_type="samples", n_resamples=9999, rng=np.random.default_rng(0)
        )
        found = sign_flips(data, confidence=0.95, n_resamples=9999, seed=0)
        assert found.p_value == pytest.approx(theirs.pvalue, abs=1e-12 if items < 13 else 0.02)


def test_interval_and_test_of_flipped_signs_agree_and_few_values_bound_no_mean():
    """A mean is in the interval where the test, made of the values less this mean, does not refuse it."""
    rng, how = np.random.default_rng(1), {"confidence": 0.95, "n_resamples": 4096, "seed": 0}
    for items in (6, 9, 12, 40):
        data = rng.exponential(1, items) - 0.6
        low, high, p_value = sign_flips(data, **how)
        assert (p_value > 0.05) == (low <= 0 <= high)
        for end, out in ((low, -1e-6), (high, 1e-6)):
            assert sign_flips(data - end - out, **how).p_value <= 0.05 < sign_flips(data - end + out, **how).p_value
    found = sign_flips(np.full(5, 0.1), confidence=0.95, n_resamples=9999, seed=0)
    assert found == (-np.inf, np.inf, 2 / 32)
    assert sign_flips(np.full(6, 0.1), confidence=0.95, n_resamples=9999, seed=0) == pytest.approx((0.1, 0.1, 2 / 64))


def test_the_interval_of_flipped_signs_holds_the_mean_as_often_as_it_says():
    rng, held = np.random.default_rng(2), 0
    for _ in range(400):
        low, high, _ = sign_flips(rng.normal(0.3, 1, 10), confidence=0.9, n_resamples=1024, seed=0)
        held += low <= 0.3 <= high
    assert 0.86 <= held / 400 <= 0.95


def test_batches_are_one_stream_of_drawings():
    """What a batch holds does not change what is drawn, so that memory decides nothing."""
    whole = np.concatenate(list(drawings(7, 40, 3)))
    rng = np.random.default_rng(3)
    assert np.array_equal(whole, [rng.integers(0, 7, 7) for _ in range(40)])
    large = list(drawings(400_001, 9, 3))
    assert [len(batch) for batch in large] == [4, 4, 1]
    counts = drawn_counts(5, 1000, 0)
    assert counts.shape == (1000, 5) and set(counts.sum(axis=1)) == {5} and abs(counts.mean() - 1) < 0.1
