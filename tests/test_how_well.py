"""How well the packaged checkers work: what is printed comes from the stored items, and reports begin with one line."""

import base64
import json
import os
import re
from collections import Counter
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from helpers.late import Late
from helpers.wrapping import Wrapped
from typer.testing import CliRunner

from summeval_nb import EmbeddedChecker, benchmark_checker, evaluate, sample_articles
from summeval_nb.cli import app
from summeval_nb.evidence import LabelledSentence, WordsChecker, base, compare_reports, load_checker
from summeval_nb.evidence.base import article_mark, how_well, measured_rows, seen_articles

pd = Late("pandas")

ROOT = Path(__file__).parents[1]
script = Late("how_well")
DATA = os.environ.get("SUMMEVAL_NB_DATA")


@cache
def items():
    return pd.read_csv(script.ITEMS, keep_default_na=False)


def test_every_figure_comes_from_the_stored_items_and_the_page_says_what_the_rows_say():
    found, stored = script.set_rows(items()), how_well()["rows"]
    assert len(found) == len(stored) == len(script.CHECKERS) * len(script.NAMES)
    for name, kept in how_well()["checkers"].items():
        checker = load_checker(name)
        assert (checker.fingerprint, checker.threshold) == (kept["fingerprint"], kept["threshold"])
    for new, old in zip(found, stored, strict=True):
        assert new.keys() == old.keys()
        for name, value in old.items():
            assert new[name] == (pytest.approx(value, abs=2e-4) if isinstance(value, float) else value), name
    assert script.page(items(), how_well()["rows"]) == script.PAGE.read_text(encoding="utf-8")


@pytest.mark.nightly
@pytest.mark.skipif(DATA is None, reason="needs the labelled sets: SUMMEVAL_NB_DATA")
def test_every_item_of_the_labelled_sets_is_there_and_every_article_known():
    from _labelled import SETS, documents

    articles, claims = documents(Path(DATA))
    human = [claim for claim in claims if claim.kind == "human"]
    found = {(claim.set, claim.text if claim.set == "qags_cnndm" else "", claim.summary) for claim in human}
    wanted = Counter(name for name, _, _ in found)
    stored = Counter(items()[items()["checker"] == "embedded"]["key"])
    for key, n in wanted.items():
        assert n - stored[key] <= 0.005 * n, f"{key}: {n} items, {stored[key]} stored"  # without a word: not judged
    for name in SETS:
        texts = {" ".join(article.sentences) for article in articles if article.set == name}
        assert seen_articles(texts, SETS).get(name, 0) > 0.99 * len(texts), name


def text_before(report, first):
    """What stands above the first sentence: in HTML, what is shown and not folded, without the style sheet."""
    html = re.sub(r"<style>.*?</style>", "", report._repr_html_(), flags=re.S)
    shown, text = unescape(re.sub(r"<[^>]+>", " ", html)), report.to_text()
    line = text.replace("\n", " ").index(first)
    return [shown[: shown.replace("\n", " ").index(first)], text[: text.rindex("\n", 0, line)]]


def test_a_report_begins_with_its_title_and_one_line():
    sample = sample_articles()[0]
    for name in ("faithful", "subtle"):
        result = evaluate(sample.text, sample.summaries[name].text)
        both, first = compare_reports([result, result], ["a", "b"]), result.sentences[0].text[:20]
        for text in text_before(result, first) + text_before(both, first):
            assert len(re.findall(r"[A-Za-z]+|\d[\d.,]*", text)) <= 40, text
            assert len(re.findall(r"\d[\d.]*", text)) <= 4, text  # with the sentence's own probability
            assert "%" not in text and "How well does it work?" in " ".join(text.split())


def test_the_table_is_folded_into_the_report_and_a_command():
    result = evaluate("It rained in Oslo on Monday.", "It rained in Oslo.")
    assert 'id="' in result._repr_html_() and "QAGS, CNN/DailyMail" in result._repr_html_()
    assert "QAGS" not in result.to_text() and "summeval how-well" in result.to_text()
    assert result.to_dict()["judged_by"].startswith("Judged by the embedded checker")
    shown = CliRunner().invoke(app, ["how-well"])
    assert shown.exit_code == 0 and "Near copies" in shown.output and "XSumFaith" in shown.output
    told = json.loads(CliRunner().invoke(app, ["how-well", "--checker", "words", "--json"]).output)
    assert {row["checker"] for row in told["rows"]} == {"words"} and len(told["rows"]) == len(script.NAMES)


def test_the_rows_are_those_of_the_checker_that_judged():
    fitted = EmbeddedChecker()
    named = {"checker": fitted.fingerprint, "threshold": str(fitted.threshold)}
    assert len(measured_rows(named)) == len(script.NAMES)
    assert len(measured_rows(named | {"checker": f"{fitted.fingerprint}-bfloat16"})) == len(script.NAMES)
    moved = EmbeddedChecker(slope=2.0).fingerprint
    for other in ({"threshold": "0.9"}, {"checker": moved}, {"checker": "embedded-000000000000"}, {"checker": "mine"}):
        assert not measured_rows(named | other), other
    assert not measured_rows({})


@pytest.fixture
def marked(monkeypatch):
    """A set that the embedded checker was fitted to, with an article of ours."""
    article = "The Harbour Council, which met on Tuesday, approved a plan for a new ferry terminal at Vik. " * 3
    told = {"The council approved a plan.": True, "It fell.": False}
    rows = [LabelledSentence(article, sentence, label) for sentence, label in told.items()]
    marks = {"xsumfaith": base64.b64encode(article_mark(article)).decode()}
    marked = how_well() | {"articles": marks}
    monkeypatch.setattr(base, "how_well", lambda: marked)
    return rows


def test_a_benchmark_marks_what_the_checker_was_fitted_to(marked):
    other = [LabelledSentence("It rained in Oslo.", "It rained.", True)]
    judges = {"mine": "embedded", "in chunks": Wrapped(WordsChecker())}
    bench = benchmark_checker(judges, {"bbc": marked, "other": other}, n_resamples=0)
    said = {(row["checker"], row["set"]): row["fitted_to"] for row in bench.rows()}
    assert said["mine", "bbc"] == said["in chunks", "bbc"] == "XSumFaith: 1 of 1 articles"
    assert said["mine", "other"] == said["in chunks", "other"] == ""
    left_out = [(row["checker"], row["set"]) for row in bench.left_out_rows()]
    assert left_out == [("mine", "XSumFaith (summaries)"), ("in chunks", "XSumFaith (summaries)")]
    assert len(bench.to_dict()["left_out"]) == 2
    for page in (repr(bench), bench._repr_html_()):
        assert "the figures above are no result" in page and "XSumFaith: 1 of 1 articles" in page


def test_what_a_report_says_in_words_is_what_the_kinds_say():
    """Four paraphrases in five, most changed numbers, and half the changed names; README says it, too."""
    kinds = {row["kind"]: row for row in script.kind_rows(items(), "embedded")}
    passed = {name: kinds[said]["supported"] / kinds[said]["sentences"] for name, said in script.KINDS.items()}
    assert 0.75 < passed["paraphrase"] < 0.85 and passed["number"] < 0.05 and 0.4 < passed["name"] < 0.6
    line = "recognises four paraphrases in five, most changed numbers, and half the changed names"
    assert line in EmbeddedChecker().judged_by
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert line in readme and "passes many errors that hide" in readme
    assert passed["kind"] > 0.25 and passed["role"] > 0.25
