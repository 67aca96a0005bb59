"""Read a run, finished or not: counts and failures first, then the distribution, the worst items, and what two runs
may claim.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from summeval_nb.agreement.registry import describe_metric, is_ours
from summeval_nb.core.base import (
    JsonDict,
    float_array,
    is_finite,
    require_count,
    require_option,
    require_share,
)
from summeval_nb.core.files import replacing, write_whole
from summeval_nb.core.html import Markup, folded, html_page, html_table, markdown_report, render, text_table
from summeval_nb.core.metric import FunctionScore
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
                info |= file.export()
            return cls(folder, {"usage": {}, **info})

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
        with explained(self.folder, reading=True), RunFile(self.folder, "ro") as file, replacing(Path(path)) as output:
            file.export(lambda line: output.write(line + b"\n"), whole=self.info["complete"])
        return Path(path)

    def result(self, item: int | None = None, *, id: object = None) -> Score:
        """Return the result of a row by its number, from 0 and -1 the last, or by its id, as its metric gave it.

        A run keeps numbers and no texts. Of faithfulness it is a `Faithfulness`, as `evaluate` gives it, whose table
        of similarities is NaN. Else it is a score with its parts as in `rows()`, its signature and its reason. A
        `LookupError` says that there is no such row, a `ValueError` why a row has no result.
        """
        if (item is None) == (id is None) or isinstance(item, (bool, float, str)):
            raise TypeError(f"say which row: by its whole number, result(3), or by result(id='a'), not {item!r:.40}")
        count = self.info["items"]
        for place, row in enumerate(self.rows()):
            if item in (row["item"], place - count) or (item is None and row["id"] == id):
                if row["status"] != "ok" and not row["parts"]:
                    raise ValueError(f"item {row['item']} has no result, {row['status']}: {row['reason']}")
                return result_of_row(row)
        asked = f"of the id {id!r:.40}" if item is None else item
        raise LookupError(f"there is no row {asked} in this run, whose rows are 0 to {count - 1}")

    def to_dict(self) -> JsonDict:
        """Return what the file says of the run as plain data."""
        return dict(self.info)

    def _summary(self) -> list[JsonDict]:
        """The run as one row of a table: metric, mean, items, counts."""
        row = {"metric": metric_name(self.info["settings"]), "mean": self.mean()}
        return [{**row, "items": self.info["items"], **self.counts}]

    @property
    def _notes(self) -> list[str]:
        return [] if self.info["complete"] else ["unfinished: call run again to score the rest"]

    def __repr__(self) -> str:
        used = [text_table(usage_rows(self.usage))] if self.usage else []
        return "\n".join([f"RunReport({str(self.folder)!r})", text_table(self._summary()), *self._notes, *used])

    def _repr_html_(self) -> str:
        return html_table(self._summary(), caption=f"Run in {self.folder}", note="".join(self._notes))

    def to_html(self, path: str | Path, *, other: Earlier | None = None, worst: int = 10) -> Path:
        """Write the page, compared with `other` where one is given; return its path. It loads nothing."""
        sections, lowest = self._sections(other, worst)
        items = [item_html(row, opened=not place) for place, row in enumerate(lowest)]
        told = [{"field": name, "value": json.dumps(value)} for name, value in self.info.items() if name not in _SHOWN]
        settings = folded(f"Every setting and count of the run ({len(told)} rows)", html_table(told))
        page = render("run.html", sections=sections, items=items, settings=settings)
        write_whole(path, html_page(sections[0][0], page))
        return Path(path)

    def to_markdown(self, *, other: Earlier | None = None, worst: int = 10) -> str:
        """Return the run as GitHub-flavoured Markdown, compared with `other` where one is given."""
        sections, lowest = self._sections(other, worst)
        told = [markdown_report(*section, level=3 if place else 2) for place, section in enumerate(sections)]
        return "\n".join([*told, *filter(None, (drawn_report(row, "to_markdown") for row in lowest[:2]))])

    def _sections(self, other: Earlier | None, worst: int) -> tuple[list[Section], list[JsonDict]]:
        """What a report says, part by part, and the rows of the lowest scores."""
        found, title = gather(self.rows(), require_count(worst, "worst", minimum=0)), self.folder.name or "this run"
        compared = compare_runs(other, self) if isinstance(other, Run) else other
        earlier = compared.earlier if compared else None
        scores = {compared.names[0]: gather(earlier.rows(), 0).scores} if compared and earlier else {}
        scores |= {compared.names[1] if scores and compared else title: found.scores}
        parts: list[Section] = [(f"Run {title}", self._notes, self._summary())]
        said = "They are not part of the mean." if found.reasons else "Every item has a score."
        parts += [("Items without a score", [said], found.reasons), ("Distribution", [], distribution(scores))]
        if compared:
            parts.append((" against ".join(compared.names[::-1]), str(compared).split("\n"), compared.rows()))
        if self.usage:
            told = "Seconds are added up over workers. Answers from the store cost nothing."
            parts.append(("What it cost", [told], usage_rows(self.usage)))
        lowest = [{"item": row_name(row), "score": row["score"]} for row in found.worst]
        parts.append(("How it was made", [], found.signatures))
        parts.append(("Lowest scores", [] if lowest else ["No item has a score."], lowest))
        return parts, found.worst


def result_of_row(row: JsonDict) -> Score:
    """Return the result of which a run wrote a row: a `Faithfulness` without its similarities, else its score."""
    reason = row["reason"] or ""
    if row.get("status") == "failed":  # a run says where a failure is, which its result did not know
        reason = re.sub(r"^at \d+: ", "", reason)
    if row["parts"].keys() >= {"schema", "verdicts"}:
        from summeval_nb.evidence.faithfulness import faithfulness_from_dict

        known = {"score": row["score"], "reason": reason, "signature": row["signature"]}
        return faithfulness_from_dict({**row["parts"], **known})
    signature = Signature.parse(row["signature"]) if row["signature"] else Signature({})
    return FunctionScore(score=row["score"], reason=reason, signature=signature, parts=row["parts"])


def metric_name(settings: JsonDict) -> str:
    """Return what people call the metric of a run."""
    metric = settings["metric"]
    return metric if isinstance(metric, str) else str(metric.get("name"))


# ---------------------------------------------------------------- two runs

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
    method: str
    mean_a: float | None = None
    mean_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
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
        return {**vars(self), "sentence": self.sentence()} | {"earlier": self.earlier and str(self.earlier.folder)}

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

        A `ValueError` says that it is not known which scores are better, that the items are too few for an interval, or
        that the margin is no number of at least 0.
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
    if len(d) > 2000 and not all_alike(d):
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
        The earlier run and the one to judge. Rows of runs are paired by their ids, or by their places if ids are
        missing or occur twice, and their contents; arrays hold scores of the same items in order, NaN for none.
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
    Fisher 1935, The Design of Experiments (flipping signs). Hartigan 1969, Using Subsample Values as Typical Values,
    JASA 64 (the interval).

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
    elif isinstance(a, Run) or isinstance(b, Run):
        raise TypeError("compare two runs or two arrays of scores, not one of each")
    known |= {"confidence": confidence, "better": better or "neither"}
    before, after = float_array(a, "a"), float_array(b, "b")
    if before.shape != after.shape or before.ndim != 1:
        raise ValueError(f"two runs of the same items are needed, not {before.shape} and {after.shape}")
    if max(np.nanmax(np.abs(side), initial=0) for side in (before, after)) > 1e100:
        raise ValueError("scores must be finite numbers up to 1e100, whose squares are numbers, or NaN for none")
    both = ~(np.isnan(before) | np.isnan(after))
    d, left_out = (after - before)[both], int((~both).sum())
    if len(d) < 2:
        return RunComparison(len(d), left_out, "fewer than two items were scored by both runs", **known)
    known |= {"mean_a": float(before[both].mean()), "mean_b": float(after[both].mean()), "difference": float(d.mean())}
    low, high, p, method = _tested(d, confidence, seed)
    return RunComparison(len(d), left_out, method, low=low, high=high, p_value=p, **known)


_DECIDE = ("summeval_nb", "metric", "options", "fingerprints")  # of a run's settings: what a score depends on


def pair_runs(first: RunReport, other: RunReport) -> JsonDict:
    """Return two runs' scores `a` and `b` of the same items, and what must be said with them.

    Rows are paired by their ids, or by their places where ids are missing or occur twice, and must be about the same.
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
    plain = lambda id: id if id is None or isinstance(id, str) else json.dumps(id)
    a, b = ([(plain(row["id"]), row["score"], row["content"]) for row in report.rows()] for report in reports)
    by_id = all(None not in (ids := {row[0] for row in rows}) and len(ids) == len(rows) for rows in (a, b))
    left, right = ({row[0] if by_id else place: row[1:] for place, row in enumerate(rows)} for rows in (a, b))
    common = [(left[key], right[key]) for key in left if key in right]
    pairs = [pair for pair in common if None in (about := {row[1] for row in pair}) or len(about) == 1]
    if len(pairs) < len(common) and by_id and not isinstance(settings[0]["metric"], str):
        pairs = common  # what an item of somebody's own metric is about, nobody knows
        notes.append("The rows of the two runs differ; that their ids mean the same items is for you to know.")
    if not by_id and len(pairs) < max(len(a), len(b)):
        raise ValueError("the runs have no usable ids and different inputs, so their items cannot be paired")
    if not pairs:
        what = "share ids, but each stands for another item" if common else "have no item in common"
        raise ValueError(f"the two runs {what}; compare runs over the same corpus")
    if apart := len(common) - len(pairs):
        notes.append(f"{apart} items have the same id in both runs and another content: left out.")
    same_name = first.folder.name == other.folder.name
    called = tuple(str(report.folder) if same_name else report.folder.name for report in reports)
    scores = {name: [pair[side][0] for pair in pairs] for side, name in enumerate("ab")}
    alone = len(a) + len(b) - 2 * len(common)
    return {**scores, "alone": alone, "notes": tuple(notes), "names": called, "earlier": first}


