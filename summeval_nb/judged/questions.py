"""The exam that a text sets: its facts, key phrases of them, and a question for each."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from summeval_nb.evidence.tokens import Token, sentence_tokens
from summeval_nb.evidence.words import stem_weight
from summeval_nb.judged.judging import Keyphrase, Question
from summeval_nb.text.clauses import is_participle, minimal_claims, subject_of
from summeval_nb.text.statements import (
    leads_into_items,
    list_parts,
    premise_sentences,
    resolve_by_rules,
    with_denying_leads,
    with_lead,
)

# how rare a word must be (chapter 34) to be a key phrase by itself: meals is, day is not
_RARE = 3.0
# how much more a fact counts that holds a number, how much less what somebody says, what weight of words tells enough
# of a subject, and which share of the questions is spread over the text (chosen on the articles in benchmarks/)
_NUMBER, _REPORTED, _TOLD, _SPREAD = 0.5, 0.5, 12.0, 0.75
_SAYS = re.compile(
    r"\b(?:said|says?|told|warn(?:s|ed)|wrote|believes?|thinks?|fears?|hopes?|expects?|replied|argued?s?)\b"
)
_OPENING_SHARE = 0.2  # what a sentence counts that shares no word with the first two
_WORDS_A_QUESTION, _FEWEST, _MOST = 40, 9, 40
# whose opening says nothing by itself: a pronoun, *most of these*, a verb without its subject
_UNCLEAR = re.compile(
    r"(?:He|She|It|They|This|That|These|Those|His|Her|Its|Their|We|I|You|Our|My|Your)\b"
    r"|(?:Is|Are|Was|Were|Has|Have|Had|Will|Can|Could|May|Did|Does)\b(?!.*\?$)"
    r"|[^,]{0,30}?\bof (?:them|these|those|it|this)\b"
)
_PRONOUN = re.compile(r"((?:[A-Z]\w+ (?:in|by|of|at) [^,]{1,30}, )?)(It|He|She|it|he|she)\b(?!['’])")
_FULL_NAME = re.compile(
    r"(?:(?:Dr|Mr|Mrs|Ms|Professor|Coach|Judge|Captain|President) )?"
    r"[A-Z][a-z]+(?:-[A-Z][a-z]+)? (?:(?:de|van|von|[A-Z]\.) )?[A-Z][a-zé]+\b"
)
_INVERTED = frozenset("is are was were will can could may might must shall should would has have had".split())
_OPENING_PREPOSITIONS = frozenset("in on at after since by during before for with without under from as of".split())


def place_keyphrase(text: str, phrase: str, weight: float | None) -> Keyphrase:
    """Return a keyphrase with its first place in the text, where it stands there word for word.

    Examples
    --------
    >>> found = place_keyphrase("The council met.", "council", None)
    >>> found.start, found.end
    (4, 11)
    """
    start = text.find(phrase)
    place = {"start": start, "end": start + len(phrase)} if start >= 0 else {}
    return Keyphrase(text=phrase, weight=None if weight is None else float(weight), **place)


class Fact(NamedTuple):
    """A statement of a text that can be asked about by itself, and the sentence that says it."""

    statement: str
    sentence: str
    number: int


@lru_cache(maxsize=256)
def facts_of(text: str) -> tuple[Fact, ...]:
    """The facts of a text in their order: each sentence's smallest claims, pronouns replaced where rules are sure.

    An item of a list under a *not* is a fact with its lead-in, which is none by itself. A claim about an open *she* or
    *this*, and a piece of a quotation, are facts only where the text has no other.
    """
    sentences = premise_sentences(text)
    resolved = about_topic(resolve_by_rules([unit.text for unit in sentences]).units) if sentences else ()
    read = with_denying_leads(resolved)
    leads = leads_into_items(resolved, read)
    facts: list[Fact] = []
    for number, (sentence, own, whole) in enumerate(zip(sentences, resolved, read, strict=True)):
        if leads[number]:
            continue
        lead, items = list_parts(whole)
        stated = own if whole == own else with_lead(lead, items[0])
        facts += [Fact(claim, sentence.text, number) for claim in minimal_claims(stated) if re.search(r"\w", claim)]
    clear = [fact for fact in facts if not _UNCLEAR.match(fact.statement) and not _quoted(fact.statement)]
    return tuple(dict.fromkeys(clear or facts))


def _quoted(statement: str) -> bool:
    """Whether a statement is somebody's words, or ends within them."""
    return statement[:1] in "\"“'‘" or sum(statement.count(mark) for mark in '"“”') % 2 == 1


