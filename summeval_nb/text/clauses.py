"""An English sentence taken apart: into claims at its clauses, and into its smallest claims.

There is no grammar model. The rules know some three hundred words, each asks whether a cut is safe, and whenever one is
in doubt the text stays whole. What stands in quotation marks or brackets is one word: no rule reaches inside. For the
smallest claims they take away what stands beside the main fact and, where its grammar says of whom it is told, make it
a claim of its own: an opening *Founded in 1799*, an apposition, a *which*, a *with*, a second predicate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from summeval_nb.core.base import require_text

__all__ = ["is_participle", "minimal_claims", "split_claims", "subject_of"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_DETERMINERS = _set("""the a an this that these those his its their our my your some any no every each all both
several many most another one two three four five six seven eight nine ten her""")
_PRONOUNS = _set("he she it they we i you there")
_PREPOSITIONS = _set("""in on at for from with without to into onto about after before during since until over under
between among against through across as like near per within despite toward towards around behind beyond off out up
down back home away together again""")
_MODALS = _set("will can must shall")
_AUXILIARIES = _MODALS | _set("is are was were am has have had does do did would could may might should")
_PAST = _set("""went took gave became began came wrote knew grew drew flew threw chose broke spoke stole drove rode
ate drank swam forgot forgave fell rose saw ran shook woke wore tore arose overtook undertook withdrew said""")
_PRESENT = _set("""says includes becomes begins gives takes makes knows thinks believes provides requires contains
remains seems appears allows keeps goes comes gets tells expects owns receives belongs consists leads brings sees
wants employs describes explains argues suggests depends""")
_PAST_OR_PARTICIPLE = _set("""made built bought brought sold told held found kept led left lost met paid sent spent
won thought taught caught felt dealt heard stood understood fought sought shot struck got had""")
_ANY_TENSE = _set("put set cut hit shut let cost read spread quit beat run come")
_PARTICIPLES = _set("""taken given become begun written known grown drawn flown thrown chosen broken spoken stolen
driven eaten forgotten fallen risen seen shaken worn torn hidden bitten blown frozen done gone been shown""")
_BASE = _set("""go become begin give take make get build buy sell open close keep bring send create provide include
receive remain reduce produce introduce continue join lose pay meet leave move add allow improve expand develop write
speak choose""")
_NOT_VERBS = _set(
    "hundred indeed sacred naked wicked hatred kindred infrared need speed breed seed feed exceed proceed succeed"
)
_NOT_ASSERTED = _set("""that if whether unless because since when while before after until till once although though
who whom whose which where why how what or nor either neither nobody nothing none never not no only few hardly rarely
deny denied denies doubt doubts doubted claim claims claimed say says said tell tells told believe believes believed
think thinks thought argue argues argued allege alleged reported hope hopes hoped fear fears feared expect expects
expected suggest suggests suggested warn warned would could might may should according""")
_ADVERBS = _set("then also later yet still finally soon eventually subsequently now")
_LONGEST = 2000
_SOURCE = re.compile(
    r",[^,]{1,60}\b(?:said|says?|added|adds?|reported|reports?|wrote|writes|claim(?:s|ed)|warn(?:s|ed))\W*$"
)
_WORD = re.compile(r"\"[^\"]*\"|“[^”]*”|\([^()]*\)|\[[^\[\]]*\]|[$€£]?\w+(?:[.,'’&/-]\w+)*|[^\w\s]")


class _Word(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        return self.text.lower().replace("’", "'") if self.text != "May" else "May"  # the month is no auxiliary


def _words(text: str) -> list[_Word]:
    """Return the words of a sentence; a quotation or a bracket counts as one word."""
    return [_Word(found[0], *found.span()) for found in _WORD.finditer(text)]


def _complement(word: _Word | None, *, strict: bool = False) -> bool:
    """Whether a word can follow a verb rather than an adjective; `strict` leaves out prepositions."""
    if word is None or word.low in _DETERMINERS or word.low in _PRONOUNS or word.text[0] in '"“$€£':
        return True
    if word.low in _set("him them us me itself himself herself themselves that how what whether"):
        return True
    if word.text[0].isdigit() or word.text[0].isupper() or not word.text[0].isalnum():
        return True
    return not strict and (word.low in _PREPOSITIONS or word.low.endswith("ly"))


def _is_verb(words: Sequence[_Word], index: int, *, strict: bool = False) -> bool:
    """Whether the neighbours of the word at `index` suggest a finite verb."""
    word, low = words[index], words[index].low
    before = next((earlier.low for earlier in reversed(words[:index]) if not earlier.low.endswith("ly")), "")
    after = words[index + 1] if index + 1 < len(words) else None
    if word.text[0].isupper() or before in _DETERMINERS or before == "to":
        return False
    if low in _AUXILIARIES or low in _PRESENT or low.endswith("n't"):
        return True
    if low in _PAST:
        return _complement(after) or low not in _set("rose saw fell tore wore")
    sure = before in _PRONOUNS or (not strict and low in _PAST_OR_PARTICIPLE - _set("left lost felt thought made"))
    return _maybe_participle(low) and (sure or _complement(after, strict=strict))


def _maybe_participle(low: str) -> bool:
    """Whether a form can be a past tense and a participle."""
    regular = low.endswith("ed") and len(low) > 3 and low not in _NOT_VERBS
    return regular or low in _PAST_OR_PARTICIPLE or low in _ANY_TENSE


def _main_verb(words: Sequence[_Word], *, strict: bool = False) -> int | None:
    """Return the index of a clause's finite verb, or None if this is not a clause."""
    commas = int(bool(words) and words[0].low in _PREPOSITIONS)
    for index, word in enumerate(words[:13]):
        if index and _is_verb(words, index, strict=strict) and words[index - 1].text != ",":
            return index
        commas -= word.text == ","
        if commas < 0 or word.low in _NOT_ASSERTED:
            return None
    return None


