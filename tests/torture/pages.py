"""Reports of hostile texts: in a page, in a notebook and in a terminal they are text, and nothing else."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np

import summeval_nb
from summeval_nb.core import html, results
from summeval_nb.evidence.faithfulness import Faithfulness
from summeval_nb.overlap import bleu_score
from summeval_nb.runs import report
from summeval_nb.runs.file import Entry, Item, Row, RunFile

from . import corpus, judges


def _faithfulness(rng: random.Random, source: list[str]) -> Faithfulness:
    """A report put together by hand, with hostile text in every place that can hold some."""
    text = lambda: corpus.text(rng)[:400]
    summary = [text() or "b" for _ in range(2)]
    verdicts = []
    for _ in summary:
        failed = rng.random() < 0.2
        verdicts.append(
            results.Verdict(
                probability=None if failed else rng.random(),
                evidence=[results.Evidence(rng.randrange(3), rng.random())],
                findings=[results.Finding(text(), text(), 0, 1)],
                reason=text() or "none",
                failed=failed,
            )
        )
    return Faithfulness(
        score=rng.random(),
        signature=results.Signature({"metric": "m", "checker": text(), "x": text()}),
        source="".join(source),
        summary="".join(summary),
        source_sentences=_placed(source),
        sentences=_placed(summary),
        similarity=np.full((len(source), 2), 0.5),
        verdicts=verdicts,
    )


def _placed(texts: list[str]) -> list[results.Sentence]:
    found, start = [], 0
    for text in texts:
        found.append(results.Sentence(text, start, start + len(text)))
        start += len(text)
    return found


def _run(rng: random.Random, folder: Path) -> report.RunReport:
    """A run's folder, as somebody else could have sent it."""
    text = lambda: corpus.text(rng)[:300]
    finding = lambda: {"kind": text(), "start": 0, "end": 1}
    sentence = lambda: {
        "text": text() or "a",
        "supported": rng.choice([True, False, None]),
        "probability": rng.choice([None, 0.5]),
        "reason": text(),
        "findings": [finding()],
        "evidence": [{"index": 0, "similarity": 0.5, "text": text()}],
    }
    rows = [
        {
            "item": n,
            "id": rng.choice([text(), None, 3, [text()]]),
            "score": rng.choice([None, rng.random()]),
            "status": rng.choice(["ok", "undefined", "failed"]),
            "reason": text(),
            "parts": rng.choice([{text(): text()}, {"sentences": [sentence()]}]),
            "signature": text(),
            "content": text(),
        }
        for n in range(4)
    ]
    path = folder / corpus.file_name(rng).replace("\x00", "_").encode("utf-8", "replace").decode()[:60]
    path.mkdir()
    with RunFile(path, "rw") as file:
        bodies = [json.dumps({name: value for name, value in row.items() if name != "item"}) for row in rows]
        kept = [Row(row["status"], row["score"], body.encode()) for row, body in zip(rows, bodies, strict=True)]
        file.write([Entry(n, bytes([n]) * 16, Item(n + 1, b"")) for n in range(4)], kept, {})
        settings = {"metric": {"name": text()}, text(): text()}
        file.note(settings=settings, complete=False, results="results.jsonl", input=text())
    return report.RunReport.load(path)


def pages(rng: random.Random, folder: Path) -> None:
    """One report of some kind, as page, as notebook output and as text."""
    what = rng.choice(
        ["report", "made", "comparison", "run", "run", "bleu", "rouge", "answer", "score", "table", "mark"]
    )
    text = lambda: corpus.text(rng)[:600]
    if what == "run":
        try:
            page = _run(rng, folder).to_html(folder / "page.html", worst=5).read_text(encoding="utf-8")
        except ValueError:
            return  # a run that another check refuses
        judges.page(page, "page of a run")
        return
    if what == "table":
        rows = [{text(): text(), "n": n} for n in range(2)]
        judges.page(html.html_table(rows, caption=text()), "table of rows")
        judges.page(html.html_page(text(), html.html_table(rows)), "page of rows")
        judges.terminal(html.text_table(rows), "text_table")
        return
    if what == "mark":
        line = text()
        marks = [html.Mark(0, len(line), title=text())] if rng.random() < 0.5 else []
        judges.page(html.mark_html(line, marks), "mark of a line")
        judges.terminal(html.mark_terminal(line, marks, color=rng.random() < 0.5), "mark_terminal")
        return
    source = [text() or "a" for _ in range(3)]
    value: Any = {
        "report": lambda: summeval_nb.evaluate(text(), text()),
        "made": lambda: _faithfulness(rng, source),
        "comparison": lambda: summeval_nb.evidence.compare_reports(
            [_faithfulness(rng, source), _faithfulness(rng, source)], [text(), f"2 {text()}"]
        ),
        "bleu": lambda: bleu_score(text(), [text(), text()]),
        "rouge": lambda: summeval_nb.rouge_score(text(), [text()]),
        "answer": lambda: summeval_nb.evaluate_answer(text(), text(), text(), text()),
        "score": lambda: summeval_nb.summarization_score(text(), text()),
    }[what]()
    judges.result(value, what)
    if callable(getattr(value, "to_html", None)):
        judges.page(value.to_html(folder / "page.html").read_text(encoding="utf-8"), f"{what}.to_html of texts")
