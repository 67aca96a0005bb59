# A plain private module: edited here, exported by no notebook, tested in tests/test_language.py.
"""Which language a text is in, by its script and its small words; short or mixed texts are not guessed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache

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
_WORDS = re.compile(r"(?<!['’])[^\W\d_]+|(?<=['’])[^\W\d_]{2,}")  # not the s of "Reagan's"

_SMALL_WORDS = {
    "en": """the of and to in is was for on with that by at from as are were be been has have had it its this which an
        a he she they his her their not but or who will would could should may can after before about into than more
        also there we you i my our your when where while what how did does do said says over under between during
        because since until through against among all some any no other only both him them these those if so up out
        each most such very just being""",
    "de": """der die das und ist war den dem des ein eine einen einem einer eines nicht mit von zu im in auf für
        sich auch an als bei aus nach wie wird wurde wurden werden hat haben hatte sind es er sie wir ihr ich dass
        daß aber oder um am zum zur über vor durch nur noch bis gegen unter mehr keine kein sein seine ihre ihren
        wenn weil so man kann seit zwischen nun dort jedoch andere anderen alle allen viel viele immer schon ganz
        doch etwas diese dieser dieses diesem diesen beim ins ob hier sehr sollte müssen muss können soll""",
    "fr": """le la les des du de un une et est dans pour par sur avec que qui ne pas plus ce cette ces il elle ils
        elles se sa son ses au aux en a été sont était ont mais ou où leur leurs nous vous je on comme après avant
        selon entre sans sous très tout tous toutes deux d l qu s n c j y être avait depuis lors si encore autre
        autres même aussi quand alors donc ni moins chaque peu ainsi car lui mes notre votre doit peut faire fait
        aucun aucune plusieurs""",
    "es": """el la los las de del un una y es en que por para con no se su sus al lo como más pero o fue ha han este
        esta estos entre sobre sin también muy desde hasta cuando donde ya había son era ser está están años dos
        porque según tras durante e le les nos todo todos cada contra si otra otro otros otras mismo aunque quien
        cual hay puede debe nunca siempre mientras nada algo mi""",
    "it": """il lo la i gli le di del della dei delle degli un una uno e è in che per con non si su da al alla ai
        alle dal dalla nel nella nei nelle sul sulla come più ma o ha hanno era sono stato stata questo questa anche
        dopo prima tra fra loro suo sua suoi sue ed essere dell l all nell d senza molto ogni se quando dove ancora
        altri altre altro altra chi quale deve può mai sempre mentre cui nessuno nessuna mia mio fu già né""",
    "pt": """o a os as de do da dos das um uma e é em no na nos nas que por para com não se seu sua seus suas ao aos
        à às como mais mas ou foi foram tem são era ser está pelo pela pelos pelas este esta isso entre sobre sem
        também muito até quando onde já havia depois antes num numa ele ela eles outra outro outros outras cada quem
        qual há pode deve nunca sempre enquanto nada algo minha meu durante muitos todos todas toda todo""",
    "nl": """de het een en van in is was op te dat die voor met niet zijn aan er ook als bij door naar om uit over
        maar of wordt werd werden hebben heeft had hij zij ze we wij ik haar hun deze dit nog dan zo tot na tegen
        onder meer geen kan zich onze omdat wanneer waar worden toen al sinds tussen moeten moet andere gaan jaar
        veel weer alle enkele enkel mijn iemand niemand toch hoe hier daar waren heel zou kunnen mag""",
    "pl": """i w z na do nie się że jest to o od po za jak przez dla ale jego jej ich był była było były są ten ta
        tym tego tej te które który która której którzy już tylko czy lub oraz przy pod może będzie także przed
        ponieważ kiedy gdy ze we bardzo co ją im mu mnie albo więc aby żeby każdy każda wszystkich nawet również bez
        między został została mają ma nikt nigdy tak""",
    "sv": """och i att det som en på är av för med den till inte om ett har han hon de sig från vi så men var sin
        kan när också efter eller hade vid nu under ska skulle blev mot mycket där än utan sedan alla bara över sina
        sitt deras andra man mina min ännu varje vill måste får skall detta denna dessa ingen inget någon något kom
        blir redan medan eftersom""",
    "da": """og i at det som en på er af for med den til ikke om et har han hun de sig fra vi så men var sin kan når
        også efter eller havde ved nu under skal skulle blev mod meget hvor end uden siden alle kun over blevet dog
        hvis sine deres andre man mine hver vil må dette denne disse ingen intet nogen noget bliver allerede mens
        fordi""",
    "no": """og i at det som en på er av for med den til ikke om et har han hun de seg fra vi så men var sin kan når
        også etter eller hadde ved nå under skal skulle ble mot mye hvor enn uten siden alle bare over blitt dersom
        sine deres andre man mine hver vil må dette denne disse ingen intet noen noe blir allerede mens fordi""",
    "fi": """ja on ei se että oli hän ovat mutta kun myös tai sen joka jotka kuin niin ole olivat tämä sitä hänen
        vain jos mukaan jo vuonna sekä eivät kanssa ennen jälkeen mitä vielä nyt tämän heidän koska ollut olla eikä
        voi jokaisella jokainen kaikki kaikkien ihmisen tulee siitä""",
    "cs": """a v na se je že to s z do o k i ve za od po pro jak ale jsou byl byla bylo byly by jeho její jejich
        který která které kteří také nebo už jen při až podle před která není mezi tak když aby ze co""",
    "hu": """a az és hogy nem is egy volt ez meg de csak már még mint ha vagy van lesz ki el azt ezt szerint után
        által között pedig voltak amely amelyek aki akik majd minden több nagyon kell""",
    "ro": """și în de la a al ale cu pe că nu este sunt un o din pentru mai care au fost după prin dar sau se fi lui
        lor ca era către până între fără acest această când unde foarte s-a""",
    "tr": """ve bir bu da de için ile ne çok daha olarak olan gibi kadar sonra ama en değil o her mi göre var yok
        ancak veya ise tarafından önce oldu olduğu şu biz ben sen""",
    "id": """yang dan di dari untuk dengan pada ini itu tidak dalam ke akan telah adalah oleh juga sebagai karena
        atau mereka ia bisa sudah lebih kami saya setelah para bahwa tersebut lagi ada""",
    "vi": """và của là có không được cho trong một những các với người này đã để đến khi từ đó về như ra tại sẽ
        nhiều năm vào trên nhưng ông bà cũng""",
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
_CYRILLIC = {"uk": "іїєґ", "ru": "ыэё"}
_BULGARIAN_WORDS = "на и в е се да за от че са с като по беше има след може които"
_BULGARIAN = frozenset(_BULGARIAN_WORDS.split())
_PERSIAN = frozenset("پچژگکی")


@cache
def _tables() -> tuple[dict[str, dict[str, float]], dict[str, list[str]]]:
    """Return for each small word the languages it speaks for, with weights, and for each letter its languages."""
    lists = {code: set(words.split()) for code, words in _SMALL_WORDS.items()}
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
    language, and none for English.

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


def _by_small_words(text: str, *, few: bool = False) -> str | None:
    """Return the language whose small words and letters a Latin text holds, if one is clearly ahead."""
    small, letters = _tables()
    words = _WORDS.findall(text.lower())
    scores: dict[str, float] = {}
    signs: dict[str, set[str]] = {}
    for word in words:
        found = dict(small.get(word, {}))
        for letter in set(word) & letters.keys():
            for code in letters[letter]:
                found[code] = found.get(code, 0.0) + 0.5 / len(letters[letter]) ** 0.5
        for code, weight in found.items():
            scores[code] = scores.get(code, 0.0) + weight
            signs.setdefault(code, set()).add(word)
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    (best, first), (_, second) = [*ranked, ("", 0.0), ("", 0.0)][:2]
    if few:
        own = {word for word in words if best in small.get(word, {})}
        known = any("en" in small.get(word, {}) for word in words)
        return best if len(own) > 2 and 2 * len(own) >= len(words) and first > second and not known else None
    clear = first >= 0.12 * len(words) and first > second and len(signs.get(best, ())) > 1
    return best if clear and (best == "en" or first > 2 * scores.get("en", 0.0)) else None


def language_name(code: str) -> str:
    """Return a language's English name, or its code where that is all we know."""
    return NAMES.get(code.partition("-")[0], code)


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
    script = max((script for script in counts if script not in known), key=lambda one: counts[one])
    if script == "latin":
        return None
    own = {"han": "ja" if counts["kana"] else "zh", "kana": "ja", "cyrillic": _cyrillic(text), "arabic": "ar"}
    return own.get(script, script)


def foreign_language(text: str, languages: Sequence[str] | None) -> str | None:
    """Return the language of a text that is clearly none of `languages` (None: any will do), otherwise None.

    A text too short to tell is foreign where most of its letters are in a script that none of the languages has.
    """
    if languages is None:
        return None
    read = {one.partition("-")[0] for one in languages}
    found = language_of(text) or _by_script(text, read)
    return found if found is not None and found not in read else None
