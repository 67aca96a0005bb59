"""Grades by a language model, two answers side by side, and rankings of many systems with intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import (
    JsonDict,
    Stages,
    one_bar,
    plt,
    require_column,
    require_count,
    require_option,
    require_share,
    require_text,
    require_texts,
    steps,
    warn_of_order,
)
from summeval_nb.core.files import Table, table_records, table_rows
from summeval_nb.core.html import axes_for, draw_interval, figure_text
from summeval_nb.core.metric import Metric, batch, metric
from summeval_nb.core.resampling import drawings, middle
from summeval_nb.core.results import Rows, Score, ScoreTable, Signature, mean_row, rate_row
from summeval_nb.judged.correctness import correctness
from summeval_nb.judged.judging import Entailment, Judge
from summeval_nb.judged.pairwise import (
    CRITERIA,
    Order,
    Pair,
    both_orders,
    rubric_prompt,
    side_by_side_prompt,
    strengths,
)
from summeval_nb.judged.ratings import QUALITY_DEFINITIONS, RATING_PROMPT, expected_rating, rating_prompt
from summeval_nb.judged.session import JudgeSession, Reply, load_judge
from summeval_nb.models.base import LOW_MASS, QUOTING, Backend, BackendError, Choice, counted_as
from summeval_nb.models.local import load_backend
from summeval_nb.models.store import StoreOrPath, content_key, fill_missing, load_store

__all__ = ["AnswerComparison", "Rating", "bradley_terry", "compare_answers", "compare_answers_many", "rank_systems"]
__all__ += ["rate", "rate_many", "rubric_many", "rubric_score"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Rating(Score):
    """A grade read from a model's probabilities, or from its reply.

    Parameters
    ----------
    score : float or None
        The expected grade, within the scale; the grade itself where the model's server
        gives no probabilities; None with a reason when the model could not be asked.
    quality : str
        What was rated; `"rubric"` for words of your own.
    distribution : mapping of int to float
        The probability of each grade, or its share of the samples, summing to 1; empty
        when there is no score, or no probability behind it.
    probability_mass : float or None
        How much of the model's whole probability the grades held, in [0, 1]; None when
        it gave none.
    note : str
        What a reader should know, such as a low mass.
    failed : bool
        Whether the model was asked and gave no grade.
    """

    quality: str = ""
    distribution: Mapping[int, float] = field(default_factory=dict)
    probability_mass: float | None = None
    note: str = ""
    failed: bool = False
    more: ClassVar = ("quality", "probability_mass", "spread", "note")

    @property
    def spread(self) -> float | None:
        """The standard deviation of the distribution: how undecided the model is."""
        if self.score is None or not self.distribution:
            return None
        return math.sqrt(sum(share * (grade - self.score) ** 2 for grade, share in self.distribution.items()))

    @property
    def likeliest(self) -> int | None:
        """The grade with the greatest probability; the lower one of a tie."""
        return max(self.distribution, key=lambda grade: (self.distribution[grade], -grade), default=None)

    def row(self) -> JsonDict:
        """Return the one row that a table has for this rating."""
        return {name: getattr(self, name) for name in ("score", "spread", "probability_mass", "note", "reason")}

    def rows(self) -> list[JsonDict]:
        """Return one row for each grade."""
        return [{"grade": grade, "probability": share} for grade, share in self.distribution.items()]

    def plot(self, *, ax: plt.Axes | None = None) -> plt.Axes:
        """Draw the distribution with the expected grade as a line; returns the axes."""
        ax = axes_for(ax, 4, 2.6)
        grades = [str(grade) for grade in self.distribution]
        ax.bar(grades, list(self.distribution.values()), color="#8fc1e8", edgecolor="#1f5f8b")
        if self.score is not None and self.distribution:
            ax.axvline(self.score - min(self.distribution), color="#b35c00", linewidth=2)
        number = "undefined" if self.score is None else f"{self.score:.2f}"
        title = figure_text(f"{self.quality}: expected grade {number}")
        ax.set(xlabel="grade", ylabel="probability", ylim=(0, 1), title=title)
        return ax


# what a model said: a choice as a dictionary, a failed call, or None where nothing was asked
ModelChoice: TypeAlias = Mapping[str, Any] | BackendError | None


def _ask_for_choices(
    prompts: Sequence[str],
    asked: Sequence[bool],
    options: list[str],
    *,
    judge: Backend | str,
    store: StoreOrPath,
    workers: int,
    progress: str = "",
    samples: int = 0,
    **_: object,
) -> list[ModelChoice]:
    """The choice for each prompt, from the store or the model: shares of samples, an error, None if not asked."""
    model = language_model(judge)
    put = [prompt for prompt, wanted in zip(prompts, asked, strict=True) if wanted]
    draws: list[dict[str, int]] = [{"sample": i} for i in range(samples)] or [{}]
    questions = [(draw, prompt) for draw in draws for prompt in put]
    reached = list[int]()

    def compute(batch: list[int]) -> list[ModelChoice]:
        reached.extend(batch)
        chosen: list[Choice | BackendError] = []
        drawn = itertools.groupby(batch, lambda i: questions[i][0])
        groups = [(draw, [questions[i][1] for i in group]) for draw, group in drawn]
        for draw, own in steps(groups, [len(own) for _, own in groups]):
            chosen += model.choose_many(own, options, workers=workers, **draw)
        return [choice if isinstance(choice, BackendError) else choice.to_dict() for choice in chosen]

    def shared_out(found: Sequence[ModelChoice]) -> ModelChoice:
        """One choice from those of several samples, with their shares; the first failure, if there is one."""
        if len(found) == 1:
            return found[0]
        said = []
        for choice in found:
            if not isinstance(choice, Mapping):
                return choice
            said.append(str(choice["label"]))
        shares = {option: said.count(option) / len(said) for option in options}
        return {"label": max(options, key=shares.__getitem__), "probabilities": shares, "probability_mass": None}

    keys = [content_key("rating", model.fingerprint, prompt, options, *draw.values()) for draw, prompt in questions]
    bar = one_bar(len(prompts), progress, "text", show=bool(progress))
    with bar, counted_as("rating", model, len(questions)) as count:
        found = fill_missing(load_store(store), "rating", keys, compute)
        count(from_store=len(questions) - len(reached))
    values = iter([shared_out(found[i :: len(put)]) for i in range(len(put))])
    return [next(values) if wanted else None for wanted in asked]


def language_model(judge: Backend | str) -> Backend:
    """Return the language model that was named or given; a checker is refused, for it gives no grades."""
    if isinstance(judge, str) and not judge.startswith("llm:"):
        remedy = "name one, as in judge='llm:FOLDER' or 'llm:NAME@http://HOST:PORT/v1'"
        raise ValueError(f"a language model is needed, which {redacted(judge)!r:.80} is not: {remedy}")
    return load_backend(judge, "judge")


def _how_said(masses: Iterable[float | None], samples: int = 0) -> JsonDict:
    """What a signature says of choices without a model's probabilities."""
    return {"samples": samples} if samples else {"choices": "hard"} if None in masses else {}


