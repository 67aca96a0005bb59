"""Long runs under real faults: kills, crashes, full disks, damage, broken input, two runs in one folder."""

import errno
import fcntl
import itertools
import json
import math
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from helpers.late import Late
from helpers.patience import comes_back

from summeval_nb import bleu_score, load_metric, rouge_score
from summeval_nb.core.files import _parse, open_items
from summeval_nb.runs import file
from summeval_nb.runs.file import RunFile, only_one
from summeval_nb.runs.report import RunReport
from summeval_nb.runs.running import Job, run
from summeval_nb.runs.workers import RunStopped

pd = Late("pandas")
ROOT = Path(__file__).parents[1]
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "over", "mat", "hill", "and", "then", "it", "rained"]
quiet = partial(run, progress=False, workers=0)


def corpus(count, seed=0):
    rng = random.Random(seed)
    sentence = lambda: " ".join(rng.choices(WORDS, k=rng.randint(3, 9)))
    return [
        {"id": f"doc{i}", "candidate": sentence(), "references": [sentence() for _ in range(1 + i % 2)]}
        for i in range(count)
    ]


ROWS = corpus(12)
PAIR = [ROWS[0], {"id": "gap", "candidate": None, "references": "a cat"}]


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def results(folder):
    return (Path(folder) / "results.jsonl").read_bytes()


def lines(folder):
    return [json.loads(line) for line in results(folder).splitlines()]


def start(code, *arguments, **kinds):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], env=environment, **kinds)


def told(code, *arguments):
    """What a process prints that does something to its end."""
    return start(code, *arguments, stdout=subprocess.PIPE).communicate()[0].decode()


def count_rows(folder):
    path = Path(folder) / "run.sqlite"
    if not path.exists():
        return 0
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=60) as data:
        return data.execute("SELECT count(*) FROM items").fetchone()[0]


def raising(error, *_, **__):
    raise error


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert condition()


# ---------------------------------------------------------------- the same numbers as the metrics


def test_rows_are_the_metrics_numbers_and_the_choices_of_workers_change_no_byte(tmp_path):
    bleu = quiet(ROWS, "bleu", out=tmp_path / "b", options={"n": 2}, batch_size=5)
    for row, line in zip(ROWS, lines(tmp_path / "b"), strict=True):
        wanted = bleu_score(row["candidate"], row["references"], 2)
        assert math.isclose(line["score"], wanted.score, rel_tol=1e-12) and line["signature"] == str(wanted.signature)
        assert line["id"] == row["id"] and line["parts"]["counts"] == list(wanted.counts)
    assert math.isclose(bleu.mean(), sum(line["score"] for line in lines(tmp_path / "b")) / 12)
    quiet(ROWS, "rouge", out=tmp_path / "r", options={"types": ["rouge1", "rougeL"]}, workers=1)
    for row, line in zip(ROWS, lines(tmp_path / "r"), strict=True):
        wanted = rouge_score(row["candidate"], row["references"], types=["rouge1", "rougeL"])
        assert math.isclose(line["score"], wanted["rougeL"].f1) and line["parts"]["rouge1"]["f1"] == wanted["rouge1"].f1
    quiet(ROWS, "bleu", out=tmp_path / "two", options={"n": 2}, batch_size=2, workers=2)
    assert results(tmp_path / "two") == results(tmp_path / "b")


def test_the_fast_parser_reads_what_pythons_own_reads():
    """Whatever pydantic's parser makes of a line, the answer is that of the standard library, errors included."""
    odd = [rb'{"a": "\ud83d"}', b'{"a": NaN}', b'{"a": -Infinity}', b'{"a": 123456789012345678901234567890}']
    odd += [b'{"a": 1e400}', b'{"a":1}x', b"\xff", b'{"a":"\n"}', b"[1,]", b'{"a":Inf}', b"01", b'{"a":1,"a":2}']
    odd += [b"-0.0", b"1E5", b"\xef\xbb\xbf{}", b"  {} \t\r", b"\x0b{}", b"1.", b".5", b"truex", b'{"a": "\\u0000"}']

    def tried(parse, data):
        try:
            return repr(parse(data))
        except ValueError as error:
            return type(error).__name__, str(error)

    for data in odd:
        assert tried(_parse, data) == tried(lambda data: json.loads(data.decode()), data), data


