"""Statements by rules: clauses, items of a list with the words that lead into them, and pronouns."""

from helpers.cases import cases

from summeval_nb.judged.embedded import EmbeddedJudge
from summeval_nb.text.statements import (
    clause_statements,
    premise_sentences,
    resolve_by_rules,
)

STATEMENTS = cases("""
The rain stopped, but the match was cancelled. | The rain stopped; The match was cancelled
Facts:⏎- opened in 1931⏎- long | opened in 1931; long
These are not included:⏎* the charger | The charger is not included
Not in the price:⏎- the charger⏎  and its cable | Not in the price: the charger and its cable
The price includes:⏎- the charger⏎- a cable | The price includes the charger; The price includes a cable
These are not included:⏎* charger and cable | Charger and cable are not included
Nobody may bring:⏎1. dogs | Nobody may bring: dogs
- one⏎- two | one; two
Blue. | Blue
""")


def test_statements():
    for text, statements in STATEMENTS:
        found = [claim.rstrip(".") for claim in clause_statements(text)]
        assert found == [statement.rstrip(".") for statement in statements.split("; ")]


SURE = cases("""
Marie Curie was born in Warsaw in 1867. | She won the prize twice. | Marie Curie won the prize twice.
The ferry has run since 1994. | Its captain is Norwegian. | The ferry’s captain is Norwegian.
The mayor resigned on Monday. | She was ill. | The mayor was ill.
Tickets cost 9 euros. | They are valid for a day. | Tickets are valid for a day.
Tickets cost 9 euros. | Their price rose. | Tickets’ price rose.
The warranty covers the motor and the display. | It does not cover scratches. | The warranty does not cover scratches.
The buses carried pupils. | They also carried parcels. | The buses also carried parcels.
Dr. Ana Ruiz led the study. | She was pleased. | Dr. Ana Ruiz was pleased.
""")


UNSURE = cases("""
Marie Curie met Lise Meitner in Berlin. | She was ill.
Adults pay 9 euros on the ferry. | She takes bicycles free of charge.
The council of Lund approved a new tram line. | It opens in 2027.
The warranty covers the motor. | It does not run without oil.
Many teachers fear that they lose their afternoons. | Their chairman asked for a limit.
The ferry hit the bridge. | It was damaged.
The buses carried the pupils. | It carried parcels, too.
""")


def test_a_pronoun_with_one_candidate_is_replaced_and_shown_and_another_stays_and_is_named():
    for before, unit, read in SURE:
        found = resolve_by_rules([before, unit])
        assert found.units == (before, read) and f"“{unit.split()[0]}” (sentence 2) is read as" in found.note
    for before, unit in UNSURE:
        found = resolve_by_rules([before, unit])
        assert found.units == (before, unit) and "what it stands for is not clear" in found.note
    for [unit] in cases("""
It rained.
It is true that he left.
It was in May that it rained.
"""):
        found = resolve_by_rules(["The bridge opened in 1931.", unit])
        assert found.units[1] == unit and found.note == ""
    units = ["The ferry has run since 1994.", "It runs daily.", "It stops at six."]
    assert resolve_by_rules(units).units[2] == "The ferry stops at six."
    assert resolve_by_rules(["It rained.", "The sun came out."]).note == ""
    assert resolve_by_rules(["She left."]).units == ("She left.",)
    found = EmbeddedJudge().resolve_pronouns("x", ["The ferry has run since 1994.", "It runs daily."])
    assert found.units[1] == "The ferry runs daily."


def test_long_premises_are_cut_and_their_spans_point_into_them():
    long = "It rained. " + "1994;400;passengers;" * 100
    found = premise_sentences(long)
    assert len(found) > 3 and all(long[s.start : s.end] == s.text and len(s) <= 500 for s in found)
