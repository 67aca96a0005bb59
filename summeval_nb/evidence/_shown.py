# A plain private module: edited directly, exported by no notebook, tested in tests/test_shown.py.
"""How judged sentences are shown: rows, plain data and back, the report, the heat map, several side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from summeval_nb.evidence._explained import Explanation, is_sum
from summeval_nb.evidence._reading import why_unclear
from summeval_nb.evidence.measured import measured_rows
from summeval_nb.ground._files import write_whole
from summeval_nb.ground._frames import Rows
from summeval_nb.ground._plain import made_of
from summeval_nb.ground.report import Entry, Report, evidence_report, evidence_text
from summeval_nb.ground.results import (
    Evidence,
    Finding,
    Outcome,
    ResultTable,
    Score,
    Sentence,
    Signature,
    Verdict,
    require_texts,
)
from summeval_nb.ground.viz import heat_map, html_page

from ..ground._types import JsonDict

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from summeval_nb.evidence.faithfulness import Faithfulness

__all__ = ["Comparison", "faithfulness_from_dict", "faithfulness_schema"]

SCHEMA = 1  # another number whenever what `to_dict` returns has another form
One = TypeVar("One", bound="JudgedSentences")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class JudgedSentences(Score):
    """What a `Faithfulness` holds and can show of itself; what makes its score is its own."""

    source: str
    summary: str
    source_sentences: list[Sentence]
    sentences: list[Sentence]
    similarity: np.ndarray
    verdicts: list[Verdict]
    judged_by: str = ""

    if TYPE_CHECKING:  # the result's own

        @property
        def mean_probability(self) -> float | None: ...

        @property
        def score_high(self) -> float | None: ...

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

    def rows(self) -> list[JsonDict]:
        """Return one dictionary for each summary sentence: text, verdict, evidence, findings."""
        return [_row(i, s, v) for i, (s, v) in enumerate(zip(self.sentences, self.verdicts, strict=True))]

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
        return _write_page(path, "Faithfulness report", self._repr_html_())

    def to_text(self, *, color: bool = False) -> str:
        """Return the report as text, for terminals."""
        return evidence_text(self.report(), color=color)

    def _repr_html_(self) -> str:
        return evidence_report(self.report())

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


def outcome_of(result: JudgedSentences) -> Outcome:
    """Return what a run writes down of a result: all of it but its similarities."""
    # columns of a row; the table of similarities is long
    known = ("score", "reason", "signature", "similarity")
    parts = {name: part for name, part in result.to_dict().items() if name not in known}
    status = "ok" if result.score is not None else "failed" if result.n_failed else "undefined"
    return Outcome(result.score, status, result.reason, parts, str(result.signature))


class JudgedTable(ResultTable[One], Generic[One]):
    """The results of many pairs, and what a run writes down of them."""

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down: each result, but for its similarities."""
        return [outcome_of(one) for one in self.results]


def why_none_judged(verdicts: Sequence[Verdict]) -> str:
    """Return why none of these verdicts was judged: failures first, then what kept a sentence from being judged."""
    if failed := [verdict for verdict in verdicts if verdict.failed]:
        return f"the checker failed on all {len(failed)} sentences; the first: {failed[0].reason}"
    if verdicts:
        return f"no sentence was judged; the first of {len(verdicts)}: {verdicts[0].reason}"
    return "there is no sentence to judge"


def _row(position: int, sentence: Sentence, verdict: Verdict) -> JsonDict:
    return {
        "sentence": position,
        "text": sentence.text,
        "supported": verdict.supported,
        "state": verdict.state,
        "probability": verdict.probability,
        "evidence": [item.index for item in verdict.evidence],
        "similarities": [item.similarity for item in verdict.evidence],
        "findings": [f"{finding.kind}: {finding.text}" for finding in verdict.findings],
        "failed": verdict.failed,
        "reason": verdict.reason,
    }


