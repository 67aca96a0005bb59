"""The public face: one line a name, grouped by chapter, imported when first used."""

from .results import Evidence as Evidence
from .results import Finding as Finding
from .results import Score as Score
from .results import Sentence as Sentence
from .results import Signature as Signature
from .results import Verdict as Verdict
from .store import Store as Store
from .store import StoreError as StoreError
from .store import content_key as content_key

__version__: str
