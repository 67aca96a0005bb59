"""Somebody does what another did, in the evidence's own words: it clashes. Other words, or the same person, do not."""

import pytest

from summeval_nb.evidence._actors import actor_clashes, with_first_names
from summeval_nb.evidence._differences import word_differences
from summeval_nb.evidence._slots import Words, slot_clashes
from summeval_nb.evidence.check import take_apart
from summeval_nb.evidence.reading import EmbeddedChecker

BOARD = ["Chief executive Miriam Osei told the board that the fares were unfair.", "Peter Lane of the council agreed."]
CRITIC = [
    "The paper was accepted after Leon Szabo, her fiercest critic, repeated her measurements in 1984.",
    "It was reviewed by Arnold Keble.",
]
ORDERS = [
    "Orders fell when the chain Hollis Foods postponed a programme that it had been expected to sign.",
    "The shares of Solvane fell.",
]
SUBSTITUTE = ["Ben Otter, who had come on as a substitute at half time, scored.", "The fans sang for Luke Farr."]
FOUL = ["Calder defender Mats Lind had brought down Hall 20 metres from goal.", "For Calder, Hall was the best."]
PAYS = ["The district pays Skarvik 400 euros a call.", "The ladder of Skarvik is new."]
SCHOOLS = ["The Tarle Trust runs four small schools in neighbouring Easterley.", "Parents in Kingsmere object."]
FALSE = [
    (BOARD, "Councillor Peter Lane told the board that the fares were unfair.", "peter lane", "miriam osei"),
    (CRITIC, "It was Arnold Keble who repeated her measurements in 1984.", "arnold keble", "leon szabo"),
    (ORDERS, "Solvane postponed a programme that it had been expected to sign.", "solvane", "hollis foods"),
    (SUBSTITUTE, "Luke Farr came on as a substitute at half time.", "luke farr", "ben otter"),
    (PAYS, "As agreed, Skarvik pays the district 400 euros a call.", "skarvik", ""),
    (SCHOOLS, "The Tarle Trust runs four small schools in Kingsmere.", "kingsmere", "easterley"),
]
TRUE = [
    (BOARD, "Miriam Osei told the board that the fares were unfair."),
    (BOARD, "Osei told the board that the fares were unfair."),
    (
        ["Mr Hale told the board that the fares were unfair.", "Tom Hale left."],
        "Tom Hale told the board that the fares",
    ),
    (
        ["President Obama signed the health bill on Tuesday.", "For years Barack Obama had campaigned for it."],
        "Barack signed the health bill on Tuesday.",
    ),
    (
        ["President Joe Marsh visited the flooded villages on Sunday with his deputy, Carla Diaz."],
        "Carla Diaz visited the flooded villages on Sunday with Joe Marsh.",
    ),
    (
        ["She moved with her two small children to the suburb of Croydon.", "Croydon lies in south London."],
        "She moved with her two small children to London.",
    ),
    (CRITIC, "Leon Szabo repeated her measurements in 1984."),
    (
        ["The mayor of Leeds opened the bridge on Monday.", "Mayor Priya Nair was late."],
        "Priya Nair opened the bridge on Monday.",
    ),
    (["They love the old town, said Tom Hale.", "Tom Hale is here."], "Tom Hale said they love the old town."),
    (
        ["The bridge was opened by Priya Nair in May.", "Priya Nair opened the bridge in May, too."],
        "In May Priya Nair opened the bridge.",
    ),
    (
        ["tom hale told the board that the fares were unfair.", "Ann Nair left."],
        "Ann Nair told the board that the fares were unfair.",
    ),
]


def found(evidence, claim):
    parts = [take_apart(text) for text in (claim, *evidence)]
    known = frozenset(name.key for one in parts for name in one.names)
    words = [Words.of(with_first_names(one, known)) for one in parts]
    return words[0], actor_clashes(words[0], words[1:])


@pytest.mark.parametrize(("evidence", "claim", "name", "instead"), FALSE)
def test_a_deed_given_to_somebody_else_clashes(evidence, claim, name, instead):
    words, clashes = found(evidence, claim)
    assert [one.instead_of for one in clashes] == [instead]
    assert " ".join(words.raw[clashes[0].first : clashes[0].last + 1]).endswith(name)


@pytest.mark.parametrize(("evidence", "claim"), TRUE)
def test_the_same_name_another_wording_or_a_name_that_says_of_whom_does_not(evidence, claim):
    assert found(evidence, claim)[1] == []


def test_a_name_at_the_beginning_of_a_sentence_has_a_role_too():
    told = [take_apart(text) for text in FOUL]
    turned, right = take_apart("Hall brought down Lind 20 metres from goal."), take_apart("Lind brought down Hall.")
    assert [one.kind for one in word_differences(turned, told, (0, 1))[1]] == ["role"]
    assert word_differences(right, told, (0, 1))[1] == []


def test_a_first_word_is_a_name_only_if_it_is_one_elsewhere_and_written_as_one():
    parts = take_apart("Hall is late.")
    assert with_first_names(parts, frozenset()) is parts
    assert [one.key for one in with_first_names(parts, frozenset({"hall"})).names] == ["hall"]
    lower = take_apart("hall is late.")
    assert with_first_names(lower, frozenset({"hall"})) is lower


def test_such_a_sentence_is_never_supported():
    yes, no = EmbeddedChecker(threshold=0.3).check_many([(ORDERS, one) for one in (ORDERS[0], FALSE[2][1])])
    assert yes.supported and not no.supported and any(one.clash and one.kind == "role" for one in no.findings)


def test_odd_texts_do_no_harm():
    for claim, evidence in (("", ["", "A."]), ("Hall", ["Hall"]), ("it", ["IT"])):
        assert found(evidence, claim)[1] == []
    long = "Anna said to Berg that Carl told Dora of it. " * 150
    assert found([long, long], long)[1] == []
    same = Words.of(take_apart(""))
    assert slot_clashes(same, same) == []
