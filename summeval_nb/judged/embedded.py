"""Judges that answer in bulk, and the one that needs no download: rules, the packaged MiniLM and its checker."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from summeval_nb.core.base import Stages, require_count, require_option, require_text, require_texts, steps
from summeval_nb.core.results import Finding, Sentence, Verdict
from summeval_nb.evidence.base import Checker, nearest_evidence
from summeval_nb.evidence.builtin import BuiltinChecker, WordsChecker
from summeval_nb.evidence.faithfulness import DEFAULT_K, check_with, may_be_evidence, unread_sentences
from summeval_nb.evidence.model_checkers import load_checker
from summeval_nb.evidence.tokens import Parts, take_apart
from summeval_nb.evidence.words import idf_coverage
from summeval_nb.judged.judging import (
    Answer,
    Entailment,
    Flag,
    JudgeFailure,
    Keyphrase,
    Label,
    Passage,
    Question,
    Resolution,
    Statement,
    as_statement,
)
from summeval_nb.judged.questions import counted_phrases, make_questions
from summeval_nb.judged.refusals import refusal_flags, refusal_rules, unread
from summeval_nb.models.store import content_key
from summeval_nb.text.clauses import split_claims, subject_of
from summeval_nb.text.embed import BatchEmbedder, RememberingEmbedder, SentenceVectors, load_embedder
from summeval_nb.text.language import reads
from summeval_nb.text.similarity import unit_rows
from summeval_nb.text.split import Reading, split_markdown
from summeval_nb.text.statements import READING, clause_statements, premise_sentences, read_with_leads, resolve_by_rules

__all__ = ["BulkJudge", "EmbeddedJudge"]

Items: TypeAlias = Sequence[tuple[Any, ...]]  # the arguments of one of a judge's methods, a tuple an item

TASKS: Mapping[str, tuple[str, Any]] = {  # the judge's method, and the type of its answer
    "resolve": ("resolve_pronouns", Resolution),
    "statements": ("statements", list[Statement]),
    "entail": ("entail", list[Entailment]),
    "refusal": ("is_refusal", Flag),
    "keyphrases": ("keyphrases", list[Keyphrase]),
    "questions": ("questions", list[Question]),
    "answer": ("answer", list[Answer]),
}


class BulkJudge:
    """The seven methods, for judges that answer in bulk by `many(task, items)`."""

    fingerprint: str

    def many(self, task: str, items: Items) -> list[Any]:
        """Answer one kind of question for many items, each or with a `JudgeFailure`."""
        raise NotImplementedError

    def resolve_pronouns(self, text: str, units: Sequence[str] | None = None) -> Resolution:
        """Replace pronouns in the units of a text (by default one, the whole text)."""
        return self._one("resolve", require_text(text, "text"), None if units is None else list(units))

    def statements(self, hypothesis: str) -> list[Statement]:
        """Split a hypothesis into its statements."""
        return self._one("statements", require_text(hypothesis, "hypothesis"))

    def entail(self, premise: str, statements: Sequence[str]) -> list[Entailment]:
        """Say for each statement whether the premise entails it."""
        return self._one("entail", require_text(premise, "premise"), require_texts(statements, "statements"))

    def is_refusal(self, text: str) -> Flag:
        """Say whether a text declines to answer."""
        return self._one("refusal", require_text(text, "text"))

    def keyphrases(self, text: str, n: int = 10) -> list[Keyphrase]:
        """Return at most n important phrases of a text, best first."""
        return self._one("keyphrases", require_text(text, "text"), require_count(n, "n"))

    def questions(self, text: str, keyphrases: Sequence[str]) -> list[Question]:
        """Return yes/no questions on the keyphrases that the text answers with yes."""
        return self._one("questions", require_text(text, "text"), require_texts(keyphrases, "keyphrases"))

    def answer(self, text: str, questions: Sequence[Question]) -> list[Answer]:
        """Answer each question from the text alone."""
        return self._one("answer", require_text(text, "text"), list(questions))

    def _one(self, task: str, *item: object) -> Any:
        (answer,) = self.many(task, [item])
        if isinstance(answer, JudgeFailure):
            raise answer
        return answer


def _label(verdict: Verdict) -> Label:
    """The label of a verdict: what clashes with nothing was not said, so neutral."""
    if verdict.supported:
        return "entailed"
    denied = verdict.contradicted_below is not None and verdict.state == "contradicted"
    clash = any(finding.clash for finding in verdict.findings)
    return "contradicted" if denied and clash else "neutral"


@lru_cache(maxsize=1024)
def _read_premise(premise: str) -> tuple[Reading, ...]:
    """What of a premise may be evidence: its sentences without markup, code, dividing lines, and questions."""
    (found,) = split_markdown([premise], progress=False)
    told = may_be_evidence(read_with_leads(premise, found))
    return tuple(reading for reading in told if not reading.plain.rstrip().endswith("?"))


def _read_statement(statement: str, premise: str = "") -> Reading:
    """A statement without markup, its values as the premise writes them; several sentences are read as they stand."""
    (found,) = split_markdown([statement], likes=[premise], lang="en", progress=False)
    if len(found) == 1 and not found[0].reason:
        return found[0]
    return Reading(Sentence(statement, 0, len(statement)), statement, range(len(statement)))


def _as_entailment(
    verdict: Verdict, premise: Sequence[Reading], places: Mapping[int, float | None], claim: Reading
) -> Entailment:
    """A checker's verdict as an entailment: evidence as passages of the premise, findings placed in the statement."""
    passages = tuple(
        Passage(
            text=reading.sentence.text,
            start=reading.sentence.start,
            end=reading.sentence.end,
            similarity=similarity,
            read=reading.plain if reading.reworded else "",
        )
        for reading, similarity in ((premise[i], cosine) for i, cosine in places.items())
    )
    if verdict.probability is None:
        return Entailment(label=None, evidence=passages, reason=verdict.reason)
    findings = []
    for finding in verdict.findings:
        start, end = claim.in_sentence(finding.start, finding.end)
        text, moved = claim.sentence.text[start:end], claim.sentence.start
        findings.append(Finding(finding.kind, text, start + moved, end + moved, finding.clash))
    how: dict[str, Any] = {"evidence": passages, "findings": tuple(findings)}
    return Entailment(label=_label(verdict), probability=verdict.probability, **how)