def _asserted(words: Iterable[_Word]) -> bool:
    """Whether nothing in these words keeps what follows from being asserted."""
    return not any(word.low in _NOT_ASSERTED or word.low.endswith("n't") for word in words)


def about_subject(text: str) -> list[str]:
    """Cut ', who …,' or ', which …,' after the subject into a statement of its own; otherwise return the text whole."""
    words = _words(text)
    commas = [i for i, word in enumerate(words) if word.text == ","]
    if len(commas) < 2 or not 0 < commas[0] <= 8 or words[commas[0] + 1].low not in ("who", "which"):
        return [text]
    subject, inner, main = (words[: commas[0]], words[commas[0] + 2 : commas[1]], words[commas[1] + 1 :])
    plain = _asserted(subject) and not any(w.low in _PREPOSITIONS or w.low == "of" for w in subject)
    if not plain or not _begins_with_verb(inner) or not _begins_with_verb(main):
        return [text]
    name = text[subject[0].start : subject[-1].end]
    return [f"{name} {part}" for part in _halves(text, inner, main)]


def _begins_with_verb(words: Sequence[_Word]) -> bool:
    first = next((i for i, word in enumerate(words) if word.low not in _ADVERBS and not word.low.endswith("ly")), None)
    return first is not None and _is_verb(words, first)


def _halves(text: str, left: Sequence[_Word], right: Sequence[_Word]) -> list[str]:
    return [text[part[0].start : part[-1].end] for part in (left, right)]


def two_clauses(text: str) -> list[str]:
    """Cut a sentence in two where two asserted clauses meet; otherwise return it whole.

    Examples
    --------
    >>> two_clauses("Profits fell, and shares rose in May.")
    ['Profits fell', 'shares rose in May.']
    """
    words = _words(text)
    if words and words[0].low in _set("although though whereas while"):
        comma = next((i for i, word in enumerate(words) if word.text == ","), 0)
        left, right = words[1:comma], words[comma + 1 :]
        whole = (
            right and _main_verb(left) and (_main_verb(right) or len(about_subject(_halves(text, left, right)[1])) > 1)
        )
        return _halves(text, left, right) if whole else [text]
    for index, word in enumerate(words):
        left, right = list(words[:index]), list(words[index + 1 :])
        comma = bool(left) and left[-1].text == ","
        if comma:
            left.pop()
        if len(right) > 1 and _main_verb(left) and _asserted(left) and _joins(word, left, right, comma):
            return _halves(text, left[: -1 if left[-1].low == "even" else None], right)
    return [text]


def _joins(word: _Word, left: Sequence[_Word], right: Sequence[_Word], comma: bool) -> bool:
    """Whether `word` joins two clauses."""
    if word.low in _set("although though whereas ;"):
        return bool(_main_verb(right))
    if word.low not in _set("and but yet"):
        return word.low == "while" and comma and bool(_main_verb(right))
    first = next((i for i, neighbour in enumerate(right) if neighbour.low not in _ADVERBS), 0)
    if right[first].low in _PRONOUNS:
        return bool(_main_verb(right[first:]) in (1, 2))
    return comma and bool(_main_verb(right, strict=any(neighbour.text == "," for neighbour in left)))


