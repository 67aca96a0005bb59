"""What an English text states, unit by unit: its lists with the words that lead into them, and its pronouns.

What an item under a *not* says stands in its lead-in. A list that was kept together is one unit; its items are its
statements. Only a pronoun that begins a sentence is replaced, only by the subject of the sentence before, and only
where that sentence holds nothing else that the pronoun could mean, or both sentences go on with the same verb ("The
warranty covers the motor. It does not cover scratches."). Everywhere else the pronoun stays, and the note says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from summeval_nb.core.results import Sentence
from summeval_nb.text.clauses import split_claims
from summeval_nb.text.markdown import HEADING
from summeval_nb.text.split import Reading, split_sentences, split_units

# Part of every judge's fingerprint: raise it when texts are taken apart, lists read or questions made differently, so
# that no store answers with what was said of other statements.
READING = 3

_ITEM = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)]|[a-z][.)])\s+(?=\S)")
_JOINED = re.compile(r", and (?=(?:the|an?|its?|he|his|they|their|this|that|these|those)\b)(\w)")
_NEGATED = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|without|except|excluding|neither|nor|cannot)\b|n['’]t\b", re.I
)
# a heading that denies what is listed below it: "Not supported yet", "What the fee does not cover"
_DENIES = re.compile(r"\b(?:(?:not|never)(?! (?:only|just|to)\b)|no longer|cannot)\b|n['’]t\b", re.I)
# what a lead-in ends with when the item goes on with its sentence: "the price includes:", "users can", "you need to"
_GOES_ON = re.compile(
    r"\b(?:includes?|included|contains?|covers?|covered|needs?|requires?|required|has|have|had|is|are|was|were|can|could|may"
    r"|must|should|will|would|to|offers?|provides?|means?|by|with|from|for|of|and|or|that|not|include|contain|cover)\s*:?$",
    re.I,
)
_TURNED = re.compile(r"^(?:These|The following(?: \w+)?) (?P<rest>(?:are|were|is|was|can|may|must|will|do)\b.+?):?$")
# why the words before such a list are not judged by themselves
LEADS = "it leads into a list, whose items are read with it"


def list_parts(text: str) -> tuple[str, list[str]]:
    """The words before a list, and its items; no items where there is no list."""
    lead: list[str] = []
    items: list[str] = []
    for line in text.splitlines():
        if _ITEM.match(line):
            items.append(_ITEM.sub("", line).strip())
        elif line.strip():
            if items:
                items[-1] += f" {line.strip()}"
            else:
                lead.append(line.strip())
    return " ".join(lead), items


def denying_lead(lines: Sequence[str]) -> str:
    """The unfinished sentence with a *not* that these lines end with; '' if they end with none."""
    joined = " ".join(line.strip() for line in lines)
    if not _NEGATED.search(joined):
        return ""
    last = split_sentences(joined, lang="en")[-1:]
    ends = not last or last[0].text.endswith((".", "!", "?"))
    return "" if ends or not _NEGATED.search(last[0].text) else last[0].text


def before_items(unit: str) -> tuple[list[str], bool]:
    """The lines of a unit before its first item, and whether it has one."""
    lines = [line for line in unit.splitlines() if line.strip()]
    first = next((i for i, line in enumerate(lines) if _ITEM.match(line)), None)
    return lines[:first], first is not None


def with_denying_leads(units: Sequence[str]) -> list[str]:
    """The units of a text for judging: an item joins its lead-in if that holds a *not*, other items stand alone.

    A bare item under "The warranty does not cover" is no assertion: what the text says of it is in the lead-in.

    Examples
    --------
    >>> with_denying_leads(["It does not cover\\n- scratches", "- rust", "It covers", "- the motor"])
    ['It does not cover\\n- scratches', 'It does not cover\\n- rust', 'It covers', '- the motor']
    """
    lead, out = "", list[str]()
    for unit in units:
        before, listed = before_items(unit)
        if before or not listed:
            lead = denying_lead(before)
        out.append(f"{lead}\n{unit}" if lead and not before else unit)
    return out


def _is_plural(item: str) -> bool:
    head = re.split(r" (?:of|against|for|in|on|with|from|to|at|by|that|which) ", item)[0].rstrip(".;,")
    return " and " in head or (head.endswith("s") and not head.endswith("ss"))


def with_lead(lead: str, item: str) -> str:
    """An item as a statement: with its lead-in where the sentence continues or the lead-in denies, otherwise alone."""
    turned = _TURNED.match(lead)
    if turned:  # "These are not included:" and "- the charger" is "The charger are not included"
        rest = (
            turned["rest"] if _is_plural(item) else re.sub(r"^are\b", "is", re.sub(r"^were\b", "was", turned["rest"]))
        )
        return f"{item[:1].upper()}{item[1:].rstrip('.;,')} {rest}"
    goes_on = not lead.endswith(":") or _GOES_ON.search(lead) is not None
    if not lead or lead.endswith((".", "!", "?")) or not (goes_on or _NEGATED.search(lead)):
        return item
    if not _GOES_ON.search(lead) and lead.endswith(":"):
        return f"{lead} {item}"
    return f"{lead.rstrip(': ')} {item}"


class LedReading(Reading):
    """A list's item that is read with its lead-in; what stands in the lead-in is the whole item's."""

    def in_sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return where `plain[start:end]` stands in the item; all of it where it stands in the lead-in only."""
        own = [i for i in range(start, end) if self.places[i] >= 0]
        own = own or [i for i, place in enumerate(self.places) if place >= 0]
        return self.places[own[0]], self.ends[own[-1]] if self.ends else self.places[own[-1]] + 1

    @property
    def reworded(self) -> bool:
        """Whether a checker reads other words than stand in the sentence: the lead-in's, at least."""
        return True


