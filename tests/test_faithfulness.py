"""The pipeline as a whole: one by one and in bulk, with a store, and how a result is shown and comes back."""

import itertools
import json
import re
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.late import Late
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb import Verdict, evaluate, evaluate_many
from summeval_nb.core.data import sample_articles
from summeval_nb.core.html import Entry, Report, evidence_text
from summeval_nb.core.results import Evidence, Finding, Sentence, Signature
from summeval_nb.evidence import compare_reports, faithfulness, faithfulness_from_dict
from summeval_nb.evidence.faithfulness import Faithfulness
from summeval_nb.evidence.load import load_checker
from summeval_nb.evidence.share import why_none_judged
from summeval_nb.models.store import Store, content_key
from summeval_nb.text.embed import load_embedder

jsonschema = Late("jsonschema")
ROOT = Path(__file__).parents[1]
PAIRS = [(article.text, summary.text) for article in sample_articles() for summary in article.summaries.values()]


class CountingEmbedder:
    """Real vectors, and a count of how often each sentence was asked for."""

    def __init__(self):
        self.inner, self.asked = load_embedder("minilm"), Counter()
        self.fingerprint = "counting:" + self.inner.fingerprint

    def encode(self, sentences):
        self.asked.update(sentences)
        return self.inner.encode(sentences)


class NumberChecker:
    """Supports a sentence when all its digits stand in the evidence; fails on sentences that hold "fail"."""

    fingerprint, threshold = "numbers:1", 0.5

    def __init__(self):
        self.asked = []

    def check_many(self, pairs, *, vectors=None):
        self.asked.extend(pairs)
        return [self.check(*pair) for pair in pairs]

    def check(self, evidence, claim):
        if "fail" in claim:
            return Verdict(probability=None, failed=True, reason="told to fail")
        held = " ".join(evidence).split()
        return Verdict(probability=float(all(word in held for word in claim.split() if word.isdigit())))


@pytest.mark.nightly
def test_in_bulk_is_one_by_one():
    bulk = evaluate_many(*map(list, zip(*PAIRS, strict=True)))
    for (text, summary), many in zip(PAIRS, bulk, strict=True):
        alone = evaluate(text, summary)
        assert alone.score == many.score
        assert [[e.index for e in v.evidence] for v in alone.verdicts] == [
            [e.index for e in v.evidence] for v in many.verdicts
        ]
        np.testing.assert_allclose(alone.similarity, many.similarity, atol=1e-5)
        for a, b in zip(alone.verdicts, many.verdicts, strict=True):
            assert a.probability == pytest.approx(b.probability, abs=1e-4)
            assert a.findings == b.findings


def test_faithful_summaries_score_above_wrong_ones():
    """The one subtle summary that passes names a player from elsewhere in the article: the evidence holds the name."""
    above = {}
    for article in sample_articles():
        results = {kind: evaluate(article.text, summary.text) for kind, summary in article.summaries.items()}
        assert results["faithful"].mean_probability > results["wrong"].mean_probability
        above[article.name] = results["faithful"].mean_probability > results["subtle"].mean_probability
    assert above == {"bridge": True, "clinic": True, "glacier": True, "chess": False}


def test_repeated_sentences_are_embedded_once():
    article = sample_articles()[0]
    embedder = CountingEmbedder()
    evaluate_many([article.text] * 3, [article.faithful.text] * 2 + [article.wrong.text], embedder=embedder)
    assert set(embedder.asked.values()) == {1}


def test_every_number_leads_to_sentences():
    for text, summary in PAIRS[:3]:
        result = evaluate(text, summary, 2)
        assert result.similarity.shape == (len(result.sentences), len(result.source_sentences))
        for sentence in result.sentences:
            assert summary[sentence.start : sentence.end] == sentence.text
        for row, verdict in enumerate(result.verdicts):
            best = np.argsort(-result.similarity[row], kind="stable")[:2]
            assert [e.index for e in verdict.evidence] == best.tolist()
            assert [e.similarity for e in verdict.evidence] == result.similarity[row, best].tolist()
            for finding in verdict.findings:
                assert summary[finding.start : finding.end] == finding.text
        supported = [v.supported for v in result.verdicts]
        assert result.score == sum(supported) / len(supported)
        assert result.mean_probability == pytest.approx(np.mean([v.probability for v in result.verdicts]))


