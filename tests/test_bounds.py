"""What a number may lie between: exactly, about, more than, no more than."""

import pytest

from summeval_nb.evidence._differences import word_differences
from summeval_nb.evidence.check import take_apart

SAME = [
    ("She scored 52 goals.", "She scored more than 50 goals."),
    ("She scored 48 goals.", "She scored fewer than 50 goals."),
    ("She scored 48 goals.", "She scored up to 50 goals."),
    ("She scored 48 goals.", "She scored at most 50 goals."),
    ("She scored 48 goals.", "She scored no more than 50 goals."),
    ("She scored 52 goals.", "She scored no fewer than 50 goals."),
    ("She scored 48 goals.", "She scored about 50 goals."),
    ("The firm earned 2 million euros.", "The firm earned 2,000,000 euros."),
    ("Unemployment fell to 5.4 percent.", "Unemployment fell to 5.4 percent."),
]
OTHER = [
    ("Unemployment fell to 5.4 percent.", "Unemployment fell to 5.0 percent."),
    ("The death toll rose to 108.", "The death toll rose to 115."),
    ("He was sentenced to 20 years.", "He was sentenced to 21 years."),
    ("The wait rose to 38 weeks.", "The wait rose to 36 weeks."),
    ("She scored 46 goals.", "She scored more than 50 goals."),
    ("She scored 52 goals.", "She scored fewer than 50 goals."),
    ("260 people came to the fair.", "No more than 250 people visited the fair."),
    ("She scored 52 goals.", "She scored up to 50 goals."),
    ("He studied 47 cases.", "He studied the most recent 50 cases."),
    ("Profit rose 12 percent to 40 million euros.", "The company said its profit had risen by 40 percent."),
    ("In the first half of the year revenue rose by 31 percent.", "The firm said revenue had risen by 50 percent."),
]


def numbers_of(evidence: str, claim: str) -> list[str]:
    """Which numbers of the claim clash."""
    parts = take_apart(claim)
    _, clashes = word_differences(parts, [take_apart(evidence)], (0, 0))
    return [parts.tokens[one.first].key for one in clashes if one.kind == "number" and one.firm]


@pytest.mark.parametrize(("evidence", "claim"), SAME)
def test_a_number_within_what_is_said_does_not_clash(evidence, claim):
    assert numbers_of(evidence, claim) == []


@pytest.mark.parametrize(("evidence", "claim"), OTHER)
def test_a_number_beyond_what_is_said_clashes(evidence, claim):
    assert numbers_of(evidence, claim)
