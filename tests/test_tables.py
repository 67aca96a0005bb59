"""A table of scores is a sequence of results and a column of pandas, and its findings lie in the user's own texts."""

import pickle
import re

import numpy as np
import pytest
from helpers.late import Late

import summeval_nb as s
from summeval_nb import evaluate, evaluate_answer, evaluate_answers, evaluate_many, load_metric, overlap

pd = Late("pandas")

MANY = {
    "bleu": (overlap.bleu_many, overlap.bleu_score, {}),
    "rouge": (overlap.rouge_many, overlap.rouge_score, {}),
    "chrf": (overlap.chrf_many, overlap.chrf_score, {}),
    "ter": (overlap.ter_many, overlap.ter_score, {}),
    "meteor": (overlap.meteor_many, overlap.meteor_score, {"synonyms": None}),
}
ARTICLE = "The fire destroyed 13 houses on January 5, 2021. Anna Miller led the crew. Anna Miller lives in Ulm."
SUMMARY = "Sure! Anna Miller led the crew [1]. The fire on Jan. 5, 2021 [2] destroyed **31** houses <b> [3]."


@pytest.fixture(scope="module")
def pairs():
    return pd.DataFrame(
        {
            "made": ["the cat sat on the mat", "a dog ran off", "b c d e", ""],
            "wanted": ["the cat is on the mat", "a dog ran away", "x y", ""],
        },
        index=pd.Index([5, 9, 5, 2], name="id"),  # a label may stand twice
    )


@pytest.mark.parametrize("name", MANY)
def test_a_word_table_is_a_sequence_of_results_and_a_column(name, pairs):
    many, single, choices = MANY[name]
    table = many(pairs.made, pairs.wanted, **choices)
    expected = [single(*pair, **choices).to_dict() for pair in zip(pairs.made, pairs.wanted, strict=True)]
    assert [result.to_dict() for result in table] == [result.to_dict() for result in table[:]] == expected
    assert table[-2].to_dict() == expected[2] and len(table[1:3]) == 2 and len(list(table)) == len(table) == 4
    if name == "rouge":  # several types, of which none is the column
        with pytest.raises(ValueError, match="take one, table.* of rouge1_f1, rouge2_f1, rougeL_f1, rougeLsum_f1"):
            np.mean(table)
        table = overlap.rouge_many(pairs.made, pairs.wanted, types=["rougeL"])
    for column in (np.asarray(table), pd.Series(table), pairs.assign(x=table).x, pd.DataFrame({"x": table}).x):
        np.testing.assert_array_equal(np.asarray(column), table.scores)
    np.testing.assert_equal(np.mean(table), np.mean(table.scores))
    table = many(pairs.made, pairs.wanted, **choices)
    assert table.to_frame().index.equals(pairs.index)
    assert pickle.loads(pickle.dumps(table))[1].to_dict() == expected[1]
    assert many(list(pairs.made), list(pairs.wanted), **choices).index is None


@pytest.mark.parametrize("name", MANY)
def test_two_indexes_are_refused_and_not_misaligned(name, pairs):
    many, _, choices = MANY[name]
    with pytest.raises(ValueError, match="candidates and references have different indexes .* as lists to pair them"):
        many(pairs.made, pairs.wanted[::-1], **choices)
    assert many(pairs.made, list(pairs.wanted), **choices).index.equals(pairs.index)
    for call in (overlap.corpus_bleu, load_metric("chrf").score_many, evaluate_many):
        with pytest.raises(ValueError, match="different indexes"):
            call(pairs.made, pairs.wanted[::-1])


def test_what_is_no_place_in_a_table_is_named():
    table = overlap.bleu_many(["a"], ["a"])
    with pytest.raises(IndexError, match="there is no text 1: the table has 1"):
        table[1]
    assert table["bleu"].tolist() == table.scores.tolist()
    with pytest.raises(TypeError, match="a text's number or a column's name, not 1.5; its numbers are in to_frame"):
        table[1.5]
    with pytest.raises(ValueError, match="unknown by 'sentence'; known: 'text'"):
        table.to_frame(by="sentence")


