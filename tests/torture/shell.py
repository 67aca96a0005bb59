"""The command line in this process: files and options that are not what they are called. One line and a code."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import re
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
    names = ["question", "contexts", "answer", "ground_truth", "a", "b", "system", "article", "sentence"]
    rows = [{name: corpus.text(rng)[:300] for name in names} | {"label": rng.choice([0, 1])} for _ in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if rng.random() < 0.2:
        runs.harm(rng, path)
    return str(path)


COMMANDS = """
score bleu TABLE / score bleu PLAIN PLAIN / score rouge TABLE / score rouge PLAIN PLAIN / score chrf TABLE
score ter PLAIN PLAIN / score rouge bleu chrf TABLE / score faithfulness PLAIN PLAIN / score answers TABLE
score context_recall ASKED / score VALUE ASKED / score summary_score TABLE / run TABLE bleu --out OUT
run TABLE --metric rouge --out OUT --workers 1 / run TABLE --metric VALUE --out OUT --workers 1 / report OUT
report PLAIN / correlate TABLE --metric candidate --human id / correlate TABLE --metric candidate --human VALUE
compare ASKED / metrics / metrics VALUE
annotators TABLE --raters id,candidate -o level=nominal / annotators ASKED --raters a,b --coefficient cohen
annotators ASKED --raters VALUE --coefficient fleiss / correct TABLE TABLE -o verdict=VALUE
correct TABLE --draw 1 --out LABELS / correct TABLE --draw VALUE --out LABELS / bench --data rows:ASKED
bench --data qags:ASKED / bench --judge words --set pairs --limit 2 / bench --set VALUE
VALUE PLAIN
"""
MORE = "-o VALUE / --json / --html PAGE / --csv PAGE / --column VALUE / --format x / --timeout inf / --VALUE"


def _command(rng: random.Random, folder: Path) -> list[str]:
    """A command with words that stand for files and values, some of them hostile."""
    values = ["n=2", "n=1000000000", "lowercase=yes", "smooth=exp", "stemmer=true", f"n={corpus.text(rng)[:50]}"]
    made = {
        "TABLE": lambda: _file(rng, folder, rng.choice(["jsonl", "csv"])),
        "PLAIN": lambda: _file(rng, folder, "txt"),
        "ASKED": lambda: _asked(rng, folder),
        "VALUE": lambda: rng.choice([*values, corpus.text(rng)[:50]]),
        "OUT": lambda: str(folder / "out"),
        "LABELS": lambda: str(folder / "to_label.csv"),
        "PAGE": lambda: str(folder / "page.html"),
    }
    words = rng.choice(COMMANDS.strip().replace("\n", " / ").split(" / ")).split()
    for _ in range(rng.choice([0, 0, 1, 2])):
        words += rng.choice(MORE.split(" / ")).split()
    name = re.compile("|".join(made))
    return [name.sub(lambda found: made[found[0]](), word).replace("\x00", "_") for word in words]


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
