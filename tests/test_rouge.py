"""ROUGE against rouge-score 0.1.2, ROUGE-1.5.5, Lin's numbers, counts by brute force and rouge-score-rs; bad input."""

import gzip
import importlib.util
import itertools
import json
import math
import pickle
import random
import re
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from helpers.late import Late
from hypothesis import given, settings
from hypothesis import strategies as st

import summeval_nb
import summeval_nb.overlap.counting as skip
from summeval_nb import load_metric, run
from summeval_nb.core.metric import score_rows
from summeval_nb.core.results import Signature
from summeval_nb.overlap import lcs_length, rouge, rouge_bulk, rouge_tokenizer
from summeval_nb.overlap.counting import number_texts
from summeval_nb.overlap.rouge import MULTI, TYPES, calculate_rouge, calculate_rouge_l, rouge_many, rouge_score, rouge_w
from summeval_nb.overlap.rouge_bulk import (
    _combine,
    _lay_out,
    _line_counts,
    _word_counts,
    bit_path,
    weighted_counts,
    weighted_lcs,
    weighted_lcs_path,
)
from summeval_nb.overlap.rouge_counts import (
    PrecisionRecallF1,
    combine_references,
    lcs_path,
    lcs_table,
    union_lcs_matches,
)

RougeScorer = Late("rouge_score.rouge_scorer", "RougeScorer")

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")
FOUR = ("rouge1", "rouge2", "rougeL", "rougeLsum")
RNG = random.Random(0)


@pytest.fixture(scope="module")
def summeval(data_folder):
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    pairs = [(system["summary"], row["references"]) for row in rows for system in row["systems"]]
    return [summary for summary, _ in pairs], [references for _, references in pairs]


@pytest.fixture(scope="module")
def exceptions(data_folder):
    with gzip.open(data_folder / "wordnet20_exceptions.tsv.gz", "rt", encoding="utf-8") as lines:
        return {form: base for _, form, base, *_ in (line.rstrip("\n").split("\t") for line in lines)}


def by_lines(texts):
    """Put a line break after every full stop, exclamation and question mark that white space follows."""
    return [re.sub(r"(?<=[.!?])\s+", "\n", text) for text in texts]


def fuzz(count, seed=0):
    """Short texts with much repetition, several lines, blank lines, other scripts, and 1 to 5 references."""
    rng = random.Random(seed)
    words = [
        "the",
        "The",
        "cat",
        "cats",
        "sitting",
        "running",
        "attorneys",
        "skies",
        "3.5",
        "U.S.",
        "a-b",
        "Кошка",
        "é",
    ]
    line = lambda: rng.choice([" ", "  ", ", "]).join(rng.choices(words, k=rng.choice([0, 1, 2, 4, 8, 16])))
    text = lambda: "\n".join(line() for _ in range(rng.choice([1, 1, 2, 3, 5])))
    return [(text(), [text() for _ in range(rng.choice([1, 1, 2, 3, 5]))]) for _ in range(count)]


def google(pairs, types=FOUR, stemmer=False):
    """rouge-score's numbers, shape (types, texts, 3)."""
    scorer = RougeScorer(list(types), use_stemmer=stemmer)
    scored = [scorer.score_multi(references, generated) for generated, references in pairs]
    return np.array([[tuple(scores[kind]) for scores in scored] for kind in types])


def columns(table, kind):
    return [table[f"{kind}_{part}"] for part in ("precision", "recall", "f1")]


