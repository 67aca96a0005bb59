# A plain private module: edited directly, exported by no notebook, tested in tests/test_parameters.py.
"""What functions with the same parameters say of them, written once and shown by each of them.

A docstring says what is its function's own. What it leaves out, its parameters in common with others and what these
raise, stands once, beside the checks; `help`, editors that run the code and the site's reference show the whole.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

Thing = TypeVar("Thing", bound=Callable[..., object])
_ORDER = ("", "Parameters", "Returns", "Raises", "References", "Examples")


def sections(text: str) -> dict[str, str]:
    """The sections of a numpydoc docstring by their names; what stands before the first has the name ''."""
    parts = re.split(r"^(\w+)\n-{3,}\n", inspect.cleandoc(text), flags=re.M)
    return {name: body.strip("\n") for name, body in zip(["", *parts[1::2]], parts[::2], strict=True)}


def entries(body: str) -> list[tuple[tuple[str, ...], str]]:
    """The entries of a section: the names that each is about, and the whole of it."""
    found = [one for one in re.split(r"\n(?=\S)", body) if one]
    return [(tuple(re.findall(r"[\w*]+", one.partition("\n")[0].partition(" : ")[0])), one) for one in found]


def parameters(own: str, told: str, names: Iterable[str]) -> str:
    """The section of parameters, in the order of the signature: its own entries, others from what is told of all."""
    mine = {name: text for heads, text in entries(own) for name in heads}
    theirs = {name: text for heads, text in entries(told) for name in heads}
    chosen = [mine.get(name, theirs.get(name)) for name in names]
    return "\n".join(dict.fromkeys(one for one in chosen if one is not None))


def explained(thing: Thing, told: str) -> Thing:
    """Add to a function's or class's docstring what is told of its parameters, and of what is raised."""
    if not thing.__doc__:  # python -OO
        return thing
    own, common = sections(thing.__doc__), sections(told)
    names = inspect.signature(thing).parameters
    own["Parameters"] = parameters(own.get("Parameters", ""), common.get("Parameters", ""), names)
    own = {"Raises": common.get("Raises", "")} | own
    written = [f"{name}\n{'-' * len(name)}\n{own[name]}" if name else own[name] for name in _ORDER if own.get(name)]
    thing.__doc__ = "\n\n".join(written)
    return thing
