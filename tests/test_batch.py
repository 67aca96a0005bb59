"""Long runs under real faults: kills, crashes, a full disk, broken input, two runs on one folder."""

import json
import math
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest
from helpers.late import Late
from helpers.made_up import MadeUpModel
from helpers.patience import comes_back

from summeval_nb import bleu_score, rouge_score
from summeval_nb.core.items import make_shards, open_items
from summeval_nb.core.results import Verdict
from summeval_nb.evidence.faithfulness import evaluate_many
from summeval_nb.runs.batch import run
from summeval_nb.runs.costs import Ledger, MeteredChecker
from summeval_nb.runs.plan import plan_run
from summeval_nb.runs.workers import RunStopped

pd = Late("pandas")

ROOT = Path(__file__).parents[1]
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "over", "mat", "hill", "and", "then", "it", "rained"]


def corpus(count, seed=0):
    rng = random.Random(seed)
    sentence = lambda: " ".join(rng.choices(WORDS, k=rng.randint(3, 9)))
    return [
        {"id": f"doc{i}", "candidate": sentence(), "references": [sentence() for _ in range(1 + i % 2)]}
        for i in range(count)
    ]


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


quiet = partial(run, progress=False, workers=1)


def lines(folder):
    return [json.loads(line) for line in (Path(folder) / "results.jsonl").read_text().splitlines()]


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}


def start(code, *arguments, **kinds):
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], env=environment(), **kinds)


# ---------------------------------------------------------------- the same numbers as the metrics


@pytest.mark.nightly
def test_bleu_and_rouge_rows_are_the_metrics_numbers(tmp_path):
    rows = corpus(23)
    bleu = quiet(rows, "bleu", out=tmp_path / "b", options={"n": 2}, shard_size=5)
    for row, line in zip(rows, lines(tmp_path / "b"), strict=True):
        wanted = bleu_score(row["candidate"], row["references"], 2)
        assert math.isclose(line["score"], wanted.score, rel_tol=1e-12) and line["signature"] == str(wanted.signature)
        assert line["id"] == row["id"] and line["parts"]["counts"] == list(wanted.counts)
    assert math.isclose(bleu.mean(), sum(line["score"] for line in lines(tmp_path / "b")) / 23)
    quiet(rows, "rouge", out=tmp_path / "r", options={"types": ["rouge1", "rougeL"]}, shard_size=5)
    for row, line in zip(rows, lines(tmp_path / "r"), strict=True):
        wanted = rouge_score(row["candidate"], row["references"], types=["rouge1", "rougeL"])
        assert math.isclose(line["score"], wanted["rougeL"].f1) and line["parts"]["rouge1"]["f1"] == wanted["rouge1"].f1


@pytest.mark.nightly
def test_faithfulness_rows_hold_the_numbers_and_the_evidence(tmp_path):
    from summeval_nb import evaluate
    from summeval_nb.core.data import sample_articles
    from summeval_nb.evidence import faithfulness_from_dict

    sample = sample_articles()[0]
    rows = [{"text": sample.text, "summary": summary.text} for summary in sample.summaries.values()]
    report = quiet(
        [*rows, {"text": sample.text, "summary": ""}], "faithfulness", out=tmp_path / "f", store=tmp_path / "s"
    )
    assert report.counts == {"ok": len(rows), "undefined": 1, "failed": 0}
    for row, line in zip(rows, lines(tmp_path / "f"), strict=False):
        wanted = evaluate(row["text"], row["summary"])
        assert line["score"] == wanted.score and len(line["parts"]["sentences"]) == len(wanted.sentences)
        again = faithfulness_from_dict({**line["parts"], **line})
        assert again.source_sentences == wanted.source_sentences
        shown = [[found.index for found in verdict.evidence] for verdict in again.verdicts]
        assert shown == [[found.index for found in verdict.evidence] for verdict in wanted.verdicts]
    assert (tmp_path / "s").exists()


INPUTS = ["jsonl", "gzip", "csv", "parquet", "frame", "dataset", "iterator"]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", INPUTS)
def test_every_kind_of_input_gives_the_same_rows(kind, tmp_path):
    rows = [{**row, "references": row["references"][0]} for row in corpus(12)]
    frame = pd.DataFrame(rows)
    if kind == "jsonl":
        items = write_jsonl(tmp_path / "items.jsonl", rows)
    elif kind == "gzip":
        import gzip

        items = tmp_path / "items.jsonl.gz"
        items.write_bytes(gzip.compress(write_jsonl(tmp_path / "plain", rows).read_bytes()))
    elif kind == "csv":
        frame.to_csv(items := tmp_path / "items.csv", index=False)
    elif kind == "parquet":
        frame.to_parquet(items := tmp_path / "items.parquet")
    elif kind == "dataset":
        items = pytest.importorskip("datasets").Dataset.from_list(rows)
    else:
        items = frame if kind == "frame" else iter(rows)
    quiet(items, "bleu", out=tmp_path / "out", shard_size=5)
    quiet(rows, "bleu", out=tmp_path / "wanted", shard_size=5)
    assert (tmp_path / "out/results.jsonl").read_bytes() == (tmp_path / "wanted/results.jsonl").read_bytes()


@pytest.mark.nightly
def test_workers_do_not_change_a_byte(tmp_path):
    rows = corpus(40)
    for count in (0, 1, 2):
        quiet(rows, "bleu", out=tmp_path / str(count), shard_size=7, workers=count)
    results = [(tmp_path / str(count) / "results.jsonl").read_bytes() for count in (0, 1, 2)]
    assert results[0] == results[1] == results[2]


