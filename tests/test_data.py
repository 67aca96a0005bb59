"""Files that are not what they claim to be, and the real SummEval against what is published about it."""

import gzip
import json

import numpy as np
import pytest

from summeval_nb.core.data import QUALITIES, SummEval, load_summeval, load_toy_summeval, sample_articles


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
    (article("b", references="one"), "line 2: references must be a list of strings"),
    (article("b", references=[]), "line 2: 'references' is empty"),
    (article("b", systems=[]), "line 2: 'systems' is empty"),
    (article("b", systems=[entry("M1"), entry("M2", relevance="4")]), "'relevance' must be a number"),
    (article("b", systems=[entry("M1"), entry("M1")]), "line 2: the system 'M1' stands there twice"),
    (article("b", systems=[entry("M1")]), "not in both: 'M2'"),
    (article("b", systems=[entry("M1"), drop(entry("M2"), "fluency")]), "system 'M2': the field 'fluency' is missing"),
    (article("b", systems=[entry("M1"), entry("M2", relevance=0)]), "'relevance' must lie on the scale"),
    (article("a"), "line 2: the id 'a' stands there a second time"),
    (["a list"], "line 2: it must be a JSON object"),
]


def test_a_broken_line_is_named(tmp_path):
    file = tmp_path / "ratings.jsonl"
    for second, message in BROKEN:
        file.write_text("\n".join(map(json.dumps, [article("a"), second])), encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            load_summeval(file)


def test_a_file_that_is_not_json_lines_is_refused(tmp_path):
    packed = gzip.compress(json.dumps(article()).encode() * 50, mtime=0)
    files = {"half.jsonl": b'{"id": ', "latin.jsonl": '{"id": "é"}'.encode("latin-1"), "plain.jsonl.gz": b'{"id": 1}'}
    files |= {"cut.jsonl.gz": packed[:-12], "spoiled.jsonl.gz": packed[:40] + bytes(60), "empty.jsonl": b"\n\n"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=name.split(".")[0]):
            load_summeval(tmp_path / name)
    with pytest.raises(ValueError, match=r"load_summeval\(path\).*download=True.*load_toy_summeval"):
        load_summeval()


def test_systems_are_matched_by_name_not_by_place():
    swapped = article("b", systems=[entry("M2", relevance=2.0), entry("M1", relevance=1.0)])
    data = SummEval.from_records([article("a"), swapped])
    assert data.summaries[1] == ["by M1", "by M2"]
    assert data.ratings["relevance"].tolist() == [[3.0, 3.0], [1.0, 2.0]]


def test_the_columns_of_mteb_are_read(tmp_path):
    row = {"id": "a", "text": "It rained.", "human_summaries": ["Rain."], "machine_summaries": ["Wet.", "Dry."]}
    row |= dict.fromkeys(QUALITIES, [5.0, 1.0])
    (tmp_path / "mteb.jsonl").write_text(json.dumps(row))
    for data in (load_summeval(tmp_path / "mteb.jsonl"), SummEval.from_records([row])):
        assert (data.sources, data.references, data.summaries) == (["It rained."], [["Rain."]], [["Wet.", "Dry."]])
        assert data.ratings["fluency"].tolist() == [[5, 1]]
    with pytest.raises(ValueError, match="record 0: each summary needs a rating of each quality"):
        SummEval.from_records([row | {"fluency": [5.0]}])


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


def test_html_from_outside_is_escaped_and_take_keeps_rows_together():
    data = SummEval.from_records([article(systems=[entry("<script>"), entry("M2")])], name="<b>")
    assert "<script>" not in data._repr_html_() and "<b>" not in data._repr_html_()
    toy = load_toy_summeval()
    part = toy.take([5, 1])
    assert part.ids == ["dog", "bus"] and part.summaries == [toy.summaries[5], toy.summaries[1]]
    assert (part.ratings["fluency"] == toy.ratings["fluency"][[5, 1]]).all()
    assert part.shape == (2, 4) and part.fingerprint != toy.fingerprint


def test_samples_are_what_the_book_promises():
    for sample in sample_articles():
        assert sum(sample.text.count(mark) for mark in ".?!") >= 8 and '"' in sample.text
        for summary in sample.summaries.values():
            notes = zip(summary.notes, summary.supported, strict=True)
            assert 2 <= len(summary.sentences) <= 4 and all(bool(note) != supported for note, supported in notes)


def test_real_summeval_has_its_published_shape(data_folder):
    data = load_summeval(data_folder / "summeval.jsonl.gz")
    assert data.shape == (100, 16) and {len(r) for r in data.references} == {11} and data.name == "summeval"
    assert data.ratings["relevance"].mean() == pytest.approx(3.7770833, abs=1e-6)  # MTEB's own statistics


def test_thirds_are_read_back_as_thirds():
    """However many digits a file keeps of them; what is no such mean stays, and so does everything undeclared."""
    written = {"coherence": 1.666667, "consistency": 1.66666667, "fluency": 4.333333, "relevance": 3.67}
    record = article(systems=[entry("M1", **written), entry("M2", fluency=None)])
    exact = SummEval.from_records([record], raters=3).ratings
    assert [exact[q][0, 0] for q in QUALITIES] == [5 / 3, 5 / 3, 13 / 3, 3.67] and np.isnan(exact["fluency"][0, 1])
    assert SummEval.from_records([record]).ratings["coherence"][0, 0] == 1.666667
    for raters, error in ((0, ValueError), (10**9, ValueError), (2.5, TypeError)):
        with pytest.raises(error, match="raters"):
            SummEval.from_records([article()], raters=raters)
