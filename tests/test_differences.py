"""Words in their places: what clashes, what does not, and the lists behind it."""

import numpy as np
import pytest

from summeval_nb.evidence._differences import DIFFERENCES, compare, findings_of, word_differences
from summeval_nb.evidence._packaged import cosines, encode_pairs
from summeval_nb.evidence._words import antonyms
from summeval_nb.evidence.check import take_apart
from summeval_nb.text.embed import load_embedder

EVIDENCE = [
    "Revenue rose 3 percent to 48 million dollars in March.",
    "The board did not approve the plan before Monday.",
    "Anna Smith beat Maria Jones in the final in Paris.",
    "The American company employs about 2,000,000 people.",
]


def clashes(claim: str, evidence: list[str] = EVIDENCE) -> list[tuple[str, str]]:
    """Return kind and text of each firm clash of a claim with the evidence sentence that shares most words."""
    parts, told = take_apart(claim), [take_apart(text) for text in evidence]
    nearest = int(np.argmax([len(parts.key_set & one.key_set) for one in told]))
    _, found = word_differences(parts, told, (nearest, nearest))
    return [(one.kind, one.text) for one in findings_of(parts, found) if one.clash]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Revenue fell 3 percent to 48 million dollars.", [("antonym", "fell")]),
        ("Revenue rose 3 percent to 84 million dollars.", [("number", "84")]),
        ("Revenue rose 48 percent to 3 million dollars.", [("number", "48"), ("number", "3")]),
        ("The board approved the plan.", [("negation", "approved")]),
        ("Anna Smith did not beat Maria Jones.", [("negation", "beat")]),
        ("Maria Jones beat Anna Smith in the final.", [("role", "Maria Jones"), ("role", "Anna Smith")]),
        ("Anna Smith beat Maria Jones in the final in London.", [("name", "London")]),
    ],
)
def test_a_changed_fact_clashes(claim, expected):
    assert clashes(claim) == expected


@pytest.mark.parametrize(
    "claim",
    [
        "Revenue rose 3 percent.",
        "In March revenue went up 3 percent to 48 million dollars.",
        "The board did not approve the plan.",
        "The plan was not approved by the board.",
        "Anna Smith beat Maria Jones.",
        "Maria Jones was beaten by Anna Smith in the final.",
        "A company in America employs 2 million people.",
        "Nearly 50 million dollars of revenue came in.",
    ],
)
def test_the_same_fact_in_other_words_does_not(claim):
    assert clashes(claim) == []


def test_features_are_named_finite_and_need_no_tagger():
    claims = ["Revenue fell.", "It", "3", "not", "Anna Smith and Maria Jones met in Paris in 1999.", "of the"]
    vectors = encode_pairs([(EVIDENCE, claim) for claim in claims], load_embedder("minilm"))
    for claim, one in zip(claims, vectors, strict=True):
        features, _, nearest = compare(take_apart(claim), [take_apart(t) for t in EVIDENCE], one, cosines(one))
        assert tuple(features) == DIFFERENCES
        assert all(np.isfinite(value) for value in features.values())
        assert all(0 <= place < len(EVIDENCE) for place in nearest)


def test_antonyms_exclude_each_other_and_no_word_excludes_itself():
    table = antonyms()
    assert len(table) > 500
    assert all(word not in others for word, others in table.items())
    assert all(word in table[other] for word, others in table.items() for other in others)


@pytest.mark.parametrize(
    ("claim", "evidence", "expected"),
    [
        ("Shares of Castine fell on Tuesday.", "Shares of Castine rose on Tuesday, and Harlow's slipped.", ["fell"]),
        ("Profits had dropped a year later.", "Profits rose although sales fell.", ["dropped"]),
        ("The waiting list grew by 12 per cent.", "The hospital cut its waiting list by 12 per cent.", ["grew"]),
    ],
)
def test_an_opposite_clashes_though_its_like_stands_there_too(claim, evidence, expected):
    parts = take_apart(claim)
    _, clashes = word_differences(parts, [take_apart(evidence)], (0, 0))
    found = [claim[parts.tokens[one.first].start : parts.tokens[one.last].end] for one in clashes if one.firm]
    assert [one for one in found if one in claim.split()] == expected