def read_with_leads(text: str, readings: Sequence[Reading]) -> list[Reading]:
    """The sentences of a text as they are read: an item under a *not* with its lead-in, which says nothing alone.

    Examples
    --------
    >>> from summeval_nb.text.split import split_markdown
    >>> text = "The warranty does not cover:\\n- scratches\\n- rust"
    >>> [reading.plain for reading in read_with_leads(text, split_markdown([text], progress=False)[0])]
    ['The warranty does not cover:', 'The warranty does not cover scratches', 'The warranty does not cover rust']
    """
    units = [_unit(text, reading) for reading in readings]
    read = with_denying_leads(units)
    leads = leads_into_items(units, read)
    return [
        reading._replace(reason=reading.reason or LEADS)
        if leading
        else reading
        if whole == unit or not reading.plain.rstrip(".;,")
        else _led(reading, with_lead(whole.partition("\n- ")[0], reading.plain))
        for reading, unit, whole, leading in zip(readings, units, read, leads, strict=True)
    ]


def _unit(text: str, reading: Reading) -> str:
    """The text by which a sentence is grouped: an item keeps its marker, a heading counts only where it denies its
    items."""
    if reading.reason:
        return f"{reading.plain}:" if reading.reason == HEADING and _DENIES.search(reading.plain) else ""
    return f"- {reading.plain}" if _is_item(text, reading) else reading.plain


def leads_into_items(units: Sequence[str], read: Sequence[str]) -> list[bool]:
    """Whether each unit is only the lead-in of the next one, and so no statement.

    Examples
    --------
    >>> leads_into_items(["It is not", "- red"], ["It is not", "It is not\\n- red"])
    [True, False]
    """
    led = [reading != own for reading, own in zip(read, units, strict=True)]
    return [
        not own and following and not before_items(unit)[1]
        for unit, (own, following) in zip(units, pairwise([*led, False]), strict=True)
    ]


def _is_item(text: str, reading: Reading) -> bool:
    """Whether a sentence opens an item of a list."""
    place = reading.sentence.start
    return _ITEM.match(text[text.rfind("\n", 0, place) + 1 : place] + "x") is not None