# ---------------------------------------------------------------- what a report says


Section: TypeAlias = tuple[str, Sequence[str], list[JsonDict]]  # title, sentences, table


class Gathered(NamedTuple):
    """One pass over a run: scores (NaN: none), counted reasons, worst rows first."""

    scores: np.ndarray
    reasons: list[JsonDict]
    worst: list[JsonDict]
    signatures: list[JsonDict]


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
    shown = [{"status": status, "reason": why, "items": n} for (status, why), n in reasons.most_common(50)]
    signed = [{"signature": text, "items": n} for text, n in signatures.most_common(5) if text]
    return Gathered(np.array(scores), shown, [row for *_, row in sorted(heap, reverse=True)], signed)


_SHOWN = ("counts", "usage", "first")  # of what a file says of its run: shown elsewhere, or for no reader


def distribution(scores: Mapping[str, np.ndarray], bins: int = 10, longest: int = 30) -> list[JsonDict]:
    """Return how many scores lie in each tenth of [0, 1], of [0, 100] or of their range: a column a run, and a bar."""
    known = {name: array[~np.isnan(array)] for name, array in scores.items()}
    together = np.concatenate([*known.values(), [0.0, 1.0]])
    low, high = float(together.min()), float(together.max())
    edges = np.linspace(low, high if low < 0 or high <= 1 else max(high, 100.0), bins + 1)
    counts = {name: np.histogram(array, edges)[0].tolist() for name, array in known.items()}
    name, last = [*counts.items()][-1]
    rows: list[JsonDict] = [{"range of scores": f"{edges[i]:.3g} to {edges[i + 1]:.3g}"} for i in range(bins)]
    for i, row in enumerate(rows):
        row |= {one: tally[i] for one, tally in counts.items()}
        row[f"▇ {name}"] = "▇" * math.ceil(longest * last[i] / max(1, *last))
    return rows


