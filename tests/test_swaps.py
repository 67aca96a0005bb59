"""The null distribution without a loop, against permutations made one by one."""

import numpy as np
import pytest
from helpers.correlations import SCIPY, at_level, example

from summeval_nb.agreement._coefficients import by_row
from summeval_nb.agreement._swaps import (
    null_differences,
    p_value_of,
    pair_p_value,
    random_swaps,
    standardised,
    swapped_rows,
)
from summeval_nb.agreement.agreement import LEVELS
from summeval_nb.agreement.significance import compare


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", SCIPY)
@pytest.mark.parametrize("kind", ["articles", "systems", "jointly"])
@pytest.mark.parametrize("missing", [False, True], ids=["full", "missing"])
def test_null_equals_permutations_made_one_by_one(level, coefficient, kind, missing):
    a, human = example(missing)
    b, _ = example(missing, seed=1)
    swaps = random_swaps(a.shape, 8, kind, seed=2)
    ours = null_differences(a, b, human, level, coefficient, swaps)
    everywhere = np.where(np.isnan(a) | np.isnan(b) | np.isnan(human), np.nan, 1.0)
    za, zb, y = standardised(a * everywhere), standardised(b * everywhere), human * everywhere
    for value, articles, systems in zip(ours, *swaps, strict=True):
        cells = articles[:, None] ^ systems[None]
        sides = [at_level(np.where(cells, *pair), y, level, coefficient) for pair in ((zb, za), (za, zb))]
        assert value == pytest.approx(sides[0] - sides[1], abs=1e-9)


@pytest.mark.parametrize("coefficient", SCIPY)
def test_columns_mixed_by_hand_give_the_same_rows(coefficient):
    rng = np.random.default_rng(0)
    a, b, human = rng.normal(size=(5, 6)), rng.normal(size=(5, 6)), rng.integers(0, 4, (5, 6)) * 1.0
    swapped = np.array([[True, False, True, True, False, False]])
    by_hand = by_row(np.where(swapped, b, a), human, coefficient)
    assert np.allclose(swapped_rows(a, b, human, swapped, coefficient)[0], by_hand, atol=1e-12)


def test_what_is_swapped():
    articles, systems = random_swaps((30, 40), 20, "jointly", 1)
    assert articles.any() and systems.any() and articles.shape == (20, 30) and systems.shape == (20, 40)
    only = random_swaps((30, 40), 20, "articles", 1)
    assert (only[0] == articles).all() and not only[1].any()
    assert not random_swaps((30, 40), 20, "systems", 1)[0].any()


@pytest.mark.parametrize(("alternative", "expected"), [("greater", 2 / 4), ("less", 4 / 4), ("two-sided", 3 / 4)])
def test_p_value_by_hand(alternative, expected):
    """Three permutations and the observed one; NaN does not count, and what is equal up to rounding does."""
    assert p_value_of(np.array([0.3 - 1e-15, -0.1, -0.5, np.nan]), 0.3, alternative) == expected


def test_one_pair_is_tested_as_compare_does():
    a, human = example()
    b, _ = example(seed=1)
    how = {"level": "summary", "coefficient": "kendall", "n_resamples": 99, "seed": 0}
    assert pair_p_value(a, b, human, how) == compare(a, b, human, alternative="two-sided", n_resamples=99).p_value
    assert pair_p_value(np.full_like(a, np.nan), b, human, how) == 1.0
