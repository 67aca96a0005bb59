"""Edited directly. Skip-bigrams, the pairs of ROUGE-S: how they are counted and shown; tests/test_skip_bigrams.py.

A skip-bigram is a pair of words in the order of the text, with any words between them, or at most so many (Lin 2004,
section 5). There are quadratically many, so a text's are made when needed and only those of few texts are kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache

from ..ground.base import JsonDict, np
from ..ground.html import Mark
from ._match_picture import COLORS
from ._numbers import NumberedTexts

__all__ = ["SKIP_TYPES", "count_pairs", "pairs_in_order", "shared_pairs", "skip_counts", "skip_marks"]

# type → (how many words may stand between the two, None: any number; whether single words count as well)
SKIP_TYPES: dict[str, tuple[int | None, bool]] = {
    "rougeS": (None, False),
    "rougeSU": (None, True),
    "rougeS4": (4, False),
    "rougeSU4": (4, True),
}
_ROOM = 4_000_000  # pairs of a text that are held at once
_KEPT = 64  # texts whose pairs are kept
_SHOWN = 100  # pairs that a picture lists


def _how_many(lengths: np.ndarray, gap: int | None, single: bool) -> np.ndarray:
    """Return how many skip-bigrams texts of such lengths have."""
    reach = np.maximum(lengths - 1, 0) if gap is None else np.clip(lengths - 1, 0, gap + 1)
    pairs = reach * lengths - reach * (reach + 1) // 2
    return pairs + lengths if single else pairs


def _counted(text: np.ndarray, base: int, kind: str, parts: int, part: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the different pairs whose first word falls into one part of the vocabulary, and how often each stands."""
    gap, single = SKIP_TYPES[kind]
    reach = len(text) if gap is None else gap + 1
    found = [text[at] * base + text[at + 1 : at + 1 + reach] for at in np.flatnonzero(text % parts == part).tolist()]
    if single:  # a number that no pair has
        found.append(base * base + text[text % parts == part])
    return np.unique(np.concatenate(found or [text[:0]]), return_counts=True)


def skip_counts(made: np.ndarray, wanted: np.ndarray, tokens: NumberedTexts, kind: str) -> np.ndarray:
    """Return (matches, made, wanted) per pair of texts, shape (pairs, 3); a match counts at most as often as in either.

    `made` and `wanted` are the numbers of the texts in `tokens`.
    """
    texts = np.split(tokens.numbers, tokens.ends[:-1])
    base = int(tokens.numbers.max(initial=0)) + 1
    totals = _how_many(tokens.lengths, *SKIP_TYPES[kind])

    @lru_cache(maxsize=_KEPT)
    def whole(number: int) -> tuple[np.ndarray, np.ndarray]:
        return _counted(texts[number], base, kind, 1, 0)

    matches = np.zeros(len(made))
    for place, (one, other) in enumerate(zip(made.tolist(), wanted.tolist(), strict=True)):
        parts = 1 + int(max(totals[one], totals[other])) // _ROOM
        for part in range(parts):
            sides = (
                (whole(number) if parts == 1 else _counted(texts[number], base, kind, parts, part))
                for number in (one, other)
            )
            (left, often), (right, seldom) = sides
            _, i, j = np.intersect1d(left, right, assume_unique=True, return_indices=True)
            matches[place] += np.minimum(often[i], seldom[j]).sum()
    return np.column_stack([matches, totals[made], totals[wanted]]).astype(float)


def count_pairs(length: int, kind: str) -> int:
    """Return how many skip-bigrams a text of so many words has.

    Examples
    --------
    >>> count_pairs(4, "rougeS"), count_pairs(4, "rougeSU")
    (6, 10)
    """
    gap, single = SKIP_TYPES[kind]
    reach = max(length - 1, 0) if gap is None else min(max(length - 1, 0), gap + 1)
    return reach * length - reach * (reach + 1) // 2 + (length if single else 0)


def shared_pairs(one: Sequence[Hashable], other: Sequence[Hashable], kind: str) -> int:
    """Return how many skip-bigrams two texts share, first word by first word, so that few are held at once.

    Examples
    --------
    >>> shared_pairs("police killed the gunman".split(), "the gunman killed police".split(), "rougeS")
    1
    """
    gap, single = SKIP_TYPES[kind]
    found: list[dict[Hashable, list[int]]] = [defaultdict(list), defaultdict(list)]
    for text, places in zip((one, other), found, strict=True):
        for place, token in enumerate(text):
            places[token].append(place)
    matches = (Counter(one) & Counter(other)).total() if single else 0
    for token in found[0].keys() & found[1].keys():
        followers = []
        for text, places in zip((one, other), found, strict=True):
            after = Counter[Hashable]()
            for place in places[token]:
                after.update(text[place + 1 : None if gap is None else place + gap + 2])
            followers.append(after)
        matches += (followers[0] & followers[1]).total()
    return matches


def pairs_in_order(tokens: Sequence[Hashable], kind: str) -> Iterator[tuple[int, ...]]:
    """Yield the places of every skip-bigram of a text, and of every word where single words count.

    Examples
    --------
    >>> list(pairs_in_order(["a", "b", "c"], "rougeSU"))
    [(0,), (0, 1), (0, 2), (1,), (1, 2), (2,)]
    """
    gap, single = SKIP_TYPES[kind]
    for first in range(len(tokens)):
        if single:
            yield (first,)
        last = len(tokens) if gap is None else min(len(tokens), first + gap + 2)
        yield from ((first, second) for second in range(first + 1, last))


def skip_marks(
    texts: Sequence[tuple[Sequence[Hashable], Sequence[tuple[int, int] | None]]], kind: str
) -> tuple[list[list[Mark]], list[JsonDict]]:
    """Mark the words that stand in a shared pair, and list the shared pairs, the first hundred of them."""
    named = [Counter(tuple(cut[at] for at in places) for places in pairs_in_order(cut, kind)) for cut, _ in texts]
    shared = named[0] & named[1]
    marks: list[list[Mark]] = []
    for cut, spans in texts:
        left, counted = Counter(shared), Counter[int]()
        for places in pairs_in_order(cut, kind):
            pair = tuple(cut[at] for at in places)
            if left[pair] > 0:
                left[pair] -= 1
                counted.update(places)
        marks.append(
            [
                Mark(*span, COLORS[0], "#1a1a1a", f"{cut[at]}: in {counted[at]} of {shared.total()} shared pairs")
                for at, span in enumerate(spans)
                if span and counted[at]
            ]
        )
    rows: list[JsonDict] = [
        {
            "pair": " … ".join(map(str, pair)),
            "candidate": named[0][pair],
            "reference": named[1][pair],
            "shared": count,
        }
        for pair, count in list(shared.items())[:_SHOWN]
    ]
    if len(shared) > _SHOWN:
        rows.append({"pair": f"and {len(shared) - _SHOWN} more", "shared": sum(list(shared.values())[_SHOWN:])})
    return marks, rows
