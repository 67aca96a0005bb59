"""ServerBackend: choices from OpenAI, vLLM, llama.cpp's server, Ollama and their kin, with probabilities or without."""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from summeval_nb.core.addresses import Address
from summeval_nb.core.base import JsonDict, require_count, require_module, require_option, require_text
from summeval_nb.models.base import (
    MORE_TOKENS,
    Backend,
    BackendError,
    BackendRejected,
    BackendUnavailable,
    Choice,
    InvalidOutput,
    Undecided,
    Usage,
    attempt,
    beginning,
    neutralise,
    option_masses,
    read_choice,
    written_objects,
)

if TYPE_CHECKING:
    from summeval_nb.models.http import Answer, Token

__all__ = ["ServerBackend"]

DIALECTS = ("llamacpp", "vllm", "openai")
# tokens shown at a place: the protocol's most, and what llama.cpp's server shows where these leave an option open
_SHOWN, _SHOWN_BY_LLAMACPP = 20, 1000
_PROBE, _PROBED = "Write one short sentence about the weather.", ("quartz-7", "zebra-4")
_REFUSED_FIELDS = (None, 400, 415, 422, 501)  # statuses by which a server may say that it cannot do something
_ROOM = 2048  # tokens for a reply that nothing constrains: it may think before it says yes or no


class _Way(NamedTuple):
    """How a server is asked: in which dialect, and for what.

    Best first: tokens with "probabilities", options as "constrained", a "plain" prompt with settings, a "bare" prompt.
    """

    dialect: str
    how: str


def _constraint(dialect: str, options: Sequence[str]) -> tuple[str, JsonDict]:
    """The fields of a request that allow only these options, and their dialect: JSON where one begins another."""
    if dialect == "openai" or any(a != b and b.startswith(a) for a in options for b in options):
        schema = {"type": "object", "properties": {"answer": {"type": "string", "enum": [*options]}}}
        return "openai", _json_schema("choice", {**schema, "required": ["answer"], "additionalProperties": False})
    grammar = {"grammar": f"root ::= {' | '.join(map(json.dumps, options))}"}
    return dialect, {"extra_body": grammar if dialect == "llamacpp" else {"structured_outputs": {"choice": [*options]}}}


