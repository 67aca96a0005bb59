"""ServerBackend: constrained choices with probabilities from OpenAI, vLLM, llama.cpp's server, Ollama and their kin."""

from __future__ import annotations

import email.utils
import json
import math
import os
import random
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, NamedTuple

from tqdm.auto import tqdm

from summeval_nb.core.addresses import Address
from summeval_nb.core.base import JsonDict, require_count, require_module, require_option, require_text
from summeval_nb.models.base import (
    Backend,
    BackendError,
    BackendRejected,
    BackendUnavailable,
    Choice,
    ContextTooLong,
    InvalidOutput,
    Usage,
    attempt,
    neutralise,
    option_masses,
)
from summeval_nb.models.http import (
    Chunk,
    Counted,
    Empty,
    Encoded,
    Fault,
    Late,
    Limits,
    Models,
    Odd,
    Props,
    Refused,
    Unfit,
    Unreachable,
    Untrusted,
    Version,
    Wire,
    whole_number,
)

__all__ = ["ServerBackend"]


def _translated(fault: Fault, backend: ServerBackend) -> BackendError:
    """Return the typed error for what went wrong with a request."""
    said = " ".join(backend.hidden(str(fault)).split())[:300] or "nothing more was said"
    about: dict[str, str] = {"model": backend.name, "server": backend.server}
    if isinstance(fault, Refused):
        return _refusal(fault, said, about)
    if isinstance(fault, Late):
        return BackendUnavailable(said, remedy="raise the limit (timeout, total_timeout), or try later", **about)
    if isinstance(fault, (Unreachable, Untrusted, Unfit)):
        return _no_way(fault, said, about)
    if isinstance(fault, Encoded):
        remedy = "let the server, or what stands before it, send answers uncompressed"
        what = f"the answer is encoded ({said}), which was not asked for"
        return BackendRejected(what, remedy=remedy, **about)
    if isinstance(fault, Odd):
        remedy = "use a server that keeps to OpenAI's protocol"
        return InvalidOutput(f"the reply is not of the protocol's form: {said}", remedy=remedy, **about)
    if isinstance(fault, Empty):
        return BackendUnavailable(said, remedy="check base_url; try again", **about)
    return BackendUnavailable(f"the answer broke off ({said})", remedy="try again", **about)


def _no_way(fault: Fault, said: str, about: dict[str, str]) -> BackendUnavailable:
    """The error for a server to which no connection came about."""
    remedy = "is it running, and base_url right?"
    what = "the server cannot be reached"
    if isinstance(fault, Unfit):
        what, remedy = said, "mend or unset the variable"
        if "socksio" in said:
            remedy = "install socksio, or unset the variable"
    elif isinstance(fault, Untrusted):
        what = f"{what} safely: {said}"
        remedy = (
            "if the certificate is one that you trust, name its file in SSL_CERT_FILE"
            if "certificate" in said
            else "does base_url begin with http:// there, rather than https://?"
        )
    elif isinstance(fault, Unreachable) and fault.by:
        what = f"{what} through the proxy that {fault.by} names"
        remedy = "is the proxy right? else name the host in NO_PROXY"
    return BackendUnavailable(what, remedy=remedy, **about)


def _refusal(fault: Refused, said: str, about: dict[str, str]) -> BackendError:
    """The error for a status other than 200."""
    status, wait = fault.status, _seconds(fault.retry_after)
    if 300 <= status < 400:
        what = f"the server redirects ({status}) to {fault.elsewhere}, which is not followed"
        return BackendRejected(what, remedy="give the address that it means as base_url, if you trust it", **about)
    if too_long := _context_error(status, said, about):
        return too_long
    if status == 429 and "insufficient_quota" not in said:
        what = f"too many requests (429): {said}"
        return BackendUnavailable(what, remedy="use fewer workers, or try later", retry_after=wait, **about)
    if status >= 500 or status in (204, 408):
        what = f"the server failed ({status}): {said}"
        return BackendUnavailable(what, remedy="try again later", retry_after=wait, **about)
    remedies = {401: "check api_key", 403: "check what this key may do", 404: "check the model's name and base_url"}
    remedy = remedies.get(status, "see what the server says")
    return BackendRejected(f"the server refused the request ({status}): {said}", remedy=remedy, **about)


