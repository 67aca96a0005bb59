"""A model by a text: wherever it stands, the same forms name the same things."""

import pytest

from summeval_nb import LLMChecker, evaluate_answers, example_model, rate, rate_many, summarization_scores
from summeval_nb.evidence._inputs import named_checker
from summeval_nb.models._named import load_backend, load_model, load_store
from summeval_nb.models.store import Store


def test_a_folder_is_a_local_model():
    assert type(load_model(str(example_model()))).__name__ == "TransformersBackend"


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


def test_models_by_text_and_stores_by_path_work_in_answers_scores_and_ratings(tmp_path):
    model, path = f"llm:{example_model()}", str(tmp_path / "kept.sqlite")
    row = {"context": "It rained.", "question": "How was it?", "ground_truth": "It rained.", "answer": "It rained."}
    for judge in ("embedded", model):
        assert len(evaluate_answers([row], judge=judge, store=path, progress=False)) == 1
        table = summarization_scores([{"contexts": "It rained.", "summary": "Rain."}], judge=judge, store=path)
        assert len(table) == 1
    first = rate("It rained.", "Rain.", quality="fluency", backend=model, store=path)
    (again,) = rate_many(["It rained."], ["Rain."], quality="fluency", backend=model, store=path, progress=False)
    assert again.score == first.score is not None
    kinds = {one["kind"] for one in Store(path).info().rows}
    assert {"judge", "rating"} <= kinds
