"""The torture itself (`make torture` runs it for an hour): a few cases of each kind, and faults that it must find."""

import contextlib
import faulthandler
import inspect
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import find, settings
from hypothesis.errors import NoSuchExample

sys.path.insert(0, str(Path(__file__).parents[1]))
from summeval_nb.models.base import BackendUnavailable, Choice
from tests.torture import __main__ as face
from tests.torture import corpus, harness, judges, names, pages, runs, servers, shell, stores, tables
from tests.torture.harness import Wrong, attempt, torture

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.torture


def test_a_few_cases_find_nothing(tmp_path):
    """In a process of its own, for it forks, without the threads of other tests, whose locks nobody would free."""
    kinds = [kind for kind in face.KINDS if kind not in ("names", "servers", "shell")]
    command = [sys.executable, "-m", "tests.torture", "--minutes", "0.5", "--seed", "0", "--only", *kinds]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    counts = dict(re.findall(r"^(\w+) +(\d+) cases", done.stdout, re.M))
    assert done.returncode == 0 and set(counts) == {*kinds, "all"}, done.stdout + done.stderr


def found_by(case, tmp_path):
    """Where the first finding of a kind is, within twenty seconds of computing."""
    end = time.process_time() + 20
    for seed in range(10_000):
        if finding := attempt("planted", case, seed, Path(tempfile.mkdtemp(dir=tmp_path))):
            return f"{finding.where}: {finding.what}"
        if time.process_time() > end:
            break
    return "nothing is found"


def test_a_resume_with_other_bytes_is_found(monkeypatch, tmp_path):
    def careless(items, *, out, **call):
        report = real(items, out=out, **call)
        if Path(out).name == "killed":
            results = Path(out) / "results.jsonl"
            results.write_bytes(results.read_bytes().replace(b"0", b"1"))
        return report

    real = runs.run
    monkeypatch.setattr(runs, "run", careless)
    assert "other bytes" in found_by(runs.kills, tmp_path)


def test_a_report_of_damaged_numbers_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr("summeval_nb.runs.file._sum", lambda *values: 0)
    assert found_by(runs.damage, tmp_path) != "nothing is found"


def test_an_untyped_fault_on_a_full_disk_is_found(monkeypatch, tmp_path):
    def raw(items, **call):
        try:
            return real(items, **call)
        except runs.RunStopped as error:
            raise AttributeError("'NoneType' object has no attribute 'write'") from error

    real = runs.run
    monkeypatch.setattr(runs, "run", raw)
    assert "AttributeError" in found_by(runs.disks, tmp_path)


def test_a_store_without_checksums_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr("summeval_nb.models.store._checksum", lambda *row: 0)
    assert found_by(stores.stores, tmp_path) != "nothing is found"


def test_a_table_of_which_one_of_two_columns_is_read_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr("summeval_nb.core.files.require_once", lambda names, what: None)
    assert "one of two columns is read" in found_by(tables.tables, tmp_path)


def test_a_lie_that_becomes_a_number_is_found():
    secret = BackendUnavailable("sk-zzq-secret is wrong", model="m", remedy="none")
    for meant, said, words in (
        ({0.25}, Choice("yes", {"yes": 0.75, "no": 0.25}, 1.0), "where the server meant"),
        (set(), secret, "the key stands in the error"),
        (set(), KeyError("choices"), "neither a choice nor a typed error"),
    ):
        with pytest.raises(Wrong, match=words):
            servers.judge_answer(meant, said, "planted")
    servers.judge_answer({0.25}, Choice("no", {"yes": 0.25, "no": 0.75}, 1.0), "planted")


class Careless:
    """A result whose page is not escaped, nor is what explains its only sentence."""

    verdicts = ("judged",)

    def __init__(self, text):
        self.text = text

    def _repr_html_(self):
        return f"<p>{self.text}</p>"

    def explain(self, i):
        return Careless(f"<{corpus.MARK}>")


def loops(text: object) -> object:
    while "zzq" in str(text):
        pass
    return text


