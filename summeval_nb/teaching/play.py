"""Four pictures with sliders, a text field and points to drag, still where nothing can be moved; and a class's slides.

A state holds all that follows from its settings, and draws itself: words and escaped HTML. A `Picture` moves it.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module, resources
from importlib.util import find_spec
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from summeval_nb.agreement.coefficients import COEFFICIENTS
from summeval_nb.agreement.correlation import Correlation, correlate, with_interval
from summeval_nb.core.base import (
    JsonDict,
    float_array,
    how_to_install,
    plt,
    require_count,
    require_option,
    require_share,
    require_text,
    require_texts,
)
from summeval_nb.core.data import sample_articles
from summeval_nb.core.files import read_asset
from summeval_nb.core.html import Markup, html_table, render
from summeval_nb.core.results import Verdict
from summeval_nb.evidence.base import Checker
from summeval_nb.evidence.faithfulness import DEFAULT_K, Faithfulness, evaluate
from summeval_nb.evidence.model_checkers import load_checker
from summeval_nb.evidence.share import supported_share
from summeval_nb.overlap.bleu import SMOOTHING
from summeval_nb.overlap.rouge import calculate_rouge_l, rouge_score
from summeval_nb.overlap.rouge_counts import lcs_table
from summeval_nb.overlap.tokens import require_references, rouge_tokenizer
from summeval_nb.overlap.translation import BleuScore, bleu_score
from summeval_nb.text.embed import EmbedderOrName, sentence2embedding
from summeval_nb.text.similarity import cosine_similarity, topk_related
from summeval_nb.text.split import split_text

__all__ = ["NOTE", "PRESETS", "Picture", "bleu_state", "class_slides", "correlation_state", "draw_shared_words"]
__all__ += ["drawing", "evidence_state", "evidence_study", "lcs_state", "lcs_steps", "play_bleu", "play_correlation"]
__all__ += ["play_evidence", "play_lcs", "preset_points", "slides_page"]

NOTE = (
    "A still picture. To play with it, open the notebook in JupyterLab and run all cells: Run > Run All Cells "
    f"({how_to_install('lab')})."
)


class State:
    """What a picture shows: a `caption` in words, which is all of it in a terminal, and a drawing."""

    caption: Any

    def __repr__(self) -> str:
        return str(self.caption)

    def _figure(self, body: Markup) -> Markup:
        return render("figure.html", caption=self.caption, body=body)

    def _repr_html_(self) -> Markup:
        raise NotImplementedError


class Picture:
    """A state, its drawing and, where ipywidgets is installed, controls that change it.

    Parameters
    ----------
    compute : callable
        From settings, given by name, to a state with an attribute for each setting.
    **settings
        Where to begin.

    Attributes
    ----------
    state : object
        What is shown now.
    widget : ipywidgets.Widget or None
        Controls and drawing; None without ipywidgets.
    controls : dict
        Setting to the widget that changes it.

    Examples
    --------
    >>> picture = play_lcs("a cat", "the cat")
    >>> picture.set(step=4).state.step
    4
    """

    def __init__(self, compute: Callable[..., Any], **settings: object):
        self._compute, self._settings = compute, settings
        self.state = compute(**settings)
        self.widget: Widget | None = None
        self.controls: dict[str, Widget] = {}
        self._show: Callable[[], None] = lambda: None

    def set(self, **settings: object) -> Self:
        """Compute and draw the state of other settings; a wrong one changes nothing."""
        if unknown := settings.keys() - self._settings.keys():
            wrong, known = ", ".join(sorted(unknown)), ", ".join(self._settings)
            raise TypeError(f"unknown setting {wrong}; known: {known}")
        self.state = self._compute(**self._settings | settings)
        self._settings |= settings
        self._show()
        return self

    def attach(
        self, controls: Mapping[str, Widget], beside: Sequence[Widget] = (), draw: Callable[[Any], str] | None = None
    ) -> Self:
        """Join widgets to settings; `beside` have no setting, `draw` draws instead of the state itself."""
        ipywidgets = _widgets()
        view = ipywidgets.HTML(layout=ipywidgets.Layout(width="auto", min_width="0"))

        def show() -> None:
            view.value = draw(self.state) if draw else self.state._repr_html_()
            for name, control in controls.items():
                if control.value != getattr(self.state, name):
                    control.value = getattr(self.state, name)

        def moved(change: Mapping[str, object], name: str) -> None:
            if change["new"] != getattr(self.state, name):
                self.set(**{name: change["new"]})

        for name, control in controls.items():
            control.observe(partial(moved, name=name), "value")
        row = ipywidgets.HBox([*controls.values(), *beside], layout=ipywidgets.Layout(flex_flow="row wrap"))
        self.widget, self.controls, self._show = ipywidgets.VBox([row, view]), dict(controls), show
        show()
        return self

    def __repr__(self) -> str:
        return f"{self.state.caption}\n{NOTE}"

    def _repr_html_(self) -> str:
        return render("still.html", picture=self.state._repr_html_(), note=NOTE)

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, object]:
        moving = self.widget._repr_mimebundle_(**kwargs) if self.widget else {}
        return {**moving, "text/plain": repr(self), "text/html": self._repr_html_()}


def _widgets(*others: str) -> Any:
    """The module ipywidgets; None where it, or one of the others, is not installed."""
    return import_module("ipywidgets") if all(map(find_spec, ("ipywidgets", *others))) else None


def _button(name: str, press: Callable[[], object]) -> Widget:
    ipywidgets = _widgets()
    button = ipywidgets.Button(description=name, layout=ipywidgets.Layout(width="6rem"))
    button.on_click(lambda _: press())
    return button


_MOST_WORDS = 30  # a side: the table has to fit on a screen


class LcsStep(NamedTuple):
    """One step: its kind ("start", "equal", "above", "left", "keep", "up", "back", "done"), the cell, what is said."""

    kind: str
    row: int
    column: int
    words: str


def lcs_steps(x: Sequence[str], y: Sequence[str]) -> list[LcsStep]:
    """Return how `lcs_table(x, y)` is filled row by row, and how `lcs_path` walks back: a step a cell.

    Raises
    ------
    ValueError
        If a side has more than 30 words.

    Examples
    --------
    >>> [step.kind for step in lcs_steps(["a", "cat"], ["cat"])]
    ['start', 'above', 'equal', 'keep', 'done']
    """
    for name, words in (("reference", x), ("candidate", y)):
        if len(words) > _MOST_WORDS:
            raise ValueError(f"the {name} has {len(words)} words: the table holds {_MOST_WORDS}, pass a shorter text")
    table = lcs_table(x, y)
    start = "Row 0 and column 0 stand for no words at all: nothing is shared, so they hold 0."
    steps = [LcsStep("start", 0, 0, start)]
    for i, j in np.ndindex(len(x), len(y)):
        above, left, value = table[i][j + 1], table[i + 1][j], table[i + 1][j + 1]
        kind, more = "equal", f"one more than in the cell to the upper left, {value - 1} + 1"
        said = f"“{x[i]}” stands on both sides: {more}"
        if x[i] != y[j]:
            kind = "left" if left > above else "above"
            said = f"“{x[i]}” and “{y[j]}” differ: the greater of above ({above}) and left ({left})"
        steps.append(LcsStep(kind, i + 1, j + 1, f"{said} {'=' if kind == 'equal' else 'is'} {value}."))
    i, j, kept = len(x), len(y), []
    while i and j:
        left = table[i][j - 1]
        if x[i - 1] == y[j - 1]:
            kept.append(x[i - 1])
            kind, said = "keep", f"“{x[i - 1]}” on both sides; keep it, go to the upper left."
        else:
            kind, way = ("back", "greater; go left") if left > table[i - 1][j] else ("up", "not greater; go up")
            said = f"the words differ and left ({left}) is {way}."
        steps.append(LcsStep(kind, i, j, f"Way back: {said}"))
        i, j = i - (kind != "back"), j - (kind != "up")
    counted = f"{len(kept)} word{'s' if len(kept) > 1 else ''}: {' '.join(kept[::-1])}"
    end = f"The longest common subsequence has {counted}." if kept else "No word is shared."
    return [*steps, LcsStep("done", 0, 0, end)]


@dataclass(frozen=True, repr=False, eq=False)
class LcsState(State):
    """The table at one step, counted from 0; the last step is the finished picture."""

    step: int
    rows: list[str]
    columns: list[str]
    table: list[list[int]]
    steps: list[LcsStep]
    rouge: dict[str, float]

    @property
    def caption(self) -> str:
        """The step in words."""
        now = self.steps[self.step]
        numbers = ", ".join(f"{name.replace('_score', '')} {value:.3f}" for name, value in self.rouge.items())
        rouge = f" ROUGE-L: {numbers}." if now.kind == "done" else ""
        return f"Step {self.step} of {len(self.steps) - 1}. {now.words}{rouge}"

    def _repr_html_(self) -> Markup:
        now, width = self.steps[self.step], len(self.columns)
        marked = {(move.row, move.column): "sp-all" for move in self.steps[: self.step + 1] if move.kind == "keep"}
        if now.kind not in ("start", "done"):
            for down, right in ((-1, -1),) if now.kind in ("equal", "keep") else ((-1, 0), (0, -1)):
                marked.setdefault((now.row + down, now.column + right), "sp-seen")
            marked[now.row, now.column] = f"{marked.get((now.row, now.column), '')} sp-now".strip()

        def cell(i: int, j: int) -> tuple[str, str]:
            known = not (i and j) or (i - 1) * width + j <= self.step
            return marked.get((i, j), ""), str(self.table[i][j]) if known else ""

        rows = [(word, [cell(i, j) for j in range(width + 1)]) for i, word in enumerate(("(none)", *self.rows))]
        return self._figure(render("play.html", drawing="lcs", columns=("(none)", *self.columns), rows=rows))


def lcs_state(reference: str, candidate: str, step: int | None = None) -> LcsState:
    """Return the LCS table of two texts, cut by ROUGE's tokenizer, at one step; without one, at the last."""
    tokenize = rouge_tokenizer()
    rows, columns = tokenize(require_text(reference, "reference")), tokenize(require_text(candidate, "candidate"))
    steps = lcs_steps(rows, columns)
    last = len(steps) - 1
    chosen = last if step is None else require_count(step, "step", minimum=0)
    if chosen > last:
        raise ValueError(f"step must be at most {last}, the last one, not {step}")
    rouge = calculate_rouge_l(reference, candidate)
    return LcsState(chosen, list(rows), list(columns), lcs_table(rows, columns), steps, rouge)


