"""What the word metrics share: their choices as types, arguments checked once, tables of arrays, intervals of sums."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypedDict

from summeval_nb.core.base import LONG, callers_level, np, require_text, require_texts, warn_of_order
from summeval_nb.core.resampling import bootstrap

from ..core.results import Result, ScoreTable, Signature
from .tokens import Tokens

if TYPE_CHECKING:
    from summeval_nb.text.embed import EmbedderOrName


class BleuChoices(TypedDict, total=False):
    """The fields of `BleuMetric` that are given by name and have one default for a text and a corpus."""

    tokenize: str | Callable[[str], Tokens]
    smooth: str
    smooth_value: float | None
    lowercase: bool


class ChrfChoices(TypedDict, total=False):
    """The fields of `ChrfMetric`."""

    char_order: int
    word_order: int
    beta: float
    lowercase: bool
    whitespace: bool
    eps_smoothing: bool


class TerChoices(TypedDict, total=False):
    """The fields of `TerMetric`."""

    normalized: bool
    no_punct: bool
    asian_support: bool
    case_sensitive: bool


class MeteorChoices(TypedDict, total=False):
    """The fields of `MeteorMetric`."""

    synonyms: str | Mapping[str, Sequence[str]] | None
    tokenize: str | Callable[[str], Tokens]
    alpha: float
    beta: float
    gamma: float


class ExtractiveChoices(TypedDict, total=False):
    """The fields of `ExtractiveMetric`."""

    measures: Sequence[str]
    tokenize: str | Callable[[str], Tokens]
    lowercase: bool


class BertChoices(TypedDict, total=False):
    """The fields of `BertScoreMetric`."""

    model: str | Path
    layer: int | None
    idf: bool
    baseline: float | None
    embedder: EmbedderOrName | None


def require_number(value: object, name: str, low: float, high: float) -> float:
    """Return `value` if it is a number from `low` to `high`; otherwise raise an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, not {value}")
    return value


References: TypeAlias = str | Sequence[str]  # of one text
Groups: TypeAlias = Sequence[str | Sequence[str]]  # one entry a text: its reference, or several


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


def require_candidate(candidate: object, references: object, name: str = "candidate") -> str:
    """Return the text to judge; a list beside one text looks swapped, which the message says."""
    if isinstance(candidate, (list, tuple)) and isinstance(references, str):
        raise TypeError(
            f"{name} must be a string, not {type(candidate).__name__}: it comes first and its references second, "
            "and here they look swapped"
        )
    text = require_text(candidate, name)
    listed = references if isinstance(references, (list, tuple)) else [references]
    if plain := [
        listed_text for listed_text in listed if isinstance(listed_text, str)
    ]:  # an empty list is reported by the caller
        _warn_of_long([text], [plain])
    return text


def require_pairs(
    candidates: Sequence[str], references: Groups, name: str = "candidates"
) -> tuple[list[str], list[list[str]]]:
    """Return the texts to judge and, for each, its list of references."""
    if _plainly_paired(candidates, references):  # nothing but strings in lists needs no closer look
        plain = [[item] if isinstance(item, str) else list(item) for item in references]
        _warn_of_long(candidates, plain)
        return list(candidates), plain
    swapped = type(candidates) is list and any(type(candidate) in (list, tuple) for candidate in candidates)
    if (
        swapped
        and isinstance(references, (list, tuple))
        and all(isinstance(reference, str) for reference in references)
    ):
        raise TypeError(
            f"{name} must be a list of strings: they come first and their references second, and here they look swapped"
        )
    texts = require_texts(candidates, name)
    if isinstance(references, (str, bytes, Mapping)) or not isinstance(references, Iterable):
        raise TypeError(
            f"references must hold one string or one list of strings per candidate, not {type(references).__name__}"
        )
    listed = list(references)
    if len(listed) != len(texts):
        raise ValueError(
            f"references must have one entry per candidate ({len(texts)}), not {len(listed)}; from reference streams "
            "(one list per annotator, as in sacrebleu) make them with list(zip(*streams))"
        )
    groups = [require_references(item, f"references[{index}]") for index, item in enumerate(listed)]
    _warn_of_long(texts, groups)
    return texts, groups


def _warn_of_long(texts: Sequence[str], groups: Sequence[Sequence[str]]) -> None:
    """Warn of candidates that are so much longer than every reference that they may be the references."""
    firsts = zip(map(len, texts), map(len, map(itemgetter(0), groups)), strict=True)
    longer = [i for i, (own, first) in enumerate(firsts) if own > LONG and 4 * first < own]
    if not longer:
        return
    sizes = [(0, 0)] * len(texts)
    for i in longer:  # than the first reference; of few only the others are measured
        sizes[i] = (max(map(len, groups[i])), len(texts[i]))
    remedy = "the candidate comes first, and its references second"
    judged = ("the candidate is", "candidates are")
    warn_of_order(sizes, judged=judged, beside="its references", remedy=remedy, times=4)


def _plainly_paired(candidates: Sequence[str], references: Groups) -> bool:
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
    lost = [text for text, length in zip(texts, lengths, strict=True) if length == 0 and text.strip()]
    if lost:
        _warn_of_tokenizer(
            tokenizer,
            f"left no token of {len(lost)} of {len(texts)} texts, for example {_start(lost[0])}; they count as empty. "
            "Pass a tokenizer for their language.",
        )
    elif tokenizer in _AT_SPACES:
        whole = [
            text for text in texts if not text.isascii() and 10 * sum(map(len, _UNSPACED.findall(text))) > len(text)
        ]
        if whole:
            _warn_of_tokenizer(
                tokenizer,
                f"splits at spaces, and {len(whole)} of {len(texts)} texts, for example {_start(whole[0])}, hold words "
                "without any between them. Pass a tokenizer for their language, such as 'zh', 'ja-mecab' or 'char'.",
            )


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


class Interval(NamedTuple):
    """A confidence interval and how it was made."""

    low: float
    high: float
    confidence: float
    n_resamples: int
    seed: int


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ArrayTable(ScoreTable[Result]):
    """Scores of many texts with their parts: `values` by name, each of shape (texts,), the main score first.

    `result_of` makes the result of a text of its place.
    """

    values: Mapping[str, np.ndarray]
    signature: Signature
    result_of: Callable[[int], Result]
    nothing = "neither candidate nor references hold anything to compare"

    def result(self, place: int) -> Result:
        """Return the result of a text by its place, from 0."""
        return self.result_of(place)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return each number by name, NaN where there is none."""
        return dict(self.values)


def bootstrap_interval(
    rows: np.ndarray, formula: Callable[[list[float]], float], confidence: float, n_resamples: int, seed: int
) -> Interval:
    """Return the percentile bootstrap interval of a corpus score: `formula` of the sum of the texts' rows of counts."""

    def statistic(drawn: np.ndarray) -> np.ndarray:
        sums = rows[drawn].sum(axis=-2)
        flat = [formula(row) for row in sums.reshape(-1, rows.shape[1]).tolist()]
        return np.array(flat, float).reshape(sums.shape[:-1])

    _, low, high = bootstrap(statistic, len(rows), confidence=confidence, n_resamples=n_resamples, seed=seed)
    return Interval(low, high, confidence, n_resamples, seed)


def signed(signature: Signature, references: Sequence[Sequence[str]]) -> Signature:
    """Return a signature with the number of references, "var" when texts have different numbers."""
    sizes = {len(group) for group in references}
    name, *rest = signature.items()
    return Signature(dict([name, ("nrefs", str(sizes.pop()) if len(sizes) == 1 else "var"), *rest]))
