"""The book beside the package: the wheel carries the notebooks, a reader gets a copy, and JupyterLab opens it.

When a kernel starts, JupyterLab writes the kernel's name as it is displayed, and its exact version of Python, into the
notebook's metadata. The book's notebooks are stored without either, because they differ from machine to machine, so
each was marked as changed as soon as it was opened. `summeval lab` starts JupyterLab with a class that reads them and
puts both in. No file on the disk is changed, and neither is the user's own configuration of Jupyter.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from summeval_nb.core.files import require_path, write_whole
from summeval_nb.teaching.exercises import book_folder

__all__ = ["add_kernel", "book_to_open", "carried_book", "find_book", "lay_out_book", "open_book"]


def carried_book() -> Path:
    """Return the folder of the book that comes with the package: in a wheel its own, in a checkout `nbs`."""
    package = Path(str(resources.files("summeval_nb")))
    carried = package / "book"
    return carried if (carried / "index.ipynb").is_file() else book_folder(package)


def lay_out_book(folder: str | Path, *, force: bool = False) -> list[Path]:
    """Copy the book's pages into a folder, and return those that were written.

    A page that is there already is left alone. If one differs, by your work or because the package was updated,
    nothing is written. What lies outside the book is named by its address.

    Raises
    ------
    ValueError
        If a page in the folder differs and `force` is false.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = lay_out_book(folder)
    ...     print(len(written) > 40, lay_out_book(folder))
    True []
    """
    into, book, waiting, different = require_path(folder), carried_book(), {}, []
    docs = f"]({metadata.metadata('summeval_nb')['Home-page']}/blob/main/docs/".encode()
    for path in sorted([*book.rglob("*.ipynb"), *book.rglob("*.md")]):
        place = path.relative_to(book)
        if any(part.startswith((".", "_")) for part in place.parts):
            continue
        target, content = into / place, path.read_bytes().replace(b"](../docs/", docs)
        if not target.is_file() or target.read_bytes() != content:
            waiting[target] = content
            different += [place.as_posix()] if target.exists() else []
    if different and not force:
        raise ValueError(
            f"{len(different)} of the book's pages in {str(into)!r} are not as they come with the package, such as "
            f"{different[0]!r}: give another folder, or replace them with force=True, which loses what you wrote there"
        )
    for target, content in waiting.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, content)
    return list(waiting)


def find_book(places: Iterable[Path]) -> Path | None:
    """Return the folder of the first book that holds one of these places, or lies beside one as `nbs`."""
    for place in places:
        with suppress(ValueError):
            return book_folder(place)
    return None


def book_to_open() -> Path:
    """Return the folder of the book here or in `summeval_book`, else a checkout's; lay one out if there is none.

    What a reader wrote into a book that was laid out earlier stays.
    """
    own = Path.cwd() / "summeval_book"
    found = find_book([Path.cwd(), own, Path(__file__)])
    if found is None:
        lay_out_book(own)
    return found or own


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
    from ipykernel.ipkernel import IPythonKernel
    from jupyter_client.kernelspec import NoSuchKernel, get_kernel_spec

    with suppress(NoSuchKernel):
        spec = get_kernel_spec("python3")
        metadata["kernelspec"] = {"name": "python3", "display_name": spec.display_name, "language": spec.language}
        metadata["language_info"] = dict(IPythonKernel.language_info)


@cache
def _contents() -> type:
    from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

    class BookContents(AsyncLargeFileManager):  # type: ignore[misc]
        """Files as they are, and notebooks with the metadata of the kernel that will run them."""

        async def get(self, path: str, content: bool = True, *args: Any, **choices: Any) -> Any:
            """Return a file, a folder or a notebook, as JupyterLab asks for it."""
            model = await super().get(path, content, *args, **choices)
            if model["type"] == "notebook" and model["content"] is not None:
                add_kernel(model["content"]["metadata"])
            return model

    return BookContents


def __getattr__(name: str) -> type:
    """Make `BookContents` when JupyterLab asks for it by its place: who only lays the book out needs no server."""
    if name != "BookContents":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _contents()


def open_book(arguments: Sequence[str] = ()) -> None:
    """Open the book's first page in JupyterLab, with the user's options, and return when the server is stopped."""
    from jupyterlab.labapp import LabApp

    first = book_to_open() / "index.ipynb"
    LabApp.launch_instance([f"--ServerApp.contents_manager_class={__name__}.BookContents", *arguments, str(first)])
