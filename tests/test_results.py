"""Results refuse what would make them untrustworthy; signatures survive any text."""

import math
import operator
import pickle
from functools import partial

import numpy as np
import pytest
from helpers.late import Late
from hypothesis import given
from hypothesis import strategies as st

import summeval_nb as s
from summeval_nb.core.results import Score, ScoreTable, Signature, Verdict

pd = Late("pandas")
plain = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(plain.filter(bool), plain, min_size=1))
def test_a_signature_reads_back(parts):
    signature = Signature(parts)
    assert Signature.parse(str(signature)) == signature
    assert signature.differences(signature) == {}


def test_what_is_no_signature_is_refused():
    for text in ("", "BLEU = 27.3", "k:3|", "k:3||m:1", ":3"):
        with pytest.raises(ValueError, match="name:value"):
            Signature.parse(text)
    assert dict(Signature.parse("nrefs:1|case:mixed")) == {"nrefs": "1", "case": "mixed"}, "an old line has no version"


def test_an_undefined_score_is_no_number_and_says_why_and_impossible_ones_are_refused():
    with pytest.raises(ValueError, match="reason"):
        Score(score=None, signature=Signature({}))
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="finite"):
            Score(score=bad, signature=Signature({}))
    undefined = Score(score=None, reason="the summary is empty", signature=Signature({}))
    with pytest.raises(ValueError, match="the summary is empty"):
        float(undefined)
    assert undefined.to_dict()["score"] is None
    assert "undefined: the summary is empty" in undefined._repr_html_()
    none = undefined
    assert none != 1.0 and none != 0 and none != None  # noqa: E711
    uses = lambda: none > 0.5, lambda: none < none, lambda: round(none, 1), lambda: int(none), lambda: np.mean([none])
    for use in uses:
        with pytest.raises(ValueError, match="the summary is empty"):
            use()
    with pytest.raises(TypeError):
        none < "a"  # noqa: B015
    failed = {"probability": None, "failed": True}, {"probability": 0.5, "failed": True, "reason": "x"}
    for arguments in ({"probability": 1.5}, {"probability": math.nan}, {"probability": None}, *failed):
        with pytest.raises(ValueError, match="verdict|probability"):
            Verdict(**arguments)


def _score_at(values, place):
    value = values[place]
    known = not math.isnan(value)
    return Score(
        score=value if known else None, reason="" if known else "nothing", signature=Signature({"metric": "mine"})
    )


def _Table(*values: float):
    array = np.array(values, dtype=float)
    arrays = {"mine": array, "twice": 2 * array}
    return ScoreTable(arrays=arrays, result_of=partial(_score_at, array), signature=Signature({"metric": "mine"}))


def test_an_undefined_score_is_nan_none_and_in_no_mean():
    table = _Table(1.0, math.nan, 0.0)
    assert np.isnan(table.scores[1]) and table.rows()[1] == {"mine": None, "twice": None}
    assert table.mean() == 0.5 and table.means() == {"mine": 0.5, "twice": 1.0} and table.mean("twice") == 1.0
    assert (len(table), table.n_undefined, table.defined.tolist()) == (3, 1, [True, False, True])
    assert table.to_dict()["n_undefined"] == 1 and math.isnan(table.to_frame()["mine"][1])
    assert [outcome.status for outcome in table.outcomes()] == ["ok", "undefined", "ok"]
    assert table.reasons() == ["", "there is nothing to score", ""]
    for table in (_Table(math.nan), _Table()):
        assert table.mean() is None and "no text of" in table._repr_html_() and "mean None" in repr(table)
    assert list(_Table().to_frame().columns) == ["mine", "twice"]
    with pytest.raises(ValueError, match="unknown number 'other'; known: 'mine', 'twice'"):
        _Table(1.0).mean("other")


