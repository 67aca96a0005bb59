"""How good checkers and judges are on labelled sets.

Chapters 43 and 66 say what the numbers mean; `evidence.labelled` has the measures of a checker. Here are the public
functions with their result, the sets, and the files that labelled sentences come in.
"""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from summeval_nb.agreement.annotators import chance_corrected, code_ratings
from summeval_nb.agreement.correlation import with_interval
from summeval_nb.agreement.disagreement import cohen_disagreement
from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import (
    InputWarning,
    JsonDict,
    Stages,
    one_bar,
    pd,
    plt,
    require_count,
    require_option,
    steps,
)
from summeval_nb.core.files import frame_rows, open_items, read_asset, why_unread
from summeval_nb.core.html import draw_interval, figure_text, folded, html_table, render, text_table
from summeval_nb.core.resampling import Resampling, mean_interval
from summeval_nb.core.results import Rows, Signature, Verdict
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
from summeval_nb.models.base import find_backends
from summeval_nb.models.store import Store, StoreOrPath, load_store
from summeval_nb.text.split import split_text

__all__ = ["FORMATS", "JUDGE_SETS", "Bench", "benchmark_checker", "benchmark_judge", "load_labelled"]

# a truth value, a word, or the statements of a text
Label: TypeAlias = str | bool | tuple[str, ...]
Found = TypeVar("Found")
LabelledRows: TypeAlias = Iterable[LabelledSentence | Mapping[str, object]]


@dataclass(frozen=True)
class Case:
    """A labelled example; those with one premise are drawn together. `expected` is the answer of people, if any."""

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
class Bench(Rows):
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
                low, high, _ = mean_interval(counted, bounded=True)
                row: JsonDict = {self.who: run.name, "set": run.set, "kind": kind, "label": label}
                row |= {"no_answer": len(every) - len(counted), "n": len(counted)}
                rows.append(row | {"right": sum(counted) / len(counted) if counted else None, "low": low, "high": high})
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
        return pd.DataFrame(self.kind_rows()) if kinds else super().to_frame()

    def to_dict(self) -> JsonDict:
        """Return the tables and the signature as plain Python data."""
        more = {"kinds": self.kind_rows(), "wrong": self.wrong_rows(), "left_out": self.left_out_rows()}
        return super().to_dict() | more | {"published": self.published_rows()}

    def _tables(self) -> list[tuple[str, list[JsonDict]]]:
        """Each table that has rows, with its heading."""
        found = {"Measured here": self.wide_rows(), _SEEN: self.left_out_rows()}
        found |= {"By kind: how many were judged rightly": self.wide_kinds()}
        found |= {"Published, not measured here": self.published_rows()}
        return [(title, rows) for title, rows in found.items() if rows]

    def __repr__(self) -> str:
        (_, first), *others = self._tables()
        parts = [text_table(first), *(f"{title.removesuffix(':')}:\n\n{text_table(rows)}" for title, rows in others)]
        return "\n\n".join([*parts, str(self.signature)])

    def _repr_html_(self) -> str:
        parts = []
        for title, rows in self._tables():
            folds = title.startswith(("By kind", "Published"))
            more = f"{title} ({len(rows)} rows)"
            parts.append(folded(more, html_table(rows)) if folds else html_table(rows, caption=title))
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
        sides += [(right, names, "judged rightly, by kind (hollow: false ones)")] if names else []
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
    missing = ", ".join(name for name in wanted if measures[name] is None)
    bare = ", ".join(name for name in wanted if measures[name] is not None and measures[f"{name}_low"] is None)
    said = [f"undefined: {missing} (nothing to count)"] if missing else []
    said += [f"no interval: {bare} (drawing the texts again shows no spread)"] * bool(bare and resampling.n_resamples)
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


