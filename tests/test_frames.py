"""Rows as a table, a table as rows, and axes to draw on: given ones stay, others are made."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from summeval_nb import SummEval, benchmark_checker, calibrate, compare_pairs, evaluate_answers
from summeval_nb.ground._frames import Rows, axes_for, frame_rows


class Two(Rows):
    def rows(self):
        yield {"n": 1}
        yield {"n": 2}


def test_rows_are_a_table():
    assert Two().to_frame()["n"].tolist() == [1, 2]
    with pytest.raises(NotImplementedError):
        Rows().to_frame()


def test_axes_are_given_or_new():
    ax = axes_for(None, 6, 3)
    assert ax.figure.get_size_inches().tolist() == [6, 3]
    assert axes_for(ax, 2, 2) is ax
    plt.close(ax.figure)


def test_a_table_as_rows():
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    assert frame_rows(frame) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


READERS = {
    "evaluate_answers": evaluate_answers,
    "compare_pairs": compare_pairs,
    "calibrate": calibrate,
    "benchmark_checker": lambda table: benchmark_checker("words", sets={"mine": table}),
    "from_records": SummEval.from_records,
}


@pytest.mark.parametrize("name", READERS)
def test_whoever_reads_a_table_refuses_two_columns_of_one_name(name):
    """Of which the last was read in silence."""
    table = pd.DataFrame([["Where?", "a", "b", "c"]], columns=["question", "answer", "truth", "answer"])
    with pytest.raises(ValueError, match="the table names a column twice, 'answer': rename one of them"):
        READERS[name](table)
