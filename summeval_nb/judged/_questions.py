# A plain private module: edited here, exported by no notebook, tested in tests/test_questions.py.
"""Plumbing of the questions put to a judge: words of a text, and answers past a store, written and read with checks."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, overload

from pydantic import TypeAdapter

from summeval_nb.models.store import Store, content_key, fill_missing

if TYPE_CHECKING:
    from summeval_nb.judged.judging import (
        Answer,
        Entailment,
        Flag,
        JudgeFailure,
        Keyphrase,
        Question,
        Resolution,
        Statement,
    )

Failure = TypeVar("Failure", bound=Exception)
Items: TypeAlias = Sequence[tuple[object, ...]]  # the arguments of one of a judge's methods, a tuple an item


class Ask(Protocol):
    """Puts one kind of question for many items, and returns for each what the judge's method does, or a failure."""

    @overload
    def __call__(self, purpose: Literal["resolve"], items: Items, /) -> list[Resolution | JudgeFailure]: ...

    @overload
    def __call__(self, purpose: Literal["statements"], items: Items, /) -> list[list[Statement] | JudgeFailure]: ...

    @overload
    def __call__(self, purpose: Literal["entail"], items: Items, /) -> list[list[Entailment] | JudgeFailure]: ...

    @overload
    def __call__(self, purpose: Literal["refusal"], items: Items, /) -> list[Flag | JudgeFailure]: ...

    @overload
    def __call__(self, purpose: Literal["keyphrases"], items: Items, /) -> list[list[Keyphrase] | JudgeFailure]: ...

    @overload
    def __call__(self, purpose: Literal["questions"], items: Items, /) -> list[list[Question] | JudgeFailure]: ...

    @overload
    def __call__(self, purpose: Literal["answer"], items: Items, /) -> list[list[Answer] | JudgeFailure]: ...


def word_list(text: str) -> list[str]:
    """Words in lower case; signs of scripts written without spaces count one by one."""
    return re.findall(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+", text.casefold())


def plain(value: object) -> object:
    """Dataclasses and tuples as plain lists and dictionaries, for keys."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """The pydantic adapter that writes and reads (and so checks) the answers to one kind of question."""
    return TypeAdapter(kind)


def answered(
    ask: Callable[[str, list[tuple[object, ...]]], Sequence[Any]],
    fingerprint: str,
    purpose: str,
    kind: Any,
    items: Items,
    store: Store | None,
    failure: type[Failure],
    *,
    batch_size: int,
    progress: str,
) -> list[Any]:
    """What `ask` says to each item, from the store where it is known; failures are returned and never stored."""
    if not isinstance(items, Sequence) or isinstance(items, (str, bytes)):
        raise TypeError(f"items must be a list of tuples, one for each question, not {type(items).__name__}")
    written = adapter(kind)

    def compute(positions: list[int]) -> list[Any]:
        answers = ask(purpose, [items[position] for position in positions])
        return [one if isinstance(one, failure) else written.dump_python(one, mode="json") for one in answers]

    keys = [content_key(fingerprint, purpose, plain(item)) for item in items]
    values = fill_missing(store, "judge", keys, compute, batch_size=batch_size, progress=progress)
    return [one if isinstance(one, failure) else written.validate_python(one) for one in values]