def _as_rating(value: ModelChoice, nothing: str, **rest: Any) -> Rating:
    """A rating from the grades' probabilities, from a failure, or (None) from nothing to ask."""
    if not isinstance(value, Mapping):
        failed = value is not None
        return Rating(score=None, reason=str(value) if failed else nothing, failed=failed, **rest)
    shares = {int(grade): float(share) for grade, share in value["probabilities"].items()}
    total, mass, note = math.fsum(shares.values()), value["probability_mass"], ""
    if mass is None:
        note = "shares of samples" if shares else "hard: the model gave no probabilities"
    elif mass < LOW_MASS:
        note = f"the grades held only {mass:.2g} of the model's probability"
    return Rating(
        score=expected_rating(shares) if shares else float(value["label"]),
        distribution={grade: share / total for grade, share in shares.items()},
        probability_mass=mass,
        note=note,
        **rest,
    )


def require_grading(scale: object, samples: object, workers: object) -> tuple[int, int]:
    """Check how grades are given, and return the scale: two whole numbers, 0 <= low < high <= 100."""
    require_count(samples, "samples", minimum=0)
    require_count(workers, "workers")
    if not isinstance(scale, (tuple, list)) or len(scale) != 2:
        raise TypeError(f"scale must be two whole numbers such as (1, 5), not {scale!r}")
    low, high = (require_count(value, "scale", minimum=0) for value in scale)
    if not low < high <= 100:
        raise ValueError(f"scale must run upwards within 0 and 100, not {low} to {high}")
    return low, high


