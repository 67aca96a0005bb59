"""A card for a metric: what should leave it as it is, what must make it fall, and what it does.

Chapter 66 ends with cards, and says what they mean.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from summeval_nb.agreement.correlation import with_interval
from summeval_nb.agreement.registry import load_metric
from summeval_nb.core.base import OWN_CHECKERS, JsonDict, one_bar, plt, require_count, require_inner_share, steps
from summeval_nb.core.files import read_asset
from summeval_nb.core.html import draw_interval, figure_text, folded, html_table, markdown_report, render
from summeval_nb.core.metric import Metric, score_rows
from summeval_nb.core.resampling import MeanInterval, mean_interval
from summeval_nb.core.results import Outcome, Rows, Signature
from summeval_nb.evidence.base import Checker

__all__ = ["MARKS", "WRAPPERS", "MetricCard", "date_forms", "metric_card"]

Rewrite: TypeAlias = Callable[[str], str]

# The same text in other clothes; the everyday set of `benchmarks/everyday.py` wears them, too.

MONTHS = "January February March April May June July August September October November December".split()


def date_forms(year: int, month: int, day: int) -> list[str]:
    """Return a date as people write it; the day is greater than 12.

    Examples
    --------
    >>> date_forms(2019, 1, 15)[:3]
    ['January 15, 2019', '15 January 2019', 'Jan 15, 2019']
    """
    name, number = MONTHS[month - 1], f"{month:02}"
    words = [form for own in (name, name[:3]) for form in (f"{own} {day}, {year}", f"{day} {own} {year}")]
    return [*words, f"{year}-{number}-{day}", f"{day}/{number}/{year}", f"{day}.{number}.{year}"]


def _rewrite(form: str) -> Rewrite:
    """What puts a text into a form, which may ask for it `bare`, without its full stop, and for its number of words."""
    return lambda text: form.format(text=text, bare=text.rstrip("."), words=len(text.split()))


_FORMS = json.loads(read_asset("card_forms.json"))
MARKS, WRAPPERS = (tuple(map(_rewrite, _FORMS[name])) for name in ("marks", "wrappers"))
SPACES: tuple[Rewrite, ...] = (
    lambda text: text.replace(" ", "  "),
    lambda text: f"\n{text}\n\n",
    lambda text: f"  {text}\t",
    lambda text: text.replace(" ", "\u00a0"),
    lambda text: text.replace(" ", "\n", 4).replace("\n", " ", 3),  # a line ends after the fourth word
)


GOOD, OTHER, ORDER = "good candidate", "another text", "order of references"
CELLS = ("candidate", "summary", "references", "text", "source", "contexts")  # what an item has for a metric
KINDS = dict.fromkeys(("citation marks", "date forms", "wrappers", ORDER, "white space"), "invariance")
KINDS |= dict.fromkeys((OTHER, "number changed", "negation", "roles exchanged"), "direction")
KINDS |= dict.fromkeys(("padding", "repetition", "truncation"), "direction")
_SLOT = re.compile(r"\{(a|b|number|verb|date)\}")


def card_items(limit: int | None, rng: np.random.Generator) -> list[JsonDict]:
    """Return the items of a card; with `limit` so many, drawn by lot."""
    items = list(map(json.loads, read_asset("card_items.jsonl").splitlines()))
    if limit is not None and require_count(limit, "limit", minimum=2) < len(items):
        items = [items[place] for place in sorted(rng.permutation(len(items))[:limit])]
    return items


def _filled(template: str, values: Mapping[str, str]) -> str:
    text = _SLOT.sub(lambda slot: values[slot[1]], template)
    return text[:1].upper() + text[1:]


def _cells(candidate: str, references: list[str], source: list[str]) -> JsonDict:
    text = " ".join(source)
    return dict(zip(CELLS, (candidate, candidate, references, text, text, source), strict=True))


def changed(items: Sequence[JsonDict], start: int) -> list[dict[str, JsonDict]]:
    """Return what a metric is given of each item, by the name of the change; forms rotate from `start`."""
    forms = [date_forms(*map(int, item["date"].split("-"))) for item in items]
    values = [
        {"a": item["a"], "b": item["b"], "number": item["number"][0], "verb": item["verb"][0], "date": form[1]}
        for item, form in zip(items, forms, strict=True)
    ]
    every = []
    for place, item in enumerate(items):
        right, turn, far = values[place], start + place, (place + len(items) // 2) % len(items)
        dates = [form for form in forms[place] if form != right["date"]]  # "May" is its own short form
        other, template = items[far], item["candidate"]
        good = _filled(template, right)
        words = good.split()
        texts = {
            GOOD: good,
            OTHER: _filled(other["candidate"], values[far]),
            "citation marks": MARKS[turn % len(MARKS)](good),
            "date forms": _filled(template, right | {"date": dates[turn % len(dates)]}),
            "wrappers": WRAPPERS[turn % len(WRAPPERS)](good),
            "white space": SPACES[turn % len(SPACES)](good),
            "number changed": _filled(template, right | {"number": item["number"][1]}),
            "negation": _filled(template, right | {"verb": item["verb"][1]}),
            "roles exchanged": _filled(template, right | {"a": item["b"], "b": item["a"]}),
            "padding": f"{good} {_filled(other['source'][0], values[far])}",
            "repetition": f"{good} {good}",
            "truncation": " ".join(words[: len(words) // 2]) + ".",
        }
        references, source = ([_filled(text, right) for text in item[name]] for name in ("references", "source"))
        cells = {name: _cells(text, references, source) for name, text in texts.items()}
        every.append(cells | {ORDER: _cells(good, references[::-1], source[::-1])})
    return every


AnyMetric: TypeAlias = str | Metric | Checker | Callable[..., Any]
_MACHINE_FAULTS = (ImportError, MemoryError, OSError)  # not of an item: whoever calls must know


def _scorer(metric: Any) -> tuple[str, Metric]:
    """The name of a metric, and what scores texts for it; a checker is judged by its share of supported sentences."""
    name = metric if isinstance(metric, str) else str(getattr(metric, "name", "") or getattr(metric, "__name__", ""))
    is_checker = hasattr(metric, "check_many") and not isinstance(metric, type)
    is_checker |= name in OWN_CHECKERS or name.partition(":")[0] in ("nli", "llm")
    scorer = load_metric("faithfulness", checker=metric) if is_checker else load_metric(metric)
    return name or type(metric).__name__, scorer


def _outcomes(scorer: Metric, rows: Sequence[JsonDict]) -> list[Outcome]:
    """One outcome a row; where scoring all of them raises, each is scored alone."""
    try:
        return score_rows(scorer, rows)
    except _MACHINE_FAULTS:
        raise
    except Exception as error:
        if len(rows) == 1:
            return [Outcome(None, "failed", f"{type(error).__name__}: {error}")]
    return [outcome for row in steps(rows) for outcome in _outcomes(scorer, [row])]


@dataclass(frozen=True, repr=False, eq=False)
class MetricCard(Rows):
    """What changes of a text do to a metric; made by `metric_card`.

    Parameters
    ----------
    metric : str
        Its name.
    table : tuple of dict
        A row for each `change`: its `kind` ("invariance" or "direction"), `n` items and those
        `missing`, without a score; the mean `effect` with its ends `low` and `high`, and as a
        `share` of the spread with `share_low` and `share_high`; the share of items that do as
        they should, `right`; `verdict`, `reason`, and an `example`. What is undefined is None, as are
        the ends of an effect that is the same in all items.
    spread : float
        Mean score of good candidates less that of candidates about something else.
    signature : Signature
        Every choice that could change a number.
    """

    metric: str
    table: tuple[JsonDict, ...]
    spread: float
    signature: Signature
    more: ClassVar = ("metric", "spread", "blind_spots")

    @property
    def blind_spots(self) -> list[str]:
        """The changes that the metric should notice and does not, or should not notice and does."""
        return [row["change"] for row in self.table if row["verdict"] in ("blind", "moves")]

    def to_markdown(self, *, level: int = 2) -> str:
        """Return heading, reading aid, table and signature as Markdown, for an appendix."""
        title, note = f"Metric card: {self.metric}", str(self.signature)
        return markdown_report(title, self.remarks(), self.wide_rows(), note=note, level=level)

    def remarks(self) -> list[str]:
        """Return the blind spots, and how the numbers are read."""
        confidence, margin = float(self.signature["conf"]), float(self.signature["margin"])
        return [
            f"Blind spots: {', '.join(self.blind_spots) or 'none found'}.",
            f"Effects are mean changes of the score with {confidence:.0%} bootstrap intervals over items. The spread "
            f"is {self.spread:.3f}: the mean score of good candidates less that of texts about something else. "
            f"A change within {margin:.0%} of the spread counts as none. Right is the share of items that do as they "
            "should.",
        ]

    def wide_rows(self) -> list[JsonDict]:
        """Return the rows as they are printed, without columns that say nothing."""
        shown = []
        for row in self.table:
            cells = {name: row[name] for name in ("change", "kind", "n", "missing")}
            cells["effect"] = with_interval(row["effect"], (row["low"], row["high"]))
            cells["share of spread"] = with_interval(row["share"], (row["share_low"], row["share_high"]), ".0%")
            cells |= {"right": "–" if row["right"] is None else f"{row['right']:.0%}"}
            shown.append(cells | {"verdict": row["verdict"], "reason": row["reason"]})
        empty = [name for name in ("missing", "reason") if not any(row[name] for row in shown)]
        return [{name: cell for name, cell in row.items() if name not in empty} for row in shown]

    def _repr_html_(self) -> str:
        table = html_table(self.wide_rows(), caption=f"Metric card: {self.metric}")
        examples = html_table([{"change": row["change"], "example": row["example"]} for row in self.table])
        parts = [table, folded("An example of each change", examples)]
        return render("parts.html", parts=parts, notes=[*self.remarks(), str(self.signature)])

    def plot(self) -> plt.Figure:
        """Draw each effect as a share of the spread with its interval; shape and word say what the colour says."""
        figure, ax = plt.subplots(figsize=(7.5, 1.3 + 0.32 * len(self.table)), layout="constrained")
        margin = float(self.signature["margin"])
        ax.axvspan(-margin, margin, color="#8fc1e8", alpha=0.35, linewidth=0)
        ax.axvline(0, color="#767676", linewidth=0.8)
        looks = dict.fromkeys(("keeps", "sees"), ("#1f5f99", "o")) | {"undecided": ("#666666", "D")}
        for place, row in enumerate(self.table):
            color, shape = looks.get(row["verdict"], ("#b34700", "s"))
            ax.text(1.02, place, row["verdict"], transform=ax.get_yaxis_transform(), va="center", color=color)
            ends = row["share_low"], row["share_high"]
            draw_interval(ax, place, row["share"], ends, color, hollow=shape == "s", shape=shape)
        ax.set_yticks(range(len(self.table)), [f"{row['change']} ({row['kind']})" for row in self.table])
        ax.set(ylim=(len(self.table) - 0.5, -0.5), title=figure_text(self.metric))
        ax.set_xlabel("change of the score as a share of the spread (left: worse)")
        ax.xaxis.set_major_formatter("{x:.0%}")
        return figure


def _verdict(kind: str, low: float, high: float, margin: float) -> str:
    """The verdict of an interval, as `metric_card` describes it."""
    if kind == "direction":
        return "sees" if high <= -margin else "blind" if low > -margin else "undecided"
    if -margin < low and high < margin:
        return "keeps"
    return "moves" if high <= -margin or low >= margin else "undecided"


def metric_card(
    metric: AnyMetric,
    *,
    limit: int | None = None,
    margin: float = 0.1,
    n_resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: bool = True,
) -> MetricCard:
    """Try a metric on changes that it must notice, and on changes that it must not.

    Each item has a good candidate, references and a source. *Invariances* leave the quality as it is: citation marks,
    date forms, wrappers ("Here is a summary:"), white space, and the order of the references, or of the source's
    sentences. *Directions* make the text worse: another number, a negation or exchanged roles make it false. Padding,
    repetition and truncation are for metrics that read references.

    Parameters
    ----------
    metric : str, metric, checker or callable
        A name for `load_metric` or `load_checker`, a metric with options of yours, a checker (judged by the share of
        sentences that `evaluate` supports), or a function such as `f(candidate, references)` or `f(text, summary)`. Its
        parameters without a default are `candidate`, `summary`, `references`, `text`, `source` or `contexts`.
    limit : int, optional
        At most so many items, drawn by lot.
    margin : float
        What counts as no change, as a share of the spread, between 0 and 1.
    n_resamples, confidence, seed
        Of the bootstrap over items. The seed also draws which item gets which mark or wrapper.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    MetricCard
        With `blind_spots`, `rows()`, `to_frame()`, `to_dict()`, `to_markdown()` and `plot()`.

    Raises
    ------
    TypeError, ValueError
        If a metric or an option is not what it should be, the metric reads what items have not, or it scores fewer than
        two good candidates.

    Notes
    -----
    The unit is the spread: the mean score of good candidates less that of texts about something else. Its sign says
    which side is good, also where lower is better. The verdict comes from the interval of the mean change in this unit.
    A metric *keeps* an invariance if the interval lies within the margin, and *moves* if it lies outside. It *sees* a
    direction if the interval lies at or below minus the margin, and is *blind* if it lies above. All else is
    *undecided*, and so is all on fewer than -ln(1 - confidence) / margin items, usually 30 (the rule of three). A
    metric whose spread may be 0 is blind to *another text*, and nothing else is decided. Intervals are not corrected
    for their number. Items are short news in English: a card without blind spots promises nothing elsewhere.

    References
    ----------
    Ribeiro et al. 2020, Beyond Accuracy: Behavioral Testing of NLP Models with CheckList, ACL.

    Examples
    --------
    >>> card = metric_card(lambda candidate, references: len(candidate), progress=False)
    >>> card.blind_spots
    ['another text']
    """
    require_inner_share(margin, "margin")
    name, scorer = _scorer(metric)
    if unknown := [column for column in scorer.columns if column not in CELLS]:
        raise ValueError(f"{name} reads {', '.join(unknown)}, which items have not; they have {', '.join(CELLS)}")
    rng = np.random.default_rng(seed)
    chosen = card_items(limit, rng)
    texts = changed(chosen, int(rng.integers(len(MARKS))))
    left_out = {"padding", "repetition", "truncation"} - ({*KINDS} if "references" in scorer.columns else set())
    names = [GOOD, *(change for change in KINDS if change not in left_out)]
    rows = [{column: own[change][column] for column in scorer.columns} for change in names for own in texts]
    with one_bar(len(rows), name, "text", show=progress):
        found = _outcomes(scorer, rows)
    size = len(texts)
    outcomes = {change: found[place * size : (place + 1) * size] for place, change in enumerate(names)}
    scores = {c: np.array([math.nan if o.score is None else o.score for o in own]) for c, own in outcomes.items()}
    how: dict[str, Any] = {"confidence": confidence, "n_resamples": n_resamples, "seed": seed}

    def reason(*changes: str) -> str:
        return next((outcome.reason for change in changes for outcome in outcomes[change] if outcome.score is None), "")

    def effect_of(moved: np.ndarray) -> tuple[float, MeanInterval, tuple[float, float]]:
        """The mean, its interval, and the ends of this; of equal values, their mean twice."""
        mean, around = float(moved.mean()), mean_interval(moved, **how)
        return mean, around, (mean if around.low is None else around.low, mean if around.high is None else around.high)

    apart = scores[GOOD] - scores[OTHER]
    apart = apart[~np.isnan(apart)]
    if apart.size < 2:
        why = reason(GOOD, OTHER)
        raise ValueError(f"{name} scored {apart.size} of {size} good candidates with texts about something else: {why}")
    spread, _, (low, high) = effect_of(apart)
    is_apart, needed = low > 0 or high < 0, math.ceil(-math.log(1 - confidence) / margin)
    table = []
    for change in names[1:]:
        moved = scores[change] - scores[GOOD]
        moved = moved[~np.isnan(moved)]
        shown = "order of sentences" if change == ORDER and "references" not in scorer.columns else change
        row: JsonDict = {"change": shown, "kind": KINDS[change], "n": moved.size, "missing": size - moved.size}
        row |= dict.fromkeys(("effect", "low", "high", "share", "share_low", "share_high", "right"))
        row |= {"verdict": "undecided", "reason": reason(change, GOOD)}
        low = high = 0.0
        if moved.size > 1:
            row["effect"], around, ends = effect_of(moved)
            row |= {"low": around.low, "high": around.high}
            if is_apart:
                row["share"], (low, high) = row["effect"] / spread, sorted(end / spread for end in ends)
                if around.low is not None:
                    row |= {"share_low": low, "share_high": high}
                good = np.abs(moved / spread) <= margin if row["kind"] == "invariance" else moved / spread < -1e-9
                row["right"] = float(good.mean())
        if change == OTHER:
            row["verdict"] = "sees" if is_apart else "blind"
        elif is_apart and moved.size >= needed:
            row["verdict"], row["reason"] = _verdict(row["kind"], low, high, margin), row["reason"] or around.reason
        elif not row["reason"]:
            row["reason"] = f"needs {needed} items" if is_apart else "does not tell good candidates from other texts"
        cells = next((own[change] for own in texts if own[change] != own[GOOD]), texts[0][change])
        table.append(row | {"example": " ".join(cells["contexts"] if change == ORDER else [cells["candidate"]])})
    seen = hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:12]
    parts = {"metric": "metric-card", "of": getattr(scorer, "fingerprint", name), "items": f"{size}-{seen}"}
    signature = Signature(parts | {"margin": margin, "conf": confidence, "n": n_resamples, "seed": seed})
    return MetricCard(name, tuple(table), spread, signature)
