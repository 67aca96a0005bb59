"""Runs at scale: what `run` costs over the bare metric, how time and memory grow, and what workers and Ray bring.

    python benchmarks/scale.py [--quick] [--no-ray]

Each measurement is a process of its own, so that peaks of memory are its own, on generated items that have the shape of
SummEval: sixteen summaries of 60 words share their eleven references (BLEU), or their article of twelve sentences
(faithfulness). The bare metric gets the same texts as lists in memory. Of two measurements the faster one counts. The
last lines hold each number against its floor; the exit code is 1 if one is not met. About eight minutes on two idle
cores; `--quick` takes a tenth of the items, whose start then weighs more, and gives no verdict.
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
BATCH = 500  # in the measurement of growth, so that the smallest corpus has two full batches

MEASURE = """
import json, random, sys, threading, time
from pathlib import Path
task, count, out, extra = sys.argv[1], int(sys.argv[2]), sys.argv[3], json.loads(sys.argv[4])
metric, mode = task.split("-")

def items():
    rng = random.Random(0)
    if metric == "faithfulness":  # words that a model's tokenizer knows
        from summeval_nb.core.data import sample_articles
        texts = " ".join(one.text for one in sample_articles())
        vocabulary = list(dict.fromkeys(word.strip('.,"').lower() for word in texts.split()))
    else:
        vocabulary = [f"{'abcdefgh'[i % 8]}{i}" for i in range(20_000)]
    weights = [1 / (i + 3) for i in range(len(vocabulary))]  # few words are frequent, as in language
    words = iter(lambda: rng.choices(vocabulary, weights, k=60), None)
    for i in range(count):
        if i % 16 == 0:
            shared = [" ".join(next(words)) + " ." for _ in range(11)]
            article = " ".join(" ".join(next(words)[:20]).capitalize() + "." for _ in range(12))
        made = next(words)
        if metric == "faithfulness":
            summary = " ".join(" ".join(made[k : k + 20]).capitalize() + "." for k in (0, 20, 40))
            yield {"id": i, "text": article, "summary": summary}
        else:
            yield {"id": i, "candidate": " ".join(made) + " .", "references": shared if extra["many"] else shared[0]}

def peak(pid="self"):  # unlike ru_maxrss, this one does not begin with the peak of the process that started us
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024 if "VmHWM:" in status else 0

def watch(found):
    while True:
        for task in Path("/proc/self/task").iterdir():
            for child in (task / "children").read_text().split():
                try:
                    found[child] = max(found.get(child, 0), peak(child))
                except OSError:
                    pass
        time.sleep(0.1)

def cpu():
    import resource
    kinds = [resource.getrusage(kind) for kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in kinds)

if mode == "file":  # write the corpus once
    with open(out, "w") as file:
        for row in items():
            file.write(json.dumps(row) + "\\n")
    print(json.dumps({}))
    raise SystemExit
from summeval_nb.runs.running import run
children = {}
if mode == "bare":
    with open(extra["file"]) as file:
        rows = [json.loads(line) for line in file]
    if metric == "bleu":
        from summeval_nb.overlap.translation import bleu_many

        def many(candidates, references):  # in lots: all at once is slower, because it does not fit into the caches
            for k in range(0, len(candidates), 2000):
                bleu_many(candidates[k : k + 2000], references[k : k + 2000])
        columns = [row["candidate"] for row in rows], [row["references"] for row in rows]
    else:
        from summeval_nb.evidence.faithfulness import evaluate_many
        many = lambda texts, summaries: evaluate_many(texts, summaries, progress=False)
        columns = [row["text"] for row in rows], [row["summary"] for row in rows]
    del rows
    many(*(column[:2] for column in columns))  # models loaded
    start, work = time.perf_counter(), cpu()
    many(*columns)
else:
    corpus, spent = extra.pop("file"), []
    if extra.get("engine") == "ray":  # which a run joins, and does not start
        import ray
        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    if extra.pop("warm", False):  # what a run of two items takes: to start workers, to load models
        with open(corpus) as file:
            two = [json.loads(next(file)) for _ in range(2)]
        for name in ("first", "second"):
            start, work = time.perf_counter(), cpu()
            run(two, metric, out=f"{out}-{name}", progress=False, **extra)
            spent = [time.perf_counter() - start, cpu() - work]
    threading.Thread(target=watch, args=(children,), daemon=True).start()
    start, work = time.perf_counter(), cpu()
    run(corpus, metric, out=out, progress=False, **extra)
