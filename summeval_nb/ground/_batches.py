"""Edited directly. A metric in a training loop: its columns by the names of others, and batches; tests/test_batches.py.

Hugging Face's `evaluate` and torchmetrics call what a system wrote `predictions`, and what it is held against
`references`. Here the columns of a metric have names of their own, and both are understood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._types import JsonDict

if TYPE_CHECKING:
    from .results import Metric

__all__ = ["Accumulator", "by_column", "require_equal_lengths"]


def by_column(metric: Metric, given: Mapping[str, object]) -> dict[str, tuple[str, object]]:
    """Return each column of a metric, in order, with the name under which it was given, and the value.

    `predictions` stands for the judged column. `references` stands for the column of that name, or for the one other
    column of a metric that reads two.
    """
    others = [name for name in metric.columns if name != metric.judged]
    against = "references" if "references" in others else others[0] if len(others) == 1 else ""
    meant = {"predictions": metric.judged, "references": against}
    kind, reads = type(metric).__name__, ", ".join(metric.columns)
    found: dict[str, tuple[str, object]] = {}
    for name, value in given.items():
        column = name if name in metric.columns else meant.get(name, "")
        if not column:
            raise ValueError(f"{kind} has no column for {name}: it reads {reads}; give them by these names")
        if column in found:
            raise ValueError(f"{found[column][0]} and {name} are both the column {column} of {kind}: give one of them")
        found[column] = name, value
    missing = [column for column in metric.columns if column not in found]
    if missing:
        hints = {column: name for name, column in meant.items() if column}
        wanted = ", ".join(f"{hints.get(column, column)}=" for column in missing)
        raise ValueError(f"{kind} reads {reads}: give {wanted} too, one entry a text")
    return {column: found[column] for column in metric.columns}


def require_equal_lengths(lists: Mapping[str, Sequence[object]]) -> None:
    """Raise a `ValueError` unless all lists, by the names under which they were given, have one entry a text."""
    sizes = {name: len(values) for name, values in lists.items()}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{size} {name}" for name, size in sizes.items())
        raise ValueError(
            f"one entry a text is needed everywhere, not {shown}; several references of a text are one entry, a list"
        )


class Accumulator:
    """Texts that come in batches, for one number at the end: `update`, `compute`, `reset`.

    It keeps the texts, not their scores, so that what is computed is what one call with
    all texts gives. A metric makes it: `Bleu().accumulator()`.

    Parameters
    ----------
    metric : Metric
        What scores the texts.

    Examples
    --------
    >>> from summeval_nb import Rouge
    >>> batches = Rouge(types=["rouge1"]).accumulator()
    >>> batches.update(predictions=["a cat"], references=["a cat"])
    >>> batches.update(predictions=["a cat"], references=["a dog"])
    >>> batches.compute()["rouge1_f1"]
    0.75
    """

    def __init__(self, metric: Metric):
        self.metric = metric
        self.reset()

    def reset(self) -> None:
        """Forget all texts, for the next epoch."""
        self._kept: dict[str, list[Any]] = {name: [] for name in self.metric.columns}

    def update(
        self,
        *,
        predictions: Sequence[str] | None = None,
        references: Sequence[str | Sequence[str]] | None = None,
        **columns: object,
    ) -> None:
        """Add a batch of texts; it takes what `Metric.compute` takes, and a batch may be empty.

        Raises
        ------
        TypeError, ValueError
            As for `Metric.compute`; then nothing of the batch was added.
        """
        batch = self.metric._lists({"predictions": predictions, "references": references} | columns)
        for name, values in batch.items():
            self._kept[name] += values

    def compute(self) -> JsonDict:
        """Return what `Metric.compute` returns for all texts so far.

        Raises
        ------
        ValueError
            When there is none.
        """
        if not len(self):
            raise ValueError("there is nothing to compute: call update with predictions and references first")
        return self.metric.compute(**self._kept)

    def __len__(self) -> int:
        return len(next(iter(self._kept.values()), []))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.metric!r}, {len(self)} texts)"
