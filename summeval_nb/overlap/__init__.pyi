"""The public names of this part: one line a name, imported when first used."""

import collections.abc as _abc
import typing as _typing

import summeval_nb.core.results as _results

from .alignment import BertScore as BertScore
from .alignment import MeteorScore as MeteorScore
from .alignment import bertscore as bertscore
from .alignment import meteor_score as meteor_score
from .counting import lcs_length as lcs_length
from .identify import Configuration as Configuration
from .identify import IdentifiedScore as IdentifiedScore
from .identify import identify_among as identify_among
from .identify import identify_score as identify_score
from .identify import printed_scores as printed_scores
from .ngrams import clipped_counts as clipped_counts
from .ngrams import list_ngrams as list_ngrams
from .rouge import RougeScore as RougeScore
from .rouge import calculate_rouge as calculate_rouge
from .rouge import calculate_rouge_l as calculate_rouge_l
from .rouge import rouge_score as rouge_score
from .rouge_counts import PrecisionRecallF1 as PrecisionRecallF1
from .shares import ExtractiveScore as ExtractiveScore
from .shares import exact_match as exact_match
from .shares import extractiveness as extractiveness
from .shares import token_f1 as token_f1
from .tokens import load_tokenizer as load_tokenizer
from .tokens import porter_stem as porter_stem
from .tokens import rouge_tokenizer as rouge_tokenizer
from .translation import BleuScore as BleuScore
from .translation import ChrfScore as ChrfScore
from .translation import TerScore as TerScore
from .translation import bleu_score as bleu_score
from .translation import chrf_score as chrf_score
from .translation import ter_score as ter_score

if not _typing.TYPE_CHECKING:
    from .alignment import bertscore_many as bertscore_many
    from .alignment import meteor_many as meteor_many
    from .rouge import rouge_many as rouge_many
    from .shares import exact_match_many as exact_match_many
    from .shares import extractiveness_many as extractiveness_many
    from .shares import token_f1_many as token_f1_many
    from .translation import bleu_many as bleu_many
    from .translation import chrf_many as chrf_many
    from .translation import corpus_bleu as corpus_bleu
    from .translation import corpus_chrf as corpus_chrf
    from .translation import corpus_ter as corpus_ter
    from .translation import ter_many as ter_many

def bertscore_many(
    candidates: _typing.Any,
    references: _abc.Iterable[_typing.Any] | None = ...,
    *,
    model: str | _typing.Any = ...,
    layer: int | None = ...,
    idf: bool = ...,
    baseline: float | None = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[BertScore]: ...
def meteor_many(
    candidates: _typing.Any,
    references: _abc.Iterable[_typing.Any] | None = ...,
    *,
    synonyms: str | _abc.Mapping[str, _abc.Sequence[str]] | None = ...,
    tokenize: str | _abc.Callable[[str], _typing.Any] = ...,
    alpha: float = ...,
    beta: float = ...,
    gamma: float = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[MeteorScore]: ...
def rouge_many(
    candidates: _typing.Any,
    references: _abc.Iterable[_typing.Any] | None = ...,
    *,
    types: _abc.Sequence[str] = ...,
    stemmer: bool | str = ...,
    tokenizer: str | _typing.Any | None = ...,
    multi: str | None = ...,
    compat: str = ...,
    exceptions: _abc.Mapping[str, str] | None = ...,
    weight: float = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[RougeScore]: ...
def exact_match_many(
    candidates: _typing.Any, references: _abc.Iterable[_typing.Any] | None = ..., *, progress: bool | None = ...
) -> _results.ScoreTable[_typing.Any]: ...
def extractiveness_many(
    texts: _typing.Any,
    summaries: _abc.Iterable[_typing.Any] | None = ...,
    *,
    measures: _abc.Sequence[str] = ...,
    tokenize: str | _abc.Callable[[str], _typing.Any] = ...,
    lowercase: bool = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[ExtractiveScore]: ...
def token_f1_many(
    candidates: _typing.Any, references: _abc.Iterable[_typing.Any] | None = ..., *, progress: bool | None = ...
) -> _results.ScoreTable[_typing.Any]: ...
def bleu_many(
    candidates: _typing.Any,
    references: _abc.Iterable[_typing.Any] | None = ...,
    n: int = ...,
    *,
    tokenize: str | _abc.Callable[[str], _typing.Any] = ...,
    smooth: str = ...,
    smooth_value: float | None = ...,
    lowercase: bool = ...,
    effective_order: bool = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[_typing.Any]: ...
def chrf_many(
    candidates: _typing.Any,
    references: _abc.Iterable[_typing.Any] | None = ...,
    *,
    char_order: int = ...,
    word_order: int = ...,
    beta: float = ...,
    lowercase: bool = ...,
    whitespace: bool = ...,
    eps_smoothing: bool = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[_typing.Any]: ...
def corpus_bleu(
    candidates: _typing.Any,
    references: _abc.Iterable[_typing.Any] | None = ...,
    n: int = ...,
    *,
    tokenize: str | _abc.Callable[[str], _typing.Any] = ...,
    smooth: str = ...,
    smooth_value: float | None = ...,
    lowercase: bool = ...,
    effective_order: bool = ...,
    progress: bool | None = ...,
) -> _typing.Any: ...
def corpus_chrf(
    candidates: _typing.Any,
    references: _abc.Iterable[_typing.Any] | None = ...,
    *,
    char_order: int = ...,
    word_order: int = ...,
    beta: float = ...,
    lowercase: bool = ...,
    whitespace: bool = ...,
    eps_smoothing: bool = ...,
    progress: bool | None = ...,
) -> _typing.Any: ...
def corpus_ter(
    candidates: _typing.Any,
    references: _abc.Iterable[_typing.Any] | None = ...,
    *,
    normalized: bool = ...,
    no_punct: bool = ...,
    asian_support: bool = ...,
    case_sensitive: bool = ...,
    progress: bool | None = ...,
) -> _typing.Any: ...
def ter_many(
    candidates: _typing.Any,
    references: _abc.Iterable[_typing.Any] | None = ...,
    *,
    normalized: bool = ...,
    no_punct: bool = ...,
    asian_support: bool = ...,
    case_sensitive: bool = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[_typing.Any]: ...
