"""Files that are written whole or not at all, tables that people bring, and the items of a corpus, one at a time."""

from __future__ import annotations

import ast
import codecs
import csv
import errno
import gzip
import io
import itertools
import json
import os
import re
import secrets
import stat
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias, cast

from .base import (
    PACKAGE,
    Frame,
    JsonDict,
    is_frame,
    is_listed,
    require_column,
    require_module,
    require_option,
    require_text,
    require_texts,
    short_repr,
)

__all__ = ["COLUMN_NAMES", "Corpus", "csv_text", "encode_row", "find_column", "FORMATS", "frame_rows", "is_gap"]
__all__ += ["is_missing", "is_unrated", "Item", "ItemStream", "lost_columns", "nearest_column", "no_column"]
__all__ += ["open_items", "plain_cell", "read_asset", "read_item", "read_plain", "replacing", "require_once"]
__all__ += ["require_passages", "require_path", "require_truth", "Table", "table_records", "table_rows"]
__all__ += ["unread_columns", "why_unread", "without_gaps", "write_whole"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a binary file that takes the place of `path` once the block has ended well and all of it is on the disk.

    After any error, a full disk or a Ctrl-C, `path` is what it was before. What is no ordinary file, such as a device
    or a pipe, has no place to be taken and is written to directly; of a link its target is replaced.
    """
    target = Path(os.path.realpath(path))
    known = os.stat(target) if target.exists() else None
    if known is not None and not stat.S_ISREG(known.st_mode):
        with open(target, "wb") as file:
            yield file
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder to write into", str(target.parent))
    beside = target.with_name(f".{secrets.token_hex(8)}.part")
    number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(number, "wb") as file:
            if known is not None:
                os.chmod(beside, stat.S_IMODE(known.st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def require_path(path: str | os.PathLike[str]) -> Path:
    """Return a path that a file can have, or raise a `ValueError`."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ValueError(f"no file can be called {str(path)!a}: it holds half a character") from None
    return Path(path)


def read_asset(name: str) -> bytes:
    """Return the content of a file of the package's data, unpacked where it ends in .gz."""
    content = (PACKAGE / "assets" / name).read_bytes()
    return gzip.decompress(content) if name.endswith(".gz") else content


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file whole or not at all; text as UTF-8. Half a character (a lone surrogate) becomes `?`."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    with replacing(path) as file:
        file.write(data)


# rows to score: a table of pandas, dictionaries (so does a datasets.Dataset give them), or lists by column
Table: TypeAlias = Frame | Iterable[Mapping[str, object]] | Mapping[str, Sequence[object]]


def require_once(names: Iterable[object], what: str) -> None:
    """Raise a `ValueError` if a table names a column twice: a row would hold the last of them only."""
    listed = list(map(str, names))
    if len(set(listed)) < len(listed):
        twice = next(name for name in listed if listed.count(name) > 1)
        raise ValueError(f"{what} names a column twice, {twice!r}: rename one of them, or leave it out")


def frame_rows(given: Any) -> Any:
    """Return the rows of a table of pandas, polars or Arrow as dictionaries, and anything else as it is.

    Two columns of one name are a `ValueError`.
    """
    if not is_frame(given):
        return given
    require_once(getattr(given, "column_names", given.columns), "the table")
    if hasattr(given, "to_pylist"):
        return given.to_pylist()
    return given.to_dicts() if hasattr(given, "to_dicts") else given.to_dict("records")


_ANSWERS = "prediction hypothesis output actual_output response generated answer generated_answer"
_SUMMARIES = f"{_ANSWERS} candidate summary generated_summary"
_NAMES = {
    "question": "question user_input query input",
    "contexts": "contexts context retrieved_contexts retrieval_context retrieved_documents retrieved_passages "
    "source_documents documents document passages",
    "ground_truth": "truth ground_truth ground_truths reference reference_answer gold_answer expected expected_answer "
    "expected_output",
    "text": "text article document source",
    "summary": _SUMMARIES,
    "candidate": _SUMMARIES,
    "answer": _ANSWERS,
    "references": "references reference target gold highlights",
}
# Who reads a column, by its name here, finds it under each of these.
COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {name: tuple(others.split()) for name, others in _NAMES.items()}
_FIRST = ("references", "candidate", "text", "contexts", "ground_truth", "question")  # for a function's own names
_EITHER = frozenset({"answer"})  # beside a `prediction` it may be what is true, so that nobody guesses


def _plain(name: object) -> str:
    """A name without capitals, and with one underscore for all that is neither letter nor digit."""
    return re.sub(r"[\W_]+", "_", str(name).casefold()).strip("_")


@lru_cache(maxsize=4096)
def _columns_of(name: str, present: tuple[object, ...]) -> tuple[object, ...]:
    owner = name if name in COLUMN_NAMES else next((own for own in _FIRST if name in COLUMN_NAMES[own]), "")
    known = {_plain(known) for known in COLUMN_NAMES.get(owner, ())}
    return tuple(column for column in present if column == name or _plain(column) in known)


def find_column(name: str, present: Iterable[object]) -> object | None:
    """Return the column of a table that holds what is read as `name`; None where there is none.

    A column of that very name comes first, but for `answer`. Two others are a `ValueError` that names both.

    Examples
    --------
    >>> find_column("ground_truth", ["Question", "Ground Truth"])
    'Ground Truth'
    """
    found = _columns_of(name, tuple(present))
    if name in found and name not in _EITHER:
        return name
    if not found and name == "contexts":  # an article that was summarised
        return find_column("text", present)
    if len(found) > 1:
        remedy = f"leave one of them out, or say which with columns={{{name!r}: {found[0]!r}}}"
        raise ValueError(f"{found[0]!r} and {found[1]!r} can both be the column {name}: {remedy}")
    return found[0] if found else None


def unread_columns(names: Iterable[str], present: Iterable[object]) -> list[object]:
    """Return the columns of a table that are none of those that are read by these names."""
    wanted = list(names)
    return [column for column in present if not any(_columns_of(name, (column,)) for name in wanted)]


def lost_columns(
    names: Iterable[str], optional: Iterable[str], rows: Sequence[Mapping[str, Any]], taken: Collection[object]
) -> list[str]:
    """Return what is said of each optional column that no row has, where the table has another that may be meant."""
    others = [column for column in unread_columns(names, rows[0]) if column not in taken]
    lost = [name for name in optional if all(row.get(name) is None for row in rows)] if others else []
    return [no_column(name, others) for name in lost]


def nearest_column(name: str, present: Iterable[object]) -> object | None:
    """Return the column that was probably meant by `name`; None where none is near."""
    columns = {_plain(column): column for column in present if not _plain(column).endswith("_id")}
    for known in (name, *COLUMN_NAMES.get(name, ())):
        if near := get_close_matches(_plain(known), columns, n=1, cutoff=0.8):
            return columns[near[0]]
    return None


def no_column(name: str, present: Iterable[object], *, renamed: bool = False) -> str:
    """Return what is said of a table that lacks a column: what it has, which was meant, and how to say so.

    With `renamed` the caller has no `columns`, and the table's own column has to be renamed.
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
    """Whether a cell of a table holds nothing: None, NaN, pandas' NA, or a text without a letter."""
    return not value.strip() if isinstance(value, str) else is_gap(value)


def is_gap(value: object) -> bool:
    """Whether there is no cell at all: None, NaN or pandas' NA. An empty text is one that somebody wrote."""
    gone = value is None or (isinstance(value, float) and value != value)
    return gone or type(value).__name__ in ("NAType", "NaTType")


def without_gaps(value: Any) -> Any:
    """Return several texts without those that are missing, None where all are; anything else as it is."""
    if not isinstance(value, (list, tuple)) or not any(map(is_gap, value)):
        return value
    return [text for text in value if not is_gap(text)] or None


def is_unrated(value: object) -> bool:
    """Whether a cell of a column of ratings holds none: it is missing, or says NA, N/A or nan."""
    return is_missing(value) or (isinstance(value, str) and value.strip().lower() in ("na", "n/a", "nan"))


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
    """Return the rows of a DataFrame (pandas, polars, Arrow), a Dataset, a list of dictionaries or a dict of columns.

    What is no table, a column that is no list and a row that is no dictionary are a `TypeError`; columns of different
    lengths a `ValueError`.
    """
    given: Any = frame_rows(table)
    if isinstance(table, Mapping):
        lists = {name: require_column(values, f"the column {name!r}") for name, values in table.items()}
        sizes = {name: len(own) for name, own in lists.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"columns must have the same length, not {sizes}")
        given = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
    rows = isinstance(given, Iterable) or hasattr(given, "__getitem__")  # such as torch's Dataset
    if isinstance(given, (str, bytes)) or not rows:
        remedy = "pass a DataFrame, a Dataset, a list of dictionaries or a dictionary of columns"
        raise TypeError(f"table must be a table, not {type(given).__name__} ({given!r:.40}): {remedy}")
    found = list(given)
    for number, row in enumerate(found):
        if not isinstance(row, Mapping):
            kind = type(row).__name__
            raise TypeError(f"row {number} must be a dictionary, not {kind}: pass a table or a list of dicts")
    return found


def table_records(
    table: Table,
    names: Sequence[str],
    *,
    columns: Mapping[str, str] | None = None,
    optional: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Return a table's rows as dictionaries with the wanted names.

    Each name stands in the table under one of its `COLUMN_NAMES`, or where `columns` says (None where the caller has no
    such argument). Those that are `optional` may be missing, and are then None. What is wrong is an error as of
    `table_rows`, or a `ValueError` if a column is missing or two hold the same.
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


# ---------------------------------------------------------------- passages and true answers

# A string as Python's `repr` writes it. Only its own escapes are read, so that each is one that Python knows.
_ESCAPE = r"\\(?:[\\'\"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_STRING = rf"'(?:[^'\\\n]|{_ESCAPE})*'|\"(?:[^\"\\\n]|{_ESCAPE})*\""
_ITEM = re.compile(rf"(?:np\.str_\()?({_STRING})\)?(\s*,\s*|\s+|(?=[\])]))")
_OPENING = re.compile(r"((?:np\.|numpy\.)?array\()?([\[(])\s*(?=(?:np\.str_\()?['\"])")
_CLOSING = re.compile(r"[\])](?:,\s*dtype=[^()\n]{1,20})?\)?\Z")

