"""Metrics made safe for corpora: every row gives one line, with a number or the reason why there is none."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pydantic_core import from_json

from summeval_nb.agreement.registry import METRICS, find_metric, is_ours, load_metric, metric_source
from summeval_nb.core.base import JsonDict, Scores, require_option, require_options
from summeval_nb.core.files import find_column, no_column
from summeval_nb.core.items import Item, why_unread
from summeval_nb.core.metric import Metric, score_rows
from summeval_nb.core.results import Outcome, Signature, as_outcome
from summeval_nb.runs.folder import LINE_FIELDS
from summeval_nb.runs.identity import MODEL_OPTIONS, describe
from summeval_nb.runs.workers import try_together

if TYPE_CHECKING:
    from summeval_nb.models.base import Backend
    from summeval_nb.models.store import Store
    from summeval_nb.runs.costs import Ledger, Stages

# What asks models is imported by the functions that need it, so that a run of a word metric begins at once.

__all__ = ["Job"]


Rows = Sequence[JsonDict]
Columns = Mapping[str, "str | Sequence[str]"]
Sources = Mapping[str, "str | Sequence[str] | None"]  # None: a column under any name that people give it
MetricOrFunction: TypeAlias = str | Scores | Callable[[Mapping[str, Any]], object]


def _parse(data: bytes) -> Any:
    """Read JSON with pydantic's parser, three times as fast; what it refuses, Python's own accepts or explains."""
    try:
        return from_json(data, cache_strings=False)
    except ValueError:
        return json.loads(data.decode())


def read_row(
    item: Item, sources: Sources, kinds: Mapping[str, str], optional: Sequence[str] = ()
) -> tuple[JsonDict, str]:
    """Return an item's row under the metric's own names, and a problem or ''.

    `kinds` says what each column must hold: "text", or "texts" for one text or a list
    of them; an optional one may be missing, and is None.
    """
    if item.problem:
        return {}, item.problem
    try:
        row = _parse(item.data)
    except (ValueError, RecursionError) as error:
        return {}, f"not JSON: {error}" if isinstance(error, ValueError) else "not JSON: nested too deeply"
    if not isinstance(row, dict):
        return {}, f"an item must be a JSON object, not {type(row).__name__}"
    lost: dict[str, str] = {}
    for name, why in item.unread:
        lost[name] = why_unread(name, why)
    try:
        columns = _found(sources, (*row, *lost) if lost else tuple(row), optional)
    except ValueError as error:
        return row, str(error)
    if twice := _named_twice(item.data, columns, row):
        return {}, f"the object names {twice!r} twice: leave one of them out"
    if problem := _rename(row, lost, columns):
        return row, problem
    for name, kind in kinds.items():
        if name in lost:
            return row, lost[name]
        value = row.setdefault(name, None) if name in optional else row.get(name)
        if type(value) is str or (value is None and name in optional):
            continue
        if problem := _wrong_type(value, name, kind):
            return row, problem
    return (_Row(row, lost) if lost else row), ""


def _found(sources: Sources, present: tuple[str, ...], optional: Sequence[str]) -> Columns:
    """The corpus' columns for the metric's, those that nobody named under any of their usual names."""
    found: dict[str, str | Sequence[str]] = {}
    for name, source in sources.items():
        column: Any = find_column(name, present) if source is None else source
        if column is None and name not in optional:
            raise ValueError(no_column(name, present))
        if column is not None:
            found[name] = column
    return found


def _named_twice(data: bytes, columns: Columns, row: JsonDict) -> str:
    """The first column that an object names twice, of those that are read; of all, where nobody says which are."""
    read: list[str] = []
    for source in columns.values():
        read += [source] if isinstance(source, str) else source
    for name in read or row:
        first, *others = _spellings(name)
        if data.count(first) + sum(map(data.count, others)) > 1:
            break
    else:
        return ""
    names: list[str] = []  # of the outermost object, which is read last

    def note(pairs: list[tuple[str, Any]]) -> None:
        names[:] = [name for name, _ in pairs]

    with suppress(ValueError, RecursionError):  # what another parser reads
        json.loads(data.decode("utf-8", "replace"), object_pairs_hook=note)
    return next((name for name in read or row if names.count(name) > 1), "")


@lru_cache(maxsize=1024)
def _spellings(name: str) -> list[bytes]:
    """A name as JSON may write it, with the quotation marks."""
    spelled = {json.dumps(name), json.dumps(name, ensure_ascii=False)}
    return [text.encode("utf-8", "surrogatepass") for text in spelled]


def _rename(row: JsonDict, lost: dict[str, str], columns: Columns) -> str:
    """Give a row, and what of it could not be read, the metric's own names; return the problem of a missing column."""
    found: JsonDict = {}
    gone: dict[str, str] = {}
    for name, source in columns.items():
        if source == name and name in row and name not in lost:
            continue
        wanted = [source] if isinstance(source, str) else list(source)
        missing = [column for column in wanted if column not in row and column not in lost]
        if missing:
            return f"there is no {missing[0]!r}; there is: {', '.join(row)}; name yours with columns={{...}}"
        if unread := [lost[column] for column in wanted if column in lost]:
            gone[name] = unread[0]
        else:
            values = [row[column] for column in wanted]
            found[name] = values[0] if isinstance(source, str) else values
    for name in gone:
        row.pop(name, None)
    for name in found:
        lost.pop(name, None)
    row.update(found)
    lost.update(gone)
    return ""


