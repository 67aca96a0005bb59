"""Two answers side by side, and rankings of many systems with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from summeval_nb.core.base import JsonDict, Stages, one_bar, require_column, require_count, require_share, require_text
from summeval_nb.core.files import Table, table_records, table_rows
from summeval_nb.core.html import Markup, axes_for, figure_text, html_table, text_table
from summeval_nb.core.metric import Metric, batch, metric
from summeval_nb.core.resampling import drawings, middle
from summeval_nb.core.results import Outcome, Rows, Score, ScoreTable, Signature
from summeval_nb.judged.answers import mean_row, rate_row
from summeval_nb.judged.grading import ModelChoice, ask_for_choices, how_said
from summeval_nb.judged.judging import Entailment, Judge
from summeval_nb.judged.pairwise import CRITERIA, Order, Pair, answer_f1, both_orders, side_by_side_prompt, strengths
from summeval_nb.judged.session import JudgeSession, Reply, load_judge
from summeval_nb.models.base import QUOTING, Backend
from summeval_nb.models.load import StoreOrPath, load_backend
from summeval_nb.models.store import content_key

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "AnswerComparison",
    "SystemRanking",
    "bradley_terry",
    "compare_answers",
    "compare_answers_many",
    "rank_systems",
]

_OPTIONS = ("A", "B", "tie")


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
    failed : bool
        Whether a call to the model, or too many of the judge's, failed.
    """

    winner: str | None = None
    orders: tuple[Order, ...] = ()
    consistent: bool | None = None
    lean: float | None = None
    parts: Mapping[str, float | None] = field(default_factory=dict)
    failed: bool = False

    def row(self) -> JsonDict:
        """Return the one row that a table has for this comparison."""
        return {name: getattr(self, name) for name in ("score", "winner", "consistent", "lean", "reason")}

    def outcome(self) -> Outcome:
        """Return what a run writes down: a failed call is failed, a missing text undefined."""
        found = super().outcome()
        return found._replace(status="failed") if self.failed else found

    @classmethod
    def summarize(cls, table: ScoreTable[Any], *, confidence: float, seed: int) -> list[JsonDict]:
        """Return win rates, the mean preference, and what the order does, with intervals."""
        return _summarise(table.results, confidence, seed)

    def rows(self) -> list[JsonDict]:
        """Return one row for each order."""
        return [asdict(order) for order in self.orders]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        own = {"winner": self.winner, "consistent": self.consistent, "lean": self.lean, "parts": dict(self.parts)}
        return super().to_dict() | own

    def __repr__(self) -> str:
        if self.score is None:
            return f"AnswerComparison(None: {self.reason})"
        order = "" if self.consistent is not False else ", the orders disagree"
        return f"AnswerComparison({self.winner}, preference for a {self.score:.3f}{order})"


def _summarise(found: Sequence[AnswerComparison], confidence: float, seed: int) -> list[JsonDict]:
    """Win rates with Wilson's intervals, the mean preference with a bootstrap interval, and the order's part."""
    judged = [result for result in found if result.score is not None]
    winners = [result.winner for result in judged]
    names = {"a": "a wins", "b": "b wins", "tie": "ties"}
    rows = [rate_row(name, winners.count(kind), len(judged), confidence) for kind, name in names.items()]
    scores = [result.score for result in judged if result.score is not None]
    rows.append(mean_row("preference for a", scores, confidence, seed))
    twice = [result for result in judged if len(result.orders) == 2]
    flips = sum(result.consistent is False for result in twice)
    rows.append(rate_row("orders disagree", flips, len(twice), confidence))
    decided = [order for result in twice for order in result.orders if order.winner in ("a", "b")]
    first = sum(order.winner == order.first for order in decided)
    return [*rows, rate_row("first shown wins", first, len(decided), confidence)]


def _by_model(
    pairs: Sequence[Pair], criteria: str, backend: Backend, *, store: StoreOrPath, workers: int
) -> list[tuple[Order, Order]]:
    """Both orders of each pair, as a language model sees them."""
    prompts = [side_by_side_prompt(pair, swapped, criteria) for pair in pairs for swapped in (False, True)]
    asked = [bool(pair.a.strip() and pair.b.strip()) for pair in pairs for _ in range(2)]
    found = iter(ask_for_choices(backend, prompts, asked, list(_OPTIONS), store=store, workers=workers))
    return [(_order(next(found), "a", "b"), _order(next(found), "b", "a")) for _ in pairs]


