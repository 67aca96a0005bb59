"""Typed replies or typed failures; questions past a store: asked once, checked when read, failures never kept."""

import dataclasses

import pytest
from pydantic import TypeAdapter, ValidationError
from servers.fixtures import gguf_path, llama_server  # noqa: F401

from summeval_nb.judged.judging import (
    Answer,
    Entailment,
    Flag,
    Judge,
    JudgeFailure,
    Keyphrase,
    Passage,
    Question,
    Resolution,
    as_statement,
    word_list,
)
from summeval_nb.judged.session import _adapter, _plain, ask_many
from summeval_nb.models.store import Store


def test_words():
    assert word_list("The Bridge, 1931!") == ["the", "bridge", "1931"]
    assert word_list("今日はrain") == ["今", "日", "は", "rain"]


def test_keys_are_of_plain_data():
    question = Question(text="Did it rain?", statement="It rained.")
    assert _plain(("a", [question]))[1][0]["statement"] == "It rained."
    assert _plain(Flag) is Flag


class Listens:
    """A judge that remembers what it was asked about, and fails on an empty text."""

    fingerprint = "listens-1"

    def __init__(self):
        self.asked = []

    def is_refusal(self, text):
        self.asked.append(text)
        if not text:
            raise JudgeFailure("refusal", "no reply")
        return Flag(value=len(text) > 2)


def test_answers_are_asked_once_and_failures_again(tmp_path):
    judge, items = Listens(), [("no",), ("yes",), ("",), ("yes",)]
    first, again = (ask_many(judge, "refusal", items, store=Store(tmp_path / "kept.sqlite")) for _ in range(2))
    assert [flag.value for flag in first if isinstance(flag, Flag)] == [False, True, True]
    assert isinstance(first[2], JudgeFailure) and isinstance(again[2], JudgeFailure)
    assert first[:2] == again[:2] and judge.asked == ["no", "yes", "", ""]


def test_what_a_judge_says_in_the_wrong_type_is_refused():
    with pytest.raises(ValidationError):
        _adapter(Flag).validate_python({"value": "perhaps"})
    assert _adapter(Flag) is _adapter(Flag)


class Bare:
    """A judge whose methods are called one by one."""

    fingerprint = "bare-1"

    def entail(self, premise, statements):
        raise JudgeFailure("entail", "the premise is empty")

    def is_refusal(self, text):
        return Flag(value=False, probability=0.0)


def test_a_judge_without_many_is_called_one_by_one():
    assert ask_many(Bare(), "refusal", [("No idea.",)]) == [Flag(value=False, probability=0.0)]
    (found,) = ask_many(Bare(), "entail", [("", ["It rained."])])
    assert isinstance(found, JudgeFailure) and found.reason == "the premise is empty"


REPLIES = [
    Passage(text="It rained.", start=0, end=10, similarity=0.5),
    Keyphrase(text="rain", weight=2.0),
    Question(text="Did it rain?", statement="It rained.", keyphrases=("rain",)),
    Answer(value=1, probability=0.9, evidence=(Passage(text="It rained.", start=0, end=10),)),
    Resolution(units=("It rained.",), note="nothing was replaced"),
]


@pytest.mark.parametrize("reply", REPLIES, ids=lambda reply: type(reply).__name__)
def test_a_reply_comes_back_from_plain_data_as_it_was(reply):
    adapter = TypeAdapter(type(reply))
    assert adapter.validate_python(adapter.dump_python(reply, mode="json")) == reply
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(reply, dataclasses.fields(reply)[0].name, "other")


def test_what_was_read_is_shown_where_it_is_not_the_text():
    assert Passage(text="rust", start=9, end=13).shown == "rust"
    assert Passage(text="rust", start=9, end=13, read="It does not cover rust").shown == "It does not cover rust"


@pytest.mark.parametrize("value", [2, "maybe"])
def test_an_answer_is_yes_or_no_or_failed(value):
    with pytest.raises(ValidationError):
        TypeAdapter(Answer).validate_python({"value": value})
    assert TypeAdapter(Answer).validate_python({"value": None}).value is None


# The types -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: Flag(value=None),
        lambda: Flag(value=True, probability=1.5),
        lambda: Entailment(label=None),
    ],
)
def test_impossible_answers_cannot_be_made(make):
    with pytest.raises(ValueError, match="reason|probability"):
        make()


def test_an_undecided_flag_is_not_false():
    with pytest.raises(ValueError, match="the server is down"):
        bool(Flag(value=None, reason="the server is down"))


@pytest.mark.parametrize(
    ("text", "start"), [("studied physics", 4), ("Studied", None), ("She taught.", None), ("in Prague.", 31)]
)
def test_statements_know_their_place(text, start):
    hypothesis = "She studied physics and taught in Prague."
    found = as_statement(text, hypothesis)
    assert found.start == start and found.rewritten == (start is None)
    assert start is None or hypothesis[found.start : found.end] == found.text


# Asking many ---------------------------------------------------------------------------------------------------------


class Flaky:
    """A judge that fails on some texts until it is mended, and counts what it is asked."""

    fingerprint = "flaky-1"

    def __init__(self):
        self.asked, self.mended = [], False

    def is_refusal(self, text):
        self.asked.append(text)
        if "fail" in text and not self.mended:
            raise JudgeFailure("refusal", "no reply")
        return Flag(value="sorry" in text, probability=0.5)

    def resolve_pronouns(self, text, units=None): ...
    def statements(self, hypothesis): ...
    def entail(self, premise, statements): ...
    def keyphrases(self, text, n=10): ...
    def questions(self, text, keyphrases): ...
    def answer(self, text, questions): ...


def test_failures_are_returned_and_asked_again_answers_are_not(tmp_path):
    judge, store = Flaky(), Store(tmp_path / "judge.sqlite")
    assert isinstance(judge, Judge)
    items = [("sorry",), ("fail",), ("fine",), ("sorry",)]
    first = ask_many(judge, "refusal", items, store=store)
    assert judge.asked == ["sorry", "fail", "fine"]
    assert isinstance(first[1], JudgeFailure) and first[0] == first[3] == Flag(value=True, probability=0.5)
    judge.mended, judge.asked = True, []
    second = ask_many(judge, "refusal", items, store=store)
    assert judge.asked == ["fail"] and second[1] == Flag(value=False, probability=0.5)


def test_a_store_is_its_path(tmp_path):
    path = tmp_path / "judge.sqlite"
    first = ask_many(Flaky(), "refusal", [("sorry",)], store=path)
    again = Flaky()
    assert ask_many(again, "refusal", [("sorry",)], store=str(path)) == first and again.asked == []


def test_an_unknown_purpose_is_named():
    with pytest.raises(ValueError, match="entail"):
        ask_many(Flaky(), "praise", [])
