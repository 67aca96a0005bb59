"""A run is continued only by the same metric: its code, what it captures, its thresholds, its weights."""

import functools
import json
import os
import re
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

from summeval_nb import EmbeddedChecker
from summeval_nb.runs.batch import run
from summeval_nb.runs.identity import differences, find_unknown, identify, identify_model

ROOT = Path(__file__).parents[1]
ROWS = [{"id": i, "text": "x" * i} for i in range(6)]
quiet = functools.partial(run, progress=False, workers=0)
LIMIT = 3


def closure(limit):
    return lambda row: len(row["text"]) * limit


def with_default(limit):
    def metric(row, limit=limit):
        return len(row["text"]) * limit

    return metric


def with_keyword_default(limit):
    def metric(row, *, limit=limit):
        return len(row["text"]) * limit

    return metric


class Times:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, row):
        return len(row["text"]) * self.factor

    def score(self, row):
        return len(row["text"]) * self.factor


class Slotted:
    __slots__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, row):
        return len(row["text"]) * self.factor


def helper(row, factor):
    return len(row["text"]) * factor


def finds(row, pattern):
    return len(pattern.findall(row["text"]))


def through_helper(factor):
    inner = closure(factor)

    @functools.wraps(inner)
    def metric(row):
        return inner(row)

    return metric


def with_attribute(factor):
    def metric(row):
        return len(row["text"]) * metric.factor

    metric.factor = factor
    return metric


def with_table(table):
    return lambda row: len(row["text"]) * float(table[0])


two = [lambda row: len(row["text"]), lambda row: 10 * len(row["text"])]  # two lambdas on one line

KINDS = {
    "closure": closure,
    "default": with_default,
    "keyword default": with_keyword_default,
    "callable object": Times,
    "slots": Slotted,
    "bound method": lambda factor: Times(factor).score,
    "partial": lambda factor: functools.partial(helper, factor=factor),
    "partial of a position": lambda factor: functools.partial(lambda a, row: a * len(row["text"]), factor),
    "two lambdas on one line": lambda factor: two[factor > 5],
    "a function that it calls": through_helper,
    "an attribute": with_attribute,
    "a captured array": lambda factor: with_table(np.full(1, factor)),
    "a captured mapping": lambda factor: lambda row, table={"x": [factor]}: len(row["text"]) * table["x"][0],
    "a captured pattern": lambda factor: (
        lambda row, found=re.compile(f"x{{{factor}}}"): len(found.findall(row["text"]))
    ),
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())
def test_a_metric_that_decides_otherwise_is_not_continued(make, tmp_path):
    first = quiet(ROWS, make(1), out=tmp_path)
    with pytest.raises(ValueError, match=r"other settings: metric.*resume=False"):
        quiet(ROWS, make(10), out=tmp_path)
    assert quiet(ROWS, make(1), out=tmp_path).manifest["kept_from_before"] == 6
    assert quiet(ROWS, make(10), out=tmp_path, resume=False).mean() != first.mean()


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())
def test_equal_metrics_have_one_identity_and_nothing_unknown(make):
    assert identify(make(1)) == identify(make(1)) and not find_unknown(identify(make(1)))
    assert json.loads(json.dumps(identify(make(1)))) == identify(make(1))


def test_a_threshold_is_part_of_it(tmp_path):
    """.75 at a threshold of .5, and 0 at one of .99: the fingerprint, under which verdicts are stored, is the same."""
    text = "It rained in Oslo on Monday. The ferry stayed in the harbour."
    rows = [{"text": text, "summary": "It rained in Oslo on Monday."}]
    low, high = (EmbeddedChecker(threshold=threshold) for threshold in (0.5, 0.999))
    assert low.fingerprint == high.fingerprint
    quiet(rows, "faithfulness", out=tmp_path, options={"checker": low})
    with pytest.raises(ValueError, match=r"options\.checker\.threshold \(0\.5 before, 0\.999 now\)"):
        quiet(rows, "faithfulness", out=tmp_path, options={"checker": high})


