"""Edited directly. numpy, imported when it is first used; tests/test_without_numpy.py. One text needs none.

    from ..ground._arrays import np

and `np` is used as ever. lazy_loader's own lazy module is not safe when two threads meet it first (Python 3.11.7), and
leaves a half-made numpy in `sys.modules`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

__all__ = ["is_numpy", "np"]

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        """Looks every name up in numpy, and keeps it."""

        def __getattr__(self, name: str) -> object:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Numpy()


def is_numpy(value: object, kind: str) -> bool:
    """Return whether `value` is of numpy's type of that name; nobody has one who has not imported numpy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind))
