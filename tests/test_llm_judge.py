"""The language model as a judge: checks, retries, grouping, windows, and real models held to the schema."""

import json
from collections import Counter

import pytest
from helpers.cases import ATTACKS, BRIDGE, STATEMENTS
from servers.fixtures import gguf_path, llama_server  # noqa: F401

from summeval_nb.judged.judging import (
    Answer,
    Entailment,
    Flag,
    JudgeFailure,
    Keyphrase,
    Question,
    Resolution,
    Statement,
)
from summeval_nb.judged.llm import PROMPTS, LLMJudge
from summeval_nb.models.base import BackendUnavailable, ContextTooLong, ScriptedBackend, example_model
from summeval_nb.models.local import TransformersBackend
from summeval_nb.models.server import ServerBackend

PREMISE = BRIDGE
QUESTIONS = [Question(text=f"Is it true that {s[:-1]}?", statement=s) for s in STATEMENTS]


def cases_of(prompt: str) -> list[dict]:
    return [json.loads(line.partition(": ")[2]) for line in prompt.splitlines() if line.startswith("Case ")]


def scripted(*replies):
    """A judge on a backend that gives these replies in turn (the last one for ever), and the prompts it saw."""
    prompts, left = [], list(replies)

    def respond(prompt):
        prompts.append(prompt)
        reply = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, str) else json.dumps(reply)

    return LLMJudge(ScriptedBackend(respond), workers=1), prompts


def label(name, *evidence):
    return {"label": name, "evidence": list(evidence)}


def test_labels_evidence_and_one_call():
    judge, prompts = scripted({"case_1": [label("entailed", 1), label("contradicted", 3), label("neutral")]})
    found = judge.entail(PREMISE, STATEMENTS)
    assert [entailment.label for entailment in found] == ["entailed", "contradicted", "neutral"]
    assert found[0].evidence[0].text == STATEMENTS[0]
    assert PREMISE[found[1].evidence[0].start :].startswith("Some 40,000")
    assert judge.calls == len(prompts) == 1 and PROMPTS["entail"] in prompts[0]


def test_a_malformed_reply_is_asked_for_once_more_and_a_backend_that_cannot_answer_is_not():
    for reply in (
        "entailed",  # no JSON
        "",
        {"case_1": [label("entailed")]},  # too few
        {"case_1": [label("entailed")] * 4},  # too many
        {"case_1": [label("entailed", 4)] * 3},  # evidence that is not there
        {"case_2": [label("entailed")] * 3},
    ):
        judge, prompts = scripted(reply, {"case_1": [label("neutral")] * 3})
        assert [entailment.label for entailment in judge.entail(PREMISE, STATEMENTS)] == ["neutral"] * 3
        assert judge.calls == 2 and "could not be used" in prompts[1] and "could not be used" not in prompts[0]
    for error in (BackendUnavailable("refused", remedy="start it"), ContextTooLong("9000 of 4096")):
        judge, _ = scripted(error)
        with pytest.raises(JudgeFailure, match=str(error.args[0])):
            judge.entail(PREMISE, STATEMENTS)
        assert judge.calls == 1


def test_a_bad_case_and_a_failed_window_do_not_spoil_their_neighbours():
    def respond(prompt):
        bad = ["bad" in case["premise"][0] for case in cases_of(prompt)]
        return json.dumps({f"case_{i}": [label("entailed", 99 if one else 1)] for i, one in enumerate(bad, 1)})

    judge = LLMJudge(ScriptedBackend(respond))
    found = judge.many("entail", [("All is good here.", ["It is."]), ("All is bad here.", ["It is."])])
    assert found[0][0].label == "entailed" and isinstance(found[1], JudgeFailure) and judge.calls == 2

    def respond(prompt):
        if "poison" in prompt:
            raise BackendUnavailable("down")
        counts = enumerate((len(case["statements"]) for case in cases_of(prompt)), 1)
        return json.dumps({f"case_{i}": [label("entailed", 1)] * count for i, count in counts})

    judge = LLMJudge(ScriptedBackend(respond), window=200, group=1)
    text = "The poison was found in the well. " * 8 + "The bridge opened in 1931. " * 8
    assert judge.entail(text, ["The bridge opened."])[0].label == "entailed"
    with pytest.raises(JudgeFailure, match="down"):
        judge.entail("The poison was found in the well. " * 8, ["The bridge opened."])


