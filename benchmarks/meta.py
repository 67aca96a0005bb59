"""Meta-evaluation: speed beside mteb and a plain loop over scipy, and the numbers that chapters 64 and 66 show.

    python benchmarks/meta.py [speed [DATA]]   ratios in one process, one core
    python benchmarks/meta.py tables [DATA]    writes summeval_nb/assets/summeval_real.npz (numbers, no text)
    python benchmarks/meta.py judges [DATA]    writes summeval_nb/assets/summeval_judges.npz: what language models said

DATA is the folder of the real data sets; without it the variable SUMMEVAL_NB_DATA is used.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy import stats

from summeval_nb.agreement.coefficients import LEVELS
from summeval_nb.agreement.correlation import correlate
from summeval_nb.agreement.registry import load_metric
from summeval_nb.agreement.summeval import SIMILARITIES, similarity_tables
from summeval_nb.agreement.tables import embed_summaries, metric_scores, reference_similarities, summeval_scores
from summeval_nb.core.data import QUALITIES, SummEval, load_summeval
from summeval_nb.text.embed import load_embedder

ASSET = Path(__file__).parents[1] / "summeval_nb" / "assets" / "summeval_real.npz"
JUDGES = ASSET.with_name("summeval_judges.npz")
SHIPPED = ("length", "bleu", "rouge1", "rouge2", "rougeL", "chrf", "bertscore", "embedding", "faithfulness")
ALSO = ("coverage", "ter", "meteor")  # for the case study only


class Hashed:
    """Counts of pieces of a text, hashed into places: a bag of words or of character trigrams."""

    def __init__(self, pieces: str, places: int = 512):
        self.pieces, self.places, self.fingerprint = pieces, places, f"hashed-{pieces}-{places}"

    def encode(self, sentences: list[str]) -> np.ndarray:
        vectors = np.zeros((len(sentences), self.places))
        for row, text in enumerate(sentences):
            text = text.lower()
            words = text.split() if self.pieces == "words" else [text[i : i + 3] for i in range(len(text) - 2)]
            for word in words:
                vectors[row, int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest()) % self.places] += 1
        return vectors


class Lengths:
    """Knows only how many words a text has."""

    fingerprint = "lengths"

    def encode(self, sentences: list[str]) -> np.ndarray:
        return np.array([[len(text.split()) / 50, 1.0] for text in sentences])


class Random:
    """Random vectors, the same for the same text."""

    fingerprint = "random"

    def encode(self, sentences: list[str]) -> np.ndarray:
        seeds = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) for text in sentences]
        return np.array([np.random.default_rng(seed).normal(size=64) for seed in seeds])


class Given:
    """Embeddings computed before, optionally only their first dimensions."""

    def __init__(self, vectors: dict[str, np.ndarray], dimensions: int = 384):
        self.vectors, self.dimensions, self.fingerprint = vectors, dimensions, f"given-{dimensions}"

    def encode(self, sentences: list[str]) -> np.ndarray:
        return np.stack([self.vectors[text][: self.dimensions] for text in sentences])


def minilm_vectors(data: SummEval) -> dict[str, np.ndarray]:
    """MiniLM's vector of every summary and reference."""
    texts = list(dict.fromkeys([t for row in (*data.summaries, *data.references) for t in row]))
    return dict(zip(texts, load_embedder("minilm").encode(texts), strict=True))


