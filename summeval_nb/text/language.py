"""Which language a text is in, by its script and its small words; short or mixed texts are not guessed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib import resources

ENOUGH = 40  # letters of a text that are needed for an answer; an ideograph says as much as three letters
FEW = 10  # letters that are enough where three small words are of one language, and none is English

_NAMES = """en:English de:German fr:French es:Spanish it:Italian pt:Portuguese nl:Dutch pl:Polish sv:Swedish da:Danish
no:Norwegian fi:Finnish cs:Czech hu:Hungarian ro:Romanian tr:Turkish id:Indonesian vi:Vietnamese ru:Russian uk:Ukrainian
bg:Bulgarian el:Greek ar:Arabic fa:Persian he:Hebrew hi:Hindi bn:Bengali ta:Tamil te:Telugu th:Thai ka:Georgian
hy:Armenian am:Amharic km:Khmer my:Burmese zh:Chinese ja:Japanese ko:Korean"""
NAMES = dict(pair.split(":") for pair in _NAMES.split())

_SCRIPTS = {
    "latin": r"A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff\uff21-\uff3a\uff41-\uff5a",
    "cyrillic": r"\u0400-\u052f",
    "el": r"\u0370-\u03ff\u1f00-\u1fff",
    "arabic": r"\u0620-\u064a\u066e-\u06d5\u06ee-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc",
    "he": r"\u05d0-\u05ea",
    "hi": r"\u0900-\u097f",
    "bn": r"\u0980-\u09ff",
    "ta": r"\u0b80-\u0bff",
    "te": r"\u0c00-\u0c7f",
    "th": r"\u0e01-\u0e5b",
    "ka": r"\u10a0-\u10ff",
    "hy": r"\u0530-\u058f",
    "am": r"\u1200-\u137f",
    "km": r"\u1780-\u17ff",
    "my": r"\u1000-\u109f",
    "kana": r"\u3041-\u3096\u30a1-\u30fa\u30fc",
    "han": r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f",
    "ko": r"\uac00-\ud7a3\u1100-\u11ff",
}
_WEIGHTS = {"han": 3, "kana": 2, "ko": 2}
_RUNS = re.compile("|".join(f"(?P<{name}>[{letters}]+)" for name, letters in _SCRIPTS.items()))
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）|\"[^\"]*\"|“[^“”]*”|「[^「」]*」|《[^《》]*》")
_LOWER = re.compile(r"(?<![^\W\d_])[a-z\u00df-\u00f6\u00f8-\u00ff]+(?![^\W\d_])")
_WORDS = re.compile(r"(?<!['’])[^\W\d_]+|(?<=['’])[^\W\d_]{2,}")  # not the s of "Reagan's"

# How longer words end, or what stands in them, in one language and in few others; each speaks like a letter of its own.
_SPELLINGS = {
    "en": r"(ness|ously|ally|ingly|fully|ships?|ought|ould|ough|wards?)$|^wh|ght|thr",
    "de": r"(ungs?|ungen|lich|lich(e[nrsm]?)|keit(en)?|heit(en)?|isch(e[nrsm]?)|schaft(en)?|tzt(e[nrsm]?)?)$|tsch|äu",
    "fr": r"(eux|euses?|aient|oires?|ières?|eurs|elles|ités?|iques|eaux)$|ouv|œu|[aeiou]qu[eé]",
    "es": r"(ción|ciones|siones|mientos?|idad(es)?|ieron|aron|iendo|[ao]s)$|[aeio]ll[aeo]s?$|ue[rst]t[aeo]",
    "it": r"(zion[ei]|ità|[aeiou]tt[oaei]|[aeiou]zz[oaie]|aggi?[io]?|avan[oi]|arono|evano|mente|[cdglmnprtv]i)$"
    r"|cch|gli[aeo]|ggi[aeou]",
    "pt": r"(ção|ções|ões|mentos?|dades?|[aei]ram|[aeiln]h[aeo]s?|eir[oa]s?|agens?|ando|endo|[ao]s)$|[^yot]ou$",
    "nl": r"(heid|heden|lijk(e|en)?|tjes?|eerde?n?|isch)$|ij|eeu|ieu|uu|[^t]oe[kdrlmnst]|aa[knrlst]|oo[drlnst]",
    "pl": r"(owan[yaei]|ych|nego|owego|skiego|ości|ów|ami|ach|nie|ają|yła|ało)$|prz|rze|szcz|czn|cze|dzi|wie|ści",
    "sv": r"(arna|erna|orna|ningar|heten|ligt|liga|ades|ats|aste|skt|ska)$|ckl|kj|sk[aå]|sjuk|tt[ae]t?$",
    "da": r"(erne|ingen|heden|ligt|lige|edes|ede|else[rn]?)$|kj|øj|æg|gd[ae]",
    "no": r"(ene|ingen|heten|lig|lige|else[rn]?|tte)$|kj|øy|sj[aeoøå]|kk[ae]",
}
_OWN_LETTERS = {
    "de": "ßäöü",
    "fr": "éèàêçâîôûœ",
    "es": "ñáéíóú",
    "it": "èàùìò",
    "pt": "ãõáéíóúçâêô",
    "pl": "ąęłśżźćńó",
    "sv": "åäö",
    "da": "åøæ",
    "no": "åøæ",
    "fi": "äö",
    "cs": "ěřůčšžýáíé",
    "hu": "őűáéóöü",
    "ro": "ățșţâî",
    "tr": "ğışçöü",
    "vi": "ơưđạảấầậắẵặẹẻẽếềểễệịỉọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
}
_VIETNAMESE = frozenset(_OWN_LETTERS["vi"]) - {"đ"}
_CYRILLIC = {"uk": "іїєґ", "ru": "ыэё"}
_BULGARIAN_WORDS = "на и в е се да за от че са с като по беше има след може които"
_BULGARIAN = frozenset(_BULGARIAN_WORDS.split())
_PERSIAN = frozenset("پچژگکی")


@cache
def _tables() -> tuple[dict[str, dict[str, float]], dict[str, list[str]]]:
    """Return for each small word the languages it speaks for, with weights, and for each letter its languages."""
    stored = resources.files("summeval_nb").joinpath("assets/small_words.txt").read_text(encoding="utf-8")
    listed = re.findall(r"^([a-z]+): ((?:.+\n)(?: .+\n)*)", stored, re.M)
    lists = {code: set(words.split()) for code, words in listed}
    shared = Counter(word for words in lists.values() for word in words)
    small: dict[str, dict[str, float]] = {}
    for code, words in lists.items():
        for word in words:
            small.setdefault(word, {})[code] = 1 / shared[word] ** 0.5
    letters: dict[str, list[str]] = {}
    for code, own in _OWN_LETTERS.items():
        for letter in own:
            letters.setdefault(letter, []).append(code)
    return small, letters


@lru_cache(maxsize=1 << 14)
def language_of(text: str) -> str | None:
    """Return the code of a text's language, or None: too short, mixed, or not known here.

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
    counts: Counter[str] = Counter()
    for run in _RUNS.finditer(text):
        script = str(run.lastgroup)
        counts[script] += len(run[0]) * _WEIGHTS.get(script, 1)
    total = counts.total()
    if total < ENOUGH:
        return _by_small_words(text, few=True) if total >= FEW and counts["latin"] == total else None
    if (east := counts["han"] + counts["kana"]) > 0.5 * total:
        return "ja" if counts["kana"] > 0.1 * east else "zh"
    script, count = counts.most_common(1)[0]
    if count <= 0.5 * total:
        return None
    if script == "latin":
        return _by_small_words(text) if count > 0.7 * total else None
    if script == "cyrillic":
        return _cyrillic(text)
    if script == "arabic":
        return "fa" if sum(letter in _PERSIAN for letter in text) > 0.04 * count else "ar"
    return script


