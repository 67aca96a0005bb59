"""What a checker's probabilities are worth, by labels: how well they keep their word, and thresholds with a promise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import stats

from summeval_nb.core.base import (
    JsonDict,
    pd,
    plt,
    require_count,
    require_option,
    require_share,
    require_text,
    require_texts,
)
from summeval_nb.core.files import frame_rows
from summeval_nb.core.html import axes_for, figure_text, render
from summeval_nb.core.results import Score, Signature, plain
from summeval_nb.evidence.base import Checker, Numbers
from summeval_nb.evidence.builtin import logits_of, platt_scaling, require_labelled
from summeval_nb.evidence.faithfulness import ask, evaluate_many
from summeval_nb.evidence.model_checkers import load_checker
from summeval_nb.evidence.promise import (
    SIDES,
    accepted_needed,
    accepts,
    counted_steps,
    error_bound,
    require_promise,
    walk,
    walk_starts,
)
from summeval_nb.models.store import StoreOrPath

__all__ = ["FACTS", "Guarantee", "Reliability", "guarantee_thresholds", "guaranteed_threshold", "reliability"]
__all__ += ["reliability_bins", "reliability_diagram"]

FACTS = (
    *("risk", "confidence", "bound", "n_accepted", "n_errors"),
    *("share_left", "n_sentences", "n_articles", "n_failed"),
)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Guarantee(Score):
    """A threshold with a promise: of what it accepts at most `risk` is wrong.

    Parameters
    ----------
    score : float or None
        The threshold, the laxest that is promised; None, with a reason, where none is.
    side : {"supported", "contradicted"}
        Accepted are probabilities of at least the threshold, or of at most it.
    risk, confidence : float
        The promise. An article counts once, however many sentences it has.
    bound : float or None
        Upper bound of the risk at the threshold, at most `risk`.
    n_accepted, n_errors : int
        Articles with an accepted sentence, and how many of the drawn ones are wrong.
    n_sentences, n_articles, n_failed : int
        What was judged, and how many verdicts had failed and were left out.
    share_left : float or None
        Share of the judged sentences that are not accepted; None if none was judged.
    curve : list of dict
        For each threshold, from strict to lax: accepted, errors, share_left, bound, and whether it is guaranteed.
    opposite : Guarantee, optional
        The promise of the other side, where `guarantee_thresholds` made both.
    """

    side: str
    risk: float
    confidence: float
    bound: float | None
    n_accepted: int
    n_errors: int
    n_sentences: int
    n_articles: int
    n_failed: int
    share_left: float | None
    curve: list[JsonDict]
    opposite: Guarantee | None = None
    more: ClassVar = ("side", *FACTS)

    @property
    def threshold(self) -> float | None:
        """The threshold, or None; the same as `score`."""
        return self.score

    @property
    def guaranteed(self) -> list[float]:
        """All thresholds that are promised together, from strict to lax."""
        return [row["threshold"] for row in self.curve if row["guaranteed"]]

    @property
    def share_unclear(self) -> float | None:
        """Share of the judged sentences that no promise covers: neither this one nor the opposite one."""
        under = 1.0 if self.opposite is None else self.opposite.share_left
        return None if self.share_left is None or under is None else max(0.0, self.share_left + under - 1)

    def accepts(self, probability: float) -> bool:
        """Return whether the promise covers a sentence with this probability."""
        value = require_share(probability, "probability")
        return self.score is not None and bool(accepts(value, self.score, self.side))

    def state(self, probability: float) -> str:
        """Return the side whose promise covers this probability, or "unclear"."""
        both = (self, self.opposite) if self.opposite else (self,)
        return next((promise.side for promise in both if promise.accepts(probability)), "unclear")

    def at(self, threshold: float) -> Guarantee:
        """Return the same promise at another of the thresholds in `guaranteed`."""
        if threshold not in self.guaranteed:
            raise ValueError(f"no promise was made for {threshold}; choose one of {self.guaranteed}")
        row = next(row for row in self.curve if row["threshold"] == threshold)
        return replace(self, score=row["threshold"], **_facts(row))

    def rows(self) -> list[JsonDict]:
        """Return the curve: one row for each threshold that accepts anything."""
        return [dict(row) for row in self.curve if row["accepted"]]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        both = ("share_unclear", "opposite") if self.opposite else ()
        return super().to_dict() | {name: plain(getattr(self, name)) for name in both}

    def __str__(self) -> str:
        failed = f", {self.n_failed} more could not be judged" if self.n_failed else ""
        like = f"texts like these ({self.n_sentences} sentences, {self.n_articles} articles{failed})"
        more = f"\n{self.opposite}" if self.opposite else ""
        if self.score is None or self.share_left is None:
            return f"No threshold for {self.side!r} can be guaranteed on {like}: {self.reason}.{more}"
        reached, wrong = ("at least", "not") if self.side == "supported" else ("at most", "supported after all")
        promise = f"at most {100 * self.risk:g} % are {wrong}, with {100 * self.confidence:g} % confidence, on {like}"
        called = f"Of the sentences called {self.side} (probability {reached} {self.score:g})"
        return f"{called} {promise}; {self.share_left:.0%} of the sentences are left over.{more}"

    def _repr_html_(self) -> str:
        both = [self, self.opposite] if self.opposite else [self]
        rows = [
            {"called": one.side, "threshold": one.score} | {name: getattr(one, name) for name in FACTS} for one in both
        ]
        title = ", ".join(self.signature[part] for part in ("set", "checker") if part in self.signature)
        lines, signature = str(self).split("\n"), str(self.signature)
        return render("card.html", title=title or "Guarantee", number="", lines=lines, rows=rows, signature=signature)

    def plot(self, *, ax: plt.Axes | None = None) -> plt.Axes:
        """Draw the errors and their upper bound over the thresholds of this side; return the axes."""
        rows = self.rows()
        if not rows:
            raise ValueError(f"there is nothing to draw: {self.reason}")
        ax = axes_for(ax, 6.4, 3.4)
        places = [row["threshold"] for row in rows]
        shares = [row["errors"] / row["accepted"] for row in rows]
        ax.step(places, shares, where="mid", color="#33628d", label="wrong among the labelled")
        ax.step(places, [row["bound"] for row in rows], where="mid", color="#b34700", label="upper bound")
        ax.axhline(self.risk, color="#555555", linestyle=":", label=figure_text(f"promised: {self.risk:g}"))
        if self.score is not None and self.bound is not None:
            ax.plot(self.score, self.bound, "o", color="#b34700", label=figure_text(f"threshold {self.score:g}"))
        ax.set(xlabel=f"threshold for {self.side}", ylabel="share of the accepted", ylim=(0, 1))
        ax.legend(frameon=False, fontsize="small")
        return ax


def _facts(row: JsonDict | None, n_sentences: int = 1) -> JsonDict:
    """Return a guarantee's facts about its threshold, from a row of its curve; None: no threshold."""
    if row is None:
        return {"bound": None, "share_left": 1.0 if n_sentences else None, "n_accepted": 0, "n_errors": 0}
    counts = {"n_accepted": row["accepted"], "n_errors": row["errors"]}
    return {"bound": row["bound"], "share_left": row["share_left"]} | counts


