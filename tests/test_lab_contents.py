"""A notebook is handed to JupyterLab with the kernel's own metadata, and its file stays as it is."""

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import nbformat
import pytest
from ipykernel.ipkernel import IPythonKernel

pytest.importorskip("jupyter_server")

from summeval_nb.teaching._lab import BookContents, add_kernel  # noqa: E402


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
    assert [one["name"] for one in awaited(contents.get(""))["content"]] == ["one.ipynb"]


def test_another_kernel_speaks_for_itself():
    for metadata in ({}, {"kernelspec": {"name": "julia", "display_name": "Julia", "language": "julia"}}):
        before = json.dumps(metadata)
        add_kernel(metadata)
        assert json.dumps(metadata) == before
