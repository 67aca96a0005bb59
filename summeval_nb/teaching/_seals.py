# A plain private module. Edited directly: no notebook exports it; tested in tests/test_exercises.py.
"""Where the seals of exercises lie: in the package, or in a folder while an author writes them down."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from summeval_nb.ground.base import JsonDict


class Seals:
    """The entries of exercises: kind, seal and slips; collected instead of read while answers are being sealed."""

    def __init__(self) -> None:
        self._collected: JsonDict | None = None

    @property
    def collecting(self) -> bool:
        """Whether answers are being sealed."""
        return self._collected is not None

    def entry(self, exercise: str) -> JsonDict:
        """Return the entry of an exercise, or raise with the names that are known."""
        chapter, _, number = str(exercise).partition("/")
        if not chapter or not number or not chapter.replace("_", "").isalnum():
            raise ValueError(f"an exercise is named chapter/number, such as '32_bleu/1': got {exercise!r}")
        if self._collected is not None:
            unknown: JsonDict = {"kind": "", "answer": "", "slips": {}}
            return self._collected.setdefault(chapter, {}).setdefault(number, unknown)
        file = resources.files("summeval_nb") / "assets" / "exercises" / f"{chapter}.json"
        entries = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        if number not in entries:
            raise ValueError(f"no exercise {exercise!r}; known: {_known(chapter, entries)}")
        return entries[number]

    @contextmanager
    def collect(self, folder: Path) -> Iterator[Callable[[], JsonDict]]:
        """Collect the entries asked for inside the block, then write one JSON file a chapter."""
        if self._collected is not None:
            raise RuntimeError("answers are already being sealed: end the outer block first")
        collected: JsonDict = {}
        self._collected = collected
        try:
            yield lambda: collected
        finally:
            self._collected = None
        named = [(f"{chapter}/{n}", one) for chapter, entries in collected.items() for n, one in entries.items()]
        if missing := [exercise for exercise, one in named if not one["answer"]]:
            raise ValueError(f"a slip but no answer: {', '.join(missing)}")
        folder.mkdir(parents=True, exist_ok=True)
        for chapter, entries in collected.items():
            text = json.dumps(entries, indent=1, sort_keys=True, ensure_ascii=False)
            (folder / f"{chapter}.json").write_text(text + "\n", encoding="utf-8")


def _known(chapter: str, entries: Iterable[str]) -> str:
    """Name the exercises of a chapter, or the chapters that the reader may have meant."""
    if entries:
        return ", ".join(f"{chapter}/{number}" for number in entries)
    folder = resources.files("summeval_nb") / "assets" / "exercises"
    chapters = sorted(file.name.removesuffix(".json") for file in folder.iterdir())
    meant = [name for name in chapters if chapter in name or name in chapter] or chapters
    return ", ".join(f"{name}/1" for name in meant)
