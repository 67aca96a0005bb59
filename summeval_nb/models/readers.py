"""Loaded models that are read token by token: where a choice begins, what its options weigh, one pass for many."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summeval_nb.models.base import option_masses

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast


class Start(NamedTuple):
    """Where a choice begins: the tokens before it, and what is then to be written for each option."""

    ids: list[int]
    rest: dict[str, bytes]


class Reader(ABC):
    """A loaded model and its tokens; one thread at a time reads with it, and what it read last stays in memory."""

    def __init__(self, tokenizer: Any, begin: int | None):
        self.lock = threading.RLock()
        self.tokenizer, self.begin = tokenizer, begin

    @abstractmethod
    def read(self, ids: list[int]) -> tuple[np.ndarray, int]:
        """Return the logits of the next token, (vocabulary,), and how many of `ids` were still in memory."""

    @abstractmethod
    def forget(self) -> None:
        """Empty the memory, so that the next numbers do not depend on what was read before."""

    @abstractmethod
    def guided(self) -> Any:
        """Return guidance's model of this one, in its first state."""

    @cached_property
    def pieces(self) -> dict[bytes, list[int]]:
        """Text to tokens, special tokens left out."""
        tokens: dict[bytes, list[int]] = {}
        for token in range(self.tokenizer.vocab_size):
            if not self.tokenizer.is_special_token(token):
                tokens.setdefault(self.tokenizer.decode_bytes([token]), []).append(token)
        return tokens

    @cached_property
    def longest(self) -> int:
        """Bytes of the longest token."""
        return max(map(len, self.pieces))

    def encode(self, text: str) -> list[int]:
        return list(self.tokenizer.tokenize_bytes(text.encode(), parse_special=True))

    def start(self, text: str, options: tuple[str, ...]) -> Start:
        r"""Return where the choice begins after `text`.

        If "\nyes" is one token, "yes" after a prompt that ends with "\n" is not what the model was trained on. Tokens
        at the end that could begin such a longer one are therefore taken back.
        """
        ids = self.encode(text)
        if self.begin is not None and ids[:1] != [self.begin]:
            ids.insert(0, self.begin)
        begun = {option.encode()[:end] for option in options for end in range(1, len(option.encode()) + 1)}
        kept, taken, tail = len(ids), b"", b""
        for place in range(len(ids) - 1, 0, -1):
            if self.tokenizer.is_special_token(ids[place]) or len(tail) >= self.longest:
                break
            last = self.tokenizer.decode_bytes([ids[place]])
            tail = last + tail
            if any(tail[cut:] + written in self.pieces for cut in range(len(last)) for written in begun):
                kept, taken = place, tail
        return Start(ids[:kept], {option: taken + option.encode() for option in options})

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


def common_length(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the common beginning of two token lists."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def guidance_model(make: Callable[..., Any], *parts: Any) -> Any:
    """A model of guidance: no display, no monitoring, no search for a chat template, since we render it."""
    from guidance.chat import ChatMLTemplate

    return make(*parts, echo=False, enable_monitoring=False, chat_template=ChatMLTemplate)


def forward(model: PreTrainedModel, ends: Sequence[Sequence[int]], known: int, memory: Any) -> tuple[np.ndarray, Any]:
    """Read token lists of which the first `known` tokens, not given, are in memory.

    Returns the next-token logits, (rows, vocabulary), and the memory afterwards.
    """
    import torch

    rows, longest, device = len(ends), max(map(len, ends)), model.device
    places = torch.arange(known + longest, device=device)
    lengths = torch.tensor([known + len(end) for end in ends], device=device)
    last = [len(end) - 1 for end in ends]
    kept = sorted(set(last))
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


def last_logits(model: PreTrainedModel, prompts: Sequence[Sequence[int]], shared: int) -> np.ndarray:
    """Return the next-token logits, (prompts, vocabulary), reading the first `shared` tokens once for all."""
    memory = None
    if shared:
        memory = forward(model, [prompts[0][:shared]], 0, None)[1]
        if len(prompts) > 1:
            memory.batch_repeat_interleave(len(prompts))
    return forward(model, [prompt[shared:] for prompt in prompts], shared, memory)[0]


def groups(prompts: Sequence[Sequence[int]], *, most: int = 32) -> list[tuple[int, list[int]]]:
    """Group token lists that share at least half of their tokens: (length of the shared beginning, positions)."""
    order = sorted(range(len(prompts)), key=lambda i: list(prompts[i]))
    found: list[tuple[int, list[int]]] = []
    for i in order:
        length = len(prompts[i])
        if found and len(found[-1][1]) < most:
            shared, members = found[-1]
            now = min(shared, common_length(prompts[members[0]], prompts[i]), length - 1)
            if now >= length / 2 and now >= max(len(prompts[j]) for j in members) / 2:
                found[-1] = now, [*members, i]
                continue
        found.append((length - 1, [i]))
    return found


class TransformersReader(Reader):
    """A model of transformers.

    guidance takes it for the model itself: its own memory cannot go back with transformers 5.15 and later (the second
    call fails), so it is shown none, hands over whole prompts, and what it shares with the last one is known here.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast):
        import llguidance.hf

        self.model, self.config, self.device = model, model.config, model.device
        self._named = tokenizer
        self.forget()
        super().__init__(llguidance.hf.from_tokenizer(tokenizer), tokenizer.bos_token_id)

    def forget(self) -> None:
        self._memory: Any = None
        self._held: list[int] = []

    def read(self, ids: list[int]) -> tuple[np.ndarray, int]:
        memory, held = self._memory, self._held
        self.forget()  # a call that breaks off leaves nothing half read
        known = min(common_length(ids, held), len(ids) - 1)
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
    def _guided(self) -> Any:
        import guidance

        return guidance_model(guidance.models.Transformers, self, self._named)

    def guided(self) -> Any:
        return self._guided


class LlamaReader(Reader):
    """A model of llama.cpp; guidance reads with the same one, and each forgets what the other has read."""

    def __init__(self, llama: Any):
        import llama_cpp
        import llguidance.llamacpp

        begin = llama.token_bos()
        self.llama, self._guided, self._logits_of = llama, None, llama_cpp.llama_get_logits_ith
        vocabulary = llama_cpp.llama_model_get_vocab(llama.model)
        super().__init__(llguidance.llamacpp.lltokenizer_from_vocab(vocabulary), begin if begin >= 0 else None)

    def read(self, ids: list[int]) -> tuple[np.ndarray, int]:
        self._guided, llama = None, self.llama  # what guidance remembers is overwritten
        known = min(common_length(ids, llama.input_ids[: llama.n_tokens]), len(ids) - 1)
        llama.n_tokens = known
        llama.eval(ids[known:])
        logits = np.ctypeslib.as_array(self._logits_of(llama.ctx, -1), (llama.n_vocab(),))
        return logits.astype(np.float64), known

    def forget(self) -> None:
        self.llama.reset()
        self._guided = None

    def guided(self) -> Any:
        import guidance

        self.llama.reset()
        self._guided = self._guided or guidance_model(guidance.models.LlamaCpp, self.llama)
        return self._guided