def guaranteed_threshold(
    probabilities: Sequence[float | None] | np.ndarray | pd.Series,
    labels: Sequence[float] | np.ndarray | pd.Series,
    groups: Sequence[Hashable] | np.ndarray | pd.Series | None = None,
    *,
    risk: float = 0.1,
    confidence: float = 0.9,
    side: str = "supported",
    seed: int = 0,
) -> Guarantee:
    """Return the laxest threshold at which at most `risk` of the accepted are wrong.

    Parameters
    ----------
    probabilities : sequence of float or None
        A checker's probabilities of support, in [0, 1]; None for failed verdicts, which are left out and counted.
    labels : sequence of 0 and 1
        What people said of the same sentences: 1 for supported.
    groups : sequence, optional
        The article of each sentence. Articles are the units: of each, one accepted sentence counts. Without groups
        every sentence is taken for an article.
    risk, confidence : float
        In (0, 1): what is promised, and how surely.
    side : {"supported", "contradicted"}
        Accept probabilities of at least the threshold, where label 0 is an error, or probabilities of at most the
        threshold, where label 1 is an error.
    seed : int
        For drawing the sentence of each article.

    Returns
    -------
    Guarantee
        `score` is the threshold; None, with a reason that says how many labels are needed, where nothing can be
        promised.

    Raises
    ------
    TypeError, ValueError
        If lengths differ, a probability is outside [0, 1], a label is not 0 or 1, or an option is unknown.

    Notes
    -----
    Fixed-sequence testing with exact binomial p-values from up to three starts. Exact for articles drawn independently
    from the texts that the threshold is used on, if surer sentences do not err more often.

    References
    ----------
    Angelopoulos, Bates, Candès, Jordan and Lei 2021, Learn then Test: Calibrating Predictive Algorithms to Achieve Risk
    Control. Clopper and Pearson 1934.

    Examples
    --------
    >>> guaranteed_threshold([0.9] * 22 + [0.3] * 22, [1] * 22 + [0] * 22).threshold
    0.31
    >>> guaranteed_threshold([0.9] * 20, [1] * 20).reason.partition(": ")[2]
    'label at least 2 articles more'
    """
    alpha, delta = require_promise(risk, confidence)
    require_option(side, "side", SIDES)
    seed = require_count(seed, "seed", minimum=0)
    probability, label, article, n_failed = _judged(probabilities, labels, groups)
    n_articles = len(set(article.tolist()))
    starts = walk_starts(n_articles, alpha, delta)
    curve = counted_steps(probability, label, article, side, seed)
    accepted, errors = (np.array([row[name] for row in curve]) for name in ("accepted", "errors"))
    passed = walk(accepted, errors, starts, alpha, delta)
    bounds = error_bound(errors, accepted, confidence=1 - delta / len(starts))
    for row, bound, promised in zip(curve, bounds, passed, strict=True):
        row |= {"bound": float(bound), "guaranteed": bool(promised)}
    chosen = next((row for row in reversed(curve) if row["guaranteed"]), None)
    parts = {"metric": "guarantee", "side": side, "risk": risk, "confidence": confidence, "starts": len(starts)}
    parts |= {"seed": seed, "unit": "sentence" if groups is None else "article", "n": len(label)}
    counts: JsonDict = {"n_sentences": len(label), "n_articles": n_articles, "n_failed": n_failed}
    return Guarantee(
        score=chosen["threshold"] if chosen else None,
        reason="" if chosen else _why_none(curve, n_articles, starts, alpha, delta),
        signature=Signature(parts | {"articles": n_articles}),
        side=side,
        risk=float(risk),
        confidence=float(confidence),
        curve=curve,
        **counts | _facts(chosen, len(label)),
    )


