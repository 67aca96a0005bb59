"""Which language a text is in: its script, its small words, and py3langid; short or mixed texts are not guessed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

__all__ = ["languages_of"]

ENOUGH = 40  # letters of a text that are needed for an answer; an ideograph says as much as three letters
FEW = 10  # letters that are enough where three small words are of one language, and none is English
CLEARLY = 20  # a language is clear where it is as many times as likely as those that are read, or as any other

_LANGUAGES = {  # by script; the commonest first, where a short text does not tell
    "latin": """af:Afrikaans az:Azerbaijani br:Breton bs:Bosnian ca:Catalan cs:Czech cy:Welsh da:Danish de:German
    en:English eo:Esperanto es:Spanish et:Estonian eu:Basque fi:Finnish fo:Faroese fr:French fy:Frisian ga:Irish
    gd:Gaelic gl:Galician ha:Hausa hr:Croatian hu:Hungarian id:Indonesian ig:Igbo is:Icelandic it:Italian jv:Javanese
    ku:Kurdish la:Latin lb:Luxembourgish lg:Ganda ln:Lingala lt:Lithuanian lv:Latvian mg:Malagasy ms:Malay mt:Maltese
    nl:Dutch no:Norwegian oc:Occitan om:Oromo pl:Polish pt:Portuguese qu:Quechua ro:Romanian rw:Kinyarwanda sk:Slovak
    sl:Slovene sn:Shona so:Somali sq:Albanian sr:Serbian st:Sotho sv:Swedish sw:Swahili tk:Turkmen tl:Tagalog
    tr:Turkish uz:Uzbek vi:Vietnamese xh:Xhosa yo:Yoruba zu:Zulu""",
    "cyrillic": """ru:Russian uk:Ukrainian be:Belarusian bg:Bulgarian kk:Kazakh ky:Kyrgyz mk:Macedonian mn:Mongolian
    sr:Serbian tg:Tajik tt:Tatar""",
    "arabic": "ar:Arabic fa:Persian ps:Pashto ug:Uyghur ur:Urdu",
    "devanagari": "hi:Hindi mr:Marathi ne:Nepali",
    "han": "ja:Japanese ko:Korean zh:Chinese",
    "hiragana": "ja:Japanese",
    "hangul": "ko:Korean",
    "armenian": "hy:Armenian",
    "bengali": "bn:Bengali",
    "ethiopic": "am:Amharic",
    "georgian": "ka:Georgian",
    "greek": "el:Greek",
    "gujarati": "gu:Gujarati",
    "gurmukhi": "pa:Punjabi",
    "hebrew": "he:Hebrew",
    "kannada": "kn:Kannada",
    "khmer": "km:Khmer",
    "lao": "lo:Lao",
    "malayalam": "ml:Malayalam",
    "myanmar": "my:Burmese",
    "oriya": "or:Odia",
    "sinhala": "si:Sinhala",
    "tamil": "ta:Tamil",
    "telugu": "te:Telugu",
    "thai": "th:Thai",
}
_WRITTEN_IN = {script: dict(pair.split(":") for pair in listed.split()) for script, listed in _LANGUAGES.items()}
NAMES = {code: name for listed in _WRITTEN_IN.values() for code, name in listed.items()}
_SAME = {"nb": "no", "nn": "no"}
OTHER = "und"  # a language that is not known here, by the code that the standards have for it

_LETTERS = {script: rf"\p{{{script}}}" for script in _WRITTEN_IN} | {
    "hiragana": r"\p{Hiragana}\p{Katakana}\u30fc",
    OTHER: r"\p{L}\p{M}--\p{Common}--\p{Inherited}",
}
_WEIGHTS = {"han": 3, "hiragana": 2, "hangul": 2}


@cache
def _runs() -> Any:
    """The pattern that finds runs of letters of one script, a group for each."""
    import regex  # Python's own `re` has no \p{...}

    return regex.compile("(?V1)" + "|".join(f"(?P<{script}>[{letters}]+)" for script, letters in _LETTERS.items()))


_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）|\"[^\"]*\"|“[^“”]*”|「[^「」]*」|《[^《》]*》")
_LOWER = re.compile(r"(?<![^\W\d_])[a-z\u00df-\u00f6\u00f8-\u00ff]+(?![^\W\d_])")
_WORDS = re.compile(r"(?<!['’])[^\W\d_]+|(?<=['’])[^\W\d_]{2,}")  # not the s of "Reagan's"
_VIETNAMESE = frozenset("ơưạảấầậắẵặẹẻẽếềểễệịỉọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ")  # letters that no other language has


@cache
def _small_words() -> dict[str, set[str]]:
    """Return for each small word the languages that have it."""
    stored = resources.files("summeval_nb").joinpath("assets/small_words.txt").read_text(encoding="utf-8")
    small: dict[str, set[str]] = {}
    for code, words in re.findall(r"^([a-z]+): ((?:.+\n)(?: .+\n)*)", stored, re.M):
        for word in words.split():
            small.setdefault(word, set()).add(code)
    return small


@cache
def _model() -> LanguageIdentifier:
    """Return py3langid with the languages that have a name here; half a second and 100 MB, for who needs it."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    model.set_languages({*NAMES, "nn"})
    return model


