"""Where a sentence may be cut into claims, rule by rule, and its smallest claims."""

from helpers.cases import cases
from helpers.patience import comes_back

from summeval_nb.text import clauses


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
        assert clauses.about_subject(doubtful) == [doubtful]


def test_a_clause_about_the_subject():
    assert clauses.about_subject("Anna Lee, who led the bank for years, resigned on Monday.") == [
        "Anna Lee led the bank for years",
        "Anna Lee resigned on Monday.",
    ]


def test_two_clauses():
    for sentence, parts in cases("""
Although sales fell, profits rose. | sales fell, profits rose.
He met Tom and Mary left. | He met Tom and Mary left.
Profits fell, and shares rose in May. | Profits fell, shares rose in May.
"""):
        assert clauses.two_clauses(sentence) == parts.split(", ")


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
        assert clauses.verb_phrases(whole) == [whole]


def test_a_series_is_cut_at_its_commas():
    series = "The bank closed two branches, fired its chairman and quietly moved to Oslo."
    assert clauses.verb_phrases(series) == [
        "The bank closed two branches",
        "The bank fired its chairman",
        "The bank quietly moved to Oslo.",
    ]


def test_what_is_never_cut():
    for text in ("Did he come?", "He said “it rained.", "Sales fell, and jobs were lost, the bank said.", "a " * 1001):
        assert clauses.whole_only(text)
    assert not clauses.whole_only("It rained.")


def test_a_statement_has_its_capital_and_its_full_stop():
    assert clauses.statement("And sales fell,") == "Sales fell."
    assert clauses.statement("iPhones sold well") == "iPhones sold well."
    assert clauses.statement("But it rained!") == "It rained!"


def test_each_fact_is_a_claim_of_its_own():
    for sentence, claims in cases("""
Founded in 1871, Corvale is a bank based in Lund, with 40 inns.
    | Corvale was founded in 1871., Corvale is a bank., Corvale has 40 inns., Corvale is based in Lund.
The chief of Alpenbahn, Rosa Imhof, resigned on Monday. | Rosa Imhof resigned on Monday.
They met Jules Ferry, who taught French. | They met Jules Ferry., Jules Ferry taught French.
Four hundred residents had sued the port. | Residents had sued the port.
The wood (oak) was sold, according to Lentavo. | The wood was sold.
The mill was built in 1902 by Karl Roth, closed in 1960 and reopened as a museum in 1985.
    | The mill was built in 1902 by Karl Roth., The mill was closed in 1960.
The mill, which belongs to the town, has two wheels. | The mill belongs to the town.
Lund, a city in Sweden, has a castle. | Lund has a castle., Lund is a city in Sweden.
Anna Holm moved to Paris in 1901. | Anna Holm moved to Paris., Anna Holm moved to Paris in 1901.
Dana Whitlock won the title in 1994 at the age of 18.
    | Dana Whitlock won the title., Dana Whitlock won the title in 1994., Dana Whitlock won the title at the age of 18.
Karl Roth, a miller from Lund, died in 1931. | Karl Roth died in 1931., Karl Roth is a miller from Lund.
On 3 May 1921 the council bought the mill. | The council bought the mill.
"""):
        found = clauses.minimal_claims(sentence)
        assert all(claim in found for claim in claims.split(", ")), found


def test_what_would_say_something_else_stays_whole():
    for [sentence] in cases("""
Lindqvist said that seven of ten customers no longer visited a branch.
If it rains, the match will be moved to May.
Is it true?
The town neither bought nor sold the mill.
The price fell by 5 crowns in 1990.
Only three mills survived the war.
The bridge did not open in 1931.
Anchoring is forbidden within a kilometre of the cable.
38 percent of the patients were free of pain.
The talks between Lund and Malmo began in 1990 and 1991.
Nobody knew that the mill was sold in 1960.
She denied that the mill had been sold.
The mill would have closed in 1960.
The school did not open in 1990 at the age of 5.
"""):
        assert clauses.minimal_claims(sentence) == [sentence]


def test_a_second_verb_is_no_participle():
    for sentence in ["The work was finished in 2016 and cost 58 million.", "It was caught and lived in a tank."]:
        assert not any("was cost" in claim or "was lived" in claim for claim in clauses.minimal_claims(sentence))


def test_nothing_gives_no_claim_and_words_without_a_verb_one():
    assert clauses.minimal_claims(" ") == [] and clauses.minimal_claims("A long way home") == ["A long way home."]
    assert (
        clauses.subject_of("The old bridge was closed.") == "The old bridge" and clauses.subject_of("What a day") == ""
    )


def test_hostile_text_takes_no_time():
    for part in ["A.A", " in 1990", " and is", " which is,"]:
        with comes_back():
            for length in (1900, 100_000):
                clauses.minimal_claims("The bank is a firm" + part * (length // len(part)) + ", A B, said x.")


def test_commas_with_nothing_between_are_read():
    for [text] in cases("""
Anna Lee, (born 1950), is a singer.
Anna Lee, , is a singer.
It fell, because, , or
"""):
        assert clauses.minimal_claims(text)
