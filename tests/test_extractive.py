"""What a summary copies and says anew: numbers worked out by hand, a slow reading of the definition, long texts."""

import pickle
import random

import numpy as np
import pytest

import summeval_nb as s
from summeval_nb.overlap import extractiveness, extractiveness_many
from summeval_nb.overlap.shares import MEASURES, _copied_lengths, _fragments


def longest_pieces(article, summary):
    """The definition as the paper says it, with three loops."""
    found, place = [], 0
    while place < len(summary):
        ends = [end for end in range(place + 1, len(summary) + 1) if holds(article, summary[place:end])]
        found += [(place, end - place) for end in ends[-1:]]
        place = max(ends, default=place + 1)
    return found


def holds(article, piece):
    return any(article[start : start + len(piece)] == piece for start in range(len(article)))


def test_pieces_and_their_numbers_are_those_by_hand():
    # article, summary, and what the program of Grusky et al. (2018) gives by hand: (place, length) of each piece
    for article, summary, pieces in [
        ("a b c d e", "a b x d e", [(0, 2), (3, 2)]),
        ("a b c a b d", "a b d", [(0, 3)]),
        ("a b c", "c b a", [(0, 1), (1, 1), (2, 1)]),
        ("a b c", "x y", []),
        ("the cat sat on the mat", "the mat the cat sat", [(0, 2), (2, 3)]),
    ]:
        found = extractiveness(text=article, summary=summary)
        n, sizes = len(summary.split()), [size for _, size in pieces]
        assert _fragments(_copied_lengths(article.split(), summary.split())) == pieces
        expected = [sum(sizes) / n, sum(size**2 for size in sizes) / n, len(article.split()) / n, n]
        assert [found.measures[name] for name in ("coverage", "density", "compression", "length")] == expected
        assert found.fragments() == [" ".join(summary.split()[place : place + size]) for place, size in pieces]


def test_new_and_repeated_ngrams_are_those_by_hand_and_a_phrase_said_twice_is_copied_whole():
    found = extractiveness(text="the cat sat on the mat", summary="the cat and the cat and the dog").measures
    # the, cat, and, dog; the cat, cat and, and the, the dog; the cat and, cat and the, and the cat, and the dog
    assert [found[f"novel{n}"] for n in (1, 2, 3)] == [2 / 4, 3 / 4, 4 / 4]
    assert [found[f"repeated{n}"] for n in (1, 2, 3, 4)] == [3 / 4, 3 / 4, 2 / 4, 1 / 4]
    found = extractiveness(text="it was very very very good", summary="very very good")
    assert found.fragments() == ["very very good"] and found.measures["density"] == 3
    picture = extractiveness(text="The cat sat on the mat.", summary="The cat <lay> on the mat.").explain()
    assert "[The cat]" in str(picture) and "[on the mat.]" in str(picture) and "<lay>" not in picture._repr_html_()


def test_the_longest_pieces_are_what_the_definition_says():
    rng = random.Random(7)
    for _ in range(400):
        letters = "ab" if rng.random() < 0.5 else "abcdefgh"
        article, summary = (rng.choices(letters, k=rng.randint(0, most)) for most in (25, 15))
        lengths = _copied_lengths(article, summary)
        assert _fragments(lengths) == longest_pieces(article, summary)
        for n in (1, 2, 3):
            for place in range(len(summary) - n + 1):
                assert (lengths[place] >= n) == holds(article, summary[place : place + n])


def test_a_hundred_thousand_words_are_no_trouble():
    for words in ("a " * 100_000, "a b " * 50_000, " ".join(map(str, range(100_000)))):
        found = extractiveness(text=words, summary=words)
        assert found.score == 1 and found.measures["density"] == found.measures["length"] == 100_000


def test_many_are_as_one_by_one_and_what_is_missing_is_nan():
    texts, summaries = ["a b c.", "", "a b", "a b"], ["A b.", "a", "", "a"]
    table = extractiveness_many(texts=texts, summaries=summaries)
    for place, (text, summary) in enumerate(zip(texts, summaries, strict=True)):
        assert table.rows()[place] == extractiveness(text=text, summary=summary).measures
    assert np.isnan(table.scores).tolist() == [False, True, True, False] and "holds no words" in table.reasons()[1]
    assert list(table.arrays()) == list(MEASURES) and table.rows()[3]["novel2"] is None
    assert extractiveness(text="", summary="a").reason == table.reasons()[1]


def test_case_tokenizer_and_measures_are_choices_signed_and_have_names_in_the_registry():
    assert extractiveness(text="The cat.", summary="the cat.", lowercase=False).score == 2 / 3
    found = extractiveness(text="猫坐在垫子上", summary="猫在垫子上", tokenize="char")
    assert found.score == 1 and "tok:char" in str(found.signature)
    found = extractiveness(text="a b c", summary="a c", measures=["novel2", "length"], tokenize=str.split)
    assert found.measures == {"novel2": 1.0, "length": 2}
    table = extractiveness_many(texts=["a b c"], summaries=["a c"])
    assert pickle.loads(pickle.dumps(table))[0].fragments() == table[0].fragments() == ["a", "c"]
    row = {"text": "a b c d e f", "summary": "a b c x a b c"}
    wanted = extractiveness(**row).measures
    for name in ("coverage", "density", "compression", "novel_ngrams", "repetition"):
        metric = s.load_metric(name)
        found, measures = metric.score(**row), metric.bound()["measures"]
        assert found.measures == {measure: wanted[measure] for measure in measures}
        assert found.score == wanted[measures[0]] > 0


def test_wrong_and_swapped_input_is_named():
    for call, error, message in (
        (lambda: s.load_metric("extractiveness", measures=["novelty"]), ValueError, "unknown measure 'novelty'"),
        (lambda: extractiveness("a", "b", measures="coverage"), TypeError, "measures must be a list"),
        (lambda: extractiveness(text=["a"], summary="a"), TypeError, "text must be a string"),
        (lambda: extractiveness_many(texts=["a"], summaries=[]), ValueError, "one text per summary: 1 texts"),
        (lambda: extractiveness("a", "b", lower=True), TypeError, "did you mean 'lowercase'"),
    ):
        with pytest.raises(error, match=message):
            call()
    with pytest.warns(s.core.InputWarning, match="the article is text="):
        extractiveness("A short summary.", "A long article goes on. " * 40)
