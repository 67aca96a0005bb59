"""What all checkers share: pairs, vectors, the nearest evidence, batches, and a calibration on top of another."""

import numpy as np
import pytest

from summeval_nb import Verdict
from summeval_nb.evidence import builtin
from summeval_nb.evidence.base import PairVectors, fitted_words, nearest_evidence
from summeval_nb.evidence.builtin import BuiltinChecker


def vectors(embedder="x", evidence=((1.0, 0.0), (0.0, 0.0), (0.6, 0.8))):
    rows = np.array(evidence)
    return PairVectors(embedder, rows, np.array([0.8, 0.6]), [np.zeros((1, 2))] * len(rows), np.zeros((1, 2)))


class Counting(BuiltinChecker):
    """Judges nothing, not even a pair whose claim says "break"; remembers its batches and whether it encoded them."""

    error = IndexError("tuple index out of range")

    def __init__(self, **settings):
        super().__init__(**({"threshold": 0.5, "slope": 1.0, "offset": 0.0} | settings))
        self.batches, self.encoded = [], 0

    def _encode(self, batch):
        self.encoded += 1
        return [vectors()] * len(batch)

    def _check_batch(self, batch, given):
        self.batches.append((len(batch), {sentence_vectors.embedder for sentence_vectors in given}))
        if any("break" in claim for _, claim in batch):
            raise self.error
        return [Verdict(probability=0.5)] * len(batch)


def test_pairs_are_judged_in_lots_and_one_that_goes_wrong_fails_alone():
    pairs, own = [(["a", "b", "c"], "d")] * 600, vectors(fitted_words()["embedder"])
    judge = Counting()
    assert len(judge.check_many(pairs)) == 600 and judge.check_many([]) == []
    assert [size for size, _ in judge.batches] == [256, 256, 88] and judge.encoded == 3
    for given, encoded in (([own] * 600, 0), ([own] * 300 + [vectors()] * 300, 2)):  # batches with foreign ones
        judge = Counting()
        judge.check_many(pairs, vectors=given)
        assert judge.encoded == encoded and judge.batches[0][1] == {own.embedder}
    judge = Counting(threshold=0.7)
    claims = ["a", "break", "b", "break", *["c"] * 300]
    found = judge.check_many([(["a", "b", "c"], claim) for claim in claims])
    assert [verdict.failed for verdict in found] == [claim == "break" for claim in claims]
    assert found[1].reason == "IndexError: tuple index out of range" and found[1].threshold == 0.7
    assert [size for size, _ in judge.batches] == [256, *[1] * 256, 48]
    for error in (ImportError("no torch"), MemoryError(), OSError("no weights")):  # no pair is to blame for these
        judge.error = error
        with pytest.raises(type(error)):
            judge.check_many([(["a", "b", "c"], "break"), (["a", "b", "c"], "d")])


def test_a_calibration_comes_on_top_of_the_one_before():
    scores, labels = [0.9, 0.7, 0.4, 0.2], [1, 1, 0, 1]
    slope, offset = builtin.platt_scaling(scores, labels)
    judge = Counting(threshold=0.7, slope=2.0, offset=1.0).calibrate(scores, labels)
    assert judge._settings() == {"threshold": 0.7, "slope": 2 * slope, "offset": slope + offset}
    with pytest.raises(ValueError, match="1 means supported"):
        judge.calibrate(scores, [0, 0, 1, 1])


def test_the_nearest_come_first_and_ties_stay_in_order():
    assert vectors().cosines().tolist() == pytest.approx([0.8, 0.0, 0.96])  # a zero vector has none
    for values, k, found in (
        ([0.1, 0.9, 0.4, 0.9], 3, [(1, 0.9), (3, 0.9), (2, 0.4)]),
        ([0.2, 0.3], 9, [(1, 0.3), (0, 0.2)]),
        ([], 3, []),
    ):
        assert [(one.index, one.similarity) for one in nearest_evidence(np.array(values), k)] == found
    with pytest.raises(ValueError, match="k must be at least 1"):
        nearest_evidence(np.array([0.2]), 0)
