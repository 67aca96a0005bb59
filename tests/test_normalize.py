"""A text in one form: equal values become the same words, others never do, and every character has its place."""

import textwrap
import unicodedata

import pytest
from helpers.cases import cases, sentences
from helpers.patience import comes_back
from hypothesis import given
from hypothesis import strategies as st

from summeval_nb.evidence import evaluate, evaluate_many
from summeval_nb.text import split_markdown
from summeval_nb.text.markdown import WRAPPER
from summeval_nb.text.normalize import in_one_form, normalize, unwrapped

USUAL = {
    "It rained on Jan. 5, 2019.": "It rained on January 5, 2019.",
    "It rained on 2019-01-05 in Oslo.": "It rained on January 5, 2019 in Oslo.",
    "It rained on 25/01/2019.": "It rained on January 25, 2019.",
    "It rained on Tues., Jan 5.": "It rained on Tuesday, January 5.",
    "It opens at 15:00.": "It opens at 3 pm.",
    "It opens at 00:00.": "It opens at midnight.",
    "It opens at half past six in the evening.": "It opens at 6:30 pm.",
    "It opens at a quarter to one in the afternoon.": "It opens at 12:45 pm.",
    "It left at 00:20, not at 12:20 p.m.": "It left at 0:20 am, not at 12:20 p.m.",
    "Sales fell in Q2. Its Q4 was better.": "Sales fell in the second quarter. Its fourth quarter was better.",
    "He fought in World War 2 and WWI.": "He fought in Second World War and First World War.",
    "Zoe\u0308 left co\u00adoperatively.": "Zoë left cooperatively.",
    "Anna has two dogs [1]. Ben has none.[2]": "Anna has two dogs. Ben has none.",
}
AS_IS = sentences("""
It rained on 03/04/2019. / It rained on 5 and 6 January. / They may march 15 miles on May 7. / She drove the Audi Q3
home. / It took a quarter of an hour and half of a day. / He won 6:4, 13-11 and ran 100m in 9.58. / Version
1.2.2019-beta costs $9. / No one came, and the one who left may be 2. / It opens at 10:30. / They won 8:10 and lost
11:9. / The path is minus its gravel. / The work of Jan Vos was sold by Jan Smit. / It opens at half past six.
/ Ten dollarſ were paid on 3 Aprıl to the World Health Organızation.
""")
EQUAL = cases("""
half a million | 500,000
a dozen eggs | 12 eggs
two hundred and four | 204
7 % | seven percent
1 lb | 450 g
1,500 metres | 1.5 km
20 °C | 68 degrees Fahrenheit
one in five houses | 20 percent of the houses
The MoT met | The Ministry of Transport met
Dr. Lee | Doctor Lee
Chloe Bronte | Chloë Brontë
Jørgen Pałka | Jorgen Palka
Acme Corp. said | Acme Corporation said
Henry the Eighth | Henry VIII
Super Bowl 49 | Super Bowl XLIX
12.500 people | 12,500 people
1.250.000 voters | 1.25 million voters
1 200 ships | 1200 ships
12.500 kg | 12.5 kg
twenty-four men | 24 men
€9 | 9 euros
2,50 € | €2.50
EUR 40 | €40
two years | 24 months
a year and a half | 18 months
−7 °C | minus seven degrees
three quarters of voters | 75 percent of voters
The U.S. met | The United States met
The RBT met | The Royal Ballet of Tirana met
Saint Louis | St. Louis
the 3rd time | the third time
""")
UNEQUAL = cases("""
The WHO met | The World Hockey Organization met
6 % | five percent
1.234,50 € | €1,234
3 pounds of meat | £3
−7 °C | 7 °C
He was on TV | Tom Vance was here
a VIP left | Vera Ida Pohl left
Dr. Lea | Doctor Lee
Henry VII | Henry VIII
Elm St. is | Saint Elm is
no one knew it | 1 man knew it
9 dollars | €9
12.500 people | 12,800 people
row 1 200 seats | 200 rows
1 lb | 250 g
2,50 € | €250
one in five houses | 25 percent of the houses
5 m long | 5 million
""")


def test_dates_and_times_have_one_usual_form_and_what_is_no_clear_value_stays():
    for text in USUAL:
        assert normalize(text).text == normalize(USUAL[text]).text == USUAL[text]
    for text in AS_IS:
        assert normalize(text, like="It was a long day for everybody.").text == text
    assert in_one_form("Rows 5\n- 6 of them").text == "Rows 5\n- 6 of them", "the lines of a list are no range"


def test_an_equal_value_is_written_as_the_other_text_does_and_a_neighbouring_one_stays():
    for text, like in EQUAL:
        assert normalize(text, like=like).text == like
        assert normalize(text, like=f"It was so: {like}. And more.").text == like
        assert normalize(text).text == text
    for text, like in UNEQUAL:
        assert normalize(text, like=like).text == text


def test_an_ambiguous_date_is_told_by_the_other_text():
    for written, like, read in cases("""
03/04/2019 | It rained on April 3, 2019. | April 3, 2019
03/04/2019 | It rained on March 4, 2019. | March 4, 2019
03/04/2019 | It rained on March 5, 2019. | 03/04/2019
3.4.19 | It rained on April 3, 2019. | April 3, 2019
"""):
        assert normalize(written, like=like).text == read


