# A plain private module: edited here, exported by no notebook, tested in tests/test_ray.py.
"""A Ray of our own that listens on this machine's loopback address and nowhere else.

Ray takes `_node_ip_address="127.0.0.1"` and `ray start --node-ip-address=127.0.0.1` for a mistake and puts the address
of the network card in their place; its servers then listen on all interfaces. Where it believes that there are no
clusters, as on Windows and macOS, it uses 127.0.0.1 throughout. A variable of its environment makes it believe so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


@contextmanager
def on_loopback(ray: Any) -> Iterator[None]:
    """What Ray starts in here listens on 127.0.0.1 alone, unless the user's environment asks for a cluster."""
    if os.environ.get(VARIABLE):
        yield
        return
    constants = getattr(getattr(ray, "_private", None), "ray_constants", SimpleNamespace())
    before = getattr(constants, "ENABLE_RAY_CLUSTER", True)  # Ray has read the variable when it was imported
    os.environ[VARIABLE], constants.ENABLE_RAY_CLUSTER = "0", False  # for its processes, and for this one
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before
        del os.environ[VARIABLE]


def open_address(ray: Any) -> str | None:
    """Return the address at which other machines reach the Ray in use, None if it is the loopback address."""
    address = str(ray.util.get_node_ip_address())
    return None if address.startswith("127.") or address == "::1" else address
