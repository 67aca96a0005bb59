"""The way to a server of language models: the openai client, over a transport that keeps what SECURITY.md promises.

Nothing is redirected, nothing encoded is read, only our own headers leave, and every wait has an end. A reply is read
through a schema of our own, which lets no impossible number pass; what does not fit it is an `InvalidOutput`.
"""

from __future__ import annotations

import asyncio
import base64
import email.utils
import json
import logging
import math
import os
import re
import ssl
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
import openai
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from summeval_nb.core.addresses import Address, hidden
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

Value = TypeVar("Value")
MOST_BYTES = 16_000_000  # of one answer; a page that names a dialect has a few thousand
MOST_ERROR_BYTES = 65_536
MOST_SHOWN = 2_000  # tokens at one place; no server is asked for more than 1,000
PAGE_SECONDS = 10.0


# What a reply may hold. Unknown fields are ignored, as protocols grow; known ones have the type that they must have.


def _possible(logprob: float) -> float:
    if math.isnan(logprob) or logprob > 0.001:  # a little above 0 is rounding
        raise ValueError(f"a log-probability of {logprob:g} is impossible")
    return min(logprob, 0.0)


Logprob = Annotated[float, AfterValidator(_possible)]
Byte = Annotated[int, Field(ge=0, le=255)]


def _whole(count: object) -> object:
    """A count that a server writes as 7.0, or as null for one that it did not make."""
    if count is None:
        return 0
    return int(count) if isinstance(count, float) and count.is_integer() else count


Count = Annotated[int, BeforeValidator(_whole), Field(ge=0, le=10**12)]


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Alternative(_Shape):
    """A token that was possible at a place, and the logarithm of its probability."""

    token: str
    logprob: Logprob
    bytes: list[Byte] | None = None


def _adding_up(tokens: list[Alternative] | None) -> list[Alternative]:
    """The tokens at a place, none of them twice. (Two tokens may be written alike, each with its own probability.)"""
    possible = [token for token in tokens or () if math.exp(token.logprob)]
    if len({(token.token, token.logprob, *(token.bytes or ())) for token in possible}) < len(possible):
        raise ValueError("a token stands there twice, with one and the same probability")
    total = math.fsum(math.exp(token.logprob) for token in possible)
    if total > 1.02:  # one and some rounding
        raise ValueError(f"the probabilities of the tokens at one place add up to {total:.3g}")
    return tokens or []


class ShownToken(Alternative):
    """A token of the answer, with those that were possible in its place."""

    top_logprobs: Annotated[
        Annotated[list[Alternative], Field(max_length=MOST_SHOWN)] | None, AfterValidator(_adding_up)
    ] = Field(default_factory=list)


class Logprobs(_Shape):
    content: list[ShownToken] | None = None


class Message(_Shape):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[object] | None = None
    function_call: dict[str, object] | None = None

    @model_validator(mode="after")
    def _calls_nothing(self) -> Message:
        if self.tool_calls or self.function_call is not None:
            raise ValueError("the model called a tool, and none was offered")
        return self


class Part(_Shape):
    message: Message
    logprobs: Logprobs | None = None
    finish_reason: object = None


class PromptDetails(_Shape):
    cached_tokens: Count = 0


class TokenCounts(_Shape):
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    prompt_tokens_details: PromptDetails | None = None


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
    def tokens(self) -> list[ShownToken]:
        """Its tokens, with those that were possible in their places; empty where the server shows none."""
        shown = self.choices[0].logprobs if self.choices else None
        return (shown.content if shown else None) or []


class TextAnswer(_Shape):
    """What a model wrote in the place of a text that keeps to a pattern."""

    answer: str


def _first_error(error: ValidationError) -> str:
    """What is wrong with a reply, in one line that quotes nothing of it but the names of its fields."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:30] for part in first["loc"])
    return f"{place}: {first['msg']}"[:200] if place else str(first["msg"])[:200]


# One event loop in a thread of its own serves all backends of a process: there every wait can be ended.

_THREAD = "summeval_nb-wire"
_loops: dict[int, asyncio.AbstractEventLoop] = {}
_loops_lock = threading.Lock()


def _loop() -> asyncio.AbstractEventLoop:
    with _loops_lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name=_THREAD, daemon=True).start()
            _loops.clear()  # a forked process has no use for its parent's
            _loops[os.getpid()] = loop
        return loop


if hasattr(os, "register_at_fork"):  # a fork may happen while another thread holds the lock

    def _new_lock() -> None:
        global _loops_lock
        _loops_lock = threading.Lock()

    os.register_at_fork(after_in_child=_new_lock)


def wait_for(coroutine: Coroutine[Any, Any, Value]) -> Value:
    """Run a coroutine in the loop's thread and return its value; Ctrl-C ends it."""
    future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


