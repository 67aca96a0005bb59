"""Slides as one page: no script, no request."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ..core.html import render


def slides_page(title: str, slides: Sequence[tuple[str, str | Markup]]) -> str:
    """Return a page that shows one slide at a time: Page Down or an arrow leads on, and each prints on a sheet.

    Parameters
    ----------
    title : str
        The title of the window.
    slides : Sequence[tuple[str, str | Markup]]
        Heading and body of each. A plain text is escaped; `Markup` is taken as the HTML that it is.

    Raises
    ------
    ValueError
        If there is no slide.

    Examples
    --------
    >>> slides_page("A class", [("A question", "Is it true?")]).count("Is it true?")
    1
    """
    if not slides:
        raise ValueError("slides is empty: give at least one pair of heading and body")
    return f"{render('slides.html', title=title, slides=list(slides))}\n"
