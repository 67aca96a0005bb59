"""What every metric has, rows and batches scored by any, and its choices shown where a function takes them."""

from __future__ import annotations

import functools
import hashlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard, TypeVar, cast

from .base import JsonDict, Scores, is_listed, require_column, require_options, require_texts, short_repr
from .results import Outcome, ScoreTable, Signature, as_outcome, keeps_index, shared_index

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


__all__ = ["Metric", "Accumulator", "require_metric", "score_rows", "is_function", "takes_choices_of"]


class Metric:
    """A way to score texts, with its choices: the base of `BleuMetric`, `RougeMetric` and the
    others.

    A subclass is a frozen dataclass. Its fields are its choices, given by keyword and
    checked once, when it is made; models and stores may be named by a text.
    It has `columns` and `score_many`, and should have a `signature`; the rest follows. To call it is to call `score`
    where the first text is a text, and `score_many` where it is a list of texts.

    Attributes
    ----------
    name : str
        What it is called in `METRICS`, in `run` and in the shell.
    columns : mapping of str to str
        What it reads, in the order of its arguments: "text", or "texts" for one text or
        a list of them.
    may_lack : sequence of str
        Those of `columns` that a table may lack, or leave empty; their values are then None.
    judged : str
        The column that holds what a system wrote.
    probe : str
        A text that is scored to try the choices before the first item; '' for a
        model's.
    shard_size : int
        How many items a long run keeps together.
    """

    name: ClassVar[str] = ""
    columns: ClassVar[Mapping[str, str]] = {}
    may_lack: ClassVar[Sequence[str]] = ()
    judged: ClassVar[str] = ""
    probe: ClassVar[str] = ""
    shard_size: ClassVar[int] = 500

    def __init_subclass__(cls, **options: Any) -> None:
        """Let what scores columns of pandas refuse two indexes, and a table keep theirs."""
        super().__init_subclass__(**options)
        for name in ("score_many", "score_table", "corpus"):
            if is_function(own := vars(cls).get(name)):
                setattr(cls, name, keeps_index(own))

    @property
    def signature(self) -> Signature:
        """Every choice that could change a number; by default the fields that are not as usual.

        An object among them counts by its `fingerprint`, or else by its class. A metric
        that knows more of itself says so in a signature of its own.
        """
        plain = (str, int, float, type(None))
        choices = {
            name: value if isinstance(value, plain) else getattr(value, "fingerprint", type(value).__qualname__)
            for name, value in self.options().items()
        }
        return Signature({"metric": self.name or type(self).__name__, **choices})

    @property
    def fingerprint(self) -> str:
        """A short name for exactly these choices."""
        digest = hashlib.sha256(str(self.signature).encode("utf-8", "surrogatepass"))
        return f"{self.name or type(self).__name__}-{digest.hexdigest()[:16]}"

    def score_many(self, *columns: Any, **choices: Any) -> Any:
        """Return a `ScoreTable` for lists of equal length, one list for each column."""
        raise NotImplementedError(f"{type(self).__name__} must have score_many")

    def score(self, *row: Any, **choices: Any) -> Any:
        """Return the result of one text, given by the columns in their order."""
        if self.columns and len(row) > len(self.columns):
            told = f"{self.name or type(self).__name__} reads {', '.join(self.columns)}"
            raise TypeError(f"{told}: {len(self.columns)} of {len(row)} values; leave out the rest")
        return self.score_many(*([value] for value in row), **choices)[0]

    def __call__(self, *columns: object, **named: object) -> Any:
        """Return `score(...)` of one text, or `score_many(...)` of a list of texts.

        The first column that holds a text decides which: `BleuMetric()("a cat", "a cat")` is
        one result, `BleuMetric()(["a cat"], ["a cat"])` a table. All arguments are passed on unchanged, with the same
        errors.
        """
        place = [*self.columns.values(), "text"].index("text")
        others = [value for name, value in named.items() if name not in self.columns]
        many = any(map(is_listed, columns[place : place + 1] or others))
        return (self.score_many if many else self.score)(*columns, **named)

    def compute(
        self,
        *,
        predictions: Sequence[str] | None = None,
        references: Sequence[str | Sequence[str]] | None = None,
        **columns: object,
    ) -> JsonDict:
        """Return the means over many texts as a plain dictionary, by keyword.

        Parameters
        ----------
        predictions : list of str
            The judged column: what a system wrote, one text each. Any sequence will do,
            such as a column of a `datasets.Dataset`.
        references : list, optional
            For each of them one text or a list of texts; for a metric that reads two
            columns, the other one, such as the article.
        **columns : list
            Columns under the metric's own names, instead of these two or beside them.

        Returns
        -------
        dict
            The mean of each of the table's `arrays` by its name; None where no text has
            it. `corpus_bleu`, `corpus_chrf`, `corpus_ter` where the metric scores a
            whole corpus, as papers on translation report it. `n_undefined`: how many
            texts have no score and are in no mean.

        Raises
        ------
        TypeError, ValueError
            For a missing or unknown column, lists of different lengths, no text at all,
            and what is no text.
        """
        named = {"predictions": predictions, "references": references} | columns
        lists = self.lists_of(named)
        if not any(lists.values()):
            raise ValueError("there is nothing to compute: give at least one text")
        found = self.score_many(*lists.values())
        if isinstance(found, ScoreTable):
            means = {**found.means(), "n_undefined": found.n_undefined}
        else:
            scores = [as_outcome(outcome).score for outcome in found]
            known = [number for number in scores if number is not None]
            mean = math.fsum(known) / len(known) if known else None
            means = {"score": mean, "n_undefined": len(scores) - len(known)}
        corpus = getattr(self, "corpus", None)
        whole = {f"corpus_{self.name}": corpus(*lists.values()).score} if corpus else {}
        return {**whole, **means}

    def accumulator(self) -> Accumulator:
        """Return an object that takes texts in batches.

        Its `update(predictions=..., references=...)` adds a batch, `compute()` returns
        what `compute` of all texts returns, `reset()` begins again.
        """
        return Accumulator(self)

    def lists_of(self, named: Mapping[str, object]) -> dict[str, list[Any]]:
        """Return the columns in their order, checked; None under a name is no
        column."""
        given = {name: texts for name, texts in named.items() if texts is not None}
        shared_index(**given)
        lists: dict[str, list[Any]] = {}
        names: dict[str, list[Any]] = {}
        for column, (name, values) in self._by_column(given).items():
            if self.columns[column] == "text":
                lists[column] = require_texts(values, name)
            else:
                listed = require_column(values, name)
                for place, value in enumerate(listed):
                    if column == "references" and isinstance(value, list) and not value:
                        one_needed = "at least one reference is needed"
                        raise ValueError(f"{name}[{place}] is empty: {one_needed}")
                lists[column] = [
                    value if isinstance(value, str) else require_texts(value, f"{name}[{place}]")
                    for place, value in enumerate(listed)
                ]
            names[name] = lists[column]
        _require_equal_lengths(names)
        return lists

    def _by_column(self, given: Mapping[str, object]) -> dict[str, tuple[str, object]]:
        """Return each column of a metric, in order, with the name under which it was given, and the value.

        `predictions` stands for the judged column, as Hugging Face's `evaluate` and torchmetrics have it. `references`
        stands for the column of that name, or for the one other column of a metric that reads two.
        """
        others = [name for name in self.columns if name != self.judged]
        against = "references" if "references" in others else others[0] if len(others) == 1 else ""
        meant = {"predictions": self.judged, "references": against}
        kind, reads = type(self).__name__, ", ".join(self.columns)
        found: dict[str, tuple[str, object]] = {}
        for name, value in given.items():
            column = name if name in self.columns else meant.get(name, "")
            if not column:
                raise ValueError(f"{kind} has no column for {name}: it reads {reads}; give them by these names")
            if column in found:
                raise ValueError(
                    f"{found[column][0]} and {name} are both the column {column} of {kind}: give one of them"
                )
            found[column] = name, value
        missing = [column for column in self.columns if column not in found]
        if missing:
            hints = {column: name for name, column in meant.items() if column}
            wanted = ", ".join(f"{hints.get(column, column)}=" for column in missing)
            raise ValueError(f"{kind} reads {reads}: give {wanted} too, one entry a text")
        return {column: found[column] for column in self.columns}

    @classmethod
    def defaults(cls) -> JsonDict:
        """Return the choices by name with their defaults; MISSING where there is
        none."""
        own: Sequence[Field[Any]] = fields(cls) if is_dataclass(cls) else ()
        made = {option.name: option.default_factory for option in own if option.default_factory is not MISSING}
        return {
            option.name: made[option.name]() if option.name in made else option.default for option in own if option.init
        }

    def options(self) -> JsonDict:
        """Return the choices that are not the default."""
        values = {name: (getattr(self, name), default) for name, default in self.defaults().items()}
        return {name: value for name, (value, default) in values.items() if value is not default and value != default}


