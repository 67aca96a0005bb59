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
from .split import Splitter as Splitter
from .split import split_claims as split_claims
from .split import split_many as split_many
from .split import split_sentences as split_sentences
from .split import split_text as split_text
from .split import split_units as split_units
from .split import splitter_name as splitter_name

__version__: str
