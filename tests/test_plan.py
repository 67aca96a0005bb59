"""What a run would take, estimated from a sample: whether the estimate holds, and that nothing is asked or kept."""

import json
import random
from collections import OrderedDict, defaultdict, deque
from functools import partial
from typing import Annotated, Literal, NamedTuple

import pydantic
import pytest
from helpers.made_up import MadeUpModel
from helpers.wrapping import Wrapped

from summeval_nb.agreement.registry import load_metric
from summeval_nb.core.results import Verdict
from summeval_nb.evidence.model_checkers import LLMChecker
from summeval_nb.judged.embedded import EmbeddedJudge
from summeval_nb.judged.llm import LLMJudge
from summeval_nb.models.base import ScriptedBackend, example_model
from summeval_nb.models.store import Store
from summeval_nb.runs.batch import run
from summeval_nb.runs.costs import find_backends
from summeval_nb.runs.folder import manifest_check
from summeval_nb.runs.plan import Estimate, RecordingBackend, plan_run


def corpus(count, seed=0):
    """Rows with every column that a metric here reads; no two texts are the same, and lengths differ."""
    draw = random.Random(seed)

    def text(name, n):
        said = (f"{name} {n} saw rain on day {i}." for i in range(draw.randint(1, 4)))
        return " ".join(said)

    for n in range(count):
        a, b, c, d = (text(name, n) for name in ("Anna", "Ben", "Cleo", "Dora"))
        row = {"text": a, "summary": b, "context": a, "contexts": a, "question": f"How was day {n}?"}
        yield row | {"ground_truth": c, "answer": b, "truth": c, "a": b, "b": d}


