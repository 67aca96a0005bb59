"""What a server of language models can do wrong, as one table: `BEHAVIOURS`, from a name to what must come of it.

A test (or the torture harness) starts `MisbehavingServer(name)` for each name, asks a question, and holds that the
outcome is one of `errors`, in the time that the limits allow, and that a good question beside it is answered:

    for name, behaviour in BEHAVIOURS.items(): ...
    for name, behaviour in PAGE_BEHAVIOURS.items(): ... MisbehavingServer(pages_behave=name)

`CHANGED` are changes to a good answer, `WIRED` write to the socket themselves, and the others are refusals and whole
bodies that `misbehaving.py` sends.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

REJECTED, UNAVAILABLE, INVALID, LONG = "BackendRejected", "BackendUnavailable", "InvalidOutput", "ContextTooLong"


class Behaviour(NamedTuple):
    """What the server does, and which classes of errors may come of it; none: the question is answered."""

    about: str
    errors: tuple[str, ...]
    endless: bool = False


Reply = dict[str, Any]
Change = Callable[[Reply], Any]


def _entry(reply: Reply) -> dict[str, Any]:
    """The token at the option's place; in JSON, tokens with quotes stand around it."""
    return next(token for token in reply["choices"][0]["logprobs"]["content"] if '"' not in token["token"])


def _logprobs(*values: Any) -> Change:
    """Give the tokens at the option's place these logprobs, the last one to all that are left."""

    def change(reply: Reply) -> Reply:
        top = _entry(reply)["top_logprobs"]
        for place, token in enumerate(top):
            token["logprob"] = values[min(place, len(values) - 1)]
        own = next(token for token in top if token["token"] == _entry(reply)["token"])
        _entry(reply)["logprob"] = own["logprob"]
        return reply

    return change


def _first_twice(*shares: float) -> Change:
    """List the first option twice among the possible tokens, each time with a share of its probability."""

    def change(reply: Reply) -> Reply:
        first, *others = _entry(reply)["top_logprobs"]
        again = [{**first, "logprob": first["logprob"] + math.log(share)} for share in shares]
        _entry(reply)["top_logprobs"] = [*again, *others]
        return reply

    return change


def _set(*path: Any) -> Change:
    """Set what stands at a path within the answer; the path's last part is the new value."""
    *places, last, value = path

    def change(reply: Reply) -> Reply:
        at: Any = reply
        for place in places:
            at = at[place]
        at[last] = value
        return reply

    return change


def _in_token(name: str, value: Any) -> Change:
    """Set a field of the token at the option's place."""

    def change(reply: Reply) -> Reply:
        _entry(reply)[name] = value
        return reply

    return change


_CHOICE, _MESSAGE = ("choices", 0), ("choices", 0, "message")
_CALL = [{"index": 0, "id": "1", "type": "function", "function": {"name": "rm", "arguments": "{}"}}]
_NAN, _INF = float("nan"), float("inf")


def _very_many(reply: Reply) -> Reply:
    _entry(reply)["top_logprobs"] += [{"token": f"t{number}", "logprob": -60.0} for number in range(100_000)]
    return reply


