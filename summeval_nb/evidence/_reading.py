"""What the embedded checker rests on: its fitted weights, its fingerprint, the windows that its reader reads."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from summeval_nb.evidence.checker import Pair, PairVectors, cosines
from summeval_nb.evidence.measured import asset
from summeval_nb.evidence.rules import Clash, Clashes, find_clashes, findings_of, nearest_two
from summeval_nb.evidence.tokens import Parts, finding, known_keys, take_apart
from summeval_nb.ground.results import Finding, require_text
from summeval_nb.text.embed import MiniLMEmbedder

from ..ground._types import JsonDict

if TYPE_CHECKING:
    from summeval_nb.evidence.reader import Reading

PRECISIONS = ("float32", "bfloat16", "int8")
MEASURED_K = 8  # sentences of evidence, in all that was measured
# Part of the fingerprint, and so of what a store is asked for: another number whenever a rule finds other clashes.
RULES = "9"
Window = tuple[tuple[str, ...], str]  # evidence sentences, and what is judged


@cache
def fitted() -> JsonDict:
    """Return what was fitted: the weight of each number, the intercept, what a changed copy costs, the threshold."""
    return json.loads(asset("embedded.json").decode("utf-8"))


@cache
def numbers_mark() -> str:
    """Return a name for everything that decides the ten numbers."""
    names = ("antonyms.txt", "stem_counts.tsv.gz", "reader.npz", "reader_wide.npz")
    parts = [RULES, MiniLMEmbedder.fingerprint, *(hashlib.sha256(asset(name)).hexdigest() for name in names)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


@cache
def _model_fingerprint() -> str:
    parts = [json.dumps(fitted(), sort_keys=True), numbers_mark()]
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
    from summeval_nb.evidence.reader import found_device

    return str(found_device(name, precision))


class Looked(NamedTuple):
    """A pair before it is read: claim and evidence taken apart, what clashes, and the places of the nearest two."""

    claim: Parts
    evidence: list[Parts]
    clashes: Clashes
    nearest: tuple[int, int]

    def findings(self) -> list[Finding]:
        """Return the clashes, and the words that the evidence does not hold, in order; one finding a passage."""
        clashes = sorted(findings_of(self.claim, self.clashes.found), key=lambda one: one.clash)
        found = list({(one.start, one.end): one for one in clashes}.values())
        known = known_keys(self.evidence)
        for token in self.claim.tokens:
            new = token.kind == "content" and token not in self.claim.names and token.key not in known
            if new and not any(one.start <= token.start and token.end <= one.end for one in found):
                found.append(finding(self.claim, "word", token.start, token.end))
        return sorted(found, key=lambda one: one.start)

    def against(self) -> dict[str, str]:
        """Return for the passages that clash firmly the words of the evidence against which they do, if it has any."""
        firm = [clash for clash in self.clashes.found if clash.firm and clash.instead_of]
        both = zip(findings_of(self.claim, firm), firm, strict=True)
        said = ((one.text, self._as_written(one, clash)) for one, clash in both)
        return {text: words for text, words in said if words}

    def _as_written(self, found: Finding, clash: Clash) -> str:
        """Return the evidence's own words in the place of a clash: of a *not* up to the word that it denies."""
        words = re.escape(clash.instead_of)
        if clash.kind == "negation":
            words += rf"(?: \w+){{0,2}}? {re.escape(found.text)}"
        wanted = re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
        for place in (*self.nearest, *range(len(self.evidence))):
            told = self.evidence[place]
            if hit := wanted.search(told.text):
                return hit[0]
            for token in told.tokens:
                if token.key == clash.instead_of:
                    return told.text[token.start : token.end]
        return ""


def look(evidence: Sequence[str], claim: str, vectors: PairVectors) -> Looked | None:
    """Return a pair taken apart, with its clashes; None for a claim without a word."""
    parts = take_apart(claim)
    if not parts.keys:
        return None
    told = [take_apart(text) for text in evidence]
    nearest = nearest_two(parts, told, cosines(vectors))
    return Looked(parts, told, find_clashes(parts, told, nearest), nearest)


def windows(evidence: Sequence[str], claim: str, nearest: tuple[int, int]) -> list[Window]:
    """Return what the reader reads: the nearest evidence, and all of it, the nearest first."""
    near = list(dict.fromkeys(nearest))
    others = [place for place in range(len(evidence)) if place not in near]
    return [(tuple(evidence[i] for i in chosen), claim) for chosen in (near, [*near, *others])]


def read_pairs(
    lot: Sequence[Pair], seen: Sequence[Looked | None], precision: str, device: str = "cpu"
) -> list[tuple[Reading, Reading] | None]:
    """Return what the reader makes of the nearest evidence and of all, for each pair; the same is read once."""
    from summeval_nb.evidence.reader import load_reader

    asked = [windows(*pair, one.nearest) if one else [] for pair, one in zip(lot, seen, strict=True)]
    distinct = list(dict.fromkeys(window for pair in asked for window in pair))
    read = load_reader(precision, device).read(distinct) if distinct else []
    found = dict(zip(distinct, read, strict=True))
    return [(found[pair[0]], found[pair[1]]) if pair else None for pair in asked]


def log_odds(probability: float, most: float) -> float:
    """Return log(p / (1 - p)), cut at `most` on either side."""
    if probability <= 0 or probability >= 1:
        return math.copysign(most, probability - 0.5)
    return min(max(math.log(probability / (1 - probability)), -most), most)


_GOOD_AT = (
    "Judged by the embedded checker, a quick first reader: it recognises four paraphrases in five, "
    "most changed numbers, and half the changed names."
)


def judged_line(standard: bool) -> str:
    """Return for reports who judged, and what that is good and bad at."""
    set_by_you = "Judged by the embedded checker, set by you: what was measured of it does not hold."
    return _GOOD_AT if standard else set_by_you


def why_unclear(coverage: float) -> str:
    """Return why the embedded checker leaves a sentence open in which nothing clashes.

    `coverage` is that of chapter 21: below one half most of the sentence's words are not in the evidence.
    """
    return "too little of it is in the article" if coverage < 0.5 else "cannot tell"
