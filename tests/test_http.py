"""The way to a server: its schema of replies, its clocks, what leaves, proxies, certificates, and what is logged."""

import gzip
import importlib.util
import json
import logging
import multiprocessing
import pickle
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time
import zlib
from contextlib import ExitStack

import pytest
from helpers.patience import comes_back
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from servers.misbehaving import MisbehavingServer
from servers.raw import HEAD, RawServer, answer, response

from summeval_nb.core.addresses import Address
from summeval_nb.models.base import BackendError, BackendRejected, BackendUnavailable, ContextTooLong, InvalidOutput
from summeval_nb.models.http import MOST_SHOWN, Answer, Wire, seconds_to_wait

QUESTION = {"model": "m", "messages": [{"role": "user", "content": "Well?"}], "logprobs": True}
REQUEST = {
    **QUESTION,
    "extra_body": {"grammar": 'root ::= "yes" | "no"', "structured_outputs": {"choice": ["yes", "no"]}},
}


def wire_to(server: MisbehavingServer | RawServer | str, key: str = "sk-secret") -> Wire:
    return Wire(Address.parse(server if isinstance(server, str) else server.url), key, "m")


def asked(wire: Wire, within: float = 20, connect: float = 5) -> str:
    return wire.answer(REQUEST, connect=connect, within=within).text


def page(wire: Wire) -> dict:
    return wire.page("/props", connect=5, within=20)


def answering(head: bytes, request: bytes) -> bytes:
    return HEAD + answer(request)


def reply(content="yes", **fields) -> str:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}], **fields})


PARTS = [
    {"type": "thinking", "thinking": [{"type": "text", "text": "Is it? No..."}]},
    {"type": "text", "text": "y"},
    {"type": "text", "text": "es"},
]
LOGPROBS = {"content": [{"token": "a", "logprob": -9999.0, "bytes": None}, {"token": "a", "logprob": 0}]}


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (reply(usage=None, error=None, anything={"new": [1]}), "yes"),
        (reply(PARTS), "yes"),
        (reply([]), ""),
        (reply(choices=None), ""),
        (reply(choices=[{"message": {"content": None, "tool_calls": None, "refusal": None}}]), ""),
        (reply(choices=[{"message": {"content": "a", "reasoning_content": "hm"}, "logprobs": LOGPROBS}]), "a"),
    ],
)
def test_answers_of_honest_servers_fit(sent, text):
    assert Answer.model_validate_json(sent).text == text


@pytest.mark.parametrize(("told", "counts"), [(None, 0), (7, 7), (7.0, 7)])
def test_counts_are_read_and_lose_no_answer(told, counts):
    usage = {"prompt_tokens": told, "completion_tokens": told, "prompt_tokens_details": {"cached_tokens": told}}
    usage = Answer.model_validate_json(reply(usage=usage)).usage
    found = usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens
    assert found == (counts,) * 3 and {type(count) for count in found} == {int}


FIELDS = ["choices", "message", "content", "logprobs", "token", "logprob", "bytes", "top_logprobs", "usage", "error"]
FIELDS += ["prompt_tokens", "refusal", "tool_calls", "finish_reason", "type", "text"]
json_value = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(json_value)
def test_any_json_is_an_answer_or_refused_by_the_schema_alone(value):
    """No other exception, and what passes holds only possible probabilities."""
    try:
        found = Answer.model_validate_json(json.dumps(value))
    except ValidationError:
        return
    for part in found.choices or ():
        for token in (part.logprobs and part.logprobs.content) or ():
            assert token.logprob <= 0 and all(other.logprob <= 0 for other in token.top_logprobs or ())


TOO_LONG = [
    "This model's maximum context length is 4096 tokens. However, your messages resulted in 5,120 tokens.",
    "The decoder prompt (length 5120) is longer than the maximum model length of 4000. Make sure of it.",
    "request (5120 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Input validation error: `inputs` must have less than 4095 tokens. Given: 5120",
]


def test_what_is_too_long_has_its_type_in_the_servers_words():
    for said in TOO_LONG:
        for body in ({"error": {"message": said, "code": 400}}, {"error": said}):
            refused = response(json.dumps(body).encode(), status="400 Bad Request")
            with RawServer(lambda *_, refused=refused: refused) as server, pytest.raises(ContextTooLong) as caught:
                asked(wire_to(server))
            assert said in str(caught.value)


