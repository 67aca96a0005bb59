"""How good checkers, judges and metrics are: on labelled sets, and on texts that were changed in known ways.

Chapters 43 and 66 say what the numbers mean; `evidence.labelled` has the measures of a checker. Here are the public
functions with their results, the sets, and the files that labelled sentences come in. A metric's card says what should
leave it as it is, what must make it fall, and what it does.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from summeval_nb.agreement.annotators import chance_corrected, code_ratings
from summeval_nb.agreement.correlation import draw_interval, with_interval
from summeval_nb.agreement.disagreement import cohen_disagreement
from summeval_nb.agreement.registry import load_metric
from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import (
    OWN_CHECKERS,
    InputWarning,
    JsonDict,
    Stages,
    one_bar,
    pd,
    plt,
    require_count,
    require_inner_share,
    require_option,
    require_text,
    require_texts,
    short_repr,
    steps,
)
from summeval_nb.core.files import frame_rows, open_items, read_asset, why_unread
from summeval_nb.core.html import figure_text, folded, html_table, markdown_report, render, text_table
from summeval_nb.core.metric import Metric, score_rows
from summeval_nb.core.resampling import MeanInterval, Resampling, mean_interval
from summeval_nb.core.results import Outcome, Rows, Signature, Verdict
from summeval_nb.evidence.base import Checker, how_well, left_out_rows, seen_articles
from summeval_nb.evidence.faithfulness import evaluate_many
from summeval_nb.evidence.faithfulness import judge as judged_through
from summeval_nb.evidence.guarantee import reliability
from summeval_nb.evidence.labelled import (
    BENCH_SETS,
    MEASURES,
    LabelledSentence,
    bench_sentences,
    checker_measures,
    measure_intervals,
)
from summeval_nb.evidence.model_checkers import COMBINATIONS, load_checker
from summeval_nb.judged.answers import evaluate_answers
from summeval_nb.judged.judging import Entailment, Flag, Judge, JudgeFailure, Statement
from summeval_nb.judged.rag import evaluate_rag
from summeval_nb.judged.session import ask_many, load_judge
from summeval_nb.models.store import Store, StoreOrPath, load_store
from summeval_nb.text.split import split_text

__all__ = ["FORMATS", "JUDGE_SETS", "MARKS", "WRAPPERS", "Bench", "MetricCard", "benchmark_checker", "benchmark_judge"]
__all__ += ["date_forms", "load_labelled", "metric_card"]

# a truth value, a word, or the statements of a text
Label: TypeAlias = str | bool | tuple[str, ...]
LabelledRows: TypeAlias = Iterable[LabelledSentence | Mapping[str, object]]


@dataclass(frozen=True)
class Case:
    """A labelled example: what is asked about a text, and the truth.

    Those with one premise are drawn together. Where the text is an answer, it answers `question`, and `expected` is the
    answer of people, if there is one.
    """

    task: str
    premise: str
    text: str
    truth: Label
    kind: str = ""
    binary: bool = False
    question: str = ""
    expected: str = ""


@dataclass(frozen=True)
class Reply:
    """What was said of a case; `said` is None where there is no answer, because it failed or was declined."""

    said: Label | None
    probability: float | None = None
    reason: str = ""
    declined: bool = False


@dataclass(frozen=True)
class BenchRun:
    """One checker or judge on one labelled set, case by case, and what it took; None where nothing counts it."""

    name: str
    set: str
    cases: tuple[Case, ...]
    replies: tuple[Reply, ...]
    seconds: float = 0.0
    calls: int | None = None
    tokens: int | None = None
    order_changes: float | None = None  # the share of answers that are others in the opposite order
    model: str = ""  # the packaged checker, where its own fit has seen articles of the set
    seen: Mapping[str, int] = field(default_factory=dict)  # the sets it was fitted to, and how many articles they hold
    hard: bool = False  # whether 1, .5 and 0 stand in the place of probabilities

    @property
    def answered(self) -> list[tuple[Case, Reply]]:
        """The cases with an answer."""
        return [(c, r) for c, r in zip(self.cases, self.replies, strict=True) if r.said is not None]

    @property
    def probabilities(self) -> tuple[float | None, ...]:
        """The probability of each case."""
        return tuple(reply.probability for reply in self.replies)

    @property
    def fitted_to(self) -> str:
        """What of the set a checker was fitted to, in words; empty if nothing."""
        names = {row["key"]: row["set"] for row in how_well()["rows"]}
        total = len({case.premise for case in self.cases})
        return "; ".join(f"{names[key]}: {n} of {total} articles" for key, n in self.seen.items())


_COLORS = ("#1f5f99", "#b34700", "#3f6f21", "#7a3b8f", "#555555")
_SEEN = (
    "The checker was fitted to these sets (fitted to), so the figures above are no result. By a version that had not "
    "seen the set:"
)


@dataclass(frozen=True, repr=False, eq=False)
class Bench:
    """Checkers, or judges, measured on labelled sets; made by `benchmark_checker` and `benchmark_judge`.

    Parameters
    ----------
    who : str
        "checker" or "judge": the first column of every table.
    measures : tuple of str
        The columns that have intervals, their ends in `_low` and `_high`.
    runs : tuple of BenchRun
        Every answer behind the table.
    table : tuple of dict
        A row for each of them and each set. Undefined is None.
    signature : Signature
        Every choice that could change a number but calls and seconds.
    """

    who: str
    measures: tuple[str, ...]
    runs: tuple[BenchRun, ...]
    table: tuple[JsonDict, ...]
    signature: Signature

    def rows(self) -> list[JsonDict]:
        """Return a row for each checker or judge and each set, with the ends of each interval."""
        return [dict(row) for row in self.table]

    def kind_rows(self) -> list[JsonDict]:
        """Return for each kind and label of a set `n` answers and the share judged rightly; and how many have none."""
        rows = []
        for run in self.runs:
            kinds: dict[tuple[str, Label], list[bool | None]] = {}
            for case, reply in zip(run.cases, run.replies, strict=True):
                if isinstance(case.truth, (bool, np.bool_)) or (case.kind and isinstance(case.truth, str)):
                    right = None if reply.said is None else reply.said == case.truth
                    kinds.setdefault((case.kind, case.truth), []).append(right)
            for (kind, label), every in kinds.items():
                counted = [right for right in every if right is not None]
                row: JsonDict = {self.who: run.name, "set": run.set, "kind": kind, "label": label}
                rows.append(row | {"no_answer": len(every) - len(counted)} | _share_right(counted))
        return rows

    def wrong_rows(self) -> list[JsonDict]:
        """Return what was judged wrongly, the surest first."""
        rows: list[JsonDict] = [
            {self.who: run.name, "set": run.set, "kind": case.kind, "label": case.truth, "said": reply.said}
            | {"probability": reply.probability, "text": case.text}
            for run in self.runs
            for case, reply in run.answered
            if reply.said != case.truth
        ]
        return sorted(rows, key=lambda row: -abs(row["probability"] - 0.5) if row["probability"] is not None else 0.0)

    def published_rows(self) -> list[JsonDict]:
        """Return figures of others for checkers from their papers, none of them measured here."""
        rows = json.loads(read_asset("checker_references.json"))["published"] if self.who == "checker" else []
        return [row | {"status": "published"} for row in rows]

    def left_out_rows(self) -> list[JsonDict]:
        """Return what a packaged checker reaches on each set that it was fitted to, when it has not seen it.

        Measured on the whole set, each sentence with the evidence that `evaluate` chooses.
        """
        asked = {(run.model, key): run.name for run in self.runs for key in run.seen}
        return [{self.who: name} | row for (model, key), name in asked.items() for row in left_out_rows(model, [key])]

    def wide_rows(self) -> list[JsonDict]:
        """Return the table as people read it: `.683 [.571, .790]`, without columns that say nothing."""
        rows = []
        for row in self.table:
            shown: JsonDict = {name: row[name] for name in (self.who, "set", "n", "failed")}
            shown["declined"] = row["declined"] or None
            for name in self.measures:
                ends = row[f"{name}_low"], row[f"{name}_high"]
                shown[name.replace("_", " ")] = None if row[name] is None else with_interval(row[name], ends)
            for name in ("calibration_error", "order_changes"):
                shown[name.replace("_", " ")] = None if row[name] is None else f"{row[name]:.3f}"
            shown |= {"calls": row["calls"], "tokens": row["tokens"], "seconds": f"{row['seconds']:.2f}"}
            rows.append(shown | {"fitted to": row["fitted_to"] or None, "reason": row["reason"] or None})
        return _without_idle(rows)

    def wide_kinds(self) -> list[JsonDict]:
        """All labels of each kind in one row, as people read it: `12 of 14 [.60, .96]`."""
        table: dict[tuple[str, str, str], JsonDict] = {}
        rows, sides = self.kind_rows(), {True: "true passed", False: "false found"}
        columns = dict.fromkeys(sides.get(row["label"], f"{row['label']}: right") for row in rows)
        for row in rows:
            key = {name: row[name] for name in (self.who, "set", "kind")}
            shown = table.setdefault(tuple(key.values()), key | dict.fromkeys(columns) | {"no answer": 0})
            ends = f" [{row['low']:.2f}, {row['high']:.2f}]" if row["n"] else ""
            column = sides.get(row["label"], f"{row['label']}: right")
            shown[column] = f"{round((row['right'] or 0) * row['n'])} of {row['n']}{ends}"
            shown["no answer"] += row["no_answer"]
        return _without_idle(list(table.values()))

    def to_frame(self, *, kinds: bool = False) -> pd.DataFrame:
        """Return `rows`, or with `kinds=True` the rows by kind, as a table."""
        return pd.DataFrame(self.kind_rows() if kinds else self.rows())

    def to_dict(self) -> JsonDict:
        """Return the tables and the signature as plain Python data."""
        more = {"kinds": self.kind_rows(), "wrong": self.wrong_rows(), "left_out": self.left_out_rows()}
        return {"rows": self.rows(), **more, "published": self.published_rows(), "signature": str(self.signature)}

    def _tables(self) -> list[tuple[str, list[JsonDict]]]:
        """Each table that has rows, with its heading."""
        found = [
            ("Measured here", self.wide_rows()),
            (_SEEN, self.left_out_rows()),
            ("By kind: how many were judged rightly", self.wide_kinds()),
            ("Published, not measured here", self.published_rows()),
        ]
        return [(title, rows) for title, rows in found if rows]

    def __repr__(self) -> str:
        (_, first), *others = self._tables() or [("", [])]
        parts = [text_table(first), *(f"{title.removesuffix(':')}:\n\n{text_table(rows)}" for title, rows in others)]
        return "\n\n".join([*parts, str(self.signature)])

    def _repr_html_(self) -> str:
        folds = ("By kind", "Published")
        parts = [
            folded(f"{title} ({len(rows)} rows)", html_table(rows))
            if title.startswith(folds)
            else html_table(rows, caption=title)
            for title, rows in self._tables()
        ]
        return render("parts.html", parts=parts, notes=[self.signature])

    def plot(self) -> plt.Figure:
        """Draw the measures with their intervals on the left, the share right by kind on the right."""
        rows, kinds = self.table, self.kind_rows()
        names = list(dict.fromkeys(row["kind"] for row in kinds))
        height = 1.4 + 0.32 * max(len(self.measures), len(names), 3)
        drawn, axes = plt.subplots(1, 1 + bool(names), figsize=(10, height), layout="constrained", squeeze=False)
        left, right = axes[0][0], axes[0][-1]
        for number, row in enumerate(rows):
            color, shift = _COLORS[number % len(_COLORS)], 0.5 * (number - (len(rows) - 1) / 2) / len(rows)
            for place, name in enumerate(self.measures):
                draw_interval(left, place + shift, row[name], (row[f"{name}_low"], row[f"{name}_high"]), color)
            for kind in kinds:
                if (kind[self.who], kind["set"]) == (row[self.who], row["set"]):
                    hollow = kind["label"] in (False, "wrong", "not entailed")
                    row_of_kind = names.index(kind["kind"]) + shift + 0.15 * hollow
                    draw_interval(right, row_of_kind, kind["right"], (kind["low"], kind["high"]), color, hollow=hollow)
            left.plot([], [], "o-", color=color, label=figure_text(f"{row[self.who]} on {row['set']}"))
        sides: list[tuple[plt.Axes, Sequence[str], str]] = [(left, self.measures, "measures")]
        if names:
            sides.append((right, names, "judged rightly, by kind (hollow: false ones)"))
        for ax, labels, title in sides:
            shown = [figure_text(label.replace("_", " ")) or "(no kind)" for label in labels]
            ax.set(yticks=range(len(labels)), yticklabels=shown, title=title)
            ax.invert_yaxis()
            ax.axvline(0.5, color="#999999", linewidth=0.8)
            ax.grid(axis="x", color="#e5e5e5")
        drawn.legend(loc="outside lower center", ncols=2, frameon=False)
        return drawn


def _without_idle(rows: list[JsonDict]) -> list[JsonDict]:
    """Rows without the columns that say nothing in any of them."""
    idle = {name for name in rows[0] if all(row[name] in (None, 0) for row in rows)} - {"failed"} if rows else set()
    return [{name: value for name, value in row.items() if name not in idle} for row in rows]


def _share_right(right: Sequence[bool]) -> JsonDict:
    """How many there are, and the share judged rightly with Wilson's interval; None where there is none."""
    low, high, _ = mean_interval(right, bounded=True)
    return {"n": len(right), "right": sum(right) / len(right) if right else None, "low": low, "high": high}


