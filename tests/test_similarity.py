"""Cosine, dot products and the best k: laws on random tables, scipy as the judge, ties exact, bad tables refused."""

import numpy as np
import pytest
from helpers.late import Late
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from summeval_nb.text.similarity import cosine_similarity, dot_similarity, topk_related

cdist = Late("scipy.spatial.distance", "cdist")
ordinary = st.one_of(st.just(0.0), st.floats(1e-3, 1e3), st.floats(-1e3, -1e-3))
extreme = st.floats(allow_nan=False, allow_infinity=False)
coarse = arrays(
    np.float64, array_shapes(min_dims=2, max_dims=2, max_side=12), elements=st.sampled_from([-1, -0.0, 0.0, 0.5, 1])
)
fine = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=extreme)
counts = st.integers(1, 15)


@st.composite
def tables(draw, elements=ordinary):
    """An article and a summary of one dimension: 1 to 8 sentences each, 1 to 6 dimensions."""
    d = draw(st.integers(1, 6))
    return tuple(draw(arrays(np.float64, (draw(st.integers(1, 8)), d), elements=elements)) for _ in range(2))


@given(tables(extreme))
def test_range_shape_and_symmetry_for_any_finite_numbers(pair):
    article, summary = pair
    table = cosine_similarity(article, summary)
    assert table.shape == (len(summary), len(article)) and table.dtype == np.float64
    assert (np.abs(table) <= 1).all()  # also false for NaN
    assert np.allclose(table, cosine_similarity(summary, article).T, atol=1e-12)


@given(tables(), st.integers(-900, 900), st.randoms(use_true_random=False))
def test_scale_over_all_of_float64_and_order_change_nothing(pair, exponent, random):
    article, summary = pair
    columns, rows = list(range(len(article))), list(range(len(summary)))
    random.shuffle(columns), random.shuffle(rows)
    table = cosine_similarity(article, summary)
    assert np.allclose(cosine_similarity(article * 2.0**exponent, summary), table, atol=1e-12)
    assert np.allclose(cosine_similarity(article, -summary), -table, atol=1e-12)
    assert np.allclose(cosine_similarity(article[columns], summary[rows]), table[np.ix_(rows, columns)], atol=1e-12)


@given(tables())
def test_scipy_agrees_and_zero_vectors_have_similarity_zero(pair):
    article, summary = pair
    expected = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in article] for x in summary]
    assert np.allclose(dot_similarity(article, summary), expected)
    zero = np.zeros((1, article.shape[1]))
    assert (cosine_similarity(article, zero) == 0).all() and (cosine_similarity(zero, zero) == 0).all()
    article, summary = (t[np.linalg.norm(t, axis=1) > 0] for t in (article, summary))
    if len(article) and len(summary):
        assert np.allclose(cosine_similarity(article, summary), 1 - cdist(summary, article, "cosine"), atol=1e-9)
        assert np.allclose(np.diag(cosine_similarity(article, article)), 1)


def test_equal_vectors_have_exactly_equal_similarities():
    for m in (2, 7, 30, 33, 59, 130):
        rng = np.random.default_rng(m)
        article, summary = rng.normal(size=(m, 384)).astype(np.float32), rng.normal(size=(5, 384))
        article[-1], summary[-1] = article[0], summary[0]
        for function in (cosine_similarity, dot_similarity):
            table = function(article, summary)
            assert (table[:, 0] == table[:, -1]).all() and (table[0] == table[-1]).all()
            assert np.isfinite(table).all() and table.shape == (5, m)
    assert (np.diff(cosine_similarity(np.array([[0.0, 1.0], [-0.0, 1.0]]), [[3.0, 4.0]])) == 0).all()


def test_whatever_the_type():
    for dtype in (np.int8, np.uint8, np.int64, np.float16, np.float32):
        wide = np.full((1, 1000), 100, dtype=dtype)
        assert dot_similarity(wide, wide).tolist() == [[10_000_000]]
        assert np.allclose(cosine_similarity(wide, wide), 1)
        assert topk_related(np.array([[0, 3, 1, 3]], dtype=dtype), np.int64(3)).tolist() == [[1, 3, 2]]
    torch = pytest.importorskip("torch")
    assert np.allclose(cosine_similarity(torch.tensor([[3.0, 4.0]], requires_grad=True), [[4, 3]]), 0.96)


def test_a_product_beyond_float64_is_an_error_not_infinity():
    for own, other in (([1e200], [1e200]), ([1e200], [-1e200]), ([1e200, 1e200], [1e200, -1e200])):
        with pytest.raises(ValueError, match="exceeds what float64 holds"):
            dot_similarity([own], [other])


BAD = [
    ([1.0, 2.0], ValueError, r"shape \(2,\); wrap one vector"),
    (np.zeros((0, 2)), ValueError, "empty"),
    (np.zeros((2, 0)), ValueError, "empty"),
    ([[np.nan, 1]], ValueError, "nan at row 0, column 0"),
    ([[1, -np.inf]], ValueError, "-inf at row 0, column 1"),
    ([[1, 2], [3]], ValueError, "rows differ in length"),
    (None, TypeError, "real numbers, not object"),
    ("text", TypeError, "real numbers"),
    ([[True, False]], TypeError, "not bool"),
]


def test_bad_tables_are_refused_on_either_side():
    good = [[1.0, 2.0]]
    for bad, error, message in BAD:
        for function in (cosine_similarity, dot_similarity):
            for name, arguments in (("embed_text", (bad, good)), ("embed_summary", (good, bad))):
                with pytest.raises(error, match=f"{name}.*{message}"):
                    function(*arguments)
        with pytest.raises(error, match=f"sim_matrix.*{message}"):
            topk_related(bad, 1)
    for function, d in ((cosine_similarity, 1), (dot_similarity, 768)):
        with pytest.raises(ValueError, match=f"embed_text has 384 dimensions, embed_summary {d}"):
            function(np.ones((3, 384)), np.ones((3, d)))
    for k in (0, -1, True, 2.0, "2", None, np.nan):
        with pytest.raises((TypeError, ValueError), match="k must be"):
            topk_related([[1.0, 2.0]], k)


def by_definition(row, k: int) -> list[int]:
    """Repeatedly take the leftmost greatest entry that is left."""
    left, chosen = list(range(len(row))), []
    while left and len(chosen) < k:
        chosen.append(max(left, key=lambda column: (row[column], -column)))
        left.remove(chosen[-1])
    return chosen


@given(st.one_of(coarse, fine), counts)
def test_the_best_k_equal_the_definition(table, k):
    found = topk_related(table, k)
    assert found.dtype == np.int64 and found.shape == (len(table), min(k, table.shape[1]))
    assert found.tolist() == [by_definition(row, k) for row in table]


def test_ties_are_stable_in_long_rows_and_the_smallest_integer_is_not_the_greatest():
    for m in (16, 17, 1000, 5000):  # numpy's default sort is stable only in short rows
        assert topk_related(np.zeros((2, m)), m).tolist() == [list(range(m))] * 2
    assert topk_related(np.array([[-128, 0]], dtype=np.int8), 1).tolist() == [[1]]  # -(-128) is -128 in int8
