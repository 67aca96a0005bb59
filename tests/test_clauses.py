"""Where a sentence may be cut into claims, rule by rule, and its smallest claims."""

from helpers.cases import cases
from helpers.patience import comes_back

from summeval_nb.text import clauses


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
The wood (oak) was sold, according to Lentavo. | The wood was sold.
The mill was built in 1902 by Karl Roth, closed in 1960 and reopened as a museum in 1985.
    | The mill was built in 1902 by Karl Roth., The mill was closed in 1960.
Lund, a city in Sweden, has a castle. | Lund has a castle., Lund is a city in Sweden.
Anna Holm moved to Paris in 1901. | Anna Holm moved to Paris., Anna Holm moved to Paris in 1901.
On 3 May 1921 the council bought the mill. | The council bought the mill.
Dana Whitlock won the title in 1994 at the age of 18.
    | Dana Whitlock won the title., Dana Whitlock won the title in 1994., Dana Whitlock won the title at the age of 18.
Karl Roth, a miller from Lund, died in 1931. | Karl Roth died in 1931., Karl Roth is a miller from Lund.
"""):
        found = clauses.minimal_claims(sentence)
        assert all(claim in found for claim in claims.split(", ")), found


def test_what_would_say_something_else_stays_whole():
    for [sentence] in cases("""
Lindqvist said that seven of ten customers no longer visited a branch.
If it rains, the match will be moved to May.
The price fell by 5 crowns in 1990.
Only three mills survived the war.
The bridge did not open in 1931.
Anchoring is forbidden within a kilometre of the cable.
Nobody knew that the mill was sold in 1960.
The mill would have closed in 1960.
The school did not open in 1990 at the age of 5.
"""):
        assert clauses.minimal_claims(sentence) == [sentence]


def test_what_gives_no_claim_or_one_and_what_a_claim_is_about():
    assert clauses.minimal_claims(" ") == [] and clauses.minimal_claims("A long way home") == ["A long way home."]
    for sentence in ("The work was finished in 2016 and cost 58 million.", "It was caught and lived in a tank."):
        assert not any("was cost" in claim or "was lived" in claim for claim in clauses.minimal_claims(sentence))
    for text in ("Anna Lee, (born 1950), is a singer.", "Anna Lee, , is a singer.", "It fell, because, , or"):
        assert clauses.minimal_claims(text)
    assert (
        clauses.subject_of("The old bridge was closed.") == "The old bridge" and clauses.subject_of("What a day") == ""
    )


def test_hostile_text_takes_no_time():
    for part in ["A.A", " in 1990", " and is", " which is,"]:
        with comes_back():
            for length in (1900, 100_000):
                clauses.minimal_claims("The bank is a firm" + part * (length // len(part)) + ", A B, said x.")