def _order(value: ModelChoice, first: str, second: str) -> Order:
    """An order from the options' probabilities, or from a failure."""
    if not isinstance(value, Mapping):
        return Order(first=first, reason="" if value is None else str(value))
    # hard: all of it for the option that was said
    shares = value["probabilities"] or {option: float(option == value["label"]) for option in _OPTIONS}
    total = sum(shares.values())
    chances = {"a": 0.0, "b": 0.0, "tie": shares["tie"] / total}
    chances |= {first: shares["A"] / total, second: shares["B"] / total}
    likeliest = [name for name, chance in chances.items() if chance == max(chances.values())]
    winner = likeliest[0] if len(likeliest) == 1 else "tie"
    return Order(first=first, chances=chances, winner=winner, probability_mass=value["probability_mass"])


# on one answer: what of it is right, what of the truth it covers
Verdicts = tuple[Sequence[Entailment], Sequence[Entailment]]


def _by_judge(pairs: Sequence[Pair], session: JudgeSession) -> list[tuple[Verdicts, Verdicts]]:
    """For both answers of each pair: verdicts on its statements by the truth, and on the truth's by it."""

    def held(pair: Pair, given: str, said: str) -> list[tuple[str, str]]:
        premise, own = session.premise(Reply(pair.question, given)), session.of(Reply(pair.question, said))
        return [(premise, statement) for statement in own]

    stage = Stages(statements=1, judge=4)
    with stage("statements"):
        texts = [(pair.question, text) for pair in pairs for text in (pair.a, pair.b, pair.truth)]
        session.statements(Reply(*own) for own in texts)
    with stage("judge"):
        both_ways = [
            [(held(pair, pair.truth, answer), held(pair, answer, pair.truth)) for answer in (pair.a, pair.b)]
            for pair in pairs
        ]
        session.entail(one for own in both_ways for answer in own for side in answer for one in side)
    verdicts = lambda side: [session.verdict(*one) for one in side]
    return [tuple((verdicts(right), verdicts(covered)) for right, covered in own) for own in both_ways]  # type: ignore[misc]


def _too_many_failed(verdicts: Sequence[Verdicts], max_failed: float) -> str:
    """Why the verdicts on two answers are too few; '' if they are not."""
    for tags in (tags for own in verdicts for tags in own):
        failed = [one for one in tags if one.failed]
        if not tags or len(failed) == len(tags) or len(failed) > max_failed * len(tags):
            why = failed[0].reason if failed else "there is no statement to judge"
            return f"{len(failed)} of {len(tags)} statements could not be judged: {why}"
    return ""


def _without_winner(pair: Pair) -> JsonDict | None:
    """Why there is nothing to compare; None if there is."""
    empty = [name for name in ("a", "b") if not getattr(pair, name).strip()]
    return {"score": None, "reason": f"answer {empty[0]} is empty"} if empty else None


def _from_orders(pair: Pair, orders: tuple[Order, Order]) -> JsonDict:
    if nothing := _without_winner(pair):
        return nothing
    if failed := [one.reason for one in orders if one.winner is None]:
        return {"score": None, "reason": failed[0], "orders": orders, "failed": True}
    return both_orders(*orders) | {"orders": orders}


def _from_verdicts(pair: Pair, verdicts: tuple[Verdicts, Verdicts], margin: float, max_failed: float) -> JsonDict:
    if nothing := _without_winner(pair):
        return nothing
    if not pair.truth.strip():
        return {"score": None, "reason": "there is no truth to hold the answers against: give one, or a backend"}
    if reason := _too_many_failed(verdicts, max_failed):
        return {"score": None, "reason": reason, "failed": True}
    a, b = (answer_f1(*one) or 0.0 for one in verdicts)
    winner = "tie" if abs(a - b) <= margin else "a" if a > b else "b"
    score = {"a": 1.0, "b": 0.0, "tie": 0.5}[winner]
    return {"score": score, "winner": winner, "parts": {"f1 of a": a, "f1 of b": b}}


def _check_pair(question: object, a: object, b: object, truth: object, where: str) -> Pair:
    """A pair whose parts are text; the truth may be missing."""
    given = {"question": question, "a": a, "b": b, "truth": "" if truth is None else truth}
    return Pair(*(require_text(value, f"{where}{name}") for name, value in given.items()))


