"""The rules of the book: imports go one way, a chapter begins with a result, links and stored outputs are right."""

import ast
import json
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import stored

ROOT = Path(__file__).parents[1]
CHAPTERS = [
    path for path in sorted(ROOT.glob("nbs/[1-9]_*/*.ipynb")) if "default_exp" in path.read_text("utf-8")
]  # lessons export nothing
NOTEBOOKS = sorted(path for path in ROOT.glob("nbs/**/*.ipynb") if ".ipynb_checkpoints" not in path.parts)


def source(cell: dict) -> str:
    return "".join(cell["source"])


@cache
def cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def is_export(cell: dict) -> bool:
    return cell["cell_type"] == "code" and re.match(r"\s*#\|\s*exporti?\b", source(cell)) is not None


# A part may import itself and the parts that stand before it. The shell (`cli` and what starts it) stands on top.
PARTS = ["core", "text", "models", "overlap", "evidence", "judged", "agreement", "runs", "teaching", "cli"]
FILES = sorted(path for path in ROOT.glob("summeval_nb/**/*.py") if path.stem not in {"__init__", "_modidx"})


def part(module: str) -> str:
    """The part of a module, `overlap.rouge` or `cli`."""
    first = module.split(".")[0]
    return first if first in PARTS else "cli"


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "summeval_nb").with_suffix("").parts)


def imported(path: Path) -> list[tuple[str, str]]:
    """What a module imports from the package, anywhere in it: module and name; `__version__` belongs to none."""
    package, found = path.relative_to(ROOT).with_suffix("").parts, []
    for node in ast.walk(tree(path)):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = [*package[: len(package) - node.level]] if node.level else []
        full = [*base, *(node.module.split(".") if node.module else [])]
        if full[:1] == ["summeval_nb"]:
            for alias in node.names:
                inner = [*full[1:], alias.name]
                is_module = (ROOT / "summeval_nb" / Path(*inner)).with_suffix(".py").exists()
                found.append((".".join(inner if is_module else full[1:]), "" if is_module else alias.name))
    return [(module, name) for module, name in found if module]


def test_imports_go_one_way():
    """A part imports itself and the parts before it, by name; what begins with an underscore stays within its part."""
    wrong = []
    for path in FILES:
        own = part(module_of(path))
        for module, name in imported(path):
            private = name.startswith("_") and not name.endswith("__")
            if PARTS.index(part(module)) > PARTS.index(own):
                wrong.append(f"{module_of(path)} imports {module}.{name} of a later part")
            if name == "*" or (private and part(module) != own):
                wrong.append(f"{module_of(path)} imports {name} of {module}")
    assert not wrong, wrong


def test_no_module_imports_itself_in_a_circle():
    """Wherever an import is written: at the top, in a function, under TYPE_CHECKING."""
    names = {module_of(path): path for path in FILES}
    graph = {name: {other for other, _ in imported(path)} - {name} for name, path in names.items()}
    TopologicalSorter(graph).prepare()


def only_imports(text: str) -> bool:
    """Whether a cell does nothing but get names ready."""
    ready = (ast.Import, ast.ImportFrom, ast.Assign, ast.Assert)
    return all(isinstance(node, ready) for node in ast.parse(re.sub("^[%!].*", "", text, flags=re.M)).body)


def test_a_chapter_begins_with_a_result():
    """What a reader came for stands first."""
    late = []
    for path in [*ROOT.glob("nbs/1_start/*.ipynb"), *CHAPTERS]:
        folded = re.compile(r"#\| code-fold")  # its result is seen
        hidden = lambda cell: cell["metadata"].get("jupyter", {}).get("source_hidden")
        shown = [cell for cell in cells(path)[:6] if not hidden(cell) or folded.match(source(cell))]
        first = [source(cell) for cell in shown if cell["cell_type"] == "code" and not is_export(cell)]
        late += [] if any(not only_imports(text) for text in first) else [path.stem]
    assert not late, f"no result in the first six cells: {late}"


@cache
def code_cells() -> list[tuple[Path, dict]]:
    return [(path, cell) for path in NOTEBOOKS for cell in cells(path) if cell["cell_type"] == "code"]


