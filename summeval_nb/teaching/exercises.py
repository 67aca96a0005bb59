"""Exercises that say "right" or "not yet" without giving the answer away, and the book that they stand in.

When a kernel starts, JupyterLab writes the kernel's name as it is displayed, and its exact version of Python, into the
notebook's metadata. The book's notebooks are stored without either, because they differ from machine to machine, so
each was marked as changed as soon as it was opened. `summeval lab` starts JupyterLab with a class that reads them and
puts both in. No file on the disk is changed, and neither is the user's own configuration of Jupyter.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib import metadata, resources
from pathlib import Path
from typing import Any, NamedTuple, SupportsFloat

from summeval_nb.core.base import JsonDict, float_array
from summeval_nb.core.files import require_path, write_whole
from summeval_nb.core.html import Markup, folded, printable, render

__all__ = ["PARTS", "ExerciseCheck", "Progress", "add_kernel", "book_folder", "book_to_open", "carried_book"]
__all__ += ["check_exercise", "common_slip", "find_book", "hash_answers", "lay_out_book", "my_progress", "open_book"]
__all__ += ["page_is_checked", "part_of"]

_DIGITS = 4  # decimals that count


class _Canonical(NamedTuple):
    """The form in which an answer is compared: its kind, its text, and its kind with the kinds in it."""

    kind: str
    text: str
    named: str


def _canonical(answer: object, shift: float = 0.0) -> _Canonical:
    """Return the form of an answer; raise what a reader should read if it has none."""
    answer = _plain(answer)
    if answer is None:
        return _Canonical("None", "", "None")
    if isinstance(answer, bool):
        return _Canonical("True or False", str(answer), "True or False")
    if isinstance(answer, str):
        return _Canonical("text", _plain_text(answer), "a text")
    if isinstance(answer, Mapping | set | frozenset | list):
        values = answer.values() if isinstance(answer, Mapping) else answer
        forms = [_canonical(value, shift) for value in values]
        texts: list[Any] = [f"{form.kind}:{form.text}" for form in forms]
        kind = "list" if isinstance(answer, list) else "dictionary" if isinstance(answer, Mapping) else "set"
        if isinstance(answer, Mapping):
            texts = list(zip(map(_plain_text, map(str, answer)), texts, strict=True))
        inner = ", ".join(sorted({form.named for form in forms}))  # the kinds in it, and not how many
        text = json.dumps(texts if kind == "list" else sorted(texts))
        return _Canonical(kind, text, f"a {kind} ({inner})" if inner else f"a {kind}")
    if hasattr(answer, "__float__"):
        value = float(float_array(answer, "the answer"))
        if not math.isfinite(value):
            raise ValueError(f"{value} is no answer: find out where it comes from")
        return _Canonical("number", f"{round(value + shift, _DIGITS) + 0.0:.{_DIGITS}f}", "a number")  # no -0.0
    hint = "pass a number, True or False, text, None, or a list, set or dictionary of these"
    if callable(answer):
        hint = "call it on the inputs that the exercise names, and pass what it returns"
    raise TypeError(f"{type(answer).__name__} cannot be compared: {hint}")


def _plain(answer: Any) -> Any:
    """An array or a tuple as a list; what holds one number as that number."""
    return answer.tolist() if hasattr(answer, "tolist") else list(answer) if isinstance(answer, tuple) else answer


def _plain_text(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _seal(exercise: str, form: _Canonical) -> str:
    """Return the salted, slow hash of an answer's form."""
    text = f"{form.kind}:{form.text}".encode("utf-8", "surrogatepass")
    salt = f"summeval_nb:{exercise}".encode("utf-8", "surrogatepass")
    return hashlib.pbkdf2_hmac("sha256", text, salt, 20_000).hex()[:32]


@dataclass(frozen=True, repr=False)
class ExerciseCheck:
    """The outcome of checking an answer; true if the answer is right.

    Attributes
    ----------
    exercise : str
        Chapter and number, such as `"24_bleu/1"`.
    outcome : str
        `"right"`, `"not yet"`, `"slip"` (a foreseen mistake) or `"not answered yet"`.
    message : str
        One sentence for the reader.
    """

    exercise: str
    outcome: str
    message: str

    def __bool__(self) -> bool:
        return self.outcome == "right"

    def __repr__(self) -> str:
        mark = {"right": "✓", "not answered yet": "…"}.get(self.outcome, "✗")
        return f"{mark} {self.exercise}: {self.message}"

    def _repr_html_(self) -> str:
        kind = {"right": "se-right", "not answered yet": "se-open"}.get(self.outcome, "se-wrong")
        return render("said.html", kind=kind, text=repr(self))

    def to_dict(self) -> dict[str, str]:
        """Return exercise, outcome and message."""
        return {"exercise": self.exercise, "outcome": self.outcome, "message": self.message}


