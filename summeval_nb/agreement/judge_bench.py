"""Any judge or rater on labelled sets: agreement with intervals, calibration, whether the order
matters, failures, calls and time in one table.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from summeval_nb.agreement.annotators import chance_corrected, code_ratings
from summeval_nb.agreement.disagreement import cohen_disagreement
from summeval_nb.core.addresses import without_secrets
from summeval_nb.core.base import JsonDict, require_count, require_option
from summeval_nb.core.data import load_toy_summeval
from summeval_nb.core.html import figure_text, folded, html_table, render, text_table
from summeval_nb.core.resampling import Resampling
from summeval_nb.core.results import Rows, ScoreTable, Signature
from summeval_nb.evidence.bench import LabelledSentence, bench_sentences, share_right
from summeval_nb.evidence.labelled import asset_path, checked_set
from summeval_nb.evidence.reliability import reliability
from summeval_nb.judged.answers import evaluate_answers
from summeval_nb.judged.judging import Entailment, Flag, Judge, JudgeFailure, Statement
from summeval_nb.judged.rag import evaluate_rag
from summeval_nb.judged.session import ask_many, load_judge
from summeval_nb.models.load import StoreOrPath, load_store

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
    from typing_extensions import TypeIs

__all__ = [
    "Said",
    "SETS",
    "JUDGE_SETS",
    "Judged",
    "Sets",
    "Measures",
    "Case",
    "Reply",
    "Asked",
    "JudgeBench",
    "benchmark_judge",
    "Rater",
    "ask_judge",
    "table_row",
]

# a label, a grade, or the statements of a text
Said: TypeAlias = str | float | tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A labelled example: what is asked, and the truth.

    Those with one premise are drawn together. Where the text is an answer, it answers
    `question`, and `expected` is the answer of people, if there is one.
    """

    task: str
    premise: str
    text: str
    truth: Said
    kind: str = ""
    binary: bool = False
    question: str = ""
    expected: str = ""


@dataclass(frozen=True)
class Reply:
    """What a judge said of a case; `said` is None where it failed."""

    said: Said | None
    probability: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Asked:
    """Cases with a judge's replies, in one order and in the other.

    Also what one pass took; None where nothing counts it.
    """

    cases: Sequence[Case]
    replies: Sequence[Reply]
    turned: Sequence[Reply] = ()
    seconds: float = 0.0
    calls: int | None = None
    tokens: int | None = None

    def order_changes(self) -> float | None:
        """The share of answers that are others in the opposite order.

        None where there is no order.
        """
        pairs = [
            (before_turn.said, after_turn.said)
            for before_turn, after_turn in zip(self.replies, self.turned, strict=bool(self.turned))
        ]
        changed = [
            before_turn != after_turn
            for before_turn, after_turn in pairs
            if before_turn is not None and after_turn is not None
        ]
        return sum(changed) / len(changed) if changed else None

    def kind_rows(self, judge: str, place: str) -> list[JsonDict]:
        """For each kind and label how many have no reply, and the share of the others judged rightly."""
        kinds: dict[tuple[str, Said], list[bool | None]] = {}
        for case, reply in zip(self.cases, self.replies, strict=True):
            if case.kind and isinstance(case.truth, str):  # a grade or a split is no label
                right = None if reply.said is None else _same(reply.said, case.truth)
                kinds.setdefault((case.kind, case.truth), []).append(right)
        rows = []
        for (kind, label), every in kinds.items():
            counted = [right for right in every if right is not None]
            row: JsonDict = {"judge": judge, "set": place, "kind": kind, "label": label}
            rows.append(row | {"failed": len(every) - len(counted)} | share_right(counted))
        return rows

    def wrong_rows(self, judge: str, place: str) -> list[JsonDict]:
        """What was judged wrongly: label, answer, probability and text."""
        rows = []
        for case, reply in zip(self.cases, self.replies, strict=True):
            if reply.said is not None and not _same(reply.said, case.truth):
                row: dict[str, object] = {"judge": judge, "set": place}
                row |= {"kind": case.kind, "label": case.truth, "said": reply.said}
                rows.append(row | {"probability": reply.probability, "text": case.text})
        return rows


def _lines(name: str) -> list[JsonDict]:
    text = asset_path(f"{name}.jsonl").read_text(encoding="utf-8")
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


def _as_cases(sentences: Sequence[LabelledSentence]) -> list[Case]:
    """Labelled sentences as questions whether the article entails them."""
    said = {True: "entailed", False: "not entailed"}
    return [
        Case("entail", sentence.article, sentence.text, said[bool(sentence.supported)], sentence.kind, True)
        for sentence in sentences
    ]


