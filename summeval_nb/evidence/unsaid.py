"""What a sentence speaks of without saying that it is so: under a condition, as a plan, as possible, or as false."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from typing import NamedTuple

from summeval_nb.core.files import read_asset
from summeval_nb.evidence.tokens import Parts, stem
from summeval_nb.evidence.words import stem_weight

__all__ = [
    "DENIED",
    "Unsaid",
    "Hit",
    "may_be_past",
    "past_of",
    "predicates",
    "same_form",
    "unsaid_spans",
    "unsaid_words",
]

# Forms of English verbs: which words may be a past, and which are forms of one verb.

_PREFIXES = ("", "re", "over", "under", "with", "out", "mis", "un")  # rebuilt, overtook, withdrew
_NO_PAST = frozenset("hundred need indeed speed seed feed breed red bed dead read".split())
_OTHER_VERBS = frozenset("lay wound".split())  # the past of one verb, and the present of another


@cache
def _verbs() -> list[list[str]]:
    lines = read_asset("irregular_verbs.txt").decode("utf-8").splitlines()
    listed = [line.split() for line in lines if not line.startswith("#")]
    return [[prefix + form for form in verb] for prefix in _PREFIXES for verb in listed]


@cache
def _pasts() -> frozenset[str]:
    return frozenset(form for verb in _verbs() for form in verb[1:]) - _NO_PAST


@cache
def _presents() -> dict[str, str]:
    """Return for the key of each form of an irregular verb the key of its present; a word of its own goes first."""
    forms = [(form, verb[0]) for verb in _verbs() for form in verb[1:] if form not in _OTHER_VERBS]
    return {stem(form): stem(present) for form, present in reversed(forms)}


def may_be_past(word: str, *, only: bool = False) -> bool:
    """Return whether a word in lower case can be the past of a verb, or its participle.

    With `only` it must differ from the present: *sold*, but not *cut*.

    Examples
    --------
    >>> may_be_past("closed"), may_be_past("sold"), may_be_past("cut"), may_be_past("cut", only=True)
    (True, True, True, False)
    """
    if word in _pasts():
        return not only or all(word != verb[0] for verb in _verbs() if word in verb)
    return len(word) > 3 and word.endswith("ed") and word not in _NO_PAST


def past_of(verb: str) -> str:
    """Return the past of an irregular verb in lower case, "" for any other word.

    Examples
    --------
    >>> past_of("spread"), past_of("freeze"), past_of("close")
    ('spread', 'froze', '')
    """
    return _past_forms().get(verb, "")


@cache
def _past_forms() -> dict[str, str]:
    return {verb[0]: verb[1] for verb in reversed(_verbs())}


def present_key(key: str) -> str:
    """Return the key of a verb's present for the key of one of its forms, and any other key as it is.

    Examples
    --------
    >>> present_key("sold"), present_key("rebuilt"), present_key("bridg")
    ('sell', 'rebuild', 'bridg')
    """
    return _presents().get(key, key)


def same_form(key: str, other: str) -> bool:
    """Return whether two keys are those of forms of one word: sold and sell, rose and rise."""
    return present_key(key) == present_key(other)


# What is not said to be so.

PLANNED, OPEN, DENIED = range(3)  # the more, the less is said


class Unsaid(NamedTuple):
    """The tokens from `start` to `end` that a sentence does not say to be so, and the word that makes it so.

    `how` is `DENIED` where the sentence says or reports that it is not so, `PLANNED` where it is yet to come, otherwise
    `OPEN`.
    """

    start: int
    end: int
    how: int
    by: str


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_NOT = _set("not n't never")
_BE = _set("is are was were be been being")
_HAVE = _set("have has had having")
_MODALS = _set("will would shall should can could may might must")
_AUXILIARIES = _BE | _HAVE | _MODALS | _set("do does did")
_SUBJECTS = _set("he she it they we i you there")
_CLAUSES = _set(  # a clause of its own begins here
    """but although though whereas while because however who which whose after before when as since until till
    following"""
)
_RELATIVE = _set("who which whose")
_JOINED = _set("and or yet so then nor")
_REPORTING = _set(
    """said say says saying told tells warned warns added adds announced announces reported reports explained explains
    stated wrote writes according claimed claims insisted insists found argued argues showed shows"""
)
_QUESTIONING = _set(
    """ask asks asked asking wonder wonders wondered see check checks know knows knew sure clear unclear decide decides
    decided determine establish say questioned question doubt doubts doubted tell find discuss discussed consider
    considered considering debate debated"""
)
_SHORT = _set("not any so possible necessary needed ever anything anyone only")  # if any, if not
_ADDED = _set("even as")  # what follows "even if" is open, what it is added to is said
_CONDITIONS = _set("if unless provided providing assuming lest suppose supposing")
_CONDITION_PHRASES = (("in", "case"), ("in", "the", "event"), ("as", "long", "as"), ("on", "condition"))
_PASSED = _set("would could should might")  # would have left
_INVERTED = _set("had were should")  # Had the alarm worked, ...

_DENY = _set(
    "deny denies denied denying refute refutes refuted disprove disproved disproves pretend pretends pretended"
)
_DISMISS = _set("dismiss dismisses dismissed dismissing reject rejects rejected rebut rebuts rebutted contradicted")
_TALK = _set(
    """report reports claim claims rumour rumours rumor rumors allegation allegations suggestion suggestions
    accusation accusations speculation story stories idea notion belief statement statements theory theories charge
    fears"""
)
_FALSELY = _set("falsely wrongly incorrectly mistakenly wrongfully erroneously untruthfully baselessly")
_FALSE = _set(
    "false untrue incorrect wrong unfounded baseless untruth myth lie hoax fake fabricated bogus mistaken nonsense"
)
_MADE_UP = _set("invented invents invent fabricated fabricates fabricate concocted made")  # the story that
_TRUE = _set("true correct case")
_UNDONE = _set("refuse refuses refused refusing decline declines declined fail fails failed failing unable")
_SILENT = _set("say confirm comment disclose reveal tell admit discuss acknowledge speculate answer")
_ASKING = _set("how who whom whose when where why what which")  # who refuses to say how it burned says that it did
_PROOF = _set("evidence proof truth sign indication suggestion trace traces")
_MAYBE = _set("may might could perhaps maybe possibly")
_ACCUSED = _set("accused accuses accuse suspected suspects rumoured rumored alleged allegedly reputedly supposedly")
_DOUBT = _set("whether doubt doubts doubted wish wishes wished hope hopes hoped fear fears feared")
_ALMOST = _set("almost nearly")
_SAYING = _set(
    "say said claim claimed suggest suggested think believe believed mean prove proved confirm confirmed show"
)
_OPEN_BEFORE_THAT = _set(
    """possible unlikely doubtful feared hoped unclear improbable conceivable rumours rumors rumour rumor speculation
    allegation allegations accusation accusations gossip"""
)
_OF = _set("that of about")
_PLAN = _set(
    """plan plans planned planning promise promises promised promising threaten threatens threatened threatening vow
    vows vowed pledge pledges pledged intend intends intended intending aim aims aimed hope hopes hoped want wants
    wanted wish wishes wished propose proposes proposed offer offers offered try tries tried trying attempt attempts
    attempted seek seeks sought ask asks asked urge urges urged order orders ordered invite invited advise advises
    advised expect expects expected likely unlikely set due scheduled ready poised prepare prepares prepared proposal
    proposals bid threat threats intention pledged call calls called told tell demand demands demanded going need
    needs needed"""
)
_TO = 5  # words between what is planned and its "to": asked the court in Leeds to
_TALKED = 4  # words between a rumour and its "that"
_LONGEST = 60  # words that one of these can reach
_NEAR = 3  # words between "it is" and what is not true


class _Sentence:
    """The words of a sentence in lower case, and where its clauses begin and end."""

    def __init__(self, parts: Parts):
        tokens, text = parts.tokens, parts.text
        self.words = [text[token.start : token.end].lower() for token in tokens]
        self.number = [token.kind == "number" for token in tokens]
        function = [token.kind == "function" for token in tokens]
        self.capital = [text[token.start].isupper() for token in tokens]
        gaps = ["", *(text[left.end : right.start] for left, right in zip(tokens, tokens[1:], strict=False))]
        self.comma = ["," in gap for gap in gaps]
        self.hard = [any(mark in gap for mark in ";:()—–") or "--" in gap for gap in gaps]
        self.size = len(tokens)
        begun = [  # a sentence whose full stop is missing, as behind a caption
            function[place] and self.capital[place] and not (self.capital[place - 1] or self.words[place] == "i")
            for place in range(self.size)
        ]
        breaks, aside = [], False  # within ", which ...," behind a noun
        for place in range(self.size):
            breaks.append(begun[place] or self._breaks(place) or (aside and self.comma[place]))
            aside = (aside and not breaks[place]) or (self.comma[place] and self.words[place] in _RELATIVE)
        self.stop = [self.size] * (self.size + 1)  # where the clause of a place ends, if another begins behind it
        for place in range(self.size - 1, 0, -1):
            self.stop[place - 1] = place if breaks[place] else self.stop[place]
        self.next_comma = [self.size] * (self.size + 1)
        for place in range(self.size - 1, 0, -1):
            self.next_comma[place - 1] = place if self.comma[place] else self.next_comma[place]
        self.left = [0] * self.size  # where the clause of a place begins
        for place in range(1, self.size):
            reported = self.words[place - 1] in _REPORTING | {"that"}
            self.left[place] = place if breaks[place] or reported else self.left[place - 1]

    def _breaks(self, place: int) -> bool:
        word = self.words[place]
        if self.hard[place] or word in _CLAUSES:
            return True
        if word in _JOINED and place:
            after = [other for other in self.words[place + 1 : place + 4] if not (other in _HOW or other[-2:] == "ly")]
            finite = any(may_be_past(other, only=True) for other in after[:1])
            return self.comma[place] or finite or not (_SUBJECTS | _AUXILIARIES).isdisjoint(after[:1])
        told = not _REPORTING.isdisjoint(self.words[place : place + 5])
        return self.comma[place] and (word.endswith("ing") or told)

    def has(self, place: int, words: AbstractSet[str]) -> bool:
        return 0 <= place < self.size and self.words[place] in words

    def starts_clause(self, place: int) -> bool:
        return place == self.left[place] or self.comma[place] or self.has(place - 1, _JOINED | _CLAUSES | {"that"})


def unsaid_spans(parts: Parts) -> list[Unsaid]:
    """Return the stretches of a sentence that it does not say to be so, in order of the words that make them so.

    Examples
    --------
    >>> from summeval_nb.evidence.tokens import take_apart
    >>> told = take_apart("She denied that the bridge was unsafe.")
    >>> [(" ".join(told.keys[span.start : span.end]), span.by) for span in unsaid_spans(told)]
    [('that the bridg was unsaf', 'denied')]
    """
    sentence = _Sentence(parts)
    found: list[Unsaid] = []
    for place in range(sentence.size):
        for rule in (_condition, _inverted, _false, _denied, _open, _planned):
            found += rule(sentence, place)
    cut = (span._replace(end=min(span.end, span.start + _LONGEST)) for span in found)
    return [span for span in cut if span.start < span.end]


def _condition(own: _Sentence, place: int) -> list[Unsaid]:
    """*If*, *unless* and their like: what depends on them, and what it depends on."""
    words = own.words
    phrase = next((len(some) for some in _CONDITION_PHRASES if tuple(words[place : place + len(some)]) == some), 0)
    if not phrase and not (words[place] in _CONDITIONS and not own.has(place + 1, _SHORT)):
        return []
    if words[place] in ("provided", "providing", "assuming") and not own.has(place + 1, _SUBJECTS | {"that", "the"}):
        return []
    if own.has(place + 2, _BE) and own.has(place + 3, {"to"}):  # what they need if they are to win
        return []
    by, comma = words[place], own.next_comma[place]
    end = own.stop[place + max(phrase - 1, 0)]
    if own.has(place - 1, _ADDED | _QUESTIONING) or (own.has(place - 1, _BE) and own.has(place - 2, _QUESTIONING)):
        return [Unsaid(place, min(comma, end), OPEN, by)]
    if own.starts_clause(place) and comma < own.size and not (place and own.comma[place]):
        return [Unsaid(place, comma, OPEN, by), Unsaid(comma, own.stop[comma], OPEN, by)]
    if own.starts_clause(place) and place == 0:
        return [Unsaid(place, own.size, OPEN, by)]
    begins = max(own.left[place - 1], place - _LONGEST) if place and not own.has(place - 1, _JOINED) else place
    modal = next((i for i in range(begins, place) if words[i] in _MODALS), None)
    if modal is not None:
        begins = modal
    elif any(map(may_be_past, words[begins:place])):
        begins = place
    return [Unsaid(begins, place, OPEN, by), Unsaid(place, end, OPEN, by)]


def _inverted(own: _Sentence, place: int) -> list[Unsaid]:
    """*Had it worked, they would have left*, and *would have* by itself."""
    by = own.words[place]
    comma = own.next_comma[place]
    if by in _INVERTED and place == 0 and comma < own.size:
        rest = own.words[comma : own.stop[comma]]
        if not _MODALS.isdisjoint(rest):
            return [Unsaid(place, comma, OPEN, by), Unsaid(comma, own.stop[comma], OPEN, by)]
    counterfactual = by in _PASSED and "have" in own.words[place + 1 : place + 3]
    return [Unsaid(place, own.stop[place], OPEN, by)] if counterfactual else []


def _false(own: _Sentence, place: int) -> list[Unsaid]:
    """*It is not true that*, *falsely claimed*, *the rumour that … is false*."""
    words, by = own.words, own.words[place]
    end = own.stop[place]
    if by in _FALSELY:
        return [Unsaid(place + 2, end, DENIED, by)]
    negated = any(own.has(i, _NOT | {"no", "hardly"}) for i in range(max(0, place - _NEAR), place))
    if by in _PROOF and negated and own.has(place + 1, _OF):
        return [Unsaid(place + 1, end, OPEN, "no")]
    if by in _FALSE and own.has(place + 1, _TALK) and own.has(place + 2, _OF) and not negated:
        return [Unsaid(place + 2, end, DENIED, by)]
    if by in (_TRUE if negated else _FALSE):
        if own.has(place + 1, {"that"}):
            return [Unsaid(place + 1, end, DENIED, by)]
        copula = next((i for i in range(place - 1, max(-1, place - 4), -1) if words[i] in _BE | {"proved"}), 0)
        that = next((i for i in range(max(0, copula - _LONGEST), copula) if words[i] == "that"), None)
        if that is not None and (that == 0 or words[that - 1] in _TALK):
            return [Unsaid(that, copula, DENIED, by)]
    that = next((i for i in range(place + 1, min(own.size, place + 2 + _TO)) if words[i] == "that"), None)
    if that is not None and (by in ("lied", "lies") or (by in _MADE_UP and words[that - 1] in _TALK)):
        return [Unsaid(that, own.stop[that], DENIED, by)]  # lied when he said that, made up the story that
    if by in ("think", "believe", "assume") and words[max(0, place - 2) : place] == ["used", "to"]:
        return [Unsaid(place + 1, end, OPEN, by)]
    if by in ("thinking", "believing") and own.has(place - 1, {"into"}):  # misled into thinking
        return [Unsaid(place + 1, end, DENIED, by)]
    if by == "far" and own.has(place + 1, {"from"}) and words[min(place + 2, own.size - 1)].endswith("ing"):
        return [Unsaid(place + 2, min(end, own.next_comma[place]), DENIED, by)]
    if by in ("ruled", "rules", "ruling", "rule") and own.has(place + 1, {"out"}):
        return [Unsaid(place + 2, end, DENIED, by)]
    if by == "contrary" and own.has(place + 1, {"to"}):
        return [Unsaid(place + 2, min(end, own.next_comma[place]), DENIED, by)]
    return []


def _denied(own: _Sentence, place: int) -> list[Unsaid]:
    """*Denied that*, *dismissed reports that*, *refused to*: not so, or not done."""
    by, end = own.words[place], own.stop[place]
    negated = any(own.has(i, _NOT) for i in range(max(0, place - 2), place))
    if negated:
        return []
    if by in _DENY:
        return [Unsaid(place + 1, end, DENIED, by)]
    if by in _DISMISS:
        talk = next((i for i in range(place + 1, min(end, place + 1 + _TALKED)) if own.words[i] in _TALK), None)
        return [Unsaid(talk + 1, end, DENIED, by)] if talk is not None else []
    if by in _UNDONE and own.has(place + 1, {"to"}) and not any(own.number[place + 2 : place + 3]):
        if not own.has(place + 2, _SILENT):
            return [Unsaid(place + 1, end, DENIED, by)]
        return [] if own.has(place + 3, _ASKING) else [Unsaid(place + 3, end, OPEN, by)]
    return []


def _open(own: _Sentence, place: int) -> list[Unsaid]:
    """*May*, *whether*, *accused of*: it may be so."""
    by, end = own.words[place], own.stop[place]
    month = by == "may" and own.capital[place] and place > 0
    if by in _MAYBE and not month:
        return [Unsaid(place, end, OPEN, by)]
    accused = by == "allegedly" or (by in _ACCUSED and own.has(place + 1, _OF | {"to"}))
    if accused or (by in _DOUBT and not own.has(place + 1, {"to"})):
        return [Unsaid(place + 1, end, OPEN, by)]
    if by in _ALMOST and any(word in _HAVE or may_be_past(word) for word in own.words[place + 1 : place + 2]):
        return [Unsaid(place + 1, end, OPEN, by)]
    if by in _SAYING and own.has(place - 1, _NOT):
        return [Unsaid(place + 1, end, OPEN, "not")]
    that = next((i for i in range(place + 1, min(end, place + _NEAR)) if own.words[i] == "that"), None)
    if by in _OPEN_BEFORE_THAT and that is not None:
        return [Unsaid(that, end, OPEN, by)]
    return []


def _planned(own: _Sentence, place: int) -> list[Unsaid]:
    """*Will*, *promised to*, *plans to*: it is yet to be done."""
    by, end = own.words[place], own.stop[place]
    if by in ("will", "would", "shall"):
        return [Unsaid(place, end, PLANNED, by)]
    if by in _BE and own.has(place + 1, {"to"}):
        return [Unsaid(place + 1, end, PLANNED, by)]
    if by in _PLAN and not own.has(place - 1, _set("as more less")):
        to = next((i for i in range(place + 1, min(end, place + 1 + _TO)) if own.words[i] == "to"), None)
        if to is not None:
            return [Unsaid(to, end, OPEN if by == "unlikely" else PLANNED, by)]
    return []


_TELLING = ("content", "number")
_HOW = _set("soon later finally eventually perhaps today tomorrow yesterday instead allegedly reportedly")
_THE = _set("the a an this that these those its his her their our my your no any every each")
_FAR = 5  # words between a form of *be* or *to* and what is or is done
_PHRASE = 3  # words that say what something is: a former head teacher


def predicates(parts: Parts, span: Unsaid) -> list[int]:
    """Return the places of the words in a span that say what is or is done: the first one, and those joined to it.

    It follows an auxiliary or *to*, or has the form of a verb. Where there is none, it is one of the first two words
    that tell something.
    """
    words = [parts.text[token.start : token.end].lower() for token in parts.tokens[span.start : span.end]]
    tells = [
        token.kind in _TELLING and token not in parts.names and not (word in _HOW or word.endswith("ly"))
        for token, word in zip(parts.tokens[span.start : span.end], words, strict=True)
    ]
    found: list[int] = []
    open_ = True  # what comes next may be the predicate
    for place, word in enumerate(words):
        joined = word in ("and", "or") and bool(found)
        if word in _AUXILIARIES or word == "to" or joined or (open_ and word in _SUBJECTS):
            near = range(place + 1, min(place + (_NEAR if joined else _FAR), len(words)))
            after = next((i for i in near if tells[i]), None)
            if after is not None and (open_ or joined or place <= found[-1] + 1):
                phrase = _PHRASE if word in _BE else 1
                found += [i for i in range(after, min(after + phrase, len(words))) if all(tells[after : i + 1])]
                open_ = False
            continue
        verb = tells[place] and (may_be_past(word) or (word.endswith("ing") and place < 2))
        if open_ and verb and not (place and words[place - 1] in _THE):
            found.append(place)
            open_ = False
    present = [i for i in range(1, len(words)) if tells[i - 1] and tells[i] and words[i].endswith("s")]
    found = found or present[:1] or [place for place, own in enumerate(tells) if own][:2]
    return sorted({span.start + place for place in found})


# What a claim says that the evidence leaves unsaid.

_IS, _DID = _set("is are be being to"), _set("was were had has have did went got")
_DONE = _set("managed had has have began started continued forced able helped used went came made got")  # before "to"
_PLURAL = _set("they we you i people")
_WHEN = _set("when whenever once only")
_ENOUGH = 0.6  # of a claim's words, by weight, that a sentence holds which may say it or not
_MARGIN = 0.1  # so much less of it may another sentence hold that says it


class _Told:
    """A sentence with what it does not say: its spans, and for each word how little is said of it (-1: it is said)."""

    def __init__(self, parts: Parts):
        self.parts, self.spans = parts, unsaid_spans(parts)
        self.how = [-1] * len(parts.tokens)
        self.would = [False] * len(parts.tokens)
        for span in self.spans:
            for place in range(span.start, span.end):
                self.how[place] = max(self.how[place], span.how)
                self.would[place] |= span.by == "would"
        self.by = frozenset(span.by for span in self.spans)
        self.words = [parts.text[token.start : token.end].lower() for token in parts.tokens]
        self.timed = not _WHEN.isdisjoint(self.words)

    def holds(self, claim: Parts, level: int) -> float:
        """Return the share of the claim's words, by weight, of which not less is said than `level` says."""
        said = {present_key(token.key) for token, how in zip(self.parts.tokens, self.how, strict=True) if how <= level}
        weights = {key: stem_weight(key) for key in claim.content}
        held = sum(weight for key, weight in weights.items() if present_key(key) in said)
        return held / (sum(weights.values()) or 1.0)

    def level(self, place: int, by: str) -> int:
        """Return how little this sentence says of the word at a place, beside what another leaves unsaid `by` a word.

        What is not told as done may be yet to come. *Would* may stand for a condition that is left out, *when* for
        *if*. What is done *to win*, or *for winning*, says nothing of who won.
        """
        word, before, own = self.words[place], self.words[max(0, place - _NEAR) : place], self.how[place]
        if by in _CONDITIONS and (self.would[place] or self.timed):
            return OPEN
        if word in self.by or any(
            token.kind == "negation" for token in self.parts.tokens[max(0, place - _NEAR) : place]
        ):
            return DENIED
        if before[-1:] == ["to"] and _DONE.isdisjoint(before[-2:]):
            return max(own, OPEN)
        if word.endswith("ing") and (_IS | _DID).isdisjoint(before) and not self._after_comma(place):
            return OPEN
        if before[-1:] in (["and"], ["or"]) and place > 1:
            return max(own, self.how[place - 2])
        plural = bool(before) and (before[-1].endswith("s") or before[-1] in _PLURAL)  # tickets cost: now, or then
        done = (may_be_past(word, only=plural) and _IS.isdisjoint(before)) or not _DID.isdisjoint(before)
        return max(own, -1 if done else PLANNED)

    def _after_comma(self, place: int) -> bool:
        tokens = self.parts.tokens
        return place > 0 and "," in self.parts.text[tokens[place - 1].end : tokens[place].start]


