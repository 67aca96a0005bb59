"""Sample texts of our own, the SummEval ratings as tables, and a toy copy of their form for lessons."""

from __future__ import annotations

import hashlib
import json
import math
import numbers
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .base import JsonDict, pd, require_count, require_flag, require_module, require_text, require_texts
from .files import frame_rows, is_unrated, open_items, read_asset, require_path
from .html import html_table, render
from .results import Verdict

__all__ = ["load_summeval", "load_toy_summeval", "QUALITIES", "sample_articles", "SampleArticle", "SampleSummary"]
__all__ += ["SCALE", "SummEval"]


@dataclass(frozen=True)
class SampleSummary:
    """A summary as its sentences; of each, whether the article supports it, and a note that says why not."""

    sentences: tuple[str, ...]
    supported: tuple[bool, ...]
    notes: tuple[str, ...]

    @property
    def text(self) -> str:
        """The sentences joined by single spaces."""
        return " ".join(self.sentences)

    @property
    def share_supported(self) -> float:
        """Supported sentences / all sentences, in [0, 1]: what a perfect faithfulness metric would return."""
        return sum(self.supported) / len(self.supported)

    def noted(self, verdicts: Iterable[Verdict]) -> list[Verdict]:
        """Return verdicts on the sentences with a note where the checker is wrong or unclear: what the author knows."""
        found = []
        for verdict, true, why in zip(verdicts, self.supported, self.notes, strict=True):
            details = dict(verdict.details)
            if verdict.state not in (None, "supported" if true else "contradicted"):
                opening = "Unclear to the checker" if verdict.state == "unclear" else "The checker is wrong"
                details["note"] = f"{opening}; its author knows: {'true' if true else f'false: {why}'}"
            found.append(replace(verdict, details=details))
        return found


@dataclass(frozen=True)
class SampleArticle:
    """A short invented article and three summaries of it: `faithful`, `subtle` and `wrong`."""

    name: str
    title: str
    text: str
    faithful: SampleSummary
    subtle: SampleSummary
    wrong: SampleSummary

    @property
    def summaries(self) -> dict[str, SampleSummary]:
        """The three summaries by kind."""
        return {"faithful": self.faithful, "subtle": self.subtle, "wrong": self.wrong}


def sample_articles() -> list[SampleArticle]:
    """Return the four sample articles: `bridge`, `clinic` (with abbreviations), `glacier` and `chess`.

    Examples
    --------
    >>> article = sample_articles()[0]
    >>> article.title
    'Harbour bridge reopens after two years'
    >>> article.subtle.supported
    (False, True, True)
    """
    articles, keys = [], ("text", "supported", "note")
    for item in json.loads(read_asset("samples.json"))["articles"]:
        columns = {kind: [tuple(one[key] for one in own) for key in keys] for kind, own in item["summaries"].items()}
        kinds = {kind: SampleSummary(*own) for kind, own in columns.items()}
        articles.append(SampleArticle(item["name"], item["title"], item["text"], **kinds))
    return articles


QUALITIES = ("coherence", "consistency", "fluency", "relevance")
SCALE = (1.0, 5.0)