LIGHT = """
import json, sys
from summeval_nb import run
report = run(json.loads(sys.argv[1]), sys.argv[2], out=sys.argv[3], progress=False)
print(json.dumps([report.counts, report.info["workers"], sorted(sys.modules)]))
"""


def test_a_word_metric_runs_here_and_imports_nothing_that_asks_models(tmp_path):
    for metric in ("bleu", "rouge", "chrf", "ter"):
        counts, used, modules = json.loads(told(LIGHT, json.dumps(ROWS[:3]), metric, tmp_path / metric))
        assert counts["ok"] == 3 and used == 0
        heavy = tuple(f"summeval_nb.{name}." for name in ("judged", "evidence", "models", "runs.costs"))
        assert not [name for name in modules if f"{name}.".startswith(heavy)]
        assert not {"torch", "scipy", "pydantic", "pandas"} & set(modules)
    assert Job("bleu").is_lexical and Job(load_metric("chrf", beta=1)).is_lexical
    for job in (Job("bleu", {"tokenize": str.split}), Job(len), Job("bertscore"), Job("faithfulness")):
        assert not job.is_lexical


# ---------------------------------------------------------------- kills

NIGHT = """
import sys, time
from summeval_nb.runs.running import Job, run
from summeval_nb.overlap.translation import bleu_score
def slow_bleu(row):
    time.sleep(0.002)
    return bleu_score(row["candidate"], row["references"], 2)
slow_bleu.fingerprint = "slow BLEU v1"
report = run(sys.argv[1], slow_bleu, out=sys.argv[2], batch_size=6, workers=int(sys.argv[3]), progress=False)
print("done", report.info["scored_now"], report.info["kept_from_before"])
"""


def test_a_run_of_another_process_survives_kill_9(tmp_path):
    """Killed after some rows, it goes on with them, and ends with the bytes of a run that nobody disturbed."""
    items = write_jsonl(tmp_path / "items.jsonl", corpus(120))
    process = start(NIGHT, items, tmp_path / "out", 1)
    until(lambda: count_rows(tmp_path / "out") >= 24 or process.poll() is not None)
    process.kill()
    process.wait()
    kept = count_rows(tmp_path / "out")
    report = RunReport.load(tmp_path / "out")
    assert not report.info["complete"] and report.info["items"] == kept == len(list(report.rows()))
    assert "unfinished" in repr(report) and not (tmp_path / "out/results.jsonl").exists()
    assert "unfinished" in report.to_html(tmp_path / "page.html").read_text()
    assert report.to_jsonl(tmp_path / "so far.jsonl").read_bytes().count(b"\n") == kept
    assert "done" in told(NIGHT, items, tmp_path / "whole", 0)
    assert told(NIGHT, items, tmp_path / "out", 1).split() == ["done", str(120 - kept), str(kept)]
    assert results(tmp_path / "out") == results(tmp_path / "whole")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {".lock", "run.sqlite", "results.jsonl"}


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [0, 2])
def test_kills_lose_nothing(workers, tmp_path):
    """kill -9 at drawn moments, while it starts and in the middle; its workers end with it."""
    psutil = pytest.importorskip("psutil")
    items, rng = write_jsonl(tmp_path / "items.jsonl", corpus(600)), random.Random(7)
    for more in (0, 0, 6, 12, 18, 30):
        process, before = start(NIGHT, items, tmp_path / "out", workers), count_rows(tmp_path / "out")
        if more:
            until(lambda wanted=before + more: count_rows(tmp_path / "out") >= wanted)
        else:
            time.sleep(rng.uniform(0.05, 1.5))
        family = psutil.Process(process.pid).children()
        assert process.poll() is None and len(family) == workers or not more, "it ended before it was killed"
        process.kill()
        process.wait()
        assert not psutil.wait_procs(family, 20)[1] and not (tmp_path / "out/results.jsonl").exists()
    done, scored, kept = told(NIGHT, items, tmp_path / "out", workers).split()
    assert done == "done" and int(scored) + int(kept) == 600 and int(kept) > 0
    assert "done" in told(NIGHT, items, tmp_path / "whole", 0)
    assert results(tmp_path / "out") == results(tmp_path / "whole")


# ---------------------------------------------------------------- workers that die