class _Declined(Exception):
    """A response that is no answer, or is not read to its end: another status, an encoding, too many bytes."""

    def __init__(self, response: httpx2.Response, said: bytes = b""):
        self.response, self.said = response, said


class _Guard(httpx2.AsyncHTTPTransport):
    """Sends our own headers and no others, and reads no more of a response than was asked for.

    The client has headers of its own: this machine's system and Python, and what OPENAI_ORG_ID, OPENAI_PROJECT_ID and
    OPENAI_CUSTOM_HEADERS say, which is meant for OpenAI and not for every server.
    """

    def __init__(self, headers: dict[str, str], query: str, **options: Any):
        super().__init__(**options)
        self._headers, self._query = headers, query

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return its whole response; raises `_Declined` for what is no answer."""
        about_body = ("Host", "Content-Type", "Content-Length")
        headers = {name: request.headers[name] for name in about_body if name in request.headers} | self._headers
        if request.method == "GET":  # asked for once; whatever it does to its connection, no question is asked on it
            headers["Connection"] = "close"
        url = httpx2.URL(f"{request.url}?{self._query}") if self._query else request.url
        sent = httpx2.Request(
            request.method, url, headers=headers, stream=request.stream, extensions=request.extensions
        )
        response = await super().handle_async_request(sent)
        response.request = sent
        try:
            if response.status_code == 200 and not _encoding(response):
                body = await _body(response, MOST_BYTES)
                return httpx2.Response(200, headers=response.headers, content=body)
            readable = response.status_code != 200 and not response.is_redirect and not _encoding(response)
            raise _Declined(response, await _body(response, MOST_ERROR_BYTES) if readable else b"")
        finally:
            await response.aclose()


async def _body(response: httpx2.Response, most: int) -> bytes:
    """The body, as it came over the wire; of an error only so much, and an answer with more is declined."""
    body = bytearray()
    async for part in response.aiter_raw():
        body += part
        if len(body) > most:
            if response.status_code == 200:
                raise _Declined(response)
            break
        await asyncio.sleep(0)  # thousands of pieces may have come at once, and others wait for their turn
    return bytes(body[:most])


def _encoding(response: httpx2.Response) -> str:
    """How a body is compressed, or encoded otherwise; '' where it is as it was asked for."""
    given = [name.strip() for name in response.headers.get("content-encoding", "").split(",")]
    return ", ".join(name for name in given if name.lower() not in _PLAIN_ENCODINGS)


_PLAIN_ENCODINGS = ("", "identity", "none", "utf-8")  # the last two are no encodings, and some servers say them


@dataclass
class Wire:
    """The way to one server, for one model; what goes wrong on it is a typed `BackendError` without a secret."""

    address: Address
    key: str = field(default="", repr=False)
    model: str = ""

    def __post_init__(self) -> None:
        self._made: tuple[int, openai.AsyncOpenAI] | None = None
        self._proxy = _Proxy()
        self.reached = False  # whether a page was ever answered, be it by a refusal

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_made": None, "_proxy": _Proxy(), "reached": False}

    def hide(self, text: str) -> str:
        """Return a text without key, password and query, and without what a terminal obeys."""
        secrets = [self.key, *self.address.secrets, *self._proxy.secrets]
        return hidden(printable(hidden(text, secrets)), secrets)

    def error(self, kind: type[BackendError], what: str, remedy: str, **more: float | None) -> BackendError:
        """A typed error about this model on this server."""
        return kind(what, model=self.model, server=self.address.shown, remedy=remedy, **more)

    def answer(self, request: Mapping[str, Any], *, connect: float, within: float) -> Answer:
        """Ask for an answer and return it, checked; `request` has the fields of the client's `create`.

        `connect` and `within` are seconds: for the connection, and for all.
        """
        end = time.monotonic() + within

        def ask(client: openai.AsyncOpenAI, timeout: httpx2.Timeout) -> Awaitable[Any]:
            return client.chat.completions.with_raw_response.create(**request, timeout=timeout)

        answer = self._read(wait_for(self._asked(ask, connect, within)))
        if time.monotonic() > end:  # a very large one takes its time to be read
            raise self._late("no complete answer", within)
        return answer

    def page(self, path: str, *, connect: float, within: float, body: object = None) -> JsonDict:
        """Fetch an object of JSON from the server's root (above `/v1`), by POST if it takes a body; {} for none."""
        url = self.address.start.removesuffix("/v1") + path

        def ask(client: openai.AsyncOpenAI, timeout: httpx2.Timeout) -> Awaitable[httpx2.Response]:
            if body is None:
                return client.get(url, cast_to=httpx2.Response, options={"timeout": timeout})
            return client.post(url, cast_to=httpx2.Response, body=body, options={"timeout": timeout})

        with suppress(BackendError, ValueError, RecursionError):
            page = json.loads(wait_for(self._asked(ask, min(connect, PAGE_SECONDS), min(within, PAGE_SECONDS))))
            return page if isinstance(page, dict) else {}
        return {}

    async def _asked(
        self, ask: Callable[[openai.AsyncOpenAI, httpx2.Timeout], Awaitable[Any]], connect: float, within: float
    ) -> bytes:
        """What the server sends in answer to a request, all faults given their types."""
        try:
            async with asyncio.timeout(within):
                response = await ask(self._client(), httpx2.Timeout(None, connect=connect))
            self.reached = True
            return bytes(response.content)
        except TimeoutError:
            raise self._late("no complete answer", within) from None
        except _Declined as declined:
            self.reached = True
            raise self._declined(declined.response, declined.said) from None
        except (openai.APIConnectionError, httpx2.InvalidURL, httpx2.StreamError, OSError, ValueError) as error:
            cause = error.__cause__ or error
            if isinstance(cause, httpx2.ConnectTimeout):
                raise self._late("no connection", connect) from None
            raise self._broken(cause) from None

    def _read(self, body: bytes) -> Answer:
        """The reply, checked."""
        try:
            answer = Answer.model_validate_json(body)
        except ValidationError as error:
            said = self.hide(_first_error(error))
            if error.errors(include_url=False, include_input=False, include_context=False)[0]["type"] == "json_invalid":
                begins = beginning(self.hide(body[:MOST_ERROR_BYTES].decode("utf-8", "replace")))
                what = f"the server sent no answer, or it broke off (200 OK, but no JSON: {said}; {begins})"
                raise self.error(BackendUnavailable, what, "check base_url; try again") from None
            raise self.error(InvalidOutput, f"the reply is not of the protocol's form: {said}", _PROTOCOL) from None
        if answer.error is not None:
            what = f"the answer broke off (the server says: {self._said(str(answer.error))})"
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

    def _late(self, what: str, within: float) -> BackendError:
        what = f"{what} within {round(within, 3):g} s"
        return self.error(BackendUnavailable, what, "raise the limit (timeout, total_timeout), or try later")

    def _broken(self, error: BaseException) -> BackendError:
        """The error for a connection that did not come about, or broke."""
        what, remedy = "the server cannot be reached", "is it running, and base_url right?"
        if why := _distrust(error):
            what = f"{what} safely: {self.hide(why)}"
            remedy = "does base_url begin with http:// there, rather than https://?"
            if "certificate" in why:
                remedy = "if the certificate is one that you trust, name its file in SSL_CERT_FILE"
        elif not isinstance(error, _UNREACHED):
            what = f"the answer broke off ({self._said(f'{type(error).__name__}: {error}')})"
            remedy = "try again"
        elif self._proxy.variable:
            what = f"{what} through the proxy that {self._proxy.variable} names"
            remedy = "is the proxy right? else name the host in NO_PROXY"
        return self.error(BackendUnavailable, what, remedy)

    def _declined(self, response: httpx2.Response, body: bytes) -> BackendError:
        """The error for a response that is no answer."""
        status, encoding = response.status_code, self.hide(_encoding(response))[:60]
        unasked = f"encoded ({encoding}), which was not asked for"
        if response.is_redirect:
            what = f"the server redirects ({status}) to {self.hide(_elsewhere(response))}, which is not followed"
            remedy = "give the address that it means as base_url, if you trust it"
            return self.error(BackendRejected, what, remedy, status=status)
        if status == 200 and encoding:
            remedy = "let the server, or what stands before it, send answers uncompressed"
            return self.error(BackendRejected, f"the answer is {unasked}", remedy, status=status)
        if status == 200:
            return self.error(InvalidOutput, f"the answer has more than {MOST_BYTES // 1_000_000} MB", _PROTOCOL)
        said = f"its words are {unasked}" if encoding else self._said(_message(body))
        wait = seconds_to_wait(response.headers.get("retry-after"))
        if status in (400, 413, 422) and _TOO_LONG.search(said):
            length, limit = _lengths(re.sub(rf", {status}\b", "", said))
            remedy = "shorten the evidence, or use a model with a longer context"
            return self.error(ContextTooLong, f"the prompt is too long: {said}", remedy, length=length, limit=limit)
        if status == 429 and "insufficient_quota" not in said:
            what, remedy = f"too many requests (429): {said}", "use fewer workers, or try later"
            return self.error(BackendUnavailable, what, remedy, retry_after=wait)
        if (status >= 500 and status != 501) or status in (204, 408):
            what = f"the server failed ({status}): {said}"
            return self.error(BackendUnavailable, what, "try again later", retry_after=wait)
        remedies = {401: "check api_key", 403: "check what this key may do", 404: "check the model's name and base_url"}
        remedy = remedies.get(status, "see what the server says")
        what = f"the server refused the request ({status}): {said}"
        return self.error(BackendRejected, what, remedy, status=status)

    def _client(self) -> openai.AsyncOpenAI:
        """The client; made in the loop's thread, once in each process. It knows no secret: the guard sends the key."""
        if self._made is None or self._made[0] != os.getpid():
            _silence()
            http = httpx2.AsyncClient(transport=self._guard(), trust_env=False, follow_redirects=False)
            client = openai.AsyncOpenAI(
                api_key="sent by the guard", base_url=self.address.start, max_retries=0, http_client=http
            )
            self._made = os.getpid(), client
            weakref.finalize(self, _close, asyncio.get_running_loop(), client).atexit = False
        return self._made[1]

    def _guard(self) -> _Guard:
        """The transport; of the environment it takes the proxy and the certificates, each with its name."""
        self._proxy = _proxy_of(self.address)
        headers = {"User-Agent": "summeval_nb", "Accept": "application/json", "Accept-Encoding": "identity"}
        if authorization := self.address.basic or (f"Bearer {self.key}" if self.key else ""):
            headers["Authorization"] = authorization
        encrypted = self.address.encrypted or self._proxy.url.startswith("https://")
        trusted = self._trusted() if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        limits = httpx2.Limits(max_connections=None, keepalive_expiry=5)
        proxy = self._proxy.url or None
        try:
            return _Guard(headers, self.address.query, verify=trusted, trust_env=False, limits=limits, proxy=proxy)
        except ImportError:
            what = f"{self._proxy.variable} names a SOCKS proxy, for which the package socksio is missing"
            remedy = "install socksio, or unset the variable"
        except (ValueError, httpx2.InvalidURL):
            scheme = self._proxy.url.partition("://")[0]
            what = f"{self._proxy.variable} names a proxy that cannot be used ({scheme}://...)"
            remedy = "mend or unset the variable"
        raise self.error(BackendUnavailable, self.hide(what), remedy)

    def _trusted(self) -> ssl.SSLContext:
        """The certificates to trust: those that the environment names, else those of this system."""
        file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
        try:
            if file:
                return ssl.create_default_context(cafile=file)
            if folder and os.path.isdir(folder):
                return ssl.create_default_context(capath=folder)
            if not folder:
                return httpx2.create_ssl_context(trust_env=False)
            what = "is no folder"
        except OSError as error:
            what = f"cannot be used ({error.strerror or type(error).__name__})"
        names = [name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE") if os.environ.get(name)]
        named = " or ".join(f"{name}={os.environ[name]!r}" for name in names) or "the list of certificates"
        raise self.error(BackendUnavailable, self.hide(f"{named} {what}"), "mend or unset the variable")


def _close(loop: asyncio.AbstractEventLoop, client: openai.AsyncOpenAI) -> None:
    if loop is _loops.get(os.getpid()) and loop.is_running():
        asyncio.run_coroutine_threadsafe(client.close(), loop)


_UNREACHED = (httpx2.ConnectError, httpx2.ProxyError, httpx2.UnsupportedProtocol, httpx2.InvalidURL)
_PROTOCOL = "use a server that keeps to OpenAI's protocol"
_TOO_LONG = re.compile(
    r"(?=.*(token|length|size))(?=.*(context|too long|too many tokens|exceed|longer than|less than \d+ tokens))",
    re.I | re.S,
)
_NUMBER = r"(?<![\d.,])(\d{1,12}(?:,\d{3}){0,3})(?![\d.]\d)"
_LIMIT = re.compile(
    rf"(?:context (?:length|size|window)|model length|limit|less than|at most|<=)\D{{0,30}}{_NUMBER}"
    rf"|{_NUMBER} (?:tokens )?max",
    re.I,
)
_OWN_LENGTH = re.compile(
    rf"{_NUMBER} (?:in (?:the|your) (?:messages|prompt)|(?:tokens )?from the input|(?:input|prompt|`inputs`) tokens)"
    rf"|prompt \(length {_NUMBER}|(?:prompt|request|input) \({_NUMBER} tokens",
    re.I,
)


def _lengths(said: str) -> tuple[int | None, int | None]:
    """The prompt's length and the limit that a server's words name, in tokens; None for what they leave open."""

    def numbers(pattern: re.Pattern[str] | str) -> list[int]:
        found = re.finditer(pattern, said)
        return [int("".join(match.groups("")).replace(",", "")) for match in found]

    limit, own = min(numbers(_LIMIT), default=None), max(numbers(_OWN_LENGTH), default=None)
    others = [number for number in numbers(_NUMBER) if limit is not None and number > limit]
    return max(others, default=None) if own is None else own, limit


def seconds_to_wait(text: str | None) -> float | None:
    """The seconds of a Retry-After header, from now where it is a date; nonsense gives None."""
    with suppress(TypeError, ValueError):
        seconds = float(text)  # type: ignore[arg-type]
        return seconds if 0 <= seconds < math.inf else None
    with suppress(TypeError, ValueError, OverflowError):
        date = email.utils.parsedate_to_datetime(text or "")
        return max(0.0, date.timestamp() - time.time())
    return None


def _elsewhere(response: httpx2.Response) -> str:
    """Scheme, host and port of where a redirect leads."""
    with suppress(ValueError, httpx2.InvalidURL):
        parts = urlsplit(str(response.url.join(response.headers["location"])))
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"
    return "another address"


@dataclass(frozen=True)
class _Proxy:
    """What requests go through, and the variable that names it; nothing of it where they go straight."""

    variable: str = ""
    url: str = field(default="", repr=False)

    @property
    def secrets(self) -> list[str]:
        """User and password of the proxy, and how they are sent."""
        with suppress(ValueError):
            parts = urlsplit(self.url)
            user, password = unquote(parts.username or ""), unquote(parts.password or "")
            together = base64.b64encode(f"{user}:{password}".encode()).decode()
            return [user, password, together] if user or password else []
        return [self.url]


def _proxy_of(address: Address) -> _Proxy:
    """The proxy that the environment names for an address; this machine is asked without one."""
    parts = urlsplit(address.shown)
    if address.local or proxy_bypass(parts.netloc):
        return _Proxy()
    known = getproxies()
    for scheme in (parts.scheme, "all"):
        if url := known.get(scheme):
            names = (f"{scheme}_proxy", f"{scheme}_PROXY", f"{scheme}_proxy".upper())
            variable = next((name for name in names if os.environ.get(name)), "this system's network settings")
            return _Proxy(variable, url if "://" in url else f"http://{url}")
    return _Proxy()


def _distrust(error: BaseException) -> str:
    """Why the encrypted connection did not come about; '' where it is not for that."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            said = (cause.reason or type(cause).__name__).replace("_", " ").lower()
            return f"the encrypted connection did not come about: {said}"
        cause = cause.__cause__ or cause.__context__
    return ""


class _Silent(logging.Filter):
    """Drops what the libraries log about our requests: addresses with their query, and whole headers."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record comes from another thread than ours."""
        return threading.current_thread().name != _THREAD


_LOGGERS = ("httpx2", *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))
_LOGGERS += tuple(f"openai.{part}" for part in ("_base_client", "_response", "_legacy_response"))
_silent = _Silent()


def _silence() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_silent)  # once, however often it is said


def _message(body: bytes) -> str:
    """What an error's body says, for people: the messages within JSON, else the text."""
    with suppress(ValueError, RecursionError):
        page = json.loads(body)
        places = [page.get("error"), page] if isinstance(page, dict) else []
        names = ("message", "code", "type", "error", "detail")
        said = [place[name] for place in places if isinstance(place, dict) for name in names if name in place]
        if texts := dict.fromkeys(str(part) for part in said if isinstance(part, (str, int))):
            return ", ".join(texts)
    return body.decode("utf-8", "replace")
