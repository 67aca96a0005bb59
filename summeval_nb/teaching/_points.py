# A plain private module. Edited directly: no notebook exports it; tested in tests/test_play.py.
"""Points to drag: checked, in four clouds to begin with, and placed in a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypedDict

import numpy as np

from summeval_nb.ground.base import float_array, require_count, require_option

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Points = list[list[float]]
Pairs: TypeAlias = "ArrayLike"  # (n, 2) numbers; in quotes, for pages would spell it out
PRESETS = ("cloud", "outlier", "curve", "ties")
LARGEST = 1e100  # differences of larger numbers overflow
BOX = {"left": 46, "right": 430, "top": 12, "bottom": 300}  # the plot's place in an SVG of 440 by 345


class Frame(TypedDict):
    """The ranges of both axes, and the plot's place in the SVG."""

    x: list[float]
    y: list[float]
    box: dict[str, int]


def require_points(points: object) -> Points:
    """Return points as a list of [x, y]: at least two, all finite."""
    try:
        table = float_array(points, "points")
    except (TypeError, ValueError) as error:
        raise TypeError(f"points must be pairs of numbers, such as [[1, 2], [3, 5]]: {error}") from None
    if table.ndim != 2 or table.shape[1] != 2 or len(table) < 2:
        raise ValueError(f"points must be at least two pairs [x, y], not an array of shape {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("points must be finite: leave out the ones without a value")
    if np.abs(table).max() > LARGEST:
        raise ValueError(
            f"points must lie within ±{LARGEST:g} to be drawn, not at {np.abs(table).max():g}: rescale them"
        )
    return table.tolist()


def preset_points(name: str, n: int = 12, seed: int = 0) -> Points:
    """Return n points in [0, 10] × [0, 10] of one kind: `"cloud"`, `"outlier"`, `"curve"` or `"ties"`.

    Examples
    --------
    >>> preset_points("ties", n=3)[0]
    [3.0, 3.0]
    """
    rng = np.random.default_rng(seed)
    x = np.linspace(1.5, 6.5, require_count(n, "n", minimum=2))
    y = np.clip(x + rng.normal(0, 0.9, len(x)), 0.5, 7.5)
    kind = require_option(name, "preset", PRESETS)
    if kind == "outlier":
        x[0], y[0] = 9.5, 0.5
    elif kind == "curve":
        x = np.linspace(0.5, 9.5, len(x))
        y = 9.5 * np.exp((x - 9.5) / 1.4)
    elif kind == "ties":
        x, y = (1 + 2 * np.clip(np.round(values / 2), 0, 4) for values in (x, y))
    return np.column_stack([x, y]).round(2).tolist()


def frame_of(points: Points) -> Frame:
    """Return the ranges of both axes: 0 to 10 for points spread there, else the points with some space around."""
    table = np.array(points)
    if table.min() >= 0 and table.max() <= 10 and table.max() > 1:
        low, high = np.zeros(2), np.full(2, 10.0)
    else:
        least = np.maximum(np.abs(table).max(axis=0) * 1e-6, 1e-6)  # 1e17 and 1e17 + 1e-6 are one number
        space = np.maximum(np.ptp(table, axis=0) * 0.15, least)
        low, high = table.min(axis=0) - space, table.max(axis=0) + space
    (x0, y0), (x1, y1) = low.tolist(), high.tolist()
    return {"x": [x0, x1], "y": [y0, y1], "box": BOX}


def into_frame(frame: Frame, points: Points) -> Points:
    """Return points in [0, 10] × [0, 10] stretched to a frame."""
    (x0, x1), (y0, y1) = frame["x"], frame["y"]
    return [[x0 + x / 10 * (x1 - x0), y0 + y / 10 * (y1 - y0)] for x, y in points]


def same_count(points: object, start: Points) -> Points:
    """Return points, as many as at the start: a picture moves points, it adds none."""
    known = require_points(points)
    if len(known) != len(start):
        raise ValueError(f"this picture has {len(start)} points, not {len(known)}: make another picture")
    return known
