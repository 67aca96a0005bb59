"""The language of a text: measured on sentences in twelve languages, silent where a text is short."""

import json
from pathlib import Path

import pytest

from summeval_nb import sample_articles, split_text
from summeval_nb.text._language import foreign_language, language_of

SENTENCES = json.loads((Path(__file__).parent / "language_sentences.json").read_text(encoding="utf-8"))


def test_twelve_languages():
    wrong = [(code, s) for code, listed in SENTENCES.items() for s in listed if language_of(s) != code]
    total = sum(map(len, SENTENCES.values()))
    assert len(SENTENCES) == 12 and all(len(set(listed)) >= 20 for listed in SENTENCES.values())
    assert 1 - len(wrong) / total >= 0.98, wrong


def test_never_english_by_mistake_and_never_foreign_by_mistake():
    for code, listed in SENTENCES.items():
        for sentence in listed:
            assert (language_of(sentence) == "en") == (code == "en")
    for article in sample_articles():
        for text in (article.text, *(summary.text for summary in article.summaries.values())):
            assert language_of(text) == "en"
            assert all(foreign_language(sentence, ("en",)) is None for sentence in split_text(text))


@pytest.mark.parametrize(
    "text",
    ["", "Paris", "Der Rat ging.", "Le conseil a voté.", "市议会投票。", "1,234,567 " * 20, "!!! ??? ...", "A" * 60,
     "Apple Google Microsoft Amazon Facebook Netflix Nvidia Intel Oracle Samsung"],
)  # fmt: skip
def test_what_is_short_or_says_nothing_is_not_guessed(text):
    assert language_of(text) is None and foreign_language(text, ("en",)) is None


def test_any_language_and_regions():
    german = SENTENCES["de"][0]
    assert foreign_language(german, None) is None and foreign_language(german, ("de-AT",)) is None
    assert foreign_language(german, ("en-GB",)) == "de"