def require_graded(quality: str | None, rubric: str | None) -> str:
    """Return what is graded: one of the known qualities, or "rubric" for words of your own."""
    if quality is None and rubric is None or quality and rubric is not None:
        known = ", ".join(map(repr, QUALITY_DEFINITIONS))
        remedy = "in your own words, rubric='Is the summary polite?'"
        raise ValueError(f"say what is graded: a quality ({known}) or, {remedy}")
    if rubric is None:
        return require_option(quality, "quality", QUALITY_DEFINITIONS)
    if not require_text(rubric, "rubric").strip():
        raise ValueError("the rubric is empty: say in words what is graded")
    return "rubric"


def _grade(
    named: tuple[str, str],
    columns: tuple[object, object],
    prompt: Callable[..., str],
    line: Signature,
    title: str,
    progress: bool | None,
    how: Mapping[str, Any],
) -> ScoreTable[Rating]:
    """The ratings of the second of two columns, one prompt for each row; a blank text is not asked about."""
    left, right = (require_texts(values, name) for values, name in zip(columns, named, strict=True))
    if len(left) != len(right):
        counts = f"there are {len(left)} {named[0]} and {len(right)} {named[1]}"
        raise ValueError(f"{' and '.join(named)} must pair up, but {counts}")
    low, high = how["scale"]
    grades, asked = [str(grade) for grade in range(low, high + 1)], [bool(text.strip()) for text in right]
    prompts = list(map(prompt, left, right))
    values = _ask_for_choices(prompts, asked, grades, progress=title if progress else "", **how)
    masses = [value["probability_mass"] for value in values if isinstance(value, Mapping)]
    line = Signature({**line, **_how_said(masses, how["samples"])})
    nothing = "the summary is empty" if named[1] == "summaries" else "the answer is empty"
    return ScoreTable([_as_rating(value, nothing, quality=title, signature=line) for value in values], signature=line)


def _grade_signature(parts: Mapping[str, object], version: Sequence[object], how: Mapping[str, Any]) -> Signature:
    """Every option that could change a grade."""
    low, high = how["scale"]
    model = {"backend": language_model(how["judge"]).fingerprint, "prompt": content_key(*version, QUOTING)[:8]}
    return Signature({**parts, "scale": f"{low}-{high}", **model, **_how_said([], how["samples"])})


def _check_rating(*, quality: str | None, rubric: str | None, scale: Any, samples: Any, workers: Any, **_: Any) -> str:
    require_grading(scale, samples, workers)
    return require_graded(quality, rubric)


def _rating_signature(*, quality: str | None, rubric: str | None, **how: Any) -> Signature:
    told = dict(QUALITY_DEFINITIONS) if rubric is None else {"rubric": rubric}
    return _grade_signature(
        {"metric": "rating", "quality": require_graded(quality, rubric)}, [RATING_PROMPT, told], how
    )


