"""The command line in this process: files and options that are not what they are called. One line and a code."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import sys
from pathlib import Path

from summeval_nb.cli import main

from . import corpus, judges, runs
from .harness import Wrong

CODES = {0, 1, 2, 3, 4, None}


def _file(rng: random.Random, folder: Path, kind: str) -> str:
    """A file of a kind, perhaps damaged; or a name of nothing."""
    path = folder / f"{rng.randrange(10**6)}.{kind}"
    if rng.random() < 0.04:
        return str(path)
    rows = runs.rows(rng, rng.randint(1, 6))
    if kind == "jsonl":
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    elif kind == "csv":
        lines = [f'{row["id"]},"{row["candidate"]}","{row["candidate"]}"' for row in rows]
        data = "\n".join(["id,candidate,references", *lines]).encode("utf-8", "surrogatepass")
    else:
        data = corpus.text(rng).encode("utf-8", "surrogatepass") + b"\nIt rained.\n"
    if rng.random() < 0.15:
        data = gzip.compress(data)
        path = path.with_name(path.name + ".gz")
    path.write_bytes(data)
    if rng.random() < 0.4:
        runs.harm(rng, path)
    return str(path)


def _asked(rng: random.Random, folder: Path) -> str:
    """A table with a column for each command that judges, perhaps damaged."""
    path = folder / f"{rng.randrange(10**6)}.jsonl"
    names = ["question", "contexts", "answer", "truth", "a", "b", "system", "article", "sentence"]
    rows = [{name: corpus.text(rng)[:300] for name in names} | {"label": rng.choice([0, 1])} for _ in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if rng.random() < 0.2:
        runs.harm(rng, path)
    return str(path)


def _command(rng: random.Random, folder: Path) -> list[str]:
    table = lambda: _file(rng, folder, rng.choice(["jsonl", "csv"]))
    plain = lambda: _file(rng, folder, "txt")
    asked = lambda: _asked(rng, folder)
    value = lambda: rng.choice(
        [
            "n=2",
            "n=1000000000",
            "lowercase=yes",
            "smooth=exp",
            "stemmer=true",
            f"n={corpus.text(rng)[:50]}",
            corpus.text(rng)[:50],
        ]
    )
    out = str(folder / "out")
    command = rng.choice(
        [
            ["score", "bleu", table()],
            ["score", "bleu", plain(), plain()],
            ["score", "rouge", table()],
            ["score", rng.choice(["chrf", "ter"]), table()],
            ["score", rng.choice(["chrf", "ter"]), plain(), plain()],
            ["score", "rouge", plain(), plain()],
            ["score", "faithfulness", plain(), plain()],
            [
                "run",
                table(),
                "--metric",
                rng.choice(["bleu", "rouge", corpus.text(rng)[:30]]),
                "--out",
                out,
                "--workers",
                "1",
            ],
            ["run", table(), "bleu", "--out", out],
            ["report", rng.choice([out, plain()])],
            ["correlate", table(), "--metric", "candidate", "--human", rng.choice(["id", corpus.text(rng)[:30]])],
            ["summeval", plain()],
            ["store", rng.choice(["info", "prune"]), plain()],
            ["score", "answers", table()],
            ["score", rng.choice(["context_recall", "answer_relevancy", value()]), asked()],
            ["compare", asked()],
            ["compare", asked(), "--rank"],
            ["annotators", table(), "--raters", rng.choice(["id,candidate", value()]), "--level", "nominal"],
            ["annotators", asked(), "--raters", "a,b", "--coefficient", rng.choice(["cohen", "fleiss"])],
            ["correct", table(), table(), "-o", f"verdict={value()}"],
            ["correct", table(), "--draw", rng.choice(["1", value()]), "--out", str(folder / "to_label.csv")],
            ["checker-bench", "--data", f"{rng.choice(['rows', 'qags', 'begin', 'summedits'])}:{asked()}"],
            ["judge-bench", "--judge", "words", "--set", rng.choice(["pairs", value()]), "--limit", "2"],
            ["score", "summary_score", table()],
            ["metrics"],
            [corpus.text(rng)[:30], plain()],
        ]
    )
    for _ in range(rng.choice([0, 0, 1, 2])):
        command += rng.choice(
            [
                ["-o", value()],
                ["--json"],
                ["--html", str(folder / "page.html")],
                ["--column", value()],
                ["--format", rng.choice(["csv", "jsonl", "x"])],
                ["--timeout", rng.choice(["inf", "nan", "0", "-1", "x"])],
                [f"--{corpus.text(rng)[:20]}"],
            ]
        )
    return [word.replace("\x00", "_") for word in command]


def said(command: list[str], given: bytes) -> tuple[object, str, str]:
    """Run a command as the terminal would; return its code, its output and its errors."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace", write_through=True) for _ in range(2))
    code: object = None
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(given), "utf-8", "surrogateescape")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(command)
    except SystemExit as error:
        code = error.code
    finally:
        sys.stdin = before
    return code, *(stream.buffer.getvalue().decode() for stream in (out, err))


def shell(rng: random.Random, folder: Path) -> None:
    """One command; what it says goes to a terminal, and it ends with a known code."""
    command = _command(rng, folder)
    shown, name = f"summeval {command}", f"summeval {command[0][:10]}"
    try:
        code, out, err = said(command, corpus.text(rng).encode("utf-8", "replace"))
    except Exception as error:
        what = f"{shown} raises {type(error).__name__}: {str(error)[:500]}"
        raise Wrong(what, f"{type(error).__name__} in {name}") from error
    if code not in CODES:
        raise Wrong(f"{shown} ends with {code!r}: {err[-800:]}", f"code {code} in {name}")
    if code in (1, 2) and not err.strip():
        raise Wrong(f"{shown} ends with {code} and says nothing", "a failure without words in the shell")
    if "Traceback (most" in out + err:
        raise Wrong(f"{shown} shows a traceback: {err[-800:]}", "a traceback in the shell")
    judges.terminal(err if "--json" in command else out + err, name)
    page = folder / "page.html"
    if page.exists():
        judges.page(page.read_text(encoding="utf-8"), f"page of {command[0]}")
