"""BLEU against sacrebleu 2.6 and nltk, on SummEval and on fuzzed pairs; its properties; bad input."""

import gzip
import json
import logging
import random
import warnings

import numpy as np
import pytest
from helpers.late import Late
from hypothesis import given, settings
from hypothesis import strategies as st

import summeval_nb
from summeval_nb.core.metric import Metric, score_rows
from summeval_nb.core.results import Signature
from summeval_nb.overlap.bleu import bleu_counts
from summeval_nb.overlap.translation import bleu_many, bleu_score, compare_bleu, corpus_bleu, count_bleu

BLEU = Late("sacrebleu.metrics", "BLEU")

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")
logging.getLogger("sacrebleu").setLevel(logging.ERROR)
SMOOTH = ["exp", "floor", "add-k", "none"]
TOKENIZE = ["13a", "intl", "char", "none"]


@pytest.fixture(scope="module")
def summeval(data_folder):
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    pairs = [(system["summary"], row["references"]) for row in rows for system in row["systems"]]
    return [summary for summary, _ in pairs], [references for _, references in pairs]


def fuzz(count, seed=0):
    """Pairs of short texts with much repetition, punctuation, empty ones, and 1 to 11 references."""
    rng = random.Random(seed)
    words = [
        "the",
        "The",
        "cat",
        "cats.",
        "3.5",
        "1,000",
        "-",
        "a-b",
        "'s",
        "&quot;x&quot;",
        "mat",
        "mat,",
        "é",
        "我",
        "on",
    ]
    text = lambda: rng.choice([" ", "  ", "\n"]).join(rng.choices(words, k=rng.choice([0, 1, 2, 3, 5, 8, 13, 21])))
    return [(text(), [text() for _ in range(rng.choice([1, 1, 2, 3, 5, 11]))]) for _ in range(count)]


@pytest.mark.parametrize("tokenize", TOKENIZE)
@pytest.mark.parametrize("smooth", SMOOTH)
def test_sentence_bleu_equals_sacrebleu_on_3000_fuzzed_pairs(tokenize, smooth):
    pairs = fuzz(3000) if smooth == "exp" or tokenize == "13a" else fuzz(500, 11)
    for lowercase in (False, True):
        metric = BLEU(tokenize=tokenize, smooth_method=smooth, effective_order=True, lowercase=lowercase)
        expected = [metric.sentence_score(candidate, references).score for candidate, references in pairs]
        table = bleu_many(*zip(*pairs, strict=True), tokenize=tokenize, smooth=smooth, lowercase=lowercase)
        assert np.abs(np.nan_to_num(table.scores) - expected).max() <= 1e-9  # sacrebleu says 0 where nothing is defined
        for (candidate, references), score, defined in list(zip(pairs, expected, table.defined, strict=True))[::20]:
            bleu = bleu_score(candidate, references, tokenize=tokenize, smooth=smooth, lowercase=lowercase)
            assert abs((bleu.score or 0) - score) <= 1e-9 and (bleu.score is not None) == defined


@pytest.mark.parametrize("tokenize", TOKENIZE)
@pytest.mark.parametrize("smooth", SMOOTH)
@pytest.mark.parametrize("effective_order", [False, True])
def test_corpus_bleu_equals_sacrebleu_on_fuzzed_corpora(tokenize, smooth, effective_order):
    for count, seed in ((1, 1), (5, 2), (300, 3)):
        pairs = [(candidate, (references * 3)[:3]) for candidate, references in fuzz(count, seed)]
        candidates, references = map(list, zip(*pairs, strict=True))
        metric = BLEU(tokenize=tokenize, smooth_method=smooth, effective_order=effective_order)
        expected = metric.corpus_score(candidates, [list(stream) for stream in zip(*references, strict=True)])
        ours = corpus_bleu(candidates, references, tokenize=tokenize, smooth=smooth, effective_order=effective_order)
        assert abs(float(ours) - expected.score) <= 1e-9
        assert abs(ours.bp - expected.bp) <= 1e-12
        assert (ours.candidate_length, ours.reference_length) == (expected.sys_len, expected.ref_len)
        if any(expected.counts):
            assert np.allclose(ours.precisions, expected.precisions, atol=1e-9)


