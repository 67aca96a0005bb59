"""The two readers: cross-encoders that read evidence and claim together, one small, one careful.

Of the small one, MiniLM's lower three layers look at each sentence alone, so a sentence is encoded once however many
claims it serves; its upper three layers, trained further, look at the claim and several evidence sentences together.
They were taught in two courses: the second one, by written pairs and by what people judged, is kept as a difference
from the first. Splitting a cross-encoder so was proposed as DeFormer (Cao et al. 2020) and PreTTR (MacAvaney et al.
2020). The careful one is MPNet, which reads both together from the first layer to the last: its own weights stay as
they are, and what training changed in its upper layers is kept as a low-rank difference, with a small head. Torch is
imported here: import this module inside functions only.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from os import PathLike
from typing import NamedTuple

import numpy as np
import torch
from safetensors.torch import load
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from summeval_nb.core.base import Stages, steps
from summeval_nb.core.files import read_asset
from summeval_nb.text import embed  # MPNet
from summeval_nb.text.embed import encodable
from summeval_nb.text.minilm import minilm_files

CLS, SEP = 101, 102
WINDOW = 160  # tokens of claim and evidence that are read together, at most
LONGEST = 80  # tokens of one sentence, at most
TOGETHER = 512  # pairs whose sentences are encoded together, and kept while these pairs are read
WIDTH, HEADS, INNER, LAYERS, LOWER = 384, 12, 1536, 6, 3
TAUGHT = ("upper", "mark", "error", "hidden", "label")  # what training changes


class Layer(nn.Module):
    """One layer of BERT: self-attention and a feed-forward part, each added to its input and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm_a = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up = nn.Linear(WIDTH, INNER)
        self.down = nn.Linear(INNER, WIDTH)
        self.norm_b = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x: Tensor, mask: Tensor, first: int | None = None) -> Tensor:
        """Return the next states, shape (b, t, 384); `mask`, shape (b, 1, 1, t), is True where there is a token.

        With `first` only those of so many tokens: all are looked at, but the others are not calculated further.
        """
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q[:, :, :first], k, v, attn_mask=mask)
        x = self.norm_a(x[:, :first] + self.out(mixed.transpose(1, 2).flatten(2)))
        return self.norm_b(x + self.down(F.gelu(self.up(x))))


