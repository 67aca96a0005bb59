"""Sentences, verdicts and scores: the typed results that every part of the package returns."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import math
import numbers
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from os import PathLike
from types import ModuleType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    SupportsAbs,
    TypeGuard,
    TypeVar,
)
from urllib.parse import quote, unquote

from ._arrays import is_numpy, np
from ._batches import Accumulator, by_column, require_equal_lengths
from ._types import JsonDict, Scores
from .viz import render

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Result",
    "Sentence",
    "Signature",
    "Score",
    "score_card",
    "Evidence",
    "Finding",
    "Verdict",
    "require_text",
    "require_texts",
    "require_column",
    "require_count",
    "require_flag",
    "is_finite",
    "require_share",
    "require_option",
    "how_to_install",
    "require_module",
    "Outcome",
    "as_outcome",
    "ScoreTable",
    "ResultTable",
    "NumberTable",
    "Metric",
    "require_metric",
    "score_rows",
    "InputWarning",
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
        Why the score is undefined; empty when it is defined.

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
        shown = f"{self.score:.4f}" if self.score is not None else f"None ({self.reason})"
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

    `kind` is `"word"`, `"number"`, `"name"`, `"negation"`, `"antonym"` or `"role"`;
    `start` and `end` are positions in the sentence. `clash` says that the passage
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
        Probability of support in [0, 1]; None when the checker failed or was not asked.
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

    Raises
    ------
    ValueError
        If the probability is outside [0, 1] or NaN, or there is none and no reason.
    """

    probability: float | None
    threshold: float = 0.5
    evidence: Sequence[Evidence] = ()
    findings: Sequence[Finding] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False
    reason: str = ""
    contradicted_below: float | None = None

    def __post_init__(self) -> None:
        if self.failed and self.probability is not None:
            raise ValueError(f"a verdict has a probability or has failed, not both: {self.probability}")
        if self.failed and not self.reason:
            raise ValueError("a failed verdict needs a reason that says why")
        if self.probability is None and not self.reason:
            raise ValueError("a verdict without a probability needs a reason: why it failed or was not judged")
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise ValueError(f"a probability must lie in [0, 1], not {self.probability}")
        if self.contradicted_below is not None and not 0 <= self.contradicted_below <= self.threshold:
            raise ValueError(f"contradicted_below must lie in [0, threshold], not {self.contradicted_below}")

    @property
    def judged(self) -> bool:
        """Whether there is an answer; a failure has none, nor has what is not for
        judging, such as a heading."""
        return self.probability is not None

    @property
    def state(self) -> str | None:
        """`"supported"`, `"unclear"` or `"contradicted"` (the evidence says otherwise,
        or nothing of the kind).

        None when nothing was judged. A probability between the two thresholds is
        unclear, and so is one that reaches `threshold` although a finding clashes.
        """
        if self.probability is None:
            return None
        if self.probability >= self.threshold:
            return "unclear" if any(finding.clash for finding in self.findings) else "supported"
        low = self.threshold if self.contradicted_below is None else self.contradicted_below
        return "contradicted" if self.probability < low else "unclear"

    @property
    def supported(self) -> bool | None:
        """Whether `state` is `"supported"`; None when nothing was judged."""
        return None if self.probability is None else self.state == "supported"

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
        }


def require_text(value: object, name: str) -> str:
    """Return `value` if it is a string; otherwise raise a `TypeError` that names the
    remedy."""
    if isinstance(value, str):
        return value
    remedy = "pass one string"
    if isinstance(value, (bytes, bytearray)):
        remedy = "decode it first: value.decode('utf-8')"
    elif isinstance(value, PathLike):
        remedy = "read the file first: value.read_text(encoding='utf-8')"
    elif isinstance(value, (list, tuple)):
        remedy = "pass one string; join the parts, or call the function once for each"
    elif value is None:
        remedy = "pass '' for an empty text"
    raise TypeError(f"{name} must be a string, not {type(value).__name__} ({_short(value)}): {remedy}")


def require_texts(values: object, name: str) -> list[str]:
    """Return `values` as a list of strings; a single string, None or a non-string
    element raises a `TypeError`."""
    if not _is_listed(values):
        remedy = "pass a list of strings"
        if isinstance(values, str):
            remedy = "wrap one text in a list: [text]"
        elif _is_table(values):
            remedy = "pass one of its columns, as in table['text']"
        raise TypeError(f"{name} must be a list of strings, not {type(values).__name__} ({_short(values)}): {remedy}")
    return [require_text(value, f"{name}[{index}]") for index, value in enumerate(values)]


