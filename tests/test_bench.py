"""The checkers' benchmark: measures like scikit-learn's, articles as units, files of others, errors with a place."""

import csv
import json
from collections import Counter

import numpy as np
import pytest
from helpers.late import Late
from helpers.wrapping import Wrapped

from summeval_nb import LLMChecker, NLIChecker, ScriptedBackend, Verdict, benchmark_checker
from summeval_nb.agreement import load_labelled
from summeval_nb.core.resampling import Resampling
from summeval_nb.evidence import LabelledSentence, bench_sentences, guarantee_thresholds, nli_recipe
from summeval_nb.evidence.labelled import (
    FALSE_KINDS,
    MEASURES,
    RECIPES,
    TRUE_KINDS,
    checker_measures,
    measure_intervals,
)

pd = Late("pandas")
bert_classifier = Late("helpers.tiny_nli", "bert_classifier")
knowing_classifier = Late("helpers.tiny_nli", "knowing_classifier")

ARTICLE = "Anna bought a red car. Ben sold a blue boat. Maria lost a white horse."


class Said:
    """A checker that says what it was told of each sentence: a probability, None for a failure, or a verdict."""

    fingerprint, threshold = "said", 0.5

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def check_many(self, pairs, *, vectors=None):
        self.asked += pairs
        return [self.verdict(self.answers[sentence]) for _, sentence in pairs]

    def verdict(self, answer):
        if isinstance(answer, Verdict):
            return answer
        if answer is None:
            return Verdict(probability=None, failed=True, reason="no answer")
        return Verdict(probability=answer)


def items(*rows, article=ARTICLE):
    return [LabelledSentence(article, *row) for row in rows]


# The packaged set


def test_the_packaged_sentences_are_what_the_chapter_says():
    found = bench_sentences()
    by_article = Counter(sentence.article for sentence in found)
    assert len(found) == 128 and list(by_article.values()) == [16] * 8
    assert all(150 <= len(article.split()) <= 250 for article in by_article)
    assert len({sentence.text for sentence in found}) == 128
    kinds = Counter((sentence.supported, sentence.kind) for sentence in found)
    assert kinds == {(True, k): 32 for k in TRUE_KINDS} | {(False, k): 8 for k in FALSE_KINDS}


def test_a_sentence_is_judged_as_one():
    from summeval_nb.text.split import split_text

    assert all(split_text(sentence.text) == [sentence.text] for sentence in bench_sentences())


# The measures


@pytest.mark.parametrize("seed", range(8))
def test_measures_equal_scikit_learn(seed):
    from sklearn import metrics

    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 2, 60), rng.integers(0, 12, 60) / 11  # many ties
    s = p >= 0.5
    found = checker_measures(y, p, s)
    assert found["auc"] == pytest.approx(metrics.roc_auc_score(y, p), abs=1e-12)
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y, s), abs=1e-12)
    assert found["precision"] == pytest.approx(metrics.precision_score(y, s), abs=1e-12)
    assert found["true_passed"] == pytest.approx(metrics.recall_score(y, s), abs=1e-12)
    assert found["false_found"] == pytest.approx(metrics.recall_score(1 - y, 1 - s), abs=1e-12)


@pytest.mark.parametrize(
    "labels, supported, undefined",
    [
        ([1, 1], [1, 0], {"auc", "balanced_accuracy", "false_found"}),
        ([0, 0], [1, 0], {"auc", "balanced_accuracy", "true_passed"}),
        ([1, 0], [0, 0], {"precision"}),
    ],
)
def test_what_has_nothing_to_count_is_none(labels, supported, undefined):
    found = checker_measures(labels, [0.4, 0.6], supported)
    assert {name for name, value in found.items() if value is None} == undefined


def test_measures_want_one_of_each():
    for wrong in (([1], [0.5, 0.5], [1]), ([], [], [])):
        with pytest.raises(ValueError, match="one of each"):
            checker_measures(*wrong)


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
    assert measure_intervals(sides, group * 0, how) == [(None, None)] * len(MEASURES)
    assert measure_intervals(sides, group, Resampling(0)) == [(None, None)] * len(MEASURES)


