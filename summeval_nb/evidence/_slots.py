"""What stands in the place of something else: words exchanged, another number, a "not" too much. A plain
module: edited directly, tested in tests/test_slots.py.

A claim is aligned with the evidence sentence that it is nearest to. Where all around is equal, what stands in the
gap is in the same place of the same statement, and a number that belongs elsewhere, two words that have changed places,
or an "until" for a "because" change what is said, though every word of the claim stands in the evidence.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from summeval_nb.evidence.check import Parts, Token

if TYPE_CHECKING:
    from rapidfuzz.distance import Opcode


class Clash(NamedTuple):
    """A passage of the claim that the evidence speaks against: its kind, its tokens, and what stood there.

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
    def of(parts: Parts) -> Words:
        return Words(parts, tuple(parts.text[token.start : token.end].lower() for token in parts.tokens))


class Slot(NamedTuple):
    """Words of the claim from `start` to `end`, and those of the evidence that they stand for."""

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
# Connectives within a group say the same, or may; those of different groups do not.
_CONNECTIVES = (
    frozenset("because since as due".split()),
    frozenset("although though despite while whereas but".split()),
    frozenset("when after as once since".split()),
    frozenset("before until till".split()),
    frozenset("if unless".split()),
    frozenset("if when once".split()),
)
# Too common to be looked for anywhere but in each other's place: sides, amounts, and what may be and what will.
_OPPOSED = (
    {"for", "against"},
    *({some, "all"} for some in ("some", "many", "most", "several", "half", "few")),
    *({may, "will"} for may in ("may", "might", "could")),
    {"few", "many"},
    {"on", "off"},
    {"new", "existing"},
)
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
_TITLES = frozenset(
    "mr mrs ms miss mx dr prof professor doctor sir dame lord lady judge justice captain officer president minister "
    "senator mayor councillor chancellor king queen prince princess pope bishop".split()
)
WHEN = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday christmas easter".split()
)
BE = frozenset("is are was were be been being".split())
_ARTICLES = frozenset("a an the this that these those my your his her its our their".split())
# Words behind a form of be that change nothing of who is what: is also the capital.
_STILL = frozenset("also now then still once again thus therefore always already".split())
_CLAUSES = frozenset("and but or while whereas".split())  # another clause may begin behind these
_WITHIN = frozenset({"s", "'s", "\u2019s"})  # the city's oldest school
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
    """Return whether a number is said to be approximate, or a limit: about 50, more than 50."""
    return told_between(tokens, place) != (_EXACT, 1 / _EXACT)


def told_between(tokens: Sequence[Token], place: int) -> tuple[float, float]:
    """Return between which multiples of a number what it tells may lie: about 50, more than 50, no more than 50.

    What rose to 50 is 50.
    """
    before = [one.key for one in tokens[max(0, place - 3) : place]]
    if not _ABOUT.isdisjoint(before):
        return 0.9, 1.1
    above, below = not _ABOVE.isdisjoint(before), not _BELOW.isdisjoint(before) or before[-2:] in _UP_TO
    if above == below:
        return _EXACT, 1 / _EXACT
    if any(one.kind == "negation" for one in tokens[max(0, place - 4) : place]):
        above = not above
    return (_EXACT, 1.1) if above else (0.9, 1 / _EXACT)


