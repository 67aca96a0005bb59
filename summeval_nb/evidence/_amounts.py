"""One amount in other words: a fifth is 20 per cent, half an hour 30 minutes, 1994 in the 1990s. A plain module: edited
directly, tested in tests/test_amounts.py.

A number of a claim that stands nowhere in the evidence is the most frequent changed fact, so it clashes. It must not
where the evidence says the same amount in another notation: as a share, in another unit of time, as an ordinal before
the same noun, or more exactly. In the same notation only the same number is the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from summeval_nb.evidence._slots import number_value
from summeval_nb.evidence.check import Parts, Token

__all__ = ["Amounts"]

_PARTS = {
    "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
_ORDINAL = {"first": 1, "second": 2, "third": 3, "fourth": 4, "eleventh": 11, "twelfth": 12}
_ORDINAL |= {one: number for one, number in _PARTS.items() if number > 4}
_HOURS = {"second": 1 / 3600, "minut": 1 / 60, "hour": 1, "day": 24, "week": 168, "fortnight": 336}
_HOURS |= {"month": 730.5, "year": 8766, "decad": 87660, "centuri": 876600}
_SHORT = frozenset("minut hour day week fortnight".split())  # an hour; but a year ago says when, not how long
_ONE = frozenset("a an one".split())
_LARGEST = 100  # one in 100; what is in 1998 happened then
_ABOVE = re.compile(r"\b(?:more than|at least)\W+(?:a |an )?$", re.IGNORECASE)
_BELOW = re.compile(r"\b(?:less than|fewer than|under|almost|nearly|not quite)\W+(?:a |an )?$", re.IGNORECASE)
_ABOUT = re.compile(r"\b(?:about|around|roughly|some|approximately)\W+(?:a |an )?$", re.IGNORECASE)
_TURNED = re.compile(
    r"\b(?:no|not|never)\W+(?:\w+\W+)?(?:\w+\W+)?(?:a |an )?$|n['’]t\W+(?:\w+\W+){0,2}$", re.IGNORECASE
)
# How far what the evidence has may lie from what is said to be more, less or about that.
_FAR = {"above": (1.0, 1.35), "below": (0.87, 1.0), "about": (0.9, 1.1)}
_HALF_A_POINT = 0.0051  # two thirds are 67, and 66, percent


class Told(NamedTuple):
    """An amount: its first and last token, what it is worth, and how it is written."""

    first: int
    last: int
    value: float
    notation: str


class Amounts:
    """What the evidence says of amounts, to be asked about each number of a claim.

    Parameters
    ----------
    claim : Parts
        The claim.
    evidence : sequence of Parts
        The sentences to look in.

    Examples
    --------
    >>> from summeval_nb.evidence.check import take_apart
    >>> told = [take_apart("A fifth of the jars were found within a week.")]
    >>> claims = "20 percent were found.", "30 percent were found."
    >>> [Amounts(take_apart(claim), told).hold(0) for claim in claims]
    [True, False]
    """

    def __init__(self, claim: Parts, evidence: Sequence[Parts]) -> None:
        self.claim, self.evidence = claim, evidence

    @cached_property
    def _told_shares(self) -> dict[str, list[float]]:
        return _by_other_notation(told for one in self.evidence for told in _shares(one))

    @cached_property
    def _told_times(self) -> dict[str, list[float]]:
        return _by_other_notation(told for one in self.evidence for told in _times(one))

    @cached_property
    def _own_shares(self) -> dict[int, Told]:
        own = list(_shares(self.claim))
        return {place: told for told in reversed(own) for place in range(told.first, told.last + 1)}

    @cached_property
    def _own_times(self) -> dict[int, Told]:
        return {told.first: told for told in _times(self.claim)}

    @cached_property
    def _numbers(self) -> dict[str, list[float]]:
        """The values of the evidence's numbers, in order, by the key of the next token; under "" all of them."""
        found: dict[str, list[float]] = {"": []}
        for one in self.evidence:
            for place, token in enumerate(one.tokens):
                if token.kind == "number" and (value := number_value(one.tokens, place)) is not None:
                    for key in {"", _next_key(one.tokens, place)}:
                        found.setdefault(key, []).append(value)
        return {key: sorted(values) for key, values in found.items()}

    @cached_property
    def _ordinals(self) -> frozenset[tuple[str, str]]:
        """The ordinals of the evidence as numbers, each with the noun behind it: 7 and round."""
        return frozenset(
            (str(_ORDINAL[token.key]), _next_key(one.tokens, place))
            for one in self.evidence
            for place, token in enumerate(one.tokens)
            if token.key in _ORDINAL
        )

    @cached_property
    def _clocks(self) -> frozenset[str]:
        """Times that the evidence tells in words, as a clock shows them: 2 hours 26 minutes 11 seconds."""
        return frozenset(clock for one in self.evidence for clock in _clocks(one.tokens))

    def hold(self, place: int) -> bool:
        """Return whether the evidence holds, in other words, the amount that a number of the claim says.

        `place` is the number's place among the claim's tokens.
        """
        share = self._own_shares.get(place)
        if share:
            told, passed = self._told_shares.get(share.notation, []), _bound(self.claim, share.first)
            near = _one_near(told, share.value, passed, slack=_HALF_A_POINT)
            if near or share.notation != "percent":
                return near
        how = _bound(self.claim, place)
        time = self._own_times.get(place)
        if time and _one_near(self._told_times.get(time.notation, []), time.value, how, slack=time.value * 0.001):
            return True
        return self._more(place, how) or self._in_decade(place) or self._ordinal(place) or self._clock(place)

    def _more(self, place: int, how: str) -> bool:
        """Return whether the evidence has a number of the same kind, somewhat over or under one that is said so."""
        value, unit = number_value(self.claim.tokens, place), _next_key(self.claim.tokens, place)
        if value is None or not unit or how not in ("above", "below") or (how == "above" and value < 10):
            return False
        return _one_near(self._numbers.get(unit, []), value, how)

    def _in_decade(self, place: int) -> bool:
        """Return whether a number is a decade, and the evidence has one of its years: the 1990s, 1994."""
        token = self.claim.tokens[place]
        plural = re.match(r"['’]?s\b", self.claim.text[token.end : token.end + 3])
        if not plural or not re.fullmatch(r"\d{3}0", token.key):
            return False
        first, told = int(token.key), self._numbers[""]
        return bisect_left(told, first) < bisect_left(told, first + 10)

    def _ordinal(self, place: int) -> bool:
        """Return whether a number behind a noun stands in the evidence as an ordinal before it: round 7, 7th round."""
        return place > 0 and (self.claim.keys[place], self.claim.keys[place - 1]) in self._ordinals

    def _clock(self, place: int) -> bool:
        return self.claim.tokens[place].key in self._clocks


