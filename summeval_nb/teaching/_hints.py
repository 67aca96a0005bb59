# A plain private module: edited here, exported by no notebook, tested in tests/test_exercises.py.
"""What is said of an answer, and what may be said of a wrong one.

A hint is given only where it is known to be true: the answer, changed in the way that the hint names, is right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, SupportsFloat

from summeval_nb.ground.base import JsonDict
from summeval_nb.ground.html import render

_PLURAL = {"number": "numbers", "text": "texts", "list": "lists", "set": "sets", "dictionary": "dictionaries"}
_DIGITS = 4  # decimals that count
_MOST_TRIALS = 250  # a trial takes some milliseconds
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_WHOLE_ANSWER: tuple[tuple[Callable[[float], float], str], ...] = (
    (lambda value: 100 * value, "yours is a hundredth of it: is a percentage asked for?"),
    (lambda value: value / 100, "yours is a hundred times as much: is a share between 0 and 1 asked for?"),
    (lambda value: -value, "only the sign is wrong"),
    (lambda value: 1 - value, "yours and the right one add up to 1: which of the two shares is asked for?"),
)


def no_answer(answer: object) -> TypeError:
    """Return the error that says of something that cannot be compared what to pass in its place."""
    hint = "pass a number, True or False, text, None, or a list, set or dictionary of these"
    if callable(answer):
        hint = "call it on the inputs that the exercise names, and pass what it returns"
    return TypeError(f"{type(answer).__name__} cannot be compared: {hint}")


def named(kind: str, kinds: Iterable[str]) -> str:
    """Name a collection with the kinds in it, and not how many: "a list (a number)"."""
    inner = ", ".join(sorted(set(kinds)))
    return f"a {kind} ({inner})" if inner else f"a {kind}"


def in_words(named: str, *, many: bool = False) -> str:
    """Return the kind of an answer as one would say it: "a list (a list (a text))" is "a list of lists of texts"."""
    found = re.fullmatch(r"(?:a )?([\w ]+?)(?: \((.*)\))?", named)
    if not found:
        return named
    kind, inside = found[1], _at_top(found[2] or "")
    word = _PLURAL.get(kind, kind) if many else f"a {kind}" if kind in _PLURAL else kind
    return f"{word} of {' and '.join(in_words(one, many=True) for one in inside)}" if inside else word


def not_yet(given: str, wanted: str) -> str:
    """Return the message for a wrong answer: "not yet", and how the kinds differ if they do."""
    if given == wanted:
        return "not yet"
    return f"not yet: you gave {in_words(given)}, and this exercise wants {in_words(wanted)}"


def _at_top(text: str) -> list[str]:
    """Split at the commas that no bracket holds."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def listed_numbers(answer: object) -> list[float]:
    """Return the numbers of an answer that is a list of two or more numbers and nothing else, otherwise []."""
    plain = _plain(answer)
    if not isinstance(plain, list) or len(plain) < 2:
        return []
    each = [_plain(one) for one in plain]
    numbers = [one for one in each if isinstance(one, SupportsFloat) and not isinstance(one, bool)]
    return [float(one) for one in numbers] if len(numbers) == len(each) else []


def place_seals(answer: object, seal: Callable[[object, str], str]) -> dict[str, list[str]]:
    """Return, of a list of numbers, an entry with a seal for each place; {} of any other answer."""
    numbers = listed_numbers(answer)
    return {"places": [seal(number, f"/{place}") for place, number in enumerate(numbers)]} if numbers else {}


def known_by_seals(answer: object, entry: JsonDict, seal: Callable[..., str]) -> str:
    """Return what is known of a wrong answer by the seals of its exercise; "" if nothing is."""
    places = entry.get("places", [])

    def is_right(other: object) -> bool:
        return seal(other) == entry["answer"]

    def is_right_at(place: int, number: float) -> bool:
        near = {round(number + shift, _DIGITS) for shift in (0.0, -1e-6, 1e-6)}  # as a whole answer is compared
        return any(seal(one, f"/{place}") == places[place] for one in near)

    return nearly(answer, is_right, len(places), is_right_at)


def nearly(
    answer: object,
    is_right: Callable[[object], bool],
    places: int = 0,
    is_right_at: Callable[[int, float], bool] | None = None,
) -> str:
    """Return what is known of a wrong answer of the right kind, as the end of a sentence; "" if nothing is.

    Parameters
    ----------
    answer : number, str, None, or a list, set or dict of these
        What a reader gave.
    is_right : callable
        Says of another answer whether it would be right.
    places : int
        Of a right answer that is a list of numbers, how many there are; else 0.
    is_right_at : callable, optional
        Says of a place in that list, from 0, and a number whether it would be right there.

    Examples
    --------
    >>> nearly(0.43, lambda answer: answer == 43)
    'yours is a hundredth of it: is a percentage asked for?'
    """
    numbers = list(_numbers(answer))
    for change, hint in _WHOLE_ANSWER if numbers else ():
        changed = [change(number) for number in numbers]
        if all(map(math.isfinite, changed)) and is_right(_changed(answer, changed)):
            return hint
    if isinstance(plain := _plain(answer), list) and any(is_right(other) for other in _other_orders(plain)):
        return "the values are right, their order is not"
    if places and is_right_at and (in_list := listed_numbers(answer)):
        return _by_place(in_list, places, is_right_at)
    rounded = [place for place, number in enumerate(numbers) if _decimals(number) in (2, 3)]
    if len(rounded) > 1:  # too many combinations to look
        return f"if you rounded: numbers are compared to {_DIGITS} decimals"
    for place in rounded:
        for value in _unrounded(numbers[place]):
            if is_right(_changed(answer, [*numbers[:place], value, *numbers[place + 1 :]])):
                return f"nearly: yours is rounded, and numbers are compared to {_DIGITS} decimals"
    return ""


