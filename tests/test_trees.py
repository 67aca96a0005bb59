"""Boosted trees as arrays say what the fitted model says, and what each feature added."""

import sys
from pathlib import Path

import numpy as np
import pytest

from summeval_nb.evidence._trees import Forest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))


@pytest.fixture(scope="module")
def fitted():
    from _forest import forest_arrays
    from sklearn.ensemble import HistGradientBoostingClassifier

    generator = np.random.default_rng(0)
    rows = generator.normal(size=(600, 4))
    labels = (rows[:, 0] * rows[:, 1] + rows[:, 2] + generator.normal(size=600) * 0.3 > 0).astype(int)
    model = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=6, random_state=0).fit(rows, labels)
    return model, Forest.from_arrays("abcd", forest_arrays(model, [0, 1, 2, 3])), generator.normal(size=(50, 4))


def test_the_logit_is_the_models(fitted):
    model, forest, rows = fitted
    logits, _ = forest.contributions(rows)
    np.testing.assert_allclose(logits, model.decision_function(rows), atol=1e-9)


def test_what_the_features_added_adds_up(fitted):
    _, forest, rows = fitted
    logits, added = forest.contributions(rows)
    np.testing.assert_allclose(forest.base + added.sum(axis=1), logits, atol=1e-12)
    assert np.abs(added[:, 2]).mean() > 5 * np.abs(added[:, 3]).mean()  # the fourth feature says nothing


def test_rows_of_another_width_are_refused(fitted):
    with pytest.raises(ValueError, match="fitted to 4"):
        fitted[1].contributions(np.zeros((1, 3)))


def test_no_rows_are_no_logits(fitted):
    assert fitted[1].contributions(np.zeros((0, 4)))[0].shape == (0,)
