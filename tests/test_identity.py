"""A run is continued only by the same metric: what it declares, its choices and their code, its weights."""

import functools
import importlib.util
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from summeval_nb import EmbeddedChecker, LLMChecker, ScriptedBackend, load_metric
from summeval_nb.core import Metric
from summeval_nb.evidence import WordsChecker
from summeval_nb.runs.jobs import describe, differences, find_unknown, identify, identify_model
from summeval_nb.runs.running import run

ROOT = Path(__file__).parents[1]
ROWS = [{"id": i, "text": "x" * i} for i in range(6)]
quiet = functools.partial(run, progress=False, workers=0)


def length(row):
    return len(row["text"])


@functools.cache
def cached(text):
    return len(text)


def helper(row, factor):
    return len(row["text"]) * factor


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


class Declared(Times):
    def __init__(self, factor):
        super().__init__(factor)
        self.lock, self.fingerprint = threading.Lock(), f"times {factor}"


class Holder(Times):
    """What holds something declared, an array, and a set, whose order differs between processes."""

    def __init__(self, factor):
        super().__init__(factor)
        self.inner, self.array, self.words = Declared(factor), np.full(3, factor), {"cat", "dog", f"{factor}"}


def scored(candidate, references):
    return 1.0


class Longer:
    """Scores by a method, and says nothing of what it does."""

    name, columns, judged = "longer", {"candidate": "text"}, "candidate"

    def __init__(self, n=4):
        self.n = n

    def score_many(self, candidates):
        return [1.0] * len(candidates)


class OfOnesOwn(Longer):
    fingerprint = "mine v1"


def declared(factor):
    metric = lambda row: len(row["text"]) * factor
    metric.fingerprint = f"times {factor}"
    return metric


KINDS = {
    "object": Times,
    "slots": Slotted,
    "bound method": lambda factor: Times(factor).score,
    "partial": lambda factor: functools.partial(helper, factor=factor),
    "declared function": declared,
    "declared object": Declared,
    "object of objects": Holder,
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())
def test_a_metric_that_decides_otherwise_is_not_continued(make, tmp_path):
    first = quiet(ROWS, make(1), out=tmp_path)
    assert identify(make(1)) == identify(make(1)) != identify(make(2)) and not find_unknown(identify(make(1)))
    with pytest.raises(ValueError, match=r"other settings: metric\.(state|fingerprint) \(.*resume=False"):
        quiet(ROWS, make(10), out=tmp_path)
    assert quiet(ROWS, make(1), out=tmp_path).info["kept_from_before"] == 6
    assert quiet(ROWS, make(10), out=tmp_path, resume=False).mean() != first.mean()


WITHOUT = {
    "lambda": lambda: lambda row: 1.0,
    "closure": lambda: functools.partial(lambda row, more: 1.0, more=1),
    "lock": lambda: functools.partial(helper, factor=threading.Lock()),
    "nested class": lambda: type("Nested", (), {"__call__": lambda self, row: 1.0})(),
    "set of lambdas": lambda: functools.partial(helper, factor={lambda: 1}),
    "unnamed script of a model": lambda: LLMChecker(ScriptedBackend(lambda prompt: "yes")).check_many,
}


@pytest.mark.parametrize("make", WITHOUT.values(), ids=WITHOUT.keys())
def test_what_has_no_identity_is_never_equal(make):
    assert find_unknown(identify(make())) and find_unknown({"options": [identify(make())]})


