"""What annotators say: how well they agree, and a judge's share of right items, corrected by their labels.

Chapter 62 has the definitions of the coefficients (`disagreement`): observed and expected disagreement under weights of
the items. Here ratings become places among categories, and what the coefficients say becomes an `Agreement`. Chapter 61
has those of the correction (`correction`): Rogan and Gladen's share, the prediction-powered mean, Wilson's interval.
Here are the functions around them, the CSV that people label, and the buttons in Jupyter.
"""

from __future__ import annotations

import csv
import io
import math
import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from typing import Any, ClassVar, TypeAlias

import numpy as np

from summeval_nb.agreement.correction import Tuned, power_tuned, rogan_gladen, t_quantile
from summeval_nb.agreement.correlation import Interval, histogram, with_interval
from summeval_nb.agreement.disagreement import alpha_disagreement, cohen_disagreement, fleiss_disagreement
from summeval_nb.core.base import (
    Frame,
    InputWarning,
    JsonDict,
    as_listed,
    callers_level,
    is_frame,
    plt,
    require_count,
    require_inner_share,
    require_module,
    require_option,
    require_share,
    require_text,
    short_repr,
)
from summeval_nb.core.files import (
    Table,
    csv_text,
    frame_rows,
    is_missing,
    is_unrated,
    plain_cell,
    require_once,
    require_path,
    table_rows,
    write_whole,
)
from summeval_nb.core.html import render
from summeval_nb.core.resampling import Resampling, drawings, middle, share_interval, times_drawn
from summeval_nb.core.results import Score, ScoreTable, Signature

__all__ = ["Agreement", "cohen_kappa", "correct_score", "CorrectedScore", "draw_items", "fleiss_kappa"]
__all__ += ["krippendorff_alpha", "label_items", "Labelling", "labels_needed", "read_labels", "record_label"]

# a row for each item, in it each rater's rating: numbers, texts or truth values, None or NaN where it is missing
Ratings: TypeAlias = Frame | np.ndarray | Iterable[Iterable[object]]
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
    more: ClassVar = ("interval", "no_interval", "categories")

    def rows(self) -> list[JsonDict]:
        """Return one row: number, interval, both disagreements and the counts."""
        low, high = self.interval or (None, None)
        found = {"coefficient": self.coefficient, "score": self.score, "low": low, "high": high}
        names = ("observed", "expected", "n_items", "n_raters", "n_missing", "n_left_out", "n_undefined")
        return [found | {name: getattr(self, name) for name in names}]

    def __str__(self) -> str:
        if self.score is None:
            return f"{self.coefficient} undefined: {self.reason}"
        more = f", no interval: {self.no_interval}" if self.no_interval else ""
        return f"{self.coefficient} {with_interval(self.score, self.interval)}{more}"

    def plot(self, *, ax: plt.Axes | None = None) -> plt.Axes:
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
    wanted = "a list with a rating for each item"
    own, other = _as_list(first, "first", wanted), _as_list(second, "second", wanted)
    if len(own) != len(other) or not own:
        raise ValueError(f"first and second must pair up, not hold {len(own)} and {len(other)} ratings")
    name = require_option(weights, "weights", ("linear", "quadratic")) if isinstance(weights, str) else "own"
    ratings = code_ratings(list(zip(own, other, strict=True)), categories)
    kept = ratings.codes[(ratings.codes >= 0).all(axis=1)]
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
    alike = "all ratings are the same, so that chance could not disagree"
    reason = alike if kept else "no item has two ratings that could be compared"
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
    """Return 1 - observed / expected with both, its interval and its resamples; undefined where nothing is expected."""
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
    if isinstance(weights, str):
        if not ratings.ordered:
            order = "categories=['bad', 'fair', 'good']"
            raise ValueError(f"weights={weights!r} needs ratings with an order: {order}")
        steps = np.abs(np.subtract.outer(ratings.positions, ratings.positions))
        return steps if weights == "linear" else steps**2
    with suppress(TypeError, ValueError, OverflowError):
        table: np.ndarray = np.array(weights, dtype=float)
        if (
            table.shape == (size, size)
            and np.isfinite(table).all()
            and not ((table < 0).any() or table.diagonal().any())
        ):
            return table
    wanted = "None, 'linear', 'quadratic' or a table of finite numbers with a row and a column for each of the"
    raise ValueError(
        f"weights must be {wanted} {size} categories: how bad a disagreement is, 0 on the diagonal and nowhere below "
        f"0, not {weights!r:.60}"
    )


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
    """Return ratings of a file: empty, NA, N/A and nan are missing, and texts are numbers where all of them are."""
    table = [[None if is_unrated(value) else value for value in row] for row in rows]
    try:
        return [[float(value) if isinstance(value, str) else value for value in row] for row in table]
    except ValueError:
        return table


