"""The call over many texts has the options of its metric's function, and a misspelt one is refused in its own words."""

import inspect

import pytest

from summeval_nb import overlap
from summeval_nb.overlap import translation

FACES = {
    overlap.rouge_score: overlap.rouge_many,
    overlap.meteor_score: overlap.meteor_many,
    overlap.bertscore: overlap.bertscore_many,
    overlap.extractiveness: overlap.extractiveness_many,
    overlap.bleu_score: overlap.bleu_many,
    overlap.chrf_score: overlap.chrf_many,
    overlap.ter_score: overlap.ter_many,
}


@pytest.mark.parametrize("function", FACES, ids=lambda function: function.__name__)
def test_a_call_over_many_texts_has_the_same_options(function):
    options, many = function.metric.options, inspect.signature(FACES[function]).parameters
    columns = list(many)[: len(function.metric.columns)]
    assert {name: many[name].default for name in options} == function.metric.defaults()
    assert set(many) == {*columns, *options, "progress"}
    for call in (function, FACES[function]):
        with pytest.raises(TypeError, match=rf"{call.__name__}\(\).*'mispelt'"):
            call("a", "a", mispelt=1)


def test_a_choice_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="bta"):
        translation.chrf_score("a", "a", bta=2)
