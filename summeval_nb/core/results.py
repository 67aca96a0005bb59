"""Sentences, verdicts, scores and tables of scores: what every part of the package returns."""

from __future__ import annotations

import copy
import json
import math
import numbers
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar, cast, overload
from urllib.parse import quote, unquote

from .base import JsonDict, is_finite, np, pd, require_count, require_inner_share, require_option, short_repr
from .files import csv_text, plain_cell, write_whole
from .html import Markup, folded, html_page, html_table, render, text_table
from .resampling import MeanInterval, mean_interval

__all__ = ["as_outcome", "Evidence", "Finding", "Outcome", "Result", "Rows", "Score", "ScoreTable", "Sentence"]
__all__ += ["shared_index", "Signature", "Verdict"]


def plain(value: Any) -> Any:
    """Return a part of a result as plain data: by its own `to_dict`, or with its fields by name."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "_asdict"):
        return value._asdict()
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    return list(map(plain, value)) if type(value) in (list, tuple) else value


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, without white space around it, and its place in the text it came from: `source[start:end] == text`.

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
    """The choices behind a score, names and values in order, as `name:value|name:value`.

    Values are stored as text: `True` becomes `yes`, `False` `no`, `None` `none`. Each signature ends with the package's
    version.

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
        words = {"True": "yes", "False": "no", "None": "none"}
        plain = lambda value: words[str(value)] if value is None or isinstance(value, bool) else str(value)
        self._parts = {str(name): plain(value) for name, value in parts.items()}
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
        """Read a signature back from its line, as it stands; raises a `ValueError` for any other text."""
        pairs = [item.partition(":") for item in text.split("|")]
        if not all(name and colon for name, colon, _ in pairs):
            raise ValueError(f"{text[:80]!r} is no signature: it has to read name:value|name:value")
        signature = cls({unquote(name): unquote(value) for name, _, value in pairs})
        if not any(name == "version" for name, _, _ in pairs):
            del signature._parts["version"]  # an older number must not claim to come from this version
        return signature

    def differences(self, other: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
        """Return the fields in which two signatures differ, each with both values (None where it is absent)."""
        names = dict.fromkeys([*self, *other])
        return {name: (self.get(name), other.get(name)) for name in names if self.get(name) != other.get(name)}


def _field(text: str) -> str:
    return quote(text, safe=" !\"#$&'()*+,-./;<=>?@[\\]^_`{}~", errors="replace")


def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Any, object], bool]:
    """Return a comparison of a score's number with a number or another score's."""

    def ordered(self: Score, other: object) -> bool:
        number = float(other) if isinstance(other, Score) else other
        return compare(float(self), float(number)) if isinstance(number, numbers.Real) else NotImplemented

    return ordered


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Score:
    """A number with its parts, its signature and, where it is undefined, the reason.

    It is compared, rounded, formatted, sorted and averaged as its number. Two scores are equal if their numbers and
    signatures are. An undefined score equals no number, and raises with its reason where a number is needed.

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
    bounded: ClassVar[bool] = False  # whether all of its numbers are shares, in [0, 1]
    more: ClassVar[tuple[str, ...]] = ()  # what `to_dict` tells beside number, reason, rows and signature

    def __post_init__(self) -> None:
        if self.score is None and not self.reason:
            raise ValueError("an undefined score (None) needs a reason that says why")
        if self.score is not None and not abs(self.score) <= sys.float_info.max:
            raise ValueError(f"a score must be a finite number or None with a reason, not {self.score}")

    def __float__(self) -> float:
        if self.score is None:
            raise ValueError(f"this {type(self).__name__} has no number: {self.reason}")
        return float(self.score)

    __lt__, __le__ = _ordered(operator.lt), _ordered(operator.le)
    __gt__, __ge__ = _ordered(operator.gt), _ordered(operator.ge)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Score):
            return self.score == other.score and self.signature == other.signature
        return self.score == other if isinstance(other, numbers.Real) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.score)

    def __int__(self) -> int:
        return int(float(self))

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __format__(self, form: str) -> str:
        return format(float(self), form) if form else str(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(float(self), dtype)

    def __repr__(self) -> str:
        shown = "None" if self.score is None else f"{self.score:.4f}"
        shown += f" ({self.reason})" if self.reason and not self.score else ""
        return f"{type(self).__name__}(score={shown}, signature={str(self.signature)!r})"

    @property
    def line(self) -> str:
        """The number on one line, or why there is none."""
        return f"undefined: {self.reason}" if self.score is None else f"{self.score:.4f}"

    def rows(self) -> list[JsonDict]:
        """Return the parts behind the number, one plain dictionary each; a subclass says what they are."""
        return [{"score": self.score, "reason": self.reason}]

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return the numbers that a table of such results has as columns, the main one first."""
        return {"score": self.score}

    def row(self) -> JsonDict:
        """Return the one row that a table has for this result: its numbers, and what else identifies it."""
        return dict(self.numbers_by_name())

    def outcome(self) -> Outcome:
        """Return what a run writes down for this result: failed where a call failed and left no score."""
        found, failed = as_outcome(self), getattr(self, "failed", False) or getattr(self, "n_failed", 0)
        return found._replace(status="failed") if self.score is None and failed else found

    @classmethod
    def worst_first(cls, table: ScoreTable[Any]) -> list[int]:
        """Return the places of a table's texts, the worst score first and those without any at the end."""
        return np.argsort(table._sign * table.scores, kind="stable").tolist()

    @classmethod
    def remarks(cls, table: ScoreTable[Any]) -> list[str]:
        """Return what a reader of a table's summary should know."""
        return []

    @classmethod
    def summarize(cls, table: ScoreTable[Any], *, confidence: float, seed: int) -> list[JsonDict]:
        """Return one row for each number of a table of such results: its mean with an interval, and its counts."""
        found = []
        for name, values in table.arrays().items():
            row = mean_row(name, values, confidence, seed, bounded=cls.bounded)
            why = row.pop("reason")
            found.append(row | {"undefined": len(values) - row["n"], "reason": why})
        return found

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        found = {"score": self.score, "reason": self.reason, "rows": self.rows(), "signature": str(self.signature)}
        return found | {name: plain(getattr(self, name)) for name in self.more}

    def to_frame(self) -> pd.DataFrame:
        """Return the parts behind the number as a table, one row each."""
        return pd.DataFrame(self.rows())

    def drawn(self, key: int | None = None) -> str:
        """Return the report as HTML; `key` keeps two of the same texts apart on a page."""
        return self._repr_html_()

    def to_html(self, path: str | PathLike[str]) -> Path:
        """Write the report as one stand-alone file that makes no request, and return its path."""
        write_whole(Path(path), html_page(f"{type(self).__name__}: {self.line}"[:100], self._repr_html_()))
        return Path(path)

    def _repr_html_(self) -> str:
        return _card(type(self).__name__, self.score, self.reason, self.rows(), self.signature)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Gap(Score):
    """A row of a table that lacks a cell: no number, and the reason."""

    numbers: Mapping[str, None]
    cells: Mapping[str, Any]

    def numbers_by_name(self) -> dict[str, float | None]:
        return dict(self.numbers)

    def row(self) -> JsonDict:
        return dict(self.cells)

    def outcome(self) -> Outcome:
        own = {name: value for name, value in self.signature.items() if name != "nrefs"}  # that of the rows beside it
        return Outcome(None, "undefined", self.reason, {}, str(Signature(own)))


