"""What the pictures of lesson 72 hold and how they are drawn; nothing here is moved.

Points to drag, the steps of the LCS table, verdicts for every number of evidence sentences, the states with all that
follows from their settings, and the drawings: words and escaped HTML, in which nothing is calculated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, TypedDict, TypeVar

import numpy as np

from summeval_nb.agreement.correlation import Correlation
from summeval_nb.core.base import JsonDict, float_array, require_count, require_option, require_share
from summeval_nb.core.html import Markup, render
from summeval_nb.core.results import Verdict
from summeval_nb.evidence.base import Checker, nearest_evidence
from summeval_nb.evidence.faithfulness import Faithfulness, evaluate
from summeval_nb.evidence.load import load_checker
from summeval_nb.overlap.bleu import BleuScore
from summeval_nb.overlap.rouge import lcs_table
from summeval_nb.text.embed import EmbedderOrName
from summeval_nb.text.split import split_markdown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Points = list[list[float]]
Pairs: TypeAlias = "ArrayLike"  # (n, 2) numbers; in quotes, for pages would spell it out
PRESETS = ("cloud", "outlier", "curve", "ties")
LARGEST = 1e100  # differences of larger numbers overflow
BOX = {"left": 46, "right": 430, "top": 12, "bottom": 300}  # the plot's place in an SVG of 440 by 345


class Frame(TypedDict):
    """The ranges of both axes, and the plot's place in the SVG."""

    x: list[float]
    y: list[float]
    box: dict[str, int]


