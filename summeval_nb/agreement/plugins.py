"""Metrics of others: functions and metrics by their place, "package:function", or offered by an installed package.

A package offers metrics under the entry points of the group `summeval_nb.metrics`. Nothing here is imported before
somebody asks for it by name, or for the list.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, ClassVar, NamedTuple

from summeval_nb.core.base import JsonDict, suggest
from summeval_nb.core.metric import Metric, is_function, require_metric
from summeval_nb.core.results import ResultTable, Score, as_outcome

__all__ = ["FunctionMetric", "FunctionScore", "Offer", "adopt", "find_object", "is_place", "offers"]

GROUP = "summeval_nb.metrics"
_LISTS = frozenset({"references", "contexts", "passages", "retrieved_contexts", "ground_truths"})
_JUDGED = ("candidate", "summary", "answer", "prediction", "response", "generated")


def is_place(name: object) -> bool:
    """Return whether a name has the form "package:function", where package and function may have dots.

    >>> is_place("my_metrics:shared"), is_place("bleu")
    (True, False)
    """
    if not isinstance(name, str) or name.count(":") != 1:
        return False
    return all(part.isidentifier() for half in name.split(":") for part in half.split("."))


class Offer(NamedTuple):
    """A metric that an installed package offers: its name, its place, and the package with its version."""

    name: str
    place: str
    package: str


@lru_cache(maxsize=1)
def _offers(paths: tuple[str, ...]) -> tuple[Offer, ...]:
    found = []
    for entry in entry_points(group=GROUP):
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""
        found.append(Offer(entry.name, entry.value.partition("[")[0].replace(" ", ""), package))
    return tuple(sorted(set(found), key=lambda offer: (offer.package, offer.name)))


def offers(*, again: bool = False) -> tuple[Offer, ...]:
    """Return what installed packages offer, by package; `again` looks for what was installed since."""
    if again:
        _offers.cache_clear()
    return _offers(tuple(sys.path))


def find_object(place: str) -> Any:
    """Import what stands at a place such as "package:function".

    Raises
    ------
    ImportError
        If the module cannot be imported; the error of its own code is in the message.
    ValueError
        If the place has another form, or the module has nothing of that name.
    """
    if not is_place(place):
        raise ValueError(f"{place!r} is no place of a metric: write it as 'package:function'")
    module, _, path = place.partition(":")
    try:
        found = import_module(module)
    except (Exception, SystemExit) as error:  # whatever somebody's module raises
        absent = isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}.")
        why = "there is no such module: install it, or put its folder into PYTHONPATH"
        raise ImportError(
            f"{place!r}: {module} cannot be imported: {why if absent else f'{type(error).__name__}: {error}'}"
        ) from error
    for part in path.split("."):
        if not hasattr(found, part):
            near = suggest(part, [name for name in dir(found) if not name.startswith("_")])
            meant = f", did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{place!r}: {module} has no {path!r}{meant}")
        found = getattr(found, part)
    return found


_made: dict[tuple[str, str], tuple[Any, type[Metric]]] = {}


def adopt(name: str, place: str) -> tuple[type[Metric], JsonDict]:
    """Return the class of a metric for what stands at a place, and the choices that it fixes.

    There may stand a class of metrics, a metric with its choices, an object with `columns`
    and `score_many`, or a function. What a function must be given is read from a text's
    row; what it may be given are options.
    """
    value = find_object(place)
    if isinstance(value, type) and issubclass(value, Metric):
        return value, {}
    if isinstance(value, Metric):
        return type(value), value.options()
    made = _made.get((name, place))
    if made is None or made[0] is not value:  # a module may have been loaded again
        is_plain = is_function(value) and not isinstance(value, type) and not hasattr(value, "score_many")
        kind = (_function_class if is_plain else _object_class)(value, name, place)
        _made[name, place] = made = value, kind
    return made[1], {}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FunctionScore(Score):
    """What a function of somebody's said of one text: a number, or why there is none, and its other parts."""

    parts: Mapping[str, Any] = field(default_factory=dict)

    def rows(self) -> list[JsonDict]:
        """Return one row with the number and the parts."""
        return [{**self.parts, "score": self.score, "reason": self.reason}]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data."""
        return {**self.rows()[0], "signature": str(self.signature)}


class _Placed(Metric):
    """What is known by its place: pickled as the place and the choices, so that a worker imports it again."""

    _place: ClassVar[str]
    _value: ClassVar[Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, (self.name, self._place, self.options())


def _remade(name: str, place: str, options: JsonDict) -> Metric:
    return adopt(name, place)[0](**options)


class FunctionMetric(_Placed):
    """A function of somebody's as a metric: it is called once for each text, by keyword."""

    def score(self, *row: Any, **named: Any) -> Any:
        """Return the result of one text, its columns in their order or by name."""
        return self.score_many(*([value] for value in self._in_order(row, named)))[0]

    def score_many(self, *columns: Any, **named: Any) -> ResultTable[Score]:
        """Return the result of each text, for lists in the order of the columns or by their names."""
        named.pop("progress", None)
        lists = self.lists_of(dict(zip(self.columns, self._in_order(columns, named), strict=True)))
        rows = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
        return ResultTable(results=[self._result(row) for row in rows], signature=self.signature)

    def _in_order(self, given: Sequence[Any], named: Mapping[str, Any]) -> tuple[Any, ...]:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        columns = inspect.Signature([inspect.Parameter(name, kind) for name in self.columns])
        try:
            return columns.bind(*given, **named).args
        except TypeError as error:
            raise TypeError(f"{self.name} reads {', '.join(self.columns)}: {error}") from None

    def _result(self, row: Mapping[str, Any]) -> Score:
        texts = {
            name: [value] if self.columns[name] == "texts" and isinstance(value, str) else value
            for name, value in row.items()
        }
        value = self._value(**texts, **{name: getattr(self, name) for name in self.defaults()})
        outcome = as_outcome(value)
        if outcome.status == "failed":
            raise ValueError(f"{self.name}: {outcome.reason}; return a finite number, or None for no score")
        if isinstance(value, Score):
            return value
        return FunctionScore(score=outcome.score, reason=outcome.reason, signature=self.signature, parts=outcome.parts)


