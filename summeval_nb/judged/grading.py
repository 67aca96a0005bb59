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
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Outcome, Score, ScoreTable, Signature
from summeval_nb.judged.pairwise import rubric_prompt
from summeval_nb.judged.ratings import QUALITY_DEFINITIONS, RATING_PROMPT, expected_grade, rating_prompt
from summeval_nb.models.base import LOW_MASS, QUOTING, Backend, BackendError, Choice
from summeval_nb.models.load import StoreOrPath, load_backend, load_store
from summeval_nb.models.store import Store, content_key, fill_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Rating", "ask_for_choices", "rate", "rate_many", "rubric_many", "rubric_score"]


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

    def outcome(self) -> Outcome:
        """Return what a run writes down: a failed call is failed, an empty text undefined."""
        found = super().outcome()
        return found._replace(status="failed") if self.failed else found

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


def _require_paired(one: object, other: object, names: tuple[str, str]) -> list[tuple[str, str]]:
    """Two lists of texts as pairs, as many of each."""
    left, right = (require_texts(values, name) for values, name in zip((one, other), names, strict=True))
    if len(left) != len(right):
        counts = f"there are {len(left)} {names[0]} and {len(right)} {names[1]}"
        raise ValueError(f"{' and '.join(names)} must pair up, but {counts}")
    return list(zip(left, right, strict=True))


def how_said(values: Sequence[ModelChoice], samples: int = 0) -> JsonDict:
    """Return what a signature says of choices without a model's probabilities."""
    if samples:
        return {"samples": samples}
    hard = any(isinstance(value, Mapping) and value["probability_mass"] is None for value in values)
    return {"choices": "hard"} if hard else {}


def _grade(
    prompts: Sequence[str],
    texts: Sequence[str],
    line: Signature,
    *,
    quality: str,
    nothing: str,
    progress: bool | None,
    **how: Any,
) -> ScoreTable[Rating]:
    """The ratings of texts, one prompt for each; a blank text is not asked about."""
    low, high = how["scale"]
    values = ask_for_choices(
        load_backend(how["backend"]),
        prompts,
        [bool(text.strip()) for text in texts],
        [str(grade) for grade in range(low, high + 1)],
        store=how["store"],
        workers=how["workers"],
        progress=quality if progress else "",
        samples=how["samples"],
    )
    line = Signature({**line, **how_said(values, how["samples"])})
    return ScoreTable([_as_rating(value, nothing, quality=quality, signature=line) for value in values], signature=line)


def _signature(parts: Mapping[str, object], prompt: str, **how: Any) -> Signature:
    """Every option that could change a grade."""
    low, high = how["scale"]
    model = {"backend": load_backend(how["backend"]).fingerprint, "prompt": prompt}
    return Signature({**parts, "scale": f"{low}-{high}", **model, **how_said([], how["samples"])})


def _check_rating(*, quality: str | None, rubric: str | None, scale: Any, samples: Any, workers: Any, **_: Any) -> str:
    require_grading(scale, samples, workers)
    return require_graded(quality, rubric)


def _rating_signature(*, quality: str | None, rubric: str | None, **how: Any) -> Signature:
    told = dict(QUALITY_DEFINITIONS) if rubric is None else {"rubric": rubric}
    version = content_key(RATING_PROMPT, told, QUOTING)[:8]
    return _signature({"metric": "rating", "quality": require_graded(quality, rubric)}, version, **how)


@metric("rating", check=_check_rating, signature=_rating_signature)
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
    return _rate_table([require_text(text, "text")], [require_text(summary, "summary")], **how)[0]


