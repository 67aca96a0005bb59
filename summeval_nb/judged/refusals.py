"""Does a text decline to answer? Signs, turns of phrase, meaning and form, weighed by a fitted model.

Chapter 51 tells what the signs are for and measures them; `benchmarks/fit_refusals.py` fits the weights.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np

from summeval_nb.core.base import Stages, steps
from summeval_nb.evidence.words import sigmoid
from summeval_nb.judged.judging import Flag
from summeval_nb.text.language import foreign_language, language_name
from summeval_nb.text.similarity import unit_rows
from summeval_nb.text.statements import premise_sentences

_UNABLE = (
    r"(?:can(?:no|['’]?)t|can not|could(?:n['’]?t| not)|unable|not(?: \w+)? able|won['’]t|will not"
    r"|would(?:n['’]t| not)|decline|rather not|not possible|impossible)"
)
_ACT = (
    r"(?:answer|say|tell|help|assist|determine|find|locate|"
    r"provide|know|see|comment|check|respond|give|discuss|judge|advise|recommend|establish|work out|make out)"
)
_SOURCES = (  # what a question may have been asked about
    r"(?:text|article|passage|context|document|(?:news)?paper|report|source|leaflet|manual|page|paragraph|story|excerpt"
    r"|extract|file|table|record|entry|material|note|letter|minutes|memo|chapter|clause|annex|contract|agreement|brochure"
    r"|booklet|pamphlet|handbook|guide(?:book)?|chronicle|biography|memoir|diary|log|map|interview|fragment|manuscript"
    r"|register|archive|index|database|data|query|summary|study|description|piece|write-up|recipe|list|edition|diagram"
    r"|film|evidence|legend|column|timetable|recording|clip|account|statement|collection|scene|exhibit)s?(?<!stories)"
)
_SOURCE = rf"(?:{_SOURCES}|stories|it|this|these)"
_TEXTS = (
    r"(?:text|article|passage|context|document|report|source|leaflet|manual|page|paragraph|story|excerpt|note|it"
    r"|this)s?"
)
_SAY = r"(?:mention|say|state|specify|reveal|indicate|tell us|explain|go into|take up)"
_GIVE = r"(?:give|tell|address|discuss|name|answer|describe|list|record|deal with)"
_HOLD = r"(?:contain|provide|cover|include)"  # what recipes and contracts do, too, which say something by it
_LACKING = r"(?:information|details?|mention|indication|entry|figures?|values?|answer|hint|trace|word|reference|view)"
_GIVEN = r"(?:mentioned|said|stated|specified|contained|provided|covered|given|included|addressed|discussed|recorded)"
_STRONG = (
    rf"\b(?:i|we|assistant)\b[^.!?;:]{{0,40}}\b{_UNABLE}\b[^.!?;:]{{0,30}}\b{_ACT}",
    rf"\bit\b[^.!?;:]{{0,12}}\b(?:not possible|impossible)\b[^.!?;:]{{0,12}}\b{_ACT}",
    r"\b(?:question|answer|this)\b[^.!?;:]{0,20}\b(?:can(?:not|['’]t)|could not) be (?:answered|given|determined)",
    r"\b(?:stay|stays|remain|remains|leave)\b[^.!?;:]{0,20}\bunanswered\b",
    r"\b(?:i|we)\b[^.!?;:]{0,20}\b(?:don['’]?t|do not|wouldn['’]?t|would not)\b[^.!?;:]{0,12}\bknow\b",
    r"\b(?:i|we)\b[^.!?;:]{0,20}\b(?:don['’]?t have|do not have|have no)\b[^.!?;:]{0,12}"
    r"\b(?:idea|clue|answer|information|knowledge|access|details?|ability)",
    r"^\W*(?:(?:sorry|oh|well|hm+|um|er|honestly|nope?|haha|ha)\b\W*){0,2}"
    r"(?:(?:final )?answer\W+|\w+(?: \w+)?\W{0,3}[:=]\W*)?"
    r"(?:no idea|no clue|not a clue|dunno|beats me|search me|your guess is as good as mine|no answer|n/a\b|unknown\W*$"
    r"|unanswerable|not answerable|cannot answer|insufficient|not enough"
    r"|not (?:stated|available|specified|found|in the)\b)",
    r"^\W*(?:don['’]?t know|do not know|not sure|unsure|unclear|not known|can(?:not|['’]t) (?:say|tell)"
    r"|impossible to (?:say|tell))\W*$",
    r"\bi(?:['’]m| am)(?: \w+)? (?:not sure|unsure)\b(?![^.!?]*\bbut\b)",
    r"\b(?:not enough|insufficient|need more|lacks? the)\b[^.!?;:]{0,20}\b(?:information|context|details?|data)\b",
    r"\bguess\b[^.!?]{0,20}\bmine\b|\bonly be guessing\b|\bguidelines\b[^.!?]{0,20}\bnot allow\b",
    r"\b(?:beyond|outside) (?:what|my|our|me|the scope)\b",
    r"\b(?:i|we)\b[^.!?;:]{0,12}\bnot in a position\b",
    r"^\W*(?:answer|result|value)\W{0,4}[:=]\W*(?:$|(?:null|none|nil|undefined)\b(?! \w))",
)
_WEAK = (
    rf"(?<!\bhe )(?<!\bshe )(?<!\bthey )\b(?:does|do|did)(?:n['’]?t| not)\b(?: \w+)? {_SAY}\b|\bnever {_SAY}",
    rf"\b{_SOURCE}\b[^.!?;:,]{{0,20}}\b(?:does|do|did)(?:n['’]?t| not)\b(?: \w+)? {_GIVE}\b|\bnever {_GIVE}s?\b",
    rf"\b{_TEXTS}\b[^.!?;:,]{{0,20}}\b(?:does|do|did)(?:n['’]?t| not)\b(?: \w+)? {_HOLD}\b|\bnever {_HOLD}s?\b",
    rf"(?:\b(?:is|was|are|were)|['’]s)(?:n['’]?t| not)\b(?: \w+)? (?:{_GIVEN}|available|found)\b"
    r"(?![^.!?;:]*\b(?:until|before)\b)",
    rf"\b(?:is|are|was|were|gives?|offers?|contains?|has|have|holds?|provides?|includes?|makes?|finds?|found|see)\b"
    rf"(?: \w+)? no (?:\w+ )?{_LACKING}\b",
    rf"^\W*no (?:\w+ )?{_LACKING}\W*(?:$|(?:about|on|as to|regarding|in the)\b)",
    rf"\bno (?:\w+ )?{_LACKING}\b[^.!?;:]{{0,40}}\b(?:is|are|was|were) (?:made|found|{_GIVEN}|available)\b"
    r"(?![^.!?;:]*\b(?:until|before)\b)",
    r"\b(?:says?|has|have|states?|contains?|tells?(?: us)?) nothing (?:about|of|on)\b",
    rf"\bnothing\b[^.!?;:]{{0,40}}\b(?:is|was) (?:found|{_GIVEN})\b(?![^.!?;:]*\b(?:until|before)\b)",
    rf"\bnothing (?:in|on) (?:the|this|these|my|our) {_SOURCE}\b(?! of)[^.!?;:]{{0,15}}"
    r"\b(?:answers?|says?|tells?|mentions?|about|on|$)",
    r"\bnothing about\b[^.!?;:]{0,30}(?:\b(?:in|here|there)\b|$)",
    r"\b(?:none of them|neither \w+) (?:gives?|says?|mentions?)\b|\b(?:silent on|nothing to go on)\b",
    r"\b(?:can(?:not|['’]t)|could(?: not|n['’]t)) be (?:determined|answered|found|known|inferred|established"
    r"|worked out|made out|recovered)\b",
    r"\b(?:no|nothing)\b[^.!?;:]{0,60}\b(?:could|can|was|were) (?:be )?(?:found|located|retrieved)\b"
    r"(?![^.!?;:]*\b(?:until|before)\b)",
)
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")


class _Signs(NamedTuple):
    """What the patterns found in a text: the strong sign's words, and the share of its clauses with a weak sign."""

    strong: str
    weak: str
    weak_share: float


