"""One function is the metric: its parameters say what it reads and what can be chosen, once.

`metric` declares such a function, `batch` makes its call over many texts, and `Metric` is the function with its options
bound, as `load_metric` returns it. A function of your own needs no declaration: `Metric(function)` reads its parameters
by the same rule.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from functools import partial, wraps
from itertools import chain
from typing import Any, ParamSpec, TypeGuard, TypeVar, cast, overload

from .addresses import redacted
from .base import (
    JsonDict,
    Scores,
    as_listed,
    is_frame,
    is_listed,
    require_column,
    require_options,
    require_texts,
    short_repr,
)
from .files import COLUMN_NAMES, is_gap, table_records, without_gaps
from .results import Outcome, Score, ScoreTable, Signature, as_outcome, shared_index

__all__ = ["Metric", "MetricDefinition", "FunctionScore", "metric", "batch", "definition_of", "require_metric"]
__all__ += ["score_rows", "is_function"]

_JUDGED = ("candidate", "summary", "answer", "prediction", "response", "generated")
_LISTS = frozenset({"references", "contexts", "passages", "retrieved_contexts", "ground_truths"})
COLUMNS = _LISTS | {*_JUDGED, "text", "question", "ground_truth"}
_ONE_OF = frozenset(COLUMN_NAMES["references"]) - _LISTS  # the names of one reference in somebody's function
_PLURALS = {"a": "a", "b": "b", "summary": "summaries", "passages": "passages"}
Parameters = ParamSpec("Parameters")
Found = TypeVar("Found")


class MetricDefinition:
    """What a metric's function says of itself, by its signature.

    A parameter is a column if it has no default, or has the name of a column, such as `references`: then a table may
    lack it. Every other parameter is an option, in a declared function also one by keyword without a default. `columns`
    says of each "text", or "texts" for one text or a list; `judged` is the one that a system wrote; `many` and `corpus`
    are the calls that `batch` made. With `takes_judge`, `judge` is another name of the option `checker`.
    """

    def __init__(self, function: Callable[..., Any], name: str = "", *, declared: bool = False):
        try:
            named = inspect.signature(function).parameters
        except (TypeError, ValueError) as error:
            said = f"{short_repr(function)} does not say what it takes ({error})"
            raise TypeError(f"{said}: wrap it in a function that does") from None
        self.function, self.declared = function, declared
        self.function_name = getattr(function, "__name__", type(function).__name__)
        self.name = name or self.function_name
        self.columns: dict[str, str] = {}
        self.options: dict[str, inspect.Parameter] = {}
        self.takes_judge = declared and {"checker", "judge"} <= named.keys()
        given = [one for one in named.values() if not (self.takes_judge and one.name == "judge")]
        for one in given:
            if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
                continue
            if one.kind is one.POSITIONAL_ONLY:
                raise TypeError(f"{self.name} takes {one.name} by position only: a metric is called by keyword")
            needed = one.default is one.empty and not (declared and one.kind is one.KEYWORD_ONLY)
            if needed or one.name in COLUMNS:
                several = _LISTS if declared else _LISTS | _ONE_OF
                words, told = ("Sequence", "list", "Iter"), str(one.annotation)
                listed = one.name in several or any(word in told for word in words)
                self.columns[one.name] = "texts" if listed else "text"
            else:
                self.options[one.name] = one
        self.may_lack = tuple(one.name for one in given if one.name in self.columns and one.default is not one.empty)
        if len(self.columns) == len(self.may_lack):
            raise TypeError(f"{self.name} needs no text: a metric is a function such as f(candidate, references)")
        self.judged = next((column for column in _JUDGED if column in self.columns), next(iter(self.columns)))
        self.probe, self.batch_size, self.place = "", 500, ""
        self.check = self.signed = self.many = self.corpus = cast(Any, None)  # callables, where there are any
        self.remade = cast(Any, None)  # makes it again in another process, by its name and options

    @classmethod
    def of_object(cls, scorer: Any, name: str) -> MetricDefinition:
        """Return the definition of somebody's object that has `columns` and `score_many`."""
        made = cls(lambda text: None, name)
        made.columns, made.may_lack = dict(scorer.columns), tuple(getattr(scorer, "may_lack", ()))
        made.judged = getattr(scorer, "judged", "") or next(iter(made.columns))
        made.function, made.function_name, made.declared = partial(_score_one, scorer), type(scorer).__name__, True
        made.many = lambda *columns, **more: scorer.score_many(*columns)
        return made

    @property
    def names(self) -> dict[str, inspect.Parameter]:
        """Options by all names that they have."""
        return self.options | ({"judge": self.options["checker"]} if self.takes_judge else {})

    def chosen(self, options: Mapping[str, Any]) -> JsonDict:
        """Return options by their first names: `judge` is `checker` where the function takes both for one thing."""
        return one_judge(options) if self.takes_judge else dict(options)

    def defaults(self) -> JsonDict:
        """Return the options by name with their defaults; MISSING where there is none."""
        return {name: MISSING if one.default is one.empty else one.default for name, one in self.options.items()}

    def sign(self, options: Mapping[str, Any]) -> Signature:
        """Return the signature of a choice of options, all of them bound."""
        if self.signed is not None:
            return self.signed(**options)
        usual, chosen = self.defaults(), {}
        for name, value in options.items():
            if name != "store" and value is not usual[name] and value != usual[name]:
                value = redacted(value) if isinstance(value, str) else value
                plain = isinstance(value, (str, int, float, type(None)))
                chosen[name] = value if plain else getattr(value, "fingerprint", type(value).__qualname__)
        return Signature({"metric": self.name, **chosen})


