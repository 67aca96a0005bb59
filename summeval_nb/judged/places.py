"""Whether a short answer's own words stand in a premise, there where its question looks for them.

A checker of sentences, asked about "Derby won.", is easily content with a sentence in which Derby lost: most of the
words are there. So the answer's own words are looked for, beside the words of its question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz

from summeval_nb.evidence.rows import cells_said, rows_say
from summeval_nb.evidence.rules import ALIKE, EXCLUSIVE, WHEN
from summeval_nb.evidence.tokens import Parts, Token, antonyms, take_apart
from summeval_nb.evidence.words import stem_weight
from summeval_nb.judged.judging import Entailment, Label
from summeval_nb.judged.replies import Told, begins_with_verb
from summeval_nb.text.markdown import Row
from summeval_nb.text.normalize import normalize
from summeval_nb.text.statements import premise_sentences, resolve_by_rules

__all__ = ["looked_up", "looked_up_in_tables"]

_CUT = re.compile(r":(?!\d)|[;(){}\[\]\n|]|,(?= )| (?:and|but|while|whereas|which|who|whose|where|or) ")
_PRONOUNS = frozenset("he she it they".split())
_BE = frozenset("is are was were be been being".split())
_SHORT = 3  # words of an answer all of which must stand in the premise; of a longer one its numbers and names
_CARRIED = 0.9
_ENOUGH = 0.5  # of the weight of the question's words, where a clause says otherwise


class _Clause(NamedTuple):
    """A clause of a premise, and the words of the clause before where it goes on with them."""

    parts: Parts
    carried: frozenset[str]


def _telling(parts: Parts) -> list[Token]:
    """The words that tell something: content words, numbers, and May."""
    found = [
        token
        for token in parts.tokens
        if token.kind in ("content", "number") or (token.key in WHEN and parts.text[token.start].isupper())
    ]
    return found or list(parts.tokens)


def _keys(parts: Parts) -> set[str]:
    return {token.key for token in _telling(parts)}


def _names(parts: Parts) -> set[str]:
    return {token.key for token in parts.tokens if token.kind == "content" and parts.text[token.start].isupper()}


@lru_cache(maxsize=256)
def _clauses(premise: str) -> tuple[tuple[_Clause, ...], frozenset[str]]:
    """The clauses of a premise, pronouns replaced where rules are sure; and all of its words."""
    units = [sentence.text for sentence in premise_sentences(premise) if not sentence.text.rstrip().endswith("?")]
    found: list[_Clause] = []
    for sentence in resolve_by_rules(units).units if units else ():
        for number, piece in enumerate(filter(str.strip, _CUT.split(sentence))):
            parts, carried = take_apart(piece), frozenset[str]()
            if not parts.tokens:
                continue
            goes_on = parts.keys[0] in _PRONOUNS or (number and (begins_with_verb(piece) or not _names(parts)))
            if found and goes_on:
                carried = frozenset(token.key for token in _telling(found[-1].parts) if token.kind == "content")
            found.append(_Clause(parts, carried))
    return tuple(found), frozenset(key for clause in found for key in clause.parts.keys)


def _weight(keys: Iterable[str]) -> float:
    return sum(map(stem_weight, sorted(keys)))


def _held(clause: _Clause, frame: set[str]) -> float:
    """How much of the frame a clause says; a little less where it only goes on with it."""
    own = frame & clause.parts.key_set
    return _weight(own) + _CARRIED * _weight((frame & clause.carried) - own)


def _units(parts: Parts) -> dict[str, str]:
    """Each number with the content word behind it, '' where none is."""
    pairs = zip(parts.tokens, [*parts.tokens[1:], None], strict=False)
    return {
        token.key: after.key if after is not None and after.kind == "content" else ""
        for token, after in pairs
        if token.kind == "number"
    }


def _words(parts: Parts) -> set[str]:
    return {parts.text[token.start : token.end].lower() for token in parts.tokens}


def _rivals(own: Parts, frame: set[str], clause: Parts) -> bool:
    """Whether a clause holds another value of the kind of the own words: a number, a name, a month, an opposite.

    A number of other things is another value only where the clause says all that was asked.
    """
    numbers, others = _units(own), _units(clause)
    if numbers:
        units = set() if frame <= clause.key_set else {unit for unit in numbers.values() if unit}
        left = {number: unit for number, unit in others.items() if number not in numbers and number not in frame}
        return any(not unit or not units or unit in units for unit in left.values())
    words, there = _words(own), _words(clause)
    for group in EXCLUSIVE:
        if words & group and (there & group) - words:
            return True
    if any(antonyms().get(word, frozenset()) & there for word in words):
        return True
    names = _names(own)
    return bool(names) and bool(_names(clause) - names - frame - WHEN)


def _known(token: Token, own: Parts, every: frozenset[str]) -> bool:
    """Whether a word stands in the premise; of a name another spelling or ending will do."""
    if token.key in every:
        return True
    name = own.text[token.start].isupper() and len(token.key) > 3
    return name and any(fuzz.ratio(token.key, key) >= ALIKE for key in every if len(key) > 3)


def _does(told: Told, own: Parts, clause: Parts) -> bool:
    """Whether the own words may be the subject in a clause: before its verb and before other names, or behind *by*."""
    keys, names = _keys(own), _names(clause) - _keys(own)
    places = [i for i, token in enumerate(clause.tokens) if token.key in keys]
    frame = [token.key for token in take_apart(told.frame).tokens]
    if not places or not frame or frame[0] in _BE:
        return True
    first, last = places[0], places[-1]
    before = [clause.keys[i] for i in range(first)]
    if "by" in before[-3:]:
        return True
    behind = list(clause.keys[last + 1 : last + 7])
    suffers = bool(behind) and behind[0] in _BE and "by" in behind
    verb = next((token.key for token in take_apart(told.frame).tokens if token.kind == "content"), "")
    if verb in clause.keys:
        return verb not in before and not suffers
    return not suffers and names.isdisjoint(before)


def _said_of(told: Told, own: Parts, frame: set[str], clause: _Clause) -> bool:
    """Whether a clause says of a number all that was asked, and of no other; or who did it, behind *by*."""
    parts = clause.parts
    if not frame <= parts.key_set | clause.carried or any(token.kind == "negation" for token in parts.tokens):
        return False
    if _units(own):
        return not _rivals(own, frame, parts)
    verb = next((token.key for token in take_apart(told.frame).tokens if token.kind == "content"), "")
    first = next((i for i, token in enumerate(parts.tokens) if token.key in _keys(own)), 0)
    return told.kind == "subject" and first > 1 and list(parts.keys[first - 2 : first]) == [verb, "by"]


def _in_order(statement: Parts, clause: Parts) -> bool:
    """Whether a clause says a statement word for word, but for small words."""
    rest = iter(_telling(clause))
    plain = not any(token.kind == "negation" for parts in (statement, clause) for token in parts.tokens)
    return plain and all(any(other.key == token.key for other in rest) for token in _telling(statement))


def _label(told: Told, premise: str, label: Label | None) -> Label | None:
    """The label of a short answer, given that of the judge for its statement."""
    clauses, every = _clauses(normalize(premise).text)
    own, frame_parts = (take_apart(normalize(text, like=premise).text) for text in (told.own, told.frame))
    telling, frame = _telling(own), _keys(frame_parts) if told.frame else set[str]()
    keys = {token.key for token in telling}
    frame -= keys
    strict = [t for t in telling if len(keys) <= _SHORT or t.kind == "number" or own.text[t.start].isupper()]
    most = max((_held(clause, frame) for clause in clauses), default=0.0)
    if not all(_known(token, own, every) for token in strict):
        near = [clause for clause in clauses if _held(clause, frame) >= max(most - 1e-9, _ENOUGH * _weight(frame))]
        return "contradicted" if any(_rivals(own, frame, clause.parts) for clause in near) else "neutral"
    if told.reason:
        same = any(_keys(clause.parts) == keys and _in_order(own, clause.parts) for clause in clauses)
        return "entailed" if same else None
    holders = [clause for clause in clauses if keys <= clause.parts.key_set]
    if not holders:
        return label
    best = max(_held(clause, frame) for clause in holders)
    nearer = [clause for clause in clauses if _held(clause, frame) > best + 1e-9]
    named = _names(frame_parts) & frame
    of_another = not any(named <= clause.parts.key_set | clause.carried for clause in holders)
    if nearer and (of_another or any(_rivals(own, frame, clause.parts) for clause in nearer)):
        return "contradicted" if label == "contradicted" else "neutral"
    holders = [clause for clause in holders if _held(clause, frame) > best - 1e-9]
    if told.kind == "subject" and not any(_does(told, own, clause.parts) for clause in holders):
        return "contradicted" if label == "contradicted" else "neutral"
    statement = take_apart(normalize(told.text, like=premise).text)
    said = any(_in_order(statement, c.parts) or _said_of(told, own, frame, c) for c in holders)
    return "entailed" if said else label


def _cell_label(told: Told, row: Row, premise: str) -> Label:
    """The label of a cell of a table; what the premise has in no clause with the name of its row is open."""
    units = resolve_by_rules([sentence.text for sentence in premise_sentences(normalize(premise).text)]).units
    said = next((cell.said for cell in cells_said(row, units) if cell.text == told.own), None)
    return "neutral" if said is None else "entailed" if said else "contradicted"


def looked_up(told: Told, premise: str, found: Entailment) -> Entailment:
    """Return what a premise says of a short answer, given what the judge says of its statement.

    Entailed is only what holds the answer's own words, in a clause that says as much of the question as any other with
    a value of the same kind. Where no statement could be made, only the very same words are entailed, and words that
    stand nowhere are not.

    Examples
    --------
    >>> told = Told("Derby won.", own="Derby", frame="won", kind="subject")
    >>> looked_up(told, "Leeds won and Derby lost.", Entailment(label="entailed")).label
    'neutral'
    """
    if told.kind == "instead" and found.label == "contradicted":  # not born in Oslo: that it was Bergen is open
        denied = all(any(t.kind == "negation" for t in c.parts.tokens) for c in _clauses(premise)[0])
        return replace(found, label="neutral", probability=None) if denied else found
    if not told.own or (found.failed and not told.reason):
        return replace(found, label=None, probability=None, reason=told.reason) if told.reason else found
    label = _cell_label(told, told.row, premise) if told.row else _label(told, premise, found.label)
    if label == found.label:
        return found
    return replace(found, label=label, probability=None, reason=told.reason if label is None else "")


def looked_up_in_tables(rows: Sequence[Row], statement: str, found: Entailment) -> Entailment:
    """Return what a premise with tables says of a statement, given what the judge says of it.

    Examples
    --------
    >>> row = Row(("drink", "price"), (("tea", "5 euros"),), 0)
    >>> looked_up_in_tables([row], "Tea costs 5 euros.", Entailment(label="neutral")).label
    'entailed'
    """
    said = None if found.failed or not rows else rows_say(rows, normalize(statement).text)
    if said is None:
        return found
    return replace(found, label="entailed" if said else "contradicted", probability=None)