def test_lines_of_code_fit_the_page_nothing_is_switched_off_and_notebooks_are_stored_clean():
    off = re.compile(r"#\|\s*(eval:\s*false|notest|skip)")
    for path, cell in code_cells():
        text = source(cell)
        assert not [line for line in text.splitlines() if len(line) > 88], path.stem
        assert not off.search(text) and "skip-execution" not in cell["metadata"].get("tags", []), path.stem
        kept = cell["execution_count"] is not None or (cell["outputs"] and not stored.is_stored(path))
        assert not kept, f"stored counts or outputs in {path.stem}, run python tests/sync.py"


def test_nbdev_makes_its_own_pages(monkeypatch):
    """`nbdev_prepare` and `nbdev_docs` begin with this; README.md is `docs/readme.py`'s, and needs no Quarto."""
    from nbdev.config import get_config
    from nbdev.serve import proc_nbs

    monkeypatch.chdir(ROOT)
    made, pages = proc_nbs(n_workers=0, force=True), {path.relative_to(ROOT / "nbs") for path in NOTEBOOKS}
    assert {path.relative_to(made) for path in made.rglob("*.ipynb")} == pages
    assert not (get_config().nbs_path / get_config().readme_nb).exists()


def test_every_link_and_path_in_the_repository_leads_to_a_file():
    """Links to its pages on GitHub, links from page to page, and paths in prose such as `benchmarks/meta.py`."""
    github = re.compile(r"github\.com/summeval-nb/summeval_nb/(?:blob|tree|raw)/main/([^)\s#\"'>]+)")
    beside = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)")
    path_in_prose = re.compile(r"`((?:summeval_nb|docs|tests|benchmarks|nbs)/[\w/]+\.\w+)`")
    lost, seen = [], 0
    for page in [*NOTEBOOKS, *ROOT.glob("nbs/**/*.md"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]:
        prose = page.read_text("utf-8")
        if page.suffix == ".ipynb":
            prose = "\n".join(source(cell) for cell in cells(page) if cell["cell_type"] == "markdown")
        found = [ROOT / name for name in [*github.findall(prose), *path_in_prose.findall(prose)]]
        found += [page.parent / name for name in beside.findall(prose)]
        lost += [f"{page.name}: {file}" for file in found if not file.exists()]
        seen += len(found)
    assert seen > 500 and not lost, lost


def test_stored_outputs_are_of_the_cells_they_stand_below():
    """And show what a reader of the file can use; that they are right is compared when the notebooks run."""
    for name in stored.STORED:
        notebook = stored.read(stored.NOTEBOOKS / name)
        assert stored.are_current(notebook), f"{name}: run {stored.COMMAND}"
        outputs = [out for cell in stored.code(notebook) for out in cell["outputs"]]
        assert outputs == [out for cell in stored.code(notebook) for out in stored.kept(cell["outputs"])]
        assert len(json.dumps(outputs)) < 150_000 and any("text" in out for out in outputs)
        pictures = any("image/png" in out.get("data", {}) for out in outputs)
        assert pictures or name == "from_other_tools.ipynb", name  # its ten tasks are printed


def test_a_stored_output_that_differs_is_found(tmp_path):
    printed = {"output_type": "stream", "name": "stdout", "text": ["5/6\n"]}
    picture = {"output_type": "display_data", "data": {"image/png": "AAAA", "text/plain": ["<Figure>"]}, "metadata": {}}
    bar = {"output_type": "stream", "name": "stderr", "text": ["10%"]}
    lesson, run = tmp_path / "lesson.ipynb", tmp_path / "run.ipynb"

    def write(path: Path, outputs: list[dict], text: str = "score()") -> None:
        cell = {"cell_type": "code", "id": "a1", "source": [text], "outputs": outputs, "execution_count": None}
        stored.write(path, {"cells": [cell], "metadata": {}})

    write(lesson, [])
    write(run, [bar, printed, printed, picture])
    assert stored.changed_cells(lesson, run) == []  # nothing is stored
    assert stored.store(lesson, run) and not stored.store(lesson, run)
    write(run, [printed | {"text": ["5/6\n5/6\n"]}, picture | {"data": {**picture["data"], "image/png": "BBBB"}}])
    assert stored.changed_cells(lesson, run) == [] and stored.are_current(stored.read(lesson))
    for other in ([printed, picture], [printed | {"text": ["5/6\n4/6\n"]}, picture], [printed, printed]):
        write(run, other)
        assert stored.changed_cells(lesson, run) == ["a1"]
    changed = stored.read(lesson)
    changed["cells"][0]["source"] = ["other()"]
    assert not stored.are_current(changed)
