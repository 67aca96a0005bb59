"""Each word metric has one set of options, and refuses a misspelt one and texts that are none in the same words."""

import inspect

import pytest

from summeval_nb import overlap

FACES = {
    overlap.rouge_score: overlap.rouge_many,
    overlap.meteor_score: overlap.meteor_many,
    overlap.bertscore: overlap.bertscore_many,
    overlap.extractiveness: overlap.extractiveness_many,
    overlap.bleu_score: overlap.bleu_many,
    overlap.chrf_score: overlap.chrf_many,
    overlap.ter_score: overlap.ter_many,
}
WRONG_TEXTS = [
    ((None, "a"), TypeError, "candidate must be a string"),
    ((b"bytes", "a"), TypeError, "decode"),
    ((["the", "cat"], ["the cat"]), TypeError, "not list"),
    ((["a reference"], "the candidate"), TypeError, "candidate .* first .* look swapped"),
    (("a", None), TypeError, "references must be a string or a list of strings"),
    (("a", []), ValueError, "at least one reference"),
    (("a", ["b", None]), TypeError, r"references\[1\]"),
    (("a", [["b"]]), TypeError, r"references\[0\]"),
]
WRONG_LISTS = [
    (("a", ["b"]), TypeError, "wrap one text in a list"),
    ((["a"], "b"), TypeError, "one string or one list of strings per candidate"),
    ((["a"], ["b", "c"]), ValueError, "one entry per candidate.*zip"),
    ((["a"], [[]]), ValueError, r"references\[0\] is empty"),
    ((["a"], [7]), TypeError, r"references\[0\]"),
    ((["a", 7], ["a", "b"]), TypeError, r"candidates\[1\]"),
    (([["a reference"]], ["the candidate"]), TypeError, "candidates .* first .* look swapped"),
]


@pytest.mark.parametrize("function", FACES, ids=lambda function: function.__name__)
def test_options_and_texts(function):
    definition, many = function.metric, inspect.signature(FACES[function]).parameters
    columns = list(many)[: len(definition.columns)]
    assert {name: many[name].default for name in definition.options} == definition.defaults()
    assert set(many) == {*columns, *definition.options, "progress"}
    for call in (function, FACES[function]):
        with pytest.raises(TypeError, match=rf"{call.__name__}\(\).*'mispelt'"):
            call("a", "a", mispelt=1)
    options = {"synonyms": None} if function is overlap.meteor_score else {}
    if columns[0] == "candidates":
        for call, table in ((function, WRONG_TEXTS), (FACES[function], WRONG_LISTS)):
            for texts, error, message in table:
                with pytest.raises(error, match=message):
                    call(*texts, **options)
