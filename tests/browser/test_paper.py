"""What a lecturer prints and projects: lesson 72's handout fits one page, and its slide tells no answer."""

import base64
import re
from pathlib import Path

import execute
import pytest
from helpers.late import Late
from playwright.sync_api import expect

nbformat = Late("nbformat")

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture(scope="module")
def saved() -> dict[str, str]:
    """The pages that lesson 72 offers to save: name to HTML."""
    notebook = nbformat.read(execute.execute_notebook(ROOT / "nbs" / "7_use" / "72_teaching_pack.ipynb"), 4)
    shown = [
        out.data.get("text/html", "") for cell in notebook.cells for out in cell.get("outputs", []) if "data" in out
    ]
    links = re.findall(r'download="([\w.]+)" href="data:text/html;base64,([^"]+)"', "".join(shown))
    return {name: base64.b64decode(page).decode() for name, page in links}


def test_the_handout_is_one_page(saved, visit):
    tour = visit()
    tour.page.set_content(saved["handout.html"])
    paper = tour.page.pdf(format="A4", margin=dict.fromkeys(("top", "right", "bottom", "left"), "15mm"))
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) == 1
    expect(tour.page.locator("body")).to_contain_text("84 million")
    assert "48 million" in tour.page.locator("body").inner_text(), "the article is on it"
    tour.screenshot("handout", full_page=True)


def test_slides_fit_the_projector_and_the_vote_tells_nothing(saved, visit):
    tour = visit(viewport={"width": 1280, "height": 720})
    tour.page.set_content(saved["slides.html"])
    slides = tour.page.locator("section")
    vote = slides.filter(has_text="A grade from 1 to 5 for each")
    assert vote.locator("b").all_inner_texts() == ["A", "B", "C", "D"]
    assert not re.search(r"fluent|false|paraphrase|heap|true\b|84", vote.inner_text()), "84 is the answer of the sheet"
    assert (slides.locator("img[alt]").count(), slides.locator("figure").count()) == (2, 2)
    assert slides.filter(has=tour.page.locator("table")).count() >= 3
    heights = slides.evaluate_all("all => all.map(one => one.scrollHeight)")
    assert len(heights) == 14 and max(heights) <= 720, "a slide must not need to scroll"
    vote.scroll_into_view_if_needed()
    tour.screenshot("vote")