_collected: JsonDict | None = None  # the entries by chapter and number, while answers are being sealed


def _entry(exercise: str) -> JsonDict:
    """Return the entry of an exercise, its kind, seal and slips, or raise with the names that are known."""
    chapter, _, number = str(exercise).partition("/")
    if not chapter or not number or not chapter.replace("_", "").isalnum():
        raise ValueError(f"an exercise is named chapter/number, such as '24_bleu/1': got {exercise!r}")
    if _collected is not None:
        return _collected.setdefault(chapter, {}).setdefault(number, {"kind": "", "answer": "", "slips": {}})
    folder = resources.files("summeval_nb") / "assets" / "exercises"
    file = folder / f"{chapter}.json"
    entries = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if number not in entries:
        chapters = sorted(file.name.removesuffix(".json") for file in folder.iterdir())
        meant = [name for name in chapters if chapter in name or name in chapter] or chapters
        known = [f"{chapter}/{other}" for other in entries] or [f"{name}/1" for name in meant]
        raise ValueError(f"no exercise {exercise!r}; known: {', '.join(known)}")
    return entries[number]


def _compare(exercise: str, entry: JsonDict, forms: list[_Canonical]) -> ExerciseCheck:
    """Compare the forms of an answer with the seals of an exercise."""
    seals = [_seal(exercise, form) for form in dict.fromkeys(forms)]
    if entry["answer"] in seals:
        return ExerciseCheck(exercise, "right", "right")
    for seal in seals:
        if seal in entry["slips"]:
            return ExerciseCheck(exercise, "slip", f"not yet: {entry['slips'][seal]}")
    given, wanted = forms[0].named, entry["kind"]
    differ = f": you gave {_in_words(given)}, and this exercise wants {_in_words(wanted)}" if given != wanted else ""
    return ExerciseCheck(exercise, "not yet", f"not yet{differ}")


def check_exercise(exercise: str, answer: object) -> ExerciseCheck:
    """Say whether an answer is right, without knowing the answer.

    Numbers are compared to four decimals, text without regard to case and spaces, lists in order, sets without.

    Parameters
    ----------
    exercise : str
        Chapter and number, such as `"24_bleu/1"`.
    answer : number, bool, str, None, or a list, set or dict of these
        Your answer; `...` means that there is none yet. A numpy array counts as a list, a `Score` as its number.

    Returns
    -------
    ExerciseCheck
        True if right; otherwise its message helps as far as it can without telling.

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> check_exercise("72_teaching_pack/1", ...)
    … 72_teaching_pack/1: not answered yet: put your answer in the place of ...
    >>> check_exercise("72_teaching_pack/1", "three")
    ✗ 72_teaching_pack/1: not yet: you gave a text, and this exercise wants a number
    """
    entry = _entry(exercise)
    if answer is ...:
        return ExerciseCheck(exercise, "not answered yet", "not answered yet: put your answer in the place of ...")
    try:
        forms = [_canonical(answer, shift) for shift in (0.0, -1e-6, 1e-6)]
    except (TypeError, ValueError, OverflowError) as error:
        return ExerciseCheck(exercise, "not yet", f"not yet: {error}")
    if _collected is not None:
        entry.update(kind=forms[0].named, answer=_seal(exercise, forms[0]))
        if numbers := _listed_numbers(answer):
            entry["places"] = [_seal(f"{exercise}/{n}", _canonical(number)) for n, number in enumerate(numbers)]
    check = _compare(exercise, entry, forms)
    if check.message == "not yet" and (hint := _nearly(exercise, answer, entry)):
        return ExerciseCheck(exercise, "not yet", f"not yet: {hint}")
    return check


