"""The command line: every way in gives the numbers of Python, every way out is whole, every mistake is one line."""

import gzip
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.late import Late

import summeval_nb as s
from summeval_nb import cli
from summeval_nb.agreement.registry import METRICS, find_metric, load_metric
from summeval_nb.core.results import ScoreTable

nltk = Late("nltk")
ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "STANZA_RESOURCES_DIR": "/nonexistent"}
ENVIRONMENT |= {"NLTK_DATA": "/nonexistent"}
NOBODY = "llm:m@http://127.0.0.1:9/v1"
NAMES = ["bleu", "chrf", "ter", "meteor", "bertscore"]
WHOLE = {"bleu", "chrf", "ter"}  # scored as one corpus
PLAIN = {"meteor": {"synonyms": None}}  # by itself it needs nltk's WordNet
CANDIDATES = ["the cats sat on a mat", "er ist nicht gekommen", "猫坐在垫子上", "كان الطقس جميلا", "Он не пришёл."]
FIRST = ["the cat sat on the mat", "er ist gekommen", "一只猫坐在垫子上", "كان الطقس باردا", "Он пришёл."]
SECOND = ["a cat is on the mat", "er kam nicht", "垫子上坐着猫", "الطقس كان جميلا", "Он так и не пришёл."]
GROUPS = [list(group) for group in zip(FIRST, SECOND, strict=True)]
OPTIONS = {
    "bleu": [{"n": 2}, {"tokenize": "zh"}, {"smooth": "floor", "smooth_value": 0.2}, {"lowercase": True}],
    "chrf": [{"char_order": 3, "word_order": 2}, {"beta": 1.5}, {"whitespace": True}, {"eps_smoothing": True}],
    "ter": [{"normalized": True, "asian_support": True}, {"no_punct": True}, {"case_sensitive": True}],
    "meteor": [{"synonyms": {"mat": ["carpet"]}}, {"tokenize": "char"}, {"alpha": 0.5, "beta": 1, "gamma": 0.25}],
    "bertscore": [{"layer": 2}, {"idf": True}, {"baseline": 0.3}],
}


