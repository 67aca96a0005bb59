"""The fit of the embedded checker (benchmarks/fit_embedded.py): tables whose truth is known, and the one that ships."""

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from _labelled import SETS, documents, same_article
from helpers.late import Late

from summeval_nb.evidence.embedded import fitted

fit_embedded = Late("fit_embedded")  # it imports pandas
Table, calibrated, chosen_threshold, fit, left_out_scores = (
    Late("fit_embedded", name) for name in ("Table", "calibrated", "chosen_threshold", "fit", "left_out_scores")
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