def rating_grids(
    rows: Sequence[JsonDict], *columns: str, article: str = "article", system: str = "system"
) -> list[Sequence[Any]]:
    """Return the ratings of each column by article and system, None without a row; lists where no system is named."""
    several = any(system in row for row in rows)
    if several and (lost := [name for name in (article, system) if any(name not in row for row in rows)]):
        raise ValueError(f"a row has no {lost[0]!r}")
    places = [(row.get(article, place), row.get(system)) for place, row in enumerate(rows)]
    cells = dict(zip(places, read_ratings([[row[name] for name in columns] for row in rows]), strict=True))
    if len(cells) < len(places):
        ((first, other), _), *_ = Counter(places).most_common(1)
        where = f"system {other!r}" if several else f"no column {system!r}"
        raise ValueError(f"two rows for article {first!r} and {where}")
    if not several:
        return list(zip(*cells.values(), strict=True))
    articles, systems = (list(dict.fromkeys(names)) for names in zip(*cells, strict=True))
    none = [None] * len(columns)
    return [[[cells.get((a, s), none)[k] for s in systems] for a in articles] for k in range(len(columns))]


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
    sums = {sum(row) if all(type(v) is float and v >= 0 for v in row) else None for row in table}  # type: ignore[arg-type]
    if len(table) > 2 < len(table[0]) and len(sums) == 1 and sums.isdisjoint({None, 0.0, 1.0}) and 0.0 in every:
        told = f"every row of ratings adds up to {sums.pop():g}, as a table of counts per category does"
        remedy = "a row has one rating for each rater: repeat each category as often as it was given"
        warnings.warn(f"{told}: {remedy}", InputWarning, stacklevel=callers_level())
    known = sorted(set(every))
    if categories is not None:
        given = enumerate(_as_list(categories, "categories", "a list of the possible ratings"))
        named = [_label(category, f"categories[{n}]") for n, category in given]
        known = [category for category in dict.fromkeys(named) if category is not None]
        if not known or len(known) < len(named):
            raise ValueError(f"categories must be distinct ratings, such as ['bad', 'fair', 'good'], not {named!r:.60}")
    for category in dict.fromkeys(every):
        if category not in known or kinds != [kind(known[0])]:
            raise ValueError(f"the rating {category!r:.40} is not among the categories {known!r:.60}")
    numeric = bool(known) and kind(known[0]) == "numbers"
    place: dict[Label | None, int] = {category: number for number, category in enumerate(known)} | {None: -1}
    codes = np.array([[place[category] for category in row] for row in table], dtype=np.int64)
    shown = tuple(int(c) if numeric and c == int(c) else c for c in known)
    return CodedRatings(codes, shown, numeric, numeric or categories is not None)


# A judge's share, corrected by labels

