"""A judge's share of right items, corrected by people's labels: items drawn, labelled, counted.

Chapter 61 has the definitions (`correction`): Rogan and Gladen's share, the prediction-powered mean, Wilson's interval.
Here are the public functions around them, the CSV that people label, and the buttons in Jupyter.
"""

from __future__ import annotations

import csv
import io
import math
from bisect import bisect_left
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from typing import Any, ClassVar, TypeAlias

import numpy as np

from summeval_nb.agreement.correction import Tuned, power_tuned, rogan_gladen, t_quantile
from summeval_nb.core.base import (
    JsonDict,
    require_count,
    require_inner_share,
    require_module,
    require_option,
    require_share,
    require_text,
    short_repr,
)
from summeval_nb.core.files import (
    Table,
    csv_text,
    is_missing,
    plain_cell,
    require_once,
    require_path,
    table_rows,
    write_whole,
)
from summeval_nb.core.html import render
from summeval_nb.core.resampling import share_interval
from summeval_nb.core.results import Score, ScoreTable, Signature

__all__ = [
    "CorrectedScore",
    "Labelling",
    "correct_score",
    "draw_items",
    "label_items",
    "labels_needed",
    "read_labels",
    "record_label",
]

MIN_LABELS = 30
SCOPES = ("population", "table")
VERDICTS = ("probability", "verdict", "score", "supported")  # columns that hold one
LABEL_COLUMNS = ("label", "who", "when")
# what people said: a mapping, a table with `id` and `label`, or a CSV's path
Labels: TypeAlias = "Mapping[Any, Any] | Table | str | PathLike[str]"
Judged: TypeAlias = "ScoreTable[Any] | Table"  # a judge's table


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CorrectedScore(Score):
    """A share of right items, or the difference of two, with its interval.

    Parameters
    ----------
    score : float
        The corrected share, in [0, 1], or a difference of shares in [-1, 1].
    interval, labels_interval : (float, float)
        Its interval, and that of the labels alone.
    confidence : float
        How often such intervals hold the truth.
    raw, labels_mean : float
        The mean of the judge over all items, and of people over the labelled ones.
    weight : float
        How much the judge counts; near 0 for a judge that knows nothing.
    worth : float or None
        So many labels alone would have this variance; None if everything is labelled.
    tpr, fpr, rogan_gladen : float or None
        The judge's two rates on labelled items, with a yes from 0.5 upwards, and the share that follows from them;
        None for a difference.
    n_items, n_labels, n_left_out : int
        Items with a verdict, labels among them, and items without a verdict.
    """

    interval: tuple[float, float]
    labels_interval: tuple[float, float]
    confidence: float
    raw: float
    labels_mean: float
    weight: float
    worth: float | None
    tpr: float | None
    fpr: float | None
    rogan_gladen: float | None
    n_items: int
    n_labels: int
    n_left_out: int
    more: ClassVar = ("weight", "worth", "tpr", "fpr", "n_items", "n_labels", "n_left_out")

    def rows(self) -> list[JsonDict]:
        """Return what one may publish: raw, labels alone, Rogan-Gladen, corrected."""
        parts = [
            ("raw verdicts", self.raw, None, None),
            ("labels alone", self.labels_mean, *self.labels_interval),
            ("Rogan-Gladen", self.rogan_gladen, None, None),
            ("corrected", self.score, *self.interval),
        ]
        return [dict(zip(("estimate", "score", "low", "high"), part, strict=True)) for part in parts]

    def __str__(self) -> str:
        low, high = self.interval
        worth = "all" if self.worth is None else f"{self.worth:.0f}"
        left = f", {self.n_left_out} without a verdict" if self.n_left_out else ""
        return (
            f"{self.score:.3f} ({self.confidence:.0%} interval {low:.3f} to {high:.3f}); raw {self.raw:.3f}, labels "
            f"alone {self.labels_mean:.3f}\n{self.n_labels} labels of {self.n_items} items{left}; weight of the judge "
            f"{self.weight:.2f}, together worth {worth} labels"
        )


