"""Edited directly. The choices of the word metrics as types, so that a function takes those of a metric by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypedDict, TypeVar

__all__ = [
    "BertChoices",
    "ChrfChoices",
    "MeteorChoices",
    "RougeChoices",
    "TerChoices",
    "require_number",
    "takes_choices_of",
]

Function = TypeVar("Function", bound=Callable[..., Any])


def takes_choices_of(kind: type[Any]) -> Callable[[Function], Function]:
    """Show the fields of a metric in the signature of a function that hands `**choices` to it.

    A function says which fields it takes by a type of this module, for type checkers; people, editors and pages ask
    `inspect.signature`, and get every choice with its default.
    """

    def show(function: Function) -> Function:
        own = inspect.signature(function)
        named = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        taken = {one.name for one in named}
        for field in fields(kind):
            if field.init and field.name not in taken:
                default = inspect.Parameter.empty if field.default is MISSING else field.default
                named.append(
                    inspect.Parameter(
                        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.type
                    )
                )
        setattr(function, "__signature__", own.replace(parameters=named))  # noqa: B010
        return function

    return show


class BleuChoices(TypedDict, total=False):
    """The fields of `Bleu` that are given by name and have one default for a text and a corpus."""

    tokenize: str | Callable[[str], Any]
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
    stemmer: bool
    tokenizer: str | Callable[[str], Any] | None
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

    synonyms: Any
    tokenize: str | Callable[[str], Any]
    alpha: float
    beta: float
    gamma: float


class BertChoices(TypedDict, total=False):
    """The fields of `BertScore`."""

    model: str | Path
    layer: int | None
    idf: bool
    baseline: float | None
    embedder: Any


def require_number(value: Any, name: str, low: float, high: float) -> float:
    """Return `value` if it is a number from `low` to `high`; otherwise raise an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, not {value}")
    return value