def _context_error(status: int, said: str, about: dict[str, str]) -> ContextTooLong | None:
    """Recognise a server's complaint about the length of the prompt, with both lengths where it says them."""
    if status not in (400, 413, 422) or not re.search(r"context|too long|too many tokens|exceed", said, re.I):
        return None
    if not re.search(r"token|length|size", said, re.I):
        return None
    numbers = sorted({int(number.replace(",", "")) for number in re.findall(r"\b\d[\d,]{2,}\b", said)} - {status})
    limit, length = (numbers[0], numbers[-1]) if len(numbers) > 1 else (None, None)
    remedy = "shorten the evidence, or use a model with a longer context"
    return ContextTooLong(f"the prompt is too long: {said}", remedy=remedy, length=length, limit=limit, **about)


def _seconds(text: str | None) -> float | None:
    """The seconds of a Retry-After header, from now where it is a date; nonsense gives None."""
    with suppress(TypeError, ValueError):
        seconds = float(text)  # type: ignore[arg-type]
        return seconds if 0 <= seconds < math.inf else None
    with suppress(TypeError, ValueError, OverflowError):
        date = email.utils.parsedate_to_datetime(text or "")
        return max(0.0, date.timestamp() - time.time())
    return None


class _Piece(NamedTuple):
    """One token of a server's answer: its bytes, and the probabilities of the tokens that were possible there."""

    token: bytes
    top: dict[bytes, float]


class _Client:
    """What guidance's interpreter calls: one request, whose reply was checked whole before it is handed on."""

    def __init__(self, backend: ServerBackend, limits: Limits):
        self.backend, self.limits = backend, limits

    @contextmanager
    def streaming_chat_completions(
        self, model: str, messages: Sequence[Mapping[str, Any]], logprobs: bool, **rest: Any
    ) -> Iterator[Any]:
        given = {name: value for name, value in rest.items() if value is not None}
        plain = [{"role": m["role"], "content": "".join(part["text"] for part in m["content"])} for m in messages]
        yield iter(self._pieces({"model": model, "messages": plain, "logprobs": logprobs, **given}))

    def _pieces(self, request: Mapping[str, object]) -> list[Chunk]:
        try:
            return self.backend._wire.answer(request, self.limits)
        except Fault as fault:
            raise _translated(fault, self.backend) from None


@cache
def _interpreter() -> type:
    """guidance's interpreter for OpenAI's protocol, with `select` and with the probabilities kept."""
    require_module("guidance", "llm")
    from guidance.models._openai_base import BaseOpenAIInterpreter, OpenAIJSONMixin, OpenAIRegexMixin, OpenAIRuleMixin
    from guidance.trace import TokenOutput

    class Interpreter(OpenAIRuleMixin, OpenAIJSONMixin, OpenAIRegexMixin, BaseOpenAIInterpreter):
        def __init__(self, backend: ServerBackend, dialect: str, limits: Limits, shown: int):
            client: Any = _Client(backend, limits)
            super().__init__(model=backend.name, client=client)
            self.dialect, self.top_k = dialect, shown
            self.backend, self.limits = backend, limits
            self.end = time.monotonic() + limits.left
            self.pieces: list[_Piece] = []

        def _run(self, tools: Any = None, **request: Any) -> Iterator[Any]:
            request.setdefault("temperature", 0)
            if self.dialect == "ollama" and "max_completion_tokens" in request:
                request["max_tokens"] = request.pop("max_completion_tokens")
            for output in super()._run(tools, **request):
                if time.monotonic() > self.end:
                    late = f"its answer was not read within {self.limits.whole:g} s"
                    raise _translated(Late(late), self.backend)
                if isinstance(output, TokenOutput):
                    self.pieces.append(_piece(output))
                yield output

        def select(self, node: Any, **request: Any) -> Iterator[Any]:
            options = [one.value for one in node.alternatives]
            request.setdefault("max_completion_tokens", 32 + max(map(len, options)))
            return self._run(**_constraint(self.dialect, options), **request)

    return Interpreter


def _piece(output: Any) -> _Piece:
    top: dict[bytes, float] = {}
    for one in output.top_k or ():  # two tokens may be written with the same bytes
        top[_bytes(one)] = top.get(_bytes(one), 0.0) + _exact(one.prob)
    token = _bytes(output.token)
    top.setdefault(token, _exact(output.token.prob))
    return _Piece(token, top)


def _bytes(token: Any) -> bytes:
    return bytes(token.bytes) or token.token.encode()


