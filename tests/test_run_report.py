"""Reports of runs: what may be compared, and what a page may hold."""

import html
import json
import re
import warnings
from functools import partial

import numpy as np
import pytest

from summeval_nb import EmbeddedChecker, ScriptedBackend, corpus_bleu
from summeval_nb.core.html import style_sheet
from summeval_nb.core.results import Score, Verdict
from summeval_nb.evidence import model_checkers
from summeval_nb.evidence.faithfulness import evaluate, evaluate_many, faithfulness_from_dict
from summeval_nb.evidence.model_checkers import load_checker
from summeval_nb.runs.report import RunReport, compare_runs, distribution, gather, item_html, pair_runs, usage_rows
from summeval_nb.runs.running import Job, run

quiet = partial(run, progress=False, workers=0)
ROWS = [{"id": i, "candidate": f"the cat sat {i}", "references": f"the cat sat {i // 2}"} for i in range(12)]


def better(rows):
    return [{**row, "candidate": row["references"]} for row in rows]


def words(row):
    return len(row["candidate"].split())


def paired(folder, *names):
    return pair_runs(*(RunReport.load(folder / name) for name in names))


BARE = [{name: row[name] for name in ("candidate", "references")} for row in ROWS]
OTHER = [{**row, "references": f"a dog ran {row['id']}"} for row in ROWS]
NO_PAIRS = {
    "other metrics": ((ROWS, "rouge"), (ROWS, "bleu"), "different metrics, rouge and bleu"),
    "other corpora": ((ROWS, "bleu"), (OTHER, "bleu"), "share ids, but each stands for another item"),
    "no ids": ((BARE, "bleu"), (BARE[::-1], "bleu"), "no usable ids and different inputs"),
}


@pytest.mark.parametrize(("one", "two", "why"), NO_PAIRS.values(), ids=NO_PAIRS)
def test_what_is_no_pair_is_not_compared(one, two, why, tmp_path):
    quiet(*one, out=tmp_path / "one")
    report = quiet(*two, out=tmp_path / "two")
    with pytest.raises(ValueError, match=why):
        report.to_html(tmp_path / "page.html", other=tmp_path / "one")
    assert not (tmp_path / "page.html").exists()


def test_two_systems_on_one_corpus_are_compared(tmp_path):
    quiet(ROWS, "bleu", out=tmp_path / "one")
    report = quiet(better(ROWS), "bleu", out=tmp_path / "two")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = report.to_html(tmp_path / "page.html", other=tmp_path / "one").read_text()
    assert "two scores higher than one" in page
    quiet(BARE, "bleu", out=tmp_path / "bare")
    quiet(better(BARE), "bleu", out=tmp_path / "better")
    assert len(paired(tmp_path, "bare", "better")["a"]) == 12, "without ids the content decides"


def test_what_must_be_said_with_a_comparison_is_said(tmp_path):
    mixed = better(ROWS[:8]) + [{**row, "references": "something else"} for row in ROWS[8:]]
    quiet(ROWS, "bleu", out=tmp_path / "one", options={"n": 2})
    report = quiet(mixed, "bleu", out=tmp_path / "two", options={"n": 2})
    found = paired(tmp_path, "one", "two")
    assert len(found["a"]) == 8 and found["notes"][0].startswith("4 items have the same id in both runs and another")
    page = report.to_html(tmp_path / "page.html", other=tmp_path / "one").read_text()
    assert "4 items have the same id" in page
    quiet(ROWS, "bleu", out=tmp_path / "three", options={"n": 1})
    said = "The runs have other settings: options.n (2 in the one, 1 in the other)."
    assert paired(tmp_path, "one", "three")["notes"] == (said,)


@pytest.mark.filterwarnings("ignore:this run cannot be continued")
def test_a_metric_of_ones_own_is_compared_with_a_warning(tmp_path):
    for name, rows in (("one", ROWS), ("two", better(ROWS)), ("three", ROWS)):
        quiet(rows, words, out=tmp_path / name)
    assert "for you to know" in paired(tmp_path, "one", "two")["notes"][0]
    assert paired(tmp_path, "one", "three")["notes"] == ()