MIN_LABELS = 30
SCOPES = ("population", "table")
VERDICTS = ("probability", "verdict", "score", "supported")  # columns that hold one
LABEL_COLUMNS = ("label", "who", "when")
# what people said: a mapping, a table with `id` and `label`, or a CSV's path
Labels: TypeAlias = Mapping[Any, Any] | Table | str | PathLike[str]
Judged: TypeAlias = ScoreTable[Any] | Table  # a judge's table


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CorrectedScore(Score):
    """A share of right items, or the difference of two, with its interval.

    Parameters
    ----------
    score : float
        The corrected share, in [0, 1], or a difference of shares in [-1, 1].
    interval, labels_interval : (float, float)
        Its interval, and that of the labels alone.
    confidence : float
        The share of such intervals that contain the true value.
    raw, labels_mean : float
        The mean of the judge over all items, and of people over the labelled ones.
    weight : float
        How much the judge counts; near 0 for a judge that knows nothing.
    worth : float or None
        So many labels alone would have this variance; None if everything is labelled.
    tpr, fpr, rogan_gladen : float or None
        The judge's two rates on labelled items, with a yes from 0.5 upwards, and the share that follows from them;
        None for a difference.
    n_items, n_labels, n_left_out : int
        Items with a verdict, labels among them, and items without a verdict.
    """

    interval: tuple[float, float]
    labels_interval: tuple[float, float]
    confidence: float
    raw: float
    labels_mean: float
    weight: float
    worth: float | None
    tpr: float | None
    fpr: float | None
    rogan_gladen: float | None
    n_items: int
    n_labels: int
    n_left_out: int
    more: ClassVar = ("weight", "worth", "tpr", "fpr", "n_items", "n_labels", "n_left_out")

    def rows(self) -> list[JsonDict]:
        """Return what one may publish: raw, labels alone, Rogan-Gladen, corrected."""
        parts = [
            ("raw verdicts", self.raw, None, None),
            ("labels alone", self.labels_mean, *self.labels_interval),
            ("Rogan-Gladen", self.rogan_gladen, None, None),
            ("corrected", self.score, *self.interval),
        ]
        return [dict(zip(("estimate", "score", "low", "high"), part, strict=True)) for part in parts]

    def __str__(self) -> str:
        low, high = self.interval
        worth = "all" if self.worth is None else f"{self.worth:.0f}"
        left = f", {self.n_left_out} without a verdict" if self.n_left_out else ""
        return (
            f"{self.score:.3f} ({self.confidence:.0%} interval {low:.3f} to {high:.3f}); raw {self.raw:.3f}, labels "
            f"alone {self.labels_mean:.3f}\n{self.n_labels} labels of {self.n_items} items{left}; weight of the judge "
            f"{self.weight:.2f}, together worth {worth} labels"
        )


def correct_score(
    table: Judged,
    labels: Labels,
    *,
    other: tuple[Any, Any] | None = None,
    verdict: str | None = None,
    confidence: float = 0.95,
    scope: str = "population",
) -> CorrectedScore:
    """Return the share of right items from a judge's verdicts and some labels.

    The labelled items must be drawn at random, as `draw_items` does.

    Parameters
    ----------
    table : table of results, DataFrame, list of dicts or dict of columns
        The judge's verdict or probability for each item, from 0 to 1.
    labels : mapping, table with `id` and `label`, or path of a CSV
        Yes or no of people for at least 30 items; an empty label is none yet.
    other : (table, labels), optional
        A second system on the same items: the result is the first minus the second.
    verdict : str, optional
        The column with the verdict, where it has another name.
    confidence : float
        The share of such intervals that should contain the true value.
    scope : {"population", "table"}
        Of which items the share is: of all that such items could be, as in the paper, or of the table's own.

    Returns
    -------
    CorrectedScore
        The share with its interval, the judge's weight and what stands beside it.

    Raises
    ------
    TypeError, ValueError
        If the table has no verdicts from 0 to 1, or labels are of unknown items, of one class only or too few; the
        message says how many are missing.

    References
    ----------
    Angelopoulos, Duchi and Zrnic 2023, PPI++: Efficient Prediction-Powered Inference.

    Examples
    --------
    >>> judge = {"id": range(200), "verdict": [i % 4 > 0 for i in range(200)]}
    >>> found = correct_score(judge, {i: i % 5 > 0 for i in range(0, 200, 3)})
    >>> found.n_labels, found.interval[0] < 0.8 < found.interval[1]
    (67, True)
    """
    require_option(scope, "scope", SCOPES)
    require_inner_share(confidence, "confidence")
    judged, left_out = read_verdicts(table, verdict)
    said = _joined(judged, read_labels(labels), left_out)
    if other is not None:
        if not isinstance(other, tuple) or len(other) != 2:
            raise TypeError("other must be a tuple: the second table and its labels")
        judged_b, left_b = read_verdicts(other[0], verdict)
        if judged.keys() | left_out != judged_b.keys() | left_b:
            raise ValueError("the two tables must have the same items, with the same ids")
        said_b = _joined(judged_b, read_labels(other[1]), left_b)
        judged = {i: f - judged_b[i] for i, f in judged.items() if i in judged_b}
        said = {i: y - said_b[i] for i, y in said.items() if i in said_b}
        left_out |= left_b
    if (missing := MIN_LABELS - len(said)) > 0:
        needed = f"the interval needs {MIN_LABELS}, {missing} are missing"
        raise ValueError(f"{len(said)} labels of {len(judged)} items with a verdict are too few: {needed}")
    if len(every := set(said.values())) < 2:
        only = every.pop()
        kind = f"labels are {'yes' if only else 'no'}" if other is None else f"differences are {only:g}"
        raise ValueError(f"all {len(said)} {kind}: at least one of the other kind is missing; draw more items")
    y, f = np.array(list(said.values())), np.array([judged[i] for i in said])
    rest = np.array([value for i, value in judged.items() if i not in said])
    return corrected(y, f, rest, confidence, scope, other is not None, len(left_out))