class Answers:
    """A checker that hands back whatever it was told to, by a `check_many` that knows no vectors."""

    fingerprint, threshold = "answers:1", 0.5

    def __init__(self, answer):
        self.answer = answer

    def check_many(self, pairs):
        return self.answer(pairs)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda pairs: [0.0 for _ in pairs], TypeError, "one Verdict per pair: got float"),
        (lambda pairs: [Verdict(probability=1.0), None], TypeError, "one Verdict per pair: got NoneType"),
        (lambda pairs: None, TypeError, "one Verdict per pair: got NoneType, not a list"),
        (lambda pairs: [Verdict(probability=1.0)], ValueError, "one Verdict per pair: got 1 for 2 pairs"),
        (lambda pairs: [Verdict(probability=1.0)] * 3, ValueError, "one Verdict per pair: got 3 for 2 pairs"),
    ],
)
def test_a_checker_that_returns_no_verdicts_is_told_so(answer, error, message):
    with pytest.raises(error, match=f"check_many of Answers must return {message}"):
        evaluate("It rained. It snowed.", "It rained. It snowed.", checker=Answers(answer))


def test_a_checker_may_leave_out_vectors_and_give_any_iterable():
    checker = Answers(lambda pairs: (Verdict(probability=0.8) for _ in pairs))
    assert evaluate("It rained. It snowed.", "It rained. It snowed.", checker=checker).score == 1


def test_the_threshold_in_the_signature_decides(tmp_path):
    """A verdict that names no threshold says 0.5; a checker that is stricter must not become kinder by that."""
    checker = Answers(lambda pairs: [Verdict(probability=0.8) for _ in pairs])
    checker.threshold = 0.9
    runs = [evaluate("It rained.", "It rained.", checker=checker, store=tmp_path / "s.sqlite") for _ in range(2)]
    assert [run.score for run in runs] == [0, 0]
    assert "threshold:0.9" in str(runs[0].signature)


def test_the_answers_printed_in_the_first_lesson():
    lesson = json.loads((ROOT / "nbs/1_start/11_first_report.ipynb").read_text(encoding="utf-8"))
    printed = next(source for cell in lesson["cells"] if "<details>" in (source := "".join(cell["source"])))
    bridge, chess = sample_articles()[0], sample_articles()[3]

    marked = evaluate(chess.text, chess.subtle.text).verdicts[0]
    assert chess.subtle.supported == (False, True, True) and marked.state == "unclear" and marked.probability > 0.5
    assert [(finding.kind, finding.text) for finding in marked.findings if finding.clash] == [("name", "Piet Aalders")]

    single = evaluate(bridge.text, bridge.subtle.text, k=1)
    assert [verdict.state for verdict in single.verdicts[1:]] == ["contradicted", "supported"]
    assert single.source_sentences[single.verdicts[1].evidence[0].index].text in printed

    for score in (1, 0):
        (summary,) = re.findall(f'Scores {score}: "([^"]+)"', printed)
        by_words, by_default = (evaluate(bridge.text, summary, checker=name) for name in ("words", "embedded"))
        assert (by_words.score, len(by_words.sentences)) == (score, 3)
        supported = [verdict for verdict in by_default.verdicts if verdict.supported]
        if score == 1:
            assert not supported and all(any(f.clash for f in verdict.findings) for verdict in by_default.verdicts)
        else:
            assert len(supported) == 3


def test_failures_are_excluded_counted_and_shown():
    text = "It opened in 1931. It is 500 metres long."
    result = evaluate(text, "It opened in 1931. This one will fail. It cost 77 francs.", checker=NumberChecker())
    assert result.score == 0.5 and result.n_failed == 1
    assert [v.supported for v in result.verdicts] == [True, None, False]
    assert "told to fail" in result._repr_html_() and "told to fail" in result.to_text()
    assert result.to_frame()["failed"].tolist() == [False, True, False]
    nothing = evaluate(text, "All fail. Both fail.", checker=NumberChecker())
    assert nothing.score is None and "failed on all 2 sentences" in nothing.reason


