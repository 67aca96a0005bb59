"""One bar a call, by item, whatever stages and libraries work below it."""

import re

import pytest

from summeval_nb import checker, evaluate
from summeval_nb.agreement import benchmark_checker
from summeval_nb.core.base import one_bar, steps
from summeval_nb.core.data import sample_articles
from summeval_nb.evidence.faithfulness import evaluate_many
from summeval_nb.judged.answers import evaluate_answers
from summeval_nb.judged.grading import compare_answers_many
from summeval_nb.judged.rag import evaluate_rag
from summeval_nb.judged.summary_score import summarization_scores
from summeval_nb.models.store import fill_missing
from summeval_nb.overlap import bertscore_many, meteor_many
from summeval_nb.text.embed import sentence2embedding


def bars(error: str) -> dict[tuple[str, int], list[int]]:
    """What was drawn: for each bar, by its name and total, the counts that it showed."""
    found: dict[tuple[str, int], list[int]] = {}
    for name, count, total in re.findall(r"([\w ]+):\s+\d+%\|[^|]*\| (\d+)/(\d+)", error):
        found.setdefault((name.strip(), int(total)), []).append(int(count))
    return found


def test_a_silent_call_is_silent_all_the_way_down_and_after_an_error_the_next_bar_is_drawn(capsys):
    with one_bar(2, "work", show=False):
        for _ in steps(range(2)):
            sentence2embedding(["a", "b"], progress=True)
            fill_missing(None, "x", ["a"], lambda places: places, progress="filling")
    assert capsys.readouterr().err == ""
    with pytest.raises(ZeroDivisionError), one_bar(3, "broken"):
        for number in steps([1, 0]):
            1 // number
    capsys.readouterr()
    with one_bar(2, "whole"):
        assert list(steps("ab")) == ["a", "b"]
    assert list(bars(capsys.readouterr().err)) == [("whole", 2)]


ARTICLES = sample_articles()
TEXTS = [article.text for article in ARTICLES]
SUMMARIES = [article.faithful.text for article in ARTICLES]
ROWS = [
    {"question": "What happened?", "contexts": [text], "answer": said, "a": said, "b": said[:40]}
    | {"summary": said, "ground_truth": said}
    for text, said in zip(TEXTS, SUMMARIES, strict=True)
]


def of(*names: str) -> list[dict[str, object]]:
    return [{name: row[name] for name in names} for row in ROWS]


LONG = {
    "faithfulness": (4, lambda: evaluate_many(TEXTS, SUMMARIES, progress=True)),
    "answers": (4, lambda: evaluate_answers(of("contexts", "question", "ground_truth", "answer"), progress=True)),
    "questions": (4, lambda: evaluate_rag(of("question", "contexts", "answer", "ground_truth"), progress=True)),
    "summaries": (4, lambda: summarization_scores(of("contexts", "summary"), progress=True)),
    "comparisons": (4, lambda: compare_answers_many(of("question", "a", "b", "ground_truth"), progress=True)),
    "BERTScore": (4, lambda: bertscore_many(SUMMARIES, TEXTS, progress=True)),
    "METEOR": (4, lambda: meteor_many(SUMMARIES, SUMMARIES, synonyms=None, progress=True)),
    "checkers": (20, lambda: benchmark_checker("words", limit=20, n_resamples=0, progress=True)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_long_call_has_one_bar_that_counts_its_items(name, capsys):
    total, call = LONG[name]
    capsys.readouterr()
    call()
    found = bars(capsys.readouterr().err)
    assert list(found) == [(name, total)]
    counts = found[name, total]
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] == total


def test_one_pair_draws_no_bar_however_long_it_is(capsys):
    sentences = [f"Anna bought {number} red cars in Paris." for number in range(320)]
    assert checker(sentences, sentences[7])[0] and evaluate(" ".join(sentences), sentences[7]).score == 1
    assert capsys.readouterr().err == ""