def corrected(
    y: np.ndarray,
    f: np.ndarray,
    rest: np.ndarray,
    confidence: float = 0.95,
    scope: str = "population",
    paired: bool = False,
    left_out: int = 0,
) -> CorrectedScore:
    """Return what `correct_score` returns, from the arrays of `power_tuned`."""
    n, found = len(y), power_tuned(y, f, rest, scope)
    alone, spread, mean = found.label_variance, found.spread, float(y.mean())
    interval = _interval(found.estimate, found.variance, spread, t_quantile(confidence, n - 2), paired)
    plain = _interval(mean, alone, spread, t_quantile(confidence, n - 1), paired)
    if not len(rest) or interval[1] - interval[0] > 1.05 * (plain[1] - plain[0]):
        found, interval = Tuned(mean, 0.0, alone, alone, spread), plain
    everything = np.concatenate([f, rest])
    rates: JsonDict = dict.fromkeys(("tpr", "fpr", "rogan_gladen"))
    if not paired:
        rates |= {name: float((f[y == side] >= 0.5).mean()) for name, side in (("tpr", 1), ("fpr", 0))}
        rates["rogan_gladen"] = rogan_gladen(float((everything >= 0.5).mean()), rates["tpr"], rates["fpr"])
    parts: JsonDict = {"metric": "corrected", "method": "ppi++", "scope": scope, "confidence": confidence}
    return CorrectedScore(
        score=min(1.0, max(-1.0 if paired else 0.0, found.estimate)),
        signature=Signature(parts | {"labels": n, "items": len(everything), "difference": paired}),
        interval=interval,
        labels_interval=plain,
        confidence=confidence,
        raw=float(everything.mean()),
        labels_mean=mean,
        weight=found.weight,
        worth=spread / found.variance if found.variance else None,
        **rates,
        n_items=len(everything),
        n_labels=n,
        n_left_out=left_out,
    )


def _interval(estimate: float, variance: float, spread: float, t: float, paired: bool) -> tuple[float, float]:
    if paired:
        half = t * math.sqrt(variance)
        return max(-1.0, estimate - half), min(1.0, estimate + half)
    return share_interval(estimate, spread / variance if variance else math.inf, t)


def labels_needed(
    table: Judged,
    width: float = 0.1,
    *,
    labels: Labels | None = None,
    verdict: str | None = None,
    confidence: float = 0.95,
    scope: str = "population",
) -> int:
    """Return how many labels in all give an interval of this width.

    Parameters
    ----------
    table : table of results, DataFrame, list of dicts or dict of columns
        The judge's table, as for `correct_score`.
    width : float
        From the interval's lower to its upper end, between 0 and 1.
    labels : mapping, table or path, optional
        The first labels, at least 30; without them the worst case.
    verdict, confidence, scope
        As for `correct_score`.

    Returns
    -------
    int
        The number of labels, at least 30.

    Raises
    ------
    TypeError, ValueError
        As for `correct_score`, or if all items together are too few.

    Examples
    --------
    >>> labels_needed({"score": [0, 1] * 500}, width=0.2)
    95
    """
    require_inner_share(width, "width")
    require_inner_share(confidence, "confidence")
    require_option(scope, "scope", SCOPES)
    total, share, spread, useless = len(read_verdicts(table, verdict)[0]), 0.5, 0.25, 1.0
    if labels is not None:
        first = correct_score(table, labels, scope="table", verdict=verdict, confidence=confidence)
        share, spread = float(first), first.labels_mean * (1 - first.labels_mean)
        if first.worth is not None:  # the part of the variance that the judge leaves
            useless = min(1.0, first.n_labels / (1 - first.n_labels / total) / first.worth)

    def wide(n: int) -> float:
        variance = spread * useless * (1 / n - 1 / total) + (spread / total if scope == "population" else 0.0)
        low, high = _interval(share, variance, spread, t_quantile(confidence, n - 2), paired=False)
        return high - low

    if total < MIN_LABELS or wide(total) > width:
        reached = f"; all of them give {wide(total):.3f}" if total > 2 else ""
        remedy = "bring more items or ask for a wider interval"
        raise ValueError(f"{total} items are too few for {width}{reached}: {remedy}")
    return bisect_left(range(total + 1), True, lo=MIN_LABELS, key=lambda n: wide(n) <= width)


