# A plain private module: edited here, exported by no notebook, tested in tests/test_pairwise.py.
"""What chapter 48 needs beside its definitions: two answers put to a judge or a model, tables, rankings, their pages.

Edited directly.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, TypedDict

import numpy as np

from summeval_nb.ground import _choices
from summeval_nb.ground._frames import Rows, Table, axes_for
from summeval_nb.ground._resampling import drawings, middle
from summeval_nb.ground._types import JsonDict
from summeval_nb.ground.results import (
    Metric,
    Outcome,
    ResultTable,
    Score,
    Signature,
    require_column,
    require_count,
    require_share,
    require_text,
    require_texts,
)
from summeval_nb.ground.viz import Markup, figure_text, html_table, text_table
from summeval_nb.judged._answer_report import mean_interval, rate
from summeval_nb.judged._grades import (
    RatingTable,
    Said,
    ask_for_grades,
    most_grades,
    rating_parts,
    require_scale,
    table_of,
)
from summeval_nb.judged._parameters import Thing, explained
from summeval_nb.judged._retrieval import Asker, Row, most_statements, true_premise
from summeval_nb.judged.answers import table_records
from summeval_nb.judged.judging import Asking, Entailment, Judge
from summeval_nb.judged.load import load_judge
from summeval_nb.judged.ratings import Rating, expected_grade
from summeval_nb.models._named import StoreOrPath, load_backend, load_store
from summeval_nb.models._prompts import QUOTING
from summeval_nb.models.llm import Backend, Calls, Most
from summeval_nb.models.store import Store, content_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OPTIONS = ("A", "B", "tie")
_TOLD = """
Parameters
----------
question, a, b : str
    What was asked, and the two answers.
truth : str
    The true answer. A judge needs it; a backend is shown it where there is one.
judge : str or Judge
    Who holds both answers against the truth, statement by statement, where there
    is no backend: `"embedded"`, `"nli:FOLDER"`, `"llm:FOLDER"`, or a judge.
backend : Backend or str, optional
    A language model that reads both answers side by side, in both orders, such as
    `"llm:FOLDER"` or `"llm:NAME@http://HOST:PORT/v1"`.
criteria : str
    What is better, in words, for the backend.
margin : float
    In [0, 1]: answers whose F1 differ by no more are a tie, for a judge.
max_failed : float
    In [0, 1]: with a greater share of failed statements there is no winner.
prior : float
    Wins added for each of any two systems against the other, at least 0.
n_resamples : int
    How often units, such as questions, are drawn again for the intervals; 0 for none.
confidence : float
    In (0, 1).
seed : int
    For the drawing.
workers : int
    How many calls may wait for a server at the same time.
store : Store or path, optional
    Where replies are kept.
progress : bool
    Whether to show a progress bar.

Raises
------
TypeError
    If a text is not a string, or the backend is none.
ValueError
    If a share lies outside [0, 1], or the judge is unknown.
"""
Verdicts: TypeAlias = Mapping[str, Sequence[Entailment]]  # on one answer: what is right, what of the truth is covered


def takes_choices_of(kind: type[PairMetric]) -> Callable[[Thing], Thing]:
    """Show the choices of a metric in the signature of a function and in its help."""
    show = _choices.takes_choices_of(kind)
    return lambda function: explains(show(function))


def explains(function: Thing) -> Thing:
    """Say in a function's help what its parameters are."""
    return explained(function, _TOLD)


class Pair(NamedTuple):
    """A question and two answers to it, checked; the truth may be empty."""

    question: str
    a: str
    b: str
    truth: str = ""


def check_pair(question: object, a: object, b: object, truth: object = "", where: str = "") -> Pair:
    """A pair whose parts are text."""
    given = {"question": question, "a": a, "b": b, "truth": truth}
    return Pair(*(require_text(value, f"{where}{name}") for name, value in given.items()))


# ---------------------------------------------------------------- results


