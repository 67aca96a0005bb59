"""Work in processes that can crash without harm."""

from __future__ import annotations

import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any, Generic, TypeVar

__all__ = ["RunStopped"]


Row = TypeVar("Row")
Found = TypeVar("Found")


def try_together(
    rows: Sequence[Row], score: Callable[[Sequence[Row]], Sequence[Found]], broken: type[Exception] = Exception
) -> list[Found | Exception]:
    """Return one result per row of `score(rows)`; a row on which `score` raises gets the exception in its place.

    Parameters
    ----------
    rows : sequence
        Whatever `score` takes.
    score : callable
        Rows in, as many results out.
    broken : type
        Which exceptions count; others pass through.

    Examples
    --------
    >>> try_together([4, 0, 2], lambda rows: [8 / row for row in rows])
    [2.0, ZeroDivisionError('division by zero'), 4.0]
    """
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
    fine = [i for i, outcome in enumerate(alone) if not isinstance(outcome, BaseException)]
    with suppress(broken):
        for i, outcome in zip(fine, score([rows[i] for i in fine]) if fine else [], strict=True):
            alone[i] = outcome
    return alone


def _send(pipe: IO[bytes], message: object) -> None:
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(struct.pack("<Q", len(data)) + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(8)
    if len(head) < 8:
        raise EOFError("the other side of the pipe has gone")
    size = struct.unpack("<Q", head)[0]
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError("the other side of the pipe went in the middle of a message")
    return pickle.loads(data)


def _serve() -> None:
    """Make the work ready, then do it for each request until the parent's pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    with suppress(EOFError, BrokenPipeError):
        try:
            work = _receive(requests)()
        except Exception as error:
            _send(answers, ("refused", type(error).__name__, str(error)))
            return
        _send(answers, ("ready",))
        while True:
            _send(answers, work(*_receive(requests)))


class WorkerDied(RuntimeError):
    """A worker process ended in the middle of its work."""


class WorkerTimeout(WorkerDied):
    """A worker process gave no answer in time, and was ended."""


class WorkerRefused(RuntimeError):
    """A worker process could not be made ready; starting another would not help."""


class RunStopped(RuntimeError):
    """A run stopped before its end; what was scored is kept, and the message says how to go on."""


def _cause_of_death(code: int) -> str:
    if code >= 0:
        return f"the worker process ended itself with exit code {code}"
    name = signal.Signals(-code).name
    hint = " (killed from outside, often for lack of memory)" if name == "SIGKILL" else ""
    return f"the worker process was ended by {name}{hint}"


@contextmanager
def _time_limit(process: subprocess.Popen[bytes], seconds: float | None) -> Iterator[threading.Event]:
    """End the process after some seconds; the event says whether that has happened."""
    late = threading.Event()
    if seconds is None:
        yield late
        return

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
        timer.join()


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process: by the end of its pipe if it listens, else by force."""
    assert process.stdin and process.stdout
    with suppress(OSError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)
    process.kill()
    process.wait()
    process.stdout.close()


def _raise_refusal(kind: str, message: str) -> None:
    known = {"ValueError": ValueError, "TypeError": TypeError, "ImportError": ImportError}
    raise known[kind](message) if kind in known else WorkerRefused(f"{kind}: {message}")


def _python(code: str) -> list[str]:
    """The command that runs some code in a fresh Python that finds the modules which this one finds."""
    places = [place or os.getcwd() for place in sys.path]
    return [sys.executable, "-P", "-c", f"import sys; sys.path[:] = sys.argv[1:]; {code}", *places]


@contextmanager
def _interrupts_kept_back() -> Iterator[None]:
    """A process that is started in here is born deaf to Ctrl-C, before its own first line could make it so."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _worker_environment(threads: int | None) -> dict[str, str]:
    shared = {"OMP_NUM_THREADS": str(threads)} if threads and "OMP_NUM_THREADS" not in os.environ else {}
    return {**os.environ, **shared, "TOKENIZERS_PARALLELISM": "false"}


_STARTS = 3  # how often a process is started that is killed from outside before it is ready


def _launch(threads: int | None) -> subprocess.Popen[bytes]:
    command = _python("from summeval_nb.runs.workers import _serve; _serve()")
    with _interrupts_kept_back():
        pipe = subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, env=_worker_environment(threads))


def pack(make: Callable[[], Callable[..., object]]) -> bytes:
    """Return a function as bytes for another process, functions of notebooks and scripts included."""
    import cloudpickle

    try:
        return cloudpickle.dumps(make)
    except Exception as error:  # whatever an object's own pickling raises
        raise TypeError(f"this cannot be sent to a worker process ({error}); use module-level functions") from error


def _converse(process: subprocess.Popen[bytes], message: object, seconds: float | None) -> tuple[Any, bool]:
    """Send a message and return the answer, and whether the time has ended all the same."""
    assert process.stdin and process.stdout
    with _time_limit(process, seconds) as late:
        try:
            if message is not None:
                _send(process.stdin, message)
            process.stdin.flush()
            answer = _receive(process.stdout)
        except (EOFError, OSError, ValueError):
            _end_process(process)
            if late.is_set():
                raise WorkerTimeout(f"no answer within {seconds:g} s; the worker process was ended") from None
            raise WorkerDied(_cause_of_death(process.wait())) from None
        except BaseException:
            process.kill()
            _end_process(process)
            raise
    return answer, late.is_set()


class Worker(Generic[Found]):
    """A process that does work for us and may die without harm.

    Parameters
    ----------
    make : callable
        Called once in the process: returns the function that does the work, with models
        loaded.
    threads : int, optional
        For the process's numerical libraries (OMP_NUM_THREADS), where it is not set.

    Examples
    --------
    >>> worker = Worker(lambda: sum)
    >>> worker.ask([1, 2, 3])
    6
    >>> worker.close()
    """

    def __init__(self, make: Callable[[], Callable[..., Found]], threads: int | None = None):
        self._work, self._threads = pack(make), threads
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def ask(self, *arguments: object, seconds: float | None = None) -> Found:
        """Return what the work returns; raise `WorkerDied` when the process ends. The next call starts a fresh one.

        After `seconds` without an answer (None: wait for ever) the process is ended,
        which raises `WorkerTimeout`.
        """
        self.make_ready()
        return self._exchange(arguments, seconds)

    def make_ready(self) -> None:
        """Start the process if there is none, and wait until it is ready for work."""
        if self._process is None:
            answer = self._start()
            if answer[0] == "refused":
                self._end()
                _raise_refusal(*answer[1:])

    def _start(self) -> Any:
        for _ in range(_STARTS):
            if self._closed:
                raise WorkerRefused("this worker is closed")
            process = self._process = _launch(self._threads)
            if self._closed:  # meanwhile
                process.kill()
            try:
                assert process.stdin
                process.stdin.write(struct.pack("<Q", len(self._work)) + self._work)
                return self._exchange(None)
            except (WorkerDied, OSError):
                self._process = None
                _end_process(process)
                cause = _cause_of_death(process.returncode)
            if process.returncode >= 0:
                break
        raise WorkerRefused(f"a worker process cannot be made ready: {cause}")

    def _exchange(self, message: object, seconds: float | None = None) -> Any:
        assert self._process
        try:
            answer, late = _converse(self._process, message, seconds)
        except BaseException:  # it has ended
            self._process = None
            raise
        # the time ended in the moment of the answer: the next question gets a fresh
        # process
        if late:
            self._end()
        return answer

    def _end(self) -> None:
        process, self._process = self._process, None
        if process:
            _end_process(process)

    def close(self) -> None:
        """End the process at once, even in the middle of its work."""
        self._closed, process = True, self._process
        if process:
            process.kill()
        self._end()
