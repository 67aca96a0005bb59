# A plain private module: edited here, exported by no notebook, tested in tests/test_run_report.py.
"""What a finished run's folder holds, looked at before it is believed: a folder lies open to everybody."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING

from summeval_nb.evidence.faithfulness import faithfulness_from_dict
from summeval_nb.ground.base import JsonDict, is_finite, require_module
from summeval_nb.runs._run_folder import MANIFEST, RECOVER, file_check, is_lost, manifest_check

if TYPE_CHECKING:
    from summeval_nb.evidence.faithfulness import Faithfulness

_AGAIN = "call run again with the same arguments to"
_ROW = {"item", "id", "score", "status", "reason", "parts", "signature"}


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
    return finite and results and all(isinstance(one, int) and one >= 0 for one in numbers)


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
        whole = row.keys() >= _ROW and isinstance(row["parts"], dict) and isinstance(row["item"], int)
        whole = whole and (row["score"] is None or is_finite(row["score"]))
    except (ValueError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise ValueError(f"line {number} of {str(path)!r} is no row of a run; {_AGAIN} write it anew")
    return row


def result_of_row(row: JsonDict) -> Faithfulness:
    """Return the result of which a run wrote a row, without its similarities; a row of no result is a `ValueError`."""
    known = {name: row.get(name) for name in ("score", "reason", "signature")}
    if row.get("status") == "failed":  # a run says where a failure is, which its result did not know
        known["reason"] = re.sub(r"^at \d+: ", "", row["reason"])
    return faithfulness_from_dict({**row["parts"], **known})


def stored_result(rows: Iterable[JsonDict], manifest: JsonDict, item: int | None, name: object) -> Faithfulness:
    """Return the result of row number `item` of a run, or of the row whose id is `name`."""
    if (item is None) == (name is None):
        raise TypeError("say which row: by its number, result(3), or by its id, result(id='a')")
    row = _row_of_id(rows, name) if item is None else _row_at(rows, item, manifest["items"])
    if row["status"] == "failed" and not row["parts"]:
        raise ValueError(f"item {row['item']} has no result, because it failed: {row['reason']}")
    if "verdicts" not in row["parts"]:
        what = f"a result of {metric_name(manifest['settings'])} cannot be made again from its row"
        raise ValueError(f"{what}, only one of faithfulness: read the row's own numbers, row['parts'] of report.rows()")
    return result_of_row(row)


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
    return metric if isinstance(metric, str) else str(metric.get("function") or metric.get("fingerprint"))
