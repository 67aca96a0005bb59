# A plain private module: edited here, exported by no notebook, tested in tests/test_retrieval.py.
"""What chapter 47 needs beside its definitions: asking a judge in bulk, each thing once, and the results' faces.

The chapter says what is measured; here stand the rows, the order of the questions to the judge, and tables and pages.
Edited directly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypedDict

import numpy as np

from summeval_nb.ground import _choices
from summeval_nb.ground._files import write_whole
from summeval_nb.ground._folds import folded
from summeval_nb.ground._frames import Table
from summeval_nb.ground._types import JsonDict
from summeval_nb.ground.results import (
    Metric,
    Outcome,
    ResultTable,
    Score,
    ScoreTable,
    Signature,
    require_column,
    require_option,
    require_share,
    require_text,
    require_texts,
)
from summeval_nb.ground.viz import Markup, html_page, html_table, render, text_table
from summeval_nb.judged._answer_stages import opening, question_end, table_records
from summeval_nb.judged._parameters import Thing, explained
from summeval_nb.judged.judging import Asking, Entailment, Flag, Items, Judge, JudgeFailure, ask_many, word_list
from summeval_nb.judged.load import load_judge
from summeval_nb.judged.refusals import unread
from summeval_nb.models._named import StoreOrPath, load_store
from summeval_nb.models.llm import Calls, Most
from summeval_nb.text._language import declared_languages
from summeval_nb.text._lists import leads_into_items, with_denying_leads
from summeval_nb.text._markdown import has_word
from summeval_nb.text._vectors import EmbedderOrName
from summeval_nb.text.cosine import unit_rows
from summeval_nb.text.embed import LotEmbedder, load_embedder
from summeval_nb.text.split import split_sentences

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "question": ("question",),
    "contexts": ("contexts", "context"),
    "answer": ("answer",),
    "truth": ("truth", "ground_truth"),
}
RELEVANT = 0.6  # a cosine of two questions; chapter 47 says how often it is right
_FRAGMENT = 3  # words: what is shorter than this and one more does not say what it answers
_UNDECIDED = "it is undecided whether"
_NOT_SAID = Entailment(label="neutral")  # of a blank passage, which nobody is asked about
_TOLD = """
Parameters
----------
question : str
    What was asked.
contexts : str or sequence of str
    The retrieved passages, best first; one text is one passage.
answer : str
    What the system wrote.
truth : str
    The true answer.
judge : str or Judge
    Who judges: `"embedded"` (the default), `"nli:FOLDER"`, `"llm:FOLDER"`, or a
    judge.
embedder : str or Embedder
    Whose vectors compare questions; `"minilm"` by default.
relevant : float
    In [0, 1], 0.6 by default: two questions that are so similar ask the same.
max_failed : float
    In [0, 1], 0.5 by default: with a greater share of failed statements there is
    no score.
store : Store or path, optional
    Where the judge's replies are kept.
progress : bool
    Whether to show progress bars, one for each kind of question to the judge.

Raises
------
TypeError
    If a text is not a string.
ValueError
    If `max_failed`, or `relevant` where it is a choice, lies outside [0, 1], or the
    judge is unknown.
"""


def takes_choices_of(kind: type[RetrievalMetric]) -> Callable[[Thing], Thing]:
    """Show the choices of a measure in the signature of a function and in its help."""
    show = _choices.takes_choices_of(kind)
    return lambda function: explains(show(function))


def explains(function: Thing) -> Thing:
    """Say in a function's help what its parameters are."""
    return explained(function, _TOLD)


# ---------------------------------------------------------------- results


@dataclass(frozen=True, kw_only=True)
class RetrievedPassage:
    """A retrieved passage: its rank from 1, whether it counts as relevant, its own score in [0, 1], or None."""

    rank: int
    text: str
    relevant: bool | None = None
    score: float | None = None


