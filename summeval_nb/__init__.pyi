"""The public face: one line a name, grouped by chapter, imported when first used."""

from .results import Evidence as Evidence
from .results import Finding as Finding
from .results import Score as Score
from .results import Sentence as Sentence
from .results import Signature as Signature
from .results import Verdict as Verdict
from .data import SampleArticle as SampleArticle
from .data import SampleSummary as SampleSummary
from .data import SummEval as SummEval
from .data import load_summeval as load_summeval
from .data import load_toy_summeval as load_toy_summeval
from .data import sample_articles as sample_articles
from .store import Store as Store
from .store import StoreError as StoreError
from .store import content_key as content_key
from .ngrams import clipped_counts as clipped_counts
from .ngrams import list_ngrams as list_ngrams
from .ngrams import load_tokenizer as load_tokenizer
from .ngrams import porter_stem as porter_stem
from .ngrams import rouge_tokenizer as rouge_tokenizer
from .bleu import BleuComparison as BleuComparison
from .bleu import BleuScore as BleuScore
from .bleu import BleuTable as BleuTable
from .bleu import bleu_many as bleu_many
from .bleu import bleu_score as bleu_score
from .bleu import compare_bleu as compare_bleu
from .bleu import corpus_bleu as corpus_bleu
from .rouge import RougeItem as RougeItem
from .rouge import RougeScores as RougeScores
from .rouge import RougeTable as RougeTable
from .rouge import calculate_rouge as calculate_rouge
from .rouge import calculate_rouge_l as calculate_rouge_l
from .rouge import lcs_length as lcs_length
from .rouge import rouge_many as rouge_many
from .rouge import rouge_score as rouge_score
from .rouge import rouge_w as rouge_w

__version__: str
