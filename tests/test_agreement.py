"""Correlations against scipy at every level, resamples against resamples written out, tests against brute force."""

import doctest
import itertools
import json

import numpy as np
import pytest
from helpers.correlations import SCIPY, at_level, example
from hypothesis import given, settings
from hypothesis import strategies as st

import summeval_nb.agreement.agreement
import summeval_nb.agreement.significance
from summeval_nb.agreement._accuracy import require_epsilon
from summeval_nb.agreement._drawings import resampled_correlations
from summeval_nb.agreement.agreement import LEVELS, _draws, correlate
from summeval_nb.agreement.significance import PairedTest, adjust_p_values, compare, compare_all, pairwise_accuracy

by_coefficient = pytest.mark.parametrize("coefficient", SCIPY)
by_level = pytest.mark.parametrize("level", LEVELS)


@pytest.mark.parametrize(
    "module", [summeval_nb.agreement.agreement, summeval_nb.agreement.significance], ids=lambda m: m.__name__
)
def test_docstring_examples_run(module):
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


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
@settings(max_examples=60, deadline=None)
@given(pair=tables)
def test_every_level_equals_scipy(level, coefficient, pair):
    found = correlate(*pair, level=level, coefficient=coefficient, n_resamples=0)
    expected = at_level(*(np.array(table, dtype=float) for table in pair), level, coefficient)
    if np.isnan(expected):
        assert found.score is None and found.reason
    else:
        assert found.score == pytest.approx(expected, abs=1e-10)


# The three levels on a table that can be checked on paper: human and metric, two articles, three systems.
HUMAN = [[1, 2, 3], [3, 4, 5]]
METRIC = [[1, 3, 2], [1, 2, 3]]


@pytest.mark.parametrize(
    ("level", "coefficient", "expected"),
    [
        ("summary", "kendall", (1 / 3 + 1) / 2),  # pairs: 2 right, 1 wrong; 3 right
        ("summary", "spearman", (0.5 + 1) / 2),  # 1 - 6*2/(3*8); 1
        ("summary", "pearson", (0.5 + 1) / 2),
        ("system", "kendall", 2 / np.sqrt(2 * 3)),  # means 2 3 4 and 1 2.5 2.5: 2 right, 1 tied
        ("system", "pearson", 1.5 / np.sqrt(2 * 1.5)),
        ("pooled", "pearson", 3 / np.sqrt(10 * 4)),  # deviations: human -2 -1 0 0 1 2, metric -1 1 0 -1 0 1
    ],
)
def test_levels_by_hand(level, coefficient, expected):
    assert correlate(METRIC, HUMAN, level=level, coefficient=coefficient, n_resamples=0).score == pytest.approx(
        expected
    )


@by_level
@by_coefficient
@pytest.mark.parametrize("missing", [False, True], ids=["full", "missing"])
@pytest.mark.parametrize("resample", ["both", "articles", "systems"])
def test_weights_equal_resamples_written_out(level, coefficient, missing, resample):
    metric, human = example(missing)
    draws = _draws(metric.shape, 12, resample, seed=3)
    ours = resampled_correlations(metric, human, level, coefficient, draws)
    for value, articles, systems in zip(ours, *draws, strict=True):
        chosen = [np.repeat(np.arange(len(w)), w.astype(int)) for w in (articles, systems)]
        expected = at_level(metric[np.ix_(*chosen)], human[np.ix_(*chosen)], level, coefficient)
        assert value == pytest.approx(expected, abs=1e-10, nan_ok=True)


def test_draws_are_a_bootstrap():
    articles, systems = _draws((20, 6), 4000, "both", seed=0)
    assert (articles.sum(axis=1) == 20).all() and (systems.sum(axis=1) == 6).all()
    assert articles.mean(axis=0) == pytest.approx(np.ones(20), abs=0.08)
    assert articles[:, 0].var() == pytest.approx(1 - 1 / 20, abs=0.08)  # a binomial's variance
    only = _draws((20, 6), 4000, "systems", seed=0)
    assert (only[0] == 1).all() and (only[1].sum(axis=1) == 6).all()
    assert only[1].mean(axis=0) == pytest.approx(np.ones(6), abs=0.08)
    assert only[1][:, 0].var() == pytest.approx(1 - 1 / 6, abs=0.08)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    metric, human = example()
    first, again, other = (correlate(metric, human, seed=seed).interval for seed in (1, 1, 2))
    assert first == again != other


