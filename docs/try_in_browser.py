"""What the page "Try it" computes, by the package's own functions: texts in, blocks to show out.

It runs in two places: while the site is built, for the result that stands on the page from the beginning, and in the
reader's browser, by Pyodide, where neither numpy nor any other compiled library is. A block is plain data,

    {"kind": "table", "caption": ..., "columns": [...], "rows": [[...], ...]}
    {"kind": "marks", "caption": ..., "texts": [[label, [[text, color, title], ...]], ...]}
    {"kind": "note", "text": ...}   {"kind": "error", "text": ...}

and whoever draws one puts its texts in as text, never as HTML.
"""

from __future__ import annotations

import json
import math
import re
import statistics
import warnings
from collections.abc import Sequence
from typing import Any

from summeval_nb.overlap.rouge import rouge_score
from summeval_nb.overlap.translation import bleu_score

MOST_CHARACTERS, MOST_NUMBERS = 20_000, 200  # so that a page answers at once
TYPES = ("rouge1", "rouge2", "rougeL")
EXAMPLES: dict[str, dict[str, Any]] = {
    "words": {
        "candidate": "The cat is on the mat.",
        "references": "The cat sat on the mat.\nA cat is resting on the mat.",
        "stemmer": False,
    },
    "numbers": {"metric": "2 1 4 3 15", "people": "1 2 3 4 5"},
}

Block = dict[str, Any]


def coefficients(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Return Pearson's r, Spearman's rho and Kendall's tau-b of two short lists of equal length, in plain Python.

    The formulas are those of chapter 63: ranks by signs, Kendall's tau-b by all pairs.

    Raises
    ------
    ValueError
        If the lengths differ, there are fewer than two pairs, a number is not finite, or one list is constant.

    Examples
    --------
    >>> coefficients([1, 2, 3, 4, 5], [2, 1, 4, 3, 15])["kendall"]
    0.6
    """
    if len(x) != len(y):
        raise ValueError(f"both lists need equally many numbers: one a text, not {len(x)} and {len(y)}")
    if len(x) < 2:
        raise ValueError("a correlation needs at least two pairs of numbers")
    for numbers in (x, y):
        if strange := [number for number in numbers if not math.isfinite(number)]:
            raise ValueError(f"numbers must be finite, not {strange[0]}")
        if min(numbers) == max(numbers):
            raise ValueError(f"there is no correlation with a constant: every number of one list is {numbers[0]}")
    signs = [[[(a > b) - (a < b) for b in numbers] for a in numbers] for numbers in (x, y)]
    ranks = [list(map(sum, rows)) for rows in signs]
    agree, in_x, in_y = (
        sum(a * b for left, right in zip(signed, other, strict=True) for a, b in zip(left, right, strict=True))
        for signed, other in ((signs[0], signs[1]), (signs[0], signs[0]), (signs[1], signs[1]))
    )
    return {
        "pearson": statistics.correlation(x, y),
        "spearman": statistics.correlation(*ranks),
        "kendall": agree / math.sqrt(in_x * in_y),
    }


def words(candidate: str, references: str, stemmer: bool) -> list[Block]:
    """BLEU and ROUGE of a text against references, one a line."""
    if len(candidate) + len(references) > MOST_CHARACTERS:
        raise ValueError(f"the texts are longer than {MOST_CHARACTERS:,} characters: install the package for these")
    listed = [line.strip() for line in references.splitlines() if line.strip()]
    if not listed:
        raise ValueError("write at least one reference, one a line")
    bleu, rouge = bleu_score(candidate, listed), rouge_score(candidate, listed, types=TYPES, stemmer=stemmer)
    if bleu.score is None:
        return [{"kind": "note", "text": bleu.reason}]
    parts = [[f"{row['order']}-grams", f"{row['count']} of {row['total']}", row["precision"]] for row in bleu.rows()]
    blocks: list[Block] = [
        {
            "kind": "table",
            "caption": f"BLEU {bleu.score:.2f} of 100 (brevity penalty {bleu.bp:.4f})",
            "columns": ["order", "shared", "precision, smoothed (%)"],
            "rows": [[order, shared, f"{precision:.2f}"] for order, shared, precision in parts],
        },
        {"kind": "note", "text": str(bleu.signature)},
    ]
    if not rouge:
        return [*blocks, {"kind": "note", "text": f"ROUGE: {rouge.reason}"}]
    picture = rouge.explain("rouge1")
    return [
        *blocks,
        {
            "kind": "table",
            "caption": "ROUGE",
            "columns": ["type", "precision", "recall", "F1"],
            "rows": [[kind, *(f"{number:.4f}" for number in item)] for kind, item in rouge.items()],
        },
        {"kind": "note", "text": str(rouge.signature)},
        {
            "kind": "marks",
            "caption": "Words that ROUGE-1 counts beside its best reference; grey: more often than the other has them",
            "texts": [[label, _pieces(text, marks)] for label, text, marks in picture.panels],
        },
    ]


def _pieces(text: str, marks: list[Any]) -> list[list[str]]:
    """Cut a text at its marks: [text, color, title], the last two empty where nothing is marked."""
    pieces, end = [], 0
    for mark in sorted(marks):
        pieces += [[text[end : mark.start], "", ""], [text[mark.start : mark.end], mark.background, mark.title]]
        end = mark.end
    return [piece for piece in [*pieces, [text[end:], "", ""]] if piece[0]]


def numbers(metric: str, people: str) -> list[Block]:
    """Pearson's, Spearman's and Kendall's coefficient of two lists of numbers."""
    found = coefficients(_numbers(metric), _numbers(people))
    rows = [[name.capitalize(), f"{value:.4f}"] for name, value in found.items()]
    return [{"kind": "table", "caption": "Correlation", "columns": ["coefficient", "value"], "rows": rows}]


def _numbers(text: str) -> list[float]:
    listed = re.findall(r"[^\s,;]+", text)
    if len(listed) > MOST_NUMBERS:
        raise ValueError(f"at most {MOST_NUMBERS} numbers here: install the package for more")
    try:
        return [float(entry) for entry in listed]
    except ValueError:
        wrong = next(entry for entry in listed if not _is_number(entry))
        raise ValueError(
            f"{wrong[:40]!r} is no number: write numbers with spaces between them, such as 3 4.5 2"
        ) from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def blocks(form: str, given: dict[str, Any]) -> list[Block]:
    """What a form gives; what is wrong with the reader's input is a block that says so."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = {"words": words, "numbers": numbers}[form](**given)
        except (TypeError, ValueError) as error:
            found = [{"kind": "error", "text": str(error)}]
    return [*({"kind": "note", "text": str(warning.message)} for warning in caught), *found]


def answer(form: str, given: str) -> str:
    """The same from JSON to JSON, for the page's script."""
    return json.dumps(blocks(form, json.loads(given)))
