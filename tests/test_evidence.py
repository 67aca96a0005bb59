"""Which sentences a checker is shown: the nearest, best first, ties in the order of the text."""

import numpy as np
import pytest

from summeval_nb.evidence.checker import nearest_evidence


def test_the_nearest_come_first_and_ties_stay_in_order():
    found = nearest_evidence(np.array([0.1, 0.9, 0.4, 0.9]), 3)
    assert [(one.index, one.similarity) for one in found] == [(1, 0.9), (3, 0.9), (2, 0.4)]


@pytest.mark.parametrize(("k", "indices"), [(1, [1]), (9, [1, 0]), (None, [1, 0])])
def test_no_more_than_there_are_and_all_without_a_k(k, indices):
    assert [one.index for one in nearest_evidence(np.array([0.2, 0.3]), k)] == indices


def test_without_sentences_there_is_no_evidence():
    assert nearest_evidence(np.zeros(0), 3) == nearest_evidence(np.zeros(0)) == []
    with pytest.raises(ValueError, match="k must be at least 1"):
        nearest_evidence(np.array([0.2]), 0)


def test_a_similarity_is_kept_to_the_last_bit():
    values = np.random.default_rng(0).uniform(-1, 1, 50).astype(np.float32)
    assert {one.index: one.similarity for one in nearest_evidence(values)} == dict(enumerate(values.tolist()))
