"""Texts in each other's place are warned of, and no hub is asked."""

import os
import pickle
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import summeval_nb as s
from summeval_nb import NLIChecker, TransformersBackend, load_summeval
from summeval_nb.core.base import hub_only_if, pd, require_module, warn_of_order
from summeval_nb.text import SentenceTransformerEmbedder

SHORT = "It rained in Ulm."
LONG = "It rained in Ulm for three days, and the old bridge over the river was closed until Friday. " * 4
RATED = {"quality": "fluency", "judge": s.ScriptedBackend(lambda prompt: "4")}
JUDGE = s.judged.LLMJudge(s.ScriptedBackend(lambda prompt: "{}"))

# a call on (what comes first, what comes second), and whether the judged text comes first
CALLS = {
    **{name: (getattr(s, name), True) for name in ("bleu_score", "rouge_score", "chrf_score", "ter_score")},
    "meteor_score": (lambda a, b: s.meteor_score(a, b, synonyms=None), True),
    "bertscore": (s.bertscore, True),
    "corpus_bleu": (lambda a, b: s.corpus_bleu([a], [b]), True),
    "rouge_many": (lambda a, b: s.rouge_many([a], [b]), True),
    "calculate_rouge": (s.calculate_rouge, False),
    "evaluate": (s.evaluate, False),
    "evaluate_many": (lambda a, b: s.evaluate_many([a], [b], progress=False), False),
    "rate": (lambda a, b: s.rate(a, b, **RATED), False),
    "rating": (lambda a, b: s.load_metric("rating", **RATED).score(a, b), False),
    "summarization_score": (lambda a, b: s.summarization_score(a, b, judge=JUDGE), False),
}


def warned(call, *texts):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*texts)
    return [warning for warning in found if issubclass(warning.category, s.core.InputWarning)]


def test_a_call_that_looks_swapped_warns_where_it_stands():
    for name, (call, judged_first) in CALLS.items():
        right = (SHORT, LONG) if judged_first else (LONG, SHORT)
        assert warned(call, *right) == [], name
        (warning,) = warned(call, *reversed(right))
        assert "much longer than" in str(warning.message) and "comes first" in str(warning.message), name
        assert warning.filename == __file__, name
    for name in ("bleu_score", "rouge_score", "chrf_score", "ter_score", "meteor_score", "bertscore"):
        with pytest.raises(TypeError, match="look swapped"):
            CALLS[name][0]([SHORT, LONG], SHORT)
        for references in ([], [None], None, 5):
            with pytest.raises((TypeError, ValueError), match="reference"):
                CALLS[name][0](LONG, references)
    pairs = [(0, 900), (10, 301), (10, 900)]
    (warning,) = warned(lambda: warn_of_order(pairs, remedy="the other comes first"))
    assert "2 summaries are" in str(warning.message) and "301 characters against 10, first in pair 1" in str(warning)


ROW = {"contexts": "The bridge was closed.", "question": "What was closed?", "ground_truth": "The bridge."}
ROW |= {"answer": "A bridge."}


@pytest.mark.parametrize("other", ["contexts", "ground_truth", "answer"])
def test_a_question_in_another_place_is_said_aloud(other):
    assert warned(lambda: s.evaluate_answer(**ROW, judge=JUDGE)) == []
    swapped = ROW | {"question": ROW[other], other: ROW["question"]}
    (warning,) = warned(lambda: s.evaluate_answer(**swapped, judge=JUDGE))
    assert str(warning.message).startswith(f"{other} ends with a question mark, and question has none")
    (warning,) = warned(lambda: s.evaluate_answers([ROW, swapped], judge=JUDGE, progress=False))
    assert "in row 1" in str(warning.message)


def test_modules_that_are_looked_up_when_used_or_are_missing():
    assert pickle.loads(pickle.dumps(pd)).Series([1]).sum() == 1  # as in another process
    with pytest.raises(ImportError, match=r"pip install -e '\.\[llm\]' in your checkout"):  # not one on an index
        require_module("no_such_package", "llm")


# Each in a process of its own: huggingface_hub asks once in a process, and the tests' own environment forbids it.
LISTENING = """
import sys

def listen(event, arguments):
    if event in ("socket.getaddrinfo", "socket.connect"):
        print("ASKED", arguments, flush=True)

sys.addaudithook(listen)
"""
NAMED = {
    "embedder": "from summeval_nb.text import load_embedder; load_embedder({name!r})",
    "entailment": "from summeval_nb import NLIChecker; NLIChecker({name!r})",
    "language model": "from summeval_nb import TransformersBackend; TransformersBackend({name!r})",
    "identity": "from summeval_nb.runs.file import _cached_content; print(_cached_content({name!r}))",
}


def _free(code: str, tmp_path: Path) -> str:
    """Run code where nothing keeps a library from asking, and no cache of the user's answers first."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "TRANSFORMERS_"))}
    environment["HF_HOME"] = str(tmp_path / "cache")
    command = [sys.executable, "-c", LISTENING + code]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    return run.stdout + run.stderr


@pytest.mark.nightly
@pytest.mark.parametrize("what", NAMED)
def test_a_name_that_is_not_here_is_asked_of_nobody(what, tmp_path):
    said = _free(NAMED[what].format(name="nobody/nothing"), tmp_path)
    assert "ASKED" not in said
    assert what == "identity" or "nobody/nothing" in said  # the error that names it


def test_the_listener_hears_who_asks(tmp_path):
    assert "ASKED" in _free("import socket; socket.getaddrinfo('localhost', 80)", tmp_path)


def test_a_download_is_asked_for_by_true_and_by_nothing_else():
    for load in (SentenceTransformerEmbedder, NLIChecker, TransformersBackend, lambda _, **how: load_summeval(**how)):
        for download in ("no", b"x", 1, None):
            with pytest.raises(TypeError, match="download must be True or False"):
                load("nobody/nothing", download=download)


def test_the_switch_is_turned_back_and_who_forbade_downloads_is_not_overruled(monkeypatch):
    from huggingface_hub import constants

    for forbidden in (False, True):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", forbidden)
        with pytest.raises(KeyError, match="within"), hub_only_if(download=False) as where:
            assert constants.HF_HUB_OFFLINE and where == {"local_files_only": True}
            raise KeyError("within")
        assert constants.HF_HUB_OFFLINE is forbidden
        with hub_only_if(download=True) as where:
            assert constants.HF_HUB_OFFLINE is forbidden and where == {"local_files_only": False}


def test_one_thread_at_a_time_turns_the_switch(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)

    def download() -> bool:
        with hub_only_if(download=True):
            return constants.HF_HUB_OFFLINE

    with ThreadPoolExecutor() as pool:
        with hub_only_if(download=False):
            seen = pool.submit(download)
            with pytest.raises(TimeoutError):
                seen.result(timeout=0.2)
        assert seen.result(timeout=10) is False