seconds, work = time.perf_counter() - start, cpu() - work
found = {"seconds": seconds, "cpu": work, "driver": peak(), "worker": max(children.values(), default=0)}
found["start"], found["start_cpu"] = spent if mode == "run" and spent else (0.0, 0.0)
print(json.dumps(found))
"""


def measure(task, count, **extra):
    with tempfile.TemporaryDirectory() as folder:
        out = extra.pop("to", str(Path(folder) / "out"))
        places = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "-c", MEASURE, task, str(count), out, json.dumps(extra)]
        environment = {**os.environ, "PYTHONPATH": places, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def best(*arguments, **extra):
    return min((measure(*arguments, **dict(extra)) for _ in range(2)), key=lambda run: run["seconds"])


def overhead(metric, count, corpus, limit, floors):
    """`run` in this process and with one worker process against the bare metric, each without its start."""
    bare = best(f"{metric}-bare", count, file=corpus)
    print(f"\n{metric}, {count:,} items: bare {count / bare['seconds']:,.0f} items/s")
    for name, workers in (("in this process", 0), ("one worker process", 1)):
        run = best(f"{metric}-run", count, file=corpus, workers=workers, warm=True)
        seconds, work = run["seconds"] - run["start"], run["cpu"] - run["start_cpu"]
        costs = {"time": seconds / bare["seconds"] - 1, "processor": work / bare["cpu"] - 1}
        shown = ", ".join(f"{cost:+.0%} of {what}" for what, cost in costs.items())
        print(f"  run, {name:<20} {count / seconds:>9,.0f} items/s  {shown}, start {run['start']:.1f} s")
        floors[f"overhead, {metric}, {name}"] = (costs["time"], limit, "{:+.0%}")


def growth(sizes, files, floors):
    print(f"\ngrowth, BLEU with one reference, one worker, batches of {BATCH}: time per item, peaks of memory")
    found = [measure("bleu-run", size, file=files[size], workers=1, batch_size=BATCH) for size in sizes]
    for size, run_of_size in zip(sizes, found, strict=True):
        memory = f"driver {run_of_size['driver']:>5.0f} MB, worker {run_of_size['worker']:>5.0f} MB"
        print(f"  {size:>8,} items  {1e6 * run_of_size['seconds'] / size:>8.1f} us/item  {memory}")
    each = [run_of_size["seconds"] / size for size, run_of_size in zip(sizes, found, strict=True)]
    floors["growth, time per item, last to middle"] = (each[-1] / each[-2], 1.2, "{:.2f}x")
    for who in ("driver", "worker"):
        floors[f"growth, memory of the {who}, last to first"] = (found[-1][who] / found[0][who], 1.2, "{:.2f}x")


def engines(metric, count, corpus, with_ray):
    print(f"\nengines, {metric}, {count:,} items, their start included")
    kinds = {"local, 1 worker": {"workers": 1}, "local, 2 workers": {"workers": 2}}
    if with_ray:
        kinds["ray, 2 actors"] = {"engine": "ray", "workers": 2}
    for name, extra in kinds.items():
        run = measure(f"{metric}-run", count, file=corpus, batch_size=max(20, min(BATCH, count // 16)), **extra)
        print(f"  {name:<18} {count / run['seconds']:>9,.0f} items/s  {run['seconds']:>6.1f} s")


def judge(floors):
    """Print each number beside its floor; return whether all are met."""
    print("\nfloors")
    for name, (value, limit, form) in floors.items():
        word = "met" if value <= limit else "NOT MET"
        print(f"  {name:<48} {form.format(value):>7}  at most {form.format(limit):>6}  {word}")
    return all(value <= limit for value, limit, _ in floors.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the items, no verdict")
    parser.add_argument("--no-ray", action="store_true", help="leave Ray out")
    arguments = parser.parse_args()
    small = 10 if arguments.quick else 1
    sizes, pairs, faithful = [1_000, 10_000, 100_000 // small], 40_000 // small, 320 // small
    sizes = sorted({1_000, *sizes})
    start, floors = time.perf_counter(), {}
    with tempfile.TemporaryDirectory() as folder:
        files = {size: str(Path(folder) / f"{size}.jsonl") for size in sizes}
        for size, path in files.items():
            measure("bleu-file", size, to=path, many=False)
        many, texts = str(Path(folder) / "many.jsonl"), str(Path(folder) / "texts.jsonl")
        measure("bleu-file", pairs, to=many, many=True)
        measure("faithfulness-file", faithful, to=texts)
        growth(sizes, files, floors)
        overhead("bleu", pairs, many, 0.25, floors)
        engines("bleu", pairs, many, not arguments.no_ray)
        overhead("faithfulness", faithful, texts, 0.10, floors)
        engines("faithfulness", faithful, texts, not arguments.no_ray)
    print(f"\n{time.perf_counter() - start:.0f} s; numbers of a busy machine are noisy, ratios less so")
    met = judge(floors)
    raise SystemExit(0 if met or arguments.quick else 1)


if __name__ == "__main__":
    main()
