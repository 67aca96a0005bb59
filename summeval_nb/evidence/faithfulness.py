"""The walk of an article and a summary, from `evaluate(text, summary)` to the score and its report: read it downwards.

Options are loaded once (`load_settings`). Then `walk` splits both texts (`read_pairs`), embeds their sentences
(`embed_pairs`), finds the evidence nearest to each summary sentence (`ReadPair.retrieve`), asks the checker (`judge`),
puts its verdicts beside the sentences (`ReadPair.verdicts`), and counts (`supported_share` of chapter 38). What comes
out is a `Faithfulness`: the score with every reason, as a report, as data and back, and several side by side.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from summeval_nb.core.base import (
    InputWarning,
    JsonDict,
    Stages,
    callers_level,
    made_of,
    one_bar,
    plt,
    require_count,
    require_share,
    require_text,
    require_texts,
    steps,
)
from summeval_nb.core.files import write_whole
from summeval_nb.core.html import (
    Entry,
    Markup,
    Report,
    evidence_markdown,
    evidence_report,
    evidence_text,
    heat_map,
    html_page,
    render,
    text_table,
)
from summeval_nb.core.metric import batch, metric, names_misspelt
from summeval_nb.core.results import Evidence, Finding, Outcome, Rows, Score, ScoreTable, Sentence, Signature, Verdict
from summeval_nb.evidence.base import (
    Checker,
    Pair,
    PairVectors,
    measured_rows,
    nearest_evidence,
    of_samples,
    unread_reasons,
    warn_of_inputs,
)
from summeval_nb.evidence.embedded import log_odds
from summeval_nb.evidence.model_checkers import load_checker, with_threshold
from summeval_nb.evidence.rows import judged_row, read_row
from summeval_nb.evidence.share import possible_share, supported_share
from summeval_nb.models.base import LOW_MASS, counted_as
from summeval_nb.models.store import Store, StoreOrPath, content_key, load_store
from summeval_nb.text.embed import BatchEmbedder, EmbedderOrName, SentenceVectors, load_embedder
from summeval_nb.text.markdown import NO_EVIDENCE, has_word
from summeval_nb.text.normalize import VERSION as NORMALIZE
from summeval_nb.text.similarity import cosine_similarity
from summeval_nb.text.split import Reading, Splitter, languages_for, split_markdown, splitter_name
from summeval_nb.text.statements import read_with_leads

__all__ = ["DEFAULT_K", "Explanation", "Faithfulness", "ReportComparison", "assert_faithful", "checker"]
__all__ += ["compare_reports", "evaluate", "evaluate_many", "faithfulness_from_dict"]

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


_sign = lambda **options: load_settings(**options | {"store": None}).signature


@metric("faithfulness", probe="It rained.", check=_check_options, signature=_sign)
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
        The texts' language, such as `"en"`, for the splitter and the checker. By default it is found, and texts that
        are clearly in a language that the checker does not read are not judged.

    Returns
    -------
    Faithfulness
        `score` in [0, 1], the share supported, or None with a reason when a text is empty or nothing could be judged.
        `score_high` is the share if the unclear ones are true, too.

    Warns
    -----
    InputWarning
        If a text looks like a path, the summary is much longer than the article, or it is found to be in a language
        that the checker does not read.

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
    by_words, pairs, lost = getattr(checker, "by_words", False), [], ""
    codes = dict(zip(texts, languages_for([[text] for text in texts], splitter, lang or None), strict=True))
    for summary, text in steps(judged):
        source, own = may_be_evidence(read[text, ""]), read[summary, text]
        if by_words:
            own = [read_row(reading, source) for reading in own]
        unread = unread_sentences(source, own, checker, lang)
        reasons = [claim.reason or reason for claim, reason in zip(own, unread, strict=True)]
        lost = lost or next((why for why in unread if why.startswith(("the article is in", "the text is in"))), "")
        pairs.append(ReadPair(text, summary, source, own, reasons, by_words, codes[text]))
    if lost and not lang:
        warnings.warn(f"not judged: {lost}", InputWarning, stacklevel=callers_level())
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
    lang: str | None = None
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
        signature = settings.signature
        if self.lang and not settings.lang:  # a language that was found has its splitter
            signature = Signature({**signature, "splitter": splitter_name(settings.splitter, lang=self.lang)})
        return Faithfulness(
            score=score,
            reason=reason,
            signature=_signed(signature, verdicts),
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
    """Yield a verdict for each pair; each distinct one, and each sample of it, is asked once, through the store."""
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
    """Return a verdict with its evidence, its findings placed in the user's text, and a note on what was reworded."""
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


