"""The pictures to play with in a real JupyterLab: slider, field, button and point, moved as a reader does it."""

import re

import pytest
import test_lab
from helpers.browsers import violations
from playwright.sync_api import Locator, Page, expect

from summeval_nb import teaching
from summeval_nb.core.html import html_page

lab = test_lab.lab  # the fixture: a JupyterLab over a copy of nbs/
CHAPTER = "7_use/72_teaching_pack"

ACTIVE = "[...document.querySelectorAll('.jp-Cell')].findIndex(cell => cell.classList.contains('jp-mod-active'))"

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


def picture(page: Page, code: str) -> Locator:
    """The widget below the last cell that holds this code."""
    cell = page.locator(".jp-CodeCell").filter(has_text=code).last
    cell.scroll_into_view_if_needed()
    return cell.locator(".jp-OutputArea-output .widget-vbox").first


def caption(widget: Locator) -> str:
    return widget.locator("figcaption").inner_text()


def press(control: Locator, key: str, times: int) -> None:
    control.focus()
    for _ in range(times):
        control.press(key)


def pearson(widget: Locator) -> float:
    found = re.search(r"Pearson (-?\d\.\d+)", caption(widget))
    assert found, caption(widget)
    return float(found[1])


def test_the_pictures_move(lab, visit):
    """One visit, because a start and a run of the whole chapter take the most time."""
    tour = visit(viewport={"width": 1100, "height": 900})
    page = tour.page
    test_lab.run_all(page, lab.format(path=f"{CHAPTER}.ipynb"), test_lab.n_code_cells(CHAPTER))
    errors = page.locator(test_lab.ERRORS).all_inner_texts()
    assert not errors, errors[0]

    step_the_table(picture(page, "what moving the slider does"))
    tour.screenshot("lcs")
    type_a_candidate(picture(page, 'play_bleu(references, "The cat is sitting on the mat.")'))
    tour.screenshot("bleu")
    move_the_evidence(picture(page, "summary=chess.subtle.text, k=6"))
    tour.screenshot("evidence")
    drag_a_point(page, picture(page, "play_correlation()"))
    tour.screenshot("correlation")

    assert not page.locator(test_lab.ERRORS).count(), "an exception after the pictures were moved"
    wrong = [text for text in tour.complaints if "widget" in text.lower()]
    assert not wrong, wrong


def step_the_table(widget: Locator) -> None:
    expect(widget.locator("figcaption")).to_contain_text("Step 8 of 44")
    press(widget.get_by_role("slider"), "Home", 1)
    expect(widget.locator("figcaption")).to_contain_text("Step 0 of 44")
    widget.get_by_role("button", name="next").click()
    expect(widget.locator("figcaption")).to_contain_text("“the” stands on both sides")
    framed = widget.locator("td.sp-now")
    expect(framed).to_have_text("1")
    press(widget.get_by_role("slider"), "ArrowRight", 2)
    expect(widget.locator("figcaption")).to_contain_text("Step 3 of 44")
    press(widget.get_by_role("slider"), "End", 1)
    expect(widget.locator("figcaption")).to_contain_text("the cat on the mat. ROUGE-L: precision 0.833")
    expect(widget.locator("td.sp-all")).to_have_count(5)


def type_a_candidate(widget: Locator) -> None:
    field = widget.get_by_role("textbox")
    field.fill("")
    expect(widget.locator("figcaption")).to_contain_text("BLEU 0.00 of 100")
    field.press_sequentially("The cat is sitting")
    expect(widget.locator("figcaption")).to_contain_text("4 of 4 1-grams, 3 of 3 2-grams")
    field.press_sequentially(" on the mat.")
    expect(widget.locator("figcaption")).to_contain_text("BLEU 94.57 of 100")
    field.fill("the the <img src=x onerror=alert(1)>")
    expect(widget.locator(".sp-gram").filter(has_text="img").first).to_be_visible()
    assert widget.locator("figure img").count() == 0, "typed text became markup"
    field.fill("The cat is on on the mat.")
    expect(widget.locator(".sp-some").first).to_have_text("on 1 of 2 count, clipped")


def move_the_evidence(widget: Locator) -> None:
    width = widget.bounding_box()["width"]
    assert widget.locator("figure").bounding_box()["width"] <= width, "a wide table pushes the text aside"
    first = widget.locator("figure > ol").first.locator("li").first
    expect(first).to_contain_text("not supported")
    k, threshold = widget.get_by_role("slider").all()
    press(k, "ArrowRight", 1)
    expect(widget.locator("figcaption")).to_contain_text("k = 7, threshold 0.50: 3 of 3 sentences supported")
    expect(first.locator("strong")).to_have_text("supported")
    press(threshold, "End", 1)
    expect(widget.locator("figcaption")).to_contain_text("score 0.00")
    press(k, "Home", 1)
    expect(widget.locator("tr").nth(1).locator("td.sp-now")).to_contain_text("0.11")


def drag_a_point(page: Page, widget: Locator) -> None:
    widget.get_by_role("button", name="start").click()
    expect(widget.locator("figcaption")).to_contain_text("Pearson 0.9")
    before = pearson(widget)
    point = widget.get_by_role("button", name=re.compile("^point 1 of 12"))
    box, plot = point.bounding_box(), widget.locator("svg.sp-plot rect").bounding_box()
    assert box and plot
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(plot["x"] + plot["width"] * 0.9, plot["y"] + plot["height"] * 0.9, steps=8)
    page.mouse.up()
    expect(point).to_have_attribute("aria-label", re.compile(r"metric (8\.9|9\.0)\d, people (0\.9|1\.0)"))
    expect(widget.locator("figcaption")).to_contain_text(re.compile(r"Pearson -?0\.[0-5]"))  # not a place on the way
    dragged = pearson(widget)
    assert dragged < before - 0.3
    expect(point).to_be_focused()
    cell = page.evaluate(ACTIVE)
    press(point, "Shift+ArrowUp", 5)
    expect(widget.locator("figcaption")).not_to_contain_text(f"Pearson {dragged:.3f}")
    assert pearson(widget) > dragged
    assert page.evaluate(ACTIVE) == cell, "the arrow keys went to the notebook"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_still_pictures_are_accessible(scheme, visit, tmp_path):
    pictures = [
        teaching.play_lcs("The cat sat on the mat.", "The cat is on the mat.").set(step=38),
        teaching.play_bleu("The cat is on the mat.", "The cat is on on the mat."),
        teaching.play_evidence("It rained. The dog slept. The cat sat.", "It rained. The sun set.", k=1),
        teaching.play_correlation(),
    ]
    path = tmp_path / "still.html"
    path.write_text(html_page("Still pictures", "<h1>Still</h1>" + "".join(drawn._repr_html_() for drawn in pictures)))
    tour = visit(viewport={"width": 1000, "height": 900}, color_scheme=scheme, bypass_csp=True)
    tour.page.goto(path.as_uri())
    assert tour.page.locator("figure").count() == 4
    found = violations(tour.page)
    assert not found, found
    tour.screenshot(scheme, full_page=True)