def language_of(text: str) -> str | None:
    """Return the code of a text's language, or None: too short, mixed, or nearly as likely English as not.

    Fewer than 40 letters are too short, unless three different small words and half of all words speak for one
    language, and none for English; a word with a letter that only Vietnamese has speaks like a small one, where one of
    them is more than a name.

    Examples
    --------
    >>> language_of("The council approved the plan for a new bridge on Monday.")
    'en'
    >>> language_of("Der Rat hat am Montag den Plan für eine neue Brücke gebilligt.")
    'de'
    >>> language_of("Paris") is None
    True
    """
    return _language(text, frozenset({"en"}))


@lru_cache(maxsize=1 << 14)
def _language(text: str, read: frozenset[str]) -> str | None:
    """Return the likeliest language, if it is clear whether that is one of those `read`."""
    counts = _letters(text, _WEIGHTS)
    total = counts.total()
    if total < ENOUGH:
        return _by_few_words(text) if total >= FEW and counts["latin"] == total else None
    if (east := counts["han"] + counts["hiragana"]) > 0.5 * total:
        return "ja" if counts["hiragana"] > 0.1 * east else "zh"
    script, count = counts.most_common(1)[0]
    if count <= (0.7 if script == "latin" else 0.5) * total:
        return None
    if script == "latin":
        if _plainly_english(text):
            return "en"
        if not _is_sentence(text):
            return None
    likely = _likely(text, script)
    best = max(likely, key=lambda code: likely[code])
    rivals = likely.keys() - read if best in read else likely.keys() & read
    clear = likely[best] > CLEARLY * max((likely[code] for code in rivals), default=0.0)
    return best if clear else None


def _likely(text: str, script: str) -> dict[str, float]:
    """Return the languages that are written in a script, and how likely a text is in each."""
    written = _WRITTEN_IN.get(script, {OTHER: ""})
    if len(written) == 1:
        return dict.fromkeys(written, 1.0)
    likely = dict.fromkeys(written, 0.0)
    for code, probability in _model().rank(text):
        code = _SAME.get(code, code)
        if code in likely:
            likely[code] += probability
    return likely


def _plainly_english(text: str) -> bool:
    """Whether two words and every seventh word are small ones that only English has: no model need be asked.

    So it is with five of six English sentences, and with 17 of 11,000 in 74 other languages, most of them quoting it.
    """
    small, words = _small_words(), _WORDS.findall(text.lower())
    own = [word for word in words if len(word) > 2 and small.get(word) == {"en"}]
    return len(set(own)) > 1 and len(own) >= 0.15 * len(words)


def _is_sentence(text: str) -> bool:
    """Whether a text has three words of more than a letter, and not all of them are written like names."""
    words = {word for word in _WORDS.findall(without_particles(text)) if len(word) > 1}
    return len(words) > 2 and (text.isupper() or any(word.islower() for word in words))


def likely_languages(text: str) -> dict[str, float]:
    """Return how likely a text in Latin letters is in each language that has a name here, be it a few words: a hint."""
    return _likely(text, "latin")


@lru_cache(1 << 14)
def languages_of_word(word: str) -> frozenset[str]:
    """The languages of which a word in lower case is a small word."""
    return frozenset(_small_words().get(word, ()))


_PARTICLES = re.compile(
    r"([^\W\d_a-z][^\W\d_]+ )(?:(?:de|la|der|den|van|von|di|da|del|du|le|el|al|bin|ibn|dos|ter) )+(?=[^\W\d_a-z])"
)


