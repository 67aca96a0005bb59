"""Edited directly. What surrounds chrF's definition: counts for many pairs at once, the score's rows and its picture.

For many pairs, all texts of a lot are numbered together. The k-th time that a text has an n-gram is an item of its
own, so that the clipped count of two texts is how many items they share: one is marked in a table, the other looked
up in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from summeval_nb.ground.base import JsonDict
from ..ground.results import Score, Signature
from summeval_nb.ground.base import require_count, require_flag
from .base import (
    ArrayTable,
    Groups,
    Interval,
    bootstrap_interval,
    require_candidate,
    require_number,
    require_pairs,
    require_references,
    signed,
)
from .counting import NumberedTexts, number_texts
from .ngrams import Tokens, list_ngrams
from .picture import MatchPicture, ngram_marks

__all__ = ["ChrfScore", "ChrfTable", "many_counts", "require_choices", "score_corpus", "score_one", "score_table"]

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


class Counting(Protocol):
    """What `Chrf` knows: its choices, what it counts in a text, and a score from counts."""

    @property
    def char_order(self) -> int: ...
    @property
    def word_order(self) -> int: ...
    @property
    def lowercase(self) -> bool: ...
    @property
    def whitespace(self) -> bool: ...
    @property
    def beta(self) -> float: ...
    @property
    def eps_smoothing(self) -> bool: ...
    @property
    def signature(self) -> Signature: ...
    def characters(self, text: str) -> str: ...
    def words(self, text: str) -> list[str]: ...
    def counts(self, candidate: str, reference: str) -> list[tuple[int, int, int]]: ...
    def from_counts(self, row: Sequence[float]) -> float: ...


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ChrfScore(Score):
    """chrF on the scale of 0 to 100, with the counts behind it.

    Attributes
    ----------
    score : float or None
        None when neither candidate nor references hold a character.
    counts : tuple of (candidate, reference, shared)
        N-grams of each order, characters first, then words; of several references the best.
    statistics : ndarray, shape (texts, 3 * orders)
        The counts of each text, flat.
    """

    counts: tuple[tuple[int, int, int], ...]
    metric: Counting
    statistics: np.ndarray
    texts: Sequence[tuple[str, Sequence[str]]] = field(default=())

    def rows(self) -> list[JsonDict]:
        """Return one row per order: what each side has, what they share, precision and recall."""
        return _order_rows(self.counts, self.metric.char_order)

    def interval(self, *, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 0) -> Interval:
        """Return a bootstrap interval of a corpus score; see `corpus_chrf`."""
        return bootstrap_interval(self.statistics, self.metric.from_counts, confidence, n_resamples, seed)

    def explain(self, index: int = 0, *, n: int = 3) -> MatchPicture:
        """Mark the character n-grams that text number `index` shares with its best reference."""
        return _explain(*self.texts[index], self.metric, require_count(n, "n"))


class ChrfTable(ArrayTable):
    """chrF of many texts, as `chrf`."""


def require_choices(metric: Counting) -> None:
    """Refuse choices that chrF has not."""
    for name, minimum in (("char_order", 1), ("word_order", 0)):
        if require_count(getattr(metric, name), name, minimum=minimum) > 100:
            raise ValueError(f"{name} must be at most 100: {getattr(metric, name)}")
    for name in ("lowercase", "whitespace", "eps_smoothing"):
        require_flag(getattr(metric, name), name)
    require_number(metric.beta, "beta", 0, 1000)


def score_one(metric: Counting, candidate: str, references: str | Sequence[str]) -> ChrfScore:
    """Return the score of one text, counted pair by pair as defined."""
    text, listed = require_candidate(candidate, references), require_references(references)
    rows = [[count for triple in metric.counts(text, one) for count in triple] for one in listed]
    return _assemble(metric, np.array([max(rows, key=metric.from_counts)], dtype=np.int64), [(text, listed)])


def score_corpus(metric: Counting, candidates: Sequence[str], references: Groups) -> ChrfScore:
    """Return the score of a corpus: counts are added up first."""
    texts, groups = require_pairs(candidates, references)
    if not texts:
        raise ValueError("candidates is empty: a corpus needs at least one text")
    return _assemble(metric, _count_rows(metric, texts, groups), list(zip(texts, groups, strict=True)))


def score_table(metric: Counting, candidates: Sequence[str], references: Groups) -> ChrfTable:
    """Return the scores of many texts, NaN where no side holds a character."""
    texts, groups = require_pairs(candidates, references)
    scores = np.array([metric.from_counts(row) for row in _count_rows(metric, texts, groups).tolist()], float)
    for index, (text, group) in enumerate(zip(texts, groups, strict=True)):
        if scores[index] < 1e-9 and not any(metric.characters(one) for one in (text, *group)):
            scores[index] = np.nan
    return ChrfTable(values={"chrf": scores}, signature=signed(metric.signature, groups))


def _count_rows(metric: Counting, texts: Sequence[str], groups: Sequence[Sequence[str]]) -> np.ndarray:
    """Return the flat counts of each text with its best reference, shape (texts, 3 * orders)."""
    counts = many_counts(texts, groups, metric.char_order, metric.word_order, metric.characters, metric.words)
    pairs = counts.reshape(len(counts), 3 * counts.shape[1])
    scores = [metric.from_counts(row) for row in pairs.tolist()]
    best, start = [], 0
    for group in groups:
        best.append(max(range(start, start + len(group)), key=scores.__getitem__))
        start += len(group)
    return pairs[np.array(best, np.int64)]


def _assemble(metric: Counting, rows: np.ndarray, texts: Sequence[tuple[str, Sequence[str]]]) -> ChrfScore:
    """Add up the texts' counts and compute one score from the sums."""
    sums = rows.sum(axis=0).tolist()
    empty = not any(metric.characters(one) for text, group in texts for one in (text, *group))
    return ChrfScore(
        score=None if empty else metric.from_counts(sums),
        reason=ArrayTable.nothing if empty else "",
        signature=signed(metric.signature, [references for _, references in texts]),
        counts=tuple(zip(sums[::3], sums[1::3], sums[2::3], strict=True)),
        metric=metric,
        statistics=rows,
        texts=texts,
    )