def play_lcs(reference: str, candidate: str) -> Picture:
    """Step through the LCS table, its way back, and ROUGE-L.

    Parameters
    ----------
    reference, candidate : str
        At most 30 words each.

    Returns
    -------
    Picture
        With the setting `step`. It begins at the end, so that it shows the whole table where nothing moves.

    Raises
    ------
    TypeError, ValueError
        If a text is no string or too long.

    Examples
    --------
    >>> picture = play_lcs("a cat", "the cat").set(step=4)
    >>> picture.state.steps[4].kind
    'equal'
    """
    picture = Picture(partial(lcs_state, reference, candidate), step=None)
    if (ipywidgets := _widgets()) is None:
        return picture
    last = len(picture.state.steps) - 1
    slider = ipywidgets.IntSlider(last, 0, last, description="step", layout=ipywidgets.Layout(width="24rem"))
    player = ipywidgets.Play(value=last, min=0, max=last, interval=400, show_repeat=False)
    ipywidgets.link((player, "value"), (slider, "value"))
    back = _button("back", lambda: picture.set(step=max(picture.state.step - 1, 0)))
    forward = _button("next", lambda: picture.set(step=min(picture.state.step + 1, last)))
    return picture.attach({"step": slider}, [back, forward, player])


_MOST_GRAMS = 60  # n-grams drawn for each order


