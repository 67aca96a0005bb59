"""What is checked before a summary is scored: lengths, choices, rows. Edited directly; see tests/test_summary_score.py.

Chapter 44 says what each choice is for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from summeval_nb.ground._choices import is_function
from summeval_nb.ground._frames import Table
from summeval_nb.ground.results import (
    Metric,
    Signature,
    require_count,
    require_flag,
    require_option,
    require_share,
    require_text,
)
from summeval_nb.judged._answer_stages import table_records
from summeval_nb.judged._summary_exam import join_contexts
from summeval_nb.judged.judging import Judge
from summeval_nb.judged.load import load_judge
from summeval_nb.models.store import Store
from summeval_nb.overlap.ngrams import load_tokenizer

LENGTHS: Mapping[str, Callable[[str], int]] = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "tokens": lambda text: len(load_tokenizer("13a")(text)),
}


def measure_length(length: str | Callable[[str], int]) -> tuple[str, Callable[[str], int]]:
    """Return the name and function of a length: of `LENGTHS`, or a function of a text.

    Examples
    --------
    >>> measure_length("words")[1]("It rained.")
    2
    """
    if is_function(length):
        return getattr(length, "__qualname__", type(length).__name__), length
    name = require_option(length, "length", LENGTHS)
    return name, LENGTHS[name]


def check_rows(table: Table) -> list[tuple[str, str]]:
    """Return a table's rows as (context, summary), each one checked and named by its number in a message."""
    columns = {"contexts": ("contexts", "context"), "summary": ("summary",)}
    return [
        (
            join_contexts(record["contexts"], f"row {number}: "),
            require_text(record["summary"], f"row {number}: summary"),
        )
        for number, record in enumerate(table_records(table, columns))
    ]


class SummaryScoreChoices(TypedDict, total=False):
    """The fields of `SummaryScoreMetric` for a single summary; a table has a rank, too."""

    coeff: float
    conciseness: bool
    judge: str | Judge
    guard: bool
    length: str | Callable[[str], int]
    n_keyphrases: int | None
    check_questions: bool
    max_failed: float
    store: Store | str | None


class SummaryChoices(Metric):
    """The choices of the metric, checked when it is made, and the signature that names them.

    The metric has the fields; `SummaryScoreChoices` says what they may be.
    """

    def __post_init__(self) -> None:
        chosen = self._chosen
        for name in ("coeff", "max_failed"):
            require_share(chosen[name], name)
        for name in ("conciseness", "guard", "check_questions"):
            require_flag(chosen[name], name)
        if chosen["n_keyphrases"] is not None:
            require_count(chosen["n_keyphrases"], "n_keyphrases")
        require_option(chosen["rank"], "rank", ["guarded", "score"])
        measure_length(chosen["length"])

    @property
    def _chosen(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.defaults()}

    @property
    def signature(self) -> Signature:
        """Every choice that could change a number."""
        chosen = self._chosen
        named: dict[str, object] = {
            "metric": "summarization",
            "judge": load_judge(chosen["judge"]).fingerprint,
            "length": measure_length(chosen["length"])[0],
        }
        for name in ("coeff", "conciseness", "guard", "max_failed", "n_keyphrases", "check_questions", "rank"):
            named[name] = "by length" if chosen[name] is None else chosen[name]
        return Signature(named)
