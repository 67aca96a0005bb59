"""What stands around the words of a summary or an answer: marks of citation, and what a chat model wraps them in.

Neither says anything of the subject. Both are told by their form alone, in time linear in the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Mark", "citation_marks", "cut_out", "disjoint", "kept_pieces", "reasoning_spans", "wrappers"]


class Mark(NamedTuple):
    """A citation mark: its span in the text, and the labels that it names, ranges written out."""

    start: int
    end: int
    labels: tuple[str, ...]


# marks of citation: one expression finds what is bracketed or raised, and the functions below read what stands inside

_KIND = r"(?:sources?|src|docs?|documents?|passages?|refs?\.?|references?|contexts?|ctx|chunks?|snippets?|citations?)"
_AND = r"\s*(?:,\s*and\b|[,;&+]|and\b)\s*"
_NUMBERS = rf"\d{{1,3}}(?:(?:{_AND}|\s*[-–—]\s*)\d{{1,3}})*"
_URL = r"(?:https?://(?:[^\s()<>]|\([^\s()<>]{0,100}\)){1,2000}|\#[\w-]{1,100})"
_LINK = rf"\[\[?[^\[\]\n]{{1,80}}\]?\]\(<?{_URL}>?(?:\s\"[^\"\n]{{0,200}}\")?\)"
_LINK_PARTS = re.compile(rf"\[\[?([^\[\]\n]{{1,80}})\]?\]\(<?({_URL})")
_SEE = r"(?:(?:see(?: also)?|cf\.?|e\.g\.,?|also|from|per|via|as in)\s+)?"
_SAYS_SO = (
    r"(?:According\ to|Per|Based\ on|As\ (?:stated|noted|shown|reported|described|mentioned|explained"
    r"|seen)\ (?:in|by))"
)
_FOUND = re.compile(
    rf"""
    (?P<leading>\b{_SAYS_SO}\ (?:(?:the\ )?(?i:{_KIND})\ (?:{_NUMBERS})
      |\[(?:{_NUMBERS})\](?:,?\ ?\[{_NUMBERS}\]){{0,9}}),)
  | (?P<links>\(\s?(?i:{_SEE}){_LINK}(?:[\s,;]{{0,3}}{_LINK}){{0,9}}\s?\))
  | (?P<link>!?{_LINK})
  | \^?\[\[?(?P<square>[^\[\]\n]{{1,160}})\]?\]
  | \((?P<round>[^()\n]{{1,300}})\)
  | 【(?P<black>[^【】\n]{{1,80}})】
  | <sup>(?P<sup>[^<>\n]{{1,40}})</sup>
  | (?P<raised>[⁰¹²³⁴-⁹]{{1,3}}(?:[ ,˒⁻⁺–-]?[⁰¹²³⁴-⁹]{{1,3}}){{0,9}})
  | \ue200(?:cite|filecite)(?P<private>[\ue202\w]{{1,200}})\ue201
  | :contentReference\[oaicite:(?P<oai>\d{{1,3}})\](?:\{{index=\d{{1,3}}\}})?
    """,
    re.X,
)
_FLAT = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻˒", "0123456789-,")
_CLAUSE_ENDS = re.compile(r"\s*(?:[.,;:!?…)\]\[(【\n]|\Z)")
_INDEXED = re.compile(
    r"(?:(?:^|[^\w'’])[a-z]|_\w*|[=∈⊂]\s?|\b(?:interval|range|set|vector|array|list|tuple|index|indices)\s?)$"
)
_OPERATOR = re.compile(r"\s?[=<>*/^]")
_EXPONENT = re.compile(
    r"(?:(?:^|[^\w'’])(?:\w{1,2}|miles?|feet|foot|yards?|inch(?:es)?|\w{0,6}met(?:er|re)s?|sec|log|sin|cos|tan)|"
    r"(?<!\d)(?!(?:1[5-9]|20)\d\d$)\d{1,9}|\d[.,]\d{1,9}|[\^=+*/·×−)-])$"
)
_WORD_BRACKETED = re.compile(r"[^\W\d_]{3}\)$")
_THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")


def _numbers(text: str) -> tuple[str, ...]:
    """The numbers of a list such as "1, 3-5"; none where it is no list of labels."""
    if not re.fullmatch(_NUMBERS, text) or _THOUSANDS.search(text):
        return ()
    labels: list[str] = []
    for part in re.split(_AND, text):
        low, *rest = map(int, re.split(r"\s*[-–—]\s*", part))
        high = rest[0] if rest else low
        if len(rest) > 1 or high - low > 50 or (rest and high <= low):
            return ()
        labels += map(str, range(low, high + 1))
    return () if "0" in labels and len(labels) > 1 else tuple(dict.fromkeys(labels))


_CAPITAL = r"[A-Z\u00c0-\u00de\u0100-\u024f]"
_NAME = rf"(?:(?:van|von|de|der|den|di|da|del|la|le|el|al|bin|ten|ter)\s){{0,3}}{_CAPITAL}[\w'’.-]{{0,40}}"
_YEAR = r"(?:(?:1[5-9]|20)\d\d[a-z]?|n\.d\.|in press|forthcoming)"
_AUTHOR_YEAR = re.compile(
    rf"(?P<names>{_NAME}(?:\s(?:of\s|for\s|the\s)?{_NAME}){{0,5}}(?:(?:,\s|,?\s(?:&"
    rf"|and)\s){_NAME}(?:\s{_NAME}){{0,3}}){{0,6}}"
    rf"(?:,?\set\sal\.?)?),?\s(?P<years>{_YEAR}(?:,\s?{_YEAR}){{0,4}})(?:[,:]\s?(?:pp?\.\s?)?\d{{1,4}}(?:[-–]\d{{1,4}})?)?"
)
_NAME_YEAR = re.compile(rf"{_NAME},?\s{_YEAR}")
_DATED = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb"
    r"|Mar|Apr|Jun|Jul"
    r"|Aug|Sept?|Oct|Nov|Dec|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Spring|Summer|Autumn|Fall|Winter|Early"
    r"|Late|Mid|In|On|At|By|Since|Until|From"
    r"|Before|After"
    r"|During|Born|Died|Circa|Act|Treaty|Olympics?|Games|Cup|Expo|Euro|Windows|Season|Election"
    r"|Championships?|Q[1-4])\b"
)


_SPOKEN = re.compile(r"[\w'’]+")


def _author_years(text: str, spoken: frozenset[str]) -> tuple[str, ...]:
    """Labels such as "Smith 2020"; none where a part is no author with a year, or its name is spoken of."""
    labels: list[str] = []
    for part in re.split(r";\s*", text):
        found = _AUTHOR_YEAR.fullmatch(re.sub(rf"^{_SEE}", "", part, flags=re.I))
        if not found or _DATED.search(found["names"]):
            return ()
        if "et al" not in found["names"] and spoken.issuperset(_SPOKEN.findall(found["names"].split(",")[0])):
            return ()
        names = re.sub(r"[\s,]+(?=et\b)|\s+", " ", found["names"])
        labels += [f"{names} {year}" for year in re.split(r",\s?", found["years"])]
    return tuple(dict.fromkeys(labels))


_KIND_NUMBERS = re.compile(rf"(?:{_KIND})(?:\s(?:no\.?|number))?[\s:#.]{{1,3}}({_NUMBERS})", re.I)
_KIND_ID = re.compile(rf"(?:{_KIND}|web|file)[-_:]?\d{{1,4}}", re.I)
_NAMED_SOURCE = re.compile(r"sources?\s?:\s?(?P<rest>\S.{0,80})", re.I)
_KEY = re.compile(rf"{_CAPITAL}?[a-z]{{2,20}}(?:19|20)\d\d[a-z]?")
_SHORT_KEY = re.compile(rf"{_CAPITAL}(?:[a-z]{{2,20}}|[A-Z]{{1,4}}\+?)\d\d[a-z]?")  # [Smith20], [KLM+19]
_PAGES = r"(?:pp?\.\s?\d{1,4}(?:\s?[-–]\s?\d{1,4})?)"
_PAGE = re.compile(_PAGES, re.I)
_PAGED = re.compile(rf"(?P<label>\S[^\n]{{0,80}}?),\s?{_PAGES}", re.I)
_ARTICLE = re.compile(r"(?:articles?|art\.|texts?) (\d{1,2})", re.I)
_LEGAL = re.compile(
    r"\b(?:laws?|legal|treat(?:y|ies)|constitution\w*|conventions?|charter|codes?|acts?|bills?|rules?|regulations?"
    r"|directives?|statutes?|rights?|NATO|UN|EU|contracts?|agreements?|courts?|paragraphs?|sections?)\b",
    re.I,
)
_NO_SOURCE = re.compile(  # where a source is asked for, or not named
    rf"(?:citation|source|reference|clarification|attribution|verification)s? needed|{_KIND}\s?\??|citation|link"
    r"|(?:who|when|where|which)\?|\?|n\.\s?d\.|ibid\.?|op\. cit\.",
    re.I,
)
_DOMAIN = re.compile(r"(?:www\.)?[\w-]{1,40}(?:\.[\w-]{2,20}){1,3}")


def _read(text: str, spoken: frozenset[str]) -> tuple[str, ...]:
    """The labels in brackets of any form; none where the words are no mark."""
    text = re.sub(rf"^{_SEE}", "", text.strip(), flags=re.I)
    if _PAGE.fullmatch(text):
        return (text,)
    if (found := _PAGED.fullmatch(text)) and (labels := _numbers(found["label"]) or _read(found["label"], spoken)):
        return labels
    if found := _KIND_NUMBERS.fullmatch(text):
        return _numbers(found[1])
    parts = re.split(_AND, text)
    if all(map(_KIND_ID.fullmatch, parts)):
        return tuple(dict.fromkeys(parts))
    if len(parts) > 1 and all(map(_KIND_NUMBERS.fullmatch, parts)):
        return tuple(dict.fromkeys(label for part in parts for label in _read(part, spoken)))
    if re.fullmatch(rf"(?:\[[^\[\]]{{1,40}}\](?:{_AND}|\s*))+", text):
        return tuple(label for inner in re.findall(r"\[([^\[\]]+)\]", text) for label in _numbers(inner.strip()))
    if re.fullmatch(_URL, text) or _KEY.fullmatch(text):
        return (text,)
    if found := re.fullmatch(r"(\d{1,3}(?::\d{1,3})?)†.*", text):
        return (found[1],)
    if found := _NAMED_SOURCE.fullmatch(text):
        rest = found["rest"].strip()
        return _numbers(rest) or _read(rest, spoken) or (rest,)
    return _author_years(text, spoken)


def _square_labels(text: str, start: int, end: int, inner: str, spoken: frozenset[str]) -> tuple[str, ...]:
    inner, before = inner.strip(), text[max(0, start - 20) : start]
    if found := re.fullmatch(r"\^([\w-]{1,30})", inner):
        return (found[1],)
    if labels := _numbers(re.sub(rf"^{_SEE}", "", inner, flags=re.I)):
        glued = before[-1:].isalnum() and _OPERATOR.match(text, end)
        return () if glued or _INDEXED.search(before) else labels
    if re.fullmatch(r"notes? \d{1,3}|nb \d{1,3}|[DPRS]\d{1,3}", inner, re.I):
        return (inner,) if _CLAUSE_ENDS.match(text, end) else ()
    if _SHORT_KEY.fullmatch(inner):
        return () if inner in spoken else (inner,)
    if re.fullmatch(r"[a-z]", inner):
        return (inner,) if before[-1:] and before[-1:] in '.,;:!?"”' else ()
    return _read(inner, spoken)


def _is_article(text: str, start: int, end: int, inner: str, spoken: frozenset[str]) -> str:
    """The number of an article that ends a clause, unless laws or the other text speak of articles by number."""
    found = _ARTICLE.match(inner.strip())
    whole = found and (found.end() == len(inner.strip()) or _PAGED.fullmatch(inner.strip()))
    told = not whole or {"Article", "Articles", "Art"} & spoken or not _CLAUSE_ENDS.match(text, end)
    return "" if told or not found or _LEGAL.search(text, max(0, start - 200), start) else found[1]


_LONE_NUMBER = re.compile(r"\((\d{1,3})\)(\s*[.,;])?")


def _counts_from_one(text: str) -> bool:
    """Whether the numbers that stand alone in brackets end clauses and count from 1 on, as those of sources do."""
    found = _LONE_NUMBER.findall(text)
    numbers = {int(number) for number, _ in found}
    return all(end for _, end in found) and numbers == set(range(1, len(numbers) + 1))


def _round_labels(
    text: str, start: int, end: int, inner: str, spoken: frozenset[str], counted: bool
) -> tuple[str, ...]:
    if labels := _numbers(inner.strip()):
        # "Ben (9)" is an age and "(3-1)" a result
        if counted and _LONE_NUMBER.fullmatch(text, start, end):
            return labels
        behind = re.search(r"[.!?][\"”’]?\s$", text[max(0, start - 3) : start])
        listed = len(labels) > 1 and not re.search(r"[-–—]", inner)
        return labels if (behind or listed) and re.compile(r"\s*(?:[.;\n]|\Z)").match(text, end) else ()
    if _NAME_YEAR.fullmatch(inner.strip()) and not _CLAUSE_ENDS.match(text, end):  # the bridge (Derby, 1899) fell
        return ()
    return _read(inner, spoken)


def _raised_labels(text: str, start: int, end: int, inner: str) -> tuple[str, ...]:
    before = text[max(0, start - 20) : start]
    bracketed = before.endswith(")") and _WORD_BRACKETED.search(before)
    if (
        not before.strip()
        or (inner == text[start:end] and before[-1].isspace())
        or (_EXPONENT.search(before) and not bracketed)
    ):
        return ()
    if text[end : end + 1] in tuple("⁺⁻⁄/°") or text[end : end + 1].isalnum():
        return ()
    return _numbers(inner.translate(_FLAT).strip("[] "))


def _link_labels(text: str, alone: bool) -> tuple[str, ...]:
    if text.startswith("!"):  # a picture
        return ()
    labels: list[str] = []
    for words, url in _LINK_PARTS.findall(text):
        words = words.strip(" ^")
        own = _numbers(words) or _read(words, frozenset())
        if not own and (not alone or re.fullmatch(rf"{_KIND}|link|cite|here", words, re.I)):
            own = (url if re.fullmatch(rf"{_KIND}|link|cite|here", words, re.I) else words,)
        elif not own and _DOMAIN.fullmatch(words):
            own = (words,)
        if not own:
            return ()
        labels += own
    return tuple(dict.fromkeys(labels))


def _labels(found: re.Match[str], spoken: frozenset[str], counted: bool) -> tuple[str, ...]:
    """The labels of what looks like a mark; none where it is part of what the text says."""
    text, kind, (start, end) = found.string, found.lastgroup or "", found.span()
    inner = found[kind]
    if kind == "leading":
        return tuple(label for part in re.findall(_NUMBERS, inner) for label in _numbers(part))
    if kind in ("links", "link"):
        return _link_labels(inner, kind == "link")
    if kind in ("square", "round") and spoken and (number := _is_article(text, start, end, inner, spoken)):
        return (number,)
    if kind == "square":
        return _square_labels(text, start, end, inner, spoken)
    if kind == "round":
        return _round_labels(text, start, end, inner, spoken, counted)
    if kind == "black":
        return _numbers(inner.strip()) or _read(inner, spoken)
    if kind in ("sup", "raised"):
        return _raised_labels(text, start, end, inner)
    return tuple(part for part in re.split("\ue202", inner) if part)


_BETWEEN = re.compile(r"[ \t]{0,3}(?:[,;&]|and)?[ \t]{0,3}")
_TO = re.compile(r"\s?[-–—]\s?")


def _names_no_source(found: re.Match[str]) -> bool:
    """Whether a source is asked for or not named; "(source)" in round brackets is a word of the text."""
    inner = found[found.lastgroup or 0]
    bare = found.lastgroup == "round" and inner.replace(" ", "").isalpha() and "needed" not in inner
    return not bare and _NO_SOURCE.fullmatch(inner) is not None


def citation_marks(text: str, *, like: str = "") -> list[Mark]:
    """Return the marks of citation, in their order; neighbours such as "[1], [2]" are one.

    Parameters
    ----------
    text : str
        A summary or an answer.
    like : str
        A text that speaks of the same: a year beside a name of that text, such as "(Paris, 1924)",
        is information and no mark.

    Returns
    -------
    list of Mark
        Numbers in brackets, raised or as links, `[doc-4]`, `(Source 1)`, `【1†source】`, authors with a year,
        addresses, `[p. 12]`. One that asks for a source, as `[citation needed]` does, has no label. White space
        before a mark is no part of it.

    Examples
    --------
    >>> citation_marks("Anna has two dogs [1, 3-4]. Ben has none (Roe et al., 2019).")
    [Mark(start=18, end=26, labels=('1', '3', '4')), Mark(start=41, end=59, labels=('Roe et al. 2019',))]
    """
    marks: list[Mark] = []
    position, counted, spoken = 0, _counts_from_one(text), frozenset(_SPOKEN.findall(like))
    while found := _FOUND.search(text, position):
        labels = _labels(found, spoken, counted)
        if not labels and found.lastgroup in ("square", "round") and _names_no_source(found):
            marks.append(Mark(found.start(), found.end(), ()))
            position = found.end()
            continue
        whole = labels or found.lastgroup in ("link", "raised", "sup")
        position = found.end() if whole else found.start() + 1
        if not labels:
            continue
        last = marks[-1] if marks else Mark(-9, -9, ())
        spread = _numbers(f"{last.labels[-1]}-{labels[0]}") if last.labels else ()
        if spread and _TO.fullmatch(text, last.end, found.start()):
            marks[-1] = Mark(last.start, found.end(), (*last.labels[:-1], *spread, *labels[1:]))
        elif last.labels and _BETWEEN.fullmatch(text, last.end, found.start()):
            marks[-1] = Mark(last.start, found.end(), tuple(dict.fromkeys(last.labels + labels)))
        else:
            marks.append(Mark(found.start(), found.end(), labels))
    return marks


def disjoint(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in their order, without those that lie in another or begin there."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found


def doubles_stop(text: str, place: int, before: int) -> bool:
    """Whether a full stop would come to stand beside another: at 3 p.m. [1]."""
    return text[place : place + 1] == "." != text[place + 1 : place + 2] and text[before - 1 : before] == "."


_CLINGS = re.compile(r"\s*[.,;:!?)\]]")


def kept_pieces(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what stands between spans, ordered and disjoint, without the blanks that a span leaves behind.

    Ends of lines stay, so that paragraphs and lists do, unless the text goes on with a sign such as a full stop.
    """
    pieces: list[tuple[int, int]] = []
    low = 0
    for start, end in [*spans, (len(text), len(text))]:
        high = start
        if low and (not pieces or text[pieces[-1][1] - 1] == "\n"):
            while low < high and text[low] in " \t":
                low += 1
        if high < len(text):
            blanks = " \t\r\n" if _CLINGS.match(text, end) else " \t"
            while low < high and text[high - 1] in blanks:
                high -= 1
        if low < high and pieces and doubles_stop(text, low, pieces[-1][1]):
            low += 1
        if low < high:
            pieces.append((low, high))
        low = end
    return pieces


