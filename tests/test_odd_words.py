"""One word of a near copy that is another, and means something else, clashes; one that means the same does not."""

import pytest

from summeval_nb import evaluate
from summeval_nb.evidence._odd_words import UNLIKE, kind_clashes, odd_word_clashes
from summeval_nb.evidence._slots import Words
from summeval_nb.evidence.check import take_apart

COPY = "The old stone bridge over the river Arle was closed to lorries on Monday."
ODD = [
    ("The old stone tunnel over the river Arle was closed to lorries on Monday.", "tunnel", "bridge"),
    ("The old stone bridge over the river Arle was closed to cyclists on Monday.", "cyclists", "lorries"),
    ("The old stone tunnel over the river Arle was closed.", "tunnel", "bridge"),
]
NOT_ODD = [
    COPY,
    "The old stone bridges over the river Arle were closed to lorries on Monday.",  # another form
    "The old stone bridge was closed to lorries on Monday.",  # shortened
    "The tunnel was closed.",  # no near copy
    "The old stone road tunnel over the river Arle was closed to lorries on Monday.",  # two for one
    "The old stone tunnel near the river Arle was shut for lorries on Monday.",  # told anew
]


def found(claim, weakest=0.2, near=COPY):
    own, theirs = (Words.of(take_apart(text)) for text in (claim, near))
    return [(own.raw[one.first], one.instead_of, one.kind) for one in odd_word_clashes(own, theirs, weakest)]


@pytest.mark.parametrize(("claim", "word", "instead"), ODD)
def test_a_word_for_another_in_a_near_copy_clashes(claim, word, instead):
    assert found(claim) == [(word, instead, "replaced")]
    assert found(claim, weakest=UNLIKE) == []  # its token vector says that it means the same


@pytest.mark.parametrize("claim", NOT_ODD)
def test_what_is_no_single_other_word_does_not(claim):
    assert found(claim) == []


def test_who_says_it_and_who_adds_it_is_the_same_word():
    near = "He added that the roof of the old town hall would be repaired."
    assert found(near.replace("added", "said"), near=near) == []


def test_titles_for_names_are_none():
    near = "In the morning Colin Mears was found dead at the end of the pier."
    assert found(near.replace("Colin", "Mr"), near=near) == []


@pytest.mark.parametrize(("claim", "word", "instead"), ODD)
def test_such_a_sentence_is_never_called_supported(claim, word, instead):
    (verdict,) = evaluate(f"{COPY} Lorries take the tunnel now, and cyclists the ferry.", claim).verdicts
    assert verdict.state != "supported"


TEAMS = "Two-factor sign-in is switched on by default for small teams."
LARGE = "Large teams keep the settings that they have now."


def of_another_kind(claim, *others, near=TEAMS, weakest=0.7):
    own, theirs, *more = (Words.of(take_apart(text)) for text in (claim, near, *others))
    return [
        (own.raw[one.first], one.instead_of, one.kind) for one in kind_clashes(own, theirs, [theirs, *more], weakest)
    ]


def test_a_noun_of_another_kind_that_the_article_tells_apart_clashes():
    claim = TEAMS.replace("small", "large")
    assert of_another_kind(claim, LARGE) == [("large", "small", "replaced")]
    assert of_another_kind(claim, LARGE, weakest=0.95) == []  # its token vector says that it means the same
    assert of_another_kind(claim, "It was a large order.") == []  # it tells no two kinds of team apart
    assert of_another_kind(TEAMS.replace("small", "tiny"), LARGE) == []
    (verdict,) = evaluate(f"{TEAMS} {LARGE}", claim).verdicts
    assert verdict.state != "supported" and [one.text for one in verdict.findings] == ["large"]


@pytest.mark.parametrize(
    ("claim", "near", "other"),
    [
        ("On Sunday she won gold in the race.", "On Sunday she took gold in the race.", "He won gold in Oslo."),
        ("He thanked Colin Mears for the help.", "He thanked Mr Mears for the help.", "Colin Mears left."),
        (
            "It was sold to the firms of the region in May.",
            "It was sold to the firms from the region in May.",
            "The firms of the north paid.",
        ),
    ],
)  # fmt: skip
def test_another_verb_a_title_and_a_small_word_are_no_other_kind(claim, near, other):
    assert of_another_kind(claim, other, near=near) == []


def test_the_report_names_the_word():
    result = evaluate(COPY, ODD[0][0])
    assert [(one.kind, one.text, one.clash) for one in result.verdicts[0].findings] == [("replaced", "tunnel", True)]
    assert "another word stands there in the evidence" in result._repr_html_()
