# A plain private module. Edited directly: no notebook exports it; tested in tests/test_play.py.
"""States of pictures in words and as escaped HTML; nothing is calculated here, and nothing is moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from summeval_nb.ground.base import JsonDict
from summeval_nb.ground.html import Markup, render
from summeval_nb.ground.results import Verdict
from summeval_nb.teaching._points import BOX, Frame, Points, frame_of
from summeval_nb.teaching._study import decided

if TYPE_CHECKING:
    from summeval_nb.teaching._states import BleuState, CorrelationState, EvidenceState
    from summeval_nb.teaching.play import LcsState

_LOOKS_AT = {"equal": ((-1, -1),), "keep": ((-1, -1),)}  # the other kinds look above and left
_LEGEND = "framed: this step; pale: what it looks at; blue and bold: kept"
_MOST_GRAMS = 60  # n-grams drawn for each order
_MARKS = {"supported": " ✓", "unclear": " ?", "contradicted": " ✗", "not supported": " ✗", "not judged": ""}
NAMES = ("metric", "people")
_SEES = {"pearson": "values, along a line", "spearman": "ranks", "kendall": "the order of pairs"}


class Drawn(Protocol):
    """What a picture can show."""

    @property
    def caption(self) -> str:
        """What is drawn, in words."""

    def _repr_html_(self) -> str: ...


Shown = TypeVar("Shown", bound=Drawn)


class State:
    """What states share: a class names the functions that say and draw it; in a terminal it is its caption."""

    says: ClassVar[Callable[..., str]]
    draws: ClassVar[Callable[..., Markup]]

    @property
    def caption(self) -> str:
        """What the picture shows, in words."""
        return type(self).says(self)

    def __repr__(self) -> str:
        return self.caption

    def _repr_html_(self) -> str:
        return type(self).draws(self)


def figure(caption: str, body: Markup) -> Markup:
    """Return a drawing with its caption, which says in words what is drawn."""
    return render("figure.html", caption=caption, body=body)


def whole(text: str) -> str:
    """Put a `?` in the place of half characters, which neither a field nor a page can hold."""
    return text.encode("utf-8", "replace").decode()


def lcs_words(state: LcsState) -> str:
    """The step in words."""
    now = state.steps[state.step]
    numbers = ", ".join(f"{name.replace('_score', '')} {value:.3f}" for name, value in state.rouge.items())
    return f"Step {state.step} of {len(state.steps) - 1}. {now.words}" + (
        f" ROUGE-L: {numbers}." if now.kind == "done" else ""
    )


def bleu_words(state: BleuState) -> str:
    """The score and its parts in words."""
    score = state.score
    if score.score is None:
        return f"BLEU is undefined: {score.reason}."
    parts = zip(score.counts, score.totals, strict=True)
    counted = ", ".join(f"{count} of {total} {n}-grams" for n, (count, total) in enumerate(parts, 1))
    return f"BLEU {score.score:.2f} of 100: {counted} counted; brevity penalty {score.bp:.3f}."


def evidence_words(state: EvidenceState) -> str:
    """The score in words, and how it differs from the start."""
    judged = [verdict.supported for verdict in state.verdicts if verdict.judged]
    setting = f"k = {state.k}, threshold {state.threshold:.2f}"
    if state.score is None:
        return f"{setting}: no sentence could be judged."
    k, threshold, before = state.start
    change = ""
    if before is not None and (k, threshold) != (state.k, state.threshold):
        change = f" ({state.score - before:+.2f} against k = {k}, threshold {threshold:.2f})"
    counted = f"{sum(map(bool, judged))} of {len(judged)} sentences supported"
    return f"{setting}: {counted}, score {state.score:.2f}{change}."


def correlation_words(state: CorrelationState) -> str:
    """The coefficients in words."""
    named = ", ".join(f"{name.capitalize()} {_shown(one.score)}" for name, one in state.values.items())
    return f"{len(state.points)} points: {named}."


def _lcs_classes(state: LcsState) -> dict[tuple[int, int], str]:
    """Return how cells are marked at this step."""
    now = state.steps[state.step]
    marked = {(one.row, one.column): "sp-all" for one in state.steps[: state.step + 1] if one.kind == "keep"}
    if now.kind not in ("start", "done"):
        for down, right in _LOOKS_AT.get(now.kind, ((-1, 0), (0, -1))):
            marked.setdefault((now.row + down, now.column + right), "sp-seen")
        marked[now.row, now.column] = f"{marked.get((now.row, now.column), '')} sp-now".strip()
    return marked


def lcs_html(state: LcsState) -> Markup:
    """Return the table of a step as escaped HTML."""
    marked, width = _lcs_classes(state), len(state.columns)

    def cell(i: int, j: int) -> tuple[str, str]:
        known = not (i and j) or (i - 1) * width + j <= state.step
        return marked.get((i, j), ""), str(state.table[i, j]) if known else ""

    words = enumerate(("(none)", *state.rows))
    rows = [(word, [cell(i, j) for j in range(width + 1)]) for i, word in words]
    columns = ("(none)", *state.columns)
    return figure(state.caption, render("play.html", drawing="lcs", columns=columns, rows=rows, legend=_LEGEND))


def _gram(row: JsonDict) -> tuple[str, str, str]:
    """Return how one n-gram is drawn, its text and its fate."""
    own, counted = row["candidate"], row["counted"]
    if counted == own:
        return ("sp-all", row["n-gram"], "counts" if own == 1 else f"{own} of {own} count")
    kind, fate = ("sp-some", f"{counted} of {own} count, clipped") if counted else ("sp-none", "in no reference")
    return kind, row["n-gram"], fate


def _order(state: BleuState, n: int) -> JsonDict:
    """Return what is drawn of one order: its n-grams, the counts, the precision."""
    count, total, precision = (part[n - 1] for part in (state.score.counts, state.score.totals, state.score.precisions))
    grams = [_gram(row) for row in state.grams[n - 1][:_MOST_GRAMS]]
    shown = f"{precision:.1f}{' (smoothed)' if state.smoothed[n - 1] else ''}" if total or precision else "too short"
    more = len(state.grams[n - 1]) - len(grams)
    return {"grams": grams, "more": more, "counted": f"{count} of {total}", "precision": shown}


def bleu_html(state: BleuState) -> Markup:
    """Return the parts of a BLEU score as escaped HTML."""
    score = state.score
    used = [f"{p:.1f}" for p, total in zip(score.precisions, score.totals, strict=True) if total or p]
    short = 0 < score.candidate_length < score.reference_length
    rule = f"exp(1 − {score.reference_length}/{score.candidate_length}) = " if short else ""
    orders = [_order(state, n) for n in range(1, len(state.grams) + 1)]
    known = {"state": state, "score": score, "orders": orders, "used": used, "rule": rule}
    return figure(state.caption, render("play.html", drawing="bleu", **known))


def _state_words(verdict: Verdict) -> str:
    """Return a verdict's state in words; a checker with one border knows only supported and not."""
    if verdict.contradicted_below is None and verdict.supported is False:
        return "not supported"
    return verdict.state or "not judged"