def _why_none(rows: Sequence[JsonDict], n_articles: int, starts: np.ndarray, risk: float, delta: float) -> str:
    """Say why no threshold can be promised, and how many labels would be needed."""
    first, level = int(starts[0]), 1 - delta / len(starts)
    if n_articles < first:
        least = f"even without an error {first} articles with an accepted sentence"
        return f"{least} are needed, and {n_articles} were judged: label at least {first - n_articles} articles more"
    enough = [row for row in rows if row["accepted"] >= first]
    best = min(enough, key=lambda row: stats.binom.cdf(row["errors"], row["accepted"], risk))
    rate = best["errors"] / best["accepted"]
    where = f"at the best threshold, {best['threshold']:g}, {best['errors']} of {best['accepted']} accepted are wrong"
    if rate >= risk:
        return f"even {where}: more labels will not help, but a better checker or a greater risk may"
    sizes = ((k, accepted_needed(k, risk=risk, confidence=level)) for k in itertools.count(best["errors"]))
    need = next(size for k, size in sizes if k >= rate * size)
    articles = math.ceil(need * n_articles / best["accepted"])
    more = f"from about {articles} articles instead of {n_articles}"
    return f"{where}: at that rate about {need} accepted would be needed, {more}"


def _judged(probabilities: object, labels: object, groups: object) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Return probability, label and number of the article of each judged sentence, and how many had failed."""
    named = {"probabilities": probabilities, "labels": labels} | ({} if groups is None else {"groups": groups})
    for name, values in named.items():
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
            raise TypeError(f"{name} must be a list, one entry for each sentence, not {type(values).__name__}")
    given, truth, *more = (list(values) for values in named.values())  # type: ignore[call-overload]
    articles = more[0] if more else list(range(len(given)))
    if not len(given) == len(truth) == len(articles):
        counts = f"{len(given)} probabilities, {len(truth)} labels, {len(articles)} groups"
        raise ValueError(f"one label and one group for each probability, please: got {counts}")
    checked, kept = [_label(label, f"labels[{place}]") for place, label in enumerate(truth)], []
    for place, (value, article) in enumerate(zip(given, articles, strict=True)):
        if not isinstance(article, Hashable) or article is None or article != article:
            raise TypeError(f"groups[{place}] must name an article by a text or a number, not {article!r:.40}")
        if value is not None:
            kept.append(place)
            require_share(value, f"probabilities[{place}] (None if the checker failed)")
    number = {article: place for place, article in enumerate(dict.fromkeys(articles[i] for i in kept))}
    judged, places = [(given[i], checked[i]) for i in kept], [number[articles[i]] for i in kept]
    probability, label = np.array(judged, dtype=float).reshape(-1, 2).T
    return probability, label.astype(int), np.array(places, dtype=int), len(given) - len(kept)


def _label(value: Any, name: str) -> int:
    """Return a label as 0 or 1 (False and True, 0.0 and 1.0, numpy's too); anything else raises."""
    if isinstance(value, (str, bytes)) or not np.isscalar(value) or value not in (0, 1):
        remedy = "leave out what is neither"
        raise ValueError(f"{name} must be 1 (people say: supported) or 0, not {value!r:.40}; {remedy}")
    return int(value)  # type: ignore[arg-type]


def guarantee_thresholds(
    labelled: Iterable[Mapping[str, object]] | pd.DataFrame,
    checker: str | Checker = "embedded",
    *,
    risk: float = 0.1,
    confidence: float = 0.9,
    name: str = "labelled sentences",
    k: int | None = None,
    seed: int = 0,
    store: StoreOrPath = None,
    progress: bool | None = None,
) -> Guarantee:
    """Run a checker over labelled sentences, and return its thresholds with promises.

    Parameters
    ----------
    labelled : list of mappings, or DataFrame
        Each with `sentence`, `label` (1: people say supported, 0: not), and `evidence` (list of sentences) or `article`
        (or `text`); `article_id` names the article, which is the unit of the promise. Rows as for `benchmark_checker`,
        with `text` and `supported`, will do as well.
    checker : str or Checker
        As for `evaluate`.
    risk, confidence, seed
        As for `guaranteed_threshold`; each of the two promises has this confidence.
    name : str
        What the set is called: a promise holds for texts like these. It stands in the signature as `set`.
    k, store, progress
        As for `evaluate_many`, for sentences with an article.

    Returns
    -------
    Guarantee
        Of the side supported; that of the side contradicted is its `opposite`. `state` says what a probability is
        called. A side where nothing can be promised says why.

    Raises
    ------
    TypeError, ValueError
        If a labelled sentence lacks a field or has a wrong one; the message names its place.

    Examples
    --------
    >>> one = {"evidence": ["It rained in Oslo."], "sentence": "It rained.", "label": 1}
    >>> guarantee_thresholds([one]).reason.partition(": ")[2]
    'label at least 21 articles more'
    """
    require_promise(risk, confidence)
    require_text(name, "name")
    given = frame_rows(labelled)
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"labelled must be a list of mappings or a DataFrame, not {type(given).__name__}")
    rows = [_labelled_row(row, f"labelled[{place}]") for place, row in enumerate(given)]
    judge = load_checker(checker)
    data = _probabilities(rows, judge, k, store, progress), [row.label for row in rows], [row.group for row in rows]
    sides = []
    for side in SIDES:
        found = guaranteed_threshold(*data, side=side, risk=risk, confidence=confidence, seed=seed)
        parts = dict(found.signature) | {"set": name, "checker": judge.fingerprint}
        parts["version"] = parts.pop("version")  # stands last
        sides.append(replace(found, signature=Signature(parts)))
    over, under = _kept_apart(*sides)
    return replace(over, opposite=under)


