# A plain private module: edited directly, exported by no notebook, tested in tests/test_types.py.
"""Names of types that many modules share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeAlias

JsonDict: TypeAlias = dict[str, Any]  # what JSON can say of a thing, by name: `to_dict()`, a row of a table


class Scores(Protocol):
    """What scores texts: a `Metric`, or an object of somebody's that has these two."""

    @property
    def columns(self) -> Mapping[str, str]:
        """What it reads, in the order of its arguments."""

    def score_many(self, *columns: Any, **choices: Any) -> Any:
        """Return a table or a list, with one score a text."""
