"""Every example in a docstring of the package runs as it stands."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts[1:])
    for path in (ROOT / "summeval_nb").rglob("*.py")
    if not path.stem.startswith("_")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"summeval_nb.{name}")
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert found.failed == 0
