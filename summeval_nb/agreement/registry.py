"""Metrics by their names: to resolve a name imports the module of that metric, and no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from importlib import import_module
from typing import Any, NamedTuple

from summeval_nb.core.base import JsonDict, require_option, require_options
from summeval_nb.core.html import html_table, text_table
from summeval_nb.core.metric import Metric, require_metric
from summeval_nb.core.results import Rows

__all__ = ["METRICS", "MetricList", "describe_metric", "list_metrics", "load_metric", "metric_class"]


class _Known(NamedTuple):
    """What is known of a metric before its module is imported."""

    place: str  # the module, and the class in it
    purpose: str
    range: str = "0 to 1"
    better: str = "higher"
    fixed: Mapping[str, Any] = {}  # the choices that the name fixes


def _rouge(purpose: str, kind: str) -> _Known:
    return _Known("overlap.rouge:RougeMetric", purpose, fixed={"types": (kind,)})


_KNOWN: dict[str, _Known] = {
    "length": _Known("agreement.metrics:LengthMetric", "number of words", "0 or more", "neither"),
    "bleu": _Known("overlap.bleu:BleuMetric", "precision of shared n-grams", "0 to 100"),
    "rouge": _Known("overlap.rouge:RougeMetric", "shared words, pairs, subsequence"),
    "rouge1": _rouge("shared words", "rouge1"),
    "rouge2": _rouge("shared pairs of words", "rouge2"),
    "rougeL": _rouge("longest common subsequence", "rougeL"),
    "chrf": _Known("overlap.chrf:ChrfMetric", "shared n-grams of characters", "0 to 100"),
    "ter": _Known("overlap.ter:TerMetric", "edits to a reference", "0 or more", "lower"),
    "meteor": _Known("overlap.matching:MeteorMetric", "words matched, stems and synonyms"),
    "bertscore": _Known("overlap.matching:BertScoreMetric", "nearest token vectors", "-1 to 1"),
    "embedding": _Known("agreement.metrics:EmbeddingMetric", "cosine of text vectors", "-1 to 1"),
    "faithfulness": _Known("evidence.faithfulness:FaithfulnessMetric", "sentences the article supports"),
    "answers": _Known("judged.answers:AnswerMetric", "answer held against context and truth"),
    "citations": _Known("judged.citations:CitationsMetric", "do citations hold: recall and precision"),
    "summary_score": _Known("judged.summary_score:SummarizationMetric", "questions a summary answers"),
    "rating": _Known("judged.ratings:RatingMetric", "a model's grade", "1 to 5"),
    "rag": _Known("judged.retrieval:RagMetric", "all of a RAG table at once: search and answer"),
    "context_precision": _Known("judged.retrieval:ContextPrecisionMetric", "needed passages on top"),
    "context_recall": _Known("judged.retrieval:ContextRecallMetric", "truth found in the passages"),
    "context_relevance": _Known("judged.retrieval:ContextRelevanceMetric", "passages about the question"),
    "answer_relevancy": _Known("judged.retrieval:AnswerRelevancyMetric", "answer about the question", "-1 to 1"),
    "answer_faithfulness": _Known("judged.retrieval:AnswerFaithfulnessMetric", "answer found in the passages"),
    "answer_correctness": _Known("judged.retrieval:AnswerCorrectnessMetric", "answer says what the truth says"),
    "noise_sensitivity": _Known(
        "judged.retrieval:NoiseSensitivityMetric",
        "wrong statements that passages made",
        better="lower",
    ),
    "side_by_side": _Known("judged.pairwise:PairwiseMetric", "preference for a over b", better="neither"),
    "rubric": _Known("judged.pairwise:RubricMetric", "a model's grade by your criteria", "1 to 5"),
}


def metric_class(name: str) -> tuple[type[Metric], dict[str, Any]]:
    """Return the class of a metric by its name, and the choices that the name fixes."""
    known = _KNOWN[require_option(name, "metric", _KNOWN)]
    module, _, own = known.place.partition(":")
    kind = getattr(import_module(f"summeval_nb.{module}"), own)
    return kind, dict(known.fixed)


def _made(name: str, options: Mapping[str, Any]) -> Metric:
    """Return a metric made from its name and choices.

    Unknown and missing choices are named.
    """
    kind, fixed = metric_class(name)
    choices = kind.defaults()
    require_options(name, options, [option for option in choices if option not in fixed])
    given = fixed | dict(options)
    missing = [option for option, value in choices.items() if value is MISSING]
    if lacking := [option for option in missing if option not in given]:
        needed = ", ".join(f"{option}=..." for option in lacking)
        remedy = f"give them as options, {needed}"
        raise TypeError(f"{name} needs {', '.join(lacking)}: {remedy}")
    return kind(**given)


def load_metric(metric: str | Metric, **options: Any) -> Metric:
    """Return a metric from its name and choices; a metric is returned as it is.

    Raises
    ------
    ValueError, TypeError
        If the name or a choice is unknown, a choice is missing, or the object is no
        metric.

    Examples
    --------
    >>> load_metric("chrf").score("a cat", "a cat").score
    100.0
    """
    if isinstance(metric, str):
        return _made(metric, options)
    if options:
        what = "options belong to metrics known by name; give yours when you make it"
        raise ValueError(what)
    return require_metric(metric)


class _Metrics(Mapping[str, Metric]):
    """The metrics by name, each with its usual choices, made when it is asked for."""

    def __getitem__(self, name: str) -> Metric:
        if name not in _KNOWN:
            raise KeyError(f"unknown metric {name!r}; known: {', '.join(map(repr, _KNOWN))}")
        return load_metric(name)

    def __contains__(self, name: object) -> bool:
        # without making it: some need choices, or data that are not there
        return name in _KNOWN

    def __iter__(self) -> Iterator[str]:
        return iter(_KNOWN)

    def __len__(self) -> int:
        return len(_KNOWN)

    def __repr__(self) -> str:
        return f"METRICS({', '.join(_KNOWN)})"


METRICS: Mapping[str, Metric] = _Metrics()


@dataclass(frozen=True, repr=False)
class MetricList(Rows):
    """The metrics that have a name, a row for each; made by `list_metrics`.

    Parameters
    ----------
    metrics : sequence of dict
        `metric`, its name; `reads`, its columns; `range` of the score by default;
        `better`, "higher", "lower" or "neither"; `asks_model`, "no", "by option" or
        "yes"; `purpose`, what it measures.
    """

    metrics: Sequence[JsonDict]

    def rows(self) -> list[JsonDict]:
        """Return one dictionary for each metric."""
        return [dict(row) for row in self.metrics]

    def to_dict(self) -> JsonDict:
        """Return the rows as plain data."""
        return {"rows": self.rows()}

    def __repr__(self) -> str:
        return text_table(self.rows())

    def _repr_html_(self) -> str:
        return html_table(self.rows(), caption="Metrics by name")


def describe_metric(name: str) -> JsonDict:
    """Return one row of `list_metrics`; only the module of that metric is imported."""
    known, kind = _KNOWN[require_option(name, "metric", _KNOWN)], metric_class(name)[0]
    choices = kind.defaults()
    asks = "by option" if choices.keys() & {"judge", "checker", "backend"} else "no"
    return {
        "metric": name,
        "reads": ", ".join(kind.columns),
        "range": known.range,
        "better": known.better,
        "asks_model": "yes" if choices.get("backend") is MISSING else asks,
        "purpose": known.purpose,
    }


def list_metrics() -> MetricList:
    """Return the metrics by name: what each reads and measures, and who is asked.

    Returns
    -------
    MetricList
        A row for each name that `load_metric`, `run` and the shell know. A model is
        asked "by option" where the judge or checker may be one, as in
        `judge="llm:FOLDER"`.

    Examples
    --------
    >>> list_metrics().rows()[1]["reads"]
    'candidate, references'
    """
    return MetricList([describe_metric(name) for name in _KNOWN])
