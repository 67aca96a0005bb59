"""A real small language model as the judge and the rater: SmolLM2-135M-Instruct behind llama.cpp's server.

What is asserted is form: everything completes or fails with a type and is counted, every number can be traced, and a
second run asks nothing. How wise the model is, chapter 51 says in a table (measured by benchmarks/judge.py --server),
and chapters 54 and 57 for the twelve clear cases of benchmarks/clear_cases.json; what is stable of that is held here.
"""

import json
from pathlib import Path

import pytest
from servers.fixtures import small_model_server  # noqa: F401

from summeval_nb import (
    LLMChecker,
    ServerBackend,
    Store,
    compare_answers,
    evaluate_answer,
    summarization_score,
)
from summeval_nb.judged import LLMJudge
from summeval_nb.judged.judging import JudgeFailure
from summeval_nb.judged.llm import PROMPTS

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
CASES = json.loads((Path(__file__).parents[1] / "benchmarks" / "clear_cases.json").read_text(encoding="utf-8"))
FITNESS = (
    "A young company is bringing out a smartphone app that helps people reach their fitness goals. Users set daily "
    "exercise targets, note their meals and count the water they drink. The app suggests workouts that suit each "
    "person. It also sends them motivating reminders throughout the day and again in the evening."
)
SHORT = (
    "A company is bringing out an app that helps people reach their fitness goals. Users set exercise targets, note "
    "their meals and count their water, and the app sends motivating reminders."
)


@pytest.fixture(scope="module")
def backend(small_model_server):  # noqa: F811
    return ServerBackend("SmolLM2-135M-Instruct", base_url=small_model_server, timeout=240)


def judge(backend, **options):
    return LLMJudge(backend, workers=1, **options)


def test_the_fitness_app_end_to_end(backend, tmp_path):
    store, first = Store(tmp_path / "store.sqlite"), judge(backend)
    result = summarization_score([FITNESS], SHORT, judge=first, n_keyphrases=4, store=store)
    assert first.calls >= 4 and result.keyphrases and not result.reason.startswith("the judge failed")
    assert {phrase for q in (*result.questions, *result.dropped) for phrase in q.keyphrases} <= {
        keyphrase.text for keyphrase in result.keyphrases
    }
    for phrase in result.keyphrases:
        assert phrase.start is None or FITNESS[phrase.start : phrase.end] == phrase.text
    for answer in result.answers:
        assert answer.value in (0, 1) or (answer.value is None and answer.reason)
        assert all(SHORT[passage.start : passage.end] == passage.text for passage in answer.evidence)
    if result.score is not None:
        judged = [answer.value for answer in result.answers if answer.value is not None]
        assert result.qa_score == sum(judged) / len(judged)
        assert result.score == pytest.approx(0.5 * result.qa_score + 0.5 * (1 - len(SHORT) / 310))
    assert "SmolLM2-135M-Instruct" in str(result.signature) and "prompts-" in str(result.signature)
    assert judge(backend, prompts={"entail": PROMPTS["entail"] + " Be strict."}).fingerprint != first.fingerprint
    again = judge(backend)
    assert summarization_score([FITNESS], SHORT, judge=again, n_keyphrases=4, store=store).to_dict() == result.to_dict()
    assert again.calls == 0 or result.n_failed


def test_an_answer_end_to_end(backend, tmp_path):
    """The model takes almost everything for a refusal; so that there is something to see, refusals are scored."""
    store, first = Store(tmp_path / "store.sqlite"), judge(backend)
    row = {
        "contexts": "The bridge opened in 1931. Some 40,000 cars cross it every day.",
        "question": "When did the bridge open?",
        "ground_truth": "The bridge opened in 1931.",
        "answer": "The bridge opened in 1931, and it is painted green.",
    }
    report = evaluate_answer(**row, judge=first, score_refusals=True, store=store)
    rows = report.rows()
    assert {found["pair"] for found in rows} == set(report.inferences)
    assert "SmolLM2-135M-Instruct" in str(report.signature) and "prompts-" in str(report.signature)
    for found in rows:
        text = row["answer" if found["pair"].startswith("answer") else "ground_truth"]
        assert text[found["start"] : found["end"]] == found["unit"]
        assert found["statement"] in found["resolved"] or found["rewritten"]
        assert found["label"] in ("entailed", "neutral", "contradicted") or (found["label"] is None and found["reason"])
    assert report.n_failed == sum(found["label"] is None for found in rows)
    for inference in report.inferences.values():
        assert 0 <= inference.score <= 1 if inference.score is not None else inference.reason
    again = judge(backend)
    second = evaluate_answer(**row, judge=again, score_refusals=True, store=store)
    assert second.to_dict() == report.to_dict() or report.n_failed
    assert again.calls == 0 or (report.n_failed and again.calls < first.calls)


def test_both_orders_show_that_the_place_decides(backend):
    """Measured on 48 comparisons: the first place leads in all (by .21 to .90), the right answer won none."""
    for case in CASES[:2]:
        found = compare_answers(case["question"], case["truth"], case["gibberish"], judge=backend, workers=1)
        assert [order.winner for order in found.orders] == ["a", "b"] and found.lean > 0.3
        assert (found.winner, found.consistent) == ("tie", False) and abs(found.score - 0.5) < 0.1
        assert all(0 < order.probability_mass < 0.5 for order in found.orders)
        turned = compare_answers(case["question"], case["gibberish"], case["truth"], judge=backend, workers=1)
        assert turned.score == pytest.approx(1 - found.score, abs=0.03)  # what is kept of a prompt moves it
        assert turned.lean == pytest.approx(found.lean, abs=0.1)
    calls = backend.usage.calls
    empty = compare_answers("When?", case["truth"], " ", judge=backend)
    assert empty.score is None and empty.reason == "answer b is empty" and backend.usage.calls == calls


def test_a_passage_with_the_answer_is_likelier_than_another(backend):
    """Measured on 12 cases: ranked right in 10 by a plain yes or no; three labels hold .0007 of its probability."""
    for (reply,) in (judge(backend, probabilities=True).many("entail", [(CASES[0]["truth"], [CASES[0]["truth"]])]),):
        found = reply.reason if isinstance(reply, JudgeFailure) else reply[0].reason
        assert "the options entailed, neutral, contradicted hold" in found
    pairs = [([case[name]], case["truth"]) for case in (CASES[0], CASES[8], CASES[9]) for name in ("truth", "beside")]
    chances = [verdict.probability for verdict in LLMChecker(backend, workers=1).check_many(pairs)]
    assert all(yes > no for yes, no in zip(chances[::2], chances[1::2], strict=True))
