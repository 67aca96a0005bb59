"""Edited directly. ROUGE by rouge-score-rs where the extra `fast` is installed: the same numbers, in less time.

It serves what it computes to the last bit as we do (tests/test_fast.py): ROUGE-1 to ROUGE-9, ROUGE-L and ROUGE-Lsum by
rouge-score's conventions, with or without its stemmer, one reference or the best of several. Everything else, and many
pairs of few texts, which are cut only once here, is counted by our own code. Signatures are the same.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from summeval_nb.ground.base import np
from .base import warn_of_lost_texts

if TYPE_CHECKING:
    from rouge_score_rs.rouge_scorer import RougeScorer

    from .rouge import Rouge

__all__ = ["scores_of_many", "scores_of_one"]

ENABLED = True
_TYPES = frozenset({*(f"rouge{n}" for n in range(1, 10)), "rougeL", "rougeLsum"})
_TOKEN = re.compile("[a-z0-9]")
# From how many pairs a different text on our own code is faster: it cuts and stems each text once. Measured.
_REPEATED, _REPEATED_STEMMED = 8, 3.5


@cache
def _installed() -> bool:
    return importlib.util.find_spec("rouge_score_rs") is not None


@cache
def _scorer(types: tuple[str, ...], stemmer: bool) -> RougeScorer:
    from rouge_score_rs.rouge_scorer import RougeScorer

    return RougeScorer(list(types), use_stemmer=stemmer)


def _serves(options: Rouge, most_references: int) -> bool:
    own = options.compat == "google" and options.tokenizer is None and type(options.stemmer) is bool
    simple = most_references == 1 or options.combining == "best"
    return ENABLED and own and simple and _TYPES.issuperset(options.types) and _installed()


def _holds_token(text: str) -> bool:
    """Whether rouge-score's tokenizer leaves anything of a text."""
    return _TOKEN.search(text) is not None or _TOKEN.search(text.lower()) is not None


def scores_of_one(
    text: str, references: Sequence[str], options: Rouge, name: str
) -> Mapping[str, Sequence[float]] | None:
    """Precision, recall and F1 by type; empty where there is nothing to compare, None where we count ourselves."""
    if not _serves(options, len(references)):
        return None
    scorer = _scorer(tuple(options.types), bool(options.stemmer))
    found = scorer.score(references[0], text) if len(references) == 1 else scorer.score_multi(list(references), text)
    alike = any(found[kind][2] for kind in options.types)
    if not alike or len(references) > 1:  # what shares a word has one on both sides
        kept = {one: int(_holds_token(one)) for one in (text, *references)}
        warn_of_lost_texts(list(kept), kept.values(), name)
        if not any(kept.values()):
            return {}
    return {kind: found[kind] for kind in options.types}


def scores_of_many(
    texts: Sequence[str], references: Sequence[Sequence[str]], options: Rouge, name: str
) -> tuple[dict[str, np.ndarray], np.ndarray] | None:
    """{type: (texts, 3)} and which texts have anything to compare; None where we count ourselves."""
    most = max(map(len, references), default=0)
    if not _serves(options, most):
        return None
    if most > 1:
        kept = dict.fromkeys([*texts, *chain.from_iterable(references)], True)
        if sum(map(len, references)) > (_REPEATED_STEMMED if options.stemmer else _REPEATED) * len(kept):
            return None
    scorer = _scorer(tuple(options.types), bool(options.stemmer))
    if most == 1:
        found = scorer.score_batch([group[0] for group in references], list(texts))
    else:
        found = [scorer.score_multi(list(group), text) for text, group in zip(texts, references, strict=True)]
    scores = {}
    for kind in options.types:
        flat = chain.from_iterable([one[kind] for one in found])
        scores[kind] = np.fromiter(flat, float, 3 * len(found)).reshape(-1, 3)
    defined = np.ones(len(texts), bool)
    if most == 1:  # what shares a word has one on both sides
        unlike = np.flatnonzero(sum(values[:, 2] for values in scores.values()) == 0).tolist()
        kept = dict.fromkeys([*(texts[i] for i in unlike), *(references[i][0] for i in unlike)], True)
    for one in kept:
        kept[one] = _holds_token(one)
    if not all(kept.values()):
        pairs = zip(texts, references, strict=True)
        defined = np.array([kept.get(text, True) or any(kept.get(one, True) for one in group) for text, group in pairs])
        lost = {one: kept.get(one, True) for one in dict.fromkeys([*texts, *chain.from_iterable(references)])}
        warn_of_lost_texts(list(lost), map(int, lost.values()), name)
    return scores, defined