def _score_one(scorer: Any, *row: Any) -> Any:
    """Score one text by an object that scores many."""
    return scorer.score_many(*([value] for value in row))[0]


def names_misspelt(function: Callable[Parameters, Found]) -> Callable[Parameters, Found]:
    """Let a function say which option was probably meant."""
    names = inspect.signature(function).parameters
    two_names = {"checker", "judge"} <= names.keys()

    @wraps(function)
    def call(*given: Parameters.args, **options: Parameters.kwargs) -> Found:
        __tracebackhide__ = True  # pytest shows the line of the test
        if not options.keys() <= names.keys():
            named = by_own_names(options, names)
            require_options(f"{function.__name__}()", named, names)
            return call(*given, **named)
        return function(*given, **(one_judge(options) if two_names else options))

    return call


def by_own_names(options: Mapping[str, Any], names: Iterable[str]) -> JsonDict:
    """Return options in which a text stands under the function's name for it, as a column of a table would.

    Two names of one text are a `TypeError`.

    Examples
    --------
    >>> by_own_names({"context": "It rained.", "answer": "Rain."}, ["contexts", "answer"])
    {'contexts': 'It rained.', 'answer': 'Rain.'}
    """
    own = {other: name for name in names if name not in options for other in COLUMN_NAMES.get(name, ())}
    found: JsonDict = {}
    for name, value in options.items():
        if (meant := name if name in names else own.get(name, name)) in found:
            raise TypeError(f"{name!r} is another name of {meant!r}, which is given already: leave one of them out")
        found[meant] = value
    return found


def one_judge(options: Mapping[str, Any]) -> JsonDict:
    """Return options in which `judge` has become `checker`, its other name; both at once are an error."""
    if options.get("judge") is None:
        return {name: value for name, value in options.items() if name != "judge"}
    if "checker" in options:
        raise ValueError("checker and judge are two names of one option: give one of them")
    return {"checker" if name == "judge" else name: value for name, value in options.items()}


def metric(
    name: str,
    *,
    probe: str = "",
    batch_size: int = 500,
    check: Callable[..., object] | None = None,
    signature: Callable[..., Signature] | None = None,
) -> Callable[[Callable[Parameters, Found]], Callable[Parameters, Found]]:
    """Declare a function as the metric of a name; a misspelt option then raises in the function's own words.

    `probe` is a text that is scored to try the options before the first item of a run, '' for a model's; `batch_size`
    how many items a run keeps together. `check` and `signature` take all options by keyword. The first raises where one
    is wrong, when options are bound to the metric. The other returns the `Signature`; by default it names the options
    that are not as usual.
    """

    def declare(function: Callable[Parameters, Found]) -> Callable[Parameters, Found]:
        call = names_misspelt(function)
        made = MetricDefinition(call, name, declared=True)
        made.probe, made.batch_size, made.check, made.signed = probe, batch_size, check, signature
        call.metric = made  # type: ignore[attr-defined]
        return call

    return declare


@overload
def batch(function: Any, bulk: Callable[..., Found], **more: Any) -> Callable[..., Found]: ...


@overload
def batch(function: Callable[..., Found] | MetricDefinition, **more: Any) -> Callable[..., ScoreTable[Found]]: ...