def test_a_second_run_asks_nothing_and_mends_failures(tmp_path):
    text, path = "It opened in 1931. It is 500 metres long.", tmp_path / "store.sqlite"
    summaries = ["It opened in 1931. This will fail.", "It cost 77 francs."]
    first_checker, second_checker, embedder = NumberChecker(), NumberChecker(), CountingEmbedder()
    first = evaluate_many([text] * 2, summaries, checker=first_checker, store=path, embedder=embedder)
    embedded = sum(embedder.asked.values())
    second = evaluate_many([text] * 2, summaries, checker=second_checker, store=path, embedder=embedder)
    assert [result.to_dict() for result in first] == [result.to_dict() for result in second]
    assert sum(embedder.asked.values()) == embedded
    assert [claim for _, claim in second_checker.asked] == ["This will fail."]  # failures are never stored
    other = evaluate_many([text] * 2, summaries, 1, checker=second_checker, store=path, embedder=embedder)
    assert other[0].signature != first[0].signature


def test_the_store_does_not_change_a_number(tmp_path):
    text, summary = PAIRS[1]
    plain, stored = evaluate(text, summary), evaluate(text, summary, store=tmp_path / "s.sqlite")
    again = evaluate(text, summary, store=tmp_path / "s.sqlite")
    assert stored.to_dict() == again.to_dict()
    for a, b in zip(plain.verdicts, stored.verdicts, strict=True):
        assert a.probability == pytest.approx(b.probability, abs=1e-6)


def test_plain_data_and_back():
    for text, summary in [*PAIRS[:2], ("", "x"), ("x", "")]:
        result = evaluate(text, summary)
        copy = faithfulness_from_dict(json.loads(json.dumps(result.to_dict())))
        assert copy.to_dict() == result.to_dict()
        assert copy._repr_html_() == result._repr_html_()
        assert copy.similarity.shape == result.similarity.shape


def test_the_signature_names_every_choice():
    signature = evaluate("One. Two.", "One.").signature
    chosen = ["metric", "k", "splitter", "lang", "embedder", "checker", "threshold", "normalize", "version"]
    assert list(signature) == chosen
    assert signature["embedder"] == load_embedder("minilm").fingerprint
    assert signature["checker"] == load_checker("embedded").fingerprint


def test_any_callable_splits_and_any_object_embeds():
    class Letters:
        fingerprint = "letters:1"

        def encode(self, sentences):
            return np.array([[s.count(c) for c in "abcde"] for s in sentences], dtype=np.float32)

    def lines(text):
        spans, position = [], 0
        for line in text.split("\n"):
            spans.append((position, position + len(line)))
            position += len(line) + 1
        return spans

    result = evaluate("abc\nde", "abc", 1, splitter=lines, embedder=Letters())
    assert [s.text for s in result.source_sentences] == ["abc", "de"]
    assert result.similarity[0].tolist() == pytest.approx([1.0, 0.0])


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_gives_a_score_or_a_reason(text, summary):
    result = evaluate(text, summary, checker=NumberChecker())
    if result.score is None:
        assert result.reason
    else:
        assert 0 <= result.score <= 1


def test_comparing_summaries_of_one_article(tmp_path):
    article = sample_articles()[1]
    kinds = list(article.summaries)
    results = evaluate_many([article.text] * 3, [summary.text for summary in article.summaries.values()])
    comparison = compare_reports(results, kinds)
    assert comparison.to_frame()["summary"].tolist() == kinds
    page = comparison.to_html(tmp_path / "comparison.html").read_text()
    assert all(kind in page for kind in kinds) and page.count('class="sr-article ') == 1
    with pytest.raises(TypeError, match="result of evaluate"):
        compare_reports([3.0])
    with pytest.raises(TypeError, match=r"not dict: pass list\(results.values\(\)\)"):
        compare_reports({"a": results[0]})
    with pytest.raises(TypeError, match=r"not Faithfulness: pass \[result\]"):
        compare_reports(results[0])
    with pytest.raises(ValueError, match="empty"):
        compare_reports([])
    with pytest.raises(ValueError, match=r"results\[1\] judges another article"):
        compare_reports([results[0], evaluate("Other.", "Other.")])
    with pytest.raises(ValueError, match="3 results but 1 names"):
        compare_reports(results, ["a"])


SIGNS = ["???", "— —", "…", "? ! ..."]


