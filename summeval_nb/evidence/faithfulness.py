"""The walk of an article and a summary, from `evaluate(text, summary)` to the score: read it from top to bottom.

Options are loaded once (`load_settings`). Then `walk` splits both texts (`read_pairs`), embeds their sentences
(`embed_pairs`), finds the evidence nearest to each summary sentence (`ReadPair.retrieve`), asks the checker (`judge`),
puts its verdicts beside the sentences (`ReadPair.verdicts`), and counts (`supported_share` of chapter 38).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from summeval_nb.core.base import (
    JsonDict,
    Stages,
    one_bar,
    require_count,
    require_share,
    require_text,
    require_texts,
    steps,
)
from summeval_nb.core.html import evidence_text
from summeval_nb.core.metric import batch, metric, names_misspelt
from summeval_nb.core.results import Evidence, Finding, ScoreTable, Signature, Verdict
from summeval_nb.evidence.base import (
    Checker,
    Pair,
    PairVectors,
    nearest_evidence,
    of_samples,
    unread_reasons,
    warn_of_inputs,
)
from summeval_nb.evidence.model_checkers import load_checker, with_threshold
from summeval_nb.evidence.report import Faithfulness
from summeval_nb.evidence.rows import judged_row, read_row
from summeval_nb.evidence.share import supported_share
from summeval_nb.models.base import counted_as
from summeval_nb.models.store import Store, StoreOrPath, content_key, load_store
from summeval_nb.text.embed import BatchEmbedder, EmbedderOrName, SentenceVectors, load_embedder
from summeval_nb.text.markdown import NO_EVIDENCE, has_word
from summeval_nb.text.normalize import VERSION as NORMALIZE
from summeval_nb.text.similarity import cosine_similarity
from summeval_nb.text.split import Reading, Splitter, split_markdown, splitter_name
from summeval_nb.text.statements import read_with_leads

__all__ = ["DEFAULT_K", "assert_faithful", "checker", "evaluate", "evaluate_many"]

DEFAULT_K = 8
STEP = 64  # verdicts between two visits to the store: what a killed run can lose


@dataclass(frozen=True)
class Settings:
    """The options of a call with what they name loaded, once for all of its pairs."""

    k: int
    splitter: Splitter
    lang: str | None
    embedder: BatchEmbedder
    checker: Checker
    store: Store | None
    signature: Signature

    @property
    def judged_by(self) -> str:
        """Who judges, for reports; of what it is good at nothing with other evidence than it was measured with."""
        line = getattr(self.checker, "judged_by", "")
        measured = getattr(self.checker, "measured_with", None)
        if not line or measured is None or measured == (self.embedder.fingerprint, self.k):
            return line
        return f"{line.partition(',')[0]}, measured with other evidence: k={measured[1]} and the packaged embedder."


def _check_options(*, k: int | None, threshold: float | None, lang: str | None, **others: object) -> None:
    """Raise where an option is wrong that can be told without loading anything."""
    if k is not None:
        require_count(k, "k")
    if lang is not None:
        require_text(lang, "lang")
    if threshold is not None:
        require_share(threshold, "threshold")


def load_settings(
    *,
    k: int | None,
    splitter: Splitter,
    embedder: EmbedderOrName,
    checker: str | Checker,
    threshold: float | None,
    store: StoreOrPath,
    lang: str | None,
) -> Settings:
    """Return a call's options with what they name loaded."""
    _check_options(k=k, threshold=threshold, lang=lang)
    vectors, judge = load_embedder(embedder), load_checker(checker)
    if threshold is not None:
        judge = with_threshold(judge, threshold)
    low = getattr(judge, "contradicted_below", None)
    parts: JsonDict = {
        "metric": "faithfulness",
        "k": k or DEFAULT_K,
        "splitter": splitter_name(splitter, lang=lang or "en"),
        "lang": lang or "auto",
        "embedder": vectors.fingerprint,
        "checker": judge.fingerprint,
        "threshold": judge.threshold,
        "normalize": NORMALIZE,
    }
    signature = Signature(parts | ({} if low is None else {"contradicted_below": low}))
    return Settings(int(k or DEFAULT_K), splitter, lang, vectors, judge, load_store(store), signature)


def _signature(**options: Any) -> Signature:
    return load_settings(**options | {"store": None}).signature


