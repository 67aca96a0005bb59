"""Every notebook runs from top to bottom in a real kernel, shows no error and provokes no warning of ours."""

import re
from pathlib import Path

import execute
import pytest
from helpers.late import Late

ROOT = Path(__file__).parents[1]
nbformat = Late("nbformat")

OURS = re.compile(r"^.*(?:summeval_nb/|ipykernel_).*Warning\b.*$", re.M)  # a cell's code is the package's source


def case(path: Path):
    """A chapter or a lesson, or, among the nightly ones, a solution."""
    marks = () if execute.is_book(path) else pytest.mark.nightly
    return pytest.param(path, id=path.relative_to(execute.NOTEBOOKS).as_posix(), marks=marks)


@pytest.mark.parametrize("path", map(case, execute.notebooks()))
def test_notebook_runs(path):
    notebook = nbformat.read(execute.execute_notebook(path), 4)
    known = {file.relative_to(ROOT).as_posix() for file in [path, *execute.files_behind(path, ROOT)]}
    unknown = {name for name in notebook.metadata["opened"] if not name.endswith("__init__.pyi")} - known
    assert not unknown, f"docs/closure.py does not know that it reads {sorted(unknown)}: it would not run again"
    changed = execute.stored.changed_cells(path, execute.EXECUTED / path.relative_to(execute.NOTEBOOKS))
    assert not changed, f"cells {changed} say something else than what is stored: run {execute.stored.COMMAND}"
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        assert not [out for out in outputs if out.output_type == "error"], cell.source
        shown_on_purpose = re.search(r"^#\|\s*warning:\s*true", cell.source, re.M)
        text = "".join(out.text for out in outputs if out.output_type == "stream" and out.name == "stderr")
        assert shown_on_purpose or not OURS.search(text), f"{cell.source}\n\n{text}"


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A folder of its own for notebooks and copies; returns a function that writes a notebook from cells' sources."""
    monkeypatch.setattr(execute, "ROOT", tmp_path)
    monkeypatch.setattr(execute, "NOTEBOOKS", tmp_path / "nbs")
    monkeypatch.setattr(execute, "EXECUTED", tmp_path / "executed")
    monkeypatch.setattr(execute, "BUILD", tmp_path / "build")
    monkeypatch.setattr(execute, "BUILT", tmp_path / "build")
    monkeypatch.setattr(execute, "__file__", str(tmp_path / "execute.py"))
    (tmp_path / "summeval_nb" / "assets").mkdir(parents=True)
    (tmp_path / "nbs").mkdir()

    def write(*sources: str) -> Path:
        path = tmp_path / "nbs" / "lesson.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources]), path)
        return path

    return write


@pytest.mark.nightly
def test_a_copy_is_kept_until_something_changes(bench, tmp_path, monkeypatch):
    for name in ("__init__", "near", "far"):
        (tmp_path / "summeval_nb" / f"{name}.py").write_text("NAME = 'assets/table.json'" if name == "near" else "")
    (tmp_path / "summeval_nb.egg-info").mkdir()
    (tmp_path / "summeval_nb.egg-info" / "entry_points.txt").write_text("")
    start = "import os, pathlib, summeval_nb.near\nopen('../summeval_nb.egg-info/entry_points.txt').close()\n"
    path = bench(start + "(os.environ['IN_TEST'], pathlib.Path.cwd().name, os.urandom(8).hex())")

    def text() -> str:
        return nbformat.read(execute.execute_notebook(path), 4).cells[0].outputs[0].data["text/plain"]

    first = text()
    assert "('1', 'nbs'" in first
    assert text() == first
    opened = nbformat.read(execute.execute_notebook(path), 4).metadata["opened"]
    assert opened == ["summeval_nb/__init__.py", "summeval_nb/near.py"]
    for change in ("summeval_nb/near.py", "summeval_nb/assets/table.json", "constraints.txt"):
        (tmp_path / change).write_text("NAME = 'assets/table.json'\n")
        changed = text()
        assert changed != first, f"{change} changed and the old copy was returned"
        assert text() == changed
        first = changed
    monkeypatch.setattr(execute, "capability", lambda: "another processor's")
    assert text() != first, "PyTorch calculates with other instructions and the old copy was returned"
    first = text()
    for change in ("summeval_nb/far.py", "summeval_nb/assets/other.json"):
        (tmp_path / change).write_text("1")
        assert text() == first, f"{change} changed, which the notebook does not import"