def verb_phrases(text: str) -> list[str]:
    """Cut verb phrases that share a subject into statements; otherwise return the text whole."""
    words = _words(text)
    verb = _main_verb(words)
    if not verb:
        return [text]
    cuts = [cut for cut in _phrase_starts(words, verb) if _carried(words, verb, cut[2]) is not None]
    last = next((i for i in reversed(range(len(cuts))) if cuts[i][3]), None)
    cuts = cuts[: last + 1] if last is not None else []
    edges = [*(cut[0] for cut in cuts), len(words)]
    begins = [verb, *(cut[2] for cut in cuts)]
    phrases = list(zip(begins, edges, strict=True))
    if not cuts or not _asserted(words[: edges[-2]]) or not all(_one_verb(words, *phrase) for phrase in phrases[:-1]):
        return [text]
    if _second_finite(words, begins[-1]):
        return [text]
    parts = [text[words[0].start : words[edges[0] - 1].end]]
    for (_, begin, second, _), end in zip(cuts, edges[1:], strict=True):
        taken = _carried(words, verb, second) or []
        subject = text[taken[0].start : taken[-1].end]
        parts.append(f"{subject} {text[words[begin].start : words[end - 1].end]}")
    return parts


def _phrase_starts(words: Sequence[_Word], verb: int) -> Iterable[tuple[int, int, int, bool]]:
    """Yield (end before, first word, verb, by a conjunction) for each place where another verb phrase may begin."""
    for index in range(verb + 2, len(words) - 1):
        conjunction = words[index].low in ("and", "but")
        if not conjunction and (words[index].text != "," or words[index + 1].low in ("and", "but")):
            continue
        end = index - 1 if conjunction and words[index - 1].text == "," else index
        second = index + 1
        while second < len(words) - 1 and (words[second].low in _ADVERBS or words[second].low.endswith("ly")):
            second += 1
        yield end, index + 1, second, conjunction


def _carried(words: Sequence[_Word], verb: int, second: int) -> list[_Word] | None:
    """Return the words that a second verb phrase takes over from the first, or None where that is not safe."""
    low, form = words[verb].low, words[second].low
    after = words[second + 1] if second + 1 < len(words) else None
    main = next((w.low for w in words[verb + 1 :] if w.low not in _ADVERBS and not w.low.endswith("ly")), "")
    done = _maybe_participle(main) or main in _PARTICIPLES
    subject, both = list(words[:verb]), list(words[: verb + 1])
    if form in _AUXILIARIES or form in _PRESENT:
        return subject
    if form in _PAST:
        return subject if _is_verb(words, second) else None
    if low in _MODALS:
        return both if form in _BASE and _complement(after) else None
    if low in _set("has have had") and done:
        return both if form in _PARTICIPLES or (_maybe_participle(form) and _complement(after)) else None
    if low in _set("is are was were am"):
        return both if main.endswith("ing") and form.endswith("ing") and _complement(after) else None
    invariant = form in _ANY_TENSE and any(word.low == "to" for word in words[:second])
    by_someone = after is not None and after.low in ("by", "of")
    return subject if _is_verb(words, second) and not invariant and not by_someone else None


def _one_verb(words: Sequence[_Word], begin: int, end: int) -> bool:
    """Whether a verb phrase ends in something else than a verb and holds no second verb-like form and no comma."""
    group = begin + 1
    while group < end and (words[group].low in _ADVERBS or words[group].low.endswith("ly")):
        group += 1
    if words[begin].low in _AUXILIARIES and group < end:
        group += 1
    rest = words[group:end]
    return bool(rest) and not any(_verb_like(word) or word.text == "," for word in rest)


def _verb_like(word: _Word) -> bool:
    low = word.low
    return not word.text[0].isupper() and (
        low in _AUXILIARIES | _PAST | _PRESENT | _PARTICIPLES or _maybe_participle(low)
    )


def _second_finite(words: Sequence[_Word], begin: int) -> bool:
    """Whether after the last phrase's verb another finite verb comes that no new clause announces."""
    start = begin + 2 if words[begin].low in _AUXILIARIES else begin + 1
    for index in range(start, len(words)):
        if words[index].low in _NOT_ASSERTED | _PRONOUNS or words[index].text in ",;:":
            return False
        if _is_verb(words, index):
            return True
    return False


def whole_only(text: str) -> bool:
    """Whether a sentence is never cut: too long, a question, one with a loose mark, one that ends in its source."""
    odd = any(len(word.text) == 1 and word.text in '"“”()[]' for word in _words(text[: _LONGEST + 1]))
    question = text.rstrip("\"'”’)")[-1:] == "?"
    return len(text) > _LONGEST or question or odd or _SOURCE.search(text) is not None


