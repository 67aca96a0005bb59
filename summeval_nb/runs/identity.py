"""What decides a result, as plain data: own code with what it captures, weights by content, declared versions.

`summeval_nb.runs.jobs.describe` is its public face. Nothing is called and nothing is unpickled: code is read, values
are taken apart.
"""

from __future__ import annotations

import copyreg
import dis
import enum
import functools
import hashlib
import importlib.util
import json
import math
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePath
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from summeval_nb.core.addresses import without_secrets
from summeval_nb.core.base import hub_only_if
from summeval_nb.core.metric import is_function

_MODELS = ("checker", "judge", "backend", "embedder")
_PACKAGED = {"embedded", "minilm", "words"}  # names of what comes with the package, see `packaged_fingerprints`


def identify(value: object) -> Any:
    """Return plain data that is equal exactly where an option or a metric of a user decides alike.

    Where that cannot be known, a mapping in it has the key "unknown": a list of what could not be taken apart.
    """
    walk = _Walk()
    if isinstance(value, type) or callable(value) or hasattr(value, "fingerprint"):
        found = walk.named(value)
    else:
        found = walk.plain(value, "value")
    if walk.unknown:
        found = {
            **(found if isinstance(found, dict) else {"value": _short(found)}),
            "unknown": sorted(set(walk.unknown)),
        }
    return found


def packaged_fingerprints(choices: Mapping[str, Any]) -> dict[str, str]:
    """Return the fingerprints of the package's own checkers that choices name, also for a judge to ask.

    The name stays where the checker does not: another version of it, another fingerprint, another run.
    """
    from summeval_nb.evidence.load import packaged_checker

    named = {name: choices.get(name) for name in ("checker", "judge")}
    own = {name: value for name, value in named.items() if isinstance(value, str) and value in ("embedded", "words")}
    return {name: packaged_checker(value).fingerprint for name, value in own.items()}


def find_unknown(described: object) -> list[str]:
    """Return what `identify` could not take apart, anywhere in some described data."""
    if isinstance(described, Mapping):
        inner = [one for part in described.values() for one in find_unknown(part)]
        return [*inner, *(described["unknown"] if isinstance(described.get("unknown"), list) else [])]
    if isinstance(described, list):
        return [one for part in described for one in find_unknown(part)]
    return []


def differences(before: object, now: object, name: str = "") -> Iterator[str]:
    """Yield what differs between two pieces of plain data, each with its path and both values."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in dict.fromkeys([*before, *now]):
            inner = f"{name}.{key}" if name else str(key)
            if key not in before or key not in now:
                sides = [repr(one[key]) if key in one else "absent" for one in (before, now)]
                yield f"{inner} ({sides[0]} before, {sides[1]} now)"
            else:
                yield from differences(before[key], now[key], inner)
    elif _text(before) != _text(now):
        yield f"{name} ({before!r} before, {now!r} now)"


def identify_model(option: str, text: str | PurePath) -> Any:
    """Return an option that names a model, with the content of its files; a server's secrets are left out."""
    kind, colon, place = str(text).partition(":")
    if not colon or kind not in ("llm", "nli") or option == "embedder":
        kind, place = "", str(text)
    shown = without_secrets(str(text))
    if option not in _MODELS or not place or place in _PACKAGED or "@http" in place:
        return shown
    content = content_of(Path(place)) or _cached_content(place)
    return {"name": shown, "content": content} if content else shown


def content_of(path: Path) -> str:
    """Return a hash of a file, or of all files of a folder with their names; empty where there is none."""
    with suppress(OSError):
        if path.is_file():
            return _file_hash(path)[:16]
        if path.is_dir():
            names = sorted(one for one in path.rglob("*") if one.is_file() and not _hidden(one.relative_to(path)))
            listed = [[one.relative_to(path).as_posix(), _file_hash(one)] for one in names]
            return _hash(listed) if listed else ""
    return ""


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


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
        return hashlib.file_digest(file, "sha256").hexdigest()


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _hash(value: object) -> str:
    return hashlib.sha256(_text(value).encode()).hexdigest()[:16]


def _short(value: object) -> Any:
    """A number, or the hash of anything else: a captured text may be a key, which must not stand in a manifest."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, dict) and "function" in value:
        return value
    return f"sha256:{_hash(value)}"


@functools.cache
def _installed_places() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    places = {*(sysconfig.get_path(name) for name in names), *site.getsitepackages(), site.getusersitepackages()}
    return tuple(Path(one).resolve() for one in places if one)


@functools.cache
def _own_file(name: str) -> Path | None:
    """The file of a module that is the user's own; None for an installed or built-in one, or one without a file."""
    top = name.partition(".")[0]
    if top == "summeval_nb" or top in sys.stdlib_module_names:
        return None
    path = _module_file(name)
    return None if path is None or any(path.is_relative_to(place) for place in _installed_places()) else path


