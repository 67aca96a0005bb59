# A plain private module: edited here, exported by no notebook, tested in tests/test_metric_table.py.
"""What goes into a `MetricTable`, and what it shows: a row for each cell, a row for each metric, and a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from summeval_nb.agreement.agreement import COEFFICIENTS, LEVELS, Correlation
from summeval_nb.ground.base import JsonDict, require_count, require_flag, require_option
from summeval_nb.ground.data import SummEval
from summeval_nb.ground.html import figure_text, html_table, text_table
from summeval_nb.ground.results import Signature

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def require_choices(
    data: SummEval, qualities: Sequence[str] | None, level: str, coefficient: str, n_resamples: int, rank: bool
) -> list[str]:
    """The qualities that a table has; a choice that the data or the coefficients do not know is refused."""
    wanted = data.qualities if qualities is None else qualities
    chosen = [require_option(one, "quality", data.qualities) for one in wanted]
    require_option(level, "level", LEVELS)
    require_option(coefficient, "coefficient", COEFFICIENTS)
    require_count(n_resamples, "n_resamples", minimum=1 if require_flag(rank, "rank") else 0)
    return chosen


def signature_of(data: SummEval, how: Mapping[str, object], ranks: str, embedder: str | None) -> Signature:
    """Every choice of a table: the data, how its cells are correlated, and how ranked and embedded."""
    said: dict[str, object] = {"metric": "metric-table", "data": f"{data.name}-{data.fingerprint}"}
    said |= {"level": how["level"], "coef": how["coefficient"], "conf": how["confidence"]}
    said |= {"n": how["n_resamples"], "seed": how["seed"], "ranks": ranks, "embedder": embedder}
    return Signature(said)


@dataclass(frozen=True, repr=False, eq=False)
class CorrelationTable:
    """Rows, frames, HTML and the figure of correlations by metric and quality."""

    scores: dict[str, np.ndarray]
    correlations: dict[tuple[str, str], Correlation]
    ranks: dict[str, dict[str, int]]
    signature: Signature

    @property
    def qualities(self) -> list[str]:
        """The rated qualities, in order."""
        return list(dict.fromkeys(quality for _, quality in self.correlations))

    def rows(self) -> list[JsonDict]:
        """Return one row for each metric and quality, with the interval, the rank and what was left out."""
        return long_rows(self)

    def wide_rows(self) -> list[dict[str, str]]:
        """Return one row for each metric, one column for each quality: `.412 [.321, .498] (1)`, the rank last."""
        return wide_rows(self)

    def to_frame(self, *, wide: bool = False) -> pd.DataFrame:
        """Return `rows`, or with `wide=True` the correlations alone, metrics by qualities."""
        import pandas as pd

        frame = pd.DataFrame(self.rows())
        if not wide:
            return frame
        return frame.pivot(index="metric", columns="quality", values="correlation").loc[
            list(self.scores), self.qualities
        ]

    def to_dict(self) -> JsonDict:
        """Return rows and signature as plain Python data."""
        return {"rows": self.rows(), "signature": str(self.signature)}

    def __repr__(self) -> str:
        return f"MetricTable(signature={str(self.signature)!r})\n{text_table(self.wide_rows())}"

    def _repr_html_(self) -> str:
        return html_table(self.wide_rows(), note=str(self.signature))

    def plot(self) -> Figure:
        """Draw a panel for each quality: correlations with intervals, metrics of the first rank in blue."""
        return figure_of(self)


def wide_rows(table: CorrelationTable) -> list[dict[str, str]]:
    """One row for each metric: number, interval and rank in a cell."""
    rows = {name: {"metric": name} for name in table.scores}
    for row in table.rows():
        shown = "–" if row["correlation"] is None else f"{row['correlation']:.3f}"
        if row["low"] is not None:
            shown += f" [{row['low']:.3f}, {row['high']:.3f}]"
        rows[row["metric"]][row["quality"]] = shown + (f" ({row['rank']})" if row["rank"] is not None else "")
    return list(rows.values())


def long_rows(table: CorrelationTable) -> list[JsonDict]:
    """One row for each metric and quality, with all that is known."""
    rows = []
    for (metric, quality), c in table.correlations.items():
        low, high = c.interval or (None, None)
        found = {
            "metric": metric,
            "quality": quality,
            "correlation": c.score,
            "low": low,
            "high": high,
        }
        counts = {"skipped": c.n_skipped, "missing": c.n_missing, "reason": c.reason}
        rows.append(found | {"rank": table.ranks.get(quality, {}).get(metric)} | counts)
    return rows


def figure_of(table: CorrelationTable) -> Figure:
    """Draw a table: one panel a quality, one line a metric."""
    import matplotlib.pyplot as plt

    qualities, names = table.qualities, list(table.scores)
    means = {
        n: np.mean([c.score for (m, _), c in table.correlations.items() if m == n and c.score is not None] or [-2])
        for n in names
    }
    order = sorted(names, key=lambda name: means[name])
    size = (2.2 + 2.4 * len(qualities), 1.2 + 0.32 * len(names))
    figure, axes = plt.subplots(
        1,
        len(qualities),
        figsize=size,
        sharey=True,
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, quality in zip(axes[0], qualities, strict=True):
        for place, name in enumerate(order):
            point(
                ax,
                place,
                table.correlations[name, quality],
                table.ranks.get(quality, {}).get(name),
            )
        ax.axvline(0, color="#999999", linewidth=0.8)
        labels = [figure_text(name) for name in order]
        ax.set(
            title=figure_text(quality),
            yticks=range(len(order)),
            yticklabels=labels,
            ylim=(-0.6, len(order) - 0.3),
        )
        ax.grid(axis="x", color="#e5e5e5")
    figure.supxlabel(f"{table.signature['level']}-level {table.signature['coef']} with human ratings")
    return figure


def point(ax: Axes, place: int, found: Correlation, rank: int | None) -> None:
    """Draw one correlation with its interval and rank; an undefined one is a cross at zero."""
    if found.score is None:
        ax.plot(0, place, "x", color="#666666")
        return
    first = rank in (1, None)
    color = "#1f5f99" if first else "#b34700"
    if found.interval:
        ax.plot(found.interval, [place, place], color=color, linewidth=1.6)
    ax.plot(
        found.score,
        place,
        "o",
        color=color,
        markerfacecolor=color if first else "white",
    )
    if rank is not None:
        ax.annotate(
            str(rank),
            (found.score, place),
            xytext=(0, 5),
            textcoords="offset points",
            fontsize=7,
            ha="center",
            color="#333333",
        )
