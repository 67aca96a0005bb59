"""What moved a verdict: every feature has a meaning, the rows add up, and what is shown is escaped."""

import pytest

from summeval_nb import EmbeddedChecker
from summeval_nb.evidence._explained import MEANING, meaning
from summeval_nb.evidence._reading import ALL_FEATURES
from summeval_nb.evidence.check import sigmoid

EVIDENCE = ["The harbour board approved the new ferry terminal on Tuesday.", "It will cost 48 million <b>crowns</b>."]
CLAIM = "The harbour board rejected the new ferry terminal on Tuesday."


@pytest.mark.parametrize("name", ALL_FEATURES)
def test_every_feature_has_a_meaning(name):
    assert meaning(name) and len(meaning(name)) < 100


def test_nothing_else_has_a_meaning():
    assert set(MEANING) <= {*ALL_FEATURES, "in_place", "own_words"}


@pytest.mark.parametrize("options", [{}, {"slope": 2.0, "offset": -1.0}])
@pytest.mark.parametrize("most", [1, 10, 500])
def test_the_rows_add_up_to_the_log_odds(options, most):
    checker = EmbeddedChecker(**options)
    explanation = checker.explain(EVIDENCE, CLAIM, most=most)
    *parts, total = explanation.rows()
    assert sum(row["moved"] for row in parts) == pytest.approx(total["moved"], abs=1e-9)
    assert sigmoid(total["moved"]) == pytest.approx(explanation.verdict.probability)
    assert explanation.verdict.probability == checker.check_many([(EVIDENCE, CLAIM)])[0].probability
    others = next(row for row in parts if row["feature"] == "all others")
    if most == 500:  # what is left are the features that moved it by less than .005 each
        assert abs(others["moved"]) <= 0.005 * len(ALL_FEATURES)
    sizes = [abs(row["moved"]) for row in parts[1 : 1 + most] if row["feature"] in ALL_FEATURES]
    assert sizes == sorted(sizes, reverse=True)


def test_over_an_article_it_explains_the_verdict_of_evaluate():
    from summeval_nb import evaluate

    article = " ".join(EVIDENCE)
    explanation = EmbeddedChecker().explain(article, CLAIM)
    (verdict,) = evaluate(article, CLAIM).verdicts
    assert (explanation.verdict.probability, explanation.verdict.state) == (verdict.probability, verdict.state)
    assert explanation.evidence == [EVIDENCE[item.index] for item in verdict.evidence]


def test_it_is_shown_as_text_and_as_html_that_is_escaped():
    page = EmbeddedChecker().explain(EVIDENCE, CLAIM + " <script>alert(1)</script>")
    assert "<script>" not in page._repr_html_() and "&lt;script&gt;" in page._repr_html_()
    assert "<b>crowns" not in page._repr_html_()
    assert "log-odds" in str(page) and "all claims start at" in str(page) and "rejected" in str(page)


@pytest.mark.parametrize(
    ("text", "sentence", "error", "message"),
    [
        (EVIDENCE, "***", ValueError, "no verdict on"),
        (" ".join(EVIDENCE), "It rained. It snowed.", ValueError, "one sentence, and these are 2"),
        ("", "It rained.", ValueError, "nothing to explain: the article is empty"),
        ([], "It rained.", ValueError, "no evidence"),
        ([3], "It rained.", TypeError, "text"),
    ],
)
def test_what_cannot_be_explained_says_why(text, sentence, error, message):
    with pytest.raises(error, match=message):
        EmbeddedChecker().explain(text, sentence)
    with pytest.raises(ValueError, match="most"):
        EmbeddedChecker().explain(EVIDENCE, CLAIM, most=0)
