"""A worker's answer belongs to its question, whatever interrupts the one who asks."""

import os
import signal
import time
from functools import partial

import pytest

from summeval_nb.runs import workers
from summeval_nb.runs.workers import Worker, WorkerRefused, WorkerTimeout


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


def test_ctrl_c_in_a_terminal_does_not_reach_a_worker(worker):
    assert os.getpgid(worker._process.pid) != os.getpgid(0)
