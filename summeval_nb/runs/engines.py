"""The engines of a run: shards go to processes of this machine or to a Ray cluster, and come back in any order."""

from __future__ import annotations

import itertools
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from types import FrameType, SimpleNamespace, TracebackType
from typing import TYPE_CHECKING, Any

from summeval_nb.core.base import JsonDict, require_count, require_module, require_option
from summeval_nb.core.items import Item, Shard
from summeval_nb.core.results import Outcome
from summeval_nb.runs.jobs import Job, Line, Scored, Scorer, make_line, read_row
from summeval_nb.runs.workers import RunStopped, Worker, WorkerDied, pack, try_together

if TYPE_CHECKING:
    from summeval_nb.runs.costs import Stages

# Ctrl-C while threads are at work: heeded once, lost never, and not in the middle of a lock.
#
# Python raises KeyboardInterrupt between any two steps of the main thread. Two places bear that badly: inside the
# locks of `threading` and `concurrent.futures` (a lock stays taken, and the thread that needs it waits for ever), and
# inside a callback of the garbage collector (where an exception is printed and forgotten).


class Interrupts:
    """While this is entered, Ctrl-C is remembered, ends `wait`, and raises nothing inside `kept_back`.

    Outside the main thread, and where Ctrl-C has no handler of Python's, nothing is changed.
    """

    def __init__(self) -> None:
        self.pressed = False
        self._awake: SimpleQueue[None] = SimpleQueue()  # written in C: safe in a signal handler
        self._kept_back = False
        self._missed: list[FrameType | None] = []

    def __enter__(self) -> Interrupts:
        """Take the place of the handler that is there."""
        self._before = signal.getsignal(signal.SIGINT)
        self._heeds = callable(self._before) and threading.current_thread() is threading.main_thread()
        if self._heeds:
            signal.signal(signal.SIGINT, self._heed)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Give the handler its place back; raise what nothing else has raised."""
        if self._heeds and signal.getsignal(signal.SIGINT) == self._heed:
            signal.signal(signal.SIGINT, self._before)
        if kind is None and self.pressed:
            raise KeyboardInterrupt

    def _heed(self, number: int, frame: FrameType | None) -> None:
        if self._kept_back:
            self._missed.append(frame)
            return
        assert callable(self._before)
        try:
            self._before(number, frame)
        except KeyboardInterrupt:
            self.pressed = True
            self.wake()
            raise

    @contextmanager
    def kept_back(self) -> Iterator[None]:
        """Nothing is raised in here; whether Ctrl-C was pressed stands in `pressed` at the end."""
        self._kept_back = True
        try:
            yield
        finally:
            self._kept_back = False
            if self._missed:
                frame = self._missed.pop()
                self._missed.clear()
                with suppress(KeyboardInterrupt):
                    self._heed(signal.SIGINT, frame)

    def wake(self) -> None:
        """End a `wait`, this one or the next; from any thread."""
        self._awake.put(None)

    def wait(self) -> None:
        """Wait until `wake` is called, or raise KeyboardInterrupt."""
        self._awake.get()


# The engine of one machine: shards go to worker processes that may die, and come back in any order.
#
# An engine is a generator: shards in, pairs of shard and lines out. Whatever ends the loop, the processes end too.

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
    usages: list[Stages] = []
    wait_for = patience or Patience(None)

    def score(some: Sequence[tuple[int, Item]]) -> list[Line]:
        whole = len(some) == len(numbered)
        found = wait_for.ask(worker, shard.first if whole else 0, [item for _, item in some])
        usages.append(found.usage)
        if whole:
            return found.lines
        return [_renumbered(line, number) for line, (number, _) in zip(found.lines, some, strict=True)]

    with suppress(WorkerDied):
        return Scored(score(numbered), _sum_of(usages))
    lines = []
    for (number, item), found in zip(numbered, try_together(numbered, score, WorkerDied), strict=True):
        if isinstance(found, Exception):  # a WorkerDied
            row, _ = read_row(item, {}, {})
            found = make_line(number, item, row, Outcome(None, "failed", str(found)))
        lines.append(found)
    return Scored(lines, _sum_of(usages))


def _sum_of(usages: Sequence[Stages]) -> Stages:
    """What several attempts at a shard used, by stage."""
    if not any(usages):
        return {}
    from summeval_nb.runs.costs import Ledger

    ledger = Ledger()
    for usage in usages:
        ledger.merge(usage)
    return ledger.to_dict()


def _renumbered(line: Line, number: int) -> Line:
    _, tail = line.text.split(b",", 1)
    return line._replace(text=b'{"item": %d,' % number + tail)


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
            finished = [future for future in under_way if future.done()]
            under_way = [future for future in under_way if future not in finished]
            failures = [found for future in finished if (found := future.exception()) is not None]
            results = [future.result() for future in finished if future.exception() is None]
        yield from results
        if failures or interrupts.pressed:
            problem = problem or (KeyboardInterrupt() if interrupts.pressed else failures[0])
            stop.set()
        if stop.is_set():
            more, under_way = False, [future for future in under_way if future.done()]
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
    """Score shards in `workers` processes, or, for 0, in this one, whose crash stops the run.

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


