"""Run the notebooks: each one once, with a real kernel, for the tests, the site and the README alike.

    python docs/execute.py --all             every notebook, as many at a time as there are cores
    python docs/execute.py --book            those that a reader reads: no solutions
    python docs/execute.py nbs/2_counting/24_bleu.ipynb  these notebooks
    python docs/execute.py --elsewhere       those whose numbers PyTorch calculates
    python docs/execute.py --store           those that keep their outputs in the repository, which are written anew

The executed copies lie in docs/_build/executed. A copy is kept until something changes that could change it:
the notebook, the modules that it imports with their assets (`closure.py`), the constraints, Python, the instructions
that PyTorch calculates with, or this file. With ATEN_CPU_CAPABILITY=default PyTorch calculates as on another processor;
what is built then lies in docs/_build/default.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import stored
from closure import files_behind
from filelock import FileLock

if TYPE_CHECKING:  # who only asks which notebooks there are waits for none of this
    import nbformat
    from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "nbs"
BUILT = ROOT / "docs" / "_build"
BUILD = BUILT / os.environ.get("ATEN_CPU_CAPABILITY", "")
EXECUTED = BUILD / "executed"
KERNELS = [Path(__file__).with_name(name) for name in ("forked.py", "kernels.py", "watch.py")]
CAN_FORK = sys.platform == "linux"  # elsewhere system libraries bear no fork
CELL_TIMEOUT = 120  # seconds
_TORCH = re.compile(r"\bimport (?:torch|transformers|sentence_transformers)\b|\bfrom (?:torch|transformers)\b")
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class NotebookFailed(Exception):
    """A notebook did not run to its end; the message holds notebook, cell, source and traceback."""


def notebooks() -> list[Path]:
    """Return every notebook of the book, sorted by path."""
    found = NOTEBOOKS.glob("**/*.ipynb")
    return sorted(p for p in found if not any(part.startswith((".", "_")) for part in p.relative_to(NOTEBOOKS).parts))


def is_book(path: Path) -> bool:
    """Whether a notebook is a chapter, a lesson or the first page, and not a solution."""
    return path.relative_to(NOTEBOOKS).parts[0] != "solutions"


@cache
def capability() -> str:
    """Return the processor's instructions that PyTorch calculates with: others round last digits otherwise."""
    import torch

    return torch.backends.cpu.get_cpu_capability()


def fingerprint(path: Path) -> str:
    """Return a hash over all that decides what the notebook prints, so not over what of that is stored in it."""
    files = {ROOT / "constraints.txt", Path(__file__).resolve(), *KERNELS, *files_behind(path, ROOT)}
    cells = json.dumps(stored.without_outputs(stored.read(path)))
    digest = hashlib.sha256(f"{sys.version}\0{capability()}\0{path.relative_to(ROOT)}\0{cells}".encode())
    for source in sorted(file for file in files if file.is_file()):
        content = hashlib.sha256(source.read_bytes()).hexdigest()
        digest.update(f"{os.path.relpath(source, ROOT)}\0{content}\n".encode())
    return digest.hexdigest()


def execute_notebook(path: str | Path) -> Path:
    """Execute one notebook, unless a copy of the same fingerprint exists, and return the executed copy's path.

    Raises
    ------
    NotebookFailed
        If a cell raises, takes longer than `CELL_TIMEOUT` seconds or kills the kernel.
    """
    path = Path(path).resolve()
    relative = path.relative_to(NOTEBOOKS)
    copy = EXECUTED / relative
    copy.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(copy.with_suffix(".lock")):
        wanted = fingerprint(path)
        if _stored(copy) == wanted:
            return copy
        import nbformat

        notebook = nbformat.read(path, 4)
        notebook.metadata["opened"] = run(notebook, path)
        notebook.metadata["fingerprint"] = wanted
        partial = copy.with_suffix(".partial")
        nbformat.write(notebook, partial)
        partial.replace(copy)
    return copy


def _stored(copy: Path) -> str:
    """Return the fingerprint that an executed copy carries; empty where there is no copy."""
    return stored.read(copy)["metadata"].get("fingerprint", "") if copy.exists() else ""


def run(notebook: nbformat.NotebookNode, path: Path, *, checked: bool = True) -> list[str]:
    """Execute a notebook's cells in place, in the notebook's own folder; return the files of ours that it opened.

    A page that is not `checked` runs as a reader runs it: what holds the printed numbers is passed over.
    """
    from jupyter_client.manager import AsyncKernelManager
    from kernels import ForkedKernel
    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory(prefix="nb", ignore_cleanup_errors=True) as folder:
        # Local sockets where there are any: over TCP other users of the machine could listen.
        transport = {"transport": "ipc", "connection_file": f"{folder}/kernel.json"} if os.name == "posix" else {}
        manager = AsyncKernelManager(kernel_name="python3", **transport)
        manager.kernel_spec.argv[0] = sys.executable  # this Python, whatever kernels the user has installed
        manager.kernel_spec.argv.append(f"--IPKernelApp.exec_files={KERNELS[2]}")
        if CAN_FORK:
            shared = _environment()
            manager.provisioner = ForkedKernel(kernel_spec=manager.kernel_spec, parent=manager, shared=shared)
        log = Path(folder, "opened")
        resources = {"metadata": {"path": path.parent}}
        client = NotebookClient(notebook, km=manager, timeout=CELL_TIMEOUT, resources=resources)
        environment = _environment() | {"WATCH_ROOT": f"{ROOT}{os.sep}", "WATCH_LOG": str(log)}
        if not checked:
            del environment["IN_TEST"]
        with client.setup_kernel(env=environment, cleanup_kc=True):
            _run_cells(client, notebook, path)
        opened = {_source(Path(line)) for line in log.read_text(encoding="utf-8").splitlines()}
        return sorted(file.relative_to(ROOT).as_posix() for file in opened if not _is_made(file))


