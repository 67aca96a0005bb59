"""The outputs that are kept in the repository: of the first lessons, so that they can be read where they lie.

`python docs/execute.py --store` writes them from the executed copies. A notebook keeps a hash of its code cells beside
them, so that `tests/sync.py` says when they are of other cells. `docs/execute.py` compares them with what it ran.
Pictures are compared by their place: a single point of one may be drawn otherwise on another processor.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[1] / "nbs"
STORED = (
    "1_start/11_first_report.ipynb",
    "1_start/12_five_steps.ipynb",
    "2_counting/21_ngrams.ipynb",
    "2_counting/22_rouge.ipynb",
    "from_other_tools.ipynb",
)
COMMAND = "python docs/execute.py --store"
_WIDGET = "application/vnd.jupyter.widget-view+json"  # shows nothing without its kernel


def is_stored(path: Path) -> bool:
    """Whether this notebook keeps its outputs."""
    return path.is_relative_to(NOTEBOOKS) and path.relative_to(NOTEBOOKS).as_posix() in STORED


def read(path: Path) -> dict[str, Any]:
    """Return a notebook as it is on the disk."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Write a notebook as nbdev_clean does."""
    text = json.dumps(notebook, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def code(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the code cells of a notebook."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def source_hash(notebook: dict[str, Any]) -> str:
    """Return a hash of all code, which changes with a cell and not with the prose between them."""
    sources = ["".join(cell["source"]) for cell in code(notebook)]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()[:16]


def are_current(notebook: dict[str, Any]) -> bool:
    """Whether the outputs that a notebook keeps are of the cells that it has."""
    return notebook["metadata"].get("stored") == source_hash(notebook)


def without_outputs(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook without outputs and without the hash of their cells."""
    bare = [
        cell | {"outputs": [], "execution_count": None} if "outputs" in cell else cell for cell in notebook["cells"]
    ]
    metadata = {name: value for name, value in notebook["metadata"].items() if name != "stored"}
    return notebook | {"cells": bare, "metadata": metadata}


def kept(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what is stored of a cell's outputs: what it printed in one piece, its results and pictures."""
    found: list[dict[str, Any]] = []
    for out in outputs:
        if out["output_type"] != "stream":
            data = {kind: value for kind, value in out["data"].items() if kind != _WIDGET}
            if len(data) == len(out["data"]) or "text/html" in data:
                counted = {"execution_count": None} if "execution_count" in out else {}
                found.append({"output_type": out["output_type"], "data": data, "metadata": {}} | counted)
        elif out["name"] == "stdout":
            text = "".join(out["text"])
            if found and found[-1]["output_type"] == "stream":
                text = "".join(found.pop()["text"]) + text
            found.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    return found


def store(path: Path, executed: Path) -> bool:
    """Write the outputs of an executed copy into its notebook; return whether that changed it."""
    notebook = without_outputs(read(path))
    for cell, run in zip(code(notebook), code(read(executed)), strict=True):
        cell["outputs"] = kept(run["outputs"])
    notebook["metadata"]["stored"] = source_hash(notebook)
    before = path.read_bytes()
    write(path, notebook)
    return path.read_bytes() != before


def _said(output: dict[str, Any]) -> dict[str, Any]:
    """What is compared of an output: all but the points of a picture."""
    data = output.get("data", {"stdout": output.get("text")})
    return {kind: kind.startswith("image/") or "".join(value).rstrip("\n") for kind, value in data.items()}


def changed_cells(path: Path, executed: Path) -> list[str]:
    """Return the ids of cells that now say something else than what is stored; none where nothing is stored."""
    notebook = read(path)
    if "stored" not in notebook["metadata"]:
        return []
    pairs = zip(code(notebook), code(read(executed)), strict=True)
    return [cell["id"] for cell, run in pairs if [*map(_said, cell["outputs"])] != [*map(_said, kept(run["outputs"]))]]