def about_topic(units: Sequence[str]) -> tuple[str, ...]:
    """Sentences in which an opening *it* is what an *X is a …* before told of, and *he* or *she* the person before.

    As long as every sentence begins with it, the next pronoun means the same.

    Examples
    --------
    >>> about_topic(["Lund is a city in Sweden.", "It is the seat of Lund University."])[1]
    'Lund is the seat of Lund University.'
    """
    out, topic, pronouns = list[str](), "", frozenset[str]()
    for unit in units:
        opening = _PRONOUN.match(unit)
        also = topic and opening and unit.startswith("It also ") and not _FULL_NAME.fullmatch(topic)
        if opening and (also or opening[2].lower() in pronouns):
            unit = opening[1] + topic + unit[opening.end() :]
        else:
            before, topic = topic, subject_of((minimal_claims(unit) or [""])[0])
            others = [name for name in _FULL_NAME.findall(unit) if name not in topic]
            if _FULL_NAME.fullmatch(topic):
                pronouns = frozenset(() if others else ("he", "she"))
            elif topic != before:
                pronouns = frozenset(
                    ("it",) if re.match(r"(?:is|was) (?:a|an|the|one)\b", unit[len(topic) + 1 :]) else ()
                )
        out.append(unit)
    return tuple(out)


def how_many_questions(text: str) -> int:
    """About one for 40 words; nine at least, where a text has as many facts, and forty at most.

    Examples
    --------
    >>> how_many_questions("It rained all day. " * 200)
    20
    """
    return min(_MOST, max(_FEWEST, round(len(text.split()) / _WORDS_A_QUESTION)))


def _phrases_of(text: str, longest: int = 4) -> list[str]:
    """Runs of neighbouring content words and numbers; of a long run the last words, its noun."""
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
        """The weight of a fact: what its sentence counts, times how much is told of its subject.

        More where it holds a number, less where somebody only says it.
        """
        told = sum(map(stem_weight, sorted(set(stems_of(fact.statement[len(subject_of(fact.statement)) :])))))
        number = any(token.kind == "number" for token in sentence_tokens(fact.statement))
        reported = _REPORTED if _SAYS.search(fact.statement) else 1.0
        return (0.1 + self.main[fact.number]) * min(1.0, told / _TOLD) * (1 + _NUMBER * number) * reported


def chosen_facts(text: str, n: int) -> list[Fact]:
    """At most n facts of a text, the weightiest first, a share of them spread: of each stretch of it its weightiest.

    The others are the weightiest that are left, where a sentence counts less the more of its facts are chosen. A fact
    that only adds to a chosen one, or leaves something of it out, is not chosen.
    """
    weights, facts = Weights(text), facts_of(text)
    weight = {fact: weights.of_fact(fact) for fact in facts}
    lengths = [len(sentence.text) for sentence in premise_sentences(text)]
    stretches = max(1, round(_SPREAD * n))
    best: dict[int, Fact] = {}
    for fact in facts:
        middle = sum(lengths[: fact.number]) + lengths[fact.number] / 2
        place = int(stretches * middle / sum(lengths))
        if place not in best or weight[fact] > weight[best[place]]:
            best[place] = fact
    chosen = list(best.values())
    left = [fact for fact in facts if not any(_nested(fact, other) for other in chosen)]
    while left and len(chosen) < n:
        taken = Counter(fact.number for fact in chosen)
        chosen.append(max(left, key=lambda fact: weight[fact] / (1 + taken[fact.number])))
        left = [fact for fact in left if not _nested(fact, chosen[-1])]
    return sorted(chosen, key=lambda fact: -weight[fact])[:n]


