"""The torture itself (`make torture` runs it for an hour): a few cases of each kind, and faults that it must find."""

import contextlib
import dataclasses
import faulthandler
import functools
import inspect
import os
import random
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
from summeval_nb.runs import run_report
from tests.torture import __main__ as face
from tests.torture import corpus, folders, harness, judges, names, pages, runs, servers, shell, stores, tables, wires
from tests.torture.harness import Wrong, attempt, torture
from tests.torture.kinds import KINDS

ROOT = Path(__file__).parents[1]
SECONDS = 20  # of computing, in which a planted fault must be found
APART = "SUMMEVAL_NB_TORTURE_APART"


pytestmark = pytest.mark.torture


def apart(test):
    """A test that forks: in a process of its own, without the threads of other tests, whose locks nobody would free."""

    @functools.wraps(test)
    def started(request, **fixtures):
        if os.environ.get(APART):
            test(**fixtures)
            return
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", request.node.nodeid]
        done = subprocess.run(words, cwd=ROOT, env={**os.environ, APART: "1"}, capture_output=True, text=True)
        assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout[-5000:] + done.stderr[-2000:]

    wanted = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in inspect.signature(test).parameters]
    request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    started.__signature__ = inspect.Signature([request, *wanted])
    return started


FEW = ["kills", "damage", "disks", "links", "locks", "tables", "stores", "encodings", "proxies"]


@apart
@pytest.mark.parametrize("kind", [*FEW, "pages"])
def test_a_few_cases_find_nothing(kind, tmp_path):
    for seed in range(3):
        (folder := tmp_path / str(seed)).mkdir()
        assert attempt(kind, KINDS[kind], seed, folder) is None


def found_by(case, tmp_path, kind="planted"):
    """The first finding of a kind within some seconds."""
    end = time.process_time() + SECONDS
    for seed in range(10_000):
        (folder := tmp_path / f"c{seed}").mkdir()
        if finding := attempt(kind, case, seed, folder):
            return finding
        if time.process_time() > end:
            return None
    return None


# ---------------------------------------------------------------- planted faults


@apart
def test_a_resume_with_other_bytes_is_found(monkeypatch, tmp_path):
    def careless(items, *, out, **call):
        report = real(items, out=out, **call)
        if Path(out).name == "killed":
            results = Path(out) / "results.jsonl"
            results.write_bytes(results.read_bytes().replace(b"0", b"1"))
        return report

    real = runs.run
    monkeypatch.setattr(runs, "run", careless)
    assert "other bytes" in found_by(runs.kills, tmp_path).where


def test_a_report_of_damaged_numbers_is_found(monkeypatch, tmp_path):
    def trusting(folder):
        return {name: value for name, value in real(folder).items() if name != "results_sha256"}

    real = run_report.read_manifest
    monkeypatch.setattr(run_report, "read_manifest", trusting)
    assert "damaged" in found_by(runs.damage, tmp_path).where


@apart
def test_an_untyped_fault_on_a_full_disk_is_found(monkeypatch, tmp_path):
    def raw(items, **call):
        try:
            return real(items, **call)
        except runs.RunStopped as error:
            raise AttributeError("'NoneType' object has no attribute 'write'") from error

    real = runs.run
    monkeypatch.setattr(runs, "run", raw)
    assert "AttributeError" in found_by(runs.disks, tmp_path).where


def test_a_store_without_checksums_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr("summeval_nb.models.store._checksum", lambda *row: 0)
    assert found_by(stores.stores, tmp_path) is not None


def test_a_lie_that_becomes_a_number_is_found():
    from summeval_nb.models.base import BackendUnavailable, Choice

    with pytest.raises(Wrong, match="where the server meant"):
        servers.judge_answer({0.25}, Choice("yes", {"yes": 0.75, "no": 0.25}, 1.0), "planted")
    with pytest.raises(Wrong, match="the key stands in the error"):
        servers.judge_answer(set(), BackendUnavailable("sk-zzq-secret is wrong", model="m", remedy="none"), "planted")
    with pytest.raises(Wrong, match="neither a choice nor a typed error"):
        servers.judge_answer(set(), KeyError("choices"), "planted")
    servers.judge_answer({0.25}, Choice("no", {"yes": 0.25, "no": 0.75}, 1.0), "planted")


def test_a_table_of_which_one_of_two_columns_is_read_is_found(monkeypatch, tmp_path):
    for module in ("files", "items"):
        monkeypatch.setattr(f"summeval_nb.core.{module}.require_once", lambda names, what: None)
    assert found_by(tables.tables, tmp_path).where == "one of two columns is read"


