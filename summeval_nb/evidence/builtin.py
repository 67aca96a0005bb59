"""The package's own checkers: the words checker of chapter 34 and the embedded checker of chapter 36."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from summeval_nb.core.base import (
    PACKAGE,
    JsonDict,
    Stages,
    float_array,
    is_finite,
    require_option,
    require_share,
    require_text,
    require_texts,
    steps,
)
from summeval_nb.core.files import read_asset
from summeval_nb.core.results import Evidence, Finding, Verdict
from summeval_nb.evidence.base import (
    Numbers,
    Pair,
    PairVectors,
    encode_pairs,
    failure,
    fitted_words,
    left_out_rows,
    nearest_evidence,
)
from summeval_nb.evidence.embedded import (
    LOGIT_CLIP,
    ParsedPair,
    Window,
    fitted,
    log_odds,
    pair_features,
    parse_pair,
    weighted,
    windows,
)
from summeval_nb.evidence.rules import Clash, exchanged_noun, findings_of
from summeval_nb.evidence.tokens import finding, known_keys, take_apart
from summeval_nb.evidence.words import idf_coverage, sigmoid, support_logit, word_features
from summeval_nb.text.embed import MiniLMEmbedder, load_embedder
from summeval_nb.text.language import reads

if TYPE_CHECKING:
    from summeval_nb.evidence.reader import Reading

__all__ = ["BuiltinChecker", "CarefulChecker", "EmbeddedChecker", "WordsChecker", "platt_scaling"]

_NO_PAIRS_FAULT = (ImportError, MemoryError, OSError)  # of the machine and its packages: whoever calls must know
_BATCH = 256  # pairs that are judged together


class BuiltinChecker:
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
            Probabilities that *this* checker gave: `[verdict.probability for verdict in verdicts]`.
        labels : sequence of 0 and 1
            What people said of the same sentences: 1 for supported. Both must occur.

        Returns
        -------
        Checker
            Of the same kind, with the same thresholds, and slope and offset from Platt scaling.

        Raises
        ------
        ValueError
            If lengths differ, one of the labels never occurs, or the labels run against the scores.
        """
        slope, offset = platt_scaling(scores, labels)
        if slope <= 0:
            raise ValueError(f"these labels run against the scores (slope {slope:.3g}): check that 1 means supported")
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
            One a pair. Used when they come from the packaged MiniLM, and made here otherwise: the probability is the
            same either way.

        Returns
        -------
        list of Verdict
            With evidence (indices into the pair's sentences, best first), findings, and `details`: the numbers that it
            looks at, their sum, and what else the checker has to say. A claim without a word gives a failed verdict,
            and so does a pair on which judging goes wrong: the reason has the error.

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
            if given is None or any(held.embedder != fitted_words()["embedder"] for held in given):
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
            raise ValueError(f"pairs[{index}] has no evidence sentence: leave the pair out, nothing can be checked")
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


class WordsChecker(BuiltinChecker):
    """The first checker: twelve features, weights fitted to human judgements.

    `checker="words"`. Every number can be recomputed by hand; nothing is downloaded. It compares words and does not
    read: see `EmbeddedChecker` for the one that does.

    Parameters
    ----------
    threshold : float
        In [0, 1]; a sentence is supported when its probability reaches it.
    slope, offset : float
        A recalibration: the probability is `sigmoid(slope * logit + offset)`. Use `guarantee_thresholds` to fit them.

    Notes
    -----
    Agreement with people (ROC-AUC of a summary's mean probability, all article
    sentences as evidence, the set left out of the fit): QAGS-CNN/DM .82, SummEval
    consistency .80, XSumFaith .81, DeFacto .81.

    The probability is calibrated on the pooled development data of `benchmarks/fit_checker.py`: news articles in
    English, and summaries by systems of 2015 to 2020. It means "of the development sentences that looked like this, so
    many were supported", and the threshold of .5 stands on that. The ranking travels to other texts, to a degree; the
    level does not: use `guarantee_thresholds` with labels of your own before you rely on the threshold.

    Examples
    --------
    >>> pair = ["It rained in Oslo on Monday."], "It rained in Paris."
    >>> verdict, = WordsChecker().check_many([pair])
    >>> [finding.text for finding in verdict.findings]
    ['Paris']
    """

    fitted_to = ("qags_cnndm", "summeval", "xsumfaith", "defacto")

    def __init__(self, *, threshold: float = 0.5, slope: float = 1.0, offset: float = 0.0):
        super().__init__(threshold=threshold, slope=slope, offset=offset)
        counts = read_asset("stem_counts.tsv.gz").decode("utf-8")
        parts = json.dumps([fitted_words(), counts, self.slope, self.offset], sort_keys=True)
        self.fingerprint = f"words-{hashlib.sha256(parts.encode('utf-8')).hexdigest()[:12]}"

    @property
    def judged_by(self) -> str:
        """For reports: who judged, and what it cannot see."""
        return (
            "Judged by comparing words, without reading: a false sentence in the "
            "article's own words passes often. The default, checker='embedded', reads."
        )

    def _check_batch(self, batch: Sequence[tuple[list[str], str]], vectors: Sequence[PairVectors]) -> list[Verdict]:
        return [self._verdict(*pair, own) for pair, own in zip(batch, vectors, strict=True)]

    def _verdict(self, evidence: list[str], sentence: str, vectors: PairVectors) -> Verdict:
        claim, ranked = take_apart(sentence), nearest_evidence(vectors.cosines())
        if not claim.keys:
            return self._wordless(ranked)
        told = [take_apart(text) for text in evidence]
        features, findings = word_features(claim, told, vectors)
        logit = support_logit(features)
        return Verdict(
            probability=sigmoid(self.slope * logit + self.offset),
            threshold=self.threshold,
            evidence=ranked,
            findings=findings,
            details={"features": features, "logit": logit},
        )


PRECISIONS = ("float32", "bfloat16")
MEASURED_K = 8  # sentences of evidence, in all that was measured
RULES = "14"  # part of the fingerprint: another number whenever a rule finds other clashes


class EmbeddedChecker(BuiltinChecker):
    """The package's own checker: ten numbers, some by a small reader; no download.

    Parameters
    ----------
    threshold : float, optional
        From this probability on a sentence is supported, unless a finding clashes. By default the one with the best
        balanced accuracy on left-out sets.
    slope, offset : float
        A recalibration: the probability is `sigmoid(slope * logit + offset)`. Use `guarantee_thresholds` to fit them.
    precision : {"float32", "bfloat16"}
        In what numbers the reader calculates. float32 gives the same verdict everywhere; bfloat16 is faster on
        processors that have it (AVX-512 with bf16) and on GPUs.
    device : str
        Where the reader calculates: "cpu", "cuda", "cuda:1", or another device that PyTorch knows by name. What is not
        "cpu", and another precision than float32, is part of the fingerprint.

    Raises
    ------
    TypeError, ValueError
        If a number is out of its range, a precision unknown, or a device not there.

    Notes
    -----
    Fitted to sentences that people have judged (the sets of `fitted_to`), to true
    sentences in which rules have changed one fact, and to written claims. What it gets
    right on sets that it had not seen is in `measured`, and on the page "How well does
    it work?".

    Examples
    --------
    >>> pair = (["It rained in Oslo on Monday."], "It rained in Paris.")
    >>> verdict, = EmbeddedChecker().check_many([pair])
    >>> verdict.state, [finding.text for finding in verdict.findings]
    ('contradicted', ['Paris'])
    """

    fitted_to = ("qags_cnndm", "summeval", "xsumfaith", "defacto", "summedits")
    name = "embedded"
    _doubts_nouns = True
    good_at = (
        "a quick first reader: it recognises four paraphrases in five, most changed numbers, and half the changed names"
    )

    def __init__(
        self,
        *,
        threshold: float | None = None,
        slope: float = 1.0,
        offset: float = 0.0,
        precision: str = "float32",
        device: str = "cpu",
    ):
        chosen = self._measured_threshold() if threshold is None else threshold
        super().__init__(threshold=chosen, slope=slope, offset=offset)
        self.precision = require_option(precision, "precision", PRECISIONS)
        self.device = require_text(device, "device")
        if self.device != "cpu":  # torch is imported only for these
            from summeval_nb.evidence.reader import found_device

            self.device = str(found_device(self.device))
        marks = ["embedded", _model_mark()]
        marks += [f"{self.slope:.6g},{self.offset:.6g}"] if (self.slope, self.offset) != (1.0, 0.0) else []
        marks += [self.precision] if self.precision != "float32" else []
        marks += [self.device.partition(":")[0]] if self.device != "cpu" else []  # one GPU is like the other
        self.fingerprint = "-".join(marks)

    def _settings(self) -> JsonDict:
        return super()._settings() | {"device": self.device, "precision": self.precision}

    def _measured_threshold(self) -> float:
        return float(fitted()["threshold"])

    @property
    def measured(self) -> list[JsonDict]:
        """Its measurements, a row for each labelled set, which it had not seen."""
        return left_out_rows(self.name)

    @property
    def judged_by(self) -> str:
        """For reports: who judged, and what it is good and bad at."""
        if (self.slope, self.offset, self.threshold) != (1.0, 0.0, self._measured_threshold()):
            return f"Judged by the {self.name} checker, set by you: what was measured of it does not hold."
        return f"Judged by the {self.name} checker, {self.good_at}."

    @property
    def measured_with(self) -> tuple[str, int]:
        """The embedder's fingerprint and the `k` that `measured` holds for."""
        return MiniLMEmbedder.fingerprint, MEASURED_K

    def contradicted_below_of(self, findings: Sequence[Finding]) -> float:
        """Return below which probability a sentence with these is contradicted.

        The threshold if something clashes, else 0: what clashes with nothing is open, and so is what the evidence
        leaves open itself.
        """
        clashes = [found for found in findings if found.clash and found.kind != "modality"]
        return self.threshold if clashes else 0.0

    def with_threshold(self, threshold: float) -> EmbeddedChecker:
        """Return the same checker with another threshold for supported."""
        return self._with(threshold=threshold)

    def _check_batch(self, batch: Sequence[tuple[list[str], str]], vectors: Sequence[PairVectors]) -> list[Verdict]:
        parsed = [parse_pair(*pair, own) for pair, own in zip(batch, vectors, strict=True)]
        asked = [windows(*pair, one.nearest) if one else [] for pair, one in zip(batch, parsed, strict=True)]
        distinct = list(dict.fromkeys([window for own in asked for window in own]))  # the same is read once
        read = dict(zip(distinct, self._read(distinct) if distinct else [], strict=True))
        readings = [[read[window] for window in own] for own in asked]
        return [self._verdict(*parts) for parts in zip(parsed, readings, vectors, strict=True)]

    def _read(self, asked: Sequence[Window]) -> list[Reading]:
        """What the network makes of evidence and claims: the one place where another network would be asked."""
        from summeval_nb.evidence.reader import load_reader

        return load_reader(self.precision, self.device).read(asked)

    def _verdict(self, pair: ParsedPair | None, read: Sequence[Reading], vectors: PairVectors) -> Verdict:
        evidence = nearest_evidence(vectors.cosines())
        if pair is None:
            return self._wordless(evidence)
        numbers = pair_features(pair, vectors, *read)
        changed = any(clash.in_place for clash in pair.clashes.found)
        terms = weighted(numbers, changed)
        logit, findings = sum(terms.values()), findings_in(pair)
        details: JsonDict = {"numbers": numbers, "terms": terms, "logit": logit}
        details["coverage"] = idf_coverage(pair.claim, pair.evidence)
        probability = sigmoid(self.slope * logit + self.offset)
        against = against_in(pair)
        if self._doubts_nouns and probability >= self.threshold and not any(found.clash for found in findings):
            token, instead = exchanged_noun(pair.claim, pair.evidence, pair.evidence[pair.nearest[0]]) or (None, "")
            if token and not _may_be_said(word := pair.claim.text[token.start : token.end], instead, probability):
                kept = [found for found in findings if found.start != token.start]
                doubted = finding(pair.claim, "word", token.start, token.end)._replace(clash=True)
                findings = sorted([*kept, doubted], key=itemgetter(2))
                against |= {word: instead}
        if against:
            details["against"] = against
        return Verdict(
            probability=probability,
            threshold=self.threshold,
            contradicted_below=self.contradicted_below_of(findings),
            evidence=evidence,
            findings=findings,
            details=details,
        )


class CarefulChecker(EmbeddedChecker):
    """The embedded checker with a second reader, MPNet, which is five times as large; `checker="careful"`.

    It needs the extra `careful`, 405 MB. What it says of the whole evidence is one more number beside the ten. A
    sentence takes several times as long.

    Parameters
    ----------
    threshold, slope, offset
        As for `EmbeddedChecker`.
    precision : {"float32", "bfloat16"}
        In what numbers both readers calculate.

    Raises
    ------
    ImportError
        If MPNet's weights are nowhere here.

    Examples
    --------
    >>> pair = (["Paris is the capital of France."], "Berlin is the capital of France.")
    >>> verdict, = CarefulChecker().check_many([pair])  # doctest: +SKIP
    """

    name = "careful"
    _doubts_nouns = False  # MPNet reads them
    good_at = "which reads short sentences well, and still misses many small changes in long ones"

    def __init__(
        self, *, threshold: float | None = None, slope: float = 1.0, offset: float = 0.0, precision: str = "float32"
    ):
        super().__init__(threshold=threshold, slope=slope, offset=offset, precision=precision)
        mark = hashlib.sha256(read_asset("careful.json")).hexdigest()[:12]  # it holds the weights' checksum
        self.fingerprint = f"careful-{mark}-{self.fingerprint}"

    def _settings(self) -> JsonDict:
        return {name: value for name, value in super()._settings().items() if name != "device"}

    def _measured_threshold(self) -> float:
        return float(json.loads(read_asset("careful.json"))["threshold"])

    def _check_batch(self, batch: Sequence[tuple[list[str], str]], vectors: Sequence[PairVectors]) -> list[Verdict]:
        from summeval_nb.evidence.reader import load_careful_reader

        quick, weight = super()._check_batch(batch, vectors), json.loads(read_asset("careful.json"))["weight"]
        asked = [place for place, verdict in enumerate(quick) if verdict.judged]
        nearest = [[item.index for item in quick[place].evidence] for place in asked]
        pairs = [([batch[n][0][i] for i in order], batch[n][1]) for n, order in zip(asked, nearest, strict=True)]
        for place, reading in zip(asked, load_careful_reader(self.precision).read(pairs), strict=True):
            details = dict(quick[place].details)
            number = log_odds(reading.entailment, LOGIT_CLIP)
            terms = details["terms"] | {"careful_follows": weight * number}
            details |= {"numbers": details["numbers"] | {"careful_follows": number}, "terms": terms}
            details["logit"] = sum(terms.values())
            probability = sigmoid(self.slope * details["logit"] + self.offset)
            quick[place] = replace(quick[place], probability=probability, details=details)
        return quick


_SAME_THING = 0.76  # cosine from which two nouns name one thing: car, automobile
_SAME_WITH = 1.36  # or less, if with the probability it is this much: oak, tree


def _may_be_said(noun: str, instead: str, probability: float) -> bool:
    """Whether a noun may be another word for one of the evidence. The reader hardly tells fire from flood."""
    alike = _noun_cosine(noun.lower(), instead.lower())
    return alike >= _SAME_THING or alike + probability >= _SAME_WITH


@lru_cache(maxsize=4096)
def _noun_cosine(noun: str, other: str) -> float:
    first, second = load_embedder().encode([f"The {word} was there." for word in (noun, other)])
    return float(first @ second)


@cache
def _model_mark() -> str:
    parts = [json.dumps(fitted(), sort_keys=True), numbers_mark()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


@cache
def numbers_mark() -> str:
    """Return a name for everything that decides the ten numbers."""
    names = ("antonyms.txt", "stem_counts.tsv.gz", "reader.npz", "reader_wide.npz")
    files = [(PACKAGE / "assets" / name).read_bytes() for name in names]
    parts = [RULES, MiniLMEmbedder.fingerprint, *(hashlib.sha256(content).hexdigest() for content in files)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def findings_in(pair: ParsedPair) -> list[Finding]:
    """Return the clashes, and the words that the evidence does not hold, in order; one finding a passage."""
    clashes = sorted(findings_of(pair.claim, pair.clashes.found), key=lambda passage: passage.clash)
    found = list({(clash.start, clash.end): clash for clash in clashes}.values())
    known = known_keys(pair.evidence)
    for token in pair.claim.tokens:
        new = token.kind == "content" and token not in pair.claim.names and token.key not in known
        if new and not any(clash.start <= token.start and token.end <= clash.end for clash in found):
            found.append(finding(pair.claim, "word", token.start, token.end))
    return sorted(found, key=lambda passage: passage.start)


def against_in(pair: ParsedPair) -> dict[str, str]:
    """Return for the passages that clash firmly the words of the evidence against which they do, if it has any."""
    reliable = [clash for clash in pair.clashes.found if clash.firm and clash.instead_of]
    both = zip(findings_of(pair.claim, reliable), reliable, strict=True)
    said = ((passage.text, _as_written(pair, passage, clash)) for passage, clash in both)
    return {text: words for text, words in said if words}


def _as_written(pair: ParsedPair, found: Finding, clash: Clash) -> str:
    """Return the evidence's own words in the place of a clash: of a *not* up to the word that it denies."""
    words = re.escape(clash.instead_of)
    if clash.kind == "negation":
        words += rf"(?: \w+){{0,2}}? {re.escape(found.text)}"
    wanted = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
    for place in (*pair.nearest, *range(len(pair.evidence))):
        told = pair.evidence[place]
        if hit := wanted.search(told.text):
            return hit[0]
        for token in told.tokens:
            if token.key == clash.instead_of:
                return told.text[token.start : token.end]
    return ""


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
        raise ValueError(f"calibration needs labels of both kinds, got {positive} times 1 and {negative} times 0")
    target = np.where(truth == 1, (positive + 1) / (positive + 2), 1 / (negative + 2))
    return logistic_fit(logits_of(values), target)


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


def logits_of(probabilities: np.ndarray) -> np.ndarray:
    """log(p / (1 - p)); 0 and 1 are taken as 1e-6 away from the border."""
    inside = np.clip(probabilities, 1e-6, 1 - 1e-6)
    return np.log(inside / (1 - inside))


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
