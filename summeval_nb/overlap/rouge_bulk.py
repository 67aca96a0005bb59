"""ROUGE of many texts at once: words as numbers, subsequences in bits, and rouge-score-rs for one reference each.

`rouge_counts` has the definitions; tests hold what is counted here equal to them, to the last bit.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, NamedTuple

from summeval_nb.core.base import np

from .base import warn_of_lost_texts
from .counting import SKIP_TYPES, NumberedTexts, as_sequences, common_lengths, ngram_levels, number_texts, skip_counts
from .rouge_counts import LEFT, MATCH, UP, union_lcs_matches, weighted_lcs_rows
from .tokens import Tokens

if TYPE_CHECKING:
    from rouge_score_rs.rouge_scorer import RougeScorer

__all__ = ["lcs_length"]

_KEPT = 256  # of so many rows of bits one is kept, and the others are filled again on the way back


def lcs_length(x: Tokens, y: Tokens) -> int:
    """Return the length of the longest common subsequence of two sequences.

    References
    ----------
    Hyyrö, Bit-parallel LCS-length computation revisited (2004), after Crochemore et al. (2001): a row of the table in
    the bits of one integer.

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


def weighted_lcs(x: Sequence[Hashable], y: Sequence[Hashable], weight: float) -> float:
    """Return the weight of the matches: the last cell of the table."""
    values, _ = deque(weighted_lcs_rows(x, y, weight), maxlen=1).pop() if x else ([0.0], b"")
    return values[-1]


def weighted_lcs_path(x: Sequence[Hashable], y: Sequence[Hashable], weight: float) -> list[tuple[int, int]]:
    """Return the positions (i, j) of the matches on the way back from the end."""
    moves = [moves for _, moves in weighted_lcs_rows(x, y, weight)]  # a byte for each cell
    path, i, j = [], len(x) - 1, len(y) - 1
    while i >= 0 and j >= 0:
        move = moves[i][j]
        if move == MATCH:
            path.append((i, j))
        i, j = i - (move != LEFT), j - (move != UP)
    return path[::-1]


def weighted_counts(
    wanted: Sequence[Sequence[Hashable]], made: Sequence[Sequence[Hashable]], weight: float, compat: str
) -> tuple[float, float, float, float]:
    """Return the weighted matches and lengths of two texts, given as sentences, and the reference's weighted once.

    The Perl script unites the paths of sentences as ROUGE-Lsum does, and weighs the reference's length twice.
    """
    x, y = ([token for sentence in text for token in sentence] for text in (wanted, made))
    if compat == "google":
        return weighted_lcs(x, y, weight), len(y) ** weight, len(x) ** weight, len(x) ** weight
    left, available, total = Counter(x), Counter(y), 0.0
    for sentence in wanted:
        hits = {i for other in made for i, _ in weighted_lcs_path(sentence, other, weight)}
        run = 0
        for i in sorted(hits):
            token = sentence[i]
            if not (left[token] > 0 and available[token] > 0):
                continue  # as the script does: a clipped word neither counts nor ends the run
            run += 1
            if i + 1 not in hits:
                total, run = total + run**weight, 0
            left[token] -= 1
            available[token] -= 1
    once = sum(len(sentence) ** weight for sentence in wanted)
    return total, len(y) ** weight, once**weight, once


class _Pairs(NamedTuple):
    """All (candidate, reference) pairs: the different texts, which are paired, and where each candidate's begin."""

    texts: list[str]
    made: np.ndarray
    wanted: np.ndarray
    starts: np.ndarray
    runs: list[tuple[int, int]]  # how many candidates in a row have the same references, and how many these are


