"""Pairs in batches: together with their article, asked once, put back beside their evidence."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from summeval_nb import Verdict, evaluate, evaluate_many, load_metric
from summeval_nb.core.results import Evidence, Finding
from summeval_nb.evidence import faithfulness
from summeval_nb.evidence.faithfulness import load_settings
from summeval_nb.evidence.load import load_checker
from summeval_nb.evidence.pairs import (
    _placed,
    batches,
    embed_pairs,
    in_batches,
    judge,
    storable,
    stored_verdict,
)
from summeval_nb.evidence.pairs import read_pairs as read_batch
from summeval_nb.models.store import Store
from summeval_nb.text.embed import SentenceVectors, load_embedder
from summeval_nb.text.split import split_markdown

RAIN = ["It rained.", "Rain fell."]


def settings(**options):
    return load_settings(**load_metric("faithfulness", checker="words", **options).bound())


def read_pairs(texts, summaries):
    return read_batch(texts, summaries, load_checker("words"), "punkt", None)


def vectors(*texts, checker=None):
    return SentenceVectors(load_embedder("minilm"), texts, tokens=getattr(checker, "uses_vectors", False))


def test_pairs_of_an_article_stay_together():
    assert list(batches(["a", "b", "a", "c"], limit=2)) == [[0, 2], [1, 3]]
    assert sorted(sum(batches(["a", "b"] * 300), [])) == list(range(600))
    assert list(batches([])) == []


@given(st.lists(st.sampled_from("abcdefgh"), max_size=40), st.integers(1, 9))
def test_every_pair_is_in_one_batch_and_no_article_in_two(texts, limit):
    found = list(batches(texts, limit))
    assert sorted(number for batch in found for number in batch) == list(range(len(texts)))
    articles = [{texts[number] for number in batch} for batch in found]
    assert sum(map(len, articles)) == len(set(texts))


def test_the_bar_is_shown_for_many_pairs_or_when_asked(capsys):
    assert in_batches(["a", "b"], ["c", "d"], None, lambda texts, summaries: summaries) == ["c", "d"]
    assert capsys.readouterr().err == ""
    assert in_batches(["a", "b"], ["c", "d"], True, lambda texts, summaries: summaries) == ["c", "d"]
    assert "faithfulness: 100%" in capsys.readouterr().err


def test_what_states_nothing_is_read_but_not_judged():
    (pair,) = read_pairs(["It rained.\n\n```\ncode\n```"], ["# Weather\n\nRain fell."])
    assert [reading.plain for reading in pair.source] == ["It rained."]
    assert [bool(reason) for reason in pair.reasons] == [True, False]
    assert pair.plain == ["It rained.", "Weather", "Rain fell."]


@pytest.mark.parametrize(
    ("article", "summary", "reason"),
    [
        ("", "Rain fell.", "the article is empty"),
        ("It rained.", " \n", "the summary is empty"),
        ("---", "Rain fell.", "the article holds no sentence"),
        ("? ! ...", "Rain fell.", "the article holds no sentence"),
        ("— —\n\n…", "Rain fell.", "the article holds no sentence"),
    ],
)
def test_an_empty_side_has_its_reason_and_needs_no_vectors(article, summary, reason):
    (pair,) = read_pairs([article], [summary])
    assert pair.plain == [] and pair.why_empty == reason
    found = pair.retrieve(vectors(), 3)
    assert found.questions == [] and found.verdicts(iter([]), 0.5) == []
    assert found.texts["sentences"] == [] and found.texts["similarity"].shape == (0, len(pair.source))


@pytest.mark.parametrize("signs", ["???", "? ! ...", "…", "\n\n— —\n\n", "\n\n?\n\n", "😂"])
def test_signs_are_no_evidence_and_no_question(signs):
    (pair,) = read_pairs([f"It rained. {signs} It was late."], [f"Rain fell. {signs}"])
    assert all(any(map(str.isalnum, reading.plain)) for reading in pair.source) and len(pair.source) == 2
    assert pair.reasons[0] == "" and all("no word" in reason for reason in pair.reasons[1:])


class Counting:
    """The packaged vectors, and what was asked for."""

    has_tokens = True

    def __init__(self):
        self.inner, self.asked = load_embedder("minilm"), []
        self.fingerprint = self.inner.fingerprint

    def encode(self, sentences):
        self.asked.append(("vectors", list(sentences)))
        return self.inner.encode(sentences)

    def encode_with_tokens(self, sentences):
        self.asked.append(("tokens", list(sentences)))
        return self.inner.encode_with_tokens(sentences)


def embedded(store, *texts, checker=None):
    """What a batch of one pair asks its embedder, and the vectors it gets."""
    counting = Counting()
    batch = read_pairs([texts[0]], [texts[1]])
    choices = SimpleNamespace(embedder=load_embedder(counting), store=store, checker=checker)
    return counting.asked, embed_pairs(batch, choices)


def test_what_the_store_has_is_not_embedded_again(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        asked, first = embedded(store, "It rained.", "It was late.")
        assert asked == [("vectors", ["It rained.", "It was late."])]
        asked, held = embedded(store, "It rained.", "Rain fell.")
        assert asked == [("vectors", ["Rain fell."])]
        assert np.array_equal(held.of(["It rained."]), first.of(["It rained."]))
        assert embedded(store, "It rained.", "Rain fell.")[0] == []
        assert embedded(store, "", "Rain fell.")[1].of([]).shape[0] == 0


def test_tokens_are_embedded_only_for_a_checker_that_takes_them():
    asked, held = embedded(None, "It rained.", "It rained.", checker=load_checker("words"))
    assert asked == [("tokens", ["It rained."])] and len(held.tokens_of(["It rained."])) == 1
    asked, held = embedded(None, "It rained.", "It rained.", checker=object())
    assert asked == [("vectors", ["It rained."])] and held.tokens_of(["It rained."]) is None


def test_the_question_is_evidence_and_sentence():
    (pair,) = read_pairs(["It rained. It was late."], ["Rain fell."])
    found = pair.retrieve(vectors(*pair.plain), 1)
    assert found.similarity.shape == (1, 2)
    assert found.questions == [(["It rained."], "Rain fell.")]
    (verdict,) = found.verdicts(iter([Verdict(probability=0.9)]), 0.5)
    assert verdict.evidence == found.evidence[0]


def test_a_finding_is_placed_in_the_text_as_it_stands():
    text = "- It **rained** here."
    ((reading,),) = split_markdown([text], progress=False)
    start = reading.plain.index("rained")
    finding = Finding("word", "rained", start, start + 6, True)
    verdict = _placed(Verdict(probability=0.2, findings=[finding]), reading, [Evidence(0, 0.5)], [reading])
    (moved,) = verdict.findings
    assert "rained" in moved.text == text[moved.start : moved.end] and moved.clash


class Asked:
    """A checker that counts, and fails on sentences that hold "fail"."""

    fingerprint, threshold = "asked:1", 0.7

    def __init__(self):
        self.pairs = []

    def check_many(self, pairs):
        self.pairs.extend(pairs)
        return [
            Verdict(probability=None, failed=True, reason="told to") if "fail" in claim else Verdict(probability=0.6)
            for _, claim in pairs
        ]


def test_a_pair_is_asked_once_and_judged_by_the_threshold():
    checker = Asked()
    twice = list(judge([(["It rained."], "Rain fell.")] * 2, checker, vectors(*RAIN)))
    assert twice[0] is twice[1] and len(checker.pairs) == 1
    assert twice[0].threshold == 0.7 and twice[0].supported is False


def test_failures_are_not_stored_and_asked_again(tmp_path):
    pairs = [(["It rained."], "Rain fell."), (["It rained."], "Rain will fail.")]
    with Store(tmp_path / "s.sqlite") as store:
        list(judge(pairs, Asked(), vectors(*RAIN), store))
        second = Asked()
        found = list(judge(pairs, second, vectors(*RAIN), store))
    assert second.pairs == pairs[1:] and [verdict.failed for verdict in found] == [False, True]


def test_a_stored_verdict_is_the_one_that_was_given():
    checker = load_checker("words")
    (given,) = judge([(["It rained."], "Rain fell.")], checker, vectors(*RAIN, checker=checker))
    again = stored_verdict(json.loads(json.dumps(storable(given))), checker)
    assert again.probability == given.probability and again.findings == list(given.findings)
    assert (again.threshold, again.state) == (given.threshold, given.state)


def test_choices_are_checked_once_and_k_becomes_a_plain_int():
    assert type(settings(k=np.int64(3)).k) is int
    for options in ({"k": 0}, {"lang": 3}, {"threshold": 1.5}):
        with pytest.raises((TypeError, ValueError), match=next(iter(options))):
            load_metric("faithfulness", **options)
        with pytest.raises((TypeError, ValueError), match=next(iter(options))):
            evaluate("a", "b", **options)
    loaded = settings(threshold=0.25)
    assert loaded.k == 8 and loaded.checker.threshold == 0.25 and loaded.embedder.dimension == 384


def test_texts_and_summaries_pair_up():
    with pytest.raises(ValueError, match="there are 1 texts and 2 summaries; repeat an article"):
        evaluate_many(["a"], ["b", "c"])
    with pytest.raises(TypeError, match="summaries"):
        evaluate_many(["a"], "b")


def test_results_of_lots_stand_in_the_order_of_the_pairs():
    asked = []

    def evaluate_batch(texts, summaries):
        asked.append(texts)
        return [f"{text}{summary}" for text, summary in zip(texts, summaries, strict=True)]

    texts, summaries = ["a", "b"] * 100, [str(number) for number in range(200)]
    found = in_batches(texts, summaries, False, evaluate_batch)
    assert found == [f"{text}{summary}" for text, summary in zip(texts, summaries, strict=True)]
    assert asked == [["a"] * 100, ["b"] * 100]


def test_names_are_resolved_once_for_a_call(monkeypatch):
    asked = []
    for name in ("load_checker", "load_embedder", "load_store"):
        own = getattr(faithfulness, name)
        monkeypatch.setattr(faithfulness, name, lambda given, own=own, name=name: asked.append(name) or own(given))
    evaluate_many(["It rained. It was late."] * 3, ["Rain fell.", "It was late.", "It snowed."], checker="words")
    assert sorted(asked) == ["load_checker", "load_embedder", "load_store"]


def test_a_signature_names_every_choice_that_counts():
    signature = load_metric("faithfulness", checker="words").signature
    assert list(signature)[:7] == ["metric", "k", "splitter", "lang", "embedder", "checker", "threshold"]
    assert signature["k"] == "8" and "contradicted_below" not in signature
    assert signature == settings().signature != settings(lang="en").signature
    objects = {"checker": load_checker("words"), "embedder": load_embedder("minilm")}
    strict = load_metric("faithfulness", **objects, threshold=0.7)
    assert strict.signature["threshold"] == "0.7"
    assert "contradicted_below" not in load_metric("faithfulness").signature  # it follows from the threshold

    class Two:
        fingerprint, threshold, contradicted_below = "two", 0.6, 0.4

        def check_many(self, pairs, *, vectors=None):
            return []

    assert load_metric("faithfulness", checker=Two()).signature["contradicted_below"] == "0.4"
