"""The book is laid out from the package; JupyterLab gets each notebook with its kernel's metadata, its file stays."""

import asyncio
import re
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from helpers.late import Late, needs

needs("jupyter_server")

from summeval_nb.cli import main  # noqa: E402
from summeval_nb.teaching import exercises as of_the_book  # noqa: E402
from summeval_nb.teaching.exercises import book_to_open, carried_book, lay_out_book  # noqa: E402

nbformat = Late("nbformat")
IPythonKernel = Late("ipykernel.ipkernel", "IPythonKernel")


def awaited(asked: Coroutine[Any, Any, dict]) -> dict:
    """What a coroutine returns, in a thread of its own: a test of a browser may have left a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asked).result()


def test_a_notebook_has_what_its_kernel_will_write(tmp_path):
    stored = {"kernelspec": {"display_name": "python3", "language": "python", "name": "python3"}}
    path = tmp_path / "one.ipynb"
    nbformat.write(nbformat.v4.new_notebook(metadata=stored), path)
    before = path.read_bytes()
    contents = of_the_book.BookContents(root_dir=str(tmp_path))
    metadata = awaited(contents.get("one.ipynb"))["content"]["metadata"]
    assert metadata["language_info"] == IPythonKernel.language_info
    assert metadata["kernelspec"]["display_name"].startswith("Python 3") and path.read_bytes() == before
    assert awaited(contents.get("one.ipynb", content=False))["content"] is None
    assert [file["name"] for file in awaited(contents.get(""))["content"]] == ["one.ipynb"]


@pytest.fixture
def book(tmp_path):
    folder = tmp_path / "checkout" / "nbs"
    (folder / "2_counting").mkdir(parents=True)
    for name in ("index.ipynb", "glossary.md"):
        (folder / name).touch()
    return folder


def test_lab_opens_what_a_reader_has_before_the_checkouts(book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert book_to_open() == carried_book()  # the checkout's, and nothing is laid out
    assert not (tmp_path / "summeval_book").exists()
    lay_out_book(tmp_path / "summeval_book")
    assert book_to_open() == tmp_path / "summeval_book"
    monkeypatch.chdir(book)
    assert book_to_open() == book


def test_every_link_of_a_laid_out_book_leads_somewhere(tmp_path):
    written = lay_out_book(tmp_path)
    links = 0
    for page in written:
        text = page.read_text(encoding="utf-8")
        if page.suffix == ".ipynb":
            cells = nbformat.reads(text, 4).cells
            text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
        for target in re.findall(r"\]\(([^)\s#]+)", text):
            links += 1
            outside = target.startswith(("https://", "http://"))
            assert outside or (page.parent / target).is_file(), f"{page.relative_to(tmp_path)}: {target}"
    assert links > 400 and len(written) > 40


def test_a_page_that_differs_is_not_replaced_unasked(tmp_path):
    first, *others = lay_out_book(tmp_path)
    content = first.read_bytes()
    assert lay_out_book(tmp_path) == []
    first.write_text("mine", encoding="utf-8")
    others[0].unlink()
    with pytest.raises(
        ValueError, match=f"1 of the book's pages .* '{first.relative_to(tmp_path).as_posix()}'.* force"
    ):
        lay_out_book(tmp_path)
    assert first.read_text(encoding="utf-8") == "mine" and not others[0].exists()
    assert lay_out_book(tmp_path, force=True) == [first, others[0]] and first.read_bytes() == content


def test_the_shell_lays_the_book_out_and_names_its_option(tmp_path, capsys):
    book = tmp_path / "mine"
    assert left_with("book", str(book)) == 0 and f"the first is {book / 'index.ipynb'}" in capsys.readouterr().out
    (book / "glossary.md").write_text("mine", encoding="utf-8")
    assert left_with("book", str(book)) == 2 and "--force" in capsys.readouterr().err
    assert left_with("book", str(book), "--force") == 0 and ": 1; the first" in capsys.readouterr().out
    (tmp_path / "file").touch()
    assert left_with("book", str(tmp_path / "file")) == 2 and capsys.readouterr().err.count("\n") == 1


def left_with(*arguments: str) -> int:
    with pytest.raises(SystemExit) as leaving:
        main(list(arguments))
    return leaving.value.code


def test_the_shell_hands_lab_the_book_and_the_users_options(book, monkeypatch):
    labapp, asked = pytest.importorskip("jupyterlab.labapp"), []
    monkeypatch.setattr(labapp.LabApp, "launch_instance", asked.append)
    monkeypatch.chdir(book.parent)
    assert left_with("lab", "--no-browser", "--port=8889") == 0
    contents = "--ServerApp.contents_manager_class=summeval_nb.teaching.exercises.BookContents"
    assert asked == [[contents, "--no-browser", "--port=8889", str(book / "index.ipynb")]]


def test_without_jupyterlab_the_shell_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", None)
    assert left_with("lab") == 2
    assert "[lab]" in capsys.readouterr().err