def _json_schema(name: str, schema: JsonDict) -> JsonDict:
    """The field of a request that allows only JSON of a schema."""
    schema = {"name": name, "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def _written(dialect: str, text: str, options: Sequence[str]) -> tuple[int, dict[str, bytes]] | None:
    """Where the option begins in an answer, in bytes, and the whole answer as it would be for each option."""
    in_json = dialect == "openai"
    found = re.fullmatch(r'(\s*\{\s*"answer"\s*:\s*")(.*)("\s*\}\s*)' if in_json else "()(.*)()", text, re.S)
    spelled = {o: json.dumps(o, ensure_ascii=text.isascii())[1:-1] if in_json else o for o in options}
    if found is None or found[2] not in spelled.values():
        return None
    return len(found[1].encode()), {option: (found[1] + word + found[3]).encode() for option, word in spelled.items()}


def _served_masses(
    tokens: Sequence[Token], begin: int, whole: Mapping[str, bytes]
) -> tuple[dict[str, float], list[tuple[str, ...]], float]:
    """Return the options' shares, the groups of options that stay open, and the bound for an option not shown."""
    at, first = 0, 0
    while first < len(tokens) - 1 and at + len(tokens[first].written) <= begin:
        at += len(tokens[first].written)
        first += 1
    open_groups: list[tuple[str, ...]] = []

    def walk(place: int, rest: dict[str, bytes]) -> dict[str, float]:
        def deeper(token: bytes, begun: dict[str, bytes]) -> dict[str, float]:
            if token == tokens[place].written:
                return walk(place + 1, begun)
            if len(begun) < len(whole):
                open_groups.append(tuple(begun))
            return {}

        return option_masses(rest, tokens[place].top if place < len(tokens) else {}, deeper)

    masses = walk(first, {option: text[at:] for option, text in whole.items()})
    shown = [share for share in tokens[first].top.values() if share > 0]
    bound = min(min(shown, default=1.0), 1 - sum(shown))
    return masses, open_groups, max(0.0, bound)


def _unshown(value: object, name: str) -> str:
    """Return `value` if it is a string; else raise a `TypeError` that shows none of it, since it may be secret."""
    if isinstance(value, str):
        return value.strip()
    remedy = "decode it first: value.decode()" if isinstance(value, (bytes, bytearray)) else "pass one string"
    raise TypeError(f"{name} must be a string, not {type(value).__name__} (not shown, it may be secret): {remedy}")


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
        Up to and including `/v1`, for instance "http://localhost:8000/v1". What stands before an @ or after a question
        mark in it is sent with each request (the former instead of a key) and shown nowhere.
    api_key : str, optional
        Where the server wants one. For api.openai.com the variable OPENAI_API_KEY is used if this is not given.
    dialect : str
        How options are said: "llamacpp" (a grammar), "vllm" (choices), "openai" (a JSON schema); "auto" finds out.
    timeout, connect_timeout, total_timeout : float
        Seconds for one request, until its answer is complete; until the connection stands, once the system has looked
        up the host's name; and for one question with all its repetitions.
    max_retries : int
        How often a call that was unavailable is repeated.

    Notes
    -----
    A probe before the first question finds out whether the server honours constraints and returns probabilities.
    Without probabilities a choice is hard: the option that a constrained reply holds, or a plain one states. A server
    that gives neither is refused with `BackendRejected`. The fingerprint is what you named, so a store that holds all
    answers needs no server; another model behind the same name and address needs another store. Threads may share one
    backend.

    A question is one request, at most `1 + max_retries`; options with a common beginning may take one more for each
    such beginning, and llama.cpp's server is asked again for 1,000 tokens where 20 leave an option open. The probe is
    at most nine requests, five of a dialect that you name. No redirect is followed, no answer read beyond 16 MB, and a
    compressed one is refused, since none is asked for.

    A proxy that the environment names (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY) is used, but never for a server on
    this machine. Certificates of your own are named in SSL_CERT_FILE or SSL_CERT_DIR.
    """

    _in_threads = True

    def __init__(
        self,
        model: str,
        *,
        base_url: str,
        api_key: str | None = None,
        dialect: str = "auto",
        timeout: float = 300,
        connect_timeout: float = 10,
        total_timeout: float = 1800,
        max_retries: int = 2,
    ):
        self.name = require_text(model, "model")
        address = Address.parse(_unshown(base_url, "base_url"))
        self.base_url = address.shown
        if api_key is None and address.host == "api.openai.com" and address.shown.startswith("https:"):
            api_key = os.environ.get("OPENAI_API_KEY")
        key = _unshown("" if api_key is None else api_key, "api_key")
        if not (key.isascii() and key.isprintable()):
            raise ValueError("api_key holds signs that no key has, such as a line break (it is not shown)")
        self.asked_dialect = require_option(dialect, "dialect", ("auto", *DIALECTS))
        self.timeout = _require_seconds(timeout, "timeout")
        self.connect_timeout = _require_seconds(connect_timeout, "connect_timeout")
        self.total_timeout = _require_seconds(total_timeout, "total_timeout")
        self.max_retries = require_count(max_retries, "max_retries", minimum=0)
        self.usage = Usage()
        require_module("openai", "llm")
        from summeval_nb.models.http import Wire

        self._wire = Wire(address, key, self.name)
        self._newer = False  # whether it knows `max_completion_tokens` only
        self.__setstate__({})

    def __getstate__(self) -> dict[str, object]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_lock", "_known", "_not_before")}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()
        self._not_before = 0.0  # when a server that asked for a pause may be asked again, by whatever thread
        self._known: tuple[_Way | BackendError, float] = BackendError("nobody asked"), 0.0  # what the probe found, when

    def __repr__(self) -> str:
        return f"ServerBackend({self.name!r}, base_url={self.base_url!r})"

    @property
    def _way(self) -> _Way:
        """How the server is asked, found out and probed at first use."""
        asked = time.monotonic()
        with self._lock:
            found, since = self._known
            # a refusal stays; another fault is that of all questions which waited for the probe
            if not isinstance(found, (_Way, BackendRejected)) and since <= asked:
                self._known = found, _ = attempt(self._probed), time.monotonic()
        if isinstance(found, BackendError):
            raise found
        return found

    @property
    def dialect(self) -> str:
        """The dialect that the server speaks, found out at first use."""
        return self._way.dialect

    @property
    def fingerprint(self) -> str:
        return f"server:{self.base_url}:{self.asked_dialect}:{self.name}"

    def _choose_many(
        self, prompts: list[str], options: tuple[str, ...], workers: int, sample: int | None
    ) -> list[Choice | BackendError]:
        if prompts and isinstance(refusal := attempt(lambda: self._way), BackendError):
            self.usage.add(calls=len(prompts), failures=len(prompts))
            return [refusal] * len(prompts)
        return super()._choose_many(prompts, options, workers, sample)

    def _choose(self, prompt: str, options: tuple[str, ...]) -> Choice:
        """Ask for one of the options and read all their probabilities; raises when they cannot be known."""
        way = self._way
        if way.how != "probabilities":
            return Choice(self._stated(prompt, options, way), {}, None)
        for shown in (_SHOWN, _SHOWN_BY_LLAMACPP)[: 1 + (way.dialect == "llamacpp")]:
            masses, bound = self._masses(prompt, options, way, shown)
            unseen, total = [option for option, share in masses.items() if share == 0], sum(masses.values())
            if total > 0 and bound * len(unseen) <= 0.02 * total:  # what is not shown cannot change a verdict
                return Choice.from_masses(masses)
        what = f"the model gives none of {list(options)} any probability"
        if bound:
            what = f"the tokens that the server shows leave {unseen} open: each may hold up to {bound:.3f} of it all"
        raise self._wire.error(InvalidOutput, what, "use options that the model uses")

    def _masses(
        self, prompt: str, options: tuple[str, ...], way: _Way, shown: int = _SHOWN
    ) -> tuple[dict[str, float], float]:
        """The options' shares of the probability, and the bound for one that is not shown."""
        dialect, constraint = _constraint(way.dialect, options)
        room, probabilities = 32 + max(map(len, options)), {"logprobs": True, "top_logprobs": shown}
        answer = self._ask(prompt, way, room, **constraint, **probabilities)
        text, written = answer.text, _written(dialect, answer.text, options)
        if written is None:
            what = f"the answer is none of {list(options)}; {beginning(self._shown(text))}"
            remedy = "the server did not keep to its constraint; try another one"
            raise self._wire.error(InvalidOutput, what, remedy)
        if not b"".join(token.written for token in answer.tokens).startswith(text.encode()):
            what = "the server returned no probabilities (logprobs) with its answer"
            raise self._wire.error(BackendRejected, what, "use a server that returns top_logprobs for every token")
        masses, open_groups, bound = _served_masses(answer.tokens, *written)
        for group in dict.fromkeys(open_groups):
            more, further = self._masses(prompt, group, way._replace(dialect=dialect), shown)
            masses, bound = masses | more, max(bound, further)
        return masses, bound

    def _drawn(self, prompt: str, options: tuple[str, ...], sample: int) -> str:
        way = self._way
        drawn = way._replace(how="constrained") if way.how == "probabilities" else way
        return self._stated(prompt, options, drawn, temperature=1)

    def _stated(self, prompt: str, options: tuple[str, ...], way: _Way, temperature: float = 0) -> str:
        """The option that the model writes, held to them where the server can do that."""
        if way.how == "constrained":
            room, fields = 32 + max(map(len, options)), _constraint(way.dialect, options)[1]
        else:
            room, fields = _ROOM, {}
            prompt += f"\n\nReply with one of these and nothing else: {', '.join(options)}."
        answer = self._ask(prompt, way, room, temperature, **fields)
        if (found := read_choice(answer.text, options)) is not None:
            return found
        what = f"the reply states none of {list(options)}; {beginning(self._shown(answer.text))}"
        if answer.cut_off or not answer.text.strip():
            remedy = "the reply was cut off: use a model that thinks less" if answer.cut_off else "try another model"
            raise self._wire.error(InvalidOutput, what, remedy)
        raise self._wire.error(Undecided, what, "use a model that follows instructions, or another prompt")

    def _json(self, prompt: str, schema: JsonDict, max_tokens: int) -> str:
        way, fields = self._way, _json_schema("json_schema", schema)
        if way.how in ("plain", "bare"):
            prompt += f"\n\nReply with JSON of this schema and nothing else: {json.dumps(schema)}"
            fields = {}
        answer = self._ask(prompt, way, max_tokens, **fields)
        if answer.cut_off and not written_objects(answer.text).whole:
            remedy = MORE_TOKENS.format(max_tokens)
            raise self._no_json(schema.get("title", "JSON"), answer.text, "it was cut off", remedy)
        return answer.text

    def _shown(self, reply: str) -> str:
        return self._wire.hide(reply)

    def _ask(self, prompt: str, way: _Way, max_tokens: int, temperature: float = 0, **fields: Any) -> Answer:
        """The server's answer to a prompt, asked for again where that may help."""
        if way.how != "bare":
            most = "max_completion_tokens" if self._newer else "max_tokens"
            fields |= {"temperature": temperature, most: max_tokens}
        messages = [{"role": "user", "content": neutralise(prompt)}]
        request = {"model": self.name, "messages": messages, **fields}
        end = time.monotonic() + self.total_timeout
        for repeats in range(self.max_retries + 1):
            while (early := self._not_before - time.monotonic()) > 0:
                time.sleep(early)
            try:
                within = min(self.timeout, max(0.0, end - time.monotonic()))
                answer = self._wire.answer(request, connect=self.connect_timeout, within=within)
                break
            except BackendUnavailable as error:
                wait = error.retry_after
                pause = 0.5 * 2**repeats * random.uniform(0.75, 1.25) if wait is None else wait
                if time.monotonic() + pause >= end or repeats == self.max_retries or pause > self.timeout:
                    raise
                self.usage.add(retries=1)
                if wait is None:
                    time.sleep(pause)
                else:
                    self._not_before = max(self._not_before, time.monotonic() + pause)
        if answer.usage:
            self.usage.add(**{name: count or 0 for name, count in answer.usage})
        return answer

    def _probed(self) -> _Way:
        """The best way in which the server answers; a refusal of all is `BackendRejected`."""
        dialects = DIALECTS if self.asked_dialect == "auto" else (self.asked_dialect,)
        if self.asked_dialect == "auto" and self._wire.address.host == "api.openai.com":
            dialects = ("openai",)
        ways = [_Way(dialect, how) for how in ("probabilities", "constrained") for dialect in dialects]
        for way in [*ways, _Way("openai", "plain"), _Way("openai", "bare")]:
            try:
                return self._tried(way)
            except (InvalidOutput, BackendRejected) as error:
                refusal: BackendError = error
                if error.status not in _REFUSED_FIELDS:
                    break
        if isinstance(refusal, InvalidOutput):
            what = f"this server's answers cannot be used: {refusal.args[0]}"
            refusal = self._wire.error(BackendRejected, what, "name another dialect, or use another server")
        raise refusal

    def _tried(self, way: _Way) -> _Way:
        """The way, if the server answers the probe in it; a prompt without a constraint need not be obeyed."""
        try:
            (self._masses if way.how == "probabilities" else self._stated)(_PROBE, _PROBED, way)
        except Undecided:
            if way.how == "constrained":
                raise
        except BackendRejected as error:
            if self._newer or not re.search("max(_completion)?_tokens", str(error)):
                raise
            self._newer = True
            return self._tried(way)
        return way
