"""A server that lies in every way of the table: each question ends in time, in an answer or a typed error."""

import importlib.util
import json
import logging
import math
import pickle
import shutil
import socket
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest
from helpers.patience import comes_back
from servers.behaviours import BEHAVIOURS, CHANGED, ENDLESS, PAGE_BEHAVIOURS, WIRED
from servers.misbehaving import MisbehavingServer, true_probability
from servers.raw import HEAD, RawServer, answer

from summeval_nb import compare_answers, run
from summeval_nb.cli import main
from summeval_nb.judged import LLMJudge, context_recall, rubric_score
from summeval_nb.models.base import BackendError, BackendRejected, BackendUnavailable, Choice
from summeval_nb.models.server import ServerBackend

OPTIONS = ["yes", "no"]
KEY = "sk-very-secret-key"


def backend_for(server: MisbehavingServer, **settings) -> ServerBackend:
    limits = {"timeout": 20, "total_timeout": 30, "max_retries": 0}
    return ServerBackend("scripted", base_url=server.url, api_key=KEY, **{**limits, **settings})


def limits_for(name: str) -> dict[str, float]:
    """Only what would never end has a hurried limit: a busy machine is not the server's silence."""
    return {"timeout": 0.4, "total_timeout": 1.0} if name in ENDLESS | {"slow", "drip"} else {}


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name, dialect", [(n, d) for n in BEHAVIOURS for d in ("llamacpp", "openai") if n not in WIRED or d == "openai"]
)
def test_each_behaviour_ends_in_an_answer_or_its_typed_error(name, dialect):
    expected = BEHAVIOURS[name].errors
    if (name, dialect) == ("truncated_json", "llamacpp"):
        expected = ()
    with MisbehavingServer(name, dialect=dialect, slowness=1.0) as server:
        backend = backend_for(server, **limits_for(name))
        with comes_back():
            (result,) = backend.choose_many(["Well?"], OPTIONS)
    if not expected:
        assert abs(result.probabilities["yes"] - true_probability("Well?")) < 1e-6
        return
    assert type(result).__name__ in expected, f"{type(result).__name__}: {result}"
    assert result.server == server.url and result.remedy and len(str(result)) < 700
    assert KEY not in str(result) + repr(vars(result)) and backend.usage.failures == 1
    assert str(result).isprintable(), str(result)
    assert pickle.loads(pickle.dumps(result)).remedy == result.remedy


@pytest.mark.nightly
def test_one_bad_answer_does_not_discard_the_others():
    """Each malformed answer stands between good ones, in one call of choose_many."""
    names = [name for name in BEHAVIOURS if name not in ENDLESS | {"slow", "drip", "truncated_json"}]
    prompts = [text for name in names for text in (name, f"good {name}")]
    with MisbehavingServer(lambda number, prompt: prompt if prompt in BEHAVIOURS else "ok", retry_after="0") as server:
        # once more, because a server that answered and hung up is noticed by the next question on the connection
        backend = backend_for(server, timeout=20, total_timeout=60, max_retries=1)
        results = backend.choose_many(prompts, OPTIONS, workers=4)
    for prompt, result in zip(prompts, results, strict=True):
        if BEHAVIOURS.get(prompt, BEHAVIOURS["ok"]).errors:
            assert type(result).__name__ in BEHAVIOURS[prompt].errors, prompt
        else:
            assert abs(result.probabilities["yes"] - true_probability(prompt)) < 1e-6, prompt


@pytest.mark.nightly
@pytest.mark.parametrize("name", PAGE_BEHAVIOURS)
def test_odd_pages_hold_nothing_up_and_lead_nowhere(name):
    """/props and its like may drip, lie or redirect: the question is answered, and nobody else learns the key."""
    with MisbehavingServer() as other, MisbehavingServer(pages_behave=name, elsewhere=other.url) as server:
        # the question itself is answered well, on a busy machine too: only pages that never end are hurried
        backend = backend_for(server, **({"timeout": 1.5, "total_timeout": 6.0} if limits_for(name) else {}))
        with comes_back():
            choice = backend.choose("Well? " * 800, OPTIONS)
        assert abs(choice.probabilities["yes"] - true_probability("Well? " * 800)) < 1e-6
        assert other.asked == 0
    assert backend.limit in (None, 4096)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_neither_prompt_nor_key_elsewhere(status):
    with MisbehavingServer() as other, MisbehavingServer(f"redirect_{status}", elsewhere=other.url) as server:
        backend = backend_for(server)
        with pytest.raises(BackendRejected, match=f"redirects .{status}. to http://127.0.0.1:{other.server_port}"):
            backend.choose("A private prompt.", OPTIONS)
        assert other.asked == 0 and len(server.questions) == 1