@pytest.mark.nightly
def test_parquet_holds_the_same_rows(tmp_path):
    rows = corpus(12)
    report = quiet(rows, "bleu", out=tmp_path / "p", output="parquet", shard_size=5)
    quiet(rows, "bleu", out=tmp_path / "j", shard_size=5)
    assert report.path.name == "results.parquet" and list(report.rows()) == lines(tmp_path / "j")


ODD = [
    b'{"a": "\\ud83d"}',
    b'{"a": NaN}',
    b'{"a": -Infinity}',
    b'{"a": 123456789012345678901234567890}',
    b'{"a": 1e400}',
]
ODD += [
    b'{"a":1}x',
    b"\xff",
    b'{"a":"\n"}',
    b"[1,]",
    b'{"a":Inf}',
    b"01",
    b'{"a":1,"a":2}',
    b"-0.0",
    b"1E5",
    b"\xef\xbb\xbf{}",
]
ODD += [
    b"  {} \t\r",
    b"\x0b{}",
    b"1.",
    b".5",
    b"-",
    b"truex",
    b'{"a": "\\u0000"}',
    b"",
    b'{"a',
    b"null",
    b'{"\xc3\xa9": 1}',
]


@pytest.mark.parametrize("data", ODD, ids=repr)
def test_the_fast_parser_reads_what_pythons_own_reads(data):
    """Whatever pydantic's parser makes of a line, the answer is that of the standard library, errors included."""
    from summeval_nb.runs.jobs import _parse

    def tried(parse):
        try:
            return repr(parse())
        except ValueError as error:
            return type(error).__name__, str(error)

    assert tried(lambda: _parse(data)) == tried(lambda: json.loads(data.decode()))


def test_the_fast_parser_agrees_on_any_rows():
    from summeval_nb.runs.jobs import _parse

    rng = random.Random(3)
    pool = [
        None,
        True,
        -1,
        0.1,
        1e-7,
        "é\u2028\U0001f600",
        'quo"te\\',
        "",
        [],
        {},
        [1, ["x"]],
        {"k": {"l": [None]}},
        2**70,
    ]
    for _ in range(500):
        row = {f"k{i}": rng.choice(pool) for i in range(rng.randint(0, 6))}
        data = json.dumps(row, ensure_ascii=rng.random() < 0.5).encode()
        assert _parse(data) == row
        cut = data[: rng.randrange(len(data))]
        with pytest.raises(ValueError):
            _parse(cut)


