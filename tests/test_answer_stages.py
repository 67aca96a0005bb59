"""The stages of judging answers, each by itself; what they make together stands in test_answers.py."""

import pytest

from summeval_nb.judged._answer_stages import (
    asking,
    check_row,
    make_units,
    notes_of,
    opening,
    premise_of,
    question_end,
    split_texts,
    table_records,
    tag_pairs,
    why_no_score,
)
from summeval_nb.judged.judging import Flag, JudgeFailure, Resolution

WANTED = {"contexts": ("contexts", "context"), "summary": ("summary",)}


def test_records_of_a_table_have_the_wanted_names():
    assert table_records({"contexts": [["a"]], "summary": ["b"]}, WANTED) == [{"contexts": ["a"], "summary": "b"}]
    assert table_records([{"context": "a", "summary": "b"}], WANTED) == [{"contexts": "a", "summary": "b"}]


@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        ([{"context": "a"}], ValueError, "row 0 has no column 'summary'; it has"),
        ({"context": ["a"], "summary": []}, ValueError, "same length"),
        (["a"], TypeError, "row 0 must be a dictionary, not str"),
        ({"context": ["a"], "summary": "b"}, TypeError, "the column 'summary' must be a list, not str"),
        ({"context": ["a"], "summary": 5}, TypeError, "the column 'summary' must be a list, not int"),
        (5, TypeError, "table must be a table, not int .5.: pass a DataFrame"),
        (None, TypeError, "table must be a table, not NoneType"),
        ("", TypeError, "table must be a table, not str"),
        ("a.jsonl", TypeError, "table must be a table, not str .'a.jsonl'."),
    ],
)
def test_bad_tables_are_named(table, error, words):
    with pytest.raises(error, match=words):
        table_records(table, WANTED)


def test_flags_and_empty_texts_say_why_there_is_no_score():
    refused, given = Flag(value=True), Flag(value=False)
    row = check_row(["It rained."], "How was it?", "It rained.", "I don't know.")
    names = ("answer_given_context", "answer_given_truth", "truth_given_answer")
    says = {"answer": refused, "ground_truth": given}
    assert [bool(why_no_score(name, row, says, False)) for name in names] == [True, True, True]
    says = {"answer": given, "ground_truth": refused}
    assert [bool(why_no_score(name, row, says, False)) for name in names] == [False, True, True]
    assert [why_no_score(name, row, says, True) for name in names] == ["", "", ""]
    assert why_no_score(names[0], check_row([" "], "", "a", "b"), says, False) == "the context is empty"


def test_the_opening_and_the_end_of_a_question():
    assert opening("One. Two. Three. Four.") == "One. Two. Three." and opening("") == ""
    assert question_end("Mails are late since May. What should we check?") == "What should we check?"
    assert question_end("") == ""


def test_units_keep_their_place_and_their_reading():
    text = "Marie Curie was born in Warsaw in 1867. She won the Nobel Prize twice."
    units = make_units(text, Resolution(units=("Marie Curie was born.", "Marie Curie won the Nobel Prize twice.")))
    assert units[1].resolved.startswith("Marie") and text[units[1].place.start :].startswith("She won")


def test_the_premise_is_resolved_and_holds_the_end_of_the_question():
    ask = asking("embedded", None, False)
    row = check_row(
        "c",
        "It was the middle of May. Was there a match on Sunday?",
        "There was none.",
        "The ferry runs. It stops at six today.",
    )
    parts = split_texts([row.answer, row.ground_truth], ask)
    assert premise_of("answer_given_truth", row, parts) == "Was there a match on Sunday?\n\nThere was none."
    assert premise_of("answer_given_context", row, parts) == "c" and notes_of(row, parts) == ()


def test_a_failure_stands_on_each_statement():
    def ask(purpose, items):
        if purpose == "entail":
            return [JudgeFailure("entail", "no reply") for _ in items]
        return asking("embedded", None, False)(purpose, items)

    row = check_row("It rained.", "?", "It rained.", "It rained, but the match was played.")
    parts = split_texts([row.answer], ask)
    ((premise, ((unit, tagged),)),) = tag_pairs([row], [(0, "answer_given_context")], parts, ask).values()
    assert premise == "It rained." and unit.resolved == row.answer and len(tagged) == 2
    assert all(tag.failed and "no reply" in tag.reason for _, tag in tagged)
