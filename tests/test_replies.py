"""The small types of a judge's replies: fields that cannot be set later, written and read as plain data."""

import dataclasses

import pytest
from pydantic import TypeAdapter, ValidationError

import summeval_nb
from summeval_nb.judged import _replies, judging
from summeval_nb.judged._replies import Answer, Keyphrase, Passage, Question, Resolution

REPLIES = [
    Passage(text="It rained.", start=0, end=10, similarity=0.5),
    Keyphrase(text="rain", weight=2.0),
    Question(text="Did it rain?", statement="It rained.", keyphrases=("rain",)),
    Answer(value=1, probability=0.9, evidence=(Passage(text="It rained.", start=0, end=10),)),
    Resolution(units=("It rained.",), note="nothing was replaced"),
]


@pytest.mark.parametrize("name", _replies.__all__)
def test_the_chapter_and_the_package_have_the_same_types(name):
    assert getattr(judging, name) is getattr(_replies, name) is getattr(summeval_nb, name)


@pytest.mark.parametrize("reply", REPLIES, ids=lambda one: type(one).__name__)
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
