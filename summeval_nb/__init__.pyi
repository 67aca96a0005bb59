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

__version__: str
