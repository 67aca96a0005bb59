"""A language model by a text: "folder", "file.gguf" or "name@http://host/v1"; a store by its path."""

from __future__ import annotations

import os
from difflib import get_close_matches
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import OWN_CHECKERS
from summeval_nb.models.base import Backend
from summeval_nb.models.store import Store

StoreOrPath: TypeAlias = Store | str | PathLike[str] | None  # where answers are kept, if anywhere


FORMS = (*OWN_CHECKERS, "nli:FOLDER", "llm:FOLDER", "llm:FILE.gguf", "llm:NAME@https://HOST/v1")


def unknown_name(name: str, what: str) -> ValueError:
    """The error for a checker or a judge of an unknown name: it lists every form, and says what may have been meant.

    Examples
    --------
    >>> str(unknown_name("gpt-4o-mini", "judge")).partition("; ")[2]
    "a model behind a server is named as in 'llm:gpt-4o-mini@https://HOST/v1'"
    """
    near = get_close_matches(name, FORMS, n=1, cutoff=0.65)
    shown = redacted(name)
    meant = f", did you mean {near[0]!r}?" if near else ":"
    server = shown if "@http" in name else f"{shown:.60}@https://HOST/v1"
    remedy = "" if near else f"; a model behind a server is named as in {f'llm:{server}'!r}"
    return ValueError(f"unknown {what} {shown!r:.200}{meant} known: {', '.join(map(repr, FORMS))}{remedy}")


def load_model(text: str) -> Backend:
    """Return the backend that a text names: "folder", "file.gguf" or "name@http://host/v1".

    The two models that a process named last stay loaded: a folder or file that has not
    changed since is not read again. Each backend counts its own usage.
    """
    name, at, address = text.partition("@http")
    if not name:
        raise ValueError(f"name a model: {', '.join(form for form in FORMS if form.startswith('llm'))}")
    if at:
        from summeval_nb.models.server import ServerBackend

        return ServerBackend(name, base_url=f"http{address}", api_key=os.environ.get("SUMMEVAL_API_KEY"))
    path = Path(name)
    files = sorted(file for file in path.iterdir() if file.exists()) if path.is_dir() else [path] * path.exists()
    stats = [(str(file.absolute()), file.stat()) for file in files]  # some of it changes whenever a file is written
    state = tuple((where, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns) for where, now in stats)
    return _loaded(name, os.getpid(), state).twin() if state else _loaded.__wrapped__(name, os.getpid(), state)


@lru_cache(maxsize=2)
def _loaded(name: str, process: int, state: tuple[tuple[str | int, ...], ...]) -> Any:
    """A loaded model, as long as its files are what they were; a forked process loads its own."""
    from summeval_nb.models.local import LlamaCppBackend, TransformersBackend

    return LlamaCppBackend(name) if name.lower().endswith(".gguf") else TransformersBackend(name)


def load_backend(backend: Backend | str, option: str = "backend") -> Backend:
    """Return the backend that a text names, with "llm:" in front or without, or the given backend."""
    if isinstance(backend, str):
        return load_model(backend.removeprefix("llm:"))
    if isinstance(backend, type) or not hasattr(backend, "choose_many"):
        given = f"the class {backend.__name__}" if isinstance(backend, type) else type(backend).__name__
        raise TypeError(
            f"{option} must be a Backend, such as TransformersBackend('FOLDER'), "
            f"or its name, such as 'llm:FOLDER', not {given}"
        )
    return backend


def load_store(store: StoreOrPath) -> Store | None:
    """Return the store at a path, which is made if there is none, or the given store."""
    if isinstance(store, (str, PathLike)):
        return Store(Path(store))
    if store is not None and (isinstance(store, type) or not hasattr(store, "get_many")):
        raise _no_store(store)
    return store


def store_path(store: StoreOrPath) -> str | None:
    """Return where a store lies, given itself or its path, as a worker in another folder would find it."""
    path = getattr(store, "path", store)
    if path is not None and (isinstance(store, type) or not isinstance(path, (str, PathLike))):
        raise _no_store(store)
    return None if path is None else str(Path(path).absolute())


def _no_store(value: object) -> TypeError:
    given = f"the class {value.__name__}" if isinstance(value, type) else f"{type(value).__name__} ({value!r:.40})"
    return TypeError(f"store must be a Store or a path, as in store='kept.sqlite', not {given}")
