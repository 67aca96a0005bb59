"""A notebook is handed to JupyterLab with the kernel's own metadata, and its file stays as it is."""

import asyncio
import json
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import nbformat
import pytest
from ipykernel.ipkernel import IPythonKernel

pytest.importorskip("jupyter_server")

from summeval_nb.cli import main  # noqa: E402
from summeval_nb.teaching.lab import BookContents, add_kernel, find_book  # noqa: E402


def awaited(asked: Coroutine[Any, Any, dict]) -> dict:
    """What a coroutine returns, in a thread of its own: a test of a browser may have left a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asked).result()


def test_a_notebook_has_what_its_kernel_will_write(tmp_path):
    stored = {"kernelspec": {"display_name": "python3", "language": "python", "name": "python3"}}
    path = tmp_path / "one.ipynb"
    nbformat.write(nbformat.v4.new_notebook(metadata=stored), path)
    before = path.read_bytes()
    contents = BookContents(root_dir=str(tmp_path))
    metadata = awaited(contents.get("one.ipynb"))["content"]["metadata"]
    assert metadata["language_info"] == IPythonKernel.language_info
    assert metadata["kernelspec"]["display_name"].startswith("Python 3") and path.read_bytes() == before
    assert awaited(contents.get("one.ipynb", content=False))["content"] is None
    assert [file["name"] for file in awaited(contents.get(""))["content"]] == ["one.ipynb"]


def test_another_kernel_speaks_for_itself():
    for metadata in ({}, {"kernelspec": {"name": "julia", "display_name": "Julia", "language": "julia"}}):
        before = json.dumps(metadata)
        add_kernel(metadata)
        assert json.dumps(metadata) == before


@pytest.fixture
def book(tmp_path):
    folder = tmp_path / "checkout" / "nbs"
    (folder / "2_counting").mkdir(parents=True)
    for name in ("index.ipynb", "glossary.md"):
        (folder / name).touch()
    return folder


def test_the_book_is_found_from_inside_and_from_beside(book, tmp_path):
    for place in (book, book / "2_counting", book.parent, book.parent / "summeval_nb" / "teaching"):
        assert find_book([tmp_path, place]) == book
    with pytest.raises(ValueError, match="git clone"):
        find_book([tmp_path])


def left_with(*arguments: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(["lab", *arguments])
    return leaving.value.code


def test_the_shell_hands_lab_the_book_and_the_users_options(book, monkeypatch):
    labapp, asked = pytest.importorskip("jupyterlab.labapp"), []
    monkeypatch.setattr(labapp.LabApp, "launch_instance", asked.append)
    monkeypatch.chdir(book.parent)
    assert left_with("--no-browser", "--port=8889") == 0
    contents = f"--ServerApp.contents_manager_class={BookContents.__module__}.BookContents"
    assert asked == [[contents, "--no-browser", "--port=8889", str(book / "index.ipynb")]]


def test_without_jupyterlab_the_shell_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", None)
    assert left_with() == 2
    assert "[lab]" in capsys.readouterr().err