@metric("faithfulness", probe="It rained.", check=_check_options, signature=_signature)
def evaluate(
    text: str,
    summary: str,
    k: int | None = None,
    *,
    splitter: Splitter = "punkt",
    embedder: EmbedderOrName = "minilm",
    checker: str | Checker = "embedded",
    judge: str | Checker | None = None,  # one_judge makes it the checker
    threshold: float | None = None,
    store: StoreOrPath = None,
    lang: str | None = None,
) -> Faithfulness:
    """Score how much of a summary its article supports, sentence by sentence.

    Each summary sentence is compared with the k most similar article sentences by a checker. Markdown is read: headings
    and code are not judged, and markers of lists and emphasis do not reach the checker. An item below a lead-in with a
    *not*, such as "These were not approved:", is read with it, and the report says how.

    Parameters
    ----------
    text : str
        The article.
    summary : str
        The summary to judge.
    k : int, optional
        How many article sentences serve as evidence for each summary sentence, at least 1. Default 8, chosen from human
        labels in chapter 34; written into the signature.
    splitter : str or callable
        `"punkt"`, `"stanza"`, `"sentencex"`, or text -> list of (start, end).
    embedder : str or object
        `"minilm"`, a sentence-transformers name or folder, or an object with `encode` and `fingerprint`.
    checker : str or Checker
        `"embedded"`, `"words"`, `"nli:FOLDER"`, `"llm:FOLDER"`, or any object with `fingerprint`, `threshold` and
        `check_many(pairs, *, vectors=None)`: it gets a list of pairs (list of evidence texts, sentence) and returns one
        `Verdict(probability=...)` for each. `vectors` may be ignored. What it says in `languages` is all it is given to
        read; below its `contradicted_below`, if any, or its `contradicted_below_of(findings)`, a sentence is
        contradicted.
    judge : str or Checker, optional
        The same as `checker`, by the name that every call has that asks somebody: give one of them.
    threshold : float, optional
        A sentence is supported when its probability is at least this, in [0, 1], and no finding clashes; by default the
        checker's own.
    store : Store or path, optional
        Where vectors and verdicts are kept, so that a second run computes only what is missing.
    lang : str, optional
        The texts' language, such as `"en"`, for the splitter and the checker. By default the splitter takes English,
        and texts that are clearly in a language that the checker does not read are not judged.

    Returns
    -------
    Faithfulness
        `score` in [0, 1], the share supported, or None with a reason when a text is empty or nothing could be judged.
        `score_high` is the share if the unclear ones are true, too.

    Warns
    -----
    InputWarning
        If a text looks like a path, or the summary is much longer than the article.

    Raises
    ------
    TypeError
        If a text is not a string, a checker's answer is no `Verdict`, or it has no threshold to set.
    ValueError
        If k < 1, an option is unknown, checker and judge are both given, or a checker gives more or fewer verdicts than
        pairs.

    References
    ----------
    Maynez et al. 2020, "On Faithfulness and Factuality in Abstractive Summarization",
    section 2. Min et al. 2023, "FActScore", section 3.1: the mean over supported
    statements.

    Examples
    --------
    >>> article = "The bridge opened in 1931. It is long."
    >>> result = evaluate(text=article, summary="The bridge opened in 1931.")
    >>> result.score, result.verdicts[0].evidence[0].index
    (1.0, 0)
    """
    text, summary = require_text(text, "text"), require_text(summary, "summary")
    settings = load_settings(
        k=k, splitter=splitter, embedder=embedder, checker=checker, threshold=threshold, store=store, lang=lang
    )
    warn_of_inputs([text], [summary])
    return walk([text], [summary], settings)[0]


def walk(texts: Sequence[str], summaries: Sequence[str], settings: Settings) -> list[Faithfulness]:
    """Split, embed, compare and find, check, count: a batch of pairs."""
    checker = settings.checker
    stage = Stages(read=1, embed=5, judge=11)
    with stage("read"):
        pairs = read_pairs(texts, summaries, checker, settings.splitter, settings.lang)
    with stage("embed"):
        vectors = embed_pairs(pairs, settings)
        pairs = [pair.retrieve(vectors, settings.k) for pair in pairs]
    questions = [question for pair in pairs for question in pair.questions]
    with stage("judge"):
        answers = judge(questions, checker, vectors, settings.store)
    return [pair.result(pair.verdicts(answers, checker.threshold), settings) for pair in pairs]