def common_slip(exercise: str, answer: object, help: str) -> ExerciseCheck:
    """Name a wrong answer that people often give, and the sentence that helps them.

    Stands in a solutions notebook. While answers are sealed it stores the slip; afterwards it shows what a reader who
    makes the slip is told.

    Parameters
    ----------
    exercise, answer
        As for `check_exercise`; the answer is the wrong value.
    help : str
        One sentence that helps and does not give the answer away.

    Raises
    ------
    ValueError
        If the slip is not sealed with this sentence, or is the right answer.

    Examples
    --------
    >>> common_slip("72_teaching_pack/1", 6, "count the pair of a word with itself, too")
    ✗ 72_teaching_pack/1: not yet: count the pair of a word with itself, too
    """
    entry, form = _entry(exercise), _canonical(answer)
    if _collected is not None:
        entry["slips"][_seal(exercise, form)] = str(help)
    check = _compare(exercise, entry, [form])
    if check.message != f"not yet: {help}":
        told = f"{exercise} tells a reader who answers {answer!r} {check.message!r}"
        raise ValueError(f"{told}: seal the chapter again")
    return check


@contextmanager
def hash_answers(folder: str | Path) -> Iterator[Callable[[], JsonDict]]:
    """Store the seals of all answers checked inside the block, one JSON file a chapter.

    Parameters
    ----------
    folder : str or path
        Where the files go; made if it is not there. Nothing is written if the block raises.

    Yields
    ------
    callable
        Returns what has been collected so far.

    Raises
    ------
    RuntimeError
        If answers are already being sealed.
    ValueError
        If a slip was named for an exercise without an answer.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, hash_answers(folder) as collected:
    ...     check_exercise("my_class/1", 0.5)
    ...     sorted(collected()["my_class"])
    ✓ my_class/1: right
    ['1']
    """
    global _collected
    if _collected is not None:
        raise RuntimeError("answers are already being sealed: end the outer block first")
    collected = _collected = {}
    try:
        yield lambda: collected
    finally:
        _collected = None
    named = {f"{chapter}/{n}": entry for chapter, entries in collected.items() for n, entry in entries.items()}
    if missing := [exercise for exercise, entry in named.items() if not entry["answer"]]:
        raise ValueError(f"a slip but no answer: {', '.join(missing)}")
    Path(folder).mkdir(parents=True, exist_ok=True)
    for chapter, entries in collected.items():
        text = json.dumps(entries, indent=1, sort_keys=True, ensure_ascii=False)
        (Path(folder) / f"{chapter}.json").write_text(text + "\n", encoding="utf-8")


_PLURAL = {"number": "numbers", "text": "texts", "list": "lists", "set": "sets", "dictionary": "dictionaries"}


def _in_words(named: str, *, many: bool = False) -> str:
    """The kind of an answer as one would say it: "a list (a list (a text))" is "a list of lists of texts"."""
    found = re.fullmatch(r"(?:a )?([\w ]+?)(?: \((.*)\))?", named)
    if not found:
        return named
    inside, depth = [""], 0
    for character in found[2] or "":  # split at the commas that no bracket holds
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            inside.append("")
        else:
            inside[-1] += character
    kinds = [_in_words(inner.strip(), many=True) for inner in inside if inner.strip()]
    kind = found[1]
    word = _PLURAL.get(kind, kind) if many else f"a {kind}" if kind in _PLURAL else kind
    return f"{word} of {' and '.join(kinds)}" if kinds else word


_WHOLE_ANSWER: tuple[tuple[Callable[[float], float], str], ...] = (
    (lambda value: 100 * value, "yours is a hundredth of it: is a percentage asked for?"),
    (lambda value: value / 100, "yours is a hundred times as much: is a share between 0 and 1 asked for?"),
    (lambda value: -value, "only the sign is wrong"),
    (lambda value: 1 - value, "yours and the right one add up to 1: which of the two shares is asked for?"),
)


