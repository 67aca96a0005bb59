"""What all checkers share: the protocol, vectors, packaged counts and measurements, and what they cannot read."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from summeval_nb.core.base import InputWarning, JsonDict, callers_level, require_count, require_text, warn_of_order
from summeval_nb.core.files import read_asset
from summeval_nb.core.results import Evidence, Verdict
from summeval_nb.evidence.tokens import stem
from summeval_nb.text.embed import BatchEmbedder, SentenceVectors
from summeval_nb.text.language import (
    OTHER,
    foreign_language,
    language_name,
    language_of,
    languages_of,
    languages_of_word,
    likely_languages,
    unread_words,
    without_particles,
)

__all__ = ["Checker", "Numbers", "Pair", "PairVectors", "encode_pairs", "nearest_evidence"]

Pair = tuple[Sequence[str], str]  # evidence sentences, summary sentence
Numbers = Sequence[float] | np.ndarray


@runtime_checkable
class Checker(Protocol):
    """The protocol of a checker: a fingerprint, a threshold, and `check_many`.

    `fingerprint` names everything that could change a probability, `threshold` turns probabilities into yes and no, and
    `check_many` takes pairs of (evidence sentences, summary sentence) and returns one `Verdict` a pair, in order. A
    checker whose attribute `uses_vectors` is true may be handed `vectors`, one `PairVectors` a pair; it uses them only
    when they come from the embedder that it needs. Its attribute `languages`, codes such as `("en",)`, says what it can
    read; without it, or with None, it is trusted with any.
    """

    if TYPE_CHECKING:  # either a property or an attribute will do

        @property
        def fingerprint(self) -> str: ...

        @property
        def threshold(self) -> float: ...

    else:
        fingerprint: str
        threshold: float

    def check_many(self, pairs: Sequence[Pair], *, vectors: Sequence[PairVectors] | None = None) -> list[Verdict]:
        """Return one verdict for each pair (evidence sentences, sentence), in order."""


@dataclass(frozen=True, slots=True, eq=False)
class PairVectors:
    """The vectors of one pair of evidence and claim, so that nothing is encoded twice.

    Parameters
    ----------
    embedder : str
        Fingerprint of the embedder that made them.
    evidence : ndarray, shape (m, d)
        One vector for each evidence sentence.
    claim : ndarray, shape (d,)
        The summary sentence's vector.
    evidence_tokens : sequence of m ndarrays, shape (t_i, d)
        Token vectors of each evidence sentence, length one, without special tokens.
    claim_tokens : ndarray, shape (t, d)
        Token vectors of the summary sentence.
    """

    embedder: str
    evidence: np.ndarray
    claim: np.ndarray
    evidence_tokens: Sequence[np.ndarray]
    claim_tokens: np.ndarray

    @classmethod
    def of(cls, held: SentenceVectors, evidence: Sequence[str], claim: str) -> PairVectors | None:
        """Return a pair's vectors from held ones; None if one lacks token vectors."""
        tokens = held.tokens_of([*evidence, claim])
        if tokens is None:
            return None
        *vectors, last = held.of([*evidence, claim])
        return cls(held.embedder, np.asarray(vectors), last, tokens[:-1], tokens[-1])

    def cosines(self) -> np.ndarray:
        """Return the cosine of the claim's vector with each evidence sentence's, shape (m,); a zero vector has 0."""
        norms = np.linalg.norm(self.evidence, axis=1) * np.linalg.norm(self.claim)
        return np.divide(self.evidence @ self.claim, norms, out=np.zeros(len(norms)), where=norms > 0)


def encode_pairs(pairs: Sequence[Pair], embedder: BatchEmbedder) -> list[PairVectors]:
    """Return the vectors of pairs, each distinct sentence encoded once."""
    texts = (text for evidence, claim in pairs for text in (*evidence, claim))
    held = SentenceVectors(embedder, texts)
    found = (PairVectors.of(held, *pair) for pair in pairs)
    return [vectors for vectors in found if vectors is not None]


def nearest_evidence(similarities: np.ndarray, k: int | None = None) -> list[Evidence]:
    """Return the k sentences most similar to one that is judged, best first, ties by position; None: all of them.

    `similarities`, shape (M,), are those of the judged sentence with each sentence of the text.

    Examples
    --------
    >>> nearest_evidence(np.array([0.25, 0.75, 0.5]), k=2)
    [Evidence(index=1, similarity=0.75), Evidence(index=2, similarity=0.5)]
    """
    order = np.argsort(-similarities, kind="stable")[: None if k is None else require_count(k, "k")]
    return [Evidence(place, float(similarities[place])) for place in order.tolist()]


