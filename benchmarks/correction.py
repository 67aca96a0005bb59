"""How often the intervals of `correct_score` hold the truth, and how wide they are beside those of labels alone.

    python benchmarks/correction.py [DRAWINGS]     1000 by default; no model runs

Items, labels and left-out probabilities are those of `how_well_items.csv.gz`. A drawing takes a table of as many items
as the set has, with replacement, and the first n of it have labels. With the scope `table` it mixes the set's own
items. The share of the whole set is the truth in both. The column *held* is the figure to look at.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from summeval_nb.agreement.annotators import MIN_LABELS, corrected

ITEMS = Path(__file__).with_name("how_well_items.csv.gz")
SETS, LABELS = ("qags_cnndm", "summeval"), (MIN_LABELS, 60, 120)


def judged(key: str, checker: str) -> tuple[np.ndarray, np.ndarray]:
    """Labels of people and the checker's probabilities, one place an item."""
    with gzip.open(ITEMS, "rt", encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle) if (row["key"], row["checker"]) == (key, checker)]
    return np.array([row["label"] == "1" for row in rows]), np.array([float(row["probability"]) for row in rows])


def judges(key: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Each judge by name, with labels and verdicts: two checkers and one that throws dice."""
    for checker in ("embedded", "words"):
        yield checker, *judged(key, checker)
    people, _ = judged(key, "embedded")
    yield "random", people, np.random.default_rng(0).random(len(people))


def drawings(people: np.ndarray, judge: np.ndarray, n: int, scope: str, times: int) -> dict[str, float]:
    """What `times` drawings of n labels give."""
    rng, items, found, refused = np.random.default_rng(1), len(people), [], 0
    for _ in range(times):
        drawn = rng.integers(0, items, items) if scope == "population" else rng.permutation(items)
        y, f = people[drawn].astype(float), judge[drawn]
        if len(set(y[:n].tolist())) < 2:
            refused += 1
            continue
        one = corrected(y[:n], f[:n], f[n:], scope=scope)
        widths = [high - low for low, high in (one.interval, one.labels_interval)]
        held = one.interval[0] <= people.mean() <= one.interval[1]
        found.append((held, widths[0] / widths[1], one.weight))
    held, ratio, weight = np.array(found, dtype=float).T
    numbers = {"held": held.mean(), "width": ratio.mean(), "widest": ratio.max(), "weight": weight.mean()}
    return {name: float(value) for name, value in numbers.items()} | {"refused": refused}


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{times} drawings; width and widest are ratios to the interval of labels alone")
    print(
        f"{'set':12}{'judge':10}{'scope':12}{'labels':>6}{'held':>8}{'width':>8}{'widest':>8}{'weight':>8}{'refused':>9}"
    )
    for key in SETS:
        for name, people, judge in judges(key):
            for scope in ("population", "table"):
                for n in LABELS:
                    got = drawings(people, judge, n, scope, times)
                    line = "".join(f"{got[part]:8.3f}" for part in ("held", "width", "widest", "weight"))
                    print(f"{key:12}{name:10}{scope:12}{n:6}{line}{got['refused']:9.0f}", flush=True)


if __name__ == "__main__":
    main()
