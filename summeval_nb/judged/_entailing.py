"""Many statements and premises at once: read, evidence found, each distinct pair checked once. Edited directly.

Chapter 42 says what an entailment is; its tests are in tests/test_entailing.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from summeval_nb.evidence.checker import Checker, nearest_evidence
from summeval_nb.evidence.pairs import check_with, may_be_evidence, unread_sentences
from summeval_nb.ground.results import Finding, Sentence, Verdict
from summeval_nb.judged.judging import Entailment, JudgeFailure, Label, Passage
from summeval_nb.text.cosine import unit_rows
from summeval_nb.text.embed import LotEmbedder, SentenceVectors
from summeval_nb.text.lists import LedReading, read_with_leads
from summeval_nb.text.split import Reading, split_markdown

Labeller = Callable[[Verdict], Label]


def closest(claim: np.ndarray, evidence: np.ndarray, k: int) -> dict[int, float | None]:
    """Positions and cosines of the k evidence vectors closest to the claim, best first, ties by position."""
    found = nearest_evidence(unit_rows(evidence) @ unit_rows(claim), k)
    return {one.index: one.similarity for one in found}


@lru_cache(maxsize=1024)
def read_premise(premise: str) -> tuple[Reading, ...]:
    """What of a premise may be evidence: its sentences without markup; code and dividing lines are left out."""
    (found,) = split_markdown([premise], progress=False)
    return tuple(may_be_evidence(read_with_leads(premise, found)))


def read_statement(statement: str) -> Reading:
    """A statement without markup; one of several sentences is read as it stands.

    Nothing is cut, so no language is asked for: what the checker does not read, its reason says.
    """
    (found,) = split_markdown([statement], lang="en", progress=False)
    if len(found) == 1 and not found[0].reason:
        return found[0]
    return Reading(Sentence(statement, 0, len(statement)), statement, range(len(statement)))


def entail_many(
    items: Sequence[tuple[str, Sequence[str]]],
    embedder: LotEmbedder,
    checker: Checker,
    k: int,
    lang: str | None,
    label: Labeller,
) -> list[list[Entailment] | JudgeFailure]:
    """Entailments for many (premise, statements); a premise without a sentence is a failure."""
    premises = {premise: read_premise(premise) for premise, _ in items}
    claims = {one: read_statement(one) for _, statements in items for one in statements}
    vectors = SentenceVectors(embedder, [one.plain for own in (*premises.values(), claims.values()) for one in own])
    matrices = {premise: vectors.of([one.plain for one in own]) for premise, own in premises.items() if own}
    reasons = [
        unread_sentences(premises[premise], [claims[one] for one in statements], checker, lang)
        for premise, statements in items
    ]
    asked = {
        (premise, one): closest(vectors.of([claims[one].plain])[0], matrices[premise], k)
        for (premise, statements), own in zip(items, reasons, strict=True)
        for one, reason in zip(statements, own, strict=True)
        if premise in matrices and not reason
    }
    pairs = [([premises[p][i].plain for i in places], claims[one].plain) for (p, one), places in asked.items()]
    verdicts = dict(zip(asked, check_distinct(checker, pairs, vectors), strict=True))
    empty = JudgeFailure("entail", "the premise holds no sentence")
    return [
        [
            Entailment(label=None, reason=reason)
            if reason
            else as_entailment(verdicts[p, one], premises[p], asked[p, one], claims[one], label)
            for one, reason in zip(statements, own, strict=True)
        ]
        if premises[p]
        else empty
        for (p, statements), own in zip(items, reasons, strict=True)
    ]


def check_distinct(checker: Checker, pairs: Sequence[tuple[list[str], str]], vectors: SentenceVectors) -> list[Verdict]:
    """Verdicts for pairs, each distinct one judged once, with the vectors handed on where the checker takes them."""
    distinct = list({(tuple(evidence), claim): (evidence, claim) for evidence, claim in pairs}.values())
    if not distinct:
        return []
    found = check_with(vectors, checker, distinct)
    known = {(tuple(pair[0]), pair[1]): one for pair, one in zip(distinct, found, strict=True)}
    return [known[tuple(evidence), claim] for evidence, claim in pairs]


def as_entailment(
    verdict: Verdict, premise: Sequence[Reading], places: Mapping[int, float | None], claim: Reading, label: Labeller
) -> Entailment:
    """A checker's verdict as an entailment: evidence as passages of the premise, findings placed in the statement."""
    passages = tuple(
        Passage(
            text=one.sentence.text,
            start=one.sentence.start,
            end=one.sentence.end,
            similarity=similarity,
            read=one.plain if isinstance(one, LedReading) else "",
        )
        for one, similarity in ((premise[i], cosine) for i, cosine in places.items())
    )
    if verdict.probability is None:
        return Entailment(label=None, evidence=passages, reason=verdict.reason)
    findings = []
    for one in verdict.findings:
        start, end = claim.in_sentence(one.start, one.end)
        text, moved = claim.sentence.text[start:end], claim.sentence.start
        findings.append(Finding(one.kind, text, start + moved, end + moved, one.clash))
    return Entailment(
        label=label(verdict), probability=verdict.probability, evidence=passages, findings=tuple(findings)
    )