def _kept_apart(over: Guarantee, under: Guarantee) -> tuple[Guarantee, Guarantee]:
    """Return both sides at promised thresholds that do not overlap, least between."""
    if over.score is None or under.score is None or under.score < over.score:
        return over, under
    pairs = itertools.product(over.guaranteed, under.guaranteed)
    apart = [(round(s - c, 3), abs(s + c - 1), s, c) for s, c in pairs if c < s]
    if apart:
        return over.at(min(apart)[2]), under.at(min(apart)[3])
    reason = f"what could be promised is called supported, from {over.score:g} on"
    curve = [row | {"guaranteed": False} for row in under.curve]
    return over, replace(under, score=None, reason=reason, curve=curve, **_facts(None))


class _LabelledRow(NamedTuple):
    """A labelled sentence with its evidence, or (evidence None) its article, and the name of its group."""

    evidence: list[str] | None
    article: str
    sentence: str
    label: int
    group: Hashable


def _labelled_row(row: object, where: str) -> _LabelledRow:
    if not isinstance(row, Mapping):
        fields = "'sentence', 'label' and 'evidence' or 'article'"
        raise TypeError(f"{where} must be a mapping with {fields}, not {row!r:.40}")
    lacking = {name for name, value in row.items() if value is None or (isinstance(value, float) and math.isnan(value))}
    known = {name: value for name, value in row.items() if name not in lacking}  # a table has NaN there
    if "article" in known and "text" in known:  # as for the bench
        known.setdefault("sentence", known.pop("text"))
    known.setdefault("article", known.pop("text", None))
    known.setdefault("label", known.pop("supported", None))
    article, evidence = known["article"], known.get("evidence")
    if (article is None) == (evidence is None):
        raise ValueError(f"{where} needs either 'evidence', a list of sentences, or 'article', a text")
    texts = None if evidence is None else require_texts(evidence, f"{where}['evidence']")
    if texts == []:
        raise ValueError(f"{where} has no evidence sentence: leave it out, nothing can be checked")
    for name in ("sentence", "label"):
        if known.get(name) is None:
            raise ValueError(f"{where} lacks {name!r} (found: {', '.join(map(repr, row))})")
    body = "" if article is None else require_text(article, f"{where}['article']")
    sentence = require_text(known["sentence"], f"{where}['sentence']")
    group = known.get("article_id", (tuple(texts or ()), body))
    return _LabelledRow(texts, body, sentence, _label(known["label"], f"{where}['label']"), group)


