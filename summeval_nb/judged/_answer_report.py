# A plain private module: edited directly, exported by no notebook, tested in tests/test_answer_report.py.
"""What a report on an answer is made of, and how it is laid out: rows, plain data, a page, and a table's summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from summeval_nb.ground.base import JsonDict, require_share
from summeval_nb.ground.files import write_whole
from summeval_nb.ground.html import Markup, html_page, html_table, render, text_table
from summeval_nb.ground.resampling import bootstrap
from summeval_nb.ground.results import Outcome, ScoreTable, Signature
from summeval_nb.judged.judging import Entailment, Flag, Statement

if TYPE_CHECKING:
    import pandas as pd

    from summeval_nb.judged._answer_stages import Unit
    from summeval_nb.judged.answers import AnswerReport, Correctness

__all__ = ["AnswerLayout", "AnswerTable", "Hypothesis", "Inference", "JudgedStatement", "PAIRS", "as_frame"]
__all__ += ["flag_words", "mean_interval", "rate", "statement_rows", "summarise", "told_of"]

PAIRS = {
    "answer_given_context": "context → answer",
    "answer_given_truth": "question + ground truth → answer",
    "truth_given_answer": "question + answer → ground truth",
}
LABEL_WORDS = {"entailed": "entailed", "contradicted": "contradicted", "neutral": "not said", None: "not judged"}
VERDICTS = ("right", "partly right", "wrong", "refused", "the judge cannot tell")
COLUMNS = ["pair", "hypothesis", "unit", "start", "end", "resolved", "statement", "rewritten", "label", "counts"]
COLUMNS += ["probability", "evidence", "not_found", "reason"]
_LIGHT = {"entailed": 1.0, "neutral": 0.35, "contradicted": 0.0, None: None}


@dataclass(frozen=True, kw_only=True)
class JudgedStatement:
    """A statement with its entailment: it counts 1, otherwise 0, None if not judged."""

    statement: Statement
    entailment: Entailment

    @property
    def counts(self) -> int | None:
        """1, 0, or None."""
        return None if self.entailment.failed else int(self.entailment.label == "entailed")


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """A unit of the judged text, with its statements, whose mean is its score."""

    unit: Unit
    statements: tuple[JudgedStatement, ...]

    @property
    def score(self) -> float | None:
        """The share of entailed statements."""
        from summeval_nb.judged.answers import hypothesis_score

        return hypothesis_score([one.entailment for one in self.statements])


@dataclass(frozen=True, kw_only=True)
class Inference:
    """One of the three pairs: a premise, the judged hypotheses, and the score.

    Parameters
    ----------
    name : str
        `"answer_given_context"`, `"answer_given_truth"` or `"truth_given_answer"`.
    premise : str
        What was taken as given, exactly as the judge saw it.
    hypotheses : tuple of Hypothesis
        Empty when nothing was judged.
    score : float or None
        The mean of the hypotheses' scores, in [0, 1]; None with a `reason`.
    """

    name: str
    premise: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    score: float | None = None
    reason: str = ""

    @property
    def tags(self) -> list[Entailment]:
        """The entailments of all statements, in their order."""
        return [one.entailment for part in self.hypotheses for one in part.statements]

    @property
    def n_statements(self) -> int:
        """How many statements were put to the judge."""
        return len(self.tags)

    @property
    def n_failed(self) -> int:
        """How many of them the judge failed on."""
        return sum(tag.failed for tag in self.tags)


def as_frame(rows: Sequence[Mapping[str, object]], *first: str) -> pd.DataFrame:
    """Statement rows as a table that has its columns even when there is no row."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=[*first, *COLUMNS])


def statement_rows(inference: Inference) -> list[JsonDict]:
    """One row for each statement of an inference, with everything that decided it."""
    rows = []
    for number, hypothesis in enumerate(inference.hypotheses):
        place = hypothesis.unit.place
        for one in hypothesis.statements:
            tag = one.entailment
            values = [inference.name, number, place.text, place.start, place.end, hypothesis.unit.resolved]
            values += [one.statement.text, one.statement.rewritten, tag.label, one.counts, tag.probability]
            values += [[passage.shown for passage in tag.evidence], [finding.text for finding in tag.findings]]
            rows.append(dict(zip(COLUMNS, [*values, tag.reason], strict=True)))
    return rows


def told_of(expected: Mapping[str, int], own: Mapping[str, int], unjudged: int = 0) -> str:
    """What a verdict rests on: labels counted, of the expected statements and of the answer's own.

    Examples
    --------
    >>> told_of({"entailed": 0, "neutral": 1, "contradicted": 0}, {"entailed": 1, "neutral": 0, "contradicted": 1})
    '0 of 1 expected statements are said, 1 of 2 that it says agrees with the ground truth, 1 is contradicted'
    """
    said, denied, agrees, size = expected["entailed"], own["contradicted"], own["entailed"], sum(own.values())
    told = [f"{said} of {sum(expected.values())} expected statements are said"]
    if not said and agrees:
        told.append(f"{agrees} of {size} that it says {'agrees' if agrees == 1 else 'agree'} with the ground truth")
    if denied:
        of = "" if len(told) > 1 else f" of {size} that it says"
        told.append(f"{denied}{of} {'is' if denied == 1 else 'are'} contradicted")
    told += [f"{unjudged} could not be judged"] if unjudged else []
    return ", ".join(told)


