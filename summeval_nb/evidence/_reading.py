"""What the embedded checker rests on: its fitted weights, its fingerprint, the windows that its reader reads."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summeval_nb.evidence._clashes import Clash, Clashes, find_clashes, findings_of, nearest_two
from summeval_nb.evidence._packaged import cosines
from summeval_nb.evidence.check import PairVectors, Parts, find_unsupported, take_apart
from summeval_nb.ground.results import Finding, require_text

from ..ground._types import JsonDict

if TYPE_CHECKING:
    from summeval_nb.evidence._reader import Reading

PRECISIONS = ("float32", "bfloat16", "int8")
MEASURED_K = 8  # sentences of evidence, in all that was measured
# Part of the fingerprint, and so of what a store is asked for: another number whenever a rule finds other clashes.
RULES = "9"
Pair = tuple[Sequence[str], str]


@cache
def _asset(name: str) -> bytes:
    return resources.files("summeval_nb").joinpath(f"assets/{name}").read_bytes()


@cache
def fitted() -> JsonDict:
    """Return what was fitted: the weight of each number, the intercept, what a changed copy costs, the threshold."""
    return json.loads(_asset("embedded.json").decode("utf-8"))


@cache
def _model_fingerprint() -> str:
    parts = [json.dumps(fitted(), sort_keys=True), RULES]
    parts += [hashlib.sha256(_asset(name)).hexdigest() for name in ("antonyms.txt", "reader.npz", "reader_wide.npz")]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def fingerprint(slope: float, offset: float, precision: str, device: str = "cpu") -> str:
    """Return a name for everything that decides a probability."""
    marks = [_model_fingerprint()]
    marks += [f"{slope:.6g},{offset:.6g}"] if (slope, offset) != (1.0, 0.0) else []
    marks += [precision] if precision != "float32" else []
    marks += [device.partition(":")[0]] if device != "cpu" else []  # which of several GPUs makes no difference
    return "-".join(["embedded", *marks])


def require_device(device: object, precision: str) -> str:
    """Return the device's name if the reader can calculate there; torch is only imported for another than the CPU."""
    name = require_text(device, "device")
    if name == "cpu":
        return name
    from summeval_nb.evidence._reader import found_device

    return str(found_device(name, precision))


class Looked(NamedTuple):
    """A pair before it is read: claim and evidence taken apart, what clashes, and the places of the nearest two."""

    claim: Parts
    evidence: list[Parts]
    clashes: Clashes
    nearest: tuple[int, int]

    def findings(self) -> list[Finding]:
        """Return the clashes, and the words that the evidence does not hold, in order; one finding a passage."""
        found = findings_of(self.claim, self.clashes.found)
        taken = {(one.start, one.end) for one in found}
        words = [one for one in find_unsupported(self.claim, self.evidence) if one.kind == "word"]
        words = [one for one in words if (one.start, one.end) not in taken]
        return sorted([*found, *words], key=lambda one: one.start)

    def against(self) -> dict[str, str]:
        """Return for the passages that clash firmly the words of the evidence against which they do, if it has any."""
        firm = [clash for clash in self.clashes.found if clash.firm and clash.instead_of]
        said = ((one, self._as_written(clash)) for one, clash in zip(findings_of(self.claim, firm), firm, strict=True))
        return {one.text: f"{words} {one.text}" if one.kind == "negation" else words for one, words in said if words}

    def _as_written(self, clash: Clash) -> str:
        """Return what stood in the place of a clash as an evidence sentence has it, which may be capitalised there."""
        wanted = re.compile(rf"(?<!\w){re.escape(clash.instead_of)}(?!\w)", re.IGNORECASE)
        hits = (wanted.search(self.evidence[place].text) for place in (*self.nearest, *range(len(self.evidence))))
        return next((hit[0] for hit in hits if hit), "")


def look(evidence: Sequence[str], claim: str, vectors: PairVectors) -> Looked | None:
    """Return a pair taken apart, with its clashes; None for a claim without a word."""
    parts = take_apart(claim)
    if not parts.keys:
        return None
    told = [take_apart(text) for text in evidence]
    nearest = nearest_two(parts, told, cosines(vectors))
    return Looked(parts, told, find_clashes(parts, told, nearest), nearest)


def windows(evidence: Sequence[str], claim: str, nearest: tuple[int, int]) -> list[Pair]:
    """Return what the reader reads: the nearest two sentences, and all of them, the nearest first."""
    near = list(dict.fromkeys(nearest))
    others = [place for place in range(len(evidence)) if place not in near]
    return [([evidence[i] for i in near], claim), ([evidence[i] for i in [*near, *others]], claim)]


def read_pairs(
    lot: Sequence[Pair], seen: Sequence[Looked | None], precision: str, device: str = "cpu"
) -> list[tuple[Reading, Reading] | None]:
    """Return what the reader makes of the nearest two sentences and of all, for each pair; the same is read once."""
    from summeval_nb.evidence._reader import load_reader

    asked = [windows(*pair, one.nearest) if one else [] for pair, one in zip(lot, seen, strict=True)]
    distinct = {(tuple(evidence), claim): (evidence, claim) for pair in asked for evidence, claim in pair}
    read = load_reader(precision, device).read(list(distinct.values())) if distinct else []
    found = dict(zip(distinct, read, strict=True))
    both = [[found[tuple(evidence), claim] for evidence, claim in pair] for pair in asked]
    return [(pair[0], pair[1]) if pair else None for pair in both]


def log_odds(probability: float, most: float) -> float:
    """Return log(p / (1 - p)), cut at `most` on either side."""
    if probability <= 0 or probability >= 1:
        return math.copysign(most, probability - 0.5)
    return float(np.clip(math.log(probability / (1 - probability)), -most, most))


_GOOD_AT = (
    "Judged by the embedded checker, a quick first reader: it recognises four paraphrases in five, "
    "most changed numbers, and half the changed names."
)


def judged_line(standard: bool) -> str:
    """Return for reports who judged, and what that is good and bad at."""
    set_by_you = "Judged by the embedded checker, set by you: what was measured of it does not hold."
    return _GOOD_AT if standard else set_by_you


def why_unclear(details: Mapping[str, float], clash: bool) -> str:
    """Return why the embedded checker leaves a sentence open."""
    if clash:
        return "something clashes, though the rest is in the article"
    return "too little of it is in the article" if details["near_coverage"] < 0.5 else "cannot tell"
