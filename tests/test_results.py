"""Results refuse what would make them untrustworthy; signatures survive any text."""

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summeval_nb.ground.results import (
    Metric,
    ResultTable,
    Score,
    ScoreTable,
    Signature,
    Verdict,
    require_count,
    require_flag,
    require_metric,
    require_module,
    require_option,
    require_share,
    require_text,
    require_texts,
    score_rows,
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


# ---------------------------------------------------------------- tables and metrics


class _Table(ScoreTable):
    def __init__(self, *values: float):
        self.values, self.signature = np.array(values, dtype=float), Signature({"metric": "mine"})

    def arrays(self):
        return {"mine": self.values, "twice": 2 * self.values}


class _Own:
    """A metric that is no Metric: what it must have, and nothing else."""

    columns = {"candidate": "text"}

    def __init__(self, answer):
        self.answer = answer

    def score_many(self, candidates):
        return self.answer


def test_an_undefined_score_is_nan_in_arrays_none_in_rows_and_in_no_mean():
    table = _Table(1.0, math.nan, 0.0)
    assert np.isnan(table.scores[1]) and table.rows()[1] == {"mine": None, "twice": None}
    assert table.mean() == 0.5 and table.means() == {"mine": 0.5, "twice": 1.0} and table.mean("twice") == 1.0
    assert (len(table), table.n_undefined, table.defined.tolist()) == (3, 1, [True, False, True])
    assert table.to_dict()["n_undefined"] == 1 and math.isnan(table.to_frame()["mine"][1])
    assert [one.status for one in table.outcomes()] == ["ok", "undefined", "ok"]
    assert table.reasons() == ["", "there is nothing to score", ""]


def test_a_table_without_a_score_has_no_mean_and_says_so():
    for table in (_Table(math.nan), _Table()):
        assert table.mean() is None and "no text of" in table._repr_html_() and "mean None" in repr(table)
    assert list(_Table().to_frame().columns) == ["mine", "twice"]
    with pytest.raises(ValueError, match="unknown number 'other'; known: 'mine', 'twice'"):
        _Table(1.0).mean("other")


def test_results_keep_their_reasons():
    undefined = Score(score=None, reason="the summary is empty", signature=Signature({}))
    table = ResultTable(results=[Score(score=0.5, signature=Signature({})), undefined], signature=Signature({}))
    assert table[1] is undefined and table.reasons() == ["", "the summary is empty"] and table.mean() == 0.5
    assert [one.reason for one in table.outcomes()] == ["", "the summary is empty"]


@dataclass(frozen=True, kw_only=True)
class _Words(Metric):
    name = "words"
    columns: ClassVar = {"candidate": "text"}
    least: int = 1
    types: list = field(default_factory=list)

    @property
    def signature(self):
        return Signature({"metric": "words", "least": self.least})

    def score_many(self, candidates):
        values = [float(len(one.split())) if len(one.split()) >= self.least else math.nan for one in candidates]
        return _Table(*values)


def test_a_metric_knows_its_choices():
    assert _Words().options() == {} and _Words(least=2).options() == {"least": 2}
    assert _Words.defaults() == {"least": 1, "types": []}
    assert _Words(least=2).fingerprint == _Words(least=2).fingerprint != _Words().fingerprint
    assert [one.score for one in score_rows(_Words(), [{"candidate": "a b"}, {"candidate": ""}])] == [2.0, None]


def test_a_metric_says_what_it_lacks():
    for call in (lambda: Metric().signature, lambda: Metric().score("a"), lambda: ScoreTable().arrays()):
        with pytest.raises(NotImplementedError, match="Metric must|ScoreTable must"):
            call()


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ([1.0], ValueError, "gave 1 scores for 2 rows"),
        ("ab", TypeError, "must return a ScoreTable or a list, not str"),
        (None, TypeError, "not NoneType"),
    ],
)
def test_an_own_metric_that_answers_wrongly_is_named(answer, error, message):
    with pytest.raises(error, match=message):
        score_rows(_Own(answer), [{"candidate": "a"}, {"candidate": "b"}])


def test_an_own_metric_needs_no_base():
    found = score_rows(_Own([1, math.nan, None]), [{"candidate": "a"}] * 3)
    assert [(one.score, one.status) for one in found] == [(1.0, "ok"), (None, "failed"), (None, "undefined")]


@pytest.mark.parametrize("wrong", [_Words, len, "bleu", None, 3, [1]])
def test_what_is_no_metric_is_refused(wrong):
    with pytest.raises(TypeError, match="metric (is the class _Words: make one|must be a metric, not)"):
        require_metric(wrong)
