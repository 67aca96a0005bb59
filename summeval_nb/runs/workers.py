"""Work in processes that can crash without harm: on this machine, or as actors of a Ray cluster.

An engine is a generator: batches in, pairs of a batch and what was found out, in any order. Whatever ends the loop, the
processes end too.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import TIMEOUT_MAX, Event, Thread, Timer
from typing import IO, Any, NamedTuple, TypeAlias, TypeVar, cast

from summeval_nb import __version__
from summeval_nb.core.base import require_count, require_module, require_option

__all__ = ["RunStopped"]


Row = TypeVar("Row")
Found = TypeVar("Found")


def try_together(
    rows: Sequence[Row], score: Callable[[Sequence[Row]], Sequence[Found]], broken: type[Exception] = Exception
) -> list[Found | Exception]:
    """Return one result per row of `score(rows)`; a row on which it raises `broken` gets the exception in its place."""
    if not rows:
        return []
    with suppress(broken):
        return list(score(rows))
    alone: list[Found | Exception] = []
    for row in rows:
        try:
            alone += score([row])
        except broken as error:
            alone.append(error)
    fine = [place for place, outcome in enumerate(alone) if not isinstance(outcome, BaseException)]
    with suppress(broken):  # scored as one batch again, so that every run gives the same digits
        for place, outcome in zip(fine, score([rows[place] for place in fine]) if fine else [], strict=True):
            alone[place] = outcome
    return alone


class WorkerDied(RuntimeError):
    """A worker process ended in the middle of its work."""


class WorkerTimeout(WorkerDied):
    """A worker process gave no answer in time, and was ended."""


class WorkerRefused(RuntimeError):
    """A worker process could not be made ready; starting another would not help."""


class RunStopped(RuntimeError):
    """A run stopped before its end; what was scored is kept, and the message says how to go on."""


# ---------------------------------------------------------------- a process


def _send(pipe: IO[bytes], message: object) -> None:
    pipe.write(pickle.dumps(message))  # whole or not at all
    pipe.flush()


_receive = pickle.load


def _serve() -> None:
    """Make the work ready, then do it for each request until the parent's pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # what the work prints or reads meets no message
    os.dup2(2, 1)
    with suppress(EOFError, BrokenPipeError):
        packed = _receive(requests)
        try:
            version, make = pickle.loads(packed)
            if version != __version__:
                told = f"the cluster has summeval_nb {__version__}, this machine {version}: update one"
                raise ImportError(told)
            work = make()
        except Exception as error:
            return _send(answers, (type(error).__name__, str(error)))
        _send(answers, None)
        while True:
            _send(answers, work(*_receive(requests)))


def _launch(threads: int | None) -> subprocess.Popen[bytes]:
    """Start a process that serves, in a group of its own: Ctrl-C in a terminal does not reach it."""
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false"}
    if threads:
        environment.setdefault("OMP_NUM_THREADS", str(threads))
    code = "import sys; sys.path[:] = sys.argv[1:]; from summeval_nb.runs.workers import _serve; _serve()"
    command = [sys.executable, "-P", "-c", code, *(place or os.getcwd() for place in sys.path)]
    alone: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {"creationflags": 0x200}  # a new group
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, **alone)


def pack(make: Callable[[], Callable[..., object]]) -> bytes:
    """Return a function as bytes for another process, functions of notebooks and scripts included."""
    import cloudpickle

    try:
        return cloudpickle.dumps((__version__, make))
    except Exception as error:  # whatever an object's own pickling raises
        remedy = "use module-level functions, name models, as in {'checker': 'llm:FOLDER'}, or use workers=0"
        raise TypeError(f"this cannot be sent to a worker process ({error}); {remedy}") from error


_REFUSALS = {"ValueError": ValueError, "TypeError": TypeError, "ImportError": ImportError}


