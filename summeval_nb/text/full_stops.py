"""Where an English full stop ends a sentence: words for our Punkt, and what its tables cannot say."""

from __future__ import annotations

import re

# Abbreviations that may end a sentence, titles that never do, small words.
TITLES = """mr mrs ms messrs mx dr drs prof profs asst revd fr sr sra srta msgr gen lt col maj capt cpt cmdr cdr adm sgt
cpl pfc pvt brig lieut hon gov sen sens rep reps pres supt insp det atty amb mme mlle vs v cf viz e.g i.e eg ie ca
approx"""
ABBREVIATIONS = """jr esq ph.d phd inc ltd co corp llc plc bros cos assn assoc natl govt dept univ inst mfg intl jan feb
apr aug sept oct nov dec mon tue tues thu thurs fri st ste mt ft ave blvd rd hwy bldg sq ala ariz calif conn fla kan
kans ky mich minn mont neb nev okla penn tenn tex vt wis etc al min hr hrs yr yrs lb lbs oz kg km cm mm yd yds mph kph
ed eds trans repr rev suppl est tel dist pty proc acad sci int med phys lett chem biol soc"""
BEFORE_NUMBERS = """no nos nr n° art arts sec secs fig figs eq eqs p pp pg pgs vol vols ch chap chs op para paras pt
pts ver tab tabs sect sects ex apt jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs
fri sat sun"""
DAYS = "mon tue tues wed thu thur thurs fri sat sun"
MONTHS = """jan. feb. mar. apr. jun. jul. aug. sept. oct. nov. dec. january february march april may june july august
september october november december"""
SMALL_WORDS = """the this that these those there then he she it we they you i my his her its our their your and but
or so yet nor for if when while although though because since after before until once as at by from in into of on to
with without under over during despite however moreover meanwhile nevertheless nonetheless therefore thus hence
instead still also even only just what who why how where which whose some any many most much several few all both each
every another other others no not none one two three is are was were do does did has have had can could will would
should must here now today yesterday tomorrow later earlier according more an a"""

# What is read beyond the word before a full stop and the word after it.
_DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_GERMAN_MONTH = "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"
_FORMULA = re.compile(r"\$[^\s$\d][^$\n]{0,200}(?<=\S)\$(?!\d)|\\\([^\n]{0,200}?\\\)")
_STOP = re.compile(r"[.?!…](?=\s)")
_ORDINAL = re.compile(
    rf"(?<![\w.])\d{{1,2}}(?P<stop>\.)(?=\s+(?:{_GERMAN_MONTH})\b)"
    r"|\b(?:Am|[Ii]m|[Dd]er|[Dd]ie|[Dd]as|[Dd]em|[Dd]en|[Vv]om|[Zz]u[mr]|[Bb]eim|[Ss]eit)\s\d{1,2}(?P<number>\.)(?=\s)"
)
_FIRST_ITEM = re.compile(r"(?<!\S)1(?P<stop>\.)(?=\s)")
_SECOND_ITEM = re.compile(r"[.?!…:;]\s+2\.\s")
_LABEL = re.compile(
    r"\(?(?:(?:Step|Chapter|Section|Part|Rule|Figure|Table|Question|Exercise|Lesson|Appendix|Act|Scene|Day|Week)\s)?"
    r"(?:\d{1,4}(?:\.\d{1,2})*|[IVX]{2,5})"
)
_ITEM = re.compile(r"(?:[a-z]|[ivx]+)\)")
_SUBJECTS = frozenset("i he she it we they you there this these those".split())
_COMPANY = re.compile(r"(?:Inc|Corp|Co|Ltd|LLC|PLC|plc|AG|SA|NV|GmbH)\b")
_STATE = re.compile(
    r",\s(?:Ala|Ariz|Ark|Cal|Calif|Colo|Conn|Del|Fla|Ga|Ida|Ill|Ind|Kan|Kans|Ky|La|Mass|Md|Me|Mich|Minn|Miss|Mo|Mont"
    r"|Neb|Nebr|Nev|Okla|Ore|Oreg|Pa|Penn|Penna|Tenn|Tex|Ut|Va|Vt|Wash|Wis|Wisc|Wyo|Ont|Que)$"
)
_ACRONYM = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]|(?=[^A-Z]*[A-Z])(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,4}")
_NUMBER = re.compile(r"(?:[IVXLC]{2,}|[VX]|[A-Z]\d+)\b")
_LETTERED = re.compile(r"(?:Figs?|Eqs?|Tabs?|Sects?|Secs?|figs?|eqs?|sects?)")  # named by a letter: Fig. A, Eq. B
_RANGE = re.compile(r"\d{1,4}(?:[-–]\d{1,4})?[),.;:]{0,3}$")
_NUMBER_SIGN = re.compile(r"Nos?\.\s?\d")
_QUANTITY = re.compile(
    r"(?:(?<!\w)(?P<of>(?i:an?|the|this|that|its|his|her|their|our|each|every))\s)?"
    r"(?<![\w.])(?:\d[\d.,:/]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon)[\s-]?"
    r"(?:(?:sq|cu|fl)\.\s)?"
    r"(?:(?P<hour>[ap]\.m)|in|ft|yds?|mi|k?m|[cm]m|lbs?|oz|k?g|gal|mins?|hrs?|yrs?|secs?|mph|kph"
    r"|(?!e\.g|i\.e)[a-z](?:\.[a-z])+)$"
)
_HOUR_GOES_ON = re.compile(
    rf"{_DAY}|{_MONTH}|(?:Mon|Tues?|Wed|Thur?s?|Fri|Sat|Sun|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b"
    r"|[A-Z]{0,3}T\b|UTC\b|[A-Z]\w+\s(?:[A-Z]\w+\s)?[Tt]ime\b|Eastern|Central|Pacific|Mountain|Greenwich"
)
_ONLY_HOUR = re.compile(rf"(?:\d[\d:.]*|[ap]\.m|{_DAY}|{_MONTH})")
_BEFORE_HOUR = frozenset(
    """at by around about before after until till since from on between shortly just exactly and to one two three
four five six seven eight nine ten eleven twelve noon""".split()
)
_SMALL = frozenset(SMALL_WORDS.split())


