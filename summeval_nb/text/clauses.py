"""Where an English sentence may be cut into claims: words, verbs, clauses, and what a second verb takes over.

There is no grammar model. The rules know some three hundred words, each asks whether a cut is safe, and whenever one is
in doubt the text stays whole. What stands in quotation marks or brackets is one word: no rule reaches inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple


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