@dataclass(frozen=True, kw_only=True)
class RetrievalStatement:
    """A statement behind a score: where it comes from, whether it counts, and what decided that.

    Parameters
    ----------
    origin : str
        `"truth"`, `"answer"`, or `"passage 2"`.
    counts : bool or None
        Whether it counts in the score's numerator; None when the judge failed on it.
    label : str or None
        `"entailed"`, `"neutral"` or `"contradicted"` by what it was held against.
    passages : tuple of int
        The ranks of the passages that entail it alone.
    evidence : tuple of str
        The sentences that decided, best first.
    question : str
        The question that the judge made from it, where one was made.
    similarity : float or None
        The cosine of that question and the one that was asked, in [-1, 1].
    failed : bool
        Whether the judge failed on it; `reason` says why.
    """

    text: str
    origin: str
    counts: bool | None = None
    label: str | None = None
    passages: tuple[int, ...] = ()
    evidence: tuple[str, ...] = ()
    question: str = ""
    similarity: float | None = None
    reason: str = ""
    failed: bool = False


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RetrievalScore(Score):
    """One of the six numbers of chapter 47, with every passage and statement behind it.

    Parameters
    ----------
    name : str
        Which of the six.
    numbers : mapping of str to float or None
        Every number under a name that says what it is; the first is the score.
    passages : tuple of RetrievedPassage
        In the order of retrieval.
    statements : tuple of RetrievalStatement
        What was judged.
    n_failed : int
        How many statements the judge failed on.
    notes : tuple of str
        What a reader should know.
    """

    name: str = ""
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    passages: tuple[RetrievedPassage, ...] = ()
    statements: tuple[RetrievalStatement, ...] = ()
    n_failed: int = 0
    notes: tuple[str, ...] = ()

    def rows(self) -> list[JsonDict]:
        """Return one row for each statement."""
        return [asdict(one) for one in self.statements]

    def passage_rows(self) -> list[JsonDict]:
        """Return one row for each passage, in the order of retrieval."""
        return [asdict(one) for one in self.passages]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        own = {"name": self.name, "numbers": dict(self.numbers), "passages": self.passage_rows()}
        return super().to_dict() | own | {"n_failed": self.n_failed, "notes": list(self.notes)}

    def __repr__(self) -> str:
        return f"RetrievalScore({self.line})"

    @property
    def line(self) -> str:
        """All its numbers on one line, or why there is none."""
        if self.score is None:
            return f"{self.name}=None: {self.reason}"
        shown = ", ".join(f"{name}={'None' if v is None else f'{v:.4f}'}" for name, v in self.numbers.items())
        return f"{self.name}: {shown}; {self.undecided}{self.n_failed} failed"

    @property
    def undecided(self) -> str:
        """How many statements were neither entailed nor contradicted: not said, or the judge cannot tell; may be ''."""
        labels = [one.label for one in self.statements if one.label is not None]
        neutral = labels.count("neutral")
        return f"{neutral} of {len(labels)} statements neither entailed nor contradicted, " if neutral else ""

    def _repr_html_(self) -> Markup:
        numbers = [{"number": name, "value": value} for name, value in self.numbers.items()]
        title = f"{self.name}: " + (f"undefined, {self.reason}" if self.score is None else f"{self.score:.4f}")
        tables = [html_table(numbers, caption=title, note=f"{self.undecided}{self.n_failed} failed")]
        if self.passages:
            tables.append(html_table(self.passage_rows(), caption="Passages, in the order of retrieval"))
        if self.statements:
            rows = [
                {name: _in_words(value) for name, value in row.items() if _worth(name, self.statements)}
                for row in self.rows()
            ]
            notes = " ".join([*self.notes, str(self.signature)])
            title = f"{_counted(len(rows), 'statement')}, with what decided"
            tables.append(folded(title, html_table(rows, note=notes)))
        return Markup("".join(tables))

    def to_html(self, path: str | Path) -> Path:
        """Write the report as one file that needs nothing else, and return its path."""
        target = Path(path)
        write_whole(target, html_page(self.name, self._repr_html_()))
        return target