# What tells a list that cannot be read from a sentence in brackets: several strings, and an end or none at all.
_SEVERAL = re.compile(r"['\"](?:\s*,\s*|\s+)(?:['\"]|None\b|nan\b|null\b|NaN\b)")
_ENDED = re.compile(r"(?:['\"]|\bNone|\bnan|\bnull|\bNaN)\s*\](?:,\s*dtype=[^()\n]{1,20})?\)?\Z")
_CUT_OFF = re.compile(r"(?:'[^']*|\"[^\"]*)?\Z")
_OBJECTS = re.compile(r"\[\s*(?:[A-Z]\w{0,60}\(\w{1,60}=|[\[({]\s*['\"])")


def require_passages(value: object, name: str) -> list[str]:
    """Return retrieved passages as a list: the texts of a list, or one text.

    A text that is wholly a list of texts is read as that list: JSON, or a list or an array as Python prints it. This is
    how a CSV holds a list. One that begins so and cannot be read is a `ValueError`, another type a `TypeError`.

    Examples
    --------
    >>> require_passages("['It rained.' \\"It's dry.\\"]", "contexts")
    ['It rained.', "It's dry."]
    >>> require_passages("[1] It rained.", "contexts")
    ['[1] It rained.']
    """
    if not isinstance(value, str):
        return require_texts(value, name, "a string or a list of strings")
    text = value.strip()
    texts = _read(text)
    if texts is None and _looks_written(text):
        remedy = "a list of texts, which json.loads reads from JSON and ast.literal_eval from a list that was printed"
        said = f"{name} looks like the text of a list and cannot be read as one ({short_repr(value)})"
        raise ValueError(f"{said}: pass {remedy}")
    return [value] if texts is None else texts