def test_a_run_that_follows_a_link_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr(folders, "run", lambda items, **call: None)
    assert found_by(folders.links, tmp_path).where == "a run follows a link"


def test_a_run_that_writes_through_a_link_is_found(monkeypatch, tmp_path):
    def careless(items, *, out, **call):
        for path in (out, *out.iterdir()):
            if path.is_symlink() and path.parent == out and not path.is_dir():
                path.write_bytes(b"mine")
        raise ValueError("there is a link")

    monkeypatch.setattr(folders, "run", careless)
    assert found_by(folders.links, tmp_path).where == "a run writes through a link"


def test_an_accusation_where_there_are_no_locks_is_found(monkeypatch, tmp_path):
    def accuses(items, **call):
        raise RuntimeError("another run is working in this folder")

    monkeypatch.setattr(folders, "run", accuses)
    assert "another run is accused" in found_by(folders.locks, tmp_path).where


def fails(why):
    from summeval_nb.models.base import BackendUnavailable

    return BackendUnavailable(why, model="m", remedy="none")


def hoards(server, prompt):
    return fails(f"{len(b'x' * (2 * wires.MORE_MEMORY))} bytes")


def meets_the_proxy(server, prompt):
    for value in os.environ.values():
        if value.partition("@")[2].startswith("127.0.0.1:"):
            with socket.create_connection(("127.0.0.1", int(value.rpartition(":")[2]))) as connection:
                connection.recv(1)
    return fails("a proxy hung up")


WIRED = {
    "an encoding fills the memory": (wires.encodings, hoards),
    "an untyped answer": (wires.encodings, lambda server, prompt: KeyError("choices")),
    "a proxy gets what is for this machine": (wires.proxies, meets_the_proxy),
    "a proxy keeps a server of this machine from answering": (wires.proxies, lambda server, prompt: fails("no proxy")),
}


@pytest.mark.parametrize("where", WIRED)
def test_a_client_that_trusts_what_lies_between_is_found(where, monkeypatch, tmp_path):
    case, ask = WIRED[where]
    monkeypatch.setattr(wires, "MEGABYTES", 5)
    monkeypatch.setattr(wires, "ask", ask)
    assert found_by(case, tmp_path).where == where


class Careless:
    """A result whose page is not escaped."""

    def __init__(self, text):
        self.text = text

    def _repr_html_(self):
        return f"<p>{self.text}</p>"

    def to_text(self):
        return "fine"


class Explained:
    """A result whose sentences are explained one by one, with a page that is not escaped."""

    verdicts = ("judged", "not judged")

    def explain(self, i):
        if i:
            raise ValueError("nothing to explain")
        return Careless(f"<{corpus.MARK}>")


def test_the_explanation_of_each_sentence_is_looked_at():
    with pytest.raises(Wrong, match="markup of the input"):
        judges.result(Explained(), "planted")


def loops(text: object) -> object:
    while "zzq" in str(text):
        pass
    return text


