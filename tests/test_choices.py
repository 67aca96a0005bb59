"""A function that takes the choices of a metric shows each with its default, and its types name the same fields."""

import inspect
from dataclasses import fields

import pytest

from summeval_nb.evidence import faithfulness
from summeval_nb.judged import answers, summary_score
from summeval_nb.judged import answers as _answer_stages
from summeval_nb.judged import summary_score as _summary_choices
from summeval_nb.overlap import base, matching, translation

FACES = [
    (matching.MeteorMetric, base.MeteorChoices, [matching.meteor_score, matching.meteor_many]),
    (matching.BertScoreMetric, base.BertChoices, [matching.bertscore, matching.bertscore_many]),
]


OTHERS = [  # the functions of a metric, and what each takes beside its choices
    (
        faithfulness.FaithfulnessMetric,
        faithfulness.FaithfulnessChoices,
        {faithfulness.evaluate: ["text", "summary"], faithfulness.evaluate_many: ["texts", "summaries", "progress"]},
    ),
    (
        answers.AnswerMetric,
        _answer_stages.AnswerChoices,
        {
            answers.evaluate_answer: ["context", "question", "ground_truth", "answer"],
            answers.evaluate_answers: ["table", "progress"],
        },
    ),
    (
        summary_score.SummarizationMetric,
        _summary_choices.SummarizationChoices,
        {summary_score.summarization_scores: ["table", "progress"]},
    ),
]


@pytest.mark.parametrize(
    ("kind", "typed", "functions"), OTHERS, ids=lambda kind_or_name: getattr(kind_or_name, "__name__", "")
)
def test_a_judged_metric_s_functions_show_its_choices(kind, typed, functions):
    choices = {field.name: field.default for field in fields(kind)}
    for function, own in functions.items():
        shown = inspect.signature(function).parameters
        assert {name: parameter.default for name, parameter in shown.items() if name not in own} == choices
        assert set(own) <= set(shown) and set(typed.__annotations__) | {"k", "rank"} >= set(choices) >= set(
            typed.__annotations__
        )


@pytest.mark.parametrize(
    ("kind", "typed", "functions"), FACES, ids=lambda kind_or_name: getattr(kind_or_name, "__name__", "")
)
def test_a_function_shows_the_choices_of_its_metric(kind, typed, functions):
    choices = {field.name: field.default for field in fields(kind)}
    assert set(typed.__annotations__) <= set(choices)
    for function in functions:
        shown = inspect.signature(function).parameters
        assert list(shown)[0] in ("candidate", "candidates") and list(shown)[1] == "references"
        bar = {"progress": None} if function in (matching.meteor_many, matching.bertscore_many) else {}
        assert {name: parameter.default for name, parameter in list(shown.items())[2:]} == choices | bar
        assert set(choices) - set(typed.__annotations__) <= set(inspect.unwrap(function).__kwdefaults__ or {}) | {"n"}


def test_a_choice_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="bta"):
        translation.chrf_score("a", "a", bta=2)


def test_a_single_summary_has_no_rank():
    assert "rank" not in inspect.signature(summary_score.summarization_score).parameters
    with pytest.raises(TypeError, match="rank"):
        summary_score.summarization_score("It rained.", "It rained.", rank="score")
