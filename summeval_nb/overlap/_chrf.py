"""Edited directly. chrF's counts for many pairs at once.

All texts of a lot are numbered together. The k-th time that a text has an n-gram is an item of its own, so that the
clipped count of two texts is how many items they share: one is marked in a table, the other looked up in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from .ngrams import NumberedTexts, Tokens, number_texts

__all__ = ["many_counts"]

_CHARACTERS, _PAIRS = 400_000, 50_000  # of a lot


def many_counts(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    char_order: int,
    word_order: int,
    clean: Callable[[str], str],
    cut: Callable[[str], Tokens],
) -> np.ndarray:
    """Return (candidate, reference, shared) n-grams of each order for every pair of a text and one of its references.

    `clean` gives the characters that count, `cut` the words. Shape (pairs, orders, 3), pairs in the order of the texts.
    """
    parts = [np.zeros((0, char_order + word_order, 3), np.int64)]
    for own, theirs, texts in _lots(candidates, references):
        items = [_Items(_number_characters([clean(text) for text in texts]), char_order)]
        if word_order:
            items.append(_Items(number_texts(texts, cut), word_order))
        shared = np.concatenate([some.shared(own, theirs) for some in items], axis=1)
        lengths = np.concatenate([some.lengths for some in items], axis=1)
        parts.append(np.stack([lengths[own], lengths[theirs], shared], axis=2))
    counts = np.concatenate(parts)
    counts[..., 0] *= counts[..., 1] > 0  # without an n-gram in the reference there is nothing to be right about
    return counts


def _lots(
    candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> Iterator[tuple[list[int], list[int], list[str]]]:
    """Yield, lot by lot, the numbers of both texts of every pair, and the different texts of the lot."""
    own: list[int] = []
    theirs: list[int] = []
    places: dict[str, int] = {}
    size = 0
    for text, group in zip(candidates, references, strict=True):
        for one in (text, *group):
            if one not in places:
                places[one] = len(places)
                size += len(one)
        theirs += [places[one] for one in group]
        own += [places[text]] * len(group)
        if size >= _CHARACTERS or len(own) >= _PAIRS:
            yield own, theirs, list(places)
            own, theirs, places, size = [], [], {}, 0
    if own:
        yield own, theirs, list(places)


def _number_characters(texts: Sequence[str]) -> NumberedTexts:
    """Number the characters of texts, from 0 without gaps."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    seen = np.zeros(int(codes.max(initial=0)) + 1, bool)
    seen[codes] = True
    return NumberedTexts((np.cumsum(seen) - 1)[codes], np.fromiter(map(len, texts), np.int64, len(texts)))


class _Items:
    """The n-grams of some texts, for all orders, as numbers; a text's items stand together, in order of their order."""

    def __init__(self, tokens: NumberedTexts, orders: int) -> None:
        self.lengths = np.maximum(tokens.lengths[:, None] - np.arange(orders), 0)  # (texts, orders)
        self.ends = np.cumsum(self.lengths.sum(axis=1))
        self.offsets = np.cumsum(self.lengths, axis=1) - self.lengths
        self.numbers = np.zeros(int(self.lengths.sum()), np.int64)
        self.count = 0  # different numbers
        self._fill(tokens, orders)

    def _fill(self, tokens: NumberedTexts, orders: int) -> None:
        owners, size = tokens.owners(), len(tokens.numbers)
        room = (tokens.ends[owners] - np.arange(size)).astype(np.int32)  # tokens left in the text, this one included
        block = (self.ends - self.lengths.sum(axis=1) - (tokens.ends - tokens.lengths))[owners] + np.arange(size)
        narrow = tokens.numbers.astype(np.uint16 if tokens.numbers.max(initial=0) < 1 << 16 else np.int64)
        place = np.arange(size)  # where n-grams begin, equal ones side by side, in the order of the texts
        gram = np.zeros(size, np.int64)  # the n-gram without its last token
        for order in range(orders):
            last = narrow[place + order]
            ranked = np.argsort(last, kind="stable")
            place, last, gram = place[ranked], last[ranked], gram[ranked]
            number = np.arange(len(place))
            new = np.ones(len(place), bool)
            new[1:] = (last[1:] != last[:-1]) | (gram[1:] != gram[:-1])
            owner = owners[place]
            run = new.copy()
            run[1:] |= owner[1:] != owner[:-1]
            first, start = (np.maximum.accumulate(np.where(flags, number, 0)) for flags in (new, run))
            self.numbers[block[place] + self.offsets[owner, order]] = self.count + first + number - start
            self.count += len(place)
            gram = first
            if order + 1 < orders:
                longer = room[place] > order + 1
                place, gram = place[longer], gram[longer]

    def shared(self, own: Sequence[int], theirs: Sequence[int]) -> np.ndarray:
        """Return how many items of each order each pair of texts shares, shape (pairs, orders)."""
        result = np.zeros((len(own), self.lengths.shape[1]), np.int64)
        table = np.zeros(self.count, bool)
        found = np.zeros(int(self.lengths.sum(axis=1).max(initial=0)) + 1, bool)
        starts, ends = (self.ends - self.lengths.sum(axis=1)).tolist(), self.ends.tolist()
        pairs: dict[int, list[int]] = {}
        for pair, text in enumerate(theirs):
            pairs.setdefault(text, []).append(pair)
        for text, members in pairs.items():
            marked = self.numbers[starts[text] : ends[text]]
            table[marked] = True
            for pair in members:
                one = own[pair]
                size = ends[one] - starts[one]
                np.take(table, self.numbers[starts[one] : ends[one]], out=found[:size], mode="clip")
                found[size] = False  # so that an empty last order has a place to begin
                result[pair] = np.add.reduceat(found[: size + 1], self.offsets[one], dtype=np.int64)
            table[marked] = False
        return np.where(self.lengths[own] > 0, result, 0)
