"""Own numbers for every student: exercises drawn from a student number, handed in as a file, graded by the folder.

Each task has its right answer, from the package, and the values of known slips.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from summeval_nb.agreement.correlation import correlate
from summeval_nb.core.base import JsonDict, require_option
from summeval_nb.core.files import csv_text, plain_cell, read_asset, require_path, write_whole
from summeval_nb.core.html import html_table, printable, render, text_table
from summeval_nb.core.results import Verdict
from summeval_nb.evidence.share import supported_share
from summeval_nb.overlap.rouge import calculate_rouge, calculate_rouge_l, rouge_score
from summeval_nb.overlap.translation import bleu_score
from summeval_nb.teaching.exercises import ExerciseCheck, _Canonical, _canonical, _seal
from summeval_nb.text.similarity import cosine_similarity, topk_related

__all__ = ["ExerciseSet", "Grades", "SLIPS", "TASKS", "draw_task", "exercise_set", "grade"]

_ROUNDS = 200  # of a seal: the answers are so few that more would keep nobody out
_LONGEST_NUMBER = 100  # characters of a student number

_Item = TypeVar("_Item")
_NOUNS = "heron mill ferry baker harbour lantern orchard sailor tower market glacier violin".split()
_ADJECTIVES = "old grey quiet small young tall green narrow".split()
_VERBS = "watches finds leaves paints guards passes".split()
_PLACES = "near behind beside above".split()
_TIMES = ["at noon", "before dawn", "every evening", "in late summer"]


class _Draw:
    """Choices that follow from a text. They use `random()` alone, which every Python and machine gives alike."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def number(self, low: int, high: int) -> int:
        return low + int(self._random.random() * (high - low + 1))

    def some(self, items: Sequence[_Item], count: int) -> list[_Item]:
        left = list(items)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(count)]

    def sentence(self) -> list[str]:
        """Words of a sentence, nine or more, and three of them *the*."""
        first, second, third = self.some(_NOUNS, 3)
        adjective, other = self.some(_ADJECTIVES, 2)
        (verb,), (place,), (when,) = self.some(_VERBS, 1), self.some(_PLACES, 1), self.some(_TIMES, 1)
        middle = f"the {other} {second}" if self.number(0, 1) else f"the {second}"
        return f"the {adjective} {first} {verb} {middle} {place} the {third} {when}".split()

    def changed(self, words: list[str], dropped: int, replaced: int, added: Sequence[str] = ()) -> list[str]:
        """The words of a machine: some left out, some others in their place, some put in."""
        new = list(words)
        for _ in range(dropped):
            del new[self.number(0, len(new) - 1)]
        for word in self.some([word for word in (*_NOUNS, *_ADJECTIVES) if word not in words], replaced):
            new[self.number(0, len(new) - 1)] = word
        for word in added:
            new.insert(self.number(0, len(new)), word)
        return new


class _DrawnTask(NamedTuple):
    """A task with its numbers: title, what is shown, the right answer, and the values of known slips by name."""

    title: str
    lines: list[str]
    answer: float
    slips: dict[str, float]
    decimals: int = 2

    def values(self) -> list[tuple[str, float, int]]:
        """Name, value and decimals: of the answer, the slips, and the answer on the wrong scale."""
        share = self.decimals == 2
        scale = ("percentage", self.answer * 100, 0) if share else ("share", self.answer / 100, 2)
        slips = [(name, value, self.decimals) for name, value in self.slips.items()]
        return [("right", self.answer, self.decimals), *slips, scale]

    def apart(self) -> bool:
        """Whether all of them differ by more than rounding, and none lies where rounding may go either way."""
        known = self.values()
        unclear = any(abs(value * 10**decimals % 1 - 0.5) < 0.01 + 1e-7 for _, value, decimals in known)
        pairs = ((a, b) for place, a in enumerate(known) for b in known[:place])
        # a ten-millionth more, so that the last digit of a float, which machines differ in, decides nothing
        return not unclear and all(abs(a[1] - b[1]) > 2.5 / 10 ** min(a[2], b[2]) + 1e-7 for a, b in pairs)