def fragile(row):
    if row["text"] == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if row["text"] == "exit":
        os._exit(3)
    if row["text"] == "raise":
        raise ValueError("this row cannot be scored")
    if row["text"] == "once" and not (marker := Path(row["marker"])).exists():  # an accident
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return len(row["text"])


fragile.fingerprint = "fragile v1"


def hangs(row):
    time.sleep(1000 if row["text"] == "hang" else 0.06 if row["text"].startswith("slow") else 0)
    return len(row["text"])


def test_poison_items_are_isolated_and_the_rest_completes(tmp_path):
    texts = ["a", "crash", "bb", "raise", "ccc", "exit", "dddd", "e", "once"] + ["e"] * 7
    rows = [{"id": text, "text": text, "marker": str(tmp_path / "marker")} for text in texts]
    report = quiet(rows, fragile, out=tmp_path / "out", batch_size=4, workers=2)
    found = lines(tmp_path / "out")
    assert [line["item"] for line in found] == [*range(16)] and found[1]["id"] == "crash"
    assert report.counts == {"ok": 13, "undefined": 0, "failed": 3} and (tmp_path / "marker").exists()
    assert {line["item"]: line["reason"] for line in found if line["status"] == "failed"} == {
        1: "at 2: the worker process was ended by SIGSEGV",
        3: "at 4: ValueError: this row cannot be scored",
        5: "at 6: the worker process ended itself with exit code 3",
    }
    assert [found[i]["score"] for i in (0, 2, 4, 6, 8)] == [1, 2, 3, 4, 4]


@pytest.mark.nightly
def test_a_time_out_ends_what_never_returns_and_accuses_nobody_of_being_one_of_many(tmp_path):
    texts = ["a", "bb", "hang", "ccc", "d", "hang", "ee"]
    with comes_back(300):
        report = quiet([{"text": t} for t in texts], hangs, out=tmp_path / "out", batch_size=4, workers=2, timeout=1.5)
    found = lines(tmp_path / "out")
    assert found[2]["reason"] == "at 3: no answer within 1.5 s; the worker process was ended"
    assert report.counts["failed"] == 2 and [found[i]["score"] for i in (0, 1, 3, 4, 6)] == [1, 2, 3, 1, 2]
    many = quiet([{"text": "slow"}] * 30, hangs, out=tmp_path / "slow", batch_size=10, workers=1, timeout=0.5)
    assert many.counts == {"ok": 30, "undefined": 0, "failed": 0}


def test_on_error_raise_stops_and_keeps_what_was_done(tmp_path):
    rows = [{"text": t} for t in ["a", "b", "raise", "c"]]
    for count in (0, 1):
        again = partial(quiet, rows, fragile, out=tmp_path / f"{count}", batch_size=2)
        with pytest.raises(RunStopped, match="at 3: ValueError: this row cannot be scored"):
            again(on_error="raise", workers=count)
        assert not (tmp_path / f"{count}/results.jsonl").exists() and again().info["kept_from_before"] == 2


def test_failed_items_are_tried_again_when_asked(tmp_path):
    flag = tmp_path / "server"

    def moody(row):
        if row["text"] == "b" and not flag.exists():
            raise ConnectionError("the server is down")
        return 1

    moody.fingerprint = "moody v1"
    again = partial(quiet, [{"text": t} for t in "abcd"], moody, out=tmp_path / "out")
    assert again().counts["failed"] == 1
    flag.touch()
    assert again().counts["failed"] == 1
    report = again(retry_failed=True)
    assert report.counts == {"ok": 4, "undefined": 0, "failed": 0} and report.info["scored_now"] == 1


# ---------------------------------------------------------------- what a folder may hold


def test_a_folder_that_is_no_runs_stays_as_it_is(tmp_path):
    foreign = {"thesis.txt": b"precious", "run.sqlite": b"no SQLite", "results.jsonl": b"{}\n", "manifest.json": b"{}"}
    with closing(sqlite3.connect(":memory:")) as other:
        other.execute("CREATE TABLE items (place)")
        made = [*foreign.items(), ("run.sqlite", other.serialize())]
    said = "choose a new or an empty folder|is not the file of a run.*choose another"
    for number, ((name, content), resume) in enumerate(itertools.product(made, (True, False))):
        (folder := tmp_path / f"{number}").mkdir()
        (folder / name).write_bytes(content)
        with pytest.raises(ValueError, match=said):
            quiet(ROWS, "bleu", out=folder, resume=resume)
        assert [path.name for path in folder.iterdir()] == [name] and (folder / name).read_bytes() == content
    with pytest.raises(ValueError, match=r"holds no run: there is no run\.sqlite"):
        RunReport.load(tmp_path)


