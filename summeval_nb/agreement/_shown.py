# A plain private module: edited here, exported by no notebook, tested in tests/test_agreement.py.
"""A correlation in words and as a picture, and the reason where there is none (chapters 51 and 53)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from summeval_nb.ground.html import axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def in_words(score: float | None, interval: tuple[float, float] | None, reason: str) -> str:
    """The number with its interval, or why there is none."""
    if score is None:
        return f"undefined: {reason}"
    return f"{score:.3f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")


def histogram(
    values: np.ndarray,
    score: float | None,
    interval: tuple[float, float] | None,
    title: str,
    label: str,
    ax: Axes | None,
) -> Axes:
    """Draw values as a histogram with a line at the score and a band for the interval."""
    ax = axes_for(ax, 6, 3)
    if len(values):
        ax.hist(values, bins=40, color="#8fc1e8", edgecolor="white")
    if interval:
        ax.axvspan(*interval, color="#f2eee6", zorder=0)
    if score is not None:
        ax.axvline(score, color="#b34700", linewidth=2)
    ax.set(title=title, xlabel=label, ylabel="count")
    return ax


def why_undefined(x: np.ndarray, y: np.ndarray, level: str) -> str:
    """Why the correlation of two tables is undefined."""
    missing = np.isnan(x) | np.isnan(y)
    if missing.all():
        return "no cell has a value in both tables"
    if x.shape[1] < 2 and level != "pooled":
        return f"a {level}-level correlation needs at least two systems, and there is one"
    for name, table in (("metric", x), ("human", y)):
        present = table[~missing]
        if present.min() == present.max():
            return f"all {name} values are the same ({present[0]:g}), and nothing correlates with a constant"
    where = {
        "summary": "in every single article",
        "system": "over the system means",
        "pooled": "over all cells",
    }[level]
    return f"one side is constant, or fewer than two cells are present, {where}"
