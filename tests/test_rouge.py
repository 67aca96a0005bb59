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
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.late import Late
from hypothesis import given
from hypothesis import strategies as st

from summeval_nb import corpus_bleu
from summeval_nb.overlap import counting, lcs_length, rouge
from summeval_nb.overlap.counting import SKIP_TYPES, bit_path
from summeval_nb.overlap.rouge import MULTI, TYPES, calculate_rouge, calculate_rouge_l, rouge_many, rouge_score
from summeval_nb.overlap.rouge_counts import lcs_path, lcs_table, union_lcs_matches

RougeScorer = Late("rouge_score.rouge_scorer", "RougeScorer")

FOUR = ("rouge1", "rouge2", "rougeL", "rougeLsum")
ALL = ("rouge1", "rouge2", "rouge4", "rougeL", "rougeLsum", "rougeW")
KINDS = tuple(SKIP_TYPES)
RNG = random.Random(0)


@pytest.fixture(scope="module")
def summeval(data_folder):
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    pairs = [(system["summary"], row["references"]) for row in rows for system in row["systems"]]
    return [summary for summary, _ in pairs], [references for _, references in pairs]


def by_lines(texts):
    """Put a line break after every full stop, exclamation and question mark that white space follows."""
    return [re.sub(r"(?<=[.!?])\s+", "\n", text) for text in texts]


def fuzz(count, seed=0):
    """Short texts with much repetition, several lines, blank lines, other scripts, and 1 to 5 references."""
    rng = random.Random(seed)
    words = ["the", "The", "cat", "cats", "running", "attorneys", "skies", "3.5", "U.S.", "a-b", "é", "Кошка"]
    line = lambda: rng.choice([" ", "  ", ", "]).join(rng.choices(words, k=rng.choice([0, 1, 2, 4, 8, 16])))
    text = lambda: "\n".join(line() for _ in range(rng.choice([1, 1, 2, 3, 5])))
    return [(text(), [text() for _ in range(rng.choice([1, 1, 2, 3, 5]))]) for _ in range(count)]


def google(pairs, types=FOUR, **options):
    """rouge-score's numbers, shape (types, texts, 3)."""
    scorer = RougeScorer(list(types), **options)
    scored = [scorer.score_multi(references, generated) for generated, references in pairs]
    return np.array([[tuple(scores[kind]) for scores in scored] for kind in types])