def _splits() -> list[Case]:
    """Sentences with the statements they consist of.

    Those on which the rules were not tuned.
    """
    rows = [row for row in _lines("statements") if row["part"] == "test"]
    return [
        Case("statements", row["hypothesis"], row["hypothesis"], _split(row["statements"]), row["style"])
        for row in rows
    ]


def _split(statements: Sequence[str]) -> tuple[str, ...]:
    return tuple(statement.strip().rstrip(".!?").casefold() for statement in statements)


def _everyday() -> list[Case]:
    """Right and wrong answers as people have them: one word, yes or no, a value in another form, a table."""
    said = {True: "right", False: "wrong"}
    lines = gzip.decompress(asset_path("everyday_answers.jsonl.gz").read_bytes()).decode("utf-8").splitlines()
    return [
        Case(
            "answer",
            row["article"],
            row["text"],
            said[row["supported"]],
            row["kind"],
            question=row["question"],
            expected=row["truth"],
        )
        for row in map(json.loads, lines)
    ]


SETS: dict[str, Callable[[], list[Case]]] = {
    "refusals": _refusals,
    "pairs": _pairs,
    "sentences": lambda: _as_cases(bench_sentences()),
    "splits": _splits,
    "everyday": _everyday,
}


def _measures(said: Sequence[Said], truth: Sequence[Said], texts: Sequence[str], options: Resampling) -> JsonDict:
    """Share of right answers and kappa, with intervals over texts."""
    names = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    place = np.array([names[text] for text in texts])
    table = code_ratings(_plain_pairs(said, truth), None)
    apart = 1.0 - np.eye(len(table.categories))
    if isinstance(truth[0], float):  # a grade
        apart = np.subtract.outer(table.positions, table.positions) ** 2
    pairs = zip(said, truth, strict=True)
    wrong = np.array([not _same(*pair) for pair in pairs])

    def share(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return w[:, place] @ wrong / w[:, place].sum(axis=1), np.ones(len(w))

    def kappa(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return cohen_disagreement(table.codes, apart, w[:, place])

    found = {"right": chance_corrected(share, len(names), options)}
    if not isinstance(truth[0], tuple):  # a split is no category
        found["kappa"] = chance_corrected(kappa, len(names), options)
    return _columns(found)


JUDGE_SETS = tuple(SETS)
USUAL_SETS = tuple(name for name in SETS if name != "everyday")  # the others take a few calls each


@dataclass(frozen=True, repr=False, eq=False)
class JudgeBench(Rows):
    """Judges and raters measured on labelled sets.

    Parameters
    ----------
    table : tuple of dict
        A row for each judge and set: `n`, `failed`, `right` and `kappa` with their
        ends `_low` and `_high`, `calibration_error`, `order_changes`, `calls`,
        `tokens`, `seconds`, `reason`. What is undefined is None.
    wrong : tuple of dict
        What was judged wrongly, with the label and what the judge said.
    kinds : tuple of dict
        For each kind and label of a set `n` replies and the share that is `right`.
    signature : Signature
        Every choice that could change a number but calls and seconds.
    """

    table: tuple[JsonDict, ...]
    wrong: tuple[JsonDict, ...]
    kinds: tuple[JsonDict, ...]
    signature: Signature

    def rows(self) -> list[JsonDict]:
        """Return the rows of the table."""
        return [dict(row) for row in self.table]

    def kind_rows(self) -> list[JsonDict]:
        """Return the share judged rightly for each kind and label of a set.

        `failed` counts those without a reply, which are left out of it.
        """
        return [dict(row) for row in self.kinds]

    def to_frame(self, *, kinds: bool = False) -> pd.DataFrame:
        """Return `rows`, or with `kinds=True` the rows by kind, as a table."""
        import pandas as pd

        return pd.DataFrame(self.kind_rows() if kinds else self.rows())

    def to_dict(self) -> JsonDict:
        """Return rows, kinds, wrong answers and signature as plain Python data."""
        more = {"kinds": self.kind_rows(), "wrong": [dict(row) for row in self.wrong]}
        return {"rows": self.rows(), **more, "signature": str(self.signature)}

    def __repr__(self) -> str:
        tables = [text_table(_wide_rows(self.table)), text_table(_wide_kinds(self.kinds))]
        return "\n\n".join([*filter(None, tables), str(self.signature)])

    def _repr_html_(self) -> str:
        rows = _wide_rows(self.table)
        table = html_table(rows, columns=[name for name in rows[0] if name != "reason"], caption="Judges, judged")
        said = [f"{row['judge']}, {row['set']}: {row['reason']}" for row in rows if row.get("reason")]
        parts = [table]
        if self.kinds:
            title = f"By kind and label: how many were judged rightly ({len(self.kinds)} rows)"
            parts.append(folded(title, html_table(_wide_kinds(self.kinds))))
        return render("parts.html", parts=parts, notes=[*said, self.signature])

    def plot(self) -> Figure:
        """Draw the share of right answers and kappa, with their intervals."""
        return _figure(self.table)


def benchmark_judge(
    judge: Judged | Mapping[str, Judged] = "embedded",
    sets: Sets = USUAL_SETS,
    *,
    limit: int | None = None,
    store: StoreOrPath = None,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> JudgeBench:
    """Put judges and raters through labelled sets.

    Parameters
    ----------
    judge : str, Judge, rater or mapping of str to them
        A judge as for `load_judge`, such as `"embedded"` or `"llm:FOLDER"`; a rater is
        a metric object with a `quality`, such as `RatingMetric`. Several by the names
        that the table shall show.
    sets : str, sequence of str, or mapping of str to sequence of LabelledSentence
        Of `JUDGE_SETS`, by default all but "everyday"; or labelled sentences of your own, by
        name, also as rows or tables as for `benchmark_checker`. Raters get the toy ratings of
        their quality.
    limit : int, optional
        At most so many examples of each set, whole texts drawn by lot.
    store : Store or path, optional
        Where judges' answers are kept. Answers from it cost no call and no time.
    n_resamples, confidence, seed
        Of the bootstrap over texts; 0 resamples for none.

    Returns
    -------
    JudgeBench

    Raises
    ------
    TypeError, ValueError
        If a judge, a set or an option is not what it should be.

    References
    ----------
    Cohen 1960; Zheng et al. 2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot
    Arena, NeurIPS (position bias).

    Examples
    --------
    >>> found = benchmark_judge("words", "pairs", limit=4, n_resamples=0)
    >>> found.rows()[0]["n"], found.rows()[0]["failed"]
    (4, 0)
    """
    how = _checked_options(limit, n_resamples, confidence, seed)
    chosen = _chosen_sets(sets, JUDGE_SETS)
    judges, kept = _named_judges(judge), load_store(store)
    rows, kinds, wrong, parts = [], [], [], {"metric": "judge-bench", "sets": "+".join(chosen)}
    for name, loaded in judges:
        parts[f"judge {name}"], given = _told_apart(loaded, chosen)
        for place, every in given.items():
            asked = _asked(loaded, _some(every, limit, seed), kept)
            measures = partial(_measures, options=how)
            rows.append(table_row(name, place, asked, measures))
            kinds += asked.kind_rows(name, place)
            wrong += asked.wrong_rows(name, place)
    signature = Signature(parts | {"limit": limit} | how.signature)
    return JudgeBench(tuple(rows), tuple(wrong), tuple(kinds), signature)


class Rater(Protocol):
    """Whoever grades one quality of summaries."""

    @property
    def quality(self) -> str | None:
        """Which one, such as "fluency"."""

    @property
    def signature(self) -> Signature:
        """Every choice that could change a grade."""

    def score_many(self, texts: Sequence[str], summaries: Sequence[str], /) -> ScoreTable:
        """Return the grades of many summaries."""


Judged: TypeAlias = str | Judge | Rater


Sets: TypeAlias = str | Sequence[str] | Mapping[str, Sequence[LabelledSentence | Mapping[str, object]]]


def _chosen_sets(sets: object, known: Sequence[str]) -> dict[str, list[Case]]:
    """Sets by name: names of the package's, or labelled sentences of the user's own."""
    if isinstance(sets, Mapping):
        if not sets:
            raise ValueError("sets is empty: name a set, or leave it out")
        return {str(name): _as_cases(checked_set(str(name), rows, LabelledSentence)) for name, rows in sets.items()}
    names = [sets] if isinstance(sets, str) else sets
    if not isinstance(names, Sequence) or not names:
        raise TypeError(
            f"sets must be names such as {known[0]!r}, or map names to labelled sentences, not {sets!r:.40}"
        )
    return {name: SETS[require_option(name, "set", known)]() for name in dict.fromkeys(names)}


def _some(cases: list[Case], limit: int | None, seed: int) -> list[Case]:
    """At most `limit` cases, premise by premise in an order drawn by lot."""
    if limit is None or len(cases) <= limit:
        return cases
    premises = list(dict.fromkeys(case.premise for case in cases))
    order = np.random.default_rng(seed).permutation(len(premises))
    rank = {premises[place]: number for number, place in enumerate(order)}
    return sorted(cases, key=lambda case: rank[case.premise])[:limit]


def _is_rater(judge: object) -> TypeIs[Rater]:
    """Whether this grades summaries, and is no judge."""
    return hasattr(judge, "score_many") and hasattr(judge, "quality")


def _checked_options(limit: object, n_resamples: int, confidence: float, seed: int) -> Resampling:
    """The choices of the bootstrap.

    Those and the limit refused where they make no sense.
    """
    how = Resampling(n_resamples, confidence, seed)
    if limit is not None:
        require_count(limit, "limit")
    return how


def _named_judges(judge: Judged | Mapping[str, Judged]) -> list[tuple[str, Judge | Rater]]:
    """Judges and raters, loaded, by the names that the table shows."""
    alone = judge if isinstance(judge, str) else type(judge).__name__
    named = judge if isinstance(judge, Mapping) else {alone: judge}
    if not named:
        raise ValueError('judge is empty: name one, such as {"embedded": "embedded"}')
    # an address may hold a password
    return [
        (without_secrets(str(name)), named_judge if _is_rater(named_judge) else load_judge(named_judge))
        for name, named_judge in named.items()
    ]


def _told_apart(judge: Judge | Rater, sets: Mapping[str, list[Case]]) -> tuple[str, Mapping[str, list[Case]]]:
    """What stands for a judge or rater in the signature, and the sets that it gets.

    A rater gets only its own grades.
    """
    if _is_rater(judge):
        return str(judge.signature), {f"grades: {judge.quality}": _grade_cases(judge.quality)}
    return judge.fingerprint, sets


def _usages(judge: object) -> list[Any]:
    """What counts the calls of a judge's language models."""
    held = list(vars(judge).values()) if hasattr(judge, "__dict__") else []
    found = [getattr(usage, "usage", None) for usage in (judge, *held)]
    return [usage for usage in found if hasattr(usage, "calls") and hasattr(usage, "prompt_tokens")]


def _used(judge: object) -> tuple[int | None, int | None]:
    usages = _usages(judge)
    if not usages:
        return None, None
    tokens = sum(usage.prompt_tokens + usage.generated_tokens for usage in usages)
    return sum(usage.calls for usage in usages), tokens


def _asked(judge: Judge | Rater, cases: Sequence[Case], store: StoreOrPath) -> Asked:
    """The replies of a judge or rater, once.

    A judge's also in the opposite order where there is one.
    """
    before, start = _used(judge), time.perf_counter()
    replies = _ask_rater(judge, cases) if _is_rater(judge) else ask_judge(judge, cases, store)
    seconds, after = time.perf_counter() - start, _used(judge)
    spent = [
        None if earlier is None or later is None else later - earlier
        for earlier, later in zip(before, after, strict=True)
    ]
    turned = [] if _is_rater(judge) or cases[0].task != "entail" else ask_judge(judge, cases, store, backwards=True)
    return Asked(cases, replies, turned, seconds, *spent)


def ask_judge(judge: Judge, cases: Sequence[Case], store: StoreOrPath, *, backwards: bool = False) -> list[Reply]:
    """A judge's replies to the cases of a set.

    With `backwards` statements of a premise are asked in reverse order.
    """
    if cases[0].task == "answer":
        return _ask_about_answers(judge, cases, store)
    if cases[0].task != "entail":
        answers = ask_many(judge, cases[0].task, [(item.text,) for item in cases], store=store)
        return [_reply(reply, case) for reply, case in zip(answers, cases, strict=True)]
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
        for place, reply in zip(order, one_by_one, strict=True):
            replies[place] = _reply(reply, cases[place])
    return [replies[place] for place in range(len(cases))]


def _ask_about_answers(judge: Judge, cases: Sequence[Case], store: StoreOrPath) -> list[Reply]:
    """Whether answers are right: by the answer of people where there is one, otherwise by what was read."""
    replies = [Reply(None)] * len(cases)
    if places := [place for place, case in enumerate(cases) if case.expected]:
        rows = [
            {"context": case.premise, "question": case.question, "ground_truth": case.expected, "answer": case.text}
            for case in (cases[place] for place in places)
        ]
        reports = evaluate_answers(rows, judge=judge, store=load_store(store), progress=False)
        for place, report in zip(places, reports, strict=True):
            unsure = report.verdict == "the judge cannot tell"
            said = None if unsure else "right" if report.verdict == "right" else "wrong"
            replies[place] = Reply(said, reason=report.first_line if unsure else "")
    if places := [place for place, case in enumerate(cases) if not case.expected]:
        read = [
            {"question": case.question, "contexts": [case.premise], "answer": case.text}
            for case in (cases[place] for place in places)
        ]
        found = evaluate_rag(read, ["answer_faithfulness"], judge=judge, store=store, progress=False)
        for place, result in zip(places, found.tables["answer_faithfulness"].results, strict=True):
            said = None if result.score is None else "right" if result.score == 1 else "wrong"
            replies[place] = Reply(said, reason=result.reason)
    return replies


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


def _ask_rater(rater: Rater, cases: Sequence[Case]) -> list[Reply]:
    """A rater's grades; one without a number failed."""
    found = list(rater.score_many([item.premise for item in cases], [item.text for item in cases]).outcomes())
    if len(found) != len(cases):
        raise TypeError(f"{type(rater).__name__}.score_many gave {len(found)} grades for {len(cases)} summaries")
    return [Reply(rating.score, reason=rating.reason) for rating in found]


def _grade_cases(quality: str | None) -> list[Case]:
    """The bundled toy ratings of one quality, a case for each summary."""
    toy = load_toy_summeval()
    known = require_option(quality, "quality", toy.ratings)
    cells = zip(toy.sources, toy.summaries, toy.ratings[known], strict=True)
    return [
        Case("grade", source, text, float(grade))
        for source, texts, grades in cells
        for text, grade in zip(texts, grades, strict=True)
    ]


def _same(said: Said, truth: Said) -> bool:
    """Whether a case was judged rightly; grades are rounded."""
    if isinstance(said, (int, float)) and isinstance(truth, float):
        return round(said) == round(truth)
    return said == truth


def _plain_pairs(said: Sequence[Said], truth: Sequence[Said]) -> list[tuple[Said, Said]]:
    """What was said beside the label; of splits whether they are the same."""
    pairs = list(zip(said, truth, strict=True))
    return [(own == other, True) if isinstance(other, tuple) else (own, other) for own, other in pairs]


def _columns(found: Mapping[str, JsonDict]) -> JsonDict:
    """Measures with the ends of their intervals as columns of a row."""
    row: JsonDict = {}
    for name, measure in found.items():
        low, high = measure["interval"] or (None, None)
        row |= {name: measure["score"], f"{name}_low": low, f"{name}_high": high}
    return row


Measures: TypeAlias = Callable[[Sequence[Said], Sequence[Said], Sequence[str]], JsonDict]


def table_row(judge: str, place: str, asked: Asked, measures: Measures) -> JsonDict:
    """The table's row for one judge on one set.

    `measures` is asked about what was judged.
    """
    both = list(zip(asked.cases, asked.replies, strict=True))
    kept = [(case, reply.said, reply.probability) for case, reply in both if reply.said is not None]
    row: JsonDict = {"judge": judge, "set": place, "n": len(both), "failed": len(both) - len(kept)}
    row |= dict.fromkeys(("right", "right_low", "right_high", "kappa", "kappa_low", "kappa_high", "calibration_error"))
    if kept:
        said, truth = [said for _, said, _ in kept], [case.truth for case, _, _ in kept]
        row |= measures(said, truth, [case.premise for case, _, _ in kept])
    if sure := [(case.truth in ("entailed", "refusal"), p) for case, _, p in kept if p is not None]:
        row["calibration_error"] = reliability([p for _, p in sure], [yes for yes, _ in sure]).score
    row |= {"order_changes": asked.order_changes(), "calls": asked.calls, "tokens": asked.tokens}
    row["seconds"] = asked.seconds
    split = asked.cases[0].task == "statements"
    missing = [name for name in ("right", "kappa") if row[name] is None and not (split and name == "kappa")]
    reasons = [f"undefined: {', '.join(missing)} (nothing to compare)"] if missing else []
    reasons += [f"first without an answer: {reply.reason}" for _, reply in both if reply.said is None][:1]
    return row | {"reason": "; ".join(reasons)}


def _wide_rows(table: Sequence[JsonDict]) -> list[JsonDict]:
    """The table as people read it: `.683 [.571, .790]`.

    Without columns that no row has.
    """
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


def _wide_kinds(rows: Sequence[JsonDict]) -> list[JsonDict]:
    """The rows of kinds as people read them: `12 of 14 [.60, .96]`."""
    return [
        {name: row[name] for name in ("judge", "set", "kind", "label")}
        | {"right": f"{round((row['right'] or 0) * row['n'])} of {row['n']}"}
        | {"interval": f"[{row['low']:.2f}, {row['high']:.2f}]" if row["n"] else None, "failed": row["failed"]}
        for row in rows
    ]


def _figure(table: Sequence[JsonDict]) -> Figure:
    """The share of right answers and kappa, a point for each judge and set."""
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