@metric("rating", check=_check_rating, signature=_rating_signature)
def rate(
    text: str,
    summary: str,
    *,
    quality: str | None = None,
    rubric: str | None = None,
    judge: Backend | str,
    scale: tuple[int, int] = (1, 5),
    samples: int = 0,
    workers: int = 8,
    store: StoreOrPath = None,
) -> Rating:
    """Grade a summary: the expected grade under the model's own probabilities.

    Where the model's server gives none, the score is the grade that its reply states.

    Parameters
    ----------
    text : str
        The article. It is shown for every quality but fluency.
    summary : str
        The summary.
    quality : "coherence", "consistency", "fluency" or "relevance"
        What to grade; `QUALITY_DEFINITIONS` has the words.
    rubric : str
        What to grade in your own words, instead of a quality: what a good and a bad
        summary are. It stands in the prompt as it is.
    judge : Backend or str
        A language model, or its name as in `"llm:FOLDER"` or `"llm:NAME@http://HOST:PORT/v1"`. There is no
        rating without one.
    scale : (int, int)
        The lowest and the highest grade, within 0 and 100.
    samples : int
        With n of them the model is asked n times at a temperature of 1, and the score
        is the mean of its grades; 0: it is asked once, for its probabilities.
    workers : int
        How many calls may wait for a server at the same time.
    store : Store or path, optional
        Where probabilities are kept.

    Returns
    -------
    Rating
        `score` within the scale, `distribution`, `probability_mass`, `spread`; score
        None with a reason when the call failed.

    Raises
    ------
    ValueError
        If the quality is unknown, a rubric is given with it or neither is, the scale makes
        no sense, or the judge is the name of no language model.
    TypeError
        If a text is not a string, or the judge is no language model.

    References
    ----------
    Fabbri et al. (2021), "SummEval: Re-evaluating Summarization Evaluation".
    Liu et al. (2023), "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment".

    Examples
    --------
    >>> from summeval_nb.models.base import ScriptedBackend
    >>> judge = ScriptedBackend(lambda prompt: "4")
    >>> rate(text="It rained.", summary="Rain.", quality="fluency", judge=judge).score
    4.0
    >>> polite = "Is the summary polite? 5: very. 1: it insults somebody."
    >>> rate(text="It rained.", summary="Rain.", rubric=polite, judge=judge).score
    4.0
    """
    how = locals()
    texts = [[require_text(how.pop(name), name)] for name in ("text", "summary")]
    return _rate_table(*texts, **how)[0]


def _rate_table(texts: Any, summaries: Any, *, progress: bool | None = None, **how: Any) -> ScoreTable[Rating]:
    """The ratings of many summaries."""
    title = _check_rating(**how)
    told = {name: how[name] for name in ("quality", "rubric", "scale")}
    prompt = lambda text, summary: rating_prompt(text, summary, **told)
    line = _rating_signature(**how)
    texts, summaries = require_texts(texts, "texts"), require_texts(summaries, "summaries")
    sizes = [(len(text.strip()), len(summary)) for text, summary in zip(texts, summaries, strict=False)]
    warn_of_order(sizes, remedy="the article comes first, rate(text, summary)")
    return _grade(("texts", "summaries"), (texts, summaries), prompt, line, title, progress, how)


rate_many = batch(rate, _rate_table)


def _check_rubric(*, rubric: Any, steps: Any, title: Any, scale: Any, samples: Any, workers: Any, **_: Any) -> None:
    if not require_text(rubric, "rubric").strip():
        raise ValueError("the rubric is empty: say in words what is graded")
    require_texts(steps, "steps")
    require_text(title, "title")
    require_grading(scale, samples, workers)


def _rubric_signature(*, rubric: str, steps: Sequence[str], title: str, **how: Any) -> Signature:
    example = rubric_prompt("", "", rubric=rubric, steps=steps, scale=how["scale"])
    return _grade_signature({"metric": "rubric", "title": title}, [example], how)


@metric("rubric", check=_check_rubric, signature=_rubric_signature)
def rubric_score(
    question: str,
    answer: str,
    *,
    rubric: str,
    judge: Backend | str,
    steps: Sequence[str] = (),
    scale: tuple[int, int] = (1, 5),
    title: str = "rubric",
    samples: int = 0,
    workers: int = 8,
    store: StoreOrPath = None,
) -> Rating:
    """Grade an answer by a rubric of your own: the expected grade under the model's own probabilities.

    Parameters
    ----------
    question : str
        What was asked; it may be empty.
    answer : str
        The answer.
    rubric : str
        What is graded, and what a good and a bad answer are, in words.
    steps : sequence of str
        What to look at, one after the other.
    title : str
        A short name for pictures and tables.
    judge, scale, samples, workers, store
        As for `rate`.

    Returns
    -------
    Rating
        As of `rate`; None with a reason where the answer is empty or the call failed.

    Raises
    ------
    TypeError, ValueError
        If a text is none, the rubric is empty, or the scale makes no sense.

    References
    ----------
    Liu et al. (2023), "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment".

    Examples
    --------
    >>> from summeval_nb.models.base import ScriptedBackend
    >>> judge = ScriptedBackend(lambda prompt: "4")
    >>> rubric_score("When?", "At nine, thank you.", rubric="Is the answer polite?", judge=judge).score
    4.0
    """
    how = locals()
    texts = [[require_text(how.pop(name), name)] for name in ("question", "answer")]
    return _rubric_table(*texts, **how)[0]


