"""Edited directly. Texts as numbers, to count what a hundred thousand pairs share; tested in tests/test_ngrams.py.

Chapter 31 has the three ideas: count once, an n-gram is a pair, a clipped count is a longest common subsequence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from ..ground.base import np

__all__ = ["NumberedTexts", "as_sequences", "common_lengths", "in_order", "merge_greatest", "ngram_levels"]
__all__ += ["number_texts", "stable_order"]

Tokens = Sequence[Hashable]


@dataclass(frozen=True)
class NumberedTexts:
    """Texts as numbers: `numbers` holds the items of all texts in a row, `lengths` how many belong to each text."""

    numbers: np.ndarray
    lengths: np.ndarray

    @property
    def ends(self) -> np.ndarray:
        """Where each text ends in `numbers`."""
        return np.cumsum(self.lengths)

    def owners(self) -> np.ndarray:
        """Which text each item belongs to."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def number_texts(texts: Sequence[str], tokenizer: Callable[[str], Tokens]) -> NumberedTexts:
    """Tokenize texts and give every different token a number, from 0 in order of first appearance of its word."""
    plain: Any = tokenizer  # a tokenizer that goes word by word, or any function
    if not hasattr(plain, "split_word"):
        return _number_items([tokenizer(text) for text in texts])[0]
    words, names = _number_items([plain.clean(text).split() for text in texts])
    cut: list[Tokens] = [plain.split_word(word) for word in names]
    if plain.normalise is not None:
        cut = [[plain.normalise(str(token)) for token in found] for found in cut]
    pieces, _ = _number_items(cut)
    if (pieces.lengths == 1).all():
        return NumberedTexts(pieces.numbers[words.numbers], words.lengths)
    counts = pieces.lengths[words.numbers]  # tokens in each word of the texts
    starts = (pieces.ends - pieces.lengths)[words.numbers]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    totals = np.concatenate([[0], np.cumsum(counts)])[np.concatenate([[0], words.ends])]
    return NumberedTexts(pieces.numbers[np.repeat(starts, counts) + within], np.diff(totals))


def _number_items(lists: Sequence[Tokens]) -> tuple[NumberedTexts, list[Hashable]]:
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    flat = np.fromiter(
        map(numbers.__getitem__, chain.from_iterable(lists)),
        np.int64,
        int(lengths.sum()),
    )
    return NumberedTexts(flat, lengths), list(numbers)


def stable_order(*keys: np.ndarray) -> np.ndarray:
    """Return the order that sorts non-negative whole numbers by the last key, ties by the one before, and so on.

    Examples
    --------
    >>> stable_order(np.array([3, 1, 2]), np.array([1, 1, 0])).tolist()
    [2, 1, 0]
    """
    order = None
    for key in keys:
        shift, greatest = 0, int(key.max(initial=0))
        while shift == 0 or greatest >> shift:
            digit = (key >> shift if shift else key).astype(np.uint16)  # keeps the lower 16 bits
            if order is None:
                order = np.argsort(digit, kind="stable")
            else:
                order = order[np.argsort(digit[order], kind="stable")]
            shift += 16
    return np.arange(0) if order is None else order


def ngram_levels(tokens: NumberedTexts, n: int) -> Iterator[NumberedTexts]:
    """Yield the numbered n-grams of orders 1 to n; equal n-grams of one order have equal numbers."""
    starts, owners = np.arange(len(tokens.numbers)), tokens.owners()
    level = tokens
    for order in range(1, n + 1):
        if order > 1:
            inside = starts + order - 1 < tokens.ends[owners[starts]]
            starts, first = starts[inside], level.numbers[inside]
            numbers = _number_pairs(first, tokens.numbers[starts + order - 1])
            level = NumberedTexts(numbers, np.maximum(tokens.lengths - order + 1, 0))
        yield level


def _number_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    order = stable_order(second, first)
    a, b = first[order], second[order]
    numbers = np.zeros(len(order), np.int64)
    numbers[order[1:]] = np.cumsum((a[1:] != a[:-1]) | (b[1:] != b[:-1]))
    return numbers


_SURROGATES, _MORE_THAN_CHARACTERS = 0xD800, 0x110000 - 0x800


def in_order(items: NumberedTexts) -> NumberedTexts:
    """Return the same numbers, those of each text sorted."""
    return NumberedTexts(items.numbers[stable_order(items.numbers, items.owners())], items.lengths)


def as_sequences(items: NumberedTexts, *, ordered: bool = False) -> list[Sequence[Hashable]]:
    """Return each text's numbers as a string of one character a number (or as a list, beyond Unicode's room).

    With `ordered`, the numbers of each text are sorted first.
    """
    numbers = in_order(items).numbers if ordered else items.numbers
    ends = items.ends.tolist()
    bounds = list(zip([0, *ends], ends, strict=False))
    if len(numbers) and int(numbers.max()) >= _MORE_THAN_CHARACTERS:
        listed = numbers.tolist()
        return [listed[start:end] for start, end in bounds]
    codes = numbers.astype("<u4")
    codes[codes >= _SURROGATES] += 0x800
    whole = codes.tobytes().decode("utf-32-le")
    return [whole[start:end] for start, end in bounds]


def common_lengths(left: Sequence[Sequence[Hashable]], right: Sequence[Sequence[Hashable]]) -> np.ndarray:
    """Return the length of the longest common subsequence of each pair of sequences, as int64."""
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cpdist

    if not left:
        return np.zeros(0, np.int64)
    return cpdist(left, right, scorer=LCSseq.similarity, dtype=np.int32).astype(np.int64)


def merge_greatest(level: NumberedTexts, groups: Sequence[Sequence[int]]) -> NumberedTexts:
    """Return one list of n-grams per group of texts: each n-gram as often as the text that has it most often."""
    sizes = np.fromiter(map(len, groups), np.int64, len(groups))
    texts = np.fromiter(chain.from_iterable(groups), np.int64, int(sizes.sum()))
    lengths = level.lengths[texts]
    offsets = np.repeat((level.ends - level.lengths)[texts] - (np.cumsum(lengths) - lengths), lengths)
    numbers = level.numbers[offsets + np.arange(lengths.sum())]
    group = np.repeat(np.repeat(np.arange(len(groups)), sizes), lengths)
    member = np.repeat(np.arange(len(texts)), lengths)
    order = stable_order(member, numbers, group)
    group, numbers, member = group[order], numbers[order], member[order]
    if not len(order):
        return NumberedTexts(numbers, np.zeros(len(groups), np.int64))
    new = np.r_[True, (numbers[1:] != numbers[:-1]) | (group[1:] != group[:-1])]
    run = np.flatnonzero(new | np.r_[True, member[1:] != member[:-1]])  # one n-gram in one text
    counts = np.diff(np.r_[run, len(order)])
    first = np.flatnonzero(new[run])  # where the runs of one n-gram in one group begin
    greatest = np.maximum.reduceat(counts, first)
    kept = run[first]
    total = np.bincount(group[kept], weights=greatest, minlength=len(groups)).astype(np.int64)
    return NumberedTexts(np.repeat(numbers[kept], greatest), total)