def _exact(probability: float) -> float:
    return probability ** (1 / math.log(2.718)) if probability > 0 else 0.0


DIALECTS = ("llamacpp", "vllm", "ollama", "openai")
# how many tokens at a place a server is asked to show: the protocol's most, and what
# llama.cpp's server shows where these leave an option open
_SHOWN, _SHOWN_BY_LLAMACPP = 20, 1000


def _constraint(dialect: str, options: Sequence[str]) -> JsonDict:
    """The fields of a request that allow only these options; dialects without one use a JSON schema."""
    if dialect == "llamacpp":
        return {"grammar": "root ::= " + " | ".join(json.dumps(option) for option in options)}
    if dialect == "vllm":
        return {"structured_outputs": {"choice": list(options)}}
    answer = {"type": "string", "enum": list(options)}
    schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"], "additionalProperties": False}
    return {
        "response_format": {"type": "json_schema", "json_schema": {"name": "choice", "strict": True, "schema": schema}}
    }


def _written(dialect: str, text: str, options: Sequence[str]) -> tuple[int, dict[str, bytes]] | None:
    """Where the option begins in an answer, in bytes, and the whole answer as it would be for each option."""
    if dialect in ("llamacpp", "vllm"):
        return (0, {option: option.encode() for option in options}) if text in options else None
    found = re.fullmatch(r'(\s*\{\s*"answer"\s*:\s*")(.*)("\s*\}\s*)', text, re.S)
    if not found or _unquoted(found[2]) not in options:
        return None
    quoted = found[2].isascii()
    spelled = {option: json.dumps(option, ensure_ascii=quoted)[1:-1] for option in options}
    return len(found[1].encode()), {option: (found[1] + word + found[3]).encode() for option, word in spelled.items()}


def _unquoted(text: str) -> str | None:
    """What a text within quotes says in JSON; None if it is no JSON."""
    with suppress(ValueError):
        return str(json.loads(f'"{text}"'))
    return None


def _served_masses(
    pieces: Sequence[_Piece], begin: int, whole: Mapping[str, bytes]
) -> tuple[dict[str, float], list[tuple[str, ...]], float]:
    """Return the options' shares, the groups of options that stay open, and the bound for an option not shown."""
    at, first = 0, 0
    while first < len(pieces) - 1 and at + len(pieces[first].token) <= begin:
        at += len(pieces[first].token)
        first += 1
    open_groups: list[tuple[str, ...]] = []

    def walk(place: int, rest: dict[str, bytes]) -> dict[str, float]:
        piece = pieces[place] if place < len(pieces) else _Piece(b"", {})

        def deeper(token: bytes, begun: dict[str, bytes]) -> dict[str, float]:
            if token == piece.token:
                return walk(place + 1, begun)
            if len(begun) < len(whole):
                open_groups.append(tuple(begun))
            return {}

        return option_masses(rest, piece.top, deeper)

    masses = walk(first, {option: text[at:] for option, text in whole.items()})
    shown = [share for share in pieces[first].top.values() if share > 0]
    bound = min(min(shown, default=1.0), 1 - sum(shown))
    return masses, open_groups, max(0.0, bound)


class _Pause:
    """A moment before which no thread of a backend may ask."""

    def __init__(self) -> None:
        self._until, self._lock = 0.0, threading.Lock()

    def hold(self, seconds: float) -> None:
        with self._lock:
            self._until = max(self._until, time.monotonic() + seconds)

    def wait(self) -> None:
        while (left := self._until - time.monotonic()) > 0:
            time.sleep(left)


def _ask(backend: ServerBackend, prompt: str, node: Any, dialect: str, shown: int = _SHOWN) -> Any:
    """Ask a server through guidance, again where that may help; returns guidance's state after the answer."""
    start = time.monotonic()
    for repeats in range(backend.max_retries + 1):
        backend._pause.wait()
        try:
            spent = time.monotonic() - start
            return _ask_once(backend, prompt, node, dialect, spent, shown)
        except BackendUnavailable as error:
            pause = (
                error.retry_after if error.retry_after is not None else 0.5 * 2**repeats * random.uniform(0.75, 1.25)
            )
            late = time.monotonic() - start + pause >= backend.total_timeout
            if late or repeats == backend.max_retries or pause > backend.timeout:
                raise
            backend.usage.add(retries=1)
            if error.retry_after is not None:
                backend._pause.hold(pause)
            else:
                time.sleep(pause)
    raise AssertionError("unreachable")


