"""The checker that reads: words in their places, a small reader, and trees that weigh them. A plain module: edited
directly, tested in tests/test_reading.py.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from summeval_nb.evidence._differences import DIFFERENCES, Clash, compare, findings_of
from summeval_nb.evidence._trees import Forest
from summeval_nb.evidence.check import (
    FEATURES,
    PairVectors,
    Parts,
    _cosines,
    _fingerprint,
    _ranked_evidence,
    _require_pairs,
    _require_vectors,
    _vectors_of,
    find_unsupported,
    pair_features,
    platt_scaling,
    sigmoid,
    support_logit,
    take_apart,
)
from summeval_nb.ground.results import Finding, Verdict, require_option, require_share

__all__ = ["EmbeddedChecker"]

READER = ("near_entailed", "near_contradicted", "all_entailed", "all_contradicted", "worst_word", "wrong_words")
WORD_FEATURES = (*FEATURES, *(f"nearest_{name}" for name in FEATURES), *DIFFERENCES, "words_logit")
ALL_FEATURES = (*WORD_FEATURES, *READER)
Pair = tuple[Sequence[str], str]


class Looked(NamedTuple):
    """What the first storey sees of one pair: its features, what clashes, and the nearest two evidence sentences."""

    features: dict[str, float]
    clashes: list[Clash]
    nearest: tuple[int, int]


def look(claim: Parts, evidence: Sequence[Parts], vectors: PairVectors) -> Looked:
    """Return the features of one pair that need no reader; see `WORD_FEATURES`."""
    words, _ = pair_features(claim, evidence, vectors)
    differences, clashes, nearest = compare(claim, evidence, vectors, _cosines(vectors))
    place = nearest[0]
    one = PairVectors(
        vectors.embedder,
        vectors.evidence[[place]],
        vectors.claim,
        [vectors.evidence_tokens[place]],
        vectors.claim_tokens,
    )
    near, _ = pair_features(claim, [evidence[place]], one)
    features = {**words, **{f"nearest_{name}": value for name, value in near.items()}, **differences}
    return Looked(features | {"words_logit": support_logit(words)}, clashes, nearest)


def windows(evidence: Sequence[str], claim: str, nearest: tuple[int, int]) -> list[Pair]:
    """Return what the reader reads: the nearest two sentences, and all of them, the nearest first."""
    near = list(dict.fromkeys(nearest))
    others = [place for place in range(len(evidence)) if place not in near]
    return [([evidence[i] for i in near], claim), ([evidence[i] for i in [*near, *others]], claim)]


def _log_odds(probability: float) -> float:
    inside = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(inside / (1 - inside))


def reader_features(near: Any, every: Any) -> dict[str, float]:
    """Return the reader's six numbers from its readings of the two windows."""
    worst = [max(a[2], 0.0) for a in near.errors]
    return {
        "near_entailed": _log_odds(near.entailment),
        "near_contradicted": _log_odds(near.contradiction),
        "all_entailed": _log_odds(every.entailment),
        "all_contradicted": _log_odds(every.contradiction),
        "worst_word": _log_odds(max(worst, default=0.0)),
        "wrong_words": float(sum(worst)),
    }


@cache
def _asset(name: str) -> bytes:
    return resources.files("summeval_nb").joinpath(f"assets/{name}").read_bytes()


@cache
def fitted() -> dict[str, Any]:
    """Return what was measured and chosen when the trees were fitted: thresholds, calibration, figures."""
    return json.loads(_asset("reading.json").decode("utf-8"))


@cache
def forest() -> Forest:
    """Return the fitted trees."""
    with np.load(io.BytesIO(_asset("reading_trees.npz")), allow_pickle=False) as arrays:
        return Forest.from_arrays(fitted()["features"], arrays)


@cache
def _model_fingerprint() -> str:
    parts = [_fingerprint(1.0, 0.0), hashlib.sha256(_asset("reading_trees.npz")).hexdigest()]
    parts += [hashlib.sha256(_asset("antonyms.txt")).hexdigest(), json.dumps(fitted()["calibration"])]
    if reads():
        parts.append(hashlib.sha256(_asset("reader.npz")).hexdigest())
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def reads() -> bool:
    """Return whether the fitted trees ask the reader."""
    return any(name in READER for name in fitted()["features"])


_SETS = {"qags_cnndm": "QAGS", "summeval": "SummEval", "xsumfaith": "XSumFaith", "defacto": "DeFacto"}
_SETS |= {"summedits": "SummEdits", "written": "passages written for this"}


def promised() -> str:
    """Return what the default threshold promises, on which sets, and the share left unclear; "" if nothing is."""
    found = fitted().get("promise")
    if not found:
        return ""
    names = [_SETS.get(name, name) for name in found["sets"] if name != "edits"]
    edits = ", some with one fact changed by a rule" if "edits" in found["sets"] else ""
    return (
        f"Of the sentences called supported at most {found['risk']:.0%} are not, with {found['confidence']:.0%} "
        f"confidence, on texts like those of {', '.join(names[:-1])} and {names[-1]} taken together "
        f"({found['sentences']:,} sentences{edits}; {found['errors']:,} errors in {found['articles']:,} articles); "
        f"{found['unclear']:.0%} of those sentences were left unclear."
    )


