"""A choice whose options hold next to none of the model's probability is a failed call, for judges and for checkers."""

import pytest

from summeval_nb import LLMChecker, ScriptedBackend
from summeval_nb.judged import LLMJudge
from summeval_nb.judged.judging import JudgeFailure, Question
from summeval_nb.models.base import Choice


class Murmuring(ScriptedBackend):
    """Prefers the first option, with a mass of its own."""

    def __init__(self, probability_mass):
        super().__init__(lambda prompt: "yes")
        self.probability_mass = probability_mass

    def choose(self, prompt, options):
        """The first option with nine tenths of the mass."""
        first, *others = options
        shares = {first: self.probability_mass * 0.9} | {
            other: self.probability_mass * 0.1 / len(others) for other in others
        }
        return Choice.from_masses(shares)


def test_a_judge_counts_it_as_a_failure_and_gives_no_label():
    judge = LLMJudge(Murmuring(1e-6), probabilities=True)
    question = Question(text="Did it rain?", statement="It rained.")
    for task, item in (("entail", ("It rained.", ["It rained."])), ("answer", ("It rained.", [question]))):
        (found,) = judge.many(task, [item])
        if not isinstance(found, JudgeFailure):
            (failure,) = found
            assert getattr(failure, "label", getattr(failure, "value", None)) is None
            found = failure.reason
        assert "something else" in str(found)
    (refusal,) = judge.many("refusal", [("It rained.",)])
    assert isinstance(refusal, JudgeFailure) and "yes, no hold" in refusal.reason
    loud = LLMJudge(Murmuring(0.5), probabilities=True)
    assert loud.entail("It rained.", ["It rained."])[0].label == "entailed"
    assert loud.fingerprint != LLMJudge(Murmuring(0.5)).fingerprint


def test_a_checker_fails_alike():
    quiet, loud = LLMChecker(Murmuring(1e-6)), LLMChecker(Murmuring(0.5))
    pairs = [(["It rained."], "It rained.")]
    assert quiet.check_many(pairs)[0].probability is None and "something else" in quiet.check_many(pairs)[0].reason
    assert loud.check_many(pairs)[0].probability == pytest.approx(0.9)
