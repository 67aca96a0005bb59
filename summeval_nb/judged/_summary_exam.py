# A plain private module: edited directly, exported by no notebook, tested in tests/test_summary_exam.py.
"""The steps of the exam that a summary sits, and its result with its layout. Chapter 44 shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summeval_nb.evidence._inputs import warn_of_paths
from summeval_nb.ground._files import write_whole
from summeval_nb.ground._order import warn_of_order
from summeval_nb.ground._types import JsonDict
from summeval_nb.ground.results import Outcome, ResultTable, Score, Signature, require_texts
from summeval_nb.ground.viz import Mark, Markup, html_page, html_table, mark_html, render
from summeval_nb.judged.judging import Answer, Ask, Asking, Items, Judge, JudgeFailure, Keyphrase, Question, ask_many
from summeval_nb.judged.load import load_judge
from summeval_nb.judged.questions import how_many_questions
from summeval_nb.models._named import StoreOrPath, load_store
from summeval_nb.models.llm import Calls

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Exam", "SummarizationScore", "SummarizationTable", "as_exam", "asking", "join_contexts", "make_exams"]
__all__ += ["most_calls", "question_rows", "sit_exams", "why_undefined"]

_KEPT, _LOST, _UNASKED = ("#8fc1e8", "kept"), ("#f5b27a", "lost"), ("#d0d0d0", "not asked about")


def asking(judge: str | Judge, store: StoreOrPath, progress: bool) -> Ask:
    """The function that puts questions to a judge."""
    chosen, kept = load_judge(judge), load_store(store)

    def ask(purpose: str, items: Items) -> list[Any]:
        shown = purpose if progress else ""
        return ask_many(chosen, purpose, items, store=kept, progress=shown, batch_size=64)

    return ask


def join_contexts(contexts: object, where: str = "") -> str:
    """Return contexts joined by line breaks: a text, a list of texts, or a list that holds one such list.

    Examples
    --------
    >>> join_contexts([["It rained.", "It snowed."]])
    'It rained.\\nIt snowed.'
    """
    if isinstance(contexts, str):
        return contexts
    if isinstance(contexts, (list, tuple)) and len(contexts) == 1 and isinstance(contexts[0], (list, tuple)):
        contexts = contexts[0]
    return "\n".join(require_texts(contexts, f"{where}contexts"))


class Exam(NamedTuple):
    """The questions of one context, or why there are none."""

    keyphrases: tuple[Keyphrase, ...] = ()
    questions: tuple[Question, ...] = ()
    dropped: tuple[Question, ...] = ()
    reason: str = ""


def make_exams(contexts: Sequence[str], ask: Ask, n_keyphrases: int | None, check_questions: bool) -> dict[str, Exam]:
    """An exam for each distinct context; a failure of the judge ends it with a reason."""
    texts = [text for text in dict.fromkeys(contexts) if text.strip()]
    exams = {text: Exam(reason="the context is empty") for text in contexts if not text.strip()}
    counts = [how_many_questions(text) if n_keyphrases is None else n_keyphrases for text in texts]
    phrases = dict(zip(texts, ask("keyphrases", list(zip(texts, counts, strict=True))), strict=True))
    asked = {text: own for text, own in phrases.items() if not isinstance(own, JudgeFailure) and own}
    replies = ask("questions", [(text, [one.text for one in own]) for text, own in asked.items()])
    made = dict(zip(asked, replies, strict=True))
    examined = [t for t, own in made.items() if check_questions and not isinstance(own, JudgeFailure) and own]
    own = dict(zip(examined, ask("answer", [(text, made[text]) for text in examined]), strict=True))
    for text in texts:
        exams[text] = as_exam(phrases[text], made.get(text, []), own.get(text))
    return exams


def as_exam(
    phrases: Sequence[Keyphrase] | JudgeFailure,
    questions: Sequence[Question] | JudgeFailure,
    own: Sequence[Answer] | JudgeFailure | None,
) -> Exam:
    """An exam from the judge's replies: key phrases, questions, the context's own answers (None: not asked)."""
    if isinstance(phrases, JudgeFailure):
        return Exam(reason=f"the judge failed: {phrases}")
    if isinstance(questions, JudgeFailure):
        return Exam(reason=f"the judge failed: {questions}")
    if isinstance(own, JudgeFailure):
        return Exam(reason=f"the judge failed: {own}")
    unique = {question.text: question for question in questions}
    values: Sequence[int | None] = [1] * len(questions) if own is None else [answer.value for answer in own]
    good = {question.text for question, value in zip(questions, values, strict=True) if value == 1}
    kept = tuple(question for text, question in unique.items() if text in good)
    dropped = tuple(question for text, question in unique.items() if text not in good)
    reason = "" if kept else "no question could be made that the context answers with yes"
    return Exam(tuple(phrases), kept, dropped, reason)


def sit_exams(
    rows: Sequence[tuple[str, str]], ask: Ask, n_keyphrases: int | None, check_questions: bool
) -> list[tuple[Exam, Sequence[Answer]]]:
    """The exam of each (context, summary), and the summary's answers; a judge's failure is one of each question."""
    sizes = [(len(context.strip()), len(summary)) for context, summary in rows]
    warn_of_order(sizes, remedy="the article comes first, summarization_score(contexts, summary)")
    warn_of_paths([text for row in rows for text in row])
    exams = make_exams([context for context, _ in rows], ask, n_keyphrases, check_questions)
    sat = [i for i, (context, summary) in enumerate(rows) if summary.strip() and not exams[context].reason]
    replies = ask("answer", [(rows[i][1], list(exams[rows[i][0]].questions)) for i in sat])
    found: dict[int, Sequence[Answer]] = {}
    for i, reply in zip(sat, replies, strict=True):
        asked = exams[rows[i][0]].questions
        lost = [Answer(value=None, reason=str(reply)) for _ in asked]
        found[i] = lost if isinstance(reply, JudgeFailure) else reply
    return [(exams[context], found.get(i, [])) for i, (context, _) in enumerate(rows)]


def most_calls(
    judge: str | Judge, rows: Sequence[tuple[str, str]], n_keyphrases: int | None, check_questions: bool
) -> dict[str, Calls]:
    """At most what `sit_exams` asks a judge: each context has all its key phrases, and all its questions are good."""
    ask = Asking(load_judge(judge))
    texts = [text for text in dict.fromkeys(context for context, _ in rows) if text.strip()]
    counts = [how_many_questions(text) if n_keyphrases is None else n_keyphrases for text in texts]
    phrases = ask("keyphrases", list(zip(texts, counts, strict=True)))
    questions = dict(zip(texts, ask("questions", list(zip(texts, phrases, strict=True))), strict=True))
    ask("answer", list(questions.items()) if check_questions else [])
    ask("answer", [(summary, questions[text]) for text, summary in rows if summary.strip() and text in questions])
    return ask.calls


def why_undefined(exam: Exam, summary: str, answers: Sequence[Answer], max_failed: float) -> str:
    """Why there is no score; '' if there is one."""
    if exam.reason or not summary.strip():
        return exam.reason or "the summary is empty"
    failed = [answer for answer in answers if answer.value is None]
    if len(failed) == len(answers) or len(failed) / len(answers) > max_failed:
        return f"{len(failed)} of {len(answers)} questions could not be judged: {failed[0].reason}"
    return ""


def question_rows(questions: Sequence[Question], answers: Sequence[Answer]) -> list[JsonDict]:
    """One row for each question with its answer."""
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
        for question, answer in zip(questions, answers, strict=True)
    ]


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
    """

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

    def __repr__(self) -> str:
        if self.score is None:
            return super().__repr__()
        names = ("score", "guarded", "qa_score", "conciseness")
        told = [f"{n}={'None' if (v := getattr(self, n)) is None else f'{v:.4f}'}" for n in names]
        told += [f"reason={self.reason!r}"] if self.reason else []
        return f"{type(self).__name__}({', '.join(told)}, signature={str(self.signature)!r})"

    @property
    def kept(self) -> tuple[str, ...]:
        """Key phrases of which a question was answered 1."""
        return self._phrases(lambda values: 1 in values)

    @property
    def lost(self) -> tuple[str, ...]:
        """Key phrases that were asked about, and all of whose questions were answered 0."""
        return self._phrases(lambda values: set(values) == {0})

    def rows(self) -> list[JsonDict]:
        """Return one row for each question."""
        return question_rows(self.questions, self.answers)

    def row(self) -> JsonDict:
        """Return the result in one row: the numbers, the counts, what it was named."""
        return {
            "score": self.score,
            "qa_score": self.qa_score,
            "conciseness": self.conciseness,
            "guarded": self.guarded,
            "n_keyphrases": len(self.keyphrases),
            "n_questions": len(self.questions),
            "n_dropped": len(self.dropped),
            "n_failed": self.n_failed,
            "degenerate": self.degenerate,
            "reason": self.reason,
        }

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        parts = {"keyphrases": [asdict(one) for one in self.keyphrases], "questions": self.rows()}
        names = {"dropped": [one.text for one in self.dropped], "kept": list(self.kept), "lost": list(self.lost)}
        texts = {"context": self.context, "summary": self.summary, "coeff": self.coeff}
        return self.row() | parts | names | texts | {"signature": str(self.signature)}

    def _marks(self) -> list[Mark]:
        """A mark for each key phrase that stands in the context, told by words and not by colour alone."""
        marks = []
        for phrase in self.keyphrases:
            color, word = _KEPT if phrase.text in self.kept else _LOST if phrase.text in self.lost else _UNASKED
            if phrase.start is not None and phrase.end is not None:
                marks.append(Mark(phrase.start, phrase.end, color, "#1a1a1a", f"key phrase, {word}"))
        return marks

    def _exam_rows(self) -> list[JsonDict]:
        """The exam as rows: question, answer, how sure (or how much is said), evidence; dropped questions last."""
        rows = [
            {
                "question": row["question"],
                "answer": "failed" if row["answer"] is None else ("no", "yes")[row["answer"]],
                "sure": row["probability"] if row["said"] is None else row["said"],
                "evidence in the summary": " … ".join(row["evidence"][:2])
                + (f" ({row['reason']})" if row["reason"] else ""),
                "sentence of the text": row["sentence"],
            }
            for row in self.rows()
        ]
        return rows + [{"question": one.text, "answer": "dropped"} for one in self.dropped]

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

    def to_html(self, path: str | Path) -> Path:
        """Write the result as one file that needs nothing else, and return its path."""
        target = Path(path)
        write_whole(target, html_page("Summarization score", self._repr_html_()))
        return target


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SummarizationTable(ResultTable[SummarizationScore]):
    """The results of many summaries in order; `rank` names the main number."""

    results: Sequence[SummarizationScore]
    signature: Signature
    rank: str = "guarded"

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the guarded values and the scores by name, the one that ranks first, NaN where there is none."""
        names = ("guarded", "score") if self.rank == "guarded" else ("score", "guarded")
        numbers = {name: [getattr(one, name) for one in self.results] for name in names}
        return {name: np.array([np.nan if v is None else v for v in one], float) for name, one in numbers.items()}

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down for each summary: the number that ranks, and everything behind it."""
        found = super().outcomes()
        return [one._replace(score=getattr(result, self.rank)) for one, result in zip(found, self.results, strict=True)]

    def rows(self) -> list[JsonDict]:
        """Return one row for each summary: the texts, then the numbers."""
        return [{"contexts": one.context, "summary": one.summary, **one.row()} for one in self.results]

    def questions(self) -> pd.DataFrame:
        """Return one row for each question of each summary."""
        import pandas as pd

        return pd.DataFrame([{"row": i, **row} for i, one in enumerate(self.results) for row in one.rows()])

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        numbers: Mapping[str, object] = {"mean": self.mean(), "n_undefined": self.n_undefined, "rank": self.rank}
        return {**numbers, "rows": [one.to_dict() for one in self.results], "signature": str(self.signature)}

    def __repr__(self) -> str:
        mean = "None" if self.mean() is None else f"{self.mean():.4f}"
        told = f"mean {mean} ({self.rank})"
        return f"SummarizationTable({len(self)} summaries, {told}, {self.n_undefined} undefined)"

    def _repr_html_(self) -> str:
        shown = [{"row": i, "summary": one.summary[:120], **one.row()} for i, one in enumerate(list(self.results)[:50])]
        first = ", first 50" if len(self) > 50 else ""
        return html_table(shown, caption=f"{self!r}{first}", note=str(self.signature))
