"""Retrieval: numbers worked by hand, what is undefined, failures, one judgement for all, tables, runs, a model."""

import math

import pytest

import summeval_nb as s
from summeval_nb.judged.embedded import BulkJudge
from summeval_nb.judged.judging import Entailment, Flag, JudgeFailure, Question, Resolution, as_statement
from summeval_nb.judged.rag import MEASURES

QUESTION = "When did the Kestrel Bridge open, and how long is it?"
TRUTH = "The Kestrel Bridge opened in May 1931. It is 1,149 metres long."
PASSAGES = [
    "The Kestrel Bridge opened to traffic in May 1931. Its towers are made of granite.",
    "The harbour museum opened in 1988 and shows ships. Entry is free on Sundays.",
    "The bridge is 1,149 metres long. Some 40,000 cars cross it every day.",
    "A ferry crossed the river until the Kestrel Bridge was opened in 1932.",
]
ANSWER = "The Kestrel Bridge opened in 1932. It is 1,149 metres long. The harbour museum opened in 1988."
ROW = {"question": QUESTION, "contexts": PASSAGES, "answer": ANSWER, "ground_truth": TRUTH}


class Letters(BulkJudge):
    """A judge whose texts are letters: a premise entails what it holds, capitals contradict, `?` fails, `!` refuses."""

    fingerprint = "letters"

    def __init__(self):
        self.asked = []

    def many(self, task, items):
        self.asked += [(task, item) for item in items]
        return [getattr(self, f"_{task}")(*item) for item in items]

    def _resolve(self, text, units):
        return Resolution(units=tuple(units))

    def _statements(self, text):
        return [as_statement(part, text) for part in text.strip(".").split()]

    def _refusal(self, text):
        return JudgeFailure("refusal", "broken") if "~" in text else Flag(value="!" in text)

    def _entail(self, premise, statements):
        if "#" in premise:
            return JudgeFailure("entail", "the premise broke it")
        return [self._one(premise, statement) for statement in statements]

    def _one(self, premise, statement):
        if "?" in statement:
            return Entailment(label=None, reason="unreadable")
        against = "contradicted" if statement.upper() in premise else "neutral"
        return Entailment(label="entailed" if statement in premise else against)

    def _questions(self, text, phrases):
        return [Question(text=f"what is {text}", statement=text)]


def ask(name, judge=None, **row):
    judge, columns = judge or Letters(), MEASURES[name].columns
    return getattr(s.judged, name)(**{column: row[column] for column in columns}, judge=judge)


def row(contexts=(), ground_truth="a b", answer="a b", question="Q"):
    return {"question": question, "contexts": list(contexts), "ground_truth": ground_truth, "answer": answer}


def test_what_is_undefined_says_why_and_a_refusal_is_not_relevant():
    for name, given, reason in [
        ("context_precision", row([]), "nothing was retrieved"),
        ("context_relevance", row([]), "nothing was retrieved"),
        ("context_precision", row(["a"], ground_truth=" "), "the ground truth is empty"),
        ("context_recall", row(["a"], ground_truth="!"), "the ground truth is a refusal"),
        ("answer_faithfulness", row(["a"], answer=""), "the answer is empty"),
        ("answer_faithfulness", row(["a"], answer="a !"), "the answer is a refusal"),
        ("noise_sensitivity", row(["a"], answer="a !"), "the answer is a refusal"),
        ("noise_sensitivity", row(["a"], ground_truth="a !"), "the ground truth is a refusal"),
        ("answer_relevancy", row(answer=""), "the answer is empty"),
        ("answer_relevancy", row(question=""), "the question is empty"),
        ("context_relevance", row(["a"], question=""), "the question is empty"),
        ("answer_relevancy", row(answer="a b c"), "3 of 3 statements could not be judged: “a” is too short"),
    ]:
        metric = s.load_metric(name, judge=Letters())
        table = metric.score_many(*([given[column]] for column in metric.columns))
        assert table[0].score is None and table[0].reason.startswith(reason), name
        assert set(table[0].numbers.values()) <= {None} and table.outcomes()[0].status == "undefined"
    found = ask("answer_relevancy", **row(answer="I cannot say !"))
    assert found.score == 0 and found.notes == ("the answer is a refusal",)


