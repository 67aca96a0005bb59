"""Seven measures of a search and of the answer written from it, each with every passage and statement behind it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

from summeval_nb.core.base import (
    JsonDict,
    Stages,
    one_bar,
    require_column,
    require_count,
    require_option,
    require_share,
    require_text,
    require_texts,
    steps,
)
from summeval_nb.core.files import (
    Table,
    find_column,
    is_gap,
    is_missing,
    nearest_column,
    require_passages,
    require_truth,
    table_records,
    table_rows,
    unread_columns,
    without_gaps,
)
from summeval_nb.core.html import Markup, folded, html_table
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Outcome, Score, ScoreTable, Signature, mean_row, rate_row, shared_index
from summeval_nb.judged.answers import AnswerRow, evaluate_rows
from summeval_nb.judged.judging import Entailment, Flag, Judge, JudgeFailure, word_list
from summeval_nb.judged.refusals import unread
from summeval_nb.judged.replies import spoken
from summeval_nb.judged.retrieval import (
    EPSILON,
    RELEVANT,
    attributed,
    average_precision,
    noise_shares,
    passage_shares,
    relevant_share,
)
from summeval_nb.judged.session import NOT_SAID, JudgeSession, Reply
from summeval_nb.models.store import StoreOrPath
from summeval_nb.text.embed import EmbedderOrName
from summeval_nb.text.language import languages_of
from summeval_nb.text.markdown import has_word

__all__ = ["RagScore", "RetrievalScore", "evaluate_rag", "rag_many", "rag_score", "answer_correctness"]
__all__ += ["answer_faithfulness", "answer_relevancy", "context_precision", "context_recall", "context_relevance"]
__all__ += ["hit_rate", "hit_rate_many", "mrr", "mrr_many", "ndcg", "ndcg_many", "noise_sensitivity", "recall_at_k"]
__all__ += ["recall_at_k_many"]


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
        `"ground_truth"`, `"answer"`, or `"passage 2"`.
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
    """A measure of chapter 54, with every passage and statement behind it.

    Parameters
    ----------
    name : str
        Which measure.
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

    bounded: ClassVar[bool] = True
    sentence_columns: ClassVar = tuple(one.name for one in fields(RetrievalStatement))
    more: ClassVar = ("name", "numbers", "passages", "n_failed", "notes")

    name: str = ""
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    passages: tuple[RetrievedPassage, ...] = ()
    statements: tuple[RetrievalStatement, ...] = ()
    n_failed: int = 0
    notes: tuple[str, ...] = ()

    def rows(self) -> list[JsonDict]:
        """Return one row for each statement."""
        return [asdict(statement) for statement in self.statements]

    def passage_rows(self) -> list[JsonDict]:
        """Return one row for each passage, in the order of retrieval."""
        return [asdict(passage) for passage in self.passages]

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return the score and each number by its name."""
        return {"score": self.score, **self.numbers}

    @property
    def line(self) -> str:
        """All its numbers on one line, or why there is none."""
        if self.score is None:
            return f"{self.name}=None: {self.reason}"
        numbers = self.numbers.items()
        shown = ", ".join(f"{name}={'None' if value is None else f'{value:.4f}'}" for name, value in numbers)
        return f"{self.name}: {shown}; {self.undecided}{self.n_failed} failed"

    @property
    def undecided(self) -> str:
        """How many statements were neither entailed nor contradicted: not said, or the judge cannot tell; may be ''."""
        labels = [one.label for one in self.statements if one.label is not None]
        neutral = labels.count("neutral")
        return f"{neutral} of {len(labels)} statements neither entailed nor contradicted, " if neutral else ""

    def __repr__(self) -> str:
        return f"RetrievalScore({self.line})"

    def _repr_html_(self) -> Markup:
        numbers = [{"number": name, "value": value} for name, value in self.numbers.items()]
        title = f"{self.name}: " + (f"undefined, {self.reason}" if self.score is None else f"{self.score:.4f}")
        tables = [html_table(numbers, caption=title, note=f"{self.undecided}{self.n_failed} failed")]
        if self.passages:
            tables.append(html_table(self.passage_rows(), caption="Passages, in the order of retrieval"))
        if rows := self.rows():
            empty = ((), "", None, False)
            told = [n for n in rows[0] if n in ("text", "origin", "counts") or any(row[n] not in empty for row in rows)]
            words = lambda value: " · ".join(map(str, value)) if isinstance(value, tuple) else value
            listed = [{name: words(row[name]) for name in told} for row in rows]
            shown = html_table(listed, note=" ".join([*self.notes, str(self.signature)]))
            tables.append(folded(f"{len(rows)} statement{'s' * (len(rows) != 1)}, with what decided", shown))
        return Markup("".join(tables))


class RetrievalRow(NamedTuple):
    """One checked row; what a measure does not read is empty."""

    question: str = ""
    contexts: tuple[str, ...] = ()
    answer: str = ""
    ground_truth: str = ""
    asked: bool = True  # whether the table has a question
    searched: bool = True  # whether it says what was retrieved

    @property
    def nothing(self) -> bool:
        """Whether nothing was retrieved."""
        return not any(map(has_word, self.contexts))

    @property
    def together(self) -> str:
        """The passages as one premise, as `evaluate_answer` reads them."""
        return "\n\n".join(filter(has_word, self.contexts))

    def reply(self, origin: str) -> Reply:
        """The row's true answer or answer, with the question that it answers."""
        return Reply(self.question, getattr(self, origin))


def _check_row(columns: Iterable[str], values: Mapping[str, object], where: str = "") -> RetrievalRow:
    """A row whose cells are text; a single text is one passage or the text of a list, and no passage is allowed."""
    checks: dict[str, Callable[[Any, str], Any]] = {"contexts": require_passages, "ground_truth": require_truth}
    found: dict[str, Any] = {name: checks.get(name, require_text)(values[name], f"{where}{name}") for name in columns}
    return RetrievalRow(**found | ({"contexts": tuple(found["contexts"])} if "contexts" in found else {}))


def _judged(
    text: str, origin: str, tag: Entailment, passages: tuple[int, ...] = (), *, wrong: bool = False
) -> RetrievalStatement:
    """A statement with what was said of it: an entailed one counts or, with `wrong`, any other."""
    return RetrievalStatement(
        text=text,
        origin=origin,
        counts=None if tag.failed else (tag.label == "entailed") != wrong,
        label=tag.label,
        passages=passages,
        evidence=tuple(passage.shown for passage in tag.evidence[:2]),
        reason=tag.reason,
        failed=tag.failed,
    )