def _module_file(name: str) -> Path | None:
    """The file of a module, which need not be loaded, and is not loaded by this."""
    if file := getattr(sys.modules.get(name), "__file__", None):
        return Path(file).resolve()
    top, _, rest = name.partition(".")
    try:
        origin = None if not top or sys.modules.get(top) else importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return None
    file = getattr(sys.modules.get(top), "__file__", None) or (origin and origin.origin)
    if not file or not Path(file).is_file():
        return None
    base = Path(file).parent.joinpath(*rest.split(".")) if rest else Path(file)
    return next((one.resolve() for one in (base.with_suffix(".py"), base / "__init__.py") if one.is_file()), None)


def _is_own(module: object) -> bool:
    """Whether code of a module is the user's: of the main program, a notebook, or a file that is not installed."""
    name = module if isinstance(module, str) else ""
    if name == "__main__" or not name:
        return True
    if name.partition(".")[0] in ("summeval_nb", *sys.stdlib_module_names):
        return False
    loaded = sys.modules.get(name)
    return _own_file(name) is not None or loaded is None or not getattr(loaded, "__file__", None)


def _version_of(module: str) -> str:
    return str(getattr(sys.modules.get(module.partition(".")[0]), "__version__", ""))


def _code(code: CodeType) -> list[object]:
    """The compiled form of a function: what it does, without its file, its lines and its comments."""
    constants = [_code(one) if isinstance(one, CodeType) else _constant(one) for one in code.co_consts]
    counts = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
    names = [list(one) for one in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)]
    return [code.co_code.hex(), code.co_exceptiontable.hex(), constants, names, counts]


def _constant(value: object) -> Any:
    if isinstance(value, tuple):
        return [_constant(one) for one in value]
    if isinstance(value, frozenset):
        return ["set", sorted(map(repr, value))]
    return [type(value).__name__, repr(value)]


