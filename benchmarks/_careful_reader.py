"""What training changed in MPNet, made small enough to ship."""

from __future__ import annotations

import torch
from torch import Tensor

from summeval_nb.evidence.reader import HEAD


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
