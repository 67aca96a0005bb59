"""Pairs in batches: together with their article, asked once, put back beside their evidence."""

from types import SimpleNamespace

import numpy as np

from summeval_nb import evaluate, load_metric
from summeval_nb.evidence import faithfulness
from summeval_nb.evidence.model_checkers import load_checker
from summeval_nb.text.embed import SentenceVectors, load_embedder

RAIN = ["It rained.", "Rain fell."]


def settings(**options):
    return faithfulness.load_settings(**load_metric("faithfulness", checker="words", **options).bound())


def read(text, summary):
    return faithfulness.read_pairs([text], [summary], load_checker("words"), "punkt", None)[0]


def vectors(*texts, checker=None):
    return SentenceVectors(load_embedder("minilm"), texts, tokens=getattr(checker, "uses_vectors", False))


def test_a_signature_names_every_choice_that_counts():
    signature = load_metric("faithfulness", checker="words").signature
    assert list(signature)[:7] == ["metric", "k", "splitter", "lang", "embedder", "checker", "threshold"]
    assert signature["k"] == "8" and "contradicted_below" not in signature
    assert signature == settings().signature != settings(lang="en").signature
    objects = {"checker": load_checker("words"), "embedder": load_embedder("minilm")}
    strict = load_metric("faithfulness", **objects, threshold=0.7)
    assert strict.signature["threshold"] == "0.7"
    assert "contradicted_below" not in load_metric("faithfulness").signature  # it follows from the threshold
    two = SimpleNamespace(fingerprint="two", threshold=0.6, contradicted_below=0.4, check_many=len)
    assert load_metric("faithfulness", checker=two).signature["contradicted_below"] == "0.4"


def test_signs_and_empty_texts_are_no_evidence_and_no_question():
    for signs in ("???", "? ! ...", "…", "\n\n— —\n\n", "\n\n?\n\n", "😂"):
        pair = read(f"It rained. {signs} It was late.", f"Rain fell. {signs}")
        assert all(any(map(str.isalnum, reading.plain)) for reading in pair.source) and len(pair.source) == 2
        assert pair.reasons[0] == "" and all("no word" in reason for reason in pair.reasons[1:])
    for article, summary, reason in (
        ("", "Rain fell.", "the article is empty"),
        ("It rained.", " \n", "the summary is empty"),
        ("---", "Rain fell.", "the article holds no sentence"),
        ("— —\n\n…", "Rain fell.", "the article holds no sentence"),
    ):
        assert read(article, summary).plain == []
        found = evaluate(article, summary, checker="words")
        assert (found.score, found.reason, found.sentences, found.verdicts) == (None, reason, [], [])
        assert found.similarity.shape == (0, len(found.source_sentences))


def test_options_are_checked_and_k_becomes_a_plain_int():
    assert type(settings(k=np.int64(3)).k) is int
    loaded = settings(threshold=0.25)
    assert loaded.k == 8 and loaded.checker.threshold == 0.25 and loaded.embedder.dimension == 384
