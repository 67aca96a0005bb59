"""The commands for tables and runs, through real processes: outputs, one-line errors, exit codes, Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer

from summeval_nb import bleu_score, corpus_bleu
from summeval_nb.cli import _grid, app
from summeval_nb.shell import (
    Given,
    keep_apart,
    open_store,
    read_options,
    read_pairs,
    read_rows,
    read_text,
    say_cost,
    split_lines,
    write,
)

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def command(*arguments):
    return [sys.executable, "-m", "summeval_nb", *map(str, arguments)]


def summeval(*arguments, stdin=None):
    return subprocess.run(
        command(*arguments), input=stdin, env=ENVIRONMENT, capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def pairs(tmp_path):
    rows = [
        {"id": "a", "candidate": "the cat sat on the mat", "references": "the cat sat on a mat"},
        {"id": "b", "candidate": "it rained <script>", "references": ["it rained", "rain fell"]},
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_bleu_of_a_table_of_plain_files_and_of_standard_input(pairs, tmp_path):
    texts = [json.loads(line) for line in pairs.read_text().splitlines()]
    wanted = corpus_bleu([row["candidate"] for row in texts], [row["references"] for row in texts], 2)
    done = summeval("score", "bleu", pairs, "-o", "n=2", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["score"] == wanted.score
    piped = summeval("score", "bleu", "-", "-o", "n=2", "--json", stdin=pairs.read_text())
    assert piped.stdout == done.stdout
    each = summeval("score", "bleu", pairs, "-o", "n=2", "--each")
    assert each.stdout.split()[0] == f"{bleu_score(texts[0]['candidate'], texts[0]['references'], 2).score:.4f}"
    (tmp_path / "made.txt").write_text("the cat sat\n")
    (tmp_path / "wanted.txt").write_text("the cat sat\n")
    plain = summeval("score", "bleu", tmp_path / "made.txt", tmp_path / "wanted.txt", "-o", "n=3")
    assert plain.stdout.startswith("bleu 100.0000\nmetric:bleu3")


def test_bad_rows_are_left_out_named_and_code_3(pairs):
    pairs.write_text(pairs.read_text() + '{"candidate": "cut o\n')
    done = summeval("score", "rouge", pairs)
    assert done.returncode == 3 and done.stdout.startswith("rouge 0.")
    named, counted = done.stderr.strip().splitlines()
    assert "at 3: not JSON" in named and "1 of 3 rows failed" in counted


def test_run_and_report(pairs, tmp_path):
    for name, n in (("monday", 1), ("friday", 2)):
        done = summeval("run", pairs, "--metric", "bleu", "--out", tmp_path / name, "-o", f"n={n}", "--workers", 1)
        assert done.returncode == 0, done.stderr
        assert not done.stderr, "no progress bar where standard error is no terminal"
    rows = [json.loads(line) for line in (tmp_path / "friday/results.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["a", "b"]
    page = summeval("report", tmp_path / "friday", "--other", tmp_path / "monday", "--html", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert page.returncode == 0 and "Compared with monday" in text and "<script" not in text


def test_a_regression_is_code_1_and_what_cannot_be_told_code_2(tmp_path):
    rows = [{"id": i, "candidate": f"the cat sat {i}", "references": f"the cat sat {i}"} for i in range(12)]
    tables = {"good": rows, "bad": [{**row, "candidate": "the cat sat down"} for row in rows]}
    tables |= {"few": rows[:3], "ter_good": rows, "ter_bad": tables["bad"]}
    for name, listed in tables.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in listed))
        metric = "ter" if "ter" in name else "bleu"
        assert summeval("run", tmp_path / f"{name}.jsonl", "--metric", metric, "--out", tmp_path / name).returncode == 0
    gate = lambda name, other, *more: summeval(
        "report", tmp_path / name, "--other", tmp_path / other, "--fail-on-regression", *more
    )
    worse = gate("bad", "good", "--markdown", tmp_path / "gate.md")
    assert worse.returncode == 1 and worse.stderr.count("a regression: On 12 common items bad scores lower") == 1
    assert "| common items |" in (tmp_path / "gate.md").read_text()
    assert gate("good", "bad").returncode == gate("good", "good").returncode == 0
    assert gate("bad", "good", "--margin", 90).returncode == 0
    assert gate("ter_bad", "ter_good").returncode == 1 and gate("ter_good", "ter_bad").returncode == 0
    few = gate("few", "good")
    assert few.returncode == 2 and "too few items" in few.stderr
    assert gate("bad", "ter_good").returncode == 2 and gate("bad", "good", "--margin", -1).returncode == 2
    alone = summeval("report", tmp_path / "bad", "--fail-on-regression")
    assert alone.returncode == 2 and "--other" in alone.stderr


def test_markdown_is_written_where_a_page_is(pairs, tmp_path):
    done = summeval("score", "bleu", pairs, "--each", "--markdown", tmp_path / "a.md")
    assert done.returncode == 0 and "| bleu |" in (tmp_path / "a.md").read_text()
    assert summeval("score", "bleu", pairs, "--markdown", tmp_path / "a.md").returncode == 0, "ours is written anew"
    (tmp_path / "mine.md").write_text("# Mine")
    kept = summeval("score", "bleu", pairs, "--markdown", tmp_path / "mine.md")
    assert kept.returncode == 2 and "--markdown" in kept.stderr and (tmp_path / "mine.md").read_text() == "# Mine"
    assert summeval("score", "bleu", pairs, "--markdown", pairs).returncode == 2


def test_failures_are_code_3_and_a_dry_run_scores_nothing(pairs, tmp_path):
    pairs.write_text(pairs.read_text() + '{"candidate": 7, "references": "x"}\n')
    words = ("run", pairs, "--metric", "bleu", "--out", tmp_path / "out", "--workers", 1)
    dry = summeval(*words, "--dry-run")
    counts = dict(line.split()[:2] for line in dry.stdout.splitlines()[1:6])
    assert dry.returncode == 0, dry.stderr
    assert counts == {"items": "3", "scored": "0", "to_score": "3", "unreadable": "1", "sample": "2"}
    nothing = {"value": 0, "low": 0, "high": 0}
    assert json.loads(summeval(*words, "--dry-run", "--json").stdout)["total"]["calls"] == nothing
    assert not (tmp_path / "out").exists()
    done = summeval(*words)
    assert done.returncode == 3 and "1 of 3 items failed" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def heed_interrupts():
    """A shell starts background jobs deaf to Ctrl-C, and their children inherit it; a terminal's process is not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [[], ["--workers", 1]], ids=["in its own process", "in a worker"])