@pytest.mark.parametrize("name", ["embedded", "words"])
def test_signs_in_an_article_change_nothing_and_lose_no_row(name):
    plain = evaluate("It rained.", "It snowed.", checker=name)
    articles = ["It rained.", "It rained. ???", *(f"It rained.\n\n{signs}\n\n" for signs in SIGNS), *SIGNS]
    found = evaluate_many(articles, ["It snowed."] * len(articles), checker=name)
    assert [result.score for result in found] == [plain.score] * 6 + [None] * 4
    assert all(result.reason == "the article holds no sentence" for result in found[6:])
    told = [[sentence.text for sentence in result.source_sentences] for result in found]
    assert told == [["It rained."]] * 6 + [[]] * 4
    for result in found[1:6]:
        assert result.verdicts[0].probability == pytest.approx(plain.verdicts[0].probability, abs=1e-5)


def test_an_error_in_a_packaged_checker_fails_one_sentence(monkeypatch):
    from summeval_nb.evidence.builtin import WordsChecker

    judged = WordsChecker._verdict

    def breaks(self, evidence, sentence, vectors):
        return judged(self, evidence, sentence, vectors) if "snow" not in sentence else evidence[9]

    monkeypatch.setattr(WordsChecker, "_verdict", breaks)
    rows = ["It rained.", "It snowed. It rained.", "It snowed."]
    found = evaluate_many(["It rained."] * 3, rows, checker="words")
    assert [result.score for result in found] == [1.0, 1.0, None] and [result.n_failed for result in found] == [0, 1, 1]
    assert found[1].verdicts[0].reason == "IndexError: list index out of range"
    assert "the checker failed on all 1 sentences; the first: IndexError" in found[2].reason


def test_what_goes_wrong_in_a_checker_of_ones_own_is_raised():
    def wrong(pairs):
        raise LookupError("my own mistake")

    with pytest.raises(LookupError, match="my own mistake"):
        evaluate_many(["It rained."] * 2, ["It rained."] * 2, checker=Answers(wrong))


def test_a_verdict_is_kept_under_its_checkers_version(tmp_path):
    """Another version asks again: what the first one said is not taken for its own."""
    text, path = "It rained in Oslo. It was late.", tmp_path / "s.sqlite"
    first, second = NumberChecker(), NumberChecker()
    second.fingerprint = "numbers:2"
    for checker in (first, second):
        evaluate(text, "It rained in Oslo.", checker=checker, store=path)
    assert len(first.asked) == len(second.asked) == 1
    with Store(path) as store:
        evidence, claim = first.asked[0]
        keys = [content_key("verdict", checker.fingerprint, evidence, claim) for checker in (first, second)]
        assert keys[0] != keys[1] and set(store.get_many("verdict", keys)) == set(keys)


LOW = {"threshold": 0.7, "contradicted_below": 0.3}


def made(*verdicts, score=1.0, reason="", **parts):
    sentences = [Sentence(f"S{i}.", 4 * i, 4 * i + 3) for i in range(len(verdicts))]
    told = {
        "source": "It rained. It snowed.",
        "summary": " ".join(sentence.text for sentence in sentences),
        "source_sentences": [Sentence("It rained.", 0, 10), Sentence("It snowed.", 11, 21)],
        "sentences": sentences,
        "similarity": np.full((len(verdicts), 2), 0.5),
        "judged_by": "words",
    }
    signature = Signature({"metric": "faithfulness", "k": 1})
    return Faithfulness(score=score, reason=reason, signature=signature, verdicts=list(verdicts), **(told | parts))


YES = Verdict(probability=0.9, evidence=[Evidence(0, 0.5)])
UNCLEAR = Verdict(probability=0.5, **LOW)
FAILED = Verdict(probability=None, failed=True, reason="the server did not answer")
HEADING = Verdict(probability=None, reason="a heading")


@pytest.mark.parametrize(
    ("result", "title"),
    [
        (made(YES), "Faithfulness 1.00: 1 of 1 sentences supported"),
        (made(YES, FAILED), "Faithfulness 1.00: 1 of 1 judged sentences supported"),
        (made(YES, UNCLEAR, score=0.5), "Faithfulness 0.50: 1 of 2 sentences supported"),
        (made(FAILED, score=0.5), "Faithfulness 0.50: 0 of 0 judged sentences supported"),
        (made(FAILED, score=None, reason="no"), "Faithfulness undefined: no"),
    ],
)
def test_the_title_counts(result, title):
    assert result.report().title == title
    assert title in result.to_text()


FOLDED = """\
A report

  1  supported 0.94      It opened in 1931, which took nine
                         years of hard work by many.
          0.90  [1] The bridge opened in 1931 after nine
                    years of work by four hundred people.
          0.20  [2] It is 1,149 metres long."""


