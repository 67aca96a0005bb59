"""A run is continued only by the same metric: what it declares, its choices, its weights."""

import threading
import warnings
from functools import partial

import pytest

from summeval_nb import EmbeddedChecker, LLMChecker, ScriptedBackend, load_metric
from summeval_nb.core import Metric
from summeval_nb.evidence import WordsChecker
from summeval_nb.runs.file import describe, differences, find_unknown, identify, identify_model
from summeval_nb.runs.running import run

ROWS = [{"id": i, "text": "x" * i} for i in range(6)]
quiet = partial(run, progress=False, workers=0)


class Times:
    def __init__(self, factor):
        self.factor, self.lock, self.fingerprint = factor, threading.Lock(), f"times {factor}"

    def __call__(self, row):
        return len(row["text"]) * self.factor


def declared(factor):
    metric = lambda row: len(row["text"]) * factor
    metric.fingerprint = f"times {factor}"
    return metric


def length(row):
    return len(row["text"])


def scored(candidate, references):
    return 1.0


class Longer:
    """Scores by a method, and says nothing of what it does."""

    name, columns, judged = "longer", {"candidate": "text"}, "candidate"

    def score_many(self, candidates):
        return [1.0] * len(candidates)


class OfOnesOwn(Longer):
    fingerprint = "mine v1"


class Lenient(WordsChecker):
    def check_many(self, pairs, *, vectors=None):
        return super().check_many(pairs)


@pytest.mark.parametrize("make", [declared, Times], ids=["function", "object"])
def test_a_metric_that_decides_otherwise_is_not_continued(make, tmp_path):
    first = quiet(ROWS, make(1), out=tmp_path)
    assert identify(make(1)) == identify(make(1)) != identify(make(2)) and not find_unknown(identify(make(1)))
    with pytest.raises(ValueError, match=r"other settings: metric\.fingerprint \(.*resume=False"):
        quiet(ROWS, make(10), out=tmp_path)
    assert quiet(ROWS, make(1), out=tmp_path).info["kept_from_before"] == 6
    assert quiet(ROWS, make(10), out=tmp_path, resume=False).mean() == 10 * first.mean() > 0


WITHOUT = {
    "lambda": lambda: lambda row: 1.0,
    "function of one's own": lambda: length,
    "object": Longer,
    "bound method": lambda: Times(1).__call__,
    "partial": lambda: partial(declared(1), more=1),
    "function of Python's": lambda: str.split,
    "unnamed script of a model": lambda: LLMChecker(ScriptedBackend(lambda prompt: "yes")).check_many,
    "metric of one's own function": lambda: Metric(scored),
    "subclass of ours": Lenient,
    "option": lambda: load_metric("bleu", tokenize=lambda text: text.split()),
}


@pytest.mark.parametrize("make", WITHOUT.values(), ids=WITHOUT.keys())
def test_what_has_no_identity_is_never_equal(make):
    """The package's own constructor puts a fingerprint into an object of a subclass, on which it is no word."""
    assert find_unknown(identify(make())) and find_unknown({"options": [identify(make())]})


