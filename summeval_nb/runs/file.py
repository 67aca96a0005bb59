"""The file of a run: one SQLite file in a folder, with a row for each scored item, the settings, and what models used.

A row lies at its item's place in the corpus and is found by the item's digest. Texts that occur twice have two rows.
Each batch is written as one transaction, so a kill loses the batches that were being scored and nothing else. Results
are written from the file at the end, whole or not at all.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import sqlite3
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from os import PathLike
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import JsonDict, hub_only_if
from summeval_nb.core.files import Item, replacing, write_whole
from summeval_nb.core.metric import Metric
from summeval_nb.runs.workers import RunStopped

FILE, LOCK = "run.sqlite", ".lock"
RESULTS = "results.jsonl"
STATES = ("ok", "undefined", "failed")
ANOTHER = "choose another folder, or start over with resume=False"
_WRITTEN = (FILE, f"{FILE}-wal", f"{FILE}-shm", LOCK, RESULTS)
_LEFT_BY_A_KILL = re.compile(r"\.[0-9a-f]{16}\.part")  # the temporary names of `replacing`
_MARK = 0x53756D6E  # SQLite's application_id, by which a run's file is known
_LAYOUT = f"""
PRAGMA application_id = {_MARK};
CREATE TABLE items (place INTEGER PRIMARY KEY, key BLOB, line INTEGER, status TEXT, score REAL, body BLOB, checksum);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT, checksum INTEGER);
"""
_COLUMNS = "place, key, line, status, score, body, checksum"

# ---------------------------------------------------------------- which folder a run may use


def require_usable(folder: Path, items: object = None) -> None:
    """Raise a `ValueError` unless a folder is new, empty or a run's own, without links, and not that of the input."""
    name = items if isinstance(items, (str, PathLike)) else getattr(items, "name", None)
    inside = isinstance(name, (str, PathLike)) and Path(name).resolve().is_relative_to(folder.resolve())
    if inside and Path(str(name)).exists():
        what = f"the input {str(name)!r} lies in the folder of the run, {str(folder)!r}"
        raise ValueError(f"{what}; choose another folder")
    for path in map(folder.joinpath, _WRITTEN):
        if os.path.islink(path):
            remedy = "put what it leads to in its place, or make the whole folder a link"
            raise ValueError(f"{str(path)!r} is a link, by which a run would change what is not its own; {remedy}")
    if not folder.is_dir() or _is_ours(folder / FILE):
        return
    if foreign := sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")):
        names = ", ".join(map(repr, foreign[:3])) + (", …" if len(foreign) > 3 else "")
        what = f"{str(folder)!r} is no run's folder and not empty (it holds {names})"
        raise ValueError(f"{what}; choose a new or an empty folder")


def _is_ours(path: Path) -> bool:
    """Whether a file is that of a run; any other of its name is a `ValueError`."""
    if not path.exists():
        return False
    try:
        with path.open("rb") as file:
            head = file.read(100)
    except OSError as error:
        raise ValueError(f"{str(path)!r} cannot be read: {error.strerror}; choose another folder") from error
    if head.startswith(b"SQLite format 3\0") and int.from_bytes(head[68:72], "big") == _MARK:
        return True
    raise ValueError(f"{str(path)!r} is not the file of a run, or is damaged; move it away, or choose another folder")


# ---------------------------------------------------------------- one run in a folder

if sys.platform == "win32":
    import msvcrt

    def _lock(number: int) -> None:
        msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(number: int) -> None:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold a folder, made if there is none, by a lock that ends with this process.

    A second holder raises a `RuntimeError`, a folder that cannot be written or locked a `RunStopped`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        raise RunStopped(f"cannot write into {str(folder)!r}: {error.strerror}; choose another folder") from error
    try:
        _lock(number)
    except OSError as error:
        os.close(number)
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            remedy = "wait for it, or choose another folder"
            raise RuntimeError(f"another run is working in {str(folder)!r}; {remedy}") from None
        remedy = "choose a folder on a disk of this machine"
        raise RunStopped(f"cannot lock {str(folder)!r}: {error.strerror}; {remedy}") from error
    holder = os.getpid()
    try:
        yield
    finally:
        if sys.platform != "win32" and os.getpid() == holder:
            fcntl.flock(number, fcntl.LOCK_UN)  # a fork of this process has the file open, too
        os.close(number)


