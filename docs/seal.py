"""Seal the answers of the exercises: run the parts' solutions and store what their checks would compare with.

    python docs/seal.py                             all of nbs/solutions
    python docs/seal.py nbs/solutions/counting.ipynb

Writes summeval_nb/assets/exercises/<chapter>.json.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from summeval_nb.teaching.exercises import hash_answers  # noqa: E402

SOLUTIONS = ROOT / "nbs" / "solutions"
SEALS = ROOT / "summeval_nb" / "assets" / "exercises"


def seal(path: Path) -> list[str]:
    """Run the code of a part's solutions, top to bottom, and store its seals; return the exercises' names."""
    chapters = {one.stem for one in ROOT.glob(f"nbs/[1-9]_{path.stem}/*.ipynb")}
    names: dict[str, object] = {"__name__": path.stem}
    with hash_answers(SEALS) as collected:
        for number, cell in enumerate(nbformat.read(path, 4).cells):
            if cell.cell_type == "code":
                exec(compile(cell.source, f"{path.name}, cell {number + 1}", "exec"), names)
        if wrong := sorted(set(collected()) - chapters):
            raise ValueError(f"{path.name} answers exercises of another part: {', '.join(wrong)}")
    return [f"{chapter}/{number}" for chapter, entries in collected().items() for number in entries]


def main() -> None:
    paths = [Path(name).resolve() for name in sys.argv[1:]] or sorted(SOLUTIONS.glob("*.ipynb"))
    for path in paths:
        print(path.stem, *seal(path))


if __name__ == "__main__":
    main()