class Worker:
    """A process that does work for us and may die without harm.

    `make` is called once in the process and returns the function that does the work; bytes are such a function, packed.
    `threads` are for numerical libraries. `score` waits `timeout` seconds for one item, and for several twice as long
    again as they took before.
    """

    def __init__(
        self, make: Callable[[], Callable[..., Any]] | bytes, threads: int | None = None, timeout: float | None = None
    ):
        self._work, self._threads, self._timeout = make if isinstance(make, bytes) else pack(make), threads, timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._closed, self._per_item = False, 0.0

    def ask(self, *arguments: object, seconds: float | None = None) -> Any:
        """Return what the work returns; raise `WorkerDied` when the process ends. The next call starts a fresh one.

        After `seconds` without an answer (None: wait for ever) the process is ended, which raises `WorkerTimeout`.
        """
        self.make_ready()
        return self._exchange(arguments, seconds)

    def make_ready(self) -> None:
        """Start the process if there is none, and wait until it is ready for work."""
        tries = 0
        while self._process is None:
            if self._closed:
                raise WorkerRefused("this worker is closed")
            process = self._process = _launch(self._threads)
            if self._closed:  # meanwhile
                process.kill()
            tries += 1
            try:
                refused = self._exchange(self._work)
            except WorkerDied as error:
                if process.returncode < 0 and tries < 3:
                    continue
                raise WorkerRefused(f"a worker process cannot be made ready: {error}") from None
            if refused:
                self.end()
                kind, message = refused
                raise _REFUSALS[kind](message) if kind in _REFUSALS else WorkerRefused(f"{kind}: {message}")

    def _exchange(self, message: object, seconds: float | None = None) -> Any:
        process, late = self._process, Event()
        assert process and process.stdin and process.stdout

        def give_up() -> None:
            late.set()
            process.kill()

        timer = Timer(TIMEOUT_MAX if seconds is None else seconds, give_up)
        timer.daemon = True
        timer.start()
        try:
            _send(process.stdin, message)
            return _receive(process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            cause = self.end()
            if late.is_set():
                raise WorkerTimeout(f"no answer within {seconds:g} s; the worker process was ended") from None
            raise WorkerDied(cause) from None
        except BaseException:
            process.kill()
            self.end()
            raise
        finally:
            timer.cancel()
            timer.join()
            if late.is_set():  # perhaps in the moment of the answer: the next question gets a fresh process
                self.end()

    def score(self, items: Sequence[Any]) -> Scored:
        """Return what is found for each item. A batch that ends the process is tried again, then row by row."""
        usage: list[Any] = []

        def score(some: Sequence[Any]) -> Sequence[Any]:
            self.make_ready()
            began, seconds = time.perf_counter(), self._timeout
            if seconds is not None and len(some) > 1:
                seconds += 2 * self._per_item * len(some)
            found = self.ask(some, seconds=seconds)
            self._per_item = (time.perf_counter() - began) / len(some)
            usage.extend(found.usage)
            return found.rows

        try:
            return Scored(score(items), usage)
        except WorkerDied:  # which may have been an accident
            return Scored(try_together(items, score, WorkerDied), usage)

    def wait(self) -> None:
        """Nothing: the process starts with its first batch."""

    def end(self) -> str:
        """End the process, by the end of its pipe if it listens, else by force; return how it ended."""
        process, self._process = self._process, None
        if process is None:
            return ""
        assert process.stdin and process.stdout
        with suppress(OSError):
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        code = process.wait()
        process.stdout.close()
        if code >= 0:
            return f"the worker process ended itself with exit code {code}"
        name = signal.Signals(-code).name
        hint = " (killed from outside, often for lack of memory)" if name == "SIGKILL" else ""
        return f"the worker process was ended by {name}{hint}"

    def close(self) -> None:
        """End the process at once, even in the middle of its work; no other is started."""
        self._closed, process = True, self._process
        if process:
            process.kill()
        self.end()


# ---------------------------------------------------------------- batches


class Scored(NamedTuple):
    """What was found for each item of a batch, an exception where it ended its process; what each attempt used."""

    rows: Sequence[Any]
    usage: Sequence[Any] = ()


Batch: TypeAlias = Sequence[Any]  # of entries, each with an `item` and a `place`
Batches: TypeAlias = Iterable[Batch]
Done: TypeAlias = tuple[Batch, Scored]
Make: TypeAlias = Callable[[], Callable[..., Scored]]


class _Lost(RunStopped):
    """A batch was lost with the machine that had it: another one may score it."""


_LOSSES = 4  # times that a batch may be lost


def hand_out(batches: Batches, crew: Sequence[Any], stop: Event) -> Generator[Done, None, None]:
    """Score batches by a crew, each member in a thread that nobody waits for long.

    Once `stop` is set, or something is wrong, only what is finished already is still yielded.
    """
    # Queues written in C: Ctrl-C ends every wait here, and leaves no lock taken.
    to_do, done = SimpleQueue[Batch | None](), SimpleQueue[tuple[Batch, Scored | BaseException]]()
    losses = Counter[int]()

    def serve(member: Any) -> None:
        batch: Batch | None = []
        try:
            while True:
                batch = []
                member.wait()
                if (batch := to_do.get()) is None:
                    return
                try:
                    done.put((batch, member.score([entry.item for entry in batch])))
                except _Lost:
                    losses[batch[0].place] += 1
                    if losses[batch[0].place] > _LOSSES:
                        raise
                    to_do.put(batch)
        except BaseException as error:
            done.put((batch or [], error))

    source, under_way, problem = iter(batches), 0, cast("BaseException | None", None)
    threads = [Thread(target=serve, args=(member,), daemon=True) for member in crew]
    try:
        for thread in threads:
            thread.start()
        more = True
        while True:
            while more and not problem and not stop.is_set() and under_way < 2 * len(crew):
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
            under_way -= bool(batch)
            if isinstance(found, BaseException):
                problem = problem or found
                stop.set()
            else:
                yield batch, found
    finally:
        for member in crew:
            to_do.put(None)
            member.close()
        for thread in threads:
            with suppress(RuntimeError):  # it could not be started
                thread.join(0.2)
    if problem:
        raise problem


def run_local(
    batches: Batches, make: Make, stop: Event, workers: int, timeout: float | None = None
) -> Generator[Done, None, None]:
    """Score batches in `workers` processes, or, for 0, in this one, whose crash stops the run."""
    if workers:
        threads = max(1, available_cores() // workers)
        yield from hand_out(batches, [Worker(make, threads, timeout) for _ in range(workers)], stop)
        return
    score = make()
    for batch in batches:
        yield batch, score([entry.item for entry in batch])
        if stop.is_set():
            return


def available_cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# ---------------------------------------------------------------- Ray


class _RayWorker:
    """A place for an actor, a `Worker` on a machine of the cluster: one that is lost is followed by another."""

    def __init__(self, ray: Any, hire: Callable[[], Any]):
        self._ray, self._hire, self._closed = ray, hire, False
        self._actor: Any = None

    def wait(self) -> None:
        """Hire an actor if there is none, and wait until it runs."""
        for _ in range(25 * _LOSSES):
            if self._actor is not None or self._closed:
                return
            self._actor = self._hire()
            with suppress(_Lost):
                self._get("make_ready")
        raise RunStopped("Ray lost its actors again and again")

    def score(self, items: Sequence[Any]) -> Scored:
        """Return what an actor found."""
        return self._get("score", items)

    def _get(self, name: str, *arguments: object) -> Any:
        if self._actor is None:
            raise _Lost("the run has ended")
        try:
            return self._ray.get(getattr(self._actor, name).remote(*arguments))
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:  # the actor, its machine, or its answer is lost
            self._actor = None
            raise _Lost(f"Ray lost its actors again and again: {error}") from None

    def close(self) -> None:
        """End the actor at once."""
        self._closed = True
        with suppress(Exception):
            self._ray.kill(self._actor)


def join(ray: Any, address: str | None, seconds: float = 60) -> None:
    """Join the Ray cluster at "auto" or "host:port", or raise with a remedy; none is started.

    A process of its own joins it first, for Ray itself waits where no Ctrl-C reaches.
    """
    host, _, port = (address or "").rpartition(":")
    if address is None or (address != "auto" and ("/" in host or not host or not port.isdigit())):
        remedy = "start one, 'ray start --head --port=6379', and name it; Ray Client (ray://) is none: address='auto'"
        raise ValueError(
            f"engine='ray' needs address='auto' or 'host:port' of a Ray cluster, not {address!r}: {remedy}"
        )
    try:
        if host:
            socket.create_connection((host, int(port)), timeout=10).close()
        code = "import ray, sys; ray.init(sys.argv[1], logging_level='ERROR', log_to_driver=False)"
        command = [sys.executable, "-c", code, address]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        why = (done.stderr.strip().splitlines() or ["no message"])[-1] if done.returncode else ""
    except OSError as error:
        why = error.strerror or str(error)
    except subprocess.TimeoutExpired:
        why = f"no answer within {seconds:g} s"
    if why:
        remedy = "start one, 'ray start --head --port=6379'; check address, firewall, Ray's version and RAY_AUTH_TOKEN"
        raise RunStopped(f"no Ray cluster can be joined at {address} ({why}); {remedy}")
    ray.init(address, logging_level="ERROR", log_to_driver=False)


def run_ray(
    batches: Batches, make: Make, stop: Event, actors: int, address: str | None, num_gpus: float, timeout: float | None
) -> Generator[Done, None, None]:
    """Score batches with `actors` Ray actors of `num_gpus` GPUs each; 0 actors: one per core of the cluster."""
    ray, packed = require_module("ray", "ray"), pack(make)
    if joins := not ray.is_initialized():
        join(ray, address)
    try:
        known = ray.cluster_resources()
        if num_gpus > (gpus := known.get("GPU", 0)):
            raise RunStopped(f"the Ray cluster has {gpus:g} GPUs, fewer than the {num_gpus:g} of one actor")
        hire = partial(ray.remote(num_cpus=1, num_gpus=num_gpus or None)(Worker).remote, packed, None, timeout)
        crew = [_RayWorker(ray, hire) for _ in range(actors or max(1, int(known.get("CPU", 1))))]
        yield from hand_out(batches, crew, stop)
    finally:
        if joins:
            ray.shutdown()


# ---------------------------------------------------------------- the engine of a run


def choose_engine(
    engine: str, alone: bool, workers: int | None, address: str | None, num_gpus: float, timeout: float | None
) -> tuple[Callable[..., Generator[Done, None, None]], int | str]:
    """Return the engine as a function of batches, work and the event that stops it, and how many workers it has.

    Where nobody says how many, there is one per core, and none for what is best scored `alone`, in this process.
    """
    if timeout is not None and not (isinstance(timeout, (int, float)) and 0 < timeout <= 1e7):
        raise ValueError(f"timeout must be more than 0 seconds, at most 10,000,000, or None, not {timeout!r}")
    if require_option(engine, "engine", ("local", "ray")) == "ray":
        actors = 0 if workers is None else require_count(workers, "workers")
        call = partial(run_ray, actors=actors, address=address, num_gpus=num_gpus, timeout=timeout)
        return call, actors or "one per core"
    if address is not None or num_gpus:
        raise ValueError("address and num_gpus belong to engine='ray'")
    chosen = 0 if alone and timeout is None else available_cores()
    count = chosen if workers is None else require_count(workers, "workers", minimum=0)
    if count > 1000:
        raise ValueError(f"workers must be at most 1,000, each is a process of this machine, not {count}")
    if timeout is not None and not count:
        raise ValueError("timeout needs a worker process to end: workers must be at least 1")
    return partial(run_local, workers=count, timeout=timeout), count