def statement(text: str) -> str:
    """Give a claim its capital letter and its full stop."""
    text = re.sub(r"^(?:But|And|Yet)\s+(?=\S)", "", text).strip(" \t\r\n,;:–—-")
    first = text[0].upper() if text[1:2].islower() or len(text) == 1 or text[1:2].isspace() else text[0]
    return first + text[1:] + ("" if text[-1] in ".!?…\"”'’" else ".")


def split_claims(sentence: str) -> list[str]:
    """Split an English sentence into the claims it makes, by rules for its

    A claim is a statement that can be judged alone: the subject is carried over to a second verb phrase where that is
    safe. Where it is not, and under *said*, *if*, *not* and the like, the sentence stays whole. Words are never
    changed, and none is lost but the connectives and relative pronouns *and, but, yet, (even) though, although,
    whereas, while, who, which*.

    Parameters
    ----------
    sentence : str
        One sentence, as `split_text` gives them. One longer than 2,000 characters is not cut.

    Returns
    -------
    list of str
        One claim or more, in order; none for an empty or blank sentence.

    Raises
    ------
    TypeError
        If the sentence is not a string.

    Examples
    --------
    >>> split_claims("The bank closed two branches and fired its chairman.")
    ['The bank closed two branches.', 'The bank fired its chairman.']
    >>> split_claims("He said that the bank closed and its chairman left.")
    ['He said that the bank closed and its chairman left.']
    """
    whole = require_text(sentence, "sentence").strip()
    if not whole or whole_only(whole):
        return [whole] if whole else []
    rules = (two_clauses, about_subject, verb_phrases)
    waiting, claims = [whole], []
    while waiting:
        text = waiting.pop()
        parts = next((cut for rule in rules if len(cut := rule(text)) > 1), None)
        if parts is None:
            claims.append(text)
        else:
            waiting.extend(reversed(parts))
    return [whole] if len(claims) == 1 else [statement(claim) for claim in claims]


# The smallest claims.