def _by_place(numbers: list[float], places: int, is_right_at: Callable[[int, float], bool]) -> str:
    """Say which numbers of a list are right, and which would be if they were not rounded."""
    if len(numbers) != places:
        return f"you gave {len(numbers)} numbers, and this exercise wants {places}"
    wrong = [place for place, number in enumerate(numbers) if not is_right_at(place, number)]
    right = [place for place in range(places) if place not in wrong]
    tried = [place for place in wrong if _decimals(numbers[place]) in (2, 3)][:3]  # each takes up to a second
    rounded = [place for place in tried if any(is_right_at(place, one) for one in _unrounded(numbers[place]))]
    said = [f"the {_counted(right)} right"] if right else []
    if rounded:
        said.append(f"the {_counted(rounded)} rounded, and numbers are compared to {_DIGITS} decimals")
    return "; ".join(said) or f"none of the {places} numbers is right"


def _counted(places: list[int]) -> str:
    """Name places of a list, with their verb: "first number is", "first and third numbers are"."""
    names = [_ORDINALS[place] if place < len(_ORDINALS) else f"{place + 1}th" for place in places]
    many = f"{', '.join(names[:-1])} and {names[-1]} numbers are"
    return many if len(names) > 1 else f"{names[0]} number is"


def _plain(answer: object) -> object:
    return answer.tolist() if hasattr(answer, "tolist") else list(answer) if isinstance(answer, tuple) else answer


def _numbers(answer: object) -> Iterator[float]:
    """Give the numbers in an answer, in order."""
    answer = _plain(answer)
    if isinstance(answer, Mapping | list | set | frozenset):
        for value in answer.values() if isinstance(answer, Mapping) else answer:
            yield from _numbers(value)
    elif isinstance(answer, SupportsFloat) and not isinstance(answer, bool):
        yield float(answer)


def _changed(answer: object, numbers: list[float]) -> object:
    """Return the answer with other numbers in the places of its own."""
    left = iter(numbers)

    def change(value: object) -> object:
        value = _plain(value)
        if isinstance(value, Mapping):
            return {key: change(one) for key, one in value.items()}
        if isinstance(value, list | set | frozenset):
            return type(value)(change(one) for one in value)
        return next(left) if isinstance(value, SupportsFloat) and not isinstance(value, bool) else value

    return change(answer)


def _other_orders(values: list[Any]) -> Iterator[list[Any]]:
    """Give a list's values backwards, and sorted both ways if they can be."""
    orders = [values[::-1]]
    if all(isinstance(value, int | float) for value in values) or all(isinstance(value, str) for value in values):
        orders += [sorted(values), sorted(values, reverse=True)]
    for number, order in enumerate(orders):
        if order != values and order not in orders[:number]:
            yield order


def _decimals(number: float) -> int:
    """Return how many decimals a number was written with, as far as can be told; 4 stands for four and more."""
    return next((digits for digits in range(_DIGITS) if abs(round(number, digits) - number) < 1e-9), _DIGITS)


def _unrounded(number: float) -> list[float]:
    """Return the numbers with four decimals that a number with two or three may be rounded from."""
    half = 10 ** (_DIGITS - _decimals(number)) // 2
    tried = [number + step * 10**-_DIGITS for step in range(-half, half + 1) if step]
    return tried[:_MOST_TRIALS]


@dataclass(frozen=True, repr=False)
class Said:
    """How an outcome is shown: a mark and a sentence; true if the answer is right."""

    exercise: str
    outcome: str
    message: str

    def __bool__(self) -> bool:
        return self.outcome == "right"

    def __repr__(self) -> str:
        mark = {"right": "✓", "not answered yet": "…"}.get(self.outcome, "✗")
        return f"{mark} {self.exercise}: {self.message}"

    def _repr_html_(self) -> str:
        kind = {"right": "se-right", "not answered yet": "se-open"}.get(self.outcome, "se-wrong")
        return render("said.html", kind=kind, text=repr(self))

    def to_dict(self) -> dict[str, str]:
        """Return exercise, outcome and message."""
        return {"exercise": self.exercise, "outcome": self.outcome, "message": self.message}
