"""Plumbing of ratings: scales, a rating's readings of its distribution, what a metric of grades checks and counts."""

import math

import pytest

from summeval_nb.ground.results import Signature
from summeval_nb.judged import _grades, ratings
from summeval_nb.judged._grades import Rating, rating_parts, require_paired, require_scale, table_of
from summeval_nb.judged.ratings import RatingMetric, expected_grade
from summeval_nb.models.base import BackendUnavailable, ScriptedBackend

MINE = Signature({"metric": "rating"})
FOUR = ScriptedBackend(lambda prompt: "4")


def rating(shares):
    return Rating(score=expected_grade(shares), signature=MINE, quality="fluency", distribution=shares, mass=1.0)


def test_the_chapter_hands_on_the_rating():
    assert ratings.Rating is _grades.Rating and {"Rating", "RatingTable"} <= set(_grades.__all__)


@pytest.mark.parametrize(
    ("shares", "spread", "likeliest"),
    [({3: 1.0}, 0.0, 3), ({2: 0.5, 4: 0.5}, 1.0, 2), ({1: 0.5, 5: 0.5}, 2.0, 1), ({1: 0.25, 2: 0.75}, 0.1875**0.5, 2)],
)
def test_spread_and_likeliest_by_hand(shares, spread, likeliest):
    one = rating(shares)
    assert math.isclose(one.spread, spread) and one.likeliest == likeliest
    assert one.to_dict()["spread"] == one.spread and [row["grade"] for row in one.rows()] == list(shares)


def test_a_rating_without_a_score_has_neither():
    lost = Rating(score=None, reason="time-out", signature=MINE, quality="fluency")
    assert lost.spread is None and lost.likeliest is None and lost.rows() == []
    assert "undefined" in lost.plot().get_title()


@pytest.mark.parametrize(
    ("scale", "error"), [((1, 5), None), ([0, 9], None), ((5, 1), ValueError), ((1, 10), ValueError), ("15", TypeError)]
)
def test_a_scale_is_two_digits_that_run_upwards(scale, error):
    if error is None:
        assert require_scale(scale) == tuple(scale)
    else:
        with pytest.raises(error, match="scale"):
            require_scale(scale)


def test_texts_and_summaries_pair_up():
    assert require_paired(["It rained all day."], ["Rain."]) == [("It rained all day.", "Rain.")]
    with pytest.raises(ValueError, match="1 texts and 0 summaries"):
        require_paired(["a"], [])


def test_shares_become_a_rating_and_failures_a_reason():
    parts = rating_parts({"probabilities": {"2": 0.1, "4": 0.3}, "mass": 0.4}, expected_grade)
    assert math.isclose(parts["score"], 3.5) and parts["distribution"] == pytest.approx({2: 0.25, 4: 0.75})
    assert "0.4" in parts["note"]
    assert rating_parts(None, expected_grade) == {"score": None, "reason": "the summary is empty"}
    assert "time-out" in rating_parts(BackendUnavailable("time-out"), expected_grade)["reason"]


@pytest.mark.parametrize(
    ("choice", "error", "words"),
    [
        ({"quality": "beauty"}, ValueError, "unknown quality 'beauty'; known: 'coherence'"),
        ({"scale": (1, 10)}, ValueError, "within 0 and 9"),
        ({"scale": 5}, TypeError, "two whole numbers"),
        ({"workers": 0}, ValueError, "workers must be at least 1"),
    ],
)
def test_a_metric_checks_its_choices_when_it_is_made(choice, error, words):
    with pytest.raises(error, match=words):
        RatingMetric(**({"quality": "fluency", "backend": FOUR} | choice))


def test_a_metric_counts_one_call_for_each_different_summary():
    metric = RatingMetric(quality="relevance", backend=FOUR)
    rows = [{"text": "It rained.", "summary": one} for one in ("Rain.", "Rain.", "It did.", " ")]
    assert metric.calls_for(rows)["rating"].calls == 2


def test_a_failed_call_is_failed_and_an_empty_summary_undefined():
    lost = Rating(score=None, reason="time-out", signature=MINE, quality="fluency")
    table = table_of([rating({4: 1.0}), lost, lost], ["Rain.", "Rain.", " "])
    assert [one.status for one in table.outcomes()] == ["ok", "failed", "undefined"]
