"""Every example in a docstring of the package runs as it stands."""

import doctest
import importlib
from functools import cache
from pathlib import Path

import book
import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts[1:])
    for path in (ROOT / "summeval_nb").rglob("*.py")
    if not path.stem.startswith("__") and path.stem != "_modidx"
)
WITHOUT = {  # plain modules whose docstrings hold no example that could run here, and why
    "cli": "the shell: tests/test_shell.py runs its commands",
    "judged.llm": "needs a language model: chapter 51 shows it, tests/test_llm_judge.py calls it",
    "models.http": "needs a server: tests/test_server.py calls it",
    "models.server": "needs a server: tests/test_server.py calls it",
    "shell": "how commands speak: tests/test_shell.py reads it",
    "runs.file": "the memory of a run: tests/test_runs.py writes it",
    "runs.workers": "processes: tests/test_workers.py asks them",
}


@cache
def chapters() -> dict[str, str]:
    """Which chapter exports which module."""
    return book.modules([name for name in book.written() if name not in book.TEXTS])


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, monkeypatch, tmp_path):
    """In the docstrings of every module; what a chapter exports without one is called in the chapter's own cells."""
    assert set(WITHOUT) <= set(MODULES)
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"summeval_nb.{name}")
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert found.failed == 0
    if found.attempted == 0 and name in chapters():
        cells = [cell.source for cell in book.read(chapters()[name]).cells if cell.cell_type == "code"]
        shown = "\n".join(source for source in cells if "#| export" not in source)
        assert [name for name in module.__all__ if f"{name}(" in shown], "neither its docstrings nor its page call it"
    else:
        assert (found.attempted == 0) == (name in WITHOUT), "examples, or a reason in the list above"