def ours(pairs, types=FOUR, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        table = rouge_many(*map(list, zip(*pairs, strict=True)), types=types, **options)
    return np.nan_to_num(
        [np.column_stack(columns(table, kind)) for kind in types]
    )  # rouge-score says 0 where nothing is defined


@pytest.mark.parametrize("stemmer", [False, True])
def test_equal_to_rouge_score_on_3000_fuzzed_pairs(stemmer):
    pairs = fuzz(3000)
    assert np.abs(ours(pairs, stemmer=stemmer) - google(pairs, stemmer=stemmer)).max() <= 1e-12


def test_higher_orders_equal_rouge_score():
    pairs, types = fuzz(300, 1), ["rouge3", "rouge4", "rouge9"]
    assert np.abs(ours(pairs, types) - google(pairs, types)).max() <= 1e-12


@pytest.mark.parametrize("stemmer", [False, True])
def test_all_summeval_summaries_equal_rouge_score(summeval, stemmer):
    generated, references = summeval
    pairs = [(text, group[:1]) for text, group in zip(generated, references, strict=True)]
    types = ("rouge1", "rouge2", "rougeL")
    assert np.abs(ours(pairs, types, stemmer=stemmer) - google(pairs, types, stemmer)).max() <= 1e-12


@pytest.mark.parametrize("stemmer", [False, True])
def test_summeval_with_eleven_references_equals_rouge_score(summeval, stemmer):
    generated, references = by_lines(summeval[0][::32]), [by_lines(group) for group in summeval[1][::32]]
    pairs = list(zip(generated, references, strict=True))
    assert np.abs(ours(pairs, stemmer=stemmer) - google(pairs, stemmer=stemmer)).max() <= 1e-12


def test_a_tokenizer_of_ones_own_equals_rouge_score():
    class Own:
        def tokenize(self, text):
            return text.split()

    pairs = fuzz(300, 2)
    scorer = RougeScorer(list(FOUR), tokenizer=Own())
    scored = [scorer.score_multi(references, generated) for generated, references in pairs]
    expected = np.array([[tuple(scores[kind]) for scores in scored] for kind in FOUR])
    assert np.abs(ours(pairs, tokenizer=str.split) - expected).max() <= 1e-12


PERL = json.loads((Path(__file__).parent / "rouge155_values.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("setting", PERL["values"])
@pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeLsum", "rougeW"])
def test_equal_to_the_perl_script(setting, kind):
    """The script rounds precision and recall to five digits and computes F from those: F may differ by 1.5e-5."""
    multi, _, stemmed = setting.partition(", ")
    options = {"stemmer": bool(stemmed), "exceptions": PERL["exceptions"] if stemmed else None}
    values = ours(PERL["pairs"], [kind], compat="rouge-1.5.5", multi=multi, **options)[0]
    expected = np.array(PERL["values"][setting][kind])
    assert np.abs(values[:, 1] - expected[:, 0]).max() <= 5.1e-6
    assert np.abs(values[:, 0] - expected[:, 1]).max() <= 5.1e-6
    assert np.abs(values[:, 2] - expected[:, 2]).max() <= 1.5e-5


# options → mean F1 over the 1,600 summaries against the first reference. Source: the data folder's README:
# rouge-score 0.1.2, rouge-score-rs 0.2.1 and ROUGE-1.5.5 (which agree unstemmed), sentences on lines of their own
MEANS = [
    ({}, (0.4166, 0.1951, 0.3845)),
    ({"compat": "rouge-1.5.5"}, (0.4166, 0.1951, 0.3845)),
    ({"stemmer": True}, (0.4259, 0.1985, 0.3922)),
    ({"compat": "rouge-1.5.5", "stemmer": True, "exceptions": "given"}, (0.4286, 0.1988, 0.3947)),
]


@pytest.mark.parametrize(("options", "expected"), MEANS)
def test_published_means(summeval, exceptions, options, expected):
    if "exceptions" in options:
        options = {**options, "exceptions": exceptions}
        assert len(exceptions) == 5930
    types = ["rouge1", "rouge2", "rougeLsum"]
    generated, first = by_lines(summeval[0]), by_lines([group[0] for group in summeval[1]])
    means = rouge_many(generated, first, types=types, **options).means()
    assert tuple(round(means[f"{kind}_f1"], 4) for kind in types) == expected


# eleven references, ROUGE-1: multi → mean over the 1,600 summaries (the data folder's README)
@pytest.mark.parametrize(
    ("multi", "part", "expected"),
    [("average", "f1", 0.3183), ("pooled", "f1", 0.3232), ("best_recall", "f1", 0.4189), ("best", "f1", 0.4766)],
)
def test_published_means_with_eleven_references(summeval, multi, part, expected):
    means = rouge_many(*summeval, types=["rouge1"], multi=multi).means()
    assert round(means[f"rouge1_{part}"], 4) == expected


CAT, SAT, RESTING = "The cat is on the mat.", "The cat sat on the mat.", "A cat is resting on the mat."
# references, options, type → precision, recall, F1; all by hand (see the chapter)
BY_HAND = [
    (SAT, {}, "rouge1", (0.833, 0.833, 0.833)),
    (SAT, {}, "rouge2", (0.600, 0.600, 0.600)),
    (SAT, {}, "rougeL", (0.833, 0.833, 0.833)),
    (RESTING, {}, "rouge1", (0.833, 0.714, 0.769)),
    (RESTING, {}, "rouge2", (0.600, 0.500, 0.545)),
    (RESTING, {}, "rougeL", (0.833, 0.714, 0.769)),
    ([SAT, RESTING], {"multi": "pooled"}, "rouge1", (0.833, 0.769, 0.800)),
    ([SAT, RESTING], {"multi": "pooled"}, "rouge2", (0.600, 0.545, 0.571)),
    ([SAT, RESTING], {"compat": "rouge-1.5.5"}, "rougeL", (0.833, 0.769, 0.800)),
    ([SAT, RESTING], {"multi": "average"}, "rouge1", (0.833, 0.774, 0.801)),
    ([SAT, RESTING], {}, "rouge1", (0.833, 0.833, 0.833)),
    (SAT, {"tokenizer": "13a"}, "rouge1", (0.857, 0.857, 0.857)),
    (SAT, {"tokenizer": "13a"}, "rouge2", (0.667, 0.667, 0.667)),
    (SAT, {"tokenizer": "13a"}, "rougeL", (0.857, 0.857, 0.857)),
]


@pytest.mark.parametrize(("references", "options", "kind", "expected"), BY_HAND)
def test_worked_examples(references, options, kind, expected):
    assert tuple(round(value, 3) for value in rouge_score(CAT, references, **options)[kind]) == expected


# generated, reference → ROUGE-1 F1, ROUGE-2 F1; None: no score
EDGES = [
    ("", "a cat", 0, 0),
    ("a cat", "", 0, 0),
    ("cat", "cat", 1, 0),
    ("a cat", "a cat", 1, 1),
    ("", "", None, None),
    (" \n", "", None, None),
]


@pytest.mark.parametrize(("generated", "reference", "first", "second"), EDGES)
def test_edge_cases(generated, reference, first, second):
    scores = rouge_score(generated, reference)
    table = rouge_many([generated, "a"], [reference, "a"])
    if first is None:
        assert len(scores) == 0 and scores.score is None and "nothing to compare" in scores.reason
        with pytest.raises(KeyError, match="nothing to compare"):
            scores["rouge1"]
        assert table.defined.tolist() == [False, True] and table.mean("rouge1_f1") == 1
        assert [row["rouge1_f1"] for row in table.to_dict()["rows"]] == [None, 1.0] and np.isnan(table["rouge1_f1"][0])
        assert rouge_many([generated], [reference]).mean() is None
    else:
        assert (scores["rouge1"].f1, scores["rouge2"].f1) == (first, second) and table.defined.all()
        assert calculate_rouge(reference, generated)["f1_score"] == first


BAD = [
    (lambda: rouge_score(None, "a"), TypeError, "candidate must be a string"),
    (lambda: rouge_score(["the", "cat"], "a"), TypeError, "not list"),
    (lambda: rouge_score("a", None), TypeError, "references must be a list"),
    (lambda: rouge_score("a", []), ValueError, "at least one reference"),
    (lambda: rouge_score("a", ["b", None]), TypeError, r"references\[1\]"),
    (lambda: rouge_score("a", [["the", "cat"]]), TypeError, r"references\[0\]"),
    (lambda: rouge_score("a", "b", types=["rouge"]), ValueError, "known: 'rouge1'"),
    (lambda: rouge_score("a", "b", types=["rouge0"]), ValueError, "known: 'rouge1'"),
    (lambda: rouge_score("a", "b", types="rouge1"), TypeError, "list of names"),
    (lambda: rouge_score("a", "b", types=[]), TypeError, "list of names"),
    (lambda: rouge_score("a", "b", multi="max"), ValueError, "known: 'best', 'best_recall', 'average', 'pooled'"),
    (lambda: rouge_score("a", "b", compat="perl"), ValueError, "known: 'google', 'rouge-1.5.5'"),
    (lambda: rouge_score("a", "b", tokenizer="rouge2"), ValueError, "unknown tokenizer"),
    (lambda: rouge_score("a", "b", tokenizer=str.upper), TypeError, "list of tokens"),
    (lambda: rouge_score("a", "b", tokenizer=str.split, stemmer=True), ValueError, "stem inside it"),
    (lambda: rouge_score("a", "b", exceptions={}), ValueError, "rouge-1.5.5"),
    (lambda: rouge_score("a", "b", weight=0), ValueError, "weight"),
    (lambda: rouge_score("a", "b", weight=float("nan")), ValueError, "weight"),
    (lambda: rouge_score("a", "b")["rouge3"], KeyError, "computed: rouge1, rouge2"),
    (lambda: rouge_score("a", "b").explain("rouge3"), ValueError, "unknown type"),
    (lambda: rouge_score("a", "b").explain(reference=1), ValueError, "number of a reference"),
    (lambda: float(rouge_score("a", "b")), ValueError, "several types"),
    (lambda: rouge_many("a", ["b"]), TypeError, "wrap one text in a list"),
    (lambda: rouge_many(["a"], "b"), TypeError, "one string or one list"),
    (lambda: rouge_many([], []), ValueError, "no text to score"),
    (lambda: rouge_many(["a"], ["b", "c"]), ValueError, "one entry per"),
    (lambda: rouge_many(["a"], [[]]), ValueError, r"references\[0\] is empty"),
    (lambda: rouge_many([7], ["a"]), TypeError, r"candidates\[0\]"),
    (lambda: calculate_rouge("a", "b", 0), ValueError, "n must be at least 1"),
    (lambda: calculate_rouge("a", "b", -1), ValueError, "n must be at least 1"),
    (lambda: calculate_rouge(["a"], "b"), TypeError, "reference must be a string"),
    (lambda: calculate_rouge_l("a", None), TypeError, "generated must be a string"),
    (lambda: lcs_length(1, [2]), TypeError, "x must be a sequence"),
    (lambda: rouge_w("a", "b", "2"), ValueError, "weight"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_bad_input_is_named(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_lost_text_is_never_silent():
    with pytest.warns(UserWarning, match="left no token of 1 of 2 texts"):
        scores = rouge_score("Кошка сидит", "a cat")
    assert scores["rouge1"].f1 == 0
    with pytest.warns(UserWarning, match="Pass a tokenizer"):
        calculate_rouge("Кошка сидит", "Кошка сидит")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rouge_score("Кошка сидит", "Кошка спит", tokenizer=str.split)["rouge1"].f1 == 0.5
        rouge_score("", "a cat")


words = st.lists(st.sampled_from(["the", "cat", "cats", "sat", "on", "mat"]), max_size=10).map(" ".join)
texts = st.lists(words, min_size=1, max_size=3).map("\n".join)
groups = st.lists(texts, min_size=1, max_size=4)
options = st.fixed_dictionaries(
    {"stemmer": st.booleans(), "compat": st.sampled_from(["google", "rouge-1.5.5"]), "multi": st.sampled_from(MULTI)}
)
ALL = ("rouge1", "rouge2", "rouge4", "rougeL", "rougeLsum", "rougeW")


@given(texts, groups, options)
def test_bounds_and_order_of_references(generated, references, choice):
    scores = rouge_score(generated, references, types=ALL, **choice)
    for kind, item in scores.items():
        assert all(0 <= value <= 1 + 1e-12 for value in item), kind
    if choice["multi"] in ("average", "pooled"):
        other = rouge_score(generated, references[::-1], types=ALL, **choice)
        assert all(np.allclose(scores[kind], other[kind]) for kind in scores)
    else:
        other = rouge_score(generated, references[::-1], types=ALL, **choice)
        part = "f1" if choice["multi"] == "best" else "recall"
        for kind in set(scores) - {"rougeW"}:
            assert getattr(scores[kind], part) == getattr(other[kind], part)


@given(texts, options)
def test_a_text_against_itself_is_1(text, choice):
    scores = rouge_score(text, [text, text], types=["rouge1", "rougeL", "rougeLsum"], **choice)
    assert all(np.allclose(item, 1) for item in scores.values())
    assert (len(scores) == 0) == (not text.split())


@given(texts, groups, texts)
def test_best_never_falls_with_another_reference(generated, references, extra):
    fewer, more = (rouge_score(generated, refs, types=ALL) for refs in (references, [*references, extra]))
    assert all(more[kind].f1 >= item.f1 - 1e-12 for kind, item in fewer.items())


@given(st.lists(st.tuples(texts, groups), min_size=1, max_size=6), options)
def test_one_by_one_and_in_bulk_are_equal(pairs, choice):
    table = rouge_many(*map(list, zip(*pairs, strict=True)), types=ALL, **choice)
    for index, (generated, references) in enumerate(pairs):
        score = rouge_score(generated, references, types=ALL, **choice)
        assert (len(score) > 0) == table.defined[index]
        for kind, item in score.items():
            assert tuple(part[index] for part in columns(table, kind)) == item


@given(texts, texts)
def test_the_fast_path_equals_the_definitions(generated, reference):
    scores = rouge_score(generated, reference, types=ALL)
    for n in (1, 2, 4):
        item = scores.get(f"rouge{n}", (0, 0, 0))
        assert tuple(calculate_rouge(reference, generated, n).values()) == tuple(item)
    assert tuple(calculate_rouge_l(reference, generated).values()) == tuple(scores.get("rougeL", (0, 0, 0)))
    assert np.allclose(list(rouge_w(reference, generated).values()), scores.get("rougeW", (0, 0, 0)))


@given(texts, texts)
def test_longer_matches_are_rarer(generated, reference):
    scores = rouge_score(generated, reference, types=["rouge1", "rougeLsum", "rougeL"])
    if scores:
        assert scores["rouge1"].recall + 1e-12 >= scores["rougeLsum"].recall


@given(st.lists(st.integers(0, 5), max_size=12), st.lists(st.integers(0, 5), max_size=12))
def test_lcs(x, y):
    path = lcs_path(x, y)
    assert len(path) == lcs_table(x, y)[-1][-1] == lcs_length(x, y) == lcs_length(y, x)
    assert all(x[i] == y[j] for i, j in path)
    assert path == sorted(path) and len({i for i, _ in path}) == len({j for _, j in path}) == len(path)


def test_long_texts_and_many_lines():
    rng = random.Random(0)
    long = [" ".join(rng.choices(["a", "b", "c", "d", "e"], k=400)) for _ in range(2)]
    scores = rouge_score(*long)
    scorer = RougeScorer(["rouge1", "rougeL"])
    assert scores["rougeL"] == tuple(scorer.score(long[1], long[0])["rougeL"])
    lines = ["\n".join(" ".join(rng.choices("abcdefgh", k=90)) for _ in range(4)) for _ in range(2)]
    expected = RougeScorer(["rougeLsum"]).score(lines[1], lines[0])["rougeLsum"]
    assert rouge_score(*lines)["rougeLsum"] == tuple(expected)


def test_more_texts_than_a_chunk_keep_their_numbers(monkeypatch):
    pairs = fuzz(50, 4)
    whole = ours(pairs, ALL)
    monkeypatch.setattr(rouge, "_CHUNK", 7)
    assert np.array_equal(ours(pairs, ALL), whole)


def test_a_transformers_tokenizer_works():
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    vocabulary = {"[UNK]": 0, "the": 1, "cat": 2, "##s": 3, "sat": 4, ".": 5}
    inner = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    subwords = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="[UNK]")
    scores = rouge_score("the cats sat.", "the cat sat.", tokenizer=subwords.tokenize)
    assert scores["rouge1"] == pytest.approx((4 / 5, 1, 8 / 9))
    with pytest.raises(TypeError, match="pass the method"):
        rouge_score("a", "b", tokenizer=subwords)


def test_explanations_mark_what_is_counted():
    hostile = "The <b>cat</b> sat.\nIt slept & slept."
    scores = rouge_score(hostile, ["A dog.", "It slept.\nThe cat sat."], types=ALL)
    for kind in ALL:
        picture = scores.explain(kind)
        assert ("reference 2 of 2" in str(picture)) == (kind != "rouge4") and "<b>" not in picture._repr_html_()
    assert str(scores.explain("rouge1")).splitlines()[1].startswith("candidate: [The] <b>[cat]</b> [sat].")
    assert "slept: number 2, 1 counted" in scores.explain("rouge1")._repr_html_()
    union = scores.explain("rougeLsum")
    assert [row["word"] for row in union.rows] == ["it", "slept", "the", "cat", "sat"]
    assert "\x1b[" in union.to_text(color=True)
    assert str(rouge_score("x", "y").explain()).startswith("rouge1: P 0.000")


def test_results_can_be_exported():
    scores = rouge_score("a cat", ["a dog", "a cat sat"])
    assert json.loads(json.dumps(scores.to_dict()))["rows"][0]["type"] == "rouge1"
    assert list(scores.to_frame().columns) == ["type", "precision", "recall", "f1"]
    assert float(rouge_score("a", "a", types=["rougeL"])) == 1
    table = rouge_many(["a cat", ""], [["a dog", "a cat"], "\n"])
    assert json.loads(json.dumps(table.to_dict()))["mean"] == 1
    frame = table.to_frame()
    assert frame.shape == (2, 12) and frame.iloc[1].isna().all() and frame["rouge1_f1"][0] == 1
    assert "rougeL f1, mean of 2 texts" in table._repr_html_() and "rouge1" in scores._repr_html_()
    assert summeval_nb.rouge_score is rouge_score and summeval_nb.rouge_many is rouge_many


def test_results_survive_pickling():
    for options in (
        {},
        {"compat": "rouge-1.5.5", "stemmer": True, "exceptions": {"went": "go"}},
        {"tokenizer": str.split},
    ):
        scores = rouge_score("a cat went", ["a cat", "it went"], **options)
        again = pickle.loads(pickle.dumps(scores))
        assert again == scores and str(again.explain()) == str(scores.explain())
        assert again.signature == scores.signature and again.get("rouge7") is None
    score = summeval_nb.corpus_bleu(["a cat", "a dog"], ["a cat", "the dog"])
    assert pickle.loads(pickle.dumps(score)).interval() == score.interval()


def test_signatures_say_every_choice():
    assert rouge_score("a", "a").signature["multi"] == "best"
    perl = rouge_score("a", ["a", "b"], compat="rouge-1.5.5", stemmer=True, types=["rougeW"], exceptions={"went": "go"})
    assert perl.signature["multi"] == "pooled" and perl.signature["weight"] == "1.2"
    assert perl.signature["tok"].startswith("rouge-1.5.5+porter+exceptions-1-")
    assert rouge_many(["a", "b"], ["a", ["b", "c"]]).signature["nrefs"] == "var"
    assert set(TYPES) > set(ALL)


def test_union_counts_are_the_same_for_repeated_lines():
    pairs = _lay_out(["a b\na b"], [["a b\nb a\na b"]])
    assert _line_counts(pairs, rouge_tokenizer(), "rougeLsum").tolist() == [[4, 4, 6]]


@pytest.mark.parametrize("multi", MULTI)
@pytest.mark.parametrize("compat", ["google", "rouge-1.5.5"])
def test_one_by_one_and_in_bulk_are_equal_to_the_last_bit(multi, compat):
    rng = random.Random(7)
    words = [*["the", "cat", "sat", "on", "a", "red", "mat", "and", "saw", "the", "dog", "."], "\n"]
    draw = lambda: " ".join(rng.choices(words, k=rng.randint(0, 30)))
    made, wanted = [draw() for _ in range(150)], [[draw() for _ in range(rng.randint(1, 4))] for _ in range(150)]
    options = {"types": TYPES, "multi": multi, "compat": compat}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = rouge_many(made, wanted, **options)
        each = [rouge_score(generated, group, **options) for generated, group in zip(made, wanted, strict=True)]
    for kind in TYPES:
        for part, column in enumerate(columns(table, kind)):
            alone = [score[kind][part] if score else None for score in each]
            assert [None if np.isnan(value) else value for value in column.tolist()] == alone, (kind, part)


@pytest.mark.parametrize("function", [rouge_score, rouge_many])
@pytest.mark.parametrize("stemmer", ["no", "False", 0, None])
def test_a_stemmer_is_true_or_false(function, stemmer):
    pair = ("cats", "cat") if function is rouge_score else (["cats"], ["cat"])
    with pytest.raises(TypeError, match="stemmer must be True or False"):
        function(*pair, stemmer=stemmer)


def test_a_rouge_with_its_choices_gives_what_the_functions_give():
    candidates, references = ["the cat sat", "a mat", ""], ["the cat ran", ["a mat", "a rug"], ""]
    for choice in ({}, {"types": ["rouge1", "rougeW"], "stemmer": True}, {"compat": "rouge-1.5.5"}):
        metric = load_metric("rouge", **choice)
        table, many = metric.score_many(candidates, references), rouge_many(candidates, references, **choice)
        assert table.rows() == many.rows() and table.signature == many.signature
        assert table.n_undefined == 1 and np.isnan(table.scores[2]) and set(table.rows()[2].values()) == {None}
        assert (
            metric.score("the cat sat", ["a cat"]).to_dict() == rouge_score("the cat sat", "a cat", **choice).to_dict()
        )
        rows = [dict(zip(metric.columns, pair, strict=True)) for pair in zip(candidates, references, strict=True)]
        outcomes = score_rows(metric, rows)
        assert [o.score for o in outcomes] == [row[next(iter(table.arrays()))] for row in table.rows()]
        assert [Signature.parse(o.signature)["nrefs"] for o in outcomes] == ["1", "2", "1"]
        assert pickle.loads(pickle.dumps(metric)) == metric
        assert pickle.loads(pickle.dumps(table)).rows() == table.rows()
    assert load_metric("rouge", stemmer=True).fingerprint != load_metric("rouge").fingerprint


# Subsequences in the bits of long integers, united and weighted.


@pytest.mark.parametrize("kept", [1, 2, 3, 7, 256])
def test_bits_walk_the_path_of_the_table(monkeypatch, kept):
    monkeypatch.setattr(rouge_bulk, "_KEPT", kept)
    for _ in range(300):
        left, other = (RNG.choices(range(RNG.randint(1, 6)), k=RNG.randint(0, 22)) for _ in range(2))
        assert bit_path(left, other) == lcs_path(left, other) and len(lcs_path(left, other)) == lcs_length(left, other)


def test_long_lines_equal_rouge_score(monkeypatch):
    monkeypatch.setattr(rouge_bulk, "_KEPT", 64)
    for lines in (1, 3):
        texts = ["\n".join(" ".join(RNG.choices("abcdefgh", k=250)) for _ in range(lines)) for _ in range(2)]
        found = rouge_score(*texts, types=["rougeLsum"])["rougeLsum"]
        assert found == tuple(RougeScorer(["rougeLsum"]).score(*reversed(texts))["rougeLsum"])


PEAK = """
import random, resource, sys
from summeval_nb.overlap import rouge_many, rouge_score
chance = random.Random(0)
words = [f"w{number}" for number in range(5000)]
long, other = (" ".join(chance.choices(words, range(1, 5001), k=8000)) for _ in range(2))
options = {"types": [sys.argv[1]], "compat": sys.argv[2]}
size = int(sys.argv[3])
for text, reference in (("a b", "a c"), (long[:size], other[:size])):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rouge_score(text, reference, **options)
    rouge_many([text, "a b"], [reference, "a c"], **options)
unit = 1 if sys.platform == "darwin" else 1024
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit)
"""


@pytest.mark.parametrize(
    "kind, compat, size, most",
    [  # a table of 8,000 by 8,000 words has 64 million cells of four bytes; one of 1,200 by 1,200 holds 50 MB of floats
        ("rougeLsum", "google", 10**6, 40),
        ("rougeW", "google", 7000, 15),
        ("rougeW", "rouge-1.5.5", 7000, 15),
    ],
)
def test_long_texts_take_no_table_of_memory(kind, compat, size, most):
    pytest.importorskip("resource")
    command = [sys.executable, "-c", PEAK, kind, compat, str(size)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(found.stdout) < most * 2**20


def test_united_hits_are_clipped_on_either_path():
    for _ in range(200):
        left, other = ([RNG.choices(range(6), k=RNG.randint(1, 8)) for _ in range(RNG.randint(1, 4))] for _ in range(2))
        assert union_lcs_matches(left, other, bit_path) == union_lcs_matches(left, other)
    assert union_lcs_matches([["a"], ["a"]], [["a"]]) == 1, "one word cannot match twice"


def test_weights_of_runs():
    assert weighted_lcs("abcdefg", "abcdhik", 2) == 16
    assert weighted_lcs_path("abcdefg", "abcdhik", 2) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert weighted_lcs("abcdefg", "ahbkcid", 2) == 4
    assert weighted_counts([[1, 2, 3]], [[1, 2, 4]], 2, "google") == (4, 9, 9, 9)
    assert weighted_counts([[1, 2, 3]], [[1, 2, 4]], 2, "rouge-1.5.5") == (4, 9, 81, 9)


def test_pairs_are_counted_by_words_and_by_lines():
    tokenize = rouge_tokenizer()
    pairs = _lay_out(["The cat is on the mat."], [["The cat sat on the mat.", "A cat is resting on the mat."]])
    tokens = number_texts(pairs.texts, tokenize)
    assert _word_counts(pairs, tokens, "rouge1").tolist() == [[5, 6, 6], [5, 6, 7]]
    assert _word_counts(pairs, tokens, "rouge2").tolist() == [[3, 5, 5], [3, 5, 6]]
    assert _word_counts(pairs, tokens, "rougeL").tolist() == [[5, 6, 6], [5, 6, 7]]
    poem = _lay_out(["the cat sat\nit slept"], [["it slept\nthe cat sat"]])
    assert _line_counts(poem, tokenize, "rougeLsum").tolist() == [[5, 5, 5]]  # in another order: all found
    assert _word_counts(poem, number_texts(poem.texts, tokenize), "rougeL").tolist() == [[3, 5, 5]]


def test_references_that_many_candidates_share_are_counted_all_against_all():
    texts = [text for text, _ in fuzz(24, 5)]
    groups = [["a cat sat", "the cats sitting"]] * 20 + [["The cat 3.5"]] * 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = rouge_many(texts, groups, types=FOUR)
        for place, (text, group) in enumerate(zip(texts, groups, strict=True)):
            assert dict(table[place]) == dict(rouge_score(text, group, types=FOUR))


def test_four_conventions():
    counts = [(5, 6, 6), (5, 6, 7)]
    found = {multi: combine_references(counts, multi) for multi in MULTI}
    assert np.round(found["pooled"], 3).tolist() == [0.833, 0.769, 0.8]
    assert np.round(found["best"], 3).tolist() == [0.833, 0.833, 0.833]
    for multi in MULTI:
        assert tuple(_combine(np.array(counts, float), np.array([0]), multi)[0]) == found[multi]


def test_a_type_that_was_not_asked_for_is_named():
    with pytest.raises(KeyError, match="computed: rouge1"):
        rouge_score("a", "a", types=["rouge1"])["rouge2"]
    table = rouge_many(["a b", ""], ["a c", ""], types=["rouge1"])
    assert table[0]["rouge1"] == PrecisionRecallF1(0.5, 0.5, 0.5) and not table[1]
    with pytest.raises(ValueError, match="unknown number 'rouge2_f1'"):
        table["rouge2_f1"]
    assert table.mean() == 0.5 and table.n_undefined == 1 and table.rows()[1]["rouge1_f1"] is None
    with pytest.raises(KeyError, match="nothing to compare"):
        rouge_score("", "")["rouge1"]


# ROUGE-S.


KINDS = tuple(skip.SKIP_TYPES)
POLICE = "police killed the gunman"
# generated → ROUGE-S (Lin 2004, section 5), and with the single words: pairs and words shared, of 6 + 4
LIN = [
    ("police kill the gunman", 3 / 6, (3 + 3) / 10),
    ("the gunman kill police", 1 / 6, (1 + 3) / 10),
    ("the gunman police killed", 2 / 6, (2 + 4) / 10),
    ("gunman the killed police", 0, 4 / 10),
]


def by_brute_force(words, kind):
    gap, single = {"rougeS": (99, 0), "rougeSU": (99, 1), "rougeS4": (4, 0), "rougeSU4": (4, 1)}[kind]
    places = itertools.combinations(range(len(words)), 2)
    pairs = Counter((words[i], words[j]) for i, j in places if j - i - 1 <= gap)
    return pairs + Counter((word,) for word in words if single)


@pytest.mark.parametrize(("generated", "pairs", "both"), LIN)
def test_the_example_of_the_paper(generated, pairs, both):
    scores = rouge_score(generated, POLICE, types=KINDS)
    assert scores["rougeS"] == pytest.approx((pairs,) * 3) == scores["rougeS4"]
    assert scores["rougeSU"] == pytest.approx((both,) * 3) == scores["rougeSU4"]


def test_at_most_four_words_stand_between():
    far, near = "a b c d e f g", "a x x x x f"  # a … f: four words between them
    assert rouge_score(near, far, types=["rougeS4"])["rougeS4"].recall == 1 / (6 + 5 + 4 + 3 + 2)
    assert rouge_score("a g", far, types=["rougeS4"])["rougeS4"] == (0, 0, 0)  # a … g: five
    assert rouge_score("a g", far, types=["rougeS"])["rougeS"] == pytest.approx((1, 1 / 21, 2 / 22))


def test_counts_are_clipped():
    # a b a b: (a, b) three times, (a, a), (b, a), (b, b); a b b: (a, b) twice, (b, b)
    assert rouge_score("a b a b", "a b b", types=["rougeS"])["rougeS"] == pytest.approx((3 / 6, 1, 2 / 3))
    assert rouge_score("a b b", "a b", types=["rougeS"])["rougeS"] == pytest.approx((1 / 3, 1, 1 / 2))


def test_several_references_in_every_convention():
    """Precision and recall: 3/3 and 3/6 against the long reference, 1/3 and 1/1 against the short one."""
    references = ["a b c d", "a b"]
    found = {m: rouge_score("a b c", references, types=["rougeS"], multi=m)["rougeS"] for m in MULTI}
    assert found["best"] == pytest.approx((1, 1 / 2, 2 / 3))
    assert found["best_recall"] == pytest.approx((1 / 3, 1, 1 / 2))
    assert found["average"] == pytest.approx((2 / 3, 3 / 4, 7 / 12))
    assert found["pooled"] == pytest.approx((4 / 6, 4 / 7, 8 / 13))
    assert rouge_score("a b c", references, types=["rougeS"], compat="rouge-1.5.5")["rougeS"] == found["pooled"]


def test_stems_and_tokenizers_count():
    pair = ("police killing the gunmen", POLICE)
    assert rouge_score(*pair, types=["rougeS"])["rougeS"].f1 == 1 / 6
    assert rouge_score(*pair, types=["rougeS"], stemmer=True)["rougeS"].f1 == 3 / 6
    assert rouge_score("猫坐垫", "猫在垫", types=["rougeS"], tokenizer="char")["rougeS"].f1 == pytest.approx(1 / 3)


@pytest.mark.parametrize("kind", KINDS)
def test_texts_too_short_for_a_pair(kind):
    single = float(skip.SKIP_TYPES[kind][1])
    assert rouge_score("cat", "cat", types=[kind])[kind] == (single,) * 3
    assert rouge_score("", "a cat", types=[kind])[kind] == rouge_score("a cat", "", types=[kind])[kind] == (0, 0, 0)
    assert len(rouge_score("", "", types=[kind])) == 0
    table = rouge_many(["", "a cat"], ["", "a cat"], types=[kind])
    assert table.n_undefined == 1 and table.mean() == 1


sentences = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat"]), max_size=14)


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5), st.sampled_from(KINDS), st.booleans())
def test_equal_to_a_count_by_brute_force(pairs, kind, in_parts):
    kept, skip._ROOM = skip._ROOM, 5 if in_parts else skip._ROOM
    try:
        table = rouge_many(*([" ".join(side) for side in sides] for sides in zip(*pairs, strict=True)), types=[kind])
    finally:
        skip._ROOM = kept
    for place, (made, wanted) in enumerate(pairs):
        left, right = by_brute_force(made, kind), by_brute_force(wanted, kind)
        shared = (left & right).total()
        if made or wanted:
            assert table[f"{kind}_precision"][place] == shared / max(left.total(), 1)
            assert table[f"{kind}_recall"][place] == shared / max(right.total(), 1)
        else:
            assert math.isnan(table[f"{kind}_f1"][place])


@given(sentences, st.sampled_from(KINDS))
def test_places_in_order_are_what_is_counted(words, kind):
    named = Counter(tuple(words[at] for at in places) for places in skip.pairs_in_order(words, kind))
    assert named == by_brute_force(words, kind)
    tokens, group = number_texts([" ".join(words)], str.split), np.array([0])
    assert skip.skip_counts(group, group, tokens, kind).tolist() == [[named.total()] * 3]


@given(sentences, sentences)
def test_with_no_word_between_it_is_rouge_2(made, wanted):
    skip.SKIP_TYPES["rougeS0"] = (0, False)
    try:
        texts = number_texts([" ".join(made), " ".join(wanted)], str.split)
        found = skip.skip_counts(np.array([0]), np.array([1]), texts, "rougeS0")[0]
    finally:
        del skip.SKIP_TYPES["rougeS0"]
    bigrams = [Counter(itertools.pairwise(words)) for words in (made, wanted)]
    assert found.tolist() == [(bigrams[0] & bigrams[1]).total(), bigrams[0].total(), bigrams[1].total()]


def test_other_types_keep_their_numbers_beside_it():
    made, wanted = ["the cat\nsat on a mat", "a dog"], [["the cat sat", "on a mat"], "a dog ran"]
    old = [kind for kind in TYPES if kind not in KINDS]
    together, alone = rouge_many(made, wanted, types=TYPES), rouge_many(made, wanted, types=old)
    for name, values in alone.arrays().items():
        assert np.array_equal(together[name], values)
    assert together.signature["metric"].endswith("rougeS+rougeSU+rougeS4+rougeSU4")


def test_a_run_and_the_shell_know_the_types(tmp_path):
    from typer.testing import CliRunner

    from summeval_nb.cli import app

    rows = [{"candidate": "police kill the gunman", "references": POLICE}]
    metric = load_metric("rouge", types=["rougeS", "rougeSU4"])
    assert run(rows, metric, out=tmp_path / "run", workers=0, progress=False).mean() == 0.5
    assert pickle.loads(pickle.dumps(metric)) == metric
    (tmp_path / "made.txt").write_text(rows[0]["candidate"] + "\n", encoding="utf-8")
    (tmp_path / "wanted.txt").write_text(POLICE + "\n", encoding="utf-8")
    given_files = [str(tmp_path / "made.txt"), str(tmp_path / "wanted.txt")]
    found = CliRunner().invoke(app, ["score", "rouge", *given_files, "-o", 'types=["rougeS","rougeSU4"]'])
    assert found.exit_code == 0 and "rougeSU4_recall     0.6000" in found.output


def test_a_picture_shows_the_pairs():
    hostile = "The <b>cat</b> sat & sat."
    scores = rouge_score(hostile, "the cat sat", types=["rougeS", "rougeSU4"])
    picture = scores.explain()
    assert str(picture).splitlines()[1] == "candidate: [The] <b>[cat]</b> [sat] & sat."
    assert [row["pair"] for row in picture.rows if row["shared"]] == ["the … cat", "the … sat", "cat … sat"]
    assert "<b>" not in picture._repr_html_() and "cat: in 2 of 3 shared pairs" in picture._repr_html_()
    assert len(scores.explain("rougeSU4").rows) == 6
    many = " ".join(map(str, range(20)))
    rows = rouge_score(many, many, types=["rougeS"]).explain().rows
    assert len(rows) == 101 and rows[-1] == {"pair": "and 90 more", "shared": 90}
    assert not rouge_score("x", "y", types=["rougeS"]).explain().rows


# By rouge-score-rs and by our own code: one number, whatever the texts are; what it does not serve is ours.


compiled = pytest.mark.skipif(
    importlib.util.find_spec("rouge_score_rs") is None, reason="the extra `fast` is not installed"
)
SERVED = (*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum")
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
            monkeypatch.setattr(rouge_bulk, "ACCELERATED", enabled)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                made = function(*texts, **options)
            found.append((made, [str(warning.message) for warning in caught]))
        (fast, said), (own, told) = found
        assert said == told
        return fast, own

    return score


def drawn_pairs(seed, most, count=150):
    chance = random.Random(seed)

    def text():
        if chance.random() < 0.2:
            return chance.choice(HOSTILE)
        return " ".join(chance.choices(WORDS, k=chance.randint(0, 40)))

    return [text() for _ in range(count)], [[text() for _ in range(chance.randint(1, most))] for _ in range(count)]


@compiled
@pytest.mark.parametrize("stemmer", [False, True])
def test_many_texts_have_the_same_numbers(both, stemmer):
    hostile = [text for text in HOSTILE for _ in HOSTILE], [other for _ in HOSTILE for other in HOSTILE]
    for texts, references in (*(drawn_pairs(seed, 1) for seed in range(4)), hostile):
        fast, own = both(rouge_many, texts, references, types=SERVED, stemmer=stemmer)
        assert str(fast.signature) == str(own.signature) and fast.n_undefined == own.n_undefined
        for name, values in own.arrays().items():
            np.testing.assert_allclose(fast.arrays()[name], values, rtol=0, atol=1e-12)


@pytest.fixture
def asked(monkeypatch):
    """What rouge-score-rs was asked for."""
    kept, real = [], rouge_bulk._scorer
    monkeypatch.setattr(rouge_bulk, "ACCELERATED", True)
    monkeypatch.setattr(rouge_bulk, "_scorer", lambda *options: kept.append(options) or real(*options))
    return kept


@compiled
@pytest.mark.parametrize(
    "options",
    [
        {"types": ["rougeS4"]},
        {"types": ["rouge1", "rougeW"]},
        {"compat": "rouge-1.5.5"},
        {"tokenizer": "13a"},
        {"tokenizer": str.split},
        {"stemmer": "german"},
    ],
)
def test_what_it_does_not_serve_is_counted_here(asked, options):
    assert rouge_many(["a b c"] * 3, [["a b"]] * 3, **options).n_undefined == 0
    assert rouge_many(["a b c"] * 3, [["a b", "c d"]] * 3).n_undefined == 0 and not asked
    assert rouge_many(["a b c"], ["a b"]).n_undefined == 0 and asked


@compiled
def test_long_lines_are_counted_here(asked, monkeypatch):
    texts, others = ([" ".join(RNG.choices("abcdefgh", k=size)) for size in (9, 120)] for _ in range(2))
    expected = rouge_many(texts, others).rows()
    monkeypatch.setattr(rouge_bulk, "_TABLE", 40_000)
    others = [[other] for other in others]
    assert rouge_bulk.compiled_chunk(texts, others, FOUR, False) is None
    assert rouge_bulk.compiled_chunk(texts, others, FOUR[:3], False) is not None
    assert rouge_many(texts, others).rows() == expected


@compiled
def test_it_is_not_needed(monkeypatch):
    monkeypatch.setattr(rouge_bulk, "ACCELERATED", True)
    monkeypatch.setattr(rouge_bulk, "_scorer", lambda *options: None)
    assert rouge_many(["a b"], ["a c"], types=["rouge1"]).scores[0] == 0.5


@compiled
def test_it_is_a_choice_of_its_own_in_no_signature():
    assert "rs" not in str(load_metric("rouge").signature).split("|")


HALF_READ = [
    ("Im Jahr 2021 schloss die Brücke.", "Im Jahr 2021 schloß die Brüder ein."),
    ("В 2019 году мост закрыли", "В 2019 году школу открыли"),
    ("2022年に橋が閉じた", "2022年に学校が開いた"),
    ("في 2018 أغلق الجسر", "في 2018 فتحت المدرسة"),
]


@pytest.mark.parametrize(("candidate", "reference"), HALF_READ)
def test_dropped_letters_are_told(candidate, reference):
    for call in (
        lambda: rouge_score(candidate, reference),
        lambda: rouge_many([candidate], [reference]),
        lambda: calculate_rouge(reference, candidate),
    ):
        with pytest.warns(UserWarning, match="keeps a to z and 0 to 9 only. It drops [0-9]+ letters of [12] texts"):
            call()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("The council of Malmö closed the old bridge over the river to cars on Monday, and nobody minded.", {}),
        ("Die Brücke wurde 2021 gesperrt.", {"stemmer": "german"}),
        ("2022年に橋が閉じた", {"tokenizer": "char"}),
        ("1 + 2 = 3 €", {}),
    ],
)
def test_letters_that_are_kept_are_not_told(text, options, recwarn):
    rouge_score(text, text, **options)
    assert not recwarn.list
