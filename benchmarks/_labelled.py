"""The labelled claims that the embedded checker is fitted to and measured on, each with its evidence.

Judged by people: SummEval, QAGS-CNN/DM, XSumFaith, DeFacto, SummEdits (two domains). Made by rules (`_corrupt.py`):
true claims of their articles, and the same with one fact changed. Written for this project (`written_claims.jsonl`,
the passages that the reader is not trained on): claims in other words, true and false.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from _corrupt import corrupt, tails
from _reader_rows import Nearest, Row, read, rephrased, written_passages

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
    """An article: its set, its sentences, and the set's domain where it has several."""

    set: str
    sentences: list[str]
    domain: str = ""


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
                articles.append(
                    Document(name, split_text(text)[:150], row.get("domain", "") if name == "summedits" else "")
                )
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


def same_article(articles: Sequence[Document]) -> list[frozenset[str]]:
    """Return for each article the sets that hold it, its own among them: two sets draw on the same newspaper."""
    starts = [re.sub(r"\W+", "", " ".join(article.sentences[:30]).lower())[:400] for article in articles]
    held: dict[str, set[str]] = {}
    for start, article in zip(starts, articles, strict=True):
        held.setdefault(start, set()).add(article.set)
    return [frozenset(held[start]) for start in starts]


JUDGED = 6  # so many of the nearest sentences the reader sees of a claim that people judged
AT_MOST = 2000  # claims of one set and label


def judged_rows(folder: Path, nearest: Nearest, without: Collection[str] = ()) -> list[Row]:
    """Return the sentences that people judged as rows to train the reader on, without the sets of `without`.

    Articles that such a set holds, too, are left out as well. A sentence of a summary that was judged as a whole counts
    where the summary is true; both labels of a set weigh the same, up to four to one. No claim with a fact changed by a
    rule is among them.
    """
    random_ = random.Random(0)
    articles, claims = documents(folder)
    held, rows = same_article(articles), list[Row]()
    for name in [set_name for set_name in SETS if set_name not in without]:
        own = [
            claim
            for claim in claims
            if claim.set == name and claim.kind == "human" and (claim.unit == 1 or claim.label == 1)
        ]
        own = [claim for claim in own if not held[claim.article] & set(without)]
        found = {label: [claim for claim in own if claim.label == label] for label in (0, 1)}
        drawn = {label: random_.sample(some, min(AT_MOST, len(some))) for label, some in found.items()}
        chosen = [*drawn[0], *drawn[1]]
        by_article: dict[int, list[Claim]] = {}
        for claim in chosen:
            by_article.setdefault(claim.article, []).append(claim)
        for article, some in by_article.items():
            sentences = articles[article].sentences
            orders = nearest([claim.text for claim in some], sentences)
            for claim, order in zip(some, orders, strict=True):
                kept = tuple(sentences[i] for i in order[:JUDGED])
                weight = 1.5 * min(4.0, 0.5 / (len(drawn[claim.label]) / len(chosen)))
                rows.append(
                    Row(kept, claim.text, 0 if claim.label else 3, () if claim.label else None, weight, "judged")
                )
    return rows


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
        for number, summary in enumerate(row["systems" if name == "summeval" else "summaries"]):
            label = summary["consistency"] >= 5 if name == "summeval" else summary["supported"] > 0.5
            sentences = split_text(summary["summary"])
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
        references = [
            text for reference in row["references"] for text in split_text(reference) if 5 <= len(text.split()) <= 45
        ]
        true += random_.sample(references, min(10, len(references)))
        fine = [
            text for system in row["systems"] if system["consistency"] >= 5 for text in split_text(system["summary"])
        ]
        true += random_.sample(fine, min(4, len(fine)))
    elif name == "qags_cnndm":
        true += [
            sentence["sentence"]
            for sentence in row["summary_sentences"]
            if all(a["response"] == "yes" for a in sentence["responses"])
        ]
    else:
        true += [summary["summary"] for summary in row["summaries"] if summary["supported"] > 0.6]
    for text in dict.fromkeys(true):
        yield Claim(name, article, -1, text, 1, "true", 1)
        for _ in range(2):
            if made := corrupt(text, sentences, random_, tail=random_.choice(ends)):
                yield Claim(name, article, -1, made.text, 0, made.kind, 1)