def test_faults_have_their_types():
    for name, kind, words in (
        ("401", BackendRejected, "401.: Incorrect API key"),
        ("cut", BackendUnavailable, "broke off"),
        ("message_null", InvalidOutput, "choices.0.message"),
        ("flood", InvalidOutput, "16 MB"),
    ):
        with MisbehavingServer(name) as server, pytest.raises(kind, match=words):
            asked(wire_to(server), within=60)
    with pytest.raises(BackendUnavailable, match="cannot be reached"):
        asked(wire_to(server))  # it is closed now
    for name in ("no_end", "dripped_headers", "dripped_status", "silent", "informed"):
        with MisbehavingServer(name) as server, comes_back(), pytest.raises(BackendUnavailable, match="within 0.5 s"):
            asked(wire_to(server), within=0.5)


def test_a_connection_that_does_not_come_about_has_its_limit():
    """A socket that listens and whose queue is full: Linux lets further connections wait."""
    with socket.socket() as listening, ExitStack() as waiting:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listening.getsockname())
        wire = wire_to(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
        with comes_back(), pytest.raises(BackendUnavailable, match="no connection within 0.3 s"):
            asked(wire, within=600, connect=0.3)


@pytest.mark.parametrize(
    "text, seconds",
    [("3", 3), ("-1", None), ("inf", None), ("nan", None), ("soon", None), ("", None), (None, None)]
    + [("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("Wed, 99 Oct 2015 07:28:00 GMT", None), ("1 Jan 99999 0:0:0", None)],
)
def test_waits_are_seconds_or_unknown(text, seconds):
    assert seconds_to_wait(text) == seconds


def test_a_wire_works_in_other_processes_on_one_connection_in_each():
    with MisbehavingServer() as server:
        accepted, original = [], server.get_request
        server.get_request = lambda: accepted.append(1) or original()
        wire = wire_to(server)
        before = {asked(wire) for _ in range(5)}
        assert len(accepted) == 1 and before == {asked(pickle.loads(pickle.dumps(wire)))}
        assert "secret" not in repr(wire) and page(wire)["default_generation_settings"]
        told = multiprocessing.get_context("fork").Queue()
        child = multiprocessing.get_context("fork").Process(target=lambda: told.put(asked(wire)))
        child.start()
        assert {told.get(timeout=60)} == before
        child.join(30)
        assert child.exitcode == 0 and {asked(wire)} == before


def test_ctrl_c_ends_a_call_at_once_and_the_next_one_works():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job would be deaf to it
    try:
        with MisbehavingServer(lambda number, prompt: "silent" if number == 0 else "ok") as server:
            wire = wire_to(server)
            interrupt = threading.Timer(0.5, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
            interrupt.start()
            with comes_back(), pytest.raises(KeyboardInterrupt):
                asked(wire, within=600)
            assert asked(wire) in ("yes", "no")
    finally:
        signal.signal(signal.SIGINT, before)


def test_only_our_own_headers_leave(monkeypatch):
    """The client has its own about system and Python, and takes others from its variables, meant for one company."""
    for number, name in enumerate(("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID")):
        monkeypatch.setenv(f"OPENAI_{name}", f"sk-zzq-{number}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-zzq-3\nX-Gateway: sk-zzq-4")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.example/zzq")
    for key, more in (("sk-secret", {"authorization"}), ("", set())):
        with RawServer(lambda head, request: response(answer(request) if request else b"{}")) as server:
            wire = wire_to(server, key)
            assert asked(wire) == "yes" and page(wire) == {}
        for head, body in zip(server.heads, ({"content-length", "content-type"}, {"connection"}), strict=True):
            names = {line.partition(":")[0].lower() for line in head.decode().splitlines()[1:] if line}
            assert names == {"host", "user-agent", "accept", "accept-encoding"} | body | more
            assert b"zzq" not in head and b"python" not in head.lower()


# Encodings and sizes -------------------------------------------------------------------------------------------------


def zeros_twice_compressed(megabytes: int) -> bytes:
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packing.compress(b"\0" * 1_000_000) for _ in range(megabytes)]
    return gzip.compress(b"".join(parts) + packing.flush())


@pytest.mark.parametrize("encoding", ["gzip, gzip", "deflate", "br", "zstd", "identity, GZIP", "x-unheard-of"])
def test_an_answer_that_is_compressed_is_refused_unread(encoding):
    """None was asked for, and a few kB may hold gigabytes."""
    body = zeros_twice_compressed(200)
    assert len(body) < 5_000
    with RawServer(lambda head, request: response(body, f"Content-Encoding: {encoding}")) as server:
        with comes_back(), pytest.raises(BackendRejected, match="which was not asked for.*uncompressed") as caught:
            asked(wire_to(server))
        assert f"encoded ({encoding.lower().removeprefix('identity, ')})" in str(caught.value).lower()
        assert b"accept-encoding: identity\r\n" in server.heads[0].lower() and page(wire_to(server)) == {}
    busy = response(body, f"Content-Encoding: {encoding}", status="429 Busy")
    with RawServer(lambda *_: busy) as server, pytest.raises(BackendUnavailable, match="429.*encoded"):
        asked(wire_to(server))


def test_an_answer_that_is_called_what_it_is_is_read():
    for encoding in ("identity", "none", "UTF-8", ""):
        with RawServer(lambda _, request, e=encoding: response(answer(request), f"Content-Encoding: {e}")) as server:
            assert asked(wire_to(server)) == "yes"


def test_too_many_tokens_at_a_place_are_refused():
    sent = [MOST_SHOWN - 2, MOST_SHOWN]
    with RawServer(lambda head, request: HEAD + answer(request, tops=sent.pop(0))) as server:
        wire = wire_to(server)
        first = wire.answer(REQUEST, connect=5, within=20).tokens[0]
        assert len(first.top_logprobs) == MOST_SHOWN
        with pytest.raises(InvalidOutput, match="top_logprobs"):
            asked(wire)


def test_a_large_answer_delays_no_limit_and_no_other_answer():
    """It is read in the thread of its question: while that lasts, another server is asked and answers."""
    token = {"token": "a", "logprob": -9.0, "top_logprobs": [{"token": f"{n}", "logprob": -99.0} for n in range(1500)]}
    choice = {"message": {"content": "a" * 150}, "logprobs": {"content": [token] * 150}}
    large, begun = HEAD + json.dumps({"choices": [choice]}).encode(), threading.Event()
    assert len(large) < 12_000_000
    with RawServer(lambda head, request: begun.set() or large) as server, MisbehavingServer() as other:
        caught = in_a_thread(wire_to(server), 0.2)
        assert begun.wait(30) and asked(wire_to(other)) in ("yes", "no")
        with comes_back():
            assert isinstance(caught(), BackendUnavailable)


def in_a_thread(wire: Wire, within: float):
    """Ask in a thread; what is returned waits for its error."""
    caught = []

    def ask() -> None:
        try:
            asked(wire, within=within)
        except BackendError as error:
            caught.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    return lambda: asking.join(60) or caught[0]


@pytest.mark.parametrize("name", ["flood", "flood_of_chunks", "small_chunks", "dripped_headers"])
def test_a_body_without_end_keeps_no_other_server_waiting(name):
    with MisbehavingServer(name) as endless, MisbehavingServer() as other:
        caught, calm, end = in_a_thread(wire_to(endless), 2), wire_to(other), time.monotonic() + 2
        while time.monotonic() < end:
            assert asked(calm) in ("yes", "no")
        assert isinstance(caught(), BackendError)


# Proxies, certificates, logs -----------------------------------------------------------------------------------------


@pytest.fixture
def environment(monkeypatch):
    """Nothing about proxies and certificates is set, but what a test sets."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ssl_cert_file", "ssl_cert_dir"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
def test_a_server_on_this_machine_is_asked_without_a_proxy(variable, environment):
    with RawServer(answering) as proxy, RawServer(answering) as server:
        environment.setenv(variable, f"http://127.0.0.1:{proxy.port}")
        for host in ("127.0.0.1", "localhost", "127.1"):
            assert asked(wire_to(server.url.replace("127.0.0.1", host))) == "yes"
        with pytest.raises(BackendUnavailable, match="cannot be reached .model m"):  # nobody listens at ::1
            asked(wire_to("http://[::1]:9/v1"))
        assert not proxy.heads and len(server.heads) == 3


def test_a_proxy_serves_others_and_its_password_is_not_shown(environment):
    with RawServer(answering) as proxy:
        environment.setenv("ALL_PROXY", f"http://someone:hunter2@127.0.0.1:{proxy.port}")
        assert asked(wire_to("http://judge.example/v1")) == "yes"
        assert proxy.heads[0].startswith(b"POST http://judge.example/v1/chat/completions ")
        assert b"Proxy-Authorization: Basic " in proxy.heads[0]
    wire = wire_to("http://judge.example/v1")
    with pytest.raises(BackendUnavailable, match="through the proxy that the environment names") as caught:
        asked(wire)
    assert "hunter2" not in f"{caught.value}{wire!r}"


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("ALL_PROXY", "socks4://someone:hunter2@127.0.0.1:1", "ALL_PROXY .ValueError: Unknown scheme"),
        ("https_proxy", "someone:hunter2@proxy.example:port", "https_proxy .InvalidURL: Invalid port"),
        ("SSL_CERT_FILE", "/nowhere/hub.pem", "SSL_CERT_FILE='/nowhere/hub.pem'.*No such file"),
        ("SSL_CERT_FILE", __file__, "SSL_CERT_FILE='.*'.*SSL"),
    ],
)
def test_an_unusable_variable_is_named_with_its_remedy(name, value, words, environment):
    environment.setenv(name, value)
    with pytest.raises(BackendUnavailable, match=words) as caught:
        asked(wire_to("https://judge.example/v1"))
    assert "mend or unset" in str(caught.value) and "hunter2" not in str(caught.value)
    with RawServer(answering) as server:  # what it does not need cannot stop it
        assert asked(wire_to(server)) == "yes"


@pytest.mark.skipif(importlib.util.find_spec("socksio") is not None, reason="SOCKS is spoken here")
def test_a_socks_proxy_without_its_package_has_a_remedy(environment):
    environment.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    with pytest.raises(BackendUnavailable, match="ALL_PROXY.*SOCKS needs the package socksio"):
        asked(wire_to("http://judge.example/v1"))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_a_self_signed_certificate_is_named_and_can_be_trusted(tmp_path, environment):
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -keyout key.pem -out own.pem"
    named = ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*command.split(), *named], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "own.pem", tmp_path / "key.pem")
    with RawServer(answering, tls=context) as server:
        with pytest.raises(BackendUnavailable, match="not trusted: self-signed certificate .*SSL_CERT_FILE") as caught:
            asked(wire_to(server))
        assert "is it running" not in str(caught.value) and not server.heads
        environment.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
        assert asked(wire_to(server)) == "yes"
        with pytest.raises(BackendUnavailable, match="not trusted: Hostname mismatch"):  # it was not made out for that
            asked(wire_to(server.url.replace("127.0.0.1", "localhost")))


def test_https_to_a_server_that_speaks_http_is_named(environment):
    with RawServer(answering) as server, pytest.raises(BackendUnavailable, match="http:// there, rather than https://"):
        asked(wire_to(server.url.replace("http:", "https:")))


def test_no_address_and_no_header_is_logged(caplog):
    import httpx2

    caplog.set_level(logging.DEBUG)
    for name in ("httpx2", "httpcore2", "httpcore2.connection", "httpcore2.http11", "openai", "openai._base_client"):
        caplog.set_level(logging.DEBUG, logger=name)

    def echoing(head: bytes, request: bytes) -> bytes:
        return response(answer(request), f"X-Asked: {head.split(b' ')[1].decode()}")

    with RawServer(echoing) as server:
        assert asked(wire_to(f"http://me:hunter2@127.0.0.1:{server.port}/keys/7f3kd92mfa81jd0q/v1?api_key=k-777"))
    said = "".join(f"{record.getMessage()}{vars(record)}" for record in caplog.records)
    assert not any(secret in said for secret in ("hunter2", "7f3kd92mfa81jd0q", "k-777", "/v1"))
    with RawServer(lambda head, request: HEAD + b"x") as server:
        httpx2.get(f"{server.url}/of-another-program", trust_env=False)
    assert "of-another-program" in "".join(record.getMessage() for record in caplog.records)
