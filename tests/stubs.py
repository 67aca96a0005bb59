"""Write the typed stubs of the calls over many texts, so that editors and mypy know their options.

`rouge_many = batch(rouge_score, …)` is typed as any call. For each such name the stub of its part hides the import,
which the lazy loader needs, from type checkers, and shows them the signature instead.
"""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
HIDDEN = "\n\nif not _typing.TYPE_CHECKING:\n"
_KNOWN = {"str", "int", "float", "bool", "None", "list", "tuple", "dict", "object", "bytes"}
_ABC = {"Callable", "Sequence", "Mapping", "Iterable", "Iterator"}


def _plain(annotation: object, named: set[str]) -> str:
    """An annotation with names that a stub knows; every other is Any."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "Any")

    def known(found: re.Match[str]) -> str:
        name = found[0]
        if name in _ABC:
            return f"_abc.{name}"
        if name == "ScoreTable":
            return "_results.ScoreTable"
        return name if name in _KNOWN | named else "_typing.Any"

    return re.sub(r"[A-Za-z_][\w.]*", known, text)


def _shown(call: object, name: str, named: set[str]) -> str:
    """The definition of a call as a stub shows it."""
    signature, parts, starred = inspect.signature(call), [], False
    columns = getattr(call, "columns", ())
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        kind = _plain(one.annotation, named)
        if one.name in columns[:1]:  # a column, or a table with all of them
            kind = "_typing.Any"
        elif one.name in columns and one.default is None:
            kind += " | None"
        parts.append(f"{one.name}: {kind}" + ("" if one.default is one.empty else " = ..."))
    return f"def {name}({', '.join(parts)}) -> {_plain(signature.return_annotation, named)}: ..."


def _as_ruff_sorts(found: tuple[str, str, str]) -> tuple[object, ...]:
    _, module, name = found
    return module, not name.isupper(), not name[0].isupper(), name.lower()


def typed(stub: Path) -> str:
    """The text of a part's stub with its batch calls typed."""
    lines, hidden = stub.read_text(encoding="utf-8").partition(HIDDEN)[::2]
    hidden = hidden.partition("\n\n")[0]
    imports = re.findall(r"^ *(from \.(\w+) import (\w+) as \w+)$", f"{lines}\n{hidden}", re.M)
    named, calls, kept = {name for _, _, name in imports}, [], []
    for line, module, name in sorted(set(imports), key=_as_ruff_sorts):
        value = getattr(importlib.import_module(f"summeval_nb.{stub.parent.name}.{module}"), name)
        (calls if hasattr(value, "columns") and inspect.isfunction(value) else kept).append((line, name, value))
    heading = lines.partition("\n")[0]
    if not calls:
        return "\n".join([heading, "", *(line for line, _, _ in kept), ""])
    modules = [
        "import collections.abc as _abc",
        "import typing as _typing",
        "",
        "import summeval_nb.core.results as _results",
    ]
    text = "\n".join([heading, "", *modules, "", *(line for line, _, _ in kept)])
    text += HIDDEN + "\n".join(f"    {line}" for line, _, _ in calls)
    return text + "\n\n" + "\n".join(_shown(value, name, named) for _, name, value in calls) + "\n"


def _formatted(text: str, stub: Path) -> str:
    """The text as ruff lays it out, in lines that fit the page."""
    command = [str(Path(sys.executable).with_name("ruff")), "format", "--stdin-filename", str(stub), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def main() -> list[str]:
    """Write every part's stub; return those that changed."""
    changed = []
    for stub in sorted(ROOT.glob("summeval_nb/*/__init__.pyi")):
        text = _formatted(typed(stub), stub)
        if text != stub.read_text(encoding="utf-8"):
            stub.write_text(text, encoding="utf-8")
            changed.append(stub.relative_to(ROOT).as_posix())
    return changed


if __name__ == "__main__":
    print("\n".join(main()))
