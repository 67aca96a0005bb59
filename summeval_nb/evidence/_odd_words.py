"""One word of a near copy that is another: sentence *detection*, where it was *classification*, or *existing* teams for
*new* ones. A plain module: edited directly, tested in tests/test_odd_words.py.

Of words that stand for another in an otherwise equal passage, most that mean the same have similar token vectors
(manager, boss), and most that were exchanged have not. So where the claim's weakest token matches nothing in the
sentence, the sentence does not say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from summeval_nb.evidence._actors import SPOKEN
from summeval_nb.evidence._slots import ALIKE, Clash, Slot, Words, framed_slots, title_for_name

__all__ = ["UNLIKE", "kind_clashes", "odd_word_clashes"]

UNLIKE = 0.5  # a cosine: the best match of the claim's weakest token, below which it says something else
_LIKE = 0.9  # such a cosine, from which on it says the same
_SIDE, _BOTH = 2, 6  # equal words on each side that is not the sentence's end, and together
_TOLD = SPOKEN | frozenset("announced announces revealed reveals stated states put puts insists insisted".split())


# Before one of these and a noun, a word says of what kind it is: for existing teams, the old branch.
_BEFORE_NOUNS = frozenset(
    "the a an this that these those its his her their our my your for of in on at by with from".split()
)


def kind_clashes(claim: Words, nearest: Words, evidence: Sequence[Words], weakest: float) -> list[Clash]:
    """Return the word before a noun for which the nearest sentence has another, where the article tells both apart.

    The claim's word stands before the same noun in another sentence of the evidence: *existing* teams keep their
    settings, and it is *new* teams of which the nearest sentence says the rest. Nothing where the claim's `weakest`
    token has its like in the nearest sentence: big, huge.
    """
    if weakest >= _LIKE:
        return []
    own, theirs = claim.parts, nearest.parts
    clashes = []
    for slot in framed_slots(list(Levenshtein.opcodes(theirs.keys, own.keys))):
        i, k = slot.start, slot.near_start
        if slot.end - i != 1 or slot.near_end - k != 1 or i == 0 or slot.end >= len(own.keys):
            continue
        kinds = {own.tokens[i].kind, theirs.tokens[k].kind, own.tokens[i + 1].kind}
        pair = own.keys[i : i + 2]
        if kinds != {"content"} or pair[1] != theirs.keys[k + 1] or claim.raw[i - 1] not in _BEFORE_NOUNS:
            continue
        if own.keys[i] in theirs.key_set or fuzz.ratio(claim.raw[i], nearest.raw[k]) >= ALIKE:
            continue
        elsewhere = any(two == pair for one in evidence for two in pairwise(one.parts.keys))
        if elsewhere and not title_for_name(claim, nearest, slot):
            clashes.append(Clash("replaced", i, i, nearest.raw[k]))
    return clashes


def odd_word_clashes(claim: Words, nearest: Words, weakest: float) -> list[Clash]:
    """Return the single words of an otherwise equal passage for which the nearest sentence has another.

    `weakest` is how well the claim's weakest token matches the nearest sentence (the feature `near_min`).
    """
    if weakest >= UNLIKE:
        return []
    clashes = []
    codes = list(Levenshtein.opcodes(nearest.parts.keys, claim.parts.keys))
    for number, code in enumerate(codes):
        sides = [*codes[max(0, number - 1) : number], *codes[number + 1 : number + 2]]
        equal = [one.dest_end - one.dest_start for one in sides if one.tag == "equal"]
        single = code.dest_end - code.dest_start == 1 == code.src_end - code.src_start
        if code.tag != "replace" or not single or len(equal) < len(sides):
            continue
        if min(equal, default=0) < _SIDE or sum(equal) < _BOTH:
            continue
        place, there = code.dest_start, code.src_start
        own, theirs = claim.raw[place], nearest.raw[there]
        kinds = claim.parts.tokens[place].kind, nearest.parts.tokens[there].kind
        if kinds != ("content", "content") or fuzz.ratio(own, theirs) >= ALIKE or {own, theirs} <= _TOLD:
            continue
        if not title_for_name(claim, nearest, Slot(place, place + 1, there, there + 1)):
            clashes.append(Clash("replaced", place, place, theirs))
    return clashes
