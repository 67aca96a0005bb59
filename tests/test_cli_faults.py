"""No command meets its user with a traceback: one table of faults, each one line on standard error and its code."""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from helpers.late import Late

from summeval_nb import cli

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
        "m1/run.sqlite": os.urandom(4096),
        "m3/manifest.json": b"{}",
        "m3/shards/1": b"",
        "m5/config.json": b"{}",
        "m6/config.json": b"\xff\xfe",
        "m7/config.json": b'{"auto_map": {"AutoModel": "own.Own"}, "model_type": "\\u001b[2J"}',
        "m7/own.py": b"raise SystemExit(9)\n",
        "three.txt": b"a\nb\nc\n",
        "blank.txt": b" \n",
        "nul.txt": b"a\0b",
        "twice-rated.csv": b"article,system,metric,human\na,s,1,2\na,s,1,2\n",
        "alone.csv": b"article,metric,human\na,1,2\na,1,2\n",
        "words.csv": b"article,system,metric,human\na,s,high,2\na,t,1,2\n",
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
    return tmp_path


def leave(*arguments: str) -> int:
    """Run the command line in this process and return its exit code."""
    with pytest.raises(SystemExit) as leaving:
        cli.main(list(arguments))
    return leaving.value.code


EVALUATE = ["score", "faithfulness", "article.txt", "summary.txt"]
RUN = ["run", "pairs.jsonl", "--metric", "bleu", "--workers", "0", "--out"]
CHECKER_BENCH = ["bench", "--data", "rows:asked.jsonl"]
NOBODY = "llm:m@http://127.0.0.1:9/v1"
ASKED = {"question": "When?", "b": "It rained.", "label": 1}
ASKED |= dict.fromkeys(("contexts", "answer", "ground_truth", "a", "article", "sentence"), "It opened.")
METEOR = ["score", "meteor", "pairs.jsonl", "-o", "synonyms=null"]  # by itself it needs nltk's WordNet
FAULTS = r"""
$EVALUATE --store store.sqlite  =>  its beginning is damaged
$RUN o --store store.sqlite  =>  its beginning is damaged
score bleu cut.jsonl.gz  =>  not a whole gzip file
score bleu twice.csv  =>  names a column twice
score rouge cr.csv  =>  line 1 of the CSV holds a carriage return
score bleu quote.csv  =>  line 3 of the CSV opens a quote
report pairs.jsonl  =>  is no folder
report m1  =>  is not the file of a run, or is damaged
report m3  =>  holds no run: it is of an earlier version
$RUN m3  =>  a run of an earlier version, which is not continued
run pairs.jsonl --metric bleu --workers 1 --out o --timeout inf  =>  timeout must be
score bleu pairs.jsonl -o n=1000000000  =>  n must be at most 100
score bleu deep.jsonl  =>  nested too deeply
score rouge pairs.jsonl -o stemmer=maybe  =>  stemmer must be True or False
$EVALUATE --html article.txt  =>  would overwrite a file that is not of summeval
report m1 --html m1/run.sqlite  =>  would overwrite a file that is not of summeval
score bleu pairs.jsonl --html summary.txt  =>  would overwrite a file that is not of summeval
demo --html summary.txt  =>  would overwrite a file that is not of summeval
correct rated.csv --draw 1 --out rated.csv  =>  overwrite what is read
correct pairs.jsonl -o verdict=id --draw 1 --out pipe  =>  there is no file pipe
bench --judge words --store s.sqlite --html s.sqlite  =>  would overwrite the store
bench --data rows:no.jsonl.gz  =>  not a whole gzip file
annotators rated.csv --raters a,b -o level=interval -o n_resamples=1000000000  =>  n_resamples must be at most
annotators rated.csv --raters a, -o level=interval  =>  there is no ''
bench --judge words --set nothing  =>  unknown set
bench --data rows:  =>  FORMAT:FILE
score bleu pairs.jsonl --html /dev/full  =>  cannot write '/dev/full': No space left
$EVALUATE -o splitter=stanza  =>  stanza.download
score chrf pairs.jsonl -o beta=NaN  =>  beta must lie between 0 and 1000, not nan
score meteor pairs.jsonl -o synonyms=5  =>  synonyms must be 'wordnet', None or a mapping
score meteor pairs.jsonl -o synonyms=null -o tokenize=words  =>  unknown tokenizer 'words'
score bertscore pairs.jsonl -o model=nowhere  =>  nothing is downloaded
score bertscore pairs.jsonl -o model=m7  =>  m7' cannot be loaded:
score bleu no-such.jsonl  =>  there is no file 'no-such.jsonl'
score faithfulness no-such.txt summary.txt  =>  text: there is no file 'no-such.txt'
score faithfulness blank.txt summary.txt  =>  is empty
score faithfulness article.txt store.sqlite  =>  summary:
score faithfulness article.txt nul.txt  =>  binary
score faithfulness - -  =>  only one
$EVALUATE -o k=0  =>  k must be at least 1, not 0
$EVALUATE -o splitter=x  =>  unknown splitter
$EVALUATE -o treshold=.5  =>  did you mean 'threshold'?
evaluat  =>  evaluat
$EVALUATE --no-such  =>  no option 'no_such'
score faithfulness  =>  name a table after the metrics
$EVALUATE --html no/x.html  =>  cannot write
demo --number 99  =>  between 1 and
run pairs.jsonl --out o  =>  metric
run pairs.jsonl --metric blue --out o  =>  known: 'length', 'bleu'
score bleu pairs.jsonl -o n  =>  NAME=VALUE
score bleu pairs.jsonl --column candidate=a --column candidate=a  =>  twice: give it once
score bleu pairs.jsonl --column candidate=made  =>  there is: id, candidate
$RUN o --column candidate=made  =>  there is no 'made'; there is: id, candidate
$RUN /proc/no  =>  cannot write into
report .  =>  holds no run
score bleu article.txt --format csv  =>  holds no rows
score bleu article.txt  =>  pass --format jsonl
correlate twice-rated.csv  =>  two rows for article
correlate alone.csv  =>  two rows for article 'a' and no column 'system'
correlate words.csv  =>  could not convert
score answers asked.jsonl -o judge=gpt:4  =>  judge cannot be 'gpt'
run pairs.jsonl --metric bleu --out o --engine ray --address 127.0.0.1:1  =>  ray start --head
run pairs.jsonl --metric bleu --out o --timeout -1  =>  timeout must be more than 0
score chrf article.txt summary.txt --html summary.txt  =>  would overwrite a file that is not
score chrf article.txt nowhere.txt  =>  there is no file 'nowhere.txt'
score chrf article.txt three.txt  =>  the same number of lines
score chrf article.txt store.sqlite  =>  store.sqlite
score chrf m1 article.txt  =>  is a folder; name a text file
"""  # a command, and words of its one line
DEEP_OPTION = f"score bleu pairs.jsonl -o smooth={'[' * 5000}"