def batch(
    function: Any,
    bulk: Callable[..., Any] | None = None,
    *,
    name: str = "",
    corpus: bool = False,
    doc: str = "",
    **defaults: Any,
) -> Callable[..., Any]:
    """Make the call of a metric over many texts: the same options, lists instead of texts.

    `function` was declared by `metric`, and by default is called for each text. `bulk` takes one list a column and all
    options by keyword, perhaps `progress`, checks its lists, and returns a `ScoreTable`, or one score of a `corpus`.
    `name` is by default that of the function with `_many` in place of `_score`; `doc` the first lines of its help;
    `defaults` are options with another default than the function's.
    """
    made = definition_of(function)
    name = name or f"{made.function_name.removesuffix('_score')}_many"
    if strange := defaults.keys() - made.options.keys():
        raise TypeError(f"{made.function_name} has no option {', '.join(sorted(strange))}")
    plural = {column: _PLURALS.get(column, f"{column.removesuffix('s')}s") for column in made.columns}
    shape = _batch_shape(made.function, bulk, plural, defaults)
    shows_progress = bulk is not None and "progress" in inspect.signature(bulk).parameters
    usual = made.defaults() | defaults

    def call(*given: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        if not named.keys() <= shape.parameters.keys():
            require_options(f"{name}()", named, shape.parameters)
        try:
            bound = shape.bind(*given, **named).arguments
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        first, *others = columns = [bound.pop(names, None) for names in plural.values()]
        progress = {"progress": bound.pop("progress", None)}
        if _is_table(first, others):
            columns, index = _columns_of_table(first, made)
        else:
            index = shared_index(**dict(zip(plural.values(), columns, strict=True)))
        for (column, names), values in zip(plural.items(), columns, strict=True):
            if values is None and column not in made.may_lack:
                raise TypeError(f"{name}() needs {names}: one entry a text, or a table with the column {column}")
        options = usual | made.chosen(bound)
        if lacking := [option for option, value in options.items() if value is MISSING]:
            raise TypeError(f"{name}() needs {', '.join(lacking)}")
        if gaps := _gaps(made, columns):
            columns = [list(values) if is_listed(values) else values for values in columns]
            given_as = zip(plural.values(), columns, strict=True)
            _require_equal({names: len(values) for names, values in given_as if isinstance(values, list)})
            if corpus:
                place, why = next(iter(gaps.items()))
                raise ValueError(f"{name}(): {why}, {place}: a corpus is scored as one, leave the row out")
            kept = lambda values: [value for place, value in enumerate(values) if place not in gaps]
            columns = [kept(values) if is_listed(values) else values for values in columns]
        found: Any
        if gaps and not any(any(True for _ in values) for values in columns if is_listed(values)):
            found = ScoreTable([], signature=made.sign(options))
        elif bulk is not None:
            found = bulk(*columns, **options, **(progress if shows_progress else {}))
        else:
            found = _score_each(made, dict(zip(made.columns, columns, strict=True)), options)
        found = found.with_gaps(gaps) if gaps else found
        fits = index is not None and isinstance(found, ScoreTable) and len(index) == len(found)
        return found.indexed_by(index) if fits else found

    lists = f"Give {', '.join(plural.values())}: one entry a text, or columns of a DataFrame; a table with such columns"
    told = f"The options ({', '.join(made.options) or 'none'}) are those of `{made.function_name}`"
    returned = "one score of all texts" if corpus else "a `ScoreTable`"
    doc = doc or f"Score many texts as `{made.function_name}` scores one: the same numbers, in fewer steps."
    call.__name__ = call.__qualname__ = name
    call.__module__ = sys._getframe(1).f_globals.get("__name__", __name__)
    call.__doc__ = (
        f"{doc}\n\n{lists} may be the only argument. {told}; `progress` shows a bar. It returns {returned}.\n"
    )
    call.__signature__, call.columns = shape, tuple(plural.values())  # type: ignore[attr-defined]
    setattr(made, "corpus" if corpus else "many", call)
    return call


def _gaps(made: MetricDefinition, columns: list[Any]) -> dict[int, str]:
    """Return which rows lack a cell that the metric needs (None, NaN, pandas' NA), each with the reason."""
    found: dict[int, str] = {}
    for number, column in enumerate(made.columns):
        if not is_listed(columns[number]):
            continue
        columns[number] = values = list(as_listed(columns[number]))
        if set(map(type, values)) <= {str}:
            continue
        listed = [value for value in values if isinstance(value, (list, tuple))]
        if not set(map(type, chain.from_iterable(listed))) <= {str}:  # of several texts those that are there
            values[:] = map(without_gaps, values)
        if column not in made.may_lack:
            missing = [place for place, value in enumerate(values) if is_gap(value)]
            found = dict.fromkeys(missing, f"{column} is missing in this row") | found
    return dict(sorted(found.items()))


def _batch_shape(
    function: Callable[..., Any], bulk: Callable[..., Any] | None, plural: Mapping[str, str], defaults: JsonDict
) -> inspect.Signature:
    """The signature of a batch call: lists for columns, the same options, `progress`."""
    found: list[inspect.Parameter] = []
    by_name = inspect.Parameter.KEYWORD_ONLY
    given, scored = inspect.signature(function).parameters.values(), inspect.signature(function).return_annotation
    for one in sorted(given, key=lambda one: (one.name not in plural, one.kind)):
        if one.name in plural:
            default = None if found else one.empty  # the first may be a table, with all the others in it
            one = one.replace(name=plural[one.name], default=default, annotation="Iterable[Any]")
            one = one.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)
        elif one.name in defaults:
            one = one.replace(default=defaults[one.name])
        if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            found.append(one)
    found.append(inspect.Parameter("progress", by_name, default=None, annotation="bool | None"))
    returned = inspect.signature(bulk).return_annotation if bulk else None
    return inspect.Signature(found, return_annotation=returned or f"ScoreTable[{scored}]")