_PLAIN: Any = {}  # no sampling parameters: the temperature is 0


def _ask_once(backend: ServerBackend, prompt: str, node: Any, dialect: str, spent: float, shown: int) -> Any:
    import guidance
    from guidance.models import Model

    state = Model(_interpreter()(backend, dialect, backend.limits(spent), shown), sampling_params=_PLAIN, echo=False)
    try:
        with guidance.user():
            state += guidance.string(neutralise(prompt))
        with guidance.assistant():
            state += node
    except ValueError as error:
        if "refused" not in str(error):  # guidance's word for a refusal by the model
            raise
        what = f"the model gave no answer: {backend.hidden(str(error))[:300]}"
        raise InvalidOutput(what, model=backend.name, server=backend.server, remedy="rephrase the prompt") from None
    spent_tokens = state._get_usage()
    tokens = {"prompt_tokens": spent_tokens.input_tokens, "cached_tokens": spent_tokens.cached_input_tokens}
    backend.usage.add(**tokens, generated_tokens=spent_tokens.forward_passes)
    return state


def _ask_choice(backend: ServerBackend, prompt: str, options: tuple[str, ...], dialect: str) -> Choice:
    """Ask for one of the options and read all their probabilities; raises when they cannot be known."""
    _check_length(backend, prompt)
    nested = any(one != other and other.startswith(one) for one in options for other in options)
    how = "openai" if nested else dialect
    masses, bound = _ask_masses(backend, prompt, options, how)
    if _left_open(masses, bound) and dialect == "llamacpp":
        masses, bound = _ask_masses(backend, prompt, options, how, _SHOWN_BY_LLAMACPP)
    if unseen := _left_open(masses, bound):
        what = f"the tokens that the server shows leave {unseen} open: each may have a probability up to {bound:.3f}"
        raise InvalidOutput(what, model=backend.name, server=backend.server, remedy="use options that the model uses")
    if not sum(masses.values()) > 0:
        what = f"the model gives none of {list(options)} any probability"
        raise InvalidOutput(what, model=backend.name, server=backend.server, remedy="use options that the model uses")
    return Choice.from_masses(masses)


def _left_open(masses: Mapping[str, float], bound: float) -> list[str]:
    """The options that were not shown, if what they may have could change a verdict."""
    unseen = [option for option, mass in masses.items() if mass == 0]
    return unseen if bound * len(unseen) > 0.02 * sum(masses.values()) else []


def _ask_masses(
    backend: ServerBackend, prompt: str, options: tuple[str, ...], dialect: str, shown: int = _SHOWN
) -> tuple[dict[str, float], float]:
    import guidance

    node = guidance.select(list(options), name="answer")
    state = _ask(backend, prompt, node, dialect, shown)
    text, pieces = state["answer"], state._interpreter.pieces
    about = {"model": backend.name, "server": backend.server}
    written = _written(dialect, text, options)
    if written is None:
        what = f"the answer {backend.hidden(text)[:60]!r} is none of {list(options)}"
        raise InvalidOutput(what, remedy="the server did not keep to its constraint; try another one", **about)
    if b"".join(piece.token for piece in pieces)[: len(text.encode())] != text.encode():
        remedy = "use a server that returns top_logprobs for every token"
        raise BackendRejected("the server returned no probabilities (logprobs) with its answer", remedy=remedy, **about)
    masses, open_groups, bound = _served_masses(pieces, *written)
    for group in dict.fromkeys(open_groups):
        more, further = _ask_masses(backend, prompt, group, dialect, shown) if len(group) > 1 else ({}, 0.0)
        masses.update(more)
        bound = max(bound, further)
    return masses, bound


def _field_of(backend: ServerBackend, text: str, max_tokens: int) -> str:
    """The text in a reply of the form {"answer": text}."""
    with suppress(ValueError, KeyError, TypeError, RecursionError):
        if isinstance(found := json.loads(text)["answer"], str):
            return found
    what = f"the reply is no complete JSON: {backend.hidden(text)[:60]!r}"
    raise InvalidOutput(what, model=backend.name, server=backend.server, remedy=f"raise max_tokens above {max_tokens}")


