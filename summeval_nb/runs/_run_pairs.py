# A plain private module: edited here, exported by no notebook, tested in tests/test_run_report.py.
"""Which rows of two runs are about the same item, and what must be said where that is not sure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from summeval_nb.ground.base import JsonDict, float_array
from summeval_nb.runs._identity import differences
from summeval_nb.runs._run_rows import metric_name

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


def _settings_notes(one: JsonDict, other: JsonDict) -> list[str]:
    """Return what to say of two manifests with different options or versions; different metrics are a `ValueError`."""
    names = [metric_name(run["settings"]) for run in (one, other)]
    if names[0] != names[1]:
        raise ValueError(f"the runs have different metrics, {names[0]} and {names[1]}, whose scores are no pairs")
    before, now = ({name: run["settings"].get(name) for name in _DECIDE} for run in (one, other))
    changed = [
        change.replace(" before", " in the one").replace(" now)", " in the other)")
        for change in differences(before, now)
    ]
    return [f"The runs have other settings: {', '.join(changed)}."] if changed else []


def pair_rows(manifests: Sequence[JsonDict], rows: Sequence[Iterable[JsonDict]]) -> Aligned:
    """Return the scores of two runs' common items; runs that cannot be compared raise a `ValueError`."""
    notes = _settings_notes(*manifests)
    a, b = (_pair_keys(one) for one in rows)
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
    if any(None in (one.about, two.about) and not math.isnan(one.score + two.score) for one, two in pairs):
        said.append(_BY_ID_ALONE)
    one, two = zip(*pairs, strict=True)
    return Aligned(_scores(one), _scores(two), len(a) + len(b) - 2 * len(common), tuple(said))


def _scores(rows: Sequence[_Key]) -> np.ndarray:
    return np.array([row.score for row in rows])


def _has_ids(rows: Sequence[_Key]) -> bool:
    """Whether every row has an id of its own."""
    return all(row.id is not None for row in rows) and len({row.id for row in rows}) == len(rows)


def _same_item(one: _Key, other: _Key) -> bool:
    """Whether two rows are about the same, as far as they say it."""
    return None in (one.about, other.about) or one.about == other.about


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
