"""BLEU, chrF and TER against sacrebleu 2.6 and nltk, on SummEval, fuzzed and drawn texts; properties; bad input."""

import gzip
import json
import logging
import random
import warnings
from itertools import product

import numpy as np
import pytest
from helpers.late import Late
from hypothesis import given
from hypothesis import strategies as st

from summeval_nb.core.metric import Metric, score_rows
from summeval_nb.core.results import Signature
from summeval_nb.overlap import translation
from summeval_nb.overlap.bleu import bleu_counts
from summeval_nb.overlap.chrf import chrf_counts
from summeval_nb.overlap.counting import BeamTable
from summeval_nb.overlap.ter import count_edits
from summeval_nb.overlap.tokens import tercom_words
from summeval_nb.overlap.translation import (
    bleu_many,
    bleu_score,
    chrf_many,
    chrf_score,
    corpus_bleu,
    corpus_chrf,
    corpus_ter,
    count_bleu,
    count_chrf,
    ter_many,
    ter_score,
)

BLEU = Late("sacrebleu.metrics", "BLEU")
CHRF = Late("sacrebleu.metrics", "CHRF")
TER = Late("sacrebleu.metrics", "TER")
BeamEditDistance = Late("sacrebleu.metrics.lib_ter", "BeamEditDistance")
translation_edit_rate = Late("sacrebleu.metrics.lib_ter", "translation_edit_rate")

logging.getLogger("sacrebleu").setLevel(logging.ERROR)
SMOOTH, TOKENIZE = ["exp", "floor", "add-k", "none"], ["13a", "intl", "char", "none"]
CHRF_CHOICES = [{}, {"word_order": 2}, {"word_order": 2, "eps_smoothing": True}]
CHRF_CHOICES += [{"char_order": 3, "beta": 1, "lowercase": True}, {"whitespace": True, "eps_smoothing": True}]
CHRF_CHOICES += [{"char_order": 1, "word_order": 1, "beta": 0.5}]
TER_CHOICES = [{}, {"normalized": True}, {"no_punct": True, "case_sensitive": True}]
TER_CHOICES += [{"normalized": True, "asian_support": True, "no_punct": no_punct} for no_punct in (False, True)]
WORDS = ["the", "The", "cat", "cats.", "3.5", "1,000", "-", "a-b", "'s", "&quot;x&quot;", "mat,", "é", "我", "on"]
ODD_WORDS = ["the", "The", "cats.", "(hi)", "3.5", "-", "!", "é", "我们", "ß", "İ", "on", "\u3000", "a" * 30, "𝒳y"]
TER_WORDS = ["the", "The", "cat", "cats.", "'s", "3.5", "1,000", "5-", "&quot;x&quot;", "。", "我们", "カナ", "ひら"]
TER_WORDS += ["a\n-b"]
SPACES, SIZES = [" ", "  ", "\n"], [0, 1, 2, 3, 5, 8, 13, 21]


def fuzz(count, seed=0, words=WORDS, spaces=SPACES, sizes=SIZES, most=(1, 1, 2, 3, 5, 11)):
    """Pairs of short texts with much repetition, punctuation, empty ones, and some references."""
    rng = random.Random(seed)
    text = lambda: rng.choice(spaces).join(rng.choices(words, k=rng.choice(sizes)))
    return [(text(), [text() for _ in range(rng.choice(most))]) for _ in range(count)]


def odd(count, seed):
    return fuzz(count, seed, ODD_WORDS, [*SPACES, ""], [0, 1, 1, 2, 3, 5, 13], [1, 1, 2, 3, 5])


