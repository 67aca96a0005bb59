"""The checkers' benchmark: measures like scikit-learn's, articles as units, files of others, errors with a place."""

import csv
import json

import everyday
import numpy as np
import pytest
from helpers.late import Late
from helpers.says import Says, told
from helpers.wrapping import Wrapped
from typer.testing import CliRunner

from summeval_nb import LLMChecker, ScriptedBackend, Verdict, benchmark_checker
from summeval_nb.agreement import load_labelled
from summeval_nb.cli import app
from summeval_nb.core.resampling import Resampling
from summeval_nb.evidence import LabelledSentence, bench_sentences
from summeval_nb.evidence.labelled import MEASURES, checker_measures, measure_intervals

pd = Late("pandas")
bert_classifier = Late("helpers.tiny_nli", "bert_classifier")
knowing_classifier = Late("helpers.tiny_nli", "knowing_classifier")

ARTICLE = "Anna bought a red car. Ben sold a blue boat. Maria lost a white horse."


def items(*rows, article=ARTICLE):
    return [LabelledSentence(article, *row) for row in rows]


@pytest.mark.parametrize("seed", range(3))
def test_measures_equal_scikit_learn(seed):
    from sklearn import metrics

    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 2, 60), rng.integers(0, 12, 60) / 11  # many ties
    s = p >= 0.5
    wanted = {"auc": metrics.roc_auc_score(y, p), "balanced_accuracy": metrics.balanced_accuracy_score(y, s)}
    wanted |= {"precision": metrics.precision_score(y, s), "true_passed": metrics.recall_score(y, s)}
    wanted["false_found"] = metrics.recall_score(1 - y, 1 - s)
    found = checker_measures(y, p, s)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-12)


def test_intervals_are_those_of_a_plain_bootstrap():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(12), 5)
    y = rng.integers(0, 2, 60).astype(float)
    p = np.clip(0.3 * y + rng.random(60) * 0.7, 0, 1)
    sides = [y, p, (p > 0.5).astype(float)]
    how = Resampling(2000, 0.9)
    ours = measure_intervals(sides, group, how)
    plain = []
    for _ in range(2000):
        places = np.concatenate([np.flatnonzero(group == g) for g in rng.integers(0, 12, 12)])
        plain.append(list(checker_measures(*(side[places] for side in sides)).values()))
    expected = np.quantile(np.array(plain, dtype=float), [0.05, 0.95], axis=0).T
    assert np.allclose(np.array(ours, dtype=float), expected, atol=0.02)
    assert ours == measure_intervals(sides, group, how)
    for nothing in ((group * 0, how), (group, Resampling(0))):
        assert measure_intervals(sides, *nothing) == [(None, None)] * len(MEASURES)


def test_a_summary_has_the_minimum_or_mean_of_its_sentences():
    checker = told({"Anna bought a car.": 0.9, "Ben sold a house.": 0.2, "Maria lost a horse.": 0.6})
    rows = items(("Anna bought a car. Ben sold a house.", False), ("Maria lost a horse.", True))
    low, mean = (benchmark_checker(checker, {"s": rows}, n_resamples=0, combine=own) for own in ("minimum", "mean"))
    assert low.runs[0].probabilities == (0.2, 0.6) and mean.runs[0].probabilities == (pytest.approx(0.55), 0.6)
    for found in (low, mean):
        assert [reply.said for reply in found.runs[0].replies] == [False, True]
    assert str(low.signature) != str(mean.signature)
    assert str(low.signature) == str(benchmark_checker(checker, {"s": rows}, n_resamples=0).signature)
    assert checker.asked[0][0] == ["Anna bought a red car.", "Ben sold a blue boat.", "Maria lost a white horse."]


