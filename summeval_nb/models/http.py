"""One call of a server of language models: what is sent, how long it may take, and what a reply may hold.

Nothing is redirected, every wait has an end, and a reply is read through one schema: what does not fit it is `Odd`.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import math
import os
import re
import ssl
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from summeval_nb.core.addresses import Address, hidden
from summeval_nb.core.base import require_module
from summeval_nb.core.html import printable

if TYPE_CHECKING:
    import httpx


Value = TypeVar("Value")
Reply = TypeVar("Reply", bound=BaseModel)
MOST_BYTES = 16_000_000  # of one answer; a page that names a dialect has a few thousand
MOST_ERROR_BYTES = 65_536
MOST_EVENTS = 100_000  # of one answer; each takes memory, however short it is
MOST_SHOWN = 2_000  # tokens at one place; no server is asked for more than 1,000
READ_BESIDE = 32_768  # bytes of an event from which on it is read beside the loop
PAGE_SECONDS = 10.0


class Fault(Exception):
    """A call that gave no answer."""


class Unreachable(Fault):
    """No connection; `by` names the variable with the proxy that it was to go through."""

    def __init__(self, said: str, by: str = ""):
        super().__init__(said)
        self.by = by


class Untrusted(Fault):
    """The other side's certificate is not one to trust, or it speaks no TLS."""


class Unfit(Fault):
    """A variable of the environment holds what cannot be used; the text says which."""


class Encoded(Fault):
    """The answer is compressed, though it was asked for as it is; the text is the encoding."""


class Late(Fault):
    """A limit of time was passed; the text says which."""


class Broken(Fault):
    """The answer broke off, or is no HTTP."""


class Empty(Fault):
    """200 OK without an answer."""


class Odd(Fault):
    """An answer of another shape than the protocol's."""


class Refused(Fault):
    """A status other than 200."""

    def __init__(self, status: int, said: str, retry_after: str | None = None, elsewhere: str = ""):
        super().__init__(said)
        self.status, self.said, self.retry_after, self.elsewhere = status, said, retry_after, elsewhere


# What a reply may hold. Unknown fields are ignored, as protocols grow; known ones have the type that they must have.


def _possible(logprob: float) -> float:
    if math.isnan(logprob) or logprob > 0.001:  # a little above 0 is rounding
        raise ValueError(f"a log-probability of {logprob:g} is impossible")
    return min(logprob, 0.0)


Logprob = Annotated[float, AfterValidator(_possible)]
Byte = Annotated[int, Field(ge=0, le=255)]
Count = Annotated[int, Field(ge=0, le=10**12)]


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Alternative(_Shape):
    """A token that was possible at a place, and the logarithm of its probability."""

    token: str
    logprob: Logprob
    bytes: list[Byte] | None = None


def _adding_up(tokens: list[Alternative] | None) -> list[Alternative]:
    """The tokens at a place, none of them twice. (Two tokens may be written alike, each with its own probability.)"""
    possible = [one for one in tokens or () if math.exp(one.logprob)]
    if len({(one.token, one.logprob, *(one.bytes or ())) for one in possible}) < len(possible):
        raise ValueError("a token stands there twice, with one and the same probability")
    total = math.fsum(math.exp(one.logprob) for one in possible)
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


class Delta(_Shape):
    content: str | None = None
    refusal: Annotated[str | None, AfterValidator(lambda said: said or None)] = None
    reasoning_content: object = None
    reasoning: object = None
    tool_calls: list[object] | None = None
    function_call: dict[str, object] | None = None

    @model_validator(mode="after")
    def _calls_nothing(self) -> Delta:
        if self.tool_calls or self.function_call is not None:
            raise ValueError("the model called a tool, and none was offered")
        return self

    @property
    def carries(self) -> bool:
        """Whether it holds anything of the answer."""
        return bool(self.content or self.refusal or self.reasoning_content or self.reasoning)


class Part(_Shape):
    delta: Delta
    logprobs: Logprobs | None = None
    finish_reason: str | None = None


class PromptDetails(_Shape):
    cached_tokens: Count | None = None


class TokenCounts(_Shape):
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    prompt_tokens_details: PromptDetails | None = None


class Chunk(_Shape):
    """One event of an answer."""

    choices: Annotated[list[Part], Field(max_length=100)] | None = None
    usage: TokenCounts | None = None
    error: object = None

    @property
    def carries(self) -> bool:
        """Whether it holds anything of the answer."""
        return any(part.delta.carries for part in self.choices or ())


class _Settings(BaseModel):
    n_ctx: object = None


class Props(BaseModel):
    """llama.cpp's page about itself."""

    default_generation_settings: _Settings


class Version(BaseModel):
    """Ollama's page about itself."""

    version: str


