"""A real small language model as the judge, SmolLM2-135M-Instruct: all is counted and traced, and asked once."""

import pytest
from servers.fixtures import small_model_server  # noqa: F401

from summeval_nb import (
    ServerBackend,
    Store,
    evaluate_answer,
    summarization_score,
)
from summeval_nb.judged import LLMJudge
from summeval_nb.judged.llm import PROMPTS

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
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
