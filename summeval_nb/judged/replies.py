"""Answers read with their question, and whether what they say stands where the question looks for it.

"Two." to "How many moons has Mars?" says that Mars has two moons: a short answer states nothing by itself, so a small
grammar of English questions makes a statement of both. Where it knows no reading, there is none, with the reason. Of a
table, each cell is a statement, with the head above it and the cell that names its row.

A checker of sentences, asked about "Derby won.", is easily content with a sentence in which Derby lost: most of the
words are there. So the answer's own words are looked for, too, beside the words of its question.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

from rapidfuzz.distance import Indel

from summeval_nb.core.results import Sentence
from summeval_nb.evidence.rows import cells_said, rows_say
from summeval_nb.evidence.rules import EXCLUSIVE, WHEN
from summeval_nb.evidence.tokens import Parts, Token, stem, take_apart
from summeval_nb.evidence.unsaid import may_be_past, past_of
from summeval_nb.evidence.words import stem_weight
from summeval_nb.judged.judging import Entailment, Label
from summeval_nb.text.markdown import Row, has_word
from summeval_nb.text.normalize import normalize
from summeval_nb.text.split import split_sentences
from summeval_nb.text.statements import answer_units, premise_sentences, resolve_by_rules
from summeval_nb.text.wrapping import citation_marks, wrappers

__all__ = ["AnswerUnit", "TableRow", "Told", "looked_up", "looked_up_in_tables", "own_spans", "read_replies"]
__all__ += ["spoken", "spoken_units", "table_rows"]


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


# Questions -----------------------------------------------------------------------------------------------------------

_BE, _DO, _HAVE = (frozenset(words.split()) for words in ("is are was were am", "do does did", "has have had"))
_MODAL = frozenset("will would can could may might must shall should".split())
_AUXILIARY = _BE | _DO | _HAVE | _MODAL
_WH = frozenset("who whom what which when where why how".split())
_PRONOUNS = frozenset("it he she they we i you there this that these those".split())
_DETERMINERS = frozenset(
    "the a an his her its their our my your this that these those some any all both each every no many most several"
    " another".split()
)
_PREPOSITIONS = frozenset(
    "in on at by for from to with of about under over into through during since until after before between"
    " because".split()
)
_BEHIND = _DETERMINERS | _PREPOSITIONS | frozenset("and or not only least most than as".split())  # no verb stands there
_NUMBER = re.compile(r"[\d$€£]|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty)\b", re.I)
_MEASURED = frozenset("old tall long high wide deep thick".split())
_LEAD = re.compile(
    r"(?:(?:and|so|but|now|then|well|please|okay|ok),? +)?"
    r"(?:(?:according to|based on|in|from) (?:the|this|these|your) (?:above )?"
    r"(?:text|article|passages?|documents?|report|context|story),? +)?",
    re.I,
)
_CHOICE = re.compile(r", [^,]{1,60} or [^,]{1,60}$")  # Who is older, Ann or Bob
_SHORT_FORM = re.compile(r"\b(who|what|where|when|how|which)['’]s\b", re.I)
_NOT_FORM = re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|would|could|should)n['’]t\b", re.I)
_LONGEST = 40


def _questions_words(question: str) -> list[str]:
    """The words of a question's last sentence, without what leads into it; none if it asks nothing."""
    sentences = split_sentences(question, lang="en") if question.strip() else []
    if not sentences:
        return []
    asked = _CHOICE.sub("", sentences[-1].text.strip().rstrip("?!. "))
    asked = _NOT_FORM.sub(r"\1", _SHORT_FORM.sub(r"\1 is", _LEAD.sub("", asked, count=1)))
    _, comma, tail = asked.rpartition(", ")
    first = tail.split(" ", 1)[0].lower()
    if comma and first in _AUXILIARY | _WH:  # In May, when was it closed
        asked = tail
    words = asked.split()
    return words if len(words) <= _LONGEST else []


def _starts_subject(word: str) -> bool:
    low = word.lower()
    return low in _DETERMINERS or low in _PRONOUNS or word[:1].isupper() or _NUMBER.match(word) is not None


