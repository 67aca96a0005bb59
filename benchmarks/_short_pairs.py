"""Short minimal pairs, made by templates: what one sentence says, in other words and with one thing exchanged.

`short_pairs.txt` holds words by kind, and facts, each a group of lines. `=` says the fact, `<` says more than it, `>`
follows from it, `!` denies it, `?` is not said by it; `~` means that its two persons may change places. Names stand in
braces; one of them exchanged makes a line false. Nothing depends on what is true in the world: what the evidence says
holds. The words are ours, and no sentence is taken from a test or a set that people judged.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from _reader_rows import Row

NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
KINDS = {
    "a dog": "an animal", "a cat": "a pet", "a parrot": "a bird", "an owl": "a bird", "an eagle": "a bird",
    "a snake": "a reptile", "a shark": "a fish", "a spider": "an animal", "a car": "a vehicle", "a guitar":
    "an instrument", "a piano": "an instrument", "a drum": "an instrument", "a table": "a piece of furniture",
    "a chair": "a piece of furniture", "an apple": "fruit", "an orange": "fruit", "a banana": "fruit", "a horse":
    "an animal", "a cow": "an animal", "a bee": "an insect", "a coat": "a piece of clothing", "a boat": "a vessel",
}  # fmt: skip

GIVEN = (Path(__file__).parent / "short_pairs.txt").read_text(encoding="utf-8").strip().split("\n\n")
WORDS = {kind: words.split("|") for kind, words in (line.split(": ") for line in GIVEN[0].split("\n"))}


class Word(NamedTuple):
    """A word in its forms; `a` is the form with an article where it has one."""

    text: str
    kind: str

    def __format__(self, form: str) -> str:
        bare = re.sub(r"^(?:a|an|the) ", "", self.text)
        if form == "the":
            return f"the {bare}"
        if form == "a":
            return f"{'an' if bare[0] in 'aeiou' else 'a'} {bare}"
        if form == "bare":
            return bare
        if form in ("s", "things"):
            known = {"sheep": "sheep", "wolf": "wolves", "mouse": "mice", "fox": "foxes"}
            return known.get(bare) or (bare if bare.endswith("s") else f"{bare}s")
        return self.text[:1].upper() + self.text[1:] if form == "cap" else self.text


class Number(NamedTuple):
    """A number that is written in digits or in words, as it comes."""

    text: int
    random_: random.Random

    def __format__(self, form: str) -> str:
        spelt = self.random_.random() < 0.5 and self.text < len(NUMBERS)
        return NUMBERS[self.text] if spelt else str(self.text)


class Marked(NamedTuple):
    """A value whose place in the sentence is marked, to find it there."""

    inner: Word | Number

    def __format__(self, form: str) -> str:
        return f"\x01{self.inner:{form}}\x02"


Values = dict[str, Word | Number]
_SLOT = re.compile(r"\{(\w+?)(2?)(?::\w+)?\}")


class Fact(NamedTuple):
    """The lines of a fact by their signs, and whether both its persons may change places."""

    lines: dict[str, list[str]]
    names: tuple[str, ...]
    symmetric: bool


def facts() -> list[Fact]:
    """Return the facts that are written above."""
    found = []
    for block in GIVEN[1:]:
        lines: dict[str, list[str]] = {sign: [] for sign in "=<>!?~"}
        for line in block.split("\n"):
            lines[line[0]].append(line[2:])
        names = tuple(dict.fromkeys("".join(match.groups()) for match in _SLOT.finditer(" ".join(lines["="]))))
        found.append(Fact(lines, names, bool(lines["~"])))
    return found


def value(name: str, random_: random.Random) -> Word | Number:
    """Return a word or number for a name in braces."""
    kind = name.rstrip("2")
    if kind == "number":
        return Number(random_.randint(2, 20), random_)
    if kind == "year":
        return Word(str(random_.randint(1700, 2024)), kind)
    if kind == "sum":
        return Word(str(random_.choice((random_.randint(5, 99), 10 * random_.randint(10, 99)))), kind)
    if kind == "hour":
        return Word(f"{random_.randint(1, 12)} {random_.choice(('am', 'pm'))}", kind)
    return Word(random_.choice(WORDS[kind]), kind)


def filled(line: str, values: Values, changed: str = "") -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return a line with its names filled in, and the place of the one that was changed."""
    given = {name: Marked(found) if name == changed else found for name, found in values.items()}
    text = line.format(**given)
    first = next((i for i, letter in enumerate(text) if letter not in "\x01\x02"), 0)
    text = text[:first] + text[first : first + 1].upper() + text[first + 1 :]
    spans = []
    while "\x01" in text:
        start = text.index("\x01")
        text = text.replace("\x01", "", 1)
        end = text.index("\x02")
        text = text.replace("\x02", "", 1)
        spans.append((start, end))
    return text, tuple(spans)


def other(values: Values, names: Sequence[str], near: Values | None, random_: random.Random) -> tuple[str, Values]:
    """Return a name and the values with that one exchanged: with another word, or with one that stands near."""
    name = random_.choice(names)
    old = values[name]
    options = [found for key, found in (near or {}).items() if key.rstrip("2") == name.rstrip("2")]
    if options and random_.random() < 0.6:
        new = random_.choice(options)
    elif isinstance(old, Number):
        new = Number(max(2, old.text + random_.choice((-3, -2, -1, 1, 2, 3, 10))), random_)
    else:
        new = value(name, random_)
    return name, values | {name: new}


