"""People label drawn items one after the other: buttons in Jupyter over the CSV of `draw_items`."""

from __future__ import annotations

from functools import partial
from os import PathLike
from typing import Any

from ..core.base import JsonDict, require_module, require_text
from ..core.columns import is_missing
from ..core.files import require_path
from ..core.html import escape, render
from .correction import LABEL_COLUMNS, VERDICTS, plain_cell, read_drawn, record_label

__all__ = ["Labelling", "label_items"]

ANSWERS = {"Yes": "yes", "No": "no"}


class Labelling:
    """Drawn items, one at a time, with buttons; `label_items` makes it, and Jupyter shows it.

    Attributes
    ----------
    widget : ipywidgets.VBox
        Buttons and the item below them.
    buttons : dict
        The buttons by their names: Yes, No, Skip and Back.
    place : int
        Which item is shown, from 0; behind the last one at the end.
    """

    def __init__(self, path: str | PathLike[str], who: str, *, question: str, share: bool) -> None:
        widgets: Any = require_module("ipywidgets", "lab")
        self.path, self.who, self.share = require_path(path), plain_cell(require_text(who, "who").strip()), share
        if not self.who:
            raise ValueError("who is empty: say whose labels these are")
        self._items = self._read()
        self.place, self._problem = self._next(0), ""
        self.buttons: dict[str, Any] = {
            name: widgets.Button(description=name, layout=widgets.Layout(width="6rem"))
            for name in (*ANSWERS, "Skip", "Back")
        }
        for name, button in self.buttons.items():
            button.on_click(partial(self._clicked, name))
        asked = widgets.HTML(f"<strong>{escape(require_text(question, 'question'))}</strong>")
        row = widgets.HBox([*self.buttons.values()], layout=widgets.Layout(flex_flow="row wrap"))
        self._view = widgets.HTML(layout=widgets.Layout(width="auto", min_width="0"))
        self.widget: Any = widgets.VBox([asked, row, self._view])
        self._draw()

    @property
    def n_labelled(self) -> int:
        """How many items have a label of this person."""
        return sum(bool(self._own(rows)) for rows in self._items)

    def _read(self) -> list[list[JsonDict]]:
        """The rows of each item, one for each person who labelled it."""
        found: dict[str, list[JsonDict]] = {}
        for row in read_drawn(self.path):
            found.setdefault(row["id"], []).append(row)
        return list(found.values())

    def _own(self, rows: list[JsonDict]) -> str:
        return next((row["label"] for row in rows if row.get("who") == self.who and not is_missing(row["label"])), "")

    def _next(self, start: int) -> int:
        """The first place from `start` on that waits for this person."""
        for place, rows in enumerate(self._items[start:], start):
            if not self._own(rows) and not (self.share and any(not is_missing(row["label"]) for row in rows)):
                return place
        return len(self._items)

    def _clicked(self, name: str, _: object = None) -> None:
        self._problem = ""
        try:  # what a button raises is shown nowhere in Jupyter
            if name == "Back":
                self.place -= 1
            else:
                if name in ANSWERS:
                    record_label(self.path, self._items[self.place][0]["id"], ANSWERS[name], self.who)
                    self._items = self._read()
                self.place = self._next(self.place + 1)
        except (OSError, ValueError, RuntimeError) as error:
            self._problem = str(error)
        self._draw()

    def _draw(self) -> None:
        self._view.value = self._repr_html_()
        at_end = self.place >= len(self._items)
        for name, button in self.buttons.items():
            button.disabled = self.place == 0 if name == "Back" else at_end

    def __repr__(self) -> str:
        total, done = len(self._items), f"{self.n_labelled} labelled by {self.who}"
        if self.place >= total:
            left = total - self.n_labelled
            return f"The end of {total} items, {done}" + (f"; {left} are left, run this again" if left else "")
        own = self._own(self._items[self.place])
        return f"{self.place + 1} of {total}, {done}" + (f"; your label of this one: {own}" if own else "")

    def _repr_html_(self) -> str:
        shown = []
        for name, text in self._items[self.place][0].items() if self.place < len(self._items) else ():
            if name not in ("id", *LABEL_COLUMNS, *VERDICTS) and not is_missing(text):
                guarded = text[:1] == "'" and plain_cell(text[1:]) == text  # for spreadsheets only
                shown.append((name, text[1:] if guarded else text))
        return render("label.html", status=repr(self), problem=self._problem, shown=shown)

    def _repr_mimebundle_(self, **kwargs: object) -> JsonDict:
        moving = self.widget._repr_mimebundle_(**kwargs)
        return {**moving, "text/plain": repr(self), "text/html": self._repr_html_()}


def label_items(
    path: str | PathLike[str], who: str, *, question: str = "Is it right?", share: bool = False
) -> Labelling:
    """Show drawn items one at a time in Jupyter, and keep a yes or no for each.

    The judge's verdict is not shown, because who sees it tends to agree with it. Each label is written at once, with
    who gave it and when (UTC). Called again, it goes on at the first item that has no label of this person. Tab and
    the space bar reach and press every button.

    Parameters
    ----------
    path : path
        The CSV that `draw_items` wrote. `correct_score` takes it.
    who : str
        Whose labels these are. Several people may label one file: each gets rows of their own, which
        `read_labels(path, who=...)` tells apart.
    question : str
        What yes and no answer.
    share : bool
        Leave out what somebody else has labelled, so that people share the work.

    Returns
    -------
    Labelling
        Its buttons are Yes, No, Skip (without a label) and Back (to label again; the last label counts).

    Raises
    ------
    ImportError
        Without ipywidgets. Write yes or no into the CSV instead.
    TypeError, ValueError
        If there is no such CSV, or who or the question is no text.

    Examples
    --------
    >>> import tempfile
    >>> from summeval_nb import draw_items
    >>> path = tempfile.mkdtemp() + "/to_label.csv"
    >>> drawn = draw_items({"text": ["It rained.", "It snowed."], "score": [1, 0]}, 2, path=path)
    >>> items = label_items(path, who="Ada")
    >>> items.buttons["Yes"].click()
    >>> items
    2 of 2, 1 labelled by Ada
    """
    return Labelling(path, who, question=question, share=share)
