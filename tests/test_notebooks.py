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
