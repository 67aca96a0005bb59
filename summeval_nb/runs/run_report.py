"""Read a finished run: counts and failures first, then the distribution, the worst items, and what two
runs may claim.
"""

from __future__ import annotations

import heapq
import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from summeval_nb.core.base import JsonDict, callers_level, is_finite, require_count, require_option, require_share
from summeval_nb.core.files import write_whole
from summeval_nb.core.html import html_page, html_table, markdown_report, render, text_table
from summeval_nb.core.resampling import all_alike, sign_flips
from summeval_nb.core.results import Rows
from summeval_nb.runs.finished import (
    Aligned,
    complete_manifest,
    drawn_row,
    histogram_svg,
    metric_name,
    pair_rows,
    recovered_note,
    require_pairs,
    result_of_item,
    result_of_row,
    row_name,
    rows_of_file,
    stored_row,
    usage_rows,
    worst_html,
)

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike

    from summeval_nb.core.results import Score
    from summeval_nb.runs.manifest import Corpus

__all__ = [
    "read_manifest",
    "read_rows",
    "reason_group",
    "Gathered",
    "gather",
    "RunComparison",
    "compare_runs",
    "align",
    "RunReport",
    "page_parts",
    "run_page",
]


def read_manifest(folder: str | Path) -> JsonDict:
    """Return a run's manifest; no complete run is a `ValueError` with a remedy."""
    return complete_manifest(Path(folder))


def read_rows(folder: str | Path) -> Iterator[JsonDict]:
    """Yield the rows of a run in the order of its corpus, holding one at a time."""
    yield from rows_of_file(Path(folder), read_manifest(folder))


def reason_group(reason: str) -> str:
    """Return a reason without what differs between items: places and numbers.

    Examples
    --------
    >>> reason_group("at 17: there is no 'summary'; there is: id, text")
    "there is no 'summary'; there is: id, text"
    >>> reason_group("at 3: ValueError: 12 tokens are too many")
    'ValueError: · tokens are too many'
    """
    bare = re.sub(r"^at \d+: ", "", reason)
    return re.sub(r"\d+", "·", bare)[:200]


class Gathered(NamedTuple):
    """One pass over a run: scores (NaN: none), counted reasons, worst rows first."""

    scores: np.ndarray
    reasons: Counter[tuple[str, str]]
    worst: list[JsonDict]
    signatures: Counter[str]


def gather(rows: Iterator[JsonDict], worst: int = 10) -> Gathered:
    """Return what a report needs from rows, reading each once."""
    scores: list[float] = []
    reasons: Counter[tuple[str, str]] = Counter()
    signatures: Counter[str] = Counter()
    heap: list[tuple[float, int, JsonDict]] = []
    for row in rows:
        score = row["score"]
        scores.append(math.nan if score is None else score)
        signatures[row["signature"]] += bool(row["signature"])
        if score is None:
            reasons[row["status"], reason_group(row["reason"])] += 1
        else:
            entry = (-score, -row["item"], dict(row))
            (heapq.heappush if len(heap) < worst else heapq.heappushpop)(heap, entry)
    lowest = [row for *_, row in sorted(heap, reverse=True)]
    return Gathered(np.array(scores), reasons, lowest, signatures)