def slot_clashes(claim: Words, nearest: Words) -> list[Clash]:
    """Return the exchanged words, and the numbers, names and connectives that stand in another's place.

    In the sets that the checker is fitted to, 99 of 100 sentences with such a clash are not supported.
    """
    codes = list(Levenshtein.opcodes(nearest.parts.keys, claim.parts.keys))
    every = [
        Slot(code.dest_start, code.dest_end, code.src_start, code.src_end)
        for number, code in enumerate(codes)
        if code.tag == "replace" and any(one.tag == "equal" for one in codes[max(0, number - 1) : number + 2])
    ]
    found = list(_exchanged(claim, nearest, every, codes))
    if not found and EITHER.isdisjoint(claim.raw):  # blinks while heated, stays on once hot: one word for two
        wide = [one for one in different_slots(codes) if _says(claim, one.start, one.end)]
        found = list(_exchanged(claim, nearest, wide, codes, turned=False))
    found += _denied(claim, nearest, codes)
    taken = {one.first for one in found}
    for slot in framed_slots(codes):
        if slot.start in taken:
            continue
        hit = _number(claim, nearest, slot) or _name(claim, nearest, slot) or _connective(claim, nearest, slot)
        found += [hit] if hit else []
    taken |= {one.first for one in found}
    longer = (slot for slot in different_slots(codes) if slot.start not in taken and _between(codes, slot) >= _FRAME)
    for slot in longer:  # 2.3 million for 900,000, and what is counted behind both
        if slot.end < len(claim.raw) and slot.near_end < len(nearest.raw) and (hit := _number(claim, nearest, slot)):
            found.append(hit)
    taken |= {one.first for one in found}
    found += [one for one in _number_of_another(claim, nearest) if one.first not in taken]
    taken |= {one.first for one in found}
    found += [one for one in _number_of_another_verb(claim, nearest) if one.first not in taken]
    return [one._replace(in_place=True) for one in found]


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
        equal = sum(one.dest_end - one.dest_start for one in sides)
        if code.tag == "replace" and all(one.tag == "equal" for one in sides) and equal >= _FRAME:
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
        (one, other)
        for number, one in enumerate(slots)
        for other in slots[number + 1 :]
        if own[one.start : one.end] == theirs[other.near_start : other.near_end]
        and own[other.start : other.end] == theirs[one.near_start : one.near_end]
        and any(_tells(claim, i) for i in range(one.start, one.end))
    ]
    if turned and not crossed and (sides := _turned_about(claim, nearest)):
        yield from (_told(claim, nearest, "role", slot) for slot in sides)
        return
    if len(crossed) != 1 or _one_list(claim, *crossed[0]) or _other_way_round(claim, nearest, codes, *crossed[0]):
        return
    one, other = crossed[0]
    if inverted(claim, range(one.end, other.start), nearest, range(one.near_end, other.near_start)):
        return
    elsewhere = [slot for slot in slots if slot not in crossed[0]]
    if any(_tells(claim, i) for slot in elsewhere for i in range(slot.start, slot.end)):
        return
    for slot in crossed[0]:
        yield _told(claim, nearest, "number" if claim.parts.tokens[slot.start].kind == "number" else "role", slot)


def _told(claim: Words, nearest: Words, kind: str, slot: Slot) -> Clash:
    return Clash(kind, slot.start, slot.end - 1, " ".join(nearest.raw[slot.near_start : slot.near_end]))


def _turned_about(claim: Words, nearest: Words) -> tuple[Slot, Slot] | None:
    """Return two names, of whatever length, that have changed sides of the same verb: Leeds beat West Ham.

    Nothing where the claim's order is told as well, where what does it means the same both ways, where something is
    denied, or where a comma or a quotation mark stands between: They love New York, said Tom.
    """
    own, theirs = claim.parts.keys, nearest.parts.keys
    names = {one.key for words in (claim, nearest) for one in words.parts.names}
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
            one, other = Slot(i, i + n, before - m, before), Slot(after, after + m, k, k + n)
            different = m and set(own[i : i + n]).isdisjoint(own[after : after + m])
            if not different or not _doing(claim, names, range(i + n, after)):
                continue
            if not all(_named(claim, names, slot) for slot in (one, other)):
                continue
            straight = _unbroken(claim, i, after + m) and _unbroken(nearest, before - m, k + n)
            if straight and not _holds(theirs, own[i : after + m]):
                return one, other
    return None


def _doing(claim: Words, names: Container[str], between: range) -> bool:
    """Return whether what stands between two names says what one does to the other, and not what both do."""
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


def _tells(claim: Words, place: int) -> bool:
    return claim.parts.tokens[place].kind in ("content", "number")