METRICS = {
    "faithfulness": lambda model: load_metric("faithfulness", checker=LLMChecker(model)),
    "statements": lambda model: load_metric(
        "faithfulness", checker=LLMChecker(model, claims="statements", splitter=model)
    ),
    "answers": lambda model: load_metric("answers", judge=LLMJudge(model)),
    "answers one by one": lambda model: load_metric("answers", judge=LLMJudge(model, probabilities=True)),
    "summary score": lambda model: load_metric("summary_score", judge=LLMJudge(model)),
    "rating": lambda model: load_metric("rating", quality="fluency", backend=model),
    "comparison": lambda model: load_metric("side_by_side", backend=model),
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


def test_a_reply_that_is_unlike_is_not_foretold(tmp_path):
    """What the docstring says: the interval is about rows, and the model may refuse, ramble and be asked again."""
    rows, model = list(corpus(40)), MadeUpModel("varied")
    plan = plan_run(rows, METRICS["answers"](model))
    run(rows, METRICS["answers"](model), out=tmp_path, workers=0, progress=False)
    assert not plan.calls.low <= model.usage.calls <= plan.calls.high and "depends on what the model" in plan.note


def never(prompt):
    raise AssertionError("a plan has asked a model")


class HidingChecker:
    """A checker that does not list its model."""

    threshold, fingerprint = 0.5, "hiding"

    def __init__(self, model):
        self.parts = {"models": [(model,)]}
        self.itself = self

    def check_many(self, pairs, *, vectors=None):
        chosen = self.parts["models"][0][0].choose_many([claim for _, claim in pairs], ["yes", "no"])
        return [Verdict(probability=choice.probabilities["yes"]) for choice in chosen]


class Models(NamedTuple):
    """The models of a metric."""

    first: object
    words: int = 3


class Listed(list):
    """A list of somebody's."""


def asks_one_of(row, models):
    held = models.values() if isinstance(models, dict) else models
    model = next(part for part in held if hasattr(part, "choose"))
    return model.choose(row["text"], ["yes", "no"]).probability_mass


class Bound:
    """A metric that is a method."""

    def __init__(self, model):
        self.model = model

    def score(self, row):
        return asks_one_of(row, [self.model])


HELD = {
    "attribute": lambda model: load_metric("faithfulness", checker=HidingChecker(model)),
    "wrapped": lambda model: load_metric("faithfulness", checker=Wrapped(LLMChecker(model))),
    "wrapped twice": lambda model: load_metric("faithfulness", checker=Wrapped(Wrapped(LLMChecker(model)))),
    "judge": lambda model: load_metric("answers", judge=EmbeddedJudge(checker=LLMChecker(model))),
    "argument": lambda model: partial(asks_often, backend=model),
    "named tuple": lambda model: partial(asks_one_of, models=Models(model)),
    "set": lambda model: partial(asks_one_of, models={model}),
    "frozen set": lambda model: partial(asks_one_of, models=frozenset({model})),
    "list of somebody's": lambda model: partial(asks_one_of, models=Listed([1, model])),
    "ordered dictionary": lambda model: partial(asks_one_of, models=OrderedDict(a=model)),
    "bound method": lambda model: Bound(model).score,
    "default dictionary": lambda model: partial(asks_one_of, models=defaultdict(int, a=model)),
}


class PlainMetric:
    """A metric of somebody's: an object with columns and score_many."""

    columns = {"text": "text"}

    def __init__(self, model):
        self.model = model

    def score_many(self, texts):
        return [self.model.choose(text, ["yes", "no"]).probability_mass for text in texts]


def test_an_object_that_scores_many_is_planned():
    model = ScriptedBackend(never)
    plan = plan_run(corpus(4), PlainMetric(model))
    assert plan.calls == Estimate(4, 4, 4) and model.usage.calls == 0 and "no model was asked" in plan.note


@pytest.mark.parametrize("size", [0, -1, 2.5])
def test_a_wrong_shard_size_is_refused_by_a_plan(size):
    with pytest.raises((ValueError, TypeError), match="shard_size"):
        plan_run(corpus(4), "faithfulness", shard_size=size)


@pytest.mark.parametrize("held", HELD.values(), ids=HELD)
def test_a_model_is_replaced_wherever_it_is_held(held):
    model = ScriptedBackend(never)
    plan = plan_run(corpus(4), held(model))
    assert plan.calls.value > 0 and "no score" not in plan.note
    assert model.usage.calls == 0


def test_a_function_that_hides_its_model_is_not_tried():
    model = ScriptedBackend(never)
    plan = plan_run(corpus(3), lambda row: model.choose(row["text"], ["yes", "no"]).probability_mass)
    assert (plan.to_score, plan.stages, plan.calls) == (3, None, None) and "functools.partial" in plan.note
    assert "was not tried" in repr(plan) and plan.to_dict()["stages"] is None
    assert find_backends(lambda row: model) == []


class ClosedChecker(HidingChecker):
    """A checker that holds its model in a closure, and another where a plan finds it."""

    def __init__(self, model):
        super().__init__(ScriptedBackend(never))
        self.ask = lambda prompts: model.choose_many(prompts, ["yes", "no"])

    def check_many(self, pairs, *, vectors=None):
        return [Verdict(probability=choice.probability_mass) for choice in self.ask([claim for _, claim in pairs])]


class Slotted:
    """What holds a model in a slot."""

    __slots__ = ("model",)

    def __init__(self, model):
        self.model = model


SHARED = ScriptedBackend(never)


def asks_the_shared(row, backend):
    return [SHARED.choose(row["text"], ["yes", "no"]).probability_mass for _ in "a"][0]


class AsksTheShared:
    columns, backend = {"text": "text"}, None

    def score_many(self, texts):
        return [SHARED.choose(text, ["yes", "no"]).probability_mass for text in texts]


def asks_a_slot(row, backend, holder):
    return holder.model.choose(row["text"], ["yes", "no"]).probability_mass


OUT_OF_REACH = {
    "a closure": lambda model: load_metric("faithfulness", checker=ClosedChecker(model)),
    "a slot": lambda model: partial(asks_a_slot, backend=model, holder=Slotted(model)),
    "a queue": lambda model: partial(asks_one_of, models=deque([model])),
    "a global": lambda model: partial(asks_the_shared, backend=model),
}


@pytest.mark.parametrize("held", OUT_OF_REACH.values(), ids=OUT_OF_REACH)
def test_what_holds_a_model_out_of_reach_is_not_tried(held):
    model = ScriptedBackend(never)
    plan = plan_run(corpus(4), held(model))
    assert (plan.to_score, plan.stages, plan.calls) == (4, None, None)
    assert "was not tried" in plan.note and "ScriptedBackend" in plan.note and "no model" not in plan.note
    assert model.usage.calls == SHARED.usage.calls == 0


def test_a_call_in_spite_of_the_stand_in_is_told(monkeypatch):
    shared, metric = MadeUpModel(), AsksTheShared()
    monkeypatch.setitem(globals(), "SHARED", shared)
    metric.backend = shared
    metric.other = MadeUpModel()  # of the same name
    plan = plan_run(corpus(4), metric)
    assert shared.usage.calls > 0 and f"asked: {shared.name} {shared.usage.calls} times" in plan.note
    assert "no model was asked" not in plan.note


def sober(row, backend):
    return backend.choose(row["text"], ["yes", "no"]).probability_mass


@pytest.mark.filterwarnings("ignore:this run cannot be continued")
def test_a_folder_that_run_would_not_continue_is_not_counted(tmp_path):
    rows, metric = list(corpus(6)), partial(lambda *given, **held: sober(*given, **held), backend=MadeUpModel())
    run(rows, metric, out=tmp_path, shard_size=2, workers=0, progress=False)
    with pytest.raises(ValueError, match="cannot be continued"):
        run(rows, metric, out=tmp_path, shard_size=2, workers=0, progress=False)
    assert plan_run(rows, metric, out=tmp_path, shard_size=2).to_score == 6


def test_of_a_recovered_folder_what_run_would_keep_is_counted(tmp_path):
    rows, metric = list(corpus(6)), METRICS["rating"](MadeUpModel())
    run(rows, metric, out=tmp_path, shard_size=2, workers=0, progress=False)
    shard = sorted((tmp_path / "shards").iterdir())[0]
    head, body = shard.read_bytes().split(b"\n", 1)
    head = {name: value for name, value in json.loads(head).items() if name not in ("settings", "check")}
    shard.write_bytes(json.dumps(head | {"check": manifest_check(head)}).encode() + b"\n" + body)
    manifest = (tmp_path / "manifest.json").read_text()
    (tmp_path / "manifest.json").unlink()
    assert plan_run(rows, metric, out=tmp_path, shard_size=2).to_score == 2
    begun = json.loads(manifest) | {"recovered": True, "complete": False}  # killed while it was recovered
    (tmp_path / "manifest.json").write_text(json.dumps(begun | {"check": manifest_check(begun)}))
    assert plan_run(rows, metric, out=tmp_path, shard_size=2).to_score == 2
    (tmp_path / "manifest.json").unlink()
    with pytest.warns(UserWarning, match="nothing proves"):
        report = run(rows, metric, out=tmp_path, shard_size=2, workers=0, progress=False, recover=True)
    assert report.manifest["recovered"] == {"shards_kept": 2, "shards_scored": 1, "unproven": 1}


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
    assert reply.case_1 == ["Anna bought a", "Ben sold a"]
    assert [answer.label for answer in reply.case_2] == ["no", "no"] and reply.case_2[0].places == [1]
    assert (reply.sure, reply.share, len(reply.name)) == (True, 0.5, 40)
    assert model.choose("Is it so?", ["yes", "no"]).label == "yes"
    assert model.choose("Does the answer refuse?\nIt rained.", ["yes", "no"]).label == "no"
    assert model.generate_text("Say a digit.", regex="[0-9]") == "1" and model.generate_text("Repeat: rain") != ""
    assert model.usage.calls == 5 and model.usage.generated_tokens == 99 + 1 + 1 + 2 * 256 and model.estimates


def test_tokens_are_those_of_a_local_model_or_estimated():
    rows, folder = list(corpus(3)), str(example_model())
    counted = plan_run(rows, "faithfulness", options={"checker": f"llm:{folder}"})
    assert "model's own tokenizer" in counted.note
    nobody = "llm:model@http://127.0.0.1:9/v1"  # where nobody listens: to ask would fail
    estimated = plan_run(rows, "faithfulness", options={"checker": nobody})
    assert "estimated at 4 bytes" in estimated.note and estimated.calls == counted.calls
    tokens = [plan.total["prompt_tokens"].value for plan in (counted, estimated)]
    assert 0.5 < tokens[0] / tokens[1] < 4


def test_nothing_made_up_is_kept(tmp_path):
    rows, path = list(corpus(6)), tmp_path / "kept.sqlite"
    model = MadeUpModel()
    options = {"judge": LLMJudge(model)}
    plan = plan_run(rows, "answers", options=options, store=path)
    assert plan.calls.value > 0 and not path.exists()
    run(rows[:3], "answers", options=options, store=path, out=tmp_path / "out", workers=0, progress=False)
    before = Store(path).info().to_dict()
    half = plan_run(rows, "answers", options=options, store=path)
    assert 0 < half.total["from_store"].value < half.total["questions"].value
    assert half.calls.value < plan.calls.value and Store(path).info().to_dict() == before


def test_a_row_that_cannot_be_scored_is_told():
    def fussy(row, backend):
        if "day 3" in row["text"]:
            raise ValueError("not on day 3")
        return backend.choose(row["text"], ["yes", "no"]).probability_mass

    plan = plan_run(corpus(30), partial(fussy, backend=MadeUpModel()), sample=10)
    assert "of the sampled rows had no score" in plan.note and "not on day 3" in plan.note
    assert 0 < plan.calls.value < 30
