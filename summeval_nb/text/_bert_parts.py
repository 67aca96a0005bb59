# A plain private module. Edited directly: no notebook exports it; tested in tests/test_lots.py.
"""Parts of a network without padding: a matrix product, a norm, runs of equal length, and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import torch


def linear(x: torch.Tensor, weights: dict[str, torch.Tensor], name: str) -> torch.Tensor:
    """Return x W' + b."""
    import torch.nn.functional as F

    return F.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])


def norm(x: torch.Tensor, weights: dict[str, torch.Tensor], name: str) -> torch.Tensor:
    """Bring each row to mean 0 and variance 1, then stretch and shift it by learned numbers."""
    import torch.nn.functional as F

    return F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"], eps=1e-12)


class Run(NamedTuple):
    """Neighbouring sentences of the same length in the table of tokens: rows, number of sentences, tokens in each."""

    rows: slice
    sentences: int
    tokens: int


def runs_of(lengths: Sequence[int]) -> list[Run]:
    """Group neighbouring equal lengths."""
    runs, row = [], 0
    for length, group in groupby(lengths):
        count = len(list(group))
        runs.append(Run(slice(row, row + count * length), count, length))
        row += count * length
    return runs


def pool(h: torch.Tensor, lengths: list[int], tokens: bool | str) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return normalised means per sentence and, if asked for, normalised token vectors.

    `tokens` is True for those without the special ones at a sentence's ends, `"all"` for all of them.
    """
    import torch
    import torch.nn.functional as F

    blocks = [h[run.rows].view(run.sentences, run.tokens, -1) for run in runs_of(lengths)]
    means = F.normalize(torch.cat([block.mean(1) for block in blocks]), dim=-1).cpu().numpy()
    wanted = [block if tokens == "all" else block[:, 1:-1] for block in blocks] if tokens else []
    return means, [one for block in wanted for one in F.normalize(block, dim=-1).cpu().numpy()]
