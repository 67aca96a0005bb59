"""Pictures are tested as exact strings: what is escaped, what is marked, what a page may do."""

import pytest

from summeval_nb.viz import Mark, contrast, escape, html_page, html_table, mark_html, mark_terminal, probability_color

HOSTILE = [
    "<script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</title><svg/onload=alert(1)>",
    "\x00\x1b]0;title\x07",
    "\ud83d lone",
    "‮right to left",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_survives(text):
    assert not set("<>\"'") & set(escape(text))
    for drawn in (mark_html(text, [Mark(0, len(text), title=text)]), html_table([{text: text}], caption=text)):
        for tag in ("<script", "<img", "<svg", "</style", "</title"):
            assert tag not in drawn
        drawn.encode("utf-8")
    page = html_page(text, "")
    assert page.count("</title>") == 1 and page.count("</style>") == 1
    assert not any(c in mark_terminal(text, [], color=False) for c in "\x00\x1b\x07")


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([], "ab&lt;cd"),
        ([Mark(0, 5)], '<mark style="background:#ffe08a;color:#1a1a1a">ab&lt;cd</mark>'),
        ([Mark(2, 2)], "ab&lt;cd"),
        (
            [Mark(0, 2, "#000000", "#ffffff"), Mark(1, 3)],
            '<mark style="background:#000000;color:#ffffff">ab</mark>'
            '<mark style="background:#ffe08a;color:#1a1a1a">&lt;</mark>cd',
        ),
    ],
)
def test_marks_as_exact_strings(marks, expected):
    assert mark_html("ab<cd", marks) == expected


@pytest.mark.parametrize("mark", [Mark(-1, 2), Mark(0, 6), Mark(3, 2)])
def test_marks_outside_the_text_are_errors(mark):
    with pytest.raises(ValueError, match="outside a text of 5 characters"):
        mark_html("12345", [mark])


def test_every_colour_of_the_scale_is_readable():
    for step in [None, *(i / 100 for i in range(101))]:
        assert contrast(*probability_color(step)) >= 4.5


def test_a_table_of_nothing():
    assert html_table([]) == "<table><thead><tr></tr></thead><tbody></tbody></table>"
