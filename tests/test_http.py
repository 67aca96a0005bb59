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
from summeval_nb.models.http import (
    MOST_EVENTS,
    MOST_SHOWN,
    Broken,
    Chunk,
    Encoded,
    Late,
    Limits,
    Odd,
    Props,
    Refused,
    Unreachable,
    Wire,
    _events,
    wait_for,
    whole_number,
)

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "Well?"}], "grammar": 'root ::= "yes" | "no"'}
REQUEST |= {"logprobs": True}
PLENTY = Limits(5, 10, 20)


def wire_to(server: MisbehavingServer) -> Wire:
    return Wire(Address.parse(server.url), key="sk-secret")


def asked(wire: Wire, limits: Limits = PLENTY) -> str:
    return "".join(part.delta.content or "" for chunk in wire.answer(REQUEST, limits) for part in chunk.choices or ())


def event(**fields) -> str:
    choice = {"index": 0, "delta": {"content": "yes"}, "finish_reason": None}
    return json.dumps({"choices": [choice], **fields})


@pytest.mark.parametrize(
    "text",
    [
        event(),
        event(usage=None, error=None, anything={"new": [1]}),
        event(choices=[]),
        event(choices=None),
        event(usage={"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": None}}),
        event(choices=[{"delta": {"role": "assistant", "content": None, "tool_calls": None, "refusal": None}}]),
        event(choices=[{"delta": {"reasoning_content": "hm"}, "logprobs": None}]),
        event(choices=[{"delta": {}, "logprobs": {"content": [{"token": "a", "logprob": -9999.0, "bytes": None}]}}]),
        event(choices=[{"delta": {}, "logprobs": {"content": [{"token": "a", "logprob": 0, "top_logprobs": []}]}}]),
    ],
)
def test_events_of_honest_servers_fit(text):
    assert Chunk.model_validate_json(text)


FIELDS = ["choices", "delta", "content", "logprobs", "token", "logprob", "bytes", "top_logprobs", "usage", "error"]
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
def test_any_json_is_an_event_or_refused_by_the_schema_alone(value):
    """No other exception, and what passes holds only possible probabilities."""
    try:
        chunk = Chunk.model_validate_json(json.dumps(value))
    except ValidationError:
        return
    for part in chunk.choices or ():
        for token in (part.logprobs and part.logprobs.content) or ():
            assert token.logprob <= 0 and all(one.logprob <= 0 for one in token.top_logprobs)


class Cut:
    """A response whose body comes in pieces."""

    def __init__(self, pieces: list[bytes]):
        self.pieces = pieces

    async def aiter_raw(self):
        for one in self.pieces:
            yield one


async def all_events(pieces: list[bytes]) -> list[bytes]:
    return [one async for one in _events(Cut(pieces))]


@given(
    lines=st.lists(st.sampled_from([b"data: {}", b'data: {"a": 1}', b"", b": comment", b"id: 7"]), max_size=8),
    ends=st.lists(st.sampled_from([b"\n", b"\r", b"\r\n"]), min_size=9, max_size=9),
    mark=st.booleans(),
    cuts=st.lists(st.integers(1, 12), max_size=12),
)
@settings(max_examples=300, deadline=None)
def test_a_line_ends_with_either_or_both_and_may_be_cut_anywhere(lines, ends, mark, cuts):
    """As the standard of event streams has it; only a CR and an LF that follow one another are one end."""
    mixed = b"".join(line + end for line, end in zip([*lines, b""], ends, strict=False))
    body, pieces = (b"\xef\xbb\xbf" if mark else b"") + mixed, []
    plain = mixed.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    wanted = [
        b"\n".join(line[6:] for line in block.split(b"\n") if line.startswith(b"data: "))
        for block in plain.split(b"\n\n")
    ]
    for size in cuts:
        pieces.append(body[:size])
        body = body[size:]
    assert wait_for(all_events([*pieces, body])) == [one for one in wanted if one]


@pytest.mark.parametrize(
    "value, number",
    [(4096, 4096), ("4096", 4096), (0, None), (-1, None), (True, None), (None, None), (1e300, None), ([4096], None)],
)
def test_lengths_are_whole_numbers_or_unknown(value, number):
    assert whole_number(value) == number


def test_one_connection_serves_many_calls():
    """What follows [DONE] is read, so that the next call need not connect anew."""
    with MisbehavingServer() as server:
        accepted = []
        original = server.get_request
        server.get_request = lambda: accepted.append(1) or original()
        wire = wire_to(server)
        assert {asked(wire) for _ in range(5)} <= {"yes", "no"}
        assert len(accepted) == 1


