"""The Summarization Score of summaries: an exam for each text, what the summary answers, and the numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from summeval_nb.core.base import (
    JsonDict,
    Stages,
    one_bar,
    require_column,
    require_count,
    require_flag,
    require_option,
    require_share,
    require_text,
    warn_of_order,
)
from summeval_nb.core.files import require_passages, table_rows
from summeval_nb.core.html import Mark, Markup, mark_html, render
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Outcome, Score, ScoreTable, Signature, plain
from summeval_nb.evidence.base import warn_of_paths
from summeval_nb.judged.coverage import (
    conciseness_score,
    guarded_score,
    measure_length,
    mixed_score,
    name_degenerate,
    qa_score,
)
from summeval_nb.judged.judging import Answer, Judge, JudgeFailure, Keyphrase, Question
from summeval_nb.judged.questions import how_many_questions
from summeval_nb.judged.session import JudgeSession, load_judge
from summeval_nb.models.store import StoreOrPath

__all__ = ["SummarizationScore", "summarization_score", "summarization_scores"]


def join_contexts(contexts: object, where: str = "") -> str:
    """Return contexts joined by line breaks: a text, a list of texts also as the text of one, or one such in a list."""
    if isinstance(contexts, (list, tuple)) and len(contexts) == 1 and isinstance(contexts[0], (list, tuple)):
        contexts = contexts[0]
    return "\n".join(require_passages(contexts, f"{where}contexts"))


class QuestionSet(NamedTuple):
    """The questions of one context, or why there are none."""

    keyphrases: tuple[Keyphrase, ...] = ()
    questions: tuple[Question, ...] = ()
    dropped: tuple[Question, ...] = ()
    reason: str = ""


def _make_questions(
    contexts: Sequence[str], session: JudgeSession, n_keyphrases: int | None, check_questions: bool
) -> dict[str, QuestionSet]:
    """The questions of each distinct context; a failure of the judge is the reason why there are none."""
    texts = [text for text in dict.fromkeys(contexts) if text.strip()]
    sets = {text: QuestionSet(reason="the context is empty") for text in contexts if not text.strip()}
    counts = [how_many_questions(text) if n_keyphrases is None else n_keyphrases for text in texts]
    stage = Stages(phrases=1, questions=1, check=4)
    with stage("phrases"):
        phrases = dict(zip(texts, session.ask("keyphrases", list(zip(texts, counts, strict=True))), strict=True))
    asked = {text: own for text, own in phrases.items() if not isinstance(own, JudgeFailure) and own}
    with stage("questions"):
        put = [(text, [phrase.text for phrase in own]) for text, own in asked.items()]
        made = dict(zip(asked, session.ask("questions", put), strict=True))
    checked = [t for t, own in made.items() if check_questions and not isinstance(own, JudgeFailure) and own]
    with stage("check"):
        own = dict(zip(checked, session.ask("answer", [(text, made[text]) for text in checked]), strict=True))
    for text in texts:
        sets[text] = _question_set(phrases[text], made.get(text, []), own.get(text))
    return sets


def _question_set(
    phrases: Sequence[Keyphrase] | JudgeFailure,
    questions: Sequence[Question] | JudgeFailure,
    own: Sequence[Answer] | JudgeFailure | None,
) -> QuestionSet:
    """The questions from the judge's replies: key phrases, questions, the context's own answers (None: not asked)."""
    for reply in (phrases, questions, own):
        if isinstance(reply, JudgeFailure):
            return QuestionSet(reason=f"the judge failed: {reply}")
    assert not isinstance(phrases, JudgeFailure) and not isinstance(questions, JudgeFailure)
    unique = {question.text: question for question in questions}
    values = [1] * len(questions) if own is None else [answer.value for answer in own]  # type: ignore[union-attr]
    good = {question.text for question, value in zip(questions, values, strict=True) if value == 1}
    kept = tuple(question for text, question in unique.items() if text in good)
    dropped = tuple(question for text, question in unique.items() if text not in good)
    reason = "" if kept else "no question could be made that the context answers with yes"
    return QuestionSet(tuple(phrases), kept, dropped, reason)


def _answer_questions(
    rows: Sequence[tuple[str, str]], session: JudgeSession, n_keyphrases: int | None, check_questions: bool
) -> list[tuple[QuestionSet, Sequence[Answer]]]:
    """The questions of each (context, summary), and the summary's answers; a failure of the judge is one of each."""
    sizes = [(len(context.strip()), len(summary)) for context, summary in rows]
    warn_of_order(sizes, remedy="the article comes first, summarization_score(contexts, summary)")
    warn_of_paths([text for row in rows for text in row])
    stage = Stages(make=6, sit=4)
    with stage("make"):
        sets = _make_questions([context for context, _ in rows], session, n_keyphrases, check_questions)
    asked = [i for i, (context, summary) in enumerate(rows) if summary.strip() and not sets[context].reason]
    put = [(rows[i][1], list(sets[rows[i][0]].questions)) for i in asked]
    found: dict[int, Sequence[Answer]] = {}
    with stage("sit"):
        for i, reply in zip(asked, session.ask("answer", put), strict=True):
            questions = sets[rows[i][0]].questions
            failed = isinstance(reply, JudgeFailure)
            found[i] = [Answer(value=None, reason=str(reply)) for _ in questions] if failed else reply
    return [(sets[context], found.get(i, [])) for i, (context, _) in enumerate(rows)]