class _Row(dict[str, Any]):
    """A row of which some columns could not be read: who asks for one is told why."""

    def __init__(self, row: JsonDict, lost: Mapping[str, str]):
        super().__init__(row)
        self.lost = lost

    def __missing__(self, name: str) -> Any:
        raise ValueError(self.lost[name]) if name in self.lost else KeyError(name)


def _wrong_type(value: object, name: str, kind: str) -> str:
    if name == "contexts" and value == []:  # a search that found nothing
        return ""
    if kind == "text":
        return f"{name} must be a text, not {type(value).__name__}"
    if not isinstance(value, list) or set(map(type, value)) != {str}:
        return f"{name} must be a text or a list of texts, not {type(value).__name__} ({str(value)[:40]})"
    return ""


def load_options(options: Mapping[str, Any], load: Callable[[str], Backend] | None = None) -> dict[str, Any]:
    """Return a metric's options in which texts such as "llm:folder" have become checkers, judges and backends."""
    found = dict(options)
    for name in ("checker", "judge", "backend"):
        kind, colon, text = str(options.get(name)).partition(":")
        if not colon or not isinstance(options[name], str):
            continue
        found[name] = _load_option(name, kind, text, load)
    return found


def _load_option(name: str, kind: str, text: str, load: Callable[[str], Backend] | None) -> object:
    from summeval_nb.models.load import load_model

    load = load or load_model
    if name == "checker":
        from summeval_nb.evidence.model_checkers import named_checker

        return named_checker(f"{kind}:{text}", load)
    if kind != "llm":
        raise ValueError(f"{name} cannot be {kind!r}: name a model as 'llm:...'")
    if name == "backend":
        return load(text)
    from summeval_nb.judged.llm import LLMJudge

    return LLMJudge(load(text))