def _by_other_notation(told: Iterator[Told]) -> dict[str, list[float]]:
    """Return for each notation the values that are told in another, in order."""
    every = list(told)
    names = {one.notation for one in every} | {"percent", "part", "in", "of", *_HOURS}
    return {name: sorted(one.value for one in every if one.notation != name) for name in names}


def _next_key(tokens: Sequence[Token], place: int) -> str:
    return tokens[place + 1].key if place + 1 < len(tokens) else ""


def _bound(parts: Parts, place: int) -> str:
    """Return whether a number is said to be passed, not reached, or approximate: `"above"`, `"below"`, `"about"`."""
    start = parts.tokens[place].start
    before = parts.text[max(0, start - 40) : start]
    if _TURNED.search(before):  # no more than
        return ""
    found = [name for name, one in (("above", _ABOVE), ("below", _BELOW), ("about", _ABOUT)) if one.search(before)]
    return found[0] if found else ""


def _one_near(told: Sequence[float], said: float, how: str, slack: float = 0.0) -> bool:
    """Return whether one of the values, which are in order, is a number, or as near to it as `how` it is said asks."""
    low, high = _FAR.get(how, (1.0, 1.0))
    return bisect_left(told, low * said - slack) < bisect_right(told, high * said + slack)


def _value(tokens: Sequence[Token], place: int) -> float | None:
    """Return what a number is worth, 1 for *one* and for an article, None for other words and for *and a*."""
    if place > 0 and tokens[place - 1].key == "and":  # two and a half
        return None
    if tokens[place].kind == "number":
        return number_value(tokens, place)
    return 1.0 if tokens[place].key in _ONE else None