def require_column(values: object, name: str) -> list[object]:
    """Return one value for each text as a list; a single text or what cannot be listed
    raises a `TypeError`."""
    if not _is_listed(values):
        remedy = "for one text call score, or wrap it in a list: [text]"
        raise TypeError(f"{name} must be a list, not {type(values).__name__} ({_short(values)}): {remedy}")
    return list(values)


def _is_listed(values: object) -> TypeGuard[Iterable[object]]:
    """Whether these are many values: a text and a mapping are one."""
    one = isinstance(values, (str, bytes, bytearray, Mapping)) or _is_table(values)
    counted = hasattr(values, "__len__") and hasattr(values, "__getitem__")
    return not one and (isinstance(values, Iterable) or counted)


def _is_table(values: object) -> bool:
    """Whether these are a table of pandas, of which a list would hold the names."""
    return hasattr(values, "columns") and hasattr(values, "iloc")


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:37] + "..."


_MOST = {"n_resamples": 10_000_000, "errors": 10**9}  # more would take days


def require_count(value: object, name: str, *, minimum: int = 1) -> int:
    """Return `value` as an int of at least `minimum` (numpy integers too); otherwise
    raise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__} ({_short(value)})")
    count = int(value)
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {_short(value)}")
    if (most := _MOST.get(name)) is not None and count > most:
        raise ValueError(f"{name} must be at most {most:,}, not {_short(value)}")
    return count


def require_flag(value: object, name: str) -> bool:
    """Return `value` if it is True or False (numpy's too); a text, a number or None
    raises a `TypeError`."""
    if not (isinstance(value, bool) or is_numpy(value, "bool_")):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__} ({_short(value)})")
    return bool(value)


def is_finite(value: SupportsAbs[Any]) -> bool:
    """Return whether a number is one that a float can hold; not every whole number is.

    Examples
    --------
    >>> is_finite(1e308), is_finite(10**400), is_finite(float("nan"))
    (True, False, False)
    """
    return bool(abs(value) <= sys.float_info.max)


def require_share(value: object, name: str) -> float:
    """Return `value` as a float in [0, 1]; otherwise raise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number in [0, 1], not {type(value).__name__} ({_short(value)})")
    number: Any = value  # compared as it is: not every whole number is a float
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must lie in [0, 1], not {_short(value)}")
    return float(value)


def require_option(value: object, name: str, known: Iterable[str]) -> str:
    """Return `value` if it is one of the known names; otherwise raise a `ValueError`
    that lists them."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"unknown {name} {_short(value)}; known: {', '.join(map(repr, names))}")
    return value


def how_to_install(extra: str) -> str:
    """Return the words in which every message says how to install an extra.

    Examples
    --------
    >>> how_to_install("llm")
    "pip install -e '.[llm]' in your checkout"
    """
    return f"pip install -e '.[{extra}]' in your checkout"


def require_module(name: str, extra: str) -> ModuleType:
    """Import and return a module; if it is missing, raise an `ImportError` that names
    the extra to install.

    Only the absence of the module itself is reported so; an error inside it passes
    through.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != name.split(".")[0]:
            raise
        message = f"this needs the package {error.name}: {how_to_install(extra)}"
        raise ImportError(message, name=error.name) from error


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
        what = f"the metric returned {_short(score)}"
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
        values = [np.nan if one.score is None else one.score for one in self.results]
        return {"score": np.array(values, dtype=float)}

    def reasons(self) -> list[str]:
        """Return each result's own reason where it has no score."""
        return [one.reason if one.score is None else "" for one in self.results]

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down for each result."""
        return [as_outcome(one) for one in self.results]


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


class Metric:
    """A way to score texts, with its choices: the base of `Bleu`, `Rouge` and the
    others.

    A subclass is a frozen dataclass. Its fields are its choices, given by keyword and
    checked once, when it is made; models and stores may be named by a text.
    It has `signature` and `score_many`; the rest follows. To call it is to call `score`
    where the first text is a text, and `score_many` where it is a list of texts.

    Attributes
    ----------
    name : str
        What it is called in `METRICS`, in `run` and in the shell.
    columns : mapping of str to str
        What it reads, in the order of its arguments: "text", or "texts" for one text or
        a list of them.
    judged : str
        The column that holds what a system wrote.
    probe : str
        A text that is scored to try the choices before the first item; '' for a
        model's.
    shard_size : int
        How many items a long run keeps together.
    """

    name: ClassVar[str] = ""
    columns: ClassVar[Mapping[str, str]] = {}
    judged: ClassVar[str] = ""
    probe: ClassVar[str] = ""
    shard_size: ClassVar[int] = 500

    @property
    def signature(self) -> Signature:
        """Every choice that could change a number."""
        raise NotImplementedError(f"{type(self).__name__} must have a signature")

    @property
    def fingerprint(self) -> str:
        """A short name for exactly these choices."""
        digest = hashlib.sha256(str(self.signature).encode("utf-8", "surrogatepass"))
        return f"{self.name or type(self).__name__}-{digest.hexdigest()[:16]}"

    def score_many(self, *columns: Any, **choices: Any) -> Any:
        """Return a `ScoreTable` for lists of equal length, one list for each column."""
        raise NotImplementedError(f"{type(self).__name__} must have score_many")

    def score(self, *row: Any, **choices: Any) -> Any:
        """Return the result of one text, given by the columns in their order."""
        if self.columns and len(row) > len(self.columns):
            told = f"{self.name or type(self).__name__} reads {', '.join(self.columns)}"
            raise TypeError(f"{told}: {len(self.columns)} of {len(row)} values; leave out the rest")
        return self.score_many(*([value] for value in row), **choices)[0]

    def __call__(self, *columns: object, **named: object) -> Any:
        """Return `score(...)` of one text, or `score_many(...)` of a list of texts.

        The first column that holds a text decides which: `Bleu()("a cat", "a cat")` is
        one result, `Bleu()(["a cat"], ["a cat"])` a table. All that is given goes there
        as it is, keywords too, and what is refused there is refused here.
        """
        place = [*self.columns.values(), "text"].index("text")
        others = [value for name, value in named.items() if name not in self.columns]
        many = any(map(_is_listed, columns[place : place + 1] or others))
        return (self.score_many if many else self.score)(*columns, **named)

    def compute(
        self,
        *,
        predictions: Sequence[str] | None = None,
        references: Sequence[str | Sequence[str]] | None = None,
        **columns: object,
    ) -> JsonDict:
        """Return the means over many texts as a plain dictionary, by keyword.

        Parameters
        ----------
        predictions : list of str
            The judged column: what a system wrote, one text each. Any sequence will do,
            such as a column of a `datasets.Dataset`.
        references : list, optional
            For each of them one text or a list of texts; for a metric that reads two
            columns, the other one, such as the article.
        **columns : list
            Columns under the metric's own names, instead of these two or beside them.

        Returns
        -------
        dict
            The mean of each of the table's `arrays` by its name; None where no text has
            it. `corpus_bleu`, `corpus_chrf`, `corpus_ter` where the metric scores a
            whole corpus, as papers on translation report it. `n_undefined`: how many
            texts have no score and are in no mean.

        Raises
        ------
        TypeError, ValueError
            For a missing or unknown column, lists of different lengths, no text at all,
            and what is no text.
        """
        named = {"predictions": predictions, "references": references} | columns
        lists = self._lists(named)
        if not any(lists.values()):
            raise ValueError("there is nothing to compute: give at least one text")
        found = self.score_many(*lists.values())
        if isinstance(found, ScoreTable):
            means = {**found.means(), "n_undefined": found.n_undefined}
        else:
            scores = [as_outcome(one).score for one in found]
            known = [one for one in scores if one is not None]
            mean = math.fsum(known) / len(known) if known else None
            means = {"score": mean, "n_undefined": len(scores) - len(known)}
        corpus = getattr(self, "corpus", None)
        whole = {f"corpus_{self.name}": corpus(*lists.values()).score} if corpus else {}
        return {**whole, **means}

    def accumulator(self) -> Accumulator:
        """Return an object that takes texts in batches.

        Its `update(predictions=..., references=...)` adds a batch, `compute()` returns
        what `compute` of all texts returns, `reset()` begins again.
        """
        return Accumulator(self)

    def _lists(self, named: Mapping[str, object]) -> dict[str, list[Any]]:
        """Return the columns in their order, checked; None under a name is no
        column."""
        given = {name: one for name, one in named.items() if one is not None}
        lists: dict[str, list[Any]] = {}
        names: dict[str, list[Any]] = {}
        for column, (name, values) in by_column(self, given).items():
            if self.columns[column] == "text":
                lists[column] = require_texts(values, name)
            else:
                listed = require_column(values, name)
                for place, one in enumerate(listed):
                    if column == "references" and isinstance(one, list) and not one:
                        one_needed = "at least one reference is needed"
                        raise ValueError(f"{name}[{place}] is empty: {one_needed}")
                lists[column] = [
                    one if isinstance(one, str) else require_texts(one, f"{name}[{place}]")
                    for place, one in enumerate(listed)
                ]
            names[name] = lists[column]
        require_equal_lengths(names)
        return lists

    @classmethod
    def defaults(cls) -> JsonDict:
        """Return the choices by name with their defaults; MISSING where there is
        none."""
        own: Sequence[Field[Any]] = fields(cls) if is_dataclass(cls) else ()
        made = {one.name: one.default_factory for one in own if one.default_factory is not MISSING}
        return {one.name: made[one.name]() if one.name in made else one.default for one in own if one.init}

    def options(self) -> JsonDict:
        """Return the choices that are not the default."""
        values = {name: (getattr(self, name), one) for name, one in self.defaults().items()}
        return {name: value for name, (value, one) in values.items() if value is not one and value != one}


def require_metric(value: object, name: str = "metric") -> Any:
    """Return `value` if it scores texts as a `Metric` does; otherwise raise with the
    remedy."""
    if isinstance(value, type):
        raise TypeError(f"{name} is the class {value.__name__}: make one, {value.__name__}()")
    if callable(getattr(value, "score_many", None)) and isinstance(getattr(value, "columns", None), Mapping):
        return value
    remedy = "pass a name, a Metric such as Bleu(), or an object with columns and score_many"
    raise TypeError(f"{name} must be a metric, not {type(value).__name__} ({_short(value)}): {remedy}")


def score_rows(metric: Scores, rows: Sequence[Mapping[str, Any]], **choices: object) -> list[Outcome]:
    """Return one outcome a row; each row has the metric's columns. A choice that
    `score_many` has not is left out.

    Examples
    --------
    >>> class Words(Metric):
    ...     columns = {"candidate": "text"}
    ...     def score_many(self, candidates):
    ...         return [len(one.split()) or None for one in candidates]
    >>> rows = [{"candidate": "a cat"}, {"candidate": ""}]
    >>> [one.score for one in score_rows(Words(), rows)]
    [2.0, None]
    """
    lists = [[row[name] for row in rows] for name in require_metric(metric).columns]
    known = inspect.signature(metric.score_many).parameters
    found = metric.score_many(*lists, **{name: one for name, one in choices.items() if name in known})
    if isinstance(found, ScoreTable):
        outcomes = found.outcomes()
    elif isinstance(found, Iterable) and not isinstance(found, (str, bytes, Mapping)):
        outcomes = [as_outcome(one) for one in found]
    else:
        shown = type(metric).__name__
        raise TypeError(f"score_many of {shown} must return a ScoreTable or a list, not {type(found).__name__}")
    if len(outcomes) != len(rows):
        gave = f"score_many of {type(metric).__name__} gave {len(outcomes)} scores"
        raise ValueError(f"{gave} for {len(rows)} rows: one a row is needed")
    return [_of_its_own(*one) for one in zip(outcomes, rows, strict=True)]


def _of_its_own(outcome: Outcome, row: Mapping[str, Any]) -> Outcome:
    """An outcome whose signature names its own number of references, whatever was
    scored beside it."""
    if "references" not in row or "|nrefs:var|" not in outcome.signature:
        return outcome
    size = 1 if isinstance(row["references"], str) else len(row["references"])
    return outcome._replace(signature=outcome.signature.replace("|nrefs:var|", f"|nrefs:{size}|", 1))


class InputWarning(UserWarning):
    """Something is allowed but probably not meant, such as a path where a text belongs;
    the message has the remedy."""