def _compare(pairs: Sequence[Pair], *, progress: bool | None = None, **how: Any) -> ScoreTable[AnswerComparison]:
    """The comparisons of checked pairs."""
    with one_bar(len(pairs), "comparisons", "pair", show=bool(progress)):
        if how["backend"] is not None:
            model = load_backend(how["backend"])
            orders = _by_model(pairs, how["criteria"], model, store=how["store"], workers=how["workers"])
            found = [_from_orders(*one) for one in zip(pairs, orders, strict=True)]
            said = how_said([asdict(order) for both in orders for order in both if order.winner])
        else:
            verdicts = _by_judge(pairs, JudgeSession(how["judge"], how["store"]))
            allowed = how["margin"], how["max_failed"]
            found = [_from_verdicts(*one, *allowed) for one in zip(pairs, verdicts, strict=True)]
            said = {}
    line = _signature(said=said, **how)
    return ScoreTable([AnswerComparison(signature=line, **one) for one in found], signature=line)


def _signature(*, said: JsonDict | None = None, **how: Any) -> Signature:
    """Every option that could change a number."""
    parts: JsonDict = {"metric": "side_by_side"}
    if how["backend"] is not None:
        example = side_by_side_prompt(Pair("", "", "", "x"), False, how["criteria"])
        prompt = content_key(example, QUOTING)[:8]
        parts |= {"backend": load_backend(how["backend"]).fingerprint, "prompt": prompt, **(said or {})}
    else:
        parts |= {"judge": load_judge(how["judge"]).fingerprint, "margin": str(how["margin"])}
    return Signature(parts | {"max_failed": how["max_failed"]})


def _check_options(*, criteria: object, margin: object, max_failed: object, workers: object, **_: object) -> None:
    require_text(criteria, "criteria")
    require_share(margin, "margin")
    require_share(max_failed, "max_failed")
    require_count(workers, "workers")


@metric("side_by_side", check=_check_options, signature=_signature)
def compare_answers(
    question: str,
    a: str,
    b: str,
    truth: str = "",
    *,
    judge: str | Judge = "embedded",
    backend: Backend | str | None = None,
    criteria: str = CRITERIA,
    margin: float = 0.05,
    max_failed: float = 0.5,
    workers: int = 8,
    store: StoreOrPath = None,
) -> AnswerComparison:
    """Say which of two answers is better, and whether their order decided.

    Parameters
    ----------
    question, a, b : str
        What was asked, and the two answers.
    truth : str
        The true answer. A judge needs it; a backend is shown it where there is one.
    judge : str or Judge
        Who holds both answers against the truth, statement by statement, where there is no backend: `"embedded"`,
        `"nli:FOLDER"`, `"llm:FOLDER"`, or a judge.
    backend : Backend or str, optional
        A language model that reads both answers side by side, in both orders, such as `"llm:FOLDER"` or
        `"llm:NAME@http://HOST:PORT/v1"`.
    criteria : str
        What is better, in words, for the backend.
    margin : float
        In [0, 1]: answers whose F1 differ by no more are a tie, for a judge.
    max_failed : float
        In [0, 1]: with a greater share of failed statements there is no winner.
    workers : int
        How many calls may wait for a server at the same time.
    store : Store or path, optional
        Where replies are kept.

    Returns
    -------
    AnswerComparison
        `winner`, `score` (the preference for a, in [0, 1]), `orders`, `consistent`, `lean`; None with a reason where an
        answer or, for a judge, the truth is empty, or a call failed.

    Raises
    ------
    TypeError, ValueError
        If a text is not a string, the backend is none, a share lies outside [0, 1], or the judge is unknown.

    References
    ----------
    Zheng et al. (2023), "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena".

    Examples
    --------
    >>> true = "It opened in 1931."
    >>> compare_answers(question="When?", a="It opened in 1931.", b="It rained.", truth=true).winner
    'a'
    """
    how: dict[str, Any] = {"judge": judge, "backend": backend, "criteria": criteria, "margin": margin}
    how |= {"max_failed": max_failed, "workers": workers, "store": store}
    _check_options(**how)
    return _compare([_check_pair(question, a, b, truth, "")], **how)[0]


def _compare_table(
    questions: Any, a: Any, b: Any, truths: Any, *, progress: bool | None = None, **how: Any
) -> ScoreTable[AnswerComparison]:
    """The comparisons of many pairs."""
    given = {"question": questions, "a": a, "b": b} | ({} if truths is None else {"truth": truths})
    rows = table_rows({name: require_column(values, name) for name, values in given.items()})
    _check_options(**how)
    pairs = [_check_pair(**{"truth": None, **row}, where=f"row {n}: ") for n, row in enumerate(rows)]
    return _compare(pairs, progress=progress, **how)