@pytest.mark.nightly
def test_a_stray_module_beside_the_script_ends_no_worker(tmp_path):
    """`re.py` next to a script: Python itself starts without it, and so must the workers."""
    (tmp_path / "re.py").write_text("raise SystemExit('the wrong re')")
    script = "from summeval_nb.runs.batch import run\n"
    script += "print(run([{'candidate': 'a', 'references': 'a'}], 'bleu', out='out', workers=1, progress=False).mean())"
    (tmp_path / "night.py").write_text(script)
    code = (
        f"import re, sys, runpy; sys.path.insert(0, {str(tmp_path)!r}); runpy.run_path({str(tmp_path / 'night.py')!r})"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment(), cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.startswith("100"), done.stderr


# ---------------------------------------------------------------- kills

NIGHT = """
import sys, time
from summeval_nb.runs.batch import run
from summeval_nb.overlap.translation import bleu_score
def slow_bleu(row):
    time.sleep(0.002)
    return bleu_score(row["candidate"], row["references"], 2)
slow_bleu.fingerprint = "slow BLEU v1"
run(sys.argv[1], slow_bleu, out=sys.argv[2], shard_size=6, workers=2, progress=False)
print("done")
"""


HERE = NIGHT.replace("workers=2", "workers=0")


@pytest.mark.parametrize(
    ("script", "times"),
    [
        pytest.param(NIGHT, 4, id="workers", marks=pytest.mark.slow),
        pytest.param(HERE, 4, id="this process", marks=pytest.mark.nightly),
    ],
)
def test_kills_lose_nothing(script, times, tmp_path):
    """One corpus, kill -9 at random moments: the result is that of a run nobody disturbed."""
    file = write_jsonl(tmp_path / "items.jsonl", corpus(600))
    whole = start(script, file, tmp_path / "whole", stdout=subprocess.PIPE)
    assert b"done" in whole.communicate()[0]
    rng, kills, shards = random.Random(7), 0, tmp_path / "out" / "shards"
    while kills < times:
        process = start(script, file, tmp_path / "out", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        before = len(list(shards.glob("*.jsonl"))) if shards.exists() else 0
        wanted = before + rng.choice([0, 1, 2, 3, 5])  # some kills while it starts, some in the middle
        deadline = time.monotonic() + rng.uniform(0.05, 1.0) + 60 * (wanted > before)
        while process.poll() is None and time.monotonic() < deadline:
            if wanted > before and shards.exists() and len(list(shards.glob("*.jsonl"))) >= wanted:
                time.sleep(rng.uniform(0, 0.02))
                break
            time.sleep(0.002)
        assert process.poll() is None, f"it ended before kill {kills + 1}: {process.communicate()}"
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += 1
        assert not (tmp_path / "out" / "results.jsonl").exists()
    last = start(script, file, tmp_path / "out", stdout=subprocess.PIPE)
    assert b"done" in last.communicate()[0]
    assert (tmp_path / "out/results.jsonl").read_bytes() == (tmp_path / "whole/results.jsonl").read_bytes()
    assert [line["item"] for line in lines(tmp_path / "out")] == list(range(600))
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["kept_from_before"] > 0 and manifest["scored_now"] + manifest["kept_from_before"] == 600
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        ".lock",
        "manifest.json",
        "results.jsonl",
        "shards",
    ]


@pytest.mark.nightly
def test_workers_leave_when_their_parent_is_killed(tmp_path):
    psutil = pytest.importorskip("psutil")
    file = write_jsonl(tmp_path / "items.jsonl", corpus(600))
    process = start(NIGHT, file, tmp_path / "out")
    family = psutil.Process(process.pid)
    deadline = time.monotonic() + 60
    while len(family.children()) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    workers = family.children()
    assert len(workers) == 2
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(workers, 20)
    assert not alive


def heed_interrupts():
    """A shell starts background jobs deaf to Ctrl-C, and their children inherit it; a terminal's process is not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.nightly
def test_ctrl_c_stops_at_once_and_can_be_continued(tmp_path):
    file = write_jsonl(tmp_path / "items.jsonl", corpus(4000))  # some seconds of work, also on a busy machine
    terminal = {"start_new_session": True, "preexec_fn": heed_interrupts}
    process = start(NIGHT, file, tmp_path / "out", stderr=subprocess.PIPE, **terminal)
    shards = tmp_path / "out" / "shards"
    while not shards.exists() or len(list(shards.glob("*.jsonl"))) < 3:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0 and b"KeyboardInterrupt" in errors
    again = start(NIGHT, file, tmp_path / "out", stdout=subprocess.PIPE)
    assert b"done" in again.communicate()[0]
    assert len(lines(tmp_path / "out")) == 4000


# ---------------------------------------------------------------- crashes


def fragile(row):
    if row["text"] == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if row["text"] == "exit":
        os._exit(3)
    if row["text"] == "raise":
        raise ValueError("this row cannot be scored")
    return len(row["text"])


fragile.fingerprint = "fragile v1"


def hangs(row):
    time.sleep(1000 if row["text"] == "hang" else 0)
    return len(row["text"])


def slow(row):
    time.sleep(0.06)
    return len(row["text"])


def once(row, marker):
    """Dies at its first call ever: an accident, not a poison item."""
    if not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return len(row["text"])


@pytest.mark.nightly
def test_poison_items_are_isolated_and_the_rest_completes(tmp_path):
    texts = ["a", "crash", "bb", "raise", "ccc", "exit", "dddd"] + ["e"] * 10
    report = quiet([{"id": t, "text": t} for t in texts], fragile, out=tmp_path, shard_size=4, workers=2)
    found = {line["item"]: line for line in lines(tmp_path)}
    assert sorted(found) == list(range(len(texts))) and report.counts == {"ok": 14, "undefined": 0, "failed": 3}
    assert found[1]["reason"] == "at 2: the worker process was ended by SIGSEGV"
    assert found[3]["reason"] == "at 4: ValueError: this row cannot be scored"
    assert found[5]["reason"] == "at 6: the worker process ended itself with exit code 3"
    assert [found[i]["score"] for i in (0, 2, 4, 6)] == [1, 2, 3, 4] and found[1]["id"] == "crash"


@pytest.mark.nightly
def test_an_item_that_never_returns_is_ended_the_rest_completes(tmp_path):
    psutil = pytest.importorskip("psutil")
    texts = ["a", "bb", "hang", "ccc", "d", "hang", "ee"]
    before = {child.pid for child in psutil.Process().children(recursive=True)}  # such as pytest's own helpers
    with comes_back(300):
        report = quiet([{"text": t} for t in texts], hangs, out=tmp_path / "out", shard_size=4, workers=2, timeout=1.5)
    assert report.counts == {"ok": 5, "undefined": 0, "failed": 2}
    found = {line["item"]: line for line in lines(tmp_path / "out")}
    assert found[2]["reason"] == "at 3: no answer within 1.5 s; the worker process was ended"
    assert [found[i]["score"] for i in (0, 1, 3, 4, 6)] == [1, 2, 3, 1, 2]
    left = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
    assert not left  # nobody is left sleeping


@pytest.mark.nightly
def test_a_time_out_accuses_nobody_of_being_one_of_many(tmp_path):
    """A shard of slow items takes longer than the time-out of one: it loses time and no item."""
    report = quiet([{"text": "x" * i} for i in range(30)], slow, out=tmp_path, shard_size=10, timeout=0.5)
    assert report.counts == {"ok": 30, "undefined": 0, "failed": 0} and report.mean() == 14.5


@pytest.mark.nightly
def test_an_accident_accuses_nobody(tmp_path):
    rows = [{"text": "x" * i} for i in range(9)]
    report = quiet(rows, partial(once, marker=str(tmp_path / "marker")), out=tmp_path / "out", shard_size=3)
    assert (tmp_path / "marker").exists() and report.counts["failed"] == 0 and report.mean() == 4


@pytest.mark.nightly
def test_on_error_raise_stops_and_keeps_what_was_done(tmp_path):
    rows = [{"text": t} for t in ["a", "b", "raise", "c"]]
    with pytest.raises(RunStopped, match="at 3: ValueError: this row cannot be scored"):
        quiet(rows, fragile, out=tmp_path, shard_size=2, on_error="raise")
    assert not (tmp_path / "results.jsonl").exists()
    assert quiet(rows, fragile, out=tmp_path, shard_size=2).manifest["kept_from_before"] == 2


def moody(row, flag):
    if row["text"] == "b" and not Path(flag).exists():
        raise ConnectionError("the server is down")
    return 1


@pytest.mark.nightly
def test_failed_shards_are_tried_again_when_asked(tmp_path):
    metric = partial(moody, flag=str(tmp_path / "server"))
    metric.fingerprint = "moody v1"
    rows = [{"text": t} for t in "abcd"]
    assert quiet(rows, metric, out=tmp_path / "out", shard_size=1).counts["failed"] == 1
    (tmp_path / "server").touch()
    assert quiet(rows, metric, out=tmp_path / "out", shard_size=1).counts["failed"] == 1
    again = quiet(rows, metric, out=tmp_path / "out", shard_size=1, retry_failed=True)
    assert again.counts == {"ok": 4, "undefined": 0, "failed": 0} and again.manifest["scored_now"] == 1


# ---------------------------------------------------------------- what it costs


def says_yes(prompt):
    return "yes"


def plays_judge(prompt):
    """A judge that refuses nothing, finds one statement in each unit, and is sometimes not understood."""
    cases = [json.loads(found) for found in re.findall(r"^Case(?: \d+)?: (\{.*\})$", prompt, re.MULTILINE)]
    if set(cases[0]) == {"answer"}:
        return "no"
    replies = []
    for case in cases:
        if "units" in case:
            replies.append(case["units"])
        elif "hypothesis" in case:
            replies.append([case["hypothesis"]])
        elif "statements" in case:
            replies.append([{"label": "entailed", "evidence": []}] * len(case["statements"]))
        elif "questions" in case:
            replies.append([{"answer": "1", "evidence": []}] * len(case["questions"]))
        elif "keyphrases" in case:
            replies.append(
                [{"question": f"Is it {phrase}?", "statement": f"It is {phrase}."} for phrase in case["keyphrases"]]
            )
        else:
            replies.append([f"phrase {i}" for i in range(case["n"])])
    return json.dumps({f"case_{i}": reply for i, reply in enumerate(replies, 1)})


def answer_rows(count):
    return [
        {
            "id": i,
            "context": f"It rained on day {i % 7}. It was cold. The ferry stayed in the harbour.",
            "question": "How was it?",
            "ground_truth": f"It rained on day {i % 7}.",
            "answer": f"It rained, on day {i % 7}, and it was cold on day {i}.",
        }
        for i in range(count)
    ]


def pair_rows(count):
    return [
        {"text": f"It rained on day {i % 5}. It was cold.", "summary": f"It rained on day {i % 5}. Cold it was, {i}."}
        for i in range(count)
    ]


def judged(name):
    from summeval_nb import LLMChecker, ScriptedBackend
    from summeval_nb.judged import LLMJudge

    scripted = ScriptedBackend(plays_judge if name in ("answers", "summary_score") else says_yes)
    rows = answer_rows(23) if name == "answers" else pair_rows(23)
    options = {
        "answers": {"judge": LLMJudge(scripted)},
        "summary_score": {"judge": LLMJudge(scripted), "n_keyphrases": 3},
        "faithfulness": {"checker": LLMChecker(scripted)},
        "rating": {"backend": ScriptedBackend(says_four, name="four"), "quality": "coherence"},
    }[name]
    return rows, {"options": options, "columns": {"contexts": "text"} if name == "summary_score" else {}}


def says_four(prompt):
    return "4"


JUDGED = ["answers", "summary_score", "faithfulness", "rating"]


@pytest.mark.nightly
@pytest.mark.parametrize("metric", JUDGED)
def test_the_ledger_holds_what_the_backend_counted(metric, tmp_path):
    from summeval_nb.runs.costs import find_backends

    rows, rest = judged(metric)
    (backend,) = find_backends(rest["options"])
    report = quiet(rows, metric, out=tmp_path / "one", **rest, shard_size=5, workers=0)
    assert report.counts == {"ok": 23, "undefined": 0, "failed": 0}
    total = {
        name: sum(stage[name] for stage in report.usage.values()) for name in ("calls", "call_seconds", "from_store")
    }
    assert total["calls"] == backend.usage.calls > 0 and total["from_store"] == 0
    assert math.isclose(total["call_seconds"], backend.usage.seconds)
    # two workers count apart; their ledgers add up to the same
    quiet(rows, metric, out=tmp_path / "two", **rest, shard_size=5, workers=2)
    two = json.loads((tmp_path / "two" / "manifest.json").read_text())["usage"]
    assert {name: stage["calls"] for name, stage in two.items()} == {n: s["calls"] for n, s in report.usage.items()}
    assert (tmp_path / "one/results.jsonl").read_bytes() == (tmp_path / "two/results.jsonl").read_bytes()


@pytest.mark.parametrize("metric", JUDGED)
def test_answers_from_the_store_are_counted_apart(metric, tmp_path):
    rows, rest = judged(metric)
    rest |= {"shard_size": 5, "store": tmp_path / "kept.sqlite"}
    first = quiet(rows, metric, out=tmp_path / "one", **rest, workers=0)
    again = quiet(rows, metric, out=tmp_path / "two", **rest, workers=0)
    assert all(stage["calls"] == 0 and stage["from_store"] > 0 for stage in again.usage.values())
    asked = {name: stage["questions"] for name, stage in first.usage.items()}
    assert asked == {name: stage["from_store"] for name, stage in again.usage.items()}
    plan = plan_run(rows, metric, **rest, sample=5)
    assert plan.calls.value == 0 and plan.total["from_store"] == plan.total["questions"]
    assert (tmp_path / "one/results.jsonl").read_bytes() == (tmp_path / "two/results.jsonl").read_bytes()
    assert "What it cost" in again.to_html(tmp_path / "page.html").read_text()


def test_the_plan_of_a_half_done_run_counts_the_other_half(tmp_path):
    rows, rest = judged("rating")
    quiet(rows[:10], "rating", out=tmp_path, **rest, shard_size=5, workers=0)
    plan = plan_run(rows, "rating", out=tmp_path, **rest, shard_size=5)
    assert (plan.items, plan.scored, plan.to_score, plan.calls.value) == (23, 10, 13, 13)


PAID = """
import sys, time
from summeval_nb import LLMChecker, ScriptedBackend
from summeval_nb.runs.batch import run
def slow_yes(prompt):
    time.sleep(0.01)
    return "yes"
rows = [{"text": f"It rained on day {i}.", "summary": f"It rained on day {i}."} for i in range(120)]
checker = LLMChecker(ScriptedBackend(slow_yes, name="slow"))
run(rows, "faithfulness", out=sys.argv[1], options={"checker": checker}, shard_size=4, workers=2, progress=False)
print("done")
"""


@pytest.mark.nightly
def test_ledgers_of_killed_attempts_add_up(tmp_path):
    """Each finished shard is in the ledger once: after two kills the calls of all finished shards are there."""
    for wanted in (3, 8):
        process = start(PAID, tmp_path / "out", stdout=subprocess.PIPE)
        shards = tmp_path / "out" / "shards"
        while process.poll() is None and (not shards.exists() or len(list(shards.glob("*.jsonl"))) < wanted):
            time.sleep(0.005)
        process.kill()
        process.communicate()
    last = start(PAID, tmp_path / "out", stdout=subprocess.PIPE)
    assert b"done" in last.communicate()[0]
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    calls, now = manifest["usage"]["checking"]["calls"], manifest["usage_now"]["checking"]["calls"]
    assert 120 <= calls <= 120 + 2 * 4 and now < 120  # a shard may be noted and killed before its file was there
    assert now == manifest["scored_now"]


@pytest.mark.nightly
def test_the_tiny_llama_reports_its_tokens(tmp_path):
    from summeval_nb.models.base import example_model

    sentence = "Anna bought a red car in Paris."
    rows = [{"text": sentence, "summary": "Anna bought a red car."}, {"text": sentence, "summary": "Ben sold a boat."}]
    options = {"checker": f"llm:{example_model()}"}
    plan = plan_run(rows, "faithfulness", options=options)
    report = quiet(rows, "faithfulness", out=tmp_path, options=options, workers=2, shard_size=1)
    used = report.usage["checking"]
    assert used["calls"] == used["generated_tokens"] == 2 and used["prompt_tokens"] > 100
    planned = plan.stages["checking"]
    assert planned["calls"].value == planned["generated_tokens_at_most"].value == 2
    assert abs(planned["prompt_tokens"].value - used["prompt_tokens"]) <= 4  # a token around each prompt
    assert [line["score"] for line in lines(tmp_path)] == [1.0, 0.0]
    assert report.manifest["settings"]["options"]["checker"]["name"] == options["checker"]


def test_a_model_of_this_process_needs_a_name_to_go_to_another(tmp_path):
    from summeval_nb import LLMChecker, TransformersBackend
    from summeval_nb.models.base import example_model

    options = {"checker": LLMChecker(TransformersBackend(example_model()))}
    with pytest.raises(TypeError, match=r"name the model, as in \{'checker': 'llm:FOLDER'\}"):
        quiet(pair_rows(2), "faithfulness", out=tmp_path, options=options)
    assert quiet(pair_rows(2), "faithfulness", out=tmp_path, options=options, workers=0).usage["checking"]["calls"] == 4


@pytest.mark.nightly
def test_metrics_without_a_model_keep_no_ledger(tmp_path):
    report = quiet(pair_rows(4), "faithfulness", out=tmp_path)
    assert report.usage == {} and not (tmp_path / "ledger.jsonl").exists()


class UnsureChecker:
    """A checker of a user's own that asks a language model, and leaves what lies between its borders unclear."""

    threshold, contradicted_below = 0.8, 0.3

    def __init__(self, backend):
        self.backend, self.backends = backend, [backend]
        self.fingerprint = "unsure"

    def check_many(self, pairs):
        return [Verdict(probability=0.5) for _ in pairs if self.backend.choose("Is it so?", ["yes", "no"])]


def test_a_metered_checker_keeps_its_borders():
    from summeval_nb.evidence.faithfulness import evaluate
    from summeval_nb.evidence.model_checkers import LLMChecker
    from summeval_nb.models.base import ScriptedBackend

    backend, ledger = ScriptedBackend(lambda prompt: "yes"), Ledger()
    plain = UnsureChecker(backend)
    metered = MeteredChecker(plain, ledger)
    told = [evaluate("It rained.", "It rained.", checker=judge) for judge in (plain, metered)]
    assert [result.n_unclear for result in told] == [1, 1]
    assert str(told[0].signature) == str(told[1].signature) and "contradicted_below:0.3" in str(told[0].signature)
    stricter = evaluate("It rained.", "It rained.", checker=MeteredChecker(LLMChecker(backend), ledger), threshold=0.9)
    assert stricter.signature["threshold"] == "0.9" and ledger.to_dict()["checking"]["questions"] == 2


@pytest.mark.parametrize("claims", ["sentence", "statements"])
def test_a_changed_threshold_counts_usage_once(claims):
    from summeval_nb.evidence.model_checkers import LLMChecker

    model, ledger = MadeUpModel(), Ledger()
    splitter = {"splitter": model} if claims == "statements" else {}
    metered = MeteredChecker(LLMChecker(model, claims=claims, **splitter), ledger)
    for threshold in (0.9, 0.2):
        metered = metered.with_threshold(threshold)
        evaluate_many(["It rained.", "Anna sat."], ["It rained.", "Anna sat."], checker=metered)
    assert metered.threshold == 0.2
    assert ledger.total()["calls"] == model.usage.calls > 0
    assert ledger.total()["call_seconds"] == pytest.approx(model.usage.seconds)
    assert ledger.to_dict()["checking"]["questions"] == 4


def test_a_changed_threshold_counts_usage_once_in_a_run(tmp_path):
    from summeval_nb.evidence.model_checkers import LLMChecker

    model = MadeUpModel()
    options = {"checker": LLMChecker(model), "threshold": 0.9}
    report = quiet(pair_rows(4), "faithfulness", out=tmp_path, options=options, workers=0)
    assert report.usage["checking"]["calls"] == model.usage.calls > 0


def test_a_function_with_a_backend_is_metered(tmp_path):
    from summeval_nb import ScriptedBackend

    metric = partial(asks_twice, backend=ScriptedBackend(says_yes))
    report = quiet(pair_rows(3), metric, out=tmp_path, workers=0)
    assert report.usage["metric"]["calls"] == 6 and report.mean() == 1


def test_who_calls_a_model_says_so():
    """Lists, mappings, arguments and options are looked into; any other object is asked, and a closure is not read."""
    from helpers.wrapping import Wrapped

    from summeval_nb import LLMChecker, ScriptedBackend
    from summeval_nb.core.metric import Metric
    from summeval_nb.judged import LLMJudge
    from summeval_nb.judged.grading import rate
    from summeval_nb.runs.costs import find_backends

    first, second = ScriptedBackend(says_yes, name="one"), ScriptedBackend(says_yes, name="two")
    checker = LLMChecker(first, claims="statements", splitter=second)
    assert find_backends({"checker": checker, "more": [(first,), {"judge": LLMJudge(second)}]}) == [first, second]
    assert find_backends(Wrapped(checker)) == [first, second]
    assert find_backends(Metric(rate, quality="fluency", backend=first)) == [first]
    assert find_backends(partial(asks_twice, backend=second)) == [second]
    assert find_backends(lambda row: first.choose("?", ["yes", "no"])) == []
    asks = lambda row: first.choose("?", ["yes", "no"])
    asks.backends = [first]
    assert find_backends([asks, asks]) == [first]
    for nothing in (None, "embedded", 3, LLMChecker, find_backends, [], {"k": None}):
        assert find_backends(nothing) == []


def asks_twice(row, backend):
    return float(sum(backend.choose(row["summary"], ["yes", "no"]).label == "yes" for _ in range(2)) / 2)


# ---------------------------------------------------------------- disk, lock, damage

FULL = """
import sys
from summeval_nb.core.results import Verdict
from summeval_nb.runs.batch import run
from summeval_nb.runs.workers import RunStopped
rows = ({"id": i, "text": "x" * 200} for i in range(2000))
def metric(row):
    return {"score": 1, "echo": row["text"]}
metric.fingerprint = "echo v1"
try:
    run(rows, metric, out=sys.argv[1], shard_size=100, workers=1, progress=False)
except RunStopped as error:
    print("STOPPED", error)
else:
    print("FINISHED")
"""


@pytest.mark.nightly
def test_a_full_disk_is_a_clear_error_and_the_shards_stay_valid(tmp_path):
    """On a real tmpfs of 200 kB, in a mount namespace of its own."""
    place = tmp_path / "small"
    place.mkdir()
    script = tmp_path / "full.py"
    script.write_text(FULL)
    run_it = f"{sys.executable} {script} {place}/out"
    keep = f"mkdir {tmp_path}/kept && cp {place}/out/shards/*.jsonl {tmp_path}/kept/ && ls -A {place}/out/shards"
    again = f"mount -o remount,size=20m {place} && {run_it} && cp {place}/out/results.jsonl {tmp_path}"
    command = f"mount -t tmpfs -o size=200k none {place} && {run_it} && {keep} && {again}"
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("needs a mount namespace (unshare -rm) for a small disk")
    done = subprocess.run(["unshare", "-rm", "sh", "-c", command], env=environment(), capture_output=True, text=True)
    assert "No space left on device" in done.stdout and "shards written are kept" in done.stdout, done.stderr
    kept = list((tmp_path / "kept").glob("*.jsonl"))
    assert kept and all(len(path.read_text().splitlines()) == 101 for path in kept)
    assert ".part" not in done.stdout and "FINISHED" in done.stdout
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 2000


@pytest.mark.nightly
def test_two_runs_on_one_folder_the_second_refuses(tmp_path):
    file = write_jsonl(tmp_path / "items.jsonl", corpus(600))
    first = start(NIGHT, file, tmp_path / "out", stdout=subprocess.PIPE)
    while not (tmp_path / "out" / "manifest.json").exists():
        time.sleep(0.01)
    with pytest.raises(RuntimeError, match="another run is working in"):
        quiet(file, "bleu", out=tmp_path / "out")
    assert b"done" in first.communicate()[0]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(RunStopped, match="cannot write into"):
        quiet(corpus(1), "bleu", out=tmp_path / "file" / "out")


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
    file = tmp_path / "items.jsonl"
    file.write_bytes(b"\n".join(bad.get(number, good) for number in range(1, 12)) + b"\n\n")
    report = quiet(file, "bleu", out=tmp_path / "out", shard_size=3)
    found = {line["item"] + 1: line for line in lines(tmp_path / "out")}
    assert report.counts == {"ok": 3, "undefined": 0, "failed": 8} and len(found) == 11
    assert {number for number, line in found.items() if line["status"] == "failed"} == set(bad)
    assert all(found[number]["reason"].startswith(f"at {number}: ") for number in bad)


ODD = {"price": Decimal("1.50"), "photo": b"GIF8"}


def here(items, metric, folder, **choices):
    return run(items, metric, out=folder, workers=0, progress=False, **choices)


@pytest.mark.parametrize("kind", ["frame", "parquet", "iterator"])
def test_a_column_of_another_type_matters_only_where_it_is_read(kind, tmp_path):
    rows = [{**row, "references": row["references"][0], **ODD} for row in corpus(3)]
    items = rows if kind == "iterator" else pd.DataFrame(rows)
    if kind == "parquet":
        items.to_parquet(items := tmp_path / "items.parquet")
    report = here(items, "bleu", tmp_path / "out")
    assert report.counts["ok"] == 3 and [row["id"] for row in report.rows()] == ["doc0", "doc1", "doc2"]
    read = here(items, "bleu", tmp_path / "photo", columns={"candidate": "photo"})
    why = (
        "the column 'photo' cannot be read: bytes is neither text, number, list nor mapping; turn its values into text"
    )
    assert read.counts["failed"] == 3 and all(
        row["reason"].startswith(f"at {row['item'] + 1}: {why}") for row in read.rows()
    )


def test_a_function_is_told_why_a_column_cannot_be_read(tmp_path):
    rows = [{"n": 1, **ODD}, {"n": 2, "price": 3}]
    assert here(rows, lambda row: row["n"], tmp_path / "n").mean() == 1.5
    named = here(rows, lambda row: row["cost"], tmp_path / "cost", columns={"cost": "price"})
    assert [row["score"] for row in named.rows()] == [None, 3]
    assert "the column 'price' cannot be read: Decimal is neither" in next(named.rows())["reason"]
    other = here(rows[:1], lambda row: row["weight"], tmp_path / "weight")
    assert "KeyError: 'weight'" in next(other.rows())["reason"]


def test_one_bad_cell_costs_one_row_also_the_first(tmp_path):
    rows = [{"candidate": b"a", "references": "a"}, {"candidate": "a b", "references": "a b"}]
    assert here(rows, "bleu", tmp_path, options={"n": 1}).counts == {"ok": 1, "undefined": 0, "failed": 1}


def test_an_object_that_names_a_column_twice_has_no_value_there(tmp_path):
    lines = [
        '{"candidate": "a cat", "references": "a cat", "references": "zz"}',
        '{"candidate": "a cat", "references": "a cat", "note": "x", "note": "y", "made": {"references": "zz"}}',
        '{"candidate": "a cat", "references": "a cat", "kind": "references"}',
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines))
    report = here(tmp_path / "pairs.jsonl", "bleu", tmp_path / "out", options={"n": 1})
    assert [row["score"] for row in report.rows()] == [None, 100, 100]
    assert next(report.rows())["reason"] == "at 1: the object names 'references' twice: leave one of them out"
    own = here(tmp_path / "pairs.jsonl", lambda row: len(row["candidate"]), tmp_path / "own")
    assert [row["score"] for row in own.rows()] == [None, None, 5]  # who knows which it reads?
    (tmp_path / "accents.jsonl").write_text(
        '{"été": "a", "\\u00e9t\\u00e9": "b", "references": "b"}\n', encoding="utf-8"
    )
    named = here(tmp_path / "accents.jsonl", "bleu", tmp_path / "accents", columns={"candidate": "été"})
    assert "names 'été' twice" in next(named.rows())["reason"]


