# A plain private module: edited directly, exported by no notebook, tested in tests/test_replies.py.
"""The small types in which a judge replies, which hold fields and no rule. Chapter 41 shows each of them."""

from __future__ import annotations

import dataclasses
from typing import Literal

__all__ = ["Answer", "Keyphrase", "Passage", "Question", "Resolution"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Passage:
    """A stretch of a premise that an answer rests on: `premise[start:end] == text`.

    A similarity of None was not measured. `read` is what the judge read where that is
    not the text itself: an item of a list together with the words that lead into it.
    """

    text: str
    start: int
    end: int
    similarity: float | None = None
    read: str = ""

    @property
    def shown(self) -> str:
        """What was read, which is what a report shows."""
        return self.read or self.text


@dataclasses.dataclass(frozen=True, kw_only=True)
class Keyphrase:
    """An important phrase; `start` and `end` are None where it is not word for word."""

    text: str
    weight: float | None = None
    start: int | None = None
    end: int | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """A question, the statement that a yes affirms, its keyphrases, its sentence."""

    text: str
    statement: str
    keyphrases: tuple[str, ...] = ()
    source: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer of a text to a question: 1 for yes, 0 for no or not said.

    None says that the judge failed.

    `probability` is that of yes; a judge that measures instead how much of the
    question's statement is said gives `said`. Both lie in [0, 1], or are None.
    """

    value: Literal[0, 1] | None
    probability: float | None = None
    said: float | None = None
    evidence: tuple[Passage, ...] = ()
    reason: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Resolution:
    """Units of a text with their pronouns replaced, one string each, and how."""

    units: tuple[str, ...]
    note: str = ""
