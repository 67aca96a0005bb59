# A plain private module: edited here, exported by no notebook, tested in tests/test_annotators.py.
"""Ratings of any form as codes, and what a coefficient of agreement carries, says and shows.

Chapter 55 defines the coefficients.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TypeAlias, TypedDict

import numpy as np

from ..ground.base import JsonDict, is_finite, require_count, require_share
from ..ground.resampling import bootstrap, middle
from ..ground.results import Score, Signature
from ._shown import histogram

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Agreement", "read_ratings"]

# a row for each item, in it what each rater said: numbers, texts or truth values, None or NaN where nothing
Ratings: TypeAlias = "pd.DataFrame | np.ndarray | Iterable[Iterable[object]]"
Label: TypeAlias = str | bool | float
Weights: TypeAlias = str | Sequence[Sequence[float]] | np.ndarray | None  # how bad each disagreement is
Parts = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Codes:
    """Ratings as places in the list of categories, (items, raters); -1 is a missing one."""

    codes: np.ndarray
    categories: tuple[Label, ...]
    numeric: bool
    ordered: bool

    @property
    def positions(self) -> np.ndarray:
        """Where the categories lie on their scale: the numbers themselves, or their places in the order."""
        return np.array(self.categories, dtype=float) if self.numeric else np.arange(float(len(self.categories)))

    def counts(self) -> np.ndarray:
        """How often each category was given to each item, (items, categories)."""
        items, width = len(self.codes), len(self.categories) + 1
        flat = (self.codes + 1 + width * np.arange(items)[:, None]).ravel()
        return np.bincount(flat, minlength=items * width).reshape(items, width)[:, 1:].astype(float)


def rating_rows(ratings: object, name: str = "ratings") -> list[list[object]]:
    """A table of ratings as rows, one for each item, all of the same length."""
    if hasattr(ratings, "to_numpy"):
        ratings = ratings.to_numpy()
    if isinstance(ratings, np.ndarray):
        if ratings.ndim != 2:
            raise ValueError(f"{name} must be a table with a row for each item, not an array of shape {ratings.shape}")
        ratings = ratings.tolist()
    if isinstance(ratings, (str, bytes, Mapping)) or not isinstance(ratings, Iterable):
        raise TypeError(f"{name} must be a list of rows, one for each item, not {type(ratings).__name__}")
    rows = []
    for number, row in enumerate(ratings):
        if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, Iterable):
            kind = type(row).__name__
            raise TypeError(f"{name}[{number}] must be a list with a rating of each rater, not {kind} ({row!r:.40})")
        rows.append(list(row))
    if not rows:
        raise ValueError(f"{name} has no rows: give one for each item")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            wanted = f"{len(row)} ratings, and {name}[0] has {len(rows[0])}: write None where one is missing"
            raise ValueError(f"{name}[{number}] has {wanted}")
    if len(rows[0]) < 2:
        raise ValueError(f"{name} must have the ratings of at least two raters in each row, not {len(rows[0])}")
    return rows


def rating_column(ratings: object, name: str) -> list[object]:
    """The ratings of one rater as a list."""
    if hasattr(ratings, "to_numpy"):
        ratings = ratings.to_numpy()
    if isinstance(ratings, np.ndarray):
        ratings = ratings.tolist()
    if isinstance(ratings, (str, bytes, Mapping)) or not isinstance(ratings, Iterable):
        raise TypeError(f"{name} must be a list with a rating for each item, not {type(ratings).__name__}")
    return list(ratings)


def rating_pairs(first: object, second: object) -> list[tuple[object, object]]:
    """The ratings of two raters as rows, one for each item; they must be equally many, and some."""
    given = [rating_column(one, name) for name, one in {"first": first, "second": second}.items()]
    if len(given[0]) != len(given[1]) or not given[0]:
        raise ValueError(f"first and second must pair up, not hold {len(given[0])} and {len(given[1])} ratings")
    return list(zip(*given, strict=True))


def read_ratings(rows: Sequence[Sequence[object]]) -> list[list[object]]:
    """Return ratings of a file: empty is missing, and numbers are numbers.

    Texts are numbers where all of them are.

    Examples
    --------
    >>> read_ratings([["5", ""], ["4.5", "3"]])
    [[5.0, None], [4.5, 3.0]]
    """
    table = [[None if isinstance(one, str) and not one.strip() else one for one in row] for row in rows]
    texts = [one for row in table for one in row if isinstance(one, str)]
    try:
        found = {one: float(one) for one in texts}
    except ValueError:
        return table
    if any(math.isnan(one) for one in found.values()):
        return table
    return [[found[one] if isinstance(one, str) else one for one in row] for row in table]


def _label(value: object, where: str) -> Label | None:
    """A rating as a plain Python value; None where it is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        if isinstance(value, float) and math.isnan(value):
            return None
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not abs(number) <= 1e15:
            raise ValueError(
                f"{where} must be a number of ordinary size, not {value!r:.40}: write None for a missing one"
            )
        return number
    if isinstance(value, str):
        if not value.strip():
            raise ValueError(f"{where} is an empty text: write None where a rating is missing")
        return value
    raise TypeError(f"{where} must be a number, a text, True, False or None, not {type(value).__name__}")