def _nested(fact: Fact, other: Fact) -> bool:
    """Whether one of two facts says all that the other says."""
    words, others = (set(each.statement.lower().rstrip(".").split()) for each in (fact, other))
    return fact.number == other.number and (words <= others or others <= words)


def counted_phrases(text: str, n: int) -> list[Keyphrase]:
    """At most n key phrases, one for each chosen fact: the phrase of it that counts most and is new."""
    weights, chosen = Weights(text), dict[str, Keyphrase]()
    for fact in chosen_facts(text, n):
        phrases = _phrases_of(fact.sentence)
        new = [phrase for phrase in phrases if phrase not in chosen]
        own = [phrase for phrase in new if phrase in fact.statement] or new
        if own:
            best = max(own, key=lambda phrase: weights.of(set(stems_of(phrase))))
            chosen[best] = place_keyphrase(text, best, weights.of(set(stems_of(best))))
    return list(chosen.values())


def make_questions(text: str, keyphrases: Sequence[str]) -> list[Question]:
    """One yes/no question for each fact that holds a key phrase, in the order of the key phrases.

    Of several facts with a phrase the first chosen is asked about that no other phrase has taken; where all are taken,
    they share a question.
    """
    weights, held = Weights(text), dict[Fact, list[str]]()
    chosen = chosen_facts(text, max(1, len(keyphrases)))
    others = sorted(set(facts_of(text)) - set(chosen), key=lambda fact: (-weights.of_fact(fact), fact))
    facts = [*chosen, *others]
    for phrase in keyphrases:
        own = [fact for fact in facts if phrase.casefold() in fact.statement.casefold()]
        own = own or [fact for fact in facts if phrase.casefold() in fact.sentence.casefold()]
        if own:
            held.setdefault(next((fact for fact in own if fact not in held), own[0]), []).append(phrase)
    return [
        Question(
            text=as_question(fact.statement, text),
            statement=fact.statement,
            keyphrases=tuple(phrases),
            source=fact.sentence,
        )
        for fact, phrases in held.items()
    ]


def as_question(statement: str, text: str = "") -> str:
    """The yes/no question that a statement answers: its auxiliary in front, where it has one.

    Examples
    --------
    >>> as_question("The bridge was opened in 1931."), as_question("Anna has two dogs.")
    ('Was the bridge opened in 1931?', 'Does Anna have two dogs?')
    """
    plain = lowered(statement, text)
    subject = subject_of(statement)
    auxiliary, _, rest = plain[len(subject) :].strip().partition(" ")
    opening = sentence_tokens(plain)[:1]
    bare = not opening or opening[0].key not in _OPENING_PREPOSITIONS
    if not subject or not rest or auxiliary not in _INVERTED or not bare:
        return f"Is it true that {plain}?"
    begins = plain[: len(subject)]
    if auxiliary in ("has", "have", "had") and not is_participle(rest.split(" ")[0].lower()):
        helper = {"has": "Does", "have": "Do", "had": "Did"}[auxiliary]
        return f"{helper} {begins} have {rest}?"
    return f"{auxiliary.capitalize()} {begins} {rest}?"


def lowered(statement: str, text: str = "") -> str:
    """A statement without its final stop, and without the capital of an opening that is no name.

    That is a function word, a number, or a word that the text has in small letters, too.
    """
    plain = (
        statement.strip().rstrip(".!?;, ") if not re.search(r" (?:Co|Inc|Ltd|Corp|Jr|Sr)\.$", statement) else statement
    )
    first = sentence_tokens(plain)[:1]
    if not first or first[0].start or plain[:2] == "I ":
        return plain
    word = plain[: first[0].end].lower()
    small = first[0].kind != "content" or re.search(rf"\b{re.escape(word)}\b", text) is not None
    return plain[:1].lower() + plain[1:] if small else plain