@pytest.mark.parametrize("name", ["run.sqlite", "run.sqlite-wal", "results.jsonl", ".lock"])
def test_a_link_in_a_runs_folder_is_refused_its_target_stays(name, tmp_path):
    out, outside = tmp_path / "out", tmp_path / "precious"
    outside.write_text("precious")
    quiet(ROWS, "bleu", out=out)
    (out / name).unlink(missing_ok=True)
    (out / name).symlink_to(outside)
    for resume in (True, False):
        with pytest.raises(ValueError, match="is a link, by which a run would change what is not its own"):
            quiet(ROWS[:3], "bleu", out=out, resume=resume)
    assert outside.read_text() == "precious"
    (tmp_path / "linked").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "real").mkdir()
    assert quiet(ROWS, "bleu", out=tmp_path / "linked").counts["ok"] == 12  # the folder itself may be one


def test_what_lies_beside_a_run_is_kept_and_an_input_is_refused(tmp_path):
    quiet(ROWS, "bleu", out=tmp_path)
    (tmp_path / "notes.txt").write_text("precious")
    quiet(ROWS, "rouge", out=tmp_path, resume=False)
    quiet(ROWS[1:], "rouge", out=tmp_path)  # another corpus
    assert (tmp_path / "notes.txt").read_text() == "precious"
    with pytest.raises(ValueError, match="lies in the folder of the run"):
        quiet(write_jsonl(tmp_path / "items.jsonl", ROWS), "rouge", out=tmp_path)


def test_another_metric_option_version_or_corpus_is_refused_by_name(tmp_path, monkeypatch):
    quiet(ROWS, "bleu", out=tmp_path, options={"n": 2})
    before = results(tmp_path)
    with pytest.raises(ValueError, match=r"options\.n \(2 before, 4 now\).*resume=False"):
        quiet(ROWS, "bleu", out=tmp_path, options={"n": 4})
    with pytest.raises(ValueError, match=r"metric \('bleu' before, 'rouge' now\)"):
        quiet(ROWS, "rouge", out=tmp_path)
    with pytest.raises(
        ValueError, match="holds the results of another corpus, a list: it has none of the first 5 rows"
    ):
        quiet(corpus(5, seed=1), "bleu", out=tmp_path, options={"n": 2})
    with monkeypatch.context() as changed:
        changed.setattr("summeval_nb.__version__", "9.9.9")
        with pytest.raises(ValueError, match=r"summeval_nb \('.*' before, '9\.9\.9' now\)"):
            quiet(ROWS, "bleu", out=tmp_path, options={"n": 2})
    assert results(tmp_path) == before
    assert quiet(ROWS, "bleu", out=tmp_path, options={"n": 2}, batch_size=1).info["kept_from_before"] == 12
    assert quiet(ROWS, "rouge", out=tmp_path, resume=False).info["settings"]["metric"] == "rouge"


def test_a_failed_start_leaves_what_is_there(tmp_path):
    quiet(ROWS, "bleu", out=tmp_path / "out")
    before = results(tmp_path / "out")
    for wrong in ({"columns": {"candidate": "nothing"}}, {"options": {"tokenize": "best"}}):
        with pytest.raises(ValueError):
            quiet(ROWS, "bleu", out=tmp_path / "out", resume=False, **wrong)
        with pytest.raises(ValueError):
            quiet(ROWS, "bleu", out=tmp_path / "new", **wrong)
    assert quiet(ROWS, "bleu", out=tmp_path / "out").info["scored_now"] == 0 and results(tmp_path / "out") == before
    assert quiet(ROWS, "bleu", out=tmp_path / "new").counts["ok"] == 12


