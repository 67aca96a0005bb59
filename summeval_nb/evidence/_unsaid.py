"""What the evidence holds in so many words, but only to deny it, to ask it or to suppose it. A plain module: edited
directly, tested in tests/test_unsaid.py.

*No evidence of a leak was found* holds every word of *a leak was found*, *Not approved: a new roof* every word of
*there will be a new roof*, and *if the tenant does not leave* every word of *the tenant does not leave*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from summeval_nb.evidence._slots import BREAKS, TIMED, Clash, Words, is_negation

__all__ = ["unsaid_clashes"]

# No sign of it: what follows is denied, and not the sign alone.
_SIGNS = frozenset(
    "evidence proof sign signs indication indications trace traces hint hints suggestion suspicion record records "
    "confirmation mention".split()
)
_FINDING = frozenset(
    "find finds found see sees saw seen show shows showed shown detect detects detected observe observes observed "
    "discover discovers discovered".split()
)
_WAS_FOUND = _FINDING | frozenset("is was are were has have had been yet".split())  # no evidence was found that
_SAID = frozenset("only just merely simply least later more less fewer other doubt".split())  # not only: it is said
_VERBAL = frozenset("not never t cannot".split())  # deny a verb, and with it the clause; "no" denies its noun alone
_CLAUSES = frozenset("but and or yet because which who that although though while whereas when since so after".split())
_SUPPOSED = frozenset("if whether unless".split())
_REFUSED = frozenset("rejected refused declined cancelled canceled dropped dismissed withdrawn excluded denied".split())
# A claim that has one of these denies it in its own way.
_DENYING = _REFUSED | frozenset(
    "fail fails failed refuse refuses deny denies lack lacks lacked without unable free avoid avoids avoided prevent "
    "prevents prevented excludes ruled absence absent cleared unlikely impossible hardly neither nor none nobody "
    "nothing nowhere missing missed".split()
)
_ASKING = frozenset("is are was were do does did has have had can could will would shall should may might must".split())
_LONGEST = 15  # words of a clause that one "not" or "if" is about; longer ones are often several that nothing parts
_LEAD = 6  # words before a colon that say what is true of all that follows
_FEW = 3  # words from a "no" to the sign that it denies, and from a clause's beginning to its "if"


class Unsaid(NamedTuple):
    """Places of words that are only denied, asked or supposed, and those of them without which nothing is."""

    places: frozenset[int]
    core: frozenset[int]

    @staticmethod
    def of(places: Sequence[int], core: Sequence[int] | None = None) -> Unsaid:
        return Unsaid(frozenset(places), frozenset(places if core is None else core))

    def holds(self, words: Words, keys: set[str]) -> bool:
        """Return whether all of a claim's words are among these, and one of them in the core."""
        inside, core = ({words.parts.keys[i] for i in places} for places in self)
        return keys <= inside and not keys.isdisjoint(core)


def _marks(words: Words, place: int) -> str:
    """Return the marks that follow a word, up to the next."""
    tokens, text = words.parts.tokens, words.parts.text
    return text[tokens[place].end : tokens[place + 1].start if place + 1 < len(tokens) else len(text)]


def _clauses(words: Words) -> Iterator[range]:
    """Give the places of a sentence's clauses: what stands between commas and the like, and words that join."""
    start = 0
    for place in range(1, len(words.raw) + 1):
        if place == len(words.raw) or words.raw[place] in _CLAUSES or BREAKS.intersection(_marks(words, place - 1)):
            yield range(start, place)
            start = place


def _denied_sign(words: Words, clause: range) -> int | None:
    """Return where a clause has a sign of which it says that there is none: no evidence, not any sign."""
    denied = False
    for place in clause:
        denied = denied or is_negation(words, place)
        if words.raw[place] in ("no", "without") or (words.raw[place] == "any" and denied):
            near = range(place + 1, min(place + 1 + _FEW, clause.stop))
            if (found := next((i for i in near if words.raw[i] in _SIGNS), None)) is not None:
                return found
    return None


def _lead(words: Words) -> Unsaid | None:
    """Return what stands behind a colon and words that refuse it: Not approved: a new roof."""
    last = next((i for i in range(min(_LEAD, len(words.raw) - 1)) if ":" in _marks(words, i)), None)
    if last is None:
        return None
    told = words.raw[: last + 1]
    refused = not _REFUSED.isdisjoint(told) or "out of scope" in " ".join(told)
    if refused or any(is_negation(words, i) and words.raw[i] in _VERBAL for i in range(last + 1)):
        return Unsaid.of(range(last + 1, len(words.raw)))
    return None


def _timed(words: Words, clause: range) -> bool:
    """Return whether a clause denies something only until a time: not open before March."""
    return not TIMED.isdisjoint(words.raw[clause.start : clause.stop])


def _unsaid(words: Words) -> tuple[list[Unsaid], list[Unsaid]]:
    """Return what a sentence only denies, and what it only asks or supposes."""
    if words.parts.text.rstrip(" \"'\u201d\u2019)").endswith("?") and words.raw[:1] and words.raw[0] in _ASKING:
        return [], [Unsaid.of(range(len(words.raw)))]
    if listed := _lead(words):
        return [listed], []
    denied, supposed, no_sign = [], [], False
    for clause in (one for one in _clauses(words) if len(one) <= _LONGEST):
        sign = _denied_sign(words, clause)
        nots = [i for i in clause if is_negation(words, i) and words.raw[i] in _VERBAL]
        if no_sign and words.raw[clause.start] == "that":  # no evidence that it works
            denied.append(Unsaid.of(clause))
        elif sign is not None:
            denied.append(Unsaid.of(clause, range(sign + 1, clause.stop)))
        elif len(nots) == 1 and _SAID.isdisjoint(words.raw[nots[0] + 1 : nots[0] + 2]) and not _timed(words, clause):
            denied.append(Unsaid.of(clause))
        no_sign = sign is not None and _WAS_FOUND.issuperset(words.raw[sign + 1 : clause.stop])
        if not _SUPPOSED.isdisjoint(words.raw[clause.start : min(clause.start + _FEW, clause.stop)]):
            supposed.append(Unsaid.of(clause))
    return denied, supposed


def unsaid_clashes(claim: Words, evidence: Sequence[Words]) -> list[Clash]:
    """Return the last word of a claim that the evidence holds only where it is denied, asked or supposed.

    Nothing where the claim denies, asks or supposes something itself, or where any sentence holds its words elsewhere.
    """
    told = [i for i, token in enumerate(claim.parts.tokens) if token.kind in ("content", "number")]
    told = [i for i in told if claim.raw[i] not in _FINDING] or told
    keys = {claim.parts.keys[i] for i in told}
    if not keys or claim.parts.text.rstrip().endswith("?") or not _SUPPOSED.isdisjoint(claim.raw):
        return []
    denies = any(is_negation(claim, i) for i in range(len(claim.raw))) or not _DENYING.isdisjoint(claim.raw)
    found = False
    for near in evidence:
        denied, supposed = _unsaid(near)
        unsaid = supposed if denies else [*supposed, *denied]
        said = set(range(len(near.raw))).difference(*(one.places for one in unsaid))
        if keys <= {near.parts.keys[i] for i in said}:
            return []
        found = found or any(one.holds(near, keys) for one in unsaid)
    return [Clash("negation", told[-1], told[-1], "")] if found else []