def _card(title: str, score: float | None, reason: str, rows: Sequence[JsonDict], signature: Signature) -> str:
    """A result as an HTML block: its name and number, the parts as a table, the signature."""
    number = f"undefined: {reason}" if score is None else f"{score:.4f}"
    return render("card.html", title=title, number=number, lines=[], rows=rows, signature=str(signature))


@dataclass(frozen=True, slots=True)
class Evidence:
    """An article sentence that a checker looked at: its index in the article, its similarity (None: not measured)."""

    index: int
    similarity: float | None = None


class Finding(NamedTuple):
    """A passage of a summary or an answer that the evidence does not hold.

    `kind` is `"word"`, `"number"`, `"name"`, `"negation"`, `"antonym"`, `"role"` or `"modality"` (what the evidence
    says only under a condition, as a plan or as possible). What a checker returns has its places in the sentence that
    it was given. In a result they are places in the user's own text: `summary[start:end] == text`. `clash` says that
    the passage cannot stand beside the evidence: such a sentence is never supported.
    """

    kind: str
    text: str
    start: int
    end: int
    clash: bool = False


_HARD = {"supported": 1.0, "unclear": 0.5, "contradicted": 0.0}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether the evidence supports a sentence, with what probability, and why.

    Parameters
    ----------
    probability : float or None
        Probability of support in [0, 1]; None when the checker failed, was not asked, or gave a hard verdict.
    threshold, contradicted_below : float
        From the first on a sentence is supported, unless a finding clashes. Below the second, if there is one, it is
        contradicted, and unclear in between.
    evidence, findings : sequence of Evidence, of Finding
        The article sentences that were looked at, best first, and what they do not hold.
    details : mapping
        What else the checker can say, such as its features or the probability mass of its options.
    failed, reason : bool, str
        The checker gave no answer; the verdict is excluded from scores and counted. The reason says why, or why the
        sentence was not judged at all, as a heading is not.
    hard : str
        What a checker says that gives no probability: `"supported"`, `"unclear"` or `"contradicted"`.

    Raises
    ------
    ValueError
        If the probability is outside [0, 1] or NaN, or there is none, no reason, and no hard verdict.
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
            require_option(self.hard, "hard", _HARD)
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
        """Whether there is an answer; a failure has none, nor has what is not for judging, such as a heading."""
        return self.probability is not None or bool(self.hard)

    @property
    def support(self) -> float | None:
        """The probability; 1, 0.5 or 0 for a hard verdict; None when nothing was judged."""
        return _HARD[self.hard] if self.hard else self.probability

    @property
    def state(self) -> str | None:
        """`"supported"`, `"unclear"` or `"contradicted"` (the evidence says otherwise, or nothing of the kind).

        Without `contradicted_below` it is `"supported"` or `"not supported"`. None when nothing was judged. A
        probability between the two thresholds is unclear, and so is one that reaches `threshold` although a finding
        clashes.
        """
        no = "not supported" if self.contradicted_below is None else "contradicted"
        if self.hard or self.probability is None:
            return no if self.hard == "contradicted" else self.hard or None
        if self.probability >= self.threshold:
            return "unclear" if any(finding.clash for finding in self.findings) else "supported"
        low = self.threshold if self.contradicted_below is None else self.contradicted_below
        return no if self.probability < low else "unclear"

    @property
    def supported(self) -> bool | None:
        """Whether `state` is `"supported"`; None when nothing was judged."""
        return self.state == "supported" if self.judged else None

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        own = {one.name: plain(getattr(self, one.name)) for one in fields(self)}
        return {"supported": self.supported, "state": self.state, **own}


