# A plain private module: edited here, exported by no notebook, tested in tests/test_guarantee.py.
"""Promises on thresholds: labelled sentences asked and checked, why none holds, words, HTML and figures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from scipy import stats

from summeval_nb.evidence.checker import Checker
from summeval_nb.evidence.faithfulness import evaluate_many
from summeval_nb.ground.base import float_array, require_share, require_text, require_texts
from summeval_nb.ground.files import frame_rows
from summeval_nb.ground.html import Markup, axes_for, figure_text, render
from summeval_nb.ground.results import Rows, Score, Signature, Verdict
from summeval_nb.models.load import StoreOrPath

from ..ground.base import JsonDict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .guarantee import Guarantee

FACTS = ("risk", "confidence", "bound", "n_accepted", "n_errors", "share_left", "n_sentences", "n_articles", "n_failed")


Numbers = TypeVar("Numbers", float, np.ndarray)


class Judged(NamedTuple):
    """Labelled sentences as arrays: probability, 1 where people said supported, number of the article."""

    probability: np.ndarray
    label: np.ndarray
    article: np.ndarray
    n_failed: int

    @property
    def n_articles(self) -> int:
        """Number of articles with a judged sentence."""
        return len(set(self.article.tolist()))


def require_list(values: object, name: str) -> list[object]:
    """Return one entry for each sentence as a list; a text, a mapping or a single value raises."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list, one entry for each sentence, not {type(values).__name__}")
    return list(values)


def require_label(value: object, name: str) -> int:
    """Return a label as 0 or 1 (False and True, 0.0 and 1.0, numpy's too); anything else raises."""
    if isinstance(value, (str, bytes)) or not np.isscalar(value) or value not in (0, 1):
        raise ValueError(f"{name} must be 1 (people say: supported) or 0, not {value!r:.40}; leave out what is neither")
    return int(value)  # type: ignore[arg-type]


def require_judged(probabilities: object, labels: object, groups: object) -> Judged:
    """Return the judged sentences as arrays; a probability of None is counted and left out."""
    given, truth = require_list(probabilities, "probabilities"), require_list(labels, "labels")
    articles = list(range(len(given))) if groups is None else require_list(groups, "groups")
    if not len(given) == len(truth) == len(articles):
        counts = f"{len(given)} probabilities, {len(truth)} labels, {len(articles)} groups"
        raise ValueError(f"one label and one group for each probability, please: got {counts}")
    for place, article in enumerate(articles):
        if not isinstance(article, Hashable) or article is None or article != article:
            raise TypeError(f"groups[{place}] must name an article by a text or a number, not {article!r:.40}")
    for place, value in enumerate(given):
        if value is not None:
            require_share(value, f"probabilities[{place}] (None if the checker failed)")
    checked = [require_label(value, f"labels[{place}]") for place, value in enumerate(truth)]
    kept = [place for place, value in enumerate(given) if value is not None]
    number = {article: place for place, article in enumerate(dict.fromkeys(articles[i] for i in kept))}
    return Judged(
        np.array([given[i] for i in kept], dtype=float),
        np.array([checked[i] for i in kept], dtype=int),
        np.array([number[articles[i]] for i in kept], dtype=int),
        len(given) - len(kept),
    )


class Labelled(NamedTuple):
    """A labelled sentence with its evidence, or (evidence None) its article, and the name of its group."""

    evidence: tuple[str, ...] | None
    article: str
    sentence: str
    label: int
    group: Hashable


def _given(row: Mapping[str, object], name: str) -> object:
    """Return the value of a field; None where it is missing, also in a table, where missing is NaN."""
    value = row.get(name)
    return None if isinstance(value, float) and math.isnan(value) else value