def batches(texts: Sequence[str], limit: int = 128) -> Iterator[list[int]]:
    """Yield batches of pair numbers: pairs with the same text stay together, a batch holds about `limit` pairs."""
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
        counts = f"there are {len(texts)} texts and {len(summaries)} summaries"
        remedy = "repeat an article for each of its summaries"
        raise ValueError(f"texts and summaries must pair up, but {counts}; {remedy}")
    settings = load_settings(**options)
    warn_of_inputs(texts, summaries)
    found: dict[int, Faithfulness] = {}
    listed = list(batches(texts))
    with one_bar(len(texts), "faithfulness", "pair", show=len(texts) > 128 if progress is None else progress):
        for numbers in steps(listed, list(map(len, listed))):
            results = walk([texts[i] for i in numbers], [summaries[i] for i in numbers], settings)
            found.update(zip(numbers, results, strict=True))
    ordered = [found[number] for number in range(len(texts))]
    verdicts = (verdict for result in ordered for verdict in result.verdicts)
    return ScoreTable(ordered, signature=_signed(settings.signature, verdicts))


evaluate_many = batch(
    evaluate,
    _evaluate_all,
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
    sens_text: Sequence[str], sen_summary: str, *, using: str | Checker = "embedded", lang: str | None = None
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


SCHEMA = 2  # another number whenever what `to_dict` returns has another form


class Reported:
    """What draws itself as a report: as HTML, Markdown and text, and as a file."""

    page_title: ClassVar[str]

    def report(self) -> Report:
        """Return what all reports draw, as plain data."""
        raise NotImplementedError

    def to_html(self, path: str | PathLike[str]) -> Path:
        """Write the report as one stand-alone file that makes no request, and return its path."""
        write_whole(Path(path), html_page(self.page_title, self.drawn()))
        return Path(path)

    def to_markdown(self) -> str:
        """Return the report as GitHub-flavoured Markdown, every text escaped."""
        return evidence_markdown(self.report())

    def to_text(self, *, color: bool = False) -> str:
        """Return the report as text, for terminals."""
        return evidence_text(self.report(), color=color)

    def drawn(self, key: int | None = None) -> str:
        """Return the report as HTML; `key` keeps two of the same texts apart on a page."""
        return evidence_report(self.report(), key=key)

    _repr_html_ = drawn


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Faithfulness(Reported, Score):
    """How much of a summary its article supports, with every reason.

    `score` is supported sentences / judged sentences in [0, 1], or None with a `reason`.

    Parameters
    ----------
    source, summary : str
        The two texts.
    source_sentences, sentences : list of Sentence
        The M sentences of the article and the N of the summary, with their places.
    similarity : numpy.ndarray, shape (N, M)
        Cosine of summary sentence i and article sentence j, in [-1, 1].
    verdicts : list of Verdict
        One for each summary sentence; its `evidence` gives article sentence indices and similarities.
    judged_by : str
        Who judged, and what that judge is good and bad at.
    """

    bounded: ClassVar[bool] = True
    page_title: ClassVar[str] = "Faithfulness report"
    sentence_columns: ClassVar[Sequence[str]] = (
        *("sentence", "text", "start", "end", "supported", "state", "probability"),
        *("evidence", "similarities", "findings", "spans", "failed", "reason", "quotes"),
    )

    source: str
    summary: str
    source_sentences: list[Sentence]
    sentences: list[Sentence]
    similarity: np.ndarray
    verdicts: list[Verdict]
    judged_by: str = ""

    @property
    def score_low(self) -> float | None:
        """The score if no unclear sentence is true: `score` itself."""
        return self.score

    @property
    def score_high(self) -> float | None:
        """The score if every unclear sentence is true; None when none was judged."""
        return possible_share(self.verdicts)

    @property
    def mean_probability(self) -> float | None:
        """Mean probability of support of the judged sentences; None without any."""
        judged = [v.probability for v in self.verdicts if v.probability is not None]
        return math.fsum(judged) / len(judged) if judged else None

    @property
    def n_unclear(self) -> int:
        """Number of judged sentences that are neither supported nor contradicted."""
        return sum(verdict.state == "unclear" for verdict in self.verdicts)

    @property
    def n_failed(self) -> int:
        """Number of sentences on which the checker failed; they are not part of the score."""
        return sum(verdict.failed for verdict in self.verdicts)

    @property
    def n_unjudged(self) -> int:
        """Number of sentences that were not given to the checker: headings, code, languages it does not read."""
        return sum(not verdict.judged and not verdict.failed for verdict in self.verdicts)

    @property
    def line(self) -> str:
        """The score on one line, with what was counted, or why there is none."""
        if self.score is None:
            return f"Faithfulness undefined: {self.reason}"
        judged = [verdict.supported for verdict in self.verdicts if verdict.judged]
        which = " judged" * (len(judged) < len(self.verdicts))
        counted = f"{sum(map(bool, judged))} of {len(judged)}{which} sentences supported"
        return f"Faithfulness {self.score:.2f}: {counted}{_doubts(self.verdicts)}"

    def row(self) -> JsonDict:
        """Return the summary in one row: its scores and counts, and why it has none."""
        found = {name: getattr(self, name) for name in ("score", "score_high", "mean_probability")}
        found |= {"sentences": len(self.verdicts), "unclear": self.n_unclear, "failed": self.n_failed}
        return found | {"not_judged": self.n_unjudged, "reason": self.reason}

    def rows(self) -> list[JsonDict]:
        """Return one dictionary for each summary sentence: its text and place, its verdict, its evidence with the
        words, and its findings with their places in the summary.
        """
        article = [sentence.text for sentence in self.source_sentences]
        return [
            {
                "sentence": position,
                **sentence.to_dict(),
                "supported": verdict.supported,
                "state": verdict.state,
                "probability": verdict.probability,
                "evidence": [item.index for item in verdict.evidence],
                "similarities": [item.similarity for item in verdict.evidence],
                "findings": [f"{finding.kind}: {finding.text}" for finding in verdict.findings],
                "spans": [(finding.start, finding.end) for finding in verdict.findings],
                "failed": verdict.failed,
                "reason": verdict.reason,
                "quotes": [article[item.index] for item in verdict.evidence],
            }
            for position, (sentence, verdict) in enumerate(zip(self.sentences, self.verdicts, strict=True))
        ]

    def outcome(self) -> Outcome:
        """Return what a run writes down: all but the similarities, whose table is long."""
        known = ("score", "reason", "signature", "similarity")
        parts = {name: part for name, part in self.to_dict().items() if name not in known}
        status = "ok" if self.score is not None else "failed" if self.n_failed else "undefined"
        return Outcome(self.score, status, self.reason, parts, str(self.signature))

    def to_dict(self) -> JsonDict:
        """Return everything as plain data, ready for JSON; `faithfulness_from_dict` reads it back.

        `schema` is the number of its form, which `assets/faithfulness.schema.json` describes.
        """
        similarity = self.similarity.astype(object)
        similarity[np.isnan(self.similarity)] = None  # a run's rows have none, and JSON has no NaN
        counts = "score reason score_low score_high mean_probability n_unclear n_failed n_unjudged".split()
        return {
            "schema": SCHEMA,
            **{name: getattr(self, name) for name in counts},
            "signature": str(self.signature),
            "judged_by": self.judged_by,
            "source": self.source,
            "summary": self.summary,
            "source_sentences": [sentence.to_dict() for sentence in self.source_sentences],
            "sentences": [sentence.to_dict() for sentence in self.sentences],
            "similarity": similarity.tolist(),
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
        }

    def __repr__(self) -> str:
        if self.score is None or not self.n_unclear:
            return super().__repr__()
        reach = f"score={self.score:.4f}, score_high={self.score_high:.4f}, n_unclear={self.n_unclear}"
        return f"{type(self).__name__}({reach}, signature={str(self.signature)!r})"

    def report(self) -> Report:
        """Return what the HTML and the text report draw, as plain data."""
        return Report(
            title=self.line,
            source=self.source,
            spans=[(sentence.start, sentence.end) for sentence in self.source_sentences],
            entries=[drawn_entry(s, v, _notes(v)) for s, v in zip(self.sentences, self.verdicts, strict=True)],
            signature=str(self.signature),
            judged_by=self.judged_by if self.score is not None else "",
            measured=measured_rows(self.signature) if self.score is not None and self.judged_by else (),
            note=f"Up to {self.score_high:.2f} if the unclear ones are true." if self.n_unclear else "",
        )

    def explain(self, i: int) -> Explanation:
        """Return why sentence i got its verdict: the terms of the embedded checker's sum, as a table that adds up.

        Raises
        ------
        IndexError
            If there is no such sentence.
        ValueError
            If the sentence was not judged, or not by the embedded checker.
        """
        if not -len(self.verdicts) <= i < len(self.verdicts):
            raise IndexError(f"there is no sentence {i}: the summary has {len(self.verdicts)}, counted from 0")
        verdict, sentence = self.verdicts[i], self.sentences[i].text
        if not is_sum(verdict.details):
            why = verdict.reason or "its checker is not the embedded one, whose verdicts are sums"
            raise ValueError(f"nothing to explain of {sentence!r:.60}: {why}")
        evidence = [self.source_sentences[item.index].text for item in verdict.evidence]
        return Explanation(sentence, evidence, verdict)

    def plot(self, ax: plt.Axes | None = None) -> plt.Axes:
        """Draw the similarities as a heat map, the evidence of each sentence framed; return the axes."""
        if not self.similarity.size:
            raise ValueError(f"there is nothing to draw: {self.reason}")
        ax = heat_map(
            self.similarity,
            row_label="summary sentence",
            column_label="article sentence",
            marked=[(row, item.index) for row, verdict in enumerate(self.verdicts) for item in verdict.evidence],
            value_label="cosine similarity",
            title=self.line,
            ax=ax,
        )
        for axis in (ax.xaxis, ax.yaxis):  # sentences are counted from one, as in the report
            places = axis.get_majorticklocs()
            axis.set_ticks(places, [f"{place + 1:.0f}" for place in places])
        return ax


def _decimals(verdict: Verdict) -> int:
    """Return how many decimals of a probability show on which side of each border it lies: 2 at least."""
    p, borders = verdict.probability, (verdict.threshold, verdict.contradicted_below)
    known = [border for border in borders if border is not None]
    fitting = (n for n in range(2, 7) if p is None or all((round(p, n) < border) == (p < border) for border in known))
    return next(fitting, 2)


def _notes(verdict: Verdict) -> list[str]:
    details = verdict.details
    notes = [] if verdict.judged else [verdict.reason]
    if "probability_mass" in details:
        notes.append(f"probability mass {details['probability_mass']:.3f}")
    if "note" in details:
        notes.append(str(details["note"]))
    summed, coverage = is_sum(details), details.get("coverage")
    if summed and isinstance(details.get("against"), Mapping):
        notes += [f"“{text}”: the article has “{other}”" for text, other in details["against"].items()]
    if verdict.state == "unclear":
        clash = any(finding.clash for finding in verdict.findings)
        if clash and (verdict.probability or 0.0) >= verdict.threshold:
            notes.append("something clashes: not called supported")
        elif summed and isinstance(coverage, (int, float)):  # of chapter 34: below one half most words are new
            notes.append("too little of it is in the article" if coverage < 0.5 else "cannot tell")
    return notes


def drawn_entry(sentence: Sentence, verdict: Verdict, notes: Iterable[str]) -> Entry:
    """Return a judged sentence as a report draws it."""
    low = sentence.start
    return Entry(
        text=sentence.text,
        probability=verdict.probability,
        supported=verdict.supported,
        state=verdict.state if verdict.contradicted_below is not None or verdict.hard == "unclear" else None,
        decimals=_decimals(verdict),
        evidence=[(item.index, item.similarity) for item in verdict.evidence],
        findings=[(finding.kind, finding.start - low, finding.end - low) for finding in verdict.findings],
        note="; ".join(notes),
    )


def _doubts(verdicts: Sequence[Verdict]) -> str:
    """Return what a title says of verdicts without probabilities, or with such that hold little of the model's own."""
    hard = sum(bool(verdict.hard) for verdict in verdicts)
    masses = [verdict.details.get("probability_mass") for verdict in verdicts]
    low = sum(isinstance(mass, float) and mass < LOW_MASS for mass in masses)
    said = f"; {hard} hard, from a model without probabilities" * bool(hard)
    return said + f"; {low} with a probability mass below {LOW_MASS}" * bool(low)


MEANING = {
    "intercept": "where all sentences start",
    "near_follows": "the reader, nearest evidence: it follows, as log-odds",
    "near_denied": "the reader, nearest evidence: it is denied, as log-odds",
    "all_follows": "the reader, all evidence: it follows, as log-odds",
    "all_denied": "the reader, all evidence: it is denied, as log-odds",
    "careful_follows": "the careful reader, all evidence: it follows, as log-odds",
    "cosine": "greatest cosine with an evidence sentence",
    "overlap": "how much is copied in long pieces",
    "numbers_missing": "numbers that the evidence does not hold, at most 2",
    "names_missing": "words of names that the evidence does not hold, at most 2",
    "negation_difference": "1: one side has an odd number of negations more",
    "antonym": "1: a word's opposite is in the nearest evidence",
    "copied": "1: a copy in which one place has changed",
    "recalibration": "slope and offset of this checker",
}


def is_sum(details: Mapping[str, object]) -> bool:
    """Return whether a verdict's details are those of the embedded checker; anybody's checker may call its own so."""
    terms, numbers = details.get("terms"), details.get("numbers")
    return isinstance(terms, Mapping) and isinstance(numbers, Mapping) and set(terms) <= set(MEANING)


@dataclass(frozen=True)
class Explanation:
    """Why a verdict is what it is: rows that add up to its log-odds, and its evidence; made by `result.explain(i)`.

    Parameters
    ----------
    sentence : str
        What was judged.
    evidence : list of str
        The sentences that it was judged by, best first.
    verdict : Verdict
        A verdict of the embedded checker; the `terms` of its sum are in its details.
    """

    sentence: str
    evidence: list[str]
    verdict: Verdict

    @property
    def log_odds(self) -> float:
        """The sum of all rows: the log-odds of the verdict's probability."""
        return log_odds(self.verdict.probability or 0.0, math.inf)

    def rows(self) -> list[JsonDict]:
        """Return the terms, the greatest first, as rows whose `moved` adds up to the last one's."""
        terms, values = dict(self.verdict.details["terms"]), self.verdict.details["numbers"]
        more = self.log_odds - math.fsum(terms.values())
        if abs(more) > 1e-6:
            terms["recalibration"] = more
        ranked = sorted(terms.items(), key=lambda item: (item[0] != "intercept", -abs(item[1])))
        parts = [(name, values.get(name, 1.0), moved, MEANING[name]) for name, moved in ranked]
        parts.append(("log-odds", None, self.log_odds, f"probability {self.verdict.probability:.3f}"))
        return [dict(zip(("number", "value", "moved", "meaning"), part, strict=True)) for part in parts]

    def __str__(self) -> str:
        return f"{self._title()}\n{text_table(self.rows())}"

    def _title(self) -> str:
        looked = ", ".join(f"{found.kind} “{found.text}”" for found in self.verdict.findings)
        title = f"{self.verdict.state} {self.verdict.probability:.2f}: {self.sentence}"
        return f"{title} (look at: {looked})" if looked else title

    def _repr_html_(self) -> str:
        def bar(moved: float) -> Markup:  # the sign says the direction, not the colour alone
            color = "#1f5f99" if moved >= 0 else "#a11212"
            return render("moved.html", moved=f"{moved:+.3f}", width=f"{min(abs(moved), 5) * 1.2:.2f}", color=color)

        rows = [row | {"moved": bar(row["moved"])} for row in self.rows()]
        return render("explained.html", title=self._title(), rows=rows, evidence=self.evidence)


@made_of("the plain data of a Faithfulness")
def faithfulness_from_dict(data: Mapping[str, Any]) -> Faithfulness:
    """Return the result that `Faithfulness.to_dict` wrote, also after a trip as JSON.

    Without `similarity`, as in the rows of a run, the table of similarities is unknown (NaN).
    """
    if data["schema"] != SCHEMA:
        remedy = "read it with the version of summeval_nb that wrote it, or evaluate the texts again"
        raise ValueError(f"these data have schema {data['schema']!r:.40}, and only {SCHEMA} can be read here: {remedy}")
    verdicts = [
        Verdict(
            **{key: kept[key] for key in ("probability", "threshold", "details", "failed", "reason")},
            contradicted_below=kept.get("contradicted_below"),
            hard=kept.get("hard", ""),
            evidence=[Evidence(**item) for item in kept["evidence"]],
            findings=[Finding(**item) for item in kept["findings"]],
        )
        for kept in data["verdicts"]
    ]
    sentences = [Sentence(**item) for item in data["sentences"]]
    article = [Sentence(**item) for item in data["source_sentences"]]
    _require_traceable(data["score"], article, sentences, verdicts)
    shape = len(sentences), len(article)
    similarity = np.array(data["similarity"], dtype=float) if "similarity" in data else np.full(shape, np.nan)
    return Faithfulness(
        score=data["score"],
        reason=data["reason"],
        signature=Signature.parse(data["signature"]),
        judged_by=data.get("judged_by", ""),
        source=data["source"],
        summary=data["summary"],
        source_sentences=article,
        sentences=sentences,
        similarity=similarity.reshape(shape),
        verdicts=verdicts,
    )


def _require_traceable(
    score: float | None, article: list[Sentence], sentences: list[Sentence], verdicts: list[Verdict]
) -> None:
    """Raise unless each sentence has a verdict, which lies within the texts, and the score is what verdicts say."""
    if len(verdicts) != len(sentences):
        remedy = "pass what to_dict() returned, as it was"
        raise ValueError(f"there are {len(sentences)} sentences and {len(verdicts)} verdicts: {remedy}")
    for sentence, verdict in zip(sentences, verdicts, strict=True):
        known = all(0 <= item.index < len(article) for item in verdict.evidence)
        if not known or not all(sentence.start <= f.start <= f.end <= sentence.end for f in verdict.findings):
            raise ValueError(f"evidence or a finding of {sentence.text[:40]!r} lies outside the texts")
    expected, _ = supported_share(verdicts)
    if (score is None) != (expected is None) or (score is not None and abs(score - (expected or 0.0)) > 1e-9):
        judged = sum(verdict.judged for verdict in verdicts)
        raise ValueError(f"the score is {score}, but its {judged} judged verdicts say {expected}")


@dataclass(frozen=True, repr=False)
class ReportComparison(Reported, Rows):
    """Several summaries of one article side by side; made by `compare_reports`."""

    page_title: ClassVar[str] = "Comparison of summaries"
    results: Sequence[Faithfulness]
    names: Sequence[str]

    def __repr__(self) -> str:
        shown = []
        for name, result in zip(self.names, self.results, strict=True):
            score, high = (None if x is None else round(x, 4) for x in (result.score, result.score_high))
            shown.append(f"{name}={score}" + (f", up to {high}" if result.n_unclear else ""))
        return f"ReportComparison({', '.join(shown)})"

    def rows(self) -> list[JsonDict]:
        """Return one dictionary for each summary: name, score, what it would be if all were true, and counts."""
        return [{"summary": name, **result.row()} for name, result in zip(self.names, self.results, strict=True)]

    def to_dict(self) -> JsonDict:
        """Return all results as plain data."""
        return {"names": list(self.names), "results": [result.to_dict() for result in self.results]}

    def report(self) -> Report:
        """Return what the HTML and the text comparison draw: the article once, a group a summary."""
        reports = [result.report() for result in self.results]
        titles = [f"{name} — {report.title}" for name, report in zip(self.names, reports, strict=True)]
        checkers = [result.signature.get("checker", "") for result in self.results]
        if len(set(checkers)) > 1:  # words against embedded, or two versions of one: which judged which is said
            named = (f", by {checker}" if checker else "" for checker in checkers)
            titles = [title + by for title, by in zip(titles, named, strict=True)]
        return Report(
            title="Summaries compared",
            source=reports[0].source,
            spans=reports[0].spans,
            entries=[entry for report in reports for entry in report.entries],
            signature=" ; ".join(dict.fromkeys(report.signature for report in reports)),
            groups=[(title, len(report.entries)) for title, report in zip(titles, reports, strict=True)],
            judged_by=" ; ".join(dict.fromkeys(report.judged_by for report in reports if report.judged_by)),
            measured=next((report.measured for report in reports if report.measured), ()),
        )


def compare_reports(results: Iterable[Faithfulness], names: Sequence[str] | None = None) -> ReportComparison:
    """Put several summaries of one article side by side.

    Parameters
    ----------
    results : sequence of Faithfulness, such as what `evaluate_many` returns
        At least one, all of the same article, split in the same way.
    names : sequence of str, optional
        Names of the summaries; default "summary 1", "summary 2", …

    Raises
    ------
    ValueError
        If there is no result, the articles differ, or the names do not match in number.

    Examples
    --------
    >>> from summeval_nb import evaluate_many
    >>> results = evaluate_many(["It rained. It was late."] * 2, ["It rained.", "It snowed."])
    >>> compare_reports(results, ["first", "second"])
    ReportComparison(first=1.0, second=0.0, up to 1.0)
    """
    if isinstance(results, Mapping) or not isinstance(results, Iterable):
        as_lists = "pass list(results.values()) and names=list(results)"
        remedy = as_lists if isinstance(results, Mapping) else "pass [result]"
        raise TypeError(f"results must be a list of results of evaluate, not {type(results).__name__}: {remedy}")
    results = list(results)
    if not results:
        raise ValueError("results is empty: pass at least one result of evaluate")
    first = results[0]
    for number, result in enumerate(results):
        if not isinstance(result, Faithfulness):
            raise TypeError(f"results[{number}] must be a result of evaluate, not {result!r:.40}")
        if (result.source, result.source_sentences) != (first.source, first.source_sentences):
            raise ValueError(f"results[{number}] judges another article (or another splitting) than results[0]")
    listed = [f"summary {i + 1}" for i in range(len(results))] if names is None else require_texts(names, "names")
    if len(listed) != len(results):
        raise ValueError(f"there are {len(results)} results but {len(listed)} names")
    if twice := sorted({name for name in listed if listed.count(name) > 1}):
        raise ValueError(f"two summaries are called {twice[0]!r}: give each a name of its own")
    return ReportComparison(results, listed)
