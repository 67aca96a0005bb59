# A plain private module: edited here, exported by no notebook, tested in tests/test_run_report.py.
"""The page of a run: its distribution as a drawing, its worst items with their evidence, what it cost, its foot."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from summeval_nb.ground.base import JsonDict
from summeval_nb.ground.html import Markup, render
from summeval_nb.runs._run_rows import result_of_row

if TYPE_CHECKING:
    from summeval_nb.runs._run_pairs import Aligned
    from summeval_nb.runs.run_report import Gathered, RunComparison

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
    top = max(1, *(int(one.max()) for one in counts))
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
    name = row["id"] if row["id"] is not None else f"item {row['item']}"
    parts = [{"part": k, "value": json.dumps(v, ensure_ascii=False)[:500]} for k, v in row["parts"].items()]
    return render("item.html", name=name, score=row["score"], opened=opened, drawn=_report_html(row), parts=parts)


def _report_html(row: JsonDict) -> str | None:
    """The report of a row's result; None where the parts are not those of faithfulness, whatever they are called."""
    try:
        return result_of_row(row)._repr_html_()
    except (AttributeError, LookupError, TypeError, ValueError):
        return None


def usage_rows(usage: Mapping[str, Mapping[str, float]]) -> list[JsonDict]:
    """Return one row for each stage of a ledger, and their total, for people."""
    total = {name: sum(row.get(name, 0) for row in usage.values()) for name in _USAGE}
    return [
        {"stage": stage, **{title: round(row.get(name, 0), 1) for name, title in _USAGE.items()}}
        for stage, row in {**usage, "total": total}.items()
    ]


def page_parts(manifest: JsonDict, found: Gathered, arrays: Sequence[np.ndarray], names: Sequence[str]) -> JsonDict:
    """What the page of a run holds beside its comparison; `found` is what `gather` returns."""
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
    """What a page says of two runs; A is the other (earlier) run, B is this one, whose name stands first."""
    for note in aligned.notes:
        warnings.warn(f"{names[1]} and {names[0]}: {note}", stacklevel=3)
    extra = f" {aligned.alone} items are in one run only." if aligned.alone else ""
    row: dict[str, float | None] = {"common items": compared.n, "left out": compared.left_out}
    row |= {f"mean of {names[1]}": compared.mean_a, f"mean of {names[0]}": compared.mean_b}
    row |= {"difference": compared.difference, "low": compared.low, "high": compared.high, "p": compared.p_value}
    return {"said": [*aligned.notes, compared.sentence(names[1], names[0]) + extra], "compared": [row]}
