"""Who did it to whom: names the other way round clash, a passive, a place or a date told first do not."""

import pytest
from helpers.patience import comes_back

from summeval_nb.evidence._roles import role_clashes
from summeval_nb.evidence._slots import Words
from summeval_nb.evidence.check import take_apart

BEATEN = "Maria Jones was beaten by Anna Smith in the final."
CHAIRED = "As Bertram Foyle was delayed by a train, the meeting was chaired by the vice-president, Sunniva Clegg."
PAID = "Paul Shaw was paid 400 dollars by Lena Ortiz."
TRUE = [
    (BEATEN, "Anna Smith beat Maria Jones in the final."),
    (PAID, "Lena Ortiz paid Paul Shaw 400 dollars."),
    ("Lena Ortiz paid Paul Shaw 400 dollars.", PAID),
    (CHAIRED, "The vice-president, Sunniva Clegg, chaired it because Bertram Foyle was delayed by a train."),
    (
        "The first cases were reported on 2 June by Dr Lucja Farrant, a family doctor in Osterby.",
        "Dr Lucja Farrant, a family doctor in Osterby, reported the first cases on 2 June.",
    ),
    ("On Monday Tom Hale met Priya Nair in Leeds.", "Tom Hale met Priya Nair in Leeds on Monday."),
    ("In Leeds, Tom Hale met Priya Nair.", "Tom Hale met Priya Nair in Leeds."),
    ("In June the Kelda company sued Marston Ltd.", "The Kelda company sued Marston Ltd in June."),
    ("Follow Echo on Twitter, Echo on Instagram and Alto on YouTube.",) * 2,
    ("Maria Jones, who was coached by Anna Smith, thanked her family.", "Maria Jones thanked Anna Smith."),
    ("In Leeds, Tom Hale spoke about coal as the mayor.", "The mayor Tom Hale spoke about coal in Leeds."),
    (
        "The records show Lena Ortiz received 400 dollars from Paul Shaw.",
        "The records show Lena Ortiz was paid 400 dollars by Paul Shaw.",
    ),
    ("In the end Hale got the key to the hall from Nair.", "In the end Hale was given the key to the hall by Nair."),
    ("On Monday the mayor Hale met the writer Nair.", "On Monday the writer Nair met the mayor Hale."),
]
TURNED = [
    (BEATEN, "Maria Jones beat Anna Smith in the final."),
    (PAID, "Paul Shaw paid Lena Ortiz 400 dollars."),
    ("Lena Ortiz paid Paul Shaw 400 dollars.", "Lena Ortiz was paid 400 dollars by Paul Shaw."),
    ("Lena Ortiz paid Paul Shaw 400 dollars.", "Paul Shaw paid Lena Ortiz 400 dollars."),
    (PAID, "Lena Ortiz was paid 400 dollars by Paul Shaw."),
    (CHAIRED, "Bertram Foyle chaired the meeting because Sunniva Clegg was delayed by a train."),
    ("On Sunday Germany beat France in Paris.", "On Sunday France beat Germany in Paris."),
    ("The side from Leeds went top by beating York.", "The side from York beat Leeds."),
    (
        "For a while Leeds were leading by two goals when York scored.",
        "For a while York were leading when Leeds scored.",
    ),
    ("In the vote Hale was chosen by ten votes over Nair.", "In the vote Nair was chosen over Hale."),
    ("In the cup France on Sunday overcame a weak Germany.", "In the cup Germany on Sunday overcame France."),
    ("In court, April Jones had sued Tom Hale over the debt.", "In court, Hale sued April Jones over the debt."),
]


def clashes(claim: str, *evidence: str) -> int:
    found, count = role_clashes(Words.of(take_apart(claim)), [take_apart(text) for text in evidence])
    assert all(one.kind == "role" for one in found)
    return int(count)


@pytest.mark.parametrize(("evidence", "claim"), TRUE)
def test_the_same_roles_in_another_order_do_not_clash(evidence, claim):
    assert clashes(claim, evidence) == 0


@pytest.mark.parametrize(("evidence", "claim"), TURNED)
def test_turned_roles_clash_in_either_voice(evidence, claim):
    assert clashes(claim, evidence) >= 1


@pytest.mark.parametrize(("evidence", "claim"), TURNED)
def test_one_sentence_of_the_evidence_with_the_claims_roles_is_enough(evidence, claim):
    assert clashes(claim, evidence, claim) == 0


def test_many_mentions_do_not_make_it_slow():
    long = " ".join("then the mayor Hale thanked the writer Nair and the writer Nair thanked Hale," for _ in range(60))
    with comes_back():
        assert clashes(long, long) == 0
