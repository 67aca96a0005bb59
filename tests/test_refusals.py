"""Refusals and answers: what was fitted is apart from what is measured, and every promise about numbers holds."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

from summeval_nb.judged.refusals import lean_of, mean_states, mean_vectors, refusal_flags, refusal_signs, told
from summeval_nb.text.embed import load_embedder


@pytest.fixture(scope="module")
def embedder():
    return load_embedder("minilm")


def labelled(name: str, folder: str = "summeval_nb/assets") -> list[dict]:
    text = (Path(__file__).parents[1] / folder / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def texts_of(*names: str) -> set[str]:
    return {row["text"] for name in names for row in labelled(name)}


def test_what_was_fitted_and_what_was_written_later_are_apart_from_what_is_measured():
    first = texts_of("refusals", "refusals_styles", "refusals_fresh")
    fitted = {row["text"] for row in labelled("refusals_written", "benchmarks")}
    assert not fitted & (first | texts_of("refusals_last")) and not texts_of("refusals_second") & first
    rows = labelled("refusals_last")
    drawn = set(random.Random(20261124).sample(sorted({row["style"] for row in rows}), 10))
    assert all((row["part"] == "aside") == (row["style"] in drawn) for row in rows)
    aside = {row["text"] for row in rows if row["part"] == "aside"}
    before = first | texts_of("refusals_second") | fitted
    assert aside & before == {"No comment.", "I don't know."}, "which were written again, as anybody would"


SHORT = """two chapters|The second passage.|half the team|all of them|one of three|left and right|downstairs, then left
since last spring|during the war|every other day|once only|a blank cheque|an open question|a null result|zero points
no entry sign|not the red one|none of the boats|the answer key|a search party|the file server|information desk
the error message|out of order|they left|They said no.|not guilty|a wild guess|skip rope|total darkness|by candlelight
forty-two|Dr Lind and her son"""


def test_an_answer_of_a_few_words_is_an_answer(embedder):
    texts = SHORT.replace("\n", "|").split("|")
    assert len(texts) == 33 and not set(texts) & texts_of("refusals_styles")
    flags = refusal_flags(texts, embedder)
    alarms = [text for text, flag in zip(texts, flags, strict=True) if flag]
    assert len(alarms) <= 1, alarms


ANSWERS = """
No, it rose by about the same amount in both groups.
It cost 4 million euros; who paid is not stated.
{"answer": "Lisbon"}
Information on ingredients must be printed on the packet.
No one was told about the plan before Monday.
The minister refused to answer.
She said: "I cannot answer that."
Unfortunately, your passport has expired.
asdf qwer
"""
REFUSALS = """
I can't help you there.
The article does not say what her favourite opening is.
{"answer": null}
No, the page does not tell us.
There is not enough information to answer.
"""


def test_these_are_answers_and_these_are_refusals(embedder):
    """What holds no known word is no refusal: the form of such a text lies anywhere, and nothing like it was fitted."""
    answers = [*ANSWERS.strip().splitlines(), "e\u0301" * 40, "a" * 15]
    for texts, refused in ((answers, False), (REFUSALS.strip().splitlines(), True)):
        for text in texts:
            (flag,) = refusal_flags([text], embedder)
            assert flag.value is refused, flag


def test_a_flag_is_the_sum_of_its_parts_and_signs_are_looked_for_outside_of_speech(embedder):
    text = "I cannot answer this from the text."
    lean = lean_of(text, mean_vectors([text], embedder)[0], mean_states([text])[0])
    (flag,) = refusal_flags([text], embedder)
    assert flag.probability == pytest.approx(1 / (1 + np.exp(-lean.total)))
    assert flag.value == (lean.total >= 0) and "“i cannot answer”" in flag.reason and "meaning" in flag.reason
    assert refusal_signs("I cannot answer this.").strong == "i cannot answer"
    assert refusal_signs('He said: "I cannot answer this."').strong == ""
    assert told('"All of it."') == '"All of it."' and told('{"a": 1}') == '{"a": 1}'


def test_a_wordless_or_foreign_text_is_undecided_and_an_embedder_of_another_size_leaves_meaning_out(embedder):
    found = refusal_flags(["...", "", "Das weiß ich leider nicht, weil es in dem Text nicht steht."], embedder)
    assert [flag.value for flag in found] == [None] * 3 and "German" in found[2].reason

    class Small:
        def encode(self, sentences):
            return np.ones((len(sentences), 3))

    (flag,) = refusal_flags(["I cannot answer this."], Small())
    assert flag.value is True and "meaning +0.0" in flag.reason


def test_the_plainest_refusals_are_found(embedder):
    sources = ("article", "text", "passage", "document", "report", "context", "story", "source")
    says = ("does not say", "doesn't say", "does not tell us", "does not mention")
    asked = ("who designed the bridge", "what a visit costs", "how long the glacier is", "why he left the team")
    texts = [f"The {source} {say} {asked_for}." for source in sources for say in says for asked_for in asked]
    flags = refusal_flags(texts, embedder)
    assert not [text for text, flag in zip(texts, flags, strict=True) if not flag]