compare_answers_many = batch(compare_answers, _compare_table)
vars(compare_answers)["metric"].judged = "a"


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
        Bootstrap intervals over questions; None, with a `reason`, where drawing again shows no spread. That of a
        system that won or lost every vote reaches to the exact bound of such a share.
    wins : mapping of (str, str) to float
        How often the first beat the second; a tie counts half for both.
    """

    systems: tuple[str, ...]
    strengths: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float] | None]
    wins: Mapping[tuple[str, str], float]
    signature: Signature
    reason: str = ""
    comparisons: ScoreTable[AnswerComparison] | None = None

    def rank(self, system: str) -> int | None:
        """Return 1 and one more for each system whose whole interval lies above this
        one's; None if undefined."""
        own = self.intervals[system]
        if own is None:
            return None
        return 1 + sum(interval is not None and interval[0] > own[1] for interval in self.intervals.values())

    def rows(self) -> list[JsonDict]:
        """Return one row for each system, best first."""
        rows = []
        for system in self.systems:
            won = sum(count for (winner, _), count in self.wins.items() if winner == system)
            met = won + sum(count for (_, loser), count in self.wins.items() if loser == system)
            low, high = self.intervals[system] or (None, None)
            rate = won / met if met else None
            numbers = {"strength": self.strengths[system], "low": low, "high": high}
            rows.append(
                {
                    "system": system,
                    "rank": self.rank(system),
                    **numbers,
                    "win rate": rate,
                    "comparisons": met,
                }
            )
        return rows

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        wins = [{"winner": a, "loser": b, "count": count} for (a, b), count in self.wins.items()]
        found = {
            "rows": self.rows(),
            "wins": wins,
            "reason": self.reason,
            "signature": str(self.signature),
        }
        return found | ({} if self.comparisons is None else {"comparisons": self.comparisons.to_dict()})

    def __repr__(self) -> str:
        told = self.reason or f"{len(self.systems)} systems"
        return f"SystemRanking({told})\n{text_table(self.rows())}"

    def _repr_html_(self) -> Markup:
        return html_table(
            self.rows(),
            caption=self.reason or "Systems, best first",
            note=str(self.signature),
        )

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw strengths with their intervals; returns the axes."""
        ax = axes_for(ax, 5, 0.8 + 0.4 * len(self.systems))
        for place, system in enumerate(reversed(self.systems)):
            strength, interval = self.strengths[system], self.intervals[system]
            if strength is None:
                continue
            if interval is not None:
                ax.plot(interval, [place, place], color="#8fc1e8", linewidth=5)
            ax.plot([strength], [place], "o", color="#1f5f8b")
        ax.set_yticks(
            range(len(self.systems)),
            [figure_text(system) for system in reversed(self.systems)],
        )
        ax.set_ylim(-0.6, len(self.systems) - 0.4)  # no row lies on the axis
        ax.axvline(0, color="#888888", linewidth=0.8)
        ax.set_xlabel("strength (log-odds against an average system)")
        return ax


class Vote(NamedTuple):
    """One comparison of two systems: the winner is one of them, or "tie".

    `unit` says what it was about.
    """

    first: str
    second: str
    winner: str
    unit: Hashable = None


def _read_votes(outcomes: Iterable[object]) -> list[Vote]:
    """Votes from (system, other, winner) or (system, other, winner, unit)."""
    votes = []
    for number, outcome in enumerate(outcomes):
        if isinstance(outcome, (str, bytes)) or not isinstance(outcome, Sequence) or not 3 <= len(outcome) <= 4:
            raise TypeError(f"outcome {number} must be (system, other, winner), not {outcome!r:.60}")
        first, second, winner = (require_text(value, f"outcome {number}") for value in outcome[:3])
        if first == second or "tie" in (first, second):
            raise ValueError(f"outcome {number} must name two systems, none called 'tie', not {first!r} and {second!r}")
        if winner not in (first, second, "tie"):
            raise ValueError(f"the winner of outcome {number} must be {first!r}, {second!r} or 'tie', not {winner!r}")
        votes.append(Vote(first, second, winner, outcome[3] if len(outcome) == 4 else number))
    if not votes:
        raise ValueError("there are no outcomes to rank by")
    return votes


def _win_matrix(votes: Sequence[Vote], systems: Sequence[str]) -> np.ndarray:
    """How often each system (row) beat each other (column).

    A tie counts half for both.
    """
    place = {name: i for i, name in enumerate(systems)}
    wins = np.zeros((len(systems), len(systems)))
    for vote in votes:
        i, j = place[vote.first], place[vote.second]
        share = 0.5 if vote.winner == "tie" else float(vote.winner == vote.first)
        wins[i, j] += share
        wins[j, i] += 1 - share
    return wins


def _resampled(
    votes: Sequence[Vote],
    systems: Sequence[str],
    fit: Callable[[np.ndarray], np.ndarray | None],
    *,
    n_resamples: int,
    confidence: float,
    seed: int,
) -> list[tuple[float, float] | None]:
    """Percentile intervals of each system's strength, drawing units again;

    None where too few could be fitted.
    """
    units: dict[Hashable, list[Vote]] = {}
    for vote in votes:
        units.setdefault(vote.unit, []).append(vote)
    tables = np.stack([_win_matrix(own, systems) for own in units.values()])
    if n_resamples < 2 or len(tables) < 2:
        return [None] * len(systems)
    found = [fit(tables[vote].sum(axis=0)) for batch in drawings(len(tables), n_resamples, seed) for vote in batch]
    none = np.full(len(systems), np.nan)
    values = np.stack([none if row is None else row for row in found])
    ends = [middle(column, confidence).interval for column in values.T]
    own = fit(tables.sum(axis=0))
    if own is None or not np.ptp(own):
        return ends
    # A system that never lost, or never won, does so in every drawing. The exact bound of a share of n out of n
    # (Clopper and Pearson) says how close to the others it may be: with five units or fewer, not apart from them.
    net = np.sign(tables.sum(axis=2) - tables.sum(axis=1))
    for place, value in enumerate(own.tolist()):
        won, lost = (int((net[:, place] == sign).sum()) for sign in (1, -1))
        if won + lost and not won * lost:
            share = ((1 - confidence) / 2) ** (1 / (won + lost))
            near = value * math.log(share / (1 - share)) / float(np.ptp(own))
            known = (*(ends[place] or ()), value, near)
            ends[place] = (min(known), max(known))
    return ends


class Entry(NamedTuple):
    """One system's answer to one question."""

    question: str
    system: str
    answer: str
    truth: str


