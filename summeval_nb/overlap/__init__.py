"""Counting what two texts share: n-grams, BLEU, ROUGE."""

from summeval_nb.core.base import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