def refusal_signs(text: str) -> _Signs:
    """Look for strong and weak signs of a refusal, clause by clause, quoted speech put aside."""
    clauses = [c.lower() for c in re.split(r"(?<=[.!?;])\s+|\n+|, (?:al)?though ", told(text)) if re.search(r"\w", c)]
    strong = [match for c in clauses for p in _STRONG if (match := re.search(p, c))]
    weak = [next((match for p in _WEAK if (match := re.search(p, c))), None) for c in clauses]
    found = [match[0].strip() for match in weak if match]
    share = len(found) / len(clauses) if clauses else 0.0
    return _Signs(strong[0][0].strip() if strong else "", found[0] if found else "", share)


class _Weights(NamedTuple):
    """What `benchmarks/fit_refusals.py` found: a weight for each mark, each turn of phrase, each number of a vector."""

    intercept: float
    marks: Mapping[str, float]
    words: Mapping[str, float]
    meaning: np.ndarray
    form: np.ndarray


@cache
def _weights() -> _Weights:
    text = resources.files("summeval_nb").joinpath("assets/refusal_weights.json").read_text(encoding="utf-8")
    found = json.loads(text)
    meaning, form = np.array(found["meaning"]), np.array(found["form"])
    return _Weights(found["intercept"], found["marks"], found["words"], meaning, form)


