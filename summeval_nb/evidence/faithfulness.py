"""Faithfulness: the share of a summary's sentences that the article supports, each with its evidence."""

from __future__ import annotations

import functools
import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar

import numpy as np

from summeval_nb.core.base import (
    JsonDict,
    Stages,
    made_of,
    require_count,
    require_options,
    require_share,
    require_text,
    require_texts,
)
from summeval_nb.core.files import write_whole
from summeval_nb.core.html import Entry, Report, evidence_markdown, evidence_report, evidence_text, heat_map, html_page
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Evidence, Finding, Outcome, Rows, Score, ScoreTable, Sentence, Signature, Verdict
from summeval_nb.evidence.base import Checker
from summeval_nb.evidence.builtin import Explanation, is_sum, why_unclear
from summeval_nb.evidence.inputs import warn_of_inputs
from summeval_nb.evidence.load import load_checker, with_threshold
from summeval_nb.evidence.measured import measured_rows
from summeval_nb.evidence.pairs import Settings, embed_pairs, in_batches, judge, read_pairs
from summeval_nb.evidence.share import possible_share, supported_share
from summeval_nb.models.base import LOW_MASS
from summeval_nb.models.load import StoreOrPath, load_store
from summeval_nb.text.embed import EmbedderOrName, load_embedder
from summeval_nb.text.normalize import VERSION as NORMALIZE
from summeval_nb.text.split import Splitter, splitter_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "DEFAULT_K",
    "Faithfulness",
    "ReportComparison",
    "assert_faithful",
    "compare_reports",
    "evaluate",
    "evaluate_many",
    "faithfulness_from_dict",
    "faithfulness_schema",
]

DEFAULT_K = 8
Parameters = ParamSpec("Parameters")
Found = TypeVar("Found")


