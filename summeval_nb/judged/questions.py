"""The exam that a text sets: its facts, key phrases of them (or KeyBERT's), and a question for each."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from summeval_nb.core.base import require_module
from summeval_nb.evidence.tokens import Token, sentence_tokens
from summeval_nb.evidence.words import stem_weight
from summeval_nb.judged.judging import Keyphrase, Question, place_keyphrase, premise_sentences
from summeval_nb.judged.statements import resolve_by_rules
from summeval_nb.text.embed import BatchEmbedder, SentenceVectors
from summeval_nb.text.lists import leads_into_items, list_parts, with_denying_leads, with_lead
from summeval_nb.text.split import split_claims

# how rare a word must be (chapter 34) to be a key phrase by itself: meals is, day is not
_RARE = 3.0
# how much more a fact counts that holds a number, or a name (chosen on five of the articles in benchmarks/), and how
# much less with each sentence before it
_NUMBER, _NAME, _LATER = 3.0, 0.5, 0.1
_OPENING_SHARE = 0.2  # what a sentence counts that shares no word with the first two
_WORDS_A_QUESTION, _FEWEST, _MOST = 25, 10, 40
# where a fact ends and a circumstance begins: the fact is asked about by itself
_TAIL = re.compile(
    r"(?:, (?:in|on|at|with) (?:\w+ ){1,3}| )so \w+ that\b"
    r"|,? (?:because|since|after|before|while|although|though|so that|as if|in order to|according to|which|whose|who"
    r"|where|when|until|unless|if)\b",
    re.I,
)
# what must not be parted from the clause that follows: nobody knew / which bottle was which
_ASKS = re.compile(
    r"\b(?:knows?|knew|known|asks?|asked|wonders?|wondered|sees?|saw|sure|shows?|showed|explains?|explained|decides?|decided"
    r"|depends? on|learned|found out|told(?: the)? \w+|of)$",
    re.I,
)
_SAYS = r"(?:said|says|announced|reported|told|wrote|added|explained|warned|replied)"
_SOURCE_AT_END = re.compile(rf",(?: [\w’'.-]+){{1,8}}(?:,[^,]{{1,60}},)? {_SAYS}\b(?! that\b).*$")
_SOURCE_BEFORE_END = re.compile(rf",(?: [\w’'.-]+){{1,6}}, (?:[A-Z][\w’'.-]+ ?)+, {_SAYS}\b.*$")
_NO_SUBJECT = re.compile(r"(?:Is|Are|Was|Were|Has|Have|Had|Will|Can|Could|May|Did|Does)\b(?!.*\?$)")
_VERB_BEFORE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|\w{3,}ed|\w{3,}s|fell|rose|got|gets?|won|lost|led|left|made|took|began|came|went|gave"
    r"|said|cut|cost|found|built|sold|bought|held|kept|ran|grew|paid|sent|told|knew|drew|broke|need|want)\b"
)


class Fact(NamedTuple):
    """A statement of a text that can be asked about by itself, and the sentence that says it."""

    statement: str
    sentence: str
    number: int


_LEADING = re.compile(r"^(?:In|On|At|After|Since|By|During|Before|For|With|Under|From)\b[^,]{3,60}, (?=[a-zA-Z0-9])")


# a day of the week, and who looked on: a summary that leaves them out still says the fact
_WHEN = re.compile(
    r",? (?:on|since|by|until|last|next|this) (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
    r"(?: (?:morning|noon|afternoon|evening|night))?(?=[ ,.;]|$)"
)
_BEFORE_WHOM = re.compile(r" in front of (?:[^,;]|,(?=\d))*$")
_NEGATION = re.compile(r"\b(?:not|no|never|nobody|none|nothing|neither|only|cannot)\b|n['’]t\b", re.I)


def _without_circumstances(clause: str) -> str:
    """A clause without its day and its onlookers; whole where a *not* could be about them, or little would be left."""
    if _NEGATION.search(clause):
        return clause
    bare = _BEFORE_WHOM.sub("", _WHEN.sub("", clause))
    return bare if len(bare.split()) >= 4 and _VERB_BEFORE.search(bare) else clause


def _without_edges(clause: str) -> str:
    """A clause without an opening circumstance and without what follows the last comma, where no verb stands there."""
    opened = _LEADING.sub("", clause)
    if opened != clause and _VERB_BEFORE.search(opened) and len(opened.split()) >= 4:
        clause = opened[:1].upper() + opened[1:]
    parts = re.split(r", (?=[a-z0-9A-Z])", clause)
    while len(parts) > 1 and not _VERB_BEFORE.search(parts[-1].split(" and ")[0]) and " and " not in parts[-1]:
        head = ", ".join(parts[:-1])
        if len(head.split()) < 5 or not _VERB_BEFORE.search(head):
            break
        parts.pop()
    return ", ".join(parts)


def _core(clause: str) -> str:
    """A clause without the circumstances that follow its fact; whole where cutting could change what is claimed."""
    clause = _SOURCE_BEFORE_END.sub("", _SOURCE_AT_END.sub("", clause)) or clause
    for tail in _TAIL.finditer(clause):
        head = clause[: tail.start()].rstrip(" ,;:")
        if _ASKS.search(head):
            return clause
        whole = head.count(", ") % 2 == 0
        if len(head.split()) >= 5 and _VERB_BEFORE.search(head) and whole:
            return head
    return clause


def _lead_and_item(whole: str) -> tuple[str, str]:
    """The lead-in and the one item that stands below it."""
    lead, items = list_parts(whole)
    return lead, items[0]


@lru_cache(maxsize=256)
def facts_of(text: str) -> tuple[Fact, ...]:
    """The facts of a text in their order: each sentence's clauses, pronouns replaced where rules are sure.

    An item of a list under a *not* is a fact with its lead-in, which is none by itself.
    """
    sentences = premise_sentences(text)
    resolved = resolve_by_rules([unit.text for unit in sentences]).units if sentences else ()
    read = with_denying_leads(resolved)
    leads = leads_into_items(resolved, read)
    facts: list[Fact] = []
    for number, (sentence, own, whole) in enumerate(zip(sentences, resolved, read, strict=True)):
        if leads[number]:
            continue
        stated = own if whole == own else with_lead(*_lead_and_item(whole))
        for clause in split_claims(stated) or [stated]:
            core = _without_circumstances(_without_edges(_core(clause)))
            bit = core.rstrip(".") not in sentence.text[: len(core)]
            verbless = bit and len(core.split()) < 4 and not _VERB_BEFORE.search(core)
            if re.search(r"\w", core) and not verbless and not (_NO_SUBJECT.match(core) and core != sentence.text):
                facts.append(Fact(core, sentence.text, number))
    return tuple(dict.fromkeys(facts))


def how_many_questions(text: str) -> int:
    """About one for 25 words; ten at least, where a text has as many facts, and forty at most.

    Examples
    --------
    >>> how_many_questions("It rained all day. " * 100)
    16
    """
    return min(_MOST, max(_FEWEST, round(len(text.split()) / _WORDS_A_QUESTION)))


def candidate_phrases(text: str, longest: int = 4) -> list[str]:
    """Runs of neighbouring content words and numbers within a sentence; of a long run the last words, its noun."""
    found: list[str] = []
    for sentence in premise_sentences(text):
        found += _phrases_of(sentence.text, longest)
    return list(dict.fromkeys(found))


def _phrases_of(text: str, longest: int) -> list[str]:
    runs: list[list[Token]] = [[]]
    for token in sentence_tokens(text):
        gap = text[runs[-1][-1].end : token.start] if runs[-1] else ""
        if runs[-1] and (token.kind not in ("content", "number") or re.search(r"[^\s\-’'.]|\. |\s\s|\n", gap)):
            runs.append([])
        if token.kind in ("content", "number"):
            runs[-1].append(token)
    kept = [run[-longest:] for run in runs if len(run) > 1 or (run and stem_weight(run[0].key) >= _RARE)]
    return [text[run[0].start : run[-1].end] for run in kept]


def stems_of(text: str) -> list[str]:
    """The stems of a text's content words and numbers, in their order."""
    return [token.key for token in sentence_tokens(text) if token.kind in ("content", "number")]