def equal_to(peer, pairs, one, many, **choice):
    """Hold a score of one text and of many against sacrebleu, which says 0 where nothing is defined."""
    expected = [peer.sentence_score(text, group).score for text, group in pairs]
    table = many(*zip(*pairs, strict=True), **choice)
    assert np.abs(np.nan_to_num(table.scores) - expected).max() <= 1e-9
    for place in range(0, len(pairs), max(1, len(pairs) // 150)):
        (text, group), score, defined = pairs[place], expected[place], table.defined[place]
        mine = one(text, group, **choice)
        assert mine.score is None or mine.score == table.scores[place], "to the last bit"
        assert abs((mine.score or 0) - score) <= 1e-9 and (mine.score is not None) == defined


def corpus_equal_to(peer, pairs, corpus, **choice):
    made, groups = map(list, zip(*[(text, (group * 3)[:3]) for text, group in pairs], strict=True))
    expected = peer.corpus_score(made, [list(stream) for stream in zip(*groups, strict=True)])
    found = corpus(made, groups, **choice)
    assert abs(float(found) - expected.score) <= 1e-9
    return found, expected


@pytest.fixture(scope="module")
def summeval(data_folder):
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [(system["summary"], row["references"]) for row in rows for system in row["systems"]]


@pytest.mark.parametrize(("tokenize", "smooth"), product(TOKENIZE, SMOOTH))
def test_bleu_equals_sacrebleu_on_fuzzed_pairs_and_corpora(tokenize, smooth):
    pairs = fuzz(3000) if smooth == "exp" or tokenize == "13a" else fuzz(500, 11)
    chosen = {"tokenize": tokenize, "smooth": smooth}
    for lowercase in (False, True):
        peer = BLEU(tokenize=tokenize, smooth_method=smooth, effective_order=True, lowercase=lowercase)
        equal_to(peer, pairs, bleu_score, bleu_many, lowercase=lowercase, **chosen)
    for effective, (count, seed) in product((False, True), ((1, 1), (5, 2), (300, 3))):
        peer = BLEU(tokenize=tokenize, smooth_method=smooth, effective_order=effective)
        found, expected = corpus_equal_to(peer, fuzz(count, seed), corpus_bleu, effective_order=effective, **chosen)
        assert abs(found.bp - expected.bp) <= 1e-12
        assert (found.candidate_length, found.reference_length) == (expected.sys_len, expected.ref_len)
        if any(expected.counts):
            assert np.allclose(found.precisions, expected.precisions, atol=1e-9)


@pytest.mark.parametrize("choice", CHRF_CHOICES, ids=str)
def test_chrf_equals_sacrebleu_and_parts_do_not_matter(choice, monkeypatch):
    pairs = odd(400, len(str(choice)))
    equal_to(CHRF(**choice), pairs, chrf_score, chrf_many, **choice)
    corpus_equal_to(CHRF(**choice), odd(120, 5), corpus_chrf, **choice)
    whole = chrf_many(*zip(*pairs, strict=True), **choice).scores
    monkeypatch.setattr(translation, "_CHARACTERS", 50)
    assert np.array_equal(chrf_many(*zip(*pairs, strict=True), **choice).scores, whole, equal_nan=True)


@pytest.mark.parametrize("choice", TER_CHOICES, ids=str)
def test_ter_equals_sacrebleu_with_every_flag(choice):
    pairs = fuzz(60, len(str(choice)), TER_WORDS, [*SPACES, ""], [0, 1, 2, 5, 9], [2])
    equal_to(TER(**choice), pairs, ter_score, ter_many, **choice)
    corpus_equal_to(TER(**choice), pairs, corpus_ter, **choice)


@pytest.mark.nightly
@pytest.mark.parametrize("count", [1, 2, 11])
@pytest.mark.parametrize(("tokenize", "smooth", "lowercase"), [
    ("13a", "exp", False), ("13a", "none", False), ("13a", "floor", False), ("13a", "add-k", False),
    ("13a", "exp", True), ("intl", "exp", False), ("char", "exp", False), ("none", "exp", True),
])  # fmt: skip
def test_bleu_of_summeval_equals_sacrebleu_with_every_option(summeval, count, tokenize, smooth, lowercase):
    made, groups = map(list, zip(*[(text, group[:count]) for text, group in summeval[::4]], strict=True))
    chosen = {"tokenize": tokenize, "lowercase": lowercase}
    peer = BLEU(effective_order=True, smooth_method=smooth, **chosen)
    expected = [peer.sentence_score(c, r).score for c, r in zip(made, groups, strict=True)]
    assert np.abs(bleu_many(made, groups, smooth=smooth, **chosen).scores - expected).max() <= 1e-9
    streams = [list(stream) for stream in zip(*groups, strict=True)]
    whole = BLEU(smooth_method=smooth, **chosen).corpus_score(made, streams).score
    assert abs(float(corpus_bleu(made, groups, smooth=smooth, **chosen)) - whole) <= 1e-9


def test_summeval_equals_sacrebleu_and_published_means(summeval):
    """All summaries by BLEU, some by chrF++ and TER; mean sentence BLEU (13a) was measured with sacrebleu 2.6.0."""
    for count in (1, 11):
        pairs = [(text, group[:count]) for text, group in summeval]
        equal_to(BLEU(effective_order=True), pairs, bleu_score, bleu_many)
    some = [(text, group[:2]) for text, group in summeval[:48]]
    equal_to(CHRF(word_order=2), some, chrf_score, chrf_many, word_order=2)
    equal_to(TER(), [(text, group[:1]) for text, group in some[:6]], ter_score, ter_many)
    made, first = zip(*[(text, group[0]) for text, group in summeval], strict=True)
    means = {"none": (7.90, False), "floor": (8.66, False), "add-k": (10.88, False), "exp": (9.14, False)}
    for smooth, (mean, lowercase) in [*means.items(), ("exp", (13.42, True))]:
        assert round(bleu_many(made, first, smooth=smooth, lowercase=lowercase).mean(), 2) == mean


@pytest.mark.parametrize(
    ("smooth", "method"), [("none", "method0"), ("floor", "method1"), ("add-k", "method2"), ("exp", "method3")]
)
def test_nltk_coincides_where_all_orders_exist(smooth, method):
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    cut = lambda text: Tokenizer13a()(text).split()
    tried = 0
    for text, group in fuzz(600, 5):
        tokens = cut(text)
        if len(tokens) < 5 or not all(map(cut, group)):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            how = getattr(SmoothingFunction(), method)
            expected = 100 * sentence_bleu([cut(r) for r in group], tokens, smoothing_function=how)
        assert abs(float(bleu_score(text, group, smooth=smooth)) - expected) <= 1e-9
        tried += 1
    assert tried > 200


def test_counts_of_many_are_those_of_the_definition():
    for n in (1, 4, 6):
        rows = count_bleu(*zip(*fuzz(400, 17), strict=True), n=n, tokenize="none")
        pairs = [(text.split(), [other.split() for other in group]) for text, group in fuzz(400, 17)]
        assert rows.tolist() == [bleu_counts(text, group, n) for text, group in pairs]
    for choice in ({"word_order": 2}, {"char_order": 2, "lowercase": True, "whitespace": True}):
        each = [chrf_counts(text, one, **choice) for text, group in odd(150, 23) for one in group]
        assert count_chrf(*zip(*odd(150, 23), strict=True), **choice).tolist() == [list(map(list, t)) for t in each]


@given(st.text(max_size=30), st.lists(st.text(max_size=30), min_size=1, max_size=3), st.sampled_from(CHRF_CHOICES))
def test_chrf_of_any_strings_equals_sacrebleu(text, group, choice):
    equal_to(CHRF(**choice), [(text, group)], chrf_score, chrf_many, **choice)


@given(st.text(max_size=40), st.sampled_from(TER_CHOICES))
def test_words_are_tercoms(text, choice):
    flags = {name: choice.get(name, False) for name in ("normalized", "no_punct", "asian_support", "case_sensitive")}
    assert tercom_words(text, **flags) == TER(**choice)._preprocess_segment(text).split()


# TER: the edits, the shifts and the beam.


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


def test_edits_and_the_beam_equal_sacrebleu():
    """Texts of very different lengths: cells outside the beam never win; among equals the same way is taken."""
    rng = random.Random(0)
    too_many_shifts = list("ab" * 30), list("ba" * 25 + "c" * 5)
    for text, reference in [*(drawn(rng, 40) for _ in range(180)), too_many_shifts]:
        assert count_edits(text, reference).total == translation_edit_rate(text, reference)[0], (text, reference)
    for own, wanted in [(90, 30), (30, 90), (60, 61), (1, 80), (80, 2), (2, 120)] * 4:
        text, reference = (rng.choices("abcdef", k=size) for size in (own, wanted))
        assert BeamTable("".join(reference)).trace("".join(text)) == BeamEditDistance(reference)(text)


@given(st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), min_size=1, max_size=12))
def test_edits_of_any_two_texts_equal_sacrebleu(text, reference):
    edits = count_edits(text, reference)
    assert edits.total == translation_edit_rate(text, reference)[0]
    assert sorted(edits.order) == list(range(len(text)))
    kept = [text[place] for place in edits.order]
    rebuilt, i, j = [], 0, 0
    for operation in edits.operations:  # following the operations gives the reference
        rebuilt += [kept[i]] if operation == " " else [reference[j]] if operation in "si" else []
        i, j = i + (operation != "i"), j + (operation != "d")
    assert rebuilt == list(reference) and i == len(text)