def test_globals_and_modules_of_ones_own_are_part_of_it(tmp_path, monkeypatch):
    def uses_a_global(row):
        return len(row["text"]) > LIMIT

    def imports(row):
        import my_own_module

        return my_own_module.score(row)

    (tmp_path / "my_own_module.py").write_text("def score(row):\n    return 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = identify(uses_a_global), identify(imports)
    monkeypatch.setitem(globals(), "LIMIT", 4)
    (tmp_path / "my_own_module.py").write_text("def score(row):\n    return 2\n")
    after = identify(uses_a_global), identify(imports)
    assert "my_own_module" not in sys.modules  # it is looked at, and not loaded
    assert next(differences(before[0], after[0])) == "uses.LIMIT (3 before, 4 now)"
    assert next(differences(before[1], after[1])).startswith("uses.import my_own_module (")


def test_the_same_script_has_the_same_identity_in_every_process(tmp_path):
    """With another hash seed, from another folder, with other comments."""
    code = """
        import json, re
        from collections import Counter, defaultdict
        from dataclasses import dataclass
        from enum import Enum
        from summeval_nb.runs.identity import identify, find_unknown
        WORDS, PATTERN, COUNT = {"a", "b", "cat", "dog"}, re.compile("x+"), defaultdict(list, a=[1])
        class Kind(Enum):
            A = 1
        @dataclass
        class Settings:
            names: frozenset = frozenset({"u", "v", "w"})
            kind: Kind = Kind.A
        class Metric:
            def __init__(self):
                self.settings, self.me = Settings(), self
            def __call__(self, row):
                known = row["text"] in {"one", "two", "three"} or row["text"] in WORDS
                return len(PATTERN.findall(row["text"])) + known + len(COUNT) + helper(row)
        def helper(row):
            return Counter(row) and Metric
        found = identify(Metric())
        print(json.dumps([found, find_unknown(found)]))
    """
    (tmp_path / "one.py").write_text(textwrap.dedent(code))
    (tmp_path / "other.py").write_text("# a comment\n\n" + textwrap.dedent(code))
    printed = {
        subprocess.run(
            [sys.executable, name],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name, seed in [("one.py", "1"), ("one.py", "2"), ("other.py", "3")]
    }
    assert len(printed) == 1 and json.loads(printed.pop())[1] == []


def test_what_cannot_be_known_is_not_continued_until_it_is_declared(tmp_path):
    def made(lock):
        return lambda row: len(row["text"]) + (lock is None)

    assert quiet(ROWS, made(threading.Lock()), out=tmp_path / "a").mean() == 2.5
    with pytest.raises(ValueError, match=r"it uses lock: _thread.lock; declare its version .*fingerprint = 'v1'"):
        quiet(ROWS, made(threading.Lock()), out=tmp_path / "a")
    metric = made(threading.Lock())
    metric.fingerprint = "v1"
    quiet(ROWS, metric, out=tmp_path / "b")
    assert quiet(ROWS, metric, out=tmp_path / "b").manifest["scored_now"] == 0
    metric.fingerprint = "v2"
    with pytest.raises(ValueError, match=r"metric\.fingerprint \('v1' before, 'v2' now\)"):
        quiet(ROWS, metric, out=tmp_path / "b")


def test_a_declared_version_is_shown_on_the_page(tmp_path):
    metric = closure(1)
    metric.fingerprint = "v1"
    page = quiet(ROWS, metric, out=tmp_path / "out").to_html(tmp_path / "page.html")
    assert "closure.&lt;locals&gt;.&lt;lambda&gt;" in page.read_text()


def test_a_model_is_its_files_and_not_its_name(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights").write_bytes(b"one")
    for option, text in (("checker", f"nli:{folder}"), ("judge", f"llm:{folder}"), ("embedder", str(folder))):
        before = identify_model(option, text)
        assert before["name"] == text and identify_model(option, text) == before
        (folder / "weights").write_bytes(b"two")
        assert identify_model(option, text) != before
        (folder / "weights").write_bytes(b"one")
    assert identify_model("checker", "embedded") == "embedded" and identify_model("quality", str(folder)) == str(folder)
    assert identify_model("checker", "llm:") == "llm:" and identify_model("judge", "llm:no/such") == "llm:no/such"


def test_a_model_folder_that_was_exchanged_is_not_continued(tmp_path):
    import shutil

    from summeval_nb.models.base import example_model

    folder = tmp_path / "model"
    shutil.copytree(example_model(), folder)
    rows = [{"text": "Anna bought a red car in Paris.", "summary": "Anna bought a red car."}]
    judge = functools.partial(quiet, rows, "faithfulness", out=tmp_path / "out", options={"checker": f"llm:{folder}"})
    judge()
    weights = next(folder.glob("*.safetensors"))
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    with pytest.raises(ValueError, match=r"options\.checker\.content"):
        judge()


def test_a_server_is_named_without_its_secrets():
    text = "llm:name@http://user:secret@host:8000/v1?api_key=secret#secret"
    assert identify_model("judge", text) == "llm:name@http://host:8000/v1"


def test_own_code_inside_the_houses_objects_is_part_of_it():
    from summeval_nb import LLMChecker, ScriptedBackend

    def made(answer):
        return LLMChecker(ScriptedBackend(lambda prompt: answer))

    assert identify(made("yes")) == identify(made("yes")) != identify(made("no"))
    assert identify(made("yes"))["fingerprint"] == identify(made("no"))["fingerprint"]


def test_true_and_one_are_different_settings():
    assert list(differences({"a": 1}, {"a": True})) == ["a (1 before, True now)"]
    assert list(differences({"a": 1, "b": 2}, {"a": 1})) == ["b (2 before, absent now)"]


def test_a_captured_key_stands_nowhere_in_the_manifest(tmp_path):
    key = "sk-very-secret"
    metric = functools.partial(
        lambda row, other, address: len(row["text"]) + len(key), other=key, address=f"http://u:{key}@h"
    )
    quiet(ROWS, metric, out=tmp_path)
    assert key not in (tmp_path / "manifest.json").read_text()