def test_a_score_is_a_number_where_it_is_used_as_one():
    one, two = (Score(score=value, signature=Signature({"metric": "m"})) for value in (0.25, 0.75))
    other = Score(score=0.25, signature=Signature({"metric": "another"}))
    assert one < two and two >= 0.75 and one <= 0.5 and np.float64(0.5) < two and sorted([two, one]) == [one, two]
    assert one == 0.25 and one != 0.5 and one != other and one == Score(score=0.25, signature=one.signature)
    assert hash(one) == hash(0.25) and one != "0.25"
    assert (
        (int(two), float(two)) == (0, 0.75)
        and round(two, 1) == 0.8
        and f"{one:.1%}" == "25.0%"
        and f"{one}" == repr(one)
    )
    assert np.mean([one, two]) == 0.5 and np.asarray([one, two], dtype=float).tolist() == [0.25, 0.75]


@pytest.mark.parametrize("kind", ["None", "nan", "NA"])
def test_a_row_that_lacks_a_cell_has_no_score_and_the_batch_goes_on(kind, tmp_path):
    gap = None if kind == "None" else pd.NA if kind == "NA" else math.nan
    frame = pd.DataFrame({"candidate": ["a cat", gap, "a dog"], "references": ["a cat", "a", gap]}, index=[7, 4, 2])
    table = s.rouge_many(frame, types=["rouge1"])
    assert table["rouge1_f1"][0] == 1 and np.isnan(table["rouge1_f1"][1:]).all() and table.mean() == 1
    assert table.reasons() == ["", "candidate is missing in this row", "references is missing in this row"]
    assert list(table.to_frame().index) == [7, 4, 2] and table.n_undefined == 2 and len(table.worst(1)) == 1
    again = pickle.loads(pickle.dumps(table))
    assert [outcome.status for outcome in again.outcomes()] == ["ok", "undefined", "undefined"]
    report = s.evaluate_many(["It rained.", gap], ["It rained.", "It rained."], checker="words", progress=False)
    assert report.rows()[1]["reason"] == "text is missing in this row" and report.summary()[0]["n"] == 1
    assert report.to_frame(by="sentence")["row"].tolist() == [0]
    for write in (report.to_html, report.to_csv, report.to_json, table.to_html):
        assert write(tmp_path / "report").stat().st_size
    with pytest.raises(ValueError, match="not 2 candidates, 1 references"):
        s.rouge_many(["a cat", gap], ["a cat"])
    with pytest.raises(ValueError, match="leave the row out"):
        s.corpus_bleu(["a", gap], ["a", "b"])
    assert s.rouge_many(["a", "a"], [["b", gap, "a"], [gap]], types=["rouge1"]).scores.tolist()[0] == 1
    assert table.to_frame()["reason"].tolist() == table.reasons()
    names = {"question": ["When?"] * 3, "contexts": [["It rained."], [gap], gap], "answer": ["It rained."] * 3}
    scores = s.evaluate_rag(names, ["answer_faithfulness"], judge="words", progress=False).scores
    assert scores[0] == 1 and np.isnan(scores[1:]).all()
    systems = s.compare_systems({"a": list("abc"), "b": ["a", gap, "c"]}, list("abc"), metrics=["bleu", "rouge1"])
    assert [row["n"] for row in systems.rows()] == [2] * 4
    assert s.correlate([1, 2, 3, 4, 5, 6], [1, 2, gap, 5, "N/A", "nan"], n_resamples=0).n_missing == 3


@pytest.mark.parametrize(
    "make",
    ["pandas.DataFrame", "pyarrow.table", "pyarrow.RecordBatch.from_pydict", "polars.DataFrame"]
    + ["datasets.Dataset.from_dict"],
)
def test_tables_of_other_libraries_are_read(make, tmp_path):
    library, _, names = make.partition(".")
    made = operator.attrgetter(names)(pytest.importorskip(library))
    table = made({"text": ["It rained.", "x"], "summary": ["It rained.", None], "reference": ["It rained.", "x"]})
    found = [
        s.rouge_many(table, types=["rouge1"]),
        s.rouge_many(table["summary"], table["reference"], types=["rouge1"]),
        s.evaluate_many(table, checker="words", progress=False),
        s.run(table, "rouge1", out=tmp_path / "run", workers=0, progress=False),
    ]
    assert [one.mean() for one in found] == [1] * 4
    if library == "datasets":  # of it texts are read, and no ratings
        return
    ratings = made({"anna": [1, 2, 3, None], "bert": [1, 2, 3, 4]})
    assert s.krippendorff_alpha(ratings, level="ordinal", n_resamples=0).score == 1