def correct_score(
    table: Judged,
    labels: Labels,
    *,
    other: tuple[Any, Any] | None = None,
    verdict: str | None = None,
    confidence: float = 0.95,
    scope: str = "population",
) -> CorrectedScore:
    """Return the share of right items from a judge's verdicts and some labels.

    The labelled items must be drawn at random, as `draw_items` does.

    Parameters
    ----------
    table : table of results, DataFrame, list of dicts or dict of columns
        The judge's verdict or probability for each item, from 0 to 1.
    labels : mapping, table with `id` and `label`, or path of a CSV
        Yes or no of people for at least 30 items; an empty label is none yet.
    other : (table, labels), optional
        A second system on the same items: the result is the first minus the second.
    verdict : str, optional
        The column with the verdict, where it has another name.
    confidence : float
        How often such intervals shall hold the truth.
    scope : {"population", "table"}
        Of which items the share is: of all that such items could be, as in the paper, or of the table's own.

    Returns
    -------
    CorrectedScore
        The share with its interval, the judge's weight and what stands beside it.

    Raises
    ------
    TypeError, ValueError
        If the table has no verdicts from 0 to 1, or labels are of unknown items, of one class only or too few; the
        message says how many are missing.

    References
    ----------
    Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient Prediction-Powered Inference.

    Examples
    --------
    >>> judge = {"id": range(200), "verdict": [i % 4 > 0 for i in range(200)]}
    >>> found = correct_score(judge, {i: i % 5 > 0 for i in range(0, 200, 3)})
    >>> found.n_labels, found.interval[0] < 0.8 < found.interval[1]
    (67, True)
    """
    require_option(scope, "scope", SCOPES)
    require_inner_share(confidence, "confidence")
    judged, left_out = read_verdicts(table, verdict)
    said = _joined(judged, read_labels(labels), left_out)
    if other is not None:
        if not isinstance(other, tuple) or len(other) != 2:
            raise TypeError("other must be a tuple: the second table and its labels")
        judged_b, left_b = read_verdicts(other[0], verdict)
        if judged.keys() | left_out != judged_b.keys() | left_b:
            raise ValueError("the two tables must have the same items, with the same ids")
        said_b = _joined(judged_b, read_labels(other[1]), left_b)
        judged = {i: f - judged_b[i] for i, f in judged.items() if i in judged_b}
        said = {i: y - said_b[i] for i, y in said.items() if i in said_b}
        left_out |= left_b
    _require_enough(said, len(judged), paired=other is not None)
    y, f = np.array(list(said.values())), np.array([judged[i] for i in said])
    rest = np.array([value for i, value in judged.items() if i not in said])
    return corrected(y, f, rest, confidence, scope, other is not None, len(left_out))


def corrected(
    y: np.ndarray,
    f: np.ndarray,
    rest: np.ndarray,
    confidence: float = 0.95,
    scope: str = "population",
    paired: bool = False,
    left_out: int = 0,
) -> CorrectedScore:
    """Return what `correct_score` returns, from the arrays of `power_tuned`."""
    n, found = len(y), power_tuned(y, f, rest, scope)
    alone, spread, mean = found.label_variance, found.spread, float(y.mean())
    interval = _interval(found.estimate, found.variance, spread, t_quantile(confidence, n - 2), paired)
    plain = _interval(mean, alone, spread, t_quantile(confidence, n - 1), paired)
    if not len(rest) or interval[1] - interval[0] > 1.05 * (plain[1] - plain[0]):
        found, interval = Tuned(mean, 0.0, alone, alone, spread), plain
    everything = np.concatenate([f, rest])
    rates: JsonDict = dict.fromkeys(("tpr", "fpr", "rogan_gladen"))
    if not paired:
        rates |= {name: float((f[y == side] >= 0.5).mean()) for name, side in (("tpr", 1), ("fpr", 0))}
        rates["rogan_gladen"] = rogan_gladen(float((everything >= 0.5).mean()), rates["tpr"], rates["fpr"])
    parts: JsonDict = {"metric": "corrected", "method": "ppi++", "scope": scope, "confidence": confidence}
    return CorrectedScore(
        score=min(1.0, max(-1.0 if paired else 0.0, found.estimate)),
        signature=Signature(parts | {"labels": n, "items": len(everything), "difference": paired}),
        interval=interval,
        labels_interval=plain,
        confidence=confidence,
        raw=float(everything.mean()),
        labels_mean=mean,
        weight=found.weight,
        worth=spread / found.variance if found.variance else None,
        **rates,
        n_items=len(everything),
        n_labels=n,
        n_left_out=left_out,
    )