def judged_row(**changed):
    """A row of a run over one pair, as `run` writes it; the parts may be changed."""
    result = evaluate("It opened in 1931. It is 1,149 metres long.", "It is 5000 metres long.")
    parts = {k: v for k, v in result.to_dict().items() if k not in ("score", "reason", "signature", "similarity")}
    row = {"id": "a", "item": 0, "score": result.score, "reason": "", "signature": str(result.signature)}
    return row | {"parts": json.loads(json.dumps(parts)) | changed}, result


def test_an_item_of_a_run_is_drawn_by_the_report_of_its_metric(tmp_path):
    row, result = judged_row()
    assert result._repr_html_().split("<section")[1] in item_html(row | {"score": result.score})
    pair = {"text": result.source, "summary": result.summary}
    report = quiet([pair], "faithfulness", out=tmp_path / "run")
    rebuilt = faithfulness_from_dict({**(line := next(report.rows()))["parts"], **line})
    assert rebuilt._repr_html_() == result._repr_html_() and np.isnan(rebuilt.similarity).all()
    page = report.to_html(tmp_path / "page.html").read_text()
    assert item_html(line).replace(style_sheet(), "") in page and page.count(style_sheet()) == 1


def test_what_a_row_holds_is_neither_style_nor_markup_and_no_other_evidence():
    for kind in ("background:number", "red;position:fixed;inset:0", '"><script>', "number"):
        row, _ = judged_row()
        row["parts"]["verdicts"][0]["findings"] = [{"kind": kind, "text": "5000", "start": 6, "end": 10, "clash": True}]
        page = item_html(row)
        styles = re.findall(r' style="([^"]*)"', page)
        assert styles and not any("fixed" in style or "number" in style for style in styles), kind
        assert ">5000</span>" in page and "<script>" not in page
    row["parts"]["verdicts"][0]["evidence"][0]["index"] = -1
    assert 'aria-label="Evidence report"' not in item_html(row), "evidence outside the article"
    for sentences in ([1, 2], "text", [{"text": "a"}], [{"text": "a", "probability": 9}], None):
        page = item_html({"id": "a", "item": 0, "score": 0.5, "parts": {"sentences": sentences}})
        assert "sentences" in page and 'aria-label="Evidence report"' not in page


def test_the_worst_item_of_a_page_is_open_and_the_others_folded(tmp_path):
    page = quiet(ROWS, "bleu", out=tmp_path).to_html(tmp_path / "page.html", worst=8).read_text()
    assert len(re.findall(r'<details class="se-fold"( open)?[^>]*><summary[^>]*>\d+: \d', page)) == 8
    assert page.count('<details class="se-fold" open') == 1


def test_a_distribution_has_ten_bins_over_what_the_scores_need():
    for scores, first, last in (
        ([], "0 to 0.1", "0.9 to 1"),
        ([0.2, 1.0], "0 to 0.1", "0.9 to 1"),
        ([3.0, 40.0], "0 to 10", "90 to 100"),
        ([-2.0, 2.0], "-2 to -1.6", "1.6 to 2"),
        ([150.0, 250.0], "0 to 25", "225 to 250"),
    ):
        rows = distribution({"a": np.array([*scores, np.nan])})
        assert (len(rows), rows[0]["range of scores"], rows[-1]["range of scores"]) == (10, first, last)
        assert sum(row["a"] for row in rows) == len(scores)
    rows = distribution({"one": np.array([0.11, 0.51]), "two": np.array([0.12, 0.13])})
    found = [(row["one"], row["two"], len(row["▇ two"])) for row in rows]
    assert found[1] == (1, 2, 30) and found[5] == (1, 0, 0) and found[0] == (0, 0, 0)


def test_a_ledger_for_people_has_a_total():
    rows = usage_rows({"refusals": {"questions": 40, "from_store": 30}, "entailment": {"calls": 20, "seconds": 12.54}})
    assert [row["stage"] for row in rows] == ["refusals", "entailment", "total"]
    assert (rows[-1]["questions"], rows[-1]["from_store"], rows[-1]["calls"], rows[-1]["seconds"]) == (40, 30, 20, 12.5)