def test_statements_must_be_made_of_the_hypothesis_and_pronouns_are_resolved_by_unit():
    told = "She studied physics and taught in Prague."
    for statements in (
        ["She studied physics.", "She taught in Prague."],
        ["Marie Curie studied physics and taught in Prague."],
    ):
        found = scripted({"case_1": statements})[0].statements(told)
        assert [statement.text.rstrip(".") for statement in found] == [s.rstrip(".") for s in statements]
    foreign = ["She studied physics.", "Her husband discovered radium."]
    for statements in (["She won the Nobel Prize in 1911."], foreign, ["She."]):
        with pytest.raises(JudgeFailure):
            scripted({"case_1": statements})[0].statements(told)
    born = "Curie was born in Warsaw."
    found = scripted({"case_1": [born, "Curie won twice."]})[0].resolve_pronouns("", [born, "She won twice."])
    assert found.units[1] == "Curie won twice."
    judge, _ = scripted({"case_1": [born, "A wholly different sentence stands here."]})
    with pytest.raises(JudgeFailure, match="rewritten"):
        judge.resolve_pronouns("", [born, "She won twice."])


def test_keyphrases_and_questions():
    judge, _ = scripted({"case_1": ["cars", "bridge", "cars", "tram"]})
    found = judge.keyphrases(PREMISE, 4)
    assert [k.text for k in found] == ["cars", "bridge", "tram"] and found[2].start is None
    asked = {"question": "Do cars cross it?", "statement": "Cars cross it."}
    judge, _ = scripted({"case_1": [asked]})
    expected = Question(text="Do cars cross it?", statement="Cars cross it.", keyphrases=("cars",))
    assert judge.questions(PREMISE, ["cars"])[0] == expected
    for statement in (",", "Which one is a lie?", "Nothing of that."):
        judge, _ = scripted({"case_1": [{"question": "Is it?", "statement": statement}]})
        with pytest.raises(JudgeFailure, match="not made of the text"):
            judge.questions(PREMISE, ["cars"])
        assert judge.calls == 2


def test_refusals_and_probabilities_come_from_choices():
    judge, prompts = scripted("yes", "no")
    flags = judge.many("refusal", [("I cannot say.",), (" ",), ("It is 5.",)])
    assert [flag.value for flag in flags] == [True, None, False] and flags[0].probability == 1.0
    assert judge.calls == len(prompts) == 2  # the empty one was not asked about
    judge, _ = scripted(BackendUnavailable("down"))
    assert isinstance(judge.many("refusal", [("I cannot say.",)])[0], JudgeFailure)
    backend = ScriptedBackend(lambda prompt: "yes" if "Answer yes or no" in prompt else "contradicted")
    judge = LLMJudge(backend, probabilities=True)
    found = judge.entail(PREMISE, STATEMENTS)
    assert [(one.label, one.probability) for one in found] == [("contradicted", 0.0)] * 3 and judge.calls == 3
    assert [(answer.value, answer.probability) for answer in judge.answer(PREMISE, QUESTIONS)] == [(1, 1.0)] * 3


def test_long_premises_are_read_in_windows_and_put_together():
    def respond(prompt):
        replies = {}
        for i, case in enumerate(cases_of(prompt), 1):
            premise = " ".join(case["premise"])
            assert len(premise) < 1500
            said = [s in premise for s in case["statements"]]
            replies[f"case_{i}"] = [label("entailed", 1) if yes else label("neutral") for yes in said]
        return json.dumps(replies)

    judge = LLMJudge(ScriptedBackend(respond), window=1000)
    long = "The committee met again on that day. " * 1400 + PREMISE
    found = judge.entail(long, STATEMENTS)
    assert len(long) > 50_000 and [entailment.label for entailment in found] == ["entailed", "neutral", "neutral"]
    assert judge.calls < 20
    assert long[found[0].evidence[0].start : found[0].evidence[0].end] in long


