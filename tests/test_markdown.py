"""Blocks of a text and spans of a callable; Markdown is read before texts are split, plain text as it always was."""

from hypothesis import given
from hypothesis import strategies as st

from summeval_nb import sample_articles
from summeval_nb.text import markdown, split_many, split_markdown


def read(text: str) -> list[tuple[str, str]]:
    return [(reading.plain, reading.reason) for reading in split_markdown([text])[0]]


def said(*texts: str) -> list[tuple[str, str]]:
    """Sentences that are judged."""
    return [(text, "") for text in texts]


HEADING, RULE, CODE = markdown.HEADING, markdown.RULE, markdown.CODE
FENCES = [("```markdown", markdown.WRAPPER), ("News", HEADING), ("It rained.", ""), ("```", markdown.WRAPPER)]
CELLS = [("year, houses", markdown.TABLE_HEAD), ("|---|---|", RULE), ("2019, 13", "")]
CASES = [
    ("# The *fire* #\n\nIt rained.", [("The fire", HEADING), *said("It rained.")]),
    ("The fire\n========\nIt rained.", [("The fire", HEADING), *said("It rained.")]),
    ("It rained.\n---\nHe left.", [("It rained.", ""), ("---", RULE), ("He left.", "")]),
    ("**The fire:**\n- It rained.", [("The fire:", HEADING), *said("It rained.")]),
    ("- It rained.\n- He *left*. She came.", said("It rained.", "He left.", "She came.")),
    ("1. It rained.\n2. He left.", said("It rained.", "He left.")),
    ("- It rained.\n  - In **Oslo**.", said("It rained.", "In Oslo.")),
    ("> It rained\n> in Oslo.\n\nHe left.", said("It rained in Oslo.", "He left.")),
    ("It rained.\n\n```python\nx = 1. Then\n```", [("It rained.", ""), ("```python\nx = 1. Then\n```", CODE)]),
    ("```markdown\n# News\n\n- It rained.\n```", FENCES),
    ("| year | houses |\n|---|---|\n| 2019 | **13** |", CELLS),
    ("![a fire](fire.png)\n\nIt rained.", [("![a fire](fire.png)", markdown.PICTURE), *said("It rained.")]),
    ('The [bank](http://a.b/c "is (it)") is `open`.', said("The bank is open.")),
    (r"It was 3\*4 and *so*.", said("It was 3*4 and so.")),
    ("# News\r\n\r\n- It rained.\r\n- He left.", [("News", HEADING), *said("It rained.", "He left.")]),
]
PLAIN = [
    "It was 2*3*4 = 24, or 5 * 6 * 7.",
    "The file my_long_name and f*** words. Sales* rose 3%.",
    "1984. It was a hot year.",
    "[Ann]: He came. [Lee]: hi.",
    "a < b > c & d &amp; <b>e</b>. He left.",
    "    Indented, as novels do. He left.\n\n    She came.",
    "He didn\\'t go. It rained.",
    "#hashtag is no heading. It rained.",
    "A `unique' girl met a `shy' boy. He said ``it rained'' and `` no '' and `` yes `` .",
    r"We need $3.8\times$ less {\em memory}, 10\% of it. It rained.",
]


def test_markup_is_read_and_what_only_looks_like_it_is_text():
    for text, wanted in CASES:
        assert read(text) == wanted
    for text in PLAIN:
        readings, (sentences,) = split_markdown([text])[0], split_many([text])
        assert [reading.sentence for reading in readings] == sentences
        assert [reading.plain for reading in readings] == [sentence.text for sentence in sentences]


def test_the_sample_articles_are_split_as_before():
    texts = [
        text for article in sample_articles() for text in (article.text, *(s.text for s in article.summaries.values()))
    ]
    readings = split_markdown(texts)
    assert [[reading.sentence for reading in own] for own in readings] == split_many(texts)
    every = [reading for own in readings for reading in own]
    assert all((reading.plain == reading.sentence.text) != reading.reworded and not reading.reason for reading in every)
    assert sum(reading.reworded for reading in every) < len(every) / 10


@given(st.text(st.sampled_from("ab 1.\n\r\t*_`#>-|[]()!~\\<=+:\u00e9\x00\u2028"), max_size=80))
def test_every_place_is_true_whatever_the_markup(text):
    (readings,) = split_markdown([text])
    end = 0
    for reading in readings:
        sentence = reading.sentence
        assert text[sentence.start : sentence.end] == sentence.text and sentence.start >= end
        end = sentence.end
        assert reading.plain.strip() and len(reading.places) == len(reading.plain)
        assert list(reading.places) == sorted(reading.places)
        for character, place in zip(reading.plain, reading.places, strict=True):
            assert 0 <= place < len(sentence.text)
            assert sentence.text[place] == character or character in " ,\n"
        assert reading.in_sentence(0, len(reading.plain))[1] <= len(sentence.text)


def test_a_splitter_of_one_s_own_gets_the_words_without_markup():
    got = []

    def whole(text):
        got.append(text)
        return [(0, len(text))]

    split_markdown(["# A\n\nIt **rained**. He left."], splitter=whole)
    assert got == ["It rained. He left."]
