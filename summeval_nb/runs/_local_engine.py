# A plain private module: edited here, exported by no notebook, tested in tests/test_batch.py.
"""The engine of one machine: shards go to worker processes that may die, and come back in any order.

An engine is a generator: shards in, pairs of shard and lines out. Whatever ends the loop, the processes end too.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from summeval_nb.ground.items import Item, Shard
from summeval_nb.ground.results import Outcome
from summeval_nb.runs._interrupts import Interrupts
from summeval_nb.runs.costs import Ledger, find_backends
from summeval_nb.runs.jobs import Job, Line, Scored, Scorer, make_line, read_row
from summeval_nb.runs.workers import Worker, WorkerDied, try_together

Done = tuple[Shard, Scored]


def make_scorer(job: Job) -> Callable[[int, Sequence[Item]], Scored]:
    """Return what a worker does: (position of the first item, items) to lines and a ledger."""
    return Scorer(job).score


@dataclass
class Patience:
    """How long to wait for a worker: a time-out for one item, and twice what as many items took the last time."""

    timeout: float | None
    per_item: float = 0.0

    def ask(self, worker: Worker[Scored], first: int, items: Sequence[Item]) -> Scored:
        """Return what the worker finds, or raise `WorkerTimeout`."""
        if self.timeout is None:
            return worker.ask(first, items)
        worker.make_ready()
        start = time.perf_counter()
        more = 2 * self.per_item * len(items) if len(items) > 1 else 0
        found = worker.ask(first, items, seconds=self.timeout + more)
        self.per_item = (time.perf_counter() - start) / len(items)
        return found


def score_shard(worker: Worker[Scored], shard: Shard, patience: Patience | None = None) -> Scored:
    """Return one line per item of a shard; an item that kills its process, alone in a fresh one, is failed."""
    # Tried once more before anybody is accused: a first death may have been an accident.
    numbered = list(zip(itertools.count(shard.first), shard.items, strict=False))
    ledger, wait_for = Ledger(), patience or Patience(None)

    def score(some: Sequence[tuple[int, Item]]) -> list[Line]:
        whole = len(some) == len(numbered)
        found = wait_for.ask(worker, shard.first if whole else 0, [item for _, item in some])
        ledger.merge(found.usage)
        if whole:
            return found.lines
        return [_renumbered(line, number) for line, (number, _) in zip(found.lines, some, strict=True)]

    with suppress(WorkerDied):
        return Scored(score(numbered), ledger.to_dict())
    lines = []
    for (number, item), found in zip(numbered, try_together(numbered, score, WorkerDied), strict=True):
        if isinstance(found, Exception):  # a WorkerDied
            row, _ = read_row(item, {}, {})
            found = make_line(number, item, row, Outcome(None, "failed", str(found)))
        lines.append(found)
    return Scored(lines, ledger.to_dict())


def _renumbered(line: Line, number: int) -> Line:
    _, tail = line.text.split(b",", 1)
    return line._replace(text=b'{"item": %d,' % number + tail)


@contextmanager
def sendable(job: Job) -> Iterator[None]:
    """Say what to do with a model that lives in this process."""
    try:
        yield
    except TypeError as error:
        if not find_backends(job.options):
            raise
        remedy = "name the model, as in {'checker': 'llm:FOLDER'}, so that each worker loads it, or use workers=0"
        raise TypeError(f"a model of this process cannot be sent to another: {remedy}") from error


def in_flight(
    shards: Iterable[Shard],
    submit: Callable[[Shard], Future[Done]],
    limit: int,
    stop: threading.Event,
    interrupts: Interrupts | None = None,
) -> Iterator[Done]:
    """Keep at most `limit` shards under way and yield each that is done; what stops this comes after the last."""
    interrupts = interrupts or Interrupts()
    source, under_way, more = iter(shards), list[Future[Done]](), True
    problem: BaseException | None = None
    while more or under_way:
        try:
            while more and len(under_way) < limit:
                shard = next(source, None)
                more = shard is not None
                with interrupts.kept_back():
                    under_way += [_woken_by(submit(shard), interrupts)] if shard is not None else []
            if under_way and not interrupts.pressed:
                interrupts.wait()
        except KeyboardInterrupt as error:
            problem = error
            stop.set()
        except Exception as error:  # the corpus cannot be read further: what is under way is awaited
            problem, more = error, False
        with interrupts.kept_back():
            finished = [one for one in under_way if one.done()]
            under_way = [one for one in under_way if one not in finished]
            failures = [found for one in finished if (found := one.exception()) is not None]
            results = [one.result() for one in finished if one.exception() is None]
        yield from results
        if failures or interrupts.pressed:
            problem = problem or (KeyboardInterrupt() if interrupts.pressed else failures[0])
            stop.set()
        if stop.is_set():
            more, under_way = False, [one for one in under_way if one.done()]
    if problem is not None:
        raise problem


def _woken_by(future: Future[Done], interrupts: Interrupts) -> Future[Done]:
    future.add_done_callback(lambda _: interrupts.wake())
    return future


def run_local(
    shards: Iterable[Shard],
    job: Job,
    workers: int,
    timeout: float | None = None,
    stop: threading.Event | None = None,
) -> Generator[Done, None, None]:
    """Score shards in `workers` processes, or, for 0, in this one (for debugging: it does not survive a crash).

    Once `stop` is set, only shards that are finished already are still yielded.
    """
    stop = stop or threading.Event()
    if workers == 0:
        scorer = Scorer(job)
        for shard in shards:
            yield shard, scorer.score(shard.first, shard.items)
            if stop.is_set():
                return
        return
    threads = max(1, available_cores() // workers)
    with sendable(job):
        crew = [Worker(partial(make_scorer, job), threads) for _ in range(workers)]
    free = [(worker, Patience(timeout)) for worker in crew]

    def score(shard: Shard) -> Done:
        worker, patience = free.pop()
        try:
            return shard, score_shard(worker, shard, patience)
        finally:
            free.append((worker, patience))

    with Interrupts() as interrupts, ThreadPoolExecutor(workers) as pool:
        try:
            yield from in_flight(shards, lambda shard: pool.submit(score, shard), 2 * workers, stop, interrupts)
        finally:
            with interrupts.kept_back():
                pool.shutdown(wait=False, cancel_futures=True)
                for worker in crew:
                    worker.close()


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
