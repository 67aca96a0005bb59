"""Grades by a language model: of a summary for a quality, of an answer by criteria of your own."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from summeval_nb.core.base import (
    JsonDict,
    one_bar,
    require_count,
    require_option,
    require_text,
    require_texts,
    steps,
    warn_of_order,
)
from summeval_nb.core.html import axes_for, figure_text
from summeval_nb.core.metric import Metric
from summeval_nb.core.results import Outcome, ResultTable, Score, Signature, keeps_index
from summeval_nb.judged.pairwise import rubric_prompt
from summeval_nb.judged.ratings import QUALITY_DEFINITIONS, RATING_PROMPT, expected_grade, rating_prompt
from summeval_nb.models.base import LOW_MASS, QUOTING, Backend, BackendError, Choice
from summeval_nb.models.load import StoreOrPath, load_backend, load_store
from summeval_nb.models.store import Store, content_key, fill_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Rating", "RatingMetric", "RatingTable", "RubricMetric", "ask_for_choices", "rate", "rate_many"]


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

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        names = ("quality", "probability_mass", "spread", "note")
        return super().to_dict() | {name: getattr(self, name) for name in names}

    def plot(self, *, ax: Axes | None = None) -> Axes:
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


def ask_for_choices(
    backend: Backend,
    prompts: Sequence[str],
    asked: Sequence[bool],
    options: list[str],
    *,
    store: StoreOrPath,
    workers: int,
    progress: str = "",
    samples: int = 0,
) -> list[ModelChoice]:
    """Return the choice for each prompt, from the store or from the backend, asked in batches.

    A failed call is its error; what is not asked is None. Each of `samples` has a key of its own, and their shares
    stand in the place of probabilities.
    """
    put = [prompt for prompt, wanted in zip(prompts, asked, strict=True) if wanted]
    draws: list[dict[str, int]] = [{"sample": i} for i in range(samples)] or [{}]
    questions = [(draw, prompt) for draw in draws for prompt in put]

    def compute(batch: list[int]) -> list[ModelChoice]:
        chosen: list[Choice | BackendError] = []
        drawn = itertools.groupby(batch, lambda i: questions[i][0])
        groups = [(draw, [questions[i][1] for i in group]) for draw, group in drawn]
        for draw, own in steps(groups, [len(own) for _, own in groups]):
            chosen += backend.choose_many(own, options, workers=workers, **draw)
        return [choice if isinstance(choice, BackendError) else choice.to_dict() for choice in chosen]

    keys = [content_key("rating", backend.fingerprint, prompt, options, *draw.values()) for draw, prompt in questions]
    with one_bar(len(prompts), progress, "text", show=bool(progress)):
        found = fill_missing(load_store(store), "rating", keys, compute)
    values = iter([_shared_out(found[i :: len(put)], options) for i in range(len(put))])
    return [next(values) if wanted else None for wanted in asked]


def _shared_out(found: Sequence[ModelChoice], options: Sequence[str]) -> ModelChoice:
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
        score=expected_grade(shares) if shares else float(value["label"]),
        distribution={grade: share / total for grade, share in shares.items()},
        probability_mass=mass,
        note=note,
        **rest,
    )


class RatingTable(ResultTable[Rating]):
    """The ratings of many texts, in their order."""

    def rows(self) -> list[JsonDict]:
        """Return one row for each text."""
        return [own.row() for own in self.results]

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down: a failed call is failed, an empty text undefined."""
        found = zip(super().outcomes(), self.results, strict=True)
        return [outcome._replace(status="failed") if own.failed else outcome for outcome, own in found]


def require_grading(scale: object, samples: object, workers: object) -> tuple[int, int]:
    """Check how grades are given, and return the scale: two whole numbers, 0 <= low < high <= 9.

    Beyond, "1" would be the beginning of "10".
    """
    require_count(samples, "samples", minimum=0)
    require_count(workers, "workers")
    if not isinstance(scale, (tuple, list)) or len(scale) != 2:
        raise TypeError(f"scale must be two whole numbers such as (1, 5), not {scale!r}")
    low, high = (require_count(value, "scale", minimum=0) for value in scale)
    if not low < high <= 9:
        raise ValueError(f"scale must run upwards within 0 and 9, not {low} to {high}: rescale the result afterwards")
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


def _require_rubric(criteria: object, steps: object, title: object) -> None:
    if not require_text(criteria, "criteria").strip():
        raise ValueError("criteria are empty: say in words what is graded")
    require_texts(steps, "steps")
    require_text(title, "title")