def benchmark_checker(
    checker: str | Checker | Mapping[str, str | Checker] = "embedded",
    sets: str | Sequence[str] | Mapping[str, LabelledRows] = "package",
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
    sets : str, sequence of str, or mapping of str to iterable of LabelledSentence
        "package", "everyday"; or sets of yours by name, as `load_labelled` reads them. Rows with `article`,
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
    require_option(combine, "combine", COMBINATIONS)
    resampling = Resampling(n_resamples, confidence, seed)
    chosen = {name: draw_cases(cases, limit, seed) for name, cases in _sets(sets, BENCH_SETS, "check").items()}
    named = checker if isinstance(checker, Mapping) else {_name_of(checker): checker}
    checkers = {redacted(str(name)): load_checker(value) for name, value in named.items()}
    by_evaluate = {name for name in chosen if (name == "everyday" if reports is None else reports)}
    kept = load_store(store)
    asked = [(*own, name) for own in checkers.items() for name in chosen]
    sizes, runs = [len(chosen[name]) for *_, name in asked], []
    with one_bar(sum(sizes), "checkers", "item", show=sum(sizes) > 128 if progress is None else progress):
        for label, own, name in steps(asked, sizes):
            runs.append(_checker_run(label, own, name, chosen[name], combine, kept, name in by_evaluate))
    parts: dict[str, object] = {"metric": "checker-bench", "combine": combine}
    for name, cases in chosen.items():
        content = json.dumps([(case.premise, case.text, bool(case.truth), case.kind) for case in cases]).encode("ascii")
        parts[f"{'reports' if name in by_evaluate else 'set'} {name}"] = hashlib.sha256(content).hexdigest()[:12]
    parts |= {f"checker {label}": f"{own.fingerprint}@{own.threshold}" for label, own in checkers.items()}
    table = tuple(_checker_row(run, resampling) for run in runs)
    return Bench("checker", MEASURES, tuple(runs), table, Signature(parts | resampling.signature))


def _name_of(judge: object) -> str:
    return judge if isinstance(judge, str) else type(judge).__name__


def _checker_run(
    label: str, checker: Checker, name: str, cases: Sequence[Case], combine: str, store: Store | None, by_evaluate: bool
) -> BenchRun:
    """A set judged by a checker or by `evaluate`, text by text; one first, so that no clock counts loading."""
    judge = _verdicts_by_evaluate if by_evaluate else _verdicts_by_checker
    stage = Stages(first=0, all=1)
    with stage("first"):
        judge(checker, cases[:1], store)
    with stage("all"):
        judged, spent = _timed(checker, lambda: judge(checker, cases, store))
    replies = []
    for group in judged:
        values = [verdict.support for verdict in group if verdict.support is not None]
        if lost := [verdict.reason for verdict in group if verdict.support is None]:
            replies.append(Reply(None, reason=lost[0], declined=not any(verdict.failed for verdict in group)))
        else:
            replies.append(Reply(all(one.supported is True for one in group), COMBINATIONS[combine](values)))
    inner: Any = checker  # perhaps a wrapper of a packaged one
    while not hasattr(inner, "fitted_to") and hasattr(inner, "inner"):
        inner = inner.inner
    seen = seen_articles({case.premise for case in cases}, getattr(inner, "fitted_to", ()))
    model = str(getattr(inner, "fingerprint", "")).partition("-")[0] if seen else ""
    hard = any(verdict.hard for group in judged for verdict in group)
    return BenchRun(label, name, tuple(cases), tuple(replies), *spent, None, model, seen, hard)


def _verdicts_by_checker(checker: Checker, cases: Sequence[Case], store: Store | None) -> list[list[Verdict]]:
    """The verdicts on the sentences of each text, with the whole article as evidence."""
    articles = {premise: split_text(premise) for premise in dict.fromkeys(case.premise for case in cases)}
    parts = [split_text(case.text) for case in cases]
    pairs = [(articles[c.premise], text) for c, texts in zip(cases, parts, strict=True) for text in texts]
    verdicts = judged_through(pairs, checker, None, store)
    return [[next(verdicts) for _ in texts] for texts in parts]


def _verdicts_by_evaluate(checker: Checker, cases: Sequence[Case], store: Store | None) -> list[list[Verdict]]:
    """The verdicts that count in the report of each text; what is not judged, such as a heading, counts for nothing."""
    articles, texts = [case.premise for case in cases], [case.text for case in cases]
    with warnings.catch_warnings():  # the table says what became of odd texts
        warnings.simplefilter("ignore", InputWarning)
        reports = evaluate_many(articles, texts, checker=checker, store=store, progress=False)
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


def _spent(judge: object) -> list[int] | None:
    """Calls and tokens so far of the language models that a checker or a judge holds; None where there is none."""
    usages = [backend.usage for backend in find_backends(judge)]
    return [sum(u.calls for u in usages), sum(u.prompt_tokens + u.generated_tokens for u in usages)] if usages else None


def _timed(judge: object, ask: Callable[[], Found]) -> tuple[Found, tuple[float, int | None, int | None]]:
    """What somebody answers, and the seconds, calls and tokens that it took."""
    before, start = _spent(judge) or [0, 0], time.perf_counter()
    found = ask()
    seconds, after = time.perf_counter() - start, _spent(judge)
    return found, (seconds, *([None, None] if after is None else [a - b for a, b in zip(after, before, strict=True)]))


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
    chosen = _sets(USUAL_SETS if sets is None else sets, SETS, "entail")
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
    table = tuple(_judge_row(run, resampling) for run in runs)
    signature = Signature(parts | {"limit": limit} | resampling.signature)
    return Bench("judge", ("right", "kappa"), tuple(runs), table, signature)


def _judge_run(name: str, judge: Judge, place: str, cases: list[Case], store: StoreOrPath) -> BenchRun:
    """The replies of a judge, once; statements also in the opposite order, where there are several a text."""
    replies, spent = _timed(judge, lambda: ask_judge(judge, cases, store))
    turned = ask_judge(judge, cases, store, backwards=True) if cases[0].task == "entail" else None
    changes = None if turned is None else order_changes(replies, turned)
    return BenchRun(name, place, tuple(cases), tuple(replies), *spent, changes)


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
        names = ("context", "question", "ground_truth", "answer")
        rows = [dict(zip(names, (c.premise, c.question, c.expected, c.text), strict=True)) for c in known.values()]
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
    """The share of right answers, and kappa where labels are categories, with intervals over texts."""
    place, names = _texts_of(run), ["right"] if run.cases[0].task == "statements" else ["right", "kappa"]
    wrong = np.array([reply.said != case.truth for case, reply in run.answered])
    # of a share the expected disagreement is 1
    parts: JsonDict = {"right": lambda w: (w[:, place] @ wrong / w[:, place].sum(axis=1), np.ones(len(w)))}
    if run.answered and "kappa" in names:
        coded = code_ratings([(reply.said, case.truth) for case, reply in run.answered], None)
        apart = 1.0 - np.eye(len(coded.categories))
        parts["kappa"] = lambda w: cohen_disagreement(coded.codes, apart, w[:, place])
    found: dict[str, Any] = dict.fromkeys(("right", "kappa"), (None, None))
    for name, disagreement in parts.items() if run.answered else ():
        measure = chance_corrected(disagreement, int(place.max()) + 1, resampling)
        found[name] = measure["score"], measure["interval"]
    sure = [(r.probability, c.truth in ("entailed", "refusal")) for c, r in run.answered if r.probability is not None]
    error = reliability(*zip(*sure, strict=True)).score if sure else None
    return _row(run, "judge", found, {"right": place}, names, error, resampling)


# The sets of judges


def _lines(name: str) -> list[JsonDict]:
    return list(map(json.loads, read_asset(name).splitlines()))


def _refusals() -> list[Case]:
    """Forty texts in styles on which the embedded judge's rules were not tuned."""
    words, rows = {True: "refusal", False: "answer"}, _lines("refusals_fresh.jsonl")
    return [Case("refusal", row["text"], row["text"], words[row["refused"]], row["style"]) for row in rows]


def _pairs() -> list[Case]:
    """Forty statements that a reader decides at a glance, on twenty premises."""
    return [Case("entail", row["premise"], row["statement"], row["label"]) for row in _lines("clear_pairs.jsonl")]


def _splits() -> list[Case]:
    """Sentences with the statements they consist of: those on which the rules were not tuned."""
    rows = [row for row in _lines("statements.jsonl") if row["part"] == "test"]
    both = [(row["hypothesis"],) * 2 for row in rows]  # the text is its own premise
    return [Case("statements", *b, _split(row["statements"]), row["style"]) for b, row in zip(both, rows, strict=True)]


def _split(statements: Sequence[str]) -> tuple[str, ...]:
    return tuple(statement.strip().rstrip(".!?").casefold() for statement in statements)


def _everyday() -> list[Case]:
    """Right and wrong answers as people have them: one word, yes or no, a value in another form, a table."""
    found = []
    for row in _lines("everyday_answers.jsonl.gz"):
        truth, asked = "right" if row["supported"] else "wrong", {"question": row["question"], "expected": row["truth"]}
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


def _sets(sets: object, known: Mapping[str, Callable[[], list[Any]]], task: str) -> dict[str, list[Case]]:
    """Sets by name: names of the package's, or labelled sentences of the user's own."""
    if isinstance(sets, Mapping):
        if not sets:
            raise ValueError("sets is empty: name a set, or leave it out")
        return {str(name): labelled_cases(str(name), rows, task) for name, rows in sets.items()}
    names = [sets] if isinstance(sets, str) else sets
    if not isinstance(names, Sequence) or not names:
        wanted = f"names such as {next(iter(known))!r}, or map names to labelled sentences"
        raise TypeError(f"sets must be {wanted}, not {sets!r:.40}")
    found = {name: known[require_option(name, "set", known)]() for name in dict.fromkeys(names)}
    return {name: labelled_cases(name, rows, task) for name, rows in found.items()}


# Labelled sentences of the user's own, and the files they come in


def labelled_cases(name: str, items: object, task: str) -> list[Case]:
    """Return the checked cases of a labelled set: "check" has truth values as labels, "entail" the words of a judge."""
    items = frame_rows(items)
    if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
        wanted = "LabelledSentence, or of rows with 'article', 'sentence' and 'supported'"
        raise TypeError(f"sets[{name!r}] must be a list of {wanted}, not {type(items).__name__}")
    found: list[Case] = []
    for place, item in enumerate(items):
        where = f"sets[{name!r}][{place}]"
        made: Any = _labelled(item, where) if isinstance(item, Mapping) else item
        if all(hasattr(made, part) for part in ("article", "text", "supported", "kind")):  # or a page's own
            for part, value in (("article", made.article), ("text", made.text)):
                if not isinstance(value, str) or not value.strip():
                    raise ValueError(f"{where}.{part} must be a text that is not empty, not {value!r:.40}")
            if not isinstance(made.supported, (bool, np.bool_)):
                raise TypeError(f"{where}.supported must be True or False, not {made.supported!r:.40}")
            truth: Label = bool(made.supported)
            truth = truth if task == "check" else "entailed" if truth else "not entailed"
            made = Case(task, made.article, made.text, truth, made.kind, binary=True)
        if not isinstance(made, Case):
            raise TypeError(f"{where} must be a LabelledSentence, not {type(made).__name__}")
        found.append(made)
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
_FIELDS: dict[str, tuple[str, ...]] = {"supported": ("supported", "label")}
_FIELDS |= {"article": ("article", "document", "doc", "source"), "sentence": ("sentence", "claim", "summary", "text")}


def _field(record: object, name: str, where: str) -> Any:
    """A field of a record, under any of its usual names; an error names the place and what was found instead."""
    if not isinstance(record, Mapping):
        raise ValueError(f"{where} must be an object with named fields, not {type(record).__name__}")
    names = _FIELDS.get(name, (name,))
    for own in names:
        if own in record and record[own] == record[own]:  # a table has NaN where nothing stands
            return record[own]
    found = ", ".join(map(repr, record))
    raise ValueError(f"{where}: there is no field {' or '.join(map(repr, names))} (found: {found})")


def _text(record: object, name: str, where: str) -> str:
    value = _field(record, name, where)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}: {name!r} must be a text that is not empty, not {value!r:.40}")
    return value