@dataclass(frozen=True, repr=False)
class RunComparison(Rows):
    """Two runs on their common items: what changed from A to B, and what one may say of it.

    Parameters
    ----------
    n : int
        Items that both runs scored.
    left_out, alone : int
        Common items without a score in A or B, and items that only one run has.
    mean_a, mean_b, difference : float or None
        Of the n items; the difference is B - A.
    low, high : float or None
        The interval of the difference; None where the items are too few to bound it, or all differ alike.
    p_value : float or None
        Two-sided. An interval holds 0 where it is above 1 - `confidence`.
    method : str
        How interval and p-value were found, or why they were not.
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
    names: tuple[str, str] = ("A", "B")
    notes: tuple[str, ...] = ()
    earlier: RunReport | None = None

    def rows(self) -> list[JsonDict]:
        """Return one row: counts, means, the difference with its interval and p-value."""
        row: JsonDict = {"common items": self.n, "left out": self.left_out, "in one run only": self.alone}
        row |= {f"mean of {name}": mean for name, mean in zip(self.names, (self.mean_a, self.mean_b), strict=True)}
        return [row | {"difference": self.difference, "low": self.low, "high": self.high, "p": self.p_value}]

    def to_dict(self) -> JsonDict:
        """Return everything as plain data."""
        own = asdict(replace(self, earlier=None))
        del own["earlier"]
        return own | {"sentence": self.sentence()}

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
        if self.p_value is not None and self.p_value <= round(1 - self.confidence, 12):
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
        if self.method == _ALIKE and self.p_value is not None:  # the test has no interval, and its word
            low = high = self.difference if self.p_value <= round(1 - self.confidence, 12) else 0.0
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


_EXACT_LIMIT = 2000
_ALIKE = "all differences are equal"


def _paired(d: np.ndarray, confidence: float, seed: int) -> tuple[float | None, float | None, float, str]:
    """The interval of a mean difference, its p-value, and how they were found: both by one test, so that they agree."""
    from scipy import stats

    mean, spread = float(d.mean()), d.std(ddof=1) / math.sqrt(len(d))
    if len(d) > _EXACT_LIMIT and not all_alike(d):
        half = float(stats.norm.ppf((1 + confidence) / 2) * spread)
        p = float(2 * stats.norm.sf(abs(mean) / spread))
        return mean - half, mean + half, p, "normal approximation"
    low, high, p = sign_flips(d, confidence=confidence, n_resamples=9999, seed=seed)
    if not math.isfinite(low):
        return None, None, p, "sign flips"
    return (None, None, p, _ALIKE) if all_alike(d) else (low, high, p, "sign flips")


Run: TypeAlias = "RunReport | str | Path"
Earlier: TypeAlias = "RunReport | str | Path | RunComparison"  # a run, or what a run was compared with


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

    Returns
    -------
    RunComparison
        Its `sentence()` says what one may claim, `is_regression()` whether B is worse.

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
    known: JsonDict = {"confidence": confidence}
    if better is not None:
        require_option(better, "better", ("higher", "lower"))
    given = [isinstance(side, (RunReport, str, Path)) for side in (a, b)]
    if any(given) and not all(given):
        raise TypeError("compare two runs or two arrays of scores, not one of each")
    if all(given):
        reports = [side if isinstance(side, RunReport) else RunReport.load(side) for side in (a, b)]  # type: ignore[arg-type]
        folders = [report.folder for report in reports]
        aligned = align(folders[0], folders[1])
        a, b = aligned.a, aligned.b
        same_name = folders[0].name == folders[1].name
        known["names"] = tuple(str(folder) if same_name else folder.name for folder in folders)
        known |= {"alone": aligned.alone, "notes": aligned.notes, "earlier": reports[0]}
        better = better or _better(reports[1].manifest)
        for note in aligned.notes:
            warnings.warn(f"{' and '.join(known['names'])}: {note}", stacklevel=callers_level())
    a, b, both = require_pairs(a, b)  # type: ignore[arg-type]
    known["better"] = better or "neither"
    d = (b - a)[both]
    counts = len(d), int((~both).sum())
    if len(d) < 2:
        few = "fewer than two items were scored by both runs"
        return RunComparison(*counts, None, None, None, None, None, None, few, **known)
    means = float(a[both].mean()), float(b[both].mean()), float(d.mean())
    low, high, p, method = _paired(d, confidence, seed)
    return RunComparison(*counts, *means, low, high, p, method, **known)


def _better(manifest: JsonDict) -> str:
    """Which scores of a run's metric are better: "neither" for a metric of somebody's own."""
    from summeval_nb.agreement.registry import METRICS, describe_metric

    name = manifest["settings"]["metric"]
    return str(describe_metric(name)["better"]) if isinstance(name, str) and name in METRICS else "neither"


def align(folder_a: Path, folder_b: Path) -> Aligned:
    """Return two runs' scores of the same items; what is no pair is a `ValueError`."""
    manifests = [read_manifest(folder) for folder in (folder_a, folder_b)]
    return pair_rows(manifests, [read_rows(folder) for folder in (folder_a, folder_b)])


