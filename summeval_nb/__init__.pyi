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
from .agreement import Correlation as Correlation
from .agreement import correlate as correlate
from .significance import Comparisons as Comparisons
from .significance import PairedTest as PairedTest
from .significance import PairwiseAccuracy as PairwiseAccuracy
from .significance import adjust_p_values as adjust_p_values
from .significance import compare as compare
from .significance import compare_all as compare_all
from .significance import pairwise_accuracy as pairwise_accuracy

__version__: str
