"""Runs over whole corpora that survive kills, crashes and full disks, on one machine or on a cluster."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

from summeval_nb.core.base import JsonDict, require_count, require_module
from summeval_nb.core.items import Shard, make_shards, open_items
from summeval_nb.runs.engines import choose_engine
from summeval_nb.runs.folder import only_one, require_usable, write_whole
from summeval_nb.runs.jobs import Columns, Job, Line, MetricOrFunction, Scored
from summeval_nb.runs.manifest import (
    STATES,
    Corpus,
    Manifest,
    Total,
    explained,
    is_as_written,
    make_settings,
    note_damage,
    open_folder,
    require_choices,
    require_columns,
    require_same_corpus,
    require_same_settings,
    shard_head,
    warn_if_unknown,
    write_results,
)
from summeval_nb.runs.run_report import RunReport

if TYPE_CHECKING:
    from summeval_nb.models.load import StoreOrPath

__all__ = ["write_shard", "read_shard", "finished_head", "Course", "merge_shards", "run"]


def write_shard(folder: Path, shard: Shard, lines: Sequence[Line], settings: str = "") -> JsonDict:
    """Write a shard's results as a file named by number and digest; return its head,
    in which `settings` marks what decided them."""
    body = b"".join(line.text + b"\n" for line in lines)
    head = shard_head(shard, lines, body, settings)
    name = folder / f"{shard.name}.jsonl"
    write_whole(name, [json.dumps(head).encode() + b"\n", body])
    return head


def read_shard(path: Path) -> tuple[JsonDict, bytes]:
    """Return the head of a shard's file and its lines; damage is a `ValueError`."""
    first, _, body = path.read_bytes().partition(b"\n")
    try:
        head = json.loads(first)
        whole = is_as_written(path, head, body)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        remedy = "call run again, and its items are scored anew"
        raise ValueError(f"the shard {path} is damaged; {remedy}")
    return head, body


def finished_head(folder: Path, shard: Shard, damaged: list[str] | None = None) -> JsonDict | None:
    """Return the head of a shard that is there and whole, else None."""
    path = folder / f"{shard.name}.jsonl"
    try:
        head, _ = read_shard(path)
    except FileNotFoundError:
        return None
    except (ValueError, OSError):
        if damaged is not None:
            note_damage(path, shard, damaged)
        return None
    return head if head["digest"] == shard.digest else None


class Course(Manifest):
    """Which shards are still to be scored, and what has come of the others."""

    def unfinished(self, shards: Iterable[Shard]) -> Iterator[Shard]:
        """Yield the shards that have no result yet."""
        for shard in shards:
            self.see(shard)
            head = finished_head(self.folder / "shards", shard, self.damaged)
            ours = head is not None and self.is_of_these_settings(head)
            if head is None or not ours or (self.retry_failed and head["failed"]):
                self.begin()  # before the first of them the folder becomes this run's
                yield shard
            else:
                self.count(head, before=True)

    def keep(self, shard: Shard, scored: Scored) -> None:
        """Write what a shard cost, then its result, and count."""
        self.note_usage(shard, scored.usage)
        folder = self.folder / "shards"
        self.count(write_shard(folder, shard, scored.lines, self.mark))


def merge_shards(folder: Path, names: Sequence[str], target: Path) -> Total:
    """Write the lines of all shards in order as one file, and return the counts."""
    heads: list[JsonDict] = []

    def bodies() -> Iterator[bytes]:
        for name in names:
            head, body = read_shard(folder / f"{name}.jsonl")
            heads.append({key: head[key] for key in (*STATES, "sum")})
            yield body

    write_results(bodies(), target)
    counts = {name: sum(head[name] for head in heads) for name in STATES}
    total = math.fsum(head["sum"] for head in heads)
    mean = total / counts["ok"] if counts["ok"] else None
    return Total(counts, mean, sum(counts.values()))


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
    recover: bool = False,
    shard_size: int | None = None,
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
        The folder of the run: `results.jsonl` or `results.parquet` in the order of the
        corpus, `manifest.json`, and `shards/`, from which it continues.
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
        Whether shards with failed items are scored again, for instance after a server
        was down.
    recover : bool
        Whether to go on in a folder whose manifest was lost, cut or zeroed: it is
        written anew, and a shard is kept if its own checksums say that it is whole and
        of these items, this metric and these choices. All others are scored again.
    shard_size : int, optional
        Items in a shard: what a kill can cost for each worker. By default 2,000 for
        BLEU and ROUGE, else 500. Where rows are large a shard ends after 16 MB.
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
    flags = {"resume": resume, "retry_failed": retry_failed, "progress": progress}
    target = require_choices(on_error, output, recover=recover, **flags)
    if shard_size is None:
        shard_size = job.shard_size
    settings = make_settings(job, require_count(shard_size, "shard_size"))
    warn_if_unknown(settings)
    call, start = choose_engine(engine, job, workers, address, num_gpus, timeout)
    if output == "parquet":
        require_module("pyarrow.parquet", "parquet")
    require_usable(Path(out), target, items, recover=recover)
    stream, folder = open_items(items, format=format), open_folder(out)
    with only_one(folder), explained(folder), tqdm(total=stream.total(), disable=not progress, unit=" items") as bar:
        lost = require_usable(folder, target, recover=recover)
        if resume and not lost:
            require_same_settings(folder, settings)
        start, how = start | {"files": [target]}, (resume, retry_failed, lost)
        course = Course(folder, settings, start, stream, bar, *how)
        began = time.perf_counter()
        shards = require_columns(make_shards(stream, shard_size), job)
        if resume:
            shards = require_same_corpus(shards, job, folder, lost)
        with closing(call(course.unfinished(shards), stop=course.stop)) as done:
            course.consume(done, on_error)
        course.tidy(target)
        total = merge_shards(folder / "shards", course.names, folder / target)
        found = total.items, total.counts, total.mean
        course.complete(*found, target, time.perf_counter() - began)
        return RunReport.load(folder)
