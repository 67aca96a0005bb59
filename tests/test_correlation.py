"""Correlations against scipy at every level, resamples against resamples written out."""

import json

import numpy as np
import pytest
from helpers.correlations import SCIPY, at_level, by_scipy, example
from helpers.late import Late
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb.agreement.coefficients import LEVELS, by_row, resample_weights, system_means
from summeval_nb.core.results import Score, ScoreTable, Signature

pd = Late("pandas")
stats = Late("scipy.stats")
FROM = "summeval_nb.agreement.correlation"  # it imports scipy
correlate, paired_test = Late(FROM, "correlate"), Late(FROM, "paired_test")
kendall_pooled = Late(FROM, "kendall_pooled")
pairwise_accuracy, resampled_correlations = Late(FROM, "pairwise_accuracy"), Late(FROM, "resampled_correlations")

by_coefficient = pytest.mark.parametrize("coefficient", SCIPY)
by_level = pytest.mark.parametrize("level", LEVELS)
grades = st.sampled_from([1.0, 1.5, 2.0, 3.0, 4.0, 5.0, None])
tables = st.integers(1, 5).flatmap(
    lambda rows: st.integers(1, 7).flatmap(
        lambda columns: st.tuples(
            *[st.lists(st.lists(grades, min_size=columns, max_size=columns), min_size=rows, max_size=rows)] * 2
        )
    )
)


@by_level
@by_coefficient
@settings(max_examples=60)
@given(pair=tables)
def test_every_level_equals_scipy(level, coefficient, pair):
    found = correlate(*pair, level=level, coefficient=coefficient, n_resamples=0)
    expected = at_level(*(np.array(table, dtype=float) for table in pair), level, coefficient)
    if np.isnan(expected):
        assert found.score is None and found.reason
    else:
        assert found.score == pytest.approx(expected, abs=1e-10)


@by_level
@by_coefficient
@pytest.mark.parametrize("missing", [False, True], ids=["full", "missing"])
@pytest.mark.parametrize("resample", ["both", "articles", "systems"])
def test_weights_equal_resamples_written_out(level, coefficient, missing, resample):
    metric, human = example(missing)
    draws = resample_weights(metric.shape, 12, resample, seed=3)
    ours = resampled_correlations(metric, human, level, coefficient, draws)
    for value, articles, systems in zip(ours, *draws, strict=True):
        chosen = [np.repeat(np.arange(len(w)), w.astype(int)) for w in (articles, systems)]
        expected = at_level(metric[np.ix_(*chosen)], human[np.ix_(*chosen)], level, coefficient)
        assert value == pytest.approx(expected, abs=1e-10, nan_ok=True)


# tables, level, what the reason says
UNDEFINED = [
    ([[1, 2, 3]], [[4, 4, 4]], "summary", "all human values are the same"),
    ([[1], [2]], [[1], [2]], "summary", "at least two systems"),
    ([[2, 2, 2]], [[1, 2, 3]], "pooled", "all metric values are the same"),
    ([[1, None], [None, 2]], [[1, 2], [1, 2]], "summary", "fewer than two cells"),
    ([[1, 1], [2, 2]], [[1, 2], [1, 2]], "summary", "in every single article"),
    ([[1, 2], [2, 1]], [[1, 2], [1, 2]], "system", "over the system means"),
]


def test_undefined_is_none_with_a_reason():
    for metric, human, level, reason in UNDEFINED:
        found = correlate(metric, human, level=level)
        assert found.score is None and reason in found.reason and found.interval is None
        json.dumps(found.to_dict(), allow_nan=False)
        test = paired_test(metric, metric, human, level=level, n_resamples=9)
        assert test.score is None and test.p_value is None and "No statement" in str(test)
        json.dumps(test.to_dict(), allow_nan=False)