# what is said of each known slip, by its name
SLIPS: dict[str, str] = json.loads(read_asset("exercise_slips.json"))


def _two_texts(reference: list[str], generated: list[str]) -> dict[str, Any]:
    return {"reference": " ".join(reference), "generated": " ".join(generated)}


def _lines(shown: Mapping[str, object], asked: str) -> list[str]:
    return [*(f"{name}: {value}" for name, value in shown.items()), asked]


def _clipping(draw: _Draw) -> _DrawnTask:
    reference = draw.sentence()
    generated = draw.changed(reference, draw.number(3, 5), draw.number(1, 2), ["the"] * draw.number(2, 4))
    texts = _two_texts(reference, generated)
    found = bleu_score(texts["generated"], texts["reference"], 1, tokenize="none")
    slips = {
        "unclipped": sum(word in reference for word in generated) / len(generated),
        "reference's words": found.counts[0] / len(reference),
        "distinct words": len(set(generated) & set(reference)) / len(set(generated)),
    }
    asked = "Clipped unigram precision of the generated text?"
    return _DrawnTask("Clip", _lines(texts, asked), found.counts[0] / found.totals[0], slips)


def _recall(draw: _Draw) -> _DrawnTask:
    reference = draw.sentence()
    added = draw.some(_ADJECTIVES, draw.number(0, 2))
    generated = draw.changed(reference, draw.number(2, 4), draw.number(0, 2), added)
    texts = _two_texts(reference, generated)
    found = calculate_rouge(**texts)
    slips = {"generated words": found["precision"], "f1": found["f1_score"]}
    slips |= {"distinct words": len(set(reference) & set(generated)) / len(reference)}
    return _DrawnTask("Recall", _lines(texts, "ROUGE-1 recall?"), found["recall"], slips)


def _rouge_l(draw: _Draw) -> _DrawnTask:
    reference, cut = draw.sentence(), draw.number(3, 6)
    turned = reference[cut:] + reference[:cut]
    generated = draw.changed(turned, draw.number(1, 4), 1, draw.some(_ADJECTIVES, 1))
    texts = _two_texts(reference, generated)
    found = calculate_rouge_l(**texts)
    run = SequenceMatcher(None, reference, generated, autojunk=False).find_longest_match().size
    slips = {"precision": found["precision"], "recall": found["recall"]}
    slips |= {"unordered": calculate_rouge(**texts)["f1_score"]}
    slips |= {"unbroken": 2 * run / (len(reference) + len(generated))}
    asked = "F1 of ROUGE-L, the longest common subsequence?"
    return _DrawnTask("Order", _lines(texts, asked), found["f1_score"], slips)


def _references(draw: _Draw) -> _DrawnTask:
    first, second = draw.sentence(), draw.sentence()
    texts = _two_texts(first, draw.changed(first, draw.number(2, 5), draw.number(1, 2)))
    both = [texts["reference"], " ".join(second)]

    def f1(references: list[str], multi: str = "best") -> float:
        return rouge_score(texts["generated"], references, types=["rouge1"], multi=multi)["rouge1"].f1

    slips = {"best": f1(both), "worst": min(f1([text]) for text in both), "joined": f1([" ".join(both)])}
    asked = _lines(texts | {"second reference": both[1]}, "Average of the two F1 of ROUGE-1?")
    return _DrawnTask("Two references", asked, f1(both, "average"), slips)


def _bleu(draw: _Draw) -> _DrawnTask:
    reference = draw.sentence()
    generated = draw.changed(reference, draw.number(3, 5), draw.number(0, 1), ["the"])
    texts = _two_texts(reference, generated)
    found = bleu_score(texts["generated"], texts["reference"], 2, tokenize="none", smooth="none")
    one, two = (count / total for count, total in zip(found.counts, found.totals, strict=True))
    loose = sum(word in reference for word in generated) / len(generated)
    slips = {
        "no penalty": 100 * math.sqrt(one * two),
        "arithmetic mean": 100 * found.bp * (one + two) / 2,
        "unclipped": 100 * found.bp * math.sqrt(loose * two),
        "no root": 100 * found.bp * one * two,
    }
    asked = "BLEU with unigrams and bigrams, from 0 to 100? The brevity penalty is exp(1 − r / c)."
    return _DrawnTask("BLEU", _lines(texts, asked), float(found), slips, 1)


