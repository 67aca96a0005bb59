"""A sqlite store, keyed by content, in which embeddings and verdicts outlive the process that computed them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np

from summeval_nb.core.base import one_bar, require_count, require_text, require_texts, steps
from summeval_nb.core.files import require_path

__all__ = ["Store", "StoreError", "content_key"]


def content_key(*parts: object) -> str:
    """Return the key of an answer: the SHA-256 of everything that could change it, as 64 hexadecimal digits.

    Parameters
    ----------
    *parts : text, numbers, booleans, None, and lists or dicts of them
        For a verdict: the model's fingerprint, the prompt's version, the options, the evidence, the claim. They are
        written as JSON, in which a tuple equals a list and the order of a dict's names does not count.

    Raises
    ------
    TypeError
        If a part cannot be written as JSON: an object's `repr` is not its content.
    ValueError
        If a part is NaN or infinite.

    Examples
    --------
    >>> content_key("model-a", "The cat sat.")[:16]
    '0af40bd841c2920a'
    """
    if not parts:
        raise ValueError("content_key needs at least one part: the content that the answer depends on")
    line = json.dumps(parts, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(line.encode("ascii")).hexdigest()


_VECTOR = b"\0"  # before the little-endian numbers of one; no JSON begins so


def _encode(value: object) -> bytes:
    """JSON for plain data, the bare numbers for a float32 vector."""
    if not isinstance(value, np.ndarray):
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")
    if value.dtype != np.float32 or value.ndim != 1:
        remedy = "pass array.astype(np.float32).ravel()"
        raise TypeError(f"the store keeps float32 vectors, not {value.dtype} of shape {value.shape}: {remedy}")
    if not np.isfinite(value).all():
        raise ValueError(f"a vector of {len(value)} numbers holds NaN or infinite ones and is not stored")
    return _VECTOR + value.astype("<f4").tobytes()


def _decode(stored: bytes) -> Any:
    """Read a value back; a vector comes back writable and in this machine's byte order."""
    if stored.startswith(_VECTOR):
        return np.frombuffer(stored, dtype="<f4", offset=1).astype(np.float32)
    return json.loads(stored)


def _checksum(kind: str, key: str, stored: bytes) -> int:
    """CRC-32 of a value and its names: where a byte of SQLite's index was changed, it finds another one's value."""
    return zlib.crc32(stored, zlib.crc32(f"{kind}\0{key}".encode()))


APPLICATION_ID = 0x53756D45  # the letters SumE
LAYOUT_VERSION = 3
_LAYOUT = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {LAYOUT_VERSION};
PRAGMA journal_mode = WAL;
CREATE TABLE items (kind TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, checksum INTEGER, UNIQUE (kind, key));
"""


class StoreError(RuntimeError):
    """A store cannot be used; the message says which file, why, and what to do."""


_KEPT = "nothing was changed; choose another path"
_DAMAGED = "the file is damaged: restore a copy, or delete it and run again"
_LOCKLESS = "the file system does not lock files as SQLite needs it: keep the store on a disk of this machine"
_REMEDIES = {
    "malformed": _DAMAGED,
    "not a database": _DAMAGED,
    "full": "the disk is full: make room and run again, finished answers are kept",
    "disk i/o": "the disk could not be read or written: check its space and health, then run again",
    "locked": f"another process held it for 60 seconds: wait for it, or end it; or, if there is none, {_LOCKLESS}",
    "locking protocol": _LOCKLESS,
    "readonly": "it may not be written: check the permissions of the file and its folder",
    "unable to open": "it may not be opened: check the permissions of the file and its folder",
}


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into a `StoreError` with a remedy."""
    try:
        yield
    except UnicodeDecodeError as error:  # SQLite's own message quotes damaged bytes
        raise StoreError(f"{path}: a name in it is no text; {_DAMAGED}") from error
    except sqlite3.Error as error:
        of_locks = re.match("SQLITE_IOERR_.*(LOCK|SHM)", getattr(error, "sqlite_errorname", "") or "")
        text = "locking protocol" if of_locks else str(error).lower()
        remedy = next((remedy for part, remedy in _REMEDIES.items() if part in text), "see the message of SQLite above")
        raise StoreError(f"{path}: {error}; {remedy}") from error
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}; check the path, its permissions and its disk") from error


