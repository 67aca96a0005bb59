"""One word of a near copy that is another: sentence *detection*, where it was *classification*. A plain module: edited
directly, tested in tests/test_odd_words.py.

Of words that stand for another in an otherwise equal passage, most that mean the same have similar token vectors
(manager, boss), and most that were exchanged have not. So where the claim's weakest token matches nothing in the
sentence, the sentence does not say it.
"""

from __future__ import annotations

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from summeval_nb.evidence._actors import SPOKEN
from summeval_nb.evidence._slots import ALIKE, Clash, Slot, Words, title_for_name

__all__ = ["UNLIKE", "odd_word_clashes"]

UNLIKE = 0.5  # a cosine: the best match of the claim's weakest token, below which it says something else
_SIDE, _BOTH = 2, 6  # equal words on each side that is not the sentence's end, and together
_TOLD = SPOKEN | frozenset("announced announces revealed reveals stated states put puts insists insisted".split())


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
