"""Metrics by their names: to resolve a name imports the module of that metric, and no other.

Other packages offer metrics under the entry points of the group `summeval_nb.metrics`, and a function or an object of
your own has its place as a name, "package:function". Nothing of theirs is imported before somebody asks for it by name,
or for the list.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import MISSING, dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from summeval_nb.core.base import JsonDict, require_options, short_repr, suggest
from summeval_nb.core.metric import Metric, MetricDefinition, definition_of, is_function, require_metric
from summeval_nb.core.results import Rows, ScoreTable

__all__ = ["describe_metric", "find_metric", "list_metrics", "load_metric", "MetricList", "METRICS"]

GROUP = "summeval_nb.metrics"


def is_place(name: object) -> bool:
    """Return whether a name has the form "package:function", where package and function may have dots."""
    if not isinstance(name, str) or name.count(":") != 1:
        return False
    return all(part.isidentifier() for half in name.split(":") for part in half.split("."))


class _Offer(NamedTuple):
    """A metric that an installed package offers: its name, its place, and the package with its version."""

    name: str
    place: str
    package: str


@lru_cache(maxsize=1)
def _offers(paths: tuple[str, ...]) -> tuple[_Offer, ...]:
    found = []
    for entry in entry_points(group=GROUP):
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""
        found.append(_Offer(entry.name, entry.value.partition("[")[0].replace(" ", ""), package))
    return tuple(sorted(set(found), key=lambda offer: (offer.package, offer.name)))


def find_object(place: str) -> Any:
    """Import what stands at a place such as "package:function"; the error of its own code is in the ImportError."""
    if not is_place(place):
        raise ValueError(f"{place!r} is no place of a metric: write it as 'package:function'")
    module, _, path = place.partition(":")
    try:
        found = import_module(module)
    except (Exception, SystemExit) as error:  # whatever somebody's module raises
        absent = isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}.")
        remedy = "there is no such module: install it, or put its folder into PYTHONPATH"
        why = remedy if absent else f"{type(error).__name__}: {error}"
        raise ImportError(f"{place!r}: {module} cannot be imported: {why}") from error
    for part in path.split("."):
        if not hasattr(found, part):
            near = suggest(part, [name for name in dir(found) if not name.startswith("_")])
            meant = f", did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{place!r}: {module} has no {path!r}{meant}")
        found = getattr(found, part)
    return found


_adopted: dict[tuple[str, str], tuple[Any, MetricDefinition]] = {}


def _adopt(name: str, place: str) -> tuple[MetricDefinition, JsonDict]:
    """Return what is known of the function, metric or object at a place, and the options that it fixes."""
    value = find_object(place)
    known = _adopted.get((name, place))
    if known is None or known[0] is not value:  # a module may have been loaded again
        if isinstance(value, Metric):
            made = copy(value.definition)
            made.name = name
        elif is_function(value) and not isinstance(value, type) and not hasattr(value, "score_many"):
            made = MetricDefinition(value, name)
        else:
            made = MetricDefinition.of_object(require_metric(value, repr(place)), name)
        made.place, made.remade = place, load_metric
        known = _adopted[name, place] = value, made
    return known[1], value.options() if isinstance(value, Metric) else {}


class _Known(NamedTuple):
    """What is known of a metric before its module is imported."""

    place: str  # the module, and the function in it
    purpose: str
    range: str = "0 to 1"
    better: str = "higher"
    fixed: Mapping[str, Any] = {}  # the choices that the name fixes


def _rouge(purpose: str, kind: str) -> _Known:
    return _Known("overlap.rouge:rouge_score", purpose, fixed={"types": (kind,)})


def _copied(purpose: str, *measures: str, range: str = "0 to 1") -> _Known:
    fixed = {"measures": measures} if measures else {}
    return _Known("overlap.shares:extractiveness", purpose, range, "neither", fixed)


_KNOWN: dict[str, _Known] = {
    "length": _Known("agreement.metrics:length_score", "number of words", "0 or more", "neither"),
    "bleu": _Known("overlap.translation:bleu_score", "precision of shared n-grams", "0 to 100"),
    "rouge": _Known("overlap.rouge:rouge_score", "shared words, pairs, subsequence"),
    "rouge1": _rouge("shared words", "rouge1"),
    "rouge2": _rouge("shared pairs of words", "rouge2"),
    "rougeL": _rouge("longest common subsequence", "rougeL"),
    "chrf": _Known("overlap.translation:chrf_score", "shared n-grams of characters", "0 to 100"),
    "ter": _Known("overlap.translation:ter_score", "edits to a reference", "0 or more", "lower"),
    "meteor": _Known("overlap.alignment:meteor_score", "words matched, stems and synonyms"),
    "bertscore": _Known("overlap.alignment:bertscore", "nearest token vectors", "-1 to 1"),
    "exact_match": _Known("overlap.shares:exact_match", "the same words as a true answer"),
    "token_f1": _Known("overlap.shares:token_f1", "words shared with a true answer"),
    "extractiveness": _copied("what is copied, new and repeated"),
    "coverage": _copied("words in copied pieces", "coverage"),
    "density": _copied("length of the copied pieces", "density", range="0 or more"),
    "compression": _copied("words of the article for each", "compression", range="0 or more"),
    "novel_ngrams": _copied("n-grams not in the article", *(f"novel{n}" for n in (1, 2, 3, 4))),
    "repetition": _copied("three words in a row said again", "repeated3"),
    "embedding": _Known("agreement.metrics:embedding_score", "cosine of text vectors", "-1 to 1"),
    "faithfulness": _Known("evidence.faithfulness:evaluate", "sentences the article supports"),
    "answers": _Known("judged.answers:evaluate_answer", "answer held against passages and ground truth"),
    "citations": _Known("judged.citations:check_citations", "do citations hold: recall and precision"),
    "summary_score": _Known("judged.summary_score:summarization_score", "questions a summary answers"),
    "rating": _Known("judged.grading:rate", "a model's grade", "1 to 5"),
    "rag": _Known("judged.rag:rag_score", "all of a RAG table at once: search and answer"),
    "context_precision": _Known("judged.rag:context_precision", "needed passages on top"),
    "context_recall": _Known("judged.rag:context_recall", "true answer found in the passages"),
    "context_relevance": _Known("judged.rag:context_relevance", "passages about the question"),
    "answer_relevancy": _Known("judged.rag:answer_relevancy", "answer about the question", "-1 to 1"),
    "answer_faithfulness": _Known("judged.rag:answer_faithfulness", "answer found in the passages"),
    "answer_correctness": _Known("judged.rag:answer_correctness", "answer says what the true one says"),
    "noise_sensitivity": _Known("judged.rag:noise_sensitivity", "wrong statements that passages made", better="lower"),
    "mrr": _Known("judged.rag:mrr", "rank of the first wanted search result"),
    "ndcg": _Known("judged.rag:ndcg", "wanted search results on top"),
    "recall_at_k": _Known("judged.rag:recall_at_k", "wanted search results that were found"),
    "hit_rate": _Known("judged.rag:hit_rate", "whether any wanted result was found"),
    "side_by_side": _Known("judged.grading:compare_answers", "preference for a over b", better="neither"),
    "rubric": _Known("judged.grading:rubric_score", "a model's grade by your rubric", "1 to 5"),
}


def is_ours(name: object) -> bool:
    """Return whether a metric of the package has this name; nobody else's can take it."""
    return isinstance(name, str) and name in _KNOWN


