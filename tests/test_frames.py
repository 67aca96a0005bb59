"""Rows as a table, and axes to draw on: given ones stay, others are made."""

import matplotlib.pyplot as plt
import pytest

from summeval_nb.ground._frames import Rows, axes_for


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
