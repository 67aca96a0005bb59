# A plain private module: edited here, exported by no notebook, tested in tests/test_batch.py.
"""What is checked before hours of work: arguments, the engine, the folder's settings, the corpus' columns."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from summeval_nb.ground.base import JsonDict, require_count, require_flag, require_option
from summeval_nb.ground.items import Shard
from summeval_nb.runs._bookkeeping import OUTPUTS
from summeval_nb.runs._identity import differences, find_unknown
from summeval_nb.runs._local_engine import Done, available_cores, run_local
from summeval_nb.runs._ray_engine import run_ray
from summeval_nb.runs._run_folder import (
    LOST,
    RECOVER,
    has_results,
    known_contents,
    manifest_check,
    read_own_manifest,
)
from summeval_nb.runs.jobs import Job, read_row

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

ENGINES = ("local", "ray")
_ENOUGH = 100  # items of a corpus, of which a folder that holds results must know one
_MOST_WORKERS = 1000
_ANOTHER = "choose another folder, or start over with resume=False"


# what is scored: a file, an open one, a table of pandas, or dictionaries
Corpus: TypeAlias = "str | PathLike[str] | BinaryIO | pd.DataFrame | Iterable[Mapping[str, object]]"


def require_choices(on_error: str, output: str, **flags: bool) -> str:
    """Raise if a choice is none of the known, or a flag is neither True nor False; return the results' file name."""
    require_option(on_error, "on_error", ("record", "raise"))
    for name, flag in flags.items():
        require_flag(flag, name)
    if flags.get("recover") and not flags.get("resume", True):
        raise ValueError("recover=True keeps what resume=False would remove: choose one of them")
    return OUTPUTS[require_option(output, "output", OUTPUTS)]


def make_settings(job: Job, shard_size: int) -> JsonDict:
    """Return what must be equal for a run to be continued."""
    from summeval_nb import __version__

    return {"summeval_nb": __version__, **job.describe(), "shard_size": shard_size}


def require_same_settings(folder: Path, settings: JsonDict) -> None:
    """Raise a `ValueError` that names what differs, or cannot be known, if a folder holds results of another run."""
    manifest = read_own_manifest(folder)
    if manifest is None or not has_results(folder, manifest):
        return
    new = json.loads(json.dumps(settings))
    if changed := list(differences(manifest["settings"], new)):
        damaged = manifest["check"] not in ("", manifest_check(manifest))
        remedy = f"its manifest was changed after the run wrote it: {RECOVER}; or {_ANOTHER}" if damaged else _ANOTHER
        raise ValueError(f"{str(folder)!r} holds a run with other settings: {', '.join(changed)}; {remedy}")
    if unknown := find_unknown(new):
        declare = "declare its version as an attribute, fingerprint = 'v1', and change that with it"
        raise ValueError(
            f"the run in {str(folder)!r} cannot be continued, because it cannot be known whether the metric is still "
            f"the same: it uses {', '.join(unknown)}; {declare}, or {_ANOTHER}"
        )


def require_columns(shards: Iterable[Shard], job: Job) -> Iterator[Shard]:
    """Pass shards on; raise a `ValueError` if the first readable item of the corpus lacks a column."""
    checked = False
    for shard in shards:
        for item in () if checked else shard.items:
            row, problem = read_row(item, job.sources, {})
            if row:
                checked = True
                if problem:
                    remedy = "name the corpus' columns with columns={...}"
                    raise ValueError(f"at {item.place} of the corpus {problem}; {remedy}")
                break
        yield shard


def require_same_corpus(shards: Iterable[Shard], job: Job, folder: Path, lost: bool = False) -> Iterator[Shard]:
    """Pass shards on; raise a `ValueError` if none of the first items is in the folder, which holds others.

    With `lost` the folder's manifest is.
    """
    manifest = LOST if lost else read_own_manifest(folder)
    stream, first = iter(shards), list[Shard]()
    wanted: set[str] = set()
    while manifest and has_results(folder, manifest) and sum(len(shard.items) for shard in first) < _ENOUGH:
        if (shard := next(stream, None)) is None:
            break
        first.append(shard)
        for item in shard.items:
            row, problem = read_row(item, job.sources, job.kinds)
            wanted |= set() if problem else {job.content(item, row)}
    known = known_contents(folder, manifest) if wanted and manifest else iter(())
    if wanted and (held := next(known, None)) and held not in wanted and wanted.isdisjoint(known):
        if lost:  # what an item's content is, its metric says
            which = "of another corpus, or of a metric that reads another part of it; choose another folder"
            raise ValueError(f"{str(folder)!r} holds the results {which}")
        raise ValueError(f"{str(folder)!r} holds the results of another corpus; {_ANOTHER}")
    yield from itertools.chain(first, stream)


def choose_engine(
    engine: str, job: Job, workers: int | None, address: str | None, num_gpus: float, timeout: float | None
) -> tuple[Callable[..., Generator[Done, None, None]], JsonDict]:
    """Return the engine as a function of shards, and what the manifest says about it."""
    if timeout is not None and not (isinstance(timeout, (int, float)) and 0 < timeout <= 1e7):
        raise ValueError(f"timeout must be more than 0 seconds, at most 10,000,000, or None, not {timeout!r}")
    require_option(engine, "engine", ENGINES)
    started = {"started": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "engine": engine}
    if engine == "ray":
        actors = 0 if workers is None else require_count(workers, "workers")
        call = partial(run_ray, job=job, actors=actors, address=address, num_gpus=num_gpus, timeout=timeout)
        return call, started | {"workers": actors or "one per core", "num_gpus": num_gpus}
    if address is not None or num_gpus:
        raise ValueError("address and num_gpus belong to engine='ray'")
    count = available_cores() if workers is None else require_count(workers, "workers", minimum=0)
    if count > _MOST_WORKERS:
        most = f"at most {_MOST_WORKERS:,}, each is a process of this machine"
        raise ValueError(f"workers must be {most}, not {count}")
    if timeout is not None and not count:
        raise ValueError("timeout needs a worker process to end: workers must be at least 1")
    return partial(run_local, job=job, workers=count, timeout=timeout), started | {"workers": count}
