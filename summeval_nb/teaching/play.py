"""Four pictures with sliders, a text field and points to drag, each a still figure where there is
nothing to drag with.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any, Generic, Self

import numpy as np

from summeval_nb.agreement.correlation import COEFFICIENTS, correlate
from summeval_nb.core.base import how_to_install, require_count, require_option, require_text
from summeval_nb.core.html import Markup, render
from summeval_nb.evidence.base import Checker
from summeval_nb.evidence.faithfulness import DEFAULT_K, supported_share
from summeval_nb.overlap.bleu import SMOOTHING, bleu_score, require_references
from summeval_nb.overlap.rouge import calculate_rouge_l, lcs_table
from summeval_nb.overlap.tokens import rouge_tokenizer
from summeval_nb.teaching import pictures
from summeval_nb.teaching.pictures import (
    NAMES,
    PRESETS,
    BleuState,
    CorrelationState,
    EvidenceState,
    EvidenceStudy,
    LcsState,
    Pairs,
    Shown,
    decided,
    evidence_study,
    frame_of,
    into_frame,
    lcs_steps,
    preset_points,
    require_known,
    require_points,
    require_step,
    same_count,
    scatter_svg,
    smoothed_orders,
)
from summeval_nb.text.embed import EmbedderOrName

if TYPE_CHECKING:
    from ipywidgets import Widget

__all__ = [
    "NOTE",
    "Picture",
    "lcs_state",
    "play_lcs",
    "bleu_state",
    "play_bleu",
    "evidence_state",
    "play_evidence",
    "correlation_state",
    "play_correlation",
]


class Picture(Generic[Shown]):
    """A state, its drawing and, where ipywidgets is installed, controls that change it.

    Parameters
    ----------
    compute : callable
        From settings, given by name, to a state: an object with an attribute for each
        setting, a `caption` and `_repr_html_`.
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

    def __init__(self, compute: Callable[..., Shown], **settings: object):
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
        self, controls: Mapping[str, Widget], beside: Sequence[Widget] = (), draw: Callable[[Shown], str] | None = None
    ) -> Self:
        """Join widgets to settings; `beside` have no setting, `draw` makes the rest."""
        draw = draw or (lambda state: state._repr_html_())
        self.widget, self._show = _join(self, controls, beside, draw)
        self.controls = dict(controls)
        self._show()
        return self

    def __repr__(self) -> str:
        return f"{self.state.caption}\n{NOTE}"

    def _repr_html_(self) -> str:
        picture = Markup(self.state._repr_html_())
        return render("still.html", picture=picture, note=NOTE)

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, object]:
        moving = self.widget._repr_mimebundle_(**kwargs) if self.widget else {}
        return {**moving, "text/plain": repr(self), "text/html": self._repr_html_()}


def lcs_state(reference: str, candidate: str, step: int | None = None) -> LcsState:
    """Return the LCS table of two texts, cut by ROUGE's tokenizer, at one step."""
    tokenize = rouge_tokenizer()
    rows = tokenize(require_text(reference, "reference"))
    columns = tokenize(require_text(candidate, "candidate"))
    steps = lcs_steps(rows, columns)
    chosen = require_step(step, len(steps) - 1)
    rouge = calculate_rouge_l(reference, candidate)
    parts = (tuple(rows), tuple(columns), lcs_table(rows, columns), tuple(steps), rouge)
    return LcsState(reference, candidate, chosen, *parts)