_BE = _set("is are was were")
_ARTICLES = _set("a an the one its his her their")
_AFTER_PARTICIPLE = _set(
    "in on at by near from for as since with between among to of under after during within outside"
)
_KNOWN_PARTICIPLES = _PARTICIPLES | _PAST_OR_PARTICIPLE | _set("born set based located known")
_RELATIVE = _set("who which")
_NOT_PARTS = _set("between both among from")
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
# a year, a month, a day of a month, at the end of a claim
_WHEN = re.compile(
    r",? (?:in|on|since|by|until|from|during|as of|around|at the end of)"
    r" (?:(?:early|late|mid|the|spring|summer|autumn|winter|of) ){0,3}"
    rf"(?:\d{{1,2}} {_MONTH}(?: \d{{4}})?|{_MONTH}(?: \d{{1,2}}(?!\d))?(?:,? \d{{4}})?|\d{{4}}s?)(?=[ ,.;]*$)"
)
_NUMBER = (
    "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    "|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million)"
)
_TIME = (
    "(?:hour|day|night|week|month|year|season|decade|century|morning|afternoon|evening|spring|summer|autumn|winter)s?"
)
# one circumstance that ends a claim: a phrase with a number, a name or a time, in which no word leads on
_SMALL = "in|on|at|since|until|during|within|from|for|with|after|before|by|over|without|under"
_CIRCUMSTANCE = re.compile(
    rf",? (?:{_SMALL})(?= (?:[\w’'$€£.-]+ ){{0,5}}?(?:[$€£]?\d|[A-Z]|(?:half|{_NUMBER}|{_TIME})\b))"
    rf"(?: (?!(?:{_SMALL}|and|or|to|that|than)\b)[\w’'$€£.,%-]+){{1,6}}$"
    rf"| (?:last|next|this) (?:{_TIME}|{_MONTH})$"
)
# a time that opens a claim without a comma
_OPENING_TIME = re.compile(
    r"^(?:In|On|At|Within|Since|After|For|During) "
    rf"(?:(?:the|a|an|last|past|next|early|late|about|{_NUMBER}|\d+) ){{0,3}}"
    rf"(?:{_MONTH}|\d{{4}}|{_TIME})(?: of (?:last|this|the same|next) year| \d{{4}})?,? (?=[a-zA-Z0-9])"
)
# in a subject: where or which it is, and how many there are (not *38 percent of*)
_OF_SUBJECT = re.compile(r"(?<=[a-z]) (?:(?:in|on|at|from|with) |of (?=\d))[^,]*$")
_COUNT = re.compile(
    rf"^(?:(?:about|some|nearly|almost|more than) )?(?:\d[\d,.]*|{_NUMBER})(?:[ -](?:and|{_NUMBER})){{0,4}}"
    r" (?=[a-z]+s\b)",
    re.I,
)
_SUPERLATIVE = re.compile(r"\b(?:the (?:first|last|\w{3,}est)|only|most|least|between|from .* to)\b")
# where a fact ends and a circumstance begins
_TAIL = re.compile(
    r"(?:, (?:in|on|at|with) (?:\w+ ){1,3}| )so \w+ that\b"
    r"|,? (?:because|since|after|before|while|although|though|so that|as if|in order to|according to|which|whose|who"
    r"|where|when|until|unless|if"
    r"|that(?= (?:is|was|are|were|has|had|have|can|will|may)\b))\b(?= \w)(?! (?:about |early |late )?(?:\d|[A-Z]))",
)
# what must not be parted from the clause that follows: nobody knew / which bottle was which
_ASKS = re.compile(
    r"\b(?:knows?|knew|known|asks?|asked|wonders?|wondered|sees?|saw|sure|shows?|showed|explains?|explained|decides?|decided"
    r"|depends? on|learned|found out|told(?: the)? \w+|of|clear|true|so|fact|believes?|thinks?|says?|said)$",
    re.I,
)
# a verb that the word lists lack, by its ending and what follows: *The ferry carries 400 passengers*
_PLAIN_VERB = re.compile(
    r"[A-Z][\w’'-]*(?: (?!(?:after|before|that|who|which|when|while|as|of|in)\b)[\w’'-]+){1,3}? [a-z]{3,}(?:s|ed) "
    r"(?:the|a|an|its|his|her|their|\d|[A-Z])"
)
_LOOSE = re.compile(r" (?:in|on|at|for|with|from|to|by|of)$")
_BREAKS_OFF = re.compile(r" (?:is|are|was|were|be|been|become|became|becomes|get|got|grown|the|a|an)$")
_SAYS = r"(?:said|says|announced|reported|told|wrote|added|explained|warned|replied)"
_SOURCE_AT_END = re.compile(rf",(?: [\w’'.-]+){{1,8}}(?:,[^,]{{1,60}},)? {_SAYS}\b(?! that\b).*$")
_SOURCE_BEFORE_END = re.compile(rf",(?: [\w’'.-]+){{1,6}}, [A-Z][\w’'.-]+(?: [A-Z][\w’'.-]+){{0,4}}, {_SAYS}\b.*$")
_LEADING = re.compile(r"^(?:In|On|At|After|Since|By|During|Before|For|With|Under|From)\b[^,]{3,60}, (?=[a-zA-Z0-9])")
# a day of the week, and who looked on: a summary that leaves them out still says the fact
_WEEKDAY = re.compile(
    r",? (?:on|since|by|until|last|next|this) (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
    r"(?: (?:morning|noon|afternoon|evening|night))?(?=[ ,.;]|$)"
)
_BEFORE_WHOM = re.compile(r" in front of (?:[^,;]|,(?=\d))*$")
_NEGATION = re.compile(r"\b(?:not|no|never|nobody|none|nothing|neither|only|cannot)\b|n['’]t\b", re.I)
_BRACKET = re.compile(r"\s*\([^()]{0,200}\)")


def minimal_claims(sentence: str) -> list[str]:
    """Return the smallest claims that a sentence makes, each with its subject; a claim in doubt stays whole.

    Examples
    --------
    >>> minimal_claims("Founded in 1871, Corvale is a bank based in Lund, with 40 branches.")
    ['Corvale was founded in 1871.', 'Corvale is a bank.', 'Corvale has 40 branches.', 'Corvale is based in Lund.']
    """
    plain = _BRACKET.sub("", sentence).strip()
    if len(plain) > _LONGEST:
        return [plain]
    told = _SOURCE_BEFORE_END.sub("", _SOURCE_AT_END.sub("", plain)) or plain
    if whole_only(told):
        return [told] if told else []
    found: list[str] = []
    for clause in split_claims(_without_opening(told, found)):
        found += _of_clause(clause)
    claims = [statement(claim) for claim in dict.fromkeys(found) if _says_something(claim)]
    return claims or ([statement(told)] if told.strip(" \t\r\n,;:–—-") else [])


def subject_of(claim: str) -> str:
    """Return the words before a claim's verb, or "" where the rules see no verb."""
    words = _words(claim)
    verb = _main_verb(words)
    return claim[words[0].start : words[verb - 1].end].rstrip(" ,") if verb else ""


def is_participle(low: str) -> bool:
    """Return whether a word in small letters can be a past participle."""
    return low in _KNOWN_PARTICIPLES or _maybe_participle(low)


