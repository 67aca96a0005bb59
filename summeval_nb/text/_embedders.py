# A plain private module: edited directly, exported by no notebook, tested in tests/test_embed.py.
"""What every embedder has in common, equal sentences once and in lots; and an adapter for any object that embeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from summeval_nb.ground.base import require_count
from summeval_nb.text._lots import Passed, encodable, in_lots, require_source, require_vectors

if TYPE_CHECKING:
    from summeval_nb.text.embed import Embedder

__all__ = ["LotEmbedder", "ObjectEmbedder"]


class LotEmbedder:
    """The common part of all embedders: equal sentences once, in lots, in order again.

    `has_tokens` says whether `encode_tokens` and `encode_with_tokens` work, `dimension`
    is d. A subclass says how texts are prepared (`_prepare`) and how one lot is
    calculated (`_pass`). With `progress` a bar is drawn; other functions of the
    package, which draw their own, never ask for it.
    """

    has_tokens = True
    fingerprint: str
    dimension: int
    _budget: int | None = None

    def encode(self, sentences: Sequence[str], *, batch_size: int = 64, progress: bool = False) -> np.ndarray:
        """Return sentence vectors, (n, d) float32; no sentences give (0, d)."""
        return self._encode(sentences, batch_size, False, progress)[0]

    def encode_tokens(
        self, sentences: Sequence[str], *, batch_size: int = 64, progress: bool = False
    ) -> list[np.ndarray]:
        """Return each sentence's token vectors, without special tokens.

        A list of (t_i, d) float32 arrays, each row of length 1.
        """
        return self._encode(sentences, batch_size, True, progress)[1]

    def encode_with_tokens(
        self, sentences: Sequence[str], *, batch_size: int = 64, progress: bool = False
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return sentence and token vectors from one pass; equals share one array."""
        return self._encode(sentences, batch_size, True, progress)

    def _encode(self, sentences: object, batch_size: int, tokens: bool | str, progress: bool) -> Passed:
        texts = encodable(sentences)
        require_count(batch_size, "batch_size")
        if tokens and not self.has_tokens:
            raise ValueError(f"the embedder {self.fingerprint} gives no token vectors; use encode")
        place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        vectors, found = in_lots(self, list(place), batch_size, tokens, progress)
        order = [place[text] for text in texts]
        return vectors[order], [found[index] for index in order]

    def _prepare(self, texts: list[str]) -> tuple[list[Any], list[int]]:
        return list(texts), [len(text) for text in texts]

    def _pass(self, lot: list[Any], tokens: bool | str) -> Passed:
        raise NotImplementedError


class ObjectEmbedder(LotEmbedder):
    """Any object with `encode(sentences)` and `fingerprint`; what it gives is checked.

    If it has `encode_with_tokens` or `encode_tokens`, these are used and checked too.

    Parameters
    ----------
    source : object
        What does the work; it is handed lots of different sentences, shortest first.

    Raises
    ------
    TypeError
        If `encode` or `fingerprint` is missing.

    Examples
    --------
    >>> class Lengths:
    ...     fingerprint = "lengths-1"
    ...     def encode(self, sentences):
    ...         return [[len(sentence)] for sentence in sentences]
    >>> ObjectEmbedder(Lengths()).encode(["It rained.", "No."]).tolist()
    [[10.0], [3.0]]
    """

    def __init__(self, source: Embedder):
        self._source: Any = source  # what else it has is asked
        self.fingerprint = require_source(source)
        self._both = callable(getattr(source, "encode_with_tokens", None))
        self.has_tokens = self._both or callable(getattr(source, "encode_tokens", None))
        self._seen: int | None = None

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Size of the vectors; one probe is embedded if nothing has been yet."""
        return self._seen or self._pass(["a"], False)[0].shape[1]

    def _pass(self, lot: list[Any], tokens: bool | str) -> Passed:
        if tokens and self._both:
            values, found = self._source.encode_with_tokens(lot)
        else:
            values = self._source.encode(lot)
            found = self._source.encode_tokens(lot) if tokens else []
        vectors = require_vectors(values, len(lot), self.fingerprint, self._seen)
        self._seen = vectors.shape[1]
        if tokens and len(found) != len(lot):
            raise ValueError(f"the embedder {self.fingerprint} gave {len(found)} token arrays for {len(lot)} sentences")
        checked = [require_vectors(one, len(one), self.fingerprint) for one in found]
        return vectors, checked
