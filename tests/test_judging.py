"""Typed replies or typed failures; questions past a store: asked once, checked when read, failures never kept."""

import dataclasses

import pytest
from pydantic import TypeAdapter, ValidationError

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
)
from summeval_nb.judged.session import ask_many


def test_a_reply_comes_back_from_plain_data_as_it_was():
    for reply in [
        Passage(text="It rained.", start=0, end=10, similarity=0.5),
        Keyphrase(text="rain", weight=2.0),
        Question(text="Did it rain?", statement="It rained.", keyphrases=("rain",)),
        Answer(value=1, probability=0.9, evidence=(Passage(text="It rained.", start=0, end=10),)),
        Resolution(units=("It rained.",), note="nothing was replaced"),
    ]:
        adapter = TypeAdapter(type(reply))
        assert adapter.validate_python(adapter.dump_python(reply, mode="json")) == reply
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(reply, dataclasses.fields(reply)[0].name, "other")
    for value in (2, "maybe"):
        with pytest.raises(ValidationError):
            TypeAdapter(Answer).validate_python({"value": value})
    assert TypeAdapter(Answer).validate_python({"value": None}).value is None


def test_impossible_answers_cannot_be_made_and_an_undecided_flag_is_not_false():
    for make in (
        lambda: Flag(value=None),
        lambda: Flag(value=True, probability=1.5),
        lambda: Entailment(label=None),
        lambda: bool(Flag(value=None, reason="no probability yet")),
    ):
        with pytest.raises(ValueError, match="reason|probability"):
            make()


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
    judge, store = Flaky(), str(tmp_path / "judge.sqlite")
    assert isinstance(judge, Judge)
    items = [("sorry",), ("fail",), ("fine",), ("sorry",)]
    first = ask_many(judge, "refusal", items, store=store)
    assert judge.asked == ["sorry", "fail", "fine"]
    assert isinstance(first[1], JudgeFailure) and first[0] == first[3] == Flag(value=True, probability=0.5)
    judge.mended, judge.asked = True, []
    second = ask_many(judge, "refusal", items, store=store)
    assert judge.asked == ["fail"] and second[1] == Flag(value=False, probability=0.5)
    with pytest.raises(ValueError, match="entail"):
        ask_many(judge, "praise", [])
    judge.is_refusal = lambda text: Flag(value="perhaps")
    with pytest.raises(ValidationError):
        ask_many(judge, "refusal", [("No idea.",)])