def test_summaries_are_a_table_by_pair_and_by_sentence(tmp_path):
    given = pd.DataFrame(
        {"text": [ARTICLE] * 3, "summary": [SUMMARY, "Anna Miller led the crew.", SUMMARY]}, list("xyz")
    )
    table = evaluate_many(given.text, given.summary, checker="words", progress=False)
    assert list(table.to_frame().index) == list("xyz") and "not_judged" in table.to_frame()
    frame = table.to_frame(by="sentence")
    assert list(frame.columns) == ["row", *table[0].rows()[0]] and set(frame.index) == set("xyz")
    for _, row in frame.iterrows():
        summary = given.summary.iloc[row["row"]]
        assert summary[row["start"] : row["end"]] == row["text"]
        assert [summary[a:b] for a, b in row["spans"]] == [told.partition(": ")[2] for told in row["findings"]]
    page = table.to_html(tmp_path / "page.html").read_text("utf-8")
    ids = re.findall(r' id="([^"]+)"', page)
    assert page.count("Evidence report") == 3 and len(ids) == len(set(ids))
    assert "<script" not in page and "&lt;b&gt;" in page
    assert page.index("x: Faithfulness") < page.index("z: Faithfulness") < page.index("y: Faithfulness")


@pytest.mark.parametrize("checker", ["words", "embedded"])
def test_findings_lie_in_the_whole_summary(checker):
    result = evaluate(ARTICLE, SUMMARY, checker=checker)
    found = [finding for verdict in result.verdicts for finding in verdict.findings]
    assert all(SUMMARY[finding.start : finding.end] == finding.text for finding in found)
    assert [finding.start for finding in found if finding.text == "31"] == [SUMMARY.index("31")]


def test_findings_lie_in_the_whole_answer():
    answer = SUMMARY.replace("The fire", "She lives in Bonn [4]. The fire")
    report = evaluate_answer(ARTICLE, "What happened?", "The fire destroyed 13 houses.", answer)
    for name, inference in report.inferences.items():
        text = report.ground_truth if name == "truth_given_answer" else answer
        tags = [statement.entailment for part in inference.hypotheses for statement in part.statements]
        found = [finding for tag in tags for finding in tag.findings]
        assert found or name == "truth_given_answer"
        assert all(text[finding.start : finding.end] == finding.text for finding in found)
        if name == "answer_given_context":
            assert {answer.index("31"), answer.index("Bonn")} <= {finding.start for finding in found}


def test_answers_are_a_table_with_the_wrong_first(tmp_path):
    row = {"contexts": ARTICLE, "question": "What <did> burn?", "ground_truth": "The fire destroyed 13 houses."}
    answers = ["The fire destroyed 13 houses.", "The fire destroyed 31 houses.", "I cannot tell."]
    table = evaluate_answers(pd.DataFrame([row | {"answer": a} for a in answers], list("abc")), progress=False)
    assert [report.verdict for report in table] == ["right", "wrong", "refused"]
    assert list(table.to_frame().index) == list("abc") and set(table.to_frame(by="sentence").index) == {"a", "b"}
    page = table.to_html(tmp_path / "page.html").read_text("utf-8")
    assert page.index("b: wrong") < page.index("c: refused") < page.index("a: right")
    assert "<script" not in page and "<did>" not in page
    columns = evaluate_answers(
        {name: table.to_frame().index.to_series() for name in row} | {"answer": ["a"] * 3}, progress=False
    )
    assert list(columns.index) == list("abc")


def test_a_lazy_frame_is_refused_with_the_remedy(tmp_path):
    lazy = pytest.importorskip("polars").LazyFrame({"candidate": ["a"], "references": ["a"]})
    for call in (
        lambda: s.run(lazy, "bleu", out=tmp_path / "out"),
        lambda: s.rouge_many(lazy),
        lambda: s.evaluate(lazy, "a"),
        lambda: s.correlate(lazy, lazy),
    ):
        with pytest.raises(TypeError, match=r"LazyFrame has no rows yet: call its \.collect\(\) first"):
            call()
