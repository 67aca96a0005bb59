"""A model by a text: wherever it stands, the same forms name the same things."""

import pytest

from summeval_nb import LLMChecker, example_model
from summeval_nb.evidence._inputs import named_checker
from summeval_nb.models._named import load_model


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
