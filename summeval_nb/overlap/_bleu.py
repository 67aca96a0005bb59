"""Edited directly. What surrounds BLEU's definition: counts of many texts at once, results, tables and the picture.

Each different text is cut once, each group of references merged once; counting is that of chapter 31. The tests are in
tests/test_bleu.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from summeval_nb.ground.base import np
from summeval_nb.ground.resampling import bootstrap
from summeval_nb.ground.base import JsonDict
from ..ground.results import Outcome, Score, ScoreTable, Signature
from summeval_nb.ground.base import is_finite, require_count, require_flag, require_option, require_text
from .base import Interval, warn_of_lost_texts
from .counting import NumberedTexts, as_sequences, common_lengths, in_order, merge_greatest, ngram_levels, number_texts
from .ngrams import Tokens, WordTokenizer, clipped_counts, list_ngrams, load_tokenizer
from .picture import MatchPicture, ngram_marks, token_spans
from .tokens import tokenizer_name

if TYPE_CHECKING:
    from .bleu import Bleu

__all__ = [
    "BleuComparison",
    "BleuScore",
    "BleuTable",
    "compare",
    "lowered",
    "require_choices",
    "score_corpus",
    "score_one",
    "score_rows",
    "score_table",
    "sign",
]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BleuScore(Score):
    """BLEU on the scale of 0 to 100, with the counts behind it.

    Attributes
    ----------
    score : float or None
        None when neither candidate nor references hold a token.
    counts, totals : tuple of int
        Clipped matches and candidate n-grams for orders 1 to n.
    precisions : tuple of float
        100 * count / total after smoothing.
    bp : float
        Brevity penalty in [0, 1].
    candidate_length, reference_length : int
        In tokens.
    statistics : ndarray, shape (texts, 2 + 2n)
        Per text: candidate length, reference length, n counts, n totals.
    """

    counts: tuple[int, ...]
    totals: tuple[int, ...]
    precisions: tuple[float, ...]
    bp: float
    candidate_length: int
    reference_length: int
    options: Bleu
    counted: Sequence[Sequence[int]] | np.ndarray
    texts: Sequence[tuple[str, Sequence[str]]] = field(default=())

    @cached_property
    def statistics(self) -> np.ndarray:
        """The counts of each text, shape (texts, 2 + 2n): both lengths, n clipped counts, n totals."""
        return np.asarray(self.counted, dtype=np.int64)

    def rows(self) -> list[JsonDict]:
        """Return one row per order: matches, n-grams, precision."""
        parts = zip(self.counts, self.totals, self.precisions, strict=True)
        return [{"order": n, "count": c, "total": t, "precision": p} for n, (c, t, p) in enumerate(parts, 1)]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        lengths = {
            "candidate_length": self.candidate_length,
            "reference_length": self.reference_length,
        }
        return {**super().to_dict(), "bp": self.bp, **lengths}

    def interval(self, *, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 0) -> Interval:
        """Return a bootstrap interval of a corpus score; see `corpus_bleu`."""
        return _interval(self.statistics, self.options, confidence, n_resamples, seed)

    def explain(self, index: int = 0, *, n: int = 1) -> MatchPicture:
        """Show which n-grams of order `n` text number `index` shares with its references, and how they were counted."""
        return _explain(*self.texts[index], self.options, require_count(n, "n"))


@dataclass(frozen=True, eq=False, repr=False)
class BleuTable(ScoreTable):
    """BLEU of many texts: `scores` in [0, 100], one per text, with their counts.

    Where no side holds a token there is no score: NaN in the array, None in the rows, left out of the mean.
    """

    values: np.ndarray
    statistics: np.ndarray
    sizes: Sequence[int]
    options: Bleu
    signature: Signature
    nothing = "neither the candidate nor a reference holds a token"

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the scores by the name `bleu`, NaN where no side holds a token."""
        return {"bleu": np.where(self.statistics[:, :2].max(axis=1) > 0, self.values, np.nan)}

    def rows(self) -> list[JsonDict]:
        """Return one plain dictionary per text: its score, or None, and both lengths."""
        lengths = zip(super().rows(), self.statistics[:, :2].tolist(), strict=True)
        return [row | {"candidate_length": own, "reference_length": theirs} for row, (own, theirs) in lengths]

    def outcomes(self) -> list[Outcome]:
        """Return each text's score with its counts; its signature depends on its own references alone."""
        signatures = {size: str(self.options.sign([size])) for size in set(self.sizes)}
        end, found = 2 + self.options.n, []
        for row, counts, size in zip(self.rows(), self.statistics.tolist(), self.sizes, strict=True):
            score = row.pop("bleu")
            parts = row | {"counts": counts[2:end], "totals": counts[end:]}
            status, reason = ("ok", "") if score is not None else ("undefined", self.nothing)
            found.append(Outcome(score, status, reason, parts, signatures[size]))
        return found


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BleuComparison(Score):
    """The difference of two corpus BLEUs on the same texts: first minus second."""

    first: BleuScore
    second: BleuScore
    interval: Interval
    p_value: float

    def rows(self) -> list[JsonDict]:
        """Return one row: both scores, the difference, its interval, the p-value."""
        scores = {"first": self.first.score, "second": self.second.score}
        ends = {"low": self.interval.low, "high": self.interval.high}
        rest = {"difference": self.score} | ends | {"p_value": self.p_value}
        return [scores | rest]


