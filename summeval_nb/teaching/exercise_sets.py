"""Own numbers for every student: exercises drawn from a student number, handed in as a file, graded by the folder."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from summeval_nb.core.base import JsonDict, require_option
from summeval_nb.core.files import csv_text, plain_cell, require_path, write_whole
from summeval_nb.core.html import html_table, printable, render, text_table
from summeval_nb.teaching.exercise_tasks import SLIPS, TASKS, draw_task
from summeval_nb.teaching.exercises import ExerciseCheck, _Canonical, _canonical, _seal

__all__ = ["ExerciseSet", "Grades", "exercise_set", "grade"]

_ROUNDS = 200  # of a seal: the answers are so few that more would keep nobody out
_LONGEST_NUMBER = 100  # characters of a student number


def _student(seed: object) -> str:
    """The text of a student number, or an error that says what is wrong with it."""
    if isinstance(seed, bool) or not isinstance(seed, str | int):
        raise TypeError(f"a student number must be a text or a whole number, not {type(seed).__name__}")
    text = " ".join(str(seed).split())
    if not 0 < len(text) <= _LONGEST_NUMBER or not text.isprintable():
        raise ValueError(f"a student number has 1 to {_LONGEST_NUMBER} printable characters")
    return text


class _Task(NamedTuple):
    """A task as a student has it: what is shown, the seal of the answer, and slips by their seals."""

    title: str
    lines: list[str]
    decimals: int
    answer: str
    slips: dict[str, str]


@dataclass(frozen=True, repr=False)
class ExerciseSet:
    """The class's tasks with one student's numbers; `exercise_set` makes it.

    Attributes
    ----------
    student : str
        The student number that everything is drawn from.
    tasks : dict
        Each task by its name: title, lines, and decimals that count.
    answers : dict
        The value that was checked last for each task; `hand_in` writes them.
    """

    student: str
    tasks: dict[str, _Task]
    answers: dict[str, float] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """A digest of the tasks and their seals: equal where two versions draw the same."""
        drawn = json.dumps([[task.lines, task.answer] for task in self.tasks.values()])
        return hashlib.sha256(drawn.encode()).hexdigest()[:16]

    def check(self, task: str, value: object) -> ExerciseCheck:
        """Say whether a value is right, or which known slip it is, and keep it for `hand_in`.

        Raises
        ------
        ValueError
            If there is no such task.
        """
        found = self._judge(require_option(task, "task", self.tasks), value)
        if (number := _number(value)) is not None:
            self.answers[task] = number
        return found

    def _judge(self, name: str, value: object) -> ExerciseCheck:
        if value is ... or value is None:
            return ExerciseCheck(name, "not answered yet", "not answered yet")
        number, task = _number(value), self.tasks[name]
        if number is None:
            return ExerciseCheck(name, "not yet", "not yet: a finite number is asked for")

        def seals(decimals: int, step: int = 0) -> list[str]:
            moved = {f"{number + step / 10**decimals + shift:z.{decimals}f}" for shift in (-1e-6, 0.0, 1e-6)}
            return [self._seal(name, text) for text in sorted(moved)]

        given = seals(task.decimals)
        if task.answer in given:
            return ExerciseCheck(name, "right", "right")
        for seal in [*given, *seals(0 if task.decimals == 2 else 2)]:
            if slip := task.slips.get(seal):
                return ExerciseCheck(name, "slip", f"not yet: {SLIPS[slip]}", slip)
        if task.answer in [*seals(task.decimals, 1), *seals(task.decimals, -1)]:
            return ExerciseCheck(name, "not yet", "not yet, but close: round only at the end", "rounded")
        return ExerciseCheck(name, "not yet", "not yet")

    def _seal(self, name: str, text: str) -> str:
        return _seal(f"{self.student}/{name}", _Canonical("number", text, "a number"), _ROUNDS)

    def hand_in(self, path: str | os.PathLike[str]) -> Path:
        """Write the answers that were checked last into one JSON file, and return its path."""
        from summeval_nb import __version__

        data = {"exercise_set": self.fingerprint, "student": self.student, "answers": self.answers}
        data |= {"version": __version__, "written": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        file = require_path(path)
        write_whole(file, json.dumps(data, indent=1, ensure_ascii=True) + "\n")
        return file

    def _shown(self) -> list[tuple[str, str, list[str]]]:
        """Name, title with what was said of the answer, and lines of each task."""
        said = {name: self._judge(name, self.answers.get(name)).message for name in self.tasks}
        return [(name, f"{task.title} ({said[name]})", task.lines) for name, task in self.tasks.items()]

    def __repr__(self) -> str:
        lines = [f"Exercises of student {self.student}"]
        for name, title, shown in self._shown():
            lines += ["", f"{name}: {title}", *shown]
        return printable("\n".join(lines))

    def _repr_html_(self) -> str:
        shown = self._shown()
        parts = [render("parts.html", kind="", title=title, code=name, lines=lines) for name, title, lines in shown]
        return render("parts.html", kind="", title=f"Exercises of student {self.student}", parts=parts)


def _number(value: object) -> float | None:
    """A finite number as a float; None for anything else."""
    try:
        return float(value) if _canonical(value).kind == "number" else None  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def exercise_set(seed: str | int) -> ExerciseSet:
    """Return the class's tasks with numbers of their own for each student.

    The same seed gives the same tasks on every machine. The object holds seals (salted hashes) in the place of the
    answers, so nobody reads them off. The code is public, and the answers are few: somebody who programs can
    compute them from the seed. Give points for the way, not for the number alone.

    Parameters
    ----------
    seed : str or int
        The student number; leading zeros count, and spaces at the ends do not.

    Returns
    -------
    ExerciseSet
        With `check(task, value)` and `hand_in(path)`.

    Raises
    ------
    TypeError, ValueError
        If the seed is no text or whole number, is empty, or has more than 100 characters.

    Examples
    --------
    >>> mine = exercise_set("4711")
    >>> print(*mine.tasks)
    clipping recall rouge_l references bleu nearest faithfulness kendall
    >>> mine.check("recall", "a half")
    ✗ recall: not yet: a finite number is asked for
    """
    found = ExerciseSet(_student(seed), {})
    for name in TASKS:
        drawn = draw_task(found.student, name)
        seals = {found._seal(name, f"{value:z.{digits}f}"): called for called, value, digits in drawn.values()}
        right, *_ = seals
        del seals[right]
        rounding = f"Round to {'two decimals' if drawn.decimals == 2 else 'one decimal'}, and only at the end."
        found.tasks[name] = _Task(drawn.title, [*drawn.lines, rounding], drawn.decimals, right, seals)
    return found


class _HandIn(NamedTuple):
    """What a file holds, or why it cannot be graded."""

    file: str
    student: str = ""
    answers: Mapping[str, object] = {}
    outcomes: Mapping[str, ExerciseCheck] = {}
    reason: str = ""


@dataclass(frozen=True, repr=False)
class Grades:
    """The graded hand-ins of a class.

    Attributes
    ----------
    hand_ins : list
        What was found in each file, by student; one that could not be graded has a `reason` and no points.
    """

    hand_ins: list[_HandIn]

    @property
    def failed(self) -> list[str]:
        """The files that could not be graded, each with its reason."""
        return [f"{one.file}: {one.reason}" for one in self.hand_ins if one.reason]

    def rows(self) -> list[JsonDict]:
        """Return one row for each task of each student who could be graded: value, points, and which slip it was."""
        found: list[JsonDict] = []
        for one in self.hand_ins:
            for task, said in one.outcomes.items():
                row = {"student": one.student, "task": task, "value": _number(one.answers.get(task))}
                row |= {"points": int(bool(said)), "outcome": said.outcome, "slip": said.slip, "message": said.message}
                found.append(row)
        return found

    def students(self) -> list[JsonDict]:
        """Return one row for each hand-in: points, what each task got, feedback, or why there are no points."""
        found: list[JsonDict] = []
        for one in self.hand_ins:
            got = {task: int(bool(said)) for task, said in one.outcomes.items()}
            told = [f"{task}: {said.message}" for task, said in one.outcomes.items() if not said]
            row: JsonDict = {"student": one.student, "points": sum(got.values()) if got else None, "of": len(TASKS)}
            row |= {task: got.get(task) for task in TASKS}
            found.append(row | {"feedback": "; ".join(told), "reason": one.reason, "file": one.file})
        return found

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the table of `students` as CSV, in which a spreadsheet runs no cell; write it to a path."""
        rows = [{name: plain_cell(value) for name, value in row.items()} for row in self.students()]
        text = csv_text(rows, list(rows[0]))
        if path is not None:
            write_whole(require_path(path), text)
        return text

    def to_dict(self) -> JsonDict:
        """Return both tables as plain data."""
        return {"students": self.students(), "rows": self.rows()}

    def __repr__(self) -> str:
        return text_table(self.students(), columns=_SHORT)

    def _repr_html_(self) -> str:
        return html_table(self.students(), columns=_SHORT, caption="Hand-ins")