def failure(error: Exception, threshold: float) -> Verdict:
    """The verdict on a sentence that could not be judged, with the reason."""
    return Verdict(probability=None, threshold=threshold, failed=True, reason=f"{type(error).__name__}: {error}")


def of_samples(verdicts: Sequence[Verdict], threshold: float) -> Verdict:
    """The verdict that samples give together: their share that is supported, the first failure, or all unclear."""
    for verdict in verdicts:
        if verdict.failed:
            return replace(verdict, threshold=threshold)
    against = [verdict.findings for verdict in verdicts if not verdict.supported]
    count, n = len(verdicts) - len(against), len(verdicts)
    if all(verdict.hard == "unclear" for verdict in verdicts):
        return replace(verdicts[0], threshold=threshold)
    return Verdict(
        probability=count / n,
        threshold=threshold,
        findings=against[0] if against else (),
        details={"samples": n, "note": f"supported in {count} of {n} samples"},
    )


@cache
def stem_counts() -> tuple[int, dict[str, int]]:
    """How many articles were counted, and in how many each stem occurs."""
    first, *lines = read_asset("stem_counts.tsv.gz").decode("utf-8").splitlines()
    pairs = (line.split("\t") for line in lines)
    return int(first), {stem: int(count) for stem, count in pairs}


@cache
def fitted_words() -> JsonDict:
    """The words checker's fitted mixture: weights, intercept, and the embedder that it was fitted with."""
    return json.loads(read_asset("checker.json"))


@cache
def how_well() -> JsonDict:
    """Return what `benchmarks/how_well.py` measured: the `checkers`, and `rows`, one a checker and labelled set."""
    return json.loads(read_asset("how_well.json"))


def measured_rows(signature: Mapping[str, str]) -> list[JsonDict]:
    """The rows for exactly the checker, its version and threshold, that a signature names, as people read them."""
    found = [
        name
        for name, record in how_well()["checkers"].items()
        if re.fullmatch(f"{re.escape(record['fingerprint'])}(-[a-z0-9]+)*", signature.get("checker", ""))
        and signature.get("threshold") == str(record["threshold"])
    ]
    return [shown_row(row) for row in how_well()["rows"] if row["checker"] in found]


def left_out_rows(checker: str, sets: Iterable[str] | None = None) -> list[JsonDict]:
    """The rows of a packaged checker for sets by their keys, or all, by a version that had not seen them."""
    chosen = None if sets is None else set(sets)
    rows = [row for row in how_well()["rows"] if row["checker"] == checker]
    return [shown_row(row) for row in rows if chosen is None or row["key"] in chosen]


_SHARES = {
    "auc": "AUC",
    "false_found": "false: not supported",
    "true_passed": "true: supported",
    "precision": "supported: true",
}


def shown_row(row: JsonDict) -> JsonDict:
    """A row as people read it: shares with two digits, and their 95 % intervals."""

    def share(name: str) -> str:
        return "" if row[name] is None else f"{row[name]:.2f}".removeprefix("0")

    shown: JsonDict = {"set": f"{row['set']} ({row['judged']})", "false items": f"{row['n_false']} of {row['n']}"}
    for name, title in _SHARES.items():
        low, high = share(f"{name}_low"), share(f"{name}_high")
        shown[title] = (share(name) or "undefined") + (f" [{low}, {high}]" if low else "")
    return shown | {"unclear": share("unclear")}


def article_mark(text: str) -> bytes:
    """Four bytes that stand for an article, the same however it is spaced, capitalised or cut at its end."""
    return hashlib.sha256(re.sub(r"\W+", "", text.lower())[:200].encode("utf-8", "surrogatepass")).digest()[:4]


def seen_articles(articles: Iterable[str], sets: Iterable[str]) -> dict[str, int]:
    """How many of these distinct articles each of some labelled sets holds; sets without one are left out."""
    marks, counts = {article_mark(text) for text in articles}, {}
    for name in sets:
        packed = base64.b64decode(how_well()["articles"].get(name, ""))
        counts[name] = len(marks.intersection(packed[i : i + 4] for i in range(0, len(packed), 4)))
    return {name: n for name, n in counts.items() if n}


def warn_of_inputs(texts: Sequence[str], summaries: Sequence[str]) -> None:
    """Warn, once for each kind, of paths that were passed as texts and of summaries much longer than their articles."""
    warn_of_paths([*texts, *summaries])
    remedy = "the article comes first, evaluate(article, summary)"
    warn_of_order([(len(text.strip()), len(own)) for text, own in zip(texts, summaries, strict=True)], remedy=remedy)


_PATH = re.compile(
    r"[^\n\r\t<>|?*\"]{1,250}\.(?:txt|text|md|markdown|rst|html?|json|jsonl|csv|tsv|xml|pdf|docx?|gz)", re.I
)