def test_failures_are_left_out_counted_and_shown():
    checker = told({"A is.": 0.9, "B is.": None, "C is.": 0.1, "D is.": 0.8})
    rows = items(("A is.", True), ("B is. A is.", True), ("C is.", False), ("D is.", False))
    bench = benchmark_checker(checker, {"s": rows}, n_resamples=0)
    row = bench.rows()[0]
    assert (row["n"], row["failed"], row["auc"], row["false_found"], row["true_passed"]) == (4, 1, 1.0, 0.5, 1.0)
    assert "no answer" in row["reason"] and "no answer" in repr(bench)
    assert [wrong["text"] for wrong in bench.wrong_rows()] == ["D is."]
    nothing = benchmark_checker(told({"A is.": None}), {"s": items(("A is.", True))}).rows()[0]
    assert nothing["failed"] == 1 and all(nothing[name] is None for name in (*MEASURES, "calibration_error"))


def test_a_language_model_knows_its_calls():
    backend = ScriptedBackend(lambda prompt: "yes" if "red" in prompt.split("<claim>")[1] else "no")
    rows = items(("Anna bought a red car.", True), ("Ben sold a green boat.", False))
    bench = benchmark_checker({"llm": LLMChecker(backend), "wrapped": Wrapped(LLMChecker(backend))}, {"s": rows})
    assert [row["calls"] for row in bench.rows()] == [2, 2]
    assert [row["balanced_accuracy"] for row in bench.rows()] == [1.0, 1.0]
    assert "calls" in bench.wide_rows()[0]
    plain = benchmark_checker(told({"A is.": 0.9}), {"s": items(("A is.", True))})
    assert plain.rows()[0]["calls"] is None and "calls" not in plain.wide_rows()[0]


def test_a_checker_that_answers_otherwise_is_named():
    class Short(Says):
        def check_many(self, pairs, *, vectors=None):
            return self.say

    for reply in (None, [0.9, 0.1], [Verdict(probability=0.5)] * 3):
        with pytest.raises((TypeError, ValueError), match="check_many of Short"):
            benchmark_checker(Short(reply), {"s": items(("A is.", True), ("B is.", False))})


def test_rows_and_tables_are_read_as_from_a_file():
    own = bench_sentences()[:20]
    rows = [{name: getattr(sentence, name) for name in ("article", "text", "supported", "kind")} for sentence in own]
    expected = benchmark_checker("words", {"s": own})
    for given in (rows, [sentence.to_dict() for sentence in own], pd.DataFrame(rows)):
        found = benchmark_checker("words", {"s": given})
        assert found.signature == expected.signature and found.to_dict()["kinds"] == expected.to_dict()["kinds"]
    some = pd.DataFrame(rows[:2]).assign(kind=[None, float("nan")], sentence=float("nan"))  # joined from two tables
    plain = [LabelledSentence(sentence.article, sentence.text, sentence.supported) for sentence in own[:2]]
    assert benchmark_checker("words", {"s": some}).signature == benchmark_checker("words", {"s": plain}).signature


def test_renders_escape_and_convert(tmp_path):
    rows = items(("<b>A</b> is $x$.", True, "<script>"), ("C is.", False, ""))
    bench = benchmark_checker({"<i>": told({"<b>A</b> is $x$.": 0.9, "C is.": 0.1})}, {"set $1$": rows})
    page = bench._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page and "<i>" not in page and "published" in page
    json.dumps(bench.to_dict(), allow_nan=False)
    assert list(bench.to_frame().columns)[:4] == ["checker", "set", "n", "failed"]
    bench.plot().savefig(tmp_path / "figure.png")
    published = bench.published_rows()
    assert all(row["status"] == "published" and row["source"] and 0 < row["value"] < 1 for row in published)


def write(path, content):
    """A file with a text, lines of JSON, or one value as JSON."""
    lines = content if isinstance(content, tuple) else [content]
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines), encoding="utf-8")
    return path


def qags(*answers):
    part = {"sentence": "It rained.", "responses": [{"worker_id": 0, "response": answer} for answer in answers]}
    return {"article": "It rained in Oslo.", "summary_sentences": [part]}


EDIT = {"id": "1", "doc": "It rained.", "summary": "It snowed.", "label": 0, "edit_types": ["antonym_swap"]}


