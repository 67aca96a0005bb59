"""What every part stands on: results and their errors, drawing, sample data, reports, rows of files."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