def _require_paired(one: object, other: object, names: tuple[str, str]) -> list[tuple[str, str]]:
    """Two lists of texts as pairs, as many of each."""
    left, right = (require_texts(values, name) for values, name in zip((one, other), names, strict=True))
    if len(left) != len(right):
        counts = f"there are {len(left)} {names[0]} and {len(right)} {names[1]}"
        raise ValueError(f"{' and '.join(names)} must pair up, but {counts}")
    return list(zip(left, right, strict=True))


def _grade(
    prompts: Sequence[str],
    texts: Sequence[str],
    parts: Mapping[str, object],
    *,
    quality: str,
    nothing: str,
    prompt: str,
    backend: Backend | str,
    scale: tuple[int, int],
    samples: int,
    workers: int,
    store: StoreOrPath,
    progress: str,
) -> RatingTable:
    """The ratings of texts, one prompt for each; a blank text is not asked about."""
    model, (low, high) = load_backend(backend), scale
    grades = [str(grade) for grade in range(low, high + 1)]
    how: dict[str, Any] = {"store": store, "workers": workers, "progress": progress, "samples": samples}
    values = ask_for_choices(model, prompts, [bool(text.strip()) for text in texts], grades, **how)
    line = Signature(
        {**parts, "scale": f"{low}-{high}", "backend": model.fingerprint, "prompt": prompt} | how_said(values, samples)
    )
    ratings = [_as_rating(value, nothing, quality=quality, signature=line) for value in values]
    return RatingTable(results=ratings, signature=line)


def how_said(values: Sequence[ModelChoice], samples: int = 0) -> JsonDict:
    """Return what a signature says of choices without a model's probabilities."""
    if samples:
        return {"samples": samples}
    hard = any(isinstance(value, Mapping) and value["probability_mass"] is None for value in values)
    return {"choices": "hard"} if hard else {}


@keeps_index
def rate_many(
    texts: Sequence[str],
    summaries: Sequence[str],
    *,
    quality: str | None = None,
    rubric: str | None = None,
    backend: Backend | str,
    scale: tuple[int, int] = (1, 5),
    samples: int = 0,
    workers: int = 8,
    store: Store | str | None = None,
    progress: bool | None = None,
) -> RatingTable:
    """Rate many summaries alike: the same numbers as `rate` one by one.

    Parameters
    ----------
    texts, summaries : sequence of str
        As many of each.
    quality, rubric, backend, scale, samples, workers, store
        As for `rate`. Failures are not kept, so that a second run asks again.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    RatingTable
        A `Rating` for each summary, in order; a failed call has the score None, with
        the reason.

    Examples
    --------
    >>> from summeval_nb.models.base import ScriptedBackend
    >>> backend = ScriptedBackend(lambda prompt: "4")
    >>> options = {"quality": "fluency", "backend": backend}
    >>> rate_many(texts=["It rained."], summaries=["Rain."], **options)[0].score
    4.0
    """
    pairs = _require_paired(texts, summaries, ("texts", "summaries"))
    sizes = [(len(text.strip()), len(summary)) for text, summary in pairs]
    warn_of_order(sizes, remedy="the article comes first, rate(text, summary)")
    graded, within = require_graded(quality, rubric), require_grading(scale, samples, workers)
    how: dict[str, Any] = {"quality": quality, "rubric": rubric, "scale": within}
    told = dict(QUALITY_DEFINITIONS) if rubric is None else {"rubric": rubric}
    return _grade(
        [rating_prompt(*pair, **how) for pair in pairs],
        [summary for _, summary in pairs],
        {"metric": "rating", "quality": graded},
        quality=graded,
        nothing="the summary is empty",
        prompt=content_key(RATING_PROMPT, told, QUOTING)[:8],
        backend=backend,
        scale=within,
        samples=samples,
        workers=workers,
        store=store,
        progress=graded if progress else "",
    )


