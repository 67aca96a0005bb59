# A plain private module: edited directly, exported by no notebook, tested in tests/test_frames.py.
"""What results, readers and pictures would otherwise write again: rows as a table, a table as rows, axes to draw on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ._types import JsonDict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# rows to score: a table of pandas, dictionaries (so does a datasets.Dataset give them), or lists by column
Table: TypeAlias = "pd.DataFrame | Iterable[Mapping[str, object]] | Mapping[str, Sequence[object]]"


def require_once(names: Iterable[object], what: str) -> None:
    """Raise a `ValueError` if a table names a column twice: a row would hold the last of them only."""
    seen: set[str] = set()
    for name in map(str, names):
        if name in seen:
            raise ValueError(f"{what} names a column twice, {name!r}: rename one of them, or leave it out")
        seen.add(name)


def frame_rows(frame: Any) -> list[dict[Any, Any]]:
    """Return the rows of a table of pandas as dictionaries; raise a `ValueError` if two columns have one name."""
    require_once(frame.columns, "the table")
    return frame.to_dict("records")


class Rows:
    """What has rows has them as a table, too."""

    def rows(self) -> Iterable[JsonDict]:
        """Return the rows, one dictionary each."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return `rows` as a table."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()))


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes that were given, or those of a new figure of this size in inches."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax
