"""Metrics of others: by their place, and offered by a small package that is really installed in a folder."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import summeval_nb as s
from summeval_nb.agreement.registry import find_metric, list_metrics, load_metric

ROOT = Path(__file__).parents[1]
CODE = '''
from dataclasses import dataclass
from summeval_nb.core import Metric

def shared(candidate, references, *, lower: bool = True):
    """Share of the words that a reference has."""
    cut = str.lower if lower else str
    words = cut(candidate).split()
    if not words:
        return None
    hits = sum(any(word in cut(text).split() for text in references) for word in words)
    return {"score": hits / len(words), "words": len(words)}

def ratio(text, summary):
    return len(summary) / len(text)

def novel(summary, *, source, references):
    return len(set(summary.split()) - set(source.split()))

def no_number(text, summary):
    return "good"

def long(candidate, per: int = 1):
    """Characters."""
    return len(candidate) / per

half = Metric(long, per=2)

class Plain:
    columns = {"summary": "text"}
    def score_many(self, summaries):
        return [len(text) for text in summaries]

plain = Plain()
nothing = lambda: 1
by_place = lambda text, /: 1
'''
OFFERS = """[summeval_nb.metrics]
acme_shared = acme_metrics:shared
acme_half = acme_metrics:half
bleu = acme_metrics:ratio
broken = acme_broken:score
leaving = acme_leaving:score
gone = acme_metrics:gone
"""
ROWS = [{"candidate": "A cat", "references": ["the cat"]}, {"candidate": "", "references": "the dog"}]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with an installed package, as pip leaves it: modules, and a dist-info with entry points."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "acme_metrics.py").write_text(CODE)
    os.utime(folder / "acme_metrics.py", (1e9, 1e9))  # it was there before this process began
    (folder / "acme_broken.py").write_text("raise RuntimeError('no licence')")
    (folder / "acme_leaving.py").write_text("raise SystemExit(7)")
    info = folder / "acme_metrics-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-metrics\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text(OFFERS)
    return folder


@pytest.fixture
def acme(site, monkeypatch):
    monkeypatch.syspath_prepend(str(site))
    return site


def summeval(site, folder, *arguments):
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{site}"}
    command = [sys.executable, "-c", "from summeval_nb.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder)


def test_a_function_is_a_metric_by_its_place(acme):
    metric = load_metric("acme_metrics:shared")
    assert dict(metric.columns) == {"candidate": "text", "references": "texts"} and metric.judged == "candidate"
    found = metric.score(candidate="A cat", references=["the cat"])
    assert found.score == 0.5 and found.to_dict()["words"] == 2 and "acme_metrics%3Ashared" in str(found.signature)
    assert metric("A cat", "the cat").score == 0.5, "one reference is a list of one"
    table = metric.score_many(["A cat", ""], [["the cat"], ["x"]])
    assert table.n_undefined == 1 and table.mean() == 0.5 and table[1].reason


def test_options_are_the_arguments_with_a_default_and_objects_are_taken_as_they_are(acme):
    metric = load_metric("acme_metrics:shared", lower=False)
    assert metric.score("A cat", ["a cat"]).score == 0.5 and metric.options() == {"lower": False}
    assert "lower:no" in str(metric.signature)
    with pytest.raises(TypeError, match="has no option 'lowr', did you mean 'lower'"):
        load_metric("acme_metrics:shared", lowr=True)
    again = pickle.loads(pickle.dumps(metric))
    assert again == metric and again.fingerprint == metric.fingerprint
    assert load_metric("acme_metrics:long", per=3).score("abc").score == 1
    assert load_metric("acme_metrics:half").score("abc").score == 1.5
    plain = load_metric("acme_metrics:plain")
    assert plain.score("abc") == 3 and plain.score_many(["a", "bc"]) == [1, 2]
    assert pickle.loads(pickle.dumps(plain)).score("ab") == 2


def test_what_a_package_offers_is_loaded_by_name_and_a_broken_plugin_breaks_nothing(acme):
    rows = {row["metric"]: row for row in list_metrics().rows()}
    assert rows["acme_shared"]["package"] == rows["broken"]["package"] == "acme-metrics 1.2"
    assert rows["acme_shared"]["reads"] == "candidate, references"
    assert rows["acme_shared"]["purpose"] == "Share of the words that a reference has"
    assert {row["package"] for name, row in rows.items() if name not in s.agreement.METRICS or name == "bleu"} == {""}
    assert load_metric("acme_shared").score("A cat", ["a cat"]).score == 1
    assert "acme_half" in s.agreement.METRICS and s.agreement.METRICS["acme_half"].score("abcd").score == 2
    assert len(list(s.agreement.METRICS)) == len(s.agreement.METRICS) == len(rows)
    assert find_metric("bleu")[0] is s.load_metric("bleu").definition, "nobody takes a name of ours"
    assert rows["bleu"]["package"] == "" and rows["acme_metrics:ratio"]["package"] == "acme-metrics 1.2"
    rows = {row["metric"]: row["purpose"] for row in list_metrics().rows()}
    assert "acme_broken cannot be imported: RuntimeError: no licence" in rows["broken"]
    assert "SystemExit: 7" in rows["leaving"] and "acme_metrics has no 'gone'" in rows["gone"]
    with pytest.raises(ImportError, match="RuntimeError: no licence"):
        load_metric("broken")


@pytest.mark.parametrize("workers", [0, 1])
def test_a_run_scores_with_it_and_knows_its_code(acme, tmp_path, workers):
    report = s.run(ROWS, "acme_shared", out=tmp_path, options={"lower": False}, workers=workers, progress=False)
    assert report.counts == {"ok": 1, "undefined": 1, "failed": 0} and report.mean() == 0.5
    assert json.loads(report.path.read_text().splitlines()[0])["parts"] == {"words": 2}
    metric = report.info["settings"]["metric"]
    assert metric == {"name": "acme_metrics.shared", "package": "acme-metrics 1.2"}
    again = s.run(ROWS, "acme_shared", out=tmp_path, options={"lower": False}, workers=0, progress=False)
    assert again.mean() == 0.5 and again.info["scored_now"] == 0
    with pytest.raises(ValueError, match="options"):
        s.run(ROWS, "acme_shared", out=tmp_path, workers=0, progress=False)


WRONG = {
    "acme_metrics:shard": (ValueError, "acme_metrics has no 'shard', did you mean 'shared'"),
    "nosuch_package:f": (ImportError, "nosuch_package cannot be imported: there is no such module: install it"),
    "acme_metrics:Plain": (TypeError, r"'acme_metrics:Plain' is the class Plain: make one"),
    "acme_metrics:nothing": (TypeError, "needs no text"),
    "acme_metrics:by_place": (TypeError, "takes text by position only"),
    "os:sep": (TypeError, "'os:sep' must be a metric, not str"),
    "a:b:c": (ValueError, "unknown metric 'a:b:c'"),
    "acme metrics:f": (ValueError, "unknown metric 'acme metrics:f'"),
    "acme_sharde": (ValueError, "unknown metric 'acme_sharde', did you mean 'acme_shared'"),
    "rouge-l": (ValueError, "unknown metric 'rouge-l', did you mean 'rougeL'"),
    "BLEU": (ValueError, "unknown metric 'BLEU', did you mean 'bleu'"),
    "bert_score": (ValueError, "unknown metric 'bert_score', did you mean 'bertscore'"),
    "hallucination": (ValueError, "unknown metric 'hallucination', did you mean 'faithfulness'"),
}


def test_a_wrong_name_is_answered_with_what_to_do(acme):
    for name, (error, message) in WRONG.items():
        with pytest.raises(error, match=message):
            load_metric(name)
    with pytest.raises(TypeError, match="acme_metrics:ratio reads text, summary: missing a required argument: 'summ"):
        load_metric("acme_metrics:ratio").score("a")
    with pytest.raises(ValueError, match="acme_metrics:no_number: the metric returned str, not a number"):
        load_metric("acme_metrics:no_number").score("a", "b")


def test_the_shell_scores_and_runs_with_it(site, tmp_path):
    table = tmp_path / "rows.jsonl"
    table.write_text("\n".join(map(json.dumps, ROWS)))
    (tmp_path / "my_metrics.py").write_text("def letters(candidate, per: int = 1):\n    return len(candidate) / per\n")
    named = summeval(site, tmp_path, "score", "acme_shared", table, "-o", "lower=no")
    assert named.returncode == 0
    assert named.stdout.splitlines()[1].split() == ["acme_shared", "score", "0.5000", "–", "–", "1", "1"]
    own = summeval(site, tmp_path, "score", "my_metrics:letters", table, "-o", "per=5", "--each")
    assert own.stdout.split()[:3] == ["my_metrics:letters", "1.0000", "0.0000"], own.stderr
    wrong = summeval(site, tmp_path, "score", "broken", "-")
    assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1 and "no licence" in wrong.stderr
    shown = summeval(site, tmp_path, "metrics", "acme_shared").stdout.splitlines()
    assert ["lower", "bool", "True"] in [line.split() for line in shown]
    ran = summeval(site, tmp_path, "run", table, "--metric", "my_metrics:letters", "--out", tmp_path / "out")
    assert ran.returncode == 0 and (tmp_path / "out" / "results.jsonl").is_file(), ran.stderr
