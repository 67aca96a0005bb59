"""Metrics made safe for corpora: what is scored by which metric with which choices, and one row for every item.

What tells one job from another is plain data. What declares a `fingerprint` is known by it. A function is known by its
module, its name and the source of the module, an object by its class and its state. What cannot be told, such as a
lambda, is scored as any other, and its run is never continued.
"""

from __future__ import annotations

import ast
import copyreg
import functools
import hashlib
import inspect
import json
import math
import os
import site
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path, PurePath
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pydantic_core import PydanticSerializationError, to_json

from summeval_nb.agreement.registry import METRICS, find_metric, is_ours, load_metric, metric_source
from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import OWN_CHECKERS, JsonDict, Scores, hub_only_if, require_option, require_options
from summeval_nb.core.items import Columns, Item, read_item
from summeval_nb.core.metric import COLUMNS, Metric, MetricDefinition, is_function, score_rows
from summeval_nb.core.results import Outcome, Signature, as_outcome
from summeval_nb.runs.file import Row
from summeval_nb.runs.workers import try_together

if TYPE_CHECKING:
    from summeval_nb.models.base import Backend
    from summeval_nb.runs.costs import Ledger, Stages

# What asks models is imported by the functions that need it, so that a run of a word metric begins at once.

__all__ = ["Job"]

# ---------------------------------------------------------------- rows


Rows = Sequence[JsonDict]
MetricOrFunction: TypeAlias = str | Scores | Callable[[Mapping[str, Any]], object]


def load_options(
    options: Mapping[str, Any], metric: MetricDefinition, load: Callable[[str], Backend] | None = None
) -> dict[str, Any]:
    """Return a metric's options in which texts such as "llm:folder" have become checkers, judges and backends."""
    found = metric.chosen(options)
    for name in found.keys() & {"checker", "judge"}:
        value = found[name]
        if isinstance(value, str) and ":" in value:
            annotation = str(getattr(metric.options.get(name), "annotation", "")).lower()
            says = any(word in annotation for word in ("checker", "judge", "backend"))
            found[name] = _load_judge(value, annotation if says else name, load)
    return found


def _load_judge(name: str, wanted: str, load: Callable[[str], Backend] | None) -> object:
    """Who judges by a name, as the parameter wants it: a language model (any other name is refused by the function
    itself), a checker or a judge."""
    from summeval_nb.models.local import load_model

    load, (kind, _, model) = load or load_model, name.partition(":")
    if "backend" in wanted and kind == "llm":
        return load(model)
    if "checker" in wanted:
        from summeval_nb.evidence.model_checkers import named_checker

        return named_checker(name, load)
    if "judge" not in wanted:
        return name
    if kind == "llm":
        from summeval_nb.judged.llm import LLMJudge

        return LLMJudge(load(model))
    if kind != "nli":
        raise ValueError(f"judge cannot be {kind!r}: name a model as 'llm:...' or 'nli:...'")
    from summeval_nb.judged.session import load_judge

    return load_judge(name)


# ---------------------------------------------------------------- the job


