"""Damaged stores: the stored value, no value, or a `StoreError`; never another value."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

from summeval_nb.models.store import Store, StoreError, content_key

from . import corpus
from .harness import Wrong


def _values(rng: random.Random) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for number in range(rng.randint(1, 120)):
        value = rng.choice([number / 7, corpus.text(rng), {"p": [number, None, True]}, None])
        if rng.random() < 0.3:
            value = np.full(rng.randint(0, 40), number, dtype=np.float32)
        values[content_key(number)] = value
    return values


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b)


def _read(path: Path, kind: str, values: dict[str, Any], what: str) -> bool:
    """Read everything; whether nothing was missing."""
    try:
        with Store(path) as store:
            found = store.get_many(kind, list(values))
    except StoreError as error:
        if len(str(error)) < 20:
            raise Wrong(f"{what}: {error}", "a StoreError without a message") from error
        return False
    wrong = [key for key, value in found.items() if not _equal(value, values[key])]
    if wrong:
        raise Wrong(f"{what}: {found[wrong[0]]!r} was stored as {values[wrong[0]]!r}", "a store gives another value")
    return len(found) == len(values)


def stores(rng: random.Random, folder: Path) -> None:
    """A store with bytes changed or cut; then read, and used again."""
    path, kind = folder / "answers.sqlite", rng.choice(["verdict", corpus.text(rng)[:40] or "x"])
    values = _values(rng)
    try:
        with Store(path) as store:
            store.put_many(kind, values)
            if rng.random() < 0.3:  # what a kill leaves: the log beside the file
                log = path.with_name(path.name + "-wal").read_bytes()
                shared = path.read_bytes()
            else:
                log = shared = None
    except ValueError:
        return  # a kind that is refused
    if shared is not None:
        path.write_bytes(shared)
        path.with_name(path.name + "-wal").write_bytes(log or b"")
    whole = _read(path, kind, values, "untouched")
    if not whole:
        raise Wrong("an untouched store lacks values", "a store loses values")
    done = [_spoil(rng, path) for _ in range(rng.choice([1, 1, 2, 8]))]
    what = f"{len(values)} values, damage {done}"
    _read(path, kind, values, what)
    try:
        with Store(path) as store:
            store.put_many(kind, values)
    except StoreError:
        return
    _read(path, kind, values, f"{what}, filled again")


def _spoil(rng: random.Random, path: Path) -> str:
    data = bytearray(path.read_bytes())
    how, at = rng.choice(["flip", "flip", "flip", "cut", "zero", "page"]), rng.randrange(max(1, len(data)))
    if not data:
        return "empty already"
    if how == "flip":
        data[at] ^= 1 << rng.randrange(8)
    elif how == "cut":
        data = data[:at]
    elif how == "zero":
        data[at : at + 64] = bytes(len(data[at : at + 64]))
    else:
        pages = max(1, len(data) // 4096)
        left, other = rng.randrange(pages) * 4096, rng.randrange(pages) * 4096
        data[left : left + 4096] = data[other : other + 4096]
    path.write_bytes(data)
    return f"{how} at {at}"
