"""Sentences, verdicts, scores and tables of scores: what every part of the package returns."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar
from urllib.parse import quote, unquote

from .base import JsonDict, is_finite, np, require_option, short_repr
from .html import render

if TYPE_CHECKING:
    import pandas as pd


__all__ = [
    "Sentence",
    "Signature",
    "Score",
    "score_card",
    "Evidence",
    "Finding",
    "Verdict",
    "Outcome",
    "as_outcome",
    "ScoreTable",
    "Result",
    "ResultTable",
    "NumberTable",
    "Rows",
]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and its place in the text it came from: `source[start:end] == text`.

    Parameters
    ----------
    text : str
        The sentence's own characters, without white space around it.
    start, end : int
        Positions in the source, as for slicing.

    Examples
    --------
    >>> str(Sentence("It rained.", 0, 10))
    'It rained.'
    """

    text: str
    start: int
    end: int

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        return len(self.text)

    def to_dict(self) -> JsonDict:
        """Return text, start and end as a plain dictionary."""
        return {"text": self.text, "start": self.start, "end": self.end}


class Signature(Mapping[str, str]):
    """The choices behind a score, in order, as `name:value|name:value`.

    Values are stored as text: `True` becomes `yes`, `False` `no`, `None` `none`. Each
    signature ends with the package's version.

    Parameters
    ----------
    parts : mapping of str to anything
        Field names and values.

    Examples
    --------
    >>> str(Signature({"metric": "faithfulness", "k": 3, "version": "0.1.0"}))
    'metric:faithfulness|k:3|version:0.1.0'
    >>> Signature.parse("k:3|version:0.1.0")["k"]
    '3'
    """

    def __init__(self, parts: Mapping[str, object]):
        from summeval_nb import __version__

        if not isinstance(parts, Mapping):
            raise TypeError(f"parts must map names to values, not {type(parts).__name__}")
        self._parts = {str(name): _plain(value) for name, value in parts.items()}
        self._parts.setdefault("version", __version__)

    def __getitem__(self, name: str) -> str:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __str__(self) -> str:
        return "|".join(f"{_field(name)}:{_field(value)}" for name, value in self._parts.items())

    def __repr__(self) -> str:
        return f"Signature({str(self)!r})"

    def __hash__(self) -> int:
        return hash(str(self))

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Read a signature back from its line, as it stands; raises a `ValueError` for
        any other text."""
        pairs = [item.partition(":") for item in text.split("|")]
        if not all(name and colon for name, colon, _ in pairs):
            raise ValueError(f"{text[:80]!r} is no signature: it has to read name:value|name:value")
        signature = cls({unquote(name): unquote(value) for name, _, value in pairs})
        if not any(name == "version" for name, _, _ in pairs):
            del signature._parts["version"]  # an older number must not claim to come from this version
        return signature

    def differences(self, other: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
        """Return the fields in which two signatures differ, each with both values (None
        where it is absent)."""
        names = dict.fromkeys([*self, *other])
        return {name: (self.get(name), other.get(name)) for name in names if self.get(name) != other.get(name)}


def _plain(value: object) -> str:
    return {True: "yes", False: "no", None: "none"}[value] if value is None or isinstance(value, bool) else str(value)


def _field(text: str) -> str:
    return quote(text, safe=" !\"#$&'()*+,-./;<=>?@[\\]^_`{}~", errors="replace")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Score:
    """A number with its parts, its signature and, where it is undefined, the reason.

    Parameters
    ----------
    score : float or None
        The main number. None means undefined, never zero; NaN is refused.
    signature : Signature
        Every choice that could change the number.
    reason : str
        Why the score is undefined, or 0 for want of something to count; else empty.

    Raises
    ------
    ValueError
        If `score` is not finite, or None without a reason.
    """

    score: float | None
    signature: Signature
    reason: str = ""

    def __post_init__(self) -> None:
        if self.score is None and not self.reason:
            raise ValueError("an undefined score (None) needs a reason that says why")
        if self.score is not None and not abs(self.score) <= sys.float_info.max:
            raise ValueError(f"a score must be a finite number or None with a reason, not {self.score}")

    def __float__(self) -> float:
        if self.score is None:
            raise ValueError(f"this {type(self).__name__} has no number: {self.reason}")
        return float(self.score)

    def __repr__(self) -> str:
        shown = "None" if self.score is None else f"{self.score:.4f}"
        shown += f" ({self.reason})" if self.reason and not self.score else ""
        return f"{type(self).__name__}(score={shown}, signature={str(self.signature)!r})"

    def rows(self) -> list[JsonDict]:
        """Return the parts behind the number, one plain dictionary each; a subclass
        says what they are."""
        return [{"score": self.score, "reason": self.reason}]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        return {
            "score": self.score,
            "reason": self.reason,
            "rows": self.rows(),
            "signature": str(self.signature),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the parts behind the number as a table, one row each."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def _repr_html_(self) -> str:
        return score_card(
            type(self).__name__,
            self.score,
            self.reason,
            self.rows(),
            str(self.signature),
        )


def score_card(
    name: str,
    score: float | None,
    reason: str,
    rows: Sequence[Mapping[str, object]],
    signature: str,
) -> str:
    """Return a score as an HTML block: its name and number, the parts as a table, the
    signature."""
    number = f"{score:.4f}" if score is not None else f"undefined: {reason}"
    return render("card.html", title=name, number=number, lines=[], rows=rows, signature=signature)


@dataclass(frozen=True, slots=True)
class Evidence:
    """An article sentence that a checker looked at: its index in the article, its
    similarity (None: not measured)."""

    index: int
    similarity: float | None = None

    def to_dict(self) -> JsonDict:
        """Return index and similarity as a plain dictionary."""
        return {"index": self.index, "similarity": self.similarity}


class Finding(NamedTuple):
    """A passage of the summary sentence that the evidence does not hold.

    `kind` is `"word"`, `"number"`, `"name"`, `"negation"`, `"antonym"`, `"role"` or
    `"modality"` (what the evidence says only under a condition, as a plan or as
    possible); `start` and `end` are positions in the sentence. `clash` says that the passage
    cannot stand beside the evidence: such a sentence is never supported.
    """

    kind: str
    text: str
    start: int
    end: int
    clash: bool = False


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether the evidence supports a sentence, with what probability, and why.

    Parameters
    ----------
    probability : float or None
        Probability of support in [0, 1]; None when the checker failed, was not asked, or
        gave a hard verdict.
    threshold : float
        From this probability on a sentence is supported, unless a finding clashes.
    contradicted_below : float, optional
        Below this probability it is contradicted, and unclear in between; None: there
        is no in between.
    evidence : sequence of Evidence
        The article sentences that were looked at, best first.
    findings : sequence of Finding
        What the evidence does not hold.
    details : mapping
        What else the checker can say, such as its features or the probability mass of
        its options.
    failed : bool
        The checker gave no answer; the verdict is excluded from scores and counted.
    reason : str
        Why it failed, or why the sentence was not judged at all, as a heading is not.
    hard : str
        What a checker says that gives no probability: `"supported"`, `"unclear"` or
        `"contradicted"`. No threshold applies.

    Raises
    ------
    ValueError
        If the probability is outside [0, 1] or NaN, or there is none, no reason, and no
        hard verdict.
    """

    probability: float | None
    threshold: float = 0.5
    evidence: Sequence[Evidence] = ()
    findings: Sequence[Finding] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False
    reason: str = ""
    contradicted_below: float | None = None
    hard: str = ""

    def __post_init__(self) -> None:
        if self.hard:
            require_option(self.hard, "hard", ("supported", "unclear", "contradicted"))
        if sum((self.probability is not None, self.failed, bool(self.hard))) > 1:
            said = self.hard or self.probability
            raise ValueError(f"a verdict has a probability, is hard, or has failed, and only one of them: {said}")
        if self.failed and not self.reason:
            raise ValueError("a failed verdict needs a reason that says why")
        if self.probability is None and not self.reason and not self.hard:
            raise ValueError("a verdict without a probability needs a reason: why it failed or was not judged")
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise ValueError(f"a probability must lie in [0, 1], not {self.probability}")
        if self.contradicted_below is not None and not 0 <= self.contradicted_below <= self.threshold:
            raise ValueError(f"contradicted_below must lie in [0, threshold], not {self.contradicted_below}")

    @property
    def judged(self) -> bool:
        """Whether there is an answer; a failure has none, nor has what is not for
        judging, such as a heading."""
        return self.probability is not None or bool(self.hard)

    @property
    def support(self) -> float | None:
        """The probability; 1, 0.5 or 0 for a hard verdict; None when nothing was
        judged."""
        hard = {"supported": 1.0, "unclear": 0.5, "contradicted": 0.0}
        return hard[self.hard] if self.hard else self.probability

    @property
    def state(self) -> str | None:
        """`"supported"`, `"unclear"` or `"contradicted"` (the evidence says otherwise,
        or nothing of the kind).

        None when nothing was judged. A probability between the two thresholds is
        unclear, and so is one that reaches `threshold` although a finding clashes.
        """
        if self.hard or self.probability is None:
            return self.hard or None
        if self.probability >= self.threshold:
            return "unclear" if any(finding.clash for finding in self.findings) else "supported"
        low = self.threshold if self.contradicted_below is None else self.contradicted_below
        return "contradicted" if self.probability < low else "unclear"

    @property
    def supported(self) -> bool | None:
        """Whether `state` is `"supported"`; None when nothing was judged."""
        return self.state == "supported" if self.judged else None

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        return {
            "supported": self.supported,
            "state": self.state,
            "probability": self.probability,
            "threshold": self.threshold,
            "contradicted_below": self.contradicted_below,
            "evidence": [item.to_dict() for item in self.evidence],
            "findings": [item._asdict() for item in self.findings],
            "details": dict(self.details),
            "failed": self.failed,
            "reason": self.reason,
            "hard": self.hard,
        }


