"""Cards of metrics: oracles, planted blind spots, what cannot be scored, bad input, and how a card is shown."""

import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest
from helpers.late import Late
from typer.testing import CliRunner

from summeval_nb import Verdict, metric_card, rouge_score
from summeval_nb.agreement import MetricCard
from summeval_nb.agreement.card import GOOD, KINDS, MARKS, ORDER, OTHER, _verdict, card_items, changed
from summeval_nb.cli import app

plt = Late("matplotlib.pyplot")

ITEMS = card_items(None, None, np.random.default_rng(0))
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


# Blind spots


@pytest.mark.parametrize("seed", range(5))
def test_an_oracle_has_no_blind_spot(seed):
    found = card(oracle, seed=seed)
    assert found.blind_spots == []
    assert {row["verdict"] for row in found.rows()} == {"keeps", "sees"}


def test_an_oracle_may_have_its_better_side_below():
    assert card(lambda candidate, references: 3 - oracle(candidate, references)).blind_spots == []


PLANTS = {"number changed": 1.0, "negation": 1.0, "roles exchanged": 1.0, "citation marks": 0.6, "padding": 1.3}
PLANTS |= {"wrappers": 1.4, "date forms": 0.5, "white space": 0.7, "repetition": 0.95, "truncation": 1.0}


@pytest.mark.parametrize("change", PLANTS)
def test_a_planted_blind_spot_is_named_and_no_other(change):
    assert card(planted(change, PLANTS[change])).blind_spots == [change]


def test_a_metric_that_reads_the_first_reference_is_named():
    firsts = {own[GOOD]["references"][0] for own in TEXTS}

    def first(candidate, references):
        return oracle(candidate, references) - 0.3 * (references[0] not in firsts)

    assert card(first).blind_spots == [ORDER]


def test_two_blind_spots_are_both_named():
    inner = planted("negation", 1.0)

    def metric(candidate, references):
        return 0.4 if label(candidate, references) == "wrappers" else inner(candidate, references)

    assert card(metric).blind_spots == ["wrappers", "negation"]


def test_a_bag_of_words_cannot_see_roles():
    row = next(row for row in card("rouge1").rows() if row["change"] == "roles exchanged")
    assert row["effect"] == 0 and row["verdict"] == "blind"
    assert row["low"] is row["high"] is None and row["reason"] == "all 46 values are equal"


def test_recall_does_not_see_padding():
    def recall(candidate, references):
        return rouge_score(candidate, references, types=["rouge1"])["rouge1"].recall

    assert {"padding", "repetition"} <= {*card(recall).blind_spots}


def test_a_metric_that_scores_all_alike_is_blind_to_another_text():
    found = card(lambda candidate, references: 0.5)
    assert found.blind_spots == [OTHER] and found.spread == 0
    assert {row["verdict"] for row in found.rows()} == {"blind", "undecided"}
    assert all(row["share"] is None and row["right"] is None for row in found.rows())


# The rule


@pytest.mark.parametrize(
    ("kind", "low", "high", "said"),
    [
        ("invariance", -0.09, 0.09, "keeps"),
        ("invariance", -0.1, 0.0, "undecided"),
        ("invariance", -0.3, -0.1, "moves"),
        ("invariance", 0.1, 0.3, "moves"),
        ("invariance", -0.3, 0.3, "undecided"),
        ("direction", -0.3, -0.1, "sees"),
        ("direction", -0.3, -0.05, "undecided"),
        ("direction", -0.09, 0.0, "blind"),
        ("direction", 0.2, 0.5, "blind"),
    ],
)
def test_the_verdict_comes_from_the_interval(kind, low, high, said):
    assert _verdict(kind, low, high, 0.1) == said


def test_effects_are_means_over_items():
    found = {row["change"]: row for row in card(lambda candidate, references: len(candidate)).rows()}
    own = changed(ITEMS, int(np.random.default_rng(0).integers(len(MARKS))))
    for change in KINDS:
        by_hand = [len(one[change]["candidate"]) - len(one[GOOD]["candidate"]) for one in own]
        assert found[change]["effect"] == pytest.approx(np.mean(by_hand))
        if found[change]["low"] is not None:
            assert found[change]["low"] < found[change]["effect"] < found[change]["high"]


def test_shares_and_right_are_parts_of_the_spread():
    found = card(oracle)
    for row in found.rows():
        assert row["share"] == pytest.approx(row["effect"] / found.spread)
        assert row["share_low"] is None or row["share_low"] < row["share"] < row["share_high"]
        assert row["right"] > 0.9
    assert next(row for row in found.rows() if row["change"] == OTHER)["share"] == pytest.approx(-1)


