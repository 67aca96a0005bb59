"""Answers read with their question: "Two." to "How many moons has Mars?" says that Mars has two moons.

A short answer states nothing by itself. A small grammar of English questions makes a statement of both; where it knows
no reading, there is none, with the reason. The question itself states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from summeval_nb.evidence.tokens import sentence_tokens, stem
from summeval_nb.evidence.verbs import past_of
from summeval_nb.judged.questions import lowered
from summeval_nb.text.markdown import Row
from summeval_nb.text.split import split_sentences

__all__ = ["Told", "begins_with_verb", "ends_with_preposition", "read_replies"]


class Told(NamedTuple):
    """What a part of an answer says.

    `text` is judged, as it is if it was `made` here. Where it was made of a short answer and its question, `own` holds
    the answer's words and `frame` the question's. `kind` is "subject" where the own words do what the frame says,
    "instead" for what stands behind a *no*, or "". With a `reason` no statement could be made. Of a cell of a table
    `own` is the cell and `row` its row.
    """

    text: str
    own: str = ""
    frame: str = ""
    kind: str = ""
    reason: str = ""
    made: bool = False
    row: Row | None = None


_BE, _DO, _HAVE = (frozenset(words.split()) for words in ("is are was were am", "do does did", "has have had"))
_MODAL = frozenset("will would can could may might must shall should".split())
_AUXILIARY = _BE | _DO | _HAVE | _MODAL
_PRONOUNS = frozenset("it he she they we i you there this that these those".split())
_DETERMINERS = frozenset(
    "the a an his her its their our my your this that these those some any all both each every no many most several"
    " another".split()
)
_PREPOSITIONS = frozenset(
    "in on at by for from to with of about under over during since until till after before between through into near"
    " against without within across along around behind than as because via per".split()
)
_ADVERBS = frozenset("not ever still also already always never too very quite often now then yet just only".split())
# what is said of a thing behind a form of be or have: participles without -ed, and the commonest adjectives
_SAID_OF = frozenset(
    "found built written sold made held won lost sent born known seen given taken bought brought caught chosen done"
    " drawn driven eaten fallen felt fought gone grown hidden hit hurt kept led left lent lit meant met paid put read"
    " run said set shot shown shut spent spoken stolen struck taught told thrown torn understood worn broken cut beaten"
    " open free safe available dangerous cold hot full empty important famous necessary possible responsible able"
    " allowed true false".split()
)
_NUMBER = re.compile(r"[\d$€£]|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty)\b", re.I)
_PAST = dict(
    pair.split(":")
    for pair in "be:was beat:beat become:became begin:began bite:bit blow:blew break:broke bring:brought build:built "
    "buy:bought catch:caught choose:chose come:came cost:cost cut:cut do:did draw:drew drink:drank "
    "drive:drove eat:ate fall:fell feed:fed feel:felt fight:fought find:found fly:flew forget:forgot "
    "get:got give:gave go:went grow:grew have:had hear:heard hide:hid hit:hit hold:held hurt:hurt "
    "keep:kept know:knew lead:led leave:left lend:lent let:let lie:lay lose:lost make:made mean:meant "
    "meet:met pay:paid put:put read:read ride:rode ring:rang rise:rose run:ran say:said see:saw sell:sold "
    "send:sent set:set shake:shook shine:shone shoot:shot shut:shut sing:sang sink:sank sit:sat "
    "sleep:slept speak:spoke spend:spent stand:stood steal:stole strike:struck swim:swam take:took "
    "teach:taught tell:told think:thought throw:threw understand:understood wake:woke wear:wore win:won "
    "write:wrote".split()
)
_SHORT_VOWEL = re.compile(r"[^aeiou]*[aeiou][bdgklmnprt]")  # stop, plan
_NOUNS = frozenset("cost cut drink fall fight fly hit lead lie ride ring rise run set show sleep stand read".split())
_VERBS = frozenset(_PAST.values()) - {"cost", "cut", "hit", "left", "felt", "saw", "lay", "read", "set", "put"}
_THIRD = frozenset(
    "has does goes says lives works costs opens closes begins starts ends lies stands sits runs covers carries holds"
    " contains includes needs wants makes takes gives gets plays wins loses means shows helps becomes remains".split()
)
_WHEN = {
    **dict.fromkeys(
        "january february march april may june july august september october november december spring summer autumn"
        " winter".split(),
        "in",
    ),
    **dict.fromkeys("monday tuesday wednesday thursday friday saturday sunday christmas".split(), "on"),
    **dict.fromkeys("noon midnight".split(), "at"),
}
_MEASURED = frozenset("old tall long high wide deep thick".split())
_ATTRIBUTE = frozenset("colour color size shape age height length width weight price cost name".split())
_TIME_NOUNS = frozenset("year month day date century decade time hour".split())

_LEAD = re.compile(
    r"(?:(?:and|so|but|now|then|well|please|okay|ok),? +)?"
    r"(?:(?:according to|based on|in|from) (?:the|this|these|your) (?:above )?"
    r"(?:text|article|passages?|documents?|report|context|story),? +)?",
    re.I,
)
_CHOICE = re.compile(r", [^,]{1,60} or [^,]{1,60}$")  # Who is older, Ann or Bob
_KIND_OF = re.compile(r"\b(what|which) (?:type|kind|sort)s? of ", re.I)
_SHORT_FORM = re.compile(r"\b(who|what|where|when|how|which)['’]s\b", re.I)
_NOT_FORM = re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|would|could|should)n['’]t\b", re.I)


def _questions_words(question: str) -> list[str]:
    """The words of a question's last sentence, without what leads into it; none if it asks nothing."""
    sentences = split_sentences(question, lang="en") if question.strip() else []
    if not sentences:
        return []
    asked = sentences[-1].text.strip().rstrip("?!. ")
    asked = _CHOICE.sub("", asked)
    asked = _NOT_FORM.sub(r"\1", _SHORT_FORM.sub(r"\1 is", _KIND_OF.sub(r"\1 ", _LEAD.sub("", asked, count=1))))
    head, comma, tail = asked.rpartition(", ")
    first = tail.split(" ", 1)[0].lower()
    if comma and (first in _AUXILIARY or first in _WH):  # In May, when was it closed
        asked = tail
    words = asked.split()
    return words if len(words) <= _LONGEST else []