def test_a_redirect_shows_no_secret_of_its_address():
    where = "http://me:hunter2@elsewhere.example/v1?api_key=k-777"
    with MisbehavingServer("redirect_302", elsewhere=where) as server:
        with pytest.raises(BackendRejected, match="elsewhere.example") as caught:
            backend_for(server).choose("Well?", OPTIONS)
        assert "hunter2" not in str(caught.value) and "k-777" not in str(caught.value)


def test_password_and_query_are_sent_and_never_shown():
    with MisbehavingServer("401", dialect="vllm") as server:
        address = server.url.replace("http://", "http://me:hunt%40r2@") + "/?api_key=k-777&version=5"
        backend = ServerBackend("scripted", base_url=address, max_retries=0, timeout=5)
        with pytest.raises(BackendRejected) as caught:
            backend.choose("Well?", OPTIONS)
        assert set(server.paths_seen) == {"/v1/chat/completions?api_key=k-777&version=5"}
        assert {path for path, _ in server.pages_asked} == {
            f"{page}?api_key=k-777&version=5" for page in ("/props", "/api/version", "/v1/models")
        }
        assert {headers["Authorization"] for headers in server.headers_seen} == {"Basic bWU6aHVudEByMg=="}
    shown = f"{caught.value}{backend!r}{vars(backend)}{backend.fingerprint}{backend.base_url}"
    for secret in ("hunt", "k-777", "bWU6aHVudEByMg"):
        assert secret not in shown, secret
    assert backend.base_url == server.url


def test_an_answer_that_comes_in_parts_is_read_whole():
    with MisbehavingServer("drip", dialect="openai", slowness=0.1) as server:
        backend = backend_for(server)
        assert backend.dialect
        start = time.monotonic()
        assert backend.choose("Well?", OPTIONS).label in OPTIONS
        assert time.monotonic() - start > 0.3


def test_the_whole_limit_holds_for_repetitions_too():
    with MisbehavingServer("silent") as server:
        backend = backend_for(server, timeout=0.2, total_timeout=1.0, max_retries=1000)
        assert backend.dialect
        with comes_back(), pytest.raises(BackendUnavailable):
            backend.choose("Well?", OPTIONS)
        assert len(server.questions) < 8


def test_a_connection_that_does_not_come_about_has_its_limit():
    """A socket that listens and whose queue is full: Linux lets further connections wait."""
    with socket.socket() as listening, ExitStack() as waiting:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listening.getsockname())
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        backend = ServerBackend(
            "x", base_url=address, connect_timeout=0.3, timeout=600, max_retries=0, dialect="llamacpp"
        )
        with comes_back(), pytest.raises(BackendUnavailable, match="no connection within 0.3 s"):
            backend.choose("Well?", OPTIONS)


@pytest.mark.parametrize("name", ["timeout", "connect_timeout", "total_timeout"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "60", None, True])
def test_limits_are_numbers_of_seconds(name, value):
    with pytest.raises(ValueError, match=name):
        ServerBackend("x", base_url="http://localhost/v1", **{name: value})


@pytest.mark.parametrize("key", ["sk-1\n2", "sk-\u00e9", "sk-\x00"])
def test_a_key_that_no_header_can_hold_is_refused_unseen(key):
    with pytest.raises(ValueError, match="api_key") as caught:
        ServerBackend("x", base_url="http://localhost/v1", api_key=key)
    assert "sk-" not in str(caught.value)


