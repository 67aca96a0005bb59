# A plain private module: edited here, exported by no notebook, tested in tests/test_inputs.py.
"""Where in the caller's own code a warning belongs."""

from __future__ import annotations

import sys

__all__ = ["callers_level"]


def callers_level() -> int:
    """Return the stack level, for the caller of this function, of the first frame outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("summeval_nb."):
        level, frame = level + 1, frame.f_back
    return level
