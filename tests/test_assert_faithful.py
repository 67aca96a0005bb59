"""Faithfulness in a test suite: what fails and how it reads, and the example of the book under a real pytest."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from summeval_nb import ScriptedBackend, assert_faithful
from summeval_nb.evidence import LLMChecker
from summeval_nb.models import BackendUnavailable

ROOT = Path(__file__).parents[1]
FIRE = "A fire broke out on Monday. It destroyed 13 houses. Nobody was hurt."
FALSE = "Nobody was hurt. The fire destroyed 31 houses."


def test_what_passes_is_returned_and_what_fails_is_shown_with_evidence_score_and_reason():
    with pytest.raises(AssertionError) as failure:
        assert_faithful(FIRE, FALSE)
    said = str(failure.value)
    assert said.startswith("faithfulness 0.5 is below 0.8: not supported")
    assert "The fire destroyed [31] houses." in said and "It destroyed 13 houses." in said
    assert "contradicted 0." in said and "“31”: the article has “13”" in said
    assert " Nobody was hurt.\n" not in said.split("0.", 3)[1], "only what is not supported is listed"
    found = assert_faithful(FIRE, "Nobody was hurt.", 1)
    assert found.score == 1 and found.summary == "Nobody was hurt."
    assert assert_faithful(text=FIRE, summary=FALSE, at_least=0.5).score == 0.5


def test_an_undefined_score_a_failed_model_and_wrong_options_are_told_apart():
    def down(prompt):
        raise BackendUnavailable("the server is down")

    for summary, options, error, message in (
        (" ", {}, AssertionError, "faithfulness is undefined: the summary is empty"),
        (FALSE, {"checker": LLMChecker(ScriptedBackend(down))}, RuntimeError, "failed on 2 of 2 .*the server is down"),
        (FALSE, {"at_least": 80}, ValueError, "at_least"),
        (FALSE, {"at_leest": 1}, TypeError, r"assert_faithful\(\) has no option 'at_leest', did you mean 'at_least'"),
        (FALSE, {"k": 0}, ValueError, "k "),
    ):
        with pytest.raises(error, match=message):
            assert_faithful(FIRE, summary, **options)


def example():
    """The test file that chapter 38 shows."""
    notebook = json.loads((ROOT / "nbs/3_evidence/38_faithfulness.ipynb").read_text(encoding="utf-8"))
    cells = ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    (text,) = (cell for cell in cells if "## In a test suite" in cell)
    return text.split("```python\n")[1].split("```")[0]


def run_pytest(folder, code):
    (folder / "test_summaries.py").write_text(code, encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, "test_summaries.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def test_the_example_of_the_book_passes_and_fails_where_it_should(tmp_path):
    done = run_pytest(tmp_path, example())
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout
    short = '    return "The fire destroyed 13 houses. Nobody was hurt."'
    assert short in example()
    wrong = run_pytest(tmp_path, example().replace(short, '    return "The fire destroyed 31 houses."'))
    assert wrong.returncode == 1 and "1 failed" in wrong.stdout, wrong.stdout
    assert "AssertionError: faithfulness 0 is below 0.9" in wrong.stdout
    assert "[31] houses" in wrong.stdout and "It destroyed 13 houses." in wrong.stdout
    assert "faithfulness.py:" not in wrong.stdout and "metric.py:" not in wrong.stdout, "no frames of ours"
