"""BLEU and ROUGE beside their peers, in one process: seconds, ratios, and whether the numbers are equal.

    python benchmarks/overlap.py [--rounds 3] [--slow-share 8]

SummEval's 1,600 summaries against 1 reference (1,600 pairs) and against 11 (17,600 pairs). Compared are

- ROUGE-1/2/L and ROUGE-Lsum, unstemmed and stemmed: rouge-score 0.1.2, rouge-score-rs 0.2.1, torchmetrics (without
  Lsum), `rouge_many` counting itself, and with the extra `fast` (it takes rouge-score-rs where that helps);
- sentence BLEU: sacrebleu 2.6, nltk, torchmetrics, `bleu_many`; corpus BLEU: sacrebleu, `corpus_bleu`;
- chrF++: sacrebleu, `chrf_many`; TER, on every 40th summary because sacrebleu takes its time: sacrebleu, `ter_many`.

Times are CPU seconds of this process (`time.process_time`), the least of some rounds, so that other programs on the
machine disturb them little. Caches that a peer keeps between calls are emptied first. The slow peers (marked *) run
once, on every eighth summary, and their time is multiplied by eight: each of their calls is independent of the others.

Needs SUMMEVAL_NB_DATA and the `dev` extra. Exits with 1 if a floor is missed or a number differs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from summeval_nb import corpus_bleu, rouge_many
from summeval_nb.overlap import bleu_many, chrf_many, load_tokenizer, rouge, ter_many

TYPES = ("rouge1", "rouge2", "rougeL")
# task → (floor, goal): how many times as fast as the first peer
TARGETS = {("rouge", 1): (12, 20), ("rouge", 11): (50, 80), ("bleu", 1): (3, 5), ("bleu", 11): (10, 15)}
TARGETS |= {("lsum", 1): (8, 12), ("lsum", 11): (20, 40)}
TARGETS |= {("chrf", 1): (3, 4), ("chrf", 11): (6, 10), ("ter", 1): (2, 20), ("ter", 11): (2, 20)}
TOLERANCE = {"rouge": 1e-12, "lsum": 1e-12, "bleu": 1e-9, "chrf": 1e-9, "ter": 1e-9}

Texts = Sequence[str]
Groups = Sequence[Sequence[str]]


@dataclass
class Peer:
    """One implementation: a call from texts and references to one number (or row) a text, and whether it is slow."""

    name: str
    call: Callable[[Texts, Groups], np.ndarray]
    slow: bool = False


def summeval() -> tuple[list[str], list[list[str]]]:
    path = Path(os.environ["SUMMEVAL_NB_DATA"]) / "summeval.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    pairs = [(system["summary"], row["references"]) for row in rows for system in row["systems"]]
    return [text for text, _ in pairs], [references for _, references in pairs]


# ------------------------------------------------------------------------------------------------------ ROUGE


def rouge_peers(stemmer: bool, types: Sequence[str] = TYPES) -> list[Peer]:
    import rouge_score_rs.rouge_scorer
    from rouge_score.rouge_scorer import RougeScorer

    google = RougeScorer(list(types), use_stemmer=stemmer)
    rust = rouge_score_rs.rouge_scorer.RougeScorer(list(types), use_stemmer=stemmer)

    def each(scorer):
        def call(texts: Texts, groups: Groups) -> np.ndarray:
            if len(groups[0]) == 1:
                scored = [scorer.score(group[0], text) for text, group in zip(texts, groups, strict=True)]
            else:
                scored = [scorer.score_multi(group, text) for text, group in zip(texts, groups, strict=True)]
            return np.array([[score[kind].fmeasure for kind in types] for score in scored])

        return call

    def ours(accelerated: bool):
        def call(texts: Texts, groups: Groups) -> np.ndarray:
            rouge.ACCELERATED = accelerated
            table = rouge_many(texts, groups, types=types, stemmer=stemmer)
            return np.column_stack([table[f"{kind}_f1"] for kind in types])

        return call

    peers = [Peer("rouge-score", each(google), slow=True), Peer("rouge-score-rs", each(rust))]
    if types == TYPES:
        peers.append(Peer("torchmetrics", torchmetrics_rouge(stemmer), slow=True))
    return [*peers, Peer("summeval_nb", ours(False)), Peer("summeval_nb, fast", ours(True))]


def torchmetrics_rouge(stemmer: bool) -> Callable[[Texts, Groups], np.ndarray]:
    from torchmetrics.functional.text import rouge_score

    def call(texts: Texts, groups: Groups) -> np.ndarray:
        scored = [
            rouge_score(text, [list(group)], accumulate="best", use_stemmer=stemmer, rouge_keys=TYPES)
            for text, group in zip(texts, groups, strict=True)
        ]
        return np.array([[float(score[f"{kind}_fmeasure"]) for kind in TYPES] for score in scored])

    return call


# ------------------------------------------------------------------------------------------------------ BLEU


def forget_sacrebleu() -> None:
    """Empty the caches of sacrebleu's tokenizers, which live as long as the process."""
    from sacrebleu.tokenizers import tokenizer_13a, tokenizer_re

    tokenizer_13a.Tokenizer13a.__call__.cache_clear()
    tokenizer_re.TokenizerRegexp.__call__.cache_clear()