def draw_items(
    table: Judged, n: int, seed: int = 0, *, path: str | PathLike[str] | None = None, verdict: str | None = None
) -> list[JsonDict]:
    """Draw items at random for people to label, and write them as a CSV.

    Parameters
    ----------
    table : table of results, DataFrame, list of dicts or dict of columns
        The judge's table, as for `correct_score`. Its other columns are written, too.
    n : int
        How many items, at least 1 and at most all that have a verdict.
    seed : int
        The same seed gives the same order; a larger n continues it.
    path : path, optional
        The CSV. If it exists, its labels are kept; `.NAME.lock` beside it guards it.
    verdict : str, optional
        The column with the verdict; it is not written.

    Returns
    -------
    list of dict
        One for each item: id, what is to be read, label, who and when. An item that several people labelled has one
        for each of them.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than n items, or the file holds other items.

    Examples
    --------
    >>> judge = {"id": ["a", "b", "c"], "text": ["A.", "B.", "C."], "score": [1, 0, 1]}
    >>> [item["id"] for item in draw_items(judge, 2)], [*draw_items(judge, 1)[0]]
    (['c', 'a'], ['id', 'text', 'label', 'who', 'when'])
    """
    names = list(read_verdicts(table, verdict)[0])
    if require_count(n, "n") > len(names):
        missing = n - len(names)
        raise ValueError(f"n={n}, but only {len(names)} items have a verdict: {missing} are missing")
    rng = np.random.default_rng(require_count(seed, "seed", minimum=0))
    drawn = [names[place] for place in rng.permutation(len(names))[:n]]
    shown = _shown(table, verdict, drawn)
    with _locked(path):
        known = {} if path is None or not require_path(path).exists() else drawn_items(path)
        if lost := [i for i, rows in known.items() if i not in shown or not _one_text(rows[0], shown[i])]:
            more = f"{len(lost)} items that this drawing has not, or other texts, such as {short_repr(lost[0])}"
            remedy = "take the seed and an n of the first drawing, or another path"
            raise ValueError(f"{path} holds {more}: {remedy}")
        found = [
            {"id": name, **shown[name], **{key: row.get(key, "") for key in LABEL_COLUMNS}}
            for name in drawn
            for row in known.get(name, [{}])
        ]
        if path is not None:
            _write_csv(path, found)
    return found


def record_label(path: str | PathLike[str], item: str, label: bool | str, who: str) -> None:
    """Write one label into the CSV of `draw_items`, with who gave it and when (UTC).

    Parameters
    ----------
    path : path
        The CSV; it is written whole or not at all, by one process at a time.
    item : str
        The id of a drawn item.
    label : bool or str
        Yes or no.
    who : str
        Who says so. A second label of the same person takes the place of the first, and one of somebody else gets a row
        of its own.

    Raises
    ------
    TypeError, ValueError
        If the file has no such item, or the label is neither yes nor no.
    """
    said = "yes" if _as_label(label, str(item)) else "no"
    who = plain_cell(require_text(who, "who").strip())
    when = datetime.now(UTC).isoformat(timespec="seconds")
    with _locked(path):
        rows = read_drawn(path)
        same = [row for row in rows if row["id"] == str(item)]
        if not same:
            raise ValueError(f"{path} holds no item {short_repr(str(item))}")
        mine = [row for row in same if row.get("who") == who] or [row for row in same if is_missing(row["label"])]
        if not mine:
            mine = [dict(same[-1])]
            rows.insert(rows.index(same[-1]) + 1, mine[0])
        mine[0].update(label=said, who=who, when=when)
        _write_csv(path, rows)


def _shown(table: Judged, verdict: str | None, drawn: list[str]) -> dict[str, JsonDict]:
    """What a person reads of each drawn item: no verdict, texts without formulas."""
    found, wanted = {}, set(drawn)
    hidden = {"id", *LABEL_COLUMNS, *VERDICTS, verdict}
    for place, (name, row) in enumerate(_table_items(table)):
        if name not in wanted:
            continue
        if isinstance(table, ScoreTable) and table.sentence_columns:
            parts = table.sentence_rows(place)
            quotes = dict.fromkeys(str(quote) for part in parts for quote in part.get("quotes") or ())
            text = " ".join(str(part.get("text", "")) for part in parts)
            row = {"text": text, "evidence": " / ".join(quotes)}
        found[name] = {str(key): plain_cell(value) for key, value in row.items() if str(key) not in hidden}
    return found