def test_ctrl_c_says_how_to_go_on(workers, tmp_path):
    source = tmp_path / "pairs.jsonl"
    row = json.dumps({"candidate": "the cat sat on the mat " * 20, "references": "the cat sat " * 40})
    source.write_text((row + "\n") * 60_000)
    words = command("run", source, "--metric", "rouge", "--out", tmp_path / "out", "--shard-size", 20, *workers)
    terminal = {"start_new_session": True, "preexec_fn": heed_interrupts}
    process = subprocess.Popen(words, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, **terminal)
    shards, deadline = tmp_path / "out" / "shards", time.monotonic() + 60
    while time.monotonic() < deadline and (not shards.exists() or len(list(shards.glob("*.jsonl"))) < 2):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "summeval: interrupted; what was scored is kept, and the same command continues\n"
    lines = source.read_text().splitlines()[:400]
    kept = len(list(shards.glob("*.jsonl")))
    source.write_text("\n".join(lines) + "\n")
    again = subprocess.run([*words, "--json"], env=ENVIRONMENT, capture_output=True, text=True)
    assert json.loads(again.stdout)["kept_from_before"] == 20 * min(kept, 20)


@pytest.mark.nightly
def test_store_answer_score_correlate_summeval(tmp_path):
    table = tmp_path / "answers.jsonl"
    row = {"context": "It rained all day.", "question": "How was it?", "ground_truth": "It rained."}
    table.write_text(json.dumps({**row, "answer": "It rained all day."}) + "\n")
    done = summeval(
        "score", "answers", table, "--store", tmp_path / "s.sqlite", "--html", tmp_path / "a.html", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"][0]["answer_given_context"] == 1.0 and (tmp_path / "a.html").exists()
    info = summeval("store", "info", tmp_path / "s.sqlite", "--json")
    assert info.returncode == 0 and json.loads(info.stdout)["bytes"] > 0
    assert summeval("store", "prune", tmp_path / "s.sqlite", "--damaged").stdout.startswith("0 items deleted")
    rated = tmp_path / "rated.csv"
    cells = [f"{a},{s},{s},{s * s}" for a in range(3) for s in range(5)]
    rated.write_text("\n".join(["article,system,metric,human", *cells]) + "\n")
    done = summeval("correlate", rated, "-o", "n_resamples=0", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["score"] == 1.0
    rated.write_text("metric,human\n1,2\n2,4\n,4\n3,9\n")
    done = summeval("correlate", rated, "-o", "n_resamples=0", "--json")
    told = json.loads(done.stdout)
    assert told["score"] == 1.0 and "level:pooled" in told["signature"]


BAD = {
    "no file": (["score", "bleu", "{missing}"], "no file"),
    "no metric": (["run", "{pairs}", "--out", "{folder}/o"], "metric"),
    "unknown metric": (["run", "{pairs}", "--metric", "blue", "--out", "{folder}/o"], "known: 'length', 'bleu'"),
    "unknown option": (["score", "bleu", "{pairs}", "-o", "m=2"], "bleu has no option 'm'; known: 'n', 'tokenize'"),
    "unknown option of a run": (
        ["run", "{pairs}", "--metric", "bleu", "--out", "{folder}/o", "-o", "m=2"],
        "known: 'n'",
    ),
    "option without =": (["score", "bleu", "{pairs}", "-o", "n"], "NAME=VALUE"),
    "missing column": (
        ["score", "bleu", "{pairs}", "--column", "candidate=made"],
        "there is no 'made'; there is: id, candidate",
    ),
    "missing column of a run": (
        ["run", "{pairs}", "--metric", "bleu", "--out", "{folder}/o", "--column", "candidate=made"],
        "there is no 'made'; there is: id, candidate",
    ),
    "unwritable folder": (["run", "{pairs}", "--metric", "bleu", "--out", "/proc/no"], "cannot write into"),
    "no cluster": (
        ["run", "{pairs}", "--metric", "bleu", "--out", "{folder}/o", "--engine", "ray", "--address", "127.0.0.1:1"],
        "ray start --head",
    ),
    "no run": (["report", "{folder}"], "holds no run"),
    "no store": (["store", "info", "{missing}"], "there is no store"),
    "store is no store": (["store", "info", "{pairs}"], "pairs.jsonl"),
    "lines differ": (["score", "bleu", "{pairs}", "{one}"], "same number of lines"),
    "no rows": (["score", "bleu", "{one}", "--format", "csv"], "holds no rows"),
    "format": (["score", "bleu", "{one}"], "pass --format jsonl"),
    "double cell": (["correlate", "{twice}"], "two rows for article"),
    "no system": (["correlate", "{alone}"], "no column 'system' that tells them apart"),
    "words for numbers": (["correlate", "{words}"], "could not convert"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_line_and_code_2(arguments, message, pairs, tmp_path):
    (tmp_path / "one.txt").write_text("one line\n")
    head = "article,system,metric,human\n"
    (tmp_path / "alone.csv").write_text("article,metric,human\na,1,2\na,1,2\n")
    (tmp_path / "twice.csv").write_text(head + "a,s,1,2\na,s,1,2\n")
    (tmp_path / "words.csv").write_text(head + "a,s,high,2\na,t,1,2\n")
    names = {"pairs": pairs, "folder": tmp_path, "missing": tmp_path / "no-such.jsonl", "one": tmp_path / "one.txt"}
    names |= {"twice": tmp_path / "twice.csv", "words": tmp_path / "words.csv", "alone": tmp_path / "alone.csv"}
    done = summeval(*(argument.format(**names) for argument in arguments))
    assert done.returncode == 2, done
    assert message in done.stderr and not done.stdout
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr


COMMANDS = [
    "demo",
    "metrics",
    "compare",
    "identify",
    "correlate",
    "annotators",
    "correct",
    "summeval",
    "run",
    "how-well",
    "checker-bench",
]
COMMANDS += ["judge-bench", "card", "languages", "report", "grade", "book", "lab"]


@pytest.mark.parametrize("name", [*COMMANDS, "score bleu", "store info", "store prune"])
def test_every_command_has_help_with_an_example(name):
    done = summeval(*name.split(), "--help")
    assert done.returncode == 0 and f"Example: summeval {name}" in done.stdout


@pytest.mark.nightly
def test_a_page_of_every_command_that_scores(pairs, tmp_path):
    """--html writes one page that needs nothing else, in which text from outside is escaped."""
    rated = tmp_path / "rated.csv"
    cells = [f"{a},{s},{s},{s * s}" for a in range(3) for s in range(5)]
    rated.write_text("\n".join(["article,system,metric,human", *cells]) + "\n")
    commands = {
        "bleu": ("score", "bleu", pairs),
        "each": ("score", "bleu", pairs, "--each"),
        "rouge": ("score", "rouge", pairs),
        "correlate": ("correlate", rated, "-o", "n_resamples=0"),
        "run": ("run", pairs, "--metric", "rouge", "--out", tmp_path / "out", "--workers", 0),
    }
    for name, words in commands.items():
        done = summeval(*words, "--html", tmp_path / f"{name}.html")
        assert done.returncode == 0 and done.stderr.strip().endswith(f"written to {tmp_path / f'{name}.html'}"), (
            done.stderr
        )
        page = (tmp_path / f"{name}.html").read_text()
        assert page.startswith("<!DOCTYPE html>") and "<script" not in page and "src=" not in page
    assert "Lowest scores" in (tmp_path / "run.html").read_text()
    nowhere = summeval("score", "bleu", pairs, "--html", tmp_path / "no" / "page.html")
    assert nowhere.returncode == 2 and "cannot write" in nowhere.stderr


@pytest.mark.nightly
def test_a_named_language_model_judges_and_says_what_it_used(tmp_path):
    from summeval_nb.models.base import example_model
    from summeval_nb.runs.costs import read_ledger

    sentence = "Anna bought a red car in Paris."
    corpus = tmp_path / "pairs.jsonl"
    corpus.write_text(json.dumps({"text": sentence, "summary": "Anna bought a red car."}) + "\n")
    words = (
        "run",
        corpus,
        "--metric",
        "faithfulness",
        "-o",
        f"checker=llm:{example_model()}",
        "--out",
        tmp_path / "out",
    )
    dry = summeval(*words, "--dry-run", "--json")
    stages = json.loads(dry.stdout)["stages"]
    assert list(stages) == ["checking"] and stages["checking"]["calls"]["value"] == 1
    done = summeval(*words, "--workers", 1, "--html", tmp_path / "page.html")
    assert done.returncode == 0 and "prompt tokens" in done.stdout and "checking" in done.stdout, done.stderr
    assert "What it cost" in (tmp_path / "page.html").read_text()
    used = read_ledger(tmp_path / "out").to_dict()["checking"]["prompt_tokens"]
    assert used > 50 and abs(stages["checking"]["prompt_tokens"]["value"] - used) <= 4
    nobody = summeval("score", "answers", corpus, "-o", "judge=gpt:4")
    assert nobody.returncode == 2 and len(nobody.stderr.strip().splitlines()) == 1


@pytest.mark.nightly
def test_the_time_out_of_the_command_line(pairs, tmp_path):
    done = summeval("run", pairs, "--metric", "bleu", "--out", tmp_path / "out", "--timeout", 60)
    assert done.returncode == 0, done.stderr
    bad = summeval("run", pairs, "--metric", "bleu", "--out", tmp_path / "out", "--timeout", -1)
    assert bad.returncode == 2 and "timeout must be more than 0" in bad.stderr


# ---------------------------------------------------------------- what the commands share


def left_with(call):
    """The exit code with which a call leaves; 0 if it comes back."""
    try:
        call()
    except typer.Exit as leaving:
        return leaving.exit_code
    return 0


def test_texts_are_read_as_people_pass_them(tmp_path):
    good, binary = tmp_path / "good.txt", tmp_path / "picture.png"
    write(good, lambda path: path.write_bytes("\ufeffIt rained.".encode()))
    binary.write_bytes(b"\x89PNG\r\n\x1a\n\x00")
    assert read_text(str(good), "article") == "It rained."
    for name in (str(binary), str(tmp_path), "no-such-file.txt"):
        assert left_with(lambda name=name: read_text(name, "article")) == 2
    assert split_lines("one\u2028line\ntwo\r\n") == ["one\u2028line", "two"]


def test_a_page_never_takes_the_place_of_an_input(tmp_path):
    file = tmp_path / "good.txt"
    file.write_text("It rained.")
    assert left_with(lambda: keep_apart(file, str(file))) == 2 and left_with(lambda: keep_apart(None, "-")) == 0
    assert left_with(lambda: write(tmp_path / "missing" / "a.txt", lambda path: path.touch())) == 2


def test_options_are_names_and_values():
    given = read_pairs(["n=2", "smooth=exp", "stemmer=true"], "--option")
    assert given == {"n": 2, "smooth": "exp", "stemmer": True}
    assert left_with(lambda: read_pairs(["n"], "--option")) == left_with(lambda: read_pairs(["=2"], "--option")) == 2
    assert left_with(lambda: read_pairs(["references=a", "references=b"], "--column")) == 2  # the last won in silence
    flags = read_options(["stemmer=no", "multi=no"], lambda stemmer=False, multi=None: 0, "f")
    assert flags == {"stemmer": False, "multi": "no"}


def test_files_of_different_lengths_are_no_pairs(tmp_path):
    made, wanted = tmp_path / "made.txt", tmp_path / "wanted.txt"
    made.write_text("the cat sat down\na dog\n")
    wanted.write_text("the cat sat down\n")
    assert left_with(lambda: read_rows("bleu", [str(made), str(wanted)], Given())) == 2


def test_an_absent_cell_and_an_empty_one_are_none():
    cells = [{"a": 1, "s": "x", "v": "0.5"}, {"a": 1, "s": "y", "v": 0}, {"a": 2, "s": "y", "v": ""}]
    assert _grid(cells, ["a", "s"], "v") == [[0.5, 0.0], [None, None]]
    assert left_with(lambda: _grid([*cells, cells[0]], ["a", "s"], "v")) == 2


def test_what_a_model_cost_is_said_and_nothing_without_one(capsys):
    assert open_store(None) is None
    say_cost({"judge": "embedded"})
    assert capsys.readouterr().err == ""


def test_help_shows_the_commands_in_their_order():
    assert [listed.name or listed.callback.__name__ for listed in app.registered_commands] == COMMANDS
