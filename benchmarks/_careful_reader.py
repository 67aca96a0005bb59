"""The careful reader: MPNet reads evidence and claim together, from the first layer to the last.

MPNet's own weights stay as they are. What training changed in its upper layers is kept as a low-rank difference, with a
small head: from the first token, the mean and the maximum over the claim's tokens, and the two numbers of its worst
tokens, to entailed, not said and denied.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from summeval_nb.evidence.reader import token_marks
from summeval_nb.text.mpnet import END, LAYERS, PADDING, START, WIDTH, layer, padded_bias, starts

HEAD = {  # the shapes of what is new
    "mark.weight": (WIDTH, 6),
    "error.weight": (1, WIDTH),
    "error.bias": (1,),
    "hidden.weight": (256, 3 * WIDTH + 2),
    "hidden.bias": (256,),
    "label.weight": (3, 256),
    "label.bias": (3,),
}
TOGETHER = 192  # tokens of claim and evidence that are read together, at most
LONGEST = 80  # tokens of the claim, at most
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


def low_rank(before: dict[str, Tensor], after: dict[str, Tensor], size: int) -> dict[str, Tensor]:
    """Return what `raised` takes, of at most `size` bytes: the head, and of each layer's change what matters most.

    A changed matrix becomes two narrow ones, `name.a` and `name.b`, in half precision. The singular values of all
    matrices together, each by what its place costs, decide how many a matrix keeps.
    """
    found = {name: value if name in HEAD else value - before[name] for name, value in after.items()}
    wide = {name: found.pop(name) for name in list(found) if name not in HEAD and found[name].ndim == 2}
    found = {name: value.half().contiguous() for name, value in found.items()}
    room = (size - sum(2 * value.numel() for value in found.values()) - 20_000) // 2
    parts = {name: torch.linalg.svd(value, full_matrices=False) for name, value in wide.items()}
    worth = [
        (float(value) ** 2 / sum(wide[name].shape), name) for name, (_, values, _) in parts.items() for value in values
    ]
    kept = dict.fromkeys(wide, 0)
    for _, name in sorted(worth, reverse=True):
        cost = sum(wide[name].shape)
        if cost > room:
            break
        kept[name], room = kept[name] + 1, room - cost
    for name, number in kept.items():
        left, values, right = parts[name]
        root = values[:number].sqrt()
        found[f"{name}.a"] = (left[:, :number] * root).half().contiguous()
        found[f"{name}.b"] = (root[:, None] * right[:number]).half().contiguous()
    return found


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