def held_stops(text: str) -> set[int]:
    """Return the places of marks that end nothing: in formulae, after a list's first number, in German dates.

    Examples
    --------
    >>> held_stops("Do this: 1. Open it. 2. Go.")
    {10}
    """
    held = {
        formula.start() + stop.start() for formula in _FORMULA.finditer(text) for stop in _STOP.finditer(formula[0])
    }
    held |= {max(ordinal.start("stop"), ordinal.start("number")) for ordinal in _ORDINAL.finditer(text)}
    last = max((second.start() for second in _SECOND_ITEM.finditer(text)), default=0)
    return held | {first.start("stop") for first in _FIRST_ITEM.finditer(text, 0, last)}


def only_label(sentence: str) -> bool:
    """Return whether a sentence would be no more than the number of an item, a section or a step."""
    return _LABEL.fullmatch(sentence) is not None


def goes_on(sentence: str, word: str, following: str) -> bool:
    """Return whether a sentence goes on before a small letter: its last word is cut short, and no subject follows.

    A writer who begins sentences with small letters is not asked to use a capital here.
    """
    begin = next(filter(str.isalnum, sentence), "")
    subject = re.split(r"\W", following, maxsplit=1)[0] in _SUBJECTS or _ITEM.match(following)
    spelled = len(word) > 4 + word[:1].isupper() and word[1:].islower() and re.search("[aeiouy]", word)
    whole = spelled or (word.isdigit() and len(word) > 2)
    return bool(word) and not (begin.islower() or subject or whole)


def after_quantity(before: str, following: str) -> bool | None:
    """Return whether a sentence ends after a measure, an hour or *etc.*; None if none of them stands there.

    A capital letter after a measure begins a sentence, unless it belongs to an hour ("5 p.m. Friday"), the measure
    to the noun that follows ("a 12 oz. Coke"), or nothing but the hour was said ("At 5 p.m. Anna left").

    Examples
    --------
    >>> [after_quantity("It shuts at 5 p.m", following) for following in ("Dogs bark.", "Friday.", "sharp.")]
    [True, False, False]
    """
    quantity = _QUANTITY.search(before)
    if quantity is None:
        return True if before.endswith(" etc") and following[0].isupper() else None
    after = re.split(r"\W", following, maxsplit=1)[0]
    if not following[0].isupper():
        return False if following[0].islower() and after not in _SUBJECTS else None
    if after.lower() in _SMALL:
        return True
    belongs = quantity["hour"] and (_HOUR_GOES_ON.match(following) or _only_hour(before))
    return not (quantity["of"] or belongs)


def _only_hour(sentence: str) -> bool:
    words = sentence.replace(",", " ").split()
    return all(word.lower() in _BEFORE_HOUR or _ONLY_HOUR.fullmatch(word) for word in words)


def as_listed(before: str, word: str, following: str) -> tuple[str, str]:
    """Return the two words that Punkt is asked about: `U.S` stands for all acronyms and states, `5` for all numbers."""
    after = following.split(maxsplit=1)[0]
    last = word.rpartition("-")[2]
    if _STATE.search(before) or (_ACRONYM.fullmatch(last) and last.lower() not in ("e.g", "i.e")):
        word = "U.S"
    if word == "c" and after[0].isdigit():  # born c. 1450
        word = "ca"
    lettered = _LETTERED.fullmatch(word) and re.fullmatch(r"[A-Z][),.;:]*", after)
    if lettered and (word[0].isupper() or after[0] not in "AI"):
        after = "5"
    if _NUMBER.match(after) or _RANGE.match(after) or _NUMBER_SIGN.match(following):
        after = "5"
    return word, after


def named_with_mark(word: str, following: str) -> bool:
    """Return whether an exclamation mark belongs to a name, as in *Yahoo! Inc.* and *Yahoo! said*."""
    next_word = re.split(r"\W", following, maxsplit=1)[0]
    known = word in ("Yahoo", "Yum", "Jeopardy") and next_word.lower() not in _SMALL
    return word[:1].isupper() and (following[0].islower() or known or _COMPANY.match(following) is not None)
