"""From text to evidence: sentences, vectors, cosine similarity, the nearest sentences."""

from summeval_nb.core.base import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
