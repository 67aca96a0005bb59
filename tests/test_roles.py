"""Who did it to whom: names the other way round clash, a passive, a place or a date told first do not."""

import pytest
from helpers.patience import comes_back

from summeval_nb.evidence._differences import word_differences
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


def firm_kinds(evidence, claim):
    found = word_differences(take_apart(claim), [take_apart(evidence)], (0, 0))[1]
    return [one.kind for one in found if one.firm]


INVERTED = [
    ("Paris is the capital of France.", "The capital of France is Paris."),
    ("Anna Berg was the winner of the Oslo race.", "The winner of the Oslo race was Anna Berg."),
    ("Oslo is the largest city in Norway", "The largest city in Norway is Oslo"),
    ("Oslo is Norway's capital.", "The capital of Norway is Oslo."),
    ("Anna Berg is Kelda's largest owner.", "Kelda's largest owner is Anna Berg."),
    ("Anna Berg is also the head of Kelda.", "The head of Kelda is Anna Berg."),
    ("On Sunday Anna Berg was the winner of the Oslo race.", "The winner of the Oslo race on Sunday was Anna Berg."),
    ("Anna Berg has been the head of Kelda since 2019.", "Since 2019 the head of Kelda has been Anna Berg."),
    ("Anna is the mother of Ben.", "The mother of Ben is Anna."),
    ("In May Anna Berg was the winner.", "In May the winner was Anna Berg."),
    ("For him the real danger was the ice.", "For him the ice was the real danger."),
    (
        "Tom Hale is the head of Kelda and Ann Lee is the head of Marston.",
        "The head of Kelda is Tom Hale and the head of Marston is Ann Lee.",
    ),
]
SHORTENED = [
    ("Anna Berg was the winner of the race.", "The winner was Anna Berg."),
    ("Anna Berg, who lives in Oslo, is the head of Kelda.", "The head of Kelda is Anna Berg."),
    ("Dr Miriam Oduya is the head of the Leeds study.", "The head of the Leeds study is Miriam Oduya."),
    ("The winner of the Oslo race was Anna Berg.", "In Oslo Anna Berg was the winner."),
]
NOT_INVERTED = [
    ("Ben is the mother of Anna.", "Anna is the mother of Ben."),
    ("In court Anna is the mother of Ben.", "In court Ben is Anna."),
    ("Paris is the capital of France.", "France is the capital of Paris."),
    ("The owner of Kelda is Marston.", "The owner of Marston is Kelda."),
    ("In May Tom Hale was the teacher of Priya Nair.", "In May Priya Nair was the teacher of Tom Hale."),
    ("On Monday Ben Hill's boss was Tom Hale.", "On Monday Tom Hale's boss was Ben Hill."),
    ("In short, Oslo is in Norway.", "In short, Norway is in Oslo."),
    ("They say Hull is larger than Leeds.", "They say Leeds is larger than Hull."),
    ("The bank is behind the mill.", "The mill is behind the bank."),
    ("In May the bank was the owner of the mill.", "In May the mill was the owner of the bank."),
    ("Tom Hale is the head of Kelda and Ann Lee is the head of Marston.", "The head of Marston is Tom Hale."),
    ("As we know, Oslo is the second largest city of Norway.", "The largest city of Norway is Oslo."),
    ("Oslo is the largest city of Norway, and Bergen is the second.", "The second largest city of Norway is Oslo."),
    ("Hull beat Leeds.", "Leeds beat Hull."),
]


@pytest.mark.parametrize(("evidence", "claim"), [*INVERTED, *((b, a) for a, b in INVERTED), *SHORTENED])
def test_an_inverted_copula_does_not_clash(evidence, claim):
    assert firm_kinds(evidence, claim) == []


@pytest.mark.parametrize(("evidence", "claim"), NOT_INVERTED)
def test_exchanged_roles_around_a_form_of_be_clash(evidence, claim):
    assert "role" in firm_kinds(evidence, claim)
