"""A metric's correlation with human judgement, with its interval and what was left out.

Chapter 63 has the definitions (`coefficients`): coefficients under weights, the levels, what is drawn. Here is what
stands around them: tables of scores checked, every resample at once, the result in words and as a picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import stats

from summeval_nb.agreement.coefficients import (
    COEFFICIENTS,
    LEVELS,
    RESAMPLE,
    cosine,
    level_correlations,
    resample_weights,
    system_means,
    weighted,
)
from summeval_nb.core.base import JsonDict, float_array, require_option
from summeval_nb.core.html import axes_for
from summeval_nb.core.resampling import Resampling, middle
from summeval_nb.core.results import Score, ScoreTable, Signature

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

__all__ = ["Correlation", "Grid", "correlate"]

# a row an article, a column a system, None where a value is missing; in quotes, for pages would spell it out
Grid: TypeAlias = "ArrayLike | Sequence[Sequence[float | None]]"
Interval: TypeAlias = tuple[float, float] | None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Correlation(Score):
    """A metric's correlation with human judgement, its interval and what was left out.

    Parameters
    ----------
    score : float or None
        The correlation in [-1, 1]; None, with a reason, where it is undefined.
    level, coefficient : str
        The level that was correlated, and the coefficient.
    interval : (float, float) or None
        Ends of the percentile bootstrap interval; None where none was asked for, and with `no_interval` where fewer
        than half of the resamples have a value or all of them the same.
    confidence : float
        Share of resamples inside the interval.
    no_interval : str
        Why the resamples give no interval; else empty.
    per_article : tuple of float or None
        At the summary level, each article's correlation; None for skipped ones.
    n_articles, n_systems : int
        Shape of the tables.
    n_skipped : int
        At the summary level, articles without a correlation, because one side is constant or fewer than two cells
        are present. At the system level, systems without a cell that both tables have.
    n_missing : int
        Cells left out because either table lacks them.
    n_undefined : int
        Resamples without a value.
    resamples : numpy.ndarray
        The correlation in each resample that has one.
    """

    level: str
    coefficient: str
    interval: Interval
    confidence: float
    no_interval: str
    per_article: tuple[float | None, ...]
    n_articles: int
    n_systems: int
    n_skipped: int
    n_missing: int
    n_undefined: int
    resamples: np.ndarray

    def rows(self) -> list[JsonDict]:
        """Return one row with the number, its interval and the counts."""
        low, high = self.interval or (None, None)
        found = {"level": self.level, "coefficient": self.coefficient, "score": self.score, "low": low, "high": high}
        names = ("n_articles", "n_systems", "n_skipped", "n_missing", "n_undefined")
        return [found | {name: getattr(self, name) for name in names}]

    @property
    def left_out(self) -> str:
        """What the number is not of, and why, in words; "" where there is nothing."""
        of = {"summary": f"{self.n_articles} articles", "system": f"{self.n_systems} systems"}.get(self.level, "")
        why = "one side is constant, or fewer than two cells are present"
        parts = [(self.n_skipped, of, "no cell is present" if self.level == "system" else why)]
        cells = f"{self.n_articles * self.n_systems} {'pairs' if self.n_systems == 1 else 'cells'}"
        parts.append((self.n_missing, cells, "a score or a rating is missing"))
        drawn = self.n_undefined + self.resamples.size
        if self.n_undefined > 0.05 * drawn:  # fewer do not move the interval
            parts.append((self.n_undefined, f"{drawn} resamples", "they have no correlation"))
        return "; ".join(f"{n} of {of} ({why})" for n, of, why in parts if n)

    def to_dict(self) -> JsonDict:
        """Return everything but the resamples as plain Python data."""
        more = {"interval": self.interval, "no_interval": self.no_interval, "left_out": self.left_out}
        return super().to_dict() | more | {"per_article": list(self.per_article)}

    @property
    def _title(self) -> str:
        return with_interval(self.score, self.interval) if self.score is not None else f"undefined: {self.reason}"

    def __str__(self) -> str:
        more = f", no interval: {self.no_interval}" if self.no_interval else ""
        more += f"; left out: {self.left_out}" if self.left_out else ""
        return f"{self.level}-level {self.coefficient} {self._title}{more}"

    def __repr__(self) -> str:
        return f"Correlation({self}, signature={str(self.signature)!r})"

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the resamples as a histogram, with the estimate and the interval."""
        title, label = f"{self.level}-level {self._title}", f"{self.coefficient} in a resample"
        return histogram(self.resamples, self.score, self.interval, title, label, ax)


