"""Make the everyday set: what real summaries and answers look like, the true one and the false one beside it.

    python benchmarks/everyday.py                        write the two files in summeval_nb/assets
    python benchmarks/everyday.py --seed 7 --out fresh   write them into a folder of yours
    python benchmarks/everyday.py --read                 print every item, to be read by a person

`everyday.jsonl.gz` holds summaries, `everyday_answers.jsonl.gz` answers to questions.

Names, places, values, and which form a date or a mark takes are drawn by lot: another seed makes another set. Scenes
and set are dedicated to the public domain (CC0 1.0).
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import everyday_scenes as scenes

from summeval_nb.agreement.card import MARKS, WRAPPERS, date_forms

OUT = Path(__file__).parents[1] / "summeval_nb" / "assets"
Item = dict[str, object]
Slots = dict[str, object]
Pair = tuple[str, str]  # a true text and a false one


def words(text: str) -> list[str]:
    """Return the words of a text."""
    return text.split()


WOMEN = words("Abigail Bettina Corinne Daphne Elspeth Frieda Greta Harriet Imogen Jolanda Katrin Leonie Maud Nadine")
MEN = words("Alistair Barnaby Casper Desmond Edmund Florian Gregor Hubert Ivan Jasper Konrad Lionel Magnus Norbert")
NAMES = words(
    "Achterberg Bellamy Castell Dunmore Ekwall Farrow Grimes Hollis Imhof Jarrett Kessler Lomax Mercer Nyberg Ostrow "
    "Pruitt Quill Rademaker Stanhope Tobin Underhill Vickers Whitlock Yarrow Zeller Brandvold Coyle Drummond"
)
TOWNS = words(
    "Aldermoor Brackwater Coldhurst Dunsby Elmstead Fenwick Gorsley Hexworth Inverdale Kettlewell Lindmouth Marston "
    "Northgate Oxbury Penhallow Ravensby Skelby Thornwick Ulverton Wexcombe"
)
FIRMS = words(
    "Alderlight Brightmill Corvane Dovetree Eastholm Fernhall Gildmark Hartwell Ironwood Juniper Kestor Larkfield "
    "Moorgate Nettlecombe"
)
DIGITS = words("zero one two three four five six seven eight nine")


@dataclass(frozen=True)
class Person:
    """Somebody in a text: `{w}` is the whole name, `{w.last}` the second."""

    first: str
    last: str

    def __format__(self, how: str) -> str:
        return f"{self.first} {self.last}"


def slots(rng: random.Random) -> Slots:
    """Return names and values for one text; none of them twice."""
    last = rng.sample(NAMES, 4)
    women, men = rng.sample(WOMEN, 2), rng.sample(MEN, 2)
    people = [Person(first, name) for first, name in zip(women + men, last, strict=True)]
    values: Slots = dict(zip(("w", "w2", "m", "m2"), people, strict=True))
    values |= dict(zip(("t", "t2", "t3"), rng.sample(TOWNS, 3), strict=True))
    values |= dict(zip(("n", "n2"), rng.sample(range(21, 99), 2), strict=True))
    a, b = rng.sample(range(2, 10), 2)
    values |= {"a": a, "b": b, "A": DIGITS[a], "B": DIGITS[b], "c": 12 * a, "d": 60 * a, "g": 7 * a}
    return values | {"e": a + 12, "h": b + 12, "f": rng.choice(FIRMS)}


def filled(template: str, values: Slots) -> str:
    """Return a template with its slots filled; a full stop after an abbreviation is written once."""
    text = re.sub(r"\.\.(?!\.)", ".", template.format(**values))
    return text[0].upper() + text[1:]


# Forms of one value


def time_forms(hour: int, minute: int) -> list[str]:
    """Return a time of the day as people write it."""
    part, short = ("a.m.", hour) if hour < 12 else ("p.m.", hour - 12)
    clock = f"{short}:{minute:02}" if minute else f"{short}"
    opening = {0: "", 15: "a quarter past ", 30: "half past "}[minute]
    word = {10: "ten", 11: "eleven"}.get(short) or DIGITS[short]
    oclock = "" if minute else " o'clock"
    spoken = f"{opening}{word}{oclock} in the {'morning' if hour < 12 else 'afternoon'}"
    return [f"{clock} {part}", f"{clock} {part.replace('.', '')}", f"{hour:02}:{minute:02}", spoken]


def dates(rng: random.Random, number: int) -> tuple[str, str, str]:
    """Return a date in two forms, and a neighbour in the second of them."""
    year, month, day = rng.randint(1961, 2023), rng.randint(1, 12), rng.randint(14, 27)
    step = number % 3
    other = (year + (step == 0), month % 12 + 1 if step == 1 else month, day + (step == 2))
    one, two = rng.sample(range(7), 2)
    return date_forms(year, month, day)[one], date_forms(year, month, day)[two], date_forms(*other)[two]


def times(rng: random.Random, number: int) -> tuple[str, str, str]:
    """Return a time in two forms, and another hour in the second of them; the half of the day is the same."""
    hour, other = rng.sample(range(13, 18) if number % 2 else range(7, 12), 2)
    minute = rng.choice((0, 15, 30))
    first, second = rng.choice([(0, 2), (2, 0), (0, 3), (2, 1), (3, 2), (1, 3), (1, 2), (3, 0)])
    return time_forms(hour, minute)[first], time_forms(hour, minute)[second], time_forms(other, minute)[second]


FULL = {
    "WTO": "World Trade Organization",
    "CBC": "Canadian Broadcasting Corporation",
    "FDA": "Food and Drug Administration",
}
FULL |= {"UN": "United Nations", "EU": "European Union", "CIA": "Central Intelligence Agency"}


def initials(rng: random.Random, number: int) -> tuple[str, str, str]:
    """Return a name in full, its initials, and other initials; or the well-known ones first."""
    name, short, other = scenes.ORGANISATIONS[number]
    if other in FULL and rng.random() < 0.5:
        return short, name, FULL[other]
    return name, short, other


PLAIN_LETTERS = str.maketrans("łŁøØıđĐ", "lLoOidD")


def accent_forms(name: str) -> list[str]:
    """Return a name as one character a letter, as letters and accents, and without accents."""
    apart = unicodedata.normalize("NFD", name)
    bare = "".join(sign for sign in apart if not unicodedata.combining(sign)).translate(PLAIN_LETTERS)
    return [unicodedata.normalize("NFC", name), apart, bare]


def accents(rng: random.Random, number: int) -> tuple[str, str, str]:
    """Return a name in two ways of writing, and another name in the second."""
    name, other = scenes.ACCENTED[number]
    one, two = rng.choice([(0, 1), (0, 2), (1, 0), (2, 0), (1, 2), (2, 1)])
    return accent_forms(name)[one], accent_forms(name)[two], accent_forms(other)[two]


# What stands around a text


THOUGHTS: tuple[Callable[[str, str], str], ...] = (
    lambda text, thought: f"<think>{thought}</think>{text}",
    lambda text, thought: f"<think>\nLet me reread it. {thought}\n</think>\n\n{text}",
    lambda text, thought: f"Okay, so the user wants it brief. {thought}</think>{text}",
    lambda text, thought: f"<reasoning>{thought}</reasoning>\n{text}",
    lambda text, thought: f"<thinking>Hmm. {thought}</thinking> {text}",
    lambda text, thought: f"<thought>{thought} I will write it now.</thought>\n\n{text}",
    lambda text, thought: f"<scratchpad>{thought}</scratchpad>{text}",
    lambda text, thought: f"{text}<|im_end|>",
    lambda text, thought: f"{text}<|eot_id|>",
    lambda text, thought: f"{text}</s>",
    lambda text, thought: f"<think></think>\n\n{text}",
    lambda text, thought: f"<|assistant|>\n{text}<|endoftext|>",
    lambda text, thought: f"Wait. {thought} No, once more.\n</think>\n{text}",
    lambda text, thought: f"<answer>{text}</answer>",
)


ANSWERS: tuple[Callable[[str], str], ...] = (
    lambda text: f"Sure! {text}",
    lambda text: f"Great question! {text}",
    lambda text: f"**Answer:** {text}",
    lambda text: f"{text} I hope this answers your question!",
    lambda text: f"{text}\n\nLet me know if you need more detail.",
)


# Items


def both(kind: str, article: str, pair: Pair, **more: object) -> Iterator[Item]:
    """Yield the true and the false item."""
    for text, supported in zip(pair, (True, False), strict=True):
        yield {"kind": kind, "article": article, "text": text, "supported": supported} | more


def asked(kind: str, article: str, question: str, truth: str, pair: Pair) -> Iterator[Item]:
    """Yield a right and a wrong answer to one question."""
    yield from both(kind, article, pair, question=question, truth=truth)


def scene_items(rng: random.Random) -> Iterator[Item]:
    """Yield the same statements plain, with marks, wrapped, behind reasoning, in another language, and as answers."""
    orders = [rng.sample(range(14), 14) for _ in range(4)]
    for number, scene in enumerate(scenes.SCENES):
        values = slots(rng)
        article = filled(scene.article, values)
        first, second = ([filled(text, values) for text in pair] for pair in (scene.first, scene.second))
        mark, wrap, think, dress = (order[number] for order in orders)
        alone, beside = (first, second) if number % 2 else (second, first)
        yield from both("plain", article, (alone[0], alone[1]))
        marked = [MARKS[mark](text) for text in alone]
        yield from both("citation mark", article, (marked[0], marked[1]))
        wrapped = [WRAPPERS[wrap](f"{beside[0]} {text}") for text in alone]
        yield from both("wrapper", article, (wrapped[0], wrapped[1]))
        # what was thought is the other way round
        thought = [THOUGHTS[think](*texts) for texts in (alone, alone[::-1])]
        yield from both("reasoning", article, (thought[0], thought[1]))
        translated = [filled(text, values) for text in scene.language]
        yield from both("other language", article, (translated[0], translated[1]))
        question, right, wrong = (filled(text, values) for text in scene.question)
        short = ("{}.", "{}")[number % 2]
        yield from asked("short answer", article, question, first[0], (short.format(right), short.format(wrong)))
        around = (MARKS[dress], ANSWERS[number // 3], lambda text, place=dress: THOUGHTS[place](text, "Let me look."))
        dressed = [around[number % 3](text) for text in first]
        yield from asked("dressed answer", article, question, f"{right}.", (dressed[0], dressed[1]))
        yield from yes_or_no(rng, number, article, [filled(text, values) for text in scene.asked])


def yes_or_no(rng: random.Random, number: int, article: str, parts: list[str]) -> Iterator[Item]:
    """Yield a yes and a no to a question whose answer is yes, or no."""
    subject, verb = parts[2][0].lower() + parts[2][1:].rpartition(" ")[0], parts[2].rpartition(" ")[2]
    yes = ["Yes", "Yes.", f"Yes, {subject} {verb}.", f"Indeed, {subject} {verb}."]
    no = ["No", "No.", f"No, {subject} {verb}n't."]
    true = number % 2 == 0
    right, wrong = (yes, no) if true else (no, yes)
    truth = right[(number // 2) % 3]
    pair = rng.choice(right), rng.choice(wrong)
    yield from asked("yes or no", article, parts[0 if true else 1], truth, pair)


def form_items(rng: random.Random) -> Iterator[Item]:
    """Yield facts of one article in another form: dates, times, numbers, initials, titles, accents."""
    for number, scene in enumerate(scenes.FORMS):
        values = slots(rng)
        drawn = {"DATE": dates(rng, number), "TIME": times(rng, number), "ORG": initials(rng, number)}
        drawn["ACC"] = accents(rng, number)
        for name, forms in (("NUM", scenes.NUMBERS[number]), ("TITLE", scenes.TITLES[number])):
            written, same, other = (form.format(**values) for form in forms)
            drawn[name] = (written, same, other)
        written, same, other = ({name: forms[place] for name, forms in drawn.items()} for place in range(3))
        article = filled(scene.article, values | written)
        for kind, name in KINDS_OF_FORMS.items():
            template = getattr(scene, kind)
            pair = filled(template, values | same), filled(template, values | same | {name: other[name]})
            yield from both(kind, article, pair)


KINDS_OF_FORMS = {"date": "DATE", "time": "TIME", "number": "NUM", "initials": "ORG", "title": "TITLE", "accent": "ACC"}


def told_items(rng: random.Random) -> Iterator[Item]:
    """Yield what holds and what is said under a condition, denied, or cut by a full stop that ends nothing."""
    for kind, rows in (("condition", scenes.CONDITIONS), ("denial", scenes.DENIALS), ("sentence end", scenes.ENDS)):
        for row in rows:
            article, true, false = (filled(text, values) for values in [slots(rng)] for text in row)
            yield from both(kind, article, (true, false))


def table(heads: Pair, rows: list[Pair], style: int) -> str:
    """Return a Markdown table in one of four ways of writing."""
    lines = [heads, *rows]
    if style % 2:
        text = ["| " + " | ".join(line) + " |" for line in lines]
        rule = ("|---|---|", "| :--- | ---: |")[style // 2]
    else:
        text, rule = [" | ".join(line) for line in lines], ("--- | ---", ":--|:--")[style // 2]
    return "\n".join([text[0], rule, *text[1:]])


def grid_items(rng: random.Random) -> Iterator[Item]:
    """Yield tables as summaries and as answers; in a false one two cells have changed places."""
    for number, grid in enumerate(scenes.GRIDS):
        values = slots(rng)
        article = filled(grid.article, values)
        cells = [(left.format(**values), right.format(**values)) for left, right in grid.rows]
        at, to = rng.sample(range(3), 2)
        swapped = list(cells)
        swapped[at], swapped[to] = (cells[at][0], cells[to][1]), (cells[to][0], cells[at][1])
        pair = table(grid.heads, cells, number % 4), table(grid.heads, swapped, number % 4)
        yield from both("table", article, pair)
        yield from asked("table as answer", article, filled(grid.question, values), article, pair)


def value_items(rng: random.Random) -> Iterator[Item]:
    """Yield answers of one word and answers with a value in another form."""
    for context, question, frame, words in scenes.WORDS:
        right, wrong = rng.sample(words.split(), 2)
        values = slots(rng)
        article, asks = filled(context, values | {"X": right}), filled(question, values)
        framed = filled(frame, {"X": right}), filled(frame, {"X": wrong})
        truth, pair = rng.choice([(framed[0], (right, wrong)), (right, framed)])
        yield from asked("one word", article, asks, truth, pair)
    for context, question, frame, words in scenes.WORDS:
        right, wrong = rng.sample(words.split(), 2)
        values = slots(rng)
        article, asks = filled(context, values | {"X": right}), filled(question, values)
        pair = filled(frame, {"X": right}), filled(frame, {"X": wrong})
        yield from asked("without a truth", article, asks, "", pair)
    for row in scenes.VALUES:
        values = slots(rng)
        article, question, truth, same, other = (filled(text, values) for text in row)
        yield from asked("equal value", article, question, f"{truth}.".replace("..", "."), (f"{same}.", f"{other}."))


def make(seed: int = 0) -> dict[str, list[Item]]:
    """Return the whole set for a seed, kind by kind: its files by their names."""
    rng = random.Random(seed)
    makers = (scene_items, form_items, told_items, grid_items, value_items)
    items = [item for maker in makers for item in maker(rng)]
    kinds = list(dict.fromkeys(item["kind"] for item in items))
    items.sort(key=lambda item: kinds.index(item["kind"]))
    return {
        "everyday.jsonl.gz": [item for item in items if "question" not in item],
        "everyday_answers.jsonl.gz": [item for item in items if "question" in item],
    }


def packed(items: list[Item]) -> bytes:
    """Return items as the bytes of their file, the same ones every time."""
    text = "".join(f"{json.dumps(item, ensure_ascii=False)}\n" for item in items)
    return gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0)


def printed(item: Item) -> None:
    """Print an item for a reader; the true one of two comes first, with their article."""
    if item["supported"]:
        print(f"\n[{item['kind']}] {item['article']}")
        if "question" in item:
            print(f"  {item['question']}  TRUTH: {item['truth']}")
    print("  true  " if item["supported"] else "  false ", repr(item["text"]))


def main() -> None:
    """Write the set, or print it for a reader."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="another seed makes another set")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder to write into")
    parser.add_argument("--read", action="store_true", help="print the items instead")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, items in make(arguments.seed).items():
        if arguments.read:
            for item in items:
                printed(item)
        else:
            (arguments.out / name).write_bytes(packed(items))


if __name__ == "__main__":
    main()