def draw_cases(cases: list[Case], limit: int | None, seed: int) -> list[Case]:
    """Return at most `limit` cases, of whole premises drawn by lot, in the order of the set."""
    if limit is None or require_count(limit, "limit") >= len(cases):
        return cases
    premises = list(dict.fromkeys(case.premise for case in cases))
    order = np.random.default_rng(seed).permutation(len(premises))
    rank = {premises[place]: number for number, place in enumerate(order)}
    places = sorted(range(len(cases)), key=lambda place: rank[cases[place].premise])[:limit]
    return [cases[place] for place in sorted(places)]


def _row(
    run: BenchRun,
    who: str,
    found: Mapping[str, tuple[float | None, tuple[float | None, float | None] | None]],
    texts: Mapping[str, np.ndarray],
    wanted: Sequence[str],
    error: float | None,
    resampling: Resampling,
) -> JsonDict:
    """The table's row for a run, and why something in it is None; `texts` are those of the items that a share is of."""
    measures: JsonDict = {}
    for name, (value, ends) in found.items():
        low, high = ends or (None, None)
        if low is None and name in texts and resampling.n_resamples and value in (0, 1):
            alike = [value] * len(set(texts[name].tolist()))  # Wilson's interval, in which each text counts once
            low, high, _ = mean_interval(alike, bounded=True, confidence=resampling.confidence)
        measures |= {name: value, f"{name}_low": low, f"{name}_high": high}
    none = [reply for reply in run.replies if reply.said is None]
    missing = [name for name in wanted if measures[name] is None]
    bare = [name for name in wanted if name not in missing and measures[f"{name}_low"] is None]
    said = [f"undefined: {', '.join(missing)} (nothing to count)"] if missing else []
    if bare and resampling.n_resamples:
        said.append(f"no interval: {', '.join(bare)} (drawing the texts again shows no spread)")
    said += [f"first without an answer: {reply.reason}" for reply in none][:1]
    declined = sum(reply.declined for reply in none)
    row: JsonDict = {who: run.name, "set": run.set, "n": len(run.cases)}
    row |= {"failed": len(none) - declined, "declined": declined} | measures
    row |= {"calibration_error": error, "order_changes": run.order_changes, "calls": run.calls, "tokens": run.tokens}
    return row | {"seconds": run.seconds, "fitted_to": run.fitted_to, "reason": "; ".join(said)}