class Outcome(NamedTuple):
    """What a metric found about one item: a finite score with status "ok", or None with
    "undefined" or "failed"."""

    score: float | None
    status: str = "ok"
    reason: str = ""
    parts: Mapping[str, Any] = {}
    signature: str = ""


def as_outcome(value: object, signature: str = "") -> Outcome:
    """Return what a metric returned as an `Outcome`; NaN, infinity and what is no
    number count as failed.

    Examples
    --------
    >>> as_outcome({"score": 1, "words": 7})
    Outcome(score=1.0, status='ok', reason='', parts={'words': 7}, signature='')
    >>> as_outcome(float("nan")).status
    'failed'
    """
    parts: Mapping[str, Any] = {}
    reason = "the metric returned None"
    if isinstance(value, Score):
        known = ("score", "reason", "signature")
        parts = {name: part for name, part in value.to_dict().items() if name not in known}
        score: object = value.score
        reason, signature = value.reason, str(value.signature)
    elif isinstance(value, Mapping):
        if "score" not in value:
            return Outcome(
                None,
                "failed",
                f"the metric's mapping has no 'score'; it has: {', '.join(map(str, value))}",
            )
        parts = {name: part for name, part in value.items() if name not in ("score", "reason")}
        score, reason = value["score"], str(value.get("reason") or reason)
    else:
        score = value
    if score is None:
        return Outcome(None, "undefined", reason, parts, signature)
    if not isinstance(score, numbers.Real):
        return Outcome(
            None,
            "failed",
            f"the metric returned {type(score).__name__}, not a number",
            parts,
            signature,
        )
    if not is_finite(score):
        what = f"the metric returned {short_repr(score)}"
        return Outcome(None, "failed", what, parts, signature)
    return Outcome(float(score), "ok", "", parts, signature)