def _yes(record: object, name: str, where: str) -> bool:
    value = _field(record, name, where)
    if (said := str(value).strip().lower()) not in _YES | _NO:
        raise ValueError(f"{where}: {name!r} must say 1 or 0, true or false, yes or no, not {value!r:.40}")
    return said in _YES


def _labelled(row: Any, where: str) -> LabelledSentence:
    """Article, text, label and kind of a row."""
    text, label, kind = _text(row, "sentence", where), _yes(row, "supported", where), row.get("kind")
    return LabelledSentence(_text(row, "article", where), text, label, str(kind) if kind and kind == kind else "")


def _table(path: Path) -> Iterator[tuple[str, Any]]:
    """The rows of a JSONL, CSV or Parquet file, each with its line, and what of it cannot be read."""
    stream, where = open_items(path), path.name
    try:
        for item in stream:
            where = f"{path.name}, {stream.unit} {item.place}"
            if item.problem:
                raise ValueError(item.problem)
            yield where + "".join(f" ({why_unread(*column)})" for column in item.unread), json.loads(item.data)
            where = path.name
    except json.JSONDecodeError as error:
        raise ValueError(f"{where} is not JSON: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{where}: {error}") from error


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
        for number, part in enumerate(_field(row, "summary_sentences", where), 1):
            here = f"{where}, sentence {number}"
            votes = [_yes(answer, "response", here) for answer in _field(part, "responses", here)]
            if not votes:
                raise ValueError(f"{here}: 'responses' is empty")
            supported = sum(votes) > len(votes) / 2
            yield LabelledSentence(_text(row, "article", where), _text(part, "sentence", here), supported)


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
