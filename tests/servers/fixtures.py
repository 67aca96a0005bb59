"""Fixtures that several test files share; imported by them by name."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from summeval_nb.llm import example_model

from .gguf_copy import write_gguf


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
    pytest.importorskip("xllamacpp")
    script = Path(__file__).with_name("llama_cpp.py")
    for _ in range(3):  # another process may take the port between our asking and the server's start
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [sys.executable, str(script), str(gguf_path), str(port)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        if ready(process, port):
            break
        process.kill()
        process.wait()
    else:
        pytest.fail("llama.cpp's server did not start")
    try:
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def ready(process: subprocess.Popen, port: int) -> bool:
    """Wait until the server answers, or has ended."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1) as response:
                if response.status == 200:
                    return True
        except OSError:
            time.sleep(0.1)
    return False
