"""Cosine and dot products: laws on random tables, scipy as the judge, ties exact, bad tables refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from summeval_nb.text.similarity import cosine_similarity, dot_similarity, require_matrix

ordinary = st.one_of(st.just(0.0), st.floats(1e-3, 1e3), st.floats(-1e3, -1e-3))
extreme = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def tables(draw, elements=ordinary):
    """An article and a summary of one dimension: 1 to 8 sentences each, 1 to 6 dimensions."""
    d = draw(st.integers(1, 6))
    return tuple(draw(arrays(np.float64, (draw(st.integers(1, 8)), d), elements=elements)) for _ in range(2))


@given(tables(extreme))
@settings(deadline=None)
def test_range_and_shape_for_any_finite_numbers(pair):
    article, summary = pair
    table = cosine_similarity(article, summary)
    assert table.shape == (len(summary), len(article)) and table.dtype == np.float64
    assert (np.abs(table) <= 1).all()  # also false for NaN


@given(tables(extreme))
@settings(deadline=None)
def test_symmetry(pair):
    article, summary = pair
    assert np.allclose(cosine_similarity(article, summary), cosine_similarity(summary, article).T, atol=1e-12)


@given(tables(), st.integers(-900, 900))
@settings(deadline=None)
def test_scale_invariance_over_the_whole_range_of_float64(pair, exponent):
    article, summary = pair
    table = cosine_similarity(article, summary)
    assert np.allclose(cosine_similarity(article * 2.0**exponent, summary), table, atol=1e-12)
    assert np.allclose(cosine_similarity(article, -summary), -table, atol=1e-12)


@given(tables(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_permutation(pair, random):
    article, summary = pair
    columns, rows = list(range(len(article))), list(range(len(summary)))
    random.shuffle(columns), random.shuffle(rows)
    table = cosine_similarity(article, summary)
    assert np.allclose(cosine_similarity(article[columns], summary[rows]), table[np.ix_(rows, columns)], atol=1e-12)


@given(tables())
@settings(deadline=None)
def test_scipy_agrees_where_it_is_defined(pair):
    article, summary = pair
    article, summary = (t[np.linalg.norm(t, axis=1) > 0] for t in (article, summary))
    if len(article) and len(summary):
        assert np.allclose(cosine_similarity(article, summary), 1 - cdist(summary, article, "cosine"), atol=1e-9)


@given(tables())
@settings(deadline=None)
def test_zero_vectors_have_similarity_zero(pair):
    article, _ = pair
    zero = np.zeros((1, article.shape[1]))
    assert (cosine_similarity(article, zero) == 0).all() and (cosine_similarity(zero, zero) == 0).all()
    nonzero = article[np.abs(article).max(axis=1) > 0]
    if len(nonzero):
        assert np.allclose(np.diag(cosine_similarity(nonzero, nonzero)), 1)


@given(tables())
@settings(deadline=None)
def test_dot_is_the_product(pair):
    article, summary = pair
    expected = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in article] for x in summary]
    assert np.allclose(dot_similarity(article, summary), expected)


@pytest.mark.parametrize("function", [cosine_similarity, dot_similarity])
@pytest.mark.parametrize("m", [2, 7, 30, 33, 59, 130])
def test_equal_vectors_have_exactly_equal_similarities(function, m):
    rng = np.random.default_rng(m)
    article, summary = rng.normal(size=(m, 384)).astype(np.float32), rng.normal(size=(5, 384))
    article[-1], summary[-1] = article[0], summary[0]
    table = function(article, summary)
    assert (table[:, 0] == table[:, -1]).all() and (table[0] == table[-1]).all()
    assert np.isfinite(table).all() and table.shape == (5, m)


def test_negative_zero_is_zero():
    article = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert (np.diff(cosine_similarity(article, [[3.0, 4.0]])) == 0).all()


def test_by_hand():
    article, summary = [[4, 3], [0, 2]], [[3, 4], [1, 0]]
    assert np.allclose(cosine_similarity(article, summary), [[0.96, 0.8], [0.8, 0]])
    assert dot_similarity(article, summary).tolist() == [[24, 8], [4, 0]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float16, np.float32])
def test_narrow_types_neither_wrap_nor_overflow(dtype):
    wide = np.full((1, 1000), 100, dtype=dtype)
    assert dot_similarity(wide, wide).tolist() == [[10_000_000]]
    assert np.allclose(cosine_similarity(wide, wide), 1)


def test_torch_tensors_and_lists():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([[3.0, 4.0]], requires_grad=True)
    assert np.allclose(cosine_similarity(tensor, [[4, 3]]), 0.96)


def test_arguments_are_not_changed():
    article = np.array([[4.0, 3.0], [0.0, 0.0]])
    before = article.copy()
    cosine_similarity(article, article)
    dot_similarity(article, article)
    assert (article == before).all()


def test_a_product_beyond_float64_is_an_error_not_infinity():
    for other in (1e200, -1e200):
        with pytest.raises(ValueError, match="exceeds what float64 holds"):
            dot_similarity([[1e200]], [[other]])
    with pytest.raises(ValueError, match="exceeds what float64 holds"):
        dot_similarity([[1e200, 1e200]], [[1e200, -1e200]])  # infinity minus infinity


BAD = [
    ([1.0, 2.0], ValueError, r"shape \(2,\); wrap one vector"),
    (1.0, ValueError, r"shape \(\)"),
    (np.zeros((1, 1, 2)), ValueError, r"shape \(1, 1, 2\)"),
    (np.zeros((0, 2)), ValueError, "empty"),
    (np.zeros((2, 0)), ValueError, "empty"),
    ([], ValueError, "shape"),
    ([[]], ValueError, "empty"),
    ([[np.nan, 1]], ValueError, "nan at row 0, column 0"),
    ([[1, np.inf]], ValueError, "inf at row 0, column 1"),
    ([[1, -np.inf]], ValueError, "-inf at row 0, column 1"),
    ([[1, 2], [3]], ValueError, "rows differ in length"),
    (None, TypeError, "real numbers, not object"),
    ("text", TypeError, "real numbers"),
    (["a", "b"], TypeError, "real numbers"),
    (b"bytes", TypeError, "real numbers"),
    ([[True, False]], TypeError, "not bool"),
    ([[1j, 2]], TypeError, "not complex"),
    ([[None, 1]], TypeError, "not object"),
]


@pytest.mark.parametrize(("bad", "error", "message"), BAD)
@pytest.mark.parametrize("function", [cosine_similarity, dot_similarity])
def test_bad_tables_are_refused_on_either_side(function, bad, error, message):
    good = [[1.0, 2.0]]
    with pytest.raises(error, match=f"embed_text.*{message}"):
        function(bad, good)
    with pytest.raises(error, match=f"embed_summary.*{message}"):
        function(good, bad)


@pytest.mark.parametrize("function", [cosine_similarity, dot_similarity])
def test_other_dimensions_are_refused_and_never_broadcast(function):
    for d in (1, 768):
        with pytest.raises(ValueError, match=f"embed_text has 384 dimensions, embed_summary {d}"):
            function(np.ones((3, 384)), np.ones((3, d)))


def test_require_matrix_copies_and_widens():
    value = np.ones((2, 2), dtype=np.float32)
    out = require_matrix(value, "x")
    out[0, 0] = 5
    assert out.dtype == np.float64 and value[0, 0] == 1