def test_a_public_name_with_a_fault_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(harness, "CPU_SECONDS", 2)
    for fault, function in {
        "NaN": lambda text: float("nan") if len(str(text)) > 30 else 1.0,
        "KeyError": lambda text: {}[str(text)],
        "no words": lambda text: (_ for _ in ()).throw(ValueError()),
        "UnicodeEncodeError": lambda text: str(text).encode().decode(),
        "markup": Careless,
        "longer than": loops,
    }.items():
        case = lambda rng, folder, f=function: names.fuzz("planted", rng.randrange(1 << 30), examples=30, function=f)
        assert fault in found_by(case, tmp_path)


def test_arguments_can_be_drawn_for_every_public_call_and_ask_for_no_download():
    assert len(names.called()) > 120 and {"load_summeval", "SentenceTransformerEmbedder"} <= {*names.called()}
    for name in names.called():
        drawn = names.calls(names.public(name), names.OWN.get(name, {}))
        if "download" in inspect.signature(names.public(name)).parameters:
            with pytest.raises(NoSuchExample):
                find(
                    drawn, lambda call: call.get("download") is True, settings=settings(max_examples=50, database=None)
                )


def test_text_that_is_not_escaped_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr("summeval_nb.core.html.html.escape", lambda text, quote=True: text)
    assert "markup" in found_by(pages.pages, tmp_path)


def test_markup_in_a_page_is_seen():
    for text in corpus.MARKUP[:7]:
        with pytest.raises(Wrong, match="markup of the input"):
            judges.page(f'<p title="{text}" style="color:{text}">{text}</p>', "planted")
    with pytest.raises(Wrong, match="markup of the input"):
        judges.result(Careless("It rained."), "planted")
    for text in ("\x1b]0;title\x07", "a\u202eb", "\x9b31m", "\x08"):
        with pytest.raises(Wrong, match="to the terminal"):
            judges.terminal(text, "planted")
    judges.terminal("\x1b[38;2;1;2;3mcoloured\x1b[0m\n", "ours")


def test_a_shell_with_a_fault_is_found(monkeypatch, tmp_path):
    for code, where in (
        (RuntimeError("raw"), "RuntimeError"),
        (SystemExit(99), "code 99"),
        (SystemExit(2), "without words"),
    ):

        def command(arguments, code=code):
            raise code

        monkeypatch.setattr(shell, "main", command)
        assert where in found_by(shell.shell, tmp_path)


def test_a_trespass_is_found(tmp_path, monkeypatch):
    def writes(rng, folder):
        (Path(harness.__file__).parent / "trespass.txt").touch()
        (Path(harness.__file__).parent / "trespass.txt").unlink()

    def calls_home(rng, folder):
        with contextlib.suppress(OSError), socket.socket() as connection:
            connection.settimeout(0.01)
            connection.connect(("192.0.2.1", 9))  # an address that nobody has

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # the checkout itself may lie among temporary files
    for case in (writes, calls_home):
        assert found_by(case, tmp_path).startswith("a trespass")


def test_a_case_that_ends_its_process_is_found_and_a_seed_is_a_case(monkeypatch, tmp_path):
    def crash(rng, folder):
        faulthandler.disable()
        os.kill(os.getpid(), signal.SIGSEGV)

    def deaf(rng, folder):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGPROF})
        time.sleep(60)

    def greedy(rng, folder):
        bytearray(harness.MEMORY * 2)

    def fair(rng, folder):
        assert folder.is_dir() and not list(folder.iterdir())
        rng.random()

    monkeypatch.setattr(harness, "WALL_SECONDS", 0.5)
    monkeypatch.setattr(harness, "PATIENCE", 0.5)
    for case, where in ((crash, "a crash"), (deaf, "a hang"), (greedy, "MemoryError")):
        report = torture({"planted": case}, seed=5, seconds=0.3, say=lambda text: None)
        assert where in report.findings[0].where and report.findings[0].seed == 5
        assert "--again planted:5" in str(report.findings[0])
    report = torture({"fair": fair}, seed=1, seconds=0.5, say=print)
    assert report.cases["fair"] > 3 and not report.findings and "0 findings" in str(report)
    seen = []
    for seed in (7, 7, 8):
        attempt("k", lambda rng, folder: seen.append((rng.random(), corpus.text(rng))), seed, tmp_path)
    assert seen[0] == seen[1] != seen[2]