class Outcome(NamedTuple):
    """What a metric found about one item: a finite score with status "ok", or None with "undefined" or "failed"."""

    score: float | None
    status: str = "ok"
    reason: str = ""
    parts: Mapping[str, Any] = {}
    signature: str = ""


def as_outcome(value: object, signature: str = "") -> Outcome:
    """Return what a metric returned as an `Outcome`; NaN, infinity and what is no number count as failed.

    Examples
    --------
    >>> as_outcome({"score": 1, "words": 7})
    Outcome(score=1.0, status='ok', reason='', parts={'words': 7}, signature='')
    >>> as_outcome(float("nan")).status
    'failed'
    """
    parts, score, reason = {}, value, "the metric returned None"
    if isinstance(value, Score):
        score, reason, signature = value.score, value.reason, str(value.signature)
        parts = {name: part for name, part in value.to_dict().items() if name not in ("score", "reason", "signature")}
    elif isinstance(value, Mapping):
        if "score" not in value:
            has = ", ".join(map(str, value))
            return Outcome(None, "failed", f"the metric's mapping has no 'score'; it has: {has}")
        parts = {name: part for name, part in value.items() if name not in ("score", "reason")}
        score, reason = value["score"], str(value.get("reason") or reason)
    if score is None:
        return Outcome(None, "undefined", reason, parts, signature)
    if not isinstance(score, numbers.Real):
        return Outcome(None, "failed", f"the metric returned {type(score).__name__}, not a number", parts, signature)
    if not is_finite(score):
        return Outcome(None, "failed", f"the metric returned {short_repr(score)}", parts, signature)
    return Outcome(float(score), "ok", "", parts, signature)


