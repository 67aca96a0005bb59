"""Words of a parse: their places, which make a claim of their own, which stay with their head."""

from types import SimpleNamespace

import pytest

from summeval_nb.evidence.claims import claims_nothing, company, placed_words


def parsed(text, heads, relations, *, places=True):
    words, at = [], 0
    for number, (word, head, relation) in enumerate(zip(text.split(), heads, relations, strict=True), 1):
        at = text.index(word, at)
        start = at if places else None
        words.append(SimpleNamespace(id=number, text=word, head=head, deprel=relation, start_char=start))
    return SimpleNamespace(sentences=[SimpleNamespace(words=words)])


@pytest.mark.parametrize("places", [True, False])
def test_words_stand_where_they_are_found(places):
    text = "no car no boat"
    (words,) = placed_words(text, parsed(text, [2, 0, 4, 2], ["det", "root", "det", "conj"], places=places))
    assert [(start, end) for _, start, end in words] == [(0, 2), (3, 6), (7, 9), (10, 14)]


def test_a_word_that_the_text_does_not_hold_has_no_width():
    document = parsed("Anna don not", [3, 3, 0], ["nsubj", "aux", "root"], places=False)
    (words,) = placed_words("Anna don't", document)
    assert [(start, end) for _, start, end in words] == [(0, 4), (5, 8), (8, 8)]


@pytest.mark.parametrize(
    ("text", "head", "relation", "nothing"),
    [
        ("Anna", 2, "nsubj", False),
        ("red", 2, "amod", False),
        ("bought", 0, "root", True),
        (",", 2, "punct", True),
        ("the", 2, "det", True),
        ("was", 2, "aux:pass", True),
        ("Hidalgo", 2, "flat:name", True),
        ("never", 2, "advmod", True),
        ("quickly", 2, "advmod", False),
    ],
)
def test_which_words_make_no_claim(text, head, relation, nothing):
    assert claims_nothing(SimpleNamespace(text=text, head=head, deprel=relation)) is nothing


def test_small_words_and_negations_keep_their_head_company():
    text = "Anna did not buy a car"
    document = parsed(text, [4, 4, 4, 0, 6, 4], ["nsubj", "aux", "advmod", "root", "det", "obj"])
    (words,) = placed_words(text, document)
    assert company(words, 4) == {2, 3} and company(words, 6) == {5} and company(words, 1) == set()
