"""A mistake in the name of an option suggests the right one, and texts that are none are refused in the same words."""

import inspect

import pytest
from helpers.public import NAMES, public

import summeval_nb as s
from summeval_nb import overlap

TAKES_OPTIONS = {"load_metric": ("rouge", "stemmer"), "nli_recipe": ("minicheck-roberta", "threshold")}


def options_of(name):
    """The options of a metric, of its call over many texts, and of what hands `**options` on; none for any other."""
    function = public(name)
    if not inspect.isfunction(function):
        return []
    inner = inspect.signature(inspect.unwrap(function), follow_wrapped=False)
    hands_on = any(parameter.kind is parameter.VAR_KEYWORD for parameter in inner.parameters.values())
    if not (hands_on or hasattr(function, "metric") or hasattr(function, "columns")):
        return []
    if name in TAKES_OPTIONS:
        return [TAKES_OPTIONS[name][1]]
    if name == "rank_systems":  # it binds them to the metric side_by_side, which says them
        return []
    parameters = inspect.signature(function).parameters.values()
    assert not any(one.kind is one.VAR_KEYWORD for one in parameters), f"{name} does not say its options"
    return [one.name for one in parameters if one.kind is one.KEYWORD_ONLY and len(one.name) > 2]


def misspelt(name: str, option: str) -> str:
    """What a call says of an option in which a letter is missing."""
    called, words = public(name), ["x", "y", "z", "w"]
    if name in TAKES_OPTIONS:
        words = [TAKES_OPTIONS[name][0], "folder"][: 1 + (name == "nli_recipe")]
    else:
        required = [one for one in inspect.signature(called).parameters.values() if one.default is one.empty]
        words = words[: sum(one.kind is one.POSITIONAL_OR_KEYWORD for one in required)]
    with pytest.raises(TypeError) as caught:
        called(*words, **{option[:-2] + option[-1]: None})
    return str(caught.value)


def test_a_misspelt_option_suggests_the_right_one():
    options = [(name, option) for name in sorted(NAMES) for option in options_of(name)]
    names = {name for name, _ in options}
    assert {"evaluate", "bleu_score", "load_metric", *TAKES_OPTIONS} <= names
    assert len(names) > 20
    wrong = []
    for name, option in options:
        said = misspelt(name, option)
        begins = TAKES_OPTIONS[name][0] if name == "load_metric" else f"{name}() "
        known = f"did you mean {option!r}? known: " in said and said.count(repr(option)) == 2
        if not (said.startswith(begins) and known) or "__init__" in said or "Metric" in said:
            wrong.append(f"{name}, {option}: {said}")
    assert not wrong, wrong


TWO = [{"question": "Who?", "system": name, "answer": name} for name in "xy"]
CALLS = {
    "run": (lambda out: s.run([], "bleu", options={"smoth": "exp"}, out=out), "bleu has no option 'smoth'"),
    "by name": (lambda out: s.load_metric("faithfulness", treshold=0.5), "faithfulness has no option 'treshold'"),
    "in METRICS": (lambda out: s.load_metric("rouge1", stemer=True), "rouge1 has no option 'stemer'"),
    "bound": (lambda out: s.judged.rank_systems(TWO, margn=0.1), "side_by_side has no option 'margn'"),
    "a column": (lambda out: s.evaluate("a", sumary="b"), "did you mean 'summary'?"),
}


def test_the_error_names_what_was_called(tmp_path):
    for call, message in CALLS.values():
        with pytest.raises(TypeError) as caught:
            call(tmp_path / "out")
        assert message in str(caught.value) and not (tmp_path / "out").exists()


def test_a_text_goes_by_what_people_call_it():
    found = s.evaluate_answer(context="It is long.", truth="It is long.", question="Is it long?", answer="It is long.")
    assert found.verdict == "right" and found.contexts == ("It is long.",)


FACES = {
    overlap.rouge_score: overlap.rouge_many, overlap.meteor_score: overlap.meteor_many,
    overlap.bertscore: overlap.bertscore_many, overlap.extractiveness: overlap.extractiveness_many,
    overlap.bleu_score: overlap.bleu_many, overlap.chrf_score: overlap.chrf_many, overlap.ter_score: overlap.ter_many,
}  # fmt: skip
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