def _others(*, again: bool = False) -> dict[str, _Offer]:
    """Return what installed packages offer, by name or, where it is taken, by place; `again` looks for new ones."""
    if again:
        _offers.cache_clear()
    found: dict[str, _Offer] = {}
    for offer in _offers(tuple(sys.path)):
        taken = offer.name in _KNOWN or offer.name in found or ":" in offer.name
        found[offer.place if taken else offer.name] = offer
    return found


def _place_of(name: object) -> str:
    """Return the place of a metric of somebody's, or raise with the names that were probably meant."""
    if is_place(name):
        return str(name)
    for again in (False, True):
        if isinstance(name, str) and name in (known := _others(again=again)):
            return known[name].place
    near = suggest(name, METRICS) if isinstance(name, str) else []
    meant = f", did you mean {' or '.join(map(repr, near))}?" if near else ";"
    listed = f"known: {', '.join(map(repr, METRICS))}; one of yours is 'package:function'"
    raise ValueError(f"unknown metric {short_repr(name)}{meant} {listed}")


def find_metric(name: str) -> tuple[MetricDefinition, dict[str, Any]]:
    """Return the `MetricDefinition` of a name, and the options that the name fixes."""
    if not is_ours(name):
        return _adopt(name, _place_of(name))
    known = _KNOWN[name]
    module, _, own = known.place.partition(":")
    found = getattr(import_module(f"summeval_nb.{module}"), own)
    return definition_of(found), dict(known.fixed)