_FRAGMENT = 3  # words: what is no longer does not say by itself what it answers, as "In 1931." does not


@dataclass(frozen=True)
class RowVerdicts:
    """What the judge said about one row; the measures are computed from this."""

    row: RetrievalRow
    session: JudgeSession

    def statements(self, origin: str) -> list[str]:
        """Return the statements of the row's true answer or answer, read with the question."""
        return self.session.of(self.row.reply(origin))

    def by_passage(self, statement: str) -> list[Entailment]:
        """Return what each passage says of a statement, in the order of retrieval."""
        return [self.session.verdict(context, statement) for context in self.row.contexts]

    def by_all(self, statement: str) -> Entailment:
        """Return what one passage says that entails a statement alone, or else all of them together."""
        together = lambda: self.session.verdict(self.row.together, statement)
        return NOT_SAID if self.row.nothing else attributed(self.by_passage(statement), together)

    def judged(
        self, origin: str, verdict: Callable[[str], Entailment], *, wrong: bool = False
    ) -> list[RetrievalStatement]:
        """Return the statements of either answer: the entailed ones count or, with `wrong`, the others."""
        found = []
        for statement in self.statements(origin):
            alone = tuple(n for n, one in enumerate(self.by_passage(statement), 1) if one.label == "entailed")
            found.append(_judged(statement, origin, verdict(statement), alone, wrong=wrong))
        return found

    def asked(self, sentence: str, statements: Sequence[str], origin: str, enough: float) -> RetrievalStatement:
        """Return a sentence with the question nearest to the one asked among those that its statements answer."""
        near: list[tuple[float, str]] = []
        for question in map(self.session.made, statements):
            if isinstance(question, JudgeFailure):
                return RetrievalStatement(text=sentence, origin=origin, failed=True, reason=str(question))
            near.append((self.session.similarity(self.row.question, question), question))
        similarity, question = max(near, key=lambda pair: pair[0])
        how: dict[str, Any] = {"counts": similarity >= enough, "question": question, "similarity": similarity}
        return RetrievalStatement(text=sentence, origin=origin, **how)

    def passages(self, origin: str) -> tuple[RetrievedPassage, ...]:
        """Return the passages, each with the share of one answer's statements that it entails alone."""
        verdicts = [self.by_passage(statement) for statement in self.statements(origin)]
        return self.ranked(passage_shares(verdicts) if verdicts else [None] * len(self.row.contexts))

    def ranked(self, shares: Sequence[float | None]) -> tuple[RetrievedPassage, ...]:
        """Return the passages with their scores; one is relevant when its score is above 0."""
        relevant = [None if share is None else share > 0 for share in shares]
        cells = enumerate(zip(self.row.contexts, relevant, shares, strict=True), 1)
        return tuple(RetrievedPassage(rank=n, text=text, relevant=own, score=share) for n, (text, own, share) in cells)


class MeasureResult(NamedTuple):
    """What a measure found in one row: its numbers, the main one first, or the reason why there is none."""

    numbers: Mapping[str, float | None] = {}
    statements: Sequence[RetrievalStatement] = ()
    passages: Sequence[RetrievedPassage] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()


Options = Mapping[str, Any]  # max_failed, and relevant or noise where a measure has them


def _share(statements: Iterable[RetrievalStatement]) -> float | None:
    """The share of statements that count; what the judge failed on counts neither way."""
    return relevant_share([one.counts for one in statements if one.counts is not None])


def _precision(found: RowVerdicts, options: Options) -> MeasureResult:
    passages = found.passages("ground_truth")
    known = [passage.relevant for passage in passages if passage.relevant is not None]
    numbers = {
        "average_precision": average_precision(known),
        "average_precision_epsilon": average_precision(known, epsilon=EPSILON),
        "relevant_share": relevant_share(known),
    }
    order = ("entailed", None, "contradicted", "neutral")  # None: the judge failed
    best = lambda said: min(found.by_passage(said), key=lambda tag: order.index(tag.label), default=NOT_SAID)
    return MeasureResult(numbers, found.judged("ground_truth", best), passages, "nothing was retrieved")


def _said_by_passages(origin: str, found: RowVerdicts, options: Options) -> MeasureResult:
    rows = found.judged(origin, found.by_all)
    return MeasureResult({"statement_share": _share(rows)}, rows, found.passages(origin))


def _noise(found: RowVerdicts, options: Options) -> MeasureResult:
    truth = found.session.premise(found.row.reply("ground_truth"))  # read with the question, as in `evaluate_answer`
    rows = found.judged("answer", lambda said: found.session.verdict(truth, said), wrong=True)
    passages = found.passages("ground_truth")
    known = [row for row in rows if row.counts is not None]
    shares = noise_shares(
        [bool(row.counts) for row in known],
        [[passage.rank in row.passages for passage in passages] for row in known],
        [bool(passage.relevant) for passage in passages],
    )
    return MeasureResult({options["noise"]: shares[options["noise"]]} | shares, rows, passages)


def _relevance(found: RowVerdicts, options: Options) -> MeasureResult:
    by_passage = []
    for rank, text in enumerate(found.row.contexts, 1):
        parts = found.session.sentences(Reply("", text))
        by_passage.append([found.asked(*part, f"passage {rank}", options["relevant"]) for part in parts])
    rows, shares = [one for own in by_passage for one in own], [_share(own) for own in by_passage]
    means = [share for share in shares if share is not None]
    numbers = {"sentence_share": _share(rows), "passage_mean": sum(means) / len(means) if means else None}
    return MeasureResult(numbers, rows, found.ranked(shares), "nothing was retrieved")


def _relevancy(found: RowVerdicts, options: Options) -> MeasureResult:
    names = ("question_similarity", "relevant_share")
    if found.session.refusals([found.row.answer])[0].value:
        return MeasureResult(dict.fromkeys(names, 0.0), notes=("the answer is a refusal",))
    rows = []
    for statement in found.session.of(Reply("", found.row.answer)):
        one = found.asked(statement, [statement], "answer", options["relevant"])
        if len(word_list(statement)) <= _FRAGMENT and not one.failed:
            one = replace(one, counts=None, reason=f"“{statement}” is too short to say what it answers")
        rows.append(one)
    near = [row.similarity or 0.0 for row in rows if row.counts is not None]
    mean = sum(near) / len(near) if near else None
    return MeasureResult(dict(zip(names, (mean, _share(rows)), strict=True)), rows)