def _refuse_foreign(path: Path) -> None:
    """Raise `StoreError` unless `path` is one of our files; it is only read."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; a store is a file: add a name, such as {path / 'answers.sqlite'}")
    if not path.is_file():  # reading a pipe would wait for ever
        raise StoreError(f"{path} is not an ordinary file but a pipe or a device: {_KEPT}")
    with path.open("rb") as file:
        head = file.read(100)
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        raise StoreError(f"{path} is not a summeval store, or its beginning is damaged: {_KEPT}")
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=60)) as reading:
        ((application, version),) = reading.execute("SELECT * FROM pragma_application_id, pragma_user_version")
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is a SQLite file of another program (application id {application:#x}): {_KEPT}")
    if version != LAYOUT_VERSION:
        raise StoreError(f"{path} has layout {version}, this package reads {LAYOUT_VERSION}: {_KEPT}, or upgrade")


def _create(path: Path) -> None:
    """Make an empty store and give it its name in one step; if another process was first, theirs stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-") as folder:
        new = Path(folder) / "new"
        with closing(sqlite3.connect(new, isolation_level=None)) as connection:
            connection.executescript(_LAYOUT)
        try:
            os.link(new, path)
        except OSError:  # it is there by now, or the file system has no links
            if not os.path.lexists(path):
                os.rename(new, path)


