"""Reports as GitHub-flavoured Markdown: whatever stands in a text, two parsers find a table of plain text."""

import html
import re

import pytest
from helpers.late import Late
from helpers.patience import comes_back
from hypothesis import given
from hypothesis import strategies as st

import summeval_nb.core.html as drawing
from summeval_nb import evaluate, evaluate_answer
from summeval_nb.evidence.faithfulness import compare_reports

mistune = Late("mistune")
MarkdownIt = Late("markdown_it", "MarkdownIt")

PLUGINS = ["table", "url", "strikethrough", "task_lists", "footnotes"]
PARSERS = {
    "markdown-it": MarkdownIt("commonmark").enable(["table", "strikethrough"]).render,
    "mistune": mistune.create_markdown(escape=False, plugins=PLUGINS),
}
HOSTILE = [
    "a | b", r"a \| b", r"a \\| b", "end\\", "`code | span`", "``", "<script>alert(1)</script>", "<!-- comment",
    "<https://evil.example>", "[text](https://evil.example)", "![image](https://evil.example/x.png)",
    "[text][ref]\n\n[ref]: https://evil.example", "note[^1]\n\n[^1]: footnote", "<img src=x onerror=alert(1)>",
    "- item", "+ item", "1. item", "12) item", "# heading", "> quote", "---", "===", "    indented", "[ ] task", "",
    "https://evil.example/?q=1", "HTTP://EVIL.example ftp://evil.example www.evil.example WWW.evil.example",
    "me@evil.example", "**bold** __bold__ ~~gone~~ *i* _i_", "line\nbreak\r\nmore\rand\x85\u2028more  \nbreak",
    "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n# heading", "```\nfence\n```", "&lt;b&gt; &#124; &amp;", "$x^2$ $$y$$",
    "\x1b[31mred\x1b[0m \u202eevil \x00",
]  # fmt: skip


def visible(text):
    """What a reader sees of it: no word joiners, and white space as one space."""
    return " ".join(re.sub("[\u2060\ufffd]", "", text).split())


@pytest.mark.parametrize("parser", PARSERS)
def test_a_hostile_text_stays_plain_text_in_its_cell(parser):
    for text in HOSTILE:
        page = PARSERS[parser](drawing.markdown_table([{"text": text, "n": 1}, {"text": "last", "n": 2}]))
        assert page.count("<tr") == 3 and page.count("<td") == 4 and page.count("<table") == 1, page
        assert set(re.findall(r"</?(\w+)", page)) <= {"table", "thead", "tbody", "tr", "td", "th"}, page
        cell = html.unescape(re.search(r"<td[^>]*>(.*?)</td>", page, re.DOTALL)[1])
        shown = re.sub("[\x00-\x1f\u202e]", "\ufffd", " ".join(text.split()))
        assert visible(cell) == visible(shown)
        assert set(re.findall(r"<(/?\w+)", PARSERS[parser](drawing.escape_markdown(text)))) <= {"p", "/p"}


@given(st.text(alphabet=st.sampled_from("ab1 |`*_[]()<>!~&$#@:/\\.-+=w\n\t^{}\"'"), max_size=60))
def test_no_text_makes_markup(text):
    page = PARSERS["markdown-it"](drawing.markdown_table([{"a": text, "b": text}]))
    assert page.count("<td") == 2 and not re.search(r"<(a|img|em|strong|s|code|br|script|p|h\d)\b", page)


def test_nobody_is_mentioned_nothing_referred_to_and_long_texts_are_escaped_in_linear_time():
    for text in ("@octocat", "a @team/name b", "#12", "owner/name#12", "GH-12", "me@evil.example"):
        assert not re.search(r"@[a-zA-Z0-9]|#[0-9]|GH-[0-9]", drawing.escape_markdown(text).replace("&#", ""))
    for bit in ("@a", "#1", "www.", "://", "\\", "|", "1", "=", " ", "gh-", "&#124;"):
        with comes_back():
            assert isinstance(drawing.escape_markdown(bit * 100_000), str)


def test_plain_words_and_numbers_stay_readable():
    assert drawing.escape_markdown("It isn't 5 % – “fine”, 12.5 (or -3.1)?") == "It isn't 5 % – “fine”, 12.5 (or -3.1)?"
    rows = [{"name": "a", "score": 0.25}, {"name": "b", "score": None}]
    assert drawing.markdown_table(rows) == "| name | score |\n| --- | --- |\n| a | 0.2500 |\n| b | – |"
    assert drawing.markdown_table([]) == "" and "0.2500" in drawing.text_table(rows)
    assert drawing.markdown_table([{"a": drawing.Markup("x<br>y")}]).endswith("| x<br>y |")
    assert drawing.markdown_report("T *", ["l"], rows, note="n|") == (
        f"## T \\*\n\nl\n\n{drawing.markdown_table(rows)}\n\n<sub>n&#124;</sub>\n"
    )


ARTICLE = "The fire destroyed 13 houses | on Monday. [Nobody](http://evil.example) was <b>hurt</b>. @all left."
SUMMARY = "The fire destroyed 31 houses. ![x](http://evil.example/x.png) Nobody was hurt | @all."


def drawn(text):
    page = PARSERS["markdown-it"](text)
    assert not re.search(r"<(a|img|script|b)\b", page)
    return page


def test_a_report_of_faithfulness_is_a_table_of_its_sentences():
    result = evaluate(ARTICLE, SUMMARY)
    page = drawn(result.to_markdown())
    assert page.count("<tr>") == len(result.sentences) + 1 and page.startswith("<h2>Faithfulness")
    assert "contradicted" in page and "<td>31</td>" in page and "13 houses | on Monday" in page
    assert str(result.signature)[:20] in page


def test_reports_of_summaries_and_of_an_answer_are_tables():
    results = [evaluate(ARTICLE, SUMMARY), evaluate(ARTICLE, "Nobody was hurt.")]
    page = drawn(compare_reports(results, names=["a | b", "<b>"]).to_markdown())
    assert page.count("<table>") == 2 and "a | b" in page and "&lt;b&gt;" in page and "<sub>" in page
    page = drawn(evaluate(ARTICLE, "").to_markdown())
    assert "the summary is empty" in page and "<table>" not in page
    page = drawn(evaluate_answer(ARTICLE, "How many | houses?", "13 houses", "31 houses <img src=x>").to_markdown())
    assert page.count("<table>") == 3 and "How many | houses?" in page and "contradicted" in page
