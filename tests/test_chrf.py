"""chrF and chrF++ against sacrebleu 2.6, on real and random texts; one text, many and a corpus agree; bad input."""

import gzip
import json
import random

import numpy as np
import pytest
from helpers.late import Late
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb.overlap import translation
from summeval_nb.overlap.chrf import chrf_counts
from summeval_nb.overlap.translation import chrf_many, chrf_score, corpus_chrf, count_chrf

CHRF = Late("sacrebleu.metrics", "CHRF")

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
CHOICES = [
    {},
    {"word_order": 2},
    {"word_order": 2, "eps_smoothing": True},
    {"char_order": 3, "beta": 1, "lowercase": True},
    {"whitespace": True, "eps_smoothing": True},
    {"char_order": 1, "word_order": 1, "beta": 0.5},
]
WORDS = ["the", "The", "cat", "cats.", "(hi)", "3.5", "-", "!", "é", "我们", "ß", "İ", "on", "\u3000", "a" * 30, "𝒳y"]


def fuzz(count, seed):
    rng = random.Random(seed)
    text = lambda: rng.choice([" ", "  ", "\n", ""]).join(rng.choices(WORDS, k=rng.choice([0, 1, 1, 2, 3, 5, 13])))
    return [(text(), [text() for _ in range(rng.choice([1, 1, 2, 3, 5]))]) for _ in range(count)]


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_one_text_and_many_equal_sacrebleu_on_fuzzed_pairs(choice):
    pairs = fuzz(400, len(str(choice)))
    peer = CHRF(**choice)
    expected = [peer.sentence_score(text, group).score for text, group in pairs]
    table = chrf_many([text for text, _ in pairs], [group for _, group in pairs], **choice)
    np.testing.assert_allclose(np.nan_to_num(table.scores), expected, rtol=0, atol=1e-9)
    for (text, group), score, defined in zip(pairs, expected, table.defined, strict=True):
        mine = chrf_score(text, group, **choice)
        assert (mine.score is not None) == defined
        assert (mine.score or 0.0) == pytest.approx(score, abs=1e-9)


@given(st.text(max_size=30), st.lists(st.text(max_size=30), min_size=1, max_size=3), st.sampled_from(CHOICES))
def test_any_two_strings_equal_sacrebleu(text, group, choice):
    expected = CHRF(**choice).sentence_score(text, group).score
    assert (chrf_score(text, group, **choice).score or 0.0) == pytest.approx(expected, abs=1e-9)
    assert np.nan_to_num(chrf_many([text], [group], **choice).scores[0]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("choice", CHOICES[:3], ids=str)
def test_corpus_equals_sacrebleu_and_lots_do_not_matter(choice, monkeypatch):
    pairs = [(text, (group * 3)[:3]) for text, group in fuzz(120, 5)]
    texts, groups = [text for text, _ in pairs], [group for _, group in pairs]
    streams = [list(stream) for stream in zip(*groups, strict=True)]
    expected = CHRF(**choice).corpus_score(texts, streams).score
    assert float(corpus_chrf(texts, groups, **choice)) == pytest.approx(expected, abs=1e-9)
    whole = chrf_many(texts, groups, **choice).scores
    monkeypatch.setattr(translation, "_CHARACTERS", 50)
    assert (np.nan_to_num(chrf_many(texts, groups, **choice).scores) == np.nan_to_num(whole)).all()


def test_summeval_equals_sacrebleu(data_folder):
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][:3]
    pairs = [(system["summary"], row["references"][:2]) for row in rows for system in row["systems"]]
    texts, groups = [text for text, _ in pairs], [group for _, group in pairs]
    peer = CHRF(word_order=2)
    expected = [peer.sentence_score(text, group).score for text, group in pairs]
    np.testing.assert_allclose(chrf_many(texts, groups, word_order=2).scores, expected, rtol=0, atol=1e-9)
    streams = [list(stream) for stream in zip(*groups, strict=True)]
    assert float(corpus_chrf(texts, groups)) == pytest.approx(CHRF().corpus_score(texts, streams).score, abs=1e-9)


def test_counts_of_many_are_those_of_the_definition():
    pairs = fuzz(150, 23)
    for choice in ({"word_order": 2}, {"char_order": 2, "lowercase": True, "whitespace": True}):
        counts = count_chrf(*zip(*pairs, strict=True), **choice).tolist()
        each = [chrf_counts(text, reference, **choice) for text, group in pairs for reference in group]
        assert counts == [list(map(list, triples)) for triples in each]


def test_undefined_scores_are_none_with_a_reason():
    for pair in (("", ""), (" \n", ["", "\t"])):
        score = chrf_score(*pair)
        assert score.score is None and "nothing to compare" in score.reason
    table = chrf_many(["", "a"], ["", "a"])
    assert table.rows() == [{"chrf": None}, {"chrf": 100.0}] and table.mean() == 100.0
    assert len(chrf_many([], [])) == 0 and chrf_many([], []).mean() is None
    assert float(chrf_score("", "a")) == 0 == float(chrf_score("a", ""))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beta": -1}, "between 0 and 1000"),
        ({"beta": float("nan")}, "between 0 and 1000"),
        ({"beta": "2"}, "must be a number"),
        ({"char_order": 0}, "at least 1"),
        ({"word_order": 101}, "at most 100"),
        ({"lowercase": 1}, "True or False"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        chrf_score("a", "a", **options)
    with pytest.raises((TypeError, ValueError), match=message):
        chrf_many(["a"], ["a"], **options)


def test_bad_texts_are_named():
    with pytest.raises(TypeError, match="candidate must be a string"):
        chrf_score(None, "a")
    with pytest.raises(ValueError, match="at least one reference"):
        chrf_score("a", [])
    with pytest.raises(ValueError, match="one entry per candidate"):
        chrf_many(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="at least one text"):
        corpus_chrf([], [])


def test_results_carry_what_was_counted():
    score = chrf_score("cats", ["dog", "cat"], word_order=2)
    data = score.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["rows"][0] == {
        "kind": "character", "order": 1, "candidate": 4, "reference": 3, "shared": 3, "precision": 0.75, "recall": 1.0,
    }  # fmt: skip
    assert data["rows"][6]["kind"] == "word" and data["signature"].startswith(
        "metric:chrF2++|nrefs:2|case:mixed|eff:yes"
    )
    picture = score.explain(n=2)
    assert "reference 2 of 2: [ca][t]" in str(picture) and "candidate: [ca][t]s" in str(picture)
    assert "<mark" in picture._repr_html_() and "89.84" not in str(picture)
    assert "&lt;b&gt;" in chrf_score("<b>", "<b>").explain()._repr_html_()
    assert "İ" in str(chrf_score("İstanbul", "istanbul", lowercase=True).explain(n=1))
    html = chrf_many(["a"], ["a"])._repr_html_()
    assert "chrf, mean of 1 texts" in html and "100.0000" in html
    assert list(chrf_many(["a"], ["a"]).to_frame()) == ["chrf"]


def test_an_interval_of_a_corpus():
    texts = ["the cat sat", "a dog ran", "no", "yes it did"]
    corpus = corpus_chrf(texts, ["the cat sat down", "a dog runs", "yes", "yes it did"])
    interval = corpus.interval(n_resamples=50, seed=3)
    assert interval.low < float(corpus) < interval.high and interval == corpus.interval(n_resamples=50, seed=3)
