"""What a splitter needs: the libraries nltk, sentencex and stanza on this machine, and a language they know."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from summeval_nb.core.base import (
    InputWarning,
    callers_level,
    one_bar,
    require_module,
    require_option,
    require_text,
    steps,
)
from summeval_nb.core.metric import is_function
from summeval_nb.text.language import NLTK_LANGUAGES, foreign_language, language_name

if TYPE_CHECKING:
    from nltk.tokenize.punkt import PunktSentenceTokenizer

SPLITTERS = ("punkt", "punkt_tab", "stanza", "sentencex")
_SURROGATE = re.compile("[\ud800-\udfff]")
_FOREIGN_MARK = re.compile("[。！？｡؟۔।։።]")
_BATCH = 64
_SAMPLE = 4000  # characters by which a language is told


def require_splitter(splitter: object, lang: str | None) -> str:
    """Return a known splitter's name, or nothing for a callable; otherwise raise."""
    if lang is not None:
        require_text(lang, "lang")
    if is_function(splitter):
        return ""
    return require_option(require_text(splitter, "splitter"), "splitter", SPLITTERS)


@cache
def learnt_tables(lang: str) -> PunktSentenceTokenizer:
    """Load nltk's own tables, or raise an error with the command that fetches them."""
    from nltk.tokenize.punkt import PunktTokenizer

    try:
        return PunktTokenizer(NLTK_LANGUAGES[lang])
    except LookupError as error:
        raise FileNotFoundError(
            "the splitter 'punkt_tab' needs nltk's tables: run `python -m nltk.downloader punkt_tab` once, "
            "or use the default splitter 'punkt', which needs no download"
        ) from error


def sentencex_places(bodies: Sequence[str], lang: str) -> list[list[int]]:
    """Return where sentences begin, as sentencex sees it."""
    module = require_module("sentencex", "splitters")
    if not lang.isascii():
        raise ValueError(f"lang must be the code of a language, such as 'en' or 'zh', not {lang!r:.60}")
    return [[piece["start_index"] for piece in module.get_sentence_boundaries(lang, body)] for body in bodies]


@lru_cache(maxsize=8)
def stanza_pipeline(lang: str, folder: str) -> Any:
    """Build stanza's tokenizer from files on this machine, or raise an error with the command that fetches them."""
    stanza = require_module("stanza", "stanza")
    fetch = f"python -c \"import stanza; stanza.download({lang!r}, processors='tokenize')\""
    try:
        return stanza.Pipeline(lang, dir=folder, processors="tokenize", download_method=None, verbose=False)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"the splitter 'stanza' has no model for {lang!r} in {folder}: run `{fetch}`"
        ) from error
    except ValueError as error:
        raise ValueError(f"stanza cannot split the language {lang!r} ({error}); if it should, run `{fetch}`") from error


def stanza_places(bodies: Sequence[str], lang: str, progress: bool | None) -> list[list[int]]:
    """Return where sentences begin, as stanza sees it, 64 blocks at a time."""
    stanza = require_module("stanza", "stanza")
    common = require_module("stanza.resources.common", "stanza")
    pipeline = stanza_pipeline(lang, os.environ.get("STANZA_RESOURCES_DIR") or common.DEFAULT_MODEL_DIR)
    places = []
    batches = [bodies[first : first + _BATCH] for first in range(0, len(bodies), _BATCH)]
    show = len(batches) > 3 if progress is None else progress
    with one_bar(len(bodies), "splitting with stanza", "block", show=show):
        for batch in steps(batches, [len(batch) for batch in batches]):
            documents = pipeline.bulk_process([stanza.Document([], text=body) for body in batch])
            places += [[sentence.tokens[0].start_char for sentence in document.sentences] for document in documents]
    return places


def without_surrogates(text: str) -> str:
    """Return a text of the same length that every library takes: lone surrogates become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def punkt_tables(splitter: str, lang: str, bodies: Sequence[str]) -> str:
    """Return the name of the tables that Punkt needs, `punkt` or a language's; raise or warn where it has none.

    A missing file is an error for every text, not only for those with a full stop.
    """
    if splitter == "punkt_tab":
        require_option(lang, "language for the splitter 'punkt_tab'", NLTK_LANGUAGES)
        learnt_tables(lang)
        return lang
    if lang.partition("-")[0] != "en":
        raise ValueError(
            f"the splitter 'punkt' knows English only (lang='en'), not {lang!r}: use 'sentencex', 'stanza' or "
            "'punkt_tab' for another language"
        )
    if foreign := next(filter(None, map(_FOREIGN_MARK.search, bodies)), None):
        remedy = "use splitter='sentencex' or 'stanza' and name the language, such as lang='zh'"
        message = f"the splitter 'punkt' does not end sentences at {foreign[0]!r}: {remedy}"
        warnings.warn(message, InputWarning, stacklevel=callers_level())
    return "punkt"


def warn_of_foreign_text(splitter: str, bodies: Sequence[str]) -> None:
    """Warn of texts that are clearly not English when no language was given."""
    if splitter == "punkt" and any(map(_FOREIGN_MARK.search, bodies)):
        return  # warned of by its marks
    sample, taken = [], 0
    for body in bodies:
        if taken >= _SAMPLE:
            break
        sample.append(body[: _SAMPLE - taken])
        taken += len(sample[-1])
    if code := foreign_language("\n".join(sample), ("en",)):
        other = "" if splitter != "punkt" else "use splitter='sentencex' or 'stanza' and "
        message = f"the splitter {splitter!r} is cutting by English rules, and the text is in {language_name(code)}"
        remedy = f"{other}name the language, lang={code!r}; lang='en' if it is English"
        warnings.warn(f"{message}: {remedy}", InputWarning, stacklevel=callers_level())


def versioned_name(splitter: str, lang: str) -> str:
    """Return a splitter's name with its language, unless it is English, and its library's version.

    Examples
    --------
    >>> versioned_name("punkt", "en")
    'punkt'
    """
    library = {"punkt_tab": "nltk", "stanza": "stanza", "sentencex": "sentencex"}.get(splitter)
    if library is None:
        return splitter
    require_module(library, "splitters" if library == "sentencex" else "stanza")
    language = "" if lang == "en" else f"-{lang}"
    return f"{splitter}{language}-{'' if library == splitter else library}{version(library)}"
