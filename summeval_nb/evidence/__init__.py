"""Does the article support the sentence? Checkers, faithfulness, what a verdict is worth."""

from summeval_nb.core.base import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
