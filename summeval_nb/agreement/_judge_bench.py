# A plain private module: edited here, exported by no notebook, tested in tests/test_judge_bench.py.
"""The labelled sets of the package as questions to a judge, the asking, and the table that chapter 56 shows."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from ..evidence.bench import LabelledSentence, bench_sentences
from ..evidence.labelled import checked_set
from ..evidence.words import calibration
from ..ground._addresses import without_secrets
from ..ground._frames import Rows
from ..ground._types import JsonDict
from ..ground.data import load_toy_summeval
from ..ground.results import ScoreTable, Signature, require_count, require_option
from ..ground.viz import figure_text, html_table, render, text_table
from ..judged.judge import load_judge
from ..judged.judging import Entailment, Flag, Judge, JudgeFailure, Statement, ask_many
from ..models._named import StoreOrPath
from ._annotators import ResamplingChoices, measured

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from typing_extensions import TypeIs

Said: TypeAlias = str | float | tuple[str, ...]  # a label, a grade, or the statements of a text


class Rater(Protocol):
    """Whoever grades one quality of summaries."""

    @property
    def quality(self) -> str:
        """Which one, such as "fluency"."""

    @property
    def signature(self) -> Signature:
        """Every choice that could change a grade."""

    def score_many(self, texts: Sequence[str], summaries: Sequence[str], /) -> ScoreTable:
        """Return the grades of many summaries."""


@dataclass(frozen=True)
class Case:
    """A labelled example: what is asked, the truth, and which others it is drawn together with."""

    purpose: str
    premise: str
    text: str
    truth: Said
    kind: str = ""
    binary: bool = False


@dataclass(frozen=True)
class Reply:
    """What a judge said of a case; `said` is None where it failed."""

    said: Said | None
    probability: float | None = None
    reason: str = ""


def _lines(name: str) -> list[JsonDict]:
    text = (resources.files("summeval_nb") / "assets" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _refusals() -> list[Case]:
    """Forty texts in styles on which the embedded judge's rules were not tuned."""
    said = {True: "refusal", False: "answer"}
    return [
        Case("refusal", row["text"], row["text"], said[row["refused"]], row["style"])
        for row in _lines("refusals_fresh")
    ]


def _pairs() -> list[Case]:
    """Forty statements that a reader decides at a glance, on twenty premises."""
    return [Case("entail", row["premise"], row["statement"], row["label"]) for row in _lines("clear_pairs")]


def as_cases(sentences: Sequence[LabelledSentence]) -> list[Case]:
    """Labelled sentences as questions whether the article entails them."""
    said = {True: "entailed", False: "not entailed"}
    return [Case("entail", one.article, one.text, said[bool(one.supported)], one.kind, True) for one in sentences]


def _splits() -> list[Case]:
    """Sentences with the statements they consist of; those on which the rules were not tuned."""
    rows = [row for row in _lines("statements") if row["part"] == "test"]
    return [
        Case("statements", row["hypothesis"], row["hypothesis"], _split(row["statements"]), row["style"])
        for row in rows
    ]


def _split(statements: Sequence[str]) -> tuple[str, ...]:
    return tuple(one.strip().rstrip(".!?").casefold() for one in statements)


SETS: dict[str, Callable[[], list[Case]]] = {
    "refusals": _refusals,
    "pairs": _pairs,
    "sentences": lambda: as_cases(bench_sentences()),
    "splits": _splits,
}


def chosen_sets(sets: object, known: Sequence[str]) -> dict[str, list[Case]]:
    """Sets by name: names of the package's, or labelled sentences of the user's own."""
    if isinstance(sets, Mapping):
        if not sets:
            raise ValueError("sets is empty: name a set, or leave it out")
        return {str(name): as_cases(checked_set(str(name), rows, LabelledSentence)) for name, rows in sets.items()}
    names = [sets] if isinstance(sets, str) else sets
    if not isinstance(names, Sequence) or not names:
        raise TypeError(
            f"sets must be names such as {known[0]!r}, or map names to labelled sentences, not {sets!r:.40}"
        )
    return {name: SETS[require_option(name, "set", known)]() for name in dict.fromkeys(names)}


