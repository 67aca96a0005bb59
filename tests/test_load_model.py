"""A model by a text: wherever it stands, the same forms name the same things."""

import gc
import inspect
import os
import shutil
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from helpers.public import NAMES, public

import summeval_nb as s
from summeval_nb import LLMChecker, TransformersBackend, evaluate_answers, rate
from summeval_nb.evidence.model_checkers import named_checker
from summeval_nb.judged import rate_many, summarization_scores
from summeval_nb.models import example_model
from summeval_nb.models.load import load_backend, load_model, load_store, store_path
from summeval_nb.models.store import Store


def test_a_folder_is_a_local_model():
    assert type(load_model(str(example_model()))).__name__ == "TransformersBackend"


@pytest.mark.parametrize("name", ["m.gguf", "M.GGUF"])
def test_a_gguf_file_is_one_for_llama_cpp(name, monkeypatch):
    monkeypatch.setattr("summeval_nb.models.local.LlamaCppBackend", lambda path: f"llama.cpp reads {path}")
    assert load_model(name) == f"llama.cpp reads {name}"


def test_an_address_is_a_server(monkeypatch):
    monkeypatch.setenv("SUMMEVAL_API_KEY", "secret")
    backend = load_model("m@http://127.0.0.1:9/v1")
    assert type(backend).__name__ == "ServerBackend" and "secret" not in repr(backend)


def test_an_address_without_a_name_is_refused():
    with pytest.raises(ValueError, match="llm:NAME@http"):
        load_model("@http://127.0.0.1:9/v1")


def test_a_checker_by_its_text():
    assert isinstance(named_checker(f"llm:{example_model()}"), LLMChecker)
    with pytest.raises(ValueError, match="names no model"):
        named_checker("nli")
    with pytest.raises(ValueError, match="checker cannot be 'gpt'"):
        named_checker("gpt:x")


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
    original = (folder / "model.safetensors").read_bytes()
    weights = bytearray(original)
    weights[-1] ^= 1
    before = (folder / "model.safetensors").stat()
    (folder / "model.safetensors").write_bytes(weights)
    os.utime(folder / "model.safetensors", ns=(before.st_atime_ns, before.st_mtime_ns))
    changed = load_model(str(folder))
    assert changed.model is not first.model and changed.fingerprint != first.fingerprint
    assert TransformersBackend(folder).fingerprint == changed.fingerprint
    (folder / "model.safetensors").write_bytes(original)
    assert load_model(str(folder)).choose("Well?", ["yes", "no"]) == said


def test_a_named_model_answers_as_if_it_were_loaded_anew():
    def ask(backend):
        return [backend.choose(question, ["yes", "no"]) for question in ("Is it?", "Is it so?", "Is it not so?")]

    first = ask(load_model(str(example_model())))
    assert ask(load_model(str(example_model()))) == first == ask(TransformersBackend(example_model()))


def test_no_more_than_two_named_models_stay_loaded(tmp_path):
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        shutil.copytree(example_model(), folder)
    models = [weakref.ref(load_model(str(folder)).model) for folder in folders]
    gc.collect()
    assert models[0]() is None and None not in (models[1](), models[2]())


def test_backends_of_one_loaded_model_take_turns():
    twins = [load_model(str(example_model())) for _ in range(4)]
    questions = [f"Is it {n}?" for n in range(6)]
    alone = [twins[0].choose(question, ["yes", "no"]).probabilities["yes"] for question in questions]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda twin: [twin.choose(q, ["yes", "no"]) for q in questions], twins))
    for choices in together:
        assert all(abs(c.probabilities["yes"] - p) < 1e-5 for c, p in zip(choices, alone, strict=True))
    assert [twin.usage.calls for twin in twins] == [12, 6, 6, 6]


@pytest.mark.parametrize("wrong", [3, object(), Store], ids=["number", "object", "class"])
def test_what_is_no_store_is_told_so_by_a_run(wrong, tmp_path):
    items = [{"text": "It rained.", "summary": "Rain."}]
    for call in (s.run, s.runs.plan_run):
        with pytest.raises(TypeError, match="store must be a Store or a path"):
            call(items, "faithfulness", store=wrong, out=tmp_path / "out")
    with pytest.raises(TypeError, match="store must be a Store or a path"):
        s.runs.Job("faithfulness", store=wrong)