def test_a_run_without_identity_says_so_and_is_not_continued(tmp_path):
    metric = lambda row: len(row["text"])
    with pytest.warns(
        UserWarning, match=r"cannot be continued .*<lambda> has no fingerprint.*fingerprint = 'my-metric v1'"
    ):
        assert quiet(ROWS, metric, out=tmp_path / "a").mean() == 2.5
    with (
        pytest.warns(UserWarning),
        pytest.raises(ValueError, match=r"cannot be continued.*<lambda>.*resume=False.*fingerprint = 'my-metric v1'"),
    ):
        quiet(ROWS, metric, out=tmp_path / "a")
    metric.fingerprint = "v1"
    with pytest.raises(ValueError, match=r"metric\.fingerprint \(None before, 'v1' now\)"):
        quiet(ROWS, metric, out=tmp_path / "a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quiet(ROWS, metric, out=tmp_path / "b")
        assert quiet(ROWS, metric, out=tmp_path / "b").info["scored_now"] == 0
    metric.fingerprint = "v2"
    with pytest.raises(ValueError, match=r"metric\.fingerprint \('v1' before, 'v2' now\)"):
        quiet(ROWS, metric, out=tmp_path / "b")


def test_metrics_of_the_package_are_their_choices():
    bleu = {"name": "summeval_nb.overlap.translation.bleu_score", "options": {"n": 2}}
    assert describe(load_metric("bleu", n=2), "inner") == bleu
    assert identify(load_metric("bleu")) == identify(load_metric("bleu", n=4)) != identify(load_metric("bleu", n=3))
    assert identify(load_metric("bleu")) != identify(load_metric("chrf"))
    assert identify(OfOnesOwn()) == {"name": "test_identity.OfOnesOwn", "fingerprint": "mine v1"}
    assert "fingerprint" in identify(WordsChecker())


def test_a_function_as_option_is_known_by_its_fingerprint_and_a_threshold_is_part_of_it(tmp_path):
    pair, split = [{"candidate": "a cat", "references": "a cat"}], lambda text: text.split()
    with pytest.warns(UserWarning, match=r"cannot be continued .*<lambda> has no fingerprint"):
        quiet(pair, "bleu", out=tmp_path / "a", options={"tokenize": split})
    split.fingerprint = "split v1"
    quiet(pair, "bleu", out=tmp_path / "b", options={"tokenize": split})
    assert quiet(pair, "bleu", out=tmp_path / "b", options={"tokenize": split}).info["scored_now"] == 0
    split.fingerprint = "split v2"
    with pytest.raises(ValueError, match=r"options\.tokenize\.fingerprint \('split v1' before, 'split v2' now\)"):
        quiet(pair, "bleu", out=tmp_path / "b", options={"tokenize": split})
    # The fingerprint, under which verdicts are stored, is the same.
    text = "It rained in Oslo on Monday. The ferry stayed in the harbour."
    rows = [{"text": text, "summary": "It rained in Oslo on Monday."}]
    low, high = (EmbeddedChecker(threshold=threshold) for threshold in (0.5, 0.999))
    assert low.fingerprint == high.fingerprint
    quiet(rows, "faithfulness", out=tmp_path / "c", options={"checker": low})
    with pytest.raises(ValueError, match=r"options\.checker\.threshold \(0\.5 before, 0\.999 now\)"):
        quiet(rows, "faithfulness", out=tmp_path / "c", options={"checker": high})


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


def test_what_is_described_differs_where_it_must_and_names_no_secret():
    text = "llm:name@http://user:secret@host:8000/v1?api_key=secret#secret"
    assert identify_model("judge", text) == "llm:name@http://host:8000/v1"
    assert list(differences({"a": 1}, {"a": True})) == ["a (1 before, True now)"]
    assert list(differences({"a": 1, "b": 2}, {"a": 1})) == ["b (2 before, absent now)"]
    one, other = (describe(f"Follow http://style.org/guide?page={page}", "rubric") for page in ("short", "long"))
    assert one != other and "short" not in str(one)
    assert describe({1: "a"}, "options") != describe({"1": "a"}, "options")
    assert find_unknown({"options": {"synonyms": {"unknown": ["strange"]}}}) == []
    assert find_unknown({"metric": identify(lambda row: 1)})


def keyed(row, other, address):
    return len(row["text"]) + len(other) + len(address)


def test_a_captured_key_stands_nowhere_in_the_file(tmp_path):
    key = "sk-very-secret"
    with pytest.warns(UserWarning, match="has no fingerprint"):
        quiet(ROWS, partial(keyed, other=key, address=f"http://u:{key}@h"), out=tmp_path)
    assert key not in str((tmp_path / "run.sqlite").read_bytes())
