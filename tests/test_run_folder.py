"""A run's folder: nothing of the user's is overwritten or removed, damage is found, pages are whole."""

import json
import os
import pickle
import signal
import subprocess
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest

from summeval_nb.core.items import make_shards, open_items
from summeval_nb.runs.batch import Course, run
from summeval_nb.runs.engines import VARIABLE
from summeval_nb.runs.folder import manifest_check
from summeval_nb.runs.plan import plan_run
from summeval_nb.runs.run_report import RunReport

ROOT = Path(__file__).parents[1]
ROWS = [{"id": i, "candidate": f"the cat sat {i}", "references": f"the cat sat {i // 2}"} for i in range(20)]
quiet = partial(run, metric="bleu", progress=False, workers=0, shard_size=5)


def held(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


FOREIGN = ["shards/train.parquet", "results.jsonl", "manifest.json", "results.parquet", "ledger.jsonl", "notes.txt"]


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("name", FOREIGN)
def test_a_folder_that_is_no_runs_stays_as_it_is(name, resume, tmp_path):
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text('{"mine": true}')
    before = held(out)
    with pytest.raises(ValueError, match=r"choose (a new or an empty|another) folder"):
        quiet(ROWS, out=out, resume=resume)
    assert held(out) == before


OURS = {"settings": {"summeval_nb": "0.1.0", "metric": "bleu", "shard_size": 5}}
FILES = {"files": ["manifest.json", "ledger.jsonl", "shards/[0-9]*-[0-9a-f]*.jsonl", "results.jsonl"]}
NEARLY = [
    OURS,
    OURS | {"results": "results.jsonl", "complete": True},
    OURS | {"check": "0123456789abcdef"},
    OURS | {"check": "0123456789abcdef", "files": ["results.jsonl", "ledger.jsonl"]},
    OURS | {"check": "0123456789abcdef", "files": "manifest.json"},
    OURS | FILES,
    OURS | FILES | {"check": True},
    OURS | FILES | {"check": "../../results.jsonl"},
]


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("manifest", NEARLY, ids=str)
def test_a_foreign_manifest_that_has_the_names_of_our_settings(manifest, resume, tmp_path):
    """Somebody else's folder; what lies there is neither removed nor overwritten."""
    out = tmp_path / "out"
    (out / "shards").mkdir(parents=True)
    (out / "manifest.json").write_text(json.dumps(manifest))
    for name in ("results.jsonl", "ledger.jsonl", "results.parquet", "shards/00000000-0123456789abcdef.jsonl"):
        (out / name).write_text('{"mine": true}')
    before = held(out)
    with pytest.raises(ValueError, match="holds a manifest.json that is not of a run; choose another folder"):
        quiet(ROWS, out=out, resume=resume)
    assert held(out) == before


@pytest.mark.parametrize(
    "text", ['{"settings": []}', "[]", "{}", '{"settings": {"metric": "bleu"}}', "\x00", "[" * 9999]
)
def test_a_manifest_that_is_not_of_a_run(text, tmp_path):
    (tmp_path / "manifest.json").write_text(text)
    for resume in (True, False):
        with pytest.raises(ValueError, match="holds a manifest.json that is not of a run"):
            quiet(ROWS, out=tmp_path, resume=resume)
    with pytest.raises(ValueError, match="not the manifest of a run"):
        RunReport.load(tmp_path)
    assert held(tmp_path) == {"manifest.json": text.encode()}


@pytest.mark.parametrize("name", ["shards/train.parquet", "shards/notes.jsonl", "report.html", "shards/0-dir/x.jsonl"])
def test_in_a_runs_own_folder_only_listed_files_are_removed(name, tmp_path):
    quiet(ROWS, out=tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    quiet(ROWS[:10], out=tmp_path)
    quiet(ROWS[:10], out=tmp_path, options={"n": 2}, resume=False)
    assert (tmp_path / name).read_text() == "mine"
    assert len([path for path in (tmp_path / "shards").iterdir() if path.name.startswith("0000")]) == 2


def test_a_foreign_results_file_in_a_runs_folder_is_kept(tmp_path):
    quiet(ROWS, out=tmp_path)
    (tmp_path / "results.parquet").write_text("mine")
    for resume in (True, False):
        with pytest.raises(ValueError, match="is not a file of the run in this folder; move it away"):
            quiet(ROWS, out=tmp_path, output="parquet", resume=resume)
    assert (tmp_path / "results.parquet").read_text() == "mine"


def test_an_input_inside_the_output_is_refused(tmp_path):
    out = tmp_path / "io"
    quiet(ROWS, out=out)
    inside = write_jsonl(out / "shards" / "in.jsonl", ROWS)
    for items in (inside, str(inside), inside.open("rb")):
        with pytest.raises(ValueError, match="lies in the folder of the run"):
            quiet(items, out=out, resume=False)
    assert len(inside.read_text().splitlines()) == 20


def test_another_corpus_does_not_overwrite_results(tmp_path):
    quiet(ROWS, out=tmp_path)
    before = held(tmp_path)
    others = [
        [{**row, "candidate": f"a dog ran {row['id']}"} for row in ROWS],  # another system on the same articles
        [{**row, "references": f"a dog ran {row['id']}"} for row in ROWS],  # other articles
        [{"id": i, "candidate": "a", "references": "b"} for i in range(300)],
    ]
    for other in others:
        with pytest.raises(ValueError, match=r"holds the results of another corpus; .*resume=False"):
            quiet(other, out=tmp_path)
    assert held(tmp_path) == before  # complete, as it was
    assert quiet(ROWS[1:], out=tmp_path).manifest["scored_now"] == 19  # a corpus with one item less is no other
    assert quiet(others[0], out=tmp_path, resume=False).manifest["scored_now"] == 20


def test_a_wrong_column_leaves_nothing_in_the_way(tmp_path):
    rows = [{"made": row["candidate"], "references": row["references"]} for row in ROWS]
    with pytest.raises(ValueError, match="there is no 'candidat'"):
        quiet(rows, out=tmp_path, columns={"candidate": "candidat"})
    assert quiet(rows, out=tmp_path, columns={"candidate": "made"}).counts["ok"] == 20


def test_a_wrong_option_leaves_nothing_in_the_way(tmp_path):
    with pytest.raises(ValueError, match="smooth"):
        quiet(ROWS, out=tmp_path, options={"smooth": "strong"})
    assert quiet(ROWS, out=tmp_path, options={"smooth": "exp"}).counts["ok"] == 20


def test_a_failed_start_over_leaves_the_old_results(tmp_path):
    quiet(ROWS, out=tmp_path)
    before = held(tmp_path)
    with pytest.raises(ValueError, match="there is no"):
        quiet(ROWS, out=tmp_path, columns={"candidate": "nothing"}, resume=False)
    assert held(tmp_path) == before


# ---------------------------------------------------------------- links

WRITTEN = ["shards", "results.jsonl", "results.parquet", "manifest.json", "ledger.jsonl", ".lock", ".lock-holder"]


@pytest.mark.parametrize("resume", [True, False])
@pytest.mark.parametrize("name", [*WRITTEN, "a shard"])
@pytest.mark.parametrize("leads", ["to another run's", "nowhere"])
def test_a_link_in_a_runs_folder_is_refused_its_target_stays(leads, name, resume, tmp_path):
    quiet(ROWS, out=tmp_path / "own")
    quiet([{**row, "candidate": f"a dog ran {row['id']}"} for row in [*ROWS, *ROWS]], out=tmp_path / "other")
    link = tmp_path / "own" / name
    if name == "a shard":
        link = min((tmp_path / "own" / "shards").iterdir())
    if link.exists():
        link.rename(tmp_path / "before")
    target = next((tmp_path / "other" / "shards").iterdir()) if name == "a shard" else tmp_path / "other" / name
    if not target.exists():
        target.write_text("mine")
    link.symlink_to(tmp_path / "no such" if leads == "nowhere" else target)
    before = held(tmp_path)
    lost = name == "manifest.json" and leads == "nowhere"
    unlisted = name == "results.parquet" and leads != "nowhere"
    said = (
        "holds a run's shards and no manifest.json"
        if lost
        else "is not a file of the run"
        if unlisted
        else f"{link.name}' is a link.*"
    )
    with pytest.raises(ValueError, match=f"{said}.*(put what it leads to in its place|recover=True|move it away)"):
        quiet(ROWS, out=tmp_path / "own", resume=resume, output="parquet" if "parquet" in name else "jsonl")
    if lost:
        with pytest.raises(ValueError, match="manifest.json' is a link"):
            quiet(ROWS, out=tmp_path / "own", recover=True)
    assert held(tmp_path) == before and link.is_symlink() and not (tmp_path / "no such").exists()


def test_a_runs_folder_parents_and_foreign_files_may_be_links(tmp_path):
    (tmp_path / "disk" / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "by").symlink_to("disk")
    (tmp_path / "by" / "runs" / "yours").symlink_to("mine")
    out = tmp_path / "by" / "runs" / "yours"
    quiet(ROWS, out=out)
    page = tmp_path / "page.html"
    page.write_text("mine")
    (out / "report.html").symlink_to(page)
    assert quiet(ROWS[:10], out=out).manifest["scored_now"] == 0
    assert quiet(ROWS, out=out, resume=False).manifest["scored_now"] == 20
    assert page.read_text() == "mine" and (out / "report.html").is_symlink()


# ---------------------------------------------------------------- damage

HARMS = {
    "a score": lambda text: text.replace('"score": 100.0', '"score": 900.0', 1),
    "the sum": lambda text: text.replace('"sum": ', '"sum": 1', 1),
    "a count": lambda text: text.replace('"ok": 5', '"ok": 4', 1),
    "an id": lambda text: text.replace('"id": 6', '"id": 7', 1),
    "cut": lambda text: text[:-40],
    "a line less": lambda text: text.rsplit("\n", 2)[0] + "\n",
    "a line more": lambda text: text + text.splitlines()[-1] + "\n",
    "garbage": lambda text: "\x00garbage",
    "empty": lambda text: "",
    "{}": lambda text: "{}",
    "[]": lambda text: "[]\n",
    "another shard": lambda text: None,
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS.keys())
def test_a_damaged_shard_is_named_and_scored_again(harm, tmp_path):
    wanted = quiet([{**row, "references": row["candidate"]} for row in ROWS], out=tmp_path / "wanted")
    report = quiet([{**row, "references": row["candidate"]} for row in ROWS], out=tmp_path / "out")
    other, shard = sorted((tmp_path / "out" / "shards").iterdir())[:2]
    text = harm(shard.read_text())
    shard.write_text(other.read_text() if text is None else text)
    with pytest.warns(UserWarning, match=f"{shard.name} is damaged or .* 5 items are scored again") as told:
        report = quiet([{**row, "references": row["candidate"]} for row in ROWS], out=tmp_path / "out")
    assert [Path(warning.filename).name for warning in told] == ["batch.py"]  # the run speaks, and no helper of it
    assert report.manifest["scored_now"] == 5 and report.manifest["damaged"] == [shard.stem]
    assert report.mean() == wanted.mean() and report.path.read_bytes() == wanted.path.read_bytes()


def test_a_shard_that_cannot_be_read_is_scored_again(tmp_path, monkeypatch):
    quiet(ROWS, out=tmp_path)
    shard = sorted((tmp_path / "shards").iterdir())[1]
    read = Path.read_bytes

    def fails_once(path):
        if path == shard and not fails_once.done:
            fails_once.done = True
            raise OSError(5, "Input/output error")
        return read(path)

    fails_once.done = False
    monkeypatch.setattr(Path, "read_bytes", fails_once)
    with pytest.warns(UserWarning, match="scored again"):
        assert quiet(ROWS, out=tmp_path).manifest["scored_now"] == 5


def test_the_plan_counts_a_damaged_shard_as_work(tmp_path):
    quiet(ROWS, out=tmp_path)
    sorted((tmp_path / "shards").iterdir())[0].write_text("{}")
    plan = plan_run(ROWS, "bleu", out=tmp_path, shard_size=5)
    assert (plan.scored, plan.to_score) == (15, 5)


# ---------------------------------------------------------------- a manifest that is lost


def flip(text):
    return text.replace(b'"n": 2', b'"n": 3') if b'"n": 2' in text else text.replace(b'"bleu"', b'"blea"')


LOSSES = {
    "absent": None,
    "empty": lambda text: b"",
    "zeroed": lambda text: bytes(len(text)),
    "cut": lambda text: text[:-40],
    "cut early": lambda text: text[:20],
    "cut very early": lambda text: text[:5],
    "nothing in it": lambda text: b"{}\n",
    "zeroed at its end": lambda text: text[:100] + bytes(len(text) - 100),
    "changed": flip,
    "a key changed": lambda text: text.replace(b'"settings"', b'"settinhs"'),
}


def lose(folder, loss=LOSSES["zeroed"]):
    path = folder / "manifest.json"
    text = path.read_bytes()
    path.unlink()
    if loss is not None:
        path.write_bytes(loss(text))


@pytest.mark.parametrize("output", ["jsonl", "parquet"])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES.keys())
def test_a_lost_manifest_is_written_anew_whole_shards_are_kept(loss, output, tmp_path):
    score = partial(quiet, ROWS, out=tmp_path, output=output, options={"n": 2})
    wanted = score()
    results, shards = wanted.path.read_bytes(), held(tmp_path / "shards")
    lose(tmp_path, loss)
    before = held(tmp_path)
    for resume in (True, False) if loss is not flip else (True,):
        with pytest.raises(ValueError, match="same arguments and recover=True"):
            score(resume=resume)
    with pytest.raises(ValueError, match=r"recover=True|was changed after the run wrote it"):
        RunReport.load(tmp_path)
    assert held(tmp_path) == before
    report = score(recover=True)
    assert (report.manifest["scored_now"], report.manifest["kept_from_before"]) == (0, 20)
    assert report.manifest["recovered"] == {"shards_kept": 4, "shards_scored": 0, "unproven": 0}
    assert "the manifest was written anew: 4 shards kept, 0 scored again" in repr(report)
    assert held(tmp_path / "shards") == shards and report.mean() == wanted.mean()
    assert report.path.read_bytes() == results and [*report.rows()] == [*RunReport.load(tmp_path).rows()]
    assert "recovered" not in score().manifest and "recovered" not in score(recover=True).manifest


def test_without_manifest_a_damaged_shard_is_scored_again(tmp_path):
    wanted = quiet(ROWS, out=tmp_path)
    results = wanted.path.read_bytes()
    first, second, *_ = sorted((tmp_path / "shards").iterdir())
    first.write_bytes(bytes(first.stat().st_size))
    second.unlink()
    wanted.path.write_bytes(bytes(len(results)))
    lose(tmp_path)
    with pytest.warns(UserWarning, match=f"{first.name} is damaged .* 5 items are scored again"):
        report = quiet(ROWS, out=tmp_path, recover=True)
    assert report.manifest["recovered"] == {"shards_kept": 2, "shards_scored": 2, "unproven": 0}
    assert report.path.read_bytes() == results and report.manifest["damaged"] == [first.stem]


def old(shard):
    """A shard as it was written before its head named the settings; whole in itself."""
    first, _, body = shard.read_bytes().partition(b"\n")
    head = json.loads(first)
    del head["settings"], head["check"]
    shard.write_bytes(json.dumps(head | {"check": manifest_check(head)}).encode() + b"\n" + body)


@pytest.mark.parametrize("kind", ["other choices", "another metric", "an old one", "another size of shards"])
def test_unproven_shards_are_scored_again_even_after_a_kill(kind, tmp_path, monkeypatch):
    """Kill and call again: without the recovered manifest's word the shards that were refused would be believed."""
    rows, now = [*ROWS, *ROWS], {"metric": "bleu", "options": {"n": 2}}
    before = {
        "other choices": {"options": {"n": 3}},
        "another metric": {"metric": "rouge"},
        "another size of shards": {"shard_size": 40},
    }.get(kind, {})
    wanted = quiet(rows, out=tmp_path / "wanted", **now)
    out = tmp_path / "out"
    quiet(rows, out=out, **({**now, "options": {}} if kind == "another metric" else now) | before)
    if kind == "an old one":
        for shard in (out / "shards").iterdir():
            old(shard)
    lose(out)
    keep, kept = Course.keep, []

    def killed(course, shard, scored):
        if len(kept) == 2:
            raise KeyboardInterrupt
        kept.append(shard)
        keep(course, shard, scored)

    unproven = kind != "another size of shards"
    says = partial(pytest.warns, UserWarning, match="nothing proves that the shard .* scored again")
    with monkeypatch.context() as patch, says() if unproven else nullcontext(), pytest.raises(KeyboardInterrupt):
        patch.setattr(Course, "keep", killed)
        quiet(rows, out=out, recover=True, **now)
    with says() if unproven else nullcontext():
        report = quiet(rows, out=out, **now)
    assert report.manifest["recovered"] == {"shards_kept": 2, "shards_scored": 6, "unproven": 6 * unproven}
    assert report.mean() == wanted.mean() and report.path.read_bytes() == wanted.path.read_bytes()
    assert held(out / "shards") == held(tmp_path / "wanted" / "shards")


def test_rows_changed_after_the_loss_are_scored_again(tmp_path):
    quiet(ROWS, out=tmp_path)
    lose(tmp_path)
    rows = [*ROWS[:7], {**ROWS[7], "candidate": "another"}, *ROWS[8:]]
    report = quiet(rows, out=tmp_path, recover=True)
    assert report.manifest["recovered"] == {"shards_kept": 3, "shards_scored": 1, "unproven": 0}
    assert report.path.read_bytes() == quiet(rows, out=tmp_path.with_name("wanted")).path.read_bytes()


def length(row):
    return len(row["candidate"])


def test_without_manifest_another_corpus_changes_nothing(tmp_path):
    quiet(ROWS, out=tmp_path)
    lose(tmp_path)
    before = held(tmp_path)
    other = [{**row, "candidate": f"a dog ran {row['id']}"} for row in ROWS]
    for items, metric in ((other, "bleu"), (ROWS, length)):
        with pytest.raises(ValueError, match="holds the results of another corpus, or of a metric that reads another"):
            run(items, metric, out=tmp_path, recover=True, progress=False, workers=0, shard_size=5)
    with pytest.raises(ValueError, match="there is no 'candidat'"):
        quiet(ROWS, out=tmp_path, recover=True, columns={"candidate": "candidat"})
    with pytest.raises(ValueError, match="recover=True keeps what resume=False would remove"):
        quiet(ROWS, out=tmp_path, recover=True, resume=False)
    assert held(tmp_path) == before


@pytest.mark.parametrize("name", ["manifest.json", "results.jsonl", "ledger.jsonl"])
@pytest.mark.parametrize("text", ['{"mine": true}', "my notes", '{"item": 1}'])
def test_foreign_files_are_not_taken_for_a_lost_manifest(name, text, tmp_path):
    quiet(ROWS, out=tmp_path)
    lose(tmp_path)
    (tmp_path / name).write_text(text)
    before = held(tmp_path)
    with pytest.raises(ValueError, match="move it away"):
        quiet(ROWS, out=tmp_path, recover=True)
    assert held(tmp_path) == before
    (tmp_path / name).rename(tmp_path / "mine")
    assert quiet(ROWS, out=tmp_path, recover=True).manifest["kept_from_before"] == 20
    assert (tmp_path / "mine").read_text() == text


@pytest.mark.parametrize("name", [*FOREIGN, "shards/00000000-0123456789abcdef.jsonl"])
def test_a_foreign_folder_is_not_recovered(name, tmp_path):
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text('{"shard": 0, "digest": "0123456789abcdef", "check": "0123456789abcdef"}')
    before = held(out)
    with pytest.raises(ValueError, match=r"choose (a new or an empty|another) folder"):
        quiet(ROWS, out=out, recover=True)
    assert held(out) == before


def test_in_a_new_folder_there_is_nothing_to_recover(tmp_path):
    report = quiet(ROWS, out=tmp_path / "new", recover=True)
    assert report.manifest["scored_now"] == 20 and "recovered" not in report.manifest


def test_a_plan_counts_as_done_what_a_run_would_keep(tmp_path):
    quiet(ROWS, out=tmp_path)
    plan = partial(plan_run, ROWS, "bleu", out=tmp_path, shard_size=5)
    old(min((tmp_path / "shards").iterdir()))
    assert (plan().scored, plan(options={"n": 2}).scored) == (20, 5)
    lose(tmp_path)
    assert (plan().scored, plan().to_score) == (15, 5)
    with pytest.warns(UserWarning, match="nothing proves"):
        assert quiet(ROWS, out=tmp_path, recover=True).manifest["scored_now"] == 5


# ---------------------------------------------------------------- whole or not at all


def test_on_a_full_disk_a_good_page_stays(tmp_path):
    """A limit on the size of files stands for the full disk."""
    quiet(ROWS, out=tmp_path / "out")
    page = tmp_path / "page.html"
    RunReport.load(tmp_path / "out").to_html(page)
    before = page.read_bytes()
    code = "import sys, resource, signal; from summeval_nb.runs.run_report import RunReport"
    code += "; report = RunReport.load(sys.argv[1]); signal.signal(signal.SIGXFSZ, signal.SIG_IGN)"
    code += "; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)); report.to_html(sys.argv[2])"
    command = [sys.executable, "-B", "-c", code, str(tmp_path / "out"), str(page)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert done.returncode != 0 and "File too large" in done.stderr
    assert page.read_bytes() == before and len(before) > 2048
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "page.html"]


@pytest.mark.parametrize("name", ["results.jsonl", "manifest.json"])
def test_a_file_changed_after_the_run_is_not_reported(name, tmp_path):
    """A digit changed in the results or in the mean: the report is refused, and calling run again mends it."""
    call = {"metric": "bleu", "out": tmp_path / "o", "workers": 0, "progress": False}
    rows = [{"candidate": "the cat sat on the mat", "references": "the cat sat on a mat"}]
    true = run(rows, **call)
    good, path = true.mean(), tmp_path / "o" / name
    text = path.read_text()
    digits = str(good)
    assert digits in text
    path.write_text(text.replace(digits, digits.replace(digits[1], "9" if digits[1] != "9" else "8", 1)))
    with pytest.raises(ValueError, match="was changed after the run"):
        list(RunReport.load(tmp_path / "o").rows())
    again = run(rows, **call)
    assert again.mean() == good and path.exists() and [row["score"] for row in again.rows()] == [good]


# ---------------------------------------------------------------- rows that cannot be written, shards that are kept


def test_an_id_that_is_no_number_loses_nothing(tmp_path):
    rows = [{**row, "id": float("nan") if row["id"] < 2 else row["id"]} for row in ROWS]
    report = quiet(rows, out=tmp_path)
    assert report.counts["failed"] == 0 and [row["id"] for row in report.rows()][:3] == [None, None, 2]


def test_half_characters_in_a_table_are_escapes(tmp_path):
    rows = [{**row, "id": f"\ud83d{row['id']}"} for row in ROWS]
    report = quiet(rows, out=tmp_path, output="parquet")
    assert [row["id"] for row in report.rows()][:2] == ["\\ud83d0", "\\ud83d1"]


def test_a_missing_table_library_is_said_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"\[parquet\]"):
        quiet(ROWS, out=tmp_path / "out", output="parquet")
    assert not (tmp_path / "out").exists()