def require_truth(value: object, name: str) -> str:
    """Return the true answer of a row, which may stand alone in a list or in the text of a list.

    Several or none are a `ValueError`, what is neither a text nor a list of texts a `TypeError`.
    """
    single = isinstance(value, str) or not is_listed(value)
    texts = require_passages(require_text(value, name), name) if single else require_texts(value, name)
    if len(texts) != 1:
        remedy = "join the parts of one answer to one text, or make a row of each answer"
        raise ValueError(f"{name} must be one true answer, not {len(texts)} ({short_repr(value)}): {remedy}")
    return texts[0]


def _read(text: str) -> list[str] | None:
    """The texts of a list that was written down; None where the text is something else."""
    if not text.endswith(("]", ")")):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _printed(text)
    return found if isinstance(found, list) and all(isinstance(part, str) for part in found) else None


def _printed(text: str) -> list[str] | None:
    """The texts of a list, tuple or array as Python or numpy prints it: one kind of separator between all of them."""
    opened = _OPENING.match(text)
    if opened is None:
        return None
    items, end = _items(text, opened.end())
    separators = [item[2].strip() for item in items]
    no_tuple = opened[2] == "(" and "," not in separators
    if no_tuple or len(set(separators[:-1])) > 1 or not _CLOSING.match(text, end):
        return None
    try:
        return [ast.literal_eval(item[1]) for item in items]
    except (ValueError, SyntaxError):  # a character that there is not
        return None