# Changes to a good answer (anything that JSON or a text can be may come of it).
CHANGED: dict[str, tuple[str, Change, tuple[str, ...]]] = {
    "logprob_nan": ("NaN for the first option", _logprobs(_NAN, -4.0), (INVALID,)),
    "logprob_above_0": ("+5, a probability of 148", _logprobs(5.0, -4.0), (INVALID,)),
    "logprob_infinite": ("+Infinity", _logprobs(_INF, -4.0), (INVALID,)),
    "logprob_1e6": ("a million", _logprobs(1e6, -4.0), (INVALID,)),
    "logprob_null": ("null", _logprobs(None), (INVALID,)),
    "logprob_text": ("a text", _logprobs("-0.1"), (INVALID,)),
    "logprob_true": ("true", _logprobs(True), (INVALID,)),
    "logprob_all_minus_infinite": ("-Infinity for all tokens", _logprobs(-_INF), (INVALID,)),
    "logprob_one_minus_infinite": ("-Infinity beside a probability of .6", _logprobs(-0.5, -_INF), (INVALID,)),
    "logprob_all_0": ("each token is certain", _logprobs(0.0), (INVALID,)),
    "logprob_lowest": ("the lowest number for all, as llama.cpp writes log(0)", _logprobs(-3.4e38), (INVALID,)),
    "logprob_long": ("a number of 400 digits", _logprobs(int("9" * 400)), (INVALID,)),
    "token_twice": ("the same entry stands there twice", _first_twice(0.5, 0.5), (INVALID,)),
    "token_in_two_parts": ("two tokens with the letters of the first option", _first_twice(0.75, 0.25), ()),
    "logprobs_list": ("logprobs is a list", _set(*_CHOICE, "logprobs", []), (INVALID,)),
    "logprobs_text": ("logprobs is a text", _set(*_CHOICE, "logprobs", "none"), (INVALID,)),
    "logprobs_content_text": ("its content is a text", _set(*_CHOICE, "logprobs", "content", "x"), (INVALID,)),
    "logprobs_content_null_token": ("a token is null", _set(*_CHOICE, "logprobs", "content", [None]), (INVALID,)),
    "logprobs_empty": ("no token", _set(*_CHOICE, "logprobs", "content", []), (REJECTED,)),
    "top_null": ("no other tokens: null", _in_token("top_logprobs", None), (INVALID, REJECTED)),
    "top_object": ("the other tokens are an object", _in_token("top_logprobs", {"yes": -0.1}), (INVALID,)),
    "top_missing": (
        "without top_logprobs",
        lambda reply: (_entry(reply).pop("top_logprobs"), reply)[1],
        (INVALID, REJECTED),
    ),
    "token_number": ("a token is a number", _in_token("token", 5), (INVALID,)),
    "token_null": ("a token is null", _in_token("token", None), (INVALID,)),
    "bytes_text": ("a token's bytes are a text", _in_token("bytes", "yes"), (INVALID,)),
    "bytes_large": ("a byte of 300", _in_token("bytes", [300]), (INVALID,)),
    "bytes_other": ("bytes of another text", _in_token("bytes", [120, 120]), (REJECTED,)),
    "content_number": ("the text is a number", _set(*_MESSAGE, "content", 1), (INVALID,)),
    "content_list": ("the text is a list", _set(*_MESSAGE, "content", ["yes"]), (INVALID,)),
    "content_half_character": ("half a character", _set(*_MESSAGE, "content", "\ud83d"), (INVALID, UNAVAILABLE)),
    "content_control": ("NUL and escapes", _set(*_MESSAGE, "content", "\x00\x1b[2J\u202e"), (INVALID,)),
    "content_bad_escape": ("a wrong escape in JSON", _set(*_MESSAGE, "content", '{"answer": "\\q"}'), (INVALID,)),
    "content_deep": ("100,000 brackets", _set(*_MESSAGE, "content", "[" * 100_000), (INVALID,)),
    "content_long": ("a text of 2 MB", _set(*_MESSAGE, "content", "yes" * 700_000), (INVALID,)),
    "message_null": ("message is null", _set(*_MESSAGE, None), (INVALID,)),
    "message_list": ("message is a list", _set(*_MESSAGE, []), (INVALID,)),
    "choices_text": ("choices is a text", _set("choices", "yes"), (INVALID,)),
    "choices_object": ("choices is an object", _set("choices", {"message": {"content": "yes"}}), (INVALID,)),
    "choice_null": ("a choice is null", _set(*_CHOICE, None), (INVALID,)),
    "tool_calls": ("calls a tool", _set(*_MESSAGE, {"content": None, "tool_calls": _CALL}), (INVALID,)),
    "tool_calls_text": ("tool_calls is a text", _set(*_MESSAGE, {"content": None, "tool_calls": "x"}), (INVALID,)),
    "function_call": (
        "calls a function",
        _set(*_MESSAGE, {"content": None, "function_call": {"name": "x"}}),
        (INVALID,),
    ),
    "refusal_number": ("the refusal is a number", _set(*_MESSAGE, {"content": None, "refusal": 5}), (INVALID,)),
    "usage_text": ("the usage is a text", _set("usage", "many"), (INVALID,)),
    "usage_negative": ("negative usage", _set("usage", {"prompt_tokens": -7, "completion_tokens": 1}), (INVALID,)),
    "usage_in_words": ("usage in words", _set("usage", {"prompt_tokens": "7", "completion_tokens": "1"}), (INVALID,)),
    "usage_null_count": (
        "a count is null",
        _set("usage", {"prompt_tokens": None, "completion_tokens": 1}),
        (),
    ),
    "usage_float": ("a count is 7.0", _set("usage", {"prompt_tokens": 7.0, "completion_tokens": 1.0}), ()),
    "usage_half": ("half a token", _set("usage", {"prompt_tokens": 7.5, "completion_tokens": 1}), (INVALID,)),
    "usage_endless": ("1e300 tokens", _set("usage", {"prompt_tokens": 1e300, "completion_tokens": 1}), (INVALID,)),
    "reply_list": ("the answer is a list", lambda reply: [reply], (INVALID,)),
    "reply_text": ("the answer is a text", lambda reply: "yes", (INVALID,)),
    "reply_null": ("the answer is null", lambda reply: None, (INVALID,)),
    "reply_number": ("the answer is a number", lambda reply: 1, (INVALID,)),
    "reply_deep": ("100,000 brackets", lambda reply: b"[" * 100_000, (INVALID, UNAVAILABLE)),
    "reply_not_utf8": ("no UTF-8", lambda reply: b'{"choices": "\xff\xfe"}', (INVALID, UNAVAILABLE)),
    "choices_missing": ("no choices", lambda reply: {"usage": reply["usage"]}, (UNAVAILABLE,)),
    "choices_empty": ("an empty list of choices", _set("choices", []), (UNAVAILABLE,)),
    "top_very_many": ("100,000 other tokens", lambda reply: _very_many(reply), (INVALID,)),
}