@lru_cache(maxsize=1 << 12)
def _told(parts: Parts) -> _Told:
    return _Told(parts)


class Hit(NamedTuple):
    """A word of the claim that says what the evidence leaves unsaid: its place, how little is said, by what word."""

    place: int
    how: int
    by: str


def unsaid_words(claim: Parts, evidence: Sequence[Parts]) -> list[Hit]:
    """Return what the claim says to be so and the evidence does not: the words that say what is or is done.

    Nothing where the claim leaves it open as well, or where another sentence of the evidence says it outright.
    """
    told = [_told(parts) for parts in evidence]
    if not any(sentence.spans for sentence in told):
        return []
    own, found, outright = _told(claim), dict[int, Hit](), dict[int, float]()
    places: dict[str, int] = {}
    for place, token in enumerate(claim.tokens):
        if token.kind in _TELLING:
            places.setdefault(present_key(token.key), place)
    for sentence in told:
        if not sentence.spans or (held := sentence.holds(claim, DENIED)) < _ENOUGH:
            continue
        for span in sentence.spans:
            for there in predicates(sentence.parts, span):
                at = places.get(present_key(sentence.parts.keys[there]))
                if at is None or span.how <= (level := own.level(at, span.by)):
                    continue
                if level not in outright:
                    outright[level] = max(other.holds(claim, level) for other in told)
                if outright[level] < held - _MARGIN:
                    hit = Hit(at, span.how, span.by)
                    found[at] = max(hit, found.get(at, hit), key=lambda other: other.how)
    return sorted(found.values())