def _probabilities(
    rows: Sequence[_LabelledRow], checker: Checker, k: int | None, store: StoreOrPath, progress: bool | None
) -> list[float | None]:
    """The probability of each labelled sentence, of one that is cut into several the weakest; None where none is."""
    whole = [row for row in rows if row.evidence is None]
    texts, summaries = [row.article for row in whole], [row.sentence for row in whole]
    results = evaluate_many(texts, summaries, k=k, store=store, checker=checker, progress=progress)
    by_article = iter([list(result.verdicts) for result in results])
    pairs = [(row.evidence, row.sentence) for row in rows if row.evidence is not None]
    by_evidence = iter(ask(checker, pairs, None) if pairs else [])
    found: list[float | None] = []
    for row in rows:
        verdicts = next(by_article) if row.evidence is None else [next(by_evidence)]
        if any(verdict.hard for verdict in verdicts):
            remedy = "use one that does, or LLMChecker(..., samples=10)"
            raise ValueError(f"a guarantee is about probabilities, and this checker's model gives none: {remedy}")
        judged = [verdict.probability for verdict in verdicts if verdict.probability is not None]
        found.append(min(judged) if len(judged) == len(verdicts) > 0 else None)
    return found


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Reliability(Score):
    """The reliability of probabilities, held against labels.

    `score` is the expected calibration error in [0, 1], less is better.

    Parameters
    ----------
    bins : list of dict
        The reliability table, see `reliability_bins`.
    brier : float or None
        Mean squared difference between probability and label, in [0, 1].
    slope, offset : float or None
        Platt scaling, see `platt_scaling`; None when only one label occurs.
    n, n_failed : int
        Items that were counted, and items left out because their probability is None.
    """

    bins: list[dict[str, float]] = field(default_factory=list)
    brier: float | None = None
    slope: float | None = None
    offset: float | None = None
    n: int = 0
    n_failed: int = 0
    more: ClassVar = ("brier", "slope", "offset", "n", "n_failed")

    def rows(self) -> list[JsonDict]:
        """Return the reliability table."""
        return [dict(row) for row in self.bins]

    def apply(self, probabilities: Numbers) -> np.ndarray:
        """Return the probabilities after Platt scaling, shape (n,)."""
        if self.slope is None or self.offset is None:
            raise ValueError("nothing to apply: Platt scaling needs labels of both kinds")
        values, _ = require_labelled(probabilities, np.zeros(len(probabilities)))
        return 1 / (1 + np.exp(-(self.slope * logits_of(values) + self.offset)))

    def plot(self, *, ax: plt.Axes | None = None) -> plt.Axes:
        """Draw the reliability diagram; see `reliability_diagram`."""
        return reliability_diagram(self.bins, ax=ax)