def _interval(estimate: float, variance: float, spread: float, t: float, paired: bool) -> tuple[float, float]:
    if paired:
        half = t * math.sqrt(variance)
        return max(-1.0, estimate - half), min(1.0, estimate + half)
    return share_interval(estimate, spread / variance if variance else math.inf, t)


def labels_needed(
    table: Judged,
    width: float = 0.1,
    *,
    labels: Labels | None = None,
    verdict: str | None = None,
    confidence: float = 0.95,
    scope: str = "population",
) -> int:
    """Return how many labels in all give an interval of this width.

    Parameters
    ----------
    table : table of results, DataFrame, list of dicts or dict of columns
        The judge's table, as for `correct_score`.
    width : float
        From the interval's lower to its upper end, between 0 and 1.
    labels : mapping, table or path, optional
        The first labels, at least 30; without them the worst case.
    verdict, confidence, scope
        As for `correct_score`.

    Returns
    -------
    int
        The number of labels, at least 30.

    Raises
    ------
    TypeError, ValueError
        As for `correct_score`, or if all items together are too few.

    Examples
    --------
    >>> labels_needed({"score": [0, 1] * 500}, width=0.2)
    95
    """
    require_inner_share(width, "width")
    require_inner_share(confidence, "confidence")
    require_option(scope, "scope", SCOPES)
    total, share, spread, useless = len(read_verdicts(table, verdict)[0]), 0.5, 0.25, 1.0
    if labels is not None:
        first = correct_score(table, labels, scope="table", verdict=verdict, confidence=confidence)
        share, spread = float(first), first.labels_mean * (1 - first.labels_mean)
        if first.worth is not None:  # the part of the variance that the judge leaves
            useless = min(1.0, first.n_labels / (1 - first.n_labels / total) / first.worth)

    def wide(n: int) -> float:
        variance = spread * useless * (1 / n - 1 / total) + (spread / total if scope == "population" else 0.0)
        low, high = _interval(share, variance, spread, t_quantile(confidence, n - 2), paired=False)
        return high - low

    if total < MIN_LABELS or wide(total) > width:
        reached = f"; all of them give {wide(total):.3f}" if total > 2 else ""
        remedy = "bring more items or ask for a wider interval"
        raise ValueError(f"{total} items are too few for {width}{reached}: {remedy}")
    return bisect_left(range(total + 1), True, lo=MIN_LABELS, key=lambda n: wide(n) <= width)


# The CSV that people label


def draw_items(
    table: Judged, n: int, seed: int = 0, *, path: str | PathLike[str] | None = None, verdict: str | None = None
) -> list[JsonDict]:
    """Draw items at random for people to label, and write them as a CSV.

    Parameters
    ----------
    table : table of results, DataFrame, list of dicts or dict of columns
        The judge's table, as for `correct_score`. Its other columns are written, too.
    n : int
        How many items, at least 1 and at most all that have a verdict.
    seed : int
        The same seed gives the same order; a larger n continues it.
    path : path, optional
        The CSV. If it exists, its labels are kept; `.NAME.lock` beside it guards it.
    verdict : str, optional
        The column with the verdict; it is not written.

    Returns
    -------
    list of dict
        One for each item: id, what is to be read, label, who and when. An item that several people labelled has one
        for each of them.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than n items, or the file holds other items.

    Examples
    --------
    >>> judge = {"id": ["a", "b", "c"], "text": ["A.", "B.", "C."], "score": [1, 0, 1]}
    >>> [item["id"] for item in draw_items(judge, 2)], [*draw_items(judge, 1)[0]]
    (['c', 'a'], ['id', 'text', 'label', 'who', 'when'])
    """
    names = list(read_verdicts(table, verdict)[0])
    if require_count(n, "n") > len(names):
        missing = n - len(names)
        raise ValueError(f"n={n}, but only {len(names)} items have a verdict: {missing} are missing")
    rng = np.random.default_rng(require_count(seed, "seed", minimum=0))
    drawn = [names[place] for place in rng.permutation(len(names))[:n]]
    shown = _shown(table, verdict, drawn)
    with _locked(path):
        known: dict[str, list[JsonDict]] = {}
        if path is not None and require_path(path).exists():
            known = drawn_items(path)
        if lost := [i for i, rows in known.items() if i not in shown or not _one_text(rows[0], shown[i])]:
            more = f"{len(lost)} items that this drawing has not, or other texts, such as {short_repr(lost[0])}"
            remedy = "take the seed and an n of the first drawing, or another path"
            raise ValueError(f"{path} holds {more}: {remedy}")
        found = [
            {"id": name, **shown[name], **{key: row.get(key, "") for key in LABEL_COLUMNS}}
            for name in drawn
            for row in known.get(name, [{}])
        ]
        if path is not None:
            _write_csv(path, found)
    return found