@dataclass(frozen=True, repr=False, eq=False)
class BleuState(State):
    """A BLEU score with the rows of `score.explain(n=n)` of each order, and whether its precision was smoothed."""

    candidate: str
    references: list[str]
    smooth: str
    score: BleuScore
    grams: list[list[JsonDict]]
    smoothed: tuple[bool, ...]

    @property
    def caption(self) -> str:
        """The score and its parts in words."""
        score = self.score
        if score.score is None:
            return f"BLEU is undefined: {score.reason}."
        parts = zip(score.counts, score.totals, strict=True)
        counted = ", ".join(f"{count} of {total} {n}-grams" for n, (count, total) in enumerate(parts, 1))
        return f"BLEU {score.score:.2f} of 100: {counted} counted; brevity penalty {score.bp:.3f}."

    def _repr_html_(self) -> Markup:
        score, orders, used = self.score, [], []
        parts = zip(self.grams, score.counts, score.totals, score.precisions, self.smoothed, strict=True)
        for grams, count, total, precision, smoothed in parts:
            shown = f"{precision:.1f}{' (smoothed)' if smoothed else ''}" if total or precision else "too short"
            used += [f"{precision:.1f}"] if total or precision else []
            drawn = [_fate(gram) for gram in grams[:_MOST_GRAMS]]
            counted = f"{count} of {total}"
            orders.append({"grams": drawn, "more": len(grams) - len(drawn), "counted": counted, "precision": shown})
        short = 0 < score.candidate_length < score.reference_length
        rule = f"exp(1 − {score.reference_length}/{score.candidate_length}) = " if short else ""
        known = {"state": self, "score": score, "orders": orders, "used": used, "rule": rule}
        return self._figure(render("play.html", drawing="bleu", **known))


def _fate(row: JsonDict) -> tuple[str, str, str]:
    """How one n-gram is drawn, its text, and how many of it count."""
    own, counted = row["candidate"], row["counted"]
    if not counted:
        return "sp-none", row["n-gram"], "in no reference"
    said = "counts" if own == counted == 1 else f"{counted} of {own} count"
    return ("sp-all", row["n-gram"], said) if counted == own else ("sp-some", row["n-gram"], f"{said}, clipped")


