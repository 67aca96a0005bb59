"""Which words a claim and its evidence deny, and when that is one and the same. A plain module: edited directly, tested
in tests/test_denials.py.

*Visitors were not allowed* says what *no visitors were allowed* says, *did not open until March* what *opened in March*
says, and *not approved* what *rejected* says: such a "not" on one side is no contradiction.
"""

from __future__ import annotations

from collections.abc import Sequence

from summeval_nb.evidence._slots import TIMED, Clash, Words, is_negation, left_undone
from summeval_nb.evidence.check import Parts

__all__ = ["denied_once", "negation_clashes"]

_REACH = 4  # a "not" denies the first content word among so many
_ONLY = frozenset("only just merely simply solely".split())
_TURNS = frozenset("but and or yet".split())  # not Leeds but York: what follows is no longer denied
_AT = frozenset("in on at from by after once if when next this".split())  # before the time that was waited for
# Between these there is nothing third: who did not survive died. Prices that did not rise need not have fallen.
_COMPLEMENTS = (
    {"open", "opened", "opens", "close", "closed", "closes", "shut"},
    {"approve", "approved", "approves", "accept", "accepted", "accepts", "reject", "rejected", "rejects"},
    {"allow", "allowed", "allows", "permit", "permitted", "permits", "ban", "banned", "bans", "forbid", "forbidden"},
    {"survive", "survived", "survives", "die", "died", "dies", "dead", "alive"},
    {"legal", "illegal", "lawful", "unlawful"},
    {"guilty", "innocent"},
    {"present", "absent"},
    {"true", "false"},
)
# No pupils were hurt does not follow from teachers who were: these are opposites of kind.
_KINDS = frozenset(
    "man men woman women boy boys girl girls child children adult adults pupil pupils student students teacher "
    "teachers father mother son daughter brother sister husband wife profit profits loss losses".split()
)
_VOWELS = str.maketrans("", "", "aeiouy")
# Past forms of verbs that change more than vowels: paid no dividend, did not pay a dividend.
_FORMS = dict(
    pair.split(":")
    for pair in "paid:pay brought:bring made:make took:take told:tell sold:sell left:leave lost:lose kept:keep "
    "felt:feel sent:send spent:spend built:build lent:lend bought:buy caught:catch taught:teach thought:think "
    "sought:seek went:go did:do had:have heard:hear meant:mean saw:see said:say dealt:deal shot:shoot laid:lay".split()
)


def _telling(words: Words, place: int) -> bool:
    return words.parts.tokens[place].kind in ("content", "number")


def _negations(words: Words, other: Words | None = None) -> list[int]:
    """Return the places of what denies; "not only" does not, where the other text has no "only" of its own."""
    found = [place for place in range(len(words.raw)) if is_negation(words, place)]
    if other is None:
        return found
    after = {place: words.raw[place + 1] for place in found if place + 1 < len(words.raw)}
    found = [place for place in found if after.get(place) not in TIMED]  # not until March did it open
    return [place for place in found if after.get(place) not in _ONLY or after[place] in other.raw]


def _next_word(words: Words, place: int) -> int | None:
    """Return the place of the first content word or number after a word, if it is near: what a "not" denies.

    What works "no longer" does not work.
    """
    near = range(place + 1, min(place + 1 + _REACH, len(words.raw)))
    return next((one for one in near if _telling(words, one) and words.raw[one] != "longer"), None)


