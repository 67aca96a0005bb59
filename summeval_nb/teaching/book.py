"""The book beside the package: the wheel carries the notebooks, and a reader gets a copy to write in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import metadata, resources
from pathlib import Path

from summeval_nb.core.files import require_path, write_whole
from summeval_nb.teaching.exercises import book_folder

__all__ = ["carried_book", "lay_out_book", "find_book", "book_to_open"]


def carried_book() -> Path:
    """Return the folder of the book that comes with the package: in a wheel its own, in a checkout `nbs`."""
    package = Path(str(resources.files("summeval_nb")))
    carried = package / "book"
    return carried if (carried / "index.ipynb").is_file() else book_folder(package)


def _pages(book: Path) -> Iterator[tuple[Path, bytes]]:
    """Each page's place in the book, and its content; what lies outside the book is named by its address."""
    page = metadata.metadata("summeval_nb")["Home-page"]
    for path in sorted([*book.rglob("*.ipynb"), *book.rglob("*.md")]):
        place = path.relative_to(book)
        if not any(part.startswith((".", "_")) for part in place.parts):
            yield place, path.read_bytes().replace(b"](../docs/", f"]({page}/blob/main/docs/".encode())


def lay_out_book(folder: str | Path, *, force: bool = False) -> list[Path]:
    """Copy the book's pages into a folder, and return those that were written.

    A page that is there already is left alone. If one differs, by your work or because the package was updated,
    nothing is written.

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
    into, waiting, different = require_path(folder), [], []
    for place, content in _pages(carried_book()):
        target = into / place
        if not target.is_file() or target.read_bytes() != content:
            waiting.append((target, content))
            different += [place.as_posix()] if target.exists() else []
    if different and not force:
        raise ValueError(
            f"{len(different)} of the book's pages in {str(into)!r} are not as they come with the package, such as "
            f"{different[0]!r}: give another folder, or replace them with force=True, which loses what you wrote there"
        )
    for target, content in waiting:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, content)
    return [target for target, _ in waiting]


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
    here, own = Path.cwd(), Path.cwd() / "summeval_book"
    found = find_book([here, own, Path(__file__)])
    if found is None:
        lay_out_book(own)
    return found or own