@pytest.mark.parametrize(("limit", "margin", "decided"), [(29, 0.1, False), (30, 0.1, True), (29, 0.2, True)])
def test_few_items_decide_nothing(limit, margin, decided):
    rows = [row for row in card(oracle, limit=limit, margin=margin).rows() if row["change"] != OTHER]
    assert {row["n"] for row in rows} == {limit}
    assert all((row["verdict"] != "undecided") == decided for row in rows)
    assert decided or {row["reason"] for row in rows} == {"needs 30 items"}


def test_one_seed_gives_one_card():
    first, again, other = card("chrf"), card("chrf"), card("chrf", seed=1)
    assert first.to_dict() == again.to_dict() and first.signature != other.signature
    assert first.rows()[0]["effect"] != other.rows()[0]["effect"]  # other marks


# What has no score


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


def test_a_metric_that_stops_at_one_text_scores_the_others():
    def stops(candidate, references):
        if "Norwind" in candidate:
            raise ValueError("cannot read this")
        return rouge_score(candidate, references, types=["rouge1"])

    found = card(stops)
    assert all(row["missing"] in (1, 2) for row in found.rows())  # one, and one that would be another's text
    assert found.rows()[0]["reason"] == "ValueError: cannot read this"


def test_a_metric_that_never_scores_says_why():
    with pytest.raises(ValueError, match=r"scored 0 of 46 .*ZeroDivisionError: division by zero"):
        card(lambda candidate, references: 1 / 0)


def test_what_is_missing_on_the_machine_is_raised():
    def metric(candidate, references):
        raise ImportError("no torch")

    with pytest.raises(ImportError, match="no torch"):
        card(metric)


# Metrics of every form


def test_arguments_get_texts_by_their_names():
    seen = []

    def copied(text, summary):
        seen.append((text, summary))
        return len({*summary.split()} & {*text.split()}) / len(summary.split())

    found = card(copied)
    assert [row["change"] for row in found.rows()][3] == "order of sentences"
    assert not {*WORSE} & {row["change"] for row in found.rows()}
    assert all(isinstance(text, str) and isinstance(summary, str) for text, summary in seen)


def test_other_names_are_refused():
    with pytest.raises(ValueError, match="reads hypothesis, gold, which items have not"):
        card(lambda hypothesis, gold: 1.0)


class Words:
    """A checker: supported is what the evidence says with the same words."""

    fingerprint, threshold = "same-words", 0.5

    def check_many(self, pairs, *, vectors=None):
        def known(text):
            return {*text.lower().replace(".", " ").replace(",", " ").split()}

        shares = [len(known(text) & known(" ".join(evidence))) / len(known(text)) for evidence, text in pairs]
        return [Verdict(probability=share) for share in shares]


def test_a_checker_is_judged_by_its_decisions():
    found = card(Words(), limit=12, margin=0.3)
    assert found.metric == "Words" and found.spread > 0.9
    assert {"number changed", "roles exchanged"} <= {*found.blind_spots}
    assert "citation marks" not in found.blind_spots  # evaluate takes them away


def test_checkers_have_names():
    found = card("words", limit=12, margin=0.3)
    assert found.blind_spots == list(FALSE) and len(found.rows()) == 9


# Items


def words(text):
    return sorted(re.findall(r"\w[\w.,]*\w|\w", text.lower()))


def test_items_are_changed_as_they_say():
    own = changed(ITEMS, 0)
    assert len(own) >= 40 and len({one[GOOD]["candidate"] for one in own}) == len(own)
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


def test_the_source_holds_what_the_candidate_says():
    for item, one in zip(ITEMS, changed(ITEMS, 0), strict=True):
        text = one[GOOD]["text"].lower()
        assert all(part.lower() in text for part in (item["a"], item["b"], item["number"][0], item["verb"][0]))
        assert item["number"][1].split()[0] not in words(text)
        assert all(item["number"][0] in reference for reference in one[GOOD]["references"])


def grams(text, n=8):
    own = text.lower().split()
    return {tuple(own[i : i + n]) for i in range(len(own) - n + 1)}


def test_references_have_other_words_and_lengths():
    for one in changed(ITEMS, 0):
        good, references = one[GOOD]["candidate"], one[GOOD]["references"]
        assert not any(grams(good) & grams(reference) for reference in references)
        assert any(len(reference.split()) != len(good.split()) for reference in references)


MINE = {
    "candidate": "{a} {verb} {b} {number} cats on {date}. {a.__class__}",
    "references": ["{a} gave cats to {b}: {number}."],
    "source": ["On {date} {a} gave {b} {number} cats."],
    "a": "<b>Ann</b>",
    "b": "Bob",
    "number": ["3", "4"],
    "verb": ["gave", "did not give"],
    "date": "2020-02-13",
}