def _participle_phrase(words: Sequence[_Word]) -> bool:
    """Whether words begin with a past participle that has no object: *built in*, *ranked #1*."""
    if len(words) < 2 or not words[0].text[0].islower() or not is_participle(words[0].low):
        return False
    return words[1].low in _AFTER_PARTICIPLE or words[1].text == "#" or words[1].text[0].isdigit()


def _without_opening(text: str, found: list[str]) -> str:
    """The sentence without what stands before its subject; a participle or a date there becomes a claim of its own."""
    words = _words(text)
    comma = next((i for i, word in enumerate(words[:14]) if word.text == ","), 0)
    opening, rest = words[:comma], words[comma + 1 :]
    verb = _main_verb(rest)
    if not opening or not verb or not _asserted(opening) or rest[0].low in _set("and or but"):
        return text
    whole, first = text[rest[0].start :], opening[0].low
    phrase = first + text[opening[0].end : opening[-1].end]
    if _participle_phrase([opening[0]._replace(text=first), *opening[1:]]):
        subject = text[rest[0].start : rest[verb - 1].end].split(",")[0]
        found.append(f"{subject} {'were' if rest[verb].low in _set('are were have') else 'was'} {phrase}")
        return whole
    if first not in _PREPOSITIONS or first in _set("without despite unlike like"):
        return text
    short = _of_clause(whole)[0] if _WHEN.fullmatch(f" {phrase}") and len(split_claims(whole)) == 1 else ""
    if short and _asserted(_words(short)) and not _WHEN.search(short):
        found.append(f"{short.rstrip('. ')} {phrase}")
    return whole


def _of_clause(clause: str) -> list[str]:
    """The claims of one clause: its main fact first, then what stands beside it."""
    plain = clause.strip().rstrip(". ")
    words = _words(plain)
    verb = _apposed_verb(words) or _main_verb(words)
    if verb is None or not _asserted(words[:verb]):
        return [_trimmed(plain)]
    beside: list[str] = []
    subject = _subject(plain, words[:verb], beside)
    main = _trimmed(_predicate(plain, subject, words, verb, beside))
    parts = split_claims(main)
    claims = [claim for part in parts for claim in _of_clause(part)] if len(parts) > 1 else _circumstances(main)
    return [*claims, *(claim for told in beside for claim in _of_clause(told))]


def _apposed_verb(words: Sequence[_Word]) -> int | None:
    """The verb after a subject with an apposition between commas."""
    commas = [i for i, word in enumerate(words[:24]) if word.text == ","]
    if len(commas) < 2 or not 0 < commas[0] <= 8 or not _asserted(words[: commas[0]]) or _main_verb(words[: commas[0]]):
        return None
    after = commas[1] + 1
    while after < len(words) and (words[after].low in _ADVERBS | {"first"} or words[after].low.endswith("ly")):
        after += 1
    return after if after < len(words) and _is_verb(words, after) else None


def _subject(text: str, words: Sequence[_Word], beside: list[str]) -> str:
    """The bare subject; an apposition or a *which* between commas becomes a claim."""
    comma = next((i for i, word in enumerate(words) if word.text == ","), None)
    whole = text[words[0].start : words[-1].end]
    if not comma or comma + 1 >= len(words):
        return whole
    name = text[words[0].start : words[comma - 1].end]
    end = next((i for i in range(comma + 1, len(words)) if words[i].text == ","), len(words))
    inner, adverbs = words[comma + 1 : end], text[words[end].end : words[-1].end] if end < len(words) else ""
    if not inner:
        return whole
    told = text[inner[0].start : inner[-1].end]
    if inner[0].low in _set("a an the one"):
        beside.append(f"{name} is {told}")
    elif inner[0].low in _RELATIVE and len(inner) > 2 and _is_verb(inner, 1):
        beside.append(f"{name} {text[inner[1].start : inner[-1].end]}")
    elif _participle_phrase(inner):
        beside.append(f"{name} was {told}")
    elif _is_name(inner) and words[0].low in _set("the a an its his her their"):
        if words[0].low in _set("the a an"):
            beside.append(f"{told} is {words[0].low}{name[len(words[0].text) :]}")
        name = told
    elif inner[0].low not in _set("whose with including aged") and not inner[0].text[0].isdigit():
        return whole
    return name + adverbs


def _is_name(words: Sequence[_Word]) -> bool:
    small = _set("of de van von der den da di la le bin al")
    return words[0].text[0].isupper() and all(w.text[0].isupper() or w.low in small or w.text in ".-" for w in words)


