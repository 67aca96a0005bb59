"""The columns of tables that people bring: under which names they stand, what is missing, and which was meant."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from .base import require_column, require_option
from .files import Table, frame_rows

__all__ = ["COLUMN_NAMES", "csv_text", "find_column", "is_missing", "nearest_column", "no_column", "plain_cell"]
__all__ += ["table_records", "table_rows", "unread_columns"]

_CONTEXTS: tuple[str, ...] = ("contexts", "context", "retrieved_contexts", "retrieval_context", "retrieved_documents")
_CONTEXTS += ("retrieved_passages", "source_documents", "documents", "document", "passages")
_TRUTHS: tuple[str, ...] = ("truth", "ground_truth", "ground_truths", "reference", "reference_answer", "gold_answer")
_TRUTHS += ("expected", "expected_answer", "expected_output")

# Who reads a column, by its name here, finds it under each of these.
COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "user_input", "query", "input"),
    "contexts": _CONTEXTS,
    "context": _CONTEXTS,
    "answer": ("answer", "response", "prediction", "generated_answer", "actual_output", "output"),
    "truth": _TRUTHS,
    "ground_truth": _TRUTHS,
    "text": ("text", "article", "document", "source"),
    "summary": ("summary", "generated_summary", "candidate", "hypothesis", "prediction"),
    "candidate": ("candidate", "hypothesis", "prediction", "output"),
    "references": ("references", "reference", "target", "highlights"),
}
_EITHER = frozenset({"answer"})  # beside a `prediction` it may be what is true, so that nobody guesses


def _plain(name: object) -> str:
    """A name without capitals, and with one underscore for all that is neither letter nor digit."""
    return re.sub(r"[\W_]+", "_", str(name).casefold()).strip("_")


@lru_cache(maxsize=4096)
def _columns_of(name: str, present: tuple[object, ...]) -> tuple[object, ...]:
    known = {_plain(known) for known in COLUMN_NAMES.get(name, ())}
    return tuple(column for column in present if column == name or _plain(column) in known)


def find_column(name: str, present: Iterable[object]) -> object | None:
    """Return the column of a table that holds what is read as `name`; None where there is none.

    A column of that very name comes first, but for `answer`.

    Raises
    ------
    ValueError
        If two columns do, such as `answer` and `response`; it names both.

    Examples
    --------
    >>> find_column("truth", ["Question", "Ground Truth"])
    'Ground Truth'
    """
    found = _columns_of(name, tuple(present))
    if name in found and name not in _EITHER:
        return name
    if len(found) > 1:
        remedy = f"leave one of them out, or say which with columns={{{name!r}: {found[0]!r}}}"
        raise ValueError(f"{found[0]!r} and {found[1]!r} can both be the column {name}: {remedy}")
    return found[0] if found else None


def unread_columns(names: Iterable[str], present: Iterable[object]) -> list[object]:
    """Return the columns of a table that are none of those that are read by these names.

    Examples
    --------
    >>> unread_columns(["answer"], ["response", "score"])
    ['score']
    """
    wanted = list(names)
    return [column for column in present if not any(_columns_of(name, (column,)) for name in wanted)]


def nearest_column(name: str, present: Iterable[object]) -> object | None:
    """Return the column that was probably meant by `name`; None where none is near.

    Examples
    --------
    >>> nearest_column("contexts", ["question", "retreived contexts"])
    'retreived contexts'
    """
    columns = {_plain(column): column for column in present if not _plain(column).endswith("_id")}
    for known in (name, *COLUMN_NAMES.get(name, ())):
        if near := get_close_matches(_plain(known), columns, n=1, cutoff=0.8):
            return columns[near[0]]
    return None


def no_column(name: str, present: Iterable[object], *, renamed: bool = False) -> str:
    """Return what is said of a table that lacks a column: what it has, which was meant, and how to say so.

    With `renamed` the caller has no `columns`, and the table's own column has to be renamed.

    Examples
    --------
    >>> no_column("answer", ["question", "anwser"])
    "there is no 'answer'; there is: question, anwser; did you mean 'anwser'? say so with columns={'answer': 'anwser'}"
    """
    columns = list(present)
    said = f"there is no {name!r}; there is: {', '.join(map(str, columns))}"
    if len(columns) == 1 and (sign := re.search(r"[;\t|]", str(columns[0]))):
        return f"{said}; the columns were not taken apart: read the file with sep={sign[0]!r}"
    near = nearest_column(name, columns)
    meant = "" if near is None else f"did you mean {near!r}? "
    if renamed:
        return f"{said}; {meant}rename yours to {name!r}"
    return f"{said}; {meant}say so with columns={{{name!r}: {'...' if near is None else near!r}}}"


def is_missing(value: object) -> bool:
    """Whether a cell of a table holds nothing: None, NaN, pandas' NA, or a text without a letter.

    Examples
    --------
    >>> is_missing(float("nan")), is_missing(" "), is_missing([])
    (True, True, False)
    """
    if isinstance(value, str):
        return not value.strip()
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def plain_cell(value: object) -> str:
    """Return a cell that a spreadsheet shows and does not run."""
    text = "" if is_missing(value) else str(value)
    return f"'{text}" if text[:1] in tuple("=+-@\t\r") else text


def csv_text(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> str:
    """Return a table as CSV; a cell that a row has not is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def table_rows(table: Table) -> list[Mapping[Any, Any]]:
    """Return a table's rows as dictionaries.

    Parameters
    ----------
    table : DataFrame, datasets.Dataset, list of dicts, or dict of columns
        The data.

    Raises
    ------
    TypeError
        If it is no table, a column no list or a row no dictionary.
    ValueError
        If columns have different lengths.
    """
    given: Any = table
    if hasattr(table, "to_dict") and hasattr(table, "columns"):  # pandas; a Dataset also has a to_dict, and no columns
        given = frame_rows(table)
    elif isinstance(table, Mapping):
        lists = {name: require_column(values, f"the column {name!r}") for name, values in table.items()}
        lengths = {name: len(values) for name, values in lists.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns must have the same length, not {lengths}")
        given = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
    rows = isinstance(given, Iterable) or hasattr(given, "__getitem__")  # such as torch's Dataset
    if isinstance(given, (str, bytes)) or not rows:
        remedy = "pass a DataFrame, a Dataset, a list of dictionaries or a dictionary of columns"
        raise TypeError(f"table must be a table, not {type(given).__name__} ({given!r:.40}): {remedy}")
    found = []
    for number, row in enumerate(given):
        if not isinstance(row, Mapping):
            kind = type(row).__name__
            raise TypeError(f"row {number} must be a dictionary, not {kind}: pass a table or a list of dicts")
        found.append(row)
    return found


def table_records(
    table: Table,
    names: Sequence[str],
    *,
    columns: Mapping[str, str] | None = None,
    optional: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Return a table's rows as dictionaries with the wanted names.

    Parameters
    ----------
    table : DataFrame, datasets.Dataset, list of dicts, or dict of columns
        The data.
    names : sequence of str
        What is read. Each stands in the table under one of its `COLUMN_NAMES`.
    columns : mapping of str to str, optional
        Which column is which; None where the caller has no such argument.
    optional : collection of str
        The names that may be missing; they are then None.

    Raises
    ------
    TypeError, ValueError
        As for `table_rows`, or if a column is missing or two hold the same.

    Examples
    --------
    >>> table_records([{"response": "It rained."}], ["answer"])
    [{'answer': 'It rained.'}]
    """
    chosen = columns or {}
    for name in chosen:
        require_option(name, "column", names)
    records = []
    for number, row in enumerate(table_rows(table)):
        found = {name: chosen[name] if name in chosen else find_column(name, row) for name in names}
        for name, column in found.items():
            if name in chosen and column not in row:
                raise ValueError(f"row {number}: there is no {column!r}; there is: {', '.join(map(str, row))}")
            if column is None and name not in optional:
                raise ValueError(f"row {number}: {no_column(name, row, renamed=columns is None)}")
        records.append({name: None if column is None else row[column] for name, column in found.items()})
    return records