class Network(nn.Module):
    """The reader's network; `encode` is MiniLM up to its third layer, `forward` reads claim and evidence together."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.places = nn.Embedding(512, WIDTH)
        self.segment = nn.Parameter(torch.zeros(WIDTH))
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.lower = nn.ModuleList(Layer() for _ in range(LOWER))
        self.mark = nn.Linear(6, WIDTH, bias=False)
        self.upper = nn.ModuleList(Layer() for _ in range(LAYERS - LOWER))
        self.error = nn.Linear(WIDTH, 1)
        self.hidden = nn.Linear(3 * WIDTH + 2, 256)
        self.label = nn.Linear(256, 3)

    def encode(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the states after the third layer, shape (b, t, 384), of token ids, shape (b, t)."""
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.norm(self.words(ids) + self.places(places) + self.segment)
        for layer in self.lower:
            x = layer(x, mask[:, None, None])
        return x

    def forward(self, x: Tensor, mask: Tensor, claim: Tensor, marks: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of entailment, neutral and contradiction, shape (b, 3), and of an error, shape (b, c).

        `x`, shape (b, t, 384), holds the states of claim and evidence after the third layer, `mask`, shape (b, t), says
        where a token is, `claim`, shape (b, c), where a word of the claim is, which stands first, and `marks`, shape
        (b, t, 6), see `token_marks`. Of the last layer only the states of the first c tokens are calculated.
        """
        x = x + self.mark(marks.to(x.dtype))
        for number, layer in enumerate(self.upper, 1):
            x = layer(x, mask[:, None, None], claim.shape[1] if number == len(self.upper) else None)
        x = x.float()
        errors = self.error(x).squeeze(-1).masked_fill(~claim, -30.0)
        return self.label(F.gelu(self.hidden(seen(x, errors, claim, 0.1 * self.training)))), errors


def seen(x: Tensor, errors: Tensor, claim: Tensor, dropout: float) -> Tensor:
    """Return what a head sees: the first token, the mean and the maximum over the claim's, and two worst numbers."""
    inside = claim[..., None]
    mean = (x * inside).sum(1) / inside.sum(1).clamp(min=1)
    most = x.masked_fill(~inside, -30.0).max(1).values
    pooled = F.dropout(torch.cat([x[:, 0], mean, most], -1), dropout, dropout > 0)
    worst = torch.stack([torch.logsumexp(errors, 1), errors.max(1).values], -1).clamp(-30, 30) / 5
    return torch.cat([pooled, worst], -1)


def load_minilm(network: Network, state: Mapping[str, Tensor]) -> None:
    """Copy MiniLM's weights, by their names in its safetensors file, into the network's layers."""
    take = {name.removeprefix("bert."): value.float() for name, value in state.items()}
    with torch.no_grad():
        network.words.weight.copy_(take["embeddings.word_embeddings.weight"])
        network.places.weight.copy_(take["embeddings.position_embeddings.weight"])
        network.segment.copy_(take["embeddings.token_type_embeddings.weight"][0])
        network.norm.weight.copy_(take["embeddings.LayerNorm.weight"])
        network.norm.bias.copy_(take["embeddings.LayerNorm.bias"])
        for number, layer in enumerate([*network.lower, *network.upper]):
            _copy_layer(layer, take, f"encoder.layer.{number}.")


def _copy_layer(layer: nn.Module, take: Mapping[str, Tensor], prefix: str) -> None:
    for kind in ("weight", "bias"):
        parts = [take[f"{prefix}attention.self.{name}.{kind}"] for name in ("query", "key", "value")]
        getattr(layer.qkv, kind).copy_(torch.cat(parts))
        getattr(layer.out, kind).copy_(take[f"{prefix}attention.output.dense.{kind}"])
        getattr(layer.norm_a, kind).copy_(take[f"{prefix}attention.output.LayerNorm.{kind}"])
        getattr(layer.up, kind).copy_(take[f"{prefix}intermediate.dense.{kind}"])
        getattr(layer.down, kind).copy_(take[f"{prefix}output.dense.{kind}"])
        getattr(layer.norm_b, kind).copy_(take[f"{prefix}output.LayerNorm.{kind}"])


def token_marks(claim: np.ndarray, evidence: Sequence[np.ndarray]) -> np.ndarray:
    """Return six marks of each token of claim and evidence, shape (t, 6), from token ids alone.

    The claim's and the evidence's side of: is it claim or evidence; does the other side hold this token; does it hold
    this token together with its left or right neighbour. Without such marks a small network spends its training on
    learning to compare tokens.
    """
    marks = np.zeros((len(claim) + sum(map(len, evidence)), 6), np.float32)
    of_claim, of_evidence = np.split(marks, [len(claim)])
    of_claim[:, 0], of_evidence[:, 3] = 1, 1
    if len(of_evidence):
        other, ends = np.concatenate(evidence), np.cumsum([len(sentence) for sentence in evidence])
        own, theirs = _neighbours(claim), _neighbours(other)
        theirs[ends[(ends > 0) & (ends < len(other))] - 1] = -1  # none from one sentence to the next
        of_claim[:, 1], of_evidence[:, 4] = np.isin(claim, other), np.isin(other, claim)
        of_claim[:, 2], of_evidence[:, 5] = _beside(own, theirs), _beside(theirs, own)
    return marks


def _neighbours(tokens: np.ndarray) -> np.ndarray:
    """One number for each token and its right neighbour, shape (t - 1,)."""
    return tokens[:-1].astype(np.int64) << 32 | tokens[1:]


def _beside(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether each token stands in a pair that the others hold, shape (t,)."""
    hit = np.isin(codes, others)
    return np.concatenate([hit, [False]]) | np.concatenate([[False], hit])


def _size(claim: np.ndarray, evidence: Sequence[np.ndarray]) -> int:
    """How many tokens claim and evidence have together, with the marks between them."""
    return len(claim) + 2 + sum(map(len, evidence)) + len(evidence)


def joined(
    network: Network,
    pairs: Sequence[tuple[np.ndarray, Sequence[np.ndarray]]],
    states: Mapping[bytes, Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return what `Network.forward` takes, for pairs of (token ids of a claim, token ids of its evidence sentences).

    Each distinct sentence is encoded once, or not at all where `states`, as `encoded` gives them, are known.
    """
    known = encoded(network, pairs) if states is None else states
    total = max([_size(*pair) for pair in pairs])
    x = next(iter(known.values())).new_zeros((len(pairs), total, WIDTH))
    mask = torch.zeros((len(pairs), total), dtype=torch.bool)
    claims = torch.zeros((len(pairs), max([len(claim) for claim, _ in pairs]) + 1), dtype=torch.bool)
    marks = torch.zeros((len(pairs), total, 6))
    for i, (claim, evidence) in enumerate(pairs):
        n = len(claim)
        # the first [CLS] is the pair's
        pieces = [known[claim.tobytes()], *[known[sentence.tobytes()][1:] for sentence in evidence]]
        whole = torch.cat(pieces)
        x[i, : len(whole)] = whole
        mask[i, : len(whole)] = True
        claims[i, 1 : n + 1] = True
        values = token_marks(claim, [np.append(sentence, SEP) for sentence in evidence])
        marks[i, 1 : n + 1] = torch.from_numpy(values[:n])
        marks[i, n + 2 : len(whole)] = torch.from_numpy(values[n:])
    return x, mask.to(x.device), claims.to(x.device), marks.to(x.device)


def encoded(network: Network, pairs: Sequence[tuple[np.ndarray, Sequence[np.ndarray]]]) -> dict[bytes, Tensor]:
    """Return the states after the third layer of each distinct sentence, shape (t + 2, 384), with [CLS] and [SEP]."""
    distinct = {text.tobytes(): text for claim, evidence in pairs for text in (claim, *evidence)}
    texts = list(distinct.values())
    order = np.argsort([len(text) for text in texts], kind="stable").tolist()
    found: list[Tensor] = [torch.empty(0)] * len(texts)
    with torch.no_grad():
        for batch in steps(list(_batches([len(texts[i]) + 2 for i in order], 4096))):
            chosen = [order[i] for i in batch]
            long = len(texts[chosen[-1]]) + 2
            ids = torch.zeros((len(chosen), long), dtype=torch.long)
            mask = torch.zeros((len(chosen), long), dtype=torch.bool)
            for row, i in enumerate(chosen):
                n = len(texts[i]) + 2
                ids[row, :n] = torch.from_numpy(np.concatenate([[CLS], texts[i], [SEP]]).astype(np.int64))
                mask[row, :n] = True
            device = network.segment.device
            for i, state in zip(chosen, network.encode(ids.to(device), mask.to(device)), strict=True):
                found[i] = state[: len(texts[i]) + 2]
    return dict(zip(distinct, found, strict=True))


def _batches(lengths: Sequence[int], budget: int) -> Iterator[range]:
    """Yield ranges over ascending lengths whose padded size stays within a budget of tokens."""
    start = 0
    for stop in range(1, len(lengths) + 1):
        if stop == len(lengths) or (stop + 1 - start) * lengths[stop] > budget:
            yield range(start, stop)
            start = stop


class Reading(NamedTuple):
    """What the reader says of one pair: three probabilities, whose sum is one."""

    entailment: float
    neutral: float
    contradiction: float


def in_eight_bits(arrays: dict[str, np.ndarray], name: str, matrix: Tensor) -> None:
    """Put a matrix among the arrays as eight-bit numbers with one scale a row."""
    scale = matrix.abs().amax(1, keepdim=True).clamp(min=1e-12) / 127
    arrays[name] = torch.round(matrix / scale).to(torch.int8).numpy()
    arrays[f"{name}:scale"] = scale.squeeze(1).numpy()


def from_eight_bits(arrays: Mapping[str, np.ndarray], name: str) -> Tensor:
    """Return an array, and if it was kept in eight bits, the matrix."""
    value = torch.from_numpy(arrays[name]).float()
    return value * torch.from_numpy(arrays[f"{name}:scale"])[:, None] if f"{name}:scale" in arrays else value


def unpacked(content: bytes) -> Network:
    """Return the network: MiniLM, and what training changed."""
    network = Network()
    load_minilm(network, minilm_files()[1])
    state = network.state_dict()
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        for name in arrays.files:
            if name.endswith(":scale"):
                continue
            value = from_eight_bits(arrays, name)
            state[name] = state[name] + value if name.startswith("upper") else value
    network.load_state_dict(state)
    return network.eval()


def digest(content: bytes) -> np.ndarray:
    return np.frombuffer(hashlib.sha256(content).digest(), np.uint8)


def changed(first: Network, content: bytes, difference: bytes) -> Network:
    """Return the network that a difference leads to; what was not taught is shared with the first.

    `content` is what the first was unpacked from; a difference from other weights is refused with a ValueError.
    """
    network = Network()
    state = first.state_dict()
    with np.load(io.BytesIO(difference), allow_pickle=False) as arrays:
        if not np.array_equal(arrays["of"], digest(content)):
            raise ValueError("the difference is one from other weights: write it again, train_checker.py --write-wide")
        for name in arrays.files:
            if name.endswith(":left"):
                name = name.removesuffix(":left")
                left, right = (from_eight_bits(arrays, f"{name}:{side}") for side in ("left", "right"))
                state[name] = state[name] + left.T @ right
            elif ":" not in name and name != "of":
                state[name] = state[name] + torch.from_numpy(arrays[name])
    network.load_state_dict(state)
    network.words, network.places, network.norm, network.lower = first.words, first.places, first.norm, first.lower
    return network.eval()


def found_device(name: str) -> torch.device:
    """Return the device of that name; a ValueError says what is wrong where there is none."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        why = str(error).partition("\n")[0]
        remedy = "leave device='cpu', or say 'cuda' where there is a GPU"
        raise ValueError(f"device={name!r} cannot be used here ({why}): {remedy}") from error
    return device


class Reader:
    """The trained reader: `read` takes pairs of (evidence sentences, claim).

    Without `content` it has the packaged weights: those of the first course, and what the second changed.
    """

    def __init__(self, content: bytes | None = None, *, precision: str = "float32", device: str = "cpu") -> None:
        raw, more = (content, b"") if content is not None else (read_asset("reader.npz"), read_asset("reader_wide.npz"))
        mark = "" if precision == "float32" else f":{precision}"
        self.fingerprint = hashlib.sha256(raw + more).hexdigest()[:12] + mark
        self.device = found_device(device)
        first = unpacked(raw)
        self.network = (changed(first, raw, more) if more else first).to(self.device)
        self.precision = precision
        self.tokenizer = minilm_files()[0]

    def read(self, pairs: Sequence[tuple[Sequence[str], str]], *, budget: int = 4096) -> list[Reading]:
        """Return one `Reading` a pair, in order; what does not fit into the window is left out from the end.

        Each distinct sentence is encoded once, however many pairs it serves (of 512 pairs at a time). Pairs of about
        the same length are read together, `budget` tokens at a time.
        """
        starts = steps(range(0, len(pairs), TOGETHER))
        batches = (pairs[start : start + TOGETHER] for start in starts)
        return [reading for batch in batches for reading in self._read_batch(batch, budget)]

    def _read_batch(self, pairs: Sequence[tuple[Sequence[str], str]], budget: int) -> list[Reading]:
        texts = [text for evidence, claim in pairs for text in (claim, *evidence)]
        tokens = self._tokens(list(dict.fromkeys(texts)))
        rows = []
        for evidence, claim in pairs:
            own = tokens[claim]
            room = WINDOW - len(own) - 2
            kept: list[np.ndarray] = []
            for text in evidence:
                ids = tokens[text]
                room -= len(ids) + 1
                if room < 0 and kept:
                    break
                kept.append(ids)
            rows.append((own, kept))
        lengths = [_size(*row) for row in rows]
        order = np.argsort(lengths, kind="stable").tolist()
        found: list[Reading] = [Reading(0, 0, 0)] * len(rows)
        short, stage = self.precision == "bfloat16", Stages(sentences=1, pairs=2)
        with _inference(self.device.type, short=short):
            with stage("sentences"):
                states = encoded(self.network, rows)
            batches = list(_batches([lengths[i] for i in order], budget))
            with stage("pairs"):
                for batch in steps(batches, [len(batch) for batch in batches]):
                    chosen = [order[i] for i in batch]
                    logits, _ = self.network(*joined(self.network, [rows[i] for i in chosen], states))
                    for i, shares in zip(chosen, logits.cpu().double().softmax(-1).tolist(), strict=True):
                        found[i] = Reading(*shares)
        return found

    def mean_states(self, texts: Sequence[str]) -> np.ndarray:
        """Return the mean of each text's states after the third layer, shape (n, 384): how it is put, more than what.

        Of a text of more than 80 tokens the first 80 are taken.
        """
        rows = np.zeros((len(texts), WIDTH))
        for start in range(0, len(texts), TOGETHER):
            part = texts[start : start + TOGETHER]
            tokens = self._tokens(list(dict.fromkeys(part)))
            states = encoded(self.network, [(tokens[text], []) for text in part])
            for row, text in enumerate(part, start):
                rows[row] = states[tokens[text].tobytes()].mean(0).cpu().double().numpy()
        return rows

    def _tokens(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the token ids of each text, the first eighty."""
        encoded = self.tokenizer.encode_batch(encodable(texts), add_special_tokens=False)
        return {
            text: np.array(encoding.ids[:LONGEST] or [100], np.int32)
            for text, encoding in zip(texts, encoded, strict=True)
        }


@contextmanager
def _inference(device: str, *, short: bool) -> Iterator[None]:
    """Calculate without gradients, in bfloat16 if `short`.

    PyTorch's fused attention fails there on a processor with AMX whose AVX-512 it has been told not to use.
    """
    fused = device != "cpu" or not short or torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    kernel = nullcontext() if fused else sdpa_kernel(SDPBackend.MATH)
    with torch.inference_mode(), torch.autocast(device, torch.bfloat16, enabled=short), kernel:
        yield


@lru_cache(maxsize=2)
def load_reader(precision: str = "float32", device: str = "cpu") -> Reader:
    """Return the packaged reader, loaded once per process.

    Examples
    --------
    >>> (reading,) = load_reader().read([(["It rained in Oslo on Monday."], "It rained in Oslo.")])
    >>> reading.entailment > 0.5
    True
    """
    return Reader(precision=precision, device=device)


HEAD = {  # the shapes of what is new
    "mark.weight": (embed.WIDTH, 6),
    "error.weight": (1, embed.WIDTH),
    "error.bias": (1,),
    "hidden.weight": (256, 3 * embed.WIDTH + 2),
    "hidden.bias": (256,),
    "label.weight": (3, 256),
    "label.bias": (3,),
}
CHANGES = "careful.safetensors"  # what training changed
CAREFUL_WINDOW = 192  # tokens of claim and evidence that are read together, at most
UNCHANGED = 4  # layers that training leaves as they are


def batch(pairs: Sequence[tuple[np.ndarray, Sequence[np.ndarray]]]) -> tuple[Tensor, Tensor, Tensor]:
    """Return token numbers, shape (b, t), where the claim is, and six marks of each token, shape (b, t, 6).

    A pair is (token numbers of the claim, those of each evidence sentence); it stands as evidence, two ends, claim. The
    marks are those of the quick reader.
    """
    longest = max(len(claim) + sum(map(len, evidence)) for claim, evidence in pairs) + 4
    ids = torch.full((len(pairs), longest), embed.PADDING)
    claims = torch.zeros((len(pairs), longest), dtype=torch.bool)
    marks = torch.zeros((len(pairs), longest, 6))
    for i, (claim, evidence) in enumerate(pairs):
        told = np.concatenate([*evidence, np.zeros(0, int)])
        whole = np.concatenate([[embed.START], told, [embed.END] * 2, claim, [embed.END]]).astype(np.int64)
        first = len(told) + 3
        ids[i, : len(whole)] = torch.from_numpy(whole)
        claims[i, first : first + len(claim)] = True
        values = torch.from_numpy(token_marks(claim, evidence))
        marks[i, first : first + len(claim)] = values[: len(claim)]
        marks[i, 1 : len(told) + 1] = values[len(claim) :]
    return ids, claims, marks


def read(
    weights: dict[str, Tensor], ids: Tensor, claims: Tensor, marks: Tensor, dropout: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return the logits of entailed, not said and denied, shape (b, 3), and of an error in each token, shape (b, t).

    The lower layers are MPNet's own. The marks are added to what leaves them.
    """
    added = embed.padded_bias(weights, ids)
    with torch.no_grad():
        x = embed.starts(weights, ids)
        for number in range(UNCHANGED):
            x = embed.layer(weights, number, x, added)
    x = x + F.linear(marks, weights["mark.weight"])
    for number in range(UNCHANGED, embed.LAYERS):
        x = embed.layer(weights, number, x, added)
    x = x.float()
    errors = F.linear(x, weights["error.weight"], weights["error.bias"]).squeeze(-1).float().masked_fill(~claims, -30.0)
    hidden = F.gelu(F.linear(seen(x, errors, claims, dropout), weights["hidden.weight"], weights["hidden.bias"]))
    return F.linear(hidden, weights["label.weight"], weights["label.bias"]).float(), errors


def raised(before: dict[str, Tensor], kept: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return the entries of the weights that `low_rank` kept."""
    found = {}
    for name, value in kept.items():
        if name.endswith(".a"):
            own = name.removesuffix(".a")
            found[own] = before[own] + value.float() @ kept[f"{own}.b"].float()
        elif not name.endswith(".b"):
            found[name] = value.float() if name in HEAD else before[name] + value.float()
    return found


class CarefulReader:
    """The trained reader: `read` takes pairs of (evidence sentences, the nearest first, and a claim).

    Without `changes` it has the packaged ones, and MPNet's weights are those of `folder`, or where they are found.

    A claim of more than 80 tokens is read in pieces, and the piece that follows least counts. Of the evidence the
    nearest sentences are read that fit beside it; an evidence sentence is cut where it alone does not fit.
    """

    def __init__(
        self,
        precision: str = "float32",
        *,
        changes: dict[str, Tensor] | None = None,
        folder: str | PathLike[str] | None = None,
    ) -> None:
        self.tokenizer, weights = embed.mpnet_files(folder)
        self.weights = weights | (raised(weights, load(_packaged())) if changes is None else changes)
        self.precision = precision

    def read(self, pairs: Sequence[tuple[Sequence[str], str]], *, budget: int = 2048) -> list[Reading]:
        """Return one reading a pair, in order, from batches of about `budget` tokens of similar lengths."""
        texts = list(dict.fromkeys(text for evidence, claim in pairs for text in (claim, *evidence)))
        encodings = self.tokenizer.encode_batch(encodable(texts), add_special_tokens=False)
        ids = {text: np.array(found.ids, np.int64) for text, found in zip(texts, encodings, strict=True)}
        rows, owner = list[tuple[np.ndarray, list[np.ndarray]]](), list[int]()
        for number, (evidence, claim) in enumerate(pairs):
            pieces = range(0, max(len(ids[claim]), 1), LONGEST)
            rows += [_fitted(ids[claim][start : start + LONGEST], [ids[text] for text in evidence]) for start in pieces]
            owner += [number] * len(pieces)
        found: list[Reading | None] = [None] * len(pairs)
        lengths = [len(claim) + sum(map(len, evidence)) + 4 for claim, evidence in rows]
        with _inference("cpu", short=self.precision == "bfloat16"):
            for lot in steps(list(_lots(lengths, budget))):
                logits, _ = read(self.weights, *batch([rows[i] for i in lot]))
                for i, shares in zip(lot, logits.double().softmax(-1).tolist(), strict=True):
                    before = found[owner[i]]
                    if before is None or shares[0] < before.entailment:
                        found[owner[i]] = Reading(*shares)
        return [reading for reading in found if reading]


def _packaged() -> bytes:
    """Return what training changed, its bytes checked."""
    content, expected = read_asset(CHANGES), json.loads(read_asset("careful.json"))["sha256"]
    if (found := hashlib.sha256(content).hexdigest()) != expected:
        raise ValueError(f"{CHANGES} of the package has SHA-256 {found}, expected {expected}: install it again")
    return content


def _fitted(claim: np.ndarray, evidence: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the claim with as much of the evidence, which comes nearest first, as fits into the window."""
    room, kept = CAREFUL_WINDOW - len(claim) - 4, list[np.ndarray]()
    for sentence in evidence:
        if kept and len(sentence) > room:
            break
        kept.append(sentence[: max(room, 0)])
        room -= len(sentence)
    return claim, kept


def _lots(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Return places in batches of similar lengths, each of about `budget` tokens.

    >>> _lots([3, 9, 4], 10)
    [[0, 2], [1]]
    """
    lots: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if not lots or (len(lots[-1]) + 1) * lengths[i] > budget:
            lots.append([])
        lots[-1].append(i)
    return lots


@lru_cache(maxsize=2)
def load_careful_reader(precision: str = "float32") -> CarefulReader:
    """Return the careful reader, loaded once per process."""
    return CarefulReader(precision)
