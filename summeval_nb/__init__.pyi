"""The public face: one line a name, grouped by chapter, imported when first used."""

from .embed import Embedder as Embedder
from .embed import LotEmbedder as LotEmbedder
from .embed import MiniLMEmbedder as MiniLMEmbedder
from .embed import ObjectEmbedder as ObjectEmbedder
from .embed import SentenceTransformerEmbedder as SentenceTransformerEmbedder
from .embed import load_embedder as load_embedder
from .embed import sentence2embedding as sentence2embedding
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
from .check import Calibration as Calibration
from .check import Checker as Checker
from .check import EmbeddedChecker as EmbeddedChecker
from .check import PairVectors as PairVectors
from .check import calibration as calibration
from .check import checker as checker
from .check import load_checker as load_checker
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

__version__: str
