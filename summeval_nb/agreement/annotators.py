"""How well raters agree: the three coefficients of chapter 62 for ratings of any kind, with bootstrap intervals.

The chapter has the definitions (`disagreement`): observed and expected disagreement under weights of the items. Here
ratings become places among categories, and what the coefficients say becomes an `Agreement`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from summeval_nb.agreement.correlation import Interval, histogram, with_interval
from summeval_nb.agreement.disagreement import alpha_disagreement, cohen_disagreement, fleiss_disagreement
from summeval_nb.core.base import JsonDict, as_listed, is_frame, require_option
from summeval_nb.core.files import frame_rows, is_unrated
from summeval_nb.core.resampling import Resampling, drawings, middle, times_drawn
from summeval_nb.core.results import Score, Signature

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Agreement", "cohen_kappa", "fleiss_kappa", "krippendorff_alpha"]

# a row for each item, in it each rater's rating: numbers, texts or truth values, None or NaN where it is missing
Ratings: TypeAlias = "pd.DataFrame | np.ndarray | Iterable[Iterable[object]]"
Label: TypeAlias = str | bool | float
# weights of items (k, items) -> observed and expected disagreement, (k,) each
Disagreement: TypeAlias = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
ALPHA_LEVELS = ("nominal", "ordinal", "interval", "ratio")


@dataclass(frozen=True)
class CodedRatings:
    """Ratings as places in the list of categories, (items, raters); -1 is a missing one."""

    codes: np.ndarray
    categories: tuple[Label, ...]
    numeric: bool
    ordered: bool

    @property
    def positions(self) -> np.ndarray:
        """Where the categories lie: the numbers themselves, or places in the order."""
        return np.array(self.categories if self.numeric else range(len(self.categories)), dtype=float)

    def counts(self) -> np.ndarray:
        """How often each category was given to each item, (items, categories)."""
        return times_drawn(self.codes + 1, len(self.categories) + 1)[:, 1:]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Agreement(Score):
    """How well raters agree, corrected for chance.

    Parameters
    ----------
    score : float or None
        At most 1; 0 is what chance gives, below 0 is less than that. None, with a reason, where it is undefined.
    coefficient : str
        Which coefficient it is, such as `"alpha (ordinal)"`.
    observed, expected : float or None
        Observed and expected disagreement; `score` is 1 - observed / expected.
    interval : (float, float) or None
        Ends of the percentile bootstrap interval over items; None where none was asked for, and with `no_interval`
        where fewer than half of the resamples have a value or all of them the same.
    confidence : float
        Share of resamples inside the interval.
    no_interval : str
        Why the resamples give no interval; else empty.
    n_items, n_raters, n_missing, n_left_out : int
        Shape of the ratings, how many are missing, and items with too few ratings to compare.
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
    interval: Interval
    confidence: float
    no_interval: str = ""
    n_items: int
    n_raters: int
    n_missing: int
    n_left_out: int
    categories: tuple[Label, ...]
    n_undefined: int
    resamples: np.ndarray = field(default_factory=lambda: np.array([]))
    more: ClassVar = ("interval", "no_interval")

    def rows(self) -> list[JsonDict]:
        """Return one row: number, interval, both disagreements and the counts."""
        low, high = self.interval or (None, None)
        found = {"coefficient": self.coefficient, "score": self.score, "low": low, "high": high}
        names = ("observed", "expected", "n_items", "n_raters", "n_missing", "n_left_out", "n_undefined")
        return [found | {name: getattr(self, name) for name in names}]

    def to_dict(self) -> JsonDict:
        """Return everything but the resamples as plain Python data."""
        return super().to_dict() | {"categories": list(self.categories)}

    def __str__(self) -> str:
        if self.score is None:
            return f"{self.coefficient} undefined: {self.reason}"
        more = f", no interval: {self.no_interval}" if self.no_interval else ""
        return f"{self.coefficient} {with_interval(self.score, self.interval)}{more}"

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the resamples as a histogram, with the estimate and the interval."""
        label = f"{self.coefficient} in a resample"
        return histogram(self.resamples, self.score, self.interval, str(self), label, ax)


def cohen_kappa(
    first: Iterable[object],
    second: Iterable[object],
    *,
    weights: str | Sequence[Sequence[float]] | np.ndarray | None = None,
    categories: Iterable[object] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Return Cohen's kappa of two raters, with a bootstrap interval over items.

    Parameters
    ----------
    first, second : sequence
        A rating for each item: numbers, texts or truth values; None or NaN is missing, and an item with a missing
        rating is left out and counted.
    weights : None, "linear", "quadratic" or table
        How bad a disagreement is: all alike, by the distance of the ratings, by its square, or a table of your own with
        a row and a column for each category. Numbers lie where they lie (5 is two steps from 3, even if nobody gave a
        4); other ratings lie one step apart in the order of `categories`.
    categories : sequence, optional
        All possible ratings in their order; by default those that occur.
    confidence, n_resamples, seed
        Of the interval; 0 resamples for none.

    Raises
    ------
    TypeError, ValueError
        If the ratings do not pair up, are of different kinds, or lack an order.

    References
    ----------
    Cohen 1960, A Coefficient of Agreement for Nominal Scales, Educational and Psychological Measurement 20, 37-46;
    Cohen 1968, Weighted Kappa, Psychological Bulletin 70, 213-220.

    Examples
    --------
    >>> print(cohen_kappa([1, 1, 2, 2], [1, 2, 2, 2], n_resamples=0))
    kappa 0.500
    """
    own, other = (
        _as_list(v, name, "a list with a rating for each item") for v, name in ((first, "first"), (second, "second"))
    )
    if len(own) != len(other) or not own:
        raise ValueError(f"first and second must pair up, not hold {len(own)} and {len(other)} ratings")
    if isinstance(weights, str):
        require_option(weights, "weights", ("linear", "quadratic"))
    ratings = code_ratings(list(zip(own, other, strict=True)), categories)
    kept = ratings.codes[(ratings.codes >= 0).all(axis=1)]
    name = weights if isinstance(weights, str) else "own"
    parts = partial(cohen_disagreement, kept, _distances(ratings, weights))
    coefficient = "kappa" if weights is None else f"kappa ({name} weights)"
    return _agreement(parts, len(kept), ratings, coefficient, Resampling(n_resamples, confidence, seed))


