"""Edited directly. What surrounds METEOR: synonyms for nltk, the best reference, rows; see tests/test_matching.py."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from summeval_nb.ground.base import JsonDict
from ..ground.results import Score, Signature
from summeval_nb.ground.base import require_text, require_texts
from summeval_nb.ground.html import Mark
from .base import ArrayTable, Groups, References, require_candidate, require_pairs, require_references
from .picture import COLORS, MatchPicture, token_spans
from .tokens import warn_of_foreign_words

if TYPE_CHECKING:
    from nltk.corpus.reader import WordNetCorpusReader

__all__ = [
    "MeteorScore",
    "MeteorTable",
    "count_chunks",
    "load_synonyms",
    "require_synonyms",
    "score_one",
    "score_table",
]


class Synonyms:
    """A mapping from words to their synonyms in the shape in which nltk asks WordNet."""

    def __init__(self, words: Mapping[str, Sequence[str]]) -> None:
        self.words = words

    def synsets(self, word: str) -> list[SimpleNamespace]:
        """Return one set of synonyms, or none."""
        names = [SimpleNamespace(name=lambda name=name: name) for name in self.words.get(word, ())]
        return [SimpleNamespace(lemmas=lambda: names)] if names else []


def load_synonyms(choice: object) -> Synonyms | WordNetCorpusReader:
    """Return what nltk can ask for synonyms."""
    if choice is None or isinstance(choice, Mapping):
        return Synonyms(choice or {})
    if choice != "wordnet":
        raise ValueError(f"synonyms must be 'wordnet', None or a mapping from word to synonyms, not {choice!r}")
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError as error:
        remedy = "run nltk.download('wordnet') once, or pass synonyms=None (forms and stems only) or a mapping"
        message = f"METEOR needs WordNet for its synonyms, and nltk does not find it: {remedy}"
        raise LookupError(message) from error
    return wordnet


def require_synonyms(choice: object) -> Synonyms | WordNetCorpusReader:
    """Return what nltk can ask for synonyms, and refuse what it could not, before any text is scored."""
    if isinstance(choice, Mapping):
        for word, others in choice.items():
            require_texts(others, f"the synonyms of {require_text(word, 'a word with synonyms')!r}")
    return load_synonyms(choice)


def count_chunks(matches: Sequence[tuple[int, int]]) -> int:
    """Return how many runs of neighbours, in order on both sides, the matches make."""
    breaks = [(a[0] + 1, a[1] + 1) != b for a, b in zip(matches, matches[1:], strict=False)]
    return 1 + sum(breaks) if matches else 0


class Matching(Protocol):
    """What `Meteor` knows: the words of a text, which of them match, and a score from counts."""

    @property
    def signature(self) -> Signature: ...
    def words(self, text: str) -> list[str]: ...
    def matches(self, words: Sequence[str], reference: Sequence[str]) -> tuple[tuple[int, int], ...]: ...
    def from_counts(self, matches: int, chunks: int, words: int, reference: int) -> float: ...


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MeteorScore(Score):
    """METEOR in [0, 1] of one text, by its best reference.

    Attributes
    ----------
    score : float or None
        None when neither candidate nor references hold a word.
    matches : tuple of (candidate word, reference word)
        Positions of the matched words.
    chunks : int
        Runs of neighbouring matches.
    """

    matches: tuple[tuple[int, int], ...]
    chunks: int
    words: tuple[Sequence[str], Sequence[str]]
    texts: tuple[str, str]

    def rows(self) -> list[JsonDict]:
        """Return one row per matched word."""
        own, wanted = self.words
        return [{"candidate": str(own[i]), "reference": str(wanted[j])} for i, j in self.matches]

    def explain(self) -> MatchPicture:
        """Mark the matched words of both texts."""
        marks: list[list[Mark]] = [[], []]
        spans = [token_spans(text, words) for text, words in zip(self.texts, self.words, strict=True)]
        for number, match in enumerate(self.matches):
            for side, place in enumerate(match):
                if span := spans[side][place]:
                    marks[side].append(Mark(*span, COLORS[number % len(COLORS)], "#1a1a1a", f"match {number + 1}"))
        shown = "none" if self.score is None else f"{self.score:.4f}"
        panels = list(zip(("candidate", "reference"), self.texts, marks, strict=True))
        title = f"METEOR {shown}: {len(self.matches)} matches in {self.chunks} chunks"
        return MatchPicture(title, panels, self.rows())


class MeteorTable(ArrayTable):
    """METEOR of many texts, as `meteor`."""


def score_one(metric: Matching, candidate: str, references: References) -> MeteorScore:
    """Return the score of one text by its best reference."""
    text, listed = require_candidate(candidate, references), require_references(references)
    warn_of_foreign_words("meteor", [text, *listed])
    return _best(metric, text, listed)


def score_table(metric: Matching, candidates: Sequence[str], references: Groups) -> MeteorTable:
    """Return the scores of many texts, NaN where no side holds a word."""
    texts, groups = require_pairs(candidates, references)
    warn_of_foreign_words("meteor", texts)
    found = [_best(metric, *pair) for pair in zip(texts, groups, strict=True)]
    scores = np.array([np.nan if one.score is None else one.score for one in found], float)
    return MeteorTable(values={"meteor": scores}, signature=metric.signature)


def _best(metric: Matching, candidate: str, references: Sequence[str]) -> MeteorScore:
    """Match the words with each reference; the first of the best counts."""
    own = metric.words(candidate)
    best: tuple[float, dict[str, Any]] | None = None
    empty = not own
    for reference in references:
        wanted = metric.words(reference)
        empty = empty and not wanted
        matches = metric.matches(own, wanted)
        chunks = count_chunks(matches)
        value = metric.from_counts(len(matches), chunks, len(own), len(wanted)) if matches else 0.0
        if best is None or value > best[0]:
            texts = (candidate, reference)
            best = value, {"matches": matches, "chunks": chunks, "words": (own, wanted), "texts": texts}
    value, parts = best or (0.0, {})
    reason = ArrayTable.nothing if empty else ""
    return MeteorScore(score=None if empty else value, reason=reason, signature=metric.signature, **parts)