def _decimals(verdict: Verdict) -> int:
    """Return how many decimals of a probability it takes to see on which side of each border it lies: 2 at least."""
    p, borders = verdict.probability, (verdict.threshold, verdict.contradicted_below)
    known = [border for border in borders if border is not None]
    fitting = (n for n in range(2, 7) if p is None or all((round(p, n) < one) == (p < one) for one in known))
    return next(fitting, 2)


def _entry(sentence: Sentence, verdict: Verdict) -> Entry:
    notes = [verdict.reason] if not verdict.judged else []
    notes += [f"{key} {value:.3f}" for key, value in verdict.details.items() if key == "mass"]
    notes += [str(value) for key, value in verdict.details.items() if key == "note"]
    summed, clash = is_sum(verdict.details), any(finding.clash for finding in verdict.findings)
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
        state=verdict.state if verdict.contradicted_below is not None else None,
        decimals=_decimals(verdict),
        evidence=[(item.index, item.similarity) for item in verdict.evidence],
        findings=[(finding.kind, finding.start, finding.end) for finding in verdict.findings],
        note="; ".join(notes),
    )


def _title(result: JudgedSentences) -> str:
    if result.score is None:
        return f"Faithfulness undefined: {result.reason}"
    judged = sum(verdict.judged for verdict in result.verdicts)
    supported = sum(bool(verdict.supported) for verdict in result.verdicts)
    which = " judged" * (judged < len(result.verdicts))
    return f"Faithfulness {result.score:.2f}: {supported} of {judged}{which} sentences supported"


def _note(result: JudgedSentences) -> str:
    """Return what the score would be if all unclear sentences were true; "" where none is unclear."""
    high = result.score_high if result.n_unclear else None
    return "" if high is None else f"Up to {high:.2f} if the unclear ones are true."


