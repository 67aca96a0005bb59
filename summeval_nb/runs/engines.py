"""The engines of a run: batches go to processes of this machine or to a Ray cluster, and come back in any order.

An engine is a generator: batches in, pairs of a batch and its rows out. Whatever ends the loop, the processes end too.
"""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

from summeval_nb.core.base import require_count, require_module, require_option
from summeval_nb.core.items import Item, read_item
from summeval_nb.core.results import Outcome
from summeval_nb.runs.file import Batch, Row
from summeval_nb.runs.jobs import Job, Scored, Scorer, make_row
from summeval_nb.runs.workers import RunStopped, Worker, WorkerDied, pack, try_together

if TYPE_CHECKING:
    from summeval_nb.runs.costs import Stages

Done: TypeAlias = tuple[Batch, Scored]


def make_scorer(job: Job) -> Callable[[Sequence[Item]], Scored]:
    """Return what a worker does: items to rows and a ledger."""
    return Scorer(job).score


@dataclass
class Patience:
    """How long to wait for a worker: a time-out for one item, and twice what as many items took the last time."""

    timeout: float | None = None
    per_item: float = 0.0

    def ask(self, worker: Worker[Scored], items: Sequence[Item]) -> Scored:
        """Return what the worker finds, or raise `WorkerTimeout`."""
        if self.timeout is None:
            return worker.ask(items)
        worker.make_ready()
        start = time.perf_counter()
        more = 2 * self.per_item * len(items) if len(items) > 1 else 0
        found = worker.ask(items, seconds=self.timeout + more)
        self.per_item = (time.perf_counter() - start) / len(items)
        return found


def score_batch(worker: Worker[Scored], items: Sequence[Item], patience: Patience) -> Scored:
    """Return one row per item. A batch that ends its process is tried again in a fresh one, then row by row."""
    usages: list[Stages] = []

    def score(some: Sequence[Item]) -> list[Row]:
        found = patience.ask(worker, some)
        usages.append(found.usage)
        return found.rows

    try:
        rows: Sequence[Row | Exception] = score(items)
    except WorkerDied:  # which may have been an accident
        rows = try_together(items, score, WorkerDied)
    kept = []
    for item, row in zip(items, rows, strict=True):
        if isinstance(row, Exception):  # a WorkerDied
            row = make_row(read_item(item, {}, {})[0], Outcome(None, "failed", str(row)))
        kept.append(row)
    return Scored(kept, _sum_of(usages))


def _sum_of(usages: Sequence[Stages]) -> Stages:
    """What several attempts at a batch used, by stage."""
    if not any(usages):
        return {}
    from summeval_nb.runs.costs import Ledger

    ledger = Ledger()
    for usage in usages:
        ledger.merge(usage)
    return ledger.to_dict()


@contextmanager
def sendable(job: Job) -> Iterator[None]:
    """Say what to do with a model that lives in this process."""
    try:
        yield
    except TypeError as error:
        from summeval_nb.runs.costs import find_backends

        if not find_backends(job.options):
            raise
        remedy = "name the model, as in {'checker': 'llm:FOLDER'}, so that each worker loads it, or use workers=0"
        raise TypeError(f"a model of this process cannot be sent to another: {remedy}") from error