def _items(text: str, place: int) -> tuple[list[re.Match[str]], int]:
    """The strings that stand in a row from a place on, each with what separates it from the next, and their end."""
    found: list[re.Match[str]] = []
    while item := _ITEM.match(text, place):
        found.append(item)
        place = item.end()
    return found, place


def _looks_written(text: str) -> bool:
    """Whether a text that cannot be read as a list was one: cut off, badly quoted, or a list of something else."""
    if _OBJECTS.match(text):
        return text.endswith("]")
    opened = _OPENING.match(text)
    if opened is None or opened[2] == "(" or not _SEVERAL.search(text):
        return False
    return bool(_ENDED.search(text) or _CUT_OFF.match(text, _items(text, opened.end())[1]))


# ---------------------------------------------------------------- the items of a corpus

# what is scored: a file, an open one, a table of pandas, or dictionaries
Corpus: TypeAlias = str | os.PathLike[str] | BinaryIO | Frame | Iterable[Mapping[str, object]]
Columns = Mapping[str, "str | Sequence[str]"]
Sources = Mapping[str, "str | Sequence[str] | None"]  # None: a column under any name that people give it


class Item(NamedTuple):
    """One item of a corpus, as it travels.

    Its place (line or row, from 1), its content as JSON, or a problem; and columns that JSON cannot say, each with the
    reason.
    """

    place: int
    data: bytes
    problem: str = ""
    unread: tuple[tuple[str, str], ...] = ()


def encode_row(row: object, place: int) -> Item:
    """Return a mapping as an item; what is not a mapping becomes its problem, and a column JSON cannot say is unread.

    An id that JSON cannot say is kept as a text.
    """
    if not isinstance(row, Mapping):
        kind = type(row).__name__
        return Item(place, b"", f"an item must be a mapping of column names to values, not {kind}")
    try:
        return Item(place, _dump(dict(row)))
    except (TypeError, ValueError, RecursionError):
        pass
    kept, unread = {}, {}
    for name, value in row.items():
        try:
            _dump({name: value})
            kept[name] = value
        except (TypeError, ValueError, RecursionError) as error:
            unread[str(name)] = str(error)
            if name == "id" and not isinstance(value, (Mapping, list, tuple)):
                kept[name] = str(value)[:200]
    return Item(place, _dump(kept), unread=tuple(unread.items()))


def _dump(row: Mapping[Any, object]) -> bytes:
    def as_json(value: object) -> object:
        if is_gap(value):
            return None
        for method in ("tolist", "isoformat"):
            if hasattr(value, method):
                return getattr(value, method)()
        raise TypeError(f"{type(value).__name__} is neither text, number, list nor mapping")

    return json.dumps(row, default=as_json).encode("ascii")


def why_unread(name: str, why: str) -> str:
    """Return why a column of an item cannot be used, with a remedy."""
    return f"the column {name!r} cannot be read: {why}; turn its values into text or numbers first"


def _read_jsonl(handle: Iterable[bytes]) -> Iterator[Item]:
    for place, line in enumerate(handle, 1):
        data = (line.removeprefix(codecs.BOM_UTF8) if place == 1 else line).strip()
        if data:
            yield Item(place, data)


