"""The pipeline as a whole: one by one and in bulk, with a store, with other checkers, embedders and splitters."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb import Verdict, compare_reports, evaluate, evaluate_many, faithfulness_from_dict
from summeval_nb.evidence.load import load_checker
from summeval_nb.ground.data import sample_articles
from summeval_nb.models.store import Store, content_key
from summeval_nb.text.embed import load_embedder

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
        one = evaluate(text, summary)
        assert one.score == many.score
        assert [[e.index for e in v.evidence] for v in one.verdicts] == [
            [e.index for e in v.evidence] for v in many.verdicts
        ]
        np.testing.assert_allclose(one.similarity, many.similarity, atol=1e-5)
        for a, b in zip(one.verdicts, many.verdicts, strict=True):
            assert a.probability == pytest.approx(b.probability, abs=1e-4)
            assert a.findings == b.findings


def test_faithful_summaries_score_above_wrong_ones():
    """The one subtle summary that passes names a player from elsewhere in the article: the evidence holds the name."""
    above = {}
    for article in sample_articles():
        results = {kind: evaluate(article.text, one.text) for kind, one in article.summaries.items()}
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
        for row, (sentence, verdict) in enumerate(zip(result.sentences, result.verdicts, strict=True)):
            best = np.argsort(-result.similarity[row], kind="stable")[:2]
            assert [e.index for e in verdict.evidence] == best.tolist()
            assert [e.similarity for e in verdict.evidence] == result.similarity[row, best].tolist()
            for finding in verdict.findings:
                assert sentence.text[finding.start : finding.end] == finding.text
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
def test_a_checker_that_does_not_answer_with_verdicts_is_told_so(answer, error, message):
    with pytest.raises(error, match=f"check_many of Answers must return {message}"):
        evaluate("It rained. It snowed.", "It rained. It snowed.", checker=Answers(answer))


def test_a_checker_may_leave_out_vectors_and_give_any_iterable():
    checker = Answers(lambda pairs: (Verdict(probability=0.8) for _ in pairs))
    assert evaluate("It rained. It snowed.", "It rained. It snowed.", checker=checker).score == 1


def test_the_threshold_in_the_signature_decides_with_and_without_a_store(tmp_path):
    """A verdict that names no threshold says 0.5; a checker that is stricter must not become kinder by that."""
    checker = Answers(lambda pairs: [Verdict(probability=0.8) for _ in pairs])
    checker.threshold = 0.9
    runs = [evaluate("It rained.", "It rained.", checker=checker, store=tmp_path / "s.sqlite") for _ in range(2)]
    assert [run.score for run in runs] == [0, 0]
    assert "threshold:0.9" in str(runs[0].signature)


def test_the_answers_printed_in_the_first_lesson():
    lesson = json.loads((ROOT / "nbs/tutorials/1_first_report.ipynb").read_text(encoding="utf-8"))
    printed = next(source for cell in lesson["cells"] if "<details>" in (source := "".join(cell["source"])))
    bridge, chess = sample_articles()[0], sample_articles()[3]

    marked = evaluate(chess.text, chess.subtle.text).verdicts[0]
    assert chess.subtle.supported == (False, True, True) and marked.state == "unclear" and marked.probability > 0.5
    assert [(one.kind, one.text) for one in marked.findings if one.clash] == [("name", "Piet Aalders")]

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
    assert [one.to_dict() for one in first] == [one.to_dict() for one in second]
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
    chosen = ["metric", "k", "splitter", "lang", "embedder", "checker", "threshold", "version"]
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
    results = evaluate_many([article.text] * 3, [one.text for one in article.summaries.values()])
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
    assert [one.score for one in found] == [plain.score] * 6 + [None] * 4
    assert all(one.reason == "the article holds no sentence" for one in found[6:])
    told = [[sentence.text for sentence in one.source_sentences] for one in found]
    assert told == [["It rained."]] * 6 + [[]] * 4
    for one in found[1:6]:
        assert one.verdicts[0].probability == pytest.approx(plain.verdicts[0].probability, abs=1e-5)


def test_what_goes_wrong_in_a_packaged_checker_fails_one_sentence(monkeypatch):
    from summeval_nb.evidence.words import WordsChecker

    judged = WordsChecker._verdict

    def breaks(self, evidence, sentence, vectors):
        return judged(self, evidence, sentence, vectors) if "snow" not in sentence else evidence[9]

    monkeypatch.setattr(WordsChecker, "_verdict", breaks)
    rows = ["It rained.", "It snowed. It rained.", "It snowed."]
    found = evaluate_many(["It rained."] * 3, rows, checker="words")
    assert [one.score for one in found] == [1.0, 1.0, None] and [one.n_failed for one in found] == [0, 1, 1]
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
    one, two = NumberChecker(), NumberChecker()
    two.fingerprint = "numbers:2"
    for checker in (one, two):
        evaluate(text, "It rained in Oslo.", checker=checker, store=path)
    assert len(one.asked) == len(two.asked) == 1
    with Store(path) as store:
        evidence, claim = one.asked[0]
        keys = [content_key("verdict", checker.fingerprint, evidence, claim) for checker in (one, two)]
        assert keys[0] != keys[1] and set(store.get_many("verdict", keys)) == set(keys)
