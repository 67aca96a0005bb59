"""Another name beside the same words clashes, wherever in the sentence they stand; a name told in full does not."""

import pytest

from summeval_nb import evaluate
from summeval_nb.evidence._beside import beside_clashes
from summeval_nb.evidence._slots import Words
from summeval_nb.evidence.check import take_apart

HOME = "Until the appeal is decided, Dahl may remain at home."
FORMS = "The forms for the rail pass are collected by Bernard Roy in finance."
LIEN = "Tor Lien went to the police in May."


def found(claim, *evidence):
    own, told = Words.of(take_apart(claim)), [Words.of(take_apart(text)) for text in evidence]
    return [(" ".join(own.raw[one.first : one.last + 1]), one.instead_of) for one in beside_clashes(own, told)]


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        ("Lien may remain at home until the appeal is decided.", (HOME, LIEN), [("lien", "dahl")]),
        ("It is clear that Tor Lien may remain at home.", (HOME, LIEN), [("tor lien", "dahl")]),
        ("Forms are collected by Tor Lien, not sent.", (FORMS, LIEN), [("tor lien", "bernard")]),
    ],
)
def test_another_name_beside_the_same_words_clashes(claim, evidence, expected):
    assert found(claim, *evidence) == expected
    (verdict,) = evaluate(" ".join(evidence), claim).verdicts
    assert verdict.state != "supported"
    assert any(one.kind == "name" and one.clash for one in verdict.findings)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Henrik Dahl may remain at home.", (HOME, "Henrik Dahl was sentenced on Monday.")),  # told in full
        ("Lien may remain at home.", (HOME.replace("Dahl", "he"), LIEN)),  # a pronoun
        ("Lien may remain at home.", (HOME, "Lien may remain at home, too.")),  # both may
        ("Lien may stay at home.", (HOME, LIEN)),  # other words
        ("Dahl and Lien may remain at home.", (HOME, LIEN)),
        ("In May Dahl may remain at home.", (HOME, "In June Dahl may remain at home.")),  # when, not who
        ("Dahls may remain at home.", (HOME, "The Dahls left.")),  # the same name
        ("Lien may remain at home.", (HOME.replace("Dahl", "Dahl, Lien says,"), LIEN)),
        ("Lien said that the tree was inspected.", ("Dahl said that the tree had looked healthy.", LIEN)),
        ("", (HOME,)),
    ],
)
def test_what_may_be_the_same_does_not(claim, evidence):
    assert found(claim, *evidence) == []
