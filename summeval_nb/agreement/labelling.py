"""People label drawn items one after the other: buttons in Jupyter over the CSV of `draw_items`."""

from __future__ import annotations

from functools import partial
from os import PathLike
from typing import Any

from summeval_nb.agreement.correction import LABEL_COLUMNS, VERDICTS, drawn_items, record_label
from summeval_nb.core.base import JsonDict, require_module, require_text
from summeval_nb.core.files import is_missing, plain_cell
from summeval_nb.core.html import render

__all__ = ["Labelling", "label_items"]


class Labelling:
    """Drawn items with buttons, as `label_items` returns them: `widget`, its `buttons` by name, and the `place`."""

    def __init__(self, path: str | PathLike[str], who: str, question: str, share: bool) -> None:
        widgets: Any = require_module("ipywidgets", "lab")
        self.path, self.who, self.share = path, plain_cell(require_text(who, "who").strip()), share
        if not self.who:
            raise ValueError("who is empty: say whose labels these are")
        self._question, self._problem = require_text(question, "question"), ""
        self._items = [*drawn_items(path).values()]
        self.place, self.buttons = self._next(0), {}
        for name in ("Yes", "No", "Skip", "Back"):
            self.buttons[name] = widgets.Button(description=name, layout=widgets.Layout(width="6rem"))
            self.buttons[name].on_click(partial(self._clicked, name))
        row = widgets.HBox([*self.buttons.values()], layout=widgets.Layout(flex_flow="row wrap"))
        self._view = widgets.HTML(layout=widgets.Layout(width="auto", min_width="0"))
        self.widget: Any = widgets.VBox([row, self._view])
        self._draw()

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


def label_items(
    path: str | PathLike[str], who: str, *, question: str = "Is it right?", share: bool = False
) -> Labelling:
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
    share : bool
        Leave out what somebody else has labelled, so that people share the work.

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
    >>> from summeval_nb import draw_items
    >>> path = tempfile.mkdtemp() + "/to_label.csv"
    >>> drawn = draw_items({"text": ["It rained.", "It snowed."], "score": [1, 0]}, 2, path=path)
    >>> items = label_items(path, who="Ada")
    >>> items.buttons["Yes"].click()
    >>> items
    2 of 2, 1 labelled by Ada
    """
    return Labelling(path, who, question, share)