def some(cases: list[Case], limit: int | None, seed: int) -> list[Case]:
    """At most `limit` cases, premise by premise in an order drawn by lot."""
    if limit is None or len(cases) <= limit:
        return cases
    premises = list(dict.fromkeys(one.premise for one in cases))
    order = np.random.default_rng(seed).permutation(len(premises))
    rank = {premises[place]: number for number, place in enumerate(order)}
    return sorted(cases, key=lambda one: rank[one.premise])[:limit]


Judged: TypeAlias = str | Judge | Rater
Sets: TypeAlias = str | Sequence[str] | Mapping[str, Sequence[LabelledSentence | Mapping[str, object]]]


def is_rater(judge: object) -> TypeIs[Rater]:
    """Whether this grades summaries, and is no judge."""
    return hasattr(judge, "score_many") and hasattr(judge, "quality")


def checked_options(limit: object, n_resamples: int, confidence: float, seed: int) -> ResamplingChoices:
    """The choices of the bootstrap; those and the limit refused where they make no sense."""
    how = ResamplingChoices(n_resamples=n_resamples, confidence=confidence, seed=seed)
    measured(lambda w: (w[:, 0], w[:, 0] + 1), 2, **how)  # checks them
    if limit is not None:
        require_count(limit, "limit")
    return how


def named_judges(judge: Judged | Mapping[str, Judged]) -> list[tuple[str, Judge | Rater]]:
    """Judges and raters, loaded, by the names that the table shows."""
    alone = judge if isinstance(judge, str) else type(judge).__name__
    named = judge if isinstance(judge, Mapping) else {alone: judge}
    if not named:
        raise ValueError('judge is empty: name one, such as {"embedded": "embedded"}')
    # an address may hold a password
    return [(without_secrets(str(name)), one if is_rater(one) else load_judge(one)) for name, one in named.items()]


def told_apart(judge: Judge | Rater, sets: Mapping[str, list[Case]]) -> tuple[str, Mapping[str, list[Case]]]:
    """What stands for a judge or rater in the signature, and the sets that it gets: a rater only its own grades."""
    if is_rater(judge):
        return str(judge.signature), {f"grades: {judge.quality}": grade_cases(judge.quality)}
    return judge.fingerprint, sets


def same(said: Said, truth: Said) -> bool:
    """Whether a case was judged rightly; grades are rounded."""
    if isinstance(said, (int, float)) and isinstance(truth, float):
        return round(said) == round(truth)
    return said == truth


def _usages(judge: object) -> list[Any]:
    """What counts the calls of a judge's language models."""
    held = list(vars(judge).values()) if hasattr(judge, "__dict__") else []
    found = [getattr(one, "usage", None) for one in (judge, *held)]
    return [one for one in found if hasattr(one, "calls") and hasattr(one, "prompt_tokens")]


def _used(judge: object) -> tuple[int | None, int | None]:
    usages = _usages(judge)
    if not usages:
        return None, None
    tokens = sum(one.prompt_tokens + one.generated_tokens for one in usages)
    return sum(one.calls for one in usages), tokens


@dataclass(frozen=True)
class Asked:
    """Cases with a judge's replies, in one order and in the other, and what one pass took; None: nothing counts it."""

    cases: Sequence[Case]
    replies: Sequence[Reply]
    turned: Sequence[Reply] = ()
    seconds: float = 0.0
    calls: int | None = None
    tokens: int | None = None

    def order_changes(self) -> float | None:
        """The share of answers that are others in the opposite order; None where there is no order."""
        pairs = [(one.said, two.said) for one, two in zip(self.replies, self.turned, strict=bool(self.turned))]
        changed = [one != two for one, two in pairs if one is not None and two is not None]
        return sum(changed) / len(changed) if changed else None

    def wrong_rows(self, judge: str, place: str) -> list[JsonDict]:
        """What was judged wrongly: the label, what was said, the probability and the text."""
        rows = []
        for case, reply in zip(self.cases, self.replies, strict=True):
            if reply.said is not None and not same(reply.said, case.truth):
                row: dict[str, object] = {"judge": judge, "set": place}
                row |= {"kind": case.kind, "label": case.truth, "said": reply.said}
                rows.append(row | {"probability": reply.probability, "text": case.text})
        return rows