# ---------------------------------------------------------------- what can go wrong with it


@contextmanager
def explained(folder: Path, *, reading: bool = False) -> Iterator[None]:
    """Say what is lost (nothing that was written) and what to do, where a disk is full or a file is damaged."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise damaged(folder / FILE, why) from error
        if why is None:  # an OSError without a number
            raise
        if reading:
            raise ValueError(f"the run in {str(folder)!r} cannot be read: {why}") from error
        remedy = "what was written is kept: make room or repair it, then call run again as before"
        raise RunStopped(f"the run in {str(folder)!r} stopped: {why}; {remedy}") from error


def damaged(path: Path, why: object) -> ValueError:
    """Return the error for a run's file that is damaged; it says how much of it can be read."""
    readable = 0
    with suppress(sqlite3.Error, ValueError, TypeError), closing(_connect(path, "ro")) as data:
        for row in data.execute(f"SELECT {_COLUMNS} FROM items ORDER BY place"):
            readable += row[-1] == _sum(*row[1:-1])
    what = f"{str(path)!r} is damaged ({why}); {readable:,} of its rows can be read"
    return ValueError(f"{what}: copy the file if you need them, then {ANOTHER}")


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    """Open a file; one that no run is writing is read where nothing may be written, and nothing is left beside it."""
    still = mode == "ro" and not path.with_name(f"{path.name}-wal").exists()
    place = f"file:{quote(str(path.absolute()))}?mode={mode}{'&immutable=1' if still else ''}"
    return sqlite3.connect(place, timeout=60, isolation_level="IMMEDIATE", uri=True)


# ---------------------------------------------------------------- what is scored, in batches

BATCH_BYTES = 16 * 2**20  # a batch of large rows ends here, so that memory does not grow with their size


class Entry(NamedTuple):
    """An item at its place in the corpus, from 0, with the digest of its content."""

    place: int
    key: bytes
    item: Item


Batch = Sequence[Entry]
Stages: TypeAlias = Mapping[str, Mapping[str, float]]  # what language models used, by stage


def cut(items: Iterable[Item], size: int) -> Iterator[list[Entry]]:
    """Yield a corpus in batches of `size` rows, or of `BATCH_BYTES`; where one ends depends on the corpus alone."""
    batch: list[Entry] = []
    held = 0
    for place, item in enumerate(items):
        data = item.data if not item.problem else f"{item.problem}\n".encode("utf-8", "backslashreplace") + item.data
        batch.append(Entry(place, hashlib.sha256(data).digest()[:16], item))
        held += len(data)
        if len(batch) == size or held >= BATCH_BYTES:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


class Row(NamedTuple):
    """A result as it is kept: status and score for counting, and all the rest as JSON."""

    status: str
    score: float | None
    body: bytes


# ---------------------------------------------------------------- the file


