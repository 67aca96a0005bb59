"""Runs over whole corpora that survive kills, crashes and full disks, and plans of what they would take."""

from __future__ import annotations

import itertools
import json
import math
import os
import platform
import random
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tqdm.auto import tqdm

from summeval_nb.core.base import JsonDict, require_count, require_flag, require_module, require_option
from summeval_nb.core.html import html_table, text_table
from summeval_nb.core.items import Corpus, open_items
from summeval_nb.core.results import Outcome
from summeval_nb.runs.engines import Done, choose_engine
from summeval_nb.runs.file import (
    ANOTHER,
    FILE,
    OUTPUTS,
    Batch,
    RunFile,
    cut,
    explained,
    only_one,
    open_folder,
    require_usable,
    write_results,
)
from summeval_nb.runs.jobs import Columns, Job, MetricOrFunction, Scorer, differences, find_unknown
from summeval_nb.runs.report import RunReport
from summeval_nb.runs.workers import RunStopped

if TYPE_CHECKING:
    from summeval_nb.models.base import Backend
    from summeval_nb.models.store import Store, StoreOrPath
    from summeval_nb.runs.costs import RecordingBackend, Stages

__all__ = ["Estimate", "RunPlan", "plan_run", "run"]

# ---------------------------------------------------------------- before hours of work

_FIRST = 100  # items of a corpus, of which a folder that holds results must know one
_DECLARE = "declare a fingerprint, as in metric.fingerprint = 'my-metric v1', and change it with what it does"


def make_settings(job: Job) -> JsonDict:
    """Return what must be equal for a run to be continued; warn if nothing tells it."""
    from summeval_nb import __version__

    settings: JsonDict = {"summeval_nb": __version__, **job.describe()}
    if unknown := find_unknown(settings):
        why = f"nothing tells its metric from another ({'; '.join(unknown)})"
        warnings.warn(f"this run cannot be continued if it is stopped, because {why}: {_DECLARE}", stacklevel=3)
    return settings


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
            if row:
                checked = True
                if problem:
                    raise ValueError(f"at {item.place} of the corpus {problem}")
                break
        yield batch


class _Run:
    """A run on its way: what it has begun, counted and written."""

    def __init__(self, file: RunFile, about: JsonDict, name: str, bar: Any):
        self.file, self.about, self.name, self.bar = file, about, name, bar
        self.goes_on = file.mode != "new" and len(file) > 0
        self.items = self.scored = self.failed = 0
        self.began, self.stop = time.perf_counter(), threading.Event()

    def seen(self, batches: Iterable[Batch], total: Callable[[], int | None]) -> Iterator[Batch]:
        """Pass the corpus on, counted; before its first batch the folder becomes this run's."""
        stream, head = iter(batches), list[Batch]()
        while sum(map(len, head)) < (_FIRST if self.goes_on else 1) and (batch := next(stream, None)):
            head.append(batch)
        if head:
            self._begin([entry.key for batch in head for entry in batch][:_FIRST])
        for batch in itertools.chain(head, stream):
            self.items += len(batch)
            self.bar.total = total()
            yield batch

    def _begin(self, keys: list[bytes]) -> None:
        self.file.begin()
        before, first = self.file.info(), [key.hex() for key in keys]
        if len(self.file) and not {*first} & {*before.get("first", [])} and not self.file.has_any(keys):
            what = f"{str(self.file.folder)!r} holds the results of another corpus, {before.get('input')}"
            raise ValueError(f"{what}: it has none of the first {len(first)} rows of {self.name}; {ANOTHER}")
        files = list(dict.fromkeys([*before.get("files", []), FILE, self.about["results"]]))
        self.file.note(**self.about, complete=False, first=first, input=self.name, files=files)

    def keep(self, done: Iterable[Done], on_error: str) -> None:
        """Write what an engine brings; with `on_error="raise"` a failed item stops the run after what is finished."""
        bad = ""
        for batch, scored in done:
            failed = [pair for pair in zip(batch, scored.rows, strict=True) if pair[1].status == "failed"]
            if failed and on_error == "raise":
                (_, _, item), row = failed[0]
                bad = bad or f"at {item.place}: {json.loads(row.body)['reason']}"
                self.stop.set()  # what is finished by now still comes
                continue
            self.file.write(batch, scored.rows, scored.usage)
            self.scored, self.failed = self.scored + len(batch), self.failed + len(failed)
            self.bar.initial = self.file.kept  # the bar's rate and its time left speak of the work that is done now
            self.bar.update(self.file.kept + self.scored - self.bar.n)
            if self.failed:
                self.bar.set_postfix_str(f"{self.failed} failed", refresh=False)
        if bad:
            raise RunStopped(f"an item failed, and on_error='raise': {bad}; what was scored before is kept")

    def end(self, target: str) -> None:
        """Write the results, and what is to be said of the whole run."""
        if self.file.damaged:
            again = "their items were scored again"
            warnings.warn(f"{self.file.damaged} rows of {str(self.file.path)!r} were damaged; {again}", stacklevel=3)
        self.file.keep_only(self.items)
        before = self.file.info()
        totals = write_results(self.file, self.file.folder / target)
        if before.get("input_sha256", totals.input_sha256) != totals.input_sha256:
            for name in {*OUTPUTS.values()} & {*before["files"]} - {target}:  # this run's, of what the corpus was
                (self.file.folder / name).unlink(missing_ok=True)
        now: JsonDict = {"scored_now": self.scored, "kept_from_before": self.file.kept}
        now["seconds"] = round(time.perf_counter() - self.began, 3)
        self.file.note(complete=True, **totals._asdict(), **now)
        self.bar.update(self.items - self.bar.n)


