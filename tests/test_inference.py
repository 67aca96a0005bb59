"""A sequence classifier at work: what is loaded, how long a window is, batches, and the best of several answers."""

import numpy as np
import pytest
import torch
from helpers.tiny_nli import bert_classifier

from summeval_nb.evidence import nli
from summeval_nb.models.base import BackendRejected, ContextTooLong

torch.set_num_threads(1)
PLACES = {"entailment": 1, "neutral": 0}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return nli.load_classifier(bert_classifier(tmp_path_factory.mktemp("bert")), None, False)


def test_what_is_no_classifier_is_refused_with_a_remedy(tmp_path, loaded):
    with pytest.raises(BackendRejected, match="cannot be loaded"):
        nli.load_classifier(tmp_path / "nothing", None, False)
    with pytest.raises(ValueError, match="needs its tokenizer"):
        nli.load_classifier(loaded[0], None, False)
    assert nli.load_classifier(*loaded, False) == loaded


def test_a_window_is_the_models_or_smaller(loaded):
    assert nli.fitting_window(*loaded, None) == 128
    assert nli.fitting_window(*loaded, 64) == 64
    with pytest.raises(ValueError, match="window=129 is more than the 128 tokens"):
        nli.fitting_window(*loaded, 129)
    with pytest.raises(ValueError, match="window must be at least 32"):
        nli.fitting_window(*loaded, 31)


def test_rows_come_back_in_their_order_whatever_their_lengths(loaded):
    model, tokenizer = loaded
    pairs = [("Anna bought a red car. " * n, "Ben sold a boat.") for n in (5, 1, 3, 2)]
    rows = [{name: list(part) for name, part in tokenizer(*pair).items() if name != "attention_mask"} for pair in pairs]
    alone = np.stack([nli.probabilities(model, tokenizer, [row], 1)[0] for row in rows])
    np.testing.assert_allclose(nli.probabilities(model, tokenizer, rows, 3), alone, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(alone.sum(axis=1), 1)
    assert nli.probabilities(model, tokenizer, [], 3).shape == (0, 0)


def test_the_best_row_decides_and_a_failure_stays_alone():
    def rows_of(evidence, claim):
        if claim == "long":
            raise ContextTooLong("too long", length=9, limit=8, remedy="shorten it")
        return [(place, {"input_ids": [len(text)]}) for place, text in enumerate(evidence)]

    def outputs_of(rows):
        share = np.array([row["input_ids"][0] / 10 for row in rows])
        return np.stack([1 - share, share], axis=1)

    questions = [(["a", "aaaa", "aa"], "short"), (["a"], "long"), (["aa"], "short")] * 40  # more than one lot
    found = nli.judged(questions, rows_of, outputs_of, PLACES, progress=False)
    assert len(found) == 120 and isinstance(found[1], ContextTooLong)
    assert found[0] == found[117] == (0.4, {"entailment": 0.4, "neutral": 0.6, "decided_by": 1})
    assert found[119] == (0.2, {"entailment": 0.2, "neutral": 0.8, "decided_by": 0})


def test_all_evidence_as_one_premise_has_no_sentence_that_decided():
    (found,) = nli.judged(
        [(["a"], "b")],
        lambda evidence, claim: [(None, {"input_ids": [1]})],
        lambda rows: np.array([[0.25, 0.75]]),
        PLACES,
        progress=False,
    )
    assert found == (0.75, {"entailment": 0.75, "neutral": 0.25})
