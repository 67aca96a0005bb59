"""The public names of this part: one line a name, imported when first used."""

from .base import InputWarning as InputWarning
from .data import SampleArticle as SampleArticle
from .data import SampleSummary as SampleSummary
from .data import SummEval as SummEval
from .data import load_summeval as load_summeval
from .data import load_toy_summeval as load_toy_summeval
from .data import sample_articles as sample_articles
from .files import Item as Item
from .files import ItemStream as ItemStream
from .files import open_items as open_items
from .metric import Metric as Metric
from .results import Evidence as Evidence
from .results import Finding as Finding
from .results import Outcome as Outcome
from .results import Score as Score
from .results import ScoreTable as ScoreTable
from .results import Sentence as Sentence
from .results import Signature as Signature
from .results import Verdict as Verdict
