"""Run cases in forked lots, under limits of time and memory; collect counts and findings."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import resource
import shutil
import signal
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from .watch import watching

Case = Callable[[random.Random, Path], None]
MEMORY = 6 << 30  # bytes of data that a lot may hold
CPU_SECONDS, WALL_SECONDS = 30, 300  # for one case; the second is for a busy machine
PATIENCE = 30  # seconds after which a case that does not hear its alarm is ended


class Wrong(AssertionError):
    """A promise was broken: what, and where."""


class TooSlow(BaseException):
    """A case used up its time; no `except Exception` may swallow it."""


@dataclass
class Finding:
    """What went wrong, where it was raised, and the command that shows it again."""

    kind: str
    seed: int
    what: str
    where: str
    trace: str = ""

    def __str__(self) -> str:
        again = f"python -m tests.torture --again {self.kind}:{self.seed}"
        return f"FINDING {self.kind}: {self.where}\n  {self.what}\n  again: {again}\n{self.trace}"


@dataclass
class Report:
    """Cases and findings for each kind."""

    cases: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    quiet_since: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        found = Counter(finding.kind for finding in self.findings)
        lines = [f"{kind:10} {count:8} cases {found[kind]:4} findings" for kind, count in sorted(self.cases.items())]
        lines += [f"{'all':10} {self.cases.total():8} cases {len(self.findings):4} findings"]
        places = Counter(f"{finding.kind}: {finding.where}" for finding in self.findings)
        lines += [f"{count:6} x {place}" for place, count in places.most_common()]
        quiet = (time.monotonic() - self.quiet_since) / 60
        return "\n".join([*lines, f"the last {quiet:.1f} minutes without a finding"])


def torture(
    kinds: Mapping[str, Case],
    *,
    seed: int,
    seconds: float,
    say: Callable[[str], Any] = print,
    lot_seconds: float = 30.0,
) -> Report:
    """Run lots of each kind in turn until the time is over."""
    report, end, turn = Report(), time.monotonic() + seconds, 0
    numbers = dict.fromkeys(kinds, seed)
    with contextlib.suppress(KeyboardInterrupt):  # what was found so far is still said
        while (left := end - time.monotonic()) > 0:
            kind = list(kinds)[turn % len(kinds)]
            turn += 1
            share = min(lot_seconds, max(left, 0.2), max(0.2, seconds / len(kinds)))
            for number, finding in _lot(kind, kinds[kind], numbers[kind], share):
                numbers[kind], report.cases[kind] = number + 1, report.cases[kind] + 1
                if finding:
                    report.findings.append(finding)
                    report.quiet_since = time.monotonic()
                    say(str(finding))
            if turn % (20 * len(kinds)) == 0:
                say(f"--\n{report}")
    return report


def _lot(kind: str, case: Case, first: int, seconds: float) -> Iterator[tuple[int, Finding | None]]:
    """Run cases in a forked process; yield the number of each that ended, and its finding. It may die or hang."""
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    process = fork.Process(target=_work, args=(kind, case, first, seconds, theirs))
    process.start()
    theirs.close()
    number = first - 1
    try:
        while ours.poll(WALL_SECONDS + PATIENCE):
            number, finding = ours.recv()
            yield number, finding
        yield number + 1, Finding(kind, number + 1, "hung, deaf to signals", "a hang in compiled code")
    except EOFError:
        process.join()
        if process.exitcode:
            died = f"the process died with code {process.exitcode}"
            yield number + 1, Finding(kind, number + 1, died, "a crash")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()


def _work(kind: str, case: Case, first: int, seconds: float, pipe: Connection) -> None:
    """In the forked process: cases one after the other, each in an empty folder of its own."""
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    end, number = time.monotonic() + seconds, first
    while time.monotonic() < end:
        folder = Path(tempfile.mkdtemp(prefix="torture-"))
        try:
            found = attempt(kind, case, number, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        pipe.send((number, found))
        number += 1
    os._exit(0)


def attempt(kind: str, case: Case, seed: int, folder: Path) -> Finding | None:
    """Run one case under its limits; return what was found."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        with watching() as trespasses, _limits():
            case(random.Random(f"{kind}:{seed}"), folder)
        if trespasses:
            raise Wrong(f"outside of its folder: {trespasses[:5]}", "a trespass")
    except (Exception, TooSlow) as error:
        trace = "".join(traceback.format_exception(error)).splitlines()[-14:]
        said = f"{type(error).__name__}: {str(error)[:3000]}"
        return Finding(kind, seed, said, _where(error), "\n".join(f"    {line[:300]}" for line in trace))
    finally:
        os.chdir(here)
    return None


@contextlib.contextmanager
def _limits() -> Iterator[None]:
    """Signals after so many seconds of computing, or of waiting; no more memory than `MEMORY`."""

    def ring(number: int, frame: Any) -> None:
        taken = f"{CPU_SECONDS} s of computing" if number == signal.SIGPROF else f"{WALL_SECONDS} s"
        raise TooSlow(f"longer than {taken}")

    old = {number: signal.signal(number, ring) for number in (signal.SIGPROF, signal.SIGALRM)}
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, hard))
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WALL_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        for number, handler in old.items():
            signal.signal(number, handler)


def _where(error: BaseException) -> str:
    """The place that a promise names, or the kind of the error and the last place of ours that it went through."""
    if isinstance(error, Wrong):
        return str(error.args[-1]).splitlines()[0][:120]
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "summeval_nb" in frame.filename and "tests" not in Path(frame.filename).parts]
    last = (own or frames)[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.name}"
