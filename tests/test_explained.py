"""Why a verdict is what it is: every number has a meaning, the rows add up, and what is shown is escaped."""

import math

import pytest

from summeval_nb import EmbeddedChecker, evaluate
from summeval_nb.evidence.embedded import MEANING, NUMBERS, Explanation
from summeval_nb.evidence.words import sigmoid

EVIDENCE = ["The harbour board approved the new ferry terminal on Tuesday.", "It will cost 48 million <b>crowns</b>."]
CLAIM = "The harbour board rejected the new ferry terminal on Tuesday."
CHANGED = "The harbour board did not approve the new ferry terminal on Tuesday."


def explained(claim, **options):
    (verdict,) = EmbeddedChecker(**options).check_many([(EVIDENCE, claim)])
    return Explanation(claim, EVIDENCE, verdict)


@pytest.mark.parametrize("name", [*NUMBERS, "intercept", "copied", "recalibration"])
def test_every_number_has_a_meaning(name):
    assert MEANING[name] and len(MEANING[name]) < 100


def test_nothing_else_has_a_meaning():
    assert set(MEANING) == {*NUMBERS, "intercept", "copied", "recalibration"}


@pytest.mark.parametrize("options", [{}, {"slope": 2.0, "offset": -1.0}])
@pytest.mark.parametrize("claim", [CLAIM, CHANGED])
def test_the_rows_add_up_to_the_log_odds(claim, options):
    explanation = explained(claim, **options)
    *parts, total = explanation.rows()
    assert sum(row["moved"] for row in parts) == pytest.approx(total["moved"], abs=1e-6)
    assert total["moved"] == explanation.log_odds and total["number"] == "log-odds"
    assert sigmoid(total["moved"]) == pytest.approx(explanation.verdict.probability)
    names = [row["number"] for row in parts]
    assert set(names) == set(explanation.verdict.details["terms"]) | ({"recalibration"} if options else set())
    sizes = [abs(row["moved"]) for row in parts[1:]]
    assert names[0] == "intercept" and sizes == sorted(sizes, reverse=True)


def test_a_row_has_its_number_and_what_it_means():
    explanation = explained(CHANGED)
    rows = {row["number"]: row for row in explanation.rows()}
    numbers, terms = (explanation.verdict.details[name] for name in ("numbers", "terms"))
    for name in NUMBERS:
        assert rows[name] == {"number": name, "value": numbers[name], "moved": terms[name], "meaning": MEANING[name]}
    assert (rows["copied"]["value"], rows["copied"]["moved"]) == (1.0, terms["copied"])


def test_a_certain_probability_has_infinite_log_odds():
    explanation = explained(CLAIM, slope=1e4)
    assert explanation.verdict.probability == 0 and explanation.log_odds == -math.inf
    *parts, total = explanation.rows()
    assert sum(row["moved"] for row in parts) == total["moved"]
    assert "-inf" in str(explanation) and "-inf" in explanation._repr_html_()


def test_over_an_article_it_explains_the_verdict_of_evaluate():
    result = evaluate(" ".join(EVIDENCE), CLAIM)
    explanation, (verdict,) = result.explain(0), result.verdicts
    assert (explanation.verdict.probability, explanation.verdict.state) == (verdict.probability, verdict.state)
    assert explanation.evidence == [EVIDENCE[item.index] for item in verdict.evidence]


def test_it_is_shown_as_text_and_as_html_that_is_escaped():
    page = explained(CLAIM + " <script>alert(1)</script>")
    assert "<script>" not in page._repr_html_() and "&lt;script&gt;" in page._repr_html_()
    assert "<b>crowns" not in page._repr_html_()
    text = str(page)
    assert text.startswith(f"{page.verdict.state} {page.verdict.probability:.2f}: {page.sentence}")
    assert "log-odds" in text and "where all sentences start" in text and "antonym “rejected”" in text
