"""Files that are not what they claim to be, and the real SummEval against what is published about it."""

import doctest
import gzip
import json

import numpy as np
import pytest

import summeval_nb.core.data
from summeval_nb.core.data import QUALITIES, SummEval, _from_hub, load_summeval, load_toy_summeval, sample_articles


def test_docstring_examples_run():
    assert doctest.testmod(summeval_nb.core.data).failed == 0


def entry(system, **changes):
    return {"system": system, "summary": f"by {system}"} | dict.fromkeys(QUALITIES, 3.0) | changes


def article(identity="a", **changes):
    systems = [entry("M1"), entry("M2")]
    return {"id": identity, "source": "An article.", "references": ["Short."], "systems": systems} | changes


def drop(record, name):
    return {key: value for key, value in record.items() if key != name}


# second line of the file, what the message must say
BROKEN = [
    (drop(article("b"), "id"), "line 2: the field 'id' is missing"),
    (drop(article("b"), "source"), "line 2: the field 'source' is missing"),
    (article("b", source=None), "line 2: source must be a string"),
    (article("b", references="one"), "line 2: references must be a list of strings"),
    (article("b", references=[]), "line 2: 'references' is empty"),
    (article("b", references=["x", 3]), r"references\[1\] must be a string"),
    (article("b", systems=[]), "line 2: 'systems' is empty"),
    (article("b", systems="M1"), "line 2: 'systems' must be a list"),
    (article("b", systems=[entry("M1"), entry("M1")]), "line 2: the system 'M1' stands there twice"),
    (article("b", systems=[entry("M1")]), "not in both: 'M2'"),
    (article("b", systems=[entry("M1"), drop(entry("M2"), "fluency")]), "system 'M2': the field 'fluency' is missing"),
    (article("b", systems=[entry("M1"), drop(entry("M2"), "system")]), r"systems\[1\]: the field 'system' is missing"),
    (article("b", systems=[entry("M1"), entry("M2", relevance=0)]), "'relevance' must lie on the scale"),
    (article("b", systems=[entry("M1"), entry("M2", relevance=5.01)]), "'relevance' must lie on the scale"),
    (article("b", systems=[entry("M1"), entry("M2", relevance=float("nan"))]), "'relevance' must lie on the scale"),
    (article("b", systems=[entry("M1"), entry("M2", relevance="4")]), "'relevance' must be a number"),
    (article("b", systems=[entry("M1"), entry("M2", relevance=True)]), "'relevance' must be a number"),
    (article("b", systems=[entry("M1"), entry("M2", summary=["x"])]), "system 'M2': summary must be a string"),
    (article("a"), "line 2: the id 'a' stands there a second time"),
    (["a list"], "line 2 must be a JSON object"),
]


@pytest.mark.parametrize(("second", "message"), BROKEN, ids=range(len(BROKEN)))
def test_a_broken_line_is_named(tmp_path, second, message):
    file = tmp_path / "ratings.jsonl"
    file.write_text("\n".join(map(json.dumps, [article("a"), second])), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        load_summeval(file)


def test_a_packed_file_may_end_in_capitals(tmp_path):
    (tmp_path / "RATINGS.JSONL.GZ").write_bytes(gzip.compress(json.dumps(article()).encode()))
    assert load_summeval(tmp_path / "RATINGS.JSONL.GZ").ids == ["a"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("half.jsonl", b'{"id": '),
        ("latin.jsonl", '{"id": "é"}'.encode("latin-1")),
        ("plain.jsonl.gz", b'{"id": "a"}'),
        ("cut.jsonl.gz", gzip.compress(json.dumps(article()).encode() * 50, mtime=0)[:-12]),
        ("spoiled.jsonl.gz", gzip.compress(json.dumps(article()).encode() * 50, mtime=0)[:40] + bytes(60)),
        ("empty.jsonl", b"\n\n"),
    ],
)
def test_a_file_that_is_not_json_lines_is_refused(tmp_path, name, content):
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(ValueError, match=name.split(".")[0]):
        load_summeval(file)


def test_no_path_asks_what_is_meant(tmp_path):
    with pytest.raises(ValueError, match=r"load_summeval\(path\).*download=True.*load_toy_summeval"):
        load_summeval()
    with pytest.raises(FileNotFoundError):
        load_summeval(tmp_path / "nothing.jsonl")


def test_systems_are_matched_by_name_not_by_place():
    swapped = article("b", systems=[entry("M2", relevance=2.0), entry("M1", relevance=1.0)])
    data = SummEval.from_records([article("a"), swapped])
    assert data.summaries[1] == ["by M1", "by M2"]
    assert data.ratings["relevance"].tolist() == [[3.0, 3.0], [1.0, 2.0]]