def test_a_corpus_that_was_mended_moved_or_cut_scores_only_what_is_new(tmp_path):
    rows = corpus(20) + corpus(3)  # the first three occur twice
    out = partial(quiet, metric="bleu", out=tmp_path / "out", batch_size=4)
    out(rows)
    changes = {
        "mended": [*rows[:7], {**rows[7], "candidate": "something else entirely here"}, *rows[8:]],
        "inserted": [*rows[:2], {"id": "new", "candidate": "a b", "references": "a b"}, *rows[2:]],
        "turned": rows[::-1],
        "cut": rows[5:],
        "longer": [*rows, rows[0]],
    }
    for name, changed in changes.items():
        report = out(changed)
        assert report.info["scored_now"] == (name in ("mended", "inserted", "longer")), name
        fresh = quiet(changed, "bleu", out=tmp_path / name)
        assert list(report.rows()) == list(fresh.rows()) and report.mean() == fresh.mean(), name
        assert report.path.read_bytes() == fresh.path.read_bytes()
        out(rows)


# ---------------------------------------------------------------- one run in a folder


def test_two_runs_in_one_folder_one_wins(tmp_path):
    refused = pytest.raises(RuntimeError, match="another run is working in .*wait for it, or choose another folder")
    with only_one(tmp_path), refused:
        quiet(ROWS, "bleu", out=tmp_path)
    code = "import sys, time\nfrom pathlib import Path\nfrom summeval_nb.runs.file import only_one\n"
    code += "with only_one(Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(600)"
    process = start(code, tmp_path, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    with pytest.raises(RuntimeError, match="another run is working in"):
        quiet(ROWS, "bleu", out=tmp_path)
    process.kill()
    process.communicate()
    assert quiet(ROWS, "bleu", out=tmp_path).counts["ok"] == 12  # the system has freed its lock


@pytest.mark.nightly
def test_of_runs_that_begin_at_once_one_always_wins(tmp_path):
    items = write_jsonl(tmp_path / "items.jsonl", corpus(120))
    processes = [
        start(NIGHT, items, tmp_path / "out", 0, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)
    ]
    said = [process.communicate() for process in processes]
    assert any(b"done 120" in out for out, _ in said)
    assert all(b"done" in out or b"another run is working in" in errors for out, errors in said)


def test_a_folder_without_locks_is_an_error_with_its_remedy(tmp_path, monkeypatch):
    for fault in (errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP):
        monkeypatch.setattr(fcntl, "flock", partial(raising, OSError(fault, os.strerror(fault))))
        with pytest.raises(RunStopped, match=r"cannot lock .*; choose a folder on a disk of this machine"):
            quiet(ROWS, "bleu", out=tmp_path)


def test_a_fork_of_the_holder_keeps_no_lock(tmp_path):
    with only_one(tmp_path):
        if (child := os.fork()) == 0:
            time.sleep(60)
            os._exit(0)
    with only_one(tmp_path):  # although the child lives
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


# ---------------------------------------------------------------- disks and damage

FULL = """
import sys
from summeval_nb.runs.running import Job, run
from summeval_nb.runs.workers import RunStopped
rows = ({"id": i, "text": "x" * 200} for i in range(2000))
def metric(row):
    return {"score": 1, "echo": row["text"]}
metric.fingerprint = "echo v1"
try:
    print("FINISHED", run(rows, metric, out=sys.argv[1], batch_size=100, workers=0, progress=False).info["scored_now"])
except RunStopped as error:
    print("STOPPED", error)
"""


def test_on_a_full_disk_what_was_written_stays(tmp_path):
    """A limit on the size of files stands for the full disk."""
    code = f"import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n{FULL}"
    said = told(code, tmp_path)
    assert "STOPPED the run in" in said and "what was written is kept: make room" in said
    kept = count_rows(tmp_path)
    assert 0 < kept < 2000 and kept % 100 == 0
    assert told(FULL, tmp_path) == f"FINISHED {2000 - kept}\n" and len(lines(tmp_path)) == 2000


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(RunStopped, match="cannot write into .*; choose another folder"):
        quiet(ROWS, "bleu", out=tmp_path / "file" / "out")
    refuse = partial(raising, OSError(errno.EROFS, os.strerror(errno.EROFS)))
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(RunStopped, match="cannot write into .*Read-only file system; choose another folder"):
        quiet(ROWS, "bleu", out=tmp_path / "out")


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="needs the right to become nobody")
def test_a_finished_run_is_read_where_nothing_may_be_written(tmp_path):
    quiet(ROWS, "bleu", out=tmp_path / "out")
    code = "import os, sys\nfrom summeval_nb.runs.report import RunReport\nimport pandas\nos.setuid(65534)\n"
    code += "print(len(list(RunReport.load(sys.argv[1]).rows())))"
    shutil.copytree(tmp_path / "out", place := Path(f"/tmp/run-of-nobody-{os.getpid()}"))
    place.chmod(0o555)
    try:
        assert told(code, place) == "12\n"
    finally:
        shutil.rmtree(place)


