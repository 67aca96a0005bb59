"""A run's folder that is odd: links inside it, and a file system without locks."""

from __future__ import annotations

import errno
import fcntl
import random
import shutil
from pathlib import Path
from unittest import mock

from summeval_nb.runs.running import run
from summeval_nb.runs.workers import RunStopped

from . import runs
from .harness import Wrong

REFUSED = ("run.sqlite", "results.jsonl")  # a link of these names leads a run out of its folder


def _held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def links(rng: random.Random, folder: Path) -> None:
    """Something in a run's folder is a link: what it leads to stays as it is, and a run that would write is refused."""
    items, call = runs._plan(rng)
    wanted = runs._whole(items, call, folder / "run")
    out, outside = folder / "run", folder / "outside"
    shutil.copytree(out, outside / "run")  # looks like a run's own, and is another's
    (outside / "precious.txt").write_text("precious")
    name = rng.choice([*REFUSED, "run.sqlite-wal", ".lock"])
    target = outside / "run" / name if rng.random() < 0.5 else outside / rng.choice(["precious.txt", "nothing"])
    moved = out / name
    if moved.is_dir():
        shutil.rmtree(moved)
    else:
        moved.unlink(missing_ok=True)
    moved.symlink_to(target)
    before, resume = _held(outside), rng.random() < 0.7
    what = f"{len(items)} items, {call}, {name} is a link to {target.relative_to(folder)}, resume={resume}"
    try:
        run(items[:-1] or items, out=out, resume=resume, **call)
    except runs.TYPED as error:
        runs._says_something(error, what)
    else:
        if name in REFUSED:
            raise Wrong(f"{what}: the run was not refused", "a run follows a link")
    if _held(outside) != before:
        changed = sorted({*before.items()} ^ {*_held(outside).items()})
        raise Wrong(
            f"{what}: outside of the folder changed: {[changed_path for changed_path, _ in changed]}",
            "a run writes through a link",
        )
    moved.unlink(missing_ok=True)  # as its owner would
    try:
        runs._same(items, call, out, wanted, f"{what}, and the link taken away")
    except runs.TYPED as error:
        runs._says_something(error, what)
        if name != "run.sqlite":  # what is left has its memory, and is a run's
            raise


def locks(rng: random.Random, folder: Path) -> None:
    """A file system without locks: a run says what is missing; nobody else is accused."""
    items, call = runs._plan(rng)
    wanted = runs._whole(items, call, folder / "whole")
    number = rng.choice([errno.ENOSYS, errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.EIO])
    what = f"{len(items)} items, {call}, flock says {errno.errorcode[number]}"

    def without(file: object, operation: int) -> None:
        raise OSError(number, "no locks here")

    for attempt in range(rng.choice([1, 2])):
        with mock.patch.object(fcntl, "flock", without):
            try:
                run(items, out=folder / "run", **call)
            except (RunStopped, ValueError, RuntimeError) as error:
                runs._says_something(error, what)
                if "another run" in str(error):
                    raise Wrong(
                        f"{what}, attempt {attempt}: {error}", "another run is accused where there are no locks"
                    ) from error
            else:
                if (folder / "run/results.jsonl").read_bytes() != wanted[0]:
                    raise Wrong(f"{what}: other bytes", "other bytes without locks")
    runs._same(items, call, folder / "run", wanted, f"{what}, and then with locks")