def _used_names(code: CodeType) -> tuple[set[str], set[str]]:
    """The global names that a function reads, and the modules that it imports itself."""
    names, modules = set(), set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(step.argval)
        elif step.opname == "IMPORT_NAME":
            modules.add(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            more = _used_names(inner)
            names, modules = names | more[0], modules | more[1]
    return names, modules


def _name_of(value: object) -> str:
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


class _Walk:
    """One walk through a value. What was seen is remembered, cycles are named by their distance."""

    def __init__(self) -> None:
        self.unknown: list[str] = []
        self._path: list[int] = []
        self._known: dict[int, tuple[object, Any]] = {}  # with the value itself, so that no id is used twice

    def plain(self, value: object, where: str) -> Any:
        """Return plain data that stands for a value."""
        if value is None or value is Ellipsis or value is NotImplemented or type(value) in (bool, int, str):
            return value if value is None or isinstance(value, (bool, int, str)) else repr(value)
        if type(value) is float:
            return value if math.isfinite(value) else ["float", repr(value)]
        if isinstance(value, (bytes, bytearray)):
            return ["bytes", hashlib.sha256(value).hexdigest()]
        if id(value) in self._known:
            return self._known[id(value)][1]
        if id(value) in self._path:
            return ["again", len(self._path) - self._path.index(id(value))]
        self._path.append(id(value))
        try:
            found = self._taken_apart(value, where)
        except RecursionError:
            found = self._give_up(value, where)
        finally:
            self._path.pop()
        self._known[id(value)] = value, found
        return found

    def named(self, value: object) -> Any:
        """Return a function, class or object as a mapping for people: its name, its code, what it uses."""
        if isinstance(value, functools.partial):
            given = [*enumerate(value.args), *value.keywords.items()]
            arguments = {str(name): _short(self.plain(one, str(name))) for name, one in given}
            inner = self.named(value.func)
            return {**(inner if isinstance(inner, dict) else {"function": inner}), "arguments": arguments}
        if isinstance(value, FunctionType) and self._declared(value) is None and _is_own(value.__module__):
            return self._function(value)
        found = self.plain(value, type(value).__name__)
        if isinstance(found, dict):
            return found
        if self._declared(value) is None:
            return {"function": _name_of(value), "identity": _hash(found)}
        _, name, mark, *rest = found
        shown = {"function": name, "fingerprint": mark} if is_function(value) else {"fingerprint": mark}
        shown |= {"threshold": rest[0]} if rest and rest[0] is not None else {}
        return shown | ({"inside": _hash(rest[1])} if rest[1:] and rest[1] else {})

    def _declared(self, value: object) -> str | None:
        if isinstance(value, type):
            return None
        mark = getattr(value, "fingerprint", None)
        return mark if isinstance(mark, str) and mark else None

    def _function(self, function: FunctionType) -> dict[str, Any]:
        uses: dict[str, Any] = {}
        names, modules = _used_names(function.__code__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            with suppress(ValueError):  # an empty cell
                uses[name] = self.plain(cell.cell_contents, name)
        for name in sorted(names & set(function.__globals__)):
            uses.setdefault(name, self.plain(function.__globals__[name], name))
        for name in sorted(modules):
            if name.partition(".")[0] not in sys.stdlib_module_names:
                uses[f"import {name}"] = self._module(name)
        for name, default in _defaults(function):
            uses[f"{name}="] = self.plain(default, name)
        for name, kept in vars(function).items():
            if name != "__wrapped__":  # the wrapper's closure holds it
                uses[f".{name}"] = self.plain(kept, name)
        found = {"function": _name_of(function), "code": _hash(_code(function.__code__))}
        found["python"] = f"{sys.version_info.major}.{sys.version_info.minor}"  # compiled code differs between them
        return {**found, "uses": {name: _short(one) for name, one in uses.items()}} if uses else found

    def _taken_apart(self, value: object, where: str) -> Any:
        if isinstance(value, FunctionType):
            return self._any_function(value)
        if (mark := self._declared(value)) is not None:
            return self._by_fingerprint(value, mark)
        if type(value) is dict:
            return _mapping(self, value, where)
        for kinds, take in _KINDS:
            if isinstance(value, kinds):
                return take(self, value, where)
        if type(value).__module__ == "summeval_nb.models.store":  # a store only remembers
            return ["store"]
        if hasattr(value, "__wrapped__") and callable(value):  # such as functools.cache
            return ["wrapped", _name_of(type(value)), self.plain(value.__wrapped__, where)]
        if (
            hasattr(value, "tobytes")
            and hasattr(value, "dtype")
            and hasattr(value, "shape")
            and not getattr(value.dtype, "hasobject", False)
        ):
            return ["array", str(value.dtype), list(value.shape), hashlib.sha256(value.tobytes()).hexdigest()]
        if hasattr(value, "detach") and hasattr(value, "untyped_storage"):
            return _tensor(value)
        if hasattr(value, "state_dict") and hasattr(value, "named_parameters"):
            weights = {name: _tensor(one) for name, one in value.state_dict().items() if hasattr(one, "detach")}
            return ["network", self.plain(type(value), where), repr(value), weights]
        return self._by_reduction(value, where)

    def _any_function(self, function: FunctionType) -> list[object] | dict[str, Any]:
        if (mark := self._declared(function)) is not None:
            return ["declared", _name_of(function), mark]
        if _is_own(function.__module__):
            return self._function(function)
        return ["installed", _name_of(function), _version_of(function.__module__), _hash(_code(function.__code__))]

    def _by_fingerprint(self, value: object, mark: str) -> list[object]:
        """A declared version, with the threshold, which is none of the fingerprint's; and own code in our objects."""
        threshold = getattr(value, "threshold", None)
        found: list[object] = [
            "declared",
            _name_of(type(value)),
            mark,
            threshold if isinstance(threshold, (int, float)) else None,
        ]
        if not type(value).__module__.startswith("summeval_nb."):
            return found
        inside = {n: one for n, one in sorted(getattr(value, "__dict__", {}).items()) if self._decides(one)}
        return [*found, {name: self.plain(one, name) for name, one in inside.items()}]

    def _decides(self, part: object) -> bool:
        """Whether a part of one of our own objects can hold code of the user's."""
        own = not isinstance(part, type) and is_function(part) and _is_own(getattr(type(part), "__module__", None))
        ours = type(part).__module__.startswith("summeval_nb.") and self._declared(part) is not None
        return isinstance(part, (FunctionType, MethodType, functools.partial)) or own or ours

    def _module(self, name: str) -> str:
        file = _own_file(name)
        if name == "__main__" or file is None:
            return f"{name} {_version_of(name)}".strip()
        return f"{name} sha256:{_file_hash(file)[:16]}"

    def _class(self, kind: type, where: str) -> list[object]:
        if not _is_own(kind.__module__):
            return ["class", _name_of(kind), _version_of(kind.__module__)]
        members = {n: self.plain(one, n) for n, one in sorted(vars(kind).items()) if _is_member(n, one)}
        return ["own class", _name_of(kind), [self.plain(base, where) for base in kind.__bases__], members]

    def _by_reduction(self, value: object, where: str) -> list[object]:
        """What `pickle` would store of an object, taken apart, and never loaded."""
        try:
            registered = copyreg.dispatch_table.get(type(value))
            reduced = registered(value) if registered else value.__reduce_ex__(4)
        except Exception:  # whatever an object's own pickling raises
            return self._give_up(value, where)
        if isinstance(reduced, str):
            return ["global", reduced, _name_of(value), _version_of(type(value).__module__)]
        make, arguments, *rest = reduced
        state, members, pairs = (*rest[:3], None, None, None)[:3]
        inner = self.plain(type(value), where), self.plain(make, where), self.plain(arguments, where)
        held = [self.plain(list(one), where) for one in (members or (), pairs or ())]
        return ["object", *inner, self.plain(state, where), *held]

    def _give_up(self, value: object, where: str) -> list[object]:
        self.unknown.append(f"{where}: {_name_of(type(value))}")
        return ["unknown", _name_of(type(value))]


def _tensor(value: Any) -> list[object]:
    import torch

    numbers = value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy()
    return ["tensor", str(value.dtype), list(value.shape), hashlib.sha256(numbers).hexdigest()]


def _defaults(function: FunctionType) -> list[tuple[str, object]]:
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    values = function.__defaults__ or ()
    return [
        *zip(positional[len(positional) - len(values) :], values, strict=True),
        *(function.__kwdefaults__ or {}).items(),
    ]


def _is_member(name: str, value: object) -> bool:
    if isinstance(value, (GetSetDescriptorType, MemberDescriptorType)) or name in ("_abc_impl", "__annotate_func__"):
        return False
    if name.startswith("__") and name.endswith("__"):
        return isinstance(value, (FunctionType, classmethod, staticmethod, property))
    return True


def _sorted(parts: Iterable[object]) -> list[object]:
    return sorted(parts, key=_text)


def _mapping(walk: _Walk, value: Mapping[object, object], where: str) -> list[object]:
    pairs = [[walk.plain(key, where), walk.plain(one, f"{where}[{key!r:.30}]")] for key, one in value.items()]
    return ["mapping", _sorted(pairs)]


def _bound(walk: _Walk, value: MethodType, where: str) -> list[object]:
    return ["method", walk.plain(value.__func__, where), walk.plain(value.__self__, where)]


def _builtin(walk: _Walk, value: BuiltinFunctionType, where: str) -> list[object]:
    owner = value.__self__
    inner = None if owner is None or isinstance(owner, ModuleType) else walk.plain(owner, where)
    return ["built-in", f"{value.__module__}.{value.__qualname__}", inner]


def _descriptor(
    walk: _Walk, value: property | classmethod[Any, Any, Any] | staticmethod[Any, Any], where: str
) -> list[object]:
    parts = [value.fget, value.fset, value.fdel] if isinstance(value, property) else [value.__func__]
    return [type(value).__name__, [walk.plain(one, where) for one in parts]]


_KINDS: tuple[tuple[Any, Any], ...] = (
    ((list, tuple), lambda walk, value, where: _list(walk, value, where)),
    (set | frozenset, lambda walk, value, where: ["set", _sorted([walk.plain(one, where) for one in value])]),
    (PurePath, lambda walk, value, where: ["path", str(value)]),
    (functools.partial, lambda walk, value, where: ["partial", *(walk.plain(one, where) for one in _partial(value))]),
    (MethodType, _bound),
    (BuiltinFunctionType, _builtin),
    (ModuleType, lambda walk, value, where: walk._module(value.__name__)),
    (
        enum.Enum,
        lambda walk, value, where: ["choice", _name_of(type(value)), value.name, walk.plain(value.value, where)],
    ),
    (type, lambda walk, value, where: walk._class(value, where)),
    ((property, classmethod, staticmethod), _descriptor),
)


def _partial(value: functools.partial[object]) -> list[object]:
    return [value.func, value.args, dict(value.keywords)]


def _list(walk: _Walk, value: Iterable[object], where: str) -> list[object]:
    parts = [walk.plain(one, where) for one in value]
    return parts if type(value) in (list, tuple) else ["listed", walk.plain(type(value), where), parts]
