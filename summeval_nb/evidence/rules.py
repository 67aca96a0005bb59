"""What clashes between a claim and its evidence: exchanged words, other numbers and names, a "not" on one side only."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from summeval_nb.core.results import Finding
from summeval_nb.evidence.tokens import Parts, Token, antonyms
from summeval_nb.evidence.unsaid import DENIED, same_form, unsaid_words
from summeval_nb.evidence.words import idf_coverage, pairs_within, stem_weight

if TYPE_CHECKING:
    from rapidfuzz.distance import Opcode

__all__ = ["Clash", "Clashes", "Words", "exchanged_noun", "find_clashes", "findings_of", "nearest_two"]


# What stands in the place of something else. Where all around is equal, what stands in the gap is in the same place of
# the same statement: a number that belongs elsewhere, or two words that have changed places, change what is said.


class Clash(NamedTuple):
    """A passage of the claim that the evidence contradicts: its kind, its tokens, and the words of the evidence
    instead.

    `firm` is False where the rule is often wrong; such a passage is shown, but does not keep a sentence from being
    supported. `in_place` is True where all around it is equal, so that hardly anything but a change of what is said is
    left.
    """

    kind: str
    first: int
    last: int
    instead_of: str = ""
    firm: bool = True
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """A sentence's keys, and its words as written, in lower case."""

    parts: Parts
    raw: tuple[str, ...]

    @staticmethod
    @lru_cache(maxsize=512)
    def of(parts: Parts) -> Words:
        return Words(parts, tuple(parts.text[token.start : token.end].lower() for token in parts.tokens))


class Slot(NamedTuple):
    """Words of the claim from `start` to `end`, and the words of the evidence in their place."""

    start: int
    end: int
    near_start: int
    near_end: int


_SAME = frozenset("and or as well both plus the a an".split())
# Who comes first makes no difference.
_BOTH_WAYS = frozenset(
    "met meet meets meeting married marry marries divorced equals equal between versus vs drew".split()
)
# Nor where one of these stands between two names; elsewhere in a sentence they say nothing of who did what.
EITHER = _BOTH_WAYS | frozenset(
    "play plays played face faces faced merge merges merged near border borders bordered differ differs "
    "differed".split()
)
_TIMES = {"hundr": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0}
_ABOUT = frozenset("about around near almost rough approxim some".split())  # stems
_ABOVE, _BELOW = frozenset("more over least above".split()), frozenset("less fewer under below".split())
_UP_TO = (["up", "to"], ["at", "most"])
# Before a "t" that a tokenizer has cut off: didn ’ t.
_CUT = frozenset(
    "isn aren wasn weren don doesn didn hasn haven hadn won wouldn couldn shouldn can mustn needn mightn ain "
    "shan".split()
)
# Before "to": what follows was not done. It excuses a "not" of the other text, and denies nothing by itself.
_UNDONE = frozenset("fail fails failed failing unable refuse refuses refused".split())
# Not open until March, not only: what follows is not denied.
TIMED = frozenset("until till unless before".split())
_NOT_QUITE = TIMED | frozenset("only just merely simply".split())
_EXACT = 1 - 1e-9  # but for the last digits of what is calculated
_FRAME = 3  # equal words around a place, at least
_BEFORE = 3  # words before the first of two: the talks between the old board and the guild
_LONGEST_NAME = 5  # words, an article with them, and as many between two names
BREAKS = frozenset(',;:()"\u201c\u201d\u201e\u00ab\u00bb\u2014\u2013')
ALIKE = 75  # of 100: a name spelt differently is the same name


def number_value(tokens: Sequence[Token], place: int) -> float | None:
    """Return what a number is worth, with a multiplier behind it: 2 million is 2,000,000."""
    try:
        value = float(tokens[place].key.replace(",", "."))
    except ValueError:
        return None
    after = tokens[place + 1 : place + 2]
    return value * _TIMES.get(after[0].key, 1.0) if after else value


def is_rounded(tokens: Sequence[Token], place: int) -> bool:
    """Return whether a number is approximate or a limit: about 50, more than 50."""
    return told_between(tokens, place) != (_EXACT, 1 / _EXACT)


def told_between(tokens: Sequence[Token], place: int) -> tuple[float, float]:
    """Return between which multiples of a number what it tells may lie: about 50, more than 50, no more than 50.

    What rose to 50 is 50.
    """
    before = [token.key for token in tokens[max(0, place - 3) : place]]
    if not _ABOUT.isdisjoint(before):
        return 0.9, 1.1
    above, below = not _ABOVE.isdisjoint(before), not _BELOW.isdisjoint(before) or before[-2:] in _UP_TO
    if above == below:
        return _EXACT, 1 / _EXACT
    if any(token.kind == "negation" for token in tokens[max(0, place - 4) : place]):
        above = not above
    return (_EXACT, 1.1) if above else (0.9, 1 / _EXACT)


def slot_clashes(claim: Words, nearest: Words) -> list[Clash]:
    """Return the exchanged words, and the numbers and names that stand in another's place."""
    codes = list(Levenshtein.opcodes(nearest.parts.keys, claim.parts.keys))
    every = [
        Slot(code.dest_start, code.dest_end, code.src_start, code.src_end)
        for number, code in enumerate(codes)
        if code.tag == "replace"
        and any(neighbour.tag == "equal" for neighbour in codes[max(0, number - 1) : number + 2])
    ]
    found = list(_exchanged(claim, nearest, every, codes))
    if not found and EITHER.isdisjoint(claim.raw):  # blinks while heated, stays on once hot: one word for two
        wide = [taken_slot for taken_slot in different_slots(codes) if _says(claim, taken_slot.start, taken_slot.end)]
        found = list(_exchanged(claim, nearest, wide, codes, turned=False))
    found += _denied(claim, nearest, codes)
    taken = {clash.first for clash in found}
    for slot in framed_slots(codes):
        if slot.start in taken:
            continue
        hit = _number(claim, nearest, slot) or _name(claim, nearest, slot)
        found += [hit] if hit else []
    taken |= {clash.first for clash in found}
    longer = (slot for slot in different_slots(codes) if slot.start not in taken and _between(codes, slot) >= _FRAME)
    for slot in longer:  # 2.3 million for 900,000, and what is counted behind both
        if slot.end < len(claim.raw) and slot.near_end < len(nearest.raw) and (hit := _number(claim, nearest, slot)):
            found.append(hit)
    taken |= {clash.first for clash in found}
    found += [clash for clash in _number_of_another(claim, nearest) if clash.first not in taken]
    return [clash._replace(in_place=True) for clash in found]


def different_slots(codes: Sequence[Opcode]) -> Iterator[Slot]:
    """Give the places between equal words where both sides have other words, however many."""
    start, listed = None, list(codes)
    for code, after in zip(listed, [*listed[1:], None], strict=False):
        if code.tag == "equal":
            start = None
            continue
        start = start or code
        ends = after is None or after.tag == "equal"
        if ends and code.dest_end > start.dest_start and code.src_end > start.src_start and len(listed) > 1:
            yield Slot(start.dest_start, code.dest_end, start.src_start, code.src_end)


def _between(codes: Sequence[Opcode], slot: Slot) -> int:
    """Return how many equal words stand right before a slot and right behind it, together."""
    return sum(
        code.dest_end - code.dest_start
        for code in codes
        if code.tag == "equal" and (code.dest_end == slot.start or code.dest_start == slot.end)
    )


def framed_slots(codes: Sequence[Opcode]) -> Iterator[Slot]:
    """Give the places with equal words, or the sentence's end, on both sides, and three of them at least."""
    for number, code in enumerate(codes):
        sides = [*codes[max(0, number - 1) : number], *codes[number + 1 : number + 2]]
        equal = sum(side.dest_end - side.dest_start for side in sides)
        if code.tag == "replace" and all(side.tag == "equal" for side in sides) and equal >= _FRAME:
            yield Slot(code.dest_start, code.dest_end, code.src_start, code.src_end)


