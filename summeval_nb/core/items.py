"""Items from files, tables and iterators, one at a time, cut into shards that can be recognised again."""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import itertools
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from .base import require_count, require_module, require_option
from .files import frame_rows, require_once

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "Item", "encode_row", "why_unread", "ItemStream", "open_items", "Shard", "make_shards"]


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
    return encode_row(dict(zip(header, values, strict=True)), place)


def _read_parquet(path: str | Path) -> Iterator[Item]:
    parquet = require_module("pyarrow.parquet", "parquet")
    with parquet.ParquetFile(path) as file:
        require_once(file.schema_arrow.names, "the Parquet file")
        rows = (row for batch in file.iter_batches(batch_size=1000) for row in batch.to_pylist())
        yield from map(encode_row, rows, itertools.count(1))


def _read_frame(frame: pd.DataFrame) -> Iterator[Item]:
    for start in range(0, len(frame), 1000):
        yield from map(encode_row, frame_rows(frame.iloc[start : start + 1000]), itertools.count(start + 1))


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


def open_items(
    items: str | PathLike[str] | BinaryIO | pd.DataFrame | Iterable[Mapping[str, object]],
    *,
    format: str | None = None,
) -> ItemStream:
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
    if hasattr(items, "iloc"):
        return ItemStream("a DataFrame", _read_frame(given), length=len(given))
    if isinstance(items, bytes) or not isinstance(items, Iterable):
        raise TypeError(f"items must be a file, a table or an iterable of mappings, not {kind}")
    length = len(items) if isinstance(items, Sized) else None
    return ItemStream(f"a {kind}", map(encode_row, items, itertools.count(1)), length=length)


class Shard(NamedTuple):
    """A numbered run of items; `first` is the position of its first item in the corpus, from 0."""

    number: int
    first: int
    items: list[Item]
    digest: str

    @property
    def name(self) -> str:
        """The name under which its result is kept: number and digest."""
        return f"{self.number:08d}-{self.digest[:16]}"


SHARD_BYTES = 16 * 2**20  # a shard of large rows is closed here, so that memory does not grow with their size


def make_shards(items: Iterable[Item], size: int) -> Iterator[Shard]:
    """Yield the items in shards of `size` rows, or of `SHARD_BYTES` where the rows are large, one held at a time.

    The last may be smaller. Where a shard ends depends on the items alone.

    Examples
    --------
    >>> numbered = open_items([{"n": i} for i in range(5)])
    >>> [len(shard.items) for shard in make_shards(numbered, 2)]
    [2, 2, 1]
    """
    require_count(size, "shard_size")
    number, first, held = 0, 0, 0
    batch: list[Item] = []
    for item in items:
        batch.append(item)
        held += len(item.data)
        if len(batch) == size or held >= SHARD_BYTES:
            yield _shard(number, first, batch, size)
            number, first, held, batch = number + 1, first + len(batch), 0, []
    if batch:
        yield _shard(number, first, batch, size)


def _shard(number: int, first: int, items: list[Item], size: int) -> Shard:
    """A shard whose digest also holds the place of its first item, unless number and size tell it."""
    digest = hashlib.sha256(b"" if first == number * size else b"from %d\n" % first)
    for place, data, problem, _ in items:
        digest.update(f"{place} {len(data)} {problem}\n".encode("utf-8", "backslashreplace"))
        digest.update(data)
    return Shard(number, first, items, digest.hexdigest())
