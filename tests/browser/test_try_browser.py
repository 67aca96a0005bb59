"""The page to try, in a real browser and a small folder: what is typed gives the number that Python prints."""

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.browsers import served
from playwright.sync_api import Page, expect

import summeval_nb as s

ROOT = Path(__file__).parents[2]

import try_page  # noqa: E402
from try_in_browser import coefficients  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
SECONDS = 1000
SHELL = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Try it</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="_static/site.css"><main class="bd-article">{forms}</main>
<script type="module" src="_static/try.js"></script></html>"""
HOSTILE = "<img src=x onerror=document.title='owned'> the cat"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        try_page.fetch()
    except try_page.NotFetched as why:
        pytest.skip(f"needs Pyodide's core, which make docs fetches by npm: {why}")
    folder = tmp_path_factory.mktemp("site")
    try:
        try_page.make_models()
    except (try_page.NotFetched, ModuleNotFoundError) as why:
        print(f"the five steps stand still: {why}")
    running = try_page.place(folder / "_static")
    assert running
    for name in ("try.js", "try_steps.js", "site.css"):
        (folder / "_static" / name).write_bytes((ROOT / "docs" / "_static" / name).read_bytes())
    forms = "".join(try_page.form(name, running=name in running) for name in try_page.FORMS)
    (folder / "try.html").write_text(SHELL.format(forms=forms), encoding="utf-8")
    with served(folder) as at:
        yield at


def start(page: Page, form: str) -> None:
    """Press the button and wait for Python."""
    shown = page.locator(f"form[data-form={form}]")
    shown.get_by_role("button", name="Load Python").click()
    expect(page.locator("form[data-ready]").first).to_be_visible(timeout=90 * SECONDS)
    expect(page.locator(".try-state").first).to_have_text("")
    expect(shown.get_by_role("button")).to_have_text("Compute")


def test_what_is_typed_gives_the_number_that_python_prints(address, visit):
    tour = visit(viewport={"width": 1300, "height": 1000})
    page, asked = tour.page, []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/try.html")
    expect(page.locator(".try-asleep")).to_have_count(0)
    result = page.locator("form[data-form=words] .try-result")
    still = result.inner_text()
    assert "BLEU 53.73 of 100" in still and not [
        requested for requested in asked if "pyodide" in requested
    ]  # nothing is loaded unasked
    start(page, "words")
    assert result.inner_text() == still, "the script draws what the build drew"

    typed, references = "The dog was asleep on a mat.", ["A dog slept on the mat.", "The dog is sleeping."]
    page.get_by_label("Text to score").fill(typed)
    page.get_by_label("References, one a line").fill("\n".join(references))
    page.get_by_label("stem words").check()
    expect(result.locator("caption").first).to_contain_text(f"BLEU {s.bleu_score(typed, references).score:.2f} of 100")
    rouge = s.rouge_score(typed, references, types=["rouge1", "rouge2", "rougeL"], stemmer=True)
    for kind, item in rouge.items():
        row = result.locator("tr", has_text=kind).locator("td").all_inner_texts()
        assert row[1:] == [f"{number:.4f}" for number in item]
    marked = result.locator("mark").all_inner_texts()
    assert marked == ["The", "dog", "on", "a", "mat", "A", "dog", "on", "the", "mat"]
    tour.screenshot("words", full_page=True)

    page.get_by_label("What the metric gave").fill("3, 1, 2, 5")
    page.get_by_label("What people thought").fill("1 1 2 4")
    numbers = page.locator("form[data-form=numbers] .try-result")
    for name, value in coefficients([3, 1, 2, 5], [1, 1, 2, 4]).items():
        expect(numbers.locator("tr", has_text=name.capitalize()).locator("td").last).to_have_text(f"{value:.4f}")
    assert asked and all(requested.startswith(address) for requested in asked), "a request left the origin"

    # what a reader typed is text
    page.get_by_label("What the metric gave").fill(f"1 2 {HOSTILE}")
    error = page.locator("form[data-form=numbers] .try-error")
    expect(error).to_contain_text("'<img' is no number")
    page.get_by_label("Text to score").fill(HOSTILE)
    page.get_by_label("References, one a line").fill(HOSTILE)
    marked = page.locator("form[data-form=words] figure p").first
    expect(marked).to_contain_text(HOSTILE)
    page.get_by_label("References, one a line").fill("")
    expect(page.locator("form[data-form=words] .try-error")).to_contain_text("at least one reference")
    assert page.title() == "Try it" and not page.locator(".try-result img").count()
    assert not tour.complaints


def test_where_python_cannot_start_the_example_stays(address, visit):
    tour = visit()
    page = tour.page
    page.route("**/pyodide.asm.wasm", lambda route: route.abort())
    page.goto(f"{address}/try.html")
    page.locator("form[data-form=words]").get_by_role("button").click()
    expect(page.locator(".try-state").first).to_contain_text("could not be started here", timeout=90 * SECONDS)
    expect(page.locator("form[data-form=words] .try-result")).to_contain_text("BLEU 53.73 of 100")


def twelve() -> list[tuple[str, str]]:
    """The samples, and eight articles of the everyday set with what was said of each, true and false."""
    said: dict[str, list[str]] = {}
    with gzip.open(ROOT / "summeval_nb" / "assets" / "everyday.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            said.setdefault(row["article"], []).append(row["text"])
    few = [(article, " ".join(texts[:3])) for article, texts in said.items() if len(s.split_text(article)) >= 4]
    return [(sample.text, sample.subtle.text) for sample in s.sample_articles()] + few[:: len(few) // 8][:8]


def in_python(article: str, summary: str, k: int) -> tuple[list[list[int]], list[tuple[bool, float] | None]]:
    """The places and the verdicts of lesson 12."""
    told, said = s.split_text(article), s.split_text(summary)
    nearest = s.topk_related(s.cosine_similarity(s.sentence2embedding(told), s.sentence2embedding(said)), k).tolist()
    pairs = [([told[place] for place in places], text) for text, places in zip(said, nearest, strict=True)]
    return nearest, [s.checker(*pair) for pair in pairs]


def rows(page: Page, caption: str) -> list[list[str]]:
    """What stands in a table of the five steps."""
    found = page.locator("form[data-form=steps] table", has=page.locator("caption", has_text=caption))
    return [row.locator("td").all_inner_texts() for row in found.locator("tbody tr").all()]


def test_five_steps_are_those_of_python(address, visit):
    """Twelve articles: the places are the same, a probability moves by .02 at most, and the page weighs 45 MB."""
    tour = visit(viewport={"width": 1300, "height": 1000})
    page, loaded = tour.page, []
    page.set_default_timeout(120 * SECONDS)
    page.on("requestfinished", lambda one: loaded.append(one.sizes()["responseBodySize"]))
    page.goto(f"{address}/try.html")
    form = page.locator("form[data-form=steps]")
    button = form.get_by_role("button")
    if not button.count():
        pytest.skip("needs onnxruntime-web, which make docs fetches by npm, and the package onnx")
    before, started = [row[:2] for row in rows(page, "4 Find")], time.monotonic()
    button.click()
    expect(form).to_have_attribute("data-ready", "yes", timeout=120 * SECONDS)
    print(f"first verdict after {time.monotonic() - started:.1f} s, {sum(loaded) / 1e6:.1f} MB")
    assert [row[:2] for row in rows(page, "4 Find")] == before and 40e6 < sum(loaded) <= 45e6
    apart = []
    for article, summary in twelve():
        nearest, verdicts = in_python(article, summary, 3)
        form.get_by_label("Article").fill(article)
        form.get_by_label("Summary").fill(summary)
        form.evaluate("one => delete one.dataset.ready")
        button.click()
        expect(form).to_have_attribute("data-ready", "yes")
        expect(form).not_to_have_attribute("data-busy", "yes", timeout=30_000)
        assert [row[1] for row in rows(page, "4 Find")] == [f"A{place}" for places in nearest for place in places]
        for row, (supported, probability) in zip(rows(page, "5 Check"), verdicts, strict=True):
            assert row[1] == ("supported" if supported else "not supported"), (summary, row, probability)
            apart.append(abs(float(row[2]) - probability))
        score = sum(supported for supported, _ in verdicts)
        expect(form.locator(".try-score")).to_contain_text(f"{score} of {len(verdicts)} supported")
    print(f"{len(apart)} probabilities, {max(apart):.3f} apart at most")
    assert max(apart) <= 0.025, apart  # two decimals are shown, so .005 more
    tour.screenshot("steps", full_page=True)
    form.get_by_label("Summary").fill(HOSTILE)
    button.click()
    expect(form.locator("table").first).to_contain_text(HOSTILE)
    expect(form).not_to_have_attribute("data-busy", "yes", timeout=30_000)  # a press until then is not taken
    form.get_by_label("k, how").fill("0")
    button.click()
    expect(form.locator(".try-error")).to_contain_text("k must lie between")
    assert page.title() == "Try it" and not tour.complaints
