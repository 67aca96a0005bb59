"""Language models, on this machine or behind a server, and the store of their answers."""

from summeval_nb.core.base import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