def _is_table(first: object, others: Sequence[object]) -> bool:
    """Whether the only column that was given is a table: a frame, a mapping of columns, a list of dictionaries."""
    if any(other is not None for other in others):
        return False
    if isinstance(first, (list, tuple)):
        return all(isinstance(row, Mapping) for row in first)
    framed = isinstance(first, Mapping) or is_frame(first) or hasattr(first, "column_names")
    indexed = hasattr(first, "__getitem__") and not hasattr(first, "__iter__")  # such as torch's Dataset
    return framed or (indexed and bool(others))


def _columns_of_table(table: Any, made: MetricDefinition) -> tuple[list[Any], Any]:
    """The lists that a metric reads from a table, None for one that it lacks; and the table's index if it has one."""
    records = table_records(table, list(made.columns), optional=made.may_lack)
    lists = {name: [record[name] for record in records] for name in made.columns}
    lacking = [name for name in made.may_lack if all(value is None for value in lists[name])]
    columns = {str(name): values for name, values in table.items()} if isinstance(table, Mapping) else {}
    return [None if name in lacking else lists[name] for name in lists], shared_index(table=table, **columns)


def _score_each(made: MetricDefinition, columns: Mapping[str, Any], options: JsonDict) -> ScoreTable[Any]:
    """Call a metric's function for each text."""
    lists: dict[str, list[Any]] = {}
    for name, values in columns.items():
        if values is None:
            continue
        if made.columns[name] == "text":
            lists[name] = require_texts(values, name)
            continue
        lists[name] = listed = require_column(values, name)
        for place, value in enumerate(listed):
            if not isinstance(value, str):
                listed[place] = require_texts(value, f"{name}[{place}]", "a string or a list of strings")
        if name == "references" and [] in lists[name]:
            raise ValueError(f"{name}[{lists[name].index([])}] is empty: at least one reference is needed")
    _require_equal({name: len(values) for name, values in lists.items()})
    signature = made.sign(options)
    results = []
    for values in zip(*lists.values(), strict=True):
        row = dict(zip(lists, values, strict=True))
        if not made.declared:
            row = {name: _texts(value, name, made) for name, value in row.items()}
        results.append(_as_score(made, made.function(**row, **options), signature))
    return ScoreTable(results, signature=signature)


def _texts(value: Any, name: str, made: MetricDefinition) -> Any:
    """What somebody's function gets: a list of `references` however many there are, but as `reference` the only one."""
    if made.columns[name] == "text":
        return value
    listed = [value] if isinstance(value, str) else value
    if name not in _ONE_OF:
        return listed
    if len(listed) != 1:
        raise ValueError(f"{made.name} takes one {name}, not {len(listed)}: call the parameter references for a list")
    return listed[0]


def _as_score(made: MetricDefinition, value: object, signature: Signature) -> Score:
    """What a function returned as a score: a number, a mapping with `score`, None, or a score already."""
    if isinstance(value, Score):
        return value
    outcome = as_outcome(value)
    if outcome.status == "failed":
        raise ValueError(f"{made.name}: {outcome.reason}; return a finite number, or None for no score")
    return FunctionScore(score=outcome.score, reason=outcome.reason, signature=signature, parts=outcome.parts)