def test_long_lines_go_on_below_their_own_text():
    article = "The bridge opened in 1931 after nine years of work by four hundred people. It is 1,149 metres long."
    sentence = "It opened in 1931, which took nine years of hard work by many."
    entry = Entry(text=sentence, probability=0.94, supported=True, evidence=[(0, 0.9), (1, 0.2)])
    report = Report(title="A report", source=article, spans=[(0, 74), (75, 99)], entries=[entry], signature="k:1")
    assert evidence_text(report, width=60).startswith(FOLDED)


def wide_report():
    words = "one hundred and eleven people crossed the bridge on Monday and Tuesday " * 4
    marks = [("word", found.start(), found.end()) for found in re.finditer("bridge|Monday|people", words)]
    entry = Entry(text=words, probability=0.5, supported=False, evidence=[(0, 0.9)], findings=marks, note=words)
    signature = "|".join(f"choice{n}:value" for n in range(20))
    told = {"title": words, "judged_by": words, "signature": signature}
    return Report(**told, source=words, spans=[(0, len(words))], entries=[entry])


def test_a_report_is_as_wide_as_the_terminal_and_elsewhere_88(monkeypatch):
    report = wide_report()
    lines = evidence_text(report).split("\n")
    assert 80 < max(map(len, lines)) <= 88
    assert "".join(line.strip() for line in lines).endswith(report.signature)
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setenv("COLUMNS", "120")
    assert 110 < max(map(len, evidence_text(report).split("\n"))) <= 120
    monkeypatch.setattr(sys, "stdout", None)  # a program without a console
    assert max(map(len, evidence_text(report).split("\n"))) <= 88


def test_who_judged_goes_on_with_an_indent():
    lines = evidence_text(wide_report(), width=60).split("\n\n")[0].split("\n")
    ahead = [line.startswith("    ") for line in lines]
    assert not ahead[0] and sum(not indented for indented in ahead) == 2  # the title and who judged begin at the edge


def test_the_printed_form_tells_how_far_the_unclear_reach():
    assert "score" in repr(made(YES)) and "high" not in repr(made(YES))
    printed = repr(made(YES, UNCLEAR, score=0.5))
    assert printed.startswith("Faithfulness(score=0.5000, score_high=1.0000, n_unclear=1, signature=")
    both = compare_reports([made(YES), made(YES, UNCLEAR, score=0.5)], ["a", "b"])
    assert repr(both) == "ReportComparison(a=1.0, b=0.5, up to 1.0)"
    assert [row["unclear"] for row in both.rows()] == [0, 1] and both.rows()[1]["score_high"] == 1.0


def test_below_the_sentences_stands_how_far_the_unclear_reach():
    note = "Up to 1.00 if the unclear ones are true."
    for page in (made(YES, UNCLEAR, score=0.5).to_text(), made(YES, UNCLEAR, score=0.5)._repr_html_()):
        assert page.rindex("S1.") < page.index(note)
    assert "Up to" not in made(YES).to_text() + made(YES)._repr_html_()


def test_failed_and_unjudged_are_counted_apart():
    result = made(YES, FAILED, HEADING)
    assert (result.n_failed, result.n_unjudged, result.n_unclear) == (1, 1, 0)
    assert [row["reason"] for row in result.rows()] == ["", "the server did not answer", "a heading"]


def test_plain_data_and_back_keep_everything():
    clash = Finding("number", "S1", 4, 6, clash=True)
    result = made(YES, Verdict(probability=0.8, findings=[clash], **LOW), HEADING, score=0.5)
    again = faithfulness_from_dict(json.loads(json.dumps(result.to_dict())))
    assert again.to_dict() == result.to_dict() and again.verdicts[1].state == result.verdicts[1].state
    assert list(result.to_dict())[:4] == ["schema", "score", "reason", "score_low"]
    short = {name: part for name, part in result.to_dict().items() if name != "similarity"}
    again = faithfulness_from_dict(short)
    assert np.isnan(again.similarity).all() and again.to_dict()["similarity"] == [[None, None]] * 3
    assert np.isnan(faithfulness_from_dict(json.loads(json.dumps(again.to_dict(), allow_nan=False))).similarity).all()


