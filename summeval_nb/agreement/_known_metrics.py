# A plain private module: edited here, exported by no notebook, tested in tests/test_metric_objects.py.
"""Where the metrics with a name stand, and which choices a name fixes; nothing is imported until it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING
from importlib import import_module
from typing import Any

from summeval_nb.ground.base import require_option
from summeval_nb.ground.metric import Metric

KNOWN: dict[str, tuple[str, dict[str, Any]]] = {
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
    """Return the class of a metric that has a name, and the choices that its name fixes."""
    place, fixed = KNOWN[require_option(name, "metric", KNOWN)]
    module, _, own = place.partition(":")
    return getattr(import_module(f"summeval_nb.{module}"), own), fixed


def made(name: str, options: Mapping[str, Any]) -> Metric:
    """Return a metric made from its name and choices; unknown and missing choices are named."""
    kind, fixed = metric_class(name)
    choices = kind.defaults()
    for option in options:
        require_option(option, f"option of {name}", [one for one in choices if one not in fixed])
    given = fixed | dict(options)
    if missing := [option for option, value in choices.items() if value is MISSING and option not in given]:
        needed = ", ".join(f"{option}=..." for option in missing)
        raise TypeError(f"{name} needs {', '.join(missing)}: make it with {kind.__name__}({needed})")
    return kind(**given)


class NamedMetrics(Mapping[str, Metric]):
    """The metrics by name, each with its usual choices, made (by `load`) when it is asked for."""

    def __init__(self, load: Callable[[str], Metric]):
        self._load = load

    def __getitem__(self, name: str) -> Metric:
        if name not in KNOWN:
            raise KeyError(f"unknown metric {name!r}; known: {', '.join(map(repr, KNOWN))}")
        return self._load(name)

    def __contains__(self, name: object) -> bool:
        return name in KNOWN  # without making it: some need choices, or data that are not there

    def __iter__(self) -> Iterator[str]:
        return iter(KNOWN)

    def __len__(self) -> int:
        return len(KNOWN)

    def __repr__(self) -> str:
        return f"METRICS({', '.join(KNOWN)})"