def _require_equal(sizes: Mapping[str, int]) -> None:
    """Raise a `ValueError` unless all columns have as many entries."""
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{size} {name}" for name, size in sizes.items())
        remedy = "several references of a text are one entry, a list"
        raise ValueError(f"one entry a text is needed everywhere, not {shown}; {remedy}")


def definition_of(function: Any) -> MetricDefinition:
    """Return what a function says of itself; a function of somebody's is read as it is."""
    if isinstance(function, MetricDefinition):
        return function
    return getattr(function, "metric", None) or MetricDefinition(function)


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


class Metric:
    """A metric with its options bound: `load_metric("bleu", n=2)`, or `Metric(function)` for one of your own.

    To call it is to call `score` where the first text is a text, and `score_many` where it is a list of texts.

    Parameters
    ----------
    function : callable
        Scores one text: `f(candidate, references)`, `f(text, summary)`, whatever its columns are. It returns a score, a
        number, a mapping with `score`, or None for no score.
    **options
        Its options; the rest is as usual.

    Raises
    ------
    TypeError, ValueError
        For an option that the function has not, or a value that it refuses.

    Examples
    --------
    >>> def shared(candidate, references, lower=False):
    ...     return len(set(candidate.split()) & set(references[0].split()))
    >>> Metric(shared).score_many(["a cat", "a dog"], ["a cat", "a cat"]).scores
    array([2., 1.])
    """

    def __init__(self, function: Callable[..., Any] | MetricDefinition, /, **options: Any):
        defined = isinstance(function, MetricDefinition)
        if not defined and (not callable(function) or isinstance(function, (type, Metric))):
            wanted = "a function such as f(candidate, references)"
            raise TypeError(f"a metric is made of {wanted}, not {short_repr(function)}")
        self.definition = own = definition_of(function)
        self.function = own.function
        self.name, self.columns, self.may_lack, self.judged = own.name, own.columns, own.may_lack, own.judged
        self.probe, self.batch_size, self.place = own.probe, own.batch_size, own.place
        require_options(self.name, options, own.names)
        self._options = own.chosen(options)
        bound = self.bound()
        if lacking := [name for name, value in bound.items() if value is MISSING]:
            needed = ", ".join(f"{name}=..." for name in lacking)
            raise TypeError(f"{self.name} needs {', '.join(lacking)}: give them as options, {needed}")
        if own.check is not None:
            own.check(**bound)

    def defaults(self) -> JsonDict:
        """Return the options by name with their defaults; MISSING where there is none."""
        return self.definition.defaults()

    def options(self) -> JsonDict:
        """Return the options that are not the default."""
        usual = self.definition.defaults()
        return {name: v for name, v in self._options.items() if v is not usual[name] and v != usual[name]}

    def bound(self) -> JsonDict:
        """Return all options with their values; MISSING where one must be given."""
        return self.definition.defaults() | self._options

    @property
    def signature(self) -> Signature:
        """Every option that could change a number."""
        return self.definition.sign(self.bound())

    @property
    def fingerprint(self) -> str:
        """A short name for exactly these options."""
        digest = hashlib.sha256(str(self.signature).encode("utf-8", "surrogatepass"))
        return f"{self.name}-{digest.hexdigest()[:16]}"

    def score(self, *row: Any, **named: Any) -> Any:
        """Return the result of one text, given by the columns in their order or by name."""
        if len(row) > len(self.columns):
            told = f"{self.name} reads {', '.join(self.columns)}"
            raise TypeError(f"{told}: {len(self.columns)} of {len(row)} values; leave out the rest")
        if self.definition.declared:
            return self.function(*row, **named, **self._options)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        try:
            bound = inspect.Signature([inspect.Parameter(name, kind) for name in self.columns]).bind(*row, **named)
        except TypeError as error:
            raise TypeError(f"{self.name} reads {', '.join(self.columns)}: {error}") from None
        columns = {name: [value] for name, value in bound.arguments.items()}
        return _score_each(self.definition, columns, self.bound())[0]

    def score_many(self, *columns: Any, **named: Any) -> Any:
        """Return a `ScoreTable` for lists of equal length, one list for each column, or for one table."""
        if self.definition.many is None:
            batch(self.definition)
        return self.definition.many(*columns, **named, **self._options)

    @property
    def corpus(self) -> Callable[..., Any]:
        """The call that scores all texts as one, where the metric has it."""
        if self.definition.corpus is None:
            raise AttributeError(f"{self.name} scores texts one by one, and no corpus as a whole")
        return partial(self.definition.corpus, **self._options)

    def __call__(self, *columns: object, **named: object) -> Any:
        """Return `score(...)` of one text, or `score_many(...)` of a list of texts.

        The first column that holds a text decides which: `load_metric("bleu")("a cat", "a cat")` is one result. All
        arguments are passed on unchanged, with the same errors.
        """
        kinds, first = [*self.columns.values()], columns[0] if columns else None
        others = [value for name, value in named.items() if name not in self.columns]
        if "text" in kinds:
            place = kinds.index("text")
            many = any(map(is_listed, columns[place : place + 1] or others))
        else:  # each column holds a list for one text, so a list of lists is many
            many = is_listed(first) and any(map(is_listed, first))
        many = many or _is_table(first, columns[1:])
        return (self.score_many if many else self.score)(*columns, **named)

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Metric) and self.function is other.function
        return same and self.bound() == cast(Metric, other).bound()

    def __hash__(self) -> int:
        return hash((self.name, *self._options))

    def __reduce__(self) -> Any:
        if self.definition.remade is not None:  # somebody's is imported again, by its name
            return partial(self.definition.remade, self.name, **self._options), ()
        return partial(Metric, self.function, **self._options), ()

    def __repr__(self) -> str:
        chosen = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return redacted(f"Metric({getattr(self.function, '__name__', self.name)}{chosen})")


