"""Cards of metrics: oracles, planted blind spots, what cannot be scored, bad input, and how a card is shown."""

import json
import math
import re

import numpy as np
from helpers.late import Late
from typer.testing import CliRunner

from summeval_nb import metric_card
from summeval_nb.agreement import MetricCard
from summeval_nb.agreement.card import GOOD, KINDS, MARKS, ORDER, OTHER, card_items, changed
from summeval_nb.cli import app

plt = Late("matplotlib.pyplot")

ITEMS = card_items(None, np.random.default_rng(0))
TEXTS = [own for start in range(len(MARKS)) for own in changed(ITEMS, start)]
GOODS = {tuple(sorted(own[GOOD]["references"])): own[GOOD]["candidate"] for own in TEXTS}
LABELS = {
    (cells["candidate"], tuple(sorted(cells["references"]))): change
    for own in TEXTS
    for change, cells in own.items()
    if change not in (ORDER, OTHER, "padding")  # these depend on the other items
}
FALSE = ("number changed", "negation", "roles exchanged")
WORSE = ("padding", "repetition", "truncation")


def label(candidate, references):
    """What was done to a text."""
    key = tuple(sorted(references))
    return LABELS.get((candidate, key)) or ("padding" if candidate.startswith(GOODS[key]) else OTHER)


def oracle(candidate, references):
    """The label of a text as a number, and a little noise."""
    noise = np.random.default_rng([*candidate.encode()]).normal(0, 0.03)
    change = label(candidate, references)
    value = 1.0 if KINDS.get(change, "invariance") == "invariance" else 0.5 if change in WORSE else 0.2
    return (0.0 if change == OTHER else value) + noise


def planted(change, value):
    """The oracle, with another number where a text was changed so."""

    def metric(candidate, references):
        found = label(candidate, references) == change
        return value + 1e-3 * len(candidate) if found else oracle(candidate, references)

    return metric


def card(metric, **options):
    return metric_card(metric, progress=False, **options)


def test_an_oracle_has_no_blind_spot_whichever_side_is_good_and_a_planted_one_is_named_and_no_other():
    for seed in range(3):
        assert {row["verdict"] for row in card(oracle, seed=seed).rows()} == {"keeps", "sees"}
    assert card(lambda candidate, references: 3 - oracle(candidate, references)).blind_spots == []
    plants = {"number changed": 1.0, "negation": 1.0, "roles exchanged": 1.0, "citation marks": 0.6, "padding": 1.3}
    plants |= {"wrappers": 1.4, "date forms": 0.5, "white space": 0.7, "repetition": 0.95, "truncation": 1.0}
    for change, value in plants.items():
        assert card(planted(change, value)).blind_spots == [change]


def test_a_bag_of_words_cannot_see_roles_and_a_metric_that_scores_all_alike_is_blind_to_another_text():
    row = next(row for row in card("rouge1").rows() if row["change"] == "roles exchanged")
    assert row["effect"] == 0 and row["verdict"] == "blind"
    assert row["low"] is row["high"] is None and row["reason"] == "all 46 values are equal"
    found = card(lambda candidate, references: 0.5)
    assert found.blind_spots == [OTHER] and found.spread == 0
    assert {row["verdict"] for row in found.rows()} == {"blind", "undecided"}
    assert all(row["share"] is None and row["right"] is None for row in found.rows())


def test_items_without_a_score_are_counted_and_left_out():
    places = {own[GOOD]["references"][0]: place for place, own in enumerate(changed(ITEMS, 0))}

    def moody(candidate, references):
        place = min(places.get(reference, 99) for reference in references)
        if place == 3:
            raise KeyError("no such word")
        return {4: None, 5: math.nan, 6: "high"}.get(place, oracle(candidate, references))

    found = card(moody)
    assert {(row["n"], row["missing"]) for row in found.rows()} == {(42, 4)}
    assert found.rows()[0]["reason"] == "KeyError: 'no such word'"
    assert found.blind_spots == [] and "KeyError" in found.to_markdown()


def test_arguments_get_texts_by_their_names():
    seen = []

    def copied(text, summary):
        seen.append((text, summary))
        return len({*summary.split()} & {*text.split()}) / len(summary.split())

    found = card(copied)
    assert [row["change"] for row in found.rows()][3] == "order of sentences"
    assert not {*WORSE} & {row["change"] for row in found.rows()}
    assert all(isinstance(text, str) and isinstance(summary, str) for text, summary in seen)
    found = card("words", limit=12, margin=0.3)  # checkers have names
    assert found.blind_spots == list(FALSE) and len(found.rows()) == 9


def test_items_are_changed_as_they_say():
    words = lambda text: sorted(re.findall(r"\w[\w.,]*\w|\w", text.lower()))
    own = changed(ITEMS, 0)
    for item, one in zip(ITEMS, own, strict=True):
        good = one[GOOD]["candidate"]
        said = {change: cells["candidate"] for change, cells in one.items()}
        assert all((text == good) == (change in (GOOD, ORDER)) for change, text in said.items()), item
        others = {pair for pair in zip(good.split(), said["number changed"].split(), strict=True) if len({*pair}) == 2}
        assert others <= {*zip(item["number"][0].split(), item["number"][1].split(), strict=True)}
        assert words(said["roles exchanged"]) == words(good)
        assert "not" in said["negation"].split() and "not" not in good.split()
        assert said["white space"].split() == good.split()
        assert good in said["wrappers"] and said["padding"].startswith(good)
        assert one[ORDER]["references"] == one[GOOD]["references"][::-1]


def test_a_card_is_a_table_a_text_data_and_a_picture_and_names_are_escaped():
    found = card("rouge1")
    assert isinstance(found, MetricCard) and len(found.to_frame()) == len(found.rows()) == 12
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["blind_spots"] == found.blind_spots
    lines = found.to_markdown().splitlines()
    assert lines[0] == "## Metric card: rouge1" and sum(line.startswith("| ") for line in lines) == 14
    assert "Blind spots: wrappers" in found.to_markdown() and str(found.signature) in repr(found)
    metric = lambda candidate, references: oracle(candidate, references)
    metric.__name__ = "<script>$x$|"
    found, bleu = card(metric), card("bleu")
    assert "<script>" not in found._repr_html_() and "<script>" not in found.to_markdown()
    found.plot()
    (ax,) = bleu.plot().axes
    assert [text.get_text() for text in ax.texts] == [row["verdict"] for row in bleu.rows()]
    assert len(ax.get_yticklabels()) == len(bleu.rows())
    plt.close("all")


def test_a_card_from_the_shell(tmp_path):
    page = tmp_path / "card.md"
    done = CliRunner().invoke(app, ["card", "rouge1", "--markdown", str(page)])
    assert done.exit_code == 0 and "Blind spots: wrappers, negation, roles exchanged." in done.stdout
    assert "| roles exchanged | direction | 46 |" in page.read_text(encoding="utf-8")
    told = CliRunner().invoke(app, ["card", "rouge1", "--json"])
    assert json.loads(told.stdout) == card("rouge1").to_dict()