def test_columns_that_change_places_are_read_as_in_the_corpus(tmp_path):
    rows = [{"candidate": "the cat sat", "references": "a dog ran off"}]
    options = {"n": 1}
    swapped = here(
        rows, "bleu", tmp_path, options=options, columns={"candidate": "references", "references": "candidate"}
    )
    wanted = bleu_score("a dog ran off", ["the cat sat"], n=1).score
    assert swapped.mean() == wanted == 0  # each was held against itself


@pytest.mark.parametrize(
    "columns",
    [{"candidate": "references"}, {"candidate": "made", "references": ["gold", "made"]}, {"references": "candidate"}],
)
def test_two_columns_of_a_metric_cannot_be_one_of_the_corpus(columns, tmp_path):
    row = {"candidate": "a", "references": "b", "made": "c", "gold": "d"}
    with pytest.raises(ValueError, match=r"candidate and references would both be the column '\w+': name another"):
        here([row], "bleu", tmp_path, columns=columns)
    assert not list(tmp_path.iterdir())


@pytest.mark.nightly
def test_a_changed_corpus_scores_only_what_changed(tmp_path):
    rows = corpus(20)
    quiet(rows, "bleu", out=tmp_path / "out", shard_size=5)
    rows[7]["candidate"] = "something else entirely here"
    changed = quiet(rows, "bleu", out=tmp_path / "out", shard_size=5)
    assert changed.manifest["scored_now"] == 5 and len(list((tmp_path / "out/shards").iterdir())) == 4
    shorter = quiet(rows[:8], "bleu", out=tmp_path / "out", shard_size=5)
    assert shorter.manifest["items"] == 8 and len(lines(tmp_path / "out")) == 8
    quiet(rows[:8], "bleu", out=tmp_path / "fresh", shard_size=5)
    assert (tmp_path / "out/results.jsonl").read_bytes() == (tmp_path / "fresh/results.jsonl").read_bytes()


