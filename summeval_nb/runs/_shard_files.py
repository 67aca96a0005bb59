# A plain private module: edited here, exported by no notebook, tested in tests/test_batch.py.
"""The head of a shard's file, which tells whether the file is as it was written; and shards as one file of results."""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from summeval_nb.ground.base import JsonDict, require_module
from summeval_nb.ground.files import replacing
from summeval_nb.ground.items import Shard
from summeval_nb.runs.jobs import Line
from summeval_nb.runs.workers import write_whole

STATES = ("ok", "undefined", "failed")


class Total(NamedTuple):
    """The sum of a run's shards."""

    counts: dict[str, int]
    mean: float | None
    items: int


def shard_head(shard: Shard, lines: Sequence[Line], body: bytes, settings: str = "") -> JsonDict:
    """Return what stands before a shard's lines: counts, their exact sum, and checksums of them and of itself.

    `settings` is the mark of what decided the lines, see `settings_mark`.
    """
    states = [line.status for line in lines]
    head: JsonDict = {"shard": shard.number, "items": len(lines)}
    head |= {name: states.count(name) for name in STATES}
    head |= {"sum": math.fsum(line.score for line in lines if line.score is not None), "digest": shard.digest}
    head |= {"settings": settings} if settings else {}
    head["body"] = hashlib.sha256(body).hexdigest()
    return head | {"check": _checksum(head)}


def _checksum(head: JsonDict) -> str:
    """A checksum over a head without its own."""
    kept = {name: value for name, value in head.items() if name != "check"}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


def is_as_written(path: Path, head: JsonDict, body: bytes) -> bool:
    """Whether a shard's name, head and lines belong together; a head that is none raises one of several errors."""
    whole = head["check"] == _checksum(head) and head["body"] == hashlib.sha256(body).hexdigest()
    return whole and path.name == f"{head['shard']:08d}-{head['digest'][:16]}.jsonl"


def note_damage(path: Path, shard: Shard, damaged: list[str]) -> None:
    """Remember that a shard's file is damaged, and warn the caller's caller."""
    damaged.append(shard.name)
    again = f"its {len(shard.items)} items are scored again"
    warnings.warn(f"the shard {path} is damaged or cannot be read; {again}", stacklevel=3)


def write_results(bodies: Iterable[bytes], target: Path) -> None:
    """Write the lines of shards as one file: as they are, or as a table where the file's name asks for one."""
    if target.suffix == ".parquet":
        write_parquet(bodies, target)
    else:
        write_whole(target, bodies)


def write_parquet(bodies: Iterable[bytes], target: Path) -> None:
    """Write the lines of shards as a table, their parts as JSON."""
    arrow, parquet = require_module("pyarrow", "parquet"), require_module("pyarrow.parquet", "parquet")
    names = ("item", "id", "score", "status", "reason", "parts", "signature", "content")
    types = dict.fromkeys(names, arrow.string()) | {"item": arrow.int64(), "score": arrow.float64()}
    schema = arrow.schema(types.items())
    with replacing(target) as file, parquet.ParquetWriter(file, schema) as writer:
        for body in bodies:
            rows = [_flat(json.loads(line)) for line in body.splitlines()]
            writer.write_table(arrow.Table.from_pylist(rows, schema))


def _flat(row: JsonDict) -> JsonDict:
    """A row for a table: parts and odd ids as JSON; half a character, which a table cannot hold, as its escape."""
    known = row["id"] is None or isinstance(row["id"], str)
    flat = row | {"id": row["id"] if known else json.dumps(row["id"]), "parts": json.dumps(row["parts"])}
    return {
        name: one.encode("utf-8", "backslashreplace").decode() if isinstance(one, str) else one
        for name, one in flat.items()
    }
