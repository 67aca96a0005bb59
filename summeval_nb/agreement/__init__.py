"""How well does a metric agree with people? Correlation, SummEval, significance."""

from summeval_nb.core.base import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
