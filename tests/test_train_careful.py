"""The careful reader's training: its short pairs say what they are labelled, and it goes on where it was stopped."""

import argparse
import random

from _short_pairs import facts, filled, short_rows, value
from helpers.late import Late

training = Late("train_careful")


def test_short_pairs_are_made_by_a_seed_share_their_evidence_and_have_marked_what_is_exchanged():
    rows = short_rows(random.Random(3), 600)
    assert rows == short_rows(random.Random(3), 600)
    true, false = ([row.evidence for row in rows if (row.label == 0) == wanted] for wanted in (True, False))
    assert 0.4 < len(true) / len(rows) < 0.6 and set(false) <= {*true, *((row.claim,) for row in rows)}
    for row in short_rows(random.Random(4), 600):
        if row.source == "short:changed":
            (start, end), *_ = row.spans
            assert row.claim[start:end].strip(" .,") and not any(row.claim == text for text in row.evidence)
        if row.label == 0:
            assert row.spans == ()


def test_every_line_of_a_fact_can_be_filled():
    for fact in facts():
        values = {name: value(name, random.Random(0)) for name in fact.names}
        for line in [line for sign in "=<>!?" for line in fact.lines[sign]]:
            text, spans = filled(line, values)
            assert "{" not in text and "\x01" not in text and text[0] == text[0].upper() and spans == ()


def test_the_rate_rises_stays_and_falls_only_in_a_decay_and_a_training_goes_on_with_the_next_batch():
    rate, warm = training.rate_of, training.WARM
    assert rate(0, 10_000, 0) < rate(warm // 2, 10_000, 0) < rate(warm, 10_000, 0) == 1
    assert rate(9_999, 10_000, 0) == 1 and rate(9_000, 10_000, 2_000) == 0.5
    found = {kind: short_rows(random.Random(kind), training.HELD_OUT + 300) for kind in training.KINDS}
    options = argparse.Namespace(words=110, budget=400, shares=(0.2, 0.5, 0.3))
    first = training.batches(found, (0, 0), options)
    seen = [next(first) for _ in range(400)]
    place = seen[49][0]
    again = training.batches(found, place, options)
    assert [next(again) for _ in range(350)] == seen[50:]
