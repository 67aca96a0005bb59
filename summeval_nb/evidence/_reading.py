"""Plumbing of chapter 22: features of words in their places and of the reader, the trees, what was measured. A plain
module: edited directly, tested in tests/test_reading.py.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summeval_nb.evidence._differences import DIFFERENCES, Clash, compare, findings_of
from summeval_nb.evidence._fitted import words_fingerprint
from summeval_nb.evidence._packaged import cosines
from summeval_nb.evidence._trees import Forest
from summeval_nb.evidence.check import (
    FEATURES,
    PairVectors,
    Parts,
    pair_features,
    sentence_matches,
    sigmoid,
    support_logit,
    take_apart,
)
from summeval_nb.ground.results import Finding, require_text

from ..ground._types import JsonDict

if TYPE_CHECKING:
    from summeval_nb.evidence._reader import Reading

__all__ = [
    *("ALL_FEATURES", "PRECISIONS", "Examined", "examine", "fingerprint", "fitted", "forest", "judged_line", "look"),
    *("condemns", "contradicted_up_to", "require_device", "starting_logit", "windows"),
]

PRECISIONS = ("float32", "bfloat16", "int8")

READER = ("near_entailed", "near_contradicted", "all_entailed", "all_contradicted", "worst_word", "wrong_words")
WORD_FEATURES = (*FEATURES, *(f"nearest_{name}" for name in FEATURES), *DIFFERENCES, "words_logit")
ALL_FEATURES = (*WORD_FEATURES, *READER)
Pair = tuple[Sequence[str], str]


class Looked(NamedTuple):
    """What the first storey sees of a pair: features, what clashes, the nearest two sentences, what was not found."""

    features: dict[str, float]
    clashes: list[Clash]
    nearest: tuple[int, int]
    not_found: list[Finding]


def look(claim: Parts, evidence: Sequence[Parts], vectors: PairVectors) -> Looked:
    """Return the features of one pair that need no reader; see `WORD_FEATURES`."""
    matches = sentence_matches(vectors)
    words, not_found = pair_features(claim, evidence, vectors, matches)
    differences, clashes, nearest = compare(claim, evidence, vectors, cosines(vectors), matches)
    place = nearest[0]
    one = PairVectors(
        vectors.embedder,
        vectors.evidence[[place]],
        vectors.claim,
        [vectors.evidence_tokens[place]],
        vectors.claim_tokens,
    )
    near, _ = pair_features(claim, [evidence[place]], one, matches[:, [place]].copy(order="C"))
    features = {**words, **{f"nearest_{name}": value for name, value in near.items()}, **differences}
    return Looked(features | {"words_logit": support_logit(words)}, clashes, nearest, not_found)


def windows(evidence: Sequence[str], claim: str, nearest: tuple[int, int]) -> list[Pair]:
    """Return what the reader reads: the nearest two sentences, and all of them, the nearest first."""
    near = list(dict.fromkeys(nearest))
    others = [place for place in range(len(evidence)) if place not in near]
    return [([evidence[i] for i in near], claim), ([evidence[i] for i in [*near, *others]], claim)]


def _log_odds(probability: float) -> float:
    inside = min(max(probability, 1e-6), 1 - 1e-6)
    return math.log(inside / (1 - inside))


def reader_features(near: Reading, every: Reading) -> dict[str, float]:
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
def fitted() -> JsonDict:
    """Return what was chosen when the trees were fitted: features, calibration, thresholds."""
    return json.loads(_asset("reading.json").decode("utf-8"))


@cache
def forest() -> Forest:
    """Return the fitted trees."""
    with np.load(io.BytesIO(_asset("reading_trees.npz")), allow_pickle=False) as arrays:
        return Forest.from_arrays(fitted()["features"], arrays)


@cache
def _model_fingerprint() -> str:
    parts = [words_fingerprint(1.0, 0.0), hashlib.sha256(_asset("reading_trees.npz")).hexdigest()]
    parts += [hashlib.sha256(_asset("antonyms.txt")).hexdigest(), json.dumps(fitted()["calibration"]), RULES]
    if reads():
        parts += [hashlib.sha256(_asset(name)).hexdigest() for name in ("reader.npz", "reader_wide.npz")]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def fingerprint(slope: float, offset: float, precision: str, device: str = "cpu") -> str:
    """Return a name for everything that decides a probability."""
    marks = [_model_fingerprint()]
    marks += [f"{slope:.6g},{offset:.6g}"] if (slope, offset) != (1.0, 0.0) else []
    marks += [precision] if precision != "float32" else []
    marks += [device.partition(":")[0]] if device != "cpu" else []  # which of several GPUs makes no difference
    return "-".join(["embedded", *marks])


def reads() -> bool:
    """Return whether the fitted trees ask the reader."""
    return any(name in READER for name in fitted()["features"])


# What a word in another's place takes from the logit. Of the claims it was looked for in, 99 in 100 that had one were
# false, so that it may decide alone; the trees do not know it.
IN_PLACE = 1.5


MEASURED_K = 8  # sentences of evidence, in all that was measured

# Part of the fingerprint, and so of what a store is asked for: another number whenever a rule finds other clashes.
RULES = "9"

# A tenth of the reader's log-odds of "denied" is put on the border up to which a sentence is contradicted although no
# word clashes: what the reader denies may be a little likelier, what it only does not find must be unlikelier.
DENIED = 0.1


# What stands beside the trees in the logit, with a share of its own: the words checker, and the reader of all evidence,
# what it says follows and what it denies.
BESIDE_TREES = {"words": "words_logit", "reader": "all_entailed", "denied": "all_contradicted"}

# The fewer of a claim's words stand in its nearest sentence, below this share, the more is it told in words of its own:
# from the share on the mixture `same_words` decides alone, and where none of its words stands there `own_words`.
_SAME_WORDS = 0.7


def own_words(features: Mapping[str, Any]) -> Any:
    """Return how far a claim is told in words of its own, in [0, 1]; features may be numbers or arrays of one shape.

    0 where a name or a number of the claim stands nowhere in the evidence: that is new, and no other wording.
    """
    known = (np.asarray(features["names_new"]) == 0) & (np.asarray(features["numbers_missing"]) == 0)
    return known * np.clip(1 - np.asarray(features["near_coverage"]) / _SAME_WORDS, 0.0, 1.0)


def _mixture(own: float) -> dict[str, float]:
    """Return the factors of trees and parts, and the offset, for a claim told so far in words of its own."""
    how = fitted()["calibration"]
    same, other = how["same_words"], how["own_words"]
    return {name: (1 - own) * same[name] + own * other[name] for name in same}


def _beside_trees() -> list[tuple[str, str]]:
    """Return what stands beside the trees and its feature: no reader where it was fitted without."""
    return [one for one in BESIDE_TREES.items() if one[0] in fitted()["calibration"]["same_words"]]


def _start(how: Mapping[str, float]) -> float:
    """Return what a mixture makes of trees that asked nothing and parts that are as usual."""
    usual = fitted()["calibration"]["usual"]
    return how["offset"] + how["tree"] * forest().base + sum(how[part] * usual[part] for part, _ in _beside_trees())


def _mixed(features: Mapping[str, float], tree: float, added: np.ndarray) -> tuple[float, dict[str, float]]:
    """Return the logit, trees, words and reader together, and what each feature moved it by from where all start."""
    usual, how = fitted()["calibration"]["usual"], _mixture(features["own_words"])
    logit = how["tree"] * tree + how["offset"]
    moved = dict(zip(forest().names, (how["tree"] * added).tolist(), strict=True))
    moved["own_words"] = _start(how) - starting_logit()
    for part, name in _beside_trees():
        logit += how[part] * features[name]
        moved[name] += how[part] * (features[name] - usual[part])
    return logit, {name: value for name, value in moved.items() if abs(value) >= 0.005}


class Examined(NamedTuple):
    """What is known of a pair before a threshold is asked; `moved` is what each feature added to the logit."""

    logit: float
    moved: dict[str, float]
    features: dict[str, float]
    findings: list[Finding]
    reader: dict[str, float]

    def details(self) -> JsonDict:
        """Return what a verdict carries."""
        found: JsonDict = {"features": self.features, "contributions": self.moved, "logit": self.logit}
        return found | ({"reader": self.reader} if self.reader else {})


def require_device(device: object, precision: str) -> str:
    """Return the device's name if the reader can calculate there; torch is only imported for another than the CPU."""
    name = require_text(device, "device")
    if name == "cpu":
        return name
    from summeval_nb.evidence._reader import found_device

    return str(found_device(name, precision))