def _cyrillic(text: str) -> str | None:
    """Tell Ukrainian, Russian and Bulgarian apart; other languages of that script are not known here."""
    low = text.lower()
    found = {code: sum(low.count(letter) for letter in letters) for code, letters in _CYRILLIC.items()}
    if any(found.values()):
        return max(found, key=lambda code: found[code])
    words = _WORDS.findall(low)
    return "bg" if sum(word in _BULGARIAN for word in words) > 0.15 * len(words) and "ъ" in low else "ru"


def languages_of_word(word: str) -> set[str]:
    """The languages of which a word in lower case is a small word."""
    return set(_tables()[0].get(word, ()))


_PARTICLES = re.compile(
    r"([^\W\d_a-z][^\W\d_]+ )(?:(?:de|la|der|den|van|von|di|da|del|du|le|el|al|bin|ibn|dos|ter) )+(?=[^\W\d_a-z])"
)


def without_particles(text: str) -> str:
    """A text without the small words between capitalised ones, which names keep in every language."""
    return _PARTICLES.sub(r"\1", text)


@cache
def _spellings() -> dict[str, re.Pattern[str]]:
    return {code: re.compile(pattern) for code, pattern in _SPELLINGS.items()}


@lru_cache(maxsize=1 << 14)
def _spelt_as(word: str) -> tuple[str, ...]:
    """The languages in which words are spelt like this one, if they are few."""
    found = tuple(code for code, pattern in _spellings().items() if pattern.search(word))
    return found if len(found) < 3 else ()