class ScoreTable:
    """The scores of many texts, in the order of the texts: the base of every table.

    `arrays` holds numbers, one place a text, NaN where there is none; in `rows` and in
    plain data such a place is None. `mean` leaves it out and `n_undefined` counts it.
    """

    signature: Signature
    nothing: ClassVar[str] = "there is nothing to score"

    def arrays(self) -> dict[str, np.ndarray]:
        """Return each number by name, shape (texts,); the first is the main score."""
        raise NotImplementedError(f"{type(self).__name__} must say what its arrays are")

    @property
    def scores(self) -> np.ndarray:
        """The main score of each text, shape (texts,), NaN where it is undefined."""
        return next(iter(self.arrays().values()))

    @property
    def defined(self) -> np.ndarray:
        """Whether each text has a score, shape (texts,)."""
        return ~np.isnan(self.scores)

    @property
    def n_undefined(self) -> int:
        """How many texts have no score."""
        return int((~self.defined).sum())

    def __len__(self) -> int:
        return len(self.scores)

    def mean(self, name: str | None = None) -> float | None:
        """Return the mean of the main score, or of another of `arrays`, where
        defined."""
        arrays = self.arrays()
        chosen = self.scores if name is None else arrays[require_option(name, "number", arrays)]
        values = chosen[~np.isnan(chosen)]
        return float(values.mean()) if values.size else None

    def means(self) -> dict[str, float | None]:
        """Return the mean of each number by its name; None where no text has it."""
        return {name: self.mean(name) for name in self.arrays()}

    def reasons(self) -> list[str]:
        """Return why a text has no score, one line a text; '' where it has one."""
        return ["" if known else self.nothing for known in self.defined.tolist()]

    def rows(self) -> list[JsonDict]:
        """Return one plain dictionary a text; a number that is undefined is None."""
        columns = {name: _without_nan(values) for name, values in self.arrays().items()}
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down for each text: score, status, reason, parts."""
        found = zip(_without_nan(self.scores), self.reasons(), self.rows(), strict=True)
        line = str(self.signature)
        return [Outcome(s, "undefined" if s is None else "ok", w, r, line) for s, w, r in found]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        counts = {"mean": self.mean(), "n_undefined": self.n_undefined}
        return {**counts, "rows": self.rows(), "signature": str(self.signature)}

    def to_frame(self) -> pd.DataFrame:
        """Return one row a text; a number that is undefined is missing."""
        import pandas as pd

        rows = self.rows()
        return pd.DataFrame(rows) if rows else pd.DataFrame(columns=list(self.arrays()))

    def __repr__(self) -> str:
        mean = "None" if self.mean() is None else f"{self.mean():.4f}"
        counts = f"{len(self)} texts, mean {mean}, {self.n_undefined} undefined"
        return f"{type(self).__name__}({counts}, signature={str(self.signature)!r})"

    def _repr_html_(self) -> str:
        first = ", the first 10 below" if len(self) > 10 else ""
        heading = f"{type(self).__name__}: mean of {len(self)} texts{first}"
        reason, rows = f"no text of {len(self)} has a score", self.rows()[:10]
        return score_card(heading, self.mean(), reason, rows, str(self.signature))


def _without_nan(values: np.ndarray) -> list[float | None]:
    """Numbers as plain data: None where an array holds NaN."""
    return [None if math.isnan(value) else value for value in values.tolist()]


Result = TypeVar("Result", bound=Score)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ResultTable(ScoreTable, Generic[Result]):
    """A table that keeps the whole result of each text: `table[3]` is the fourth."""

    results: Sequence[Result]
    signature: Signature

    def __getitem__(self, place: int) -> Result:
        return self.results[place]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the scores by the name `score`."""
        values = [np.nan if result.score is None else result.score for result in self.results]
        return {"score": np.array(values, dtype=float)}

    def reasons(self) -> list[str]:
        """Return each result's own reason where it has no score."""
        return [result.reason if result.score is None else "" for result in self.results]

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down for each result."""
        return [as_outcome(result) for result in self.results]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class NumberTable(ScoreTable):
    """One number a text, NaN where there is none: `table[3]` is the fourth as a
    `Score`."""

    name: str
    values: np.ndarray
    signature: Signature
    why_not: str = ScoreTable.nothing

    def __getitem__(self, place: int) -> Score:
        value = _without_nan(self.values[[place]])[0]
        return Score(
            score=value,
            reason="" if value is not None else self.why_not,
            signature=self.signature,
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the numbers by their name."""
        return {self.name: np.asarray(self.values, dtype=float)}

    def reasons(self) -> list[str]:
        """Return why a text has no number, one line a text; '' where it has one."""
        return ["" if known else self.why_not for known in self.defined.tolist()]


class Rows:
    """What has rows has them as a table, too."""

    def rows(self) -> Iterable[JsonDict]:
        """Return the rows, one dictionary each."""
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """Return `rows` as a table."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()))