def _led(reading: Reading, plain: str) -> LedReading:
    """A reading with the words of an item and of its lead-in; the lead-in has no places in the text."""
    own = reading.plain.rstrip(".;,")
    start = len(plain) - len(reading.plain) if plain.endswith(reading.plain) else 0
    after = len(plain) - start - len(own)
    places = [*[-1] * start, *reading.places[: len(own)], *[-1] * after]
    ends = [*[-1] * start, *reading.ends[: len(own)], *[-1] * after] if reading.ends else ()
    return LedReading(reading.sentence, plain, places, reading.reason, ends=ends)


def is_list(text: str) -> bool:
    """Whether a text holds items of a list."""
    return bool(list_parts(text)[1])


def answer_units(text: str, *, keep_lists: bool = False, max_chars: int = 500) -> list[Sentence]:
    """The units of a text; a lead-in with a *not* stays with its first item, for by itself it says nothing.

    Examples
    --------
    >>> [unit.text for unit in answer_units("Two. It is so.")]
    ['Two.', 'It is so.']
    >>> [unit.text for unit in answer_units("It does not include\\n- the very large charger\\n- loss or any damage")]
    ['It does not include\\n- the very large charger', '- loss or any damage']
    """
    units: list[Sentence] = []
    for unit in split_units(text, keep_lists=keep_lists, max_chars=max_chars, min_chars=0):
        before, listed = before_items(unit.text)
        lead, already = before_items(units[-1].text) if units else ([], True)
        if listed and not before and not already and denying_lead(lead) and unit.end - units[-1].start <= max_chars:
            units[-1] = Sentence(text[units[-1].start : unit.end], units[-1].start, unit.end)
        else:
            units.append(unit)
    return units


@lru_cache(maxsize=1024)
def premise_sentences(premise: str, max_chars: int = 500) -> tuple[Sentence, ...]:
    """Return the sentences of a premise with their places in it, those over `max_chars` characters cut."""
    found: list[Sentence] = []
    for whole in split_sentences(premise):
        pieces = split_units(whole.text, max_chars=max_chars) if len(whole) > max_chars else None
        if pieces is None:
            found.append(whole)
        else:
            found += [Sentence(piece.text, whole.start + piece.start, whole.start + piece.end) for piece in pieces]
    return tuple(found)


def as_premise(units: Sequence[str]) -> str:
    """Units as one text that can be evidence: each item of a list under a *not* is a sentence with its lead-in.

    Examples
    --------
    >>> as_premise(["It does not cover\\n- scratches\\n- rust", "It is cheap."])
    'It does not cover scratches. It does not cover rust. It is cheap.'
    """
    out = list[str]()
    for unit in with_denying_leads(units):
        lead, items = list_parts(unit)
        denied = items and denying_lead(before_items(unit)[0])
        out += [f"{with_lead(lead, item).rstrip('.;, ')}." for item in items] if denied else [_apart(unit)]
    return " ".join(out)


def _apart(unit: str) -> str:
    """Two clauses that an *and* joins as two sentences, which are found as evidence one by one."""
    return _JOINED.sub(lambda found: f". {found[1].upper()}", unit) if unit.count(",") == 1 else unit


def clause_statements(hypothesis: str) -> list[str]:
    """Split a hypothesis by clause rules; one without a clause is one statement, and an item of a list is one at least.

    Examples
    --------
    >>> clause_statements("The price includes:\\n- the charger\\n- a cable")
    ['The price includes the charger', 'The price includes a cable']
    """
    lead, items = list_parts(hypothesis)
    texts = [with_lead(lead, item) for item in items] if items else [hypothesis]
    return [claim for text in texts for claim in split_claims(text) or [text]] or [hypothesis]