# A Ray of our own that listens on this machine's loopback address and nowhere else.
#
# Ray takes `_node_ip_address="127.0.0.1"` and `ray start --node-ip-address=127.0.0.1` for a mistake and puts the
# address of the network card in their place; its servers then listen on all interfaces. Where it believes that there
# are no clusters, as on Windows and macOS, it uses 127.0.0.1 throughout. A variable of its environment makes it
# believe so.

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


def open_address(ray: Any) -> str | None:
    """Return the address at which other machines reach the Ray in use, None if it is the loopback address."""
    address = str(ray.util.get_node_ip_address())
    return None if address.startswith("127.") or address == "::1" else address


# The engine of a cluster: Ray moves shards between machines, and results come back to the one that writes them.
#
# Ray would restart a crashing actor and give it the same shard again, for ever; so each actor keeps its metric in a
# `Worker` too. Ray waits long, and inside C++ code that even Ctrl-C does not reach; so an address is tried first, and
# then a short-lived process tries to join. Shards go to Ray in windows: within one the waiting shards are in Ray's
# object store, on disk when that is full, and an actor's model is loaded once.

_WINDOW = 400


class _Halt:
    """An actor without a core: tells the scorers that one of them refused, or that the run stops."""

    def __init__(self) -> None:
        self._called = False

    def call(self) -> None:
        self._called = True

    def called(self) -> bool:
        return self._called


class _RayScorer:
    """An actor: scores shards that arrive as rows of a table, in a process of its own that may die."""

    def __init__(
        self,
        packed: bytes,
        version: str,
        timeout: float | None = None,
        halt: Any = None,
    ):
        self._packed, self._version, self._patience, self._halt = (
            packed,
            version,
            Patience(timeout),
            halt,
        )
        self._worker: Worker[Scored] | None = None

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {
            "number": batch["number"],
            "answer": [self._score(data) for data in batch["data"]],
        }

    def _ask(self, what: str) -> Any:
        ray = require_module("ray", "ray")
        return self._halt is not None and ray.get(getattr(self._halt, what).remote())

    def _score(self, data: bytes) -> bytes:
        from summeval_nb import __version__

        if self._ask("called"):
            return pickle.dumps(None)
        try:
            if self._version != __version__:
                raise ImportError(
                    f"the cluster has summeval_nb {__version__}, this machine {self._version}: update one"
                )
            self._worker = self._worker or Worker(pickle.loads(self._packed))
            return pickle.dumps(score_shard(self._worker, pickle.loads(data), self._patience))
        except (ValueError, TypeError, ImportError, RuntimeError) as error:
            self._ask("call")
            return pickle.dumps(error)


def _start_ray(ray: Any, address: str | None, own: Mapping[str, Any]) -> None:
    try:
        with nullcontext() if address else on_loopback(ray):
            ray.init(address or "local", logging_level="ERROR", log_to_driver=False, **own)
    except Exception as error:  # a busy machine on which Ray's own time-outs end: RuntimeError, OSError, Exception
        remedy = "try again when the machine is less busy, or use engine='local'"
        raise RunStopped(f"Ray could not be started: {' '.join(str(error).split())[:300]}; {remedy}") from error


def require_reachable(address: str, seconds: float = 10) -> None:
    """Raise a `RunStopped` with a remedy if nobody answers at a cluster's address "host:port"."""
    if address.startswith("ray://"):
        remedy = "start the run on a machine of the cluster with address='auto', or hand it in with 'ray job submit'"
        raise ValueError(f"{address!r} is an address for Ray Client, over which Ray Data does not run: {remedy}")
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"address must be 'auto' or 'host:port', not {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=seconds).close()
    except OSError as error:
        remedy = "start one with 'ray start --head --port=6379', and check the address and the firewall"
        raise RunStopped(f"no Ray cluster answers at {address} ({error.strerror or error}); {remedy}") from None