def test_every_finished_shard_is_kept_whatever_the_order():
    from concurrent.futures import Future
    from threading import Event

    from summeval_nb.runs.engines import in_flight

    def submit(number):
        future = Future()
        future.set_exception(RuntimeError("stopped")) if number == 0 else future.set_result(number)
        return future

    kept = []
    with pytest.raises(RuntimeError, match="stopped"):
        for result in in_flight(range(3), submit, 3, Event()):
            kept.append(result)
    assert kept == [1, 2]

    def broken():
        yield from (1, 2)
        raise ValueError("the corpus ends in the middle")

    kept.clear()
    with pytest.raises(ValueError, match="in the middle"):
        for result in in_flight(broken(), submit, 4, Event()):
            kept.append(result)
    assert kept == [1, 2]


PRESSES = """
import faulthandler, random, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from summeval_nb.runs.engines import Interrupts
from summeval_nb.runs.engines import in_flight

def score(shard):
    time.sleep(0.0002)
    return shard, None

random.seed(int(sys.argv[1]))
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
for _ in range(2000):
    faulthandler.dump_traceback_later(60, exit=True)
    try:
        with Interrupts() as interrupts, ThreadPoolExecutor(1) as pool:
            try:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0005, 0.01))
                for _ in in_flight(range(10**9), lambda n: pool.submit(score, n), 2, threading.Event(), interrupts):
                    pass
            finally:
                with interrupts.kept_back():
                    pool.shutdown(wait=False, cancel_futures=True)
    except KeyboardInterrupt:
        continue
    sys.exit("an interrupt was lost")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that sends a signal")
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_ctrl_c_at_any_moment_ends_it(seed):
    # Raised by Python's own handler at any step, it left a lock taken or was lost, some times in a thousand.
    done = subprocess.run([sys.executable, "-c", PRESSES, str(seed)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_run_gives_back_the_handler_of_ctrl_c():
    from summeval_nb.runs.engines import Interrupts

    before = signal.getsignal(signal.SIGINT)
    seen = []
    try:
        for handler in (signal.SIG_IGN, lambda *_: seen.append("pressed"), signal.default_int_handler):
            signal.signal(signal.SIGINT, handler)
            raised = pytest.raises(KeyboardInterrupt) if handler is signal.default_int_handler else nullcontext()
            with raised, Interrupts() as interrupts, interrupts.kept_back():
                signal.raise_signal(signal.SIGINT)
            assert interrupts.pressed == (handler is signal.default_int_handler)
            assert signal.getsignal(signal.SIGINT) == handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == ["pressed"]


def test_a_ray_that_does_not_start_has_a_name(monkeypatch):
    from summeval_nb.runs import engines

    class Ray:
        def is_initialized(self):
            return False

        def init(self, address, **options):
            assert address == "local" and options["num_cpus"] == 1
            raise Exception("The current node timed out during startup.")

    monkeypatch.setattr(engines, "require_module", lambda name, extra: Ray())
    stopped = pytest.raises(engines.RunStopped, match="Ray could not be started: The current node timed out")
    with stopped, engines.cluster(None, 1):
        pass


class FakeRay:
    """As much of Ray as a window uses, with two actors that take turns; the second one refuses."""

    def __init__(self, address="127.0.0.1"):
        self.data, self.util = self, SimpleNamespace(get_node_ip_address=lambda: address)
        self._private = SimpleNamespace(ray_constants=SimpleNamespace(ENABLE_RAY_CLUSTER=True))
        self.started_with = None

    def is_initialized(self):
        return False

    def init(self, address, **options):
        self.started_with = os.environ.get(VARIABLE), self._private.ray_constants.ENABLE_RAY_CLUSTER

    def shutdown(self):
        pass

    def cluster_resources(self):
        return {"CPU": 2}

    def put(self, value):
        return value

    get = put

    class DataContext:
        @staticmethod
        def get_current():
            return SimpleNamespace()

    def ActorPoolStrategy(self, **sizes):
        return sizes

    def remote(self, **options):
        class Handle:
            def __init__(self, kind):
                self.kind, self.actor = kind, None

            def remote(self):
                self.actor = self.kind()
                return self

            def __getattr__(self, name):
                return SimpleNamespace(remote=getattr(self.actor, name))

        return Handle

    def from_arrow_refs(self, blocks):
        self.blocks = [block.to_pylist()[0] for block in blocks]
        return self

    def map_batches(self, scorer, fn_constructor_args, **options):
        packed, version, *rest = fn_constructor_args
        self.actors = [scorer(packed, version, *rest), scorer(packed, "0", *rest)]
        return self

    def iter_rows(self):
        first, second = self.actors
        for actor, number in ((first, 0), (first, 1), (second, 2), (first, 3), (first, 4)):
            row = self.blocks[number]
            under_way = first._score(self.blocks[5]["data"]) if actor is second else None
            yield {"number": row["number"], "answer": actor._score(row["data"])}
            if under_way is not None:  # finished before the refusal, arrives after it
                yield {"number": self.blocks[5]["number"], "answer": under_way}
        first._worker.close()


def ray_window(monkeypatch, ray, stop=None):
    from summeval_nb.runs import engines
    from summeval_nb.runs.jobs import Job

    real = engines.require_module
    monkeypatch.setattr(
        engines, "require_module", lambda name, extra: ray if name.startswith("ray") else real(name, extra)
    )
    rows = [{"candidate": "the cat", "references": f"the cat {n}"} for n in range(6)]
    shards = list(make_shards(open_items(rows), 1))
    yield from engines.run_ray(shards, Job("bleu"), 2, stop=stop)


@pytest.mark.nightly
def test_every_finished_shard_is_kept_when_one_actor_refuses(monkeypatch):
    pytest.importorskip("pyarrow")
    kept = []
    with pytest.raises(ImportError, match="the cluster has summeval_nb"):
        for shard, _ in ray_window(monkeypatch, FakeRay()):
            kept.append(shard.number)
    assert kept == [0, 1, 5]  # 5 was under way and came after the refusal; 3 and 4 were not begun any more


@pytest.mark.nightly
def test_what_is_finished_when_a_run_on_ray_stops_still_comes(monkeypatch):
    pytest.importorskip("pyarrow")
    stop, kept, ray = Event(), [], FakeRay()
    ray.iter_rows = lambda: iter(
        [{"number": row["number"], "answer": ray.actors[0]._score(row["data"])} for row in ray.blocks[:2]]
        + [{"number": row["number"], "answer": pickle.dumps(None)} for row in ray.blocks[2:]]
    )
    for shard, _ in ray_window(monkeypatch, ray, stop):
        kept.append(shard.number)
        stop.set()
    ray.actors[0]._worker.close()
    assert kept == [0, 1]


def test_only_a_ray_of_our_own_is_told_to_stay_on_loopback(monkeypatch, recwarn):
    from summeval_nb.runs import engines

    monkeypatch.delenv(VARIABLE, raising=False)
    for address, set_by_user, expected in (
        (None, None, ("0", False)),
        (None, "1", ("1", True)),
        ("auto", None, (None, True)),
    ):
        ray = FakeRay()
        monkeypatch.setattr(engines, "require_module", lambda name, extra, ray=ray: ray)
        monkeypatch.setattr(engines, "require_answering", lambda address: None)
        if set_by_user:
            monkeypatch.setenv(VARIABLE, set_by_user)
        with engines.cluster(address, 1):
            assert ray.started_with == expected
            assert os.environ.get(VARIABLE) == set_by_user and ray._private.ray_constants.ENABLE_RAY_CLUSTER
        monkeypatch.delenv(VARIABLE, raising=False)
    assert not recwarn.list
    ray = FakeRay("10.0.0.7")
    monkeypatch.setattr(engines, "require_module", lambda name, extra: ray)
    with (
        pytest.warns(UserWarning, match="listens on 10.0.0.7, where other machines reach it"),
        engines.cluster(None, 1),
    ):
        pass


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("somewhere", "address must be 'auto' or 'host:port', not 'somewhere'"),
        ("host:", "address must be 'auto' or 'host:port'"),
        ("ray://10.0.0.1:10001", "an address for Ray Client, over which Ray Data does not run"),
    ],
)
def test_an_address_that_is_none_is_refused_before_ray_is_asked(address, message):
    from summeval_nb.runs.engines import require_reachable

    with pytest.raises(ValueError, match=message):
        require_reachable(address)


def test_without_shards_no_ray_is_started(monkeypatch):
    from summeval_nb.runs import engines
    from summeval_nb.runs.jobs import Job

    monkeypatch.setattr(engines, "require_module", None)
    assert list(engines.run_ray([], Job("bleu"), 2)) == []


def test_a_worker_is_given_more_time_for_many_items():
    from summeval_nb.core.items import Item
    from summeval_nb.runs.engines import Patience

    class Asked:
        def make_ready(self):
            pass

        def ask(self, first, items, seconds=None):
            self.seconds = seconds
            return "found"

    asked, patience, items = Asked(), Patience(20, per_item=3), [Item(1, b"{}")] * 4
    assert patience.ask(asked, 0, items) == "found" and asked.seconds == 20 + 2 * 3 * 4
    assert 0 < patience.per_item < 1 and patience.ask(asked, 0, items[:1]) and asked.seconds == 20
    assert Patience(None).ask(asked, 0, items) == "found" and asked.seconds is None


@pytest.mark.parametrize("bounds", [(10**9, 120), (120, 10**9), (10**9, 10**8)], ids=["narrower", "wider", "as it was"])
def test_a_run_of_other_bounds_of_bytes_is_continued(bounds, monkeypatch, tmp_path):
    wanted = quiet(ROWS, out=tmp_path / "wanted")
    monkeypatch.setattr("summeval_nb.core.items.SHARD_BYTES", bounds[0])
    quiet(ROWS[:12], out=tmp_path / "out")
    monkeypatch.setattr("summeval_nb.core.items.SHARD_BYTES", bounds[1])
    report = quiet(ROWS, out=tmp_path / "out")
    assert list(report.rows()) == list(wanted.rows())
    assert report.manifest["kept_from_before"] == (0 if 120 in bounds else 10)
    count = len(list((tmp_path / "out" / "shards").glob("*.jsonl")))
    assert count == len(list(make_shards(open_items(ROWS), 5)))


PEAK = """
import sys
from summeval_nb.runs.batch import run
def peak():
    status = open("/proc/self/status").read()  # ru_maxrss would begin with the peak of the process that started us
    return int(status.split("VmHWM:")[1].split()[0])
text, before = "It rained. " * 100_000, peak()
rows = ({"id": number, "text": f"{number} {text}"} for number in range(100))
run(rows, lambda row: len(row["text"]), out=sys.argv[1], workers=0, progress=False)
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_large_rows_do_not_fill_the_memory(tmp_path):
    """100 rows of a megabyte would be a single shard of 100 MB, and twice that when they are read."""
    command = [sys.executable, "-W", "ignore", "-c", PEAK, str(tmp_path / "out")]
    found = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert int(found.stdout) < 110 * 1024
