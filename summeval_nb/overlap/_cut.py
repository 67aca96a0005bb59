"""Edited directly. How the other tokenizers cut: intl, char, zh, ROUGE's two; tested in tests/test_ngrams.py."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..ground.base import require_text

if TYPE_CHECKING:
    import regex

__all__ = [
    "ENTITIES",
    "RULES_13A",
    "clean_google",
    "clean_rouge155",
    "require_tokens",
    "tokenize_char",
    "tokenize_intl",
]
__all__ += ["tokenize_zh", "tokenizer_name", "whole"]

Tokens = Sequence[Hashable]
ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
RULES_13A = [
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
]


@lru_cache(maxsize=1)
def _rules_intl() -> list[tuple[regex.Pattern[str], str]]:
    import regex  # comes with nltk; Python's own `re` has no \p{...}

    rules = [
        (r"(\P{N})(\p{P})", r"\1 \2 "),
        (r"(\p{P})(\P{N})", r" \1 \2"),
        (r"(\p{S})", r" \1 "),
    ]
    return [(regex.compile(pattern), replacement) for pattern, replacement in rules]


def tokenize_intl(text: str) -> list[str]:
    text = require_text(text, "text").rstrip()
    for pattern, replacement in _rules_intl():
        text = pattern.sub(replacement, text)
    return text.split()


def tokenize_char(text: str) -> list[str]:
    return [character for character in require_text(text, "text") if not character.isspace()]


# sacrebleu's Chinese characters. Written with a digit too many, two of its ranges are
# others than were meant (2001 to 2A6D, 2F81 to 2FA1); numbers are to be equal.
_CHINESE = re.compile(
    "[\u3400-\u4db5\u4e00-\u9fbb\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\u2001-\u2a6d"
    "\u2f81-\u2fa1\uff00-\uffef\u2e80-\u2eff\u3000-\u303f\u31c0-\u31ef\u2f00-\u2fdf"
    "\u2ff0-\u2fff\u3100-\u312f\u31a0-\u31bf\ufe10-\ufe1f\ufe30-\ufe4f\u3200-\u33ff]"
)


def tokenize_zh(text: str) -> list[str]:
    text = _CHINESE.sub(r" \g<0> ", require_text(text, "text").strip())
    for pattern, replacement in RULES_13A:
        text = pattern.sub(replacement, text)
    return text.split()


_KEEP = bytes(code if chr(code) in "abcdefghijklmnopqrstuvwxyz0123456789" else 32 for code in range(256))
_KEEP_LOWERED = bytes(_KEEP[ord(chr(code).lower())] if code < 128 else 32 for code in range(256))


def clean_google(text: str) -> str:
    """Lower-case with Unicode rules; all but a-z and 0-9 becomes a space (a non-ASCII character passes as `?`)."""
    return text.lower().encode("ascii", "replace").translate(_KEEP).decode("ascii")


def clean_rouge155(text: str) -> str:
    """Lower-case A to Z only, as Perl's `tr/A-Z/a-z/` does; all but a-z and 0-9 becomes a space."""
    return text.encode("ascii", "replace").translate(_KEEP_LOWERED).decode("ascii")


def whole(word: str) -> list[str]:
    return [word]


def require_tokens(tokens: object, source: object) -> Tokens:
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise TypeError(f"{tokenizer_name(source)} must return a list of tokens, not {type(tokens).__name__}")
    listed = list(tokens)
    try:
        hash(tuple(listed))
    except TypeError as error:
        raise TypeError(f"{tokenizer_name(source)} must return hashable tokens: {error}") from None
    return listed


_SIGNED = {"spm": "flores101"}  # an older name of the same model; sacrebleu signs both alike


def tokenizer_name(choice: object) -> str:
    """Return how a signature names a tokenizer: its name, the model it belongs to, or module and function."""
    if isinstance(choice, str):
        return _SIGNED.get(choice, choice)
    owner = getattr(choice, "__self__", None)
    for place, attribute in ((choice, "name"), (owner, "name_or_path")):
        if isinstance(getattr(place, attribute, None), str) and getattr(place, attribute):
            return str(getattr(place, attribute))
    function = getattr(choice, "__qualname__", type(choice).__qualname__)
    return f"{getattr(choice, '__module__', None) or 'builtins'}.{function}"