def require_answering(address: str, seconds: float = 60) -> None:
    """Raise a `RunStopped` if a process cannot join the cluster within the time."""
    code = "import ray, sys; ray.init(sys.argv[1], logging_level='ERROR', log_to_driver=False)"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, address],
            capture_output=True,
            text=True,
            timeout=seconds,
        )
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
    require_module("ray.data", "ray")
    mine = not ray.is_initialized()
    if mine:
        if address and address != "auto":
            require_reachable(address)
        if address:
            require_answering(address)
        own: dict[str, Any] = {
            "num_cpus": actors or available_cores(),
            "include_dashboard": False,
        }
        _start_ray(ray, address, {} if address else own)
        if not address and (reachable := open_address(ray)):
            warnings.warn(
                f"the Ray of this run listens on {reachable}, where other machines reach it",
                stacklevel=2,
            )
    try:
        yield ray
    finally:
        if mine:
            ray.shutdown()


def _run_window(
    ray: Any,
    window: Sequence[Shard],
    job: Job,
    pool: Mapping[str, Any],
    timeout: float | None,
    stop: threading.Event,
) -> Iterator[Done]:
    from summeval_nb import __version__

    arrow = require_module("pyarrow", "ray")
    ray.data.DataContext.get_current().enable_progress_bars = False
    with sendable(job):
        packed = pack(partial(make_scorer, job))
    by_number = {shard.number: shard._replace(items=[]) for shard in window}
    blocks = [ray.put(arrow.table({"number": [s.number], "data": [pickle.dumps(s)]})) for s in window]
    halt = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=-1)(_Halt).remote()
    scored = ray.data.from_arrow_refs(blocks).map_batches(
        _RayScorer,
        fn_constructor_args=(packed, __version__, timeout, halt),
        batch_size=1,
        batch_format="numpy",
        **pool,
    )
    problem: Exception | None = None
    for row in scored.iter_rows():
        answer = pickle.loads(row["answer"])
        if isinstance(answer, Exception):
            problem = problem or answer
        elif answer is not None:
            yield by_number[row["number"]], answer
        if stop.is_set():
            ray.get(halt.call.remote())
    if problem is not None:
        raise problem


def run_ray(
    shards: Iterable[Shard],
    job: Job,
    actors: int,
    *,
    address: str | None = None,
    num_gpus: float = 0,
    timeout: float | None = None,
    stop: threading.Event | None = None,
) -> Generator[Done, None, None]:
    """Score shards with `actors` Ray actors of `num_gpus` GPUs each; 0 actors: one per core of the cluster."""
    stream, stop = iter(shards), stop or threading.Event()
    window = list(itertools.islice(stream, _WINDOW))
    if not window:
        return
    with cluster(address, actors) as ray:
        count = actors or max(1, int(ray.cluster_resources().get("CPU", 1)))
        while window and not stop.is_set():
            strategy = ray.data.ActorPoolStrategy(min_size=1, max_size=min(count, len(window)))
            pool = {"compute": strategy, "num_gpus": num_gpus or None}
            yield from _run_window(ray, window, job, pool, timeout, stop)
            window = list(itertools.islice(stream, _WINDOW))


# ---------------------------------------------------------------- the engine of a run


ENGINES = ("local", "ray")
_MOST_WORKERS = 1000


def choose_engine(
    engine: str, job: Job, workers: int | None, address: str | None, num_gpus: float, timeout: float | None
) -> tuple[Callable[..., Generator[Done, None, None]], JsonDict]:
    """Return the engine as a function of shards, and what the manifest says about it."""
    if timeout is not None and not (isinstance(timeout, (int, float)) and 0 < timeout <= 1e7):
        raise ValueError(f"timeout must be more than 0 seconds, at most 10,000,000, or None, not {timeout!r}")
    require_option(engine, "engine", ENGINES)
    started = {"started": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "engine": engine}
    if engine == "ray":
        actors = 0 if workers is None else require_count(workers, "workers")
        call = partial(run_ray, job=job, actors=actors, address=address, num_gpus=num_gpus, timeout=timeout)
        return call, started | {"workers": actors or "one per core", "num_gpus": num_gpus}
    if address is not None or num_gpus:
        raise ValueError("address and num_gpus belong to engine='ray'")
    chosen = 0 if job.in_this_process and timeout is None else available_cores()
    count = chosen if workers is None else require_count(workers, "workers", minimum=0)
    if count > _MOST_WORKERS:
        most = f"at most {_MOST_WORKERS:,}, each is a process of this machine"
        raise ValueError(f"workers must be {most}, not {count}")
    if timeout is not None and not count:
        raise ValueError("timeout needs a worker process to end: workers must be at least 1")
    return partial(run_local, job=job, workers=count, timeout=timeout), started | {"workers": count}
