"""One progress bar for a call, however many stages it has: whatever works below it moves that bar, and draws none.

`one_bar` draws it, and counts what the user counts: pairs, rows, texts. What works in batches goes through them by
`steps`, and a call with stages over all items enters them by `Stages`. Both move the bar by their share of what is at
hand, so a batch or a stage that is done counts for as many items. Work without a bar above it is not slowed.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from tqdm.auto import tqdm

__all__ = ["Stages", "one_bar", "steps"]

One = TypeVar("One")


class _Course:
    """A bar, how far the work has come in its items, and where what is at hand will end."""

    def __init__(self, bar: tqdm[Any], total: int) -> None:
        self.bar, self.at, self.end, self._shown = bar, 0.0, float(total), time.monotonic()

    def move(self, to: float) -> None:
        """Count the items that are done; a second without one is shown by the clock."""
        self.at = max(self.at, to)
        done, now = math.floor(self.at + 1e-6) - self.bar.n, time.monotonic()
        if done > 0:
            self.bar.update(done)
        elif now - self._shown >= 1 and not self.bar.disable:
            self.bar.refresh()
        else:
            return
        self._shown = now


class _Here(threading.local):
    course: _Course | None = None


_here = _Here()


@contextmanager
def one_bar(total: int, desc: str = "", unit: str = "it", *, show: bool | None = True) -> Iterator[None]:
    """Draw a bar of `total` items for what is done within, or none, if this is a part of what has one.

    With `show=False` nothing is drawn, and nothing within draws either; None draws on a terminal only.
    """
    if _here.course is not None:
        yield
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc=desc or None, unit=unit, disable=None if show is None else not show) as bar:
        _here.course = course = _Course(bar, total)
        try:
            yield
            course.move(total)
        finally:
            _here.course = None


@contextmanager
def _until(course: _Course, end: float) -> Iterator[None]:
    """What is done within moves the bar to `end`."""
    before, course.end = course.end, end
    try:
        yield
        course.move(end)
    finally:
        course.end = before


def steps(things: Iterable[One], sizes: Sequence[float] | None = None, *, total: int | None = None) -> Iterator[One]:
    """Yield things, and move the bar after each by its share of what is at hand.

    `sizes` says how much work each is; without it all are the same, `total` of them.

    Examples
    --------
    >>> with one_bar(10, show=False):
    ...     print(list(steps("ab", sizes=[9, 1])))
    ['a', 'b']
    """
    course = _here.course
    if course is None:
        yield from things
        return
    begin, room, done = course.at, course.end - course.at, 0.0
    if sizes is None:
        sizes = [1] * (len(things) if isinstance(things, Sized) and total is None else total or 0)
    whole = sum(sizes) or 1
    for thing, size in zip(things, sizes, strict=True):
        done += size
        with _until(course, begin + room * done / whole):
            yield thing


class Stages:
    """The stages of a work over all items, by name, with the share of the time that each usually takes.

    Examples
    --------
    >>> stage = Stages(read=1, judge=3)
    >>> with stage("read"):
    ...     texts = ["a", "b"]
    """

    def __init__(self, **shares: float) -> None:
        self._course, whole, done = _here.course, sum(shares.values()) or 1, 0.0
        self._ends: dict[str, float] = {}
        for name, share in shares.items():
            done += share
            self._ends[name] = done / whole
        if self._course is not None:
            self._begin, self._room = self._course.at, self._course.end - self._course.at

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Enter a stage; those before it that were left out are passed by."""
        end = self._ends[name]
        if self._course is None or self._course is not _here.course:
            yield
            return
        with _until(self._course, self._begin + self._room * end):
            yield
