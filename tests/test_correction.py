"""A judge's verdicts and some labels: the estimate beside the paper's program, how often intervals hold, bad input."""

import csv

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb import correct_score, evaluate_many
from summeval_nb.agreement import draw_items, labels_needed, record_label
from summeval_nb.agreement.annotators import MIN_LABELS, corrected
from summeval_nb.agreement.correction import power_tuned

pd = Late("pandas")


def population(items=400, seed=7):
    """A judge that is calibrated: of what it gives .7, people call 70 % right."""
    rng = np.random.default_rng(seed)
    judge = np.round(rng.random(items), 3)
    return judge, rng.random(items) < judge


def first(people, n):
    return {place: bool(people[place]) for place in range(n)}


def test_the_estimate_is_that_of_ppi_python():
    """ppi_mean_pointestimate and ppi_mean_ci of ppi-python 0.2.3 on the same numbers, which it divides by n."""
    judge, people = population()
    assert people[:80].sum() == 35 and judge.sum() == pytest.approx(201.673)
    found = power_tuned(people[:80].astype(float), judge[:80], judge[80:])
    assert found.estimate == pytest.approx(0.44303004, abs=5e-4)
    half = 1.959964 * np.sqrt(found.variance)
    assert half == pytest.approx((0.5375169 - 0.34854318) / 2, rel=0.02)


@pytest.mark.parametrize("scope", ["population", "table"])
@pytest.mark.parametrize("judge_is", ["good", "random", "constant", "contrary"])
def test_intervals_hold_the_truth(judge_is, scope):
    rng, held, weights, ratios = np.random.default_rng(3), 0, [], []
    for _ in range(400):
        judge = rng.beta(4, 1, 500)
        people = rng.random(500) < judge
        truth = 0.8 if scope == "population" else people.mean()
        kinds = {"good": judge, "random": rng.random(500), "constant": np.full(500, 0.9), "contrary": 1 - judge}
        f = kinds[judge_is]
        found = corrected(people[:60].astype(float), f[:60], f[60:], scope=scope)
        held += found.interval[0] <= truth <= found.interval[1]
        weights.append(found.weight)
        widths = [high - low for low, high in (found.interval, found.labels_interval)]
        ratios.append(widths[0] / widths[1])
    assert 0.92 <= held / 400 <= 0.985  # three standard errors around 95 %
    assert max(ratios) <= 1.05 + 1e-9
    weight = np.mean(weights)
    if judge_is in ("good", "contrary"):
        assert np.mean(ratios) < 0.97 and (weight > 0.5 if judge_is == "good" else weight < -0.5)
    else:
        assert abs(weight) < 0.03 and np.mean(ratios) < 1.01


def test_the_difference_of_two_systems_is_paired():
    rng, held, narrower = np.random.default_rng(5), 0, 0
    for _ in range(300):
        hard = rng.random(400)
        right = [rng.random(400) < np.clip(1.1 - hard + more, 0, 1) for more in (0.0, 0.1)]
        judge = [np.where(rng.random(400) < 0.85, one, ~one) for one in right]
        y, f = ((one[1].astype(float) - one[0]) for one in (right, judge))
        found = corrected(y[:80], f[:80], f[80:], scope="table", paired=True)
        held += found.interval[0] <= right[1].mean() - right[0].mean() <= found.interval[1]
        narrower += found.interval[1] - found.interval[0] < found.labels_interval[1] - found.labels_interval[0]
    assert 0.915 <= held / 300 <= 0.99 and narrower > 270
    a, b = (({"verdict": j}, first(one, 80)) for j, one in zip(judge, right, strict=True))
    assert correct_score(*b, other=a, scope="table").to_dict()["rows"] == found.rows()
    with pytest.raises(ValueError, match="the same items"):
        correct_score(*b, other=({"verdict": [1, 0]}, {}))


def test_everything_labelled_is_known_and_a_table_of_reports_and_a_frame_are_one():
    _, people = population(60)
    found = correct_score({"verdict": ~people}, first(people, 60), scope="table")
    assert found.score == people.mean() and found.interval == pytest.approx((people.mean(),) * 2)
    assert found.worth is None and "worth all labels" in str(found)
    assert correct_score({"verdict": ~people}, first(people, 60)).interval[0] < people.mean()
    texts = [("The dog slept.", "The dog slept." if k % 3 else "The cat ran away.") for k in range(36)]
    table = evaluate_many(*zip(*texts, strict=True), checker="words")
    labels = {k: k % 3 > 0 for k in range(36)}
    labels[1] = False
    found = correct_score(table, labels)
    frame = pd.DataFrame({"id": range(36), "score": table.scores})
    assert correct_score(frame, pd.Series(labels)).to_dict() == found.to_dict()
    item = draw_items(table, 1)[0]
    assert item["text"] and set(item) == {"id", "text", "evidence", "label", "who", "when"}


def test_labels_survive_a_second_drawing(tmp_path):
    path = tmp_path / "to_label.csv"
    table = {"id": [f"a{k}" for k in range(50)], "text": ["=1+1", "<b>"] * 25, "score": [0, 1] * 25}
    drawn = [item["id"] for item in draw_items(table, 31, path=path)]
    for place, name in enumerate(drawn):
        record_label(path, name, place % 2 == 0, who="Ada")
    again = draw_items(table, 45, path=path)
    assert [item["id"] for item in again][:31] == drawn
    assert [bool(item["label"]) for item in again] == [True] * 31 + [False] * 14
    with open(path, encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle))
    assert rows[0]["who"] == "Ada" and rows[0]["when"].endswith("+00:00") and "score" not in rows[0]
    assert {row["text"] for row in rows} == {"'=1+1", "<b>"}, "a spreadsheet would run a formula"
    assert correct_score(table, path).n_labels == 31


def test_labels_needed_are_enough():
    judge, people = population(3000)
    table = {"probability": judge}
    worst, planned = labels_needed(table), labels_needed(table, labels=first(people, 100))
    assert planned < worst < 400
    low, high = correct_score(table, first(people, planned)).interval
    assert high - low == pytest.approx(0.1, rel=0.1)
    assert labels_needed(table, 0.1, scope="table") < worst
    with pytest.raises(ValueError, match="200 items are too few for 0.1"):
        labels_needed({"score": [0, 1] * 100})


def test_bad_labels_are_refused_and_failed_verdicts_left_out_and_counted():
    for labels, words in (
        (dict.fromkeys(range(12), True), f"{MIN_LABELS}, 18 are missing"),
        ({f"x{k}": k % 2 for k in range(40)}, "40 of 40 labels are of items that the table has not"),
        ([{"id": 1, "label": 1}, {"id": "1", "label": 0}], "stands there twice"),
    ):
        with pytest.raises(ValueError, match=words):
            correct_score({"verdict": [0, 1] * 50}, labels)
    judge, people = population()
    scores = [None if k % 10 == 0 else float(v) for k, v in enumerate(judge)]
    found = correct_score({"score": scores}, first(people, 100))
    assert (found.n_left_out, found.n_items, found.n_labels) == (40, 360, 90)