def _predicate(text: str, subject: str, words: Sequence[_Word], verb: int, beside: list[str]) -> str:
    """The claim of a subject and the first part of its predicate; what else is told of it goes beside."""
    be, copula = words[verb].low, words[verb].low in _BE
    segments = _segments(words[verb:])
    kept = list(segments[0][0])
    listed = not copula and len(segments) > 2 and any(word.low in ("and", "or") for word in segments[-1][0])
    for part, joiner in segments[1:]:
        told, first = text[part[0].start : part[-1].end], part[0].low
        whole = list(words[verb : words.index(part[-1]) + 1])
        follows = part[0].start - kept[-1].end <= 2
        if not _asserted(kept) or listed:
            kept = whole
        elif copula and first == "with" and len(part) > 1 and not any(w.low.endswith("ing") for w in part[1:]):
            has = "have" if be in _set("are were") else "has"
            beside.append(f"{subject} {has} {text[part[1].start : part[-1].end]}")
        elif copula and _participle_phrase(part):
            beside.append(f"{subject} {'were' if be in _set('are were') else 'was'} {told}")
        elif copula and first in _ARTICLES and joiner == "and" and _nominal(kept):
            beside.append(f"{subject} {words[verb].text} {told}")
        elif (
            first in _RELATIVE and follows and len(part) > 2 and _is_verb(part, 1) and (noun := _last_noun(text, kept))
        ):
            beside.append(f"{noun} {text[part[1].start : part[-1].end]}".split(", and ")[0])
        elif first in _set("a an the one") and joiner == "," and follows and (noun := _last_name(text, kept)):
            beside.append(f"{noun} is {told}")
        elif joiner == "and" or part[0].text[0].isdigit() or (not copula and any(word.low == "and" for word in part)):
            kept = whole
    if copula and _nominal(kept):
        kept = _without_participle(text, subject, kept, beside)
    return f"{subject} {text[kept[0].start : kept[-1].end]}"


def _nominal(words: Sequence[_Word]) -> bool:
    """Whether a predicate is *is a …*, *was the …*."""
    return len(words) > 2 and words[0].low in _BE and words[1].low in _ARTICLES


def _without_participle(text: str, subject: str, words: Sequence[_Word], beside: list[str]) -> list[_Word]:
    """*is a bank based in Lund*: the participle and what follows is a claim of its own."""
    for i in range(3, len(words) - 1):
        if words[i].low in _set("that who which"):
            break
        before = words[i - 1].low
        if _participle_phrase(words[i:]) and before not in _DETERMINERS | _ADVERBS | {"well"}:
            be = "is" if words[i].low in _set("based located headquartered situated owned") else "was"
            beside.append(f"{subject} {be} {text[words[i].start : words[-1].end]}")
            return list(words[:i])
    return list(words)


def _segments(words: Sequence[_Word]) -> list[tuple[Sequence[_Word], str]]:
    """A predicate cut at commas and at an *and* before an article or a participle, with what stood at the cut."""
    cuts: list[tuple[int, int, str]] = []
    for i, word in enumerate(words[:-1]):
        after = words[i + 1]
        if i < 2:
            continue
        if word.text == "," and after.low not in _set("and or but"):
            cuts.append((i, i + 1, ","))
        elif word.low == "and":
            start = i - 1 if words[i - 1].text == "," else i
            passive = _participle_phrase(words[i + 1 :]) and words[i + 2].low in _set("# by as")
            apart = after.low in _ARTICLES or passive
            together = any(w.low in _NOT_PARTS for w in words[:i])
            if (apart or start < i) and words[0].low in _BE and not together:
                cuts.append((start, i + 1, "and"))
    parts: list[tuple[Sequence[_Word], str]] = []
    begin, joiner = 0, ""
    for end, start, mark in cuts:
        if end > begin:
            parts.append((words[begin:end], joiner))
        begin, joiner = start, mark
    parts.append((words[begin:], joiner))
    return parts


def _last_noun(text: str, words: Sequence[_Word]) -> str:
    """The noun phrase that ends a predicate, where no other noun could be meant by a *which* after it."""
    name = _last_name(text, words)
    if name:
        return name
    start = next((i for i in reversed(range(1, len(words))) if words[i].low in _DETERMINERS), None)
    if start is None or len(words) - start > 5 or words[start].low in _set("its his her their"):
        return ""
    phrase = words[start + 1 :]
    if any(w.low in _PREPOSITIONS | _set("of and or") for w in [*phrase, words[start - 1]]):
        return ""
    return f"The {text[phrase[0].start : phrase[-1].end]}" if phrase else ""


def _last_name(text: str, words: Sequence[_Word]) -> str:
    """The name that ends a predicate."""
    start = len(words)
    while start > 1 and words[start - 1].text[0].isupper():
        start -= 1
    return text[words[start].start : words[-1].end] if start < len(words) else ""


