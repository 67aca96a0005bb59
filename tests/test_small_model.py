"""A real small language model as the judge and the rater: SmolLM2-135M-Instruct behind llama.cpp's server.

What is asserted is form: everything completes or fails with a type and is counted, every number can be traced, and a
second run asks nothing. How wise the model is, chapter 46 says in a table (measured by benchmarks/judge.py --server).
"""

import json
import math
from importlib import resources

import pytest
from servers.fixtures import small_model_server  # noqa: F401

from summeval_nb import (
    LLMJudge,
    ServerBackend,
    Store,
    evaluate_answer,
    rate,
    summarization_score,
)
from summeval_nb.judged.judge_llm import PROMPTS
from summeval_nb.judged.judging import JudgeFailure
from summeval_nb.judged.ratings import QUALITY_DEFINITIONS

pytestmark = pytest.mark.slow
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


def clear_pairs():
    text = resources.files("summeval_nb").joinpath("assets/clear_pairs.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def same_prompts_other_words():
    return {"entail": PROMPTS["entail"] + " Be strict."}


def test_the_fitness_app_end_to_end(backend, tmp_path):
    store, first = Store(tmp_path / "store.sqlite"), judge(backend)
    result = summarization_score([FITNESS], SHORT, judge=first, n_keyphrases=4, store=store)
    assert first.calls >= 4 and result.keyphrases and not result.reason.startswith("the judge failed")
    assert {phrase for q in (*result.questions, *result.dropped) for phrase in q.keyphrases} <= {
        one.text for one in result.keyphrases
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
    assert judge(backend, prompts=same_prompts_other_words()).fingerprint != first.fingerprint
    again = judge(backend)
    assert summarization_score([FITNESS], SHORT, judge=again, n_keyphrases=4, store=store).to_dict() == result.to_dict()
    assert again.calls == 0 or result.n_failed


def test_an_answer_end_to_end(backend, tmp_path):
    """The model takes almost everything for a refusal; so that there is something to see, refusals are scored."""
    store, first = Store(tmp_path / "store.sqlite"), judge(backend)
    row = {
        "context": "The bridge opened in 1931. Some 40,000 cars cross it every day.",
        "question": "When did the bridge open?",
        "ground_truth": "The bridge opened in 1931.",
        "answer": "The bridge opened in 1931, and it is painted green.",
    }
    report = evaluate_answer(**row, judge=first, score_refusals=True, store=store)
    rows = report.rows()
    assert {one["pair"] for one in rows} == set(report.inferences)
    assert "SmolLM2-135M-Instruct" in str(report.signature) and "prompts-" in str(report.signature)
    for one in rows:
        assert (
            row["answer" if one["pair"].startswith("answer") else "ground_truth"][one["start"] : one["end"]]
            == one["unit"]
        )
        assert one["statement"] in one["resolved"] or one["rewritten"]
        assert one["label"] in ("entailed", "neutral", "contradicted") or (one["label"] is None and one["reason"])
    assert report.n_failed == sum(one["label"] is None for one in rows)
    for inference in report.inferences.values():
        assert 0 <= inference.score <= 1 if inference.score is not None else inference.reason
    again = judge(backend)
    second = evaluate_answer(**row, judge=again, score_refusals=True, store=store)
    assert second.to_dict() == report.to_dict() or report.n_failed
    assert again.calls == 0 or (report.n_failed and again.calls < first.calls)


def test_grades_are_expectations_of_its_own_probabilities(backend, tmp_path):
    store = Store(tmp_path / "store.sqlite")
    graded = {
        quality: rate(FITNESS, SHORT, quality=quality, backend=backend, store=store) for quality in QUALITY_DEFINITIONS
    }
    assert sum(rating.score is not None for rating in graded.values()) >= 2
    for rating in graded.values():
        if rating.score is None:  # the grades were not among the twenty tokens that a server shows
            assert "leave" in rating.reason
            continue
        chances = rating.distribution
        assert math.isclose(sum(chances.values()), 1, abs_tol=1e-6) and 0 < rating.mass <= 1
        assert rating.score == pytest.approx(sum(grade * chance for grade, chance in chances.items()))
        assert "SmolLM2-135M-Instruct" in str(rating.signature)


def test_evidence_is_held_to_the_sentences_that_exist(backend):
    """The schema's bounds: a small model would name sentence 2 of 1 in every second reply."""
    found = [judge(backend).many("entail", [(one["premise"], [one["statement"]])])[0] for one in clear_pairs()[2:4]]
    assert not any(isinstance(one, JudgeFailure) for one in found)