def bleu_state(references: str | Sequence[str], candidate: str, smooth: str = "exp", n: int = 4) -> BleuState:
    """Return BLEU of a candidate with every n-gram up to order n."""
    given = [require_text(candidate, "candidate"), *require_references(references)]
    candidate, *known = (text.encode("utf-8", "replace").decode() for text in given)  # half characters become `?`
    score = bleu_score(candidate, known, n, smooth=require_option(smooth, "smooth", SMOOTHING))
    parts = zip(score.precisions, score.counts, score.totals, strict=True)
    smoothed = tuple(p > 0 and (not total or abs(p * total - 100 * count) > 1e-6) for p, count, total in parts)
    grams = [score.explain(n=order).rows for order in range(1, n + 1)]
    return BleuState(candidate, known, smooth, score, grams, smoothed)


def play_bleu(references: str | Sequence[str], candidate: str = "") -> Picture:
    """Type a candidate and watch its n-grams, the brevity penalty and BLEU.

    Parameters
    ----------
    references : str or list of str
        At least one.
    candidate : str
        Where to begin.

    Returns
    -------
    Picture
        With the settings `candidate` and `smooth` (as in `bleu_score`).

    Raises
    ------
    TypeError, ValueError
        If a text is no string or there is no reference.

    Examples
    --------
    >>> picture = play_bleu("the cat sat on the mat", "the cat sat")
    >>> picture.set(candidate="the cat sat on the mat").state.score.counts
    (6, 5, 4, 3)
    """
    picture = Picture(partial(bleu_state, require_references(references)), candidate=candidate, smooth="exp")
    if (ipywidgets := _widgets()) is None:
        return picture
    wide = ipywidgets.Layout(width="40rem", max_width="100%")
    field = ipywidgets.Text(picture.state.candidate, description="candidate", continuous_update=True, layout=wide)
    smooth = ipywidgets.Dropdown(options=list(SMOOTHING), value="exp", description="smooth")
    return picture.attach({"candidate": field, "smooth": smooth})


_MARKS = {"supported": " ✓", "unclear": " ?", "contradicted": " ✗", "not supported": " ✗", "not judged": ""}


@dataclass(frozen=True, eq=False)
class EvidenceStudy:
    """A result and the verdicts for every k: `verdicts[k - 1][i]` judges summary sentence i by k sentences."""

    result: Faithfulness
    verdicts: tuple[tuple[Verdict, ...], ...]
    threshold: float


def evidence_study(
    text: str,
    summary: str,
    max_k: int = 12,
    *,
    embedder: EmbedderOrName = "minilm",
    checker: str | Checker = "embedded",
) -> EvidenceStudy:
    """Judge a summary with 1 to `max_k` evidence sentences for each of its sentences.

    Raises
    ------
    ValueError
        If one of the texts is empty: there is nothing to judge.
    """
    judge, judged = load_checker(checker), partial(evaluate, text, summary, embedder=embedder)
    whole = judged(require_count(max_k, "max_k"), checker=judge)
    if not whole.sentences:
        raise ValueError(f"there is nothing to play with: {whole.reason}")
    smaller = [judged(k, checker=judge) for k in range(1, min(max_k, len(whole.source_sentences)))]
    verdicts = tuple(tuple(report.verdicts) for report in (*smaller, whole))
    return EvidenceStudy(whole, verdicts, judge.threshold)


def _decided(verdict: Verdict, threshold: float) -> Verdict:
    """A verdict under another threshold, with which a lower border moves that is the same, or lies above it."""
    low = verdict.contradicted_below
    if low is not None:
        clash = low == verdict.threshold and any(finding.clash for finding in verdict.findings)
        low = threshold if clash else min(low, threshold)
    return replace(verdict, threshold=threshold, contradicted_below=low)


