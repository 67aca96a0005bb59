"""ROUGE by rouge-score-rs and by our own code: one number, whatever the texts are; what it does not serve is ours."""

import random
import warnings

import numpy as np
import pytest

from summeval_nb import Rouge, rouge_many, rouge_score
from summeval_nb.overlap import _fast

pytest.importorskip("rouge_score_rs")
ALL = (*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum")
HOSTILE = [
    *("", " ", "\n\n", "...", "\u00e9\u00e8", "\u732b", "0", "a", "A\x00b", "\ud800 a \udfff", "x " * 300),
    *("\u212a\u0130\u017f \u212b", "\u0130stanbul 3.50", "\uff21\uff22 ab", "a\u0301b", "\u00df SS ss"),
    *("na\u00efve caf\u00e9", "a\u00a0b\u2003c\u2028d\u0085e", "don't don\u2019t", "1 2 3 1 2 3", "\u202eabc"),
    *("running runs runner generalizations oscillators", "skies dying lying news proceed", "<b>a</b>&amp;"),
    *("a b\nc d\n\ne f", "a b\r\nc d", "\U0001f600 smile \U0001f600"),
]
WORDS = "the cat cats sat on a mat \u212a running ran 12 3.5 \u732b caf\u00e9 \n . , relational troubled hopping"
WORDS = WORDS.split(" ")


@pytest.fixture
def both(monkeypatch):
    """A function that scores twice, by the accelerator and by our own code."""

    def score(function, *texts, **options):
        found = []
        for enabled in (True, False):
            monkeypatch.setattr(_fast, "ENABLED", enabled)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                made = function(*texts, **options)
            found.append((made, [str(one.message) for one in caught]))
        (fast, said), (own, told) = found
        assert said == told
        return fast, own

    return score


def pairs(seed, most, count=150):
    chance = random.Random(seed)

    def text():
        if chance.random() < 0.2:
            return chance.choice(HOSTILE)
        return " ".join(chance.choices(WORDS, k=chance.randint(0, 40)))

    return [text() for _ in range(count)], [[text() for _ in range(chance.randint(1, most))] for _ in range(count)]


@pytest.mark.parametrize("stemmer", [False, True])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_many_texts_have_the_same_numbers(both, stemmer, most):
    for seed in range(4):
        texts, references = pairs(seed, most)
        if most == 1:
            references[: len(HOSTILE)] = [[one] for one in HOSTILE]
        fast, own = both(rouge_many, texts, references, types=ALL, stemmer=stemmer)
        assert str(fast.signature) == str(own.signature) and fast.n_undefined == own.n_undefined
        for kind in ALL:
            for one, other in zip(fast[kind], own[kind], strict=True):
                assert np.array_equal(np.isnan(one), np.isnan(other))
                assert np.nanmax(np.abs(one - other)) <= 1e-12, (kind, seed)


@pytest.mark.parametrize("stemmer", [False, True])
@pytest.mark.parametrize("text", HOSTILE)
def test_one_text_has_the_same_numbers(both, text, stemmer):
    for references in (*HOSTILE, [text], ["a b c", text, "", "the cat"]):
        fast, own = both(rouge_score, text, references, types=ALL, stemmer=stemmer)
        assert fast.reason == own.reason
        for kind in own:
            assert fast[kind] == pytest.approx(own[kind], abs=1e-12), (kind, references)
        assert str(fast.signature) == str(own.signature) and list(fast) == list(own)


@pytest.mark.parametrize(
    "options",
    [
        {"types": ["rougeS4"]},
        {"types": ["rouge1", "rougeW"]},
        {"compat": "rouge-1.5.5"},
        {"tokenizer": "13a"},
        {"tokenizer": str.split},
        {"multi": "average"},
        {"multi": "pooled"},
        {"multi": "best_recall"},
    ],
)
def test_what_it_does_not_serve_is_counted_here(monkeypatch, options):
    def refuse(*arguments):
        raise AssertionError("rouge-score-rs was asked")

    monkeypatch.setattr(_fast, "ENABLED", True)
    monkeypatch.setattr(_fast, "_scorer", refuse)
    assert rouge_many(["a b c"] * 3, [["a b", "c d"]] * 3, **options).n_undefined == 0
    assert Rouge(**options).score("a b c", ["a b", "c d"])
    with pytest.raises(AssertionError, match="was asked"):
        rouge_many(["a b c"], ["a b"])


def test_many_pairs_of_few_texts_are_counted_here(monkeypatch):
    asked = []
    monkeypatch.setattr(_fast, "ENABLED", True)
    real = _fast._scorer
    monkeypatch.setattr(_fast, "_scorer", lambda *options: asked.append(options) or real(*options))
    few = [["a b", "c d", "e f", "g h", "i j"]] * 60
    rouge_many(["a b c"] * 60, few, stemmer=True)
    assert not asked
    rouge_many([f"a b c {n}" for n in range(60)], few)
    assert asked


def test_it_is_not_needed(monkeypatch):
    monkeypatch.setattr(_fast, "ENABLED", True)
    monkeypatch.setattr(_fast, "_installed", lambda: False)
    monkeypatch.setattr(_fast, "_scorer", None)
    assert rouge_score("a b", "a c", types=["rouge1"]).score == rouge_many(["a b"], ["a c"])["rouge1"].f1[0] == 0.5


def test_it_is_a_choice_of_its_own_in_no_signature():
    assert "rs" not in str(Rouge().signature).split("|")
