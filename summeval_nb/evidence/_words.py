"""Lists of words that the checker and its training share. A plain module: edited directly, tested in tests/."""

from __future__ import annotations

from functools import cache
from importlib import resources

__all__ = ["antonyms"]


@cache
def antonyms() -> dict[str, frozenset[str]]:
    """Return for each word, in lower case, the words that exclude it in the same place of a sentence.

    Examples
    --------
    >>> "fell" in antonyms()["rose"]
    True
    """
    text = resources.files("summeval_nb").joinpath("assets/antonyms.txt").read_text(encoding="utf-8")
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        left, _, right = line.partition("|")
        for one in left.split():
            for other in right.split():
                if one != other:
                    found.setdefault(one, set()).add(other)
                    found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}
