"""Long runs that can be stopped and go on: workers, jobs, costs, reports."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
