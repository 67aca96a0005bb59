# A plain private module: edited here, exported by no notebook, tested in tests/test_summeval.py.
"""One table for each metric, whatever it is: by name, an object, a function of one summary, or a table."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from summeval_nb.agreement._grids import Grid
from summeval_nb.agreement._known_metrics import KNOWN, metric_class
from summeval_nb.ground.base import float_array, require_option
from summeval_nb.ground.data import SummEval
from summeval_nb.ground.metric import Metric, score_rows
from summeval_nb.ground.results import ScoreTable
from summeval_nb.text.embed import EmbedderOrName
from summeval_nb.text.embed import Embedder, load_embedder

# a name, an object, a function, a table
Scorer: TypeAlias = "str | Metric | Callable[..., float | None] | Grid"
Scorers: TypeAlias = "Sequence[Scorer] | Mapping[str, Scorer]"


def metrics_by_name(metrics: Scorers) -> dict[str, Scorer]:
    """Return metrics by name, from a list or a mapping of names to metrics, functions or tables."""
    if isinstance(metrics, Mapping):
        named = {str(name): metric for name, metric in metrics.items()}
    elif isinstance(metrics, (str, bytes)) or not isinstance(metrics, Sequence):
        raise TypeError(
            "metrics must be a list of names, metrics and functions, or a dict; wrap a single one in a list: [metric]"
        )
    else:
        named = {name_of(metric, i): metric for i, metric in enumerate(metrics)}
    if len(named) < len(metrics) or not named:
        raise ValueError("metrics is empty or names one twice; give each its own name in a dict")
    for metric in named.values():
        if isinstance(metric, str):
            require_option(metric, "metric", KNOWN)
    return named


def name_of(metric: object, place: int) -> str:
    """The name of a metric in a list: its own, or its place."""
    if isinstance(metric, str):
        return metric
    return getattr(metric, "__name__", None) or getattr(metric, "name", "") or f"metric {place}"


COLUMNS = {"text": "sources", "contexts": "sources", "summary": "summaries", "candidate": "summaries"}
COLUMNS |= {"references": "references"}


def scored(metric: Metric, name: str, data: SummEval) -> np.ndarray:
    """The table of a metric that is an object."""
    if unknown := [column for column in metric.columns if column not in COLUMNS]:
        have = ", ".join(COLUMNS)
        raise ValueError(f"the metric {name!r} reads {', '.join(unknown)}, which a SummEval has not; it has {have}")
    systems = range(len(data.systems))
    rows = [
        {column: cell(data, COLUMNS[column], i, j) for column in metric.columns}
        for i in range(len(data.ids))
        for j in systems
    ]
    if isinstance(metric, Metric):
        found = metric.score_many(*([row[column] for row in rows] for column in metric.columns))
        if isinstance(found, ScoreTable):
            return found.scores.reshape(data.shape)
    values = [np.nan if one.score is None else one.score for one in score_rows(metric, rows)]
    return np.array(values).reshape(data.shape)


def cell(data: SummEval, kind: str, article: int, system: int) -> str | list[str]:
    """What a metric reads of one summary."""
    if kind == "references":
        return list(data.references[article])
    return data.sources[article] if kind == "sources" else data.summaries[article][system]


def called(function: Callable[..., float | None], name: str, data: SummEval) -> np.ndarray:
    """The table of a metric given as a function of one summary."""
    from tqdm.auto import tqdm

    table = np.full(data.shape, np.nan)
    for i, row in enumerate(tqdm(data.summaries, desc=name, unit="article", disable=len(data.summaries) < 20)):
        for j, summary in enumerate(row):
            where = f"the metric {name!r}, article {data.ids[i]!r}, system {data.systems[j]!r}"
            try:
                value = function(summary, source=data.sources[i], references=list(data.references[i]))
            except Exception as error:
                error.add_note(f"raised by {where}")
                raise
            if value is not None and not (isinstance(value, numbers.Real) and np.isfinite(float(value))):
                raise ValueError(f"{where} returned {value!r}; return a finite number, or None for no score")
            table[i, j] = np.nan if value is None else float(value)
    return table


def given_table(values: Grid, name: str, data: SummEval) -> np.ndarray:
    """A table that was given, if it has the shape of the data."""
    table = float_array(values, f"the table {name!r}")
    if table.shape != data.shape:
        raise ValueError(f"the table {name!r} has the shape {table.shape}, the data {data.shape}")
    return table


def embedder_used(metrics: Scorers, embedder: EmbedderOrName) -> str | None:
    """The embedder's fingerprint if one of the metrics, given by name, uses it."""
    names = [metric for metric in metrics_by_name(metrics).values() if isinstance(metric, str)]
    used = any("embedder" in metric_class(name)[0].defaults() for name in names)
    return load_embedder(embedder).fingerprint if used else None


def vectors_of(
    embedder: Embedder, texts: Sequence[str], groups: Sequence[Sequence[str]]
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The vectors of texts, (n, 1, d), and of each one's references, (r, d); what repeats is encoded once."""
    each = list(dict.fromkeys(map(tuple, groups)))  # an article's are the same
    flat = [*texts, *(text for group in each for text in group)]
    vectors = np.asarray(embedder.encode(flat))
    ends = np.cumsum([len(group) for group in each])[:-1]
    theirs = dict(zip(each, np.split(vectors[len(texts) :], ends), strict=True))
    return vectors[: len(texts), None], [theirs[tuple(group)] for group in groups]


def require_data(data: object) -> None:
    """Refuse what is no rated data set."""
    if not isinstance(data, SummEval):
        raise TypeError(f"data must be a SummEval (load_summeval, SummEval.from_records), not {type(data).__name__}")
