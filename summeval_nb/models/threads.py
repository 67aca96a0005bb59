"""One function for many items in threads that nobody waits for: Ctrl-C ends the wait, and the process, at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import TypeVar

__all__ = ["in_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")
_BREATH = 0.5  # seconds between two looks for Ctrl-C, where a wait for a lock does not heed it


def in_threads(function: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    """Yield what a function returns for each item, in their order, from at most `workers` threads.

    Whatever ends the loop, such as Ctrl-C or an error, ends it without a wait: no further item is begun, and what is
    under way, such as a request to a server, keeps neither the caller nor the process. `ThreadPoolExecutor` waits for
    it in both cases, for as long as a server takes.

    Examples
    --------
    >>> list(in_threads(str.upper, ["a", "b"], workers=2))
    ['A', 'B']
    """
    left: SimpleQueue[tuple[int, Item]] = SimpleQueue()
    done: SimpleQueue[tuple[int, Callable[[], Result]]] = SimpleQueue()
    ended = threading.Event()
    for pair in enumerate(items):
        left.put(pair)

    def work() -> None:
        while not ended.is_set():
            try:
                place, item = left.get_nowait()
            except Empty:
                return
            done.put((place, _outcome(function, item)))

    found: dict[int, Callable[[], Result]] = {}
    try:
        for _ in range(min(workers, len(items))):
            threading.Thread(target=copy_context().run, args=(work,), name="summeval_nb-asks", daemon=True).start()
        for place in range(len(items)):
            while place not in found:
                try:
                    other, outcome = done.get(timeout=_BREATH)
                except Empty:
                    continue
                found[other] = outcome
            yield found.pop(place)()
    finally:
        ended.set()


def _outcome(function: Callable[[Item], Result], item: Item) -> Callable[[], Result]:
    """What a function returns for an item, or what it raises, to be called for in another thread."""
    try:
        result = function(item)
    except BaseException as error:
        raised = error

        def fail() -> Result:
            raise raised

        return fail
    return lambda: result
