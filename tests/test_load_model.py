"""A model by a text: wherever it stands, the same forms name the same things."""

import gc
import inspect
import os
import shutil
import weakref

import pytest
from helpers.public import NAMES, public
from helpers.stores import kept

import summeval_nb as s
from summeval_nb import TransformersBackend
from summeval_nb.models import example_model
from summeval_nb.models.base import BackendRejected
from summeval_nb.models.local import load_backend, load_model
from summeval_nb.models.store import Store, load_store, store_path


def test_an_address_is_a_server_and_needs_a_name(monkeypatch):
    monkeypatch.setenv("SUMMEVAL_API_KEY", "secret")
    backend = load_model("m@http://127.0.0.1:9/v1")
    assert type(backend).__name__ == "ServerBackend" and "secret" not in repr(backend)
    with pytest.raises(ValueError, match="llm:NAME@http"):
        load_model("@http://127.0.0.1:9/v1")
    with pytest.raises(BackendRejected, match="a model behind a server is named as in llm:m.gguf@https://"):
        load_model("m.gguf")


def test_a_backend_and_a_store_by_text_or_as_they_are(tmp_path):
    backend = load_backend(f"llm:{example_model()}")
    assert load_backend(backend) is backend and load_backend(str(example_model())).fingerprint == backend.fingerprint
    with pytest.raises(TypeError, match="llm:FOLDER"):
        load_backend(7)
    store = load_store(tmp_path / "a.sqlite")
    assert isinstance(store, Store) and load_store(store) is store and load_store(None) is None
    assert store_path(store) == store_path(tmp_path / "a.sqlite") == str(tmp_path / "a.sqlite")
    assert store_path(None) is None


