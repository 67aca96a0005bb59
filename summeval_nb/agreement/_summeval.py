"""What the SummEval task is handed and hands back: texts, vectors, tables. See tests/test_summeval.py.

Edited directly; chapter 52 says what is computed with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from summeval_nb.agreement._grids import require_tables
from summeval_nb.ground.base import JsonDict, float_array
from summeval_nb.ground.data import SummEval
from summeval_nb.ground.html import html_table
from summeval_nb.ground.results import Signature
from summeval_nb.text.embed import LotEmbedder

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Vectors: TypeAlias = "ArrayLike"  # the last axis is the dimension; in quotes, for pages would spell it out


def finite_vectors(values: object, name: str, rank: int) -> np.ndarray:
    """Return vectors as float64, last axis the dimension; NaN and wrong ranks raise."""
    array = float_array(values, name)
    if array.ndim != rank:
        raise ValueError(f"{name} must have {rank} axes, the last one the dimension, not the shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinite numbers")
    return array


def blocks_of_articles(machine: Vectors, human: Sequence[Vectors]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield machine and human vectors of articles, (a, s, d) and (a, r, d): all at once where the shapes allow it."""
    machine = finite_vectors(machine, "machine", 3)
    if len(human) != len(machine) or not len(human):
        raise ValueError(
            f"machine has {len(machine)} articles and human {len(human)}; both need the same, at least one"
        )
    one_shape = len({np.shape(some) for some in human}) == 1
    blocks = (
        [finite_vectors(human, "human", 3)] if one_shape else [finite_vectors(some, "human", 2)[None] for some in human]
    )
    start = 0
    for block in blocks:
        own = machine[start : start + len(block)]
        if block.shape[1] == 0 or block.shape[2] != own.shape[2]:
            raise ValueError(
                f"human vectors of shape {block.shape[1:]} do not fit machine vectors of shape {own.shape[1:]}"
            )
        yield own, block
        start += len(block)


def require_reference(references: object, count: int) -> int:
    """Return the number of one reference; raise unless an article has it."""
    if isinstance(references, bool) or not isinstance(references, (int, np.integer)):
        raise ValueError(f"references must be 'max', 'mean' or the number of one reference, not {references!r}")
    if not 0 <= references < count:
        raise ValueError(f"there is no reference {references}: an article has {count}, counted from 0")
    return int(references)


def all_equal(table: np.ndarray) -> np.ndarray:
    """Which rows hold one value only (or none), NaN left out."""
    low = np.where(np.isnan(table), np.inf, table).min(axis=1)
    return ~(low < np.where(np.isnan(table), -np.inf, table).max(axis=1))


def rated_tables(tables: object, ratings: object) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the ratings, and the tables with a gap where a rating is missing; raise for what does not fit."""
    if not isinstance(tables, Mapping) or not tables:
        raise TypeError(
            f"tables must map a kind of similarity to its table, not {type(tables).__name__} {tables!r:.40}"
        )
    human, *_ = require_tables(ratings=ratings, **{f"tables[{kind!r}]": table for kind, table in tables.items()})
    return human, {kind: np.where(np.isnan(human), np.nan, table) for kind, table in tables.items()}


def embed_summaries(data: SummEval, model: LotEmbedder) -> tuple[np.ndarray, list[np.ndarray]]:
    """Vectors of the machine summaries (articles, systems, d) and of the references."""
    flat = [text for row in data.summaries for text in row]
    vectors = np.asarray(model.encode(flat + [text for row in data.references for text in row]))
    ends = np.cumsum([len(row) for row in data.references])[:-1]
    return vectors[: len(flat)].reshape(*data.shape, -1), np.split(vectors[len(flat) :], ends)


class NamedScores(dict[str, float]):
    """Scores by name that know their signature and what was left out."""

    def __init__(self, scores: dict[str, float], signature: Signature, skipped: list[int], n_missing: int):
        super().__init__(scores)
        self.signature, self.skipped, self.n_missing = signature, skipped, n_missing

    def to_dict(self) -> JsonDict:
        """Return scores, signature and counts as plain Python data."""
        left_out = {"skipped": self.skipped, "n_missing": self.n_missing}
        return dict(self) | {"signature": str(self.signature)} | left_out

    def _repr_html_(self) -> str:
        note = f"{len(self.skipped)} articles skipped, {self.n_missing} ratings missing. {self.signature}"
        return html_table([{"score": k, "value": v} for k, v in self.items()], note=note)