def refusal_rules() -> str:
    """All that decides whether a text is a refusal, as one text: what a fingerprint is made of."""
    weights = _weights()
    patterns = [*_STRONG, *_WEAK, *(pattern.pattern for pattern in _MARKS.values())]
    vectors = [weights.meaning.tolist(), weights.form.tolist()]
    return json.dumps([patterns, weights.intercept, weights.marks, weights.words, *vectors])


_MARKS: Mapping[str, re.Pattern[str]] = {
    "a digit": re.compile(r"\d"),
    "I or we": re.compile(r"\b(?:I|we|my|me)\b"),
    "opens with No,": re.compile(r"^No,"),
    "names its source": re.compile(rf"\b(?:{_SOURCES}|stories|information|details?)\b", re.I),
    "its source says": re.compile(
        r"\b(?:text|article|passage|context|document|report|guide|book|page|sign|app|law|rule|letter|manual)s? "
        r"(?:is|are|was|explains?|tells?|says?|said|answers?|describes?|states?|suggests?|gives?|shows?|covers?|reads?)\b"
        r"(?! (?:silent|quiet|mute|nothing|no|little|inconclusive))",
        re.I,
    ),
    "its source is silent": re.compile(
        rf"\b(?:{_SOURCES}|stories|author)\b[^.!?;:]{{0,25}}"
        r"\b(?:silent|silence|quiet|mute|skips?|leaves? (?:out|open)|left open|stops? (?:short|before)|breaks? off"
        r"|ends? before|never|not|no|nothing|nowhere|n.t|without)\b"
        r"|\b(?:nowhere|none|nothing|neither|not a word|no (?:mention|word|hint|clue|reference|trace))\b[^.!?;:]{0,30}"
        rf"\b(?:{_SOURCES}|stories|here)\b",
        re.I,
    ),
    "leaves it out": re.compile(
        r"\b(?:omits?|leaves? (?:out|open|unsaid|it (?:out|open))|left (?:open|unsaid|out)"
        r"|pass(?:es)? over|skip(?:s|ped)"
        r"|keeps? (?:quiet|silent|to (?:itself|themselves))|stays? (?:silent|vague)"
        r"|nowhere (?:\w+ )?(?:stated|said|named|given|mentioned)|inconclusive|vague about"
        r"|never (?:learns?|reveals?|says|names|tells|mentions|gets)"
        r"|(?:does|do|did)(?: not|n.t) (?:reveal|go into|deal with|cover|address|name)"
        r"|(?:not|n.t) (?:told|recorded|stated|said|revealed|mentioned)|undisclosed"
        r"|no (?:word|hint|clue|mention|reference|indication|column|entry|statement|particulars)"
        r"|too (?:thin|scanty|short|vague))\b",
        re.I,
    ),
    "its material is missing": re.compile(
        r"\b(?:scan|audio|recording|pages?|attachment|cop(?:y|ies)|extract|clip|file|title|cover|index|legend|half|chapter)\b"
        r"[^.!?]{0,30}\b(?:cut off|unreadable|missing|ends|not attached|could not be opened|breaks off|only|lost)\b"
        r"|\b(?:only|merely|just) (?:have|got|received|know|handle|deal|shown|given|the \w+ (?:bot|assistant))\b",
        re.I,
    ),
    "its search is empty": re.compile(
        r"\b(?:search|lookup|query|results?|index|database|archive|register|source|request|connection|retrieval|hits?|rows?"
        r"|match(?:es)?)\b[^.!?]{0,25}\b(?:no|not|nothing|none|zero|empty|failed|timed out|unavailable|incomplete|0)\b"
        r"|\b(?:no|zero|0|nothing|none)\b[^.!?]{0,12}\b(?:results?|rows?|match(?:es)?|hits|documents|found|retrieved)\b",
        re.I,
    ),
    "a filled field": re.compile(
        r"^\W*(?:final )?(?:answer|result|name|value|status|found|page)\W{0,4}[:=]\W*"
        r"(?!null|none|nil|n/a|no\b|not|unknown|undefined|cannot|false|insufficient|unanswered|missing)\w",
        re.I,
    ),
    "an empty field": re.compile(
        r"^\W*(?:null|nil|n/?a|undefined|(?:left )?blank|no[ _-](?:answer|match|data|response|result|value|entry))\W*$"
        r"|[:=]\s*(?:[\"']{2}|[\"']?(?:null|none|nil|unknown|undefined|n/?a|no_answer|not available|\?+|-+)[\"']?)"
        r"\s*(?:[,;}\]]|$)",
        re.I,
    ),
    "I found or know it": re.compile(
        r"\b(?:I|we) (?:can (?:see|say|confirm|tell you that)|found|counted|know (?:of|from|that)|think|believe"
        r"|would say|would guess|checked the|have looked it up)\b(?! (?:no|nothing|none|it impossible))",
        re.I,
    ),
    "a rule": re.compile(
        r"\b(?:must|may not|should|forbids?|need (?:a|an|your|to)"
        r"|(?:not|n.t|never|no \w+) (?:allowed|permitted|valid|applies)"
        r"|can(?:not|['’]t| not) be (?:\w+ed|opened|used|given|read))\b",
        re.I,
    ),
    "somebody else does not": re.compile(
        rf"^(?!The (?:\w+ )?(?:{_SOURCES}|stories|author)\b)"
        r"(?:Even )?(?:The|Her|His|Their|Its|[A-Z]\w+s)(?: \w+){0,3} "
        r"(?:(?:do|does|did|could|can|would|will|has|have|had|was|were)(?: not|n['’]t|not| never| unable| no)"
        r"|cannot|refused|declined|failed|never)\b"
    ),
    "declines by rule": re.compile(
        r"\b(?:I|we)\b[^.!?;:]{0,20}\b(?:(?:do|will|can|may|would|must)(?: not|n.t)|cannot|won.t|can.t|never|no longer)"
        r"(?: \w+)? (?:discuss|comment|disclose|give out|answer|speculate|share|recommend|advise|guess|go into)\b"
        r"|\b(?:express|have|offer|take) no (?:view|opinion|comment)\b",
        re.I,
    ),
    "an apology": re.compile(r"\b(?:sorry|regret(?:s|fully|tably)?|afraid|apolog\w+|unfortunately|sadly|alas)\b", re.I),
    "an apology for what is so": re.compile(
        r"\b(?:sorry|afraid|regret|unfortunately|sadly|inform you)\b(?: to \w+ you)?,?(?: that)? "
        r"(?:(?:the|that|this|your|it|there|no|all|you|he|she|they|both)\b(?! (?:question|answer|text|is beyond))"
        r"|we (?:are|close|only|have|had|were))"
        r"|^(?:I'm )?sorry,? (?:but )?(?:the|your|you|we (?:are|close|have))\b",
        re.I,
    ),
    "asks": re.compile(r"\?"),
    "sends elsewhere": re.compile(
        r"\b(?:ask|contact|consult|refer|call|check with|see|try|talk to|put to)\b[^.!?;:]{0,30}"
        r"\b(?:a|an|the|your|somebody|someone)\b",
        re.I,
    ),
    "another person": re.compile(r"\b(?:he|she|they|nobody|no one)\b", re.I),
    "a negation": re.compile(r"\b(?:not|no|n.t|cannot|nothing|none|un\w+|without)\b", re.I),
}