def run(
    items: Corpus,
    metric: MetricOrFunction,
    *,
    out: str | Path,
    options: Mapping[str, Any] | None = None,
    columns: Columns | None = None,
    format: str | None = None,
    store: StoreOrPath = None,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    num_gpus: float = 0,
    timeout: float | None = None,
    on_error: str = "record",
    resume: bool = True,
    retry_failed: bool = False,
    batch_size: int | None = None,
    output: str = "jsonl",
    progress: bool = True,
) -> RunReport:
    """Score a corpus of any size, so that it can be killed at any moment and continued.

    Parameters
    ----------
    items : path, DataFrame, datasets.Dataset or iterable of mappings
        The corpus, as for `open_items`; it is streamed.
    metric : str, Metric or callable
        A name of `METRICS`, such as "faithfulness" (columns text, summary), "bleu" or
        "rouge" (candidate, references), "answers" (context, question, ground_truth,
        answer), "summary_score" (contexts, summary), "rating" (text, summary); a metric
        with its choices, such as `load_metric("bleu", n=2)`, or an object of yours with `columns` and
        `score_many`; or a function of a row (a dict) that returns a number, a `Score`,
        or a mapping with a "score". A column `id` names items.
    out : path
        The folder of the run: `run.sqlite`, from which it continues, and in the end
        `results.jsonl` or `results.parquet` in the order of the corpus.
    options : mapping, optional
        The metric's own options, such as `{"n": 2}`; a language model may be named, as
        in `{"judge": "llm:folder"}`.
    columns : mapping, optional
        The metric's column to the corpus' column, or to several that make a list.
    format : str, optional
        "jsonl", "csv" or "parquet", where the file's name does not tell.
    store : Store or path, optional
        Where metrics with models keep vectors and answers.
    engine : {"local", "ray"}
        Processes of this machine, or actors of a Ray cluster. The results are the same
        bytes.
    workers : int, optional
        Processes or actors; 0 works in this process (local engine). None is chosen by
        the metric: 0 for one that only counts words, such as "bleu" or "rouge", which
        scores thousands before a process has started (give a number for a large
        corpus); one per core for any other, and for one with a function of yours or a
        `timeout`. For Ray: one per core of the cluster.
    address : str, optional
        A Ray cluster, such as "10.0.0.1:6379" or "auto"; by default one is started that
        only this machine reaches.
    num_gpus : float
        GPUs of each Ray actor.
    timeout : float, optional
        Seconds for one item, after which it is recorded as failed and its worker
        replaced; by default none.
    on_error : {"record", "raise"}
        What to do with an item that fails: record it with its reason, or stop the run.
    resume : bool
        Whether to continue what the folder holds; False starts over. What is continued
        must be the same metric: a metric, function or model of yours is known by its
        `fingerprint`, a text that you declare as its attribute; without one by its
        choices and the source of its module. One that has neither, such as a lambda or
        a function of a notebook, is scored as any other, and never continued.
    retry_failed : bool
        Whether items that failed are scored again, for instance after a server was
        down.
    batch_size : int, optional
        Items that are scored and written together: what a kill can cost for each
        worker. By default 2,000 for BLEU and ROUGE, else 500. Where rows are large a
        batch ends after 16 MB.
    output : {"jsonl", "parquet"}
        What to write at the end.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    RunReport
        Counts, mean, rows on demand, and the page of the run.

    Raises
    ------
    ValueError, TypeError
        If an argument is wrong, a column is missing, or the folder holds a run with
        other settings, or one of a metric that nothing tells from another.
    RunStopped
        If the folder cannot be written, an item failed with `on_error="raise"`, or a
        cluster cannot be reached.
    RuntimeError
        If another run is working in the folder.

    Examples
    --------
    >>> import tempfile
    >>> pairs = [{"candidate": "the cat sat down", "references": "the cat sat down"}]
    >>> out = tempfile.mkdtemp()
    >>> report = run(pairs, "bleu", out=out, workers=0, progress=False)
    >>> round(report.mean(), 6), report.counts
    (100.0, {'ok': 1, 'undefined': 0, 'failed': 0})
    """
    job = Job(metric, dict(options or {}), dict(columns or {}), store)
    require_option(on_error, "on_error", ("record", "raise"))
    for name, flag in {"resume": resume, "retry_failed": retry_failed, "progress": progress}.items():
        require_flag(flag, name)
    target = OUTPUTS[require_option(output, "output", OUTPUTS)]
    size = job.batch_size if batch_size is None else require_count(batch_size, "batch_size")
    settings = make_settings(job)
    call, count = choose_engine(engine, job, workers, address, num_gpus, timeout)
    if output == "parquet":
        require_module("pyarrow.parquet", "parquet")
    require_usable(Path(out), items)
    stream, folder = open_items(items, format=format), open_folder(out)
    about = {"settings": settings, "results": target, "engine": engine, "workers": count, "num_gpus": num_gpus}
    about |= {"versions": {"python": platform.python_version(), "platform": platform.platform()}}
    about |= {"started": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
    with explained(folder), only_one(folder):
        with RunFile(folder, "rw" if resume else "new") as file:
            file.require_own(target)
            if resume:
                require_same(file, settings)
            with tqdm(disable=not progress, unit=" items", total=stream.total()) as bar:
                ours, before = _Run(file, about, stream.name, bar), _stamp(items)
                batches = ours.seen(require_columns(cut(stream, size), job), stream.total)
                missing = file.missing(batches, retry_failed=retry_failed)
                with closing(call(missing, stop=ours.stop)) as done:
                    ours.keep(done, on_error)
                if not ours.items:
                    raise ValueError(f"there are no items in {stream.name}")
                if _stamp(items) != before:
                    again = "call run again, and what has changed in it is scored"
                    raise RunStopped(f"{stream.name} was changed while it was scored; {again}")
                ours.end(target)
        return RunReport.load(folder)


def _stamp(items: object) -> object:
    """What changes with a file; None for what is none."""
    if not isinstance(items, (str, os.PathLike)):
        return None
    found = os.stat(items)
    return found.st_size, found.st_mtime_ns


# ---------------------------------------------------------------- what a run would take


class Estimate(NamedTuple):
    """An estimated sum over all rows, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        digits = 0 if self.high >= 10 or all(float(number).is_integer() for number in self) else 2
        value, low, high = (f"{number:,.{digits}f}" for number in self)
        return value if low == high else f"{value} ({low} to {high})"


NOTHING = Estimate(0.0, 0.0, 0.0)
COUNTS = {
    "questions": "questions",
    "from_store": "from_store",
    "calls": "calls",
    "prompt_tokens": "prompt_tokens",
    "generated_tokens": "generated_tokens_at_most",
}


def _estimate(alone: Sequence[float], together: float, spare: float, rows: int) -> Estimate:
    """The sum over `rows` rows, of which a sample took so much row by row and all `together`.

    The interval is that of Student for a sample without replacement. Its ends lie
    `spare` further out for the sample: what one call more or less would take.
    """
    from scipy.stats import t

    n, total = len(alone), math.fsum(alone)
    times = rows / n
    if n < 2 or rows <= n:
        return Estimate(together * times, together * times, together * times)
    deviation = math.sqrt(math.fsum((count - total / n) ** 2 for count in alone) / (n - 1))
    left_out = math.sqrt((rows - n) / (rows - 1))
    share = together / total if total else 1.0
    width = float(t.ppf(0.975, n - 1)) * deviation / math.sqrt(n) * rows * left_out * share + spare * times
    value = together * times
    return Estimate(value, max(together, value - width), value + width)


def _by_stage(alone: Sequence[Stages], together: Stages, rows: int) -> dict[str, dict[str, Estimate]]:
    """Estimates of each stage's counts."""
    stages = {}
    for stage, whole in together.items():
        sums = {
            name: math.fsum(stages_of_row.get(stage, {}).get(name, 0) for stages_of_row in alone) for name in COUNTS
        }
        shared = sums["calls"] - whole["calls"]
        stages[stage] = {
            shown: _estimate(
                [stages_of_row.get(stage, {}).get(name, 0) for stages_of_row in alone],
                whole[name],
                # where rows share calls, the last call of a batch is seldom full
                max(0.0, (sums[name] - whole[name]) / shared) if shared > 0 else 0.0,
                rows,
            )
            for name, shown in COUNTS.items()
        }
    return stages


CHAIN = (
    "A chain of questions goes on from made-up replies, so that all after its first stage depends on what the model "
    "will really say."
)


@dataclass(frozen=True)
class RunPlan:
    """What a run would do, and an estimate of what it would take.

    Parameters
    ----------
    items, scored, to_score, unreadable : int
        Items of the corpus; those that the run's folder already holds; the others;
        those of them that cannot be read.
    sample : int
        How many rows were tried, of all that are readable and to be scored.
    stages : mapping of str to mapping
        For each stage of the ledger the `Estimate` of its `questions`, of those answered
        `from_store`, of `calls`, of `prompt_tokens` and of `generated_tokens_at_most`.
        Empty without a language model.
    total : mapping of str to Estimate, or None
        The same over all stages.
    seconds : Estimate or None
        Seconds of one process without the language models: splitting, embedding,
        searching, checking by other models.
    note : str
        What a reader should know.
    """

    items: int = 0
    scored: int = 0
    to_score: int = 0
    unreadable: int = 0
    sample: int = 0
    stages: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    total: Mapping[str, Estimate] | None = None
    seconds: Estimate | None = None
    note: str = ""

    @property
    def calls(self) -> Estimate | None:
        """How many calls all stages make."""
        return None if self.total is None else self.total["calls"]

    def rows(self) -> list[JsonDict]:
        """Return one row for each count and for each estimate."""
        names = ("items", "scored", "to_score", "unreadable", "sample")
        rows: list[JsonDict] = [{"what": name, "count": str(getattr(self, name))} for name in names]
        stages = dict(self.stages)
        if self.total and len(stages) != 1:
            stages["total"] = self.total
        for stage, counts in stages.items():
            shown = {name: estimate for name, estimate in counts.items() if estimate.high or name == "calls"}
            rows += [{"what": f"{stage}: {name}", "count": str(estimate)} for name, estimate in shown.items()]
        return [*rows, {"what": "seconds without models", "count": self.seconds and str(self.seconds)}]

    def to_dict(self) -> JsonDict:
        """Return everything as plain data; an estimate has a value and its `low` and `high` end."""

        def plain(value: Any) -> Any:
            if isinstance(value, Estimate):
                return value._asdict()
            return {name: plain(part) for name, part in value.items()} if isinstance(value, Mapping) else value

        return {name: plain(value) for name, value in vars(self).items()}

    def __repr__(self) -> str:
        return text_table(self.rows()) + (f"\n{self.note}" if self.note else "")

    def _repr_html_(self) -> str:
        return html_table(self.rows(), caption="What a run would do", note=self.note)


def plan_run(
    items: Corpus,
    metric: MetricOrFunction,
    *,
    sample: int = 20,
    seed: int = 0,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    columns: Columns | None = None,
    format: str | None = None,
    store: StoreOrPath = None,
    batch_size: int | None = None,
) -> RunPlan:
    """Return what `run` would do and an estimate of what it takes, without asking a language model.

    Rows drawn by lot are scored while a `RecordingBackend` stands for each language
    model, first all together and then one by one. Their calls, tokens and seconds are
    multiplied up to all rows.

    Parameters
    ----------
    items, metric, options, columns, format, store, batch_size
        As for `run`.
    sample : int
        How many rows are tried, 2 or more; the interval is as narrow as their number
        and their likeness make it.
    seed : int
        Decides which.
    out : path, optional
        The folder of the run, whose rows are not counted again.

    Returns
    -------
    RunPlan
        Counts of items, and estimates with 95 % intervals.

    Raises
    ------
    ValueError, TypeError
        As `run` does for its arguments.

    Notes
    -----
    The interval says how far rows differ, not how far replies do. In a chain of
    questions, such as statements and then their entailment, all after the first stage
    depends on the replies, and these are made up: a sentence has as many statements as
    rules find in it, nothing is refused, nothing has to be asked again. Questions that
    rows share, such as those about one article with many summaries, are asked once in a
    run; the estimate knows of it only where two of them are in the sample. On 100
    to 300 rows of news, the interval from 20 held the calls of every metric for a
    scripted model that answers soberly. One that refuses half of the texts, draws
    the number of statements, and whose JSON is malformed in a fifth of its replies,
    took .6 to 3.2 times the estimate of a chain.

    What a store holds is counted and nothing is put into it. While a plan is made, every
    `Backend` records instead of asking, wherever your code holds it. Whatever else your
    code does with a row, such as a request without a `Backend`, or with one in a thread
    of its own, is done with the sample.

    Examples
    --------
    >>> pairs = [{"candidate": "the cat sat", "references": "a cat sat"}] * 5
    >>> plan = plan_run(pairs, "bleu")
    >>> plan.to_score, str(plan.calls)
    (5, '0')
    """
    require_count(sample, "sample", minimum=2)
    job = Job(metric, dict(options or {}), dict(columns or {}), store)
    size = job.batch_size if batch_size is None else require_count(batch_size, "batch_size")
    counts: JsonDict = dict.fromkeys(("items", "scored", "to_score", "unreadable"), 0)
    draw, drawn, readable = random.Random(seed), list[JsonDict](), 0
    with ExitStack() as stack:
        file: RunFile | None = None
        if out is not None and (Path(out) / FILE).exists():
            stack.enter_context(explained(Path(out), reading=True))
            file = stack.enter_context(RunFile(Path(out), "ro"))
            require_same(file, make_settings(job))
        for batch in require_columns(cut(open_items(items, format=format), size), job):
            known = file.known(batch) if file else set()
            counts["items"] += len(batch)
            for entry in batch:
                if entry.place in known:
                    counts["scored"] += 1
                    continue
                counts["to_score"] += 1
                row, problem = job.read(entry.item)
                readable += not problem
                if problem:
                    counts["unreadable"] += 1
                elif len(drawn) < sample:
                    drawn.append(row)
                elif (place := draw.randrange(readable)) < sample:
                    drawn[place] = row
    return RunPlan(**counts, **_rehearsed(job, drawn, readable))


class _ReadOnly:
    """A store that gives what it holds and takes nothing: made-up replies are never kept."""

    def __init__(self, inner: Store):
        self.get_many = inner.get_many

    def put_many(self, kind: str, values: Mapping[str, object]) -> int:
        """Keep nothing."""
        return 0


@contextmanager
def _rehearsal(job: Job) -> Iterator[tuple[Callable[[Sequence[JsonDict]], Any], Collection[RecordingBackend]]]:
    """Yield what scores rows while every language model records, and what stood for the models.

    It returns what the rows took by stage, the seconds, and the outcomes.
    """
    from summeval_nb.models.base import STAND_IN, Usage
    from summeval_nb.models.local import load_model
    from summeval_nb.models.store import Store
    from summeval_nb.runs.costs import Ledger, RecordingBackend

    known: dict[int, RecordingBackend] = {}
    usage = Usage()  # all of them count together

    def stand_in(backend: Backend) -> Backend:
        if isinstance(backend, RecordingBackend) and not backend.name:
            return backend
        if id(backend) not in known:
            made = backend if isinstance(backend, RecordingBackend) else RecordingBackend(backend.name, backend)
            made.usage = usage
            known[id(backend)] = made
        return known[id(backend)]

    path = job.store if job.store and Path(job.store).is_file() else None
    token = STAND_IN.set(stand_in)
    try:  # a store's answers are found by the model's fingerprint, for which it is loaded
        load, store = (load_model, _ReadOnly(Store(path))) if path else (RecordingBackend, None)
        scorer = Scorer(replace(job, store=None), load, store)
        ledger, all_others = scorer.ledger or Ledger(), RecordingBackend("")
        all_others.usage = usage

        def took(rows: Sequence[JsonDict]) -> tuple[Stages, float, list[Outcome]]:
            ledger.take()
            started = time.perf_counter()
            try:
                with ledger.stage("metric", [all_others]):
                    outcomes = scorer.outcomes(rows)
            except Exception as error:
                outcomes = [Outcome(None, "failed", f"{type(error).__name__}: {error}")] * len(rows)
            spent = time.perf_counter() - started
            stages = {n: counts for n, counts in ledger.take().items() if counts["questions"] or counts["calls"]}
            return stages, spent, outcomes

        yield took, known.values()
    finally:
        STAND_IN.reset(token)


def _rehearsed(job: Job, drawn: Sequence[JsonDict], rows: int) -> JsonDict:
    """The fields of a plan that a sample of rows tells."""
    if not drawn:
        return {"total": dict.fromkeys(COUNTS.values(), NOTHING), "seconds": NOTHING}
    with _rehearsal(job) as (took, models):
        took(drawn[:1])  # what is loaded first belongs to no row
        together, seconds, _ = took(drawn)
        alone = [took([row]) for row in drawn]
    sums = [_sum_of(stages) for stages, _, _ in alone]
    stages = _by_stage([stages for stages, _, _ in alone], together, rows)
    failed = [outcome.reason for *_, outcomes in alone for outcome in outcomes if outcome.status == "failed"]
    notes = [f"Estimated from {len(drawn)} of {rows} rows, with 95 % intervals; no model was asked."]
    if len(drawn) == rows:
        notes = [f"All {rows} rows were tried; no model was asked."]
    if stages:
        estimated = any(model.estimates for model in models)
        how = "estimated at 4 bytes each" if estimated else "counted by the model's own tokenizer"
        notes += [f"Prompt tokens are {how}.", *([CHAIN] if len(stages) > 1 else [])]
    if failed:
        notes.append(f"{len(failed)} of the sampled rows had no score, which may leave calls out: {failed[0]}")
    return {
        "sample": len(drawn),
        "stages": stages,
        "total": _by_stage(sums, _sum_of(together), rows)["total"],
        "seconds": _estimate([spent for _, spent, _ in alone], seconds, 0.0, rows),
        "note": " ".join(notes),
    }


def _sum_of(stages: Stages) -> Stages:
    from summeval_nb.runs.costs import Ledger

    return {"total": Ledger(stages).total()}