def _exchanged(
    claim: Words, nearest: Words, slots: Sequence[Slot], codes: Sequence[Opcode], *, turned: bool = True
) -> Iterator[Clash]:
    """Give both places of words that have changed places.

    Nothing clashes where two such pairs are whole clauses in another order, where they are members of a list, an active
    for a passive, a "not" that has moved with its clause; nor with another verb (lent, borrowed).
    """
    own, theirs = claim.parts.keys, nearest.parts.keys
    crossed = [
        (crossing, other)
        for number, crossing in enumerate(slots)
        for other in slots[number + 1 :]
        if own[crossing.start : crossing.end] == theirs[other.near_start : other.near_end]
        and own[other.start : other.end] == theirs[crossing.near_start : crossing.near_end]
        and any(_tells(claim, i) for i in range(crossing.start, crossing.end))
    ]
    if turned and not crossed and (sides := _turned_about(claim, nearest)):
        yield from (_slot_clash(claim, nearest, "role", slot) for slot in sides)
        return
    if len(crossed) != 1 or _one_list(claim, *crossed[0]) or _other_way_round(claim, nearest, codes, *crossed[0]):
        return
    first_slot, other = crossed[0]
    if any(claim.raw[i] in _BE for slot in crossed[0] for i in range(slot.start, slot.end)):  # a clause that has moved
        return
    if _inverted(claim, range(first_slot.end, other.start), nearest, range(first_slot.near_end, other.near_start)):
        return
    elsewhere = [slot for slot in slots if slot not in crossed[0]]
    if any(_tells(claim, i) for slot in elsewhere for i in range(slot.start, slot.end)):
        return
    for slot in crossed[0]:
        yield _slot_clash(claim, nearest, "number" if claim.parts.tokens[slot.start].kind == "number" else "role", slot)


def _slot_clash(claim: Words, nearest: Words, kind: str, slot: Slot) -> Clash:
    return Clash(kind, slot.start, slot.end - 1, " ".join(nearest.raw[slot.near_start : slot.near_end]))


def _turned_about(claim: Words, nearest: Words) -> tuple[Slot, Slot] | None:
    """Return two names, of whatever length, that have changed sides of the same verb: Leeds beat West Ham.

    Nothing where the claim's order is told as well, where what does it means the same both ways, where something is
    denied, or where a comma or a quotation mark stands between: They love New York, said Tom.
    """
    own, theirs = claim.parts.keys, nearest.parts.keys
    names = {name.key for words in (claim, nearest) for name in words.parts.names}
    starts = [i for i, key in enumerate(own) if key in names or claim.raw[i] in _SAME] if len(names) > 1 else []
    if _denies(claim) or _denies(nearest):
        return None
    for i, k in ((i, k) for i in starts for k in range(2, len(theirs)) if own[i] == theirs[k]):
        for n, verb in product(range(1, _LONGEST_NAME + 1), repeat=2):
            after, before = i + n + verb, k - verb
            if before < 1 or after >= len(own) or own[i:after] != theirs[k : k + n] + theirs[before:k]:
                continue
            lengths = range(min(_LONGEST_NAME, before, len(own) - after), 0, -1)
            m = next((m for m in lengths if own[after : after + m] == theirs[before - m : before]), 0)
            first_slot, other = Slot(i, i + n, before - m, before), Slot(after, after + m, k, k + n)
            different = m and set(own[i : i + n]).isdisjoint(own[after : after + m])
            if not different or not _doing(claim, names, range(i + n, after)):
                continue
            if not all(_named(claim, names, slot) for slot in (first_slot, other)):
                continue
            straight = _unbroken(claim, i, after + m) and _unbroken(nearest, before - m, k + n)
            if straight and not _holds(theirs, own[i : after + m]):
                return first_slot, other
    return None


def _doing(claim: Words, names: Container[str], between: range) -> bool:
    """Return whether the words between two names say what one does to the other, not what both do."""
    told = [claim.parts.keys[i] for i in between if claim.parts.tokens[i].kind == "content"]
    words = [claim.raw[i] for i in between]
    both = words[-1] == "with" or not EITHER.isdisjoint(words)
    return bool(told) and not both and not any(key in names for key in told)


def _named(claim: Words, names: Container[str], slot: Slot) -> bool:
    """Return whether a passage is a name, with or without an article, an *of* or an *and* in it."""
    told = [claim.parts.keys[i] for i in range(slot.start, slot.end) if claim.raw[i] not in _SAME | {"of"}]
    return bool(told) and claim.raw[slot.start] != "of" != claim.raw[slot.end - 1] and all(key in names for key in told)


def _unbroken(words: Words, start: int, end: int) -> bool:
    """Return whether no punctuation but dots and hyphens stands between the words from `start` to `end`."""
    return not BREAKS.intersection(words.parts.text[words.parts.tokens[start].start : words.parts.tokens[end - 1].end])


def _holds(keys: Sequence[str], some: Sequence[str]) -> bool:
    return any(list(keys[i : i + len(some)]) == list(some) for i in range(len(keys) - len(some) + 1))


def _says(claim: Words, start: int, end: int) -> bool:
    return any(claim.parts.tokens[i].kind == "content" for i in range(start, end))


def _tells(words: Words, place: int) -> bool:
    return words.parts.tokens[place].kind in ("content", "number")


def _other_way_round(claim: Words, nearest: Words, codes: Sequence[Opcode], slot: Slot, other: Slot) -> bool:
    """Return whether the two may say the same in the other order: both ways, by, a *not* that has moved or is new.

    Of the evidence only the part counts that the claim tells: what is denied elsewhere says nothing of the order.
    """
    same = [code for code in codes if code.tag == "equal"]
    told = range(same[0].src_start, same[-1].src_end)
    kept = {code.src_start + i: code.dest_start + i for code in same for i in range(code.src_end - code.src_start)}
    moved = any(is_negation(nearest, i) and i not in kept for i in told)
    moved = moved or any(is_negation(claim, i) and i not in kept.values() for i in range(len(claim.raw)))
    passive = ("by" in claim.raw) != ("by" in nearest.raw[told.start : told.stop])
    between = claim.raw[max(0, slot.start - _BEFORE) : other.end]  # a match between Leeds and Hull
    return moved or passive or not _BOTH_WAYS.isdisjoint(between)


def _one_list(claim: Words, slot: Slot, other: Slot) -> bool:
    """Return whether nothing but members of a list and what joins them stands between two places: A, B and C."""
    between = range(slot.end, other.start)
    return all(
        claim.raw[i] in _SAME or claim.parts.tokens[i] in claim.parts.names or claim.parts.tokens[i].kind == "number"
        for i in between
    )


def _denied(claim: Words, nearest: Words, codes: Sequence[Opcode]) -> Iterator[Clash]:
    """Give what follows a "not" on one side only, where three words or more are the same on both.

    The three follow the "not", or stand around it with nothing else between them.
    """
    for number, code in enumerate(codes):
        run = range(code.dest_start, code.dest_end)
        if code.tag != "equal" or not any(claim.parts.tokens[i].kind == "content" for i in run):
            continue
        if len(run) < 3 and not _only_denied(claim, nearest, codes[max(0, number - 2) : number + 1]):
            continue
        own, theirs = is_negation(claim, code.dest_start - 1), is_negation(nearest, code.src_start - 1)
        new = own and not any(is_negation(nearest, i) for i in range(code.src_start - 4, code.src_start))
        gone = theirs and not any(is_negation(claim, i) for i in range(code.dest_start))
        new = new and not left_undone(nearest, code.src_start)
        gone = gone and not left_undone(claim, code.dest_start)
        later = [*nearest.raw[code.src_end : code.src_end + 1], *claim.raw[code.dest_end : code.dest_end + 1]]
        if (new or gone) and TIMED.isdisjoint(later):
            place = next(i for i in run if claim.parts.tokens[i].kind == "content")
            yield Clash("negation", place, place, nearest.raw[code.src_start - 1] if gone else "")


def _only_denied(claim: Words, nearest: Words, codes: Sequence[Opcode]) -> bool:
    """Return whether two equal runs, three words together, have but a few small words of one side between them.

    And whether the side that has them says nothing further that the other does not say: not open *on Mondays*.
    """
    if [code.tag in ("insert", "delete") for code in codes] != [False, True, False] or codes[0].tag != "equal":
        return False
    if _denies(claim) and _denies(nearest):  # it has moved
        return False
    before, gap, after = codes
    if gap.tag == "insert":
        words, other, start, end, rest = claim, nearest, gap.dest_start, gap.dest_end, after.dest_end
    else:
        words, other, start, end, rest = nearest, claim, gap.src_start, gap.src_end, after.src_end
    same = [claim.parts.tokens[i] for code in (before, after) for i in range(code.dest_start, code.dest_end)]
    further = [token for token in words.parts.tokens[rest:] if token.kind in ("content", "number")]
    return (
        len(same) >= 3
        and sum(token.kind == "content" for token in same) >= 2
        and not any(token.kind in ("content", "number") for token in words.parts.tokens[start:end])
        and all(token.key in other.parts.key_set for token in further)
        and "but" not in words.raw[rest:]
        and _NOT_QUITE.isdisjoint(words.raw[start : end + 3])
    )


def _denies(words: Words) -> bool:
    return any(token.kind == "negation" for token in words.parts.tokens)


