"""The faithfulness report in a real browser, as a reader and as an attacker would use it."""

import pytest
from helpers.browsers import ATTACKS, serious
from playwright.sync_api import expect

from summeval_nb import evaluate, evaluate_many
from summeval_nb.core.data import sample_articles
from summeval_nb.evidence import compare_reports

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
FRAMED = "el => getComputedStyle(el).outlineStyle"
BACKGROUND = "el => getComputedStyle(el).backgroundColor"


@pytest.fixture(scope="module")
def result():
    article = sample_articles()[0]
    return evaluate(article.text, article.subtle.text)


@pytest.fixture
def opened(result, tmp_path, visit):
    seen = visit()
    seen.page.goto(result.to_html(tmp_path / "report.html").as_uri())
    return seen


def test_a_sentence_opens_on_its_evidence_with_the_keyboard(opened, result):
    page = opened.page
    page.keyboard.press("Tab")
    expect(page.locator(".sr-judge a")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("details summary").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".sr-panel").first).to_be_visible()
    evidence = [item.index for item in result.verdicts[0].evidence]
    chosen = evidence[:3]  # the best three; the rest is folded, and lit nowhere
    article = page.locator(".sr-article span")
    for index in range(len(result.source_sentences)):
        outline = article.nth(index).evaluate(FRAMED)
        assert (outline == "solid") == (index == chosen[0]), f"article sentence {index}"
        assert (article.nth(index).evaluate(BACKGROUND) != "rgba(0, 0, 0, 0)") == (index in chosen)
    quoted = page.locator(".sr-panel").first.locator("blockquote").all_text_contents()
    expect(page.locator(".sr-more ol").first).to_be_hidden()
    page.locator(".sr-more summary").first.click()
    expect(page.locator(".sr-more ol").first).to_be_visible()
    assert quoted == [result.source_sentences[index].text for index in evidence]
    page.locator(".sr-summary details[name] > summary").nth(1).click()  # choosing another one closes this one
    expect(page.locator(".sr-panel").first).to_be_hidden()
    lit = [article.nth(n).evaluate(FRAMED) == "solid" for n in range(len(result.source_sentences))]
    assert lit.count(True) == 1 and lit[result.verdicts[1].evidence[0].index]
    opened.screenshot("report")


class Attacker:
    """A checker whose own name is an attack."""

    fingerprint, threshold = ATTACKS[1], 0.5

    def check_many(self, pairs, *, vectors=None):
        from summeval_nb import Verdict
        from summeval_nb.core import Finding

        found = [Finding(ATTACKS[0], claim[:5], 0, 5) for _, claim in pairs]
        return [Verdict(probability=0.3, findings=[finding], details={"probability_mass": 0.9}) for finding in found]


def test_hostile_text_executes_nothing(tmp_path, visit):
    text = "\n\n".join(f"{attack} Some words follow here." for attack in ATTACKS)
    hostile = evaluate(text, text, checker=Attacker())
    seen = visit()
    # Without the page's own policy, so that only the escaping protects.
    (tmp_path / "bare.html").write_text(f"<!DOCTYPE html><meta charset=utf-8>{hostile._repr_html_()}", "utf-8")
    hostile.to_html(tmp_path / "report.html")
    for name in ("bare.html", "report.html"):
        seen.page.goto((tmp_path / name).as_uri())
        for summary in seen.page.locator("details summary").all():
            summary.click()
        for sentence in seen.page.locator(".sr-article span, .sr-text").all()[:20]:
            sentence.hover(force=True)
        assert seen.page.evaluate("window.owned") is None
        assert seen.page.locator("iframe, img, script, .sr a:not([href^='#'])").count() == 0
        assert ATTACKS[0] in seen.page.locator(".sr-article").inner_text()
    assert not seen.complaints


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_barrier_and_readable(scheme, result, tmp_path, visit):
    seen = visit(color_scheme=scheme)
    seen.page.goto(result.to_html(tmp_path / "report.html").as_uri())
    for summary in seen.page.locator("details summary").all():
        summary.click()
    assert not (shown := serious(seen.page)), "\n".join(shown)
    seen.screenshot(f"report-{scheme}", full_page=True)


def test_paper_shows_everything(opened):
    page = opened.page
    expect(page.locator(".sr-panel").first).to_be_hidden()
    page.emulate_media(media="print")
    article = page.locator(".sr-article")
    assert article.evaluate("el => el.scrollHeight <= el.clientHeight + 1")
    for panel in page.locator(".sr-panel").all():
        assert panel.evaluate("el => el.checkVisibility({contentVisibilityAuto: true})")
        assert panel.bounding_box()["height"] > 20
        assert sum(quote.is_visible() for quote in panel.locator("blockquote").all()) == 3, "the best three, no more"


def test_a_long_article_stays_usable(tmp_path, visit):
    text = " ".join(f"Sentence number {n} speaks of the year {1000 + n}." for n in range(600))
    long = evaluate(text, "Sentence number 577 speaks of the year 1577.")
    seen = visit(viewport={"width": 390, "height": 800})
    seen.page.goto(long.to_html(tmp_path / "report.html").as_uri())
    page = seen.page
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    pane = page.locator(".sr-article")
    assert pane.bounding_box()["height"] < 700
    lines = pane.evaluate("el => el.clientHeight / parseFloat(getComputedStyle(el).lineHeight)")
    assert abs(lines - round(lines)) < 0.05, "the pane ends in the middle of a line"
    page.locator("details summary").first.click()
    page.locator(".sr-panel a").first.click()
    target = page.locator(".sr-article :target")
    expect(target).to_be_in_viewport()
    assert "1577" in target.inner_text()


def test_a_comparison_lights_up_the_one_article(tmp_path, visit):
    article = sample_articles()[2]
    results = evaluate_many([article.text] * 3, [summary.text for summary in article.summaries.values()])
    seen = visit()
    comparison = compare_reports(results, list(article.summaries))
    seen.page.goto(comparison.to_html(tmp_path / "comparison.html").as_uri())
    last = seen.page.locator(".sr-summary").last.locator("details[name]").last
    last.locator("summary").first.click()
    best = results[-1].verdicts[-1].evidence[0].index
    assert seen.page.locator(".sr-article span").nth(best).evaluate(FRAMED) == "solid"
    seen.screenshot("comparison", full_page=True)
