"""Judges on labelled sets: by hand, blind ones, failing ones, costs, the shell."""

import json

import pytest

from summeval_nb import ScriptedBackend
from summeval_nb.agreement import benchmark_judge
from summeval_nb.agreement.bench import SETS, Case, ask_judge, draw_cases
from summeval_nb.evidence import LabelledSentence
from summeval_nb.judged import LLMJudge
from summeval_nb.judged.embedded import BulkJudge
from summeval_nb.judged.judging import Entailment, Flag, Statement

ARTICLES = [f"Text {n}. It rained in Oslo. The mayor resigned in May." for n in range(6)]
MINE = [
    LabelledSentence(text, sentence, label)
    for text in ARTICLES
    for sentence, label in (("It rained.", True), ("It snowed.", False), ("The mayor stayed.", False))
]


class Scripted(BulkJudge):
    """Answers by a function of the premise, the statement and its place in the list."""

    fingerprint = "scripted"

    def __init__(self, say):
        self.say, self.asked = say, []

    def many(self, task, items):
        self.asked.append((task, items))
        if task == "entail":
            return [[self.say(premise, own, place) for place, own in enumerate(all_own)] for premise, all_own in items]
        said = [self.say(text, "", 0) for (text,) in items]
        return said if task == "refusal" else [[Statement(text=part) for part in parts] for parts in said]


def by_text(premise, statement, place):
    label = "entailed" if "rained" in statement else "neutral" if "snowed" in statement else "contradicted"
    return Entailment(label=label, probability=float(label == "entailed"))


def row_of(judge, sets=None, **options):
    (row,) = benchmark_judge(judge, sets or {"mine": MINE}, **options).rows()
    return row


def test_a_perfect_judge_and_one_worked_by_hand():
    found = benchmark_judge(Scripted(by_text), {"mine": MINE})
    (row,) = found.rows()
    assert row["right"] == row["kappa"] == row["right_high"] == 1 and row["right_low"] < 0.9
    assert row["kappa_low"] is None and row["reason"].startswith("no interval: kappa")
    assert row["calibration_error"] == row["order_changes"] == row["failed"] == 0 and found.wrong_rows() == []
    # of eighteen answers twelve are right; both say "entailed" twelve and six times
    judge = Scripted(lambda p, s, place: Entailment(label="neutral" if "stayed" in s else "entailed"))
    found = benchmark_judge(judge, {"mine": MINE})
    (row,) = found.rows()
    assert row["right"] == pytest.approx(12 / 18)
    chance = (12 / 18) * (6 / 18) + (6 / 18) * (12 / 18)
    assert row["kappa"] == pytest.approx((12 / 18 - chance) / (1 - chance))
    assert row["calibration_error"] is None and {wrong["text"] for wrong in found.wrong_rows()} == {"It snowed."}
    assert found.wrong_rows()[0]["label"] == "not entailed" and found.wrong_rows()[0]["said"] == "entailed"


def test_whole_texts_are_drawn():
    """Three texts read rightly and three wrongly: six statements of one kind are three draws, not eighteen."""
    truth = {"It rained.": True, "It snowed.": False, "The mayor stayed.": False}

    def say(premise, statement, place):
        right = int(premise.split()[1].rstrip(".")) < 3
        return Entailment(label="entailed" if truth[statement] == right else "neutral")

    row = row_of(Scripted(say))
    assert row["right"] == 0.5 and row["right_low"] < 0.2 and row["right_high"] > 0.8


def test_the_order_is_turned_within_a_text_and_labels_are_two_or_three():
    first = Scripted(lambda p, s, place: Entailment(label="entailed" if place == 0 else "neutral"))
    row = row_of(first)
    assert row["order_changes"] == pytest.approx(2 / 3)
    forwards, backwards = (items for task, items in first.asked[:2])
    assert [(p, s[::-1]) for p, s in forwards] == list(backwards)
    judge = Scripted(lambda p, s, place: Entailment(label="contradicted"))
    cases = [Case("entail", "x", "y", "neutral"), Case("entail", "x", "z", "not entailed", binary=True)]
    assert [entailment.said for entailment in ask_judge(judge, cases, None)] == ["contradicted", "not entailed"]


def test_failures_are_counted_and_never_wrong():
    def say(premise, statement, place):
        if premise.startswith("Text 0"):
            return Entailment(label=None, reason="I cannot read this")
        return by_text(premise, statement, place)

    row = row_of(Scripted(say))
    assert (row["n"], row["failed"], row["right"]) == (18, 3, 1) and "I cannot read this" in row["reason"]

    class Short(Scripted):
        def many(self, task, items):
            return [[Entailment(label="entailed")] for _ in items]

    row = row_of(Short(by_text))
    assert row["failed"] == 18 and "1 answers to 3 statements" in row["reason"] and row["right"] is None
    row = row_of(LLMJudge(ScriptedBackend(lambda prompt: "no JSON")), "pairs", limit=6)
    assert row["failed"] == row["n"] == 6 and row["calls"] >= 1 and row["tokens"] is not None


def test_refusals_and_splits():
    labels = {case.text: case.truth for case in SETS["refusals"]()}
    judge = Scripted(lambda text, _, __: Flag(value=labels[text] == "refusal", probability=0.5))
    row = row_of(judge, "refusals")
    assert row["right"] == row["kappa"] == 1 and row["calibration_error"] == 0 and row["order_changes"] is None
    undecided = Scripted(lambda text, _, __: Flag(value=None, reason="who knows"))
    assert row_of(undecided, "refusals")["failed"] == 40
    splits = {case.text: case.truth for case in SETS["splits"]()}
    row = row_of(Scripted(lambda text, _, __: [sentence + "." for sentence in splits[text]]), "splits")
    assert row["right"] == 1 and row["kappa"] is None and row["reason"] == ""
    assert row_of(Scripted(lambda text, _, __: [text]), "splits")["right"] == pytest.approx(34 / 65)


def test_a_store_keeps_answers(tmp_path):
    judge, store = Scripted(by_text), tmp_path / "answers.sqlite"
    first, asked = row_of(judge, store=store), len(judge.asked)
    assert row_of(judge, store=store) | {"seconds": 0} == first | {"seconds": 0} and len(judge.asked) == asked


def test_sets_of_the_package_and_the_embedded_judge_agrees_better_than_chance():
    few = draw_cases(SETS["sentences"](), 20, 3)
    assert len(few) == 20 and len({case.premise for case in few}) == 2
    assert few == draw_cases(SETS["sentences"](), 20, 3) != draw_cases(SETS["sentences"](), 20, 4)
    row = row_of("embedded", "pairs")
    assert row["kappa_low"] > 0.2 and row["failed"] == 0 and row["order_changes"] == 0


def test_pages_escape_names_show_no_password_and_omit_empty_columns():
    found = benchmark_judge({"<b>": Scripted(by_text)}, {"<i>": MINE}, n_resamples=0)
    assert "<b>" not in found._repr_html_() and "calls" not in found.wide_rows()[0]
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["right"] == 1
    assert found.plot().axes and len(found.to_frame()) == 1
    found = benchmark_judge({"http://me:secret@host/v1": Scripted(by_text)}, {"mine": MINE}, n_resamples=0)
    assert "secret" not in repr(found) and "scripted" in str(found.signature)
