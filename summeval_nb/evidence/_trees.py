"""Boosted trees as plain arrays: a forest's logit, and what each feature adds to it. A plain module: edited directly,
tested in tests/test_trees.py.

The trees are fitted elsewhere and kept as numbers; nothing is unpickled. Each node carries the mean of the leaves
below, weighted by the training rows that reached them, so that the way from root to leaf says what each question added
(Saabas 2014, "Interpreting random forests"; the sums are exact).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Forest"]


@dataclass(frozen=True)
class Forest:
    """Regression trees whose leaves add up to a logit.

    Parameters
    ----------
    names : sequence of str
        The features, in the order of the columns.
    feature, left, right : ndarray of int, shape (nodes,)
        The column that a node asks about (-1: a leaf) and the places of its two children.
    threshold, value : ndarray of float, shape (nodes,)
        A row goes left when its feature is at most the threshold; `value` is the mean of the leaves below.
    roots : ndarray of int, shape (trees,)
    offset : float
        Added to every logit.
    """

    names: Sequence[str]
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray
    roots: np.ndarray
    offset: float

    @staticmethod
    def from_arrays(names: Sequence[str], arrays: Mapping[str, np.ndarray]) -> Forest:
        """Return a forest from its arrays, as `arrays` gives them."""
        whole = {key: np.asarray(arrays[key], dtype=np.int64) for key in ("feature", "left", "right", "roots")}
        real = {key: np.asarray(arrays[key], dtype=np.float64) for key in ("threshold", "value")}
        return Forest(tuple(names), **whole, **real, offset=float(arrays["offset"]))

    def contributions(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the logits, shape (n,), and what each feature added to them, shape (n, features).

        A logit is the offset, plus the mean values of the trees, plus the row's contributions.
        """
        rows = np.asarray(rows, dtype=np.float64)
        n, columns = rows.shape
        if columns != len(self.names):
            raise ValueError(f"{columns} features, but the trees were fitted to {len(self.names)}")
        added = np.zeros(n * columns)
        place = np.tile(self.roots, (n, 1))
        row = np.arange(n)[:, None]
        while True:
            asked = self.feature[place]
            inner = asked >= 0
            if not inner.any():
                break
            column = np.where(inner, asked, 0)
            low = rows[row, column] <= self.threshold[place]
            step = np.where(inner, np.where(low, self.left[place], self.right[place]), place)
            change = np.where(inner, self.value[step] - self.value[place], 0.0)
            added += np.bincount((row * columns + column).ravel(), change.ravel(), minlength=n * columns)
            place = step
        by_feature = added.reshape(n, columns)
        return self.base + by_feature.sum(axis=1), by_feature

    @property
    def base(self) -> float:
        """The logit before anything is asked."""
        return self.offset + float(self.value[self.roots].sum())