CHANGES = {
    "score": "UPDATE items SET score = 99 WHERE place = 3",
    "body": """UPDATE items SET body = replace(body, '"score"', '"scores"') WHERE place = 3""",
    "status": "UPDATE items SET status = 'undefined' WHERE place = 3",
    "key": "UPDATE items SET key = zeroblob(16) WHERE place = 3",
    "order": "UPDATE items SET place = 100 WHERE place = 3",
    "gone": "DELETE FROM items WHERE place = 3",
    "mean": "UPDATE settings SET value = 77 WHERE name = 'mean'",
}


@pytest.mark.filterwarnings("ignore:1 rows of .* were damaged")
def test_a_file_changed_after_the_run_is_not_reported_and_mended(tmp_path):
    """What somebody changed, or a bad disk, becomes no other number: the report is refused, the row is scored again."""
    report = quiet(ROWS, "bleu", out=tmp_path)
    before, mean = results(tmp_path), report.mean()
    (tmp_path / "results.jsonl").write_bytes(before.replace(b'"score":', b'"score":1', 1))
    assert quiet(ROWS, "bleu", out=tmp_path).info["scored_now"] == 0 and results(tmp_path) == before
    for name, query in CHANGES.items():
        with sqlite3.connect(tmp_path / "run.sqlite") as data:
            data.execute(query)
        with pytest.raises(ValueError, match=r"run\.sqlite' is damaged \(.*\); 1[12] of its rows can be read"):
            list(RunReport.load(tmp_path).rows())
        if name == "mean":
            break
        with pytest.raises(ValueError, match="is damaged"):
            report.to_html(tmp_path.parent / "page.html")
        again = quiet(ROWS, "bleu", out=tmp_path)
        assert results(tmp_path) == before and again.mean() == mean and again.info["scored_now"] <= 1, name


def test_a_row_says_the_same_beside_one_that_lacks_a_cell(tmp_path):
    for name in ("bleu", "chrf", "ter", "rouge", "rougeL", "token_f1"):
        one, gap, both = (
            quiet(rows, name, out=tmp_path / f"{name}{n}") for n, rows in enumerate(([PAIR[0]], [PAIR[1]], PAIR))
        )
        assert [*one.rows(), *({**row, "item": 1} for row in gap.rows())] == [*both.rows()], name


def test_a_corpus_that_changes_under_a_run_is_said(tmp_path):
    items = write_jsonl(tmp_path / "items.jsonl", ROWS)

    def metric(row):
        with items.open("a") as open_file:
            open_file.write(" ")
        return 1

    metric.fingerprint = "appends"
    with pytest.raises(RunStopped, match=r"items\.jsonl was changed while it was scored; call run again"):
        quiet(items, metric, out=tmp_path / "out")
    assert count_rows(tmp_path / "out") == 12 and not (tmp_path / "out/results.jsonl").exists()


