# A plain private module: edited here, exported by no notebook, tested in tests/test_declared.py.
"""What a judge will be asked at most: its own declaration, with bounds where replies are not known yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from summeval_nb.judged._questions import Items
from summeval_nb.judged.judge import load_judge
from summeval_nb.judged.judging import Judge
from summeval_nb.models.base import HOW, Calls, Most, NotDeclared, as_json, asks_models


class Asked(NamedTuple):
    """What some questions take at most, and for each what its reply holds at most."""

    calls: Calls
    replies: Sequence[Most]


class Asking:
    """Stands where a metric asks its judge, and adds up what the judge declares, by kind of question.

    `Asking(judge)(purpose, items)` takes the items of `ask_many`, with a `Most` in the place of a text or of a list of
    texts that only a reply will tell, and returns what the replies hold at most. Equal items are asked once.
    """

    def __init__(self, judge: str | Judge):
        self.judge = load_judge(judge)
        self.calls: dict[str, Calls] = {}
        self._own = getattr(self.judge, "calls_for", None)
        if self._own is None and asks_models(self.judge):
            name = type(self.judge).__name__
            raise NotDeclared(
                f"{name} does not say what it asks: give it calls_for(purpose, items), {HOW}, "
                "beside a list of Most(count, size), what the reply to each item holds"
            )

    def __call__(self, purpose: str, items: Items) -> list[Most]:
        """What the replies to the items hold at most; their calls are added to `calls`."""
        if self._own is None or not items:
            return [Most() for _ in items]
        unknown = [any(isinstance(part, Most) for part in item) for item in items]
        keys = [(item, place if unknown[place] else None) for place, item in enumerate(items)]
        distinct = list(dict.fromkeys(keys))
        calls, replies = self._own(purpose, [item for item, _ in distinct])
        counted = calls if isinstance(calls, Calls) else Calls(int(calls))
        self.calls[purpose] = self.calls.get(purpose, Calls()) + counted
        found: Mapping[tuple[tuple[object, ...], int | None], Most] = dict(zip(distinct, replies, strict=True))
        return [found[key] for key in keys]


def size(value: object) -> int:
    """The bytes of data as one line of JSON, as prompts show it; of what is not known yet, at most."""
    if isinstance(value, Most):
        return value.size
    return len(as_json(value).encode())


def largest(texts: Sequence[str], said: Most) -> int:
    """How much of what is said in place of texts belongs to the longest of them, if it grows as the texts do."""
    sizes = [size(text) + 50 for text in texts]
    return -(-said.size * max(sizes) // sum(sizes)) if sizes else 0


def together(parts: Sequence[Most]) -> Most:
    """Texts of several replies as one."""
    return Most(sum(one.count for one in parts), sum(one.size for one in parts))