_KINDS = {"he": "person", "she": "person", "it": "thing", "they": "many"}
_OWNERS = {"his": "person", "her": "person", "its": "thing", "their": "many"}
_OPENING = re.compile(r"(?P<word>He|She|It|They|His|Her|Its|Their)\b(?!['’])(?= \w)")
# It rains, it is clear that, it took years: nothing stands behind this "it"
_EMPTY_IT = re.compile(
    r"It (?:(?:also|now|then) )?(?:rain|snow|seem|appear|turn|happen|take|took|follow|remain)\w*\b"
    r"|It (?:is|was|has been|will be|would be|may be)(?: not| also| now)? (?:\w+ly )?(?:clear|true|likely|unlikely|"
    r"possible|"
    r"impossible|important|necessary|said|estimated|hoped|known|unknown|expected|believed|hard|easy|difficult|only|"
    r"about|time|late|early|cold|hot|the|a|an|because|in|on|at|not)\b"
)
_NAME = r"[A-Z][\w’'-]*[a-z](?:[ -](?:(?:[A-Z]\.|van|von|de|der|da|di|la|le|bin|al|of|and|the) )*[A-Z][\w’'-]+)*"
_TITLE = r"(?:Mr|Mrs|Ms|Dr|Prof|Professor|President|Captain|Judge|Sir|Lady|King|Queen|Inspector|Minister)\.? "
_ROLES = (
    "man woman boy girl mayor minister president captain director doctor teacher nurse author chair chairman judge "
    "driver pilot king queen professor painter singer writer farmer owner manager coach player engineer spokesman "
    "spokeswoman senator officer chemist physicist poet actor actress mother father daughter son sister brother widow"
)
_VERBS = (
    "is are was were has have had will would can could may might must does do did says said went came took gave made "
    "became began won lost left met built bought sold held found kept ran runs rose fell grew wrote sits lies stands "
    "stood carries opens closes costs covers includes serves links needs shows gets got goes makes takes gives pays "
    "cost paid sent told knew led drew flew broke spoke drove chose"
)
_VERB = rf"(?:{'|'.join(_VERBS.split())}|[a-z]{{2,}}ed)"
_NOT_NAMES = frozenset(
    "The A An This That These Those In On At By For From To With After Before When While As If But And Or So Yet "
    "Not No Some Many Most All Both Each Every One Two Three There Here Then Now What Who Why How Where He She "
    "It They We I You His Her Its Their Our My Your".split()
)
_SUBJECT = re.compile(
    rf"(?:(?P<bare>[A-Z][a-z]+s)(?= [a-z])|(?P<title>{_TITLE})?(?P<name>{_NAME})"
    r"|(?P<noun>(?:The|A|An|This|These|All|Some|Many)"
    r"(?: (?!(?:that|who|which|whose|what|where|when|they|he|she|it|we|i|you)\b)[a-z][\w’'-]*){1,4}?)"
    rf")(?:,[^,]{{1,80}},)? (?:also |then |now |never |later )?{_VERB}\b"
)
_OTHER_NOUN = re.compile(r"\b(?:the|a|an|this|that|its|his|her|their|another|each|every)\s+[a-z]", re.I)
_OTHER_MANY = re.compile(r"\b[a-z]{3,}s\b")
_WHEN = re.compile(
    r"\b(?:in|on|at|since|until|by|for|during|after|before) (?:the |a |an |last |next |this )?"
    r"(?:\d+|january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|"
    r"wednesday|thursday|friday|saturday|sunday|morning|evening|night|day|week|month|year|summer|winter|spring|autumn|"
    r"same day|end of)\b[^,.;]*",
    re.I,
)
_SMALL_PLURALS = frozenset(
    "was has is his its this does as us euros dollars pounds metres kilometres years days".split()
)


class _Subject(NamedTuple):
    """What a sentence is about, and what kinds of pronoun may stand for it."""

    text: str
    kinds: frozenset[str]


def _subject(sentence: str) -> _Subject | None:
    """The subject that opens a sentence, where the rules know one and nothing else in it could be meant."""
    found = _SUBJECT.match(sentence)
    if found is None or (found["name"] or "").split(" ")[0] in _NOT_NAMES:
        return None
    text = sentence[: found.end(found.lastgroup or 0)] if found["title"] else found[found.lastgroup or 0]
    rest = _WHEN.sub(" ", sentence[len(text) :])
    others = [name for name in re.findall(rf"\b{_NAME}", rest) if name.split(" ")[0] not in _NOT_NAMES]
    last = text.split(" ")[-1].lower()
    many = bool(found["bare"]) or (not found["name"] and last.endswith("s") and not last.endswith("ss"))
    if many:
        plurals = [word for word in _OTHER_MANY.findall(rest) if word not in _SMALL_PLURALS]
        return None if plurals or others else _Subject(text, frozenset({"many"}))
    kinds = set()
    if found["name"]:
        people = [name for name in others if " " in name]
        if " " in text and not people and not (others and not found["title"] and len(others) > 1):
            kinds.add("person")
        if not others and not found["title"] and not _OTHER_NOUN.search(rest):
            kinds.add("thing")
    elif last in _ROLES.split():
        if not others and not any(re.search(rf"\b{role}\b", rest) for role in _ROLES.split()):
            kinds.add("person")
    elif not others and not _OTHER_NOUN.search(rest):
        kinds.add("thing")
    return _Subject(text, frozenset(kinds)) if kinds else None


