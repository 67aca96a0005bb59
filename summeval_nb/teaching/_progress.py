# A plain private module: edited here, exported by no notebook, tested in tests/test_exercises.py.
"""Read from saved notebooks which exercises are done."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from summeval_nb.ground.base import JsonDict
from summeval_nb.ground.html import Markup, folded, printable, render

_EXERCISE = re.compile(r'check_answer\("((\w+)/(\d+))", answer\)')
PARTS = {  # a chapter's first digit to the title of its part; a lesson has one digit in all
    "": "Lessons",
    "0": "Start",
    "1": "1 · Text",
    "2": "2 · Evidence",
    "3": "3 · Overlap",
    "4": "4 · Judged",
    "5": "5 · Judging the judges",
    "6": "6 · At scale",
    "7": "7 · In the classroom",
    "-": "Others",
}
_MARKS = {"right": "✓", "not yet": "✗", "not tried": "·"}


@dataclass(frozen=True)
class Progress:
    """The exercises of a folder of notebooks, and how far each is.

    Attributes
    ----------
    states : dict
        Exercise, such as `"32_bleu/1"`, to `"right"`, `"not yet"` or `"not tried"`.
    unread : tuple of str
        Notebooks that could not be read.
    """

    states: dict[str, str]
    unread: tuple[str, ...] = ()

    @property
    def chapters(self) -> dict[str, dict[str, str]]:
        """The states by chapter and number."""
        found: dict[str, dict[str, str]] = {}
        for exercise, state in self.states.items():
            chapter, _, number = exercise.partition("/")
            found.setdefault(chapter, {})[number] = state
        return found

    def summary(self) -> str:
        """Return how many are right, as a sentence."""
        counts = [list(self.states.values()).count(state) for state in _MARKS]
        unread = f"; not read: {', '.join(self.unread)}" if self.unread else ""
        return f"{counts[0]} of {len(self.states)} exercises right, {counts[1]} not yet, {counts[2]} not tried{unread}"

    def __repr__(self) -> str:
        width = max(map(len, self.chapters), default=0)
        rows = [f"{chapter:{width}}  {self._marks(states)}" for chapter, states in self.chapters.items()]
        return "\n".join([self.summary(), "as saved in the notebooks (✓ right, ✗ not yet, · not tried)", *rows])

    def _marks(self, states: dict[str, str]) -> str:
        return " ".join(_MARKS[state] for state in states.values())

    def _repr_html_(self) -> str:
        parts: dict[str, dict[str, dict[str, str]]] = {title: {} for title in PARTS.values()}
        for chapter, states in self.chapters.items():
            parts[part_of(chapter)][chapter] = states
        page = [_part_html(title, chapters) for title, chapters in parts.items() if chapters]
        return render("parts.html", title=self.summary(), parts=page)

    def to_dict(self) -> dict[str, str]:
        """Return the states."""
        return dict(self.states)


def part_of(chapter: str) -> str:
    """The title of the part of the book in which a chapter stands."""
    number = re.match(r"(\d?)\d_", chapter)
    return PARTS.get(number[1] if number else "-", PARTS["-"])


def _part_html(title: str, chapters: dict[str, dict[str, str]]) -> Markup:
    """A part's chapters, a row each, behind how many are right; open while one works on it."""
    states = [state for chapter in chapters.values() for state in chapter.values()]
    right, tried = states.count("right"), len(states) - states.count("not tried")
    rows = [(chapter, [f"{_MARKS[state]} {state}" for state in own.values()]) for chapter, own in chapters.items()]
    table = render("progress.html", rows=rows)
    return folded(f"{title}: {right} of {len(states)} right", table, opened=right < len(states) and tried > 0)


def read_progress(folder: Path | None) -> Progress:
    """Read all notebooks below a folder, but no solutions; without one, below the book that holds this place."""
    book = book_folder(Path.cwd()) if folder is None else folder
    if not book.is_dir():
        raise ValueError(f"no folder {str(book)!r}: give the one that holds the book's notebooks, such as 'nbs'")
    states: dict[str, str] = {}
    unread = []
    for path in sorted(book.rglob("*.ipynb")):
        inside = path.relative_to(book).parts
        if "solutions" in inside or any(part.startswith(".") for part in inside):
            continue
        if not path.is_file():  # reading a pipe would wait for ever
            continue
        try:
            states |= _states(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, AttributeError, LookupError, TypeError, RecursionError):
            unread.append(printable(path.relative_to(book).as_posix()))
    if not states:
        raise ValueError(f"no exercises below {str(book)!r}: give the folder that holds the book's notebooks")
    return Progress(states, tuple(unread))


def book_folder(here: Path) -> Path:
    """Return the folder of the book in which a notebook runs, or that lies in this folder as `nbs`."""
    for place in (here, *here.parents):
        for one in (place, place / "nbs"):
            if (one / "index.ipynb").is_file() and (one / "glossary.md").is_file():
                return one
    raise ValueError(f"no book at {str(here)!r}: give the folder of its notebooks, my_progress('.../nbs')")


def _states(notebook: JsonDict) -> dict[str, str]:
    """Return the states of a notebook's exercises, from what their cells printed when the notebook was saved."""
    found = {}
    for cell in notebook["cells"]:
        exercise = _EXERCISE.search("".join(cell["source"])) if cell["cell_type"] == "code" else None
        if exercise:
            shown = re.findall(rf"([✓✗]) {exercise[1]}:", "".join(map(_printed, cell["outputs"])))
            found[exercise[1]] = {"✓": "right", "✗": "not yet"}[shown[-1]] if shown else "not tried"
    return found


def _printed(output: JsonDict) -> str:
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", []))