def test_a_run_without_identity_says_so_and_is_not_continued(tmp_path):
    metric = lambda row: len(row["text"])
    with pytest.warns(UserWarning, match=r"cannot be continued .*<lambda>: .*fingerprint = 'my-metric v1'"):
        assert quiet(ROWS, metric, out=tmp_path / "a").mean() == 2.5
    with (
        pytest.warns(UserWarning),
        pytest.raises(ValueError, match=r"cannot be continued.*<lambda>.*resume=False.*fingerprint = 'my-metric v1'"),
    ):
        quiet(ROWS, metric, out=tmp_path / "a")
    metric.fingerprint = "v1"
    with pytest.raises(ValueError, match=r"metric\.unknown .*metric\.fingerprint \(absent before, 'v1' now\)"):
        quiet(ROWS, metric, out=tmp_path / "a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet(ROWS, metric, out=tmp_path / "b")
        assert quiet(ROWS, metric, out=tmp_path / "b").info["scored_now"] == 0
    metric.fingerprint = "v2"
    with pytest.raises(ValueError, match=r"metric\.fingerprint \('v1' before, 'v2' now\)"):
        quiet(ROWS, metric, out=tmp_path / "b")


def test_a_function_that_stays_is_known_by_its_module(tmp_path):
    quiet(ROWS, length, out=tmp_path)
    assert quiet(ROWS, length, out=tmp_path).info["scored_now"] == 0
    with pytest.raises(ValueError, match=r"metric\.name \('test_identity\.length' before, 'builtins\.len' now\)"):
        quiet(ROWS, len, out=tmp_path)


SCRIPT = """
    import json, os, sys, my_metric
    from summeval_nb.runs.jobs import identify
    print(json.dumps([identify(my_metric.score), identify(my_metric.cached), identify(my_metric.Settings())]))
"""
MODULE = """
    import functools, re
    from dataclasses import dataclass, field
    from enum import Enum

    def score(row):
        return 1

    @functools.cache
    def cached(row):
        return 1

    class Kind(Enum):
        A = 1

    @dataclass
    class Settings:
        names: frozenset = frozenset({"u", "v", "w"})
        kind: Kind = Kind.A
        pattern: object = re.compile("x+")
        words: dict = field(default_factory=lambda: {"a": {"cat", "dog"}})
"""


def in_a_process(folder, *, module=MODULE, seed="1", age=3600):
    path = folder / "my_metric.py"
    path.write_text(textwrap.dedent(module))
    os.utime(path, (path.stat().st_mtime - age,) * 2)
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    return json.loads(subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout)


def test_an_identity_is_the_same_in_every_process(tmp_path):
    first = in_a_process(tmp_path)
    assert first == in_a_process(tmp_path, seed="2") and not find_unknown(first)


def test_another_source_is_another_metric(tmp_path):
    before, now = in_a_process(tmp_path), in_a_process(tmp_path, module=MODULE.replace("return 1", "return 2"))
    for earlier, later in zip(before, now, strict=True):
        assert [change.partition(" ")[0] for change in differences(earlier, later)] == ["code.my_metric"]


@pytest.mark.parametrize("line", ["import other_of_mine", "from . import sibling", "from other_of_mine import x"])
def test_a_module_that_rests_on_ones_own_code_has_no_identity(line, tmp_path):
    (tmp_path / "other_of_mine.py").write_text("x = 1\n")
    module = MODULE.replace("return 1", f"{line}; return 1") if "from ." in line else f"    {line}\n{MODULE}"
    reasons = find_unknown(in_a_process(tmp_path, module=module))
    assert len(reasons) == 3 and all("imports other code of yours" in reason for reason in reasons)


def test_a_source_newer_than_the_process_is_not_believed(tmp_path):
    reasons = find_unknown(in_a_process(tmp_path, age=-3600))
    assert len(reasons) == 3 and all("was changed after this process had begun" in reason for reason in reasons)


def test_an_inherited_fingerprint_is_silent_on_overrides(tmp_path):
    assert "fingerprint" not in identify(Longer()) and "test_identity" in identify(Longer())["code"]
    assert identify(Longer()) != identify(Longer(n=2))
    assert identify(OfOnesOwn()) == {"name": "test_identity.OfOnesOwn", "fingerprint": "mine v1"}


def test_metrics_of_the_package_are_their_choices():
    assert describe(load_metric("bleu", n=2), "inner") == {
        "name": "summeval_nb.overlap.translation.bleu_score",
        "options": {"n": 2},
    }
    assert identify(functools.partial(helper, factor=load_metric("bleu"))) == identify(
        functools.partial(helper, factor=load_metric("bleu", n=4))
    )
    assert identify(functools.partial(helper, factor=load_metric("bleu"))) != identify(
        functools.partial(helper, factor=load_metric("bleu", n=3))
    )
    assert identify(load_metric("bleu")) != identify(load_metric("chrf"))
    assert "test_identity" in identify(Metric(scored))["code"], "somebody's function is known by its code"
    assert find_unknown(identify(load_metric("bleu", tokenize=lambda text: text.split())))


def test_a_function_as_option_is_known_or_said_to_be_unknown(tmp_path):
    pair = [{"candidate": "a cat", "references": "a cat"}]
    quiet(pair, "bleu", out=tmp_path / "a", options={"tokenize": str.split})
    with pytest.raises(ValueError, match=r"options\.tokenize"):
        quiet(pair, "bleu", out=tmp_path / "a", options={"tokenize": str.splitlines})
    with pytest.warns(UserWarning, match=r"cannot be continued .*<lambda>"):
        quiet(pair, "bleu", out=tmp_path / "b", options={"tokenize": lambda text: text.split()})


def test_a_threshold_is_part_of_it(tmp_path):
    """The fingerprint, under which verdicts are stored, is the same."""
    text = "It rained in Oslo on Monday. The ferry stayed in the harbour."
    rows = [{"text": text, "summary": "It rained in Oslo on Monday."}]
    low, high = (EmbeddedChecker(threshold=threshold) for threshold in (0.5, 0.999))
    assert low.fingerprint == high.fingerprint
    quiet(rows, "faithfulness", out=tmp_path, options={"checker": low})
    with pytest.raises(ValueError, match=r"options\.checker\.threshold \(0\.5 before, 0\.999 now\)"):
        quiet(rows, "faithfulness", out=tmp_path, options={"checker": high})
    assert identify(functools.partial(helper, factor=low)) != identify(functools.partial(helper, factor=high))


def test_a_model_is_its_files_and_not_its_name(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights").write_bytes(b"one")
    for option, text in (
        ("checker", f"nli:{folder}"),
        ("judge", f"llm:{folder}"),
        ("embedder", str(folder)),
        ("model", str(folder)),
    ):
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


def test_true_and_one_are_different_settings():
    assert list(differences({"a": 1}, {"a": True})) == ["a (1 before, True now)"]
    assert list(differences({"a": 1, "b": 2}, {"a": 1})) == ["b (2 before, absent now)"]


def keyed(row, other, address):
    return len(row["text"]) + len(other) + len(address)


def test_a_captured_key_stands_nowhere_in_the_file(tmp_path):
    key = "sk-very-secret"
    quiet(ROWS, functools.partial(keyed, other=key, address=f"http://u:{key}@h"), out=tmp_path)
    assert key not in str((tmp_path / "run.sqlite").read_bytes())


class Lenient(WordsChecker):
    def check_many(self, pairs, *, vectors=None):
        return super().check_many(pairs)


def test_what_a_class_of_the_package_declares_is_no_word_on_a_subclass():
    """The package's own constructor puts the fingerprint into the object."""
    assert "fingerprint" in identify(WordsChecker()) and Lenient().fingerprint == WordsChecker().fingerprint
    known = identify(Lenient())
    assert "fingerprint" not in known and "test_identity" in known["code"]


@pytest.mark.parametrize("name", ["build", "code"])
def test_own_code_under_a_known_name_is_known_by_its_source(name, tmp_path, monkeypatch):
    """One is installed here, the other is Python's own."""
    file = tmp_path / f"{name}.py"
    file.write_text("def score(row):\n    return 1.0\n")
    os.utime(file, (1e9, 1e9))
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, name, module)
    first = identify(module.score)["code"]
    file.write_text("def score(row):\n    return -1.0\n")
    os.utime(file, (1e9, 1e9))
    assert first[name] != identify(module.score)["code"][name]


def test_a_source_that_changed_since_the_process_began_is_refused(tmp_path, monkeypatch):
    code, before = "from summeval_nb.runs.jobs import _STARTED; print(_STARTED)", time.time()
    began = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    assert before - 0.1 < began < before + 0.5, "when the process began, not when its imports were done"
    file = tmp_path / "live.py"
    file.write_text("def score(row):\n    return 1.0\n")
    spec = importlib.util.spec_from_file_location("live", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "live", module)
    assert "changed after this process had begun" in find_unknown(identify(module.score))[0]


def test_texts_that_hold_an_address_differ_by_all_of_it():
    one, other = (describe(f"Follow http://style.org/guide?page={page}", "rubric") for page in ("short", "long"))
    assert one != other and "short" not in str(one)
    assert describe({1: "a"}, "options") != describe({"1": "a"}, "options")


def test_an_option_of_somebodys_with_the_key_unknown_is_an_option():
    assert find_unknown({"options": {"synonyms": {"unknown": ["strange"]}}}) == []
    assert find_unknown({"metric": identify(lambda row: 1)})