def test_the_worst_rows_are_kept_in_order_with_first_places():
    scores = [0.5, None, 0.1, 0.5, 0.9]
    rows = [
        {"item": i, "id": None, "score": s, "status": "ok", "reason": "at 1: 7 words", "signature": ""}
        for i, s in enumerate(scores)
    ]
    found = gather(iter(rows), worst=2)
    assert [row["item"] for row in found.worst] == [2, 0]
    assert found.reasons == [{"status": "ok", "reason": "· words", "items": 1}]


PAIRS = [
    {"id": "a", "text": "It opened in 1931. It is 1,149 metres long.", "summary": "It is 5000 metres long."},
    {"id": "b", "text": "It rained in Oslo.", "summary": None},
    {"id": 7, "text": "It rained in Oslo. ???", "summary": "It rained in Oslo."},
    {"id": "d", "text": "It rained in Oslo.", "summary": ""},
]


def test_a_row_gives_its_result_back(tmp_path):
    report = quiet(PAIRS, "faithfulness", out=tmp_path)
    texts, summaries = ([PAIRS[item][name] for item in (0, 2, 3)] for name in ("text", "summary"))
    told = dict(zip((0, 2, 3), evaluate_many(texts, summaries), strict=True))
    for item, row in ((0, 0), (2, 2), (3, 3), (-4, 0), (np.int64(-2), 2)):
        wanted, found = told[row].to_dict(), report.result(item)
        unknown = np.full(found.similarity.shape, None).tolist()
        assert found.to_dict() == json.loads(json.dumps(wanted)) | {"similarity": unknown}
        assert report.result(id=PAIRS[row]["id"]).to_dict() == found.to_dict()
    assert report.result(0)._repr_html_() == told[0]._repr_html_()
    assert all(row["parts"]["schema"] == 2 for row in report.rows() if row["parts"])


class Silent:
    fingerprint, threshold = "silent", 0.5

    def check_many(self, pairs):
        return [Verdict(probability=None, failed=True, reason="no answer") for _ in pairs]


def test_a_failed_result_comes_back_with_its_own_reason(tmp_path):
    report = quiet(PAIRS[:1], "faithfulness", out=tmp_path, options={"checker": Silent()})
    assert next(report.rows())["reason"].startswith("at 1: the checker failed on all 1 sentences")
    found = report.result(0)
    assert found.n_failed == 1 and found.reason == "the checker failed on all 1 sentences; the first: no answer"


def test_a_row_that_gives_no_result_says_why(tmp_path):
    report = quiet(PAIRS, "faithfulness", out=tmp_path / "run")
    for wanted in ({"item": 4}, {"item": -5}, {"id": "z"}):
        said = f"there is no row {wanted.get('item', 'of the id .z.')} in this run, whose rows are 0 to 3"
        with pytest.raises(LookupError, match=said):
            report.result(**wanted)
    with pytest.raises(ValueError, match="item 1 has no result, undefined: summary is missing in this row"):
        report.result(1)
    for given in ({"item": "a"}, {"item": 1.0}, {"item": True}, {}, {"item": 0, "id": "a"}):
        with pytest.raises(TypeError, match="say which row: by its whole number"):
            report.result(**given)


REFERENCE = {"candidate": "the cat sat down", "references": ["the cat sat", "a dog"]}
ARTICLE = {"text": "It rained in Oslo.", "summary": "It rained."}
QUESTION = {"question": "Where did it rain?", "answer": "It rained in Oslo.", "contexts": ["It rained in Oslo."]}
QUESTION |= {"contexts": "It rained in Oslo.", "ground_truth": "It rained in Oslo."}
GRADED = {"judge": ScriptedBackend(lambda prompt: "4", name="four"), "quality": "coherence"}
OF_EACH = {
    **{name: (REFERENCE, {}) for name in ("length", "bleu", "rouge", "rouge1", "chrf", "ter", "bertscore")},
    "meteor": (REFERENCE, {"synonyms": None}),
    "embedding": (REFERENCE, {}),
    "faithfulness": (ARTICLE, {}),
    "answers": (QUESTION, {"judge": "words"}),
    "context_recall": (QUESTION, {"judge": "words"}),
    "answer_faithfulness": (QUESTION, {"judge": "words"}),
    "summary_score": ({"contexts": ARTICLE["text"], "summary": ARTICLE["summary"]}, {"judge": "words"}),
    "rating": (ARTICLE, GRADED),
}