def record_label(path: str | PathLike[str], item: str, label: bool | str, who: str) -> None:
    """Write one label into the CSV of `draw_items`, with who gave it and when (UTC).

    Parameters
    ----------
    path : path
        The CSV; it is written whole or not at all, by one process at a time.
    item : str
        The id of a drawn item.
    label : bool or str
        Yes or no.
    who : str
        Who says so. A second label of the same person takes the place of the first, and one of somebody else gets a row
        of its own.

    Raises
    ------
    TypeError, ValueError
        If the file has no such item, or the label is neither yes nor no.
    """
    said = "yes" if _as_label(label, str(item)) else "no"
    who = plain_cell(require_text(who, "who").strip())
    when = datetime.now(UTC).isoformat(timespec="seconds")
    with _locked(path):
        rows = read_drawn(path)
        same = [row for row in rows if row["id"] == str(item)]
        if not same:
            raise ValueError(f"{path} holds no item {short_repr(str(item))}")
        mine = [row for row in same if row.get("who") == who] or [row for row in same if is_missing(row["label"])]
        if not mine:
            mine = [dict(same[-1])]
            rows.insert(rows.index(same[-1]) + 1, mine[0])
        mine[0].update(label=said, who=who, when=when)
        _write_csv(path, rows)


def _shown(table: Judged, verdict: str | None, drawn: list[str]) -> dict[str, JsonDict]:
    """What a person reads of each drawn item: no verdict, texts without formulas."""
    found, wanted = {}, set(drawn)
    hidden = {"id", *LABEL_COLUMNS, *VERDICTS, verdict}
    for place, (name, row) in enumerate(_table_items(table)):
        if name not in wanted:
            continue
        if isinstance(table, ScoreTable) and table.sentence_columns:
            parts = table.sentence_rows(place)
            quotes = dict.fromkeys(str(quote) for part in parts for quote in part.get("quotes") or ())
            text = " ".join(str(part.get("text", "")) for part in parts)
            row = {"text": text, "evidence": " / ".join(quotes)}
        found[name] = {str(key): plain_cell(value) for key, value in row.items() if str(key) not in hidden}
    return found


def _one_text(file: Mapping[str, Any], shown: Mapping[str, Any]) -> bool:
    """Whether both show the same item; a spreadsheet may change its numbers."""
    words = [k for k, v in shown.items() if k in file and any(map(str.isalpha, v))]
    bare = [["".join(row[k].lower().split()) for k in words] for row in (file, shown)]
    return bare[0] == bare[1]


def _locked(path: str | PathLike[str] | None) -> AbstractContextManager[object]:
    """Let no other process write a file of labels meanwhile."""
    from filelock import FileLock

    file = None if path is None else require_path(path)
    if file is None or not file.is_file():
        return nullcontext()
    return FileLock(file.with_name(f".{file.name}.lock"), timeout=60)


