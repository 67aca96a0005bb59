"""How a report on an answer reads: its first line, its labels in words, its numbers with intervals."""

import re
from itertools import combinations_with_replacement

import pytest

from summeval_nb import evaluate_answer, evaluate_answers
from summeval_nb.ground.results import Sentence, Signature
from summeval_nb.judged import _answer_report, answers
from summeval_nb.judged._answer_report import COLUMNS, PAIRS, as_frame, flag_words, mean_interval, rate
from summeval_nb.judged._answer_stages import Unit
from summeval_nb.judged.answers import (
    AnswerReport,
    Hypothesis,
    Inference,
    JudgedStatement,
    correctness,
    hypothesis_score,
)
from summeval_nb.judged.judging import Entailment, Flag, Statement

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


FAILED = Entailment(label=None, reason="time-out")
ANSWERED, REFUSED, UNDECIDED = Flag(value=False), Flag(value=True), Flag(value=None, reason="time-out")


def report_of(answer, truth, *, answer_refused=ANSWERED, truth_refused=ANSWERED, reason=""):
    """A report whose pairs of answer and ground truth have these tags; with a reason, no pair was judged."""
    unit = Unit(Sentence("It rained.", 0, 10), "It rained.")

    def inference(name, tags):
        if reason or not tags:
            return Inference(name=name, reason=reason or "there is no statement to judge")
        own = tuple(JudgedStatement(statement=Statement(text="It rained."), entailment=tag) for tag in tags)
        return Inference(name=name, hypotheses=(Hypothesis(unit=unit, statements=own),), score=hypothesis_score(tags))

    tags = dict(zip(PAIRS, ([], answer, truth), strict=True))
    return AnswerReport(
        inferences={name: inference(name, own) for name, own in tags.items()},
        question="How was it?",
        ground_truth="It rained.",
        answer="It rained.",
        context=(),
        answer_refused=answer_refused,
        truth_refused=truth_refused,
        signature=Signature({"metric": "answer"}),
    )


def mixes(most=3):
    """All mixes of one to three labels, without regard to order."""
    sizes = range(1, most + 1)
    return [list(one) for size in sizes for one in combinations_with_replacement((YES, NO, DENIED), size)]


@pytest.mark.parametrize("truth", mixes(), ids=lambda tags: "-".join(tag.label[:4] for tag in tags))
@pytest.mark.parametrize("answer", mixes(), ids=lambda tags: "-".join(tag.label[:4] for tag in tags))
def test_the_verdict_is_never_at_odds_with_the_counts_beside_it(answer, truth):
    verdict, _, told = report_of(answer, truth).first_line.partition(": ")
    said, expected = map(int, re.match(r"(\d+) of (\d+) expected statements are said", told).groups())
    agrees = int(found[1]) if (found := re.search(r"(\d+) of \d+ that it says agrees?", told)) else 0
    denied = (
        int(found[1]) if (found := re.search(r"(\d+)(?: of \d+ that it says)? (?:is|are) contradicted", told)) else 0
    )
    labels = [tag.label for tag in answer]
    assert (said, expected) == (sum(tag is YES for tag in truth), len(truth))
    assert denied == labels.count("contradicted") and agrees == (0 if said else labels.count("entailed"))
    by_hand = {
        "right": said == expected and not denied,
        "partly right": said > 0 and (said < expected or denied > 0),
        "wrong": said == 0 and denied > 0,
        "the judge cannot tell": said == 0 and denied == 0,
    }
    assert [name for name, holds in by_hand.items() if holds] == [verdict]


FIRST_LINES = [
    # answer's statements, expected statements, first line
    ([YES], [YES], "right: 1 of 1 expected statements are said"),
    ([YES, NO], [YES], "right: 1 of 1 expected statements are said"),
    ([YES, DENIED], [YES], "partly right: 1 of 1 expected statements are said, 1 of 2 that it says is contradicted"),
    ([YES], [YES, DENIED], "partly right: 1 of 2 expected statements are said"),
    (
        [YES],
        [NO],
        "the judge cannot tell: 0 of 1 expected statements are said, 1 of 1 that it says agrees with the ground truth",
    ),
    ([NO], [DENIED], "the judge cannot tell: 0 of 1 expected statements are said"),
    ([DENIED, DENIED], [NO], "wrong: 0 of 1 expected statements are said, 2 of 2 that it says are contradicted"),
    (
        [YES, DENIED],
        [NO],
        "wrong: 0 of 1 expected statements are said, "
        "1 of 2 that it says agrees with the ground truth, 1 is contradicted",
    ),
    ([YES, FAILED], [YES, FAILED], "right: 1 of 1 expected statements are said, 2 could not be judged"),
    ([YES], [FAILED], "the judge cannot tell: no statement of the ground truth could be judged"),
]