def _require_equal_lengths(lists: Mapping[str, Sequence[object]]) -> None:
    """Raise a `ValueError` unless all lists, by the names under which they were given, have one entry a text."""
    sizes = {name: len(values) for name, values in lists.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{size} {name}" for name, size in sizes.items())
        raise ValueError(
            f"one entry a text is needed everywhere, not {shown}; several references of a text are one entry, a list"
        )


class Accumulator:
    """Texts that come in batches, for one number at the end: `update`, `compute`, `reset`.

    It keeps the texts, not their scores, so that what is computed is what one call with
    all texts gives. A metric makes it: `BleuMetric().accumulator()`.

    Parameters
    ----------
    metric : Metric
        What scores the texts.

    Examples
    --------
    >>> from summeval_nb.overlap import RougeMetric
    >>> batches = RougeMetric(types=["rouge1"]).accumulator()
    >>> batches.update(predictions=["a cat"], references=["a cat"])
    >>> batches.update(predictions=["a cat"], references=["a dog"])
    >>> batches.compute()["rouge1_f1"]
    0.75
    """

    def __init__(self, metric: Metric):
        self.metric = metric
        self.reset()

    def reset(self) -> None:
        """Forget all texts, for the next epoch."""
        self._kept: dict[str, list[Any]] = {name: [] for name in self.metric.columns}

    def update(
        self,
        *,
        predictions: Sequence[str] | None = None,
        references: Sequence[str | Sequence[str]] | None = None,
        **columns: object,
    ) -> None:
        """Add a batch of texts; it takes what `Metric.compute` takes, and a batch may be empty.

        Raises
        ------
        TypeError, ValueError
            As for `Metric.compute`; then nothing of the batch was added.
        """
        batch = self.metric.lists_of({"predictions": predictions, "references": references} | columns)
        for name, values in batch.items():
            self._kept[name] += values

    def compute(self) -> JsonDict:
        """Return what `Metric.compute` returns for all texts so far.

        Raises
        ------
        ValueError
            When there is none.
        """
        if not len(self):
            raise ValueError("there is nothing to compute: call update with predictions and references first")
        return self.metric.compute(**self._kept)

    def __len__(self) -> int:
        return len(next(iter(self._kept.values()), []))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.metric!r}, {len(self)} texts)"