def _rubric_table(questions: Any, answers: Any, *, progress: bool | None = None, **how: Any) -> ScoreTable[Rating]:
    """The grades of many answers, one question for each."""
    _check_rubric(**how)
    told = {name: how[name] for name in ("rubric", "steps", "scale")}
    prompt = lambda question, answer: rubric_prompt(question, answer, **told)
    given = ("questions", "answers"), (questions, answers)
    return _grade(*given, prompt, _rubric_signature(**how), how["title"], progress, how)


rubric_many = batch(rubric_score, _rubric_table)


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
    more: ClassVar = ("winner", "consistent", "lean", "parts")

    def row(self) -> JsonDict:
        """Return the one row that a table has for this comparison."""
        return {name: getattr(self, name) for name in ("score", "winner", "consistent", "lean", "reason")}

    @classmethod
    def summarize(cls, table: ScoreTable[Any], *, confidence: float, seed: int) -> list[JsonDict]:
        """Return win rates, the mean preference, and what the order does, with intervals."""
        judged = [result for result in table.results if result.score is not None]
        winners = [result.winner for result in judged]
        names = {"a": "a wins", "b": "b wins", "tie": "ties"}
        rows = [rate_row(name, winners.count(kind), len(judged), confidence) for kind, name in names.items()]
        rows.append(mean_row("preference for a", [result.score for result in judged], confidence, seed))
        twice = [result for result in judged if len(result.orders) == 2]
        flips = sum(result.consistent is False for result in twice)
        rows.append(rate_row("orders disagree", flips, len(twice), confidence))
        decided = [order for result in twice for order in result.orders if order.winner in ("a", "b")]
        first = sum(order.winner == order.first for order in decided)
        return [*rows, rate_row("first shown wins", first, len(decided), confidence)]

    def rows(self) -> list[JsonDict]:
        """Return one row for each order."""
        return [asdict(order) for order in self.orders]

    def __repr__(self) -> str:
        if self.score is None:
            return f"AnswerComparison(None: {self.reason})"
        order = "" if self.consistent is not False else ", the orders disagree"
        return f"AnswerComparison({self.winner}, preference for a {self.score:.3f}{order})"


_OPTIONS = ("A", "B", "tie")


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


def _reads_both(judge: object) -> bool:
    """Whether this is a language model, which reads both answers side by side."""
    return judge.startswith("llm:") if isinstance(judge, str) else hasattr(judge, "choose_many")


def _by_model(pairs: Sequence[Pair], how: Mapping[str, Any]) -> tuple[list[JsonDict], JsonDict]:
    """What a language model says of each pair in both orders, and how it said so."""
    prompts = [side_by_side_prompt(pair, swapped, how["rubric"]) for pair in pairs for swapped in (False, True)]
    asked = [bool(pair.a.strip() and pair.b.strip()) for pair in pairs for _ in range(2)]
    choices = iter(_ask_for_choices(prompts, asked, list(_OPTIONS), **how))
    orders = [(_order(next(choices), "a", "b"), _order(next(choices), "b", "a")) for _ in pairs]

    def result(both: tuple[Order, Order]) -> JsonDict:
        if failed := [one.reason for one in both if one.winner is None]:
            return {"score": None, "reason": failed[0], "orders": both, "failed": True}
        return both_orders(*both) | {"orders": both}

    said = _how_said(order.probability_mass for both in orders for order in both if order.winner)
    return list(map(result, orders)), said


# on one answer: what of it is right, what of the true one it covers
Verdicts = Sequence[Sequence[Entailment]]


