"""The way to a server: its schema of replies, its clocks, and that it survives forks, Ctrl-C and many threads."""

import gzip
import json
import multiprocessing
import os
import pickle
import signal
import threading
import time
import zlib

import pytest
from helpers.patience import comes_back
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from servers.misbehaving import MisbehavingServer
from servers.raw import HEAD, RawServer, answer, response

from summeval_nb.core.addresses import Address
from summeval_nb.models.base import BackendError, BackendRejected, BackendUnavailable, ContextTooLong, InvalidOutput
from summeval_nb.models.http import MOST_SHOWN, Answer, Wire

QUESTION = {"model": "m", "messages": [{"role": "user", "content": "Well?"}], "logprobs": True}
REQUEST = {**QUESTION, "extra_body": {"grammar": 'root ::= "yes" | "no"'}}
OPTIONS_REQUEST = {**QUESTION, "extra_body": {"structured_outputs": {"choice": ["yes", "no"]}}}


def wire_to(server: MisbehavingServer | RawServer) -> Wire:
    return Wire(Address.parse(server.url), "sk-secret", "m")


def asked(wire: Wire, within: float = 20, request: dict = REQUEST) -> str:
    return wire.answer(request, connect=5, within=within).text


def page(wire: Wire, path: str = "/props") -> dict:
    return wire.page(path, connect=5, within=20)


def reply(**fields) -> str:
    choice = {"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice], **fields})


TOKEN = {"token": "a", "logprob": -0.5}
MESSAGE = {"role": "assistant", "content": "a"}


@pytest.mark.parametrize(
    "text",
    [
        reply(),
        reply(usage=None, error=None, anything={"new": [1]}),
        reply(choices=[]),
        reply(choices=None),
        reply(usage={"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": None}}),
        reply(choices=[{"message": {"role": "assistant", "content": None, "tool_calls": None, "refusal": None}}]),
        reply(choices=[{"message": {"content": "yes", "reasoning_content": "hm"}, "logprobs": None}]),
        reply(choices=[{"message": MESSAGE, "logprobs": {"content": [{**TOKEN, "logprob": -9999.0, "bytes": None}]}}]),
        reply(choices=[{"message": MESSAGE, "logprobs": {"content": [{**TOKEN, "logprob": 0, "top_logprobs": []}]}}]),
    ],
)
def test_answers_of_honest_servers_fit(text):
    assert Answer.model_validate_json(text)


@pytest.mark.parametrize(("told", "counts"), [(None, 0), (7, 7), (7.0, 7)])
def test_counts_are_read_and_lose_no_answer(told, counts):
    details = {"cached_tokens": told}
    usage = {"prompt_tokens": told, "completion_tokens": told, "prompt_tokens_details": details}
    usage = Answer.model_validate_json(reply(usage=usage)).usage
    found = usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens
    assert found == (counts,) * 3 and {type(count) for count in found} == {int}


TOO_LONG = """
5120 4096 This model's maximum context length is 4096 tokens. However, your messages resulted in 5,120 tokens.
3927 4097 This model's maximum context length is 4097 tokens, but you requested 4927 (3927 in your prompt; 1000 more).
2048 2040 The maximum context length is 2040 tokens. You requested 2148 (2048 in the messages, 100 in the reply).
4012 4096 'max_tokens' is too large: 900. The maximum context length is 4096 and your request has 4012 input tokens.
300012 272000 Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300012 tokens.
5120 4000 The decoder prompt (length 5120) is longer than the maximum model length of 4000. Make sure of it.
4097 4096 You passed 4097 input tokens and requested 1 output tokens. However, the context length is only 4096 tokens.
5120 4096 request (5120 tokens) exceeds the available context size (4096 tokens), try increasing it
None None the request exceeds the available context size. try increasing the context size or enable context shift
5120 4096 The input (5120 tokens) is longer than the model's context length (4096 tokens).
5120 4096 Prompt contains 5120 tokens and 0 draft tokens, too large for model with 4096 maximum context length
210000 200000 prompt is too long: 210000 tokens > 200000 maximum
5120 4095 Input validation error: `inputs` must have less than 4095 tokens. Given: 5120
None 4096 This model's maximum context length is 4096 tokens.
None None The context is full after so many tokens.
"""