@pytest.mark.parametrize("metric", OF_EACH)
def test_every_metric_gives_a_result_back(metric, tmp_path):
    row, options = OF_EACH[metric]
    report = quiet([row | {"id": "a"}], metric, out=tmp_path, options=options)
    (written,) = report.rows()
    found = report.result(0)
    assert isinstance(found, Score) and (type(found).__name__ == "Faithfulness") is (metric == "faithfulness")
    assert (found.score, str(found.signature)) == (written["score"], written["signature"])
    told = found.to_dict()
    assert {name: told[name] for name in written["parts"]} == written["parts"] and found.rows()
    assert report.result(id="a").to_dict().keys() == told.keys() and "<" in found._repr_html_()


def another_version(monkeypatch, name="embedded"):
    """The package's checker, as another version of the package has it."""
    other = type(load_checker(name))()
    other.fingerprint = f"{name}-000000000000"
    known = {name: other}
    monkeypatch.setattr(model_checkers, "packaged_checker", lambda asked: known.get(asked) or load_checker(asked))
    return other.fingerprint


def test_a_run_says_which_checker_judged_it(tmp_path):
    now = load_checker("embedded").fingerprint
    report = quiet(PAIRS[:1], "faithfulness", out=tmp_path / "run")
    assert f"|checker:{now}|" in next(report.rows())["signature"]
    assert report.info["settings"]["fingerprints"] == {"checker": now}
    assert now in report.to_html(tmp_path / "page.html").read_text()
    assert Job("answers").settings()["fingerprints"] == {"judge": now}
    for job in (Job("bleu"), Job("answers", {"judge": "llm:name@http://host/v1"})):
        assert "fingerprints" not in job.settings()


def test_a_run_is_not_continued_by_another_checker_version(tmp_path, monkeypatch):
    now, other = load_checker("embedded").fingerprint, "embedded-000000000000"
    said = rf"fingerprints\.checker \('{now}' before, '{other}' now\).*resume=False"
    for name, named in (("default", {}), ("named", {"checker": "embedded"})):
        again = partial(quiet, PAIRS[:1], "faithfulness", out=tmp_path / name, options=named)
        again()
        with monkeypatch.context() as changed:
            another_version(changed)
            with pytest.raises(ValueError, match=said):
                again()
            assert f"|checker:{other}|" in next((report := again(resume=False)).rows())["signature"]
    quiet(PAIRS[:1], "faithfulness", out=tmp_path / "old")
    said = f"fingerprints.checker ('{now}' in the one, '{other}' in the other)"
    page = report.to_html(tmp_path / "page.html", other=tmp_path / "old").read_text()
    assert said in html.unescape(page) and said in report.to_markdown(other=tmp_path / "old").replace("\\", "")
    first, second = EmbeddedChecker(), EmbeddedChecker(slope=1.0001)  # another calibration
    assert first.fingerprint != second.fingerprint
    quiet(PAIRS[:1], "faithfulness", out=tmp_path / "own", options={"checker": first})
    with pytest.raises(ValueError, match=f"{first.fingerprint}.*before, .*{second.fingerprint}.* now"):
        quiet(PAIRS[:1], "faithfulness", out=tmp_path / "own", options={"checker": second})


def worse(rows):
    return [{**row, "candidate": f"{row['candidate']} and more"} for row in rows]