class Listed(BaseModel):
    id: object = None
    max_model_len: object = None


class Models(BaseModel):
    """The models of a server."""

    data: list[object]

    def find(self, name: str) -> Listed:
        """The entry of a model; one without anything if it is not there."""
        found = (one for one in self.data if isinstance(one, dict) and one.get("id") == name)
        return Listed.model_validate(next(found, {}))


class Counted(BaseModel):
    """A server's count of a prompt's tokens."""

    count: object = None
    tokens: object = None


def whole_number(value: object) -> int | None:
    """A positive whole number as such (also one that a server wrote as a text), else None."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**12 else None


def first_error(error: ValidationError) -> str:
    """What is wrong with a reply, in one line that quotes nothing of it but the names of its fields."""
    one = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part)[:30] for part in one["loc"])
    return f"{place}: {one['msg']}"[:200] if place else str(one["msg"])[:200]


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


@dataclass(frozen=True)
class Limits:
    """Seconds: for a connection, for silence, and for a whole call, of which `spent` have gone already."""

    connect: float
    silence: float
    whole: float
    spent: float = 0.0

    @property
    def left(self) -> float:
        """What is left of the whole."""
        return max(0.0, self.whole - self.spent)


class _Clock:
    """The ends of waiting within one call: of silence, pushed on by whatever is heard, and of all."""

    def __init__(self, limits: Limits, alarm: asyncio.Timeout):
        self._limits, self._alarm, self._time = limits, alarm, asyncio.get_running_loop().time
        self._end = self._time() + limits.left

    def heard(self) -> None:
        """Something of the answer came: begin the silence anew."""
        self._alarm.reschedule(min(self._time() + self._limits.silence, self._end))

    def check(self) -> None:
        """Raise `TimeoutError` at the end of all, also where the loop had no turn to say so."""
        if self._time() >= self._end:
            raise TimeoutError

    def late(self) -> Late:
        """What the alarm means."""
        if self._time() >= self._end - 0.001:
            return Late(f"the answer was not complete within {self._limits.whole:g} s")
        return Late(f"the server was silent for {self._limits.silence:g} s")


@dataclass
class Wire:
    """The way to one server. Nothing is followed off it, and no wait is without an end."""

    address: Address
    key: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        self._client: tuple[int, httpx.AsyncClient] | None = None
        self._proxy = _Proxy()
        self.reached = False  # whether a page was ever answered, be it by a refusal

    def __getstate__(self) -> dict[str, object]:
        return {"address": self.address, "key": self.key, "_client": None, "_proxy": _Proxy(), "reached": False}

    def hide(self, text: str) -> str:
        """Return a text without key, password and query, and without what a terminal obeys."""
        secrets = [self.key, *self.address.secrets, *self._proxy.secrets]
        return hidden(printable(hidden(text, secrets)), secrets)

    def answer(self, request: Mapping[str, object], limits: Limits) -> list[Chunk]:
        """Ask for a streamed answer and return its events, checked; raises a `Fault`."""
        return wait_for(self._answer(dict(request), limits))

    def page(self, path: str, shape: type[Reply], limits: Limits, body: object = None) -> Reply | None:
        """Fetch a page of JSON from the server's root (above `/v1`); None if there is none of this shape."""
        seconds = min(PAGE_SECONDS, limits.silence)
        brief = Limits(min(limits.connect, seconds), seconds, seconds)
        try:
            text = wait_for(self._page(path, body, brief))
            self.reached = True
            return shape.model_validate_json(text)
        except Refused:
            self.reached = True
        except (Fault, ValidationError):
            pass
        return None

    async def _http(self) -> httpx.AsyncClient:
        """The client; made in the loop's thread, once in each process."""
        if self._client is None or self._client[0] != os.getpid():
            headers = {"User-Agent": "summeval_nb", "Accept-Encoding": "identity"}
            authorization = self.address.basic or (f"Bearer {self.key}" if self.key else "")
            if authorization:
                headers["Authorization"] = authorization
            _silence()
            client = self._made(headers)
            self._client = os.getpid(), client
            weakref.finalize(self, _close, asyncio.get_running_loop(), client).atexit = False
        return self._client[1]

    def _made(self, headers: Mapping[str, str]) -> httpx.AsyncClient:
        """A client; of the environment it takes the proxy and the certificates, each with its name."""
        httpx = require_module("httpx", "llm")
        self._proxy = _proxy_of(self.address)
        encrypted = self.address.encrypted or self._proxy.url.startswith("https://")
        trusted = _trusted() if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        limits = httpx.Limits(max_connections=None, keepalive_expiry=5)
        try:
            return httpx.AsyncClient(
                headers=headers,
                follow_redirects=False,
                limits=limits,
                verify=trusted,
                proxy=self._proxy.url or None,
                trust_env=False,
            )
        except ImportError:
            raise Unfit(
                f"{self._proxy.variable} names a SOCKS proxy, for which the package socksio is missing"
            ) from None
        except (ValueError, httpx.InvalidURL):
            scheme = self._proxy.url.partition("://")[0]
            raise Unfit(f"{self._proxy.variable} names a proxy that cannot be used ({scheme}://...)") from None

    @asynccontextmanager
    async def _sent(
        self, method: str, address: str, body: object, limits: Limits
    ) -> AsyncIterator[tuple[httpx.Response, _Clock]]:
        """A request under way, its faults given their names."""
        httpx = require_module("httpx", "llm")
        client, clock = await self._http(), None
        try:
            async with asyncio.timeout(min(limits.silence, limits.left)) as alarm:
                clock = _Clock(limits, alarm)
                waits = httpx.Timeout(None, connect=limits.connect)
                # A page is asked for once; whatever it does to its connection, no question is asked on it.
                once = {"Connection": "close"} if method == "GET" else None
                async with client.stream(method, address, json=body, timeout=waits, headers=once) as response:
                    if response.status_code != 200:
                        raise await _refused(response, self.hide)
                    if encoding := _encoding(response):
                        raise Encoded(self.hide(encoding)[:60])
                    yield response, clock
        except httpx.ConnectTimeout:
            raise Late(f"no connection within {limits.connect:g} s") from None
        except TimeoutError:
            raise (clock.late() if clock else Late("no answer")) from None
        except (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.ProxyError) as error:
            if why := _distrust(error):
                raise Untrusted(self.hide(why)) from None
            raise Unreachable(self._said(error), self._proxy.variable) from None
        except (httpx.HTTPError, httpx.StreamError, OSError, ValueError) as error:
            raise Broken(self._said(error)) from None

    def _said(self, error: Exception) -> str:
        return self.hide(f"{type(error).__name__}: {error}")[:300]

    async def _answer(self, request: dict[str, object], limits: Limits) -> list[Chunk]:
        asked = {**request, "stream": True, "stream_options": {"include_usage": True}}
        address, done = self.address.below("/chat/completions"), False
        chunks: list[Chunk] = []
        async with self._sent("POST", address, asked, limits) as (response, clock):
            async for event in _events(response):
                clock.check()
                if done := event == _DONE:
                    break
                if len(chunks) >= MOST_EVENTS:
                    raise Odd(f"the answer has more than {MOST_EVENTS:,} events")
                beside = len(event) > READ_BESIDE
                chunk = await asyncio.to_thread(_chunk, event, self.hide) if beside else _chunk(event, self.hide)
                chunks.append(chunk)
                clock.check()
                if chunk.carries:
                    clock.heard()
        if not any(chunk.choices for chunk in chunks):
            raise Empty("the server answered 200 OK but sent no answer (an empty body, or a web page)")
        if not done and not any(part.finish_reason for chunk in chunks for part in chunk.choices or ()):
            raise Broken("the stream ended before its [DONE]")
        return chunks

    async def _page(self, path: str, body: object, limits: Limits) -> bytes:
        address, method = self.address.below(path, root=True), "GET" if body is None else "POST"
        async with self._sent(method, address, body, limits) as (response, _):
            return await _body(response, MOST_BYTES)


