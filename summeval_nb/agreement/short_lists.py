"""The three coefficients of two short lists, in plain Python.

For the page of the site where Python runs in the reader's browser, which has neither numpy nor scipy. The formulas are
those of chapter 63: Spearman's ranks by signs, Kendall's tau-b by all pairs, so a list should be short.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

__all__ = ["coefficients"]


def coefficients(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Return Pearson's r, Spearman's rho and Kendall's tau-b of two lists of equal length.

    Raises
    ------
    ValueError
        If the lengths differ, there are fewer than two pairs, a number is not finite, or one list is constant.

    Examples
    --------
    >>> coefficients([1, 2, 3, 4, 5], [2, 1, 4, 3, 15])["kendall"]
    0.6
    """
    if len(x) != len(y):
        raise ValueError(f"both lists need equally many numbers: one a text, not {len(x)} and {len(y)}")
    if len(x) < 2:
        raise ValueError("a correlation needs at least two pairs of numbers")
    for numbers in (x, y):
        if strange := [number for number in numbers if not math.isfinite(number)]:
            raise ValueError(f"numbers must be finite, not {strange[0]}")
        if min(numbers) == max(numbers):
            raise ValueError(f"there is no correlation with a constant: every number of one list is {numbers[0]}")
    signs = [[[(a > b) - (a < b) for b in numbers] for a in numbers] for numbers in (x, y)]
    ranks = [list(map(sum, rows)) for rows in signs]
    agree, in_x, in_y = (
        sum(a * b for left, right in zip(signed, other, strict=True) for a, b in zip(left, right, strict=True))
        for signed, other in ((signs[0], signs[1]), (signs[0], signs[0]), (signs[1], signs[1]))
    )
    return {
        "pearson": statistics.correlation(x, y),
        "spearman": statistics.correlation(*ranks),
        "kendall": agree / math.sqrt(in_x * in_y),
    }
