"""The parts that all checkers share: the protocol, pairs and their vectors, the nearest evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from summeval_nb.core.results import Evidence, Verdict
from summeval_nb.text.embed import BatchEmbedder, SentenceVectors
from summeval_nb.text.similarity import topk_related

__all__ = ["Checker", "Pair", "PairVectors", "encode_pairs", "nearest_evidence"]

Pair = tuple[Sequence[str], str]  # evidence sentences, summary sentence


@runtime_checkable
class Checker(Protocol):
    """The protocol of a checker: a fingerprint, a threshold, and `check_many`.

    `fingerprint` names everything that could change a probability, `threshold` turns probabilities into yes and no, and
    `check_many` takes pairs of (evidence sentences, summary sentence) and returns one `Verdict` a pair, in order. A
    checker whose attribute `uses_vectors` is true may be handed `vectors`, one `PairVectors` a pair; it uses them only
    when they come from the embedder that it needs. Its attribute `languages`, codes such as `("en",)`, says what it can
    read; without it, or with None, it is trusted with any.
    """

    if TYPE_CHECKING:  # either a property or an attribute will do

        @property
        def fingerprint(self) -> str: ...

        @property
        def threshold(self) -> float: ...

    else:
        fingerprint: str
        threshold: float

    def check_many(self, pairs: Sequence[Pair], *, vectors: Sequence[PairVectors] | None = None) -> list[Verdict]:
        """Return one verdict for each pair (evidence sentences, sentence), in order."""


@dataclass(frozen=True, slots=True, eq=False)
class PairVectors:
    """The vectors of one pair of evidence and claim, so that nothing is encoded twice.

    Parameters
    ----------
    embedder : str
        Fingerprint of the embedder that made them.
    evidence : ndarray, shape (m, d)
        One vector for each evidence sentence.
    claim : ndarray, shape (d,)
        The summary sentence's vector.
    evidence_tokens : sequence of m ndarrays, shape (t_i, d)
        Token vectors of each evidence sentence, length one, without special tokens.
    claim_tokens : ndarray, shape (t, d)
        Token vectors of the summary sentence.
    """

    embedder: str
    evidence: np.ndarray
    claim: np.ndarray
    evidence_tokens: Sequence[np.ndarray]
    claim_tokens: np.ndarray

    @classmethod
    def of(cls, held: SentenceVectors, evidence: Sequence[str], claim: str) -> PairVectors | None:
        """Return a pair's vectors from held ones; None if one lacks token vectors."""
        tokens = held.tokens_of([*evidence, claim])
        if tokens is None:
            return None
        *vectors, last = held.of([*evidence, claim])
        return cls(held.embedder, np.asarray(vectors), last, tokens[:-1], tokens[-1])

    def cosines(self) -> np.ndarray:
        """Return the cosine of the claim's vector with each evidence sentence's, shape (m,); a zero vector has 0."""
        norms = np.linalg.norm(self.evidence, axis=1) * np.linalg.norm(self.claim)
        return np.divide(self.evidence @ self.claim, norms, out=np.zeros(len(norms)), where=norms > 0)


def encode_pairs(pairs: Sequence[Pair], embedder: BatchEmbedder) -> list[PairVectors]:
    """Return the vectors of pairs, each distinct sentence encoded once."""
    texts = (text for evidence, claim in pairs for text in (*evidence, claim))
    held = SentenceVectors(embedder, texts)
    found = (PairVectors.of(held, *pair) for pair in pairs)
    return [vectors for vectors in found if vectors is not None]


def nearest_evidence(similarities: np.ndarray, k: int | None = None) -> list[Evidence]:
    """Return the k sentences most similar to one that is judged, best first, ties by position; None: all of them.

    `similarities`, shape (M,), are those of the judged sentence with each sentence of the text.

    Examples
    --------
    >>> nearest_evidence(np.array([0.25, 0.75, 0.5]), k=2)
    [Evidence(index=1, similarity=0.75), Evidence(index=2, similarity=0.5)]
    """
    if not similarities.size:
        return []
    (order,) = topk_related(similarities[None], similarities.size if k is None else k).tolist()
    return [Evidence(position, float(similarities[position])) for position in order]


def failure(error: Exception, threshold: float) -> Verdict:
    """The verdict on a sentence that could not be judged, with the reason."""
    return Verdict(probability=None, threshold=threshold, failed=True, reason=f"{type(error).__name__}: {error}")


def of_samples(verdicts: Sequence[Verdict], threshold: float) -> Verdict:
    """The verdict that several samples give together: the share of them that is supported, or the first failure.

    Where none says yes or no, it is unclear.
    """
    for verdict in verdicts:
        if verdict.failed:
            return replace(verdict, threshold=threshold)
    against = [verdict.findings for verdict in verdicts if not verdict.supported]
    count, all_of_them = len(verdicts) - len(against), len(verdicts)
    if all(verdict.hard == "unclear" for verdict in verdicts):
        return replace(verdicts[0], threshold=threshold)
    return Verdict(
        probability=count / all_of_them,
        threshold=threshold,
        findings=against[0] if against else (),
        details={"samples": all_of_them, "note": f"supported in {count} of {all_of_them} samples"},
    )
