"""Loaders of models ask no hub unless told to, whatever the environment says."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from summeval_nb import NLIChecker, SentenceTransformerEmbedder, TransformersBackend, load_summeval
from summeval_nb.ground._offline import hub_only_if

# Each in a process of its own: huggingface_hub asks once in a process, and the tests' own environment forbids it.
LISTENING = """
import sys

def listen(event, arguments):
    if event in ("socket.getaddrinfo", "socket.connect"):
        print("ASKED", arguments, flush=True)

sys.addaudithook(listen)
"""
NAMED = {
    "embedder": "from summeval_nb import load_embedder; load_embedder({name!r})",
    "entailment": "from summeval_nb import NLIChecker; NLIChecker({name!r})",
    "language model": "from summeval_nb import TransformersBackend; TransformersBackend({name!r})",
    "identity": "from summeval_nb.runs.identity import _cached_content; print(_cached_content({name!r}))",
}


def _free(code: str, tmp_path: Path) -> str:
    """Run code where nothing keeps a library from asking, and no cache of the user's answers first."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "TRANSFORMERS_"))}
    environment["HF_HOME"] = str(tmp_path / "cache")
    command = [sys.executable, "-c", LISTENING + code]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    return run.stdout + run.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(
    "what",
    [pytest.param(one, marks=[pytest.mark.nightly] * (one in ("embedder", "language model"))) for one in NAMED],
)
def test_a_name_that_is_not_here_is_asked_of_nobody(what, tmp_path):
    said = _free(NAMED[what].format(name="nobody/nothing"), tmp_path)
    assert "ASKED" not in said
    assert what == "identity" or "nobody/nothing" in said  # the error that names it


def test_the_listener_hears_who_asks(tmp_path):
    assert "ASKED" in _free("import socket; socket.getaddrinfo('localhost', 80)", tmp_path)


@pytest.mark.parametrize("download", ["no", b"x", 1, None])
def test_a_download_is_asked_for_by_true_and_by_nothing_else(download):
    loaders = [
        lambda: SentenceTransformerEmbedder("nobody/nothing", download=download),
        lambda: NLIChecker("nobody/nothing", download=download),
        lambda: TransformersBackend("nobody/nothing", download=download),
        lambda: load_summeval(download=download),
    ]
    for load in loaders:
        with pytest.raises(TypeError, match="download must be True or False"):
            load()


def test_the_switch_is_turned_back():
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    with pytest.raises(KeyError), hub_only_if(download=False) as where:
        assert constants.HF_HUB_OFFLINE and where == {"local_files_only": True}
        raise KeyError
    assert before == constants.HF_HUB_OFFLINE


def test_who_forbade_downloads_is_not_overruled(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with hub_only_if(download=True) as where:
        assert constants.HF_HUB_OFFLINE and where == {"local_files_only": False}


def test_one_thread_at_a_time_turns_the_switch(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    seen: list[bool] = []

    def download() -> None:
        with hub_only_if(download=True):
            seen.append(constants.HF_HUB_OFFLINE)

    thread = threading.Thread(target=download)
    with hub_only_if(download=False):
        thread.start()
        thread.join(0.2)
        assert thread.is_alive() and not seen
    thread.join(10)
    assert seen == [False]