def is_negation(words: Words, place: int) -> bool:
    """Return whether a word denies what follows, also where a tokenizer has cut it: didn ’ t."""
    if place < 0:
        return False
    cut = words.raw[place] == "t" and place > 0 and words.raw[place - 1] in _CUT
    return cut or words.parts.tokens[place].kind == "negation"


def left_undone(words: Words, place: int) -> bool:
    """Return whether the deed of a word was not done: failed to raise, but not never failed to raise."""
    before = words.raw[max(0, place - 2) : place]
    if len(before) < 2 or before[1] != "to" or before[0] not in _UNDONE:
        return False
    return not any(is_negation(words, i) for i in range(max(0, place - 6), place - 2))


def _number(claim: Words, nearest: Words, slot: Slot) -> Clash | None:
    place, there = slot.start, slot.near_start
    if not _one_number(claim, place, slot.end) or not _one_number(nearest, there, slot.near_end):
        return None
    own, theirs = number_value(claim.parts.tokens, place), number_value(nearest.parts.tokens, there)
    if own is None or theirs is None or own == theirs:
        return None
    if nearest.parts.tokens[there].key in claim.parts.key_set:  # both are there: a list in another order
        return None
    low, high = told_between(claim.parts.tokens, place)
    return None if low * own <= theirs <= high * own else Clash("number", place, place, nearest.raw[there])


def _one_number(words: Words, start: int, end: int) -> bool:
    """Return whether a passage is a number, with or without what it is multiplied by: 900,000, 2.3 million."""
    told = words.parts.tokens[start:end]
    return told[0].kind == "number" and (len(told) == 1 or (len(told) == 2 and told[1].key in _TIMES))


def _number_of_another(claim: Words, nearest: Words) -> Iterator[Clash]:
    """Give numbers before and after which stand the words that stand around another number: the state pays 48 million.

    Two words before it, the second one with a content of its own, and the one behind it; and the evidence may not have
    the number there, too.
    """
    own, theirs = claim.parts, nearest.parts
    for i in range(2, len(own.tokens) - 1):
        if own.tokens[i].kind != "number" or own.tokens[i - 1].kind != "content" or is_rounded(own.tokens, i):
            continue
        same = [
            k
            for k in range(2, len(theirs.tokens))
            if theirs.tokens[k].kind == "number" and theirs.keys[k - 2 : k] == own.keys[i - 2 : i]
        ]
        around = [k for k in same if theirs.keys[k + 1 : k + 2] == own.keys[i + 1 : i + 2]]
        if any(theirs.keys[k] in own.key_set for k in around):  # both are there: a list in another order
            continue
        value, values = number_value(own.tokens, i), {number_value(theirs.tokens, k) for k in same}
        if around and value is not None and value not in values and None not in values:
            yield Clash("number", i, i, nearest.raw[around[0]])


def _name(claim: Words, nearest: Words, slot: Slot) -> Clash | None:
    own = claim.parts.tokens[slot.start : slot.end]
    theirs = nearest.parts.tokens[slot.near_start : slot.near_end]
    if len(own) > 2 or len(theirs) > 2:
        return None
    both = (claim, own), (nearest, theirs)
    named = all(_written_as_name(words.parts, token) for words, some in both for token in some)
    if not named and not all(some[-1] is words.parts.tokens[0] and _opens_as_name(words) for words, some in both):
        return None
    if any(token.key in claim.parts.key_set for token in theirs):  # both are named: a list, or somebody else's part
        return None
    written, instead = (" ".join(token.key for token in some) for some in (own, theirs))
    alike = fuzz.ratio(written, instead) >= ALIKE or instead.startswith(written) or written.startswith(instead)
    return None if alike else Clash("name", slot.start, slot.end - 1, instead)


def _opens_as_name(words: Words) -> bool:
    """Return whether a sentence's first word may be a name: no article, singular, before a verb, as in Berlin is."""
    first, after = words.raw[0], words.raw[1] if len(words.raw) > 1 else ""
    verb = after in ("is", "was", "has") or (after.endswith("ed") and len(after) > 4 and not first.endswith("s"))
    written = words.parts.text[words.parts.tokens[0].start].isupper() and words.parts.tokens[0].kind == "content"
    return verb and written and not first.endswith("ing") and first not in _NO_NAMES


_NO_NAMES = frozenset("police people staff men women children everybody everyone somebody someone".split())


def _written_as_name(parts: Parts, token: Token) -> bool:
    """Return whether a word is a name, by its place in the sentence or by a capital within it: macOS."""
    return token in parts.names or any(letter.isupper() for letter in parts.text[token.start + 1 : token.end])


# What is denied on one side only. *Visitors were not allowed* says what *no visitors were allowed* says, and *did not
# open until March* what *opened in March* says: such a "not" is no contradiction.

_REACH = 4  # a "not" denies the first content word among so many
_ONLY = frozenset("only just merely simply solely".split())
_TURNS = frozenset("but and or yet".split())  # not Leeds but York: what follows is no longer denied
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


def _negations(words: Words, other: Words | None = None) -> list[int]:
    """Return the places of what denies; "not only" does not, where the other text has no "only" of its own."""
    found = [place for place in range(len(words.raw)) if is_negation(words, place)]
    if other is None:
        return found
    after = {place: words.raw[place + 1] for place in found if place + 1 < len(words.raw)}
    found = [place for place in found if after.get(place) not in TIMED]  # not until March did it open
    return [place for place in found if after.get(place) not in _ONLY or after[place] in other.raw]


_CLAUSE_ENDS = re.compile(r"\s*(?:;|,?\s*(?:and|but)\b)")


def _next_word(words: Words, place: int) -> int | None:
    """Return the place of the first content word or number after a word, if it is near: what a "not" denies.

    What works "no longer" does not work. In "a child pays nothing, and the hall was built" it is not the hall.
    """
    if _CLAUSE_ENDS.match(words.parts.text, words.parts.tokens[place].end):
        return None
    near = range(place + 1, min(place + 1 + _REACH, len(words.raw)))
    return next((index for index in near if _tells(words, index) and words.raw[index] != "longer"), None)