@dataclass(frozen=True)
class Job:
    """A metric with its options, columns and store, checked: what a worker needs to score items."""

    metric: MetricOrFunction
    options: Mapping[str, Any] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)
    store: Any = None  # a store or its path; afterwards its path, or None

    def __post_init__(self) -> None:
        if is_function(self.metric) and not hasattr(self.metric, "score_many"):
            object.__setattr__(self, "metric", _by_columns(self.metric))
        if isinstance(self.metric, Metric) and _is_named(self.metric):
            self._take_apart(self.metric)
        if self.store is not None:
            from summeval_nb.models.store import store_path

            object.__setattr__(self, "store", store_path(self.store))
        if isinstance(self.metric, str):
            kind, fixed = find_metric(self.metric)
            known = [option for option in kind.names if option not in fixed and option != "store"]
            require_options(self.metric, self.options, known)
            object.__setattr__(self, "options", kind.chosen(self.options))
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
        """Put a metric of ours down by its name and its choices, which a file can hold and a worker can make."""
        if self.options:
            raise ValueError(f"{metric.name} has its own options: give {', '.join(self.options)} there")
        options = metric.options()
        store = options.pop("store", None)
        object.__setattr__(self, "metric", metric.name)
        object.__setattr__(self, "options", options)
        if self.store is None:
            object.__setattr__(self, "store", store)

    def __getstate__(self) -> JsonDict:
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def _kind(self) -> Any:
        """What says the columns: the class of a metric with a name, an object with `score_many`, or None."""
        if isinstance(self.metric, str):
            return find_metric(self.metric)[0]
        return self.metric if hasattr(self.metric, "score_many") else None

    @property
    def _source(self) -> object:
        """What a metric that is not ours is known by: itself, or what its name leads to."""
        return metric_source(self.metric) if isinstance(self.metric, str) else self.metric

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """What each column must hold."""
        return self._kind.columns if self._kind else {}

    @property
    def batch_size(self) -> int:
        """How many items are scored together where nobody says: 2,000 for overlap metrics, else 500."""
        return getattr(self._kind, "batch_size", 500)

    @cached_property
    def sources(self) -> dict[str, str | Sequence[str] | None]:
        """The corpus' column for each of the metric's; None where nobody named one."""
        return {**dict.fromkeys(self.kinds), **self.columns}

    @cached_property
    def may_lack(self) -> Sequence[str]:
        """The columns that a row may lack."""
        return getattr(self._kind, "may_lack", ())

    def read(self, item: Item, *, typed: bool = True) -> tuple[JsonDict, str]:
        """Return an item's row under the metric's own names, and a problem or ''; not `typed`, only of its columns."""
        return read_item(item, self.sources, self.kinds if typed else {}, self.may_lack)

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
        judged, others = self._split
        if not judged:
            return _digest(item.data)
        return f"{_digest(*(row[name] for name in others))}.{_digest(row[judged])}"

    @cached_property
    def _split(self) -> tuple[str, list[str]]:
        judged = getattr(self._kind, "judged", "")
        return judged, [name for name in self.kinds if name != judged]

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
    own = {name: value for name, value in named.items() if isinstance(value, str) and value in OWN_CHECKERS}
    if not own:
        return {}
    from summeval_nb.evidence.model_checkers import packaged_checker

    return {name: packaged_checker(value).fingerprint for name, value in own.items()}


def _by_columns(function: Any) -> Any:
    """A function whose parameters are columns, such as f(candidate, references), as a metric; one of a row as it is."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [one.name for one in given if one.default is one.empty and one.kind not in several]
    return Metric(function) if len(needed) > 1 or set(needed) & COLUMNS else function


def _is_named(metric: Metric) -> bool:
    """Whether a metric is one of those that have a name, and not a function of somebody's that is called alike."""
    return bool(metric.place) or (metric.name in METRICS and find_metric(metric.name)[0] is metric.definition)


def _digest(*values: str | bytes | Sequence[str] | None) -> str:
    """A hash of texts; a text and a list of one text are the same, and what is missing is an empty list."""
    parts = []
    for value in values:
        for part in (value,) if isinstance(value, (str, bytes)) else value or ():
            data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
            parts += [b"%d:" % len(data), data]
        parts.append(b"/")
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


class Scored(NamedTuple):
    """The rows of a batch, and what language models used for them, by stage; empty without one."""

    rows: list[Row]
    usage: Stages = {}


def make_row(row: JsonDict, outcome: Outcome, content: str | None = None) -> Row:
    """Return a result as a run keeps it."""
    score, status, reason, parts, signature = outcome
    record = {"id": _plain_id(row.get("id")), "score": score, "status": status, "reason": reason}
    record |= {"parts": parts, "signature": signature, "content": content}
    try:
        return Row(status, score, _as_json(record))
    except (TypeError, ValueError, RecursionError) as error:
        failed = Outcome(None, "failed", f"the metric's parts cannot be written as JSON: {error}")
        return make_row(row, failed, content)


def _as_json(record: JsonDict) -> bytes:
    """A record as JSON, by pydantic's writer, which is four times as fast where it can say all that there is."""
    with suppress(PydanticSerializationError):
        body = to_json(record, fallback=_plain)
        if b"NaN" not in body and b"Infinity" not in body:
            return body
    return json.dumps(record, allow_nan=False, default=_plain, separators=(",", ":")).encode()