@dataclass(frozen=True, kw_only=True)
class Order:
    """What was said when the answers stood in one order.

    Parameters
    ----------
    first : "a" or "b"
        Which answer was shown first.
    chances : mapping of str to float
        The probability of `"a"`, `"b"` and `"tie"`; empty where the call failed.
    winner : "a", "b", "tie" or None
        The likeliest; None where the call failed.
    mass : float or None
        How much of the model's probability the three held, in [0, 1].
    """

    first: str
    chances: Mapping[str, float] = field(default_factory=dict)
    winner: str | None = None
    mass: float | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AnswerComparison(Score):
    """Which of two answers is better, and whether that depends on their order.

    Parameters
    ----------
    score : float or None
        The preference for a, in [0, 1]: 1 for a, 0 for b, 0.5 for neither.
    winner : "a", "b", "tie" or None
        Who wins in both orders; a tie where the orders disagree.
    orders : tuple of Order
        Both orders of a language model; one entry for a judge, which sees no order.
    consistent : bool or None
        Whether both orders have the same winner.
    lean : float or None
        How much the answer shown first is preferred, in [-1, 1]; 0 is no bias.
    parts : mapping of str to float or None
        What a judge measured of each answer.
    """

    winner: str | None = None
    orders: tuple[Order, ...] = ()
    consistent: bool | None = None
    lean: float | None = None
    parts: Mapping[str, float | None] = field(default_factory=dict)
    failed: bool = False

    def rows(self) -> list[JsonDict]:
        """Return one row for each order."""
        return [asdict(one) for one in self.orders]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        own = {"winner": self.winner, "consistent": self.consistent, "lean": self.lean, "parts": dict(self.parts)}
        return super().to_dict() | own

    def __repr__(self) -> str:
        if self.score is None:
            return f"AnswerComparison(None: {self.reason})"
        order = "" if self.consistent is not False else ", the orders disagree"
        return f"AnswerComparison({self.winner}, preference for a {self.score:.3f}{order})"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ComparisonTable(ResultTable[AnswerComparison]):
    """Two systems' answers side by side, question by question."""

    def summary(self, *, confidence: float = 0.95) -> list[JsonDict]:
        """Return win rates, the mean preference, and what the order does, with intervals."""
        return summary_rows(self.results, require_share(confidence, "confidence"))

    def rows(self) -> list[JsonDict]:
        """Return one row for each question."""
        names = ("score", "winner", "consistent", "lean", "reason")
        return [{name: getattr(one, name) for name in names} for one in self.results]

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down; a failed call is failed, a missing text undefined."""
        found = zip(super().outcomes(), self.results, strict=True)
        return [o._replace(status="failed") if one.failed else o for o, one in found]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        return super().to_dict() | {"summary": self.summary(), "comparisons": [one.to_dict() for one in self.results]}

    def __repr__(self) -> str:
        return f"ComparisonTable({len(self)} questions)\n{text_table(self.summary())}"

    def _repr_html_(self) -> Markup:
        parts = [html_table(self.summary(), caption=f"Side by side: {len(self)} questions", note=str(self.signature))]
        shown = [{"row": n, **row} for n, row in enumerate(self.rows()[:50])]
        return Markup("".join([*parts, html_table(shown, caption="Questions")]))


def summary_rows(found: Sequence[AnswerComparison], confidence: float) -> list[JsonDict]:
    """Win rates with Wilson's intervals, the mean preference with a bootstrap interval, and the order's part."""
    judged = [one for one in found if one.score is not None]
    counts = {kind: sum(one.winner == kind for one in judged) for kind in ("a", "b", "tie")}
    names = {"a": "a wins", "b": "b wins", "tie": "ties"}
    rows = [rate(names[kind], count, len(judged), confidence) for kind, count in counts.items()]
    scores = [one.score for one in judged if one.score is not None]
    low, high = mean_interval(scores, confidence, 0)
    mean = sum(scores) / len(scores) if scores else None
    rows.append({"measure": "preference for a", "value": mean, "low": low, "high": high, "n": len(scores)})
    twice = [one for one in judged if len(one.orders) == 2]
    flips = sum(one.consistent is False for one in twice)
    rows.append(rate("orders disagree", flips, len(twice), confidence))
    decided = [order for one in twice for order in one.orders if order.winner in ("a", "b")]
    first = sum(order.winner == order.first for order in decided)
    return [*rows, rate("first shown wins", first, len(decided), confidence)]


# ---------------------------------------------------------------- asking


def ask_model(
    pairs: Sequence[Pair],
    prompt: Callable[[Pair, bool], str],
    backend: Backend | str,
    *,
    store: StoreOrPath,
    workers: int,
    progress: bool,
) -> list[tuple[Order, Order]]:
    """Both orders of each pair, as a language model sees them."""
    model, kept = load_backend(backend), load_store(store)
    prompts = [prompt(pair, swapped) for pair in pairs for swapped in (False, True)]
    asked = [bool(pair.a.strip() and pair.b.strip()) for pair in pairs for _ in range(2)]
    shown = "comparisons" if progress else ""
    found = iter(ask_for_grades(model, prompts, asked, list(OPTIONS), kept, workers=workers, progress=shown))
    return [(_order(next(found), swapped=False), _order(next(found), swapped=True)) for _ in pairs]


def _order(value: Said, *, swapped: bool) -> Order:
    """An order from the options' probabilities, or from a failure."""
    first, second = ("b", "a") if swapped else ("a", "b")
    if not isinstance(value, Mapping):
        return Order(first=first, reason="" if value is None else str(value))
    shares = value["probabilities"]
    total = sum(shares.values())
    chances = {"a": 0.0, "b": 0.0, "tie": shares["tie"] / total}
    chances |= {first: shares["A"] / total, second: shares["B"] / total}
    best = max(chances.values())
    likeliest = [name for name, chance in chances.items() if chance == best]
    winner = likeliest[0] if len(likeliest) == 1 else "tie"
    return Order(first=first, chances=chances, winner=winner, mass=float(value["mass"]))


