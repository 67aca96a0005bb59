"""Every public name of the package, by way of its part."""

import importlib
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2] / "summeval_nb"
PARTS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.pyi"))


def part_of() -> dict[str, str]:
    """Return the part of each public name."""
    found: dict[str, str] = {}
    for part in PARTS:
        found |= dict.fromkeys(importlib.import_module(f"summeval_nb.{part}").__all__, part)
    return found


NAMES = part_of()


def public(name: str) -> Any:
    """Return what a public name stands for."""
    return getattr(importlib.import_module(f"summeval_nb.{NAMES[name]}"), name)