_AUXILIARY = "is are was were be been has have had will would can could may might must shall should do does did"
_SAME_VERB = re.compile(
    rf"(?P<word>It|They) (?:(?:{'|'.join(_AUXILIARY.split())})(?:n['’]t| not)? |cannot |also |now |never |only )*"
    r"(?P<verb>[a-z]+)\b"
)


def _verb_stem(verb: str) -> str:
    """A verb without its ending, as far as two forms of one verb share it."""
    return re.sub(r"(?:ies|ied)$", "y", verb) if verb.endswith(("ies", "ied")) else re.sub(r"(?:e?s|e?d|e)$", "", verb)


def _same_verb_subject(sentence: str, unit: str) -> _Subject | None:
    """The subject of a sentence whose verb the unit's *it* or *they* goes on with: both are of the same thing."""
    found, after = _SUBJECT.match(sentence), _SAME_VERB.match(unit)
    if found is None or after is None or found["title"] or (found["name"] or "").split(" ")[0] in _NOT_NAMES:
        return None
    verb = sentence[: found.end()].rsplit(" ", 1)[-1]
    if verb in _AUXILIARY.split() or _verb_stem(verb) != _verb_stem(after["verb"]):
        return None
    text = found[found.lastgroup or 0]
    last = text.split(" ")[-1].lower()
    many = bool(found["bare"]) or (not found["name"] and last.endswith("s") and not last.endswith("ss"))
    fits = many if after["word"] == "They" else not many and last not in _ROLES.split()
    return _Subject(text, frozenset({"many" if many else "thing"})) if fits else None


class Resolved(NamedTuple):
    """Units of a text with their pronouns replaced, one string each, and how."""

    units: tuple[str, ...]
    note: str


def resolve_by_rules(units: Sequence[str]) -> Resolved:
    """Replace pronouns that open a unit by the subject of the unit before, where there is just one candidate.

    Examples
    --------
    >>> resolve_by_rules(["The ferry has run since 1994.", "It carries 400 passengers."]).units[1]
    'The ferry carries 400 passengers.'
    """
    out: list[str] = []
    notes: list[str] = []
    subject: _Subject | None = None
    for number, unit in enumerate(units, 1):
        opening = _OPENING.match(unit)
        if opening is None:
            out.append(unit)
            subject = _subject(unit)
            continue
        word = opening["word"]
        kind = _KINDS.get(word.lower()) or _OWNERS[word.lower()]
        if (subject is None or kind not in subject.kinds) and out:
            subject = _same_verb_subject(out[-1], unit) or subject
        if subject is None or kind not in subject.kinds or _EMPTY_IT.match(unit):
            out.append(unit)
            if not _EMPTY_IT.match(unit):
                notes.append(f"“{word}” (sentence {number}) was left as it is: what it stands for is not clear")
                subject = None
            continue
        owner = word.lower() in _OWNERS
        ending = "" if not owner else "’" if subject.text.endswith("s") else "’s"
        out.append(subject.text + ending + unit[opening.end("word") :])
        notes.append(f"“{word}” (sentence {number}) is read as “{subject.text}{ending}”")
        again = _subject(out[-1])
        if owner:  # whose it is has become one of two candidates
            subject = None
        else:
            subject = subject if again is not None and again.text == subject.text else None
    return Resolved(tuple(out), "; ".join(notes))
