"""Results refuse what would make them untrustworthy; signatures survive any text."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summeval_nb.ground.results import (
    Score,
    Signature,
    Verdict,
    require_count,
    require_flag,
    require_module,
    require_option,
    require_share,
    require_text,
    require_texts,
)

plain = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(plain.filter(bool), plain, min_size=1))
def test_a_signature_reads_back(parts):
    signature = Signature(parts)
    assert Signature.parse(str(signature)) == signature
    assert signature.differences(signature) == {}


def test_a_line_without_a_version_gets_none():
    assert dict(Signature.parse("nrefs:1|case:mixed")) == {"nrefs": "1", "case": "mixed"}
    assert Signature.parse("nrefs:1|version:2.0.0")["version"] == "2.0.0"


@pytest.mark.parametrize("text", ["", "BLEU = 27.3", "k:3|", "k:3||m:1", ":3"])
def test_what_is_no_signature_is_refused(text):
    with pytest.raises(ValueError, match="name:value"):
        Signature.parse(text)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_score_is_never_nan(bad):
    with pytest.raises(ValueError, match="finite"):
        Score(score=bad, signature=Signature({}))


def test_an_undefined_score_has_a_reason_and_no_float():
    with pytest.raises(ValueError, match="reason"):
        Score(score=None, signature=Signature({}))
    undefined = Score(score=None, reason="the summary is empty", signature=Signature({}))
    with pytest.raises(ValueError, match="the summary is empty"):
        float(undefined)
    assert undefined.to_dict()["score"] is None
    assert "undefined: the summary is empty" in undefined._repr_html_()


@pytest.mark.parametrize(
    "arguments",
    [
        {"probability": 1.5},
        {"probability": -0.1},
        {"probability": math.nan},
        {"probability": None},
        {"probability": None, "failed": True},
        {"probability": 0.5, "failed": True, "reason": "x"},
    ],
)
def test_impossible_verdicts(arguments):
    with pytest.raises(ValueError, match="verdict|probability"):
        Verdict(**arguments)


@pytest.mark.parametrize("value", [None, b"bytes", 3, ["a"], ("a",), {"a": 1}, math.nan])
def test_not_a_text(value):
    with pytest.raises(TypeError, match="article must be a string, not"):
        require_text(value, "article")


@pytest.mark.parametrize("value", [None, "text", b"bytes", 3, {"a": 1}, ["a", None], [b"a"], [["a"]]])
def test_not_a_list_of_texts(value):
    with pytest.raises(TypeError, match="articles"):
        require_texts(value, "articles")


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-1, ValueError), (True, TypeError), (1.0, TypeError)])
def test_not_a_count(value, error):
    with pytest.raises(error, match="k must be"):
        require_count(value, "k")


@pytest.mark.parametrize(("value", "error"), [(1.1, ValueError), (math.nan, ValueError), ("1", TypeError)])
def test_not_a_share(value, error):
    with pytest.raises(error, match="threshold must"):
        require_share(value, "threshold")


def test_an_unknown_option_lists_the_known():
    with pytest.raises(ValueError, match=r"unknown splitter 'punk'; known: 'punkt', 'stanza'"):
        require_option("punk", "splitter", ["punkt", "stanza"])


@pytest.mark.parametrize("value", ["no", "False", "true", "", 0, 1, None, [], math.nan])
def test_a_flag_is_true_or_false_and_nothing_else(value):
    with pytest.raises(TypeError, match="stemmer must be True or False, not"):
        require_flag(value, "stemmer")


def test_flags_of_numpy_are_flags():
    assert require_flag(np.bool_(False), "stemmer") is False and require_flag(True, "stemmer") is True


def test_a_missing_package_is_never_named_as_ours_on_an_index():
    with pytest.raises(ImportError, match=r"pip install -e '\.\[llm\]' in your checkout"):
        require_module("no_such_package", "llm")