def _entail_many(
    items: Sequence[tuple[str, Sequence[str]]], embedder: BatchEmbedder, checker: Checker, k: int, lang: str | None
) -> list[list[Entailment] | JudgeFailure]:
    """Entailments for many (premise, statements), each distinct pair judged once; an empty premise is a failure."""
    stage = Stages(read=1, embed=2, check=8)
    with stage("read"):
        premises = {premise: _read_premise(premise) for premise, _ in items}
        claims = {(premise, s): _read_statement(s, premise) for premise, listed in steps(items) for s in listed}
    with stage("embed"):
        texts = [reading.plain for own in (*premises.values(), claims.values()) for reading in own]
        vectors = SentenceVectors(embedder, texts)
    matrices = {premise: unit_rows(vectors.of([one.plain for one in own])) for premise, own in premises.items() if own}
    reasons = [
        unread_sentences(premises[premise], [claims[premise, statement] for statement in statements], checker, lang)
        for premise, statements in items
    ]
    places: dict[tuple[str, str], dict[int, float | None]] = {}
    for (premise, statements), own in zip(items, reasons, strict=True):
        for statement, reason in zip(statements, own, strict=True):
            if premise in matrices and not reason:
                claim = unit_rows(vectors.of([claims[premise, statement].plain])[0])
                closest = nearest_evidence(matrices[premise] @ claim, k)
                places[premise, statement] = {piece.index: piece.similarity for piece in closest}
    pairs = {
        asking: (tuple(premises[asking[0]][i].plain for i in found), claims[asking].plain)
        for asking, found in places.items()
    }
    distinct = list(dict.fromkeys(pairs.values()))
    asked = [(list(evidence), claim) for evidence, claim in distinct]
    with stage("check"):
        told = check_with(vectors, checker, asked) if asked else []
    verdicts = dict(zip(distinct, told, strict=True))

    def entailment(premise: str, statement: str, reason: str) -> Entailment:
        if reason:
            return Entailment(label=None, reason=reason)
        asking = premise, statement
        return _as_entailment(verdicts[pairs[asking]], premises[premise], places[asking], claims[asking])

    empty = JudgeFailure("entail", "the premise holds no sentence")
    return [
        [entailment(p, *one) for one in zip(statements, own, strict=True)] if premises[p] else empty
        for (p, statements), own in zip(items, reasons, strict=True)
    ]