def sacrebleu_sentences(texts: Texts, groups: Groups) -> np.ndarray:
    from sacrebleu.metrics import BLEU

    forget_sacrebleu()
    metric = BLEU(effective_order=True)
    return np.array([metric.sentence_score(text, group).score for text, group in zip(texts, groups, strict=True)])


def nltk_sentences(texts: Texts, groups: Groups) -> np.ndarray:
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    cut, smooth = load_tokenizer("13a"), SmoothingFunction().method3
    return np.array([
        100 * sentence_bleu([cut(reference) for reference in group], cut(text), smoothing_function=smooth)
        for text, group in zip(texts, groups, strict=True)
    ])  # fmt: skip


def torchmetrics_sentences(texts: Texts, groups: Groups) -> np.ndarray:
    from torchmetrics.functional.text import sacre_bleu_score

    scored = [sacre_bleu_score([text], [list(group)]) for text, group in zip(texts, groups, strict=True)]
    return np.array([100 * float(score) for score in scored])


def sacrebleu_corpus(texts: Texts, groups: Groups) -> np.ndarray:
    from sacrebleu.metrics import BLEU

    forget_sacrebleu()
    return np.array([BLEU().corpus_score(list(texts), [list(s) for s in zip(*groups, strict=True)]).score])


def sentence_peers() -> list[Peer]:
    peers = [Peer("sacrebleu", sacrebleu_sentences), Peer("nltk", nltk_sentences, slow=True)]
    ours = Peer("summeval_nb", lambda texts, groups: bleu_many(texts, groups).scores)
    return [*peers, Peer("torchmetrics", torchmetrics_sentences, slow=True), ours]


def corpus_peers() -> list[Peer]:
    ours = Peer("summeval_nb", lambda texts, groups: np.array([float(corpus_bleu(texts, groups))]))
    return [Peer("sacrebleu", sacrebleu_corpus), ours]


# ------------------------------------------------------------------------------------------------------ chrF, TER


def chrf_peers() -> list[Peer]:
    from sacrebleu.metrics import CHRF

    def theirs(texts: Texts, groups: Groups) -> np.ndarray:
        metric = CHRF(word_order=2)
        return np.array([metric.sentence_score(text, group).score for text, group in zip(texts, groups, strict=True)])

    ours = Peer("summeval_nb", lambda texts, groups: chrf_many(texts, groups, word_order=2).scores)
    return [Peer("sacrebleu", theirs, slow=True), ours]


def ter_peers() -> list[Peer]:
    from sacrebleu.metrics import TER

    def theirs(texts: Texts, groups: Groups) -> np.ndarray:
        return np.array([TER().sentence_score(text, group).score for text, group in zip(texts, groups, strict=True)])

    ours = Peer("summeval_nb", lambda texts, groups: ter_many(texts, groups).scores)
    return [Peer("sacrebleu", theirs, slow=True), ours]


# ------------------------------------------------------------------------------------------------------ the run