# Worked out by hand, and what has no score.

CAT = ("The cat is sitting on the mat.", ["The cat is on the mat.", "A cat is sitting on the mat."])
BY_HAND = [  # candidate, references, n, options → BLEU (the chapter has more)
    (*CAT, 2, {}, 100.0),
    (*CAT, 4, {"tokenize": "none"}, 100 * 0.75**0.25),
    (*CAT, 4, {}, 100 * 0.8**0.25),
    ("", ["a"], 4, {}, 0.0),
    ("a", [""], 4, {}, 0.0),
    ("a b", ["c d"], 4, {}, 0.0),
    ("the cat sat", ["the cat sat down"], 2, {"tokenize": "none"}, 100 * np.exp(1 - 4 / 3)),
    ("a b c", ["a b c"], 4, {"effective_order": False}, 0.0),  # no 4-grams, and no leave to skip them
    ("the the the", ["the"], 1, {}, 100 / 3),
    ("a a", ["a", "a a a"], 1, {}, 100.0),  # equally close references: the shorter gives r = 1
]


def test_worked_examples():
    for candidate, references, n, options, expected in BY_HAND:
        assert float(bleu_score(candidate, references, n, **options)) == pytest.approx(expected, abs=1e-9)
        assert bleu_many([candidate], [references], n, **options).scores[0] == pytest.approx(expected, abs=1e-9)
    assert float(chrf_score("", "a")) == 0 == float(chrf_score("a", ""))
    assert float(ter_score("", "a b")) == 100 == float(ter_score("a b", ""))
    assert ter_many(["a", "a b c", ""], ["a", "a", ""]).worst_first() == [1, 0, 2], "the most edits come first"