def fleiss_kappa(ratings: Ratings, *, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 0) -> Agreement:
    """Return Fleiss' kappa of several raters, with a bootstrap interval over items.

    Parameters
    ----------
    ratings : table, (items, raters)
        A row for each item: numbers, texts or truth values. Their order means nothing, and raters may be others in each
        row. An item with a missing rating is left out and counted.
    confidence, n_resamples, seed
        Of the interval; 0 resamples for none.

    Raises
    ------
    TypeError, ValueError
        If the table is none, or ratings are of different kinds.

    References
    ----------
    Fleiss 1971, Measuring Nominal Scale Agreement Among Many Raters, Psychological Bulletin 76, 378-382.

    Examples
    --------
    >>> rows = [["yes", "yes", "no"], ["no", "no", "no"]]
    >>> print(fleiss_kappa(rows, n_resamples=0))
    Fleiss' kappa 0.250
    """
    coded = code_ratings(_rating_rows(ratings), None)
    counts = coded.counts()[(coded.codes >= 0).all(axis=1)]
    parts, resampling = partial(fleiss_disagreement, counts), Resampling(n_resamples, confidence, seed)
    return _agreement(parts, len(counts), coded, "Fleiss' kappa", resampling)


def krippendorff_alpha(
    ratings: Ratings,
    *,
    level: str,
    categories: Iterable[object] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 0,
) -> Agreement:
    """Return Krippendorff's alpha, with a bootstrap interval over items.

    Parameters
    ----------
    ratings : table, (items, raters)
        A row for each item; None or NaN is missing. Items with fewer than two ratings are left out and counted. (Some
        libraries want a row for each *rater*.)
    level : "nominal", "ordinal", "interval" or "ratio"
        How far two ratings are apart: any difference is 1, by rank, by the square of the difference, or by the square
        of the difference over the sum, for counts and amounts. There is no default, because it is a decision.
    categories : sequence, optional
        All possible ratings in their order, needed for texts that are ordinal.
    confidence, n_resamples, seed
        Of the interval; 0 resamples for none.

    Raises
    ------
    TypeError, ValueError
        If the table is none, ratings are of different kinds, or do not fit the level.

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's Alpha-Reliability.

    Examples
    --------
    >>> rows = [[1, 1, None], [2, 2, 3], [3, 3, 3], [None, 1, 1], [5, None, None]]
    >>> print(krippendorff_alpha(rows, level="ordinal", n_resamples=0))
    alpha (ordinal) 0.887
    """
    require_option(level, "level", ALPHA_LEVELS)
    coded = code_ratings(_rating_rows(ratings), categories)
    if level == "ordinal" and coded.categories and not coded.ordered:
        order = "name it, such as categories=['bad', 'fair', 'good']"
        raise ValueError(f"level='ordinal' needs ratings with an order: {order}")
    if level in ("interval", "ratio") and coded.categories and not coded.numeric:
        raise ValueError(f"level={level!r} needs numbers, not {coded.categories[0]!r}")
    if level == "ratio" and coded.categories and min(coded.positions) < 0:
        raise ValueError(f"level='ratio' needs numbers of at least 0, not {min(coded.positions):g}: take 'interval'")
    counts = coded.counts()
    kept = counts[counts.sum(axis=1) > 1]
    parts = partial(alpha_disagreement, kept, coded.positions, level)
    return _agreement(parts, len(kept), coded, f"alpha ({level})", Resampling(n_resamples, confidence, seed))


