"""The pipeline as a whole: one by one and in bulk, with a store, and how a result is shown and comes back."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.late import Late
from helpers.says import Says
from helpers.wrapping import Noting
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb import Verdict, evaluate, evaluate_many
from summeval_nb.core.data import sample_articles
from summeval_nb.core.files import read_asset
from summeval_nb.core.results import Evidence, Finding, Sentence, Signature
from summeval_nb.evidence.faithfulness import Faithfulness, compare_reports, faithfulness_from_dict

jsonschema = Late("jsonschema")
ROOT = Path(__file__).parents[1]
PAIRS = [(article.text, summary.text) for article in sample_articles() for summary in article.summaries.values()]


def numbers(evidence, claim):
    """Whether all digits of a sentence stand in the evidence; sentences that hold "fail" do."""
    held = " ".join(evidence).split()
    return "told to fail" if "fail" in claim else all(word in held for word in claim.split() if word.isdigit())


@pytest.mark.parametrize("name", ["embedded", "words"])
def test_signs_in_an_article_change_nothing_and_lose_no_row(name):
    plain, signs = evaluate("It rained.", "It snowed.", checker=name), ["???", "— —", "…", "? ! ..."]
    articles = ["It rained.", "It rained. ???", *(f"It rained.\n\n{own}\n\n" for own in signs), *signs]
    found = evaluate_many(articles, ["It snowed."] * len(articles), checker=name)
    assert [result.score for result in found] == [plain.score] * 6 + [None] * 4
    assert all(result.reason == "the article holds no sentence" for result in found[6:])
    for result in found[1:6]:
        assert [sentence.text for sentence in result.source_sentences] == ["It rained."]
        assert result.verdicts[0].probability == pytest.approx(plain.verdicts[0].probability, abs=1e-5)


@pytest.mark.nightly
def test_in_bulk_is_one_by_one():
    bulk = evaluate_many(*map(list, zip(*PAIRS, strict=True)))
    for (text, summary), many in zip(PAIRS, bulk, strict=True):
        alone = evaluate(text, summary)
        assert alone.score == many.score
        assert [[e.index for e in v.evidence] for v in alone.verdicts] == [
            [e.index for e in v.evidence] for v in many.verdicts
        ]
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


def test_a_checker_of_ones_own_gives_verdicts_that_its_threshold_judges(tmp_path):
    two = "It rained. It snowed."
    checker = Answers(lambda pairs: (Verdict(probability=0.8) for _ in pairs))  # any iterable, and no vectors
    assert evaluate(two, two, checker=checker).score == 1
    checker.threshold = 0.9
    runs = [evaluate("It rained.", "It rained.", checker=checker, store=tmp_path / "s.sqlite") for _ in range(2)]
    assert [run.score for run in runs] == [0, 0] and "threshold:0.9" in str(runs[0].signature)
    for answer, error, message in (
        (lambda pairs: [0.0 for _ in pairs], TypeError, "one Verdict per pair: got float"),
        (lambda pairs: None, TypeError, "one Verdict per pair: got NoneType, not a list"),
        (lambda pairs: [Verdict(probability=1.0)], ValueError, "one Verdict per pair: got 1 for 2 pairs"),
    ):
        with pytest.raises(error, match=f"check_many of Answers must return {message}"):
            evaluate(two, two, checker=Answers(answer))


def test_the_answers_printed_in_the_first_lesson():
    lesson = json.loads((ROOT / "nbs/1_start/11_first_report.ipynb").read_text(encoding="utf-8"))
    printed = next(source for cell in lesson["cells"] if "<details>" in (source := "".join(cell["source"])))
    bridge, chess = sample_articles()[0], sample_articles()[3]

    marked = evaluate(chess.text, chess.subtle.text).verdicts[0]
    assert chess.subtle.supported == (False, True, True) and marked.state == "unclear" and marked.probability > 0.5
    assert [(finding.kind, finding.text) for finding in marked.findings if finding.clash] == [("name", "Piet Aalders")]

    for score in (1, 0):
        (summary,) = re.findall(f'Scores {score}: "([^"]+)"', printed)
        by_words, by_default = (evaluate(bridge.text, summary, checker=name) for name in ("words", "embedded"))
        assert (by_words.score, len(by_words.sentences)) == (score, 3)
        assert [verdict.supported for verdict in by_default.verdicts] == [score == 0] * 3


def test_failures_are_excluded_counted_and_shown():
    text = "It opened in 1931. It is 500 metres long."
    result = evaluate(text, "It opened in 1931. This one will fail. It cost 77 francs.", checker=Says(numbers))
    assert result.score == 0.5 and result.n_failed == 1
    assert [v.supported for v in result.verdicts] == [True, None, False]
    assert "told to fail" in result._repr_html_() and "told to fail" in result.to_text()
    assert [row["failed"] for row in result.rows()] == [False, True, False]
    assert [row["reason"] for row in result.rows()] == ["", "told to fail", ""]
    assert result.outcome().status == "ok" and "similarity" not in result.outcome().parts
    nothing = evaluate(text, "All fail. Both fail.", checker=Says(numbers))
    assert nothing.reason == "the checker failed on all 2 sentences; the first: told to fail"
    assert nothing.score is None and nothing.outcome().status == "failed" and nothing.report().judged_by == ""
    unjudged = evaluate(text, "# Only a heading", checker=Says(numbers))
    assert unjudged.reason.startswith("no sentence was judged; the first of 1: a heading")


def test_a_store_changes_no_number_and_a_second_run_asks_nothing_and_mends_failures(tmp_path):
    plain, stored, again = (evaluate(*PAIRS[1], store=store) for store in (None, *[tmp_path / "s.sqlite"] * 2))
    assert stored.to_dict() == again.to_dict()
    assert [v.probability for v in stored.verdicts] == pytest.approx([v.probability for v in plain.verdicts], abs=1e-6)
    text, path = "It opened in 1931. It is 500 metres long.", tmp_path / "store.sqlite"
    summaries = ["It opened in 1931. This will fail.", "It cost 77 francs."]
    first_checker, second_checker, embedder = Says(numbers), Says(numbers), Noting()
    first = evaluate_many([text] * 2, summaries, checker=first_checker, store=path, embedder=embedder)
    embedded = [sentence for _, lot in embedder.asked for sentence in lot]
    assert len(embedded) == len({*embedded}), "a sentence is embedded once"
    second = evaluate_many([text] * 2, summaries, checker=second_checker, store=path, embedder=embedder)
    assert [result.to_dict() for result in first] == [result.to_dict() for result in second]
    assert len(embedder.asked) == 1
    assert [claim for _, claim in second_checker.asked] == ["This will fail."]  # failures are never stored
    other = Says(numbers, "numbers:2")
    evaluate_many([text] * 2, summaries, checker=other, store=path)
    assert len(other.asked) == len(first_checker.asked), "what another version said is not taken for its own"


def test_any_callable_splits_and_any_object_embeds():
    class Letters:
        fingerprint = "letters:1"

        def encode(self, sentences):
            return np.array([[s.count(c) for c in "abcde"] for s in sentences], dtype=np.float32)

    lines = lambda text: [match.span() for match in re.finditer("[^\n]+", text)]
    result = evaluate("abc\nde", "abc", 1, splitter=lines, embedder=Letters())
    assert [s.text for s in result.source_sentences] == ["abc", "de"]
    assert result.similarity[0].tolist() == pytest.approx([1.0, 0.0])


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_gives_a_score_or_a_reason(text, summary):
    result = evaluate(text, summary, checker=Says(numbers))
    assert result.reason if result.score is None else 0 <= result.score <= 1


LOW = {"threshold": 0.7, "contradicted_below": 0.3}


def made(*verdicts, score=1.0, reason="", **parts):
    sentences = [Sentence(f"S{i}.", 4 * i, 4 * i + 3) for i in range(len(verdicts))]
    told = {"source": "It rained. It snowed.", "summary": " ".join(sentence.text for sentence in sentences)}
    told["source_sentences"] = [Sentence("It rained.", 0, 10), Sentence("It snowed.", 11, 21)]
    told |= {"sentences": sentences, "similarity": np.full((len(verdicts), 2), 0.5), "judged_by": "words"}
    told["signature"] = Signature({"metric": "faithfulness", "k": 1})
    return Faithfulness(score=score, reason=reason, verdicts=list(verdicts), **(told | parts))


YES = Verdict(probability=0.9, evidence=[Evidence(0, 0.5)])
UNCLEAR = Verdict(probability=0.5, **LOW)
FAILED = Verdict(probability=None, failed=True, reason="the server did not answer")
HEADING = Verdict(probability=None, reason="a heading")
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
    "evaluated": lambda: evaluate(ARTICLE, "# Bridge\n\nIt opened in 1931. It is 5,000 metres long. ???"),
    "by words": lambda: evaluate(ARTICLE, "It opened in 1930.", checker="words"),
}


def test_the_schema_describes_and_requires_exactly_every_key():
    schema = json.loads(read_asset("faithfulness.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)

    told = [schema, *schema["$defs"].values()]
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


def test_results_are_what_the_schema_describes_and_come_back_as_they_were():
    for kind, make in KINDS.items():
        result = make()
        data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        jsonschema.Draft202012Validator(json.loads(read_asset("faithfulness.schema.json"))).validate(data)
        again = faithfulness_from_dict(data)
        assert again.to_dict() == data and again._repr_html_() == result._repr_html_(), kind
        assert again.similarity.shape == result.similarity.shape
        row = {name: part for name, part in data.items() if name != "similarity"}
        assert np.isnan(faithfulness_from_dict(row).similarity).all()


def test_data_that_cannot_be_traced_are_refused():
    good = made(YES, FAILED).to_dict()
    outside = [Verdict(probability=0.9, evidence=[Evidence(2, 0.5)])]
    outside.append(Verdict(probability=0.9, findings=[Finding("word", "long", 0, 9)]))
    for data, why in (
        *((made(verdict).to_dict(), "lies outside the texts") for verdict in outside),
        (good | {"verdicts": good["verdicts"][:1]}, "there are 2 sentences and 1 verdicts: pass what to_dict"),
        (made(UNCLEAR, YES).to_dict() | {"score": 1.0}, "the score is 1.0, but its 2 judged verdicts say 0.5"),
        (made(FAILED).to_dict() | {"score": float("nan")}, "the score is nan"),
        (made(FAILED).to_dict() | {"score": None}, "needs a reason"),
        (good | {"schema": 1}, "schema 1, and only 2 can be read here: read it"),
    ):
        with pytest.raises(ValueError, match=why):
            faithfulness_from_dict(data)


def test_what_is_printed_counts_and_shows_why_a_verdict_is_what_it_is():
    number = [Finding("number", "S0", 0, 2, True)]
    terms = {"numbers": {"cosine": 2.0}, "terms": {"intercept": -0.5, "cosine": 1.0}}
    clashing = "something clashes: not called supported"
    for p, low, more, label, note in (
        (0.5667, 0.5, {}, "unclear 0.567", ""),  # 0.57 would look like supported
        (0.61, 0.5, {"findings": number}, "unclear 0.61", clashing),
        (0.4, 0.0, {"details": terms | {"coverage": 0.49}}, "unclear 0.40", "too little of it is in the article"),
        (0.4, 0.57, {"details": terms | {"coverage": 0.2}, "findings": number}, "contradicted 0.40", ""),
        (0.4, 0.0, {"details": {"terms": 3, "against": 4, "coverage": 0.2}}, "unclear 0.40", ""),  # of another checker
    ):
        verdict = Verdict(probability=p, threshold=0.57, contradicted_below=low, **more)
        (entry,) = made(verdict).report().entries
        assert (entry.label, entry.note) == (label, note)
    both = made(YES, UNCLEAR, score=0.5)
    for result, title in (
        (made(YES), "Faithfulness 1.00: 1 of 1 sentences supported"),
        (made(YES, FAILED), "Faithfulness 1.00: 1 of 1 judged sentences supported"),
        (both, "Faithfulness 0.50: 1 of 2 sentences supported"),
        (made(FAILED, score=None, reason="no"), "Faithfulness undefined: no"),
    ):
        assert result.report().title == title and title in result.to_text()
    little = made(Verdict(probability=1.0, details={"probability_mass": 0.05})).report().title
    assert little.endswith("1 with a probability mass below 0.5")
    assert repr(both).startswith("Faithfulness(score=0.5000, score_high=1.0000, n_unclear=1, signature=")
    for page in (both.to_text(), both._repr_html_()):
        assert page.rindex("S1.") < page.index("Up to 1.00 if the unclear ones are true.")


def test_only_what_is_a_sum_is_explained_and_only_sentences_are_drawn():
    details = {"terms": {"intercept": -0.5, "cosine": 1.0}, "numbers": {"cosine": 2.0}, "logit": 0.5}
    verdict = Verdict(probability=1 / (1 + np.exp(-0.5)), details=details, evidence=[Evidence(1, 0.5)])
    result = made(verdict, YES, FAILED, HEADING)
    assert result.explain(0).evidence == ["It snowed."] and result.explain(-4).rows() == result.explain(0).rows()
    assert [row["moved"] for row in result.explain(0).rows()] == pytest.approx([-0.5, 1.0, 0.5])
    own = made(Verdict(probability=0.4, details={"terms": {"my own": 1.0}, "numbers": {"my own": 2.0}}))
    another = "its checker is not the embedded one"
    for call, error, why in (
        (lambda: result.explain(1), ValueError, f"nothing to explain of 'S1.': {another}"),
        (lambda: result.explain(2), ValueError, "nothing to explain of 'S2.': the server did not answer"),
        (lambda: result.explain(-1), ValueError, "nothing to explain of 'S3.': a heading"),
        (lambda: result.explain(4), IndexError, "there is no sentence 4: the summary has 4, counted from 0"),
        (lambda: own.explain(0), ValueError, another),
        (lambda: made(score=None, reason="empty").plot(), ValueError, "nothing to draw: empty"),
    ):
        with pytest.raises(error, match=why):
            call()
    assert [label.get_text() for label in made(YES, YES).plot().get_yticklabels()] == ["1", "2"]


def test_several_summaries_stand_side_by_side(tmp_path):
    both = compare_reports([made(YES), made(YES, UNCLEAR, FAILED, score=0.5)], ["a", "<b>"])
    assert repr(both) == "ReportComparison(a=1.0, <b>=0.5, up to 1.0)"
    assert [(row["summary"], row["unclear"], row["failed"]) for row in both.rows()] == [("a", 0, 0), ("<b>", 1, 1)]
    page = both.to_html(tmp_path / "both.html").read_text(encoding="utf-8")
    assert page.count('class="sr-article ') == 1 and "&lt;b&gt; — Faithfulness" in page and "<b> —" not in page
    text = both.to_text()
    assert text.index("a — ") < text.index("  1  supported 0.90") < text.index("<b> — ") and ", by " not in text
    assert both.to_dict()["results"][0] == made(YES).to_dict()
    marked = [Signature({"metric": "faithfulness", "checker": f"embedded-{mark}"}) for mark in ("aaaa", "bbbb")]
    apart = compare_reports([made(YES, signature=own) for own in marked], ["old", "new"])
    for page in (apart.to_text(), apart._repr_html_()):  # which checker judged which is said
        assert "1 of 1 sentences supported, by embedded-aaaa" in page and "supported, by embedded-bbbb" in page
        assert all(str(own) in "".join(page.split()) for own in marked)
    for results, names, error, why in (
        ([3.0], None, TypeError, "result of evaluate"),
        ({"a": made(YES)}, None, TypeError, r"not dict: pass list\(results.values\(\)\)"),
        ([], None, ValueError, "empty"),
        ([made(YES), made(YES, source="Other.")], None, ValueError, r"results\[1\] judges another article"),
        ([made(YES)] * 3, ["a"], ValueError, "3 results but 1 names"),
        ([made(YES)] * 3, ["A", "B", "A"], ValueError, "two summaries are called 'A'"),
    ):
        with pytest.raises(error, match=why):
            compare_reports(results, names)
