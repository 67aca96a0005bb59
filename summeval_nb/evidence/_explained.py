"""Why a verdict of the embedded checker is what it is: the terms of its sum, as a table that adds up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from summeval_nb.evidence._reading import log_odds
from summeval_nb.ground.html import Markup, render, text_table
from summeval_nb.ground.results import Verdict

from ..ground.base import JsonDict

__all__ = ["MEANING", "Explanation"]

MEANING = {
    "intercept": "where all sentences start",
    "near_follows": "the reader, nearest evidence: it follows, as log-odds",
    "near_denied": "the reader, nearest evidence: it is denied, as log-odds",
    "all_follows": "the reader, all evidence: it follows, as log-odds",
    "all_denied": "the reader, all evidence: it is denied, as log-odds",
    "cosine": "greatest cosine with an evidence sentence",
    "overlap": "how much is copied in long pieces",
    "numbers_missing": "numbers that the evidence does not hold, at most 2",
    "names_missing": "words of names that the evidence does not hold, at most 2",
    "negation_difference": "1: one side has an odd number of negations more",
    "antonym": "1: a word's opposite is in the nearest evidence",
    "copied": "1: a copy in which one place has changed",
    "recalibration": "slope and offset of this checker",
}


def is_sum(details: Mapping[str, object]) -> bool:
    """Return whether a verdict's details are those of the embedded checker; anybody's checker may call its own so."""
    terms, numbers = details.get("terms"), details.get("numbers")
    return isinstance(terms, Mapping) and isinstance(numbers, Mapping) and set(terms) <= set(MEANING)


@dataclass(frozen=True)
class Explanation:
    """Why a verdict is what it is: rows that add up to its log-odds, and its evidence; made by `result.explain(i)`.

    Parameters
    ----------
    sentence : str
        What was judged.
    evidence : list of str
        The sentences that it was judged by, best first.
    verdict : Verdict
        A verdict of the embedded checker, with the `terms` of its sum among its details.
    """

    sentence: str
    evidence: list[str]
    verdict: Verdict

    @property
    def log_odds(self) -> float:
        """The sum of all rows: the log-odds of the verdict's probability."""
        return log_odds(self.verdict.probability or 0.0, math.inf)

    def rows(self) -> list[JsonDict]:
        """Return the terms, the greatest first, as rows whose `moved` adds up to the last one's."""
        terms, values = dict(self.verdict.details["terms"]), self.verdict.details["numbers"]
        more = self.log_odds - math.fsum(terms.values())
        if abs(more) > 1e-6:
            terms["recalibration"] = more
        ranked = sorted(terms.items(), key=lambda item: (item[0] != "intercept", -abs(item[1])))
        rows = [_row(name, values.get(name, 1.0), moved, MEANING[name]) for name, moved in ranked]
        return [*rows, _row("log-odds", None, self.log_odds, f"probability {self.verdict.probability:.3f}")]

    def __str__(self) -> str:
        return f"{self._title()}\n{text_table(self.rows())}"

    def _title(self) -> str:
        looked = ", ".join(f"{one.kind} “{one.text}”" for one in self.verdict.findings)
        return f"{self.verdict.state} {self.verdict.probability:.2f}: {self.sentence}" + (
            f" (look at: {looked})" if looked else ""
        )

    def _repr_html_(self) -> str:
        rows = [row | {"moved": _bar(row["moved"])} for row in self.rows()]
        return render("explained.html", title=self._title(), rows=rows, evidence=self.evidence)


def _row(number: str, value: float | None, moved: float, what: str) -> JsonDict:
    return {"number": number, "value": value, "moved": moved, "meaning": what}


def _bar(moved: float) -> Markup:
    """Return a signed number with a bar as long as it is great; the sign says the direction, not the colour alone."""
    color = "#1f5f99" if moved >= 0 else "#a11212"
    return render("moved.html", moved=f"{moved:+.3f}", width=f"{min(abs(moved), 5) * 1.2:.2f}", color=color)