def _circumstances(claim: str) -> list[str]:
    """A claim without its last circumstances (when, where, how many), and with each; whole under a *not*, a *most*."""
    words = _words(claim)
    verb = _main_verb(words)
    if verb is None or not _asserted(words) or _nominal(words[verb:]) or _SUPERLATIVE.search(claim):
        return [claim]
    bare = rest = claim.rstrip(". ")
    found, left = list[str](), list[str]()
    while last := _CIRCUMSTANCE.search(rest):
        rest = rest[: last.start()]
        left.insert(0, last[0].strip(" ,"))
        if _is_main(rest):
            bare, found, left = rest, left + found, []
    subject = claim[: words[verb - 1].end]
    head = _COUNT.sub("", _OF_SUBJECT.sub("", subject))
    if head != subject and re.search(r"[a-z]{3}", head):
        simple = f"{head[:1].upper()}{head[1:]}{bare[len(subject) :]}"
        return [simple, bare, *(f"{simple} {circumstance}" for circumstance in found)]
    return [bare, *(f"{bare} {circumstance}" for circumstance in found)] if found else [claim]


def _is_main(text: str) -> bool:
    """Whether a subject, a verb and something of what it is about stand there, and the text does not break off."""
    words = _words(text)
    verb = _main_verb(words)
    if verb is None:
        return False
    told = words[verb + 1 :]
    while told and (told[0].low in _ADVERBS | _set("been be being not") or told[0].low.endswith("ly")):
        told = told[1:]
    if told and words[verb].low in _AUXILIARIES:
        told = told[1:]
    small = _AUXILIARIES | _PREPOSITIONS | _DETERMINERS | _set("of and or as")
    return bool(told) and words[-1].low not in small and not words[-1].text[-1].isdigit()


def _trimmed(claim: str) -> str:
    """A claim without the circumstances around its fact; whole where cutting could change what is claimed."""
    short = _without_day(_without_edges(_without_tail(claim)))
    return claim if sum(short.count(mark) for mark in '"“”') % 2 else short


def _says_enough(text: str) -> bool:
    """Whether a text has a verb and at least four words."""
    return len(text.split()) >= 4 and _has_verb(_words(text))


def _has_verb(words: Sequence[_Word]) -> bool:
    return any(_is_verb(words, i) for i in range(len(words)))


def _says_something(claim: str) -> bool:
    return _has_verb(_words(claim)) or _PLAIN_VERB.match(claim) is not None


def _is_clause(text: str) -> bool:
    """Whether at least five words stand there with the verb of a main clause, though *no* may open it."""
    words = _words(text)
    if not words:
        return False
    main = _main_verb(words[words[0].low in _set("no few neither only not") :])
    return len(text.split()) >= 5 and bool(main or _PLAIN_VERB.match(text))


def _without_tail(claim: str) -> str:
    """A claim without a clause that follows its fact: *because*, *after*, *so deep that*."""
    for tail in _TAIL.finditer(claim):
        head = _LOOSE.sub("", claim[: tail.start()].rstrip(" ,;:"))
        behind = map(_words, claim[tail.end() :].split(", ")[1:])
        goes_on = any(later and _is_verb(later, 0) for later in behind)
        if _ASKS.search(head) or (goes_on and tail[0].startswith(",")):
            return claim
        if _is_clause(head) and head.count(", ") % 2 == 0 and not _BREAKS_OFF.search(head):
            return head
    return claim


def _without_edges(claim: str) -> str:
    """A claim without an opening circumstance and without what follows the last comma, where no verb stands there."""
    opened = _OPENING_TIME.sub("", _LEADING.sub("", claim))
    if opened != claim and _says_enough(opened) and _main_verb(_words(opened)):
        claim = opened[:1].upper() + opened[1:]
    parts = re.split(r", (?=[a-z0-9A-Z])", claim)
    if len(parts) == 2 and parts[1].startswith("and ") and _is_clause(parts[0]) and not _has_verb(_words(parts[1])):
        return parts[0]
    while len(parts) > 1 and not _has_verb(_words(parts[-1].split(" and ")[0])) and " and " not in parts[-1]:
        head = ", ".join(parts[:-1])
        if not _is_clause(head):
            break
        parts.pop()
    return ", ".join(parts)


def _without_day(claim: str) -> str:
    """A claim without its day of the week and its onlookers; whole where a *not* could be about them."""
    bare = _BEFORE_WHOM.sub("", _WEEKDAY.sub("", claim))
    return bare if _says_enough(bare) and not _NEGATION.search(claim) else claim
