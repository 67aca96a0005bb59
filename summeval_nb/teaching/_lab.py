"""Edited directly. Notebooks that JupyterLab opens without marking them as changed; tests/test_lab_contents.py.

When a kernel starts, JupyterLab writes the kernel's name as it is displayed, and its exact version of Python, into the
notebook's metadata. The book's notebooks are stored without either, because they differ from machine to machine, so
each was marked as changed as soon as it was opened. `make lab` reads them through this class, which puts both in:

    jupyter lab --ServerApp.contents_manager_class=summeval_nb.teaching._lab.BookContents nbs/index.ipynb
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from jupyter_client.kernelspec import NoSuchKernel, get_kernel_spec
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

__all__ = ["BookContents", "add_kernel"]


def add_kernel(metadata: MutableMapping[str, Any]) -> None:
    """Put what JupyterLab writes when this environment's Python runs a notebook into the notebook's metadata."""
    if metadata.get("kernelspec", {}).get("name") != "python3":
        return  # another kernel says what it is
    try:
        spec = get_kernel_spec("python3")
    except NoSuchKernel:
        return
    metadata["kernelspec"] = {"name": "python3", "display_name": spec.display_name, "language": spec.language}
    metadata["language_info"] = dict(IPythonKernel.language_info)


class BookContents(AsyncLargeFileManager):  # type: ignore[misc]
    """Files as they are, and notebooks with the metadata of the kernel that will run them."""

    async def get(self, path: str, content: bool = True, *args: Any, **choices: Any) -> Any:
        """Return a file, a folder or a notebook, as JupyterLab asks for it."""
        model = await super().get(path, content, *args, **choices)
        if model["type"] == "notebook" and model["content"] is not None:
            add_kernel(model["content"]["metadata"])
        return model
