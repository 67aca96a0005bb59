"""False sentences from true ones, with the place of the error: one changed fact each, by rules that need no tagger.

Used to train and to test the checker (`train_checker.py`). Each rule returns a changed text and the character spans of
what is wrong in it. The rules know nothing of the features that are tested with them, except the list of antonyms.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from summeval_nb.evidence.tokens import antonyms

KINDS = ("antonym", "number", "name", "negation", "unnegation", "word", "swap", "unsaid", "cause")
AUXILIARIES = frozenset("is are was were has have had will would can could should did does do may might must".split())
CAUSE = {
    "because": ("although", "before"),
    "after": ("before",),
    "before": ("after",),
    "despite": ("because of",),
    "although": ("because",),
    "since": ("until",),
    "until": ("since",),
    "if": ("unless",),
    "unless": ("if",),
    "therefore": ("nevertheless",),
    "during": ("before", "after"),
}
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
NUMBER_WORDS = "two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty".split()
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_TAIL = re.compile(
    r"\b(?:in|on|at|for|with|from|by|near|during|since|among|according to|as part of) [^,.;:()\"]{6,45}$"
)


class Corrupted(NamedTuple):
    """A false sentence: its text, the rule that made it, and the character spans of what is wrong."""

    text: str
    kind: str
    spans: tuple[tuple[int, int], ...]


def _replaced(text: str, start: int, end: int, new: str) -> tuple[str, tuple[int, int]]:
    return text[:start] + new + text[end:], (start, start + len(new))


def _cased(new: str, old: str) -> str:
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(text)


def _names(text: str) -> list[str]:
    """Return capitalised words inside sentences."""
    return re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}", text)


def _new_number(old: str, around: str, random_: random.Random) -> str | None:
    """Return another number: one of the evidence, or the old one with a digit changed."""
    others = [number for number in _numbers(around) if number != old and len(number) <= len(old) + 2]
    if others and random_.random() < 0.5:
        return random_.choice(others)
    places = [i for i, sign in enumerate(old) if sign.isdigit()]
    if re.fullmatch(r"(?:19|20)\d\d", old):
        places = places[2:]
    place = random_.choice(places)
    digits = [sign for sign in "123456789" if sign != old[place]]
    return old[:place] + random_.choice(digits) + old[place + 1 :]


def _antonym(text: str, around: str, random_: random.Random) -> Corrupted | None:
    table = antonyms()
    found = [m for m in _WORD.finditer(text) if m[0].lower() in table and m[0].lower() not in CAUSE]
    if not found:
        return None
    match = random_.choice(found)
    options = sorted(table[match[0].lower()])
    same_ending = [word for word in options if word[-2:] == match[0][-2:].lower()]
    new = _cased(random_.choice(same_ending or options), match[0])
    changed, span = _replaced(text, *match.span(), new)
    return Corrupted(changed, "antonym", (span,))


def _number(text: str, around: str, random_: random.Random) -> Corrupted | None:
    found = list(_NUMBER.finditer(text))
    found += [m for m in _WORD.finditer(text) if m[0].lower() in NUMBER_WORDS]
    if not found:
        return None
    match = random_.choice(found)
    if match[0].lower() in NUMBER_WORDS:
        new: str | None = _cased(random_.choice([w for w in NUMBER_WORDS if w != match[0].lower()]), match[0])
    else:
        new = _new_number(match[0], around, random_)
    if new is None or new == match[0]:
        return None
    changed, span = _replaced(text, *match.span(), new)
    return Corrupted(changed, "number", (span,))


def _name(text: str, around: str, random_: random.Random) -> Corrupted | None:
    own = [m for m in _WORD.finditer(text) if m.start() > 0 and re.fullmatch(r"[A-Z][\w'’-]{2,}", m[0])]
    if not own:
        return None
    match = random_.choice(own)
    for group in (MONTHS, DAYS):
        if match[0] in group:
            new = random_.choice([name for name in group if name != match[0]])
            changed, span = _replaced(text, *match.span(), new)
            return Corrupted(changed, "name", (span,))
    others = sorted({name for name in _names(around) if name not in text and name not in MONTHS and name not in DAYS})
    if not others:
        return None
    changed, span = _replaced(text, *match.span(), random_.choice(others))
    return Corrupted(changed, "name", (span,))


def _negation(text: str, around: str, random_: random.Random) -> Corrupted | None:
    found = [m for m in _WORD.finditer(text) if m[0].lower() in AUXILIARIES]
    found = [m for m in found if not re.match(r"\s+(?:not|never)\b|n['’]t", text[m.end() :])]
    found = [m for m in found if re.match(r"\s+\w", text[m.end() :]) and m[0] != "May"]
    if found:
        match = random_.choice(found)
        word, low = match[0], match[0].lower()
        if random_.random() < 0.5:
            new = f"{word} not" if random_.random() < 0.8 else f"{word} never"
        else:
            short = {"can": "can't", "will": "won't", "may": "may not", "might": "might not", "must": "must not"}
            new = _cased(short.get(low, f"{low}n't"), word)
        changed, span = _replaced(text, *match.span(), new)
        return Corrupted(changed, "negation", (span,))
    past = [m for m in re.finditer(r"(?<=[a-z] )([a-z]{3,})ed\b", text) if m[0] not in ("need", "based", "called")]
    if not past:
        return None
    match = random_.choice(past)  # "visited" becomes "did not visit"
    stem = match[1]
    base = stem[:-1] + "y" if stem.endswith("i") else stem[:-1] if re.search(r"(bb|dd|gg|nn|pp|rr|tt)$", stem) else stem
    changed, span = _replaced(text, *match.span(), f"did not {base}")
    return Corrupted(changed, "negation", (span,))


def _unnegation(text: str, around: str, random_: random.Random) -> Corrupted | None:
    found = list(re.finditer(r"\b(?:not|never) |n['’]t\b|\bwithout\b", text))
    if not found:
        return None
    match = random_.choice(found)
    new = "with" if match[0] == "without" else ""
    changed = text[: match.start()] + new + text[match.end() :]
    changed = re.sub(r"\bca(?= )", "can", re.sub(r"\bwo(?= )", "will", changed)) if "n" in match[0] else changed
    words = [m.span() for m in _WORD.finditer(changed)]
    near = [s for s in words if s[1] >= match.start() - 1 and s[0] <= match.start() + len(new) + 1]
    return Corrupted(changed, "unnegation", tuple(near[:2])) if near else None


def _word(text: str, around: str, random_: random.Random) -> Corrupted | None:
    found = [m for m in _WORD.finditer(text) if len(m[0]) > 4 and m[0].islower() and m[0].isalpha()]
    if not found:
        return None
    match = random_.choice(found)
    old = match[0]
    others = {
        candidate
        for candidate in re.findall(r"\b[a-z]{5,}\b", around)
        if candidate[-2:] == old[-2:] and candidate[:4] != old[:4]
    }
    options = sorted(word for word in others if word not in text)
    if not options:
        return None
    changed, span = _replaced(text, *match.span(), random_.choice(options))
    return Corrupted(changed, "word", (span,))


def _swap(text: str, around: str, random_: random.Random) -> Corrupted | None:
    names = [m for m in _WORD.finditer(text) if re.fullmatch(r"[A-Z][\w'’-]{2,}", m[0]) and m.start() > 0]
    first = _WORD.match(text)
    if first and f" {first[0]} " in f" {around} " and any(first[0] == name for name in _names(around)):
        names.insert(0, first)
    common = list(re.finditer(r"(?<=\b[Tt]he )[a-z]{4,}\b", text))
    group = names if len({m[0] for m in names}) > 1 and (len(common) < 2 or random_.random() < 0.6) else common
    if len({m[0] for m in group}) < 2:
        return None
    for _ in range(8):
        a, b = sorted(random_.sample(group, 2), key=lambda m: m.start())
        between = text[a.end() : b.start()]
        if a[0] != b[0] and not re.fullmatch(r"\s*(?:and|or|,|&)?\s*(?:the )?", between):
            changed = text[: a.start()] + b[0] + between + a[0] + text[b.end() :]
            shift = len(b[0]) - len(a[0])
            place = b.start() + shift
            return Corrupted(changed, "swap", ((a.start(), a.start() + len(b[0])), (place, place + len(a[0]))))
    return None


def _cause(text: str, around: str, random_: random.Random) -> Corrupted | None:
    found = [m for m in _WORD.finditer(text) if m[0].lower() in CAUSE]
    if not found:
        return None
    match = random_.choice(found)
    end = (
        match.end() + 3
        if match[0].lower() == "because" and text[match.end() : match.end() + 3] == " of"
        else match.end()
    )
    new = "despite" if end != match.end() else random_.choice(CAUSE[match[0].lower()])
    changed, span = _replaced(text, match.start(), end, _cased(new, match[0]))
    return Corrupted(changed, "cause", (span,))


def tails(sentences: Sequence[str]) -> list[str]:
    """Return phrases at the ends of sentences that can be hung on another one: where, when, with whom."""
    found = (_TAIL.search(sentence.rstrip(" .!?\"'")) for sentence in sentences)
    return [match[0] for match in found if match]


def _unsaid(text: str, tail: str, random_: random.Random) -> Corrupted | None:
    if tail.lower() in text.lower() or not text or text[-1] not in ".!?" or text.endswith(".."):
        return None
    start = len(text) - 1
    changed = f"{text[:-1]} {tail}{text[-1]}"
    return Corrupted(changed, "unsaid", ((start + 1, start + 1 + len(tail)),))


_RULES = {
    "antonym": (_antonym, 3),
    "number": (_number, 3),
    "name": (_name, 2),
    "negation": (_negation, 1.5),
    "unnegation": (_unnegation, 3),
    "word": (_word, 1),
    "swap": (_swap, 2),
    "cause": (_cause, 2),
}


def corrupt(
    sentence: str, evidence: Sequence[str], random_: random.Random, *, tail: str | None = None, kind: str | None = None
) -> Corrupted | None:
    """Return the sentence with one fact changed, or None where no rule applies.

    `evidence` gives the numbers, names and words to take from; `tail` is a phrase of another text for "unsaid".
    """
    around = " ".join(evidence)
    rules = [kind] if kind else sorted(_RULES, key=lambda name: random_.random() ** (1 / _RULES[name][1]), reverse=True)
    if tail and not kind and random_.random() < 0.1:
        rules.insert(0, "unsaid")
    for name in rules:
        made = (
            _unsaid(sentence, tail or "", random_) if name == "unsaid" else _RULES[name][0](sentence, around, random_)
        )
        if made is not None and made.text.split() != sentence.split():
            return made
    return None