def metric_source(name: str) -> object:
    """Return what somebody's code has at the place of a metric: what a run knows it by."""
    return find_object(_place_of(name))


def _made(name: str, options: Mapping[str, Any]) -> Metric:
    """Return a metric made from its name and choices; unknown and missing ones are named."""
    kind, fixed = find_metric(name)
    require_options(name, options, [option for option in kind.names if option not in fixed])
    return Metric(kind, **{**fixed, **kind.chosen(options)})


def load_metric(metric: Any, **options: Any) -> Metric:
    """Return a metric from its name and options; one that is made already is returned as it is.

    Parameters
    ----------
    metric : str, function or Metric
        A name of `list_metrics`, a function of yours, or its place, "package:function",
        which is imported. A function such as `f(candidate, references)` or `f(text,
        summary)` is called once for each text. Its arguments without a default are the
        columns, and those with one are options; `references` and `contexts` come as
        lists.
    **options
        The metric's options.

    Raises
    ------
    ValueError, TypeError
        If the name or a choice is unknown, a choice is missing, or the object is no
        metric.
    ImportError
        If a module of yours cannot be imported.

    Examples
    --------
    >>> load_metric("chrf").score("a cat", "a cat").score
    100.0
    """
    if isinstance(metric, str):
        return _made(metric, options)
    if is_function(metric) and not isinstance(metric, type) and not hasattr(metric, "score_many"):
        return Metric(metric, **options)
    if options:
        raise ValueError("options belong to metrics known by name; give yours when you make it")
    return require_metric(metric)


class _Metrics(Mapping[str, Metric]):
    """The metrics by name, ours and those of installed packages, made with the usual choices when asked for."""

    def __getitem__(self, name: str) -> Metric:
        if name not in self:
            try:
                _place_of(name)
            except ValueError as error:
                raise KeyError(str(error)) from None
        return load_metric(name)

    def __contains__(self, name: object) -> bool:
        # without making it: some need choices, or data that are not there
        return is_ours(name) or (isinstance(name, str) and bool(name) and name in _others())

    def __iter__(self) -> Iterator[str]:
        return iter([*_KNOWN, *_others()])

    def __len__(self) -> int:
        return len(_KNOWN) + len(_others())

    def __repr__(self) -> str:
        return f"METRICS({', '.join(self)})"


METRICS: Mapping[str, Metric] = _Metrics()


@dataclass(frozen=True, repr=False)
class MetricList(Rows):
    """The metrics that have a name, a row for each; made by `list_metrics`.

    Parameters
    ----------
    table : sequence of dict
        `metric`, its name; `reads`, its columns; `range` of the score by default;
        `better`, "higher", "lower" or "neither"; `asks_model`, "no", "by option" or
        "yes"; `purpose`, what it measures, or why it cannot be loaded; `package`, the
        installed package that offers it, '' for ours.
    """

    table: Sequence[JsonDict]