def _as_benched(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row whose sentence and label have the names that `benchmark_checker` gives them under ours."""
    named = dict(row)
    if _given(row, "sentence") is None and _given(row, "article") is not None and _given(row, "text") is not None:
        named["sentence"] = named.pop("text")
    if _given(row, "label") is None and _given(row, "supported") is not None:
        named["label"] = named.pop("supported")
    return named


def _require_labelled(row: object, where: str) -> Labelled:
    if not isinstance(row, Mapping):
        fields = "'sentence', 'label' and 'evidence' or 'article'"
        raise TypeError(f"{where} must be a mapping with {fields}, not {row!r:.40}")
    row = _as_benched(row)
    article = _given(row, "article") if _given(row, "article") is not None else _given(row, "text")
    evidence = _given(row, "evidence")
    if (article is None) == (evidence is None):
        raise ValueError(f"{where} needs either 'evidence', a list of sentences, or 'article', a text")
    texts = None if evidence is None else tuple(require_texts(evidence, f"{where}['evidence']"))
    if texts == ():
        raise ValueError(f"{where} has no evidence sentence: leave it out, nothing can be checked")
    for name in ("sentence", "label"):
        if _given(row, name) is None:
            raise ValueError(f"{where} lacks {name!r} (found: {', '.join(map(repr, row))})")
    body = "" if article is None else require_text(article, f"{where}['article']")
    sentence = require_text(row["sentence"], f"{where}['sentence']")
    own = _given(row, "article_id")
    group = (texts, body) if own is None else own
    return Labelled(texts, body, sentence, require_label(row["label"], f"{where}['label']"), group)


def require_labelled(labelled: object) -> list[Labelled]:
    """Return labelled sentences from mappings or a DataFrame, checked; a message names the one that is wrong."""
    if hasattr(labelled, "columns") and hasattr(labelled, "to_dict"):
        labelled = frame_rows(labelled)
    if isinstance(labelled, (str, bytes, Mapping)) or not isinstance(labelled, Iterable):
        raise TypeError(f"labelled must be a list of mappings or a DataFrame, not {type(labelled).__name__}")
    return [_require_labelled(row, f"labelled[{place}]") for place, row in enumerate(labelled)]


def facts(row: JsonDict | None, n_sentences: int = 1) -> JsonDict:
    """Return what a guarantee says of its threshold, from a row of its curve; None: no threshold."""
    if row is None:
        return {"bound": None, "share_left": 1.0 if n_sentences else None, "n_accepted": 0, "n_errors": 0}
    counts = {"n_accepted": row["accepted"], "n_errors": row["errors"]}
    return {"bound": row["bound"], "share_left": row["share_left"]} | counts


def promised_on(
    data: Judged,
    chosen: JsonDict | None,
    *,
    side: str,
    risk: float,
    confidence: float,
    starts: int,
    seed: int,
    unit: str,
) -> dict[str, Any]:
    """Return the promise at the chosen step and what it was made from, as fields of a `Guarantee`, with its signature.

    Not among them: its curve, and why nothing is promised where `chosen` is None.
    """
    choices = {"metric": "guarantee", "side": side, "risk": risk, "confidence": confidence, "starts": starts}
    choices |= {"seed": seed, "unit": unit, "n": len(data.label), "articles": data.n_articles}
    counts = {"n_sentences": len(data.label), "n_articles": data.n_articles, "n_failed": data.n_failed}
    promise = {"side": side, "risk": float(risk), "confidence": float(confidence)}
    threshold = chosen["threshold"] if chosen else None
    return {"score": threshold, "signature": Signature(choices), **promise, **counts, **facts(chosen, len(data.label))}


def of_set(one: Guarantee, name: str, checker: str) -> Guarantee:
    """Return a guarantee whose signature also names the labelled set and the checker; the version stands last."""
    parts = dict(one.signature) | {"set": name, "checker": checker}
    parts["version"] = parts.pop("version")
    return replace(one, signature=Signature(parts))


def in_words(one: Shown) -> str:
    """Return what a guarantee allows to be said, in a sentence."""
    failed = f", {one.n_failed} more could not be judged" if one.n_failed else ""
    like = f"texts like these ({one.n_sentences} sentences, {one.n_articles} articles{failed})"
    if one.score is None or one.share_left is None:
        return f"No threshold for {one.side!r} can be guaranteed on {like}: {one.reason}."
    reached, wrong = ("at least", "not") if one.side == "supported" else ("at most", "supported after all")
    called = f"Of the sentences called {one.side} (probability {reached} {one.score:g})"
    promise = f"at most {100 * one.risk:g} % are {wrong}, with {100 * one.confidence:g} % confidence"
    return f"{called} {promise}, on {like}; {one.share_left:.0%} of the sentences are left over."


def card(title: str, guarantees: Sequence[Shown], signature: str) -> Markup:
    """Return promises as an HTML block: in words, what they rest on as a table, and the signature."""
    rows = [
        {"called": one.side, "threshold": one.score} | {name: getattr(one, name) for name in FACTS}
        for one in guarantees
    ]
    words = [in_words(one) for one in guarantees]
    return render("card.html", title=title, number="", lines=words, rows=rows, signature=signature)


def draw(one: Shown, ax: Axes | None) -> Axes:
    """Draw a guarantee's share of errors and its upper bound over the thresholds."""
    rows = one.rows()
    if not rows:
        raise ValueError(f"there is nothing to draw: {one.reason}")
    ax = axes_for(ax, 6.4, 3.4)
    places = [row["threshold"] for row in rows]
    shares = [row["errors"] / row["accepted"] for row in rows]
    ax.step(places, shares, where="mid", color="#33628d", label="wrong among the labelled")
    ax.step(places, [row["bound"] for row in rows], where="mid", color="#b34700", label="upper bound")
    ax.axhline(one.risk, color="#555555", linestyle=":", label=figure_text(f"promised: {one.risk:g}"))
    if one.score is not None and one.bound is not None:
        label = figure_text(f"threshold {one.score:g}")
        ax.plot(one.score, one.bound, "o", color="#b34700", label=label)
    ax.set(xlabel=f"threshold for {one.side}", ylabel="share of the accepted", ylim=(0, 1))
    ax.legend(frameon=False, fontsize="small")
    return ax


_LEAST_RISK = 1e-9


def require_promise(risk: float, confidence: float) -> tuple[float, float]:
    """Return alpha and delta of the promise; raise unless both lie between 0 and 1."""
    for value, name in ((risk, "risk"), (confidence, "confidence")):
        if not 0 < require_share(value, name) < 1:
            remedy = "nothing is promised for certain, and nothing without a risk"
            raise ValueError(f"{name} must lie between 0 and 1, not {value}: {remedy}")
    if risk < _LEAST_RISK:
        raise ValueError(f"risk must be at least {_LEAST_RISK:g}, not {risk}: nobody can label enough for less")
    return float(risk), 1 - float(confidence)


def require_errors(errors: object, accepted: object) -> tuple[np.ndarray, np.ndarray]:
    """Return errors and accepted as arrays of one shape; raise unless 0 <= errors <= accepted everywhere."""
    k, n = np.broadcast_arrays(float_array(errors, "errors"), float_array(accepted, "accepted"))
    if not ((k >= 0) & (k <= n)).all():
        raise ValueError(f"errors must lie between 0 and the number accepted: got {errors} and {accepted}")
    return k, n


_SURE = {round(0.99 + i / 1000, 3) for i in range(10)}
_STEPS = sorted({i / 100 for i in range(101)} | _SURE)


def thresholds(side: str) -> np.ndarray:
    """Thresholds from strict to lax: hundredths, and thousandths at the sure end."""
    strict_first = np.array(_STEPS[::-1])
    return strict_first if side == "supported" else (1 - strict_first).round(3)


def accepts(probabilities: Numbers, threshold: float, side: str) -> Numbers:
    """Whether probabilities are accepted: at least the threshold; at most it for the side contradicted."""
    if side == "supported":
        return probabilities >= threshold
    return probabilities <= threshold


def why_none(
    rows: Sequence[JsonDict],
    n_articles: int,
    starts: np.ndarray,
    risk: float,
    delta: float,
    accepted_needed: Callable[..., int],
) -> str:
    """Say why no threshold can be promised, and how many labels would be needed."""
    first, level = int(starts[0]), 1 - delta / len(starts)
    if n_articles < first:
        least = f"even without an error {first} articles with an accepted sentence"
        missing = f"label at least {first - n_articles} articles more"
        return f"{least} are needed, and {n_articles} were judged: {missing}"
    enough = [row for row in rows if row["accepted"] >= first]
    p_values = [stats.binom.cdf(r["errors"], r["accepted"], risk) for r in enough]
    best = enough[int(np.argmin(p_values))]
    rate = best["errors"] / best["accepted"]
    counts = f"{best['errors']} of {best['accepted']} accepted are wrong"
    where = f"at the best threshold, {best['threshold']:g}, {counts}"
    if rate >= risk:
        remedy = "but a better checker or a greater risk may"
        return f"even {where}: more labels will not help, {remedy}"
    allowed = itertools.count(best["errors"])
    sizes = ((k, accepted_needed(k, risk=risk, confidence=level)) for k in allowed)
    need = next(size for k, size in sizes if k >= rate * size)
    articles = math.ceil(need * n_articles / best["accepted"])
    more = f"from about {articles} articles instead of {n_articles}"
    return f"{where}: at that rate about {need} accepted would be needed, {more}"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Shown(Score):
    """What a `Guarantee` holds and shows of itself: its curve, plain data, its promise in words and as a figure."""

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

    def rows(self) -> list[JsonDict]:
        """Return the curve: one row for each threshold that accepts anything."""
        return [dict(row) for row in self.curve if row["accepted"]]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        own = {name: getattr(self, name) for name in ("side", *FACTS)}
        return super().to_dict() | own

    def __str__(self) -> str:
        return in_words(self)

    def _repr_html_(self) -> str:
        return card("Guarantee", [self], str(self.signature))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the errors and their upper bound over the thresholds."""
        return draw(self, ax)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TwoSides(Rows):
    """What `Guarantees` hold and show of themselves: both promises as rows, plain data, words and figures."""

    supported: Guarantee
    contradicted: Guarantee
    name: str
    checker: str

    @property
    def share_unclear(self) -> float | None:
        """Share of the judged sentences that neither promise covers."""
        raise NotImplementedError

    def rows(self) -> list[JsonDict]:
        """Return one row for each side: its threshold and what it rests on."""
        found = []
        for one in (self.supported, self.contradicted):
            facts = {name: getattr(one, name) for name in FACTS}
            row = {"side": one.side, "threshold": one.score, "reason": one.reason}
            found.append(row | facts)
        return found

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        own: JsonDict = {"name": self.name, "checker": self.checker}
        own |= {"share_unclear": self.share_unclear}
        sides = (self.supported, self.contradicted)
        return own | {one.side: one.to_dict() for one in sides}

    def __str__(self) -> str:
        title = f"{self.name}, {self.checker}:"
        return "\n".join([title, str(self.supported), str(self.contradicted)])

    def __repr__(self) -> str:
        sides = (self.supported, self.contradicted)
        thresholds = ", ".join(f"{one.side}={one.score}" for one in sides)
        return f"Guarantees({thresholds}, name={self.name!r})"

    def _repr_html_(self) -> str:
        sides = [self.supported, self.contradicted]
        signature = str(self.supported.signature)
        return card(f"{self.name}, {self.checker}", sides, signature)

    def plot(self) -> Figure:
        """Draw both sides; return the figure."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
        self.contradicted.plot(ax=axes[0])
        self.supported.plot(ax=axes[1])
        return figure


def kept_apart(over: Guarantee, under: Guarantee) -> tuple[Guarantee, Guarantee]:
    """Return both sides at promised thresholds that do not overlap, least between."""
    if over.score is None or under.score is None or under.score < over.score:
        return over, under
    pairs = itertools.product(over.guaranteed, under.guaranteed)
    apart = [(round(s - c, 3), abs(s + c - 1), s, c) for s, c in pairs if c < s]
    if apart:
        return over.at(min(apart)[2]), under.at(min(apart)[3])
    reason = f"what could be promised is called supported, from {over.score:g} on"
    curve = [row | {"guaranteed": False} for row in under.curve]
    nothing = facts(None)
    return over, replace(under, score=None, reason=reason, curve=curve, **nothing)


def _ask_pairs(rows: Sequence[Labelled], checker: Checker) -> list[list[Verdict]]:
    """Return the verdicts on sentences that come with their evidence, one each."""
    pairs = [(list(row.evidence or ()), row.sentence) for row in rows]
    verdicts: list[object] = list(checker.check_many(pairs)) if pairs else []
    right = [one for one in verdicts if isinstance(one, Verdict)]
    if not len(right) == len(verdicts) == len(pairs):
        name = type(checker).__name__
        raise TypeError(f"check_many of {name} must return one Verdict per pair")
    return [[one] for one in right]


def ask(
    rows: Sequence[Labelled],
    checker: Checker,
    k: int | None,
    *,
    store: StoreOrPath,
    progress: bool | None,
) -> list[float | None]:
    """Return the probability of each labelled sentence; None where there is none."""
    whole = [row for row in rows if row.evidence is None]
    texts, summaries = [row.article for row in whole], [row.sentence for row in whole]
    results = evaluate_many(texts, summaries, k, checker=checker, store=store, progress=progress)
    by_article = iter([list(one.verdicts) for one in results])
    given = [row for row in rows if row.evidence is not None]
    by_evidence = iter(_ask_pairs(given, checker))
    found: list[float | None] = []
    for row in rows:
        verdicts = next(by_article if row.evidence is None else by_evidence)
        judged = [one.probability for one in verdicts if one.probability is not None]
        all_judged = len(judged) == len(verdicts) > 0
        found.append(min(judged) if all_judged else None)
    return found
