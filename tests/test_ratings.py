"""Ratings: the expectation by hand, real models, failures that are never a grade, agreement tables."""

import math

import pytest
from servers.fixtures import gguf_path, llama_server  # noqa: F401

from summeval_nb.judged.grading import rate, rate_many
from summeval_nb.models.base import BackendUnavailable, Choice, ScriptedBackend, example_model
from summeval_nb.models.local import TransformersBackend
from summeval_nb.models.server import ServerBackend
from summeval_nb.models.store import Store

ARTICLE, SUMMARY = "The bridge opened in 1931. It is long.", "A long bridge of 1931."


class Believes(ScriptedBackend):
    """A backend with probabilities that the test chooses."""

    def __init__(self, *masses):
        super().__init__(lambda prompt: "", name="believes")
        self.masses, self.prompts = masses, []

    def _choose(self, prompt, options):
        self.prompts.append(prompt)
        return Choice.from_masses(dict(zip(options, self.masses, strict=True)))


def test_a_failure_is_no_grade_and_is_asked_again(tmp_path):
    store, state = Store(tmp_path / "ratings.sqlite"), {"down": True, "asked": 0}

    def sometimes(prompt):
        state["asked"] += 1
        if state["down"] and "second" in prompt:
            raise BackendUnavailable("no answer within 60 s")
        return "4"

    backend = ScriptedBackend(sometimes)
    texts, summaries = [ARTICLE] * 3, ["The first one.", "The second one.", " "]
    first = rate_many(texts, summaries, quality="fluency", judge=backend, store=store, progress=False)
    assert [rated.score for rated in first] == [4.0, None, None] and state["asked"] == 2
    assert "60 s" in first[1].reason and first[2].reason == "the summary is empty"
    assert [outcome.status for outcome in first.outcomes()] == ["ok", "failed", "undefined"]
    with pytest.raises(ValueError, match="60 s"):
        float(first[1])
    state["down"] = False
    second = rate_many(texts, summaries, quality="fluency", judge=backend, store=store, progress=False)
    assert [rated.score for rated in second] == [4.0, 4.0, None] and state["asked"] == 3


def test_a_real_model_is_rated_from_its_own_probabilities(llama_server):  # noqa: F811
    """The tiny Llama knows yes and no and no grades, so its grades hold next to nothing of its probability."""
    backend, summaries = TransformersBackend(example_model()), [SUMMARY, "Bridges.", "It rained."]
    many = rate_many([ARTICLE] * 3, summaries, quality="fluency", judge=backend, progress=False)
    for summary, b in zip(summaries, many, strict=True):
        a = rate(ARTICLE, summary, quality="fluency", judge=backend)
        assert abs(a.score - b.score) < 1e-4 and abs(a.probability_mass - b.probability_mass) < 1e-5
        assert 1 <= a.score <= 5 and math.isclose(sum(a.distribution.values()), 1, abs_tol=1e-6)
        assert 0 < a.probability_mass < 0.01 and "held only" in a.note
    served = ServerBackend("example", base_url=llama_server, timeout=120)
    for c in rate_many([ARTICLE] * 3, summaries, quality="fluency", judge=served, progress=False):
        told = c.score is not None and 1 <= c.score <= 5 and 0 < c.probability_mass < 0.01 and "held only" in c.note
        assert told or c.score is None and c.reason  # the tokens that the server shows may leave the grades open


def test_many_ratings_are_a_table_with_the_index_of_the_texts():
    import pandas as pd

    texts = pd.Series([ARTICLE, ARTICLE], index=["x", "y"])
    backend = Believes(0.0, 0.0, 0.5, 0.5, 0.0)
    table = rate_many(texts, pd.Series([SUMMARY, " "], index=["x", "y"]), quality="fluency", judge=backend)
    assert [own.score for own in table] == [3.5, None] and table[0].likeliest == 3
    frame = table.to_frame()
    assert list(frame.index) == ["x", "y"] and frame["spread"]["x"] == 0.5 and frame["reason"]["y"]
    assert "mean of 2 texts" in table._repr_html_() and table.n_undefined == 1
