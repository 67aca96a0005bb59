# A plain private module: edited directly, exported by no notebook, tested in tests/test_checker_bench.py.
"""Checkers at work on labelled sets: verdicts put together, measures under many weightings, tables and pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from summeval_nb.evidence import _checker_bench as plumbing
from summeval_nb.evidence._checker_bench import Labelled, One, ask, used
from summeval_nb.evidence.checker import Checker, Pair
from summeval_nb.evidence.claims import COMBINATIONS
from summeval_nb.evidence.measured import how_well, left_out_rows, seen_articles
from summeval_nb.evidence.words import calibration
from summeval_nb.ground.addresses import without_secrets
from summeval_nb.ground.html import folded
from summeval_nb.ground.base import float_array
from summeval_nb.ground.resampling import drawn_counts, middle
from summeval_nb.ground.results import Signature
from summeval_nb.ground.base import require_count, require_option, require_share
from summeval_nb.ground.html import html_table, render, text_table
from summeval_nb.text.split import split_text

from summeval_nb.ground.base import JsonDict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

__all__ = ["CheckerBench"]

MEASURES = ("auc", "balanced_accuracy", "false_found", "true_passed", "precision")
Measure = Callable[[Sequence[bool], Sequence[float], Sequence[bool]], Mapping[str, float | None]]


def require_choices(combine: str, n_resamples: int, confidence: float, limit: int | None, sets: object) -> None:
    """Raise unless the choices of a benchmark can be used."""
    require_option(combine, "combine", COMBINATIONS)
    require_count(n_resamples, "n_resamples", minimum=0)
    if not 0 < require_share(confidence, "confidence") < 1:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    if limit is not None:
        require_count(limit, "limit")
    if not isinstance(sets, Mapping) or not sets:
        raise TypeError('sets must map names to labelled sentences: {"mine": rows}')


def chosen_sets(
    sets: Mapping[str, Iterable[One | Mapping[str, object]]], kind: type[One], limit: int | None, seed: int
) -> dict[str, list[One]]:
    """The sets by name, each item looked at, at most `limit` of them in whole articles."""
    checked = {str(name): plumbing.checked_set(name, items, kind) for name, items in sets.items()}
    return {name: plumbing.drawn(items, limit, seed) for name, items in checked.items()}


def named_checkers(checker: str | Checker | Mapping[str, str | Checker]) -> dict[str, str | Checker]:
    """One checker or several by the names that a table shows."""
    if isinstance(checker, Mapping):
        return {without_secrets(str(name)): one for name, one in checker.items()}
    return {checker if isinstance(checker, str) else type(checker).__name__: checker}


def bench_signature(
    judges: Mapping[str, Checker],
    sets: Mapping[str, Sequence[Labelled]],
    combine: str,
    n: int,
    confidence: float,
    seed: int,
) -> Signature:
    """Every choice of a benchmark that could change a number but the speed."""
    parts: dict[str, object] = {"metric": "checker-bench", "combine": combine}
    parts |= {f"set {name}": plumbing.digest(rows) for name, rows in sets.items()}
    parts |= {f"checker {label}": f"{judge.fingerprint}@{judge.threshold}" for label, judge in judges.items()}
    return Signature(parts | {"n": n, "conf": confidence, "seed": seed})


def arrays_of_one_length(
    labels: ArrayLike, probabilities: ArrayLike, supported: ArrayLike
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, probabilities and verdicts as arrays, shape (n,) each; raise unless there is one of each."""
    sides = {"labels": labels, "probabilities": probabilities, "supported": supported}
    y, p, s = (float_array(side, name) for name, side in sides.items())
    if not len(y) == len(p) == len(s) > 0:
        raise ValueError(f"one of each for a sentence, please: there are {len(y)}, {len(p)} and {len(s)}")
    return y, p, s


def _auc(y: np.ndarray, p: np.ndarray, w: np.ndarray) -> np.ndarray:
    """AUC under each weighting: y and p (n,), w (k, n) -> (k,); NaN without pairs."""
    order = np.argsort(p, kind="stable")
    starts = np.flatnonzero(np.diff(p[order], prepend=-1.0))
    true = np.add.reduceat((w * y)[:, order], starts, axis=1)
    false = np.add.reduceat((w * (1 - y))[:, order], starts, axis=1)
    below = np.cumsum(false, axis=1) - false
    pairs = true.sum(axis=1) * false.sum(axis=1)
    return (true * (below + false / 2)).sum(axis=1) / pairs


