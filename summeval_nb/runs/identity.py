"""What decides a result, as plain data: declared fingerprints, pickled choices with the code behind them, weights.

What declares a `fingerprint` is known by it. Anything else is known by what pickle would write of it, together with
the source text or the version of each module that this names. What pickle cannot write or name, such as a lambda, has
no identity, and its run is never resumed. Nothing is ever unpickled.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
import pickle
import site
import sys
import sysconfig
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import distribution, packages_distributions, version
from pathlib import Path, PurePath
from typing import Any

from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import JsonDict, hub_only_if
from summeval_nb.core.metric import Metric

MODEL_OPTIONS = frozenset({"checker", "judge", "backend", "embedder", "model"})  # the options that hold a model
_PACKAGED = {"embedded", "minilm", "mpnet", "words"}  # the package's own, which change with its version
_UNNAMED = "scripted:scripted"  # a ScriptedBackend that nobody named: any function


def _process_start() -> float:
    """When this process began, in seconds of the clock; where nothing tells, when this module was imported."""
    now = time.time()
    try:
        born = int(Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()[19])
        alive = float(Path("/proc/uptime").read_text().split()[0]) - born / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return now
    return min(now, now - alive + 0.05)  # the kernel counts in hundredths


_STARTED = _process_start()


def describe(value: object, name: str) -> Any:
    """Return plain data that stands for an option or a metric in a manifest; equal data mean equal results.

    What has no identity gets a mapping with the key "unknown": a list of reasons.
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
    """Return what is known of an object or a function: its name, and its fingerprint or its state and code."""
    if type(value) is Metric:  # a function with its options
        known = {"name": _name_of(value.function)} if _is_packaged(value.function) else identify(value.function)
        return known | {"options": describe(value.options(), "options")}
    found: JsonDict = {"name": _name_of(value)}
    if isinstance(value, Metric) and _is_packaged(type(value)):
        return found | {"options": describe(value.options(), "options")}
    if mark := _declared(value):
        return found | mark
    try:
        return found | _pickled(value)
    except Exception as error:  # whatever an object's own pickling raises
        return found | {"unknown": [f"{found['name']}: {' '.join(str(error).split())[:200]}"]}


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
        if path.is_file():
            return _file_hash(path)
        names = sorted(file.relative_to(path) for file in path.rglob("*") if file.is_file())
        shown = (name for name in names if not any(part[0] == "." or part == "__pycache__" for part in name.parts))
        listed = [[name.as_posix(), _file_hash(path / name)] for name in shown]
        return hashlib.sha256(json.dumps(listed).encode()).hexdigest()[:16] if listed else ""
    return ""


def _cached_content(name: str) -> str:
    """The content of a model that a hub's local cache holds under a name; nothing is downloaded."""
    try:
        from huggingface_hub import snapshot_download

        with hub_only_if(download=False) as where:
            return content_of(Path(snapshot_download(name, **where)))
    except Exception:  # no such package, no such name, no such cache: the metric itself will say so
        return ""


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def _name_of(value: object) -> str:
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{getattr(named, '__module__', None) or 'builtins'}.{named.__qualname__}"


def _is_packaged(kind: Any) -> bool:
    return str(kind.__module__).partition(".")[0] == "summeval_nb"


def _declared(value: object) -> JsonDict | None:
    """A declared fingerprint, with the threshold, which is none of the fingerprint's.

    One that a class of somebody's only inherits from a class of the package, or that this puts into the object, says
    nothing of what it does otherwise: such a class declares its own as an attribute of the class, or a property.
    """
    mark = getattr(value, "fingerprint", None)
    if isinstance(value, type) or not isinstance(mark, str) or not mark or _UNNAMED in mark:
        return None
    own = [kind for kind in type(value).__mro__ if not _is_packaged(kind)]
    says = any("fingerprint" in vars(kind) for kind in own)
    says = says or (len(own) == len(type(value).__mro__) and "fingerprint" in getattr(value, "__dict__", {}))
    if not (says or _is_packaged(type(value))):
        return None
    threshold = getattr(value, "threshold", None)
    return {"fingerprint": mark} | ({"threshold": threshold} if isinstance(threshold, (int, float)) else {})


