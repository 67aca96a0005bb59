"""Where a sentence may be cut into claims, rule by rule."""

from helpers.cases import cases

from summeval_nb.text import clauses
from summeval_nb.text.clauses import about_subject, statement, two_clauses, verb_phrases, whole_only


def test_a_quotation_and_a_bracket_are_one_word():
    words = clauses._words("The bank (founded in 1931) didn't say “yes and no” to $2.5 million.")
    assert [w.text for w in words] == [
        "The",
        "bank",
        "(founded in 1931)",
        "didn't",
        "say",
        "“yes and no”",
        "to",
        "$2.5",
        "million",
        ".",
    ]


def test_finite_verbs():
    for sentence, verbs in cases("""
The proposed merger collapsed in May. | collapsed
The bank will close the plant and went home. | will, went
The bank closed two branches and fired its chairman. | closed, fired
"""):
        words = clauses._words(sentence)
        assert [words[i].text for i in range(len(words)) if clauses._is_verb(words, i)] == verbs.split(", ")


def test_a_clause_has_a_subject_and_a_verb():
    assert clauses._main_verb(clauses._words("In 2010, the old company closed a plant")) == 6
    assert clauses._main_verb(clauses._words("apples and pears")) is None
    assert not clauses._asserted(clauses._words("He did not go"))
    assert clauses._asserted(clauses._words("He went"))


def test_a_clause_whose_subject_is_in_doubt_stays():
    for doubtful in ["The plan, which failed.", "The owner of the plant, which failed, resigned."]:
        assert about_subject(doubtful) == [doubtful]


def test_a_clause_about_the_subject():
    assert about_subject("Anna Lee, who led the bank for years, resigned on Monday.") == [
        "Anna Lee led the bank for years",
        "Anna Lee resigned on Monday.",
    ]


def test_two_clauses():
    for sentence, parts in cases("""
Although sales fell, profits rose. | sales fell, profits rose.
He met Tom and Mary left. | He met Tom and Mary left.
Profits fell, and shares rose in May. | Profits fell, shares rose in May.
"""):
        assert two_clauses(sentence) == parts.split(", ")


def test_what_a_second_verb_takes_over():
    for sentence, taken in [
        ("The bank closed two branches and fired its chairman.", "The bank"),
        ("The bank has closed two branches and fired its chairman.", "The bank has"),
        ("The bank will close two branches and open an office.", "The bank will"),
        ("The man was born in Ohio and moved to Texas.", None),
        ("The man was born in Ohio and went to Texas.", "The man"),
        ("The plan includes rises and cuts in services.", None),
    ]:
        words = clauses._words(sentence)
        second = next(i for i, w in enumerate(words) if w.low == "and") + 1
        found = clauses._carried(words, clauses._main_verb(words), second)
        assert (found and " ".join(w.text for w in found)) == taken


def test_what_is_not_surely_a_second_verb_stays():
    for whole in [
        "He met people injured in the fire and treated in hospital.",
        "The man accused of theft and jailed in 2010 appealed.",
    ]:
        assert verb_phrases(whole) == [whole]


def test_a_series_is_cut_at_its_commas():
    series = "The bank closed two branches, fired its chairman and quietly moved to Oslo."
    assert verb_phrases(series) == [
        "The bank closed two branches",
        "The bank fired its chairman",
        "The bank quietly moved to Oslo.",
    ]


def test_what_is_never_cut():
    for text in ("Did he come?", "He said “it rained.", "Sales fell, and jobs were lost, the bank said.", "a " * 1001):
        assert whole_only(text)
    assert not whole_only("It rained.")


def test_a_statement_has_its_capital_and_its_full_stop():
    assert statement("And sales fell,") == "Sales fell."
    assert statement("iPhones sold well") == "iPhones sold well."
    assert statement("But it rained!") == "It rained!"