def _by_judge(pairs: Sequence[Pair], how: Mapping[str, Any]) -> list[JsonDict]:
    """The F1 of both answers of each pair, from statements held against the true answer and the other way round."""
    session = JudgeSession(how["judge"], how["store"])

    def held(pair: Pair, given: str, said: str) -> list[tuple[str, str]]:
        premise, own = session.premise(Reply(pair.question, given)), session.of(Reply(pair.question, said))
        return [(premise, statement) for statement in own]

    stage = Stages(statements=1, judge=4)
    with stage("statements"):
        texts = [(pair.question, text) for pair in pairs for text in (pair.a, pair.b, pair.ground_truth)]
        session.statements(Reply(*own) for own in texts)
    with stage("judge"):
        both = lambda pair, said: [held(pair, pair.ground_truth, said), held(pair, said, pair.ground_truth)]
        both_ways = [[both(pair, pair.a), both(pair, pair.b)] for pair in pairs]
        session.entail(one for own in both_ways for answer in own for side in answer for one in side)
    verdicts = [[[[session.verdict(*one) for one in side] for side in own] for own in both] for both in both_ways]
    return [_from_verdicts(pair, own, how) for pair, own in zip(pairs, verdicts, strict=True)]


def _from_verdicts(pair: Pair, verdicts: Sequence[Verdicts], how: Mapping[str, Any]) -> JsonDict:
    if not pair.ground_truth.strip():
        none = "there is no true answer to hold the two against: give one, or a language model as judge"
        return {"score": None, "reason": none}
    for tags in (tags for own in verdicts for tags in own):
        failed = [one for one in tags if one.failed]
        if not tags or len(failed) == len(tags) or len(failed) > how["max_failed"] * len(tags):
            why = failed[0].reason if failed else "there is no statement to judge"
            reason = f"{len(failed)} of {len(tags)} statements could not be judged: {why}"
            return {"score": None, "reason": reason, "failed": True}
    a, b = (correctness(*own).f1 or 0.0 for own in verdicts)
    winner = "tie" if abs(a - b) <= how["margin"] else "a" if a > b else "b"
    score = {"a": 1.0, "b": 0.0, "tie": 0.5}[winner]
    return {"score": score, "winner": winner, "parts": {"f1_a": a, "f1_b": b}}


def _check_pair(question: object, a: object, b: object, ground_truth: object = None, where: str = "") -> Pair:
    """A pair whose parts are text; the true answer may be missing."""
    given = {"question": question, "a": a, "b": b, "ground_truth": "" if ground_truth is None else ground_truth}
    return Pair(*(require_text(value, f"{where}{name}") for name, value in given.items()))


def _compare(pairs: Sequence[Pair], *, progress: bool | None = None, **how: Any) -> ScoreTable[AnswerComparison]:
    """The comparisons of checked pairs."""
    said: JsonDict = {}
    with one_bar(len(pairs), "comparisons", "pair", show=bool(progress)):
        if _reads_both(how["judge"]):
            found, said = _by_model(pairs, how)
        else:
            found = _by_judge(pairs, how)
    line = _comparison_signature(said=said, **how)
    for place, pair in enumerate(pairs):
        if empty := [name for name in ("a", "b") if not getattr(pair, name).strip()]:
            found[place] = {"score": None, "reason": f"answer {empty[0]} is empty"}
    return ScoreTable([AnswerComparison(signature=line, **one) for one in found], signature=line)


def _comparison_signature(*, said: JsonDict | None = None, **how: Any) -> Signature:
    """Every option that could change a number."""
    parts: JsonDict = {"metric": "side_by_side"}
    if _reads_both(how["judge"]):
        example = side_by_side_prompt(Pair("", "", "", "x"), False, how["rubric"])
        prompt = content_key(example, QUOTING)[:8]
        parts |= {"backend": language_model(how["judge"]).fingerprint, "prompt": prompt, **(said or {})}
    else:
        parts |= {"judge": load_judge(how["judge"]).fingerprint, "margin": str(how["margin"])}
    return Signature(parts | {"max_failed": how["max_failed"]})


