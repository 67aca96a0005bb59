"""What a language model is shown, the schemas of its replies, and what is done with a reply that cannot be used."""

import pytest
from pydantic import TypeAdapter, ValidationError

from summeval_nb.judged.cases import (
    ask_group,
    exactly,
    named_passages,
    numbered,
    of_sentences,
    read_questions,
    read_units,
    reply_schema,
    tasks,
)
from summeval_nb.judged.judging import PURPOSES, JudgeFailure, premise_sentences
from summeval_nb.judged.llm import PROMPTS, LLMJudge
from summeval_nb.models.base import BackendUnavailable, ScriptedBackend

SENTENCES = premise_sentences(
    "The bridge opened in 1931. It is 1,149 metres long. Some 40,000 cars cross it every day."
)
ENTAIL = LLMJudge._tasks["entail"]
ENTAILED = {"label": "entailed", "evidence": [1]}


def test_there_is_a_task_for_every_question_but_the_choice():
    assert set(LLMJudge._tasks) | {"refusal"} == set(PURPOSES) == (set(PROMPTS) - {"one entail", "one answer"})
    assert tasks(lambda texts, of: (texts, of))["statements"].read(["It rained."], "It rained.") == (
        ["It rained."],
        "It rained.",
    )


def test_a_reply_holds_exactly_the_verdicts_that_were_asked_for():
    two = TypeAdapter(ENTAIL.reply(SENTENCES, ["a", "b"]))
    assert [one.label for one in two.validate_python([ENTAILED, ENTAILED])] == ["entailed", "entailed"]
    for short in ([ENTAILED], [ENTAILED] * 3, [{"label": "yes", "evidence": []}] * 2):
        with pytest.raises(ValidationError):
            two.validate_python(short)
    schema = reply_schema(ENTAIL, [(SENTENCES, ["a"])]).model_json_schema()
    number = next(iter(schema["$defs"].values()))["properties"]["evidence"]["items"]
    assert (number["minimum"], number["maximum"]) == (1, 3)
    assert of_sentences.cache_info().currsize and exactly(str, 2)


def test_what_a_case_shows_and_how_much_room_a_reply_has():
    assert numbered(SENTENCES)[0] == "1. The bridge opened in 1931."
    assert ENTAIL.case(SENTENCES, ["a"]) == {"premise": numbered(SENTENCES), "statements": ["a"]}
    assert ENTAIL.tokens(SENTENCES, ["a", "b"]) == 120


def test_evidence_must_exist():
    assert [one.text for one in named_passages([1, 1], SENTENCES)] == ["The bridge opened in 1931."]
    with pytest.raises(ValueError, match="sentence 4 of 3"):
        named_passages([4], SENTENCES)


def test_units_are_resolved_and_not_rewritten():
    assert read_units(["Ada studied physics."], ["She studied physics."]) == ["Ada studied physics."]
    with pytest.raises(ValueError, match="rewritten"):
        read_units(["Something else altogether."], ["She studied physics."])


def test_a_question_without_a_word_of_the_text_is_refused():
    asked = TypeAdapter(LLMJudge._tasks["questions"].reply("It rained.", ["rain"]))
    good, bad = ([{"question": "Did it?", "statement": one}] for one in ("It rained.", "Snow fell on Monday."))
    (found,) = read_questions(asked.validate_python(good), "It rained.", ["rain"])
    assert found.keyphrases == ("rain",)
    with pytest.raises(ValueError, match="not made of the text"):
        read_questions(asked.validate_python(bad), "It rained.", ["rain"])


def test_one_bad_case_does_not_spoil_its_neighbour():
    reply = '{"case_1": [{"label": "entailed", "evidence": [1]}], "case_2": [{"label": "entailed", "evidence": [2]}]}'
    shown = []
    backend = ScriptedBackend(lambda prompt: shown.append(prompt) or reply)
    cases = [(SENTENCES, ["a"]), (SENTENCES[:1], ["b"])]
    good, bad = ask_group(backend, ENTAIL, "entail", cases, prompt="Judge.", complaint="It was short.")
    assert good[0].label == "entailed" and isinstance(bad, JudgeFailure) and bad.malformed and "2 of 1" in str(bad)
    assert "It was short." in shown[0] and "Case 2: " in shown[0] and shown[0].endswith("Reply with JSON.")


def test_a_dead_server_is_a_failure_of_every_case_and_not_worth_a_retry():
    def down(prompt):
        raise BackendUnavailable("no answer within 60 s")

    found = ask_group(ScriptedBackend(down), ENTAIL, "entail", [(SENTENCES, ["a"])] * 2, prompt="Judge.")
    assert [one.malformed for one in found] == [False, False] and "60 s" in str(found[0])