def _connect(path: Path) -> sqlite3.Connection:
    """Open a store, making it first if it does not exist."""
    if not path.exists():
        _create(path)
    _refuse_foreign(path)
    place = f"{path.as_uri()}?mode=rw"
    connection = sqlite3.connect(place, uri=True, timeout=60, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA synchronous=NORMAL")
    return connection


_INHERITED: list[sqlite3.Connection | None] = []  # connections of a fork's parent, which nobody may close here


class Store:
    """Embeddings and verdicts in one file, keyed by content, for several processes at once.

    Parameters
    ----------
    path : str or Path
        The file. It is created when it does not exist, its folder too.

    Raises
    ------
    StoreError
        If the file is damaged, of another program, or cannot be used. It is never overwritten.

    Notes
    -----
    SQLite in write-ahead mode: a killed process loses nothing that `put_many` returned from; a power cut may lose the
    last moments. It needs a local disk: network file systems do not lock reliably.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> store = Store(pathlib.Path(tempfile.mkdtemp()) / "answers.sqlite")
    >>> key = content_key("model-a", "The cat sat.")
    >>> store.put_many("verdict", {key: {"probability": 0.9}})
    1
    >>> found = store.get_many("verdict", [key, content_key("another")])
    >>> found == {key: {"probability": 0.9}}
    True
    """

    def __init__(self, path: str | Path):
        if str(path) == ":memory:":
            raise ValueError("a store lives in a file; pass a path (a dict keeps answers in memory)")
        self.path = require_path(path).absolute()
        self._connection: sqlite3.Connection | None = None
        self._owner = 0
        self._lock = threading.RLock()
        with self._session():
            pass

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def __reduce__(self) -> tuple[type[Store], tuple[Path]]:
        return type(self), (self.path,)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _session(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The connection of this process; what is written is kept whole, or, after any error, not at all."""
        if self._owner != os.getpid():
            _INHERITED.append(self._connection)
            self._connection, self._owner, self._lock = (None, os.getpid(), threading.RLock())
        with self._lock, _explained(self.path):
            if self._connection is None:
                self._connection = _connect(self.path)
            if write:
                self._connection.execute("BEGIN IMMEDIATE")
            with self._connection:
                yield self._connection

    def close(self) -> None:
        """Close the file; the store opens it again when it is used."""
        if self._owner == os.getpid() and self._connection is not None:
            with self._lock:
                self._connection.close()
                self._connection = None

    def get_many(self, kind: str, keys: Iterable[str]) -> dict[str, Any]:
        """Return the stored values of those keys that have one; a value that is damaged is a `StoreError`."""
        wanted, found = list(dict.fromkeys(require_texts(keys, "keys"))), dict[str, Any]()
        with self._session() as connection:
            for start in range(0, len(wanted), 500):
                part = [require_text(kind, "kind"), *wanted[start : start + 500]]
                marks = ",".join("?" * (len(part) - 1))
                query = f"SELECT key, CAST(value AS BLOB), checksum FROM items WHERE kind = ? AND key IN ({marks})"
                for key, stored, checksum in connection.execute(query, part):
                    if _checksum(kind, key, stored or b"") != checksum:  # a damaged byte may say that there is none
                        remedy = f"delete this row (DELETE FROM items WHERE key = '{key}') or the file, and run again"
                        raise StoreError(f"{self.path}: the {kind} {key} is damaged, its checksum is wrong; {remedy}")
                    found[key] = _decode(stored)
        return found

    def put_many(self, kind: str, values: Mapping[str, object]) -> int:
        """Store values in one transaction; keys that exist keep their value. Returns how many were new.

        A value is plain data, as JSON takes it, or a float32 vector.
        """
        if not require_text(kind, "kind"):
            raise ValueError("kind must name what is stored, such as 'verdict' or 'embedding', not ''")
        encoded = {require_text(key, "key"): _encode(value) for key, value in values.items()}
        rows = [(kind, key, stored, _checksum(kind, key, stored)) for key, stored in encoded.items()]
        with self._session(write=True) as connection:
            before = connection.total_changes
            connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", rows)
            return connection.total_changes - before


def fill_missing(
    store: Store | None,
    kind: str,
    keys: Sequence[str],
    compute: Callable[[list[int]], Sequence[object]],
    *,
    batch_size: int = 64,
    progress: str = "",
) -> list[Any]:
    """Return one value a key: from the store (None keeps nothing) where it is known, else computed and stored at once.

    `compute` gets at most `batch_size` positions in `keys`, which is what a kill can cost, and returns as many values,
    of which an exception object is a failure: it is returned, never stored. Equal keys are one question. Values are as
    JSON gives them back: tuples become lists. `progress` names a progress bar.
    """
    require_count(batch_size, "batch_size")
    known = store.get_many(kind, keys) if store is not None else {}
    missing = sorted({key: i for i, key in reversed([*enumerate(keys)]) if key not in known}.values())
    batches = [missing[start : start + batch_size] for start in range(0, len(missing), batch_size)]
    with one_bar(len(missing), progress, show=bool(progress)):
        for batch in steps(batches, [len(batch) for batch in batches]):
            values = list(compute(batch))
            if len(values) != len(batch):
                raise ValueError(f"compute was asked for {len(batch)} values and returned {len(values)}")
            new = {keys[i]: value for i, value in zip(batch, values, strict=True)}
            done = {key: value for key, value in new.items() if not isinstance(value, BaseException)}
            if store is not None:
                store.put_many(kind, done)
            known |= new | {key: _decode(_encode(value)) for key, value in done.items()}
    return [known[key] for key in keys]


StoreOrPath: TypeAlias = Store | str | os.PathLike[str] | None  # where answers are kept, if anywhere


def load_store(store: StoreOrPath) -> Store | None:
    """Return the store at a path, which is made if there is none, or the given store."""
    if isinstance(store, (str, os.PathLike)):
        return Store(Path(store))
    if store is not None and (isinstance(store, type) or not hasattr(store, "get_many")):
        given = f"the class {store.__name__}" if isinstance(store, type) else f"{type(store).__name__} ({store!r:.40})"
        raise TypeError(f"store must be a Store or a path, as in store='kept.sqlite', not {given}")
    return store


def store_path(store: StoreOrPath) -> str | None:
    """Return where a store lies, given itself or its path, as a worker in another folder would find it."""
    path = store if isinstance(store, (str, os.PathLike)) else getattr(load_store(store), "path", None)
    return None if path is None else str(Path(path).absolute())