@dataclass(frozen=True, repr=False, eq=False)
class EvidenceState(State):
    """Verdicts and score for one k and one threshold; `start` is to compare with."""

    study: EvidenceStudy
    k: int
    threshold: float
    verdicts: tuple[Verdict, ...]
    score: float | None
    start: tuple[int, float, float | None]

    @property
    def caption(self) -> str:
        """The score in words, and how it differs from the start."""
        judged = [verdict.supported for verdict in self.verdicts if verdict.judged]
        setting = f"k = {self.k}, threshold {self.threshold:.2f}"
        if self.score is None:
            return f"{setting}: no sentence could be judged."
        k, threshold, before = self.start
        change = ""
        if before is not None and (k, threshold) != (self.k, self.threshold):
            change = f" ({self.score - before:+.2f} against k = {k}, threshold {threshold:.2f})"
        counted = f"{sum(map(bool, judged))} of {len(judged)} sentences supported"
        return f"{setting}: {counted}, score {self.score:.2f}{change}."

    def _cell(self, k: int, i: int) -> tuple[bool, float | None, str]:
        verdict = _decided(self.study.verdicts[k - 1][i], self.threshold)
        sign = "not judged" if verdict.probability is None else f"{verdict.probability:.2f}"
        return k == self.k, verdict.probability, sign + _MARKS[verdict.state or "not judged"]

    def _repr_html_(self) -> Markup:
        result, most, told = self.study.result, len(self.study.verdicts), []
        used: dict[int, list[str]] = {}
        for i, verdict in enumerate(self.verdicts, 1):
            for rank, item in enumerate(verdict.evidence, 1):
                newest = " (newest)" if rank == len(verdict.evidence) else ""
                used.setdefault(item.index, []).append(f"{i}{newest}")
            found = ", ".join(f"{finding.kind} “{finding.text}”" for finding in verdict.findings)
            numbers = ", ".join(str(item.index + 1) for item in verdict.evidence)
            told.append((verdict.state or "not judged", numbers, f"; not found there: {found}" if found else ""))
        lines = []
        for j, sentence in enumerate(result.source_sentences):
            role = f"for {', '.join(used[j])}" if j in used else ""
            lines.append(("sp-some" if "newest" in role else "sp-seen" if role else "", sentence.text, role))
        row = lambda i: [self._cell(k, i) for k in range(1, most + 1)]
        grid = [(sentence.text, row(i)) for i, sentence in enumerate(result.sentences)]
        known = {"grid": grid, "count": most, "verdicts": told, "lines": lines}
        return self._figure(render("play.html", drawing="evidence", **known))


def evidence_state(
    study: EvidenceStudy,
    k: int = DEFAULT_K,
    threshold: float | None = None,
    start: tuple[int, float, float | None] | None = None,
) -> EvidenceState:
    """Return a study's verdicts for k and a threshold; nothing is judged again."""
    most = len(study.verdicts)
    if require_count(k, "k") > most:
        raise ValueError(f"k must be at most {most}, for which the study was made, not {k}")
    chosen = study.threshold if threshold is None else require_share(threshold, "threshold")
    verdicts = tuple(_decided(verdict, chosen) for verdict in study.verdicts[k - 1])
    score = supported_share(verdicts)[0]
    return EvidenceState(study, k, chosen, verdicts, score, start or (k, chosen, score))


def play_evidence(
    text: str,
    summary: str,
    *,
    k: int = DEFAULT_K,
    max_k: int = 12,
    embedder: EmbedderOrName = "minilm",
    checker: str | Checker = "embedded",
) -> Picture:
    """Move the number of evidence sentences and the threshold; verdicts follow.

    Parameters
    ----------
    text, summary : str
        The article and the summary.
    k : int
        Where to begin; at most the article's number of sentences is used.
    max_k : int
        How far the slider reaches; everything is judged once, before the picture appears.
    embedder, checker
        As for `evaluate`; the same checker by default, so that the verdicts are the same.

    Returns
    -------
    Picture
        With the settings `k` and `threshold`.

    Raises
    ------
    TypeError, ValueError
        If a text is no string or empty, or a count is less than 1.

    Examples
    --------
    >>> text = "The bridge opened in 1931. It is long."
    >>> picture = play_evidence(text=text, summary="The bridge opened in 1931.", k=1)
    >>> picture.set(threshold=1.0).state.score
    0.0
    """
    study = evidence_study(text, summary, max_k, embedder=embedder, checker=checker)
    most = len(study.verdicts)
    first = evidence_state(study, min(require_count(k, "k"), most))
    picture = Picture(partial(evidence_state, study, start=first.start), k=first.k, threshold=first.threshold)
    if (ipywidgets := _widgets()) is None:
        return picture
    wide = ipywidgets.Layout(width="24rem")
    count = ipywidgets.IntSlider(first.k, 1, max(2, most), description="k", disabled=most == 1, layout=wide)
    border = ipywidgets.FloatSlider(first.threshold, min=0, max=1, step=0.01, description="threshold", layout=wide)
    return picture.attach({"k": count, "threshold": border})


Points: TypeAlias = list[list[float]]
Pairs: TypeAlias = ArrayLike  # (n, 2) numbers
Widget: TypeAlias = Any  # of ipywidgets
PRESETS = ("cloud", "outlier", "curve", "ties")
_NAMES = ("metric", "people")  # of the axes
_LARGEST = 1e100  # differences of larger numbers overflow
_BOX = {"left": 46, "right": 430, "top": 12, "bottom": 300}  # the plot's place in an SVG of 440 by 345
_SEES = {"pearson": "values, along a line", "spearman": "ranks", "kendall": "the order of pairs"}


