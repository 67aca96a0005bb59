"""Models in this process (options from their logits, JSON through guidance), and any model by a text."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import threading
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property, lru_cache
from os.path import commonprefix
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import OWN_CHECKERS, JsonDict, hub_only_if, require_flag, require_module, steps
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
    from transformers import PreTrainedModel, PreTrainedTokenizerBase, PreTrainedTokenizerFast

__all__ = ["TransformersBackend"]


class Start(NamedTuple):
    """Where a choice begins: the tokens before it, and what is then to be written for each option."""

    ids: list[int]
    rest: dict[str, bytes]


class Reader:
    """A loaded model and its tokens; one thread at a time reads with it, and what it read last stays in memory.

    guidance takes it for the model itself: its own memory cannot go back with transformers 5.15 and later (the second
    call fails), so it is shown none, hands over whole prompts, and what it shares with the last one is known here.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast):
        import llguidance.hf

        self.model, self.config, self.device, self._named = model, model.config, model.device, tokenizer
        self.tokenizer, self.begin = llguidance.hf.from_tokenizer(tokenizer), tokenizer.bos_token_id
        self.lock = threading.RLock()
        self.forget()

    def forget(self) -> None:
        """Empty the memory, so that the next numbers do not depend on what was read before."""
        self._memory: Any = None
        self._held: list[int] = []

    def read(self, ids: list[int]) -> tuple[np.ndarray, int]:
        """Return the logits of the next token, (vocabulary,), and how many of `ids` were still in memory."""
        memory, held = self._memory, self._held
        self.forget()  # a call that breaks off leaves nothing half read
        known = min(len(commonprefix([ids, held])), len(ids) - 1)
        if 0 < known < len(held):
            try:
                memory.crop(known - len(held))
            except (AttributeError, NotImplementedError, ValueError, RuntimeError):  # such as a sliding window's
                known = 0
        logits, self._memory = forward(self.model, [ids[known:]], known, memory if known else None)
        self._held = list(ids)
        return logits[0], known

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> SimpleNamespace:
        import torch

        logits = self.read(input_ids[0].tolist())[0]
        return SimpleNamespace(logits=torch.from_numpy(logits)[None, None], past_key_values=None)

    @cached_property
    def guided(self) -> Any:
        """guidance's model of this one, in its first state; it looks for no chat template, since we render it."""
        import guidance
        from guidance.chat import ChatMLTemplate

        make: Any = guidance.models.Transformers
        return make(self, self._named, echo=False, enable_monitoring=False, chat_template=ChatMLTemplate)

    @cached_property
    def pieces(self) -> dict[bytes, list[int]]:
        """Text to tokens, special tokens left out."""
        tokens: dict[bytes, list[int]] = {}
        for token in range(self.tokenizer.vocab_size):
            if not self.tokenizer.is_special_token(token):
                tokens.setdefault(self.tokenizer.decode_bytes([token]), []).append(token)
        return tokens

    def encode(self, text: str) -> list[int]:
        return list(self.tokenizer.tokenize_bytes(text.encode(), parse_special=True))

    def start(self, text: str, options: tuple[str, ...]) -> Start:
        r"""Return where the choice begins after `text`.

        If "\nyes" is one token, "yes" after a prompt that ends with "\n" is not what the model was trained on. Tokens
        at the end that could begin such a longer one are therefore taken back, as guidance does.
        """
        import guidance
        import llguidance

        ids, grammar = self.encode(text), guidance.select([*options]).ll_grammar()
        begin = [] if self.begin in (None, *ids[:1]) else [self.begin]
        healed = llguidance.LLInterpreter(self.tokenizer, grammar).process_prompt(ids)
        kept = max(len(commonprefix([ids, healed])), 1 - len(begin))
        taken = self.tokenizer.decode_bytes(ids[kept:])
        return Start(begin + ids[:kept], {option: taken + option.encode() for option in options})

    def masses(self, ids: list[int], logits: np.ndarray, rest: dict[str, bytes]) -> dict[str, float]:
        """Return each option's share of the model's probability after `ids`."""
        if not np.isfinite(logits.max()):
            raise ValueError(f"the greatest of the model's logits is {logits.max()}")
        weights = np.exp(logits - logits.max())
        weights /= weights.sum()
        pieces = {left[:end] for left in rest.values() for end in range(1, len(left) + 1)} & self.pieces.keys()
        tokens = {piece: float(weights[self.pieces[piece]].sum()) for piece in sorted(pieces)}

        def deeper(piece: bytes, begun: dict[str, bytes]) -> dict[str, float]:
            longer = [*ids, max(self.pieces[piece], key=lambda token: weights[token])]
            return self.masses(longer, self.read(longer)[0], begun)

        return option_masses(rest, tokens, deeper)