def require_metric(value: object, name: str = "metric") -> Any:
    """Return `value` if it scores texts as a `Metric` does; otherwise raise with the
    remedy."""
    if isinstance(value, type):
        raise TypeError(f"{name} is the class {value.__name__}: make one, {value.__name__}()")
    if callable(getattr(value, "score_many", None)) and isinstance(getattr(value, "columns", None), Mapping):
        return value
    remedy = "pass a name, a Metric such as BleuMetric(), or an object with columns and score_many"
    raise TypeError(f"{name} must be a metric, not {type(value).__name__} ({short_repr(value)}): {remedy}")


def score_rows(metric: Scores, rows: Sequence[Mapping[str, Any]], **choices: object) -> list[Outcome]:
    """Return one outcome a row; each row has the metric's columns. A choice that
    `score_many` has not is left out.

    Examples
    --------
    >>> class Words(Metric):
    ...     columns = {"candidate": "text"}
    ...     def score_many(self, candidates):
    ...         return [len(text.split()) or None for text in candidates]
    >>> rows = [{"candidate": "a cat"}, {"candidate": ""}]
    >>> [outcome.score for outcome in score_rows(Words(), rows)]
    [2.0, None]
    """
    lists = [[row[name] for row in rows] for name in require_metric(metric).columns]
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
    return [_of_its_own(*pair) for pair in zip(outcomes, rows, strict=True)]


def _of_its_own(outcome: Outcome, row: Mapping[str, Any]) -> Outcome:
    """An outcome whose signature names the number of references of its own row."""
    if "references" not in row or "|nrefs:var|" not in outcome.signature:
        return outcome
    size = 1 if isinstance(row["references"], str) else len(row["references"])
    return outcome._replace(signature=outcome.signature.replace("|nrefs:var|", f"|nrefs:{size}|", 1))


Function = TypeVar("Function", bound=Callable[..., object])


def is_function(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether a choice is a function. A metric can be called too, but is not one."""
    return callable(value) and getattr(type(value), "__call__", None) is not Metric.__call__  # noqa: B004


def takes_choices_of(kind: type[DataclassInstance], *, but: Sequence[str] = ()) -> Callable[[Function], Function]:
    """Give a function that hands `**choices` to a metric the metric's fields as its own keywords.

    `inspect.signature` shows every choice with its default, to people, editors and pages, as a `TypedDict` does to type
    checkers. A name that is none of them is a `TypeError` in the function's own words. `but` names those fields that
    the function does not take.
    """

    def take(function: Function) -> Function:
        own = inspect.signature(function)
        named = [parameter for parameter in own.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
        taken = {*but, *(parameter.name for parameter in named)}
        for field in fields(kind):
            if field.init and field.name not in taken:
                default = inspect.Parameter.empty if field.default is MISSING else field.default
                named.append(
                    inspect.Parameter(
                        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.type
                    )
                )
        names = {parameter.name: parameter for parameter in named}

        @functools.wraps(function)
        def call(*given: Any, **choices: Any) -> Any:
            __tracebackhide__ = True  # pytest shows the line of the test
            if not choices.keys() <= names.keys():
                require_options(f"{function.__name__}()", choices, names)
            return function(*given, **choices)

        setattr(call, "__signature__", own.replace(parameters=named))  # noqa: B010
        return cast(Function, call)

    return take
