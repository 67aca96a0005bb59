"""Which cases share a call, what a model is shown, the schemas of its replies, and what is done with a bad one."""

from functools import cache

import pytest
from pydantic import TypeAdapter, ValidationError

from summeval_nb.judged.asking import TASKS, premise_sentences
from summeval_nb.judged.cases import (
    MOST_STATEMENTS,
    ask_cases,
    ask_group,
    case_forms,
    collect,
    exactly,
    named_passages,
    numbered,
    of_sentences,
    packed,
    plan_statements,
    plan_texts,
    plan_units,
    read_questions,
    read_units,
    rejoined,
    reply_schema,
    windows_of,
)
from summeval_nb.judged.judging import LABELS, Entailment, JudgeFailure
from summeval_nb.judged.llm import PROMPTS, LLMJudge, _worst_or_best
from summeval_nb.models.base import BackendUnavailable, ScriptedBackend

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


def test_equal_statements_about_a_text_are_asked_once():
    items = [(PREMISE, CLAIMS[:2]), (PREMISE, CLAIMS[1:3]), (" ", ["It rained."])]
    plan = plan_statements(items, 60)
    assert [(len(window), batch) for _, window, batch in plan] == [(2, CLAIMS), (1, CLAIMS)]
    found = collect("entail", items, plan, [[YES, NO, NO], [NO, AGAINST, NO]], _worst_or_best)
    assert [entailment.label for entailment in found[0]] == ["entailed", "contradicted"]
    assert [entailment.label for entailment in found[1]] == ["contradicted", "neutral"] and isinstance(
        found[2], JudgeFailure
    )
    undecided = collect("entail", items, plan, [[YES, NO, NO], FAILURE], _worst_or_best)
    assert undecided[0] is FAILURE
    many = plan_statements([(PREMISE, [str(n) for n in range(MOST_STATEMENTS + 1)])], 9999)
    assert [len(batch) for *_, batch in many] == [MOST_STATEMENTS, 1]


def test_plans_of_units_and_texts():
    assert plan_units([("a b", ["aaa", "bbb"]), ("c", None)], 5) == [(0, ["aaa"]), (0, ["bbb"]), (1, ["c"])]
    assert [(i, n) for i, _, n in plan_texts("keyphrases", [(PREMISE, 5)], 60)] == [(0, 3), (0, 3)]
    asked = plan_texts("questions", [(PREMISE, ["cars", "1931"])], 60)
    assert [batch for _, _, batch in asked] == [["1931"], ["cars"]]


def test_a_failed_window_is_a_failed_item():
    assert rejoined(2, [0, 0, 1], [[1], [2], FAILURE]) == [[1, 2], FAILURE]
    assert rejoined(1, [0, 0], [FAILURE, [2]]) == [FAILURE]


@cache
def sentences():
    return premise_sentences(PREMISE)


ENTAIL = LLMJudge._forms["entail"]


ENTAILED = {"label": "entailed", "evidence": [1]}


def test_there_is_a_task_for_every_question_but_the_choice():
    assert set(LLMJudge._forms) | {"refusal"} == set(TASKS) == (set(PROMPTS) - {"one entail", "one answer"})
    assert case_forms(lambda texts, of: (texts, of))["statements"].read(["It rained."], "It rained.") == (
        ["It rained."],
        "It rained.",
    )


def test_a_reply_holds_exactly_the_verdicts_that_were_asked_for():
    two = TypeAdapter(ENTAIL.reply(sentences(), ["a", "b"]))
    assert [reply.label for reply in two.validate_python([ENTAILED, ENTAILED])] == ["entailed", "entailed"]
    for short in ([ENTAILED], [ENTAILED] * 3, [{"label": "yes", "evidence": []}] * 2):
        with pytest.raises(ValidationError):
            two.validate_python(short)
    schema = reply_schema(ENTAIL, [(sentences(), ["a"])]).model_json_schema()
    number = next(iter(schema["$defs"].values()))["properties"]["evidence"]["items"]
    assert (number["minimum"], number["maximum"]) == (1, 3)
    assert of_sentences.cache_info().currsize and exactly(str, 2)


def test_what_a_case_shows_and_how_much_room_a_reply_has():
    assert numbered(sentences())[0] == "1. The bridge opened in 1931."
    assert ENTAIL.case(sentences(), ["a"]) == {"premise": numbered(sentences()), "statements": ["a"]}
    assert ENTAIL.tokens(sentences(), ["a", "b"]) == 120


def test_evidence_must_exist():
    assert [passage.text for passage in named_passages([1, 1], sentences())] == ["The bridge opened in 1931."]
    with pytest.raises(ValueError, match="sentence 4 of 3"):
        named_passages([4], sentences())


def test_units_are_resolved_and_not_rewritten():
    assert read_units(["Ada studied physics."], ["She studied physics."]) == ["Ada studied physics."]
    with pytest.raises(ValueError, match="rewritten"):
        read_units(["Something else altogether."], ["She studied physics."])


def test_a_question_without_a_word_of_the_text_is_refused():
    asked = TypeAdapter(LLMJudge._forms["questions"].reply("It rained.", ["rain"]))
    good, bad = (
        [{"question": "Did it?", "statement": statement}] for statement in ("It rained.", "Snow fell on Monday.")
    )
    (found,) = read_questions(asked.validate_python(good), "It rained.", ["rain"])
    assert found.keyphrases == ("rain",)
    with pytest.raises(ValueError, match="not made of the text"):
        read_questions(asked.validate_python(bad), "It rained.", ["rain"])


def test_one_bad_case_does_not_spoil_its_neighbour():
    reply = '{"case_1": [{"label": "entailed", "evidence": [1]}], "case_2": [{"label": "entailed", "evidence": [2]}]}'
    shown = []
    backend = ScriptedBackend(lambda prompt: shown.append(prompt) or reply)
    cases = [(sentences(), ["a"]), (sentences()[:1], ["b"])]
    good, bad = ask_group(backend, ENTAIL, "entail", cases, prompt="Judge.", complaint="It was short.")
    assert good[0].label == "entailed" and isinstance(bad, JudgeFailure) and bad.malformed and "2 of 1" in str(bad)
    assert "It was short." in shown[0] and "Case 2: " in shown[0] and shown[0].endswith("Reply with JSON.")


def test_a_dead_server_fails_every_case_without_a_retry():
    def down(prompt):
        raise BackendUnavailable("no answer within 60 s")

    found = ask_group(ScriptedBackend(down), ENTAIL, "entail", [(sentences(), ["a"])] * 2, prompt="Judge.")
    assert [failure.malformed for failure in found] == [False, False] and "60 s" in str(found[0])