@pytest.mark.parametrize(("answer", "truth", "line"), FIRST_LINES)
def test_first_lines_word_for_word(answer, truth, line):
    report = report_of(answer, truth)
    if truth == [FAILED]:  # a pair without a score has its own reason
        report = report_of(answer, truth, reason="no statement of the ground truth could be judged")
    assert report.first_line == line


NO_ANSWER = "wrong: it answers what, by the ground truth, has no answer"


@pytest.mark.parametrize(
    ("answer_refused", "truth_refused", "unscored", "scored"),
    [
        (ANSWERED, ANSWERED, "the judge cannot tell: why not", "right"),
        (ANSWERED, REFUSED, NO_ANSWER, NO_ANSWER),
        (ANSWERED, UNDECIDED, "the judge cannot tell: why not", "right"),
        (REFUSED, ANSWERED, "refused: the answer declines to answer", "refused"),
        (REFUSED, REFUSED, "refused: the answer declines to answer, and so does the ground truth", "refused"),
        (REFUSED, UNDECIDED, "refused: the answer declines to answer", "refused"),
        (UNDECIDED, ANSWERED, "the judge cannot tell: why not", "right"),
        (UNDECIDED, REFUSED, "the judge cannot tell: why not", "right"),
        (UNDECIDED, UNDECIDED, "the judge cannot tell: why not", "right"),
    ],
)
def test_refusals_come_before_counts_whether_refusals_are_scored_or_not(
    answer_refused, truth_refused, unscored, scored
):
    flags = {"answer_refused": answer_refused, "truth_refused": truth_refused}
    assert report_of([], [], reason="why not", **flags).first_line == unscored
    assert report_of([YES], [YES], **flags).first_line.startswith(scored)


def test_an_answer_that_says_less_than_was_expected_is_not_called_partly_right_when_nothing_expected_is_said():
    truth = "The library is closed during the works, so printing is not possible on any of the three floors."
    report = evaluate_answer(truth, "Can I print in the library?", truth, "Printing is not possible.")
    assert report.first_line == (
        "the judge cannot tell: 0 of 1 expected statements are said, 1 of 1 that it says agrees with the ground truth"
    )


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


@pytest.mark.parametrize("name", ["AnswerTable", "Hypothesis", "Inference", "JudgedStatement"])
def test_the_chapter_hands_on_what_a_report_is_made_of(name):
    assert getattr(answers, name) is getattr(_answer_report, name) and name in _answer_report.__all__


def test_what_was_not_judged_has_no_vote_and_is_counted():
    own = [JudgedStatement(statement=Statement(text="It rained."), entailment=tag) for tag in (YES, NO, FAILED)]
    part = Hypothesis(unit=Unit(Sentence("It rained.", 0, 10), "It rained."), statements=tuple(own))
    pair = Inference(name="answer_given_truth", hypotheses=(part, part))
    assert [one.counts for one in own] == [1, 0, None] and part.score == 0.5
    assert (pair.n_statements, pair.n_failed, pair.tags[:3]) == (6, 2, [YES, NO, FAILED])
    assert Hypothesis(unit=part.unit, statements=(own[2],)).score is None


def test_a_table_holds_its_reports_in_order():
    reports = [report_of([YES], [YES]), report_of([NO], [NO], reason="the context is empty")]
    table = answers.AnswerTable(reports=reports, signature=reports[0].signature)
    assert len(table) == 2 and table[1] is reports[1] and table.n_failed == 0
    assert [one.status for one in table.outcomes()] == ["undefined"] * 2 and table.mean() is None
