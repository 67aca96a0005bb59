"""Pairs of article and summary in batches: read once, judged once, by a checker whose answers are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from summeval_nb.core.base import JsonDict, one_bar, steps
from summeval_nb.core.results import Evidence, Finding, Signature, Verdict
from summeval_nb.evidence.base import Checker, PairVectors, nearest_evidence, of_samples
from summeval_nb.evidence.inputs import unread_reasons
from summeval_nb.evidence.rows import judged_row, read_row
from summeval_nb.models.store import Store, content_key
from summeval_nb.text.embed import BatchEmbedder, SentenceVectors
from summeval_nb.text.lists import read_with_leads
from summeval_nb.text.markdown import NO_EVIDENCE, has_word
from summeval_nb.text.similarity import cosine_similarity
from summeval_nb.text.split import Reading, Splitter, split_markdown

Pair = tuple[list[str], str]  # evidence texts, summary sentence
One = TypeVar("One")
STEP = 64  # verdicts between two visits to the store: what a killed run can lose


@dataclass(frozen=True)
class Settings:
    """The choices of a metric with what they name loaded, once for all pairs of a call."""

    k: int
    splitter: Splitter
    lang: str | None
    embedder: BatchEmbedder
    checker: Checker
    store: Store | None
    signature: Signature


def batches(texts: Sequence[str], limit: int = 128) -> Iterator[list[int]]:
    """Yield batches of pair numbers: pairs with the same text stay together, a batch holds about `limit` pairs.

    Examples
    --------
    >>> list(batches(["a", "b", "a", "c"], limit=2))
    [[0, 2], [1, 3]]
    """
    groups: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        groups.setdefault(text, []).append(number)
    batch: list[int] = []
    for group in groups.values():
        if batch and len(batch) + len(group) > limit:
            yield batch
            batch = []
        batch.extend(group)
    if batch:
        yield batch


def in_batches(
    texts: Sequence[str],
    summaries: Sequence[str],
    progress: bool | None,
    evaluate_batch: Callable[[list[str], list[str]], list[One]],
) -> list[One]:
    """Return the results of pairs in their order, batch by batch, with a bar; by default for more than 128 pairs."""
    found: dict[int, One] = {}
    listed = list(batches(texts))
    with one_bar(len(texts), "faithfulness", "pair", show=len(texts) > 128 if progress is None else progress):
        for batch in steps(listed, [len(batch) for batch in listed]):
            results = evaluate_batch([texts[i] for i in batch], [summaries[i] for i in batch])
            found.update(zip(batch, results, strict=True))
    return [found[number] for number in range(len(texts))]


@dataclass(frozen=True)
class ReadPair:
    """A pair, read: the sentences that may be evidence, those of the summary, and why some of these are not judged.

    With `by_words` rows of tables are looked up in the article, since their checker goes by the words.
    """

    article: str
    summary: str
    source: list[Reading]
    readings: list[Reading]
    reasons: list[str]
    by_words: bool = False

    @property
    def plain(self) -> list[str]:
        """The sentences that need vectors, as a checker reads them; none if nothing can be judged."""
        both = (*self.source, *self.readings)
        return [reading.plain for reading in both] if self.source and self.readings else []

    @property
    def why_empty(self) -> str:
        """Why nothing can be judged."""
        which, text = ("summary", self.summary) if self.source else ("article", self.article)
        return f"the {which} holds no sentence" if text.strip() else f"the {which} is empty"

    def retrieve(self, vectors: SentenceVectors, k: int) -> Retrieved:
        """Return the similarities and, for each summary sentence, its k nearest article sentences as evidence."""
        if not self.plain:
            return Retrieved(self, np.zeros((len(self.readings), len(self.source))), [])
        similarity = cosine_similarity(
            *(vectors.of([reading.plain for reading in side]) for side in (self.source, self.readings))
        )
        return Retrieved(self, similarity, [nearest_evidence(row, k) for row in similarity])


@dataclass(frozen=True)
class Retrieved:
    """A pair with its similarities, shape (N, M), and the evidence of each summary sentence."""

    pair: ReadPair
    similarity: np.ndarray
    evidence: list[list[Evidence]]

    @property
    def _all(self) -> Iterator[tuple[Reading, str, list[Evidence]]]:
        """Each summary sentence, why it is not judged, and its evidence; none if nothing can be judged."""
        return zip(self.pair.readings, self.pair.reasons, self.evidence, strict=False)

    @property
    def texts(self) -> dict[str, Any]:
        """The fields of the result that are known before anything is judged."""
        pair = self.pair
        return {
            "source": pair.article,
            "summary": pair.summary,
            "source_sentences": [reading.sentence for reading in pair.source],
            "sentences": [reading.sentence for reading in pair.readings] if self.evidence else [],
            "similarity": self.similarity if self.evidence else np.zeros((0, len(pair.source))),
        }

    @property
    def questions(self) -> list[Pair]:
        """The questions to the checker: evidence and sentence, as it reads them."""
        return [
            ([self.pair.source[found.index].plain for found in evidence], reading.plain)
            for reading, reason, evidence in self._all
            if not reason
        ]

    def verdicts(self, answers: Iterator[Verdict], threshold: float) -> list[Verdict]:
        """Return one verdict for each summary sentence, with its evidence: the answers, and what was not asked."""
        return [
            Verdict(probability=None, threshold=threshold, reason=reason)
            if reason
            else self._judged(_placed(next(answers), reading, evidence, self.pair.source), reading)
            for reading, reason, evidence in self._all
        ]

    def _judged(self, verdict: Verdict, reading: Reading) -> Verdict:
        """Return the verdict on a sentence; a checker by words leaves rows of tables to what is said of their cells."""
        return judged_row(verdict, reading, self.pair.source) if self.pair.by_words else verdict


def _placed(verdict: Verdict, reading: Reading, evidence: list[Evidence], source: Sequence[Reading]) -> Verdict:
    """Return a verdict with its evidence, its findings placed in the user's text.

    What was read in other words, such as a list's item with its lead-in, has a note that says how.
    """
    moved, low = list[Finding](), reading.sentence.start
    for finding in verdict.findings:
        start, end = reading.in_sentence(finding.start, finding.end)
        text = reading.sentence.text[start:end]
        moved.append(finding._replace(text=text, start=low + start, end=low + end))
    shown = [("", reading), *(("the first evidence ", source[item.index]) for item in evidence[:1])]
    notes = [f"{what}read as “{side.plain}”" for what, side in shown if side.reworded]
    notes = [*([verdict.details["note"]] if notes and "note" in verdict.details else []), *notes]
    details = {**verdict.details, "note": "; ".join(notes)} if notes else verdict.details
    return replace(verdict, evidence=evidence, findings=moved, details=details)


def read_pairs(
    texts: Sequence[str], summaries: Sequence[str], checker: Checker, splitter: Splitter, lang: str | None
) -> list[ReadPair]:
    """Split a batch of pairs, and say what is not judged: what states nothing, and what the checker cannot read."""
    sources = [(text, "") for text in texts]
    judged = list(zip(summaries, texts, strict=True))
    distinct = list(dict.fromkeys([*sources, *judged]))
    found = split_markdown(
        [text for text, _ in distinct],
        likes=[like for _, like in distinct],
        splitter=splitter,
        lang=lang or None,
        progress=False,
    )
    read = {text: read_with_leads(text[0], own) for text, own in zip(distinct, found, strict=True)}
    by_words, prepared = getattr(checker, "by_words", False), []
    for summary, text in steps(judged):
        source, own = may_be_evidence(read[text, ""]), read[summary, text]
        if by_words:
            own = [read_row(reading, source) for reading in own]
        unread = unread_sentences(source, own, checker, lang)
        reasons = [claim.reason or reason for claim, reason in zip(own, unread, strict=True)]
        prepared.append(ReadPair(text, summary, source, own, reasons, by_words))
    return prepared


def embed_pairs(batch: Sequence[ReadPair], settings: Settings) -> SentenceVectors:
    """Embed each distinct sentence of a batch once, through the store if there is one; tokens if the checker asks."""
    embedder, store = settings.embedder, settings.store
    texts = dict.fromkeys(sentence for pair in batch for sentence in pair.plain)
    keys = {content_key("embedding", embedder.fingerprint, text): text for text in texts}
    stored = store.get_many("embedding", list(keys)) if store else {}
    known = {keys[key]: (vector, None) for key, vector in stored.items()}
    held = SentenceVectors(embedder, texts, tokens=getattr(settings.checker, "uses_vectors", False), known=known)
    if store and held.fresh:
        fresh = {key: held.known[text][0] for key, text in keys.items() if key not in stored}
        store.put_many("embedding", fresh)
    return held


def may_be_evidence(readings: Iterable[Reading]) -> list[Reading]:
    """Return the sentences of a text that may be evidence: not code, no dividing lines, and no signs alone."""
    return [reading for reading in readings if reading.reason not in NO_EVIDENCE and has_word(reading.plain)]


def unread_sentences(
    source: Sequence[Reading], claims: Sequence[Reading], checker: Checker, lang: str | None
) -> list[str]:
    """Return for each claim why the checker cannot read it or what it is judged by, or an empty string."""
    article = " ".join(reading.plain for reading in source)
    reasons = unread_reasons(article, [claim.plain for claim in claims], checker, lang)
    empty = "the sentence holds no word that could be checked"
    return [reason or ("" if has_word(claim.plain) else empty) for reason, claim in zip(reasons, claims, strict=True)]


def judge(
    pairs: Sequence[Pair], checker: Checker, vectors: SentenceVectors | None, store: Store | None = None
) -> Iterator[Verdict]:
    """Yield a verdict for each pair; each distinct one is asked once, through the store where there is one.

    A checker that draws samples is asked sample by sample, so that each has a key of its own.
    """
    if samples := getattr(checker, "by_sample", None):
        found = zip(*[judge(pairs, sample, vectors, store) for sample in steps(samples)], strict=True)
        return iter([of_samples(verdicts, checker.threshold) for verdicts in found])
    keys = [content_key("verdict", checker.fingerprint, list(evidence), claim) for evidence, claim in pairs]
    known = store.get_many("verdict", list(dict.fromkeys(keys))) if store else {}
    verdicts = {key: stored_verdict(value, checker) for key, value in known.items()}
    missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in verdicts}
    for start in steps(range(0, len(missing), STEP)):
        step = dict(list(missing.items())[start : start + STEP])
        verdicts.update(zip(step, ask(checker, list(step.values()), vectors), strict=True))
        if store:
            store.put_many("verdict", {key: storable(verdicts[key]) for key in step if not verdicts[key].failed})
    return iter([verdicts[key] for key in keys])


def check_with(vectors: SentenceVectors | None, checker: Checker, pairs: list[Pair]) -> list[Verdict]:
    """Return what a checker says to pairs; it is handed their vectors if it takes any and every pair has them."""
    if vectors is None or not getattr(checker, "uses_vectors", False):
        return checker.check_many(pairs)
    given = [own for pair in pairs if (own := PairVectors.of(vectors, *pair)) is not None]
    return checker.check_many(pairs, vectors=given if len(given) == len(pairs) else None)


def ask(checker: Checker, pairs: list[Pair], vectors: SentenceVectors | None) -> list[Verdict]:
    """Return a checker's verdicts, one a pair; raise if it gave something else."""
    answers: object = check_with(vectors, checker, pairs)
    message = f"check_many of {type(checker).__name__} must return one Verdict per pair: got"
    if not isinstance(answers, Iterable):
        raise TypeError(f"{message} {type(answers).__name__}, not a list")
    listed = list(answers)
    if wrong := [answer for answer in listed if not isinstance(answer, Verdict)]:
        raise TypeError(f"{message} {type(wrong[0]).__name__}; wrap a probability as Verdict(probability=...)")
    if len(listed) != len(pairs):
        raise ValueError(f"{message} {len(listed)} for {len(pairs)} pairs")
    return [
        replace(verdict, threshold=checker.threshold, contradicted_below=_low(checker, verdict.findings))
        for verdict in listed
    ]


def _low(checker: Checker, findings: Sequence[Finding]) -> float | None:
    """Return below which probability a sentence with these findings is contradicted; None: below the threshold."""
    if callable(own := getattr(checker, "contradicted_below_of", None)):
        return own(findings)
    return getattr(checker, "contradicted_below", None)


def storable(verdict: Verdict) -> JsonDict:
    """Return what of a verdict goes into the store: what its key does not say."""
    kept = ("probability", "findings", "details", "hard")
    return {key: value for key, value in verdict.to_dict().items() if key in kept}


def stored_verdict(value: Mapping[str, Any], checker: Checker) -> Verdict:
    """Return the verdict that `storable` wrote, by the checker's thresholds of today."""
    findings = [Finding(**item) for item in value["findings"]]
    return Verdict(
        probability=value["probability"],
        threshold=checker.threshold,
        contradicted_below=_low(checker, findings),
        findings=findings,
        details=value["details"],
        hard=value.get("hard", ""),
    )
