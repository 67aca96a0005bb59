"""Edited directly. ROUGE of one text in plain Python: counts, then chapter 33's formula; tests/test_without_numpy.py.

Nothing here needs numpy or a compiled library, so that it runs in a browser, too. Many texts are counted by arrays
(`_rouge.py`), to the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import TYPE_CHECKING

from ._lcs import common_length, union_matches, weighted_counts
from .counting import SKIP_TYPES, count_pairs, shared_pairs
from .ngrams import clipped_counts

if TYPE_CHECKING:
    from .rouge import Rouge, RougeItem

__all__ = ["CutText", "Formula", "combine_references", "count_matches"]

Formula = Callable[[float, float, float, float], "RougeItem"]


@dataclass(frozen=True)
class CutText:
    """A text and its tokens, as a whole and by lines."""

    text: str
    options: Rouge

    @cached_property
    def tokens(self) -> list[Hashable]:
        """The tokens of the whole text."""
        return list(self.options.cut(self.text))

    @cached_property
    def lines(self) -> list[tuple[Hashable, ...]]:
        """The tokens of every line that has some."""
        cut = (tuple(self.options.cut(line)) for line in self.text.split("\n") if line)
        return [tokens for tokens in cut if tokens]


def count_matches(kind: str, made: CutText, wanted: CutText) -> tuple[float, ...]:
    """Return (matches, made, wanted) of a text and one reference; for ROUGE-W also the length weighted once."""
    if kind == "rougeW":
        options = made.options
        return weighted_counts(wanted.lines, made.lines, options.weight, options.compat)
    if kind == "rougeLsum":
        sizes = (sum(map(len, side.lines)) for side in (made, wanted))
        return union_matches(wanted.lines, made.lines, {}), *sizes
    left, right = made.tokens, wanted.tokens
    if kind in SKIP_TYPES:
        return shared_pairs(left, right, kind), count_pairs(len(left), kind), count_pairs(len(right), kind)
    if kind == "rougeL":
        return common_length(left, right), len(left), len(right)
    n = int(kind[5:])
    matches = sum(shared for _, _, shared in clipped_counts(left, [right], n).values())
    return matches, max(len(left) - n + 1, 0), max(len(right) - n + 1, 0)


def combine_references(counts: Sequence[tuple[float, ...]], kind: str, options: Rouge, formula: Formula) -> RougeItem:
    """Return precision, recall and F1 from what was counted beside each reference."""
    exponent = 1 / options.weight if kind == "rougeW" else 1.0
    if options.combining == "pooled":
        matches, made, wanted = (_total(column) for column in list(zip(*counts, strict=True))[:3])
        return formula(matches, made, wanted, exponent)
    each = [formula(one[0], one[1], one[2], exponent) for one in counts]
    if options.combining == "average":
        return type(each[0])(*(_total(column) / len(each) for column in zip(*each, strict=True)))
    if options.combining == "best":
        deciding = [item.f1 for item in each]
    elif kind == "rougeW":  # by which ROUGE-1.5.5 chooses the best
        deciding = [(one[0] / max(one[3], 1)) ** exponent for one in counts]
    else:
        deciding = [item.recall for item in each]
    return each[deciding.index(max(deciding))]  # the first of several best


def _total(values: Sequence[float]) -> float:
    """Add up from left to right: the built-in `sum` does so until Python 3.11, and from 3.12 on another way."""
    return reduce(add, values)