def told(text: str) -> str:
    """A text without what it quotes: somebody else said that; a text that is all quotation stays.

    Examples
    --------
    >>> told('The mayor said: "I cannot answer that." Then he left.')
    'The mayor said:   Then he left.'
    """
    bare = text if text.lstrip().startswith(("{", "[")) else _QUOTED.sub(" ", text)
    return bare if re.search(r"\w", bare) else text


def _marks(text: str, signs: _Signs) -> dict[str, float]:
    """Which marks a text has, each 0 or 1."""
    found = {
        "a strong sign": bool(signs.strong),
        "only weak signs": signs.weak_share == 1,
        "some weak signs": 0 < signs.weak_share < 1,
        **{name: pattern.search(told(text)) is not None for name, pattern in _MARKS.items()},
        "quoted speech": told(text) != text,
        "under four words": len(text.split()) < 4,
        "several sentences": len(premise_sentences(text)) > 1,
    }
    return {name: float(value) for name, value in found.items()}


def _phrases(text: str) -> Counter[str]:
    """How often each word and each pair of neighbouring words occurs, punctuation counted as words."""
    words = re.findall(r"[a-z']+|\d+|[^\w\s]", told(text).lower())
    return Counter([*words, *map(" ".join, zip(words, words[1:], strict=False))])