def require_points(points: object) -> Points:
    """Return points as a list of [x, y]: at least two, all finite."""
    try:
        table = float_array(points, "points")
    except (TypeError, ValueError) as error:
        raise TypeError(f"points must be pairs of numbers, such as [[1, 2], [3, 5]]: {error}") from None
    if table.ndim != 2 or table.shape[1] != 2 or len(table) < 2:
        raise ValueError(f"points must be at least two pairs [x, y], not an array of shape {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("points must be finite: leave out the ones without a value")
    if np.abs(table).max() > LARGEST:
        raise ValueError(
            f"points must lie within ±{LARGEST:g} to be drawn, not at {np.abs(table).max():g}: rescale them"
        )
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


def frame_of(points: Points) -> Frame:
    """Return the ranges of both axes: 0 to 10 for points spread there, else the points with some space around."""
    table = np.array(points)
    if table.min() >= 0 and table.max() <= 10 and table.max() > 1:
        low, high = np.zeros(2), np.full(2, 10.0)
    else:
        least = np.maximum(np.abs(table).max(axis=0) * 1e-6, 1e-6)  # 1e17 and 1e17 + 1e-6 are one number
        space = np.maximum(np.ptp(table, axis=0) * 0.15, least)
        low, high = table.min(axis=0) - space, table.max(axis=0) + space
    (x0, y0), (x1, y1) = low.tolist(), high.tolist()
    return {"x": [x0, x1], "y": [y0, y1], "box": BOX}


def into_frame(frame: Frame, points: Points) -> Points:
    """Return points in [0, 10] × [0, 10] stretched to a frame."""
    (x0, x1), (y0, y1) = frame["x"], frame["y"]
    return [[x0 + x / 10 * (x1 - x0), y0 + y / 10 * (y1 - y0)] for x, y in points]


def same_count(points: object, start: Points) -> Points:
    """Return points, as many as at the start: a picture moves points, it adds none."""
    known = require_points(points)
    if len(known) != len(start):
        raise ValueError(f"this picture has {len(start)} points, not {len(known)}: make another picture")
    return known


_MOST_WORDS = 30  # a side: the table has to fit on a screen


class LcsStep(NamedTuple):
    """One step: what kind, at which cell, in words.

    `kind` is `"start"`, then `"equal"`, `"above"` or `"left"` while the table fills,
    `"keep"`, `"up"` or `"back"` on the way back, and `"done"`.
    """

    kind: str
    row: int
    column: int
    words: str


def lcs_steps(x: Sequence[str], y: Sequence[str]) -> list[LcsStep]:
    """Return how the table of `lcs_table(x, y)` is filled row by row, and how `lcs_path` walks back through it.

    Parameters
    ----------
    x, y : sequence of str
        The words of the reference (rows) and of the candidate (columns), at most 30
        each.

    Returns
    -------
    list of LcsStep
        The start, one step a cell, the way back, the end.

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
    filled = [_fill_step(table, x, y, i, j) for i in range(1, len(x) + 1) for j in range(1, len(y) + 1)]
    back = _back_steps(table, x, y)
    kept = [x[step.row - 1] for step in reversed(back) if step.kind == "keep"]
    words = f"{len(kept)} word{'s' if len(kept) > 1 else ''}"
    end = f"The longest common subsequence has {words}: {' '.join(kept)}." if kept else "No word is shared."
    return [LcsStep("start", 0, 0, start), *filled, *back, LcsStep("done", 0, 0, end)]


def _fill_step(table: np.ndarray, x: Sequence[str], y: Sequence[str], i: int, j: int) -> LcsStep:
    above, left, corner = (int(table[i - 1, j]), int(table[i, j - 1]), int(table[i - 1, j - 1]))
    if x[i - 1] == y[j - 1]:
        words = f"“{x[i - 1]}” stands on both sides: one more than in the cell to the upper left, {corner} + 1"
        return LcsStep("equal", i, j, f"{words} = {table[i, j]}.")
    words = f"“{x[i - 1]}” and “{y[j - 1]}” differ: the greater of above ({above}) and left ({left})"
    kind = "left" if left > above else "above"
    return LcsStep(kind, i, j, f"{words} is {table[i, j]}.")


def _back_steps(table: np.ndarray, x: Sequence[str], y: Sequence[str]) -> list[LcsStep]:
    steps, i, j = [], len(x), len(y)
    while i and j:
        above, left = int(table[i - 1, j]), int(table[i, j - 1])
        if x[i - 1] == y[j - 1]:
            steps.append(LcsStep("keep", i, j, f"Way back: “{x[i - 1]}” on both sides; keep it, go to the upper left."))
            i, j = i - 1, j - 1
        elif left > above:
            steps.append(LcsStep("back", i, j, f"Way back: the words differ and left ({left}) is greater; go left."))
            j -= 1
        else:
            steps.append(LcsStep("up", i, j, f"Way back: the words differ and left ({left}) is not greater; go up."))
            i -= 1
    return steps


def require_step(step: int | None, last: int) -> int:
    """Return a step, counted from 0 and at most the last one; None is the last one."""
    chosen = last if step is None else require_count(step, "step", minimum=0)
    if chosen > last:
        raise ValueError(f"step must be at most {last}, the last one, not {step}")
    return chosen


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
    judge, most = load_checker(checker), require_count(max_k, "max_k")
    result = evaluate(text, summary, most, embedder=embedder, checker=judge)
    if not result.sentences:
        raise ValueError(f"there is nothing to play with: {result.reason}")
    plain = plain_sentences(text) | plain_sentences(summary, like=text)
    return EvidenceStudy(result, verdicts_by_k(result, plain, judge, most), judge.threshold)


def verdicts_by_k(
    result: Faithfulness, plain: dict[str, str], judge: Checker, max_k: int
) -> tuple[tuple[Verdict, ...], ...]:
    """Return the verdicts with 1, 2, … evidence sentences; the last ones equal the result's."""
    source = [plain[sentence.text] for sentence in result.source_sentences]
    chosen = [[nearest_evidence(row, k) for row in result.similarity] for k in range(1, min(max_k, len(source)))]
    stated = [verdict.judged or verdict.failed for verdict in result.verdicts]  # headings and code are not judged
    pairs = [
        ([source[evidence.index] for evidence in row], plain[sentence.text])
        for rows in chosen
        for row, sentence, asked in zip(rows, result.sentences, stated, strict=True)
        if asked
    ]
    judged = iter(judge.check_many(pairs) if pairs else [])
    verdicts = [
        tuple(
            replace(next(judged), evidence=row) if asked else full
            for row, asked, full in zip(rows, stated, result.verdicts, strict=True)
        )
        for rows in chosen
    ]
    return (*verdicts, tuple(result.verdicts))


def plain_sentences(text: str, *, like: str = "") -> dict[str, str]:
    """Return for each sentence of a text, as it stands, the words that a checker reads beside another text."""
    (readings,) = split_markdown([text], likes=[like], progress=False)
    return {reading.sentence.text: reading.plain for reading in readings}


def decided(verdict: Verdict, threshold: float) -> Verdict:
    """Return a verdict under another threshold; what would be supported is never called contradicted.

    A border that is the threshold moves with it: all that clashes is contradicted below.
    """
    low = verdict.contradicted_below
    if low is not None:
        clash = low == verdict.threshold and any(finding.clash for finding in verdict.findings)
        low = threshold if clash else min(low, threshold)
    return replace(verdict, threshold=threshold, contradicted_below=low)


def require_known(study: EvidenceStudy, k: int, threshold: float | None) -> tuple[int, float]:
    """Return k, for which the study must have been made, and the threshold; without one it is the study's."""
    most = len(study.verdicts)
    if require_count(k, "k") > most:
        raise ValueError(f"k must be at most {most}, for which the study was made, not {k}")
    return k, study.threshold if threshold is None else require_share(threshold, "threshold")


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
    """What states share: in a terminal a state is its caption."""

    @property
    def caption(self) -> str:
        """What the picture shows, in words."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.caption


def figure(caption: str, body: Markup) -> Markup:
    """Return a drawing with its caption, which says in words what is drawn."""
    return render("figure.html", caption=caption, body=body)


def whole(text: str) -> str:
    """Put a `?` in the place of half characters, which neither a field nor a page can hold."""
    return text.encode("utf-8", "replace").decode()


def _gram(row: JsonDict) -> tuple[str, str, str]:
    """Return how one n-gram is drawn, its text and its fate."""
    own, counted = row["candidate"], row["counted"]
    if counted == own:
        return ("sp-all", row["n-gram"], "counts" if own == 1 else f"{own} of {own} count")
    kind, fate = ("sp-some", f"{counted} of {own} count, clipped") if counted else ("sp-none", "in no reference")
    return kind, row["n-gram"], fate


def _state_words(verdict: Verdict) -> str:
    """Return a verdict's state in words; a checker with one border knows only supported and not."""
    if verdict.contradicted_below is None and verdict.supported is False:
        return "not supported"
    return verdict.state or "not judged"


def _in_words(verdict: Verdict) -> tuple[str, str, str]:
    """Return one summary sentence's verdict, evidence and what was not found."""
    label = _state_words(verdict)
    found = ", ".join(f"{finding.kind} “{finding.text}”" for finding in verdict.findings)
    numbers = ", ".join(str(item.index + 1) for item in verdict.evidence)
    return label, numbers, f"; not found there: {found}" if found else ""


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


@dataclass(frozen=True, repr=False, eq=False)
class LcsState(State):
    """The table at one step, counted from 0; the last step is the finished picture."""

    reference: str
    candidate: str
    step: int
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    table: np.ndarray
    steps: tuple[LcsStep, ...]
    rouge: dict[str, float]

    @property
    def caption(self) -> str:
        """The step in words."""
        now = self.steps[self.step]
        numbers = ", ".join(f"{name.replace('_score', '')} {value:.3f}" for name, value in self.rouge.items())
        return f"Step {self.step} of {len(self.steps) - 1}. {now.words}" + (
            f" ROUGE-L: {numbers}." if now.kind == "done" else ""
        )

    def _classes(self) -> dict[tuple[int, int], str]:
        """Return how cells are marked at this step."""
        now = self.steps[self.step]
        marked = {(move.row, move.column): "sp-all" for move in self.steps[: self.step + 1] if move.kind == "keep"}
        if now.kind not in ("start", "done"):
            for down, right in _LOOKS_AT.get(now.kind, ((-1, 0), (0, -1))):
                marked.setdefault((now.row + down, now.column + right), "sp-seen")
            marked[now.row, now.column] = f"{marked.get((now.row, now.column), '')} sp-now".strip()
        return marked

    def _repr_html_(self) -> Markup:
        marked, width = self._classes(), len(self.columns)

        def cell(i: int, j: int) -> tuple[str, str]:
            known = not (i and j) or (i - 1) * width + j <= self.step
            return marked.get((i, j), ""), str(self.table[i, j]) if known else ""

        words = enumerate(("(none)", *self.rows))
        rows = [(word, [cell(i, j) for j in range(width + 1)]) for i, word in words]
        columns = ("(none)", *self.columns)
        return figure(self.caption, render("play.html", drawing="lcs", columns=columns, rows=rows, legend=_LEGEND))


@dataclass(frozen=True, repr=False, eq=False)
class BleuState(State):
    """A BLEU score with the fate of each n-gram.

    `grams[n - 1]` are the rows of `score.explain(n=n)`; `smoothed[n - 1]` says whether
    the precision of order n is another one than its counts give.
    """

    candidate: str
    references: tuple[str, ...]
    smooth: str
    score: BleuScore
    grams: tuple[tuple[JsonDict, ...], ...]
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

    def _order(self, n: int) -> JsonDict:
        """Return what is drawn of one order: its n-grams, the counts, the precision."""
        score = self.score
        count, total, precision = (part[n - 1] for part in (score.counts, score.totals, score.precisions))
        grams = [_gram(row) for row in self.grams[n - 1][:_MOST_GRAMS]]
        shown = f"{precision:.1f}{' (smoothed)' if self.smoothed[n - 1] else ''}" if total or precision else "too short"
        more = len(self.grams[n - 1]) - len(grams)
        return {"grams": grams, "more": more, "counted": f"{count} of {total}", "precision": shown}

    def _repr_html_(self) -> Markup:
        score = self.score
        used = [f"{p:.1f}" for p, total in zip(score.precisions, score.totals, strict=True) if total or p]
        short = 0 < score.candidate_length < score.reference_length
        rule = f"exp(1 − {score.reference_length}/{score.candidate_length}) = " if short else ""
        orders = [self._order(n) for n in range(1, len(self.grams) + 1)]
        known = {"state": self, "score": score, "orders": orders, "used": used, "rule": rule}
        return figure(self.caption, render("play.html", drawing="bleu", **known))


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

    def _grid(self) -> list[tuple[str, list[tuple[bool, float | None, str]]]]:
        """Return one row a summary sentence, in it one cell a k: whether it is now, probability, verdict."""
        rows = []
        for i, sentence in enumerate(self.study.result.sentences):
            cells = []
            for k, column in enumerate(self.study.verdicts, 1):
                verdict = decided(column[i], self.threshold)
                sign = "not judged" if verdict.probability is None else f"{verdict.probability:.2f}"
                mark = _MARKS[_state_words(verdict)]
                cells.append((k == self.k, verdict.probability, sign + mark))
            rows.append((sentence.text, cells))
        return rows

    def _repr_html_(self) -> Markup:
        used: dict[int, list[str]] = {}
        for i, verdict in enumerate(self.verdicts, 1):
            for rank, item in enumerate(verdict.evidence, 1):
                used.setdefault(item.index, []).append(f"{i} (newest)" if rank == len(verdict.evidence) else str(i))
        lines = []
        for j, sentence in enumerate(self.study.result.source_sentences):
            role = f"for {', '.join(used[j])}" if j in used else ""
            lines.append(("sp-some" if "newest" in role else "sp-seen" if role else "", sentence.text, role))
        verdicts = [_in_words(verdict) for verdict in self.verdicts]
        known = {"grid": self._grid(), "count": len(self.study.verdicts), "verdicts": verdicts, "lines": lines}
        return figure(self.caption, render("play.html", drawing="evidence", **known))


@dataclass(frozen=True, repr=False, eq=False)
class CorrelationState(State):
    """Points (metric, people), their coefficients, and those to compare with."""

    points: Points
    values: dict[str, Correlation]
    before: dict[str, float | None]

    @property
    def caption(self) -> str:
        """The coefficients in words."""
        named = ", ".join(
            f"{name.capitalize()} {_shown(coefficient.score)}" for name, coefficient in self.values.items()
        )
        return f"{len(self.points)} points: {named}."

    def readings_html(self) -> Markup:
        """Return the coefficients as a table: now, before, and what each looks at."""
        readings = [
            (
                name.capitalize(),
                _SEES[name],
                f"{_shown(coefficient.score)}{f' ({coefficient.reason})' if coefficient.score is None else ''}",
                _shown(self.before[name]),
            )
            for name, coefficient in self.values.items()
        ]
        return render("play.html", drawing="readings", readings_of=readings)

    def _repr_html_(self) -> Markup:
        plot = scatter_svg(self.points, NAMES, frame_of(self.points), self.caption)
        return figure(self.caption, Markup(plot + self.readings_html()))


def smoothed_orders(score: BleuScore) -> tuple[bool, ...]:
    """Say for each order of a BLEU score whether its precision is another one than its counts give."""
    parts = zip(score.precisions, score.counts, score.totals, strict=True)
    return tuple(p > 0 and (not total or abs(p * total - 100 * count) > 1e-6) for p, count, total in parts)
