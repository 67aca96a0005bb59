"""How a report on an answer reads: its first line, its labels in words, its numbers with intervals."""

import pytest

from summeval_nb import evaluate_answer, evaluate_answers
from summeval_nb.judged._answer_report import COLUMNS, as_frame, flag_words, mean_interval, rate
from summeval_nb.judged.answers import correctness
from summeval_nb.judged.judging import Entailment, Flag

YES, NO, DENIED = (Entailment(label=label) for label in ("entailed", "neutral", "contradicted"))
CONTEXT = "The bridge opened in 1931. It is 1,149 metres long. Some 40,000 cars cross it every day."
TRUTH = "The bridge opened in 1931. Some 40,000 cars cross the bridge every day."

VERDICTS = {
    "right": "Some 40,000 cars cross the bridge every day. The bridge opened in 1931.",
    "partly right": "The bridge opened in 1931.",
    "wrong": "The bridge opened in 1954. Some 70,000 cars cross the bridge every day.",
    "refused": "I cannot answer this from the text.",
    "the judge cannot tell": "Whales were seen near the coast.",
}


@pytest.mark.parametrize(("verdict", "answer"), VERDICTS.items(), ids=VERDICTS)
def test_the_first_line_is_a_verdict(verdict, answer):
    report = evaluate_answer(CONTEXT, "What do you know about the bridge?", TRUTH, answer)
    assert report.verdict == verdict == report.row()["verdict"], report
    assert repr(report).startswith(f"{verdict}: ") and f"<p><strong>{verdict}: " in report._repr_html_()


def test_an_answer_to_what_has_none_is_wrong_and_a_double_refusal_is_said():
    unanswerable = "The text does not say."
    report = evaluate_answer(CONTEXT, "Who paid?", unanswerable, "The king of Spain paid for it.")
    assert report.first_line == "wrong: it answers what, by the ground truth, has no answer"
    both = evaluate_answer(CONTEXT, "Who paid?", unanswerable, "I don't know.")
    assert both.first_line.endswith("and so does the ground truth")
    empty = evaluate_answer(CONTEXT, "Who paid?", unanswerable, "")
    assert empty.verdict == "the judge cannot tell"


@pytest.mark.parametrize(
    ("answer", "truth", "expected"),
    [
        ([YES], [YES], (1.0, 1.0, 1.0, 0.0)),
        ([YES, NO], [YES, DENIED, NO, NO], (1 / 2, 1 / 4, 1 / 3, 0.0)),
        ([NO], [NO], (0.0, 0.0, 0.0, 0.0)),
        ([DENIED], [DENIED], (0.0, 0.0, 0.0, 1.0)),
        ([YES, DENIED, NO, NO], [DENIED], (1 / 4, 0.0, 0.0, 1 / 4)),
        ([YES, Entailment(label=None, reason="time-out")], [YES], (1.0, 1.0, 1.0, 0.0)),
    ],
)
def test_correctness_by_hand(answer, truth, expected):
    found = correctness(answer, truth)
    assert (found.precision, found.recall, found.f1, found.contradicted) == pytest.approx(expected)


def test_correctness_without_a_judged_statement_is_undefined_and_says_why():
    found = correctness([YES], [Entailment(label=None, reason="time-out")])
    assert found.f1 is None and found.reason == "no statement of the ground truth could be judged"


def test_the_labels_are_three_and_shown_in_words():
    report = evaluate_answer(
        CONTEXT, "What about the bridge?", TRUTH, VERDICTS["wrong"] + " Whales were seen near the coast."
    )
    counts = report.correctness.labels["answer"]
    assert set(counts) == {"entailed", "neutral", "contradicted"} and counts["contradicted"] >= 1
    assert counts == {
        label: [tag.label for tag in report.inferences["answer_given_truth"].tags].count(label) for label in counts
    }
    assert "not said" in report._repr_html_() and ">neutral<" not in report._repr_html_()


def test_a_table_counts_verdicts_and_has_correctness_among_its_numbers():
    rows = [
        {"context": CONTEXT, "question": "And the bridge?", "ground_truth": TRUTH, "answer": a}
        for a in VERDICTS.values()
    ]
    table = evaluate_answers(rows, progress=False)
    summary = {row["measure"]: row for row in table.summary()}
    assert all(summary[f"verdict: {verdict}"]["value"] == 1 / 5 for verdict in VERDICTS)
    assert summary["correctness"]["n"] == 4 and table.mean("correctness") == pytest.approx(
        summary["correctness"]["value"]
    )


def test_flags_in_words():
    assert flag_words("answer", Flag(value=True, probability=0.97)) == "answer: a refusal (0.97)"
    assert flag_words("answer", Flag(value=None, reason="too short")) == "answer: undecided (too short)"


def test_intervals_and_rates():
    assert mean_interval([0.5], 0.95, 0) == (None, None) and mean_interval([0.5, 0.5], 0.95, 0) == (0.5, 0.5)
    assert rate("refusals", 0, 0, 0.95)["value"] is None and rate("refusals", 3, 10, 0.95)["value"] == 0.3
    assert list(as_frame([]).columns) == COLUMNS