def test_near_constant_rows_are_not_called_constant():
    x, y = np.array([[1.0, 1.0 + 1e-9, 1.0 + 3e-9, 1e6]]), np.array([[1.0, 2, 3, 4]])
    for coefficient in SCIPY:
        assert correlate(x, y, coefficient=coefficient, n_resamples=0).score is not None


# tables, level, what the reason says
UNDEFINED = [
    ([[1, 2, 3]], [[4, 4, 4]], "summary", "all human values are the same"),
    ([[2, 2, 2]], [[1, 2, 3]], "pooled", "all metric values are the same"),
    ([[1], [2]], [[1], [2]], "summary", "at least two systems"),
    ([[1], [2]], [[1], [2]], "system", "at least two systems"),
    ([[None, 1]], [[1, None]], "summary", "no cell has a value"),
    ([[1, 1], [2, 2]], [[1, 2], [1, 2]], "summary", "in every single article"),
    ([[1, 2], [2, 1]], [[1, 2], [1, 2]], "system", "over the system means"),
    ([[1, None], [None, 2]], [[1, 2], [1, 2]], "summary", "fewer than two cells"),
]


@pytest.mark.parametrize(("metric", "human", "level", "reason"), UNDEFINED)
def test_undefined_is_none_with_a_reason(metric, human, level, reason):
    found = correlate(metric, human, level=level)
    assert found.score is None and reason in found.reason and found.interval is None
    json.dumps(found.to_dict(), allow_nan=False)
    test = compare(metric, metric, human, level=level, n_resamples=9)
    assert test.score is None and test.p_value is None and "No statement" in str(test)
    json.dumps(test.to_dict(), allow_nan=False)


def test_one_article_and_pooled_single_system_have_numbers():
    assert correlate([[1, 3, 2]], [[1, 2, 3]]).score == pytest.approx(1 / 3)
    assert correlate([[1, 3, 2]], [[1, 2, 3]], resample="articles").interval is None
    assert correlate([[1], [2], [3]], [[1], [3], [2]], level="pooled").score == pytest.approx(1 / 3)


def test_skipped_articles_and_missing_cells_are_counted():
    metric = [[1, 2, 3], [1, 1, 1], [1, None, 3]]
    human = [[1, 2, 3], [1, 2, 3], [1, 2, 3]]
    found = correlate(metric, human)
    assert (found.n_skipped, found.n_missing, found.per_article) == (1, 1, (1.0, None, 1.0))
    assert found.score == 1.0 and found.to_frame().loc[0, "n_skipped"] == 1


def test_undefined_resamples_are_counted_and_too_many_mean_no_interval():
    metric, human = np.zeros((1, 6)), np.arange(6.0)[None]
    metric[0, 0] = 1  # two of three resamples hold the odd one out
    found = correlate(metric, human)
    assert found.n_undefined > 200 and found.resamples.size + found.n_undefined == 1000
    few = correlate([[1, 2]], [[1, 2]], resample="systems")  # half of the resamples draw one system twice
    assert few.score == 1 and few.n_undefined > 400
    assert (few.interval is None) == (few.n_undefined > 500)


