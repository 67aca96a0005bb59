"""The command line's contract, once through a real process: outputs, one-line errors, exit codes."""

import json
import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path
from types import SimpleNamespace

import pytest

from summeval_nb import evaluate, sample_articles
from summeval_nb.cli import main

ROOT = Path(__file__).parents[1]


def process(*arguments, stdin=None):
    command = [sys.executable, "-m", "summeval_nb", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, input=stdin, env=env, capture_output=True, text=True, timeout=300)


@pytest.fixture
def summeval(capsys, monkeypatch, tmp_path):
    """The command in this process, in a folder of its own: a new process imports for seconds."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return SimpleNamespace(returncode=left.value.code or 0, stdout=said.out, stderr=said.err)

    return run


@pytest.fixture
def files(tmp_path):
    article, summary = tmp_path / "article.txt", tmp_path / "summary.txt"
    article.write_text("The bridge opened in 1931. It is 1,149 metres long. About 40,000 cars cross it every day.")
    summary.write_text("The bridge was opened in 1931. It is 5,000 metres long.")
    return article, summary


def test_evaluate_prints_verdicts_and_evidence(summeval, files, tmp_path):
    done = summeval("score", "faithfulness", *files, "-o", "k=2", "--html", tmp_path / "report.html")
    assert done.returncode == 0, done.stderr
    assert "The bridge opened in 1931." in done.stdout and "[5,000]" in done.stdout and "k:2" in done.stdout
    assert "\x1b" not in done.stdout
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and str(tmp_path / "report.html") in done.stderr


def test_json_is_for_programs_and_standard_input_works(files):
    done = process("score", "faithfulness", files[0], "-", "--json", stdin="It is 1,149 metres long.\n")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["score"] == 1.0 and data["verdicts"][0]["evidence"][0]["index"] == 1


def test_demo_writes_a_report(summeval, tmp_path):
    done = summeval("demo", "--number", 2)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "summeval-demo.html").stat().st_size > 10_000
    assert "faithful" in done.stdout and "wrong" in done.stdout


@pytest.mark.nightly
def test_demo_says_where_its_checker_is_wrong_or_unclear(summeval, tmp_path):
    for number, sample in enumerate(sample_articles(), 1):
        done = summeval("demo", "--number", number)
        page = (tmp_path / "summeval-demo.html").read_text(encoding="utf-8")
        expected = []
        for summary in sample.summaries.values():
            verdicts = evaluate(sample.text, summary.text).verdicts
            for true, note, verdict in zip(summary.supported, summary.notes, verdicts, strict=True):
                if verdict.state != ("supported" if true else "contradicted"):
                    opening = "Unclear to the checker" if verdict.state == "unclear" else "The checker is wrong"
                    expected.append(f"{opening}; its author knows: {'true' if true else f'false: {note}'}")
        printed = " ".join(done.stdout.split())  # lines are folded
        end = 0
        for line in expected:
            end = printed.index(line, end) + len(line)
        assert printed.count("author knows") == len(expected)
        assert re.findall(
            r"<p>([^<]*author knows[^<]*?)(?:; (?:something clashes|cannot tell|too little|“)[^<]*)?</p>", page
        ) == [escape(line) for line in expected]


PAIR = ["score", "faithfulness", "{article}", "{summary}"]
BAD = {
    "missing file": ([*PAIR[:2], "no-such.txt", "{summary}"], "text: there is no file 'no-such.txt'"),
    "folder": ([*PAIR[:2], "{folder}", "{summary}"], "is a folder"),
    "empty text": ([*PAIR[:2], "{empty}", "{summary}"], "is empty"),
    "binary file": ([*PAIR[:3], "{binary}"], "summary: "),
    "NUL": ([*PAIR[:3], "{nul}"], "binary"),
    "k = 0": ([*PAIR, "-o", "k=0"], "k must be at least 1, not 0"),
    "k = x": ([*PAIR, "-o", "k=x"], "k must be a whole number, not str"),
    "unknown splitter": ([*PAIR, "-o", "splitter=x"], "unknown splitter"),
    "unknown embedder": ([*PAIR, "-o", "embedder=no-such"], "no-such"),
    "misspelt option": ([*PAIR, "-o", "treshold=.5"], "did you mean 'threshold'?"),
    "unknown command": (["evaluat"], "evaluat"),
    "unknown option": ([*PAIR, "--no-such"], "no-such"),
    "missing argument": (PAIR[:2], "argument 'files"),
    "two standard inputs": ([*PAIR[:2], "-", "-"], "only one"),
    "unwritable report": ([*PAIR, "--html", "{folder}/no/x.html"], "cannot write"),
    "demo number": (["demo", "--number", "99"], "between 1 and"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_line_and_code_2(summeval, arguments, message, files, tmp_path):
    names = {"folder": tmp_path, "article": files[0], "summary": files[1]}
    for name, content in (("empty", b" \n"), ("binary", b"\x89PNG\xff\xfe"), ("nul", b"a\x00b")):
        names[name] = tmp_path / name
        names[name].write_bytes(content)
    done = summeval(*(argument.format(**names) for argument in arguments))
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


def test_the_list_of_commands_cuts_no_sentence(summeval):
    listed = " ".join(summeval("--help").stdout.split())
    assert "Score texts with a metric by its name; each says its options by --help." in listed
    assert "..." not in listed.partition("Commands:")[2]


@pytest.mark.parametrize("arguments", [["--help"], ["score", "bleu", "--help"], ["demo", "-h"], ["--version"]])
def test_help_and_version(summeval, arguments):
    done = summeval(*arguments)
    assert done.returncode == 0 and done.stdout.strip() and not done.stderr