ADDED = (
    "on {day}", "in {month}", "in {year}", "last {season}", "with {person}", "near {city}", "in {city}", "at {hour}",
    "after {event}", "before {event}", "for {number} days", "because of {topic}",
)  # fmt: skip
EVENTS = re.compile(r"\b(?:was|were|beat|gave|sold|met|called|bought|died|wrote|ate|saw|arrived|helped|won|came)\b")


def told(fact: Fact, values: Values, random_: random.Random) -> str:
    """Return a sentence that says the fact, now and then with more than it."""
    return filled(random_.choice(fact.lines["="] * 3 + fact.lines["<"]), values)[0]


def short_rows(random_: random.Random, count: int) -> list[Row]:
    """Return `count` rows, true and false ones beside each other over the same evidence."""
    listed, rows = facts(), list[Row]()
    while len(rows) < count:
        rows += _rows(random_.choice(listed), listed, random_)
    return rows[:count]


def _rows(fact: Fact, listed: Sequence[Fact], random_: random.Random) -> Iterator[Row]:
    values = {name: value(name, random_) for name in fact.names}
    if len({found.text for found in values.values()}) < len(values):
        return
    line = random_.choice(fact.lines["="] * 3 + fact.lines["<"])
    evidence, near = [filled(line, values)[0]], None
    more = ""
    if random_.random() < 0.2 and EVENTS.search(evidence[0]) and "<" not in line:
        more = random_.choice(ADDED)
        added = {name: value(name, random_) for name in ("".join(m.groups()) for m in _SLOT.finditer(more))}
        evidence[0] = f"{evidence[0][:-1]} {more.format(**added)}."
    if random_.random() < 0.45:  # other facts beside it, of the same kind or of another
        for _ in range(random_.choice((1, 1, 2, 3))):
            if random_.random() < 0.6:
                near = {name: value(name, random_) for name in fact.names}
                if {found.text for found in near.values()} & {found.text for found in values.values()}:
                    near = None
                else:
                    evidence.append(told(fact, near, random_))
            else:
                beside = random_.choice(listed)
                evidence.append(told(beside, {name: value(name, random_) for name in beside.names}, random_))
        random_.shuffle(evidence)
    held = tuple(evidence)
    same = fact.lines["="] if random_.random() < 0.15 else [text for text in fact.lines["="] if text != line]
    rewording = random_.choice(same or fact.lines["="])
    true = random_.choice(fact.lines[">"]) if fact.lines[">"] and random_.random() < 0.25 else rewording
    yield Row(held, filled(true, values)[0], 0, (), 1.0, "short:true")
    kind = random_.random()
    if kind < 0.3 and fact.lines["!"]:
        yield Row(held, filled(random_.choice(fact.lines["!"]), values)[0], 2, None, 1.0, "short:denied")
    elif kind < 0.4 and fact.lines["?"]:
        yield Row(held, filled(random_.choice(fact.lines["?"]), values)[0], 1, None, 1.0, "short:unsaid")
    elif kind < 0.48 and not fact.symmetric and any(f"{name}2" in values for name in values):
        name = next(name for name in values if f"{name}2" in values)
        swapped = values | {name: values[f"{name}2"], f"{name}2": values[name]}
        pieces = [filled(random_.choice(fact.lines["="]), swapped, one) for one in (name,)]
        yield Row(held, pieces[0][0], 3, None, 1.0, "short:swapped")
    elif kind < 0.56 and EVENTS.search(evidence[0]):  # something is added that is not said, or was said otherwise
        piece = more or random_.choice(ADDED)
        wrong = {name: value(name, random_) for name in ("".join(m.groups()) for m in _SLOT.finditer(piece))}
        tail = piece.format(**wrong)
        text = filled(rewording, values)[0][:-1]
        if any(tail in sentence for sentence in evidence):
            return
        yield Row(held, f"{text} {tail}.", 3, ((len(text) + 1, len(text) + 1 + len(tail)),), 1.0, "short:added")
    else:
        present = [name for name in fact.names if re.search(rf"\{{{name}[:}}]", rewording)]
        name, changed = other(values, present, near, random_)
        if changed[name].text in {found.text for found in values.values()}:
            return
        if any(filled(line, changed)[0] in evidence for line in fact.lines["="]):  # said of another one beside it
            return
        text, spans = filled(rewording, changed, name)
        yield Row(held, text, 3, spans, 1.0, "short:changed")
    if random_.random() < 0.15 and values:  # a kind for an example, and the other way round
        for name, found in values.items():
            if isinstance(found, Word) and found.text in KINDS and f"{{{name}}}" in rewording:
                wider = filled(rewording, values | {name: Word(KINDS[found.text], "kind")})[0]
                yield Row(held, wider, 0, (), 1.0, "short:kind")
                yield Row((wider,), filled(rewording, values)[0], 1, None, 1.0, "short:example")