FAULTS = {
    "NaN": lambda text: float("nan") if len(str(text)) > 30 else 1.0,
    "KeyError": lambda text: {}[str(text)],
    "no words": lambda text: (_ for _ in ()).throw(ValueError()),
    "UnicodeEncodeError": lambda text: str(text).encode().decode(),
    "markup": Careless,
    "longer than": loops,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_public_name_with_a_fault_is_found(fault, monkeypatch, tmp_path):
    if fault == "longer than":
        monkeypatch.setattr(harness, "CPU_SECONDS", 2)
    case = lambda rng, folder: names.fuzz("planted", rng.randrange(1 << 30), examples=30, function=FAULTS[fault])
    finding = found_by(case, tmp_path)
    assert fault in finding.what + finding.where


def test_every_public_name_is_called_or_said_to_be_passive():
    public = set(names.public_names())
    assert len(public) > 150 and public >= set(names.LISTED) and public >= names.PASSIVE
    rest = {names.public(name) for name in public - set(names.called()) - names.PASSIVE}
    assert all(
        issubclass(public_type, (Warning, tuple)) or dataclasses.is_dataclass(public_type) for public_type in rest
    )
    for name in names.called():  # arguments can be drawn for it
        assert names.calls(names.public(name), names.LISTED.get(name, {})) is not None


def test_no_case_asks_for_a_download():
    """A call that says `download=True` may ask the hub; a case that makes one would find a trespass that is none."""
    asking = [name for name in names.called() if "download" in inspect.signature(names.public(name)).parameters]
    assert {"load_summeval", "SentenceTransformerEmbedder"} <= set(asking)
    for name in asking:
        drawn = names.calls(names.public(name), names.LISTED.get(name, {}))
        with pytest.raises(NoSuchExample):
            find(drawn, lambda call: call.get("download") is True, settings=settings(max_examples=500, database=None))


def test_text_that_is_not_escaped_is_found(monkeypatch, tmp_path):
    monkeypatch.setattr("summeval_nb.core.html.html.escape", lambda text, quote=True: text)
    assert "markup" in found_by(pages.pages, tmp_path).where


@pytest.mark.parametrize("text", corpus.MARKUP[:7], ids=range(7))
def test_markup_in_a_page_is_seen(text):
    with pytest.raises(Wrong, match="markup of the input"):
        judges.page(f'<p title="{text}" style="color:{text}">{text}</p>', "planted")


def test_terminal_escapes_are_seen():
    for text in ("\x1b]0;title\x07", "a\u202eb", "\x9b31m", "\x08"):
        with pytest.raises(Wrong, match="to the terminal"):
            judges.terminal(text, "planted")
    judges.terminal("\x1b[38;2;1;2;3mcoloured\x1b[0m\n", "ours")


def ends_with(code):
    def command(arguments):
        raise code

    return command


@pytest.mark.parametrize(
    ("code", "where"),
    [(RuntimeError("raw"), "RuntimeError"), (SystemExit(99), "code 99"), (SystemExit(2), "without words")],
)
def test_a_shell_with_a_fault_is_found(code, where, monkeypatch, tmp_path):
    monkeypatch.setattr(shell, "main", ends_with(code))
    assert where in found_by(shell.shell, tmp_path).where


# ---------------------------------------------------------------- the harness


def writes(rng, folder):
    (Path(harness.__file__).parent / "trespass.txt").touch()
    (Path(harness.__file__).parent / "trespass.txt").unlink()


def calls_home(rng, folder):
    with contextlib.suppress(OSError), socket.socket() as connection:
        connection.settimeout(0.01)
        connection.connect(("192.0.2.1", 9))  # an address that nobody has


@pytest.mark.parametrize("case", [writes, calls_home])
def test_a_trespass_is_found(case, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # the checkout itself may lie among temporary files
    assert found_by(case, tmp_path).where == "a trespass"


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


@pytest.mark.parametrize(("case", "where"), [(crash, "a crash"), (deaf, "a hang"), (greedy, "MemoryError")])
def test_a_case_that_ends_its_process_is_found(case, where, monkeypatch):
    monkeypatch.setattr(harness, "WALL_SECONDS", 0.5)
    monkeypatch.setattr(harness, "PATIENCE", 0.5)
    report = torture({"planted": case}, seed=5, seconds=0.3, say=lambda text: None)
    assert where in report.findings[0].where and report.findings[0].seed == 5
    assert "--again planted:5" in str(report.findings[0])


def test_counts_are_printed_and_nothing_is_made_up(capsys, monkeypatch):
    report = torture({"fair": fair}, seed=1, seconds=0.5, say=print)
    assert report.cases["fair"] > 3 and not report.findings and "0 findings" in str(report)
    monkeypatch.setattr(sys, "argv", ["torture", "--minutes", "0.005", "--seed", "3", "--only", "stores"])
    assert face.main() == 0
    shown = capsys.readouterr().out
    assert "seed 3" in shown and "stores" in shown and "without a finding" in shown


def test_signs_stand_alone_as_texts_and_paragraphs():
    assert not any(map(str.isalnum, "".join(corpus.SIGNS)))
    rng = random.Random(1)
    drawn = [text for _ in range(4000) if len(text := corpus.text(rng)) < 400]
    for pattern in (r"{}", r".*\w.* {} .*\w.*", r".*\w.*\n\n{}(\n\n.*)?"):
        found = {
            sign for sign in corpus.SIGNS if any(re.fullmatch(pattern.format(re.escape(sign)), t, re.S) for t in drawn)
        }
        assert found == set(corpus.SIGNS), pattern


def test_the_same_seed_is_the_same_case(tmp_path):
    seen = []
    for _ in range(2):
        attempt("k", lambda rng, folder: seen.append((rng.random(), corpus.text(rng))), 7, tmp_path)
    assert seen[0] == seen[1] != (random.Random("k:8").random(), "")
