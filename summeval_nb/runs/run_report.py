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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from summeval_nb.core.base import JsonDict, require_count, require_share
from summeval_nb.core.files import write_whole
from summeval_nb.core.html import html_page, html_table, render, text_table
from summeval_nb.core.resampling import bootstrap, sign_flip_p_value
from summeval_nb.runs.finished import (
    Aligned,
    complete_manifest,
    histogram_svg,
    metric_name,
    pair_rows,
    recovered_note,
    require_pairs,
    result_of_item,
    result_of_row,
    rows_of_file,
    stored_row,
    usage_rows,
    worst_html,
)

if TYPE_CHECKING:
    import pandas as pd

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
    "compared_parts",
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


class RunComparison(NamedTuple):
    """Two runs on their common items: means, difference B - A, interval, p-value."""

    n: int
    left_out: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None
    method: str

    def sentence(self, a: str = "A", b: str = "B", alpha: float = 0.05) -> str:
        """Return what may be said."""
        if self.p_value is None:
            return f"Nothing may be said: {self.method}."
        word = "higher" if (self.difference or 0) > 0 else "lower"
        claim = f"no difference between {a} and {b} is shown"
        if self.p_value < alpha:
            claim = f"{b} scores {word} than {a}"
        interval = f"{self.difference:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"
        found = f"{claim}: {interval}, p = {self.p_value:.3g} ({self.method})."
        return f"On {self.n} common items {found}"


_EXACT_LIMIT = 2000


def _paired(d: np.ndarray, confidence: float, seed: int) -> tuple[float, float, float, str]:
    """The interval of a mean difference, its p-value, and how they were found."""
    from scipy import stats

    if not d.any():
        return 0.0, 0.0, 1.0, "all scores are equal"
    mean, spread = float(d.mean()), d.std(ddof=1) / math.sqrt(len(d))
    if len(d) > _EXACT_LIMIT and spread:
        half = float(stats.norm.ppf((1 + confidence) / 2) * spread)
        p = float(2 * stats.norm.sf(abs(mean) / spread))
        return mean - half, mean + half, p, "normal approximation"
    p = sign_flip_p_value(d, n_resamples=9999, seed=seed)
    if not spread:
        return float(d[0]), float(d[0]), p, "sign-flip permutation"
    means = lambda drawn: d[drawn].mean(axis=-1)
    _, low, high = bootstrap(means, len(d), confidence=confidence, n_resamples=9999, seed=seed)
    return low, high, p, "bootstrap, sign-flip permutation"


def compare_runs(a: np.ndarray, b: np.ndarray, *, confidence: float = 0.95, seed: int = 0) -> RunComparison:
    """Compare two runs' scores of the same items (NaN: none).

    By a bootstrap interval and a sign-flip permutation test.

    References
    ----------
    Berg-Kirkpatrick, Burkett and Klein 2012, An Empirical Investigation of Statistical
    Significance in NLP, EMNLP.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.random(100)
    >>> compare_runs(a, a + rng.normal(0.2, 0.1, 100)).p_value < 0.01
    True
    """
    require_share(confidence, "confidence")
    a, b, both = require_pairs(a, b)
    d = (b - a)[both]
    counts = len(d), int((~both).sum())
    if len(d) < 2:
        few = "fewer than two items were scored by both runs"
        return RunComparison(*counts, None, None, None, None, None, None, few)
    means = float(a[both].mean()), float(b[both].mean()), float(d.mean())
    low, high, p, method = _paired(d, confidence, seed)
    return RunComparison(*counts, *means, low, high, p, method)


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

    def to_html(self, path: str | Path, *, other: RunReport | str | Path | None = None, worst: int = 10) -> Path:
        """Write the page, compared with `other` where one is given; return its path."""
        write_whole(path, run_page(self, other, worst))
        return Path(path)


_OPEN = 2  # items that are all shown open


def page_parts(manifest: JsonDict, found: Gathered, arrays: Sequence[np.ndarray], names: Sequence[str]) -> JsonDict:
    """Return what the page of a run holds, of what `gather` found."""
    fields = [(name, value) for name, value in manifest.items() if name not in ("counts", "usage")]
    usage, reasons = manifest.get("usage", {}), found.reasons.most_common(50)
    return {
        "names": names,
        "histogram": histogram_svg(arrays, names),
        "worst": [
            worst_html(row, opened=place == 0 or len(found.worst) <= _OPEN) for place, row in enumerate(found.worst)
        ],
        "reasons": [{"status": status, "reason": reason, "items": n} for (status, reason), n in reasons],
        "signatures": [{"signature": text, "items": n} for text, n in found.signatures.most_common(5) if text],
        "details": [{"field": name, "value": json.dumps(value)} for name, value in fields],
        "usage": usage_rows(usage) if usage else [],
    }


def compared_parts(aligned: Aligned, compared: RunComparison, names: Sequence[str]) -> JsonDict:
    """Return what a page says of two runs: A is the other (earlier) run, B this one."""
    for note in aligned.notes:
        warnings.warn(f"{names[1]} and {names[0]}: {note}", stacklevel=3)
    extra = f" {aligned.alone} items are in one run only." if aligned.alone else ""
    row: dict[str, float | None] = {"common items": compared.n, "left out": compared.left_out}
    row |= {f"mean of {names[1]}": compared.mean_a, f"mean of {names[0]}": compared.mean_b}
    row |= {"difference": compared.difference, "low": compared.low, "high": compared.high, "p": compared.p_value}
    return {"said": [*aligned.notes, compared.sentence(names[1], names[0]) + extra], "compared": [row]}


def run_page(report: RunReport, other: RunReport | str | Path | None = None, worst: int = 10) -> str:
    """Return the page of a run as one HTML document that loads nothing."""
    require_count(worst, "worst", minimum=0)
    found = gather(report.rows(), worst)
    second = RunReport.load(other) if isinstance(other, (str, Path)) else other
    arrays, names = [found.scores], [report.folder.name or "this run"]
    if second:
        arrays.append(gather(second.rows(), 0).scores)
        same_name = second.folder.name == names[0]
        names.append(str(second.folder) if same_name else second.folder.name)
    parts = page_parts(report.manifest, found, arrays, names)
    parts |= {"summary": report._summary(), "compared": []}
    if second:
        aligned = align(second.folder, report.folder)
        compared = compare_runs(aligned.a, aligned.b)
        parts |= compared_parts(aligned, compared, names)
    return html_page(f"Run {names[0]}", render("run.html", **parts))