def _close(loop: asyncio.AbstractEventLoop, client: httpx.AsyncClient) -> None:
    if loop is _loops.get(os.getpid()) and loop.is_running():
        asyncio.run_coroutine_threadsafe(client.aclose(), loop)


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


def _trusted() -> ssl.SSLContext:
    """The certificates to trust: those that the environment names, else those of certifi."""
    httpx = require_module("httpx", "llm")
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    try:
        if file:
            return ssl.create_default_context(cafile=file)
        if folder and os.path.isdir(folder):
            return ssl.create_default_context(capath=folder)
        if not folder:
            trusted: ssl.SSLContext = httpx.create_ssl_context(trust_env=False)
            return trusted
        what = "is no folder"
    except OSError as error:
        what = f"cannot be used ({error.strerror or type(error).__name__})"
    named = [
        f"{name}={os.environ[name]!r}"
        for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
        if os.environ.get(name)
    ]
    raise Unfit(f"{' or '.join(named) or 'the list of certificates'} {what}")


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
    """Drops what httpx and httpcore log about our requests: addresses with their query, and whole headers."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record comes from another thread than ours."""
        return threading.current_thread().name != _THREAD


_LOGGERS = ("httpx", *(f"httpcore.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))
_silent = _Silent()


def _silence() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_silent)  # once, however often it is said


def _encoding(response: httpx.Response) -> str:
    """How a body is compressed, or encoded otherwise; '' where it is as it was asked for."""
    given = [one.strip() for one in response.headers.get("content-encoding", "").split(",")]
    return ", ".join(one for one in given if one.lower() not in _PLAIN_ENCODINGS)


_PLAIN_ENCODINGS = ("", "identity", "none", "utf-8")  # the last two are no encodings, and some servers say them


async def _parts(response: httpx.Response) -> AsyncIterator[bytes]:
    """The body in pieces, as they came over the wire; the loop has its turn between them."""
    number = 0
    async for part in response.aiter_raw():
        number += 1
        if number % 64 == 0:  # thousands of pieces may have come at once
            await asyncio.sleep(0)
        yield part


async def _body(response: httpx.Response, most: int) -> bytes:
    """The first bytes of a body."""
    parts, size = [], 0
    async for part in _parts(response):
        parts.append(part)
        size += len(part)
        if size > most:
            break
    return b"".join(parts)[:most]


async def _refused(response: httpx.Response, hide: Callable[[str], str]) -> Refused:
    """What a status other than 200 says, and where it would send us, without a secret."""
    location = response.headers.get("location", "")
    elsewhere = ""
    if response.is_redirect:
        with suppress(ValueError):
            parts = urlsplit(str(response.url.join(location)))
            elsewhere = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"
        return Refused(response.status_code, "", elsewhere=hide(elsewhere) or "another address")
    encoding, wait = _encoding(response), response.headers.get("retry-after")
    if encoding:
        return Refused(response.status_code, f"its words are encoded ({encoding}), which was not asked for", wait)
    return Refused(response.status_code, _message(await _body(response, MOST_ERROR_BYTES)), wait)


class _Complaint(BaseModel):
    message: str | None = None
    code: str | int | None = None
    type: str | None = None


class _Complaining(BaseModel):
    error: _Complaint | str | None = None
    detail: str | None = None
    message: str | None = None


def _message(said: bytes) -> str:
    """What an error's body says, for people: the message within JSON, else the text."""
    text = said.decode("utf-8", "replace")
    try:
        found = _Complaining.model_validate_json(said)
    except ValidationError:
        return text
    error = found.error
    if isinstance(error, _Complaint):
        parts = dict.fromkeys(str(one) for one in (error.message, error.code, error.type) if one is not None)
        return ", ".join(parts) or text
    return error or found.detail or found.message or text


_DONE, _BYTE_ORDER_MARK, _LINE_END = b"[DONE]", b"\xef\xbb\xbf", re.compile(rb"\r\n|\r|\n")


async def _events(response: httpx.Response) -> AsyncIterator[bytes]:
    """The events of a stream up to its [DONE], that included; comments and other fields are left out.

    As the standard has it, a line ends with CR, LF or both, and the stream may begin with a byte-order mark.
    """
    held: list[bytes] = []
    lines, size, parts, begins, after_return = [], 0, _parts(response), True, False
    async for part in parts:
        size += len(part)
        if size > MOST_BYTES:
            raise Odd(f"the answer has more than {MOST_BYTES // 1_000_000} MB")
        if part and after_return:  # the line has ended already, and a newline only completes its end
            part = part.removeprefix(b"\n")
            after_return = False
        if not _LINE_END.search(part):
            held.append(part)
            continue
        *complete, rest = _LINE_END.split(b"".join([*held, part]))
        held, after_return = [rest], part.endswith(b"\r")
        for line in complete:
            line = line.removeprefix(_BYTE_ORDER_MARK) if begins else line
            begins = False
            if line.startswith((b"data:", b"error:")):
                lines.append(line.partition(b":")[2].strip())
            elif not line and lines:
                event, lines = b"\n".join(lines), []
                if event == _DONE:
                    await _drained(parts)
                    yield event
                    return
                yield event
    if lines:
        yield b"\n".join(lines)


async def _drained(parts: AsyncIterator[bytes]) -> None:
    """Read what follows the answer, mostly nothing, so that the connection can be used again; but not for long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0.1):
            async for _ in parts:
                pass


def _chunk(event: bytes, hide: Callable[[str], str]) -> Chunk:
    """An event as its type: no JSON is a stream that broke, another shape is odd, an error is said."""
    try:
        chunk = Chunk.model_validate_json(event)
    except ValidationError as error:
        if error.errors(include_url=False, include_input=False, include_context=False)[0]["type"] == "json_invalid":
            raise Broken(f"an event is no JSON: {first_error(error)}") from None
        raise Odd(hide(first_error(error))) from None
    if chunk.error is not None:
        raise Broken(hide(f"the server says: {chunk.error}"[:MOST_ERROR_BYTES])[:300])
    return chunk