def _main_sentences(sentences: Sequence[set[str]]) -> list[float]:
    """How much each sentence belongs to what a text is about, from the stems of all its sentences.

    The mean likeness to the other sentences (shared stem weight, divided by the geometric mean of both weights), times
    the share of its stem weight that the first two sentences hold, too (a text of under eight sentences opens with one,
    one of under four with none). Where no two sentences are alike, all are as central.
    """
    total = [sum(map(stem_weight, sorted(own))) for own in sentences]
    first = min(2, len(sentences) // 4)
    opening = set[str]().union(*sentences[:first])

    def shared(stems: set[str], other: set[str]) -> float:
        return sum(map(stem_weight, sorted(stems & other)))

    central = []
    for i, own in enumerate(sentences):
        alike = [
            shared(own, other) / math.sqrt(total[i] * total[j]) if total[i] and total[j] else 0.0
            for j, other in enumerate(sentences)
            if j != i
        ]
        central.append(sum(alike) / len(alike) if alike else 1.0)
    if not any(central):
        central = [1.0] * len(sentences)
    held = [
        _OPENING_SHARE + (shared(own, opening) / weight if first and weight else 1.0)
        for own, weight in zip(sentences, total, strict=True)
    ]
    return [centre * share for centre, share in zip(central, held, strict=True)]


class Weights:
    """How much each stem of a text counts, and where it is met first; how much each sentence and fact counts."""

    def __init__(self, text: str):
        sentences = [stems_of(sentence.text) for sentence in premise_sentences(text)]
        self.main = _main_sentences([set(stems) for stems in sentences])
        held = Counter(stem for stems in sentences for stem in set(stems))
        self.worth = {stem: stem_weight(stem) * math.log1p(count) for stem, count in held.items()}
        self.first = {stem: i for i, stems in reversed(list(enumerate(sentences))) for stem in stems}

    def of(self, stems: set[str]) -> float:
        """The weight of a phrase with these stems: worth, divided by how late it is first met."""
        known = sorted(stems & self.worth.keys())
        if not known:
            return 0.0
        return sum(self.worth[stem] for stem in known) / (1 + 0.1 * min(self.first[stem] for stem in known))

    def of_fact(self, fact: Fact) -> float:
        """The weight of a fact: the mean (a root of a product) of what its stems count and what its sentence counts.

        More where it holds a number or a name, less the later it is said.
        """
        worth = sum(self.worth.get(stem, 0.0) for stem in sorted(set(stems_of(fact.statement))))
        number = any(token.kind == "number" for token in sentence_tokens(fact.statement))
        name = re.search(r"\b[A-Z][a-z]+", fact.statement[1:]) is not None
        said = math.sqrt(worth * self.main[fact.number])
        return said / (1 + _LATER * fact.number) * (1 + _NUMBER * number + _NAME * name)


def counted_phrases(text: str, n: int) -> list[Keyphrase]:
    """At most n key phrases, one for each of the weightiest facts: the phrase of it that counts most and is new."""
    weights, chosen = Weights(text), dict[str, Keyphrase]()
    for fact in sorted(facts_of(text), key=lambda fact: -weights.of_fact(fact)):
        if len(chosen) == n:
            break
        phrases = [phrase for phrase in _phrases_of(fact.sentence, 4) if phrase in fact.statement] or _phrases_of(
            fact.sentence, 4
        )
        new = [phrase for phrase in phrases if phrase not in chosen]
        if new:
            best = max(new, key=lambda phrase: weights.of(set(stems_of(phrase))))
            chosen[best] = place_keyphrase(text, best, weights.of(set(stems_of(best))))
    return list(chosen.values())


def make_questions(text: str, keyphrases: Sequence[str]) -> list[Question]:
    """One yes/no question for each fact that holds a key phrase, in the order of the key phrases.

    Of several facts with a phrase the weightiest is asked about that no other phrase has taken; where all are taken,
    they share a question.
    """
    weights, held = Weights(text), dict[Fact, list[str]]()
    facts = sorted(facts_of(text), key=lambda fact: -weights.of_fact(fact))
    for phrase in keyphrases:
        own = [fact for fact in facts if phrase.casefold() in fact.statement.casefold()]
        own = own or [fact for fact in facts if phrase.casefold() in fact.sentence.casefold()]
        if own:
            held.setdefault(next((fact for fact in own if fact not in held), own[0]), []).append(phrase)
    return [
        Question(
            text=f"Is it true that {lowered(fact.statement)}?",
            statement=fact.statement,
            keyphrases=tuple(phrases),
            source=fact.sentence,
        )
        for fact, phrases in held.items()
    ]


def lowered(clause: str) -> str:
    """A clause without its final stop, and without the capital of an opening function word."""
    plain = clause.strip().rstrip(".!?;, ")
    first = sentence_tokens(plain)[:1]
    small = bool(first) and first[0].kind != "content" and first[0].start == 0 and plain[:2] != "I "
    return plain[:1].lower() + plain[1:] if small else plain


def keybert_phrases(items: Sequence[tuple[str, int]], embedder: BatchEmbedder) -> list[list[Keyphrase]]:
    """Key phrases of many (text, most) by KeyBERT over our candidates."""
    texts = list(dict.fromkeys(text for text, _ in items if candidate_phrases(text)))
    if not texts:
        return [[] for _ in items]
    backend = require_module("keybert.backend", "models").BaseEmbedder
    encode = {"embed": lambda self, documents, verbose=False: embedder.encode(list(documents))}
    local = type("Local", (backend,), encode)
    vectorizer = require_module("sklearn.feature_extraction.text", "models").CountVectorizer
    sentences = {text: [s.text for s in premise_sentences(text)] for text in texts}
    vectors = SentenceVectors(embedder, [s for group in sentences.values() for s in group])
    means = np.stack([vectors.of(sentences[text]).mean(axis=0) for text in texts])
    model = require_module("keybert", "models").KeyBERT(model=local())
    found = model.extract_keywords(
        texts,
        vectorizer=vectorizer(analyzer=candidate_phrases),
        use_mmr=True,
        diversity=0.5,
        top_n=max(n for _, n in items),
        doc_embeddings=means,
    )
    by_text = dict(zip(texts, [found] if len(texts) == 1 else found, strict=True))
    return [[place_keyphrase(text, *pair) for pair in by_text.get(text, [])[:n]] for text, n in items]