def asked(judge: Judge | Rater, cases: Sequence[Case], store: StoreOrPath) -> Asked:
    """The replies of a judge or rater, once; a judge's also in the opposite order where there is one."""
    before, start = _used(judge), time.perf_counter()
    replies = ask_rater(judge, cases) if is_rater(judge) else ask_judge(judge, cases, store)
    seconds, after = time.perf_counter() - start, _used(judge)
    spent = [None if one is None or two is None else two - one for one, two in zip(before, after, strict=True)]
    turned = [] if is_rater(judge) or cases[0].purpose != "entail" else ask_judge(judge, cases, store, backwards=True)
    return Asked(cases, replies, turned, seconds, *spent)


def plain_pairs(said: Sequence[Said], truth: Sequence[Said]) -> list[tuple[Said, Said]]:
    """What was said beside the label; of splits whether they are the same."""
    pairs = list(zip(said, truth, strict=True))
    return [(one == two, True) if isinstance(two, tuple) else (one, two) for one, two in pairs]


def columns(found: Mapping[str, JsonDict]) -> JsonDict:
    """Measures with the ends of their intervals as columns of a row."""
    row: JsonDict = {}
    for name, one in found.items():
        low, high = one["interval"] or (None, None)
        row |= {name: one["score"], f"{name}_low": low, f"{name}_high": high}
    return row


def ask_judge(judge: Judge, cases: Sequence[Case], store: StoreOrPath, *, backwards: bool = False) -> list[Reply]:
    """A judge's replies to the cases of a set; with `backwards` statements of a premise are asked in reverse order."""
    if cases[0].purpose != "entail":
        answers = ask_many(judge, cases[0].purpose, [(one.text,) for one in cases], store=store)
        return [_reply(one, case) for one, case in zip(answers, cases, strict=True)]
    groups: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        groups.setdefault(case.premise, []).append(number)
    orders = [places[::-1] if backwards else places for places in groups.values()]
    items = [(premise, [cases[i].text for i in order]) for premise, order in zip(groups, orders, strict=True)]
    replies: dict[int, Reply] = {}
    for order, answer in zip(orders, ask_many(judge, "entail", items, store=store), strict=True):
        one_by_one = [answer] * len(order) if isinstance(answer, JudgeFailure) else answer
        if len(one_by_one) != len(order):
            short = JudgeFailure("entail", f"{len(one_by_one)} answers to {len(order)} statements")
            one_by_one = [short] * len(order)
        for place, one in zip(order, one_by_one, strict=True):
            replies[place] = _reply(one, cases[place])
    return [replies[place] for place in range(len(cases))]


def _reply(answer: list[Statement] | Flag | Entailment | JudgeFailure, case: Case) -> Reply:
    """What an answer says of a case, in the words of its label."""
    if isinstance(answer, JudgeFailure):
        return Reply(None, reason=str(answer))
    if isinstance(answer, list):
        return Reply(_split([one.text for one in answer]))
    said: str | None
    if isinstance(answer, Flag):
        said = None if answer.value is None else "refusal" if answer.value else "answer"
    else:
        no = case.binary and answer.label in ("neutral", "contradicted")
        said = "not entailed" if no else answer.label
    return Reply(said, answer.probability, reason=answer.reason if said is None else "")


def grade_cases(quality: str) -> list[Case]:
    """The bundled toy ratings of one quality, a case for each summary."""
    toy = load_toy_summeval()
    cells = zip(toy.sources, toy.summaries, toy.ratings[quality], strict=True)
    return [
        Case("grade", source, text, float(grade))
        for source, texts, grades in cells
        for text, grade in zip(texts, grades, strict=True)
    ]


def ask_rater(rater: Rater, cases: Sequence[Case]) -> list[Reply]:
    """A rater's grades; one without a number failed."""
    found = list(rater.score_many([one.premise for one in cases], [one.text for one in cases]).outcomes())
    if len(found) != len(cases):
        raise TypeError(f"{type(rater).__name__}.score_many gave {len(found)} grades for {len(cases)} summaries")
    return [Reply(one.score, reason=one.reason) for one in found]


Measures: TypeAlias = Callable[[Sequence[Said], Sequence[Said], Sequence[str]], JsonDict]