def _write_csv(path: str | PathLike[str], rows: list[JsonDict]) -> None:
    for row in rows:
        if row["id"][:1] in tuple("=+@"):
            raise ValueError(f"the id {row['id']!r} begins with {row['id'][0]!r}: a spreadsheet would run it")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    columns.sort(key=lambda name: name in LABEL_COLUMNS)
    write_whole(path, csv_text(rows, columns))


def read_drawn(path: str | PathLike[str]) -> list[dict[str, Any]]:
    """Return the rows of a CSV of `draw_items`, as people or a spreadsheet left it."""
    file = require_path(path)
    if not file.is_file():
        raise ValueError(f"there is no file {path}: draw_items(table, n, path=) writes it")
    csv.field_size_limit(2**31 - 1)
    try:
        text = file.read_bytes().decode("utf-8-sig")
        sign = max(",;\t", key=text.partition("\n")[0].count)
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=sign, restval="", strict=True)
        require_once(reader.fieldnames or (), str(path))
        rows = list(reader)
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8: save it as CSV UTF-8") from None
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}") from None
    if not rows or not {"id", "label"} <= rows[0].keys():
        raise ValueError(f"{path} has no rows with the columns 'id' and 'label'")
    return [{key: row[key] for key in row if key is not None} for row in rows]


def drawn_items(path: str | PathLike[str]) -> dict[str, list[JsonDict]]:
    """Return the rows of `read_drawn` by item: one for each person who labelled it."""
    found: dict[str, list[JsonDict]] = {}
    for row in read_drawn(path):
        found.setdefault(row["id"], []).append(row)
    return found


# Labels and verdicts of any form, by id


def read_labels(labels: Labels, who: str | None = None) -> dict[str, float]:
    """Return labels by id, 1 for yes and 0 for no; what is not yet labelled is out.

    Parameters
    ----------
    labels : mapping, table with `id` and `label`, or path of a CSV
        Yes or no (y, n, true, false, 1, 0) of people; an empty label is none yet.
    who : str, optional
        Take the labels of this person only, by the column `who`.

    Returns
    -------
    dict
        Id to 1.0 or 0.0, as `correct_score` takes it.

    Raises
    ------
    ValueError
        If a label is neither yes nor no, a person labels an item twice, or two people disagree and `who` does not
        choose one.

    Examples
    --------
    >>> ada = {"id": 1, "label": "yes", "who": "Ada"}
    >>> read_labels([ada, ada | {"label": "no", "who": "Bo"}], who="Bo")
    {'1': 0.0}
    """
    given: Any = labels
    if isinstance(given, (str, PathLike)):
        given = read_drawn(given)
    elif hasattr(given, "to_dict") and not hasattr(given, "columns"):
        given = given.to_dict()  # a Series, by its index
    if isinstance(given, Mapping) and not ("id" in given and "label" in given):
        given = [{"id": item, "label": label} for item, label in given.items()]
    people: dict[str, list[tuple[str, Any]]] = {}
    for row in table_rows(given):
        if not {"id", "label"} <= row.keys():
            raise ValueError(f"labels need the columns 'id' and 'label'; there is: {', '.join(map(str, row))}")
        by = "" if is_missing(row.get("who")) else str(row["who"]).strip()
        people.setdefault(by, []).append((_name(row["id"]), row["label"]))
    said = {
        by: {i: _as_label(v, i) for i, v in _named(pairs, "labels").items() if not is_missing(v)}
        for by, pairs in people.items()
    }
    if who is not None:
        return said[require_option(who, "who", said)]
    found: dict[str, float] = {}
    for by, theirs in said.items():
        if other := [i for i in theirs if found.get(i, theirs[i]) != theirs[i]]:
            more = f"{len(other)} items than another, such as {other[0]!r}, differently"
            raise ValueError(f"{by or 'somebody'} labels {more}: settle it, or take one person's labels (who)")
        found |= theirs
    return found


def read_verdicts(table: Judged, verdict: str | None = None) -> tuple[dict[str, float], set[str]]:
    """Return verdicts by id, each in [0, 1], and the ids of items that have none."""
    pairs = [(name, row[_verdict_column(row, verdict)]) for name, row in _table_items(table)]
    named = _named(pairs, "the table")
    found = {i: _as_share(v, i) for i, v in named.items() if not is_missing(v)}
    if not found:
        raise ValueError(f"none of {len(named)} items has a verdict: judge them first")
    return found, named.keys() - found.keys()