def test_public_layouts_and_rows_of_yours_are_read(tmp_path):
    file = write(tmp_path / "mturk.jsonl", (qags("yes", "no", "yes"), qags("no", "yes", "no")))
    assert [sentence.supported for sentence in load_labelled(file, format="qags")] == [True, False]
    long = "It rained. " * 20_000  # longer than the csv module's own limit for a field
    with open(tmp_path / "aggre_fact_sota.csv", "w", newline="") as handle:
        table = csv.DictWriter(handle, ["dataset", "origin", "id", "doc", "summary", "model_name", "label", "cut"])
        table.writeheader()
        table.writerow({"doc": long, "summary": 'He said "rain",\nand left.', "label": 1})
    (labelled,) = load_labelled(tmp_path / "aggre_fact_sota.csv", format="aggrefact")
    assert labelled.supported and labelled.text == 'He said "rain",\nand left.' and labelled.article == long
    write(tmp_path / "summedits_news.json", [EDIT, EDIT | {"label": 1, "edit_types": []}])
    for where in (tmp_path, tmp_path / "summedits_news.json"):
        found = [(one.supported, one.kind) for one in load_labelled(where, format="summedits")]
        assert found == [(False, "antonym_swap"), (True, "")]
    lines = ({"article": "a", "sentence": "b", "label": said} for said in (True, "no", 1, "Supported", 0.0))
    file = write(tmp_path / "mine.jsonl", tuple(lines))
    assert [sentence.supported for sentence in load_labelled(file)] == [True, False, True, True, False]
    table = write(tmp_path / "mine.csv", "document,claim,supported,kind\nIt rained.,It snowed.,0,antonym\n")
    assert load_labelled(table) == [LabelledSentence("It rained.", "It snowed.", False, "antonym")]


def test_errors_name_the_file_and_the_line(tmp_path):
    for format, name, content, message in (
        ("rows", "m.jsonl", '{"article": "a", "sentence": "b", "label": 1}\n{"article"', "m.jsonl, line 2 is not JSON"),
        ("rows", "m.csv", "article,sentence,label\na,b\n", "m.csv, line 2: 2 values under 3"),
        ("qags", "q.jsonl", qags("yes", "perhaps"), "q.jsonl, line 1, sentence 1: .* not 'perhaps'"),
        ("summedits", "s.json", '[{"doc": "a"},\n oops]', "s.json cannot be read as JSON: .*line 2"),
        ("summedits", "s.json", [EDIT, {"doc": "a"}], "s.json, item 2: there is no field 'sentence'"),
    ):
        with pytest.raises(ValueError, match=message):
            load_labelled(write(tmp_path / name, content), format=format)


def test_from_the_shell(tmp_path):
    folder = knowing_classifier(tmp_path / "nli")
    right, wrong = {"sentence": "Anna bought a red car."}, {"sentence": "Ben sold a green boat."}
    labelled = (right | {"article": ARTICLE, "supported": True}, wrong | {"article": ARTICLE, "supported": False})
    mine, fresh, page = write(tmp_path / "mine.jsonl", labelled), tmp_path / "everyday.jsonl.gz", tmp_path / "page.html"
    fresh.write_bytes(everyday.packed(everyday.make(5)[fresh.name][:8]))
    run = lambda words: CliRunner().invoke(app, ["bench", *words.split()])
    for words, wanted, shown in (
        (f"--checker nli:{folder} --data rows:{mine}", {"auc": 1.0, "set": f"rows:{mine}"}, "false found"),
        ("--checker words --set everyday --limit 20", {"set": "everyday", "n": 20}, "false found"),
        (f"--checker words --data rows:{fresh} --reports", {"n": 8}, "false found"),
        ("--judge words --set pairs --limit 4", {"n": 4}, "kappa"),
    ):
        done = run(f"{words} --json --html {page}")
        assert done.exit_code == 0, done.output
        data = json.loads(done.stdout)
        assert data["rows"][0].items() >= wanted.items() and (data["kinds"] or "pairs" in words)
        assert shown in page.read_text(encoding="utf-8") and shown in run(words).output
    for words, said in (
        (f"--data {mine}x:y", "unknown format"),
        ("--judge words --set no", "unknown set"),
    ):
        done = run(words)
        assert done.exit_code == 2 and said in done.output, done.output
