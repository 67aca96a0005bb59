# A plain private module: edited directly, exported by no notebook, tested in tests/test_vectors.py.
"""The vectors of many sentences, each embedded once, and those that a checker may get with a pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from summeval_nb.evidence.check import PairVectors
from summeval_nb.models.store import Store, content_key
from summeval_nb.text.split import Reading


@dataclass
class SentenceVectors:
    """One row for each distinct sentence, and their token vectors where they were asked for."""

    number: dict[str, int]
    matrix: np.ndarray
    tokens: dict[str, np.ndarray]
    embedder: str

    def rows(self, readings: Iterable[Reading]) -> np.ndarray:
        """The vectors of these sentences as the checker reads them, shape (n, d)."""
        return self.of([reading.plain for reading in readings])

    def of(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of these texts, shape (n, d)."""
        return self.matrix[[self.number[text] for text in texts]]

    def pair(self, evidence: Sequence[str], claim: str) -> PairVectors | None:
        """What a checker takes for one pair, or None without token vectors."""
        if any(text not in self.tokens for text in (*evidence, claim)):
            return None
        return PairVectors(
            embedder=self.embedder,
            evidence=self.of(evidence),
            claim=self.matrix[self.number[claim]],
            evidence_tokens=[self.tokens[text] for text in evidence],
            claim_tokens=self.tokens[claim],
        )


def embed_sentences(texts: Iterable[str], embedder: Any, store: Store | None, *, for_checker: Any) -> SentenceVectors:
    """Embed each distinct sentence once, through the store where there is one; token vectors if the checker asks."""
    texts, want_tokens = list(dict.fromkeys(texts)), getattr(for_checker, "uses_vectors", False)
    keys = {text: content_key("embedding", embedder.fingerprint, text) for text in texts}
    known = store.get_many("embedding", list(keys.values())) if store else {}
    missing = [text for text in texts if keys[text] not in known]
    tokens: dict[str, np.ndarray] = {}
    fresh: Any = []
    if missing and want_tokens and embedder.has_tokens:
        fresh, listed = embedder.encode_with_tokens(missing)
        tokens = dict(zip(missing, listed, strict=True))
    elif missing:
        fresh = embedder.encode(missing)
    new = {keys[text]: vector for text, vector in zip(missing, fresh, strict=True)}
    if store and new:
        store.put_many("embedding", new)
    known = {**known, **new}
    matrix = np.stack([known[keys[text]] for text in texts]) if texts else np.zeros((0, 1))
    return SentenceVectors({text: i for i, text in enumerate(texts)}, matrix, tokens, embedder.fingerprint)
