"""A finished run, looked at before it is believed: its rows, the pairs of two runs, the drawings of its page."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from summeval_nb.agreement.registry import is_ours
from summeval_nb.core.base import JsonDict, float_array, is_finite, require_module
from summeval_nb.core.html import Markup, render
from summeval_nb.core.items import open_items
from summeval_nb.core.metric import score_rows
from summeval_nb.core.results import Score, Signature
from summeval_nb.runs.folder import LINE_FIELDS, MANIFEST, RECOVER, file_check, is_lost, manifest_check
from summeval_nb.runs.jobs import Job, named_metric
from summeval_nb.runs.manifest import Corpus, differences

# ---------------------------------------------------------------- rows


_AGAIN = "call run again with the same arguments to"


def complete_manifest(folder: Path) -> JsonDict:
    """Return the manifest of a complete run; anything else raises a `ValueError` with a remedy."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        complete = manifest["complete"]
        known = isinstance(manifest["settings"]["metric"], (str, dict)) and (not complete or _is_whole(manifest))
    except FileNotFoundError:
        remedy = f"; but a run's shards: {RECOVER}" if is_lost(folder) else ""
        raise ValueError(f"{str(folder)!r} holds no run: there is no manifest.json{remedy}") from None
    except RecursionError:
        raise ValueError(f"{str(path)!r} is not the manifest of a run: it is nested too deeply") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        known = complete = False
    if not known:
        remedy = f", or it is damaged: {RECOVER}" if is_lost(folder) else ""
        raise ValueError(f"{str(path)!r} is not the manifest of a run{remedy}")
    if manifest.get("check", "") not in ("", manifest_check(manifest)):
        raise ValueError(f"{str(path)!r} was changed after the run wrote it; {_AGAIN} write it anew")
    if not complete:
        raise ValueError(f"the run in {str(folder)!r} is not complete; {_AGAIN} finish it")
    return manifest


def _is_whole(manifest: JsonDict) -> bool:
    """Whether a manifest holds what a report needs, in its types."""
    counts, mean = manifest["counts"], manifest["mean"]
    numbers = [counts["ok"], counts["undefined"], counts["failed"], manifest["items"]]
    finite = mean is None or (isinstance(mean, (int, float)) and is_finite(mean))
    results = manifest["results"] in ("results.jsonl", "results.parquet")
    return finite and results and all(isinstance(number, int) and number >= 0 for number in numbers)


def recovered_note(manifest: JsonDict) -> str:
    """A line that says of a run whose manifest was written anew what was kept; '' for any other."""
    found = manifest.get("recovered")
    if not isinstance(found, dict):
        return ""
    kept, again = (found.get(name, 0) for name in ("shards_kept", "shards_scored"))
    return f"\nthe manifest was written anew: {kept} shards kept, {again} scored again"


def rows_of_file(folder: Path, manifest: JsonDict) -> Iterator[JsonDict]:
    """Yield the rows of the file of results that a manifest names, one after the other."""
    path = folder / manifest["results"]
    if not path.is_file():
        raise ValueError(f"there is no {str(path)!r}; {_AGAIN} write it anew")
    if manifest.get("results_sha256", "") not in ("", file_check(path)):
        raise ValueError(f"{str(path)!r} was changed after the run wrote it; {_AGAIN} write it anew")
    if path.suffix == ".parquet":
        with require_module("pyarrow.parquet", "parquet").ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1000):
                yield from ({**row, "parts": json.loads(row["parts"])} for row in batch.to_pylist())
    else:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                yield _require_row(line, path, number)