def _read_csv(handle: Iterable[bytes]) -> Iterator[Item]:
    csv.field_size_limit(2**31 - 1)
    text = (line.decode("utf-8", "surrogateescape") for line in handle)
    first = next(text, "").removeprefix("\ufeff")
    reader = csv.reader(itertools.chain([first], text), delimiter=_separator(first), strict=True)
    header = [name.strip() for name in _next_row(reader, 1) or []]
    require_once(header, "the CSV header")
    while (values := _next_row(reader, place := reader.line_num + 1)) is not None:
        if not values:
            continue
        if len(values) != len(header):
            yield Item(place, b"", f"{len(values)} values under {len(header)} column names")
            continue
        try:
            "".join(values).encode("utf-8")
        except UnicodeEncodeError:
            yield Item(place, b"", "not UTF-8 text")
        else:
            yield encode_row(dict(zip(header, (value or None for value in values), strict=True)), place)


def _separator(header: str) -> str:
    """What separates the columns of a CSV: the comma, or a semicolon or tab that makes more names of its first line."""

    def count(sign: str) -> int:
        names = next(csv.reader(header.splitlines()[:1], delimiter=sign), [])
        return 0 if any('"' in name for name in names) else len(names)

    return max(",;\t", key=count)


_CSV_FAULTS = {
    "unexpected end": "opens a quote that is never closed",
    "expected after": "has text between a closing quote and the next column; a quote within quotes is written twice",
    "new-line": "holds a carriage return that ends no line; save the file with the line ends of Unix or Windows",
}


def _next_row(reader: Iterator[list[str]], place: int) -> list[str] | None:
    try:
        return next(reader, None)
    except csv.Error as error:
        known = [words for part, words in _CSV_FAULTS.items() if part in str(error)]
        fault = known[0] if known else f"is no CSV: {error}"
        raise ValueError(f"the row that begins in line {place} of the CSV {fault}") from error


def _read_parquet(path: str | Path) -> Iterator[Item]:
    parquet = require_module("pyarrow.parquet", "parquet")
    with parquet.ParquetFile(path) as file:
        require_once(file.schema_arrow.names, "the Parquet file")
        rows = (row for batch in file.iter_batches(batch_size=1000) for row in batch.to_pylist())
        yield from map(encode_row, rows, itertools.count(1))


def _read_frame(frame: Any) -> Iterator[Item]:
    for start in range(0, len(frame), 1000):
        some = frame.iloc[start : start + 1000] if hasattr(frame, "iloc") else frame.slice(start, 1000)
        yield from map(encode_row, frame_rows(some), itertools.count(start + 1))


@dataclass
class ItemStream:
    """A corpus to iterate over once: items, their number as far as it is known, and a name for people.

    `unit` is what places count: lines or rows. `total()` is exact for tables and an estimate for files.
    """

    name: str
    items: Iterator[Item]
    unit: str = "row"
    length: int | None = None
    size: int = 0
    _count: int = field(default=0, repr=False)
    _read: int = field(default=0, repr=False)

    def __iter__(self) -> Iterator[Item]:
        for item in self.items:
            self._count, self._read = self._count + 1, self._read + len(item.data) + 1
            yield item

    def total(self) -> int | None:
        """Return the number of items, an estimate from the bytes read so far, or None."""
        if self.length is not None or not self.size or not self._count:
            return self.length
        return max(self._count, round(self._count * self.size / self._read))


FORMATS = ("jsonl", "csv", "parquet")
_ENDINGS = {".ndjson": "jsonl", ".jsonl": "jsonl", ".csv": "csv", ".tsv": "csv", ".parquet": "parquet"}


def _open_file(path: Path, given: str | None) -> ItemStream:
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder; name a file")
    format = given or _ENDINGS.get(Path(path.name.lower().removesuffix(".gz")).suffix)
    if format is None:
        raise ValueError(f"cannot tell the format of {path.name!r} from its name: pass format='jsonl' or 'csv'")
    if format == "parquet":
        length = require_module("pyarrow.parquet", "parquet").read_metadata(path).num_rows
        return ItemStream(str(path), _read_parquet(path), "row", length)
    packed = path.suffix.lower() == ".gz"
    size = 0 if packed else path.stat().st_size
    return ItemStream(str(path), _read_lines(path, format, packed), "line", size=size)