def write_tables(data: SummEval) -> None:
    """Write ratings, similarities and metric scores: numbers only."""
    vectors = minilm_vectors(data)
    machine, human = embed_summaries(data, Given(vectors))
    cosine = similarity_tables(machine.astype(float), np.stack(human).astype(float), "cosine")
    thirds = np.stack([np.round(data.ratings[q] * 3) for q in QUALITIES], axis=-1).astype(np.int8)
    tables: dict[str, np.ndarray] = {"thirds": thirds, "cosine": np.round(cosine, 12).astype(np.float32)}
    embedders = {"minilm": Given(vectors), "minilm-64": Given(vectors, 64), "words": Hashed("words")}
    embedders |= {"trigrams": Hashed("trigrams"), "lengths": Lengths(), "random": Random()}
    for name, embedder in embedders.items():
        tables[f"embedder_{name}"] = reference_similarities(*embed_summaries(data, embedder))
    tables["systems"] = np.array(data.systems)
    for name in (*SHIPPED, *ALSO):
        try:
            embedder = Given(vectors) if name == "embedding" else "minilm"
            metric = load_metric("meteor", synonyms=None) if name == "meteor" else name  # without WordNet's data
            kind = "also" if name in ALSO else "metric"
            tables[f"{kind}_{name}"] = metric_scores(data, {name: metric}, embedder=embedder)[name].astype(np.float32)
        except (ImportError, LookupError) as error:
            print(f"left out {name}: {error}")
    np.savez_compressed(ASSET, **tables)
    print(f"{ASSET.name}: {len(tables)} tables, {ASSET.stat().st_size / 1024:.0f} KB")


def write_judges(data: SummEval, folder: Path) -> None:
    """Write the grades and choices of Shen et al. 2023 (DAMO-NLP-SG/LLM_summeval): numbers only, halves, 0 unread."""
    grades, answers = (
        [
            json.loads(line)
            for line in gzip.decompress((folder / f"llm_{name}_summeval.jsonl.gz").read_bytes()).splitlines()
        ]
        for name in ("judges", "pairs")
    )
    sizes = ("gpt-4", "gpt-3.5", "llama-2-70b", "llama-2-13b", "llama-2-7b")
    named = {name: next(size for size in sizes if name.startswith(size)) for name in {row["judge"] for row in grades}}
    prompts = ("rts", "altrts", "mcq", "altmcq", "stareval")
    asked = {(named[row["judge"]], row["prompt"]) for row in grades}
    judges = [pair for pair in ((size, prompt) for size in sizes for prompt in prompts) if pair in asked]
    systems = sorted({row["system"] for row in grades}, key=data.systems.index)
    halves = np.zeros((len(judges), len(data.ids), len(systems), len(QUALITIES)), np.int8)
    for row in grades:
        place = judges.index((named[row["judge"]], row["prompt"])), systems.index(row["system"])
        column = [2 * (row["scores"][name] or 0) for name in data.ids]
        halves[place[0], :, place[1], QUALITIES.index(row["quality"])] = column
    pairs = sorted({(row["first"], row["second"]) for row in answers})
    choices, value = np.zeros((len(QUALITIES), len(pairs), len(data.ids)), np.int8), {"first": 1, "second": -1}
    for row in answers:
        place = QUALITIES.index(row["quality"]), pairs.index((row["first"], row["second"]))
        choices[place] = [value.get(row["choices"][name], 0) for name in data.ids]
    tables = {"halves": halves, "choices": choices, "judges": np.array([" ".join(judge) for judge in judges])}
    np.savez_compressed(JUDGES, systems=np.array(systems), pairs=np.array(pairs), **tables)
    print(f"{JUDGES.name}: {halves.shape} grades, {choices.shape} choices, {JUDGES.stat().st_size / 1024:.0f} KB")


def mteb_scores(data: SummEval, vectors: dict[str, np.ndarray], *, deprecated: bool = False) -> tuple[dict, float]:
    """Scores by mteb's evaluator class on the same vectors, and the seconds of its scoring."""
    import mteb.timing
    import torch
    from mteb._evaluators.text import summarization_evaluator as peer

    class Model:
        def encode(self, inputs, **options):
            stacked = np.stack([vectors[text] for batch in inputs for text in batch["text"]])
            return torch.tensor(stacked, dtype=torch.float64)  # arrays would be cut to single precision

        def similarity(self, a, b):
            a, b = torch.as_tensor(a), torch.as_tensor(b)
            return a @ b / (a.norm() * b.norm())

    kind = peer.DeprecatedSummarizationEvaluator if deprecated else peer.SummarizationEvaluator
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluator = kind(
            human_summaries=data.references,
            machine_summaries=data.summaries,
            texts=data.sources,
            gold_scores=(data.ratings["relevance"] / 5).tolist(),
            task_metadata=None,
            hf_split="test",
            hf_subset="default",
            timer=mteb.timing.TimingStack(),
        )
        started = time.perf_counter()
        scores = evaluator._calculate_metrics(evaluator(Model(), encode_kwargs={}))
    return dict(scores), time.perf_counter() - started


