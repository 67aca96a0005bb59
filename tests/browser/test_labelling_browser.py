"""Labels from a real JupyterLab: the buttons are reached and pressed by mouse and by keyboard, the file has them."""

import csv
import re

import pytest
import test_lab
from playwright.sync_api import expect

lab = test_lab.lab  # the fixture: a JupyterLab over a copy of nbs/
CHAPTER = "6_judging_the_judges/61_is_my_judge_right"

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


def test_a_person_labels_with_mouse_and_keyboard(lab, visit):
    tour = visit(viewport={"width": 1200, "height": 900})
    page = tour.page
    test_lab.run_all(page, lab.format(path=f"{CHAPTER}.ipynb"), test_lab.n_code_cells(CHAPTER))
    errors = page.locator(test_lab.ERRORS).all_inner_texts()
    assert not errors, errors[0]
    cell = page.locator(".jp-CodeCell").filter(has_text="items = label_items(").last
    widget = cell.locator(".jp-OutputArea-output .widget-vbox").first
    widget.scroll_into_view_if_needed()
    expect(widget).to_contain_text("39 of 40, 38 labelled by you")
    tour.screenshot("asked")
    button = {name: widget.get_by_role("button", name=name, exact=True) for name in ("Yes", "No", "Skip", "Back")}
    button["No"].click()
    expect(widget).to_contain_text("40 of 40, 39 labelled by you")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # from No over Skip to Back
    expect(button["Back"]).to_be_focused()
    page.keyboard.press("Space")
    expect(widget).to_contain_text("this one: no")
    for _ in range(3):
        page.keyboard.press("Shift+Tab")
    expect(button["Yes"]).to_be_focused()
    page.keyboard.press("Space")
    expect(widget).to_contain_text("40 of 40, 39 labelled by you")
    page.keyboard.press("Enter")
    expect(widget).to_contain_text("The end: 40 of 40 labelled by you")
    expect(button["Yes"]).to_be_disabled()
    tour.screenshot("end")
    code = test_lab.write_and_run(page, page.locator(".jp-CodeCell").last, "print(to_label)")
    path = re.search(r"\S+to_label\.csv", code.inner_text())[0]
    with open(path, encoding="utf-8") as file:
        assert [row["label"] for row in csv.DictReader(file)][-2:] == ["yes", "yes"]
    assert not tour.outside