def _mixed(features: Mapping[str, float], tree: float, added: np.ndarray) -> tuple[float, dict[str, float]]:
    """Return the logit, trees and words together, and what each feature moved it by from where all claims start."""
    how = fitted()["calibration"]
    logit = how["tree"] * tree + how["words"] * features["words_logit"] + how["offset"]
    moved = dict(zip(forest().names, (how["tree"] * added).tolist(), strict=True))
    moved["words_logit"] += how["words"] * (features["words_logit"] - how["words_mean"])
    return logit, {name: value for name, value in moved.items() if abs(value) >= 0.005}


class EmbeddedChecker:
    """The checker that comes with the package: it compares words in their places and reads; no download.

    Parameters
    ----------
    threshold : float, optional
        From this probability on a sentence is supported, unless a finding clashes. By default the one that keeps
        the package's promise, see Notes.
    contradicted_below : float, optional
        Below this probability a sentence in which something clashes with the evidence is contradicted.
    slope, offset : float
        A recalibration: the probability is `sigmoid(slope * logit + offset)`. Use `calibrate` to fit them.
    precision : {"float32", "bfloat16"}
        In what numbers the reader calculates. float32 gives the same verdict everywhere.

    Notes
    -----
    Fitted to sentences that people have judged and to true sentences in which rules have changed one fact. What it
    gets right on texts that it was not fitted to stands in `EmbeddedChecker.measured`, and in every report.

    Examples
    --------
    >>> verdict, = EmbeddedChecker().check_many([(["It rained in Oslo on Monday."], "It rained in Paris.")])
    >>> verdict.supported, [finding.text for finding in verdict.findings]
    (False, ['Paris'])
    """

    uses_vectors = True
    languages = ("en",)

    def __init__(
        self,
        *,
        threshold: float | None = None,
        contradicted_below: float | None = None,
        slope: float = 1.0,
        offset: float = 0.0,
        precision: str = "float32",
    ):
        chosen = fitted()["thresholds"]
        self.threshold = require_share(chosen["supported"] if threshold is None else threshold, "threshold")
        low = min(chosen["contradicted"], self.threshold) if contradicted_below is None else contradicted_below
        self.contradicted_below = require_share(low, "contradicted_below")
        if self.contradicted_below > self.threshold:
            raise ValueError(f"contradicted_below={low} is above threshold={self.threshold}: it must not be")
        self.slope, self.offset = float(slope), float(offset)
        if not (math.isfinite(self.offset) and math.isfinite(self.slope) and self.slope > 0):
            raise ValueError(f"slope must be positive and offset finite, not {slope} and {offset}")
        self.precision = require_option(precision, "precision", ["float32", "bfloat16"])
        marks = [_model_fingerprint()]
        marks += [f"{self.slope:.6g},{self.offset:.6g}"] if (self.slope, self.offset) != (1.0, 0.0) else []
        marks += [self.precision] if self.precision != "float32" else []
        self.fingerprint = "-".join(["embedded", *marks])

    def __repr__(self) -> str:
        return f"EmbeddedChecker(threshold={self.threshold}, slope={self.slope:.4g}, offset={self.offset:.4g})"

    @property
    def measured(self) -> dict[str, Any]:
        """What was measured on texts that the model was not fitted to."""
        return dict(fitted()["measured"])

    @property
    def judged_by(self) -> str:
        """For reports: who judged, how often it was right where that was measured, and what is promised."""
        chosen = fitted()["thresholds"]
        own = (self.slope, self.offset, self.threshold, self.contradicted_below)
        if own != (1.0, 0.0, chosen["supported"], chosen["contradicted"]):
            return "Judged by the embedded checker, set by you: what was measured and promised does not hold."
        found = fitted()["measured"]["package"]
        said = [
            f"Judged by the package's own checker. Of {found['n']} sentences that it was not fitted to, it called "
            f"{1 - found['false_found']:.0%} of the false and {found['true_passed']:.0%} of the true ones supported; "
            "read the unclear ones yourself.",
            promised(),
            "For a stronger judge: checker='nli:FOLDER' or 'llm:FOLDER'.",
        ]
        return " ".join(filter(None, said))

    def check_many(self, pairs: Sequence[Pair], *, vectors: Sequence[PairVectors] | None = None) -> list[Verdict]:
        """Return one verdict for each pair of (evidence sentences, summary sentence), in order.

        Parameters
        ----------
        pairs : sequence of (list of str, str)
            At least one evidence sentence each.
        vectors : sequence of PairVectors, optional
            One a pair. Used when they come from the packaged MiniLM, and made here otherwise: the
            probability is the same either way.

        Returns
        -------
        list of Verdict
            With evidence (indices into the pair's sentences, best first), findings, and `details`: the features,
            what each added to the logit (`contributions`), and the logit. A claim without a word gives a failed
            verdict.

        Raises
        ------
        TypeError, ValueError
            If a pair has another form, has no evidence, or its vectors do not fit it.
        """
        checked = _require_pairs(pairs)
        if vectors is not None:
            _require_vectors(vectors, checked)
        verdicts: list[Verdict] = []
        for start in range(0, len(checked), 256):
            lot = checked[start : start + 256]
            ready = _vectors_of(lot, None if vectors is None else vectors[start : start + 256])
            verdicts += self._check_lot(lot, ready)
        return verdicts

    def _check_lot(self, lot: Sequence[tuple[list[str], str]], vectors: Sequence[PairVectors]) -> list[Verdict]:
        claims = [take_apart(claim) for _, claim in lot]
        usable = [number for number, claim in enumerate(claims) if claim.keys]
        told = {number: [take_apart(text) for text in lot[number][0]] for number in usable}
        seen = {number: look(claims[number], told[number], vectors[number]) for number in usable}
        rows = {number: dict(seen[number].features) for number in usable}
        readings = self._readings(lot, seen) if reads() else {}
        for number, pair in readings.items():
            rows[number] |= reader_features(*pair)
        names = forest().names
        table = np.array([[rows[number][name] for name in names] for number in usable]).reshape(len(usable), len(names))
        logits, added = forest().contributions(table)
        place = {number: row for row, number in enumerate(usable)}
        verdicts = []
        for number in range(len(lot)):
            ranked = _ranked_evidence(vectors[number])
            if number not in place:
                reason = "the sentence holds no word that could be checked"
                verdicts.append(self._verdict(None, failed=True, reason=reason, evidence=ranked))
                continue
            logit, moved = _mixed(rows[number], float(logits[place[number]]), added[place[number]])
            details = {"features": rows[number], "contributions": moved, "logit": logit}
            if number in readings:
                near = readings[number][0]
                details["reader"] = {
                    label: getattr(near, label) for label in ("entailment", "neutral", "contradiction")
                }
            verdicts.append(
                self._verdict(
                    sigmoid(self.slope * logit + self.offset),
                    evidence=ranked,
                    findings=_findings(claims[number], told[number], seen[number].clashes),
                    details=details,
                )
            )
        return verdicts

    def _readings(self, lot: Sequence[tuple[list[str], str]], seen: Mapping[int, Looked]) -> dict[int, tuple[Any, Any]]:
        """Return for each pair what the reader makes of the nearest two sentences and of all."""
        from summeval_nb.evidence._reader import load_reader

        pairs = [pair for number, one in seen.items() for pair in windows(*lot[number], one.nearest)]
        found = load_reader(self.precision).read(pairs) if pairs else []
        return {number: (found[2 * i], found[2 * i + 1]) for i, number in enumerate(seen)}

    def contradicted_below_of(self, findings: Sequence[Finding]) -> float:
        """Return below which probability a sentence with these findings is contradicted: 0, never, if nothing clashes.

        A low probability alone says that the sentence was not found in the evidence, not that the evidence says
        otherwise: an honest paraphrase in new words has one too.
        """
        return self.contradicted_below if any(one.clash for one in findings) else 0.0

    def _verdict(self, probability: float | None, **parts: Any) -> Verdict:
        low = self.contradicted_below_of(parts.get("findings", ()))
        return Verdict(probability=probability, threshold=self.threshold, contradicted_below=low, **parts)

    def with_threshold(self, threshold: float) -> EmbeddedChecker:
        """Return the same checker with another threshold; nothing is called contradicted that would be supported."""
        return EmbeddedChecker(
            threshold=threshold,
            contradicted_below=min(self.contradicted_below, require_share(threshold, "threshold")),
            slope=self.slope,
            offset=self.offset,
            precision=self.precision,
        )

    def calibrate(self, scores: Sequence[float] | np.ndarray, labels: Sequence[float] | np.ndarray) -> EmbeddedChecker:
        """Return a new checker whose probabilities are fitted to your own labels; the ranking stays as it is.

        Parameters
        ----------
        scores : sequence of float
            Probabilities that *this* checker gave: `[verdict.probability for verdict in verdicts]`.
        labels : sequence of 0 and 1
            What people said of the same sentences: 1 for supported. Both must occur.

        Returns
        -------
        EmbeddedChecker
            With the same thresholds, and slope and offset from Platt scaling.

        Raises
        ------
        ValueError
            If lengths differ, one of the labels never occurs, or the labels run against the scores.
        """
        slope, offset = platt_scaling(scores, labels)
        if slope <= 0:
            raise ValueError(f"these labels run against the scores (slope {slope:.3g}): check that 1 means supported")
        return EmbeddedChecker(
            threshold=self.threshold,
            contradicted_below=self.contradicted_below,
            slope=slope * self.slope,
            offset=slope * self.offset + offset,
            precision=self.precision,
        )


def _findings(claim: Parts, evidence: Sequence[Parts], clashes: Sequence[Clash]) -> list[Finding]:
    """Return the clashes, and the words that the evidence does not hold, in order; one finding a passage."""
    found = findings_of(claim, clashes)
    taken = {(one.start, one.end) for one in found}
    words = [one for one in find_unsupported(claim, evidence) if one.kind == "word"]
    return sorted([*found, *(one for one in words if (one.start, one.end) not in taken)], key=lambda one: one.start)
