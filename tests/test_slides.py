"""Slides: one page, no script, no request, text from outside as text."""

import re

import pytest
from markupsafe import Markup

from summeval_nb.teaching.slides import slides_page


def test_every_slide_stands_on_the_page_and_leads_on():
    page = slides_page("A <class>", [("One", "a < b"), ("Two", Markup("<p>ready</p>")), ("Three", "")])
    assert page.count("<section") == 3 and "A &lt;class&gt;" in page
    assert "a &lt; b" in page and "<p>ready</p>" in page
    assert re.findall(r'href="#slide-(\d)"', page) == ["2", "1", "3", "2"]
    assert set(re.findall(r'id="slide-(\d)"', page)) == {"1", "2", "3"}


def test_slides_run_nothing_and_ask_for_nothing():
    page = slides_page("<script>alert(1)</script>", [("<img src=http://a.b>", "<script>alert(2)</script>")])
    assert "<script" not in page and "<img" not in page and "default-src 'none'" in page


def test_no_slides_is_an_error():
    with pytest.raises(ValueError, match="slides is empty"):
        slides_page("A class", [])
