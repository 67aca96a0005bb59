# A plain private module. Edited directly: no notebook exports it; tested in tests/test_embed.py.
"""Models of sentence-transformers: found without the network, known by their content, asked for token vectors."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from summeval_nb.ground.base import hub_only_if, require_flag, require_module
from summeval_nb.text._lots import require_vectors, warn_cut

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from typing_extensions import TypeIs

Stamp = list[tuple[str, int, int]]


def model_hash(model: SentenceTransformer) -> str:
    """Return a hash of what decides a sentence-transformers model's vectors: weights, tokenizer, settings."""
    import torch

    backend = model.get_backend() if hasattr(model, "get_backend") else "torch"
    if backend != "torch":
        remedy = "wrap it in an object of your own with encode(sentences) and a fingerprint"
        raise ValueError(f"weights with backend={backend!r} cannot be hashed, so two models would look alike: {remedy}")
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    for module in model:
        describe = getattr(module, "get_config_dict", None)
        settings = repr(module) if describe is None else describe()
        digest.update(f"{type(module).__name__} {json.dumps(settings, sort_keys=True, default=str)}".encode())
    prompts = [model.prompts, model.default_prompt_name, model.truncate_dim, model.max_seq_length]
    digest.update(json.dumps([_tokenizer_settings(model), prompts], sort_keys=True, default=str).encode())
    return digest.hexdigest()


def _tokenizer_settings(model: SentenceTransformer) -> object:
    """Return a tokenizer's content, without the padding and truncation that its last call left behind."""
    tokenizer: Any = getattr(model, "tokenizer", None)
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(tokenizer, "to_str"):
        content = json.loads(tokenizer.to_str())
        return {key: value for key, value in content.items() if key not in ("padding", "truncation")}
    return sorted(tokenizer.get_vocab().items()) if hasattr(tokenizer, "get_vocab") else None


def files_stamp(folder: Path) -> Stamp:
    """Name, size and time of change of each file in a folder; empty for a name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    return [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]


@contextmanager
def _quiet(quiet: bool) -> Iterator[None]:
    """Hide the bar that transformers draws while it reads local weights; put the setting back."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    if quiet:
        logging.disable_progress_bar()
    try:
        yield
    finally:
        if quiet and shown:
            logging.enable_progress_bar()


_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?", re.ASCII)


def library_model(name: str | os.PathLike[str], device: str, download: bool) -> SentenceTransformer:
    """Load a model from a folder or the local cache; from the network only if `download`."""
    require_flag(download, "download")
    library = require_module("sentence_transformers", "models")
    source = os.fspath(name)
    if Path(source).is_dir() and not Path(source, "modules.json").is_file():
        raise ValueError(
            f"{source} holds no modules.json, so it is not a sentence-transformers model: build one with "
            "SentenceTransformer(modules=[...]), choose its pooling, and pass that object or its saved folder"
        )
    for pickled in sorted(Path(source).rglob("pytorch_model*.bin")) if Path(source).is_dir() else []:
        if not any(pickled.parent.glob("*.safetensors")):
            raise ValueError(
                f"{source} has no file named model.safetensors beside {pickled.name}, and a pickle is not read: "
                "save the model anew with SentenceTransformer(...).save(folder), where you trust it"
            )
    try:
        if not (Path(source).is_dir() or _HUB_NAME.fullmatch(source)):  # the library would print it as it is
            raise ValueError(f"{source!r} is no name of a model")
        with _quiet(not download), hub_only_if(download) as where:
            return library.SentenceTransformer(source, device=device, model_kwargs={"use_safetensors": True}, **where)
    except ImportError:
        raise
    except Exception as error:  # damaged files raise errors of many libraries
        if Path(source).is_dir() or "safetensors" in str(error):  # a copy in the cache that has only a pickle
            raise ValueError(f"the model in {source} cannot be loaded: {error}") from error
        remedy = "check the name" if download else "pass a folder, or SentenceTransformerEmbedder(name, download=True)"
        raise ValueError(f"no model {source!r}: it is neither a folder nor in the local cache; {remedy}") from error


def is_library_model(value: object) -> TypeIs[SentenceTransformer]:
    """Whether an object is a SentenceTransformer, by its class's name: the library takes seconds to import."""
    return any(kind.__name__ == "SentenceTransformer" for kind in type(value).__mro__)


def special_tokens(model: Any) -> tuple[int, int] | None:
    """Return how many tokens stand before (with the default prompt) and after the text's own; None without tokens."""
    try:
        mask = model.tokenizer("a", return_special_tokens_mask=True)["special_tokens_mask"]
        item = model.encode(["a"], output_value=None, show_progress_bar=False)[0]
        prompt = model.prompts.get(model.default_prompt_name or "", "")
        extra = len(model.tokenizer(prompt, add_special_tokens=False)["input_ids"]) if prompt else 0
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    if "token_embeddings" not in item or 0 not in mask:
        return None
    return mask.index(0) + extra, mask[::-1].index(0)


def warn_long(model: SentenceTransformer, texts: list[str]) -> None:
    """Warn of texts that a model with tokens will cut; only texts that could be too long are looked at."""
    if limit := model.max_seq_length:
        suspects = [text for text in texts if len(text.encode()) > limit]
        ids = model.tokenizer(suspects, verbose=False)["input_ids"] if suspects else []
        warn_cut(sum(len(one) > limit for one in ids), len(texts), limit)


def _inner_tokens(item: dict[str, Any], special: tuple[int, int]) -> np.ndarray:
    """Return one text's normalised token vectors without padding and special tokens."""
    import torch.nn.functional as F

    real = item["token_embeddings"][item["attention_mask"].bool()]
    inner = real[special[0] : max(special[0], len(real) - special[1])]
    return F.normalize(inner.float(), dim=-1).cpu().numpy()


def library_pass(
    model: SentenceTransformer, lot: list[str], special: tuple[int, int] | None, name: str
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return a lot's sentence vectors and, where `special` says how to find them, its token vectors."""
    options: dict[str, Any] = {"batch_size": len(lot), "show_progress_bar": False}
    if special is None:
        return require_vectors(model.encode(lot, **options), len(lot), name), []
    items = model.encode(lot, output_value=None, convert_to_numpy=False, **options)
    vectors = np.stack([item["sentence_embedding"].float().cpu().numpy() for item in items])
    return require_vectors(vectors, len(lot), name), [_inner_tokens(item, special) for item in items]