def test_failed_statements_are_left_out_and_counted_and_the_printed_form_counts_what_is_undecided():
    found = ask("context_recall", **row(["a"], ground_truth="a b c?"))
    assert found.score == 1 / 2 and found.n_failed == 1 and found.statements[2].counts is None
    assert ask("noise_sensitivity", **row(["a"], answer="a z c?")).numbers["made_up"] == 1 / 2
    worse = s.judged.context_recall("q", ["a"], "a b c?", judge=Letters(), max_failed=0.3)
    assert worse.score is None and worse.reason == "1 of 3 statements could not be judged: unreadable"
    found = ask("context_recall", **row(["a", "C"], ground_truth="a b c"))
    assert found.score == pytest.approx(1 / 3)
    assert "1 of 3 statements neither entailed nor contradicted, 0 failed" in repr(found)
    assert "1 of 3 statements neither" in found._repr_html_()
    assert "neither" not in repr(ask("context_recall", **row(["a b"], ground_truth="a b")))


def test_a_passage_that_cannot_be_judged_is_not_ranked_and_the_run_says_what_failed():
    found = ask("context_precision", **row(["a", "z #", "b"]))
    assert [passage.relevant for passage in found.passages] == [True, None, True]
    assert found.score == 1 and found.passages[1].score is None
    for name, given in (("context_recall", row(["z #"])), ("answer_faithfulness", row(["a"], answer="~"))):
        metric = s.load_metric(name, judge=Letters())
        (outcome,) = metric.score_many(*([given[column]] for column in metric.columns)).outcomes()
        assert outcome.status == "failed" and outcome.score is None, name


def test_a_thing_is_asked_once_for_all_measures():
    judge = Letters()
    s.evaluate_rag([row(["a b", "c"], answer="a c"), row(["a b", "c"], answer="a c")], judge=judge, progress=False)
    pairs = [(item[0], statement) for task, item in judge.asked if task == "entail" for statement in item[1]]
    assert len(pairs) == len(set(pairs)) and len(pairs) >= 6
    others = [(task, str(item)) for task, item in judge.asked if task != "entail"]
    assert len(others) == len(set(others)) > 6


def test_a_table_opens_into_passages_and_statements_and_pages_are_escaped():
    found = s.evaluate_rag([row(["a", "x"]), row([])], judge=Letters(), progress=False)
    means = {line["measure"]: line["value"] for line in found.summary()}
    assert means["context_precision"] == 1 and means["context_recall"] == 0.25
    metric = s.load_metric("context_recall", judge=Letters())
    recall = metric.score_many(["Q", "Q"], [["a", "x"], []], ["a b", "a b"])
    assert [row["score"] for row in recall[0].passage_rows()] == [0.5, 0] and len(recall.to_frame(by="sentence")) == 4
    assert list(recall.arrays()) == ["score", "statement_share"] and math.isclose(recall.mean(), 0.25)
    assert found[0].why_not and "nothing was retrieved" in found[1].why_not and not any(found.reasons())
    assert found.n_undefined == 0 and found.scores.tolist() == [0.5, 0]
    assert "context_precision" in repr(found) and "RetrievalScore(context_recall" in repr(recall[0])
    given = row(["a <script>alert(1)</script>"], ground_truth="a <b>")
    assert "<script>alert" not in s.evaluate_rag([given], judge=Letters(), progress=False)._repr_html_()


def test_a_passage_of_signs_is_no_passage():
    said = "The report was written by Ann Lee."
    told = {"question": "Who wrote the report?", "answer": said, "ground_truth": said}
    contexts = [[said, passage] for passage in ("", "???", "— —", "---")] + [[f"{said} …"], ["???"]]
    table = s.evaluate_rag([told | {"contexts": passages} for passages in contexts], progress=False)
    rows = [{name: value for name, value in row.items() if name != "answer_relevancy"} for row in table.rows()]
    assert rows[1:5] == rows[:1] * 4 and rows[0]["context_relevance"] == 1
    assert rows[5]["context_precision"] == 0 and rows[5]["context_relevance"] is None
    judge = Letters()
    assert s.judged.context_precision("q", ["a", "---"], "a", judge=judge).score == 1
    assert [item[0] for task, item in judge.asked if task == "entail"] == ["a"]