def _digest(*values: str | bytes | Sequence[str] | None) -> str:
    """A hash of texts; a text and a list of one text are the same, and what is missing is an empty list."""
    digest = hashlib.sha256()
    for value in values:
        for part in [value] if isinstance(value, (str, bytes)) else value or ():
            data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(data) + data)
        digest.update(b"/")
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Job:
    """A metric with its options, columns and store, checked: what a worker needs to score items."""

    metric: MetricOrFunction
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)
    store: Any = None  # a store or its path; afterwards its path, or None

    def __post_init__(self) -> None:
        if isinstance(self.metric, Metric) and _is_named(self.metric):
            self._take_apart(self.metric)
        if self.store is not None:
            from summeval_nb.models.load import store_path

            object.__setattr__(self, "store", store_path(self.store))
        if isinstance(self.metric, str):
            kind, fixed = find_metric(self.metric)
            known = [option for option in kind.defaults() if option not in fixed and option != "store"]
            require_options(self.metric, self.options, known)
        elif isinstance(self.metric, type) or not (callable(self.metric) or hasattr(self.metric, "score_many")):
            shown = f"the class {self.metric.__name__}" if isinstance(self.metric, type) else type(self.metric).__name__
            raise TypeError(
                f"metric must be a name, a Metric such as load_metric('bleu'), or a function of a row, not {shown}"
            )
        elif self.options:
            raise ValueError("options belong to metrics known by name; bind yours with functools.partial")
        if self.kinds:
            what = self.metric if isinstance(self.metric, str) else type(self.metric).__name__
            for name in self.columns:
                require_option(name, f"column of {what}", self.kinds)
            self._require_apart()

    def _require_apart(self) -> None:
        """Raise a `ValueError` if two columns of the metric would be one of the corpus."""
        known: dict[str, str] = {}
        for name, source in self.sources.items():
            for column in {source or name} if source is None or isinstance(source, str) else set(source):
                if column in known:
                    raise ValueError(
                        f"{known[column]} and {name} would both be the column {column!r}: "
                        "name another with columns={...}, or write it twice, under two "
                        "names, if that is meant"
                    )
                known[column] = name

    def _take_apart(self, metric: Metric) -> None:
        """Put a metric of ours down by its name and its choices, which a manifest can hold and a worker can make."""
        if self.options:
            raise ValueError(f"{metric.name} has its own options: give {', '.join(self.options)} there")
        options = metric.options()
        store = options.pop("store", None)
        object.__setattr__(self, "metric", metric.name)
        object.__setattr__(self, "options", options)
        if self.store is None:
            object.__setattr__(self, "store", store)

    @property
    def _kind(self) -> Any:
        """What says the columns: the class of a metric with a name, an object with `score_many`, or None."""
        if isinstance(self.metric, str):
            return find_metric(self.metric)[0]
        return self.metric if hasattr(self.metric, "score_many") else None

    @property
    def _source(self) -> object:
        """What a metric that is not ours is known by: itself, or what its name leads to."""
        return metric_source(self.metric) if isinstance(self.metric, str) else self.metric

    @property
    def kinds(self) -> Mapping[str, str]:
        """What each column must hold."""
        return self._kind.columns if self._kind else {}

    @property
    def shard_size(self) -> int:
        """How many items a shard holds where nobody says: 2,000 for overlap metrics, which are quick, else 500."""
        return getattr(self._kind, "shard_size", 500)

    @property
    def sources(self) -> dict[str, str | Sequence[str] | None]:
        """The corpus' column for each of the metric's; None where nobody named one."""
        return {**dict.fromkeys(self.kinds), **self.columns}

    @property
    def may_lack(self) -> Sequence[str]:
        """The columns that a row may lack."""
        return getattr(self._kind, "may_lack", ())

    def read(self, item: Item, *, typed: bool = True) -> tuple[JsonDict, str]:
        """Return an item's row under the metric's own names, and a problem or ''; not `typed`, only of its columns."""
        return read_row(item, self.sources, self.kinds if typed else {}, self.may_lack)

    @property
    def is_lexical(self) -> bool:
        """Whether the metric is one of the package's that only count words: none of its choices is a model."""
        return is_ours(self.metric) and not self._kind.defaults().keys() & MODEL_OPTIONS

    @property
    def in_this_process(self) -> bool:
        """Whether no worker process is started where nobody says: for word metrics without code of somebody's."""
        return self.is_lexical and not any(map(callable, self.options.values()))

    def content(self, item: Item, row: JsonDict) -> str:
        """Return two hashes: of what an item is about (the article), and of what a system wrote for it.

        For a function of yours, of which nobody knows that, it is one hash of all that
        the item holds.
        """
        judged = getattr(self._kind, "judged", "")
        if not judged:
            return _digest(item.data)
        about = _digest(*(row[name] for name in self.kinds if name != judged))
        return f"{about}.{_digest(row[judged])}"

    def describe(self) -> JsonDict:
        """Return the job as plain data."""
        metric = self.metric if is_ours(self.metric) else describe(self._source, "metric")
        found: JsonDict = {
            "metric": metric,
            "options": describe(self.options, "options"),
            "columns": describe(self.columns, "c"),
        }
        usual = self._kind.defaults() if isinstance(self.metric, str) else {}
        packaged = _packaged_fingerprints({**usual, **self.options})
        return found | ({"fingerprints": packaged} if packaged else {})


def _packaged_fingerprints(choices: Mapping[str, Any]) -> dict[str, str]:
    """The fingerprints of the package's own checkers that choices name, also for a judge to ask.

    The name stays where the checker does not: another version of it, another fingerprint, another run.
    """
    named = {name: choices.get(name) for name in ("checker", "judge")}
    own = {name: value for name, value in named.items() if isinstance(value, str) and value in ("embedded", "words")}
    if not own:
        return {}
    from summeval_nb.evidence.model_checkers import packaged_checker

    return {name: packaged_checker(value).fingerprint for name, value in own.items()}


def _is_named(metric: Metric) -> bool:
    """Whether a metric is one of those that have a name, and not a function of somebody's that is called alike."""
    return bool(metric.place) or (metric.name in METRICS and find_metric(metric.name)[0] is metric.definition)


class Line(NamedTuple):
    """A result as it is written: status and score for counting, and the line itself."""

    status: str
    score: float | None
    text: bytes


class Scored(NamedTuple):
    """A shard's lines, and what language models used for them, by stage; empty without one."""

    lines: list[Line]
    usage: Stages = {}


