"""Kills in a long night: python -m tests.torture.night FOLDER

63 kills at drawn moments of a run with two workers over 2,000 rows, then 300,000 rows of BLEU with kills in between.
The results of both must be those of a run that nobody disturbed, byte for byte.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

from .runs import rows

RUN = """
import sys, time
from summeval_nb import run
from summeval_nb.overlap import bleu_score
def slow(row):
    time.sleep(0.001)
    return bleu_score(row["candidate"], row["references"])
slow.fingerprint = "slow v1"
metric = {"slow": slow, "bleu": "bleu"}[sys.argv[3]]
workers, size = map(int, sys.argv[4:])
report = run(sys.argv[1], metric, out=sys.argv[2], workers=workers, batch_size=size, progress=False)
print(report.info["items"], report.info["kept_from_before"], report.mean())
"""


def _start(corpus: Path, name: str, how: tuple[str, str], out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, str(corpus), str(out), name, *how]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)


def kept(out: Path) -> int:
    """How many rows a run has written so far."""
    if not (out / "run.sqlite").exists():
        return 0
    with closing(sqlite3.connect(out / "run.sqlite", timeout=60)) as data:
        return int(data.execute("SELECT count(*) FROM items").fetchone()[0])


def main(folder: Path) -> None:
    """Write both corpora, run them undisturbed and killed, and compare."""
    rng = random.Random(0)
    folder.mkdir(parents=True, exist_ok=True)
    for name, count, kills, how in (("slow", 2_000, 63, ("2", "10")), ("bleu", 300_000, 12, ("0", "500"))):
        corpus = folder / f"{name}.jsonl"
        with corpus.open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows(rng, count, strange=False))

        start = partial(_start, corpus, name, how)
        whole = start(folder / f"{name}-whole").communicate()[0]
        out, killed = folder / f"{name}-killed", 0
        while killed < kills:
            process, before = start(out), kept(out)
            wanted = before + rng.choice([0, count // kills // 2, count // kills])
            moment = time.monotonic() + (rng.uniform(0, 2) if wanted == before else 60)
            while process.poll() is None and time.monotonic() < moment and (kept(out) < wanted or wanted == before):
                time.sleep(0.001)
            killed += process.poll() is None
            process.kill()
            process.communicate()
        last = start(out).communicate()[0]
        same = [(folder / f"{name}-{kind}" / "results.jsonl").read_bytes() for kind in ("whole", "killed")]
        print(f"{count:,} rows, {killed} kills: {'the same' if same[0] == same[1] else 'OTHER'} bytes; {whole} {last}")
        if same[0] != same[1]:
            raise SystemExit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
