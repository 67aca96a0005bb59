"""A large library that is imported where a test first uses it: collecting the tests needs none."""

import importlib
import importlib.util
from typing import Any

import pytest


class Late:
    """A module, or a name in it, under the name that the module would have."""

    __slots__ = ("_place",)

    def __init__(self, module: str, name: str = "") -> None:
        object.__setattr__(self, "_place", (module, name))

    def _found(self) -> Any:
        module, name = self._place
        found = importlib.import_module(module)
        return getattr(found, name) if name else found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest looks at all that a module of tests holds
            raise AttributeError(name)
        return getattr(self._found(), name)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._found()(*arguments, **options)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._found(), name, value)


def needs(*modules: str) -> None:
    """Skip a file of tests where something that it needs is not installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}, of the extras", allow_module_level=True)
