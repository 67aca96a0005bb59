# A plain private module: edited here, exported by no notebook, tested in tests/test_run_report.py.
"""What a finished run's folder holds, looked at before it is believed: a folder lies open to everybody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from summeval_nb.ground._types import JsonDict
from summeval_nb.ground.results import is_finite, require_module
from summeval_nb.runs._run_folder import MANIFEST, file_check, manifest_check

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
        raise ValueError(f"{str(folder)!r} holds no run: there is no manifest.json") from None
    except RecursionError:
        raise ValueError(f"{str(path)!r} is not the manifest of a run: it is nested too deeply") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        known = complete = False
    if not known:
        raise ValueError(f"{str(path)!r} is not the manifest of a run")
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


def metric_name(settings: JsonDict) -> str:
    """Return what people call the metric of a run."""
    metric = settings["metric"]
    return metric if isinstance(metric, str) else str(metric.get("function") or metric.get("fingerprint"))