def _as_label(value: object, item: str) -> float:
    """1 for yes and 0 for no."""
    text = str(value).strip().lower()
    for number, words in ((1.0, "yes y true 1 1.0"), (0.0, "no n false 0 0.0")):
        if text in words.split():
            return number
    raise ValueError(f"the label of item {item!r} is {short_repr(value)}: say yes or no")


def _as_share(value: object, item: str) -> float:
    number = float(value) if isinstance(value, (bool, np.bool_)) else value
    if isinstance(value, str):  # a cell of a CSV
        with suppress(ValueError):
            number = _as_label(value, item)
        with suppress(ValueError):
            number = float(value)
    try:
        return require_share(number, f"the verdict of item {item!r}")
    except TypeError as error:
        raise TypeError(f"{error}: name the column with verdict=") from error


def _name(value: object) -> str:
    """An id as a CSV would hold it."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()


def _named(pairs: list[tuple[str, Any]], what: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if not name or name in found:
            problem = "stands there twice" if name else "is empty"
            raise ValueError(f"{what}: the id {name!r} {problem}; give every item its own")
        found[name] = value
    return found


def _table_items(table: Judged) -> list[tuple[str, Mapping[Any, Any]]]:
    given: Any = table
    if isinstance(given, ScoreTable):
        names = range(len(given)) if given.index is None else given.index
        values = [None if math.isnan(v) else v for v in given.scores.tolist()]
        return [(_name(i), {"score": v}) for i, v in zip(names, values, strict=True)]
    rows = table_rows(given)
    index = getattr(given, "index", None) if hasattr(given, "columns") else None
    places = range(len(rows)) if index is None else index
    return [(_name(row.get("id", i)), row) for i, row in zip(places, rows, strict=True)]


def _verdict_column(row: Mapping[Any, Any], verdict: str | None) -> str:
    wanted = VERDICTS if verdict is None else (verdict,)
    for name in wanted:
        if name in row:
            return name
    raise ValueError(f"no column {' or '.join(wanted)}; there is: {', '.join(map(str, row))}; name verdict=")


def _joined(judged: dict[str, float], said: dict[str, float], left_out: set[str]) -> dict[str, float]:
    """Labels of items with a verdict, which may have failed."""
    if lost := [i for i in said if i not in judged and i not in left_out]:
        some = ", ".join(map(repr, lost[:3]))
        what = f"{len(lost)} of {len(said)} labels are of items that the table has not, such as {some}"
        raise ValueError(f"{what}: take the ids of draw_items")
    return {i: y for i, y in said.items() if i in judged}


def _require_enough(said: dict[str, float], items: int, *, paired: bool) -> None:
    if (missing := MIN_LABELS - len(said)) > 0:
        needed = f"the interval needs {MIN_LABELS}, {missing} are missing"
        raise ValueError(f"{len(said)} labels of {items} items with a verdict are too few: {needed}")
    if len(set(said.values())) < 2:
        (only,) = set(said.values())
        kind = f"differences are {only:g}" if paired else f"labels are {'yes' if only else 'no'}"
        raise ValueError(f"all {len(said)} {kind}: at least one of the other kind is missing; draw more items")


# Buttons in Jupyter


class Labelling:
    """Drawn items with buttons, as `label_items` returns them: `widget`, its `buttons` by name, and the `place`."""

    def __init__(self, path: str | PathLike[str], who: str, question: str) -> None:
        widgets: Any = require_module("ipywidgets", "lab")
        self.path, self.who = path, plain_cell(require_text(who, "who").strip())
        if not self.who:
            raise ValueError("who is empty: say whose labels these are")
        self._question, self._problem = require_text(question, "question"), ""
        self._items = [*drawn_items(path).values()]
        wide, names = widgets.Layout(width="6rem"), ("Yes", "No", "Skip", "Back")
        self.place = self._next(0)
        self.buttons = {name: widgets.Button(description=name, layout=wide) for name in names}
        for name, button in self.buttons.items():
            button.on_click(partial(self._clicked, name))
        row = widgets.HBox([*self.buttons.values()], layout=widgets.Layout(flex_flow="row wrap"))
        self._view = widgets.HTML(layout=widgets.Layout(width="auto", min_width="0"))
        self.widget: Any = widgets.VBox([row, self._view])
        self._draw()

    def _own(self, rows: list[JsonDict]) -> str:
        return next((row["label"] for row in rows if row.get("who") == self.who and not is_missing(row["label"])), "")

    def _next(self, start: int) -> int:
        """The first place from `start` on without a label of this person."""
        waiting = (place for place, rows in enumerate(self._items[start:], start) if not self._own(rows))
        return next(waiting, len(self._items))

    def _clicked(self, name: str, _: object = None) -> None:
        self._problem = ""
        try:  # Jupyter hides what a button raises
            if name in ("Yes", "No"):
                record_label(self.path, self._items[self.place][0]["id"], name, self.who)
                self._items = [*drawn_items(self.path).values()]
            self.place = self.place - 1 if name == "Back" else self._next(self.place + 1)
        except (OSError, ValueError, RuntimeError) as error:
            self._problem = str(error)
        self._draw()

    def _draw(self) -> None:
        self._view.value = self._repr_html_()
        for name, button in self.buttons.items():
            button.disabled = self.place == 0 if name == "Back" else self.place >= len(self._items)

    def __repr__(self) -> str:
        total, done = len(self._items), sum(bool(self._own(rows)) for rows in self._items)
        if self.place >= total:
            more = f"; {total - done} have none, call label_items again for them" if done < total else ""
            return f"The end: {done} of {total} labelled by {self.who}{more}"
        own = self._own(self._items[self.place])
        return f"{self.place + 1} of {total}, {done} labelled by {self.who}" + (f"; this one: {own}" if own else "")

    def _repr_html_(self) -> str:
        shown = []
        for name, text in self._items[self.place][0].items() if self.place < len(self._items) else ():
            if name not in ("id", *LABEL_COLUMNS, *VERDICTS) and not is_missing(text):
                guarded = text[:1] == "'" and plain_cell(text[1:]) == text  # for spreadsheets only
                shown.append((name, text[1:] if guarded else text))
        words = {"question": self._question, "status": repr(self), "problem": self._problem}
        return render("label.html", **words, shown=shown)

    def _repr_mimebundle_(self, **kwargs: object) -> JsonDict:
        moving = self.widget._repr_mimebundle_(**kwargs)
        return {**moving, "text/plain": repr(self), "text/html": self._repr_html_()}


def label_items(path: str | PathLike[str], who: str, *, question: str = "Is it right?") -> Labelling:
    """Show drawn items one at a time in Jupyter, and keep a yes or no for each.

    The judge's verdict is not shown, because who sees it tends to agree with it. Each label is written at once, with
    who gave it and when (UTC). Called again, it goes on at the first item without a label of this person.

    Parameters
    ----------
    path : path
        The CSV that `draw_items` wrote. `correct_score` takes it.
    who : str
        Whose labels these are. Several people may label one file; `read_labels(path, who)` tells them apart.
    question : str
        What yes and no answer.

    Returns
    -------
    Labelling
        Its buttons are Yes, No, Skip (no label) and Back (label again, the last label counts).

    Raises
    ------
    ImportError
        Without ipywidgets. Write yes or no into the CSV instead.
    TypeError, ValueError
        If there is no such CSV, or who or the question is no text.

    Examples
    --------
    >>> import tempfile
    >>> from summeval_nb.agreement import draw_items
    >>> path = tempfile.mkdtemp() + "/to_label.csv"
    >>> drawn = draw_items({"text": ["It rained.", "It snowed."], "score": [1, 0]}, 2, path=path)
    >>> items = label_items(path, who="Ada")
    >>> items.buttons["Yes"].click()
    >>> items
    2 of 2, 1 labelled by Ada
    """
    return Labelling(path, who, question)
