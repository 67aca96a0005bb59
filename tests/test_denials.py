"""What is denied on one side only clashes; a "not" that says the same elsewhere does not."""

import pytest

from summeval_nb.evidence._differences import findings_of, word_differences
from summeval_nb.evidence.check import take_apart


def compared(claim: str, evidence: str) -> tuple[dict[str, float], list[tuple[str, str]]]:
    """Return the features of what is different, and kind and text of each firm clash."""
    parts, told = take_apart(claim), [take_apart(evidence)]
    features, found = word_differences(parts, told, (0, 0))
    return features, [(one.kind, one.text) for one in findings_of(parts, found) if one.clash]


SAME = [
    ("The cafe will not open until March.", "The cafe will open in March at the earliest."),
    ("The bridge will not reopen before autumn.", "The bridge will reopen in autumn or later."),
    ("The cafe will not open to the public before March.", "The cafe will open to the public in March."),
    ("The company did not pay the fine until June.", "The company will pay the fine in June."),
    ("Guests may not vote unless they pay.", "Guests may vote if they pay."),
    (
        "Residents cannot use the pool until the pump is repaired.",
        "Residents can use the pool once the pump is repaired.",
    ),
    ("No visitors were allowed into the ward.", "Visitors were not allowed into the ward."),
    ("None of the players was injured.", "The players were not injured."),
    ("No decision was made on Monday.", "A decision was not made on Monday."),
    ("The council did not name a new date.", "The council named no new date."),
    ("The firm did not pay a dividend.", "The firm paid no dividend."),
    ("The tablets did not bring relief.", "The tablets brought no relief."),
    ("The museum is not only a school but also a theatre.", "The museum is both a school and a theatre."),
    ("The council did not approve the plan.", "The council rejected the plan."),
    ("About half of young ospreys do not survive.", "About half of young ospreys die."),
    ("Mopeds will be banned.", "Mopeds will not be allowed on the bridge."),
    ("The shop stays shut until Friday.", "The shop does not open before Friday."),
    ("The lift no longer works.", "The lift does not work."),
    ("It was not until March that the cafe opened.", "The cafe opened in March."),
    ("Not until March did the cafe open.", "The cafe opened in March."),
    ("Terns failed to raise a single chick after the storm.", "Terns did not raise a single chick after the storm."),
    ("Couples cannot afford to live there.", "Couples are unable to afford to live there."),
    ("Children travel free if accompanied by an adult.", "Children travel free when accompanied by an adult."),
    ("Ellen T. Brown was elected as chair of the club.", "Ellen Brown was elected as chair of the club."),
]


@pytest.mark.parametrize(("evidence", "claim"), [*SAME, *((claim, evidence) for evidence, claim in SAME)])
def test_the_same_denied_in_other_words_does_not_clash(evidence, claim):
    assert compared(claim, evidence)[1] == []


@pytest.mark.parametrize(
    ("evidence", "claim", "expected"),
    [
        ("The cafe will not open until March.", "The cafe will open in February.", ["open", "February"]),
        ("The cafe will not open until March.", "The cafe will open until March.", ["open"]),
        ("The cafe will not open until March, as a pipe leaks.", "The cafe will open, as a pipe leaks.", ["open"]),
        ("The bridge will not reopen before autumn.", "The bridge will reopen before autumn.", ["reopen"]),
        ("No decision was made on Monday.", "A decision was made on Monday.", ["decision"]),
        ("The road, not the bridge, was approved.", "The bridge, not the road, was approved.", ["bridge", "road"]),
        ("No trains ran and buses were late.", "Trains ran and no buses were late.", ["Trains", "buses"]),
        ("Not only the mayor but also her deputy resigned.", "Only the mayor resigned.", ["mayor"]),
        ("The drug is not only safe but also cheap.", "The drug is not safe.", ["safe"]),
        ("Prices did not rise in May.", "Prices did not fall in May.", ["fall"]),
        ("The plan was not approved; it was rejected.", "The plan was approved.", ["approved"]),
        ("She would not say whether he would go.", "She would not say whether he would not go.", ["go"]),
        ("The lift no longer works.", "The lift works.", ["works"]),
        ("Sales did not rise in the last quarter.", "Sales fell in the last quarter.", ["fell"]),  # or stood still
        ("The firm did not deny the reports.", "The firm confirmed the reports.", ["confirmed"]),
        ("No adults were hurt in the crash.", "Children were hurt in the crash.", ["Children"]),
        ("Teachers were injured.", "No pupils were injured.", ["pupils"]),
        ("The committee chose not Leeds but York.", "The committee chose Leeds, not York.", ["Leeds", "York"]),
        ("The clerk was not jailed but fined.", "The clerk was jailed, not fined.", ["jailed", "fined"]),
        ("The mayor is honest but not brave.", "The mayor is not only honest but also brave.", ["brave"]),
        ("Police did not confirm arrests.", "Police carried out no arrests.", ["arrests"]),
        ("The firm paid no dividend.", "The firm paid a dividend.", ["dividend"]),
        ("The firm paid no dividend.", "The firm did not announce a dividend.", ["dividend"]),
        ("They will not move until the council pays them.", "The council said they will move in spring.", ["move"]),
        ("The bridge did not open until after March.", "The bridge opened in March.", ["opened"]),
        ("The talks ended after lunch and no deal was made.", "The talks ended before lunch.", ["before"]),
        ("Insurance covers no more than ten million.", "Insurance covers more than ten million.", ["ten", "million"]),
        ("No more than 200 people came.", "More than 200 people came.", ["200", "people"]),
        ("The mayor refused to sign the law, but the governor signed it.", "The governor did not sign it.", ["sign"]),
        ("She never failed to pay the rent.", "She did not pay the rent.", ["pay"]),
        ("She did not fail to pay the rent.", "She did not pay the rent.", ["pay"]),
        ("The bell rang twice and nobody answered.", "The bell rang once.", ["once"]),
    ],
)
def test_a_denial_that_came_or_went_clashes(evidence, claim, expected):
    assert [text for _, text in compared(claim, evidence)[1]] == expected


def test_what_is_said_to_be_one_thing_is_not_its_opposite():
    for claim in ("Sales did not rise in the last quarter.", "In the last quarter, sales did not rise."):
        assert compared(claim, "Sales fell in the last quarter.")[1] == []


def test_a_not_that_says_the_same_is_not_counted_as_one_side_denying():
    parity = [compared(claim, evidence)[0]["negation_parity"] for evidence, claim in SAME[:5]]
    assert parity == [0.0] * 5
    assert compared("The cafe will open until March.", SAME[0][0])[0]["negation_parity"] == 1.0


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        ("Sales declined to 20 million.", "Sales fell to 20 million."),
        ("He was asked to resign, and refused.", "He refused to resign."),
        ("He tried to climb the tower but failed.", "He failed to climb the tower."),
        ("The bank rejected his demand to return the money.", "The bank refused to return the money."),
        ("They chose Leeds over Hull.", "They chose Leeds rather than Hull."),
    ],
)
def test_what_was_left_undone_denies_nothing_by_itself(evidence, claim):
    assert [kind for kind, _ in compared(claim, evidence)[1] if kind == "negation"] == []
