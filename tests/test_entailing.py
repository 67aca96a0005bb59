"""Many statements at once: what is read, what is closest, and that each distinct pair is checked once."""

import warnings

import numpy as np

from summeval_nb.evidence.load import load_checker
from summeval_nb.ground.results import Verdict
from summeval_nb.judged._entailing import closest, entail_many, read_premise, read_statement
from summeval_nb.judged.judge import EmbeddedJudge
from summeval_nb.judged.judging import JudgeFailure
from summeval_nb.text.embed import load_embedder

PREMISE = "The bridge opened in 1931. It is 1,149 metres long. Some 40,000 cars cross it every day."


class Counting:
    """A checker that counts what it is asked, and supports everything."""

    fingerprint, threshold = "counting-1", 0.5

    def __init__(self):
        self.asked: list[tuple[tuple[str, ...], str]] = []

    def check_many(self, pairs, *, vectors=None):
        self.asked += [(tuple(evidence), claim) for evidence, claim in pairs]
        return [Verdict(probability=0.9, threshold=0.5) for _ in pairs]


def entail(items, checker, label=lambda verdict: "entailed"):
    return entail_many(items, load_embedder("minilm"), checker, 2, None, label)


def test_the_closest_are_the_k_best_and_ties_stand_in_their_order():
    evidence = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]])
    found = closest(np.array([1.0, 0.0]), evidence, 2)
    assert list(found) == [1, 2] and found[1] == found[2] == 1.0
    assert list(closest(np.array([1.0, 0.0]), evidence, 9)) == [1, 2, 0]


def test_markup_is_taken_off_and_code_is_no_evidence():
    assert read_statement("- It **rained**.").plain == "It rained."
    assert read_statement("It rained. It snowed.").plain == "It rained. It snowed."
    assert [one.plain for one in read_premise("# Rain\n\nIt **rained**.\n\n```\nx = 1\n```\n")][-1] == "It rained."


def test_a_statement_in_another_language_is_not_judged_and_says_so_once():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (one,) = EmbeddedJudge().entail(PREMISE, ["Die Brücke wurde im Jahr 1931 für den Verkehr geöffnet."])
    assert one.failed and "in German" in one.reason


def test_each_distinct_pair_is_checked_once_and_every_item_has_its_answer():
    checker = Counting()
    found = entail([(PREMISE, ["It rained.", "It snowed."]), (PREMISE, ["It rained."]), (" ", ["It rained."])], checker)
    assert sorted(claim for _, claim in checker.asked) == ["It rained.", "It snowed."]
    assert all(len(evidence) == 2 for evidence, _ in checker.asked)
    assert found[0][0] == found[1][0] and [len(own) for own in found[:2]] == [2, 1]
    assert isinstance(found[2], JudgeFailure) and "no sentence" in found[2].reason
    assert entail([(PREMISE, [])], Counting()) == [[]]


def test_a_statement_that_no_checker_can_judge_has_a_reason_and_its_neighbours_a_label():
    claims = ["The bridge opened in 1931.", "?!"]
    good, bad = EmbeddedJudge().entail(PREMISE, claims)
    assert good.label == "entailed" and bad.failed and bad.reason
    found = entail([(PREMISE, claims)], load_checker("embedded"))[0]
    assert [one.failed for one in found] == [False, True]
    assert all(PREMISE[p.start : p.end] == p.text for one in found for p in one.evidence)