def test_a_file_that_sqlite_cannot_read_is_said_with_what_can_be_read(tmp_path):
    quiet(corpus(2000), "bleu", out=tmp_path, batch_size=200)
    data = bytearray((tmp_path / "run.sqlite").read_bytes())
    data[len(data) // 2 : len(data) // 2 + 3 * 4096] = bytes(3 * 4096)
    (tmp_path / "run.sqlite").write_bytes(data)
    for read in (lambda: list(RunReport.load(tmp_path).rows()), lambda: quiet(corpus(2000), "bleu", out=tmp_path)):
        with pytest.raises(ValueError, match=r"is damaged \(.*\); [1-9][\d,]* of its rows can be read: copy the file"):
            read()
    (tmp_path / "run.sqlite").write_bytes(data[:100] + b"\xff" * 5000)
    with pytest.raises(ValueError, match="is damaged .* 0 of its rows"):
        RunReport.load(tmp_path)
    assert quiet(corpus(2000), "bleu", out=tmp_path, resume=False).counts["ok"] == 2000
    (tmp_path / "run.sqlite").write_bytes(b"\0" * 4096)
    with pytest.raises(ValueError, match="is not the file of a run, or is damaged; move it away"):
        RunReport.load(tmp_path)


# ---------------------------------------------------------------- input


def test_broken_lines_are_recorded_with_their_number(tmp_path):
    good = json.dumps({"candidate": "a cat", "references": "a cat"}).encode()
    bad = {
        2: b'{"candidate": "a cat", "refer',
        4: b"[1, 2]",
        5: b'{"candidate": "\xff", "references": "a"}',
        6: b'{"candidate": null, "references": "a"}',
        7: b'{"candidate": "a"}',
        8: b'{"candidate": "a", "references": []}',
        9: b'{"candidate": NaN, "references": "a"}',
        10: b"[" * 100_000,
    }
    items = tmp_path / "items.jsonl"
    items.write_bytes(b"\n".join(bad.get(number, good) for number in range(1, 12)) + b"\n\n")
    report = quiet(items, "bleu", out=tmp_path / "out", batch_size=3)
    found = {line["item"] + 1: line for line in lines(tmp_path / "out")}
    gaps = {6, 9}  # a cell that is missing is no mistake, and has no score
    assert report.counts == {"ok": 3, "undefined": 2, "failed": 6} and len(found) == 11
    assert {number for number, line in found.items() if line["status"] == "failed"} == set(bad) - gaps
    assert all(found[number]["reason"].startswith(f"at {number}: ") for number in set(bad) - gaps)
    assert {found[number]["reason"] for number in gaps} == {"candidate is missing in this row"}
    items.write_bytes(b"\n\n" + items.read_bytes())  # the same items, two lines further down
    again = quiet(items, "bleu", out=tmp_path / "out", batch_size=3)
    assert again.info["scored_now"] == 0 and "at 4: not JSON" in results(tmp_path / "out").decode()


ODD, COST = {"price": Decimal("1.50"), "photo": b"GIF8"}, {"cost": "price"}


def test_a_column_of_another_type_matters_only_where_it_is_read(tmp_path):
    rows = [{**row, "references": row["references"][0], **ODD} for row in ROWS[:3]]
    pd.DataFrame(rows).to_parquet(tmp_path / "items.parquet")
    for number, items in enumerate([rows, pd.DataFrame(rows), tmp_path / "items.parquet"]):
        report = quiet(items, "bleu", out=tmp_path / f"{number}")
        assert report.counts["ok"] == 3 and [row["id"] for row in report.rows()] == ["doc0", "doc1", "doc2"]
        read = quiet(items, "bleu", out=tmp_path / f"photo{number}", columns={"candidate": "photo"})
        assert read.counts["failed"] == 3
        assert "the column 'photo' cannot be read: bytes is neither text" in next(read.rows())["reason"]
    named = quiet([{"n": 1, **ODD}, {"price": 3}], lambda row: row["cost"], out=tmp_path / "c", columns=COST)
    assert [row["score"] for row in named.rows()] == [None, 3]


def test_an_object_that_names_a_column_twice_has_no_value_there(tmp_path):
    good = '"candidate": "a cat", "references": "a cat"'
    more = ['"references": "zz"', '"note": "x", "note": "y", "made": {"references": "zz"}', '"kind": "references"']
    (tmp_path / "pairs.jsonl").write_text("".join(f"{{{good}, {one}}}\n" for one in more))
    report = quiet(tmp_path / "pairs.jsonl", "bleu", out=tmp_path / "out", options={"n": 1})
    assert [row["score"] for row in report.rows()] == [None, 100, 100]
    assert next(report.rows())["reason"] == "at 1: the object names 'references' twice: leave one of them out"
    own = quiet(tmp_path / "pairs.jsonl", lambda row: len(row["candidate"]), out=tmp_path / "own")
    assert [row["score"] for row in own.rows()] == [None, None, 5]  # who knows which it reads?


def test_columns_may_change_places_but_not_be_one(tmp_path):
    row = {"candidate": "the cat sat", "references": "a dog ran off"}
    swapped = quiet([row], "bleu", out=tmp_path / "a", columns={"candidate": "references", "references": "candidate"})
    assert swapped.mean() == bleu_score("a dog ran off", ["the cat sat"]).score
    for columns in ({"candidate": "references"}, {"candidate": "x", "references": ["y", "x"]}):
        with pytest.raises(ValueError, match=r"candidate and references would both be the column '\w+': name another"):
            quiet([row | {"x": "", "y": ""}], "bleu", out=tmp_path / "b", columns=columns)


BAD = {
    "unknown metric": ({"metric": "blue"}, "known: 'length', 'bleu'"),
    "unknown option": ({"options": {"m": 4}}, "known: 'n', 'tokenize'"),
    "missing column": ({"items": [{"text": "a", "summary": "b"}]}, "there is no 'references'; there is: text, summary"),
    "unknown column": ({"columns": {"text": "a"}}, "known: 'candidate', 'references'"),
    "no items": ({"items": []}, "there are no items"),
    "no file": ({"items": "no-such.jsonl"}, "no-such.jsonl"),
    "batch size": ({"batch_size": 0}, "batch_size must be at least 1"),
    "workers": ({"workers": -1}, "workers must be at least 0"),
    "more workers than a machine bears": ({"workers": 10**9}, "workers must be at most 1,000"),
    "engine": ({"engine": "spark"}, "known: 'local', 'ray'"),
    "timeout": ({"timeout": 0}, "timeout must be more than 0 seconds, at most"),
    "timeout without a process": ({"timeout": 3}, "timeout needs a worker process to end"),
    "on_error": ({"on_error": "ignore"}, "known: 'record', 'raise'"),
    "gpus without ray": ({"num_gpus": 1}, "belong to engine='ray'"),
    "metric is no function": ({"metric": 7}, "a name, a Metric such as"),
    "options of a function": ({"metric": fragile, "options": {"a": 1}}, "functools.partial"),
    "Ray Client": ({"engine": "ray", "workers": 1, "address": "ray://a:1"}, "Ray Client.*address='auto'"),
}


def test_bad_arguments_are_named_with_their_remedy(tmp_path, monkeypatch):
    for change_of, message in BAD.values():
        arguments = {"items": ROWS, "metric": "bleu", "out": tmp_path, **change_of}
        with pytest.raises((ValueError, TypeError, OSError), match=message):
            quiet(**arguments)
        assert not (tmp_path / "results.jsonl").exists()
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install -e '\.\[ray\]'"):
        run(ROWS, "bleu", out=tmp_path, engine="ray", progress=False)


# ---------------------------------------------------------------- memory

MEMORY = """
import sys
from summeval_nb.runs.running import run
def metric(row):
    return len(row["text"])
metric.fingerprint = "length"
for resume in range(2):
    rows = ({"id": i, "text": f"{i} " * 200} for i in range(int(sys.argv[1])))
    run(rows, metric, out=sys.argv[2], batch_size=200, workers=0, progress=False)
status = open("/proc/self/status").read()  # ru_maxrss would begin with the peak of the process that started us
print(status.split("VmHWM:")[1].split()[0])
"""


@pytest.mark.nightly
def test_memory_does_not_grow_with_the_corpus(tmp_path):
    """The peak of a run and of its continuation in a process of its own, for 2,000 and for 20,000 items."""
    peaks = [int(told(MEMORY, count, tmp_path / str(count))) for count in (2_000, 20_000)]
    assert peaks[1] < 1.2 * peaks[0], peaks


def test_a_batch_ends_at_a_number_of_rows_or_of_bytes(monkeypatch):
    monkeypatch.setattr(file, "BATCH_BYTES", 40)
    rows = [{"n": "x" * (30 if i == 4 else 1)} for i in range(7)]
    cut = list(file.cut(open_items(rows), 3))
    assert [entry.place for batch in cut for entry in batch] == list(range(7)) and len(cut) == 3
    assert len({entry.key for batch in cut for entry in batch}) == 2  # of the content alone


def test_an_unfinished_file_of_nothing_has_no_report(tmp_path):
    with RunFile(tmp_path, "rw"):
        pass
    with pytest.raises(ValueError, match="stopped before its first item"):
        RunReport.load(tmp_path)
