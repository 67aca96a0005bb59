"""Read a run, finished or not: counts and failures first, then the distribution, the worst items, and what two runs
may claim.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from summeval_nb.agreement.registry import describe_metric, is_ours
from summeval_nb.core.base import (
    JsonDict,
    callers_level,
    float_array,
    is_finite,
    require_count,
    require_option,
    require_share,
)
from summeval_nb.core.files import write_whole
from summeval_nb.core.html import Markup, html_page, html_table, markdown_report, render, text_table
from summeval_nb.core.resampling import all_alike, sign_flips
from summeval_nb.core.results import Rows, Score, Signature
from summeval_nb.runs.file import RESULTS, RunFile, damaged, differences, explained

__all__ = ["RunComparison", "RunReport", "compare_runs"]

# ---------------------------------------------------------------- one run


@dataclass(frozen=True, repr=False)
class RunReport(Rows):
    """A run: its folder, what its file says of it, and its rows on demand; of an unfinished one what is there.

    Attributes
    ----------
    folder : Path
        Where it is.
    info : dict
        `settings`, `versions`, `complete`, `items`, `counts`, `mean`, `scored_now` and more.
    """

    folder: Path
    info: JsonDict

    @classmethod
    def load(cls, folder: str | Path) -> RunReport:
        """Return the report of the run in a folder."""
        folder = Path(folder)
        with explained(folder, reading=True), RunFile(folder, "ro") as file:
            info = file.info()
            if "settings" not in info:
                raise ValueError(f"{str(folder)!r} holds a run that was stopped before its first item: call run again")
            if not info["complete"]:
                info |= file.export()._asdict()
            return cls(folder, info | {"usage": file.info("ledger")})

    @property
    def path(self) -> Path:
        """The file of results; an unfinished run has none."""
        return self.folder / RESULTS

    @property
    def counts(self) -> dict[str, int]:
        """How many items are ok, undefined and failed."""
        return dict(self.info["counts"])

    def mean(self) -> float | None:
        """The mean of the items that have a score; None when none has."""
        return self.info["mean"]

    @property
    def usage(self) -> Mapping[str, Mapping[str, float]]:
        """Its ledger: what language models used for it, by stage, in all attempts; empty without one.

        `questions` are those that the metric had, `from_store` those of them whose answers a store held. `seconds` is
        the time of the stage, added up over workers, `call_seconds` that inside the calls, added up over threads too.
        """
        return self.info["usage"]

    def rows(self) -> Iterator[JsonDict]:
        """Yield the rows in the order of the corpus, holding one at a time."""
        digest, complete = hashlib.sha256(), self.info["complete"]
        with explained(self.folder, reading=True), RunFile(self.folder, "ro") as file:
            for _, _, line, key in file.lines(whole=complete):
                digest.update(key)
                yield json.loads(line)
            if complete and digest.hexdigest() != self.info["input_sha256"]:
                raise damaged(file.path, "its rows are not those of its corpus")

    def to_jsonl(self, path: str | Path) -> Path:
        """Write the rows as a file of lines, as the run does when it is finished; return its path."""
        with explained(self.folder, reading=True), RunFile(self.folder, "ro") as file:
            file.write_results(Path(path), whole=self.info["complete"])
        return Path(path)

    def result(self, item: int | None = None, *, id: object = None) -> Score:
        """Return the result of a row by its number, from 0 and -1 the last, or by its id, as its metric gave it.

        A run keeps numbers and no texts. Of faithfulness it is a `Faithfulness`, as `evaluate` gives it, whose table
        of similarities is NaN. Else it is a score with its parts as `rows()`, its signature and its reason.

        Raises
        ------
        IndexError, ValueError
            If there is no such row, or the item lacks a cell or failed before there was a result.
        """
        if (item is None) == (id is None):
            raise TypeError("say which row: by its number, result(3), or by its id, result(id='a')")
        if isinstance(item, bool) or not isinstance(item, (Integral, type(None))):
            remedy = "a row is found by its id with result(id=...)"
            raise TypeError(f"item must be a whole number, not {item!r:.40}: {remedy}")
        count, first = self.info["items"], None
        for place, row in enumerate(self.rows()):
            if item in (row["item"], place - count) or (item is None and row["id"] == id):
                break
            first = row["id"] if first is None else first
        else:
            if item is not None:
                raise IndexError(f"there is no row {item} in this run: its {count:,} rows are 0 to {count - 1}")
            known = "its rows have no ids" if first is None else f"its first row's is {first!r:.40}"
            raise ValueError(f"there is no row of the id {id!r:.40} in this run: {known}")
        if row["status"] != "ok" and not row["parts"]:
            raise ValueError(f"item {row['item']} has no result, {row['status']}: {row['reason']}")
        return result_of_row(row)

    def to_dict(self) -> JsonDict:
        """Return what the file says of the run as plain data."""
        return dict(self.info)

    @property
    def _unfinished(self) -> str:
        return "" if self.info["complete"] else "unfinished: call run again to score the rest"

    def _summary(self) -> list[JsonDict]:
        """The run as one row of a table: metric, mean, items, counts."""
        row = {"metric": metric_name(self.info["settings"]), "mean": self.mean()}
        return [{**row, "items": self.info["items"], **self.counts}]

    def __repr__(self) -> str:
        used = text_table(usage_rows(self.usage)) if self.usage else ""
        lines = [f"RunReport({str(self.folder)!r})", text_table(self._summary()), self._unfinished, used]
        return "\n".join(filter(None, lines))

    def _repr_html_(self) -> str:
        return html_table(self._summary(), caption=f"Run in {self.folder}", note=self._unfinished)

    def to_html(self, path: str | Path, *, other: Earlier | None = None, worst: int = 10) -> Path:
        """Write the page, compared with `other` where one is given; return its path. It loads nothing."""
        found, compared = self._gathered(worst), self._compared(other)
        arrays, names = [found.scores], [self.folder.name or "this run"]
        if compared and compared.earlier:
            arrays.append(gather(compared.earlier.rows(), 0).scores)
            names = [compared.names[1], compared.names[0]]
        fields = [(name, value) for name, value in self.info.items() if name not in ("counts", "usage", "first")]
        few = len(found.worst) <= _OPEN
        page = render(
            "run.html",
            summary=self._summary(),
            unfinished=self._unfinished,
            names=names,
            histogram=histogram_svg(arrays, names),
            reasons=found.shown_reasons(),
            worst=[worst_html(row, opened=few or not place) for place, row in enumerate(found.worst)],
            signatures=[{"signature": text, "items": n} for text, n in found.signatures.most_common(5) if text],
            details=[{"field": name, "value": json.dumps(value)} for name, value in fields],
            usage=usage_rows(self.usage),
            compared=compared.rows() if compared else [],
            said=[*compared.notes, compared.sentence()] if compared else [],
            earlier=compared.names[0] if compared else "",
        )
        write_whole(path, html_page(f"Run {names[0]}", page))
        return Path(path)

    def to_markdown(self, *, other: Earlier | None = None, worst: int = 10) -> str:
        """Return the run as GitHub-flavoured Markdown, compared with `other` where one is given."""
        found = self._gathered(worst)
        parts = [markdown_report(f"Run {self.folder.name}", filter(None, [self._unfinished]), rows=self._summary())]
        parts += [compared.to_markdown()] if (compared := self._compared(other)) else []
        lowest = [{"item": row_name(row), "score": row["score"]} for row in found.worst]
        for title, rows in (("Items without a score", found.shown_reasons()), ("Lowest scores", lowest)):
            parts += [markdown_report(title, rows=rows, level=3)] if rows else []
        drawn = (drawn_row(row, lambda result: result.to_markdown()) for row in found.worst[:_OPEN])
        return "\n".join([*parts, *filter(None, drawn)])

    def _gathered(self, worst: int) -> Gathered:
        return gather(self.rows(), require_count(worst, "worst", minimum=0))

    def _compared(self, other: Earlier | None) -> RunComparison | None:
        return other if other is None or isinstance(other, RunComparison) else compare_runs(other, self)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class StoredScore(Score):
    """A score as a run wrote it down, with its parts; the texts and what draws them are not kept."""

    parts: Mapping[str, Any] = field(default_factory=dict)

    def rows(self) -> list[JsonDict]:
        """Return the rows that the metric wrote, or its parts as one row."""
        rows = self.parts.get("rows")
        listed = isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
        return [dict(row) for row in rows] if listed and rows else [{"score": self.score, **self.parts}]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        return {**self.parts, "score": self.score, "reason": self.reason, "signature": str(self.signature)}


def result_of_row(row: JsonDict) -> Score:
    """Return the result of which a run wrote a row: a `Faithfulness` without its similarities, else its score."""
    known = {name: row.get(name) for name in ("score", "reason", "signature")}
    if row.get("status") == "failed":  # a run says where a failure is, which its result did not know
        known["reason"] = re.sub(r"^at \d+: ", "", row["reason"])
    if row["parts"].keys() >= {"schema", "verdicts"}:
        from summeval_nb.evidence.faithfulness import faithfulness_from_dict

        return faithfulness_from_dict({**row["parts"], **known})
    said = known["signature"]
    signature = Signature.parse(said) if said else Signature({})
    return StoredScore(score=known["score"], reason=known["reason"] or "", signature=signature, parts=row["parts"])


def metric_name(settings: JsonDict) -> str:
    """Return what people call the metric of a run."""
    metric = settings["metric"]
    return metric if isinstance(metric, str) else str(metric.get("name"))


# ---------------------------------------------------------------- two runs

_EXACT_LIMIT = 2000
_ALIKE = "all differences are equal"


@dataclass(frozen=True, repr=False)
class RunComparison(Rows):
    """Two runs on their common items: what changed from A to B, and what one may say of it.

    Parameters
    ----------
    n, left_out, alone : int
        Items that both runs scored, common items without a score in A or B, and items that only one run has.
    mean_a, mean_b, difference : float or None
        Of the n items; the difference is B - A.
    low, high, p_value : float or None
        The interval of the difference, None where the items are too few to bound it or all differ alike, and the
        two-sided p-value. The interval holds 0 where p is above 1 - `confidence`.
    method : str
        How both were found, or why they were not.
    better : str
        "higher", "lower" or "neither": which scores of the metric are better.
    names, notes : tuple of str
        What the runs are called, and what must be said with the comparison.
    earlier : RunReport or None
        The run A, where two runs were compared and not two arrays.
    """

    n: int
    left_out: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    method: str
    confidence: float = 0.95
    alone: int = 0
    better: str = "neither"
    names: tuple[str, ...] = ("A", "B")
    notes: tuple[str, ...] = ()
    earlier: RunReport | None = None

    def rows(self) -> list[JsonDict]:
        """Return one row: counts, means, the difference with its interval and p-value."""
        row: JsonDict = {"common_items": self.n, "left_out": self.left_out, "in_one_run_only": self.alone}
        row |= {f"mean_{name}": mean for name, mean in zip(self.names, (self.mean_a, self.mean_b), strict=True)}
        return [row | {"difference": self.difference, "low": self.low, "high": self.high, "p": self.p_value}]

    def to_dict(self) -> JsonDict:
        """Return everything as plain data."""
        own = {name: value for name, value in vars(self).items() if name != "earlier"}
        return own | {"sentence": self.sentence()}

    @property
    def _is_shown(self) -> bool:
        return self.p_value is not None and self.p_value <= round(1 - self.confidence, 12)

    def _interval(self) -> str:
        share = f"{100 * self.confidence:g} %"
        few = f"no {share} interval" if self.method == _ALIKE else f"too few items for a {share} interval"
        return few if self.low is None else f"{share} interval [{self.low:+.4f}, {self.high:+.4f}]"

    def sentence(self, a: str | None = None, b: str | None = None) -> str:
        """Return what may be said: a difference only where its interval does not hold 0."""
        first, second = a or self.names[0], b or self.names[1]
        lost = [f"{self.left_out} common items have no score in one of them."] if self.left_out else []
        lost += [f"{self.alone} items are in one run only."] if self.alone else []
        if self.difference is None:
            return " ".join([f"Nothing may be said: {self.method}.", *lost])
        claim = f"no difference between {first} and {second} is shown"
        if self._is_shown:
            claim = f"{second} scores {'higher' if self.difference > 0 else 'lower'} than {first}"
        numbers = f"{self.difference:+.4f}, {self._interval()}, two-sided p = {self.p_value:.3g} ({self.method})"
        return " ".join([f"On {self.n} common items {claim}: {numbers}.", *lost])

    def is_regression(self, margin: float = 0.0) -> bool:
        """Return whether B is worse than A: the whole interval lies on the worse side, beyond `margin`.

        Raises
        ------
        ValueError
            If it is not known which scores are better, the items are too few for an
            interval, or the margin is no number of at least 0.
        """
        if isinstance(margin, bool) or not (is_finite(margin) and margin >= 0):
            raise ValueError(f"margin must be a number of at least 0, in the units of the score, not {margin!r}")
        if self.better not in ("higher", "lower"):
            raise ValueError("it is not known which scores are better: say better='higher' or better='lower'")
        low, high = self.low, self.high
        if self.method == _ALIKE:  # the test has no interval, and its word
            low = high = self.difference if self._is_shown else 0.0
        if low is None or high is None:
            raise ValueError(f"no regression can be told: {self.n} common items, {self._interval()}")
        return (high if self.better == "higher" else -low) < -margin

    def to_markdown(self) -> str:
        """Return the comparison as GitHub-flavoured Markdown."""
        return markdown_report(" against ".join(self.names[::-1]), [*self.notes, self.sentence()], self.rows())

    def __repr__(self) -> str:
        return "\n".join([*self.notes, self.sentence()])

    def _repr_html_(self) -> str:
        return html_table(self.rows(), caption=self.sentence(), note=" ".join(self.notes))


def _tested(d: np.ndarray, confidence: float, seed: int) -> tuple[float | None, float | None, float, str]:
    """The interval of a mean difference, its p-value, and how they were found: both by one test, so that they agree."""
    from scipy import stats

    mean, spread = float(d.mean()), d.std(ddof=1) / math.sqrt(len(d))
    if len(d) > _EXACT_LIMIT and not all_alike(d):
        half = float(stats.norm.ppf((1 + confidence) / 2) * spread)
        return mean - half, mean + half, float(2 * stats.norm.sf(abs(mean) / spread)), "normal approximation"
    low, high, p = sign_flips(d, confidence=confidence, n_resamples=9999, seed=seed)
    if not math.isfinite(low):
        return None, None, p, "sign flips"
    return (None, None, p, _ALIKE) if all_alike(d) else (low, high, p, "sign flips")


Run: TypeAlias = RunReport | str | Path
Earlier: TypeAlias = Run | RunComparison  # a run, or what a run was compared with


def compare_runs(
    a: ArrayLike | Run, b: ArrayLike | Run, *, confidence: float = 0.95, better: str | None = None, seed: int = 0
) -> RunComparison:
    """Compare two runs item by item: how far B is from A, with an interval and a test that agree.

    Parameters
    ----------
    a, b : RunReport, folder of a run, or array_like of float, shape (items,)
        The earlier run and the one to judge. Rows of runs are matched by their ids and
        contents; arrays hold scores of the same items in the same order, NaN for none.
    confidence : float
        Of the interval, in (0, 1).
    better : {"higher", "lower"}, optional
        Which scores are better; by default what `list_metrics` says of the runs' metric.
    seed : int
        Where the random numbers start.

    Raises
    ------
    ValueError, TypeError
        If the runs have different metrics or no items in common, or are no runs.

    References
    ----------
    Fisher 1935, The Design of Experiments (flipping signs). Hartigan 1969, Using
    Subsample Values as Typical Values, JASA 64 (the interval).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.random(100)
    >>> compare_runs(a, a + rng.normal(0.2, 0.1, 100)).p_value < 0.01
    True
    """
    require_share(confidence, "confidence")
    if better is not None:
        require_option(better, "better", ("higher", "lower"))
    if isinstance(a, Score) or isinstance(b, Score):
        systems = "compare_systems({'a': outputs_a, 'b': outputs_b}, references)"
        raise TypeError(f"one score for a whole corpus says nothing of its items: compare the texts, {systems}")
    known: JsonDict = {}
    if isinstance(a, Run) and isinstance(b, Run):
        reports = [side if isinstance(side, RunReport) else RunReport.load(side) for side in (a, b)]
        known, metric = pair_runs(*reports), reports[1].info["settings"]["metric"]
        a, b = known.pop("a"), known.pop("b")
        better = better or (str(describe_metric(metric)["better"]) if is_ours(metric) else None)
        for note in known["notes"]:
            warnings.warn(f"{' and '.join(known['names'])}: {note}", stacklevel=callers_level())
    elif isinstance(a, Run) or isinstance(b, Run):
        raise TypeError("compare two runs or two arrays of scores, not one of each")
    known |= {"confidence": confidence, "better": better or "neither"}
    before, after = float_array(a, "a"), float_array(b, "b")
    if before.shape != after.shape or before.ndim != 1:
        raise ValueError(f"two runs of the same items are needed, not {before.shape} and {after.shape}")
    if np.isinf(before).any() or np.isinf(after).any():
        raise ValueError("scores must be finite numbers, or NaN for none, and one is infinite")
    if max(np.nanmax(np.abs(side), initial=0) for side in (before, after)) > 1e100:
        raise ValueError("scores beyond 1e100 cannot be compared: their squares are beyond all numbers")
    both = ~(np.isnan(before) | np.isnan(after))
    d, left_out = (after - before)[both], int((~both).sum())
    if len(d) < 2:
        few = "fewer than two items were scored by both runs"
        return RunComparison(len(d), left_out, None, None, None, None, None, None, few, **known)
    means = float(before[both].mean()), float(after[both].mean()), float(d.mean())
    low, high, p, method = _tested(d, confidence, seed)
    return RunComparison(len(d), left_out, *means, low, high, p, method, **known)


_UNSURE = "The rows of the two runs differ; that their ids mean the same items is for you to know."
_DECIDE = ("summeval_nb", "metric", "options", "fingerprints")  # of a run's settings: what a score depends on
_BY_ID_ALONE = "A run does not say what its items are about: they are paired by id alone."


class _Row(NamedTuple):
    """What pairing needs of a row: its id as text, its score (NaN: none), the hash of what it is about."""

    id: str | None
    score: float
    about: str | None

    @classmethod
    def of(cls, row: JsonDict) -> _Row:
        key = row["id"] if row["id"] is None or isinstance(row["id"], str) else json.dumps(row["id"])
        return cls(key, math.nan if row["score"] is None else row["score"], row["content"])

    def fits(self, other: _Row) -> bool:
        """Whether two rows are about the same, as far as they say it."""
        return None in (self.about, other.about) or self.about == other.about


def pair_runs(first: RunReport, other: RunReport) -> JsonDict:
    """Return two runs' scores `a` and `b` of the same items, by id and content, and what must be said with them.

    What cannot be compared is a `ValueError`.
    """
    reports, settings = (first, other), [report.info["settings"] for report in (first, other)]
    names = [metric_name(one) for one in settings]
    if names[0] != names[1]:
        raise ValueError(f"the runs have different metrics, {names[0]} and {names[1]}, whose scores are no pairs")
    before, now = ({name: one.get(name) for name in _DECIDE} for one in settings)
    changed = list(differences(before, now, sides=("in the one", "in the other")))
    notes = [f"The runs have other settings: {', '.join(changed)}."] if changed else []
    notes += [f"The run {report.folder.name} is unfinished." for report in reports if not report.info["complete"]]
    a, b = (list(map(_Row.of, report.rows())) for report in reports)
    pairs, alone = list(zip(a, b, strict=False)), 0
    if all(None not in (ids := {row.id for row in rows}) and len(ids) == len(rows) for rows in (a, b)):
        second = {row.id: row for row in b}
        common = [(row, second[row.id]) for row in a if row.id in second]
        pairs, alone = [pair for pair in common if _Row.fits(*pair)], len(a) + len(b) - 2 * len(common)
        if len(pairs) < len(common) and not isinstance(settings[0]["metric"], str):
            pairs = common  # what an item of somebody's own metric is about, nobody knows
            notes.append(_UNSURE)
        if not pairs:
            what = "share ids, but each stands for another item" if common else "have no item in common"
            raise ValueError(f"the two runs {what}; compare runs over the same corpus")
        if left := len(common) - len(pairs):
            notes.append(f"{left} items have the same id in both runs and another content: left out.")
        if any(None in (row.about, own.about) and not math.isnan(row.score + own.score) for row, own in pairs):
            notes.append(_BY_ID_ALONE)
    elif first.info["input_sha256"] != other.info["input_sha256"] and not (
        len(a) == len(b) and all(row.about and row.fits(own) for row, own in pairs)
    ):
        raise ValueError("the runs have no usable ids and different inputs, so their items cannot be paired")
    same_name = first.folder.name == other.folder.name
    called = tuple(str(report.folder) if same_name else report.folder.name for report in reports)
    scores = dict(zip("ab", ([row.score for row in side] for side in zip(*pairs, strict=True)), strict=True))
    return {**scores, "alone": alone, "notes": tuple(notes), "names": called, "earlier": first}


# ---------------------------------------------------------------- drawings and pages


class Gathered(NamedTuple):
    """One pass over a run: scores (NaN: none), counted reasons, worst rows first."""

    scores: np.ndarray
    reasons: Counter[tuple[str, str]]
    worst: list[JsonDict]
    signatures: Counter[str]

    def shown_reasons(self) -> list[JsonDict]:
        """Return a row for each of the commonest reasons."""
        counted = self.reasons.most_common(50)
        return [{"status": status, "reason": reason, "items": n} for (status, reason), n in counted]


def gather(rows: Iterator[JsonDict], worst: int = 10) -> Gathered:
    """Return what a report needs from rows, reading each once; reasons without places and numbers, which differ."""
    scores: list[float] = []
    reasons, signatures = Counter[tuple[str, str]](), Counter[str]()
    heap: list[tuple[float, int, JsonDict]] = []
    for row in rows:
        score = row["score"]
        scores.append(math.nan if score is None else score)
        signatures[row["signature"]] += bool(row["signature"])
        if score is None:
            reasons[row["status"], re.sub(r"\d+", "·", re.sub(r"^at \d+: ", "", row["reason"]))[:200]] += 1
        else:
            entry = (-score, -row["item"], dict(row))
            (heapq.heappush if len(heap) < worst else heapq.heappushpop)(heap, entry)
    return Gathered(np.array(scores), reasons, [row for *_, row in sorted(heap, reverse=True)], signatures)


_COLORS = ("#2f6fa8", "#d98a3d")
_OPEN = 2  # items that are all shown open
_USAGE = {
    "questions": "questions",
    "from_store": "from store",
    "calls": "calls",
    "failures": "failed calls",
    "retries": "repeated requests",
    "prompt_tokens": "prompt tokens",
    "cached_tokens": "of them cached",
    "generated_tokens": "completion tokens",
    "seconds": "seconds",
}


def histogram_svg(values: Sequence[np.ndarray], names: Sequence[str]) -> Markup:
    """Return the distribution of one or two runs' scores as an SVG drawing with text for screen readers.

    It has twenty bins over [0, 1] or [0, 100] where the scores lie there, else over their range.
    """
    known = [array[~np.isnan(array)] for array in values]
    together = np.concatenate(known)
    low, high = (float(together.min()), float(together.max())) if together.size else (0.0, 1.0)
    if low >= 0 and high <= (most := 1.0 if high <= 1 else 100.0):
        low, high = 0.0, most
    edges = np.linspace(low, high if high > low else low + 1, 21)
    counts = [np.histogram(array, edges)[0] for array in known]
    top = max(1, *(int(tally.max()) for tally in counts))
    bars, width = [], 28 / len(values)
    for side, (name, heights) in enumerate(zip(names, counts, strict=True)):
        for i, count in enumerate(heights.tolist()):
            height = 150 * count / top
            box = {"x": 40 + 30 * i + side * width, "y": 170 - height, "width": width - 1, "height": height}
            title = f"{name}: {count} items from {edges[i]:.3g} to {edges[i + 1]:.3g}"
            bars.append({k: f"{v:.1f}" for k, v in box.items()} | {"color": _COLORS[side], "title": title})
    marks = [(40 + 30 * i, f"{edges[i]:.3g}") for i in range(0, 21, 5)]
    return render("histogram.html", names=names, bars=bars, top=top, edges=marks, colors=_COLORS)


def worst_html(row: JsonDict, *, opened: bool = True) -> Markup:
    """Return one item of a run as HTML: its score and, for faithfulness, the report of its result."""
    parts = [{"part": k, "value": json.dumps(v, ensure_ascii=False)[:500]} for k, v in row["parts"].items()]
    drawn = drawn_row(row, lambda found: found._repr_html_())
    return render("item.html", name=row_name(row), score=row["score"], opened=opened, drawn=drawn, parts=parts)


Drawn = TypeVar("Drawn")


def drawn_row(row: JsonDict, draw: Callable[[Any], Drawn]) -> Drawn | None:
    """A row's result, drawn; None where the parts are not those of faithfulness, whatever they are called."""
    try:
        found = result_of_row(row)
        return None if isinstance(found, StoredScore) else draw(found)
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def row_name(row: JsonDict) -> str:
    """What people call a row: its id, or its number."""
    return str(row["id"]) if row["id"] is not None else f"item {row['item']}"


def usage_rows(usage: Mapping[str, Mapping[str, float]]) -> list[JsonDict]:
    """Return one row for each stage of a ledger, and their total, for people."""
    total = {name: sum(row.get(name, 0) for row in usage.values()) for name in _USAGE}
    return [
        {"stage": stage, **{title: round(row.get(name, 0), 1) for name, title in _USAGE.items()}}
        for stage, row in ({**usage, "total": total} if usage else {}).items()
    ]
