# A plain private module: edited directly, exported by no notebook, tested in tests/test_arcs.py.
"""Words of a dependency parse: where they stand, which make a claim of their own, and which stay with their head."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Annotator: TypeAlias = Callable[[str], Any]  # from a sentence to its stanza document; stanza has no types
Placed = tuple[Any, int, int]  # a word of a stanza document with its place in the sentence
_WITH_HEAD = frozenset(
    {
        "det",
        "case",
        "aux",
        "aux:pass",
        "cop",
        "mark",
        "flat",
        "fixed",
        "compound",
        "compound:prt",
    }
)
_SILENT = frozenset({"punct", "root", "cc", "discourse", "reparandum", "dep"})
_NEGATIONS = frozenset({"not", "n't", "n’t", "never", "no"})


def placed_words(sentence: str, document: Any) -> list[list[Placed]]:
    """The words of each parsed sentence with their places; found by looking where the parse has none."""
    at, parsed = 0, []
    for one in document.sentences:
        placed = []
        for word in one.words:
            start = word.start_char if word.start_char is not None else sentence.find(word.text, at)
            if start < 0 or sentence[start : start + len(word.text)] != word.text:
                start, end = at, at  # a word that the text does not hold as such, as in "don't"
            else:
                at = end = start + len(word.text)
            placed.append((word, start, end))
        parsed.append(placed)
    return parsed


def claims_nothing(word: Any) -> bool:
    """Whether no claim is made of a word's arc: it has no head, no content, or stays with its head."""
    base = word.deprel.split(":")[0]
    return not word.head or base in _SILENT or word.deprel in _WITH_HEAD or base in _WITH_HEAD or _negates(word)


def _negates(word: Any) -> bool:
    return word.deprel.split(":")[0] in ("advmod", "det", "neg") and word.text.lower() in _NEGATIONS


def company(words: Sequence[Placed], head: int) -> set[int]:
    """The words that stay with a head: its small words and its negations."""
    own = {word.id for word, _, _ in words if word.head == head}
    return {
        word.id
        for word, _, _ in words
        if word.id in own and (word.deprel in _WITH_HEAD or word.deprel.split(":")[0] in _WITH_HEAD or _negates(word))
    }
