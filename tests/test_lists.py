"""Lists under a lead-in with a *not*: what is read, where a finding stands, and that every measure reads alike."""

from summeval_nb import evaluate, evaluate_answer, summarization_score
from summeval_nb.judged import answer_faithfulness, context_recall, load_judge
from summeval_nb.judged.questions import facts_of
from summeval_nb.text.split import split_markdown
from summeval_nb.text.statements import LedReading, leads_into_items, read_with_leads, with_denying_leads

DENIED = "These were not approved:\n- the new roof\n- the second car park"
MINUTES = f"The board met on Monday. It approved the new library. {DENIED}\n\nThe meal was good."
PLAIN = [
    "The board met. It did not approve the roof.\n\nThe meal was good.",
    "The price includes:\n- the charger\n- a cable", "# Not included\n\nThe charger is sold in shops.", "",
    "It is not cheap.\n- the charger\n- a cable", "# Not only for children\n\n- the swings",
    "# No-bake cake\n\n- 200 g butter", "# Included\n\n- the charger", "It opened - not late - in 1931.",
]  # fmt: skip


def read(text):
    (found,) = split_markdown([text], progress=False)
    return found, read_with_leads(text, found)


def test_items_under_a_heading_with_a_not_are_read_with_it():
    for heading in ["# Not supported yet", "**Not supported yet**"]:
        text = f"The engine is fast.\n\n{heading}\n\n- Syncing network drives\n- Running two accounts"
        before, after = read(text)
        lead = heading.strip("#* ")
        assert [reading.plain for reading in after[2:]] == [
            f"{lead}: Syncing network drives",
            f"{lead}: Running two accounts",
        ]
        summary = "It supports syncing network drives. It can run two accounts now."
        bare = evaluate(text.replace(heading, "Other text."), summary).verdicts
        denied = evaluate(text, summary).verdicts
        assert all(verdict.supported for verdict in bare) and denied[0].state == "unclear"
        assert all(verdict.probability < other.probability for verdict, other in zip(denied, bare, strict=True))


def test_other_texts_are_read_as_before():
    for text in PLAIN:
        before, after = read(text)
        assert before == after and not any(isinstance(reading, LedReading) for reading in after)
    units = ["It is cheap.", "It does not cover", "- scratches", "- rust", "It covers", "- the motor"]
    assert leads_into_items(units, with_denying_leads(units)) == [False, True, False, False, False, False]


def test_findings_stand_in_the_item():
    for text in [DENIED, "It does not cover\n* **scratches**.\n* rust;", "Nobody may bring:\n1. dogs"]:
        for reading in read(text)[1]:
            assert len(reading.places) == len(reading.plain)
            for start in range(len(reading.plain)):
                low, high = reading.in_sentence(start, start + 1)
                assert 0 <= low < high <= len(reading.sentence.text)
    led = read(DENIED)[1][1]
    assert led.sentence.text[slice(*led.in_sentence(4, 7))] == "new"


def test_evaluate_the_judge_and_retrieval_read_a_list_alike():
    said, denied = "The new roof was approved.", "The new roof was not approved."
    found = evaluate(MINUTES, DENIED)
    assert found.score == 1.0 and [verdict.judged for verdict in found.verdicts] == [False, True, True]
    assert found.verdicts[1].details["note"].startswith("read as “The new roof was not approved”")
    assert "read as “The new roof was not approved”" in found._repr_html_()
    assert [verdict.supported for verdict in evaluate(MINUTES, f"{said} {denied}").verdicts] == [False, True]
    labels = [entailment.label for entailment in load_judge("embedded").entail(MINUTES, [said, denied])]
    assert labels[0] != "entailed" and labels[1] == "entailed"
    assert context_recall("What of the roof?", [MINUTES], denied).score == 1.0
    assert answer_faithfulness("What was approved?", [MINUTES], said).score == 0.0


def test_an_exam_asks_about_items_with_their_lead_in():
    facts = [fact.statement for fact in facts_of(MINUTES)]
    assert "The new roof was not approved." in facts and "The second car park was not approved." in facts
    assert not any("These were" in fact or fact.startswith("-") for fact in facts)
    kept = summarization_score(MINUTES, "The new roof was not approved, the library was.", conciseness=False)
    answers = {question.statement: answer.value for question, answer in zip(kept.questions, kept.answers, strict=True)}
    assert answers["The new roof was not approved."] == 1


def test_reports_show_the_item_as_it_was_read():
    """Of a list under a *not*, the evidence is an item with its lead-in; its place is that of the item."""
    (entailment,) = load_judge("embedded").entail(DENIED, ["The new roof was not approved."])
    best = entailment.evidence[0]
    assert best.text == DENIED[best.start : best.end] == "the new roof"
    assert best.read == best.shown == "The new roof was not approved"
    report = evaluate_answer(DENIED, "What of the roof?", MINUTES, "The new roof was not approved.")
    assert report.rows()[0]["evidence"][0] == best.read and f"<blockquote>{best.read}<" in report._repr_html_()