def ask_judge(pairs: Sequence[Pair], asker: Asker) -> list[tuple[Verdicts, ...]]:
    """For both answers of each pair: verdicts on its statements by the truth, and on the truth's by it."""
    asker.statements(text for pair in pairs for text in (pair.a, pair.b, pair.truth))
    held: list[tuple[str, str]] = []
    for pair in pairs:
        for answer in (pair.a, pair.b):
            held += [(_premise(pair, pair.truth), one) for one in asker.of(answer)]
            held += [(_premise(pair, answer), one) for one in asker.of(pair.truth)]
    asker.entail(held)
    return [tuple(_verdicts(pair, answer, asker) for answer in (pair.a, pair.b)) for pair in pairs]


def most_calls(judge: str | Judge, pairs: Sequence[Pair]) -> dict[str, Calls]:
    """At most what `ask_judge` asks about pairs."""
    ask = Asking(load_judge(judge))
    said = most_statements(ask, (text for pair in pairs for text in (pair.a, pair.b, pair.truth)))
    held: list[tuple[str, Most]] = []
    for pair in pairs:
        for answer in (pair.a, pair.b):
            held += [(_premise(pair, pair.truth), said[answer])] if pair.truth.strip() and answer.strip() else []
            held += [(_premise(pair, answer), said[pair.truth])] if pair.truth.strip() and answer.strip() else []
    ask("entail", held)
    return ask.calls


def _premise(pair: Pair, text: str) -> str:
    return true_premise(Row(question=pair.question, truth=text)) if text.strip() else ""


def _verdicts(pair: Pair, answer: str, asker: Asker) -> Verdicts:
    right = [asker.verdict(_premise(pair, pair.truth), one) for one in asker.of(answer)]
    covered = [asker.verdict(_premise(pair, answer), one) for one in asker.of(pair.truth)]
    return {"right": right, "covered": covered}


def empty_answer(pair: Pair) -> str:
    """Why there is nothing to compare; '' if there is."""
    return next((f"answer {name} is empty" for name in ("a", "b") if not getattr(pair, name).strip()), "")


