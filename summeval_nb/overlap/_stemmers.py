"""Edited directly. Stems of other languages by nltk's Snowball, words looked up first; tests/test_stemmers.py."""

from __future__ import annotations

import hashlib
import unicodedata
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from summeval_nb.text.language import READS, REMEDIES, foreign_language, language_name, language_of

from ..ground._callers import callers_level
from ..ground.results import InputWarning, require_option

if TYPE_CHECKING:
    import regex
    from nltk.stem.snowball import SnowballStemmer

__all__ = ["SNOWBALL", "clean_words", "irregular_forms", "require_stemmer", "snowball_stem", "warn_of_foreign_stems"]
__all__ += ["warn_of_foreign_words", "wordnet_exceptions"]

SNOWBALL = tuple(name for name in READS["stemmer"] if name != "porter")
_SAMPLE = 2000  # characters by which a language is told


def require_stemmer(value: object) -> bool | str:
    """Return True (Porter's), False, or the name of a language that Snowball stems."""
    if isinstance(value, bool) or (isinstance(value, str) and value in SNOWBALL):
        return value
    known = ", ".join(SNOWBALL)
    shown = f"{type(value).__name__} ({value!r})"
    raise TypeError(f"stemmer must be True or False, or the name of a language ({known}), not {shown}")


@cache
def _separators() -> regex.Pattern[str]:
    import regex  # comes with nltk; Python's own `re` has no \p{...}

    return regex.compile(r"[^\p{L}\p{M}\p{N}]+")


def clean_words(text: str) -> str:
    """Compose and lower-case; all but letters, marks and digits of any script becomes a space."""
    return str(_separators().sub(" ", unicodedata.normalize("NFC", text.lower())))


def snowball_stem(language: str) -> Callable[[str], str]:
    """Return a function that stems words of more than three letters, as rouge-score does with its stemmer."""

    @lru_cache(maxsize=2**16)
    def stem(word: str) -> str:
        return word if len(word) <= 3 else str(_snowball(language).stem(word)) or word

    return stem


@cache
def _snowball(language: str) -> SnowballStemmer:
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer(language)


def wordnet_exceptions() -> dict[str, str]:
    """Return irregular form → first base form from the WordNet that nltk has.

    Raises
    ------
    LookupError
        If nltk has no WordNet; the message says how to get it.
    """
    import nltk

    exceptions: dict[str, str] = {}
    for part in ("adj", "adv", "noun", "verb"):
        for place in (f"corpora/wordnet/{part}.exc", f"corpora/wordnet.zip/wordnet/{part}.exc"):
            try:
                content = nltk.data.find(place).open().read().decode("utf-8")
            except LookupError:
                continue
            lines = (line.split() for line in content.splitlines())
            exceptions |= {fields[0]: fields[1] for fields in lines if len(fields) > 1}
            break
    if not exceptions:
        raise LookupError(
            "exceptions='wordnet' needs nltk's WordNet, which is not installed: run nltk.download('wordnet'), "
            "or pass the exceptions as a mapping from irregular form to base form"
        )
    return exceptions


def irregular_forms(given: Mapping[str, str] | str | None) -> tuple[Mapping[str, str], str]:
    """Return the mapping and how a signature names it: origin, size and a digest."""
    if given is None:
        return {}, ""
    if isinstance(given, str):
        require_option(given, "exceptions", ["wordnet"])
    elif not isinstance(given, Mapping):
        wanted = "a mapping from irregular form to base form"
        raise TypeError(f"exceptions must be {wanted}, not {type(given).__name__}")
    words = wordnet_exceptions() if isinstance(given, str) else given
    digest = hashlib.sha256(repr(sorted(words.items())).encode()).hexdigest()[:8]
    origin = "wordnet" if isinstance(given, str) else "exceptions"
    return words, f"+{origin}-{len(words)}-{digest}"


def warn_of_foreign_stems(stemmer: bool | str, texts: Sequence[str]) -> None:
    """Warn of texts that are clearly not in the language that a stemmer is made for; the numbers stay."""
    if not stemmer:
        return
    name = "porter" if stemmer is True else str(stemmer)
    reads = READS["stemmer"][name]
    if code := foreign_language(_start_of(texts), reads):
        own = language_name((reads or ("",))[0])
        message = f"the stemmer {name!r} reads {own}, and the texts are in {language_name(code)}"
        other = next((one for one, codes in READS["stemmer"].items() if codes == (code,)), "")
        remedy = f"pass stemmer={other!r}" if other else "pass stemmer=False, and a tokenizer of their language"
        warnings.warn(f"{message}: {remedy}", InputWarning, stacklevel=callers_level())


def warn_of_foreign_words(metric: str, texts: Sequence[str]) -> None:
    """Warn of texts that are clearly not in the language of a metric's own stems and synonyms; the numbers stay."""
    code = language_of(_start_of(texts))  # of all together: texts in many languages are in none
    if code is not None and code not in (READS["metric"][metric] or (code,)):
        message = f"{metric.upper()} knows stems and synonyms of English, and the texts are in {language_name(code)}"
        warnings.warn(f"{message}: {REMEDIES['metric']}", InputWarning, stacklevel=callers_level())


def _start_of(texts: Sequence[str]) -> str:
    sample, taken = [], 0
    for text in texts:
        sample.append(text[: _SAMPLE - taken])
        if (taken := taken + len(sample[-1])) >= _SAMPLE:
            break
    return "\n".join(sample)