def test_a_missing_rating_is_nan_and_survives_a_round_trip():
    data = SummEval.from_records([article(systems=[entry("M1", relevance=None), entry("M2")])])
    assert np.isnan(data.ratings["relevance"][0, 0]) and not np.isnan(data.ratings["fluency"]).any()
    text = json.dumps(data.to_dict()["records"], allow_nan=False)
    assert SummEval.from_records(json.loads(text)).fingerprint == data.fingerprint
    assert "–" not in SummEval.from_records([article()])._repr_html_() and "–" in data._repr_html_()


def test_data_frames_and_datasets_are_read():
    import pandas as pd

    datasets = pytest.importorskip("datasets")
    records = [article("a"), article("b")]
    expected = SummEval.from_records(records).fingerprint
    assert SummEval.from_records(pd.DataFrame(records)).fingerprint == expected
    assert SummEval.from_records(datasets.Dataset.from_list(records)).fingerprint == expected


def test_html_from_outside_is_escaped():
    data = SummEval.from_records([article(systems=[entry("<script>"), entry("M2")])], name="<b>")
    assert "<script>" not in data._repr_html_() and "<b>" not in data._repr_html_()


def test_ratings_cannot_be_changed_by_accident():
    with pytest.raises(ValueError, match="read-only"):
        load_toy_summeval().ratings["relevance"][0, 0] = 1


def test_take_keeps_rows_together():
    toy = load_toy_summeval()
    part = toy.take([5, 1])
    assert part.ids == ["dog", "bus"] and part.summaries == [toy.summaries[5], toy.summaries[1]]
    assert (part.ratings["fluency"] == toy.ratings["fluency"][[5, 1]]).all()
    assert part.shape == (2, 4) and part.fingerprint != toy.fingerprint


def test_toy_frame_has_a_row_for_each_summary():
    toy = load_toy_summeval()
    frame = toy.to_frame()
    assert len(frame) == 32 and frame.loc[frame.article == "bees", "system"].tolist() == toy.systems
    row = frame[(frame.article == "dog") & (frame.system == "careless")].iloc[0]
    assert row.consistency == 1 and "ladder" in row.summary


@pytest.mark.parametrize("sample", sample_articles(), ids=lambda a: a.name)
def test_samples_are_what_the_book_promises(sample):
    assert sum(sample.text.count(mark) for mark in ".?!") >= 8
    assert '"' in sample.text and any(c.isdigit() for c in sample.text)
    for summary in sample.summaries.values():
        assert 2 <= len(summary.sentences) <= 4
        assert all(bool(note) != supported for note, supported in zip(summary.notes, summary.supported, strict=True))


def test_real_summeval_has_its_published_shape(data_folder):
    data = load_summeval(data_folder / "summeval.jsonl.gz")
    assert data.shape == (100, 16) and {len(r) for r in data.references} == {11} and data.name == "summeval"
    assert data.ratings["relevance"].mean() == pytest.approx(3.7770833, abs=1e-6)  # MTEB's own statistics
    row = {
        "id": data.ids[3],
        "text": data.sources[3],
        "human_summaries": data.references[3],
        "machine_summaries": data.summaries[3],
    } | {quality: data.ratings[quality][3].tolist() for quality in QUALITIES}
    hub = SummEval.from_records([_from_hub(row)])
    assert hub.summaries == [data.summaries[3]]
    assert all((hub.ratings[q][0] == data.ratings[q][3]).all() for q in QUALITIES)


def test_thirds_are_read_back_as_thirds():
    """However many digits a file keeps of them; what is no such mean stays, and so does everything undeclared."""
    written = {"coherence": 1.666667, "consistency": 1.66666667, "fluency": 4.333333, "relevance": 3.67}
    record = article(systems=[entry("M1", **written), entry("M2", fluency=None)])
    exact = SummEval.from_records([record], raters=3).ratings
    assert [exact[q][0, 0] for q in QUALITIES] == [5 / 3, 5 / 3, 13 / 3, 3.67] and np.isnan(exact["fluency"][0, 1])
    assert SummEval.from_records([record]).ratings["coherence"][0, 0] == 1.666667


def test_a_file_is_one_of_means_of_three_unless_said_otherwise(tmp_path):
    file = tmp_path / "ratings.jsonl"
    file.write_text(json.dumps(article(systems=[entry("M1", relevance=1.333333)])), encoding="utf-8")
    assert load_summeval(file).ratings["relevance"][0, 0] == 4 / 3
    assert load_summeval(file, raters=None).ratings["relevance"][0, 0] == 1.333333
    assert load_summeval(file, raters=4).ratings["relevance"][0, 0] == 1.333333


@pytest.mark.parametrize(
    ("raters", "error"), [(0, ValueError), (-3, ValueError), (10**9, ValueError), (True, TypeError), (2.5, TypeError)]
)
def test_a_number_of_raters_that_makes_no_sense_is_refused(raters, error):
    with pytest.raises(error, match="raters"):
        SummEval.from_records([article()], raters=raters)
