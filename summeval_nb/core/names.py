"""Where a public name is to be had that the top level of the package does not hold."""

from __future__ import annotations

import difflib
from importlib import import_module
from pathlib import Path

__all__ = ["missing"]

PACKAGE = Path(__file__).parents[1]


def parts() -> dict[str, str]:
    """Return the part of every public name."""
    found: dict[str, str] = {}
    for stub in sorted(PACKAGE.glob("*/__init__.pyi")):
        part = stub.parent.name
        found |= dict.fromkeys(import_module(f"summeval_nb.{part}").__all__, part)
    return found


def missing(name: str) -> AttributeError | ImportError:
    """Return the error for a name that the top level has not.

    A name of a part is an ImportError, so that ``from summeval_nb import name`` says where it is. Any other is an
    AttributeError, which ``hasattr`` understands.

    >>> print(missing("split_units"))
    split_units is in summeval_nb.text: from summeval_nb.text import split_units
    """
    known = parts()
    if name in known:
        return ImportError(f"{name} is in summeval_nb.{known[name]}: from summeval_nb.{known[name]} import {name}")
    error = f"module 'summeval_nb' has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(error)
    near = {known_name.casefold(): known_name for known_name in known}
    if close := difflib.get_close_matches(name.casefold(), near, n=1):
        nearest = near[close[0]]
        error += f"; did you mean {nearest}, of summeval_nb.{known[nearest]}?"
    return AttributeError(error)