def read_pairs(
    texts: Sequence[str], summaries: Sequence[str], checker: Checker, splitter: Splitter, lang: str | None
) -> list[ReadPair]:
    """Split a batch of pairs, each text once; say what is not judged: it states nothing, or cannot be read."""
    judged = list(zip(summaries, texts, strict=True))  # a summary's values are read as its article writes them
    distinct = list(dict.fromkeys([*((text, "") for text in texts), *judged]))
    found = split_markdown(
        [text for text, _ in distinct],
        likes=[like for _, like in distinct],
        splitter=splitter,
        lang=lang or None,
        progress=False,
    )
    read = {text: read_with_leads(text[0], own) for text, own in zip(distinct, found, strict=True)}
    by_words, pairs = getattr(checker, "by_words", False), []
    for summary, text in steps(judged):
        source, own = may_be_evidence(read[text, ""]), read[summary, text]
        if by_words:
            own = [read_row(reading, source) for reading in own]
        unread = unread_sentences(source, own, checker, lang)
        reasons = [claim.reason or reason for claim, reason in zip(own, unread, strict=True)]
        pairs.append(ReadPair(text, summary, source, own, reasons, by_words))
    return pairs


def may_be_evidence(readings: Iterable[Reading]) -> list[Reading]:
    """Return the sentences of a text that may be evidence: not code, no dividing lines, and no signs alone."""
    return [reading for reading in readings if reading.reason not in NO_EVIDENCE and has_word(reading.plain)]


def unread_sentences(
    source: Sequence[Reading], claims: Sequence[Reading], checker: Checker, lang: str | None
) -> list[str]:
    """Return for each claim why the checker cannot read it or what it is judged by, or an empty string."""
    article = " ".join([reading.plain for reading in source])
    reasons = unread_reasons(article, [claim.plain for claim in claims], checker, lang)
    empty = "the sentence holds no word that could be checked"
    return [reason or ("" if has_word(claim.plain) else empty) for reason, claim in zip(reasons, claims, strict=True)]


@dataclass(frozen=True)
class ReadPair:
    """A pair on its way: first read, then with similarities, shape (N, M), and evidence.

    `source` are the sentences that may be evidence, `readings` those of the summary, and `reasons` says why some of
    these are not judged. With `by_words` rows of tables are looked up in the article: their checker goes by the words.
    """

    article: str
    summary: str
    source: list[Reading]
    readings: list[Reading]
    reasons: list[str]
    by_words: bool = False
    similarity: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    evidence: list[list[Evidence]] = field(default_factory=list)

    @property
    def plain(self) -> list[str]:
        """The sentences that need vectors, as a checker reads them; none if nothing can be judged."""
        both = (*self.source, *self.readings)
        return [reading.plain for reading in both] if self.source and self.readings else []

    def retrieve(self, vectors: SentenceVectors, k: int) -> ReadPair:
        """Return the pair with its similarities and, for each summary sentence, its k nearest article sentences."""
        if not (plain := self.plain):
            return replace(self, similarity=np.zeros((0, len(self.source))))
        m = len(self.source)
        similarity = cosine_similarity(vectors.of(plain[:m]), vectors.of(plain[m:]))
        return replace(self, similarity=similarity, evidence=[nearest_evidence(row, k) for row in similarity])

    @property
    def _asked(self) -> Iterator[tuple[Reading, str, list[Evidence]]]:
        """Each summary sentence, why it is not judged, and its evidence; none if nothing can be judged."""
        return zip(self.readings, self.reasons, self.evidence, strict=False)

    @property
    def questions(self) -> list[Pair]:
        """The questions to the checker: evidence and sentence, as it reads them."""
        return [
            ([self.source[found.index].plain for found in evidence], reading.plain)
            for reading, reason, evidence in self._asked
            if not reason
        ]

    def verdicts(self, answers: Iterator[Verdict], threshold: float) -> list[Verdict]:
        """Return one verdict for each summary sentence: the next answer, placed, or why it was not asked."""
        found = []
        for reading, reason, evidence in self._asked:
            if reason:
                found.append(Verdict(probability=None, threshold=threshold, reason=reason))
                continue
            verdict = placed(next(answers), reading, evidence, self.source)
            found.append(judged_row(verdict, reading, self.source) if self.by_words else verdict)
        return found

    def result(self, verdicts: list[Verdict], settings: Settings) -> Faithfulness:
        """Count: the score, or the reason why there is none, with all that it rests on."""
        score, reason = supported_share(verdicts)
        if not verdicts:
            which, text = ("summary", self.summary) if self.source else ("article", self.article)
            reason = f"the {which} holds no sentence" if text.strip() else f"the {which} is empty"
        return Faithfulness(
            score=score,
            reason=reason,
            signature=_signed(settings.signature, verdicts),
            source=self.article,
            summary=self.summary,
            source_sentences=[reading.sentence for reading in self.source],
            sentences=[reading.sentence for reading in self.readings] if self.evidence else [],
            similarity=self.similarity,
            verdicts=verdicts,
            judged_by=settings.judged_by,
        )


