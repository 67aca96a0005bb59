"""The rules of the book: chapters import only earlier ones, stay short, show every export at work."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted(ROOT.glob("nbs/[0-9]*.ipynb"))
NOTEBOOKS = sorted(path for path in ROOT.glob("nbs/**/*.ipynb") if ".ipynb_checkpoints" not in path.parts)
LIMIT = 40  # lines of an export cell, docstrings and blank lines not counted


def source(cell: dict) -> str:
    return "".join(cell["source"])


def cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def is_export(cell: dict) -> bool:
    return cell["cell_type"] == "code" and re.match(r"\s*#\|\s*exporti?\b", source(cell)) is not None


def module(path: Path) -> str:
    return next(m[1] for cell in cells(path) if (m := re.search(r"#\|\s*default_exp\s+(\S+)", source(cell))))


def code_lines(text: str) -> int:
    """Lines of code without docstrings, comments and blank lines."""
    tree = ast.parse(text)
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                skipped.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(n not in skipped and bool(line.strip()) and not line.strip().startswith("#") for n, line in lines)


ORDER = {module(path): int(path.name[:2]) for path in CHAPTERS}
by_name = pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)


@by_name
def test_imports_point_back_and_are_named(path):
    for cell in filter(is_export, cells(path)):
        for node in ast.walk(ast.parse(source(cell))):
            if isinstance(node, ast.ImportFrom):
                assert all(alias.name != "*" for alias in node.names), f"star import from {node.module}"
                if (node.module or "").startswith("summeval_nb."):
                    other = (node.module or "").removeprefix("summeval_nb.")
                    if other.startswith("_"):
                        continue  # plumbing without a chapter
                    assert ORDER[other] < ORDER[module(path)], f"{path.name} imports the later chapter {other}"
            if isinstance(node, ast.Import):
                assert not any(a.name.startswith("summeval_nb") for a in node.names), "import by name from our modules"


@by_name
def test_every_public_export_is_shown_before_the_next(path):
    code = [cell for cell in cells(path) if cell["cell_type"] == "code"]
    for here, following in zip(code, [*code[1:], None], strict=True):
        if is_export(here) and re.search(r"^(async def|def|class) [^_]", source(here), re.M):
            assert following is not None and not is_export(following), f"no example after\n{source(here)[:120]}"


def test_export_cells_are_short():
    lengths = [(code_lines(source(c)), p.name, source(c)[:80]) for p in CHAPTERS for c in cells(p) if is_export(c)]
    over = [one for one in lengths if one[0] > LIMIT]
    assert len(over) <= 0.02 * len(lengths), f"{len(over)} of {len(lengths)} export cells over {LIMIT} lines: {over}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_nothing_is_switched_off(path):
    for cell in cells(path):
        if cell["cell_type"] == "code":
            assert not re.search(r"#\|\s*(eval:\s*false|notest|skip)", source(cell)), source(cell)[:120]
            assert "skip-execution" not in cell["metadata"].get("tags", [])


@by_name
def test_a_chapter_is_a_lesson(path):
    """Prose, a proof and a picture: without them a chapter is a module stored as JSON."""
    kinds = [cell["cell_type"] for cell in cells(path)]
    shown = [source(c) for c in cells(path) if c["cell_type"] == "code" and not is_export(c)]
    assert kinds.count("markdown") >= 0.6 * kinds.count("code"), "too little prose"
    assert any(re.search(r"^\s*assert ", text, re.M) for text in shown), "no assert"
    assert any(re.search(r"plt\.|ax\b|\.plot\(|HTML\(|explain\(|display\(", text) for text in shown), "no picture"
    assert any("Exercise" in source(c) for c in cells(path) if c["cell_type"] == "markdown"), "no exercises"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_are_stored_clean(path):
    for cell in cells(path):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None, "stored outputs: run nbdev_clean"