def test_a_fault_is_one_line_and_code_2(place, capsys):
    from summeval_nb.models.store import Store

    Store("good.sqlite").close()
    before = {path: path.read_bytes() for path in place.rglob("*.*") if path.is_file()}
    known = {"$EVALUATE": " ".join(EVALUATE), "$RUN": " ".join(RUN)}
    faults = [line.split("  =>  ") for line in FAULTS.strip().splitlines()]
    for fault, message in [*faults, [DEEP_OPTION, "unknown smooth"]]:
        words = shlex.split(re.sub(r"\$[A-Z]+", lambda found: known[found[0]], fault))
        assert leave(*words) == 2, fault
        said = capsys.readouterr().err.strip().splitlines()
        assert message in said[-1] and said[-1].startswith("summeval: "), (fault, said)
        assert all(line.startswith(("summeval: left out:", "summeval: warning:")) for line in said[:-1]), (fault, said)
        assert {path: path.read_bytes() for path in before} == before, f"no input was touched: {fault}"


def test_what_a_metric_lacks_is_said_and_the_others_score(place, capsys):
    assert leave("score", "chrf", "meteor", "pairs.jsonl", "--json") == 0
    said = capsys.readouterr()
    assert "run python -m nltk.downloader wordnet once, or pass -o synonyms=None" in said.err
    found = json.loads(said.out)
    assert found["meteor"]["mean"] is None and found["meteor"]["n_undefined"] == 1 and found["chrf"]["score"] > 0