def _read_lines(path: Path, format: str, packed: bool) -> Iterator[Item]:
    try:
        with gzip.open(path, "rb") if packed else open(path, "rb") as handle:
            yield from _reader(format)(handle)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{str(path)!r} is not a whole gzip file ({error}): copy or pack it again") from error


def _reader(format: str) -> Callable[[Iterable[bytes]], Iterator[Item]]:
    return {"jsonl": _read_jsonl, "csv": _read_csv}[require_option(format, "format", ("jsonl", "csv"))]


def open_items(items: Corpus, *, format: str | None = None) -> ItemStream:
    """Return any corpus as a stream of items, to iterate over once.

    Parameters
    ----------
    items : path, binary file, DataFrame, datasets.Dataset or iterable of mappings
        Files: JSONL, CSV (with a header; commas, semicolons or tabs) or Parquet, the first two also packed by gzip.
    format : {"jsonl", "csv", "parquet"}, optional
        What a file holds; by default its name tells. For an open binary file: JSONL.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, ValueError
        If a file is not there, its format is unknown, or a table has two columns of one name.
    TypeError
        If `items` is nothing of the above.

    Examples
    --------
    >>> [item.data for item in open_items([{"candidate": "a"}])]
    [b'{"candidate": "a"}']
    """
    if format is not None:
        require_option(format, "format", FORMATS)
    if isinstance(items, (str, os.PathLike)):
        return _open_file(Path(items), format)
    kind, given = type(items).__name__, cast(Any, items)
    if hasattr(items, "read"):
        return ItemStream(getattr(items, "name", "a stream"), _reader(format or "jsonl")(given), "line")
    if isinstance(items, Mapping):
        remedy = "choose a split" if kind == "DatasetDict" else "pass a DataFrame or a list of mappings"
        raise TypeError(f"items must be rows, not {kind} ({', '.join(map(str, items))}): {remedy}")
    if is_frame(items):
        return ItemStream("a DataFrame", _read_frame(given), length=len(given))
    if isinstance(items, bytes) or not isinstance(items, Iterable):
        raise TypeError(f"items must be a file, a table or an iterable of mappings, not {kind}")
    length = len(items) if isinstance(items, Sized) else None
    return ItemStream(f"a {kind}", map(encode_row, items, itertools.count(1)), length=length)


def read_plain(files: Sequence[str | BinaryIO], columns: Sequence[str]) -> list[JsonDict]:
    """Return the rows of plain texts: a candidate a line and its references, or else a file for each column.

    Only a newline ends a line (or one after a carriage return, as on Windows). A file without text, in another encoding
    or with another number of lines is a `ValueError`.
    """
    lines = list(columns) == ["candidate", "references"]
    names = [file if isinstance(file, str) else "-" for file in files]
    texts = [_read_text(file, columns[min(place, len(columns) - 1)]) for place, file in enumerate(files)]
    if not lines:
        return [dict(zip(columns, texts, strict=True))]
    split = [[line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] for text in texts]
    if len(set(map(len, split))) > 1:
        sizes = ", ".join(f"{name}: {len(own)}" for name, own in zip(names, split, strict=True))
        raise ValueError(f"the files must have the same number of lines ({sizes})")
    return [{"candidate": first, "references": others} for first, *others in zip(*split, strict=True)]


def _read_text(file: str | BinaryIO, column: str) -> str:
    """The text of a file that holds a column, or a `ValueError` that names both."""
    name = repr(file if isinstance(file, str) else "-")
    try:
        text = (Path(file).read_bytes() if isinstance(file, str) else file.read()).decode("utf-8-sig")
    except FileNotFoundError:
        raise ValueError(f"{column}: there is no file {name}") from None
    except IsADirectoryError:
        raise ValueError(f"{column}: {name} is a folder; name a text file") from None
    except UnicodeDecodeError as error:
        remedy = "convert it, or extract the text first"
        raise ValueError(f"{column}: {name} is not UTF-8 text (byte {error.start}); {remedy}") from None
    if "\x00" in text:
        raise ValueError(f"{column}: {name} looks like a binary file (it holds a NUL character); name a text file")
    if not text.strip():
        raise ValueError(f"{column}: {name} is empty; there is nothing to evaluate")
    return text