def median_seconds(call, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return float(np.median(times))


def task_speed(data: SummEval) -> None:
    """Scoring with the embeddings given, beside mteb's evaluator."""
    rng = np.random.default_rng(0)
    texts = list(dict.fromkeys([t for row in (*data.summaries, *data.references) for t in row]))
    vectors = {text: rng.normal(size=384).astype(np.float32) for text in texts}
    machine, human = embed_summaries(data, Given(vectors))

    def ours() -> dict[str, float]:
        tables = {kind: reference_similarities(machine, human, similarity=kind) for kind in SIMILARITIES}
        return summeval_scores(tables, data.ratings["relevance"])[0]

    peer = [mteb_scores(data, vectors) for _ in range(5)]
    seconds, theirs = median_seconds(ours, 15), float(np.median([t for _, t in peer]))
    found = ours()
    worst = max(abs(found[name] - peer[0][0][name]) for name in ("cosine_spearman", "cosine_pearson", "dot_spearman"))
    print(
        f"task with embeddings given: mteb {theirs * 1e3:.0f} ms, ours {seconds * 1e3:.1f} ms: {theirs / seconds:.0f} x"
    )
    print(f"  greatest difference {worst:.1e}")


def plain_loop(metric: np.ndarray, human: np.ndarray, level: str, n: int) -> None:
    """The bootstrap as most people write it."""
    rng = np.random.default_rng(0)
    for _ in range(n):
        rows, columns = (
            rng.integers(0, metric.shape[0], metric.shape[0]),
            rng.integers(0, metric.shape[1], metric.shape[1]),
        )
        x, y = metric[np.ix_(rows, columns)], human[np.ix_(rows, columns)]
        if level == "summary":
            np.nanmean([stats.kendalltau(a, b).statistic for a, b in zip(x, y, strict=True)])
        elif level == "system":
            stats.kendalltau(x.mean(axis=0), y.mean(axis=0))
        else:
            stats.kendalltau(x.ravel(), y.ravel())


def bootstrap_speed(data: SummEval) -> None:
    """1,000 resamples for 10 metrics x 4 qualities x 3 levels x Kendall, beside the plain loop (extrapolated)."""
    rng = np.random.default_rng(0)
    base = data.ratings["relevance"]
    metrics = [base + rng.normal(0, sd, base.shape) for sd in np.linspace(0.5, 5, 10)]
    plain = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for level in LEVELS:
            n = 3 if level == "summary" else 20
            plain[level] = (
                median_seconds(lambda level=level, n=n: plain_loop(metrics[0], base, level, n), 5) / n * 1000 * 40
            )
    total = 0.0
    for level in LEVELS:
        started = time.perf_counter()
        for metric in metrics:
            for quality in QUALITIES:
                correlate(metric, data.ratings[quality], level=level)
        seconds = time.perf_counter() - started
        total += seconds
        ratio = plain[level] / seconds
        print(
            f"bootstrap, {level} level: plain {plain[level]:.0f} s (extrapolated), ours {seconds:.2f} s: {ratio:.0f} x"
        )
    print(f"bootstrap, all: plain {sum(plain.values()):.0f} s, ours {total:.1f} s: {sum(plain.values()) / total:.0f} x")


def main() -> None:
    """Run the task that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", nargs="?", choices=["speed", "tables", "judges"], default="speed")
    parser.add_argument("folder", nargs="?", default=os.environ.get("SUMMEVAL_NB_DATA"))
    options = parser.parse_args()
    if not options.folder:
        print("skipped: needs the real data sets (SUMMEVAL_NB_DATA)")
        return
    summeval = load_summeval(Path(options.folder) / "summeval.jsonl.gz")
    if options.task == "tables":
        write_tables(summeval)
    elif options.task == "judges":
        write_judges(summeval, Path(options.folder))
    else:
        task_speed(summeval)
        bootstrap_speed(summeval)


if __name__ == "__main__":
    main()