def _correctness(
    rows: Sequence[RetrievalRow], session: JudgeSession, signature: Signature, options: Options
) -> list[MeasureResult]:
    """The correctness of `evaluate_answer`, with the statements of both sides."""
    read = [AnswerRow((), row.question, row.ground_truth, row.answer) for row in rows]
    reports = evaluate_rows(read, session, signature, max_failed=options["max_failed"], shared=True)
    sides = {"answer_given_truth": "answer", "truth_given_answer": "ground_truth"}
    found = []
    for report in reports:
        right = report.correctness
        numbers = {name: getattr(right, name) for name in ("f1", "precision", "recall", "contradicted")}
        statements = [
            _judged(said.statement.text, origin, said.entailment)
            for name, origin in sides.items()
            for part in report.inferences[name].hypotheses
            for said in part.statements
        ]
        found.append(MeasureResult(numbers, statements, reason=right.reason))
    return found


class Measure(NamedTuple):
    """A measure: the columns that it reads, what has to be asked, and how it is computed from the verdicts on a row."""

    columns: tuple[str, ...]
    judged: str
    of_row: Callable[[RowVerdicts, Options], MeasureResult] | None = None  # None: as `evaluate_answer` does it
    needs: tuple[str, ...] = ()
    scores_refusals: bool = False  # whether a refusal has a score; otherwise the reason says that it is one
    compares_questions: bool = False


MEASURES: Mapping[str, Measure] = {
    "answer_faithfulness": Measure(
        ("question", "contexts", "answer"),
        "answer",
        partial(_said_by_passages, "answer"),
        ("answer by passage", "answer together"),
    ),
    "answer_relevancy": Measure(
        ("question", "answer"), "answer", _relevancy, ("questions of the answer",), True, compares_questions=True
    ),
    "answer_correctness": Measure(("question", "answer", "ground_truth"), "answer"),
    "context_precision": Measure(
        ("question", "contexts", "ground_truth"), "contexts", _precision, ("ground_truth by passage",)
    ),
    "context_recall": Measure(
        ("question", "contexts", "ground_truth"),
        "contexts",
        partial(_said_by_passages, "ground_truth"),
        ("ground_truth by passage", "ground_truth together"),
    ),
    "context_relevance": Measure(
        ("question", "contexts"), "contexts", _relevance, ("questions of the contexts",), compares_questions=True
    ),
    "noise_sensitivity": Measure(
        ("question", "contexts", "answer", "ground_truth"),
        "answer",
        _noise,
        ("ground_truth by passage", "answer by passage", "answer by ground_truth"),
    ),
}


def _learn(session: JudgeSession, rows: Sequence[RetrievalRow], needs: Sequence[str]) -> None:
    """Ask all that a measure needs to know about rows, stage by stage over all of them."""
    said = [name for name in ("ground_truth", "answer") if f"{name} by passage" in needs]
    read = ("ground_truth", "answer") if "answer by ground_truth" in needs else said
    alone: list[Reply] = []  # what they answer is to be found out
    if "questions of the answer" in needs:
        alone += [Reply("", row.answer) for row in rows]
    if "questions of the contexts" in needs:
        alone += [Reply("", one) for row in rows for one in row.contexts]
    stage = Stages(statements=1, each=5, together=2, questions=2)
    with stage("statements"):
        session.statements([row.reply(name) for row in rows for name in read] + alone)

    def pairs(name: str, premises: Callable[[RetrievalRow], Sequence[str]]) -> Iterable[tuple[str, str]]:
        return ((p, one) for row in rows for p in premises(row) for one in session.of(row.reply(name)))

    with stage("each"):
        wanted = [pair for name in said for pair in pairs(name, lambda row: row.contexts)]
        if "answer by ground_truth" in needs:
            wanted += pairs("answer", lambda row: [session.premise(row.reply("ground_truth"))])
        session.entail(wanted)
    with stage("together"):
        session.entail(
            (row.together, one)
            for name in ("ground_truth", "answer")
            if f"{name} together" in needs
            for row in rows
            for one in session.of(row.reply(name))
            if not any(session.verdict(context, one).label == "entailed" for context in row.contexts)
        )
    if alone:
        with stage("questions"):
            session.questions(one for reply in alone for one in session.of(reply))
            session.vectors([row.question for row in rows if row.question.strip()])


_UNDECIDED = "it is undecided whether"


def _unfit(measure: Measure, row: RetrievalRow, session: JudgeSession | None = None) -> str:
    """Why a row has no score: a text is empty or, if a session is asked, a refusal or not read; '' if it is judged."""
    said = [name for name in ("answer", "ground_truth") if name in measure.columns]
    needed = ["question", *said] if measure.compares_questions else said
    if not row.asked or (not row.searched and "contexts" in measure.columns):
        return f"the cell of the {'contexts' if row.asked else 'question'} is empty"
    if empty := [name for name in needed if not spoken(getattr(row, name)).strip()]:
        return f"the {empty[0].replace('_', ' ')} is empty"
    if session is None:
        return ""
    for name, flag in zip(said, session.refusals(getattr(row, name) for name in said), strict=True):
        if flag.value is None:
            return f"{_UNDECIDED} the {name.replace('_', ' ')} is a refusal: {flag.reason}"
        if flag.value and not measure.scores_refusals:
            return f"the {name.replace('_', ' ')} is a refusal"
    reads_english = not said and languages_of(session.judge) == ("en",)  # it was asked about no text yet
    return unread(row.together) if reads_english else ""


def _as_score(name: str, found: MeasureResult, signature: Signature, max_failed: float) -> RetrievalScore:
    unclear = [one for one in found.statements if one.counts is None and one.reason]
    score, reason = next(iter(found.numbers.values()), None), found.reason
    if unclear and len(unclear) > max_failed * len(found.statements):
        of = f"{len(unclear)} of {len(found.statements)} statements"
        score, reason = None, f"{of} could not be judged: {unclear[0].reason}"
    return RetrievalScore(
        score=score,
        reason="" if score is not None else reason or "there is no statement to judge",
        signature=signature,
        name=name,
        numbers=dict.fromkeys(found.numbers) if score is None else found.numbers,
        passages=tuple(found.passages),
        statements=tuple(found.statements),
        n_failed=sum(one.failed for one in found.statements) + reason.startswith(f"{_UNDECIDED} the"),
        notes=found.notes,
    )