def require_metric(value: object, name: str = "metric") -> Any:
    """Return `value` if it scores texts as a `Metric` does; otherwise raise with the remedy."""
    if isinstance(value, type):
        raise TypeError(f"{name} is the class {value.__name__}: make one, {value.__name__}()")
    if callable(getattr(value, "score_many", None)) and isinstance(getattr(value, "columns", None), Mapping):
        return value
    if inspect.isroutine(value) or isinstance(value, partial):
        return Metric(value)
    remedy = "pass a name, a function such as f(candidate, references), or an object with columns and score_many"
    raise TypeError(f"{name} must be a metric, not {type(value).__name__} ({short_repr(value)}): {remedy}")


def score_rows(metric: Scores, rows: Sequence[Mapping[str, Any]], **choices: object) -> list[Outcome]:
    """Return one outcome a row; each row has the metric's columns. A choice that `score_many` has not is left out."""
    columns, may_lack = require_metric(metric).columns, getattr(metric, "may_lack", ())
    needed = [] if isinstance(metric, Metric) else [name for name in columns if name not in may_lack]
    gaps = {place: name for place, row in enumerate(rows) for name in needed if row[name] is None}
    if gaps:  # a `Metric` knows what to do with them
        others = iter(score_rows(metric, [row for place, row in enumerate(rows) if place not in gaps], **choices))
        lost = {place: Outcome(None, "undefined", f"{name} is missing in this row") for place, name in gaps.items()}
        return [lost.get(place) or next(others) for place in range(len(rows))]
    lists = [[row[name] for row in rows] for name in columns]
    known = inspect.signature(metric.score_many).parameters
    found = metric.score_many(*lists, **{name: choice for name, choice in choices.items() if name in known})
    if isinstance(found, ScoreTable):
        outcomes = found.outcomes()
    elif isinstance(found, Iterable) and not isinstance(found, (str, bytes, Mapping)):
        outcomes = [as_outcome(result) for result in found]
    else:
        shown = type(metric).__name__
        raise TypeError(f"score_many of {shown} must return a ScoreTable or a list, not {type(found).__name__}")
    if len(outcomes) != len(rows):
        gave = f"score_many of {type(metric).__name__} gave {len(outcomes)} scores"
        raise ValueError(f"{gave} for {len(rows)} rows: one a row is needed")
    for place, (outcome, row) in enumerate(zip(outcomes, rows, strict=True)):
        if "references" in row and "|nrefs:var|" in outcome.signature:  # it names the number of its own row
            size = 1 if isinstance(row["references"], str) else len(row["references"])
            signature = outcome.signature.replace("|nrefs:var|", f"|nrefs:{size}|", 1)
            outcomes[place] = outcome._replace(signature=signature)
    return outcomes


def is_function(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether a choice is a function. A metric can be called too, but is not one."""
    return callable(value) and not isinstance(value, Metric)
