"""Tables over one data set: metrics against people's ratings, several systems compared, and MTEB's SummEval task.

Chapter 66 explains the tables, chapter 64 the task, whose definitions are in `summeval`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from summeval_nb.agreement.coefficients import COEFFICIENTS, LEVELS, by_row
from summeval_nb.agreement.correlation import (
    Correlation,
    Grid,
    compare_metrics,
    correlate,
    left_out_lines,
    require_tables,
    with_interval,
)
from summeval_nb.agreement.registry import find_metric, load_metric
from summeval_nb.agreement.summeval import SIMILARITIES, mean_of_versions, pooled, similarity_tables
from summeval_nb.core.base import (
    JsonDict,
    float_array,
    one_bar,
    pd,
    plt,
    require_column,
    require_count,
    require_flag,
    require_inner_share,
    require_option,
    steps,
)
from summeval_nb.core.data import SummEval, load_summeval
from summeval_nb.core.files import COLUMN_NAMES, is_gap
from summeval_nb.core.html import draw_interval, figure_text, html_table
from summeval_nb.core.metric import Metric, score_rows
from summeval_nb.core.resampling import drawings, mean_interval, middle, times_drawn
from summeval_nb.core.results import Rows, Score, ScoreTable, Signature
from summeval_nb.text.embed import EmbedderOrName, load_embedder

__all__ = ["compare_systems", "metric_scores", "metric_table", "MetricTable", "reference_similarities"]
__all__ += ["summeval_scores", "summeval_task", "SummEvalResult", "SystemComparisons"]

# a name, an object, a function, a table
Scorer: TypeAlias = str | Metric | Callable[..., Any] | Grid
Scorers: TypeAlias = Sequence[Scorer] | Mapping[str, Scorer]
Vectors: TypeAlias = ArrayLike  # the last axis is the dimension


def metric_scores(data: SummEval, metrics: Scorers, *, embedder: EmbedderOrName = "minilm") -> dict[str, np.ndarray]:
    """Return each metric's (articles, systems) table.

    Parameters
    ----------
    data : SummEval
        Articles, references and summaries.
    metrics : list, or mapping of str to str, Metric, callable or array_like
        Names of `METRICS`, metrics with options of yours such as `load_metric("bleu", n=2)`, functions such as
        `f(candidate, references)` or `f(text, summary)`, or tables. A function is called once for each summary, by the
        names of its parameters, and returns a number or None for no score.
    embedder : str, path or object
        For embedding and faithfulness by name.

    Returns
    -------
    dict of str to numpy.ndarray, each (articles, systems)
        NaN where a metric has no score.

    Examples
    --------
    >>> from summeval_nb.core.data import load_toy_summeval
    >>> metric_scores(load_toy_summeval(), ["length"])["length"][0].tolist()
    [20.0, 24.0, 21.0, 16.0]
    """
    _require_data(data)
    named, n = _metrics_by_name(metrics), len(data.summaries)
    tables = {}
    with one_bar(len(named) * n, "metrics", "article", show=n >= 20):
        for name, metric in steps(list(named.items())):
            if isinstance(metric, str) or callable(metric) or hasattr(metric, "score_many"):
                own = {"embedder": embedder} if _takes_embedder(metric) else {}
                tables[name] = _scored(load_metric(metric, **own), name, data)
                continue
            tables[name] = table = float_array(metric, f"the table {name!r}")
            if table.shape != data.shape:
                raise ValueError(f"the table {name!r} has the shape {table.shape}, the data {data.shape}")
    return tables


@dataclass(frozen=True, repr=False, eq=False)
class MetricTable(Rows):
    """Correlations of metrics with human ratings.

    `rows()` has one row for each metric and quality, `wide_rows()` one for each metric, `to_frame(wide=True)` the
    correlations alone, `plot()` a panel for each quality.

    Parameters
    ----------
    scores : dict of str to numpy.ndarray, each (articles, systems)
        What the metrics gave.
    correlations : dict of (metric, quality) to Correlation
        Every cell of the table, with its interval and counts.
    ranks : dict of quality to dict of metric to int
        Ranks within a quality; empty when no comparison was asked for.
    signature : Signature
        Every choice that could change a number.
    """

    scores: dict[str, np.ndarray]
    correlations: dict[tuple[str, str], Correlation]
    ranks: dict[str, dict[str, int]]
    signature: Signature

    @property
    def qualities(self) -> list[str]:
        """The rated qualities, in order."""
        return list(dict.fromkeys(quality for _, quality in self.correlations))

    def rows(self) -> list[JsonDict]:
        """Return one row for each metric and quality, with all that is known."""
        rows = []
        for (metric, quality), c in self.correlations.items():
            low, high = c.interval or (None, None)
            row = {"metric": metric, "quality": quality, "correlation": c.score, "low": low, "high": high}
            row["rank"] = self.ranks.get(quality, {}).get(metric)
            rows.append(row | {"skipped": c.n_skipped, "missing": c.n_missing, "reason": c.reason or c.no_interval})
        return rows

    def wide_rows(self) -> list[JsonDict]:
        """Return one row for each metric, one column for each quality.

        A cell is like `.412 [.321, .498] (1)`, the rank last.
        """
        rows: dict[str, JsonDict] = {name: {"metric": name} for name in self.scores}
        for (metric, quality), c in self.correlations.items():
            rank = self.ranks.get(quality, {}).get(metric)
            rows[metric][quality] = with_interval(c.score, c.interval) + ("" if rank is None else f" ({rank})")
        return list(rows.values())

    def to_frame(self, *, wide: bool = False) -> pd.DataFrame:
        """Return `rows`; with `wide=True` correlations alone, metrics by qualities."""
        frame = pd.DataFrame(self.rows())
        if not wide:
            return frame
        frame = frame.pivot(index="metric", columns="quality", values="correlation")
        return frame.loc[list(self.scores), self.qualities]

    def remarks(self) -> list[str]:
        """Return what the ranks rest on, and what each quality's correlations left out."""
        notes = [f"ranks: two-sided tests, correction {self.signature['ranks']}"] if self.ranks else []
        for quality in self.qualities:
            found = {name: self.correlations[name, quality] for name in self.scores}
            notes += [f"{quality}: {line}" for line in left_out_lines(found)]
        return notes

    def plot(self) -> plt.Figure:
        """Draw a panel for each quality, metrics of the first rank in blue; an undefined correlation is a cross."""
        names, columns = list(self.scores), len(self.qualities)
        known = [(name, c.score) for (name, _), c in self.correlations.items() if c.score is not None]
        order = sorted(names, key=lambda name: np.mean([score for own, score in known if own == name] or [-2]))
        size: JsonDict = {"figsize": (2.2 + 2.4 * columns, 1.2 + 0.32 * len(names)), "layout": "constrained"}
        figure, axes = plt.subplots(1, columns, sharey=True, sharex=True, squeeze=False, **size)
        labels = [figure_text(name) for name in order]
        for ax, quality in zip(axes[0], self.qualities, strict=True):
            for place, name in enumerate(order):
                found, rank = self.correlations[name, quality], self.ranks.get(quality, {}).get(name)
                color = "#1f5f99" if rank in (1, None) else "#b34700"
                draw_interval(ax, place, found.score, found.interval, color, hollow=rank not in (1, None))
                if found.score is None:
                    ax.plot(0, place, "x", color="#666666")
                elif rank is not None:
                    at: dict[str, Any] = {"xytext": (0, 5), "textcoords": "offset points", "fontsize": 7}
                    ax.annotate(str(rank), (found.score, place), color="#333333", ha="center", **at)
            ax.axvline(0, color="#999999", linewidth=0.8)
            ax.set(title=figure_text(quality), ylim=(-0.6, len(order) - 0.3))
            ax.set_yticks(range(len(order)), labels)
            ax.grid(axis="x", color="#e5e5e5")
        figure.supxlabel(f"{self.signature['level']}-level {self.signature['coef']} with human ratings")
        return figure