def forward(model: PreTrainedModel, ends: Sequence[Sequence[int]], known: int, memory: Any) -> tuple[np.ndarray, Any]:
    """Return the next-token logits, (rows, vocabulary), and the memory, which held the `known` tokens before `ends`."""
    import torch

    rows, longest, device = len(ends), max(map(len, ends)), model.device
    places = torch.arange(known + longest, device=device)
    last = [len(end) - 1 for end in ends]
    lengths, kept = known + 1 + torch.tensor(last, device=device), sorted(set(last))
    with torch.no_grad():
        output = model(
            input_ids=torch.tensor([[*end, *[0] * (longest - len(end))] for end in ends], device=device),
            past_key_values=memory,
            attention_mask=(places[None] < lengths[:, None]).long(),
            position_ids=places[None, known:].expand(rows, -1),
            use_cache=True,
            logits_to_keep=torch.tensor(kept, device=device),
        )
    logits = output.logits[torch.arange(rows), [kept.index(place) for place in last]]
    return logits.float().cpu().double().numpy(), output.past_key_values


def groups(prompts: Mapping[int, list[int]], *, most: int = 32) -> list[tuple[int, list[int]]]:
    """Group token lists that share at least half of their tokens: (length of the shared beginning, positions).

    On one core, 24 prompts with one article took 38 ms each together, 58 one by one with the reader's memory.
    """
    found: list[tuple[int, list[int]]] = []
    for i in sorted(prompts, key=prompts.__getitem__):
        length = len(prompts[i])
        if found and len(found[-1][1]) < most:
            shared, members = found[-1]
            now = min(shared, len(commonprefix([prompts[members[0]], prompts[i]])), length - 1)
            if now >= max(length, *(len(prompts[j]) for j in members)) / 2:
                found[-1] = now, [*members, i]
                continue
        found.append((length - 1, [i]))
    return found


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
    added = map(str, getattr(tokenizer, "added_tokens_decoder", {}).values())
    return tuple(sorted({*tokenizer.all_special_tokens, *added} - {""}))


def read_model(
    model: str | Path, kind: tuple[str, str], download: bool, *, remedy: str, dtype: str | torch.dtype | None = None
) -> tuple[Any, Any]:
    """Read a model and its tokenizer; `kind` is a class of transformers, and what it is for people.

    `BackendRejected` names a file that is missing or damaged, or weights that would be drawn at random.
    """
    import torch
    import transformers

    require_flag(download, "download")
    part = "config.json"
    try:
        with hub_only_if(download) as where:
            where |= {"trust_remote_code": False}  # else the user is asked, and a piped table may answer
            transformers.AutoConfig.from_pretrained(str(model), **where)
            part = "the tokenizer's files"
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(model), **where)
            if len(tokenizer) <= len(tokenizer.all_special_tokens):
                raise OSError("the folder holds no tokenizer.json or vocabulary")
            part = "model.safetensors"
            loaded, report = getattr(transformers, kind[0]).from_pretrained(
                str(model), dtype=dtype or torch.float32, use_safetensors=True, output_loading_info=True, **where
            )
    except ImportError:  # it names the package to install
        raise
    except Exception as error:  # the readers of damaged files have no class for it
        raise unreadable(model, part, error, remedy, download) from error
    require_weights(model, report["missing_keys"], kind[1])
    return loaded, tokenizer


def unreadable(model: str | Path, part: str, error: Exception, remedy: str, download: bool = False) -> BackendRejected:
    """The refusal of a model of which a part cannot be read."""
    why = f"{type(error).__name__}: {error}".splitlines()[0]
    if Path(str(model)).exists():
        remedy = f"copy the folder again, or {remedy}"
    elif not download and "connect" in why:  # transformers says that it could not, and nobody tried
        why = "there is no such folder, and Hugging Face's local cache does not hold it"
    return BackendRejected(f"{model} cannot be loaded, at {part}: {why}", remedy=remedy)


def require_weights(model: str | Path, missing: Collection[str], what: str) -> None:
    """Refuse a model that lacks weights: they would be drawn at random."""
    if missing:
        raise BackendRejected(
            f"{model} cannot be loaded: it lacks {len(missing)} weights of {what}, such as {min(missing)}, "
            "which would be drawn at random",
            remedy=f"give the folder of a model that was trained as {what}, not of the one that it was made from",
        )