def _nearly(exercise: str, answer: object, entry: JsonDict) -> str:
    """What the seals say of a wrong answer of the right kind, as the end of a sentence; "" if nothing."""

    is_right = lambda other: _seal(exercise, _canonical(other)) == entry["answer"]
    numbers, plain = list(_numbers(answer)), _plain(answer)
    for change, hint in _WHOLE_ANSWER if numbers else ():
        changed = [change(number) for number in numbers]
        if all(map(math.isfinite, changed)) and is_right(_changed(answer, changed)):
            return hint
    if isinstance(plain, list) and any(is_right(other) for other in _other_orders(plain)):
        return "the values are right, their order is not"
    if (places := entry.get("places")) and (listed := _listed_numbers(answer)):
        return _by_place(exercise, listed, places)
    rounded = [place for place, number in enumerate(numbers) if _decimals(number) in (2, 3)]
    if len(rounded) > 1:  # too many combinations to look
        return f"if you rounded: numbers are compared to {_DIGITS} decimals"
    for place in rounded:
        for value in _unrounded(numbers[place]):
            if is_right(_changed(answer, [*numbers[:place], value, *numbers[place + 1 :]])):
                return f"nearly: yours is rounded, and numbers are compared to {_DIGITS} decimals"
    return ""


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def _by_place(exercise: str, numbers: list[float], seals: list[str]) -> str:
    """Say which numbers of a list are right, and which are only rounded."""
    if len(numbers) != len(seals):
        return f"you gave {len(numbers)} numbers, and this exercise wants {len(seals)}"

    def is_right(place: int, number: float) -> bool:
        near = {round(number + shift, _DIGITS) for shift in (0.0, -1e-6, 1e-6)}  # as a whole answer is compared
        return any(_seal(f"{exercise}/{place}", _canonical(value)) == seals[place] for value in near)

    def counted(places: list[int]) -> str:
        names = [_ORDINALS[place] if place < len(_ORDINALS) else f"{place + 1}th" for place in places]
        return f"{', '.join(names[:-1])} and {names[-1]} numbers are" if names[1:] else f"{names[0]} number is"

    right = [place for place, number in enumerate(numbers) if is_right(place, number)]
    # each takes up to a second
    tried = [i for i, number in enumerate(numbers) if i not in right and _decimals(number) in (2, 3)][:3]
    rounded = [place for place in tried if any(map(partial(is_right, place), _unrounded(numbers[place])))]
    said = [f"the {counted(right)} right"] if right else []
    if rounded:
        said.append(f"the {counted(rounded)} rounded, and numbers are compared to {_DIGITS} decimals")
    return "; ".join(said) or f"none of the {len(seals)} numbers is right"


def _is_number(value: object) -> bool:
    return isinstance(value, SupportsFloat) and not isinstance(value, bool)


def _listed_numbers(answer: object) -> list[float]:
    """The numbers of an answer that is a list of at least two, and else []."""
    plain = _plain(answer)
    each = [_plain(value) for value in plain] if isinstance(plain, list) and len(plain) > 1 else []
    return [float(value) for value in each] if all(map(_is_number, each)) else []


def _numbers(answer: object) -> Iterator[float]:
    """The numbers in an answer, in order."""
    answer = _plain(answer)
    if isinstance(answer, Mapping | list | set | frozenset):
        for value in answer.values() if isinstance(answer, Mapping) else answer:
            yield from _numbers(value)
    elif _is_number(answer):
        yield float(answer)  # type: ignore[arg-type]


def _changed(answer: object, numbers: list[float]) -> object:
    """The answer with its numbers replaced."""
    left = iter(numbers)

    def change(value: object) -> object:
        value = _plain(value)
        if isinstance(value, Mapping):
            return {key: change(member) for key, member in value.items()}
        if isinstance(value, list | set | frozenset):
            return type(value)(change(member) for member in value)
        return next(left) if _is_number(value) else value

    return change(answer)


def _other_orders(values: list[Any]) -> Iterator[list[Any]]:
    """A list's values backwards, and sorted both ways if they can be."""
    orders = [values[::-1]]
    if all(isinstance(value, int | float) for value in values) or all(isinstance(value, str) for value in values):
        orders += [sorted(values), sorted(values, reverse=True)]
    yield from (order for number, order in enumerate(orders) if order != values and order not in orders[:number])


def _decimals(number: float) -> int:
    """The number of decimals with which a number was probably written; 4 stands for four and more."""
    return next((digits for digits in range(_DIGITS) if abs(round(number, digits) - number) < 1e-9), _DIGITS)


def _unrounded(number: float) -> list[float]:
    """What a number with two or three decimals may be rounded from."""
    half = 10 ** (_DIGITS - _decimals(number)) // 2
    return [number + step * 10**-_DIGITS for step in range(-half, half + 1) if step]