_SHORT = ("student", "points", "of", *TASKS, "reason")  # columns that a narrow page holds
_LARGEST = 64 * 1024  # bytes of a hand-in; one that we wrote has under one thousand


def _read_hand_in(path: Path, file: str) -> _HandIn:
    """Read a file that may hold anything, and grade it from its own student number."""
    student = ""
    try:
        if path.is_symlink() or not path.is_file():
            raise ValueError("no ordinary file")
        with path.open("rb") as opened:
            content = opened.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise ValueError(f"larger than {_LARGEST // 1024} kB")
        data = json.loads(content.decode("utf-8-sig"))
        if not isinstance(data, dict) or not isinstance(answers := data.get("answers"), dict):
            raise ValueError("no hand-in: there are no answers in it")
        student = _student(data.get("student"))
        drawn = exercise_set(student)
        if data.get("exercise_set") != drawn.fingerprint:
            version = printable(str(data.get("version")))[:20]
            raise ValueError(f"these are not the tasks that this version draws (written by version {version})")
        outcomes = {name: drawn._judge(name, answers.get(name)) for name in drawn.tasks}
        return _HandIn(file, student, answers, outcomes)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        reason = "no JSON, or nested too deeply"
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, "strerror", None) or printable(str(error))
    return _HandIn(file, student, reason=reason)