def correlate(
    metric: Grid,
    human: Grid,
    *,
    level: str | None = None,
    coefficient: str = "kendall",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    resample: str = "both",
    seed: int = 0,
) -> Correlation:
    """Correlate a metric with human judgement, with a bootstrap interval.

    Parameters
    ----------
    metric, human : array_like, (articles, systems) or (texts,)
        Scores of the same summaries: two tables, or two lists, Series or tables of scores with a number a text. None
        or NaN cells are left out pairwise and counted.
    level : {"summary", "system", "pooled"}, optional
        One correlation per article, averaged (articles where either side is constant are skipped and counted); one
        correlation of the systems' means; or all cells at once. By default pooled where there is one number a text or
        one system, else summary. Means within 1e-12 of the greatest value of each other are tied; single cells only
        where they are equal.
    coefficient : {"kendall", "spearman", "pearson"}
        Kendall's tau-b, Spearman's rho or Pearson's r.
    confidence : float
        Share of resamples inside the interval, in (0, 1).
    n_resamples : int
        Number of bootstrap resamples; 0 for no interval.
    resample : {"both", "articles", "systems"}
        What is drawn with replacement.
    seed : int
        The same seed draws the same articles and systems for every metric.

    Returns
    -------
    Correlation

    Raises
    ------
    TypeError, ValueError
        If a table is not one of finite numbers, the shapes or the indexes of two Series differ, the level needs tables
        and got lists, or an option is unknown.

    References
    ----------
    Deutsch, Dror and Roth 2021, A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods,
    TACL 9, 1132-1146.

    Examples
    --------
    >>> human = [[1, 2, 3, 4, 5], [5, 5, 5, 5, 5]]
    >>> result = correlate(metric=[[2, 1, 4, 3, 15], [1, 2, 3, 4, 5]], human=human, n_resamples=0)
    >>> round(result.score, 3), result.n_skipped
    (0.6, 1)
    >>> print(correlate(metric=[1, 2, 4, 3], human=[1, 2, None, 9], n_resamples=0))
    pooled-level kendall 1.000; left out: 1 of 4 pairs (a score or a rating is missing)
    """
    level, (x, y) = require_level(level, metric=metric, human=human)
    require_option(coefficient, "coefficient", COEFFICIENTS)
    require_option(resample, "resample", RESAMPLE)
    Resampling(n_resamples, confidence, seed)
    values = level_correlations(x, y, level, coefficient)
    score, skipped = mean_or_none(values), np.isnan(values)
    missing = np.isnan(x) | np.isnan(y)
    idle = score is None or (resample == "articles" and len(x) == 1)
    draws = resample_weights(x.shape, 0 if idle else n_resamples, resample, seed)
    interval, resamples, why = middle(resampled_correlations(x, y, level, coefficient, draws), confidence)
    choices = {"metric": "correlation", "level": level, "coef": coefficient, "conf": confidence}
    per_article = tuple(None if lost else float(v) for v, lost in zip(values, skipped, strict=True))
    n_skipped = {"summary": int(skipped.sum()), "system": int(missing.all(axis=0).sum())}
    return Correlation(
        score=score,
        reason="" if score is not None else _why_undefined(x, y, level),
        signature=Signature(choices | {"resample": resample, "n": n_resamples, "seed": seed}),
        level=level,
        coefficient=coefficient,
        interval=interval,
        confidence=confidence,
        no_interval=why or "there is one article to draw" * (idle and score is not None and n_resamples > 0),
        per_article=per_article if level == "summary" else (),
        n_articles=x.shape[0],
        n_systems=x.shape[1],
        n_skipped=n_skipped.get(level, 0),
        n_missing=int(missing.sum()),
        n_undefined=len(draws[0]) - resamples.size,
        resamples=resamples,
    )


# Every resample at once. Arrays: x, y (articles, systems); drawings (k, articles) and (k, systems).


