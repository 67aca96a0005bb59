"""What a server of language models can do wrong, as one table: `BEHAVIOURS`, from a name to the errors that may come.

A test (or the torture harness) starts `MisbehavingServer(name)` for each name, asks a question, and holds that the
outcome is one of these errors (none: an answer), in the time that the limits allow. `CHANGED` are changes to a good
answer, `WIRED` write to the socket themselves, and `misbehaving.py` sends the others.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from typing import Any

REJECTED, UNAVAILABLE, INVALID, LONG = "BackendRejected", "BackendUnavailable", "InvalidOutput", "ContextTooLong"
Reply = dict[str, Any]
Change = Callable[[Reply], Any]


def _entry(reply: Reply) -> dict[str, Any]:
    """The token at the option's place; in JSON, tokens with quotes stand around it."""
    return next(token for token in reply["choices"][0]["logprobs"]["content"] if '"' not in token["token"])


def _logprobs(*values: Any) -> Change:
    """Give the tokens at the option's place these logprobs, the last one to all that are left."""

    def change(reply: Reply) -> None:
        entry = _entry(reply)
        for place, token in enumerate(entry["top_logprobs"]):
            token["logprob"] = values[min(place, len(values) - 1)]
        entry["logprob"] = next(t["logprob"] for t in entry["top_logprobs"] if t["token"] == entry["token"])

    return change


def _first_twice(*shares: float) -> Change:
    """List the first option twice among the possible tokens, each time with a share of its probability."""

    def change(reply: Reply) -> None:
        first, *others = _entry(reply)["top_logprobs"]
        again = [{**first, "logprob": first["logprob"] + math.log(share)} for share in shares]
        _entry(reply)["top_logprobs"] = [*again, *others]

    return change


def _set(*path: Any) -> Change:
    """Set what stands at a path within the answer; the path's last part is the new value."""
    *places, last, value = path
    return lambda reply: functools.reduce(lambda at, place: at[place], places, reply).__setitem__(last, value)


def _token(name: str, value: Any) -> Change:
    """Set a field of the token at the option's place."""
    return lambda reply: _entry(reply).__setitem__(name, value)


_CHOICE, _MESSAGE, _INF = ("choices", 0), ("choices", 0, "message"), float("inf")
_CALL = [{"index": 0, "id": "1", "type": "function", "function": {"name": "rm", "arguments": "{}"}}]
_MANY = [{"token": f"t{number}", "logprob": -60.0} for number in range(100_000)]

CHANGED: dict[str, tuple[Change, tuple[str, ...]]] = {
    "logprob_nan": (_logprobs(float("nan"), -4.0), (INVALID,)),
    "logprob_above_0": (_logprobs(5.0, -4.0), (INVALID,)),
    "logprob_infinite": (_logprobs(_INF), (INVALID,)),
    "logprob_text": (_logprobs("-0.1"), (INVALID,)),
    "logprob_one_minus_infinite": (_logprobs(-0.5, -_INF), (INVALID,)),
    "logprob_all_0": (_logprobs(0.0), (INVALID,)),
    "logprob_lowest": (_logprobs(-3.4e38), (INVALID,)),  # as llama.cpp writes log(0)
    "token_twice": (_first_twice(0.5, 0.5), (INVALID,)),
    "token_in_two_parts": (_first_twice(0.75, 0.25), ()),
    "logprobs_text": (_set(*_CHOICE, "logprobs", "none"), (INVALID,)),
    "logprobs_empty": (_set(*_CHOICE, "logprobs", "content", []), (REJECTED,)),
    "top_null": (_token("top_logprobs", None), (INVALID, REJECTED)),
    "top_very_many": (_token("top_logprobs", _MANY), (INVALID,)),
    "bytes_large": (_token("bytes", [300]), (INVALID,)),
    "bytes_other": (_token("bytes", [120, 120]), (REJECTED,)),
    "content_list": (_set(*_MESSAGE, "content", ["yes"]), (INVALID,)),
    "content_part_number": (_set(*_MESSAGE, "content", [{"type": "text", "text": 5}]), (INVALID,)),
    "content_half_character": (_set(*_MESSAGE, "content", "\ud83d"), (INVALID, UNAVAILABLE)),
    "content_control": (_set(*_MESSAGE, "content", "\x00\x1b[2J\u202e"), (INVALID,)),
    "content_bad_escape": (_set(*_MESSAGE, "content", '{"answer": "\\q"}'), (INVALID,)),
    "content_long": (_set(*_MESSAGE, "content", "yes" * 700_000), (INVALID,)),
    "message_null": (_set(*_MESSAGE, None), (INVALID,)),
    "tool_calls": (_set(*_MESSAGE, {"content": None, "tool_calls": _CALL}), (INVALID,)),
    "usage_negative": (_set("usage", {"prompt_tokens": -7, "completion_tokens": 1}), (INVALID,)),
    "usage_float_and_null": (_set("usage", {"prompt_tokens": 7.0, "completion_tokens": None}), ()),
    "reply_list": (lambda reply: [reply], (INVALID,)),
    "reply_deep": (lambda reply: b"[" * 100_000, (INVALID, UNAVAILABLE)),
    "reply_not_utf8": (lambda reply: b'{"choices": "\xff\xfe"}', (INVALID, UNAVAILABLE)),
    "choices_empty": (_set("choices", []), (UNAVAILABLE,)),
}

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
_GOOD = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}]}'