def _by_small_words(text: str, *, few: bool = False) -> str | None:
    """Return the language whose small words and letters a Latin text holds, if one is clearly ahead."""
    small, letters = _tables()
    words = _WORDS.findall(without_particles(text).lower())
    scores: dict[str, float] = {}
    signs: dict[str, set[str]] = {}
    for word in words:
        found = dict(small.get(word, {}))
        for letter in set(word) & letters.keys():
            for code in letters[letter]:
                found[code] = found.get(code, 0.0) + 0.5 / len(letters[letter]) ** 0.5
        if len(word) > 4 and not found.keys() & _SPELLINGS.keys():
            for code in _spelt_as(word):
                found[code] = found.get(code, 0.0) + 0.5
        for code, weight in found.items():
            scores[code] = scores.get(code, 0.0) + weight
            signs.setdefault(code, set()).add(word)
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    (best, first), (_, second) = [*ranked, ("", 0.0), ("", 0.0)][:2]
    if few:
        own = {word for word in words if best in small.get(word, {})}
        if best == "vi" and any(_VIETNAMESE & set(word) for word in _WORDS.findall(text) if word.islower()):
            own |= {word for word in words if _VIETNAMESE & set(word)}
        known = any("en" in small.get(word, {}) for word in words)
        return best if len(own) > 2 and 2 * len(own) >= len(words) and first > second and not known else None
    own_signs = signs.get(best, set())  # a, b, c: letters alone are no language
    clear = first >= 0.12 * len(words) and first > second and len(own_signs) > 1 and max(map(len, own_signs)) > 1
    return best if clear and (best == "en" or first > 2 * scores.get("en", 0.0)) else None


OTHER = "und"  # a language that is not known here, by the code that the standards have for it


def language_name(code: str) -> str:
    """Return a language's English name, or its code where that is all we know."""
    return "another language" if code == OTHER else NAMES.get(code.partition("-")[0], code)


def _scripts_of(code: str) -> set[str]:
    """The scripts in which a language is written."""
    if code in ("ru", "uk", "bg"):
        return {"cyrillic"}
    if code in ("ar", "fa"):
        return {"arabic"}
    east = {"zh": {"han"}, "ja": {"han", "kana"}, "ko": {"ko", "han"}}
    return east.get(code, {code if code in _SCRIPTS else "latin"})


def _by_script(text: str, read: set[str]) -> str | None:
    """Return a language for a text of which most letters are in a script that none of the languages `read` has."""
    counts: Counter[str] = Counter()
    for run in _RUNS.finditer(text):
        counts[str(run.lastgroup)] += len(run[0])
    known = set().union(*map(_scripts_of, read)) if read else set()
    other = sum(count for script, count in counts.items() if script not in known)
    if not read <= NAMES.keys() or 2 * other <= counts.total():
        return None
    return _of_script(text, counts, known)


