"""Judges by name, and questions put to a judge by name: what stands on top of both judges."""

from __future__ import annotations

from functools import cache
from typing import Any

from summeval_nb.core.base import require_option
from summeval_nb.judged import judging
from summeval_nb.judged.embedded import EmbeddedJudge
from summeval_nb.judged.judging import Items, Judge
from summeval_nb.models.load import StoreOrPath, load_model, unknown_name

__all__ = ["ask_many", "load_judge"]


@cache
def _embedded_judge(checker: str) -> EmbeddedJudge:
    return EmbeddedJudge(checker=checker)


def load_judge(judge: str | Judge) -> Judge:
    """Return the judge of that name, or the judge itself.

    Parameters
    ----------
    judge : str or Judge
        `"embedded"`; `"words"` or `"nli:FOLDER"` for the embedded judge with another
        checker; `"llm:FOLDER"`, `"llm:FILE.gguf"` or `"llm:NAME@http://HOST:PORT/v1"`
        for a language model (chapter 51); or any object with the protocol's methods.

    Raises
    ------
    ValueError
        If the name is unknown, or names a kind without a model.
    TypeError
        If the object is no judge.

    Examples
    --------
    >>> load_judge("words").languages
    ('en',)
    """
    if isinstance(judge, str):
        kind, _, model = judge.partition(":")
        if kind == "llm":
            from summeval_nb.judged.llm import LLMJudge

            return LLMJudge(load_model(model))
        if kind == "nli":
            return EmbeddedJudge(checker=judge)
        if judge not in ("embedded", "words"):
            raise unknown_name(judge, "judge")
        return _embedded_judge(judge)
    if not isinstance(judge, Judge):
        remedy = "pass LLMJudge(backend)" if hasattr(judge, "generate_json") else "see summeval_nb.judged.judging.Judge"
        raise TypeError(f"judge must be a name or a Judge, not {type(judge).__name__}: {remedy}")
    return judge


def ask_many(
    judge: str | Judge,
    task: str,
    items: Items,
    *,
    store: StoreOrPath = None,
    batch_size: int = 256,
    progress: str = "",
) -> list[Any]:
    """Put one kind of question to a judge, or to the judge of a name, for many items.

    Parameters
    ----------
    judge : str or Judge
        Whom to ask, or a name as for `load_judge`.
    task, items, store, batch_size, progress
        As for `summeval_nb.judged.judging.ask_many`, which takes a judge and no name.

    Returns
    -------
    list
        What the judge's method returns for each item, or a `JudgeFailure` in its place.

    Examples
    --------
    >>> ask_many("embedded", "statements", [("The rain stopped, but the match was cancelled.",)])[0][0].text
    'The rain stopped'
    """
    require_option(task, "task", judging.TASKS)
    chosen = load_judge(judge) if isinstance(judge, str) else judge
    return judging.ask_many(chosen, task, items, store=store, batch_size=batch_size, progress=progress)
