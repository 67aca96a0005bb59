"""Subsequences in the bits of long integers give the hits of the table; unions and weights give their definitions."""

import random
from collections import Counter

import numpy as np
import pytest

from summeval_nb.overlap._lcs import hit_bits, places, union_matches, weighted_counts, weighted_path, weighted_table
from summeval_nb.overlap._rouge import combine, lay_out, line_counts, sequence_counts
from summeval_nb.overlap.counting import number_texts
from summeval_nb.overlap.rouge import MULTI, Rouge, RougeItem, RougeTable, lcs_path, rouge_score

RNG = random.Random(0)


def test_bits_hit_what_the_path_hits():
    for _ in range(300):
        one, other = (RNG.choices(range(5), k=RNG.randint(0, 15)) for _ in range(2))
        assert hit_bits(places(one), len(one), other) == sum(1 << i for i, _ in lcs_path(one, other))
    assert hit_bits(places([1, 2, 3, 4, 5]), 5, [1, 3, 8, 9, 5]) == 0b10101


def union_by_definition(wanted, made):
    left, matches = Counter(token for sentence in made for token in sentence), 0
    for sentence in wanted:
        for i in sorted({i for other in made for i, _ in lcs_path(sentence, other)}):
            matches += left[sentence[i]] > 0
            left[sentence[i]] -= 1
    return matches


def test_united_hits_are_clipped():
    for _ in range(200):
        one, other = ([RNG.choices(range(6), k=RNG.randint(1, 8)) for _ in range(RNG.randint(1, 4))] for _ in range(2))
        assert union_matches(one, other, {}) == union_by_definition(one, other)


def test_weights_of_runs():
    values, moves = weighted_table("abcdefg", "abcdhik", 2)
    assert values[-1][-1] == 16 and weighted_path(moves) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert weighted_table("abcdefg", "ahbkcid", 2)[0][-1][-1] == 4
    assert weighted_counts([[1, 2, 3]], [[1, 2, 4]], 2, "google") == (4, 9, 9, 9)
    assert weighted_counts([[1, 2, 3]], [[1, 2, 4]], 2, "rouge-1.5.5") == (4, 9, 81, 9)


def test_pairs_are_counted_by_words_and_by_lines():
    cut = Rouge().cut
    pairs = lay_out(["The cat is on the mat."], [["The cat sat on the mat.", "A cat is resting on the mat."]])
    tokens = number_texts(pairs.texts, cut)
    assert sequence_counts(pairs, tokens, "rouge1").tolist() == [[5, 6, 6], [5, 6, 7]]
    assert sequence_counts(pairs, tokens, "rouge2").tolist() == [[3, 5, 5], [3, 5, 6]]
    assert sequence_counts(pairs, tokens, "rougeL").tolist() == [[5, 6, 6], [5, 6, 7]]
    poem = lay_out(["the cat sat\nit slept"], [["it slept\nthe cat sat"]])
    assert line_counts(poem, Rouge(), "rougeLsum").tolist() == [[5, 5, 5]]  # in another order: all found
    assert sequence_counts(poem, number_texts(poem.texts, cut), "rougeL").tolist() == [[3, 5, 5]]


def test_four_conventions():
    counts = np.array([[5, 6, 6], [5, 6, 7]], float)
    found = {multi: combine(counts, np.array([0]), multi, 1)[0].round(3).tolist() for multi in MULTI}
    assert found["pooled"] == [0.833, 0.769, 0.8] and found["best"] == [0.833, 0.833, 0.833]
    assert combine(np.array([[3, 5, 5], [3, 5, 6.0]]), np.array([0]), "pooled", 1)[0].round(3)[2] == 0.571


def test_a_type_that_was_not_asked_for_is_named():
    with pytest.raises(KeyError, match="computed: rouge1"):
        rouge_score("a", "a", types=["rouge1"])["rouge2"]
    table = Rouge(types=["rouge1"]).score_many(["a b", ""], ["a c", ""])
    assert isinstance(table, RougeTable) and table.mean_by_type()["rouge1"] == RougeItem(0.5, 0.5, 0.5)
    assert table.mean() == 0.5 and table.n_undefined == 1 and table.rows()[1]["rouge1_f1"] is None
    with pytest.raises(KeyError, match="nothing to compare"):
        rouge_score("", "")["rouge1"]