class RunFile(AbstractContextManager["RunFile"]):
    """A run's SQLite file, to be written by one process that holds the folder, or to be read by any."""

    def __init__(self, folder: Path, mode: str):
        """Open a file to read ("ro"), to go on ("rw"), or to begin anew at `begin` and not before ("new")."""
        self.folder, self.path, self.mode = folder, folder / FILE, mode
        self.kept = self.damaged = 0
        if mode == "ro" and not self.path.exists():
            raise ValueError(f"{str(folder)!r} holds no run: there is no {FILE}")
        if mode != "new":
            self._open()

    def _open(self) -> None:
        if is_new := not _is_ours(self.path):
            with closing(sqlite3.connect(":memory:")) as empty:
                empty.executescript(_LAYOUT)
                write_whole(self.path, empty.serialize())
        self._data = _connect(self.path, self.mode)
        if self.mode == "rw":
            if is_new:  # so there is nothing to lose, and nothing need be forced to the disk
                self._data.execute("PRAGMA synchronous=OFF")
            self._data.execute("PRAGMA journal_mode=WAL")
            self._data.execute("PRAGMA synchronous=NORMAL")

    def begin(self) -> None:
        """Make the folder this run's: what a run left that is to begin anew is removed."""
        for path in self.folder.iterdir():
            if _LEFT_BY_A_KILL.fullmatch(path.name):
                path.unlink()
        if self.mode == "new":
            for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", RESULTS):
                (self.folder / name).unlink(missing_ok=True)
            self.mode = "rw"
            self._open()

    def __exit__(self, *_: object) -> None:
        if self.mode != "new":
            self._data.close()

    def info(self) -> JsonDict:
        """Return what the file says of its run: settings, versions, counts, and what models used, by stage."""
        found = {}
        for name, value, checksum in self._data.execute("SELECT name, value, checksum FROM settings"):
            if checksum != _sum(name, value):
                raise damaged(self.path, f"its {name!r} has changed")
            found[name] = json.loads(value)
        return found

    def note(self, **values: object) -> None:
        """Write what is to be said of the run, as one transaction with what was written before it."""
        texts = [(name, json.dumps(value)) for name, value in values.items()]
        rows = [(name, text, _sum(name, text)) for name, text in texts]
        with self._data:
            self._data.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?, ?)", rows)

    def _first(self, query: str, *values: object) -> Any:
        return self._data.execute(f"{query} LIMIT 1", values).fetchone()

    def __len__(self) -> int:
        return int(self._first("SELECT count(*) FROM items")[0])

    def known(self, batch: Batch) -> dict[int, tuple[Any, ...]]:
        """Return the rows at the places of a batch; the key of each, its second value, says of which item it is."""
        places = batch[0].place, batch[-1].place
        query = f"SELECT {_COLUMNS} FROM items WHERE place BETWEEN ? AND ?"
        return {row[0]: row for row in self._data.execute(query, places)}

    def has_any(self, keys: Sequence[bytes]) -> bool:
        """Return whether there is a row of one of some digests."""
        return self._first(f"SELECT 1 FROM items WHERE key IN ({', '.join('?' * len(keys))})", *keys) is not None

    def write(self, batch: Batch, rows: Sequence[Row], usage: Sequence[Stages] = ()) -> None:
        """Keep the results of a batch and what each attempt at it cost, all or nothing."""
        pairs = zip(batch, rows, strict=True)
        kept = [(place, key, item.place, *row, _sum(key, item.place, *row)) for (place, key, item), row in pairs]
        with self._data:
            self._data.executemany("INSERT OR REPLACE INTO items VALUES (?, ?, ?, ?, ?, ?, ?)", kept)
            if usage:
                known = self.info().get("usage", {})
                for stage, counts in (one for attempt in usage for one in attempt.items()):
                    own = known.setdefault(stage, {})
                    own |= {name: own.get(name, 0) + count for name, count in counts.items()}
                self.note(usage=known)

    def missing(self, batches: Iterable[Batch], *, retry_failed: bool = False) -> Iterator[Batch]:
        """Yield what of each batch has no row yet. Rows of a corpus that has changed are moved to their new places."""
        for batch in batches:
            apart = self._first("SELECT 1 FROM items WHERE place < 0")  # a row whose item has not been found yet
            known, left = self.known(batch), []
            for entry in batch:
                row = known.get(entry.place)
                if row is not None and row[1] != entry.key:  # from here on the corpus is another
                    self._set_apart(entry.place)
                    known, row, apart = {}, None, True
                if row is None and apart:
                    row = self._first(f"SELECT {_COLUMNS} FROM items WHERE key = ? AND place < 0", entry.key)
                if row is not None and row[-1] != _sum(*row[1:-1]):
                    self.damaged += 1
                    row = None
                if row is None or (retry_failed and row[3] == "failed"):
                    left.append(entry)
                    continue
                self.kept += 1
                if (row[0], row[2]) != (entry.place, entry.item.place):
                    now = entry.place, entry.item.place, _sum(row[1], entry.item.place, *row[3:6])
                    with self._data:
                        move = "UPDATE OR REPLACE items SET place = ?, line = ?, checksum = ? WHERE place = ?"
                        self._data.execute(move, (*now, row[0]))
            if left:
                yield left

    def _set_apart(self, place: int) -> None:
        """Give all rows from a place on a negative place, until their items are found."""
        with self._data:
            self._data.execute("CREATE INDEX IF NOT EXISTS items_by_key ON items (key)")
            least = self._first("SELECT min(0, min(place)) FROM items")[0]
            self._data.execute("UPDATE items SET place = ? - place WHERE place >= ?", (least - 1, place))

    def lines(self, *, whole: bool = False) -> Iterator[tuple[str, float | None, bytes, bytes]]:
        """Yield status, score, line of results and key of each row in order; one that has changed is a `ValueError`.

        A `whole` run has a row at every place.
        """
        query = f"SELECT {_COLUMNS} FROM items WHERE place >= 0 ORDER BY place"
        for number, (place, key, line, status, score, body, checksum) in enumerate(self._data.execute(query)):
            if checksum != _sum(key, line, status, score, body) or (whole and place != number):
                raise damaged(self.path, f"row {number} is not as it was written")
            if status == "failed":  # only the file knows where it is
                row = json.loads(body)
                row["reason"] = f"at {line}: {row['reason']}"
                body = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
            yield status, score, b'{"item":%d,' % place + body[1:], key

    def export(self, write: Callable[[bytes], object] = len, *, whole: bool = False) -> JsonDict:
        """Hand each line of results on; return the totals, with a digest of the digests of all items, in order."""
        counts, digest = dict.fromkeys(STATES, 0), hashlib.sha256()

        def scores() -> Iterator[float]:
            for status, score, line, key in self.lines(whole=whole):
                counts[status] += 1
                digest.update(key)
                write(line)
                if score is not None:
                    yield score

        total = math.fsum(scores())
        mean = total / counts["ok"] if counts["ok"] else None
        return {"items": sum(counts.values()), "counts": counts, "mean": mean, "input_sha256": digest.hexdigest()}

    def write_results(self, count: int) -> JsonDict:
        """Forget the rows of items that are no longer in the corpus, which has so many, and write the file of results.

        It is written whole or not at all.
        """
        with self._data:
            self._data.execute("DELETE FROM items WHERE place < 0 OR place >= ?", (count,))
        with replacing(self.folder / RESULTS) as output:
            return self.export(lambda line: output.write(line + b"\n"), whole=True)