def describe_metric(name: str) -> JsonDict:
    """Return one row of `list_metrics`; only the module of that metric is imported."""
    known, offer = _KNOWN.get(name), None if is_ours(name) else _others().get(name)
    row: JsonDict = {"metric": name, "reads": "", "range": known.range if known else ""}
    row |= {"better": known.better if known else "", "asks_model": "no", "purpose": ""}
    row["package"] = offer.package if offer else ""
    try:
        kind = find_metric(name)[0]
    except Exception as error:  # whatever is wrong with somebody's code
        if known:
            raise
        return row | {"purpose": f"cannot be loaded: {error}"}
    choices = kind.defaults()
    if choices.keys() & {"judge", "checker"}:
        row["asks_model"] = "yes" if choices.get("judge") is MISSING else "by option"
    said = (inspect.getdoc(kind.function) or "").strip().partition("\n")[0].rstrip(".")
    return row | {"reads": ", ".join(kind.columns), "purpose": known.purpose if known else said}


def describe_options(name: str) -> list[JsonDict]:
    """Return one row for each option of a metric: its name, its type, and its default or "needed"."""
    (kind, fixed), found = find_metric(name), []
    for one in kind.options.values():
        if one.name not in {"store", *fixed}:
            usual, kinds = "needed" if one.default is one.empty else repr(one.default), one.annotation
            found.append({"option": one.name, "type": getattr(kinds, "__name__", kinds), "default": usual})
    return found


def list_metrics() -> MetricList:
    """Return the metrics by name: what each reads and measures, and who is asked.

    Returns
    -------
    MetricList
        A row for each name that `load_metric`, `run` and the shell know: ours, and what
        installed packages offer under the entry points of the group
        `summeval_nb.metrics`. A model is asked "by option" where the judge or checker
        may be one, as in `judge="llm:FOLDER"`.

    Examples
    --------
    >>> list_metrics().rows()[1]["reads"]
    'candidate, references'
    """
    return MetricList([describe_metric(name) for name in METRICS])


@dataclass(frozen=True, repr=False)
class MetricScores(Rows):
    """What metrics say of the same texts: a row for each number, with its interval, or for each text."""

    found: dict[str, Any]
    each: bool = False

    def rows(self) -> list[JsonDict]:
        """Return one dictionary for each number, or each text."""
        if not self.each:
            return [{"metric": name, **row} for name, result in self.found.items() for row in _summary(name, result)]
        shown: dict[str, list[Any]] = {}
        for name, table in self.found.items():
            rows = table.rows()
            for number in table.arrays():
                known = number.startswith(tuple(METRICS))  # as rouge1_f1 and context_recall are
                column = name if number == "score" else number if known else f"{name}_{number}"
                shown[column] = [row[number] for row in rows]
        reasons = [table.reasons() for table in self.found.values()]
        if any(map(any, reasons)):
            shown["reason"] = ["; ".join(dict.fromkeys(filter(None, row))) for row in zip(*reasons, strict=True)]
        return [dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)]

    def to_dict(self) -> JsonDict:
        """Return the result of each metric by its name."""
        return {name: result.to_dict() for name, result in self.found.items()}

    def wide_rows(self) -> list[JsonDict]:
        """Return the rows without reasons, which are notes."""
        return [{name: value for name, value in row.items() if name != "reason"} for row in self.rows()]

    def remarks(self) -> list[str]:
        """Return why numbers or intervals are missing, each reason once, and the signatures."""
        told = {
            row.get("reason"): "no interval" if row.get("value") else row.get("measure", "no score")
            for row in reversed(self.rows())
        }
        signatures = [str(result.signature) for result in self.found.values()]
        return [*(f"{name}: {why}" for why, name in told.items() if why), *signatures]


def _summary(name: str, result: Any) -> list[JsonDict]:
    """Each number of a result: its mean over texts or that of the corpus, with its interval."""
    if isinstance(result, ScoreTable):
        columns, why = ("measure", "value", "low", "high", "n", "undefined", "reason"), filter(None, result.reasons())
        rows, first = [{column: row.get(column) for column in columns} for row in result.summary()], next(why, "")
        return [row | {"reason": first} if row["value"] is None else row for row in rows]
    size = len(getattr(result, "statistics", [result]))
    resamples = max(100, min(1000, 20_000_000 // size))
    low, high, *_ = result.interval(n_resamples=resamples) if result.score is not None and size > 1 else (None, None)
    row = {"measure": name, "value": result.score, "low": low, "high": high, "n": size}
    return [row | {"undefined": size if result.score is None else 0, "reason": result.reason}]