_WH = frozenset("who whom what which when where why how".split())
_LONGEST = 40


def _starts_subject(word: str) -> bool:
    low = word.lower()
    return low in _DETERMINERS or low in _PRONOUNS or word[:1].isupper() or _NUMBER.match(word) is not None


def _says_of(word: str) -> bool:
    low = word.lower().rstrip(",")
    return low in _SAID_OF or (len(low) > 4 and low.endswith(("ed", "ing")) and low == word.rstrip(","))


def _subject_length(words: Sequence[str], *, predicate: bool, verb: bool = False) -> int:
    """How many of the words behind an auxiliary are its subject; all of them where nothing is said of it.

    With `predicate` something must be left: the last word before a preposition or the end is it, where no other is.
    With `verb` what is left begins with one, such as *win* in "did Leeds win the cup".
    """
    if not words:
        return 0
    if words[0].lower() in _PRONOUNS and (len(words) == 1 or words[0].lower() not in _DETERMINERS):
        return 1
    place, soft = 0, 0
    if words[0][:1].isupper():
        place = _name_length(words)
        if place == len(words) or not words[place - 1].endswith(("'s", "’s")):
            if place < len(words) and words[place].lower() in ("of", "and"):
                return place + 1 + _subject_length(words[place + 1 :], predicate=predicate, verb=verb)
            return place
    start = place + (words[place].lower() in _DETERMINERS)
    for i in range(start + 1, len(words)):
        low, before = words[i].lower(), words[i - 1].lower()
        if before in _PREPOSITIONS or before in _DETERMINERS or before == "and":
            start = i if before in _PREPOSITIONS and low not in _DETERMINERS else i + (low in _DETERMINERS)
            continue
        if verb and low in _PAST and (low not in _NOUNS or (i == 1 and start == 0)):
            return i
        ends = low in _ADVERBS or low.endswith("ly") or low in _DETERMINERS | _PRONOUNS or _NUMBER.match(low)
        if ends or (_says_of(words[i]) and not verb):
            return i - 1 if verb and i - start > 1 else i
        if low in _PREPOSITIONS and low != "of" and i - start >= 2 and not soft and predicate:
            soft = i - 1
    return soft or (len(words) - 1 if predicate and len(words) - start >= 2 else len(words))


