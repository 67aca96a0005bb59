# A plain private module: edited directly, exported by no notebook, tested in tests/test_choices.py.
"""The choices of a metric by name, written once in the metric and shown by every function; a choice that is one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

from summeval_nb.ground.results import Metric

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Function = TypeVar("Function", bound=Callable[..., object])


def is_function(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether a choice is a function of somebody's. A metric, which can be called to score, is none."""
    return callable(value) and getattr(type(value), "__call__", None) is not Metric.__call__  # noqa: B004


def takes_choices_of(kind: type[DataclassInstance], *, but: Sequence[str] = ()) -> Callable[[Function], Function]:
    """Show the fields of a metric in the signature of a function that hands `**choices` to it.

    A function says which fields it takes by a `TypedDict`, for type checkers; people, editors and pages ask
    `inspect.signature`, and get every choice with its default; `but` names those that the function does not take.
    """

    def show(function: Function) -> Function:
        own = inspect.signature(function)
        named = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        taken = {*but, *(one.name for one in named)}
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