def test_own_items_are_texts_and_never_code():
    found = card("rouge1", items=[MINE, MINE | {"a": "Cy"}])
    example = found.rows()[0]["example"]
    assert example.startswith("<b>Ann</b> gave Bob 3 cats on 13 February 2020. {a.__class__}")
    assert "<b>Ann" not in found._repr_html_() and "&lt;b&gt;Ann" in found._repr_html_()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"margin": 0}, ValueError, "margin must lie between 0 and 1, not 0"),
        ({"margin": "5%"}, TypeError, "margin must be a number"),
        ({"limit": 1}, ValueError, "limit must be at least 2"),
        ({"n_resamples": 0}, ValueError, "n_resamples must be at least 2"),
        ({"confidence": 1}, ValueError, "confidence must lie between 0 and 1"),
        ({"items": "cats"}, TypeError, "items must be a list of mappings, not str"),
        ({"items": []}, ValueError, "a card needs two items at least, not 0"),
        ({"items": [MINE]}, ValueError, "a card needs two items at least, not 1"),
        ({"items": [MINE, 3]}, ValueError, r"items\[1\] must map candidate, a, b, .* not be 3"),
        ({"items": [{"a": "Ann"}]}, ValueError, r"items\[0\] must map candidate"),
        ({"items": [MINE | {"candidate": "{a} {verb} {b} {number} cats"}]}, ValueError, r"write \{date\} where it"),
        ({"items": [MINE | {"number": ["3", "3"]}]}, ValueError, "number must hold two texts, the right and a wrong"),
        ({"items": [MINE | {"verb": ["gave"]}]}, ValueError, "verb must hold two texts"),
        ({"items": [MINE | {"references": []}]}, ValueError, "references must hold a text at least"),
        ({"items": [MINE | {"a": 3}]}, TypeError, r"items\[0\], a must be"),
        ({"items": [MINE | {"date": "2020-02-12"}]}, ValueError, "its day from 13 on, not '2020-02-12'"),
        ({"items": [MINE | {"date": "13 Feb"}]}, ValueError, "date must be like '2021-03-14'"),
        ({"metric": "rogue1"}, ValueError, "did you mean 'rouge1'"),
        ({"metric": "answers"}, ValueError, "answers reads .*question.*, which items have not"),
        ({"metric": 3}, TypeError, "metric must be a metric, not int"),
    ],
)
def test_bad_input_is_named_with_its_remedy(options, error, said):
    with pytest.raises(error, match=said):
        card(**({"metric": "rouge1"} | options))


# How it is shown


def test_a_card_is_a_table_a_text_and_data():
    found = card("rouge1")
    assert isinstance(found, MetricCard) and len(found.to_frame()) == len(found.rows()) == 12
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["blind_spots"] == found.blind_spots
    lines = found.to_markdown().splitlines()
    assert lines[0] == "## Metric card: rouge1" and sum(line.startswith("| ") for line in lines) == 14
    assert "Blind spots: wrappers" in found.to_markdown() and str(found.signature) in repr(found)


def test_the_signature_holds_every_choice():
    usual, others = card("rouge1"), [{"margin": 0.2}, {"seed": 3}, {"limit": 40}, {"n_resamples": 99}]
    signatures = [str(usual.signature), *(str(card("rouge1", **choice).signature) for choice in others)]
    assert all(first != second for first, second in pairwise(sorted(signatures)))


def test_names_of_metrics_are_escaped():
    def metric(candidate, references):
        return oracle(candidate, references)

    metric.__name__ = "<script>$x$|"
    found = card(metric)
    assert "<script>" not in found._repr_html_() and "<script>" not in found.to_markdown()
    found.plot()
    plt.close("all")


@pytest.mark.parametrize("metric", ["bleu", "length"])
def test_the_picture_says_each_verdict_in_words(metric):
    found = card(metric)
    figure = found.plot()
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.texts] == [row["verdict"] for row in found.rows()]
    assert len(ax.get_yticklabels()) == len(found.rows())
    plt.close(figure)


def test_a_metric_may_be_an_object_with_choices():
    class Constant:
        columns = {"candidate": "text", "references": "texts"}  # noqa: RUF012

        def score_many(self, candidates, references):
            return [oracle(*pair) for pair in zip(candidates, references, strict=True)]

    assert card(Constant()).blind_spots == []


def test_a_card_from_the_shell(tmp_path):
    page = tmp_path / "card.md"
    done = CliRunner().invoke(app, ["card", "rouge1", "--markdown", str(page)])
    assert done.exit_code == 0 and "Blind spots: wrappers, negation, roles exchanged." in done.stdout
    assert "| roles exchanged | direction | 46 |" in page.read_text(encoding="utf-8")
    told = CliRunner().invoke(app, ["card", "rouge1", "--json"])
    assert json.loads(told.stdout) == card("rouge1").to_dict()


def test_the_shell_names_an_unknown_metric():
    done = CliRunner().invoke(app, ["card", "rogue1"])
    assert done.exit_code == 2 and "did you mean 'rouge1'" in done.output
