# A plain private module: edited here, exported by no notebook, tested in tests/test_order.py.
"""Texts that look as if they stood in each other's place: a warning, once for a call."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from ._callers import callers_level
from .results import InputWarning

__all__ = ["LONG", "warn_of_order"]

LONG = 300  # characters of a text below which its length says nothing


def warn_of_order(
    sizes: Sequence[tuple[int, int]],
    *,
    judged: tuple[str, str] = ("the summary is", "summaries are"),
    beside: str = "the article",
    remedy: str,
    times: int = 2,
) -> None:
    """Warn of judged texts much longer than what they are held against: (characters of the other, of the judged).

    0 characters of the other say nothing. `judged` is what one such text, and several, are called; the remedy says
    which comes first.
    """
    found = [i for i, (other, own) in enumerate(sizes) if own > LONG and 0 < times * other < own]
    if found:
        other, own = sizes[found[0]]
        which = f"{len(found)} {judged[1]}" if len(found) > 1 else judged[0]
        place = f", first in pair {found[0]}" if len(sizes) > 1 else ""
        warnings.warn(
            f"{which} much longer than {beside} ({own:,} characters against {other:,}{place}): {remedy}",
            InputWarning,
            stacklevel=callers_level(),
        )