def _one_text(file: Mapping[str, Any], shown: Mapping[str, Any]) -> bool:
    """Whether both show the same item; a spreadsheet may change its numbers."""
    words = [k for k, v in shown.items() if k in file and any(map(str.isalpha, v))]
    bare = [["".join(row[k].lower().split()) for k in words] for row in (file, shown)]
    return bare[0] == bare[1]


def _locked(path: str | PathLike[str] | None) -> AbstractContextManager[object]:
    """Let no other process write a file of labels meanwhile."""
    from filelock import FileLock

    file = None if path is None else require_path(path)
    if file is None or not file.is_file():
        return nullcontext()
    return FileLock(file.with_name(f".{file.name}.lock"), timeout=60)


def _write_csv(path: str | PathLike[str], rows: list[JsonDict]) -> None:
    for row in rows:
        if row["id"][:1] in tuple("=+@"):
            raise ValueError(f"the id {row['id']!r} begins with {row['id'][0]!r}: a spreadsheet would run it")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    columns.sort(key=lambda name: name in LABEL_COLUMNS)
    write_whole(path, csv_text(rows, columns))


def read_drawn(path: str | PathLike[str]) -> list[dict[str, Any]]:
    """Return the rows of a CSV of `draw_items`, as people or a spreadsheet left it."""
    file = require_path(path)
    if not file.is_file():
        raise ValueError(f"there is no file {path}: draw_items(table, n, path=) writes it")
    csv.field_size_limit(2**31 - 1)
    try:
        text = file.read_bytes().decode("utf-8-sig")
        sign = max(",;\t", key=text.partition("\n")[0].count)
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=sign, restval="", strict=True)
        require_once(reader.fieldnames or (), str(path))
        rows = list(reader)
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8: save it as CSV UTF-8") from None
    except csv.Error as error:
        raise ValueError(f"{path} cannot be read as CSV: {error}") from None
    if not rows or not {"id", "label"} <= rows[0].keys():
        raise ValueError(f"{path} has no rows with the columns 'id' and 'label'")
    return [{key: row[key] for key in row if key is not None} for row in rows]


def drawn_items(path: str | PathLike[str]) -> dict[str, list[JsonDict]]:
    """Return the rows of `read_drawn` by item: one for each person who labelled it."""
    found: dict[str, list[JsonDict]] = {}
    for row in read_drawn(path):
        found.setdefault(row["id"], []).append(row)
    return found


# Labels and verdicts of any form, by id


def beside_texts(rows: Iterable[JsonDict], texts: Iterable[JsonDict] | None = None) -> list[JsonDict]:
    """Return rows with verdicts beside the texts with the same ids; of a run, nothing that the judge thought."""
    known, found = {str(row.get("id", place)): row for place, row in enumerate(texts or ())}, []
    for place, row in enumerate(rows):
        if "parts" in row and "status" in row:
            row = {key: row[key] for key in ("id", "score") if row.get(key) is not None or key == "score"}
        key = str(row.get("id", place))
        if texts is not None and key not in known:
            raise ValueError(f"the table has no text for item {key!r}: its ids must be those of the verdicts")
        found.append(known.get(key, {}) | row)
    return found


def read_labels(labels: Labels, who: str | None = None) -> dict[str, float]:
    """Return labels by id, 1 for yes and 0 for no; what is not yet labelled is out.

    Parameters
    ----------
    labels : mapping, table with `id` and `label`, or path of a CSV
        Yes or no (y, n, true, false, 1, 0) of people; an empty label is none yet.
    who : str, optional
        Take the labels of this person only, by the column `who`.

    Returns
    -------
    dict
        Id to 1.0 or 0.0, as `correct_score` takes it.

    Raises
    ------
    ValueError
        If a label is neither yes nor no, a person labels an item twice, or two people disagree and `who` does not
        choose one.

    Examples
    --------
    >>> ada = {"id": 1, "label": "yes", "who": "Ada"}
    >>> read_labels([ada, ada | {"label": "no", "who": "Bo"}], who="Bo")
    {'1': 0.0}
    """
    given: Any = labels
    if isinstance(given, (str, PathLike)):
        given = read_drawn(given)
    elif hasattr(given, "to_dict") and not hasattr(given, "columns"):
        given = given.to_dict()  # a Series, by its index
    if isinstance(given, Mapping) and not ("id" in given and "label" in given):
        given = [{"id": item, "label": label} for item, label in given.items()]
    people: dict[str, list[tuple[str, Any]]] = {}
    for row in table_rows(given):
        if not {"id", "label"} <= row.keys():
            raise ValueError(f"labels need the columns 'id' and 'label'; there is: {', '.join(map(str, row))}")
        by = "" if is_missing(row.get("who")) else str(row["who"]).strip()
        people.setdefault(by, []).append((_name(row["id"]), row["label"]))
    said = {
        by: {i: _as_label(v, i) for i, v in _named(pairs, "labels").items() if not is_missing(v)}
        for by, pairs in people.items()
    }
    if who is not None:
        return said[require_option(who, "who", said)]
    found: dict[str, float] = {}
    for by, theirs in said.items():
        if other := [i for i in theirs if found.get(i, theirs[i]) != theirs[i]]:
            more = f"{len(other)} items than another, such as {other[0]!r}, differently"
            raise ValueError(f"{by or 'somebody'} labels {more}: settle it, or take one person's labels (who)")
        found |= theirs
    return found


