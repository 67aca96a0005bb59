"""How metrics go with people: correlations with intervals, tests of two metrics, ranks of several, pairs decided right.

Chapter 63 has the definitions of the coefficients (`coefficients`), chapter 65 those of the tests (`permutation`). Here
is what stands around them: tables of scores checked, all resamples and permutations at once, the results in words and
as pictures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from summeval_nb.agreement.coefficients import (
    COEFFICIENTS,
    LEVELS,
    RESAMPLE,
    by_row,
    cosine,
    level_correlations,
    resample_weights,
    system_means,
    tied,
    weighted,
)
from summeval_nb.agreement.permutation import (
    CORRECTIONS,
    accuracy_by_threshold,
    adjust_p_values,
    compared_pairs,
    p_value_of,
    random_swaps,
    rank_metrics,
)
from summeval_nb.core.base import JsonDict, float_array, plt, refuse_lazy, require_count, require_option, require_share
from summeval_nb.core.files import is_unrated
from summeval_nb.core.html import axes_for
from summeval_nb.core.resampling import Resampling, middle
from summeval_nb.core.results import Rows, Score, ScoreTable, Signature

__all__ = ["compare_metrics", "correlate", "Correlation", "Grid", "MetricComparisons", "paired_test", "PairedTest"]
__all__ += ["pairwise_accuracy", "PairwiseAccuracy"]

# a row an article, a column a system, None where a value is missing; in quotes, for pages would spell it out
Grid: TypeAlias = ArrayLike | Sequence[Sequence[float | None]]
Interval: TypeAlias = tuple[float, float] | None
ALTERNATIVES = ("two-sided", "greater", "less")
PERMUTE = ("each", "articles", "systems", "jointly")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Correlation(Score):
    """A metric's correlation with human judgement, its interval and what was left out.

    Parameters
    ----------
    score : float or None
        The correlation in [-1, 1]; None, with a reason, where it is undefined.
    level, coefficient : str
        The level that was correlated, and the coefficient.
    interval : (float, float) or None
        Ends of the percentile bootstrap interval; None where none was asked for, and with `no_interval` where fewer
        than half of the resamples have a value or all of them the same.
    confidence : float
        Share of resamples inside the interval.
    no_interval : str
        Why the resamples give no interval; else empty.
    per_article : tuple of float or None
        At the summary level, each article's correlation; None for skipped ones.
    n_articles, n_systems : int
        Shape of the tables.
    n_skipped : int
        At the summary level, articles without a correlation, because one side is constant or fewer than two cells
        are present. At the system level, systems without a cell that both tables have.
    n_missing : int
        Cells left out because either table lacks them.
    n_undefined : int
        Resamples without a value.
    resamples : numpy.ndarray
        The correlation in each resample that has one.
    """

    level: str
    coefficient: str
    interval: Interval
    confidence: float
    no_interval: str = ""
    per_article: tuple[float | None, ...]
    n_articles: int
    n_systems: int
    n_skipped: int
    n_missing: int
    n_undefined: int
    resamples: np.ndarray
    more: ClassVar = ("interval", "no_interval", "left_out", "per_article")

    def rows(self) -> list[JsonDict]:
        """Return one row with the number, its interval and the counts."""
        low, high = self.interval or (None, None)
        found = {"level": self.level, "coefficient": self.coefficient, "score": self.score, "low": low, "high": high}
        names = ("n_articles", "n_systems", "n_skipped", "n_missing", "n_undefined")
        return [found | {name: getattr(self, name) for name in names}]

    @property
    def left_out(self) -> str:
        """What the number is not of, and why, in words; "" where there is nothing."""
        of = {"summary": f"{self.n_articles} articles", "system": f"{self.n_systems} systems"}.get(self.level, "")
        why = "one side is constant, or fewer than two cells are present"
        parts = [(self.n_skipped, of, "no cell is present" if self.level == "system" else why)]
        cells = f"{self.n_articles * self.n_systems} {'pairs' if self.n_systems == 1 else 'cells'}"
        parts.append((self.n_missing, cells, "a score or a rating is missing"))
        drawn = self.n_undefined + self.resamples.size
        if self.n_undefined > 0.05 * drawn:  # fewer do not move the interval
            parts.append((self.n_undefined, f"{drawn} resamples", "they have no correlation"))
        return "; ".join(f"{n} of {of} ({why})" for n, of, why in parts if n)

    @property
    def _title(self) -> str:
        return with_interval(self.score, self.interval) if self.score is not None else f"undefined: {self.reason}"

    def __str__(self) -> str:
        more = f", no interval: {self.no_interval}" if self.no_interval else ""
        more += f"; left out: {self.left_out}" if self.left_out else ""
        return f"{self.level}-level {self.coefficient} {self._title}{more}"

    def __repr__(self) -> str:
        return f"Correlation({self}, signature={str(self.signature)!r})"

    def plot(self, *, ax: plt.Axes | None = None) -> plt.Axes:
        """Draw the resamples as a histogram, with the estimate and the interval."""
        title, label = f"{self.level}-level {self._title}", f"{self.coefficient} in a resample"
        return histogram(self.resamples, self.score, self.interval, title, label, ax)


def correlate(
    metric: Grid,
    human: Grid,
    *,
    level: str | None = None,
    coefficient: str = "kendall",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    resample: str = "both",
    seed: int = 0,
) -> Correlation:
    """Correlate a metric with human judgement, with a bootstrap interval.

    Parameters
    ----------
    metric, human : array_like, (articles, systems) or (texts,)
        Scores of the same summaries: two tables, or two lists, Series or tables of scores with a number a text. None
        or NaN cells are left out pairwise and counted.
    level : {"summary", "system", "pooled"}, optional
        One correlation per article, averaged (articles where either side is constant are skipped and counted); one
        correlation of the systems' means; or all cells at once. By default pooled where there is one number a text or
        one system, else summary. Means within 1e-12 of the greatest value of each other are tied; single cells only
        where they are equal.
    coefficient : {"kendall", "spearman", "pearson"}
        Kendall's tau-b, Spearman's rho or Pearson's r.
    confidence : float
        Share of resamples inside the interval, in (0, 1).
    n_resamples : int
        Number of bootstrap resamples; 0 for no interval.
    resample : {"both", "articles", "systems"}
        What is drawn with replacement.
    seed : int
        The same seed draws the same articles and systems for every metric.

    Raises
    ------
    TypeError, ValueError
        If a table is not one of finite numbers, the shapes or the indexes of two Series differ, the level needs tables
        and got lists, or an option is unknown.

    References
    ----------
    Deutsch, Dror and Roth 2021, A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods,
    TACL 9, 1132-1146.

    Examples
    --------
    >>> human = [[1, 2, 3, 4, 5], [5, 5, 5, 5, 5]]
    >>> result = correlate(metric=[[2, 1, 4, 3, 15], [1, 2, 3, 4, 5]], human=human, n_resamples=0)
    >>> round(result.score, 3), result.n_skipped
    (0.6, 1)
    >>> print(correlate(metric=[1, 2, 4, 3], human=[1, 2, None, 9], n_resamples=0))
    pooled-level kendall 1.000; left out: 1 of 4 pairs (a score or a rating is missing)
    """
    level, (x, y) = require_level(level, metric=metric, human=human)
    require_option(coefficient, "coefficient", COEFFICIENTS)
    require_option(resample, "resample", RESAMPLE)
    Resampling(n_resamples, confidence, seed)
    values = level_correlations(x, y, level, coefficient)
    score, skipped = mean_or_none(values), np.isnan(values)
    missing = np.isnan(x) | np.isnan(y)
    idle = score is None or (resample == "articles" and len(x) == 1)
    draws = resample_weights(x.shape, 0 if idle else n_resamples, resample, seed)
    interval, resamples, why = middle(resampled_correlations(x, y, level, coefficient, draws), confidence)
    choices = {"metric": "correlation", "level": level, "coef": coefficient, "conf": confidence}
    per_article = tuple(None if lost else float(v) for v, lost in zip(values, skipped, strict=True))
    n_skipped = {"summary": int(skipped.sum()), "system": int(missing.all(axis=0).sum())}
    return Correlation(
        score=score,
        reason="" if score is not None else _why_undefined(x, y, level),
        signature=Signature(choices | {"resample": resample, "n": n_resamples, "seed": seed}),
        level=level,
        coefficient=coefficient,
        interval=interval,
        confidence=confidence,
        no_interval=why or "there is one article to draw" * (idle and score is not None and n_resamples > 0),
        per_article=per_article if level == "summary" else (),
        n_articles=x.shape[0],
        n_systems=x.shape[1],
        n_skipped=n_skipped.get(level, 0),
        n_missing=int(missing.sum()),
        n_undefined=len(draws[0]) - resamples.size,
        resamples=resamples,
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PairedTest(Score):
    """The difference of two metrics' correlations with human judgement, tested.

    Parameters
    ----------
    score : float or None
        Correlation of A minus correlation of B.
    a, b : Correlation
        The two correlations, over the cells that all three tables have.
    p_value : float or None
        The largest of `p_values`; None where a correlation is undefined.
    p_values : dict of str to float
        The p-value of each permutation test that was made, by what it swapped.
    interval : (float, float) or None
        Bootstrap interval of the difference. For a one-sided alternative its other end is that of all differences, 2
        or -2. None, with `no_interval`, where the resamples cannot bound it.
    no_interval : str
        Why the resamples give no interval; else empty.
    confidence : float
        Share of resamples inside the interval; the test's level is 1 minus it.
    alternative : str
        "two-sided": A and B differ; "greater": A is better than B; "less": worse.
    null : numpy.ndarray
        The differences after random swaps, in the test with the largest p-value.
    """

    a: Correlation
    b: Correlation
    p_value: float | None
    p_values: dict[str, float]
    interval: Interval
    no_interval: str = ""
    confidence: float
    alternative: str
    null: np.ndarray
    more: ClassVar = ("p_value", "p_values", "interval", "no_interval", "confidence", "alternative", "a", "b")

    def rows(self) -> list[JsonDict]:
        """Return three rows: A, B and their difference with its p-value."""
        names = ("metric", "correlation", "low", "high", "p")
        parts = [(name, side.score, side.interval, None) for name, side in (("A", self.a), ("B", self.b))]
        parts.append(("A - B", self.score, self.interval, self.p_value))  # type: ignore[arg-type]
        return [dict(zip(names, (n, c, *(i or (None, None)), p), strict=True)) for n, c, i, p in parts]

    def to_dict(self) -> JsonDict:
        """Return everything but the resampled values as plain Python data."""
        return super().to_dict() | {"sentence": self.sentence()}

    def plot(self, *, ax: plt.Axes | None = None) -> plt.Axes:
        """Draw the differences after random swaps, and where the observed one lies."""
        title = self.reason if self.p_value is None else f"{self.alternative} p = {self.p_value:.3g}"
        return histogram(self.null, self.score, None, title, "difference after random swaps", ax)

    @property
    def shows_a_difference(self) -> bool:
        """Whether the test, and the interval if there is one, say at `confidence` what was to be shown."""
        if self.p_value is None or self.p_value >= round(1 - self.confidence, 12):
            return False
        return self.interval is None or not self.interval[0] <= 0 <= self.interval[1]

    def sentence(self, names: Sequence[str] = ("A", "B")) -> str:
        """Return what may be said at the test's confidence, with both numbers.

        A difference is claimed where the p-value is below 1 - confidence and no interval holds 0.
        """
        if self.score is None:
            return f"No statement is possible: {self.reason}."
        first, second = names
        up = self.alternative == "greater" or (self.alternative == "two-sided" and self.score > 0)
        claim = f"{first} agrees {'better' if up else 'less'} with people than {second}"
        if not self.shows_a_difference and self.alternative == "two-sided":
            claim = f"Neither {first} nor {second} is shown to agree better with people"
        elif not self.shows_a_difference:
            claim = f"It is not shown that {claim}"
        ends, share = self.interval, f"{100 * self.confidence:g} %"
        interval = f"no interval, for {self.no_interval}"
        if ends is not None:
            interval = {
                "two-sided": f"{share} interval [{ends[0]:.3f}, {ends[1]:.3f}]",
                "greater": f"at least {ends[0]:.3f} at {share} confidence",
                "less": f"at most {ends[1]:.3f} at {share} confidence",
            }[self.alternative]
        side = "two-sided" if self.alternative == "two-sided" else "one-sided"
        numbers = f"{self.a.coefficient} {self.a.score:.3f} against {self.b.score:.3f}"
        numbers += f", difference {self.score:.3f}, {interval}, {side} p = {self.p_value:.3g}"
        lines = left_out_lines({first: self.a, second: self.b})
        said = f"{claim}: {self.a.level}-level {numbers}."
        return " ".join([said, *(f"{line[0].upper()}{line[1:]}." for line in lines)])

    __str__ = sentence


def paired_test(
    metric_a: Grid,
    metric_b: Grid,
    human: Grid,
    *,
    level: str | None = None,
    coefficient: str = "kendall",
    alternative: str = "two-sided",
    permute: str = "each",
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> PairedTest:
    """Test whether two metrics agree differently with people.

    Parameters
    ----------
    metric_a, metric_b, human : array_like, (articles, systems) or (texts,)
        Scores of the same summaries, as in `correlate`. A cell that any table lacks is left out of all.
    level, coefficient, confidence, seed
        As in `correlate`.
    alternative : {"two-sided", "greater", "less"}
        What is to be shown: that A and B differ, that A is better, or that it is worse. Choose a side before looking
        at the data. The interval has the same sides.
    permute : {"each", "articles", "systems", "jointly"}
        What swaps metrics in the permutation test: whole articles, whole systems, each of them in a test of its own
        with the larger p-value counting, or both in one swap (Perm-Both, which raises false alarms when a metric
        favours some systems in every article). A single article or system is not swapped.
    n_resamples : int
        Number of permutations, and of bootstrap resamples for the intervals; at least 1.

    References
    ----------
    Deutsch, Dror and Roth 2021, TACL 9, 1132-1146 (permutation of articles, systems and both; Boot-Both). Phipson and
    Smyth 2010, Permutation p-values should never be zero.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality = rng.normal(size=(20, 8))
    >>> good, bad = quality + rng.normal(0, 0.3, (20, 8)), rng.normal(size=(20, 8))
    >>> paired_test(good, bad, quality, n_resamples=200).p_value < 0.05
    True
    """
    level, (a, b, y) = require_level(level, metric_a=metric_a, metric_b=metric_b, human=human)
    require_option(alternative, "alternative", ALTERNATIVES)
    require_option(permute, "permute", PERMUTE)
    require_count(n_resamples, "n_resamples")
    y = np.where(np.isnan(a) | np.isnan(b), np.nan, y)
    how: dict[str, Any] = {"level": level, "coefficient": coefficient, "n_resamples": n_resamples, "seed": seed}
    of_a, of_b = (correlate(side, y, confidence=confidence, **how) for side in (a, b))
    choices = how | {"alternative": alternative, "permute": permute, "conf": confidence}
    made: dict[str, Any] = {"a": of_a, "b": of_b, "alternative": alternative, "confidence": confidence}
    made["signature"] = Signature({"metric": "paired-test"} | choices)
    if of_a.score is None or of_b.score is None:
        made |= {"reason": of_a.reason or of_b.reason, "null": np.empty(0)}
        return PairedTest(score=None, p_value=None, p_values={}, interval=None, no_interval="", **made)
    difference = of_a.score - of_b.score
    p, null = _permutation_tests((a, b, y), difference, how, alternative, permute)
    draws = resample_weights(a.shape, n_resamples, "both", seed)
    first, second = (resampled_correlations(side, y, level, coefficient, draws) for side in (a, b))
    sides = 1 if alternative == "two-sided" else 2  # of a one-sided test, all of 1 - confidence lies on one side
    interval, _, made["no_interval"] = middle(first - second, 1 - sides * (1 - confidence))
    if interval is not None and sides == 2:
        interval = (interval[0], 2.0) if alternative == "greater" else (-2.0, interval[1])
    return PairedTest(score=difference, p_value=max(p.values()), p_values=p, interval=interval, null=null, **made)


@dataclass(frozen=True, repr=False, eq=False)
class MetricComparisons(Rows):
    """Several metrics on the same human judgements: correlations, p-values and ranks.

    `correlations` is sorted, best first; `p_values[a, b]` is the corrected p-value of a pair (both orders); `ranks`
    gives equal ranks to metrics that cannot be told apart; `undefined` holds the reasons of metrics without a
    correlation.
    """

    correlations: dict[str, Correlation]
    p_values: dict[tuple[str, str], float]
    ranks: dict[str, int]
    undefined: dict[str, str]
    signature: Signature

    def rows(self) -> list[JsonDict]:
        """Return one row a metric, best first, undefined ones last."""
        names = ("metric", "rank", "correlation", "low", "high")
        parts = [(n, self.ranks[n], c.score, *(c.interval or (None, None))) for n, c in self.correlations.items()]
        parts += [(n, None, None, None, None) for n in self.undefined]
        return [dict(zip(names, part, strict=True)) for part in parts]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data."""
        order = list(self.ranks)
        pairs = [{"a": a, "b": b, "p": self.p_values[a, b]} for i, a in enumerate(order) for b in order[i + 1 :]]
        return super().to_dict() | {"pairs": pairs, "undefined": self.undefined}

    def remarks(self) -> list[str]:
        """Return what the ranks rest on, and what was left out."""
        how = self.signature
        tests = f"ranks: two-sided tests, correction {how['correction']}, alpha {how['alpha']}"
        lost = [f"undefined: {name}, {why}" for name, why in self.undefined.items()]
        return [tests, *lost, *left_out_lines(self.correlations)]


