"""Which cases share a call, how long texts are windowed, and results put together."""

from summeval_nb.judged._llm_plans import (
    MOST_STATEMENTS,
    ask_cases,
    collect,
    packed,
    plan_statements,
    plan_texts,
    plan_units,
    rejoined,
    windows_of,
)
from summeval_nb.judged.judge import premise_sentences
from summeval_nb.judged.judge_llm import _worst_or_best
from summeval_nb.judged.judging import LABELS, Entailment, JudgeFailure

PREMISE = "The bridge opened in 1931. It is 1,149 metres long. Some 40,000 cars cross it every day."
CLAIMS = ["The bridge opened in 1931.", "Some 60,000 cars cross it every day.", "It is painted green."]
FAILURE = JudgeFailure("entail", "the server did not answer within 60 s")
YES, NO, AGAINST = (Entailment(label=label) for label in LABELS)


def test_cases_are_packed_in_order():
    assert packed([10, 10, 10, 50, 5], most=2, characters=30) == [[0, 1], [2], [3], [4]]
    assert packed([], most=2, characters=30) == []
    assert [len(window) for window in windows_of(premise_sentences(PREMISE), 60)] == [2, 1]


def test_malformed_cases_are_asked_for_once_more_alone():
    calls = []

    def ask(group, complaint):
        calls.append((len(group), bool(complaint)))
        bad = JudgeFailure("entail", "one answer short", malformed=True)
        return [bad if case == ("b",) and not complaint else FAILURE if case == ("c",) else case for case in group]

    cases = [("a",), ("b",), ("c",)]
    found = ask_cases(lambda text: text, cases, ask, most=3, characters=99, workers=1)
    assert found == [("a",), ("b",), FAILURE] and calls == [(3, False), (1, True)]


def test_equal_statements_about_a_text_are_asked_once_and_put_together():
    items = [(PREMISE, CLAIMS[:2]), (PREMISE, CLAIMS[1:3]), (" ", ["It rained."])]
    plan = plan_statements(items, 60)
    assert [(len(window), lot) for _, window, lot in plan] == [(2, CLAIMS), (1, CLAIMS)]
    found = collect("entail", items, plan, [[YES, NO, NO], [NO, AGAINST, NO]], _worst_or_best)
    assert [one.label for one in found[0]] == ["entailed", "contradicted"]
    assert [one.label for one in found[1]] == ["contradicted", "neutral"] and isinstance(found[2], JudgeFailure)
    undecided = collect("entail", items, plan, [[YES, NO, NO], FAILURE], _worst_or_best)
    assert undecided[0] is FAILURE
    many = plan_statements([(PREMISE, [str(n) for n in range(MOST_STATEMENTS + 1)])], 9999)
    assert [len(lot) for *_, lot in many] == [MOST_STATEMENTS, 1]


def test_plans_of_units_and_texts():
    assert plan_units([("a b", ["aaa", "bbb"]), ("c", None)], 5) == [(0, ["aaa"]), (0, ["bbb"]), (1, ["c"])]
    assert [(i, n) for i, _, n in plan_texts("keyphrases", [(PREMISE, 5)], 60)] == [(0, 3), (0, 3)]
    asked = plan_texts("questions", [(PREMISE, ["cars", "1931"])], 60)
    assert [lot for _, _, lot in asked] == [["1931"], ["cars"]]


def test_a_failed_window_is_a_failed_item():
    assert rejoined(2, [0, 0, 1], [[1], [2], FAILURE]) == [[1, 2], FAILURE]
    assert rejoined(1, [0, 0], [FAILURE, [2]]) == [FAILURE]