BAD = [
    (lambda: correlate([[1, 2]], [[1, 2, 3]]), ValueError, r"metric \(1, 2\), human \(1, 3\)"),
    (lambda: correlate([1, 2], [1, 2]), ValueError, r"two axes.*pass one row"),
    (lambda: correlate([[[1]]], [[[1]]]), ValueError, "two axes"),
    (lambda: correlate([], []), ValueError, "two axes"),
    (lambda: correlate([[]], [[]]), ValueError, "empty"),
    (lambda: correlate([["a"]], [[1]]), TypeError, "table of numbers"),
    (lambda: correlate([[1, 2], [3]], [[1, 2], [3, 4]]), TypeError, "table of numbers"),
    (lambda: correlate([[1, np.inf]], [[1, 2]]), ValueError, r"metric\[0, 1\] is infinite"),
    (lambda: correlate([[1, 2]], [[1, -np.inf]]), ValueError, r"human\[0, 1\] is infinite"),
    (lambda: correlate([[1, 2]], [[1, 2]], level="article"), ValueError, "'summary', 'system', 'pooled'"),
    (lambda: correlate([[1, 2]], [[1, 2]], coefficient="tau"), ValueError, "'pearson', 'spearman', 'kendall'"),
    (lambda: correlate([[1, 2]], [[1, 2]], resample="all"), ValueError, "'both', 'articles', 'systems'"),
    (lambda: correlate([[1, 2]], [[1, 2]], n_resamples=-1), ValueError, "n_resamples"),
    (lambda: correlate([[1, 2]], [[1, 2]], n_resamples=10.0), TypeError, "n_resamples"),
    (lambda: correlate([[1, 2]], [[1, 2]], confidence=95), ValueError, "confidence"),
    (lambda: compare([[1, 2]], [[1]], [[1, 2]]), ValueError, "metric_b"),
    (lambda: compare([[1, 2]], [[1, 2]], [[1, 2]], permute="cells"), ValueError, "'each'"),
    (lambda: compare([[1, 2]], [[1, 2]], [[1, 2]], n_resamples=0), ValueError, "n_resamples"),
    (lambda: compare_all({}, [[1, 2]]), ValueError, "at least one metric"),
    (lambda: compare_all({"a": [[1]]}, [[1, 2]]), ValueError, r"'a' \(1, 1\)"),
    (lambda: compare_all({"a": [[1, 2]]}, [[1, 2]], correction="by eye"), ValueError, "'holm'"),
    (lambda: adjust_p_values([0.1, np.nan]), ValueError, r"\[0, 1\]"),
    (lambda: adjust_p_values([[0.1]]), ValueError, r"\[0, 1\]"),
    (lambda: pairwise_accuracy([[1, 2]], [[1, 2]], level="pooled"), ValueError, "'summary', 'system'"),
    (lambda: pairwise_accuracy([[1, 2]], [[1, 2]], epsilon="best"), ValueError, "epsilon"),
    (lambda: pairwise_accuracy([[1, 2]], [[1, 2]], epsilon=float("nan")), ValueError, "epsilon"),
    (lambda: pairwise_accuracy([[1, 2]], [[1, 2]], epsilon=True), ValueError, "epsilon .* not True"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD, ids=range(len(BAD)))
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_small_permutation_test_by_hand():
    """Two systems, both articles decided rightly by A and wrongly by B: four swaps of articles, one as extreme."""
    human, right, wrong = [[1, 2], [1, 2]], [[1, 2], [1, 2]], [[2, 1], [2, 1]]
    found = compare(right, wrong, human, permute="articles", n_resamples=4000)
    assert found.score == 2 and found.p_value == pytest.approx(1 / 4, abs=0.03)
    two_sided = compare(right, wrong, human, permute="articles", alternative="two-sided", n_resamples=4000)
    assert two_sided.p_value == pytest.approx(1 / 2, abs=0.03)
    less = compare(right, wrong, human, permute="articles", alternative="less", n_resamples=200)
    assert less.p_value == 1


def test_a_metric_is_not_better_than_itself():
    metric, human = example()
    found = compare(metric, 10 * metric + 3, human)
    assert found.score == 0 and found.p_value == 1 and found.interval == (0, 0)


def test_p_is_never_zero_and_each_takes_the_larger():
    rng = np.random.default_rng(0)
    human = rng.normal(size=(30, 16))
    found = compare(human, -human, human, n_resamples=99)
    assert 0.01 <= found.p_value <= 0.02 and found.p_value == max(found.p_values.values())
    assert set(found.p_values) == {"articles", "systems"} and found.null.size == 99
    assert found.signature["permute"] == "each" and "p = " in found.sentence()


def test_false_alarms_stay_near_five_percent_when_metrics_favour_systems():
    rng, alarms = np.random.default_rng(7), {"each": 0, "jointly": 0}
    for _ in range(60):
        quality = rng.normal(size=12)
        a, b = (quality + rng.normal(0, 1, 12) + rng.normal(0, 1, (25, 12)) for _ in "ab")
        human = quality + rng.normal(0, 0.5, (25, 12))
        for permute in alarms:
            found = compare(a, b, human, permute=permute, alternative="two-sided", n_resamples=79)
            alarms[permute] += found.p_value < 0.05
    assert alarms["each"] <= 8 and alarms["jointly"] > 12


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_are_ordered_as_theory_says(p):
    raw, holm, bonferroni, fdr = (adjust_p_values(p, correction=c) for c in ("none", "holm", "bonferroni", "fdr"))
    assert (raw <= fdr + 1e-12).all() and (fdr <= holm + 1e-12).all() and (holm <= bonferroni + 1e-12).all()
    order = np.argsort(raw, kind="stable")
    assert (np.diff(holm[order]) >= 0).all() and holm.max() <= 1
    assert adjust_p_values(p[::-1])[::-1] == pytest.approx(holm)


def test_compare_all_is_compare_for_every_pair():
    rng = np.random.default_rng(3)
    human = rng.normal(size=(15, 8))
    metrics = {f"<m{sd}>": human + rng.normal(0, sd, human.shape) for sd in (0.3, 1.0, 3.0)} | {
        "flat": np.ones((15, 8))
    }
    found = compare_all(metrics, human, correction="none", n_resamples=199, coefficient="spearman")
    for a, b in itertools.permutations(found.correlations, 2):
        single = compare(
            metrics[a], metrics[b], human, alternative="two-sided", n_resamples=199, coefficient="spearman"
        )
        assert found.p_values[a, b] == single.p_value
        assert found.correlations[a].score == single.a.score
    assert list(found.to_frame()["metric"]) == [*found.ranks, "flat"] and "flat" in found.undefined
    assert "<m" not in found._repr_html_() and json.dumps(found.to_dict(), allow_nan=False)


def test_many_metrics_do_not_make_significance_impossible():
    """With 12 metrics Holm multiplies by 66: with 99 permutations nothing could ever be below .05."""
    rng = np.random.default_rng(1)
    human = rng.normal(size=(20, 12))
    metrics = {f"random {i}": rng.normal(size=human.shape) for i in range(11)} | {"good": human}
    found = compare_all(metrics, human, coefficient="kendall", n_resamples=99)
    assert found.ranks["good"] == 1 and list(found.ranks.values()).count(1) == 1


def brute_accuracy(metric, human, epsilon):
    shares = []
    for x, y in zip(metric, human, strict=True):
        pairs = [
            (j, k) for j, k in itertools.combinations(range(len(x)), 2) if not np.isnan([x[j], x[k], y[j], y[k]]).any()
        ]
        if pairs:
            sign = lambda d, e: 0 if abs(d) <= e else np.sign(d)
            right = [sign(x[j] - x[k], epsilon) == sign(y[j] - y[k], 0) for j, k in pairs]
            shares.append(np.mean(right))
    return np.mean(shares)


@pytest.mark.parametrize("missing", [False, True], ids=["full", "missing"])
def test_pairwise_accuracy_equals_counting(missing):
    metric, human = example(missing)
    metric = np.round(metric * 8) / 8  # differences without rounding, so that both sides see the same ties
    for epsilon in (0, 0.125, 0.5, 1.0, 2.25, 99):
        expected = brute_accuracy(metric, human, epsilon)
        assert pairwise_accuracy(metric, human, epsilon=epsilon).score == pytest.approx(expected)
    best = pairwise_accuracy(metric, human)
    assert best.score == pytest.approx(max(brute_accuracy(metric, human, e) for e in best.thresholds))
    assert best.score == pytest.approx(brute_accuracy(metric, human, best.epsilon)) and best.calibrated


def test_system_level_pairwise_accuracy_is_that_of_the_means():
    metric, human = example()
    means = metric.mean(axis=0, keepdims=True), human.mean(axis=0, keepdims=True)
    assert pairwise_accuracy(metric, human, level="system", epsilon=0).score == pytest.approx(brute_accuracy(*means, 0))


def test_pictures_and_tables_hold_together():
    metric, human = example()
    one, test, accuracy = correlate(metric, human), compare(metric, -metric, human), pairwise_accuracy(metric, human)
    for result in (one, test, accuracy):
        assert result.plot().has_data() and "</table>" in result._repr_html_()
        assert not result.to_frame().empty and str(result.signature) in repr(result)


def test_a_threshold_is_a_number_or_calibrated():
    assert require_epsilon("calibrate") and not require_epsilon(0) and not require_epsilon(0.5)


def test_a_sentence_claims_what_was_asked_and_no_more():
    metric, human = example()
    words = {"greater": "better with", "less": "less with", "two-sided": "differently with"}
    for alternative, said in words.items():
        found = compare(human, -human, human, alternative=alternative)
        assert isinstance(found, PairedTest) and f"agrees {said} people than" in str(found)
        assert found.sentence(alpha=1.1).startswith("You may say that A")
        assert found.sentence(("x", "y"), alpha=0).startswith("You may not say that x")
    assert "No statement is possible" in str(compare(np.ones_like(metric), metric, human))


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
