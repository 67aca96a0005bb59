"""Kills, damage and full disks for runs: the same bytes or a typed refusal, never another number."""

from __future__ import annotations

import faulthandler
import json
import os
import random
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from summeval_nb.runs.file import RunFile
from summeval_nb.runs.report import RunReport
from summeval_nb.runs.running import run
from summeval_nb.runs.workers import RunStopped

from . import corpus, judges
from .harness import Wrong

tqdm.set_lock(threading.RLock())  # its own lock is shared with forked processes, and lost when one is killed with it
TYPED = (ValueError, TypeError, RunStopped)
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "over", "mat", "hill", "and", "then", "it", "rained"]


def rows(rng: random.Random, count: int) -> list[dict[str, Any]]:
    """A corpus for BLEU or ROUGE, some of it strange, some of it broken."""
    sentence = lambda: " ".join(rng.choices(WORDS, k=rng.randint(3, 9)))
    found: list[dict[str, Any]] = []
    for i in range(count):
        row: dict[str, Any] = {"id": f"doc{i}", "candidate": sentence(), "references": [sentence(), sentence()]}
        if i and rng.random() < 0.15:
            row[rng.choice(["id", "candidate"])] = corpus.text(rng)[:2000]
        if i and rng.random() < 0.08:
            row["references"] = rng.choice([None, 7, [], [3], {"a": 1}])
        found.append(row)
    return found


def words(row: Mapping[str, Any]) -> float:
    """A metric of one's own, for runs that take a while."""
    time.sleep(0.001)
    return len(str(row["candidate"]).split()) / 7


words.fingerprint = "words of a candidate"  # type: ignore[attr-defined]  # so that a run of it goes on


def _plan(rng: random.Random) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    metric: Any = rng.choice(["bleu", "bleu", "rouge", words])
    options = {"bleu": {"n": rng.randint(1, 4)}, "rouge": {"types": ["rouge1", "rougeL"]}}.get(str(metric), {})
    call = {"metric": metric, "options": options, "batch_size": rng.randint(1, 9), "progress": False}
    return rows(rng, rng.randint(1, 50)), call | {"workers": 0}


def _whole(items: list[dict[str, Any]], call: Mapping[str, Any], folder: Path) -> tuple[bytes, dict[str, Any]]:
    """The results and the numbers of a run that nothing disturbs."""
    report = run(items, out=folder, **call)
    return (folder / "results.jsonl").read_bytes(), _numbers(report)


def _numbers(report: RunReport) -> dict[str, Any]:
    return {"mean": report.mean(), "counts": report.counts, "items": report.info["items"]}


def _same(items: Any, call: Mapping[str, Any], folder: Path, wanted: tuple[bytes, dict[str, Any]], what: str) -> None:
    """Call run again: it must end as if nothing had happened."""
    report = run(items, out=folder, **call)
    if (folder / "results.jsonl").read_bytes() != wanted[0]:
        raise Wrong(f"{what}: results.jsonl has other bytes", "resume gives other bytes")
    if _numbers(report) != wanted[1]:
        raise Wrong(f"{what}: {_numbers(report)} instead of {wanted[1]}", "resume gives other numbers")
    parts = [path.name for path in folder.rglob("*") if path.name.endswith((".part", ".tmp"))]
    if parts:
        raise Wrong(f"{what}: left behind: {parts}", "resume leaves pieces behind")


# ---------------------------------------------------------------- kills


