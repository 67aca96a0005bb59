"""For calls that must come back by themselves. Nothing here measures speed: `benchmarks/` does, beside a peer."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 60.0
"""Seconds that a very slow machine is given, far below what the same call would take without its limit."""


@contextmanager
def comes_back(within: float = PATIENCE) -> Iterator[None]:
    """Fails where the block ended, but only after `within` seconds."""
    start = time.monotonic()
    yield
    assert (took := time.monotonic() - start) < within, f"came back after {took:.0f} s; {within:.0f} were allowed"