def metric_table(
    data: SummEval,
    metrics: Scorers,
    *,
    qualities: Sequence[str] | None = None,
    level: str = "summary",
    coefficient: str = "kendall",
    embedder: EmbedderOrName = "minilm",
    rank: bool = True,
    correction: str = "holm",
    alpha: float = 0.05,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> MetricTable:
    """Correlate metrics with human ratings, with intervals and ranks.

    Parameters
    ----------
    data : SummEval
        Summaries with ratings.
    metrics : list or mapping
        As for `metric_scores`.
    qualities : sequence of str, optional
        Which ratings; all by default.
    level, coefficient, n_resamples, confidence, seed
        As in `correlate`.
    embedder : str, path or object
        For embedding and faithfulness.
    rank : bool
        Whether to test all pairs of metrics within each quality.
    correction, alpha
        As in `compare_metrics`.

    Raises
    ------
    ValueError, TypeError
        If a metric, quality or option is unknown, or a metric returns something that is no number.

    References
    ----------
    Fabbri et al. 2021, SummEval, TACL 9. Deutsch, Dror and Roth 2021, TACL 9.

    Examples
    --------
    >>> from summeval_nb.core.data import load_toy_summeval
    >>> options = {"qualities": ["relevance"], "n_resamples": 0, "rank": False}
    >>> table = metric_table(load_toy_summeval(), ["length"], **options)
    >>> round(table.correlations["length", "relevance"].score, 3)
    0.229
    """
    _require_data(data)
    wanted = data.qualities if qualities is None else qualities
    chosen = [require_option(quality, "quality", data.qualities) for quality in wanted]
    require_option(level, "level", LEVELS)
    require_option(coefficient, "coefficient", COEFFICIENTS)
    require_count(n_resamples, "n_resamples", minimum=1 if require_flag(rank, "rank") else 0)
    tables = metric_scores(data, metrics, embedder=embedder)
    how: dict[str, Any] = {"level": level, "coefficient": coefficient, "confidence": confidence}
    how |= {"n_resamples": n_resamples, "seed": seed}
    cells = [(name, quality) for name in tables for quality in chosen]
    found = {(name, quality): correlate(tables[name], data.ratings[quality], **how) for name, quality in cells}
    tests = how | {"correction": correction, "alpha": alpha}
    ranked = chosen if rank and len(tables) > 1 else []
    ranks = {quality: compare_metrics(tables, data.ratings[quality], **tests).ranks for quality in ranked}
    parts: JsonDict = {"metric": "metric-table", "data": f"{data.name}-{data.fingerprint}", "level": level}
    parts |= {"coef": coefficient, "conf": confidence, "n": n_resamples, "seed": seed}
    embeds = any(map(_takes_embedder, _metrics_by_name(metrics).values()))
    used = load_embedder(embedder).fingerprint if embeds else None
    parts |= {"ranks": correction if ranks else "none", "embedder": used}
    return MetricTable(tables, found, ranks, Signature(parts))


def _metrics_by_name(metrics: Scorers) -> dict[str, Scorer]:
    """Return metrics by name, from a list or from a mapping; an unknown name is refused."""
    if isinstance(metrics, Mapping):
        named = {str(name): metric for name, metric in metrics.items()}
    elif isinstance(metrics, (str, bytes)) or not isinstance(metrics, Sequence):
        remedy = "wrap a single one in a list: [metric]"
        raise TypeError(f"metrics must be a list of names, metrics and functions, or a dict; {remedy}")
    else:
        named = {_name_of(metric, place): metric for place, metric in enumerate(metrics)}
    if len(named) < len(metrics) or not named:
        raise ValueError("metrics is empty or names one twice; give each its own name in a dict")
    for metric in named.values():
        if isinstance(metric, str):
            find_metric(metric)
    return named


def _name_of(metric: object, place: int) -> str:
    """The name of a metric in a list: its own, or its place."""
    own = metric if isinstance(metric, str) else getattr(metric, "__name__", "") or getattr(metric, "name", "")
    return own or f"metric {place}"


def _require_data(data: object) -> None:
    if not isinstance(data, SummEval):
        made = "a SummEval (load_summeval, SummEval.from_records)"
        raise TypeError(f"data must be {made}, not {type(data).__name__}")


_COLUMNS = dict.fromkeys(("text", "contexts", "source"), "sources")
_COLUMNS |= dict.fromkeys(("summary", "candidate"), "summaries") | {"references": "references"}


def _takes_embedder(metric: object) -> bool:
    """Whether this is the name of a metric that takes an embedder."""
    return isinstance(metric, str) and "embedder" in find_metric(metric)[0].defaults()


def _scored(metric: Metric, name: str, data: SummEval) -> np.ndarray:
    """The table of a metric; a function of the user's own is called summary by summary, so an error has a place."""
    if unknown := [column for column in metric.columns if column not in _COLUMNS]:
        has = f"which a SummEval has not; it has {', '.join(_COLUMNS)}"
        raise ValueError(f"the metric {name!r} reads {', '.join(unknown)}, {has}")
    places = [(i, j) for i in range(len(data.ids)) for j in range(len(data.systems))]
    rows: list[JsonDict] = []
    for i, j in places:
        own = {"sources": data.sources[i], "summaries": data.summaries[i][j], "references": list(data.references[i])}
        rows.append({column: own[_COLUMNS[column]] for column in metric.columns})
    if type(metric) is not Metric or metric.definition.declared:
        outcomes = score_rows(metric, rows)
    else:
        outcomes = []
        for (i, j), row in steps(list(zip(places, rows, strict=True))):
            try:
                outcomes.append(metric.score(**row).outcome())
            except Exception as error:
                error.add_note(f"raised by the metric {name!r}, article {data.ids[i]!r}, system {data.systems[j]!r}")
                raise
    values = [np.nan if outcome.score is None else outcome.score for outcome in outcomes]
    return np.array(values).reshape(data.shape)


TRIALS = 10_000  # of the approximate randomisation, as in sacrebleu


class _Counted(NamedTuple):
    """A metric's counts of each text, shape (texts, m), and the number that sums of them make."""

    counts: np.ndarray
    number: Callable[[Sequence[float]], float]

    def of(self, weights: np.ndarray) -> np.ndarray:
        """Return the number of each weighting of the texts, (n, texts) -> (n,)."""
        return np.array([self.number(row) for row in (weights @ self.counts).tolist()], float)


@dataclass(frozen=True, kw_only=True, repr=False)
class SystemComparisons(Rows):
    """Systems by metric: scores, intervals, and how surely each differs from the baseline; made by `compare_systems`.

    Parameters
    ----------
    baseline : str
        The system that the others are tested against.
    table : list of dict
        One row for each metric and system: `metric`, `system`, `score`, `low`, `high`, `p_bootstrap` and
        `p_randomisation` (None for the baseline), `n`, the texts that were scored, and `reason`, why a number is None.
    signatures : mapping of str to Signature
        The options of each metric.
    confidence : float
        Share of the bootstrap inside each interval.
    """

    baseline: str
    table: list[JsonDict]
    signatures: Mapping[str, Signature]
    confidence: float
    more: ClassVar = ("baseline", "confidence")

    def to_dict(self) -> JsonDict:
        """Return everything as plain data."""
        return super().to_dict() | {"signatures": {name: str(line) for name, line in self.signatures.items()}}

    def wide_rows(self) -> list[JsonDict]:
        """Return one row for each system, with a text for each metric."""
        found: dict[str, JsonDict] = {}
        for row in self.table:
            name = f"{row['system']} (baseline)" if row["system"] == self.baseline else row["system"]
            shown = "undefined" if row["score"] is None else f"{row['score']:.4g}"
            shown += f" [{row['low']:.4g}, {row['high']:.4g}]" if row["low"] is not None else ""
            shown += f", p = {row['p_bootstrap']:.4f}, {row['p_randomisation']:.4f}" if row["p_bootstrap"] else ""
            found.setdefault(name, {"system": name})[row["metric"]] = shown
        return list(found.values())

    def remarks(self) -> list[str]:
        """Return what the cells are, why some are empty, and the options of each metric."""
        reasons = dict.fromkeys(
            f"{row['metric']}, {row['system']}: {row['reason']}" for row in self.table if row["reason"]
        )
        tests = f"[{100 * self.confidence:g} % interval]; p against {self.baseline}: paired bootstrap, randomisation"
        return [tests, *reasons, *(f"{name}: {line}" for name, line in self.signatures.items())]

    def to_latex(self) -> str:
        """Return a LaTeX table: a row for each system, a column for each metric, in need of the package booktabs."""
        cells = self.wide_rows()
        names = list(cells[0]) if cells else ["system"]
        lines = [" & ".join(map(_latex, names)), *(" & ".join(_latex(row[name]) for name in names) for row in cells)]
        head, *body = [f"{line} \\\\" for line in lines]
        columns = f"\\begin{{tabular}}{{{'l' * len(names)}}}"
        return "\n".join([columns, "\\toprule", head, "\\midrule", *body, "\\bottomrule", "\\end{tabular}"])


def _latex(text: str) -> str:
    """Return a text with the characters escaped that mean something to LaTeX."""
    escaped = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(escaped.get(sign, f"\\{sign}" if sign in "&%$#_{}" else sign) for sign in text)


def compare_systems(
    outputs: Mapping[str, Sequence[str]],
    references: Sequence[Any] | None = None,
    *,
    texts: Sequence[str] | None = None,
    metrics: Sequence[str | Metric | Callable[..., Any]] = ("bleu", "chrf", "ter", "rougeL"),
    baseline: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 12345,
) -> SystemComparisons:
    """Score several systems on the same texts, and test each against a baseline.

    A metric that scores a corpus as a whole (BLEU, chrF, TER) does so here, and any other is the mean over texts. With
    the defaults scores and p-values are those of sacrebleu's `PairedTest`.

    Parameters
    ----------
    outputs : mapping of str to sequence of str
        What each system wrote, one text for each of the same inputs, in the same order.
    references : sequence, optional
        For each input one text that people wrote, or a list of them.
    texts : sequence of str, optional
        The articles, for a metric that reads them, such as "faithfulness".
    metrics : sequence of str, Metric or function
        As for `load_metric`.
    baseline : str, optional
        The system that the others are tested against; the first by default.
    confidence : float
        Share of the bootstrap inside each interval, between 0 and 1.
    n_resamples, seed : int
        How often the bootstrap draws, and where the random numbers start.

    Returns
    -------
    SystemComparisons
        `p_bootstrap` is that of the paired bootstrap (Koehn 2004), `p_randomisation` that of 10,000 trials of
        approximate randomisation (Riezler and Maxwell 2005). An interval is None where all draws give the same number,
        and a p-value where so few texts allow none below 1 - `confidence`; `reason` says so. The interval of yes/no
        items is Wilson's. Systems that no draw tells apart have a p-value of 1. A text without a score in one of the
        systems is left out in all.

    Raises
    ------
    TypeError, ValueError
        If no system is given, numbers of texts differ, the baseline is unknown, or a metric reads a column that is not
        given.

    Examples
    --------
    >>> said = ["the cat sat on the mat", "rain fell all day", "the mill opened in spring"]
    >>> table = compare_systems({"ours": said, "theirs": ["a cat", "rain", "the mill"]}, said, metrics=["rouge1"])
    >>> [round(row["score"], 2) for row in table.rows()]
    [1.0, 0.41]
    """
    if not isinstance(outputs, Mapping):
        raise TypeError(f"outputs must map names of systems to their texts, not {type(outputs).__name__}")
    if not outputs:
        raise ValueError("outputs is empty: pass at least one system's texts by name")
    first = next(iter(outputs)) if baseline is None else require_option(baseline, "baseline", tuple(outputs))
    require_inner_share(confidence, "confidence")
    require_count(n_resamples, "n_resamples")
    given: dict[str, Any] = {name: require_column(said, f"outputs[{name!r}]") for name, said in outputs.items()}
    if len(set(map(len, given.values()))) > 1:
        sizes = ", ".join(f"{len(said)} of {name!r}" for name, said in given.items())
        raise ValueError(f"each system needs one text for each input, not {sizes}")
    if not metrics or isinstance(metrics, str):
        raise ValueError(f"metrics must be a list of at least one metric, not {metrics!r}")
    others = {"references": references, "text": texts}
    columns = {name: None if own is None else require_column(own, name) for name, own in others.items()}
    rows, signatures = list[JsonDict](), dict[str, Signature]()
    for metric in map(load_metric, metrics):
        counted, kept, shown, why = _counted(metric, given, columns)
        types = metric.bound().get("types") if metric.name == "rouge" else None
        name = types[0] if types and len(types) == 1 else metric.name  # of ROUGE its one type
        for other in (shown.get("metric", name), f"{name} ({len(signatures) + 1})"):
            name = other if name in signatures else name
        signatures[name] = shown
        tests = {} if not kept else _tested(counted, first, confidence, n_resamples, seed)
        for system in outputs:
            found = tests.get(system, {"score": None, "reason": why})
            empty: JsonDict = dict.fromkeys(("score", "low", "high", "p_bootstrap", "p_randomisation"))
            rows.append({"metric": name, "system": system} | empty | {"n": kept, "reason": ""} | found)
    return SystemComparisons(baseline=first, table=rows, signatures=signatures, confidence=confidence)


def _counted(
    metric: Metric, outputs: Mapping[str, list[str]], columns: Mapping[str, Any]
) -> tuple[dict[str, _Counted], int, Signature, str]:
    """Return each system's counts over the texts scored in all, their number, the signature, and why there are none."""
    others = [column for column in metric.columns if column != metric.judged]
    columns = {other: own for column, own in columns.items() for other in (column, *COLUMN_NAMES.get(column, ()))}
    for column in others:
        if columns.get(column) is None and column not in metric.may_lack:
            where = {"references": "references=", "text": "texts="}.get(column)
            remedy = f"give {where}, one entry a text" if where else "such a metric cannot compare systems here"
            raise ValueError(f"{metric.name} reads {column}: {remedy}")
    beside, kinds = {column: columns.get(column) for column in others}, dict[str, Any]()
    corpus = getattr(metric, "corpus", None) if metric.definition.corpus else None
    if corpus:  # a row that lacks a cell in one system is left out in all
        table = zip(*outputs.values(), *(own for own in beside.values() if own is not None), strict=True)
        whole = [not any(map(is_gap, row)) for row in table]
        if not any(whole):
            return {}, 0, metric.signature, "each text lacks a cell"
        outputs = {system: list(compress(said, whole)) for system, said in outputs.items()}
        beside = {column: own and list(compress(own, whole)) for column, own in beside.items()}
    for system, said in outputs.items():
        lists = {metric.judged: said} | beside
        kinds[system] = (corpus or metric.score_many)(*(lists[column] for column in metric.columns))
    if all(isinstance(found, Score) for found in kinds.values()):
        counted = {system: _Counted(found.statistics, found.from_counts) for system, found in kinds.items()}
        return counted, len(next(iter(counted.values())).counts), next(iter(kinds.values())).signature, ""
    tables: dict[str, ScoreTable[Any]] = kinds
    kept = np.logical_and.reduce([table.defined for table in tables.values()])
    n = int(kept.sum())
    counted = {s: _Counted(table.scores[kept][:, None], lambda row: row[0] / n) for s, table in tables.items()}
    reasons = (reason for table in tables.values() for reason in table.reasons() if reason)
    why = f"no text has a score in all systems: {next(reasons, '')}"
    return counted, n, next(iter(tables.values())).signature, why


def _tested(
    counted: Mapping[str, _Counted], first: str, confidence: float, n_resamples: int, seed: int
) -> dict[str, JsonDict]:
    """Return score, interval and p-values of each system."""
    size = len(counted[first].counts)
    drawn = np.concatenate([times_drawn(lot, size) for lot in drawings(size, n_resamples, seed)])
    sides = np.random.default_rng(seed).integers(2, size=(TRIALS, size), dtype=bool)
    whole = {system: float(own.of(np.ones((1, size)))[0]) for system, own in counted.items()}
    base, found = counted[first].of(drawn), dict[str, JsonDict]()
    smallest = 0.5 ** (size - 1)  # p-value that an exchange of so many pairs of texts can have
    for system, own in counted.items():
        values = base if system == first else own.of(drawn)
        ends, _, why = middle(values, confidence)
        low, high = ends or (None, None)
        if own.counts.shape[1] == 1 and np.isin(own.counts, (0, 1)).all():  # yes/no items
            low, high, why = mean_interval(own.counts[:, 0], confidence=confidence)
        reasons = [f"no interval: {why}"] if why else []
        found[system] = {"score": whole[system], "low": low, "high": high}
        if system != first and smallest > 1 - confidence:
            reasons.append(f"no test: with {size} texts no p-value could be below {smallest:.3g}")
        elif system != first:
            gap, apart = abs(whole[system] - whole[first]), np.abs(values - base)
            both = _Counted(np.concatenate([own.counts, counted[first].counts]), own.number)
            swapped = both.of(np.hstack([sides, ~sides])) - both.of(np.hstack([~sides, sides]))
            found[system] |= {"p_bootstrap": _p_value(apart - apart.mean(), gap)}
            found[system] |= {"p_randomisation": _p_value(np.abs(swapped), gap)}
        found[system]["reason"] = "; ".join(reasons)
    return found


def _p_value(values: np.ndarray, gap: float) -> float:
    """Return the share of values above a gap, the gap's own draw counted in; 1 where no draw differs."""
    if max(gap, np.abs(values).max()) <= 1e-12:  # rounding
        return 1.0
    return (int((values > gap).sum()) + 1) / (len(values) + 1)


def reference_similarities(
    machine: Vectors, human: Sequence[Vectors], *, similarity: str = "cosine", references: str | int = "max"
) -> np.ndarray:
    """Compare machine summaries' vectors with those of their article's human summaries.

    Parameters
    ----------
    machine : array_like, (articles, systems, d)
        Vectors of the machine summaries.
    human : array_like, (articles, references, d), or a sequence of (references_i, d)
        Vectors of the human summaries; their number may differ between articles.
    similarity : {"cosine", "dot"}
        Zero vectors have similarity 0.
    references : {"max", "mean"} or int
        The greatest or the mean similarity over the human summaries, or the similarity to one of them.

    Returns
    -------
    numpy.ndarray, (articles, systems), float64
        Rounded to twelve digits, so that equal summaries stay equal.

    Raises
    ------
    ValueError
        If shapes do not fit, a vector holds NaN, or an article has no human summary.

    Examples
    --------
    >>> reference_similarities([[[1, 0], [0, 2]]], [[[2, 0], [1, 1]]]).round(4).tolist()
    [[1.0, 0.7071]]
    """
    require_option(similarity, "similarity", SIMILARITIES)
    machine = _finite_vectors(machine, "machine", 3)
    if len(human) != len(machine) or not len(human):
        sizes = f"machine has {len(machine)} articles and human {len(human)}"
        raise ValueError(f"{sizes}; both need the same, at least one")
    found = []
    for own, some in zip(machine, human, strict=True):
        block = _finite_vectors(some, "human", 2)
        if not len(block) or block.shape[1] != own.shape[1]:
            raise ValueError(f"human vectors of shape {block.shape} do not fit machine vectors of shape {own.shape}")
        found.append(pooled(similarity_tables(own, block, similarity), _require_reference(references, len(block))))
    return np.round(found, 12)


class SummEvalResult(dict[str, float]):
    """Scores by MTEB's names, with their signature and what was left out.

    `skipped` lists the indices of articles left out, `n_missing` counts missing cells.
    """

    def __init__(self, scores: dict[str, float], signature: Signature, skipped: list[int], n_missing: int):
        super().__init__(scores)
        self.signature, self.skipped, self.n_missing = signature, skipped, n_missing

    def to_dict(self) -> JsonDict:
        """Return scores, signature and counts as plain Python data."""
        left_out = {"skipped": self.skipped, "n_missing": self.n_missing}
        return dict(self) | {"signature": str(self.signature)} | left_out

    def _repr_html_(self) -> str:
        note = f"{len(self.skipped)} articles skipped, {self.n_missing} ratings missing. {self.signature}"
        return html_table([{"score": name, "value": value} for name, value in self.items()], note=note)


def summeval_scores(
    tables: dict[str, np.ndarray], ratings: Grid, *, variant: str = "v2", main: str = "cosine"
) -> tuple[dict[str, float], list[int]]:
    """Score tables of similarities against ratings as MTEB does.

    Parameters
    ----------
    tables : dict of str to numpy.ndarray, each (articles, systems)
        Similarities by kind, usually "cosine" and "dot".
    ratings : array_like, (articles, systems)
        Human ratings; NaN cells are left out.
    variant : {"v2", "v1"}
        "v2" averages the correlations of the articles; "v1" is the first version, which averages correlations and
        p-values together.
    main : str
        The kind whose Spearman correlation is the main score.

    Returns
    -------
    scores : dict of str to float
        `{kind}_pearson` and `{kind}_spearman` for each kind, and `pearson`, `spearman` and `main_score`.
    skipped : list of int
        Articles left out because the ratings or one kind of similarity are all equal there, or, in v1, because they
        have fewer than three pairs.

    Raises
    ------
    ValueError
        If no article is left.
    """
    require_option(variant, "variant", ("v1", "v2"))
    if not isinstance(tables, Mapping) or not tables:
        said = f"{type(tables).__name__} {tables!r:.40}"
        raise TypeError(f"tables must map a kind of similarity to its table, not {said}")
    named = {f"tables[{kind!r}]": table for kind, table in tables.items()}
    human, *given = require_tables(ratings=ratings, **named)
    there = {kind: np.where(np.isnan(human), np.nan, own) for kind, own in zip(tables, given, strict=True)}
    require_option(main, "main", there)
    rated = [np.where(np.isnan(table), np.nan, human) for table in there.values()]
    skip = np.any([all_equal(table) for table in (human, *there.values(), *rated)], axis=0)
    pairs = {kind: (~np.isnan(table)).sum(axis=1) for kind, table in there.items()}
    if variant == "v1":  # with fewer than three pairs there is no p-value to average
        skip |= np.any([n < 3 for n in pairs.values()], axis=0)
    if skip.all():
        raise ValueError("no article is left: in each one the ratings or the similarities are all equal")
    scores = {
        f"{kind}_{name}": mean_of_versions(by_row(human[~skip], table[~skip], name), pairs[kind][~skip], name, variant)
        for kind, table in there.items()
        for name in ("pearson", "spearman")
    }
    own = {name: scores[f"{main}_{name}"] for name in ("pearson", "spearman")}
    return scores | own | {"main_score": own["spearman"]}, np.flatnonzero(skip).tolist()


def summeval_task(
    data: SummEval | str | os.PathLike[str],
    embedder: EmbedderOrName = "minilm",
    *,
    quality: str = "relevance",
    similarity: str = "cosine",
    variant: str = "v2",
    references: str | int = "max",
) -> SummEvalResult:
    """Run MTEB's SummEval task: does nearness to references agree with ratings?

    Parameters
    ----------
    data : SummEval or path
        Rated summaries, or the file to read them from.
    embedder : str, path or object
        As for `sentence2embedding`.
    quality : str
        Which rating; MTEB uses relevance.
    similarity : {"cosine", "dot"}
        Which one `main_score`, `pearson` and `spearman` repeat; both are always reported.
    variant : {"v2", "v1"}
        "v1" reproduces the first version, which averaged p-values into its scores.
    references : {"max", "mean"} or int
        How the human summaries of an article are combined; MTEB uses the maximum.

    Returns
    -------
    SummEvalResult
        A dict with `cosine_pearson`, `cosine_spearman`, `dot_pearson`, `dot_spearman`, `pearson`, `spearman` and
        `main_score`, each in [-1, 1] (v1: up to 1).

    Raises
    ------
    ValueError
        If the quality or an option is unknown (the message lists the known ones), or no article can be scored.

    References
    ----------
    Muennighoff et al. 2023, MTEB: Massive Text Embedding Benchmark, EACL. MTEB issue 1156 (the first version's bug).

    Examples
    --------
    >>> from summeval_nb.core.data import load_toy_summeval
    >>> sorted(summeval_task(load_toy_summeval()))[:2]
    ['cosine_pearson', 'cosine_spearman']
    """
    loaded = data if isinstance(data, SummEval) else load_summeval(data)
    require_option(quality, "quality", loaded.qualities)
    require_option(similarity, "similarity", SIMILARITIES)
    require_option(variant, "variant", ("v1", "v2"))
    model = load_embedder(embedder)
    machine, human = embed_summaries(loaded, model)
    compared = partial(reference_similarities, machine, human, references=references)
    tables = {kind: compared(similarity=kind) for kind in SIMILARITIES}
    ratings = loaded.ratings[quality]
    scores, skipped = summeval_scores(tables, ratings, variant=variant, main=similarity)
    choices = {"metric": "summeval", "variant": variant, "quality": quality, "sim": similarity, "refs": references}
    choices |= {"embedder": model.fingerprint, "data": f"{loaded.name}-{loaded.fingerprint}"}
    return SummEvalResult(scores, Signature(choices), skipped, int(np.isnan(ratings).sum()))


def embed_summaries(data: SummEval, model: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return vectors of the machine summaries, (articles, systems, d), and of each article's references."""
    flat = [text for row in data.summaries for text in row]
    vectors = np.asarray(model.encode(flat + [text for row in data.references for text in row]))
    ends = np.cumsum([len(row) for row in data.references])[:-1]
    return vectors[: len(flat)].reshape(*data.shape, -1), np.split(vectors[len(flat) :], ends)


def all_equal(table: np.ndarray) -> np.ndarray:
    """Return which rows hold one value only (or none), NaN left out."""
    low = np.where(np.isnan(table), np.inf, table).min(axis=1)
    return ~(low < np.where(np.isnan(table), -np.inf, table).max(axis=1))


def _finite_vectors(values: object, name: str, rank: int) -> np.ndarray:
    """Return vectors as float64, last axis the dimension; NaN and wrong ranks raise."""
    array = float_array(values, name)
    if array.ndim != rank:
        raise ValueError(f"{name} must have {rank} axes, the last one the dimension, not the shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinite numbers")
    return array


def _require_reference(references: str | int, count: int) -> str | int:
    """Return "max", "mean" or the number of one reference that an article has."""
    if references in ("max", "mean"):
        return references
    if isinstance(references, bool) or not isinstance(references, (int, np.integer)):
        raise ValueError(f"references must be 'max', 'mean' or the number of one reference, not {references!r}")
    if not 0 <= references < count:
        raise ValueError(f"there is no reference {references}: an article has {count}, counted from 0")
    return int(references)
