"""Understand, run and trust automatic evaluation of summaries and generated answers."""

__version__ = "0.1.0"

import lazy_loader as _lazy

_named, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    """Return a public name; one that is not here is answered with where it is, or with the nearest that is."""
    try:
        return _named(name)
    except AttributeError:
        from summeval_nb.core.base import missing

        raise missing(__name__, name) from None
