# A plain private module: edited here, exported by no notebook, tested in tests/test_wrong_types.py.
"""Objects from plain data: what lacks a part, or has another form, is refused by name."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ._arrays import np

Given = ParamSpec("Given")
Made = TypeVar("Made")


def made_of(what: str) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Let a function that reads `what` raise a `ValueError` with a remedy for data that lack a part or its form."""

    def wrap(read: Callable[Given, Made]) -> Callable[Given, Made]:
        @functools.wraps(read)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Made:
            try:
                return read(*args, **kwargs)
            except KeyError as error:
                raise ValueError(f"this is not {what}: {error} is missing; pass what to_dict() returned") from error
            except (AttributeError, IndexError, TypeError) as error:
                raise ValueError(f"this is not {what}: {error}; pass what to_dict() returned") from error

        return call

    return wrap


def float_array(values: object, name: str) -> np.ndarray:
    """Return numbers as an array of floats; a whole number that no float can hold is a `ValueError`."""
    try:
        return np.asarray(values, dtype=np.float64)
    except OverflowError as error:
        raise ValueError(f"{name} holds a number that no float can hold: {error}") from error
