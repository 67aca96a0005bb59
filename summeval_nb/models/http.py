"""The way to a server of language models: what a reply may hold, and the openai client over a transport of our own.

The transport keeps what SECURITY.md promises: nothing is redirected, nothing encoded is read, only our own headers
leave, and every wait has an end.
"""

from __future__ import annotations

import email.utils
import json
import logging
import math
import os
import re
import ssl
import time
import weakref
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2
import openai
from pydantic import AfterValidator, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from summeval_nb.core.addresses import Address, redacted
from summeval_nb.core.base import JsonDict
from summeval_nb.core.html import printable
from summeval_nb.models.base import (
    BackendError,
    BackendRejected,
    BackendUnavailable,
    ContextTooLong,
    InvalidOutput,
    beginning,
)

# What a reply may hold. Unknown fields are ignored, as protocols grow; known ones have the type that they must have.


def _possible(logprob: float) -> float:
    if math.isnan(logprob) or logprob > 0.001:  # a little above 0 is rounding
        raise ValueError(f"a log-probability of {logprob:g} is impossible")
    return min(logprob, 0.0)


def _adding_up(tokens: list[Token] | None) -> list[Token]:
    """The tokens at a place, none of them twice. (Two tokens may be written alike, each with its own probability.)"""
    possible = [token for token in tokens or () if math.exp(token.logprob)]
    if len({(token.token, token.logprob, *(token.raw or ())) for token in possible}) < len(possible):
        raise ValueError("a token stands there twice, with one and the same probability")
    total = math.fsum(math.exp(token.logprob) for token in possible)
    if total > 1.02:  # one and some rounding
        raise ValueError(f"the probabilities of the tokens at one place add up to {total:.3g}")
    return tokens or []


def _joined(content: object) -> object:
    """The text of a reply that comes in parts, such as thinking and text."""
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        texts = [part.get("text") for part in content if part.get("type") == "text"]
        return "".join(texts) if all(isinstance(text, str) for text in texts) else content
    return content


Count = Annotated[int, Field(strict=False, ge=0, le=10**12)] | None  # some write 7.0, or null


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Token(_Shape):
    """A token of an answer, the logarithm of its probability, and the tokens that were possible in its place."""

    token: str
    logprob: Annotated[float, AfterValidator(_possible)]
    raw: list[Annotated[int, Field(ge=0, le=255)]] | None = Field(default=None, alias="bytes")
    top_logprobs: Annotated[Annotated[list[Token], Field(max_length=2_000)] | None, AfterValidator(_adding_up)] = []

    @property
    def written(self) -> bytes:
        """The token in bytes."""
        return bytes(self.raw) if self.raw else self.token.encode()

    @cached_property
    def top(self) -> dict[bytes, float]:
        """The probabilities of the tokens that were possible there, its own among them."""
        found: dict[bytes, float] = {}
        for token in self.top_logprobs or ():  # two tokens may be written with the same bytes
            found[token.written] = found.get(token.written, 0.0) + math.exp(token.logprob)
        return {self.written: math.exp(self.logprob), **found}


class Logprobs(_Shape):
    content: list[Token] | None = None


class Message(_Shape):
    content: Annotated[str | None, BeforeValidator(_joined)] = None
    refusal: str | None = None


class Part(_Shape):
    message: Message
    logprobs: Logprobs | None = None
    finish_reason: object = None


class TokenCounts(_Shape):
    prompt_tokens: Count = 0
    generated_tokens: Count = Field(default=0, validation_alias="completion_tokens")
    cached_tokens: Count = Field(default=0, validation_alias=AliasPath("prompt_tokens_details", "cached_tokens"))


class Answer(_Shape):
    """A server's reply to a question."""

    choices: Annotated[list[Part], Field(max_length=100)] | None = None
    usage: TokenCounts | None = None
    error: object = None

    @property
    def text(self) -> str:
        """What the model wrote."""
        return (self.choices[0].message.content if self.choices else None) or ""

    @property
    def cut_off(self) -> bool:
        """Whether the server says that the model had no more room to write."""
        return self.choices[0].finish_reason == "length" if self.choices else False

    @property
    def tokens(self) -> list[Token]:
        """Its tokens, with those that were possible in their places; empty where the server shows none."""
        shown = self.choices[0].logprobs if self.choices else None
        return (shown.content if shown else None) or []


# The transport. While a question is asked, `_END` says when its time is over; every wait on its connection ends then.

MOST_BYTES = 16_000_000  # of one answer
MOST_ERROR_BYTES = 65_536
_END: ContextVar[float | None] = ContextVar("end", default=None)