def resampled_correlations(
    x: np.ndarray, y: np.ndarray, level: str, coefficient: str, draws: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """The level's correlation in every resample, (k,); NaN where a resample has none."""
    step, block = max(1, 4_000_000 // x.size), {"summary": _summary_block, "system": _system_block}
    blocks = [tuple(side[i : i + step] for side in draws) for i in range(0, len(draws[0]), step)]
    parts = [block.get(level, _pooled_block)(x, y, coefficient, *drawn) for drawn in blocks]
    return np.concatenate(parts) if parts else np.empty(0)


def _summary_block(
    x: np.ndarray, y: np.ndarray, coefficient: str, articles: np.ndarray, systems: np.ndarray
) -> np.ndarray:
    values = weighted(x[None], y[None], systems[None], coefficient)[0]
    weights = np.where(np.isnan(values), 0.0, articles)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (weights * np.nan_to_num(values)).sum(axis=1) / weights.sum(axis=1)


def _system_block(
    x: np.ndarray, y: np.ndarray, coefficient: str, articles: np.ndarray, systems: np.ndarray
) -> np.ndarray:
    missing = np.isnan(x) | np.isnan(y)
    mx, my = (system_means(table, missing, articles)[:, None] for table in (x, y))
    return weighted(mx, my, systems[:, None], coefficient)[:, 0, 0]


def _pooled_block(
    x: np.ndarray, y: np.ndarray, coefficient: str, articles: np.ndarray, systems: np.ndarray
) -> np.ndarray:
    missing = np.isnan(x) | np.isnan(y)
    w, x, y = (articles[:, :, None] * systems[:, None, :])[:, ~missing], x[~missing], y[~missing]
    if coefficient == "kendall":
        return kendall_pooled(x, y, w)
    if coefficient == "spearman":
        u, v = (ranks_pooled(side, w)[None, :, None] for side in (x, y))
        return cosine(u, v, w[None])[0, :, 0]
    return weighted(x[None, None], y[None, None], w[None], coefficient)[0, :, 0]


def kendall_pooled(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of one long row under many weightings: x, y (n,), w (k, n) -> (k,)."""
    rx, ry = (stats.rankdata(z, method="dense").astype(np.int32) for z in (x, y))
    single = np.ascontiguousarray(w.T, dtype=np.float32)  # sums of whole numbers, exact up to 2**24
    total = np.zeros(len(w))
    for start in range(0, x.size, 256):
        block = slice(start, start + 256)
        agree = (np.sign(rx[block, None] - rx[start:]) * np.sign(ry[block, None] - ry[start:])).astype(np.float32)
        agree[:, : agree.shape[0]] /= 2  # pairs inside the block appear twice, those to its right once
        total += 2 * ((agree @ single[start:]) * single[block]).sum(axis=0, dtype=float)
    untied = [w.sum(axis=1) ** 2 - _squares_of_groups(r, single) for r in (rx, ry)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((untied[0] > 0) & (untied[1] > 0), total / np.sqrt(untied[0] * untied[1]), np.nan)


def _squares_of_groups(ranks: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Sum over groups of equal values of (total weight)²: ranks (n,), w (n, k) -> (k,)."""
    order = np.argsort(ranks, kind="stable")
    starts = np.flatnonzero(np.diff(ranks[order], prepend=0))
    return (np.add.reduceat(w[order], starts, axis=0, dtype=float) ** 2).sum(axis=0)


def ranks_pooled(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """`rank_deviations` of one long row by sorting: x (n,), w (k, n) -> (k, n)."""
    values, group = np.unique(x, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(values.size))
    weights = np.add.reduceat(w[:, order], starts, axis=1)
    below = np.cumsum(weights, axis=1) - weights
    above = w.sum(axis=1, keepdims=True) - below - weights
    return (below - above)[:, group]


# What is a table


def require_level(level: str | None, **named: object) -> tuple[str, list[np.ndarray]]:
    """Return the level, chosen by the tables where none is given, and the tables.

    Lists of numbers, one a text, become tables of one system.
    """
    if level is not None:
        require_option(level, "level", LEVELS)
    _require_same_index(named)
    found = {name: values.scores if isinstance(values, ScoreTable) else values for name, values in named.items()}
    flat = [name for name, values in found.items() if np.ndim(_as_given(values)) == 1]
    if flat and level in ("summary", "system"):
        raise ValueError(
            f"level={level!r} needs tables with two axes, (articles, systems), and {flat[0]} has one number a text: "
            "use level='pooled' for texts, or pass one row, [scores], for scores of systems"
        )
    if len(flat) == len(found):
        found = {name: np.reshape(_as_given(v), (-1, 1)) for name, v in found.items()}
    tables = require_tables(**found)
    return level or ("pooled" if tables[0].shape[1] == 1 else "summary"), tables


def require_tables(**named: object) -> list[np.ndarray]:
    """Return several tables of numbers as float arrays of the same shape; None and NaN cells are missing ones."""
    tables = {name: _require_table(values, name) for name, values in named.items()}
    if len({table.shape for table in tables.values()}) > 1:
        listed = ", ".join(f"{name} {table.shape}" for name, table in tables.items())
        raise ValueError(f"the tables must have the same shape (articles, systems): {listed}")
    return list(tables.values())


def _require_table(values: object, name: str) -> np.ndarray:
    try:
        table = float_array(values, name)
    except (TypeError, ValueError) as error:
        wanted = "a table of numbers, one row an article, one column a system"
        raise TypeError(f"{name} must be {wanted}: {error}") from error
    if table.ndim != 2:
        remedy = "; for scores of systems without articles pass one row: [scores]" if table.ndim == 1 else ""
        raise ValueError(f"{name} must have two axes (articles, systems), not the shape {table.shape}{remedy}")
    if not table.size:
        raise ValueError(f"{name} is empty: its shape is {table.shape}")
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0]
        raise ValueError(f"{name}[{row}, {column}] is infinite; use None or NaN for a cell without a value")
    return table


def _as_given(values: object) -> np.ndarray:
    """Values as an array of whatever they hold; rows of unequal length are one axis."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.empty(())


def _require_same_index(named: Mapping[str, object]) -> None:
    """Refuse Series and frames whose labels differ: their places are no pairs."""
    for axis in ("index", "columns"):
        labels = {name: getattr(values, axis, None) for name, values in named.items()}
        known: dict[str, Any] = {name: own for name, own in labels.items() if hasattr(own, "equals")}
        first, *others = known or [""]
        for name in others:
            if not known[first].equals(known[name]):
                raise ValueError(
                    f"{first} and {name} have different labels (.{axis}), so their places may be no pairs: align them, "
                    "or pass .to_numpy() of both where the order is the same"
                )


# In words and as a picture


def mean_or_none(values: np.ndarray) -> float | None:
    """The mean of the values that are defined; None where none is."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def with_interval(value: float | None, interval: Sequence[float | None] | None, form: str = ".3f") -> str:
    """A number with the ends of its interval, as people read it; a dash where it is undefined."""
    if value is None:
        return "–"
    low, high = interval or (None, None)
    ends = "" if low is None or high is None else f" [{low + 0.0:{form}}, {high + 0.0:{form}}]"
    return f"{value + 0.0:{form}}{ends}"


def histogram(
    values: np.ndarray, score: float | None, interval: Interval, title: str, label: str, ax: Axes | None
) -> Axes:
    """Draw a histogram with a line at the score and a band for the interval."""
    ax = axes_for(ax, 6, 3)
    if len(values):
        ax.hist(values, bins=40, color="#8fc1e8", edgecolor="white")
    if interval:
        ax.axvspan(*interval, color="#f2eee6", zorder=0)
    if score is not None:
        ax.axvline(score, color="#b34700", linewidth=2)
    ax.set(title=title, xlabel=label, ylabel="count")
    return ax


def draw_interval(
    ax: Axes,
    place: float,
    value: float | None,
    ends: Sequence[float | None] | None,
    color: str,
    *,
    hollow: bool = False,
) -> None:
    """Draw one value with its interval on a line of its own; an undefined one leaves its place empty."""
    if value is not None:
        low, high = ends or (None, None)
        if low is not None and high is not None:
            ax.plot([low, high], [place, place], color=color, linewidth=1.6)
        ax.plot(value, place, "o", color=color, markerfacecolor="white" if hollow else color, markersize=5)


def left_out_lines(found: Mapping[str, Correlation]) -> list[str]:
    """What the correlations of several metrics left out: a line for each difference."""
    names: dict[str, list[str]] = {}
    for name, correlation in found.items():
        said = f"undefined, {correlation.reason}" if correlation.score is None else correlation.left_out
        if said:
            names.setdefault(said, []).append(name)
    everything = len(next(iter(names.values()), [])) == len(found) > 1
    return [f"left out{'' if everything else ' of ' + ', '.join(own)}: {said}" for said, own in names.items()]


def _why_undefined(x: np.ndarray, y: np.ndarray, level: str) -> str:
    missing = np.isnan(x) | np.isnan(y)
    if missing.all():
        return "no cell has a value in both tables"
    if x.shape[1] < 2 and level != "pooled":
        remedy = "(level='pooled' compares the texts of one system)"
        return f"a {level}-level correlation needs at least two systems, and there is one {remedy}"
    for name, table in (("metric", x), ("human", y)):
        present = table[~missing]
        if present.min() == present.max():
            return f"all {name} values are the same ({present[0]:g}), and nothing correlates with a constant"
    where = {"summary": "in every single article", "system": "over the system means", "pooled": "over all cells"}
    return f"one side is constant, or fewer than two cells are present, {where[level]}"
