# A plain private module: edited here, exported by no notebook, tested in tests/test_ray.py.
"""The engine of a cluster: Ray moves shards between machines, and results come back to the one that writes them.

Ray would restart a crashing actor and give it the same shard again, for ever; so each actor keeps its metric in a
`Worker` too. Ray waits long, and inside C++ code that even Ctrl-C does not reach; so an address is tried first, and
then a short-lived process tries to join. Shards go to Ray in windows: within one the waiting shards are in Ray's
object store, on disk when that is full, and an actor's model is loaded once.
"""

from __future__ import annotations

import itertools
import pickle
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

from summeval_nb.ground.base import require_module
from summeval_nb.ground.items import Shard
from summeval_nb.runs._local_engine import Done, Patience, available_cores, make_scorer, score_shard, sendable
from summeval_nb.runs._loopback import on_loopback, open_address
from summeval_nb.runs.jobs import Job, Scored
from summeval_nb.runs.workers import RunStopped, Worker, pack

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