def _forked(work: Callable[[], Any]) -> int:
    """Do something in a process of its own; return its wait status. One that hangs is a finding, with its place."""
    stuck = Path("stuck.txt").absolute()
    pid = os.fork()
    if pid == 0:
        for number in (signal.SIGPROF, signal.SIGALRM, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        code = 7
        try:
            with stuck.open("w") as file:
                faulthandler.dump_traceback_later(90, exit=True, file=file)
                work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if told := stuck.read_text():
        raise Wrong(f"a run hangs here:\n{told[-2500:]}", "a run hangs")
    return status


def _dies_at_event(number: int) -> None:
    """Kill this process at the so-manieth time that it touches a file (opens, renames, removes one)."""
    left = [number]

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.link", "os.truncate", "fcntl.flock"):
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def _dies_at_byte(size: int) -> None:
    """Kill this process in the middle of the write that makes a file longer than so many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _dies_after(seconds: float, number: int) -> None:
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), number))
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-4))


def kills(rng: random.Random, folder: Path) -> None:
    """Runs killed once or several times, at a file, within a write or after a while; then called again."""
    items, call = _plan(rng)
    start = time.perf_counter()
    wanted = _whole(items, call, folder / "whole")
    needed = time.perf_counter() - start
    done = []
    for _ in range(rng.choice([1, 1, 2, 4])):
        how = rng.choice(["event", "byte", "time", "interrupt"])
        if how == "event":
            arm, argument = _dies_at_event, rng.randint(1, 40)
        elif how == "byte":
            arm, argument = _dies_at_byte, rng.randint(0, 3000)
        else:
            argument = rng.uniform(0, needed)
            number = signal.SIGINT if how == "interrupt" else rng.choice([signal.SIGKILL, signal.SIGTERM])
            arm = lambda seconds, number=number: _dies_after(seconds, number)

        def work(arm: Callable[[Any], None] = arm, argument: Any = argument) -> None:
            arm(argument)
            run(items, out=folder / "killed", **call)

        status = _forked(work)
        done.append(f"{how} {argument} -> {status}")
    _same(items, call, folder / "killed", wanted, f"{len(items)} items, {call}, kills: {done}")


# ---------------------------------------------------------------- damage


def damage(rng: random.Random, folder: Path) -> None:
    """Files of a run changed by somebody: the run mends them or refuses; a report shows true numbers or refuses."""
    items, call = _plan(rng)
    wanted = _whole(items, call, folder / "run")
    out = folder / "run"
    if rng.random() < 0.4:  # as if killed at its end
        (out / "results.jsonl").unlink()
        with RunFile(out, "rw") as file:
            file.note(complete=False)
    victims = sorted(p for p in out.rglob("*") if p.is_file() and p.stat().st_size)
    done = [harm(rng, rng.choice(victims)) for _ in range(rng.choice([1, 1, 1, 3]))]
    what = f"{len(items)} items, {call}, damage: {done}"
    _report(out, wanted, what)
    try:
        _same(items, call, out, wanted, what)
    except TYPED as error:
        _says_something(error, what)
    else:
        _report(out, wanted, f"{what}, run again", must=True)


def harm(rng: random.Random, path: Path) -> str:
    """Damage a file in one of the ways in which files are damaged; return how."""
    if not path.exists():
        return f"{path.name} gone"
    data = path.read_bytes()
    at = rng.randrange(len(data)) if data else 0
    digit = rng.choice([i for i, c in enumerate(data) if c in b"0123456789"] or [at])
    more = bytes((c - 48 + rng.randint(1, 9)) % 10 + 48 for c in data[digit : digit + 1])
    value = corpus.text(rng).encode("utf-8", "surrogatepass")[:300]
    ways: dict[str, Callable[[], bytes]] = {
        "flip": lambda: data[:at] + bytes(c ^ 1 << rng.randrange(8) for c in data[at : at + 1]) + data[at + 1 :],
        "digit": lambda: data[:digit] + more + data[digit + 1 :],
        "cut": lambda: data[:at],
        "zero": lambda: data[:at] + bytes(len(data[at : at + 512])) + data[at + 512 :],
        "double": lambda: data[:at] + data[max(0, at - 100) :],
        "text": lambda: rng.choice([b"", value, b"{}", data[:at] + value + data[at:]]),
    }
    how = rng.choice(["flip", "digit", "delete", *ways])
    if how == "delete":
        path.unlink()
    else:
        path.write_bytes(ways[how]())
    return f"{path.parent.name}/{path.name}: {how} at {at}"


def _report(out: Path, wanted: tuple[bytes, dict[str, Any]], what: str, *, must: bool = False) -> None:
    """A report of the folder has the right numbers and rows, or is refused."""
    try:
        report = RunReport.load(out)
        shown, read = _numbers(report), list(report.rows())
        page = report.to_html(out.parent / "page.html").read_text(encoding="utf-8")
        repr(report), report._repr_html_()
    except TYPED as error:
        if must:
            raise Wrong(f"{what}: the report is refused: {error}", "a mended run has no report") from error
        _says_something(error, what)
        return
    judges.page(page, f"page of a run, {what}")
    if not report.info["complete"]:
        return  # which says how many of them it has
    if shown != wanted[1]:
        raise Wrong(f"{what}: the report says {shown} instead of {wanted[1]}", "a damaged run is reported")
    true = [json.loads(line) for line in wanted[0].split(b"\n") if line]
    if [row["score"] for row in read] != [row["score"] for row in true]:
        raise Wrong(f"{what}: the report's rows have other scores", "damaged rows are reported")


def _says_something(error: BaseException, what: str) -> None:
    if not str(error).strip():
        raise Wrong(f"{what}: {type(error).__name__} without a message", "an error without a message") from error


# ---------------------------------------------------------------- full disks


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """No file may grow beyond so many bytes: writing fails with EFBIG, as on a full disk with ENOSPC."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def disks(rng: random.Random, folder: Path) -> None:
    """A disk that is full from some byte on: a typed error; with room again, the same bytes."""
    items, call = _plan(rng)
    wanted = _whole(items, call, folder / "whole")
    sizes = [rng.choice([0, rng.randint(0, 400), rng.randint(0, 4000)]) for _ in range(rng.choice([1, 1, 2]))]
    for size in sizes:
        with full_disk(size):
            try:
                run(items, out=folder / "full", **call)
            except (RunStopped, ValueError) as error:
                _says_something(error, f"full at {size}")
    _same(items, call, folder / "full", wanted, f"{len(items)} items, {call}, disks full at {sizes}")
    page = folder / "page.html"
    before = RunReport.load(folder / "full").to_html(page).read_bytes()
    with full_disk(rng.randint(0, len(before) - 1)):
        try:
            RunReport.load(folder / "full").to_html(page)
        except OSError as error:
            _says_something(error, "page on a full disk")
    if page.read_bytes() != before:
        raise Wrong(f"a page of {len(before)} bytes was cut to {page.stat().st_size}", "a page is cut by a full disk")