def _short(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def _write_page(path: str | PathLike[str], title: str, body: str) -> Path:
    target = Path(path)
    write_whole(target, html_page(title, body))
    return target


def fields_from_dict(data: Mapping[str, Any]) -> JsonDict:
    """Return the fields of the result that `to_dict` wrote; without `similarity` its table is unknown (NaN)."""
    if data["schema"] != SCHEMA:
        remedy = "read it with the version of summeval_nb that wrote it, or evaluate the texts again"
        raise ValueError(f"these data have schema {data['schema']!r:.40}, and only {SCHEMA} can be read here: {remedy}")
    verdicts = [
        Verdict(
            **{key: one[key] for key in ("probability", "threshold", "details", "failed", "reason")},
            contradicted_below=one.get("contradicted_below"),
            evidence=[Evidence(**item) for item in one["evidence"]],
            findings=[Finding(**item) for item in one["findings"]],
        )
        for one in data["verdicts"]
    ]
    sentences = [Sentence(**one) for one in data["sentences"]]
    article = [Sentence(**one) for one in data["source_sentences"]]
    _require_places(article, sentences, verdicts)
    _require_score(data["score"], verdicts)
    shape = len(sentences), len(article)
    similarity = np.array(data["similarity"], dtype=float) if "similarity" in data else np.full(shape, np.nan)
    return {key: data[key] for key in ("score", "reason", "source", "summary")} | {
        "signature": Signature.parse(data["signature"]),
        "judged_by": data.get("judged_by", ""),
        "source_sentences": article,
        "sentences": sentences,
        "similarity": similarity.reshape(shape),
        "verdicts": verdicts,
    }


def faithfulness_schema() -> JsonDict:
    """Return the JSON schema (draft 2020-12) of what `Faithfulness.to_dict` returns, for programs that read it."""
    file = resources.files("summeval_nb") / "assets" / "faithfulness.schema.json"
    return json.loads(file.read_text(encoding="utf-8"))


@made_of("the plain data of a Faithfulness")
def faithfulness_from_dict(data: Mapping[str, Any]) -> Faithfulness:
    """Return the result that `Faithfulness.to_dict` wrote, also after a trip as JSON.

    Without `similarity`, as in the rows of a run, the table of similarities is unknown (NaN).
    """
    from summeval_nb.evidence.faithfulness import Faithfulness

    return Faithfulness(**fields_from_dict(data))


def _require_places(article: list[Sentence], sentences: list[Sentence], verdicts: list[Verdict]) -> None:
    """Raise a `ValueError` unless each sentence has a verdict, and evidence and findings lie within the texts."""
    if len(verdicts) != len(sentences):
        remedy = "pass what to_dict() returned, as it was"
        raise ValueError(f"there are {len(sentences)} sentences and {len(verdicts)} verdicts: {remedy}")
    for sentence, verdict in zip(sentences, verdicts, strict=True):
        known = all(0 <= item.index < len(article) for item in verdict.evidence)
        if not known or not all(0 <= one.start <= one.end <= len(sentence.text) for one in verdict.findings):
            raise ValueError(f"evidence or a finding of {sentence.text[:40]!r} lies outside the texts")


def _require_score(score: float | None, verdicts: Sequence[Verdict]) -> None:
    """Raise a `ValueError` unless a score is what its verdicts say: such a number could not be traced."""
    judged = [bool(verdict.supported) for verdict in verdicts if verdict.judged]
    expected = sum(judged) / len(judged) if judged else None
    if (score is None) != (expected is None) or (score is not None and abs(score - (expected or 0.0)) > 1e-9):
        raise ValueError(f"the score is {score}, but its {len(judged)} judged verdicts say {expected}")


@dataclass(frozen=True, repr=False)
class Comparison(Rows):
    """Several summaries of one article side by side; made by `compare_reports`."""

    results: Sequence[Faithfulness]
    names: Sequence[str]

    def __repr__(self) -> str:
        scores = ", ".join(
            f"{row['summary']}={_short(row['score'])}"
            + (f", up to {_short(row['score_high'])}" if row["unclear"] else "")
            for row in self.rows()
        )
        return f"Comparison({scores})"

    def rows(self) -> list[JsonDict]:
        """Return one dictionary for each summary: name, score, what it would be if all were true, and counts."""
        return [
            {
                "summary": name,
                "score": one.score,
                "score_high": one.score_high,
                "mean_probability": one.mean_probability,
                "sentences": len(one.verdicts),
                "unclear": one.n_unclear,
                "failed": one.n_failed,
                "not judged": one.n_unjudged,
                "reason": one.reason,
            }
            for name, one in zip(self.names, self.results, strict=True)
        ]

    def to_dict(self) -> JsonDict:
        """Return all results as plain data."""
        return {"names": list(self.names), "results": [one.to_dict() for one in self.results]}

    def to_text(self, *, color: bool = False) -> str:
        """Return the comparison as text, for terminals: one summary below the other."""
        return evidence_text(_comparison_report(self), color=color)

    def _repr_html_(self) -> str:
        return evidence_report(_comparison_report(self))

    def to_html(self, path: str | PathLike[str]) -> Path:
        """Write the comparison as one stand-alone file and return its path."""
        return _write_page(path, "Comparison of summaries", self._repr_html_())


def _comparison_report(comparison: Comparison) -> Report:
    reports = [one.report() for one in comparison.results]
    titles = [f"{name} — {report.title}" for name, report in zip(comparison.names, reports, strict=True)]
    checkers = [one.signature.get("checker", "") for one in comparison.results]
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


def of_one_article(results: Sequence[One], names: Sequence[str] | None, kind: type[One]) -> tuple[list[One], list[str]]:
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
    for number, one in enumerate(results):
        if not isinstance(one, kind):
            raise TypeError(f"results[{number}] must be a result of evaluate, not {one!r:.40}")
        if (one.source, one.source_sentences) != (first.source, first.source_sentences):
            raise ValueError(f"results[{number}] judges another article (or another splitting) than results[0]")
    listed = [f"summary {i + 1}" for i in range(len(results))] if names is None else require_texts(names, "names")
    if len(listed) != len(results):
        raise ValueError(f"there are {len(results)} results but {len(listed)} names")
    if twice := sorted({name for name in listed if listed.count(name) > 1}):
        raise ValueError(f"two summaries are called {twice[0]!r}: give each a name of its own")
    return results, listed
