# A plain private module: edited directly, exported by no notebook, tested in tests/test_check.py.
"""What was counted and fitted for the words checker, read from the package once, and the name that it gives to it."""

from __future__ import annotations

import gzip
import hashlib
import json
from functools import cache
from importlib import resources

from ..ground._types import JsonDict


def _asset(name: str) -> bytes:
    return resources.files("summeval_nb").joinpath(f"assets/{name}").read_bytes()


@cache
def stem_counts() -> tuple[int, dict[str, int]]:
    """How many articles were counted, and in how many each stem occurs."""
    first, *lines = gzip.decompress(_asset("stem_counts.tsv.gz")).decode("utf-8").splitlines()
    pairs = (line.split("\t") for line in lines)
    return int(first), {stem: int(count) for stem, count in pairs}


@cache
def fitted() -> JsonDict:
    """The fitted mixture: its weights, its intercept and the fingerprint of the embedder it was fitted with."""
    return json.loads(_asset("checker.json").decode("utf-8"))


def words_fingerprint(slope: float, offset: float) -> str:
    """A name for everything that decides a words checker's probability."""
    counts = gzip.decompress(_asset("stem_counts.tsv.gz")).decode("utf-8")
    settings = json.dumps([fitted(), counts, slope, offset], sort_keys=True)
    return f"words-{hashlib.sha256(settings.encode('utf-8')).hexdigest()[:12]}"