def test_a_named_folder_is_loaded_once_until_it_changes(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(example_model(), folder)
    first, again = load_model(str(folder)), load_model(str(folder))
    assert again.model is first.model and again.fingerprint == first.fingerprint
    said = first.choose("Well?", ["yes", "no"])
    assert (first.usage.calls, again.usage.calls) == (1, 0)
    file = folder / "model.safetensors"
    original, before = file.read_bytes(), file.stat()
    file.write_bytes(original[:-1] + bytes([original[-1] ^ 1]))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = load_model(str(folder))
    assert changed.fingerprint == TransformersBackend(folder).fingerprint != first.fingerprint
    file.write_bytes(original)
    assert load_model(str(folder)).choose("Well?", ["yes", "no"]) == said


def test_no_more_than_two_named_models_stay_loaded(tmp_path):
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        shutil.copytree(example_model(), folder)
    models = [weakref.ref(load_model(str(folder)).model) for folder in folders]
    gc.collect()
    assert models[0]() is None and None not in (models[1](), models[2]())


def test_what_is_no_store_is_told_so_by_a_run(tmp_path):
    items = [{"text": "It rained.", "summary": "Rain."}]
    for wrong in (3, object(), Store):
        for call in (s.run, s.runs.plan_run, lambda items, metric, **how: s.runs.Job(metric, store=how["store"])):
            with pytest.raises(TypeError, match="store must be a Store or a path"):
                call(items, "faithfulness", store=wrong, out=tmp_path / "out")


def test_a_real_model_by_text_keeps_its_answers_in_a_store_by_path(tmp_path):
    model, path = f"llm:{example_model()}", str(tmp_path / "kept.sqlite")
    first = s.rate("It rained.", "Rain.", quality="fluency", judge=model, store=path)
    (again,) = s.judged.rate_many(["It rained."], ["Rain."], **FLUENCY, **QUIET, judge=model, store=path)
    assert again.score == first.score is not None and kept(path).keys() == {"rating"}


ROW = {"contexts": "It rained. Dogs bark.", "question": "How was it?", "ground_truth": "It rained.", "answer": "Rain."}
PAIR = ({"question": "How was it?", "ground_truth": "It rained.", "a": "It rained.", "b": "It snowed."},)
RAG = [{"question": "How was it?", "contexts": ["It rained."], "answer": "Rain.", "ground_truth": "It rained."}]
LABELLED = [{"article": "It rained.", "sentence": "Rain.", "label": i % 2} for i in range(4)]
SETS = {"a": [s.evidence.LabelledSentence("It rained. Dogs bark.", t, t != "No.") for t in ("It rained.", "No.")]}
HOW, RAIN, QUIET = "How was it?", "It rained.", {"progress": False}
SHORT, FLUENCY = {"rubric": "Short is good."}, {"quality": "fluency"}
# each public name with a parameter that a text may name, and what it needs for a call in which a model is asked
CALLS = {
    **dict.fromkeys(("EmbeddedJudge", "LLMChecker", "LLMJudge", "load_checker", "load_judge"), ((), {})),
    "ClaimFinder": (("statements",), {}),
    **dict.fromkeys(("evaluate", "play_evidence", "summarization_score"), ((RAIN, "Rain."), {})),
    "assert_faithful": ((RAIN, "Rain."), {"at_least": 0.0}),
    "evaluate_many": (([RAIN], ["Rain."]), QUIET),
    "checker": (([RAIN], "Rain."), {}),
    "guarantee_thresholds": ((LABELLED,), QUIET),
    "benchmark_checker": ((), {"sets": SETS, "n_resamples": 0}),
    "ask_many": ((), {"task": "refusal", "items": [(RAIN,)]}),
    "evaluate_answer": ((), ROW),
    "evaluate_answers": (([ROW],), QUIET),
    "summarization_scores": (([{"contexts": RAIN, "summary": "Rain."}],), QUIET),
    "benchmark_judge": ((), {"sets": ["refusals"], "limit": 2, "n_resamples": 0}),
    "compare_answers": ((HOW, RAIN, "It snowed."), {"ground_truth": RAIN}),
    "compare_answers_many": ((PAIR,), QUIET),
    "rubric_score": ((RAIN, "Rain."), SHORT),
    "rubric_many": (([RAIN], ["Rain."]), SHORT | QUIET),
    "rag_score": ((HOW, "Rain.", "Rain.", "Rain."), {}),
    "rag_many": (([HOW], ["Rain."], ["Rain."], ["Rain."]), QUIET),
    "rate": ((RAIN, "Rain."), FLUENCY),
    "rate_many": (([RAIN], ["Rain."]), FLUENCY | QUIET),
    "evaluate_rag": ((RAG, ["context_recall"]), QUIET),
    **dict.fromkeys(("context_precision", "context_recall"), ((HOW, [RAIN], RAIN), {})),
    "context_relevance": ((HOW, [RAIN]), {}),
    "noise_sensitivity": ((HOW, [RAIN], "Rain.", RAIN), {}),
    "answer_faithfulness": ((HOW, [RAIN], "Rain."), {}),
    "answer_relevancy": ((HOW, RAIN), {}),
    "answer_correctness": ((HOW, "Rain.", RAIN), {}),
    "check_citations": (("It rained [1].", [RAIN]), {}),
    "check_citations_many": ((["It rained [1]."], [[RAIN]]), {}),
}
NAMED = ("checker", "using", "judge", "backend", "splitter", "store")  # parameters that a text may fill
ELSEWHERE = {  # what has such a parameter and is tested in another file, or takes no model by it
    "run": "tests/test_runs.py",
    "plan_run": "tests/test_run_costs.py",
    "Job": "tests/test_runs.py",
    "NLIChecker": "its model is a folder; its splitter is ClaimFinder's",
}
BESIDE = {  # what a call needs beside the parameter that is tried
    "LLMChecker.splitter": {"backend": s.ScriptedBackend(lambda prompt: "yes"), "claims": "statements"},
    "ask_many.store": {"judge": "llm:FOLDER"},
}


def parameters(name):
    """The parameters of a public name that a text may fill; a `splitter` of sentences is another thing."""
    try:
        found = inspect.signature(public(name)).parameters
    except (TypeError, ValueError):
        return []
    backed = "splitter" in found and "Backend" in str(found["splitter"].annotation)
    return [parameter for parameter in NAMED if parameter in found and (parameter != "splitter" or backed)]


class FirstOption(s.ScriptedBackend):
    """A model that takes the first option, and whose JSON fits no schema: what asks it counts a failure."""

    def _choose(self, prompt, options):
        return s.models.Choice(options[0], {option: float(option == options[0]) for option in options}, 1.0)


@pytest.fixture
def loaded(monkeypatch):
    """The folders of which a model was loaded, none of which is there."""
    folders = []

    def backend(folder):
        folders.append(folder)
        return FirstOption(lambda prompt: "?")

    monkeypatch.setattr("summeval_nb.models.local.TransformersBackend", backend)
    monkeypatch.setattr(
        "summeval_nb.evidence.model_checkers.NLIChecker", lambda folder, recipe=None: s.LLMChecker(backend(folder))
    )
    return folders


def test_every_public_name_with_a_model_or_store_is_tried():
    assert {name for name in NAMES if parameters(name)} == {*CALLS, *ELSEWHERE}


def test_a_text_does_wherever_a_model_or_a_store_is_taken(loaded, tmp_path):
    for name, (given, options) in CALLS.items():
        for parameter in parameters(name):
            beside = {**options, **BESIDE.get(f"{name}.{parameter}", {})}
            if parameter == "store":
                by = next(role for role in ("checker", "judge", "backend") if role in parameters(name))
                path = tmp_path / f"{name}.sqlite"
                public(name)(*given, **{**beside, by: "llm:FOLDER", "store": str(path)})
                assert path.is_file(), name
                continue
            judged = parameter in ("checker", "using", "judge") and not name.startswith(("rate", "rubric"))
            for text in ["llm:FOLDER"] + ["nli:FOLDER"] * judged:
                loaded.clear()
                public(name)(*given, **{**beside, parameter: text})
                assert loaded and set(loaded) == {"FOLDER"}, f"{name}.{parameter}"


def test_neither_a_metric_nor_an_error_shows_the_password_of_an_address():
    address = "llm:m@http://me:secret-word@127.0.0.1:9/v1?api_key=secret-key"
    own = s.Metric(lambda candidate, judge="": 1.0, judge=address)
    named = s.load_metric("faithfulness", judge=address)
    assert not [text for text in (repr(own), str(own.signature), repr(named), str(named.signature)) if "secret" in text]
    with pytest.raises(ValueError, match="no model") as caught:
        s.load_metric("embedding", embedder=address).score("a", "b")
    assert "secret" not in str(caught.value)
