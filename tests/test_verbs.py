"""Subject and object of one verb exchanged, or words that another said: a clash. Another order of the same is none."""

import pytest

from summeval_nb.evidence._actors import with_first_names
from summeval_nb.evidence._slots import Words
from summeval_nb.evidence._verbs import cause_clashes, speaker_clashes, verb_clashes
from summeval_nb.evidence.check import take_apart

GUILD = ["The guild had borrowed 3 million euros from the bank.", "The mill belongs to the guild."]
STAFF = ["She said that the staff of the office had objected, and the board later persuaded her that it was fairer."]
MEDIATOR = ["The breakthrough came when the minister, Farid Oster, persuaded both sides to accept a mediator."]
ACCUSED = [
    "Its secretary, Ilse Abra, accused the operator, Corvane Docks, of withdrawing an offer.",
    "Corvane Docks left.",
]
TELEVISION = ["The minister called it a tale on television, and the office later criticised him for quoting a report."]
EXCHANGED = [
    (GUILD, "The bank borrowed 3 million euros from the guild.", "bank"),
    (STAFF, "Anna persuaded the board that it was fairer.", "anna"),
    (MEDIATOR, "Both sides persuaded the minister, Farid Oster, to accept a mediator.", "sides"),
    (ACCUSED, "Corvane Docks accused the federation of withdrawing an offer.", "corvane docks"),
    (TELEVISION, "The minister criticised the office for quoting a report.", "minister"),
]
SAME = [
    (GUILD, "The guild borrowed 3 million euros from the bank."),
    (GUILD, "The bank lent the guild 3 million euros."),
    (GUILD, "The 3 million euros were borrowed by the guild from the bank."),
    (MEDIATOR, "Farid Oster persuaded both sides to accept a mediator."),
    (["The bank was followed by the guild into the market."], "The guild followed the bank into the market."),
    (["The bank has not followed the guild."], "The guild followed the bank."),
    (["The guild followed the bank, and the bank followed the guild."], "The bank followed the guild."),
    (["Leeds played Hull on Sunday."], "Hull played Leeds on Sunday."),
    (["The gallery opened in May with a show that the mayor praised."], "The mayor opened the gallery in May."),
    (["The trust closed two schools."], "Two schools closed."),
]
QUOTED = [
    '"The snow was luck, but the pipes were hard work," said the company\'s chief engineer, Renata Volk.',
    "Yesterday Mayor Silas Crane wanted all limits to end at once.",
]
TOLD = ["The leader of the opposition, Gordon Plaice, replied that shops in Mill Street would pay.", "I met Ann Odu."]


@pytest.fixture
def words():
    def taken(claim, evidence):
        parts = [take_apart(text) for text in (claim, *evidence)]
        known = frozenset(name.key for one in parts for name in one.names)
        own, *others = [Words.of(with_first_names(one, known)) for one in parts]
        return own, others

    return taken


@pytest.mark.parametrize(("evidence", "claim", "who"), EXCHANGED)
def test_what_is_done_to_it_does_it(evidence, claim, who, words):
    own, others = words(claim, evidence)
    (clash,) = verb_clashes(own, others)
    assert " ".join(own.raw[clash.first : clash.last + 1]).endswith(who) and clash.kind == "role" and clash.firm


@pytest.mark.parametrize(("evidence", "claim"), SAME)
def test_the_same_deed_told_otherwise_does_not_clash(evidence, claim, words):
    assert verb_clashes(*words(claim, evidence)) == []


@pytest.mark.parametrize(
    ("evidence", "claim", "speaker", "instead"),
    [
        (QUOTED, "Mayor Silas Crane said that the snow was luck but the pipes hard work.", "crane", "renata volk"),
        (TOLD, "The singer Ann Odu said that shops in Mill Street would pay.", "odu", "gordon plaice"),
    ],
)
def test_words_that_another_said_clash(evidence, claim, speaker, instead, words):
    own, others = words(claim, evidence)
    (clash,) = speaker_clashes(own, others)
    assert (own.raw[clash.last], clash.instead_of) == (speaker, instead)


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        (QUOTED, "Renata Volk said that the snow was luck but the pipes hard work."),
        (QUOTED, "Volk said that the snow was luck."),
        (QUOTED, "Mayor Silas Crane wanted all limits to end."),
        (
            [*TOLD, "Ann Odu said that the shops in the street would pay."],
            "Ann Odu said shops in Mill Street would pay.",
        ),
        (["The Frenchman said shops in Mill Street would pay.", "I met Ann Odu."], "Ann Odu said shops in Mill pay."),
        (["He said that shops in Mill Street would pay.", "I met Ann Odu."], "Ann Odu said shops in Mill Street pay."),
        (TOLD, "The singer Ann Odu said little."),
        (TOLD, "Somebody Strange said that shops in Mill Street would pay."),
    ],
)
def test_words_of_ones_own_or_of_nobody_in_particular_do_not_clash(evidence, claim, words):
    assert speaker_clashes(*words(claim, evidence)) == []


MILL = ["The opening was put off from May to October because a fire had ruined the roof.", "A dry summer helped wheat."]


@pytest.mark.parametrize(
    "claim", ["The opening was put off because of a dry summer.", "Due to a dry summer, the opening was put off."]
)
def test_a_cause_of_something_else_clashes(claim, words):
    own, others = words(claim, MILL)
    (clash,) = cause_clashes(own, others)
    assert own.raw[clash.first : clash.last + 1] == ("dry", "summer")


@pytest.mark.parametrize(
    "claim",
    [
        "The opening was put off because a fire had ruined the roof.",
        "The opening was put off because of a fire.",
        "The opening was put off because flames had destroyed what covered it.",
        "The wheat did well because of a dry summer.",
        "The opening was put off in a dry summer.",
        "Because it was dry the opening was put off because of the summer.",
    ],
)
def test_its_own_cause_or_one_in_other_words_does_not_clash(claim, words):
    assert cause_clashes(*words(claim, MILL)) == []