def play_lcs(reference: str, candidate: str) -> Picture[LcsState]:
    """Step through the LCS table, its way back, and ROUGE-L.

    Parameters
    ----------
    reference, candidate : str
        At most 30 words each.

    Returns
    -------
    Picture
        With the setting `step`. It begins at the end, so that it shows the whole table
        where nothing moves.

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
    return _lcs_controls(picture)


def bleu_state(references: str | Sequence[str], candidate: str, smooth: str = "exp", n: int = 4) -> BleuState:
    """Return BLEU of a candidate with every n-gram up to order n."""
    given = [require_text(candidate, "candidate"), *require_references(references)]
    candidate, *known = map(pictures.whole, given)
    smooth = require_option(smooth, "smooth", SMOOTHING)
    score = bleu_score(candidate, known, n, smooth=smooth)
    grams = tuple(tuple(score.explain(n=order).rows) for order in range(1, n + 1))
    smoothed = smoothed_orders(score)
    return BleuState(candidate, tuple(known), smooth, score, grams, smoothed)


def play_bleu(references: str | Sequence[str], candidate: str = "") -> Picture[BleuState]:
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
    known = require_references(references)
    picture = Picture(partial(bleu_state, known), candidate=candidate, smooth="exp")
    return _bleu_controls(picture, SMOOTHING)


def evidence_state(
    study: EvidenceStudy,
    k: int = DEFAULT_K,
    threshold: float | None = None,
    start: tuple[int, float, float | None] | None = None,
) -> EvidenceState:
    """Return a study's verdicts for k and a threshold; nothing is judged again."""
    k, chosen = require_known(study, k, threshold)
    verdicts = tuple(decided(verdict, chosen) for verdict in study.verdicts[k - 1])
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
) -> Picture[EvidenceState]:
    """Move the number of evidence sentences and the threshold; verdicts follow.

    Parameters
    ----------
    text, summary : str
        The article and the summary.
    k : int
        Where to begin; at most the article's number of sentences is used.
    max_k : int
        How far the slider reaches; everything is judged once, before the picture
        appears.
    embedder, checker
        As for `evaluate`; the same checker by default, so that the verdicts are the
        same.

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
    first = evidence_state(study, min(require_count(k, "k"), len(study.verdicts)))
    compute = partial(evidence_state, study, start=first.start)
    picture = Picture(compute, k=first.k, threshold=first.threshold)
    return _evidence_controls(picture, len(study.verdicts))


def correlation_state(points: Pairs, before: Mapping[str, float | None] | None = None) -> CorrelationState:
    """Return points with Pearson's r, Spearman's rho and Kendall's tau-b."""
    known = require_points(points)
    x, y = np.array(known).T
    values = {name: correlate([x], [y], level="pooled", coefficient=name, n_resamples=0) for name in COEFFICIENTS}
    scores = {name: value.score for name, value in values.items()}
    return CorrelationState(known, values, dict(before or scores))


