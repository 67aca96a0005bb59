# A plain private module: edited here, exported by no notebook, tested in tests/test_named.py.
"""A language model by a text: "folder", "file.gguf" or "name@http://host/v1"."""

from __future__ import annotations

import os

from summeval_nb.models.llm import Backend

__all__ = ["load_model"]


def load_model(text: str) -> Backend:
    """Return the backend that a text names: "folder", "file.gguf" or "name@http://host/v1"."""
    name, at, address = text.partition("@http")
    if not name:
        raise ValueError("name a model: llm:FOLDER, llm:FILE.gguf or llm:NAME@http://HOST:PORT/v1")
    if at:
        from summeval_nb.models.llm_server import ServerBackend

        return ServerBackend(name, base_url=f"http{address}", api_key=os.environ.get("SUMMEVAL_API_KEY"))
    from summeval_nb.models.llm_local import LlamaCppBackend, TransformersBackend

    return LlamaCppBackend(name) if name.endswith(".gguf") else TransformersBackend(name)
