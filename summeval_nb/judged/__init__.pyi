"""The public names of this part: one line a name, imported when first used."""

import collections.abc as _abc
import typing as _typing

import summeval_nb.core.results as _results

from .answers import AnswerReport as AnswerReport
from .answers import evaluate_answer as evaluate_answer
from .citations import Citation as Citation
from .citations import CitationsScore as CitationsScore
from .citations import CitedSentence as CitedSentence
from .citations import check_citations as check_citations
from .coverage import qa_score as qa_score
from .embedded import BulkJudge as BulkJudge
from .embedded import EmbeddedJudge as EmbeddedJudge
from .grading import AnswerComparison as AnswerComparison
from .grading import Rating as Rating
from .grading import bradley_terry as bradley_terry
from .grading import compare_answers as compare_answers
from .grading import rank_systems as rank_systems
from .grading import rate as rate
from .grading import rubric_score as rubric_score
from .judging import Answer as Answer
from .judging import Entailment as Entailment
from .judging import Flag as Flag
from .judging import Judge as Judge
from .judging import JudgeFailure as JudgeFailure
from .judging import Keyphrase as Keyphrase
from .judging import Passage as Passage
from .judging import Question as Question
from .judging import Resolution as Resolution
from .judging import Statement as Statement
from .llm import LLMJudge as LLMJudge
from .rag import RagScore as RagScore
from .rag import RetrievalScore as RetrievalScore
from .rag import answer_correctness as answer_correctness
from .rag import answer_faithfulness as answer_faithfulness
from .rag import answer_relevancy as answer_relevancy
from .rag import context_precision as context_precision
from .rag import context_recall as context_recall
from .rag import context_relevance as context_relevance
from .rag import evaluate_rag as evaluate_rag
from .rag import hit_rate as hit_rate
from .rag import mrr as mrr
from .rag import ndcg as ndcg
from .rag import noise_sensitivity as noise_sensitivity
from .rag import rag_score as rag_score
from .rag import recall_at_k as recall_at_k
from .retrieval import average_precision as average_precision
from .session import ask_many as ask_many
from .session import load_judge as load_judge
from .summary_score import SummarizationScore as SummarizationScore
from .summary_score import summarization_score as summarization_score

if not _typing.TYPE_CHECKING:
    from .answers import evaluate_answers as evaluate_answers
    from .citations import check_citations_many as check_citations_many
    from .grading import compare_answers_many as compare_answers_many
    from .grading import rate_many as rate_many
    from .grading import rubric_many as rubric_many
    from .rag import hit_rate_many as hit_rate_many
    from .rag import mrr_many as mrr_many
    from .rag import ndcg_many as ndcg_many
    from .rag import rag_many as rag_many
    from .rag import recall_at_k_many as recall_at_k_many
    from .summary_score import summarization_scores as summarization_scores

def evaluate_answers(
    contexts: _typing.Any,
    questions: _abc.Iterable[_typing.Any] | None = ...,
    ground_truths: _abc.Iterable[_typing.Any] | None = ...,
    answers: _abc.Iterable[_typing.Any] | None = ...,
    *,
    judge: str | Judge = ...,
    score_refusals: bool = ...,
    keep_lists: bool = ...,
    max_failed: float = ...,
    store: _typing.Any = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[AnswerReport]: ...
def check_citations_many(
    answers: _typing.Any,
    contexts: _abc.Iterable[_typing.Any] | None = ...,
    *,
    k: int | None = ...,
    splitter: _typing.Any = ...,
    embedder: _typing.Any = ...,
    judge: str | _typing.Any = ...,
    threshold: float | None = ...,
    store: _typing.Any = ...,
    lang: str | None = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[CitationsScore]: ...
def compare_answers_many(
    questions: _typing.Any,
    a: _abc.Iterable[_typing.Any] | None = ...,
    b: _abc.Iterable[_typing.Any] | None = ...,
    ground_truths: _abc.Iterable[_typing.Any] | None = ...,
    *,
    judge: str | Judge | _typing.Any = ...,
    rubric: str = ...,
    margin: float = ...,
    max_failed: float = ...,
    workers: int = ...,
    store: _typing.Any = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[AnswerComparison]: ...
def rate_many(
    texts: _typing.Any,
    summaries: _abc.Iterable[_typing.Any] | None = ...,
    *,
    quality: str | None = ...,
    rubric: str | None = ...,
    judge: _typing.Any | str,
    scale: tuple[int, int] = ...,
    samples: int = ...,
    workers: int = ...,
    store: _typing.Any = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[Rating]: ...
def rubric_many(
    questions: _typing.Any,
    answers: _abc.Iterable[_typing.Any] | None = ...,
    *,
    rubric: str,
    judge: _typing.Any | str,
    steps: _abc.Sequence[str] = ...,
    scale: tuple[int, int] = ...,
    title: str = ...,
    samples: int = ...,
    workers: int = ...,
    store: _typing.Any = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[Rating]: ...
def hit_rate_many(
    retrieved_context_ids: _typing.Any,
    reference_context_ids: _abc.Iterable[_typing.Any] | None = ...,
    *,
    k: int | None = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[_typing.Any]: ...
def mrr_many(
    retrieved_context_ids: _typing.Any,
    reference_context_ids: _abc.Iterable[_typing.Any] | None = ...,
    *,
    k: int | None = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[_typing.Any]: ...
def ndcg_many(
    retrieved_context_ids: _typing.Any,
    reference_context_ids: _abc.Iterable[_typing.Any] | None = ...,
    *,
    k: int | None = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[_typing.Any]: ...
def rag_many(
    questions: _typing.Any,
    contexts: _abc.Iterable[_typing.Any] | None = ...,
    answers: _abc.Iterable[_typing.Any] | None = ...,
    ground_truths: _abc.Iterable[_typing.Any] | None = ...,
    *,
    metrics: _abc.Sequence[str] | None = ...,
    judge: str | Judge = ...,
    embedder: _typing.Any = ...,
    max_failed: float = ...,
    store: _typing.Any = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[RagScore]: ...
def recall_at_k_many(
    retrieved_context_ids: _typing.Any,
    reference_context_ids: _abc.Iterable[_typing.Any] | None = ...,
    *,
    k: int | None = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[_typing.Any]: ...
def summarization_scores(
    contexts: _typing.Any,
    summaries: _abc.Iterable[_typing.Any] | None = ...,
    *,
    coeff: float = ...,
    conciseness: bool = ...,
    judge: str | Judge = ...,
    guard: bool = ...,
    length: str | _abc.Callable[[str], int] = ...,
    n_keyphrases: int | None = ...,
    check_questions: bool = ...,
    max_failed: float = ...,
    rank: str = ...,
    store: _typing.Any = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[SummarizationScore]: ...
