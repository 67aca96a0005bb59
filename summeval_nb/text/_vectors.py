# A plain private module: edited directly, exported by no notebook, tested in tests/test_vectors.py.
"""The one cache of sentence vectors: each sentence embedded once, within a call or over many of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from os import PathLike

    from sentence_transformers import SentenceTransformer

    from summeval_nb.text.embed import Embedder

EmbedderOrName: TypeAlias = "Embedder | SentenceTransformer | str | PathLike[str]"  # what `load_embedder` takes
Known: TypeAlias = Mapping[str, tuple[np.ndarray, np.ndarray | None]]  # a sentence's vector, its tokens' or None


class Encoder(Protocol):
    """An embedder that says whether it has vectors of tokens, as those of `load_embedder` do."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def has_tokens(self) -> bool: ...
    def encode(self, sentences: Sequence[str]) -> np.ndarray: ...
    def encode_with_tokens(self, sentences: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray] | None]: ...


class SentenceVectors:
    """The vectors of some sentences, each distinct one embedded once, and of their tokens where these are wanted.

    `known` holds what was embedded before and is not embedded again; `fresh` lists the other sentences.
    """

    def __init__(self, embedder: Encoder, texts: Iterable[str], *, tokens: bool = True, known: Known | None = None):
        distinct, before = list(dict.fromkeys(texts)), known or {}
        self.embedder = str(embedder.fingerprint)
        self.fresh = [text for text in distinct if text not in before]
        self.known = {text: before[text] for text in distinct if text in before}
        if self.fresh:
            listed: Sequence[np.ndarray | None] = [None] * len(self.fresh)
            if tokens and embedder.has_tokens:
                vectors, given = embedder.encode_with_tokens(self.fresh)
                listed = listed if given is None else given
            else:
                vectors = embedder.encode(self.fresh)
            self.known |= dict(zip(self.fresh, zip(vectors, listed, strict=True), strict=True))

    def of(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of these texts, shape (n, d)."""
        return np.stack([self.known[text][0] for text in texts]) if texts else np.zeros((0, 1))

    def tokens_of(self, texts: Sequence[str]) -> list[np.ndarray] | None:
        """The token vectors of these texts, or None if one of them has none."""
        found = [tokens for _, tokens in (self.known[text] for text in texts) if tokens is not None]
        return found if len(found) == len(texts) else None


class RememberingEmbedder:
    """An embedder that keeps the vectors of the sentences it has seen, up to `most` of them."""

    def __init__(self, inner: Encoder, most: int = 4096):
        self.inner, self.fingerprint, self.has_tokens = inner, inner.fingerprint, inner.has_tokens
        self._most, self._kept = most, dict[str, tuple[np.ndarray, np.ndarray | None]]()

    def encode(self, sentences: Sequence[str]) -> np.ndarray:
        """Sentence vectors, as the embedder gives them."""
        return self._held(sentences).of(sentences)

    def encode_with_tokens(self, sentences: Sequence[str]) -> tuple[np.ndarray, list[np.ndarray] | None]:
        """Sentence and token vectors; only sentences not kept are embedded."""
        held = self._held(sentences)
        return held.of(sentences), held.tokens_of(sentences)

    def _held(self, sentences: Sequence[str]) -> SentenceVectors:
        held = SentenceVectors(self.inner, sentences, known=self._kept)
        self._kept.update(held.known)
        for text in list(self._kept)[: max(0, len(self._kept) - self._most)]:
            del self._kept[text]
        return held
