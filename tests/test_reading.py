"""Replies that should be JSON: what is read of them, what is refused and with which remedy, and in what time."""

import json

import pydantic
import pytest
from helpers.patience import comes_back
from servers.misbehaving import MisbehavingServer, completion

from summeval_nb.models import InvalidOutput, ScriptedBackend, ServerBackend


class Grade(pydantic.BaseModel):
    grade: int = pydantic.Field(ge=1, le=5)
    why: str
    parts: list[dict[str, str]] = []


GOOD = '{"grade": 4, "why": "a } and a {, a \\"quote\\", a </b>", "parts": [{"a": "b,]"}, {}]}'
VALUE = Grade(**json.loads(GOOD))


def asked(reply: str) -> Grade:
    return ScriptedBackend(lambda prompt: reply).generate_json("q", Grade, max_tokens=99)


def test_an_object_is_read_whatever_is_around_it():
    for reply in (
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Sure! My grade, as JSON:\n\n{GOOD}\n\nLet me know {{if}} it isn't clear.",
        f'The set {{x, y}} is "fine". {GOOD}',
        GOOD.replace("{}]}", "{},\n ],\n}"),
        f"<think>Is it {{x}}? Maybe a 2.</think>{GOOD}",
        f'<think>\nPerhaps {{"grade": 1, "why": "no"}}.\n</think>\n\n{GOOD}',
        f'so {{"grade": 1, "why": "no"}} is too low\n</think>\n\n{GOOD}',
        f'The form is {{"grade": "1 to 5", "why": "..."}}. So: {GOOD}',
        f'{{"n": {"1" * 5000}}} {GOOD}',  # more digits than Python takes for a number
        f'{{"a" or "b"}}, or {{x: {{"grade": 1, "why": "no"}}}}: {GOOD}',
    ):
        assert asked(reply) == VALUE


def failure(reply: str) -> str:
    with pytest.raises(InvalidOutput, match="the reply is no valid Grade") as caught:
        asked(reply)
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_only_a_reply_that_was_cut_off_asks_for_tokens():
    for reply in (
        '{"grade": 4, "why": "it is',
        '```json\n{"grade": 4,',
        "<think>Let me look at the first sentence",
        '{"grade": 4, "why": "a \\',
    ):
        said = failure(reply)
        assert "raise max_tokens above 99" in said and " ".join(reply.split())[:12] in said.replace("\\\\", "\\")
    for reply in ("I cannot grade this text, sorry.", "Four of five, I'd say {about}.", "[1", "", "4"):
        said = failure(reply)
        assert "max_tokens" not in said and "rephrase the prompt" in said and reply in said


def test_an_object_of_another_form_is_refused_and_a_failure_shows_200_characters():
    said = failure('```json\n{"grade": 9, "why": "good"}\n```')
    assert "less than or equal to 5" in said and "max_tokens" not in said and "keeps to the schema" in said
    assert "Field required" in failure('{"grade": 4}')
    assert "several objects that differ" in failure(f'{GOOD} or {{"grade": 1, "why": "no"}}')
    said = failure("No, \x1b[2J\u202e" + "n" * 500 + "END")
    assert "n" * 190 in said and "n" * 201 not in said and "END" not in said


def test_time_is_linear_in_the_length():
    repeated = ["{", '{"', '{"a":', '"\\', "{}", '{"a":1} ', "<think>", "</think>{", "```json\n"]
    replies = [part * (100_000 // len(part)) for part in repeated]
    replies += ['{"a":' * 20_000 + "1" + "}" * 20_000, '{"' + '\\"' * 50_000, '{"a": [' + ",\n " * 30_000]
    for reply in [*replies, "{ " + " " * 100_000 + "x"]:
        with comes_back():
            assert len(failure(reply)) < 800


KEY = "sk-very-secret-0123456789"


def served(server: MisbehavingServer) -> ServerBackend:
    return ServerBackend("scripted", base_url=server.url, api_key=KEY, timeout=5, max_retries=0)


@pytest.mark.parametrize("text", ["", "First I look at", "I look { at"])
def test_a_server_that_says_length_asks_for_tokens(text, monkeypatch):
    with MisbehavingServer(json_reply=text) as server:
        backend = served(server)
        assert "rephrase" in str(error_of(backend)) and "max_tokens" not in str(error_of(backend))
        monkeypatch.setattr("servers.misbehaving.completion", cut_off)
        assert "raise max_tokens above 44" in str(error_of(backend)) and text[:12] in str(error_of(backend))
        server.json_reply = f"{GOOD} and then"
        assert backend.generate_json("Grade.", Grade) == VALUE


def cut_off(*arguments, **message):
    found = completion(*arguments, **message)
    found["choices"][0]["finish_reason"] = "length"
    return found


def error_of(backend) -> InvalidOutput:
    with pytest.raises(InvalidOutput, match="no valid Grade") as caught:
        backend.generate_json("Grade.", Grade, max_tokens=44)
    return caught.value


def test_a_server_that_repeats_the_key_is_not_quoted():
    with MisbehavingServer(json_reply=f"{'x' * 190} {KEY}") as server:
        assert "sk-very" not in str(error_of(served(server)))