def examine(
    lot: Sequence[tuple[list[str], str]], vectors: Sequence[PairVectors], precision: str, device: str = "cpu"
) -> list[Examined | None]:
    """Return what both storeys and the trees make of each pair; None for a claim that holds no word."""
    claims = [take_apart(claim) for _, claim in lot]
    usable = [number for number, claim in enumerate(claims) if claim.keys]
    told = {number: [take_apart(text) for text in lot[number][0]] for number in usable}
    seen = {number: look(claims[number], told[number], vectors[number]) for number in usable}
    places = {number: float(any(one.in_place for one in seen[number].clashes)) for number in usable}
    rows = {number: {**seen[number].features, "in_place": places[number]} for number in usable}
    for row in rows.values():
        row["own_words"] = float(own_words(row))
    readings = _readings(lot, seen, precision, device) if reads() else {}
    for number, pair in readings.items():
        rows[number] |= reader_features(*pair)
    names = forest().names
    table = np.array([[rows[number][name] for name in names] for number in usable]).reshape(len(usable), len(names))
    logits, added = forest().contributions(table)
    found: list[Examined | None] = [None] * len(lot)
    for place, number in enumerate(usable):
        logit, moved = _mixed(rows[number], float(logits[place]), added[place])
        near = readings[number][0] if number in readings else None
        said = {label: getattr(near, label) for label in ("entailment", "neutral", "contradiction")} if near else {}
        if rows[number]["in_place"]:
            logit, moved = logit - IN_PLACE, {**moved, "in_place": -IN_PLACE}
        findings = _findings(claims[number], seen[number])
        found[number] = Examined(logit, moved, rows[number], findings, said)
    return found


