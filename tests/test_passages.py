"""Contexts that a file wrote down as text: which are lists, which are passages, which are refused, and in what time."""

import json

import numpy as np
import pytest
from helpers.patience import comes_back

from summeval_nb.core.files import require_passages

LISTS = [
    ["The mill burned down.", "It was rebuilt in 1904."],
    ["It's dry.", 'She said "no".', 'Both: it\'s "fine".'],
    ["Line one.\nLine two.", "A tab\there, a \\ there."],
    ["Ein Café, zwei Gärten.", "雨が降った。", "\U0001f600 and \u200b and \x07"],
    ["[1] A mark.", "], ['", "a, 'b', c"],
    ["Only one passage."],
    ["", "a"],
]


def test_a_list_that_was_written_down_is_read():
    writers = [str, json.dumps, lambda texts: json.dumps(texts, ensure_ascii=False, indent=2), lambda x: f"  {x}\n"]
    writers += [lambda texts: str(tuple(texts)), lambda texts: str(list(np.array(texts)))]
    writers += [lambda texts: str(np.array(texts, dtype=object)), lambda texts: repr(np.array(texts, dtype=object))]
    for texts in LISTS:
        for written in writers:
            assert require_passages(written(texts), "contexts") == texts
    assert require_passages("[]", "contexts") == []


def test_a_passage_stays_a_passage_and_a_list_that_cannot_be_read_is_refused():
    for text in [
        "[1] The mill burned down.",
        "[1, 2, 3]",
        "('The mill burned down.')",
        '["We won," he said, "and they lost."]',
        '["A", "B" and "C" are the grades.] There are no others.',
        "['a', 'b'] is how Python prints a list.",
        "['a', __import__('os').system('true'), 'b']",
        '{"a": "b"}',
        "[[wiki link]] and [[another]]",
        "[",
        "",
    ]:
        assert require_passages(text, "contexts") == [text]
    for text in [
        "['It's raining', 'It is dry']",
        "['The mill burned down.', 'It was reb",
        "['a' 'b' ... 'y' 'z']",
        "['a', None]",
        "[['a', 'b'], ['c']]",
        "[{'text': 'a'}, {'text': 'b'}]",
        "[Document(page_content='a', metadata={})]",
        r"['a \U00110000', 'b']",
        '["a", null]',
    ]:
        said = r"contexts looks like the text of a list .* json\.loads .* ast\.literal_eval"
        with pytest.raises(ValueError, match=said):
            require_passages(text, "contexts")
    with pytest.raises(TypeError, match="contexts must be a string or a list of strings, not NoneType"):
        require_passages(None, "contexts")
    assert require_passages(["['a', 'b']"], "contexts") == ["['a', 'b']"]


def test_time_is_linear_in_the_length():
    for text in (
        "[" * 100_000 + "]",
        "['" + "a" * 100_000,
        "['" + "\\'" * 50_000 + "]",
        "['a', " * 20_000 + "]",
        "array([" + "'a', " * 20_000,
    ):
        with comes_back():
            try:
                require_passages(text, "contexts")
            except ValueError as error:
                assert len(str(error)) < 400
