# A plain private module. Edited directly: no notebook exports it; tested in tests/test_offline.py.
"""Libraries that load models ask no hub, unless the user said that something may be downloaded."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from summeval_nb.ground.results import require_flag

_ALONE = threading.RLock()  # the switch is one for the whole process


@contextmanager
def hub_only_if(download: bool) -> Iterator[dict[str, Any]]:
    """Yield the arguments for a library's `from_pretrained`; while the block runs, hubs are out of reach or not.

    `local_files_only` alone does not do: before it looks at local files, huggingface_hub 2 asks the hub for a list of
    the programs that may be calling, and sends the name of the one it recognises with every request.
    """
    from huggingface_hub import constants

    require_flag(download, "download")  # a "no" would be true
    with _ALONE:
        before = constants.HF_HUB_OFFLINE
        constants.HF_HUB_OFFLINE = before or not download
        try:
            yield {"local_files_only": not download}
        finally:
            constants.HF_HUB_OFFLINE = before
