"""The packaged counts, fitted weights and measurements of the checkers, read from the package once."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources

from ..core.base import JsonDict


def asset(name: str) -> bytes:
    """Return a file of the package's data."""
    return resources.files("summeval_nb").joinpath(f"assets/{name}").read_bytes()


@cache
def stem_counts() -> tuple[int, dict[str, int]]:
    """How many articles were counted, and in how many each stem occurs."""
    first, *lines = gzip.decompress(asset("stem_counts.tsv.gz")).decode("utf-8").splitlines()
    pairs = (line.split("\t") for line in lines)
    return int(first), {stem: int(count) for stem, count in pairs}


@cache
def fitted() -> JsonDict:
    """The fitted mixture: its weights, its intercept and the fingerprint of the embedder it was fitted with."""
    return json.loads(asset("checker.json").decode("utf-8"))


def words_fingerprint(slope: float, offset: float) -> str:
    """A name for everything that decides a words checker's probability."""
    counts = gzip.decompress(asset("stem_counts.tsv.gz")).decode("utf-8")
    settings = json.dumps([fitted(), counts, slope, offset], sort_keys=True)
    return f"words-{hashlib.sha256(settings.encode('utf-8')).hexdigest()[:12]}"


@cache
def how_well() -> JsonDict:
    """Return the measurements: the `checkers` that were measured, and `rows`, one a checker and labelled set.

    Written by `benchmarks/how_well.py`. Each set that a checker was fitted to was judged by a version that had seen
    neither its labels nor its articles.
    """
    return json.loads(asset("how_well.json").decode("utf-8"))


def measured_rows(signature: Mapping[str, str]) -> list[JsonDict]:
    """The rows for the checker that a signature names, each labelled set as people read it; none for another checker.

    A recalibrated checker, another version, or another threshold is another checker.
    """
    found = [
        name
        for name, record in how_well()["checkers"].items()
        if re.fullmatch(f"{re.escape(record['fingerprint'])}(-[a-z0-9]+)*", signature.get("checker", ""))
        and signature.get("threshold") == str(record["threshold"])
    ]
    return [shown_row(row) for row in how_well()["rows"] if row["checker"] in found]


def left_out_rows(checker: str, sets: Iterable[str] | None = None) -> list[JsonDict]:
    """The rows of a packaged checker for sets by their keys, or all, by a version that had not seen them."""
    rows = [row for row in how_well()["rows"] if row["checker"] == checker]
    chosen = {row["key"] for row in rows} if sets is None else set(sets)
    return [shown_row(row) for row in rows if row["key"] in chosen]


_SHARES = {
    "auc": "AUC",
    "false_found": "false: not supported",
    "true_passed": "true: supported",
    "precision": "supported: true",
}


def shown_row(row: JsonDict) -> JsonDict:
    """A row as people read it: shares with two digits, and their 95 % intervals."""
    shown: JsonDict = {"set": f"{row['set']} ({row['judged']})", "false items": f"{row['n_false']} of {row['n']}"}
    for name, title in _SHARES.items():
        value, low, high = (_share(row[key]) for key in (name, f"{name}_low", f"{name}_high"))
        shown[title] = f"{value or 'undefined'} [{low}, {high}]" if low else value or "undefined"
    return shown | {"unclear": _share(row["unclear"])}


def _share(value: float | None) -> str:
    """A share with two digits and no leading zero; empty where there is none."""
    return "" if value is None else f"{value:.2f}".removeprefix("0")


def article_mark(text: str) -> bytes:
    """Four bytes that stand for an article, the same however it is spaced, capitalised or cut at its end."""
    return hashlib.sha256(re.sub(r"\W+", "", text.lower())[:200].encode("utf-8", "surrogatepass")).digest()[:4]


@cache
def _marks() -> dict[str, frozenset[bytes]]:
    packed = {name: base64.b64decode(text) for name, text in how_well()["articles"].items()}
    return {name: frozenset(data[i : i + 4] for i in range(0, len(data), 4)) for name, data in packed.items()}


def seen_articles(articles: Iterable[str], sets: Iterable[str]) -> dict[str, int]:
    """How many of these distinct articles each of some labelled sets holds; sets without one are left out.

    Examples
    --------
    >>> seen_articles(["An article of my own."], ["summeval", "defacto"])
    {}
    """
    marks, counts = {article_mark(text) for text in articles}, Counter[str]()
    for name in sets:
        counts[name] = len(marks & _marks().get(name, frozenset()))
    return {name: n for name, n in counts.items() if n}
