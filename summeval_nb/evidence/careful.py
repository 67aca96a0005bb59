"""The careful reader: MPNet reads evidence and claim together, from the first layer to the last.

MPNet's own weights stay as they are. What training changed in its upper layers is kept as a low-rank difference, with a
small head: from the first token, the mean and the maximum over the claim's tokens, and the two numbers of its worst
tokens, to entailed, not said and denied. Torch is imported here: import this module inside functions only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from os import PathLike

import numpy as np
import torch
from safetensors.torch import load
from torch import Tensor
from torch.nn import functional as F

from summeval_nb.core.base import steps
from summeval_nb.core.files import read_asset
from summeval_nb.evidence.reader import Reading, token_marks
from summeval_nb.text.embed import (
    END,
    LAYERS,
    PADDING,
    START,
    WIDTH,
    encodable,
    layer,
    mpnet_files,
    padded_bias,
    starts,
)

HEAD = {  # the shapes of what is new
    "mark.weight": (WIDTH, 6),
    "error.weight": (1, WIDTH),
    "error.bias": (1,),
    "hidden.weight": (256, 3 * WIDTH + 2),
    "hidden.bias": (256,),
    "label.weight": (3, 256),
    "label.bias": (3,),
}
CHANGES = "careful.safetensors"  # what training changed
WINDOW = 192  # tokens of claim and evidence that are read together, at most
LONGEST = 80  # tokens of the claim that are read together, at most
LOWER = 4  # layers that training leaves as they are


def batch(pairs: Sequence[tuple[np.ndarray, Sequence[np.ndarray]]]) -> tuple[Tensor, Tensor, Tensor]:
    """Return token numbers, shape (b, t), where the claim is, and six marks of each token, shape (b, t, 6).

    A pair is (token numbers of the claim, those of each evidence sentence); it stands as evidence, two ends, claim. The
    marks are those of the quick reader.
    """
    longest = max(len(claim) + sum(map(len, evidence)) for claim, evidence in pairs) + 4
    ids = torch.full((len(pairs), longest), PADDING)
    claims = torch.zeros((len(pairs), longest), dtype=torch.bool)
    marks = torch.zeros((len(pairs), longest, 6))
    for i, (claim, evidence) in enumerate(pairs):
        told = np.concatenate([*evidence, np.zeros(0, int)])
        whole = np.concatenate([[START], told, [END, END], claim, [END]]).astype(np.int64)
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
    added = padded_bias(weights, ids)
    with torch.no_grad():
        x = starts(weights, ids)
        for number in range(LOWER):
            x = layer(weights, number, x, added)
    x = x + F.linear(marks, weights["mark.weight"])
    for number in range(LOWER, LAYERS):
        x = layer(weights, number, x, added)
    return judged(weights, x.float(), claims, dropout)


def judged(weights: dict[str, Tensor], x: Tensor, claims: Tensor, dropout: float = 0.0) -> tuple[Tensor, Tensor]:
    """Return what `read` returns, from the states after the last layer."""
    errors = F.linear(x, weights["error.weight"], weights["error.bias"]).squeeze(-1).float().masked_fill(~claims, -30.0)
    inside = claims[..., None]
    mean = (x * inside).sum(1) / inside.sum(1).clamp(min=1)
    most = x.masked_fill(~inside, -30.0).max(1).values
    pooled = F.dropout(torch.cat([x[:, 0], mean, most], -1), dropout, dropout > 0)
    worst = torch.stack([torch.logsumexp(errors, 1), errors.max(1).values], -1).clamp(-30, 30) / 5
    hidden = F.gelu(F.linear(torch.cat([pooled, worst], -1), weights["hidden.weight"], weights["hidden.bias"]))
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
        self.tokenizer, weights = mpnet_files(folder)
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
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=self.precision == "bfloat16"):
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
    room, kept = WINDOW - len(claim) - 4, list[np.ndarray]()
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
