"""The page for those who come from other tools: ours is never longer than theirs, and both do the same."""

import ast
import contextlib
import importlib
import inspect
import io
import re
from functools import cache

import book
import pytest

from summeval_nb.judged import rate

FENCE = re.compile(r"^```python\n# ([\w-]+)\n(.*?)^```", re.M | re.S)


@cache
def tasks() -> dict[str, tuple[list[tuple[str, str]], list[str]]]:
    """Each task with the peers' blocks, by tool, and our own code."""
    found: dict[str, tuple[list[tuple[str, str]], list[str]]] = {}
    here = ""
    for cell in book.read("from_other_tools").cells:
        if cell.cell_type == "markdown":
            heading = re.search(r"^## (.+)$", cell.source, re.M)
            here = heading[1] if heading else here
            if re.match(r"\d", here):
                blocks = FENCE.findall(cell.source)
                theirs, ours = found.setdefault(here, ([], []))
                theirs += [block for block in blocks if block[0] != "here"]
                ours += [code for tool, code in blocks if tool == "here"]
        elif here and "-here" in cell.id:
            found[here][1].append(cell.source)
    return found


def n_lines(code: str) -> int:
    """How many lines hold code."""
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") for line in code.splitlines())


def test_there_are_ten_tasks_ours_is_not_longer_and_their_code_imports_what_there_is():
    assert len(tasks()) == 10
    for name, (theirs, ours) in tasks().items():
        assert theirs and len(ours) == 1, name
    for name, (theirs, (ours,)) in tasks().items():
        shortest = min(n_lines(code) for _, code in theirs)
        assert n_lines(ours) <= shortest, f"{name}: {n_lines(ours)} lines against {shortest}"
    for tool, code in (block for theirs, _ in tasks().values() for block in theirs):
        assert max(map(len, code.splitlines())) <= 88, tool
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] not in ("ragas", "deepeval"):
                module = importlib.import_module(node.module)
                assert all(hasattr(module, alias.name) for alias in node.names), node.module


def run(code: str, names: dict) -> str:
    """Run code as a reader would, and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "page", "exec"), names)
    return printed.getvalue()


def names_of_the_page() -> dict:
    names: dict = {}
    run(next(cell.source for cell in book.read("from_other_tools").cells if cell.id == "texts"), names)
    return names


def task(number: int) -> tuple[str, str]:
    """Their first block and our code of a task, by its number."""
    theirs, (ours,) = next(both for name, both in tasks().items() if name.startswith(f"{number}. "))
    return theirs[0][1], ours


def test_both_sides_print_the_same_numbers():
    theirs, ours = (run(code, names_of_the_page()) for code in task(1))
    assert "recall=0.8333" in theirs and "rouge1=0.8333" in ours and "rougeL=0.8333" in ours
    theirs, ours = (run(code, names_of_the_page()) for code in task(3))
    assert "BLEU = 35.94" in theirs and ours.startswith("35.94")
    for part in ("nrefs:1", "case:mixed", "eff:no", "tok:13a", "smooth:exp"):
        assert part in theirs and part in ours
    theirs, ours = (run(code, names_of_the_page()) for code in task(9))
    assert re.findall(r"^(?:theirs|ours)\D*([\d.]+) \[", ours, re.M) == ["59.42", "35.94"]
    assert "score=59.42" in theirs and "score=35.94" in theirs
    assert "no test: with 3 texts" in ours and float(re.findall(r"p_value=([\d.]+)", theirs)[0]) > 0.05
    theirs, ours = (run(code, names_of_the_page()) for code in task(10))
    assert "statistic=np.float64(0.9486" in theirs.replace(" ", "") and "kendall 0.949" in ours


def test_both_sides_make_the_same_column():
    columns = []
    for code in task(2):
        names = names_of_the_page()
        run(code, names)
        columns.append(names["table"]["rougeL"].tolist())
    assert columns[0] == pytest.approx(columns[1], abs=1e-12) and columns[0][0] == pytest.approx(5 / 6)


def test_the_call_of_a_language_model_is_one():
    code = task(7)[1]
    (call,) = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call) and node.func.id == "rate"]
    inspect.signature(rate).bind(**{keyword.arg: None for keyword in call.keywords})
    assert not call.args and '"llm:' in code
