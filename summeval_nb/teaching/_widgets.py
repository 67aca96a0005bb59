# A plain private module. Edited directly: no notebook exports it; tested in tests/test_play.py.
"""Sliders, fields, buttons and points to drag: they ask for new settings and show the drawing, no more."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from importlib import resources
from typing import TYPE_CHECKING, Any

from summeval_nb.ground.base import how_to_install
from summeval_nb.teaching._drawings import NAMES, Shown, figure, readings_html, scatter_svg
from summeval_nb.teaching._points import PRESETS, frame_of, into_frame, preset_points

if TYPE_CHECKING:
    from ipywidgets import Widget

    from summeval_nb.teaching._states import BleuState, CorrelationState, EvidenceState
    from summeval_nb.teaching.play import LcsState, Picture

NOTE = (
    "A still picture. To play with it, open the notebook in JupyterLab and run all cells: Run > Run All Cells "
    f"({how_to_install('lab')})."
)


def installed(*names: str) -> bool:
    """Whether modules can be imported; an error inside one of them is an error."""
    try:
        for name in names:
            importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in names:
            raise
        return False
    return True


def join(
    picture: Picture[Shown], controls: Mapping[str, Widget], beside: Sequence[Widget], draw: Callable[[Shown], str]
) -> tuple[Widget, Callable[[], None]]:
    """Build a picture's widget, controls in a row that wraps and the drawing below; return it, and what updates it."""
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


def lcs_controls(picture: Picture[LcsState]) -> Picture[LcsState]:
    """Give a picture of steps a slider, two buttons and a player."""
    if not installed("ipywidgets"):
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


def bleu_controls(picture: Picture[BleuState], smoothing: Iterable[str]) -> Picture[BleuState]:
    """Give a picture of n-grams a text field and a choice of smoothing."""
    if not installed("ipywidgets"):
        return picture
    import ipywidgets

    wide = ipywidgets.Layout(width="40rem", max_width="100%")
    text = picture.state.candidate
    field = ipywidgets.Text(text, description="candidate", continuous_update=True, layout=wide)
    smooth = ipywidgets.Dropdown(options=list(smoothing), value="exp", description="smooth")
    return picture.attach({"candidate": field, "smooth": smooth})


def evidence_controls(picture: Picture[EvidenceState], most: int) -> Picture[EvidenceState]:
    """Give a picture of verdicts a slider for k, up to `most`, and one for the threshold."""
    if not installed("ipywidgets"):
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


def points_controls(picture: Picture[CorrelationState], seed: int) -> Picture[CorrelationState]:
    """Give a picture of points the points themselves to drag, and a button for each preset."""
    if not installed("ipywidgets", "anywidget"):
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
    draw = lambda state: figure(state.caption, readings_html(state))
    return picture.attach({"points": plot}, [ipywidgets.VBox(buttons)], draw)
