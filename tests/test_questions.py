"""The exam that a text sets: facts, key phrases within a sentence, one question a fact, as many as the length asks."""

import re

from helpers.cases import JPMORGAN, cases

from summeval_nb.judged.questions import (
    Weights,
    about_topic,
    as_question,
    chosen_facts,
    counted_phrases,
    facts_of,
    how_many_questions,
    lowered,
    make_questions,
)

TEXT = (
    "The ferry has run since 1994. It carries 400 passengers, because the island is popular. "
    "Tickets cost 9 euros, the operator said on Monday.\n\nNorthgate bought the ferry and painted it green."
)


def test_facts_are_clauses_and_asked_about_without_their_circumstances():
    facts = facts_of(TEXT)
    assert [fact.statement for fact in facts[1:3]] == ["The ferry carries 400 passengers.", "Tickets cost 9 euros."]
    assert all(fact.sentence in TEXT for fact in facts)
    assert len({fact.statement for fact in facts}) == len(facts)
    for sentence, fact in cases("""
The court ruled on Monday that the airport must close. | The court ruled that the airport must close.
Lund led by 15 to 10 in front of 11,400 people. | Lund led by 15 to 10.
Neither the patients nor the doctors knew which bottle was which.
    | Neither the patients nor the doctors knew which bottle was which.
Divers found a ship off the coast, in water so deep that nobody had seen it. | Divers found a ship off the coast.
The ferry did not run on Sunday. | The ferry did not run on Sunday.
The club only trains on Monday evening. | The club only trains on Monday evening.
Divers have found a big ship off the coast of Lund, in water so deep that nobody had seen it.
    | Divers have found a big ship off the coast of Lund.
"""):
        assert [found.statement for found in facts_of(sentence)] == [fact]


def test_key_phrases_stay_within_a_sentence_and_a_paragraph_numbers_and_names_first():
    text = "The bank closed as regulators demand.\n\nNorthgate lost money. Big banks\n\nsmall towns"
    for phrase in [counted.text for counted in counted_phrases(text, 10)]:
        assert "\n" not in phrase and not re.search(r"\.\s", phrase), phrase
    text = "It was a nice day for all. The people were happy there. The tower is 80 metres high."
    first = make_questions(text, [phrase.text for phrase in counted_phrases(text, 1)])[0]
    assert first.statement.startswith("The tower")
    phrases = [phrase.text for phrase in counted_phrases(TEXT, 10)]
    asked = make_questions(TEXT, phrases)
    assert len(asked) == len(phrases) == len({question.statement for question in asked})
    assert all(question.source in TEXT and question.keyphrases for question in asked)


def test_weights_by_hand_and_a_clause_as_a_question_with_its_auxiliary_in_front():
    assert Weights("It rained.").of({"snow"}) == 0.0
    assert lowered("Lund has a tram.") == "Lund has a tram" and lowered("It opens in 2027.") == "it opens in 2027"
    assert make_questions(TEXT, ["submarine"]) == [] and counted_phrases("...", 4) == []
    for words, questions in [(10, 9), (250, 9), (400, 10), (800, 20), (5000, 40)]:  # one for about 40 words
        assert how_many_questions("word " * words) == questions
    for statement, question in cases("""
The farm will cost 6 million crowns. | Will the farm cost 6 million crowns?
Lund has been a city since 1020. | Has Lund been a city since 1020?
The clubs have 300 members. | Do the clubs have 300 members?
Anna Holm moved to Paris. | Is it true that Anna Holm moved to Paris?
In May it was cold. | Is it true that in May it was cold?
"""):
        assert as_question(statement) == question


def test_facts_of_main_sentences_come_first():
    text = (
        "The tram of Lund will open in May. The tram costs 94 million euros. The tram of Lund carries 400 people. "
        "A dog barked at 3 in the night. Anna Holm likes tea."
    )
    main = {fact.sentence for fact in facts_of(text) if "tram" in fact.sentence}
    (first, *_) = make_questions(text, [phrase.text for phrase in counted_phrases(text, 3)])
    assert first.source in main and {fact.sentence for fact in chosen_facts(text, 1)} <= main


def test_the_text_of_the_definition_gives_one_fact_a_question():
    asked = make_questions(JPMORGAN, [phrase.text for phrase in counted_phrases(JPMORGAN, 9)])
    texts = {question.text for question in asked}
    assert len(texts) == 8 and all(text.count(" is ") + text.count(",") == 0 for text in texts)
    assert {
        "Is JPMorgan Chase & Co. headquartered in New York City?",
        "Was JPMorgan Chase & Co. founded in 1799?",
        "Does JPMorgan Chase & Co. have US$3.9 trillion in total assets?",
    } <= texts


def test_questions_are_spread_over_the_text_and_none_says_only_more_of_another():
    names = ["tram", "harbour", "bridge", "library", "museum", "school", "airport", "theatre", "market", "garden"]
    text = " ".join(f"The {name} of Lund cost {number} crowns." for number, name in enumerate(names, 20))
    chosen = sorted(fact.number for fact in chosen_facts(text, 8))
    assert len(chosen) == 8 and {number // 2 for number in chosen} == {0, 1, 2, 3, 4}
    text = "The bridge was built in 1931. Anna Holm moved to Paris in 1901."
    statements = [fact.statement for fact in chosen_facts(text, 9)]
    assert len(statements) == 2 and len(facts_of(text)) == 3


def test_a_pronoun_is_what_an_article_is_about():
    units = ["Lund is a city in Sweden.", "It has 94,000 inhabitants.", "Malmo is near.", "It is bigger."]
    assert about_topic(units) == ("Lund is a city in Sweden.", "Lund has 94,000 inhabitants.", *units[2:])