def _nearest(draw: _Draw) -> _DrawnTask:
    own, *article = ([draw.number(0, 5), draw.number(0, 5), draw.number(1, 5)] for _ in range(4))
    cosines = cosine_similarity(article, [own])
    best, *others = topk_related(cosines, 3)[0].tolist()
    products = [sum(a * b for a, b in zip(own, vector, strict=True)) for vector in article]
    largest = products.index(max(products))
    norms = math.hypot(*own) * math.hypot(*article[best])
    another = next(place for place in others if place != largest)
    slips = {"dot product": float(products[best]), "squared lengths": products[best] / norms**2}
    slips |= {"largest product": float(cosines[0, largest]), "another": float(cosines[0, another])}
    shown = {"summary sentence": tuple(own), "article sentences": ", ".join(str(tuple(v)) for v in article)}
    asked = "Cosine of the summary sentence and the nearest article sentence?"
    return _DrawnTask("Nearest", _lines(shown, asked), float(cosines[0, best]), slips)


def _faithfulness(draw: _Draw) -> _DrawnTask:
    threshold, unjudged = draw.number(3, 7) / 10, draw.number(1, 2)
    given = [threshold, *(draw.number(5, 95) / 100 for _ in range(draw.number(5, 10)))]
    verdicts = [Verdict(probability=share, threshold=threshold) for share in given]
    verdicts += [Verdict(probability=None, reason="a heading") for _ in range(unjudged)]
    verdicts = draw.some(verdicts, len(verdicts))
    score = float(supported_share(verdicts)[0] or 0)
    slips = {"all sentences": score * len(given) / len(verdicts), "mean": math.fsum(given) / len(given)}
    slips |= {"unsupported": 1 - score, "at the threshold": score - 1 / len(given)}
    shown = ["heading" if v.probability is None else f"{v.probability:.2f}" for v in verdicts]
    table = {"probabilities of support": ", ".join(shown), "threshold": f"{threshold:.2f}"}
    asked = "Faithfulness: supported sentences / judged sentences?"
    return _DrawnTask("Supported", _lines(table, asked), score, slips)


def _kendall(draw: _Draw) -> _DrawnTask:
    people, metric = draw.some(range(1, 7), 6), draw.some(range(1, 10), 6)
    tables: dict[str, Any] = {"metric": [[share / 10 for share in metric]], "human": [people], "n_resamples": 0}
    tau, rho = (float(correlate(**tables, coefficient=name)) for name in ("kendall", "spearman"))
    slips = {"concordant": (1 + tau) / 2, "not divided": 15 * tau, "sign": -tau, "spearman": rho}
    shown = {"people": ", ".join(map(str, people)), "metric": ", ".join(f".{share}" for share in metric)}
    return _DrawnTask("Judge the judge", _lines(shown, "Kendall's τ of the six summaries?"), tau, slips)


_ALL = (_clipping, _recall, _rouge_l, _references, _bleu, _nearest, _faithfulness, _kendall)
TASKS: dict[str, Callable[[_Draw], _DrawnTask]] = {task.__name__.removeprefix("_"): task for task in _ALL}


def draw_task(seed: str, name: str) -> _DrawnTask:
    """Draw a task of `TASKS` from a student number, and again until its answer and its slips can be told apart.

    Examples
    --------
    >>> drawn = draw_task("4711", "bleu")
    >>> print(drawn.lines[0])
    reference: the narrow sailor watches the violin behind the baker every evening
    >>> round(drawn.answer, drawn.decimals), sorted(drawn.slips)
    (27.6, ['arithmetic mean', 'no penalty', 'no root', 'unclipped'])
    """
    for attempt in range(10_000):
        drawn = TASKS[name](_Draw(f"{seed}/{name}/{attempt}"))
        if drawn.apart():
            return drawn
    raise RuntimeError(f"no task {name!r} could be drawn for {seed!r}: please report it")


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