def test_texts_cannot_leave_their_place_in_a_prompt():
    for attack in ATTACKS:
        judge, prompts = scripted({"case_1": [label("neutral")]})
        judge.entail(f"{attack} {PREMISE}", [attack + " It rained."])
        (case,) = cases_of(prompts[0])
        assert attack.split("\n")[0] in " ".join(case["premise"]) and case["statements"] == [attack + " It rained."]
        assert "<|" not in prompts[0] and "[INST]" not in prompts[0]
        assert len(prompts[0].splitlines()) == len(PROMPTS["entail"].splitlines()) + 5


def test_what_a_fingerprint_holds():
    backend = ScriptedBackend(lambda prompt: "")
    options = ({}, {"probabilities": True}, {"window": 500}, {"prompts": {"entail": "Judge."}})
    assert len({LLMJudge(backend, **own).fingerprint for own in options}) == 4


SHORT = {
    "statements": [("It rained and it snowed.",)],
    "entail": [("It rained.", ["It rained.", "It snowed."])],
    "answer": [("It rained.", QUESTIONS[:2])],
    "keyphrases": [("It rained in Oslo.", 2)],
    "resolve": [("It rained.", ["It rained."])],
    "refusal": [("It rained.",), ("I don't know.",)],
}


def check_shapes(judge: LLMJudge) -> Counter:
    """Every task gives its type with the right counts, or a failure with a reason; returns how many of each."""
    kinds: Counter = Counter()
    for task, items in SHORT.items():
        for item, found in zip(items, judge.many(task, items), strict=True):
            kinds["failed" if isinstance(found, JudgeFailure) else "typed"] += 1
            if isinstance(found, JudgeFailure):
                assert found.reason
            elif task in ("entail", "answer"):
                assert len(found) == len(item[1])
                assert all(isinstance(reply, (Entailment, Answer)) for reply in found)
            elif task == "refusal":
                assert isinstance(found, Flag) and 0 <= found.probability <= 1
            elif task == "resolve":
                assert isinstance(found, Resolution) and len(found.units) == 1
            else:
                assert found and all(isinstance(part, (Statement, Keyphrase)) for part in found)
    return kinds


def test_the_tiny_llama_is_held_to_the_schema():
    assert check_shapes(LLMJudge(TransformersBackend(example_model())))["typed"] >= 2  # at least the choices


@pytest.mark.nightly
def test_a_real_server_is_held_to_the_schema(llama_server):  # noqa: F811
    backend = ServerBackend("example", base_url=llama_server, timeout=120)
    assert check_shapes(LLMJudge(backend))["typed"] >= 2
    local = LLMJudge(TransformersBackend(example_model()))
    for text in ("It rained.", "I don't know."):
        assert abs(LLMJudge(backend).is_refusal(text).probability - local.is_refusal(text).probability) < 0.01


def test_long_texts_give_units_phrases_and_questions_window_by_window():
    shown = []

    def respond(prompt):
        shown.append(cases_of(prompt))
        replies = {}
        for i, case in enumerate(shown[-1], 1):
            asked = [{"question": f"{k}?", "statement": k} for k in case.get("keyphrases", [])]
            replies[f"case_{i}"] = case["units"] if "units" in case else asked or [case["text"].split()[-1].strip(".")]
        return json.dumps(replies)

    judge = LLMJudge(ScriptedBackend(respond), window=200)
    text = "The bridge opened in 1931. " * 7 + "Some 40,000 cars cross it. " * 7
    assert [phrase.text for phrase in judge.keyphrases(text, 4)] == ["1931", "it"]
    assert [case["n"] for case in shown[0]] == [2, 2]
    assert [one.statement for one in judge.questions(text, ["cars", "1931"])] == ["1931", "cars"]
    units = [f"Unit {n} is here and it is long enough." for n in range(8)]
    assert judge.resolve_pronouns("", units).units == tuple(units) and len(shown[-1]) == 2
