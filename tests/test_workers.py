"""A worker's answer belongs to its question, whatever interrupts the one who asks."""

import errno
import fcntl
import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from functools import partial

import pytest
from helpers.lockless import AVAILABLE, without_locks

from summeval_nb.runs import workers
from summeval_nb.runs.batch import run
from summeval_nb.runs.folder import Busy, _host, hold, only_one
from summeval_nb.runs.workers import RunStopped, Worker, WorkerRefused, WorkerTimeout


def slow_counter():
    import time

    def work(word):
        time.sleep(0.5 if word == "slow" else 0)
        return len(word)

    return work


@pytest.fixture
def worker():
    worker = Worker(slow_counter)
    worker.make_ready()
    yield worker
    worker.close()


def test_after_ctrl_c_no_answer_reaches_the_wrong_question(worker):
    def press(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            worker.ask("slow")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    time.sleep(0.5)  # until the late answer would lie in the pipe
    assert worker.ask("seventeen") == 9


def test_after_a_time_out_no_answer_reaches_the_wrong_question(worker):
    with pytest.raises(WorkerTimeout, match=r"0\.1 s"):
        worker.ask("slow", seconds=0.1)
    assert worker.ask("seventeen", seconds=30) == 9


def test_an_answer_in_the_last_moment_counts(worker, monkeypatch):
    receive = workers._receive

    def dawdle(pipe):
        answer = receive(pipe)
        time.sleep(0.5)  # the time limit ends between the answer and its return
        return answer

    monkeypatch.setattr(workers, "_receive", dawdle)
    assert worker.ask("fine", seconds=0.2) == 4
    monkeypatch.undo()
    assert worker.ask("seventeen") == 9


def dies_at_first(marker):
    import os
    from pathlib import Path

    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return len


def test_a_worker_killed_while_it_starts_is_started_again(tmp_path):
    worker = Worker(partial(dies_at_first, str(tmp_path / "marker")))
    assert worker.ask("four") == 4 and (tmp_path / "marker").exists()
    worker.close()


def test_a_worker_that_is_killed_at_each_start_is_given_up():
    with pytest.raises(WorkerRefused, match="cannot be made ready: .*SIGKILL"):
        Worker(lambda: signal.raise_signal(signal.SIGKILL)).ask("four")


def test_a_worker_is_born_deaf_to_ctrl_c():
    process = workers._launch(None)
    process.send_signal(signal.SIGINT)  # at once, while Python starts
    process.stdin.close()
    assert process.wait(60) == 0
    process.stdout.close()


# ---------------------------------------------------------------- one holder of a folder

ROWS = [{"candidate": "the cat sat", "references": f"the cat sat {i}"} for i in range(4)]


@pytest.fixture
def lockless(monkeypatch):
    """The file systems of this machine have locks; here the call says what it says on one that has none."""

    def says(fault):
        def refuse(number, operation):
            raise OSError(fault, os.strerror(fault))

        monkeypatch.setattr(fcntl, "flock", refuse)

    return says


def leave_held(folder):
    """Let a process hold a folder and end without letting it go; it is not waited for."""
    child = os.fork()
    if child == 0:
        hold(folder)
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    return child


WITHOUT = sorted({errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


@pytest.mark.parametrize("fault", WITHOUT, ids=errno.errorcode.get)
def test_without_file_locks_one_run_holds_a_folder(fault, tmp_path, lockless):
    lockless(fault)
    for scored in (4, 0):
        report = run(ROWS, "bleu", out=tmp_path, workers=0, progress=False)
        assert report.manifest["scored_now"] == scored
    with only_one(tmp_path):
        with pytest.raises(RuntimeError, match=rf"another run is working in .* \(process {os.getpid()}\); wait for it"):
            run(ROWS, "bleu", out=tmp_path, workers=0, progress=False)
        assert (tmp_path / ".lock-holder").exists()
    assert not list(tmp_path.glob(".lock-*"))


@pytest.mark.skipif(not AVAILABLE, reason="the system's calls are filtered on Linux")
def test_where_the_kernel_has_no_locks_a_run_works(tmp_path):
    score = partial(run, ROWS, "bleu", out=tmp_path, workers=0, progress=False)
    assert [without_locks(lambda: score().manifest["scored_now"]) for _ in range(2)] == ["4", "0"]


def test_a_folder_that_a_dead_local_process_held_is_taken_over(tmp_path, lockless):
    lockless(errno.ENOSYS)
    child = leave_held(tmp_path)
    assert (tmp_path / ".lock-holder").exists()
    with only_one(tmp_path):  # dead, and not yet waited for
        pass
    os.waitpid(child, 0)
    os.waitpid(leave_held(tmp_path), 0)
    with only_one(tmp_path):
        pass
    record = {"host": _host(), "process": os.getpid(), "born": "1", "token": "another process of this number"}
    (tmp_path / ".lock-holder").write_text(json.dumps(record))
    if sys.platform == "linux":
        with only_one(tmp_path):
            pass
        assert not list(tmp_path.glob(".lock-*"))


@pytest.mark.parametrize("record", ["", "{}", "[1]", '{"host": "another", "process": 1}', '{"process": true}'])
@pytest.mark.parametrize("locks", [True, False], ids=["with locks here", "without"])
def test_a_holder_that_may_work_elsewhere_is_named_and_stays(record, locks, tmp_path, lockless):
    if not locks:
        lockless(errno.ENOSYS)
    (tmp_path / ".lock-holder").write_text(record)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"\(on another.*, if that is still at work; if not, delete .*holder'\)"):
            run(ROWS, "bleu", out=tmp_path, workers=0, progress=False)
    assert (tmp_path / ".lock-holder").read_text() == record
    (tmp_path / ".lock-holder").unlink()
    assert run(ROWS, "bleu", out=tmp_path, workers=0, progress=False).counts["ok"] == 4


def test_of_many_that_take_over_at_once_one_holds(tmp_path, lockless):
    lockless(errno.ENOSYS)
    for _ in range(20):
        os.waitpid(leave_held(tmp_path), 0)
        together, found = threading.Barrier(8), []

        def take(together=together, found=found):
            together.wait()
            with suppress(Busy):
                found.append(hold(tmp_path))

        threads = [threading.Thread(target=take) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 1
        found[0]()
        assert not list(tmp_path.glob(".lock-*"))


def test_a_lock_service_that_is_down_is_an_error_with_a_remedy(tmp_path, lockless):
    lockless(errno.ENOLCK)
    with pytest.raises(RunStopped, match=r"cannot lock .*: No locks available; choose a folder on a disk of this mach"):
        run(ROWS, "bleu", out=tmp_path, workers=0, progress=False)


def test_a_fork_of_the_holder_neither_keeps_nor_opens_its_lock(tmp_path):
    let_go = hold(tmp_path)
    child = os.fork()
    if child == 0:
        let_go()
        time.sleep(60)
    try:
        time.sleep(0.2)
        with pytest.raises(Busy):
            hold(tmp_path)
        let_go()
        hold(tmp_path)()  # although the child lives
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