def test_what_nobody_expected_is_one_line_and_code_70(place, capsys, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise KeyError("no such thing")

    monkeypatch.setattr("summeval_nb.cli._read", broken)
    assert leave("score", "bleu", "pairs.jsonl") == 70
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("summeval: unexpected KeyError: 'no such thing'") and "SUMMEVAL_TRACEBACK=1" in line
    monkeypatch.setenv("SUMMEVAL_TRACEBACK", "1")
    with pytest.raises(KeyError):
        cli.main(["score", "bleu", "pairs.jsonl"])


def test_a_server_that_is_down_scores_nothing_and_says_so(place, capsys):
    for arguments in (
        [*EVALUATE, "-o", f"checker={NOBODY}"],
        ["score", "context_recall", "asked.jsonl", "-o", f"judge={NOBODY}"],
        ["compare", "asked.jsonl", "--judge", NOBODY],
        ["bench", "--judge", NOBODY, "--set", "pairs"],
        [*CHECKER_BENCH, "--checker", NOBODY],
    ):
        assert leave(*arguments) == 3, arguments
        said = capsys.readouterr()
        shown = " ".join((said.out + said.err).split())
        assert "is it running" in shown and "failed" in shown, arguments


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ImportError("of a library that was interrupted")])
def test_an_interrupt_is_code_130_whatever_a_library_does(error, place, capsys, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("summeval_nb.cli._read", interrupted)
    monkeypatch.setattr("summeval_nb.shell._presses", 1)
    assert leave("score", "bleu", "pairs.jsonl") == 130
    assert capsys.readouterr().err == "summeval: interrupted\n"


def test_yes_and_no_are_flags(place, capsys):
    Path("stems.jsonl").write_text(
        json.dumps({"candidate": "cats sitting running fast", "references": "cat sits runs fast"})
    )
    for option, expected in (("no", 0.25), ("False", 0.25), ("yes", 1.0), ("true", 1.0)):
        words = ("-o", f"stemmer={option}", "-o", 'types=["rouge1"]')
        assert leave("score", "rouge", "stems.jsonl", *words, "--json") == 0
        assert json.loads(capsys.readouterr().out)["mean"] == expected
    assert leave("run", "stems.jsonl", "--metric", "rouge", *words, *RUN[4:], "o") == 0
    assert json.loads(Path("o/results.jsonl").read_text())["score"] == 1.0


def test_only_a_newline_ends_a_line_as_for_sacrebleu(place, capsys):
    from sacrebleu.metrics import BLEU
    from sacrebleu.utils import smart_open

    for separator in "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\r":
        made = [f"the cat{separator}sat on the mat", "it rained all day", f"{separator}no way at all"]
        wanted = ["the cat sat on the mat", "it rained for a day", "no way at all"]
        for name, texts in (("made.txt", made), ("wanted.txt", wanted)):
            Path(name).write_bytes("".join(f"{text}\n" for text in texts).encode())
        read = [list(smart_open(name)) for name in ("made.txt", "wanted.txt")]
        assert leave("score", "bleu", "made.txt", "wanted.txt", "--json") == 0
        expected = BLEU().corpus_score(read[0], [read[1]]).score
        assert json.loads(capsys.readouterr().out)["score"] == pytest.approx(expected, abs=1e-9), separator


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
        ["annotators", "rated.jsonl", "--raters", f"{HOSTILE},article", "-o", "level=nominal"],
        ["annotators", "rated.jsonl", "--raters", "article,system", "-o", "level=nominal"],
        ["bench", "--data", "rows:asked.jsonl"],
        ["bench", "--data", f"{HOSTILE}:asked.jsonl"],
        ["bench", "--judge", HOSTILE],
        ["bench", "--judge", "words", "--set", HOSTILE],
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


def test_streams_that_are_closed_or_full(place):
    for line, (code, message) in STREAMS.items():
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


@pytest.mark.parametrize("seconds", [0, 0.1, 0.5, 3])
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
    assert done.returncode == 0 and done.stdout.splitlines()[1].startswith("bleu"), done
