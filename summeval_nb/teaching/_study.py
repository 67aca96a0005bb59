# A plain private module. Edited directly: no notebook exports it; tested in tests/test_play.py.
"""Verdicts for every number of evidence sentences, asked for once; and verdicts under another threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace

from summeval_nb.evidence.checker import Checker, nearest_evidence
from summeval_nb.evidence.faithfulness import Faithfulness, evaluate
from summeval_nb.evidence.load import load_checker
from summeval_nb.ground.results import Verdict, require_count, require_share
from summeval_nb.text._vectors import EmbedderOrName
from summeval_nb.text.split import split_markdown


@dataclass(frozen=True, eq=False)
class EvidenceStudy:
    """A result and the verdicts for every k: `verdicts[k - 1][i]` judges summary sentence i by k sentences."""

    result: Faithfulness
    verdicts: tuple[tuple[Verdict, ...], ...]
    threshold: float


def evidence_study(
    text: str,
    summary: str,
    max_k: int = 12,
    *,
    embedder: EmbedderOrName = "minilm",
    checker: str | Checker = "embedded",
) -> EvidenceStudy:
    """Judge a summary with 1 to `max_k` evidence sentences for each of its sentences.

    Raises
    ------
    ValueError
        If one of the texts is empty: there is nothing to judge.
    """
    judge, most = load_checker(checker), require_count(max_k, "max_k")
    result = evaluate(text, summary, most, embedder=embedder, checker=judge)
    if not result.sentences:
        raise ValueError(f"there is nothing to play with: {result.reason}")
    plain = plain_sentences(text) | plain_sentences(summary)
    return EvidenceStudy(result, verdicts_by_k(result, plain, judge, most), judge.threshold)


def verdicts_by_k(
    result: Faithfulness, plain: dict[str, str], judge: Checker, max_k: int
) -> tuple[tuple[Verdict, ...], ...]:
    """Return the verdicts with 1, 2, … evidence sentences; the last ones are those of the result itself."""
    source = [plain[sentence.text] for sentence in result.source_sentences]
    chosen = [[nearest_evidence(row, k) for row in result.similarity] for k in range(1, min(max_k, len(source)))]
    stated = [verdict.judged or verdict.failed for verdict in result.verdicts]  # headings and code are not judged
    pairs = [
        ([source[one.index] for one in row], plain[sentence.text])
        for rows in chosen
        for row, sentence, asked in zip(rows, result.sentences, stated, strict=True)
        if asked
    ]
    judged = iter(judge.check_many(pairs) if pairs else [])
    verdicts = [
        tuple(
            replace(next(judged), evidence=row) if asked else full
            for row, asked, full in zip(rows, stated, result.verdicts, strict=True)
        )
        for rows in chosen
    ]
    return (*verdicts, tuple(result.verdicts))


def plain_sentences(text: str) -> dict[str, str]:
    """Return for each sentence of a text, as it stands, the words without markup that a checker reads."""
    return {one.sentence.text: one.plain for one in split_markdown([text], progress=False)[0]}


def decided(verdict: Verdict, threshold: float) -> Verdict:
    """Return a verdict under another threshold; what would be supported is never called contradicted.

    A border that is the threshold moves with it: all that clashes is contradicted below.
    """
    low = verdict.contradicted_below
    if low is not None:
        clash = low == verdict.threshold and any(finding.clash for finding in verdict.findings)
        low = threshold if clash else min(low, threshold)
    return replace(verdict, threshold=threshold, contradicted_below=low)


def require_known(study: EvidenceStudy, k: int, threshold: float | None) -> tuple[int, float]:
    """Return k, for which the study must have been made, and the threshold; without one it is the study's."""
    most = len(study.verdicts)
    if require_count(k, "k") > most:
        raise ValueError(f"k must be at most {most}, for which the study was made, not {k}")
    return k, study.threshold if threshold is None else require_share(threshold, "threshold")
