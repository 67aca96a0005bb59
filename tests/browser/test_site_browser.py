"""The site as its readers see it: search, light and dark, wide and narrow, with a keyboard and a screen reader."""

import pytest
from helpers.browsers import serious
from playwright.sync_api import expect

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

MAIN = ("index", "3_evidence/33_similarity", "3_evidence/38_faithfulness", "2_counting/24_bleu")
MAIN_PAGES = [f"{name}.html" for name in MAIN]
WIDE, NARROW = {"width": 1400, "height": 1000}, {"width": 390, "height": 844}
REFERENCE = ["goals.html", "glossary.html", "bibliography.html", "api.html"]
by_page = pytest.mark.parametrize("address", MAIN_PAGES)
by_scheme = pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.nightly)])
SIDEWAYS = "document.documentElement.scrollWidth > window.innerWidth"


def test_search_finds_a_public_name(site_url, visit):
    tour = visit(viewport=WIDE)
    page = tour.page
    page.goto(f"{site_url}/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("topk_related")
    page.keyboard.press("Enter")
    page.locator("#search-results ul.search li a", has_text="topk_related").first.click()
    page.locator("dt[id$='.topk_related']").wait_for(state="visible")  # the closed reference box has opened
    assert not tour.complaints


QUERIES = {
    "rouge": "2_counting/22_rouge",
    "bleu": "2_counting/24_bleu",
    "kendall": "6_judging_the_judges/63_agreement",
    "faithfulness": "3_evidence/38_faithfulness",
    "refusal": "5_other_qualities/53_answers",
    "lesson": ("1_start/", "2_counting/23", "5_other_qualities/55", "6_judging_the_judges/67", "7_use/"),
    "sentence vector": "3_evidence/32_vectors",
    "p-value": "6_judging_the_judges/65_significance",
    "resume": "7_use/71_a_million_pairs",
    "judge": "5_other_qualities/51_judges",
}


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_search_finds_the_chapter_of_a_term_first(size, site_url, visit):
    tour = visit(viewport=size)
    page = tour.page
    found = {}
    for query in QUERIES:
        page.goto(f"{site_url}/search.html?q={query.replace(' ', '+')}")
        page.locator("#search-results ul.search li p.context").first.wait_for(timeout=90_000)
        found[query] = page.locator("#search-results ul.search li a").first.get_attribute("href")
        assert not page.evaluate(SIDEWAYS), f"the results of {query!r} run over the page"
        assert "System Settings" not in page.locator("#search-results").inner_text(), "the menu is no part of a page"
    wrong = {query: where for query, where in found.items() if not where.startswith(QUERIES[query])}
    assert not wrong, wrong
    assert not tour.complaints


@by_scheme
@by_page
def test_a_page_fits_and_is_readable(address, scheme, site_url, visit):
    """No sideways scrolling, no complaint in the console, light or dark as asked; a screenshot."""
    tour = visit(viewport=WIDE, color_scheme=scheme)
    page = tour.page
    page.goto(f"{site_url}/{address}", wait_until="networkidle")
    assert page.locator("html").get_attribute("data-theme") == scheme
    assert page.locator("article h1").count() == 1
    assert not page.evaluate(SIDEWAYS), "the page scrolls sideways"
    tour.screenshot("wide", full_page=scheme == "light")
    assert not tour.complaints


@pytest.mark.nightly
def test_every_page_fits_a_telephone(site, site_url, visit):
    tour = visit(viewport=NARROW)
    page = tour.page
    names = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    too_wide, formulas, typeset = [], [], 0
    for name in names:
        if not name.startswith(("_modules/", "_static/")):
            page.goto(f"{site_url}/{name}")
            too_wide += [name] if page.evaluate(SIDEWAYS) else []
            formulas += [name] if page.locator("mjx-merror").count() else []
            typeset += page.locator("mjx-container").count()
    assert not too_wide, f"these pages scroll sideways: {too_wide}"
    assert typeset > 20 and not formulas, f"a formula of these pages does not compile: {formulas}"
    assert not tour.complaints


@by_scheme
@pytest.mark.parametrize("address", MAIN_PAGES + REFERENCE)
def test_no_serious_barrier(address, scheme, site_url, visit):
    """With every box opened; of code, which is slow to check word by word, one chapter stands for all."""
    page = visit(viewport=WIDE, color_scheme=scheme).page
    page.goto(f"{site_url}/{address}", wait_until="networkidle")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    only = ("wcag2a", "wcag2aa") if scheme == "light" else ("color-contrast",)  # the rest is the same in the dark
    without = () if address == "3_evidence/33_similarity.html" else ("div.highlight",)
    assert not (shown := serious(page, only=only, without=without)), "\n".join(shown)


def test_glossary_and_bibliography_are_one_click_away(site_url, visit):
    """From the first page by the sidebar, and from a chapter by the words and works in its text."""
    tour = visit(viewport=WIDE)
    page = tour.page
    for title in ("Glossary", "Bibliography", "API reference", "What each chapter teaches"):
        page.goto(f"{site_url}/index.html")
        page.locator("nav.bd-links a", has_text=title).click()
        expect(page.locator("article h1")).to_contain_text(title)
    page.goto(f"{site_url}/2_counting/22_rouge.html")
    work = page.locator("article a[href$='bibliography.html#cite-lin2004']").first
    assert "Text Summarization Branches Out" in work.get_attribute("title")
    work.click()
    entry = page.locator("#cite-lin2004")
    expect(entry).to_be_in_viewport()
    expect(entry.locator(".cited-in a", has_text="22 rouge")).to_have_count(1)
    page.goto(f"{site_url}/2_counting/22_rouge.html")
    page.locator("article a[href*='glossary.html#']").first.click()
    expect(page.locator("article section:target h2")).to_be_in_viewport()
    assert not tour.complaints


def test_a_chapter_on_paper(site_url, visit):
    """Printed from dark mode: white paper, no navigation, no code that runs off the page."""
    tour = visit(viewport=WIDE, color_scheme="dark")
    page = tour.page
    page.goto(f"{site_url}/3_evidence/33_similarity.html", wait_until="networkidle")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.emulate_media(media="print")
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    background = "one => getComputedStyle(one).backgroundColor"
    assert page.locator("body").evaluate(background) in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    for part in (".bd-sidebar-primary", ".bd-sidebar-secondary", ".bd-header-article", "p.download"):
        expect(page.locator(part).first).to_be_hidden()
    page.set_viewport_size({"width": 720, "height": 1000})  # a sheet of A4, about
    cut = page.locator("article pre").evaluate_all(
        "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).length"
    )
    assert cut == 0, f"{cut} pieces of code run off the paper"
    tour.screenshot("paper", full_page=True)
    page.emulate_media(media="screen")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