def flag_words(name: str, flag: Flag) -> str:
    """A flag in words: refused or not, with its probability, or undecided and why."""
    if flag.value is None:
        return f"{name}: undecided ({flag.reason})"
    words = f"{name}: {'a refusal' if flag.value else 'no refusal'}"
    return words if flag.probability is None else f"{words} ({flag.probability:.2f})"


@dataclass(frozen=True, kw_only=True, repr=False)
class AnswerLayout:
    """What a report on an answer shows; the report itself says what it holds."""

    inferences: Mapping[str, Inference]
    question: str
    ground_truth: str
    answer: str
    context: tuple[str, ...]
    answer_refused: Flag
    truth_refused: Flag
    signature: Signature
    notes: tuple[str, ...] = ()

    @property
    def correctness(self) -> Correctness:
        """Precision, recall and F1 of the statements, and the share contradicted."""
        raise NotImplementedError

    @property
    def first_line(self) -> str:
        """The verdict and why."""
        raise NotImplementedError

    @property
    def verdict(self) -> str:
        """One of "right", "partly right", "wrong", "refused" or "the judge cannot tell"."""
        return self.first_line.partition(":")[0]

    @property
    def answer_given_context(self) -> float | None:
        """How much of the answer the context entails, in [0, 1], or None; `reasons` says why."""
        return self.inferences["answer_given_context"].score

    @property
    def answer_given_truth(self) -> float | None:
        """How much of the answer the ground truth entails, in [0, 1], or None."""
        return self.inferences["answer_given_truth"].score

    @property
    def truth_given_answer(self) -> float | None:
        """How much of the ground truth the answer entails, in [0, 1], or None."""
        return self.inferences["truth_given_answer"].score

    @property
    def reasons(self) -> dict[str, str]:
        """Why scores are undefined; only those that are."""
        return {name: one.reason for name, one in self.inferences.items() if one.score is None}

    @property
    def n_failed(self) -> int:
        """How many statements the judge failed on, over all pairs."""
        return sum(one.n_failed for one in self.inferences.values())

    def row(self) -> JsonDict:
        """Return the report in one row: verdict, scores, flags, counts, reasons."""
        right = self.correctness
        return {name: one.score for name, one in self.inferences.items()} | {
            "verdict": self.verdict,
            "correctness": right.f1,
            "correctness_precision": right.precision,
            "correctness_recall": right.recall,
            "contradicted": right.contradicted,
            "answer_refused": self.answer_refused.value,
            "answer_refused_probability": self.answer_refused.probability,
            "truth_refused": self.truth_refused.value,
            "truth_refused_probability": self.truth_refused.probability,
            "n_statements": sum(one.n_statements for one in self.inferences.values()),
            "n_failed": self.n_failed,
            "reason": "; ".join(dict.fromkeys(self.reasons.values())),
        }

    def rows(self) -> list[JsonDict]:
        """Return one row for each statement of each pair."""
        return [row for one in self.inferences.values() for row in statement_rows(one)]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        texts = {"question": self.question, "ground_truth": self.ground_truth, "answer": self.answer}
        premises = {name: one.premise for name, one in self.inferences.items()}
        flags = {"answer": self.answer_refused.reason, "ground_truth": self.truth_refused.reason}
        rest = {"premises": premises, "statements": self.rows(), "refusal_reasons": flags}
        rest |= {"notes": list(self.notes), "reasons": self.reasons, "signature": str(self.signature)}
        return texts | {"context": list(self.context), "first_line": self.first_line} | self.row() | rest

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each statement."""
        return as_frame(self.rows())

    def __repr__(self) -> str:
        numbers = {name: one.score for name, one in self.inferences.items()}
        numbers |= {"correctness": self.correctness.f1, "n_failed": self.n_failed}
        flags = {"answer_refused": self.answer_refused.value, "truth_refused": self.truth_refused.value}
        told = ", ".join(f"{name}={value}" for name, value in (numbers | flags).items())
        return f"{self.first_line}\nAnswerReport({told})"

    def _repr_html_(self) -> Markup:
        flags = [flag_words("answer", self.answer_refused), flag_words("ground truth", self.truth_refused)]
        texts = [("Question", self.question), ("Ground truth", self.ground_truth), ("Answer", self.answer)]
        return render(
            "answer.html",
            first_line=self.first_line,
            texts=texts,
            pairs=[(self.inferences[name], title) for name, title in PAIRS.items()],
            rows=[row | {"pair": PAIRS[row["pair"]], "label": LABEL_WORDS[row["label"]]} for row in self.rows()],
            right=self.correctness,
            notes=[*flags, *self.notes],
            light=_LIGHT,
            words=LABEL_WORDS,
            signature=self.signature,
        )

    def to_html(self, path: str | Path) -> Path:
        """Write the report as one file that needs nothing else, and return its path."""
        target = Path(path)
        write_whole(target, html_page(f"Answer: {self.question[:60]}", self._repr_html_()))
        return target


def _outcome(report: AnswerReport) -> Outcome:
    parts = {k: v for k, v in report.to_dict().items() if k not in ("context", "premises", "signature")}
    score = report.answer_given_context
    status = "ok" if score is not None else "failed" if report.n_failed else "undefined"
    return Outcome(score, status, report.reasons.get("answer_given_context", ""), parts, str(report.signature))


def mean_interval(values: Sequence[float], confidence: float, seed: int) -> tuple[float | None, float | None]:
    """A percentile bootstrap interval of the mean over rows; none with fewer than two values."""
    if len(values) < 2:
        return None, None
    data = np.asarray(values, dtype=float)
    means = lambda drawn: data[drawn].mean(axis=1)
    drawn = bootstrap(means, len(data), confidence=confidence, n_resamples=2000, seed=seed)
    return drawn.low, drawn.high


def rate(name: str, hits: int, of: int, confidence: float) -> JsonDict:
    """A share of rows with Wilson's interval; undefined when there are no rows to count among."""
    from scipy.stats import binomtest

    if not of:
        return {"measure": name, "value": None, "low": None, "high": None, "n": 0}
    interval = binomtest(hits, of).proportion_ci(confidence, method="wilson")
    return {"measure": name, "value": hits / of, "low": float(interval.low), "high": float(interval.high), "n": of}