def _left(most: float | None = None) -> float:
    """The seconds that the question has left, and at most `most`."""
    left = (_END.get() or 0.0) - time.monotonic()
    if left <= 0:
        raise httpcore2.ReadTimeout("the time of the question is over")
    return left if most is None else min(left, most)


class _Timed(httpcore2.NetworkStream):
    """A connection on which no wait is longer than what the question has left."""

    def __init__(self, stream: httpcore2.NetworkStream):
        self.close, self.get_extra_info = stream.close, stream.get_extra_info  # type: ignore[method-assign]
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), 65_536):
            self._stream.write(buffer[start : start + 65_536], _left(timeout))

    def start_tls(self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None) -> _Timed:
        return _Timed(self._stream.start_tls(ssl_context, server_hostname, _left(timeout)))


class _Network(httpcore2.SyncBackend):
    def connect_tcp(self, host: str, port: int, timeout: float | None = None, *more: Any, **options: Any) -> _Timed:
        return _Timed(super().connect_tcp(host, port, _left(timeout), *more, **options))


class _Transport(httpx2.BaseTransport):
    """Sends our own headers alone (the client's tell of this machine and of OpenAI), and reads a bounded response.

    What is encoded or redirects is not read, and what is longer than it may be is cut off behind the first byte that is
    too many. An encoding is told by a header of our own, so that nothing is decoded.
    """

    def __init__(self, pool: httpcore2.ConnectionPool, headers: Mapping[str, str], query: str):
        self._pool, self._headers, self._query = pool, headers, query

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        kept = ("Host", "Content-Type", "Content-Length")
        headers = {name: request.headers[name] for name in kept if name in request.headers} | {**self._headers}
        url = f"{request.url}?{self._query}" if self._query else str(request.url)
        content, more = request.stream, request.extensions
        sent = httpcore2.Request(request.method, url, headers=[*headers.items()], content=content, extensions=more)
        received = self._pool.handle_request(sent)
        try:
            given, body = httpx2.Headers(received.headers), bytearray()
            encodings = map(str.strip, given.pop("content-encoding", "").split(","))
            given[_ENCODED] = ", ".join(name for name in encodings if name.lower() not in _PLAIN)
            most = MOST_BYTES if received.status == 200 else MOST_ERROR_BYTES
            for part in () if given[_ENCODED] or 300 <= received.status < 400 else received.iter_stream():
                body += part[: most + 1 - len(body)]
                if len(body) > most:
                    break
            return httpx2.Response(received.status, headers=given, content=bytes(body))
        finally:
            received.close()


_ENCODED = "x-summeval-nb-encoded"
_PLAIN = ("", "identity", "none", "utf-8")  # the last two are no encodings, and some servers say them


def _of_others(record: logging.LogRecord) -> bool:
    """Whether what a library logs is about somebody else's request: it names our addresses and whole headers."""
    return _END.get() is None


_LOGGERS = ("httpx2", *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))
_LOGGERS += tuple(f"openai.{part}" for part in ("_base_client", "_response", "_legacy_response"))
_UNREACHED = (httpcore2.ConnectError, httpcore2.ProxyError, httpcore2.UnsupportedProtocol, httpx2.InvalidURL)
_BROKEN = (httpcore2.NetworkError, httpcore2.ProtocolError, httpx2.StreamError)
_PROTOCOL = "use a server that keeps to OpenAI's protocol"
_NOT_ASKED = "which was not asked for"
_REMEDIES = {401: "check api_key", 403: "check what this key may do", 404: "check base_url and the model's name"}
_TOO_LONG = re.compile(
    r"(?=.*(token|length|size))(?=.*(context|too long|too many tokens|exceed|longer than|less than \d+ tokens))",
    re.I | re.S,
)


