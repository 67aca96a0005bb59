"""Vectors of many sentences: each embedded once, through a store, with token vectors for a checker that asks."""

import numpy as np
import pytest

from summeval_nb.evidence._vectors import embed_sentences
from summeval_nb.models.store import Store
from summeval_nb.text.embed import load_embedder


class Taking:
    """What stands for a checker that takes vectors."""

    uses_vectors = True


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


def test_each_sentence_is_embedded_once():
    counting = Counting()
    held = embed_sentences(["It rained.", "Rain fell.", "It rained."], counting, None, for_checker=None)
    assert counting.asked == [("vectors", ["It rained.", "Rain fell."])]
    assert held.matrix.shape == (2, 384)
    assert np.array_equal(held.of(["Rain fell.", "It rained."]), held.matrix[[1, 0]])


def test_a_pair_has_vectors_only_if_the_checker_asks_for_them():
    held = embed_sentences(["It rained.", "Rain fell."], Counting(), None, for_checker=Taking())
    pair = held.pair(["It rained."], "Rain fell.")
    assert pair.claim.shape == (384,) and pair.evidence.shape == (1, 384)
    assert pair.embedder == held.embedder and len(pair.evidence_tokens) == 1
    assert np.array_equal(pair.claim_tokens, held.tokens["Rain fell."])
    without = embed_sentences(["It rained."], Counting(), None, for_checker=object())
    assert without.pair([], "It rained.") is None


def test_what_the_store_has_is_not_embedded_again(tmp_path):
    with Store(tmp_path / "s.sqlite") as store:
        first = embed_sentences(["It rained."], Counting(), store, for_checker=None)
        counting = Counting()
        held = embed_sentences(["It rained.", "Rain fell."], counting, store, for_checker=None)
    assert counting.asked == [("vectors", ["Rain fell."])]
    assert np.array_equal(held.of(["It rained."]), first.matrix)


def test_nothing_to_embed_is_no_error():
    held = embed_sentences([], Counting(), None, for_checker=Taking())
    assert held.matrix.shape[0] == 0
    with pytest.raises(KeyError):
        held.of(["It rained."])