def shared_index(**named: object) -> Any:
    """Return the index of the Series, DataFrames and tables among some values; None if there is none.

    Two of the same length with different indexes are a `ValueError`: by their places, rows would be paired that do not
    belong together.
    """
    indexed = {name: v for name, v in named.items() if hasattr(v, "iloc") or isinstance(v, ScoreTable)}
    found = {name: index for name, v in indexed.items() if (index := getattr(v, "index", None)) is not None}
    first = next(iter(found), "")
    for name, index in found.items():
        own = found[first]
        if len(index) == len(own) and not index.equals(own):
            shown = f"{short_repr(list(own[:3]))} and {short_repr(list(index[:3]))}"
            remedy = f"{name}.reindex({first}.index), or pass both as lists to pair them by place"
            differ = f"{first} and {name} have different indexes ({shown})"
            raise ValueError(f"{differ}: bring one into the order of the other, as in {remedy}")
    return found.get(first)


def mean_row(
    name: str, values: Iterable[float | None], confidence: float, seed: int, *, bounded: bool = True
) -> JsonDict:
    """Return the mean of the numbers that there are with its interval, as a row of a summary; `bounded` are shares."""
    listed = values if isinstance(values, np.ndarray) else [np.nan if value is None else value for value in values]
    given = np.asarray(listed, dtype=float)
    known = given[~np.isnan(given)]
    how: JsonDict = {"n_resamples": max(200, min(2000, 20_000_000 // max(known.size, 1)))}  # fewer do for more
    low, high, why = mean_interval(known, bounded=bounded, confidence=confidence, seed=seed, **how)
    mean = float(known.mean()) if known.size else None
    return {"measure": name, "value": mean, "low": low, "high": high, "n": known.size, "reason": why}


def rate_row(name: str, hits: int, of: int, confidence: float) -> JsonDict:
    """Return a share of texts with Wilson's interval, as a row of a summary; undefined if there is none to count."""
    return mean_row(name, [1.0] * hits + [0.0] * (of - hits), confidence, 0)


Result = TypeVar("Result", bound=Any)  # what a table holds for each text: a `Score`


class ScoreTable(Generic[Result]):
    """The scores of many texts, in the order of the texts.

    It is a sequence of results: `table[3]` is the fourth, `table[:3]` a list of three, and `table["rouge1_f1"]` the
    array of that number. For numpy and pandas it is a column of its scores, as in `np.mean(table)`,
    `frame["bleu"] = table`. `index` is that of the Series or DataFrame that was scored, and None for lists.

    Parameters
    ----------
    results : sequence of Score, optional
        The result of each text. Leave it out if `result_of` makes one from its place, when somebody asks for it.
    signature : Signature
        The options behind the numbers.
    arrays : mapping of str to array, optional
        Each number by name, one place a text, NaN where there is none; the first is the main score. By default they are
        read from the results' `numbers_by_name()`.
    outcomes_of : callable, optional
        Makes what a run writes down for all texts at once, from the table.
    nothing : str
        Why a text has no score, where its result does not say so.
    lower_is_better : bool
        Whether the worst texts are those with the highest scores, as of an error rate.
    several : sequence of str
        The columns of several scores, such as ROUGE's types, of which none alone is the table as an array.
    """

    sentence_columns: Sequence[str] = ()  # of the rows of a result, where these are sentences or statements
    _gaps: Mapping[int, str] = {}  # rows that lack a cell, each with the reason

    def __init__(
        self,
        results: Sequence[Result] | None = None,
        *,
        signature: Signature,
        arrays: Mapping[str, np.ndarray] | None = None,
        result_of: Callable[[int], Result] | None = None,
        outcomes_of: Callable[[ScoreTable[Result]], list[Outcome]] | None = None,
        nothing: str = "there is nothing to score",
        index: Any = None,
        lower_is_better: bool = False,
        several: Sequence[str] = (),
    ):
        if (results is None) == (result_of is None) or (results is None and arrays is None):
            raise TypeError("a table needs results, or arrays with result_of, which makes a result from its place")
        self.signature, self.index, self.nothing, self.several = signature, index, nothing, several
        self._results, self._result_of, self._outcomes_of = results, result_of, outcomes_of
        self._sign = -1 if lower_is_better else 1
        self._arrays = None if arrays is None else dict(arrays)
        if results:
            self.sentence_columns = getattr(results[0], "sentence_columns", ())

    @property
    def results(self) -> Sequence[Result]:
        """The result of each text."""
        return [self.result(place) for place in range(len(self))] if self._results is None else self._results

    @property
    def measured(self) -> dict[int, Result]:
        """The results by their places, without the rows that lack a cell."""
        return {place: self.result(place) for place in range(len(self)) if place not in self._gaps}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return each number by name, shape (texts,), NaN where there is none; the first is the main score."""
        if self._arrays is None:
            rows = [result.numbers_by_name() for result in self.results]
            names = list(dict.fromkeys(name for row in rows for name in row)) or ["score"]
            self._arrays = {name: np.array([row.get(name) for row in rows], float) for name in names}  # None is NaN
        return dict(self._arrays)

    def result(self, place: int) -> Result:
        """Return the result of a text by its place, from 0."""
        if self._results is not None:
            return self._results[place]
        return cast(Any, self._result_of)(place)

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

    @property
    def n_failed(self) -> int:
        """How many questions to a checker, a judge or a model have no answer, over all texts."""
        return sum(getattr(result, "n_failed", 0) for result in self._results or ())

    def __len__(self) -> int:
        return len(self.scores) if self._results is None else len(self._results)

    @overload
    def __getitem__(self, place: str) -> Any: ...

    @overload
    def __getitem__(self, place: int) -> Result: ...

    @overload
    def __getitem__(self, place: slice) -> list[Result]: ...

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, str):
            return self._numbers(place)
        places = range(len(self))
        if isinstance(place, slice):
            return [self.result(own) for own in places[place]]
        try:
            own = places[place]
        except IndexError:
            raise IndexError(f"there is no text {place}: the table has {len(self)}, counted from 0") from None
        except TypeError:
            wanted = f"a text's number or a column's name, not {short_repr(place)}"
            raise TypeError(f"a table takes {wanted}; its numbers are in to_frame() and arrays()") from None
        return self.result(own)

    def __iter__(self) -> Iterator[Result]:
        return map(self.result, range(len(self)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self.several:
            raise ValueError(f"several scores are no one column: take one, table[...] of {', '.join(self.several)}")
        return np.array(self.scores, dtype=dtype or float)

    def indexed_by(self, index: Any) -> Self:
        """Return the same table with an index of pandas, one label a text."""
        found = copy.copy(self)
        found.index = index
        return found

    def with_gaps(self, gaps: Mapping[int, str]) -> ScoreTable[Any]:
        """Return the table with rows put in that have no score: their places in the new table, each with its reason."""
        size, arrays = len(self) + len(gaps), self.arrays()
        kept = [place for place in range(size) if place not in gaps]
        cells = dict.fromkeys(self.rows()[0] if len(self) else arrays)
        own: JsonDict = {"signature": self.signature, "numbers": dict.fromkeys(arrays)}
        told = lambda why: cells | ({"reason": why} if "reason" in cells else {})
        rows: dict[int, Any] = {n: Gap(score=None, reason=why, cells=told(why), **own) for n, why in gaps.items()}
        wide = {name: np.full(size, np.nan) for name in arrays}
        for name, values in arrays.items():
            wide[name][kept] = values
        found = copy.copy(self)
        found._arrays, found._gaps = wide, dict(gaps)
        found._outcomes_of = partial(_outcomes_or_gaps, rows, self)
        if self._results is None:
            places = {own: place for place, own in enumerate(kept)}
            found._result_of = partial(_result_or_gap, rows, places, self)
        else:
            filled = rows | dict(zip(kept, self._results, strict=True))
            found._results = [filled[place] for place in range(size)]
        return found

    def _numbers(self, name: str | None) -> np.ndarray:
        """The numbers of a name, or the main ones."""
        arrays = self.arrays()
        return self.scores if name is None else arrays[require_option(name, "number", arrays)]

    def mean(self, name: str | None = None, **of_numpy: Any) -> float | None:
        """Return the mean of the main score, or of another of `arrays`, where defined.

        For numpy, as in `np.mean(table)`, it is that of the table as an array.
        """
        if of_numpy:
            return np.asarray(self).mean(**of_numpy)
        values = self._numbers(name)
        values = values[~np.isnan(values)]
        return float(values.mean()) if values.size else None

    def means(self) -> dict[str, float | None]:
        """Return the mean of each number by its name; None where no text has it."""
        return {name: self.mean(name) for name in self.arrays()}

    def interval(
        self, name: str | None = None, *, confidence: float = 0.95, n_resamples: int = 2000, seed: int = 0
    ) -> MeanInterval:
        """Return an interval of the mean of the main score, or of another number: `low`, `high` and `reason`.

        Texts are drawn again, but for yes/no items and shares, which have Wilson's. Where the texts cannot bound the
        mean, because they are fewer than three or all alike, both ends are None, and `reason` says so.
        """
        values = self._numbers(name)
        how: JsonDict = {"confidence": confidence, "n_resamples": n_resamples, "seed": seed}
        return mean_interval(values[~np.isnan(values)], bounded=self._kind.bounded, **how)

    def summary(self, *, confidence: float = 0.95, seed: int = 0) -> list[JsonDict]:
        """Return one row for each number: `measure`, `value` (its mean), `low`, `high`, and how many texts have it."""
        require_inner_share(confidence, "confidence")
        return self._kind.summarize(self, confidence=confidence, seed=seed)

    def _shown_summary(self) -> list[JsonDict]:
        """The summary without reasons where each number has its interval."""
        rows = self.summary()
        said = any(row.get("reason") for row in rows)
        return [{name: value for name, value in row.items() if said or name != "reason"} for row in rows]

    @property
    def _kind(self) -> type[Score]:
        return next((type(own) for own in self._results or () if not isinstance(own, Gap)), Score)

    @property
    def _has_own_summary(self) -> bool:
        """Whether a table of such results is best read by its summary."""
        return self._kind.summarize.__func__ is not Score.summarize.__func__  # type: ignore[attr-defined]

    def reasons(self) -> list[str]:
        """Return why a text has no score, one line a text; '' where it has one."""
        own = [self._gaps.get(place, "") for place in range(len(self))]
        if self._results:
            own = [getattr(result, "reason", "") for result in self._results]
        pairs = zip(self.defined.tolist(), own, strict=True)
        return ["" if known else reason or self.nothing for known, reason in pairs]

    def rows(self) -> list[JsonDict]:
        """Return one plain dictionary a text; a number that is undefined is None."""
        if self._results is not None:
            rows = [result.row() for result in self._results]
        else:
            arrays = self.arrays()
            columns = [[None if math.isnan(one) else one for one in values.tolist()] for values in arrays.values()]
            rows = [dict(zip(arrays, row, strict=True)) for row in zip(*columns, strict=True)]
        if self._gaps:
            for place, row in enumerate(rows):
                row.setdefault("reason", self._gaps.get(place, ""))
        return rows

    def sentence_rows(self, place: int) -> list[JsonDict]:
        """Return one plain dictionary for each sentence or statement of a text."""
        return [] if place in self._gaps else self.result(place).rows()

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down for each text: score, status, reason, parts."""
        if self._outcomes_of is not None:
            return self._outcomes_of(self)
        return [result.outcome() if isinstance(result, Score) else as_outcome(result) for result in self]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        found: JsonDict = {"mean": self.mean(), "n_undefined": self.n_undefined, "rows": self.rows()}
        if self._has_own_summary:
            own = {"summary": self.summary(), "remarks": self._kind.remarks(self)}
            found |= own | {"results": [result.to_dict() for result in self.results]}
        return found | {"signature": str(self.signature)}

    def to_frame(self, by: str = "text") -> pd.DataFrame:
        """Return the table for pandas, with the index of what was scored.

        `by="text"` is a row a text. `by="sentence"` is a row for each of its sentences or statements, where they were
        judged (a `ValueError` where not); `row` is then the number of the text. What is undefined is missing.
        """
        require_option(by, "by", ["text", "sentence"] if self.sentence_columns else ["text"])
        if by == "text":
            rows = self.rows()
            return pd.DataFrame(rows, columns=None if rows else list(self.arrays()), index=self.index)
        rows = [{"row": place, **row} for place in range(len(self)) for row in self.sentence_rows(place)]
        index = None if self.index is None else self.index.take([row["row"] for row in rows])
        return pd.DataFrame(rows, columns=["row", *self.sentence_columns], index=index)

    to_pandas = to_frame

    def worst(self, n: int = 10) -> pd.DataFrame:
        """Return the rows of the `n` worst scores as a table of pandas, the worst first, with the texts' labels."""
        return self.to_frame().iloc[self.worst_first()[: require_count(n, "n")]]

    @property
    def main(self) -> str:
        """The name of the main score in words, such as `rouge1 f1`."""
        return next(iter(self.arrays())).replace("_", " ")

    def __repr__(self) -> str:
        mean = "None" if self.mean() is None else f"{self.mean():.4f}"
        counts = f"{len(self)} texts, {self.main} mean {mean}, {self.n_undefined} undefined"
        head = f"{type(self).__name__}({counts}, signature={str(self.signature)!r})"
        if not self._has_own_summary:
            return head
        return "\n".join([head, text_table(self._shown_summary()), *self._kind.remarks(self)])

    def _repr_html_(self) -> str:
        if self._has_own_summary:
            note = ". ".join([*self._kind.remarks(self), str(self.signature)])
            summary = html_table(self._shown_summary(), caption=f"{len(self)} texts", note=note)
            return Markup("".join([summary, *(self._folded(place, place) for place in range(min(len(self), 10)))]))
        return self._card(", the first 10 below" if len(self) > 10 else "", self.rows()[:10])

    def _card(self, more: str, rows: Sequence[JsonDict]) -> str:
        heading, reason = f"{self.main}, mean of {len(self)} texts{more}", f"no text of {len(self)} has a score"
        return _card(heading, self.mean(), reason, rows, self.signature)

    def _folded(self, place: int, label: object) -> str:
        """The report of a text, behind its label and its score."""
        result: Any = self.result(place)
        drawn = result.drawn(place) if isinstance(result, Score) else result._repr_html_()
        return folded(f"{label}: {result.line}", Markup(drawn))

    def worst_first(self) -> list[int]:
        """Return the places of the texts, the worst score first and those without any at the end."""
        return self._kind.worst_first(self)

    def to_csv(self, path: str | PathLike[str]) -> Path:
        """Write one row a text as CSV, a cell that a spreadsheet could run made harmless, and return the path."""
        labels = range(len(self)) if self.index is None else self.index
        rows = [{"text": label, **row} for label, row in zip(labels, self.rows(), strict=True)]
        rows = [{name: plain_cell(value) for name, value in row.items()} for row in rows]
        names = list(dict.fromkeys(name for row in rows for name in row)) or ["text", *self.arrays()]
        write_whole(path, csv_text(rows, names))
        return Path(path)

    def to_json(self, path: str | PathLike[str]) -> Path:
        """Write what `to_dict` returns as JSON and return the path."""
        write_whole(path, json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False) + "\n")
        return Path(path)

    def to_html(self, path: str | PathLike[str], *, title: str = "") -> Path:
        """Write the reports of all texts as one stand-alone file, the worst first, and return its path.

        The page makes no request and runs no script. Its title is the main score's name, or the one given.
        """
        labels = range(len(self)) if self.index is None else self.index
        reports = [self._folded(place, labels[place]) for place in self.worst_first()]
        page = html_page(title or self.main, "".join([self._card(", the worst first", []), *reports]))
        write_whole(path, page)
        return Path(path)


def _outcomes_or_gaps(gaps: Mapping[int, Score], whole: ScoreTable[Any], table: ScoreTable[Any]) -> list[Outcome]:
    """The outcomes of a table's rows, those of its gaps between them: a row's parts are the same beside any other."""
    others = iter(whole.outcomes())
    return [gaps[place].outcome() if place in gaps else next(others) for place in range(len(table))]


def _result_or_gap(rows: Mapping[int, Any], places: Mapping[int, int], table: ScoreTable[Any], place: int) -> Any:
    """Return the result of a row that has a score, or what says why it has none."""
    return rows[place] if place in rows else table.result(places[place])


class Rows:
    """A result that is rows, drawn as a table of them with notes below; where it has a signature, that is the last."""

    signature: Signature | None = None
    table: Sequence[JsonDict]
    more: ClassVar[tuple[str, ...]] = ()  # what `to_dict` tells beside rows and signature

    def rows(self) -> Iterable[JsonDict]:
        """Return the rows, one dictionary each."""
        return [dict(row) for row in self.table]

    def to_frame(self) -> pd.DataFrame:
        """Return `rows` as a table."""
        return pd.DataFrame(list(self.rows()))

    def to_dict(self) -> JsonDict:
        """Return the rows and the signature as plain data."""
        signed = {} if self.signature is None else {"signature": str(self.signature)}
        return {name: plain(getattr(self, name)) for name in self.more} | {"rows": list(self.rows())} | signed

    def wide_rows(self) -> list[JsonDict]:
        """Return the rows as people read them."""
        return list(self.rows())

    def remarks(self) -> list[str]:
        """Return what a reader of the table should know, one line each."""
        return []

    def _below(self) -> list[str]:
        return [*self.remarks(), *([] if self.signature is None else [str(self.signature)])]

    def __repr__(self) -> str:
        return "\n".join([text_table(self.wide_rows()), *self._below()])

    def _repr_html_(self) -> str:
        return html_table(self.wide_rows(), note="; ".join(self._below()))
