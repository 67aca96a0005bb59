"""What `evaluate` returns: the score with every reason, as a report, as data and back, and several side by side."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from summeval_nb.core.base import JsonDict, made_of, require_texts
from summeval_nb.core.files import read_asset, write_whole
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
from summeval_nb.core.results import Evidence, Finding, Outcome, Rows, Score, Sentence, Signature, Verdict
from summeval_nb.evidence.base import measured_rows
from summeval_nb.evidence.embedded import log_odds
from summeval_nb.evidence.share import possible_share, supported_share
from summeval_nb.models.base import LOW_MASS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "Explanation",
    "Faithfulness",
    "ReportComparison",
    "compare_reports",
    "faithfulness_from_dict",
    "faithfulness_schema",
]

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
        if self.score is None:
            return f"Faithfulness undefined: {self.reason}"
        judged = [verdict.supported for verdict in self.verdicts if verdict.judged]
        which = " judged" * (len(judged) < len(self.verdicts))
        counted = f"{sum(map(bool, judged))} of {len(judged)}{which} sentences supported"
        return f"Faithfulness {self.score:.2f}: {counted}{_doubts(self.verdicts)}"

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
            entries=[_entry(s, v) for s, v in zip(self.sentences, self.verdicts, strict=True)],
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

    _repr_html_ = drawn

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


def _entry(sentence: Sentence, verdict: Verdict) -> Entry:
    low, details = sentence.start, verdict.details
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
        rows = [_row(name, values.get(name, 1.0), moved, MEANING[name]) for name, moved in ranked]
        return [*rows, _row("log-odds", None, self.log_odds, f"probability {self.verdict.probability:.3f}")]

    def __str__(self) -> str:
        return f"{self._title()}\n{text_table(self.rows())}"

    def _title(self) -> str:
        looked = ", ".join(f"{found.kind} “{found.text}”" for found in self.verdict.findings)
        title = f"{self.verdict.state} {self.verdict.probability:.2f}: {self.sentence}"
        return f"{title} (look at: {looked})" if looked else title

    def _repr_html_(self) -> str:
        rows = [row | {"moved": _bar(row["moved"])} for row in self.rows()]
        return render("explained.html", title=self._title(), rows=rows, evidence=self.evidence)


def _row(number: str, value: float | None, moved: float, what: str) -> JsonDict:
    return {"number": number, "value": value, "moved": moved, "meaning": what}


def _bar(moved: float) -> Markup:
    """A signed number with a bar as long as it is great; the sign says the direction, not the colour alone."""
    color = "#1f5f99" if moved >= 0 else "#a11212"
    return render("moved.html", moved=f"{moved:+.3f}", width=f"{min(abs(moved), 5) * 1.2:.2f}", color=color)


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


def faithfulness_schema() -> JsonDict:
    """Return the JSON schema (draft 2020-12) of what `Faithfulness.to_dict` returns, for programs that read it."""
    return json.loads(read_asset("faithfulness.schema.json"))


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
class ReportComparison(Rows):
    """Several summaries of one article side by side; made by `compare_reports`."""

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

    def to_markdown(self) -> str:
        """Return the comparison as GitHub-flavoured Markdown, a table a summary."""
        return evidence_markdown(self.report())

    def to_text(self, *, color: bool = False) -> str:
        """Return the comparison as text, for terminals: one summary below the other."""
        return evidence_text(self.report(), color=color)

    def _repr_html_(self) -> str:
        return evidence_report(self.report())

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
