"""What a run costs and would cost: its ledger holds what was asked, and a plan asks nobody and keeps nothing."""

import math
import random
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Annotated, Literal

import pydantic
import pytest
from helpers.made_up import MadeUpModel
from helpers.stores import kept
from helpers.wrapping import Wrapped

from summeval_nb.agreement.registry import load_metric
from summeval_nb.core.metric import Metric
from summeval_nb.evidence.model_checkers import LLMChecker
from summeval_nb.judged.embedded import EmbeddedJudge
from summeval_nb.judged.grading import rate
from summeval_nb.judged.llm import LLMJudge
from summeval_nb.models.base import ScriptedBackend, find_backends
from summeval_nb.runs.costs import Estimate, RecordingBackend, plan_run
from summeval_nb.runs.report import RunReport
from summeval_nb.runs.running import run

quiet = partial(run, progress=False, workers=0)

# ---------------------------------------------------------------- plans


def corpus(count, seed=0):
    """Rows with every column that a metric here reads; no two texts are the same, and lengths differ."""
    draw = random.Random(seed)

    def text(name, n):
        said = (f"{name} {n} saw rain on day {i}." for i in range(draw.randint(1, 4)))
        return " ".join(said)

    for n in range(count):
        a, b, c, d = (text(name, n) for name in ("Anna", "Ben", "Cleo", "Dora"))
        row = {"text": a, "summary": b, "contexts": a, "question": f"How was day {n}?"}
        yield row | {"ground_truth": c, "answer": b, "a": b, "b": d}


METRICS = {
    "faithfulness": lambda model: load_metric("faithfulness", checker=LLMChecker(model)),
    "statements": lambda model: load_metric(
        "faithfulness", checker=LLMChecker(model, claims="statements", splitter=model)
    ),
    "answers": lambda model: load_metric("answers", judge=LLMJudge(model)),
    "answers one by one": lambda model: load_metric("answers", judge=LLMJudge(model, probabilities=True)),
    "summary score": lambda model: load_metric("summary_score", judge=LLMJudge(model)),
    "rating": lambda model: load_metric("rating", quality="fluency", judge=model),
    "comparison": lambda model: load_metric("side_by_side", judge=model),
    "comparison by a judge": lambda model: load_metric("side_by_side", judge=LLMJudge(model)),
}


@pytest.mark.parametrize("name", METRICS)
def test_the_interval_holds_the_calls_of_the_run(name, tmp_path):
    rows, model = list(corpus(80)), MadeUpModel()
    plan = plan_run(rows, METRICS[name](model), seed=1)
    assert model.usage.calls == 0, "a plan asks nobody"
    used = run(rows, METRICS[name](model), out=tmp_path, workers=0, progress=False).usage
    assert plan.sample == 20 and list(plan.stages) == list(used)
    for stage, counts in used.items():
        estimate = plan.stages[stage]["calls"]
        assert estimate.low <= counts["calls"] <= estimate.high, (stage, estimate, counts["calls"])
    assert plan.calls.low <= model.usage.calls <= plan.calls.high


def asks_often(row, backend):
    return float(sum(backend.choose(row["text"], ["yes", "no"]).label == "yes" for _ in range(len(row["text"]))))


def test_of_many_samples_most_intervals_hold_the_truth():
    draw = random.Random(0)
    rows = [{"text": "x" * draw.choice([1, 2, 3, 9])} for _ in range(200)]
    metric = partial(asks_often, backend=MadeUpModel())
    true = sum(len(row["text"]) for row in rows)
    plans = [plan_run(rows, metric, seed=seed).calls for seed in range(60)]
    assert sum(plan.low <= true <= plan.high for plan in plans) >= 53
    assert len({plan.value for plan in plans}) > 20 and plan_run(rows, metric, seed=7).calls == plans[7]
    assert plan_run(rows, metric, sample=200).calls == Estimate(true, true, true)


def never(prompt):
    raise AssertionError("a plan has asked a model")


def in_a_thread(model, text):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(copy_context().run, model.choose, text, ["yes", "no"]).result().probability_mass


SHARED = ScriptedBackend(never)


def asks_the_shared(row):
    return SHARED.choose(row["text"], ["yes", "no"]).probability_mass