def cut_out(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the text without these spans, ordered and disjoint, nor the blanks that they leave behind.

    Examples
    --------
    >>> cut_out("Anna has two dogs [1].", [(18, 21)])
    'Anna has two dogs.'
    """
    return "".join(text[start:end] for start, end in kept_pieces(text, spans))


# what a chat model wraps its text in

_TAG = r"think|thinking|thoughts?|reason|reasoning|scratchpad|reflection|analysis|inner_(?:monologue|thoughts?)"
_TAGS = re.compile(
    rf"<(?P<close>/)?(?P<name>{_TAG})\s?>|\[(?P<close2>/)?THINK\]|<\|(?P<edge>begin|end)_of_thought\|>"
    rf"|[◁](?P<close3>/)?think[▷]",
    re.I,
)
_SPEAKS_OF_TAG = re.compile(
    r"[`\"”’']|[ \t]+(?:is|was|are|were|tags?|elements?|tokens?|has|had|can|may|must|and|or|in|will"
    r"|should|to|for)\b"
)
_TEXT_FOLLOWS = re.compile(r"[ \t]*(?:\Z|\n|[^\W\d_a-z]|[\d\"“*#_<\[{-])")
_CONTROL = (
    r"(?:<\|start_header_id\|>\w{1,20}<\|end_header_id\|>|<[|｜][\w▁]{1,40}[|｜]>|</?s>|<(?:eos|bos|pad"
    r"|start_of_turn|end_of_turn)>|\[/?INST\]|<</?SYS>>)"
    r"(?:(?<=im_start\|>)assistant\b|(?<=start_of_turn>)model\b)?"
)
_CONTROLS = re.compile(rf"{_CONTROL}(?:\s{{0,9}}{_CONTROL}){{0,9}}")
_SAID_BY = r"said|says|saying|told|tells|asked|asks|added|adds|wrote|writes|replied|according|announced|warned"
_OF = (
    r"(?: (?:of|for|from|on|based on|about|in)\b(?:(?! (?:that|which|who|is|was|are|were|had"
    r"|has)\b)(?:[^.!?:\n\"“”]|\.(?!\s+(?-i:[A-Z])|\s*\Z|\n))){0,100})?"
    r"(?: (?:you (?:asked for|requested|wanted|need)|as requested|below|above|as follows))?"
)
_TEXT_KIND = (
    r"(?:summary|summaries|summari[sz]ation|overview|recap|gist|synopsis|abstract|tl;?dr|key (?:points"
    r"|takeaways|facts)"
    r"|main (?:points|ideas)|takeaways|highlights|bullet points|outline|digest|paraphrase|rewrite"
    r"|(?:re\w+|condens\w+|short\w*|simpl\w+|edited|polished|improved|updated|final|trimmed|translated|paraphrased"
    r"|concise|brief|compact|abridged|summari[sz]ed|new|plain\S*) (?:version|text|passage|account|wording"
    r"|paragraph)|(?:possible|suggested|short|brief|direct|final|concise) (?:answer"
    r"|response)|(?:the|my|your) (?:answer|response)(?! (?:of|by|from)\b))"
)
_SOME = r"(?:(?:a|an|the|your|my|some|one)\b )?(?:[\w-]+,? ){0,5}?"
_AMBLE = (
    r"(?:(?:okay|ok|alright|so|sure|certainly|of course|absolutely|well|as requested"
    r"|(?:based on|from|according to) (?:the|your|this) [^.!?:\n,]{1,60})(?:,|\s?[—–-])? ){0,2}"
)
_ANNOUNCED = (
    rf"{_AMBLE}(?:(?:here(?:'s|’s| is| are|'re|’re)|(?:below|what follows|the following) (?:is|are)"
    rf"|(?:here|below),? you(?:['’]ll| will| can| have)?(?: find| see)?|this is) {_SOME}{_TEXT_KIND}{_OF}"
    rf"|(?:the |a )?(?:\w+ )?{_TEXT_KIND}(?: of [^.!?:\n]{{1,60}})? (?:is|are) (?:as follows|below)"
    r"|here (?:it is|you go|you are|you have it|goes)"
    r"|here(?:'s|’s| is) (?:what|how) (?:the|this|your|that) (?:\w+ )?\w+ (?:says?|states?|reports?|reads?|puts? it"
    r"|tells? us|has to say)\b[^.!?:\n]{0,30}"
    r"|i(?:'ve|’ve| have|'ll|’ll| will|'d|’d)? (?:(?:now|also|just|gladly) )?(?:summari[sz]ed?|(?:condensed?"
    r"|shortened?) (?:(?:the|this|that|your) (?:\w+ )?(?:article|text|story|passage|report|document|summary)|it)"
    r"|(?:written|write|prepared?|created?)"
    r" (?:a|the|your) [^.!?:\n]{0,40}(?:summary|overview))\b[^.!?:\n]{0,80}"
    r"|to summari[sz]e|to sum up|in short|in summary|briefly|in brief|in a nutshell)"
)
# only with a colon
_LEADING = (
    r"(?:(?:the|this) (?:article|text|story|passage|report) (?:can|could|may) be summari[sz]ed\b[^.!?:\n]{0,60}"
    r"|(?:as an ai[^.!?:\n]{0,40}, )?i(?:'ve|’ve| have) summari[sz]ed\b[^.!?:\n]{0,60}"
    r"|in (?:one|two|three|four|five|a few|\d{1,3}) (?:short )?(?:sentences?|words?|lines|bullet points))"
)
_INTERJECTION = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|all right|got it|no (?:problem|worries)"
    r"|my pleasure|(?:sure|yes|okay|happy|glad),? (?:happy|glad|here) to(?: help| do so| oblige)?"
    r"|(?:great|perfect|excellent|wonderful)(?=!)|(?:great|good|excellent|interesting) question"
    r"|good (?:morning|afternoon|evening))"
)
_ADJECTIVES = (
    r"(?:(?:short|brief|concise|final|quick|executive|one-sentence|news|article"
    r"|generated|revised|your|the|my|best) ){0,3}"
)
_NAMED = (
    rf"(?:{_ADJECTIVES}(?:summary|answer|response|overview|abstract|synopsis|recap|gist|tl;?dr|summari[sz]ation"
    r"|key (?:points|takeaways|facts)|main (?:points|takeaways)|takeaways|highlights)"
    r"(?: of (?:the|this) (?:article|text|passage|document|story|news|report))?(?:\s\([^()\n]{1,30}\))?|assistant)"
)
_LABEL = re.compile(
    rf"(?:\#{{1,6}} )?(?:(?P<deco>\*{{1,3}}|_{{1,2}}){_NAMED}(?:\s?[:：](?P=deco)|(?P=deco)\s?[:：]"
    rf"|(?P=deco)(?=\s*\n))"
    rf"|[\[【]{_NAMED}[\]】]\s?[:：]?(?=\s)|{_NAMED}\s?[:：](?!\d)|(?:summary|tl;?dr)\s[—–-](?=\s)"
    rf"|tl;?dr(?=\s(?!(?:is|was|means)\b))|{_NAMED}(?=[ \t]*\n))",
    re.I,
)
_OPENER = re.compile(
    rf"(?P<deco>\*{{1,3}}|_{{1,2}})?(?:(?P<interjection>{_INTERJECTION}(?:[!.?]++"
    rf"|,(?=\s{_ANNOUNCED}[:.!\n])))|{_ANNOUNCED}(?:[:：.!…]++|(?=\s*\n))"
    rf"|{_LEADING}[:：])"
    rf"(?(deco)(?P=deco))(?!\s(?-i:(?:he|she|they|the \w+) )?(?-i:{_SAID_BY}|was|is)\b)"
    r"(?=\s|\Z|(?<=[!:：])[\w*•\"“<`-])",
    re.I,
)
_ME = (
    r"(?:\bI(?:['’](?:m|d|ll)| am| would| can| could| will)\b|\blet me know\b|\bask me\b|\bjust (?:ask"
    r"|say|let)\b|\btell me\b|\bfeel free\b)"
)
_HELP = (
    r"(?:help|assist|provide|give|write|make|shorten|expand|translate|explain|add|create|summari[sz]e"
    r"|rewrite|adjust|tailor|elaborate"
    r"|clarify|answer|go (?:deeper|into)|simplify|refine|revise|offer|share|draft|turn|do (?:that|so|more))"
)
_TO_YOU = (
    r"(?:you|your|yours|this|that|it|so|summar(?:y|ies)|answers?|versions?|more|further|other|another|any|anything"
    r"|details?|questions?)"
)
_CLOSERS = (
    r"(?:i (?:really |do |sincerely )?)?hope (?:this|that|it|these|the|my)\b(?: (?:summary|answer"
    r"|overview|information|response|explanation))? ?(?:helps?|helped|was|is|were|answers|clarifies|gives"
    r"|meets|works|clears|suits)\b(?: (?:you|helpful|useful|with|to|your|for|a"
    r"|things)\b[^.!?,\n\"“”]{0,80})?",
    r"(?:(?:please|just|do|and|so) ){0,2}let me know\b[^\"“”:\n]{0,200}",
    r"(?:(?:please|and|so) ){0,2}(?:feel free|do not hesitate|don['’]t hesitate) to (?:let me|tell me"
    r"|ask me|contact me|reach out|follow up|request (?:a|any|more|further|changes)|ask(?: (?:if"
    r"|for (?:more|any|further|clarif)|away|again|(?:any |further |more |other |follow-?up "
    r"|additional )*questions?)|(?=[.!]|$)))[^\"“”\n]{0,120}",
    rf"(?:and |so )?if you\b[^\"“”\n]{{0,160}}?{_ME}[^\"“”\n]{{0,160}}",
    r"(?:would you (?:like|want|prefer)|do you (?:want|need)|want(?= me to\b)) (?:me to|to (?:know|see|hear"
    r"|have)|a|an"
    r"|another|more|any|anything|the|some|help|further)\b[^\"“”\n]{0,200}\?",
    rf"(?:shall|should|can|may|could) i (?:also )?{_HELP}\b[^\"“”\n]{{0,200}}\?",
    r"is there (?:anything|something) (?:else|more|specific|in particular)\b[^\"“”\n]{0,120}\?",
    r"(?:any|do you have any) (?:other |more |further )?questions\?",
    r"(?:what|which|how) (?:else )?(?:would you like|do you (?:want|think|need)|else can i|can i|may i"
    r"|does (?:this|that) (?:sound|look))\b[^\"“”\n]{0,120}\?",
    rf"i(?:['’](?:m|d|ll)| am| would| will| can| could) (?:(?:also|always|be|gladly|happily"
    rf"|now) ){{0,2}}(?:(?:happy|glad|here|available|able|ready) (?:to|if|for)\b|love to {_HELP}\b"
    rf"|{_HELP}\b(?=[^\"“”\n]{{0,200}}\b{_TO_YOU}\b))[^\"“”\n]{{0,200}}",
    r"(?:note: )?this summary (?:captures|covers|highlights|focuses|uses|contains \d|is (?:based|about \d|within"
    r"|under|exactly|approximately|\d))\b[^\"“”\n]{0,200}",
    r"have a (?:great|nice|good|lovely) (?:day|evening|weekend|one)",
    r"(?:\[|\()?end of (?:the )?(?:summary|answer|response)(?:\]|\))?",
    r"[(\[*_]{0,4}(?:(?:total )?(?:word|character|token) ?(?:count|s)?"
    r"|length)\s?[:=][*_]{0,3}\s?(?:about |approximately |~\s?)?\d[\d,.]*(?: (?:words|characters"
    r"|tokens))?[)\]*_.]{0,4}",
    r"[\[(](?:the )?end[\])]",
    r"[(\[]\s?(?:about |approximately |exactly |~\s?)?\d[\d,]* (?:words?|characters|tokens)\.?\s?[)\]]",
)
# what an offer says of the subject nevertheless: a clause about somebody else, or a number that counts no words
_STATES = re.compile(
    r",\s(?:which|who|whose|where|when|because|since|after|before|although|as|while|and|but)\s(?!(?:i|you|we|it"
    r"|this|that"
    r"|let|please|feel|just|if|so|they|then)\b)(?=[^.!?\n]*\b(?:is|are|was|were|has|had|did|will|would|\w{2,}ed"
    r"|\w{3,}s)\b)"
    r"|\b(?:because|who|which) (?:was|were|had|has|\w{3,}ed)\b"
    r"|\b\d[\d.,]*(?!\d)(?!\s?-?(?:words?|characters?|tokens?|sentences?|bullet|points?|lines?|paragraphs?"
    r"|minutes?|articles?|sources?|texts?)\b)",
    re.I,
)
_CLOSER = re.compile(rf"(?:{'|'.join(_CLOSERS)})[^\w\"“”]*\Z", re.I)
_QUOTED = re.compile(r"[\"“”]")
_REPORTED = re.compile(rf"\b(?:{_SAID_BY})\b", re.I)
_UNIT_STARTS = re.compile(
    r"(?:(?<=[.!?…)\]\"”’>])|(?<=[.!?]\*)|(?<=[.!?]\*\*))\s++(?=\S)|\n\s*+"
    r"|(?<=[.!?>])(?=(?i:I hope|Hope th|Let me know|Would you like|Feel free|If you))"
)
_HASHTAGS = re.compile(
    r"(?:(?<=[.!?…\"”’)\]])[ \t]*|(?<=\n))\#(?=\w*[^\W\d])\w+(?:[\s,]{1,9}\#(?=\w*[^\W\d])\w+){0,60}[!.]?\Z"
)
# what is said of the text itself, to its reader, or of who wrote it

_BEFORE_NOTE = (
    r"(?:(?:please )?(?:note|be aware|remember|keep in mind)(?: that|[:,])?\s|(?:\w+ )?disclaimer\s?[:.]\s?"
    r"|(?:note|important|nb|n\.b\.)\s?[:.]\s?){0,2}"
)
_ITSELF = (
    r"(?:(?:this|the (?:above|following|present)) (?:(?:text|summary|answer|response|reply|version|rewrite|overview"
    r"|paraphrase|output|message|information|content|translation)(?: above| here)?)"
    r"|(?:the )?(?:information|content) (?:above|here|provided(?: here| above)?)|the above)"
)
_MACHINE = (
    r"(?:an? |the |my )?(?:\w+ ){0,2}(?:AI|artificial intelligence|LLM|GPT\S*|ChatGPT|Claude|Gemini"
    r"|(?:language )?models?"
    r"|(?:ro|chat)?bots?|assistants?|machines?|computers?|software|algorithms?|programs?|tools?|me)\b"
)
_MAKES = (
    r"(?:generated|created|produced|written|prepared|compiled|made|composed|drafted|summari[sz]ed|rewritten"
    r"|shortened)"
)
_ASIDES = (
    rf"{_BEFORE_NOTE}{_ITSELF} (?:was|is|were|has been|have been) (?:\w+ly )?(?:{_MAKES}|AI-{_MAKES})"
    rf"(?: (?:automatically|entirely))?(?: (?:by|with|using|with the help of) {_MACHINE}[^\n]{{0,80}}"
    r"| (?:from|for) (?:the|your|you|this)\b[^.!?\n]{0,60}| and may\b[^.!?\n]{0,80})?",
    rf"{_BEFORE_NOTE}(?:\w+ ){{0,3}}(?:{_MAKES}|AI-{_MAKES}|powered) (?:by|with|using) (?-i:AI|LLM|GPT|ChatGPT"
    rf"|Claude)\b"
    r"[^.!?\n]{0,30}",
    rf"{_BEFORE_NOTE}{_ITSELF} (?:is|are) (?:provided |given |intended |meant )?(?:only |solely |purely "
    rf"|just )?(?:for|as)"
    r" (?:\w+ )?(?:information|informational|educational|general|reference|guidance)\b[^.!?\n]{0,60}",
    rf"{_BEFORE_NOTE}{_ITSELF} (?:may|might|could|can) (?:\w+ )?(?:contain|have|include|be|miss"
    rf"|omit)\b[^.!?\n]{{0,60}}",
    rf"{_BEFORE_NOTE}(?:(?:this|that|it|{_ITSELF}) (?:(?:is|was|does|should|must|may)(?:\snot|n['’]t)|cannot|is no)\b"
    r"|(?:nothing|none of) (?:here|above|of (?:this|the above)|in (?:this|the) \w+)\b|not\b)"
    r"(?: (?:to )?(?:be )?(?:\w+ ){0,6}?)(?:advice|recommendations?|substitute for|diagnos[ie]s"
    r"|consultation)\b[^.!?\n]{0,80}",
    r"as an? (?:AI|artificial|large|language|virtual)\b(?:[\w -]{0,40}), (?:i|my)\b(?![^\n]*\b(?:tell|say"
    r"|confirm|report|see"
    r"|note|add)\b)[^\n]{0,200}",
    r"i(?: am|['’]m) (?:just |only |not )?(?:an? )?(?:AI|artificial intelligence|(?:large )?language model"
    r"|virtual assistant"
    r"|chatbot)\b[^.!?\n]{0,80}",
    r"i(?: am|['’]m) not (?:an? )?(?:(?:medical|legal|financial|licensed|qualified|trained) )?(?:doctor|lawyer"
    r"|physician"
    r"|attorney|professional|expert|advis[eo]r)",
    r"(?:(?:please|always|and|so|but) ){1,2}(?:consult|seek|see|speak (?:to|with)|talk to|check with|ask|verify"
    r"|refer to)\b"
    r"[^.!?\n]{0,60}\b(?:professionals?|doctor|physician|lawyers?|attorney|experts?|advis[eo]r|advice"
    r"|specialist|pharmacist"
    r"|accountant|providers?|original (?:article|text|source))\b[^.!?\n]{0,60}",
    r"(?:read|see|find out|learn) more\b[^\n]{0,60}(?:https?://|www\.)\S{1,200}",
)
_ASIDE = re.compile(rf"(?:{'|'.join(_ASIDES)})[^\w\"“”]*\Z", re.I)
_WISH = re.compile(
    r"(?:and |so |please )?(?:(?:i |we )?(?:hope|wish) (?:you|that|this|it)(?=\s(?:enjoy|have|a|an|all|the|does"
    r"|makes|did|find"
    r"|like|like[sd])\b)|enjoy(?!\s\w+(?:ed|s)\b)|happy \w{3,}ing|have (?:a|an|fun)|good luck|best of luck"
    r"|all the best"
    r"|(?:with )?(?:many |best |kind |warm |warmest |kindest )?(?:wishes|regards)|all best|cheers|sincerely"
    r"|yours(?: truly| sincerely| faithfully)?|take care|stay (?:safe|well|tuned|curious|healthy|informed|warm"
    r"|strong|happy)"
    r"|keep (?:reading|learning|smiling|going|it up|up the good work)|bon (?:app[eé]tit|voyage|courage)|good ?bye|bye"
    r"|see you(?: soon| later| next time)?|(?:many )?thanks|thank you|you['’]re (?:all set|welcome|good to go)"
    r"|that['’]s (?:it|all)(?: for now| there is)?|until next time|safe travels|get well soon|congratulations"
    r"|well done"
    r"|any ?time)(?:(?=[,!.\s]*\Z)|,?\s(?:your?|the|this|these|it|an?|with|and|to|in|on|at|all|everyone|there"
    r"|reading|again|for|now"
    r"|does|makes|have|find|like[sd]?|enjoy|did|great|good|nice|lovely|wonderful)\b(?P<rest>[^\"“”.!?:\n]{0,60})"
    r"|,\s(?-i:[A-Z])[\w .-]{0,30})[^\w\"“”]*\Z",
    re.I,
)
_HAPPENED = re.compile(r"\b(?:is|are|was|were|had|has|will|would|went|came|got|\w{2,}ed|\d+)\b", re.I)
_SIGNED = re.compile(
    r"(?:(?<=\n)|(?<=[.!?]\s))[ \t]*(?:--[ \t]*|(?i:(?:(?:with|many|best|kind|warm|kindest"
    r"|warmest) ){0,2}(?:regards|wishes|cheers"
    r"|sincerely|thanks|thank you|best|yours(?: truly| sincerely| faithfully)?))[ \t]*[,!.]?[ \t]*)\n[ \t]*"
    r"(?:[-–—] ?)?\w[^\n.!?]{0,40}[.!]?\Z"
)
_COUNTS = frozenset(
    """word words count counts total length character characters token tokens sentence sentences about approximately
    approx around exactly roughly circa summary text answer response this the is of in a final reading read time
    minute minutes min less than under over paragraphs paragraph""".split()
)
_COUNTED = re.compile(r"\b(?:words?|characters?|tokens?|reading time)\b", re.I)
_CREDIT = re.compile(
    r"[*_(\[]{0,3}(?:(?:image|photo|original|main|data|article|news) )?(?:sources?|references?|credits?|via"
    r"|photos?|image|links?|url"
    r"|originally published(?: (?:by|in|on|at))?|adapted from|read more(?: at| on)?)[*_]{0,2}\s?[:：][*_]{0,2}\s?",
    re.I,
)
_LINE_ENDS = re.compile(r"(?=\n|\Z)")
_SENTENCE_ENDS = re.compile(r"[.!?](?=\s)")
_OF_NAMES = frozenset(
    "the of and for in on by at a an de la le von van der et al p pp vol no accessed from to com org".split()
)
_ONLINE = re.compile(r"(?:https?://|www\.)\S+|\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|co\.uk|gov|edu|de|fr|eu|info)\b\S*")


def _only_names(text: str) -> bool:
    """Whether a text holds nothing but names, addresses, dates and numbers, or words for the text that was given."""
    words = re.findall(r"[^\W_]+", _ONLINE.sub("", text))
    given = words and _CHAT.issuperset(map(str.lower, words))
    known = ("user", "provided", "supplied", "attached", "given", "original", "own")
    return bool(given) or all(
        not word.islower() or word in _OF_NAMES or word in known or word in ("article", "text") for word in words
    )


def _is_aside(unit: str) -> bool:
    """Whether a unit speaks of the text itself or of its writer, wishes its reader something, or counts its words."""
    unit = unit.strip("*_>-– \t\n")
    if len(unit) > 400 or not unit or _QUOTED.search(unit):
        return False
    if wish := _WISH.match(unit):
        return len(unit.split()) < 11 and not _HAPPENED.search(wish["rest"] or "")
    return _counts(unit) or _ASIDE.match(unit) is not None


def _counts(unit: str) -> bool:
    """Whether a unit says nothing but how many words a text has."""
    words = _WORD.findall(unit.lower())
    numbers = [word for word in words if word.isdigit()]
    return bool(numbers and _COUNTED.search(unit)) and _COUNTS.issuperset(set(words).difference(numbers))


def _credit(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of a line or sentence such as "Source: BBC News", which names nothing but sources."""
    found = _CREDIT.match(text, start, end)
    if not found:
        return None
    for ends in (_LINE_ENDS, _SENTENCE_ENDS):
        last = ends.search(text, found.end(), min(end, start + 200))
        if last and (names := text[found.end() : last.start()]) and _only_names(names):
            return start, last.end()
    return None


_REFERENCES = re.compile(
    r"(?<=\n)[ \t]*(?:\#{1,6} )?[*_]{0,3}(?P<head>(?i:Sources?|References|Citations|Bibliography|Works cited"
    r"|Footnotes"
    r"|Further reading))(?: (?:used|cited|consulted))?[*_]{0,3}:?[*_]{0,3}[ \t]*\n"
)
_ITEM = re.compile(r"[ \t]*(?:[-*•–] |\(?\d{1,2}[.)] |\[\^?[\w-]{1,20}\])")


def _references(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span of a heading of references with its list, where nothing else follows and something stands before."""
    found = next(reversed(list(_REFERENCES.finditer(text, start, end))), None)
    if not found or not text[start : found.start()].strip():
        return None
    lines = [line for line in text[found.end() : end].split("\n") if line.strip()]
    strict = found["head"].lower().startswith("source")
    listed = all(_only_names(line) if strict or not _ITEM.match(line) else True for line in lines)
    return (found.start(), end) if lines and listed else None


_PAIR = re.compile(
    r"(?P<fence>```)\w{0,12}[ \t]*\n|<(?P<tag>summary|answer|final_answer|final|output|response|result)>"
)
# a sentence of these words alone, that greets, thanks, promises or offers, says nothing of any subject
_TALK = frozenset(
    """a an the this that these those it its is are be been am was s re m ve d ll i me my you your yours do does
    can could would will shall should may have has in on of for to from with as by at about up out and or if so
    there here below above follows following how what which anything something else more any some other further
    additional just please also too again now today well let know tell ask give write make see read use go keep
    article text passage document story context content information detail details point points key main short
    brief concise quick simple clear longer shorter long new neutral version word words sentence sentences
    bullet paragraph one two three four five based according like want need prefer good nice day time works
    questions question response reading answers changes change clearer sharing reaching asking ready love then
    when notes says say""".split()
)
_COURTESY = frozenset("hi hello hey greetings sure certainly absolutely course okay ok alright".split()) | {
    *"gladly thanks thank welcome happy glad hope understood understand cheers regards".split()
}
_OFFER = frozenset(
    """read reviewed summary summaries summarize summarized summarise summarised summarizing summarization
    overview recap gist answer attempt help helps helping helped helpful useful assist assistance assistant
    request requested provided given provide expand elaborate shorten shortened condense condensed rephrase
    rewrite translate clarify simplify continue""".split()
)
_ADDRESSED = frozenset(  # of which a sentence to the reader speaks, and "I need help." does not
    """you your yours here below above following article text passage document story context content summary summaries
    overview recap gist answer response request requested question questions version this""".split()
)
_CHAT = _TALK | _COURTESY | _OFFER
_META = frozenset(
    """this that with from have been were note please disclaimer important generated created produced written prepared
    made automatically advice only purposes information informational professional always enjoy happy wishes regards
    best luck thanks contain errors mistakes great language model reading artificial intelligence""".split()
)
_WORD = re.compile(r"[^\W_]+")
_LAST_SIGN = re.compile(r"[?:：](?=[^\w?:：]*\Z)")
_FIRST_UNIT = re.compile(r"[^.!?:\n\"“”]{1,160}(?:[:：](?=\s)|[.!?]++(?=\s(?![a-z])|\Z)|(?=\n))")


def _is_talk(unit: str) -> bool:
    """Whether a unit only greets, promises, thanks, asks or offers."""
    words = _WORD.findall(unit.lower())
    if not 0 < len(words) <= 25 or not _CHAT.issuperset(word for word in words if not word.isdigit()):
        return False
    offers, announces = not _OFFER.isdisjoint(words), words[0] in ("here", "below") or words[:2] == ["the", "following"]
    spoken = announces or not {"i", "me", "my"}.isdisjoint(words)
    sign = _LAST_SIGN.search(unit)
    if sign:
        return spoken or offers if sign[0] == "?" else announces or offers
    addressed = offers and not _ADDRESSED.isdisjoint(words)
    return words[0] in _COURTESY or (spoken and (addressed or not _COURTESY.isdisjoint(words)))


_FINAL_CHANNEL = re.compile(r"<\|channel\|>final<\|message\|>")


def reasoning_spans(text: str) -> list[tuple[int, int]]:
    """Spans between the tags of reasoning; one that is never closed ends with the text, one never opened begins it."""
    final = [found.end() for found in _FINAL_CHANNEL.finditer(text)]
    spans: list[tuple[int, int]] = [(0, end) for end in final[-1:]]
    opened: tuple[int, str] | None = None
    named: set[str] = set()
    for tag in _TAGS.finditer(text):
        name = (tag["name"] or "think").lower()
        closing = tag["close"] or tag["close2"] or tag["close3"] or tag["edge"] == "end"
        if not closing and opened is None:
            before = text[max(0, tag.start() - 60) : tag.start()].rstrip(" \t")
            alone = not before.strip() or before[-1] in "\n.!?:…>"
            if alone and not before.endswith("`") and not _SPEAKS_OF_TAG.match(text, tag.end()):
                opened = tag.start(), name
            else:
                named.add(name)
        elif closing and _TEXT_FOLLOWS.match(text, tag.end()):
            if opened is not None and opened[1] == name:
                spans.append((opened[0], tag.end()))
                opened = None
            elif opened is None and name not in named:
                spans = [(0, tag.end())]
    if opened is not None:
        spans.append((opened[0], len(text)))
    return spans


def _controls(text: str) -> Iterator[tuple[int, int]]:
    """Spans of the marks with which models begin and end a turn, where they stand between sentences."""
    for found in _CONTROLS.finditer(text):
        before = text[max(0, found.start() - 60) : found.start()].rstrip(" \t")
        after = text[found.end() : found.end() + 60].lstrip(" \t")
        between = not before or before[-1] in '\n.!?…"”’)*>' or not after or after[0] == "\n"
        if between and (found[0] != "<s>" or not before.strip()):
            yield found.span()


class _Body:
    """What is left of a text between its wrappers, narrowed from both ends."""

    def __init__(self, text: str, taken: Iterable[tuple[int, int]], like: str):
        self.text, self.start, self.end = text, 0, len(text)
        self.beside = frozenset(_WORD.findall(like.lower()))
        self.spans = list(taken)
        self._ends, self._starts = dict(self.spans), {end: start for start, end in self.spans}

    def trim(self) -> None:
        """Pass over white space and over what is taken already."""
        while self.start < self.end and (self.text[self.start].isspace() or self.start in self._ends):
            self.start = self._ends.get(self.start, self.start + 1)
        while self.start < self.end and (self.text[self.end - 1].isspace() or self.end in self._starts):
            self.end = self._starts.get(self.end, self.end - 1)

    def take(self, start: int, end: int) -> None:
        """Note a wrapper at either end of the body."""
        self.spans.append((start, end))
        if end < self.end:
            self.start = end
        else:
            self.end = start
        self.trim()

    def opener(self) -> tuple[int, int] | None:
        """The announcement, greeting or label with which the body begins, also inside emphasis."""
        rest = self.text[self.start : self.start + 4]
        for position in sorted({self.start, self.start + len(rest) - len(rest.lstrip("*_"))}):
            found = _OPENER.match(self.text, position, self.end) or _LABEL.match(self.text, position, self.end)
            if found:
                return position, found.end()
        if span := _credit(self.text, self.start, self.end):
            return span
        unit = _FIRST_UNIT.match(self.text, self.start, self.end)
        if not unit:
            return None
        stated = _ASIDE.match(unit[0]) and not _QUOTED.search(unit[0]) and not self.told(unit[0])
        return unit.span() if stated or _is_talk(unit[0]) else None

    def told(self, unit: str) -> bool:
        """Whether a unit speaks of the subject, too: in words of the other text, a number or a clause of its own."""
        words = {word for word in _WORD.findall(unit.lower()) if len(word) > 3} - _CHAT - _META
        return bool(_STATES.search(unit) or words & self.beside or _REPORTED.search(unit))

    def closer(self) -> tuple[int, int] | None:
        """The offer, count or hashtags with which the body ends."""
        low = max(self.start, self.end - 400)
        if found := _HASHTAGS.search(self.text, low, self.end):
            return found.start() + len(found[0]) - len(found[0].lstrip()), self.end
        if low < self.end and (found := _SIGNED.search(self.text, low, self.end)) and found.start() > self.start:
            return found.start(), self.end
        starts = [found.end() for found in _UNIT_STARTS.finditer(self.text, low, self.end)]
        for start in reversed([self.start] * (low == self.start) + starts):
            unit = self.text[start : self.end]
            if re.search(r"[^\W_]", unit):
                words = unit.lstrip("*_>- ")
                offers = _CLOSER.match(words) or (not _QUOTED.search(words) and _is_talk(words))
                if offers:
                    stated = _REPORTED.search(words) or (_STATES.search(words) and not _counts(words))
                    return None if stated else (start, self.end)
                return (start, self.end) if self.aside(unit, start) else None
        return None

    def aside(self, unit: str, start: int) -> bool:
        """Whether the last unit wishes, warns, counts or names sources."""
        credit = _credit(self.text, start, self.end)
        return credit == (start, self.end) or (_is_aside(unit) and (_counts(unit) or not self.told(unit)))

    def pair(self) -> bool:
        """Take a fence or a pair of tags around the whole body."""
        found = _PAIR.match(self.text, self.start, self.end)
        closing = found and (found["fence"] or f"</{found['tag']}>")
        if not found or not closing or not self.text.endswith(closing, found.end(), self.end):
            return False
        self.take(self.end - len(closing), self.end)
        self.take(*found.span())
        return True


def wrappers(text: str, *, like: str = "") -> list[tuple[int, int]]:
    """Return the spans that wrap a summary or an answer and say nothing of its subject, in their order.

    They are reasoning between tags, control marks of models, announcements and greetings at the beginning,
    offers, wishes, warnings, word counts, hashtags and sources at the end, and labels such as "Summary:".
    `like` is the text that a summary is of: what shares a word with it is no warning.

    Examples
    --------
    >>> text = "Sure! Here is a summary: The bridge fell. I hope this helps!"
    >>> [text[start:end] for start, end in wrappers(text)]
    ['Sure!', 'Here is a summary:', 'I hope this helps!']
    """
    certain = disjoint([*reasoning_spans(text), *_controls(text)])
    body = _Body(text, certain, like)
    body.trim()
    if span := _references(text, body.start, body.end):
        body.take(*span)
    while body.start < body.end:
        if span := body.opener() or body.closer():
            body.take(*span)
        elif not body.pair():
            break
    spans = disjoint(body.spans)
    announced = any(text[end - 1] in ":：" for _, end in spans)
    if announced or re.search(r"[^\W_]", cut_out(text, spans)):
        return spans
    # "Certainly." may be all of an answer
    return [(start, end) for start, end in spans if (start, end) in certain or len(text[start:end].split()) > 3]
