"""The public names of this part: one line a name, imported when first used."""

import collections.abc as _abc
import typing as _typing
import summeval_nb.core.results as _results

from .bleu import BleuComparison as BleuComparison
from .bleu import BleuMetric as BleuMetric
from .bleu import BleuScore as BleuScore
from .bleu import BleuTable as BleuTable
from .bleu import bleu_many as bleu_many
from .bleu import bleu_score as bleu_score
from .bleu import compare_bleu as compare_bleu
from .bleu import corpus_bleu as corpus_bleu
from .chrf import ChrfMetric as ChrfMetric
from .chrf import ChrfScore as ChrfScore
from .chrf import ChrfTable as ChrfTable
from .chrf import chrf_many as chrf_many
from .chrf import chrf_score as chrf_score
from .chrf import corpus_chrf as corpus_chrf
from .extractive import ExtractiveMetric as ExtractiveMetric
from .extractive import ExtractiveScore as ExtractiveScore
from .extractive import ExtractiveTable as ExtractiveTable
from .extractive import extractiveness as extractiveness
from .extractive import extractiveness_many as extractiveness_many
from .identify import Configuration as Configuration
from .identify import IdentifiedScore as IdentifiedScore
from .identify import identify_among as identify_among
from .identify import identify_score as identify_score
from .identify import printed_scores as printed_scores
from .matching import BertScore as BertScore
from .matching import BertScoreMetric as BertScoreMetric
from .matching import BertScoreTable as BertScoreTable
from .matching import MeteorMetric as MeteorMetric
from .matching import MeteorScore as MeteorScore
from .matching import MeteorTable as MeteorTable
from .matching import bertscore as bertscore
from .matching import bertscore_many as bertscore_many
from .matching import meteor_many as meteor_many
from .matching import meteor_score as meteor_score
from .ngrams import clipped_counts as clipped_counts
from .ngrams import list_ngrams as list_ngrams
from .rouge import RougeScore as RougeScore
from .rouge import calculate_rouge as calculate_rouge
from .rouge import calculate_rouge_l as calculate_rouge_l
from .rouge import rouge_score as rouge_score
from .rouge import rouge_w as rouge_w
from .rouge_bulk import lcs_length as lcs_length
from .rouge_counts import PrecisionRecallF1 as PrecisionRecallF1
from .ter import TerMetric as TerMetric
from .ter import TerScore as TerScore
from .ter import TerTable as TerTable
from .ter import corpus_ter as corpus_ter
from .ter import ter_many as ter_many
from .ter import ter_score as ter_score
from .tokens import load_tokenizer as load_tokenizer
from .tokens import porter_stem as porter_stem
from .tokens import rouge_tokenizer as rouge_tokenizer

if not _typing.TYPE_CHECKING:
    from .rouge import rouge_many as rouge_many

def rouge_many(candidates: _typing.Any, references: _typing.Any = ..., *, types: _abc.Sequence[str] = ..., stemmer: bool | str = ..., tokenizer: str | _abc.Callable[[str], _typing.Any] | None = ..., multi: str | None = ..., compat: str = ..., exceptions: _abc.Mapping[str, str] | str | None = ..., weight: float = ..., progress: bool | None = ...) -> _results.ScoreTable[RougeScore]: ...