@pytest.mark.parametrize("shape", ["openai", "plain"])
@pytest.mark.parametrize("line", TOO_LONG.strip().splitlines())
def test_what_is_too_long_and_for_what_is_read(line, shape):
    length, limit, said = line.split(" ", 2)
    told = {
        "openai": {"error": {"message": said, "type": "invalid_request_error", "code": 400}},
        "plain": {"error": said},
    }
    refused = response(json.dumps(told[shape]).encode(), status="400 Bad Request")
    with RawServer(lambda head, body: refused) as server, pytest.raises(ContextTooLong) as caught:
        asked(wire_to(server))
    assert (str(caught.value.length), str(caught.value.limit)) == (length, limit)


FIELDS = ["choices", "message", "content", "logprobs", "token", "logprob", "bytes", "top_logprobs", "usage", "error"]
FIELDS += ["prompt_tokens", "refusal", "tool_calls", "finish_reason"]
json_value = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(json_value)
def test_any_json_is_an_answer_or_refused_by_the_schema_alone(value):
    """No other exception, and what passes holds only possible probabilities."""
    try:
        answer = Answer.model_validate_json(json.dumps(value))
    except ValidationError:
        return
    for part in answer.choices or ():
        for token in (part.logprobs and part.logprobs.content) or ():
            assert token.logprob <= 0 and all(alternative.logprob <= 0 for alternative in token.top_logprobs or ())


def test_one_connection_serves_many_calls():
    with MisbehavingServer() as server:
        accepted = []
        original = server.get_request
        server.get_request = lambda: accepted.append(1) or original()
        wire = wire_to(server)
        assert {asked(wire) for _ in range(5)} <= {"yes", "no"}
        assert len(accepted) == 1


def test_faults_have_their_types():
    with MisbehavingServer("401") as server, pytest.raises(BackendRejected, match="401.: Incorrect API key"):
        asked(wire_to(server))
    with pytest.raises(BackendUnavailable, match="cannot be reached"):
        asked(wire_to(server))  # it is closed now
    with MisbehavingServer("cut") as server, pytest.raises(BackendUnavailable, match="broke off"):
        asked(wire_to(server))
    with MisbehavingServer("message_null") as server, pytest.raises(InvalidOutput, match="choices.0.message"):
        asked(wire_to(server))
    with (
        MisbehavingServer("no_end") as server,
        pytest.raises(BackendUnavailable, match="no complete answer within 0.5"),
    ):
        asked(wire_to(server), within=0.5)
    with MisbehavingServer("flood") as server, pytest.raises(InvalidOutput, match="16 MB"):
        asked(wire_to(server), within=60)


def test_a_wire_works_in_another_process_and_shows_no_key():
    with MisbehavingServer() as server:
        wire = wire_to(server)
        assert asked(wire) and asked(pickle.loads(pickle.dumps(wire)))
        assert "secret" not in repr(wire)
        assert page(wire)["default_generation_settings"]


def test_only_our_own_headers_leave(monkeypatch):
    """The client has its own about system and Python, and takes others from its variables, meant for one company."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-zzq-1")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-zzq-2")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-zzq")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-zzq")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-zzq-3\nX-Gateway: sk-zzq-4")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.example/zzq")
    for key, more in (("sk-secret", {"authorization"}), ("", set())):
        with RawServer(lambda head, request: response(answer(request) if request else b"{}")) as server:
            wire = Wire(Address.parse(server.url), key, "m")
            assert asked(wire, request=OPTIONS_REQUEST) == "yes" and page(wire) == {}
        for head, body in zip(server.heads, ({"content-length", "content-type"}, {"connection"}), strict=True):
            names = {line.partition(":")[0].lower() for line in head.decode().splitlines()[1:] if line}
            assert names == {"host", "user-agent", "accept", "accept-encoding"} | body | more
            assert b"zzq" not in head and b"python" not in head.lower()


def _in_a_child(wire: Wire, told) -> None:
    told.put(asked(wire))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_a_loop_of_its_own():
    with MisbehavingServer() as server:
        wire = wire_to(server)
        before = asked(wire)
        context = multiprocessing.get_context("fork")
        told = context.Queue()
        child = context.Process(target=_in_a_child, args=(wire, told))
        child.start()
        assert told.get(timeout=60) == before
        child.join(30)
        assert child.exitcode == 0 and asked(wire) == before


@pytest.fixture
def heeding():
    """A shell starts background jobs deaf to Ctrl-C, and their children inherit it; here it is heeded."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_a_call_at_once_and_the_next_one_works(heeding):
    with MisbehavingServer(lambda number, prompt: "silent" if number == 0 else "ok") as server:
        wire = wire_to(server)
        timer = threading.Timer(0.5, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
        timer.start()
        with comes_back(), pytest.raises(KeyboardInterrupt):
            asked(wire, within=600)
        assert asked(wire) in ("yes", "no")


def zeros_twice_compressed(megabytes: int) -> bytes:
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packing.compress(b"\0" * 1_000_000) for _ in range(megabytes)]
    return gzip.compress(b"".join(parts) + packing.flush())