def _order_rows(counts: Sequence[tuple[int, int, int]], char_order: int) -> list[JsonDict]:
    """Return one row per order, characters first, then words."""
    rows: list[JsonDict] = []
    for place, (own, wanted, shared) in enumerate(counts):
        kind, order = ("word", place + 1 - char_order) if place >= char_order else ("character", place + 1)
        rows.append({"kind": kind, "order": order, "candidate": own, "reference": wanted, "shared": shared})
        rows[-1] |= {"precision": shared / own if own else None, "recall": shared / wanted if wanted else None}
    return rows


def _explain(candidate: str, references: Sequence[str], metric: Counting, n: int) -> MatchPicture:
    """Mark what one order of characters counts in a text and in its best reference."""
    counted = [metric.counts(candidate, reference) for reference in references]
    scores = [metric.from_counts([c for row in rows for c in row]) for rows in counted]
    best = max(range(len(scores)), key=scores.__getitem__)
    texts, labels = [candidate, references[best]], ["candidate", f"reference {best + 1} of {len(references)}"]
    placed = [_placed(text, metric) for text in texts]
    own, wanted = (list_ngrams([character for character, _ in found], n) for found in placed)
    left, right = Counter(own), Counter(wanted)
    shared = {gram: min(count, right[gram]) for gram, count in left.items() if gram in right}
    panels = [
        (label, text, ngram_marks([place for _, place in found], grams, shared))
        for label, text, found, grams in zip(labels, texts, placed, (own, wanted), strict=True)
    ]
    title = f"chrF {scores[best]:.2f}; marked: character {n}-grams, {sum(shared.values())} of {len(own)} shared"
    return MatchPicture(title, panels, _order_rows(counted[best], metric.char_order))


def _placed(text: str, metric: Counting) -> list[tuple[str, tuple[int, int]]]:
    """Return the characters that count, each with its place in the text."""
    found = []
    for place, character in enumerate(text):
        for one in character.lower() if metric.lowercase else character:
            if metric.whitespace or not one.isspace():
                found.append((one, (place, place + 1)))
    return found
