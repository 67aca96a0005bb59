"""The public names of this part: one line a name, imported when first used."""

from .clauses import split_claims as split_claims
from .embed import BatchEmbedder as BatchEmbedder
from .embed import Embedder as Embedder
from .embed import MiniLMEmbedder as MiniLMEmbedder
from .embed import MPNetEmbedder as MPNetEmbedder
from .embed import ObjectEmbedder as ObjectEmbedder
from .embed import SentenceTransformerEmbedder as SentenceTransformerEmbedder
from .embed import load_embedder as load_embedder
from .embed import sentence2embedding as sentence2embedding
from .language import languages_of as languages_of
from .similarity import cosine_similarity as cosine_similarity
from .similarity import dot_similarity as dot_similarity
from .similarity import require_matrix as require_matrix
from .similarity import topk_related as topk_related
from .split import Reading as Reading
from .split import Splitter as Splitter
from .split import split_many as split_many
from .split import split_markdown as split_markdown
from .split import split_sentences as split_sentences
from .split import split_text as split_text
from .split import split_units as split_units
from .split import splitter_name as splitter_name
from .wrapping import Mark as Mark
from .wrapping import citation_marks as citation_marks
from .wrapping import wrappers as wrappers