def _in_words(value: object) -> object:
    """Several ranks or sentences of a cell as one text."""
    return " · ".join(map(str, value)) if isinstance(value, tuple) else value


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _worth(name: str, statements: Sequence[RetrievalStatement]) -> bool:
    """Whether a column says anything about these statements."""
    return name in ("text", "origin", "counts") or any(
        getattr(one, name) not in ((), "", None, False) for one in statements
    )


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RetrievalTable(ResultTable[RetrievalScore]):
    """One of the six scores of many questions, in their order."""

    def arrays(self) -> dict[str, np.ndarray]:
        """Return each number by name, the score first, NaN where a row has none."""
        names = dict.fromkeys(["score", *(name for one in self.results for name in one.numbers)])
        values = {n: [one.score if n == "score" else one.numbers.get(n) for one in self.results] for n in names}
        return {n: np.array([np.nan if v is None else v for v in found], float) for n, found in values.items()}

    def passages(self) -> pd.DataFrame:
        """Return one row for each passage of each question."""
        import pandas as pd

        return pd.DataFrame([{"row": n, **row} for n, one in enumerate(self.results) for row in one.passage_rows()])

    def statements(self) -> pd.DataFrame:
        """Return one row for each statement of each question."""
        import pandas as pd

        return pd.DataFrame([{"row": n, **row} for n, one in enumerate(self.results) for row in one.rows()])

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down: failed where the judge failed, otherwise undefined where there is no score."""
        found = zip(super().outcomes(), self.results, strict=True)
        return [o._replace(status="failed") if o.score is None and one.n_failed else o for o, one in found]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RetrievalScores(ScoreTable):
    """Several of the six scores of many questions; `tables` has the whole of each by its name."""

    tables: Mapping[str, RetrievalTable]
    signature: Signature

    def arrays(self) -> dict[str, np.ndarray]:
        """Return each score by the name of its measure, NaN where a row has none."""
        return {name: table.scores for name, table in self.tables.items()}

    def __getitem__(self, row: int) -> dict[str, RetrievalScore]:
        return {name: table[row] for name, table in self.tables.items()}

    def reasons(self) -> list[str]:
        """Return why scores of a row are undefined; '' where all are defined."""
        reasons = zip(*(table.reasons() for table in self.tables.values()), strict=True)
        return ["; ".join(f"{n}: {w}" for n, w in zip(self.tables, row, strict=True) if w) for row in reasons]

    def summary(self) -> list[JsonDict]:
        """Return one row for each number: its mean, how many rows have it, and how many statements the judge failed on.

        The first number of a measure is its score.
        """
        return [
            {
                "measure": name,
                "number": number,
                "mean": table.mean(number),
                "n": int((~np.isnan(values)).sum()),
                "undefined": int(np.isnan(values).sum()),
                "failed statements": sum(one.n_failed for one in table.results),
            }
            for name, table in self.tables.items()
            for number, values in table.arrays().items()
            if number != "score"
        ]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        own = {name: [one.to_dict() for one in table.results] for name, table in self.tables.items()}
        return super().to_dict() | {"summary": self.summary(), "measures": own}

    def __repr__(self) -> str:
        rows = [{"row": n, **row} for n, row in enumerate(self.rows()[:20])]
        return f"RetrievalScores({len(self)} questions)\n{text_table(self.summary())}\n{text_table(rows)}"

    def _repr_html_(self) -> Markup:
        parts = [html_table(self.summary(), caption=f"Retrieval: {_counted(len(self), 'question')}")]
        for n in range(min(len(self), 10)):
            scores = [folded(one.line, one._repr_html_()) for one in self[n].values()]
            parts += scores if len(self) == 1 else [folded(f"Row {n}", Markup("".join(scores)))]
        parts.append(folded("How it was made", render("parts.html", notes=[self.signature])))
        return Markup("".join(parts))


# ---------------------------------------------------------------- rows and questions to the judge


class Row(NamedTuple):
    """One checked row; what a measure does not read is empty."""

    question: str = ""
    contexts: tuple[str, ...] = ()
    answer: str = ""
    truth: str = ""

    @property
    def nothing(self) -> bool:
        """Whether nothing was retrieved."""
        return not any(map(has_word, self.contexts))

    @property
    def together(self) -> str:
        """The passages as one premise, as `evaluate_answer` reads them."""
        return "\n\n".join(filter(has_word, self.contexts))


def check_row(columns: Iterable[str], values: Mapping[str, object], where: str = "") -> Row:
    """A row whose cells are text; a single text is one passage, and no passage at all is allowed."""
    found: dict[str, Any] = {}
    for name in columns:
        value = values[name]
        if name == "contexts":
            found[name] = (value,) if isinstance(value, str) else tuple(require_texts(value, f"{where}{name}"))
        else:
            found[name] = require_text(value, f"{where}{name}")
    return Row(**found)


class Asker:
    """Puts questions to a judge, each only once, whatever measure wants to know."""

    def __init__(self, judge: str | Judge, embedder: EmbedderOrName, store: StoreOrPath, progress: bool = False):
        chosen = load_judge(judge)
        self.judge: Judge = chosen.for_run() if hasattr(chosen, "for_run") else chosen
        self._embedder, self._store, self._progress = embedder, load_store(store), progress
        self._replies: dict[tuple[str, tuple[object, ...]], Any] = {}
        self._sentences: dict[str, list[tuple[str, list[str]]]] = {}
        self._tags: dict[tuple[str, str], Entailment] = {}
        self._made: dict[str, str | JudgeFailure] = {}
        self._vectors: dict[str, np.ndarray] = {}

    @property
    def embedder(self) -> LotEmbedder:
        """Whose vectors compare questions; loaded when it is needed."""
        return load_embedder(self._embedder)

    def ask(self, purpose: str, items: Items) -> list[Any]:
        """The judge's replies, or failures, for items of one kind."""
        keys = [(purpose, tuple(tuple(one) if isinstance(one, list) else one for one in item)) for item in items]
        missing = {key: item for key, item in zip(keys, items, strict=True) if key not in self._replies}
        if missing:
            bar = purpose if self._progress else ""
            found = ask_many(self.judge, purpose, list(missing.values()), store=self._store, progress=bar)
            self._replies.update(zip(missing, found, strict=True))
        return [self._replies[key] for key in keys]

    def statements(self, texts: Iterable[str]) -> None:
        """Learn the statements of texts, sentence by sentence, pronouns replaced where the judge can.

        An item of a list under a *not* is read with its lead-in, which is no statement by itself.
        """
        pairs = [(text, [one.text for one in split_sentences(text)]) for text in dict.fromkeys(texts) if has_word(text)]
        resolved = self.ask("resolve", pairs)
        units = {
            text: own if isinstance(new, JudgeFailure) else list(new.units)
            for (text, own), new in zip(pairs, resolved, strict=True)
        }
        read = {text: with_denying_leads(own) for text, own in units.items()}
        units = {
            text: [
                whole for whole, leads in zip(read[text], leads_into_items(own, read[text]), strict=True) if not leads
            ]
            for text, own in units.items()
        }
        flat = list(dict.fromkeys(unit for own in units.values() for unit in own if has_word(unit)))
        split = dict(zip(flat, self.ask("statements", [(unit,) for unit in flat]), strict=True))
        for text, own in units.items():
            self._sentences[text] = [
                (unit, [unit] if isinstance(found := split[unit], JudgeFailure) else [one.text for one in found])
                for unit in own
                if unit in split
            ]

    def of(self, text: str) -> list[str]:
        """The statements of a text that was learned, each once."""
        return list(dict.fromkeys(one for _, own in self.sentences(text) for one in own))

    def sentences(self, text: str) -> list[tuple[str, list[str]]]:
        """The sentences of a text that was learned, each with its statements."""
        return self._sentences.get(text, [])

    def entail(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Learn about (premise, statement) pairs; a premise without a word entails nothing, and nobody is asked."""
        wanted: dict[str, dict[str, None]] = {}
        for premise, statement in pairs:
            if has_word(premise) and (premise, statement) not in self._tags:
                wanted.setdefault(premise, {})[statement] = None
        items = [(premise, list(own)) for premise, own in wanted.items()]
        for (premise, own), found in zip(items, self.ask("entail", items), strict=True):
            tags = [Entailment(label=None, reason=str(found))] * len(own) if isinstance(found, JudgeFailure) else found
            self._tags.update({(premise, s): tag for s, tag in zip(own, tags, strict=True)})

    def verdict(self, premise: str, statement: str) -> Entailment:
        """What is known of a pair that was learned."""
        return self._tags[premise, statement] if has_word(premise) else _NOT_SAID

    def refusal(self, text: str) -> Flag:
        """Whether a text declines to answer, by its opening as in `evaluate_answer`; a failure leaves it undecided."""
        (found,) = self.ask("refusal", [(opening(text),)])
        return Flag(value=None, reason=str(found)) if isinstance(found, JudgeFailure) else found

    def questions(self, statements: Iterable[str]) -> None:
        """Learn the question that each statement answers, and its vector."""
        items = [(one, [one.rstrip(".!?;, ")]) for one in dict.fromkeys(statements)]
        for (statement, _), found in zip(items, self.ask("questions", items), strict=True):
            failed = isinstance(found, JudgeFailure)
            self._made[statement] = found if failed else found[0].text if found else ""
        made = [self.made(one) for one, _ in items]
        self.vectors([one for one in made if not isinstance(one, JudgeFailure)])

    def made(self, statement: str) -> str | JudgeFailure:
        """The question made from a statement that was learned; the statement itself where none could be made."""
        return self._made[statement] or statement

    def vectors(self, texts: Iterable[str]) -> None:
        """Learn the vectors of texts."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            rows = unit_rows(np.asarray(self.embedder.encode(missing), dtype=np.float64))
            self._vectors.update(zip(missing, rows, strict=True))

    def similarity(self, question: str, made: str) -> float:
        """The cosine of a question and one that was made from a statement, in [-1, 1]."""
        return float(np.clip(self._vectors[question] @ self._vectors[made], -1, 1))


def is_fragment(statement: str) -> bool:
    """Whether a statement is too short to say by itself what it answers, as "In 1931." is."""
    return len(word_list(statement)) <= _FRAGMENT


# ---------------------------------------------------------------- one row, as a measure sees it


@dataclass(frozen=True)
class Found:
    """What the judge said about one row; the measures of the chapter are computed from this."""

    row: Row
    asker: Asker

    def statements(self, origin: str) -> list[str]:
        """The statements of the row's truth or answer."""
        return self.asker.of(getattr(self.row, origin))

    def by_passage(self, statement: str) -> list[Entailment]:
        """What each passage says of a statement, in the order of retrieval."""
        return [self.asker.verdict(one, statement) for one in self.row.contexts]

    def by_truth(self, statement: str) -> Entailment:
        """What the question's end and the truth together say of a statement, as in `evaluate_answer`."""
        return self.asker.verdict(true_premise(self.row), statement)

    def attributed(self, statement: str) -> Entailment:
        """What the passages say: one that entails the statement alone, or, failing that, all of them together."""
        if self.row.nothing:
            return _NOT_SAID
        alone = [one for one in self.by_passage(statement) if one.label == "entailed"]
        return alone[0] if alone else self.asker.verdict(self.row.together, statement)

    def best_alone(self, statement: str) -> Entailment:
        """The passage that entails a statement alone, or that the judge failed on, or that contradicts it, or any."""
        order = ("entailed", None, "contradicted", "neutral")
        return min(self.by_passage(statement), key=lambda one: order.index(one.label), default=_NOT_SAID)

    def asked(self, sentence: str, statements: Sequence[str], origin: str, enough: float) -> RetrievalStatement:
        """A sentence with the question nearest to the one asked among those that its statements answer."""
        made = [self.asker.made(one) for one in statements]
        if failed := [one for one in made if isinstance(one, JudgeFailure)]:
            return RetrievalStatement(text=sentence, origin=origin, failed=True, reason=str(failed[0]))
        asked = [one for one in made if not isinstance(one, JudgeFailure)]
        found = [(self.asker.similarity(self.row.question, one), one) for one in asked]
        near, question = max(found, key=lambda pair: pair[0])
        return RetrievalStatement(
            text=sentence, origin=origin, counts=near >= enough, question=question, similarity=near
        )

    def too_short(self, row: RetrievalStatement) -> RetrievalStatement:
        """A statement of which nobody can tell what it answers; it is not a failure of the judge."""
        why = f"“{row.text}” is too short to say what it answers"
        return row if row.failed else replace(row, counts=None, reason=why)

    def judged(self, statement: str, origin: str, tag: Entailment, counts: bool) -> RetrievalStatement:
        """A statement as it stands in the report; one that the judge failed on does not count either way."""
        tags = self.by_passage(statement)
        return RetrievalStatement(
            text=statement,
            origin=origin,
            counts=None if tag.failed else counts,
            failed=tag.failed,
            label=tag.label,
            passages=tuple(rank for rank, one in enumerate(tags, 1) if one.label == "entailed"),
            evidence=tuple(one.shown for one in tag.evidence[:2]),
            reason=tag.reason,
        )

    def rows(
        self, origin: str, verdict: Callable[[str], Entailment], *, wrong: bool = False
    ) -> list[RetrievalStatement]:
        """The statements of the truth or the answer; the entailed ones count or, with `wrong`, the others."""
        tags = [(one, verdict(one)) for one in self.statements(origin)]
        return [self.judged(one, origin, tag, (tag.label == "entailed") != wrong) for one, tag in tags]

    def passages(self, origin: str) -> tuple[RetrievedPassage, ...]:
        """The passages, each with the share of the truth's or the answer's statements that it entails alone."""
        return self.ranked(self.passage_shares(self.statements(origin)))

    def passage_sentences(self, enough: float) -> list[list[RetrievalStatement]]:
        """The sentences of each passage with the questions that they answer."""
        return [
            [self.asked(*part, f"passage {rank}", enough) for part in self.asker.sentences(text)]
            for rank, text in enumerate(self.row.contexts, 1)
        ]

    def answer_questions(self, enough: float) -> list[RetrievalStatement]:
        """The answer's statements with the questions that they answer; of a fragment nobody can tell which."""
        rows = [self.asked(one, [one], "answer", enough) for one in self.statements("answer")]
        return [self.too_short(row) if is_fragment(row.text) else row for row in rows]

    def passage_shares(self, statements: Sequence[str]) -> list[float | None]:
        """For each passage the share of statements that it entails alone, failed ones left out; None without one."""
        columns = [self.by_passage(one) for one in statements]
        tags = zip(*columns, strict=True) if columns else [()] * len(self.row.contexts)
        known = [[one.label == "entailed" for one in own if not one.failed] for own in tags]
        return [sum(own) / len(own) if own else None for own in known]

    def ranked(self, shares: Sequence[float | None]) -> tuple[RetrievedPassage, ...]:
        """The passages with their scores; one is relevant when its score is above 0."""
        pairs = zip(self.row.contexts, shares, strict=True)
        return tuple(
            RetrievedPassage(rank=rank, text=text, score=share, relevant=None if share is None else share > 0)
            for rank, (text, share) in enumerate(pairs, 1)
        )


def decided(marks: Iterable[bool | None]) -> list[bool]:
    """Those that are known: what the judge failed on is None, and counts neither way."""
    return [one for one in marks if one is not None]


def true_premise(row: Row) -> str:
    """The end of the question and the truth, as one premise."""
    return "\n\n".join(text for text in (question_end(row.question), row.truth) if text.strip())


class Measured(NamedTuple):
    """What a measure found in one row: its numbers, main one first, or the reason why there is none."""

    numbers: Mapping[str, float | None] = {}
    statements: Sequence[RetrievalStatement] = ()
    passages: Sequence[RetrievedPassage] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()


def prepare(asker: Asker, rows: Sequence[Row], needs: Sequence[str]) -> None:
    """Ask all that some measures need to know about rows, stage by stage over all of them."""
    spoken = [name for name in ("truth", "answer") if f"{name} by passage" in needs]
    spoken += ["answer"] if "questions of the answer" in needs else []
    texts = [getattr(row, name) for row in rows for name in spoken]
    if "questions of the contexts" in needs:
        texts += [one for row in rows for one in row.contexts]
    asker.statements(texts)
    pairs = [
        (p, s)
        for name in spoken
        if f"{name} by passage" in needs
        for r in rows
        for p in r.contexts
        for s in asker.of(getattr(r, name))
    ]
    if "answer by truth" in needs:
        pairs += [(true_premise(row), s) for row in rows for s in asker.of(row.answer)]
    asker.entail(pairs)
    left = [
        (row.together, s)
        for name in ("truth", "answer")
        if f"{name} together" in needs
        for row in rows
        for s in asker.of(getattr(row, name))
        if not any(asker.verdict(one, s).label == "entailed" for one in row.contexts)
    ]
    asker.entail(left)
    asked = [s for row in rows for s in asker.of(row.answer)] if "questions of the answer" in needs else []
    if "questions of the contexts" in needs:
        asked += [s for row in rows for one in row.contexts for s in asker.of(one)]
    if asked:
        asker.questions(asked)
        asker.vectors([row.question for row in rows if row.question.strip()])


def most_statements(ask: Asking, texts: Iterable[str]) -> dict[str, Most]:
    """At most what `Asker.statements` asks about texts, and the statements of each; none of one without a word."""
    known = dict.fromkeys(texts)
    units = {text: tuple(one.text for one in split_sentences(text)) for text in known if has_word(text)}
    resolved = ask("resolve", list(units.items()))
    split = dict(zip(units, ask("statements", [(one,) for one in resolved]), strict=True))
    return {text: split.get(text, Most()) for text in known}


def most_calls(judge: str | Judge, rows: Sequence[Row], needs: Sequence[str]) -> dict[str, Calls]:
    """At most what `prepare` asks about rows: no passage entails a statement alone."""
    ask = Asking(load_judge(judge))
    spoken = [name for name in ("truth", "answer") if f"{name} by passage" in needs]
    ask(
        "refusal",
        [(opening(getattr(row, name)),) for row in rows for name in ("answer", "truth") if getattr(row, name)],
    )
    texts = [getattr(row, name) for row in rows for name in dict.fromkeys([*spoken, *_questioned(needs)])]
    texts += [one for row in rows for one in row.contexts] if "questions of the contexts" in needs else []
    said = most_statements(ask, texts)
    pairs = [(p, said[getattr(r, name)]) for name in spoken for r in rows for p in r.contexts]
    if "answer by truth" in needs:
        pairs += [(true_premise(row), said[row.answer]) for row in rows]
    ask("entail", [pair for pair in pairs if has_word(pair[0])])
    left = [(r.together, said[getattr(r, n)]) for n in spoken if f"{n} together" in needs for r in rows]
    ask("entail", [pair for pair in left if has_word(pair[0])])
    asked = [said[getattr(row, name)] for row in rows for name in _questioned(needs)]
    asked += [said[one] for row in rows for one in row.contexts] if "questions of the contexts" in needs else []
    ask("questions", [(one, one) for one in asked])
    return ask.calls


def _questioned(needs: Sequence[str]) -> list[str]:
    return ["answer"] if "questions of the answer" in needs else []


@dataclass(frozen=True, kw_only=True)
class RetrievalMetric(Metric):
    """The base of the six: choices, columns, the order of the questions. A measure says `needs` and `measure`.

    Parameters
    ----------
    judge : str or Judge
        Who judges: `"embedded"`, `"nli:FOLDER"`, `"llm:FOLDER"`, or a judge.
    max_failed : float
        In [0, 1]: with a greater share of failed statements there is no score.
    store : Store or path, optional
        Where the judge's replies are kept.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    scores_refusals: ClassVar[bool] = (
        False  # whether a refusal has a score; otherwise it has none, and the reason says so
    )

    judge: str | Judge = "embedded"
    max_failed: float = 0.5
    store: StoreOrPath = field(default=None, compare=False)

    def __post_init__(self) -> None:
        require_share(self.max_failed, "max_failed")

    def measure(self, found: Found) -> Measured:
        """Return the numbers of one row; here stands the definition."""
        raise NotImplementedError(f"{type(self).__name__} must have measure")

    def asker(self, progress: bool = False) -> Asker:
        """Return what asks this metric's judge."""
        return Asker(self.judge, getattr(self, "embedder", "minilm"), self.store, progress)

    @property
    def signature(self) -> Signature:
        """Every choice that could change a number."""
        return self._signature(self.asker())

    def _signature(self, asker: Asker) -> Signature:
        own = {"embedder": asker.embedder.fingerprint} if hasattr(self, "embedder") else {}
        own |= {name: getattr(self, name) for name in ("relevant", "noise") if hasattr(self, name)}
        return Signature({"metric": self.name, "judge": asker.judge.fingerprint, **own, "max_failed": self.max_failed})

    def calls_for(self, rows: Sequence[Mapping[str, object]]) -> dict[str, Calls]:
        """At most what the scores of rows ask a judge, by kind of question."""
        checked = [check_row(self.columns, row) for row in rows]
        return most_calls(self.judge, [row for row in checked if not self._empty(row)], self.needs)

    def _empty(self, row: Row) -> str:
        """Which text that the measure needs is empty; '' if none is."""
        said = [name for name in ("answer", "truth") if name in self.columns]
        needed = ["question", *said] if hasattr(self, "embedder") else said
        return next((name for name in needed if not getattr(row, name).strip()), "")

    def score(self, *row: str | Sequence[str]) -> RetrievalScore:
        """Return the score of one row, given by the columns in their order."""
        checked = check_row(self.columns, dict(zip(self.columns, row, strict=True)))
        return self.results([checked], self.asker())[0]

    def score_many(self, *columns: Sequence[str | Sequence[str]], progress: bool | None = None) -> RetrievalTable:
        """Return one score a row; one list for each column, in their order."""
        lists = {name: require_column(values, name) for name, values in zip(self.columns, columns, strict=True)}
        records = table_records(lists, {name: (name,) for name in self.columns})
        rows = [check_row(self.columns, record, f"row {n}: ") for n, record in enumerate(records)]
        return self.results(rows, self.asker(bool(progress)))

    def results(self, rows: Sequence[Row], asker: Asker) -> RetrievalTable:
        """Return the scores of checked rows, asked through one asker."""
        said = [name for name in ("answer", "truth") if name in self.columns]
        empty = [self._empty(row) for row in rows]
        spoken = [(row, name) for row, missing in zip(rows, empty, strict=True) for name in said if not missing]
        asker.ask("refusal", [(opening(getattr(row, name)),) for row, name in spoken])
        reasons = [
            f"the {missing} is empty" if missing else self._unfit(row, said, asker)
            for row, missing in zip(rows, empty, strict=True)
        ]
        prepare(asker, [row for row, reason in zip(rows, reasons, strict=True) if not reason], self.needs)
        signature = self._signature(asker)
        found = [
            self._result(Measured(reason=reason) if reason else self.measure(Found(row, asker)), signature)
            for row, reason in zip(rows, reasons, strict=True)
        ]
        return RetrievalTable(results=found, signature=signature)

    def _unfit(self, row: Row, said: Sequence[str], asker: Asker) -> str:
        """Why a row has no score: a refusal, or a text that the judge does not read; '' if it is to be judged."""
        for name in said:
            flag = asker.refusal(getattr(row, name))
            if flag.value is None:
                return f"{_UNDECIDED} the {name} is a refusal: {flag.reason}"
            if flag.value and not self.scores_refusals:
                return f"the {name} is a refusal"
        reads_english = not said and declared_languages(asker.judge) == ("en",)  # it was asked about no text yet
        return unread(row.together) if reads_english else ""

    def _result(self, found: Measured, signature: Signature) -> RetrievalScore:
        unclear = [one for one in found.statements if one.counts is None and one.reason]
        score, reason = next(iter(found.numbers.values()), None), found.reason
        if unclear and len(unclear) > self.max_failed * len(found.statements):
            of = f"{len(unclear)} of {len(found.statements)} statements"
            score, reason = None, f"{of} could not be judged: {unclear[0].reason}"
        return RetrievalScore(
            score=score,
            reason="" if score is not None else reason or "there is no statement to judge",
            signature=signature,
            name=self.name,
            numbers=found.numbers if score is not None else dict.fromkeys(found.numbers),
            passages=tuple(found.passages),
            statements=tuple(found.statements),
            n_failed=sum(one.failed for one in found.statements) + reason.startswith(f"{_UNDECIDED} the"),
            notes=found.notes,
        )


@dataclass(frozen=True, kw_only=True)
class QuestionMetric(RetrievalMetric):
    """The base of the two measures that compare questions.

    Parameters
    ----------
    embedder : str or Embedder
        Whose vectors compare questions.
    relevant : float
        In [0, 1]: from this cosine on two questions ask the same.
    judge, max_failed, store
        As for every measure.
    """

    embedder: EmbedderOrName = "minilm"
    relevant: float = RELEVANT

    def __post_init__(self) -> None:
        super().__post_init__()
        require_share(self.relevant, "relevant")


class Choices(TypedDict, total=False):
    """The choices of every measure."""

    judge: str | Judge
    max_failed: float
    store: StoreOrPath


class QuestionChoices(Choices, total=False):
    """The choices of the measures that compare questions."""

    embedder: EmbedderOrName
    relevant: float


def same_columns(known: Mapping[str, type[RetrievalMetric]], measures: Sequence[str] | None = None) -> str:
    """The name of a measure that reads all the columns of some, or of all."""
    kinds = [known[require_option(name, "measure", known)] for name in measures or known]
    wanted = {column for kind in kinds for column in kind.columns}
    return next(name for name, kind in known.items() if set(kind.columns) == wanted)


def score_together(
    known: Mapping[str, type[RetrievalMetric]],
    table: Table,
    measures: Sequence[str] | None,
    shared: Choices,
    embedder: EmbedderOrName,
    progress: bool,
) -> RetrievalScores:
    """Several measures of a table through one asker, so that nothing is asked twice."""
    if isinstance(measures, str):
        raise TypeError(f"measures must be a list of names, not a text: [{measures!r}]")
    names = list(known) if measures is None else list(dict.fromkeys(measures))
    kinds = [known[require_option(name, "measure", known)] for name in names]
    if not kinds:
        raise ValueError(f"measures is empty; known: {', '.join(known)}")
    own = {name: {"embedder": embedder} if issubclass(known[name], QuestionMetric) else {} for name in names}
    made = {kind.name: kind(**shared, **own[kind.name]) for kind in kinds}
    wanted = [name for name in COLUMNS if any(name in one.columns for one in kinds)]
    records = table_records(table, {name: COLUMNS[name] for name in wanted})
    rows = [check_row(wanted, record, f"row {n}: ") for n, record in enumerate(records)]
    asker = Asker(shared["judge"], embedder, shared["store"], progress)
    tables = {name: one.results([_only(row, one.columns) for row in rows], asker) for name, one in made.items()}
    parts = {name: value for table in tables.values() for name, value in table.signature.items()}
    return RetrievalScores(tables=tables, signature=Signature(parts | {"metric": "+".join(tables)}))


def _only(row: Row, columns: Iterable[str]) -> Row:
    """A row with the columns that a measure reads."""
    return Row(**{name: getattr(row, name) for name in columns})
