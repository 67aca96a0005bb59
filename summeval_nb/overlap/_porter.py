"""Edited directly. The five steps of Porter's stemmer, in nltk's dialect and ROUGE-1.5.5's; tests/test_ngrams.py."""

from __future__ import annotations

__all__ = ["IRREGULAR", "SUFFIXES", "measure", "shape_of", "stem_steps"]


_SHAPE = str.maketrans(dict.fromkeys("aeiou", "v") | dict.fromkeys("bcdfghjklmnpqrstvwxz0123456789", "c"))


def shape_of(stem: str) -> str:
    """Return one `c` or `v` per letter."""
    shape = stem.translate(_SHAPE)
    while (y := shape.find("y")) >= 0:
        shape = shape[:y] + ("v" if y and shape[y - 1] == "c" else "c") + shape[y + 1 :]
    return shape


def measure(stem: str) -> int:
    """Return Porter's m: how often a vowel is followed by a consonant."""
    return shape_of(stem).count("vc")


def _short(stem: str, dialect: str) -> bool:
    """Porter's *o: consonant, vowel, consonant at the end, the last not w, x or y."""
    shape = shape_of(stem)
    if dialect == "nltk" and len(stem) == 2:
        return shape == "vc"
    return shape.endswith("cvc") and stem[-1] not in "wxy"


def _step_1(word: str, dialect: str) -> str:
    if word.endswith("s") and not word.endswith("ss"):
        if word.endswith("ies"):
            word = word[:-1] if dialect == "nltk" and len(word) == 4 else word[:-2]
        else:
            word = word[:-2] if word.endswith("sses") else word[:-1]
    if dialect == "nltk" and word.endswith("ied"):
        word = word[:-1] if len(word) == 4 else word[:-2]
    elif word.endswith("eed"):
        word = word[:-1] if measure(word[:-3]) > 0 else word
    elif word.endswith("ed") and "v" in shape_of(word[:-2]):
        word = _mend(word[:-2], dialect)
    elif word.endswith("ing") and "v" in shape_of(word[:-3]):
        word = _mend(word[:-3], dialect)
    if word.endswith("y"):
        shape = shape_of(word[:-1])
        if (len(word) > 2 and shape.endswith("c")) if dialect == "nltk" else "v" in shape:
            word = word[:-1] + "i"
    return word


def _mend(stem: str, dialect: str) -> str:
    """Repair a stem that lost -ed or -ing."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) > 1 and stem[-1] == stem[-2] and shape_of(stem)[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if measure(stem) == 1 and _short(stem, dialect) else stem


_SUFFIXES_2 = """ational-ate tional-tion enci-ence anci-ance izer-ize bli-ble alli-al entli-ent eli-e ousli-ous
ization-ize ation-ate ator-ate alism-al iveness-ive fulness-ful ousness-ous aliti-al iviti-ive biliti-ble logi-log"""
_SUFFIXES_3 = "icate-ic ative- alize-al iciti-ic ical-ic ful- ness-"
_SUFFIXES_4 = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
_STEP_2, _STEP_3 = (dict(rule.split("-") for rule in rules.split()) for rules in (_SUFFIXES_2, _SUFFIXES_3))
_STEP_4 = dict.fromkeys(_SUFFIXES_4.split(), "")
_ENDINGS = {id(table): tuple(table) for table in (_STEP_2, _STEP_3, _STEP_4)}


def _ending(word: str, table: dict[str, str]) -> str:
    """Return the longest suffix of the word that the table knows, or nothing."""
    if not word.endswith(_ENDINGS[id(table)]):
        return ""
    return next(word[-size:] for size in range(7, 1, -1) if word[-size:] in table)


def _steps_2_3(word: str, dialect: str) -> str:
    end = "fulli" if dialect == "nltk" and word.endswith("fulli") else _ending(word, _STEP_2)
    if dialect == "nltk" and end == "alli" and measure(word[:-4]) > 0:
        return _steps_2_3(word[:-2], dialect)
    if end:
        kept = word[:-3] if end == "logi" and dialect == "nltk" else word[: -len(end)]
        if measure(kept) > 0:
            word = word[: -len(end)] + ("ful" if end == "fulli" else _STEP_2[end])
    end = _ending(word, _STEP_3)
    return word[: -len(end)] + _STEP_3[end] if end and measure(word[: -len(end)]) > 0 else word


def _strip_if_long(word: str, end: str) -> str:
    stem = word[: -len(end)]
    allowed = end and word.endswith(end) and (end != "ion" or stem.endswith(("s", "t")))
    return stem if allowed and measure(stem) > 1 else word


def _step_4(word: str, dialect: str) -> str:
    end = _ending(word, _STEP_4)
    if dialect == "nltk":
        return _strip_if_long(word, end)
    word = _strip_if_long(word, "" if end in ("ment", "ent", "ion") else end)
    word = _strip_if_long(word, "ment")
    return _strip_if_long(word, "ent" if word.endswith("ent") else "ion")


def _step_5(word: str, dialect: str) -> str:
    if word.endswith("e"):
        m = measure(word[:-1])
        if m > 1 or (m == 1 and not _short(word[:-1], dialect)):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure(word[:-1]) > 1 else word


IRREGULAR = {"skies": "sky", "dying": "die", "lying": "lie", "tying": "tie"}
IRREGULAR |= {"innings": "inning", "outings": "outing", "cannings": "canning"}
IRREGULAR |= {
    w: w
    for w in (
        "sky",
        "news",
        "inning",
        "outing",
        "canning",
        "howe",
        "proceed",
        "exceed",
        "succeed",
    )
}


SUFFIXES = (*_STEP_2, *_STEP_3, *_STEP_4)


def stem_steps(word: str, dialect: str) -> str:
    """Return the stem of a regular word of three letters or more."""
    return _step_5(_step_4(_steps_2_3(_step_1(word, dialect), dialect), dialect), dialect)