def _require_points(points: object) -> Points:
    """Points as a list of [x, y]: at least two, all finite."""
    try:
        table = float_array(points, "points")
    except (TypeError, ValueError) as error:
        raise TypeError(f"points must be pairs of numbers, such as [[1, 2], [3, 5]]: {error}") from None
    if table.ndim != 2 or table.shape[1] != 2 or len(table) < 2:
        raise ValueError(f"points must be at least two pairs [x, y], not an array of shape {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("points must be finite: leave out the ones without a value")
    if (most := np.abs(table).max()) > _LARGEST:
        raise ValueError(f"points must lie within ±{_LARGEST:g} to be drawn, not at {most:g}: rescale them")
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


def _frame_of(points: Points) -> dict[str, Any]:
    """The ranges of both axes: 0 to 10 for points spread there, else the points with some space around."""
    table = np.array(points)
    if table.min() >= 0 and table.max() <= 10 and table.max() > 1:
        low, high = np.zeros(2), np.full(2, 10.0)
    else:
        least = np.maximum(np.abs(table).max(axis=0) * 1e-6, 1e-6)  # 1e17 and 1e17 + 1e-6 are one number
        space = np.maximum(np.ptp(table, axis=0) * 0.15, least)
        low, high = table.min(axis=0) - space, table.max(axis=0) + space
    (x0, y0), (x1, y1) = low.tolist(), high.tolist()
    return {"x": [x0, x1], "y": [y0, y1], "box": _BOX}


def _scatter(points: Points, frame: Mapping[str, Any], label: str) -> Markup:
    """Points as an SVG picture with an alternative text."""
    left, right, top, bottom = _BOX.values()
    (x0, x1), (y0, y1) = frame["x"], frame["y"]
    ticks = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        a, b = left + share * (right - left), bottom - share * (bottom - top)
        x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
        ticks.append((f"{a:.1f}", f"{b + 4:.1f}", f"{x:.3g}", f"{y:.3g}"))
    along = [((x - x0) / (x1 - x0), (y - y0) / (y1 - y0)) for x, y in points]
    places = [(f"{left + x * (right - left):.1f}", f"{bottom - y * (bottom - top):.1f}") for x, y in along]
    known = {"ticks": ticks, "places": places, "names": _NAMES, "label": label, "box": _BOX}
    return render("play.html", drawing="scatter", **known)


@dataclass(frozen=True, repr=False, eq=False)
class CorrelationState(State):
    """Points (metric, people), their coefficients, and those to compare with."""

    points: Points
    values: dict[str, Correlation]
    before: dict[str, float | None]

    @property
    def caption(self) -> str:
        """The coefficients in words."""
        named = ", ".join(f"{name.capitalize()} {_shown(found.score)}" for name, found in self.values.items())
        return f"{len(self.points)} points: {named}."

    def _readings(self) -> Markup:
        """The coefficients as a table: now, before, and what each looks at."""
        rows = []
        for name, found in self.values.items():
            reason = f" ({found.reason})" if found.score is None else ""
            rows.append((name.capitalize(), _SEES[name], _shown(found.score) + reason, _shown(self.before[name])))
        return render("play.html", drawing="readings", readings_of=rows)

    def _repr_html_(self) -> Markup:
        return self._figure(Markup(_scatter(self.points, _frame_of(self.points), self.caption) + self._readings()))


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def correlation_state(points: Pairs, before: Mapping[str, float | None] | None = None) -> CorrelationState:
    """Return points with Pearson's r, Spearman's rho and Kendall's tau-b."""
    known = _require_points(points)
    x, y = np.array(known).T
    values = {name: correlate([x], [y], level="pooled", coefficient=name, n_resamples=0) for name in COEFFICIENTS}
    return CorrelationState(known, values, dict(before or {name: value.score for name, value in values.items()}))


@cache
def _movable_points() -> type[Widget]:
    """The widget class of points that can be dragged."""
    import anywidget
    import traitlets

    class MovablePoints(anywidget.AnyWidget):
        _esm = (resources.files("summeval_nb") / "assets/points.js").read_text(encoding="utf-8")
        _css = (resources.files("summeval_nb") / "assets/summeval.css").read_text(encoding="utf-8")
        value: Any = traitlets.List().tag(sync=True)
        drawing = traitlets.Unicode().tag(sync=True)
        frame = traitlets.Dict().tag(sync=True)
        names: Any = traitlets.List().tag(sync=True)

    return MovablePoints


def play_correlation(points: Pairs | None = None) -> Picture:
    """Drag points and watch Pearson's r, Spearman's rho and Kendall's tau-b part.

    Parameters
    ----------
    points : array_like, shape (n, 2), optional
        A metric's scores and people's ratings. Default: twelve points of a tame cloud.

    Returns
    -------
    Picture
        With the setting `points`. Needs anywidget besides ipywidgets for dragging.

    Raises
    ------
    TypeError, ValueError
        If the points are not at least two pairs of finite numbers.

    Examples
    --------
    >>> picture = play_correlation([[1, 1], [2, 2], [3, 3]])
    >>> picture.set(points=[[1, 1], [2, 2], [3, 1]]).state.caption
    '3 points: Pearson 0.000, Spearman 0.000, Kendall 0.000.'
    """
    first = correlation_state(preset_points("cloud") if points is None else points)

    def moved(points: Pairs) -> CorrelationState:
        state = correlation_state(points, first.before)
        if len(state.points) != len(first.points):
            counts = f"{len(first.points)} points, not {len(state.points)}"
            raise ValueError(f"this picture has {counts}: make another picture")
        return state

    picture = Picture(moved, points=first.points)
    if (ipywidgets := _widgets("anywidget")) is None:
        return picture
    frame = _frame_of(first.points)
    plot = _movable_points()(value=first.points, frame=frame, names=list(_NAMES))
    plot.drawing = _scatter(first.points, frame, "Points that can be moved")
    (x0, x1), (y0, y1) = frame["x"], frame["y"]
    presets = {"start": first.points}
    for name in PRESETS[1:]:
        drawn = preset_points(name, len(first.points))
        presets[name] = [[x0 + x / 10 * (x1 - x0), y0 + y / 10 * (y1 - y0)] for x, y in drawn]
    buttons = [_button(name, partial(picture.set, points=drawn)) for name, drawn in presets.items()]
    return picture.attach(
        {"points": plot}, [ipywidgets.VBox(buttons)], draw=lambda state: state._figure(state._readings())
    )


GENERATED, REFERENCE = "The cat is on the mat.", "The black cat sat on the mat."
FALSE = "The mat sat on the black cat."
SUMMARY = (  # of the case of lesson 23
    "Lorries heavier than 12 tonnes must still use the ring road.\n"
    "The Kestrel Bridge has reopened after repairs costing 48 million crowns."
)
REFERENCES = [
    "The Kestrel Bridge in Norhaven reopened on Monday.\n"
    "The repair cost 48 million crowns.\n"
    "Heavy lorries still have to use the ring road.",
    "Norhaven celebrates: its bridge is open again after 26 months.\n"
    "The shipping company must pay for most of the repairs.",
]
BLUE, PALE = "#1f5f99", "#cfe3f5"

Slide = tuple[str, str | Markup]


def slides_page(title: str, slides: Sequence[Slide]) -> str:
    """Return a page that shows one slide at a time: Page Down or an arrow leads on, and each prints on a sheet.

    Parameters
    ----------
    title : str
        The title of the window.
    slides : sequence of (str, str or Markup)
        Heading and body of each. A plain text is escaped; `Markup` is taken as the HTML that it is.

    Raises
    ------
    ValueError
        If there is no slide.

    Examples
    --------
    >>> slides_page("A class", [("A question", "Is it true?")]).count("Is it true?")
    1
    """
    if not slides:
        raise ValueError("slides is empty: give at least one pair of heading and body")
    return f"{render('slides.html', title=title, slides=list(slides))}\n"


def drawing(figure: plt.Figure, alt: str) -> Markup:
    """Return a matplotlib figure as an image for `slides_page`, and close it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    alt : str
        What the picture shows, for those who do not see it.
    """
    file = io.BytesIO()
    with plt.rc_context({"svg.hashsalt": "summeval_nb"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(figure)
    return render("drawing.html", alt=alt, data=base64.b64encode(file.getvalue()).decode())


def draw_shared_words(generated: str, reference: str, *, counts: bool = True) -> plt.Figure:
    """Draw two texts word by word, with a line for each word that ROUGE-1 counts as shared.

    Parameters
    ----------
    generated, reference : str
        A sentence each; words are letters and digits in lower case, as ROUGE takes them.
    counts : bool
        Whether precision and recall are written beside the rows.

    Examples
    --------
    >>> figure = draw_shared_words("The cat is here.", "The cat was here.")
    >>> len(figure.axes[0].lines)  # the, cat, here
    3
    """
    rows = [re.findall("[a-z0-9]+", text.lower()) for text in require_texts([generated, reference], "texts")]
    if not all(rows):
        raise ValueError(f"there are no words to draw in {generated!r} or {reference!r}: pass two sentences with words")
    free, lines = list(range(len(rows[1]))), []
    for place, word in enumerate(rows[0]):
        other = next((there for there in free if rows[1][there] == word), None)
        if other is not None:
            free.remove(other)
            lines.append((place, other))
    longest = max(map(len, rows))
    size = 1.5 * longest + 3.4 * counts, 3
    figure, axes = plt.subplots(figsize=size, facecolor="white", layout="constrained")
    axes.axis("off")
    for row, (height, words) in enumerate(zip((1, 0), rows, strict=True)):
        shared = {pair[row] for pair in lines}
        for place, word in enumerate(words):
            box = {"facecolor": PALE if place in shared else "white", "edgecolor": BLUE, "boxstyle": "round"}
            axes.text(place, height, word, ha="center", va="center", fontsize=18, bbox=box)
        if counts:
            said = f"{'recall' if row else 'precision'} {len(lines)}/{len(words)} = {len(lines) / len(words):.2f}"
            axes.text(longest - 0.3, height, said, va="center", fontsize=18, color=BLUE)
    for upper, lower in lines:
        axes.plot([upper, lower], [0.84, 0.16], color=BLUE)
    axes.set(xlim=(-0.7, longest + 2.4 * counts - 0.3), ylim=(-0.4, 1.4))
    return figure


def class_slides(vote: Mapping[str, str]) -> list[Slide]:
    """Return the fourteen slides of the ninety minutes of lesson 72, for `slides_page`.

    Parameters
    ----------
    vote : mapping of str to str
        Letter and text of the summaries that the class votes on.

    Returns
    -------
    list of (str, str or Markup)
        Heading and body of each; pictures and tables are those of the package.
    """
    sample = sample_articles()[0]
    article, summary = split_text(sample.text), split_text(sample.subtle.text)
    cosines = cosine_similarity(sentence2embedding(article), sentence2embedding(summary))
    nearest = [", ".join(str(place + 1) for place in places) for places in topk_related(cosines, 3)]
    evidence: list[JsonDict] = [{"summary": text, "article": at} for text, at in zip(summary, nearest, strict=True)]
    close = [
        {"of the summary": str(n)} | {str(place): f"{value:.2f}" for place, value in enumerate(row, 1)}
        for n, row in enumerate(cosines, 1)
    ]
    with np.load(io.BytesIO(read_asset("summeval_real.npz")), allow_pickle=False) as tables:  # articles by systems
        rouge, relevance = tables["metric_rouge1"].astype(float), tables["thirds"][:, :, 3] / 3
    found = {n: correlate(rouge[:, :n], relevance[:, :n]) for n in (4, 8, 16)}
    sure = [{"systems": n, "Kendall's τ": with_interval(own.score, own.interval, ".2f")} for n, own in found.items()]
    bleu = bleu_state(REFERENCE.rstrip(".").lower(), GENERATED.rstrip(".").lower(), "none", 2)
    two: dict[str, JsonDict] = {"Ada": {"stemmer": True}, "Ben": {"multi": "average"}}
    numbers = {who: float(rouge_score(SUMMARY, REFERENCES, types=["rouge1"], **how)) for who, how in two.items()}
    told = [("summary", SUMMARY), *(("reference", text) for text in REFERENCES)]
    told += [(who, f"ROUGE-1 {number:.2f}") for who, number in numbers.items()]
    listed = lambda pairs: render("listed.html", pairs=list(pairs))
    return [
        ("Is this summary any good?", "Ninety minutes on how anybody could know."),
        ("One of these is false. Which?", listed(enumerate(summary, 1))),
        ("How much of it is the same?", listed([("generated", GENERATED), ("reference", REFERENCE)])),
        (
            "Precision and recall",
            drawing(draw_shared_words(GENERATED, REFERENCE), "Five lines join the shared words: 5/6 and 5/7."),
        ),
        ("And this one?", drawing(draw_shared_words(FALSE, REFERENCE, counts=False), "Every word finds its partner.")),
        ("BLEU: longer runs, and no reward for stopping early", bleu._repr_html_()),
        ("One summary, two numbers. Who is right?", listed(told)),
        ("A grade from 1 to 5 for each", listed(vote.items())),
        ("Which of them does a metric like?", "Write your guess down before you see it."),
        ("Find the evidence, then judge", html_table(evidence, caption="Each sentence leads to three of the article")),
        ("Close is not true: which row is false?", html_table(close, caption="Cosines with the article's sentences")),
        ("Who judges the judges?", correlation_state(np.column_stack([rouge[6], relevance[6]]))._repr_html_()),
        ("How sure?", html_table(sure, caption="ROUGE-1 with people, and 95 % intervals")),
        ("“Our summaries have a ROUGE-1 of 0.52, the best on the market.”", "Which question do you ask first?"),
    ]