def warn_of_paths(texts: Sequence[str]) -> None:
    """Warn, once, of paths that were passed as texts."""
    if paths := [text for text in texts if len(text) < 256 and _looks_like_path(text)]:
        others = f" and {len(paths) - 1} more look" if len(paths) > 1 else " looks"
        warnings.warn(
            f"{paths[0]!r}{others} like a path, and the path itself is judged, not the file: "
            "pass the text, as in Path(...).read_text(encoding='utf-8')",
            InputWarning,
            stacklevel=callers_level(),
        )


def _looks_like_path(text: str) -> bool:
    if text.count(" ") > 3 or "\0" in text:
        return False
    return bool(_PATH.fullmatch(text.strip())) or (bool(re.search(r"[/\\]", text)) and os.path.isfile(text))


def unread_reasons(article: str, sentences: Sequence[str], checker: object, lang: str | None) -> list[str]:
    """Return for each summary sentence why the checker cannot read it or the article, or an empty string.

    A checker says in `languages` which codes it reads; without, or with None, it is trusted with any; one that asks an
    `inner` checker reads what that one reads. `lang`, where the caller gave it, is believed; otherwise a text must
    clearly be in another language. A sentence that is too short to tell counts as what all such sentences are together,
    with an article that does not tell either; texts that still tell nothing are in another language if English has few
    of their words, or if no small word of them is English and all sentences that do tell are in another one. Beside an
    English article a sentence of a few words is in another language if its words in lower case are. A sentence in a
    language that is read may hold words in a script that is not: where the article has not the same ones, nobody has
    read what they say.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> reader = SimpleNamespace(languages=("en",))
    >>> unread_reasons("It rained.", ["Rain fell."], reader, "de")[0].partition(":")[0]
    'the text is in German, and this checker reads English'
    """
    languages = languages_of(checker)
    if languages is None:
        return [""] * len(sentences)
    read = {language.partition("-")[0] for language in languages}
    if lang is not None:
        code = require_text(lang, "lang").partition("-")[0]
        return ["" if code in read else _unread("the text", code, languages)] * len(sentences)
    if (found := foreign_language(article[:4000], languages)) is not None:
        return [_unread("the article", found, languages)] * len(sentences)
    own = [language_of(checked[:4000]) or foreign_language(checked[:4000], languages) for checked in sentences]
    said = frozenset(_SHORT_WORDS.findall(article.lower())) if None in own and read == {"en"} else frozenset()
    if _mostly_english(said) and language_of(article[:4000]) in (None, "en"):
        own = [code or _few_words(sentence[:400], said) for sentence, code in zip(sentences, own, strict=True)]
    short = " ".join(sentence for sentence, code in zip(sentences, own, strict=True) if code is None)[:4000]
    unsure = short and language_of(article[:4000]) is None
    together = f"{article[:4000]} {short}" * bool(unsure)
    general = foreign_language(short, languages) or foreign_language(together, languages)
    if general is None and read == {"en"}:
        general = OTHER if _not_english(together, alone=False) or _not_english(short, alone=True) else None
    told = [language for language in own if language is not None]
    if general is None and read == {"en"} and told and "en" not in told and _not_english(short, alone=False):
        general = foreign_language(" ".join(sentences)[:4000], languages)
    found_in = [code or general for code in own]
    reasons = ["" if code is None or code in read else _unread("the sentence", code, languages) for code in found_in]
    for place, sentence in enumerate(sentences):
        words = [] if reasons[place] else unread_words(sentence, languages)
        if lost := sorted(set(words).difference(unread_words(article, languages) if words else ())):
            what = f"the sentence says {lost[0]!r:.60}, which the article does not, in a script"
            reasons[place] = f"{what} that this checker for {_own(languages)} does not read: {_REMEDY}"
    return reasons


_LOWER_CASE = re.compile(r"(?<![^\W\d_])(?<!['’])[a-z\u00df-\u00f6\u00f8-\u024f\u1e00-\u1eff]{2,}(?![^\W_])")
_ENGLISH_TOO = frozenset(  # words of English among the small words of others
    """like one end die care car august falls war met premier son non door sea grand store pro sam sex dog van era plus
    bin hat petite mine ham dig dock bare pour vet sue tag mars solo heel till fare ins sin stare tales hem mod ore hen
    quest inn ton reeds antes ante vain sob logo deed soy hay per via anti fast""".split()
)
_SHORT_WORDS = re.compile(r"(?<!['’])[^\W\d_]+|(?<=['’])[^\W\d_]{2,}")
_REMEDY = "use a checker that does, such as judge='nli:FOLDER' or 'llm:FOLDER'"


