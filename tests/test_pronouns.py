"""Pronouns without a language model: replaced where one subject can be meant, left alone and named elsewhere."""

import pytest

from summeval_nb.judged._pronouns import resolve_by_rules
from summeval_nb.judged.judge import EmbeddedJudge

SURE = [
    ("Marie Curie was born in Warsaw in 1867.", "She won the prize twice.", "Marie Curie won the prize twice."),
    ("The ferry has run since 1994.", "It carries 60 cars.", "The ferry carries 60 cars."),
    ("The ferry has run since 1994.", "Its captain is Norwegian.", "The ferry’s captain is Norwegian."),
    ("Northgate Bank closed 14 branches.", "It lost 3 million euros.", "Northgate Bank lost 3 million euros."),
    ("The mayor resigned on Monday.", "She was ill.", "The mayor was ill."),
    ("The players left the field.", "They were tired.", "The players were tired."),
    ("Tickets cost 9 euros.", "They are valid for a day.", "Tickets are valid for a day."),
    ("Tickets cost 9 euros.", "Their price rose.", "Tickets’ price rose."),
    (
        "The warranty covers the motor and the display.",
        "It does not cover scratches.",
        "The warranty does not cover scratches.",
    ),
    ("The buses carried pupils.", "They also carried parcels.", "The buses also carried parcels."),
    ("Dr. Ana Ruiz led the study.", "She was pleased.", "Dr. Ana Ruiz was pleased."),
]
UNSURE = [
    ("The ferry hit the bridge.", "It was damaged."),
    ("Marie Curie met Lise Meitner in Berlin.", "She was ill."),
    ("Anna met Ben.", "He was late."),
    ("Adults pay 9 euros on the ferry.", "She takes bicycles free of charge."),
    ("The council of Lund approved a new tram line.", "It opens in 2027."),
    ("The players met the judges.", "They were tired."),
    ("In May the bank failed.", "It had lost money."),
    ("The warranty covers the motor.", "It does not run without oil."),
    ("The bank was sold to the town.", "It was founded in 1901."),
    ("The buses carried the pupils.", "It carried parcels, too."),
    ("Many teachers fear that they lose their afternoons.", "Their chairman asked for a limit."),
    ("The mayor met a doctor.", "He was ill."),
]


@pytest.mark.parametrize(("before", "unit", "read"), SURE)
def test_a_pronoun_with_one_candidate_is_replaced_and_shown(before, unit, read):
    found = resolve_by_rules([before, unit])
    assert found.units == (before, read) and f"“{unit.split()[0]}” (sentence 2) is read as" in found.note


@pytest.mark.parametrize(("before", "unit"), UNSURE)
def test_an_ambiguous_pronoun_stays_and_is_named(before, unit):
    found = resolve_by_rules([before, unit])
    assert found.units == (before, unit) and "what it stands for is not clear" in found.note


@pytest.mark.parametrize("unit", ["It rained.", "It is true that he left.", "It was in May that it rained."])
def test_an_it_that_stands_for_nothing_is_left_alone(unit):
    found = resolve_by_rules(["The bridge opened in 1931.", unit])
    assert found.units[1] == unit and found.note == ""


def test_the_subject_is_carried_on_and_no_pronoun_needs_no_note():
    units = ["The ferry has run since 1994.", "It runs daily.", "It stops at six."]
    assert resolve_by_rules(units).units[2] == "The ferry stops at six."
    assert resolve_by_rules(["It rained.", "The sun came out."]).note == ""
    assert resolve_by_rules(["She left."]).units == ("She left.",)


def test_the_embedded_judge_resolves_by_these_rules():
    found = EmbeddedJudge().resolve_pronouns("x", ["The ferry has run since 1994.", "It runs daily."])
    assert found.units[1] == "The ferry runs daily."