def test_what_lies_outside_the_texts_is_refused():
    for verdict in (
        Verdict(probability=0.9, evidence=[Evidence(2, 0.5)]),
        Verdict(probability=0.9, findings=[Finding("word", "long", 0, 9)]),
    ):
        with pytest.raises(ValueError, match="lies outside the texts"):
            faithfulness_from_dict(made(verdict).to_dict())
    with pytest.raises(ValueError, match="not the plain data of a Faithfulness: 'verdicts' is missing"):
        faithfulness_from_dict({"schema": 2, "score": 1.0})


def test_each_sentence_has_a_verdict():
    data = made(YES, FAILED).to_dict()
    with pytest.raises(ValueError, match="there are 2 sentences and 1 verdicts: pass what to_dict"):
        faithfulness_from_dict(data | {"verdicts": data["verdicts"][:1]})


ALL_FAILED = [*itertools.product([None, 0.0, 1.0, float("nan")], ["", "the server is down"])]


@pytest.mark.parametrize(("score", "reason"), ALL_FAILED)
def test_data_whose_verdicts_all_failed_are_refused_or_shown(score, reason, tmp_path):
    data = made(YES, YES).to_dict() | {"score": score, "reason": reason}
    for verdict in data["verdicts"]:
        verdict |= {"probability": None, "failed": True, "reason": "no answer"}
    if score is not None or not reason:
        with pytest.raises(ValueError, match="the score is|needs a reason"):
            faithfulness_from_dict(data)
        return
    result = faithfulness_from_dict(data)
    assert repr(result).startswith(f"Faithfulness(score=None ({reason})")
    assert result.report().title == f"Faithfulness undefined: {reason}" and result.n_failed == 2
    for page in (result._repr_html_(), result.to_text(), result.to_html(tmp_path / "page.html").read_text()):
        assert "no answer" in page and reason in page
    assert "score_high" not in repr(compare_reports([result, result]))


@pytest.mark.parametrize(
    ("score", "verdicts"), [(0.5, [FAILED]), (0.5, [YES]), (None, [YES]), (1.0, [YES, UNCLEAR])], ids=str
)
def test_a_score_that_its_verdicts_do_not_say_is_refused(score, verdicts):
    data = made(*verdicts).to_dict() | {"score": score, "reason": "" if score else "none"}
    with pytest.raises(ValueError, match=f"the score is {score}, but its . judged verdicts say"):
        faithfulness_from_dict(data)


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (made(YES), "ok"),
        (made(FAILED, score=None, reason="all failed"), "failed"),
        (made(HEADING, score=None, reason="none was judged"), "undefined"),
    ],
)
def test_a_run_writes_down_all_but_the_similarities(result, status):
    outcome = result.outcome()
    assert (outcome.score, outcome.status, outcome.reason) == (result.score, status, result.reason)
    assert "verdicts" in outcome.parts and "similarity" not in outcome.parts


@pytest.mark.parametrize(
    ("verdicts", "why"),
    [
        ([FAILED, HEADING], "the checker failed on all 1 sentences; the first: the server did not answer"),
        ([HEADING], "no sentence was judged; the first of 1: a heading"),
        ([], "there is no sentence to judge"),
    ],
)
def test_why_none_was_judged(verdicts, why):
    assert why_none_judged(verdicts) == why


def test_the_heat_map_counts_from_one_and_needs_sentences():
    ax = made(YES, YES).plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["1", "2"]
    with pytest.raises(ValueError, match="nothing to draw: empty"):
        made(score=None, reason="empty").plot()


def test_side_by_side_has_the_article_once(tmp_path):
    both = compare_reports([made(YES), made(YES, FAILED)], ["a", "<b>"])
    assert repr(both) == "ReportComparison(a=1.0, <b>=1.0)"
    assert [row["failed"] for row in both.rows()] == [0, 1]
    page = both.to_html(tmp_path / "both.html").read_text(encoding="utf-8")
    assert page.count('class="sr-article ') == 1 and "&lt;b&gt; — Faithfulness" in page and "<b> —" not in page
    assert both.to_dict()["results"][0] == made(YES).to_dict()
    assert compare_reports([made(YES)]).names == ["summary 1"]


NEAR = {"threshold": 0.57, "contradicted_below": 0.5}


def sum_of(coverage):
    return {"numbers": {"cosine": 2.0}, "terms": {"intercept": -0.5, "cosine": 1.0}, "coverage": coverage}