def _require_row(line: bytes, path: Path, number: int) -> JsonDict:
    try:
        row = json.loads(line)
        whole = row.keys() >= set(LINE_FIELDS) and isinstance(row["parts"], dict) and isinstance(row["item"], int)
        whole = whole and (row["score"] is None or is_finite(row["score"]))
    except (ValueError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise ValueError(f"line {number} of {str(path)!r} is no row of a run; {_AGAIN} write it anew")
    return row


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class StoredScore(Score):
    """A score as a run wrote it down, with its parts; the texts and what draws them are not kept.

    Parameters
    ----------
    parts : mapping
        What the metric wrote beside the number, as `row["parts"]` of the run's rows.
    """

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
        from summeval_nb.evidence.report import faithfulness_from_dict

        return faithfulness_from_dict({**row["parts"], **known})
    said = known["signature"]
    signature = Signature.parse(said) if said else Signature({})
    return StoredScore(score=known["score"], reason=known["reason"] or "", signature=signature, parts=row["parts"])


def result_of_item(row: JsonDict, settings: JsonDict, items: Corpus) -> Score:
    """Return the result that a metric which only counts words gave an item: it is counted once more, and compared.

    Raises
    ------
    ValueError
        If the metric asks models or is somebody's own, the corpus is not the one that
        was scored, or what is counted is not what the run wrote.
    """
    name, options = settings["metric"], settings["options"]
    job = Job(name, options, settings["columns"]) if is_ours(name) else None  # a file names no code to import
    if job is None or not job.is_lexical or any(map(_is_described, options.values())):
        what = f"the metric {metric_name(settings)} does not only count words, and nothing is asked again"
        raise ValueError(f"{what}: leave out items, for the result as the run wrote it")
    item = next(islice(open_items(items), row["item"], None), None)
    cells, problem = ({}, "it is not there") if item is None else job.read(item)
    if item is None or problem or job.content(item, cells) != row["content"]:
        raise ValueError(f"items is not the corpus of this run: its item {row['item']} is another, or none")
    metric: Any = named_metric(name, options)
    columns = [cells[column] for column in job.kinds]
    (counted,) = score_rows(metric, [cells], progress=False)
    if (counted.score, counted.signature) != (row["score"], row["signature"]):
        what = f"item {row['item']} was scored as {row['score']} ({row['signature']})"
        raise ValueError(f"{what}, and now it would be {counted.score} ({counted.signature}): run it again")
    result: Score = metric.score(*columns)
    return result


def _is_described(choice: object) -> bool:
    """Whether settings hold of a choice what it is called, as of a function, and not the choice itself."""
    return isinstance(choice, Mapping) and "name" in choice


def stored_row(rows: Iterable[JsonDict], manifest: JsonDict, item: int | None, name: object) -> JsonDict:
    """Return row number `item` of a run, or the row whose id is `name`; one that failed has no result."""
    if (item is None) == (name is None):
        raise TypeError("say which row: by its number, result(3), or by its id, result(id='a')")
    row = _row_of_id(rows, name) if item is None else _row_at(rows, item, manifest["items"])
    if row["status"] == "failed" and not row["parts"]:
        raise ValueError(f"item {row['item']} has no result, because it failed: {row['reason']}")
    return row


def _row_at(rows: Iterable[JsonDict], item: int, total: int) -> JsonDict:
    if isinstance(item, bool) or not isinstance(item, Integral):
        raise TypeError(f"item must be a whole number, not {item!r:.40}: a row is found by its id with result(id=...)")
    place = int(item) + total if item < 0 else int(item)
    row = next(islice(rows, place, None), None) if 0 <= place < total else None
    if row is None:
        counted = f"its {total:,} rows are 0 to {total - 1}" if total else "it has no rows"
        raise IndexError(f"there is no row {item} in this run: {counted}")
    return row


def _row_of_id(rows: Iterable[JsonDict], name: object) -> JsonDict:
    """The first row of an id; a table of Parquet holds an id that is no text as JSON."""
    wanted = [name] if isinstance(name, str) else [name, json.dumps(name)]
    first: object = None
    for row in rows:
        if row["id"] in wanted:
            return row
        first = row["id"] if first is None else first
    known = "its rows have no ids" if first is None else f"its first row's is {first!r:.40}"
    raise ValueError(f"there is no row of the id {name!r:.40} in this run: {known}")


def metric_name(settings: JsonDict) -> str:
    """Return what people call the metric of a run."""
    metric = settings["metric"]
    return metric if isinstance(metric, str) else str(metric.get("name"))


# ---------------------------------------------------------------- pairs


_UNSURE = "The rows of the two runs differ; that their ids mean the same items is for you to know."
_DECIDE = ("summeval_nb", "metric", "options", "fingerprints")  # of a run's settings: what a score depends on
_BY_ID_ALONE = "A run does not say what its items are about: they are paired by id alone."


class _Key(NamedTuple):
    """What pairing needs of a row: its id as text, its score (NaN: none), the hash of what it is about."""

    id: str | None
    score: float
    about: str | None


class Aligned(NamedTuple):
    """Both runs' scores of their common items, how many items only one of them has, and what must be said with it."""

    a: np.ndarray
    b: np.ndarray
    alone: int = 0
    notes: tuple[str, ...] = ()


def _pair_keys(rows: Iterable[JsonDict]) -> list[_Key]:
    """Return what pairing needs of each row."""
    found = []
    for row in rows:
        key = row["id"] if row["id"] is None or isinstance(row["id"], str) else json.dumps(row["id"])
        content = row.get("content")
        about = content.partition(".")[0] if isinstance(content, str) else None
        found.append(_Key(key, math.nan if row["score"] is None else row["score"], about))
    return found


def _settings_notes(first: JsonDict, other: JsonDict) -> list[str]:
    """Return what to say of two manifests with different options or versions; different metrics are a `ValueError`."""
    names = [metric_name(run["settings"]) for run in (first, other)]
    if names[0] != names[1]:
        raise ValueError(f"the runs have different metrics, {names[0]} and {names[1]}, whose scores are no pairs")
    before, now = ({name: run["settings"].get(name) for name in _DECIDE} for run in (first, other))
    changed = [
        change.replace(" before", " in the one").replace(" now)", " in the other)")
        for change in differences(before, now)
    ]
    return [f"The runs have other settings: {', '.join(changed)}."] if changed else []


def pair_rows(manifests: Sequence[JsonDict], rows: Sequence[Iterable[JsonDict]]) -> Aligned:
    """Return the scores of two runs' common items; runs that cannot be compared raise a `ValueError`."""
    notes = _settings_notes(*manifests)
    a, b = (_pair_keys(own) for own in rows)
    if _has_ids(a) and _has_ids(b):
        return _by_id(a, b, isinstance(manifests[0]["settings"]["metric"], str), notes)
    return _by_place(a, b, len({manifest.get("input_sha256") for manifest in manifests}) == 1, notes)


def _by_place(a: Sequence[_Key], b: Sequence[_Key], same_input: bool, notes: Sequence[str]) -> Aligned:
    """Pair rows without usable ids: their contents must agree place by place, or the inputs be the same."""
    same = len(a) == len(b) and all(map(_same_item, a, b)) and all(row.about for row in a)
    if not (same or same_input):
        raise ValueError("the runs have no usable ids and different inputs, so their items cannot be paired")
    return Aligned(_scores(a), _scores(b), 0, tuple(notes))


def _by_id(a: Sequence[_Key], b: Sequence[_Key], named_metric: bool, notes: Sequence[str]) -> Aligned:
    """Pair rows with the same id and the same content; what an item of somebody's own metric is about, nobody knows."""
    said, second = list(notes), {row.id: row for row in b}
    common = [(row, second[row.id]) for row in a if row.id in second]
    pairs = [pair for pair in common if _same_item(*pair)]
    if len(pairs) < len(common) and not named_metric:
        pairs = common
        said.append(_UNSURE)
    if not pairs:
        what = "share ids, but each stands for another item" if common else "have no item in common"
        raise ValueError(f"the two runs {what}; compare runs over the same corpus")
    if len(pairs) < len(common):
        left = len(common) - len(pairs)
        said.append(f"{left} items have the same id in both runs and another content: left out.")
    if any(None in (row.about, other.about) and not math.isnan(row.score + other.score) for row, other in pairs):
        said.append(_BY_ID_ALONE)
    ours, theirs = zip(*pairs, strict=True)
    return Aligned(_scores(ours), _scores(theirs), len(a) + len(b) - 2 * len(common), tuple(said))


def _scores(rows: Sequence[_Key]) -> np.ndarray:
    return np.array([row.score for row in rows])


def _has_ids(rows: Sequence[_Key]) -> bool:
    """Whether every row has an id of its own."""
    return all(row.id is not None for row in rows) and len({row.id for row in rows}) == len(rows)


def _same_item(row: _Key, other: _Key) -> bool:
    """Whether two rows are about the same, as far as they say it."""
    return None in (row.about, other.about) or row.about == other.about


def require_pairs(a: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return two runs' scores as arrays, and where both have one; what cannot be compared raises a `ValueError`."""
    a, b = float_array(a, "a"), float_array(b, "b")
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"two runs of the same items are needed, not {a.shape} and {b.shape}")
    if np.isinf(a).any() or np.isinf(b).any():
        raise ValueError("scores must be finite numbers, or NaN for none, and one is infinite")
    both = ~(np.isnan(a) | np.isnan(b))
    if both.any() and max(np.abs(a[both]).max(), np.abs(b[both]).max()) > 1e100:
        raise ValueError("scores beyond 1e100 cannot be compared: their squares are beyond all numbers")
    return a, b, both


# ---------------------------------------------------------------- drawings


_COLORS = ("#2f6fa8", "#d98a3d")
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


def _edges(known: np.ndarray) -> np.ndarray:
    """Twenty bins over [0, 1] or [0, 100] where the scores lie there, else over their range."""
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    top = 1.0 if high <= 1 else 100.0
    if low >= 0 and high <= top:
        low, high = 0.0, top
    return np.linspace(low, high if high > low else low + 1, 21)


def histogram_svg(values: Sequence[np.ndarray], names: Sequence[str]) -> Markup:
    """Return the distribution of one or two runs' scores as an SVG drawing with text for screen readers."""
    known = [array[~np.isnan(array)] for array in values]
    edges = _edges(np.concatenate(known))
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
        for stage, row in {**usage, "total": total}.items()
    ]
