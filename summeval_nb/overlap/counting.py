"""Counting for many texts at once: texts as numbers, the n-grams that they share, and tables in the bits of integers.

Chapter 21 has the three ideas: count once, an n-gram is a pair, a clipped count is a longest common subsequence. A row
of a table of subsequences or of edit distances is one whole number, a column of it a bit (Hyyrö 2003 and 2004, after
Myers 1999 and Crochemore et al. 2001).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, count, islice
from typing import Any, NamedTuple

from summeval_nb.core.base import np

from .tokens import Tokens

__all__ = ["lcs_length"]


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
        return _number_items(map(tokenizer, texts))[0]
    words, names = _number_items(plain.clean(text).split() for text in texts)
    tokenized: list[Tokens] = [plain.split_word(word) for word in names]
    if plain.normalise is not None:
        tokenized = [[plain.normalise(str(token)) for token in found] for found in tokenized]
    pieces, _ = _number_items(tokenized)
    if (pieces.lengths == 1).all():
        return NumberedTexts(pieces.numbers[words.numbers], words.lengths)
    counts = pieces.lengths[words.numbers]  # tokens in each word of the texts
    starts = (pieces.ends - pieces.lengths)[words.numbers]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    totals = np.concatenate([[0], np.cumsum(counts)])[np.concatenate([[0], words.ends])]
    return NumberedTexts(pieces.numbers[np.repeat(starts, counts) + within], np.diff(totals))


def _number_items(lists: Iterable[Tokens]) -> tuple[NumberedTexts, list[Hashable]]:
    """Number items, one text at a time, so that no text's words are kept; return the different items as well."""
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    lengths: list[int] = []

    def each() -> Iterator[Tokens]:
        for items in lists:
            lengths.append(len(items))
            yield items

    flat = np.fromiter(map(numbers.__getitem__, chain.from_iterable(each())), np.int64)
    return NumberedTexts(flat, np.array(lengths, np.int64)), list(numbers)


def ngram_levels(tokens: NumberedTexts, n: int) -> Iterator[NumberedTexts]:
    """Yield the numbered n-grams of orders 1 to n; equal n-grams of one order have equal numbers."""
    places = np.arange(len(tokens.numbers))
    behind = np.repeat(tokens.ends, tokens.lengths) - places  # items from each to the end of its text
    level = tokens
    yield level
    for order in range(1, n):
        inside = behind[places] > order
        places, first = places[inside], level.numbers[inside]
        _, numbers = np.unique(first << 32 | tokens.numbers[places + order], return_inverse=True)
        level = NumberedTexts(numbers, np.maximum(tokens.lengths - order, 0))
        yield level


_SURROGATES, _MORE_THAN_CHARACTERS = 0xD800, 0x110000 - 0x800


def as_sequences(items: NumberedTexts, *, ordered: bool = False) -> list[Sequence[Hashable]]:
    """Return each text's numbers as a string of one character a number (or as a list, beyond Unicode's room).

    With `ordered`, the numbers of each text are sorted first.
    """
    numbers = items.numbers
    if ordered:  # by text, then by number
        numbers = np.sort(items.owners() << 32 | numbers) & 0xFFFFFFFF
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


