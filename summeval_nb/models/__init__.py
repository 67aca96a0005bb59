"""Language models, on this machine or behind a server, and the store of their answers."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
