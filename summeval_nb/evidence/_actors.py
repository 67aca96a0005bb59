"""Somebody does what another did, in the evidence's own words. A plain module: edited directly, tested in
tests/test_actors.py.

Where a claim repeats several words of an evidence sentence, the name before them does what the words say, and the name
behind them closes it. If another name stands there in the evidence, the claim has given the deed to somebody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from summeval_nb.evidence._roles import WHEN
from summeval_nb.evidence._slots import ALIKE, EITHER, Clash, Words, broken, is_negation
from summeval_nb.evidence.check import Parts

__all__ = ["actor_clashes", "broken", "with_first_names"]

_LONGEST = 8  # words between two commas that only say more of the one who acts
_LEAST = 3  # words that claim and evidence have in a row, two of them with content
_BEHIND, _FAR_BEHIND = 4, 6  # the same where the name stands behind them; up to six, if four have too little content
HELPERS = frozenset("who which that has have had also later then".split())
BE = frozenset("is are was were be been being get gets got".split())
# A name behind one of these says of whom or where, and does nothing itself.
OF = frozenset("of in at from and or with for by to near on s than as like de du van von la".split())
SPOKEN = frozenset(
    "said says say told tells added adds asked asks replied wrote writes argued warned explained called".split()
)


def with_first_names(parts: Parts, known: frozenset[str]) -> Parts:
    """Return a sentence whose first word is a name, too, if it is written as one and is a name elsewhere."""
    first = next((one for one in parts.tokens[:2] if one.kind != "function"), None)
    if first is None or first.kind != "content" or first in parts.names or first.key not in known:
        return parts
    return replace(parts, names=(first, *parts.names)) if parts.text[first.start].isupper() else parts


def is_name(words: Words, place: int) -> bool:
    return (
        0 <= place < len(words.raw) and words.parts.tokens[place] in words.parts.names and words.raw[place] not in WHEN
    )


def _ending(words: Words, last: int) -> range:
    """Return the places of the name that ends at `last`; none if no name does."""
    first = last + 1
    while is_name(words, first - 1) and not (first <= last and broken(words, first - 1)):
        first -= 1
    return range(first, last + 1)


def _starting(words: Words, first: int) -> range:
    """Return the places of the name that starts at `first`; none if no name does."""
    end = first
    while is_name(words, end) and not (end > first and broken(words, end - 1)):
        end += 1
    return range(first, end)


def _acting(words: Words, end: int) -> range:
    """Return the places of the name that does what the words from `end` on say; none if no name does.

    What stands between two commas behind a name says more of it: Leon Szabo, her fiercest critic, repeated it.
    """
    while end > 0 and words.raw[end - 1] in HELPERS and not broken(words, end - 1):
        end -= 1
    name = _ending(words, end - 1)
    if not name and end > 0 and broken(words, end - 1):
        starts = (i for i in range(end - 2, max(end - 2 - _LONGEST, -1), -1) if broken(words, i))
        name = _ending(words, next(starts, -1))
    return range(0) if not name or (name.start and words.raw[name.start - 1] in OF) else name


def _run(claim: Words, i: int, near: Words, k: int) -> int:
    """Return how many words are the same from two places on."""
    own, theirs, n = claim.parts.keys, near.parts.keys, 0
    while i + n < len(own) and k + n < len(theirs) and own[i + n] == theirs[k + n]:
        n += 1
    return n


def _same_deed(one: str, other: str) -> bool:
    """Return whether two words may be forms of one verb (came, come), or both say that somebody spoke."""
    return {one, other} <= SPOKEN or (one[0] == other[0] and fuzz.ratio(one, other) >= ALIKE)


def _content(words: Words, places: range) -> int:
    return sum(words.parts.tokens[i].kind in ("content", "number") for i in places)


def _keys(words: Words, places: range) -> set[str]:
    return {words.parts.keys[i] for i in places}


def same_name(claim: Words, own: range, near: Words, theirs: range) -> bool:
    """Return whether two names may be one: they share a word, are spelt alike, or one abbreviates the other."""
    if not _keys(claim, own).isdisjoint(_keys(near, theirs)):
        return True
    one, other = (" ".join(words.raw[i] for i in places) for words, places in ((claim, own), (near, theirs)))
    first = ["".join(word[0] for word in name.split()) for name in (one, other)]
    return fuzz.ratio(one, other) >= ALIKE or one.replace(".", "") == first[1] or other.replace(".", "") == first[0]


def _one_name(words: Words, own: set[str], theirs: set[str]) -> bool:
    """Return whether two names stand side by side as one: Barack, and Obama."""
    keys = words.parts.keys
    beside = (
        {keys[i], keys[i + 1]}
        for i in range(len(keys) - 1)
        if is_name(words, i) and is_name(words, i + 1) and not broken(words, i)
    )
    return any(pair & own and pair & theirs for pair in beside)


def _told_together(evidence: Sequence[Words], claim: Words, own: range, near: Words, theirs: range) -> bool:
    """Return whether a sentence holds both names, and so may say that one lies in the other: Croydon, London."""
    both = _keys(claim, own), _keys(near, theirs)
    return any(all(not keys.isdisjoint(words.parts.key_set) for keys in both) for words in evidence)


def _places(words: Words, claim: Words, start: int, n: int) -> Iterator[int]:
    """Give the places where the `n` words of the claim from `start` on stand in a row; none if it has fewer."""
    own, keys = words.parts.keys, claim.parts.keys[max(start, 0) : start + n]
    return (k for k in range(len(own) - n + 1) if len(keys) == n and own[k] == keys[0] and own[k : k + n] == keys)


def _does_another(claim: Words, i: int, name: range, evidence: Sequence[Words]) -> str | None:
    """Return who does in the evidence what a name does in the words from `i` on, if it is somebody else.

    Of the verb itself another form will do (came on as a substitute, had come on as a substitute).
    """
    found = None
    for near in evidence:
        for k, start in _deeds(claim, i, near):
            if not _keys(claim, name).isdisjoint(near.parts.keys):  # before them, or with, for and beside the other
                return None
            other = _acting(near, start)
            if not other:
                continue
            if near.parts.text[near.parts.tokens[start].start].isupper():  # part of a name; one side is in lower case
                return None
            if same_name(claim, name, near, other) or is_negation(near, start - 1):
                return None
            if any(_one_name(words, _keys(claim, name), _keys(near, other)) for words in evidence):
                return None
            run = _run(claim, i + k - start, near, k)
            if _content(claim, range(i, i + k - start + run)) >= 2:
                found = " ".join(near.raw[place] for place in other)
    return found


def _deeds(claim: Words, i: int, near: Words) -> Iterator[tuple[int, int]]:
    """Give the places of the words from `i` on, and where the verb before them stands."""
    own = claim.parts.keys
    yield from ((k, k) for k in _places(near, claim, i, _LEAST))
    for k in _places(near, claim, i + 1, _BEHIND):
        if k and own[i] != near.parts.keys[k - 1] and _same_deed(claim.raw[i], near.raw[k - 1]):
            yield k, k - 1


def _closes_another(claim: Words, name: range, n: int, evidence: Sequence[Words]) -> str | None:
    """Return which name closes in the evidence the `n` words that another name closes in the claim."""
    found = None
    for near in evidence:
        for k in _places(near, claim, name.start - n, n):
            first = k + n
            if not _keys(claim, name).isdisjoint(near.parts.keys):
                return None
            while first < min(k + n + 3, len(near.raw)) and not is_name(near, first) and not broken(near, first - 1):
                first += 1
            other = _starting(near, first)
            if not other or broken(near, first - 1):
                continue
            if same_name(claim, name, near, other) or _told_together(evidence, claim, name, near, other):
                return None
            if _keys(near, other).isdisjoint(claim.parts.key_set):
                found = " ".join(near.raw[place] for place in other)
    return found


def _done_to(claim: Words, i: int, name: range, evidence: Sequence[Words]) -> bool:
    """Return whether a name, before a verb at `i` in the claim, only follows the same verb in the evidence.

    Two words in a row, or what the verb is done to in the claim stands before it in the evidence.
    """
    if i + 1 >= len(claim.raw) or claim.raw[i] in SPOKEN | EITHER | BE or claim.raw[i + 1] in ("by", "with", "and"):
        return False
    found = False
    for near in evidence:
        for k in _places(near, claim, i, 1):
            if not _keys(claim, name).isdisjoint(near.parts.keys[:k]) or (k and near.raw[k - 1] in BE):
                return False
            run = _run(claim, i, near, k)
            behind = k + run + (near.raw[k + run : k + run + 1] == ("the",))
            after = _starting(near, behind)
            if not after or _keys(near, after).isdisjoint(_keys(claim, name)) or broken(near, behind - 1):
                continue
            place = i + 1 + (claim.raw[i + 1] in ("the", "a", "an"))
            turned = place < len(claim.raw) and k > 0 and claim.parts.keys[place] == near.parts.keys[k - 1]
            if run >= 2 or (turned and claim.parts.tokens[place].kind == "content"):
                found = True
    return found


def actor_clashes(claim: Words, evidence: Sequence[Words]) -> list[Clash]:
    """Return the names that do, or close, what another name does or closes in the evidence.

    Nothing where any evidence sentence with the same words has the name in the same place.
    """
    clashes = []
    for i in range(1, len(claim.raw)):
        token = claim.parts.tokens[i]
        if is_name(claim, i - 1) and not is_name(claim, i):
            verb = i
            while verb < len(claim.raw) - 1 and claim.raw[verb] in HELPERS:
                verb += 1
            name = _ending(claim, i - 1)
            if name.start and claim.raw[name.start - 1] in OF or broken(claim, i - 1) and verb == i:
                continue
            if claim.parts.tokens[verb].kind != "content":
                continue
            other = _does_another(claim, verb, name, evidence)
            if other or _done_to(claim, verb, name, evidence):
                clashes.append(Clash("role", name.start, name.stop - 1, other or ""))
        if i >= _BEHIND and is_name(claim, i) and not is_name(claim, i - 1) and token.kind == "content":
            name = _starting(claim, i)
            last = name.stop == len(claim.raw) or broken(claim, name.stop - 1)
            n = next((n for n in range(_BEHIND, min(_FAR_BEHIND, i) + 1) if _content(claim, range(i - n, i)) >= 2), 0)
            if last and n and not any(broken(claim, place) for place in range(i - n, i)):
                other = _closes_another(claim, name, n, evidence)
                if other:
                    clashes.append(Clash("name", name.start, name.stop - 1, other))
    return clashes
