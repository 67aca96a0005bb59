"""The book in JupyterLab, which marks no notebook as changed.

When a kernel starts, JupyterLab writes the kernel's name as it is displayed, and its exact version of Python, into the
notebook's metadata. The book's notebooks are stored without either, because they differ from machine to machine, so
each was marked as changed as soon as it was opened. `summeval lab` starts JupyterLab with a class that reads them and
puts both in. No file on the disk is changed, and neither is the user's own configuration of Jupyter.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any

from ipykernel.ipkernel import IPythonKernel
from jupyter_client.kernelspec import NoSuchKernel, get_kernel_spec
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from summeval_nb.teaching.book import book_to_open

__all__ = ["BookContents", "add_kernel", "open_book"]


def add_kernel(metadata: MutableMapping[str, Any]) -> None:
    """Put what JupyterLab writes when this environment's Python runs a notebook into the notebook's metadata.

    Examples
    --------
    >>> another = {"kernelspec": {"name": "ir"}}  # which says what it is
    >>> add_kernel(another)
    >>> another
    {'kernelspec': {'name': 'ir'}}
    """
    if metadata.get("kernelspec", {}).get("name") != "python3":
        return
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


def open_book(arguments: Sequence[str] = ()) -> None:
    """Open the book's first page in JupyterLab, with the user's options, and return when the server is stopped."""
    from jupyterlab.labapp import LabApp

    first = book_to_open() / "index.ipynb"
    contents = f"--ServerApp.contents_manager_class={__name__}.{BookContents.__name__}"
    LabApp.launch_instance([contents, *arguments, str(first)])
