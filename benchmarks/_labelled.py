"""The labelled claims that the embedded checker is fitted to and measured on, each with its evidence.

Judged by people: SummEval, QAGS-CNN/DM, XSumFaith, DeFacto, SummEdits (two domains). Made by rules (`_corrupt.py`):
true claims of their articles, and the same with one fact changed. Written for this project (`written_claims.jsonl`,
the passages that the reader is not trained on): claims in other words, true and false.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from _corrupt import corrupt, tails
from _reader_rows import read, rephrased, written_passages

from summeval_nb.text.split import split_text

SETS = ("qags_cnndm", "summeval", "xsumfaith", "defacto", "summedits")


class Claim(NamedTuple):
    """A sentence, its article, and what is known of it.

    `label` is 1 for supported; `kind` "human" or the rule of an edit ("true" for what it started from); `summary`
    numbers the summary whose label people gave, `unit` is 1 where they judged this sentence alone.
    """

    set: str
    article: int
    summary: int
    text: str
    label: int
    kind: str
    unit: int


class Document(NamedTuple):
    """An article: its set and its sentences."""

    set: str
    sentences: list[str]


def documents(folder: Path, *, written: bool = False) -> tuple[list[Document], list[Claim]]:
    """Return all articles, and all claims with the articles' places; on request also those written for this project."""
    articles: list[Document] = []
    claims: list[Claim] = []
    for name in (*SETS, "written") if written else SETS:
        random_ = random.Random(f"claims {name}")
        file = "summedits_two_domains" if name == "summedits" else name
        rows = written_passages(part="trees") if name == "written" else read(folder / f"{file}.jsonl.gz")
        places: dict[str, int] = {}
        for row in rows:
            text = _source(row)
            if text not in places:
                places[text] = len(articles)
                articles.append(Document(name, split_text(text)[:150]))
            claims += _human(name, row, places[text], len(claims))
        own = [articles[place] for place in places.values()]
        ends = tails([sentence for document in own for sentence in document.sentences[:12]])
        if name not in ("summedits", "written"):
            for number, row in enumerate(rows):
                if name == "defacto" and number >= 900:
                    break
                place = places[_source(row)]
                claims += _edited(name, row, place, articles[place].sentences, ends, random_)
    return articles, claims


def _source(row: dict[str, Any]) -> str:
    """Return the text that the claims are about."""
    text = row.get("source") or row["article"]
    return text if isinstance(text, str) else " ".join(text)


def _human(name: str, row: dict[str, Any], article: int, base: int) -> Iterator[Claim]:
    if name == "qags_cnndm":
        yes = [[answer["response"] == "yes" for answer in s["responses"]] for s in row["summary_sentences"]]
        for sentence, answers in zip(row["summary_sentences"], yes, strict=True):
            yield Claim(name, article, base, sentence["sentence"], int(2 * sum(answers) > len(answers)), "human", 1)
    elif name == "written":
        for number, claim in enumerate(row["claims"]):
            yield Claim(name, article, base + number, claim["text"], int(claim["supported"]), "human", 1)
    elif name == "summedits":
        old = set(split_text(row["original_summary"]))
        changed = [text for text in split_text(row["summary"]) if text not in old]
        for text in changed or split_text(row["summary"])[:1]:
            yield Claim(name, article, base, text, int(float(row["consistent"]) == 1), "human", int(len(changed) < 2))
    else:
        for number, one in enumerate(row["systems" if name == "summeval" else "summaries"]):
            label = one["consistency"] >= 5 if name == "summeval" else one["supported"] > 0.5
            sentences = split_text(one["summary"])
            for text in sentences:
                yield Claim(name, article, base + number, text, int(label), "human", int(len(sentences) == 1))


def _edited(
    name: str, row: dict[str, Any], article: int, sentences: Sequence[str], ends: Sequence[str], random_: random.Random
) -> Iterator[Claim]:
    """Yield true claims of an article, half of them by people or in other words, and each with one fact changed."""
    told = [text for text in sentences[:40] if 6 <= len(text.split()) <= 45]
    true = [
        rephrased(text, random_) if random_.random() < 0.8 else text for text in random_.sample(told, min(3, len(told)))
    ]
    if name == "summeval":
        references = [text for one in row["references"] for text in split_text(one) if 5 <= len(text.split()) <= 45]
        true += random_.sample(references, min(10, len(references)))
        fine = [text for one in row["systems"] if one["consistency"] >= 5 for text in split_text(one["summary"])]
        true += random_.sample(fine, min(4, len(fine)))
    elif name == "qags_cnndm":
        true += [
            one["sentence"] for one in row["summary_sentences"] if all(a["response"] == "yes" for a in one["responses"])
        ]
    else:
        true += [one["summary"] for one in row["summaries"] if one["supported"] > 0.6]
    for text in dict.fromkeys(true):
        yield Claim(name, article, -1, text, 1, "true", 1)
        for _ in range(2):
            if made := corrupt(text, sentences, random_, tail=random_.choice(ends)):
                yield Claim(name, article, -1, made.text, 0, made.kind, 1)
