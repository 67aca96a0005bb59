"""Edited directly. The choices of the word metrics as types, so that a function takes those of a metric by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ..ground._choices import takes_choices_of
from ._numbers import Tokens

if TYPE_CHECKING:
    from summeval_nb.text.embed import EmbedderOrName

__all__ = [
    "BertChoices",
    "ChrfChoices",
    "MeteorChoices",
    "RougeChoices",
    "TerChoices",
    "require_number",
    "takes_choices_of",
]


class BleuChoices(TypedDict, total=False):
    """The fields of `Bleu` that are given by name and have one default for a text and a corpus."""

    tokenize: str | Callable[[str], Tokens]
    smooth: str
    smooth_value: float | None
    lowercase: bool


class ChrfChoices(TypedDict, total=False):
    """The fields of `Chrf`."""

    char_order: int
    word_order: int
    beta: float
    lowercase: bool
    whitespace: bool
    eps_smoothing: bool


class RougeChoices(TypedDict, total=False):
    """The fields of `Rouge`."""

    types: Sequence[str]
    stemmer: bool | str
    tokenizer: str | Callable[[str], Tokens] | None
    multi: str | None
    compat: str
    exceptions: Mapping[str, str] | str | None
    weight: float


class TerChoices(TypedDict, total=False):
    """The fields of `Ter`."""

    normalized: bool
    no_punct: bool
    asian_support: bool
    case_sensitive: bool


class MeteorChoices(TypedDict, total=False):
    """The fields of `Meteor`."""

    synonyms: str | Mapping[str, Sequence[str]] | None
    tokenize: str | Callable[[str], Tokens]
    alpha: float
    beta: float
    gamma: float


class BertChoices(TypedDict, total=False):
    """The fields of `BertScore`."""

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
