"""Texts that look as if they stood in each other's place are warned of, by every metric that takes two."""

import warnings

import pytest

import summeval_nb as s
from summeval_nb.ground._order import warn_of_order

SHORT = "It rained in Ulm."
LONG = "It rained in Ulm for three days, and the old bridge over the river was closed until Friday. " * 4
RATED = {"quality": "fluency", "backend": s.ScriptedBackend(lambda prompt: "4")}
JUDGE = s.LLMJudge(s.ScriptedBackend(lambda prompt: "{}"))

# a call on (what comes first, what comes second), and whether the judged text comes first
CALLS = {
    "bleu_score": (s.bleu_score, True),
    "bleu_many": (lambda a, b: s.Bleu().score_many([a], [b]), True),
    "corpus_bleu": (lambda a, b: s.corpus_bleu([a], [b]), True),
    "rouge_score": (s.rouge_score, True),
    "rouge_many": (lambda a, b: s.rouge_many([a], [b]), True),
    "chrf_score": (s.chrf_score, True),
    "ter_score": (s.ter_score, True),
    "meteor_score": (lambda a, b: s.meteor_score(a, b, synonyms=None), True),
    "bert_score": (s.bert_score, True),
    "calculate_rouge": (s.calculate_rouge, False),
    "evaluate": (s.evaluate, False),
    "evaluate_many": (lambda a, b: s.evaluate_many([a], [b], progress=False), False),
    "rate": (lambda a, b: s.rate(a, b, **RATED), False),
    "rate_many": (lambda a, b: s.rate_many([a], [b], **RATED, progress=False), False),
    "RatingMetric": (lambda a, b: s.RatingMetric(**RATED).score(a, b), False),
    "summarization_score": (lambda a, b: s.summarization_score(a, b, judge=JUDGE), False),
}


def warned(call, *texts):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*texts)
    return [one for one in found if issubclass(one.category, s.InputWarning)]


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_looks_swapped_warns_where_it_stands(name):
    call, judged_first = CALLS[name]
    right = (SHORT, LONG) if judged_first else (LONG, SHORT)
    assert warned(call, *right) == []
    (one,) = warned(call, *reversed(right))
    assert "much longer than" in str(one.message) and "comes first" in str(one.message)
    assert one.filename == __file__


@pytest.mark.parametrize("name", ["bleu_score", "rouge_score", "chrf_score", "ter_score", "meteor_score", "bert_score"])
def test_a_list_beside_a_text_looks_swapped(name):
    with pytest.raises(TypeError, match="look swapped"):
        CALLS[name][0]([SHORT, LONG], SHORT)


@pytest.mark.parametrize("name", ["bleu_score", "rouge_score", "chrf_score", "ter_score", "meteor_score", "bert_score"])
@pytest.mark.parametrize("references", [[], (), [None], None, 5])
def test_references_that_are_none_are_named_as_ever(name, references):
    with pytest.raises((TypeError, ValueError), match="reference"):
        CALLS[name][0](LONG, references)


ROW = {"context": "The bridge was closed.", "question": "What was closed?", "ground_truth": "The bridge."}
ROW |= {"answer": "A bridge."}


@pytest.mark.parametrize("other", ["context", "ground_truth", "answer"])
def test_a_question_in_another_place_is_said_aloud(other):
    assert warned(lambda: s.evaluate_answer(**ROW, judge=JUDGE)) == []
    swapped = ROW | {"question": ROW[other], other: ROW["question"]}
    (one,) = warned(lambda: s.evaluate_answer(**swapped, judge=JUDGE))
    assert str(one.message).startswith(f"{other} ends with a question mark, and question has none")
    (one,) = warned(lambda: s.evaluate_answers([ROW, swapped], judge=JUDGE, progress=False))
    assert "in row 1" in str(one.message)


def test_what_says_nothing_is_not_warned_of():
    assert warned(lambda: warn_of_order([(0, 900), (10, 300), (500, 900)], remedy="")) == []
    (one,) = warned(lambda: warn_of_order([(0, 900), (10, 301), (10, 900)], remedy="the other comes first"))
    assert "2 summaries are" in str(one.message) and "301 characters against 10, first in pair 1" in str(one.message)