def too_many_failed(verdicts: Sequence[Verdicts], max_failed: float) -> str:
    """Why the verdicts on two answers are too few; '' if they are not."""
    for own in verdicts:
        for tags in own.values():
            failed = [one for one in tags if one.failed]
            if not tags or len(failed) == len(tags) or len(failed) > max_failed * len(tags):
                why = failed[0].reason if failed else "there is no statement to judge"
                return f"{len(failed)} of {len(tags)} statements could not be judged: {why}"
    return ""


def read_pairs(table: Table) -> list[Pair]:
    """Rows of a table as pairs; the truth may be missing."""
    records = table_records(table, {name: (name,) for name in ("question", "a", "b")})
    truths = _truths(table, len(records))
    return [
        check_pair(**one, truth=t, where=f"row {n}: ") for n, (one, t) in enumerate(zip(records, truths, strict=True))
    ]


def _truths(table: Table, count: int) -> list[object]:
    """The column `truth` or `ground_truth` of a table; empty texts where there is none."""
    try:
        return [one["truth"] for one in table_records(table, {"truth": ("truth", "ground_truth")})]
    except ValueError:
        return [""] * count


# ---------------------------------------------------------------- many systems


@dataclass(frozen=True, kw_only=True, repr=False)
class SystemRanking(Rows):
    """Systems by their Bradley-Terry strengths, with intervals.

    Parameters
    ----------
    systems : tuple of str
        Best first.
    strengths : mapping of str to float or None
        Log-odds against an average system; None with a `reason`.
    intervals : mapping of str to (float, float) or None
        Bootstrap intervals over questions.
    wins : mapping of (str, str) to float
        How often the first beat the second; a tie counts half for both.
    """

    systems: tuple[str, ...]
    strengths: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float] | None]
    wins: Mapping[tuple[str, str], float]
    signature: Signature
    reason: str = ""
    comparisons: ComparisonTable | None = None

    def rank(self, system: str) -> int | None:
        """Return 1 and one more for each system whose whole interval lies above this one's; None if undefined."""
        own = self.intervals[system]
        if own is None:
            return None
        return 1 + sum(one is not None and one[0] > own[1] for one in self.intervals.values())

    def rows(self) -> list[JsonDict]:
        """Return one row for each system, best first."""
        rows = []
        for one in self.systems:
            won = sum(count for (winner, _), count in self.wins.items() if winner == one)
            met = won + sum(count for (_, loser), count in self.wins.items() if loser == one)
            low, high = self.intervals[one] or (None, None)
            rate = won / met if met else None
            numbers = {"strength": self.strengths[one], "low": low, "high": high}
            rows.append({"system": one, "rank": self.rank(one), **numbers, "win rate": rate, "comparisons": met})
        return rows

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        wins = [{"winner": a, "loser": b, "count": count} for (a, b), count in self.wins.items()]
        found = {"rows": self.rows(), "wins": wins, "reason": self.reason, "signature": str(self.signature)}
        return found | ({} if self.comparisons is None else {"comparisons": self.comparisons.to_dict()})

    def __repr__(self) -> str:
        return f"SystemRanking({self.reason or f'{len(self.systems)} systems'})\n{text_table(self.rows())}"

    def _repr_html_(self) -> Markup:
        return html_table(self.rows(), caption=self.reason or "Systems, best first", note=str(self.signature))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw strengths with their intervals; returns the axes."""
        ax = axes_for(ax, 5, 0.8 + 0.4 * len(self.systems))
        for place, one in enumerate(reversed(self.systems)):
            strength, interval = self.strengths[one], self.intervals[one]
            if strength is None:
                continue
            if interval is not None:
                ax.plot(interval, [place, place], color="#8fc1e8", linewidth=5)
            ax.plot([strength], [place], "o", color="#1f5f8b")
        ax.set_yticks(range(len(self.systems)), [figure_text(one) for one in reversed(self.systems)])
        ax.set_ylim(-0.6, len(self.systems) - 0.4)  # no row lies on the axis
        ax.axvline(0, color="#888888", linewidth=0.8)
        ax.set_xlabel("strength (log-odds against an average system)")
        return ax


class Vote(NamedTuple):
    """One comparison of two systems: the winner is one of them, or "tie"; `unit` says what it was about."""

    first: str
    second: str
    winner: str
    unit: Hashable = None


def read_votes(outcomes: Iterable[object]) -> list[Vote]:
    """Votes from (system, other, winner) or (system, other, winner, unit)."""
    votes = []
    for number, one in enumerate(outcomes):
        if isinstance(one, (str, bytes)) or not isinstance(one, Sequence) or not 3 <= len(one) <= 4:
            raise TypeError(f"outcome {number} must be (system, other, winner), not {one!r:.60}")
        first, second, winner = (require_text(value, f"outcome {number}") for value in one[:3])
        if first == second or "tie" in (first, second):
            raise ValueError(f"outcome {number} must name two systems, none called 'tie', not {first!r} and {second!r}")
        if winner not in (first, second, "tie"):
            raise ValueError(f"the winner of outcome {number} must be {first!r}, {second!r} or 'tie', not {winner!r}")
        votes.append(Vote(first, second, winner, one[3] if len(one) == 4 else number))
    if not votes:
        raise ValueError("there are no outcomes to rank by")
    return votes


def win_matrix(votes: Sequence[Vote], systems: Sequence[str]) -> np.ndarray:
    """How often each system (row) beat each other (column); a tie counts half for both."""
    place = {name: i for i, name in enumerate(systems)}
    wins = np.zeros((len(systems), len(systems)))
    for one in votes:
        i, j = place[one.first], place[one.second]
        share = 0.5 if one.winner == "tie" else float(one.winner == one.first)
        wins[i, j] += share
        wins[j, i] += 1 - share
    return wins


def resampled(
    votes: Sequence[Vote],
    systems: Sequence[str],
    fit: Callable[[np.ndarray], np.ndarray | None],
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> list[tuple[float, float] | None]:
    """Percentile intervals of each system's strength, drawing units again; None where too few could be fitted."""
    units: dict[Hashable, list[Vote]] = {}
    for one in votes:
        units.setdefault(one.unit, []).append(one)
    tables = np.stack([win_matrix(own, systems) for own in units.values()])
    if n_resamples < 2 or len(tables) < 2:
        return [None] * len(systems)
    found = [fit(tables[one].sum(axis=0)) for lot in drawings(len(tables), n_resamples, seed) for one in lot]
    none = np.full(len(systems), np.nan)
    values = np.stack([none if one is None else one for one in found])
    return [middle(column, confidence)[0] for column in values.T]


