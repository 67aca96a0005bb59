"""Local models, of transformers and llama.cpp, through guidance's engine, mended; many claims on one premise."""

from __future__ import annotations

import hashlib
import json
import threading
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm.auto import tqdm

from summeval_nb.core.base import JsonDict, hub_only_if, require_count, require_module
from summeval_nb.models.base import (
    Backend,
    BackendError,
    BackendRejected,
    Choice,
    ContextTooLong,
    InvalidOutput,
    Usage,
    attempt,
    counted,
    neutralise,
    option_masses,
)

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

__all__ = ["LlamaCppBackend", "TransformersBackend"]


def _remembering(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an engine's step so that the tokens and logits of the first free one are kept in `first_step`."""

    def get_next_token_with_top_k(self: Any, *, logits: Any, token_ids: list[int], **rest: Any) -> Any:
        if self.first_step is None:
            self.first_step = list(token_ids), np.array(logits, dtype=np.float64)
        return method(self, logits=logits, token_ids=token_ids, **rest)

    return get_next_token_with_top_k


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the common beginning of two token lists."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@cache
def _quiet() -> dict[str, Any]:
    """What guidance's engines are told: no monitoring, and no search for a chat template, since we render it."""
    import guidance.chat

    return {"enable_monitoring": False, "chat_template": guidance.chat.ChatMLTemplate}


@cache
def _transformers_engine() -> type:
    """guidance's engine for transformers, mended and remembering."""
    require_module("guidance", "llm")
    import transformers
    from guidance.models._transformers import TransformersEngine

    class Engine(TransformersEngine):
        first_step: tuple[list[int], np.ndarray] | None = None
        get_next_token_with_top_k = _remembering(TransformersEngine.get_next_token_with_top_k)

        def get_logits(self, token_ids: list[int], include_all_uncached_tokens: bool = False) -> Any:
            memory = self._past_key_values
            if isinstance(memory, transformers.Cache) and list(token_ids) != list(self._cached_token_ids):
                surplus = memory.get_seq_length() - min(_common(token_ids, self._cached_token_ids), len(token_ids) - 1)
                try:
                    if surplus > 0:
                        memory.crop(-surplus)
                except (NotImplementedError, ValueError, RuntimeError):  # a sliding window cannot go back: begin anew
                    (self._past_key_values, self._cached_token_ids, self._cached_logits) = None, [], None
            return super().get_logits(token_ids, include_all_uncached_tokens)

    return Engine


_GREEDY: Any = {}  # no change to the model's own distribution


class _Local(Backend):
    """What models in this process share: an engine of guidance, used by one thread at a time."""

    limit: int
    _engine: Any
    _special: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.usage = Usage()
        self._lock = threading.RLock()

    @abstractmethod
    def _template(self, prompt: str) -> str: ...

    def _rendered(self, prompt: str, room: int) -> str:
        """The prompt within the chat template, with its marks broken; refused if it leaves no room to answer."""
        text = self._template(neutralise(prompt, self._special))
        length = len(self._engine.tokenizer.encode(text.encode())) + 1 + room
        if length > self.limit:
            what = f"the prompt and its answer need {length:,} tokens, the model takes {self.limit:,}"
            remedy = "shorten the evidence, or use a model with a longer context"
            raise ContextTooLong(what, model=self.name, remedy=remedy, length=length, limit=self.limit)
        return text

    def _run(self, text: str, node: Any) -> Any:
        """Let a fresh guidance model read `text`, then follow `node`; returns its state."""
        import guidance
        from guidance.models import Model
        from guidance.models._engine import EngineInterpreter

        self._engine.first_step = None
        blank = Model(EngineInterpreter(self._engine), sampling_params=_GREEDY, echo=False)
        return blank + guidance.string(text) + node

    def _json(self, prompt: str, schema: JsonDict, max_tokens: int) -> str:
        import guidance

        return self._generated(
            prompt, guidance.json(name="answer", schema=schema, max_tokens=max_tokens, temperature=0)
        )

    def _text(self, prompt: str, regex: str | None, max_tokens: int) -> str:
        import guidance

        return self._generated(prompt, guidance.gen("answer", regex=regex, max_tokens=max_tokens, temperature=0))

    def _generated(self, prompt: str, node: Any) -> str:
        with self._lock:
            text = self._rendered(prompt, 1)
            answer = self._run(text, node)["answer"]
            encode = self._engine.tokenizer.encode
            self.usage.add(prompt_tokens=len(encode(text.encode())), generated_tokens=len(encode(answer.encode())))
            return answer


class _Reading(_Local):
    """The half that reads options from logits."""

    def _choose(self, prompt: str, options: tuple[str, ...]) -> Choice:
        import guidance

        with self._lock:
            text = self._rendered(prompt, self._room(options))
            state = self._run(text, guidance.select(list(options), name="answer"))
            ids, logits = self._engine.first_step
            known = min(len(ids), state._get_usage().cached_input_tokens)
            self.usage.add(prompt_tokens=len(ids), cached_tokens=known, generated_tokens=1)
            return self._read(text, ids, logits, options)

    @cached_property
    def _vocabulary(self) -> dict[bytes, list[int]]:
        """Text to tokens, special tokens left out."""
        tokens: dict[bytes, list[int]] = {}
        tokenizer = self._engine.tokenizer
        for token in range(tokenizer._ll_tokenizer.vocab_size):
            if not tokenizer.is_special_token(token):
                tokens.setdefault(tokenizer.decode([token]), []).append(token)
        return tokens

    def _room(self, options: Sequence[str]) -> int:
        return max(len(self._engine.tokenizer.encode(option.encode())) for option in options)

    def _read(self, text: str, ids: list[int], logits: np.ndarray, options: tuple[str, ...]) -> Choice:
        encode, decode = self._engine.tokenizer.encode, self._engine.tokenizer.decode
        whole = encode(text.encode())
        if whole[: len(ids)] != ids[: len(whole)]:  # the engine put a beginning-of-text token before it
            whole = ids[:1] + whole
        # all options begin alike, the grammar went ahead: begin where the choice does
        if len(ids) > len(whole):
            ids, logits = (whole, np.asarray(self._engine.get_logits(whole)["logits"][-1], np.float64))
        taken_back = decode(whole[len(ids) :])
        rest = {option: taken_back + option.encode() for option in options}
        try:
            return Choice.from_masses(self._masses(ids, logits, rest))
        except ValueError as error:  # logits that are no numbers, or options without any probability
            remedy = "another dtype may help, or options that the model uses"
            raise InvalidOutput(f"no probabilities: {error}", model=self.name, remedy=remedy) from None

    def _masses(self, ids: list[int], logits: np.ndarray, rest: dict[str, bytes]) -> dict[str, float]:
        if not np.isfinite(logits.max()):
            raise ValueError(f"the greatest of the model's logits is {logits.max()}")
        weights = np.exp(logits - logits.max())
        weights /= weights.sum()
        pieces = {left[:end] for left in rest.values() for end in range(1, len(left) + 1)} & self._vocabulary.keys()
        tokens = {piece: float(weights[self._vocabulary[piece]].sum()) for piece in sorted(pieces)}

        def deeper(token: bytes, begun: dict[str, bytes]) -> dict[str, float]:
            longer = [*ids, max(self._vocabulary[token], key=lambda one: weights[one])]
            return self._masses(longer, np.asarray(self._engine.get_logits(longer)["logits"][-1], np.float64), begun)

        return option_masses(rest, tokens, deeper)


def _groups(prompts: Sequence[Sequence[int]], *, most: int = 32) -> list[tuple[int, list[int]]]:
    """Group token lists that share at least half of their tokens: (length of the shared beginning, positions)."""
    order = sorted(range(len(prompts)), key=lambda i: list(prompts[i]))
    groups: list[tuple[int, list[int]]] = []
    for i in order:
        length = len(prompts[i])
        if groups and len(groups[-1][1]) < most:
            shared, members = groups[-1]
            now = min(shared, _common(prompts[members[0]], prompts[i]), length - 1)
            if now >= length / 2 and now >= max(len(prompts[j]) for j in members) / 2:
                groups[-1] = now, [*members, i]
                continue
        groups.append((length - 1, [i]))
    return groups


def _last_logits(model: PreTrainedModel, prompts: Sequence[Sequence[int]], shared: int) -> np.ndarray:
    """Return the next-token logits, (prompts, vocabulary), reading the first `shared` tokens once for all."""
    import torch

    rows, device = len(prompts), model.device
    with torch.no_grad():
        head = torch.tensor([list(prompts[0][:shared])], device=device)
        cache_of_head = model(input_ids=head, use_cache=True, logits_to_keep=1).past_key_values
        if rows > 1:
            cache_of_head.batch_repeat_interleave(rows)
        ends = [list(prompt[shared:]) for prompt in prompts]
        longest = max(map(len, ends))
        ids = torch.tensor([end + [0] * (longest - len(end)) for end in ends], device=device)
        lengths = torch.tensor([shared + len(end) for end in ends], device=device)
        places = torch.arange(shared + longest, device=device)
        last = [len(end) - 1 for end in ends]
        kept = sorted(set(last))
        out = model(
            input_ids=ids,
            past_key_values=cache_of_head,
            attention_mask=(places[None] < lengths[:, None]).long(),
            position_ids=places[None, shared:].expand(rows, -1),
            logits_to_keep=torch.tensor(kept, device=device),
        )
        return out.logits[torch.arange(rows), [kept.index(end) for end in last]].double().cpu().numpy()


def _start_tokens(tokenizer: Any, text: str, options: tuple[str, ...]) -> list[int]:
    """The tokens after which the model is free to choose, exactly as guidance's engine arrives at them."""
    import llguidance

    ids = tokenizer.encode(text.encode())
    parser = llguidance.LLInterpreter(tokenizer._ll_tokenizer, _grammar(options), True, True, log_level=1)
    fitted = parser.process_prompt(ids)
    begin = tokenizer.bos_token_id
    if begin is not None and fitted[:1] != [begin]:
        fitted = tokenizer.recode([begin, *fitted])
    return list(fitted)


@cache
def _grammar(options: tuple[str, ...]) -> str:
    import guidance

    return guidance.select(list(options), name="answer").ll_grammar()


class _Bulk(_Reading):
    """The bulk call of a model whose forward pass is at hand."""

    model: Any

    def _choose_many(
        self, prompts: list[str], options: tuple[str, ...], workers: int, progress: str
    ) -> list[Choice | BackendError]:
        results: dict[int, Choice | BackendError] = {}
        with self._lock, tqdm(total=len(prompts), desc=progress, disable=not progress) as bar:
            texts = {i: attempt(self._rendered, prompt, self._room(options)) for i, prompt in enumerate(prompts)}
            fit = {i: text for i, text in texts.items() if isinstance(text, str)}
            results.update({i: text for i, text in texts.items() if isinstance(text, BackendError)})
            self.usage.add(calls=len(results), failures=len(results))
            bar.update(len(results))
            starts = {i: _start_tokens(self._engine.tokenizer, text, options) for i, text in fit.items()}
            places = list(fit)
            for shared, group in _groups([starts[i] for i in places]):
                members = [places[j] for j in group]
                results.update(self._together(members, shared, fit, starts, options))
                bar.update(len(members))
        return [results[i] for i in range(len(prompts))]

    def _together(
        self,
        members: list[int],
        shared: int,
        texts: dict[int, str],
        starts: dict[int, list[int]],
        options: tuple[str, ...],
    ) -> dict[int, Choice | BackendError]:
        with counted(self.usage):
            logits = _last_logits(self.model, [starts[i] for i in members], shared)
            rows = zip(members, logits, strict=True)
            choices = {i: attempt(self._read, texts[i], starts[i], row, options) for i, row in rows}
        tokens = sum(len(starts[i]) for i in members)
        cached = shared * (len(members) - 1)
        more, failures = (len(members) - 1, sum(isinstance(one, BackendError) for one in choices.values()))
        self.usage.add(calls=more, failures=failures)
        self.usage.add(prompt_tokens=tokens, cached_tokens=cached, generated_tokens=len(members))
        return dict(choices)


def model_digest(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> str:
    """Return 16 digits for a model: a hash over 64 numbers of every weight, its tokenizer, chat template and dtype."""
    digest = hashlib.sha256(f"{tokenizer.chat_template}|{model.dtype}".encode())
    fast = getattr(tokenizer, "backend_tokenizer", None)
    digest.update((fast.to_str() if fast is not None else json.dumps(sorted(tokenizer.get_vocab().items()))).encode())
    for name, weight in sorted(model.state_dict().items()):
        flat = weight.detach().reshape(-1)
        sample = flat[:: max(1, flat.numel() // 64)][:64].float().cpu().numpy()
        digest.update(f"{name}{tuple(weight.shape)}".encode() + sample.astype("<f4").tobytes())
    return digest.hexdigest()[:16]


def special_texts(tokenizer: PreTrainedTokenizerBase) -> tuple[str, ...]:
    """Return the texts that a transformers tokenizer takes for special or added tokens."""
    added = (str(token) for token in getattr(tokenizer, "added_tokens_decoder", {}).values())
    return tuple(sorted({*tokenizer.all_special_tokens, *added} - {""}))


def _loaded(
    model: str | Path | PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | None,
    dtype: str | torch.dtype | None,
    download: bool,
) -> tuple[Any, Any, str]:
    """Load a model and its tokenizer, or take the loaded ones; and its name for people."""
    require_module("transformers", "llm")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    if not isinstance(model, (str, Path)):
        if tokenizer is None:
            raise ValueError("a loaded model needs its tokenizer: TransformersBackend(model, tokenizer=...)")
        return model, tokenizer, type(model).__name__
    try:
        with hub_only_if(download) as where:
            where |= {"trust_remote_code": False}
            tokenizer = AutoTokenizer.from_pretrained(str(model), **where)
            loaded = AutoModelForCausalLM.from_pretrained(
                str(model), dtype=dtype or torch.float32, use_safetensors=True, **where
            )
    except (OSError, ValueError) as error:
        remedy = "give a folder that holds a model, or a hub name with download=True"
        raise BackendRejected(f"{model} cannot be loaded: {str(error).splitlines()[0]}", remedy=remedy) from error
    return loaded, tokenizer, Path(str(model)).name


class TransformersBackend(_Bulk):
    """A causal language model of transformers, in this process.

    Parameters
    ----------
    model : str, Path or transformers.PreTrainedModel
        A folder, a hub name whose files are on this machine, or a loaded model (then
        `tokenizer` is needed).
    tokenizer : transformers tokenizer, optional
        Only with a loaded model.
    device : str, optional
        "cpu" (default), "cuda", "mps", ...
    dtype : str or torch.dtype, optional
        Default float32, which gives the same numbers everywhere; "auto" takes the
        checkpoint's own.
    download : bool
        Allow fetching the model from the hub.

    Examples
    --------
    >>> from summeval_nb.models import example_model
    >>> backend = TransformersBackend(example_model())
    >>> backend.choose("Answer yes or no.", ["yes", "no"]).label in ("yes", "no")
    True
    """

    def __init__(
        self,
        model: str | Path | PreTrainedModel,
        *,
        tokenizer: PreTrainedTokenizerBase | None = None,
        device: str | None = None,
        dtype: str | torch.dtype | None = None,
        download: bool = False,
    ):
        super().__init__()
        self.model, self.tokenizer, self.name = _loaded(model, tokenizer, dtype, download)
        self.model.to(device or "cpu").eval()
        self._engine = _transformers_engine()(self.model, self.tokenizer, **_quiet())
        self._special = special_texts(self.tokenizer)
        config = self.model.config.get_text_config()
        self.limit = int(getattr(config, "max_position_embeddings", None) or 1_000_000)

    @cached_property
    def fingerprint(self) -> str:
        return f"transformers:{model_digest(self.model, self.tokenizer)}"

    def _template(self, prompt: str) -> str:
        if not self.tokenizer.chat_template:
            return prompt + "\n"
        messages = [{"role": "user", "content": prompt}]
        text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        return text.removeprefix(self.tokenizer.bos_token or "")  # the engine puts its own


@cache
def _llama_engine() -> type:
    """guidance's engine for llama.cpp, remembering its first free step."""
    require_module("guidance", "llm")
    from guidance.models._llama_cpp import LlamaCppEngine

    class Engine(LlamaCppEngine):
        first_step: tuple[list[int], np.ndarray] | None = None
        get_next_token_with_top_k = _remembering(LlamaCppEngine.get_next_token_with_top_k)

    return Engine


def _file_digest(path: Path) -> str:
    """A hash over a file's size and 64 blocks of it, its ends among them."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for i in range(64):
            file.seek(max(0, (size - 65536) * i // 63))
            digest.update(file.read(65536))
    return digest.hexdigest()[:16]


class LlamaCppBackend(_Reading):
    """A gguf model in this process, through llama-cpp-python (`pip install llama-cpp-python`).

    Parameters
    ----------
    path : str or Path
        The gguf file.
    n_threads : int, optional
        Threads for reading and writing; default: llama.cpp's own choice.
    context : int
        How many tokens prompt and answer may have together.
    """

    def __init__(self, path: str | Path, *, n_threads: int | None = None, context: int = 4096):
        super().__init__()
        self.path = Path(path)
        self.name = self.path.name
        if not self.path.is_file():
            raise BackendRejected(f"there is no file {self.path}", remedy="give the path of a gguf file")
        try:
            import llama_cpp  # noqa: F401
        except ImportError as error:
            raise ImportError("this needs the package llama_cpp: pip install llama-cpp-python") from error
        threads = {} if n_threads is None else {"n_threads": n_threads, "n_threads_batch": n_threads}
        self.limit = require_count(context, "context")
        self._engine = _llama_engine()(str(self.path), n_ctx=self.limit, **threads, **_quiet())
        decode, model = self._engine.tokenizer.decode, self._engine.model_obj
        special = filter(self._engine.tokenizer.is_special_token, range(model.n_vocab()))
        self._special = tuple(decode([token]).decode("utf-8", "ignore") for token in special)

    @cached_property
    def fingerprint(self) -> str:
        return f"llamacpp:{_file_digest(self.path)}"

    def _template(self, prompt: str) -> str:
        from jinja2.sandbox import ImmutableSandboxedEnvironment

        template = self._engine.model_obj.metadata.get("tokenizer.chat_template")
        if template is None:
            return prompt + "\n"
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        begin = (self._engine.tokenizer.bos_token or b"").decode()
        messages = [{"role": "user", "content": prompt}]
        names = {"bos_token": begin, "eos_token": self._engine.tokenizer.eos_token.decode()}
        text = environment.from_string(template).render(messages=messages, add_generation_prompt=True, **names)
        return text.removeprefix(begin)
