"""Understand, run and trust automatic evaluation of summaries and generated answers."""

__version__ = "0.1.0"

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