def _texts_of(run: BenchRun) -> np.ndarray:
    """The number of the text of each answered case."""
    places: dict[str, int] = {}
    return np.array([places.setdefault(case.premise, len(places)) for case, _ in run.answered], dtype=int)


# Checkers


def benchmark_checker(
    checker: str | Checker | Mapping[str, str | Checker] = "embedded",
    sets: str | Mapping[str, LabelledRows] = "package",
    *,
    combine: str = "minimum",
    reports: bool | None = None,
    limit: int | None = None,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    store: StoreOrPath = None,
    progress: bool | None = None,
) -> Bench:
    """Measure checkers on labelled sentences.

    Parameters
    ----------
    checker : str, Checker or mapping of str to them
        One checker, or several by the names to show in the table.
    sets : str, or mapping of str to iterable of LabelledSentence
        "package" or "everyday"; or sets of yours by name, as `load_labelled` reads them. Rows with `article`,
        `sentence` and `supported`, or a table of them, will do as well.
    combine : str
        "minimum" or "mean": the probability of a summary from those of its sentences.
    reports : bool, optional
        Whether `evaluate` judges, with all that it does to a text, or the checker alone. By default `evaluate` for a
        set named "everyday", and for no other.
    limit : int, optional
        At most so many items of each set, whole articles drawn by lot.
    n_resamples, confidence, seed
        Of the bootstrap over articles; 0 resamples for none.
    store : Store or path, optional
        Where verdicts are kept; what it holds is not asked, and takes no time.
    progress : bool, optional
        Whether to show a progress bar; by default for more than 128 items.

    Returns
    -------
    Bench
        With `auc`, `balanced_accuracy`, `false_found`, `true_passed` and `precision` of each checker on each set.

    Raises
    ------
    TypeError, ValueError
        If a checker, a set or an option is not what it should be.

    References
    ----------
    Laban et al. 2022, SummaC, TACL 10 (balanced accuracy); Efron 1979.
    """
    if isinstance(sets, str):
        sets = {sets: BENCH_SETS[require_option(sets, "set", BENCH_SETS)]()}
    require_option(combine, "combine", COMBINATIONS)
    resampling = Resampling(n_resamples, confidence, seed)
    if not isinstance(sets, Mapping) or not sets:
        ours = f"a set of the package: {', '.join(BENCH_SETS)}"
        raise TypeError(f'sets must map names to labelled sentences, as in {{"mine": rows}}, or be {ours}')
    found = {str(name): labelled_cases(str(name), rows, "check") for name, rows in sets.items()}
    chosen = {name: draw_cases(cases, limit, seed) for name, cases in found.items()}
    named = checker if isinstance(checker, Mapping) else {_name_of(checker): checker}
    checkers = {redacted(str(name)): load_checker(value) for name, value in named.items()}
    by_evaluate = {name for name in chosen if (name == "everyday" if reports is None else reports)}
    kept = load_store(store)
    asked = [(*own, name) for own in checkers.items() for name in chosen]
    sizes = [len(chosen[name]) for *_, name in asked]
    with one_bar(sum(sizes), "checkers", "item", show=sum(sizes) > 128 if progress is None else progress):
        runs = [
            _checker_run(label, own, name, chosen[name], combine, kept, name in by_evaluate)
            for label, own, name in steps(asked, sizes)
        ]
    parts: dict[str, object] = {"metric": "checker-bench", "combine": combine}
    for name, cases in chosen.items():
        content = json.dumps([(case.premise, case.text, bool(case.truth), case.kind) for case in cases])
        digest = hashlib.sha256(content.encode("ascii")).hexdigest()[:12]
        parts[f"{'reports' if name in by_evaluate else 'set'} {name}"] = digest
    parts |= {f"checker {label}": f"{own.fingerprint}@{own.threshold}" for label, own in checkers.items()}
    table = tuple(_checker_row(run, resampling) for run in runs)
    return Bench("checker", MEASURES, tuple(runs), table, Signature(parts | resampling.signature))