def _denies(denier: Parts, other: Parts) -> bool:
    """Whether a *not* in one text is about something that the other says, too; *without* denies nothing."""
    for place, token in enumerate(denier.tokens):
        if token.kind == "negation" and denier.text[token.start : token.end].lower() != "without":
            after = [word.key for word in denier.tokens[place + 1 :] if word.kind in ("content", "number")][:2]
            if not after or other.content_set & set(after):
                return True
    return False


# how much of what is told of the subject must be said: with the checker's yes; where the checker nearly says yes, which
# is from this share of its threshold on, and nothing clashes
SAID_ENOUGH, SAID_CLEARLY, NEARLY = 0.4, 0.6, 0.8


def _numbers_of(parts: Parts) -> set[str]:
    return {token.key for token in parts.tokens if token.kind == "number"}


def _altered(statement: Parts, sentence: Parts) -> str:
    """What a sentence says otherwise: a number, a negation, or '' for nothing."""
    missing = sorted(_numbers_of(statement) - _numbers_of(sentence))
    if missing:
        instead = sorted(_numbers_of(sentence) - _numbers_of(statement))
        told = " and ".join(", ".join(numbers) for numbers in (missing, instead))
        return f"numbers differ: {told}" if instead else f"not said: {', '.join(missing)}"
    clauses = [take_apart(clause) for clause in split_claims(sentence.text)] or [sentence]
    content = statement.content_set
    nearest = max(clauses, key=lambda clause: len(clause.content_set & content))
    negated = _denies(statement, nearest) != _denies(nearest, statement)
    return "one of the two is negated" if negated else ""


def _answer_said(statement: str, sentences: Sequence[Sentence]) -> Answer:
    """An answer by words: enough of what is told of the subject stands in one sentence, and nothing altered."""
    parts, texts = take_apart(statement), [take_apart(s.text) for s in sentences]
    if not parts.tokens:
        return Answer(value=None, reason="the question's statement holds no word")
    told = take_apart(statement[len(subject_of(statement)) :])
    said = np.array([idf_coverage(told if told.content else parts, [text]) for text in texts])
    order = np.argsort(-said, kind="stable")
    best, enough = int(order[0]), bool(said[order[0]] >= SAID_ENOUGH)
    altered = _altered(parts, texts[best]) if enough else "too little of it is said"
    nearest = [sentences[i] for i in order[:2]]
    return Answer(
        value=1 if enough and not altered else 0,
        said=min(1.0, float(said[best])),
        evidence=tuple(Passage(text=s.text, start=s.start, end=s.end) for s in nearest),
        reason=altered,
    )


def _as_answer(found: Entailment, said: Answer | None, threshold: float) -> Answer:
    """Yes where the checker says so and enough is said, or it nearly says so and clearly enough is said."""
    if found.failed or found.probability is None:
        return Answer(value=None, evidence=found.evidence, reason=found.reason)
    yes = found.label == "entailed"
    if said is None or said.said is None:
        return Answer(value=1 if yes else 0, probability=found.probability, evidence=found.evidence)
    clash = any(finding.clash for finding in found.findings)
    nearly = found.probability >= NEARLY * threshold and not clash and said.value == 1
    if (yes and said.said >= SAID_ENOUGH) or (nearly and said.said >= SAID_CLEARLY):
        return replace(said, value=1, probability=found.probability, evidence=found.evidence[:2], reason="")
    return replace(said, value=0, probability=found.probability)


def _answer_many(
    items: Sequence[tuple[str, Sequence[Question]]], embedder: BatchEmbedder, checker: Checker, k: int, lang: str | None
) -> list[list[Answer] | JudgeFailure]:
    """Answers: yes where the checker says so, or nearly; of the package's own, enough must be said in words, too."""
    asked = [(text, [question.statement for question in questions]) for text, questions in items]
    builtin, blind = isinstance(checker, BuiltinChecker), isinstance(checker, WordsChecker)

    def answer(statement: str, found: Entailment, sentences: Sequence[Sentence]) -> Answer:
        said = _answer_said(statement, sentences) if sentences else None
        return said if blind and said and not found.failed else _as_answer(found, said, checker.threshold)

    answers: list[list[Answer] | JudgeFailure] = []
    for (text, statements), found in zip(asked, _entail_many(asked, embedder, checker, k, lang), strict=True):
        if isinstance(found, JudgeFailure):
            answers.append(JudgeFailure("answer", found.reason))
            continue
        sentences = premise_sentences(text) if builtin else []
        answers.append([answer(*one, sentences) for one in zip(statements, found, strict=True)])
    return answers