def _other_way_round(claim: Words, nearest: Words, codes: Sequence[Opcode], one: Slot, other: Slot) -> bool:
    """Return whether the two may say the same in the other order: both ways, by, a *not* that has moved or is new.

    Of the evidence only the part counts that the claim tells: what is denied elsewhere says nothing of the order.
    """
    same = [code for code in codes if code.tag == "equal"]
    told = range(same[0].src_start, same[-1].src_end)
    kept = {code.src_start + i: code.dest_start + i for code in same for i in range(code.src_end - code.src_start)}
    moved = any(is_negation(nearest, i) and i not in kept for i in told)
    moved = moved or any(is_negation(claim, i) and i not in kept.values() for i in range(len(claim.raw)))
    passive = ("by" in claim.raw) != ("by" in nearest.raw[told.start : told.stop])
    between = claim.raw[max(0, one.start - _BEFORE) : other.end]  # a match between Leeds and Hull
    return moved or passive or not _BOTH_WAYS.isdisjoint(between)


def _one_list(claim: Words, one: Slot, other: Slot) -> bool:
    """Return whether nothing but members of a list and what joins them stands between two places: A, B and C."""
    between = range(one.end, other.start)
    return all(
        claim.raw[i] in _SAME or claim.parts.tokens[i] in claim.parts.names or claim.parts.tokens[i].kind == "number"
        for i in between
    )


def broken(words: Words, place: int) -> bool:
    """Return whether a comma or the like follows a word."""
    tokens, text = words.parts.tokens, words.parts.text
    after = tokens[place + 1].start if place + 1 < len(tokens) else len(text)
    return not BREAKS.isdisjoint(text[tokens[place].end : after])


def _copulas(words: Words, between: range) -> list[int]:
    """Return the forms of *be* that say of one thing that it is another: is the capital, but not is in the capital."""
    found = []
    for place in between:
        if words.raw[place] not in BE:
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
    earlier = [place for place in range(copula) if words.raw[place] in BE]
    later = [place for place in range(copula + 1, end) if words.raw[place] in BE]
    if earlier:
        start = next((one + 1 for one in range(earlier[-1], copula) if words.raw[one] in _CLAUSES), 0)
    if later:
        end = next((one for one in range(later[0], copula, -1) if words.raw[one] in _CLAUSES), end)
    return range(start, copula), range(copula + 1, end)


def _side(words: Words, places: range) -> set[str]:
    """Return what a side of a form of *be* tells, but for when: its content words, or its numbers if it has none."""
    told = [words.parts.tokens[i] for i in places if _tells(words, i) and words.raw[i] not in WHEN | _STILL]
    return {one.key for one in told if one.kind == "content"} or {one.key for one in told}


def _core(words: Words, places: range) -> set[str]:
    """Return what a claim may not leave out of a side: of *the largest city in Norway* the words of *largest city*.

    Of a name its last word will do.
    """
    run: list[int] = []
    for i in places:
        if _tells(words, i) and words.raw[i] not in WHEN | _STILL:
            run.append(i)
        if run and (broken(words, i) or not (_tells(words, i) or words.raw[i] in _WITHIN)):
            break
    if run and words.parts.tokens[run[-1]] in words.parts.names:
        run = run[-1:]
    return {words.parts.keys[i] for i in run}