@pytest.mark.parametrize(
    ("verdict", "label", "note"),
    [
        (Verdict(probability=0.5667, **NEAR), "unclear 0.567", ""),  # 0.57 would look like supported
        (Verdict(probability=0.5749, **NEAR), "supported 0.57", ""),
        (
            Verdict(probability=0.61, findings=[Finding("number", "S0", 0, 2, True)], **NEAR),
            "unclear 0.61",
            "something clashes: not called supported",
        ),
        (Verdict(probability=0.4, **NEAR | {"contradicted_below": 0.3}), "unclear 0.40", ""),
        (
            Verdict(probability=0.4, details=sum_of(0.49), **NEAR | {"contradicted_below": 0.0}),
            "unclear 0.40",
            "too little of it is in the article",
        ),
        (
            Verdict(probability=0.4, details=sum_of(0.5), **NEAR | {"contradicted_below": 0.0}),
            "unclear 0.40",
            "cannot tell",
        ),
        (
            Verdict(
                probability=0.61,
                findings=[Finding("number", "S0", 0, 2, True)],
                details=sum_of(0.2),
                **NEAR | {"contradicted_below": 0.57},
            ),
            "unclear 0.61",
            "something clashes: not called supported",
        ),
        (
            Verdict(
                probability=0.4,
                findings=[Finding("number", "S0", 0, 2, True)],
                details=sum_of(0.2),
                **NEAR | {"contradicted_below": 0.57},
            ),
            "contradicted 0.40",
            "",
        ),
        (Verdict(probability=0.9, details=sum_of(0.2), **NEAR), "supported 0.90", ""),
    ],
)
def test_what_is_printed_shows_why_a_verdict_is_what_it_is(verdict, label, note):
    (entry,) = made(verdict).report().entries
    assert (entry.label, entry.note) == (label, note)


def test_a_sentence_has_the_colour_of_its_state():
    states = [Verdict(probability=p, **NEAR) for p in (0.9, 0.55, 0.1)]
    assert [entry.tone for entry in made(*states).report().entries] == [1.0, 0.5, 0.0]
    assert [entry.tone for entry in made(YES, HEADING).report().entries] == [0.9, None]


def test_only_what_is_a_sum_is_explained():
    terms = {"intercept": -0.5, "cosine": 1.0}
    details = {"terms": terms, "numbers": {"cosine": 2.0}, "logit": 0.5}
    verdict = Verdict(probability=1 / (1 + np.exp(-0.5)), details=details, evidence=[Evidence(1, 0.5)])
    result = made(verdict, YES, FAILED, HEADING)
    assert result.explain(0).evidence == ["It snowed."] and result.explain(-4).rows() == result.explain(0).rows()
    assert [row["moved"] for row in result.explain(0).rows()] == pytest.approx([-0.5, 1.0, 0.5])
    for i, why in ((1, "its checker is not the embedded one"), (2, "the server did not answer"), (-1, "a heading")):
        with pytest.raises(ValueError, match=f"nothing to explain of 'S{i % 4}.': {why}"):
            result.explain(i)
    for i in (4, -5):
        with pytest.raises(IndexError, match=f"there is no sentence {i}: the summary has 4, counted from 0"):
            result.explain(i)


@pytest.mark.parametrize(
    "details",
    [
        {"terms": 3, "against": 4},
        {"terms": {"cosine": 1.0}, "numbers": [2.0], "against": ["a"]},
        {"terms": {"my own": 1.0}, "numbers": {"my own": 2.0}, "coverage": 0.1},
        {"against": {"S0": "S1"}, "coverage": "high"},
    ],
)
def test_terms_of_another_checker_are_not_taken_for_a_sum(details):
    result = made(Verdict(probability=0.4, details=details, **NEAR | {"contradicted_below": 0.0}))
    assert "S1" not in result.to_text() and "too little" not in result.to_text() and result._repr_html_()
    with pytest.raises(ValueError, match="its checker is not the embedded one"):
        result.explain(0)


def test_who_judged_is_not_said_where_nothing_was():
    assert made(YES).report().judged_by == "words"
    assert made(FAILED, score=None, reason="no").report().judged_by == ""


def test_several_summaries_as_text_each_with_its_own_name():
    two = compare_reports([made(YES), made(UNCLEAR, score=0.0)], names=["first", "second"])
    text = two.to_text()
    assert text.index("first — ") < text.index("  1  supported 0.90") < text.index("second — ")
    assert text.count("\n  1  ") == 2
    with pytest.raises(ValueError, match="two summaries are called 'A'"):
        compare_reports([made(YES)] * 3, names=["A", "B", "A"])


