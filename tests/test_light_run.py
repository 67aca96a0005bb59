"""A run of a word metric starts light: in this process, without what judges and models need."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from summeval_nb import load_metric
from summeval_nb.runs.batch import run
from summeval_nb.runs.engines import choose_engine
from summeval_nb.runs.jobs import Job

ROOT = Path(__file__).parents[1]
PAIRS = [{"candidate": "the cat sat", "references": ["the cat sat", "a cat"]}] * 3
HEAVY = ("judged", "evidence", "models", "runs.costs", "agreement.metrics", "agreement.correlation")
SCRIPT = """
import json, sys
from summeval_nb import run
report = run(json.loads(sys.argv[1]), sys.argv[2], out=sys.argv[3], options=json.loads(sys.argv[4]), progress=False)
print(json.dumps([report.counts, report.manifest["workers"], sorted(sys.modules)]))
"""
quiet = partial(run, progress=False)


@pytest.mark.parametrize("metric", ["bleu", "rouge", "chrf", "ter", "meteor"])
def test_a_word_metric_imports_nothing_that_asks_models(metric, tmp_path):
    options = {"synonyms": None} if metric == "meteor" else {}
    given = [json.dumps(PAIRS), metric, str(tmp_path), json.dumps(options)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", SCRIPT, *given], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counts, workers, modules = json.loads(done.stdout)
    assert counts["ok"] == 3 and workers == 0
    heavy = tuple(f"summeval_nb.{name}" for name in HEAVY)
    assert [name for name in modules if f"{name}.".startswith(tuple(f"{name}." for name in heavy))] == []
    if metric != "meteor":  # nltk imports what it likes
        assert not {"torch", "scipy", "pydantic", "pandas"} & set(modules)


CHOSEN = {
    "word metric": (Job("bleu"), None, None, True),
    "word metric as an object": (Job(load_metric("chrf", beta=1)), None, None, True),
    "asked for": (Job("bleu"), 1, None, False),
    "with a timeout": (Job("bleu"), None, 60, False),
    "own tokenizer": (Job("bleu", {"tokenize": str.split}), None, None, False),
    "own function": (Job(len), None, None, False),
    "vectors": (Job("bertscore"), None, None, False),
    "checker": (Job("faithfulness"), None, None, False),
}


@pytest.mark.parametrize(("job", "workers", "timeout", "here"), CHOSEN.values(), ids=CHOSEN.keys())
def test_the_default_of_workers_is_chosen_by_the_metric(job, workers, timeout, here):
    started = choose_engine("local", job, workers, None, 0, timeout)[1]
    assert (started["workers"] == 0) is here


def test_workers_do_not_change_the_bytes(tmp_path):
    alone, other = (quiet(PAIRS, "rouge", out=tmp_path / str(n), workers=n) for n in (None, 1))
    assert alone.path.read_bytes() == other.path.read_bytes()