def _send(handler: Any, text: bytes) -> None:
    handler.wfile.write(text)
    handler.wfile.flush()


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def _endless(handler: Any) -> Iterator[None]:
    """Tick until the client goes away or the server is closed."""
    while not handler.server.closing:
        time.sleep(handler.server.tick)
        yield


def _endlessly(first: bytes, again: bytes) -> Callable[[Any], None]:
    """Send `first`, then `again` for ever."""

    def send(handler: Any) -> None:
        _send(handler, first)
        for _ in _endless(handler):
            _send(handler, again)

    return send


def _at_once(text: bytes) -> Callable[[Any], None]:
    return lambda handler: _send(handler, text)


def _hangs_up_later(handler: Any) -> None:
    """Keep the connection, and close it when the next question comes on it."""
    _send(handler, b"HTTP/1.1 204 No Content\r\n\r\n")
    handler.connection.settimeout(1)
    with suppress(TimeoutError):
        handler.connection.recv(1)


def _dripped_headers(handler: Any) -> None:
    _send(handler, b"HTTP/1.1 200 OK\r\n")
    for number, _ in enumerate(_endless(handler)):
        _send(handler, b"X-%d: y\r\n" % number)


def _dripped_status(handler: Any) -> None:
    _send(handler, b"HTTP/1.1 200 ")
    for _ in _endless(handler):
        _send(handler, b"O")


def _flood(handler: Any) -> None:
    _send(handler, _HEAD + b'\r\n{"id": "')
    while not handler.server.closing:
        _send(handler, b"x" * 65536)


def _flood_of_chunks(handler: Any) -> None:
    _send(handler, _HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while not handler.server.closing:
        _send(handler, b"1\r\n \r\n" * 10_000)


_GOOD = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}]}'


