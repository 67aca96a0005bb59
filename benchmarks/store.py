"""The store beside two usual ways of keeping answers: writes and reads a second, from three processes at once.

    python benchmarks/store.py [--count 3000]

Compared are `Store` (one verdict a call, and 64 a call as `fill_missing` does it), sqlite3 with its default settings,
and one JSON file an answer. Each process writes its own verdicts into the same store, then reads all of its own back.
Seconds are the slowest process's, counted from a common start. Exits with 1 if a floor is missed.

Floors, from three processes together: 2,000 writes and 10,000 reads a second; goals 5,000 and 20,000.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from summeval_nb import Store
from summeval_nb.core.html import text_table
from summeval_nb.models import content_key

PROCESSES = 3
FLOORS = {"writes": (2_000, 5_000), "reads": (10_000, 20_000)}
Verdict = dict[str, Any]


def verdict(i: int) -> Verdict:
    return {
        "probability": i / 10_007,
        "findings": [],
        "details": {"probability_mass": 0.99, "text": "a sentence of the summary " * 4},
    }


def ours(lot: int) -> Callable[[Path], tuple[Callable, Callable]]:
    def open_store(folder: Path) -> tuple[Callable, Callable]:
        store = Store(folder / f"ours-{lot}.sqlite")

        def write(items: dict[str, Verdict]) -> None:
            keys = list(items)
            for start in range(0, len(keys), lot):
                store.put_many("verdict", {key: items[key] for key in keys[start : start + lot]})

        def read(keys: list[str]) -> dict[str, Verdict]:
            found: dict[str, Verdict] = {}
            for start in range(0, len(keys), lot):
                found.update(store.get_many("verdict", keys[start : start + lot]))
            return found

        return write, read

    return open_store


def sqlite_defaults(folder: Path) -> tuple[Callable, Callable]:
    connection = sqlite3.connect(folder / "defaults.sqlite", timeout=60)
    connection.execute("CREATE TABLE IF NOT EXISTS items (key TEXT PRIMARY KEY, value TEXT)")

    def write(items: dict[str, Verdict]) -> None:
        for key, value in items.items():
            with connection:
                connection.execute("INSERT OR IGNORE INTO items VALUES (?, ?)", (key, json.dumps(value)))

    def read(keys: list[str]) -> dict[str, Verdict]:
        query = "SELECT value FROM items WHERE key = ?"
        return {key: json.loads(connection.execute(query, (key,)).fetchone()[0]) for key in keys}

    return write, read


def json_files(folder: Path) -> tuple[Callable, Callable]:
    place = folder / "files"
    place.mkdir(exist_ok=True)

    def write(items: dict[str, Verdict]) -> None:
        for key, value in items.items():
            (place / f"{key}.json").write_text(json.dumps(value))

    def read(keys: list[str]) -> dict[str, Verdict]:
        return {key: json.loads((place / f"{key}.json").read_text()) for key in keys}

    return write, read


WAYS: dict[str, tuple[Callable, int]] = {
    "Store, 1 a call": (ours(1), 1),
    "Store, 64 a call": (ours(64), 1),
    "sqlite3, defaults": (sqlite_defaults, 10),
    "a JSON file each": (json_files, 1),
}


def work(name: str, folder: Path, number: int, count: int, barrier: Any, results: Any) -> None:
    """One process: write, wait for the others, read back and compare."""
    write, read = WAYS[name][0](folder)
    items = {content_key(name, number, i): verdict(i) for i in range(count)}
    barrier.wait()
    start = time.perf_counter()
    write(items)
    written = time.perf_counter() - start
    barrier.wait()
    start = time.perf_counter()
    found = read(list(items))
    results.put((written, time.perf_counter() - start, found == items))


def measure(name: str, folder: Path, count: int) -> dict[str, Any]:
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(PROCESSES), context.Queue()
    arguments = [(name, folder, number, count, barrier, results) for number in range(PROCESSES)]
    processes = [context.Process(target=work, args=worker_arguments) for worker_arguments in arguments]
    for process in processes:
        process.start()
    got = [results.get(timeout=300) for _ in processes]
    for process in processes:
        process.join()
    writes, reads = (PROCESSES * count / max(measured[i] for measured in got) for i in (0, 1))
    return {
        "way": name,
        "writes/s": round(writes),
        "reads/s": round(reads),
        "equal": all(measured[2] for measured in got),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=3000, help="verdicts a process")
    count = parser.parse_args().count
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(name, Path(folder), max(1, count // share)) for name, (_, share) in WAYS.items()]
    print(text_table(rows))
    missed = not all(row["equal"] for row in rows)
    for kind, (floor, goal) in FLOORS.items():
        for row in rows[:2]:
            value = row[f"{kind}/s"]
            state = "goal reached" if value >= goal else "floor reached" if value >= floor else "FLOOR MISSED"
            print(f"{row['way']}: {value:,} {kind} a second (floor {floor:,}, goal {goal:,}): {state}")
            missed |= value < floor
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