def item_html(row: JsonDict, *, opened: bool = True) -> Markup:
    """Return one item of a run as HTML: its score and, for faithfulness, the report of its result."""
    parts = [{"part": k, "value": json.dumps(v, ensure_ascii=False)[:500]} for k, v in row["parts"].items()]
    body = Markup(drawn_report(row, "_repr_html_") or html_table(parts, note="" if parts else "no parts"))
    return folded(f"{row_name(row)}: {row['score']:.4f}", body, opened=opened)


def drawn_report(row: JsonDict, how: str) -> str | None:
    """The report that a row's result draws itself; None where the parts are not those of faithfulness."""
    try:
        found = result_of_row(row)
        return None if isinstance(found, FunctionScore) else getattr(found, how)()
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def row_name(row: JsonDict) -> str:
    """What people call a row: its id, or its number."""
    return str(row["id"]) if row["id"] is not None else f"item {row['item']}"


def usage_rows(usage: Mapping[str, Mapping[str, float]]) -> list[JsonDict]:
    """Return one row for each stage of a ledger, and their total, for people."""
    counts = dict.fromkeys(name for row in usage.values() for name in row)
    total = {name: sum(row.get(name, 0) for row in usage.values()) for name in counts}
    stages = {**usage, "total": total} if usage else {}
    return [{"stage": name, **{one: round(row.get(one, 0), 1) for one in counts}} for name, row in stages.items()]