class TransformersBackend(Backend):
    """A causal language model of transformers, in this process.

    Parameters
    ----------
    model : str, Path or transformers.PreTrainedModel
        A folder, a hub name whose files are on this machine, or a loaded model (then `tokenizer` is needed).
    tokenizer : transformers tokenizer, optional
        Only with a loaded model.
    device : str, optional
        "cpu" (default), "cuda", "mps", ...
    dtype : str or torch.dtype, optional
        Default float32, which gives the same numbers everywhere; "auto" takes the checkpoint's own.
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
        require_module("transformers", "llm")
        require_module("guidance", "llm")
        self.usage, self.name = Usage(), type(model).__name__
        self.model: Any = model
        self.tokenizer: Any = tokenizer
        if isinstance(model, (str, Path)):
            remedy = "give a folder that holds a language model, or a hub name with download=True"
            if not Path(model).exists():
                remedy += f"; a model behind a server is named as in llm:{model}@https://HOST/v1"
            kind, self.name = ("AutoModelForCausalLM", "a language model"), Path(model).name
            self.model, self.tokenizer = read_model(model, kind, download, dtype=dtype, remedy=remedy)
        elif tokenizer is None:
            raise ValueError("a loaded model needs its tokenizer: TransformersBackend(model, tokenizer=...)")
        self.model.to(device or "cpu").eval()
        try:
            self._reader = Reader(self.model, self.tokenizer)
        except ValueError as error:
            remedy = "use a model with a tokenizer.json"
            raise BackendRejected(f"the tokenizer of {self.name} cannot be used: {error}", remedy=remedy) from error
        self._special = special_texts(self.tokenizer)
        config = self.model.config.get_text_config()
        self.limit = int(getattr(config, "max_position_embeddings", None) or 1_000_000)

    @cached_property
    def fingerprint(self) -> str:
        return f"transformers:{model_digest(self.model, self.tokenizer)}"

    def _rendered(self, prompt: str, room: int) -> str:
        """The prompt within the chat template, with its marks broken; refused if it leaves no room to answer."""
        text = neutralise(prompt, self._special)
        if self.tokenizer.chat_template:
            messages = [{"role": "user", "content": text}]
            text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            text = text.removeprefix(self.tokenizer.bos_token or "")  # the reader puts its own
        else:
            text += "\n"
        length = len(self._reader.encode(text)) + 1 + room
        if length > self.limit:
            what = f"the prompt and its answer need {length:,} tokens, the model takes {self.limit:,}"
            remedy = "shorten the evidence, or use a model with a longer context"
            raise ContextTooLong(what, model=self.name, remedy=remedy, length=length, limit=self.limit)
        return text

    def _json(self, prompt: str, schema: JsonDict, max_tokens: int) -> str:
        import guidance

        with self._reader.lock:
            text = self._rendered(prompt, 1)
            length = len(self._reader.encode(text))
            node = guidance.json(name="answer", schema=schema, max_tokens=max_tokens, temperature=0)
            try:
                answer: str = (self._reader.guided + guidance.string(text) + node)["answer"]
            except Exception as error:  # guidance has no class for it
                if "context" not in str(error):
                    raise
                remedy = "lower max_tokens, shorten the evidence, or use a model with a longer context"
                what = f"the answer does not fit behind the {length:,} tokens of the prompt"
                raise ContextTooLong(what, model=self.name, remedy=remedy, limit=self.limit) from None
            self.usage.add(prompt_tokens=length, generated_tokens=len(self._reader.encode(answer)))
            return answer

    def _start(self, prompt: str, options: tuple[str, ...]) -> Start:
        room = max(len(self._reader.encode(option)) for option in options)
        return self._reader.start(self._rendered(prompt, room), options)

    def _choose(self, prompt: str, options: tuple[str, ...]) -> Choice:
        with self._reader.lock:
            start = self._start(prompt, options)
            logits, known = self._reader.read(start.ids)
            self.usage.add(prompt_tokens=len(start.ids), cached_tokens=known, generated_tokens=1)
            return self._choice(start, logits)

    def _choice(self, start: Start, logits: np.ndarray) -> Choice:
        try:
            return Choice.from_masses(self._reader.masses(start.ids, logits, start.rest))
        except ValueError as error:  # logits that are no numbers, or options without any probability
            remedy = "another dtype may help, or options that the model uses"
            raise InvalidOutput(f"no probabilities: {error}", model=self.name, remedy=remedy) from None

    def _choose_many(
        self, prompts: list[str], options: tuple[str, ...], workers: int, sample: int | None
    ) -> list[Choice | BackendError]:
        if sample is not None:
            return super()._choose_many(prompts, options, workers, sample)
        with self._reader.lock:
            results: dict[int, Any] = {i: attempt(self._start, prompt, options) for i, prompt in enumerate(prompts)}
            starts = {i: start for i, start in results.items() if isinstance(start, Start)}
            failures = len(prompts) - len(starts)
            self.usage.add(calls=failures, failures=failures)
            together = groups({i: start.ids for i, start in starts.items()})
            for shared, group in steps(together, [len(group) for _, group in together]):
                results |= zip(group, self._together([starts[i] for i in group], shared), strict=True)
        return [*results.values()]

    def _together(self, starts: Sequence[Start], shared: int) -> list[Choice | BackendError]:
        """Choices after token lists that share their first `shared` tokens, which are read once."""
        with counted(self.usage):
            memory = forward(self.model, [starts[0].ids[:shared]], 0, None)[1] if shared else None
            if memory is not None:
                memory.batch_repeat_interleave(len(starts))
            logits, _ = forward(self.model, [start.ids[shared:] for start in starts], shared, memory)
            choices = [attempt(self._choice, start, row) for start, row in zip(starts, logits, strict=True)]
        more, failures = len(starts) - 1, sum(isinstance(choice, BackendError) for choice in choices)
        tokens = {"prompt_tokens": sum(len(start.ids) for start in starts), "cached_tokens": shared * more}
        self.usage.add(calls=more, failures=failures, generated_tokens=len(starts), **tokens)
        return choices


FORMS = (*OWN_CHECKERS, "nli:FOLDER", "llm:FOLDER", "llm:NAME@https://HOST/v1")


def unknown_name(name: str, what: str) -> ValueError:
    """The error for a checker or a judge of an unknown name: it lists every form, and says what may have been meant."""
    near = get_close_matches(name, FORMS, n=1, cutoff=0.65)
    shown = redacted(name)
    meant = f", did you mean {near[0]!r}?" if near else ":"
    server = shown if "@http" in name else f"{shown:.60}@https://HOST/v1"
    remedy = "" if near else f"; a model behind a server is named as in {f'llm:{server}'!r}"
    return ValueError(f"unknown {what} {shown!r:.200}{meant} known: {', '.join(map(repr, FORMS))}{remedy}")


def load_model(text: str) -> Backend:
    """Return the backend that a text names: "folder" or "name@http://host/v1".

    The two models that a process named last stay loaded: a folder that has not changed since is not read again. Each
    backend counts its own usage.
    """
    name, at, address = text.partition("@http")
    if not name:
        raise ValueError(f"name a model: {', '.join(form for form in FORMS if form.startswith('llm'))}")
    if at:
        from summeval_nb.models.server import ServerBackend

        return ServerBackend(name, base_url=f"http{address}", api_key=os.environ.get("SUMMEVAL_API_KEY"))
    path = Path(name)
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    stats = [(str(file.absolute()), file.stat()) for file in files if file.exists()]
    state = tuple((where, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns) for where, now in stats)
    if not state:
        return TransformersBackend(name)
    backend = copy.copy(_loaded(name, os.getpid(), state))
    backend.usage = Usage()
    with backend._reader.lock:
        backend._reader.forget()
    return backend


@lru_cache(maxsize=2)
def _loaded(name: str, process: int, state: tuple[tuple[str | int, ...], ...]) -> TransformersBackend:
    """A loaded model, as long as its files are what they were, of which some number changes whenever one is written."""
    return TransformersBackend(name)


def load_backend(backend: Backend | str, option: str = "backend") -> Backend:
    """Return the backend that a text names, with "llm:" in front or without, or the given backend."""
    if isinstance(backend, str):
        return load_model(backend.removeprefix("llm:"))
    if isinstance(backend, type) or not hasattr(backend, "choose_many"):
        given = f"the class {backend.__name__}" if isinstance(backend, type) else type(backend).__name__
        forms = "a Backend, such as TransformersBackend('FOLDER'), or its name, such as 'llm:FOLDER'"
        raise TypeError(f"{option} must be {forms}, not {given}")
    return backend
