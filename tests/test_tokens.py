"""A sentence taken apart: stems, numbers, names, runs that two sentences share, and a "not" on one side only."""

from helpers.cases import cases

from summeval_nb.evidence import tokens

NUMBERS = cases("""
Thirty-two people sing. | 32
twenty two, and twenty‑two | 22 22
Four hundred and fifty of twelve hundred homes | 450 1200
a hundred miles, then A Thousand more | 100 1000
two hundred thousand, four thousand two hundred and one | 200000 4201
two thousand and one, five hundred and a half | 2001 500
nineteen eighty-four | 19 84
Twenty-first of two and three | 20 2 3
one of them, a man, hundreds, thirty-two million | 32
""")
NAMES = cases("""
Yesterday Anna Bello met the Mayor. | yesterday anna bello mayor
The council met Anna. | anna
Council approves new tram line |
COUNCIL APPROVES NEW TRAM LINE |
yesterday anna bello met the mayor. |
""")
INITIALS = cases("""
The U.S. and the WHO met. | us who
They asked the W.H.O. about IT. | who it
They asked us who it was. |
THEY ASKED US WHO IT WAS. |
""")
NEGATIONS = cases("""
The council did not approve the plan. | The council approved the plan. | not
The council approved the plan. | The council did not approve the plan. | council approved the plan
The council did not approve the plan. | The council never approved the plan. |
The council approved the plan. | Without a vote, the council approved the plan. |
""")


def test_a_number_in_several_words_is_one_number():
    for sentence, numbers in NUMBERS:
        found = [token for token in tokens.sentence_tokens(sentence) if token.kind == "number"]
        assert [token.key for token in found] == numbers.split()
        assert set(tokens.compound_numbers(sentence).values()) <= set(found)


def test_names_are_capitals_that_no_opening_explains_and_initials():
    for sentence, names in NAMES:
        assert [token.key for token in tokens.take_apart(sentence).names] == names.split()
    for sentence, names in INITIALS:
        found = [name.key for name in tokens.take_apart(sentence).names if name.key in ("us", "who", "it")]
        assert found == names.split(), "though they spell small words"


def test_a_negation_counts_in_the_shared_stretch_only():
    for claim, evidence, words in NEGATIONS:
        findings = tokens.negation_findings(tokens.take_apart(claim), tokens.take_apart(evidence))
        said = [finding.text.removeprefix("The ") for finding in findings]
        assert said == ([words] if words else []) and all(finding.kind == "negation" for finding in findings)
        assert all(claim[finding.start : finding.end] == finding.text for finding in findings)
