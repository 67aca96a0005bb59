# A plain private module: edited here, exported by no notebook, tested in tests/test_run_folder.py.
"""Ctrl-C while threads are at work: heeded once, lost never, and not in the middle of a lock.

Python raises KeyboardInterrupt between any two steps of the main thread. Two places bear that badly: inside the locks
of `threading` and `concurrent.futures` (a lock stays taken, and the thread that needs it waits for ever), and inside a
callback of the garbage collector (where an exception is printed and forgotten).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from types import FrameType, TracebackType


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
