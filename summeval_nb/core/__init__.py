"""What every part stands on: results and their errors, drawing, sample data, reports, rows of files."""

from summeval_nb.core.base import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
