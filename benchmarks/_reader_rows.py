"""The rows that the reader is trained on: evidence, claim, label, and where it is known the words that are wrong.

From `nli_train.jsonl.gz` and `scitldr_train.jsonl.gz`, on request also passages with claims that were written for this
project (`written_claims.jsonl`, `written_pairs.jsonl`). Rows from the sets that the checker is measured on are made in
`_labelled.py`, where a set can be left out.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _corrupt import NUMBER_WORDS, corrupt, tails

from summeval_nb.text.split import split_text

UNLICENSED = frozenset({"ling_in_loop", "healthver", "monli"})  # inference sets that state no licence
LABEL = {"entailment": 0, "neutral": 1, "contradiction": 2, "not_entailment": 3}
_RISKY = re.compile(
    r"\b(?:not|no|never|only|if|unless|without|few|hardly|nor|none|cannot)\b|n['’]t\b|\?", re.IGNORECASE
)
_NOT = re.compile(r"\b(?:not|no|never|nobody|none|nothing|neither|without)\b|n['’]t\b", re.IGNORECASE)
_SAME = [
    ("is not", "isn't"), ("are not", "aren't"), ("was not", "wasn't"), ("were not", "weren't"), ("did not", "didn't"),
    ("does not", "doesn't"), ("do not", "don't"), ("has not", "hasn't"), ("have not", "haven't"), ("cannot", "can't"),
    ("will not", "won't"), ("percent", "per cent"), ("about", "around"), ("also", "as well"), ("however", "but"),
    ("nearly", "almost"), ("whole", "entire"), ("began", "started"), ("begin", "start"), ("ended", "finished"),
    ("said", "stated"), ("says", "states"), ("large", "big"), ("children", "kids"), ("quickly", "rapidly"),
    ("purchased", "bought"), ("show", "demonstrate"), ("shows", "demonstrates"), ("showed", "demonstrated"),
    ("use", "employ"), ("uses", "employs"), ("used", "employed"), ("help", "assist"), ("helped", "assisted"),
    ("important", "crucial"), ("many", "numerous"), ("doctors", "physicians"), ("car", "automobile"),
    ("cars", "automobiles"), ("needs", "requires"), ("need", "require"), ("obtain", "get"), ("obtained", "got"),
    ("perhaps", "maybe"), ("film", "movie"), ("near", "close to"), ("rose", "increased"), ("fell", "decreased"),
    ("rise", "increase"), ("fall", "decline"), ("because", "since"), ("among", "amongst"), ("firm", "company"),
    ("method", "approach"), ("propose", "present"), ("attempt", "try"), ("reply", "answer"), ("huge", "enormous"),
    ("often", "frequently"), ("killed", "slain"), ("hurt", "injured"), ("police officers", "police"),
]  # fmt: skip
_SAME_TABLE = dict(_SAME) | {b: a for a, b in _SAME}
_SAME_WORDS = re.compile(r"\b(?:" + "|".join(sorted(_SAME_TABLE, key=len, reverse=True)) + r")\b")


WITHHELD = 2  # so many of the nearest sentences are taken away to make a claim one that is not said
Nearest = Callable[[Sequence[str], Sequence[str]], list[list[int]]]


class Row(NamedTuple):
    """One training example; `spans` is None where the wrong words are not known, empty where none is wrong."""

    evidence: tuple[str, ...]
    claim: str
    label: int
    spans: tuple[tuple[int, int], ...] | None
    weight: float
    source: str


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a compressed JSON-lines file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def rephrased(text: str, random_: random.Random) -> str:
    """Return the sentence in other words where a rule knows some: contractions, digits, synonyms, a dropped aside."""
    out = _SAME_WORDS.sub(lambda m: _SAME_TABLE[m[0]] if random_.random() < 0.7 else m[0], text)
    if random_.random() < 0.5:
        digits = {word: str(i) for i, word in enumerate(NUMBER_WORDS[:11], 2)}
        out = re.sub(r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", lambda m: digits[m[0]], out)
    if _RISKY.search(out):
        return out
    if random_.random() < 0.5:
        out = re.sub(r" \([^()]{2,60}\)", "", out)
    if random_.random() < 0.5:
        out = re.sub(
            r", (?:which|who|where|when|as|with|including|such as) [^,.;]{5,90}(?=[,.])(?:,(?= [a-z]))?", "", out
        )
    if random_.random() < 0.4 and (
        match := re.match(r"(?:In|On|At|After|During|For|As|With|By|However|But|And) [^,.;]{2,40}, (?=\w)", out)
    ):
        rest = out[match.end() :]
        out = rest[:1].upper() + rest[1:]
    if random_.random() < 0.4 and len(out.split()) > 9:
        shorter = re.sub(r",? (?:in|on|at|during|since|near|by|for) [^,.;:()\"]{4,40}(?=[.!]$)", "", out)
        out = shorter if len(shorter.split()) > 5 else out
    return out


def nli_rows(folder: Path, random_: random.Random, without: Collection[str] = ()) -> Iterator[Row]:
    """Yield the NLI pairs, alone and among other sentences, and claims made false from what is entailed.

    The sets of `without` are left out, both as pairs and as other sentences around a pair.
    """
    everything = read(folder / "nli_train.jsonl.gz")
    if unknown := set(without) - {pair["source"] for pair in everything}:
        raise ValueError(f"no such sets to leave out: {', '.join(sorted(unknown))}")
    pairs = [pair for pair in everything if pair["source"] not in without]
    random_.shuffle(pairs)
    by_source: dict[str, list[tuple[str, ...]]] = {}
    for pair in pairs:
        parts = [pair["premise"]]
        if len(pair["premise"].split()) > 30:
            parts = [text for text in split_text(pair["premise"]) if text.strip()] or parts
        pair["evidence"] = tuple(parts[:10])
        by_source.setdefault(pair["source"], []).append(pair["evidence"])
    ends = tails([pair["premise"] for pair in pairs])
    for pair in pairs:
        evidence, claim, label = pair["evidence"], pair["hypothesis"], LABEL[pair["label"]]
        pool = by_source[pair["source"]]
        yield Row(_among(evidence, claim, pool, random_), claim, label, () if label == 0 else None, 1.0, pair["source"])
        around = (*evidence, *random_.choice(pool))
        if label == 0 and (made := corrupt(claim, around, random_, tail=random_.choice(ends))):
            wide = _among(evidence, claim, pool, random_)
            yield Row(wide, made.text, 3, made.spans, 0.7, f"edit:{made.kind}")
        if pair["source"] in ("breaking_nli", "monli", "med", "negation_nli"):
            continue
        if random_.random() < 0.4:
            told = random_.choice(evidence)
            if 5 <= len(told.split()) <= 45:
                yield from _own_rows(told, evidence, pool, random_.choice(ends), random_)


def _own_rows(
    told: str, evidence: Sequence[str], pool: Sequence[tuple[str, ...]], tail: str, random_: random.Random
) -> Iterator[Row]:
    """Yield a sentence of the evidence as a true claim, and as a false one: the claim or the evidence is changed."""
    claim = rephrased(told, random_) if random_.random() < 0.8 else told
    if random_.random() < 0.5:
        yield Row(_among(evidence, claim, pool, random_), claim, 0, (), 0.5, "own")
    around = (*evidence, *random_.choice(pool))
    if random_.random() < 0.7:
        if made := corrupt(claim, around, random_, tail=tail):
            yield Row(_among(evidence, claim, pool, random_), made.text, 3, made.spans, 0.5, f"edit:{made.kind}")
    elif made := corrupt(told, around, random_):
        changed = tuple(made.text if sentence == told else sentence for sentence in evidence)
        yield Row(_among(changed, claim, pool, random_), claim, 3, None, 0.5, f"evidence:{made.kind}")


def _among(
    evidence: Sequence[str], claim: str, pool: Sequence[tuple[str, ...]], random_: random.Random
) -> tuple[str, ...]:
    """Return the evidence, at times with one to three sentences of other texts around it."""
    if len(evidence) > 3 or random_.random() < 0.7:
        return tuple(evidence)
    want = set(re.findall(r"[a-z]{4,}", claim.lower()))
    listed = list(evidence)
    for _ in range(random_.randint(1, 3)):
        options = [random_.choice(random_.choice(pool)) for _ in range(6)]
        best = max(options, key=lambda text: len(want & set(re.findall(r"[a-z]{4,}", text.lower()))))
        if best not in listed and len(best) < 160:
            listed.insert(random_.randint(0, len(listed)), best)
    return tuple(listed)


def scitldr_rows(folder: Path, random_: random.Random) -> Iterator[Row]:
    """Yield summaries of abstracts by people, true; changed, false; and over another abstract, not said."""
    documents = read(folder / "scitldr_train.jsonl.gz")
    abstracts = [[text for text in document["source"] if text.strip()][:10] for document in documents]
    ends = tails([text for abstract in abstracts for text in abstract])
    words = [set(re.findall(r"[a-z]{4,}", " ".join(abstract).lower())) for abstract in abstracts]
    for number, document in enumerate(documents):
        abstract = tuple(abstracts[number])
        claim = document["summary"]
        yield Row(abstract, claim, 0, (), 0.8, "tldr")
        for _ in range(3):
            if made := corrupt(claim, abstract, random_, tail=random_.choice(ends)):
                yield Row(abstract, made.text, 3, made.spans, 0.7, f"edit:{made.kind}")
        want = set(re.findall(r"[a-z]{4,}", claim.lower()))
        options = random_.sample(range(len(abstracts)), 40)
        near = max((o for o in options if o != number), key=lambda o: len(want & words[o]))
        yield Row(tuple(abstracts[near]), claim, 1, None, 0.5, "other abstract")
        for told in random_.sample(abstract, min(2, len(abstract))):
            claim = rephrased(told, random_)
            yield Row(abstract, claim, 0, (), 0.5, "own")
            for _ in range(2):
                if made := corrupt(claim, abstract, random_, tail=random_.choice(ends)):
                    yield Row(abstract, made.text, 3, made.spans, 0.5, f"edit:{made.kind}")


def written_passages(*, part: str | None = None, pairs: int | None = None) -> list[dict[str, Any]]:
    """Return the passages with claims that were written for this: true ones reworded, false ones close or reworded.

    Of `written_pairs.jsonl`, which grows at its end, the first `pairs` passages count, or all. `part` is `"reader"` for
    those that the reader may learn from, `"trees"` for those kept aside for what weighs it. In `written_claims.jsonl`
    every second one is kept aside; of `written_pairs.jsonl`, whose claims come in pairs of a true one and a false one
    about the same fact, all of two writers and the first eight or ten of eighteen others.
    """
    found = []
    for name in ("written_claims", "written_pairs"):
        lines = (Path(__file__).parent / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        passages = [json.loads(line) for line in (lines[:pairs] if name == "written_pairs" else lines)]
        for number, passage in enumerate(passages):
            if name == "written_claims":
                passage["part"] = "trees" if number % 2 else "reader"
            else:
                passage["claims"] = [
                    {"text": text, "supported": supported, "twin": other}
                    for true, false in passage["pairs"]
                    for text, supported, other in ((true, True, false), (false, False, true))
                ]
            found.append(passage)
    return [passage for passage in found if part in (None, passage["part"])]


def wrong_words(claim: str, true: str) -> tuple[tuple[int, int], ...] | None:
    """Return the places of a false claim's words that its true twin lacks; None where the two are worded differently.

    Examples
    --------
    >>> wrong_words("The fare goes up in May.", "The fare goes down in May.")
    ((14, 16),)
    """
    own = list(re.finditer(r"\w+(?:['’]\w+)?", claim))
    other = re.findall(r"\w+(?:['’]\w+)?", true)
    matcher = SequenceMatcher(None, [word[0].lower() for word in own], [word.lower() for word in other], autojunk=False)
    if matcher.ratio() < 0.6:
        return None
    changed = [(a, b) for kind, a, b, _, _ in matcher.get_opcodes() if kind in ("replace", "delete")]
    return tuple((own[a].start(), own[b - 1].end()) for a, b in changed) or None


def told_share(claim: str, source: Sequence[str]) -> float:
    """Return the share of a claim's longer words that stand in the source."""
    own = re.findall(r"[a-z]{4,}|\d+", claim.lower())
    told = set(re.findall(r"[a-z]{4,}|\d+", " ".join(source).lower()))
    return sum(word in told for word in own) / max(len(own), 1)


