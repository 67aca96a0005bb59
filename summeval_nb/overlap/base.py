"""What the word metrics share: arguments checked once, and warnings of texts that a tokenizer loses."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import TypeAlias

from summeval_nb.core.base import LONG, callers_level, require_text, require_texts, warn_of_order


def require_number(value: object, name: str, low: float, high: float) -> float:
    """Return `value` if it is a number from `low` to `high`; otherwise raise an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, not {value}")
    return value


_SWAPPED = "it comes first and its references second, and here they look swapped"
References: TypeAlias = str | Sequence[str]  # of one text
Groups: TypeAlias = Iterable[str | Iterable[str]]  # one entry a text: its reference, or several


def require_references(references: object, name: str = "references") -> list[str]:
    """Return one reference or several as a list; none at all, or None among them, is an error.

    Examples
    --------
    >>> require_references("the cat sat")
    ['the cat sat']
    """
    listed = [references] if isinstance(references, str) else require_texts(references, name)
    if not listed:
        raise ValueError(f"{name} is empty: at least one reference is needed")
    return listed


def require_candidate(candidate: object, references: object) -> str:
    """Return the text to judge; a list beside one text looks swapped, which the message says."""
    if isinstance(candidate, (list, tuple)) and isinstance(references, str):
        raise TypeError(f"candidate must be a string, not {type(candidate).__name__}: {_SWAPPED}")
    text = require_text(candidate, "candidate")
    listed = references if isinstance(references, (list, tuple)) else [references]
    if plain := [other for other in listed if isinstance(other, str)]:  # the caller reports what is none
        _warn_of_long([text], [plain])
    return text


def require_pairs(candidates: Iterable[str], references: Groups) -> tuple[list[str], list[list[str]]]:
    """Return the texts to judge and, for each, its list of references."""
    texts, groups = list[str](), list[list[str]]()
    if _plainly_paired(candidates, references):  # nothing but strings in lists needs no closer look
        texts, groups = list(candidates), [[item] if isinstance(item, str) else list(item) for item in references]
    else:
        swapped = type(candidates) is list and any(type(candidate) in (list, tuple) for candidate in candidates)
        if swapped and isinstance(references, (list, tuple)) and all(isinstance(item, str) for item in references):
            raise TypeError(f"candidates must be a list of strings: {_SWAPPED}")
        texts = require_texts(candidates, "candidates")
        if isinstance(references, (str, bytes, Mapping)) or not isinstance(references, Iterable):
            needed = "references must hold one string or one list of strings per candidate"
            raise TypeError(f"{needed}, not {type(references).__name__}")
        listed = list(references)
        if len(listed) != len(texts):
            raise ValueError(
                f"references must have one entry per candidate ({len(texts)}), not {len(listed)}; from reference "
                "streams (one list per annotator, as in sacrebleu) make them with list(zip(*streams))"
            )
        groups = [require_references(item, f"references[{index}]") for index, item in enumerate(listed)]
    _warn_of_long(texts, groups)
    return texts, groups


def _warn_of_long(texts: Sequence[str], groups: Sequence[Sequence[str]]) -> None:
    """Warn of candidates that are so much longer than every reference that they may be the references."""
    firsts = enumerate(zip(map(len, texts), map(len, map(itemgetter(0), groups)), strict=True))
    longer = [place for place, (own, first) in firsts if own > LONG and 4 * first < own]
    if longer:  # than the first reference; of few only the others are measured
        sizes = [(0, 0)] * len(texts)
        for place in longer:
            sizes[place] = (max(map(len, groups[place])), len(texts[place]))
        remedy = "the candidate comes first, and its references second"
        judged = ("the candidate is", "candidates are")
        warn_of_order(sizes, judged=judged, beside="its references", remedy=remedy, times=4)


def _plainly_paired(candidates: object, references: object) -> bool:
    """Whether there are as many references as candidates, all of them strings or lists of some strings."""
    if not type(candidates) is type(references) is list or len(candidates) != len(references):
        return False
    groups = [item for item in references if type(item) is not str]
    listed = set(map(type, groups)) <= {list} and all(groups)
    return listed and set(map(type, candidates)) <= {str} >= set(map(type, chain.from_iterable(groups)))


_UNSPACED = re.compile(  # six letters in a row of a language that writes no spaces between words
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]{6,}"
)
_AT_SPACES = frozenset({"13a", "intl"})
_KEPT = re.compile("[A-Za-z0-9]")
_LOST_LETTERS = 0.02  # a share of a text's letters that may be dropped without a word


def warn_of_lost_texts(texts: Sequence[str], lengths: Iterable[int], tokenizer: str) -> None:
    """Warn when a tokenizer leaves no token of a text, or splits at spaces what is written without them."""
    of, remedy = f"of {len(texts)} texts, for example", "Pass a tokenizer for their language"
    if lost := [text for text, length in zip(texts, lengths, strict=True) if length == 0 and text.strip()]:
        told = f"left no token of {len(lost)} {of} {_start(lost[0])}; they count as empty. {remedy}."
        _warn_of_tokenizer(tokenizer, told)
    elif tokenizer in _AT_SPACES:
        some = [text for text in texts if not text.isascii()]
        if whole := [text for text in some if 10 * sum(map(len, _UNSPACED.findall(text))) > len(text)]:
            told = f"splits at spaces, and {len(whole)} {of} {_start(whole[0])}, hold words without any between them"
            _warn_of_tokenizer(tokenizer, f"{told}. {remedy}, such as 'zh', 'ja-mecab' or 'char'.")


def warn_of_lost_letters(texts: Sequence[str], tokenizer: str) -> None:
    """Warn when ROUGE's own tokenizer, which keeps a to z and 0 to 9, drops more than 2 in 100 letters of a text.

    A text that keeps nothing at all is `warn_of_lost_texts`' affair.
    """
    if not tokenizer.startswith("rouge"):
        return
    some = [text for text in dict.fromkeys(texts) if not text.isascii() and _KEPT.search(text)]
    counts = {text: [letter.isascii() for letter in text if letter.isalpha()] for text in some}
    lost = {text: kept.count(False) for text, kept in counts.items() if kept.count(False) > _LOST_LETTERS * len(kept)}
    if lost:
        text, dropped = next(iter(lost.items()))
        _warn_of_tokenizer(
            tokenizer,
            f"keeps a to z and 0 to 9 only. It drops {sum(lost.values())} letters of {len(lost)} texts, for example "
            f"{dropped} of the {len(counts[text])} of {_start(text)}, and only the rest is compared. Pass a tokenizer "
            "for their language, or a stemmer of it, such as stemmer='german'.",
        )


def _warn_of_tokenizer(tokenizer: str, what: str) -> None:
    warnings.warn(f"the tokenizer {tokenizer!r} {what}", stacklevel=callers_level())


def _start(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