# Putting a checker to work


def test_a_summary_has_the_minimum_or_mean_of_its_sentences():
    told = Said({"Anna bought a car.": 0.9, "Ben sold a house.": 0.2, "Maria lost a horse.": 0.6})
    rows = items(("Anna bought a car. Ben sold a house.", False), ("Maria lost a horse.", True))
    low = benchmark_checker(told, {"s": rows}, n_resamples=0)
    assert low.runs[0].probabilities == (0.2, 0.6) and [reply.said for reply in low.runs[0].replies] == [False, True]
    mean = benchmark_checker(told, {"s": rows}, combine="mean", n_resamples=0)
    assert mean.runs[0].probabilities == (pytest.approx(0.55), 0.6) and [
        reply.said for reply in mean.runs[0].replies
    ] == [False, True]
    assert str(low.signature) != str(mean.signature)
    assert told.asked[0][0] == ["Anna bought a red car.", "Ben sold a blue boat.", "Maria lost a white horse."]


def test_failures_are_left_out_counted_and_shown():
    told = Said({"A is.": 0.9, "B is.": None, "C is.": 0.1, "D is.": 0.8})
    rows = items(("A is.", True), ("B is. A is.", True), ("C is.", False), ("D is.", False))
    bench = benchmark_checker(told, {"s": rows}, n_resamples=0)
    row = bench.rows()[0]
    assert (row["n"], row["failed"], row["auc"], row["false_found"], row["true_passed"]) == (4, 1, 1.0, 0.5, 1.0)
    assert "no answer" in row["reason"] and "no answer" in repr(bench)
    assert [wrong["text"] for wrong in bench.wrong_rows()] == ["D is."]
    nothing = benchmark_checker(Said({"A is.": None}), {"s": items(("A is.", True))}).rows()[0]
    assert nothing["failed"] == 1 and all(nothing[name] is None for name in (*MEASURES, "calibration_error"))


def test_what_was_not_judged_is_left_out_like_a_failure():
    told = Said({"A is.": Verdict(probability=None, reason="not English"), "C is.": 0.1})
    row = benchmark_checker(told, {"s": items(("A is.", True), ("C is.", False))}, n_resamples=0).rows()[0]
    assert (row["failed"], row["declined"]) == (0, 1)
    assert row["true_passed"] is None and "not English" in row["reason"]


def test_an_unsupported_sentence_never_passes():
    class Unclear(Verdict):
        @property
        def supported(self):
            return None

    told = Said({"A is.": Unclear(probability=0.9), "C is.": 0.1})
    row = benchmark_checker(told, {"s": items(("A is.", True), ("C is.", False))}, n_resamples=0).rows()[0]
    assert row["true_passed"] == 0.0 and row["failed"] == 0 and row["auc"] == 1.0


@pytest.mark.nightly
def test_the_default_checker_on_the_packaged_set():
    bench = benchmark_checker(n_resamples=100)
    row = bench.rows()[0]
    assert (row["checker"], row["set"], row["n"], row["failed"]) == ("embedded", "package", 128, 0)
    assert row["auc_low"] <= row["auc"] <= row["auc_high"]
    kinds = bench.to_frame(kinds=True).set_index("kind")
    assert list(kinds.index) == [*TRUE_KINDS, *FALSE_KINDS] and kinds["n"].sum() == 128
    found = (kinds.loc[list(FALSE_KINDS), "right"] * kinds.loc[list(FALSE_KINDS), "n"]).sum() / 64
    assert found == pytest.approx(row["false_found"])
    assert len(bench.wrong_rows()) == round(128 * (1 - row["balanced_accuracy"]))


