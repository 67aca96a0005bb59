# A plain private module: edited here, exported by no notebook, tested in tests/test_agreement.py.
"""What goes into the chapters of this part: tables of numbers, one row an article, one column a system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from summeval_nb.ground.base import float_array, require_share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# a row an article, a column a system, None where a value is missing; in quotes, for pages would spell it out
Grid: TypeAlias = "ArrayLike | Sequence[Sequence[float | None]]"


def require_table(values: object, name: str) -> np.ndarray:
    """Return a table of numbers as a float array (articles, systems); None and NaN cells are missing ones."""
    try:
        table = float_array(values, name)
    except (TypeError, ValueError) as error:
        message = f"{name} must be a table of numbers, one row an article, one column a system: {error}"
        raise TypeError(message) from error
    if table.ndim != 2:
        remedy = "; for scores of systems without articles pass one row: [scores]" if table.ndim == 1 else ""
        raise ValueError(f"{name} must have two axes (articles, systems), not the shape {table.shape}{remedy}")
    if not table.size:
        raise ValueError(f"{name} is empty: its shape is {table.shape}")
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0]
        raise ValueError(f"{name}[{row}, {column}] is infinite; use None or NaN for a cell without a value")
    return table


def require_tables(**named: object) -> list[np.ndarray]:
    """Return several tables of the same shape."""
    tables = {name: require_table(values, name) for name, values in named.items()}
    shapes = {name: table.shape for name, table in tables.items()}
    if len(set(shapes.values())) > 1:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"the tables must have the same shape (articles, systems): {listed}")
    return list(tables.values())


def require_named_tables(metrics: object, human: object) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return several metrics' tables by name and the human table, all of one shape."""
    if not isinstance(metrics, Mapping):
        raise TypeError(f"metrics must map names to tables, not {type(metrics).__name__}")
    if not metrics:
        raise ValueError("metrics is empty: pass at least one metric's table by name")
    named = {f"{str(name)!r}": table for name, table in metrics.items()}
    *found_tables, y = require_tables(**named, human=human)
    return dict(zip(map(str, metrics), found_tables, strict=True)), y


def require_significance_level(alpha: object) -> float:
    """Return a significance level; the permutations needed grow with 1 / alpha, so that it may not be tiny."""
    level = require_share(alpha, "alpha")
    if not 1e-6 <= level < 1:
        raise ValueError(f"alpha must lie between 0 and 1, at least 0.000001, not {alpha}")
    return level