def reliability(probabilities: Collection[float | None], labels: Collection[float], *, n_bins: int = 10) -> Reliability:
    """Return how well probabilities of support keep their word, for any checker.

    Parameters
    ----------
    probabilities, labels, n_bins
        As for `reliability_bins`; a probability may be None, a failed verdict's, and is left out and counted.

    Returns
    -------
    Reliability
        `score` is the expected calibration error; None, with a reason, when there is nothing to count.

    References
    ----------
    Guo et al. (2017), "On Calibration of Modern Neural Networks"; Platt (1999).

    Examples
    --------
    >>> round(float(reliability([0.9, 0.9, 0.1, 0.1], [1, 1, 0, 0])), 3)
    0.1
    """
    if len(probabilities) != len(labels):
        raise ValueError(f"one label for each probability, please: got {len(probabilities)} and {len(labels)}")
    pairs = [(p, label) for p, label in zip(probabilities, labels, strict=True) if p is not None]
    kept, said = [p for p, _ in pairs], [label for _, label in pairs]
    values, truth = require_labelled(kept, said)
    parts = {"bins": require_count(n_bins, "n_bins"), "n": len(kept)}
    more: JsonDict = {"n": len(kept), "n_failed": len(labels) - len(kept)}
    more["signature"] = Signature({"metric": "reliability", **parts})
    if not kept:
        return Reliability(score=None, reason="there is no judged item", **more)
    bins = reliability_bins(values, truth, n_bins=n_bins)
    gaps = [b["n"] * abs(b["mean_probability"] - b["share_supported"]) for b in bins]
    both = 0 < truth.sum() < len(truth)
    more["slope"], more["offset"] = platt_scaling(values, truth) if both else (None, None)
    return Reliability(score=sum(gaps) / len(kept), bins=bins, brier=float(np.mean((values - truth) ** 2)), **more)


def reliability_bins(probabilities: Numbers, labels: Numbers, *, n_bins: int = 10) -> list[dict[str, float]]:
    """Return the occupied bins of a reliability diagram.

    Parameters
    ----------
    probabilities : sequence of float
        In [0, 1].
    labels : sequence of 0 and 1
        1 for supported.
    n_bins : int
        Bins of equal width over [0, 1]; a value on a border belongs to the upper bin, 1 to the last.

    Returns
    -------
    list of dict
        For each bin that holds something: `low`, `high`, `n`, `mean_probability`, `share_supported` and the share's 95
        % interval (Wilson 1927), `share_low` to `share_high`.
    """
    values, truth = require_labelled(probabilities, labels)
    count = require_count(n_bins, "n_bins")
    place = np.minimum((values * count).astype(int), count - 1)
    rows = []
    for b in np.unique(place).tolist():
        inside = place == b
        n, positive = int(inside.sum()), int(truth[inside].sum())
        low, high = map(float, stats.binomtest(positive, n).proportion_ci(method="wilson"))
        row = {"low": b / count, "high": (b + 1) / count, "n": n, "mean_probability": float(values[inside].mean())}
        rows.append(row | {"share_supported": positive / n, "share_low": low, "share_high": high})
    return rows


def reliability_diagram(bins: Sequence[Mapping[str, float]], *, ax: plt.Axes | None = None) -> plt.Axes:
    """Draw each bin's share of supported items, with its interval and count, over its mean probability.

    `bins` are what `reliability_bins` returns; without `ax` there are new axes.
    """
    ax = axes_for(ax, 4.5, 4.5)
    x = np.array([row["mean_probability"] for row in bins])
    y, low, high = (np.array([row[name] for row in bins]) for name in ("share_supported", "share_low", "share_high"))
    ax.plot([0, 1], [0, 1], color="#777777", linestyle="--", linewidth=1, label="calibrated")
    ends = np.abs([y - low, high - y])
    ax.errorbar(x, y, yerr=ends, fmt="o-", color="#1f5f99", capsize=3, label="observed (95 %)")
    for row in bins:
        place = row["mean_probability"], row["share_supported"]
        ax.annotate(f"{row['n']:g}", place, (5, -11), textcoords="offset points")
    ax.set(xlabel="mean probability", ylabel="share supported", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.legend(loc="upper left")
    return ax