HELD = {
    "wrapped twice": lambda model: load_metric("faithfulness", checker=Wrapped(Wrapped(LLMChecker(model)))),
    "a judge": lambda model: load_metric("answers", judge=EmbeddedJudge(checker=LLMChecker(model))),
    "an argument": lambda model: partial(asks_often, backend=model),
    "a thread": lambda model: lambda row: in_a_thread(model, row["text"]),
    "a lambda": lambda model: lambda row: model.choose(row["text"], ["yes", "no"]).probability_mass,
    "JSON": lambda model: lambda row: len(model.generate_json(row["text"], Answer).label),
    "a global": lambda model: asks_the_shared,
}


@pytest.mark.filterwarnings("ignore:this run cannot be continued")
@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_a_model_is_asked_nowhere_wherever_it_is_held(held):
    model = ScriptedBackend(never)
    plan = plan_run(corpus(4), held(model))
    assert plan.calls.value > 0 and "no score" not in plan.note and "no model was asked" in plan.note
    assert model.usage.calls == SHARED.usage.calls == 0
    with pytest.raises(AssertionError, match="a plan has asked"):  # afterwards everything is as before
        model.choose("Well?", ["yes", "no"])


def test_the_plan_of_a_half_done_run_counts_the_other_half(tmp_path):
    rows, model = list(corpus(23)), MadeUpModel()
    quiet(rows[:10], METRICS["rating"](model), out=tmp_path)
    plan = plan_run(rows, METRICS["rating"](model), out=tmp_path)
    assert (plan.items, plan.scored, plan.to_score, plan.calls.value) == (23, 10, 13, 13)
    with pytest.raises(ValueError, match="other settings: metric"):
        plan_run(rows, "bleu", out=tmp_path, columns={"candidate": "text", "references": "summary"})


class Answer(pydantic.BaseModel):
    label: Literal["yes", "no"]
    places: Annotated[list[int], pydantic.Field(max_length=3)]
    why: str | None


class Reply(pydantic.BaseModel):
    case_1: list[Annotated[str, pydantic.Field(max_length=90)]]
    case_2: Annotated[list[Answer], pydantic.Field(min_length=2, max_length=2)]
    sure: bool
    share: Annotated[float, pydantic.Field(ge=0.5)]
    name: Annotated[str, pydantic.Field(min_length=40)]


def test_made_up_replies_fit_their_schema_and_the_prompt():
    model = RecordingBackend("nobody")
    prompt = 'Split.\nCase 1: {"text": "Anna bought a car, and Ben sold a boat."}\nCase 2: {"a": ["x", "y"]}\n\nReply.'
    reply = model.generate_json(prompt, Reply, max_tokens=99)
    assert reply.case_1 == ["Anna bought a"]
    assert [answer.label for answer in reply.case_2] == ["no", "no"] and reply.case_2[0].places == [1]
    assert (reply.sure, reply.share, len(reply.name)) == (True, 0.5, 40)
    assert model.choose("Is it so?", ["yes", "no"]).label == "yes"
    assert model.choose("Does the answer refuse?\nIt rained.", ["yes", "no"]).label == "no"
    assert model.usage.calls == 3 and model.usage.generated_tokens == 99 + 1 + 1