def _subject_length(words: Sequence[str], *, predicate: bool) -> int:
    """How many of the words behind an auxiliary are its subject: a name, *it*, or all up to a participle.

    Without one, another thing or a small word ends it; with `predicate` the word before that is said of the subject.
    """
    first = words[0].lower() if words else ""
    if not words or (first in _PRONOUNS and (len(words) == 1 or first not in _DETERMINERS)):
        return len(words[:1])
    start = 1 + (first in _DETERMINERS)
    if words[0][:1].isupper():
        capital = [word[:1].isupper() for word in [*words, ""]]
        joins = [word.lower() in ("of", "and", "the", "de", "van", "von", "&") for word in words]
        while start < len(words) and (capital[start] or (joins[start] and capital[start + 1])):
            start += 1
        return start
    small = (_PREPOSITIONS - {"of"}) | _DETERMINERS | _PRONOUNS
    end = len(words)
    for i in range(start, len(words)):
        low, before = words[i].lower(), words[i - 1].lower()
        if may_be_past(low) or low.endswith("ing") or low in _AUXILIARY:
            return i
        led = before in _PREPOSITIONS or (predicate and i == start and low in _PREPOSITIONS)  # the man with the hat
        if (low in small or _NUMBER.match(low)) and not led:
            end = i
            break
    return max(start, end - 1) if predicate and start > 1 else start if predicate else end