def summarise(reports: Sequence[AnswerReport], confidence: float, seed: int) -> list[JsonDict]:
    """Means of the scores, rates of refusals and of verdicts, with intervals and the number of rows behind each."""
    rows = []
    for name in (*PAIRS, "correctness"):
        scores = [row for one in reports if (row := one.row()[name]) is not None]
        low, high = mean_interval(scores, confidence, seed)
        mean = sum(scores) / len(scores) if scores else None
        rows.append({"measure": name, "value": mean, "low": low, "high": high, "n": len(scores)})
    flags = [(one.answer_refused.value, one.truth_refused.value) for one in reports]
    for place, name in enumerate(("answers refused", "ground truths refused")):
        known = [flag[place] for flag in flags if flag[place] is not None]
        rows.append(rate(name, sum(map(bool, known)), len(known), confidence))
    decided = [flag for flag in flags if None not in flag]
    both = sum(all(flag) for flag in decided)
    rows.append(rate("refusal precision", both, sum(bool(a) for a, _ in decided), confidence))
    rows.append(rate("refusal recall", both, sum(bool(t) for _, t in decided), confidence))
    verdicts = [one.verdict for one in reports]
    return rows + [rate(f"verdict: {one}", verdicts.count(one), len(verdicts), confidence) for one in VERDICTS]


@dataclass(frozen=True, kw_only=True, repr=False)
class AnswerTable(ScoreTable):
    """The reports of many answers, in order; the main score is `answer_given_context`.

    Parameters
    ----------
    reports : sequence of AnswerReport
        One a row.
    signature : Signature
        Every choice behind the numbers.
    """

    reports: Sequence[AnswerReport]
    signature: Signature

    def __getitem__(self, row: int) -> AnswerReport:
        return self.reports[row]

    @property
    def n_failed(self) -> int:
        """How many statements the judge failed on, over all rows."""
        return sum(report.n_failed for report in self.reports)

    def summary(self, *, confidence: float = 0.95, seed: int = 0) -> list[JsonDict]:
        """Return means and rates with intervals: `measure`, `value`, `low`, `high` and the number of rows `n`."""
        return summarise(self.reports, require_share(confidence, "confidence"), seed)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the three scores and the correctness by name, NaN where a row has none."""
        rows = [one.row() for one in self.reports]
        found = {name: [row[name] for row in rows] for name in (*PAIRS, "correctness")}
        return {name: np.array([np.nan if v is None else v for v in one], float) for name, one in found.items()}

    def reasons(self) -> list[str]:
        """Return why a row has no main score; '' where it has one."""
        return [one.reasons.get("answer_given_context", "") for one in self.reports]

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down for each answer."""
        return [_outcome(one) for one in self.reports]

    def rows(self) -> list[JsonDict]:
        """Return one row for each answer."""
        return [{"row": number, **report.row()} for number, report in enumerate(self.reports)]

    def statements(self) -> pd.DataFrame:
        """Return one row for each statement of each answer."""
        return as_frame([{"row": n, **row} for n, one in enumerate(self.reports) for row in one.rows()], "row")

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        counts = {"mean": self.mean(), "n_undefined": self.n_undefined, "n_failed": self.n_failed}
        rows = [report.to_dict() for report in self.reports]
        return {"summary": self.summary(), **counts, "rows": rows, "signature": str(self.signature)}

    def __repr__(self) -> str:
        return f"AnswerTable({len(self)} answers, {self.n_failed} failed statements)\n{text_table(self.summary())}"

    def _repr_html_(self) -> str:
        counts = f"{len(self)} answers, {self.n_failed} statements failed"
        return html_table(self.summary(), caption=f"Answers: {counts}", note=str(self.signature))
