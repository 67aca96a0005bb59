"""Tests of a difference against brute force: permutations made one by one, corrections, ranks, pairs counted."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from helpers.correlations import SCIPY, at_level, example
from helpers.late import Late

from summeval_nb.agreement.coefficients import LEVELS
from summeval_nb.agreement.permutation import adjust_p_values, p_value_of, random_swaps

stats = Late("scipy.stats")
correlation = Late("summeval_nb.agreement.correlation")  # it imports scipy
ALTERNATIVES = ("two-sided", "greater", "less")
multipletests = Late("statsmodels.stats.multitest", "multipletests")


def test_p_values_by_hand():
    """Three permutations and the observed one; NaN does not count, and what is equal up to rounding does."""
    null = np.array([0.3 - 1e-15, -0.1, -0.5, np.nan])
    for alternative, expected in (("greater", 2 / 4), ("less", 4 / 4), ("two-sided", 3 / 4)):
        assert p_value_of(null, 0.3, alternative) == expected
    human, right, wrong = [[1, 2], [1, 2]], [[1, 2], [1, 2]], [[2, 1], [2, 1]]
    for alternative, expected in (("greater", 1 / 4), ("two-sided", 1 / 2), ("less", 1)):  # of four swaps of articles
        how = {"permute": "articles", "alternative": alternative, "n_resamples": 4000}
        assert correlation.paired_test(right, wrong, human, **how).p_value == pytest.approx(expected, abs=0.03)
    human = np.random.default_rng(0).normal(size=(30, 16))
    found = correlation.paired_test(human, -human, human, n_resamples=99)
    assert 0.01 <= found.p_value <= 0.02 and found.p_value == max(found.p_values.values()), "never 0, the larger"


def test_a_metric_is_not_better_than_itself():
    metric, human = example()
    found = correlation.paired_test(metric, 10 * metric + 3, human)
    assert found.score == 0 and found.p_value == 1 and found.interval is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("correction", "method"), [("holm", "holm"), ("bonferroni", "bonferroni"), ("fdr", "fdr_bh")])
def test_corrections_are_those_of_statsmodels(correction, method, seed):
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(int(rng.integers(1, 40))) ** 3, 1 + seed % 3)  # some are equal, some 0 or 1
    assert adjust_p_values(p, correction=correction) == pytest.approx(multipletests(p, method=method)[1], abs=1e-12)


def test_compare_all_is_compare_for_every_pair():
    rng = np.random.default_rng(3)
    human = rng.normal(size=(15, 8))
    metrics = {f"<m{sd}>": human + rng.normal(0, sd, human.shape) for sd in (0.3, 1.0, 3.0)} | {
        "flat": np.ones((15, 8))
    }
    found = correlation.compare_metrics(metrics, human, correction="none", n_resamples=199, coefficient="spearman")
    for a, b in itertools.permutations(found.correlations, 2):
        single = correlation.paired_test(
            metrics[a], metrics[b], human, alternative="two-sided", n_resamples=199, coefficient="spearman"
        )
        assert found.p_values[a, b] == single.p_value
        assert found.correlations[a].score == single.a.score
    assert list(found.to_frame()["metric"]) == [*found.ranks, "flat"] and "flat" in found.undefined
    assert "<m" not in found._repr_html_() and json.dumps(found.to_dict(), allow_nan=False)


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
        assert correlation.pairwise_accuracy(metric, human, epsilon=epsilon).score == pytest.approx(expected)
    best = correlation.pairwise_accuracy(metric, human)
    assert best.score == pytest.approx(max(brute_accuracy(metric, human, e) for e in best.thresholds))
    assert best.score == pytest.approx(brute_accuracy(metric, human, best.epsilon)) and best.calibrated


def test_a_sentence_claims_what_was_asked_and_no_more():
    metric, human = example()
    two_sided, greater, less = (
        correlation.paired_test(human, -human, human, alternative=side) for side in ALTERNATIVES
    )
    assert str(two_sided).startswith("A agrees better with people than B: summary-level")
    assert "no interval, for the resamples show no spread, two-sided p = " in str(two_sided)
    assert str(greater).startswith("A agrees better") and "one-sided p" in str(greater)
    assert less.sentence(("x", "y")).startswith("It is not shown that x agrees less with people than y: ")
    assert str(correlation.paired_test(-human, human, human)).startswith("A agrees less with people than B")
    assert "No statement is possible" in str(correlation.paired_test(np.ones_like(metric), metric, human))


def test_no_difference_is_claimed_where_the_interval_holds_zero():
    test = correlation.paired_test(*np.random.default_rng(0).normal(size=(3, 9, 6)), n_resamples=99)
    held, right = (
        [(0.038, (-0.038, 0.228)), (0.078, (0.01, 0.228)), (0.038, (0.0, 0.2)), (0.05, (0.01, 0.228))],
        (0.01, 0.228),
    )
    for p_value, interval, claimed in [*((*pair, False) for pair in held), (0.038, None, True), (0.038, right, True)]:
        found = replace(test, score=0.095, p_value=p_value, interval=interval)
        assert found.shows_a_difference == claimed == ("A agrees better" in str(found)), (p_value, interval)
        assert f"p = {p_value}" in str(found) and (interval is None or f"{interval[0]:.3f}" in str(found))


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_interval_has_the_sides_of_the_test(alternative):
    a, b, human = np.random.default_rng(1).normal(size=(3, 12, 7))
    found = correlation.paired_test(a, b, human, alternative=alternative, confidence=0.9, n_resamples=200)
    draws = found.a.resamples - found.b.resamples  # the same draws for both
    expected = {
        "two-sided": np.quantile(draws, [0.05, 0.95]),
        "greater": [np.quantile(draws, 0.1), 2],
        "less": [-2, np.quantile(draws, 0.9)],
    }
    assert found.interval == pytest.approx(expected[alternative])


def test_one_number_a_text_is_compared_as_scipy_does():
    rng = np.random.default_rng(2)
    human = rng.normal(size=60)
    a, b = human + rng.normal(0, 1, 60), human + rng.normal(0, 1.5, 60)
    found = correlation.paired_test(a, b, human, coefficient="pearson", n_resamples=999)

    def difference(one, other):
        return stats.pearsonr(one, human).statistic - stats.pearsonr(other, human).statistic

    pair = [(side - side.mean()) / side.std() for side in (a, b)]
    theirs = stats.permutation_test(
        pair, difference, permutation_type="samples", vectorized=False, n_resamples=999, rng=np.random.default_rng(0)
    )
    assert set(found.p_values) == {"articles"} and found.score == pytest.approx(theirs.statistic)
    assert found.p_value == pytest.approx(theirs.pvalue, abs=0.05)
    assert correlation.compare_metrics({"a": a, "b": b}, human, n_resamples=99).signature["level"] == "pooled"


def test_what_was_left_out_stands_in_the_printed_line():
    metric, human = example()
    human[:2] = 3
    metric[4, 1] = np.nan
    lost = "2 of {} articles (one side is constant, or fewer than two cells are present); 1 of {} cells"
    lost = lost.format(len(human), human.size)
    found, test = correlation.correlate(metric, human), correlation.paired_test(metric, human, human)
    assert lost in str(found) and lost in repr(found) and f"Left out: {lost}" in str(test)
    ranks = correlation.compare_metrics({"a": metric, "b": human, "c": np.ones_like(human)}, human, n_resamples=99)
    assert f"left out of a: {lost}" in repr(ranks) and "two-sided tests, correction holm" in repr(ranks)
    assert "undefined: c, " in repr(ranks) and lost in ranks._repr_html_()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("kind", ["articles", "systems", "jointly"])
def test_null_equals_permutations_made_one_by_one(level, coefficient, kind, missing=True):
    from summeval_nb.agreement.correlation import _standardised

    a, human = example(missing)
    b, _ = example(missing, seed=1)
    swaps = random_swaps(a.shape, 8, kind, seed=2)
    ours = correlation.null_differences(a, b, human, level, coefficient, swaps)
    everywhere = np.where(np.isnan(a) | np.isnan(b) | np.isnan(human), np.nan, 1.0)
    za, zb, y = _standardised(a * everywhere), _standardised(b * everywhere), human * everywhere
    for value, articles, systems in zip(ours, *swaps, strict=True):
        cells = articles[:, None] ^ systems[None]
        sides = [at_level(np.where(cells, *pair), y, level, coefficient) for pair in ((zb, za), (za, zb))]
        assert value == pytest.approx(sides[0] - sides[1], abs=1e-9)
