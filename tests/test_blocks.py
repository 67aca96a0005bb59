"""Stretches of a text, what bad splitters make of them, and which spans of a callable are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from summeval_nb import split_sentences
from summeval_nb.text._blocks import blocks_of, checked_spans, cut_blocks, cut_by, trimmed, with_lead_in, without_marker

LAYOUT = "# Prices\nWe offer:\n- phones\n- cases\n\nThe prices are from\n- 12 to\nabout 15."
PIECES = st.sampled_from([*"ab .-#1\n\t", "\n\n", "- ", "1. ", "• ", "\u2028", "\r\n"])
TEXTS = st.lists(PIECES, max_size=30).map("".join)


def test_a_list_is_found_and_a_minus_sign_is_none():
    blocks = blocks_of(LAYOUT)
    assert [b.item for b in blocks] == [False, False, True, True, False]
    assert [LAYOUT[b.body : b.end].strip() for b in blocks] == [
        "# Prices",
        "We offer:",
        "phones",
        "cases",
        "The prices are from\n- 12 to\nabout 15.",
    ]


@given(TEXTS)
def test_blocks_hold_everything_but_white_space_in_order(text):
    blocks = blocks_of(text)
    assert "".join("".join(text[b.start : b.end].split()) for b in blocks) == "".join(text.split())
    assert all(b.start <= b.body <= b.end for b in blocks)
    assert all(a.end <= b.start for a, b in zip(blocks, blocks[1:], strict=False))


@given(TEXTS, st.lists(st.integers(-3, 40), max_size=5))
def test_any_places_give_sentences_that_keep_their_promises(text, cuts):
    blocks = blocks_of(text)
    found = cut_blocks(text, blocks, [cuts] * len(blocks))
    assert all(text[s.start : s.end] == s.text == s.text.strip() != "" for s in found)
    assert "".join("".join(s.text.split()) for s in found) == "".join(text.split())


def test_spans_lose_the_white_space_at_their_ends():
    assert trimmed(" ab  c ", 0, 7) == (1, 6)
    assert trimmed("   ", 0, 3) == (3, 0)  # nothing is left: the end lies before the start


@pytest.mark.parametrize(
    ("spans", "error", "message"),
    [
        ([(0, 3), (2, 9)], ValueError, "span 1 of the splitter is 2:9: spans must be ordered"),
        ([(0, 3)], ValueError, "left out"),
        ([(0, 99)], ValueError, "lie within 0:9"),
        (["01"], TypeError, "pairs of whole numbers, not '01'"),
        ([(0, 0), (0, 9)], ValueError, "not empty"),
    ],
)
def test_bad_spans_are_named(spans, error, message):
    with pytest.raises(error, match=message):
        checked_spans("One. Two.", spans)


def test_an_empty_line_is_stronger_than_a_callable():
    assert [s.text for s in cut_by(lambda text: [(0, len(text))], "One\n\ntwo.")] == ["One", "two."]


def test_a_marker_is_no_part_of_a_reading():
    assert [s.text for s in without_marker("- Two left.", split_sentences("- Two left."))] == ["Two left."]
    assert [s.text for s in without_marker("Two left.", split_sentences("Two left."))] == ["Two left."]


def test_items_stay_with_their_lead_in_as_long_as_there_is_room():
    text = "Not included:\n- a case\n- a bag"
    sentences = split_sentences(text)
    assert with_lead_in(text, sentences, 100) == [(0, len(text))]
    assert with_lead_in(text, sentences, 23) == [(0, 22), (23, 30)]
    assert with_lead_in(text, sentences, 5) == [(s.start, s.end) for s in sentences]