def _readings(
    lot: Sequence[tuple[list[str], str]], seen: Mapping[int, Looked], precision: str, device: str
) -> dict[int, tuple[Reading, Reading]]:
    """Return for each pair what the reader makes of the nearest two sentences and of all; the same is read once."""
    from summeval_nb.evidence._reader import load_reader

    asked = {number: windows(*lot[number], one.nearest) for number, one in seen.items()}
    distinct = {
        (tuple(evidence), claim, wide): (evidence, claim)
        for pair in asked.values()
        for wide, (evidence, claim) in enumerate(pair)
    }
    far = {place for place, (_, _, wide) in enumerate(distinct) if wide}
    read = load_reader(precision, device).read(list(distinct.values()), wide=far) if distinct else []
    found = dict(zip(distinct, read, strict=True))
    near, every = ({n: found[tuple(pair[i][0]), pair[i][1], i] for n, pair in asked.items()} for i in (0, 1))
    return {number: (near[number], every[number]) for number in asked}


# Who finds hardly anything of a sentence in the evidence may call it contradicted though no word clashes. Of a near
# copy (see the feature `edit`) nearly everything was found: of those that were called so, two in five were true.
NEAR_COPY = 0.5


def contradicted_up_to(features: Mapping[str, float], slope: float, offset: float) -> float:
    """Return below which probability a sentence in which nothing clashes is contradicted.

    0 without a reader, and for a near copy.
    """
    border = fitted()["thresholds"].get("unfound")
    if border is None or "all_contradicted" not in features or features.get("edit", 0.0) >= NEAR_COPY:
        return 0.0
    return sigmoid(slope * (border + DENIED * features["all_contradicted"]) + offset)


# A claim of which less than this stands in one sentence of the evidence is told in words of its own. Of those that had
# an opposite, a "not" or another number, two in five were true: such a clash is shown, and condemns nothing by itself.
TOLD_NEAR = 0.5
_NEAR_ONLY = frozenset({"antonym", "negation", "number"})


def condemns(findings: Sequence[Finding], features: Mapping[str, float]) -> bool:
    """Return whether a finding clashes so that an improbable sentence is contradicted: all near the evidence's words.

    Far from them only names, roles and exchanged words do. A clash that condemns nothing still supports nothing.
    """
    near = features.get("near_coverage", 1.0) >= TOLD_NEAR
    return any(one.clash and (near or one.kind not in _NEAR_ONLY) for one in findings)


def starting_logit() -> float:
    """Return the logit before any feature is looked at: a logit is this, and what each feature moved it by."""
    return _start(fitted()["calibration"]["same_words"])


_GOOD_AT = (
    "Judged by the embedded checker, a quick first reader: it finds most changed numbers and names, "
    "and recognises about one paraphrase in five."
)


def judged_line(standard: bool) -> str:
    """Return for reports who judged, and what that is good and bad at."""
    set_by_you = "Judged by the embedded checker, set by you: what was measured of it does not hold."
    return _GOOD_AT if standard else set_by_you


def _findings(claim: Parts, seen: Looked) -> list[Finding]:
    """Return the clashes, and the words that the evidence does not hold, in order; one finding a passage."""
    found = findings_of(claim, seen.clashes)
    taken = {(one.start, one.end) for one in found}
    words = [one for one in seen.not_found if one.kind == "word"]
    return sorted([*found, *(one for one in words if (one.start, one.end) not in taken)], key=lambda one: one.start)