def _check_comparison(*, rubric: object, margin: object, max_failed: object, workers: object, **_: object) -> None:
    require_text(rubric, "rubric")
    require_share(margin, "margin")
    require_share(max_failed, "max_failed")
    require_count(workers, "workers")


@metric("side_by_side", check=_check_comparison, signature=_comparison_signature)
def compare_answers(
    question: str,
    a: str,
    b: str,
    ground_truth: str = "",
    *,
    judge: str | Judge | Backend = "embedded",
    rubric: str = CRITERIA,
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
    ground_truth : str
        The true answer, against which a judge holds both; a language model is shown it where there is one.
    judge : str, Judge or Backend
        `"embedded"`, `"words"`, `"nli:FOLDER"` or a judge, such as `LLMJudge(backend)`, holds both answers against the
        true one, statement by statement. A language model, `"llm:FOLDER"`, `"llm:NAME@http://HOST:PORT/v1"` or a
        backend, reads both side by side, in both orders.
    rubric : str
        What is better, in words, for a language model.
    margin : float
        In [0, 1]: answers whose F1 differ by no more are a tie, where they are held against the true answer.
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
        answer or a true one that is needed is empty, or a call failed.

    Raises
    ------
    TypeError, ValueError
        If a text is not a string, a share lies outside [0, 1], or the judge is none or unknown.

    References
    ----------
    Zheng et al. (2023), "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena".

    Examples
    --------
    >>> true = "It opened in 1931."
    >>> compare_answers(question="When?", a="It opened in 1931.", b="It rained.", ground_truth=true).winner
    'a'
    """
    how = locals()
    row = [how.pop(name) for name in Pair._fields]
    _check_comparison(**how)
    return _compare([_check_pair(*row)], **how)[0]


def _compare_table(
    questions: Any, a: Any, b: Any, ground_truths: Any, *, progress: bool | None = None, **how: Any
) -> ScoreTable[AnswerComparison]:
    """The comparisons of many pairs."""
    given = {"question": questions, "a": a, "b": b} | ({} if ground_truths is None else {"ground_truth": ground_truths})
    rows = table_rows({name: require_column(values, name) for name, values in given.items()})
    _check_comparison(**how)
    return _compare([_check_pair(**row, where=f"row {n}: ") for n, row in enumerate(rows)], progress=progress, **how)


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
        """Return 1 and one more for each system whose whole interval lies above this one's; None if undefined."""
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
            numbers = {"rank": self.rank(system), "strength": self.strengths[system], "low": low, "high": high}
            rows.append({"system": system, **numbers, "win_rate": won / met if met else None, "comparisons": met})
        return rows

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        wins = [{"winner": a, "loser": b, "count": count} for (a, b), count in self.wins.items()]
        compared = {} if self.comparisons is None else {"comparisons": self.comparisons.to_dict()}
        return super().to_dict() | {"wins": wins, "reason": self.reason} | compared

    def remarks(self) -> list[str]:
        """Return why a number is missing."""
        return [self.reason] if self.reason else []

    def plot(self, *, ax: plt.Axes | None = None) -> plt.Axes:
        """Draw strengths with their intervals; returns the axes."""
        ax = axes_for(ax, 5, 0.8 + 0.4 * len(self.systems))
        for place, system in enumerate(reversed(self.systems)):
            draw_interval(ax, place, self.strengths[system], self.intervals[system], "#1f5f8b")
        ax.set_yticks(range(len(self.systems)), list(map(figure_text, reversed(self.systems))))
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
    """How often each system (row) beat each other (column); a tie counts half for both."""
    place = {name: i for i, name in enumerate(systems)}
    wins = np.zeros((len(systems), len(systems)))
    for vote in votes:
        i, j = place[vote.first], place[vote.second]
        share = 0.5 if vote.winner == "tie" else float(vote.winner == vote.first)
        wins[i, j] += share
        wins[j, i] += 1 - share
    return wins


def _resampled(
    votes: Sequence[Vote], systems: Sequence[str], prior: float, n_resamples: int, confidence: float, seed: int
) -> list[tuple[float, float] | None]:
    """Percentile intervals of each system's strength, drawing units again; None where too few could be fitted."""
    units: dict[Hashable, list[Vote]] = {}
    for vote in votes:
        units.setdefault(vote.unit, []).append(vote)
    tables = np.stack([_win_matrix(own, systems) for own in units.values()])
    if n_resamples < 2 or len(tables) < 2:
        return [None] * len(systems)
    drawn = (vote for batch in drawings(len(tables), n_resamples, seed) for vote in batch)
    found = [strengths(tables[vote].sum(axis=0), prior) for vote in drawn]
    values = np.stack([np.full(len(systems), np.nan) if row is None else row for row in found])
    ends = [middle(column, confidence).interval for column in values.T]
    own = strengths(tables.sum(axis=0), prior)
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
    sure, share = require_share(confidence, "confidence"), require_share(prior, "prior")
    times = require_count(n_resamples, "n_resamples", minimum=0)
    wins = _win_matrix(votes, names)
    found = strengths(wins, share)
    nothing = [None] * len(names)
    values = nothing if found is None else found.tolist()
    ends = nothing if found is None else _resampled(votes, names, share, times, sure, seed)
    order = np.argsort(-(wins.sum(axis=1) if found is None else found), kind="stable")
    why = "some systems won or lost every vote against the rest: their strength is not finite, use a prior"
    alike = "no interval: drawing the votes again shows no spread" if times > 1 and None in ends else ""
    chosen = {"prior": share, "confidence": sure, "seed": seed, "n_resamples": times}
    return SystemRanking(
        systems=tuple(names[i] for i in order),
        strengths=dict(zip(names, values, strict=True)),
        intervals=dict(zip(names, ends, strict=True)),
        wins={(a, b): float(wins[i, j]) for i, a in enumerate(names) for j, b in enumerate(names) if i != j},
        signature=Signature({"metric": "bradley_terry", **chosen}),
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
        Columns `question`, `system`, `answer`, and `ground_truth` where there is one.
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
    >>> row = {"question": "How was it?", "ground_truth": "It rained."}
    >>> x = row | {"system": "x", "answer": "It rained."}
    >>> rows = [x, row | {"system": "y", "answer": "It snowed."}]
    >>> rank_systems(rows, progress=False).systems
    ('x', 'y')
    """
    by_question: dict[str, list[dict[str, str]]] = {}
    columns = ["question", "system", "answer", "ground_truth"]
    records = table_records(table, columns, optional=["ground_truth"])
    for i, record in enumerate(records):
        cells = record | {"ground_truth": record["ground_truth"] or ""}
        entry = {name: require_text(cell, f"row {i}: {name}") for name, cell in cells.items()}
        by_question.setdefault(entry["question"], []).append(entry)
    if len({(record["question"], record["system"]) for record in records}) < len(records):
        raise ValueError("a system answers a question twice: each (question, system) may stand once")
    if len({record["system"] for record in records}) < 2:
        raise ValueError("a ranking needs two systems at least: fill the column 'system'")
    met = [pair for own in by_question.values() for pair in itertools.combinations(own, 2)]
    pairs = [Pair(a["question"], a["answer"], b["answer"], a["ground_truth"]) for a, b in met]
    lists = [list(column) for column in zip(*pairs, strict=True)] or [[]] * 4
    found = Metric(compare_answers, **options).score_many(*lists, progress=progress)
    outcomes = []  # those without a winner are left out
    for (a, b), result in zip(met, found, strict=True):
        if result.winner is not None:
            winner = {"a": a["system"], "b": b["system"], "tie": "tie"}[result.winner]
            outcomes.append((a["system"], b["system"], winner, a["question"]))
    if not outcomes:
        reasons = [result.reason for result in found if result.reason]
        why = reasons[0] if reasons else "no two systems answered the same question"
        raise ValueError(f"no comparison has a winner: {why}")
    ranked = bradley_terry(outcomes, prior=prior, n_resamples=n_resamples)
    own = {name: value for name, value in found.signature.items() if name not in ("metric", "version")}
    return replace(ranked, comparisons=found, signature=Signature({**ranked.signature, **own}))
