# A plain private module: edited here, exported by no notebook, tested in tests/test_guarantee.py.
"""Plumbing of chapter 27: labelled sentences checked, and promises as words, HTML and figures."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summeval_nb.ground.results import require_share, require_text, require_texts
from summeval_nb.ground.viz import Markup, figure_text, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FACTS = ("risk", "confidence", "bound", "n_accepted", "n_errors", "share_left", "n_sentences", "n_articles", "n_failed")


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


def require_list(values: Any, name: str) -> list[Any]:
    """Return one entry for each sentence as a list; a text, a mapping or a single value raises."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a list, one entry for each sentence, not {type(values).__name__}")
    return list(values)


def require_label(value: Any, name: str) -> int:
    """Return a label as 0 or 1 (False and True, 0.0 and 1.0, numpy's too); anything else raises."""
    if isinstance(value, (str, bytes)) or not np.isscalar(value) or value not in (0, 1):
        raise ValueError(f"{name} must be 1 (people say: supported) or 0, not {value!r:.40}; leave out what is neither")
    return int(value)  # type: ignore[arg-type]


def require_judged(probabilities: Any, labels: Any, groups: Any) -> Judged:
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
    group: Any


def _given(row: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field; None where it is missing, also in a table, where missing is NaN."""
    value = row.get(name)
    return None if isinstance(value, float) and math.isnan(value) else value


def _require_labelled(row: Any, where: str) -> Labelled:
    if not isinstance(row, Mapping):
        fields = "'sentence', 'label' and 'evidence' or 'article'"
        raise TypeError(f"{where} must be a mapping with {fields}, not {row!r:.40}")
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
    name = _given(row, "article_id")
    group = (texts, body) if name is None else name
    return Labelled(texts, body, sentence, require_label(row["label"], f"{where}['label']"), group)


def require_labelled(labelled: Any) -> list[Labelled]:
    """Return labelled sentences from mappings or a DataFrame, checked; a message names the one that is wrong."""
    if hasattr(labelled, "columns") and hasattr(labelled, "to_dict"):
        labelled = labelled.to_dict("records")
    if isinstance(labelled, (str, bytes, Mapping)) or not isinstance(labelled, Iterable):
        raise TypeError(f"labelled must be a list of mappings or a DataFrame, not {type(labelled).__name__}")
    return [_require_labelled(row, f"labelled[{place}]") for place, row in enumerate(labelled)]


def facts(row: Mapping[str, Any] | None, n_sentences: int = 1) -> dict[str, Any]:
    """Return what a guarantee says of its threshold, from a row of its curve; None: no threshold."""
    if row is None:
        return {"bound": None, "share_left": 1.0 if n_sentences else None, "n_accepted": 0, "n_errors": 0}
    counts = {"n_accepted": row["accepted"], "n_errors": row["errors"]}
    return {"bound": row["bound"], "share_left": row["share_left"]} | counts


def in_words(one: Any) -> str:
    """Return what a guarantee allows to be said, in a sentence."""
    failed = f", {one.n_failed} more could not be judged" if one.n_failed else ""
    like = f"texts like these ({one.n_sentences} sentences, {one.n_articles} articles{failed})"
    if one.score is None:
        return f"No threshold for {one.side!r} can be guaranteed on {like}: {one.reason}."
    reached, wrong = ("at least", "not") if one.side == "supported" else ("at most", "supported after all")
    called = f"Of the sentences called {one.side} (probability {reached} {one.score:g})"
    promise = f"at most {100 * one.risk:g} % are {wrong}, with {100 * one.confidence:g} % confidence"
    return f"{called} {promise}, on {like}; {one.share_left:.0%} of the sentences are left over."


def card(title: str, guarantees: Sequence[Any], signature: str) -> Markup:
    """Return promises as an HTML block: in words, what they rest on as a table, and the signature."""
    rows = [
        {"called": one.side, "threshold": one.score} | {name: getattr(one, name) for name in FACTS}
        for one in guarantees
    ]
    words = [in_words(one) for one in guarantees]
    return render("card.html", title=title, number="", lines=words, rows=rows, signature=signature)


def draw(one: Any, ax: Axes | None) -> Axes:
    """Draw a guarantee's share of errors and its upper bound over the thresholds."""
    import matplotlib.pyplot as plt

    rows = one.rows()
    if not rows:
        raise ValueError(f"there is nothing to draw: {one.reason}")
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    places = [row["threshold"] for row in rows]
    shares = [row["errors"] / row["accepted"] for row in rows]
    ax.step(places, shares, where="mid", color="#33628d", label="wrong among the labelled")
    ax.step(places, [row["bound"] for row in rows], where="mid", color="#b34700", label="upper bound")
    ax.axhline(one.risk, color="#555555", linestyle=":", label=figure_text(f"promised: {one.risk:g}"))
    if one.score is not None:
        label = figure_text(f"threshold {one.score:g}")
        ax.plot(one.score, one.bound, "o", color="#b34700", label=label)
    ax.set(xlabel=f"threshold for {one.side}", ylabel="share of the accepted", ylim=(0, 1))
    ax.legend(frameon=False, fontsize="small")
    return ax
