"""The exam that a text sets: facts, key phrases within a sentence, one question a fact, as many as the length asks."""

import re

import pytest

from summeval_nb.judged.questions import (
    Weights,
    candidate_phrases,
    counted_phrases,
    facts_of,
    how_many_questions,
    keybert_phrases,
    lowered,
    make_questions,
)
from summeval_nb.text.embed import load_embedder

TEXT = (
    "The ferry has run since 1994. It carries 400 passengers, because the island is popular. "
    "Tickets cost 9 euros, the operator said on Monday.\n\nNorthgate bought the ferry and painted it green."
)


def test_facts_are_clauses_without_circumstances():
    facts = facts_of(TEXT)
    assert [fact.statement for fact in facts[1:3]] == ["The ferry carries 400 passengers", "Tickets cost 9 euros"]
    assert all(fact.sentence in TEXT for fact in facts)
    assert len({fact.statement for fact in facts}) == len(facts)


def test_key_phrases_stay_within_a_sentence_and_a_paragraph():
    text = "The bank closed as regulators demand.\n\nNorthgate lost money. Big banks\n\nsmall towns"
    for phrase in [*candidate_phrases(text), *(counted.text for counted in counted_phrases(text, 10))]:
        assert "\n" not in phrase and not re.search(r"\.\s", phrase), phrase


@pytest.mark.parametrize(("words", "questions"), [(10, 10), (250, 10), (350, 14), (800, 32), (5000, 40)])
def test_about_one_question_for_25_words(words, questions):
    assert how_many_questions("word " * words) == questions


def test_numbers_and_names_are_asked_about_first():
    text = "It was a nice day for all. The people were happy there. The tower is 80 metres high."
    assert make_questions(text, [phrase.text for phrase in counted_phrases(text, 1)])[0].statement.startswith(
        "The tower"
    )
    phrases = [phrase.text for phrase in counted_phrases(TEXT, 10)]
    asked = make_questions(TEXT, phrases)
    assert len(asked) == len(phrases) == len({question.statement for question in asked})
    assert all(question.source in TEXT and question.keyphrases for question in asked)


def test_weights_by_hand_and_a_clause_as_a_question():
    assert Weights("It rained.").of({"snow"}) == 0.0
    assert lowered("Lund has a tram.") == "Lund has a tram" and lowered("It opens in 2027.") == "it opens in 2027"
    assert make_questions(TEXT, ["submarine"]) == [] and counted_phrases("...", 4) == []


def test_keybert_chooses_for_each_text_by_itself():
    pytest.importorskip("keybert")
    embedder = load_embedder("minilm")
    many = keybert_phrases([(TEXT, 3), ("...", 3), ("The tower is 80 metres high.", 2)], embedder)
    assert [len(own) for own in many] == [3, 0, 2] or [len(own) for own in many] == [3, 0, 1]
    assert {phrase.text for phrase in many[0]} <= set(candidate_phrases(TEXT))
    assert all(TEXT[phrase.start : phrase.end] == phrase.text for phrase in many[0])
    (alone,) = keybert_phrases([(TEXT, 3)], embedder)
    assert [phrase.text for phrase in alone] == [phrase.text for phrase in many[0]]
    assert keybert_phrases([("...", 3)], embedder) == [[]]


@pytest.mark.parametrize(
    ("sentence", "facts"),
    [
        ("The court ruled on Monday that the airport must close.", ["The court ruled that the airport must close."]),
        ("Lund led by 15 to 10 in front of 11,400 people.", ["Lund led by 15 to 10"]),
        ("The ferry did not run on Sunday.", ["The ferry did not run on Sunday."]),
        ("The club only trains on Monday evening.", ["The club only trains on Monday evening."]),
        ("Neither the patients nor the doctors knew which bottle was which.",) * 2,
        ("Divers found a ship off the coast, in water so deep that nobody had seen it.",) * 2,
        ("Divers have found a big ship off the coast of Lund, in water so deep that nobody had seen it.",) * 2,
    ],
)
def test_a_fact_is_asked_about_without_its_circumstances(sentence, facts):
    found = [fact.statement for fact in facts_of(sentence)]
    if isinstance(facts, str):
        facts = [facts.split(", in water")[0]]
    assert found == facts


def test_main_sentences_by_hand():
    """A sentence that shares nothing counts nothing; of two alike, the one that says less beside it counts more."""
    text = "The tram opened in Lund. The tram in Lund is red. The tram in Lund has a bell from Malmo. Sheep sleep."
    tram, red, bell, sheep = Weights(text).main
    assert sheep == 0.0 and red > bell > 0 and tram > 0
    assert Weights("It rained all day.").main[0] > 0


def test_the_facts_of_main_sentences_come_first():
    text = (
        "The tram of Lund will open in May. The tram costs 94 million euros. The tram of Lund carries 400 people. "
        "A dog barked at 3 in the night. Anna Holm likes tea."
    )
    asked = make_questions(text, [phrase.text for phrase in counted_phrases(text, 3)])
    assert {question.source for question in asked} <= {fact.sentence for fact in facts_of(text)[:3]}