def _agreement(
    parts: Disagreement, kept: int, ratings: CodedRatings, coefficient: str, resampling: Resampling
) -> Agreement:
    """The coefficient of the items that are kept; undefined with its reason."""
    found = chance_corrected(parts, kept, resampling)
    reason = "all ratings are the same, so that chance could not disagree" if kept else ""
    reason = reason or "no item has two ratings that could be compared"
    return Agreement(
        reason=reason if found["score"] is None else "",
        signature=Signature({"metric": "agreement", "coef": coefficient} | resampling.signature),
        coefficient=coefficient,
        confidence=resampling.confidence,
        n_items=len(ratings.codes),
        n_raters=ratings.codes.shape[1],
        n_missing=int((ratings.codes < 0).sum()),
        n_left_out=len(ratings.codes) - kept,
        categories=ratings.categories,
        **found,
    )


def chance_corrected(parts: Disagreement, items: int, resampling: Resampling) -> JsonDict:
    """Return 1 - observed / expected with both disagreements, the interval and the resamples.

    `parts` says which disagreements a weighting of the items gives: (k, items) -> (k,) and (k,). Undefined where chance
    could not disagree.
    """
    found: JsonDict = dict.fromkeys(("score", "observed", "expected", "interval"))
    found |= {"no_interval": "", "resamples": np.array([]), "n_undefined": 0}
    if not items:
        return found

    def coefficients(w: np.ndarray) -> np.ndarray:
        observed, expected = parts(w)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(expected > 0, 1 - observed / expected, np.nan)

    once, n = np.ones((1, items)), resampling.n_resamples
    found |= {name: float(side[0]) for name, side in zip(("observed", "expected"), parts(once), strict=True)}
    if math.isnan(value := float(coefficients(once)[0])):
        return found
    found["score"] = value
    if not n or items < 2:
        return found | {"no_interval": "there is one item to draw" if n else ""}
    drawn = [coefficients(times_drawn(lot, items)) for lot in drawings(items, n, resampling.seed)]
    interval, kept, why = middle(np.concatenate(drawn), resampling.confidence)
    return found | {"interval": interval, "no_interval": why, "resamples": kept, "n_undefined": n - len(kept)}


def _distances(ratings: CodedRatings, weights: object) -> np.ndarray:
    """How bad each disagreement is, (categories, categories)."""
    size = len(ratings.categories)
    if weights is None:
        return 1 - np.eye(size)
    if not isinstance(weights, str):
        return _own_weights(weights, size)
    if not ratings.ordered:
        order = "categories=['bad', 'fair', 'good']"
        raise ValueError(f"weights={weights!r} needs ratings with an order: {order}")
    steps = np.abs(np.subtract.outer(ratings.positions, ratings.positions))
    return steps if weights == "linear" else steps**2


def _own_weights(weights: object, size: int) -> np.ndarray:
    try:
        table = np.array(weights, dtype=float)
    except (TypeError, ValueError, OverflowError):
        table = np.array([])
    if table.shape != (size, size) or not np.isfinite(table).all() or (table < 0).any() or table.diagonal().any():
        wanted = "None, 'linear', 'quadratic' or a table of finite numbers with a row and a column for each of the"
        raise ValueError(
            f"weights must be {wanted} {size} categories: how bad a disagreement is, 0 on the diagonal and nowhere "
            f"below 0, not {weights!r:.60}"
        )
    return table


