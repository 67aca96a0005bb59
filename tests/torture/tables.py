"""Tables as people have them: columns of one name, columns that no metric reads, endings in capitals."""

from __future__ import annotations

import csv
import gzip
import json
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import summeval_nb
from summeval_nb.runs.running import run

from . import corpus, runs
from .harness import Wrong

READ = ["candidate", "references"]  # the columns of BLEU
NUMBERS = {"n": 1, "lowercase": True}


def _unused(rng: random.Random, kind: str, count: int) -> dict[str, list[Any]]:
    """Columns that no metric reads, of any name and, where a table can hold it, of any type."""
    made: dict[str, list[Any]] = {}
    for _ in range(rng.randint(0, 3)):
        name = corpus.text(rng)[:30].encode("utf-8", "replace").decode().replace("\x00", "_").strip()
        cells: Any = rng.choice([rng.random, lambda: corpus.text(rng)[:50], lambda: Decimal(rng.randrange(99))])
        if rng.random() < 0.3:
            cells = lambda: rng.randbytes(4)
        values = [cells() for _ in range(count)]
        if kind in ("csv", "jsonl"):
            values = [str(value).encode("utf-8", "replace").decode().replace("\x00", "_") for value in values]
        if kind == "parquet" and isinstance(values[0], str):
            values = [value.encode("utf-8", "replace").decode() for value in values]
        if name.removeprefix("\ufeff").strip() == name and name not in (*READ, "id"):
            made[name] = values
    return made


def _write(rng: random.Random, folder: Path, kind: str, table: list[tuple[str, list[Any]]]) -> Any:
    """A table with these columns, in this order, as a file or in memory."""
    names, columns = [name for name, _ in table], [cells for _, cells in table]
    if kind == "frame":
        import pandas as pd

        series = [pd.Series(cells, dtype=object) for cells in columns]
        return pd.concat(series, axis=1, keys=range(len(columns))).set_axis(names, axis=1)
    ending = rng.choice([str.lower, str.upper, str.title])(f".{kind}")
    path = folder / f"table{ending}"
    if kind == "parquet":
        import pyarrow
        from pyarrow import parquet

        parquet.write_table(pyarrow.table([pyarrow.array(cells) for cells in columns], names=names), path)
        return path
    if kind == "csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([names, *zip(*columns, strict=True)])
    else:
        path.write_text("".join(f"{line}\n" for line in _objects(names, columns)), encoding="utf-8")
    if rng.random() < 0.4:
        packed = path.with_name(path.name + rng.choice([".gz", ".GZ", ".Gz"]))
        packed.write_bytes(gzip.compress(path.read_bytes()))
        return packed
    return path


def _objects(names: list[str], columns: list[list[Any]]) -> Iterator[str]:
    for cells in zip(*columns, strict=True):
        pairs = zip(names, cells, strict=True)
        yield "{" + ", ".join(f"{json.dumps(name)}: {json.dumps(cell)}" for name, cell in pairs) + "}"


def tables(rng: random.Random, folder: Path) -> None:
    """One table: of two columns of one name none is read; else the numbers are those of the texts alone."""
    count, kind = rng.randint(1, 6), rng.choice(["frame", "parquet", "csv", "jsonl"])
    texts = {name: [" ".join(rng.choices(runs.WORDS, k=rng.randint(1, 6))) for _ in range(count)] for name in READ}
    table = [*texts.items(), *_unused(rng, kind, count).items()]
    rng.shuffle(table)
    twice = rng.choice(table)[0] if rng.random() < 0.4 else None
    if twice is not None:
        table.insert(rng.randint(0, len(table)), (twice, ["zz"] * count))
    what = f"{kind} with the columns {[name for name, _ in table]}"
    how: dict[str, Any] = {"workers": 0, "progress": False}
    try:
        given = _write(rng, folder, kind, table)
        found = [row["score"] for row in run(given, "bleu", options=NUMBERS, out=folder / "run", **how).rows()]
    except ValueError as error:
        if twice is None or repr(twice) not in str(error):
            raise Wrong(f"{what} is refused: {error}", "a good table is refused") from error
        return
    if twice is not None and (kind != "jsonl" or twice in READ):
        if any(value is not None for value in found):
            raise Wrong(f"{what}: of two columns {twice!r} one was read", "one of two columns is read")
        return
    wanted = [summeval_nb.bleu_score(*pair, **NUMBERS).score for pair in zip(*texts.values(), strict=True)]
    if found != wanted:
        raise Wrong(f"{what}: {found} instead of {wanted}", "a table gives other numbers")