def _name_of(judge: object) -> str:
    return judge if isinstance(judge, str) else type(judge).__name__


def _checker_run(
    label: str, checker: Checker, name: str, cases: Sequence[Case], combine: str, store: Store | None, by_evaluate: bool
) -> BenchRun:
    """A set judged by a checker or by `evaluate`, the sentences of each text put together.

    One text is judged first, so that no clock counts the loading of a model.
    """
    judge = _verdicts_by_evaluate if by_evaluate else _verdicts_by_checker
    stage = Stages(first=0, all=1)
    with stage("first"):
        judge(checker, cases[:1], store, first=True)
    before, start = _used(checker), time.perf_counter()
    with stage("all"):
        judged = judge(checker, cases, store)
    seconds, spent = time.perf_counter() - start, _since(before, checker)
    replies = []
    for group in judged:
        values = [verdict.support for verdict in group if verdict.support is not None]
        if len(values) == len(group):
            said = all(verdict.supported is True for verdict in group)
            replies.append(Reply(said, COMBINATIONS[combine](values)))
        else:
            reason = next(verdict.reason for verdict in group if verdict.support is None)
            replies.append(Reply(None, reason=reason, declined=not any(verdict.failed for verdict in group)))
    inner: Any = checker  # perhaps a wrapper of a packaged one
    while not hasattr(inner, "fitted_to") and hasattr(inner, "inner"):
        inner = inner.inner
    seen = seen_articles({case.premise for case in cases}, getattr(inner, "fitted_to", ()))
    model = str(getattr(inner, "fingerprint", "")).partition("-")[0] if seen else ""
    hard = any(verdict.hard for group in judged for verdict in group)
    return BenchRun(label, name, tuple(cases), tuple(replies), seconds, *spent, None, model, seen, hard)


def _verdicts_by_checker(
    checker: Checker, cases: Sequence[Case], store: Store | None, *, first: bool = False
) -> list[list[Verdict]]:
    """The verdicts on the sentences of each text, with the whole article as evidence."""
    articles = {premise: split_text(premise) for premise in dict.fromkeys(case.premise for case in cases)}
    parts = [split_text(case.text) for case in cases]
    pairs = [(articles[c.premise], text) for c, texts in zip(cases, parts, strict=True) for text in texts]
    verdicts = judged_through(pairs[:1] if first else pairs, checker, None, store)
    return [] if first else [[next(verdicts) for _ in texts] for texts in parts]


def _verdicts_by_evaluate(
    checker: Checker, cases: Sequence[Case], store: Store | None, *, first: bool = False
) -> list[list[Verdict]]:
    """The verdicts that count in the report of each text; what is not judged, such as a heading, counts for nothing."""
    articles, texts = [case.premise for case in cases], [case.text for case in cases]
    with warnings.catch_warnings():  # the table says what became of odd texts
        warnings.simplefilter("ignore", InputWarning)
        reports = evaluate_many(articles, texts, checker=checker, store=store, progress=None if first else False)
    counted = [[verdict for verdict in report.verdicts if verdict.judged or verdict.failed] for report in reports]
    return [own or list(report.verdicts[:1]) for own, report in zip(counted, reports, strict=True)]


def _checker_row(run: BenchRun, resampling: Resampling) -> JsonDict:
    """The measures of a run with their intervals over articles."""
    group, labels = _texts_of(run), [bool(case.truth) for case, _ in run.answered]
    p = [float(reply.probability or 0.0) for _, reply in run.answered]
    said = [bool(reply.said) for _, reply in run.answered]
    found: dict[str, Any] = dict.fromkeys(MEASURES, (None, None))
    if labels:
        ends = measure_intervals([np.array(side, float) for side in (labels, p, said)], group, resampling)
        values = checker_measures(labels, p, said)
        found = {name: (values[name], pair) for name, pair in zip(MEASURES, ends, strict=True)}
    counted = zip(MEASURES[2:], ([not y for y in labels], labels, said), strict=True)  # what each is a share of
    texts = {name: group[np.array(chosen, dtype=bool)] for name, chosen in counted}
    # hard verdicts have no probabilities that could be right
    return _row(run, "checker", found, texts, MEASURES, None if run.hard else reliability(p, labels).score, resampling)


def _used(judge: object) -> tuple[int, int] | None:
    """Calls and tokens of the language models that a checker or a judge holds; None where nothing counts them."""
    while hasattr(judge, "inner"):
        judge = judge.inner
    held = [judge, *(vars(judge).values() if hasattr(judge, "__dict__") else ())]
    usages: list[Any] = [usage for own in held if hasattr(usage := getattr(own, "usage", None), "prompt_tokens")]
    counts = [(usage.calls, usage.prompt_tokens + usage.generated_tokens) for usage in usages]
    return (sum(calls for calls, _ in counts), sum(tokens for _, tokens in counts)) if counts else None


def _since(before: tuple[int, int] | None, judge: object) -> tuple[int | None, int | None]:
    """Calls and tokens since then."""
    if (after := _used(judge)) is None:
        return None, None
    return after[0] - (before or (0, 0))[0], after[1] - (before or (0, 0))[1]


# Judges


