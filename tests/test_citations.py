"""Citations: right, swapped, too many, missing and unknown marks, by the rules of Gao et al. (2023)."""

import json

import pytest
from helpers.says import Says

import summeval_nb as s
from summeval_nb.judged import check_citations, check_citations_many

PASSAGES = [
    "The old bridge over the Aire was closed on Monday after an inspection found cracks in two pillars.",
    "Repairs will cost about three million pounds and last until October.",
    "The town museum shows ships and opens on Sundays.",
]
CLOSED, COST = "The old bridge was closed on Monday", "Repairs will cost about three million pounds"


def all_words(evidence, claim):
    """To count by hand: a sentence is supported when all its words stand in the evidence."""
    held, said = ({word.strip(".") for word in text.lower().split()} for text in (" ".join(evidence), claim))
    return "it broke" if "fail" in said else said <= held


def by_words(answer, passages):
    return check_citations(answer, passages, judge=Says(all_words))


MARKED = [  # answer, recall, precision
    (f"{CLOSED} [1]. {COST} [2].", 1, 1),
    (f"{CLOSED}. [1] {COST}. [2]", 1, 1),
    (f"[1] {CLOSED}. [2] {COST}.", 1, 1),
    (f"According to [1], the old bridge was closed on Monday. {COST} (Source 2).", 1, 1),
    (f"Sure! {CLOSED}.¹ {COST}.²\n\nI hope this helps!", 1, 1),
    (f"{CLOSED} [2]. {COST} [1].", 0, 0),
    (f"{CLOSED} [1][3]. {COST} [2].", 1, 2 / 3),
    (f"{CLOSED} [1-3].", 1, 1 / 3),
    (f"{CLOSED}, and repairs will last until October [1-2].", 1, 1),
    (f"{CLOSED}. {COST} [2].", 0.5, 1),
    (f"{CLOSED} [1]. {COST} [7].", 0.5, 0.5),
    ("The old bridge was closed on Friday [1].", 0, 0),
]


def test_recall_and_precision_of_an_answer():
    table = check_citations_many([answer for answer, *_ in MARKED], [PASSAGES] * len(MARKED), progress=False)
    for found, (answer, recall, precision) in zip(table, MARKED, strict=True):
        assert (found.recall, found.precision) == pytest.approx((recall, precision)), answer
        assert found.score == pytest.approx(2 * recall * precision / (recall + precision) if recall else 0)


def test_precision_follows_the_rule_of_the_paper():
    passages = ["red blue", "blue green", "red green", "white"]
    both = by_words("red green [1][2].", passages)  # neither alone, and not without the other
    assert [c.precise for c in both.sentences[0].citations] == [True, True]
    three = by_words("red green [1][2][3].", passages)  # the third alone; without the others it is still said
    assert [c.precise for c in three.sentences[0].citations] == [False, False, True]
    twice = by_words("blue [1][2].", passages)  # each alone: both are right though one would do
    assert (twice.recall, twice.precision) == (1, 1)
    none = by_words("black [1][4].", passages)
    assert (none.recall, none.precision, none.score) == (0, 0, 0)


def test_without_marks_nothing_is_cited_and_no_sentence_to_judge_has_a_reason():
    found = by_words("red. blue.", ["red", "blue"])
    assert (found.score, found.recall, found.precision, found.recall_where_cited) == (0, 0, None, None)
    assert found.reason == "nothing is cited" and found.n_uncited == 2
    assert {row["reason"] for row in found.rows()} == {"it cites nothing"}
    part = by_words("red [1]. blue.", ["red", "blue"])
    assert (part.recall, part.recall_where_cited, part.precision) == (0.5, 1, 1)
    mark = by_words("red [citation needed]. blue [1].", ["blue"])  # without a source it cites nothing
    assert mark.unknown == () and mark.n_uncited == 1 and mark.recall == 0.5
    for answer, why in (("", "empty"), ("# A heading\n", "heading"), ("Sure! Here is a summary:", "no sentence")):
        found = by_words(answer, PASSAGES)
        assert found.score is found.recall is found.precision is None and why in found.reason


