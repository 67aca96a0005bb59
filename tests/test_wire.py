"""The way to a server: its schema of replies, its clocks, and that it survives forks, Ctrl-C and many threads."""

import json
import multiprocessing
import os
import pickle
import signal
import threading

import pytest
from helpers.patience import comes_back
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from servers.misbehaving import MisbehavingServer

from summeval_nb.ground._addresses import Address
from summeval_nb.models._wire import (
    Broken,
    Chunk,
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

    async def aiter_bytes(self):
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