def benchmark_judge(
    judge: str | Judge | Mapping[str, str | Judge] = "embedded",
    sets: str | Sequence[str] | Mapping[str, LabelledRows] | None = None,
    *,
    limit: int | None = None,
    store: StoreOrPath = None,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Bench:
    """Put judges through labelled sets.

    Parameters
    ----------
    judge : str, Judge or mapping of str to them
        As for `load_judge`, such as `"embedded"` or `"llm:FOLDER"`; several by the names to show in the table.
    sets : str, sequence of str, or mapping of str to sequence of LabelledSentence, optional
        Of `JUDGE_SETS`, by default all but "everyday"; or labelled sentences of your own, by name, also as rows or
        tables as for `benchmark_checker`.
    limit : int, optional
        At most so many examples of each set, whole texts drawn by lot.
    store : Store or path, optional
        Where judges' answers are kept. Answers from it cost no call and no time.
    n_resamples, confidence, seed
        Of the bootstrap over texts; 0 resamples for none.

    Returns
    -------
    Bench
        With the share of `right` answers and `kappa` of each judge on each set.

    Raises
    ------
    TypeError, ValueError
        If a judge, a set or an option is not what it should be.

    References
    ----------
    Cohen 1960; Zheng et al. 2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, NeurIPS (position bias).

    Examples
    --------
    >>> found = benchmark_judge("words", "pairs", limit=4, n_resamples=0)
    >>> found.rows()[0]["n"], found.rows()[0]["failed"]
    (4, 0)
    """
    resampling = Resampling(n_resamples, confidence, seed)
    chosen = _judge_sets(USUAL_SETS if sets is None else sets)
    named = judge if isinstance(judge, Mapping) else {_name_of(judge): judge}
    if not named:
        raise ValueError('judge is empty: name one, such as {"embedded": "embedded"}')
    # an address may hold a password
    judges = {redacted(str(name)): load_judge(own) for name, own in named.items()}
    kept, runs, parts = load_store(store), [], {"metric": "judge-bench", "sets": "+".join(chosen)}
    for name, loaded in judges.items():
        parts[f"judge {name}"] = loaded.fingerprint
        for place, cases in chosen.items():
            runs.append(_judge_run(name, loaded, place, draw_cases(cases, limit, seed), kept))
    signature = Signature(parts | {"limit": limit} | resampling.signature)
    return Bench(
        "judge", ("right", "kappa"), tuple(runs), tuple(_judge_row(run, resampling) for run in runs), signature
    )


def _judge_run(name: str, judge: Judge, place: str, cases: list[Case], store: StoreOrPath) -> BenchRun:
    """The replies of a judge, once; statements also in the opposite order, where there are several a text."""
    before, start = _used(judge), time.perf_counter()
    replies = ask_judge(judge, cases, store)
    seconds, spent = time.perf_counter() - start, _since(before, judge)
    changes = None
    if cases[0].task == "entail":
        changes = order_changes(replies, ask_judge(judge, cases, store, backwards=True))
    return BenchRun(name, place, tuple(cases), tuple(replies), seconds, *spent, changes)


def order_changes(replies: Sequence[Reply], turned: Sequence[Reply]) -> float | None:
    """Return the share of answers that are others in the opposite order; None where none can be compared."""
    pairs = [(own.said, other.said) for own, other in zip(replies, turned, strict=True)]
    changed = [own != other for own, other in pairs if own is not None and other is not None]
    return sum(changed) / len(changed) if changed else None


def ask_judge(judge: Judge, cases: Sequence[Case], store: StoreOrPath, *, backwards: bool = False) -> list[Reply]:
    """Return a judge's replies to the cases of a set; with `backwards` the statements of a premise in reverse order."""
    if cases[0].task == "answer":
        return _ask_about_answers(judge, cases, store)
    if cases[0].task != "entail":
        answers = ask_many(judge, cases[0].task, [(case.text,) for case in cases], store=store)
        return [_reply(answer, case) for answer, case in zip(answers, cases, strict=True)]
    groups: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        groups.setdefault(case.premise, []).append(number)
    orders = [places[::-1] if backwards else places for places in groups.values()]
    items = [(premise, [cases[i].text for i in order]) for premise, order in zip(groups, orders, strict=True)]
    replies: dict[int, Reply] = {}
    for order, answer in zip(orders, ask_many(judge, "entail", items, store=store), strict=True):
        each = [answer] * len(order) if isinstance(answer, JudgeFailure) else answer
        if len(each) != len(order):
            each = [JudgeFailure("entail", f"{len(each)} answers to {len(order)} statements")] * len(order)
        replies |= {place: _reply(own, cases[place]) for place, own in zip(order, each, strict=True)}
    return [replies[place] for place in range(len(cases))]


def _reply(answer: list[Statement] | Flag | Entailment | JudgeFailure, case: Case) -> Reply:
    """The reply to a case, in the words of its label."""
    if isinstance(answer, JudgeFailure):
        return Reply(None, reason=str(answer))
    if isinstance(answer, list):
        return Reply(_split([statement.text for statement in answer]))
    said: str | None
    if isinstance(answer, Flag):
        said = None if answer.value is None else "refusal" if answer.value else "answer"
    else:
        no = case.binary and answer.label in ("neutral", "contradicted")
        said = "not entailed" if no else answer.label
    return Reply(said, answer.probability, reason=answer.reason if said is None else "")


def _ask_about_answers(judge: Judge, cases: Sequence[Case], store: StoreOrPath) -> list[Reply]:
    """Whether answers are right: by the answer of people where there is one, otherwise by what was read."""
    replies = [Reply(None)] * len(cases)
    if known := {place: case for place, case in enumerate(cases) if case.expected}:
        rows = [
            {"context": case.premise, "question": case.question, "ground_truth": case.expected, "answer": case.text}
            for case in known.values()
        ]
        reports = evaluate_answers(rows, judge=judge, store=load_store(store), progress=False)
        for place, report in zip(known, reports, strict=True):
            unsure = report.verdict == "the judge cannot tell"
            said = None if unsure else "right" if report.verdict == "right" else "wrong"
            replies[place] = Reply(said, reason=report.first_line if unsure else "")
    if others := {place: case for place, case in enumerate(cases) if not case.expected}:
        read = [{"question": c.question, "contexts": [c.premise], "answer": c.text} for c in others.values()]
        found = evaluate_rag(read, ["answer_faithfulness"], judge=judge, store=store, progress=False)
        scores = [own.scores["answer_faithfulness"] for own in found]
        for place, result in zip(others, scores, strict=True):
            said = None if result.score is None else "right" if result.score == 1 else "wrong"
            replies[place] = Reply(said, reason=result.reason)
    return replies


def _judge_row(run: BenchRun, resampling: Resampling) -> JsonDict:
    """The share of right answers and kappa, with intervals over texts."""
    measured = _judge_measures(run, resampling) if run.answered else {}
    found: dict[str, Any] = dict.fromkeys(("right", "kappa"), (None, None))
    found |= {name: (measure["score"], measure["interval"]) for name, measure in measured.items()}
    sure = [(r.probability, c.truth in ("entailed", "refusal")) for c, r in run.answered if r.probability is not None]
    error = reliability(*zip(*sure, strict=True)).score if sure else None
    names = ["right"] if run.cases[0].task == "statements" else ["right", "kappa"]  # a split is no category
    return _row(run, "judge", found, {"right": _texts_of(run)}, names, error, resampling)


def _judge_measures(run: BenchRun, resampling: Resampling) -> dict[str, JsonDict]:
    """1 less observed over expected disagreement, twice: for the share of right answers the expected one is 1."""
    place = _texts_of(run)
    n_texts = int(place.max()) + 1
    wrong = np.array([reply.said != case.truth for case, reply in run.answered])

    def share(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return w[:, place] @ wrong / w[:, place].sum(axis=1), np.ones(len(w))

    found = {"right": chance_corrected(share, n_texts, resampling)}
    if run.cases[0].task == "statements":
        return found
    coded = code_ratings([(reply.said, case.truth) for case, reply in run.answered], None)
    apart = 1.0 - np.eye(len(coded.categories))

    def kappa(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return cohen_disagreement(coded.codes, apart, w[:, place])

    return found | {"kappa": chance_corrected(kappa, n_texts, resampling)}


# The sets of judges


def _lines(name: str) -> list[JsonDict]:
    return [json.loads(line) for line in read_asset(name).decode("utf-8").splitlines()]


def _refusals() -> list[Case]:
    """Forty texts in styles on which the embedded judge's rules were not tuned."""
    return [
        Case("refusal", row["text"], row["text"], "refusal" if row["refused"] else "answer", row["style"])
        for row in _lines("refusals_fresh.jsonl")
    ]


def _pairs() -> list[Case]:
    """Forty statements that a reader decides at a glance, on twenty premises."""
    return [Case("entail", row["premise"], row["statement"], row["label"]) for row in _lines("clear_pairs.jsonl")]


def _splits() -> list[Case]:
    """Sentences with the statements they consist of: those on which the rules were not tuned."""
    rows = [row for row in _lines("statements.jsonl") if row["part"] == "test"]
    said = [row["hypothesis"] for row in rows]
    return [
        Case("statements", t, t, _split(row["statements"]), row["style"]) for t, row in zip(said, rows, strict=True)
    ]


def _split(statements: Sequence[str]) -> tuple[str, ...]:
    return tuple(statement.strip().rstrip(".!?").casefold() for statement in statements)


def _everyday() -> list[Case]:
    """Right and wrong answers as people have them: one word, yes or no, a value in another form, a table."""
    found = []
    for row in _lines("everyday_answers.jsonl.gz"):
        truth = "right" if row["supported"] else "wrong"
        asked = {"question": row["question"], "expected": row["truth"]}
        found.append(Case("answer", row["article"], row["text"], truth, row["kind"], **asked))
    return found


SETS: dict[str, Callable[[], list[Case]]] = {
    "refusals": _refusals,
    "pairs": _pairs,
    "sentences": lambda: labelled_cases("sentences", bench_sentences(), "entail"),
    "splits": _splits,
    "everyday": _everyday,
}
JUDGE_SETS = tuple(SETS)
USUAL_SETS = JUDGE_SETS[:-1]  # "everyday" takes many calls


def _judge_sets(sets: object) -> dict[str, list[Case]]:
    """Sets by name: names of the package's, or labelled sentences of the user's own."""
    if isinstance(sets, Mapping):
        if not sets:
            raise ValueError("sets is empty: name a set, or leave it out")
        return {str(name): labelled_cases(str(name), rows, "entail") for name, rows in sets.items()}
    names = [sets] if isinstance(sets, str) else sets
    if not isinstance(names, Sequence) or not names:
        wanted = f"names such as {JUDGE_SETS[0]!r}, or map names to labelled sentences"
        raise TypeError(f"sets must be {wanted}, not {sets!r:.40}")
    return {name: SETS[require_option(name, "set", JUDGE_SETS)]() for name in dict.fromkeys(names)}


# Labelled sentences of the user's own, and the files they come in


def labelled_cases(name: str, items: object, task: str) -> list[Case]:
    """Return the cases of a set of labelled sentences, rows or a table, each looked at.

    The task "check" has truth values, "entail" the words of a judge.
    """
    items = frame_rows(items)
    if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
        wanted = "LabelledSentence, or of rows with 'article', 'sentence' and 'supported'"
        raise TypeError(f"sets[{name!r}] must be a list of {wanted}, not {type(items).__name__}")
    words, found = {True: "entailed", False: "not entailed"}, []
    for place, item in enumerate(items):
        where = f"sets[{name!r}][{place}]"
        made: Any = _labelled(item, where) if isinstance(item, Mapping) else item
        if not all(hasattr(made, part) for part in ("article", "text", "supported", "kind")):
            raise TypeError(f"{where} must be a LabelledSentence, not {type(made).__name__}")
        for part, value in (("article", made.article), ("text", made.text)):
            if not isinstance(value, str) or not value.strip():
                raise ValueError(f"{where}.{part} must be a text that is not empty, not {value!r:.40}")
        if not isinstance(made.supported, (bool, np.bool_)):
            raise TypeError(f"{where}.supported must be True or False, not {made.supported!r:.40}")
        truth = words[bool(made.supported)] if task == "entail" else bool(made.supported)
        found.append(Case(task, made.article, made.text, truth, made.kind, binary=True))
    if not found:
        raise ValueError(f"sets[{name!r}] is empty: leave it out")
    return found


def load_labelled(path: str | PathLike[str], *, format: str = "rows") -> list[LabelledSentence]:
    """Read labelled sentences or summaries from a file of yours or of a public set.

    Parameters
    ----------
    path : str or Path
        A file; for "summedits" also the folder that holds the files.
    format : str
        One of `FORMATS`, see the table in chapter 43.

    Raises
    ------
    ValueError
        If something is missing or wrong: the message names the file and the line.
    FileNotFoundError
        If there is no such file.
    """
    layout, file = _LAYOUTS[require_option(format, "format", FORMATS)], Path(path)
    if not file.exists():
        raise FileNotFoundError(f"there is no file {str(file)!r}")
    found = list(layout(file))
    if not found:
        raise ValueError(f"{file.name} holds no labelled sentence")
    return found


_YES = {"1", "1.0", "true", "yes", "supported", "consistent", "entailment"}
_NO = {"0", "0.0", "false", "no", "unsupported", "not supported", "inconsistent", "not_entailment", "contradiction"}
_ARTICLE, _TEXT = ("article", "document", "doc", "source"), ("sentence", "claim", "summary", "text")


def _field(record: object, names: Sequence[str], where: str) -> Any:
    """The first of some fields that a record has; an error names the place and what was found instead."""
    if not isinstance(record, Mapping):
        raise ValueError(f"{where} must be an object with named fields, not {type(record).__name__}")
    for name in names:
        if name in record and record[name] == record[name]:  # a table has NaN where nothing stands
            return record[name]
    wanted = " or ".join(map(repr, names))
    raise ValueError(f"{where}: there is no field {wanted} (found: {', '.join(map(repr, record))})")


def _text(record: object, names: Sequence[str], where: str) -> str:
    value = _field(record, names, where)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}: {names[0]!r} must be a text that is not empty, not {value!r:.40}")
    return value


def _yes(record: object, names: Sequence[str], where: str) -> bool:
    value = _field(record, names, where)
    said = str(value).strip().lower()
    if said not in _YES and said not in _NO:
        raise ValueError(f"{where}: {names[0]!r} must say 1 or 0, true or false, yes or no, not {value!r:.40}")
    return said in _YES


def _labelled(item: object, where: str) -> LabelledSentence:
    """Article, text, label and kind of a row, under any of their usual names."""
    text, label = _text(item, _TEXT, where), _yes(item, ("supported", "label"), where)
    kind = item.get("kind") if isinstance(item, Mapping) else None
    return LabelledSentence(_text(item, _ARTICLE, where), text, label, str(kind) if kind and kind == kind else "")


def _table(path: Path) -> Iterator[tuple[str, Any]]:
    """The rows of a JSONL, CSV or Parquet file, each with its line, and what of it cannot be read."""
    stream = open_items(path)
    items, where = iter(stream), path.name
    while True:
        try:
            if (item := next(items, None)) is None:
                return
            where = f"{path.name}, {stream.unit} {item.place}"
            record = None if item.problem else json.loads(item.data)
        except json.JSONDecodeError as error:
            raise ValueError(f"{where} is not JSON: {error}") from error
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path.name}: {error}") from error
        if item.problem:
            raise ValueError(f"{where}: {item.problem}")
        yield where + "".join(f" ({why_unread(*column)})" for column in item.unread), record


def _document(path: Path) -> list[tuple[str, Any]]:
    """The objects of a file that is one JSON list, each with its number."""
    try:
        value = json.loads(path.read_bytes().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} cannot be read as JSON: {error}") from error
    if not isinstance(value, list):
        raise ValueError(f"{path.name} must hold one JSON list of objects, not {type(value).__name__}")
    return [(f"{path.name}, item {number}", item) for number, item in enumerate(value, 1)]


def _rows(path: Path) -> Iterator[LabelledSentence]:
    for where, row in _table(path):
        yield _labelled(row, where)


def _qags(path: Path) -> Iterator[LabelledSentence]:
    """github.com/W4ngatang/qags, data/mturk_cnndm.jsonl: per sentence the answers of three people; more than half."""
    for where, row in _table(path):
        for number, part in enumerate(_field(row, ("summary_sentences",), where), 1):
            here = f"{where}, sentence {number}"
            votes = [_yes(answer, ("response",), here) for answer in _field(part, ("responses",), here)]
            if not votes:
                raise ValueError(f"{here}: 'responses' is empty")
            supported = sum(votes) > len(votes) / 2
            yield LabelledSentence(_text(row, ("article",), where), _text(part, ("sentence",), here), supported)


def _summedits(path: Path) -> Iterator[LabelledSentence]:
    """github.com/salesforce/factualNLG, data/summedits/summedits_DOMAIN.json; a folder holds several domains."""
    files = sorted(path.glob("summedits_*.json")) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"{path} holds no file summedits_DOMAIN.json")
    for where, item in (record for file in files for record in _document(file)):
        made, edits = _labelled(item, where), item.get("edit_types")
        kind = str(edits[0]) if isinstance(edits, list) and edits and not made.supported else ""
        yield replace(made, kind=kind)