def measure_rows(
    name: str, rows: Sequence[RetrievalRow], session: JudgeSession, options: Options
) -> list[RetrievalScore]:
    """Return the scores of checked rows by one measure, asked through one session."""
    measure, signature = MEASURES[name], _signature(name, session, options)
    reasons = [_unfit(measure, row) for row in rows]
    stage, of_row = Stages(refusals=1, learn=9), measure.of_row
    if of_row is not None:
        said = [name for name in ("answer", "ground_truth") if name in measure.columns]
        asked = [row for row, why in zip(rows, reasons, strict=True) if not why]
        with stage("refusals"):
            session.refusals(getattr(row, part) for row in asked for part in said)
        reasons = [why or _unfit(measure, row, session) for row, why in zip(rows, reasons, strict=True)]
    fit = [row for row, why in zip(rows, reasons, strict=True) if not why]
    with stage("learn"):
        if of_row is None:
            measured = iter(_correctness(fit, session, signature, options))
        else:
            _learn(session, fit, measure.needs)
            measured = (of_row(RowVerdicts(row, session), options) for row in fit)
    return [
        _as_score(name, MeasureResult(reason=why) if why else next(measured), signature, options["max_failed"])
        for why in reasons
    ]


def _signature(name: str, session: JudgeSession, options: Options) -> Signature:
    """Every choice that could change a number."""
    measure = MEASURES[name]
    own: dict[str, Any] = {"embedder": session.embedder.fingerprint} if measure.compares_questions else {}
    own |= {option: options[option] for option in ("relevant", "noise") if option in options}
    return Signature({"metric": name, "judge": session.judge.fingerprint, **own, "max_failed": options["max_failed"]})


