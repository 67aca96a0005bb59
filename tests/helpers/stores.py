"""What a store's file holds, read past `Store` and then by it."""

import sqlite3
from contextlib import closing
from pathlib import Path

from summeval_nb import Store


def sql(path: Path, *steps: str) -> list[tuple]:
    """Run statements on a file; the rows of the last one."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return [connection.execute(step).fetchall() for step in steps][-1]


def kept(path: Path) -> dict[str, dict]:
    """All that a store holds, by kind: SQLite finds its file whole, and the store reads each value."""
    assert sql(path, "PRAGMA integrity_check") == [("ok",)]
    kinds: dict[str, list[str]] = {}
    for kind, key in sql(path, "SELECT kind, key FROM items"):
        kinds.setdefault(kind, []).append(key)
    with Store(path) as store:
        found = {kind: store.get_many(kind, keys) for kind, keys in kinds.items()}
    assert {kind: len(values) for kind, values in found.items()} == {kind: len(keys) for kind, keys in kinds.items()}
    return found