@pytest.mark.parametrize("coefficient", SCIPY)
def test_one_number_a_text_is_pooled_as_scipy_does(coefficient):
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    y = x + rng.normal(size=40)
    found = correlate(pd.Series(x, index=range(5, 45)), pd.Series(y, index=range(5, 45)), coefficient=coefficient)
    assert found.score == pytest.approx(SCIPY[coefficient](x, y).statistic) and found.signature["level"] == "pooled"
    how = {"paired": True, "vectorized": False, "n_resamples": 1000, "method": "percentile"}
    statistic, rng = lambda a, b: SCIPY[coefficient](a, b).statistic, np.random.default_rng(0)
    theirs = stats.bootstrap((x, y), statistic, **how, rng=rng).confidence_interval
    assert found.interval == pytest.approx(theirs, abs=0.04)


def test_tables_of_scores_are_correlated_and_what_is_missing_is_counted():
    how = Signature({"metric": "n"})
    found = [Score(score=value, reason="" if value else "none", signature=how) for value in (1.0, 2.0, None, 5.0)]
    table = ScoreTable(found, signature=how)
    found = correlate(table, [1, 3, 2, None], n_resamples=0)
    assert found.score == 1 and found.n_missing == 2 and "2 of 4 pairs" in str(found)
    metric = [[1, 2, 3], [1, 1, 1], [1, None, 3]]
    human = [[1, 2, 3], [1, 2, 3], [1, 2, 3]]
    found = correlate(metric, human)
    assert (found.n_skipped, found.n_missing, found.per_article) == (1, 1, (1.0, None, 1.0))
    assert found.score == 1.0 and found.to_frame().loc[0, "n_skipped"] == 1


def test_too_many_undefined_resamples_mean_no_interval():
    metric, human = np.zeros((1, 6)), np.arange(6.0)[None]
    metric[0, 0] = 1  # two of three resamples hold the odd one out
    found = correlate(metric, human)
    assert found.n_undefined > 200 and found.resamples.size + found.n_undefined == 1000
    few = correlate([[1, 2]], [[1, 2]], resample="systems")  # half of the resamples draw one system twice
    assert few.score == 1 and few.n_undefined > 400
    assert few.interval is None and few.no_interval and few.no_interval in str(few)  # the others are all 1


def test_pictures_and_tables_hold_together():
    metric, human = example()
    for result in (correlate(metric, human), paired_test(metric, -metric, human), pairwise_accuracy(metric, human)):
        assert result.plot().has_data() and "</table>" in result._repr_html_()
        assert not result.to_frame().empty and str(result.signature) in repr(result)


@pytest.mark.parametrize("unit", [1e306, 1e-306, 2.0**-40])
def test_pearson_does_not_notice_the_unit(unit):
    """Squares of such numbers overflow or vanish; a power of two more or less does not change a bit."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 5, 9))
    for level in LEVELS:
        plain, scaled = (correlate(t, y, level=level, coefficient="pearson", n_resamples=9) for t in (x, x * unit))
        assert scaled.score == pytest.approx(plain.score, abs=1e-12)
        assert scaled.interval == pytest.approx(plain.interval, abs=1e-12)
        if unit == 2.0**-40:
            assert scaled.score == plain.score


def test_pooled_kendall_is_exact_over_several_blocks():
    rng = np.random.default_rng(0)
    x, y, w = rng.integers(0, 40, 700) * 1.0, rng.normal(size=700).round(1), rng.integers(0, 4, (3, 700)) * 1.0
    for weights, ours in zip(w.astype(int), kendall_pooled(x, y, w), strict=True):
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


def test_resamples_of_thirds_keep_their_ties():
    """Whatever articles are drawn, systems with the same sum of thirds have the same mean."""
    rng = np.random.default_rng(0)
    grades = rng.integers(3, 16, (60, 5))
    table = np.concatenate([grades, grades[rng.permutation(60)]], axis=1) / 3  # equal sums, added in another order
    means = system_means(table, np.zeros(table.shape, bool), np.ones((1, 60)))[0]
    assert (means[:5] == means[5:]).all()