def _lay_out(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> _Pairs:
    places: dict[str, int] = {}
    own = np.array([places.setdefault(text, len(places)) for text in candidates], np.int64)
    groups: dict[tuple[str, ...], list[int]] = {}  # the same references meet many texts: look them up once
    wanted: list[int] = []
    for group in map(tuple, references):
        if group not in groups:
            groups[group] = [places.setdefault(text, len(places)) for text in group]
        wanted += groups[group]
    sizes = np.fromiter(map(len, references), np.int64, len(references))
    runs = [(len(list(run)), len(group)) for group, run in groupby(map(tuple, references))]
    return _Pairs(list(places), np.repeat(own, sizes), np.array(wanted, np.int64), np.cumsum(sizes) - sizes, runs)


def _common_lengths(pairs: _Pairs, sequences: Sequence[Sequence[Hashable]]) -> np.ndarray:
    """Return the length of the longest common subsequence of each pair; all against all where references repeat."""
    made, wanted = ([sequences[text] for text in side.tolist()] for side in (pairs.made, pairs.wanted))
    if 4 * len(pairs.runs) > len(pairs.starts):
        return common_lengths(made, wanted)
    from rapidfuzz.distance import LCSseq
    from rapidfuzz.process import cdist

    found, at = [], 0
    for texts, size in pairs.runs:
        end = at + texts * size
        found.append(
            cdist(wanted[at : at + size], made[at:end:size], scorer=LCSseq.similarity, dtype=np.int32).T.ravel()
        )
        at = end
    return np.concatenate(found)


def _word_counts(pairs: _Pairs, tokens: NumberedTexts, kind: str) -> np.ndarray:
    """Return (matches, candidate, reference) of each pair for n-grams, ROUGE-L or ROUGE-S."""
    if kind in SKIP_TYPES:
        return skip_counts(pairs.made, pairs.wanted, tokens, kind)
    if kind == "rougeL":
        level, sequences = tokens, as_sequences(tokens)
    else:  # sorted n-grams have their clipped matches as their longest common subsequence
        *_, level = ngram_levels(tokens, int(kind[5:]))
        sequences = as_sequences(level, ordered=True)
    lengths = _common_lengths(pairs, sequences)
    return np.column_stack([lengths, level.lengths[pairs.made], level.lengths[pairs.wanted]]) * 1.0


def _line_counts(
    pairs: _Pairs, tokenize: Callable[[str], Tokens], kind: str, weight: float = 1.2, compat: str = "google"
) -> np.ndarray:
    """Return (matches, candidate, reference) of each pair for ROUGE-Lsum, or what `weighted_counts` has."""
    lines = [[line for line in text.split("\n") if line] for text in pairs.texts]
    numbered = number_texts(list(chain.from_iterable(lines)), tokenize)
    flat, ends = numbered.numbers.tolist(), [0, *numbered.ends.tolist()]
    cut = (tuple(flat[start:end]) for start, end in zip(ends, ends[1:], strict=False))
    texts = [[sentence for sentence in islice(cut, len(text)) if sentence] for text in lines]
    made, wanted = pairs.made.tolist(), pairs.wanted.tolist()
    if kind == "rougeW":
        weighed = [weighted_counts(texts[j], texts[i], weight, compat) for i, j in zip(made, wanted, strict=True)]
        return np.array(weighed).reshape(-1, 4)
    single = np.array([len(text) <= 1 for text in texts])
    whole = [list(text[0]) if text else [] for text in texts]
    short = np.flatnonzero(single[pairs.made] & single[pairs.wanted]).tolist()
    matches, sizes = np.zeros(len(made)), np.array([sum(map(len, text)) for text in texts], float)
    matches[short] = common_lengths([whole[made[p]] for p in short], [whole[wanted[p]] for p in short])
    longest = max(map(len, chain.from_iterable(texts)), default=0)
    path = lru_cache(maxsize=4096)(bit_path) if longest <= _KEPT else bit_path  # the same lines meet again
    for p in set(range(len(made))).difference(short):
        matches[p] = union_lcs_matches(texts[wanted[p]], texts[made[p]], path)
    return np.column_stack([matches, sizes[pairs.made], sizes[pairs.wanted]])


def _ratios(counts: np.ndarray, power: float) -> np.ndarray:
    """Return precision, recall and F1 of rows of counts, to the last bit as `precision_recall_f1`."""
    matches, made, wanted = counts.T
    precision, recall = (_powers(matches / np.maximum(side, 1), power) for side in (made, wanted))
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    return np.column_stack([precision, recall, f1])


def _powers(values: np.ndarray, power: float) -> np.ndarray:
    """Return Python's powers: numpy's have now and then another last digit."""
    return values if power == 1 else np.array([value**power for value in values.tolist()])


def _combine(counts: np.ndarray, starts: np.ndarray, multi: str, power: float = 1) -> np.ndarray:
    """Return precision, recall and F1 of each text from its references' counts, as `combine_references`."""
    if multi == "pooled":
        return _ratios(_totals(counts[:, :3], starts), power)
    each = _ratios(counts[:, :3], power)
    sizes = np.diff(np.r_[starts, len(each)])
    if multi == "average":
        return _totals(each, starts) / sizes[:, None]
    deciding = each[:, 2]
    if multi == "best_recall":  # a fourth count is the length by which ROUGE-1.5.5 chooses in ROUGE-W
        deciding = _powers(counts[:, 0] / np.maximum(counts[:, -1], 1), power)
    best = np.flatnonzero(deciding == np.repeat(np.maximum.reduceat(deciding, starts), sizes))
    return each[best[np.searchsorted(best, starts)]]  # the first of several best


def _totals(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Add up each text's rows from left to right: numpy has another order for many."""
    sizes = np.diff(np.r_[starts, len(values)])
    totals = values[starts]
    for place in range(1, int(sizes.max(initial=0))):
        longer = sizes > place
        totals[longer] += values[starts[longer] + place]
    return totals


def score_chunk(
    candidates: Sequence[str],
    references: Sequence[Sequence[str]],
    types: Sequence[str],
    tokenize: Callable[[str], Tokens],
    name: str,
    multi: str,
    weight: float,
    compat: str,
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return {type: (texts, 3)}, and which texts have anything to compare."""
    pairs = _lay_out(candidates, references)
    tokens = number_texts(pairs.texts, tokenize)
    warn_of_lost_texts(pairs.texts, tokens.lengths, name)
    scores = {}
    for kind in types:
        if kind in ("rougeLsum", "rougeW"):
            counts = _line_counts(pairs, tokenize, kind, weight, compat)
        else:
            counts = _word_counts(pairs, tokens, kind)
        scores[kind] = _combine(counts, pairs.starts, multi, 1 / weight if kind == "rougeW" else 1)
    some = np.maximum(tokens.lengths[pairs.made], tokens.lengths[pairs.wanted])
    return scores, np.maximum.reduceat(some, pairs.starts) > 0


# rouge-score-rs, where it is installed, computes these to the last bit as we do, with one reference in less time.
ACCELERATED = True
_SERVED = frozenset({*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum"})
_TABLE = 16_000_000  # characters times characters of two lines: four million cells of its table of words, or fewer


@cache
def _scorer(types: tuple[str, ...], stemmer: bool) -> RougeScorer | None:
    if find_spec("rouge_score_rs") is None:
        return None
    from rouge_score_rs.rouge_scorer import RougeScorer

    return RougeScorer(list(types), use_stemmer=stemmer)


def compiled_chunk(
    candidates: Sequence[str], references: Sequence[Sequence[str]], types: Sequence[str], stemmer: bool
) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """Return what `score_chunk` does with ROUGE's own words, or None where we count ourselves."""
    if not ACCELERATED or not _SERVED.issuperset(types) or any(len(group) != 1 for group in references):
        return None
    others, scorer = [group[0] for group in references], _scorer(tuple(types), stemmer)
    if scorer is None or ("rougeLsum" in types and any(map(_takes_a_table, candidates, others))):
        return None
    found = scorer.score_batch(others, list(candidates))
    scores = {}
    for kind in types:
        flat = chain.from_iterable([values[kind] for values in found])
        scores[kind] = np.fromiter(flat, float, 3 * len(found)).reshape(-1, 3)
    known = np.ones(len(found), bool)
    unlike = np.flatnonzero(sum(values[:, 2] for values in scores.values()) == 0).tolist()
    held = {text: _holds_word(text) for i in unlike for text in (candidates[i], others[i])}
    if not all(held.values()):  # what shares a word has one on both sides
        known[unlike] = [held[candidates[i]] or held[others[i]] for i in unlike]
        lengths = {text: int(held.get(text, True)) for text in chain(candidates, others)}
        warn_of_lost_texts(list(lengths), lengths.values(), "rouge+porter" if stemmer else "rouge")
    return scores, known


def _takes_a_table(text: str, other: str) -> bool:
    """Whether two lines are so long that ROUGE-Lsum is better counted in our own memory."""
    if len(text) * len(other) <= _TABLE:
        return False
    line, longest = (max(map(len, side.split("\n"))) for side in (text, other))
    return line * longest > _TABLE


def _holds_word(text: str) -> bool:
    """Whether ROUGE's tokenizer leaves anything of a text."""
    return re.search("[a-z0-9]", text.lower()) is not None