def _rate_table(texts: Any, summaries: Any, *, progress: bool | None = None, **how: Any) -> ScoreTable[Rating]:
    """The ratings of many summaries."""
    pairs = _require_paired(texts, summaries, ("texts", "summaries"))
    sizes = [(len(text.strip()), len(summary)) for text, summary in pairs]
    warn_of_order(sizes, remedy="the article comes first, rate(text, summary)")
    graded = _check_rating(**how)
    told = {name: how[name] for name in ("quality", "rubric", "scale")}
    prompts = [rating_prompt(*pair, **told) for pair in pairs]
    own: dict[str, Any] = {"quality": graded, "nothing": "the summary is empty", "progress": progress}
    rest = {name: how[name] for name in ("backend", "scale", "samples", "workers", "store")}
    return _grade(prompts, [summary for _, summary in pairs], _rating_signature(**how), **own, **rest)


rate_many = batch(rate, _rate_table)


def _check_rubric(*, criteria: Any, steps: Any, title: Any, scale: Any, samples: Any, workers: Any, **_: Any) -> None:
    if not require_text(criteria, "criteria").strip():
        raise ValueError("criteria are empty: say in words what is graded")
    require_texts(steps, "steps")
    require_text(title, "title")
    require_grading(scale, samples, workers)


def _rubric_signature(*, criteria: str, steps: Sequence[str], title: str, **how: Any) -> Signature:
    example = rubric_prompt("", "", criteria=criteria, steps=steps, scale=how["scale"])
    return _signature({"metric": "rubric", "title": title}, content_key(example, QUOTING)[:8], **how)


@metric("rubric", check=_check_rubric, signature=_rubric_signature)
def rubric_score(
    question: str,
    answer: str,
    *,
    criteria: str,
    backend: Backend | str,
    steps: Sequence[str] = (),
    scale: tuple[int, int] = (1, 5),
    title: str = "rubric",
    samples: int = 0,
    workers: int = 8,
    store: Store | str | None = None,
) -> Rating:
    """Grade an answer by criteria of your own: the expected grade under the model's own probabilities.

    Parameters
    ----------
    question : str
        What was asked; it may be empty.
    answer : str
        The answer.
    criteria : str
        What is graded, and what a good and a bad answer are, in words.
    backend : Backend or str
        A language model, such as `"llm:FOLDER"`. There is no grade without one.
    steps : sequence of str
        What to look at, one after the other.
    scale : (int, int)
        The lowest and the highest grade, within 0 and 100.
    title : str
        A short name for pictures and tables.
    samples : int
        As for `rate`.
    workers : int
        How many calls may wait for a server at the same time.
    store : Store or path, optional
        Where probabilities are kept.

    Returns
    -------
    Rating
        As of `rate`; None with a reason where the answer is empty or the call failed.

    Raises
    ------
    TypeError, ValueError
        If a text is none, the criteria are empty, or the scale makes no sense.

    References
    ----------
    Liu et al. (2023), "G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment".

    Examples
    --------
    >>> from summeval_nb.models.base import ScriptedBackend
    >>> backend = ScriptedBackend(lambda prompt: "4")
    >>> rubric_score("When?", "At nine, thank you.", criteria="Is the answer polite?", backend=backend).score
    4.0
    """
    how: dict[str, Any] = {"criteria": criteria, "steps": steps, "title": title, "backend": backend, "scale": scale}
    how |= {"samples": samples, "workers": workers, "store": store}
    return _rubric_table([require_text(question, "question")], [require_text(answer, "answer")], **how)[0]


def _rubric_table(questions: Any, answers: Any, *, progress: bool | None = None, **how: Any) -> ScoreTable[Rating]:
    """The grades of many answers, one question for each."""
    pairs = _require_paired(questions, answers, ("questions", "answers"))
    _check_rubric(**how)
    told = {name: how[name] for name in ("criteria", "steps", "scale")}
    prompts = [rubric_prompt(*pair, **told) for pair in pairs]
    own: dict[str, Any] = {"quality": how["title"], "nothing": "the answer is empty", "progress": progress}
    rest = {name: how[name] for name in ("backend", "scale", "samples", "workers", "store")}
    return _grade(prompts, [answer for _, answer in pairs], _rubric_signature(**how), **own, **rest)


rubric_many = batch(rubric_score, _rubric_table)