def test_sixteen_threads_share_one_way():
    with MisbehavingServer(latency=0.02) as server:
        backend = backend_for(server, timeout=10, total_timeout=20)
        with ThreadPoolExecutor(16) as pool:
            choices = list(pool.map(lambda n: backend.choose(f"q {n}", OPTIONS), range(64)))
        assert all(isinstance(choice, Choice) for choice in choices)
        assert sum(thread.name == "summeval_nb-wire" for thread in threading.enumerate()) == 1


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["logprob_nan", "message_null", "usage_text", "reply_list", "500", "cut"])
def test_ten_questions_of_a_run_cost_the_documented_requests(name, tmp_path):
    """A run of ten pairs: at most 1 + max_retries requests each, the probe, and three pages."""
    rows = [{"text": f"It rained on day {n}.", "summary": f"Rain on day {n}."} for n in range(10)]
    with MisbehavingServer(name, dialect="vllm") as server:
        backend = backend_for(server, timeout=20, total_timeout=60, max_retries=1)
        options = {"quality": "fluency", "backend": backend}
        manifest = run(rows, "rating", out=tmp_path / "run", options=options, workers=0, progress=False)
        assert manifest is not None
        repeated = 2 if BEHAVIOURS[name].errors == ("BackendUnavailable",) else 1
        assert len(server.questions) == 10 * repeated
        assert server.asked <= 10 * repeated + 1 + 3
    lines = (tmp_path / "run" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 10 and all('"score": null' in line for line in lines)


def test_a_probe_that_keeps_failing_asks_its_pages_once(tmp_path):
    """Each question of the run tries the probe in its own place, and the pages are not fetched again."""
    rows = [{"text": f"It rained on day {n}.", "summary": f"Rain on day {n}."} for n in range(10)]
    with MisbehavingServer("500", dialect="openai", also_probe=True) as server:
        backend = backend_for(server, timeout=20, total_timeout=60, max_retries=1)
        with suppress(BackendError):
            run(rows, "rating", out=tmp_path, options={"quality": "fluency", "backend": backend}, workers=0)
        assert len(server.pages_asked) == 3 and server.asked <= (10 + 1) * 2 + 3


LIES = ["logprob_nan", "logprob_above_0", "logprob_one_minus_infinite", "token_twice", "message_null", "redirect_307"]
LIES += ["401", "silent", "flood", "no_http"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", LIES)
def test_a_lie_decides_no_comparison_rubric_or_retrieval_score(name):
    truth, wrong = "It opened in 1931.", "It rained."
    with MisbehavingServer() as other, MisbehavingServer(name, elsewhere=other.url) as server:
        backend = backend_for(server, **limits_for(name))
        for call in (  # the judge and the rubric are made in them: the hurried limit is one for their probe, too
            lambda: compare_answers("When?", truth, wrong, backend=backend),
            lambda: rubric_score("When?", truth, criteria="Is it polite?", backend=backend),
            lambda: context_recall("When?", [truth, wrong], truth, judge=LLMJudge(backend)),
        ):
            try:
                found = call()
            except BackendError as error:
                said = f"{error}{error!r}"
            else:
                assert found.score is None and found.reason
                said = f"{found.reason}{found!r}{found.to_dict()}{found.signature}"
            assert KEY not in said and len(said) > 20
        assert other.asked == 0


@pytest.mark.parametrize("name", ["401", "ok"])
@pytest.mark.parametrize(
    "command",
    [
        ["compare", "rows.jsonl", "--backend"],
        ["score", "context_recall", "rows.jsonl", "-o"],
        ["judge-bench", "--set", "pairs", "--limit", "1", "--judge"],
        ["judge-bench", "--quality", "fluency", "--limit", "1", "--rater"],
        ["checker-bench", "--data", "rows:rows.jsonl", "--checker"],
    ],
    ids=lambda command: f"{command[0]} {command[-1]}",
)
def test_commands_show_no_secret_of_an_address(command, name, tmp_path, monkeypatch, capsys):
    row = {"question": "When?", "contexts": "It opened.", "truth": "It opened.", "answer": "It opened."}
    row |= {"a": "It opened.", "b": "It rained.", "article": "It opened.", "sentence": "It opened.", "label": 1}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    monkeypatch.setenv("SUMMEVAL_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
    with MisbehavingServer(name) as server:
        model = "llm:scripted@" + server.url.replace("http://", "http://someone:hunter2@") + "?api_key=k-777"
        with pytest.raises(SystemExit) as caught:
            main([*command, f"judge={model}" if command[0] == "score" else model, "--html", "page.html", "--json"])
        assert caught.value.code in (0, 2, 3) and server.asked
    said = "".join(capsys.readouterr())
    page = (tmp_path / "page.html").read_text() if (tmp_path / "page.html").exists() else ""
    assert len(said) > 20 and not any(secret in said + page for secret in ("hunter2", "k-777", "someone", KEY))


def test_the_table_is_whole():
    assert len(CHANGED) > 40 and len(BEHAVIOURS) > 90
    assert all(issubclass(getattr(__import__("summeval_nb.models.base", fromlist=["x"]), name), BackendError)
               for behaviour in BEHAVIOURS.values() for name in behaviour.errors)  # fmt: skip


def test_secrets_of_an_address_reach_no_file_page_or_screen(tmp_path, monkeypatch, capsys):
    """The shell's run, with a model named by an address that holds a password and a key, which the server quotes."""
    within = "7f3kd92mfa81jd0q"  # a key in the path, as some gateways want it
    rows, secrets = tmp_path / "rows.jsonl", ("hunter2", "k-777", "someone", KEY, within)
    rows.write_text('{"text": "It rained.", "summary": "Rain."}\n', encoding="utf-8")
    monkeypatch.setenv("SUMMEVAL_API_KEY", KEY)
    with MisbehavingServer("401") as server:
        model = "llm:scripted@" + server.url.replace("http://", "http://someone:hunter2@") + "?api_key=k-777"
        keyed = model.replace("/v1?", f"/{within}/v1?")  # the server has no such page
        command = ["run", str(rows), "--metric", "rating", "--out", str(tmp_path / "run"), "-o", "quality=fluency"]
        command += ["--html", str(tmp_path / "page.html"), "--workers", "0", "--json", "-o"]
        cases = ((f"backend={model}", 3), (f"checker={model}", 2), (f"backend=llm:{model[13:]}", 2))
        for more, code in (*cases, (f"backend={keyed}", 2)):
            with pytest.raises(SystemExit) as caught:
                main([*command, more])
            said = "".join(capsys.readouterr())
            assert caught.value.code == code and len(said) > 20, said
            assert not any(secret in said for secret in secrets), said
        assert server.asked <= 6  # a probe and a page for each time that the model is loaded
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path != rows]
    assert {"manifest.json", "results.jsonl", "page.html"} <= {path.name for path in written}
    for path in written:
        text = path.read_text(encoding="utf-8", errors="replace")
        assert not any(secret in text for secret in secrets), path


def answering(head: bytes, request: bytes) -> bytes:
    return HEAD + answer(request)


PROXIES = [f"{scheme}_proxy" for scheme in ("http", "https", "all", "no")]
SETTINGS = [*PROXIES, *map(str.upper, PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"]


@pytest.fixture
def environment(monkeypatch):
    """Nothing about proxies and certificates is set, but what a test sets."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1"])
def test_a_server_on_this_machine_is_asked_without_a_proxy(variable, host, environment):
    with RawServer(answering) as proxy, RawServer(answering) as server:
        environment.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        address = server.url.replace("127.0.0.1", host)
        backend = ServerBackend("m", base_url=address, api_key=KEY, dialect="vllm", max_retries=0)
        assert backend.choose("A private prompt.", OPTIONS).label == "yes"
        assert not proxy.heads and len(server.heads) == 2


def test_a_local_server_is_asked_without_a_proxy(environment):
    """The address is ::1; that nobody listens there is known without the proxy."""
    with RawServer(answering) as proxy:
        environment.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        backend = ServerBackend("m", base_url="http://[::1]:9/v1", api_key=KEY, dialect="vllm", max_retries=0)
        with pytest.raises(BackendUnavailable, match="cannot be reached .model m"):
            backend.choose("A private prompt.", OPTIONS)
        assert not proxy.heads


def test_a_proxy_serves_others_and_its_password_is_not_shown(environment):
    with RawServer(answering) as proxy:
        environment.setenv("ALL_PROXY", f"http://someone:hunter2@127.0.0.1:{proxy.port}")
        backend = ServerBackend("m", base_url="http://judge.example/v1", dialect="vllm", max_retries=0)
        assert backend.choose("Well?", OPTIONS).label == "yes"
        assert proxy.heads[0].startswith(b"POST http://judge.example/v1/chat/completions ")
        assert b"Proxy-Authorization: Basic " in proxy.heads[0]
    backend = ServerBackend("m", base_url="http://judge.example/v1", dialect="vllm", max_retries=0)
    with pytest.raises(BackendUnavailable, match="through the proxy that ALL_PROXY names") as caught:
        backend.choose("Well?", OPTIONS)
    assert "hunter2" not in f"{caught.value}{vars(backend)}{vars(backend._wire)}"


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("ALL_PROXY", "socks4://someone:hunter2@127.0.0.1:1", "ALL_PROXY names a proxy that cannot be used .socks4:"),
        ("https_proxy", "http://someone:hunter2@proxy.example:port", "https_proxy names a proxy that cannot be used"),
        ("SSL_CERT_FILE", "/nowhere/hub.pem", "SSL_CERT_FILE='/nowhere/hub.pem' cannot be used .No such file"),
        ("SSL_CERT_FILE", __file__, "SSL_CERT_FILE='.*' cannot be used"),
        ("SSL_CERT_DIR", "/nowhere/hubs", "SSL_CERT_DIR='/nowhere/hubs' is no folder"),
    ],
)
def test_an_unusable_variable_is_named_with_its_remedy(name, value, words, environment):
    environment.setenv(name, value)
    backend = ServerBackend("m", base_url="https://judge.example/v1", dialect="vllm", max_retries=0)
    with pytest.raises(BackendUnavailable, match=words) as caught:
        backend.choose("Well?", OPTIONS)
    assert "unset the variable" in str(caught.value) and "hunter2" not in str(caught.value)
    with RawServer(answering) as server:  # what it does not need cannot stop it
        assert ServerBackend("m", base_url=server.url, dialect="vllm").choose("Well?", OPTIONS).label == "yes"


@pytest.mark.skipif(importlib.util.find_spec("socksio") is not None, reason="SOCKS is spoken here")
def test_a_socks_proxy_without_its_package_has_a_remedy(environment):
    environment.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    backend = ServerBackend("m", base_url="http://judge.example/v1", dialect="vllm", max_retries=0)
    with pytest.raises(BackendUnavailable, match="ALL_PROXY names a SOCKS proxy.*install socksio"):
        backend.choose("Well?", OPTIONS)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A self-signed certificate for 127.0.0.1, with its key; made by openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("certificate")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run(
        [*command.split(), "-keyout", "key.pem", "-out", "own.pem"], cwd=folder, check=True, capture_output=True
    )
    return folder


def test_a_self_signed_certificate_is_named_and_can_be_trusted(certificate, environment):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "own.pem", certificate / "key.pem")
    with RawServer(answering, tls=context) as server:
        backend = ServerBackend("m", base_url=server.url, api_key=KEY, dialect="vllm", max_retries=0)
        with pytest.raises(BackendUnavailable, match="not trusted: self-signed certificate .*SSL_CERT_FILE") as caught:
            backend.choose("Well?", OPTIONS)
        assert "is it running" not in str(caught.value) and not server.heads
        environment.setenv("SSL_CERT_FILE", str(certificate / "own.pem"))
        backend = ServerBackend("m", base_url=server.url, api_key=KEY, dialect="vllm", max_retries=0)
        assert backend.choose("Well?", OPTIONS).label == "yes"
        elsewhere = server.url.replace("127.0.0.1", "localhost")  # for which it was not made out
        with pytest.raises(BackendUnavailable, match="not trusted: Hostname mismatch"):
            ServerBackend("m", base_url=elsewhere, dialect="vllm", max_retries=0).choose("Well?", OPTIONS)


def test_https_to_a_server_that_speaks_http_is_named(environment):
    with RawServer(answering) as server:
        backend = ServerBackend("m", base_url=server.url.replace("http:", "https:"), dialect="vllm", max_retries=0)
        with pytest.raises(BackendUnavailable, match="http:// there, rather than https://"):
            backend.choose("Well?", OPTIONS)


def test_a_compressed_answer_is_a_typed_error_for_itself_alone():
    def compressed(head: bytes, request: bytes) -> bytes:
        return HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip, gzip\r\n\r\n") + b"x" * 4000

    with RawServer(compressed) as server, RawServer(answering) as other:
        with pytest.raises(BackendRejected, match=r"encoded .gzip, gzip., which was not asked for.*uncompressed"):
            ServerBackend("m", base_url=server.url, dialect="vllm").choose("Well?", OPTIONS)
        assert ServerBackend("m", base_url=other.url, dialect="vllm").choose("Well?", OPTIONS).label == "yes"


def test_no_address_and_no_header_is_logged(caplog):
    import httpx2

    caplog.set_level(logging.DEBUG)
    for name in (
        "httpx2",
        "httpcore2",
        "httpcore2.connection",
        "httpcore2.http11",
        "openai",
        "openai._base_client",
        "asyncio",
    ):
        caplog.set_level(logging.DEBUG, logger=name)

    def echoing(head: bytes, request: bytes) -> bytes:
        target = head.split(b" ")[1]
        return HEAD.replace(b"\r\n\r\n", b"\r\nX-Asked: " + target + b"\r\n\r\n") + answer(request)

    with RawServer(echoing) as server:
        address = f"http://me:hunter2@127.0.0.1:{server.port}/keys/7f3kd92mfa81jd0q/v1?api_key=k-777"
        backend = ServerBackend("m", base_url=address, dialect="vllm", max_retries=0)
        assert backend.choose("Well?", OPTIONS).label == "yes" and len(server.heads) == 2
    said = "".join(f"{record.getMessage()}{vars(record)}" for record in caplog.records)
    assert not any(secret in said for secret in ("hunter2", "7f3kd92mfa81jd0q", "k-777", "/v1"))
    with RawServer(lambda head, request: HEAD + b"x") as server:
        httpx2.get(f"{server.url}/of-another-program", trust_env=False)
    assert "of-another-program" in "".join(record.getMessage() for record in caplog.records)
