"""A sentence taken apart: its tokens in any usual typography, its names, and what is found by comparing with others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from summeval_nb.core.files import read_asset
from summeval_nb.core.results import Finding

if TYPE_CHECKING:
    from nltk.stem.snowball import SnowballStemmer

_FUNCTION = """
    a an the this that these those some any each every both either all such other
    another same i me my mine we us our ours you your yours he him his she her hers
    it its they them their theirs one ones myself yourself himself herself itself
    ourselves themselves who whom whose which what where when why how am is are was
    were be been being do does did doing done have has had having will would shall
    should can could may might must ca wo ain and or but so yet if then than as
    because while until although though since whether of in on at by for with about
    against between into through during before after above below to from up down out
    off over under again further once upon within across along among around behind
    beside besides beyond near onto toward towards via per there here also just only
    very too more most much many few less own even still now s t d m re ve ll
"""
_FUNCTION_WORDS = frozenset(_FUNCTION.split())
_INITIALS = frozenset(("us", "who", "it"))  # names where they have capitals: the U.S., the WHO
_NEGATIONS = frozenset("not no n't never none nobody nothing neither nor without cannot".split())
_SMALL = "two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_SMALL += " fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_SMALL.split(), 2)}
_NUMBER_WORDS |= {word: str(10 * number) for number, word in enumerate(_TENS.split(), 2)}
_TENS_WORD, _ONES_WORD = (rf"(?:{'|'.join(words.split())})" for words in (_TENS, "one " + _SMALL))
_BELOW_100 = rf"(?:{_TENS_WORD}(?:[-\u2010\u2011\ ]{_ONES_WORD})?|{_ONES_WORD})\b"
_BELOW_1000 = rf"(?:(?:a\b|{_BELOW_100})\ hundred\b(?:(?:\ and)?\ {_BELOW_100})?|{_BELOW_100})"
_COMPOUND = re.compile(  # "four thousand two hundred and fifty", "a hundred", "thirty-two"
    rf"\b(?:(?P<thousands>a\b|{_BELOW_1000})\ thousand\b(?:(?:\ and)?\ (?P<rest>{_BELOW_1000}))?|{_BELOW_1000})",
    re.IGNORECASE | re.VERBOSE,
)
_UNITS = {"m": "million", "bn": "billion", "k": "thousand"}
_ORDINALS = {"1st": "first", "2nd": "second", "3rd": "third", "4th": "fourth", "5th": "fifth", "6th": "sixth"}

_SIGNS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(
    rf"""(?P<skip> -[lr][rsc]b- | \[unk\] | \\?['’`](?:s|re|ve|ll|d|m)\b )
      | (?P<initials> (?:[a-z]\.){{2,}} )
      | (?P<negation> n\\?['’`]t\b )
      | (?P<number> \d{{1,3}}(?:,\ ?\d{{3}})+(?!\d)(?:\.\ ?\d+)?
          | \d+\.\ \d{{1,2}}(?![\d.]) | \d+(?:[.,:]\d+)* )
        (?P<suffix> \ ?(?:st|nd|rd|th|m|bn|k)\b )?
      | (?P<sign> [{_SIGNS}] )
      | (?P<word> [^\W\d_{_SIGNS}]+?(?=n\\?['’`]t\b) | [^\W\d_{_SIGNS}]+ )""",
    re.IGNORECASE | re.VERBOSE,
)


class Token(NamedTuple):
    """A token `sentence[start:end]`: a key for comparison, and "content", "function", "negation" or "number"."""

    key: str
    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """A sentence taken apart once: what the features of the words checker ask for."""

    text: str
    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    content: tuple[str, ...]
    key_set: frozenset[str]
    content_set: frozenset[str]
    content_pairs: tuple[tuple[str, str], ...]
    pair_set: frozenset[tuple[str, str]]
    positions: Mapping[tuple[str, ...], tuple[int, ...]]
    names: tuple[Token, ...]


def token_matches(sentence: str) -> Iterator[re.Match[str]]:
    """Find tokens, each with the group that names its kind: number, word, negation, or something to skip."""
    return _TOKEN.finditer(sentence)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The Snowball (Porter 2) stem of a lower-case word."""
    return _stemmer().stem(word)


@cache
def _stemmer() -> SnowballStemmer:
    from nltk.stem.snowball import SnowballStemmer

    return SnowballStemmer("english")


def plain_number(text: str) -> str:
    """Digits without separators, spaces and idle zeros: 1, 500.0 is 1500."""
    plain = re.sub(r",(?=\d{3}(?!\d))", "", text.replace(" ", ""))
    return re.sub(r"\.0+$", "", plain)


def number_tokens(match: re.Match[str]) -> Iterator[Token]:
    """A number, and the unit glued to it as a word of its own: 1.5m is 1.5 and million."""
    suffix = (match["suffix"] or "").strip().lower()
    if match["number"] + suffix in _ORDINALS:
        yield Token(stem(_ORDINALS[match["number"] + suffix]), "content", *match.span())
        return
    yield Token(plain_number(match["number"]), "number", *match.span("number"))
    if suffix in _UNITS:
        yield Token(stem(_UNITS[suffix]), "content", match.end() - len(suffix), match.end())


def _below_1000(words: str) -> int:
    """The number that words say: *four hundred and thirty-two* is 432, *a* is 1, no words are 0."""
    hundreds, found, rest = words.lower().rpartition("hundred")
    number = sum(int(_NUMBER_WORDS.get(word, word in ("a", "one"))) for word in re.findall("[a-z]+", rest))
    return 100 * _below_1000(hundreds) + number if found else number


def compound_numbers(sentence: str) -> dict[int, Token]:
    """Numbers that several words say, by where they start: *Thirty-two*, *four hundred and fifty*, *a thousand*."""
    found = {}
    for match in _COMPOUND.finditer(sentence):
        if not match[0].isalpha():  # one word alone is not compound
            thousands, rest = match["thousands"] or "", match["rest"] or ""
            number = 1000 * _below_1000(thousands) + _below_1000(rest if thousands else match[0])
            found[match.start()] = Token(str(number), "number", *match.span())
    return found


def word_token(match: re.Match[str]) -> Token:
    """The token of a word: its kind from the lists above, its key in lower case and, for content, its stem."""
    word = "n't" if match["negation"] else match[0].lower().replace(".", "")
    if word in _NUMBER_WORDS:
        return Token(_NUMBER_WORDS[word], "number", *match.span())
    if word in _NEGATIONS:
        return Token(word, "negation", *match.span())
    if word in _FUNCTION_WORDS and not (word in _INITIALS and _in_capitals(match)):
        return Token(word, "function", *match.span())
    return Token(stem(word), "content", *match.span())


def _in_capitals(match: re.Match[str]) -> bool:
    """Return whether a word has capitals only, in a sentence that has not."""
    return match[0].isupper() and not match.string.isupper()


def parts_of(sentence: str, tokens: Sequence[Token]) -> Parts:
    """Return the parts of a sentence with these tokens that are compared."""
    keys = tuple(token.key for token in tokens)
    content = tuple(token.key for token in tokens if token.kind in ("content", "number"))
    pairs = tuple(zip(content, content[1:], strict=False))
    positions: dict[tuple[str, ...], list[int]] = {}
    for place, pair in enumerate(zip(keys, keys[1:], strict=False)):
        positions.setdefault(pair, []).append(place)
    return Parts(
        text=sentence,
        tokens=tuple(tokens),
        keys=keys,
        content=content,
        key_set=frozenset(keys),
        content_set=frozenset(content),
        content_pairs=pairs,
        pair_set=frozenset(pairs),
        positions={pair: tuple(places[:32]) for pair, places in positions.items()},
        names=_names(sentence, tokens),
    )


def sentence_tokens(sentence: str) -> list[Token]:
    """Return the tokens of an English sentence; keys are stems, plain numbers, and one form for each contraction.

    >>> [token.key for token in sentence_tokens("He didn't pay 1,500 fees.")]
    ['he', 'did', "n't", 'pay', '1500', 'fee']
    """
    tokens: list[Token] = []
    compounds = compound_numbers(sentence)
    for match in token_matches(sentence):
        if match.start() in compounds:
            tokens.append(compounds[match.start()])
        elif tokens and match.start() < tokens[-1].end:  # inside a number of several words
            continue
        elif match["number"]:
            tokens.extend(number_tokens(match))
        elif not match["skip"]:
            tokens.append(word_token(match))
    return tokens


@lru_cache(maxsize=1 << 14)
def kept_parts(sentence: str) -> Parts:
    """The parts of a sentence, taken apart once."""
    return parts_of(sentence, sentence_tokens(sentence))


def take_apart(sentence: str) -> Parts:
    """Return the parts of a sentence, which are kept for up to 16,384 sentences of at most 2,000 characters."""
    if len(sentence) <= 2000:
        return kept_parts(sentence)
    return parts_of(sentence, sentence_tokens(sentence))


def _names(sentence: str, tokens: Sequence[Token]) -> tuple[Token, ...]:
    """The capitalised content words that no opening of a sentence explains."""
    capital = [token.kind == "content" and sentence[token.start].isupper() for token in tokens]
    if sum(capital) > 0.7 * len(tokens) and len(tokens) > 3:
        return ()
    opened = capital[1:2] == [True]
    return tuple(token for place, token in enumerate(tokens) if capital[place] and (place > 0 or opened))


def known_keys(evidence: Iterable[Parts]) -> frozenset[str]:
    """The keys of all words that some sentence holds."""
    return frozenset().union(*[sentence.key_set for sentence in evidence])


def common_run(keys: Sequence[str], start: int, other: Sequence[str], place: int) -> int:
    """How many tokens agree from `start` and `place` on; the first two do."""
    length, limit = 2, min(len(keys) - start, len(other) - place)
    while length < limit and keys[start + length] == other[place + length]:
        length += 1
    return length


def finding(claim: Parts, kind: str, start: int, end: int) -> Finding:
    """A finding on a stretch of the claim's text."""
    return Finding(kind, claim.text[start:end], start, end)


def negation_findings(claim: Parts, closest: Parts) -> list[Finding]:
    """At most one finding: a negation in the claim, or between the closest sentence's shared words, not in both."""
    own = next((token for token in claim.tokens if token.kind == "negation"), None)
    if own is not None:
        denied = any(token.kind == "negation" for token in closest.tokens)
        return [] if denied else [finding(claim, "negation", own.start, own.end)]
    shared = [place for place, key in enumerate(closest.keys) if key in claim.content_set]
    if not any(token.kind == "negation" for token in closest.tokens[shared[0] : shared[-1]]):
        return []
    matched = [token for token in claim.tokens if token.key in closest.key_set]
    return [finding(claim, "negation", matched[0].start, matched[-1].end)]


@cache
def antonyms() -> dict[str, frozenset[str]]:
    """Return for each word, in lower case, the words that exclude it in the same place of a sentence."""
    text = read_asset("antonyms.txt").decode("utf-8")
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        left, _, right = line.partition("|")
        for word in left.split():
            for other in right.split():
                if word != other:
                    found.setdefault(word, set()).add(other)
                    found.setdefault(other, set()).add(word)
    return {word: frozenset(others) for word, others in found.items()}