def _read_entries(table: Table) -> list[Entry]:
    """Rows of a table as one system's answers; the truth may be missing."""
    entries = []
    columns = ["question", "system", "answer", "truth"]
    for i, record in enumerate(table_records(table, columns, optional=["truth"])):
        cells = record | {"truth": record["truth"] or ""}
        entries.append(Entry(**{name: require_text(cell, f"row {i}: {name}") for name, cell in cells.items()}))
    seen = {(entry.question, entry.system) for entry in entries}
    if len(seen) < len(entries):
        raise ValueError("a system answers a question twice: each (question, system) may stand once")
    if len({entry.system for entry in entries}) < 2:
        raise ValueError("a ranking needs two systems at least: fill the column 'system'")
    return entries


def _meetings(entries: Sequence[Entry]) -> list[tuple[Entry, Entry]]:
    """Every two systems that answered the same question, in the order of the table."""
    by_question: dict[str, list[Entry]] = {}
    for entry in entries:
        by_question.setdefault(entry.question, []).append(entry)
    return [pair for own in by_question.values() for pair in combinations(own, 2)]


def _as_outcomes(
    met: Sequence[tuple[Entry, Entry]], found: ScoreTable[AnswerComparison]
) -> list[tuple[str, str, str, str]]:
    """Votes from comparisons; those without a winner are left out."""
    named = {"a": 0, "b": 1}
    votes = [
        (
            entry.system,
            other.system,
            "tie" if result.winner == "tie" else (entry, other)[named[result.winner]].system,
            entry.question,
        )
        for (entry, other), result in zip(met, found.results, strict=True)
        if result.winner is not None
    ]
    if not votes:
        why = next(
            (result.reason for result in found.results if result.reason),
            "no two systems answered the same question",
        )
        raise ValueError(f"no comparison has a winner: {why}")
    return votes