def without_particles(text: str) -> str:
    """A text without the small words between capitalised ones, which names keep in every language."""
    return _PARTICLES.sub(r"\1", text)


def _by_few_words(text: str) -> str | None:
    """Return the language whose small words a short Latin text is made of, if none of them is English."""
    small, words = _small_words(), _WORDS.findall(without_particles(text).lower())
    vietnamese = any(_VIETNAMESE & set(word) for word in _WORDS.findall(text) if word.islower())
    scores: Counter[str] = Counter()
    own: dict[str, set[str]] = {}
    for word in words:
        codes = small.get(word, set()) | ({"vi"} if vietnamese and _VIETNAMESE & set(word) else set())
        if "en" in codes:
            return None
        for code in codes:
            scores[code] += 1 / len(codes) ** 0.5
            own.setdefault(code, set()).add(word)
    (best, first), (_, second) = [*scores.most_common(2), ("", 0.0), ("", 0.0)][:2]
    return best if first > second and len(own[best]) > 2 and 2 * len(own[best]) >= len(words) else None


def start_of(texts: Iterable[str], most: int) -> str:
    """Return the beginning of some texts together, by which their language is told."""
    sample, taken = list[str](), 0
    for text in texts:
        sample.append(text[: most - taken])
        if (taken := taken + len(sample[-1])) >= most:
            break
    return "\n".join(sample)


def language_name(code: str) -> str:
    """Return a language's English name, or its code where that is all we know."""
    return "another language" if code == OTHER else NAMES.get(code.partition("-")[0], code)


def _scripts_of(codes: Iterable[str]) -> set[str]:
    """The scripts in which languages are written."""
    return {script for code in codes for script, written in _WRITTEN_IN.items() if code in written}


def _base(languages: Iterable[str]) -> frozenset[str]:
    """The languages of codes that may name a region as well."""
    bases = (code.partition("-")[0] for code in languages)
    return frozenset(_SAME.get(code, code) for code in bases)


def _letters(text: str, weights: Mapping[str, int]) -> Counter[str]:
    """Count the letters of each script in a text; some count more than once."""
    counts: Counter[str] = Counter()
    for run in _runs().finditer(text):
        script = str(run.lastgroup)
        counts[script] += len(run[0]) * weights.get(script, 1)
    return counts


def _by_script(text: str, read: frozenset[str]) -> str | None:
    """Return a language for a text of which most letters are in a script that none of the languages `read` has."""
    counts, known = _letters(text, {}), _scripts_of(read)
    other = sum(count for script, count in counts.items() if script not in known)
    if not read <= NAMES.keys() or 2 * other <= counts.total():
        return None
    return _of_script(text, counts, known)


def _of_script(text: str, counts: Counter[str], known: set[str]) -> str | None:
    """Return the language of the script that most letters are in, of those that are not known; None for Latin."""
    script = max((script for script in counts if script not in known), key=lambda script: counts[script])
    if script == "latin":
        return None
    if script == "han":
        return "ja" if counts["hiragana"] else "zh"
    likely = _likely(" ".join(run[0] for run in _runs().finditer(text) if run.lastgroup == script), script)
    best, commonest = max(likely, key=lambda code: likely[code]), next(iter(likely))
    return best if likely[best] > CLEARLY * likely[commonest] else commonest


# What holds a sentence together around names: characters and endings that are grammar and seldom part of a name.
_HAN_GRAMMAR = (
    "的了在是不未没沒被把将將与與和也都这這那我你他她它们們说說着著过過吗嗎呢吧很还還会會要能"
    "从從对對向为為于於但又再已让讓给給并或"
)
_GRAMMAR = re.compile(
    rf"[{_HAN_GRAMMAR}\u3041-\u3096]|^[\u0430-\u045f\u03ac-\u03ce]|(?:다|요|에서|에게|으로)$|^[는은이가을를의에와과도로]$"
)
_VERBS = frozenset(
    "is was are were be been has have had will would can could may might must shall should do does did said say".split()
)


