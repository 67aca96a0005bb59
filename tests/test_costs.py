"""What a plan does beside adding up what is declared: models not loaded, answers in a store, pairs."""

import pytest
from helpers.recorder import Recorder

from summeval_nb.judged.answers import AnswerMetric
from summeval_nb.judged.llm import LLMJudge
from summeval_nb.models.base import BackendUnavailable
from summeval_nb.models.store import Store
from summeval_nb.runs.costs import KeptJudge, Unloaded, pairs_of, sentence_pairs, unanswered

ROW = {"context": "It rained.", "question": "Why?", "ground_truth": "It rained.", "answer": "It was wet."}


def test_a_model_that_is_not_loaded_has_a_name_and_answers_nothing():
    model = Unloaded("folder")
    assert model.fingerprint == "llm:folder"
    for ask in (lambda: model.choose("?", ["a", "b"]), lambda: model.generate_text("?")):
        with pytest.raises(BackendUnavailable, match="a plan calls no model"):
            ask()


def test_a_row_is_answered_when_all_its_answers_are_in_the_store(tmp_path):
    backend, store = Recorder("usual", 0), Store(tmp_path / "kept.sqlite")
    metric = AnswerMetric(judge=LLMJudge(backend), store=store)
    other = ROW | {"answer": "It was dry."}
    assert unanswered(metric, [ROW, other]) == [ROW, other] and backend.usage.calls == 0
    metric.score(*ROW.values())
    asked = backend.usage.calls
    assert unanswered(metric, [ROW, other]) == [other] and backend.usage.calls == asked > 0
    assert unanswered(AnswerMetric(judge=LLMJudge(backend)), [ROW]) == [ROW]  # without a store
    kept = KeptJudge(LLMJudge(backend, languages=["en"]))
    assert kept.languages == ("en",) and len(kept.many("refusal", [("No.",)])) == kept.asked == 1


def test_pairs_and_sentences_of_rows():
    assert pairs_of("bleu", {"references": ["a", "b"]}) == 2 and pairs_of("bleu", {"references": "a"}) == 1
    assert pairs_of("answers", ROW) == 3 and pairs_of("rating", {}) == 1
    rows = [{"text": "It rained. It snowed.", "summary": "It rained. It was cold."}, {"text": "", "summary": "A."}]
    assert sentence_pairs(rows, "punkt", None) == (3, 2)