def read_verdicts(table: Judged, verdict: str | None = None) -> tuple[dict[str, float], set[str]]:
    """Return verdicts by id, each in [0, 1], and the ids of items that have none."""
    pairs, wanted = [], VERDICTS if verdict is None else (verdict,)
    for name, row in _table_items(table):
        if not (there := [column for column in wanted if column in row]):
            said = f"no column {' or '.join(wanted)}; there is: {', '.join(map(str, row))}"
            raise ValueError(f"{said}; name verdict=")
        pairs.append((name, row[there[0]]))
    named = _named(pairs, "the table")
    found = {i: _as_share(v, i) for i, v in named.items() if not is_missing(v)}
    if not found:
        raise ValueError(f"none of {len(named)} items has a verdict: judge them first")
    return found, named.keys() - found.keys()


def _as_label(value: object, item: str) -> float:
    """1 for yes and 0 for no."""
    text = str(value).strip().lower()
    for number, words in ((1.0, "yes y true 1 1.0"), (0.0, "no n false 0 0.0")):
        if text in words.split():
            return number
    raise ValueError(f"the label of item {item!r} is {short_repr(value)}: say yes or no")


def _as_share(value: object, item: str) -> float:
    number = float(value) if isinstance(value, (bool, np.bool_)) else value
    if isinstance(value, str):  # a cell of a CSV
        with suppress(ValueError):
            number = _as_label(value, item)
        with suppress(ValueError):
            number = float(value)
    try:
        return require_share(number, f"the verdict of item {item!r}")
    except TypeError as error:
        raise TypeError(f"{error}: name the column with verdict=") from error