def test_a_token_is_four_bytes_and_a_named_model_is_neither_loaded_nor_asked(tmp_path):
    rows = list(corpus(3))
    nobody = "llm:model@http://127.0.0.1:9/v1"  # where nobody listens: to ask would fail
    for checker in (nobody, "llm:no-such-folder"):
        plan = plan_run(rows, "faithfulness", options={"checker": checker})
        assert "estimated at 4 bytes" in plan.note and plan.calls.value > 0
    heard = []
    model = ScriptedBackend(lambda prompt: heard.append(prompt) or "yes")
    quiet(rows, "faithfulness", out=tmp_path, options={"checker": LLMChecker(model)})
    assert plan.total["prompt_tokens"].value == sum(-(-len(prompt.encode()) // 4) for prompt in heard)


def test_nothing_made_up_is_kept(tmp_path):
    rows, path = list(corpus(6)), tmp_path / "kept.sqlite"
    model = MadeUpModel()
    options = {"judge": LLMJudge(model)}
    plan = plan_run(rows, "answers", options=options, store=path)
    assert plan.calls.value > 0 and not path.exists()
    run(rows[:3], "answers", options=options, store=path, out=tmp_path / "out", workers=0, progress=False)
    before = kept(path)
    half = plan_run(rows, "answers", options=options, store=path)
    assert 0 < half.total["from_store"].value < half.total["questions"].value
    assert half.calls.value < plan.calls.value and kept(path) == before


def test_a_row_that_cannot_be_scored_is_told():
    def fussy(row, backend):
        if "day 3" in row["text"]:
            raise ValueError("not on day 3")
        return backend.choose(row["text"], ["yes", "no"]).probability_mass

    plan = plan_run(corpus(30), partial(fussy, backend=MadeUpModel()), sample=10)
    assert "of the sampled rows had no score" in plan.note and "not on day 3" in plan.note
    assert 0 < plan.calls.value < 30


# ---------------------------------------------------------------- the ledger


def says_yes(prompt):
    return "yes"


JUDGED = ["answers", "summary score", "faithfulness", "rating"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", JUDGED)
def test_the_ledger_holds_what_the_backend_counted(name, tmp_path):
    rows, model = list(corpus(23)), MadeUpModel()
    again = partial(quiet, metric=METRICS[name](model), batch_size=5)
    report = again(rows, out=tmp_path / "one")
    assert report.counts == {"ok": 23, "undefined": 0, "failed": 0}
    total = {count: sum(stage[count] for stage in report.usage.values()) for count in ("calls", "call_seconds")}
    assert total["calls"] == model.usage.calls > 0 and not any(stage["from_store"] for stage in report.usage.values())
    assert math.isclose(total["call_seconds"], model.usage.seconds)
    # two workers count apart; their ledgers add up to the same, and so do those of two attempts
    again(rows[:10], out=tmp_path / "three")
    for other in (again(rows, out=tmp_path / "two", workers=2), again(rows, out=tmp_path / "three")):
        calls = {stage: counts["calls"] for stage, counts in other.usage.items()}
        assert calls == {stage: counts["calls"] for stage, counts in report.usage.items()}
        assert report.path.read_bytes() == other.path.read_bytes()
        assert RunReport.load(other.folder).usage == other.usage


@pytest.mark.parametrize("name", JUDGED)
def test_answers_from_the_store_are_counted_apart(name, tmp_path):
    rows, metric = list(corpus(23)), METRICS[name](MadeUpModel())
    again = partial(quiet, rows, metric, store=tmp_path / "kept.sqlite", batch_size=5)
    first, second = again(out=tmp_path / "one"), again(out=tmp_path / "two")
    assert all(stage["calls"] == 0 and stage["from_store"] > 0 for stage in second.usage.values())
    asked = {stage: counts["questions"] for stage, counts in first.usage.items()}
    assert asked == {stage: counts["from_store"] for stage, counts in second.usage.items()}
    plan = plan_run(rows, metric, store=tmp_path / "kept.sqlite", sample=5)
    assert plan.calls.value == 0 and plan.total["from_store"] == plan.total["questions"]
    assert first.path.read_bytes() == second.path.read_bytes()
    assert "What it cost" in second.to_html(tmp_path / "page.html").read_text()


def test_usage_is_counted_once_in_a_run_of_a_changed_threshold_and_of_a_function(tmp_path):
    model, rows = MadeUpModel(), list(corpus(3))
    options = {"checker": LLMChecker(model), "threshold": 0.9}
    report = quiet(rows, "faithfulness", out=tmp_path / "threshold", options=options)
    assert report.usage["checking"]["calls"] == model.usage.calls > 0
    report = quiet(rows, partial(asks_twice, backend=ScriptedBackend(says_yes)), out=tmp_path / "function")
    assert report.usage["metric"]["calls"] == 6 and report.mean() == 1
    assert quiet(rows, "faithfulness", out=tmp_path / "no model").usage == {}


def test_who_calls_a_model_says_so():
    """Lists, mappings, arguments and options are looked into; any other object is asked, and a closure is not read."""

    first, second = ScriptedBackend(says_yes, name="one"), ScriptedBackend(says_yes, name="two")
    checker = LLMChecker(first, claims="statements", splitter=second)
    assert find_backends({"checker": checker, "more": [(first,), {"judge": LLMJudge(second)}]}) == [first, second]
    assert find_backends(Wrapped(checker)) == [first, second]
    assert find_backends(Metric(rate, quality="fluency", judge=first)) == [first]
    assert find_backends(partial(asks_twice, backend=second)) == [second]
    assert find_backends(lambda row: first.choose("?", ["yes", "no"])) == []
    asks = lambda row: first.choose("?", ["yes", "no"])
    asks.backends = [first]
    assert find_backends([asks, asks]) == [first]
    for nothing in (None, "embedded", 3, LLMChecker, find_backends, [], {"k": None}):
        assert find_backends(nothing) == []


def asks_twice(row, backend):
    return float(sum(backend.choose(row["summary"], ["yes", "no"]).label == "yes" for _ in range(2)) / 2)
