"""Runs over whole corpora: what is scored by which metric, and how it goes on after kills, crashes and full disks."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
import os
import platform
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from pydantic_core import PydanticSerializationError, to_json
from tqdm.auto import tqdm

import summeval_nb
from summeval_nb.agreement.registry import METRICS, describe_metric, find_metric, is_ours, load_metric, metric_source
from summeval_nb.core.base import (
    OWN_CHECKERS,
    JsonDict,
    Scores,
    require_count,
    require_flag,
    require_option,
    require_options,
)
from summeval_nb.core.files import Columns, Corpus, Item, open_items, read_item
from summeval_nb.core.metric import COLUMNS, Metric, MetricDefinition, is_function, score_rows
from summeval_nb.core.results import Outcome, Signature, as_outcome
from summeval_nb.runs.file import (
    ANOTHER,
    MODEL_OPTIONS,
    Batch,
    Row,
    RunFile,
    cut,
    describe,
    differences,
    explained,
    find_unknown,
    only_one,
    require_usable,
)
from summeval_nb.runs.report import RunReport
from summeval_nb.runs.workers import Done, RunStopped, Scored, choose_engine, try_together

# What asks models is imported by the functions that need it, so that a run of a word metric begins at once.
if TYPE_CHECKING:
    from summeval_nb.models import base as models
    from summeval_nb.models import store as stores
    from summeval_nb.models.base import Backend
else:
    from summeval_nb.core.base import Lazy

    models, stores = Lazy("summeval_nb.models.base"), Lazy("summeval_nb.models.store")

__all__ = ["Job", "run"]

# ---------------------------------------------------------------- what is scored

MetricOrFunction: TypeAlias = str | Scores | Callable[[Mapping[str, Any]], object]


def load_options(
    options: Mapping[str, Any], metric: MetricDefinition, load: Callable[[str], Backend] | None = None
) -> dict[str, Any]:
    """Return a metric's options in which a text such as "llm:folder" has become what the parameter wants.

    That is a checker, a judge or a language model; any other name is refused by the function itself.
    """
    found = metric.chosen(options)
    for option in found.keys() & {"checker", "judge"}:
        name = found[option]
        if not isinstance(name, str) or ":" not in name:
            continue
        from summeval_nb.evidence.model_checkers import named_checker
        from summeval_nb.judged.embedded import EmbeddedJudge
        from summeval_nb.judged.llm import LLMJudge
        from summeval_nb.models.local import load_model

        make, is_llm, model = load or load_model, name.startswith("llm:"), name.partition(":")[2]
        kinds = ("Backend", "Checker", "Judge") if is_llm else ("Checker", "Judge", "Backend")
        annotation = str(getattr(metric.options.get(option), "annotation", ""))
        wanted = next((kind for kind in kinds if kind in annotation), option.title())
        if wanted == "Checker":
            found[option] = named_checker(name, make)
        elif wanted == "Judge":
            found[option] = LLMJudge(make(model)) if is_llm else EmbeddedJudge(checker=named_checker(name, make))
        elif is_llm:
            found[option] = make(model)
    return found


class Job:
    """A metric with its options, columns and store, checked: what a worker needs to score items."""

    def __init__(
        self,
        metric: MetricOrFunction,
        options: Mapping[str, Any] | None = None,
        columns: Columns | None = None,
        store: Any = None,
    ):
        options, kind = dict(options or {}), cast(Any, None)
        if is_function(metric) and not hasattr(metric, "score_many"):
            metric = _by_columns(metric)
        ours = isinstance(metric, Metric) and metric.name in METRICS
        if isinstance(metric, Metric) and (metric.place or (ours and find_metric(metric.name)[0] is metric.definition)):
            # by its name a file can hold it, and a worker make it
            if options:
                raise ValueError(f"{metric.name} has its own options: give {', '.join(options)} there")
            options = metric.options()
            own, metric = options.pop("store", None), metric.name
            store = own if store is None else store
        if isinstance(metric, str):
            kind, fixed = find_metric(metric)
            require_options(metric, options, [name for name in kind.names if name not in fixed and name != "store"])
            options = kind.chosen(options)
        elif isinstance(metric, type) or not (callable(metric) or hasattr(metric, "score_many")):
            shown = f"the class {metric.__name__}" if isinstance(metric, type) else type(metric).__name__
            raise TypeError(
                f"metric must be a name, a Metric such as load_metric('bleu'), or a function of a row, not {shown}"
            )
        elif options:
            raise ValueError("options belong to metrics known by name; bind yours with functools.partial")
        store = store if store is None else stores.store_path(store)
        self.metric, self.options, self.columns, self.store = metric, options, dict(columns or {}), store
        known: Any = kind or (metric if hasattr(metric, "score_many") else None)  # what says the columns
        self.kind, self.kinds = kind, dict(known.columns) if known else {}
        self.may_lack: Sequence[str] = getattr(known, "may_lack", ())
        self.batch_size: int = getattr(known, "batch_size", 500)
        self._judged = getattr(known, "judged", "")  # the column that a system wrote
        # whether it only counts words: of the package, no choice is a model, and none is code of somebody's
        own = is_ours(metric) and not any(map(callable, options.values()))
        self.is_lexical: bool = own and not kind.defaults().keys() & MODEL_OPTIONS
        # the corpus' column for each of the metric's; None where nobody named one
        self._sources: dict[str, str | Sequence[str] | None] = {**dict.fromkeys(self.kinds), **self.columns}
        for name in self.columns if known else ():
            require_option(name, f"column of {getattr(known, 'name', type(known).__name__)}", self.kinds)
        taken: dict[str, str] = {}
        for name, source in self._sources.items() if known else ():
            for column in {source or name} if source is None or isinstance(source, str) else {*source}:
                if (other := taken.setdefault(column, name)) != name:
                    remedy = "name another with columns={...}, or write it twice, under two names, if that is meant"
                    raise ValueError(f"{other} and {name} would both be the column {column!r}: {remedy}")

    def __reduce__(self) -> Any:
        return Job, (self.metric, self.options, self.columns, self.store)

    def read(self, item: Item, *, typed: bool = True) -> tuple[JsonDict, str]:
        """Return an item's row under the metric's own names, and a problem or ''; not `typed`, only of its columns."""
        return read_item(item, self._sources, self.kinds if typed else {}, self.may_lack)

    def content(self, item: Item, row: JsonDict) -> str:
        """Return a hash of what an item is about (the article), without what a system wrote for it.

        For a function of yours, of which nobody knows that, it is of all that the item holds.
        """
        if not self._judged:
            return hashlib.sha256(item.data).hexdigest()[:16]
        about = [row[name] for name in self.kinds if name != self._judged]
        listed = [[one] if isinstance(one, str) else one or [] for one in about]  # so it is the same text either way
        return hashlib.sha256(repr(listed).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def settings(self) -> JsonDict:
        """Return what must be equal for a run to be continued, as plain data."""
        options, metric = self.options, cast(Any, self.metric)
        if not is_ours(metric):
            known = describe(metric_source(metric) if isinstance(metric, str) else metric, "metric")
            package = describe_metric(metric)["package"] if isinstance(metric, str) else ""
            offered = package and find_unknown(known)  # by an installed package, which has a version
            metric = {"name": known["name"], "package": package} if offered else known
        found = {"summeval_nb": summeval_nb.__version__, "metric": metric, "options": describe(options, "options")}
        found["columns"] = describe(self.columns, "c")
        usual = self.kind.defaults() if self.kind else {}
        named = {name: options.get(name, usual.get(name)) for name in ("checker", "judge")}
        own = {name: value for name, value in named.items() if isinstance(value, str) and value in OWN_CHECKERS}
        if own:  # another version of a packaged checker has the name of this one: another fingerprint, another run
            from summeval_nb.evidence.model_checkers import packaged_checker

            found["fingerprints"] = {name: packaged_checker(value).fingerprint for name, value in own.items()}
        return found


def _by_columns(function: Any) -> Any:
    """A function whose parameters are columns, such as f(candidate, references), as a metric; one of a row as it is."""
    try:
        given = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [one.name for one in given if one.default is one.empty and one.kind not in several]
    return Metric(function) if len(needed) > 1 or set(needed) & COLUMNS else function


# ---------------------------------------------------------------- one row for every item


class Scorer:
    """A job made ready in this process. Raises what a wrong option raises, before any item is scored.

    `load` makes a model of its name, `open_store` a store of its path.
    """

    def __init__(
        self,
        job: Job,
        load: Callable[[str], Backend] | None = None,
        open_store: Callable[[str], object] | None = None,
    ):
        self.job, self._metric, probe = job, cast(Any, job.metric), None
        named = getattr(job.metric, "__qualname__", type(job.metric).__name__)
        self._signature = str(Signature({"metric": getattr(job.metric, "fingerprint", named)}))
        options = job.options
        if isinstance(job.metric, str):
            options = load_options(options, job.kind, load)
            if job.store:
                opened = (open_store or stores.Store)(job.store)
                options |= {"store": opened} if "store" in job.kind.options else {}
            self._metric = load_metric(job.metric, **options)
            probe = self._metric.probe if is_ours(job.metric) else None  # somebody's need not stand an empty text
        if probe and not job.is_lexical and models.find_backends(options):
            probe = ""  # of which nobody is asked
        if probe is not None:
            self.outcomes([dict.fromkeys(job.kinds, probe)])

    def outcomes(self, rows: Sequence[JsonDict]) -> list[Outcome]:
        """Return what the metric finds; it raises what the metric raises."""
        if not hasattr(self._metric, "score_many"):
            return [as_outcome(self._metric(row), self._signature) for row in rows]
        found = score_rows(self._metric, rows, progress=False)
        return [one if one.signature else one._replace(signature=self._signature) for one in found]

    def __call__(self, items: Sequence[Item]) -> Scored:
        """Return one row per item, and what language models used for them, by stage."""
        read = [self.job.read(item) for item in items]
        counting: Any = nullcontext({}) if self.job.is_lexical else models.counting()
        with counting as usage:
            found = iter(try_together([row for row, problem in read if not problem], self.outcomes))
        kept = []
        for item, (row, problem) in zip(items, read, strict=True):
            outcome = Outcome(None, "failed", problem) if problem else next(found)
            if isinstance(outcome, Exception):
                outcome = Outcome(None, "failed", " ".join(f"{type(outcome).__name__}: {outcome}".split()))
            kept.append(make_row(row, outcome, None if problem else self.job.content(item, row)))
        return Scored(kept, [usage] if usage else [])


def make_row(row: JsonDict, outcome: Outcome, content: str | None = None) -> Row:
    """Return a result as a run keeps it."""
    score, status, reason, parts, signature = outcome
    record: JsonDict = {"id": None, "score": score, "status": status, "reason": reason}
    record |= {"parts": parts, "signature": signature, "content": content}
    with suppress(ValueError):  # an id that is NaN, which stands for a missing one in tables, is none
        json.dumps(row.get("id"), allow_nan=False)
        record["id"] = row.get("id")
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


def _plain(value: object) -> object:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")


# ---------------------------------------------------------------- a run

_FIRST = 100  # items of a corpus, of which a folder that holds results must know one
_DECLARE = "declare a fingerprint, as in metric.fingerprint = 'my-metric v1', and change it with what it does"


def require_same(file: RunFile, settings: JsonDict) -> None:
    """Raise a `ValueError` that names what differs, or cannot be known, if a file holds results of another run."""
    if not len(file):
        return
    if changed := list(differences(file.info().get("settings", {}), settings)):
        raise ValueError(f"{str(file.folder)!r} holds a run with other settings: {', '.join(changed)}; {ANOTHER}")
    if unknown := find_unknown(settings):
        what = f"the run in {str(file.folder)!r} cannot be continued, because nothing tells its metric from another"
        raise ValueError(f"{what} ({'; '.join(unknown)}): {ANOTHER}; to continue the next one, {_DECLARE}")


def require_columns(batches: Iterable[Batch], job: Job) -> Iterator[Batch]:
    """Pass batches on; raise a `ValueError` if the first readable item of the corpus lacks a column."""
    checked = False
    for batch in batches:
        for _, _, item in () if checked else batch:
            row, problem = job.read(item, typed=False)
            if row and not item.unread:
                checked = True
                if problem:
                    raise ValueError(f"at {item.place} of the corpus {problem}")
                break
        yield batch


class _Run:
    """A run on its way: what it has begun, counted and written."""

    def __init__(self, file: RunFile, about: JsonDict, name: str, bar: Any):
        self.file, self.about, self.name, self.bar = file, about, name, bar
        self.items = self.scored = self.failed = 0
        self.began, self.stop = time.perf_counter(), threading.Event()

    def seen(self, batches: Iterable[Batch], total: Callable[[], int | None]) -> Iterator[Batch]:
        """Pass the corpus on, counted; before its first batch the folder becomes this run's."""
        stream, head = iter(batches), list[Batch]()
        needed = _FIRST if self.file.mode != "new" and len(self.file) else 1
        while sum(map(len, head)) < needed and (batch := next(stream, None)):
            head.append(batch)
        if head:
            self.file.begin()
            keys = [entry.key for batch in head for entry in batch][:_FIRST]
            before, first = self.file.info(), [key.hex() for key in keys]
            if len(self.file) and not {*first} & {*before.get("first", [])} and not self.file.has_any(keys):
                what = f"{str(self.file.folder)!r} holds the results of another corpus, {before.get('input')}"
                raise ValueError(f"{what}: it has none of the first {len(first)} rows of {self.name}; {ANOTHER}")
            self.file.note(**self.about, complete=False, first=first, input=self.name)
        for batch in itertools.chain(head, stream):
            self.items += len(batch)
            self.bar.total = total()
            yield batch

    def keep(self, done: Iterable[Done], on_error: str) -> None:
        """Write what an engine brings; with `on_error="raise"` a failed item stops the run after what is finished."""
        bad = ""
        for batch, scored in done:
            rows = list(scored.rows)
            for place, row in enumerate(rows):
                if not isinstance(row, Row):  # the item has ended its worker
                    item = read_item(batch[place].item, {}, {})[0]
                    rows[place] = make_row(item, Outcome(None, "failed", str(row)))
            failed = [place for place, row in enumerate(rows) if row.status == "failed"]
            if failed and on_error == "raise":
                place = failed[0]
                bad = bad or f"at {batch[place].item.place}: {json.loads(rows[place].body)['reason']}"
                self.stop.set()  # what is finished by now still comes
                continue
            self.file.write(batch, rows, scored.usage)
            self.scored, self.failed = self.scored + len(batch), self.failed + len(failed)
            self.bar.initial = self.file.kept  # the bar's rate and its time left speak of the work that is done now
            self.bar.update(self.file.kept + self.scored - self.bar.n)
            if self.failed:
                self.bar.set_postfix_str(f"{self.failed} failed", refresh=False)
        if bad:
            raise RunStopped(f"an item failed, and on_error='raise': {bad}; what was scored before is kept")

    def end(self) -> None:
        """Write the results, and what is to be said of the whole run."""
        if self.file.damaged:
            again = "their items were scored again"
            warnings.warn(f"{self.file.damaged} rows of {str(self.file.path)!r} were damaged; {again}", stacklevel=3)
        totals = self.file.write_results(self.items)
        now: JsonDict = {"scored_now": self.scored, "kept_from_before": self.file.kept}
        now["seconds"] = round(time.perf_counter() - self.began, 3)
        self.file.note(complete=True, **totals, **now)
        self.bar.update(self.items - self.bar.n)


