# A plain private module: edited here, exported by no notebook, tested in tests/test_declared.py.
"""What checkers, judges and metrics declare about the calls that they will make: asked for, checked, added up."""

from __future__ import annotations

from collections.abc import Mapping

from summeval_nb.ground.base import require_count
from summeval_nb.models.llm import Calls

HOW = "which returns at most how many calls of a language model they take: a number, Calls(...), or a mapping of both"


class NotDeclared(TypeError):
    """Something calls a language model, and does not say how often."""


def asks_models(value: object) -> bool:
    """Whether a checker or a judge says that it asks language models, by itself or by the one that it wraps."""
    if getattr(value, "backends", None):
        return True
    inner = getattr(value, "inner", None)
    return inner is not None and asks_models(inner)


def by_stage(found: object, stage: str, whose: str) -> dict[str, Calls]:
    """What was declared, as calls by stage; a plain number or `Calls` is that of the one stage."""
    stages = found if isinstance(found, Mapping) else {stage: found}
    return {
        str(name): one if isinstance(one, Calls) else Calls(require_count(one, f"{whose}.calls_for", minimum=0))
        for name, one in stages.items()
    }


def declared(value: object, stage: str, given: object, *, always: bool = False) -> dict[str, Calls]:
    """At most the calls that something makes for what it is given (pairs or rows), by stage; empty without a model.

    Raises `NotDeclared` where it asks a model (or, with `always`, might) and does not say how often.
    """
    own = getattr(value, "calls_for", None) or getattr(getattr(value, "func", None), "calls_for", None)
    name = getattr(value, "__qualname__", type(value).__name__)
    if own is not None:
        return by_stage(own(given), stage, name)
    if always or asks_models(value):
        given_as = "rows" if always else "pairs"
        raise NotDeclared(f"{name} does not say what it asks: give it calls_for({given_as}), {HOW}")
    return {}


def added(*parts: Mapping[str, Calls]) -> dict[str, Calls]:
    """Calls by stage, added up."""
    total: dict[str, Calls] = {}
    for part in parts:
        for stage, calls in part.items():
            total[stage] = total.get(stage, Calls()) + calls
    return total
