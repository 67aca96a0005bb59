"""Names, numbers and dates of a sentence, by rules or by a pipeline that is handed over."""

from types import SimpleNamespace

import pytest

from summeval_nb.evidence.claims import entities, entities_by_rules


@pytest.mark.parametrize(
    "sentence, expected",
    [
        ("Anna bought 13 cars in Paris.", ["Anna", "13", "Paris"]),
        ("The mayor met Anna Hidalgo on 14 July 2019.", ["Anna Hidalgo", "14 July 2019"]),
        ("On July 14, 2019, it cost $1,300.50.", ["July 14, 2019", "$1,300.50"]),
        ("The price rose 3.5% in 2020.", ["3.5%", "2020"]),
        ("The Bank of England raised rates.", ["Bank of England"]),
        ("It rained.", []),
        ("In Berlin nobody slept.", ["Berlin"]),
    ],
)
def testentities_by_rules(sentence, expected):
    assert [sentence[start:end] for start, end, _ in entities_by_rules(sentence)] == expected


def test_kinds_are_named():
    found = entities_by_rules("The mayor of Paris, Anna Hidalgo, met 1,300 people on 14 July 2019.")
    assert [kind for _, _, kind in found] == ["NAME", "NAME", "NUMBER", "DATE"]


def test_a_pipeline_that_is_handed_over_replaces_the_rules():
    seen = [SimpleNamespace(start_char=0, end_char=4, type="PERSON")]
    assert entities("Anna left Paris.", lambda text: SimpleNamespace(ents=seen)) == [(0, 4, "PERSON")]
    assert entities("Anna left Paris.", None) == entities_by_rules("Anna left Paris.")