def _function_class(function: Callable[..., Any], name: str, place: str) -> type[FunctionMetric]:
    """Make the class of a function's metric: its columns are what the function needs, its fields what it may get."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise TypeError(f"{place!r} does not say what it takes ({error}): wrap it in a function that does") from None
    taken = [
        parameter for parameter in given if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if unnamed := [parameter.name for parameter in taken if parameter.kind is parameter.POSITIONAL_ONLY]:
        raise TypeError(f"{place!r} takes {unnamed[0]} by position only: a metric is called by keyword")
    needed = [parameter.name for parameter in taken if parameter.default is parameter.empty]
    if not needed:
        raise TypeError(f"{place!r} needs no text: a metric is a function such as f(candidate, references)")
    fields: list[Any] = []
    for parameter in taken:
        if parameter.name in needed:
            continue
        if hasattr(FunctionMetric, parameter.name):
            raise TypeError(f"{place!r} has an option {parameter.name!r}, which every metric has already: rename it")
        said = "Any" if parameter.annotation is parameter.empty else parameter.annotation
        fields.append((parameter.name, getattr(said, "__name__", str(said)), _field_of(parameter.default)))
    space = {
        "name": name,
        "_place": place,
        "_value": staticmethod(function),
        "columns": {column: "texts" if column in _LISTS else "text" for column in needed},
        "judged": next((column for column in _JUDGED if column in needed), needed[0]),
        "__doc__": inspect.getdoc(function) or f"The function {place}.",
        "__module__": function.__module__,
    }
    return make_dataclass(
        function.__name__, fields, bases=(FunctionMetric,), namespace=space, frozen=True, kw_only=True
    )


def _field_of(default: Any) -> Any:
    """A field with a default, which may be a list."""
    return field(default_factory=lambda: default) if type(default).__hash__ is None else field(default=default)


def _object_class(value: Any, name: str, place: str) -> type[Metric]:
    """Make the class of a metric that hands everything to an object of somebody's."""
    require_metric(value, repr(place))
    space = {
        "name": name,
        "_place": place,
        "_value": value,
        "columns": dict(value.columns),
        "judged": getattr(value, "judged", next(iter(value.columns))),
        "score_many": lambda self, *columns, **choices: value.score_many(*columns, **choices),
        "__doc__": inspect.getdoc(type(value)) or f"The object {place}.",
        "__module__": type(value).__module__,
    }
    return make_dataclass(type(value).__name__, [], bases=(_Placed,), namespace=space, frozen=True)