def number_characters(texts: Sequence[str]) -> NumberedTexts:
    """Number the characters of texts, from 0 without gaps."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    seen = np.zeros(int(codes.max(initial=0)) + 1, bool)
    seen[codes] = True
    return NumberedTexts((np.cumsum(seen) - 1)[codes], np.fromiter(map(len, texts), np.int64, len(texts)))


class NumberedNgrams:
    """The n-grams of some texts as numbers, orders 1 to `orders`; the second "the cat" of a text has another number.

    So what a text shares with another is what stands in both, and of several references each n-gram has the greatest
    count. A text's numbers stand together, in order of their order; `lengths` says how many, shape (texts, orders).
    """

    def __init__(self, tokens: NumberedTexts, orders: int) -> None:
        self.lengths = np.maximum(tokens.lengths[:, None] - np.arange(orders), 0)
        self.ends = np.cumsum(self.lengths.sum(axis=1))
        self.offsets = np.cumsum(self.lengths, axis=1) - self.lengths
        self.numbers = np.zeros(int(self.lengths.sum()), np.int64)
        self.count = 0  # different numbers
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
            gram, start = (np.maximum.accumulate(np.where(flags, number, 0)) for flags in (new, run))
            self.numbers[block[place] + self.offsets[owner, order]] = self.count + gram + number - start
            self.count += len(place)
            longer = room[place] > order + 1
            place, gram = place[longer], gram[longer]

    def shared(self, own: Sequence[int], others: Sequence[tuple[int, ...]]) -> np.ndarray:
        """Return how many n-grams of each order each text shares with its others, taken together, (pairs, orders)."""
        result = np.zeros((len(own), self.lengths.shape[1]), np.int64)
        table = np.zeros(self.count, bool)
        sizes = self.lengths.sum(axis=1)
        found = np.zeros(int(sizes.max(initial=0)) + 1, bool)
        bounds = list(zip((self.ends - sizes).tolist(), self.ends.tolist(), strict=True))
        pairs: dict[tuple[int, ...], list[int]] = {}
        for pair, group in enumerate(others):
            pairs.setdefault(group, []).append(pair)
        for group, members in pairs.items():
            for start, end in (bounds[text] for text in group):
                table[self.numbers[start:end]] = True
            for pair in members:
                start, end = bounds[own[pair]]
                size = end - start
                np.take(table, self.numbers[start:end], out=found[:size], mode="clip")
                found[size] = False  # so that an empty last order has a place to begin
                result[pair] = np.add.reduceat(found[: size + 1], self.offsets[own[pair]], dtype=np.int64)
            for start, end in (bounds[text] for text in group):
                table[self.numbers[start:end]] = False
        return np.where(self.lengths[own] > 0, result, 0)


def place_texts(
    candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[list[str], list[int], list[tuple[int, ...]]]:
    """Return the different texts, and in their numbers each candidate and each group of references."""
    places: dict[str, int] = {}
    own = [places.setdefault(text, len(places)) for text in candidates]
    listed = list(map(tuple, references))
    groups: dict[tuple[str, ...], tuple[int, ...]] = {}  # the same references meet many texts: look them up once
    for group in listed:
        if group not in groups:
            groups[group] = tuple(places.setdefault(text, len(places)) for text in group)
    return list(places), own, [groups[group] for group in listed]


# Skip-bigrams: pairs of words in the order of the text, with any words between them, or at most so many (Lin 2004).
# There are quadratically many, so they are counted first word by first word, and few are held at once.

# type → (how many words may stand between the two, None: any number; whether single words count as well)
SKIP_TYPES: dict[str, tuple[int | None, bool]] = {
    "rougeS": (None, False),
    "rougeSU": (None, True),
    "rougeS4": (4, False),
    "rougeSU4": (4, True),
}


def count_pairs(length: int, kind: str) -> int:
    """Return how many skip-bigrams a text of so many words has."""
    gap, single = SKIP_TYPES[kind]
    reach = max(length - 1, 0) if gap is None else min(max(length - 1, 0), gap + 1)
    return reach * length - reach * (reach + 1) // 2 + (length if single else 0)


_ROOM = 4_000_000  # pairs of a text that are held at once


def skip_counts(made: np.ndarray, wanted: np.ndarray, tokens: NumberedTexts, kind: str) -> np.ndarray:
    """Return (matches, made, wanted) per pair of texts, given by their numbers in `tokens`, shape (pairs, 3)."""
    gap, single = SKIP_TYPES[kind]
    texts = np.split(tokens.numbers, tokens.ends[:-1])
    base = int(tokens.numbers.max(initial=0)) + 1
    totals = np.array([count_pairs(length, kind) for length in tokens.lengths.tolist()], np.int64)

    @lru_cache(maxsize=64)
    def counted(number: int) -> tuple[np.ndarray, np.ndarray]:
        """The different pairs of a text, a number each, and how often each stands."""
        text = texts[number]
        reach = len(text) if gap is None else gap + 1
        found = [text[at] * base + text[at + 1 : at + 1 + reach] for at in range(len(text))]
        found += [base * base + text] if single else []  # numbers that no pair has
        return np.unique(np.concatenate(found or [text]), return_counts=True)

    matches = np.zeros(len(made))
    for place, (own, other) in enumerate(zip(made.tolist(), wanted.tolist(), strict=True)):
        if max(totals[own], totals[other]) > _ROOM:
            matches[place] = shared_pairs(texts[own].tolist(), texts[other].tolist(), kind)
            continue
        (left, often), (right, seldom) = counted(own), counted(other)
        _, i, j = np.intersect1d(left, right, assume_unique=True, return_indices=True)
        matches[place] = np.minimum(often[i], seldom[j]).sum()
    return np.column_stack([matches, totals[made], totals[wanted]]).astype(float)


def shared_pairs(sequence: Sequence[Hashable], other: Sequence[Hashable], kind: str) -> int:
    """Return how many skip-bigrams two texts share, first word by first word, so that few are held at once."""
    gap, single = SKIP_TYPES[kind]
    found: list[dict[Hashable, list[int]]] = [defaultdict(list), defaultdict(list)]
    for text, places in zip((sequence, other), found, strict=True):
        for place, token in enumerate(text):
            places[token].append(place)
    matches = (Counter(sequence) & Counter(other)).total() if single else 0
    for token in found[0].keys() & found[1].keys():
        followers = []
        for text, places in zip((sequence, other), found, strict=True):
            after = Counter[Hashable]()
            for place in places[token]:
                after.update(text[place + 1 : None if gap is None else place + gap + 2])
            followers.append(after)
        matches += (followers[0] & followers[1]).total()
    return matches


def pairs_in_order(tokens: Sequence[Hashable], kind: str) -> Iterator[tuple[int, ...]]:
    """Yield the places of every skip-bigram of a text, and of every word where single words count."""
    gap, single = SKIP_TYPES[kind]
    for first in range(len(tokens)):
        if single:
            yield (first,)
        last = len(tokens) if gap is None else min(len(tokens), first + gap + 2)
        yield from ((first, second) for second in range(first + 1, last))


_KEPT = 256  # of so many rows of bits one is kept, and the others are filled again on the way back


def lcs_length(x: Tokens, y: Tokens) -> int:
    """Return the length of the longest common subsequence of two sequences.

    References
    ----------
    Hyyrö (2004), Bit-parallel LCS-length computation revisited: a row of the table in the bits of one integer.

    Examples
    --------
    >>> lcs_length("the cat is on".split(), "the cat sat on".split())
    3
    >>> lcs_length("abcde", "ace")
    3
    """
    for name, value in (("x", x), ("y", y)):
        if not isinstance(value, Sequence):
            raise TypeError(f"{name} must be a sequence such as a list, not {type(value).__name__}")
    everywhere = (1 << len(x)) - 1
    last = deque(_rows(everywhere, y, _places(x), everywhere), maxlen=1)
    return len(x) - last[0].bit_count() if last else 0


def _places(sentence: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return for each token of a sentence a number whose bits are its places."""
    bits: dict[Hashable, int] = {}
    for place, token in enumerate(sentence):
        bits[token] = bits.get(token, 0) | 1 << place
    return bits


