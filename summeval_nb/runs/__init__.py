"""Long runs that can be stopped and go on: workers, jobs, costs, reports."""

from summeval_nb.core.base import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