def write_rows(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the same texts as plain files, as tables and with columns of other names."""
    monkeypatch.chdir(tmp_path)
    for name, texts in (("made.txt", CANDIDATES), ("first.txt", FIRST), ("second.txt", SECOND)):
        Path(name).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    pairs = enumerate(zip(CANDIDATES, GROUPS, strict=True))
    write_rows("pairs.jsonl", [{"id": i, "candidate": c, "references": r} for i, (c, r) in pairs])
    lines = Path("pairs.jsonl").read_text().splitlines(keepends=True)
    Path("cut.jsonl").write_text(lines[0] + lines[1][:20] + "\n" + lines[2])
    table = ["made,one,two", *(f"{c},{a},{b}" for c, (a, b) in zip(CANDIDATES, GROUPS, strict=True))]
    Path("named.csv").write_text("\n".join(table) + "\n", encoding="utf-8")
    Path("article.txt").write_text("The bridge opened in 1931. It is 1,149 metres long. Cars cross it.")
    Path("summary.txt").write_text("The bridge was opened in 1931. It is 5,000 metres long.")
    return tmp_path


@pytest.fixture
def summeval(capsys, monkeypatch):
    """The command in this process: what it printed, and the lines that it said beside warnings."""

    def run(*arguments, code=0, stdin=None, warnings=False):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as left:
            cli.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        assert (left.value.code or 0) == code, said
        # texts in five languages: what a metric does not read of them is not the case here
        lines = said.err.splitlines(keepends=True)
        kept = [line for line in lines if warnings or not line.startswith("summeval: warning:")]
        return SimpleNamespace(out=said.out, err="".join(kept))

    return run


def words_of(name, **choices):
    given = PLAIN.get(name, {}) | choices
    return [w for k, v in given.items() for w in ("-o", f"{k}={v if isinstance(v, str) else json.dumps(v)}")]


def in_python(name, candidates=CANDIDATES, groups=GROUPS, *, each=False, **choices):
    metric = load_metric(name, **(PLAIN.get(name, {}) | choices))
    score = metric.corpus if name in WHOLE and not each else metric.score_many
    return score(candidates, groups)


def same(text, result):
    return json.loads(text, parse_constant=pytest.fail) == json.loads(json.dumps(result.to_dict()))


# ---------------------------------------------------------------- score


@pytest.mark.parametrize("name", NAMES)
def test_every_way_in_and_every_option_gives_the_numbers_of_python(name, place, summeval):
    score = lambda *words, **more: summeval("score", name, *words, *words_of(name), **more)
    plain, wanted = ("made.txt", "first.txt", "second.txt"), in_python(name)
    for words in (
        ("pairs.jsonl",),
        plain,
        ("named.csv", "--column", "candidate=made", "--column", 'references=["one", "two"]'),
    ):
        done = score(*words, "--json")
        assert same(done.out, wanted) and not done.err, words
    assert same(score("-", "--json", stdin=Path("pairs.jsonl").read_text()).out, wanted)
    each = in_python(name, each=True)
    assert same(score("pairs.jsonl", "--each", "--json").out, each)
    cells = [line.split() for line in score("pairs.jsonl", "--each").out.splitlines()[1:-1]]
    assert [cell[0] for cell in cells] == [f"{float(score):.4f}" for score in each.scores]
    number = wanted.mean() if isinstance(wanted, ScoreTable) else wanted.score
    done = score("pairs.jsonl", "--html", "page.html")
    lines = done.out.splitlines()
    assert lines[0].split() == ["metric", "measure", "value", "low", "high", "n", "undefined"]
    value, low, high = lines[1].split()[2:5]
    assert value == f"{number:.4f}" and float(low) <= float(value) <= float(high)
    assert done.err == "written to page.html\n" and lines[-1] == str(wanted.signature)
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") and name[:3] in page.lower() and "<script" not in page
    for choices in OPTIONS[name]:
        found, words = in_python(name, **choices), ("score", name, *plain, *words_of(name, **choices))
        assert same(summeval(*words, "--json").out, found)
        assert summeval(*words).out.splitlines()[-1] == str(found.signature) != str(wanted.signature)


def test_rows_that_cannot_be_read_and_texts_without_a_score(place, summeval):
    done = summeval("score", "bleu", "cut.jsonl", "--json", code=3)
    assert same(done.out, in_python("bleu", [CANDIDATES[0], CANDIDATES[2]], [GROUPS[0], GROUPS[2]]))
    named, counted = done.err.splitlines()
    assert named.startswith("summeval: left out: at 2: not JSON") and "1 of 3 rows failed" in counted
    empty, full = {"candidate": "", "references": ""}, {"candidate": "a b", "references": "a b"}
    write_rows("empty.jsonl", [empty])
    write_rows("some.jsonl", [empty, full])
    for name in NAMES:
        score = lambda *words, name=name: summeval("score", name, *words, *words_of(name)).out.splitlines()
        lines = score("empty.jsonl")
        assert lines[1].split()[2] == "–" and "nan" not in "".join(lines).lower()
        assert lines[-2].startswith(f"{lines[1].split()[1]}: ") and len(lines[-2]) > 15, "and why"
        assert score("empty.jsonl", "--each")[1].split()[0] == "–"
        assert score("some.jsonl")[1].split()[-1] == ("0" if name in WHOLE else "1"), "undefined, and left out"
    Path("gaps.csv").write_text("summary,reference\na b,a b\na,\n")  # an empty cell is a row without a score
    assert summeval("score", "rouge1", "gaps.csv").out.splitlines()[1].split()[-1] == "1"
    assert "of 1 of 2 rows: a cell is empty in 1" in summeval("score", "bleu", "gaps.csv").err
    each = summeval("score", "rouge1", "bleu", "gaps.csv", "--each", "--csv", "-").out.splitlines()
    assert each[0].endswith(",reason") and each[2].strip(",") == "references is missing in this row"


def test_several_metrics_are_one_table(place, summeval):
    out = summeval("score", "rouge", "bleu", "chrf", "pairs.jsonl").out.splitlines()
    assert out[0].split() == ["metric", "measure", "value", "low", "high", "n", "undefined"]
    assert [line.split()[0] for line in out[1:15]] == ["rouge"] * 12 + ["bleu", "chrf"]
    value, low, high = map(float, out[13].split()[2:5])
    assert low <= value <= high and value == pytest.approx(in_python("bleu").score, abs=1e-4)
    csv = summeval("score", "rougeL", "chrf", "pairs.jsonl", "--each", "--csv", "-").out.splitlines()
    rouge, chrf = (in_python(name, each=True) for name in ("rougeL", "chrf"))
    wanted = [*rouge.arrays().values(), chrf.scores]
    assert csv[0] == "rougeL_f1,rougeL_precision,rougeL_recall,chrf,reason"
    for line, row in zip(csv[1:], zip(*wanted, strict=True), strict=True):
        assert line.split(",")[:4] == ["" if value != value else repr(float(value)) for value in row]
    told = json.loads(summeval("score", "bleu", "chrf", "pairs.jsonl", "--json", "-o", "lowercase=yes").out)
    alone = {name: in_python(name, lowercase=True).score for name in ("bleu", "chrf")}
    assert {name: part["score"] for name, part in told.items()} == alone, "an option goes to each metric that has it"
    for words, message in (
        (("bleu", "chrf", "pairs.jsonl", "-o", "betta=1"), "bleu, chrf has no option 'betta', did you mean 'beta'?"),
        (("bleu", "length", "made.txt", "first.txt"), "read different columns"),
    ):
        assert message in summeval("score", *words, code=2).err


def test_results_go_to_standard_output_and_take_the_place_of_no_other_file(place, summeval):
    page = summeval("score", "bleu", "pairs.jsonl", "--html", "-")
    assert page.out.startswith("<!DOCTYPE html>") and page.out.endswith("</html>\n") and not page.err
    assert "| order |" in summeval("score", "bleu", "-", "--markdown", "-", stdin=Path("pairs.jsonl").read_text()).out
    assert "only one" in summeval("score", "bleu", "pairs.jsonl", "--html", "-", "--csv", "-", code=2).err
    for option, name in (("--csv", "a.csv"), ("--markdown", "a.md"), ("--html", "a.html")):
        for _ in range(2):  # ours is written anew
            assert summeval("score", "bleu", "pairs.jsonl", "--each", option, name).err == f"written to {name}\n"
        mine = Path(f"mine{name}")
        mine.write_text("metric,grade\n" if option == "--csv" else "<!DOCTYPE html><title>mine</title>")
        for path in (mine, Path("pairs.jsonl")):
            before = path.read_bytes()
            assert "not of summeval" in summeval("score", "bleu", "pairs.jsonl", option, path, code=2).err
            assert path.read_bytes() == before
    assert "| bleu |" in Path("a.md").read_text()
    summeval("score", "bleu", "pairs.jsonl", "--html", "nowhere/page.html", code=2)
    Path("one.txt").write_text("a dog\n")
    summeval("score", "bleu", "made.txt", "one.txt", code=2)  # files of different lengths are no pairs


def test_columns_are_found_under_what_people_call_them(place, summeval):
    Path("usual.csv").write_text("summary,reference\nthe cat sat,the cat ran\n")
    Path("both.csv").write_text("summary,prediction,reference\nthe cat sat,a dog,the cat ran\n")
    wanted = summeval("score", "rouge", "usual.csv").out
    err = summeval("score", "rouge", "both.csv", code=2).err
    assert "'summary' and 'prediction' can both be the column candidate" in err
    assert err.endswith("say which with --column candidate=summary\n") and "columns={" not in err
    assert summeval("score", "rouge", "both.csv", "--column", "candidate=summary").out == wanted
    err = summeval("score", "bleu", "rouge", "both.csv", "--column", "made=summary", code=2).err
    assert "unknown column 'made'; known: 'candidate', 'references'" in err


def test_a_file_for_each_column_is_one_text_each(place, summeval):
    texts = {"contexts": "It rained all day.\nA cat sat.", "question": "How was it?", "ground_truth": "It rained."}
    texts["answer"] = "It rained all day."
    for name, text in texts.items():
        Path(f"{name}.txt").write_text(text + "\n", encoding="utf-8")
    out = summeval("score", "answers", *(f"{name}.txt" for name in texts), "--json").out
    assert same(out, s.evaluate_answer(*(f"{text}\n" for text in texts.values())))
    pair = ["article.txt", "summary.txt"]
    done = summeval("score", "faithfulness", *pair, "-o", "k=2", "--store", "kept.sqlite", "--html", "a.html")
    wanted = s.evaluate(Path(pair[0]).read_text(), Path(pair[1]).read_text(), 2)
    assert done.out == f"{wanted.to_text()}\n" and Path("kept.sqlite").exists() and "\x1b" not in done.out
    assert "Faithfulness report" in Path("a.html").read_text(encoding="utf-8")
    assert summeval("score", "faithfulness", *pair, "--each").out.splitlines()[1].split()[0] == f"{wanted.score:.4f}"
    err = summeval("score", "faithfulness", *pair, "made.txt", code=2).err
    assert "faithfulness reads text, summary: give one table, or 2 plain files, not 3" in err
    for given in (["--column", "text=a"], ["--format", "csv"]):
        err = summeval("score", "faithfulness", *pair, *given, code=2).err
        assert err.count("\n") == 1 and f"{given[0]} would say how a table is read" in err


def test_failed_judgements_are_counted_with_code_3(place, summeval):
    write_rows("rows.jsonl", [{"text": "It rained.", "summary": "It rained. A cat sat."}])
    done = summeval("score", "faithfulness", "rows.jsonl", "-o", f"checker={NOBODY}", code=3)
    assert "is it running" in done.out
    assert done.out.splitlines()[1].split()[2] == "–"
    assert done.err.endswith("summeval: 2 judgements failed and are in no score\n")


def test_help_and_messages_of_every_metric(summeval):
    for name in METRICS:
        out, (kind, fixed) = summeval("metrics", name).out, find_metric(name)
        assert f"{name}  {', '.join(kind.columns)}  " in re.sub(" {2,}", "  ", out)
        assert re.findall(r"^(\w+)  ", out.partition("default\n")[2], re.M) == [
            option for option in kind.defaults() if option not in {"store", *fixed}
        ]
        told = json.loads(summeval("metrics", name, "--json").out)
        assert told["metric"] == name and len(told["options"]) == out.partition("default\n")[2].count("\n")
        err = summeval(name, "table.jsonl", code=2).err
        assert err == f"summeval: {name} is a metric: call summeval score {name}\n"
    err = summeval("score", "rouge", "no.jsonl", "-o", "stemer=1", code=2).err
    assert "rouge has no option 'stemer', did you mean 'stemmer'?" in err and err.count("\n") == 1
    err = summeval("evaluate", "article.txt", "summary.txt", code=2).err
    assert err == "summeval: evaluate is the metric faithfulness: call summeval score faithfulness\n"
    assert "-o judge=..." in summeval("score", "rating", "table.jsonl", code=2).err
    assert summeval("metrics").out == f"{s.list_metrics()!r}\n"
    assert json.loads(summeval("metrics", "--json").out) == s.list_metrics().to_dict()


# ---------------------------------------------------------------- the other commands


def test_every_command_has_help_with_an_example(summeval):
    listed = " ".join(summeval("--help").out.split())
    assert "Score texts with metrics by their names." in listed and summeval().out == summeval("-h").out
    assert "..." not in listed.partition("Commands:")[2] and summeval("--version").out.startswith("summeval ")
    names = [command.name for command in cli.app.registered_commands]
    assert names[:2] == ["score", "metrics"] and len(names) == 14
    for name in names:
        assert f"Example: summeval {name}" in summeval(name, "--help").out


@pytest.mark.nightly
def test_demo_says_where_its_checker_is_wrong_or_unclear(place, summeval):
    for number, sample in enumerate(s.sample_articles(), 1):
        out = summeval("demo", "--number", number).out
        expected = []
        for summary in sample.summaries.values():
            verdicts = s.evaluate(sample.text, summary.text).verdicts
            for true, why, verdict in zip(summary.supported, summary.notes, verdicts, strict=True):
                if verdict.state != ("supported" if true else "contradicted"):
                    opening = "Unclear to the checker" if verdict.state == "unclear" else "The checker is wrong"
                    expected.append(f"{opening}; its author knows: {'true' if true else f'false: {why}'}")
        printed, end = " ".join(out.split()), 0  # lines are folded
        for line in expected:
            end = printed.index(line, end) + len(line)
        assert printed.count("author knows") == len(expected) and Path("summeval-demo.html").is_file()


@pytest.mark.nightly
def test_run_report_and_the_gate(place, summeval):
    rows = [{"id": i, "candidate": f"the cat sat {i}", "references": f"the cat sat {i}"} for i in range(12)]
    tables = {"good": rows, "bad": [{**row, "candidate": "the cat sat down"} for row in rows], "few": rows[:3]}
    tables |= {"ter_good": rows, "ter_bad": tables["bad"]}
    for name, listed in tables.items():
        write_rows(f"{name}.jsonl", listed)
        done = summeval("run", f"{name}.jsonl", "--metric", "ter" if "ter" in name else "bleu", "--out", name)
        assert not done.err, "no progress bar where standard error is no terminal"
    gate = lambda name, other, *more, code=0: summeval(
        "report", name, "--other", other, "--fail-on-regression", *more, code=code
    )
    worse = gate("bad", "good", "--markdown", "gate.md", "--html", "gate.html", code=1)
    assert worse.err.count("a regression: On 12 common items bad scores lower") == 1
    assert r"| common\_items |" in Path("gate.md").read_text() and "bad against good" in Path("gate.html").read_text()
    gate("good", "bad"), gate("bad", "good", "--margin", 90), gate("ter_good", "ter_bad")
    gate("ter_bad", "ter_good", code=1)
    assert "too few items" in gate("few", "good", code=2).err
    gate("bad", "ter_good", code=2), gate("bad", "good", "--margin", -1, code=2)
    assert "--other" in summeval("report", "bad", "--fail-on-regression", code=2).err


def test_failures_are_code_3_and_a_dry_run_scores_nothing(place, summeval):
    Path("pairs.jsonl").write_text(Path("pairs.jsonl").read_text() + '{"candidate": 7, "references": "x"}\n')
    words = ("run", "pairs.jsonl", "--metric", "bleu", "--out", "out", "--workers", 0)
    counts = dict(line.split()[:2] for line in summeval(*words, "--dry-run").out.splitlines()[1:6])
    assert counts == {"items": "6", "scored": "0", "to_score": "6", "unreadable": "1", "sample": "5"}
    assert not Path("out").exists()
    done = summeval(*words, code=3)
    assert "1 of 6 items failed" in done.err and done.err.count("\n") == 1


def test_correlate_and_annotators(place, summeval):
    rated = Path("rated.csv")
    cells = [f"{a},{i},{i},{i * i}" for a in range(3) for i in range(5)]
    rated.write_text("\n".join(["article,system,metric,human", *cells]) + "\n")
    words = ("correlate", "rated.csv", "-o", "n_resamples=0", "--json")
    assert json.loads(summeval(*words).out)["score"] == 1.0
    rated.write_text("article,system,metric,human\n1,x,0.5,1\n1,y,,2\n2,y,3,4\n2,x,1,NA\n")
    assert json.loads(summeval(*words, "-o", "level=pooled").out)["score"] == 1.0, "an empty cell and NA are absent"
    rated.write_text("metric,human\n1,2\n2,4\n,4\n3,9\n")
    told = json.loads(summeval(*words).out)
    assert told["score"] == 1.0 and "level:pooled" in told["signature"]
    words = ("annotators", "rated.csv", "--raters", "metric,human")
    assert "level" in summeval(*words, code=2).err and "alpha" in summeval(*words, "-o", "level=ordinal").out


def test_an_option_of_the_metric_goes_by_its_own_name(place, summeval):
    by_name = ("--char-order", "3", "--whitespace", "pairs.jsonl"), ("pairs.jsonl", "--char-order=3", "--whitespace")
    with_o = summeval("score", "chrf", "pairs.jsonl", "-o", "char_order=3", "-o", "whitespace=true").out
    assert summeval("score", "chrf", *by_name[1]).out == with_o != summeval("score", "chrf", "pairs.jsonl").out
    assert "name a table" in summeval("score", "chrf", *by_name[0], code=2).err  # what follows a flag is its value
    assert "compat" in summeval("score", "rouge", "pairs.jsonl", "--compat", "perl", code=2).err
    assert "No such option: --jsn" in summeval("score", "chrf", "pairs.jsonl", "--jsn", code=2).err


# ---------------------------------------------------------------- faults: one line on standard error, and its code

PAIR = b'{"id": 1, "candidate": "the cat sat", "references": "the cat sat"}\n'
ASKED = {"question": "When?", "b": "It rained.", "label": 1}
ASKED |= dict.fromkeys(("contexts", "answer", "ground_truth", "a", "article", "sentence"), "It opened.")
FILES = {
    "article.txt": b"The bridge opened in 1931. It is long.\n",
    "summary.txt": b"The bridge opened in 1931.\n",
    "pairs.jsonl": PAIR,
    "cut.jsonl.gz": gzip.compress(b"".join(b'{"candidate": "%d", "references": "a"}\n' % i for i in range(3000)))[
        :-300
    ],
    "twice.csv": b"candidate,candidate\na,b\n",
    "cr.csv": b"candidate,references\ra,b\r",
    "quote.csv": b'candidate,references\na,a\n"b,b\nc,c\nd,d\n',
    "deep.jsonl": b'{"candidate": ' + b"[" * 100_000 + b"\n",
    "store.sqlite": os.urandom(4096),
    "asked.jsonl": json.dumps(ASKED).encode() + b"\n",
    "rated.csv": b"a,b,c\n1,2,inf\n2,2,nan\n",
    "m1/run.sqlite": os.urandom(4096),
    "m3/manifest.json": b"{}",
    "m3/shards/1": b"",
    "m7/config.json": b'{"auto_map": {"AutoModel": "own.Own"}, "model_type": "\\u001b[2J"}',
    "m7/own.py": b"raise SystemExit(9)\n",
    "three.txt": b"a\nb\nc\n",
    "blank.txt": b" \n",
    "nul.txt": b"a\0b",
    "twice-rated.csv": b"article,system,metric,human\na,s,1,2\na,s,1,2\n",
    "words.csv": b"article,system,metric,human\na,s,high,2\na,t,1,2\n",
}


@pytest.fixture
def damaged(tmp_path, monkeypatch):
    """A folder with every kind of damaged input, as the working directory."""
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    for name in ("STANZA_RESOURCES_DIR", "NLTK_DATA"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setattr(nltk.data, "path", [])  # tables that this machine has, or that another test read, do not count
    return tmp_path


def leave(*arguments):
    """Run the command line in this process and return its exit code."""
    with pytest.raises(SystemExit) as leaving:
        cli.main(list(arguments))
    return leaving.value.code


EVALUATE = ["score", "faithfulness", "article.txt", "summary.txt"]
RUN = ["run", "pairs.jsonl", "--metric", "bleu", "--workers", "0", "--out"]
FAULTS = r"""
$EVALUATE --store store.sqlite  =>  its beginning is damaged
score bleu cut.jsonl.gz  =>  not a whole gzip file
score bleu twice.csv  =>  names a column twice
score rouge cr.csv  =>  line 1 of the CSV holds a carriage return
score bleu quote.csv  =>  line 3 of the CSV opens a quote
report pairs.jsonl  =>  is no folder
report m1  =>  is not the file of a run, or is damaged
report m3  =>  holds no run: there is no run.sqlite
$RUN m3  =>  is no run's folder and not empty
score bleu deep.jsonl  =>  nested too deeply
score rouge pairs.jsonl -o stemmer=maybe  =>  stemmer must be True or False
$EVALUATE --html article.txt  =>  would overwrite a file that is not of summeval
correct rated.csv --draw 1 --out rated.csv  =>  overwrite what is read
correct pairs.jsonl -o verdict=id --draw 1 --out pipe  =>  there is no file pipe
bench --judge words --store s.sqlite --html s.sqlite  =>  would overwrite the store
annotators rated.csv --raters a, -o level=interval  =>  there is no ''
score bleu pairs.jsonl --html /dev/full  =>  cannot write '/dev/full': No space left
$EVALUATE -o splitter=stanza  =>  stanza.download
score bertscore pairs.jsonl -o model=m7  =>  m7' cannot be loaded:
score bleu no-such.jsonl  =>  there is no file 'no-such.jsonl'
score faithfulness blank.txt summary.txt  =>  is empty
score faithfulness article.txt nul.txt  =>  binary
score faithfulness - -  =>  only one
evaluat  =>  evaluat
$EVALUATE --no-such  =>  no option 'no_such'
score faithfulness  =>  name a table after the metrics
run pairs.jsonl --out o  =>  metric
score bleu pairs.jsonl -o n  =>  NAME=VALUE
score bleu pairs.jsonl --column candidate=a --column candidate=a  =>  twice: give it once
score bleu pairs.jsonl --column candidate=made  =>  there is: id, candidate
score side_by_side pairs.jsonl  =>  say so with --column question=...
$RUN /proc/no  =>  cannot write into
score bleu article.txt  =>  pass --format jsonl
correlate twice-rated.csv  =>  two rows for article
correlate words.csv  =>  could not convert
run pairs.jsonl --metric bleu --out o --engine ray --address 127.0.0.1:1  =>  ray start --head
score chrf article.txt three.txt  =>  the same number of lines
score chrf m1 article.txt  =>  is a folder; name a text file
"""  # a command, and words of its one line


@pytest.mark.nightly
def test_a_fault_is_one_line_and_code_2(damaged, capsys):
    from summeval_nb.models.store import Store

    Store("good.sqlite").close()
    before = {path: path.read_bytes() for path in damaged.rglob("*.*") if path.is_file()}
    known = {"$EVALUATE": " ".join(EVALUATE), "$RUN": " ".join(RUN)}
    faults = [line.split("  =>  ") for line in FAULTS.strip().splitlines()]
    for fault, message in [*faults, [f"score bleu pairs.jsonl -o smooth={'[' * 5000}", "unknown smooth"]]:
        words = shlex.split(re.sub(r"\$[A-Z]+", lambda found: known[found[0]], fault))
        assert leave(*words) == 2, fault
        said = capsys.readouterr().err.strip().splitlines()
        assert message in said[-1] and said[-1].startswith("summeval: "), (fault, said)
        assert all(line.startswith(("summeval: left out:", "summeval: warning:")) for line in said[:-1]), (fault, said)
        assert {path: path.read_bytes() for path in before} == before, f"no input was touched: {fault}"


@pytest.mark.nightly
def test_what_a_metric_lacks_is_said_and_the_others_score(damaged, summeval):
    said = summeval("score", "chrf", "meteor", "pairs.jsonl", "--json", warnings=True)
    assert "run python -m nltk.downloader wordnet once, or pass -o synonyms=None" in said.err
    found = json.loads(said.out)
    assert found["meteor"]["mean"] is None and found["meteor"]["n_undefined"] == 1 and found["chrf"]["score"] > 0


@pytest.mark.nightly
def test_what_nobody_expected_and_an_interrupt_are_one_line(damaged, summeval, monkeypatch):
    def raises(error):
        monkeypatch.setattr("summeval_nb.cli._read", lambda *_: (_ for _ in ()).throw(error))
        return ["score", "bleu", "pairs.jsonl"]

    (line,) = summeval(*raises(KeyError("no such thing")), code=70).err.splitlines()
    assert line.startswith("summeval: unexpected KeyError: 'no such thing'") and "SUMMEVAL_TRACEBACK=1" in line
    with monkeypatch.context() as changed, pytest.raises(KeyError):
        changed.setenv("SUMMEVAL_TRACEBACK", "1")
        cli.main(["score", "bleu", "pairs.jsonl"])
    monkeypatch.setattr("summeval_nb.shell._presses", 1)
    for error in (KeyboardInterrupt(), ImportError("of a library that was interrupted")):
        assert summeval(*raises(error), code=130).err == "summeval: interrupted\n"


@pytest.mark.nightly
def test_a_server_that_is_down_scores_nothing_and_says_so(damaged, summeval):
    for arguments in (
        [*EVALUATE, "-o", f"checker={NOBODY}"],
        ["score", "context_recall", "asked.jsonl", "-o", f"judge={NOBODY}"],
        ["compare", "asked.jsonl", "--judge", NOBODY],
        ["bench", "--judge", NOBODY, "--set", "pairs"],
        ["bench", "--data", "rows:asked.jsonl", "--checker", NOBODY],
    ):
        said = summeval(*arguments, code=3)
        shown = " ".join((said.out + said.err).split())
        assert "is it running" in shown and "failed" in shown, arguments


@pytest.mark.nightly
def test_yes_and_no_are_flags_in_scores_and_runs(damaged, summeval):
    row = {"candidate": "cats sitting running fast", "references": "cat sits runs fast"}
    Path("stems.jsonl").write_text(json.dumps(row))
    for option, expected in (("no", 0.25), ("False", 0.25), ("yes", 1.0), ("true", 1.0)):
        words = ("-o", f"stemmer={option}", "-o", 'types=["rouge1"]')
        assert json.loads(summeval("score", "rouge", "stems.jsonl", *words, "--json").out)["mean"] == expected
    summeval("run", "stems.jsonl", "--metric", "rouge", *words, *RUN[4:], "o")
    assert json.loads(Path("o/results.jsonl").read_text())["score"] == 1.0


@pytest.mark.nightly
def test_only_a_newline_ends_a_line_as_for_sacrebleu(damaged, summeval):
    from sacrebleu.metrics import BLEU
    from sacrebleu.utils import smart_open

    for separator in "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\r":
        made = [f"the cat{separator}sat on the mat", "it rained all day", f"{separator}no way at all"]
        wanted = ["the cat sat on the mat", "it rained for a day", "no way at all"]
        for name, texts in (("made.txt", made), ("wanted.txt", wanted)):
            Path(name).write_bytes("".join(f"{text}\n" for text in texts).encode())
        read = [list(smart_open(name)) for name in ("made.txt", "wanted.txt")]
        found = json.loads(summeval("score", "bleu", "made.txt", "wanted.txt", "--json").out)["score"]
        assert found == pytest.approx(BLEU().corpus_score(read[0], [read[1]]).score, abs=1e-9), separator


HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\x9b31m\x7f"
TOLD = """
score bleu bad.jsonl / correlate rated.jsonl / correlate rated.jsonl --metric ! --human metric / score bleu no!.jsonl
score bleu pairs.jsonl -o !=1 / score bleu pairs.jsonl --! / score bleu bad.jsonl -o !=1 / score meteor bad.jsonl -o !=1
score meteor bad.jsonl -o synonyms=null / score bertscore pairs.jsonl -o model=? / ! / $EVALUATE / $EVALUATE --json
score meteor pairs.jsonl -o tokenize=? / $EVALUATE -o embedder=! / score context_recall asked.jsonl
score ! asked.jsonl / compare asked.jsonl / annotators rated.jsonl --raters !,article -o level=nominal
annotators rated.jsonl --raters article,system -o level=nominal / bench --data rows:asked.jsonl
bench --data !:asked.jsonl / bench --judge ! / bench --judge words --set !
run bad.jsonl --metric bleu --workers 0 --out out? / report out?
"""  # ! is hostile, and ? what of it can stand in a name


@pytest.mark.nightly
def test_no_text_commands_the_terminal(damaged, capsys):
    """In names of columns, texts, ids, file names and arguments."""
    obeyed = set("\x1b\x07\u202e\x9b\x7f")
    row = {HOSTILE: 1, "article": HOSTILE, "system": HOSTILE, "metric": "1", "human": "x"}
    write_rows("rated.jsonl", [row])
    Path("bad.jsonl").write_text(json.dumps({HOSTILE: 1}) + "\n" + PAIR.decode())
    Path("article.txt").write_text(f"The bridge {HOSTILE} opened in 1931. It is long.")
    Path("summary.txt").write_text(f"The bridge {HOSTILE} opened in 1931. It {HOSTILE} is short.")
    Path(f"{HOSTILE}.txt").write_text("a")
    write_rows("asked.jsonl", [dict.fromkeys(ASKED, f"{HOSTILE} sat.") | {"label": 1}])
    for command in TOLD.strip().replace("\n", " / ").split(" / "):
        words = command.replace("$EVALUATE", " ".join(EVALUATE)).split()
        leave(*(word.replace("!", HOSTILE).replace("?", HOSTILE[1:]) for word in words))
        said = capsys.readouterr()
        assert said.out + said.err and not obeyed & set(said.out + said.err), command
    data = json.loads((leave(*EVALUATE, "--json"), capsys.readouterr().out)[1])
    assert HOSTILE in data["source"], "as data it is what it was"


STREAMS = {
    "{ summeval score bleu - <&-; }": (2, "standard input is closed"),
    "summeval score bleu pairs.jsonl >&-": (2, "standard output is closed"),
    "summeval score bleu pairs.jsonl 2>&-": (0, ""),
    "summeval score bleu nowhere.jsonl 2>&-": (2, ""),
    "summeval score bleu pairs.jsonl >/dev/full": (2, "cannot write to standard output: No space left on device"),
    "summeval score bleu nowhere.jsonl 2>/dev/full": (2, ""),
    "{ summeval score bleu pairs.jsonl; echo $? >&2; } | true": (0, "141"),  # a reader that goes away is no fault
}


@pytest.mark.nightly
def test_streams_that_are_closed_or_full(damaged):
    for line, (code, message) in STREAMS.items():
        words = line.replace("summeval", f"{sys.executable} -m summeval_nb", 1)
        done = subprocess.run(["sh", "-c", words], env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
        assert done.returncode == code, done
        assert message in done.stderr and len(done.stderr.splitlines()) == (1 if message else 0), done.stderr


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


@pytest.mark.nightly
@pytest.mark.parametrize("seconds", [0, 0.1, 0.5, 3, "deaf"])
def test_ctrl_c_is_heeded_from_the_first_moment_on_unless_a_job_is_deaf_to_it(seconds, damaged):
    """The command would run for minutes; a shell starts background jobs deaf to the signal, and they stay so."""
    lines = (PAIR.replace(b"cat", f"cat{number} ".encode() * 400) for number in range(12_000))  # none like another
    Path("many.jsonl").write_bytes(b"".join(lines))
    code, wait, table = INTERRUPTED, seconds, "many.jsonl"
    if seconds == "deaf":
        code, wait, table = code.replace("signal.default_int_handler", "signal.SIG_IGN"), 0.1, "pairs.jsonl"
    words = [sys.executable, "-c", code, str(wait), "score", "bleu", table, "-o", "n=100"]
    done = subprocess.run(words, env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    if seconds == "deaf":
        assert done.returncode == 0 and done.stdout.splitlines()[1].startswith("bleu"), done
    else:
        assert done.returncode == 130 and done.stderr == "summeval: interrupted\n", done