def test_models_by_text_and_stores_by_path_work_in_all_metrics(tmp_path):
    model, path = f"llm:{example_model()}", str(tmp_path / "kept.sqlite")
    row = {"context": "It rained.", "question": "How was it?", "ground_truth": "It rained.", "answer": "It rained."}
    for judge in ("embedded", model):
        assert len(evaluate_answers([row], judge=judge, store=path, progress=False)) == 1
        table = summarization_scores([{"contexts": "It rained.", "summary": "Rain."}], judge=judge, store=path)
        assert len(table) == 1
    first = rate("It rained.", "Rain.", quality="fluency", backend=model, store=path)
    (again,) = rate_many(["It rained."], ["Rain."], quality="fluency", backend=model, store=path, progress=False)
    assert again.score == first.score is not None
    kinds = {line["kind"] for line in Store(path).info().rows}
    assert {"judge", "rating"} <= kinds


ROW = {"context": "It rained. Dogs bark.", "question": "How was it?", "ground_truth": "It rained.", "answer": "Rain."}
PAIR = ({"question": "How was it?", "ground_truth": "It rained.", "a": "It rained.", "b": "It snowed."},)
SYSTEMS = [
    {"question": "How was it?", "ground_truth": "It rained.", "answer": n, "system": n} for n in ("Rain.", "No.")
]
ASKED = ("How was it?", "It rained.")
RAG = [{"question": "How was it?", "contexts": ["It rained."], "answer": "Rain.", "ground_truth": "It rained."}]
LABELLED = [{"article": "It rained.", "sentence": "Rain.", "label": i % 2} for i in range(4)]
SETS = {
    "a": [s.evidence.LabelledSentence("It rained. Dogs bark.", text, text != "No.") for text in ("It rained.", "No.")]
}
FLUENCY, QUIET = {"quality": "fluency"}, {"progress": False}


def ranked(call, *given, **choices):
    """A ranking, or nothing where no comparison has a winner: the model here judges nothing."""
    try:
        return call(*given, **choices)
    except ValueError as error:
        assert "no comparison has a winner" in str(error)