def _name_length(words: Sequence[str]) -> int:
    """How many words from the first on are a name: Leeds United, the small words within it, too."""
    end = 1
    while end < len(words):
        joins = words[end].lower() in ("of", "and", "the", "de", "van", "von", "&")
        nxt = words[end + 1 : end + 2]
        if words[end][:1].isupper():
            end += 1
        elif joins and nxt and nxt[0][:1].isupper():
            end += 2
        else:
            break
    return end


def _inflected(verb: str, auxiliary: str) -> str:
    """A verb as it is without its form of *do*: did win is won, does open is opens."""
    low = verb.lower()
    if auxiliary == "do":
        return verb
    if auxiliary == "did":
        if low in _PAST:
            return _PAST[low]
        if past := past_of(low):
            return past
        if low.endswith("e"):
            return low + "d"
        if _SHORT_VOWEL.fullmatch(low):
            return low + low[-1] + "ed"
        return re.sub(r"(?<=[^aeiou])y$", "i", low) + "ed"
    if low == "have":
        return "has"
    return re.sub(r"(?<=[^aeiou])y$", "ie", low) + ("es" if low.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


class _Clause(NamedTuple):
    """A question's clause in the order of a statement: subject, verb (or auxiliary and what follows), the rest."""

    subject: str
    verb: str
    rest: str
    auxiliary: str


def _clause(auxiliary: str, words: Sequence[str], *, predicate: bool = True) -> _Clause | None:
    """The clause of an auxiliary and the words behind it; None where there is no subject."""
    low = auxiliary.lower()
    active = low in _DO | _MODAL
    length = _subject_length(words, predicate=predicate or active, verb=active)
    if not length:
        return None
    subject, after = " ".join(words[:length]), list(words[length:])
    if low in _DO:
        if not after:
            return None
        return _Clause(subject, _inflected(after[0], low), " ".join(after[1:]), low)
    if low in _MODAL or (low in _HAVE and after):
        if not after:
            return None
        verbs = 2 if after[0].lower() in ("be", "have", "been") and after[1:] and _says_of(after[1]) else 1
        return _Clause(subject, " ".join([low, *after[:verbs]]), " ".join(after[verbs:]), low)
    return _Clause(subject, low, " ".join(after), low)


class _Frame(NamedTuple):
    """A statement with a gap for the answer's own words; `place` is "when", "where", "why" or a preposition."""

    before: str
    after: str
    subject: bool = False
    place: str = ""
    noun: str = ""
    measure: str = ""


def _at_end(clause: _Clause | None, place: str) -> _Frame | None:
    if clause is None:
        return None
    text = f"{clause.subject} {clause.verb} {clause.rest}".strip()
    return _Frame(text, "", place="" if ends_with_preposition(text) else place)  # Where did she move to


def _behind_verb(clause: _Clause | None, noun: str = "") -> _Frame | None:
    """The gap behind the verb: Ann bought … in May; at the end where a preposition or a participle waits for it."""
    if clause is None or clause.verb.split()[-1] in ("do", "did", "does"):
        return None
    words = clause.rest.split()
    waits = bool(words) and (words[-1].lower() in _PREPOSITIONS or clause.auxiliary in _BE)
    if waits:
        return _Frame(f"{clause.subject} {clause.verb} {clause.rest}", "", noun=noun)
    return _Frame(f"{clause.subject} {clause.verb}", clause.rest, noun=noun)


def _first_auxiliary(words: Sequence[str]) -> int | None:
    return next((i for i, word in enumerate(words[:7]) if word.lower() in _AUXILIARY), None)


def _how_many(words: Sequence[str]) -> _Frame | None:
    place = _first_auxiliary(words)
    if place is None:  # How many people died
        end = next((i for i, word in enumerate(words[1:], 1) if _says_of(word) or word.lower() in _VERBS), 1)
        noun = " ".join(words[:end])
        return _Frame("", " ".join(words[end:]), True, noun=noun) if words[end:] else None
    noun, auxiliary, after = " ".join(words[:place]), words[place].lower(), words[place + 1 :]
    if after[:1] == ["there"]:
        return _Frame(f"there {auxiliary}", " ".join(after[1:]), noun=noun)
    if not after:
        return None
    if auxiliary in _BE:
        if not _starts_subject(after[0]):
            return _Frame("", " ".join(words[place:]), True, noun=noun) if noun else None
        return _behind_verb(_clause(auxiliary, after, predicate=False), noun)
    if auxiliary in _DO or _starts_subject(after[0]) or (len(after) > 1 and after[0].endswith("s")):
        return _behind_verb(_clause(auxiliary, after, predicate=auxiliary not in _HAVE), noun)
    return _Frame("", " ".join(words[place:]), True, noun=noun)


def _how(words: Sequence[str]) -> _Frame | None:
    if words[0].lower() in ("many", "much") and len(words) > 1:
        return _how_many(words[1:])
    place = _first_auxiliary(words)
    if place is None or place > 1 or place + 1 >= len(words):
        return None
    auxiliary, after = words[place], words[place + 1 :]
    clause = _clause(auxiliary, after, predicate=False)
    frame = _at_end(clause, "how")
    measure = words[0].lower() if place and words[0].lower() in _MEASURED else ""
    plain = clause is not None and auxiliary.lower() in _BE and not clause.rest
    return frame._replace(measure=measure) if frame and measure and plain else frame


def _opens_object(words: Sequence[str]) -> bool:
    """Whether a word is followed by what a verb takes: the meeting, round the sea, next; or by nothing."""
    low = words[1].lower() if words[1:] else ""
    return not low or low in _PREPOSITIONS | _ADVERBS or low == "next" or _starts_subject(words[1])


def _is_many(word: str) -> bool:
    low = word.lower()
    return low in _MANY or (low.endswith("s") and not low.endswith(("ss", "us", "is")))


_MANY = frozenset("people children men women staff police".split())


def _asks_subject(auxiliary: str, after: Sequence[str]) -> bool:
    """Whether a question's own word is its subject: Who will chair the meeting, but not What may tenants keep."""
    if _starts_subject(after[0]):
        return False
    if auxiliary in _MODAL:  # a bare plural with a verb behind it is the subject, any other bare word is the verb
        return not (_is_many(after[0]) and len(after) > 1 and not _opens_object(after))
    return auxiliary not in _DO


def _who_or_what(wh: str, words: Sequence[str]) -> _Frame | None:
    """The frame of a question for a thing or a person: the subject, the object, or what something is."""
    place = _first_auxiliary(words)
    named = wh in ("what", "which")
    if named and place == 0 and len(words) == 1:
        return None
    if named and words[0].lower().startswith("happen"):
        return None
    if place is None or (not named and place):  # Who wrote the report
        third = _is_many(words[0]) and _opens_object(words)  # What goes round the sea
        verb = _says_of(words[0]) or words[0].lower() in _VERBS | _THIRD or third
        if wh == "which" or (wh == "what" and not verb):
            known = _VERBS | _THIRD | set(_PAST)
            end = next((i for i, word in enumerate(words[1:], 1) if _says_of(word) or word.lower() in known), 0)
            if not end and wh == "what" and _is_many(words[0]):  # What turns water into steam: a noun or a verb?
                return None
            words = words[end or 1 :]
        return _Frame("", " ".join(words), True) if words else None
    noun, auxiliary, after = [word.lower() for word in words[:place]], words[place].lower(), words[place + 1 :]
    if not after:
        return None
    if _asks_subject(auxiliary, after):
        return _Frame("", " ".join(words[place:]), True)
    clause = _clause(auxiliary, after, predicate=False)
    if clause is None:
        return _Frame("", " ".join(words[place:]), True) if auxiliary not in _DO else None
    if noun and noun[-1] in _TIME_NOUNS:
        return _at_end(clause, "when")
    if auxiliary in _BE and not clause.rest:
        turned = wh == "what" or (bool(noun) and noun[-1] in _ATTRIBUTE)
        return _at_end(clause, "") if turned else _Frame("", f"{auxiliary} {clause.subject}", True)
    return _behind_verb(clause)


@lru_cache(maxsize=512)
def _frame_of(question: str) -> _Frame | None:
    """The statement that a question asks to complete; None where the grammar knows none."""
    words = _questions_words(question)
    preposition = ""
    if len(words) > 2 and words[0].lower() in _PREPOSITIONS and words[1].lower() in _WH:
        preposition, words = words[0].lower(), words[1:]
    if len(words) < 2 or words[0].lower() not in _WH:
        return None
    wh, rest = words[0].lower(), words[1:]
    if preposition:
        place = _first_auxiliary(rest)
        return None if place is None else _at_end(_clause(rest[place], rest[place + 1 :]), preposition)
    if wh == "how":
        return _how(rest)
    if wh in ("when", "where", "why"):
        return _at_end(_clause(rest[0], rest[1:], predicate=False), wh) if rest[0].lower() in _AUXILIARY else None
    return _who_or_what("who" if wh == "whom" else wh, rest)


class _Asserted(NamedTuple):
    """What *yes* and what *no* to a question state, its subject, and the last thing that it asks about."""

    yes: str
    no: str
    subject: str
    last: str


def _last_thing(rest: str) -> str:
    """The words behind the last small word of what is said: May of *closed in May*; '' where none stands there."""
    words = rest.split()
    small = [i for i, word in enumerate(words) if word.lower() in _PREPOSITIONS | _DETERMINERS]
    behind = words[small[-1] + 1 :] if small else []
    return " ".join(behind) if len(behind) <= 3 else ""


@lru_cache(maxsize=512)
def _asserted(question: str) -> _Asserted | None:
    """What a question for yes or no asserts; None if it is none."""
    words = _questions_words(question)
    if len(words) < 2 or words[0].lower() not in _AUXILIARY:
        return None
    clause = _clause(words[0], words[1:])
    if clause is None or (words[0].lower() in _BE and not clause.rest):
        return None
    verb, low = clause.verb, words[0].lower()
    head = clause.subject[:1].upper() + clause.subject[1:]
    if low in _DO:
        denied = f"{low} not {words[1 + len(clause.subject.split())]}"
    else:
        first, _, more = verb.partition(" ")
        denied = f"{first} not {more}".strip()
    yes, no = (" ".join(f"{head} {form} {clause.rest}".split()) + "." for form in (verb, denied))
    return _Asserted(yes, no, clause.subject, _last_thing(clause.rest))


def _joined(frame: _Frame, own: str) -> str:
    """The statement of a frame and an answer's own words."""
    words = own.split()
    first = words[0].lower()
    lead = ""
    if first not in _PREPOSITIONS and frame.place:
        lead = _preposition(frame.place, words)
    filled = lowered(own) if frame.before and first not in _WHEN else own
    if lead and filled[:1].isupper() and len(words) > 1 and words[0].lower() in _DETERMINERS:
        filled = filled[:1].lower() + filled[1:]
    held = {stem(word.strip(".,").lower()) for word in words}
    if frame.noun and not {stem(word.lower()) for word in frame.noun.split()} & held and len(words) <= 4:
        filled = f"{filled} {frame.noun}"
    if frame.measure and frame.measure not in held and _NUMBER.match(own) and len(words) > 1:
        filled = f"{filled} {frame.measure}"
    text = " ".join(f"{frame.before} {lead} {filled} {frame.after}".split())
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def _preposition(place: str, words: Sequence[str]) -> str:
    """The small word before an answer that has none: in May, on Monday, in Berlin, because the road was icy."""
    last = words[-1].lower().strip(".,")
    if place == "when":
        if re.fullmatch(r"\d{4}", last) and len(words) == 1:
            return "in"
        if re.fullmatch(r"\d{1,2}(?:[:.]\d\d)?|[ap]\.?m\.?", last):
            return "at" if len(words) < 3 and words[0].lower() not in _WHEN else "on"
        known = [_WHEN[word] for word in (word.lower().strip(",.") for word in words) if word in _WHEN]
        dated = any(char.isdigit() for word in words for char in word) and len(words) > 1
        return ("on" if dated and known and re.search(r"\b\d{1,2}\b", " ".join(words)) else known[0]) if known else ""
    if place == "where":
        return "in" if words[0][:1].isupper() and words[0].lower() not in _ORDINAL else ""
    if place == "why":
        return "because of" if words[0].lower() not in ("to", "because", "due", "so") else ""
    if place == "how":  # How did the fire start
        return "by" if words[0].lower() in ("a", "an", "the") else ""
    return place if place in _PREPOSITIONS else ""


_ORDINAL = frozenset("first second third fourth fifth sixth seventh eighth ninth tenth last here there".split())
_YES = re.compile(
    r"(?:(?:fortunately|luckily|happily|thankfully|well)[, ]+(?=yes))?"
    r"(?:yes|yeah|yep|yup|correct|true|right(?=[,.!;:]|$)|exactly|affirmative|absolutely|definitely|certainly"
    r"|of course|indeed"
    r"|that(?:['’]s| is) (?:correct|right|true))\b(?:[,.!;:]| *[-–—])* *",
    re.I,
)
_NO = re.compile(
    r"(?:(?:(?:unfortunately|sadly|regrettably|alas|i(?:['’]m| am) afraid|absolutely|certainly|definitely|of course"
    r"|fortunately|luckily)[, ]+)(?:no|not)|not (?:really|quite|exactly)"
    r"|not at all|no|nope|nah|false|incorrect|wrong|negative"
    r"|that(?:['’]s| is)(?:n['’]t| not) (?:correct|right|true|so)"
    r"|that(?:['’]s| is) (?:incorrect|wrong|false))(?=[,.!;: ]*$|[,.!;:]| *[-–—])(?:[,.!;:]| *[-–—])* *",
    re.I,
)
_OPENERS = re.compile(
    r"(?:(?:well|in fact|actually|so|sure|okay|ok|as a matter of fact|to be precise|in short|simply put|basically"
    r"|the answer is|the answer:|answer:|it(?:['’]s| is) true that|that said)[,!:.]?(?: +|$)"
    r"|(?:indeed|in fact|actually)[,.!]* *)",
    re.I,
)
_MAYBE = re.compile(
    r"(?:maybe|perhaps|possibly|probably|presumably|likely|it depends|depends|unclear|unsure|not sure|hard to say"
    r"|i (?:think|guess|suppose|believe)(?: so| not)?|who knows|kind of|sort of)"
    r"(?:[, ]+(?:yes|no|so|not|it (?:was|is)))?[.!… ]*",
    re.I,
)
_STRESSED = re.compile(r"(\*\*|__|\*|_)(?=[^\s*_])([^*_\n]+)\1")
_ECHO = re.compile(
    rf"(?:it|he|she|they|we|i|you|there|that|this) (?P<aux>{'|'.join(sorted(_AUXILIARY))})(?P<no>n['’]t| not)?[.! ]*",
    re.I,
)
_CLAUSE_OPENING = re.compile(r"(?:it|he|she|they|we|i|you|there|this|that)(?:['’]s|['’]re)?\b", re.I)
_ITEM = re.compile(r"(?:[-*+•–]|\d{1,3}[.)]) ")
_ABBREVIATED = re.compile(r"\b[A-Za-z]\.[A-Za-z]\.$")
_REPLY_WORDS = 14  # a longer answer is read as a sentence


def _is_clause(reply: str, question: str) -> bool:
    """Whether a text has a subject and a verb, as far as small words, endings and the question's own verb tell."""
    words = reply.split()
    if len(words) > _REPLY_WORDS or (len(words) > 1 and _CLAUSE_OPENING.match(reply)):
        return True
    inside = [word.strip(".,;:!?\"'()") for word in words]
    low = [word.lower() for word in inside]
    if _has_verb_of(question, low):
        return True
    if low[0] in _PREPOSITIONS and low[0] != "because":  # With the app, users can pay
        rest = reply.partition(", ")[2]
        return bool(rest.strip()) and _is_clause(rest, question)
    if any(word in _AUXILIARY - {"am", "may"} for word in low[1:]):
        return True
    if low[0] == "because":
        return False
    nouns = {stem(word) for word in (_frame_of(question) or _Frame("", "")).noun.lower().split()}
    return any(
        _is_finite(low, i) and inside[i] == low[i] and stem(low[i]) not in nouns for i in range(1, len(low))
    ) or _is_plural_and_verb(low)


def _has_verb_of(question: str, low: Sequence[str]) -> bool:
    """Whether a reply has the verb that a form of *do* waits for in the question, with a subject before it."""
    words = [word.lower() for word in _questions_words(question)]
    place = next((i for i, word in enumerate(words) if word in _DO), len(words))
    forms = {_inflected(word, form) for word in words[place + 1 :] for form in ("does", "did")} - set(words)
    behind = _DETERMINERS | _PREPOSITIONS | {"and"}
    return any(word in forms and before not in behind for before, word in zip(low, low[1:], strict=False))


def _is_finite(low: Sequence[str], place: int) -> bool:
    """Whether a word is a verb's form that has a subject before it, as far as word lists and endings tell."""
    word, before, behind = low[place], low[place - 1], low[place + 1 : place + 2]
    if before in _DETERMINERS | _PREPOSITIONS | _ADVERBS or before == "and":
        return False
    if word in _NOUNS or word in _PAST.values() and word not in _VERBS:
        starts = bool(behind) and (behind[0] in _DETERMINERS | _PREPOSITIONS or _NUMBER.match(behind[0]) is not None)
        return starts and (behind[0] != "of")
    return word in _VERBS or word in _THIRD or word in _PAST or (len(word) > 4 and word.endswith("ed"))


def _is_plural_and_verb(low: Sequence[str]) -> bool:
    """Whether a bare plural opens four words or more, and no small word follows: Bicycles travel free of charge."""
    small = _PREPOSITIONS | _DETERMINERS | _ADVERBS | {"and", "or"}
    return (
        len(low) > 3
        and low[0].endswith("s")
        and not low[0].endswith("ss")
        and low[0] not in small
        and low[1] not in small
    )


def _unreadable(text: str) -> Told:
    why = f"“{text[:60]}” states nothing without its question, and of the two no statement could be made"
    return Told(text, reason=why, made=True)


def _short(text: str, question: str) -> Told:
    """A short answer as a statement with its question's clause."""
    own = text.strip().strip("\"“”'’ ")
    own = own if _ABBREVIATED.search(own) else own.rstrip(".!;, ")
    frame = _frame_of(question)
    asked = " ".join(word for word in _questions_words(question) if word.lower() not in _WH)
    if frame is None or not own:
        return _unreadable(text)._replace(own=own, frame=asked)
    whole, kind = _joined(frame, own), "subject" if frame.subject else ""
    return Told(whole, own, f"{frame.before} {frame.after} {frame.noun}".strip(), kind, made=True)


def _restates(clause: str, asked: str) -> bool:
    """Whether a clause says all that was asked, whatever it says of it."""
    content = {token.key for token in sentence_tokens(asked) if token.kind in ("content", "number")}
    return content <= {token.key for token in sentence_tokens(clause)}


def _with_subject(clause: str, subject: str) -> str:
    """A clause with the question's subject in the place of the pronoun that opens it, where both fit."""
    found = re.match(r"(It|They|He|She)\b(?!['’])(?= \w)", clause[:1].upper() + clause[1:])
    if not found or not subject or subject.lower() in _PRONOUNS:
        return clause
    many = subject.split()[-1].endswith("s") and not subject[:1].isupper()
    word, name = found[1], subject[:1].isupper()
    fits = {"It": not many, "They": many, "He": name, "She": name}[word]
    return subject[:1].upper() + subject[1:] + clause[len(word) :] if fits else clause


def _yes_or_no(text: str, question: str) -> list[Told] | None:
    """What an answer with *yes* or *no* states; None if it is none."""
    asserted = _asserted(question)
    rest, denied = text, None
    for wanted, value in ((_NO, True), (_YES, False)):
        if found := wanted.match(text):
            rest, denied = text[found.end() :].strip(), value
            break
    echo = _ECHO.fullmatch(rest)
    if echo and (denied is not None or asserted):
        rest, denied = "", bool(echo["no"])
    if denied is None:
        return None
    if rest and not asserted:
        return _read(rest, question)
    if asserted is None:
        return [_unreadable(text)]
    yes, last = asserted.yes, asserted.last
    said = Told(asserted.no, made=True)
    if not denied:
        said = Told(yes, last, yes[: yes.rfind(last)] if last else "", made=True)
    if not rest or not _is_clause(rest, question):
        return [said]
    clause = _with_subject(rest[:1].upper() + rest[1:], asserted.subject)
    return [Told(clause)] if _restates(clause, yes) else [said, Told(clause, kind="instead" if denied else "")]


def _read(text: str, question: str) -> list[Told]:
    """What the first unit of an answer says, read with the question; nothing for an opener alone."""
    plain = text.strip()
    if opened := _STRESSED.match(plain):  # **Yes** — it was
        plain = opened[2] + plain[opened.end() :]
    if plain.endswith(":") or _ITEM.match(plain):  # a list, whose items go on with it
        return [Told(text)]
    if _MAYBE.fullmatch(plain):
        return [Told(plain, reason=f"“{plain[:60]}” leaves it open", made=True)]
    found = _yes_or_no(plain, question)
    if found is not None:
        return found
    opened = _OPENERS.match(plain)
    if opened:
        rest = plain[opened.end() :].strip()
        return _read(rest[:1].upper() + rest[1:], question) if rest and rest != plain else []
    if _is_clause(plain, question):
        asserted = _asserted(question)
        subject = asserted.subject if asserted else _clause_subject(question)
        return [Told(_with_subject(plain, subject))]
    subject = _clause_subject(question)
    if subject and len(plain.split()) > 1 and begins_with_verb(plain):  # Opened in 1931
        return [Told(f"{subject[:1].upper()}{subject[1:]} {plain[:1].lower()}{plain[1:]}", made=True)]
    return [_short(plain, question)]


@lru_cache(maxsize=512)
def _clause_subject(question: str) -> str:
    """The subject of a question that asks for something else; '' where none is known."""
    frame, words = _frame_of(question), _questions_words(question)
    if frame is None or not frame.before:
        return ""
    place = _first_auxiliary(words)
    clause = None if place is None else _clause(words[place], words[place + 1 :], predicate=False)
    return clause.subject if clause else ""


def begins_with_verb(clause: str) -> bool:
    """Return whether a clause begins with a verb or a participle, so that its subject stands before it."""
    first = clause.split()[0].lower().strip(".,") if clause.split() else ""
    return first in (_AUXILIARY - {"may"}) | _VERBS | _THIRD | _SAID_OF or (len(first) > 4 and first.endswith("ed"))


def ends_with_preposition(clause: str) -> bool:
    """Return whether a clause waits for a place, a time or a thing: opens at, goes to."""
    return clause.rpartition(" ")[2].lower() in _PREPOSITIONS


def read_replies(question: str, units: Sequence[str]) -> list[list[Told]]:
    """Return what each unit of an answer states, the first of them read with the question.

    A unit that is an opener alone ("Sure!") states nothing, and the next one is then read with the question.

    Examples
    --------
    >>> [told.text for told in read_replies("How many moons has Mars?", ["Two."])[0]]
    ['Mars has two moons.']
    >>> [told.text for told in read_replies("Was the bridge closed in May?", ["No, it was not."])[0]]
    ['The bridge was not closed in May.']
    """
    out: list[list[Told]] = []
    opening = bool(question.strip())
    for unit, behind in zip(units, [*units[1:], ""], strict=False):
        if not opening or _ITEM.match(behind.strip()):  # a lead-in goes on with the items behind it
            out.append([Told(unit)])
            opening = False
            continue
        found = _read(unit, question)
        opening = not found
        out.append(found)
    return out