def _not_english(text: str, *, alone: bool) -> bool:
    """Whether a text that no language was found for is not English either, by its words in lower case, names aside.

    At most half of three or more words occur in English news (of six where a summary is judged `alone`, its article
    being English; of eight where a small word is English only). Or two words or more, and no small one that is English
    only, but another language's or letters that English has not, or all of them unknown. Measured on 31,686 English
    sentences and fragments of news and science: 4,110 are too short for `language_of`, and 60 of these are taken for
    another language, some of them rightly; an article with its summary is longer.
    """
    words = _LOWER_CASE.findall(without_particles(text)) if text else []
    if len(words) < (6 if alone else 2):
        return False
    spoken = {word: frozenset[str]() if word in _ENGLISH_TOO else languages_of_word(word) for word in words}
    _, counts = stem_counts()
    known = {
        word: "en" in codes or (not codes and word.isascii() and counts.get(stem(word), 0) > 1)
        for word, codes in spoken.items()
    }
    english = any(languages_of_word(word) == {"en"} for word in re.findall(r"[a-z]+", text.lower()))
    if len(words) > (7 if english else 2) and 2 * sum(known[word] for word in words) <= len(words):
        return True
    if alone or len(spoken) < 2:
        return False
    foreign = any(not known[word] and (codes or not word.isascii()) for word, codes in spoken.items())
    return not english and (foreign or not any(known.values()))


_KNOWN = 20  # times that a small word of another language stands in English news, from which on it says nothing
_WEIGHTS = {"english": -3.0, "foreign": 2.0, "unknown": 1.5}  # of a word, beside the log of a ratio of probabilities
_FOREIGN = 3.0  # from this sum on


def _mostly_english(words: Collection[str]) -> bool:
    """Whether more of a text's small words are English only than are those of other languages only."""
    codes = list(map(languages_of_word, set(words) - _ENGLISH_TOO))
    return codes.count(frozenset({"en"})) > len([some for some in codes if some and "en" not in some])


def _few_words(sentence: str, told: frozenset[str]) -> str | None:
    """Return the language of a sentence too short for `language_of`, `told` being the words of an English article.

    What is asked is not which language it is, but whether its words in lower case are English: words of the article,
    of English news, and small words of English only. Words in lower case that are none of these, small words of other
    languages and letters that English has not speak against it, and py3langid's ratio weighs in. Names say nothing:
    None where nothing else stands there, as in a headline or a table's row, or where the two sides come too close.
    """
    words = _SHORT_WORDS.findall(without_particles(sentence))
    kinds = [_kind_of(word, told) for word in words]
    strange = [word for word, kind in zip(words, kinds, strict=True) if kind in ("foreign", "unknown")]
    if not strange:
        return "en" if "english" in kinds else None
    if len(words) < 3 and "foreign" not in kinds:
        return None
    if not any(word.islower() for word in strange):
        return None
    if not any(map(_speaks_other, words)) and any(word.lower() in _HOLDS for word in words):
        return "en"  # names of dishes that English holds together
    likely = likely_languages(sentence)
    english = likely.pop("en", 0.0)
    best = max(likely, key=lambda code: likely[code])
    ratio = log(max(likely[best], 1e-6) / max(english, 1e-6))
    weighed = ratio + sum(_WEIGHTS.get(kind, 0.0) for kind in kinds)
    if ratio <= 0 or weighed < _FOREIGN:
        return None
    return best if likely[best] > 0.5 else OTHER


_HOLDS = frozenset("and with the from served topped".split())  # of English


def _speaks_other(word: str) -> bool:
    """Whether a word is a small one of another language, and not of English."""
    codes = languages_of_word(word.lower())
    return bool(codes) and "en" not in codes and word.lower() not in _ENGLISH_TOO


def _kind_of(word: str, told: frozenset[str]) -> str:
    """Return whether a word speaks for English, against it, is not known, or says nothing, as names do."""
    low = word.lower()
    codes = languages_of_word(low)
    _, counts = stem_counts()
    seen = counts.get(stem(low), 0) if low.isascii() else 0
    if codes:
        if codes == {"en"}:
            return "english"
        return "foreign" if "en" not in codes and seen < _KNOWN and low not in _ENGLISH_TOO else ""
    if not word.islower() or len(word) < 2:
        return ""
    if low in told or seen > 1:
        return "english"
    return "unknown" if low.isascii() else "foreign"


def _own(languages: Sequence[str]) -> str:
    return " and ".join(map(language_name, languages)) or "no language"


def _unread(what: str, code: str, languages: Sequence[str]) -> str:
    said = f"{what} is in {language_name(code)}, and this checker reads {_own(languages)}"
    if not languages:
        return said
    return f"{said}: {_REMEDY}, or say lang={languages[0]!r} if it is {language_name(languages[0])}"
