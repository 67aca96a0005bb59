"""Items from files, tables and iterators, one at a time, and their rows under a metric's own names."""

from __future__ import annotations

import codecs
import csv
import gzip
import itertools
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeAlias, cast

from pydantic_core import from_json

from .base import JsonDict, is_frame, require_module, require_option
from .files import find_column, frame_rows, is_gap, no_column, require_once, without_gaps

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "Corpus", "Item", "ItemStream", "encode_row", "open_items", "read_item", "why_unread"]

# what is scored: a file, an open one, a table of pandas, or dictionaries
Corpus: TypeAlias = "str | PathLike[str] | BinaryIO | pd.DataFrame | Iterable[Mapping[str, object]]"
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
        if values:
            yield _csv_item(header, values, place)


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


def _csv_item(header: list[str], values: list[str], place: int) -> Item:
    if len(values) != len(header):
        return Item(place, b"", f"{len(values)} values under {len(header)} column names")
    try:
        "".join(values).encode("utf-8")
    except UnicodeEncodeError:
        return Item(place, b"", "not UTF-8 text")
    return encode_row(dict(zip(header, (value or None for value in values), strict=True)), place)


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
    _seen: list[int] = field(default_factory=lambda: [0, 0], repr=False)

    def __iter__(self) -> Iterator[Item]:
        for item in self.items:
            self._seen[0] += 1
            self._seen[1] += len(item.data) + 1
            yield item

    def total(self) -> int | None:
        """Return the number of items, an estimate from the bytes read so far, or None."""
        count, used = self._seen
        if self.length is not None or not self.size or not count:
            return self.length
        return max(count, round(count * self.size / used))


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
    """Return any corpus as a stream of items.

    Parameters
    ----------
    items : path, binary file, DataFrame, datasets.Dataset or iterable of mappings
        Files: JSONL, CSV (with a header; commas, semicolons or tabs) or Parquet, the first two also compressed with
        gzip.
    format : {"jsonl", "csv", "parquet"}, optional
        What a file holds; by default its name tells. For an open binary file: JSONL.

    Returns
    -------
    ItemStream
        To iterate over once.

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
    if isinstance(items, (str, PathLike)):
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


def _parse(data: bytes) -> Any:
    """Read JSON with pydantic's parser, three times as fast; what it refuses, Python's own accepts or explains."""
    try:
        return from_json(data, cache_strings=False)
    except ValueError:
        return json.loads(data.decode())


def read_item(
    item: Item, sources: Sources, kinds: Mapping[str, str], optional: Sequence[str] = ()
) -> tuple[JsonDict, str]:
    """Return an item's row under the metric's own names, and a problem or ''.

    `kinds` says what each column must hold: "text", or "texts" for one text or a list
    of them; an optional one may be missing, and is None.
    """
    if item.problem:
        return {}, item.problem
    try:
        row = _parse(item.data)
    except (ValueError, RecursionError) as error:
        return {}, f"not JSON: {error}" if isinstance(error, ValueError) else "not JSON: nested too deeply"
    if not isinstance(row, dict):
        return {}, f"an item must be a JSON object, not {type(row).__name__}"
    lost: dict[str, str] = {}
    for name, why in item.unread:
        lost[name] = why_unread(name, why)
    try:
        columns = _found(sources, (*row, *lost) if lost else tuple(row), optional)
    except ValueError as error:
        return row, str(error)
    if twice := _named_twice(item.data, columns, row):
        return {}, f"the object names {twice!r} twice: leave one of them out"
    if problem := _rename(row, lost, columns):
        return row, problem
    for name, kind in kinds.items():
        if name in lost:
            return row, lost[name]
        value = row.setdefault(name, None)
        if type(value) is str or value is None:  # a gap has no score, and that is no mistake
            continue
        if is_gap(value) or is_gap(value := without_gaps(value)):
            row[name] = None
            continue
        row[name] = value
        if problem := _wrong_type(value, name, kind):
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
    read: list[str] = []
    for source in columns.values():
        read += [source] if isinstance(source, str) else source
    for name in read or row:
        first, *others = _spellings(name)
        if data.count(first) + sum(map(data.count, others)) > 1:
            break
    else:
        return ""
    names: list[str] = []  # of the outermost object, which is read last

    def note(pairs: list[tuple[str, Any]]) -> None:
        names[:] = [name for name, _ in pairs]

    with suppress(ValueError, RecursionError):  # what another parser reads
        json.loads(data.decode("utf-8", "replace"), object_pairs_hook=note)
    return next((name for name in read or row if names.count(name) > 1), "")


@lru_cache(maxsize=1024)
def _spellings(name: str) -> list[bytes]:
    """A name as JSON may write it, with the quotation marks."""
    spelled = {json.dumps(name), json.dumps(name, ensure_ascii=False)}
    return [text.encode("utf-8", "surrogatepass") for text in spelled]


def _rename(row: JsonDict, lost: dict[str, str], columns: Columns) -> str:
    """Give a row, and what of it could not be read, the metric's own names; return the problem of a missing column."""
    found: JsonDict = {}
    gone: dict[str, str] = {}
    for name, source in columns.items():
        if source == name and name in row and name not in lost:
            continue
        wanted = [source] if isinstance(source, str) else list(source)
        missing = [column for column in wanted if column not in row and column not in lost]
        if missing:
            return f"there is no {missing[0]!r}; there is: {', '.join(row)}; name yours with columns={{...}}"
        if unread := [lost[column] for column in wanted if column in lost]:
            gone[name] = unread[0]
        else:
            values = [row[column] for column in wanted]
            found[name] = values[0] if isinstance(source, str) else values
    for name in gone:
        row.pop(name, None)
    for name in found:
        lost.pop(name, None)
    row.update(found)
    lost.update(gone)
    return ""


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