def _at_once(text: bytes) -> Callable[[Any], None]:
    return lambda handler: handler.wfile.write(text)


def _endlessly(first: bytes, again: bytes, *, hurried: bool = False) -> Callable[[Any], None]:
    """Send `first`, then `again` for ever, until the client goes away or the server is closed."""

    def send(handler: Any) -> None:
        handler.wfile.write(first)
        while not handler.server.closing:
            handler.wfile.write(again)
            time.sleep(0 if hurried else 0.02)

    return send


_CHUNKED = _HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
_ENDLESS = {
    "no_end": (_endlessly(_HEAD + b'\r\n{"id": "', b"x"), (UNAVAILABLE,)),
    "small_chunks": (_endlessly(_CHUNKED, b"1\r\n \r\n"), (UNAVAILABLE,)),
    "dripped_status": (_endlessly(b"HTTP/1.1 200 ", b"O"), (UNAVAILABLE,)),
    "dripped_headers": (_endlessly(b"HTTP/1.1 200 OK\r\n", b"X-More: y\r\n"), (UNAVAILABLE,)),
    "dripped_error": (_endlessly(b"HTTP/1.1 400 Bad Request\r\n\r\n", b"x"), (UNAVAILABLE, REJECTED)),
    "informed": (_endlessly(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), (UNAVAILABLE,)),
    "silent": (_endlessly(b"", b""), (UNAVAILABLE,)),
    "open_end": (_endlessly(_HEAD + b"\r\n" + _GOOD, b""), (UNAVAILABLE,)),
    "flood": (_endlessly(_HEAD + b'\r\n{"id": "', b"x" * 65536, hurried=True), (INVALID, UNAVAILABLE)),
    "flood_of_chunks": (_endlessly(_CHUNKED, b"1\r\n \r\n" * 10_000, hurried=True), (INVALID, UNAVAILABLE)),
}
ENDLESS = set(_ENDLESS)
WIRED: dict[str, tuple[Callable[[Any], None], tuple[str, ...]]] = {
    **_ENDLESS,
    "no_http": (_at_once(b"SSH-2.0-OpenSSH_9.2\r\n"), (UNAVAILABLE,)),
    "bad_chunk": (_at_once(_CHUNKED + b"zz\r\n"), (UNAVAILABLE,)),
    "bad_length": (_at_once(_HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), (UNAVAILABLE,)),
    "bad_gzip": (_at_once(_HEAD + b"Content-Encoding: gzip\r\n\r\nhello"), (REJECTED,)),
    "ends_early": (_at_once(_HEAD + b"Connection: close\r\n\r\n" + _GOOD[:-30]), (UNAVAILABLE,)),
    "no_reply": (lambda handler: None, (UNAVAILABLE,)),
    "no_content": (_at_once(b"HTTP/1.1 204 No Content\r\n\r\n"), (UNAVAILABLE,)),
}

BEHAVIOURS: dict[str, tuple[str, ...]] = {
    "ok": (),
    "400": (REJECTED,),
    "401": (REJECTED,),
    "404": (REJECTED,),
    "429": (UNAVAILABLE,),
    "500": (UNAVAILABLE,),
    "too_long": (LONG,),
    "slow": (UNAVAILABLE,),  # answers after `slowness` seconds
    "drip": (UNAVAILABLE,),  # `slowness` seconds between the parts of an answer
    "cut": (UNAVAILABLE,),
    "html": (UNAVAILABLE,),
    "empty": (UNAVAILABLE,),
    "error_in_200": (UNAVAILABLE,),
    "wrong_enum": (INVALID,),
    "truncated_json": (INVALID,),  # a grammar's answer is no JSON, and is good
    "ignored": (INVALID,),  # talks, without logprobs
    "no_logprobs": (REJECTED,),
    "refusal": (INVALID,),
    **{f"redirect_{status}": (REJECTED,) for status in (301, 302, 303, 307, 308)},
    **{name: errors for name, (_, errors) in {**CHANGED, **WIRED}.items()},
}