# each public name with a parameter that a text may name: a call in which a model is asked, or the thing made
CALLS = {
    "EmbeddedJudge": lambda **options: s.judged.EmbeddedJudge(**options),
    "LLMChecker": lambda **options: s.LLMChecker(**options),
    "LLMJudge": lambda **options: s.judged.LLMJudge(**options),
    "load_checker": lambda **options: s.evidence.load_checker(**options),
    "load_judge": lambda **options: s.judged.load_judge(**options),
    "ClaimFinder": lambda **options: s.evidence.ClaimFinder("statements", **options),
    "evaluate": lambda **options: s.evaluate("It rained.", "Rain.", **options),
    "assert_faithful": lambda **options: s.assert_faithful("It rained.", "Rain.", at_least=0.0, **options),
    "evaluate_many": lambda **options: s.evaluate_many(["It rained."], ["Rain."], **options, **QUIET),
    "checker": lambda **options: s.checker(["It rained."], "Rain.", **options),
    "play_evidence": lambda **options: s.teaching.play_evidence("It rained.", "Rain.", **options),
    "guarantee_thresholds": lambda **options: s.evidence.guarantee_thresholds(LABELLED, **options, **QUIET),
    "benchmark_checker": lambda **options: s.benchmark_checker(sets=SETS, n_resamples=0, **options),
    "ask_many": lambda **options: s.judged.ask_many(task="refusal", items=[("It rained.",)], **options),
    "evaluate_answer": lambda **options: s.evaluate_answer(**ROW, **options),
    "evaluate_answers": lambda **options: s.evaluate_answers([ROW], **options, **QUIET),
    "summarization_score": lambda **options: s.summarization_score("It rained.", "Rain.", **options),
    "summarization_scores": lambda **options: s.judged.summarization_scores(
        [{"contexts": "It rained.", "summary": "Rain."}], **options, **QUIET
    ),
    "benchmark_judge": lambda **options: s.agreement.benchmark_judge(
        sets=["refusals"], limit=2, n_resamples=0, **options
    ),
    "compare_answers": lambda **options: s.compare_answers(
        "How?", "It rained.", "It snowed.", truth="It rained.", **options
    ),
    "compare_answers_many": lambda **options: s.judged.compare_answers_many(PAIR, **options, **QUIET),
    "rubric_score": lambda **options: s.judged.rubric_score(
        "It rained.", "Rain.", criteria="Short is good.", **options
    ),
    "rubric_many": lambda **options: s.judged.rubric_many(
        ["It rained."], ["Rain."], criteria="Short is good.", **options, **QUIET
    ),
    "rag_score": lambda **options: s.judged.rag_score("How?", "Rain.", "Rain.", "Rain.", **options),
    "rag_many": lambda **options: s.judged.rag_many(["How?"], ["Rain."], ["Rain."], ["Rain."], **options, **QUIET),
    "rate": lambda **options: s.rate("It rained.", "Rain.", **FLUENCY, **options),
    "rate_many": lambda **options: s.judged.rate_many(["It rained."], ["Rain."], **FLUENCY, **options, **QUIET),
    "evaluate_rag": lambda **options: s.evaluate_rag(RAG, ["context_recall"], **options, **QUIET),
    "context_precision": lambda **options: s.judged.context_precision(
        "How was it?", ["It rained."], "It rained.", **options
    ),
    "context_recall": lambda **options: s.judged.context_recall("How was it?", ["It rained."], "It rained.", **options),
    "context_relevance": lambda **options: s.judged.context_relevance("How was it?", ["It rained."], **options),
    "noise_sensitivity": lambda **options: s.judged.noise_sensitivity(
        "How was it?", ["It rained."], "Rain.", "It rained.", **options
    ),
    "answer_faithfulness": lambda **options: s.judged.answer_faithfulness(
        "How was it?", ["It rained."], "Rain.", **options
    ),
    "answer_relevancy": lambda **options: s.judged.answer_relevancy("How was it?", "It rained.", **options),
    "answer_correctness": lambda **options: s.judged.answer_correctness("How?", "Rain.", "It rained.", **options),
    "check_citations": lambda **options: s.judged.check_citations("It rained [1].", ["It rained."], **options),
    "check_citations_many": lambda **options: s.judged.check_citations_many(
        ["It rained [1]."], [["It rained."]], **options
    ),
}
NAMED = ("checker", "using", "judge", "backend", "splitter", "store")  # parameters that a text may fill
ELSEWHERE = {  # what has such a parameter and is tested in another file, or takes no model by it
    "run": "tests/test_batch.py",
    "plan_run": "tests/test_plan.py",
    "Job": "tests/test_batch.py",
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


TRIED = [(name, parameter) for name in CALLS for parameter in parameters(name)]


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


@pytest.mark.parametrize(("name", "parameter"), TRIED, ids=[".".join(pair) for pair in TRIED])
def test_a_text_does_wherever_a_model_or_a_store_is_taken(name, parameter, loaded, tmp_path):
    given = BESIDE.get(f"{name}.{parameter}", {})
    if parameter == "store":
        path = tmp_path / "kept.sqlite"
        by = next(role for role in ("checker", "judge", "backend") if role in parameters(name))
        CALLS[name](**{by: "llm:FOLDER", "store": str(path), **given})
        assert path.is_file()
        return
    for text in ["llm:FOLDER"] + ["nli:FOLDER"] * (parameter in ("checker", "using", "judge")):
        loaded.clear()
        CALLS[name](**{parameter: text, **given})
        assert loaded and set(loaded) == {"FOLDER"}, text


@pytest.mark.parametrize(("name", "parameter"), TRIED, ids=[".".join(pair) for pair in TRIED])
def test_what_is_no_model_and_no_store_is_told_so(name, parameter, loaded):
    given = {} if parameter != "store" else {"judge" if "judge" in parameters(name) else "backend": "llm:FOLDER"}
    given = {"checker": "llm:FOLDER"} if parameter == "store" and "checker" in parameters(name) else given
    for wrong in (3, object()):
        with pytest.raises((TypeError, ValueError)) as error:
            CALLS[name](**{**BESIDE.get(f"{name}.{parameter}", {}), **given, parameter: wrong})
        assert "not " in str(error.value) or "lacks" in str(error.value), error.value
