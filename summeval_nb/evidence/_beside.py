"""Another name beside the same words: Lien may remain at home, where it is Dahl who may. A plain module: edited
directly, tested in tests/test_beside.py.

Where the rest of the sentence may be told in any order, three words and the name before or behind them are still one
statement. If the evidence has the three with another name there, and nowhere with anything else, and the claim's name
is not in that sentence, the claim tells of one what is told of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rapidfuzz import fuzz

from summeval_nb.evidence._actors import SPOKEN
from summeval_nb.evidence._roles import WHEN
from summeval_nb.evidence._slots import ALIKE, BREAKS, Clash, Words
from summeval_nb.evidence.check import Token

__all__ = ["beside_clashes"]

_RUN = 3  # words that both have; one of them says more than that something was said
_JOINS = frozenset("and or of".split())  # two names, or a part of one


def beside_clashes(claim: Words, evidence: Sequence[Words]) -> list[Clash]:
    """Return names right before or behind three words beside which the evidence has another name only."""
    found = []
    for start, end in _names_of(claim, evidence):
        for side in (-1, 1):  # the words stand behind the name, or before it
            place = range(end + 1, end + 1 + _RUN) if side < 0 else range(start - _RUN, start)
            if place[0] < 0 or place[-1] >= len(claim.raw) or not _one_statement(claim, start, end, place):
                continue
            if other := _instead(claim, start, end, place, side, evidence):
                found.append(Clash("name", start, end, other))
                break
    return found


def _names_of(claim: Words, evidence: Sequence[Words]) -> Iterator[tuple[int, int]]:
    """Give the first and the last place of each name, also of one at the beginning that the evidence knows as one."""
    tokens, parts = claim.parts.tokens, claim.parts
    known = {one.key for words in evidence for one in words.parts.names}
    first = bool(tokens) and tokens[0].key in known and parts.text[tokens[0].start].isupper()
    places = [i for i, one in enumerate(tokens) if one in parts.names or (i == 0 and first)]
    while places:
        start = end = places.pop(0)
        while places and places[0] == end + 1:
            end = places.pop(0)
        if not any(claim.raw[i] in WHEN for i in range(start, end + 1)):
            yield start, end


def _one_statement(claim: Words, start: int, end: int, place: range) -> bool:
    """Return whether the words tell something of the name alone, with no punctuation between."""
    own = claim.parts
    low, high = min(start, place[0]), max(end, place[-1])
    if BREAKS.intersection(own.text[own.tokens[low].start : own.tokens[high].end]):
        return False
    around = claim.raw[max(0, start - 1) : start] + claim.raw[end + 1 : end + 2]
    told = any(own.tokens[i].kind == "content" and claim.raw[i] not in SPOKEN for i in place)
    return told and _JOINS.isdisjoint(around)


def _instead(claim: Words, start: int, end: int, place: range, side: int, evidence: Sequence[Words]) -> str:
    """Return the other name that stands there wherever the evidence has the words; "" if there is none or something
    else stands there once."""
    own, mine = claim.parts, claim.parts.keys[start : end + 1]
    run, hits = own.keys[place[0] : place[-1] + 1], list[str]()
    for words in evidence:
        keys = words.parts.keys
        for k in range(len(keys) - _RUN + 1):
            beside = k - 1 if side < 0 else k + _RUN
            if keys[k : k + _RUN] != run or not 0 <= beside < len(keys):
                continue
            told = words.parts.tokens[beside]
            if told.key in own.key_set or not words.parts.key_set.isdisjoint(mine) or not _a_name(words, told, k):
                return ""
            if any(fuzz.ratio(told.key, key) >= ALIKE for key in mine):
                return ""
            hits.append(words.raw[beside])
    return hits[0] if hits else ""


def _a_name(words: Words, told: Token, k: int) -> bool:
    """Return whether a word is a name, and no punctuation parts it from the three words that begin at `k`."""
    tokens = words.parts.tokens
    between = words.parts.text[min(told.start, tokens[k].start) : max(told.end, tokens[k + _RUN - 1].end)]
    return told in words.parts.names and not BREAKS.intersection(between)