@dataclass
class Wire:
    """The way to one server, for one model; what goes wrong on it is a typed `BackendError` without a secret."""

    address: Address
    key: str = field(default="", repr=False)
    model: str = ""
    _made: tuple[int, openai.OpenAI] | None = field(default=None, init=False, repr=False)
    _proxy: httpx2.Proxy | None = field(default=None, init=False, repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        return Wire, (self.address, self.key, self.model)

    def hide(self, text: str) -> str:
        """Return a text without key, password and query, and without what a terminal obeys."""
        proxy = self._proxy.auth if self._proxy and self._proxy.auth else ()
        return redacted(printable(text), [self.key, *self.address.secrets, *proxy])

    def error(self, kind: type[BackendError], what: str, remedy: str, **more: float | None) -> BackendError:
        """A typed error about this model on this server."""
        return kind(what, model=self.model, server=self.address.shown, remedy=remedy, **more)

    def answer(self, request: JsonDict, *, connect: float, within: float) -> Answer:
        """Ask, and return the answer, checked; all faults have their types.

        `connect` and `within` are seconds: until the connection stands, and for all.
        """
        begun, limit = _END.set(time.monotonic() + within), httpx2.Timeout(None, connect=connect)
        try:
            create = self._client().chat.completions.with_raw_response.create
            answer = self._read(create(**request, timeout=limit).http_response)
            _left()  # a very large one takes its time to be read
            return answer
        except openai.APIStatusError as error:
            raise self._declined(error.response) from None
        except httpcore2.TimeoutException as error:
            early = isinstance(error, httpcore2.ConnectTimeout)
            what, most = ("connection", min(connect, within)) if early else ("complete answer", within)
            remedy = "raise the limit (timeout, total_timeout), or try later"
            raise self.error(BackendUnavailable, f"no {what} within {round(most, 3):g} s", remedy) from None
        except (openai.APIConnectionError, *_UNREACHED, *_BROKEN, OSError, ValueError) as error:
            raise self._broken(error.__cause__ or error) from None
        finally:
            _END.reset(begun)

    def _read(self, response: httpx2.Response) -> Answer:
        """The reply, checked."""
        body = response.content
        if response.status_code != 200 or response.headers[_ENCODED] or len(body) > MOST_BYTES:
            raise self._declined(response)
        try:
            answer = Answer.model_validate_json(body)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            place = "".join(f"{str(part)[:30]}." for part in first["loc"])[:-1]
            said = self.hide(f"{place}{': ' * bool(place)}{first['msg']}"[:200])
            if first["type"] == "json_invalid":
                begins = beginning(self.hide(body[:MOST_ERROR_BYTES].decode("utf-8", "replace")))
                what = f"the server sent no answer, or it broke off (200 OK, but no JSON: {said}; {begins})"
                raise self.error(BackendUnavailable, what, "check base_url; try again") from None
            raise self.error(InvalidOutput, f"the reply is not of the protocol's form: {said}", _PROTOCOL) from None
        if answer.error is not None:
            what = f"the answer broke off (the server says: {self._said(_message(answer.error))})"
            raise self.error(BackendUnavailable, what, "try again")
        if not answer.choices:
            raise self.error(BackendUnavailable, "the server sent no answer (200 OK)", "check base_url; try again")
        if refusal := answer.choices[0].message.refusal:
            what = f"the model gave no answer, it refused: {self._said(refusal)}"
            raise self.error(InvalidOutput, what, "rephrase the prompt")
        return answer

    def _said(self, text: str) -> str:
        """What the server says, in one line that may be shown."""
        return " ".join(self.hide(text[:MOST_ERROR_BYTES]).split())[:300] or "nothing more was said"

    def _broken(self, error: BaseException) -> BackendError:
        """The error for a connection that did not come about, or broke."""
        what, why, remedy = "the server cannot be reached", self._said(str(error)), "is it running, and base_url right?"
        if "ssl" in why.lower():
            what, remedy = f"{what} safely: {why}", "does base_url begin with http:// there, rather than https://?"
            if "certificate" in why:
                remedy = "if the certificate is one that you trust, name its file in SSL_CERT_FILE"
        elif not isinstance(error, _UNREACHED):
            what, remedy = f"the answer broke off ({type(error).__name__}: {why})", "try again"
        elif self._proxy:
            what = f"{what} through the proxy that the environment names"
            remedy = "is the proxy right? else name the host in NO_PROXY"
        return self.error(BackendUnavailable, what, remedy)

    def _declined(self, response: httpx2.Response) -> BackendError:
        """The error for a response that is no answer."""
        status, encoding = response.status_code, self.hide(response.headers[_ENCODED])[:60]
        words = response.content.decode("utf-8", "replace")
        with suppress(ValueError, RecursionError):
            words = _message(json.loads(words)) or words
        said = f"its words are encoded ({encoding}), {_NOT_ASKED}" if encoding else self._said(words)
        if status == 200 and not encoding:
            return self.error(InvalidOutput, f"the answer has more than {MOST_BYTES // 1_000_000} MB", _PROTOCOL)
        if status in (400, 413, 422) and _TOO_LONG.search(said):
            remedy = "shorten the evidence, or use a model with a longer context"
            return self.error(ContextTooLong, f"the prompt is too long: {said}", remedy)
        if (busy := status == 429 and "insufficient_quota" not in said) or status in (204, 408) or 501 != status >= 500:
            what = f"{'too many requests' if busy else 'the server failed'} ({status}): {said}"
            remedy, wait = "use fewer workers, or try later", seconds_to_wait(response.headers.get("retry-after"))
            return self.error(BackendUnavailable, what, remedy if busy else "try again later", retry_after=wait)
        what, remedy = f"refused the request ({status}): {said}", _REMEDIES.get(status, "see what the server says")
        if response.is_redirect:
            where = "another address"
            with suppress(ValueError):
                where = self._said(urljoin(self.address.shown, response.headers.get("location", "")))
            what = f"redirects ({status}) to {where}, which is not followed"
            remedy = "give the address that it means as base_url, if you trust it"
        elif status == 200:
            what, remedy = f"encoded its answer ({encoding}), {_NOT_ASKED}", "let it send answers uncompressed"
        return self.error(BackendRejected, f"the server {what}", remedy, status=status)

    def _client(self) -> openai.OpenAI:
        """The client, made once in each process. It knows no secret: the transport sends the key."""
        if self._made is None or self._made[0] != os.getpid():
            for name in _LOGGERS:
                logging.getLogger(name).addFilter(_of_others)  # once, however often it is said
            headers = {"User-Agent": "summeval_nb", "Accept": "application/json", "Accept-Encoding": "identity"}
            if self.address.basic or self.key:
                headers["Authorization"] = f"Basic {self.address.basic}" if self.address.basic else f"Bearer {self.key}"
            pool = self._pool()
            http = httpx2.Client(transport=_Transport(pool, headers, self.address.query), trust_env=False)
            start, key = self.address.start, "sent by the transport"
            self._made = os.getpid(), openai.OpenAI(api_key=key, base_url=start, max_retries=0, http_client=http)
            weakref.finalize(self, pool.close).atexit = False
        return self._made[1]

    def _pool(self) -> httpcore2.ConnectionPool:
        """Connections, by the proxy and with the certificates that the environment names."""
        proxy, parts, known = None, urlsplit(self.address.shown), getproxies()
        try:
            url = known.get(parts.scheme) or known.get("all")
            if url and not self.address.local and not proxy_bypass(parts.netloc):
                self._proxy = httpx2.Proxy(url if "://" in url else f"http://{url}")
                proxy = httpcore2.Proxy(str(self._proxy.url), auth=self._proxy.raw_auth)
                if self._proxy.url.scheme.startswith("socks"):
                    import socksio  # noqa: F401
            secure = "https" in (parts.scheme, self._proxy and self._proxy.url.scheme)
            trusted = httpx2.create_ssl_context() if secure else None
            return httpcore2.ConnectionPool(
                trusted, proxy, max_connections=None, keepalive_expiry=5, network_backend=_Network()
            )
        except (ImportError, OSError, ValueError, httpx2.InvalidURL) as error:
            named = [name for name in os.environ if re.fullmatch("(https?|all)_proxy", name, re.I)]
            named += [f"{name}={value!r}" for name, value in os.environ.items() if name.startswith("SSL_CERT_")]
            why = self.hide(f"{', '.join(named)} ({self._said(f'{type(error).__name__}: {error}')})")
            what = f"proxy or certificates cannot be used as the environment says, {why}"
            remedy = "mend or unset what is wrong of it; SOCKS needs the package socksio"
            raise self.error(BackendUnavailable, what, remedy) from None


def seconds_to_wait(text: str | None) -> float | None:
    """The seconds of a Retry-After header, from now where it is a date; nonsense gives None."""
    with suppress(TypeError, ValueError):
        seconds = float(text)  # type: ignore[arg-type]
        return seconds if 0 <= seconds < math.inf else None
    with suppress(TypeError, ValueError, OverflowError):
        return max(0.0, email.utils.parsedate_to_datetime(text or "").timestamp() - time.time())
    return None


def _message(page: object) -> str:
    """What JSON says about an error, for people; '' for nothing."""
    places = [page.get("error"), page] if isinstance(page, dict) else [page] if isinstance(page, str) else []
    names = ("message", "code", "type", "error", "detail")
    said = [place[name] for place in places if isinstance(place, dict) for name in names if name in place]
    said += [place for place in places if isinstance(place, str)]
    return ", ".join(dict.fromkeys(str(part) for part in said if isinstance(part, (str, int))))
