"""Run cases in forked lots, under limits of time and memory; collect counts and findings."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .watch import watching

Case = Callable[[random.Random, Path], None]
MEMORY = 6 << 30  # bytes of data that a lot may hold
CPU_SECONDS, WALL_SECONDS = 30, 300  # for one case; the second is for a busy machine
PATIENCE = 30  # seconds after which a case that does not hear its alarm is ended


class Wrong(AssertionError):
    """A promise was broken: what, and with what."""


class TooSlow(BaseException):
    """A case used up its time; no `except Exception` may swallow it."""


@dataclass
class Finding:
    """What went wrong, where it was raised, and the command that shows it again."""

    kind: str
    seed: int
    what: str
    where: str
    trace: str

    @property
    def name(self) -> str:
        """What findings with the same cause share: kind and place."""
        return f"{self.kind}: {self.where}"

    def __str__(self) -> str:
        command = f"python -m tests.torture --again {self.kind}:{self.seed}"
        return f"FINDING {self.name}\n  {self.what}\n  again: {command}\n{self.trace}"


@dataclass
class Report:
    """Cases and findings for each kind."""

    seconds: float = 0.0
    cases: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    last_finding: float = 0.0

    def __str__(self) -> str:
        found = Counter(finding.kind for finding in self.findings)
        lines = [f"{kind:10} {count:8} cases {found[kind]:4} findings" for kind, count in sorted(self.cases.items())]
        names = Counter(finding.name for finding in self.findings)
        lines += [f"{'all':10} {self.cases.total():8} cases {len(self.findings):4} findings of {len(names)} kinds"]
        lines += [f"{count:6} x {name}" for name, count in names.most_common()]
        quiet = (self.seconds - self.last_finding) / 60
        return "\n".join([*lines, f"{self.seconds / 60:.1f} minutes, the last {quiet:.1f} of them without a finding"])


def torture(
    kinds: Mapping[str, Case],
    *,
    seed: int,
    seconds: float,
    say: Callable[[str], Any] = print,
    lot_seconds: float = 30.0,
) -> Report:
    """Run lots of each kind in turn until the time is over."""
    report, start = Report(), time.monotonic()
    numbers = dict.fromkeys(kinds, seed)
    said: set[str] = set()
    turn = 0
    with contextlib.suppress(KeyboardInterrupt):  # what was found so far is still said
        while (left := start + seconds - time.monotonic()) > 0:
            kind = list(kinds)[turn % len(kinds)]
            turn += 1
            share = min(lot_seconds, max(left, 0.2), max(0.2, seconds / len(kinds)))
            for event in _lot(kind, kinds[kind], numbers[kind], share):
                report.seconds = time.monotonic() - start
                if isinstance(event, Finding):
                    report.findings.append(event)
                    report.last_finding = report.seconds
                    say(str(event) if event.name not in said else f"again {event.name} ({kind}:{event.seed})")
                    said.add(event.name)
                else:
                    report.cases[kind] += 1
                    numbers[kind] = event + 1
            if turn % (20 * len(kinds)) == 0:
                say(f"-- {report.seconds / 60:.0f} minutes\n{report}")
    return report


def _lot(kind: str, case: Case, first: int, seconds: float) -> Iterator[int | Finding]:
    """Run cases in a forked process; yield the number of each that ended, and findings. It may die or hang."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        code = 1
        try:
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            _work(kind, case, first, seconds, write)
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    running, began, buffer = first, time.monotonic(), b""
    try:
        while True:
            ready, _, _ = select.select([read], [], [], 1.0)
            data = os.read(read, 1 << 16) if ready else None
            if data == b"":
                break
            if data is None:
                if time.monotonic() - began > WALL_SECONDS + PATIENCE:
                    yield Finding(kind, running, "hung, deaf to signals", "a hang in compiled code", "")
                    yield running
                    break
                continue
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                event = json.loads(line)
                if "finding" in event:
                    yield Finding(**event["finding"])
                elif "ended" in event:
                    yield event["ended"]
                running, began = event.get("begun", running), time.monotonic()
    finally:
        os.close(read)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
        yield Finding(kind, running, f"the process died of signal {os.WTERMSIG(status)}", "a crash", "")
        yield running


def _work(kind: str, case: Case, first: int, seconds: float, pipe: int) -> None:
    """In the forked process: cases one after the other, each in an empty folder of its own."""

    def tell(**event: Any) -> None:
        os.write(pipe, json.dumps(event).encode() + b"\n")

    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    end, number = time.monotonic() + seconds, first
    while time.monotonic() < end:
        tell(begun=number)
        folder = Path(tempfile.mkdtemp(prefix="torture-"))
        try:
            found = attempt(kind, case, number, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if found:
            tell(finding=vars(found))
        tell(ended=number)
        number += 1


def attempt(kind: str, case: Case, seed: int, folder: Path) -> Finding | None:
    """Run one case under its limits; return what was found."""
    here = Path.cwd()
    os.chdir(folder)
    try:
        with watching() as trespasses, _limits():
            case(random.Random(f"{kind}:{seed}"), folder)
        if trespasses:
            raise Wrong(f"outside of its folder: {trespasses[:5]}", "a trespass")
    except TooSlow as error:
        return Finding(kind, seed, f"took longer than {error}", _where(error), _shortened(error))
    except Exception as error:
        return Finding(kind, seed, f"{type(error).__name__}: {str(error)[:3000]}", _where(error), _shortened(error))
    finally:
        os.chdir(here)
    return None


@contextlib.contextmanager
def _limits() -> Iterator[None]:
    """Signals after so many seconds of computing, or of waiting; no more memory than `MEMORY`."""

    def ring(number: int, frame: Any) -> None:
        raise TooSlow(f"{CPU_SECONDS} s of computing" if number == signal.SIGPROF else f"{WALL_SECONDS} s")

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
    """The kind of the error and the last place in the package, or in the torture, that it went through."""
    if isinstance(error, Wrong):
        return f"{error.args[1] if len(error.args) > 1 else str(error).splitlines()[0][:120]}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "summeval_nb" in frame.filename and "tests" not in Path(frame.filename).parts]
    last = (own or frames)[-1]
    return f"{type(error).__name__} at {Path(last.filename).name}:{last.name}"


def _shortened(error: BaseException) -> str:
    lines = "".join(traceback.format_exception(error)).splitlines()
    return "\n".join(f"    {line[:300]}" for line in lines[-14:])


def again(case: Case, seed: int, folder: Path) -> int:
    """Run one case in this process and show its error."""
    name = next((n for n, c in _kinds().items() if c is case), "case")
    found = attempt(name, case, seed, folder)
    print(found or "no finding", file=sys.stderr)
    return 1 if found else 0


def _kinds() -> Mapping[str, Case]:
    from .kinds import KINDS

    return KINDS