def embed_pairs(batch: Sequence[ReadPair], settings: Settings) -> SentenceVectors:
    """Embed each distinct sentence of a batch once, through the store if there is one; tokens if the checker asks."""
    embedder, store, tokens = settings.embedder, settings.store, getattr(settings.checker, "uses_vectors", False)
    texts = dict.fromkeys(sentence for pair in batch for sentence in pair.plain)
    if store is None:
        return SentenceVectors(embedder, texts, tokens=tokens)
    keys = {content_key("embedding", embedder.fingerprint, text): text for text in texts}
    stored = store.get_many("embedding", list(keys))
    known = {keys[key]: (vector, None) for key, vector in stored.items()}
    held = SentenceVectors(embedder, texts, tokens=tokens, known=known)
    if held.fresh:
        store.put_many("embedding", {key: held.known[text][0] for key, text in keys.items() if key not in stored})
    return held


def judge(
    pairs: Sequence[Pair], checker: Checker, vectors: SentenceVectors | None, store: Store | None = None
) -> Iterator[Verdict]:
    """Yield a verdict for each pair; each distinct one is asked once, through the store where there is one.

    A checker that draws samples is asked sample by sample, so that each has a key of its own.
    """
    if samples := getattr(checker, "by_sample", None):
        found = zip(*[judge(pairs, sample, vectors, store) for sample in steps(samples)], strict=True)
        return iter([of_samples(verdicts, checker.threshold) for verdicts in found])
    asked = [(tuple(evidence), claim) for evidence, claim in pairs]
    distinct = dict(zip(asked, pairs, strict=True))
    keys, verdicts = {}, dict[tuple[tuple[str, ...], str], Verdict]()
    if store:
        keys = {one: content_key("verdict", checker.fingerprint, list(one[0]), one[1]) for one in distinct}
        known = store.get_many("verdict", list(keys.values()))
        verdicts = {one: stored_verdict(known[key], checker) for one, key in keys.items() if key in known}
    missing = [one for one in distinct if one not in verdicts]
    with counted_as("checking", checker, len(distinct)) as count:
        count(from_store=len(verdicts))
        for start in steps(range(0, len(missing), STEP)):
            step = missing[start : start + STEP]
            verdicts.update(zip(step, ask(checker, [distinct[one] for one in step], vectors), strict=True))
            if store:
                kept = {keys[one]: storable(verdicts[one]) for one in step if not verdicts[one].failed}
                store.put_many("verdict", kept)
    return iter([verdicts[one] for one in asked])


def ask(checker: Checker, pairs: Sequence[Pair], vectors: SentenceVectors | None) -> list[Verdict]:
    """Return a checker's verdicts by its own thresholds, one a pair; raise if it gave something else."""
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


def check_with(vectors: SentenceVectors | None, checker: Checker, pairs: Sequence[Pair]) -> list[Verdict]:
    """Return what a checker says to pairs; it is handed their vectors if it takes any and every pair has them."""
    if vectors is None or not getattr(checker, "uses_vectors", False):
        return checker.check_many(pairs)
    given = [own for pair in pairs if (own := PairVectors.of(vectors, *pair)) is not None]
    return checker.check_many(pairs, vectors=given if len(given) == len(pairs) else None)


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


def placed(verdict: Verdict, reading: Reading, evidence: list[Evidence], source: Sequence[Reading]) -> Verdict:
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
    details = verdict.details
    if notes:
        own = [details["note"]] if "note" in details else []
        details = {**details, "note": "; ".join([*own, *notes])}
    return replace(verdict, evidence=evidence, findings=moved, details=details)


def _signed(signature: Signature, verdicts: Iterable[Verdict]) -> Signature:
    """Return the signature of some verdicts, which says where they are hard."""
    if not any(verdict.hard for verdict in verdicts):
        return signature
    parts = dict(signature)
    version = parts.pop("version")
    return Signature(parts | {"verdicts": "hard", "version": version})


# many pairs, one assertion, one sentence


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


def _evaluate_all(
    texts: Sequence[str], summaries: Sequence[str], *, progress: bool | None = None, **options: Any
) -> ScoreTable[Faithfulness]:
    """Walk batch by batch, in the pairs' order, with a bar; by default for more than 128 pairs."""
    texts, summaries = require_texts(texts, "texts"), require_texts(summaries, "summaries")
    if len(texts) != len(summaries):
        raise ValueError(
            f"texts and summaries must pair up, but there are {len(texts)} texts and {len(summaries)} summaries; "
            "repeat an article for each of its summaries"
        )
    settings = load_settings(**options)
    warn_of_inputs(texts, summaries)
    found: dict[int, Faithfulness] = {}
    listed = list(batches(texts))
    with one_bar(len(texts), "faithfulness", "pair", show=len(texts) > 128 if progress is None else progress):
        for numbers in steps(listed, [len(numbers) for numbers in listed]):
            results = walk([texts[i] for i in numbers], [summaries[i] for i in numbers], settings)
            found.update(zip(numbers, results, strict=True))
    ordered = [found[number] for number in range(len(texts))]
    verdicts = (verdict for result in ordered for verdict in result.verdicts)
    return ScoreTable(ordered, signature=_signed(settings.signature, verdicts))


