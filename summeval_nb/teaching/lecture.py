"""Slides as one page without a script, and those of a class of ninety minutes, made of what the package shows."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from summeval_nb.agreement.correlation import correlate, with_interval
from summeval_nb.core.base import JsonDict, require_texts
from summeval_nb.core.data import sample_articles
from summeval_nb.core.html import Markup, html_table, render
from summeval_nb.overlap.rouge import rouge_score
from summeval_nb.teaching.play import bleu_state, correlation_state
from summeval_nb.text.embed import sentence2embedding
from summeval_nb.text.similarity import cosine_similarity, topk_related
from summeval_nb.text.split import split_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["class_slides", "draw_shared_words", "drawing", "slides_page"]

GENERATED, REFERENCE = "The cat is on the mat.", "The black cat sat on the mat."
FALSE = "The mat sat on the black cat."
SUMMARY = (  # of the case of lesson 23
    "Lorries heavier than 12 tonnes must still use the ring road.\n"
    "The Kestrel Bridge has reopened after repairs costing 48 million crowns."
)
REFERENCES = [
    "The Kestrel Bridge in Norhaven reopened on Monday.\n"
    "The repair cost 48 million crowns.\n"
    "Heavy lorries still have to use the ring road.",
    "Norhaven celebrates: its bridge is open again after 26 months.\n"
    "The shipping company must pay for most of the repairs.",
]
BLUE, PALE = "#1f5f99", "#cfe3f5"

Slide = tuple[str, str | Markup]


def slides_page(title: str, slides: Sequence[Slide]) -> str:
    """Return a page that shows one slide at a time: Page Down or an arrow leads on, and each prints on a sheet.

    Parameters
    ----------
    title : str
        The title of the window.
    slides : sequence of (str, str or Markup)
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