def measured(y: np.ndarray, p: np.ndarray, s: np.ndarray, w: np.ndarray) -> np.ndarray:
    """All measures under each weighting, (k, 5); NaN where undefined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = w @ ((1 - y) * (1 - s)) / (w @ (1 - y))
        passed = w @ (y * s) / (w @ y)
        precision = w @ (y * s) / (w @ s)
        columns = [_auc(y, p, w), (found + passed) / 2, found, passed, precision]
    return np.stack(columns, axis=1)


def intervals(
    sides: Sequence[np.ndarray],
    group: np.ndarray,
    n: int,
    confidence: float,
    seed: int,
) -> list[tuple[float | None, float | None]]:
    """A percentile interval for each measure, whole groups drawn n times.

    (None, None) where fewer than half of the draws have a value, or with one group.
    """
    count = int(group.max()) + 1
    if count < 2 or not n:
        return [(None, None)] * len(MEASURES)
    draws = drawn_counts(count, n, seed)
    step = max(1, 4_000_000 // len(group))
    lots = [draws[start : start + step] for start in range(0, n, step)]
    y, p, s = sides
    table = np.concatenate([measured(y, p, s, lot[:, group]) for lot in lots])
    ends = [middle(column, confidence)[0] for column in table.T]
    return [one or (None, None) for one in ends]


@dataclass(frozen=True)
class CheckerRun:
    """One checker on one set of labelled sentences: probabilities and verdicts, None where it failed."""

    checker: str
    name: str
    items: tuple[Labelled, ...]
    probabilities: tuple[float | None, ...]
    supported: tuple[bool | None, ...]
    reason: str
    pairs_per_second: float
    calls: float | None
    tokens: float | None
    model: str = ""  # the name of a packaged checker, where its own fit has seen articles of the set
    seen: tuple[tuple[str, int], ...] = ()  # the labelled sets it was fitted to that hold some of these articles

    @property
    def fitted_to(self) -> str:
        """What of the set the checker was fitted to, in words; empty if nothing."""
        names = {row["key"]: row["set"] for row in how_well()["rows"]}
        total = len({one.article for one in self.items})
        return "; ".join(f"{names[key]}: {n} of {total} articles" for key, n in self.seen)


def judged_set(label: str, checker: Checker, name: str, items: Sequence[Labelled], how: str) -> CheckerRun:
    """Judge a set with a checker, and put the sentences of each item together."""
    articles = {one.article: split_text(one.article) for one in items}
    parts = [split_text(one.text) for one in items]
    pairs: list[Pair] = []
    for one, texts in zip(items, parts, strict=True):
        pairs += [(articles[one.article], text) for text in texts]
    ask(checker, pairs[:1])
    before, start = used(checker), time.perf_counter()
    verdicts = iter(ask(checker, pairs))
    seconds = time.perf_counter() - start
    judged = [[next(verdicts) for _ in texts] for texts in parts]
    given: list[float | None] = []
    for group in judged:
        values = [v.probability for v in group if v.probability is not None]
        given.append(COMBINATIONS[how](values) if len(values) == len(group) else None)
    said: list[bool | None] = []
    for p, group in zip(given, judged, strict=True):
        said.append(None if p is None else all(v.supported is True for v in group))
    none = [v.reason for group in judged for v in group if v.probability is None]
    reason = none[0] if none else ""
    cost = used(checker, before)
    speed = len(pairs) / max(seconds, 1e-9)
    columns = tuple(items), tuple(given), tuple(said)
    model, seen = fitted_on(checker, articles)
    return CheckerRun(label, name, *columns, reason, speed, *cost, model, seen)


def fitted_on(checker: object, articles: Iterable[str]) -> tuple[str, tuple[tuple[str, int], ...]]:
    """The packaged checker that is asked, perhaps in a wrapper, and which sets of its fit hold how many articles."""
    judge = checker
    while not hasattr(judge, "fitted_to") and hasattr(judge, "inner"):
        judge = judge.inner
    seen = tuple(seen_articles(articles, getattr(judge, "fitted_to", ())).items())
    return (str(getattr(judge, "fingerprint", "")).partition("-")[0] if seen else ""), seen


def table_row(run: CheckerRun, measure: Measure, n: int, confidence: float, seed: int) -> JsonDict:
    """The measures of a run with their intervals, and what they do not cover."""
    kept = [i for i, p in enumerate(run.probabilities) if p is not None]
    row: JsonDict = {"checker": run.checker, "set": run.name}
    row |= {"n": len(run.items), "failed": len(run.items) - len(kept)}
    places: dict[str, int] = {}
    group = [places.setdefault(run.items[i].article, len(places)) for i in kept]
    labels = [run.items[i].supported for i in kept]
    given = [p for p in run.probabilities if p is not None]
    said = [bool(run.supported[i]) for i in kept]
    values = measure(labels, given, said) if kept else {}
    arrays = [np.asarray(side, dtype=float) for side in (labels, given, said)]
    ends = intervals(arrays, np.array(group), n, confidence, seed) if kept else None
    for place, name in enumerate(MEASURES):
        low, high = ends[place] if ends else (None, None)
        row |= {name: values.get(name), f"{name}_low": low, f"{name}_high": high}
    row["calibration_error"] = calibration(given, labels).score
    row |= {"pairs_per_second": run.pairs_per_second}
    row |= {"calls": run.calls, "tokens": run.tokens}
    row["fitted_to"] = run.fitted_to
    missing = [name for name in MEASURES if row[name] is None]
    why = f"undefined: {', '.join(missing)} (nothing to count)" if missing else ""
    if run.reason:
        why += f"{'; ' if why else ''}first without a verdict: {run.reason}"
    return row | {"reason": why}


_SEEN = (
    "The checker was fitted to these sets (fitted to), so the figures above are no result. "
    "By a version that had not seen the set:"
)


@dataclass(frozen=True, repr=False, eq=False)
class CheckerBench:
    """Checkers measured on labelled sets.

    Parameters
    ----------
    runs : tuple of CheckerRun
        Every verdict behind the table.
    table : tuple of dict
        A row for each checker and set.
    signature : Signature
        Every choice that could change a number but the speed.
    """

    runs: tuple[CheckerRun, ...]
    table: tuple[JsonDict, ...]
    signature: Signature

    def rows(self) -> list[JsonDict]:
        """Return a row for each checker and set, with the ends of each interval."""
        return [dict(row) for row in self.table]

    def kind_rows(self) -> list[JsonDict]:
        """Return a row for each kind of sentence: the share judged rightly."""
        return [row for run in self.runs for row in plumbing.kind_rows(run)]

    def wrong_rows(self) -> list[JsonDict]:
        """Return what was judged wrongly, the surest first."""
        rows = []
        for run in self.runs:
            columns = run.items, run.probabilities, run.supported
            for one, p, said in zip(*columns, strict=True):
                if said is not None and said != one.supported:
                    row: JsonDict = {"checker": run.checker, "set": run.name}
                    row["kind"] = one.kind
                    row |= {"true": one.supported, "probability": p, "text": one.text}
                    rows.append(row)
        return sorted(rows, key=lambda row: -abs(row["probability"] - 0.5))

    def published_rows(self) -> list[JsonDict]:
        """Return figures of others from their papers, none of them measured here."""
        rows = plumbing.asset("checker_references.json")["published"]
        return [row | {"status": "published"} for row in rows]

    def left_out_rows(self) -> list[JsonDict]:
        """Return for each set that a packaged checker was fitted to what it reaches when it has not seen it.

        Measured on the whole set, each sentence with the evidence that `evaluate` chooses.
        """
        asked = {(run.model, key): run.checker for run in self.runs for key, _ in run.seen}
        return [
            {"checker": label} | row for (model, key), label in asked.items() for row in left_out_rows(model, [key])
        ]

    def wide_rows(self) -> list[JsonDict]:
        """Return the table as people read it: `.683 [.571, .790]`."""
        return plumbing.wide_rows(self.table, MEASURES)

    def to_frame(self, *, kinds: bool = False) -> pd.DataFrame:
        """Return `rows`, or with `kinds=True` the rows by kind, as a table."""
        import pandas as pd

        return pd.DataFrame(self.kind_rows() if kinds else self.rows())

    def to_dict(self) -> JsonDict:
        """Return the tables and the signature as plain Python data."""
        more = {"left_out": self.left_out_rows(), "kinds": self.kind_rows(), "published": self.published_rows()}
        return {"rows": self.rows(), **more, "signature": str(self.signature)}

    def __repr__(self) -> str:
        parts = [text_table(self.wide_rows())]
        if left_out := self.left_out_rows():
            parts += [_SEEN, text_table(left_out)]
        parts += [text_table(self.kind_rows())]
        parts += ["Published, not measured here:", text_table(self.published_rows())]
        return "\n\n".join([*parts, str(self.signature)])

    def _repr_html_(self) -> str:
        kinds, published = self.kind_rows(), self.published_rows()
        left_out = self.left_out_rows()
        tables = [
            html_table(self.wide_rows(), caption="Measured here"),
            *([html_table(left_out, caption=_SEEN)] if left_out else []),
            folded(f"By kind of sentence: the share judged rightly ({len(kinds)} rows)", html_table(kinds)),
            folded(f"Published, not measured here ({len(published)} rows)", html_table(published)),
        ]
        return render("parts.html", parts=tables, notes=[self.signature])

    def plot(self) -> Figure:
        """Draw the measures with their intervals, and the share right by kind."""
        return plumbing.figure(self.table, self.kind_rows(), MEASURES)


def histograms(inner: Checker, pairs: Sequence[Pair], bins: int) -> list[np.ndarray | None]:
    """The shares of evidence sentences in each bin; None where one failed."""
    rows: list[np.ndarray | None] = []
    for group in plumbing.ask_pieces(inner, pairs, list):
        values = [v.probability for v in group if v.probability is not None]
        counts, _ = np.histogram(values, bins=bins, range=(0, 1))
        rows.append(counts / len(group) if len(values) == len(group) else None)
    return rows


def labelled_histograms(inner: Checker, labelled: Sequence[Labelled], bins: int) -> tuple[np.ndarray, list[bool]]:
    """The histograms of labelled sentences that have one, shape (n, bins), and their labels; both must occur."""
    pairs = [(split_text(one.article), one.text) for one in labelled]
    rows = histograms(inner, pairs, require_count(bins, "bins", minimum=2))
    kept = [(row, one.supported) for row, one in zip(rows, labelled, strict=True) if row is not None]
    if len({label for _, label in kept}) < 2:
        raise ValueError("a fit needs judged sentences of both labels")
    return np.stack([row for row, _ in kept]), [label for _, label in kept]