def _of_script(text: str, counts: Counter[str], known: set[str]) -> str | None:
    """Return the language of the script that most letters are in, of those that are not known; None for Latin."""
    script = max((script for script in counts if script not in known), key=lambda one: counts[one])
    if script == "latin":
        return None
    own = {"han": "ja" if counts["kana"] else "zh", "kana": "ja", "cyrillic": _cyrillic(text), "arabic": "ar"}
    return own.get(script, script)


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


def _around_names(text: str, read: set[str]) -> str | None:
    """Return a language whose sentences are full of names in Latin letters, in which most letters then are.

    Its own words stand between the names. Words in lower case hold a sentence in one of the languages `read` together;
    in a name, such as "The New York Times", they are capitalised, or are small ones, as in "Lord of the Rings". So one
    of them must be more than that, a verb for example, and a small word must stand there too, and neither may the words
    in the other script be grammar that outnumbers them: "He met 习近平." is English. What stands in brackets or
    quotation marks holds nothing together.
    """
    known = set().union(*map(_scripts_of, read)) if read else set()
    if text.isascii() or not read <= NAMES.keys() or "latin" not in known:
        return None
    counts, runs, grammar, text = Counter[str](), 0, False, _ASIDE.sub(" ", text)
    for run in _RUNS.finditer(text):
        script = str(run.lastgroup)
        if script != "el" or len(run[0]) > 1:  # a Greek letter by itself is a symbol
            counts[script] += len(run[0]) * _WEIGHTS.get(script, 1)
            runs += script not in known
            grammar = grammar or (script not in known and _GRAMMAR.search(run[0]) is not None)
    other = sum(count for script, count in counts.items() if script not in known)
    if not runs or other < 0.08 * counts.total():
        return None
    small, lower = _tables()[0], _LOWER.findall(text)
    speaking = [word for word in _WORDS.findall(text.lower()) if small.get(word, {}).keys() & read]
    more = [word for word in lower if word in _VERBS or not small.get(word, {}).keys() & read]
    holding = len(lower) + sum(bool(small.get(word, {}).keys() & read) for word in lower)
    held = bool(more and speaking) and (2 * runs <= holding or not grammar)
    return None if held else _of_script(text, counts, known)


_BRACKETED = re.compile(r"\([^()]*\)|（[^（）]*）")


def unread_words(text: str, languages: Sequence[str]) -> list[str]:
    """Return the words of a text that are in a script of none of `languages`, those in a row as one.

    Letters by themselves are symbols, unless they are words as in Chinese; what stands in brackets is left out.
    """
    read = {one.partition("-")[0] for one in languages}
    if text.isascii() or not read <= NAMES.keys():
        return []
    known = set().union(*map(_scripts_of, read)) if read else set()
    found: list[str] = []
    end, text = -1, _BRACKETED.sub(lambda aside: " | ", text)
    for run in _RUNS.finditer(text):
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
    """Return the language of a text that is clearly none of `languages` (None: any will do), otherwise None.

    A text too short to tell is foreign where most of its letters are in a script that none of the languages has, and
    one full of names in Latin letters where such a script holds them together.
    """
    if languages is None:
        return None
    read = {one.partition("-")[0] for one in languages}
    found = language_of(text) or _by_script(text, read)
    if found is None or found in read:
        found = _around_names(text, read)
    return found if found is not None and found not in read else None


_NLTK_NAMES = """cs:czech da:danish de:german el:greek en:english es:spanish et:estonian fi:finnish fr:french it:italian
ml:malayalam nl:dutch no:norwegian pl:polish pt:portuguese ru:russian sl:slovene sv:swedish tr:turkish"""
NLTK_LANGUAGES = dict(pair.split(":") for pair in _NLTK_NAMES.split())

