"""Subject and object of one verb exchanged, and words given to another speaker. A plain module: edited directly, tested
in tests/test_verbs.py.

Both are read off the words around one verb, without a parser: what stands right before it does it, what follows soon is
what it is done to. So they speak only where claim and evidence have the same verb in the same form, the active one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from summeval_nb.evidence._actors import BE, HELPERS, OF, SPOKEN, broken, is_name, same_name
from summeval_nb.evidence._slots import EITHER, Clash, Words, is_negation

__all__ = ["cause_clashes", "speaker_clashes", "verb_clashes"]

_PAST = frozenset(
    "beat bought sold sent gave paid lent told led found built took won lost left made wrote saw knew chose fought "
    "taught brought caught held kept put set hit cut shot drove drew struck threw wore bore sued fed bit overtook hid "
    "stole broke shook tore swore forgave forbade bound dealt meant heard hurt upset outbid undercut withdrew".split()
)
_WILL = frozenset("will would can could may might must shall should to did does do".split())
_THEM = frozenset("him her them it me us".split())
_ENDS = frozenset("that who which because since but while whereas although though when where if whether as so".split())
_ARTICLES = frozenset("the a an its his her their".split())
_ADVERBS = frozenset("also later then never only still again once now already".split())
_CHUNK = 4  # words of a name or noun phrase before a verb, at most
_OBJECT = 6  # words behind a verb in which stands what it is done to
_SOON = 3  # words in which an object follows its verb where nothing else is known of it
_FURTHER = 12  # the same with what follows a preposition: borrowed 3 million from the guild
_SAID = 3  # words of content that a speaker must have said
_CAUSES = frozenset("because due owing".split())
_MOST_SAID = 0.75  # of them in the one sentence that has another speaker
_LEAST_ELSEWHERE = 0.4  # of them in a sentence that has the claim's: then it may be the one that is told
_ATTRIBUTION = 8  # words from "said" to the end of a name behind it: said the company's chief engineer, Renata Volk
_SPEAKING = SPOKEN | frozenset(
    "warns insisted insists claimed claims believes believed stated states admitted remarked predicted noted".split()
)


def _told(words: Words, place: int) -> bool:
    return words.parts.tokens[place].kind in ("content", "number")


def _is_verb(words: Words, place: int) -> bool:
    """Return whether a word is the active form of a verb, as far as its ending or the word before it says so."""
    word, before = words.raw[place], words.raw[place - 1] if place else ""
    formed = (word.endswith("ed") and len(word) > 4) or word in _PAST or before in _WILL
    return formed and words.parts.tokens[place].kind == "content" and words.parts.tokens[place] not in words.parts.names


def _subject(words: Words, verb: int) -> range:
    """Return the places of what stands right before a verb; none in the passive, or where a preposition leads to it."""
    end = verb
    while end > 0 and (
        words.raw[end - 1] in HELPERS | _WILL | _ADVERBS or (words.raw[end - 1].endswith("ly") and end < verb)
    ):
        if words.raw[end - 1] in BE:
            return range(0)
        end -= 1
    if not end or words.raw[end - 1] in BE:
        return range(0)
    start = end
    while start > 0 and end - start < _CHUNK and _told(words, start - 1):
        if start < end and broken(words, start - 1):
            break
        start -= 1
    first = start - (start > 0 and words.raw[start - 1] in _ARTICLES)
    before = words.raw[first - 1] if first else ""
    clause = before == "and" and first > 1 and broken(words, first - 2)  # on television, and the office criticised him
    return range(0) if (before in OF or before in BE) and not clause else range(start, end)


def _behind(words: Words, verb: int, most: int) -> list[int]:
    """Return the places of the words of content behind a verb, as far as its clause goes; none behind "by"."""
    found = []
    for place in range(verb + 1, min(verb + 1 + most, len(words.raw))):
        if words.raw[place] in _ENDS or (words.raw[place] == "by" and place == verb + 1):
            break
        if _told(words, place):
            found.append(place)
    return found


def _keys(words: Words, places: Sequence[int]) -> set[str]:
    return {words.parts.keys[i] for i in places}


def _passive(words: Words, verb: int) -> bool:
    return "by" in words.raw[verb + 1 : verb + 3] or not BE.isdisjoint(words.raw[max(verb - 2, 0) : verb])


def _exchanged(claim: Words, verb: int, subject: range, near: Words, k: int) -> bool | None:
    """Return whether subject and object of a verb are exchanged; None where the evidence does not say."""
    theirs = _subject(near, k)
    own, other = _keys(claim, subject), _keys(near, theirs)
    pronoun = k + 1 < len(near.raw) and near.raw[k + 1] in _THEM
    before = not own.isdisjoint(near.parts.keys[:k])  # it may be the one that does it, or the one that "him" means
    if _passive(near, k) or (before and not (theirs and own.isdisjoint(other) and pronoun)):
        return False
    if not theirs or not own.isdisjoint(other):
        return None
    head, their_head = claim.parts.keys[subject[-1]], near.parts.keys[theirs[-1]]
    objects = claim.parts.keys[verb + 1 :], near.parts.keys[k + 1 :]
    if their_head in claim.parts.keys[:verb]:
        return None
    both_names = (
        is_name(claim, subject[-1]) and is_name(near, theirs[-1]) and not same_name(claim, subject, near, theirs)
    )
    if both_names and _behind(claim, verb, _SOON) and head in _keys(near, _behind(near, k, _OBJECT)):
        return True
    turned = their_head in _keys(claim, _behind(claim, verb, _FURTHER)) and their_head not in objects[1]
    if not turned:
        return None
    back = head in _keys(near, _behind(near, k, _FURTHER)) and head not in objects[0]
    soon = their_head in _keys(claim, _behind(claim, verb, _OBJECT))
    return True if back or (pronoun and soon) else None


def verb_clashes(claim: Words, evidence: Sequence[Words]) -> list[Clash]:
    """Return what does in the claim what is done to it in the evidence, by what it is done to in the claim.

    The guild had lent the bank 3 million; her pupil persuaded her. Nothing where any evidence sentence has the claim's
    subject before the verb, too, or the verb in the passive.
    """
    clashes = []
    for verb in range(1, len(claim.raw) - 1):
        if not _is_verb(claim, verb) or _passive(claim, verb) or not EITHER.isdisjoint(claim.raw):
            continue
        subject = _subject(claim, verb)
        if not subject or broken(claim, subject[-1]) or any(is_negation(claim, i) for i in range(len(claim.raw))):
            continue
        found = {
            _exchanged(claim, verb, subject, near, k)
            for near in evidence
            for k, key in enumerate(near.parts.keys)
            if key == claim.parts.keys[verb] and _is_verb(near, k) and not is_negation(near, k - 1)
        }
        if True in found and False not in found:
            clashes.append(Clash("role", subject[0], subject[-1], ""))
    return clashes


def _speakers(words: Words) -> Iterator[tuple[int, range]]:
    """Give the places of words like "said", and of the name that says it: before it, or behind it in a quotation."""
    for place, word in enumerate(words.raw):
        if word not in _SPEAKING:
            continue
        start = place
        while start > 0 and words.raw[start - 1] in HELPERS and not broken(words, start - 1):
            start -= 1
        end = start
        while start > 0 and is_name(words, start - 1) and not (start < end and broken(words, start - 1)):
            start -= 1
        if start < end and not (start and words.raw[start - 1] in OF):
            yield place, range(start, end)
            continue
        if not (place and broken(words, place - 1)):
            continue
        names = [i for i in range(place + 1, min(place + _ATTRIBUTION, len(words.raw))) if is_name(words, i)]
        if names:
            last = names[0]
            while last + 1 in names and not broken(words, last):
                last += 1
            ends = [i for i in names if i > last and broken(words, i - 1)]  # the chief engineer of Leroy, Renata Volk
            first = ends[0] if ends else names[0]
            stop = first + 1
            while is_name(words, stop) and not broken(words, stop - 1):
                stop += 1
            yield place, range(first, stop)


def speaker_clashes(claim: Words, evidence: Sequence[Words]) -> list[Clash]:
    """Return a speaker whose words another says in the evidence.

    Nothing where the one sentence names both, or where the claim's speaker stands in a sentence that has much of it.
    """
    clashes = []
    for place, name in _speakers(claim):
        if name.start > place:
            continue
        said = {claim.parts.keys[i] for i in range(place + 1, len(claim.raw)) if _told(claim, i)}
        if len(said) < _SAID:
            continue
        share = [len(said & near.parts.key_set) / len(said) for near in evidence]
        most = max(range(len(evidence)), key=lambda i: share[i])
        own = _keys(claim, name)
        told = [i for i, near in enumerate(evidence) if not own.isdisjoint(near.parts.key_set)]
        if not any(
            is_name(evidence[i], k) and evidence[i].parts.keys[k] in own
            for i in told
            for k in range(1, len(evidence[i].raw))
        ):
            continue
        if share[most] < _MOST_SAID or any(share[i] >= _LEAST_ELSEWHERE for i in told):
            continue
        others = [other for _, other in _speakers(evidence[most])]
        if (
            len(others) != 1
            or (len(others[0]) == 1 and evidence[most].raw[others[0][0] - 1] == "the")
            or same_name(claim, name, evidence[most], others[0])
        ):
            continue
        clashes.append(Clash("role", name.start, name.stop - 1, " ".join(evidence[most].raw[i] for i in others[0])))
    return clashes


def _cause(words: Words) -> tuple[range, range] | None:
    """Return what is caused and its cause, behind the one "because", "due to" or "owing to"; None if they are not."""
    marks = [i for i, word in enumerate(words.raw) if word in _CAUSES]
    marks = [i for i in marks if words.raw[i] == "because" or words.raw[i + 1 : i + 2] == ("to",)]
    if len(marks) != 1:
        return None
    mark, end = marks[0], len(words.raw)
    if mark > 1:
        return range(mark), range(mark + 1, end)
    comma = next((i for i in range(mark + 1, end - 1) if broken(words, i)), None)
    return None if comma is None else (range(comma + 1, end), range(mark + 1, comma + 1))


def cause_clashes(claim: Words, evidence: Sequence[Words]) -> list[Clash]:
    """Return a cause that the evidence tells of something else, where it names another cause of the same.

    The opening was put off because of a dry summer, where it was put off because a fire had destroyed the roof.
    """
    parts = _cause(claim)
    if parts is None:
        return []
    effect, cause = ({claim.parts.keys[i] for i in part if _told(claim, i)} for part in parts)
    if len(effect) < 2 or not any(cause <= near.parts.key_set for near in evidence) or not cause:
        return []
    named = False
    for near in evidence:
        held = len(effect & near.parts.key_set) / len(effect)
        if held < 0.5:
            continue
        if not cause.isdisjoint(near.parts.key_set):
            return []
        theirs = _cause(near)
        if theirs and held >= _MOST_SAID:
            other = {near.parts.keys[i] for i in theirs[1] if _told(near, i)}
            same = {near.parts.keys[i] for i in theirs[0]}
            named = named or (len(other - effect) >= 2 and len(effect & same) / len(effect) >= _MOST_SAID)
    told = [i for i in parts[1] if _told(claim, i)]
    return [Clash("role", told[0], told[-1], "")] if named else []
