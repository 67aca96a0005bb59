"""Lists under a lead-in with a *not*: what is read, where a finding stands, and that every measure reads alike."""

import pytest

from summeval_nb import evaluate, evaluate_answer, summarization_score
from summeval_nb.judged import answer_faithfulness, context_recall, load_judge
from summeval_nb.judged.questions import facts_of
from summeval_nb.text.lists import LEADS, LedReading, leads_into_items, read_with_leads, with_denying_leads
from summeval_nb.text.split import split_markdown

DENIED = "These were not approved:\n- the new roof\n- the second car park"
MINUTES = f"The board met on Monday. It approved the new library. {DENIED}\n\nThe meal was good."
PLAIN = [
    "The board met. It did not approve the roof.\n\nThe meal was good.",
    "The price includes:\n- the charger\n- a cable",
    "It is not cheap.\n- the charger\n- a cable",
    "# Not only for children\n\n- the swings",
    "# No-bake cake\n\n- 200 g butter",
    "# Included\n\n- the charger",
    "# Not included\n\nThe charger is sold in shops.",
    "It opened - not late - in 1931.",
    "",
]


def read(text):
    (found,) = split_markdown([text], progress=False)
    return found, read_with_leads(text, found)


def test_items_under_a_not_are_read_with_it_and_the_lead_in_is_not_judged_alone():
    before, after = read(MINUTES)
    assert [one.plain for one in after[3:5]] == [
        "The new roof was not approved",
        "The second car park was not approved",
    ]
    assert after[2].reason == LEADS and [one.reason for one in after].count(LEADS) == 1
    assert [one.sentence for one in after] == [one.sentence for one in before]
    assert all(isinstance(one, LedReading) == (i in (3, 4)) for i, one in enumerate(after))


@pytest.mark.parametrize("heading", ["# Not supported yet", "**Not supported yet**", "## What it cannot do"])
def test_items_under_a_heading_with_a_not_are_read_with_it(heading):
    text = f"The engine is fast.\n\n{heading}\n\n- Syncing network drives\n- Running two accounts"
    before, after = read(text)
    lead = heading.strip("#* ")
    assert [one.plain for one in after[2:]] == [f"{lead}: Syncing network drives", f"{lead}: Running two accounts"]
    assert [one.reason for one in after] == [one.reason for one in before]  # a heading was not judged before, either
    summary = "It supports syncing network drives. It can run two accounts now."
    bare = evaluate(text.replace(heading, "Other text."), summary).verdicts
    denied = evaluate(text, summary).verdicts
    assert all(one.supported for one in bare) and denied[0].state == "unclear"
    assert all(one.probability < other.probability for one, other in zip(denied, bare, strict=True))


@pytest.mark.parametrize("text", PLAIN)
def test_other_texts_are_read_as_before(text):
    before, after = read(text)
    assert before == after and not any(isinstance(one, LedReading) for one in after)


@pytest.mark.parametrize("text", [DENIED, "It does not cover\n* **scratches**.\n* rust;", "Nobody may bring:\n1. dogs"])
def test_findings_stand_in_the_item(text):
    for one in read(text)[1]:
        assert len(one.places) == len(one.plain)
        for start in range(len(one.plain)):
            low, high = one.in_sentence(start, start + 1)
            assert 0 <= low < high <= len(one.sentence.text)
    led = read(DENIED)[1][1]
    assert led.sentence.text[slice(*led.in_sentence(led.plain.index("was"), len(led.plain)))] == "the new roof"
    assert led.sentence.text[slice(*led.in_sentence(4, 7))] == "new"


def test_which_unit_leads():
    units = ["It is cheap.", "It does not cover", "- scratches", "- rust", "It covers", "- the motor"]
    assert leads_into_items(units, with_denying_leads(units)) == [False, True, False, False, False, False]


def test_evaluate_the_judge_and_retrieval_read_a_list_alike():
    said, denied = "The new roof was approved.", "The new roof was not approved."
    found = evaluate(MINUTES, DENIED)
    assert found.score == 1.0 and [one.judged for one in found.verdicts] == [False, True, True]
    assert found.verdicts[1].details["note"].startswith("read as “The new roof was not approved”")
    assert "read as “The new roof was not approved”" in found._repr_html_()
    wrong = evaluate("The board approved the new roof and the second car park.", DENIED)
    assert wrong.score == 0.0
    assert [one.supported for one in evaluate(MINUTES, f"{said} {denied}").verdicts] == [False, True]
    labels = [one.label for one in load_judge("embedded").entail(MINUTES, [said, denied])]
    assert labels[0] != "entailed" and labels[1] == "entailed"
    assert context_recall("What of the roof?", [MINUTES], denied).score == 1.0
    recall = context_recall("What was not approved?", [MINUTES], DENIED)
    assert [one.text for one in recall.statements] == [
        "The new roof was not approved",
        "The second car park was not approved",
    ]
    assert recall.score == 1.0
    assert answer_faithfulness("What was approved?", [MINUTES], said).score == 0.0
    assert [one.label for one in recall.statements] == ["entailed", "entailed"]


def test_the_same_verdict_from_evaluate_and_the_judge():
    found = evaluate(MINUTES, DENIED)
    (one, two) = load_judge("embedded").entail(
        MINUTES, ["The new roof was not approved", "The second car park was not approved"]
    )
    assert [one.probability, two.probability] == pytest.approx([v.probability for v in found.verdicts[1:]], abs=1e-6)


def test_an_exam_asks_about_items_with_their_lead_in():
    facts = [one.statement for one in facts_of(MINUTES)]
    assert "The new roof was not approved" in facts and "The second car park was not approved" in facts
    assert not any("These were" in one or one.startswith("-") for one in facts)
    kept = summarization_score(MINUTES, "The new roof was not approved, the library was.", conciseness=False)
    answers = {question.statement: answer.value for question, answer in zip(kept.questions, kept.answers, strict=True)}
    assert answers["The new roof was not approved"] == 1
    wrong = summarization_score(MINUTES, "The new roof was approved.", conciseness=False)
    answers = {
        question.statement: answer.value for question, answer in zip(wrong.questions, wrong.answers, strict=True)
    }
    assert answers["The new roof was not approved"] == 0


def test_reports_show_the_item_as_it_was_read():
    """Of a list under a *not*, the evidence is an item with its lead-in; its place is that of the item."""
    (one,) = load_judge("embedded").entail(DENIED, ["The new roof was not approved."])
    best = one.evidence[0]
    assert best.text == DENIED[best.start : best.end] == "the new roof"
    assert best.read == best.shown == "The new roof was not approved"
    assert [passage.read for passage in load_judge("embedded").entail("It rained.", ["It rained."])[0].evidence] == [""]
    recall = context_recall("What of the roof?", [DENIED], "The new roof was not approved.")
    assert recall.statements[0].evidence[0] == best.read
    report = evaluate_answer(DENIED, "What of the roof?", MINUTES, "The new roof was not approved.")
    assert report.rows()[0]["evidence"][0] == best.read and f"<blockquote>{best.read}<" in report._repr_html_()
