"""Answers of a judge past a store: asked once, checked when read, failures never kept."""

import pytest
from pydantic import ValidationError

from summeval_nb.judged._questions import adapter, answered, plain, word_list
from summeval_nb.judged.judging import Flag, JudgeFailure, Question, ask_many
from summeval_nb.models.store import Store


def test_words():
    assert word_list("The Bridge, 1931!") == ["the", "bridge", "1931"]
    assert word_list("今日はrain") == ["今", "日", "は", "rain"]


def test_keys_are_of_plain_data():
    question = Question(text="Did it rain?", statement="It rained.")
    assert plain(("a", [question]))[1][0]["statement"] == "It rained."
    assert plain(Flag) is Flag


def test_answers_are_asked_once_and_failures_again(tmp_path):
    asked = []

    def ask(purpose, items):
        asked.extend(items)
        return [JudgeFailure(purpose, "no reply") if text == "" else Flag(value=len(text) > 2) for (text,) in items]

    def call():
        items = [("no",), ("yes",), ("",), ("yes",)]
        how = {"batch_size": 8, "progress": ""}
        return answered(ask, "me", "refusal", Flag, items, Store(tmp_path / "kept.sqlite"), JudgeFailure, **how)

    first, again = call(), call()
    assert [one.value for one in first if isinstance(one, Flag)] == [False, True, True]
    assert isinstance(first[2], JudgeFailure) and isinstance(again[2], JudgeFailure)
    assert first[:2] == again[:2] and asked == [("no",), ("yes",), ("",), ("",)]


def test_what_a_judge_says_in_the_wrong_type_is_refused():
    with pytest.raises(ValidationError):
        adapter(Flag).validate_python({"value": "perhaps"})
    assert adapter(Flag) is adapter(Flag)


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
