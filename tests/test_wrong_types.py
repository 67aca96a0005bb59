"""Found by `make torture`: public names that got something of another kind and answered with an AttributeError."""

import numpy as np
import pytest

import summeval_nb as s

TOY = {"cosine": np.ones((2, 3))}
GOOD = s.evaluate("It rained.", "It rained.").to_dict()

# a call, the error, a word of its message
WRONG = [
    (lambda: s.agreement.summeval_scores(None, None), TypeError, "tables must map"),
    (lambda: s.agreement.summeval_scores({}, np.ones((2, 3))), TypeError, "tables must map"),
    (lambda: s.agreement.summeval_scores(TOY, np.ones((2, 4))), ValueError, "the same shape"),
    (lambda: s.agreement.summeval_scores(TOY, np.eye(3)[:2], main="dot"), ValueError, "main"),
    (lambda: s.overlap.compare_bleu(None, None), TypeError, "not NoneType"),
    (lambda: s.core.Signature(None), TypeError, "parts must map"),
    (lambda: s.judged.ask_many(3, "statements", [("It rained.",)]), TypeError, "judge must be a Judge"),
    (lambda: s.runs.Ledger("calls"), TypeError, "stages must map"),
    (lambda: s.compare_runs(np.array([1.0, 2, 1e308]), np.zeros(3)), ValueError, "beyond 1e100"),
    (lambda: s.agreement.metric_scores(object(), ["length"]), TypeError, "data must be a SummEval"),
    (lambda: s.compare_metrics(float("nan"), np.ones((2, 3))), TypeError, "metrics must map"),
    (
        lambda: s.compare_metrics({"a": np.eye(3), "b": np.ones((3, 3))}, np.eye(3), alpha=5e-324),
        ValueError,
        "alpha must",
    ),
    (lambda: s.runs.plan_run([], "bleu", sample=1), ValueError, "sample must be at least 2"),
    (lambda: s.load_summeval("half \ud83d.jsonl"), ValueError, "half a character"),
    (lambda: s.Store("half \ud83d.sqlite"), ValueError, "half a character"),
    (lambda: s.evidence.faithfulness_from_dict({}), ValueError, "'schema' is missing"),
    (lambda: s.evidence.faithfulness_from_dict({"schema": 2}), ValueError, "'verdicts' is missing"),
    (lambda: s.evidence.faithfulness_from_dict(GOOD | {"schema": 7}), ValueError, "schema 7, and only 2 can be read"),
    (lambda: s.evidence.faithfulness_from_dict(None), ValueError, "not the plain data of a Faithfulness"),
    (
        lambda: s.evidence.faithfulness_from_dict(GOOD | {"verdicts": [3]}),
        ValueError,
        "not the plain data of a Faithfulness",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG, ids=range(len(WRONG)))
def test_another_kind_of_thing_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_plain_data_come_back():
    assert s.evidence.faithfulness_from_dict(GOOD).to_dict() == GOOD


def test_half_a_character_is_an_answer_like_another():
    assert (
        s.teaching.check_exercise("21_ngrams/1", "half \ud83d").outcome
        == s.teaching.check_exercise("21_ngrams/1", "half").outcome
    )