def _options(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The checked options that a measure has."""
    found: dict[str, Any] = {"max_failed": require_share(given["max_failed"], "max_failed")}
    if MEASURES[name].compares_questions:
        found["relevant"] = require_share(given.get("relevant", RELEVANT), "relevant")
    if name == "noise_sensitivity":
        kinds = ["relevant", "irrelevant", "made_up"]
        found["noise"] = require_option(given.get("noise", "relevant"), "noise", kinds)
    return found


def _session(given: Mapping[str, Any]) -> JudgeSession:
    return JudgeSession(given["judge"], given["store"], embedder=given.get("embedder", "minilm"))


def _score(name: str, given: Mapping[str, Any]) -> RetrievalScore:
    """The score of one row by one measure, from all arguments of its call."""
    options, row = _options(name, given), _check_row(MEASURES[name].columns, given)
    return measure_rows(name, [row], _session(given), options)[0]


def _score_table(name: str, *columns: Any, progress: bool | None = None, **given: Any) -> ScoreTable[RetrievalScore]:
    """The scores of many rows by one measure; one list for each column, in their order."""
    names, options = MEASURES[name].columns, _options(name, given)
    lists = {column: require_column(values, column) for column, values in zip(names, columns, strict=True)}
    rows = [_check_row(names, row, f"row {n}: ") for n, row in enumerate(table_rows(lists))]
    session = _session(given)
    with one_bar(len(rows), name, "row", show=bool(progress)):
        found = measure_rows(name, rows, session, options)
    return ScoreTable(found, signature=_signature(name, session, options))


def _measure(name: str) -> Callable[[Callable[..., RetrievalScore]], Callable[..., RetrievalScore]]:
    """Declare a function as the metric of a measure, with its call over many rows."""

    def declare(function: Callable[..., RetrievalScore]) -> Callable[..., RetrievalScore]:
        check = lambda **given: _options(name, given)
        sign = lambda **given: _signature(name, _session(given), _options(name, given))
        declared = metric(name, check=check, signature=sign)(function)
        batch(declared, partial(_score_table, name))
        vars(declared)["metric"].judged = MEASURES[name].judged
        return declared

    return declare


@_measure("context_precision")
def context_precision(
    question: str,
    contexts: str | Sequence[str],
    ground_truth: str | Sequence[str],
    *,
    judge: str | Judge = "embedded",
    max_failed: float = 0.5,
    store: StoreOrPath = None,
) -> RetrievalScore:
    """Say whether the passages that the true answer needs are on top.

    A passage that entails one of the true answer's statements is relevant.

    Parameters
    ----------
    question : str
        What was asked.
    contexts : str or sequence of str
        The retrieved passages, best first. One text is one passage, unless it is the text of a list, as a CSV holds it.
    ground_truth : str
        The true answer; a list of one will do.
    judge : str or Judge
        Who judges: `"embedded"`, `"nli:FOLDER"`, `"llm:FOLDER"`, or a judge.
    max_failed : float
        In [0, 1]: with a greater share of failed statements there is no score.
    store : Store or path, optional
        Where the judge's replies are kept.

    Returns
    -------
    RetrievalScore
        `score` is the average precision, in [0, 1]; `numbers` has it with ragas' epsilon, too, and the plain share of
        relevant passages. None with a reason where nothing was retrieved or the true answer is empty or a refusal.

    Raises
    ------
    TypeError, ValueError
        If a text is none, a share lies outside [0, 1], or the judge is unknown.

    References
    ----------
    The documentation of ragas 0.1, "Context Precision". Ru et al. (2024), "RAGChecker".

    Examples
    --------
    >>> true = "It opened in 1931."
    >>> context_precision("When?", ["Rain fell.", true], true).score
    0.5
    """
    return _score("context_precision", locals())


@_measure("context_recall")
def context_recall(
    question: str,
    contexts: str | Sequence[str],
    ground_truth: str | Sequence[str],
    *,
    judge: str | Judge = "embedded",
    max_failed: float = 0.5,
    store: StoreOrPath = None,
) -> RetrievalScore:
    """Say how much of the true answer stands in the passages.

    Parameters
    ----------
    question, contexts, ground_truth, judge, max_failed, store
        As for `context_precision`, which also says what raises an error.

    Returns
    -------
    RetrievalScore
        The share of the true answer's statements that one passage entails, or all of them together, in [0, 1]; 0 where
        nothing was retrieved; None with a reason where the true answer is empty or a refusal.

    References
    ----------
    The documentation of ragas, "Context Recall". Ru et al. (2024), "RAGChecker".

    Examples
    --------
    >>> found = ["It opened in 1931."]
    >>> context_recall("When?", found, "It opened in 1931. Rain fell.").score
    0.5
    """
    return _score("context_recall", locals())


@_measure("answer_faithfulness")
def answer_faithfulness(
    question: str,
    contexts: str | Sequence[str],
    answer: str,
    *,
    judge: str | Judge = "embedded",
    max_failed: float = 0.5,
    store: StoreOrPath = None,
) -> RetrievalScore:
    """Say how much of the answer stands in the passages, whether it is true or not.

    Parameters
    ----------
    question, contexts, judge, max_failed, store
        As for `context_precision`, which also says what raises an error.
    answer : str
        What the system wrote.

    Returns
    -------
    RetrievalScore
        The share of the answer's statements that one passage entails, or all of them together, in [0, 1]; 0 where
        nothing was retrieved; None with a reason where the answer is empty or a refusal.

    References
    ----------
    Es et al. (2024), "RAGAS: Automated Evaluation of Retrieval Augmented Generation".

    Examples
    --------
    >>> found = ["It opened in 1931."]
    >>> answer_faithfulness("When?", found, "It opened in 1931.").score
    1.0
    """
    return _score("answer_faithfulness", locals())


@_measure("noise_sensitivity")
def noise_sensitivity(
    question: str,
    contexts: str | Sequence[str],
    answer: str,
    ground_truth: str | Sequence[str],
    *,
    judge: str | Judge = "embedded",
    noise: str = "relevant",
    max_failed: float = 0.5,
    store: StoreOrPath = None,
) -> RetrievalScore:
    """Say how much of the answer is wrong, and whether the passages said so.

    A statement that the true answer, read with the question, does not entail is wrong, as in `evaluate_answer`.

    Parameters
    ----------
    question, contexts, ground_truth, judge, max_failed, store
        As for `context_precision`, which also says what raises an error.
    answer : str
        What the system wrote.
    noise : "relevant", "irrelevant" or "made_up"
        Which of the three numbers is the score; all stand in `numbers`.

    Returns
    -------
    RetrievalScore
        In [0, 1], lower is better; None with a reason where the answer or the true answer is empty or a refusal. A
        statement *counts* when it is wrong.

    References
    ----------
    Ru et al. (2024), "RAGChecker". The documentation of ragas, "Noise Sensitivity".

    Examples
    --------
    >>> true = "It opened in 1931."
    >>> noise_sensitivity("When?", [true], true, true).score
    0.0
    """
    return _score("noise_sensitivity", locals())


@_measure("context_relevance")
def context_relevance(
    question: str,
    contexts: str | Sequence[str],
    *,
    judge: str | Judge = "embedded",
    embedder: EmbedderOrName = "minilm",
    relevant: float = RELEVANT,
    max_failed: float = 0.5,
    store: StoreOrPath = None,
) -> RetrievalScore:
    """Say how much of the passages is about what was asked.

    The judge makes a question of each sentence; a sentence helps if its question is as similar to the one asked as
    `relevant` says.

    Parameters
    ----------
    question, contexts, judge, max_failed, store
        As for `context_precision`, which also says what raises an error.
    embedder : str or Embedder
        Whose vectors compare questions.
    relevant : float
        In [0, 1]: two questions that are so similar ask the same.

    Returns
    -------
    RetrievalScore
        `score` is the share of helpful sentences, in [0, 1]; `numbers` has the mean of the passages' shares, too. None
        with a reason where nothing was retrieved.

    References
    ----------
    Es et al. (2024), "RAGAS: Automated Evaluation of Retrieval Augmented Generation".

    Examples
    --------
    >>> passage = "The bridge is 9 metres long. Cheese is made of milk."
    >>> context_relevance("How long is the bridge?", [passage]).score
    0.5
    """
    return _score("context_relevance", locals())


@_measure("answer_relevancy")
def answer_relevancy(
    question: str,
    answer: str,
    *,
    judge: str | Judge = "embedded",
    embedder: EmbedderOrName = "minilm",
    relevant: float = RELEVANT,
    max_failed: float = 0.5,
    store: StoreOrPath = None,
) -> RetrievalScore:
    """Say whether the answer is about what was asked, right or wrong.

    The judge makes a question of each statement of the answer.

    Parameters
    ----------
    question, judge, max_failed, store
        As for `context_precision`, which also says what raises an error.
    answer : str
        What the system wrote.
    embedder, relevant
        As for `context_relevance`.

    Returns
    -------
    RetrievalScore
        `score` is the mean cosine of the statements' questions and the one asked, in [-1, 1], 0 for a refusal;
        `numbers` has the share of statements that are close enough, too. None with a reason where the answer is empty
        or only a fragment of three words or fewer, of which nobody can tell what it answers.

    References
    ----------
    Es et al. (2024), "RAGAS: Automated Evaluation of Retrieval Augmented Generation".

    Examples
    --------
    >>> question = "How long is the bridge?"
    >>> answer_relevancy(question, "The bridge is 9 metres long.").score > 0.5
    True
    """
    return _score("answer_relevancy", locals())


@_measure("answer_correctness")
def answer_correctness(
    question: str,
    answer: str,
    ground_truth: str | Sequence[str],
    *,
    judge: str | Judge = "embedded",
    max_failed: float = 0.5,
    store: StoreOrPath = None,
) -> RetrievalScore:
    """Say whether the answer says what the true answer says: the correctness of `evaluate_answer`.

    Parameters
    ----------
    question, ground_truth, judge, max_failed, store
        As for `context_precision`, which also says what raises an error.
    answer : str
        What the system wrote.

    Returns
    -------
    RetrievalScore
        `score` is the F1 of the statements of both, in [0, 1]; `numbers` has precision, recall and the share
        contradicted. None with a reason where a text is empty or a refusal.

    Examples
    --------
    >>> answer_correctness("When?", "It opened in 1931.", "It opened in 1931.").score
    1.0
    """
    return _score("answer_correctness", locals())


def _ranked(
    name: str, found: Sequence[str], wanted: Sequence[str], k: int | None, of: Callable[[list[bool], int], float]
) -> Score:
    """Return what a formula makes of the hits among the first k results, and of the number of wanted ones."""
    listed = require_texts(found, "retrieved_context_ids")
    true = set(require_texts(wanted, "reference_context_ids"))
    if k is not None:
        require_count(k, "k")
    if len(set(listed)) < len(listed):
        twice = next(own for place, own in enumerate(listed) if own in listed[:place])
        raise ValueError(f"retrieved_context_ids holds {twice!r} twice: list each result once, the best first")
    signature = Signature({"metric": name, "k": "all" if k is None else k})
    if not true:
        return Score(score=None, reason="reference_context_ids is empty: nothing was to be found", signature=signature)
    return Score(score=of([own in true for own in listed[:k]], len(true)), signature=signature)


@metric("mrr", batch_size=2000)
def mrr(retrieved_context_ids: Sequence[str], reference_context_ids: Sequence[str], *, k: int | None = None) -> Score:
    """Return 1 / rank of the first result that was wanted, and 0 where none is; its mean over questions is MRR.

    Parameters
    ----------
    retrieved_context_ids : sequence of str
        The identifiers of what a search found, the best first.
    reference_context_ids : sequence of str
        Those of what it should find, in any order.
    k : int, optional
        How many results count; by default all.

    Examples
    --------
    >>> float(mrr(["d3", "d1", "d7"], ["d1", "d7"]))
    0.5
    """
    first = lambda hits, _: next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)
    return _ranked("mrr", retrieved_context_ids, reference_context_ids, k, first)


@metric("ndcg", batch_size=2000)
def ndcg(retrieved_context_ids: Sequence[str], reference_context_ids: Sequence[str], *, k: int | None = None) -> Score:
    """Return the discounted gain of the wanted results, in [0, 1], as a share of the best possible order's.

    A wanted result at rank r gains 1 / log2(r + 1). Parameters are those of `mrr`.

    References
    ----------
    Järvelin and Kekäläinen 2002, Cumulated Gain-Based Evaluation of IR Techniques.

    Examples
    --------
    >>> round(float(ndcg(["d3", "d1", "d7"], ["d1", "d7"])), 3)
    0.693
    """

    def share(hits: list[bool], wanted: int) -> float:
        best = min(wanted, k or wanted)
        gain = math.fsum(1 / math.log2(rank + 1) for rank, hit in enumerate(hits, 1) if hit)
        return gain / math.fsum(1 / math.log2(rank + 1) for rank in range(1, best + 1))

    return _ranked("ndcg", retrieved_context_ids, reference_context_ids, k, share)


@metric("recall_at_k", batch_size=2000)
def recall_at_k(
    retrieved_context_ids: Sequence[str], reference_context_ids: Sequence[str], *, k: int | None = None
) -> Score:
    """Return the share of what was wanted that is among the first k results, in [0, 1].

    Parameters are those of `mrr`.

    Examples
    --------
    >>> float(recall_at_k(["d3", "d1", "d7"], ["d1", "d7"], k=2))
    0.5
    """
    share = lambda hits, wanted: sum(hits) / wanted
    return _ranked("recall_at_k", retrieved_context_ids, reference_context_ids, k, share)


@metric("hit_rate", batch_size=2000)
def hit_rate(
    retrieved_context_ids: Sequence[str], reference_context_ids: Sequence[str], *, k: int | None = None
) -> Score:
    """Return 1 where at least one of the first k results was wanted, else 0; its mean over questions is the hit rate.

    Parameters are those of `mrr`.

    Examples
    --------
    >>> float(hit_rate(["d3", "d1", "d7"], ["d1", "d7"], k=1))
    0.0
    """
    return _ranked("hit_rate", retrieved_context_ids, reference_context_ids, k, lambda hits, _: float(any(hits)))


mrr_many, ndcg_many, recall_at_k_many, hit_rate_many = map(batch, (mrr, ndcg, recall_at_k, hit_rate))
RANKING = {"mrr": mrr_many, "ndcg": ndcg_many, "recall_at_k": recall_at_k_many, "hit_rate": hit_rate_many}


_FLAGS = {"answer": "answer_refused", "ground_truth": "truth_refused"}
_COLUMNS = ("question", "contexts", "answer", "ground_truth")


def _by_reason(reasons: Mapping[str, str], form: str) -> str:
    """Names and reasons in one line, each reason once."""
    names: dict[str, list[str]] = {}
    for name, why in reasons.items():
        names.setdefault(why, []).append(name)
    return "; ".join(form.format(why=why, names=", ".join(own)) for why, own in names.items())


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RagScore(Score):
    """All that was measured of one question; its `score` is that of the first measure.

    Parameters
    ----------
    scores : mapping of str to RetrievalScore
        Each measure by its name, with every passage and statement behind it.
    refused : mapping of str to Flag or None
        `answer_refused` and `truth_refused`; None where the text is empty.
    left_out : mapping of str to str
        The measures that the table has no columns for, and why.
    """

    sentence_columns: ClassVar = ("measure", *RetrievalScore.sentence_columns)

    scores: Mapping[str, RetrievalScore]
    refused: Mapping[str, Flag | None]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_failed(self) -> int:
        """How many statements the judge failed on, over all measures."""
        return sum(score.n_failed for score in self.scores.values())

    @property
    def reasons(self) -> dict[str, str]:
        """Why scores are undefined; only those that are."""
        return {name: own.reason for name, own in self.scores.items() if own.score is None}

    @property
    def why_not(self) -> str:
        """The reasons with the measures that each one concerns, in one line."""
        return _by_reason(self.reasons, "{why}: {names}")

    @property
    def line(self) -> str:
        """Every score in one line."""
        shown = {name: "none" if own.score is None else f"{own.score:.2f}" for name, own in self.scores.items()}
        return ", ".join(f"{name} {value}" for name, value in shown.items())

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return each score by the name of its measure, and the flags of refusals as 1 and 0."""
        return {name: None if value is None else float(value) for name, value in self._found().items()}

    def _found(self) -> JsonDict:
        flags = {name: None if flag is None else flag.value for name, flag in self.refused.items()}
        return {name: own.score for name, own in self.scores.items()} | flags

    def row(self) -> JsonDict:
        """Return each score and flag by its name, and why scores are undefined, in one row."""
        return self._found() | {"reason": self.why_not}

    def rows(self) -> list[JsonDict]:
        """Return one row for each statement of each measure."""
        return [{"measure": name} | row for name, own in self.scores.items() for row in own.rows()]

    def outcome(self) -> Outcome:
        """Return what a run writes down: the first of all measures, failed where the judge failed, and the others."""
        main = next(iter(MEASURES))
        lost = main in self.left_out  # a run's score is the same measure in every row
        found = Outcome(None, "undefined", self.left_out[main]) if lost else next(iter(self.scores.values())).outcome()
        parts = dict.fromkeys(self.left_out) | self._found() | {"reasons": self.reasons, "n_failed": self.n_failed}
        return found._replace(parts=parts, signature=str(self.signature))

    @classmethod
    def summarize(cls, table: ScoreTable[Any], *, confidence: float, seed: int) -> list[JsonDict]:
        """Return one row for each measure and flag: `value`, its mean over the `n` rows that have it, with an interval
        from `low` to `high`; how many rows are `undefined`, and in how many a call of the judge `failed`."""
        found, measured = [], table.measured.values()
        for name, values in table.arrays().items():
            known = [value for value in values.tolist() if not math.isnan(value)]
            if name not in _FLAGS.values():
                row = mean_row(name, known, confidence, seed)
                lost = sum(own.scores[name].n_failed > 0 for own in measured)
            else:
                row = rate_row(name, int(sum(known)), len(known), confidence)
                flags = [own.refused[name] for own in measured]
                lost = sum(flag is not None and flag.value is None for flag in flags)
            found.append(row | {"undefined": len(values) - len(known), "failed": lost})
        return found

    @classmethod
    def remarks(cls, table: ScoreTable[Any]) -> list[str]:
        """Return what was left out and why, and in how many rows the judge failed."""
        first, *others = table.measured.values()
        lost = sum(own.n_failed > 0 for own in (first, *others))
        told = [f"{lost} row{'s' * (lost != 1)} with a failed call of the judge"] * (lost > 0)
        left_out = _by_reason(first.left_out, "{names}, for there is {why}")
        return [f"left out: {left_out}", *told] if left_out else told

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        return super().to_dict() | self.row() | {"scores": {name: own.to_dict() for name, own in self.scores.items()}}

    def __repr__(self) -> str:
        return "\n".join(own.line for own in self.scores.values())

    def _repr_html_(self) -> Markup:
        return Markup("".join(folded(own.line, own._repr_html_()) for own in self.scores.values()))


def _check_rag(*, metrics: object, max_failed: object, **_: object) -> list[str]:
    """The measures of some names; None stands for all."""
    require_share(max_failed, "max_failed")
    if isinstance(metrics, str):
        raise TypeError(f'metrics must be a list of names, not a text: ["{metrics}"]')
    names = MEASURES if metrics is None else dict.fromkeys(metrics)  # type: ignore[call-overload]
    for name in names:
        require_option(name, "metric", MEASURES)
    if not names:
        raise ValueError(f"metrics is empty; known: {', '.join(MEASURES)}")
    return list(names)


def _rag_row(record: Mapping[str, Any], where: str) -> RetrievalRow:
    """A checked row; a cell that is missing is an empty text, and of contexts it is no empty search."""
    cells = {name: without_gaps(record.get(name)) for name in _COLUMNS}
    given = {name: "" if is_missing(cell) else cell for name, cell in cells.items()}
    asked, searched = not is_gap(cells["question"]), not is_missing(cells["contexts"])
    return _check_row(_COLUMNS, given, where)._replace(asked=asked, searched=searched)


def _rag_signature(*, metrics: Sequence[str] | None, max_failed: float, **how: Any) -> Signature:
    """Every option that could change a number."""
    parts: dict[str, object] = {}
    session, names = _session(how), _check_rag(metrics=metrics, max_failed=max_failed)
    for name in names:
        parts |= _signature(name, session, _options(name, {"max_failed": max_failed}))
    return Signature(parts | {"metric": "rag", "metrics": "+".join(names)})


@metric("rag", check=_check_rag, signature=_rag_signature)
def rag_score(
    question: str,
    contexts: str | Sequence[str] | None = None,
    answer: str | None = None,
    ground_truth: str | Sequence[str] | None = None,
    *,
    metrics: Sequence[str] | None = None,
    judge: str | Judge = "embedded",
    embedder: EmbedderOrName = "minilm",
    max_failed: float = 0.5,
    store: StoreOrPath = None,
) -> RagScore:
    """Measure search and answer of one question; `evaluate_rag` measures a table.

    Parameters
    ----------
    question : str
        What was asked.
    contexts : str or sequence of str, optional
        The retrieved passages, best first.
    answer : str, optional
        What the system wrote.
    ground_truth : str, optional
        The true answer; a list of one will do.
    metrics, judge, embedder, max_failed, store
        As for `evaluate_rag`.

    Returns
    -------
    RagScore
        Each measure that the texts allow, and whether the answer and the true answer are refusals.

    Raises
    ------
    TypeError, ValueError
        As for `evaluate_rag`.

    Examples
    --------
    >>> found = rag_score("When?", ["It rained."], ground_truth="It rained.", metrics=["context_recall"])
    >>> found.scores["context_recall"].score
    1.0
    """
    given = locals()
    row = {name: given.pop(name) for name in _COLUMNS}
    return _rag_table([row], {}, **given)[0]


def _rag_lists(
    questions: Any, contexts: Any, answers: Any, ground_truths: Any, *, progress: bool | None = None, **how: Any
) -> ScoreTable[RagScore]:
    """The measures of many questions; a value that is missing is None."""
    given = dict(zip(_COLUMNS, (questions, contexts, answers, ground_truths), strict=True))
    lists = {name: require_column(values, name) for name, values in given.items() if values is not None}
    return _rag_table(table_rows(lists), {}, progress=progress, **how)


vars(rag_score)["metric"].may_lack = _COLUMNS  # each measure says what it lacks
rag_many = batch(rag_score, _rag_lists)


def _rag_table(
    records: Sequence[Mapping[str, Any]], absent: Mapping[str, str], *, progress: bool | None = None, **how: Any
) -> ScoreTable[RagScore]:
    """Scores of rows by the names of columns; `absent` says more of those that a table lacks."""
    names = _check_rag(**how)
    lacking = [name for name in _COLUMNS if all(is_missing(record.get(name)) for record in records)]
    left_out: dict[str, str] = {}
    for name in names if how["metrics"] is None else ():
        if lost := [column for column in lacking if column in MEASURES[name].columns]:
            left_out[name] = absent.get(lost[0], f"no {lost[0]} in any row")
    if len(left_out) == len(MEASURES):  # each measure then says what it lacks
        left_out = {}
    names = [name for name in names if name not in left_out]
    rows = [_rag_row(record, f"row {n}: ") for n, record in enumerate(records)]
    session = _session(how)
    said = [text for text in _FLAGS if any(text in MEASURES[name].columns for name in names)]
    texts = [[getattr(row, text) for text in said] for row in rows]
    with one_bar(len(rows), "questions", "row", show=bool(progress)):
        stage = Stages(refusals=1, score=9)
        with stage("refusals"):
            asked = [text for own in texts for text in own if spoken(text).strip()]
            known = dict(zip(asked, session.refusals(asked), strict=True))
        with stage("score"):
            found = {name: measure_rows(name, rows, session, _options(name, how)) for name in steps(names)}
    signature = _rag_signature(**how)
    results = []
    for place, own in enumerate(texts):
        scores = {name: measured[place] for name, measured in found.items()}
        main = next(iter(scores.values()))
        refused = {_FLAGS[name]: known.get(text) for name, text in zip(said, own, strict=True)}
        parts: dict[str, Any] = {"scores": scores, "refused": refused, "left_out": left_out}
        results.append(RagScore(score=main.score, reason=main.reason, signature=signature, **parts))
    return ScoreTable(results, signature=signature)


def _with_ranking(rows: Table, *, metrics: Sequence[str], columns: Any, **how: Any) -> ScoreTable[RagScore]:
    """Measures of which some need identifiers only, in the order in which they were named."""
    others = [name for name in metrics if name not in RANKING]
    own = {name: column for name, column in (columns or {}).items() if name in _IDENTIFIERS or not others}
    rest = {name: column for name, column in (columns or {}).items() if name not in own}
    records = table_records(table_rows(rows), _IDENTIFIERS, columns=own)
    lists = [[record[name] for record in records] for name in _IDENTIFIERS]
    base = evaluate_rag(rows, others, columns=rest, **how) if others else None
    ranked = {name: RANKING[name](*lists) for name in metrics if name in RANKING}
    signature = Signature({"metric": "rag", "measures": "+".join(metrics)} | (dict(base.signature) if base else {}))
    results = []
    for place in range(len(records)):
        known = {
            name: RetrievalScore(name=name, score=one.score, reason=one.reason, signature=one.signature)
            for name, table in ranked.items()
            for one in (table[place],)
        }
        known |= base[place].scores if base else {}
        found = {name: known[name] for name in metrics}
        main, refused = found[metrics[0]], base[place].refused if base else {}
        parts: JsonDict = {"scores": found, "refused": refused, "signature": signature}
        results.append(RagScore(score=main.score, reason=main.reason, **parts))
    return ScoreTable(results, signature=signature, index=shared_index(rows=rows))


_IDENTIFIERS = ("retrieved_context_ids", "reference_context_ids")


def evaluate_rag(
    rows: Table,
    metrics: Sequence[str] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    judge: str | Judge = "embedded",
    embedder: EmbedderOrName = "minilm",
    max_failed: float = 0.5,
    store: StoreOrPath = None,
    progress: bool = True,
) -> ScoreTable[RagScore]:
    """Measure search and answers of a table of questions, with all that its columns allow.

    Every question to the judge is asked once, whatever measure wants to know.

    Parameters
    ----------
    rows : DataFrame, datasets.Dataset, list of dicts, or dict of columns
        A row a question. Columns `question`, `contexts` (a list of passages, best first, or its text), `answer`,
        `ground_truth`, or what others call them, such as `user_input`, `retrieved_contexts`, `response`, `reference`.
        A cell may be empty: what needs it is None, with the reason.
    metrics : sequence of str, optional
        `answer_faithfulness`, `answer_relevancy`, `answer_correctness`, `context_precision`, `context_recall`,
        `context_relevance`, `noise_sensitivity`; by default all of these that the columns allow. Also `mrr`, `ndcg`,
        `recall_at_k`, `hit_rate`, which need only the columns `retrieved_context_ids` and `reference_context_ids`.
    columns : mapping of str to str, optional
        Which column is which, as in `{"answer": "model_output"}`.
    judge, embedder, max_failed, store
        As for `answer_relevancy`.
    progress : bool
        Whether to show a progress bar, which counts rows.

    Returns
    -------
    ScoreTable
        A `RagScore` a question: each measure, and whether the answer and the true answer are refusals. `summary()` has
        means with intervals, `table[0].left_out` what the columns did not allow, and
        `table[0].scores["context_recall"]` every passage and statement behind a number.

    Raises
    ------
    ValueError
        If a metric is unknown, a column is missing, two hold the same, or there are several true answers.
    TypeError
        If a cell is not text; the message names the row.

    Examples
    --------
    >>> row = {"question": "When?", "contexts": ["It rained."], "ground_truth": "It rained."}
    >>> evaluate_rag([row], ["context_recall"], progress=False).mean()
    1.0
    """
    if metrics is not None and not isinstance(metrics, str):
        metrics = [require_option(name, "metric", (*MEASURES, *RANKING)) for name in metrics]
    how: dict[str, Any] = {"metrics": metrics, "judge": judge, "embedder": embedder, "max_failed": max_failed}
    if any(name in RANKING for name in metrics or ()):
        return _with_ranking(rows, columns=columns, store=store, progress=progress, **how)
    listed, mapped = table_rows(rows), columns or {}
    kinds = [MEASURES[name] for name in _check_rag(**how)]
    present = list(dict.fromkeys(name for row in listed for name in row))
    needed = [name for name in _COLUMNS if any(name in kind.columns for kind in kinds)]
    optional = _COLUMNS[1:] if metrics is None else ()
    records = table_records(listed, needed, columns=mapped, optional=optional)
    taken = set(mapped.values())
    others = [column for column in unread_columns(_COLUMNS, present) if column not in taken]
    absent = {}
    for name in optional:
        if name not in mapped and find_column(name, present) is None:
            near = nearest_column(name, others)
            absent[name] = f"no column {name}" + ("" if near is None else f", did you mean {near!r}?")
    if all(absent.keys() & set(kind.columns) for kind in kinds):
        told = ", ".join(map(str, present))
        raise ValueError(f"there is {'; '.join(absent.values())}; there is: {told}")
    found = _rag_table(records, absent, store=store, progress=progress, **how)
    index = shared_index(rows=rows)
    return found if index is None else found.indexed_by(index)