def test_nothing_on_either_side_has_no_score():
    for one, many, corpus in (
        (bleu_score, bleu_many, corpus_bleu),
        (chrf_score, chrf_many, corpus_chrf),
        (ter_score, ter_many, corpus_ter),
    ):
        for candidate, references in (("", ""), (" \n", ["", "\t"])):
            score = one(candidate, references)
            assert score.score is None and "nothing to compare" in score.reason
        table, name = many(["", "a"], ["", "a"]), one.metric.name
        assert np.isnan(table.scores[0]) and table.n_undefined == 1 and table.to_dict()["rows"][0][name] is None
        assert table.rows()[0][name] is None and many([""], [""]).mean() is None and len(many([], [])) == 0
        assert "no text of 1" in many([""], [""])._repr_html_() and corpus(["", ""], ["", ""]).score is None
        with pytest.raises(ValueError, match="at least one text"):
            corpus([], [])


def test_a_zero_for_want_of_words_says_so():
    short = corpus_bleu(["old bridge", "yes"], ["old bridge", "yes"])
    assert short.score == 0 and "no candidate holds 4 words" in short.reason and "no candidate" in repr(short)
    assert corpus_bleu(["old bridge"], ["old bridge"], n=2).score == 100
    different = corpus_bleu(["one two three four"], ["five six seven eight"])
    assert different.score == 0 and not different.reason, "there were words to count"
    alone = bleu_score("yes", ["old bridge"])
    assert alone.score == 0 and not alone.reason, "the effective order is on, so its word was counted"