def ours(pairs, types=FOUR, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        table = rouge_many(*map(list, zip(*pairs, strict=True)), types=types, **options)
    parts = ("precision", "recall", "f1")
    return np.nan_to_num([np.column_stack([table[f"{kind}_{part}"] for part in parts]) for kind in types])  # theirs: 0


@pytest.mark.parametrize("stemmer", [False, True])
def test_equal_to_rouge_score(stemmer, summeval):
    """3,000 fuzzed pairs; all of SummEval with one reference; some with eleven, a sentence on a line."""
    eleven = list(zip(by_lines(summeval[0][::32]), map(by_lines, summeval[1][::32]), strict=True))
    one = [(text, group[:1]) for text, group in zip(*summeval, strict=True)]
    for pairs, types in ((fuzz(3000), FOUR), (one, FOUR[:3]), (eleven, FOUR)):
        expected = google(pairs, types, use_stemmer=stemmer)
        assert np.abs(ours(pairs, types, stemmer=stemmer) - expected).max() <= 1e-12


def test_higher_orders_own_tokenizers_and_long_lines_equal_rouge_score(monkeypatch):
    higher = ["rouge3", "rouge4", "rouge9"]
    assert np.abs(ours(fuzz(300, 1), higher) - google(fuzz(300, 1), higher)).max() <= 1e-12
    expected = google(fuzz(300, 2), tokenizer=SimpleNamespace(tokenize=str.split))
    assert np.abs(ours(fuzz(300, 2), tokenizer=str.split) - expected).max() <= 1e-12
    monkeypatch.setattr(counting, "_KEPT", 64)
    for lines in (1, 3):
        pair = ["\n".join(" ".join(RNG.choices("abcdefgh", k=250)) for _ in range(lines)) for _ in range(2)]
        expected = google([(pair[0], [pair[1]])])
        assert np.abs([rouge_score(*pair)[kind] for kind in FOUR] - expected[:, 0]).max() <= 1e-12


PERL = json.loads((Path(__file__).parent / "rouge155_values.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("setting", PERL["values"])
def test_equal_to_the_perl_script(setting):
    """The script rounds precision and recall to five digits and computes F from those: F may differ by 1.5e-5."""
    multi, _, stemmed = setting.partition(", ")
    options = {"stemmer": bool(stemmed), "exceptions": PERL["exceptions"] if stemmed else None}
    for kind in ("rouge1", "rouge2", "rougeLsum", "rougeW"):
        values = ours(PERL["pairs"], [kind], compat="rouge-1.5.5", multi=multi, **options)[0]
        off = np.abs(values[:, [1, 0, 2]] - np.array(PERL["values"][setting][kind])).max(axis=0)
        assert (off <= [5.1e-6, 5.1e-6, 1.5e-5]).all(), (kind, off)


def test_published_means(summeval, data_folder):
    """Of the 1,600 summaries, from the data folder's README: one reference by lines, then eleven by ROUGE-1."""
    with gzip.open(data_folder / "wordnet20_exceptions.tsv.gz", "rt", encoding="utf-8") as lines:
        exceptions = {form: base for _, form, base, *_ in (line.rstrip("\n").split("\t") for line in lines)}
    assert len(exceptions) == 5930
    types, generated, first = FOUR[:2] + FOUR[3:], by_lines(summeval[0]), by_lines([group[0] for group in summeval[1]])
    for options, expected in (  # rouge-score 0.1.2, rouge-score-rs 0.2.1 and ROUGE-1.5.5 agree unstemmed
        ({}, (0.4166, 0.1951, 0.3845)),
        ({"compat": "rouge-1.5.5"}, (0.4166, 0.1951, 0.3845)),
        ({"stemmer": True}, (0.4259, 0.1985, 0.3922)),
        ({"compat": "rouge-1.5.5", "stemmer": True, "exceptions": exceptions}, (0.4286, 0.1988, 0.3947)),
    ):
        means = rouge_many(generated, first, types=types, **options).means()
        assert tuple(round(means[f"{kind}_f1"], 4) for kind in types) == expected
    means = {"average": 0.3183, "pooled": 0.3232, "best_recall": 0.4189, "best": 0.4766}
    assert {multi: round(rouge_many(*summeval, types=["rouge1"], multi=multi).mean(), 4) for multi in MULTI} == means


CAT, SAT, RESTING = "The cat is on the mat.", "The cat sat on the mat.", "A cat is resting on the mat."
# references, options, type → precision, recall, F1; all by hand (the chapter has more)
BY_HAND = [
    (RESTING, {}, "rouge2", (0.600, 0.500, 0.545)),
    ([SAT, RESTING], {"multi": "pooled"}, "rouge2", (0.600, 0.545, 0.571)),
    ([SAT, RESTING], {"compat": "rouge-1.5.5"}, "rougeL", (0.833, 0.769, 0.800)),
    ([SAT, RESTING], {"multi": "average"}, "rouge1", (0.833, 0.774, 0.801)),
    ([SAT, RESTING], {}, "rouge1", (0.833, 0.833, 0.833)),
    (SAT, {"tokenizer": "13a"}, "rouge2", (0.667, 0.667, 0.667)),
]


def test_worked_examples():
    for references, options, kind, expected in BY_HAND:
        assert tuple(round(value, 3) for value in rouge_score(CAT, references, **options)[kind]) == expected, kind
    for text, expected in {"abcdhik": 16, "ahbkcid": 4}.items():  # Lin 2004, section 3.3, with f(k) = k squared
        assert rouge.weighted_lcs("abcdefg", text, 2) == expected
    assert rouge.weighted_counts([[1, 2, 3]], [[1, 2, 4]], 2, "google") == (4, 9, 9, 9)
    assert rouge.weighted_counts([[1, 2, 3]], [[1, 2, 4]], 2, "rouge-1.5.5") == (4, 9, 81, 9)
    poem = "the cat sat\nit slept", "it slept\nthe cat sat"
    assert rouge_score(*poem)["rougeLsum"] == (1, 1, 1) and rouge_score(*poem)["rougeL"].f1 == 3 / 5
    assert rouge_score("a b\na b", "a b\nb a\na b")["rougeLsum"][:2] == (4 / 4, 4 / 6)
    by_code, by_name = (rouge_score("die Häuser", "das Haus", stemmer=own) for own in ("de", "german"))
    assert by_code.to_dict() == by_name.to_dict() and by_code["rouge1"].f1 == 0.5


def test_edge_cases():
    """What has a score of 0, and what has none."""
    for made, wanted, first, second in (
        ("", "a cat", 0, 0), ("a cat", "", 0, 0), ("cat", "cat", 1, 0), ("a cat", "a cat", 1, 1)
    ):  # fmt: skip
        scores = rouge_score(made, wanted)
        assert (scores["rouge1"].f1, scores["rouge2"].f1) == (first, second)
        assert rouge_many([made, "a"], [wanted, "a"]).defined.all()
        assert calculate_rouge(wanted, made)["f1_score"] == first
    for made in ("", " \n"):
        scores, table = rouge_score(made, ""), rouge_many([made, "a"], ["", "a"])
        assert len(scores) == 0 and scores.score is None and "nothing to compare" in scores.reason
        with pytest.raises(KeyError, match="nothing to compare"):
            scores["rouge1"]
        assert table.defined.tolist() == [False, True] and table.mean("rouge1_f1") == 1
        assert [row["rouge1_f1"] for row in table.to_dict()["rows"]] == [None, 1.0] and np.isnan(table["rouge1_f1"][0])
        assert rouge_many([made], [""]).mean() is None


def test_lost_text_is_never_silent():
    with pytest.warns(UserWarning, match="left no token of 1 of 2 texts"):
        assert rouge_score("Кошка сидит", "a cat")["rouge1"].f1 == 0
    with pytest.warns(UserWarning, match="Pass a tokenizer"):
        calculate_rouge("Кошка сидит", "Кошка сидит")
    for made, wanted in (
        ("Im Jahr 2021 schloss die Brücke.", "Im Jahr 2021 schloß die Brüder ein."),
        ("В 2019 году мост закрыли", "В 2019 году школу открыли"),
    ):
        for call in (rouge_score, rouge_many, lambda candidate, reference: calculate_rouge(reference, candidate)):
            with pytest.warns(UserWarning, match="keeps a to z and 0 to 9 only. It drops [0-9]+ letters of [12] texts"):
                call(*(([made], [wanted]) if call is rouge_many else (made, wanted)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rouge_score("Кошка сидит", "Кошка спит", tokenizer=str.split)["rouge1"].f1 == 0.5
        rouge_score("", "a cat")
        for text, options in (
            ("The council of Malmö closed the old bridge over the river to cars on Monday, and nobody minded.", {}),
            ("Die Brücke wurde 2021 gesperrt.", {"stemmer": "german"}),
            ("2022年に橋が閉じた", {"tokenizer": "char"}),
            ("1 + 2 = 3 €", {}),
        ):
            rouge_score(text, text, **options)


words = st.lists(st.sampled_from(["the", "cat", "cats", "sat", "on", "mat"]), max_size=10).map(" ".join)
texts = st.lists(words, min_size=1, max_size=3).map("\n".join)
groups = st.lists(texts, min_size=1, max_size=4)
options = st.fixed_dictionaries(
    {"stemmer": st.booleans(), "compat": st.sampled_from(["google", "rouge-1.5.5"]), "multi": st.sampled_from(MULTI)}
)


@given(texts, groups, texts, options)
def test_bounds_order_of_references_and_one_more(generated, references, extra, choice):
    scores, other = (rouge_score(generated, refs, types=ALL, **choice) for refs in (references, references[::-1]))
    for kind, item in scores.items():
        assert all(0 <= value <= 1 + 1e-12 for value in item), kind
        part = {"best": "f1", "best_recall": "recall"}.get(choice["multi"])
        if part is None:
            assert np.allclose(item, other[kind])
        elif kind != "rougeW":
            assert getattr(item, part) == getattr(other[kind], part)
    if scores:
        assert scores["rouge1"].recall + 1e-12 >= scores["rougeLsum"].recall or len(references) > 1
    fewer, more = (rouge_score(generated, refs, types=ALL) for refs in (references, [*references, extra]))
    assert all(more[kind].f1 >= item.f1 - 1e-12 for kind, item in fewer.items())
    itself = rouge_score(generated, [generated, generated], types=["rouge1", "rougeL", "rougeLsum"], **choice)
    assert all(np.allclose(item, 1) for item in itself.values()) and (len(itself) == 0) == (not generated.split())
    first = rouge_score(generated, references[0], types=ALL)  # what came first gives the same
    for n in (1, 2, 4):
        assert tuple(calculate_rouge(references[0], generated, n).values()) == first.get(f"rouge{n}", (0, 0, 0))
    assert tuple(calculate_rouge_l(references[0], generated).values()) == first.get("rougeL", (0, 0, 0))


def test_references_that_many_candidates_share_and_more_texts_than_a_chunk(monkeypatch):
    made = [text for text, _ in fuzz(24, 5)]
    shared = [["a cat sat", "the cats sitting"]] * 20 + [["The cat 3.5"]] * 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = rouge_many(made, shared, types=FOUR)
        each = [rouge_score(text, group, types=FOUR) for text, group in zip(made, shared, strict=True)]
        assert list(map(dict, table)) == list(map(dict, each))
    whole = ours(fuzz(50, 4), ALL)
    monkeypatch.setattr(rouge, "_CHUNK", 7)
    assert np.array_equal(ours(fuzz(50, 4), ALL), whole)


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
    scores = rouge_score("The <b>cat</b> sat.\nIt slept & slept.", ["A dog.", "It slept.\nThe cat sat."], types=ALL)
    for kind in ALL:
        picture = scores.explain(kind)
        assert ("reference 2 of 2" in str(picture)) == (kind != "rouge4") and "<b>" not in picture._repr_html_()
    assert str(scores.explain("rouge1")).splitlines()[1].startswith("candidate: [The] <b>[cat]</b> [sat].")
    assert "slept: number 2, 1 counted" in scores.explain("rouge1")._repr_html_()
    union = scores.explain("rougeLsum")
    assert [row["word"] for row in union.rows] == ["it", "slept", "the", "cat", "sat"]
    assert "\x1b[" in union.to_text(color=True)
    assert str(rouge_score("x", "y").explain()).startswith("rouge1: P 0.000")
    scores = rouge_score("The <b>cat</b> sat & sat.", "the cat sat", types=["rougeS", "rougeSU4"])
    picture = scores.explain()
    assert str(picture).splitlines()[1] == "candidate: [The] <b>[cat]</b> [sat] & sat."
    assert [row["pair"] for row in picture.rows if row["shared"]] == ["the … cat", "the … sat", "cat … sat"]
    assert "<b>" not in picture._repr_html_() and "cat: in 2 of 3 shared pairs" in picture._repr_html_()
    assert len(scores.explain("rougeSU4").rows) == 6
    many = " ".join(map(str, range(20)))
    rows = rouge_score(many, many, types=["rougeS"]).explain().rows
    assert len(rows) == 101 and rows[-1] == {"pair": "and 90 more", "shared": 90}


def test_results_can_be_exported_and_pickled_and_signatures_say_every_choice():
    table = rouge_many(["a cat", ""], [["a dog", "a cat"], "\n"])
    assert json.loads(json.dumps(table.to_dict()))["mean"] == 1 and "rougeL f1, mean of 2 texts" in table._repr_html_()
    assert table.to_frame().shape == (2, 12) and table.to_frame().iloc[1].isna().all()
    exceptions = {"compat": "rouge-1.5.5", "stemmer": True, "exceptions": {"went": "go"}}
    for chosen in ({}, exceptions, {"tokenizer": str.split}):
        scores = rouge_score("a cat went", ["a cat", "it went"], **chosen)
        again = pickle.loads(pickle.dumps(scores))
        assert again == scores and str(again.explain()) == str(scores.explain()) and again.signature == scores.signature
        assert list(scores.to_frame().columns) == ["type", "precision", "recall", "f1"]
    score = corpus_bleu(["a cat", "a dog"], ["a cat", "the dog"])
    assert pickle.loads(pickle.dumps(score)).interval() == score.interval()
    perl = rouge_score("a", ["a", "b"], **exceptions, types=["rougeW"]).signature
    assert (perl["multi"], perl["weight"]) == ("pooled", "1.2")
    assert perl["tok"].startswith("rouge-1.5.5+porter+exceptions-1-")
    assert rouge_many(["a", "b"], ["a", ["b", "c"]]).signature["nrefs"] == "var"


# Subsequences in the bits of long integers, united and weighted.


@pytest.mark.parametrize("kept", [1, 2, 3, 7, 256])
def test_bits_walk_the_path_of_the_table(monkeypatch, kept):
    monkeypatch.setattr(counting, "_KEPT", kept)
    for _ in range(300):
        left, other = (RNG.choices(range(RNG.randint(1, 6)), k=RNG.randint(0, 22)) for _ in range(2))
        path = lcs_path(left, other)
        assert bit_path(left, other) == path and len(path) == lcs_table(left, other)[-1][-1] == lcs_length(left, other)
        assert all(left[i] == other[j] for i, j in path) and path == sorted(path)
    for _ in range(200):
        left, other = ([RNG.choices(range(6), k=RNG.randint(1, 8)) for _ in range(RNG.randint(1, 4))] for _ in range(2))
        assert union_lcs_matches(left, other, bit_path) == union_lcs_matches(left, other)
    assert union_lcs_matches([["a"], ["a"]], [["a"]]) == 1, "one word cannot match twice"


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


# ROUGE-S: pairs of words.


def by_brute_force(words, kind):
    gap, single = {"rougeS": (99, 0), "rougeSU": (99, 1), "rougeS4": (4, 0), "rougeSU4": (4, 1)}[kind]
    places = itertools.combinations(range(len(words)), 2)
    pairs = Counter((words[i], words[j]) for i, j in places if j - i - 1 <= gap)
    return pairs + Counter((word,) for word in words if single)


def test_pairs_by_hand():
    """Lin (2004), section 5, with the single words too: pairs and words shared, of 6 + 4; then clipping and the gap."""
    for generated, pairs, both in (
        ("police kill the gunman", 3 / 6, (3 + 3) / 10),
        ("the gunman kill police", 1 / 6, (1 + 3) / 10),
        ("the gunman police killed", 2 / 6, (2 + 4) / 10),
        ("gunman the killed police", 0, 4 / 10),
    ):
        scores = rouge_score(generated, "police killed the gunman", types=KINDS)
        assert scores["rougeS"] == pytest.approx((pairs,) * 3) == scores["rougeS4"]
        assert scores["rougeSU"] == pytest.approx((both,) * 3) == scores["rougeSU4"]
    far, near = "a b c d e f g", "a x x x x f"  # a … f: four words between them; a … g: five
    assert rouge_score(near, far, types=["rougeS4"])["rougeS4"].recall == 1 / (6 + 5 + 4 + 3 + 2)
    assert rouge_score("a g", far, types=["rougeS4"])["rougeS4"] == (0, 0, 0)
    assert rouge_score("a g", far, types=["rougeS"])["rougeS"] == pytest.approx((1, 1 / 21, 2 / 22))
    # a b a b: (a, b) three times, (a, a), (b, a), (b, b); a b b: (a, b) twice, (b, b)
    assert rouge_score("a b a b", "a b b", types=["rougeS"])["rougeS"] == pytest.approx((3 / 6, 1, 2 / 3))
    # precision and recall: 3/3 and 3/6 against the long reference, 1/3 and 1/1 against the short one
    found = {m: rouge_score("a b c", ["a b c d", "a b"], types=["rougeS"], multi=m)["rougeS"] for m in MULTI}
    assert found["best"] == pytest.approx((1, 1 / 2, 2 / 3))
    assert found["best_recall"] == pytest.approx((1 / 3, 1, 1 / 2))
    assert found["average"] == pytest.approx((2 / 3, 3 / 4, 7 / 12))
    assert found["pooled"] == pytest.approx((4 / 6, 4 / 7, 8 / 13))
    for kind, (_, single) in SKIP_TYPES.items():  # too short for a pair
        assert rouge_score("cat", "cat", types=[kind])[kind] == (float(single),) * 3
        assert rouge_score("", "a cat", types=[kind])[kind] == (0, 0, 0)
        assert rouge_many(["", "a cat"], ["", "a cat"], types=[kind]).n_undefined == 1


sentences = st.lists(st.sampled_from(["the", "cat", "sat", "on", "mat"]), max_size=14)


@given(st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5), st.sampled_from(KINDS), st.booleans())
def test_pairs_equal_a_count_by_brute_force(pairs, kind, with_little_room):
    kept, counting._ROOM = counting._ROOM, 5 if with_little_room else counting._ROOM
    try:
        table = rouge_many(*([" ".join(side) for side in sides] for sides in zip(*pairs, strict=True)), types=[kind])
    finally:
        counting._ROOM = kept
    for place, (made, wanted) in enumerate(pairs):
        left, right = by_brute_force(made, kind), by_brute_force(wanted, kind)
        shared = (left & right).total()
        if made or wanted:
            assert table[f"{kind}_precision"][place] == shared / max(left.total(), 1)
            assert table[f"{kind}_recall"][place] == shared / max(right.total(), 1)
        else:
            assert math.isnan(table[f"{kind}_f1"][place])
        assert Counter(tuple(made[at] for at in places) for places in counting.pairs_in_order(made, kind)) == left


def test_all_types_together_have_their_numbers():
    made, wanted = ["the cat\nsat on a mat", "a dog"], [["the cat sat", "on a mat"], "a dog ran"]
    together, alone = rouge_many(made, wanted, types=TYPES), rouge_many(made, wanted, types=ALL)
    assert all(np.array_equal(together[name], values) for name, values in alone.arrays().items())


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


def drawn_pairs(seed, count=150):
    chance = random.Random(seed)
    text = lambda: " ".join(chance.choices(WORDS.split(" "), k=chance.randint(0, 40)))
    mixed = lambda: chance.choice(HOSTILE) if chance.random() < 0.2 else text()
    return [mixed() for _ in range(count)], [[mixed()] for _ in range(count)]


@compiled
@pytest.mark.parametrize("stemmer", [False, True])
def test_many_texts_have_the_same_numbers_and_warnings(monkeypatch, stemmer):
    hostile = [text for text in HOSTILE for _ in HOSTILE], [other for _ in HOSTILE for other in HOSTILE]
    for made, wanted in (*map(drawn_pairs, range(4)), hostile):
        found = []
        for enabled in (True, False):
            monkeypatch.setattr(rouge, "ACCELERATED", enabled)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                table = rouge_many(made, wanted, types=SERVED, stemmer=stemmer)
            found.append((table, [str(warning.message) for warning in caught]))
        (fast, said), (own, told) = found
        assert said == told and str(fast.signature) == str(own.signature) and fast.n_undefined == own.n_undefined
        for name, values in own.arrays().items():
            np.testing.assert_allclose(fast.arrays()[name], values, rtol=0, atol=1e-12)


@compiled
def test_what_it_does_not_serve_is_counted_here(monkeypatch):
    asked, real = [], rouge._scorer
    monkeypatch.setattr(rouge, "ACCELERATED", True)
    monkeypatch.setattr(rouge, "_scorer", lambda *options: asked.append(options) or real(*options))
    for chosen in (
        {"types": ["rougeS4"]}, {"types": ["rouge1", "rougeW"]}, {"compat": "rouge-1.5.5"}, {"tokenizer": "13a"},
        {"tokenizer": str.split}, {"stemmer": "german"},
    ):  # fmt: skip
        assert rouge_many(["a b c"] * 3, [["a b"]] * 3, **chosen).n_undefined == 0
    assert rouge_many(["a b c"] * 3, [["a b", "c d"]] * 3).n_undefined == 0 and not asked
    assert rouge_many(["a b c"], ["a b"]).n_undefined == 0 and asked
    made, others = ([" ".join(RNG.choices("abcdefgh", k=size)) for size in (9, 120)] for _ in range(2))
    expected = rouge_many(made, others).rows()
    monkeypatch.setattr(rouge, "_TABLE", 40_000)  # long lines
    for types, served in ((FOUR, False), (FOUR[:3], True)):
        found = rouge.compiled_chunk(made, [[other] for other in others], types, False)
        assert (found is not None) == served
    assert rouge_many(made, others).rows() == expected
    monkeypatch.setattr(rouge, "_scorer", lambda *options: None)  # not installed
    assert rouge_many(["a b"], ["a c"], types=["rouge1"]).scores[0] == 0.5
