"""The fit of the embedded checker (benchmarks/fit_embedded.py): tables whose truth is known, and the one that ships."""

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from _labelled import SETS, documents, same_article
from helpers.late import Late

from summeval_nb.evidence.embedded import fitted

pd = Late("pandas")
fit_embedded = Late("fit_embedded")  # it imports pandas
Table, calibrated, chosen_threshold, fit, items, left_out_scores = (
    Late("fit_embedded", name)
    for name in ("Table", "calibrated", "chosen_threshold", "fit", "items", "left_out_scores")
)

CACHE = Path(os.environ.get("SUMMEVAL_NB_FIT", Path(__file__).parents[1] / "fit_work")) / "looked.npz"
DATA = os.environ.get("SUMMEVAL_NB_DATA")
ALL = (*SETS, "written")


def table_of(n=60, *, seed=0, sets=ALL, **changes):
    """A table whose first number says what is true, the second nothing, each set at its level; a claim is a summary."""
    random = np.random.default_rng(seed)
    names = np.repeat(sets, n)
    label = np.tile([0, 1], len(names) // 2)
    values = random.normal(size=(len(names), 2)) + np.column_stack([1.5 * label, 0 * label])
    values += 3 * (names == sets[0])[:, None]  # told in another way
    kept = {"set": names, "label": label, "numbers": values, "held": [{name} for name in names]}
    kept |= {name: np.ones(len(names), bool) for name in ("usable", "human", "alone")}
    kept |= {name: np.arange(len(names)) for name in ("article", "summary")}
    kept |= {"balance": np.ones(len(names)), "copied": np.zeros(len(names)), "clash": np.zeros(len(names), bool)}
    made = SimpleNamespace(**kept | changes)
    for name in ("allowed", "training", "weights"):
        setattr(made, name, getattr(Table, name).__get__(made))
    return made


def test_fit_finds_what_speaks_and_not_a_set_s_level():
    table = table_of(400)
    weights, intercept = fit(table, table.training(None))
    assert weights[0] > 5 * abs(weights[1]) and weights[0] > 0
    moved = table_of(400, numbers=table.numbers + 7 * (table.set == "defacto")[:, None])
    again, other = fit(moved, moved.training(None))
    assert again == pytest.approx(weights, rel=1e-6) and other < intercept  # the middle of all rows is where it starts


def test_each_set_and_label_has_the_same_say_and_what_is_not_known_has_none():
    table = table_of()
    keep = ~((table.set == "summeval") & (table.label == 0) & (np.arange(len(table.label)) % 3 > 0))
    weight = table.weights(keep)
    for name in ALL:
        for label in (0, 1):
            assert weight[(table.set == name) & (table.label == label)].sum() == pytest.approx(1000)
    assert not weight[~keep].any()
    table = table_of()
    table.usable[0] = False
    table.alone[2] = False  # false, in a summary of several sentences: which one is wrong, nobody said
    table.alone[3] = False  # true, so each of its sentences is
    table.held[4] = {table.set[4], "defacto"}
    everything, without = table.training(None), table.training("defacto")
    assert everything[[0, 2]].tolist() == [False, False] and everything[[3, 4]].tolist() == [True, True]
    assert not without[4] and not without[table.set == "defacto"].any()


def test_a_set_is_scored_by_weights_that_never_saw_it():
    table = table_of(100, copied=np.arange(600) % 7 == 0)
    scores = left_out_scores(table)
    for name in ALL:
        own = table.set == name
        weights, intercept = fit(table, table.training(name))
        wanted = table.numbers[own] @ weights + intercept - fit_embedded.COPIED * table.copied[own]
        assert scores[own] == pytest.approx(wanted)
    turned = table_of(100, copied=table.copied, label=np.where(table.set == "defacto", 1 - table.label, table.label))
    own = table.set == "defacto"
    assert left_out_scores(turned)[own] == pytest.approx(scores[own]), "its labels are no concern of its scores"
    assert left_out_scores(turned)[~own] != pytest.approx(scores[~own])


def test_calibration_turns_sums_into_probabilities():
    table = table_of(2000)
    scores = 3 * (table.numbers[:, 0] - 3 * (table.set == ALL[0]))
    slope, offset = calibrated(table, scores)
    p = 1 / (1 + np.exp(-(slope * scores + offset)))
    for low, high in ((0.1, 0.3), (0.4, 0.6), (0.7, 0.9)):
        inside = (p > low) & (p < high)
        assert table.label[inside].mean() == pytest.approx(p[inside].mean(), abs=0.05)


def test_a_summary_is_judged_by_its_worst_sentence():
    table = table_of(4, sets=("summeval", "qags_cnndm"), summary=np.array([7, 7, 7, 8, 0, 0, 0, 1]))
    table.label[:] = [1, 1, 1, 0, 1, 0, 1, 0]
    table.article[:] = [1, 1, 1, 1, 2, 2, 2, 2]
    p = np.array([0.9, 0.3, 0.8, 0.6, 0.9, 0.3, 0.8, 0.6])
    clash = np.array([0, 1, 0, 1, 0, 0, 0, 0], bool)
    found = items(table, p, 0.5, clash, "mine")
    summaries, sentences = found[found["key"] == "summeval"], found[found["key"] == "qags_cnndm"]
    assert summaries["probability"].tolist() == [0.3, 0.6] and summaries["label"].tolist() == [1, 0]
    assert summaries["state"].tolist() == ["contradicted", "unclear"]
    assert sentences["probability"].tolist() == [0.9, 0.3, 0.8, 0.6], "labelled one by one"
    assert sentences["state"].tolist() == ["supported", "unclear", "supported", "supported"]
    assert set(found["checker"]) == {"mine"} and "place" not in found
    table.usable[1] = table.human[4] = False
    fewer = items(table, p, 0.5, clash, "mine")
    assert len(fewer) == len(found) - 1 and fewer["probability"].tolist()[0] == 0.8


def test_the_threshold_has_the_best_mean_over_the_sets(monkeypatch):
    table = table_of(200)
    random = np.random.default_rng(1)
    p = np.where(table.label == 1, random.uniform(0.55, 0.9, 1200), random.uniform(0.1, 0.5, 1200))
    threshold = chosen_threshold(table, p)
    assert 0.49 <= threshold <= 0.56 and threshold == round(threshold, 2)
    held = table_of(200, clash=np.asarray(table.label == 0))
    assert chosen_threshold(held, p) == fitted()["threshold"], "no other is better, so the one that ships stays"
    monkeypatch.setattr(fit_embedded, "WORTH_A_MOVE", 0.0)
    assert chosen_threshold(held, p) == 0.2, "what clashes is never supported, so the lowest is as good as any"


@pytest.mark.slow
@pytest.mark.skipif(DATA is None or not CACHE.is_file(), reason="needs SUMMEVAL_NB_DATA, and looked.npz of a fit")
def test_the_fit_gives_the_weights_that_ship():
    articles, claims = documents(Path(DATA), written=True)
    table = Table(claims, fit_embedded.looked_at(articles, claims, CACHE), same_article(articles))
    scores = left_out_scores(table)
    slope, offset = calibrated(table, scores)
    weights, intercept = fit(table, table.training(None))
    near = fit_embedded.TOLERANCE
    assert slope * weights == pytest.approx(list(fitted()["weights"].values()), abs=near)
    assert slope * intercept + offset == pytest.approx(fitted()["intercept"], abs=near)
    assert -slope * fit_embedded.COPIED == pytest.approx(fitted()["copied"], abs=near)
    p = 1 / (1 + np.exp(-(slope * scores + offset)))
    written = fit_embedded.articles_looked_at(CACHE.with_name("articles.npz"))
    sums = written["numbers"] @ weights + intercept - fit_embedded.COPIED * written["copied"]
    assert chosen_threshold(table, p, written, slope * sums + offset) == fitted()["threshold"]