_SNOWBALL_NAMES = """ar:arabic da:danish nl:dutch en:english fi:finnish fr:french de:german hu:hungarian it:italian
no:norwegian pt:portuguese ro:romanian ru:russian es:spanish sv:swedish"""
_SNOWBALL = dict(pair.split(":") for pair in _SNOWBALL_NAMES.split())

Codes = tuple[str, ...] | None
ENGLISH: Codes = ("en",)

# What has a name and is asked for by it, by kind: the languages that it reads (None: any, or those of its model), and
# where another is to be had. What is an object says the same in its attribute `languages`.
READS: dict[str, dict[str, Codes]] = {
    "checker": {"embedded": ENGLISH, "words": ENGLISH, "nli": None, "llm": None},
    "judge": {"embedded": ENGLISH, "words": ENGLISH, "llm": None},
    "refusals": {"refusals": ENGLISH},
    "key phrases": {"counted": ENGLISH, "keybert": ENGLISH},
    "claims": {"split_claims": ENGLISH},
    "splitter": {"punkt": ENGLISH, "punkt_tab": tuple(NLTK_LANGUAGES), "sentencex": None, "stanza": None},
    "stemmer": {"porter": ENGLISH} | {name: (code,) for code, name in _SNOWBALL.items()},
    "metric": {"meteor": ENGLISH},
    "tokenizer": {
        **dict.fromkeys(("rouge", "rouge-1.5.5"), ENGLISH),
        **dict.fromkeys(("none", "13a", "intl", "char"), None),
        "zh": ("zh",),
        "ja-mecab": ("ja",),
        "ko-mecab": ("ko",),
        **dict.fromkeys(("spm", "flores101", "flores200", "spBLEU-1K"), None),
    },
}
REMEDIES = {
    "checker": "checker='nli:FOLDER' or 'llm:FOLDER'",
    "judge": "judge='llm:FOLDER'",
    "refusals": "judge='llm:FOLDER'",
    "key phrases": "judge='llm:FOLDER'",
    "claims": "claims='statements' and a language model (chapter 23)",
    "splitter": "splitter='sentencex' or 'stanza', and lang=",
    "stemmer": "stemmer= with the language's name, or stemmer=False",
    "metric": "take chrF, or ROUGE with the language's stemmer",
    "tokenizer": "tokenizer='intl' or 'char', or a function of yours",
}


def require_languages(value: object, name: str = "languages") -> Codes:
    """Return codes as a tuple, None as it is; one code that is no list would be read letter by letter."""
    if value is None:
        return None
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be a list of codes such as ('en', 'de'), or None for any, not {value!r}")
    codes = tuple(value)
    if wrong := [one for one in codes if not isinstance(one, str) or not re.fullmatch(r"[A-Za-z]{2,3}([-_]\w+)*", one)]:
        raise ValueError(f"{name} holds {wrong[0]!r}: give codes such as 'en', 'de' or 'zh', or None for any language")
    return codes


def declared_languages(thing: object) -> Codes:
    """The languages that an object says it reads, or the one that it asks; None for any."""
    seen = 0
    while not hasattr(thing, "languages") and hasattr(thing, "inner") and seen < 20:
        thing, seen = thing.inner, seen + 1
    return require_languages(getattr(thing, "languages", None), f"languages of {type(thing).__name__}")


def reads(thing: object) -> str:
    """How a repr says what an object reads: `languages=en` or `languages=any`."""
    codes = declared_languages(thing)
    return f"languages={'any' if codes is None else '+'.join(codes)}"


def named_languages(name: str, kind: str | None = None) -> Codes:
    """The languages of what has this name; one name of two things that differ needs its kind."""
    base = name.partition(":")[0]
    kinds = READS if kind is None else {kind: READS[kind]}
    found = {own: names[base] for own, names in kinds.items() if base in names}
    if not found:
        known = ", ".join(sorted({one for names in kinds.values() for one in names}))
        raise ValueError(f"nothing is called {name!r}; known: {known}")
    if len(set(found.values())) > 1:
        raise ValueError(f"{name!r} names {' and '.join(found)}: say which by kind=")
    return next(iter(found.values()))