def cpu(peer: Peer, texts: Texts, groups: Groups) -> tuple[float, np.ndarray]:
    start = time.process_time()
    result = peer.call(texts, groups)
    return time.process_time() - start, result


def measure(peers: list[Peer], texts: Texts, groups: Groups, rounds: int, share: int) -> dict[str, tuple[float, float]]:
    """Return for each peer its seconds and its greatest difference from the first one."""
    seconds: dict[str, float] = {}
    results: dict[str, np.ndarray] = {}
    for turn in range(rounds):  # the peers take turns, so that a busy minute hits all of them
        for peer in peers:
            if peer.slow and turn:
                continue
            step = share if peer.slow else 1
            taken, results[peer.name] = cpu(peer, texts[::step], groups[::step])
            seconds[peer.name] = min(taken * step, seconds.get(peer.name, np.inf))
    found = {}
    for peer in peers:
        mine, first = results[peer.name], results[peers[0].name]
        if len(mine) != len(first):  # one of them saw every eighth text only
            mine, first = (a if len(a) == min(len(mine), len(first)) else a[::share] for a in (mine, first))
        found[peer.name] = (seconds[peer.name], float(np.abs(mine - first).max()))
    return found


def report(task: str, kind: str, count: int, peers: list[Peer], found: dict[str, tuple[float, float]]) -> bool:
    """Print one task and return whether the floor is reached and our numbers equal the first peer's."""
    base = found[peers[0].name][0]
    print(f"\n{task}, {count} reference{'s' if count > 1 else ''}")
    for peer in peers:
        taken, difference = found[peer.name]
        note = "" if peer is peers[0] else f"   greatest difference {difference:.1e}"
        print(f"  {peer.name + ('*' if peer.slow else ''):18}{taken:9.3f} s{base / taken:9.1f} x{note}")
    floor, goal = TARGETS[kind, count]
    taken, difference = found["summeval_nb"]
    reached = base / taken
    verdict = "goal reached" if reached >= goal else "floor reached" if reached >= floor else "FLOOR MISSED"
    print(f"  {verdict}: {reached:.1f} x {peers[0].name} (floor {floor}, goal {goal})")
    if "rouge-score-rs" in found:
        for name in ("summeval_nb", "summeval_nb, fast"):
            print(f"  {name} against rouge-score-rs: {found['rouge-score-rs'][0] / found[name][0]:.2f} x")
        difference = max(difference, found["summeval_nb, fast"][1])
    return reached >= floor and difference <= TOLERANCE[kind]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="how often the fast ones run; the best counts")
    parser.add_argument("--slow-share", type=int, default=8, help="the slow ones see every n-th summary")
    parser.add_argument("--only", choices=["rouge", "lsum", "bleu", "chrf", "ter"], help="one of the kinds")
    arguments = parser.parse_args()
    if "SUMMEVAL_NB_DATA" not in os.environ:
        print("skipped: needs the real data sets (SUMMEVAL_NB_DATA)")
        return 0
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    texts, references = summeval()
    bulk_warm_up = texts[:50], references[:50]
    rouge_many(*bulk_warm_up, types=TYPES, stemmer=True)
    bleu_many(*bulk_warm_up)
    good = True
    for count in (1, 11):
        groups = [list(group[:count]) for group in references]
        tasks = [(f"ROUGE-1/2/L {word}", "rouge", rouge_peers(word == "stemmed")) for word in ("unstemmed", "stemmed")]
        for word in ("unstemmed", "stemmed"):
            tasks.append((f"ROUGE-Lsum {word}", "lsum", rouge_peers(word == "stemmed", ("rougeLsum",))))
        tasks += [("sentence BLEU", "bleu", sentence_peers()), ("corpus BLEU", "bleu", corpus_peers())]
        tasks += [("chrF++", "chrf", chrf_peers()), ("TER", "ter", ter_peers())]
        for task, kind, peers in tasks:
            if arguments.only not in (None, kind):
                continue
            few = slice(None, None, 40) if kind == "ter" else slice(None)
            found = measure(peers, texts[few], groups[few], arguments.rounds, arguments.slow_share)
            good &= report(task, kind, count, peers, found)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
