"""Metrics by their names: to resolve a name imports the module of that metric, and no other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING
from importlib import import_module
from typing import Any

from summeval_nb.core.base import require_option
from summeval_nb.core.metric import Metric, require_metric

__all__ = ["METRICS", "load_metric", "metric_class"]


# where each class stands, and the choices that the name fixes
_KNOWN: dict[str, tuple[str, dict[str, Any]]] = {
    "length": ("agreement.metrics:Length", {}),
    "bleu": ("overlap.bleu:Bleu", {}),
    "rouge": ("overlap.rouge:Rouge", {}),
    "rouge1": ("overlap.rouge:Rouge", {"types": ("rouge1",)}),
    "rouge2": ("overlap.rouge:Rouge", {"types": ("rouge2",)}),
    "rougeL": ("overlap.rouge:Rouge", {"types": ("rougeL",)}),
    "chrf": ("overlap.chrf:Chrf", {}),
    "ter": ("overlap.ter:Ter", {}),
    "meteor": ("overlap.matching:Meteor", {}),
    "bertscore": ("overlap.matching:BertScore", {}),
    "embedding": ("agreement.metrics:Embedding", {}),
    "faithfulness": ("evidence.faithfulness:FaithfulnessMetric", {}),
    "answers": ("judged.answers:AnswerMetric", {}),
    "summary_score": ("judged.summary_score:SummaryScoreMetric", {}),
    "rating": ("judged.ratings:RatingMetric", {}),
    "context_precision": ("judged.retrieval:ContextPrecision", {}),
    "context_recall": ("judged.retrieval:ContextRecall", {}),
    "context_relevance": ("judged.retrieval:ContextRelevance", {}),
    "answer_relevancy": ("judged.retrieval:AnswerRelevancy", {}),
    "answer_faithfulness": ("judged.retrieval:AnswerFaithfulness", {}),
    "noise_sensitivity": ("judged.retrieval:NoiseSensitivity", {}),
    "side_by_side": ("judged.pairwise:SideBySide", {}),
    "rubric": ("judged.pairwise:Rubric", {}),
}


def metric_class(name: str) -> tuple[type[Metric], dict[str, Any]]:
    """Return the class of a metric by its name, and the choices that the name fixes."""
    place, fixed = _KNOWN[require_option(name, "metric", _KNOWN)]
    module, _, own = place.partition(":")
    return getattr(import_module(f"summeval_nb.{module}"), own), fixed


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
    if not isinstance(metric, str):
        if options:
            raise ValueError("options belong to metrics known by name; give yours when you make it")
        return require_metric(metric)
    kind, fixed = metric_class(metric)
    choices = kind.defaults()
    for option in options:
        require_option(option, f"option of {metric}", [choice for choice in choices if choice not in fixed])
    given = fixed | options
    if missing := [option for option, value in choices.items() if value is MISSING and option not in given]:
        needed = ", ".join(f"{option}=..." for option in missing)
        raise TypeError(f"{metric} needs {', '.join(missing)}: make it with {kind.__name__}({needed})")
    return kind(**given)


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
