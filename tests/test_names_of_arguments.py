"""Which text is which is said by a name: every public function takes its arguments so, and what is shown does so."""

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
book = importlib.import_module("book")
SHOWN = 15  # lines of a cell that a reader reads; what is longer proves
PAIRS = [  # what the first two arguments of a function of two texts are called
    ("candidate", "references"),
    ("candidates", "references"),
    ("text", "summary"),
    ("texts", "summaries"),
    ("reference", "generated"),
    ("contexts", "summary"),
    ("metric", "human"),
]
FUNCTIONS = {
    name: getattr(importlib.import_module(f"summeval_nb.{module}"), name)
    for module, names in book.exported().items()
    for name in names
}
FUNCTIONS = {name: found for name, found in FUNCTIONS.items() if inspect.isfunction(found)}
OF_TWO = {
    name: tuple(inspect.signature(found).parameters)[:2]
    for name, found in FUNCTIONS.items()
    if tuple(inspect.signature(found).parameters)[:2] in PAIRS
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_has_a_name_to_call_it_by(name):
    kinds = {parameter.kind for parameter in inspect.signature(FUNCTIONS[name]).parameters.values()}
    if name == "content_key":  # a hash of any values, in order
        return
    assert not kinds & {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}


def test_functions_of_two_texts_are_known():
    assert {"rouge_score", "bleu_score", "evaluate", "evaluate_many", "correlate", "calculate_rouge"} <= set(OF_TWO)
    assert len(OF_TWO) > 20


def positional(source: str) -> list[str]:
    """The calls of two texts outside of asserts that leave to the place which text is which."""
    tree = ast.parse(re.sub(r"^[%!].*$", "pass", source, flags=re.M))
    proofs = {id(node) for proof in ast.walk(tree) if isinstance(proof, ast.Assert) for node in ast.walk(proof)}
    return [
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in OF_TWO
        and id(node) not in proofs
        and node.args
        and not any(isinstance(argument, ast.Starred) for argument in node.args)
    ]


def test_a_call_without_names_is_noticed():
    assert positional("print(rouge_score('a', 'b').score)") == ["rouge_score('a', 'b')"]
    assert positional("rouge_score(candidate='a', references='b')\nassert rouge_score('a', 'b')") == []


@pytest.mark.parametrize("name", book.written())
def test_what_a_reader_sees_names_its_texts(name):
    for cell in book.read(name).cells:
        collapsed = cell.metadata.get("jupyter", {}).get("source_hidden")
        hidden = collapsed or re.match(r"\s*#\|\s*(export|hide)", cell.source)
        if cell.cell_type == "code" and not hidden and len(cell.source.splitlines()) <= SHOWN:
            assert not (found := positional(cell.source)), found


@pytest.mark.parametrize("name", OF_TWO)
def test_the_example_of_a_function_names_its_texts(name):
    examples = re.findall(r"^\s*>>> (.+)$", FUNCTIONS[name].__doc__ or "", re.M)
    for example in examples:
        places = re.findall(rf"\b{name}\((?!\w+=|\*|$)", example)
        assert not places, example