_LAYOUTS: dict[str, Callable[[Path], Iterator[LabelledSentence]]] = {
    "rows": _rows,
    "qags": _qags,
    "aggrefact": _rows,  # github.com/Liyan06/AggreFact, aggre_fact_sota.csv; also LLM-AggreFact
    "summedits": _summedits,
}
FORMATS = tuple(_LAYOUTS)


# A card for a metric

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


# Items, and what becomes of them

GOOD, OTHER, ORDER = "good candidate", "another text", "order of references"
CELLS = ("candidate", "summary", "references", "text", "source", "contexts")  # what an item has for a metric
KINDS = dict.fromkeys(("citation marks", "date forms", "wrappers", ORDER, "white space"), "invariance")
KINDS |= dict.fromkeys((OTHER, "number changed", "negation", "roles exchanged"), "direction")
KINDS |= dict.fromkeys(("padding", "repetition", "truncation"), "direction")
_TEXTS, _LISTS = ("candidate", "a", "b", "date"), ("references", "source", "number", "verb")
_SLOTS = ("a", "b", "number", "verb", "date")
_SLOT = re.compile(rf"\{{({'|'.join(_SLOTS)})\}}")
_DAY = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(1[3-9]|2\d|3[01])")


def _checked(item: object, where: str) -> JsonDict:
    """An item whose fields have the form that `metric_card` describes; the field that has not is named."""
    if not isinstance(item, Mapping) or any(name not in item for name in _TEXTS + _LISTS):
        raise ValueError(f"{where} must map {', '.join(_TEXTS + _LISTS)} to texts, not be {short_repr(item)}")
    own: JsonDict = {name: require_text(item[name], f"{where}, {name}") for name in _TEXTS}
    own |= {name: require_texts(item[name], f"{where}, {name}") for name in _LISTS}
    if lacking := [slot for slot in _SLOTS if f"{{{slot}}}" not in own["candidate"]]:
        raise ValueError(f"{where}, candidate has no {{{lacking[0]}}}: write {{{lacking[0]}}} where it belongs")
    for name in _LISTS:
        if not own[name] or (name in ("number", "verb") and (len(own[name]) != 2 or len({*own[name]}) != 2)):
            wanted = "a text at least" if name in ("references", "source") else "two texts, the right and a wrong one"
            raise ValueError(f"{where}, {name} must hold {wanted}, not {short_repr(item[name])}")
    if not _DAY.fullmatch(own["date"]):
        raise ValueError(f"{where}, date must be like '2021-03-14', its day from 13 on, not {short_repr(item['date'])}")
    return own


