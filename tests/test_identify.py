"""Which configuration printed a score: formulas against the programs, numbers of peers found again, bad input."""

import json
import random
import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb import identify_score
from summeval_nb.core import load_toy_summeval
from summeval_nb.overlap import corpus_bleu, identify_among, printed_scores, rouge_many
from summeval_nb.overlap.bleu import SMOOTHING, bleu_from_counts
from summeval_nb.overlap.identify import METRICS_SEARCHED, _as_nltk, _bleu_values
from summeval_nb.overlap.translation import count_bleu

nltk_bleu = Late("nltk.translate.bleu_score")

TOY = load_toy_summeval()
TEXTS = [text for row in TOY.summaries for text in row]
GROUPS = [group for group in TOY.references for _ in TOY.systems]
SHORT = (
    ["the cat", "a b c", "x", "", "dog the dog the", "It rained."],
    [["the cat sat"], ["a"], ["y"], ["q"], ["a b c d"], ["no"]],
)


@pytest.fixture(scope="module")
def tried():
    """Every configuration of the toy summaries, TER as well."""
    return printed_scores(TEXTS, GROUPS, metrics=[*METRICS_SEARCHED, "ter"], progress=False)


def test_bleu_of_many_rows_is_bleu_of_each():
    texts, groups = [*TEXTS, *SHORT[0]], [*GROUPS, *SHORT[1]]
    for smooth, effective, n in product(SMOOTHING, (False, True), (1, 2, 4)):
        rows, choices = count_bleu(texts, groups, n=n), {"smooth": smooth, "effective_order": effective}
        each = [bleu_from_counts(row[2 : 2 + n], row[2 + n :], *row[:2], **choices)[0] for row in rows.tolist()]
        assert np.abs(_bleu_values(rows, smooth, effective) - np.array(each) / 100).max() < 1e-12


@pytest.mark.filterwarnings("ignore")
def test_bleu_of_rows_is_nltk_s():
    texts, groups = [*TEXTS, *(text for text in SHORT[0] if text)], [*GROUPS, *SHORT[1][:3], *SHORT[1][4:]]
    counted = _as_nltk(count_bleu(texts, groups, tokenize="none"))
    own, theirs = [text.split() for text in texts], [[text.split() for text in group] for group in groups]
    for method, n in product((f"method{number}" for number in range(5)), (1, 2, 4)):
        rows = counted[:, [0, 1, *range(2, 2 + n), *range(6, 6 + n)]]
        how = (1 / n,) * n, getattr(nltk_bleu.SmoothingFunction(), method)
        each = [nltk_bleu.sentence_bleu(group, text, *how) for text, group in zip(own, theirs, strict=True)]
        assert np.abs(_bleu_values(rows, method) - each).max() < 1e-12
        whole = _bleu_values(rows.sum(axis=0, keepdims=True), method)[0]
        assert whole == pytest.approx(nltk_bleu.corpus_bleu(theirs, own, *how), abs=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_numbers_of_installed_programs_are_found(tried):
    pytest.importorskip("torchmetrics")
    sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
    from identify import is_found, printed_by_peers

    printed = printed_by_peers(TEXTS, GROUPS, 60, seed=5)
    assert len({own.text for own in printed}) > 50
    missed = [own for own in printed if not is_found(own, identify_among(own.text, tried))]
    assert len(missed) <= 3, missed


def test_a_number_that_nothing_prints_fits_nothing_and_what_needs_least_comes_first(tried):
    for own in random.Random(3).sample(tried, 10):
        found = identify_among(f"{own.value * 1.0137 + own.scale / 700:.7f}", tried)
        assert not found and len(found.nearest) == 3 and "None of" in str(found)
    found = identify_among(f"{corpus_bleu(TEXTS, GROUPS).score:.2f}", tried)
    assert (found[0].program, found[0].surprise) == ("sacrebleu", 0)
    assert found[0].signature["tok"] == "13a" and found[0].signature["of"] == "corpus"
    assert all(a.surprise <= b.surprise for a, b in zip(found, found[1:], strict=False))


def test_a_number_on_the_other_scale_is_found(tried):
    value = rouge_many(TEXTS, GROUPS, types=["rougeL"], stemmer=True).mean()
    for printed in (f"{value:.4f}", f"{100 * value:.2f}", f"{100 * value:.2f}%", round(float(value), 4), float(value)):
        signatures = [str(own.signature) for own in identify_among(printed, tried)[:3]]
        assert any("rougeL|part:f1|tok:rouge+porter" in line for line in signatures), printed


def test_what_prints_the_same_is_one_entry_and_a_result_is_read_in_every_form(tried):
    found = identify_score("100.00", ["the cat sat on the mat"], ["the cat sat on the mat"], progress=False)
    assert len(found) == 1 and len(found[0].same) > 100
    found = identify_among(f"{corpus_bleu(TEXTS, GROUPS).score:.1f}", tried, n=3)
    assert 1 <= len(found) <= 3 and len(found.to_frame()) == len(found)
    assert json.loads(json.dumps(found.to_dict()))["searched"] == len(tried)
    assert "sacrebleu" in found._repr_html_() and found.printed in str(found)


def test_empty_texts_break_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = identify_score("0.00", ["", "a b"], [["", "x"], "y"], progress=False)
    assert found and all(np.isfinite(own.value) for own in found)
