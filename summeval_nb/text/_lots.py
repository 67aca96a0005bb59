# A plain private module. Edited directly: no notebook exports it; tested in tests/test_lots.py.
"""Many texts through a network: in lots, with a bounded number of threads, and checked on the way in and out."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from summeval_nb.ground.base import require_count, require_texts

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def encodable(sentences: object) -> list[str]:
    """Check sentences; lone surrogates, which no tokenizer takes, become U+FFFD."""
    return [
        text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        for text in require_texts(sentences, "sentences")
    ]


def warn_cut(cut: int, total: int, limit: int) -> None:
    """Warn that sentences were cut to the model's limit."""
    if cut:
        message = f"{cut} of {total} sentences exceed the model's {limit} tokens: only their start is embedded"
        warnings.warn(message + "; split the text into shorter units first", stacklevel=2)


def token_ids(tokenizer: Tokenizer, texts: list[str], limit: int) -> list[list[int]]:
    """Return the token numbers of each text, at most `limit`, the closing special token kept."""
    ids = [encoding.ids for encoding in tokenizer.encode_batch_fast(texts)]
    warn_cut(sum(len(one) > limit for one in ids), len(ids), limit)
    return [one if len(one) <= limit else [*one[: limit - 1], one[-1]] for one in ids]


def lots_of(lengths: Sequence[int], batch_size: int, budget: int | None) -> Iterator[list[int]]:
    """Yield positions, shortest first, in lots of at most `batch_size` sentences and `budget` tokens (never none)."""
    lot: list[int] = []
    used = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if lot and (len(lot) == batch_size or (budget is not None and used + lengths[index] > budget)):
            yield lot
            lot, used = [], 0
        lot.append(index)
        used += lengths[index]
    if lot:
        yield lot


def thread_count(n_threads: int | None) -> int | None:
    """Return a number of threads, checked; None leaves the choice to `threads`."""
    return None if n_threads is None else require_count(n_threads, "n_threads")


@contextmanager
def threads(n_threads: int | None) -> Iterator[int]:
    """Use `n_threads` in torch inside the block (None: OMP_NUM_THREADS, or else half of the cores), then restore."""
    import torch

    before = torch.get_num_threads()
    default = before if os.environ.get("OMP_NUM_THREADS") else max(1, before // 2)
    torch.set_num_threads(default if n_threads is None else n_threads)
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


Passed: TypeAlias = tuple[np.ndarray, list[np.ndarray]]  # the vectors of a lot's sentences, and those of their tokens


class Passes(Protocol):
    """What an embedder of lots can do: prepare texts, and send one lot through its network."""

    _budget: int | None

    @property
    def dimension(self) -> int: ...
    def _prepare(self, texts: list[str]) -> tuple[list[Any], list[int]]: ...
    def _pass(self, lot: list[Any], tokens: bool | str) -> Passed: ...


def in_lots(
    embedder: Passes, texts: list[str], batch_size: int, tokens: bool | str, progress: bool
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Embed different texts lot by lot, in the order of the texts; without `tokens` the token vectors are empty."""
    from tqdm.auto import tqdm

    items, lengths = embedder._prepare(texts)
    vectors: np.ndarray | None = None
    token_vectors = [np.empty((0, 0), dtype=np.float32)] * len(items)
    with tqdm(total=len(items), desc="embedding", unit="sentence", disable=not progress) as bar:
        for lot in lots_of(lengths, batch_size, embedder._budget):
            lot_vectors, lot_tokens = embedder._pass([items[index] for index in lot], tokens)
            if vectors is None:
                vectors = np.empty((len(items), lot_vectors.shape[1]), dtype=np.float32)
            vectors[lot] = lot_vectors
            for index, one in zip(lot, lot_tokens, strict=False):
                token_vectors[index] = one
            bar.update(len(lot))
    return np.empty((0, embedder.dimension), dtype=np.float32) if vectors is None else vectors, token_vectors


def require_source(source: object) -> str:
    """Return the fingerprint of an object that embeds; raise if it is no such object or has none."""
    if isinstance(source, type) or not callable(getattr(source, "encode", None)):
        own = f"the class {source.__name__}: pass an instance" if isinstance(source, type) else ""
        kind = own or type(source).__name__
        raise TypeError(f"embedder must be a name, a folder or an object with encode(sentences), not {kind}")
    mark = getattr(source, "fingerprint", None)
    if not isinstance(mark, str) or not mark:
        raise TypeError(
            "an embedder needs a fingerprint, a text that changes whenever its vectors may change; "
            f"{type(source).__name__} has {mark!r}: add one, such as fingerprint = 'my-model-1'"
        )
    return mark


def require_vectors(values: object, count: int, name: str, dimension: int | None = None) -> np.ndarray:
    """Return `values` as a finite (count, d) float32 array; otherwise raise, naming the embedder and what it gave."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"the embedder {name} gave {array.dtype} values; encode must return real numbers")
    shape = array.shape
    if array.ndim != 2 or len(array) != count or shape[1] != (dimension or shape[1]) or not shape[1]:
        expected = f"({count}, {dimension or 'd'})"
        raise ValueError(f"the embedder {name} gave an array of shape {shape} for {count} sentences: not {expected}")
    with np.errstate(over="ignore"):
        vectors = array.astype(np.float32)
    if not np.isfinite(vectors).all():
        bad = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        raise ValueError(f"the embedder {name} gave NaN or infinity (first in vector {bad} of its lot of {count})")
    return vectors