def grade(folder: str | os.PathLike[str]) -> Grades:
    """Grade the hand-ins of a class: every `.json` file in a folder and the folders in it.

    Each is graded from its own student number, by the check that the student had. A file that is damaged, or is no
    hand-in, and the second hand-in of a student have a reason in the table and no points.

    Parameters
    ----------
    folder : str or path
        Where the files lie, such as a learning platform's download, unpacked.

    Returns
    -------
    Grades
        `students()` and `rows()`, `to_csv(path)` for the learning platform.

    Raises
    ------
    ValueError
        If there is no such folder, or no `.json` file in it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = exercise_set("4711").hand_in(f"{folder}/4711.json")
    ...     grade(folder).students()[0]["points"]
    0
    """
    place = require_path(folder)
    if not place.is_dir():
        raise ValueError(f"no folder {str(place)!r}: give the one that holds the hand-ins")
    paths = sorted(path for path in place.rglob("*") if path.suffix.lower() == ".json" and path.name[0] != ".")
    if not paths:
        raise ValueError(f"no hand-ins in {str(place)!r}: hand_in writes files that end in .json")
    found = [_read_hand_in(path, printable(path.relative_to(place).as_posix())) for path in paths]
    times = Counter(one.student for one in found if one.outcomes)
    twice = "another hand-in of this student is here: keep one of them"
    found = [_HandIn(one.file, one.student, reason=twice) if times[one.student] > 1 else one for one in found]
    return Grades(sorted(found, key=lambda one: (not one.student, one.student, one.file)))