def make_line(number: int, item: Item, row: JsonDict, outcome: Outcome, content: str | None = None) -> Line:
    """Return the line of a result; a failure's reason begins with its place in the corpus."""
    score, status, reason, parts, signature = outcome
    reason = f"at {item.place}: {reason}" if status == "failed" else reason
    values = (number, _plain_id(row.get("id")), score, status, reason, parts, signature, content)
    record = dict(zip(LINE_FIELDS, values, strict=True))
    try:
        text = _READABLE.encode(record).encode()
    except UnicodeEncodeError:  # half a character, which JSON can escape and UTF-8 cannot hold
        text = _ESCAPED.encode(record).encode()
    except (TypeError, ValueError, RecursionError) as error:
        failed = Outcome(None, "failed", f"the metric's parts cannot be written as JSON: {error}")
        return make_line(number, item, row, failed, content)
    return Line(outcome.status, outcome.score, text)


def _plain_id(value: object) -> Any:
    """An id as JSON can hold it; NaN, which stands for a missing one in tables, is none."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    try:
        return json.loads(_ESCAPED.encode(value))
    except (TypeError, ValueError, RecursionError):
        return str(value)[:200]


def _plain(value: object) -> object:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")


_READABLE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_plain)
_ESCAPED = json.JSONEncoder(allow_nan=False, default=_plain)


def named_metric(name: str, options: Mapping[str, Any], store: Any = None) -> Metric:
    """Return a metric by name with its options, and with the store where it takes one."""
    keeps = "store" in find_metric(name)[0].defaults()
    return load_metric(name, **options, **({"store": store} if keeps else {}))


class Scorer:
    """A job made ready in this process. Raises what a wrong option raises, before any item is scored."""

    def __init__(self, job: Job, load: Callable[[str], Backend] | None = None):
        self.job = job
        self._ledger: Ledger | None = None
        self._backends: Sequence[Backend] = ()
        store: Store | None = None
        if job.store:
            from summeval_nb.models.store import Store

            store = Store(job.store)
        if job.is_lexical:
            self._metric = named_metric(str(job.metric), job.options)
            self._try(self._metric.probe)
            return
        from summeval_nb.runs.costs import Ledger, find_backends, metered

        self._ledger = Ledger()
        if isinstance(job.metric, str):
            options, kept = metered(load_options(job.options, load), self._ledger, store)
            self._metric = named_metric(job.metric, options, kept)
            if is_ours(job.metric):  # somebody's function need not stand an empty text
                self._try("" if find_backends(options) else self._metric.probe)
        else:
            name = getattr(job.metric, "__qualname__", type(job.metric).__name__)
            self._signature = str(Signature({"metric": getattr(job.metric, "fingerprint", name)}))
            self._backends = find_backends(job.metric)

    def _try(self, text: str) -> None:
        self._score([dict.fromkeys(self.job.kinds, text)])
        self._take()

    def _take(self) -> Stages:
        return self._ledger.take() if self._ledger else {}

    def _score(self, rows: Rows) -> list[Outcome]:
        if isinstance(self.job.metric, str):
            return score_rows(self._metric, rows, progress=False)
        if not self._backends or self._ledger is None:
            return self._own(rows)
        with self._ledger.stage("metric", self._backends):
            return self._own(rows)

    def _own(self, rows: Rows) -> list[Outcome]:
        """Outcomes of a metric of somebody's: an object that scores many, or a function of a row."""
        metric: Any = self.job.metric
        if not hasattr(metric, "score_many"):
            return [as_outcome(metric(row), self._signature) for row in rows]
        return [
            outcome if outcome.signature else outcome._replace(signature=self._signature)
            for outcome in score_rows(metric, rows)
        ]

    def lines(self, first: int, items: Sequence[Item]) -> list[Line]:
        """Return one line per item; `first` is the position of the first item in the corpus."""
        content = self.job.content
        read = [self.job.read(item) for item in items]
        contents = [None if problem else content(item, row) for item, (row, problem) in zip(items, read, strict=True)]
        found = iter(try_together([row for row, problem in read if not problem], self._score))
        outcomes = [Outcome(None, "failed", problem) if problem else _settled(next(found)) for _, problem in read]
        columns = zip(itertools.count(first), items, (row for row, _ in read), outcomes, contents, strict=False)
        return [make_line(*parts) for parts in columns]

    def score(self, first: int, items: Sequence[Item]) -> Scored:
        """Return the lines of a shard and the ledger of what they took."""
        self._take()
        return Scored(self.lines(first, items), self._take())


def _settled(value: Outcome | Exception) -> Outcome:
    if isinstance(value, BaseException):
        return Outcome(None, "failed", " ".join(f"{type(value).__name__}: {value}".split()))
    return value
