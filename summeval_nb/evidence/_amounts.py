"""One amount in other words: a fifth is 20 per cent, half an hour 30 minutes, 1994 in the 1990s. A plain module: edited
directly, tested in tests/test_amounts.py.

A number of a claim that stands nowhere in the evidence is the most frequent changed fact, so it clashes. It must not
where the evidence says the same amount as a share, in another unit of time, as an ordinal, or more exactly.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from summeval_nb.evidence._slots import number_value
from summeval_nb.evidence.check import Parts, Token

__all__ = ["Amounts"]

_PARTS = {
    "half": 2, "halv": 2, "third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
}  # fmt: skip
_ORDINAL = {
    **{one: number for one, number in _PARTS.items() if number > 2 and one != "quarter"},
    "first": 1,
    "second": 2,
    "fourth": 4,
    "eleventh": 11,
    "twelfth": 12,
}
_HOURS = {"second": 1 / 3600, "minut": 1 / 60, "hour": 1, "day": 24, "week": 168, "fortnight": 336}
_HOURS |= {"month": 730.5, "year": 8766, "decad": 87660, "centuri": 876600}
_ONE = frozenset("a an one each every the per".split())
_BETWEEN = 2  # words between a number and the one it is a share of: one passenger in three, 41 of all the 60
_ABOVE = re.compile(r"\b(?:more than|over|at least|above|upwards of|exceed\w*)\W+(?:the |an? )?$", re.IGNORECASE)
_BELOW = re.compile(
    r"\b(?:(?:less|fewer) than|under|below|at most|up to|almost|nearly|close to|not quite)\W+(?:the |an? )?$",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"\b(?:about|around|roughly|some|approximately|or so)\W+(?:the |an? )?$", re.IGNORECASE)
# How far what the evidence has may lie from what is said to be more, less or about that.
_FAR = {"above": (0.995, 1.35), "below": (0.87, 1.005), "about": (0.9, 1.1), "": (0.99, 1.01)}


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
    def _told_shares(self) -> list[float]:
        return sorted(share for one in self.evidence for _, _, share in _shares(one))

    @cached_property
    def _told_times(self) -> list[float]:
        return sorted(hours for one in self.evidence for _, hours in _times(one))

    @cached_property
    def _own_shares(self) -> dict[int, tuple[int, float]]:
        own = [(first, last, share) for first, last, share in _shares(self.claim)]
        return {place: (first, share) for first, last, share in reversed(own) for place in range(first, last + 1)}

    @cached_property
    def _own_times(self) -> dict[int, float]:
        return dict(_times(self.claim))

    @cached_property
    def _ordinals(self) -> frozenset[str]:
        keys = {token.key for one in self.evidence for token in one.tokens}
        return frozenset(str(number) for key, number in _ORDINAL.items() if key in keys)

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

    def hold(self, place: int) -> bool:
        """Return whether the evidence holds, in other words, the amount that a number of the claim says.

        `place` is the number's place among the claim's tokens.
        """
        share, time = self._own_shares.get(place), self._own_times.get(place)
        if share and _one_near(self._told_shares, share[1], _bound(self.claim, share[0])):
            return True
        passed = _bound(self.claim, place)
        if time is not None and _one_near(self._told_times, time, passed):
            return True
        if share is None and time is None and passed == "above" and self._more(place):
            return True
        return self.claim.tokens[place].key in self._ordinals or self._in_decade(place) or self._clock(place)

    def _more(self, place: int) -> bool:
        """Return whether the evidence has a number that is somewhat more: of the same kind, if it has one of that."""
        value, unit = number_value(self.claim.tokens, place), _next_key(self.claim.tokens, place)
        if value is None or value < 10:
            return False
        return _one_near(self._numbers.get(unit) or self._numbers[""], value, "above")

    def _in_decade(self, place: int) -> bool:
        """Return whether a number is a decade, and the evidence has one of its years: the 1990s, 1994."""
        token = self.claim.tokens[place]
        if not re.fullmatch(r"\d{3}0", token.key) or not re.match(
            r"['’]?s\b", self.claim.text[token.end : token.end + 3]
        ):
            return False
        first, told = int(token.key), self._numbers[""]
        return bisect_left(told, first) < bisect_left(told, first + 10)

    def _clock(self, place: int) -> bool:
        """Return whether a time is told in words: 2:26:11, 2 hours 26 minutes 11 seconds."""
        pieces = [piece.lstrip("0") or "0" for piece in re.split("[:.]", self.claim.tokens[place].key)]
        if not 2 <= len(pieces) <= 3 or not all(piece.isdigit() for piece in pieces):
            return False
        for one in self.evidence:
            told = [
                (_next_key(one.tokens, i), token.key) for i, token in enumerate(one.tokens) if token.kind == "number"
            ]
            for start in range(len(told) - len(pieces) + 1):
                lot = told[start : start + len(pieces)]
                if [key for _, key in lot] == pieces and {unit for unit, _ in lot} <= {"hour", "minut", "second"}:
                    return True
        return False


def _next_key(tokens: Sequence[Token], place: int) -> str:
    return tokens[place + 1].key if place + 1 < len(tokens) else ""


def _bound(parts: Parts, place: int) -> str:
    """Return whether a number is said to be passed, not reached, or approximate: `"above"`, `"below"`, `"about"`."""
    start = parts.tokens[place].start
    before = parts.text[max(0, start - 40) : start]
    found = [name for name, one in (("above", _ABOVE), ("below", _BELOW), ("about", _ABOUT)) if one.search(before)]
    return found[0] if found else ""


def _one_near(told: Sequence[float], said: float, how: str) -> bool:
    """Return whether one of the values, which are in order, lies as near to a number as `how` it is said asks."""
    low, high = _FAR[how]
    return bisect_left(told, low * said) < bisect_right(told, high * said)


def _value(tokens: Sequence[Token], place: int) -> float | None:
    """Return what a number is worth, 1 for *one* and for an article, None for other words."""
    if tokens[place].kind == "number":
        return number_value(tokens, place)
    return 1.0 if tokens[place].key in _ONE else None


def _shares(parts: Parts) -> Iterator[tuple[int, int, float]]:
    """Give the shares that a sentence tells, with their first and last tokens: 20 %, a fifth, two thirds, 1 in 5."""
    tokens = parts.tokens
    for place, token in enumerate(tokens):
        after = tuple(one.key for one in tokens[place + 1 : place + 3])
        value = _value(tokens, place)
        if token.key in ("half", "halv"):
            yield place, place, 0.5
        elif value is None:
            continue
        elif token.kind == "number" and (after[:1] == ("percent",) or after == ("per", "cent") or _sign(parts, place)):
            yield place, place, value / 100
        elif after and after[0] in _PARTS and value < _PARTS[after[0]] and token.key not in ("the", "each", "every"):
            yield place, place + 1, value / _PARTS[after[0]]
        elif token.kind == "number" or token.key == "one":
            yield from _out_of(tokens, place, value)


def _sign(parts: Parts, place: int) -> bool:
    end = parts.tokens[place].end
    return parts.text[end : end + 2].lstrip()[:1] == "%"


def _out_of(tokens: Sequence[Token], place: int, value: float) -> Iterator[tuple[int, int, float]]:
    """Give a share that two numbers tell: one in five, one passenger in five, 8,940 of the 9,600."""
    for joint in range(place + 1, min(place + 2 + _BETWEEN, len(tokens) - 1)):
        if tokens[joint].kind == "number":
            return
        if tokens[joint].key not in ("in", "of"):
            continue
        for whole in range(joint + 1, min(joint + 2 + _BETWEEN, len(tokens))):
            total = number_value(tokens, whole) if tokens[whole].kind == "number" else None
            if total is not None and 0 < value < total:
                yield place, whole, value / total
            if tokens[whole].kind != "function":
                return


def _times(parts: Parts) -> Iterator[tuple[int, float]]:
    """Give the spans of time that a sentence tells, in hours, each with the place of its number: half an hour."""
    tokens = parts.tokens
    for place, token in enumerate(tokens):
        if token.key not in _HOURS or place == 0:
            continue
        before = place - 1
        half = tokens[before].key == "half" or (tokens[before].key in _ONE and tokens[max(0, before - 1)].key == "half")
        value = 0.5 if half else _value(tokens, before)
        if value is not None:
            yield before, value * _HOURS[token.key]
