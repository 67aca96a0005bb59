"""What the evidence only denies, asks or supposes is not said by it; what it says beside that is."""

import pytest

from summeval_nb import evaluate
from summeval_nb.evidence._slots import Words
from summeval_nb.evidence._unsaid import unsaid_clashes
from summeval_nb.evidence.check import take_apart

UNSAID = [
    ("No evidence of a leak was found in the tank.", "A leak was found in the tank.", "tank"),
    ("No sign of infection was seen on the scan.", "Infection was seen on the scan.", "scan"),
    ("Investigators found no proof of bribery.", "Investigators found bribery.", "bribery"),
    ("There was no evidence of fraud.", "There was fraud.", "fraud"),
    ("No evidence of pulmonary embolism was found on the scan.", "She had a pulmonary embolism.", "embolism"),
    ("They did not find any trace of fraud.", "They found fraud.", "fraud"),
    ("There is no evidence that the drug works in children.", "The drug works in children.", "children"),
    ("No evidence was found that the drug works in children.", "The drug works in children.", "children"),
    ("Not approved: a second release in June", "There will be a second release in June.", "june"),
    ("Rejected: hiring a contractor", "Hiring a contractor", "contractor"),
    ("Out of scope for now: a mobile app", "A mobile app", "app"),
    ("The mobile app was not done.", "The mobile app", "app"),
    ("If the tenant does not leave, the landlord may go to court.", "The tenant does not leave.", "leave"),
    ("She did not know whether the bridge was safe.", "The bridge was safe.", "safe"),
    ("Is the glass cracked?", "The glass is cracked.", "cracked"),
]
SAID = [
    ("She was discharged without any sign of infection.", "She was discharged."),
    ("She did not go home but stayed at the hotel.", "She stayed at the hotel."),
    ("The glider, which had not flown for years, was sold to Leeds.", "The glider was sold to Leeds."),
    ("He left the house with no money.", "He left the house."),
    ("The roof was not only repaired but painted.", "The roof was repaired."),
    ("No more than ten men came.", "Ten men came."),
    ("The police found no evidence of a break-in, and the window was intact.", "The window was intact."),
    ("Asked if he would resign, he said that he would stay.", "He would stay."),
    ("There was no evidence of fraud.", "There was no fraud."),
    ("There was no evidence of fraud.", "He was cleared of fraud."),
    ("If it rains, the match is moved.", "If it rains the match is moved."),
    ("Is the glass cracked?", "Is the glass cracked?"),
    ("No love: 13 letters were auctioned on Monday.", "13 letters were auctioned on Monday."),
    ("Residents cannot use the pool until the pump is repaired.", "Residents can use the pool in May."),
    ("The cafe will not open to the public before March.", "The cafe will open to the public in March."),
    ("How tall is it? I asked.", "I asked how tall it is."),
    ("It rained.", "!"),
]


def asked(claim, *evidence):
    own = Words.of(take_apart(claim))
    return [own.raw[one.last] for one in unsaid_clashes(own, [Words.of(take_apart(text)) for text in evidence])]


@pytest.mark.parametrize(("evidence", "claim", "word"), UNSAID)
def test_what_is_only_denied_asked_or_supposed_clashes(evidence, claim, word):
    assert asked(claim, evidence, "It rained in Leeds.") == [word]


@pytest.mark.parametrize(("evidence", "claim"), SAID)
def test_what_is_said_beside_it_does_not(evidence, claim):
    assert asked(claim, evidence, "It rained in Leeds.") == []


def test_what_another_sentence_says_is_said():
    claim = "A leak was found in the tank."
    assert asked(claim, "In March no sign of a leak was found in the tank.") == ["tank"]
    assert (
        asked(claim, "In March no sign of a leak was found in the tank.", "In May a leak in the tank was found.") == []
    )


@pytest.mark.parametrize(("evidence", "claim", "word"), UNSAID)
def test_it_is_never_called_supported(evidence, claim, word):
    (verdict,) = evaluate(evidence, claim).verdicts
    assert verdict.state != "supported"


def test_evidence_of_signs_alone_says_nothing():
    from summeval_nb import EmbeddedChecker

    (verdict,) = EmbeddedChecker().check_many([(["It rained.", "???"], "It snowed.")])
    assert not verdict.failed and not verdict.supported
