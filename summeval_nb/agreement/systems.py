"""Several systems on the same texts: each metric's score with an interval, and paired tests against a baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from summeval_nb.agreement.registry import load_metric
from summeval_nb.core.base import JsonDict, require_column, require_count, require_inner_share, require_option
from summeval_nb.core.files import is_gap
from summeval_nb.core.html import html_table, text_table
from summeval_nb.core.metric import Metric
from summeval_nb.core.resampling import drawings, mean_interval, middle, times_drawn
from summeval_nb.core.results import Rows, Score, ScoreTable, Signature

__all__ = ["SystemComparisons", "compare_systems"]

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
    scores : list of dict
        One row for each metric and system: `metric`, `system`, `score`, `low`, `high`, `p_bootstrap` and
        `p_randomisation` (None for the baseline), `n`, the texts that were scored, and `reason`, why a number is None.
    signatures : mapping of str to Signature
        The options of each metric.
    confidence : float
        Share of the bootstrap inside each interval.
    """

    baseline: str
    scores: list[JsonDict]
    signatures: Mapping[str, Signature]
    confidence: float

    def rows(self) -> list[JsonDict]:
        """Return one dictionary for each metric and system."""
        return [dict(row) for row in self.scores]

    def to_dict(self) -> JsonDict:
        """Return everything as plain data."""
        lines = {name: str(signature) for name, signature in self.signatures.items()}
        return {"baseline": self.baseline, "confidence": self.confidence, "rows": self.rows(), "signatures": lines}

    def _cells(self) -> list[JsonDict]:
        """Return one row for each system, with a text for each metric."""
        found: dict[str, JsonDict] = {}
        for row in self.scores:
            name = f"{row['system']} (baseline)" if row["system"] == self.baseline else row["system"]
            shown = "undefined" if row["score"] is None else f"{row['score']:.4g}"
            shown += f" [{row['low']:.4g}, {row['high']:.4g}]" if row["low"] is not None else ""
            shown += f", p = {row['p_bootstrap']:.4f}, {row['p_randomisation']:.4f}" if row["p_bootstrap"] else ""
            found.setdefault(name, {"system": name})[row["metric"]] = shown
        return list(found.values())

    def _note(self) -> str:
        reasons = dict.fromkeys(
            f"{row['metric']}, {row['system']}: {row['reason']}" for row in self.scores if row["reason"]
        )
        tests = f"[{100 * self.confidence:g} % interval]; p against {self.baseline}: paired bootstrap, randomisation"
        return "\n".join([tests, *reasons, *(f"{name}: {line}" for name, line in self.signatures.items())])

    def __repr__(self) -> str:
        return f"{text_table(self._cells())}\n{self._note()}"

    def _repr_html_(self) -> str:
        return html_table(self._cells(), caption="Systems compared", note=self._note())

    def to_latex(self) -> str:
        """Return a LaTeX table: a row for each system, a column for each metric, in need of the package booktabs."""
        cells = self._cells()
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
        counted, kept, shown = _counted(metric, given, columns)
        name = _name(metric)
        for other in (shown.get("metric", name), f"{name} ({len(signatures) + 1})"):
            name = other if name in signatures else name
        signatures[name] = shown
        tests = {} if not kept else _tested(counted, first, confidence, n_resamples, seed)
        for system in outputs:
            absent = {"score": None, "reason": "no text has a score in all systems"}
            found = tests.get(system, absent)
            empty: JsonDict = dict.fromkeys(("score", "low", "high", "p_bootstrap", "p_randomisation"))
            rows.append({"metric": name, "system": system} | empty | {"n": kept, "reason": ""} | found)
    return SystemComparisons(baseline=first, scores=rows, signatures=signatures, confidence=confidence)


def _name(metric: Metric) -> str:
    """Return the name of a metric in the table: of ROUGE its one type."""
    types = metric.bound().get("types") if metric.name == "rouge" else None
    return types[0] if types and len(types) == 1 else metric.name


def _counted(
    metric: Metric, outputs: Mapping[str, list[str]], columns: Mapping[str, Any]
) -> tuple[dict[str, _Counted], int, Signature]:
    """Return each system's counts over the texts that have a score in all, how many these are, and the signature."""
    others = [column for column in metric.columns if column != metric.judged]
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
            return {}, 0, metric.signature
        outputs = {system: list(compress(said, whole)) for system, said in outputs.items()}
        beside = {column: own and list(compress(own, whole)) for column, own in beside.items()}
    for system, said in outputs.items():
        lists = {metric.judged: said} | beside
        kinds[system] = (corpus or metric.score_many)(*(lists[column] for column in metric.columns))
    if all(isinstance(found, Score) for found in kinds.values()):
        counted = {system: _Counted(found.statistics, found.from_counts) for system, found in kinds.items()}
        return counted, len(next(iter(counted.values())).counts), next(iter(kinds.values())).signature
    tables: dict[str, ScoreTable[Any]] = kinds
    kept = np.logical_and.reduce([table.defined for table in tables.values()])
    n = int(kept.sum())
    counted = {s: _Counted(table.scores[kept][:, None], lambda row: row[0] / n) for s, table in tables.items()}
    return counted, n, next(iter(tables.values())).signature


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