def _detected(backend: ServerBackend) -> str:
    """Find out the dialect, and the context length where the server tells it."""
    if backend._wire.address.host == "api.openai.com":
        return "openai"
    wire, limits = backend._wire, backend.limits()
    if known := wire.page("/props", Props, limits):
        backend.limit = backend.limit or whole_number(known.default_generation_settings.n_ctx)
        return "llamacpp"
    if wire.page("/api/version", Version, limits):
        return "ollama"
    models = wire.page("/v1/models", Models, limits)
    length = whole_number(models.find(backend.name).max_model_len) if models else None
    if length is not None:
        backend.limit = backend.limit or length
        return "vllm"
    return "openai"


def _attempt_probe(backend: ServerBackend) -> str | BackendError:
    """Return the dialect if constraints and probabilities work in it; a refusal is remembered, a fault is raised."""
    dialect = backend._guess or _detected(backend)
    if backend._wire.reached:  # the pages are asked once, also where the probe must be made again
        backend._guess = dialect
    try:
        _ask_masses(backend, "Write one short sentence about the weather.", ("quartz-7", "zebra-4"), dialect)
    except InvalidOutput as error:
        what = f"this server ignores constraints (dialect {dialect}): asked for one of two words, {error.args[0]}"
        remedy = "it is refused, its answers could not be trusted; name another dialect, or use another server"
        return BackendRejected(what, model=backend.name, server=backend.server, remedy=remedy)
    except BackendRejected as error:
        return error
    return dialect


def _check_length(backend: ServerBackend, prompt: str) -> None:
    """Raise `ContextTooLong` if the server's limit is known and the prompt, by its own count, exceeds it."""
    if backend.limit is None or len(prompt.encode("utf-8", "replace")) + 256 <= backend.limit:
        return
    length = _counted_tokens(backend, neutralise(prompt))
    if length is not None and length + 32 > backend.limit:
        what = f"the prompt has {length:,} tokens, the server takes {backend.limit:,} with its answer"
        remedy = "shorten the evidence, or give the server a longer context"
        about: dict[str, str | float | None] = {
            "model": backend.name,
            "server": backend.server,
            "length": length,
            "limit": backend.limit,
        }
        raise ContextTooLong(what, remedy=remedy, **about)


def _counted_tokens(backend: ServerBackend, prompt: str) -> int | None:
    """Ask the server to count; without such a page, a lower bound: no common token has more than 16 bytes."""
    body = {"content": prompt, "prompt": prompt, "model": backend.name}
    counted = backend._wire.page("/tokenize", Counted, backend.limits(), body)
    if counted is not None:
        found = len(counted.tokens) if isinstance(counted.tokens, list) else whole_number(counted.count)
        if found is not None:
            return found
    return len(prompt.encode("utf-8", "replace")) // 16


def _key(key: str | None, address: Address) -> str:
    """The key to send; OpenAI's own from the environment only to OpenAI's own address."""
    if key is None and address.host == "api.openai.com" and address.encrypted:
        key = os.environ.get("OPENAI_API_KEY")
    key = _unshown("" if key is None else key, "api_key").strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError("api_key holds signs that no key has, such as a line break (it is not shown)")
    return key


def _unshown(value: object, name: str) -> str:
    """Return `value` if it is a string; else raise a `TypeError` that shows none of it, since it may be secret."""
    if isinstance(value, str):
        return value
    remedy = "pass one string"
    if isinstance(value, (bytes, bytearray)):
        remedy = "decode it first: value.decode()"
    raise TypeError(
        f"{name} must be a string, not {type(value).__name__} (not shown, since it may be secret): {remedy}"
    )