evaluate_many = batch(
    evaluate,
    _evaluate_all,
    name="evaluate_many",
    doc="Score many (article, summary) pairs as `evaluate` scores one; repeated sentences are embedded once.",
)


@names_misspelt
def assert_faithful(
    text: str,
    summary: str,
    at_least: float = 0.8,
    *,
    k: int | None = None,
    splitter: Splitter = "punkt",
    embedder: EmbedderOrName = "minilm",
    checker: str | Checker = "embedded",
    judge: str | Checker | None = None,  # one_judge makes it the checker
    threshold: float | None = None,
    store: StoreOrPath = None,
    lang: str | None = None,
) -> Faithfulness:
    """Fail, as a test does, unless enough of a summary is supported by its article.

    Parameters
    ----------
    text, summary : str
        The article, and the summary to judge.
    at_least : float
        The least score in [0, 1] that passes.
    k, splitter, embedder, checker, judge, threshold, store, lang
        As for `evaluate`.

    Returns
    -------
    Faithfulness
        What `evaluate` returns, where it passes.

    Raises
    ------
    AssertionError
        If the score is below `at_least`, with each sentence that is not supported, its evidence and why; or undefined,
        with the reason.
    RuntimeError
        If the checker failed on a sentence, so that nothing can be asserted.
    TypeError, ValueError
        As for `evaluate`.

    Examples
    --------
    >>> assert_faithful(
    ...     text="The dog slept. It rained.", summary="It rained.", at_least=1
    ... ).score
    1.0
    """
    __tracebackhide__ = True
    require_share(at_least, "at_least")
    options: JsonDict = {"splitter": splitter, "embedder": embedder, "checker": checker, "threshold": threshold}
    result = evaluate(text, summary, k, store=store, lang=lang, **options)
    failures = [verdict.reason for verdict in result.verdicts if verdict.failed]
    if failures:
        counts = f"{len(failures)} of {len(result.verdicts)} sentences"
        raise RuntimeError(f"the checker failed on {counts}, so nothing is asserted: {failures[0]}")
    if result.score is None:
        raise AssertionError(f"faithfulness is undefined: {result.reason}")
    if result.score < at_least:
        report = result.report()
        wrong = [entry for entry in report.entries if entry.supported is False]
        title = f"faithfulness {result.score:.4g} is below {at_least:g}: not supported"
        raise AssertionError(evidence_text(replace(report, title=title, entries=wrong, measured=(), judged_by="")))
    return result


def checker(
    sens_text: Sequence[str],
    sen_summary: str,
    *,
    using: str | Checker = "embedded",
    lang: str | None = None,
) -> tuple[bool, float | None]:
    """Return whether article sentences support a summary sentence, and how surely.

    Inherited, for one sentence: `load_checker` gives the object behind it.

    Parameters
    ----------
    sens_text : sequence of str
        The evidence: sentences of the article, at least one.
    sen_summary : str
        The summary sentence.
    using : str or Checker
        A name as for `load_checker`, or a checker object.
    lang : str, optional
        The texts' language, such as `"en"`; by default a text that is clearly in a
        language that the checker does not read has no verdict.

    Returns
    -------
    supported : bool
        Whether the verdict is *supported*: the probability reaches the threshold, and
        nothing clashes.
    probability : float or None
        In [0, 1]; None where a language model gives none.

    Raises
    ------
    ValueError
        If there is no evidence, or there is no verdict, as on a text in a language that
        the checker does not read; the message says why.

    Examples
    --------
    >>> checker(["The cat sat on the mat."], "The cat sat on the mat.")[0]
    True
    """
    chosen = load_checker(using)
    verdict = chosen.check_many([(sens_text, sen_summary)])[0]
    (unread,) = unread_reasons(" ".join(sens_text), [sen_summary], chosen, lang)
    if unread or not verdict.judged:
        why = unread or verdict.reason
        raise ValueError(f"no verdict on {sen_summary!r:.60}: {why}")
    own = replace(verdict, threshold=chosen.threshold, contradicted_below=None)
    return bool(own.supported), verdict.probability
