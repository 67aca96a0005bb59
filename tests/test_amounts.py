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
    ("Two thirds of the bill is paid by the state.", "The state pays 67 percent of the bill."),
    ("One in six pupils was ill.", "17 percent of the pupils were ill."),
    ("8,940 of the 9,600 runners finished.", "More than nine in ten runners finished."),
    ("Leaks lose almost a quarter of the water.", "Nearly 25 per cent of the water leaks away."),
    ("She started in 1994.", "She started in the 1990s."),
    ("The swelling went away within a week.", "The swelling went away within seven days."),
    ("He rang the bell every half hour.", "He rang the bell at thirty-minute intervals."),
    ("He rang the bell every half an hour.", "He rang the bell every 30 minutes."),
    ("It struck four centuries earlier.", "It struck 400 years earlier."),
    ("It stopped buying from its supplier of 22 years.", "It left its supplier after more than two decades."),
    ("Its inspectors fined 260 passengers.", "Its inspectors fined more than two hundred passengers."),
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
    # No more than is not more than.
    ("260 people came to the fair.", "No more than 200 people visited the fair."),
    ("The tax takes 45 percent.", "The tax takes no less than 50 percent."),
    # An ordinal is of its noun, and a second is also a time.
    ("Sales fell for a second year, to 40 million.", "Sales fell to 2 million."),
    ("Three people died and a second bomb was found.", "Two people died."),
    ("The board met for the fifth time; 8 members came.", "The board met; 5 members came."),
    ("He waited a second.", "He waited 2 hours."),
    ("A fifth of the visitors came from Hull on 3 buses.", "They came on five buses."),
    # What is in 1998 is no share.
    ("The storm killed 12 people in 2020.", "There were 12 deaths in 2018 from the storm."),
    ("She was elected to ward one in 1998.", "In ward one in 1990 she was elected."),
    # In the same notation only the same number is the same.
    ("It rose by 47.2 percent.", "It rose by 47.6 percent."),
    ("It protects 95.2 percent.", "It works in 96 percent."),
    ("It took 151 days.", "It lasted for 150 days."),
    ("8,940 of the 9,600 runners finished.", "Finishers: 8,990 of the 9,600."),
    # More than some, of the same kind.
    ("The firm has 260 workers and 12 shops.", "The firm has over 200 lawyers."),
    ("The shop sold 300 bikes.", "The shop earned more than 250 euros."),
    ("Some 260 people, 40 of them children, came by 5 buses.", "More than 200 children came."),
    ("The police got 60 letters from him.", "He handed over 50 letters to the police."),
    # When, and which half.
    ("He was jailed later in the year.", "He was jailed for 12 months."),
    ("It is busiest at the end of the day.", "It is open 24 hours."),
    ("The club was founded a century ago.", "Its chairman is 100 years old."),
    ("In the second half Leeds scored.", "Leeds had 50 percent of the ball."),
    ("A third suspect was arrested.", "33.3 percent of the suspects were arrested."),
    # Two and a half.
    ("It took two and a half years.", "It took six months."),
    ("It took one and a half hours.", "It took 30 minutes."),
    ("It grew by two and a half percent.", "Growth was 50 percent."),
    # A clock has a colon, and its parts stand together.
    ("It took 2 hours 3 minutes.", "The fine was 2.3 million."),
    ("After 10 minutes Leeds scored, and after 30 minutes Hull.", "The match began at 10:30."),
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


def test_two_numbers_of_a_range_share_their_unit():
    rose = "The wait rose from 31 weeks to 38; one patient had waited for 114 weeks."
    assert numbers_of(rose, "The wait rose to 38 weeks from 31.") == []
    assert (
        numbers_of("It rose from 31 to 38 weeks, 12 more than in 2 other towns.", "It rose to 38 weeks from 31.") == []
    )
    assert numbers_of("38 patients waited for 31 weeks.", "The patients waited for 38 weeks.") == ["38"]
    for evidence, claim in (
        ("In 1998, 12 workers died.", "1998 workers died."),
        ("She was 38, and had 2 children.", "She had 38 children."),
        ("On page 12, 30 errors were found.", "12 errors were found."),
        ("They left at 7 with 40 passengers.", "They left with 7 passengers."),
    ):
        assert numbers_of(evidence, claim)


@pytest.mark.parametrize(
    "claim", ["7", "In 7.", "7 in", "More than 7", "0 of 0", "One in", "7%", "1990s", "2:", "Half"]
)
def test_broken_pieces_are_no_amounts(claim):
    parts, told = take_apart(claim), [take_apart("Nothing."), take_apart("")]
    assert not any(Amounts(parts, told).hold(i) for i, one in enumerate(parts.tokens) if one.kind == "number")


def test_many_numbers_take_no_quadratic_time():
    """Thousands of them, as a hostile text may have; each is asked about, and the tables are made once."""
    some = " ".join(f"one in {i}, {i} percent of the {i} days, more than {i} at {i}:30, {i}.5" for i in range(11, 1000))
    parts, told = take_apart(some), [take_apart(some.replace("1", "7"))]
    amounts = Amounts(parts, told)
    numbers = [i for i, one in enumerate(parts.tokens) if one.kind == "number"]
    held = [amounts.hold(i) for i in numbers]
    assert len(numbers) > 4000 and any(held)
    for name in ("_told_shares", "_told_times", "_own_shares", "_own_times", "_ordinals", "_clocks", "_numbers"):
        assert name in vars(amounts)