def test_a_tokenizer_that_loses_the_text_warns(recwarn):
    latin = lambda text: [word for word in text.split() if word.isascii()]
    with pytest.warns(UserWarning, match="left no token of 2 of 2 texts"):
        assert bleu_score("Кошка сидит", "Кошка спит", tokenize=latin).score is None
    with pytest.warns(UserWarning, match="left no token"):
        bleu_many(["Кошка сидит"], ["a cat"], tokenize=latin)
    for text in ("橋は月曜日に閉じた", "大桥周一关闭了", "สะพานปิดวันจันทร์"):
        for tokenize in ("13a", "intl"):
            with pytest.warns(UserWarning, match="splits at spaces, and 2 of 2 texts"):
                bleu_score(text, text, tokenize=tokenize)
        recwarn.clear()
        bleu_score(text, text, tokenize="char"), bleu_score(text, text, tokenize="none")
        bleu_score("The bridge 橋 was closed to all cars on Monday.", "The bridge was closed.")
        bleu_score("大桥 周一 关闭 了 。", "大桥 周一 开放 了 。")
        assert float(bleu_score("Кошка сидит", "Кошка сидит")) == 100 and bleu_score("", "a").score == 0
        assert not recwarn.list


texts = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat", "."]), max_size=12).map(" ".join)
groups = st.lists(texts, min_size=1, max_size=4)


@given(texts, groups, texts, st.integers(1, 5), st.sampled_from(SMOOTH), st.booleans())
def test_bounds_order_of_references_and_one_more(candidate, references, extra, n, smooth, effective):
    options = {"smooth": smooth, "effective_order": effective}
    score, other, more = (
        bleu_score(candidate, group, n, **options) for group in (references, references[::-1], [*references, extra])
    )
    assert score.score == other.score
    if score.score is not None:
        assert 0 <= score.score <= 100 and 0 <= score.bp <= 1
        assert all(0 <= c <= t for c, t in zip(score.counts, score.totals, strict=True))
    assert all(a <= b for a, b in zip(score.counts, more.counts, strict=True)), "a reference takes no match away"
    assert not candidate or float(bleu_score(candidate, candidate, n, smooth=smooth)) == 100


# A corpus: intervals and comparisons; results as data.


def test_intervals_are_like_sacrebleus():
    from sacrebleu.significance import PairedTest

    rng = random.Random(7)
    pairs = [pair for pair in fuzz(300, 7) if len(pair[1][0].split()) > 4]
    references = [group[:1] for _, group in pairs]
    made = [group[0] if rng.random() < 0.5 else text for (text, _), group in zip(pairs, references, strict=True)]
    score, streams = corpus_bleu(made, references), [[group[0] for group in references]]
    peer = {"BLEU": BLEU(references=streams)}
    more = {"references": streams, "test_type": "bs", "n_samples": 2000}
    result = PairedTest([("a", made), ("b", made[::-1])], peer, **more)()[1]["BLEU"][0]
    interval = score.interval(n_resamples=2000)
    assert abs((interval.high - interval.low) / 2 - result.ci) < 0.15 * result.ci
    assert interval == score.interval(n_resamples=2000) != score.interval(n_resamples=2000, seed=1)
    same = corpus_bleu(["the cat sat on a mat"] * 3, ["the cat sat on the mat"] * 3)
    assert same.interval(n_resamples=10)[:2] == (same.score, same.score), "resampled by the same formula"
    corpus = corpus_chrf(["the cat", "no", "yes it did"], ["the cat sat", "yes", "yes it did"])
    assert corpus.interval(n_resamples=50).low < float(corpus) < corpus.interval(n_resamples=50).high


