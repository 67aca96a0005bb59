"""The two numbers of every benchmark with short answers: exact match and token F1, as SQuAD defines them."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable

from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Score, Signature
from summeval_nb.overlap.tokens import References, require_candidate, require_references

__all__ = ["exact_match", "exact_match_many", "squad_words", "token_f1", "token_f1_many"]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


def squad_words(text: str) -> list[str]:
    """Return the words of an answer in small letters, without English articles and ASCII punctuation.

    Examples
    --------
    >>> squad_words("The old bridge.")
    ['old', 'bridge']
    """
    return _ARTICLES.sub(" ", text.lower().translate(_NO_MARKS)).split()


def _shared(candidate: list[str], reference: list[str]) -> float:
    """Return F1 of two bags of words; where one is empty, whether both are."""
    same = (Counter(candidate) & Counter(reference)).total()
    if not candidate or not reference:
        return float(candidate == reference)
    return 2 * same / (len(candidate) + len(reference))


def _best(name: str, candidate: str, references: References, of: Callable[[list[str], list[str]], float]) -> Score:
    text, listed = require_candidate(candidate, references), require_references(references)
    own = squad_words(text)
    best = max(of(own, squad_words(reference)) for reference in listed)
    return Score(score=best, signature=Signature({"metric": name, "nrefs": len(listed), "norm": "squad"}))


@metric("exact_match", probe="a", batch_size=2000)
def exact_match(candidate: str, references: References) -> Score:
    """Return 1 where an answer has the same words as one of the true answers, in the same order, else 0.

    Parameters
    ----------
    candidate : str
        The answer to judge.
    references : str or list of str
        One true answer or several.

    Returns
    -------
    Score
        0 or 1. Small and capital letters, articles (a, an, the) and punctuation make no difference.

    References
    ----------
    Rajpurkar et al. 2016, SQuAD: 100,000+ Questions for Machine Comprehension of Text.

    Examples
    --------
    >>> float(exact_match(candidate="The old bridge.", references="old bridge"))
    1.0
    """
    return _best("exact_match", candidate, references, lambda own, true: float(own == true))


@metric("token_f1", probe="a", batch_size=2000)
def token_f1(candidate: str, references: References) -> Score:
    """Return F1 of the words that an answer shares with a true answer, in [0, 1]; of several the best counts.

    Words are counted as in `exact_match`, their order makes no difference. Where one side has no word left, the score
    is 1 if neither has one, and else 0.

    Parameters
    ----------
    candidate : str
        The answer to judge.
    references : str or list of str
        One true answer or several.

    References
    ----------
    Rajpurkar et al. 2016, SQuAD: 100,000+ Questions for Machine Comprehension of Text.

    Examples
    --------
    >>> round(float(token_f1(candidate="the bridge of Leeds", references="old bridge")), 2)
    0.4
    """
    return _best("token_f1", candidate, references, _shared)


exact_match_many, token_f1_many = batch(exact_match), batch(token_f1)
