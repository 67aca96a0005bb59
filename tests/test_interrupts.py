"""Ctrl-C in the middle of real work: it ends soon, with one line in the shell, and what was kept can be used.

A server that says nothing would be waited for ten minutes, and the work on one machine would take minutes.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from summeval_nb.core.data import sample_articles
from tests.helpers import stores
from tests.helpers.patience import PATIENCE
from tests.servers.misbehaving import MisbehavingServer

pytestmark = pytest.mark.nightly

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
ARTICLE = sample_articles()[0]
LINE = "summeval: interrupted\n"
IN_A_RUN = "summeval: interrupted; what was scored is kept, and the same command continues\n"


def heed_interrupts():
    """A shell starts background jobs deaf to Ctrl-C, and their children inherit it; a terminal's process is not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(words, begun):
    """Start a process, send Ctrl-C to its group once its work has begun, and return its exit code and errors."""
    terminal = {"start_new_session": True, "preexec_fn": heed_interrupts}
    with subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, **terminal) as process:
        try:
            deadline = time.monotonic() + 5 * PATIENCE  # importing is no part of what is asked here
            while not begun() and process.poll() is None:
                if time.monotonic() > deadline:
                    pytest.fail("the work has not begun")
                time.sleep(0.05)
            time.sleep(0.5)
            assert process.poll() is None, process.stderr.read()
            os.killpg(process.pid, signal.SIGINT)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    return process.returncode, errors


def shell(*words):
    return [sys.executable, "-m", "summeval_nb", *map(str, words)]


@pytest.fixture
def server():
    """Answers four questions and is silent for all others."""
    with MisbehavingServer(lambda number, prompt: "ok" if number < 4 else "silent") as found:
        yield found


@pytest.fixture
def table(tmp_path):
    """As many rows as nobody has judged within a minute."""
    rows = []
    for number in range(4000):
        text, said = f"Report {number}. {ARTICLE.text}", f"{ARTICLE.faithful.text} It is report {number}."
        rows.append({"text": text, "summary": said, "context": text, "question": "What happened?"})
        rows[-1] |= {"ground_truth": said, "answer": said, "contexts": [text]}
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("metric", ["faithfulness", "answers", "rating", "rag"])
def test_no_silent_server_is_waited_for_in_the_shell(metric, server, table, tmp_path):
    short = tmp_path / "short.jsonl"
    short.write_text("".join(table.open().readlines()[:20]))
    model, kept = f"llm:scripted@{server.url}", tmp_path / "kept.sqlite"
    options = ["-o", f"judge={model}", *(["-o", "quality=fluency"] if metric == "rating" else [])]
    words = shell("score", metric, short, *options, "--store", kept)
    assert interrupted(words, lambda: len(server.questions) > 4) == (130, LINE)
    stores.kept(kept)


RATED = "from summeval_nb.judged import rate_many; rate_many(['Rain.'] * 99, [f'Rain {n}.' for n in range(99)], "


def test_no_silent_server_is_waited_for_in_python(server):
    code = f"{RATED}quality='fluency', judge='llm:scripted@{server.url}')"
    left, errors = interrupted([sys.executable, "-c", code], lambda: len(server.questions) > 4)
    assert left == -signal.SIGINT, errors
    assert errors.count("Traceback") == 1 and errors.endswith("KeyboardInterrupt\n")


@pytest.mark.parametrize("metric", ["faithfulness", "answers", "citations"])
def test_work_on_this_machine_is_left_in_the_middle(metric, table, tmp_path):
    kept = tmp_path / "kept.sqlite"
    words = shell("score", metric, table, "--store", kept)
    assert interrupted(words, lambda: kept.exists() and stores.sql(kept, "SELECT 1 FROM items LIMIT 1")) == (130, LINE)
    stores.kept(kept)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_run_with_a_silent_server_is_left(workers, server, table, tmp_path):
    model, out = f"llm:scripted@{server.url}", tmp_path / "out"
    how = ["--workers", workers, "--batch-size", 20]
    words = shell("run", table, "--metric", "faithfulness", "-o", f"checker={model}", "--out", out, *how)
    assert interrupted(words, lambda: len(server.questions) > 4) == (130, IN_A_RUN)
