"""Judges by name, and one session that puts questions to a judge: what every measure with a judge stands on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter

from summeval_nb.core.base import OWN_CHECKERS, Stages, require_option
from summeval_nb.core.results import Sentence, plain
from summeval_nb.judged.embedded import TASKS, EmbeddedJudge, Items
from summeval_nb.judged.judging import Entailment, Flag, Judge, JudgeFailure, Resolution
from summeval_nb.judged.replies import AnswerUnit, Told, looked_up, read_replies, spoken, spoken_units
from summeval_nb.models.base import counted_as
from summeval_nb.models.local import load_model, unknown_name
from summeval_nb.models.store import StoreOrPath, content_key, fill_missing, load_store
from summeval_nb.text.embed import BatchEmbedder, EmbedderOrName, load_embedder
from summeval_nb.text.markdown import has_word
from summeval_nb.text.similarity import unit_rows
from summeval_nb.text.split import split_sentences
from summeval_nb.text.statements import as_premise, leads_into_items, with_denying_leads

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
        checker; `"llm:FOLDER"` or `"llm:NAME@http://HOST:PORT/v1"`
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
        if judge not in OWN_CHECKERS:
            raise unknown_name(judge, "judge")
        return _embedded_judge(judge)
    if not isinstance(judge, Judge):
        remedy = "pass LLMJudge(backend)" if hasattr(judge, "generate_json") else "see summeval_nb.judged.judging.Judge"
        raise TypeError(f"judge must be a name or a Judge, not {type(judge).__name__}: {remedy}")
    return judge


_adapter = cache(TypeAdapter)  # writes, reads and so checks the answers to one kind of question


def ask_many(
    judge: str | Judge,
    task: str,
    items: Items,
    *,
    store: StoreOrPath = None,
    batch_size: int = 256,
    progress: str = "",
) -> list[Any]:
    """Put one kind of question to a judge for many items; equal items are asked once.

    Parameters
    ----------
    judge : str or Judge
        Whom to ask, or a name as for `load_judge`. If the judge has a method `many(task, items)`, that is used.
    task : str
        `"resolve"`, `"statements"`, `"entail"`, `"refusal"`, `"keyphrases"`,
        `"questions"` or `"answer"`.
    items : sequence of tuples
        The arguments of the judge's method, one tuple an item.
    store : Store or path, optional
        Where answers are kept, under the judge's fingerprint; failures never are.
    batch_size : int
        How many items are handed over together, and how many answers a kill can cost.
    progress : str
        A name for the progress bar; '' shows none.

    Returns
    -------
    list
        What the method returns for each item, or a `JudgeFailure` in its place.

    Examples
    --------
    >>> ask_many("embedded", "statements", [("The rain stopped, but the match was cancelled.",)])[0][0].text
    'The rain stopped'
    """
    method, kind = TASKS[require_option(task, "task", TASKS)]
    asked: Any = load_judge(judge) if isinstance(judge, str) else judge
    if not isinstance(getattr(asked, "fingerprint", None), str):
        remedy = "load_judge('embedded') gives one"
        raise TypeError(f"judge must be a Judge with a fingerprint, not {type(asked).__name__}: {remedy}")
    if not isinstance(items, Sequence) or isinstance(items, (str, bytes)):
        raise TypeError(f"items must be a list of tuples, one for each question, not {type(items).__name__}")
    written = _adapter(kind)

    def one(item: tuple[Any, ...]) -> Any:
        try:
            return getattr(asked, method)(*item)
        except JudgeFailure as failure:  # it stands in the place of an answer
            return failure

    reached = list[int]()

    def compute(places: list[int]) -> list[Any]:
        batch = [items[place] for place in places]
        reached.extend(places)
        answers = asked.many(task, batch) if hasattr(asked, "many") else map(one, batch)
        return [a if isinstance(a, JudgeFailure) else written.dump_python(a, mode="json") for a in answers]

    keys = [content_key(asked.fingerprint, task, plain(item)) for item in items]
    with counted_as(task, asked, len(items)) as count:
        found = fill_missing(load_store(store), "judge", keys, compute, batch_size=batch_size, progress=progress)
        count(from_store=len(items) - len(reached))
    return [value if isinstance(value, JudgeFailure) else written.validate_python(value) for value in found]


class Reply(NamedTuple):
    """A text that answers a question, with which it is read."""

    question: str
    text: str


class Unit(NamedTuple):
    """A unit of a text: its place, its text as it is read, and what it states if that was made with its question."""

    place: Sentence
    resolved: str
    told: tuple[Told, ...] = ()


def make_units(text: str, resolution: Resolution | None, *, question: str = "") -> list[Unit]:
    """Return the units of a text, without what wraps it, with their resolved texts, read with its question."""
    return _with_question(spoken_units(text), resolution, question)


def _with_question(units: Sequence[AnswerUnit], resolution: Resolution | None, question: str) -> list[Unit]:
    """Units with their resolved texts, read with the question that they answer."""
    resolved = [unit.plain for unit in units] if resolution is None else resolution.units
    pairs = list(zip(units, resolved, strict=True))
    read = iter(read_replies(question, [new for unit, new in pairs if not unit.told]))
    found = []
    for unit, _ in pairs:
        if told := unit.told or tuple(next(read)):
            made = told if any(part.made for part in told) else ()
            found.append(Unit(unit.place, " ".join(part.text for part in told), made))
    return found


class StatementText(str):
    """A statement of a text, with what is known of it where it was made of a short answer."""

    told: Told | None = None

    @classmethod
    def of(cls, told: Told) -> StatementText:
        """Return the statement that was made of a short answer."""
        made = cls(told.text)
        made.told = told
        return made


NOT_SAID = Entailment(label="neutral")  # of a blank premise, which nobody is asked about


class JudgeSession:
    """Puts questions to a judge, each only once: methods learn about many texts, or give what was learned of one."""

    def __init__(
        self,
        judge: str | Judge,
        store: StoreOrPath = None,
        *,
        embedder: EmbedderOrName = "minilm",
        batch_size: int = 256,
    ):
        chosen: Any = load_judge(judge)
        self.judge: Judge = chosen.for_run() if hasattr(chosen, "for_run") else chosen
        self.by_words: bool = getattr(chosen, "by_words", False)  # whether a short answer's own words are looked for
        self._embedder, self._store, self._batch_size = embedder, load_store(store), batch_size
        self._replies: dict[tuple[object, ...], Any] = {}
        self._sentences: dict[Reply, list[tuple[str, list[str]]]] = {}
        self._premises: dict[Reply, str] = {}
        self._tags: dict[tuple[str, str], Entailment] = {}
        self._looked_up: dict[tuple[str, Told], Entailment] = {}
        self._made: dict[str, str | JudgeFailure] = {}
        self._vectors: dict[str, np.ndarray] = {}

    @property
    def embedder(self) -> BatchEmbedder:
        """Whose vectors compare questions; loaded when it is needed."""
        return load_embedder(self._embedder)

    def ask(self, task: str, items: Items) -> list[Any]:
        """Return the judge's answers to one kind of question, or failures in their place."""
        keys = [(task, *(tuple(part) if isinstance(part, list) else part for part in item)) for item in items]
        new = {key: item for key, item in zip(keys, items, strict=True) if key not in self._replies}
        if new:
            found = ask_many(self.judge, task, list(new.values()), store=self._store, batch_size=self._batch_size)
            self._replies.update(zip(new, found, strict=True))
        return [self._replies[key] for key in keys]

    def refusals(self, texts: Iterable[str]) -> list[Flag]:
        """Return for each text whether it declines to answer, by its first three sentences; a failure is undecided."""

        def opening(text: str) -> str:
            sentences = split_sentences(text)[:3]
            return text[sentences[0].start : sentences[-1].end] if sentences else ""

        found = self.ask("refusal", [(opening(spoken(text).strip() or text),) for text in texts])
        return [Flag(value=None, reason=str(one)) if isinstance(one, JudgeFailure) else one for one in found]

    def read(self, replies: Iterable[Reply], *, keep_lists: bool = False) -> dict[Reply, tuple[list[Unit], str]]:
        """Return the units of texts, pronouns replaced where the judge can, and a note on these."""
        wanted = list(dict.fromkeys(replies))
        units = {reply.text: spoken_units(reply.text, keep_lists=keep_lists) for reply in wanted}
        items = [(spoken(text), [unit.plain for unit in own]) for text, own in units.items()]
        resolved = dict(zip(units, self.ask("resolve", items), strict=True))
        found = {}
        for reply in wanted:
            own = resolved[reply.text]
            failed = isinstance(own, JudgeFailure)
            note = f"pronouns were left as they are: {own.reason}" if failed else own.note
            found[reply] = _with_question(units[reply.text], None if failed else own, reply.question), note
        return found

    def statements(self, replies: Iterable[Reply]) -> None:
        """Learn the statements of texts, an answer read with its question, an item under a *not* with its lead-in."""
        stage = Stages(resolve=1, split=2)
        with stage("resolve"):
            units = self.read(reply for reply in replies if has_word(reply.text))

        def kept(told: tuple[Told, ...]) -> tuple[Told, ...]:  # a judge that reads is asked about an odd answer
            return () if not self.by_words and any(part.reason for part in told) else told

        read: dict[Reply, list[tuple[str, tuple[Told, ...]]]] = {}
        for reply, (found, _) in units.items():
            own = [unit.resolved for unit in found]
            self._premises[reply] = as_premise(own)
            whole = with_denying_leads(own)
            parts = zip(whole, found, leads_into_items(own, whole), strict=True)
            read[reply] = [(text, kept(unit.told)) for text, unit, led in parts if not led and has_word(text)]
        asked = list(dict.fromkeys(text for own in read.values() for text, told in own if not told))
        with stage("split"):
            split = self.ask("statements", [(text,) for text in asked])
        stated = {
            text: [text] if isinstance(own, JudgeFailure) else [one.text for one in own]
            for text, own in zip(asked, split, strict=True)
        }
        for reply, sentences in read.items():
            self._sentences[reply] = [
                (text, list(map(StatementText.of, told)) if told else stated[text]) for text, told in sentences
            ]

    def of(self, reply: Reply) -> list[str]:
        """Return the statements of a text that was learned, each once."""
        return list(dict.fromkeys(one for _, own in self.sentences(reply) for one in own))

    def sentences(self, reply: Reply) -> list[tuple[str, list[str]]]:
        """Return the sentences of a text that was learned, each with its statements."""
        return self._sentences.get(reply, [])

    def premise(self, reply: Reply) -> str:
        """Return a text that was learned as a premise, read with its question."""
        return self._premises.get(reply, "")

    def entail(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Learn about (premise, statement) pairs; a premise without a word entails nothing, and nobody is asked."""
        wanted: dict[str, dict[str, None]] = {}
        for premise, statement in pairs:
            if has_word(premise) and (premise, statement) not in self._tags:
                wanted.setdefault(premise, {})[statement] = None
        items = [(premise, list(own)) for premise, own in wanted.items()]
        for (premise, own), found in zip(items, self.ask("entail", items), strict=True):
            lost = isinstance(found, JudgeFailure)
            tags = [Entailment(label=None, reason=str(found))] * len(own) if lost else found
            self._tags.update(zip([(premise, statement) for statement in own], tags, strict=True))

    def share(self, task: str, items: Items) -> list[Any]:
        """Return what `ask` does; each pair of premise and statement is asked about once, whoever grouped it how."""
        if task != "entail":
            return self.ask(task, items)
        self.entail((premise, one) for premise, own in items for one in own)
        return [[self.verdict(premise, one) for one in own] for premise, own in items]

    def verdict(self, premise: str, statement: str) -> Entailment:
        """Return what is known of a pair that was learned; of a short answer by its own words, too."""
        if not has_word(premise):
            return NOT_SAID
        tag, told = self._tags[premise, statement], getattr(statement, "told", None)
        if told is None or not self.by_words:
            return tag
        if (premise, told) not in self._looked_up:
            self._looked_up[premise, told] = looked_up(told, premise, tag)
        return self._looked_up[premise, told]

    def questions(self, statements: Iterable[str]) -> None:
        """Learn the question that each statement answers, and its vector."""
        items = [(text, [text.rstrip(".!?;, ")]) for text in dict.fromkeys(statements)]
        for (statement, _), found in zip(items, self.ask("questions", items), strict=True):
            failed = isinstance(found, JudgeFailure)
            self._made[statement] = found if failed else found[0].text if found else ""
        made = [self.made(text) for text, _ in items]
        self.vectors([question for question in made if not isinstance(question, JudgeFailure)])

    def made(self, statement: str) -> str | JudgeFailure:
        """Return the question made from a statement that was learned; the statement itself where none could be."""
        return self._made[statement] or statement

    def vectors(self, texts: Iterable[str]) -> None:
        """Learn the vectors of texts."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
            rows = unit_rows(np.asarray(self.embedder.encode(missing), dtype=np.float64))
            self._vectors.update(zip(missing, rows, strict=True))

    def similarity(self, question: str, made: str) -> float:
        """Return the cosine of a question and one that was made from a statement, in [-1, 1]."""
        return float(np.clip(self._vectors[question] @ self._vectors[made], -1, 1))