def _why_undefined(questions: QuestionSet, summary: str, answers: Sequence[Answer], max_failed: float) -> str:
    """Why there is no score; '' if there is one."""
    if questions.reason or not summary.strip():
        return questions.reason or "the summary is empty"
    failed = [answer for answer in answers if answer.value is None]
    if len(failed) == len(answers) or len(failed) / len(answers) > max_failed:
        return f"{len(failed)} of {len(answers)} questions could not be judged: {failed[0].reason}"
    return ""


_KEPT, _LOST, _UNASKED = ("#8fc1e8", "kept"), ("#f5b27a", "lost"), ("#d0d0d0", "not asked about")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SummarizationScore(Score):
    """A summary's score with the questions and answers behind it.

    Parameters
    ----------
    qa_score : float or None
        Answered 1 / questions, over the questions that could be judged.
    conciseness : float or None
        None when it was switched off, or when there is nothing to judge.
    guarded : float or None
        The value that ranks: brevity counts for what was kept, degenerate texts less.
    coeff : float
        The weight of the QA score.
    keyphrases : tuple of Keyphrase
        The context's important phrases, best first.
    questions, answers : tuple of Question, tuple of Answer
        What was asked, and what the summary answered, in the same order.
    dropped : tuple of Question
        Questions that the context itself does not answer with yes; they were not asked.
    degenerate : str
        What `name_degenerate` says; the score as defined is then not to be believed.
    context, summary : str
        The texts.
    rank : "guarded" or "score"
        The number by which texts are ranked.
    """

    bounded: ClassVar[bool] = True
    qa_score: float | None = None
    conciseness: float | None = None
    guarded: float | None = None
    coeff: float = 0.5
    keyphrases: tuple[Keyphrase, ...] = ()
    questions: tuple[Question, ...] = ()
    answers: tuple[Answer, ...] = ()
    dropped: tuple[Question, ...] = ()
    degenerate: str = ""
    context: str = ""
    summary: str = ""
    rank: str = "guarded"

    @property
    def n_failed(self) -> int:
        """How many questions the judge failed to answer; they are left out of the score."""
        return sum(answer.value is None for answer in self.answers)

    def _phrases(self, test: Callable[[list[int | None]], bool]) -> tuple[str, ...]:
        found: dict[str, list[int | None]] = {}
        for question, answer in zip(self.questions, self.answers, strict=True):
            for phrase in question.keyphrases:
                found.setdefault(phrase, []).append(answer.value)
        return tuple(phrase for phrase, values in found.items() if test(values))

    @property
    def kept(self) -> tuple[str, ...]:
        """Key phrases of which a question was answered 1."""
        return self._phrases(lambda values: 1 in values)

    @property
    def lost(self) -> tuple[str, ...]:
        """Key phrases that were asked about, and all of whose questions were answered 0."""
        return self._phrases(lambda values: set(values) == {0})

    def rows(self) -> list[JsonDict]:
        """Return one row for each question with its answer."""
        return [
            {
                "question": question.text,
                "statement": question.statement,
                "sentence": question.source,
                "keyphrases": list(question.keyphrases),
                "answer": answer.value,
                "probability": answer.probability,
                "said": answer.said,
                "evidence": [passage.shown for passage in answer.evidence],
                "reason": answer.reason,
            }
            for question, answer in zip(self.questions, self.answers, strict=True)
        ]

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return the guarded value and the score by name, the one that ranks first."""
        names = ("guarded", "score") if self.rank == "guarded" else ("score", "guarded")
        return {name: getattr(self, name) for name in names}

    def outcome(self) -> Outcome:
        """Return what a run writes down: the number that ranks, and everything behind it."""
        return super().outcome()._replace(score=getattr(self, self.rank))

    def row(self) -> JsonDict:
        """Return the result in one row: the texts, the numbers, the counts, what it was named."""
        names = ("summary", "score", "qa_score", "conciseness", "guarded")
        found = {"contexts": self.context} | {name: getattr(self, name) for name in names}
        found |= {f"n_{name}": len(getattr(self, name)) for name in ("keyphrases", "questions", "dropped")}
        return found | {"n_failed": self.n_failed, "degenerate": self.degenerate, "reason": self.reason}

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        return {name: value for name, value in self.row().items() if name != "contexts"} | {
            **{name: plain(getattr(self, name)) for name in ("keyphrases", "kept", "lost", "context", "coeff")},
            "questions": self.rows(),
            "dropped": [question.text for question in self.dropped],
            "signature": str(self.signature),
        }

    def __repr__(self) -> str:
        if self.score is None:
            return super().__repr__()
        numbers = {name: getattr(self, name) for name in ("score", "guarded", "qa_score", "conciseness")}
        told = [f"{name}={'None' if value is None else f'{value:.4f}'}" for name, value in numbers.items()]
        told += [f"reason={self.reason!r}"] * bool(self.reason)
        return f"{type(self).__name__}({', '.join([*told, f'signature={str(self.signature)!r}'])})"

    def _marks(self) -> list[Mark]:
        """A mark for each key phrase in the context, with a label so that colour is not the only sign."""
        kept, lost, marks = self.kept, self.lost, []
        for phrase in self.keyphrases:
            color, word = _KEPT if phrase.text in kept else _LOST if phrase.text in lost else _UNASKED
            if phrase.start is not None and phrase.end is not None:
                marks.append(Mark(phrase.start, phrase.end, color, "#1a1a1a", f"key phrase, {word}"))
        return marks

    def _exam_rows(self) -> list[JsonDict]:
        """Question, answer, how sure (or how much is said), evidence; dropped questions last."""
        rows = [
            {
                "question": row["question"],
                "answer": {None: "failed", 0: "no", 1: "yes"}[row["answer"]],
                "sure": row["probability"] if row["said"] is None else row["said"],
                "evidence in the summary": " … ".join(row["evidence"][:2])
                + (f" ({row['reason']})" if row["reason"] else ""),
                "sentence of the text": row["sentence"],
            }
            for row in self.rows()
        ]
        return rows + [{"question": question.text, "answer": "dropped"} for question in self.dropped]

    def _repr_html_(self) -> Markup:
        factors = {"QA score": self.qa_score, "conciseness": self.conciseness}
        words = [f"{name} {value:.4f}" for name, value in factors.items() if value is not None]
        words += [f"{len(self.questions)} questions", f"{len(self.dropped)} dropped", f"{self.n_failed} failed"]
        return render(
            "summary_score.html",
            result=self,
            number="undefined" if self.score is None else f"{self.score:.4f}",
            words=words,
            exam=self._exam_rows(),
            colors=(_KEPT, _LOST, _UNASKED),
            context=mark_html(self.context, self._marks()),
        )


def _result(
    row: tuple[str, str],
    questions: QuestionSet,
    answers: Sequence[Answer],
    signature: Signature,
    how: Mapping[str, Any],
) -> SummarizationScore:
    """The score of one row with everything behind it."""
    (context, summary), coeff = row, how["coeff"]
    reason = _why_undefined(questions, summary, answers, how["max_failed"])
    judged = [one for one in answers if one.value is not None]
    qa = None if reason else qa_score(judged)
    concise = guarded = score = None
    if qa is not None and how["conciseness"]:
        measure = measure_length(how["length"])[1]
        concise = conciseness_score(measure(summary), measure(context))
    named = name_degenerate(context, summary, qa)
    if qa is not None:
        kept = sum(max(one.value or 0, one.probability or 0) for one in judged)
        guarded = guarded_score(kept / len(judged), concise, coeff, named)
        score = guarded if how["guard"] else mixed_score(qa, concise, coeff)
        if named:
            rest = "the guarded value stands here" if how["guard"] else "see guarded"
            reason = f"not to be believed: {named}; {rest}"
    return SummarizationScore(
        score=score,
        reason=reason,
        signature=signature,
        qa_score=qa,
        conciseness=concise,
        guarded=guarded,
        coeff=coeff,
        keyphrases=questions.keyphrases,
        questions=questions.questions if answers else (),
        answers=tuple(answers),
        dropped=questions.dropped,
        degenerate=named,
        context=context,
        summary=summary,
        rank=how["rank"],
    )


def _check_options(**options: Any) -> None:
    """Raise where an option is wrong."""
    for name in ("coeff", "max_failed"):
        require_share(options[name], name)
    for name in ("conciseness", "guard", "check_questions"):
        require_flag(options[name], name)
    if options["n_keyphrases"] is not None:
        require_count(options["n_keyphrases"], "n_keyphrases")
    require_option(options["rank"], "rank", ["guarded", "score"])
    measure_length(options["length"])


def _signature(**options: Any) -> Signature:
    """Every option that could change a number."""
    named: dict[str, object] = {"metric": "summarization", "judge": load_judge(options["judge"]).fingerprint}
    named["length"] = measure_length(options["length"])[0]
    names = ("coeff", "conciseness", "guard", "max_failed", "n_keyphrases", "check_questions", "rank")
    return Signature(named | {name: "by length" if options[name] is None else options[name] for name in names})


@metric("summary_score", check=_check_options, signature=_signature)
def summarization_score(
    contexts: str | Sequence[str],
    summary: str,
    *,
    coeff: float = 0.5,
    conciseness: bool = True,
    judge: str | Judge = "embedded",
    guard: bool = False,
    length: str | Callable[[str], int] = "characters",
    n_keyphrases: int | None = None,
    check_questions: bool = True,
    max_failed: float = 0.5,
    rank: str = "guarded",
    store: StoreOrPath = None,
) -> SummarizationScore:
    """Score a summary by the questions it can answer about its text, and by its length.

    Parameters
    ----------
    contexts : str or sequence of str
        The text, or its parts, which are joined by line breaks.
    summary : str
        The summary.
    coeff : float
        In [0, 1]: the weight of the QA score; conciseness has the rest.
    conciseness : bool
        False: the score is the QA score.
    judge : str or Judge
        Who names key phrases, makes questions and answers them: `"embedded"`,
        `"nli:FOLDER"`, `"llm:FOLDER"`, or a judge.
    guard : bool
        Give the guarded value as the score, instead of the formula's.
    length : "characters", "words", "tokens" or callable
        What conciseness measures.
    n_keyphrases : int, optional
        At most how many key phrases are asked about; None: about one for 40 words, from
        nine to forty.
    check_questions : bool
        Drop questions that the context itself does not answer with yes.
    max_failed : float
        In [0, 1]: with a greater share of failed answers there is no score.
    rank : "guarded" or "score"
        The main number of a table, by which texts are ranked.
    store : Store or path, optional
        Where the judge's answers are kept.

    Returns
    -------
    SummarizationScore
        `score = qa_score * coeff + conciseness * (1 - coeff)`, in [0, 1]; None with a
        reason when there is nothing to judge. `guarded`, by which tables
        rank; `degenerate`, what speaks against believing the score; `keyphrases`,
        `questions`, `answers` with evidence; `kept`, `lost`, `dropped`.

    Raises
    ------
    TypeError
        If a text is not a string.
    ValueError
        If coeff or max_failed lies outside [0, 1], or an option is unknown.

    References
    ----------
    The documentation of ragas 0.1, "Summarization Score".

    Examples
    --------
    >>> bridge = "The bridge opened in 1931."
    >>> result = summarization_score(contexts=bridge, summary=bridge, conciseness=False)
    >>> result.score, result.degenerate
    (1.0, 'copy')
    """
    how = locals()
    texts, told = how.pop("contexts"), how.pop("summary")
    _check_options(**how)
    return _score_rows([(join_contexts(texts), require_text(told, "summary"))], **how)[0]


def _score_rows(
    rows: Sequence[tuple[str, str]], *, progress: bool | None = None, **how: Any
) -> ScoreTable[SummarizationScore]:
    """The scores of checked rows."""
    signature, session = _signature(**how), JudgeSession(how["judge"], how["store"], batch_size=64)
    with one_bar(len(rows), "summaries", "row", show=bool(progress)):
        answered = _answer_questions(rows, session, how["n_keyphrases"], how["check_questions"])
    results = [_result(row, *one, signature, how) for row, one in zip(rows, answered, strict=True)]
    return ScoreTable(results, signature=signature)


def _score_table(
    contexts: Any, summaries: Any, *, progress: bool | None = None, **how: Any
) -> ScoreTable[SummarizationScore]:
    """The scores of many summaries, all rows checked before one is asked about."""
    lists = {"contexts": require_column(contexts, "contexts"), "summary": require_column(summaries, "summaries")}
    _check_options(**how)
    rows = [
        (join_contexts(own["contexts"], f"row {n}: "), require_text(own["summary"], f"row {n}: summary"))
        for n, own in enumerate(table_rows(lists))
    ]
    return _score_rows(rows, progress=progress, **how)


summarization_scores = batch(summarization_score, _score_table, name="summarization_scores")
