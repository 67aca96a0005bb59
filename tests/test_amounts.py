"""One amount in other words is no changed number, and another amount still is."""

import pytest

from summeval_nb.evidence._amounts import Amounts
from summeval_nb.evidence._differences import word_differences
from summeval_nb.evidence.check import take_apart

SAME = [
    ("It lost a fifth of its visitors.", "It lost one visitor in five."),
    ("About 4 per cent of the animals had a swelling.", "One animal in twenty-five had a swelling."),
    ("Half of the deposit was lent to her.", "A loan covered fifty percent of the deposit."),
    ("Half of the deposit was lent to her.", "A loan covered 50% of the deposit."),
    ("8,940 of the 9,600 runners finished.", "More than nine in ten runners finished."),
    ("Leaks lose almost a quarter of the water.", "Nearly 25 per cent of the water leaks away."),
    ("She started in 1994.", "She started in the 1990s."),
    ("The swelling went away within a week.", "The swelling went away within seven days."),
    ("He rang the bell every half hour.", "He rang the bell at thirty-minute intervals."),
    ("He rang the bell every half an hour.", "He rang the bell every 30 minutes."),
    ("It struck four centuries earlier.", "It struck 400 years earlier."),
    ("It stopped buying from its supplier of 22 years.", "It left its supplier after more than two decades."),
    ("Its inspectors fined 260 passengers.", "Its inspectors fined more than two hundred travellers."),
    ("His trouble began in the seventh round.", "His trouble began in round seven."),
    ("She needed 2 hours 26 minutes 11 seconds.", "She needed 2:26:11."),
    ("The shares fell 1.8 percent.", "The shares fell by almost two percent."),
]
OTHER = [
    ("It lost a fifth of its visitors.", "It lost one visitor in four."),
    ("A third of the bill is paid by the state.", "Two thirds of the bill is paid by the state."),
    ("Half of the deposit was lent to her.", "A loan covered forty percent of the deposit."),
    ("She started in 1994.", "She started in the 1980s."),
    ("The swelling went away within a week.", "The swelling went away within eight days."),
    ("He rang the bell every half hour.", "He rang the bell at twenty-minute intervals."),
    ("It struck four centuries earlier.", "It struck 500 years earlier."),
    ("Its inspectors fined 260 passengers.", "Its inspectors fined more than 300 passengers."),
    ("Its inspectors fined 260 passengers.", "Its inspectors fined two hundred passengers."),
    ("She needed 2 hours 26 minutes 11 seconds.", "She needed 2:36:11."),
    ("Its 18 shops sold more than 12 cars.", "Its shops sold more than 15 cars."),
    ("The shares fell 1.8 percent.", "The shares fell by almost three percent."),
]


def numbers_of(evidence: str, claim: str) -> list[str]:
    """Which numbers of the claim clash."""
    parts = take_apart(claim)
    _, clashes = word_differences(parts, [take_apart(evidence)], (0, 0))
    return [parts.tokens[one.first].key for one in clashes if one.kind == "number"]


@pytest.mark.parametrize(("evidence", "claim"), SAME)
def test_the_same_amount_in_other_words_does_not_clash(evidence, claim):
    assert numbers_of(evidence, claim) == []


@pytest.mark.parametrize(("evidence", "claim"), OTHER)
def test_another_amount_clashes(evidence, claim):
    assert numbers_of(evidence, claim)


def test_a_number_is_of_what_follows_the_of():
    assert numbers_of("She examined 60 of the hives; 240 hives stood there.", "She saw 41 of the 60 hives.") == ["41"]
    assert numbers_of("She saw mould in 41 of them.", "She saw mould in 41 hives.") == []


def test_two_numbers_of_a_range_share_their_unit():
    rose = "The wait rose from 31 weeks to 38; one patient had waited for 114 weeks."
    assert numbers_of(rose, "The wait rose to 38 weeks from 31.") == []
    assert (
        numbers_of("It rose from 31 to 38 weeks, 12 more than in 2 other towns.", "It rose to 38 weeks from 31.") == []
    )
    assert numbers_of("38 patients waited for 31 weeks.", "The patients waited for 38 weeks.") == ["38"]


@pytest.mark.parametrize(
    "claim", ["7", "In 7.", "7 in", "More than 7", "0 of 0", "One in", "7%", "1990s", "2:", "Half"]
)
def test_broken_pieces_are_no_amounts(claim):
    parts, told = take_apart(claim), [take_apart("Nothing."), take_apart("")]
    assert not any(Amounts(parts, told).hold(i) for i, one in enumerate(parts.tokens) if one.kind == "number")


def test_many_numbers_take_no_quadratic_time():
    """Thousands of them, as a hostile text may have; each is asked about, and the tables are made once."""
    some = " ".join(f"one in {i} and {i} percent of the {i} days" for i in range(11, 1500))
    parts, told = take_apart(some), [take_apart(some.replace("1", "7"))]
    amounts = Amounts(parts, told)
    numbers = [i for i, one in enumerate(parts.tokens) if one.kind == "number"]
    held = [amounts.hold(i) for i in numbers]
    assert len(numbers) > 4000 and any(held)
    for name in ("_told_shares", "_told_times", "_own_shares", "_own_times", "_ordinals"):
        assert name in vars(amounts)