def inverted(claim: Words, between: range, near: Words, near_between: range) -> bool:
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
    further = [one for one in words.parts.tokens[rest:] if one.kind in ("content", "number")]
    return (
        len(same) >= 3
        and sum(one.kind == "content" for one in same) >= 2
        and not any(one.kind in ("content", "number") for one in words.parts.tokens[start:end])
        and all(one.key in other.parts.key_set for one in further)
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
    """Return whether somebody failed to do what a word says: failed to raise, but not never failed to raise."""
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


def _before_number(words: Words, place: int) -> str:
    """Return the key of the content word before a number, with at most one small word between; "" if there is none."""
    for before in range(place - 1, max(place - 3, -1), -1):
        if BREAKS.intersection(words.parts.text[words.parts.tokens[before].end : words.parts.tokens[before + 1].start]):
            return ""
        if words.parts.tokens[before].kind != "function":
            return words.parts.keys[before] if words.parts.tokens[before].kind == "content" else ""
    return ""


def _number_of_another_verb(claim: Words, nearest: Words) -> Iterator[Clash]:
    """Give numbers that follow a word which another number of the same kind follows: discharged on 3 March, not on 9.

    The evidence must have the claim's number behind another word, and both before the same word.
    """
    own, theirs = claim.parts, nearest.parts
    numbers = {k: _before_number(nearest, k) for k, one in enumerate(theirs.tokens) if one.kind == "number"}
    for i, token in enumerate(own.tokens):
        before = _before_number(claim, i) if token.kind == "number" else ""
        if not before or is_rounded(own.tokens, i):
            continue
        after = own.keys[i + 1 : i + 2]
        same = [k for k in numbers if after and theirs.keys[k + 1 : k + 2] == after]
        there = {numbers[k] for k in same if theirs.keys[k] == token.key}
        others = [k for k in same if numbers[k] == before]
        elsewhere = bool(there) and there.isdisjoint((before, ""))
        if elsewhere and others and all(theirs.keys[k] not in own.key_set for k in others):
            yield Clash("number", i, i, nearest.raw[others[0]])


def _name(claim: Words, nearest: Words, slot: Slot) -> Clash | None:
    own = claim.parts.tokens[slot.start : slot.end]
    theirs = nearest.parts.tokens[slot.near_start : slot.near_end]
    if len(own) > 2 or len(theirs) > 2:
        return None
    if not all(_is_name(words.parts, one) for words, some in ((claim, own), (nearest, theirs)) for one in some):
        return None
    if any(one.key in claim.parts.key_set for one in theirs):  # both are named: a list, or somebody else's part
        return None
    if title_for_name(claim, nearest, slot):
        return None
    written, instead = (" ".join(one.key for one in some) for some in (own, theirs))
    return None if fuzz.ratio(written, instead) >= ALIKE else Clash("name", slot.start, slot.end - 1, instead)


def _is_name(parts: Parts, token: Token) -> bool:
    """Return whether a word is a name, by its place in the sentence or by a capital within it: macOS."""
    return token in parts.names or any(letter.isupper() for letter in parts.text[token.start + 1 : token.end])


def title_for_name(claim: Words, nearest: Words, slot: Slot) -> bool:
    """Return whether one side has a title before a surname where the other has something else: Mr, Colin Mears."""
    titles = [
        _TITLES.issuperset(words)
        for words in (claim.raw[slot.start : slot.end], nearest.raw[slot.near_start : slot.near_end])
    ]
    after, there = claim.parts.tokens[slot.end : slot.end + 1], nearest.parts.keys[slot.near_end : slot.near_end + 1]
    surname = bool(after) and after[0] in claim.parts.names and [after[0].key] == list(there)
    return surname and titles[0] != titles[1]


def _connective(claim: Words, nearest: Words, slot: Slot) -> Clash | None:
    if slot.end - slot.start != 1 or slot.near_end - slot.near_start != 1:
        return None
    own, theirs = claim.raw[slot.start], nearest.raw[slot.near_start]
    if {own, theirs} in _OPPOSED:
        return Clash("antonym", slot.start, slot.start, theirs)
    before = [
        any(is_negation(words, i) for i in range(end))
        for words, end in ((claim, slot.start), (nearest, slot.near_start))
    ]
    if not TIMED.isdisjoint((own, theirs)) and before[0] != before[1]:  # not until, only after
        return None
    known = all(any(word in group for group in _CONNECTIVES) for word in (own, theirs))
    if not known or own == theirs or any(own in group and theirs in group for group in _CONNECTIVES):
        return None
    return Clash("antonym", slot.start, slot.start, theirs)