@dataclass(frozen=True)
class RunReport:
    """A finished run: its folder, its manifest, and its rows on demand.

    Examples
    --------
    >>> RunReport.load("no-such-folder")
    Traceback (most recent call last):
    ...
    ValueError: 'no-such-folder' holds no run: there is no manifest.json
    """

    folder: Path
    manifest: JsonDict

    @classmethod
    def load(cls, folder: str | Path) -> RunReport:
        """Return the report of the run in a folder."""
        return cls(Path(folder), read_manifest(folder))

    @property
    def path(self) -> Path:
        """The file of results."""
        return self.folder / self.manifest["results"]

    @property
    def counts(self) -> dict[str, int]:
        """How many items are ok, undefined and failed."""
        return dict(self.manifest["counts"])

    def mean(self) -> float | None:
        """The mean of the items that have a score; None when none has."""
        return self.manifest["mean"]

    @property
    def usage(self) -> Mapping[str, Mapping[str, float]]:
        """What language models used for it, by stage; empty without one."""
        return self.manifest.get("usage", {})

    def rows(self) -> Iterator[JsonDict]:
        """Yield the rows in the order of the corpus."""
        return read_rows(self.folder)

    def result(self, item: int | None = None, *, id: object = None, items: Corpus | None = None) -> Score:
        """Return the result of one row, as its metric gave it.

        A run keeps numbers and no texts. Therefore a word metric's own result, such as a
        `BleuScore` with its `explain()`, comes back where the corpus is given again.

        Parameters
        ----------
        item : int, optional
            The row's number, from 0 in the order of the corpus; -1 is the last.
        id : optional
            The row's id, in place of its number.
        items : path, DataFrame, datasets.Dataset or iterable of mappings, optional
            The corpus that was scored, for a metric that only counts words: its item is
            counted once more, and must be the same and have the same score.

        Returns
        -------
        Score
            Of faithfulness a `Faithfulness`, as `evaluate` gives it, without the table
            of similarities, which a run does not keep: it is NaN. With `items` the
            result that the metric's `score` gives. Else a score with its parts as
            `rows()`, its signature and its reason, which cannot draw the texts.

        Raises
        ------
        IndexError
            If there is no row of that number.
        ValueError
            If no row has that id, the item failed before there was a result, or `items`
            is another corpus or given for a metric that does more than count words.
        """
        row = stored_row(self.rows(), self.manifest, item, id)
        return result_of_row(row) if items is None else result_of_item(row, self.manifest["settings"], items)

    def to_dict(self) -> JsonDict:
        """Return the manifest as plain data; the rows stand in the file of results."""
        return dict(self.manifest)

    def to_frame(self) -> pd.DataFrame:
        """Return all rows as a table (in memory)."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()))

    def _summary(self) -> list[JsonDict]:
        """The run as one row of a table: metric, mean, items, counts."""
        row = {"metric": metric_name(self.manifest["settings"]), "mean": self.mean()}
        return [{**row, "items": self.manifest["items"], **self.counts}]

    def __repr__(self) -> str:
        used = f"\n{text_table(usage_rows(self.usage))}" if self.usage else ""
        again = recovered_note(self.manifest)
        table = text_table(self._summary())
        return f"RunReport({str(self.folder)!r})\n{table}{again}{used}"

    def _repr_html_(self) -> str:
        return html_table(self._summary(), caption=f"Run in {self.folder}")

    def to_html(self, path: str | Path, *, other: Earlier | None = None, worst: int = 10) -> Path:
        """Write the page, compared with `other` where one is given; return its path."""
        write_whole(path, run_page(self, other, worst))
        return Path(path)

    def to_markdown(self, *, other: Earlier | None = None, worst: int = 10) -> str:
        """Return the run as GitHub-flavoured Markdown, compared with `other` where one is given."""
        require_count(worst, "worst", minimum=0)
        found = gather(self.rows(), worst)
        rows = self._summary()
        parts = [markdown_report(f"Run {self.folder.name}", rows=rows)]
        if other is not None:
            parts.append(_compared(other, self).to_markdown())
        if found.reasons:
            parts.append(markdown_report("Items without a score", rows=_reason_rows(found), level=3))
        if found.worst:
            lowest = [{"item": row_name(row), "score": row["score"]} for row in found.worst]
            parts.append(markdown_report("Lowest scores", rows=lowest, level=3))
        drawn = (drawn_row(row, lambda result: result.to_markdown()) for row in found.worst[:_OPEN])
        return "\n".join([*parts, *filter(None, drawn)])


_OPEN = 2  # items that are all shown open


def page_parts(manifest: JsonDict, found: Gathered, arrays: Sequence[np.ndarray], names: Sequence[str]) -> JsonDict:
    """Return what the page of a run holds, of what `gather` found."""
    fields = [(name, value) for name, value in manifest.items() if name not in ("counts", "usage")]
    usage = manifest.get("usage", {})
    return {
        "names": names,
        "histogram": histogram_svg(arrays, names),
        "worst": [
            worst_html(row, opened=place == 0 or len(found.worst) <= _OPEN) for place, row in enumerate(found.worst)
        ],
        "reasons": _reason_rows(found),
        "signatures": [{"signature": text, "items": n} for text, n in found.signatures.most_common(5) if text],
        "details": [{"field": name, "value": json.dumps(value)} for name, value in fields],
        "usage": usage_rows(usage) if usage else [],
    }


def _reason_rows(found: Gathered) -> list[JsonDict]:
    counted = found.reasons.most_common(50)
    return [{"status": status, "reason": reason, "items": n} for (status, reason), n in counted]


def _compared(other: Earlier, report: RunReport) -> RunComparison:
    return other if isinstance(other, RunComparison) else compare_runs(other, report)


def run_page(report: RunReport, other: Earlier | None = None, worst: int = 10) -> str:
    """Return the page of a run as one HTML document that loads nothing."""
    require_count(worst, "worst", minimum=0)
    found = gather(report.rows(), worst)
    compared = None if other is None else _compared(other, report)
    arrays, names = [found.scores], [report.folder.name or "this run"]
    if compared and compared.earlier:
        arrays.append(gather(compared.earlier.rows(), 0).scores)
        names = [compared.names[1], compared.names[0]]
    parts = page_parts(report.manifest, found, arrays, names) | {"summary": report._summary(), "compared": []}
    if compared:
        said = [*compared.notes, compared.sentence()]
        parts |= {"said": said, "compared": compared.rows(), "earlier": compared.names[0]}
    return html_page(f"Run {names[0]}", render("run.html", **parts))