def run(
    items: Corpus,
    metric: MetricOrFunction,
    *,
    out: str | Path,
    options: Mapping[str, Any] | None = None,
    columns: Columns | None = None,
    format: str | None = None,
    store: stores.StoreOrPath = None,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    num_gpus: float = 0,
    timeout: float | None = None,
    on_error: str = "record",
    resume: bool = True,
    retry_failed: bool = False,
    batch_size: int | None = None,
    progress: bool = True,
) -> RunReport:
    """Score a corpus of any size, so that it can be killed at any moment and continued.

    Parameters
    ----------
    items : path, DataFrame, datasets.Dataset or iterable of mappings
        The corpus, as for `open_items`; it is streamed. A column `id` names items.
    metric : str, Metric or callable
        A name of `METRICS`, such as "faithfulness" (columns text, summary) or "bleu" (candidate, references); a metric
        with its choices, such as `load_metric("bleu", n=2)`; an object of yours with `columns` and `score_many`; or a
        function of a row (a dict) that returns a number, a `Score`, or a mapping with a "score".
    out : path
        The folder of the run: `run.sqlite`, from which it continues, and in the end `results.jsonl`, in the order of
        the corpus.
    options : mapping, optional
        The metric's own options, such as `{"n": 2}`; a language model may be named, as in `{"judge": "llm:folder"}`.
    columns : mapping, optional
        The metric's column to the corpus' column, or to several that make a list.
    format : str, optional
        "jsonl", "csv" or "parquet", where the file's name does not tell.
    store : Store or path, optional
        Where metrics with models keep vectors and answers.
    engine : {"local", "ray"}
        Processes of this machine, or actors of a Ray cluster. The results are the same bytes.
    workers : int, optional
        Processes or actors; 0 works in this process (local engine). By default one per core, and 0 for a metric that
        only counts words, such as "bleu" or "rouge", which scores thousands before a process has started.
    address : str, optional
        A Ray cluster that you started, "10.0.0.1:6379", or "auto" on a machine of it; by default the one that this
        process has joined with `ray.init`.
    num_gpus : float
        GPUs of each Ray actor.
    timeout : float, optional
        Seconds for one item, after which it is recorded as failed and its worker replaced; by default none.
    on_error : {"record", "raise"}
        What to do with an item that fails: write down why, or stop the run.
    resume : bool
        Whether to continue what the folder holds; False starts over. What is continued must be the same metric. A
        metric, function or model of yours is known by its `fingerprint`, a text that you declare as its attribute;
        without one it is scored, and never continued.
    retry_failed : bool
        Whether items that failed are scored again, as after a server was down.
    batch_size : int, optional
        Items that are scored and written together: what a kill can cost each worker. By default 2,000 for BLEU and
        ROUGE, else 500, and at most 16 MB.
    progress : bool
        Whether to show a progress bar.

    Raises
    ------
    ValueError, TypeError
        If an argument is wrong, a column is missing, or the folder holds another run.
    RunStopped
        If the folder cannot be written, an item failed with `on_error="raise"`, or a cluster cannot be reached.
    RuntimeError
        If another run is working in the folder.

    Examples
    --------
    >>> import tempfile
    >>> pairs = [{"candidate": "the cat sat down", "references": "the cat sat down"}]
    >>> report = run(pairs, "bleu", out=tempfile.mkdtemp(), progress=False)
    >>> round(report.mean(), 6), report.counts
    (100.0, {'ok': 1, 'undefined': 0, 'failed': 0})
    """
    job = Job(metric, options, columns, store)
    require_option(on_error, "on_error", ("record", "raise"))
    for name, flag in {"resume": resume, "retry_failed": retry_failed, "progress": progress}.items():
        require_flag(flag, name)
    size = job.batch_size if batch_size is None else require_count(batch_size, "batch_size")
    settings = job.settings()
    if unknown := find_unknown(settings):
        why = f"nothing tells its metric from another ({'; '.join(unknown)})"
        warnings.warn(f"this run cannot be continued if it is stopped, because {why}: {_DECLARE}", stacklevel=2)
    call, count = choose_engine(engine, job.is_lexical, workers, address, num_gpus, timeout)
    require_usable(folder := Path(out), items)
    stream = open_items(items, format=format)
    about = {"settings": settings, "engine": engine, "workers": count, "num_gpus": num_gpus}
    about["versions"] = {"python": platform.python_version(), "platform": platform.platform()}
    about["started"] = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    with explained(folder), only_one(folder), RunFile(folder, "rw" if resume else "new") as file:
        if resume:
            require_same(file, settings)
        with tqdm(disable=not progress, unit=" items", total=stream.total()) as bar:
            ours, before = _Run(file, about, stream.name, bar), _stamp(items)
            batches = ours.seen(require_columns(cut(stream, size), job), stream.total)
            missing = file.missing(batches, retry_failed=retry_failed)
            with closing(call(missing, partial(Scorer, job), ours.stop)) as done:
                ours.keep(done, on_error)
            if not ours.items:
                raise ValueError(f"there are no items in {stream.name}")
            if _stamp(items) != before:
                again = "call run again, and what has changed in it is scored"
                raise RunStopped(f"{stream.name} was changed while it was scored; {again}")
            ours.end()
        return RunReport.load(folder)


def _stamp(items: object) -> object:
    """What changes with a file; None for what is none."""
    if not isinstance(items, (str, os.PathLike)):
        return None
    found = os.stat(items)
    return found.st_size, found.st_mtime_ns