def test_an_nli_model_and_its_recipes(tmp_path):
    folder = knowing_classifier(tmp_path)
    rows = items(("Anna bought a red car.", True), ("Ben sold a blue boat.", True), ("Maria lost a white horse.", True))
    rows += items(("Ben sold a green boat.", False), ("Anna sold a red car.", False))
    bench = benchmark_checker({"nli": NLIChecker(folder)}, {"s": rows}, n_resamples=0)
    assert bench.rows()[0]["auc"] == 1.0
    three = bert_classifier(tmp_path / "three")
    for name in (name for name, recipe in RECIPES.items() if "labels" in recipe):
        checker = nli_recipe(name, three)
        assert benchmark_checker(checker, {"s": rows}, n_resamples=0).rows()[0]["failed"] == 0
        assert checker.places["entailment"] == RECIPES[name]["labels"]["entailment"]
    with pytest.raises(ValueError, match="unknown recipe 'bart'.*'summac-vitc'"):
        nli_recipe("bart", folder)


def test_a_language_model_knows_its_calls():
    backend = ScriptedBackend(lambda prompt: "yes" if "red" in prompt.split("<claim>")[1] else "no")
    rows = items(("Anna bought a red car.", True), ("Ben sold a green boat.", False))
    bench = benchmark_checker({"llm": LLMChecker(backend), "wrapped": Wrapped(LLMChecker(backend))}, {"s": rows})
    assert [row["calls"] for row in bench.rows()] == [2, 2]
    assert [row["balanced_accuracy"] for row in bench.rows()] == [1.0, 1.0]
    assert "calls" in bench.wide_rows()[0]
    plain = benchmark_checker(Said({"A is.": 0.9}), {"s": items(("A is.", True))})
    assert plain.rows()[0]["calls"] is None and "calls" not in plain.wide_rows()[0]


# What comes in


