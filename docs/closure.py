"""What a notebook's result hangs on: the modules that it imports, also late and by way of others, and their assets.

Read from the sources, without running them, and rather too much than too little. A name that the package imports
lazily leads to its module through the stub; a module that is imported by a computed name, to the modules whose dotted
names stand in strings beside it. An asset counts where its name stands; where a source reads assets and names none,
all of them count. `watch.py` writes down what a notebook truly opens, and tests/test_notebooks.py compares.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import stored

PACKAGE = "summeval_nb"
_SHELL = re.compile(rf"-m\s+{PACKAGE}\b|^summeval\s+[a-z-]+\s")
_IMPORT_IN_TEXT = re.compile(rf"\bfrom\s+({PACKAGE}[\w.]*)\s+import\s+\(?([\w\s,*]+)")


def files_behind(path: Path, root: Path) -> set[Path]:
    """Return the files of the package, source and assets, that decide what a notebook or a module does."""
    package = root / PACKAGE
    modules, stub = _modules(package), {}
    for path_of_stub in [*package.glob("*/__init__.pyi"), package / "__init__.pyi"]:
        part = path_of_stub.parent.relative_to(package).as_posix().strip(".")
        stub |= {(part, name): found for name, found in _stub(*_state(path_of_stub), part).items()}
    assets = {found.name: found for found in (package / "assets").glob("*") if found.is_file() or found.is_dir()}
    behind, waiting, text = set(), [path], ""
    while waiting:
        module = waiting.pop()
        words, named = _read(*_state(module), module.relative_to(root).with_suffix("").as_posix())
        text = text or "\n".join(words)
        waiting += (new := _resolve(named, words, stub, modules) - behind)
        behind |= new | _assets_of(words, assets, text)
    if "my_progress()" in path.read_text(encoding="utf-8"):  # it reads what every notebook of the book printed
        behind |= {found for found in (root / "nbs").rglob("*.ipynb") if not found.parent.name.startswith(".")}
    return behind - {path}


def _state(path: Path) -> tuple[Path, int, int]:
    """A file and what changes when it does, to remember what was read in it."""
    if not path.is_file():
        return path, 0, 0
    found = path.stat()
    return path, found.st_mtime_ns, found.st_size


def _modules(package: Path) -> dict[str, Path]:
    """Every module by its dotted name inside the package; the package itself is the empty name."""
    found = {}
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _stub(path: Path, time: int, size: int, part: str) -> dict[str, str]:
    """The names that the package or a part of it imports lazily, and the modules they come from."""
    tree = ast.parse(path.read_text(encoding="utf-8")) if size else ast.Module([], [])
    body = [*tree.body, *(inner for node in tree.body if isinstance(node, ast.If) for inner in node.body)]
    lines = [node for node in body if isinstance(node, ast.ImportFrom) and node.module and node.level == 1]
    return {alias.name: f"{part}.{node.module}".strip(".") for node in lines for alias in node.names}


@cache
def _read(path: Path, time: int, size: int, place: str) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    """The strings of a source, docstrings aside, and what it imports from the package as pairs of module and name."""
    words: set[str] = set()
    named: set[tuple[str, str]] = set()
    for source in _sources(path):
        tree = ast.parse(source)
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in _at_run_time(tree):
            named.update(_imported(node, place, tree))
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                words.add(node.value)
            if isinstance(node, (ast.List, ast.Tuple)):  # ["python", "-m", "summeval_nb"]
                words.add(" ".join(str(element.value) for element in node.elts if isinstance(element, ast.Constant)))
    return frozenset(words), frozenset(named)


def _sources(path: Path) -> list[str]:
    if path.suffix != ".ipynb":
        return [path.read_text(encoding="utf-8")]
    from IPython.core.inputtransformer2 import TransformerManager

    return [TransformerManager().transform_cell("".join(cell["source"])) for cell in stored.code(stored.read(path))]


def _at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker sees."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        unseen = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        waiting += node.orelse if unseen else ast.iter_child_nodes(node)


def _imported(node: ast.AST, place: str, tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What one node imports: (module inside the package, name); the name "*" stands for everything."""
    if isinstance(node, ast.ImportFrom):
        above = place.split("/")[: -node.level] if node.level else []
        full = ".".join([*above, *filter(None, [node.module])])
        if full.split(".")[0] == PACKAGE:
            yield from ((full[len(PACKAGE) + 1 :], alias.name) for alias in node.names)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] == PACKAGE:
                yield alias.name[len(PACKAGE) + 1 :], ""
                yield from _attributes(alias.asname or PACKAGE, tree)


def _attributes(package: str, tree: ast.AST) -> set[tuple[str, str]]:
    """The names taken from the package where it was imported as a whole; "*" where it is used in another way."""
    taken, owners = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == package:
            taken.add(("", "*" if node.attr == "__all__" else node.attr))
            owners.add(id(node.value))
        inner = node.value if isinstance(node, ast.Attribute) else None  # package.part.name
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == package:
            taken.add((inner.attr, node.attr))
    whole = any(isinstance(n, ast.Name) and n.id == package and id(n) not in owners for n in ast.walk(tree))
    return taken | ({("", "*")} if whole else set())


def _ours(dotted: str) -> bool:
    return dotted.startswith(f"{PACKAGE}.")


def _resolve(
    named: frozenset[tuple[str, str]], words: frozenset[str], stub: dict[tuple[str, str], str], modules: dict[str, Path]
) -> set[Path]:
    """The source files of what is imported, with the packages above them."""
    pairs = set(named)
    for word in words:
        dotted = re.findall(r"\w+(?:\.\w+)+", word)
        pairs.update(
            (dotted_name.removeprefix(f"{PACKAGE}."), "")
            for dotted_name in dotted
            if dotted_name in modules or _ours(dotted_name)
        )
        for module, names in _IMPORT_IN_TEXT.findall(word):
            pairs.update((module[len(PACKAGE) + 1 :], name) for name in re.findall(r"[\w*]+", names))
        if _SHELL.search(word):
            pairs.add(("__main__", ""))
    wanted = set()
    for module, name in pairs:
        wanted.add(module if (module, name) in stub or not name else f"{module}.{name}".strip("."))
        wanted.add(module)
        if name == "*":
            wanted.update(found for (part, _), found in stub.items() if part == module)
        while (module, name) in stub:  # the package's stub may lead to a part's
            module = stub[module, name]
            wanted.add(module)
    found = {
        ".".join(wanted_name.split(".")[:count])
        for wanted_name in wanted
        for count in range(len(wanted_name.split(".")) + 1)
    }
    return {modules[name] for name in found if name in modules}


def _assets_of(words: frozenset[str], assets: dict[str, Path], notebook: str) -> set[Path]:
    """The assets that a source names; all of them if it reads assets and names none."""
    reads = any("assets" in re.split(r"\W", word) for word in words)
    parts = {part for word in words for part in re.split(r"[/\s'\"]", word)}
    named = {name for name in assets if name in parts or (reads and Path(name).stem in words)}
    chosen = [assets[name] for name in (named or (assets if reads else ()))]
    files = {file for path in chosen for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()}
    # A chapter's sealed answers are opened by a check that names the chapter.
    return {file for file in files if file.parent.name != "exercises" or file.stem in notebook}
