# A plain private module: edited directly, exported by no notebook, tested in tests/test_frames.py.
"""What every result with rows and every picture would otherwise write again: rows as a table, axes to draw on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ._types import JsonDict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# rows to score: a table of pandas, dictionaries (so does a datasets.Dataset give them), or lists by column
Table: TypeAlias = "pd.DataFrame | Iterable[Mapping[str, object]] | Mapping[str, Sequence[object]]"


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