SCHEMA = 2  # another number whenever what `to_dict` returns has another form


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Faithfulness(Score):
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
        return _title(self)

    def row(self) -> JsonDict:
        """Return the summary in one row: its scores and counts, and why it has none."""
        return {
            "score": self.score,
            "score_high": self.score_high,
            "mean_probability": self.mean_probability,
            "sentences": len(self.verdicts),
            "unclear": self.n_unclear,
            "failed": self.n_failed,
            "not judged": self.n_unjudged,
            "reason": self.reason,
        }

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
        counts = ["score_low", "score_high", "mean_probability"]
        counts += ["n_unclear", "n_failed", "n_unjudged"]
        return {
            "schema": SCHEMA,
            **{name: getattr(self, name) for name in ("score", "reason", *counts)},
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
            title=_title(self),
            source=self.source,
            spans=[(sentence.start, sentence.end) for sentence in self.source_sentences],
            entries=[_entry(s, v) for s, v in zip(self.sentences, self.verdicts, strict=True)],
            signature=str(self.signature),
            judged_by=self.judged_by if self.score is not None else "",
            measured=measured_rows(self.signature) if self.score is not None and self.judged_by else (),
            note=_note(self),
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

    def to_html(self, path: str | PathLike[str]) -> Path:
        """Write the report as one stand-alone file that makes no request, and return its path."""
        write_whole(Path(path), html_page("Faithfulness report", self._repr_html_()))
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

    def _repr_html_(self) -> str:
        return self.drawn()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the similarities as a heat map, the evidence of each sentence framed; return the axes."""
        if not self.similarity.size:
            raise ValueError(f"there is nothing to draw: {self.reason}")
        ax = heat_map(
            self.similarity,
            row_label="summary sentence",
            column_label="article sentence",
            marked=[(row, item.index) for row, verdict in enumerate(self.verdicts) for item in verdict.evidence],
            value_label="cosine similarity",
            title=_title(self),
            ax=ax,
        )
        for axis in (ax.xaxis, ax.yaxis):  # sentences are counted from one, as in the report
            places = axis.get_majorticklocs()
            axis.set_ticks(places, [f"{place + 1:.0f}" for place in places])
        return ax


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
    """Return the options of a call with what they name loaded, once for all of its pairs."""
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


def _evaluate_batch(texts: Sequence[str], summaries: Sequence[str], settings: Settings) -> list[Faithfulness]:
    """Split, embed, compare and find, check, count: a batch of pairs."""
    checker, splitter = settings.checker, settings.splitter
    stage = Stages(read=1, embed=5, judge=11)
    with stage("read"):
        batch = read_pairs(texts, summaries, checker, splitter, settings.lang)
    with stage("embed"):
        vectors = embed_pairs(batch, settings)
        retrieved = [pair.retrieve(vectors, settings.k) for pair in batch]
    questions = [question for pair in retrieved for question in pair.questions]
    with stage("judge"):
        answers = judge(questions, checker, vectors, settings.store)
    found = []
    for pair in retrieved:
        verdicts = pair.verdicts(answers, checker.threshold)
        score, reason = supported_share(verdicts)
        reason = reason if verdicts else pair.pair.why_empty
        signature, by = _signed(settings.signature, verdicts), _judged_with(settings)
        found.append(
            Faithfulness(score=score, reason=reason, signature=signature, judged_by=by, verdicts=verdicts, **pair.texts)
        )
    return found


@metric("faithfulness", probe="It rained.", check=_check_options, signature=_signature)
def evaluate(
    text: str,
    summary: str,
    k: int | None = None,
    *,
    splitter: Splitter = "punkt",
    embedder: EmbedderOrName = "minilm",
    checker: str | Checker = "embedded",
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
        `"punkt"`, `"punkt_tab"`, `"stanza"`, `"sentencex"`, or text -> list of (start, end).
    embedder : str or object
        `"minilm"`, a sentence-transformers name or folder, or an object with `encode` and `fingerprint`.
    checker : str or Checker
        `"embedded"`, `"words"`, `"nli:FOLDER"`, `"llm:FOLDER"`, or any object with `fingerprint`, `threshold` and
        `check_many(pairs, *, vectors=None)`: it gets a list of pairs (list of evidence texts, sentence) and returns one
        `Verdict(probability=...)` for each. `vectors` may be ignored. What it says in `languages` is all it is given to
        read; below its `contradicted_below`, if any, or its `contradicted_below_of(findings)`, a sentence is
        contradicted.
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
        If k < 1, an option is unknown, or a checker gives more or fewer verdicts than pairs.

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
    texts, summaries = [require_text(text, "text")], [require_text(summary, "summary")]
    settings = load_settings(
        k=k, splitter=splitter, embedder=embedder, checker=checker, threshold=threshold, store=store, lang=lang
    )
    warn_of_inputs(texts, summaries)
    return _evaluate_batch(texts, summaries, settings)[0]


def _evaluate_all(
    texts: Sequence[str], summaries: Sequence[str], *, progress: bool | None = None, **options: Any
) -> ScoreTable[Faithfulness]:
    """Evaluate pairs batch by batch, in their order: pairs of an article together, each of their sentences once."""
    texts, summaries = require_texts(texts, "texts"), require_texts(summaries, "summaries")
    if len(texts) != len(summaries):
        raise ValueError(
            f"texts and summaries must pair up, but there are {len(texts)} texts and {len(summaries)} summaries; "
            "repeat an article for each of its summaries"
        )
    settings = load_settings(**options)
    warn_of_inputs(texts, summaries)
    listed = in_batches(texts, summaries, progress, lambda *batch: _evaluate_batch(batch[0], batch[1], settings))
    verdicts = (verdict for result in listed for verdict in result.verdicts)
    return ScoreTable(listed, signature=_signed(settings.signature, verdicts))


evaluate_many = batch(
    evaluate,
    _evaluate_all,
    name="evaluate_many",
    doc="Score many (article, summary) pairs as `evaluate` scores one; repeated sentences are embedded once.",
)


def _names_misspelt(function: Callable[Parameters, Found]) -> Callable[Parameters, Found]:
    """Let a function say which option was probably meant."""
    known = inspect.signature(function).parameters

    @functools.wraps(function)
    def call(*given: Parameters.args, **options: Parameters.kwargs) -> Found:
        __tracebackhide__ = True
        require_options(f"{function.__name__}()", options, known)
        return function(*given, **options)

    return call


@_names_misspelt
def assert_faithful(
    text: str,
    summary: str,
    at_least: float = 0.8,
    *,
    k: int | None = None,
    splitter: Splitter = "punkt",
    embedder: EmbedderOrName = "minilm",
    checker: str | Checker = "embedded",
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
    k, splitter, embedder, checker, threshold, store, lang
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
    result = evaluate(
        text,
        summary,
        k,
        splitter=splitter,
        embedder=embedder,
        checker=checker,
        threshold=threshold,
        store=store,
        lang=lang,
    )
    failures = [verdict.reason for verdict in result.verdicts if verdict.failed]
    if failures:
        raise RuntimeError(
            f"the checker failed on {len(failures)} of {len(result.verdicts)} "
            f"sentences, so nothing is asserted: {failures[0]}"
        )
    if result.score is None:
        raise AssertionError(f"faithfulness is undefined: {result.reason}")
    if result.score < at_least:
        report = result.report()
        wrong = [entry for entry in report.entries if entry.supported is False]
        title = f"faithfulness {result.score:.4g} is below {at_least:g}: not supported"
        shown = replace(report, title=title, entries=wrong, measured=(), judged_by="")
        raise AssertionError(evidence_text(shown))
    return result


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
    _require_places(article, sentences, verdicts)
    _require_score(data["score"], verdicts)
    shape = len(sentences), len(article)
    similarity = np.array(data["similarity"], dtype=float) if "similarity" in data else np.full(shape, np.nan)
    own = {key: data[key] for key in ("score", "reason", "source", "summary")} | {
        "signature": Signature.parse(data["signature"]),
        "judged_by": data.get("judged_by", ""),
        "source_sentences": article,
        "sentences": sentences,
        "similarity": similarity.reshape(shape),
        "verdicts": verdicts,
    }
    return Faithfulness(**own)


def faithfulness_schema() -> JsonDict:
    """Return the JSON schema (draft 2020-12) of what `Faithfulness.to_dict` returns, for programs that read it."""
    file = resources.files("summeval_nb") / "assets" / "faithfulness.schema.json"
    return json.loads(file.read_text(encoding="utf-8"))


def _require_places(article: list[Sentence], sentences: list[Sentence], verdicts: list[Verdict]) -> None:
    """Raise a `ValueError` unless each sentence has a verdict, and evidence and findings lie within the texts."""
    if len(verdicts) != len(sentences):
        remedy = "pass what to_dict() returned, as it was"
        raise ValueError(f"there are {len(sentences)} sentences and {len(verdicts)} verdicts: {remedy}")
    for sentence, verdict in zip(sentences, verdicts, strict=True):
        known = all(0 <= item.index < len(article) for item in verdict.evidence)
        if not known or not all(
            sentence.start <= finding.start <= finding.end <= sentence.end for finding in verdict.findings
        ):
            raise ValueError(f"evidence or a finding of {sentence.text[:40]!r} lies outside the texts")


def _require_score(score: float | None, verdicts: Sequence[Verdict]) -> None:
    """Raise a `ValueError` unless a score is what its verdicts say: such a number could not be traced."""
    judged = [bool(verdict.supported) for verdict in verdicts if verdict.judged]
    expected = sum(judged) / len(judged) if judged else None
    if (score is None) != (expected is None) or (score is not None and abs(score - (expected or 0.0)) > 1e-9):
        raise ValueError(f"the score is {score}, but its {len(judged)} judged verdicts say {expected}")


@dataclass(frozen=True, repr=False)
class ReportComparison(Rows):
    """Several summaries of one article side by side; made by `compare_reports`."""

    results: Sequence[Faithfulness]
    names: Sequence[str]

    def __repr__(self) -> str:
        def short(score: float | None) -> float | None:
            return None if score is None else round(score, 4)

        scores = ", ".join(
            f"{row['summary']}={short(row['score'])}"
            + (f", up to {short(row['score_high'])}" if row["unclear"] else "")
            for row in self.rows()
        )
        return f"ReportComparison({scores})"

    def rows(self) -> list[JsonDict]:
        """Return one dictionary for each summary: name, score, what it would be if all were true, and counts."""
        return [{"summary": name, **result.row()} for name, result in zip(self.names, self.results, strict=True)]

    def to_dict(self) -> JsonDict:
        """Return all results as plain data."""
        return {"names": list(self.names), "results": [result.to_dict() for result in self.results]}

    def to_markdown(self) -> str:
        """Return the comparison as GitHub-flavoured Markdown, a table a summary."""
        return evidence_markdown(_comparison_report(self))

    def to_text(self, *, color: bool = False) -> str:
        """Return the comparison as text, for terminals: one summary below the other."""
        return evidence_text(_comparison_report(self), color=color)

    def _repr_html_(self) -> str:
        return evidence_report(_comparison_report(self))

    def to_html(self, path: str | PathLike[str]) -> Path:
        """Write the comparison as one stand-alone file and return its path."""
        write_whole(Path(path), html_page("Comparison of summaries", self._repr_html_()))
        return Path(path)


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
    """
    return ReportComparison(*_of_one_article(results, names))


def _of_one_article(
    results: Iterable[Faithfulness], names: Sequence[str] | None
) -> tuple[list[Faithfulness], list[str]]:
    """Return results and names as lists; raise unless all are of the same article, split alike, with a name each."""
    if isinstance(results, Mapping) or not isinstance(results, Iterable):
        remedy = (
            "pass list(results.values()) and names=list(results)" if isinstance(results, Mapping) else "pass [result]"
        )
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
    return results, listed


def _comparison_report(comparison: ReportComparison) -> Report:
    reports = [result.report() for result in comparison.results]
    titles = [f"{name} — {report.title}" for name, report in zip(comparison.names, reports, strict=True)]
    checkers = [result.signature.get("checker", "") for result in comparison.results]
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


def _decimals(verdict: Verdict) -> int:
    """Return how many decimals of a probability it takes to see on which side of each border it lies: 2 at least."""
    p, borders = verdict.probability, (verdict.threshold, verdict.contradicted_below)
    known = [border for border in borders if border is not None]
    fitting = (n for n in range(2, 7) if p is None or all((round(p, n) < border) == (p < border) for border in known))
    return next(fitting, 2)


def _entry(sentence: Sentence, verdict: Verdict) -> Entry:
    low, notes = sentence.start, [verdict.reason] if not verdict.judged else []
    notes += [f"probability mass {value:.3f}" for key, value in verdict.details.items() if key == "probability_mass"]
    notes += [str(value) for key, value in verdict.details.items() if key == "note"]
    summed, clash = (is_sum(verdict.details), any(finding.clash for finding in verdict.findings))
    against = verdict.details.get("against") if summed else None
    if isinstance(against, Mapping):
        notes += [f"“{text}”: the article has “{other}”" for text, other in against.items()]
    if verdict.state == "unclear" and clash and (verdict.probability or 0.0) >= verdict.threshold:
        notes.append("something clashes: not called supported")
    elif (
        verdict.state == "unclear" and summed and isinstance(coverage := verdict.details.get("coverage"), (int, float))
    ):
        notes.append(why_unclear(coverage))
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


def _title(result: Faithfulness) -> str:
    if result.score is None:
        return f"Faithfulness undefined: {result.reason}"
    judged = sum(verdict.judged for verdict in result.verdicts)
    supported = sum(bool(verdict.supported) for verdict in result.verdicts)
    which = " judged" * (judged < len(result.verdicts))
    counted = f"{supported} of {judged}{which} sentences supported"
    return f"Faithfulness {result.score:.2f}: {counted}{_doubts(result.verdicts)}"


def _doubts(verdicts: Sequence[Verdict]) -> str:
    """Return what a title says of verdicts without probabilities, or with such that hold little of the model's own."""
    hard = sum(bool(verdict.hard) for verdict in verdicts)
    masses = [verdict.details.get("probability_mass") for verdict in verdicts]
    low = sum(isinstance(mass, float) and mass < LOW_MASS for mass in masses)
    said = f"; {hard} hard, from a model without probabilities" * bool(hard)
    return said + f"; {low} with a probability mass below {LOW_MASS}" * bool(low)


def _note(result: Faithfulness) -> str:
    """Return what the score would be if all unclear sentences were true; "" where none is unclear."""
    high = result.score_high if result.n_unclear else None
    return "" if high is None else f"Up to {high:.2f} if the unclear ones are true."


def _signed(signature: Signature, verdicts: Iterable[Verdict]) -> Signature:
    """Return the signature of some verdicts, which says where they are hard."""
    if not any(verdict.hard for verdict in verdicts):
        return signature
    parts = dict(signature)
    version = parts.pop("version")
    return Signature(parts | {"verdicts": "hard", "version": version})


def _judged_with(settings: Settings) -> str:
    """Return who judged, for reports; of what it is good at nothing with other evidence than it was measured with."""
    line = getattr(settings.checker, "judged_by", "")
    measured = getattr(settings.checker, "measured_with", None)
    if not line or measured is None or measured == (settings.embedder.fingerprint, settings.k):
        return line
    return f"{line.partition(',')[0]}, measured with other evidence: k={measured[1]} and the packaged embedder."