@pytest.mark.parametrize("count", [1, 2, 11])
@pytest.mark.parametrize(("tokenize", "smooth", "lowercase"), [
    ("13a", "exp", False), ("13a", "none", False), ("13a", "floor", False), ("13a", "add-k", False),
    ("13a", "exp", True), ("intl", "exp", False), ("char", "exp", False), ("none", "exp", True),
])  # fmt: skip
@pytest.mark.nightly
def test_summeval_equals_sacrebleu(summeval, count, tokenize, smooth, lowercase):
    candidates, references = summeval[0][::4], [group[:count] for group in summeval[1][::4]]
    options = {"tokenize": tokenize, "lowercase": lowercase}
    metric = BLEU(effective_order=True, smooth_method=smooth, **options)
    expected = [metric.sentence_score(c, r).score for c, r in zip(candidates, references, strict=True)]
    assert np.abs(bleu_many(candidates, references, smooth=smooth, **options).scores - expected).max() <= 1e-9
    streams = [list(stream) for stream in zip(*references, strict=True)]
    whole = BLEU(smooth_method=smooth, **options).corpus_score(candidates, streams).score
    assert abs(float(corpus_bleu(candidates, references, smooth=smooth, **options)) - whole) <= 1e-9


def test_all_summeval_summaries_equal_sacrebleu(summeval):
    candidates, references = summeval
    metric = BLEU(effective_order=True)
    for count in (1, 11):
        groups = [group[:count] for group in references]
        expected = [metric.sentence_score(c, r).score for c, r in zip(candidates, groups, strict=True)]
        assert np.abs(bleu_many(candidates, groups).scores - expected).max() <= 1e-9


# smoothing, lower-cased → mean sentence BLEU of the 1,600 summaries against the first reference (13a);
# measured with sacrebleu 2.6.0
MEANS = {
    ("none", False): 7.90,
    ("floor", False): 8.66,
    ("add-k", False): 10.88,
    ("exp", False): 9.14,
    ("exp", True): 13.42,
}


@pytest.mark.parametrize(("choice", "mean"), MEANS.items())
def test_published_means(summeval, choice, mean):
    smooth, lowercase = choice
    table = bleu_many(summeval[0], [group[0] for group in summeval[1]], smooth=smooth, lowercase=lowercase)
    assert round(table.mean(), 2) == mean


@pytest.mark.parametrize(
    ("smooth", "method"), [("none", "method0"), ("floor", "method1"), ("add-k", "method2"), ("exp", "method3")]
)
def test_nltk_coincides_where_all_orders_exist(smooth, method):
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    cut = lambda text: Tokenizer13a()(text).split()
    tried = 0
    for candidate, references in fuzz(600, 5):
        tokens = cut(candidate)
        if len(tokens) < 5 or not all(map(cut, references)):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            smoothing = getattr(SmoothingFunction(), method)
            expected = 100 * sentence_bleu([cut(r) for r in references], tokens, smoothing_function=smoothing)
        assert abs(float(bleu_score(candidate, references, smooth=smooth)) - expected) <= 1e-9
        tried += 1
    assert tried > 200


# candidate, references, n, options → BLEU; by hand (see the chapter) unless said otherwise
CAT = ("The cat is sitting on the mat.", ["The cat is on the mat.", "A cat is sitting on the mat."])
BY_HAND = [
    (*CAT, 2, {}, 100.0),
    (*CAT, 2, {"tokenize": "none"}, 100.0),
    (*CAT, 4, {"tokenize": "none"}, 100 * 0.75**0.25),
    (*CAT, 4, {}, 100 * 0.8**0.25),
    ("", ["a"], 4, {}, 0.0),
    ("a", [""], 4, {}, 0.0),
    ("a b", ["c d"], 4, {}, 0.0),
    ("the cat sat", ["the cat sat down"], 2, {"tokenize": "none"}, 100 * np.exp(1 - 4 / 3)),
    ("a b c", ["a b c"], 4, {"effective_order": False}, 0.0),  # no 4-grams, and no leave to skip them
    ("a b c", ["a b c"], 4, {}, 100.0),
    ("the the the", ["the"], 1, {}, 100 / 3),
    ("a a", ["a", "a a a"], 1, {}, 100.0),  # equally close references: the shorter gives r = 1
]


@pytest.mark.parametrize(("candidate", "references", "n", "options", "expected"), BY_HAND)
def test_worked_examples(candidate, references, n, options, expected):
    assert float(bleu_score(candidate, references, n, **options)) == pytest.approx(expected, abs=1e-9)
    assert bleu_many([candidate], [references], n, **options).scores[0] == pytest.approx(expected, abs=1e-9)


