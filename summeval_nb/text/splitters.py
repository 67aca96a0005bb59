"""Splitters: the rules and words for English full stops beyond Punkt's tables, and the libraries of the others."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

from summeval_nb.core.base import (
    InputWarning,
    callers_level,
    how_to_install,
    one_bar,
    require_module,
    require_option,
    require_text,
    steps,
)
from summeval_nb.core.metric import is_function
from summeval_nb.text.language import OTHER, foreign_language, language_name, start_of

SPLITTERS = ("punkt", "stanza", "sentencex")
_SURROGATE = re.compile("[\ud800-\udfff]")
_FOREIGN_MARK = re.compile("[。！？｡؟۔।։።]")
_BATCH = 64
_SAMPLE = 4000  # characters by which a language is told


def require_splitter(splitter: object, lang: str | None) -> str:
    """Return a known splitter's name, in another language than English sentencex for Punkt; "" for a callable."""
    if lang is not None:
        require_text(lang, "lang")
    if is_function(splitter):
        return ""
    name = require_option(require_text(splitter, "splitter"), "splitter", SPLITTERS)
    return "sentencex" if name == "punkt" and lang and lang.partition("-")[0] != "en" else name


def sentencex_places(bodies: Sequence[str], lang: str) -> list[list[int]]:
    """Return where sentences begin, as sentencex sees it, but for marks that end nothing."""
    module = require_module("sentencex", "splitters")
    if not lang.isascii():
        raise ValueError(f"lang must be the code of a language, such as 'en' or 'zh', not {lang!r:.60}")
    found = []
    for body in bodies:
        held = held_stops(body)
        starts = (piece["start_index"] for piece in module.get_sentence_boundaries(lang, body))
        found.append([start for start in starts if len(body[:start].rstrip()) - 1 not in held])
    return found


@lru_cache(maxsize=8)
def stanza_pipeline(lang: str, folder: str) -> Any:
    """Build stanza's tokenizer from files on this machine, or raise an error with the command that fetches them."""
    stanza = require_module("stanza", "stanza")
    fetch = f"python -c \"import stanza; stanza.download({lang!r}, processors='tokenize')\""
    try:
        return stanza.Pipeline(lang, dir=folder, processors="tokenize", download_method=None, verbose=False)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"the splitter 'stanza' has no model for {lang!r} in {folder}: run `{fetch}`"
        ) from error
    except ValueError as error:
        raise ValueError(f"stanza cannot split the language {lang!r} ({error}); if it should, run `{fetch}`") from error


def stanza_places(bodies: Sequence[str], lang: str, progress: bool | None) -> list[list[int]]:
    """Return where sentences begin, as stanza sees it, 64 blocks at a time."""
    stanza = require_module("stanza", "stanza")
    common = require_module("stanza.resources.common", "stanza")
    pipeline = stanza_pipeline(lang, os.environ.get("STANZA_RESOURCES_DIR") or common.DEFAULT_MODEL_DIR)
    places = []
    batches = [bodies[first : first + _BATCH] for first in range(0, len(bodies), _BATCH)]
    show = len(batches) > 3 if progress is None else progress
    with one_bar(len(bodies), "splitting with stanza", "block", show=show):
        for batch in steps(batches, [len(batch) for batch in batches]):
            documents = pipeline.bulk_process([stanza.Document([], text=body) for body in batch])
            places += [[sentence.tokens[0].start_char for sentence in document.sentences] for document in documents]
    return places


def without_surrogates(text: str) -> str:
    """Return a text of the same length that every library takes: lone surrogates become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def found_language(splitter: str, bodies: Sequence[str]) -> str | None:
    """Return the language of a text that is clearly not English, whose splitter is then taken; None for English."""
    code = foreign_language(start_of(bodies, _SAMPLE), ("en",))
    if code in (None, OTHER) or (splitter != "stanza" and find_spec("sentencex")):
        return None if code == OTHER else code
    remedy = how_to_install("splitters") if splitter == "punkt" else f"lang={code!r}"
    said = f"the splitter {splitter!r} is cutting by English rules, and the text is in {language_name(str(code))}"
    warnings.warn(f"{said}: {remedy}; lang='en' if it is English", InputWarning, stacklevel=callers_level())
    return None


def warn_of_foreign_marks(bodies: Sequence[str]) -> None:
    """Warn of marks that Punkt does not know."""
    if mark := next(filter(None, map(_FOREIGN_MARK.search, bodies)), None):
        said = f"the splitter 'punkt' does not end sentences at {mark[0]!r}: name the language, such as lang='zh'"
        warnings.warn(said, InputWarning, stacklevel=callers_level())


def versioned_name(splitter: str, lang: str) -> str:
    """Return a splitter's name with its language, unless it is English, and its library's version."""
    if splitter == "punkt":
        return splitter
    require_module(splitter, "splitters" if splitter == "sentencex" else "stanza")
    language = "" if lang == "en" else f"-{lang}"
    return f"{splitter}{language}-{version(splitter)}"


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
fri sat sun ref refs"""
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
_LETTERED = re.compile(r"(?:Figs?|Eqs?|Tabs?|Sects?|Secs?|Refs?|figs?|eqs?|sects?)")  # named by a letter: Fig. A, Eq. B
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
    """Return the places of marks that end nothing: in formulae, after a list's first number, in German dates."""
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
    """Return whether a sentence goes on before a small letter: its last word is cut short, and no subject follows."""
    begin = next(filter(str.isalnum, sentence), "")
    subject = re.split(r"\W", following, maxsplit=1)[0] in _SUBJECTS or _ITEM.match(following)
    spelled = len(word) > 4 + word[:1].isupper() and word[1:].islower() and re.search("[aeiouy]", word)
    whole = spelled or (word.isdigit() and len(word) > 2)
    return bool(word) and not (begin.islower() or subject or whole)


def after_quantity(before: str, following: str) -> bool | None:
    """Return whether a sentence ends after a measure, an hour or *etc.*; None if none of them stands there.

    A capital letter after a measure begins a sentence, unless it belongs to an hour ("5 p.m. Friday"), the measure to
    the noun that follows ("a 12 oz. Coke"), or nothing but the hour was said ("At 5 p.m. Anna left").

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
    alone = all(word.lower() in _BEFORE_HOUR or _ONLY_HOUR.fullmatch(word) for word in before.replace(",", " ").split())
    belongs = quantity["hour"] and (_HOUR_GOES_ON.match(following) or alone)
    return not (quantity["of"] or belongs)


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
