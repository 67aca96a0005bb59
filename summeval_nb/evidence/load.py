"""Checkers by their names: the package's own, made once, and those of models that a name gives."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from summeval_nb.core.base import require_share
from summeval_nb.evidence.base import Checker
from summeval_nb.evidence.inputs import unread_reasons
from summeval_nb.models.base import Backend
from summeval_nb.models.load import FORMS, load_model, unknown_name

__all__ = ["checker", "load_checker", "named_checker", "packaged_checker", "require_checker", "with_threshold"]


def load_checker(checker: str | Checker) -> Checker:
    """Return a checker by name, or the given object after a look at whether it is one.

    The names: `"embedded"`, the package's own, which reads; `"words"`, chapter 34's;
    `"nli:FOLDER"` for a classifier (chapter 35), `"nli:FOLDER?recipe=minicheck"` for one
    of a family that reads in its own way (also `hhem`, `alignscore`); `"llm:FOLDER"`, `"llm:FILE.gguf"` or
    `"llm:NAME@http://HOST:PORT/v1"` for a language model (chapter 39).

    Raises
    ------
    ValueError
        If the name is unknown, or names a kind without a model.
    TypeError
        If the object lacks a part of the `Checker` protocol.

    Examples
    --------
    >>> load_checker("words").threshold
    0.5
    """
    if not isinstance(checker, str):
        return require_checker(checker)
    if checker.partition(":")[0] in ("nli", "llm"):
        return load_checker(named_checker(checker))
    if checker not in ("embedded", "words"):
        raise unknown_name(checker, "checker")
    return packaged_checker(checker)


def checker(
    sens_text: Sequence[str],
    sen_summary: str,
    *,
    using: str | Checker = "embedded",
    lang: str | None = None,
) -> tuple[bool, float | None]:
    """Return whether article sentences support a summary sentence, and how surely.

    Inherited, for one sentence: `load_checker` gives the object behind it.

    Parameters
    ----------
    sens_text : sequence of str
        The evidence: sentences of the article, at least one.
    sen_summary : str
        The summary sentence.
    using : str or Checker
        A name as for `load_checker`, or a checker object.
    lang : str, optional
        The texts' language, such as `"en"`; by default a text that is clearly in a
        language that the checker does not read has no verdict.

    Returns
    -------
    supported : bool
        Whether the verdict is *supported*: the probability reaches the threshold, and
        nothing clashes.
    probability : float or None
        In [0, 1]; None where a language model gives none.

    Raises
    ------
    ValueError
        If there is no evidence, or there is no verdict, as on a text in a language that
        the checker does not read; the message says why.

    Examples
    --------
    >>> checker(["The cat sat on the mat."], "The cat sat on the mat.")[0]
    True
    """
    chosen = load_checker(using)
    verdict = chosen.check_many([(sens_text, sen_summary)])[0]
    (unread,) = unread_reasons(" ".join(sens_text), [sen_summary], chosen, lang)
    if unread or not verdict.judged:
        why = unread or verdict.reason
        raise ValueError(f"no verdict on {sen_summary!r:.60}: {why}")
    own = replace(verdict, threshold=chosen.threshold, contradicted_below=None)
    return bool(own.supported), verdict.probability


def named_checker(name: str, load: Callable[[str], Backend] = load_model) -> Checker:
    """Return the checker that a text such as "nli:FOLDER" or "llm:NAME@http://HOST/v1" names.

    Raises
    ------
    ValueError
        If the kind is neither "nli" nor "llm", or no model is named.
    """
    kind, _, model = name.partition(":")
    if kind not in ("nli", "llm"):
        raise ValueError(f"checker cannot be {kind!r}: name a model as 'llm:...' or 'nli:...'")
    if not model:
        forms = " or ".join(repr(form) for form in FORMS if form.startswith(kind))
        made = {"nli": "NLIChecker('FOLDER')", "llm": "LLMChecker(TransformersBackend('FOLDER'))"}[kind]
        raise ValueError(
            f"checker={name!r} names no model: write {forms}, or build one: "
            f"from summeval_nb import {made.partition('(')[0]}; checker={made}"
        )
    if kind == "nli":
        from summeval_nb.evidence.model_checkers import NLIChecker

        folder, _, recipe = model.partition("?recipe=")
        return NLIChecker(folder, recipe=recipe or None)
    from summeval_nb.evidence.model_checkers import LLMChecker

    return LLMChecker(load(model))


@cache
def packaged_checker(name: str) -> Checker:
    """Return one of the package's own checkers, "words" or "embedded", made once."""
    if name == "words":
        from summeval_nb.evidence.builtin import WordsChecker

        return WordsChecker()
    from summeval_nb.evidence.builtin import EmbeddedChecker

    return EmbeddedChecker()


def require_checker(checker: Any) -> Checker:
    """The object if it has all parts of the `Checker` protocol; otherwise raise and say which are missing."""
    if isinstance(checker, type):
        raise TypeError(f"pass a checker, not its class: {checker.__name__}(...)")
    missing = [name for name in ("fingerprint", "threshold", "check_many") if not hasattr(checker, name)]
    if missing:
        raise TypeError(f"{type(checker).__name__} is no checker, it lacks {', '.join(missing)}")
    if not callable(checker.check_many):
        raise TypeError(f"a checker's check_many must be a method, not {checker.check_many!r:.40}")
    if not isinstance(checker.fingerprint, str) or not checker.fingerprint:
        raise TypeError(f"a checker's fingerprint must be a non-empty string, not {checker.fingerprint!r}")
    require_share(checker.threshold, "threshold")
    return checker


def with_threshold(checker: Checker, threshold: float) -> Checker:
    """Return a checker of the same kind with another threshold; the given one stays as it is."""
    share = require_share(threshold, "threshold")
    if callable(make := getattr(checker, "with_threshold", None)):
        return make(share)
    if "threshold" not in getattr(checker, "__dict__", {}):
        raise TypeError(
            f"{type(checker).__name__} has no threshold that could be set for one call: build it with that threshold, "
            "or give it a method with_threshold(threshold)"
        )
    other: Any = copy.copy(checker)
    other.threshold = share
    return other