def card_items(
    items: Sequence[Mapping[str, Any]] | None, limit: int | None, rng: np.random.Generator
) -> list[JsonDict]:
    """Return the items of a card, the package's or those given, checked; with `limit` so many, drawn by lot."""
    if items is None:
        items = [json.loads(line) for line in read_asset("card_items.jsonl").decode("utf-8").splitlines()]
    elif isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Sequence):
        raise TypeError(f"items must be a list of mappings, not {type(items).__name__}")
    checked = [_checked(item, f"items[{place}]") for place, item in enumerate(items)]
    if limit is not None and require_count(limit, "limit", minimum=2) < len(checked):
        checked = [checked[place] for place in sorted(rng.permutation(len(checked))[:limit])]
    if len(checked) < 2:
        raise ValueError(f"a card needs two items at least, not {len(checked)}: each is compared with another's text")
    return checked


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


# The card

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

    @property
    def blind_spots(self) -> list[str]:
        """The changes that the metric should notice and does not, or should not notice and does."""
        return [row["change"] for row in self.table if row["verdict"] in ("blind", "moves")]

    def rows(self) -> list[JsonDict]:
        """Return one dictionary for each change."""
        return [dict(row) for row in self.table]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data."""
        more = {"spread": self.spread, "blind_spots": self.blind_spots, "signature": str(self.signature)}
        return {"metric": self.metric, "rows": self.rows(), **more}

    def to_markdown(self, *, level: int = 2) -> str:
        """Return heading, reading aid, table and signature as Markdown, for an appendix."""
        title, note = f"Metric card: {self.metric}", str(self.signature)
        return markdown_report(title, self._lines(), self._shown(), note=note, level=level)

    def _lines(self) -> list[str]:
        confidence, margin = float(self.signature["conf"]), float(self.signature["margin"])
        return [
            f"Blind spots: {', '.join(self.blind_spots) or 'none found'}.",
            f"Effects are mean changes of the score with {confidence:.0%} bootstrap intervals over items. The spread "
            f"is {self.spread:.3f}: the mean score of good candidates less that of texts about something else. "
            f"A change within {margin:.0%} of the spread counts as none. Right is the share of items that do as they "
            "should.",
        ]

    def _shown(self) -> list[JsonDict]:
        """The rows as they are printed, without columns that say nothing."""
        shown = []
        for row in self.table:
            cells = {name: row[name] for name in ("change", "kind", "n", "missing")}
            cells["effect"] = with_interval(row["effect"], (row["low"], row["high"]))
            cells["share of spread"] = with_interval(row["share"], (row["share_low"], row["share_high"]), ".0%")
            cells |= {"right": "–" if row["right"] is None else f"{row['right']:.0%}"}
            shown.append(cells | {"verdict": row["verdict"], "reason": row["reason"]})
        empty = [name for name in ("missing", "reason") if not any(row[name] for row in shown)]
        return [{name: cell for name, cell in row.items() if name not in empty} for row in shown]

    def __repr__(self) -> str:
        return "\n".join([f"MetricCard({self.metric})", text_table(self._shown()), *self._lines(), str(self.signature)])

    def _repr_html_(self) -> str:
        table = html_table(self._shown(), caption=f"Metric card: {self.metric}")
        examples = html_table([{"change": row["change"], "example": row["example"]} for row in self.table])
        parts = [table, folded("An example of each change", examples)]
        return render("parts.html", parts=parts, notes=[*self._lines(), self.signature])

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
            if row["share"] is not None:
                if row["share_low"] is not None:
                    ax.plot([row["share_low"], row["share_high"]], [place] * 2, color=color, linewidth=2)
                ax.plot(row["share"], place, shape, color=color, markerfacecolor="white" if shape == "s" else color)
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
    items: Sequence[Mapping[str, Any]] | None = None,
    limit: int | None = None,
    margin: float = 0.1,
    n_resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
    progress: bool = True,
) -> MetricCard:
    """Try a metric on changes that it must notice, and on changes that it must not.

    Each item has a good candidate, references and a source. *Invariances* leave the quality as it
    is: citation marks, date forms, wrappers ("Here is a summary:"), white space, and the order of
    the references, or of the source's sentences. *Directions* make the text worse. It becomes
    false by another number, a negation or exchanged roles. Padding, repetition and truncation are
    for metrics that read references: a metric that reads the source alone need not punish them.

    Parameters
    ----------
    metric : str, metric, checker or callable
        A name for `load_metric` or a checker's for `load_checker`; a metric with options of yours; a
        checker with `check_many`, judged by the share of sentences that `evaluate` supports; or a
        function such as `f(candidate, references)` or `f(text, summary)` that returns a number, a
        score or None. Its parameters without a default are `candidate`, `summary`, `references`,
        `text`, `source` or `contexts`.
    items : sequence of mappings, optional
        Yours instead of the package's, each with `candidate`, `references` and `source` (lists of
        texts and of sentences), `a` and `b`, who have the two roles, `number` and `verb` (the right
        text and a wrong one), and `date`, such as "2021-03-14", its day from 13 on. In the
        candidate write {a}, {b}, {number}, {verb}, {date} for them, elsewhere you may.
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
        If a metric, an item or an option is not what it should be, the metric reads what items
        have not, or it scores fewer than two good candidates.

    Notes
    -----
    The unit is the spread: the mean score of good candidates less that of texts about something
    else. Its sign says which side is good, also where lower is better. The verdict comes from the
    interval of the mean change in this unit. A metric *keeps* an invariance if the interval lies
    within the margin, and *moves* if it lies outside. It *sees* a direction if the interval lies at
    or below minus the margin, and is *blind* if it lies above. All else is *undecided*, and so is
    all on fewer than -ln(1 - confidence) / margin items, usually 30: by the rule of three, fewer
    cannot show that so few items change. A metric whose spread may be 0 is blind to *another text*,
    and nothing else is decided. Intervals are not corrected for their number. Items are short news
    in English, the candidate close to its source: a card without blind spots promises nothing
    elsewhere.

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
    chosen = card_items(items, limit, rng)
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

    def ends_of(values: np.ndarray, around: MeanInterval) -> tuple[float, float]:
        """The ends of an interval; of equal values, their mean twice."""
        mean = float(values.mean())
        return (mean, mean) if around.low is None or around.high is None else (around.low, around.high)

    apart = scores[GOOD] - scores[OTHER]
    if (scored := int((~np.isnan(apart)).sum())) < 2:
        why = reason(GOOD, OTHER)
        raise ValueError(f"{name} scored {scored} of {size} good candidates with texts about something else: {why}")
    apart = apart[~np.isnan(apart)]
    spread, (low, high) = float(apart.mean()), ends_of(apart, mean_interval(apart, **how))
    is_apart, needed = low > 0 or high < 0, math.ceil(-math.log(1 - confidence) / margin)
    table = []
    for change in names[1:]:
        moved = scores[change] - scores[GOOD]
        moved = moved[~np.isnan(moved)]
        effect = float(moved.mean()) if moved.size > 1 else None
        around = mean_interval(moved, **how)
        shown = "order of sentences" if change == ORDER and "references" not in scorer.columns else change
        row: JsonDict = {"change": shown, "kind": KINDS[change], "n": moved.size, "missing": size - moved.size}
        row |= {"effect": effect, "low": around.low, "high": around.high}
        row |= dict.fromkeys(("share", "share_low", "share_high", "right")) | {"verdict": "undecided"}
        row["reason"] = reason(change, GOOD)
        low = high = 0.0
        if is_apart and effect is not None:
            row["share"] = effect / spread
            low, high = sorted(end / spread for end in ends_of(moved, around))
            if around.low is not None:
                row["share_low"], row["share_high"] = low, high
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
