"""Which text is which is said by a name: every public function takes its arguments so, and what is shown does so."""

import ast
import importlib
import inspect
import re
from collections.abc import Callable
from functools import cache

import book

SHOWN = 15  # lines of a cell that a reader reads; what is longer proves
PAIRS = [  # what the first two arguments of a function of two texts are called
    ("candidate", "references"), ("candidates", "references"), ("text", "summary"), ("texts", "summaries"),
    ("reference", "generated"), ("contexts", "summary"), ("metric", "human"),
]  # fmt: skip


@cache
def functions() -> dict[str, Callable]:
    found = {
        name: getattr(importlib.import_module(f"summeval_nb.{module}"), name)
        for module, names in book.exported().items()
        for name in names
    }
    return {name: function for name, function in found.items() if inspect.isfunction(function)}


@cache
def of_two() -> set[str]:
    """The functions of two texts, by name."""
    return {name for name, found in functions().items() if tuple(inspect.signature(found).parameters)[:2] in PAIRS}


def test_every_argument_has_a_name_to_call_it_by():
    nameless = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}
    found = {
        name
        for name, function in functions().items()
        if nameless & {parameter.kind for parameter in inspect.signature(function).parameters.values()}
    }
    assert found <= {"content_key"}  # a hash of any values, in order


def positional(source: str) -> list[str]:
    """The calls of two texts outside of asserts that leave to the place which text is which."""
    tree = ast.parse(re.sub(r"^[%!].*$", "pass", source, flags=re.M))
    proofs = {id(node) for proof in ast.walk(tree) if isinstance(proof, ast.Assert) for node in ast.walk(proof)}
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in of_two()
        and id(node) not in proofs
        and node.args
        and not any(isinstance(argument, ast.Starred) for argument in node.args)
    ]


def test_what_a_reader_sees_names_its_texts():
    found = []
    for name in book.written():
        for cell in book.read(name).cells:
            collapsed = cell.metadata.get("jupyter", {}).get("source_hidden")
            hidden = collapsed or re.match(r"\s*#\|\s*(export|hide)", cell.source)
            if cell.cell_type == "code" and not hidden and len(cell.source.splitlines()) <= SHOWN:
                found += [f"{name}: {call}" for call in positional(cell.source)]
    for name in of_two():
        for example in re.findall(r"^\s*>>> (.+)$", functions()[name].__doc__ or "", re.M):
            found += [f"{name}: {example}"] if re.search(rf"\b{name}\((?!\w+=|\*|$)", example) else []
    assert not found, found