@pytest.mark.parametrize(
    "checker, sets, options, message",
    [
        ("embeded", "package", {}, "unknown checker 'embeded'"),
        (42, "package", {}, "int is no checker"),
        (Said({}), {}, {}, "sets must map names"),
        (Said({}), [], {}, "sets must map names"),
        (Said({}), {"s": []}, {}, "sets\\['s'\\] is empty"),
        (Said({}), {"s": "text"}, {}, "must be a list of LabelledSentence, or of rows .*, not str"),
        (Said({}), {"s": [("a", "b", True)]}, {}, "must be a LabelledSentence, not tuple"),
        (Said({}), {"s": [{"article": "a", "supported": 1}]}, {}, "sets\\['s'\\]\\[0\\]: there is no field 'sentence'"),
        (Said({}), {"s": [LabelledSentence("a", " ", True)]}, {}, "\\[0\\].text must be a text"),
        (Said({}), {"s": [LabelledSentence("a", "b", 1)]}, {}, "\\[0\\].supported must be True or False"),
        (Said({}), "package", {"combine": "max"}, "unknown combine 'max'"),
        (Said({}), "package", {"limit": 0}, "limit must be at least 1"),
        (Said({}), "package", {"confidence": 1}, "confidence must lie between 0 and 1"),
        (Said({}), "package", {"n_resamples": -1}, "n_resamples must be at least 0"),
    ],
)
def test_bad_input_is_named(checker, sets, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        benchmark_checker(checker, sets, **options)


def test_rows_and_tables_are_read_as_from_a_file():
    own = bench_sentences()[:20]
    rows = [
        {"article": sentence.article, "text": sentence.text, "supported": sentence.supported, "kind": sentence.kind}
        for sentence in own
    ]
    expected = benchmark_checker("words", {"s": own})
    for given in (rows, [sentence.to_dict() for sentence in own], pd.DataFrame(rows)):
        found = benchmark_checker("words", {"s": given})
        assert found.signature == expected.signature and found.to_dict()["kinds"] == expected.to_dict()["kinds"]
    some = pd.DataFrame(rows[:2]).assign(kind=[None, float("nan")], sentence=float("nan"))  # joined from two tables
    plain = [LabelledSentence(sentence.article, sentence.text, sentence.supported) for sentence in own[:2]]
    assert benchmark_checker("words", {"s": some}).signature == benchmark_checker("words", {"s": plain}).signature


def test_a_checker_that_answers_otherwise_is_named():
    class Short(Said):
        def check_many(self, pairs, *, vectors=None):
            return self.reply

    checker = Short({})
    for checker.reply in (None, [0.9, 0.1], [Verdict(probability=0.5)] * 3):
        with pytest.raises(TypeError, match="Short.check_many"):
            benchmark_checker(checker, {"s": items(("A is.", True), ("B is.", False))})


def test_a_limit_takes_whole_articles_in_an_order_drawn_by_lot():
    rows = [LabelledSentence(f"Article {i}.", f"Sentence {j}.", bool(j % 2)) for i in range(9) for j in range(4)]
    told = Said({f"Sentence {j}.": 0.2 + j / 10 for j in range(4)})
    taken = benchmark_checker(told, {"s": rows}, limit=8, n_resamples=0).runs[0].cases
    assert len(taken) == 8 and len({case.premise for case in taken}) == 2
    assert benchmark_checker(told, {"s": rows}, limit=99, n_resamples=0).rows()[0]["n"] == 36


def test_renders_escape_and_convert(tmp_path):
    rows = items(("<b>A</b> is $x$.", True, "<script>"), ("C is.", False, ""))
    told = Said({"<b>A</b> is $x$.": 0.9, "C is.": 0.1})
    bench = benchmark_checker({"<i>": told}, {"set $1$": rows})
    page = bench._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page and "<i>" not in page and "published" in page
    json.dumps(bench.to_dict(), allow_nan=False)
    assert list(bench.to_frame().columns)[:4] == ["checker", "set", "n", "failed"]
    bench.plot().savefig(tmp_path / "figure.png")
    assert all(
        row["status"] == "published" and row["source"] and 0 < row["value"] < 1 for row in bench.published_rows()
    )


# Files of others


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def qags(*answers):
    part = {"sentence": "It rained.", "responses": [{"worker_id": 0, "response": answer} for answer in answers]}
    return {"article": "It rained in Oslo.", "summary_sentences": [part]}


FRANK = {"hash": "h1", "model_name": "bart", "dataset": "cnndm", "Factuality": 0.5, "EntE": 0.5, "OutE": 1.0}
FRANK_TEXT = {
    "hash": "h1",
    "model_name": "bart",
    "article": "It rained.",
    "summary": "It snowed.",
    "reference": "Rain.",
}
EDIT = {"id": "1", "doc": "It rained.", "summary": "It snowed.", "label": 0, "edit_types": ["antonym_swap"]}
BEGIN = "model_name\tdata_source\tknowledge\tmessage\tresponse\tbegin_label\n"


def test_public_layouts_are_read(tmp_path):
    file = write(
        tmp_path / "mturk.jsonl", "\n".join(map(json.dumps, [qags("yes", "no", "yes"), qags("no", "yes", "no")]))
    )
    assert [sentence.supported for sentence in load_labelled(file, format="qags")] == [True, False]
    write(tmp_path / "human_annotations.json", [FRANK, FRANK | {"model_name": "pgn", "Factuality": 1.0, "EntE": 1.0}])
    write(tmp_path / "benchmark_data.json", [FRANK_TEXT | {"model_name": "pgn"}, FRANK_TEXT])
    for where in (tmp_path, tmp_path / "benchmark_data.json"):
        good, bad = load_labelled(where, format="frank")
        assert good.supported and good.kind == "" and not bad.supported and bad.kind == "EntE"
    long = "It rained. " * 20_000  # longer than the csv module's own limit for a field
    with open(tmp_path / "aggre_fact_sota.csv", "w", newline="") as handle:
        table = csv.DictWriter(handle, ["dataset", "origin", "id", "doc", "summary", "model_name", "label", "cut"])
        table.writeheader()
        table.writerow({"doc": long, "summary": 'He said "rain",\nand left.', "label": 1})
    (labelled,) = load_labelled(tmp_path / "aggre_fact_sota.csv", format="aggrefact")
    assert labelled.supported and labelled.text == 'He said "rain",\nand left.' and labelled.article == long
    write(tmp_path / "summedits_news.json", [EDIT, EDIT | {"label": 1, "edit_types": []}])
    for where in (tmp_path, tmp_path / "summedits_news.json"):
        assert [(o.supported, o.kind) for o in load_labelled(where, format="summedits")] == [
            (False, "antonym_swap"),
            (True, ""),
        ]
    body = 't5\twow\tthe "king"\thi\t"king" he is\tFully attributable\nt5\twow\tk\tm\tr\tGeneric\n'
    first, second = load_labelled(write(tmp_path / "begin.tsv", BEGIN + body), format="begin")
    assert first.supported and first.text == '"king" he is' and not second.supported and second.kind == "Generic"


def test_rows_of_yours_are_read(tmp_path):
    lines = [{"article": "a", "sentence": "b", "label": said} for said in (True, "no", 1, "Supported", 0.0)]
    file = write(tmp_path / "mine.jsonl", "\n".join(map(json.dumps, lines)))
    assert [sentence.supported for sentence in load_labelled(file)] == [True, False, True, True, False]
    table = write(tmp_path / "mine.csv", "document,claim,supported,kind\nIt rained.,It snowed.,0,antonym\n")
    assert load_labelled(table) == [LabelledSentence("It rained.", "It snowed.", False, "antonym")]


def test_labelled_sentences_go_into_calibrate_and_back(tmp_path):
    rows = items(("Anna bought a red car.", True, "close"), ("Ben sold a green boat.", False, "word"))
    told = Said({"Anna bought a red car.": 0.9, "Ben sold a green boat.": 0.1})
    assert guarantee_thresholds([row.to_dict() for row in rows], told).reason  # two sentences promise nothing
    file = write(tmp_path / "mine.jsonl", "\n".join(json.dumps(row.to_dict()) for row in rows))
    assert load_labelled(file) == rows


@pytest.mark.parametrize(
    "format, name, content, message",
    [
        ("rows", "m.jsonl", '{"article": "a", "sentence": "b", "label": 1}\n{"article"', "m.jsonl, line 2 is not JSON"),
        ("rows", "m.jsonl", '{"article": "a", "sentence": "b"}', "m.jsonl, line 1: there is no field 'supported'"),
        ("rows", "m.jsonl", '{"article": "a", "sentence": "b", "label": 2}', "m.jsonl, line 1: .* not 2"),
        ("rows", "m.jsonl", '{"article": "a", "sentence": "b", "label": null}', "m.jsonl, line 1: .* not None"),
        ("rows", "m.jsonl", '{"article": "", "sentence": "b", "label": 1}', "line 1: 'article' must be a text"),
        ("rows", "m.jsonl", "[1]", "m.jsonl, line 1 must be an object"),
        ("rows", "m.jsonl", "\n", "m.jsonl holds no labelled sentence"),
        ("rows", "m.csv", "article,sentence,label\na,b\n", "m.csv, line 2: 2 values under 3"),
        ("rows", "m.csv", 'article,sentence,label\na,"b,1\n', "m.csv: the row that begins in line 2"),
        ("rows", "m.txt", "a", "cannot tell the format of 'm.txt'"),
        ("qags", "q.jsonl", json.dumps(qags("yes", "perhaps")), "q.jsonl, line 1, sentence 1: .* not 'perhaps'"),
        ("qags", "q.jsonl", json.dumps(qags()), "q.jsonl, line 1, sentence 1: 'responses' must be a list"),
        ("summedits", "s.json", '[{"doc": "a"},\n oops]', "s.json cannot be read as JSON: .*line 2"),
        ("summedits", "s.json", "{}", "s.json must hold one JSON list"),
        ("summedits", "s.json", [EDIT, {"doc": "a"}], "s.json, item 2: there is no field 'sentence'"),
        ("begin", "b.tsv", BEGIN + "t5\twow\tk\n", "b.tsv, line 2: 3 values under 6"),
        ("begin", "b.tsv", BEGIN + "t5\twow\tk\tm\tr\tmaybe\n", "b.tsv, line 2: 'begin_label' must be one of"),
        ("begin", "b.tsv", "evidence\tresponse\nk\tr\n", "b.tsv, line 2: there is no field 'begin_label'"),
        (
            "begin",
            "b.tsv",
            "evidence\tresponse\tevidence\nk\tr\tk\n",
            "b.tsv, line 1, names a column twice, 'evidence'",
        ),
        (
            "aggrefact",
            "a.csv",
            "doc,label\na,1\n",
            "a.csv, line 2: there is no field 'sentence' or 'claim' or 'summary'",
        ),
    ],
)
def test_errors_name_the_file_and_the_line(tmp_path, format, name, content, message):
    with pytest.raises(ValueError, match=message):
        load_labelled(write(tmp_path / name, content), format=format)


def test_an_unreadable_column_is_named_when_needed(tmp_path):
    rows = pd.DataFrame({"article": ["It rained."], "sentence": [b"It rained."], "label": [1], "page": [b"GIF8"]})
    rows.to_parquet(tmp_path / "m.parquet")
    with pytest.raises(ValueError, match="row 1 .the column 'sentence' cannot be read: bytes is neither"):
        load_labelled(tmp_path / "m.parquet")
    rows.assign(sentence="It rained.").to_parquet(tmp_path / "m.parquet")
    assert [sentence.text for sentence in load_labelled(tmp_path / "m.parquet")] == ["It rained."]


def test_frank_needs_both_of_its_files_and_every_judgement(tmp_path):
    data = write(tmp_path / "benchmark_data.json", [FRANK_TEXT | {"model_name": "s2s"}])
    with pytest.raises(FileNotFoundError, match="human_annotations.json"):
        load_labelled(data, format="frank")
    write(tmp_path / "human_annotations.json", [FRANK])
    with pytest.raises(ValueError, match="benchmark_data.json, item 1: .* h1 by 's2s'"):
        load_labelled(data, format="frank")
    write(tmp_path / "human_annotations.json", [FRANK | {"Factuality": "good"}])
    write(data, [FRANK_TEXT])
    with pytest.raises(ValueError, match="human_annotations.json, item 1: 'Factuality' must be a number"):
        load_labelled(data, format="frank")


def test_files_that_are_not_there_or_not_text(tmp_path):
    with pytest.raises(FileNotFoundError, match="no.jsonl"):
        load_labelled(tmp_path / "no.jsonl")
    with pytest.raises(ValueError, match="unknown format 'qag'"):
        load_labelled(tmp_path, format="qag")
    with pytest.raises(ValueError, match="holds no file summedits"):
        load_labelled(tmp_path, format="summedits")
    (tmp_path / "s.json").write_bytes(b'["\xff"]')
    (tmp_path / "b.tsv").write_bytes(BEGIN.encode() + b"\xff\n")
    for name, format in (("s.json", "summedits"), ("b.tsv", "begin")):
        with pytest.raises(ValueError, match=name):
            load_labelled(tmp_path / name, format=format)


def test_real_sets(data_folder):
    found = load_labelled(data_folder / "qags_cnndm.jsonl.gz", format="qags")
    assert len({sentence.article for sentence in found}) == 235 and len(found) == 714
    assert np.mean([sentence.supported for sentence in found]) == pytest.approx(0.744, abs=0.05)


# The shell


def test_from_the_shell(tmp_path):
    from typer.testing import CliRunner

    from summeval_nb.cli import app

    run = CliRunner().invoke
    folder = knowing_classifier(tmp_path / "nli")
    rows = [{"article": ARTICLE, "sentence": text, "supported": true} for text, true in
            (("Anna bought a red car.", True), ("Ben sold a green boat.", False))]  # fmt: skip
    mine = write(tmp_path / "mine.jsonl", "\n".join(map(json.dumps, rows)))
    page = tmp_path / "page.html"
    done = run(
        app, ["checker-bench", "--checker", f"nli:{folder}", "--data", f"rows:{mine}", "--json", "--html", str(page)]
    )
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["rows"][0]["auc"] == 1.0 and data["rows"][0]["set"] == f"rows:{mine}" and page.exists()
    for wrong, said in (
        (["--data", str(mine) + "x:y"], "unknown format"),
        (["--data", "mine"], "FORMAT:FILE"),
        (["--data", f"rows:{tmp_path / 'no.csv'}"], "there is no file"),
        (["--data", f"rows:{mine}", "--html", str(mine)], "would overwrite"),
        (["--checker", "bert"], "unknown checker"),
    ):
        done = run(app, ["checker-bench", *wrong])
        assert done.exit_code == 2 and said in done.output, done.output