@pytest.mark.parametrize("encoding", ["gzip, gzip", "gzip", "deflate", "br", "zstd", "identity, GZIP", "x-unheard-of"])
def test_an_answer_that_is_compressed_is_refused_unread(encoding):
    """None was asked for, and a few kB may hold gigabytes."""
    body = zeros_twice_compressed(200)
    assert len(body) < 5_000
    with RawServer(lambda head, request: response(body, f"Content-Encoding: {encoding}")) as server:
        with comes_back(), pytest.raises(BackendRejected) as caught:
            asked(wire_to(server))
        assert f"encoded ({encoding.lower().removeprefix('identity, ')})" in str(caught.value).lower()
        assert b"accept-encoding: identity\r\n" in server.heads[0].lower()


@pytest.mark.parametrize("encoding", ["identity", "none", "UTF-8", ""])
def test_an_answer_that_is_called_what_it_is_is_read(encoding):
    with RawServer(lambda head, request: response(answer(request), f"Content-Encoding: {encoding}")) as server:
        assert asked(wire_to(server), request=OPTIONS_REQUEST) == "yes"


def test_a_compressed_refusal_keeps_its_status_a_page_is_none():
    body = zeros_twice_compressed(200)
    answers = [response(body, "Content-Encoding: gzip, gzip", status=status) for status in ("429 Busy", "200 OK")]
    with RawServer(lambda head, request: answers.pop(0)) as server:
        with pytest.raises(BackendUnavailable, match="429.*encoded .gzip, gzip."):
            asked(wire_to(server))
        assert page(wire_to(server)) == {}


def test_too_many_tokens_at_a_place_are_refused():
    sent = [MOST_SHOWN - 2, MOST_SHOWN]
    with RawServer(lambda head, request: HEAD + answer(request, tops=sent.pop(0))) as server:
        wire = wire_to(server)
        first = wire.answer(OPTIONS_REQUEST, connect=5, within=20).tokens[0]
        assert len(first.top_logprobs) == MOST_SHOWN
        with pytest.raises(InvalidOutput, match="top_logprobs"):
            asked(wire, request=OPTIONS_REQUEST)


def test_a_large_answer_delays_no_limit_and_no_other_answer():
    """It is read in the thread of its question: while that lasts, another server is asked and answers."""
    token = {"token": "a", "logprob": -9.0, "top_logprobs": [{"token": f"{n}", "logprob": -99.0} for n in range(1500)]}
    choice = {"message": {"content": "a" * 150}, "logprobs": {"content": [token] * 150}}
    large, begun = HEAD + json.dumps({"choices": [choice]}).encode(), threading.Event()
    assert len(large) < 12_000_000
    caught, took = [], []

    def ask(wire: Wire) -> None:
        start = time.monotonic()
        try:
            asked(wire, within=0.2)
        except BackendError as error:
            caught.append(error)
        took.append(time.monotonic() - start)

    with RawServer(lambda head, request: begun.set() or large) as server, MisbehavingServer() as other:
        asked(wire_to(other))
        asking = threading.Thread(target=ask, args=(wire_to(server),))
        asking.start()
        assert begun.wait(30) and asked(wire_to(other)) in ("yes", "no")
        asking.join(60)
    assert [type(error) for error in caught] == [BackendUnavailable] and took[0] < 30


@pytest.mark.parametrize("name", ["flood", "flood_of_chunks", "small_chunks", "dripped_headers"])
def test_a_body_without_end_keeps_no_other_server_waiting(name):
    with MisbehavingServer(name) as endless, MisbehavingServer() as other:
        wire, calm = wire_to(endless), wire_to(other)
        asked(calm)
        caught = []

        def ask() -> None:
            try:
                asked(wire, within=3)
            except BackendError as error:
                caught.append(error)

        asking = threading.Thread(target=ask)
        asking.start()
        while asking.is_alive():
            assert asked(calm) in ("yes", "no")
        assert len(caught) == 1