def compare_metrics(
    metrics: Mapping[str, Grid],
    human: Grid,
    *,
    level: str | None = None,
    coefficient: str = "kendall",
    correction: str = "holm",
    alpha: float = 0.05,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> MetricComparisons:
    """Compare several metrics pairwise, correct for the number of pairs, and rank them.

    Parameters
    ----------
    metrics : mapping of str to array_like, each (articles, systems) or (texts,)
        The metrics' tables by name.
    human : array_like, (articles, systems) or (texts,)
        Human judgements.
    correction : {"holm", "bonferroni", "fdr", "none"}
        As in `adjust_p_values`.
    alpha : float
        Corrected p-values below it separate ranks.
    level, coefficient, n_resamples, confidence, seed
        As in `paired_test`; tests are two-sided. More permutations than `n_resamples` are made where the correction
        could otherwise never find anything: at least twice the number of pairs divided by `alpha`.

    References
    ----------
    Freitag et al. 2022, Results of WMT22 Metrics Shared Task (ranks of metrics that cannot be told apart).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality = rng.normal(size=(20, 8))
    >>> tables = {"good": quality + rng.normal(0, 0.3, (20, 8))}
    >>> tables["random"] = rng.normal(size=(20, 8))
    >>> compare_metrics(tables, quality, n_resamples=200).ranks
    {'good': 1, 'random': 2}
    """
    if not 1e-6 <= require_share(alpha, "alpha") < 1:  # so many permutations as 1 / alpha are needed
        raise ValueError(f"alpha must lie between 0 and 1, at least 0.000001, not {alpha}")
    require_count(n_resamples, "n_resamples")
    require_option(correction, "correction", CORRECTIONS)
    if not isinstance(metrics, Mapping):
        raise TypeError(f"metrics must map names to tables, not {type(metrics).__name__}")
    if not metrics:
        raise ValueError("metrics is empty: pass at least one metric's table by name")
    given = {f"{str(name)!r}": table for name, table in metrics.items()}
    level, (*found, y) = require_level(level, **given, human=human)
    tables = dict(zip(map(str, metrics), found, strict=True))
    how: dict[str, Any] = {"level": level, "coefficient": coefficient, "seed": seed, "n_resamples": n_resamples}
    each = {name: correlate(table, y, confidence=confidence, **how) for name, table in tables.items()}
    defined = {name: float(c) for name, c in each.items() if c.score is not None}
    order = sorted(defined, key=lambda name: -defined[name])
    pairs = [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]
    more = how | {"n_resamples": max(n_resamples, math.ceil(2 * len(pairs) / alpha))}
    raw = [_pair_p_value(tables[a], tables[b], y, more) for a, b in pairs]
    p = dict(zip(pairs, adjust_p_values(raw, correction=correction).tolist(), strict=True))
    choices = how | {"correction": correction, "alpha": alpha, "conf": confidence}
    return MetricComparisons(
        {name: each[name] for name in order},
        p | {(b, a): value for (a, b), value in p.items()},
        rank_metrics(order, p, alpha),
        {name: c.reason for name, c in each.items() if c.score is None},
        Signature({"metric": "comparisons"} | choices),
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PairwiseAccuracy(Score):
    """Share of pairs that a metric decides as people do, ties included.

    `epsilon` is the largest difference that counts as a tie; `calibrated` whether it was chosen on these data;
    `n_pairs` and `n_human_ties` count pairs; `thresholds` and `curve` hold the accuracy for every candidate.
    """

    epsilon: float | None
    calibrated: bool
    n_pairs: int
    n_human_ties: int
    thresholds: np.ndarray
    curve: np.ndarray

    def rows(self) -> list[JsonDict]:
        """Return one row with the accuracy, the threshold and the counts."""
        counts = {"pairs": self.n_pairs, "human_ties": self.n_human_ties}
        return [{"accuracy": self.score, "epsilon": self.epsilon, "calibrated": self.calibrated} | counts]

    def plot(self, *, ax: plt.Axes | None = None) -> plt.Axes:
        """Draw the accuracy against the tie threshold."""
        ax = axes_for(ax, 6, 3)
        ax.step(self.thresholds, self.curve, where="post", color="#33628d")
        if self.epsilon is not None and self.score is not None:
            ax.plot(self.epsilon, self.score, "o", color="#b34700")
        ax.set(xlabel="largest difference that counts as a tie", ylabel="pairwise accuracy")
        return ax


def pairwise_accuracy(
    metric: Grid, human: Grid, *, level: str = "summary", epsilon: float | str = "calibrate"
) -> PairwiseAccuracy:
    """Return the share of pairs on which metric and people agree, ties included.

    Parameters
    ----------
    metric, human : array_like, (articles, systems)
        Scores of the same summaries; pairs with a missing cell are left out.
    level : {"summary", "system"}
        Pairs of summaries of the same article (every article counts the same), or pairs of systems, whose means are
        tied as in `correlate`.
    epsilon : float >= 0 or "calibrate"
        Differences of the metric up to it count as ties; "calibrate" takes the one with the best accuracy on these
        very data, which flatters every metric a little.

    Returns
    -------
    PairwiseAccuracy
        Score in [0, 1].

    References
    ----------
    Deutsch, Foster and Freitag 2023, Ties Matter: Meta-Evaluating Modern Metrics with Pairwise Accuracy and Tie
    Calibration, EMNLP. Kocmi et al. 2021, To Ship or Not to Ship, WMT (the system level).

    Examples
    --------
    >>> metric, human = [[1, 1.125, 3, 5]], [[2, 2, 3, 4]]
    >>> round(pairwise_accuracy(metric=metric, human=human, epsilon=0).score, 4)
    0.8333
    """
    x, y = require_tables(metric=metric, human=human)
    require_option(level, "level", ("summary", "system"))
    calibrated = epsilon == "calibrate"
    if not calibrated:
        if isinstance(epsilon, (str, bool)) or not epsilon >= 0:
            raise ValueError(f"epsilon must be 'calibrate' or a number of at least 0, not {epsilon!r}")
        float_array(epsilon, "epsilon")
    if level == "system":
        missing, single = np.isnan(x) | np.isnan(y), np.ones((1, len(x)))
        scale = np.abs(x[~missing]).max(initial=0.0) or 1.0
        x, y = system_means(x, missing, single) * scale, system_means(y, missing, single)
    pairs = compared_pairs(x, y)
    thresholds, curve = accuracy_by_threshold(*pairs)
    n_pairs, best = pairs[0].size, int(curve.argmax())
    if not calibrated:
        best = int(np.searchsorted(thresholds, float(epsilon), side="right")) - 1
    used = float(thresholds[best]) if calibrated else float(epsilon)
    return PairwiseAccuracy(
        score=min(1.0, float(curve[best])) if n_pairs else None,
        reason="" if n_pairs else "there is no pair of cells that both tables have",
        signature=Signature({"metric": "pairwise-accuracy", "level": level, "epsilon": epsilon}),
        epsilon=used if n_pairs else None,
        calibrated=calibrated,
        n_pairs=n_pairs,
        n_human_ties=int(pairs[2].sum()),
        thresholds=thresholds,
        curve=curve,
    )


# Every resample at once. Arrays: x, y (articles, systems); drawings (k, articles) and (k, systems).


def resampled_correlations(
    x: np.ndarray, y: np.ndarray, level: str, coefficient: str, draws: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """The level's correlation in every resample, (k,); NaN where a resample has none."""
    step = max(1, 4_000_000 // x.size)
    blocks = [tuple(side[i : i + step] for side in draws) for i in range(0, len(draws[0]), step)]
    parts = [_block(x, y, level, coefficient, *drawn) for drawn in blocks]
    return np.concatenate(parts) if parts else np.empty(0)


def _block(
    x: np.ndarray, y: np.ndarray, level: str, coefficient: str, articles: np.ndarray, systems: np.ndarray
) -> np.ndarray:
    missing = np.isnan(x) | np.isnan(y)
    if level == "summary":
        values = weighted(x[None], y[None], systems[None], coefficient)[0]
        weights = np.where(np.isnan(values), 0.0, articles)
        with np.errstate(invalid="ignore", divide="ignore"):
            return (weights * np.nan_to_num(values)).sum(axis=1) / weights.sum(axis=1)
    if level == "system":
        mx, my = (system_means(table, missing, articles)[:, None] for table in (x, y))
        return weighted(mx, my, systems[:, None], coefficient)[:, 0, 0]
    w, x, y = (articles[:, :, None] * systems[:, None, :])[:, ~missing], x[~missing], y[~missing]
    if coefficient == "kendall":
        return kendall_pooled(x, y, w)
    if coefficient == "spearman":
        u, v = (ranks_pooled(side, w)[None, :, None] for side in (x, y))
        return cosine(u, v, w[None])[0, :, 0]
    return weighted(x[None, None], y[None, None], w[None], coefficient)[0, :, 0]


def kendall_pooled(x: np.ndarray, y: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of one long row under many weightings: x, y (n,), w (k, n) -> (k,)."""
    rx, ry = (stats.rankdata(z, method="dense").astype(np.int32) for z in (x, y))
    single = np.ascontiguousarray(w.T, dtype=np.float32)  # sums of whole numbers, exact up to 2**24
    total = np.zeros(len(w))
    for start in range(0, x.size, 256):
        block = slice(start, start + 256)
        agree = (np.sign(rx[block, None] - rx[start:]) * np.sign(ry[block, None] - ry[start:])).astype(np.float32)
        agree[:, : agree.shape[0]] /= 2  # pairs inside the block appear twice, those to its right once
        total += 2 * ((agree @ single[start:]) * single[block]).sum(axis=0, dtype=float)
    untied = [w.sum(axis=1) ** 2 - _squares_of_groups(r, single) for r in (rx, ry)]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((untied[0] > 0) & (untied[1] > 0), total / np.sqrt(untied[0] * untied[1]), np.nan)


def _squares_of_groups(ranks: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Sum over groups of equal values of (total weight)²: ranks (n,), w (n, k) -> (k,)."""
    order = np.argsort(ranks, kind="stable")
    starts = np.flatnonzero(np.diff(ranks[order], prepend=0))
    return (np.add.reduceat(w[order], starts, axis=0, dtype=float) ** 2).sum(axis=0)


def ranks_pooled(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """`rank_deviations` of one long row by sorting: x (n,), w (k, n) -> (k, n)."""
    values, group = np.unique(x, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(values.size))
    weights = np.add.reduceat(w[:, order], starts, axis=1)
    below = np.cumsum(weights, axis=1) - weights
    above = w.sum(axis=1, keepdims=True) - below - weights
    return (below - above)[:, group]


def require_level(level: str | None, **named: object) -> tuple[str, list[np.ndarray]]:
    """Return the level, by the tables where none is given, and the tables; lists become tables of one system."""
    if level is not None:
        require_option(level, "level", LEVELS)
    _require_same_index(named)
    found = {name: values.scores if isinstance(values, ScoreTable) else values for name, values in named.items()}
    flat = [name for name, values in found.items() if np.ndim(_as_given(values)) == 1]
    if flat and level in ("summary", "system"):
        said = f"tables with two axes, (articles, systems), and {flat[0]} has one number a text"
        remedy = "use level='pooled' for texts, or pass one row, [scores], for scores of systems"
        raise ValueError(f"level={level!r} needs {said}: {remedy}")
    if len(flat) == len(found):
        found = {name: np.reshape(_as_given(v), (-1, 1)) for name, v in found.items()}
    tables = require_tables(**found)
    return level or ("pooled" if tables[0].shape[1] == 1 else "summary"), tables


def require_tables(**named: object) -> list[np.ndarray]:
    """Return several tables of numbers as float arrays of the same shape; None and NaN cells are missing ones."""
    tables = {name: _require_table(values, name) for name, values in named.items()}
    if len({table.shape for table in tables.values()}) > 1:
        listed = ", ".join(f"{name} {table.shape}" for name, table in tables.items())
        raise ValueError(f"the tables must have the same shape (articles, systems): {listed}")
    return list(tables.values())


def _require_table(values: object, name: str) -> np.ndarray:
    try:
        try:
            table = float_array(values, name)
        except (TypeError, ValueError):  # cells without a value may be written in several ways
            read = np.frompyfunc(lambda cell: np.nan if is_unrated(cell) else cell, 1, 1)
            table = float_array(read(np.asarray(values, dtype=object)), name)
    except (TypeError, ValueError) as error:
        wanted = "a table of numbers, one row an article, one column a system"
        raise TypeError(f"{name} must be {wanted}: {error}") from error
    if table.ndim != 2:
        remedy = "; for scores of systems without articles pass one row: [scores]" if table.ndim == 1 else ""
        raise ValueError(f"{name} must have two axes (articles, systems), not the shape {table.shape}{remedy}")
    if not table.size:
        raise ValueError(f"{name} is empty: its shape is {table.shape}")
    if np.isinf(table).any():
        row, column = np.argwhere(np.isinf(table))[0]
        raise ValueError(f"{name}[{row}, {column}] is infinite; use None or NaN for a cell without a value")
    return table


def _as_given(values: object) -> np.ndarray:
    """Values as an array of whatever they hold; rows of unequal length are one axis."""
    try:
        return np.asarray(values)
    except ValueError:
        return np.empty(())


def _require_same_index(named: Mapping[str, object]) -> None:
    """Refuse Series and frames whose labels differ: their places are no pairs."""
    for axis in ("index", "columns"):
        labels = {name: getattr(refuse_lazy(own), axis, None) for name, own in named.items()}
        known: dict[str, Any] = {name: own for name, own in labels.items() if hasattr(own, "equals")}
        first, *others = known or [""]
        for name in others:
            if not known[first].equals(known[name]):
                said = f"{first} and {name} have different labels (.{axis}), so their places may be no pairs"
                raise ValueError(f"{said}: align them, or pass .to_numpy() of both where the order is the same")


def mean_or_none(values: np.ndarray) -> float | None:
    """The mean of the values that are defined; None where none is."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None


def with_interval(value: float | None, interval: Sequence[float | None] | None, form: str = ".3f") -> str:
    """A number with the ends of its interval, as people read it; a dash where it is undefined."""
    if value is None:
        return "–"
    low, high = interval or (None, None)
    ends = "" if low is None or high is None else f" [{low + 0.0:{form}}, {high + 0.0:{form}}]"
    return f"{value + 0.0:{form}}{ends}"


def histogram(
    values: np.ndarray, score: float | None, interval: Interval, title: str, label: str, ax: plt.Axes | None
) -> plt.Axes:
    """Draw a histogram with a line at the score and a band for the interval."""
    ax = axes_for(ax, 6, 3)
    if len(values):
        ax.hist(values, bins=40, color="#8fc1e8", edgecolor="white")
    if interval:
        ax.axvspan(*interval, color="#f2eee6", zorder=0)
    if score is not None:
        ax.axvline(score, color="#b34700", linewidth=2)
    ax.set(title=title, xlabel=label, ylabel="count")
    return ax


def left_out_lines(found: Mapping[str, Correlation]) -> list[str]:
    """What the correlations of several metrics left out: a line for each difference."""
    names: dict[str, list[str]] = {}
    for name, correlation in found.items():
        said = f"undefined, {correlation.reason}" if correlation.score is None else correlation.left_out
        if said:
            names.setdefault(said, []).append(name)
    everything = len(next(iter(names.values()), [])) == len(found) > 1
    return [f"left out{'' if everything else ' of ' + ', '.join(own)}: {said}" for said, own in names.items()]


def _why_undefined(x: np.ndarray, y: np.ndarray, level: str) -> str:
    missing = np.isnan(x) | np.isnan(y)
    if missing.all():
        return "no cell has a value in both tables"
    if x.shape[1] < 2 and level != "pooled":
        remedy = "(level='pooled' compares the texts of one system)"
        return f"a {level}-level correlation needs at least two systems, and there is one {remedy}"
    for name, table in (("metric", x), ("human", y)):
        present = table[~missing]
        if present.min() == present.max():
            return f"all {name} values are the same ({present[0]:g}), and nothing correlates with a constant"
    where = {"summary": "in every single article", "system": "over the system means", "pooled": "over all cells"}
    return f"one side is constant, or fewer than two cells are present, {where[level]}"


def _permutation_tests(
    tables: Sequence[np.ndarray], observed: float, how: Mapping[str, Any], alternative: str, permute: str
) -> tuple[dict[str, float], np.ndarray]:
    """The p-value of each permutation test of a, b and y, and the differences of the largest's."""
    (a, b, y), shape = tables, tables[0].shape
    each = [name for name, n in zip(("articles", "systems"), shape, strict=True) if n > 1]
    kinds = [permute] if permute != "each" else each or ["articles", "systems"]
    swaps = {kind: random_swaps(shape, how["n_resamples"], kind, how["seed"]) for kind in kinds}
    nulls = {kind: null_differences(a, b, y, how["level"], how["coefficient"], swaps[kind]) for kind in kinds}
    p = {kind: p_value_of(null, observed, alternative) for kind, null in nulls.items()}
    return p, nulls[max(p, key=p.__getitem__)]


def _pair_p_value(a: np.ndarray, b: np.ndarray, y: np.ndarray, how: Mapping[str, Any]) -> float:
    """The two-sided p-value of `paired_test`, without its intervals."""
    y = np.where(np.isnan(a) | np.isnan(b), np.nan, y)
    values = (level_correlations(side, y, how["level"], how["coefficient"]) for side in (a, b))
    first, second = map(mean_or_none, values)
    if first is None or second is None:
        return 1.0  # they share too few cells: nothing can be said
    return max(_permutation_tests((a, b, y), first - second, how, "two-sided", "each")[0].values())


# All permutations at once. a, b, y (articles, systems); swaps: who changes sides, (n, articles) and (n, systems).


def null_differences(
    a: np.ndarray, b: np.ndarray, y: np.ndarray, level: str, coefficient: str, swaps: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """The difference of the two correlations after each permutation, (n,), without a loop.

    At the summary level, swapping an article exchanges two correlations that are already known. Swapping systems mixes
    columns of A and B; the sign of x_j - x_k after the swap is one of four signs that do not depend on the permutation
    (A against A, A against B, B against A, B against B). So a matrix product of "who is swapped" with these signs gives
    all rank deviations, or all of Kendall's sums, at once. At the system level the means of the swapped articles come
    first. Pooled, nothing helps: each permutation is computed by itself.
    """
    y = np.where(np.isnan(a) | np.isnan(b), np.nan, y)
    a, b = (_standardised(np.where(np.isnan(y), np.nan, side)) for side in (a, b))
    sections = max(1, len(swaps[0]) * a.size // 2_000_000)
    found = []
    for parts in zip(*(np.array_split(side, sections) for side in swaps), strict=True):
        first, second = _both_sides(a, b, y, level, coefficient, *parts)
        found.append(first - second)
    return np.concatenate(found)


def _standardised(x: np.ndarray) -> np.ndarray:
    """A table with mean 0 and spread 1; a constant one stays 0."""
    return (x - np.nanmean(x)) / (np.nanstd(x) or 1.0)


def _both_sides(
    a: np.ndarray, b: np.ndarray, y: np.ndarray, level: str, coefficient: str, articles: np.ndarray, systems: np.ndarray
) -> list[np.ndarray]:
    """The level's correlations of both sides after each permutation."""
    if level == "summary":
        moved = systems if systems.any() else systems[:1]  # nothing to mix: one calculation serves all
        kept, given = (_swapped_rows(a, b, y, s, coefficient) for s in (moved, ~moved))
        sides = np.where(articles, given, kept), np.where(articles, kept, given)
        with np.errstate(invalid="ignore", divide="ignore"):
            return [np.nan_to_num(side).sum(axis=1) / (~np.isnan(side)).sum(axis=1) for side in sides]
    if level == "system":
        kept, given = _swapped_means(a, b, y, articles)
        human = system_means(y, np.isnan(y), np.ones((1, len(y))))
        sides = np.where(systems, given, kept), np.where(systems, kept, given)
    else:
        cells, human = articles[:, :, None] ^ systems[:, None], y.reshape(1, -1)
        first, second = np.where(cells, b, a), np.where(cells, a, b)
        sides = first.reshape(len(cells), -1), second.reshape(len(cells), -1)
    return [by_row(side, np.broadcast_to(human, side.shape), coefficient) for side in sides]


def _swapped_rows(a: np.ndarray, b: np.ndarray, y: np.ndarray, swapped: np.ndarray, coefficient: str) -> np.ndarray:
    """The coefficient of every row of a, with columns of b swapped in: swapped (n, systems) -> (n, articles)."""
    if coefficient == "pearson":
        mixed = np.where(swapped[:, None], b, a)
        human = np.broadcast_to(y, mixed.shape).reshape(-1, y.shape[1])
        return by_row(mixed.reshape(human.shape), human, coefficient).reshape(mixed.shape[:2])
    sy = _pair_signs(y, y)
    if coefficient == "spearman":
        u, v = _mixed_sums(a, b, swapped, np.ones_like(sy)), sy.sum(axis=-1, dtype=float)
        uv, uu, vv = (u * v).sum(axis=-1), (u * u).sum(axis=-1), (v * v).sum(axis=-1)
    else:
        uv, uu = (_mixed_sums(a, b, swapped, factor).sum(axis=-1) for factor in (sy, None))
        vv = (sy * sy).sum(axis=(1, 2), dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where((uu > 0) & (vv > 0), uv / np.sqrt(uu * vv), np.nan)


def _mixed_sums(a: np.ndarray, b: np.ndarray, swapped: np.ndarray, factor: np.ndarray | None) -> np.ndarray:
    """Sums over k of sign(x_j - x_k), times a factor (rows, s, s) or (None) squared; x is a with columns of b."""
    rows, columns = a.shape
    chosen = np.concatenate([~swapped, swapped], axis=1).astype(np.float32)
    sums = []
    for scores in (a, b):
        each = [_pair_signs(scores, other) for other in (a, b)]
        signs = np.concatenate([own * (own if factor is None else factor) for own in each], 2)
        sums.append((chosen @ signs.reshape(rows * columns, 2 * columns).T).reshape(-1, rows, columns))
    return np.where(swapped[:, None], sums[1], sums[0]).astype(float)


def _pair_signs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Signs of x[i, j] - y[i, k], 0 where one is missing: two (rows, s) -> (rows, s, s)."""
    return np.nan_to_num(np.sign(x[:, :, None] - y[:, None, :])).astype(np.float32)


def _swapped_means(a: np.ndarray, b: np.ndarray, y: np.ndarray, articles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of the columns of a with swapped articles of b, and the reverse: (n, systems) each."""
    first, second = (np.where(np.isnan(y), 0.0, side) for side in (a, b))
    count = (~np.isnan(y)).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        kept = (first.sum(axis=0) + articles @ (second - first)) / count
        given = (second.sum(axis=0) + articles @ (first - second)) / count
    return tied(kept), tied(given)