# the first digit of a chapter or lesson to the title of its part
PARTS = {
    "1": "1 · Start",
    "2": "2 · Counting",
    "3": "3 · Evidence",
    "4": "4 · Trust",
    "5": "5 · Other qualities",
    "6": "6 · Judging the judges",
    "7": "7 · Use",
    "-": "Others",
}
_MARKS = {"right": "✓", "not yet": "✗", "not tried": "·"}
_EXERCISE = re.compile(r'check_exercise\("((\w+)/(\d+))", answer\)')


@dataclass(frozen=True)
class Progress:
    """The exercises of a folder of notebooks, and how far each is.

    Attributes
    ----------
    states : dict
        Exercise, such as `"24_bleu/1"`, to `"right"`, `"not yet"` or `"not tried"`.
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
        marks = {chapter: " ".join(map(_MARKS.__getitem__, own.values())) for chapter, own in self.chapters.items()}
        rows = [f"{chapter:{width}}  {own}" for chapter, own in marks.items()]
        return "\n".join([self.summary(), "as saved in the notebooks (✓ right, ✗ not yet, · not tried)", *rows])

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
    """Return the title of the part of the book in which a chapter stands."""
    number = re.match(r"(\d)\d[a-z]?_", chapter)
    return PARTS.get(number[1] if number else "-", PARTS["-"])


def _part_html(title: str, chapters: dict[str, dict[str, str]]) -> Markup:
    """A part's chapters, a row each, behind how many are right; open while one works on it."""
    states = [state for chapter in chapters.values() for state in chapter.values()]
    right, tried = states.count("right"), len(states) - states.count("not tried")
    rows = [(chapter, [f"{_MARKS[state]} {state}" for state in own.values()]) for chapter, own in chapters.items()]
    table = render("progress.html", rows=rows)
    return folded(f"{title}: {right} of {len(states)} right", table, opened=right < len(states) and tried > 0)


def my_progress(folder: str | Path | None = None) -> Progress:
    """Show which exercises you have done, as your saved notebooks say.

    Parameters
    ----------
    folder : str or path, optional
        Where the book's notebooks lie. Without it: the book in which the calling notebook lies, or `nbs` here.

    Returns
    -------
    Progress
        A table in a notebook, lines in a terminal; `states` has exercise to `"right"`, `"not yet"`, `"not tried"`.

    Raises
    ------
    ValueError
        If there is no such folder, or no exercise in it.

    Examples
    --------
    >>> my_progress("nowhere")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: no folder 'nowhere': give the one that holds the book's notebooks, ...
    """
    book = book_folder(Path.cwd()) if folder is None else Path(folder)
    if not book.is_dir():
        raise ValueError(f"no folder {str(book)!r}: give the one that holds the book's notebooks, such as 'nbs'")
    states, unread = dict[str, str](), []
    for path in sorted(book.rglob("*.ipynb")):
        inside = path.relative_to(book).parts
        hidden = "solutions" in inside or any(part.startswith(".") for part in inside)
        if hidden or not path.is_file():  # reading a pipe would wait for ever
            continue
        try:
            states |= _states(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, AttributeError, LookupError, TypeError, RecursionError):
            unread.append(printable(path.relative_to(book).as_posix()))
    if not states:
        raise ValueError(f"no exercises below {str(book)!r}: give the folder that holds the book's notebooks")
    return Progress(states, tuple(unread))


def book_folder(here: Path) -> Path:
    """Return the folder of the book that holds this place, or lies in it as `nbs`."""
    for place in (here, *here.parents):
        for folder in (place, place / "nbs"):
            if (folder / "index.ipynb").is_file() and (folder / "glossary.md").is_file():
                return folder
    raise ValueError(f"no book at {str(here)!r}: give the folder of its notebooks, my_progress('.../nbs')")


def _states(notebook: JsonDict) -> dict[str, str]:
    """The states of a notebook's exercises, from what their cells printed."""
    found = {}
    for cell in notebook["cells"]:
        exercise = _EXERCISE.search("".join(cell["source"])) if cell["cell_type"] == "code" else None
        if exercise:
            printed = [out.get("text") or out.get("data", {}).get("text/plain", []) for out in cell["outputs"]]
            shown = re.findall(rf"([✓✗]) {exercise[1]}:", "".join(map("".join, printed)))
            found[exercise[1]] = {"✓": "right", "✗": "not yet"}[shown[-1]] if shown else "not tried"
    return found