def run_local(
    batches: Iterable[Batch], job: Job, workers: int, timeout: float | None, stop: threading.Event
) -> Generator[Done, None, None]:
    """Score batches in `workers` processes, or, for 0, in this one, whose crash stops the run.

    Once `stop` is set, or something is wrong, only what is finished already is still yielded.
    """
    if workers == 0:
        scorer = Scorer(job)
        for batch in batches:
            yield batch, scorer.score([entry.item for entry in batch])
            if stop.is_set():
                return
        return
    with sendable(job):
        crew = [Worker(partial(make_scorer, job), max(1, available_cores() // workers)) for _ in range(workers)]
    # Queues written in C, and threads that nobody waits for: Ctrl-C ends every wait here, and leaves no lock taken.
    to_do, done = SimpleQueue[Batch | None](), SimpleQueue[tuple[Batch, Scored | BaseException]]()

    def serve(worker: Worker[Scored]) -> None:
        patience = Patience(timeout)
        while (batch := to_do.get()) is not None:
            try:
                found: Scored | BaseException = score_batch(worker, [entry.item for entry in batch], patience)
            except BaseException as error:
                found = error
            done.put((batch, found))

    source, under_way, more = iter(batches), 0, True
    problem: BaseException | None = None
    try:
        for worker in crew:
            threading.Thread(target=serve, args=(worker,), daemon=True).start()
        while under_way or (more and not problem):
            while more and not problem and not stop.is_set() and under_way < 2 * workers:
                try:
                    to_do.put(next(source))
                    under_way += 1
                except StopIteration:
                    more = False
                except Exception as error:  # the corpus cannot be read further: what is under way is awaited
                    problem = error
            if not under_way:
                break
            try:
                batch, found = done.get(block=not stop.is_set())
            except Empty:
                break
            under_way -= 1
            if isinstance(found, BaseException):
                problem = problem or found
                stop.set()
            else:
                yield batch, found
    finally:
        for worker in crew:
            worker.close()
            to_do.put(None)
    if problem:
        raise problem


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---------------------------------------------------------------- Ray
#
# Ray takes `_node_ip_address="127.0.0.1"` for a mistake and listens on all interfaces. Where it believes that there are
# no clusters, as on Windows and macOS, it uses 127.0.0.1 throughout. A variable of its environment makes it believe so.

VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


@contextmanager
def on_loopback(ray: Any) -> Iterator[None]:
    """What Ray starts in here listens on 127.0.0.1 alone, unless the user's environment asks for a cluster."""
    if os.environ.get(VARIABLE):
        yield
        return
    constants = getattr(getattr(ray, "_private", None), "ray_constants", SimpleNamespace())
    before = getattr(constants, "ENABLE_RAY_CLUSTER", True)  # Ray has read the variable when it was imported
    os.environ[VARIABLE], constants.ENABLE_RAY_CLUSTER = "0", False  # for its processes, and for this one
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before
        del os.environ[VARIABLE]


class _RayScorer:
    """An actor: scores batches in a process of its own that may die; Ray restarts a crashing actor for ever."""

    def __init__(self, packed: bytes, version: str, timeout: float | None = None):
        self._packed, self._version, self._patience = packed, version, Patience(timeout)
        self._worker: Worker[Scored] | None = None

    def ready(self) -> None:
        """Nothing: to ask for it is to wait for the actor."""

    def score(self, items: list[Item]) -> Scored | Exception:
        """The rows of a batch, or why this actor is of no use."""
        from summeval_nb import __version__

        try:
            if self._version != __version__:
                told = f"the cluster has summeval_nb {__version__}, this machine {self._version}: update one"
                raise ImportError(told)
            self._worker = self._worker or Worker(pickle.loads(self._packed))
            return score_batch(self._worker, items, self._patience)
        except (ValueError, TypeError, ImportError, RuntimeError) as error:
            return error


def require_reachable(address: str, seconds: float = 10) -> None:
    """Raise a `RunStopped` with a remedy if nobody answers at a cluster's address "host:port"."""
    if address.startswith("ray://"):
        remedy = "start the run on a machine of the cluster with address='auto', or hand it in with 'ray job submit'"
        raise ValueError(f"{address!r} is an address for Ray Client, over which no run goes: {remedy}")
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"address must be 'auto' or 'host:port', not {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=seconds).close()
    except OSError as error:
        remedy = "start one with 'ray start --head --port=6379', and check the address and the firewall"
        raise RunStopped(f"no Ray cluster answers at {address} ({error.strerror or error}); {remedy}") from None


def require_answering(address: str, seconds: float = 60) -> None:
    """Raise a `RunStopped` if a process cannot join the cluster in time; Ray itself waits where no Ctrl-C reaches."""
    code = "import ray, sys; ray.init(sys.argv[1], logging_level='ERROR', log_to_driver=False)"
    command = [sys.executable, "-c", code, address]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        remedy = "check that it is the head's port, its RAY_AUTH_TOKEN, and that it runs the same Ray version"
        raise RunStopped(f"the Ray cluster at {address} did not answer within {seconds:g} s; {remedy}") from None
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RunStopped(f"cannot join the Ray cluster at {address}: {reason}")


@contextmanager
def cluster(address: str | None, actors: int) -> Iterator[Any]:
    """A connection to a Ray cluster: the one in use, the one at the address, or one of our own for this run."""
    ray = require_module("ray", "ray")
    if ray.is_initialized():
        yield ray
        return
    if address and address != "auto":
        require_reachable(address)
    if address:
        require_answering(address)
    own: Mapping[str, Any] = {"num_cpus": actors or available_cores(), "include_dashboard": False}
    try:
        with nullcontext() if address else on_loopback(ray):
            ray.init(address or "local", logging_level="ERROR", log_to_driver=False, **({} if address else own))
    except Exception as error:  # a busy machine on which Ray's own time-outs end: RuntimeError, OSError, Exception
        remedy = "try again when the machine is less busy, or use engine='local'"
        raise RunStopped(f"Ray could not be started: {' '.join(str(error).split())[:300]}; {remedy}") from error
    try:
        listens = str(ray.util.get_node_ip_address())
        if not address and not listens.startswith("127.") and listens != "::1":
            warnings.warn(f"the Ray of this run listens on {listens}, where other machines reach it", stacklevel=2)
        yield ray
    finally:
        ray.shutdown()


_LOST = 4  # times that a batch may be lost with its actor


def run_ray(
    batches: Iterable[Batch],
    job: Job,
    actors: int,
    stop: threading.Event,
    *,
    address: str | None = None,
    num_gpus: float = 0,
    timeout: float | None = None,
) -> Generator[Done, None, None]:
    """Score batches with `actors` Ray actors of `num_gpus` GPUs each; 0 actors: one per core of the cluster.

    The driver hands out batches and takes back rows. What is lost with an actor or its machine goes to another one.
    """
    from summeval_nb import __version__

    source = iter(batches)
    first = next(source, None)
    if first is None:
        return
    with sendable(job):
        packed = pack(partial(make_scorer, job))
    with cluster(address, actors) as ray:
        if num_gpus > (known := ray.cluster_resources().get("GPU", 0)):
            raise RunStopped(f"the Ray cluster has {known:g} GPUs, fewer than the {num_gpus:g} of one actor")
        kind = ray.remote(num_cpus=1, num_gpus=num_gpus or None)(_RayScorer)
        under_way: dict[Any, tuple[Any, Batch | None]] = {}  # a batch, or none while an actor starts
        waiting, losses = [first], dict[int, int]()
        problem: BaseException | None = None

        def hire() -> None:
            actor = kind.remote(packed, __version__, timeout)
            under_way[actor.ready.remote()] = actor, None

        for _ in range(actors or max(1, int(ray.cluster_resources().get("CPU", 1)))):
            hire()
        try:
            while under_way and ((waiting and not problem) or any(batch for _, batch in under_way.values())):
                over = problem is not None or stop.is_set()
                done, _ = ray.wait(list(under_way), timeout=0 if over else 1)  # short, for Ctrl-C
                if over and not done:
                    break
                for ref in done:
                    actor, batch = under_way.pop(ref)
                    try:
                        found = ray.get(ref)
                    except ray.exceptions.RayError as error:  # the actor, its machine, or its answer is lost
                        place = batch[0].place if batch else -1
                        losses[place] = losses.get(place, 0) + 1
                        if losses[place] > _LOST * (1 if batch else 25):
                            raise RunStopped(f"Ray lost its actors again and again: {error}") from error
                        waiting += [batch] if batch else []
                        hire()
                        continue
                    if isinstance(found, Exception):
                        problem = problem or found
                    elif batch is not None:
                        yield batch, found
                    if problem or stop.is_set():
                        continue
                    following = waiting.pop() if waiting else next(source, None)
                    if following is not None:
                        items = [entry.item for entry in following]
                        under_way[actor.score.remote(items)] = actor, following
        finally:
            for actor, _ in under_way.values():
                with suppress(Exception):
                    ray.kill(actor)
    if problem is not None:
        raise problem


# ---------------------------------------------------------------- the engine of a run

_MOST_WORKERS = 1000


def choose_engine(
    engine: str, job: Job, workers: int | None, address: str | None, num_gpus: float, timeout: float | None
) -> tuple[Callable[..., Generator[Done, None, None]], int | str]:
    """Return the engine as a function of batches and of the event that stops it, and how many workers it has."""
    if timeout is not None and not (isinstance(timeout, (int, float)) and 0 < timeout <= 1e7):
        raise ValueError(f"timeout must be more than 0 seconds, at most 10,000,000, or None, not {timeout!r}")
    if require_option(engine, "engine", ("local", "ray")) == "ray":
        actors = 0 if workers is None else require_count(workers, "workers")
        call = partial(run_ray, job=job, actors=actors, address=address, num_gpus=num_gpus, timeout=timeout)
        return call, actors or "one per core"
    if address is not None or num_gpus:
        raise ValueError("address and num_gpus belong to engine='ray'")
    chosen = 0 if job.in_this_process and timeout is None else available_cores()
    count = chosen if workers is None else require_count(workers, "workers", minimum=0)
    if count > _MOST_WORKERS:
        most = f"at most {_MOST_WORKERS:,}, each is a process of this machine"
        raise ValueError(f"workers must be {most}, not {count}")
    if timeout is not None and not count:
        raise ValueError("timeout needs a worker process to end: workers must be at least 1")
    return partial(run_local, job=job, workers=count, timeout=timeout), count