def _around_names(text: str, read: frozenset[str]) -> str | None:
    """Return a language whose sentences are full of names in Latin letters, in which most letters then are.

    Its own words stand between the names. Words in lower case hold a sentence in one of the languages `read` together;
    in a name, such as "The New York Times", they are capitalised, or are small ones, as in "Lord of the Rings". So one
    of them must be more than that, a verb for example, and a small word must stand there too, and neither may the words
    in the other script be grammar that outnumbers them: "He met 习近平." is English. What stands in brackets or
    quotation marks holds nothing together.
    """
    known = _scripts_of(read)
    if text.isascii() or not read <= NAMES.keys() or "latin" not in known:
        return None
    counts, runs, grammar, text = Counter[str](), 0, False, _ASIDE.sub(" ", text)
    for run in _runs().finditer(text):
        script = str(run.lastgroup)
        if script != "greek" or len(run[0]) > 1:  # a Greek letter by itself is a symbol
            counts[script] += len(run[0]) * _WEIGHTS.get(script, 1)
            runs += script not in known
            grammar = grammar or (script not in known and _GRAMMAR.search(run[0]) is not None)
    other = sum(count for script, count in counts.items() if script not in known)
    if not runs or other < 0.08 * counts.total():
        return None
    small, lower = _small_words(), _LOWER.findall(text)
    speaking = [word for word in _WORDS.findall(text.lower()) if small.get(word, set()) & read]
    more = [word for word in lower if word in _VERBS or not small.get(word, set()) & read]
    holding = len(lower) + sum(bool(small.get(word, set()) & read) for word in lower)
    held = bool(more and speaking) and (2 * runs <= holding or not grammar)
    return None if held else _of_script(text, counts, known)


_BRACKETED = re.compile(r"\([^()]*\)|（[^（）]*）")


def unread_words(text: str, languages: Sequence[str]) -> list[str]:
    """Return the words of a text in a script of none of `languages`, those in a row as one; no symbols, no asides."""
    read = _base(languages)
    if text.isascii() or not read <= NAMES.keys():
        return []
    known = _scripts_of(read)
    found: list[str] = []
    end, text = -1, _BRACKETED.sub(lambda aside: " | ", text)
    for run in _runs().finditer(text):
        script = str(run.lastgroup)
        if script in known or (len(run[0]) == 1 and script not in _WEIGHTS):
            continue
        gap = text[end : run.start()] if end >= 0 else "|"
        if gap.strip():
            found.append(run[0])
        else:
            found[-1] += " " * bool(gap) + run[0]
        end = run.end()
    return found


def foreign_language(text: str, languages: Sequence[str] | None) -> str | None:
    """Return the language, or else the script's, of a text that is clearly none of `languages` (None: any will do)."""
    if languages is None:
        return None
    read = _base(languages)
    found = _language(text, read) or _by_script(text, read)
    if found is None or found in read:
        found = _around_names(text, read)
    return found if found is not None and found not in read else None


_STEMMED = """ar:arabic da:danish nl:dutch en:english fi:finnish fr:french de:german hu:hungarian it:italian
no:norwegian pt:portuguese ro:romanian ru:russian es:spanish sv:swedish"""
SNOWBALL_NAMES = dict(pair.split(":") for pair in _STEMMED.split())

Codes = tuple[str, ...] | None


def require_languages(value: object, name: str = "languages") -> Codes:
    """Return codes as a tuple, None as it is; one code that is no list would be read letter by letter."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of codes such as ('en', 'de'), or None for any, not {value!r}")
    codes = tuple(value)
    if wrong := [
        code for code in codes if not isinstance(code, str) or not re.fullmatch(r"[A-Za-z]{2,3}([-_]\w+)*", code)
    ]:
        raise ValueError(f"{name} holds {wrong[0]!r}: give codes such as 'en', 'de' or 'zh', or None for any language")
    return codes


def reads(thing: object) -> str:
    """Return what a repr says of an object's languages: `languages=en` or `languages=any`."""
    codes = languages_of(thing)
    return f"languages={'any' if codes is None else '+'.join(codes)}"


def languages_of(thing: object) -> Codes:
    """Return the codes of the languages that something reads; None for any.

    Parameters
    ----------
    thing : object
        A checker, judge, splitter or tokenizer: its attribute `languages`, or that of the `inner` one that it asks;
        without either it is trusted with any. A `TypeError` or `ValueError` is raised if that is no list of codes.

    Examples
    --------
    >>> from summeval_nb.evidence import WordsChecker
    >>> languages_of(WordsChecker()), languages_of(str.split)
    (('en',), None)
    """
    seen = 0
    while not hasattr(thing, "languages") and hasattr(thing, "inner") and seen < 20:
        thing, seen = thing.inner, seen + 1
    return require_languages(getattr(thing, "languages", None), f"languages of {type(thing).__name__}")
