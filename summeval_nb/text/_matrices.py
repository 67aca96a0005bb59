# A plain private module: edited directly, exported by no notebook, tested in tests/test_cosine.py.
"""Tables of numbers as they come in: checked, and refused with the remedy; nothing is stretched until it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["require_matrix"]


def require_matrix(value: ArrayLike, name: str) -> np.ndarray:
    """Return `value` as a finite float64 matrix of at least one row and column.

    Parameters
    ----------
    value : array_like
        Numbers: lists, numpy arrays, tensors on any device.
    name : str
        What the message calls it.

    Raises
    ------
    TypeError
        If it is not a table of real numbers.
    ValueError
        If it has another rank, is empty, or holds NaN or infinity.

    Examples
    --------
    >>> require_matrix([[1, 2]], "vectors")
    array([[1., 2.]])
    """
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} must be a matrix, and its rows differ in length: {error}") from error
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} must hold real numbers, not {array.dtype} ({type(value).__name__})")
    if array.ndim != 2:
        remedy = "; wrap one vector in a list: [vector]" if array.ndim == 1 else ""
        raise ValueError(f"{name} must be a matrix (2 dimensions), not an array of shape {array.shape}{remedy}")
    if 0 in array.shape:
        raise ValueError(f"{name} is empty, with shape {array.shape}: there is nothing to compare")
    wide = array.astype(np.float64)
    if not np.isfinite(wide).all():
        row, column = np.argwhere(~np.isfinite(wide))[0]
        raise ValueError(
            f"{name} holds {wide[row, column]} at row {row}, column {column}: remove or repair that vector"
        )
    return wide


def require_pair(embed_text: ArrayLike, embed_summary: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return both tables checked; raise a `ValueError` if their dimensions differ."""
    text, summary = require_matrix(embed_text, "embed_text"), require_matrix(embed_summary, "embed_summary")
    if text.shape[1] != summary.shape[1]:
        raise ValueError(
            f"embed_text has {text.shape[1]} dimensions, embed_summary {summary.shape[1]}: "
            "embed both with the same model (one row a sentence)"
        )
    return text, summary