def test_a_metric_with_its_choices_gives_what_the_functions_give():
    candidates, references = ["the cat sat", "a mat", ""], ["the cat ran", ["a mat", "a rug"], ""]
    for choice in ({}, {"n": 2, "smooth": "floor"}, {"effective_order": False, "lowercase": True}):
        metric, many = Metric(bleu_score, **choice), bleu_many(candidates, references, **choice)
        assert metric.score_many(candidates, references).to_dict() == many.to_dict()
        whole = corpus_bleu(candidates, references, **choice).to_dict()
        assert metric.corpus(candidates, references).to_dict() == whole
        rows = [dict(zip(metric.columns, pair, strict=True)) for pair in zip(candidates, references, strict=True)]
        outcomes = score_rows(metric, rows)
        assert [o.score for o in outcomes] == [row["bleu"] for row in many.rows()]
        assert [Signature.parse(o.signature)["nrefs"] for o in outcomes] == ["1", "2", "1"]
    metric = Metric(bleu_score)
    assert metric.signature["eff"] == "yes" and "nrefs" not in metric.signature
    assert metric.corpus(["a"], ["a"]).signature["eff"] == "no"


def test_results_carry_what_was_counted():
    score = corpus_bleu(["the cat sat", "a mat"], [["the cat sat"], ["a <b>mat</b>", "a rug"]])
    assert json.loads(json.dumps(score.to_dict()))["bp"] == score.bp
    assert list(score.to_frame()["order"]) == [1, 2, 3, 4] and score.signature["nrefs"] == "var"
    picture = score.explain(1, n=1)
    assert "&lt;b&gt;" in picture._repr_html_() and "<b>" not in picture._repr_html_()
    assert str(picture).splitlines()[:2] == ["BLEU: shared 1-grams, 2 of 2 counted", "candidate: [a] [mat]"]
    signature = bleu_score("a b", ["a", "b"], 2, tokenize=str.split, smooth="floor", lowercase=True).signature
    line = "metric:bleu2|nrefs:2|case:lc|eff:yes|tok:builtins.str.split|smooth:floor[0.10]|version"
    assert str(signature).startswith(line)
    score = chrf_score("cats", ["dog", "cat"], word_order=2)
    data = score.to_dict()
    assert json.loads(json.dumps(data)) == data
    assert list(data["rows"][0].values()) == ["character", 1, 4, 3, 3, 0.75, 1.0] and data["rows"][6]["kind"] == "word"
    assert data["signature"].startswith("metric:chrF2++|nrefs:2|case:mixed|eff:yes")
    assert "reference 2 of 2: [ca][t]" in str(score.explain(n=2)) and "candidate: [ca][t]s" in str(score.explain(n=2))
    assert "&lt;b&gt;" in chrf_score("<b>", "<b>").explain()._repr_html_()
    assert "İ" in str(chrf_score("İstanbul", "istanbul", lowercase=True).explain(n=1))
    assert "chrf, mean of 1 texts" in chrf_many(["a"], ["a"])._repr_html_()
    score = ter_score("on the mat it <b>", ["no", "it sat on the mat"])
    data = score.to_dict()
    assert json.loads(json.dumps(data)) == data and data["rows"] == [{"edits": 3, "reference_length": 3.0}]
    assert data["signature"].startswith("metric:ter|nrefs:2|case:lc|tok:tercom|norm:no|punct:yes|asian:no")
    picture = score.explain()
    assert [row["edit"] for row in picture.rows][0].startswith("shift, saves") and len(picture.rows) == 3
    assert picture.rows[0]["candidate"] == "it" and "reference 2 of 2" in str(picture)
    assert "&lt;b&gt;" in picture._repr_html_() and "<b>" not in picture._repr_html_()
