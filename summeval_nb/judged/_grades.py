# A plain private module: edited directly, exported by no notebook, tested in tests/test_grades.py.
"""Plumbing of ratings: scales, grades asked of a backend past a store, and the result with its rows and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar

from summeval_nb.ground.base import JsonDict, require_count, require_option, require_text, require_texts, warn_of_order
from summeval_nb.ground.html import axes_for, figure_text
from summeval_nb.ground.metric import Metric
from summeval_nb.ground.results import Outcome, ResultTable, Score, Signature
from summeval_nb.models.load import StoreOrPath, load_backend, load_store
from summeval_nb.models.base import Backend, BackendError, Calls
from summeval_nb.models.store import Store, content_key, fill_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Graded", "LOW_MASS", "MetricOfGrades", "Rating", "RatingTable", "Said", "ask_for_grades", "most_grades"]
__all__ += ["rating_parts", "require_paired", "require_scale", "table_of"]

Rated = TypeVar("Rated", bound=Score)
Said: TypeAlias = Mapping[str, Any] | BackendError | None  # a choice as a dictionary, a failed call, or nothing asked


class Graded(TypedDict):
    """What is graded, and from which grade to which."""

    quality: str
    scale: tuple[int, int]


def require_scale(scale: object) -> tuple[int, int]:
    """Check a scale: two whole numbers, 0 <= low < high <= 9. Beyond, "1" would be the beginning of "10"."""
    if not isinstance(scale, (tuple, list)) or len(scale) != 2:
        raise TypeError(f"scale must be two whole numbers such as (1, 5), not {scale!r}")
    low, high = (require_count(value, "scale", minimum=0) for value in scale)
    if not low < high <= 9:
        raise ValueError(f"scale must run upwards within 0 and 9, not {low} to {high}: rescale the result afterwards")
    return low, high


def require_paired(texts: object, summaries: object) -> list[tuple[str, str]]:
    """Return texts and summaries as pairs, as many of each."""
    sources, summaries = require_texts(texts, "texts"), require_texts(summaries, "summaries")
    if len(sources) != len(summaries):
        counts = f"there are {len(sources)} texts and {len(summaries)} summaries"
        raise ValueError(f"texts and summaries must pair up, but {counts}")
    pairs = list(zip(sources, summaries, strict=True))
    sizes = [(len(text.strip()), len(summary)) for text, summary in pairs]
    warn_of_order(sizes, remedy="the article comes first, rate(text, summary)")
    return pairs


def ask_for_grades(
    backend: Backend,
    prompts: Sequence[str],
    asked: Sequence[bool],
    options: list[str],
    store: Store | None,
    *,
    workers: int,
    progress: str,
) -> list[Said]:
    """The options' probabilities for each prompt, from the store or from the backend, asked in lots.

    A failed call is its error; what is not asked is None.
    """
    put = [prompt for prompt, wanted in zip(prompts, asked, strict=True) if wanted]

    def compute(lot: list[int]) -> list[Said]:
        chosen = backend.choose_many([put[i] for i in lot], options, workers=workers)
        return [one if isinstance(one, BackendError) else one.to_dict() for one in chosen]

    keys = [content_key("rating", backend.fingerprint, prompt, options) for prompt in put]
    values = iter(fill_missing(store, "rating", keys, compute, progress=progress))
    return [next(values) if wanted else None for wanted in asked]


def most_grades(
    backend: Backend, prompts: Sequence[str], asked: Sequence[bool], options: list[str], store: Store | None
) -> dict[str, Calls]:
    """At most what `ask_for_grades` calls: each different prompt once, but for those that the store answers."""
    put = dict.fromkeys(prompt for prompt, wanted in zip(prompts, asked, strict=True) if wanted)
    keys = {prompt: content_key("rating", backend.fingerprint, prompt, options) for prompt in put}
    known = store.get_many("rating", list(keys.values())) if store else {}
    return {"rating": Calls.choices([prompt for prompt, key in keys.items() if key not in known], options)}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Rating(Score):
    """A grade read from a model's probabilities.

    Parameters
    ----------
    score : float or None
        The expected grade, within the scale; None with a reason when the model could
        not be asked.
    quality : str
        What was rated.
    distribution : mapping of int to float
        The probability of each grade, summing to 1; empty when there is no score.
    mass : float or None
        How much of the model's whole probability the grades held, in [0, 1].
    note : str
        What a reader should know, such as a low mass.
    """

    quality: str = ""
    distribution: Mapping[int, float] = field(default_factory=dict)
    mass: float | None = None
    note: str = ""

    @property
    def spread(self) -> float | None:
        """The standard deviation of the distribution: how undecided the model is."""
        if self.score is None:
            return None
        shares = self.distribution.items()
        return math.sqrt(sum(p * (grade - self.score) ** 2 for grade, p in shares))

    @property
    def likeliest(self) -> int | None:
        """The grade with the greatest probability; the lower one of a tie."""
        shares = self.distribution
        return max(shares, key=lambda grade: (shares[grade], -grade), default=None)

    def rows(self) -> list[JsonDict]:
        """Return one row for each grade."""
        return [{"grade": grade, "probability": p} for grade, p in self.distribution.items()]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        extra = {"quality": self.quality, "mass": self.mass, "spread": self.spread, "note": self.note}
        return super().to_dict() | extra

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the distribution with the expected grade as a line; returns the axes."""
        ax = axes_for(ax, 4, 2.6)
        grades = [str(grade) for grade in self.distribution]
        ax.bar(grades, list(self.distribution.values()), color="#8fc1e8", edgecolor="#1f5f8b")
        if self.score is not None:
            first = min(self.distribution)
            ax.axvline(self.score - first, color="#b35c00", linewidth=2)
        number = "undefined" if self.score is None else f"{self.score:.2f}"
        title = figure_text(f"{self.quality}: expected grade {number}")
        ax.set(xlabel="grade", ylabel="probability", ylim=(0, 1), title=title)
        return ax