def rate(
    text: str,
    summary: str,
    *,
    quality: str | None = None,
    rubric: str | None = None,
    backend: Backend | str,
    scale: tuple[int, int] = (1, 5),
    samples: int = 0,
    workers: int = 8,
    store: Store | str | None = None,
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
    backend : Backend or str
        A language model, or its name as in `"llm:FOLDER"`,
        `"llm:FILE.gguf"` or `"llm:NAME@http://HOST:PORT/v1"`. There is no rating
        without one.
    scale : (int, int)
        The lowest and the highest grade, within 0 and 9.
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
        If the quality is unknown, a rubric is given with it or neither is, or the scale
        makes no sense.
    TypeError
        If a text is not a string, or the backend is none.

    References
    ----------
    Fabbri et al. (2021), "SummEval: Re-evaluating Summarization Evaluation".
    Liu et al. (2023), "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment".

    Examples
    --------
    >>> from summeval_nb.models.base import ScriptedBackend
    >>> backend = ScriptedBackend(lambda prompt: "4")
    >>> rate(text="It rained.", summary="Rain.", quality="fluency", backend=backend).score
    4.0
    >>> polite = "Is the summary polite? 5: very. 1: it insults somebody."
    >>> rate(text="It rained.", summary="Rain.", rubric=polite, backend=backend).score
    4.0
    """
    how: dict[str, Any] = {"quality": quality, "rubric": rubric, "backend": backend, "scale": scale}
    how |= {"samples": samples, "workers": workers, "store": store}
    return rate_many([require_text(text, "text")], [require_text(summary, "summary")], **how)[0]


@dataclass(frozen=True, kw_only=True)
class RatingMetric(Metric):
    """A language model's grades, with the choices of `rate_many`."""

    name = "rating"
    columns = {"text": "text", "summary": "text"}
    judged = "summary"

    quality: str | None = None
    rubric: str | None = None
    backend: Backend | str
    scale: tuple[int, int] = (1, 5)
    samples: int = 0
    workers: int = 8
    store: StoreOrPath = field(default=None, compare=False)

    def __post_init__(self) -> None:
        require_graded(self.quality, self.rubric)
        require_grading(self.scale, self.samples, self.workers)

    @property
    def signature(self) -> Signature:
        """Every choice that could change a number."""
        return self.score_many([""], [""])[0].signature

    def score_many(self, texts: Any, summaries: Any, *, progress: bool | None = None) -> RatingTable:
        """Return the grades of many summaries; see `rate_many`."""
        choices = {name: getattr(self, name) for name in self.defaults()}
        return rate_many(texts, summaries, **choices, progress=bool(progress))

    def score(self, text: str, summary: str) -> Rating:
        """Return the grade of one summary; see `rate`."""
        return self.score_many([require_text(text, "text")], [require_text(summary, "summary")])[0]


@dataclass(frozen=True, kw_only=True)
class RubricMetric(Metric):
    """Criteria of your own by which a language model grades answers.

    `score(question, answer)` is a `Rating`: the expected grade under the model's own
    probabilities, with its distribution and mass, or the grade itself where its server
    gives none; None with a reason where the answer is empty or the call failed.
    `score_many(questions, answers)` is a table of them.

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
    samples : int
        As for `rate`.
    workers : int
        How many calls may wait for a server at the same time.
    store : Store or path, optional
        Where probabilities are kept.

    Raises
    ------
    ValueError
        If the criteria are empty or the scale makes no sense.

    References
    ----------
    Liu et al. (2023), "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment".

    Examples
    --------
    >>> from summeval_nb.models.base import ScriptedBackend
    >>> backend = ScriptedBackend(lambda prompt: "4")
    >>> polite = RubricMetric(criteria="Is the answer polite?", backend=backend)
    >>> polite.score("When?", "At nine, thank you.").score
    4.0
    """

    name = "rubric"
    columns = {"question": "text", "answer": "text"}
    judged = "answer"

    criteria: str
    backend: Backend | str
    steps: Sequence[str] = ()
    scale: tuple[int, int] = (1, 5)
    title: str = "rubric"
    samples: int = 0
    workers: int = 8
    store: StoreOrPath = field(default=None, compare=False)

    def __post_init__(self) -> None:
        _require_rubric(self.criteria, self.steps, self.title)
        require_grading(self.scale, self.samples, self.workers)

    def _prompt(self, question: str, answer: str) -> str:
        return rubric_prompt(question, answer, criteria=self.criteria, steps=self.steps, scale=self.scale)

    @property
    def signature(self) -> Signature:
        """Every choice that could change a number."""
        return self.score_many([""], [""])[0].signature

    def score_many(self, questions: Any, answers: Any, *, progress: bool | None = None) -> RatingTable:
        """Return the grades of many answers, one question for each."""
        pairs = _require_paired(questions, answers, ("questions", "answers"))
        return _grade(
            [self._prompt(*pair) for pair in pairs],
            [answer for _, answer in pairs],
            {"metric": self.name, "title": self.title},
            quality=self.title,
            nothing="the answer is empty",
            prompt=content_key(self._prompt("", ""), QUOTING)[:8],
            backend=self.backend,
            scale=self.scale,
            samples=self.samples,
            workers=self.workers,
            store=self.store,
            progress=self.title if progress else "",
        )

    def score(self, question: str, answer: str) -> Rating:
        """Return the grade of one answer; the question may be empty."""
        return self.score_many([require_text(question, "question")], [require_text(answer, "answer")])[0]
