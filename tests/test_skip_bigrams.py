"""ROUGE-S: Lin's numbers, a count by brute force, gaps, single words, long texts, and what a picture shows."""

import itertools
import math
import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import summeval_nb.overlap.counting as skip
from summeval_nb import Rouge, rouge_many, rouge_score, run
from summeval_nb.overlap.counting import number_texts
from summeval_nb.overlap.rouge import MULTI, TYPES

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")
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
            assert table[kind].precision[place] == shared / max(left.total(), 1)
            assert table[kind].recall[place] == shared / max(right.total(), 1)
        else:
            assert math.isnan(table[kind].f1[place])


@given(sentences, st.sampled_from(KINDS))
def test_places_in_order_are_what_is_counted(words, kind):
    named = Counter(tuple(words[at] for at in places) for places in skip.pairs_in_order(words, kind))
    assert named == by_brute_force(words, kind)
    tokens, one = number_texts([" ".join(words)], str.split), np.array([0])
    assert skip.skip_counts(one, one, tokens, kind).tolist() == [[named.total()] * 3]


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
    for kind in old:
        assert all(np.array_equal(a, b) for a, b in zip(together[kind], alone[kind], strict=True))
    assert together.signature["metric"].endswith("rougeS+rougeSU+rougeS4+rougeSU4")


def test_a_run_and_the_shell_know_the_types(tmp_path):
    from typer.testing import CliRunner

    from summeval_nb.cli import app

    rows = [{"candidate": "police kill the gunman", "references": POLICE}]
    metric = Rouge(types=["rougeS", "rougeSU4"])
    assert run(rows, metric, out=tmp_path / "run", workers=0, progress=False).mean() == 0.5
    assert pickle.loads(pickle.dumps(metric)) == metric and metric.main == "rougeS"
    (tmp_path / "made.txt").write_text(rows[0]["candidate"] + "\n", encoding="utf-8")
    (tmp_path / "wanted.txt").write_text(POLICE + "\n", encoding="utf-8")
    given_files = [str(tmp_path / "made.txt"), str(tmp_path / "wanted.txt")]
    found = CliRunner().invoke(app, ["rouge", *given_files, "-o", 'types=["rougeS","rougeSU4"]'])
    assert found.exit_code == 0 and "rougeSU4  0.6000     0.6000  0.6000" in found.output


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