def _grid(state: EvidenceState) -> list[tuple[str, list[tuple[bool, float | None, str]]]]:
    """Return one row a summary sentence, in it one cell a k: whether it is now, probability, verdict."""
    rows = []
    for i, sentence in enumerate(state.study.result.sentences):
        cells = []
        for k, column in enumerate(state.study.verdicts, 1):
            verdict = decided(column[i], state.threshold)
            sign = "not judged" if verdict.probability is None else f"{verdict.probability:.2f}"
            mark = _MARKS[_state_words(verdict)]
            cells.append((k == state.k, verdict.probability, sign + mark))
        rows.append((sentence.text, cells))
    return rows


def _in_words(verdict: Verdict) -> tuple[str, str, str]:
    """Return one summary sentence's verdict, evidence and what was not found."""
    label = _state_words(verdict)
    found = ", ".join(f"{finding.kind} “{finding.text}”" for finding in verdict.findings)
    numbers = ", ".join(str(item.index + 1) for item in verdict.evidence)
    return label, numbers, f"; not found there: {found}" if found else ""


def evidence_html(state: EvidenceState) -> Markup:
    """Return verdicts, evidence and the marked article as escaped HTML."""
    used: dict[int, list[str]] = {}
    for i, verdict in enumerate(state.verdicts, 1):
        for rank, item in enumerate(verdict.evidence, 1):
            used.setdefault(item.index, []).append(f"{i} (newest)" if rank == len(verdict.evidence) else str(i))
    lines = []
    for j, sentence in enumerate(state.study.result.source_sentences):
        role = f"for {', '.join(used[j])}" if j in used else ""
        lines.append(("sp-some" if "newest" in role else "sp-seen" if role else "", sentence.text, role))
    verdicts = [_in_words(verdict) for verdict in state.verdicts]
    known = {"grid": _grid(state), "count": len(state.study.verdicts), "verdicts": verdicts, "lines": lines}
    return figure(state.caption, render("play.html", drawing="evidence", **known))


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def scatter_svg(points: Points, names: tuple[str, str], frame: Frame, label: str) -> Markup:
    """Return points as an SVG picture with an alternative text."""
    left, right, top, bottom = (BOX[side] for side in ("left", "right", "top", "bottom"))
    (x0, x1), (y0, y1) = frame["x"], frame["y"]
    along = lambda value, low, high, start, end: start + (value - low) / (high - low) * (end - start)
    ticks = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        a, b = left + share * (right - left), bottom - share * (bottom - top)
        x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
        ticks.append((f"{a:.1f}", f"{b + 4:.1f}", f"{x:.3g}", f"{y:.3g}"))
    placed = [(along(x, x0, x1, left, right), along(y, y0, y1, bottom, top)) for x, y in points]
    places = [(f"{a:.1f}", f"{b:.1f}") for a, b in placed]
    known = {"ticks": ticks, "places": places, "names": names, "label": label, "box": BOX}
    return render("play.html", drawing="scatter", **known)


def readings_html(state: CorrelationState) -> Markup:
    """Return the coefficients as a table: now, before, and what each looks at."""
    readings = [
        (
            name.capitalize(),
            _SEES[name],
            f"{_shown(one.score)}{f' ({one.reason})' if one.score is None else ''}",
            _shown(state.before[name]),
        )
        for name, one in state.values.items()
    ]
    return render("play.html", drawing="readings", readings_of=readings)


def correlation_html(state: CorrelationState) -> Markup:
    """Return the points and their coefficients as HTML that stands still."""
    plot = scatter_svg(state.points, NAMES, frame_of(state.points), state.caption)
    return figure(state.caption, Markup(plot + readings_html(state)))