def _rows(row: int, tokens: Sequence[Hashable], places: dict[Hashable, int], everywhere: int) -> Iterator[int]:
    """Yield the row below for each token; a bit is 0 where the length grows along the row."""
    for token in tokens:
        both = row & places.get(token, 0)
        row = ((row + both) | (row - both)) & everywhere
        yield row


def bit_path(x: Sequence[Hashable], y: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return what `lcs_path` returns, in a fraction of its time and memory."""
    places, everywhere, path = _places(x), (1 << len(x)) - 1, []
    last = max(len(y) - 1, 0) // _KEPT * _KEPT
    kept = [everywhere, *islice(_rows(everywhere, y[:last], places, everywhere), _KEPT - 1, None, _KEPT)]
    i = len(x) - 1
    for start in range(last, -1, -_KEPT):
        part = y[start : start + _KEPT]
        rows, j = list(_rows(kept[start // _KEPT], part, places, everywhere)), len(part) - 1
        while i >= 0 and j >= 0:
            if x[i] == part[j]:
                path.append((i, start + j))
                i, j = i - 1, j - 1
            elif rows[j] >> i & 1:
                i -= 1
            else:
                j -= 1
    return path[::-1]


# Edit distances to one text within Tercom's beam: chapter 27 has the table and the search that asks for it.

_BEAM = 25  # words on each side of the diagonal


def one_character_a_word(*texts: Sequence[Hashable]) -> list[str]:
    """Return texts as strings in which equal words are equal characters, surrogates left out."""
    numbers: dict[Hashable, int] = {}
    listed = [[numbers.setdefault(word, len(numbers)) for word in text] for text in texts]
    return ["".join(chr(number if number < 0xD800 else number + 0x800) for number in text) for text in listed]


class _Row(NamedTuple):
    """Horizontal differences of a row, and its value at the column left of the beam."""

    up: int
    down: int
    value: int


class _Band(NamedTuple):
    """The columns `low` to `high` (not included) of a row that lie within the beam."""

    low: int
    high: int
    edge: int  # the column left of the beam
    allowed: int  # columns where a match may count
    left: int  # columns left of the beam
    right: int  # columns right of it
    skipped: int  # columns that the edge has passed since the row before


class BeamTable:
    """Edit distances to one text, `wanted`."""

    def __init__(self, wanted: str) -> None:
        self.wanted = wanted
        self.size = len(wanted)
        self.places: dict[str, int] = {}
        for position, word in enumerate(wanted):
            self.places[word] = self.places.get(word, 0) | 1 << position
        self.text = ""  # the one traced last, and its rows
        self.rows: list[_Row] = []
        self.known: dict[str, int] = {}

    def distance(self, own: str, least: int, base: str) -> int:
        """Return the distance within the beam, given that without one; `base` is the text traced last."""
        if least + abs(len(own) - self.size) < 2 * _BEAM - 2:
            return least  # the way of `least` edits stays within the beam
        if own not in self.known:
            pairs = enumerate(zip(own, base, strict=True))
            same = next((i for i, (a, b) in pairs if a != b), len(own))
            rows = self._rows(own, same if base == self.text else 0)[0]
            self.known[own] = self._end(rows[-1], len(own))
        return self.known[own]

    def trace(self, own: str) -> tuple[int, str]:
        """Return the distance and the operations, by Tercom's preference of equals."""
        self.rows, kept = self._rows(own, 0)
        self.text = own
        bands = _bands(len(own), self.size)
        operations = []
        i, j = len(own), self.size
        while i or j:
            if not j:
                operations.append("d")
                i -= 1
                continue
            bit = 1 << (j - 1)
            low, high = bands[i - 1][:2] if i else (0, 0)
            equal, zero, vertical = kept[i - 1] if i else (0, 0, 0)
            if i and low <= j - 1 < high and (equal & bit or not zero & bit):
                operations.append(" " if equal & bit else "s")
                i, j = i - 1, j - 1
            elif i and low <= j < high and vertical & bit:
                operations.append("d")
                i -= 1
            else:
                operations.append("i")
                j -= 1
        operations.reverse()
        return self._end(self.rows[-1], len(own)), "".join(operations)

    def _end(self, row: _Row, length: int) -> int:
        """Return the value of a row's last cell."""
        edge = _bands(length, self.size)[-1].edge
        return row.value + (row.up >> edge).bit_count() - (row.down >> edge).bit_count()

    def _rows(self, own: str, same: int) -> tuple[list[_Row], list[tuple[int, int, int]]]:
        """Return rows, the first `same` of `self.text`, and what `trace` reads."""
        everywhere = (1 << self.size) - 1
        rows = self.rows[: same + 1] if same else [_Row(everywhere, 0, 0)]
        kept = []
        up, down, value = rows[-1]
        bands = _bands(len(own), self.size)
        for i in range(len(rows), len(own) + 1):
            band = bands[i]
            equal = self.places.get(own[i - 1], 0) & band.allowed
            if band.skipped:
                value += (up & band.skipped).bit_count() - (down & band.skipped).bit_count()
            value += 1
            zero = (((equal & up) + up) ^ up) | equal | down
            vertical_up = (down | ~(zero | up) | band.left) & everywhere
            vertical_down = zero & up & ~band.left
            kept.append((equal, zero, vertical_up))
            shifted = vertical_up << 1 | 1
            up = ((vertical_down << 1 | ~(zero | shifted)) | band.right) & everywhere
            down = zero & shifted & everywhere & ~band.right
            rows.append(_Row(up, down, value))
        return rows, kept


@lru_cache(maxsize=4096)
def _bands(length: int, size: int) -> list[_Band]:
    """Return the beam of each row, for texts of these lengths; row 0 is whole."""
    ratio = size / length if length else 1
    beam = math.ceil(ratio / 2 + _BEAM) if ratio / 2 > _BEAM else _BEAM
    bands = [_Band(0, size + 1, 0, 0, 0, 0, 0)]
    for i in range(1, length + 1):
        middle = math.floor(i * ratio)
        low, high = max(0, middle - beam), min(size + 1, middle + beam) if i < length else size + 1
        before = bands[-1]
        inner = max(low, before.low + 1, 1), min(high, before.high + 1)  # columns j with j - 1 in the row before
        edge = max(low - 1, 0)
        skipped = _bits(before.edge + 1, edge + 1)
        bands.append(_Band(low, high, edge, _bits(*inner), _bits(1, low), _bits(high, size + 1), skipped))
    return bands


def _bits(first: int, last: int) -> int:
    """Return in bits the columns `first` to `last` (not included); 1 is the lowest."""
    return ((1 << (last - 1)) - 1) & ~((1 << (first - 1)) - 1) if last > first else 0
