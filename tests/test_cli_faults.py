"""No command meets its user with a traceback: one table of faults, each one line on standard error and its code."""

import gzip
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from helpers.late import Late

from summeval_nb import cli
from summeval_nb.text import punkt
from summeval_nb.text import splitters as _splitters

nltk = Late("nltk")
pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    "STANZA_RESOURCES_DIR": "/nonexistent",
    "NLTK_DATA": "/nonexistent",
}
PAIR = b'{"id": 1, "candidate": "the cat sat", "references": "the cat sat"}\n'
DEEP = b"[" * 100_000


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with every kind of damaged input, as the working directory."""
    packed = gzip.compress(b"".join(b'{"candidate": "%d", "references": "a"}\n' % i for i in range(3000)))
    files = {
        "article.txt": b"The bridge opened in 1931. It is long.\n",
        "summary.txt": b"The bridge opened in 1931.\n",
        "pairs.jsonl": PAIR,
        "cut.jsonl.gz": packed[:-300],
        "no.jsonl.gz": b"hello",
        "twice.csv": b"candidate,candidate\na,b\n",
        "cr.csv": b"candidate,references\ra,b\r",
        "quote.csv": b'candidate,references\na,a\n"b,b\nc,c\nd,d\n',
        "deep.jsonl": b'{"candidate": ' + DEEP + b"\n",
        "store.sqlite": os.urandom(4096),
        "asked.jsonl": json.dumps(ASKED).encode() + b"\n",
        "rated.csv": b"a,b,c\n1,2,inf\n2,2,nan\n",
        "m4/benchmark_data.json": b"[]",
        "m1/manifest.json": DEEP,
        "m2/manifest.json": b"\xff\xfe",
        "m3/manifest.json": b'{"settings": []}',
        "m5/config.json": b"{}",
        "m6/config.json": b"\xff\xfe",
        "m7/config.json": b'{"auto_map": {"AutoModel": "own.Own"}, "model_type": "\\u001b[2J"}',
        "m7/own.py": b"raise SystemExit(9)\n",
        "three.txt": b"a\nb\nc\n",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    for name in ("STANZA_RESOURCES_DIR", "NLTK_DATA"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setattr(nltk.data, "path", [])  # tables that this machine has, or that another test read, do not count
    punkt.punkt_of.cache_clear()
    _splitters.learnt_tables.cache_clear()
    return tmp_path


def leave(*arguments: str) -> int:
    """Run the command line in this process and return its exit code."""
    with pytest.raises(SystemExit) as leaving:
        cli.main(list(arguments))
    return leaving.value.code


EVALUATE = ["score", "faithfulness", "article.txt", "summary.txt"]
RUN = ["run", "pairs.jsonl", "--metric", "bleu", "--workers", "0", "--out"]
ANNOTATORS = ["annotators", "rated.csv", "--raters", "a,b", "--level", "interval"]
DRAW = ["correct", "pairs.jsonl", "-o", "verdict=id", "--draw", "1"]
CHECKER_BENCH = ["checker-bench", "--data", "rows:asked.jsonl"]
NOBODY = "llm:m@http://127.0.0.1:9/v1"
ASKED = {
    "question": "When?",
    "contexts": "It opened.",
    "answer": "It opened.",
    "truth": "It opened.",
    "a": "It opened.",
}
ASKED |= {"b": "It rained.", "article": "It opened.", "sentence": "It opened.", "label": 1}
METEOR = ["score", "meteor", "pairs.jsonl", "-o", "synonyms=null"]  # by itself it needs nltk's WordNet
FAULTS = {
    "store is damaged": ([*EVALUATE, "--store", "store.sqlite"], "its beginning is damaged"),
    "store is a text": ([*EVALUATE, "--store", "summary.txt"], "not a summeval store"),
    "info of a damaged store": (["store", "info", "store.sqlite"], "its beginning is damaged"),
    "store of a run": ([*RUN, "o", "--store", "store.sqlite"], "its beginning is damaged"),
    "gzip cut short": (["score", "bleu", "cut.jsonl.gz"], "not a whole gzip file"),
    "doubled header": (["score", "bleu", "twice.csv"], "names a column twice"),
    "bare carriage return": (["score", "rouge", "cr.csv"], "line 1 of the CSV holds a carriage return"),
    "unclosed quote": (["score", "bleu", "quote.csv"], "line 3 of the CSV opens a quote"),
    "unclosed quote of ratings": (["correlate", "quote.csv"], "line 3 of the CSV opens a quote"),
    "report of a file": (["report", "pairs.jsonl"], "is no folder"),
    "manifest nested too deeply": (["report", "m1"], "not the manifest of a run"),
    "manifest is no text": (["report", "m2"], "manifest"),
    "manifest of nothing": (["report", "m3"], "not the manifest of a run"),
    "run over a manifest of nothing": ([*RUN, "m3"], "a manifest.json that is not of a run"),
    "time limit is infinite": ([*RUN[:-3], "--workers", "1", "--out", "o", "--timeout", "inf"], "timeout must be"),
    "age is infinite": (["store", "prune", "good.sqlite", "--older-than-days", "inf"], "older_than_days must be"),
    "order beyond reason": (["score", "bleu", "pairs.jsonl", "-o", "n=1000000000"], "n must be at most 100"),
    "deep JSON": (["score", "bleu", "deep.jsonl"], "nested too deeply"),
    "deep option": (["score", "bleu", "pairs.jsonl", "-o", f"smooth={'[' * 5000}"], "unknown smooth"),
    "no yes and no no": (["score", "rouge", "pairs.jsonl", "-o", "stemmer=maybe"], "stemmer must be True or False"),
    "a number for a flag": (["score", "bleu", "pairs.jsonl", "-o", "lowercase=0"], "lowercase must be True or False"),
    "page over the article": ([*EVALUATE, "--html", "article.txt"], "would overwrite what is read"),
    "page over the store": ([*EVALUATE, "--store", "s.sqlite", "--html", "s.sqlite"], "would overwrite what is read"),
    "page over a corpus": ([*RUN, "o", "--html", "pairs.jsonl"], "would overwrite what is read"),
    "page over results": (["report", "m1", "--html", "m1/manifest.json"], "would overwrite what is read"),
    "page over another file": (["score", "bleu", "pairs.jsonl", "--html", "summary.txt"], "a file that is no page"),
    "page of the demo over a file": (["demo", "--html", "summary.txt"], "a file that is no page"),
    "page over a file of a folder that is read": (
        ["checker-bench", "--data", "frank:m4", "--html", "m4/benchmark_data.json"],
        "a file that is no page",
    ),
    "correction over its labels": (
        ["correct", "rated.csv", "l.csv", "--html", "l.csv"],
        "would overwrite what is read",
    ),
    "drawing over its table": (["correct", "rated.csv", "--draw", "1", "--out", "rated.csv"], "overwrite what is read"),
    "drawing into a pipe": ([*DRAW, "--out", "pipe"], "there is no file pipe"),
    "drawing into no folder": ([*DRAW, "--out", "nowhere/l.csv"], "no such folder"),
    "labels in a pipe": ([*DRAW[:4], "pipe"], "there is no file pipe"),
    "bench over its table": ([*CHECKER_BENCH, "--html", "asked.jsonl"], "would overwrite what is read"),
    "bench over its store": (
        ["judge-bench", "--judge", "words", "--store", "s.sqlite", "--html", "s.sqlite"],
        "would overwrite what is read",
    ),
    "bench on a cut table": (["checker-bench", "--data", "rows:no.jsonl.gz"], "not a whole gzip file"),
    "retrieval with a damaged store": (
        ["score", "context_recall", "asked.jsonl", "--store", "store.sqlite"],
        "beginning is damaged",
    ),
    "a share that is no number": (
        ["score", "context_recall", "asked.jsonl", "-o", "max_failed=nan"],
        "max_failed must be a number",
    ),
    "a share of 400 digits": (["compare", "asked.jsonl", "-o", f"margin=1{'0' * 400}"], "margin must lie in [0, 1]"),
    "measures as an option": (
        ["score", "context_recall", "asked.jsonl", "-o", "measures=[]"],
        "has no option 'measures'",
    ),
    "resamples beyond reason": ([*ANNOTATORS, "-o", "n_resamples=1000000000"], "n_resamples must be at most"),
    "infinite ratings": ([*ANNOTATORS[:3], "a,c", *ANNOTATORS[4:]], "a number of ordinary size, not inf"),
    "no such rater": ([*ANNOTATORS[:3], "a,", *ANNOTATORS[4:]], "there is no ''"),
    "no such set": (["judge-bench", "--judge", "words", "--set", "nothing"], "unknown set"),
    "no file of a layout": (["checker-bench", "--data", "rows:"], "FORMAT:FILE"),
    "page on a full disk": (
        ["score", "bleu", "pairs.jsonl", "--html", "/dev/full"],
        "cannot write '/dev/full': No space left",
    ),
    "no model of stanza": ([*EVALUATE, "-o", "splitter=stanza"], "stanza.download"),
    "no tables of nltk": ([*EVALUATE, "-o", "splitter=punkt_tab"], "nltk.downloader punkt_tab"),
    "order of chrF beyond reason": (
        ["score", "chrf", "pairs.jsonl", "-o", "char_order=1000000000"],
        "char_order must be at most",
    ),
    "beta is no number": (
        ["score", "chrf", "pairs.jsonl", "-o", "beta=NaN"],
        "beta must lie between 0 and 1000, not nan",
    ),
    "beta is a text": (["score", "chrf", "pairs.jsonl", "-o", f"beta={'9' * 5000}x"], "beta must be a number, not str"),
    "no WordNet": (
        ["score", "meteor", "pairs.jsonl"],
        "run python -m nltk.downloader wordnet once, or pass -o synonyms=null",
    ),
    "synonyms of Python": ([*METEOR[:3], "-o", "synonyms=None"], "synonyms must be wordnet, null or a JSON object"),
    "synonyms that are a text": ([*METEOR[:3], "-o", 'synonyms={"cat": "dog"}'], "synonyms of 'cat' must be a list"),
    "synonyms nested too deeply": ([*METEOR[:3], "-o", f"synonyms={'[' * 5000}"], "synonyms must be wordnet"),
    "a weight that is no number": ([*METEOR, "-o", "alpha=NaN"], "alpha must lie between 0 and 1, not nan"),
    "no such tokenizer": ([*METEOR, "-o", "tokenize=words"], "unknown tokenizer 'words'"),
    "no such model": (["score", "bertscore", "pairs.jsonl", "-o", "model=nowhere"], "nothing is downloaded"),
    "a model is a number": (
        ["score", "bertscore", "pairs.jsonl", "-o", "model=5"],
        "model must be 'minilm' or a folder, not int",
    ),
    "a model is a file": (
        ["score", "bertscore", "pairs.jsonl", "-o", "model=pairs.jsonl"],
        "model must be 'minilm' or a folder",
    ),
    "a model without a tokenizer": (["score", "bertscore", "pairs.jsonl", "-o", "model=m5"], "m5' cannot be loaded: "),
    "a model whose settings are no text": (
        ["score", "bertscore", "pairs.jsonl", "-o", "model=m6"],
        "m6' cannot be loaded: ",
    ),
    "a model with a program of its own": (
        ["score", "bertscore", "pairs.jsonl", "-o", "model=m7"],
        "m7' cannot be loaded: ",
    ),
    "no such layer": (["score", "bertscore", "pairs.jsonl", "-o", "layer=99"], "layer must be at most 6"),
    "a baseline that is no number": (
        ["score", "bertscore", "pairs.jsonl", "-o", "baseline=NaN"],
        "baseline must be a number",
    ),
    "model beside embedder": (
        ["score", "bertscore", "pairs.jsonl", "-o", "embedder=minilm", "-o", "model=m5"],
        "give model or embedder, not both",
    ),
}
FAULTS |= {  # texts in plain files
    f"plain files: {fault}": (["score", "chrf", *arguments], message)
    for fault, (arguments, message) in {
        "page over references": (["article.txt", "summary.txt", "--html", "summary.txt"], "overwrite what is read"),
        "no such file of references": (["article.txt", "nowhere.txt"], "there is no file 'nowhere.txt'"),
        "files of different lengths": (["article.txt", "three.txt"], "the same number of lines"),
        "a store as references": (["article.txt", "store.sqlite"], "store.sqlite"),
        "a folder as candidates": (["m1", "article.txt"], "is a folder; name a text file"),
    }.items()
}


@pytest.mark.parametrize(("arguments", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_is_one_line_and_code_2(arguments, message, place, capsys):
    if "good.sqlite" in arguments:
        from summeval_nb.models.store import Store

        Store("good.sqlite").close()
    before = {path: path.read_bytes() for path in place.rglob("*.*") if path.is_file()}
    assert leave(*arguments) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert message in said[-1] and said[-1].startswith("summeval: "), said
    assert all(line.startswith(("summeval: left out:", "summeval: warning:")) for line in said[:-1]), said
    assert {path: path.read_bytes() for path in before} == before, "no input was touched"


def test_what_nobody_expected_is_one_line_and_code_70(place, capsys, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise KeyError("no such thing")

    monkeypatch.setattr("summeval_nb.cli.read_rows", broken)
    assert leave("score", "bleu", "pairs.jsonl") == 70
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("summeval: unexpected KeyError: 'no such thing'") and "SUMMEVAL_TRACEBACK=1" in line
    monkeypatch.setenv("SUMMEVAL_TRACEBACK", "1")
    with pytest.raises(KeyError):
        cli.main(["score", "bleu", "pairs.jsonl"])


@pytest.mark.parametrize(
    "arguments",
    [
        [*EVALUATE, "-o", f"checker={NOBODY}"],
        ["score", "context_recall", "asked.jsonl", "-o", f"judge={NOBODY}"],
        ["compare", "asked.jsonl", "--backend", NOBODY],
        ["judge-bench", "--judge", NOBODY, "--set", "pairs"],
        [*CHECKER_BENCH, "--checker", NOBODY],
    ],
    ids=["evaluate", "retrieval", "comparison", "bench of judges", "bench of checkers"],
)
def test_a_server_that_is_down_scores_nothing_and_says_so(arguments, place, capsys):
    assert leave(*arguments) == 3
    said = capsys.readouterr()
    shown = " ".join((said.out + said.err).split())
    assert "is it running" in shown and "failed" in shown


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ImportError("of a library that was interrupted")])
def test_an_interrupt_is_code_130_whatever_a_library_does(error, place, capsys, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("summeval_nb.cli.read_rows", interrupted)
    monkeypatch.setattr("summeval_nb.shell._presses", 1)
    assert leave("score", "bleu", "pairs.jsonl") == 130
    assert capsys.readouterr().err == "summeval: interrupted\n"


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("stemmer=False", 0.25),
        ("stemmer=no", 0.25),
        ("stemmer=false", 0.25),
        ("stemmer=yes", 1.0),
        ("stemmer=True", 1.0),
    ],
)
def test_yes_and_no_are_flags(option, expected, place, capsys):
    row = {"candidate": "cats sitting running fast", "references": "cat sits runs fast"}
    Path("stems.jsonl").write_text(json.dumps(row))
    assert leave("score", "rouge", "stems.jsonl", "-o", option, "-o", 'types=["rouge1"]', "--json") == 0
    assert json.loads(capsys.readouterr().out)["mean"] == expected
    assert leave("run", "stems.jsonl", "--metric", "rouge", "-o", option, "-o", 'types=["rouge1"]', *RUN[4:], "o") == 0
    assert json.loads(Path("o/results.jsonl").read_text())["score"] == expected


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r"])
def test_only_a_newline_ends_a_line_as_for_sacrebleu(separator, place, capsys):
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU
    from sacrebleu.utils import smart_open

    made = [f"the cat{separator}sat on the mat", "it rained all day", f"{separator}no way at all"]
    wanted = ["the cat sat on the mat", "it rained for a day", "no way at all"]
    for name, texts in (("made.txt", made), ("wanted.txt", wanted)):
        Path(name).write_bytes("".join(f"{text}\n" for text in texts).encode())
    read = [list(smart_open(name)) for name in ("made.txt", "wanted.txt")]
    assert leave("score", "bleu", "made.txt", "wanted.txt", "--json") == 0
    expected = BLEU().corpus_score(read[0], [read[1]]).score
    assert json.loads(capsys.readouterr().out)["score"] == pytest.approx(expected, abs=1e-9)
    types = ["rouge1", "rouge2", "rougeL"]
    assert leave("score", "rouge", "made.txt", "wanted.txt", "--json", "-o", f"types={json.dumps(types)}") == 0
    scorer, found = RougeScorer(types), json.loads(capsys.readouterr().out)["rows"]
    lines = [Path(name).read_bytes().decode().removesuffix("\n").split("\n") for name in ("made.txt", "wanted.txt")]
    assert [len(line) for line in lines] == [3, 3]
    for i, (candidate, reference) in enumerate(zip(*lines, strict=True)):
        for kind, wanted in scorer.score(reference, candidate).items():
            mine = [found[i][f"{kind}_{part}"] for part in ("precision", "recall", "f1")]
            assert mine == pytest.approx([*wanted], abs=1e-12), (i, kind)


def test_no_bar_is_drawn_where_standard_error_is_no_terminal(place, capsys):
    rows = [{"candidate": "a b", "references": "a"}] * 5001  # counted in two batches
    Path("many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert leave("score", "rouge", "many.jsonl", "-o", 'types=["rouge1"]') == 0
    assert capsys.readouterr().err == ""


HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m\x7f"


def test_no_text_commands_the_terminal(place, capsys):
    """In names of columns, texts, ids, file names and arguments."""
    obeyed = set("\x1b\x07\u202e\x9b\x7f")
    row = {HOSTILE: 1, "article": HOSTILE, "system": HOSTILE, "metric": "1", "human": "x"}
    Path("rated.jsonl").write_text(json.dumps(row) + "\n")
    Path("bad.jsonl").write_text(json.dumps({HOSTILE: 1}) + "\n" + PAIR.decode())
    Path("article.txt").write_text(f"The bridge {HOSTILE} opened in 1931. It is long.")
    Path("summary.txt").write_text(f"The bridge {HOSTILE} opened in 1931. It {HOSTILE} is short.")
    Path(f"{HOSTILE}.txt").write_text("a")
    Path("asked.jsonl").write_text(json.dumps(dict.fromkeys(ASKED, f"{HOSTILE} sat.") | {"label": 1}) + "\n")
    ranked = [{**ASKED, "system": name} for name in (HOSTILE, "x")]
    Path("ranked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ranked))
    commands = [
        ["score", "bleu", "bad.jsonl"],
        ["correlate", "rated.jsonl"],
        ["correlate", "rated.jsonl", "--metric", HOSTILE, "--human", "metric"],
        ["score", "bleu", f"no{HOSTILE}.jsonl"],
        ["score", "bleu", "pairs.jsonl", "-o", f"{HOSTILE}=1"],
        ["score", "bleu", "pairs.jsonl", f"--{HOSTILE}"],
        *(["score", name, "bad.jsonl", "-o", f"{HOSTILE}=1"] for name in ("bleu", "meteor")),
        *(["score", name, "bad.jsonl", *(METEOR[3:] if name == "meteor" else [])] for name in ("bleu", "meteor")),
        ["score", "bertscore", "pairs.jsonl", "-o", f"model={HOSTILE[1:]}"],
        ["score", "meteor", "pairs.jsonl", "-o", f"tokenize={HOSTILE[1:]}"],
        [HOSTILE],
        [*EVALUATE],
        [*EVALUATE, "--json"],
        [*EVALUATE, "-o", f"embedder={HOSTILE}"],
        ["score", "context_recall", "asked.jsonl"],
        ["score", HOSTILE, "asked.jsonl"],
        ["compare", "asked.jsonl"],
        ["compare", "ranked.jsonl", "--rank"],
        ["annotators", "rated.jsonl", "--raters", f"{HOSTILE},article", "--level", "nominal"],
        ["annotators", "rated.jsonl", "--raters", "article,system", "--level", "nominal"],
        ["checker-bench", "--data", "rows:asked.jsonl"],
        ["checker-bench", "--data", f"{HOSTILE}:asked.jsonl"],
        ["judge-bench", "--judge", HOSTILE],
        ["judge-bench", "--judge", "words", "--set", HOSTILE],
        ["run", "bad.jsonl", *RUN[2:], f"out{HOSTILE[1:]}"],
        ["report", f"out{HOSTILE[1:]}"],
    ]
    for arguments in commands:
        leave(*arguments)
        said = capsys.readouterr()
        assert said.out + said.err and not obeyed & set(said.out + said.err), arguments
    data = json.loads((leave(*EVALUATE, "--json"), capsys.readouterr().out)[1])
    assert HOSTILE in data["source"], "as data it is what it was"


def test_a_warning_is_one_line_too(place, capsys):
    Path("made.txt").write_text("ქართული\n")
    Path("wanted.txt").write_text("ქართული\n")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert leave("score", "rouge", "made.txt", "wanted.txt") == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("summeval: warning: the tokenizer 'rouge' left no token")


def through_a_shell(line: str, cwd: Path) -> subprocess.CompletedProcess:
    words = line.replace("summeval", f"{sys.executable} -m summeval_nb", 1)
    return subprocess.run(["sh", "-c", words], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)


STREAMS = {
    "summeval score bleu - <&-": (2, "standard input is closed"),
    "summeval score bleu pairs.jsonl >&-": (2, "standard output is closed"),
    "summeval score bleu pairs.jsonl 2>&-": (0, ""),
    "summeval score bleu nowhere.jsonl 2>&-": (2, ""),
    "summeval score bleu pairs.jsonl >/dev/full": (2, "cannot write to standard output: No space left on device"),
    "summeval --version >/dev/full": (2, "cannot write to standard output: No space left on device"),
    "summeval --help >/dev/full": (2, "No space left on device"),
    "summeval score bleu nowhere.jsonl 2>/dev/full": (2, ""),
}


@pytest.mark.parametrize("line", STREAMS)
def test_streams_that_are_closed_or_full(line, place):
    code, message = STREAMS[line]
    done = through_a_shell(line, place)
    assert done.returncode == code, done
    assert message in done.stderr and len(done.stderr.splitlines()) == (1 if message else 0), done.stderr


def test_a_reader_that_goes_away_is_no_fault(place):
    done = through_a_shell("{ summeval score bleu pairs.jsonl; echo $? >&2; } | true", place)
    assert done.stderr.strip() == "141", done


INTERRUPTED = """
import os, signal, sys, threading, time
from summeval_nb import __main__ as start