def _phrase_values(text: str, known: Mapping[str, Any]) -> dict[str, float]:
    """The known words and pairs of a text: 1 + log of the count, all together of length one."""
    values = {phrase: 1 + math.log(count) for phrase, count in _phrases(text).items() if phrase in known}
    length = math.sqrt(sum(value**2 for value in values.values()))
    return {phrase: value / length for phrase, value in values.items()}


def mean_vectors(texts: Sequence[str], embedder: Any) -> np.ndarray:
    """For each text the mean of its sentences' vectors of length one, shape (n, d): what it is about."""
    return _means(texts, lambda flat: unit_rows(np.asarray(embedder.encode(flat), dtype=np.float64)))


def mean_states(texts: Sequence[str]) -> np.ndarray:
    """For each text the mean over its sentences of the reader's states after three layers, shape (n, 384): its form."""
    from summeval_nb.evidence.reader import load_reader

    return _means(texts, load_reader().mean_states)


def _means(texts: Sequence[str], encode: Callable[[list[str]], np.ndarray]) -> np.ndarray:
    """For each text the mean over its sentences, what it quotes left out; each distinct sentence is encoded once."""
    sentences = [[s.text for s in premise_sentences(told(text))] or [text] for text in texts]
    flat = list(dict.fromkeys(s for group in sentences for s in group))
    vectors = encode(flat)
    place = {text: row for row, text in enumerate(flat)}
    return np.stack([vectors[[place[s] for s in group]].mean(axis=0) for group in sentences])


class Lean(NamedTuple):
    """How far a text leans towards a refusal, in log-odds: by its marks, turns of phrase, meaning and form."""

    marks: float
    words: float
    meaning: float
    form: float
    signs: _Signs

    @property
    def total(self) -> float:
        """The log-odds that the text is a refusal."""
        return _weights().intercept + self.marks + self.words + self.meaning + self.form

    def flag(self) -> Flag:
        """The flag, and in words what it rests on."""
        probability = sigmoid(self.total)
        found = [f"“{words}”" for words in (self.signs.strong, self.signs.weak) if words]
        because = (
            f"signs: {', '.join(found) or 'none'}; "
            f"marks {self.marks:+.1f}, words {self.words:+.1f}, meaning {self.meaning:+.1f}, form {self.form:+.1f}"
        )
        return Flag(value=probability >= 0.5, probability=probability, reason=because)


def lean_of(text: str, vector: np.ndarray, state: np.ndarray) -> Lean:
    """How far a text leans towards a refusal; `vector` is its row of `mean_vectors`, `state` that of `mean_states`."""
    weights, signs = _weights(), refusal_signs(text)
    marks = sum(weights.marks[name] * value for name, value in _marks(text, signs).items())
    phrases = _phrase_values(text, weights.words)
    words = sum(weights.words[name] * value for name, value in phrases.items())
    fits = vector.shape == weights.meaning.shape
    meaning = float(vector @ weights.meaning) if fits else 0.0
    readable = any(
        re.search(r"\w\w", phrase) for phrase in phrases
    )  # the form of what holds no known word says nothing
    return Lean(marks, words, meaning, float(state @ weights.form) if readable else 0.0, signs)


def refusal_flags(texts: Sequence[str], embedder: Any, lang: str | None = None) -> list[Flag]:
    """Flags for many texts; one without a word, or clearly in another language than English, is undecided."""
    why = {text: unread(text, lang) if re.search(r"\w", text) else "the text is empty" for text in texts}
    judged = [text for text, reason in why.items() if not reason]
    stage = Stages(embed=3, lean=1)
    with stage("embed"):
        means = list(zip(mean_vectors(judged, embedder), mean_states(judged), strict=True)) if judged else []
    with stage("lean"):
        flags = {text: lean_of(text, *means[i]).flag() for i, text in enumerate(steps(judged))}
    return [Flag(value=None, reason=why[text]) if why[text] else flags[text] for text in texts]


_READS = ("en",)  # the languages of the rules of the embedded judge


def unread(text: str, lang: str | None = None) -> str:
    """Why the embedded judge's rules do not fit a text, which are for English; '' if nothing speaks against it."""
    code = lang or foreign_language(text[:4000], _READS)
    if code is None or code.partition("-")[0] in _READS:
        return ""
    remedy = "use a language model, judge='llm:FOLDER', or say EmbeddedJudge(lang='en') if it is English"
    return f"the text is in {language_name(code)}, and the embedded judge reads English: {remedy}"