PIECES = [
    "Jan. 5", "15:00", " ", "\n", "a", ".", "[1]", "e\u0301", "\u0301", "two million", "UN", "Sure! ", "\u00ad", "9",
    ":", "Dr. Lee", "<think>", "</think>", "12 p.m.", "- ", "**", "I hope this helps!", "According to [1], ", "5 km",
    "#a",
]  # fmt: skip
ALPHABET = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@given(ALPHABET, st.sampled_from(["", "The United Nations met Doctor Lee. 2,000,000 came 5,000 metres on 5 January."]))
def test_every_character_leads_back(text, like):
    found = normalize(text, like=like)
    assert len(found.text) == len(found.starts) == len(found.ends)
    spans = [found.span(place, place + 1) for place in range(len(found.text))]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans) and [end for _, end in spans] == sorted(end for _, end in spans)


HOSTILE = [
    "two ", "1,111,", "A-A-", "Aa ", "U.N. ", "one hundred and ", "1 ", "Dr. ", "15:", "January ", "e\u0301", "a & ",
    "5 km ", "$1", "half a ", "World War ", "the fifth of ", "Henry I ", "World Health Organization ", "12 p.m. ",
]  # fmt: skip


def test_a_long_text_of_one_piece_comes_back():
    for piece in HOSTILE:
        text = piece * (25_000 // len(piece))
        with comes_back():
            normalize(text, like=f"{text} 2 km, 3 miles, World Health Organization")


ARTICLE = (
    "The World Health Organization met in Oslo on January 15, 2021. The talks cost two million euros. "
    "Many visitors came from the villages around the lake. The weather stayed dry until the evening."
)


def test_a_mark_changes_no_verdict_wherever_it_stands():
    plain = "The talks cost two million euros. The weather stayed dry until the evening."
    first, second = plain.split(". ")
    marks = (" [1].", ".[1]", ". [1]", " [1][2].", " (Source 1).", " (Smith et al., 2020).", " 【1†source】.")
    cited = [f"{first}{mark} {second}" for mark in marks]
    expected, *found = evaluate_many([ARTICLE] * (1 + len(cited)), [plain, *cited], progress=False)
    for text, result in zip(cited, found, strict=True):
        assert [v.probability for v in result.verdicts] == [v.probability for v in expected.verdicts], text
        assert "".join(sentence.text for sentence in result.sentences).replace(" ", "") == text.replace(" ", "")


def test_what_wraps_a_summary_is_not_judged():
    text = "Sure! Here is a summary:\n\nThe talks cost two million euros. I hope this helps!"
    result = evaluate(ARTICLE, text)
    assert [verdict.reason for verdict in result.verdicts if not verdict.judged] == [WRAPPER] * 3
    assert result.score == evaluate(ARTICLE, "The talks cost two million euros.").score == 1
    alone = evaluate(ARTICLE, "<think>The talks were dear.</think>")
    assert alone.score is None and WRAPPER in alone.reason


def test_another_form_is_shown_and_marked_in_the_users_own_text():
    result = evaluate(ARTICLE, "The WHO met in Oslo on 16 Jan. 2021.")
    (verdict,) = result.verdicts
    assert verdict.state != "supported"
    assert "read as “The World Health Organization met in Oslo on January 16, 2021.”" in verdict.details["note"]
    assert "read as “The World Health" in result.to_text() and "read as “The World Health" in result._repr_html_()
    number = next(found for found in verdict.findings if found.kind == "number")
    assert result.summary[number.start : number.end] == number.text and "16" in number.text
    combined = unicodedata.normalize("NFD", "The talks cost two million euros [1].")
    assert "note" not in evaluate(ARTICLE, combined).verdicts[0].details


def test_other_languages_keep_their_values_and_an_empty_line_takes_the_place_of_what_wraps():
    (readings,) = split_markdown(["Öffnet um 15:00 Uhr [1]."], lang="de", splitter="sentencex")
    assert readings[0].plain == "Öffnet um 15:00 Uhr."
    found = unwrapped("It rained.<think>Hm.</think>He left.")
    assert found.own.text == "It rained.\n\nHe left." and found.wraps == [(10, 28)]


WIDTHS = {
    "two spaces": lambda text: text.replace(" ", "  "),
    "a tab": lambda text: text.replace(" ", " \t"),
    "a line end": lambda text: textwrap.fill(text, 30),
    "an indented line": lambda text: textwrap.fill(text, 34, subsequent_indent="   "),
}


def test_white_space_changes_no_verdict():
    """As PDFs, mails and terminals give it: a date, a unit and an amount are read across any white space."""
    for kind in WIDTHS:
        article = "The Hale mill opened on 5 January 2019. It cost two million euros and uses 3.1 kilometres of pipe."
        summary = "The mill opened on Jan. 5, 2019. It cost €2,000,000 and uses 3,100 m of pipe."
        plain = evaluate(article, summary)
        assert [verdict.state for verdict in plain.verdicts] == ["supported"] * 2
        for pair in ((article, WIDTHS[kind](summary)), (WIDTHS[kind](article), summary)):
            found = evaluate(*pair)
            assert [v.state for v in found.verdicts] == ["supported"] * 2
            assert [v.probability for v in found.verdicts] == pytest.approx(
                [v.probability for v in plain.verdicts], abs=1e-4
            )
    text = "It  opened  on  Jan.  5."
    found = in_one_form(text)
    start = found.text.index("January 5")
    assert text[slice(*found.span(start, start + 9))] == "Jan.  5", "it leads back to the user's text"
