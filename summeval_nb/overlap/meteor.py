"""METEOR by nltk's rules, with every matched word shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from summeval_nb.core.base import JsonDict, one_bar, require_text, require_texts, steps
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Score, ScoreTable, Signature

from .matching import count_chunks, meteor_from_counts
from .picture import MatchPicture, match_panels
from .tokens import (
    Groups,
    References,
    Tokens,
    load_tokenizer,
    require_candidate,
    require_number,
    require_pairs,
    require_references,
    tokenizer_name,
    warn_of_foreign_words,
)

if TYPE_CHECKING:
    from nltk.corpus.reader import WordNetCorpusReader

__all__ = ["MeteorScore", "meteor_many", "meteor_score"]

NOTHING = "neither candidate nor references hold anything to compare"


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

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return METEOR by its name."""
        return {"meteor": self.score}

    def rows(self) -> list[JsonDict]:
        """Return one row per matched word."""
        own, wanted = self.words
        return [{"candidate": own[i], "reference": wanted[j]} for i, j in self.matches]

    def explain(self) -> MatchPicture:
        """Mark the matched words of both texts."""
        shown = "none" if self.score is None else f"{self.score:.4f}"
        title = f"METEOR {shown}: {len(self.matches)} matches in {self.chunks} chunks"
        panels = match_panels(("candidate", "reference"), self.texts, self.words, self.matches)
        return MatchPicture(title, panels, self.rows())


def meteor_signature(
    synonyms: str | Mapping[str, Sequence[str]] | None,
    tokenize: str | Callable[[str], Tokens],
    alpha: float,
    beta: float,
    gamma: float,
) -> Signature:
    """Return every option that could change a number; raise where one is wrong."""
    for name, value, most in (("alpha", alpha, 1), ("beta", beta, 100), ("gamma", gamma, 1)):
        require_number(value, name, 0, most)
    _load_synonyms(synonyms), load_tokenizer(tokenize)
    kind = synonyms if isinstance(synonyms, str) else "none" if synonyms is None else "own"
    named = {"metric": "meteor-nltk", "nltk": version("nltk"), "synonyms": kind, "tok": tokenizer_name(tokenize)}
    return Signature(named | {"alpha": f"{alpha:g}", "beta": f"{beta:g}", "gamma": f"{gamma:g}"})


@metric("meteor", probe="a", check=meteor_signature, signature=meteor_signature)
def meteor_score(
    candidate: str,
    references: References,
    *,
    synonyms: str | Mapping[str, Sequence[str]] | None = "wordnet",
    tokenize: str | Callable[[str], Tokens] = "none",
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
) -> MeteorScore:
    """Return METEOR of one text, in [0, 1], by nltk's rules.

    Parameters
    ----------
    candidate : str
        The text to judge.
    references : str or list of str
        One or several; the best counts.
    synonyms : "wordnet", None or mapping
        Where synonyms come from; None matches forms and stems only. nltk asks for the synonyms of a stem.
    tokenize : str or callable
        What cuts words; by default white space, as in nltk's examples.
    alpha, beta, gamma : float
        Weight of precision, power and weight of the penalty.

    Raises
    ------
    LookupError
        If nltk has no WordNet; the message says what to do.

    References
    ----------
    Banerjee and Lavie (2005), "METEOR: An Automatic Metric for MT Evaluation". Equal to nltk 3.10's `meteor_score`,
    which takes the last free word instead of the alignment with the fewest crossings.

    Examples
    --------
    >>> texts = "the cats sat", "the cat sat on the mat"
    >>> round(float(meteor_score(*texts, synonyms=None)), 4)
    0.4483
    """
    signature = meteor_signature(synonyms, tokenize, alpha, beta, gamma)
    text, listed = require_candidate(candidate, references), require_references(references)
    warn_of_foreign_words("meteor", [text, *listed])
    return _best(text, listed, _load_synonyms(synonyms), load_tokenizer(tokenize), (alpha, beta, gamma), signature)


def meteor_table(
    candidates: Sequence[str], references: Groups, *, progress: bool | None = None, **options: Any
) -> ScoreTable[MeteorScore]:
    """Return METEOR of each text; by default a bar is shown for more than 1,000 of them."""
    signature = meteor_signature(**options)
    texts, groups = require_pairs(candidates, references)
    warn_of_foreign_words("meteor", texts)
    known, tokenize = _load_synonyms(options["synonyms"]), load_tokenizer(options["tokenize"])
    weights = options["alpha"], options["beta"], options["gamma"]
    with one_bar(len(texts), "METEOR", "text", show=len(texts) > 1000 if progress is None else progress):
        pairs = steps(zip(texts, groups, strict=True), total=len(texts))
        found = [_best(text, group, known, tokenize, weights, signature) for text, group in pairs]
    return ScoreTable(found, signature=signature, nothing=NOTHING)


meteor_many = batch(meteor_score, meteor_table)


def _best(
    candidate: str,
    references: Sequence[str],
    synonyms: _Synonyms | WordNetCorpusReader,
    tokenize: Callable[[str], Tokens],
    weights: tuple[float, float, float],
    signature: Signature,
) -> MeteorScore:
    """Match the words with each reference, by form, then stem, then synonym; the first of the best counts."""
    from nltk.translate.meteor_score import align_words

    own, *others = ([str(word) for word in tokenize(text)] for text in (candidate, *references))
    scores: list[tuple[float, str, list[str], tuple[tuple[int, int], ...]]] = []
    for reference, wanted in zip(references, others, strict=True):
        matches = tuple(align_words(own, wanted, wordnet=synonyms)[0])
        value = 0.0
        if matches:
            value = meteor_from_counts(len(matches), count_chunks(matches), len(own), len(wanted), *weights)
        scores.append((value, reference, wanted, matches))
    value, reference, wanted, matches = max(scores, key=lambda found: found[0])
    empty = not own and not any(others)
    return MeteorScore(
        score=None if empty else value,
        reason=NOTHING if empty else "",
        signature=signature,
        matches=matches,
        chunks=count_chunks(matches),
        words=(own, wanted),
        texts=(candidate, reference),
    )


class _Synonyms:
    """A mapping from words to synonyms, in the shape in which nltk asks WordNet."""

    def __init__(self, words: Mapping[str, Sequence[str]]) -> None:
        self.words = words

    def synsets(self, word: str) -> list[SimpleNamespace]:
        """Return one set of synonyms, or none."""
        names = [SimpleNamespace(name=lambda name=name: name) for name in self.words.get(word, ())]
        return [SimpleNamespace(lemmas=lambda: names)] if names else []


def _load_synonyms(choice: object) -> _Synonyms | WordNetCorpusReader:
    """Return what nltk can ask for synonyms, and refuse what it could not."""
    if choice is None or isinstance(choice, Mapping):
        for word, others in (choice or {}).items():
            require_texts(others, f"the synonyms of {require_text(word, 'a word with synonyms')!r}")
        return _Synonyms(choice or {})
    if choice != "wordnet":
        raise ValueError(f"synonyms must be 'wordnet', None or a mapping from word to synonyms, not {choice!r}")
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError as error:
        raise LookupError(
            "METEOR needs WordNet for its synonyms, and nltk does not find it: run nltk.download('wordnet') once, "
            "or pass synonyms=None (forms and stems only) or a mapping"
        ) from error
    return wordnet
