"""Pictures are tested as exact strings: what is escaped, what is marked, what a page may do."""

import pytest
from helpers.colours import contrast

from summeval_nb.core import html

HOSTILE = [
    "<script>alert(1)</script>", "</style><script>alert(1)</script>", '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)", "javascript:alert(1)", "</title><svg/onload=alert(1)>", "\x00\x1b]0;title\x07",
    "\ud83d lone", "‮right to left",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_survives(text):
    assert not set("<>\"'") & set(html.escape(text))
    for drawn in (
        html.mark_html(text, [html.Mark(0, len(text), title=text)]),
        html.html_table([{text: text}], caption=text),
    ):
        for tag in ("<script", "<img", "<svg", "</style", "</title"):
            assert tag not in drawn
        drawn.encode("utf-8")
    page = html.html_page(text, "")
    assert page.count("</title>") == 1 and page.count("</style>") == 1
    assert not any(c in html.mark_terminal(text, [], color=False) for c in "\x00\x1b\x07")


def test_marks_as_exact_strings():
    first, second = '<mark style="background:#000000;color:#ffffff">ab</mark>', "background:#ffe08a;color:#1a1a1a"
    assert html.mark_html("ab<cd", [html.Mark(0, 5)]) == f'<mark style="{second}">ab&lt;cd</mark>'
    marks = [html.Mark(0, 2, "#000000", "#ffffff"), html.Mark(1, 3)]
    assert html.mark_html("ab<cd", marks) == f'{first}<mark style="{second}">&lt;</mark>cd'
    with pytest.raises(ValueError, match="outside a text of 5 characters"):
        html.mark_html("12345", [html.Mark(0, 6)])


def test_every_colour_of_the_scale_is_readable():
    for step in [None, *(i / 100 for i in range(101))]:
        assert contrast(*html.probability_color(step)) >= 4.5


def test_nothing_that_a_terminal_obeys_is_printed_and_what_people_write_as_it_is():
    obeyed = set("\x07\x08\r\x1b\x7f\x90\x9b\u202e\u2066\u2069\ud83d")
    hostiles = ("\x1b[2J", "\x1b]0;\x07", "\x9b2J\x90\x7f", "\b\b", "1\r0", "\u202e\u2066x\u2069", "\ud83d")
    for hostile in hostiles:
        table = html.text_table([{hostile: hostile}, {hostile: f"a\n{hostile}"}])
        for text in (html.printable(hostile), table, html.mark_terminal(hostile, [html.Mark(0, 1)], color=False)):
            assert not obeyed & set(text) and "\ufffd" in text
        assert len(table.splitlines()) == 3, "a cell cannot forge a line"
    text = "tabs\tand\nlines, café, שלום\u200f, مرحبا, 日本, 👩\u200d👧"
    assert html.printable(text) == text


@pytest.mark.parametrize("name", [r"$\frac$", r"$x$ or \$5$", "$", "half \ud83d"])
def test_a_name_from_outside_breaks_no_figure(name):
    ax = html.heat_map([[0, 1]], row_label=name, column_label=name, value_label=name, title=name)
    ax.figure.canvas.draw()
    assert html.figure_text("$5") == r"\$5"


def test_a_fold_is_closed_and_its_title_is_escaped():
    table = html.html_table([{"text": "<i>"}])
    page = html.folded("<b> 30 rows", table)
    assert page.startswith('<details class="se-fold" style=') and page.endswith(f"{table}</details>")
    assert "&lt;b&gt; 30 rows</summary>" in page and "<b>" not in page
    assert '<details class="se-fold" open' in html.folded("t", table, opened=True)
