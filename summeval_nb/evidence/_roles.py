"""Who did it to whom: names that stand the other way round. A plain module: edited directly, tested in
tests/test_roles.py.

Two neighbouring names of a claim have changed their roles if every evidence sentence that holds both has them the
other way round: in the other order, or in the same order with the same verb in the passive. Where and when something
happened may be told first or last.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from summeval_nb.evidence._slots import BE, EITHER, WHEN, Clash, Words, inverted
from summeval_nb.evidence.check import Parts, Token

__all__ = ["WHEN", "role_clashes"]

_WHERE = frozenset("in on at near during since until outside inside".split())
_JOINED = frozenset("and or of from".split())  # two of one kind, or one of the other's
_BETWEEN = 6  # from "by" to the name, at most: by the vice-president, Sunniva Clegg
_BOTH = EITHER - {"meeting"}  # a meeting was chaired by one of them
_MOST = 8  # mentions of a name in one sentence that are looked at
_SHORTEST = 3  # letters that two forms of one verb share, at least


def _where(words: Words, place: int) -> bool:
    """Return whether a name says where or when: in Leeds, at Easter."""
    tokens, text, before = words.parts.tokens, words.parts.text, place - 1
    while before >= 0 and (tokens[before] in words.parts.names or words.raw[before] == "the"):
        if words.raw[before] in WHEN or "," in text[tokens[before].end : tokens[before + 1].start]:
            return False  # In Leeds, Tom Hale
        before -= 1
    return before >= 0 and words.raw[before] in _WHERE


def _told(words: Words, start: int, stop: int) -> set[str]:
    return {words.parts.keys[i] for i in range(start, stop) if words.parts.tokens[i].kind == "content"}


def _how(words: Words, place: int) -> bool:
    """Return whether a word after "by" says how, or by how much: by beating them, by two goals."""
    return words.raw[place].endswith("ing") or words.parts.tokens[place].kind == "number"


def _suffered(words: Words, first: int, second: int) -> set[str] | None:
    """Return the words of "first was seen by second", none if "by" says no such thing; None if there is no "by"."""
    places = [i for i in range(first + 1, second) if words.raw[i] == "by" and not _how(words, i + 1)]
    if not places:
        return None
    by = places[-1]
    forms = [i for i in range(first + 1, by) if words.raw[i] in BE]
    told = [i for i in range(forms[-1], by) if words.parts.tokens[i].kind == "content"] if forms else []
    return {words.parts.keys[told[0]]} if told and second - by <= _BETWEEN else set()


def _alike(one: str, other: str) -> bool:
    """Return whether two words may be forms of one verb: beat, beaten."""
    short, long = sorted((one, other), key=len)
    return len(short) >= _SHORTEST and long.startswith(short)


def _turned(claim: Words, i: int, j: int, near: Words, k: int, m: int) -> bool | None:
    """Return whether the roles of names at `i` and `j` are turned in evidence that has them at `k` and `m`.

    None where it cannot be said.
    """
    same, start, stop = k < m, min(k, m), max(k, m)
    own, theirs = _suffered(claim, i, j), _suffered(near, start, stop)
    if own is None and theirs is None:
        return not same
    if own is not None and theirs is not None:
        return False if same else (True if own & theirs else None)
    if not same:  # one of the two is in the passive
        return False if own or theirs else None
    does = _told(near, start, stop) if theirs is None else _told(claim, i, j)
    return True if any(_alike(one, other) for one in does for other in own or theirs or ()) else None


def role_clashes(claim: Words, evidence: Sequence[Parts], *, shared: bool = False) -> tuple[list[Clash], float]:
    """Return two neighbouring names that every evidence sentence holding both has the other way round.

    With `shared` only those that one of these sentences joins by a word that joins them in the claim.
    """
    names: list[tuple[int, Token]] = [
        (i, one) for i, one in enumerate(claim.parts.tokens) if one in claim.parts.names and claim.raw[i] not in WHEN
    ]
    clashes = []
    for (i, a), (j, b) in zip(names, names[1:], strict=False):
        if a.key == b.key or j - i < 2 or not _JOINED.isdisjoint(claim.raw[i + 1 : j]):
            continue
        if not _BOTH.isdisjoint(claim.raw[i + 1 : j]) or claim.raw[j - 1] == "with":  # both do it
            continue
        where = [_where(claim, place) for place in (i, j)]
        found: set[bool | None] = set()
        joined = not shared
        for parts in evidence:
            if False in found or a.key not in parts.key_set or b.key not in parts.key_set:
                continue
            near = Words.of(parts)
            first, second = ([k for k, key in enumerate(parts.keys) if key == one.key][:_MOST] for one in (a, b))
            for k, m in product(first, second):
                joined = joined or not _told(claim, i + 1, j).isdisjoint(_told(near, min(k, m) + 1, max(k, m)))
                turned = _turned(claim, i, j, near, k, m)
                if turned and inverted(claim, range(i + 1, j), near, range(min(k, m) + 1, max(k, m))):
                    turned = False
                if turned and where[0] != where[1] and where == [_where(near, place) for place in (k, m)]:
                    turned = None
                found.add(turned)
        if joined and True in found and False not in found:
            clashes.append(Clash("role", i, j, ""))
    return clashes, float(len(clashes))
