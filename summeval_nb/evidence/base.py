"""What all checkers share: the protocol, pairs and their vectors, Platt scaling, and pairs judged in batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np

from summeval_nb.core.base import (
    JsonDict,
    Stages,
    float_array,
    is_finite,
    require_share,
    require_text,
    require_texts,
    steps,
)
from summeval_nb.core.results import Evidence, Verdict
from summeval_nb.evidence.measured import fitted
from summeval_nb.text.embed import BatchEmbedder, SentenceVectors, load_embedder
from summeval_nb.text.language import reads
from summeval_nb.text.similarity import topk_related

__all__ = [
    "Checker",
    "Packaged",
    "Pair",
    "PairVectors",
    "cosines",
    "encode_pairs",
    "nearest_evidence",
    "platt_scaling",
    "ranked_evidence",
]

Pair = tuple[Sequence[str], str]  # evidence sentences, summary sentence
Numbers = Sequence[float] | np.ndarray
_BATCH = 256  # pairs that are judged together
_NO_PAIRS_FAULT = (ImportError, MemoryError, OSError)  # of the machine and its packages: whoever calls must know


@runtime_checkable
class Checker(Protocol):
    """What a checker must offer: a fingerprint, a threshold, and `check_many`.

    `fingerprint` names everything that could change a probability, `threshold` turns
    probabilities into yes and no, and `check_many` takes pairs of (evidence sentences,
    summary sentence) and returns one `Verdict` a pair, in order. A checker whose
    attribute `uses_vectors` is true may be handed `vectors`, one `PairVectors` a pair;
    it uses them only when they come from the embedder that it needs. Its attribute
    `languages`, codes such as `("en",)`, says what it can read; without it, or with
    None, it is trusted with any.
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
    """
    if not similarities.size:
        return []
    (order,) = topk_related(similarities[None], similarities.size if k is None else k).tolist()
    return [Evidence(position, float(similarities[position])) for position in order]


def cosines(vectors: PairVectors) -> np.ndarray:
    """The cosine of the claim's vector with each evidence sentence's, shape (m,); a zero vector has 0."""
    return vectors.cosines()


def ranked_evidence(vectors: PairVectors) -> list[Evidence]:
    """The pair's evidence with its cosines, best first, ties by position."""
    return nearest_evidence(cosines(vectors))


def _require_pairs(pairs: object) -> list[tuple[list[str], str]]:
    """The pairs with their types checked; a message names the pair that is wrong."""
    wanted = "(evidence sentences, summary sentence)"
    if isinstance(pairs, (str, bytes, Mapping)) or not isinstance(pairs, Iterable):
        raise TypeError(f"pairs must be a list of {wanted}, not {type(pairs).__name__}")
    checked = []
    for index, pair in enumerate(pairs):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"pairs[{index}] must be {wanted}, not {pair!r:.60}")
        evidence = require_texts(pair[0], f"pairs[{index}][0]")
        if not evidence:
            remedy = "leave the pair out, nothing can be checked"
            raise ValueError(f"pairs[{index}] has no evidence sentence: {remedy}")
        checked.append((evidence, require_text(pair[1], f"pairs[{index}][1]")))
    return checked


def _require_vectors(vectors: Sequence[PairVectors], pairs: Sequence[Pair]) -> None:
    """Raise unless each pair has one `PairVectors` with as many vectors and token lists as evidence sentences."""
    if len(vectors) != len(pairs):
        raise ValueError(f"{len(vectors)} vectors for {len(pairs)} pairs: pass one PairVectors a pair")
    for index, (own, (evidence, _)) in enumerate(zip(vectors, pairs, strict=True)):
        if not len(own.evidence) == len(own.evidence_tokens) == len(evidence):
            counts = f"{len(own.evidence)} vectors and {len(own.evidence_tokens)} lists of token vectors"
            raise ValueError(f"vectors[{index}] has {counts} for {len(evidence)} evidence sentences")