import nltk
seconds = float(sys.argv.pop(1))
signal.signal(signal.SIGINT, signal.default_int_handler)
def press():
    while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        time.sleep(0.001)
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
start.main()
"""


@pytest.mark.parametrize("seconds", [0, 0.02, 0.1, 0.2, 0.5, 1, 3])
def test_ctrl_c_is_heeded_from_the_first_moment_on(seconds, place):
    """The command would run for minutes; wherever the signal meets it, imports included, it says so in one line."""
    lines = (PAIR.replace(b"cat", f"cat{number} ".encode() * 400) for number in range(12_000))  # none like another
    Path("many.jsonl").write_bytes(b"".join(lines))
    words = [sys.executable, "-c", INTERRUPTED, str(seconds), "score", "bleu", "many.jsonl", "-o", "n=100"]
    done = subprocess.run(words, cwd=place, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 130 and done.stderr == "summeval: interrupted\n", done


def test_a_job_that_is_deaf_to_ctrl_c_stays_so(place):
    """A shell starts background jobs so; a command must not take it back."""
    deaf = INTERRUPTED.replace("signal.default_int_handler", "signal.SIG_IGN")
    words = [sys.executable, "-c", deaf, "0.1", "score", "bleu", "pairs.jsonl"]
    done = subprocess.run(words, cwd=place, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.startswith("bleu"), done


def test_a_lost_manifest_is_named_with_the_option_to_mend_it(place, capsys):
    (place / "pairs.jsonl").write_bytes(PAIR * 5)
    command = [*RUN, "o", "--shard-size", "2"]
    assert leave(*command) == 0
    results, manifest = (place / "o/results.jsonl").read_bytes(), place / "o/manifest.json"
    manifest.write_bytes(bytes(manifest.stat().st_size))
    capsys.readouterr()
    for words in (command, ["report", "o"]):
        assert leave(*words) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "call run again with the same arguments and --recover, which writes" in said
    max((place / "o/shards").iterdir()).write_bytes(b"")
    assert leave(*command, "--recover") == 0
    told = capsys.readouterr()
    assert "the manifest was written anew: 2 shards kept, 1 scored again" in told.out and "is damaged" in told.err
    assert (place / "o/results.jsonl").read_bytes() == results
    assert leave(*command, "--recover", "--no-resume") == 2
    assert "--recover keeps what --no-resume would remove" in capsys.readouterr().err
    manifest.unlink()
    assert leave(*command, "--recover", "--json") == 0
    assert json.loads(capsys.readouterr().out)["recovered"]["shards_kept"] == 3