def _sum(*values: object) -> int:
    """A checksum: what was changed by somebody, or by a bad disk, is never taken for a score."""
    found = 0
    for one in values:
        found = zlib.crc32(one if isinstance(one, bytes) else repr(one).encode("utf-8", "backslashreplace"), found)
    return found


# ---------------------------------------------------------------- what tells one run's metric from another's

MODEL_OPTIONS = frozenset({"checker", "judge", "embedder", "model"})  # the options that hold a model
_PACKAGED = {"embedded", "minilm", "mpnet", "words"}  # the package's own, which change with its version
_UNNAMED = "scripted:scripted"  # a ScriptedBackend that nobody named: any function


def describe(value: object, name: str) -> Any:
    """Return plain data that stands for an option or a metric; equal data mean equal results.

    What has no identity is a name without a fingerprint.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (str, PurePath)):
        return identify_model(name, value)
    if isinstance(value, Mapping):
        names = {key: key if isinstance(key, str) else f"{type(key).__name__} {key!r}" for key in value}
        return {names[key]: describe(inner, names[key]) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [describe(inner, name) for inner in value]
    return identify(value)


def identify(value: object) -> JsonDict:
    """Return what is known of an object or a function: its name and its fingerprint, for its code may change."""
    if isinstance(value, Metric):  # a function with its options
        known = {"name": _name_of(value.function)} if _is_packaged(value.function) else identify(value.function)
        return known if find_unknown(known) else known | {"options": describe(value.options(), "options")}
    return {"name": _name_of(value), **_declared(value)}


def find_unknown(described: object) -> list[str]:
    """Return why some described data have no identity; empty where all of them have one."""
    if isinstance(described, Mapping):
        if described.keys() == {"name", "fingerprint"} and described["fingerprint"] is None:
            return [f"{described['name']} has no fingerprint"]
        described = [*described.values()]
    return [why for part in described for why in find_unknown(part)] if isinstance(described, list) else []


def differences(before: object, now: object, *, sides: tuple[str, str] = ("before", "now")) -> Iterator[str]:
    """Yield what differs between two pieces of plain data, each with its path and both values."""
    old, new = dict(_leaves(before)), dict(_leaves(now))
    for path in dict.fromkeys([*old, *new]):
        shown = [side.get(path, "absent") for side in (old, new)]
        if shown[0] != shown[1]:
            yield f"{path} ({shown[0]} {sides[0]}, {shown[1]} {sides[1]})"


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, part in value.items():
            yield from _leaves(part, f"{path}.{name}" if path else str(name))
    else:
        yield path, repr(value)


def identify_model(option: str, text: str | PurePath) -> Any:
    """Return an option that names a model, with the content of its files; a server's secrets are left out."""
    kind, colon, place = str(text).partition(":")
    if not colon or kind not in ("llm", "nli") or option == "embedder":
        kind, place = "", str(text)
    shown = redacted(str(text))
    if option not in MODEL_OPTIONS:  # a text of the user's, which may hold an address
        return shown if shown == str(text) else {"text": shown, "hash": hashlib.sha256(str(text).encode()).hexdigest()}
    if not place or place in _PACKAGED or "@http" in place:
        return shown
    content = content_of(Path(place)) or _cached_content(place)
    return {"name": shown, "content": content} if content else shown


