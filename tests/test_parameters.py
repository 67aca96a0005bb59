"""What is told once of parameters that functions share stands in the help of each."""

import inspect

import pytest

import summeval_nb as s
from summeval_nb.judged._parameters import entries, explained, sections

TOLD = """
Parameters
----------
judge : str
    Who judges.

    At length.
workers : int
    How many.

Raises
------
ValueError
    If there are none.
"""


def test_a_docstring_is_taken_apart():
    parts = sections(
        "First.\n\n    Parameters\n    ----------\n    a, b : int\n        Two.\n\n    Returns\n    -------\n    int"
    )
    assert list(parts) == ["", "Parameters", "Returns"] and parts[""] == "First."
    assert entries(parts["Parameters"]) == [(("a", "b"), "a, b : int\n    Two.")]
    assert entries("") == [] and entries("**choices\n    Some.")[0][0] == ("**choices",)


def test_own_words_come_first_and_the_order_is_the_signature_s():
    def ask(text, workers, judge, other=None):
        """Ask.

        Parameters
        ----------
        workers : int
            At most nine.
        text : str
            What.

        Examples
        --------
        >>> 1 + 1
        2
        """

    found = sections(explained(ask, TOLD).__doc__)
    assert list(found) == ["", "Parameters", "Raises", "Examples"]
    assert [heads for heads, _ in entries(found["Parameters"])] == [("text",), ("workers",), ("judge",)]
    assert "At most nine." in found["Parameters"] and "At length." in found["Parameters"]
    assert "How many." not in found["Parameters"]


def test_without_docstrings_nothing_is_explained():
    def silent(judge):
        pass

    assert explained(silent, TOLD).__doc__ is None


FUNCTIONS = [
    *("context_precision", "context_recall", "answer_faithfulness", "noise_sensitivity", "context_relevance"),
    *("answer_relevancy", "retrieval_scores", "compare_answers", "compare_pairs", "bradley_terry", "rank_systems"),
    "Rubric",
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_names_every_parameter_once_in_order(name):
    function = getattr(s, name)
    found = sections(function.__doc__)
    named = [name for heads, _ in entries(found["Parameters"]) for name in heads]
    assert named == list(inspect.signature(function).parameters)
    assert all(text.count("\n") for _, text in entries(found["Parameters"]))
    assert {"Raises", "Examples"} <= set(found)