def _is_made(path: Path) -> bool:
    """Whether a file is made here and says nothing of its own: the site, what the installation wrote down."""
    return path.is_relative_to(BUILT) or path.parent.suffix == ".egg-info"


def _source(path: Path) -> Path:
    """Return an opened file; of compiled code, its source."""
    if path.parent.name != "__pycache__":
        return path
    return path.parents[1] / f"{path.name.partition('.')[0]}.py"


def _run_cells(client: NotebookClient, notebook: nbformat.NotebookNode, path: Path) -> None:
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    for index, cell in enumerate(notebook.cells):
        try:
            client.execute_cell(cell, index)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            why = {CellTimeoutError: f"the cell took longer than {CELL_TIMEOUT} s"}.get(type(error), "")
            why = why or ("the kernel died (out of memory?)" if isinstance(error, DeadKernelError) else str(error))
            raise NotebookFailed(_message(path, index, notebook, why)) from None


def _environment() -> dict[str, str]:
    """Return the kernel's environment: this checkout first, no network, no settings of the user's, pictures inline."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {
        "OMP_NUM_THREADS": "1",
        **os.environ,
        "IN_TEST": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "IPYTHONDIR": str(BUILD / "ipython"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def _message(path: Path, index: int, notebook: nbformat.NotebookNode, why: str) -> str:
    """Return what failed where: the traceback, if the cell has one, else the reason that is given."""
    cell = notebook.cells[index]
    where = f"{path.relative_to(ROOT).as_posix()}, cell {index + 1} of {len(notebook.cells)} (id {cell.id})"
    for raised in (out for out in cell.outputs if out.output_type == "error"):
        why = _ANSI.sub("", "\n".join(raised.traceback))
    source = "\n".join(f"    {line}" for line in cell.source.splitlines())
    return f"{where}\n\n{source}\n\n{why}"


def asks_torch(path: Path) -> bool:
    """Whether a notebook opened a module that imports PyTorch when it last ran; one that has not yet run may."""
    copy = BUILT / "executed" / path.relative_to(NOTEBOOKS)
    opened = stored.read(copy)["metadata"]["opened"] if copy.exists() else []
    sources = [ROOT / name for name in opened if name.endswith(".py") and (ROOT / name).exists()]
    return not opened or any(_TORCH.search(file.read_text(encoding="utf-8")) for file in [path, *sources])


def execute_many(paths: Iterable[Path], *, jobs: int | None = None) -> list[NotebookFailed]:
    """Execute what has no current copy, several at a time, with a progress bar; return the failures."""
    paths = [path.resolve() for path in paths]
    paths = [path for path in paths if _stored(EXECUTED / path.relative_to(NOTEBOOKS)) != fingerprint(path)]
    failures: list[NotebookFailed] = []
    if not paths:
        return failures
    with ThreadPoolExecutor(min(jobs or os.cpu_count() or 1, len(paths))) as pool:
        waiting = [pool.submit(execute_notebook, path) for path in paths]
        from tqdm.auto import tqdm

        for future in tqdm(as_completed(waiting), total=len(waiting), desc="notebooks", unit="notebook"):
            error = future.exception()
            if isinstance(error, NotebookFailed):
                failures.append(error)
            elif error is not None:
                raise error
    return failures


def main() -> int:
    """Run the command line; return 1 if a notebook failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebooks", nargs="*", type=Path, help="the notebooks to execute")
    parser.add_argument("--all", action="store_true", help="execute every notebook below nbs/")
    parser.add_argument("--book", action="store_true", help="execute the chapters, the lessons and the first page")
    parser.add_argument("--elsewhere", action="store_true", help="execute every notebook that calculates with PyTorch")
    parser.add_argument("--store", action="store_true", help="execute those that keep their outputs, and keep them")
    parser.add_argument("--jobs", "-n", type=int, help="how many at a time (default: one per core)")
    arguments = parser.parse_args()
    chosen = [path for path in notebooks() if not arguments.book or is_book(path)]
    chosen = [path for path in chosen if not arguments.elsewhere or asks_torch(path)]
    chosen = chosen if arguments.all or arguments.book or arguments.elsewhere else arguments.notebooks
    chosen = [path for path in notebooks() if stored.is_stored(path)] if arguments.store else chosen
    if not chosen:
        parser.error("name a notebook, or pass --all, --book, --elsewhere or --store")
    if missing := [str(path) for path in chosen if not path.is_file()]:
        parser.error(f"no such notebook: {', '.join(missing)}")
    failures = execute_many(chosen, jobs=arguments.jobs)
    for failure in failures:
        print(f"\nFAILED {failure}", file=sys.stderr)
    print(f"{len(chosen) - len(failures)} of {len(chosen)} notebooks ran; copies are in {EXECUTED.relative_to(ROOT)}")
    stale = 0 if failures else sum(_keep_or_compare(path.resolve(), keep=arguments.store) for path in chosen)
    return 1 if failures or stale else 0


def _keep_or_compare(path: Path, *, keep: bool) -> bool:
    """Store what a notebook printed where its outputs are kept, or say where that is something else now."""
    copy, name = EXECUTED / path.relative_to(NOTEBOOKS), path.relative_to(ROOT).as_posix()
    if not stored.is_stored(path):
        return False
    if keep:
        print(f"{name}: outputs {'stored' if stored.store(path, copy) else 'as they were'}")
    elif changed := stored.changed_cells(path, copy):
        print(f"{name}: stored outputs are not what cells {', '.join(changed)} say: {stored.COMMAND}", file=sys.stderr)
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