def _plain_id(value: object) -> Any:
    """An id as JSON can hold it; NaN, which stands for a missing one in tables, is none."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return None
    try:
        return json.loads(json.dumps(value, allow_nan=False, default=_plain))
    except (TypeError, ValueError, RecursionError):
        return str(value)[:200]


def _plain(value: object) -> object:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")


def named_metric(name: str, options: Mapping[str, Any], store: Any = None) -> Metric:
    """Return a metric by name with its options, and with the store where it takes one."""
    keeps = "store" in find_metric(name)[0].defaults()
    return load_metric(name, **options, **({"store": store} if keeps else {}))


class Scorer:
    """A job made ready in this process. Raises what a wrong option raises, before any item is scored."""

    def __init__(self, job: Job, load: Callable[[str], Backend] | None = None, store: Any = None):
        self.job = job
        self.ledger: Ledger | None = None
        self._backends: Sequence[Backend] = ()
        if job.store:
            from summeval_nb.models.store import Store

            store = Store(job.store)
        if job.is_lexical:
            self._metric = named_metric(str(job.metric), job.options)
            self._try(self._metric.probe)
            return
        from summeval_nb.runs.costs import Ledger, find_backends, metered

        self.ledger = Ledger()
        if isinstance(job.metric, str):
            options, kept = metered(load_options(job.options, job._kind, load), self.ledger, store)
            self._metric = named_metric(job.metric, options, kept)
            if is_ours(job.metric):  # somebody's function need not stand an empty text
                self._try("" if find_backends(options) else self._metric.probe)
        else:
            name = getattr(job.metric, "__qualname__", type(job.metric).__name__)
            self._signature = str(Signature({"metric": getattr(job.metric, "fingerprint", name)}))
            self._backends = find_backends(job.metric)

    def _try(self, text: str) -> None:
        self.outcomes([dict.fromkeys(self.job.kinds, text)])
        self._take()

    def _take(self) -> Stages:
        return self.ledger.take() if self.ledger else {}

    def outcomes(self, rows: Rows) -> list[Outcome]:
        """Return what the metric finds; it raises what the metric raises."""
        if isinstance(self.job.metric, str):
            return score_rows(self._metric, rows, progress=False)
        if not self._backends or self.ledger is None:
            return self._own(rows)
        with self.ledger.stage("metric", self._backends):
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

    def score(self, items: Sequence[Item]) -> Scored:
        """Return one row per item, and the ledger of what they took."""
        self._take()
        content = self.job.content
        read = [self.job.read(item) for item in items]
        contents = [None if problem else content(item, row) for item, (row, problem) in zip(items, read, strict=True)]
        found = iter(try_together([row for row, problem in read if not problem], self.outcomes))
        outcomes = [Outcome(None, "failed", problem) if problem else _settled(next(found)) for _, problem in read]
        rows = list(map(make_row, (row for row, _ in read), outcomes, contents))
        return Scored(rows, self._take())


def _settled(value: Outcome | Exception) -> Outcome:
    if isinstance(value, BaseException):
        return Outcome(None, "failed", " ".join(f"{type(value).__name__}: {value}".split()))
    return value


# ---------------------------------------------------------------- what tells one job from another

MODEL_OPTIONS = frozenset({"checker", "judge", "embedder", "model"})  # the options that hold a model
_PACKAGED = {"embedded", "minilm", "mpnet", "words"}  # the package's own, which change with its version
_UNNAMED = "scripted:scripted"  # a ScriptedBackend that nobody named: any function


def describe(value: object, name: str) -> Any:
    """Return plain data that stands for an option or a metric; equal data mean equal results.

    What has no identity gets a mapping with the key "unknown": a list of reasons.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (str, PurePath)):
        return identify_model(name, value)
    if isinstance(value, Mapping):
        names = {key: key if isinstance(key, str) else f"{type(key).__name__} {key!r}" for key in value}
        return {names[key]: describe(inner, names[key]) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [describe(inner, name) for inner in value]
    return identify(value)


def identify(value: object) -> JsonDict:
    """Return what is known of an object or a function: its name, and its fingerprint or its state and code."""
    if isinstance(value, Metric):  # a function with its options
        known = {"name": _name_of(value.function)} if _is_packaged(value.function) else identify(value.function)
        return known | {"options": describe(value.options(), "options")}
    found: JsonDict = {"name": _name_of(value)}
    if mark := _declared(value):
        return found | mark
    code: dict[str, str] = {}
    try:
        state = json.dumps(_state(value, code)).encode()
    except Exception as error:  # whatever an object's own pickling raises
        return found | {"unknown": [f"{found['name']}: {' '.join(str(error).split())[:200]}"]}
    return found | {"state": hashlib.sha256(state).hexdigest()[:16], "code": dict(sorted(code.items()))}


def find_unknown(described: object) -> list[str]:
    """Return why some described data have no identity; empty where all of them have one."""
    if isinstance(described, Mapping):
        inner = [reason for part in described.values() for reason in find_unknown(part)]
        return [*inner, *(described["unknown"] if described.keys() == {"name", "unknown"} else [])]
    if isinstance(described, list):
        return [reason for part in described for reason in find_unknown(part)]
    return []


def differences(before: object, now: object, name: str = "") -> Iterator[str]:
    """Yield what differs between two pieces of plain data, each with its path and both values."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys([*before, *now]):
            inner = f"{name}.{key}" if name else str(key)
            if key not in before or key not in now:
                sides = [repr(side[key]) if key in side else "absent" for side in (before, now)]
                yield f"{inner} ({sides[0]} before, {sides[1]} now)"
            else:
                yield from differences(before[key], now[key], inner)
    elif json.dumps(before, sort_keys=True) != json.dumps(now, sort_keys=True):
        yield f"{name} ({before!r} before, {now!r} now)"


def identify_model(option: str, text: str | PurePath) -> Any:
    """Return an option that names a model, with the content of its files; a server's secrets are left out."""
    kind, colon, place = str(text).partition(":")
    if not colon or kind not in ("llm", "nli") or option == "embedder":
        kind, place = "", str(text)
    shown = redacted(str(text))
    if option not in MODEL_OPTIONS:  # a text of the user's, which may hold an address
        return shown if shown == str(text) else {"text": shown, "hash": hashlib.sha256(str(text).encode()).hexdigest()}
    if not place or place in _PACKAGED or "@http" in place:
        return shown
    content = content_of(Path(place)) or _cached_content(place)
    return {"name": shown, "content": content} if content else shown


def content_of(path: Path) -> str:
    """Return a hash of a file, or of all files of a folder with their names; empty where there is none."""
    with suppress(OSError):
        if path.is_file():
            return _file_hash(path)
        names = sorted(file.relative_to(path) for file in path.rglob("*") if file.is_file())
        shown = (name for name in names if not any(part[0] == "." or part == "__pycache__" for part in name.parts))
        listed = [[name.as_posix(), _file_hash(path / name)] for name in shown]
        return hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:16] if listed else ""
    return ""