def table_row(judge: str, place: str, asked: Asked, measures: Measures) -> JsonDict:
    """What the table says of one judge on one set; `measures` is asked about what was judged."""
    both = list(zip(asked.cases, asked.replies, strict=True))
    kept = [(case, reply.said, reply.probability) for case, reply in both if reply.said is not None]
    row: JsonDict = {"judge": judge, "set": place, "n": len(both), "failed": len(both) - len(kept)}
    row |= dict.fromkeys(("right", "right_low", "right_high", "kappa", "kappa_low", "kappa_high", "calibration_error"))
    if kept:
        said, truth = [said for _, said, _ in kept], [case.truth for case, _, _ in kept]
        row |= measures(said, truth, [case.premise for case, _, _ in kept])
    if sure := [(case.truth in ("entailed", "refusal"), p) for case, _, p in kept if p is not None]:
        row["calibration_error"] = calibration([p for _, p in sure], [yes for yes, _ in sure]).score
    row |= {"order_changes": asked.order_changes(), "calls": asked.calls, "tokens": asked.tokens}
    row["seconds"] = asked.seconds
    split = asked.cases[0].purpose == "statements"
    missing = [name for name in ("right", "kappa") if row[name] is None and not (split and name == "kappa")]
    reasons = [f"undefined: {', '.join(missing)} (nothing to compare)"] if missing else []
    reasons += [f"first without an answer: {reply.reason}" for _, reply in both if reply.said is None][:1]
    return row | {"reason": "; ".join(reasons)}


@dataclass(frozen=True, repr=False, eq=False)
class BenchTables(Rows):
    """The table of a benchmark as rows, data, text, page and picture."""

    table: tuple[JsonDict, ...]
    wrong: tuple[JsonDict, ...]
    signature: Signature

    def rows(self) -> list[JsonDict]:
        """Return the rows of the table."""
        return [dict(row) for row in self.table]

    def to_dict(self) -> JsonDict:
        """Return rows, wrong answers and signature as plain Python data."""
        return {"rows": self.rows(), "wrong": [dict(row) for row in self.wrong], "signature": str(self.signature)}

    def __repr__(self) -> str:
        return f"{text_table(wide_rows(self.table))}\n\n{self.signature}"

    def _repr_html_(self) -> str:
        rows = wide_rows(self.table)
        table = html_table(rows, columns=[name for name in rows[0] if name != "reason"], caption="Judges, judged")
        said = [f"{row['judge']}, {row['set']}: {row['reason']}" for row in rows if row.get("reason")]
        return render("parts.html", parts=[table], notes=[*said, self.signature])

    def plot(self) -> Figure:
        """Draw the share of right answers and kappa, with their intervals."""
        return figure(self.table)


def wide_rows(table: Sequence[JsonDict]) -> list[JsonDict]:
    """The table as people read it: `.683 [.571, .790]`; without columns that no row has."""
    rows = []
    for row in table:
        shown: JsonDict = {name: row[name] for name in ("judge", "set", "n", "failed")}
        for name in ("right", "kappa"):
            value, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
            ends = "" if low is None else f" [{low:.3f}, {high:.3f}]"
            shown[name] = None if value is None else f"{value:.3f}{ends}"
        for name in ("calibration_error", "order_changes"):
            shown[name.replace("_", " ")] = None if row[name] is None else f"{row[name]:.3f}"
        shown |= {"calls": row["calls"], "tokens": row["tokens"], "seconds": f"{row['seconds']:.2f}"}
        rows.append(shown | {"reason": row["reason"] or None})
    idle = {name for name in rows[0] if all(row[name] is None for row in rows)}
    return [{name: value for name, value in row.items() if name not in idle} for row in rows]


def figure(table: Sequence[JsonDict]) -> Figure:
    """The share of right answers and kappa, a point with its interval for each judge and set."""
    import matplotlib.pyplot as plt

    height = 1.2 + 0.32 * max(len(table), 2)
    drawn, panels = plt.subplots(1, 2, figsize=(9, height), layout="constrained", sharey=True)
    for ax, name, title in zip(panels, ("right", "kappa"), ("share of right answers", "kappa"), strict=True):
        for place, row in enumerate(table):
            if row[name] is None:
                continue
            if row[f"{name}_low"] is not None:
                ax.plot([row[f"{name}_low"], row[f"{name}_high"]], [place, place], color="#1f5f99", linewidth=1.6)
            ax.plot(row[name], place, "o", color="#1f5f99", markersize=5)
        names = [figure_text(f"{row['judge']}: {row['set']}") for row in table]
        ax.set(title=title, yticks=range(len(table)), yticklabels=names)
        ax.axvline(0 if name == "kappa" else 0.5, color="#999999", linewidth=0.8)
        ax.grid(axis="x", color="#e5e5e5")
    panels[0].invert_yaxis()
    return drawn