def _denied_and_plain(words: Words, negations: Sequence[int]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the first content word after each negation, and all other content words, with their places."""
    denied_at = {_next_word(words, place) for place in negations}
    denied: dict[str, int] = {}
    plain: dict[str, int] = {}
    for place, token in enumerate(words.parts.tokens):
        if _tells(words, place):
            (denied if place in denied_at else plain).setdefault(token.key, place)
    return denied, plain


def _moved(first: Words, second: Words) -> set[str]:
    """Return words that a "not" denies in one text and stands beside in the other: no visitors were, visitors were not.

    The two words stand in the same order, with nothing but small words between them.
    """
    found: set[str] = set()
    for words, other in ((first, second), (second, first)):
        pairs = {
            (words.parts.tokens[a].key, words.parts.tokens[b].key)
            for place in _negations(words, other)
            if (a := _next_word(words, place)) is not None and (b := _next_told(words, a)) is not None
        }
        denied = {_next_word(other, place) for place in _negations(other)}
        for place in _negations(other):
            before = next((i for i in range(place - 1, max(-1, place - 1 - _REACH), -1) if _tells(other, i)), None)
            after = _next_word(other, place)
            if before is None or after is None or before in denied:
                continue
            pair = other.parts.tokens[before].key, other.parts.tokens[after].key
            found |= set(pair) if any(_same_pair(pair, seen, other, words) for seen in pairs) else set()
    return found


def _same_pair(pair: tuple[str, str], seen: tuple[str, str], other: Words, words: Words) -> bool:
    """Return whether two pairs are the same, also where the verb has another form: did not give, gave no."""
    if pair == seen:
        return True
    unknown = pair[0] not in words.parts.key_set and seen[0] not in other.parts.key_set
    return pair[1] == seen[1] and same_form(pair[0], seen[0]) and unknown


def _next_told(words: Words, place: int) -> int | None:
    """Return the next content word, if no negation stands before it."""
    for other in range(place + 1, min(place + 1 + _REACH, len(words.raw))):
        if is_negation(words, other) or words.raw[other] in _TURNS:
            return None
        if _tells(words, other):
            return other
    return None


def _undone(sentences: Sequence[Words]) -> set[str]:
    """Return the words that occur only behind a *failed to*, so that no sentence asserts the deed."""
    every = [
        (sentence.parts.keys[i], left_undone(sentence, i)) for sentence in sentences for i in range(len(sentence.raw))
    ]
    return {key for key, undone in every if undone} - {key for key, undone in every if not undone}


def negation_clashes(claim: Words, near: Words, evidence: Sequence[Parts]) -> tuple[list[Clash], bool]:
    """Return words denied on one side only; and whether the count of negations in the nearest sentence differs."""
    own = _negations(claim, near)
    denied, plain = _denied_and_plain(claim, own)
    others = [Words.of(parts) for parts in evidence]
    told = [_denied_and_plain(sentence, _negations(sentence, claim)) for sentence in others]
    their_denied = {key for denied_keys, _ in told for key in denied_keys}
    their_plain = {key for _, plain_keys in told for key in plain_keys}
    undone, moved, clashes = _undone(others), _moved(claim, near), []
    for key, place in denied.items():
        if key in their_plain and key not in their_denied | undone and key not in moved:
            clashes.append(Clash("negation", place, place, "", key in near.parts.key_set))
    for key, place in plain.items():
        new = key in their_denied and key not in their_plain and key not in denied and key not in moved
        if new and not left_undone(claim, place):
            clashes.append(Clash("negation", place, place, "not", key in near.parts.key_set))
    shared = [i for i, key in enumerate(near.parts.keys) if key in claim.parts.content_set]
    if not shared:
        return clashes, bool(denied)
    stretch = range(max(0, shared[0] - 2), shared[-1] + 1)
    theirs = sum(place in stretch for place in _negations(near, claim))
    return clashes, len(own) % 2 != theirs % 2


def denied_once(claim: Words, near: Words, place: int, opposite: str) -> bool:
    """Return whether a word and its opposite in the nearest sentence agree because one of them is denied.

    What is said to be one thing is not its opposite; what is not the one need not be the other, but for some pairs.
    """
    told = {side: {_next_word(words, i) for i in _negations(words)} for side, words in ((0, claim), (1, near))}
    if not _tells(claim, place) or "longer" in (claim.raw[place], opposite):
        return False
    theirs = {i in told[1] for i, word in enumerate(near.raw) if word == opposite and _tells(near, i)}
    if len(theirs) != 1 or (place in told[0]) in theirs:
        return False
    either = any(claim.raw[place] in some and opposite in some for some in _COMPLEMENTS)
    return either or (place in told[0] and claim.raw[place] not in _KINDS)


# Who did it to whom: neighbouring names that every evidence sentence holding both has the other way round.

WHEN = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday christmas easter".split()
)
_JOINED = frozenset("and or of from".split())  # two of one kind, or one of the other's
_BETWEEN = 6  # from "by" to the name, at most: by the vice-president, Sunniva Clegg
_BOTH = EITHER - {"meeting"}  # a meeting was chaired by one of them
_MOST = 8  # mentions of a name in one sentence that are looked at
_BE = frozenset("is are was were be been being".split())
_SHORTEST = 3  # letters that two forms of one verb share, at least
_ARTICLES = frozenset("a an the this that these those my your his her its our their".split())
# Words behind a form of be that change nothing of who is what: is also the capital.
_STILL = frozenset("also now then still once again thus therefore always already".split())
_CLAUSES = frozenset("and but or while whereas".split())  # another clause may begin behind these
_WITHIN = frozenset({"s", "'s", "\u2019s"})  # the city's oldest school


def _said(words: Words, start: int, stop: int) -> set[str]:
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
    forms = [i for i in range(first + 1, by) if words.raw[i] in _BE]
    told = [i for i in range(forms[-1], by) if words.parts.tokens[i].kind == "content"] if forms else []
    return {words.parts.keys[told[0]]} if told and second - by <= _BETWEEN else set()


def _one_verb(verb: str, other: str) -> bool:
    """Return whether two words may be forms of one verb: beat, beaten."""
    short, long = sorted((verb, other), key=len)
    return (len(short) >= _SHORTEST and long.startswith(short)) or same_form(verb, other)


_CONVERSE = (  # what one does, what the other does then, and the word before the first where he comes second
    ("beat beats beaten defeat defeats defeated", "lose loses lost", "to against"),
    ("sell sells sold", "buy buys bought purchase purchases purchased acquire acquires acquired", "from"),
    ("give gives gave given hand hands handed award awards awarded", "receive receives received got accepted", "from"),
    ("lend lends lent", "borrow borrows borrowed", "from"),
    ("teach teaches taught", "learn learns learned learnt", "from"),
    ("employ employs employed", "work works worked", "for"),
    ("own owns owned", "belong belongs belonged", "to"),
    ("precede precedes preceded", "follow follows followed succeed succeeds succeeded", ""),
)
_DIRECT = {form: row[0].split()[0] for row in _CONVERSE for form in row[0].split()}
_TURNED = {form: (row[0].split()[0], row[2].split()) for row in _CONVERSE for form in row[1].split()}


class _Deed(NamedTuple):
    """What stands between two names: the verbs, and whether the second of them is the one who acts."""

    verbs: set[str]
    by_second: bool


def _deed(words: Words, first: int, second: int) -> _Deed | None:
    """Return who does it to whom; None where a passive says no such thing.

    *Was sold by*, *lost to* and *bought from* say of the second what *sold* and *beat* say of the first.
    """
    suffered = _suffered(words, first, second)
    if suffered is not None:
        return _Deed(suffered, True) if suffered else None
    verbs = _said(words, first + 1, second)
    for place in range(first + 1, second):
        raw = words.raw[place]
        relation, prepositions = _TURNED.get(raw, ("", []))
        if relation and (not prepositions or not set(prepositions).isdisjoint(words.raw[place + 1 : second])):
            return _Deed(verbs | {relation}, True)
        if raw in _DIRECT:
            verbs = verbs | {_DIRECT[raw]}
    return _Deed(verbs, False)


def _turned(claim: Words, i: int, j: int, near: Words, k: int, m: int) -> tuple[bool | None, bool]:
    """Return whether the roles of names at `i` and `j` are turned in evidence that has them at `k` and `m`.

    None where it cannot be said. The second is whether both tell the same deed.
    """
    own, theirs = _deed(claim, i, j), _deed(near, min(k, m), max(k, m))
    if own is None or theirs is None:
        return None, False
    alike = any(_one_verb(verb, other) for verb in own.verbs for other in theirs.verbs)
    turned = (k < m) == (own.by_second != theirs.by_second)
    return (turned if alike or not (own.by_second or theirs.by_second) else None), alike


def _copulas(words: Words, between: range) -> list[int]:
    """Return the forms of *be* that say of one thing that it is another: is the capital, but not is in the capital."""
    found = []
    for place in between:
        if words.raw[place] not in _BE:
            continue
        after = place + 1
        while after < len(words.raw) and (words.raw[after] in _STILL or is_negation(words, after)):
            after += 1
        if after < len(words.raw) and (words.raw[after] in _ARTICLES or _tells(words, after)):
            found.append(place)
    return found


def _sides(words: Words, copula: int) -> tuple[range, range]:
    """Return the places to the left and to the right of a form of *be*, within its clause."""
    start, end = 0, len(words.raw)
    earlier = [place for place in range(copula) if words.raw[place] in _BE]
    later = [place for place in range(copula + 1, end) if words.raw[place] in _BE]
    if earlier:
        start = next((index + 1 for index in range(earlier[-1], copula) if words.raw[index] in _CLAUSES), 0)
    if later:
        end = next((index for index in range(later[0], copula, -1) if words.raw[index] in _CLAUSES), end)
    return range(start, copula), range(copula + 1, end)


def _side(words: Words, places: range) -> set[str]:
    """Return what a side of a form of *be* tells, but for when: its content words, or its numbers if it has none."""
    told = [words.parts.tokens[i] for i in places if _tells(words, i) and words.raw[i] not in WHEN | _STILL]
    return {token.key for token in told if token.kind == "content"} or {token.key for token in told}


def _core(words: Words, places: range) -> set[str]:
    """Return what a claim may not leave out of a side: of *the largest city in Norway* the words of *largest city*.

    Of a name its last word will do.
    """
    run: list[int] = []
    for i in places:
        if _tells(words, i) and words.raw[i] not in WHEN | _STILL:
            run.append(i)
        if run and (_broken(words, i) or not (_tells(words, i) or words.raw[i] in _WITHIN)):
            break
    if run and words.parts.tokens[run[-1]] in words.parts.names:
        run = run[-1:]
    return _keys_of(words, run)


def _inverted(claim: Words, between: range, near: Words, near_between: range) -> bool:
    """Return whether a form of *be* has the same on its sides in claim and evidence, each where the other was.

    Paris is the capital of France: the capital of France is Paris. The forms stand `between` the names, or whatever
    else is turned, of the claim and of the evidence.
    """
    for place, there in product(_copulas(claim, between), _copulas(near, near_between)):
        own, theirs = _sides(claim, place), _sides(near, there)
        if all(
            _core(near, side) <= _side(claim, other) <= _side(near, side)
            for side, other in zip(theirs, reversed(own), strict=True)
        ):
            return True
    return False


def _told_of_names(claim: Words, evidence: Sequence[Parts]) -> Iterator[tuple[int, int, bool | None]]:
    """Yield two neighbouring names of a claim, and whether the evidence that holds both has them the other way round.

    Sentences that tell the same deed decide, if there are any. None where nothing is said.
    """
    known = {name.key for parts in evidence for name in parts.names}  # explains an opening, and a claim of names only
    names: list[tuple[int, Token]] = [
        (i, token)
        for i, token in enumerate(claim.parts.tokens)
        if (token in claim.parts.names or (token.key in known and claim.parts.text[token.start].isupper()))
        and claim.raw[i] not in WHEN
    ]
    last: dict[int, Token] = {}  # of a name of several words that begins there
    for i, token in reversed(names):
        last[i] = last.get(i + 1, token)
    for (i, a), (j, b) in zip(names, names[1:], strict=False):
        between = claim.raw[i + 1 : j]
        if a.key == b.key or j - i < 2 or not _BOTH.isdisjoint(between) or claim.raw[j - 1] == "with":  # both do it
            continue
        if not _JOINED.isdisjoint(between) and _TURNED.keys().isdisjoint(between):
            continue
        found: set[bool | None] = set()
        same: set[bool | None] = set()  # where the evidence tells the same deed
        for parts in evidence:
            other = b if b.key in parts.key_set else last[j]  # a surname alone
            if False in same or a.key not in parts.key_set or other.key not in parts.key_set:
                continue
            near = Words.of(parts)
            first, second = ([k for k, key in enumerate(parts.keys) if key == name.key][:_MOST] for name in (a, other))
            for k, m in product(first, second):
                turned, alike = _turned(claim, i, j, near, k, m)
                if turned and _inverted(claim, range(i + 1, j), near, range(min(k, m) + 1, max(k, m))):
                    turned = False
                found.add(turned)
                if alike:
                    same.add(turned)
        said = same or found
        yield i, j, False if False in said else (True if True in said else None)


def role_clashes(claim: Words, evidence: Sequence[Parts]) -> list[Clash]:
    """Return two neighbouring names that the evidence sentences holding both have the other way round."""
    return [Clash("role", i, j, "") for i, j, turned in _told_of_names(claim, evidence) if turned]


def _told_conversely(claim: Words, evidence: Sequence[Parts]) -> set[int]:
    """Return the places between names whose deed the evidence tells from its other side: bought from, sold to."""
    if _TURNED.keys().isdisjoint(claim.raw) and _DIRECT.keys().isdisjoint(claim.raw):
        return set()
    told = _told_of_names(claim, evidence)
    return {place for i, j, turned in told if turned is False for place in range(i + 1, j)}


_LONGEST = 8  # words between two commas that only say more of the one who acts
_LEAST = 3  # words that claim and evidence have in a row, two of them with content
_BEHIND, _FAR_BEHIND = 4, 6  # the same where the name stands behind them; up to six, if four have too little content
_HELPERS = frozenset("who which that has have had also later then".split())
# A name behind one of these says of whom or where, and does nothing itself.
_OF = frozenset("of in at from and or with for by to near on s than as like de du van von la".split())
_SPOKEN = frozenset(
    "said says say told tells added adds asked asks replied wrote writes argued warned explained called".split()
)


def _is_name(words: Words, place: int) -> bool:
    return (
        0 <= place < len(words.raw) and words.parts.tokens[place] in words.parts.names and words.raw[place] not in WHEN
    )


def _ending(words: Words, last: int) -> range:
    """Return the places of the name that ends at `last`; none if no name does."""
    first = last + 1
    while _is_name(words, first - 1) and not (first <= last and _broken(words, first - 1)):
        first -= 1
    return range(first, last + 1)


def _starting(words: Words, first: int) -> range:
    """Return the places of the name that starts at `first`; none if no name does."""
    end = first
    while _is_name(words, end) and not (end > first and _broken(words, end - 1)):
        end += 1
    return range(first, end)


def _broken(words: Words, place: int) -> bool:
    """Return whether a comma or the like follows a word."""
    tokens, text = words.parts.tokens, words.parts.text
    after = tokens[place + 1].start if place + 1 < len(tokens) else len(text)
    return not BREAKS.isdisjoint(text[tokens[place].end : after])


def _acting(words: Words, end: int) -> range:
    """Return the places of the name that does what the words from `end` on say; none if no name does.

    What stands between two commas behind a name says more of it: Leon Szabo, her fiercest critic, repeated it.
    """
    while end > 0 and words.raw[end - 1] in _HELPERS and not _broken(words, end - 1):
        end -= 1
    name = _ending(words, end - 1)
    if not name and end > 0 and _broken(words, end - 1):
        starts = (i for i in range(end - 2, max(end - 2 - _LONGEST, -1), -1) if _broken(words, i))
        name = _ending(words, next(starts, -1))
    return range(0) if not name or (name.start and words.raw[name.start - 1] in _OF) else name


def _run(claim: Words, i: int, near: Words, k: int) -> int:
    """Return how many words are the same from two places on."""
    own, theirs, n = claim.parts.keys, near.parts.keys, 0
    while i + n < len(own) and k + n < len(theirs) and own[i + n] == theirs[k + n]:
        n += 1
    return n


def _same_deed(deed: str, other: str) -> bool:
    """Return whether two words may be forms of one verb (came, come), or are both verbs of speaking."""
    return {deed, other} <= _SPOKEN or (deed[0] == other[0] and fuzz.ratio(deed, other) >= ALIKE)


def _telling_in(words: Words, places: range) -> int:
    return sum(words.parts.tokens[i].kind in ("content", "number") for i in places)


def _keys_of(words: Words, places: Iterable[int]) -> set[str]:
    return {words.parts.keys[i] for i in places}


def _same_name(claim: Words, own: range, near: Words, theirs: range) -> bool:
    """Return whether two names may be one: they share a word, are spelt alike, or one abbreviates the other."""
    if not _keys_of(claim, own).isdisjoint(_keys_of(near, theirs)):
        return True
    own_name, other = (" ".join(words.raw[i] for i in places) for words, places in ((claim, own), (near, theirs)))
    first = ["".join(word[0] for word in name.split()) for name in (own_name, other)]
    return (
        fuzz.ratio(own_name, other) >= ALIKE
        or own_name.replace(".", "") == first[1]
        or other.replace(".", "") == first[0]
    )


def _one_name(words: Words, own: set[str], theirs: set[str]) -> bool:
    """Return whether two names stand side by side as one: Barack, and Obama."""
    keys = words.parts.keys
    beside = (
        {keys[i], keys[i + 1]}
        for i in range(len(keys) - 1)
        if _is_name(words, i) and _is_name(words, i + 1) and not _broken(words, i)
    )
    return any(pair & own and pair & theirs for pair in beside)


def _places(words: Words, claim: Words, start: int, n: int) -> Iterator[int]:
    """Give the places where the `n` words of the claim from `start` on stand in a row; none if it has fewer."""
    own, keys = words.parts.keys, claim.parts.keys[max(start, 0) : start + n]
    return (k for k in range(len(own) - n + 1) if len(keys) == n and own[k] == keys[0] and own[k : k + n] == keys)


def _does_another(claim: Words, i: int, name: range, evidence: Sequence[Words]) -> str | None:
    """Return the other actor whom the evidence names for the deed that starts at `i` in the claim, if any.

    Of the verb itself another form will do (came on as a substitute, had come on as a substitute).
    """
    found = None
    for near in evidence:
        for k, start in _deeds(claim, i, near):
            if not _keys_of(claim, name).isdisjoint(near.parts.keys):  # before them, or with, for and beside the other
                return None
            other = _acting(near, start)
            if not other:
                continue
            if near.parts.text[near.parts.tokens[start].start].isupper():  # part of a name; one side is in lower case
                return None
            if _same_name(claim, name, near, other) or is_negation(near, start - 1):
                return None
            if any(_one_name(words, _keys_of(claim, name), _keys_of(near, other)) for words in evidence):
                return None
            run = _run(claim, i + k - start, near, k)
            if _telling_in(claim, range(i, i + k - start + run)) >= 2:
                found = " ".join(near.raw[place] for place in other)
    return found


def _deeds(claim: Words, i: int, near: Words) -> Iterator[tuple[int, int]]:
    """Give the places of the words from `i` on, and where the verb before them stands."""
    own = claim.parts.keys
    yield from ((k, k) for k in _places(near, claim, i, _LEAST))
    for k in _places(near, claim, i + 1, _BEHIND):
        if k and own[i] != near.parts.keys[k - 1] and _same_deed(claim.raw[i], near.raw[k - 1]):
            yield k, k - 1


def _told_together(evidence: Sequence[Words], claim: Words, own: range, near: Words, theirs: range) -> bool:
    """Return whether a sentence holds both names, and so may say that one lies in the other: Croydon, London."""
    both = _keys_of(claim, own), _keys_of(near, theirs)
    return any(all(not keys.isdisjoint(words.parts.key_set) for keys in both) for words in evidence)


def _closes_another(claim: Words, name: range, n: int, evidence: Sequence[Words]) -> str | None:
    """Return which name closes in the evidence the `n` words that another name closes in the claim."""
    found = None
    for near in evidence:
        for k in _places(near, claim, name.start - n, n):
            first = k + n
            if not _keys_of(claim, name).isdisjoint(near.parts.keys):
                return None
            while first < min(k + n + 3, len(near.raw)) and not _is_name(near, first) and not _broken(near, first - 1):
                first += 1
            other = _starting(near, first)
            if not other or _broken(near, first - 1):
                continue
            if _same_name(claim, name, near, other) or _told_together(evidence, claim, name, near, other):
                return None
            if _keys_of(near, other).isdisjoint(claim.parts.key_set):
                found = " ".join(near.raw[place] for place in other)
    return found


def actor_clashes(claim: Words, evidence: Sequence[Words]) -> list[Clash]:
    """Return the names that do, or close, what another name does or closes in the evidence.

    Nothing where any evidence sentence with the same words has the name in the same place.
    """
    clashes = []
    for i in range(1, len(claim.raw)):
        if _is_name(claim, i - 1) and not _is_name(claim, i):
            verb = i
            while verb < len(claim.raw) - 1 and claim.raw[verb] in _HELPERS:
                verb += 1
            name = _ending(claim, i - 1)
            if (name.start and claim.raw[name.start - 1] in _OF) or (_broken(claim, i - 1) and verb == i):
                continue
            told = claim.parts.tokens[verb].kind == "content"
            if told and (other := _does_another(claim, verb, name, evidence)):
                clashes.append(Clash("role", name.start, name.stop - 1, other))
        elif i >= _BEHIND and _is_name(claim, i) and claim.parts.tokens[i].kind == "content":
            name = _starting(claim, i)
            last = name.stop == len(claim.raw) or _broken(claim, name.stop - 1)
            lengths = range(_BEHIND, min(_FAR_BEHIND, i) + 1)
            n = next((n for n in lengths if _telling_in(claim, range(i - n, i)) >= 2), 0)
            apart = n == 0 or _is_name(claim, i - 1) or any(_broken(claim, place) for place in range(i - n, i))
            if last and not apart and (other := _closes_another(claim, name, n, evidence)):
                clashes.append(Clash("name", name.start, name.stop - 1, other))
    return clashes


# Numbers, names and opposites that the evidence does not hold, or holds elsewhere.

NEAR = 0.7  # of a claim's words, weighed by their rarity, that one sentence holds, if it may say who did what to whom


def nearest_two(claim: Parts, evidence: Sequence[Parts], cosines: Iterable[float]) -> tuple[int, int]:
    """Return the places of the evidence sentence nearest to the claim, and of the one that best holds what is left."""
    found = [
        0.6 * idf_coverage(claim, [sentence]) + 0.25 * pairs_within(claim, [sentence]) + 0.15 * float(cosine)
        for sentence, cosine in zip(evidence, cosines, strict=True)
    ]
    first = found.index(max(found))
    left = [key for key in claim.content if key not in evidence[first].key_set]
    if not left or len(evidence) == 1:
        return first, first
    held = [
        sum(stem_weight(key) for key in left if key in sentence.key_set) + 1e-3 * found[i]
        for i, sentence in enumerate(evidence)
    ]
    return first, held.index(max(held))


def _neighbours(tokens: Sequence[Token], place: int) -> set[str]:
    """Return the keys of the two content words after and the one before a place: a number's unit and its head."""
    after = [token.key for token in tokens[place + 1 : place + 5] if token.kind == "content"][:2]
    before = [token.key for token in tokens[max(0, place - 3) : place] if token.kind == "content"][-1:]
    return {*after, *before}


def _number_clashes(claim: Parts, evidence: Sequence[Parts]) -> tuple[list[Clash], int]:
    """Return the numbers that no evidence sentence holds, nor any that is within what they tell, and their count."""
    places = [i for i, token in enumerate(claim.tokens) if token.kind == "number"]
    held, values, heads = set[str](), list[float](), dict[str, set[str]]()
    for sentence in evidence if places else ():
        for i, token in enumerate(sentence.tokens):
            if token.kind == "number":
                held.add(token.key)
                values += [] if (worth := number_value(sentence.tokens, i)) is None else [worth]
                for key in _neighbours(sentence.tokens, i):
                    heads.setdefault(key, set()).add(token.key)
    clashes = []
    for place in (place for place in places if claim.tokens[place].key not in held):
        worth, (low, high) = number_value(claim.tokens, place), told_between(claim.tokens, place)
        if worth is None or not any(low * worth <= other <= high * worth for other in values):
            rivals = sorted({other for key in _neighbours(claim.tokens, place) for other in heads.get(key, ())})
            clashes.append(Clash("number", place, place, rivals[0] if rivals else ""))
    return clashes, len(clashes)


_MINUS = re.compile(r"(?:(?:^|[\s(])[-\u2212\u2013][$£€]?|\b(?:minus|negative)\s)$", re.IGNORECASE)
_DOWN = frozenset(
    "fell fall drop declin decreas lost lose loss shrank shrink contract below under down deficit".split()
)
_RESULT = re.compile(r"(?<![\w.,:/-])(\d{1,3})\s?([-\u2013:/])\s?(\d{1,3})(?![\w/:-]|[.,]\d)")
_LOST = frozenset("lost lose loses loss beaten defeat defeated".split())


def _sign_clashes(claim: Parts, evidence: Sequence[Parts]) -> Iterator[Clash]:
    """Give numbers that the evidence has with the other sign only: -5 and 5. A fall is told with and without a sign."""
    for place, token in enumerate(claim.tokens):
        if token.kind != "number" or token.key == "0" or _is_fall(claim, place):
            continue
        holding = [(s, i) for s in evidence for i, t in enumerate(s.tokens) if t.key == token.key]
        signs = {_is_negative(sentence, sentence.tokens[i]) for sentence, i in holding}
        if signs == {not _is_negative(claim, token)} and not any(_is_fall(*other) for other in holding):
            yield Clash("number", place, place, f"{'-' if True in signs else ''}{token.key}")


def _is_fall(parts: Parts, place: int) -> bool:
    """Whether a number may be that of a fall, and not what it fell to."""
    return "to" not in parts.keys[max(0, place - 2) : place] and not _DOWN.isdisjoint(parts.keys)


def _is_negative(parts: Parts, token: Token) -> bool:
    return _MINUS.search(parts.text[max(0, token.start - 12) : token.start]) is not None


def _turned_results(claim: Parts, evidence: Sequence[Parts]) -> Iterator[Clash]:
    """Give results, hours and readings whose two numbers the evidence has the other way round only: 3-1 and 1-3."""
    told = {(m[1], m[3]): sentence for sentence in evidence for m in _RESULT.finditer(sentence.text)}
    for match in _RESULT.finditer(claim.text) if told else ():
        own, turned = (match[1], match[3]), (match[3], match[1])
        dated = match[2] == "/" and min(map(int, own)) <= 12 and max(map(int, own)) <= 31  # 3/5 is a day in two ways
        if own in told or turned not in told or own == turned or dated:
            continue
        if _LOST.isdisjoint(claim.keys) == _LOST.isdisjoint(told[turned].keys):
            places = [i for i, t in enumerate(claim.tokens) if match.start() <= t.start < match.end()]
            yield Clash("number", places[0], places[-1], "-".join(turned))


def _limit(tokens: Sequence[Token], place: int) -> int:
    """Return on which side of a number the true one lies: 1 above, as in more than 50, -1 below, as in nearly 50."""
    low, high = told_between(tokens, place)
    below = {"almost", "near"} & {token.key for token in tokens[max(0, place - 2) : place]}
    return -1 if below else (high > 1.01) - (low < 0.99)


def _bound_clashes(claim: Parts, evidence: Sequence[Parts]) -> Iterator[Clash]:
    """Give numbers and parts that the evidence names as a limit on the other side only: up to 200, more than 200."""
    counted = [i for i, token in enumerate(claim.tokens) if token.kind == "number" or token.key in _PARTS]
    limits = {i: side for i in counted if (side := _limit(claim.tokens, i))}
    told: dict[str, set[int]] = {claim.tokens[i].key: set() for i in limits}
    for sentence in evidence if told else ():
        for i, token in enumerate(sentence.tokens):
            if token.key in told:
                told[token.key].add(_limit(sentence.tokens, i))
    for i, side in limits.items():
        if told[claim.tokens[i].key] == {-side}:
            yield Clash("number", i, i, claim.tokens[i].key)


_PARTS = {"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fifth": 1 / 5}
_PART = re.compile(
    r"\b(?:(?P<count>an?|one|two|three|four)[ -](?P<part>third|quarter|fifth)s?|half)"
    r"(?= (?:of(?! (?:an?|[12]\d{3})\b)|the|its|their|his|her|all)\b|[.,;]|$)",
    re.IGNORECASE | re.ASCII,  # without it a dotless i is an i, too
)


def _part_clashes(claim: Parts, near: Parts) -> Iterator[Clash]:
    """Give parts of a whole where the nearest sentence has another part only: half of the seats, a third of them."""

    def worth(match: re.Match[str]) -> float:
        count = {"two": 2, "three": 3, "four": 4}.get((match["count"] or "").lower(), 1)
        return count * _PARTS[(match["part"] or "half").lower()]

    told = {worth(match): match[0] for match in _PART.finditer(near.text)}
    starts = [token.start for token in claim.tokens]
    for match in _PART.finditer(claim.text) if told else ():
        if worth(match) not in told:
            place = bisect_left(starts, match.end()) - 1
            yield Clash("number", place, place, next(iter(told.values())))


def _replacements(claim: Words, nearest: Words) -> list[tuple[int, int, int, int]]:
    """Return the places where other words stand between words that agree: (claim start, end, evidence start, end)."""
    found = []
    codes = Levenshtein.opcodes(nearest.parts.keys, claim.parts.keys)
    equal = [code.tag == "equal" for code in codes]
    for number, code in enumerate(codes):
        if code.tag != "replace":
            continue
        inside = (number > 0 and equal[number - 1]) or (number + 1 < len(codes) and equal[number + 1])
        if inside and code.dest_end - code.dest_start <= 4 and code.src_end - code.src_start <= 5:
            found.append((code.dest_start, code.dest_end, code.src_start, code.src_end))
    return found


_CAPITAL_ONLY = frozenset("may march".split())
# Two of these can well stand in one true sentence; they exclude each other only in the same place.
_ONLY_IN_PLACE = frozenset(
    "minutes minute hours hour days day weeks week months month years year decades decade million billion thousand "
    "thousands hundred hundreds trillion dozen half double twice once man men woman women boy boys girl girls father "
    "mother son daughter brother sister husband wife he she him her his hers himself herself old older new young "
    "first last before after january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday left right public private local national "
    "foreign".split()
)


def _antonym_clashes(
    claim: Words, nearest: Words, others: Sequence[Words], replaced: Sequence[tuple[int, int, int, int]]
) -> tuple[list[Clash], int]:
    """Return words whose opposite stands in the nearest sentence, and how many are firm by the word or its place.

    Firm where the opposite stands in the word's own place, or the word stands nowhere in the evidence. Not open and
    shut are no opposites.
    """
    table, clashes = antonyms(), []
    near, anywhere = set(nearest.raw), {word for sentence in others for word in sentence.raw}
    slots = {i: set(nearest.raw[r[2] : r[3]]) for r in replaced for i in range(r[0], r[1])}
    codes = list(Levenshtein.opcodes(nearest.parts.keys, claim.parts.keys))
    wide = {
        i: set(nearest.raw[slot.near_start : slot.near_end])
        for slot in different_slots(codes)
        if slot.end - slot.start <= 2 and slot.near_end - slot.near_start <= 3
        for i in range(slot.start, slot.end)
    }
    firm = 0
    for place, word in enumerate(claim.raw):
        if word not in table or claim.parts.keys[place] in nearest.parts.key_set:
            continue
        if word in _CAPITAL_ONLY and not claim.parts.text[claim.parts.tokens[place].start].isupper():
            continue
        if hit := [
            opposite for opposite in sorted(table[word] & near) if not denied_once(claim, nearest, place, opposite)
        ]:
            in_place = bool(table[word] & slots.get(place, set()))
            alone = claim.parts.tokens[place].kind == "content" and word not in anywhere | _ONLY_IN_PLACE
            firm += in_place or alone
            told = in_place or alone or bool(table[word] & wide.get(place, set()))  # fell, consequently rose
            clashes.append(Clash("antonym", place, place, hit[0], told))
    return clashes, firm


def _name_known(claim: Parts, token: Token, known: frozenset[str], evidence: Sequence[Parts]) -> bool:
    """Return whether the evidence holds a name, a form of it (American, America), or what it abbreviates."""
    if token.key in known:
        return True
    stem = token.key[: max(4, len(token.key) - 2)]
    if len(stem) >= 4 and any(key.startswith(stem) or (len(key) >= 4 and token.key.startswith(key)) for key in known):
        return True
    written = claim.text[token.start : token.end].replace(".", "")
    return (
        written.isupper() and len(written) > 1 and any(written.lower() in _initials(sentence) for sentence in evidence)
    )


def _initials(parts: Parts) -> str:
    return "".join(t.key[0] for t in parts.tokens if t.kind == "content" and parts.text[t.start].isupper())


_BEFORE_NOUN = frozenset("a an the his her its their my our your this that these those".split())


def exchanged_noun(claim: Parts, evidence: Sequence[Parts], near: Parts) -> tuple[Token, str] | None:
    """Return the one word behind an article that a claim has for another of a sentence, and that other; or None.

    Small words may differ besides, and another word of content is the same. No evidence has the claim's word.

    Examples
    --------
    >>> from summeval_nb.evidence.tokens import take_apart
    >>> told, claim = take_apart("A fire destroyed the mill."), take_apart("A flood destroyed the mill.")
    >>> exchanged_noun(claim, [told], told)[1]
    'fire'
    """
    telling = lambda tokens: [token for token in tokens if token.kind != "function"]
    ops = (code for code in Levenshtein.opcodes(near.keys, claim.keys) if code.tag != "equal")
    both = [(claim.tokens[c.dest_start : c.dest_end], near.tokens[c.src_start : c.src_end]) for c in ops]
    places = [(telling(own), telling(other)) for own, other in both if telling((*own, *other))]
    if len(places) != 1 or [len(tokens) for tokens in places[0]] != [1, 1]:
        return None
    (own,), (other,) = places[0]
    nouns = own.kind == other.kind == "content" and own.key not in frozenset().union(*(e.key_set for e in evidence))
    before = (parts.text[: token.start].split()[-1:] for parts, token in ((claim, own), (near, other)))
    articles = all(words and words[0].lower() in _BEFORE_NOUN for words in before)
    return (own, near.text[other.start : other.end]) if nouns and articles and len(telling(claim.tokens)) > 1 else None


# All of it together.


class Clashes(NamedTuple):
    """What clashes in a claim, and what is counted of it.

    `numbers_missing` and `names_missing` count what no evidence sentence holds, `antonym_hits` the words whose opposite
    stands in the nearest sentence and that are firm by the word alone or by the one word that they replace.
    `negation_difference` is True where claim and nearest sentence do not deny alike, and `near_coverage` the share of
    the claim's words, weighed by their rarity, that the nearest sentence holds.
    """

    found: list[Clash]
    numbers_missing: int
    names_missing: int
    negation_difference: bool
    antonym_hits: int
    near_coverage: float


# A word that stands alone, such as an answer, is said by the evidence only if the evidence holds it.

# Of these one excludes the others of its group.
EXCLUSIVE = tuple(
    frozenset(group.split())
    for group in (
        "january february march april may june july august september october november december",
        "monday tuesday wednesday thursday friday saturday sunday",
        "spring summer autumn winter",
        "morning noon afternoon evening night midnight",
        "first second third fourth fifth sixth seventh eighth ninth tenth last",
        "north south east west northern southern eastern western northeast northwest southeast southwest",
        "left right straight back",
        "up down",
        "red blue green yellow black white brown grey gray orange purple pink",
        "father mother son daughter brother sister uncle aunt nephew niece cousin grandfather grandmother grandson "
        "granddaughter husband wife",
        "once twice thrice",
        "always never sometimes",
        "yes no maybe",
    )
)
_FEW = 4  # words
_BESIDE = frozenset("a an the in on at by to from of for her his their its my our your since until about".split())


def _capital(parts: Parts, token: Token) -> bool:
    return parts.text[token.start].isupper()


def _excluded_by(claim: Words, place: int, near: Words, *, name: bool) -> str:
    """Return the word of a sentence that excludes a word standing alone, "" if there is none."""
    word, token = claim.raw[place], claim.parts.tokens[place]
    groups = [*(group for group in EXCLUSIVE if word in group), antonyms().get(word, frozenset())]
    for i, other in enumerate(near.raw):
        number = token.kind == near.parts.tokens[i].kind == "number"
        one_name = name and len(near.raw) == 1 and _capital(near.parts, near.parts.tokens[0])
        if other != word and (number or one_name or any(other in group for group in groups)):
            return other
    return ""


def alone_clashes(claim: Words, evidence: Sequence[Words]) -> list[Clash]:
    """Return the one word of a claim that tells anything, where the evidence holds another instead: June, in red, two.

    So it is where the evidence is as short as the claim, or has a word that excludes the claim's.

    It is `in_place` where the evidence has another word of its kind (June for March).
    """
    grouped = [any(word in group for group in EXCLUSIVE) for word in claim.raw]
    tells = [
        i
        for i, token in enumerate(claim.parts.tokens)
        if token.kind in ("content", "number") or (claim.raw[i] in WHEN and _capital(claim.parts, token))
    ] or [i for i, known in enumerate(grouped) if known]
    if len(tells) != 1 or not _BESIDE.issuperset(word for i, word in enumerate(claim.raw) if i != tells[0]):
        return []
    place = tells[0]
    token, parts = claim.parts.tokens[place], [sentence.parts for sentence in evidence]
    known = frozenset().union(*(sentence.key_set for sentence in parts))
    if token.key in known or _name_known(claim.parts, token, known, parts):
        return []
    name = token.kind != "number" and _capital(claim.parts, token)
    instead = next((word for near in evidence if (word := _excluded_by(claim, place, near, name=name))), "")
    if not instead and all(len(sentence.raw) > _FEW for sentence in evidence):  # not said, which is no clash
        return []
    kind = "number" if token.kind == "number" else "name" if name else "antonym" if instead else "word"
    return [Clash(kind, place, place, instead, in_place=bool(instead))]


# A pronoun with the roles exchanged: *It chased the dog*, where the dog chased something.

_ACTING = frozenset("he she it they".split())
_ACTED_ON = frozenset("him her it them".split())


def _head_before(words: Words, verb: int) -> str:
    """Return the key of what does a verb: the word before it, but for helpers; "" where a form of *be* stands there."""
    place = verb - 1
    while place >= 0 and words.raw[place] in _HELPERS:
        place -= 1
    done = place >= 0 and words.parts.tokens[place].kind == "content" and not _broken(words, place)
    return words.parts.keys[place] if done else ""


def _object_of(words: Words, verb: int) -> set[str]:
    """Return the keys of the words to which a verb is done: those behind it, but for articles."""
    place = verb + 1
    while place < len(words.raw) and words.raw[place] in _ARTICLES:
        place += 1
    end = place
    while end < len(words.raw) and words.parts.tokens[end].kind == "content":
        end += 1
    return set(words.parts.keys[place:end])


def pronoun_clashes(claim: Words, evidence: Sequence[Words]) -> list[Clash]:
    """Return a pronoun that does to a noun what, by the evidence, the noun does, or suffers from it what the noun does.

    Nothing where any evidence sentence with the verb has the noun on the claim's side.
    """
    verb = 1
    while verb < len(claim.raw) and claim.raw[verb] in _HELPERS:
        verb += 1
    if claim.raw[:1] and claim.raw[0] in _ACTING and verb < len(claim.raw):
        acting, nouns = True, _object_of(claim, verb)
    else:
        verb = next((i - 1 for i in range(2, len(claim.raw)) if claim.raw[i] in _ACTED_ON), 0)
        behind = claim.parts.tokens[verb + 2 : verb + 3]
        owns = claim.raw[verb + 1 : verb + 2] == ("her",) and behind and behind[0].kind == "content"
        acting, nouns = False, {_head_before(claim, verb)} - {""} if verb and not owns else set()
    if not nouns or claim.parts.tokens[verb].kind != "content" or not _BOTH_WAYS.isdisjoint(claim.raw):
        return []
    turned = set[bool]()
    for near in evidence:
        for k in (i for i, key in enumerate(near.parts.keys) if key == claim.parts.keys[verb]):
            does, suffers = _head_before(near, k) in nouns, not nouns.isdisjoint(near.parts.keys[k + 1 :])
            if does or suffers:
                turned.add(does and not suffers if acting else not does and bool(nouns & _object_of(near, k)))
    places = [i for i, key in enumerate(claim.parts.keys) if key in nouns]
    return [Clash("role", min(places[0], verb), max(places[-1], verb))] if turned == {True} else []


def find_clashes(claim: Parts, evidence: Sequence[Parts], nearest: tuple[int, int]) -> Clashes:
    """Return what clashes between a claim and its evidence, in the claim's order, and what is counted of it.

    `nearest` holds the places of the two evidence sentences that `nearest_two` returns.

    Examples
    --------
    >>> from summeval_nb.evidence.tokens import take_apart
    >>> told, claim = take_apart("Profits rose to 48 million."), take_apart("Profits fell to 48 million.")
    >>> [(clash.kind, clash.instead_of) for clash in find_clashes(claim, [told], (0, 0)).found]
    [('antonym', 'rose')]
    """
    near = evidence[nearest[0]]
    own, words = Words.of(claim), Words.of(near)
    alone = alone_clashes(own, [Words.of(sentence) for sentence in evidence]) if len(own.raw) <= _FEW else []
    known = frozenset().union(*(sentence.key_set for sentence in evidence))
    unknown = [token for token in claim.names if not _name_known(claim, token, known, evidence)]
    coverage = idf_coverage(claim, [near])
    replaced = _replacements(own, words)
    numbers, missing = _number_clashes(claim, evidence)
    numbers += [*_sign_clashes(claim, evidence), *_turned_results(claim, evidence)]
    opposites, hits = _antonym_clashes(own, words, [Words.of(sentence) for sentence in evidence], replaced)
    if opposites and (conversely := _told_conversely(own, evidence)):
        kept = [clash for clash in opposites if clash.first not in conversely]
        opposites, hits = kept, max(0, hits - len(opposites) + len(kept))
    denials, differ = negation_clashes(own, words, evidence)
    taken = {clash.first for clash in (*numbers, *denials)}
    numbers += [c for c in (*_bound_clashes(claim, evidence), *_part_clashes(claim, near)) if c.first not in taken]
    names = [Clash("name", i, i) for i, token in enumerate(claim.tokens) if token in unknown]
    roles = role_clashes(own, evidence) or pronoun_clashes(own, [Words.of(sentence) for sentence in evidence])
    if coverage < NEAR:  # too far from any sentence to say who did what to whom
        roles = [clash._replace(firm=False) for clash in roles]
    taken = {place for clash in roles for place in range(clash.first, clash.last + 1)}
    actors = [
        clash
        for clash in actor_clashes(own, [Words.of(sentence) for sentence in evidence])
        if taken.isdisjoint(range(clash.first, clash.last + 1))
    ]
    slots = slot_clashes(own, words)
    covered = {place for slot in slots for place in range(slot.first, slot.last + 1)}
    found = [clash for clash in (*numbers, *opposites, *denials, *names) if clash.first not in covered]
    found += [clash for clash in (*roles, *actors) if covered.isdisjoint(range(clash.first, clash.last + 1))]
    found += _unsaid(claim, evidence, covered)
    found = alone or sorted([*found, *slots], key=lambda clash: clash.first)
    return Clashes(found, missing, len(unknown), differ, hits, coverage)


def _unsaid(claim: Parts, evidence: Sequence[Parts], covered: Container[int]) -> list[Clash]:
    """Return what the claim says to be so and the evidence does not, at places that nothing covers yet."""
    hits = [hit for hit in unsaid_words(claim, evidence) if hit.place not in covered]
    return [Clash("negation" if hit.how == DENIED else "modality", hit.place, hit.place, hit.by) for hit in hits]


def findings_of(claim: Parts, clashes: Sequence[Clash]) -> list[Finding]:
    """Return clashes as findings, with their places in the claim's text."""
    found = []
    for clash in clashes:
        start, end = claim.tokens[clash.first].start, claim.tokens[clash.last].end
        found.append(Finding(clash.kind, claim.text[start:end], start, end, clash.firm))
    return found