def _cached_content(name: str) -> str:
    """The content of a model that a hub's local cache holds under a name; nothing is downloaded."""
    try:
        from huggingface_hub import snapshot_download

        with hub_only_if(download=False) as where:
            return content_of(Path(snapshot_download(name, **where)))
    except Exception:  # no such package, no such name, no such cache: the metric itself will say so
        return ""


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _name_of(value: object) -> str:
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{getattr(named, '__module__', None) or 'builtins'}.{named.__qualname__}"


def _is_packaged(kind: Any) -> bool:
    return str(kind.__module__).partition(".")[0] == "summeval_nb"


def _declared(value: object) -> JsonDict | None:
    """A declared fingerprint, with the threshold, which is none of the fingerprint's.

    One that a class of somebody's only inherits from a class of the package, or that this puts into the object, says
    nothing of what it does otherwise: such a class declares its own as an attribute of the class, or a property.
    """
    mark = getattr(value, "fingerprint", None)
    if isinstance(value, type) or not isinstance(mark, str) or not mark or _UNNAMED in mark:
        return None
    own = [kind for kind in type(value).__mro__ if not _is_packaged(kind)]
    says = any("fingerprint" in vars(kind) for kind in own)
    says = says or (len(own) == len(type(value).__mro__) and "fingerprint" in getattr(value, "__dict__", {}))
    if not (says or _is_packaged(type(value))):
        return None
    threshold = getattr(value, "threshold", None)
    return {"fingerprint": mark} | ({"threshold": threshold} if isinstance(threshold, (int, float)) else {})