def drawing(figure: Figure, alt: str) -> Markup:
    """Return a matplotlib figure as an image for `slides_page`, and close it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    alt : str
        What the picture shows, for those who do not see it.
    """
    import matplotlib.pyplot as pyplot

    file = io.BytesIO()
    with pyplot.rc_context({"svg.hashsalt": "summeval_nb"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return render("drawing.html", alt=alt, data=base64.b64encode(file.getvalue()).decode())


def draw_shared_words(generated: str, reference: str, *, counts: bool = True) -> Figure:
    """Draw two texts word by word, with a line for each word that ROUGE-1 counts as shared.

    Parameters
    ----------
    generated, reference : str
        A sentence each; words are letters and digits in lower case, as ROUGE takes them.
    counts : bool
        Whether precision and recall are written beside the rows.

    Examples
    --------
    >>> figure = draw_shared_words("The cat is here.", "The cat was here.")
    >>> len(figure.axes[0].lines)  # the, cat, here
    3
    """
    rows = [re.findall("[a-z0-9]+", text.lower()) for text in require_texts([generated, reference], "texts")]
    if not all(rows):
        raise ValueError(f"there are no words to draw in {generated!r} or {reference!r}: pass two sentences with words")
    free, lines = list(range(len(rows[1]))), []
    for place, word in enumerate(rows[0]):
        other = next((there for there in free if rows[1][there] == word), None)
        if other is not None:
            free.remove(other)
            lines.append((place, other))
    longest = max(map(len, rows))
    import matplotlib.pyplot as pyplot

    size = 1.5 * longest + 3.4 * counts, 3
    figure, axes = pyplot.subplots(figsize=size, facecolor="white", layout="constrained")
    axes.axis("off")
    for row, (height, words) in enumerate(zip((1, 0), rows, strict=True)):
        shared = {pair[row] for pair in lines}
        for place, word in enumerate(words):
            box = {"facecolor": PALE if place in shared else "white", "edgecolor": BLUE, "boxstyle": "round"}
            axes.text(place, height, word, ha="center", va="center", fontsize=18, bbox=box)
        if counts:
            said = f"{'recall' if row else 'precision'} {len(lines)}/{len(words)} = {len(lines) / len(words):.2f}"
            axes.text(longest - 0.3, height, said, va="center", fontsize=18, color=BLUE)
    for upper, lower in lines:
        axes.plot([upper, lower], [0.84, 0.16], color=BLUE)
    axes.set(xlim=(-0.7, longest + 2.4 * counts - 0.3), ylim=(-0.4, 1.4))
    return figure


def _two_numbers() -> Markup:
    ada = rouge_score(SUMMARY, REFERENCES, types=["rouge1"], stemmer=True)
    ben = rouge_score(SUMMARY, REFERENCES, types=["rouge1"], multi="average")
    pairs = [("summary", SUMMARY), *(("reference", text) for text in REFERENCES)]
    return render(
        "listed.html", pairs=[*pairs, ("Ada", f"ROUGE-1 {float(ada):.2f}"), ("Ben", f"ROUGE-1 {float(ben):.2f}")]
    )


def _summeval() -> tuple[np.ndarray, np.ndarray]:
    """ROUGE-1 and relevance, a row for each of a hundred articles and a column for each of sixteen systems."""
    shipped = resources.files("summeval_nb") / "assets" / "summeval_real.npz"
    with shipped.open("rb") as file, np.load(file, allow_pickle=False) as tables:
        return tables["metric_rouge1"].astype(float), tables["thirds"][:, :, 3] / 3


def class_slides(vote: Mapping[str, str]) -> list[Slide]:
    """Return the fourteen slides of the ninety minutes of lesson 72, for `slides_page`.

    Parameters
    ----------
    vote : mapping of str to str
        Letter and text of the summaries that the class votes on.

    Returns
    -------
    list of (str, str or Markup)
        Heading and body of each; pictures and tables are those of the package.
    """
    sample = sample_articles()[0]
    article, summary = split_text(sample.text), split_text(sample.subtle.text)
    cosines = cosine_similarity(sentence2embedding(article), sentence2embedding(summary))
    nearest = [", ".join(str(place + 1) for place in places) for places in topk_related(cosines, 3)]
    evidence: list[JsonDict] = [{"summary": text, "article": at} for text, at in zip(summary, nearest, strict=True)]
    close = [
        {"of the summary": str(n)} | {str(place): f"{value:.2f}" for place, value in enumerate(row, 1)}
        for n, row in enumerate(cosines, 1)
    ]
    rouge, relevance = _summeval()
    found = {n: correlate(rouge[:, :n], relevance[:, :n]) for n in (4, 8, 16)}
    sure = [{"systems": n, "Kendall's τ": with_interval(own.score, own.interval, ".2f")} for n, own in found.items()]
    bleu = bleu_state(REFERENCE.rstrip(".").lower(), GENERATED.rstrip(".").lower(), "none", 2)
    return [
        ("Is this summary any good?", "Ninety minutes on how anybody could know."),
        ("One of these is false. Which?", render("listed.html", pairs=list(enumerate(summary, 1)))),
        (
            "How much of it is the same?",
            render("listed.html", pairs=[("generated", GENERATED), ("reference", REFERENCE)]),
        ),
        (
            "Precision and recall",
            drawing(draw_shared_words(GENERATED, REFERENCE), "Five lines join the shared words: 5/6 and 5/7."),
        ),
        ("And this one?", drawing(draw_shared_words(FALSE, REFERENCE, counts=False), "Every word finds its partner.")),
        ("BLEU: longer runs, and no reward for stopping early", bleu._repr_html_()),
        ("One summary, two numbers. Who is right?", _two_numbers()),
        ("A grade from 1 to 5 for each", render("listed.html", pairs=list(vote.items()))),
        ("Which of them does a metric like?", "Write your guess down before you see it."),
        ("Find the evidence, then judge", html_table(evidence, caption="Each sentence leads to three of the article")),
        ("Close is not true: which row is false?", html_table(close, caption="Cosines with the article's sentences")),
        ("Who judges the judges?", correlation_state(np.column_stack([rouge[6], relevance[6]]))._repr_html_()),
        ("How sure?", html_table(sure, caption="ROUGE-1 with people, and 95 % intervals")),
        ("“Our summaries have a ROUGE-1 of 0.52, the best on the market.”", "Which question do you ask first?"),
    ]