def _kind(value: Label) -> str:
    return "text" if isinstance(value, str) else "truth value" if isinstance(value, bool) else "number"


def coded(rows: Sequence[Sequence[object]], categories: object, name: str = "ratings") -> Codes:
    """Ratings by their places among the categories; without `categories` these are the ones that occur."""
    table = [[_label(value, f"{name}[{i}][{j}]") for j, value in enumerate(row)] for i, row in enumerate(rows)]
    given = dict.fromkeys(one for row in table for one in row if one is not None)
    kinds = sorted({_kind(one) for row in table for one in row if one is not None})
    if len(kinds) > 1:
        said = " and ".join(f"{one}s" for one in kinds)
        raise TypeError(f"{name} must be all of one kind, and there are {said}: convert them first")
    if categories is None:
        known = sorted(given)
    else:
        named = [_label(one, f"categories[{n}]") for n, one in enumerate(rating_column(categories, "categories"))]
        known = list(dict.fromkeys(one for one in named if one is not None))
        if not known or len(known) < len(named):
            raise ValueError(f"categories must be distinct ratings, such as ['bad', 'fair', 'good'], not {named!r:.60}")
        if strange := [one for one in given if one not in known or kinds != [_kind(known[0])]]:
            raise ValueError(f"the rating {strange[0]!r:.40} is not among the categories {known!r:.60}")
    numeric = bool(known) and _kind(known[0]) == "number"
    place = {one: number for number, one in enumerate(known)}
    codes = [[-1 if one is None else place[one] for one in row] for row in table]
    shown = tuple(int(one) if numeric and one == int(one) else one for one in known)
    return Codes(np.array(codes, dtype=np.int64), shown, numeric, numeric or categories is not None)


def require_complete(table: Codes) -> Codes:
    """Refuse a table with a missing rating."""
    if (table.codes < 0).any():
        item, rater = np.argwhere(table.codes < 0)[0]
        remedy = "krippendorff_alpha(ratings, level='nominal') takes missing ratings"
        raise ValueError(f"ratings[{item}][{rater}] is missing: {remedy}")
    return table


def require_scale(table: Codes, level: str) -> None:
    """Refuse ratings that a level of measurement cannot take: ordinal needs an order, interval numbers."""
    if level == "ordinal" and table.categories and not table.ordered:
        order = "name it, such as categories=['bad', 'fair', 'good']"
        raise ValueError(f"level='ordinal' needs ratings with an order: {order}")
    if level == "interval" and table.categories and not table.numeric:
        raise ValueError(f"level='interval' needs numbers, not {table.categories[0]!r}")


def require_reliability(alpha: float, n_raters: int) -> tuple[float, int]:
    """An agreement of single ratings, at least 0 and at most 1, and how many of them are averaged."""
    if isinstance(alpha, Agreement):
        alpha = float(alpha)
    if isinstance(alpha, bool) or not isinstance(alpha, numbers.Real):
        raise TypeError(f"alpha must be a number, not {type(alpha).__name__}")
    if not -math.inf < alpha <= 1:
        raise ValueError(f"alpha must be a number of at most 1, not {alpha}")
    n = require_count(n_raters, "n_raters")
    if not is_finite(n):
        raise ValueError(f"n_raters must be a number that a float can hold, not {n}")
    return float(max(alpha, 0)), n


def drawn_weights(draws: np.ndarray, items: int) -> np.ndarray:
    """How often each item was drawn in each resample: numbers of items (k, items) -> (k, items)."""
    places = draws + items * np.arange(len(draws))[:, None]
    return np.bincount(places.ravel(), minlength=items * len(draws)).reshape(-1, items).astype(float)


