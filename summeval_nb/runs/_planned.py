# A plain private module: edited here, exported by no notebook, tested in tests/test_planned.py.
"""What a plan needs beside the calls that a metric declares: models not loaded, answers kept, pairs counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from summeval_nb.agreement.metrics import metric_class
from summeval_nb.ground.base import JsonDict
from summeval_nb.ground.metric import score_rows
from summeval_nb.judged.judging import BulkJudge, Judge, JudgeFailure
from summeval_nb.models.base import Backend, BackendUnavailable, Choice, Usage, asks_models
from summeval_nb.text.split import Splitter


class Unloaded(Backend):
    """Stands for a model that is named and need not be loaded, because it is not called."""

    def __init__(self, text: str):
        self.name, self.usage = text, Usage()

    @property
    def fingerprint(self) -> str:
        return f"llm:{self.name}"

    def _choose(self, prompt: str, options: tuple[str, ...]) -> Choice:
        raise BackendUnavailable("a plan calls no model", model=self.name)

    def _json(self, prompt: str, schema: JsonDict, max_tokens: int) -> str:
        raise BackendUnavailable("a plan calls no model", model=self.name)

    def _text(self, prompt: str, regex: str | None, max_tokens: int) -> str:
        raise BackendUnavailable("a plan calls no model", model=self.name)


class KeptJudge(BulkJudge):
    """A judge that answers nothing by itself, so that only what a store holds is answered; counts what it was asked."""

    def __init__(self, judge: Judge):
        self.fingerprint, self.languages, self.asked = judge.fingerprint, getattr(judge, "languages", None), 0

    def many(self, purpose: str, items: Sequence[tuple[object, ...]]) -> list[JudgeFailure]:
        """A failure for each item."""
        self.asked += len(items)
        return [JudgeFailure(purpose, "the store does not hold it") for _ in items]


def unanswered(metric: Any, rows: Sequence[JsonDict]) -> list[JsonDict]:
    """The rows for which the metric's judge has to be asked, because its store does not hold all the answers."""
    judge: Judge | None = getattr(metric, "judge", None)
    if getattr(metric, "store", None) is None or judge is None or not asks_models(judge):
        return list(rows)
    left = []
    for row in rows:
        kept = KeptJudge(judge)
        score_rows(replace(metric, judge=kept), [row], progress=False)
        left += [row] if kept.asked else []
    return left


def pairs_of(metric: str, row: JsonDict) -> int:
    """How many pairs of texts a row has: one for each reference; three of an answer."""
    if "references" in metric_class(metric)[0].columns:
        return 1 if isinstance(row["references"], str) else len(row["references"])
    return 3 if metric == "answers" else 1


def sentence_pairs(rows: Sequence[Mapping[str, str]], splitter: Splitter, lang: str | None) -> tuple[int, int]:
    """The distinct sentences of rows, and the pairs of a summary's sentence and its evidence."""
    from summeval_nb.text.lists import read_with_leads
    from summeval_nb.text.markdown import has_word
    from summeval_nb.text.split import split_markdown

    texts = list(dict.fromkeys(text for row in rows for text in (row["text"], row["summary"])))
    found = split_markdown(texts, splitter=splitter, lang=lang or "en", progress=False)
    read = {text: read_with_leads(text, own) for text, own in zip(texts, found, strict=True)}
    split = {text: [one.plain for one in own if not one.reason and has_word(one.plain)] for text, own in read.items()}
    usable = [row for row in rows if split[row["text"]] and split[row["summary"]]]
    distinct = {one for row in usable for name in ("text", "summary") for one in split[row[name]]}
    return len(distinct), sum(len(split[row["summary"]]) for row in usable)
