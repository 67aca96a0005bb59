"""Vectors of many sentences: each embedded once, in a call and over many, with token vectors where they are wanted."""

import numpy as np
import pytest

from summeval_nb import EmbeddedJudge
from summeval_nb.evidence.checker import PairVectors
from summeval_nb.text._vectors import RememberingEmbedder, SentenceVectors
from summeval_nb.text.embed import load_embedder

RAIN = ["It rained.", "Rain fell."]


class Counting:
    """The packaged vectors, and what was asked for."""

    def __init__(self, has_tokens=True):
        self.inner, self.asked, self.has_tokens = load_embedder("minilm"), [], has_tokens
        self.fingerprint = self.inner.fingerprint

    def encode(self, sentences):
        self.asked.append(("vectors", list(sentences)))
        return self.inner.encode(sentences)

    def encode_with_tokens(self, sentences):
        assert self.has_tokens
        self.asked.append(("tokens", list(sentences)))
        return self.inner.encode_with_tokens(sentences)


def test_each_sentence_is_embedded_once():
    counting = Counting()
    held = SentenceVectors(counting, [*RAIN, "It rained."], tokens=False)
    assert counting.asked == [("vectors", RAIN)] and held.fresh == RAIN
    assert held.of(RAIN).shape == (2, 384)
    assert np.array_equal(held.of(RAIN[::-1]), held.of(RAIN)[[1, 0]])


def test_what_is_known_is_not_embedded_again():
    first, counting = SentenceVectors(Counting(), RAIN[:1]), Counting()
    held = SentenceVectors(counting, RAIN, known=first.known)
    assert counting.asked == [("tokens", RAIN[1:])] and held.fresh == RAIN[1:]
    assert np.array_equal(held.of(RAIN[:1]), first.of(RAIN[:1]))
    assert SentenceVectors(counting, RAIN[:1], known=held.known).known.keys() == {RAIN[0]}, "others are not kept"


def test_a_pair_has_vectors_only_where_every_sentence_has_token_vectors():
    held = SentenceVectors(Counting(), RAIN)
    pair = PairVectors.of(held, RAIN[:1], RAIN[1])
    assert pair.claim.shape == (384,) and pair.evidence.shape == (1, 384)
    assert pair.embedder == held.embedder and len(pair.evidence_tokens) == 1
    assert np.array_equal(pair.claim_tokens, held.tokens_of(RAIN)[1])
    assert np.array_equal(pair.claim, held.of(RAIN)[1])
    known = {RAIN[0]: (held.of(RAIN)[0], None)}
    assert PairVectors.of(SentenceVectors(Counting(), RAIN, known=known), RAIN[:1], RAIN[1]) is None
    for without in (SentenceVectors(Counting(has_tokens=False), RAIN), SentenceVectors(Counting(), RAIN, tokens=False)):
        assert PairVectors.of(without, RAIN[:1], RAIN[1]) is None


def test_nothing_to_embed_is_no_error():
    held = SentenceVectors(Counting(), [])
    assert held.of([]).shape[0] == 0 and held.fresh == []
    with pytest.raises(KeyError):
        held.of(RAIN)


def test_an_embedder_remembers_so_many_sentences_and_forgets_the_oldest():
    counting = Counting()
    kept = RememberingEmbedder(counting, most=2)
    once = kept.encode(["It rained.", "It snowed.", "It rained."])
    assert np.array_equal(kept.encode(["It rained."])[0], once[2]) and len(kept._kept) == 2
    assert np.allclose(once, load_embedder("minilm").encode(["It rained.", "It snowed.", "It rained."]), atol=1e-5)
    assert counting.asked == [("tokens", ["It rained.", "It snowed."])]
    assert kept.encode(["Rain fell.", "It snowed.", "It hailed."]).shape == (3, 384), "more than it keeps"
    assert list(kept._kept) == ["Rain fell.", "It hailed."]
    vectors, tokens = kept.encode_with_tokens(["It rained."])
    assert vectors.shape == (1, 384) and len(tokens) == 1 and counting.asked[-1] == ("tokens", ["It rained."])


def test_a_judge_needs_no_token_vectors():
    class Plain:
        fingerprint = "plain"

        def encode(self, sentences):
            return load_embedder("minilm").encode(sentences)

    judge = EmbeddedJudge(embedder=Plain()).for_run()
    assert [one.label for one in judge.entail("It rained in Oslo.", ["It rained in Oslo."])] == ["entailed"]
