# A plain private module. Edited directly: no notebook exports it; tested in tests/test_play.py.
"""How the table of the longest common subsequence is filled and walked back, step by step, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from summeval_nb.ground.base import require_count
from summeval_nb.overlap.rouge import lcs_table

_MOST_WORDS = 30  # a side: the table has to fit on a screen


class LcsStep(NamedTuple):
    """One step: what kind, at which cell, in words.

    `kind` is `"start"`, then `"equal"`, `"above"` or `"left"` while the table fills,
    `"keep"`, `"up"` or `"back"` on the way back, and `"done"`.
    """

    kind: str
    row: int
    column: int
    words: str


def lcs_steps(x: Sequence[str], y: Sequence[str]) -> list[LcsStep]:
    """Return how the table of `lcs_table(x, y)` is filled row by row, and how `lcs_path` walks back through it.

    Parameters
    ----------
    x, y : sequence of str
        The words of the reference (rows) and of the candidate (columns), at most 30
        each.

    Returns
    -------
    list of LcsStep
        The start, one step a cell, the way back, the end.

    Raises
    ------
    ValueError
        If a side has more than 30 words.

    Examples
    --------
    >>> [step.kind for step in lcs_steps(["a", "cat"], ["cat"])]
    ['start', 'above', 'equal', 'keep', 'done']
    """
    for name, words in (("reference", x), ("candidate", y)):
        if len(words) > _MOST_WORDS:
            raise ValueError(f"the {name} has {len(words)} words: the table holds {_MOST_WORDS}, pass a shorter text")
    table = lcs_table(x, y)
    start = "Row 0 and column 0 stand for no words at all: nothing is shared, so they hold 0."
    filled = [_fill_step(table, x, y, i, j) for i in range(1, len(x) + 1) for j in range(1, len(y) + 1)]
    back = _back_steps(table, x, y)
    kept = [x[step.row - 1] for step in reversed(back) if step.kind == "keep"]
    words = f"{len(kept)} word{'s' if len(kept) > 1 else ''}"
    end = f"The longest common subsequence has {words}: {' '.join(kept)}." if kept else "No word is shared."
    return [LcsStep("start", 0, 0, start), *filled, *back, LcsStep("done", 0, 0, end)]


def _fill_step(table: np.ndarray, x: Sequence[str], y: Sequence[str], i: int, j: int) -> LcsStep:
    above, left, corner = (int(table[i - 1, j]), int(table[i, j - 1]), int(table[i - 1, j - 1]))
    if x[i - 1] == y[j - 1]:
        words = f"“{x[i - 1]}” stands on both sides: one more than in the cell to the upper left, {corner} + 1"
        return LcsStep("equal", i, j, f"{words} = {table[i, j]}.")
    words = f"“{x[i - 1]}” and “{y[j - 1]}” differ: the greater of above ({above}) and left ({left})"
    kind = "left" if left > above else "above"
    return LcsStep(kind, i, j, f"{words} is {table[i, j]}.")


def _back_steps(table: np.ndarray, x: Sequence[str], y: Sequence[str]) -> list[LcsStep]:
    steps, i, j = [], len(x), len(y)
    while i and j:
        above, left = int(table[i - 1, j]), int(table[i, j - 1])
        if x[i - 1] == y[j - 1]:
            steps.append(LcsStep("keep", i, j, f"Way back: “{x[i - 1]}” on both sides; keep it, go to the upper left."))
            i, j = i - 1, j - 1
        elif left > above:
            steps.append(LcsStep("back", i, j, f"Way back: the words differ and left ({left}) is greater; go left."))
            j -= 1
        else:
            steps.append(LcsStep("up", i, j, f"Way back: the words differ and left ({left}) is not greater; go up."))
            i -= 1
    return steps


def require_step(step: int | None, last: int) -> int:
    """Return a step, counted from 0 and at most the last one; None is the last one."""
    chosen = last if step is None else require_count(step, "step", minimum=0)
    if chosen > last:
        raise ValueError(f"step must be at most {last}, the last one, not {step}")
    return chosen