def _with_comparisons(found: SystemRanking, table: ScoreTable[AnswerComparison]) -> SystemRanking:
    """A ranking with what it was made of."""
    parts = dict(found.signature) | {n: v for n, v in table.signature.items() if n not in ("metric", "version")}
    return replace(found, comparisons=table, signature=Signature(parts))


def bradley_terry(
    outcomes: Iterable[Sequence[Hashable]],
    *,
    prior: float = 0.5,
    n_resamples: int = 200,
    confidence: float = 0.95,
    seed: int = 0,
) -> SystemRanking:
    """Rank systems by votes, of models or of people.

    Parameters
    ----------
    outcomes : iterable of (system, other, winner) or (system, other, winner, unit)
        The winner is one of the two, or `"tie"`. Votes of one unit, such as a
        question, are drawn together; by default each is its own.
    prior : float
        Wins added for each of any two systems against the other, at least 0.
    n_resamples : int
        How often units, such as questions, are drawn again for the intervals; 0 for none.
    confidence : float
        In (0, 1).
    seed : int
        For the drawing.

    Returns
    -------
    SystemRanking
        Systems best first, with strengths, intervals and ranks. Two systems share a
        rank unless one's interval lies wholly above the other's.

    Raises
    ------
    ValueError, TypeError
        If there is no outcome, or one is not as described.

    References
    ----------
    Bradley and Terry (1952), "Rank Analysis of Incomplete Block Designs".

    Examples
    --------
    >>> bradley_terry([("x", "y", "x"), ("x", "y", "x"), ("y", "x", "tie")]).systems
    ('x', 'y')
    """
    votes = _read_votes(outcomes)
    names = list(dict.fromkeys(name for vote in votes for name in vote[:2]))
    sure = require_share(confidence, "confidence")
    times = require_count(n_resamples, "n_resamples", minimum=0)
    share = require_share(prior, "prior")
    wins = _win_matrix(votes, names)
    found = strengths(wins, share)
    values: Sequence[float | None] = [None] * len(names)
    ends: Sequence[tuple[float, float] | None] = [None] * len(names)
    if found is not None:
        values = [float(strength) for strength in found]
        drawn = votes, names, lambda table: strengths(table, share)
        ends = _resampled(*drawn, n_resamples=times, confidence=sure, seed=seed)
    order = np.argsort(-(wins.sum(axis=1) if found is None else found), kind="stable")
    why = "some systems won or lost every vote against the rest: their strength is not finite, use a prior"
    alike = "no interval: drawing the votes again shows no spread" if times > 1 and None in ends else ""
    return SystemRanking(
        systems=tuple(names[i] for i in order),
        strengths=dict(zip(names, values, strict=True)),
        intervals=dict(zip(names, ends, strict=True)),
        wins={(a, b): float(wins[i, j]) for i, a in enumerate(names) for j, b in enumerate(names) if i != j},
        signature=Signature(
            {
                "metric": "bradley_terry",
                "prior": share,
                "confidence": sure,
                "seed": seed,
                "n_resamples": times,
            }
        ),
        reason=why if found is None else alike,
    )


def rank_systems(
    table: Table,
    *,
    prior: float = 0.5,
    n_resamples: int = 200,
    progress: bool = True,
    **options: Any,
) -> SystemRanking:
    """Compare every two systems on every question, and rank them.

    Parameters
    ----------
    table : DataFrame, datasets.Dataset, list of dicts, or dict of columns
        Columns `question`, `system`, `answer`, and `truth` where there is one.
    prior, n_resamples
        As for `bradley_terry`.
    progress : bool
        Whether to show a progress bar.
    **options
        As for `compare_answers`.

    Returns
    -------
    SystemRanking
        As of `bradley_terry`, with all `comparisons`; questions are drawn.

    Examples
    --------
    >>> row = {"question": "How was it?", "truth": "It rained."}
    >>> x = row | {"system": "x", "answer": "It rained."}
    >>> rows = [x, row | {"system": "y", "answer": "It snowed."}]
    >>> rank_systems(rows, progress=False).systems
    ('x', 'y')
    """
    met = _meetings(_read_entries(table))
    pairs = [Pair(entry.question, entry.answer, other.answer, entry.truth) for entry, other in met]
    columns = [list(column) for column in zip(*pairs, strict=True)] or [[]] * 4
    found = Metric(compare_answers, **options).score_many(*columns, progress=progress)
    outcomes = _as_outcomes(met, found)
    ranked = bradley_terry(outcomes, prior=prior, n_resamples=n_resamples)
    return _with_comparisons(ranked, found)