Penalty = Callable[[int, int], float]


def require_choices(metric: Bleu, smoothing: Mapping[str, float | None]) -> None:
    """Refuse choices that BLEU has not; `smoothing` holds each method's default, None where it takes no value."""
    if require_count(metric.n, "n") > 100:
        raise ValueError(f"n must be at most 100, not {metric.n}: 4 is usual")
    require_flag(metric.lowercase, "lowercase")
    if metric.effective_order is not None:
        require_flag(metric.effective_order, "effective_order")
    require_option(metric.smooth, "smooth", smoothing)
    value = metric.smooth_value
    if value is not None and smoothing[metric.smooth] is None:
        raise ValueError(f"smooth_value is for 'floor' and 'add-k'; smooth={metric.smooth!r} takes none")
    if value is not None and not (value >= 0 and is_finite(value)):
        raise ValueError(f"smooth_value must be a finite number of at least 0, not {value}")
    load_tokenizer(metric.tokenize)


def lowered(cut: Callable[[str], Tokens]) -> Callable[[str], Tokens]:
    """Return a tokenizer that lower-cases a text first."""
    if isinstance(cut, WordTokenizer):
        clean = cut.clean
        return replace(cut, clean=lambda text: clean(text.lower()))
    return lambda text: cut(require_text(text, "text").lower())


def sign(metric: Bleu, value: float | None, sizes: Sequence[int] | None) -> Signature:
    """Name every choice; `nrefs` is `var` when texts have different numbers of references."""
    named: dict[str, object] = {"metric": f"bleu{metric.n}"}
    if sizes is not None:
        named["nrefs"] = sizes[0] if len(set(sizes)) == 1 else "var"
    named |= {"case": "lc" if metric.lowercase else "mixed", "eff": metric.effective_order}
    named |= {"tok": tokenizer_name(metric.tokenize)}
    return Signature(named | {"smooth": metric.smooth + (f"[{value:.2f}]" if value is not None else "")})


def score_one(settled: Bleu, penalty: Penalty, candidate: str, references: list[str]) -> BleuScore:
    """Return the score of one text, counted as defined."""
    texts = [candidate, *references]
    own, *theirs = map(settled.tokenizer(), texts)
    warn_of_lost_texts(texts, map(len, [own, *theirs]), tokenizer_name(settled.tokenize))
    row = settled.counts(own, theirs)
    return _assemble(settled, penalty, row, [row], [(texts[0], texts[1:])])


