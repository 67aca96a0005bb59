"""Probabilities held against labels: what is refused, a bin's row, the fit's optimum, the diagram."""

import numpy as np
import pytest

from summeval_nb import calibration
from summeval_nb.evidence.checker import logistic_fit, logits_of, require_labelled
from summeval_nb.evidence.words import Calibration, bin_row, judged_only, reliability_bins, reliability_diagram
from summeval_nb.ground.results import Signature


def test_both_sides_are_looked_at():
    for values, labels, message in (
        ([0.5], [1, 0], "one label for each"),
        ([[0.5]], [[1]], "one label for each"),
        ([1.5], [1], "0, 1"),
        ([0.5], [2], "0 or 1"),
    ):
        with pytest.raises(ValueError, match=message):
            require_labelled(values, labels)
    with pytest.raises(TypeError, match="leave out failed verdicts"):
        require_labelled(["high"], [1])
    assert judged_only([0.9, None, 0.1], [1, 1, 0]) == ([0.9, 0.1], [1, 0], 1)


def test_a_bin_has_its_share_and_interval_and_a_border_belongs_to_the_upper_one():
    row = bin_row(0.5, 1.0, np.array([0.8, 1.0]), np.array([1.0, 0.0]))
    assert (row["n"], row["mean_probability"], row["share_supported"]) == (2, 0.9, 0.5)
    assert 0 < row["share_low"] < 0.5 < row["share_high"] < 1
    bins = reliability_bins([0.0, 0.5, 1.0], [0, 1, 1], n_bins=2)
    assert [(one["low"], one["high"], one["n"]) for one in bins] == [(0.0, 0.5, 1), (0.5, 1.0, 2)]


def test_the_fit_finds_the_slope_that_made_the_targets():
    logits = logits_of(np.linspace(0.0, 1.0, 101))
    assert np.isfinite(logits).all()
    target = 1 / (1 + np.exp(-(2 * logits - 1)))
    assert logistic_fit(logits, target) == pytest.approx((2, -1), abs=1e-3)


def test_nothing_is_applied_without_labels_of_both_kinds():
    empty = Calibration(score=None, reason="no items", signature=Signature({"metric": "calibration"}))
    for one in (empty, calibration([0.2, 0.4], [1, 1])):
        with pytest.raises(ValueError, match="labels of both kinds"):
            one.apply([0.5])


def test_the_diagram_has_a_point_and_a_count_for_each_bin():
    bins = reliability_bins([0.9, 0.9, 0.2], [1, 0, 0], n_bins=2)
    axes = reliability_diagram(bins)
    assert axes.get_xlabel() == "mean probability" and [one.get_text() for one in axes.texts] == ["1", "2"]
    assert reliability_diagram(bins, ax=axes) is axes


def test_a_calibration_gives_its_table_its_numbers_and_its_picture():
    result = calibration([0.9, 0.7, None, 0.2], [1, 0, 1, 0], n_bins=2)
    assert result.rows() == result.bins and result.rows()[0] is not result.bins[0]
    told = result.to_dict()
    assert (told["n"], told["n_failed"], told["brier"]) == (3, 1, pytest.approx((0.01 + 0.49 + 0.04) / 3))
    assert told["slope"] == result.slope and told["score"] == result.score
    moved = 1 / (1 + np.exp(-(result.slope * logits_of(np.array([0.9])) + result.offset)))
    assert result.apply([0.9]) == pytest.approx(moved)
    assert [one.get_text() for one in result.plot().texts] == ["1", "2"]