class EmbeddedJudge(BulkJudge):
    """The judge that comes with the package: rules, the packaged MiniLM, its checker.

    Parameters
    ----------
    checker : str or Checker
        Who decides about entailment, by name as for `evaluate` or as an object.
        `"words"` is quicker and reads less.
    embedder : str or Embedder
        Whose vectors find evidence, refusals and keyphrases.
    k : int
        How many sentences of a premise are weighed for each statement; as many as
        `evaluate` weighs.
    lang : str, optional
        The texts' language, such as `"en"`. By default a text that is clearly in a
        language that the checker or the rules do not read is not judged, and the reason
        says so.

    Notes
    -----
    No download. English only. Pronouns that open a sentence are replaced
    where rules are sure of the subject before them. For the same premise and
    statement the verdict is that of `evaluate`: supported is entailed, contradicted by
    something that clashes is contradicted, and all else is neutral.

    Examples
    --------
    >>> judge = EmbeddedJudge()
    >>> bool(judge.is_refusal("I cannot answer this from the text."))
    True
    >>> judge.entail("It rained in Oslo on Monday.", ["It rained in Oslo."])[0].label
    'entailed'
    """

    languages = ("en",)
    by_words = True  # so a short answer's own words are looked for in the premise, too

    def __init__(
        self,
        *,
        checker: str | Checker = "embedded",
        embedder: Any = "minilm",
        k: int = DEFAULT_K,
        lang: str | None = None,
    ):
        self._checker = load_checker(checker)
        self._embedder: Any = load_embedder(embedder)
        self._k = require_count(k, "k")
        self._lang = None if lang is None else require_text(lang, "lang")
        rules = content_key(refusal_rules(), SAID_ENOUGH, SAID_CLEARLY, NEARLY, READING)[:12]
        low = getattr(self._checker, "contradicted_below", None)
        borders = f"t{self._checker.threshold}" + ("" if low is None else f"-{low}")
        parts = [f"rules-{rules}", self._checker.fingerprint, borders, self._embedder.fingerprint, f"k{k}"]
        self.fingerprint = "+".join(["embedded-judge", *parts, *([] if lang is None else [lang])])

    def __repr__(self) -> str:
        return f"EmbeddedJudge(checker={self._checker!r}, k={self._k}, {reads(self)})"

    @property
    def inner(self) -> Checker:
        """The checker, which may ask a language model and is then asked about it."""
        return self._checker

    def for_run(self) -> EmbeddedJudge:
        """Return a copy that keeps the vectors of 4,096 sentences while it lives."""
        copied = copy.copy(self)
        inner = getattr(self._embedder, "inner", self._embedder)
        copied._embedder = RememberingEmbedder(inner)
        return copied

    def many(self, task: str, items: Items) -> list[Any]:
        """Answer one kind of question for many items at once; see `ask_many`."""
        require_option(task, "task", TASKS)
        return getattr(self, f"_{task}")(items)

    def _resolve(self, items: Sequence[Any]) -> list[Any]:
        return [Resolution(**resolve_by_rules([text] if u is None else u)._asdict()) for text, u in items]

    def _statements(self, items: Sequence[Any]) -> list[Any]:
        return [[as_statement(claim, whole) for claim in clause_statements(whole)] for (whole,) in items]

    def _refusal(self, items: Sequence[Any]) -> list[Any]:
        return refusal_flags([text for (text,) in items], self._embedder, self._lang)

    def _entail(self, items: Sequence[Any]) -> list[Any]:
        return _entail_many(items, self._embedder, self._checker, self._k, self._lang)

    def _keyphrases(self, items: Sequence[Any]) -> list[Any]:
        pairs = [(item, unread(item[0], self._lang)) for item in items]
        return [JudgeFailure("keyphrases", why) if why else counted_phrases(*item) for item, why in pairs]

    def _questions(self, items: Sequence[Any]) -> list[Any]:
        return [make_questions(text, keyphrases) for text, keyphrases in items]

    def _answer(self, items: Sequence[Any]) -> list[Any]:
        return _answer_many(items, self._embedder, self._checker, self._k, self._lang)