def _require_seconds(value: float, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e7:
        raise ValueError(f"{name} must be a number of seconds, more than 0 and less than ten million, not {value!r}")
    return float(value)


class ServerBackend(Backend):
    """A model behind a server that speaks OpenAI's protocol: OpenAI, vLLM, llama.cpp's server, Ollama and others.

    Parameters
    ----------
    model : str
        The model's name, as the server knows it.
    base_url : str
        Up to and including `/v1`, for instance "http://localhost:8000/v1". What stands
        before an @ or after a question mark in it is sent with each request (the former
        instead of a key) and shown nowhere.
    api_key : str, optional
        Where the server wants one. For api.openai.com the variable OPENAI_API_KEY is
        used if this is not given.
    dialect : str
        "auto" finds out; or "llamacpp", "vllm", "ollama", "openai".
    timeout : float
        Seconds of silence, before an answer and within it. Only text of the answer
        breaks a silence.
    connect_timeout : float
        Seconds until the connection stands.
    total_timeout : float
        Seconds for one question with all its repetitions, however busily the server
        sends.
    max_retries : int
        How often a call that was unavailable is repeated.
    context : int, optional
        How many tokens the model takes, for servers that do not say so.

    Notes
    -----
    At first use a probe makes sure that constraints are honoured and probabilities
    returned; a server that ignores either is refused with `BackendRejected`. The
    fingerprint names the dialect, so asking for it may probe, too, and raises when the
    server is down. Threads may share one backend.

    A question is one request, at most `1 + max_retries`; options with a common
    beginning may take one more for each such beginning, and llama.cpp's server is asked
    again for 1,000 tokens where 20 leave an option open. To that come, once, the probe
    with up to three small pages, and for each prompt that may be too long a request
    that counts its tokens. A redirect is never followed, no answer is read beyond
    16 MB, and one that is compressed is refused, since none is asked for.

    A proxy that the environment names (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY) is
    used, but never for a server on this machine. Certificates of your own are named in
    SSL_CERT_FILE or SSL_CERT_DIR.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        dialect: str = "auto",
        timeout: float = 60,
        connect_timeout: float = 10,
        total_timeout: float = 1800,
        max_retries: int = 2,
        context: int | None = None,
    ):
        self.name, address = (require_text(model, "model"), Address.parse(_unshown(base_url, "base_url")))
        self.base_url = self.server = address.shown
        self._wire = Wire(address, _key(api_key, address))
        self.asked_dialect = require_option(dialect, "dialect", ("auto", *DIALECTS))
        self.timeout = _require_seconds(timeout, "timeout")
        self.connect_timeout = _require_seconds(connect_timeout, "connect_timeout")
        self.total_timeout = _require_seconds(total_timeout, "total_timeout")
        self.max_retries = require_count(max_retries, "max_retries", minimum=0)
        self.limit, self.usage = (None if context is None else require_count(context, "context"), Usage())
        self._set_up()

    def _set_up(self) -> None:
        self._lock, self._pause = threading.Lock(), _Pause()
        self._found: str | BackendError | None = None
        self._guess = "" if self.asked_dialect == "auto" else self.asked_dialect

    def __getstate__(self) -> dict[str, object]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_lock", "_pause", "_found")}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        self.__dict__.update(state)
        self._set_up()

    def hidden(self, text: str) -> str:
        """Return `text` without key, password and query."""
        return self._wire.hide(text)

    def limits(self, spent: float = 0.0) -> Limits:
        """The limits of a call that has taken so many seconds already."""
        return Limits(self.connect_timeout, self.timeout, self.total_timeout, spent)

    def __repr__(self) -> str:
        return f"ServerBackend({self.name!r}, base_url={self.server!r})"

    @property
    def dialect(self) -> str:
        """The dialect that the server speaks, found out and probed at first use."""
        with self._lock:
            if self._found is None:
                self._found = _attempt_probe(self)
            if isinstance(self._found, BackendError):
                raise self._found
            return self._found

    @property
    def fingerprint(self) -> str:
        return f"server:{self.server}:{self.dialect}:{self.name}"

    def _choose(self, prompt: str, options: tuple[str, ...]) -> Choice:
        return _ask_choice(self, prompt, options, self.dialect)

    def _choose_many(
        self, prompts: list[str], options: tuple[str, ...], workers: int, progress: str
    ) -> list[Choice | BackendError]:
        with ThreadPoolExecutor(max_workers=workers) as pool:
            asked = pool.map(lambda prompt: attempt(self.choose, prompt, options), prompts)
            return list(tqdm(asked, total=len(prompts), desc=progress, disable=not progress))

    def _json(self, prompt: str, schema: JsonDict, max_tokens: int) -> str:
        import guidance

        node = guidance.json(name="answer", schema=schema, max_tokens=max_tokens)
        return str(_ask(self, prompt, node, self.dialect)["answer"])

    def _text(self, prompt: str, regex: str | None, max_tokens: int) -> str:
        import guidance

        if regex is None:
            return str(_ask(self, prompt, guidance.gen("answer", max_tokens=max_tokens), self.dialect)["answer"])
        answer = {"type": "string", "pattern": f"^(?:{regex})$"}
        schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        return _field_of(self, self._json(prompt, {**schema, "additionalProperties": False}, max_tokens), max_tokens)
