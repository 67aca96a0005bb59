"""A sentence as its smallest claims: what is taken apart, and what has to stay whole."""

from helpers.cases import cases
from helpers.patience import comes_back

from summeval_nb.text.minimal import minimal_claims, subject_of


def test_each_fact_is_a_claim_of_its_own():
    for sentence, claims in cases("""
Founded in 1871, Corvale is a bank based in Lund, with 40 inns.
    | Corvale was founded in 1871., Corvale is a bank., Corvale has 40 inns., Corvale is based in Lund.
The chief of Alpenbahn, Rosa Imhof, resigned on Monday. | Rosa Imhof resigned on Monday.
They met Jules Ferry, who taught French. | They met Jules Ferry., Jules Ferry taught French.
The bank will close a branch and cut 260 jobs. | The bank will close a branch., The bank will cut 260 jobs.
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
        found = minimal_claims(sentence)
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
        assert minimal_claims(sentence) == [sentence]


def test_a_second_verb_is_no_participle():
    for sentence in ["The work was finished in 2016 and cost 58 million.", "It was caught and lived in a tank."]:
        assert not any("was cost" in claim or "was lived" in claim for claim in minimal_claims(sentence))


def test_nothing_gives_no_claim_and_words_without_a_verb_one():
    assert minimal_claims(" ") == [] and minimal_claims("A long way home") == ["A long way home."]
    assert subject_of("The old bridge was closed.") == "The old bridge" and subject_of("What a day") == ""


def test_hostile_text_takes_no_time():
    for part in ["A.A", " in 1990", " and is", " which is,"]:
        with comes_back():
            for length in (1900, 100_000):
                minimal_claims("The bank is a firm" + part * (length // len(part)) + ", A B, said x.")


def test_commas_with_nothing_between_are_read():
    for [text] in cases("""
Anna Lee, (born 1950), is a singer.
Anna Lee, , is a singer.
It fell, because, , or
"""):
        assert minimal_claims(text)