@pytest.mark.parametrize("number", [1, 0, "2", None, [2]], ids=str)
def test_data_of_another_schema_are_refused_with_their_number(number):
    with pytest.raises(ValueError, match=re.escape(f"schema {number!r}, and only 2 can be read here: read it")):
        faithfulness_from_dict(made(YES).to_dict() | {"schema": number})
    bare = {name: part for name, part in made(YES).to_dict().items() if name != "schema"}
    with pytest.raises(ValueError, match="'schema' is missing; pass what to_dict"):
        faithfulness_from_dict(bare)


CLASH = Verdict(probability=0.8, findings=[Finding("number", "S1", 4, 6, clash=True)], details={"note": "a"}, **LOW)
ARTICLE = "The bridge opened in 1931. It is 1,149 metres long."
KINDS = {
    "supported": lambda: made(YES),
    "contradicted": lambda: made(Verdict(probability=0.1, **LOW), score=0.0),
    "unclear": lambda: made(UNCLEAR, CLASH, score=0.0),
    "failed": lambda: made(YES, FAILED),
    "undefined": lambda: made(FAILED, score=None, reason="all failed"),
    "a heading": lambda: made(HEADING, YES),
    "nothing": lambda: evaluate("", "It rained."),
    "signs alone": lambda: evaluate("???", "It rained."),
    "evaluated": lambda: evaluate(ARTICLE, "# Bridge\n\nIt opened in 1931. It is 5,000 metres long. ???"),
    "by words": lambda: evaluate(ARTICLE, "It opened in 1930.", checker="words"),
    "of a row": lambda: faithfulness_from_dict({k: v for k, v in made(YES).to_dict().items() if k != "similarity"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_what_the_schema_describes(kind):
    data = json.loads(json.dumps(KINDS[kind]().to_dict(), allow_nan=False))
    jsonschema.Draft202012Validator(faithfulness.faithfulness_schema()).validate(data)
    assert faithfulness_from_dict(data).to_dict() == data


def objects(schema):
    """Each object of a schema that lists its properties."""
    if isinstance(schema, dict):
        found = [schema] if "properties" in schema and isinstance(schema["properties"], dict) else []
        return found + [inner for part in schema.values() for inner in objects(part)]
    return []


def test_the_schema_describes_and_requires_exactly_every_key():
    schema = faithfulness.faithfulness_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    told = objects(schema)
    assert len(told) == 5 and all(table["required"] == list(table["properties"]) for table in told)
    assert all(table["additionalProperties"] is False for table in told)
    assert all(part.get("description") for table in told for part in table["properties"].values())
    result = made(YES, CLASH, score=0.5).to_dict()
    assert list(schema["properties"]) == list(result)
    first, second = result["verdicts"]
    parts = {"sentence": result["sentences"][0], "verdict": first, "evidence": first["evidence"][0]}
    for name, part in (parts | {"finding": second["findings"][0]}).items():
        assert list(schema["$defs"][name]["properties"]) == list(part), name
    for changed in ({"schema": 1}, {"more": 1}, {"score": 1.5}, {"verdicts": [first | {"state": "maybe"}]}):
        assert not jsonschema.Draft202012Validator(schema).is_valid(result | changed), changed


@pytest.mark.parametrize("name", ["embedded", "words"])
def test_who_judged_stands_in_every_form_of_a_report(name, tmp_path):
    result, version = evaluate("It rained.", "It rained.", checker=name), load_checker(name).fingerprint
    assert version.startswith(f"{name}-") and f"|checker:{version}|" in result.to_dict()["signature"]
    page = result.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert version in page and version in "".join(result.to_text().split())


def test_side_by_side_says_who_judged_which_where_they_differ():
    signatures = [Signature({"metric": "faithfulness", "checker": f"embedded-{mark}"}) for mark in ("aaaa", "bbbb")]
    first, second = ([Faithfulness(**vars(made(YES)) | {"signature": own})][0] for own in signatures)
    for page in ((both := compare_reports([first, second], ["old", "new"])).to_text(), both._repr_html_()):
        assert "1 of 1 sentences supported, by embedded-aaaa" in page and "supported, by embedded-bbbb" in page
        assert all(str(own) in "".join(page.split()) for own in signatures)
    assert ", by " not in compare_reports([first, first]).to_text()