def _inflected(verb: str, auxiliary: str) -> str:
    """A verb as it is without its form of *do*: did win is won, does open is opens."""
    low = verb.lower()
    if auxiliary == "do":
        return verb
    if auxiliary == "did":
        past = past_of(low) or (low + "d" if low.endswith("e") else "")
        return past or re.sub(r"(?<=[^aeiou])y$", "i", low) + "ed"
    if low == "have":
        return "has"
    return re.sub(r"(?<=[^aeiou])y$", "ie", low) + ("es" if low.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


class _Clause(NamedTuple):
    """A question's clause in the order of a statement: subject, verb (or auxiliary and what follows), the rest."""

    subject: str
    verb: str
    rest: str
    auxiliary: str


def _clause(auxiliary: str, words: Sequence[str], *, predicate: bool = False) -> _Clause | None:
    """The clause of an auxiliary and the words behind it; None where there is no subject."""
    low = auxiliary.lower()
    length = _subject_length(words, predicate=predicate or low in _DO | _MODAL)
    subject, after = " ".join(words[:length]), list(words[length:])
    if not length or (not after and low in _DO | _MODAL):
        return None
    if low in _DO:
        return _Clause(subject, _inflected(after[0], low), " ".join(after[1:]), low)
    if after and low in _MODAL | _HAVE:
        return _Clause(subject, f"{low} {after[0]}", " ".join(after[1:]), low)
    return _Clause(subject, low, " ".join(after), low)


class _Frame(NamedTuple):
    """A statement with a gap for the answer's own words."""

    before: str
    after: str
    subject: bool = False
    noun: str = ""
    measure: str = ""


def _at_end(clause: _Clause | None, preposition: str = "") -> _Frame | None:
    return clause and _Frame(f"{clause.subject} {clause.verb} {clause.rest} {preposition}".strip(), "")


def _behind_verb(clause: _Clause | None, noun: str = "") -> _Frame | None:
    """The gap behind the verb: Ann bought … in May; at the end where a preposition or a participle waits for it."""
    if clause is None:
        return None
    words = clause.rest.split()
    if words and (words[-1].lower() in _PREPOSITIONS or clause.auxiliary in _BE):
        return _Frame(f"{clause.subject} {clause.verb} {clause.rest}", "", noun=noun)
    return _Frame(f"{clause.subject} {clause.verb}", clause.rest, noun=noun)


def _first_auxiliary(words: Sequence[str]) -> int | None:
    return next((i for i, word in enumerate(words[:7]) if word.lower() in _AUXILIARY), None)


def _how_many(words: Sequence[str]) -> _Frame | None:
    place = _first_auxiliary(words)
    if place is None:  # How many people died
        return _Frame("", " ".join(words[1:]), True, noun=words[0]) if words[1:] else None
    noun, auxiliary, after = " ".join(words[:place]), words[place].lower(), words[place + 1 :]
    if after[:1] == ["there"]:
        return _Frame(f"there {auxiliary}", " ".join(after[1:]), noun=noun)
    if not after:
        return None
    if auxiliary in _DO or _starts_subject(after[0]) or (auxiliary not in _BE and after[1:] and after[0][-1:] == "s"):
        return _behind_verb(_clause(auxiliary, after), noun)
    return _Frame("", " ".join(words[place:]), True, noun=noun)


def _how(words: Sequence[str]) -> _Frame | None:
    if words[0].lower() in ("many", "much") and len(words) > 1:
        return _how_many(words[1:])
    place = _first_auxiliary(words)
    if place is None or place > 1 or place + 1 >= len(words):
        return None
    clause = _clause(words[place], words[place + 1 :])
    measured = place and words[0].lower() in _MEASURED and clause and clause.auxiliary in _BE and not clause.rest
    frame = _at_end(clause)
    return frame._replace(measure=words[0].lower()) if frame and measured else frame


def _opens_object(words: Sequence[str]) -> bool:
    """Whether a word is followed by what a verb takes: the meeting, round the sea; or by nothing."""
    return not words[1:] or words[1].lower() in _PREPOSITIONS or _starts_subject(words[1])


def _is_many(word: str) -> bool:
    low = word.lower()
    return low in ("people", "children", "men", "women", "staff", "police") or (
        low.endswith("s") and not low.endswith(("ss", "us", "is"))
    )


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
    if named and (words[0].lower().startswith("happen") or (place == 0 and len(words) == 1)):
        return None
    if place is None or (not named and place):  # Who wrote the report
        if wh == "what" and not _opens_object(words) and _is_many(words[0]):
            return None  # What turns water into steam: a noun or a verb?
        if wh == "which" or (wh == "what" and not _opens_object(words)):
            words = words[1:]
        return _Frame("", " ".join(words), True) if words else None
    auxiliary, after = words[place].lower(), words[place + 1 :]
    if not after:
        return None
    if _asks_subject(auxiliary, after):
        return _Frame("", " ".join(words[place:]), True)
    clause = _clause(auxiliary, after)
    if clause and auxiliary in _BE and not clause.rest:
        return _at_end(clause) if wh == "what" else _Frame("", f"{auxiliary} {clause.subject}", True)
    return _behind_verb(clause)


@lru_cache(maxsize=512)
def _frame_of(question: str) -> _Frame | None:
    """The statement that a question asks to complete; None where the grammar knows none."""
    words = _questions_words(question)
    if len(words) > 2 and words[0].lower() in _PREPOSITIONS and words[1].lower() in _WH:  # In which city does Ann live
        place = _first_auxiliary(words[2:])
        return None if place is None else _at_end(_clause(words[place + 2], words[place + 3 :]), words[0].lower())
    if len(words) < 2 or words[0].lower() not in _WH:
        return None
    wh, rest = words[0].lower(), words[1:]
    if wh == "how":
        return _how(rest)
    if wh in ("when", "where", "why"):
        return _at_end(_clause(rest[0], rest[1:])) if rest[0].lower() in _AUXILIARY else None
    return _who_or_what("who" if wh == "whom" else wh, rest)


class _Asserted(NamedTuple):
    """What *yes* and what *no* to a question state, and its subject."""

    yes: str
    no: str
    subject: str


@lru_cache(maxsize=512)
def _asserted(question: str) -> _Asserted | None:
    """What a question for yes or no asserts; None if it is none."""
    words = _questions_words(question)
    if len(words) < 2 or words[0].lower() not in _AUXILIARY:
        return None
    clause = _clause(words[0], words[1:], predicate=True)
    if clause is None or (clause.auxiliary in _BE and not clause.rest):
        return None
    head = clause.subject[:1].upper() + clause.subject[1:]
    first, _, more = clause.verb.partition(" ")
    denied = f"{first} not {more}"
    if clause.auxiliary in _DO:
        denied = f"{clause.auxiliary} not {words[1 + len(clause.subject.split())]}"
    yes, no = (" ".join(f"{head} {form} {clause.rest}".split()) + "." for form in (clause.verb, denied))
    return _Asserted(yes, no, clause.subject)


# Answers -------------------------------------------------------------------------------------------------------------

_YES = re.compile(
    r"(?:(?:fortunately|luckily|happily|thankfully|well)[, ]+(?=yes))?"
    r"(?:yes|yeah|yep|yup|correct|true|right(?=[,.!;:]|$)|exactly|affirmative|absolutely|definitely|certainly"
    r"|of course|indeed"
    r"|that(?:['’]s| is) (?:correct|right|true))\b(?:[,.!;:]| *[-–—])* *",
    re.I,
)
_NO = re.compile(
    r"(?:(?:unfortunately|sadly|i(?:['’]m| am) afraid|of course)[, ]+)?(?:no|nope|not(?: really| at all)?|incorrect"
    r"|that(?:['’]s| is)(?: incorrect|(?:n['’]t| not) (?:correct|right|true)))"
    r"(?=[,.!;: ]*$|[,.!;:]| *[-–—])(?:[,.!;:]| *[-–—])* *",
    re.I,
)
_OPENERS = re.compile(
    r"(?:well|in fact|actually|indeed|so|sure|okay|ok|in short|the answer is|the answer:|answer:)(?:[,!:.]+ *| +|$)",
    re.I,
)
_STRESSED = re.compile(r"(\*\*|__|\*|_)(?=[^\s*_])([^*_\n]+)\1")
_ECHO = re.compile(
    rf"(?:it|he|she|they|we|i|you|there|that|this) (?P<aux>{'|'.join(sorted(_AUXILIARY))})(?P<no>n['’]t| not)?[.! ]*",
    re.I,
)
_CLAUSE_OPENING = re.compile(r"(?:it|he|she|they|we|i|you|there|this|that)(?:['’]s|['’]re)?\b", re.I)
_ABBREVIATED = re.compile(r"\b[A-Za-z]\.[A-Za-z]\.$")


def _is_clause(reply: str, question: str) -> bool:
    """Whether a text has a subject and a verb, as far as small words, pasts and the question's own verb tell."""
    words = [word.strip(".,;:!?\"'()") for word in reply.split()]
    if len(words) > 1 and _CLAUSE_OPENING.match(reply):
        return True
    low = [word.lower() for word in words]
    if _has_verb_of(question, low):
        return True
    if low[0] in _PREPOSITIONS and low[0] != "because":  # With the app, users can pay
        rest = reply.partition(", ")[2]
        return bool(rest.strip()) and _is_clause(rest, question)
    if len(low) > 3 and _is_many(low[0]) and _BEHIND.isdisjoint(low[:2]):  # Bicycles travel free of charge
        return True
    if any(word in _AUXILIARY - {"am", "may"} for word in low[1:]):
        return True
    noun = (_frame_of(question) or _Frame("", "")).noun.lower().split()
    return low[0] != "because" and any(
        word.islower() and word not in (*noun, *_BEHIND) and before not in _BEHIND and _acts(word, behind)
        for before, word, behind in zip(low, words[1:], [*low[2:], ""], strict=False)
    )


def _acts(word: str, behind: str) -> bool:
    """Whether a word looks like a verb, by itself or by what follows it: grew, turns the wheel, pay 9 euros."""
    return may_be_past(word) or behind in _DETERMINERS or _NUMBER.match(behind) is not None


def _has_verb_of(question: str, low: Sequence[str]) -> bool:
    """Whether a reply has the verb that a form of *do* waits for in the question, with a subject before it."""
    words = [word.lower() for word in _questions_words(question)]
    place = next((i for i, word in enumerate(words) if word in _DO), len(words))
    forms = {_inflected(word, form) for word in words[place + 1 :] for form in ("does", "did")} - set(words)
    return any(word in forms and before not in _BEHIND for before, word in zip(low, low[1:], strict=False))


def _unreadable(text: str, own: str = "", frame: str = "") -> Told:
    why = f"“{text[:60]}” states nothing without its question, and of the two no statement could be made"
    return Told(text, own, frame, reason=why, made=True)


def _short(text: str, question: str) -> Told:
    """A short answer as a statement with its question's clause."""
    own = text.strip().strip("\"“”'’ ")
    own = own if _ABBREVIATED.search(own) else own.rstrip(".!;, ")
    frame = _frame_of(question)
    if frame is None or not own:
        return _unreadable(text, own, " ".join(word for word in _questions_words(question) if word.lower() not in _WH))
    words = own.split()
    small = words[0].lower() in _DETERMINERS | _PREPOSITIONS or _NUMBER.match(own)
    filled = own[:1].lower() + own[1:] if frame.before and small else own
    held = {stem(word.strip(".,").lower()) for word in words}
    if frame.noun and not {stem(word.lower()) for word in frame.noun.split()} & held and len(words) <= 4:
        filled = f"{filled} {frame.noun}"
    if frame.measure and frame.measure not in held and _NUMBER.match(own) and len(words) > 1:
        filled = f"{filled} {frame.measure}"
    whole = " ".join(f"{frame.before} {filled} {frame.after}".split())
    whole = whole[:1].upper() + whole[1:] + ("" if whole.endswith(".") else ".")
    asked = f"{frame.before} {frame.after} {frame.noun}".strip()
    return Told(whole, own, asked, "subject" if frame.subject else "", made=True)


def _with_subject(clause: str, subject: str) -> str:
    """A clause with the question's subject in the place of the pronoun that opens it, where both fit."""
    found = re.match(r"(It|They|He|She)\b(?!['’])(?= \w)", clause[:1].upper() + clause[1:])
    if not found or not subject or subject.lower() in _PRONOUNS:
        return clause
    many, name = subject.split()[-1].endswith("s") and not subject[:1].isupper(), subject[:1].isupper()
    fits = {"It": not many, "They": many, "He": name, "She": name}[found[1]]
    return subject[:1].upper() + subject[1:] + clause[found.end() :] if fits else clause


def _subject_asked(question: str) -> str:
    """The subject of a question, for what it states or what it asks of it; '' where none is known."""
    asserted, frame, words = _asserted(question), _frame_of(question), _questions_words(question)
    place = _first_auxiliary(words)
    if asserted or not frame or not frame.before or place is None:
        return asserted.subject if asserted else ""
    clause = _clause(words[place], words[place + 1 :])
    return clause.subject if clause else ""


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
    if asserted is None:
        return _read(rest, question) if rest else [_unreadable(text)]
    said = Told(asserted.no if denied else asserted.yes, made=True)
    if not rest or not _is_clause(rest, question):
        return [said]
    clause = _with_subject(rest[:1].upper() + rest[1:], asserted.subject)
    return [said, Told(clause, kind="instead" if denied else "")]


def _read(text: str, question: str) -> list[Told]:
    """What the first unit of an answer says, read with the question; nothing for an opener alone."""
    plain = text.strip()
    if opened := _STRESSED.match(plain):  # **Yes** — it was
        plain = opened[2] + plain[opened.end() :]
    if re.search(r":\s*$", plain, re.M):  # a list, whose items go on with it
        return [Told(text)]
    found = _yes_or_no(plain, question)
    if found is not None:
        return found
    if opened := _OPENERS.match(plain):
        rest = plain[opened.end() :].strip()
        return _read(rest[:1].upper() + rest[1:], question) if rest else []
    if _is_clause(plain, question):
        return [Told(_with_subject(plain, _subject_asked(question)))]
    return [_short(plain, question)]


# What does a child pay, and when was the hall built? An answer to both is read as it stands.
_TWO_QUESTIONS = re.compile(r"(?<=[\w,] )and (?:(?:in|at|by|for|from) )?(?:who|what|which|when|where|why|how)\b", re.I)


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
    opening = bool(question.strip()) and not _TWO_QUESTIONS.search(question)
    for unit in units:
        out.append(_read(unit, question) if opening else [Told(unit)])
        opening = opening and not out[-1]
    return out


# Units and tables ----------------------------------------------------------------------------------------------------

_LINE = re.compile(r"[^\n]+")
_RULE = re.compile(r"[\s|:+-]+")
_MARKUP = re.compile(r"[*_`]+")


class TableRow(NamedTuple):
    """A row of a table: its place in the text, and what it states; the head and the line below it state nothing."""

    start: int
    end: int
    told: tuple[Told, ...]


def _cells(line: str) -> list[str]:
    inner = line.strip().strip("|") if "|" in line else ""
    return [_MARKUP.sub("", cell).strip() for cell in inner.split("|")] if inner else []


def _is_rule(line: str) -> bool:
    return "-" in line and "|" in line and _RULE.fullmatch(line) is not None


def _goes_on(line: re.Match[str], following: re.Match[str], count: int) -> bool:
    """Whether a table of that many columns goes on in the line that follows, without an empty line between."""
    apart = line.string.count("\n", line.end(), following.start()) > 1
    return not apart and (_is_rule(following[0]) or len(_cells(following[0])) == count)


def _tables(lines: Sequence[re.Match[str]]) -> Iterator[Sequence[re.Match[str]]]:
    """Runs of lines with as many cells as each other, of which the first is a head."""
    start = 0
    while start < len(lines):
        count, end = len(_cells(lines[start][0])), start + 1
        while end < len(lines) and count > 1 and _goes_on(lines[end - 1], lines[end], count):
            end += 1
        run = lines[start:end]
        ruled = len(run) > 2 and _is_rule(run[1][0])
        numbers = [any(map(str.isdigit, line[0])) for line in run]
        told = not all(_is_rule(line[0]) for line in run)
        if told and (ruled or (len(run) > 1 and not numbers[0] and all(numbers[1:]))):
            yield run
        start = end


def table_rows(text: str) -> list[TableRow]:
    """Return the lines of a text's tables, in order.

    Examples
    --------
    >>> rows = table_rows("| product | cost |\\n|---|---|\\n| tea | 5 euros |")
    >>> [told.text for row in rows for told in row.told]
    ['The cost of tea is 5 euros.']
    """
    if "|" not in text:
        return []
    found: list[TableRow] = []
    for run in _tables(list(_LINE.finditer(text))):
        head, *body = [line for line in run if not _is_rule(line[0])]
        heads, rows = tuple(_cells(head[0])), tuple(tuple(_cells(line[0])) for line in body)
        told = {line.start(): _told(Row(heads, rows, number)) for number, line in enumerate(body)}
        found += [TableRow(*line.span(), told.get(line.start(), ())) for line in run]
    return found


def _told(row: Row) -> tuple[Told, ...]:
    named, *cells = row.rows[row.number]
    if named.isdigit() and row.heads[0]:  # of bus 4
        named = f"{row.heads[0]} {named}"

    def statement(head: str, cell: str) -> str:
        small = head[:1].lower() + head[1:] if head[1:2].islower() else head
        return f"The {small} of {named} is {cell}." if head and named else f"{named} {small} {cell}.".strip()

    pairs = zip(row.heads[1:], cells, strict=True)
    return tuple(Told(statement(head, cell), cell, made=True, row=row) for head, cell in pairs if cell)


_SPACES = re.compile(r"[^\S\n]+(?=[.,;:!?](?:\s|$))|(?<=[^\S\n])[^\S\n]+")


class AnswerUnit(NamedTuple):
    """A unit of a text: its place there, its words without marks of citation, and what it states if it is a row."""

    place: Sentence
    plain: str
    told: tuple[Told, ...] = ()


@lru_cache(maxsize=1024)
def spoken(text: str) -> str:
    """Return a text with blanks for what wraps it and for its marks of citation; every character keeps its place.

    Examples
    --------
    >>> spoken("Sure! It opened in 1931 [2].").strip()
    'It opened in 1931    .'
    """
    spans = [*wrappers(text), *((mark.start, mark.end) for mark in citation_marks(text))]
    for start, end in spans:
        blank = "".join(sign if sign in "\r\n" else " " for sign in text[start:end])
        text = text[:start] + blank + text[end:]
    return text


def spoken_units(text: str, *, keep_lists: bool = False) -> list[AnswerUnit]:
    """Return the units of an answer; the head of a table is none.

    Examples
    --------
    >>> [unit.plain for unit in spoken_units("Sure! It has two moons [1]. The sky is green.")]
    ['It has two moons.', 'The sky is green.']
    """
    said = spoken(text)
    rows = table_rows(said)
    found, reached = list[AnswerUnit](), 0
    for row in [*rows, TableRow(len(said), len(said), ())]:
        for unit in answer_units(said[reached : row.start], keep_lists=keep_lists):
            start, end = unit.start + reached, unit.end + reached
            if has_word(unit.text):
                found.append(AnswerUnit(Sentence(text[start:end], start, end), _SPACES.sub("", unit.text)))
        if row.told:
            place = Sentence(text[row.start : row.end], row.start, row.end)
            found.append(AnswerUnit(place, " ".join(told.text for told in row.told), row.told))
        reached = row.end
    return found


_WORD = re.compile(r"\w+|[^\w\s]")
_ALIGNED = 10_000_000  # pairs of words; an alignment takes a bit of memory for each


def own_spans(place: Sentence, read: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return where stretches of the words in which a unit is read stand in the user's text.

    A word that replaces others stands where they do. What stands nowhere is the whole unit's.

    Examples
    --------
    >>> own_spans(Sentence("She sang [2] in Ulm.", 10, 30), "Anna sang in Ulm.", [(0, 4)])
    [(10, 13)]
    """
    own, said = list(_WORD.finditer(place.text)), list(_WORD.finditer(read))
    instead: list[list[re.Match[str]]] = [[] for _ in said]
    few = len(own) * len(said) <= _ALIGNED
    codes: Iterable[Any] = Indel.opcodes([word[0] for word in own], [word[0] for word in said]) if few else []
    for same, group in groupby(codes, key=lambda code: code.tag == "equal"):
        steps = list(group)
        there, first = own[steps[0].src_start : steps[-1].src_end], steps[0].dest_start
        words = [word for word in there if has_word(word[0])]
        for n in range(first, steps[-1].dest_end):
            instead[n] = [there[n - first]] if same else words
    starts, ends, found = [word.start() for word in said], [word.end() for word in said], []
    for start, end in spans:
        words = [word for n in range(bisect_right(ends, start), bisect_left(starts, end)) for word in instead[n]]
        low, high = (words[0].start(), words[-1].end()) if words else (0, len(place.text))
        found.append((place.start + low, place.start + high))
    return found


# Own words in a premise ----------------------------------------------------------------------------------------------

_SHORT = 3  # words of an answer all of which must stand in the premise; of a longer one its numbers and names
_ENOUGH = 0.5  # of the weight of the question's words, where a clause says otherwise


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


_CUT = re.compile(r":(?!\d)|[;(){}\[\]\n|]|,(?= )| (?:and|but|while|whereas|which|who|whose|where|or) ")


_CARRIED = 0.9


class _Said(NamedTuple):
    """A clause of a premise, and the words of the clause before where it goes on with them."""

    parts: Parts
    carried: frozenset[str]

    def held(self, frame: set[str]) -> float:
        """How much of the frame it says; a little less where it only goes on with it."""
        own = frame & self.parts.key_set
        return _weight(own) + _CARRIED * _weight((frame & self.carried) - own)


def _weight(keys: Iterable[str]) -> float:
    return sum(map(stem_weight, sorted(keys)))


@lru_cache(maxsize=256)
def _clauses(premise: str) -> tuple[_Said, ...]:
    """The clauses of a premise, its questions left out."""
    found: list[_Said] = []
    for text in [sentence.text for sentence in premise_sentences(premise)]:
        for number, piece in enumerate(_CUT.split(text) if not text.rstrip().endswith("?") else []):
            parts, carried = take_apart(piece), frozenset[str]()
            if not parts.tokens:
                continue
            first = piece.split()[0].lower()
            verb = first in _AUXILIARY or may_be_past(first)
            if found and (parts.keys[0] in _PRONOUNS or (number and (verb or not _names(parts)))):
                carried = frozenset(token.key for token in _telling(found[-1].parts) if token.kind == "content")
            found.append(_Said(parts, carried))
    return tuple(found)


def _units(parts: Parts) -> dict[str, str]:
    """Each number with the content word behind it, '' where none is."""
    pairs = zip(parts.tokens, [*parts.tokens[1:], None], strict=False)
    return {
        token.key: after.key if after is not None and after.kind == "content" else ""
        for token, after in pairs
        if token.kind == "number"
    }


def _rivals(own: Parts, frame: set[str], sentence: Parts) -> bool:
    """Whether a sentence holds another value of the kind of the own words: a number, a name, a month, a colour.

    A number of other things is another value only where the sentence says all that was asked.
    """
    numbers, others = _units(own), _units(sentence)
    if numbers:
        units = set() if frame <= sentence.key_set else {unit for unit in numbers.values() if unit}
        left = {number: unit for number, unit in others.items() if number not in numbers and number not in frame}
        return any(not unit or not units or unit in units for unit in left.values())
    words, there = (
        {parts.text[token.start : token.end].lower() for token in parts.tokens} for parts in (own, sentence)
    )
    if any(words & group and (there & group) - words for group in EXCLUSIVE):
        return True
    names = _names(own)
    return bool(names) and bool(_names(sentence) - names - frame - WHEN)


def _does(told: Told, own: Parts, sentence: Parts) -> bool:
    """Whether the own words may be a sentence's subject: before its verb and other names, or behind *by*."""
    keys, names = _keys(own), _names(sentence) - _keys(own)
    places = [i for i, token in enumerate(sentence.tokens) if token.key in keys]
    tokens = take_apart(told.frame).tokens
    if not places or not tokens or tokens[0].key in _BE:
        return True
    before, behind = sentence.keys[: places[0]], list(sentence.keys[places[-1] + 1 : places[-1] + 7])
    if "by" in before[-3:]:
        return True
    suffers = bool(behind) and behind[0] in _BE and "by" in behind
    verb = next((token.key for token in tokens if token.kind == "content"), "")
    return not suffers and (verb not in before if verb in sentence.keys else names.isdisjoint(before))


def _in_order(own: Parts, clause: Parts) -> bool:
    """Whether a clause says words in their own order, but for small ones, and neither denies."""
    rest = iter(_telling(clause))
    denied = any(token.kind == "negation" for parts in (own, clause) for token in parts.tokens)
    return not denied and all(any(other.key == token.key for other in rest) for token in _telling(own))


def _label(told: Told, premise: str, label: Label | None) -> Label | None:
    """The label of a short answer, given that of the judge for its statement."""
    clauses = _clauses(normalize(premise).text)
    own, asked = (take_apart(normalize(text, like=premise).text) for text in (told.own, told.frame))
    telling = _telling(own)
    keys = {token.key for token in telling}
    frame = (_keys(asked) if told.frame else set()) - keys
    strict = {t.key for t in telling if len(keys) <= _SHORT or t.kind == "number" or own.text[t.start].isupper()}
    if not strict <= set[str]().union(*(clause.parts.key_set for clause in clauses)):
        most = max((clause.held(frame) for clause in clauses), default=0.0)
        least = max(most - 1e-9, _ENOUGH * _weight(frame))
        near = [clause for clause in clauses if clause.held(frame) >= least]
        return "contradicted" if any(_rivals(own, frame, clause.parts) for clause in near) else "neutral"
    if told.reason:
        same = any(_keys(clause.parts) == keys and _in_order(own, clause.parts) for clause in clauses)
        return "entailed" if same else None
    holders = [clause for clause in clauses if keys <= clause.parts.key_set]
    if not holders:
        return label
    best = max(clause.held(frame) for clause in holders)
    nearer = [clause for clause in clauses if clause.held(frame) > best + 1e-9]
    named = _names(asked) & frame
    of_another = not any(named <= clause.parts.key_set | clause.carried for clause in holders)
    nearest = [clause.parts for clause in holders if clause.held(frame) > best - 1e-9]
    elsewhere = nearer and (of_another or any(_rivals(own, frame, clause.parts) for clause in nearer))
    if elsewhere or (told.kind == "subject" and not any(_does(told, own, parts) for parts in nearest)):
        return "contradicted" if label == "contradicted" else "neutral"
    return label


def _cell_label(told: Told, row: Row, premise: str) -> Label:
    """The label of a cell of a table; what the premise has in no clause with the name of its row is open."""
    units = resolve_by_rules([sentence.text for sentence in premise_sentences(normalize(premise).text)]).units
    said = next((cell.said for cell in cells_said(row, units) if cell.text == told.own), None)
    return "neutral" if said is None else "entailed" if said else "contradicted"


def looked_up(told: Told, premise: str, found: Entailment) -> Entailment:
    """Return what a premise says of a short answer, given what the judge says of its statement.

    Entailed is only what holds the answer's own words, in a clause that says as much of the question as any other
    with a value of the same kind. Where no statement could be made, only the very same words are entailed, and words
    that stand nowhere are not.

    Examples
    --------
    >>> told = Told("Derby won.", own="Derby", frame="won", kind="subject")
    >>> looked_up(told, "Leeds won. Derby lost.", Entailment(label="entailed")).label
    'neutral'
    """
    if told.kind == "instead" and found.label == "contradicted":  # not born in Oslo: that it was Bergen is open
        denied = all(any(token.kind == "negation" for token in parts.tokens) for parts, _ in _clauses(premise))
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
