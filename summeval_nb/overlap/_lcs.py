"""Edited directly. Longest common subsequences for ROUGE: in the bits of long integers, united, weighted.

The rows of an LCS table only ever step up by 0 or 1, so a whole row is stored as bits: bit i says whether the length
steps up at word i. With Python's long integers a row is computed by one addition and a few bit operations (Hyyrö 2004,
after Crochemore et al. 2001). The same bits are enough to walk back: where the words differ, the table steps up at i
exactly if one must go left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

__all__ = ["common_length", "hit_bits", "places", "union_matches"]
__all__ += ["weighted_counts", "weighted_path", "weighted_table"]


def places(sentence: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return for each token of a sentence a number whose bits are its positions."""
    bits: dict[Hashable, int] = {}
    for position, token in enumerate(sentence):
        bits[token] = bits.get(token, 0) | 1 << position
    return bits


def common_length(wanted: Sequence[Hashable], made: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence of two sequences of hashable items."""
    where, everywhere = places(wanted), (1 << len(wanted)) - 1
    row = everywhere
    for token in made:
        both = row & where.get(token, 0)
        row = ((row + both) | (row - both)) & everywhere
    return len(wanted) - row.bit_count()


def hit_bits(wanted: Mapping[Hashable, int], size: int, made: Sequence[Hashable]) -> int:
    """Return a number whose bits are the positions of the wanted sentence that its LCS with `made` hits."""
    everywhere = (1 << size) - 1
    row, matches, steps = everywhere, [], []
    for token in made:
        match = wanted.get(token, 0)
        both = row & match
        row = ((row + both) | (row - both)) & everywhere
        matches.append(match)
        steps.append(~row)
    hits, i, j = 0, size - 1, len(made) - 1
    while i >= 0 and j >= 0:
        if matches[j] >> i & 1:
            hits |= 1 << i
            i, j = i - 1, j - 1
        elif steps[j] >> i & 1:
            j -= 1
        else:
            i -= 1
    return hits


def union_matches(
    wanted: Sequence[Sequence[Hashable]],
    made: Sequence[Sequence[Hashable]],
    known: dict[Any, Any],
) -> int:
    """Return the clipped union-LCS matches of two texts, given as tokenized sentences; `known` remembers pairs."""
    hit: Counter[Hashable] = Counter()
    for sentence in map(tuple, wanted):
        where = known.get(sentence)
        if where is None:
            where = known[sentence] = places(sentence)
        union = 0
        for other in map(tuple, made):
            bits = known.get((sentence, other))
            if bits is None:
                bits = known[sentence, other] = hit_bits(where, len(sentence), other)
            union |= bits
        for token, bits in where.items():
            hit[token] += (bits & union).bit_count()
    available = Counter(token for sentence in made for token in sentence)
    return sum(min(count, available[token]) for token, count in hit.items())


def weighted_table(
    x: Sequence[Hashable], y: Sequence[Hashable], weight: float
) -> tuple[list[list[float]], list[list[str]]]:
    """Return Lin's table of weighted LCS values and, for each cell, where it came from: match, up or left."""
    values = [[0.0] * (len(y) + 1) for _ in range(len(x) + 1)]
    runs = [[0] * (len(y) + 1) for _ in range(len(x) + 1)]
    moves = [[""] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i, one in enumerate(x, 1):
        for j, other in enumerate(y, 1):
            if one == other:
                run = runs[i - 1][j - 1]
                values[i][j] = values[i - 1][j - 1] + (run + 1) ** weight - run**weight
                runs[i][j], moves[i][j] = run + 1, "match"
            elif values[i - 1][j] >= values[i][j - 1]:
                values[i][j], moves[i][j] = values[i - 1][j], "up"
            else:
                values[i][j], moves[i][j] = values[i][j - 1], "left"
    return values, moves


def weighted_path(moves: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
    """Return the positions (i, j) of the matches on the way back from the last cell."""
    path, i, j = [], len(moves) - 1, len(moves[0]) - 1
    while i and j:
        move = moves[i][j]
        if move == "match":
            path.append((i - 1, j - 1))
        i, j = i - (move != "left"), j - (move != "up")
    return path[::-1]


def weighted_counts(
    wanted: Sequence[Sequence[Hashable]],
    made: Sequence[Sequence[Hashable]],
    weight: float,
    compat: str,
) -> tuple[float, float, float, float]:
    """Return the weighted matches, the weighted lengths of both texts, and the reference's length weighted once."""
    x, y = ([token for sentence in text for token in sentence] for text in (wanted, made))
    if compat == "google":
        return (
            weighted_table(x, y, weight)[0][-1][-1],
            len(y) ** weight,
            len(x) ** weight,
            len(x) ** weight,
        )
    left, available = Counter(x), Counter(y)
    total = 0.0
    for sentence in wanted:
        paths = [weighted_path(weighted_table(sentence, other, weight)[1]) for other in made]
        hits = {i for path in paths for i, _ in path}
        run = 0
        for i in sorted(hits):
            token = sentence[i]
            if not (left[token] > 0 and available[token] > 0):
                # as the script does: a clipped word neither counts nor ends the run
                continue
            run += 1
            if i + 1 not in hits:
                total, run = total + run**weight, 0
            left[token] -= 1
            available[token] -= 1
    once = sum(len(sentence) ** weight for sentence in wanted)
    return total, len(y) ** weight, once**weight, once