def _state(value: Any, code: dict[str, str]) -> Any:
    """All that a value is made of, as plain data, part by part as pickle would take it; the code goes into `code`."""
    inner = functools.partial(_state, code=code)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return [type(value).__name__, repr(value)]
    if type(value) in (list, tuple):
        return [type(value).__name__, *map(inner, value)]
    if type(value) in (set, frozenset):  # which has another order in every process
        return ["set", *sorted(json.dumps(inner(member)) for member in value)]
    if type(value) is dict:
        return ["dict", *([inner(key), inner(held)] for key, held in value.items())]
    if isinstance(value, Metric) and _is_packaged(value.function):
        return [_name_of(value.function), inner(value.options())]
    if mark := _declared(value):
        return [_name_of(value), mark]
    if isinstance(value, (type, FunctionType)):
        parts: Any = value.__qualname__
    else:
        taken_apart = copyreg.dispatch_table.get(type(value))
        parts = taken_apart(value) if taken_apart else value.__reduce_ex__(4)
    if not isinstance(parts, str):
        lists = [list(part) if hasattr(part, "__next__") else part for part in parts]
        code.update(_code_of(type(value).__module__))
        return [_name_of(value), *map(inner, lists)]
    module = str(getattr(value, "__module__", None) or "builtins")
    held = functools.reduce(lambda whole, name: getattr(whole, name, None), parts.split("."), sys.modules.get(module))
    if held is not value:
        raise LookupError(f"{parts} is no function or class of a module")
    code.update(_code_of(module))
    return f"{module}.{parts}"


def _code_of(module: str) -> dict[str, str]:
    """What tells the code of a module: a version, or a hash of one's own source; nothing for the package's."""
    top = module.partition(".")[0]
    path = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    if top == "summeval_nb":  # a run's settings have its version
        return {}
    if not _is_own(path):
        if top in sys.stdlib_module_names:
            return {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}
        if names := packages_distributions().get(top):
            return {top: ", ".join(f"{name} {version(name)}" for name in sorted(set(names)))}
    if module == "__main__" or path.suffix != ".py":
        raise LookupError(f"the code of {module} is in no module that can be imported")
    if path.stat().st_mtime > _STARTED:
        raise LookupError(f"{path.name} was changed after this process had begun")
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = ["" if node.level else str(node.module)]
        if others := [name for name in names if _is_of_ones_own(name.partition(".")[0])]:
            raise LookupError(f"{module} imports other code of yours ({others[0] or 'relatively'})")
    return {module: hashlib.sha256(source.encode()).hexdigest()[:16]}


def _is_of_ones_own(top: str) -> bool:
    """Whether an import of a module, "" for a relative one, is of somebody's code."""
    if top in ("", "summeval_nb"):
        return not top
    with suppress(ImportError, ValueError):
        found = getattr(sys.modules.get(top), "__file__", None) or getattr(find_spec(top), "origin", None)
        if found:
            return _is_own(Path(found))
    return top not in sys.stdlib_module_names and top not in packages_distributions()


@functools.cache
def _places() -> tuple[Path, ...]:
    """The folders of Python's own modules and of what is installed, as they are named and as they are."""
    known = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    listed = [Path(place) for place in (*known, site.getusersitepackages()) if place]
    return (*listed, *(place.resolve() for place in listed))


def _is_own(path: Path) -> bool:
    """Whether a file is source of somebody's, and neither Python's nor of what is installed."""
    return path.suffix == ".py" and not any(
        file.is_relative_to(place) for place in _places() for file in (path, path.resolve())
    )


def _process_start() -> float:
    """When this process began, in seconds of the clock; where nothing tells, when this module was imported."""
    now = time.time()
    try:
        born = int(Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()[19])
        alive = float(Path("/proc/uptime").read_text().split()[0]) - born / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return min(now, now - alive + 0.05)  # the kernel counts in hundredths


_STARTED = _process_start()