def content_of(path: Path) -> str:
    """Return a hash of a file, or of all files of a folder with their names; empty where there is none."""
    with suppress(OSError):
        names = [file.relative_to(path) for file in [path, *sorted(path.rglob("*"))] if file.is_file()]
        shown = (name for name in names if not any(part[0] == "." or part == "__pycache__" for part in name.parts))
        if listed := [[name.as_posix(), _file_hash(path / name)] for name in shown]:
            return hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:16]
    return ""


def _cached_content(name: str) -> str:
    """The content of a model that a hub's local cache holds under a name; nothing is downloaded."""
    with suppress(Exception):  # no such package, no such name, no such cache: the metric itself will say so
        from huggingface_hub import snapshot_download

        with hub_only_if(download=False) as where:
            return content_of(Path(snapshot_download(name, **where)))
    return ""


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _name_of(value: object) -> str:
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{getattr(named, '__module__', None) or 'builtins'}.{named.__qualname__}"


def _is_packaged(kind: Any) -> bool:
    return str(kind.__module__).partition(".")[0] == "summeval_nb"


def _declared(value: object) -> JsonDict:
    """A declared fingerprint, or None; and the threshold, which is none of the fingerprint's.

    One that a class of somebody's only inherits from a class of the package, or that this puts into the object, says
    nothing of what it does otherwise: such a class declares its own as an attribute of the class, or a property.
    """
    mark, kinds, threshold = getattr(value, "fingerprint", None), type(value).__mro__, getattr(value, "threshold", None)
    own = [kind for kind in kinds if not _is_packaged(kind)]
    in_object = len(own) == len(kinds) and "fingerprint" in getattr(value, "__dict__", {})
    in_class = _is_packaged(type(value)) or any("fingerprint" in vars(kind) for kind in own)
    told = isinstance(mark, str) and mark and _UNNAMED not in mark and not isinstance(value, type)
    if not told or not (in_object or in_class):
        return {"fingerprint": None}
    return {"fingerprint": mark} | ({"threshold": threshold} if isinstance(threshold, (int, float)) else {})