@pytest.mark.nightly
def test_other_settings_are_refused_and_can_start_over(tmp_path):
    rows = corpus(6)
    quiet(rows, "bleu", out=tmp_path, options={"n": 2})
    with pytest.raises(ValueError, match=r"options\.n \(2 before, 4 now\)"):
        quiet(rows, "bleu", out=tmp_path, options={"n": 4})
    with pytest.raises(ValueError, match="metric"):
        quiet(rows, "rouge", out=tmp_path)
    assert quiet(rows, "rouge", out=tmp_path, resume=False).manifest["settings"]["metric"] == "rouge"


BAD = {
    "unknown metric": ({"metric": "blue"}, "known: 'length', 'bleu'"),
    "unknown option": ({"options": {"m": 4}}, "known: 'n', 'tokenize'"),
    "option's value": ({"options": {"tokenize": "best"}}, "unknown"),
    "missing column": ({"items": [{"text": "a", "summary": "b"}]}, "there is no 'candidate'; there is: text, summary"),
    "unknown column": ({"columns": {"text": "a"}}, "known: 'candidate', 'references'"),
    "no items": ({"items": []}, "there are no items"),
    "dict of columns": ({"items": {"candidate": ["a"]}}, "pass a DataFrame or a list of mappings"),
    "no file": ({"items": "no-such.jsonl"}, "no-such.jsonl"),
    "unknown format": ({"items": __file__}, "format"),
    "shard size": ({"shard_size": 0}, "shard_size must be at least 1"),
    "workers": ({"workers": -1}, "workers must be at least 0"),
    "more workers than a machine bears": ({"workers": 10**9}, "workers must be at most 1,000"),
    "progress": ({"progress": "no"}, "progress must be True or False"),
    "engine": ({"engine": "spark"}, "known: 'local', 'ray'"),
    "timeout": ({"timeout": 0}, "timeout must be more than 0 seconds, at most"),
    "timeout without a process": ({"timeout": 3, "workers": 0}, "timeout needs a worker process to end"),
    "output": ({"output": "xlsx"}, "known: 'jsonl', 'parquet'"),
    "on_error": ({"on_error": "ignore"}, "known: 'record', 'raise'"),
    "gpus without ray": ({"num_gpus": 1}, "belong to engine='ray'"),
    "metric is no function": ({"metric": 7}, "a name, a Metric such as"),
    "options of a function": ({"metric": fragile, "options": {"a": 1}}, "functools.partial"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD.keys())
def test_bad_arguments(change, message, tmp_path):
    arguments = {"items": corpus(2), "metric": "bleu", "out": tmp_path, "progress": False, "workers": 1, **change}
    with pytest.raises((ValueError, TypeError, OSError), match=message.replace("(", r"\(")):
        run(**arguments)
    assert not (tmp_path / "results.jsonl").exists()


def test_a_missing_ray_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install -e '\.\[ray\]'"):
        run(corpus(2), "bleu", out=tmp_path, engine="ray", progress=False)


@pytest.mark.nightly
def test_memory_of_the_driver_does_not_grow(tmp_path):
    """The peak of a run in a process of its own, for 2,000 and for 16,000 items, within 20 %."""
    code = """
import sys
from summeval_nb.runs.batch import run
rows = ({"id": i, "text": f"{i} " * 200} for i in range(int(sys.argv[1])))
def metric(row):
    return len(row["text"])
run(rows, metric, out=sys.argv[2], shard_size=200, workers=1, progress=False)
status = open("/proc/self/status").read()  # ru_maxrss would begin with the peak of the process that started us
print(status.split("VmHWM:")[1].split()[0])
"""
    peaks = [
        int(start(code, count, tmp_path / str(count), stdout=subprocess.PIPE).communicate()[0])
        for count in (2_000, 16_000)
    ]
    assert peaks[1] < 1.2 * peaks[0], peaks


def test_shards_do_not_run_into_each_other():
    """Two different cuts of the same bytes have different digests."""
    first = next(make_shards(open_items([{"a": "x"}, {"a": "y"}]), 2)).digest
    second = next(make_shards(open_items([{"a": "x"}, {"a": "y"}, {"a": "z"}]), 2)).digest
    other = next(make_shards(open_items([{"a": "x"}, {"a": "z"}]), 2)).digest
    assert first == second != other