def _name(value: object) -> str:
    """An id as a CSV would hold it."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value).strip()


def _named(pairs: list[tuple[str, Any]], what: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if not name or name in found:
            problem = "stands there twice" if name else "is empty"
            raise ValueError(f"{what}: the id {name!r} {problem}; give every item its own")
        found[name] = value
    return found


def _table_items(table: Judged) -> list[tuple[str, Mapping[Any, Any]]]:
    given: Any = table
    if isinstance(given, ScoreTable):
        names = range(len(given)) if given.index is None else given.index
        values = [None if math.isnan(v) else v for v in given.scores.tolist()]
        return [(_name(i), {"score": v}) for i, v in zip(names, values, strict=True)]
    rows = table_rows(given)
    index = getattr(given, "index", None) if hasattr(given, "columns") else None
    places = range(len(rows)) if index is None else index
    return [(_name(row.get("id", i)), row) for i, row in zip(places, rows, strict=True)]


def _joined(judged: dict[str, float], said: dict[str, float], left_out: set[str]) -> dict[str, float]:
    """Labels of items with a verdict, which may have failed."""
    if lost := [i for i in said if i not in judged and i not in left_out]:
        some = ", ".join(map(repr, lost[:3]))
        what = f"{len(lost)} of {len(said)} labels are of items that the table has not, such as {some}"
        raise ValueError(f"{what}: take the ids of draw_items")
    return {i: y for i, y in said.items() if i in judged}


class Labelling:
    """Drawn items with buttons, as `label_items` returns them: `widget`, its `buttons` by name, and the `place`."""

    def __init__(self, path: str | PathLike[str], who: str, question: str) -> None:
        widgets: Any = require_module("ipywidgets", "lab")
        self.path, self.who = path, plain_cell(require_text(who, "who").strip())
        if not self.who:
            raise ValueError("who is empty: say whose labels these are")
        self._question, self._problem = require_text(question, "question"), ""
        self._items = [*drawn_items(path).values()]
        wide, names = widgets.Layout(width="6rem"), ("Yes", "No", "Skip", "Back")
        self.place = self._next(0)
        self.buttons = {name: widgets.Button(description=name, layout=wide) for name in names}
        for name, button in self.buttons.items():
            button.on_click(partial(self._clicked, name))
        row = widgets.HBox([*self.buttons.values()], layout=widgets.Layout(flex_flow="row wrap"))
        self._view = widgets.HTML(layout=widgets.Layout(width="auto", min_width="0"))
        self.widget: Any = widgets.VBox([row, self._view])
        self._draw()

    def _own(self, rows: list[JsonDict]) -> str:
        return next((row["label"] for row in rows if row.get("who") == self.who and not is_missing(row["label"])), "")

    def _next(self, start: int) -> int:
        """The first place from `start` on without a label of this person."""
        waiting = (place for place, rows in enumerate(self._items[start:], start) if not self._own(rows))
        return next(waiting, len(self._items))

    def _clicked(self, name: str, _: object = None) -> None:
        self._problem = ""
        try:  # Jupyter hides what a button raises
            if name in ("Yes", "No"):
                record_label(self.path, self._items[self.place][0]["id"], name, self.who)
                self._items = [*drawn_items(self.path).values()]
            self.place = self.place - 1 if name == "Back" else self._next(self.place + 1)
        except (OSError, ValueError, RuntimeError) as error:
            self._problem = str(error)
        self._draw()

    def _draw(self) -> None:
        self._view.value = self._repr_html_()
        for name, button in self.buttons.items():
            button.disabled = self.place == 0 if name == "Back" else self.place >= len(self._items)

    def __repr__(self) -> str:
        total, done = len(self._items), sum(bool(self._own(rows)) for rows in self._items)
        if self.place >= total:
            more = f"; {total - done} have none, call label_items again for them" if done < total else ""
            return f"The end: {done} of {total} labelled by {self.who}{more}"
        own = self._own(self._items[self.place])
        return f"{self.place + 1} of {total}, {done} labelled by {self.who}" + (f"; this one: {own}" if own else "")

    def _repr_html_(self) -> str:
        shown = []
        for name, text in self._items[self.place][0].items() if self.place < len(self._items) else ():
            if name not in ("id", *LABEL_COLUMNS, *VERDICTS) and not is_missing(text):
                guarded = text[:1] == "'" and plain_cell(text[1:]) == text  # for spreadsheets only
                shown.append((name, text[1:] if guarded else text))
        words = {"question": self._question, "status": repr(self), "problem": self._problem}
        return render("label.html", **words, shown=shown)

    def _repr_mimebundle_(self, **kwargs: object) -> JsonDict:
        moving = self.widget._repr_mimebundle_(**kwargs)
        return {**moving, "text/plain": repr(self), "text/html": self._repr_html_()}


def label_items(path: str | PathLike[str], who: str, *, question: str = "Is it right?") -> Labelling:
    """Show drawn items one at a time in Jupyter, and keep a yes or no for each.

    The judge's verdict is not shown, because who sees it tends to agree with it. Each label is written at once, with
    who gave it and when (UTC). Called again, it goes on at the first item without a label of this person.

    Parameters
    ----------
    path : path
        The CSV that `draw_items` wrote. `correct_score` takes it.
    who : str
        Whose labels these are. Several people may label one file; `read_labels(path, who)` tells them apart.
    question : str
        What yes and no answer.

    Returns
    -------
    Labelling
        Its buttons are Yes, No, Skip (no label) and Back (label again, the last label counts).

    Raises
    ------
    ImportError
        Without ipywidgets. Write yes or no into the CSV instead.
    TypeError, ValueError
        If there is no such CSV, or who or the question is no text.

    Examples
    --------
    >>> import tempfile
    >>> from summeval_nb.agreement import draw_items
    >>> path = tempfile.mkdtemp() + "/to_label.csv"
    >>> drawn = draw_items({"text": ["It rained.", "It snowed."], "score": [1, 0]}, 2, path=path)
    >>> items = label_items(path, who="Ada")
    >>> items.buttons["Yes"].click()
    >>> items
    2 of 2, 1 labelled by Ada
    """
    return Labelling(path, who, question)