def require_labelled(probabilities: Numbers, labels: Numbers) -> tuple[np.ndarray, np.ndarray]:
    """Both as float arrays of one length, probabilities in [0, 1] and labels 0 or 1; raise otherwise."""
    try:
        values, truth = float_array(probabilities, "probabilities"), float_array(labels, "labels")
    except (TypeError, ValueError) as error:
        remedy = "leave out failed verdicts, whose probability is None, together with their labels"
        raise TypeError(f"probabilities and labels must be lists of numbers ({error}): {remedy}") from error
    if values.ndim != 1 or values.shape != truth.shape:
        raise ValueError(f"one label for each probability, please: got shapes {values.shape} and {truth.shape}")
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("probabilities must lie in [0, 1]; leave out failed verdicts together with their labels")
    if not np.isin(truth, (0, 1)).all():
        raise ValueError(f"labels must be 0 or 1, not {sorted(set(truth[~np.isin(truth, (0, 1))].tolist()))[:3]}")
    return values, truth


def logits_of(probabilities: np.ndarray) -> np.ndarray:
    """log(p / (1 - p)); 0 and 1 are taken as 1e-6 away from the border."""
    inside = np.clip(probabilities, 1e-6, 1 - 1e-6)
    return np.log(inside / (1 - inside))


def logistic_fit(logits: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    """The slope and offset whose logistic function of the logits has the least cross-entropy with the targets."""
    from scipy.optimize import minimize

    def loss(ab: np.ndarray) -> tuple[float, np.ndarray]:
        z = ab[0] * logits + ab[1]
        residual = 1 / (1 + np.exp(-np.clip(z, -500, 500))) - target
        gradient = np.array([np.mean(residual * logits), np.mean(residual)])
        return float(np.mean(np.logaddexp(0, z) - target * z)), gradient

    slope, offset = minimize(loss, np.array([1.0, 0.0]), jac=True, method="BFGS", options={"gtol": 1e-8}).x
    return float(slope), float(offset)


def platt_scaling(probabilities: Numbers, labels: Numbers) -> tuple[float, float]:
    """Return the slope and offset with which probabilities agree best with labels.

    The new probability is `sigmoid(slope * logit(p) + offset)`.

    Parameters
    ----------
    probabilities : sequence of float
        In [0, 1]; 0 and 1 are taken as 1e-6 away from the border.
    labels : sequence of 0 and 1
        Both must occur.

    Returns
    -------
    slope, offset : float
        A slope of at most 0 says that the labels run against the probabilities.

    References
    ----------
    Platt (1999), "Probabilistic Outputs for Support Vector Machines", with its smoothed
    targets.

    Examples
    --------
    >>> slope, offset = platt_scaling([0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0])
    >>> 0 < slope < 1  # four labels promise no certainty
    True
    """
    values, truth = require_labelled(probabilities, labels)
    positive, negative = int(truth.sum()), int((1 - truth).sum())
    if not positive or not negative:
        counts = f"got {positive} times 1 and {negative} times 0"
        raise ValueError(f"calibration needs labels of both kinds, {counts}")
    target = np.where(truth == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
    return logistic_fit(logits_of(values), target)


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


class Packaged:
    """Pairs looked at and judged in batches, with vectors of the embedder that the weights were fitted with, MiniLM."""

    uses_vectors, languages = True, ("en",)
    by_words = True  # so the cells of a table are looked up in the article

    def __init__(self, *, threshold: float, slope: float, offset: float):
        self.threshold = require_share(threshold, "threshold")
        if not (is_finite(offset) and is_finite(slope) and slope > 0):
            raise ValueError(f"slope must be positive and offset finite, not {slope} and {offset}")
        self.slope, self.offset = float(slope), float(offset)

    def __repr__(self) -> str:
        level = f"slope={self.slope:.4g}, offset={self.offset:.4g}"
        return f"{type(self).__name__}(threshold={self.threshold}, {level}, {reads(self)})"

    def _encode(self, batch: Sequence[Pair]) -> Sequence[PairVectors]:
        return encode_pairs(batch, load_embedder("minilm"))

    def _check_batch(self, batch: Sequence[tuple[list[str], str]], vectors: Sequence[PairVectors]) -> list[Verdict]:
        raise NotImplementedError

    def _settings(self) -> JsonDict:
        return {"threshold": self.threshold, "slope": self.slope, "offset": self.offset}

    def _with(self, **changes: Any) -> Self:
        """A judge of the same kind with other settings."""
        return type(self)(**(self._settings() | changes))

    def calibrate(self, scores: Sequence[float] | np.ndarray, labels: Sequence[float] | np.ndarray) -> Self:
        """Return a new checker with probabilities fitted to your own labels.

        The ranking stays as it is.

        Parameters
        ----------
        scores : sequence of float
            Probabilities that *this* checker gave: `[verdict.probability for verdict in
            verdicts]`.
        labels : sequence of 0 and 1
            What people said of the same sentences: 1 for supported. Both must occur.

        Returns
        -------
        Checker
            Of the same kind, with the same thresholds, and slope and offset from Platt
            scaling.

        Raises
        ------
        ValueError
            If lengths differ, one of the labels never occurs, or the labels run against
            the scores.
        """
        slope, offset = platt_scaling(scores, labels)
        if slope <= 0:
            why = f"these labels run against the scores (slope {slope:.3g})"
            raise ValueError(f"{why}: check that 1 means supported")
        return self._with(slope=slope * self.slope, offset=slope * self.offset + offset)

    def _wordless(self, evidence: list[Evidence]) -> Verdict:
        """The verdict on a sentence in which nothing can be compared: failed, with the reason."""
        why = "the sentence holds no word that could be checked"
        return Verdict(probability=None, failed=True, reason=why, threshold=self.threshold, evidence=evidence)

    def check_many(self, pairs: Sequence[Pair], *, vectors: Sequence[PairVectors] | None = None) -> list[Verdict]:
        """Return one verdict for each pair (evidence sentences, sentence), in order.

        Parameters
        ----------
        pairs : sequence of (list of str, str)
            At least one evidence sentence each.
        vectors : sequence of PairVectors, optional
            One a pair. Used when they come from the packaged MiniLM, and made here
            otherwise: the probability is the same either way.

        Returns
        -------
        list of Verdict
            With evidence (indices into the pair's sentences, best first), findings, and
            `details`: the numbers that it looks at, their sum, and what else the checker has to say. A claim
            without a word gives a failed verdict, and so does a pair on which judging
            goes wrong: the reason has the error.

        Raises
        ------
        TypeError, ValueError
            If a pair has another form, has no evidence, or its vectors do not fit it.
        """
        checked = _require_pairs(pairs)
        if vectors is not None:
            _require_vectors(vectors, checked)
        verdicts: list[Verdict] = []
        for start in steps(range(0, len(checked), _BATCH)):
            batch = checked[start : start + _BATCH]
            given = None if vectors is None else vectors[start : start + _BATCH]
            stage = Stages(encode=1, judge=2)
            if given is None or any(held.embedder != fitted()["embedder"] for held in given):
                with stage("encode"):
                    given = self._encode(batch)
            with stage("judge"):
                verdicts += self._check_each(batch, given)
        return verdicts

    def _check_each(self, batch: Sequence[tuple[list[str], str]], vectors: Sequence[PairVectors]) -> list[Verdict]:
        """The verdicts of a batch; a pair on which judging raises has failed, with the reason, and no other has."""
        try:
            return self._check_batch(batch, vectors)
        except _NO_PAIRS_FAULT:
            raise
        except Exception as error:
            if len(batch) == 1:
                return [failure(error, self.threshold)]
        alone = zip(batch, vectors, strict=True)
        return [verdict for pair, own in alone for verdict in self._check_each([pair], [own])]