class Entry(NamedTuple):
    """One system's answer to one question."""

    question: str
    system: str
    answer: str
    truth: str


def read_entries(table: Table) -> list[Entry]:
    """Rows of a table as one system's answers; the truth may be missing."""
    names = {name: (name,) for name in ("question", "system", "answer")}
    records = table_records(table, names)
    truths = _truths(table, len(records))
    entries = []
    for i, (one, truth) in enumerate(zip(records, truths, strict=True)):
        given = {name: require_text(value, f"row {i}: {name}") for name, value in {**one, "truth": truth}.items()}
        entries.append(Entry(**given))
    seen = {(one.question, one.system) for one in entries}
    if len(seen) < len(entries):
        raise ValueError("a system answers a question twice: each (question, system) may stand once")
    if len({one.system for one in entries}) < 2:
        raise ValueError("a ranking needs two systems at least: fill the column 'system'")
    return entries


def meetings(entries: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    """Every two systems that answered the same question, in the order of the table."""
    by_question: dict[str, list[Entry]] = {}
    for one in entries:
        by_question.setdefault(one.question, []).append(one)
    return [pair for own in by_question.values() for pair in combinations(own, 2)]


def as_outcomes(met: Sequence[tuple[Entry, Entry]], found: ComparisonTable) -> list[tuple[str, str, str, str]]:
    """Votes from comparisons; those without a winner are left out."""
    named = {"a": 0, "b": 1}
    votes = [
        (
            one.system,
            two.system,
            "tie" if result.winner == "tie" else (one, two)[named[result.winner]].system,
            one.question,
        )
        for (one, two), result in zip(met, found.results, strict=True)
        if result.winner is not None
    ]
    if not votes:
        why = next((one.reason for one in found.results if one.reason), "no two systems answered the same question")
        raise ValueError(f"no comparison has a winner: {why}")
    return votes


def rank_votes(
    outcomes: Iterable[object],
    fit: Callable[[np.ndarray, float], np.ndarray | None],
    prior: float,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> SystemRanking:
    """Strengths, intervals and wins by name, best first; by the number of wins where there is no strength."""
    votes = read_votes(outcomes)
    names = list(dict.fromkeys(name for one in votes for name in one[:2]))
    sure = require_share(confidence, "confidence")
    times = require_count(n_resamples, "n_resamples", minimum=0)
    share = require_share(prior, "prior")
    wins = win_matrix(votes, names)
    found = fit(wins, share)
    values: Sequence[float | None] = [None] * len(names)
    ends: Sequence[tuple[float, float] | None] = [None] * len(names)
    if found is not None:
        values = [float(one) for one in found]
        drawn = votes, names, lambda table: fit(table, share)
        ends = resampled(*drawn, n_resamples=times, confidence=sure, seed=seed)
    order = np.argsort(-(wins.sum(axis=1) if found is None else found), kind="stable")
    why = "some systems won or lost every vote against the rest: their strength is not finite, use a prior"
    return SystemRanking(
        systems=tuple(names[i] for i in order),
        strengths=dict(zip(names, values, strict=True)),
        intervals=dict(zip(names, ends, strict=True)),
        wins={(a, b): float(wins[i, j]) for i, a in enumerate(names) for j, b in enumerate(names) if i != j},
        signature=Signature(
            {"metric": "bradley_terry", "prior": share, "confidence": sure, "seed": seed, "n_resamples": times}
        ),
        reason=why if found is None else "",
    )


def with_comparisons(found: SystemRanking, table: ComparisonTable) -> SystemRanking:
    """A ranking with what it was made of."""
    parts = dict(found.signature) | {n: v for n, v in table.signature.items() if n not in ("metric", "version")}
    return replace(found, comparisons=table, signature=Signature(parts))


# ---------------------------------------------------------------- metrics


@dataclass(frozen=True, kw_only=True)
class PairMetric(Metric):
    """What the metric of comparisons is besides its definitions: columns, choices, asking, and what is undefined."""

    name = "side_by_side"
    columns = {"question": "text", "a": "text", "b": "text", "truth": "text"}
    judged = "a"

    judge: str | Judge = "embedded"
    backend: Backend | str | None = None
    criteria: str = ""
    margin: float = 0.05
    max_failed: float = 0.5
    workers: int = 8
    store: StoreOrPath = field(default=None, compare=False)

    def __post_init__(self) -> None:
        require_text(self.criteria, "criteria")
        require_share(self.margin, "margin")
        require_share(self.max_failed, "max_failed")
        require_count(self.workers, "workers")

    def prompt(self, pair: Pair, swapped: bool) -> str:
        """Return the prompt for one order."""
        raise NotImplementedError

    def by_model(self, one: Order, two: Order) -> JsonDict:
        """Return score, winner, consistency and lean from both orders."""
        raise NotImplementedError

    def by_verdicts(self, verdicts: Sequence[Verdicts]) -> JsonDict:
        """Return score, winner and parts from the verdicts on both answers."""
        raise NotImplementedError

    @property
    def signature(self) -> Signature:
        """Every choice that could change a number."""
        return self.compare([]).signature

    def score(self, *row: str) -> AnswerComparison:
        """Return the comparison of one pair; the columns in their order."""
        return self.compare([check_pair(*row)])[0]

    def score_many(self, *columns: Sequence[str], progress: bool | None = None) -> ComparisonTable:
        """Return the comparisons of many pairs; one list for each column, in their order."""
        lists = {name: require_column(values, name) for name, values in zip(self.columns, columns, strict=True)}
        return self.compare(read_pairs(lists), bool(progress))

    def compare(self, pairs: Sequence[Pair], progress: bool = False) -> ComparisonTable:
        """Return the comparisons of checked pairs."""
        if self.backend is not None:
            model = load_backend(self.backend)
            example = self.prompt(Pair("", "", "", "x"), False)
            parts = {"backend": model.fingerprint, "prompt": content_key(example, QUOTING)[:8]}
            orders = ask_model(pairs, self.prompt, model, store=self.store, workers=self.workers, progress=progress)
            found = [self._by_orders(*one) for one in zip(pairs, orders, strict=True)]
        else:
            asker = Asker(self.judge, "minilm", self.store, progress)
            parts = {"judge": asker.judge.fingerprint, "margin": str(self.margin)}
            verdicts = ask_judge(pairs, asker)
            found = [self._by_judge(*one) for one in zip(pairs, verdicts, strict=True)]
        line = Signature({"metric": self.name} | parts | {"max_failed": self.max_failed})
        return ComparisonTable(results=[AnswerComparison(signature=line, **one) for one in found], signature=line)

    def calls_for(self, rows: Sequence[Mapping[str, str]]) -> dict[str, Calls]:
        """At most what the comparisons of rows call: both orders of a model, or what a judge is asked."""
        pairs = [check_pair(**{name: row[name] for name in self.columns}) for row in rows]
        if self.backend is None:
            return most_calls(self.judge, pairs)
        prompts = [self.prompt(pair, swapped) for pair in pairs for swapped in (False, True)]
        asked = [bool(pair.a.strip() and pair.b.strip()) for pair in pairs for _ in range(2)]
        return most_grades(load_backend(self.backend), prompts, asked, list(OPTIONS), load_store(self.store))

    def _by_orders(self, pair: Pair, orders: tuple[Order, Order]) -> JsonDict:
        if reason := empty_answer(pair):
            return {"score": None, "reason": reason}
        if failed := [one.reason for one in orders if one.winner is None]:
            return {"score": None, "reason": failed[0], "orders": orders, "failed": True}
        return self.by_model(*orders) | {"orders": orders}

    def _by_judge(self, pair: Pair, verdicts: Sequence[Verdicts]) -> JsonDict:
        if reason := empty_answer(pair):
            return {"score": None, "reason": reason}
        if not pair.truth.strip():
            return {"score": None, "reason": "there is no truth to hold the answers against: give one, or a backend"}
        if reason := too_many_failed(verdicts, self.max_failed):
            return {"score": None, "reason": reason, "failed": True}
        return self.by_verdicts(verdicts)


class Sides:
    """What the shell reads of a table where no truth is needed; other columns stay in its rows."""

    columns = {"question": "text", "a": "text", "b": "text"}

    def score_many(self, *columns: object) -> NoReturn:
        """Nothing is scored by this one."""
        raise NotImplementedError


class Systems(Sides):
    """What the shell reads of a table of many systems."""

    columns = {"question": "text", "system": "text", "answer": "text"}


class TrueSystems(Sides):
    """The same with the true answers."""

    columns = {**Systems.columns, "truth": "text"}


def read_as(*, rank: bool, truth: bool) -> Any:
    """What says which columns the shell needs."""
    if rank:
        return TrueSystems() if truth else Systems()
    return "side_by_side" if truth else Sides()


class PairChoices(TypedDict, total=False):
    """The choices of a comparison."""

    judge: str | Judge
    backend: Backend | str | None
    criteria: str
    margin: float
    max_failed: float
    workers: int
    store: Store | str | None


_TOLD_OF_A_RUBRIC = """
Parameters
----------
criteria : str
    What is graded, and what a good and a bad answer are, in words.
backend : Backend or str
    A language model, such as `"llm:FOLDER"`. There is no grade without one.
steps : sequence of str
    What to look at, one after the other.
scale : (int, int)
    The lowest and the highest grade, within 0 and 9.
title : str
    A short name for pictures and tables.
workers : int
    How many calls may wait for a server at the same time.
store : Store or path, optional
    Where probabilities are kept.

Raises
------
ValueError
    If the criteria are empty or the scale makes no sense.
"""


def explains_rubric(rubric: Thing) -> Thing:
    """Say in the help of a rubric what its fields are."""
    return explained(rubric, _TOLD_OF_A_RUBRIC)


@dataclass(frozen=True, kw_only=True)
class RubricBase(Metric):
    """What a rubric is besides its words: columns, checks, asking for grades."""

    name = "rubric"
    columns = {"question": "text", "answer": "text"}
    judged = "answer"

    criteria: str
    backend: Backend | str
    steps: Sequence[str] = ()
    scale: tuple[int, int] = (1, 5)
    title: str = "rubric"
    workers: int = 8
    store: StoreOrPath = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not require_text(self.criteria, "criteria").strip():
            raise ValueError("criteria are empty: say in words what is graded")
        require_texts(self.steps, "steps")
        require_text(self.title, "title")
        require_scale(self.scale)
        require_count(self.workers, "workers")

    def prompt(self, question: str, answer: str) -> str:
        """Return the prompt for one grade."""
        raise NotImplementedError

    @property
    def signature(self) -> Signature:
        """Every choice that could change a number."""
        low, high = self.scale
        parts = {"metric": self.name, "title": self.title, "scale": f"{low}-{high}"}
        version = content_key(self.prompt("", ""), QUOTING)[:8]
        return Signature(parts | {"backend": load_backend(self.backend).fingerprint, "prompt": version})

    def calls_for(self, rows: Sequence[Mapping[str, str]]) -> dict[str, Calls]:
        """At most what the grades of rows call: one call for each answer that is not empty."""
        (low, high), pairs = self.scale, [(row["question"], row["answer"]) for row in rows]
        prompts, wanted = [self.prompt(*pair) for pair in pairs], [bool(answer.strip()) for _, answer in pairs]
        grades = [str(grade) for grade in range(low, high + 1)]
        return most_grades(load_backend(self.backend), prompts, wanted, grades, load_store(self.store))

    def score(self, question: str, answer: str) -> Rating:
        """Return the grade of one answer; the question may be empty."""
        return self.score_many([require_text(question, "question")], [require_text(answer, "answer")])[0]

    def score_many(
        self, questions: Sequence[str], answers: Sequence[str], *, progress: bool | None = None
    ) -> RatingTable[Rating]:
        """Return the grades of many answers, one question for each."""
        pairs, (low, high) = check_answers(questions, answers), self.scale
        model, kept = load_backend(self.backend), load_store(self.store)
        wanted = [bool(answer.strip()) for _, answer in pairs]
        prompts, shown = [self.prompt(*pair) for pair in pairs], self.title if progress else ""
        grades = [str(grade) for grade in range(low, high + 1)]
        values = ask_for_grades(model, prompts, wanted, grades, kept, workers=self.workers, progress=shown)
        line = self.signature
        found = [Rating(**grade_parts(one), quality=self.title, signature=line) for one in values]
        return table_of(found, [answer for _, answer in pairs])


def check_answers(questions: object, answers: object) -> list[tuple[str, str]]:
    """Questions and answers as pairs, as many of each."""
    left, right = require_texts(questions, "questions"), require_texts(answers, "answers")
    if len(left) != len(right):
        raise ValueError(f"questions and answers must pair up, but there are {len(left)} and {len(right)}")
    return list(zip(left, right, strict=True))


def grade_parts(value: Said) -> JsonDict:
    """What a grade is made of, as for a rating; None is an answer that is empty."""
    found = rating_parts(value, expected_grade)
    return found | ({"reason": "the answer is empty"} if value is None else {})