def _shares(parts: Parts) -> Iterator[Told]:
    """Give the shares that a sentence tells: 20 %, a fifth of, two thirds, half of, 1 in 5, 8,940 of the 9,600."""
    tokens = parts.tokens
    for place, token in enumerate(tokens):
        after = tuple(one.key for one in tokens[place + 1 : place + 3])
        if token.key == "half" and after[:1] == ("of",) and (place == 0 or tokens[place - 1].key not in ("a", "and")):
            yield Told(place, place, 0.5, "part")
        value = _value(tokens, place)
        if value is None:
            continue
        if token.kind == "number" and (after[:1] == ("percent",) or after == ("per", "cent") or _sign(parts, place)):
            yield Told(place, place, value / 100, "percent")
        elif after and after[0] in _PARTS and value < _PARTS[after[0]] and (after[1:] == ("of",) or value > 1):
            yield Told(place, place + 1, value / _PARTS[after[0]], "part")
        elif token.kind == "number" or token.key == "one":
            yield from _out_of(tokens, place, value)


def _sign(parts: Parts, place: int) -> bool:
    end = parts.tokens[place].end
    return parts.text[end : end + 2].lstrip()[:1] == "%"


def _out_of(tokens: Sequence[Token], place: int, value: float) -> Iterator[Told]:
    """Give a share that two numbers tell: one in five, one passenger in five, nine in ten, 8,940 of the 9,600."""
    noun = place + 2 < len(tokens) and tokens[place].key == "one" and tokens[place + 1].kind == "content"
    joint = place + 1 + noun
    if joint + 1 >= len(tokens) or tokens[joint].key not in ("in", "of"):
        return
    whole = joint + 1 + (tokens[joint].key == "of" and tokens[joint + 1].key in ("the", "all"))
    total = number_value(tokens, whole) if whole < len(tokens) and tokens[whole].kind == "number" else None
    if total is not None and 0 < value < total and (tokens[joint].key == "of" or total <= _LARGEST):
        yield Told(place, whole, value / total, tokens[joint].key)


def _times(parts: Parts) -> Iterator[Told]:
    """Give the spans of time that a sentence tells, in hours, each with the place of its number: half an hour."""
    tokens = parts.tokens
    for place, token in enumerate(tokens):
        if token.key not in _HOURS or place == 0:
            continue
        before, value = place - 1, None
        article = before > 0 and tokens[before].key in ("a", "an")
        half = before - article
        if tokens[half].key == "half" and token.key in ("hour", "day", "year"):
            again = half > 0 and tokens[half - 1].key in ("a", "and", "second", "first", "last")
            value = None if again and not (tokens[half - 1].key == "a" and not _of_and(tokens, half - 1)) else 0.5
            notation = "half"
        elif tokens[before].kind == "number" or token.key in _SHORT:
            value, notation = _value(tokens, before), token.key
        if value is not None:
            yield Told(before, place, value * _HOURS[token.key], notation)


def _of_and(tokens: Sequence[Token], place: int) -> bool:
    return place > 0 and tokens[place - 1].key == "and"


def _clocks(tokens: Sequence[Token]) -> Iterator[str]:
    """Give what spans of hours, minutes and seconds that follow each other look like on a clock: 2:26:11."""
    told = [(i, token) for i, token in enumerate(tokens) if token.kind == "number" and token.key.isdigit()]
    if len(told) < 2:
        return
    units = {i: _next_key(tokens, i) for i, _ in told}
    for (i, first), (j, second), (k, third) in zip(told, told[1:], [*told[2:], (-1, tokens[0])], strict=False):
        close = j - i <= 3 and units[i] == "hour" and units[j] == "minut"
        if close and k - j <= 3 and units.get(k) == "second":
            yield f"{first.key}:{second.key:0>2}:{third.key:0>2}"
        if close or (j - i <= 3 and units[i] == "minut" and units[j] == "second"):
            yield f"{first.key}:{second.key:0>2}"
