"""Numbers that peers print under random options, and whether `identify_score` finds the options again.

    python benchmarks/identify.py [--pairs 2000]

sacrebleu, nltk, rouge-score and torchmetrics print sixty numbers of summaries of SummEval, each with options drawn by
chance and two to five digits. Found means: the true configuration, or one equal in number, is among the first three.
Ten more numbers are changed so that no program prints them. The folder is that of SUMMEVAL_NB_DATA.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import os
import random
import sys
import time
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import sacrebleu
from nltk.translate import bleu_score as nltk_bleu
from rouge_score.rouge_scorer import RougeScorer

from summeval_nb.overlap.identify import (
    IdentifiedScore,
    identify_among,
    identify_score,
    printed_scores,
)

Groups = Sequence[Sequence[str]]


class Printed(NamedTuple):
    """A number as a peer printed it, unrounded, and the options that it was told."""

    value: float
    text: str
    options: dict[str, object]


def _columns(groups: Groups) -> list[list[str]]:
    return [list(column) for column in zip(*groups, strict=True)]


def _sacrebleu(draw: random.Random, texts: Sequence[str], groups: Groups) -> tuple[float, dict[str, object]]:
    options: dict[str, object] = {"tokenize": draw.choice(["13a", "13a", "intl", "char", "none"])}
    options |= {
        "lowercase": draw.random() < 0.3,
        "smooth_method": draw.choice(["exp", "exp", "none", "add-k", "floor"]),
    }
    whole = draw.random() < 0.6
    options["effective_order"] = not whole if draw.random() < 0.8 else whole
    if draw.random() < 0.2:
        options["max_ngram_order"] = draw.choice([1, 2, 3])
    groups = [group[:1] for group in groups] if draw.random() < 0.3 else groups
    metric = sacrebleu.BLEU(**options)  # type: ignore[arg-type]
    if whole:
        return metric.corpus_score(texts, _columns(groups)).score, options | {"of": "corpus"}
    scores = [metric.sentence_score(text, list(group)).score for text, group in zip(texts, groups, strict=True)]
    return sum(scores) / len(scores), options | {"of": "mean"}


def _nltk(draw: random.Random, texts: Sequence[str], groups: Groups) -> tuple[float, dict[str, object]]:
    n, method, lower = draw.choice([4, 4, 2, 1]), f"method{draw.randrange(5)}", draw.random() < 0.3
    smoothing, weights = getattr(nltk_bleu.SmoothingFunction(), method), (1 / n,) * n

    def cut(text: str) -> list[str]:
        return (text.lower() if lower else text).split()

    own, theirs = list(map(cut, texts)), [list(map(cut, group)) for group in groups]
    options: dict[str, object] = {"n": n, "method": method, "lower": lower}
    if draw.random() < 0.5:
        return nltk_bleu.corpus_bleu(theirs, own, weights, smoothing), options | {"of": "corpus"}
    scores = [nltk_bleu.sentence_bleu(group, text, weights, smoothing) for text, group in zip(own, theirs, strict=True)]
    return sum(scores) / len(scores), options | {"of": "mean"}


def _rouge(draw: random.Random, texts: Sequence[str], groups: Groups) -> tuple[float, dict[str, object]]:
    kind, stemmer = draw.choice(["rouge1", "rouge2", "rougeL", "rougeLsum", "rouge3"]), draw.random() < 0.5
    part, how = draw.choice(["fmeasure", "fmeasure", "recall", "precision"]), draw.choice(["best", "first", "mean"])
    scorer = RougeScorer([kind], use_stemmer=stemmer)
    scores = []
    for text, group in zip(texts, groups, strict=True):
        if how == "best":
            scores.append(getattr(scorer.score_multi(list(group), text)[kind], part))
        else:
            own = [getattr(scorer.score(one, text)[kind], part) for one in (group[:1] if how == "first" else group)]
            scores.append(sum(own) / len(own))
    options = {"type": kind, "stemmer": stemmer, "part": part, "refs": how}
    return sum(scores) / len(scores), options


def _chrf(draw: random.Random, texts: Sequence[str], groups: Groups) -> tuple[float, dict[str, object]]:
    options: dict[str, object] = {"word_order": draw.choice([0, 2]), "lowercase": draw.random() < 0.3}
    options |= {"beta": draw.choice([2, 2, 1, 3]), "whitespace": draw.random() < 0.2}
    metric = sacrebleu.CHRF(**options)  # type: ignore[arg-type]
    return metric.corpus_score(texts, _columns(groups)).score, options


def _torchmetrics(draw: random.Random, texts: Sequence[str], groups: Groups) -> tuple[float, dict[str, object]]:
    from torchmetrics.functional.text import bleu_score, sacre_bleu_score

    options: dict[str, object] = {"n_gram": draw.choice([4, 4, 2]), "smooth": draw.random() < 0.4}
    if draw.random() < 0.5:
        return float(bleu_score(texts, groups, **options)), options  # type: ignore[arg-type]
    options |= {"tokenize": draw.choice(["13a", "intl"]), "lowercase": draw.random() < 0.4}
    return float(sacre_bleu_score(texts, groups, **options)), options  # type: ignore[arg-type]


PEERS = {"sacrebleu": _sacrebleu, "nltk": _nltk, "rouge-score": _rouge, "chrF": _chrf, "torchmetrics": _torchmetrics}


def printed_by_peers(texts: Sequence[str], groups: Groups, n: int, seed: int) -> list[Printed]:
    """Return numbers that installed peers print of texts with the same number of references each."""
    draw, found = random.Random(seed), []
    for place in range(n):
        name = list(PEERS)[place % len(PEERS)]
        value, options = PEERS[name](draw, texts, groups)
        percent = value if name in ("sacrebleu", "chrF") else value * draw.choice([1, 100])
        digits = draw.choice([2, 3]) if percent > 1 else draw.choice([4, 5])
        found.append(Printed(value, f"{percent:.{digits}f}", {"program": name, **options}))
    return found


def is_found(printed: Printed, found: IdentifiedScore) -> bool:
    """Whether the first three hold the number that the peer computed, all its digits."""
    value = printed.value / (100 if printed.options["program"] in ("sacrebleu", "chrF") else 1)
    return any(abs(own.value / own.scale - value) < 3e-6 for own in found[:3])


@cache
def summaries() -> tuple[list[str], list[list[str]]]:
    """Return summaries of SummEval's systems and the first three references of each."""
    path = Path(os.environ["SUMMEVAL_NB_DATA"]) / "summeval.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return (
        [system["summary"] for row in rows for system in row["systems"]],
        [row["references"][:3] for row in rows for _ in row["systems"]],
    )