def score_corpus(settled: Bleu, penalty: Penalty, texts: Sequence[str], groups: Sequence[Sequence[str]]) -> BleuScore:
    """Return the score of a corpus."""
    if not texts:
        raise ValueError("candidates is empty: a corpus needs at least one text")
    rows = count_rows(texts, groups, settled)
    sums = [int(value) for value in rows.sum(axis=0)]
    return _assemble(settled, penalty, sums, rows, list(zip(texts, groups, strict=True)))


def score_table(settled: Bleu, texts: Sequence[str], groups: Sequence[Sequence[str]]) -> BleuTable:
    """Return the scores of many texts."""
    rows = count_rows(texts, groups, settled)
    sizes = [len(group) for group in groups]
    return BleuTable(score_rows(rows, settled), rows, sizes, settled, settled.sign(sizes))


def score_rows(rows: np.ndarray, metric: Bleu) -> np.ndarray:
    """Return BLEU for each row of counts, for arrays of shape (..., 2 + 2n).

    Each by the one formula: numpy has an exponential of its own, and now and then another number in the last digit.
    """
    scores = [metric.from_counts(row)[0] for row in rows.reshape(-1, 2 + 2 * metric.n).tolist()]
    return np.array(scores, float).reshape(rows.shape[:-1])


def _require_comparable(first: BleuScore, second: BleuScore) -> None:
    """Refuse what is no pair of corpus scores over the same references with the same options."""
    for score in (first, second):
        if not isinstance(score, BleuScore):
            raise TypeError(f"compare_bleu needs two scores of corpus_bleu, not {type(score).__name__}")
    if first.options != second.options:
        different = first.signature.differences(second.signature)
        raise ValueError(f"the two scores have different options: {different}")
    if [list(r) for _, r in first.texts] != [list(r) for _, r in second.texts]:
        needed = "a paired test needs the same texts in the same order"
        raise ValueError(f"the two scores have different references: {needed}")


def compare(first: BleuScore, second: BleuScore, confidence: float, n_resamples: int, seed: int) -> BleuComparison:
    """Return the difference of two corpus scores, its interval and p-value: the same texts are drawn for both."""
    _require_comparable(first, second)
    difference = lambda drawn: (
        score_rows(first.statistics[drawn].sum(axis=-2), first.options)
        - score_rows(second.statistics[drawn].sum(axis=-2), first.options)
    )
    drawn, low, high = bootstrap(
        difference, len(first.statistics), confidence=confidence, n_resamples=n_resamples, seed=seed
    )
    least = abs(float(first) - float(second))
    p_value = (1 + int((np.abs(drawn - drawn.mean()) >= least).sum())) / (n_resamples + 1)
    named = {"test": "paired-bootstrap", "resamples": n_resamples, "seed": seed}
    return BleuComparison(
        score=float(first) - float(second),
        signature=Signature({**first.signature, **named}),
        first=first,
        second=second,
        interval=Interval(low, high, confidence, n_resamples, seed),
        p_value=p_value,
    )


def _assemble(
    metric: Bleu,
    penalty: Penalty,
    sums: list[int],
    rows: Sequence[Sequence[int]] | np.ndarray,
    texts: Sequence[tuple[str, Sequence[str]]],
) -> BleuScore:
    """Compute one BLEU from the sums of the rows of counts."""
    score, precisions = metric.from_counts(sums)
    candidate_length, reference_length, *rest = sums
    empty = candidate_length == reference_length == 0
    return BleuScore(
        score=None if empty else score,
        reason="neither candidate nor reference holds a token: there is nothing to compare" if empty else "",
        signature=metric.sign([len(references) for _, references in texts]),
        counts=tuple(rest[: metric.n]),
        totals=tuple(rest[metric.n :]),
        precisions=tuple(precisions),
        bp=penalty(candidate_length, reference_length),
        candidate_length=candidate_length,
        reference_length=reference_length,
        options=metric,
        counted=rows,
        texts=texts,
    )