LOW_MASS = 0.5


def rating_parts(value: Said, expected: Callable[[Mapping[int, float]], float]) -> dict[str, Any]:
    """What a rating is made of: from the options' probabilities, from a failure, or (None) from nothing to ask."""
    if not isinstance(value, Mapping):
        return {"score": None, "reason": "the summary is empty" if value is None else str(value)}
    shares = {int(grade): float(share) for grade, share in value["probabilities"].items()}
    total, mass = math.fsum(shares.values()), float(value["mass"])
    note = f"the grades held only {mass:.2g} of the model's probability"
    return {
        "score": expected(shares),
        "distribution": {grade: share / total for grade, share in shares.items()},
        "mass": mass,
        "note": note if mass < LOW_MASS else "",
    }


def table_of(ratings: Sequence[Rated], summaries: Sequence[str]) -> RatingTable[Rated]:
    """The table of some ratings; one without a score of a summary that is not empty is a failed call."""
    failed = [one.score is None and bool(text.strip()) for one, text in zip(ratings, summaries, strict=True)]
    signature = ratings[0].signature if ratings else Signature({"metric": "rating"})
    return RatingTable(results=ratings, signature=signature, failed=failed)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RatingTable(ResultTable[Rated]):
    """The ratings of many summaries, in their order; `failed` says for which the model gave no answer."""

    failed: Sequence[bool] = ()

    def outcomes(self) -> list[Outcome]:
        """Return what a run writes down: a failed call is failed, an empty summary undefined."""
        found = zip(super().outcomes(), self.failed, strict=True)
        return [one._replace(status="failed") if bad else one for one, bad in found]


class MetricOfGrades(Metric):
    """What a `RatingMetric` is besides its choices and `score_many`: columns, checks, calls, signature, one pair."""

    columns = {"text": "text", "summary": "text"}
    judged = "summary"
    quality: str
    backend: Backend | str
    scale: tuple[int, int]
    workers: int
    store: StoreOrPath

    def __post_init__(self) -> None:
        from summeval_nb.judged.ratings import QUALITY_DEFINITIONS

        require_option(self.quality, "quality", QUALITY_DEFINITIONS)
        require_scale(self.scale)
        require_count(self.workers, "workers")

    def calls_for(self, rows: Sequence[Mapping[str, str]]) -> dict[str, Calls]:
        """Return at most what is called for rows: one call for each summary."""
        from summeval_nb.judged.ratings import rating_prompt

        how: Graded = {"quality": self.quality, "scale": self.scale}
        prompts = [rating_prompt(one["text"], one["summary"], **how) for one in rows]
        return self.most_grades(prompts, [one["summary"] for one in rows])

    def most_grades(self, prompts: Sequence[str], summaries: Sequence[str]) -> dict[str, Calls]:
        """At most the calls for these prompts; nobody is asked about an empty summary."""
        grades = [str(grade) for grade in range(self.scale[0], self.scale[1] + 1)]
        asked = [bool(summary.strip()) for summary in summaries]
        return most_grades(load_backend(self.backend), prompts, asked, grades, load_store(self.store))

    @property
    def signature(self) -> Signature:
        """Every choice that could change a number."""
        return self.score_many([""], [""])[0].signature

    def score(self, text: str, summary: str) -> Rating:
        """Return the grade of one summary; see `rate`."""
        return self.score_many([require_text(text, "text")], [require_text(summary, "summary")])[0]