def test_no_tokens_on_either_side_has_no_score():
    for candidate, references in (("", ""), (" ", ["", "\n"])):
        score = bleu_score(candidate, references)
        assert score.score is None and "nothing to compare" in score.reason
        with pytest.raises(ValueError, match="nothing to compare"):
            float(score)
    table = bleu_many(["", "a"], ["", "a"])
    assert np.isnan(table.scores[0]) and table.n_undefined == 1 and table.to_dict()["rows"][0]["bleu"] is None
    assert table.defined.tolist() == [False, True] and table.mean() == 100 and table.rows()[0]["bleu"] is None
    assert bleu_many([""], [""]).mean() is None and "no text of 1" in bleu_many([""], [""])._repr_html_()
    assert corpus_bleu(["", ""], ["", ""]).score is None


BAD = [
    (lambda: bleu_score(["a reference"], "the candidate"), TypeError, "candidate .* first .* look swapped"),
    (lambda: bleu_many([["a reference"]], ["the candidate"]), TypeError, "candidates .* first .* look swapped"),
    (lambda: Metric(bleu_score, n=0), ValueError, "n must be at least 1"),
    (lambda: bleu_score(None, "a"), TypeError, "candidate must be a string"),
    (lambda: bleu_score(["the", "cat"], "the cat"), TypeError, "not list"),
    (lambda: bleu_score(b"bytes", "a"), TypeError, "decode"),
    (lambda: bleu_score("a", []), ValueError, "at least one reference"),
    (lambda: bleu_score("a", None), TypeError, "references must be a list"),
    (lambda: bleu_score("a", ["b", None]), TypeError, r"references\[1\]"),
    (lambda: bleu_score("a", [["b"]]), TypeError, r"references\[0\]"),
    (lambda: bleu_score("a", "b", 0), ValueError, "n must be at least 1"),
    (lambda: bleu_score("a", "b", -2), ValueError, "n must be at least 1"),
    (lambda: bleu_score("a", "b", 2.0), TypeError, "whole number"),
    (lambda: bleu_score("a", "b", smooth="laplace"), ValueError, "known: 'exp', 'floor', 'add-k', 'none'"),
    (lambda: bleu_score("a", "b", tokenize="flores"), ValueError, "known: 'none', '13a'"),
    (lambda: bleu_score("a", "b", tokenize=str.upper), TypeError, "list of tokens"),
    (lambda: bleu_score("a", "b", smooth_value=1), ValueError, "takes none"),
    (lambda: bleu_score("a", "b", smooth="floor", smooth_value=float("nan")), ValueError, "finite"),
    (lambda: bleu_score("a", "b").interval(), ValueError, "at least two texts"),
    (lambda: bleu_score("a", "b").explain(n=0), ValueError, "n must be at least 1"),
    (lambda: corpus_bleu("a", ["b"]), TypeError, "wrap one text in a list"),
    (lambda: corpus_bleu(["a"], "b"), TypeError, "one string or one list of strings per candidate"),
    (lambda: corpus_bleu([], []), ValueError, "candidates is empty"),
    (lambda: corpus_bleu(["a", "b"], ["c"]), ValueError, "zip"),
    (lambda: corpus_bleu(["a"], [[]]), ValueError, r"references\[0\] is empty"),
    (lambda: corpus_bleu(["a"], [None]), TypeError, r"references\[0\]"),
    (lambda: corpus_bleu(["a", None], ["a", "b"]), TypeError, r"candidates\[1\]"),
    (lambda: corpus_bleu(["a", "b"], ["a", "b"]).interval(confidence=1), ValueError, "between 0 and 1"),
    (lambda: corpus_bleu(["a", "b"], ["a", "b"]).interval(n_resamples=1), ValueError, "n_resamples"),
    (
        lambda: compare_bleu(corpus_bleu(["a", "b"], ["a", "b"]), corpus_bleu(["a", "b"], ["a", "c"])),
        ValueError,
        "references",
    ),
    (
        lambda: compare_bleu(corpus_bleu(["a", "b"], ["a", "b"]), corpus_bleu(["a", "b"], ["a", "b"], 2)),
        ValueError,
        "options",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_bad_input_is_named(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_a_tokenizer_that_loses_the_text_warns():
    latin = lambda text: [word for word in text.split() if word.isascii()]
    with pytest.warns(UserWarning, match="left no token of 2 of 2 texts"):
        score = bleu_score("Кошка сидит", "Кошка спит", tokenize=latin)
    assert score.score is None
    with pytest.warns(UserWarning, match="left no token"):
        bleu_many(["Кошка сидит"], ["a cat"], tokenize=latin)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert float(bleu_score("Кошка сидит", "Кошка сидит")) == 100
        bleu_score("", "a")


texts = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat", "."]), max_size=12).map(" ".join)
groups = st.lists(texts, min_size=1, max_size=4)
choices = st.sampled_from(SMOOTH)


@given(texts.filter(bool), st.integers(1, 5), choices)
def test_a_text_against_itself_is_100(text, n, smooth):
    assert float(bleu_score(text, text, n, smooth=smooth)) == 100


@given(texts, groups, st.integers(1, 5), choices, st.booleans())
def test_bounds_and_order_of_references(candidate, references, n, smooth, effective):
    options = {"smooth": smooth, "effective_order": effective}
    score = bleu_score(candidate, references, n, **options)
    other = bleu_score(candidate, references[::-1], n, **options)
    assert score.score == other.score
    if score.score is not None:
        assert 0 <= score.score <= 100 and 0 <= score.bp <= 1
        assert all(0 <= c <= t for c, t in zip(score.counts, score.totals, strict=True))


@given(texts, groups, texts)
def test_another_reference_never_takes_a_match_away(candidate, references, extra):
    fewer, more = bleu_score(candidate, references), bleu_score(candidate, [*references, extra])
    assert all(a <= b for a, b in zip(fewer.counts, more.counts, strict=True))


@given(st.lists(st.tuples(texts, groups), min_size=1, max_size=6), st.integers(1, 5), choices)
def test_one_by_one_and_in_bulk_are_equal(pairs, n, smooth):
    candidates, references = map(list, zip(*pairs, strict=True))
    table = bleu_many(candidates, references, n, smooth=smooth)
    for index, (candidate, group) in enumerate(pairs):
        score = bleu_score(candidate, group, n, smooth=smooth)
        assert table[index].statistics.tolist() == score.statistics.tolist()
        assert table.rows()[index]["bleu"] == score.score, "to the last bit"


def test_bleu_many_and_bleu_score_agree_to_the_last_bit():
    rng = random.Random(13)
    draw = lambda: " ".join(
        rng.choices(
            ["the", "cat", "sat", "on", "a", "red", "mat", "and", "saw", "the", "dog", "."], k=rng.randint(1, 30)
        )
    )
    candidates, references = [draw() for _ in range(300)], [[draw(), draw()] for _ in range(300)]
    for smooth in SMOOTH:
        table = bleu_many(candidates, references, smooth=smooth)
        pairs = zip(candidates, references, strict=True)
        assert table.scores.tolist() == [bleu_score(pair, group, smooth=smooth).score for pair, group in pairs]
    whole = corpus_bleu(candidates[:1] * 3, references[:1] * 3)
    assert whole.interval(n_resamples=10)[:2] == (whole.score, whole.score), "resampled by the same formula"


@pytest.mark.parametrize("name", ["lowercase", "effective_order"])
@pytest.mark.parametrize("function", [bleu_score, bleu_many, corpus_bleu])
def test_a_flag_of_bleu_that_is_a_text_is_an_error(name, function):
    pair = ("The cat", "the cat") if function is bleu_score else (["The cat"], ["the cat"])
    with pytest.raises(TypeError, match=f"{name} must be True or False, not str"):
        function(*pair, **{name: "no"})


def test_an_order_beyond_reason_is_refused_at_once():
    with pytest.raises(ValueError, match="n must be at most 100"):
        bleu_score("a", "a", 1_000_000_000)


def test_intervals_and_paired_tests_are_like_sacrebleus():
    from sacrebleu.significance import PairedTest

    rng = random.Random(7)
    pairs = [pair for pair in fuzz(300, 7) if len(pair[1][0].split()) > 4]
    references = [group[:1] for _, group in pairs]
    mix = lambda share: [g[0] if rng.random() < share else c for (c, _), g in zip(pairs, references, strict=True)]
    systems = [("a", mix(0.5)), ("b", mix(0.4)), ("c", mix(0.9))]
    scores = {name: corpus_bleu(texts, references) for name, texts in systems}
    streams = [[group[0] for group in references]]
    _, results = PairedTest(
        systems, {"BLEU": BLEU(references=streams)}, references=streams, test_type="bs", n_samples=2000
    )()
    for name, result in zip("bc", results["BLEU"][1:], strict=True):
        ours = compare_bleu(scores[name], scores["a"], n_resamples=2000)
        assert abs(float(scores[name]) - result.score) < 1e-9
        assert abs(ours.p_value - result.p_value) < 0.03  # other random numbers, the same test
    interval = scores["a"].interval(n_resamples=2000)
    result = results["BLEU"][0]
    assert abs((interval.high - interval.low) / 2 - result.ci) < 0.15 * result.ci
    assert interval == scores["a"].interval(n_resamples=2000) != scores["a"].interval(n_resamples=2000, seed=1)


def test_results_can_be_exported():
    score = corpus_bleu(["the cat sat", "a mat"], [["the cat sat"], ["a <b>mat</b>", "a rug"]])
    assert json.loads(json.dumps(score.to_dict()))["bp"] == score.bp
    assert list(score.to_frame()["order"]) == [1, 2, 3, 4]
    assert "corpus" not in str(score.signature) and score.signature["nrefs"] == "var"
    picture = score.explain(1, n=1)
    assert "&lt;b&gt;" in picture._repr_html_() and "<b>" not in picture._repr_html_()
    assert str(picture).splitlines()[:2] == ["BLEU: shared 1-grams, 2 of 2 counted", "candidate: [a] [mat]"]
    assert summeval_nb.bleu_score is bleu_score and summeval_nb.corpus_bleu is corpus_bleu


def test_a_bleu_with_its_choices_gives_what_the_functions_give():
    candidates, references = ["the cat sat", "a mat", ""], ["the cat ran", ["a mat", "a rug"], ""]
    for choice in ({}, {"n": 2, "smooth": "floor"}, {"effective_order": False, "lowercase": True}):
        metric = Metric(bleu_score, **choice)
        many, whole = (f(candidates, references, **choice) for f in (bleu_many, corpus_bleu))
        table = metric.score_many(candidates, references)
        assert table.rows() == many.rows() and table.signature == many.signature
        assert metric.corpus(candidates, references).to_dict() == whole.to_dict()
        one_pair = metric.score(candidates[0], references[0]).to_dict()
        assert one_pair == bleu_score("the cat sat", "the cat ran", **choice).to_dict()
        rows = [dict(zip(metric.columns, pair, strict=True)) for pair in zip(candidates, references, strict=True)]
        outcomes = score_rows(metric, rows)
        assert [o.score for o in outcomes] == [row["bleu"] for row in table.rows()]
        assert [o.status for o in outcomes] == ["ok", "ok", "undefined"]
        assert [Signature.parse(o.signature)["nrefs"] for o in outcomes] == ["1", "2", "1"]
    metric = Metric(bleu_score)
    assert metric.signature["eff"] == "yes" and "nrefs" not in metric.signature
    assert metric.corpus(["a"], ["a"]).signature["eff"] == "no"
    assert Metric(bleu_score, n=2).fingerprint != metric.fingerprint


def test_counts_of_many_are_those_of_the_definition():
    pairs = [(text.split(), [other.split() for other in group]) for text, group in fuzz(400, 17)]
    for n in (1, 4, 6):
        rows = count_bleu(*zip(*fuzz(400, 17), strict=True), n=n, tokenize="none")
        assert rows.tolist() == [bleu_counts(text, group, n) for text, group in pairs]


def test_signature_says_every_choice():
    score = bleu_score("a b", ["a", "b"], 2, tokenize=str.split, smooth="floor", lowercase=True)
    fields = {
        "metric": "bleu2",
        "nrefs": "2",
        "case": "lc",
        "eff": "yes",
        "tok": "builtins.str.split",
        "smooth": "floor[0.10]",
    }
    assert fields.items() <= dict(score.signature).items() and "version" in score.signature


@pytest.mark.parametrize("text", ["橋は月曜日に閉じた", "大桥周一关闭了", "สะพานปิดวันจันทร์"])
def test_words_without_spaces_are_told(text, recwarn):
    bleu_score(text, text, tokenize="char")
    bleu_score("The bridge 橋 was closed to all cars on Monday.", "The bridge was closed.")
    bleu_score("大桥 周一 关闭 了 。", "大桥 周一 开放 了 。"), bleu_score(text, text, tokenize="none")
    assert not recwarn.list
    for tokenize in ("13a", "intl"):
        with pytest.warns(UserWarning, match="splits at spaces, and 2 of 2 texts"):
            bleu_score(text, text, tokenize=tokenize)


def test_a_zero_for_want_of_words_says_so():
    short = corpus_bleu(["old bridge", "yes"], ["old bridge", "yes"])
    assert short.score == 0 and "no candidate holds 4 words" in short.reason and "no candidate" in repr(short)
    assert corpus_bleu(["old bridge"], ["old bridge"], n=2).score == 100
    different = corpus_bleu(["one two three four"], ["five six seven eight"])
    assert different.score == 0 and not different.reason, "there were words to count"
    alone = bleu_score("yes", ["old bridge"])
    assert alone.score == 0 and not alone.reason, "the effective order is on, so its word was counted"