def _closest_lengths(lengths: np.ndarray, known: Sequence[np.ndarray], group_of: Sequence[int]) -> np.ndarray:
    """Return `closest_length` for many candidates: the smallest of difference first, length second."""
    sizes = np.array([len(known[group]) for group in group_of])
    theirs = np.concatenate([known[group] for group in group_of])
    keys = (np.abs(theirs - np.repeat(lengths, sizes)) << 32) + theirs
    return np.minimum.reduceat(keys, np.cumsum(sizes) - sizes) & 0xFFFFFFFF


def count_rows(candidates: Sequence[str], references: Sequence[Sequence[str]], options: Bleu) -> np.ndarray:
    """Return one row of counts per text, equal to `Bleu.counts`, shape (texts, 2 + 2n)."""
    if not candidates:
        return np.zeros((0, 2 + 2 * options.n), np.int64)
    places: dict[str, int] = {}
    own = [places.setdefault(text, len(places)) for text in candidates]
    groups: dict[tuple[str, ...], int] = {}
    group_of = [groups.setdefault(tuple(group), len(groups)) for group in references]
    members = [[places.setdefault(text, len(places)) for text in group] for group in groups]
    tokens = number_texts(list(places), options.tokenizer())
    warn_of_lost_texts(list(places), tokens.lengths, tokenizer_name(options.tokenize))
    lengths = tokens.lengths[own]
    rows = np.zeros((len(own), 2 + 2 * options.n), np.int64)
    rows[:, 0] = lengths
    rows[:, 1] = _closest_lengths(lengths, [tokens.lengths[group] for group in members], group_of)
    for order, level in enumerate(ngram_levels(tokens, options.n)):
        merged, level = merge_greatest(level, members), in_order(level)
        both = NumberedTexts(np.r_[level.numbers, merged.numbers], np.r_[level.lengths, merged.lengths])
        sequences = as_sequences(both)
        targets = sequences[len(places) :]
        rows[:, 2 + order] = common_lengths([sequences[i] for i in own], [targets[g] for g in group_of])
        rows[:, 2 + options.n + order] = np.maximum(lengths - order, 0)
    return rows


def _explain(candidate: str, references: Sequence[str], options: Bleu, n: int) -> MatchPicture:
    """Mark the shared n-grams of one order in the candidate and in every reference."""
    cut = options.tokenizer()
    texts = [candidate, *references]
    tokens = [list(cut(text)) for text in texts]
    spans = [token_spans(text, found) for text, found in zip(texts, tokens, strict=True)]
    counted = clipped_counts(tokens[0], tokens[1:], n)
    shared = {gram: count for gram, (_, _, count) in counted.items() if count}
    labels = ["candidate", *(f"reference {i}" for i in range(1, len(texts)))]
    grams = [list_ngrams(found, n) for found in tokens]
    panels = [
        (label, text, ngram_marks(place, found, shared))
        for label, text, place, found in zip(labels, texts, spans, grams, strict=True)
    ]
    rows = [
        {
            "n-gram": " ".join(map(str, gram)),
            "candidate": own,
            "most in one reference": most,
            "counted": count,
        }
        for gram, (own, most, count) in counted.items()
    ]
    return MatchPicture(
        f"BLEU: shared {n}-grams, {sum(shared.values())} of {len(grams[0])} counted",
        panels,
        rows,
    )


def _interval(rows: np.ndarray, options: Bleu, confidence: float, n_resamples: int, seed: int) -> Interval:
    """Return the percentile bootstrap interval of BLEU over the texts."""
    drawn = bootstrap(
        lambda drawn: score_rows(rows[drawn].sum(axis=-2), options),
        len(rows),
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
    )
    return Interval(drawn.low, drawn.high, confidence, n_resamples, seed)
