"""Runs at scale: what `run` costs over the bare metric, how time and memory grow, and what workers and Ray bring.

    python benchmarks/scale.py [--quick] [--ray]

Each measurement is a process of its own (so that memory peaks are its own), on generated items of known length. The
bare metric gets the same texts as lists in memory. Ratios are what counts; absolute numbers depend on the machine.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]

MEASURE = """
import json, random, resource, sys, time
task, count, out, extra = sys.argv[1], int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
metric, mode = task.split("-")
vocabulary = [f"word{i}" for i in range(2000)]

def items():
    rng = random.Random(0)
    for i in range(count):
        made, wanted = (" ".join(rng.choices(vocabulary, k=55)) + "." for _ in range(2))
        if metric == "bleu":
            yield {"id": i, "candidate": made, "references": wanted}
        else:
            text = " ".join(" ".join(rng.choices(vocabulary, k=15)).capitalize() + "." for _ in range(12))
            yield {"id": i, "text": text, "summary": text.split(". ")[3] + ". " + made.capitalize()}

if mode == "file":  # write the corpus once
    with open(out, "w") as file:
        for row in items():
            file.write(json.dumps(row) + "\\n")
    print(json.dumps({}))
    raise SystemExit
from summeval_nb.batch import run
if mode == "bare":
    with open(extra["file"]) as file:
        rows = [json.loads(line) for line in file]
    if metric == "bleu":
        from summeval_nb.bleu import bleu_many as many
        columns = [row["candidate"] for row in rows], [row["references"] for row in rows]
    else:
        from summeval_nb.faithfulness import evaluate_many
        many = lambda texts, summaries: evaluate_many(texts, summaries, progress=False)
        columns = [row["text"] for row in rows], [row["summary"] for row in rows]
    many(*(column[:2] for column in columns))  # models loaded
    start, work = time.perf_counter(), time.process_time()
    many(*columns)
    seconds, cpu = time.perf_counter() - start, time.process_time() - work
else:
    start, work = time.perf_counter(), time.process_time()
    run(extra.pop("file"), metric, out=out, progress=False, **extra)
    seconds = time.perf_counter() - start
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = time.process_time() - work + children.ru_utime + children.ru_stime
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": seconds, "cpu": cpu, "rate": count / seconds, "peak_mb": peak}))
"""


def measure(task, count, **extra):
    with tempfile.TemporaryDirectory() as folder:
        out = extra.pop("to", str(Path(folder) / "out"))
        places = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-c", MEASURE, task, str(count), out, json.dumps(extra)]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": places}, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def overhead(metric, count, corpus, limit):
    """`run` in this process and with one worker process, whose start counts, against the bare metric."""

    def best(mode, **extra):
        twice = [measure(f"{metric}-{mode}", count, file=corpus, **extra) for _ in range(2)]
        return min(twice, key=lambda one: one["seconds"])

    bare = best("bare")
    print(f"\n{metric}, {count:,} items: bare {bare['rate']:,.0f} items/s")
    for name, workers in (("run, in this process", 0), ("run, one worker process", 1)):
        one = best("run", workers=workers)
        cost, work = one["seconds"] / bare["seconds"] - 1, one["cpu"] / bare["cpu"] - 1
        print(
            f"  {name:<24} {one['rate']:>9,.0f} items/s  {cost:+.0%} of time, {work:+.0%} of work (goal {limit:+.0%})"
        )


def growth(sizes, files):
    print("\ngrowth, BLEU, one worker: time per item and the driver's peak memory")
    found = [measure("bleu-run", size, file=files[size], workers=1) for size in sizes]
    for size, one in zip(sizes, found, strict=True):
        print(f"  {size:>8,} items  {1e6 * one['seconds'] / size:>8.1f} us/item  {one['peak_mb']:>6.0f} MB")
    print(f"  memory {found[-1]['peak_mb'] / found[0]['peak_mb']:.2f}x (goal: at most 1.20x)")


def engines(metric, count, corpus, with_ray):
    print(f"\nengines, {metric}, {count:,} items, start included")
    kinds = {"local, 1 worker": {"workers": 1}, "local, 2 workers": {"workers": 2}}
    if with_ray:
        kinds["ray, 2 actors"] = {"engine": "ray", "workers": 2}
    for name, extra in kinds.items():
        one = measure(f"{metric}-run", count, file=corpus, **extra)
        print(f"  {name:<18} {one['rate']:>9,.0f} items/s  {one['seconds']:>6.1f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the items")
    parser.add_argument("--ray", action="store_true", help="also Ray with two actors on this machine")
    arguments = parser.parse_args()
    sizes = [1_000, 10_000] if arguments.quick else [1_000, 10_000, 100_000]
    faithful = 200 if arguments.quick else 1_000
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        files = {size: str(Path(folder) / f"{size}.jsonl") for size in sizes}
        for size, path in files.items():
            measure("bleu-file", size, to=path)
        pairs = str(Path(folder) / "pairs.jsonl")
        measure("faithfulness-file", faithful, to=pairs)
        growth(sizes, files)
        overhead("bleu", sizes[-1], files[sizes[-1]], 0.25)
        engines("bleu", sizes[-1], files[sizes[-1]], arguments.ray)
        overhead("faithfulness", faithful, pairs, 0.10)
        engines("faithfulness", faithful, pairs, arguments.ray)
    print(f"\n{time.perf_counter() - start:.0f} s; numbers of a busy machine are noisy, ratios less so")


if __name__ == "__main__":
    main()