def test_passages_may_have_labels_of_their_own_and_an_unknown_one_is_shown():
    named = {"Smith 2020": "red", "doc-4": "blue", "https://a.org/": "green", "Roe & Lee 2019a": "white"}
    answer = "red (Smith et al., 2020). blue [doc-4]. green [source](https://a.org). white (Roe and Lee, 2019a)."
    found = by_words(answer, named)
    assert (found.recall, found.precision, found.unknown) == (1, 1, ())
    assert [row["cites"] for row in found.rows()] == [[label] for label in named]
    found = by_words("red [1]. blue [9].", ["red", "blue"])
    assert found.unknown == ("9",) and "no passage has the label 9" in repr(found)
    assert found.rows()[1]["unknown"] == ["9"] and "[9] is no passage" in found.to_text()
    assert by_words("red [1].", []).unknown == ("1",)


def test_a_failed_verdict_counts_neither_way():
    found = by_words("red [1]. fail [2].", ["red", "blue"])
    assert (found.recall, found.precision, found.n_failed) == (1, 1, 1)
    assert "it broke" in found.rows()[1]["reason"] and found.rows()[1]["supported"] is None
    lost = by_words("fail [1].", ["red"])
    assert lost.score is None and "failed" in lost.reason
    table = check_citations_many(["fail [1].", "red [1]."], [["red"]] * 2, judge=Says(all_words))
    assert [outcome.status for outcome in table.outcomes()] == ["failed", "ok"]


def test_evidence_and_findings_lie_in_the_users_texts():
    answer = "It seems [1] that the old bridge was closed on Friday [1], they say."
    found = check_citations(answer, {"1": PASSAGES[0], "b": "<b>It rained.</b> It was cold."})
    cited = found.sentences[0]
    assert answer[cited.sentence.start : cited.sentence.end] == cited.sentence.text == answer
    assert cited.verdict.findings
    for finding in cited.verdict.findings:
        assert answer[finding.start : finding.end] == finding.text
    assert found.rows()[0]["evidence"] == [f"[1] {PASSAGES[0]}"]


def test_the_report_is_escaped_and_plain_data(tmp_path):
    found = check_citations("It <i>rained</i> [<b>]. It rained [1].", ["It rained.", "<script>alert(1)</script>"])
    page = found.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page and "&lt;script&gt;" in page and "passage 1" in page
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["recall"] == found.recall
    assert len(found.to_frame()) == 2 and "[1] It rained." in found.to_text()


def test_one_and_many_give_the_same():
    answers = [f"{CLOSED} [1].", f"{COST} [1].", ""]
    table = check_citations_many(answers, [PASSAGES] * 3)
    alone = [check_citations(answer, PASSAGES) for answer in answers]
    for result, other in zip(table.results, alone, strict=True):
        own, own_alone = result.to_dict(), other.to_dict()
        for row, row_alone in zip(own["rows"], own_alone["rows"], strict=True):  # a batch may move a last digit
            assert row.pop("probability") == pytest.approx(row_alone.pop("probability"), abs=0.02)
        assert own == own_alone
    assert table.means() == {f"citations_{name}": 0.5 for name in ("f1", "recall", "precision", "recall_where_cited")}
    assert table.n_undefined == 1 and list(table.to_frame(by="sentence")["row"]) == [0, 1]


def test_each_question_is_asked_once_and_the_name_leads_to_the_metric():
    judge = Says(all_words)
    check_citations("red [1]. blue [2]. red blue [1][2].", ["red", "blue"], judge=judge)
    assert len(judge.asked) == 5  # three together, and each alone; without the other it is the same question
    metric = s.load_metric("citations")
    assert metric.function is check_citations and list(metric.columns) == ["answer", "contexts"]
    assert metric.signature["metric"] == "citations" and metric.signature["k"] == "8"
    assert metric.score("It rained [1].", "It rained.").score == 1