def play_correlation(points: Pairs | None = None, *, seed: int = 0) -> Picture[CorrelationState]:
    """Drag points and watch Pearson's r, Spearman's rho and Kendall's tau-b part.

    Parameters
    ----------
    points : array_like, shape (n, 2), optional
        A metric's scores and people's ratings. Default: twelve points of a tame cloud.
    seed : int
        Of the cloud and of the presets.

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
    start = preset_points("cloud", seed=seed) if points is None else points
    first = correlation_state(start)

    def moved(points: Pairs) -> CorrelationState:
        return correlation_state(same_count(points, first.points), first.before)

    return _points_controls(Picture(moved, points=first.points), seed)


NOTE = (
    "A still picture. To play with it, open the notebook in JupyterLab and run all "
    "cells: Run > Run All Cells "
    f"({how_to_install('lab')})."
)


def _installed(*names: str) -> bool:
    """Whether modules can be imported; an error inside one of them is an error."""
    try:
        for name in names:
            importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in names:
            raise
        return False
    return True


def _join(
    picture: Picture[Shown], controls: Mapping[str, Widget], beside: Sequence[Widget], draw: Callable[[Shown], str]
) -> tuple[Widget, Callable[[], None]]:
    """Build a picture's widget, controls in a row that wraps and the drawing below.

    Return it, and what updates it.
    """
    import ipywidgets

    view = ipywidgets.HTML(layout=ipywidgets.Layout(width="auto", min_width="0"))

    def show() -> None:
        view.value = draw(picture.state)
        for name, control in controls.items():
            if control.value != getattr(picture.state, name):
                control.value = getattr(picture.state, name)

    def moved(change: Mapping[str, object], name: str) -> None:
        if change["new"] != getattr(picture.state, name):
            picture.set(**{name: change["new"]})

    for name, control in controls.items():
        control.observe(partial(moved, name=name), "value")
    row = ipywidgets.HBox([*controls.values(), *beside], layout=ipywidgets.Layout(flex_flow="row wrap"))
    return ipywidgets.VBox([row, view]), show


def _lcs_controls(picture: Picture[LcsState]) -> Picture[LcsState]:
    """Give a picture of steps a slider, two buttons and a player."""
    if not _installed("ipywidgets"):
        return picture
    import ipywidgets

    last = len(picture.state.steps) - 1
    slider = ipywidgets.IntSlider(last, 0, last, description="step", layout=ipywidgets.Layout(width="24rem"))
    player = ipywidgets.Play(value=last, min=0, max=last, interval=400, show_repeat=False)
    ipywidgets.link((player, "value"), (slider, "value"))
    buttons = []
    for name, change in (("back", -1), ("next", 1)):
        button = ipywidgets.Button(description=name, layout=ipywidgets.Layout(width="5rem"))
        button.on_click(partial(_go, picture, change, last))
        buttons.append(button)
    return picture.attach({"step": slider}, [*buttons, player])


def _go(picture: Picture[LcsState], change: int, last: int, _: Widget) -> None:
    picture.set(step=min(max(picture.state.step + change, 0), last))


def _bleu_controls(picture: Picture[BleuState], smoothing: Iterable[str]) -> Picture[BleuState]:
    """Give a picture of n-grams a text field and a choice of smoothing."""
    if not _installed("ipywidgets"):
        return picture
    import ipywidgets

    wide = ipywidgets.Layout(width="40rem", max_width="100%")
    text = picture.state.candidate
    field = ipywidgets.Text(text, description="candidate", continuous_update=True, layout=wide)
    smooth = ipywidgets.Dropdown(options=list(smoothing), value="exp", description="smooth")
    return picture.attach({"candidate": field, "smooth": smooth})


def _evidence_controls(picture: Picture[EvidenceState], most: int) -> Picture[EvidenceState]:
    """Give a picture of verdicts sliders for k, up to `most`, and the threshold."""
    if not _installed("ipywidgets"):
        return picture
    import ipywidgets

    wide, state = ipywidgets.Layout(width="24rem"), picture.state
    count = ipywidgets.IntSlider(state.k, 1, max(2, most), description="k", disabled=most == 1, layout=wide)
    options = {"min": 0, "max": 1, "step": 0.01, "description": "threshold", "layout": wide}
    return picture.attach({"k": count, "threshold": ipywidgets.FloatSlider(state.threshold, **options)})


@cache
def _movable_points() -> type[Widget]:
    """Return the widget class of points that can be dragged."""
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


def _points_controls(picture: Picture[CorrelationState], seed: int) -> Picture[CorrelationState]:
    """Give a picture points to drag, and a button for each preset."""
    if not _installed("ipywidgets", "anywidget"):
        return picture
    import ipywidgets

    points = picture.state.points
    frame = frame_of(points)
    plot = _movable_points()(value=points, frame=frame, names=list(NAMES))
    plot.drawing = scatter_svg(points, NAMES, frame, "Points that can be moved")
    buttons = []
    for name in ("start", *PRESETS[1:]):
        moved = points if name == "start" else into_frame(frame, preset_points(name, len(points), seed))
        button = ipywidgets.Button(description=name, layout=ipywidgets.Layout(width="6rem"))
        button.on_click(lambda _, moved=moved: picture.set(points=moved))
        buttons.append(button)
    draw = lambda state: pictures.figure(state.caption, state.readings_html())
    return picture.attach({"points": plot}, [ipywidgets.VBox(buttons)], draw)