def _parse(data: bytes) -> Any:
    """Read JSON with pydantic's parser, three times as fast; what it refuses, Python's own accepts or explains."""
    from pydantic_core import from_json

    try:
        return from_json(data, cache_strings=False)
    except ValueError:
        return json.loads(data.decode())


def read_item(
    item: Item, sources: Sources, kinds: Mapping[str, str], optional: Sequence[str] = ()
) -> tuple[JsonDict, str]:
    """Return an item's row under the metric's own names, and a problem or ''.

    `kinds` says what each column must hold: "text", or "texts" for one text or a list of them; an optional one may be
    missing, and is None.
    """
    if item.problem:
        return {}, item.problem
    try:
        row = _parse(item.data)
    except (ValueError, RecursionError) as error:
        return {}, f"not JSON: {error}" if isinstance(error, ValueError) else "not JSON: nested too deeply"
    if not isinstance(row, dict):
        return {}, f"an item must be a JSON object, not {type(row).__name__}"
    lost = {name: why_unread(name, why) for name, why in item.unread} if item.unread else {}
    try:
        columns = _found(sources, (*row, *lost) if lost else tuple(row), optional)
    except ValueError as error:
        return row, str(error)
    if twice := _named_twice(item.data, columns, row):
        return {}, f"the object names {twice!r} twice: leave one of them out"
    found: JsonDict = {}
    for name, source in columns.items():
        if source == name and name in row:
            continue
        wanted = [source] if isinstance(source, str) else list(source)
        if absent := [column for column in wanted if column not in row]:
            missing = f"there is no {absent[0]!r}; there is: {', '.join(row)}; name yours with columns={{...}}"
            return row, lost.get(absent[0], missing)
        found[name] = row[source] if isinstance(source, str) else [row[column] for column in wanted]
    row.update(found)
    for name, kind in kinds.items():
        value = row.setdefault(name, None)
        if type(value) is str or value is None:  # a gap has no score, and that is no mistake
            continue
        row[name] = value = None if is_gap(value) else without_gaps(value)
        if value is not None and (problem := _wrong_type(value, name, kind)):
            return row, problem
    return (_Row(row, lost) if lost else row), ""


def _found(sources: Sources, present: tuple[str, ...], optional: Sequence[str]) -> Columns:
    """The corpus' columns for the metric's, those that nobody named under any of their usual names."""
    found: dict[str, str | Sequence[str]] = {}
    for name, source in sources.items():
        column: Any = find_column(name, present) if source is None else source
        if column is None and name not in optional:
            raise ValueError(no_column(name, present))
        if column is not None:
            found[name] = column
    return found


def _named_twice(data: bytes, columns: Columns, row: JsonDict) -> str:
    """The first column that an object names twice, of those that are read; of all, where nobody says which are."""
    named = [name for source in columns.values() for name in ([source] if isinstance(source, str) else source)]
    read: Sequence[str] = named or list(row)
    if all(sum(map(data.count, _spellings(name))) < 2 for name in read):
        return ""
    names: list[str] = []  # of the outermost object
    with suppress(ValueError, RecursionError):  # what another parser reads
        own = lambda pairs: [name for name, _ in pairs]
        names = json.loads(data.decode("utf-8", "replace"), object_pairs_hook=own)
    return next((name for name in read if names.count(name) > 1), "")


@lru_cache(maxsize=1024)
def _spellings(name: str) -> list[bytes]:
    """A name as JSON may write it, with the quotation marks."""
    spelled = {json.dumps(name), json.dumps(name, ensure_ascii=False)}
    return [text.encode("utf-8", "surrogatepass") for text in spelled]


class _Row(dict[str, Any]):
    """A row of which some columns could not be read: who asks for one is told why."""

    def __init__(self, row: JsonDict, lost: Mapping[str, str]):
        super().__init__(row)
        self.lost = lost

    def __missing__(self, name: str) -> Any:
        raise ValueError(self.lost[name]) if name in self.lost else KeyError(name)


def _wrong_type(value: object, name: str, kind: str) -> str:
    if name == "contexts" and value == []:  # a search that found nothing
        return ""
    if kind == "text":
        return f"{name} must be a text, not {type(value).__name__}"
    if not isinstance(value, list) or set(map(type, value)) != {str}:
        return f"{name} must be a text or a list of texts, not {type(value).__name__} ({str(value)[:40]})"
    return ""
