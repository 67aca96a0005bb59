"""Slides: one page, no script, no request, text from outside as text."""

import base64
import re

import pytest
from markupsafe import Markup

from summeval_nb.overlap import calculate_rouge
from summeval_nb.teaching.play import class_slides, draw_shared_words, slides_page


def test_every_slide_stands_on_the_page_leads_on_runs_nothing_and_asks_for_nothing():
    page = slides_page("A <class>", [("One", "a < b"), ("Two", Markup("<p>ready</p>")), ("Three", "")])
    assert page.count("<section") == 3 and "A &lt;class&gt;" in page
    assert "a &lt; b" in page and "<p>ready</p>" in page
    assert re.findall(r'href="#slide-(\d)"', page) == ["2", "1", "3", "2"]
    assert set(re.findall(r'id="slide-(\d)"', page)) == {"1", "2", "3"}
    page = slides_page("<script>alert(1)</script>", [("<img src=http://a.b>", "<script>alert(2)</script>")])
    assert "<script" not in page and "<img" not in page and "default-src 'none'" in page


@pytest.fixture(scope="module")
def class_page():
    return slides_page("A class", class_slides({"A": "Is <b>this</b> so?", "B": "It is."}))


def test_the_class_sees_pictures_with_words_for_them_and_the_numbers_of_the_lesson(class_page):
    assert class_page.count("<section") == 14
    images = re.findall(r'<img alt="([^"]+)"[^>]* src="data:image/svg\+xml;base64,([^"]+)"', class_page)
    assert len(images) == 2 and all(len(alt) > 15 for alt, _ in images)
    for _, data in images:
        assert b"<svg" in base64.b64decode(data)
    assert "<script" not in class_page and "&lt;b&gt;this" in class_page
    assert "ROUGE-1 0.67" in class_page and "ROUGE-1 0.43" in class_page


def test_each_shared_word_is_joined_once():
    with pytest.raises(ValueError, match="no words to draw"):
        draw_shared_words("the cat", "…")
    figure = draw_shared_words("the cat the", "the dog")
    assert len(figure.axes[0].lines) == 1
    said = [text.get_text() for text in figure.axes[0].texts]
    found = calculate_rouge("the dog", "the cat the")
    assert f"precision 1/3 = {found['precision']:.2f}" in said and f"recall 1/2 = {found['recall']:.2f}" in said
