"""TER against sacrebleu 2.6, shifts, beam and tokenizer included; one text, many and a corpus agree; bad input."""

import gzip
import json
import random

import numpy as np
import pytest
from helpers.late import Late
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb.overlap.beam import BeamTable
from summeval_nb.overlap.ter import count_edits
from summeval_nb.overlap.tokens import tercom_words
from summeval_nb.overlap.translation import corpus_ter, ter_many, ter_score

TER = Late("sacrebleu.metrics", "TER")
BeamEditDistance = Late("sacrebleu.metrics.lib_ter", "BeamEditDistance")
translation_edit_rate = Late("sacrebleu.metrics.lib_ter", "translation_edit_rate")

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
CHOICES = [
    {},
    {"normalized": True},
    {"no_punct": True, "case_sensitive": True},
    {"normalized": True, "asian_support": True},
    {"normalized": True, "asian_support": True, "no_punct": True},
]
WORDS = [
    "the",
    "The",
    "cat",
    "cats.",
    "'s",
    "3.5",
    "1,000",
    "5-",
    "&quot;x&quot;",
    "。",
    "我们",
    "カナ",
    "ひら",
    "a\n-b",
    "on",
]


def drawn(rng, longest):
    """A text and a reference: unrelated, or the reference with phrases moved, taken out and put in."""
    words = [f"w{i}" for i in range(rng.choice([2, 5, 20, 100]))]
    reference = rng.choices(words, k=rng.choice([0, 1, 3, 8, 20, longest]))
    if rng.random() < 0.4:
        return rng.choices(words, k=rng.choice([0, 1, 3, 8, 20, longest])), reference
    text = list(reference)
    for _ in range(rng.randint(0, 5)):
        if text:
            start = rng.randrange(len(text))
            phrase = text[start : start + rng.randint(1, 6)]
            del text[start : start + len(phrase)]
            place = rng.randint(0, len(text))
            text[place:place] = phrase if rng.random() < 0.7 else []
    return text, reference


@pytest.mark.parametrize("seed", range(3))
def test_edits_equal_sacrebleu(seed):
    rng = random.Random(seed)
    for _ in range(60):
        text, reference = drawn(rng, 40)
        assert count_edits(text, reference).total == translation_edit_rate(text, reference)[0], (text, reference)


@pytest.mark.parametrize(("own", "wanted"), [(90, 30), (30, 90), (60, 61), (1, 80), (80, 2), (2, 120)])
def test_the_beam_binds_as_in_sacrebleu(own, wanted):
    """Texts of very different lengths: cells outside the beam never win; among equals the same way is taken."""
    rng = random.Random(own)
    for _ in range(4):
        text, reference = (rng.choices("abcdef", k=size) for size in (own, wanted))
        assert BeamTable("".join(reference)).trace("".join(text)) == BeamEditDistance(reference)(text)


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), min_size=1, max_size=12))
def test_any_two_texts_equal_sacrebleu(text, reference):
    edits = count_edits(text, reference)
    assert edits.total == translation_edit_rate(text, reference)[0]
    assert sorted(edits.order) == list(range(len(text)))
    kept = [text[place] for place in edits.order]
    rebuilt, i, j = [], 0, 0
    for operation in edits.operations:  # following the operations gives the reference
        rebuilt += [kept[i]] if operation == " " else [reference[j]] if operation in "si" else []
        i, j = i + (operation != "i"), j + (operation != "d")
    assert rebuilt == list(reference) and i == len(text)


@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_scores_equal_sacrebleu_with_every_flag(choice):
    rng = random.Random(len(str(choice)))
    text = lambda: rng.choice([" ", "  ", "\n", ""]).join(rng.choices(WORDS, k=rng.choice([0, 1, 2, 5, 9])))
    texts, groups = [text() for _ in range(60)], [[text(), text()] for _ in range(60)]
    peer = TER(**choice)
    expected = [peer.sentence_score(made, group).score for made, group in zip(texts, groups, strict=True)]
    table = ter_many(texts, groups, **choice)
    np.testing.assert_allclose(np.nan_to_num(table.scores), expected, rtol=0, atol=1e-9)
    singles = [ter_score(made, group, **choice).score for made, group in zip(texts, groups, strict=True)]
    assert [row["ter"] for row in table.rows()] == singles
    streams = [list(stream) for stream in zip(*groups, strict=True)]
    corpus = corpus_ter(texts, groups, **choice)
    assert float(corpus) == pytest.approx(peer.corpus_score(texts, streams).score, abs=1e-9)


@given(st.text(max_size=40), st.sampled_from(CHOICES))
def test_words_are_tercoms(text, choice):
    flags = {name: choice.get(name, False) for name in ("normalized", "no_punct", "asian_support", "case_sensitive")}
    assert tercom_words(text, **flags) == TER(**choice)._preprocess_segment(text).split()


def test_summeval_equals_sacrebleu(data_folder):
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        row = json.loads(next(lines))
    texts, groups = [system["summary"] for system in row["systems"][:6]], [row["references"][:1]] * 6
    expected = [TER().sentence_score(text, group).score for text, group in zip(texts, groups, strict=True)]
    np.testing.assert_allclose(ter_many(texts, groups).scores, expected, rtol=0, atol=1e-9)


def test_too_many_candidates_end_the_search_as_in_sacrebleu():
    text, reference = list("ab" * 30), list("ba" * 25 + "c" * 5)
    assert count_edits(text, reference).total == translation_edit_rate(text, reference)[0]


def test_undefined_and_empty():
    score = ter_score(" ", ["", "\n"])
    assert score.score is None and "nothing to compare" in score.reason
    assert float(ter_score("", "a b")) == 100 == float(ter_score("a b", ""))
    assert ter_many(["", "a"], ["", "a"]).rows()[0]["ter"] is None
    assert len(ter_many([], [])) == 0
    assert ter_many(["a", "a b c", ""], ["a", "a", ""]).worst_first() == [1, 0, 2], "the most edits come first"


def test_results_carry_what_was_counted():
    score = ter_score("on the mat it <b>", ["no", "it sat on the mat"])
    data = score.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert data["rows"] == [{"edits": 3, "reference_length": 3.0}]
    assert data["signature"].startswith("metric:ter|nrefs:2|case:lc|tok:tercom|norm:no|punct:yes|asian:no")
    picture = score.explain()
    assert [row["edit"] for row in picture.rows][0].startswith("shift, saves") and len(picture.rows) == 3
    assert picture.rows[0]["candidate"] == "it"
    assert "&lt;b&gt;" in picture._repr_html_() and "<b>" not in picture._repr_html_()
    assert "reference 2 of 2" in str(picture)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ter_score(None, "a"), "candidate must be a string"),
        (lambda: ter_score("a", []), "at least one reference"),
        (lambda: ter_score("a", "a", normalized="yes"), "True or False"),
        (lambda: ter_many(["a"], ["a", "b"]), "one entry per candidate"),
        (lambda: corpus_ter([], []), "at least one text"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