class _Digest(pickle.Pickler):
    """Hashes what pickle writes of a value, and notes the modules of all that it names."""

    def __init__(self) -> None:
        self.sha, self.modules = hashlib.sha256(), set[str]()
        super().__init__(self, protocol=4)

    def write(self, data: bytes) -> None:
        """Take what pickle writes."""
        self.sha.update(data)

    def persistent_id(self, value: object) -> Any:
        """Return what stands for a value whose pickle would not do; None for any other."""
        self.modules |= {type(value).__module__, str(getattr(value, "__module__", None) or "builtins")}
        if isinstance(value, (set, frozenset)):  # which has another order in every process
            return ["set", sorted(json.dumps(_pickled(member), sort_keys=True) for member in value)]
        if type(value) is Metric:
            return [_name_of(value.function), sorted(value.options().items())] if _is_packaged(value.function) else None
        if isinstance(value, Metric) and _is_packaged(type(value)):  # its choices, and no cache of its results
            return [_name_of(value), sorted(value.options().items())]
        return (mark := _declared(value)) and [_name_of(value), mark]


def _pickled(value: object) -> JsonDict:
    """The hash of a value's pickle, and the version or the source of each module that it names."""
    digest = _Digest()
    digest.dump(value)
    code = dict(_code_of(module) for module in sorted(digest.modules))
    return {"state": digest.sha.hexdigest()[:16], "code": {name: of for name, of in code.items() if name}}


@functools.cache
def _installed() -> Mapping[str, list[str]]:
    """The distributions of each installed module; one that is installed to be edited is one's own code."""
    found = lambda name: json.loads(distribution(name).read_text("direct_url.json") or "{}")
    edited = lambda name: found(name).get("dir_info", {}).get("editable")
    return {top: names for top, names in packages_distributions().items() if not any(map(edited, set(names)))}


@functools.cache
def _places() -> tuple[Path, ...]:
    """The folders of Python's own modules and of what is installed, as they are named and as they are."""
    known = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
    listed = [Path(place) for place in (*known, site.getusersitepackages()) if place]
    return (*listed, *(place.resolve() for place in listed))


def _file_of(module: str) -> Path:
    return Path(getattr(sys.modules.get(module), "__file__", None) or "")


def _is_own(module: str) -> bool:
    """Whether a module is source of somebody's, also where one of Python's or of what is installed has its name."""
    path = _file_of(module)
    if path.suffix != ".py":
        return False
    names = _installed().get(module.partition(".")[0], ())
    places = (*_places(), *(Path(str(distribution(name).locate_file(""))) for name in names))
    return not any(file.is_relative_to(place) for place in places for file in (path, path.resolve()))


def _code_of(module: str) -> tuple[str, str]:
    """What tells the code of a module: a version, or a hash of one's own source; nothing for the package's."""
    top = module.partition(".")[0]
    if top == "summeval_nb":  # a run's settings have its version
        return "", ""
    path = _file_of(module)
    if not _is_own(module):
        if top in sys.stdlib_module_names:
            return "python", f"{sys.version_info.major}.{sys.version_info.minor}"
        if names := _installed().get(top):
            return top, ", ".join(f"{name} {version(name)}" for name in sorted(set(names)))
    if module == "__main__" or path.suffix != ".py":
        raise LookupError(f"the code of {module} is in no module that can be imported")
    if path.stat().st_mtime > _STARTED:
        raise LookupError(f"{path.name} was changed after this process had begun")
    source = path.read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(source)))
    tops = {alias.name.partition(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    own = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    tops |= {"" if node.level else str(node.module).partition(".")[0] for node in own}
    others = tops - {"summeval_nb"} - sys.stdlib_module_names - _installed().keys()
    if others := (others | {name for name in tops if _is_own(name)}) - {"summeval_nb"}:
        raise LookupError(f"{module} imports other code of yours ({min(others) or 'relatively'})")
    return module, hashlib.sha256(source.encode()).hexdigest()[:16]
