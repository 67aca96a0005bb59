"""Forms of English verbs: which words may be a past, and which are forms of one verb."""

from __future__ import annotations

from functools import cache
from importlib import resources

from summeval_nb.evidence.tokens import stem

__all__ = ["may_be_past", "past_of", "present_key", "same_form"]

_PREFIXES = ("", "re", "over", "under", "with", "out", "mis", "un")  # rebuilt, overtook, withdrew
_NO_PAST = frozenset("hundred need indeed speed seed feed breed red bed dead read".split())
_OTHER_VERBS = frozenset("lay wound".split())  # the past of one verb, and the present of another


@cache
def _verbs() -> list[list[str]]:
    text = resources.files("summeval_nb").joinpath("assets/irregular_verbs.txt").read_text(encoding="utf-8")
    listed = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return [[prefix + form for form in verb] for prefix in _PREFIXES for verb in listed]


@cache
def _pasts() -> frozenset[str]:
    return frozenset(form for verb in _verbs() for form in verb[1:]) - _NO_PAST


@cache
def _presents() -> dict[str, str]:
    """Return for the key of each form of an irregular verb the key of its present; a word of its own goes first."""
    forms = [(form, verb[0]) for verb in _verbs() for form in verb[1:] if form not in _OTHER_VERBS]
    return {stem(form): stem(present) for form, present in reversed(forms)}


def may_be_past(word: str, *, only: bool = False) -> bool:
    """Return whether a word in lower case can be the past of a verb, or its participle.

    With `only` it must differ from the present: *sold*, but not *cut*.

    Examples
    --------
    >>> may_be_past("closed"), may_be_past("sold"), may_be_past("cut"), may_be_past("cut", only=True)
    (True, True, True, False)
    """
    if word in _pasts():
        return not only or all(word != verb[0] for verb in _verbs() if word in verb)
    return len(word) > 3 and word.endswith("ed") and word not in _NO_PAST


def past_of(verb: str) -> str:
    """Return the past of an irregular verb in lower case, "" for any other word.

    Examples
    --------
    >>> past_of("spread"), past_of("freeze"), past_of("close")
    ('spread', 'froze', '')
    """
    return _past_forms().get(verb, "")


@cache
def _past_forms() -> dict[str, str]:
    return {verb[0]: verb[1] for verb in reversed(_verbs())}


def present_key(key: str) -> str:
    """Return the key of a verb's present for the key of one of its forms, and any other key as it is.

    Examples
    --------
    >>> present_key("sold"), present_key("rebuilt"), present_key("bridg")
    ('sell', 'rebuild', 'bridg')
    """
    return _presents().get(key, key)


def same_form(key: str, other: str) -> bool:
    """Return whether two keys are those of forms of one word: sold and sell, rose and rise."""
    return present_key(key) == present_key(other)