def carried_book() -> Path:
    """Return the folder of the book that comes with the package: in a wheel its own, in a checkout `nbs`."""
    package = Path(str(resources.files("summeval_nb")))
    carried = package / "book"
    return carried if (carried / "index.ipynb").is_file() else book_folder(package)


def lay_out_book(folder: str | Path, *, force: bool = False) -> list[Path]:
    """Copy the book's pages into a folder, and return those that were written.

    A page that is there already is left alone. If one differs, by your work or because the package was updated,
    nothing is written. What lies outside the book is named by its address.

    Raises
    ------
    ValueError
        If a page in the folder differs and `force` is false.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = lay_out_book(folder)
    ...     print(len(written) > 40, lay_out_book(folder))
    True []
    """
    into, book, waiting, different = require_path(folder), carried_book(), {}, []
    docs = f"]({metadata.metadata('summeval_nb')['Home-page']}/blob/main/docs/".encode()
    for path in sorted([*book.rglob("*.ipynb"), *book.rglob("*.md")]):
        place = path.relative_to(book)
        if any(part.startswith((".", "_")) for part in place.parts):
            continue
        target, content = into / place, path.read_bytes().replace(b"](../docs/", docs)
        if not target.is_file() or target.read_bytes() != content:
            waiting[target] = content
            different += [place.as_posix()] if target.exists() else []
    if different and not force:
        raise ValueError(
            f"{len(different)} of the book's pages in {str(into)!r} are not as they come with the package, such as "
            f"{different[0]!r}: give another folder, or replace them with force=True, which loses what you wrote there"
        )
    for target, content in waiting.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, content)
    return list(waiting)


def find_book(places: Iterable[Path]) -> Path | None:
    """Return the folder of the first book that holds one of these places, or lies beside one as `nbs`."""
    for place in places:
        with suppress(ValueError):
            return book_folder(place)
    return None


def book_to_open() -> Path:
    """Return the folder of the book here or in `summeval_book`, else a checkout's; lay one out if there is none.

    What a reader wrote into a book that was laid out earlier stays.
    """
    own = Path.cwd() / "summeval_book"
    found = find_book([Path.cwd(), own, Path(__file__)])
    if found is None:
        lay_out_book(own)
    return found or own


def add_kernel(metadata: MutableMapping[str, Any]) -> None:
    """Put what JupyterLab writes when this environment's Python runs a notebook into the notebook's metadata.

    Examples
    --------
    >>> another = {"kernelspec": {"name": "ir"}}  # which says what it is
    >>> add_kernel(another)
    >>> another
    {'kernelspec': {'name': 'ir'}}
    """
    if metadata.get("kernelspec", {}).get("name") != "python3":
        return
    from ipykernel.ipkernel import IPythonKernel
    from jupyter_client.kernelspec import NoSuchKernel, get_kernel_spec

    with suppress(NoSuchKernel):
        spec = get_kernel_spec("python3")
        metadata["kernelspec"] = {"name": "python3", "display_name": spec.display_name, "language": spec.language}
        metadata["language_info"] = dict(IPythonKernel.language_info)


@cache
def _contents() -> type:
    from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

    class BookContents(AsyncLargeFileManager):  # type: ignore[misc]
        """Files as they are, and notebooks with the metadata of the kernel that will run them."""

        async def get(self, path: str, content: bool = True, *args: Any, **choices: Any) -> Any:
            """Return a file, a folder or a notebook, as JupyterLab asks for it."""
            model = await super().get(path, content, *args, **choices)
            if model["type"] == "notebook" and model["content"] is not None:
                add_kernel(model["content"]["metadata"])
            return model

    return BookContents


def __getattr__(name: str) -> type:
    """Make `BookContents` when JupyterLab asks for it by its place: who only lays the book out needs no server."""
    if name != "BookContents":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _contents()


def open_book(arguments: Sequence[str] = ()) -> None:
    """Open the book's first page in JupyterLab, with the user's options, and return when the server is stopped."""
    from jupyterlab.labapp import LabApp

    first = book_to_open() / "index.ipynb"
    LabApp.launch_instance([f"--ServerApp.contents_manager_class={__name__}.BookContents", *arguments, str(first)])


def page_is_checked() -> bool:
    """Whether a page runs in order to be checked, by our tests or by `nbdev_test`: both set the variable `IN_TEST`.

    In your own session it is False, so that no check of a printed number stops a page whose example you changed.
    """
    return "IN_TEST" in os.environ