def test_faults_have_their_names():
    with MisbehavingServer("401") as server, pytest.raises(Refused) as refused:
        asked(wire_to(server))
    assert refused.value.status == 401 and "Incorrect API key" in refused.value.said
    with pytest.raises(Unreachable):
        asked(wire_to(server))  # it is closed now
    with MisbehavingServer("cut") as server, pytest.raises(Broken):
        asked(wire_to(server))
    with MisbehavingServer("delta_null") as server, pytest.raises(Odd, match="choices.0.delta"):
        asked(wire_to(server))
    with MisbehavingServer("comments") as server, pytest.raises(Late, match="silent for 0.2 s"):
        asked(wire_to(server), Limits(5, 0.2, 20))
    with MisbehavingServer("a_word_at_a_time") as server, pytest.raises(Late, match="complete within 7 s"):
        asked(wire_to(server), Limits(5, 0.5, 7, spent=6.5))
    with MisbehavingServer("flood") as server, pytest.raises(Odd, match="16 MB"):
        asked(wire_to(server), Limits(5, 30, 60))


def test_a_wire_that_was_sent_to_another_process_works_there_and_shows_no_key():
    with MisbehavingServer() as server:
        wire = wire_to(server)
        assert asked(wire) and asked(pickle.loads(pickle.dumps(wire)))
        assert "secret" not in repr(wire)
        assert wire.page("/props", Props, PLENTY) is not None


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
            asked(wire, Limits(5, 600, 600))
        assert asked(wire) in ("yes", "no")


OPTIONS_REQUEST = {**REQUEST, "structured_outputs": {"choice": ["yes", "no"]}}


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
        with comes_back(), pytest.raises(Encoded) as caught:
            wire_to(server).answer(REQUEST, PLENTY)
        assert str(caught.value).lower() == encoding.lower().removeprefix("identity, ")
        assert b"accept-encoding: identity\r\n" in server.heads[0].lower()


@pytest.mark.parametrize("encoding", ["identity", "none", "UTF-8", ""])
def test_an_answer_that_is_called_what_it_is_is_read(encoding):
    with RawServer(lambda head, request: response(answer(request), f"Content-Encoding: {encoding}")) as server:
        chunks = wire_to(server).answer(OPTIONS_REQUEST, PLENTY)
    assert chunks[0].choices[0].delta.content == "yes"


def test_a_refusal_that_is_compressed_keeps_its_status_and_a_page_is_none():
    body = zeros_twice_compressed(200)
    with RawServer(lambda head, request: response(body, "Content-Encoding: gzip, gzip", status="429 Busy")) as server:
        with pytest.raises(Refused, match="encoded .gzip, gzip.") as caught:
            wire_to(server).answer(REQUEST, PLENTY)
        assert caught.value.status == 429
    with RawServer(lambda head, request: response(body, "Content-Encoding: gzip, gzip")) as server:
        assert wire_to(server).page("/props", Props, PLENTY) is None


def test_more_tokens_at_a_place_than_anybody_asks_for_are_refused():
    sent = [MOST_SHOWN - 2, MOST_SHOWN]
    with RawServer(lambda head, request: HEAD + answer(request, tops=sent.pop(0))) as server:
        wire = wire_to(server)
        first = wire.answer(OPTIONS_REQUEST, PLENTY)[0].choices[0]
        assert len(first.logprobs.content[0].top_logprobs) == MOST_SHOWN
        with pytest.raises(Odd, match="top_logprobs"):
            wire.answer(OPTIONS_REQUEST, PLENTY)


def test_more_events_than_an_answer_has_are_refused():
    empty = HEAD + b"data: {}\n\n" * (MOST_EVENTS + 1)
    with RawServer(lambda head, request: empty) as server, pytest.raises(Odd, match="100,000 events"):
        wire_to(server).answer(REQUEST, PLENTY)


def test_one_large_event_holds_up_neither_its_own_limit_nor_the_others():
    """It is read beside the loop: while that lasts, another server is asked and answers."""
    token = {"token": "a", "logprob": -9.0, "top_logprobs": [{"token": f"{n}", "logprob": -99.0} for n in range(1500)]}
    event = {"choices": [{"delta": {"content": "a" * 150}, "logprobs": {"content": [token] * 150}}]}
    large, begun = HEAD + b"data: " + json.dumps(event).encode() + b"\n\ndata: [DONE]\n\n", threading.Event()
    assert len(large) < 12_000_000
    caught, took = [], []

    def ask(wire: Wire) -> None:
        start = time.monotonic()
        try:
            wire.answer(REQUEST, Limits(5, 0.2, 0.2))
        except Late as late:
            caught.append(late)
        took.append(time.monotonic() - start)

    with RawServer(lambda head, request: begun.set() or large) as server, MisbehavingServer() as other:
        asked(wire_to(other))
        asking = threading.Thread(target=ask, args=(wire_to(server),))
        asking.start()
        assert begun.wait(30) and asked(wire_to(other)) in ("yes", "no")
        asking.join(60)
    assert len(caught) == 1 and took[0] < 30