@dataclass(frozen=True, repr=False, eq=False)
class SummEval:
    """Articles, references, and summaries by several systems with human ratings.

    Parameters
    ----------
    name : str
        What the data are called in signatures.
    ids, sources : list of str, length n articles
        Names and texts of the articles.
    references : list of list of str
        The human summaries of each article.
    systems : list of str, length s
        Names of the systems, in the order of the columns.
    summaries : list of list of str, (articles, systems)
        `summaries[i][j]` is the summary of article i by system j.
    ratings : dict of str to numpy.ndarray, each (articles, systems), float64
        Human ratings from 1 to 5 for each quality; NaN where a summary was not rated.
    """

    name: str
    ids: list[str]
    sources: list[str]
    references: list[list[str]]
    systems: list[str]
    summaries: list[list[str]]
    ratings: dict[str, np.ndarray]

    @property
    def shape(self) -> tuple[int, int]:
        """(articles, systems), the shape of every table of ratings."""
        return len(self.ids), len(self.systems)

    @property
    def qualities(self) -> tuple[str, ...]:
        """The names of the rated qualities."""
        return tuple(self.ratings)

    @classmethod
    def from_records(
        cls, records: pd.DataFrame | Iterable[Mapping[str, object]], *, name: str = "my data", raters: int | None = None
    ) -> SummEval:
        """Build from a DataFrame, a list of dictionaries or a `datasets.Dataset` in the form of the file's lines.

        `raters` declares that each rating is the mean of that many people's whole grades: see `load_summeval`.
        """
        return _build(((f"record {number}", row) for number, row in enumerate(frame_rows(records))), name, raters)

    @cached_property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that change when any text or rating changes."""
        return hashlib.sha256(json.dumps(self.to_dict()["records"], sort_keys=True).encode()).hexdigest()[:12]

    def take(self, articles: Iterable[int]) -> SummEval:
        """Return the data of some articles only, by index."""
        chosen = [int(index) for index in articles]
        kept = ("ids", "sources", "references", "summaries")
        lists: dict[str, Any] = {name: [getattr(self, name)[i] for i in chosen] for name in kept}
        return replace(self, **lists, ratings={quality: values[chosen] for quality, values in self.ratings.items()})

    def to_dict(self) -> JsonDict:
        """Return name and records, in the form of the file's lines, as plain Python data."""
        records = []
        for i, (name, source, references) in enumerate(zip(self.ids, self.sources, self.references, strict=True)):
            systems = [
                {"system": system, "summary": self.summaries[i][j]}
                | {q: None if math.isnan(v[i, j]) else float(v[i, j]) for q, v in self.ratings.items()}
                for j, system in enumerate(self.systems)
            ]
            records.append({"id": name, "source": source, "references": references, "systems": systems})
        return {"name": self.name, "records": records}

    def to_frame(self) -> pd.DataFrame:
        """Return one row a summary: article, system, the summary's text and its ratings."""
        index = pd.MultiIndex.from_product([self.ids, self.systems], names=["article", "system"])
        columns = {"summary": [text for row in self.summaries for text in row]}
        return pd.DataFrame(columns | {q: v.ravel() for q, v in self.ratings.items()}, index=index).reset_index()

    def __repr__(self) -> str:
        (articles, systems), counts = self.shape, sorted({len(some) for some in self.references})
        number = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        size = f"{articles} articles x {systems} systems, {number} references each"
        return f"SummEval({self.name}: {size}; rated: {', '.join(self.qualities)})"

    def _repr_html_(self) -> str:
        mean = lambda values: None if np.isnan(values).all() else float(np.nanmean(values))
        rows = [{"system": s} | {q: mean(v[:, j]) for q, v in self.ratings.items()} for j, s in enumerate(self.systems)]
        table = html_table(rows, caption="Mean rating by system")
        return render("parts.html", code=repr(self), parts=[table])