def _told(words: Words, negations: Sequence[int]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the first content word after each negation, and all other content words, with their places."""
    denied_at = {_next_word(words, place) for place in negations}
    denied: dict[str, int] = {}
    plain: dict[str, int] = {}
    for place, token in enumerate(words.parts.tokens):
        if _telling(words, place):
            (denied if place in denied_at else plain).setdefault(token.key, place)
    return denied, plain


def _timed(denying: Words, plain: Words, place: int) -> bool:
    """Return whether one text denies a word until a time, and the other says the word in, on or after that time."""
    later = [i for i in range(place + 1, len(denying.raw)) if denying.raw[i] in TIMED]
    if not later or not TIMED.isdisjoint(plain.raw):
        return False
    when = _next_word(denying, later[0])
    if when is None or "after" in denying.raw[later[0] : when]:  # not until after March: not in March
        return False
    key = denying.parts.tokens[when].key
    there = [i for i, one in enumerate(plain.parts.keys) if one == key]
    return any(not _AT.isdisjoint(plain.raw[max(0, i - 3) : i]) for i in there)


def _moved(first: Words, second: Words) -> set[str]:
    """Return words that a "not" denies in one text and stands beside in the other: no visitors were, visitors were not.

    The two words stand in the same order, with nothing but small words between them.
    """
    found: set[str] = set()
    for one, other in ((first, second), (second, first)):
        pairs = {
            (one.parts.tokens[a].key, one.parts.tokens[b].key)
            for place in _negations(one, other)
            if (a := _next_word(one, place)) is not None and (b := _next_told(one, a)) is not None
        }
        denied = {_next_word(other, place) for place in _negations(other)}
        for place in _negations(other):
            before = next((i for i in range(place - 1, max(-1, place - 1 - _REACH), -1) if _telling(other, i)), None)
            after = _next_word(other, place)
            if before is None or after is None or before in denied:
                continue
            pair = other.parts.tokens[before].key, other.parts.tokens[after].key
            found |= set(pair) if any(_alike(pair, seen, other, one) for seen in pairs) else set()
    return found


def _alike(pair: tuple[str, str], seen: tuple[str, str], other: Words, one: Words) -> bool:
    """Return whether two pairs are the same, also where the verb has another form: did not give, gave no."""
    if pair == seen:
        return True
    unknown = pair[0] not in one.parts.key_set and seen[0] not in other.parts.key_set
    forms = [_FORMS.get(key, key).translate(_VOWELS) for key in (pair[0], seen[0])]
    return pair[1] == seen[1] and forms[0] == forms[1] and unknown


def _next_told(words: Words, place: int) -> int | None:
    """Return the next content word, if no negation stands before it."""
    for other in range(place + 1, min(place + 1 + _REACH, len(words.raw))):
        if is_negation(words, other) or words.raw[other] in _TURNS:
            return None
        if _telling(words, other):
            return other
    return None


def _undone(sentences: Sequence[Words]) -> set[str]:
    """Return the words that stand only behind a *failed to*: nowhere is said that somebody did it."""
    every = [(one.parts.keys[i], left_undone(one, i)) for one in sentences for i in range(len(one.raw))]
    return {key for key, undone in every if undone} - {key for key, undone in every if not undone}


def negation_clashes(claim: Words, near: Words, evidence: Sequence[Parts]) -> tuple[list[Clash], float]:
    """Return words denied on one side only; and whether the count of negations in the nearest sentence differs."""
    own = _negations(claim, near)
    denied, plain = _told(claim, own)
    others = [Words.of(parts) for parts in evidence]
    told = [_told(one, _negations(one, claim)) for one in others]
    their_denied = {key for one, _ in told for key in one}
    their_plain = {key for _, one in told for key in one}
    undone = _undone(others)
    moved, clashes, same = _moved(claim, near), [], False
    near_denied, _ = _told(near, _negations(near, claim))
    for key, place in denied.items():
        if key in their_plain and key not in their_denied | undone and key not in moved:
            if key in near.parts.key_set and _timed(claim, near, place):
                same = True
            else:
                clashes.append(Clash("negation", place, place, "", key in near.parts.key_set))
    for key, place in plain.items():
        if left_undone(claim, place):
            continue
        if key in their_denied and key not in their_plain and key not in denied and key not in moved:
            if key in near_denied and _timed(near, claim, near_denied[key]):
                same = True
            else:
                clashes.append(Clash("negation", place, place, "not", key in near.parts.key_set))
    shared = [i for i, key in enumerate(near.parts.keys) if key in claim.parts.content_set]
    if not shared:
        return clashes, float(len(denied))
    stretch = range(max(0, shared[0] - 2), shared[-1] + 1)
    theirs = sum(place in stretch for place in _negations(near, claim))
    return clashes, float((len(own) % 2 != theirs % 2) != same)


def denied_once(claim: Words, near: Words, place: int, opposite: str) -> bool:
    """Return whether a word and its opposite in the nearest sentence say the same, because one of them is denied.

    What is said to be one thing is not its opposite; what is not the one need not be the other, but for some pairs.
    """
    told = {one: {_next_word(words, i) for i in _negations(words)} for one, words in ((0, claim), (1, near))}
    if not _telling(claim, place) or "longer" in (claim.raw[place], opposite):
        return False
    theirs = {i in told[1] for i, word in enumerate(near.raw) if word == opposite and _telling(near, i)}
    if len(theirs) != 1 or (place in told[0]) in theirs:
        return False
    either = any(claim.raw[place] in some and opposite in some for some in _COMPLEMENTS)
    return either or (place in told[0] and claim.raw[place] not in _KINDS)