def main() -> None:
    """Print how many are found, and how long two thousand pairs take."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=int, default=2000)
    options = parser.parse_args()
    if "SUMMEVAL_NB_DATA" not in os.environ:
        sys.exit("needs SummEval: set SUMMEVAL_NB_DATA to its folder")
    texts, groups = summaries()
    few = texts[::60], groups[::60]
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)  # options are drawn, so some are unusual
    warnings.simplefilter("ignore")
    right, missed = 0, []
    printed = printed_by_peers(*few, 60, seed=2026)
    tried = printed_scores(*few, progress=False)
    for own in printed:
        found = identify_among(own.text, tried)
        right += is_found(own, found)
        missed += [] if is_found(own, found) else [(own, found)]
    print(f"found among the first three: {right} of {len(printed)}")
    for own, found in missed:
        print(own, found, sep="\n")
    draw, fitting = random.Random(7), 0
    for own in printed[:10]:
        changed = float(own.text) * (1 + draw.choice([-1, 1]) * draw.uniform(0.004, 0.02))
        found = identify_among(f"{changed:.6f}", tried)
        fitting += bool(found)
    print(f"changed numbers that fit something: {fitting} of 10")
    many = (texts * 2)[: options.pairs], ([group[:1] for group in groups] * 2)[: options.pairs]
    started = time.perf_counter()
    identify_score(41.2, *many, progress=True)
    print(f"{options.pairs} pairs: {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