@contextmanager
def _at(where: str) -> Iterator[None]:
    """Put the place in front of what is wrong there."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error


def _field(record: object, name: str) -> Any:
    """A field of a JSON object."""
    if not isinstance(record, Mapping):
        raise ValueError(f"it must be a JSON object with named fields, not {type(record).__name__}")
    if name not in record:
        raise ValueError(f"the field {name!r} is missing (found: {', '.join(map(repr, record))})")
    return record[name]


def _rating(record: object, quality: str) -> float:
    """A rating on the scale; a gap means not rated and becomes NaN, which the statistics leave out and count."""
    value = _field(record, quality)
    if is_unrated(value):
        return math.nan
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{quality!r} must be a number from 1 to 5 or null, not {value!r}")
    if not SCALE[0] <= float(value) <= SCALE[1]:
        raise ValueError(f"{quality!r} must lie on the scale from 1 to 5, not {value!r}")
    return float(value)


def _as_means(ratings: np.ndarray, raters: int | None) -> np.ndarray:
    """Ratings that are means of so many whole grades, as the nearest double of that fraction; others as they are."""
    if raters is None:
        return ratings
    if require_count(raters, "raters") > 1000:
        raise ValueError(f"raters must be at most 1000, not {raters}: beyond, nearly every number is such a mean")
    means = np.round(ratings * raters) / raters
    return np.where(np.abs(ratings - means) <= 1e-6, means, ratings)  # so many digits does a file hold


def _by_system(record: object) -> dict[str, object]:
    """The entries of `systems` by name."""
    entries = _field(record, "systems")
    if isinstance(entries, (str, Mapping)) or not isinstance(entries, Iterable):
        raise ValueError(f"'systems' must be a list of objects, not {type(entries).__name__}")
    columns: dict[str, object] = {}
    for number, entry in enumerate(entries):
        with _at(f"systems[{number}]"):
            system = str(_field(entry, "system"))
        if system in columns:
            raise ValueError(f"the system {system!r} stands there twice")
        columns[system] = entry
    if not columns:
        raise ValueError("'systems' is empty; an article needs at least one summary")
    return columns


def _build(rows: Iterable[tuple[str, object]], name: str, raters: int | None = None) -> SummEval:
    """Check records one by one, put the systems of each into the order of the first, and stack the ratings."""
    sources: dict[str, str] = {}  # by the names of the articles
    references, summaries, systems = [], [], list[str]()
    ratings: dict[str, list[list[float]]] = {quality: [] for quality in QUALITIES}
    for where, given in rows:
        with _at(where):
            record = _from_hub(given)
            identity, columns = str(_field(record, "id")), _by_system(record)
            if identity in sources:
                raise ValueError(f"the id {identity!r} stands there a second time; each article may occur once")
            systems = systems or list(columns)
            if set(columns) != set(systems):
                odd = ", ".join(map(repr, sorted(set(columns) ^ set(systems))))
                raise ValueError(f"every article needs the same systems as the first; not in both: {odd}")
            sources[identity] = require_text(_field(record, "source"), "source")
            references.append(require_texts(_field(record, "references"), "references"))
            if not references[-1]:
                raise ValueError("'references' is empty; an article needs at least one reference summary")
            summaries.append(list[str]())
            for values in ratings.values():
                values.append([])
            for system in systems:
                with _at(f"system {system!r}"):
                    summaries[-1].append(require_text(_field(columns[system], "summary"), "summary"))
                    for quality, values in ratings.items():
                        values[-1].append(_rating(columns[system], quality))
    if not sources:
        raise ValueError(f"{name}: there is not a single record in it")
    arrays = {quality: _as_means(np.array(values, dtype=np.float64), raters) for quality, values in ratings.items()}
    for stacked in arrays.values():
        stacked.setflags(write=False)
    return SummEval(name, list(sources), list(sources.values()), references, systems, summaries, arrays)


def _lines(path: Path) -> Iterator[tuple[str, object]]:
    """Each line of a file that is not blank: its place, and the JSON that it holds."""
    for item in open_items(path, format="jsonl"):
        with _at(f"{path.name}, line {item.place} is not JSON"):
            found = json.loads(item.data)
        yield f"{path.name}, line {item.place}", found


_HUB = ("mteb/summeval", "cda12ad7615edc362dbf25a00fdd61d3b1eaf93c")


def _from_hub(row: object) -> object:
    """A row with the columns of the hub's `mteb/summeval` in the form of the file's lines, any other as it is."""
    if not isinstance(row, Mapping) or "machine_summaries" not in row:
        return row
    lists: dict[str, Any] = {name: _field(row, name) for name in ("machine_summaries", *QUALITIES)}
    sizes = {name: len(own) for name, own in lists.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"each summary needs a rating of each quality, not {sizes}")
    systems = [
        {"system": f"system{j:02d}", "summary": text} | dict(zip(QUALITIES, own, strict=True))
        for j, (text, *own) in enumerate(zip(*lists.values(), strict=True), 1)
    ]
    source, references = (_field(row, name) for name in ("text", "human_summaries"))
    return {"id": _field(row, "id"), "source": source, "references": references, "systems": systems}


def load_summeval(
    path: str | os.PathLike[str] | None = None, *, download: bool = False, raters: int | None = 3
) -> SummEval:
    """Read SummEval ratings (Fabbri et al. 2021, TACL 9, 391-409) from a file, or from the hub when asked to.

    Parameters
    ----------
    path : str or Path, optional
        A file of JSON lines, `.gz` or plain, with one article a line (the form is shown in the data chapter), or with
        the columns of MTEB's `mteb/summeval`.
    download : bool
        Without a path: fetch `mteb/summeval` (a pinned revision) with the package datasets.
    raters : int or None
        How many people's whole grades each rating is the mean of: three, as in SummEval. A rating within 1e-6 of such a
        mean *is* that mean, so that 1.666667 and 1.66666667 are both 5/3 and equal means stay equal: M1 and M22 tie in
        fluency. None takes ratings as they are written.

    Returns
    -------
    SummEval
        Texts as lists, ratings as (articles, systems) arrays.

    Raises
    ------
    ValueError, FileNotFoundError
        If neither a path nor `download=True` is given, or a line is not what it should be: the message names the line
        and the field. If there is no such file.

    Examples
    --------
    >>> load_summeval()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: say where the ratings are: load_summeval(path), ...
    """
    if path is not None:
        file = require_path(path)
        return _build(_lines(file), file.name.split(".")[0], raters)
    if not require_flag(download, "download"):
        ways = "load_summeval(download=True) for the hub's mteb/summeval, or load_toy_summeval() for a toy"
        raise ValueError(f"say where the ratings are: load_summeval(path), {ways}")
    repository, revision = _HUB
    rows = require_module("datasets", "hub").load_dataset(repository, revision=revision, split="test")
    return _build(((f"{repository}, row {n}", row) for n, row in enumerate(rows)), "summeval", raters)


def load_toy_summeval() -> SummEval:
    """Return the toy ratings that ship with the package: 8 articles, 4 summaries each, 3 references each.

    The texts are invented and the ratings follow from counted properties by a rubric; both were made by one person to
    explain statistics with. A result on them says nothing about any metric.

    Examples
    --------
    >>> load_toy_summeval().shape
    (8, 4)
    """
    rows = []
    for number, item in enumerate(json.loads(read_asset("toy_summeval.json"))["articles"]):
        systems = []
        for entry in item["systems"]:
            rubric = {
                "coherence": max(1.0, 5.0 - 2 * entry["breaks"]),  # each break of order or repetition costs two
                "consistency": max(1.0, 5.0 - 2 * entry["wrong"]),  # each wrong fact costs two
                "fluency": max(1.0, 5.0 - entry["slips"]),  # each slip costs one
                "relevance": 1.0 + 4 * len(entry["covered"]) / len(item["key_points"]),  # 5: all main points
            }
            systems.append({"system": entry["system"], "summary": entry["summary"]} | rubric)
        rows.append((f"toy article {number}", item | {"systems": systems}))
    return _build(rows, "toy")