# Behaviours that write to the socket themselves.
WIRED: dict[str, tuple[str, Callable[[Any], None], tuple[str, ...]]] = {
    "no_end": ("a text letter by letter", _endlessly(_HEAD + b'\r\n{"id": "', b"x"), (UNAVAILABLE,)),
    "blank_lines": ("blank lines for ever", _endlessly(_HEAD + b"\r\n", b"\n"), (UNAVAILABLE,)),
    "empty_choices": ("choices without end", _endlessly(_HEAD + b'\r\n{"choices": [{}', b", {}"), (UNAVAILABLE,)),
    "small_chunks": (
        "chunks of one byte for ever",
        _endlessly(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
        (UNAVAILABLE,),
    ),
    "dripped_status": ("its first line letter by letter", _dripped_status, (UNAVAILABLE,)),
    "dripped_headers": ("headers for ever", _dripped_headers, (UNAVAILABLE,)),
    "dripped_error": (
        "an error whose text drips",
        _endlessly(b"HTTP/1.1 400 Bad Request\r\n\r\n", b"x"),
        (UNAVAILABLE, REJECTED),
    ),
    "informed": ("100 Continue for ever", _endlessly(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), (UNAVAILABLE,)),
    "silent": ("nothing at all", _endlessly(b"", b""), (UNAVAILABLE,)),
    "open_end": ("an answer without an end", _endlessly(_HEAD + b"\r\n" + _GOOD, b""), (UNAVAILABLE,)),
    "flood": ("bytes without end, as fast as they go", _flood, (INVALID, UNAVAILABLE)),
    "flood_of_chunks": ("bytes one by one, as fast as they go", _flood_of_chunks, (INVALID, UNAVAILABLE)),
    "no_http": ("no HTTP", _at_once(b"SSH-2.0-OpenSSH_9.2\r\n"), (UNAVAILABLE,)),
    "bad_header": ("a header that is none", _at_once(b"HTTP/1.1 200 OK\r\n\x00bad\r\n\r\n"), (UNAVAILABLE,)),
    "bad_chunk": (
        "a chunk's length that is no number",
        _at_once(_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
        (UNAVAILABLE,),
    ),
    "bad_length": (
        "two lengths",
        _at_once(_HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
        (UNAVAILABLE,),
    ),
    "bad_gzip": ("says gzip and is not", _at_once(_HEAD + b"Content-Encoding: gzip\r\n\r\nhello"), (REJECTED,)),
    "ends_early": (
        "ends, without a word of it, in the middle",
        _at_once(_HEAD + b"Connection: close\r\n\r\n" + _GOOD[:-30]),
        (UNAVAILABLE,),
    ),
    "no_reply": ("closes without a word", lambda handler: None, (UNAVAILABLE,)),
    "no_content": ("204", _at_once(b"HTTP/1.1 204 No Content\r\n\r\n"), (UNAVAILABLE,)),
    "hangs_up_later": ("204, and the next question on the connection is not heard", _hangs_up_later, (UNAVAILABLE,)),
}
ENDLESS = {
    *("no_end", "blank_lines", "empty_choices", "small_chunks", "dripped_status", "dripped_headers", "dripped_error"),
    *("informed", "silent", "open_end", "flood", "flood_of_chunks"),
}

_WHOLE: dict[str, Behaviour] = {
    "ok": Behaviour("a good answer", ()),
    "400": Behaviour("bad request", (REJECTED,)),
    "401": Behaviour("a wrong key, quoted", (REJECTED,)),
    "404": Behaviour("no such model", (REJECTED,)),
    "429": Behaviour("too many requests", (UNAVAILABLE,)),
    "500": Behaviour("internal trouble", (UNAVAILABLE,)),
    "too_long": Behaviour("the prompt is too long", (LONG,)),
    "slow": Behaviour("answers after `slowness` seconds", (UNAVAILABLE,)),
    "drip": Behaviour("`slowness` seconds between the parts of an answer", (UNAVAILABLE,)),
    "cut": Behaviour("breaks off in the middle", (UNAVAILABLE,)),
    "html": Behaviour("a web page with 200", (UNAVAILABLE,)),
    "empty": Behaviour("an empty body with 200", (UNAVAILABLE,)),
    "not_json": Behaviour("no JSON", (UNAVAILABLE,)),
    "error_in_200": Behaviour("an error with 200", (UNAVAILABLE,)),
    "wrong_enum": Behaviour("an answer that is no option", (INVALID,)),
    "truncated_json": Behaviour("JSON without its end; a grammar's answer has none, and is good", (INVALID,)),
    "ignored": Behaviour("talks, without logprobs", (INVALID,)),
    "no_logprobs": Behaviour("an answer without logprobs", (REJECTED,)),
    "refusal": Behaviour("declines", (INVALID,)),
    **{
        f"redirect_{status}": Behaviour(f"sends the prompt elsewhere ({status})", (REJECTED,))
        for status in (301, 302, 303, 307, 308)
    },
    "redirect_loop": Behaviour("sends the prompt to itself", (REJECTED,)),
}

BEHAVIOURS: dict[str, Behaviour] = {
    **_WHOLE,
    **{name: Behaviour(about, errors) for name, (about, _, errors) in CHANGED.items()},
    **{name: Behaviour(about, errors, name in ENDLESS) for name, (about, _, errors) in WIRED.items()},
}
del BEHAVIOURS["hangs_up_later"]  # of pages only: as an answer it would also take the next question with it

# What the pages that name a dialect (/props, /api/version, /v1/models, /tokenize) may hold instead.
PAGES: dict[str, Any] = {
    "context_text": {"/props": {"default_generation_settings": {"n_ctx": "4096"}}},
    "context_null": {"/props": {"default_generation_settings": {"n_ctx": None}}},
    "context_negative": {"/props": {"default_generation_settings": {"n_ctx": -5}}},
    "context_list": {"/props": {"default_generation_settings": {"n_ctx": [4096]}}},
    "context_huge": {"/props": {"default_generation_settings": {"n_ctx": 1e300}}},
    "props_list": {"/props": []},
    "props_text": {"/props": "yes"},
    "settings_text": {"/props": {"default_generation_settings": "yes"}},
    "version_list": {"/api/version": []},
    "models_data_null": {"/v1/models": {"data": None}},
    "models_data_text": {"/v1/models": {"data": "scripted"}},
    "models_null": {"/v1/models": {"data": [None, 5, {"id": 7}]}},
    "models_length_text": {"/v1/models": {"data": [{"id": "scripted", "max_model_len": "4096"}]}},
    "models_length_true": {"/v1/models": {"data": [{"id": "scripted", "max_model_len": True}]}},
    "count_text": {"/props": {"default_generation_settings": {"n_ctx": 4096}}, "/tokenize": {"count": "many"}},
    "count_negative": {"/props": {"default_generation_settings": {"n_ctx": 4096}}, "/tokenize": {"count": -1}},
    "tokens_text": {"/props": {"default_generation_settings": {"n_ctx": 4096}}, "/tokenize": {"tokens": "many"}},
}
_WIRED_PAGES = ("no_end", "blank_lines", "dripped_status", "dripped_headers", "informed", "silent", "flood", "no_http")
_WIRED_PAGES += ("bad_header", "bad_chunk", "bad_gzip", "no_reply", "no_content", "hangs_up_later")
PAGE_BEHAVIOURS: dict[str, Behaviour] = {
    **{name: Behaviour(f"{next(iter(pages))} holds something else", ()) for name, pages in PAGES.items()},
    **{name: Behaviour(f"pages: {WIRED[name][0]}", (), name in ENDLESS) for name in _WIRED_PAGES},
    **{f"redirect_{status}": Behaviour(f"pages are elsewhere ({status})", ()) for status in (301, 302, 307, 308)},
}
