"""How the reader's weights are packed: what training changed, in eight bits; and a second course as a difference.

`summeval_nb.evidence.reader` reads them back.
"""

from __future__ import annotations

import io

import numpy as np
import torch

from summeval_nb.evidence.reader import TAUGHT, Network, digest, in_eight_bits, load_minilm, unpacked
from summeval_nb.text.minilm import minilm_files


def packed(network: Network) -> bytes:
    """Return what training changed as a compressed npz: eight-bit differences with one scale a row."""
    start = Network()
    load_minilm(start, minilm_files()[1])
    before = start.state_dict()
    arrays: dict[str, np.ndarray] = {}
    for name, value in network.state_dict().items():
        if not name.startswith(TAUGHT):
            continue
        new = value.float() - before[name] if name.startswith("upper") else value.float()
        if name.endswith("weight") and new.ndim == 2 and new.numel() > 10_000:
            in_eight_bits(arrays, name, new)
        else:
            arrays[name] = new.numpy()
    return _compressed(arrays)


RANK = 32  # of what the second course changed in each weight matrix


def packed_difference(content: bytes, second: Network) -> bytes:
    """Return what leads from packed weights to another network as a compressed npz, matrices as products of rank 32.

    Both factors are eight-bit numbers with one scale a column or row: an adapter of low rank (Hu et al. 2021), found
    afterwards by the singular value decomposition.
    """
    before, arrays = unpacked(content).state_dict(), {"of": digest(content)}
    for name, value in second.state_dict().items():
        if not name.startswith(TAUGHT):
            continue
        change = value.float() - before[name].float()
        if change.ndim == 2 and change.numel() > 10_000:
            left, strength, right = torch.linalg.svd(change, full_matrices=False)
            root = strength[:RANK].sqrt()
            for side, factor in (("left", (left[:, :RANK] * root).T), ("right", root[:, None] * right[:RANK])):
                in_eight_bits(arrays, f"{name}:{side}", factor)
        else:
            arrays[name] = change.numpy()
    return _compressed(arrays)


def _compressed(arrays: dict[str, np.ndarray]) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
    return out.getvalue()