def test_runs_are_compared_by_folder_report_or_scores(tmp_path):
    earlier, later = (quiet(rows, "bleu", out=tmp_path / name) for name, rows in (("one", better(ROWS)), ("two", ROWS)))
    found = compare_runs(earlier, later)
    found_pairs = paired(tmp_path, "one", "two")
    bare = compare_runs(found_pairs["a"], found_pairs["b"])
    assert (found.low, found.high, found.p_value, found.n) == (bare.low, bare.high, bare.p_value, 12)
    assert found.names == ("one", "two") and found.better == "higher" and bare.better == "neither"
    assert compare_runs(str(tmp_path / "one"), tmp_path / "two").to_dict() == found.to_dict()
    json.dumps(found.to_dict(), allow_nan=False)
    whole = corpus_bleu(["a cat"], ["a cat"])
    with pytest.raises(TypeError, match="compare_systems"):
        compare_runs(whole, whole)
    with pytest.raises(TypeError, match="not one of each"):
        compare_runs(earlier, found_pairs["b"])


def test_rows_of_one_run_only_and_without_a_score_are_counted(tmp_path):
    lost = [{**row, "candidate": None} if row["id"] == 5 else row for row in worse(ROWS[:10])]
    quiet(ROWS[1:], "bleu", out=tmp_path / "one")
    quiet(lost, "bleu", out=tmp_path / "two")
    found = compare_runs(tmp_path / "one", tmp_path / "two")
    assert (found.n, found.left_out, found.alone) == (8, 1, 3)
    assert "1 common items have no score in one of them. 3 items are in one run only." in str(found)


def test_a_regression_lies_wholly_on_the_worse_side():
    table = [(-0.1, "higher", 0, True), (-0.1, "higher", 0.2, False), (-0.1, "lower", 0, False)]
    table += [(0.1, "lower", 0, True), (0.1, "lower", 0.2, False), (0.1, "higher", 0, False), (0.0, "higher", 0, False)]
    for difference, better, margin, regression in table:
        rng = np.random.default_rng(0)
        a = rng.random(30)
        for noise in (rng.normal(0, 0.01, 30) * bool(difference), 0):  # all alike: no interval, and still no doubt
            found = compare_runs(a, a + difference + noise, better=better)
            assert found.is_regression(margin) is regression, (difference, better, margin)
            assert ("no difference between" not in found.sentence()) == (found.p_value <= 0.05)


def test_interval_and_p_value_of_runs_never_contradict_each_other():
    for seed in range(6):
        for size in (6, 20, 2500):
            rng = np.random.default_rng(seed)
            a = rng.random(size)
            found = compare_runs(a, a + rng.normal(0.4 / size**0.5, 1 / 4, size))
            assert (found.p_value > 0.05) == (found.low <= 0 <= found.high), (seed, size)


def test_too_few_items_are_no_gate():
    few = compare_runs(np.ones(5), np.zeros(5), better="higher")
    assert compare_runs(np.ones(5), np.ones(5)).low is None and compare_runs(np.ones(6), np.ones(6)).low is None
    assert few.low is None and "no difference between A and B is shown" in str(few) and "too few items" in str(few)
    with pytest.raises(ValueError, match="5 common items, too few items for a 95 % interval"):
        few.is_regression()
    assert compare_runs(np.ones(6), np.zeros(6), better="higher").is_regression()
    with pytest.raises(ValueError, match="which scores are better"):
        compare_runs(np.ones(6), np.zeros(6)).is_regression()
    for margin in (-1, float("nan"), True):
        with pytest.raises(ValueError, match="margin"):
            compare_runs(np.ones(6), np.zeros(6), better="higher").is_regression(margin)


def test_a_run_as_markdown_holds_its_tables_and_no_markup(tmp_path):
    hostile = {**PAIRS[0], "id": "[x](http://evil.example) | <b>"}
    report = quiet([hostile, PAIRS[1]], "faithfulness", out=tmp_path / "run")
    text = report.to_markdown()
    assert text.startswith("## Run run") and "### Items without a score" in text and "| sentence | verdict |" in text
    assert "[x]" not in text.replace("\\[", "") and "<b>" not in text and "http://" not in text
    compared = quiet(ROWS, "bleu", out=tmp_path / "two").to_markdown(
        other=quiet(better(ROWS), "bleu", out=tmp_path / "one")
    )
    assert "### two against one" in compared and "two scores lower than one" in compared
