"""The answer report and the summary-score report in a real browser, as a reader and as an attacker would use them."""

import pytest
from helpers.browsers import ATTACKS, serious
from playwright.sync_api import expect

from summeval_nb import evaluate_answer, summarization_score
from summeval_nb.core.data import sample_articles
from summeval_nb.core.results import Finding
from summeval_nb.judged.judging import Answer, Entailment, Flag, Keyphrase, Passage, Question, Resolution, as_statement

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
EVERYTHING = " ".join(ATTACKS)


class Attacker:
    """A judge whose every reply, and whose name, is an attack."""

    fingerprint = EVERYTHING

    def resolve_pronouns(self, text, units=None):
        return Resolution(units=tuple(f"{EVERYTHING} {unit}" for unit in units or [text]), note=EVERYTHING)

    def statements(self, hypothesis):
        return [as_statement(hypothesis, hypothesis), as_statement(EVERYTHING, "It rained.")]

    def entail(self, premise, statements):
        seen = {
            "evidence": (Passage(text=EVERYTHING, start=0, end=5),),
            "findings": (Finding("name", EVERYTHING, 0, 5),),
        }
        labels = ["entailed", "neutral", "contradicted"]
        found = [Entailment(label=labels[i % 3], probability=0.5, **seen) for i in range(len(statements) - 1)]
        return [*found, Entailment(label=None, reason=EVERYTHING)]

    def is_refusal(self, text):
        return Flag(value=False, probability=0.1, reason=EVERYTHING)

    def keyphrases(self, text, n=10):
        return [Keyphrase(text=EVERYTHING), Keyphrase(text=text[:30], start=0, end=30)]

    def questions(self, text, keyphrases):
        return [
            Question(text=f"{EVERYTHING} {i}?", statement=EVERYTHING, keyphrases=(p,)) for i, p in enumerate(keyphrases)
        ]

    def answer(self, text, questions):
        passage = Passage(text=EVERYTHING, start=0, end=5)
        return [Answer(value=1, probability=0.5, evidence=(passage,), reason=EVERYTHING) for _ in questions]


def judged(kind, judge="embedded"):
    """A real report, or one in which every text and every reply is an attack."""
    article = sample_articles()[0]
    hostile = "\n\n".join(f"{attack} Some words follow here." for attack in ATTACKS)
    texts = (article.text, article.subtle.text, article.faithful.text) if judge == "embedded" else (hostile,) * 3
    if kind == "answer":
        question = "Who won the championship?" if judge == "embedded" else hostile
        return evaluate_answer([texts[0]], question, texts[2], texts[1], judge=judge)
    return summarization_score([texts[0]], texts[1], judge=judge)


@pytest.fixture(scope="module", params=["answer", "summary"])
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def report(kind, tmp_path_factory):
    return judged(kind).to_html(tmp_path_factory.mktemp("reports") / f"{kind}.html").as_uri()


def open_all(page):
    for summary in page.locator("summary").all():
        if not summary.evaluate("el => el.parentElement.open"):
            summary.click()


def test_it_opens_from_a_file_and_asks_for_nothing(report, visit):
    seen, asked = visit(), []
    seen.page.on("request", lambda request: asked.append(request.url))
    seen.page.goto(report)
    open_all(seen.page)
    assert asked == [report] and not seen.complaints
    assert "metric:" in seen.page.locator("body").inner_text()


@pytest.mark.nightly
def test_hostile_text_executes_nothing(kind, tmp_path, visit):
    result = judged(kind, Attacker())
    # Without the page's own policy, so that only the escaping protects.
    (tmp_path / "bare.html").write_text(f"<!DOCTYPE html><meta charset=utf-8>{result._repr_html_()}", "utf-8")
    result.to_html(tmp_path / "report.html")
    seen = visit()
    for name in ("bare.html", "report.html"):
        seen.page.goto((tmp_path / name).as_uri())
        open_all(seen.page)
        for element in seen.page.locator("mark, summary, td").all()[:30]:
            element.hover(force=True)
        assert seen.page.evaluate("window.owned") is None
        assert seen.page.locator("iframe, img, script, a").count() == 0
        assert seen.page.evaluate("[...document.querySelectorAll('*')].every(el => !el.onmouseover && !el.onerror)")
        shown = seen.page.locator("body").inner_text()
        assert all(attack in shown for attack in ATTACKS)
    assert not seen.complaints


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_no_serious_barrier_and_nothing_sticks_out(kind, scheme, width, report, visit):
    seen = visit(color_scheme=scheme, viewport={"width": width, "height": 800})
    seen.page.goto(report)
    open_all(seen.page)
    assert seen.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert not (shown := serious(seen.page)), "\n".join(shown)
    seen.screenshot(f"{kind}-{scheme}-{width}", full_page=True)


def test_a_statement_opens_on_its_evidence(tmp_path, visit):
    result = judged("answer")
    seen = visit()
    seen.page.goto(result.to_html(tmp_path / "answer.html").as_uri())
    column = seen.page.get_by_role("group").first
    first = result.inferences["answer_given_context"].hypotheses[0].statements[0]
    panel = column.locator("li .ar-panel").first
    expect(panel).to_be_hidden()
    column.locator("li summary").first.click()
    expect(panel).to_be_visible()
    assert panel.locator("blockquote").all_inner_texts() == [sentence.text for sentence in first.entailment.evidence]