# Ratings of any kind as places among their categories


def _as_list(values: object, name: str, wanted: str) -> list[object]:
    """A column, a row or a table as a list; what is none is refused."""
    values = [list(row.values()) for row in frame_rows(values)] if is_frame(values) else as_listed(values)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        values = values.tolist()
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be {wanted}, not {type(values).__name__} ({values!r:.40})")
    return list(values)


def _rating_rows(ratings: object) -> list[list[object]]:
    """A table of ratings as rows, one for each item, all of the same length."""
    shape = getattr(ratings, "shape", (0, 0))
    if len(shape) != 2:
        raise ValueError(f"ratings must be a table with a row for each item, not an array of shape {shape}")
    each = enumerate(_as_list(ratings, "ratings", "a list of rows, one for each item"))
    rows = [_as_list(row, f"ratings[{number}]", "a list with a rating of each rater") for number, row in each]
    if not rows:
        raise ValueError("ratings has no rows: give one for each item")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            said = f"{len(row)} ratings, and ratings[0] has {len(rows[0])}: write None where one is missing"
            raise ValueError(f"ratings[{number}] has {said}")
    if len(rows[0]) < 2:
        raise ValueError(f"ratings must have the ratings of at least two raters in each row, not {len(rows[0])}")
    return rows


def read_ratings(rows: Sequence[Sequence[object]]) -> list[list[object]]:
    """Return ratings of a file: empty, NA, N/A and nan are missing, and texts are numbers where all of them are.

    Examples
    --------
    >>> read_ratings([["5", "NA"], ["4.5", "3"]])
    [[5.0, None], [4.5, 3.0]]
    """
    table = [[None if is_unrated(value) else value for value in row] for row in rows]
    try:
        return [[float(value) if isinstance(value, str) else value for value in row] for row in table]
    except ValueError:
        return table


def _label(value: object, where: str) -> Label | None:
    """A rating as a plain Python value; None where it is missing."""
    if isinstance(value, np.generic):
        value = value.item()
    if is_unrated(value):
        return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not abs(value) <= 1e15:
            size = "a number of ordinary size"
            raise ValueError(f"{where} must be {size}, not {value!r:.40}: write None for a missing one")
        return float(value)
    if not isinstance(value, (str, bool)):
        raise TypeError(f"{where} must be a number, a text, True, False or None, not {type(value).__name__}")
    return value


def code_ratings(rows: Sequence[Sequence[object]], categories: object) -> CodedRatings:
    """Return ratings by their places among the categories; without `categories` these are the ones that occur."""

    def kind(value: Label) -> str:
        return "texts" if isinstance(value, str) else "truth values" if isinstance(value, bool) else "numbers"

    table = [[_label(value, f"ratings[{i}][{j}]") for j, value in enumerate(row)] for i, row in enumerate(rows)]
    every = [value for row in table for value in row if value is not None]
    if len(kinds := sorted(set(map(kind, every)))) > 1:
        raise TypeError(f"ratings must be all of one kind, and there are {' and '.join(kinds)}: convert them first")
    known = sorted(set(every)) if categories is None else _named_categories(categories)
    for category in dict.fromkeys(every):
        if category not in known or kinds != [kind(known[0])]:
            raise ValueError(f"the rating {category!r:.40} is not among the categories {known!r:.60}")
    numeric = bool(known) and kind(known[0]) == "numbers"
    place: dict[Label | None, int] = {category: number for number, category in enumerate(known)} | {None: -1}
    codes = np.array([[place[category] for category in row] for row in table], dtype=np.int64)
    shown = tuple(int(c) if numeric and c == int(c) else c for c in known)
    return CodedRatings(codes, shown, numeric, numeric or categories is not None)


def _named_categories(categories: object) -> list[Label]:
    given = _as_list(categories, "categories", "a list of the possible ratings")
    named = [_label(category, f"categories[{n}]") for n, category in enumerate(given)]
    known = [category for category in dict.fromkeys(named) if category is not None]
    if not known or len(known) < len(named):
        raise ValueError(f"categories must be distinct ratings, such as ['bad', 'fair', 'good'], not {named!r:.60}")
    return known