def wording_weights(passages: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return weights of claims with which two shallow signs say nothing about their truth.

    The signs: the share of words that the source has, and whether the claim holds a *not*. Whatever false claims were
    written closer to their source, or with fewer negations, a model would learn that and not to read.
    """
    from sklearn.linear_model import LogisticRegression

    claims = [
        (claim, told_share(claim["text"], passage["source"]), bool(_NOT.search(claim["text"])))
        for passage in passages
        for claim in passage["claims"]
    ]
    shares = np.array([share for _, share, _ in claims])
    negated = np.array([there for _, _, there in claims])
    truth = np.array([claim["supported"] for claim, _, _ in claims])
    columns = np.stack([shares, shares**2, shares**3, negated], 1)
    true = LogisticRegression(C=100, max_iter=1000).fit(columns, truth).predict_proba(columns)[:, 1]
    weights = np.clip(0.5 / np.where(truth, true, 1 - true), 0.2, 4)
    return {claim["text"]: float(weight) for (claim, _, _), weight in zip(claims, weights, strict=True)}


def written_rows(
    nearest: Nearest, random_: random.Random, *, withheld: bool = False, pairs: int | None = None
) -> Iterator[Row]:
    """Yield the claims that the reader may learn from, each over two, three or five of the sentences nearest to it.

    `nearest(claims, sentences)` gives for each claim the places of the sentences, the nearest first. Of the true claims
    every third comes once more with a fact changed by a rule, and claims of a passage come joined by *and*, the whole
    false where one of them is. With `withheld` half of the true claims come once more over sentences of their passage
    without the nearest two: there they are not said. `pairs` is that of `written_passages`.
    """
    passages = written_passages(part="reader", pairs=pairs)
    balance = wording_weights(written_passages(pairs=pairs))
    ends = tails([sentence for passage in passages for sentence in passage["source"]])
    for passage in passages:
        source, texts = passage["source"], [claim["text"] for claim in passage["claims"]]
        orders = nearest(texts, source)
        for claim, order in zip(passage["claims"], orders, strict=True):
            text, supported, twin = claim["text"], claim["supported"], claim.get("twin")
            spans = () if supported else wrong_words(text, twin) if twin else None
            kept = tuple(source[i] for i in sorted(order[: random_.choice((2, 3, 5))]))
            yield Row(kept, text, 0 if supported else 3, spans, 1.5 * balance[text], "written")
            if not supported:
                continue
            if random_.random() < 0.33 and (made := corrupt(text, source, random_, tail=random_.choice(ends))):
                yield Row(kept, made.text, 3, made.spans, 0.7, f"edit:{made.kind}")
            if withheld and random_.random() < 0.5 and len(order) > WITHHELD + 1:
                away = sorted(order[WITHHELD : WITHHELD + random_.choice((2, 4))])
                yield Row(tuple(source[i] for i in away), text, 1, None, 1.5, "withheld")
        yield from _joined_rows(passage, orders, random_)


_FIRST = re.compile(
    r"(?:The|A|An|It|He|She|They|In|On|At|After|Before|His|Her|Its|Their|Some|Most|Many|No|Two|Three)\b"
)


def joined(first: str, second: str) -> str:
    """Return two sentences as one.

    Examples
    --------
    >>> joined("The fare goes up.", "The old ship stays.")
    'The fare goes up, and the old ship stays.'
    """
    rest = second[:1].lower() + second[1:] if _FIRST.match(second) else second
    return f"{first.rstrip('.')}, and {rest}"


def _joined_rows(passage: dict[str, Any], orders: Sequence[Sequence[int]], random_: random.Random) -> Iterator[Row]:
    """Yield for every fourth claim of a passage it and another, over the sentences nearest to both."""
    claims = passage["claims"]
    for _ in range(len(claims) // 4):
        first, two = random_.sample(range(len(claims)), 2)
        if random_.random() < 0.5:  # half of them two true ones, where there are two
            true = [i for i, claim in enumerate(claims) if claim["supported"]]
            first, two = random_.sample(true, 2) if len(true) > 1 else (first, two)
        fine = claims[first]["supported"] and claims[two]["supported"]
        places = sorted({*orders[first][:3], *orders[two][:3]})
        kept = tuple(passage["source"][i] for i in places)
        text = joined(claims[first]["text"], claims[two]["text"])
        yield Row(kept, text, 0 if fine else 3, () if fine else None, 1.0, "joined")


def training_rows(
    folder: Path,
    seed: int,
    nearest: Nearest | None = None,
    *,
    withheld: bool = False,
    pairs: int | None = None,
    without: Collection[str] = (),
    judged: Sequence[Row] = (),
) -> list[Row]:
    """Return the rows of one epoch, shuffled; another seed makes other edits and other neighbours.

    With `nearest`, two thirds of them are made of the claims written for this project and one third is a sample of all
    others; `judged` come on top, as often as makes them a quarter of all. `pairs` is that of `written_passages`.
    """
    random_ = random.Random(seed)
    rows = [*nli_rows(folder, random_, without), *scitldr_rows(folder, random_)]
    if nearest is not None:
        written = list(written_rows(nearest, random_, withheld=withheld, pairs=pairs))
        rows = [*written, *random_.sample(rows, min(len(written) // 2, len(rows)))]
    rows += list(judged) * round(len(rows) / 3 / len(judged)) if judged else []
    random_.shuffle(rows)
    return rows