def chance_corrected(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """1 - observed / expected; NaN where chance could not disagree."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def measured(parts: Parts, items: int, *, confidence: float, n_resamples: int, seed: int) -> JsonDict:
    """Coefficient, both disagreements, interval and resamples, from what `parts` says of a weighting of the items."""
    require_count(n_resamples, "n_resamples", minimum=0)
    require_count(seed, "seed", minimum=0)
    if not 0 < require_share(confidence, "confidence") < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    found: JsonDict = {"confidence": confidence, "score": None, "observed": None, "expected": None}
    found |= {"interval": None, "resamples": np.array([]), "n_undefined": 0}
    if not items:
        return found
    observed, expected = parts(np.ones((1, items)))
    (value,) = chance_corrected(observed, expected).tolist()
    found |= {"observed": float(observed[0]), "expected": float(expected[0])}
    if math.isnan(value):
        return found
    found["score"] = value
    if n_resamples == 0 or items < 2:
        return found

    def statistic(draws: np.ndarray) -> np.ndarray:
        return chance_corrected(*parts(drawn_weights(draws, items)))

    drawn = bootstrap(statistic, items, confidence=confidence, n_resamples=n_resamples, seed=seed)
    interval, kept = middle(drawn.values, confidence)
    return found | {"interval": interval, "resamples": kept, "n_undefined": len(drawn.values) - len(kept)}


def square(weights: object, size: int) -> np.ndarray:
    """A table of weights for disagreements of the user's own, (categories, categories)."""
    try:
        table = np.array(weights, dtype=float)
    except (TypeError, ValueError, OverflowError):
        table = np.array([])
    if table.shape != (size, size):
        raise ValueError(
            "weights must be None, 'linear', 'quadratic' or a table of numbers with a row and a column "
            f"for each of the {size} categories, not {weights!r:.60}"
        )
    if not (np.isfinite(table).all() and (table >= 0).all() and not table.diagonal().any()):
        raise ValueError("weights say how bad a disagreement is: 0 on the diagonal, nowhere below 0, all finite")
    return table


@dataclass(frozen=True, kw_only=True)
class Resampling:
    """How the interval of a coefficient is made."""

    confidence: float = 0.95
    n_resamples: int = 1000
    seed: int = 0


class ResamplingChoices(TypedDict, total=False):
    """The fields of `Resampling`."""

    confidence: float
    n_resamples: int
    seed: int


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Agreement(Score):
    """How well raters agree, corrected for chance.

    Parameters
    ----------
    score : float or None
        At most 1; 0 is what chance gives, below 0 is less than that. None, with a
        reason, where it is undefined.
    coefficient : str
        Which coefficient it is, such as `"alpha (ordinal)"`.
    observed, expected : float or None
        Observed and expected disagreement; `score` is 1 - observed / expected.
    interval : (float, float) or None
        Ends of the percentile bootstrap interval over items; None where none was asked
        for or fewer than half of the resamples have a value.
    confidence : float
        Share of resamples inside the interval.
    n_items, n_raters, n_missing : int
        Shape of the ratings, and how many of them are missing.
    n_left_out : int
        Items with too few ratings to compare.
    categories : tuple
        The ratings that were possible, in order.
    n_undefined : int
        Resamples without a value.
    resamples : numpy.ndarray
        The coefficient in each resample that has one.
    """

    coefficient: str
    observed: float | None
    expected: float | None
    interval: tuple[float, float] | None
    confidence: float
    n_items: int
    n_raters: int
    n_missing: int
    n_left_out: int
    categories: tuple[Label, ...]
    n_undefined: int
    resamples: np.ndarray = field(default_factory=lambda: np.array([]))

    @classmethod
    def made(cls, parts: Parts, kept: int, table: Codes, coefficient: str, resampling: ResamplingChoices) -> Self:
        """Return a coefficient of the items of a table that are kept, from its parts; undefined with its reason."""
        chosen = Resampling(**resampling)
        options: ResamplingChoices = {
            "confidence": chosen.confidence,
            "seed": chosen.seed,
            "n_resamples": chosen.n_resamples,
        }
        found = measured(parts, kept, **options)
        reason = ""
        if found["score"] is None:
            reason = "no item has two ratings that could be compared"
            if found["observed"] is not None:
                reason = "all ratings are the same, so that chance could not disagree"
        return cls(
            reason=reason,
            signature=Signature({"metric": "agreement", "coef": coefficient, **options}),
            coefficient=coefficient,
            n_items=len(table.codes),
            n_raters=table.codes.shape[1],
            n_missing=int((table.codes < 0).sum()),
            n_left_out=len(table.codes) - kept,
            categories=table.categories,
            **found,
        )

    def rows(self) -> list[JsonDict]:
        """Return one row with the number, its interval, both disagreements and the counts."""
        low, high = self.interval or (None, None)
        found = {"coefficient": self.coefficient, "score": self.score, "low": low, "high": high}
        found |= {"observed": self.observed, "expected": self.expected}
        names = ("n_items", "n_raters", "n_missing", "n_left_out", "n_undefined")
        return [found | {name: getattr(self, name) for name in names}]

    def to_dict(self) -> JsonDict:
        """Return everything but the resamples as plain Python data."""
        return super().to_dict() | {"interval": self.interval, "categories": list(self.categories)}

    def __str__(self) -> str:
        if self.score is None:
            return f"{self.coefficient} undefined: {self.reason}"
        ends = f" [{self.interval[0]:.3f}, {self.interval[1]:.3f}]" if self.interval else ""
        return f"{self.coefficient} {self.score:.3f}{ends}"

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the resamples as a histogram, with the estimate and the interval."""
        label = f"{self.coefficient} in a resample"
        return histogram(self.resamples, self.score, self.interval, str(self), label, ax)
