"""Three entailment scores, a verdict and two refusal flags for a generated answer, with every statement behind them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from summeval_nb.core.base import (
    InputWarning,
    JsonDict,
    Stages,
    callers_level,
    one_bar,
    pd,
    require_column,
    require_flag,
    require_share,
    require_text,
    steps,
)
from summeval_nb.core.files import require_passages, require_truth, table_rows
from summeval_nb.core.html import Markup, markdown_report, render
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Outcome, Score, ScoreTable, Signature, mean_row, plain, rate_row
from summeval_nb.evidence.base import warn_of_paths
from summeval_nb.judged.correctness import Correctness, correctness, hypothesis_score, pair_score, verdict_of
from summeval_nb.judged.judging import Entailment, Flag, Judge, JudgeFailure, Statement, as_statement
from summeval_nb.judged.replies import looked_up, looked_up_in_tables, own_spans, spoken
from summeval_nb.judged.session import JudgeSession, Reply, Unit, load_judge
from summeval_nb.models.store import StoreOrPath
from summeval_nb.text.markdown import Row
from summeval_nb.text.normalize import normalize
from summeval_nb.text.statements import answer_units, as_premise, is_list, with_denying_leads

__all__ = ["AnswerReport", "evaluate_answer", "evaluate_answers"]

PAIRS = {
    "answer_given_context": "context → answer",
    "answer_given_truth": "ground truth → answer",
    "truth_given_answer": "answer → ground truth",
}
# the texts that a pair is made of: it has no score when one of them is empty or refuses
_TEXTS = {
    "answer_given_context": ("answer",),
    "answer_given_truth": ("answer", "ground_truth"),
    "truth_given_answer": ("answer", "ground_truth"),
}


@dataclass(frozen=True, kw_only=True)
class JudgedStatement:
    """A statement with its entailment, whose findings have their places in the text that the user wrote."""

    statement: Statement
    entailment: Entailment

    @property
    def counts(self) -> int | None:
        """1, 0, or None."""
        return None if self.entailment.failed else int(self.entailment.label == "entailed")


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """A unit of the judged text, with its statements, whose mean is its score."""

    unit: Unit
    statements: tuple[JudgedStatement, ...]

    @property
    def score(self) -> float | None:
        """The share of entailed statements."""
        return hypothesis_score([statement.entailment for statement in self.statements])


@dataclass(frozen=True, kw_only=True)
class Inference:
    """One of the three pairs: a premise, the judged hypotheses, and the score.

    Parameters
    ----------
    name : str
        `"answer_given_context"`, `"answer_given_truth"` or `"truth_given_answer"`.
    premise : str
        What was taken as given, exactly as the judge saw it.
    hypotheses : tuple of Hypothesis
        Empty when nothing was judged.
    score : float or None
        The mean of the hypotheses' scores, in [0, 1]; None with a `reason`.
    """

    name: str
    premise: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()
    score: float | None = None
    reason: str = ""

    @property
    def tags(self) -> list[Entailment]:
        """The entailments of all statements, in their order."""
        return [statement.entailment for part in self.hypotheses for statement in part.statements]

    @property
    def n_statements(self) -> int:
        """How many statements were put to the judge."""
        return len(self.tags)

    @property
    def n_failed(self) -> int:
        """How many of them the judge failed on."""
        return sum(tag.failed for tag in self.tags)

    def rows(self) -> list[JsonDict]:
        """Return one row for each statement, with everything that decided it."""
        return [
            {
                "pair": self.name,
                "hypothesis": number,
                "unit": part.unit.place.text,
                "start": part.unit.place.start,
                "end": part.unit.place.end,
                "resolved": part.unit.resolved,
                "statement": one.statement.text,
                "rewritten": one.statement.rewritten,
                "label": one.entailment.label,
                "counts": one.counts,
                "probability": one.entailment.probability,
                "evidence": [passage.shown for passage in one.entailment.evidence],
                "not_found": [finding.text for finding in one.entailment.findings],
                "spans": [(finding.start, finding.end) for finding in one.entailment.findings],
                "reason": one.entailment.reason,
            }
            for number, part in enumerate(self.hypotheses)
            for one in part.statements
        ]


_LABEL_WORDS = {"entailed": "entailed", "contradicted": "contradicted", "neutral": "not said", None: "not judged"}
_VERDICTS = ("right", "partly right", "wrong", "refused", "the judge cannot tell")
_WORST = ("wrong", "refused", "the judge cannot tell", "partly right", "right")


def _told_of(found: Correctness, unjudged: int) -> str:
    """What a verdict rests on: labels counted, of the expected statements and of the answer's own."""
    expected, own = found.labels["ground truth"], found.labels["answer"]
    said, denied, agrees, size = expected["entailed"], own["contradicted"], own["entailed"], sum(own.values())
    told = [f"{said} of {sum(expected.values())} expected statements are said"]
    if not said and agrees:
        told.append(f"{agrees} of {size} that it says {'agrees' if agrees == 1 else 'agree'} with the ground truth")
    if denied:
        of = "" if len(told) > 1 else f" of {size} that it says"
        told.append(f"{denied}{of} {'is' if denied == 1 else 'are'} contradicted")
    return ", ".join(told + [f"{unjudged} could not be judged"] * bool(unjudged))


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AnswerReport(Score):
    """The evaluation of one answer: verdict, scores, flags, and everything behind them.

    Its `score` is `answer_given_context`.

    Parameters
    ----------
    inferences : mapping of str to Inference
        The three pairs by name.
    question, ground_truth, answer : str
        As given.
    contexts : tuple of str
        The documents that were given.
    answer_refused, truth_refused : Flag
        Whether the answer, and the ground truth, declines to answer.
    notes : tuple of str
        What a reader should know, such as which pronouns were replaced.
    repeats_truth : bool
        Whether the answer is right because it is the true one word for word, which the judge could not read.
    signature : Signature
        Every choice behind the numbers.
    """

    sentence_columns: ClassVar = (
        *("pair", "hypothesis", "unit", "start", "end", "resolved", "statement", "rewritten", "label", "counts"),
        *("probability", "evidence", "not_found", "spans", "reason"),
    )

    score: float | None = None
    inferences: Mapping[str, Inference]
    question: str
    ground_truth: str
    answer: str
    contexts: tuple[str, ...]
    answer_refused: Flag
    truth_refused: Flag
    notes: tuple[str, ...] = ()
    repeats_truth: bool = False

    def __post_init__(self) -> None:
        main = self.inferences["answer_given_context"]
        object.__setattr__(self, "score", main.score)
        object.__setattr__(self, "reason", main.reason)
        super().__post_init__()

    @property
    def correctness(self) -> Correctness:
        """Precision, recall, F1 against the ground truth; undefined with its pairs."""
        pairs = [self.inferences[name] for name in ("answer_given_truth", "truth_given_answer")]
        undefined = [pair.reason for pair in pairs if pair.score is None]
        if not undefined and self.repeats_truth:
            nothing = dict.fromkeys(("entailed", "neutral", "contradicted"), 0)
            labels = {"answer": nothing, "ground truth": nothing}
            return Correctness(precision=1.0, recall=1.0, f1=1.0, contradicted=0.0, labels=labels)
        return Correctness(reason=undefined[0]) if undefined else correctness(pairs[0].tags, pairs[1].tags)

    @property
    def n_unjudged(self) -> int:
        """How many statements of answer and ground truth the judge failed on."""
        return sum(self.inferences[name].n_failed for name in ("answer_given_truth", "truth_given_answer"))

    @property
    def _unanswerable(self) -> bool:
        """Whether the answer answers what, by the ground truth, has no answer."""
        answered = self.answer_refused.value is False and bool(self.answer.strip())
        return bool(self.truth_refused.value) and answered

    @property
    def verdict(self) -> str:
        """One of "right", "partly right", "wrong", "refused" or "the judge cannot tell"."""
        refused = bool(self.answer_refused.value)
        return verdict_of(self.correctness, refused=refused, unanswerable=self._unanswerable)

    @property
    def first_line(self) -> str:
        """The verdict, a colon, and what it rests on."""
        found = self.correctness
        if self.answer_refused.value:
            told = "the answer declines to answer" + ", and so does the ground truth" * bool(self.truth_refused.value)
        elif self._unanswerable:
            told = "it answers what, by the ground truth, has no answer"
        else:
            told = found.reason if found.f1 is None else _told_of(found, self.n_unjudged)
        return f"{self.verdict}: {told}"

    @property
    def answer_given_context(self) -> float | None:
        """How much of the answer the context entails, in [0, 1], or None; `reasons` says why."""
        return self.inferences["answer_given_context"].score

    @property
    def answer_given_truth(self) -> float | None:
        """How much of the answer the ground truth entails, in [0, 1], or None."""
        return self.inferences["answer_given_truth"].score

    @property
    def truth_given_answer(self) -> float | None:
        """How much of the ground truth the answer entails, in [0, 1], or None."""
        return self.inferences["truth_given_answer"].score

    @property
    def reasons(self) -> dict[str, str]:
        """Why scores are undefined; only those that are."""
        return {name: pair.reason for name, pair in self.inferences.items() if pair.score is None}

    @property
    def n_failed(self) -> int:
        """How many statements the judge failed on, over all pairs."""
        return sum(pair.n_failed for pair in self.inferences.values())

    @property
    def line(self) -> str:
        """The verdict and what it rests on, with the question."""
        return f"{self.first_line} ({self.question})"

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return the three scores and the correctness by name."""
        return {name: pair.score for name, pair in self.inferences.items()} | {"correctness": self.correctness.f1}

    def outcome(self) -> Outcome:
        """Return what a run writes down for this answer: all but the long texts."""
        found = super().outcome()
        left_out = ("contexts", "premises")
        return found._replace(parts={name: part for name, part in found.parts.items() if name not in left_out})

    @classmethod
    def summarize(cls, table: ScoreTable[Any], *, confidence: float, seed: int) -> list[JsonDict]:
        """Return means and rates with intervals: `measure`, `value`, `low`, `high` and the number of rows `n`."""
        reports: list[AnswerReport] = list(table.measured.values())
        numbers = [report.numbers_by_name() for report in reports]
        rows = [mean_row(name, [own[name] for own in numbers], confidence, seed) for name in (*PAIRS, "correctness")]
        flags = [(report.answer_refused.value, report.truth_refused.value) for report in reports]
        for place, name in enumerate(("answers refused", "ground truths refused")):
            known = [flag[place] for flag in flags if flag[place] is not None]
            rows.append(rate_row(name, sum(map(bool, known)), len(known), confidence))
        decided = [flag for flag in flags if None not in flag]
        both = sum(map(all, decided))
        for name, place in (("refusal precision", 0), ("refusal recall", 1)):
            rows.append(rate_row(name, both, sum(bool(flag[place]) for flag in decided), confidence))
        verdicts = [report.verdict for report in reports]
        counts = [(f"verdict: {verdict}", verdicts.count(verdict)) for verdict in _VERDICTS]
        return rows + [rate_row(name, count, len(verdicts), confidence) for name, count in counts]

    @classmethod
    def worst_first(cls, table: ScoreTable[Any]) -> list[int]:
        """Return the places of the answers, those with the worst verdict first and those without any at the end."""
        found = table.measured.items()
        ranks = {place: (_WORST.index(report.verdict), report.correctness.f1 or 0) for place, report in found}
        return sorted(range(len(table)), key=lambda place: ranks.get(place, (len(_WORST), 0)))

    def row(self) -> JsonDict:
        """Return the report in one row: verdict, scores, flags, counts, reasons."""
        right = self.correctness
        return {name: pair.score for name, pair in self.inferences.items()} | {
            "verdict": self.verdict,
            "correctness": right.f1,
            "correctness_precision": right.precision,
            "correctness_recall": right.recall,
            "contradicted": right.contradicted,
            "answer_refused": self.answer_refused.value,
            "answer_refused_probability": self.answer_refused.probability,
            "truth_refused": self.truth_refused.value,
            "truth_refused_probability": self.truth_refused.probability,
            "n_statements": sum(pair.n_statements for pair in self.inferences.values()),
            "n_failed": self.n_failed,
            "reason": "; ".join(dict.fromkeys(self.reasons.values())),
        }

    def rows(self) -> list[JsonDict]:
        """Return one row for each statement of each pair."""
        return [row for pair in self.inferences.values() for row in pair.rows()]

    def to_dict(self) -> JsonDict:
        """Return everything as plain Python data, ready for JSON."""
        names = ("question", "ground_truth", "answer", "contexts", "first_line", "notes", "reasons")
        return {name: plain(getattr(self, name)) for name in names} | {
            **self.row(),
            "premises": {name: pair.premise for name, pair in self.inferences.items()},
            "statements": self.rows(),
            "refusal_reasons": {"answer": self.answer_refused.reason, "ground_truth": self.truth_refused.reason},
            "signature": str(self.signature),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each statement."""
        return super().to_frame().reindex(columns=list(self.sentence_columns))

    def __repr__(self) -> str:
        row = self.row()
        names = (*self.inferences, "correctness", "n_failed", "answer_refused", "truth_refused")
        return f"{self.first_line}\nAnswerReport({', '.join(f'{name}={row[name]}' for name in names)})"

    def _all_notes(self) -> list[str]:
        told = []
        for name, flag in (("answer", self.answer_refused), ("ground truth", self.truth_refused)):
            how = "" if flag.probability is None else f" ({flag.probability:.2f})"
            words = f"{'a refusal' if flag.value else 'no refusal'}{how}"
            told.append(f"{name}: undecided ({flag.reason})" if flag.value is None else f"{name}: {words}")
        return [*told, *self.notes]

    def _worded_rows(self) -> list[JsonDict]:
        return [row | {"pair": PAIRS[row["pair"]], "label": _LABEL_WORDS[row["label"]]} for row in self.rows()]

    def _repr_html_(self) -> Markup:
        return render(
            "answer.html",
            first_line=self.first_line,
            texts=[("Question", self.question), ("Ground truth", self.ground_truth), ("Answer", self.answer)],
            pairs=[(self.inferences[name], title) for name, title in PAIRS.items()],
            rows=self._worded_rows(),
            right=self.correctness,
            notes=self._all_notes(),
            light={"entailed": 1.0, "neutral": 0.35, "contradicted": 0.0, None: None},
            words=_LABEL_WORDS,
            signature=self.signature,
        )

    def to_markdown(self) -> str:
        """Return the report as GitHub-flavoured Markdown, every text escaped."""
        texts = {"question": self.question, "ground truth": self.ground_truth, "answer": self.answer}
        numbers = {title: self.inferences[name].score for name, title in PAIRS.items()}
        numbers["correctness"] = self.correctness.f1
        rows = [
            {name: row[name] for name in ("pair", "statement", "label", "probability")}
            | {"evidence": " / ".join(row["evidence"]), "not found": " / ".join(row["not_found"])}
            | {"reason": row["reason"]}
            for row in self._worded_rows()
        ]
        listed = [{"text": name, "": text} for name, text in texts.items()]
        parts = [
            markdown_report(self.first_line, filter(None, self._all_notes()), listed),
            markdown_report("", rows=[{"number": name, "value": value} for name, value in numbers.items()]),
            markdown_report("Statements", rows=rows, note=str(self.signature), level=3),
        ]
        return "\n".join(parts)


class AnswerRow(NamedTuple):
    """One checked row."""

    contexts: tuple[str, ...]
    question: str
    ground_truth: str
    answer: str

    def reply(self, text: str) -> Reply:
        """The answer or the ground truth, with the question that it answers."""
        return Reply(self.question, getattr(self, text))


def _check_row(contexts: object, question: object, ground_truth: object, answer: object, where: str = "") -> AnswerRow:
    """A row whose parts have the right types; `where` names it in messages."""
    return AnswerRow(
        tuple(require_passages(contexts, f"{where}contexts")),
        require_text(question, f"{where}question"),
        require_truth(ground_truth, f"{where}ground_truth"),
        require_text(answer, f"{where}answer"),
    )


def _warn_of_mistakes(rows: Sequence[AnswerRow]) -> None:
    """Warn of a path in the place of a text, and where another text asks and the question does not."""
    warn_of_paths([text for row in rows for text in (*row.contexts, row.ground_truth, row.answer)])
    marks = ("?", "？", "؟")
    for number, row in enumerate(rows):
        last = row.contexts[-1] if row.contexts else ""
        others = {"contexts": last, "ground_truth": row.ground_truth, "answer": row.answer}
        asking = [name for name, text in others.items() if text.rstrip().endswith(marks)]
        if asking and not any(mark in row.question for mark in marks):
            place = f" in row {number}" if len(rows) > 1 else ""
            remedy = "the order is evaluate_answer(contexts, question, ground_truth, answer)"
            told = f"{asking[0]} ends with a question mark{place}, and question has none ({row.question!r:.60})"
            warnings.warn(f"{told}: {remedy}", InputWarning, stacklevel=callers_level())
            return


def _why_no_score(name: str, row: AnswerRow, flags: Mapping[str, Flag], score_refusals: bool) -> str:
    """Why a pair has no score before anything was judged; '' if it is to be judged."""
    empty = [text for text in _TEXTS[name] if not (spoken(getattr(row, text)).strip() or flags[text].value)]
    if name == "answer_given_context" and not any(passage.strip() for passage in row.contexts):
        empty.append("context")
    if empty:
        return f"the {empty[0].replace('_', ' ')} is empty"
    for text in () if score_refusals else _TEXTS[name]:
        named = text.replace("_", " ")
        if flags[text].value is None:
            return f"it is undecided whether the {named} is a refusal: {flags[text].reason}"
        if flags[text].value:
            return f"the {named} is a refusal"
    return ""


class _Parts(NamedTuple):
    """The units of one text, the statements of each, those of a kept list's items without its lead-in, and notes."""

    units: list[Unit]
    statements: list[list[Statement] | JudgeFailure]
    apart: list[list[list[Statement]]]
    notes: list[str]


def _split_texts(replies: Sequence[Reply], session: JudgeSession, keep_lists: bool = False) -> dict[Reply, _Parts]:
    """The units and statements of each reply; those that were made of a short answer are not asked for."""
    stage = Stages(resolve=1, split=1)
    with stage("resolve"):
        read = session.read(replies, keep_lists=keep_lists)
    whole = {reply: with_denying_leads([unit.resolved for unit in units]) for reply, (units, _) in read.items()}
    asked = dict.fromkeys(
        text for reply, own in whole.items() for unit, text in zip(read[reply][0], own, strict=True) if not unit.told
    )
    kept = [text for text in asked if keep_lists and is_list(text)]
    lists = {text: with_denying_leads([part.text for part in answer_units(text)]) for text in kept}
    asked |= dict.fromkeys(part for parts in lists.values() for part in parts)
    with stage("split"):
        stated = dict(zip(asked, session.ask("statements", [(text,) for text in asked]), strict=True))

    def apart(text: str) -> list[list[Statement]]:
        found = [stated[part] for part in lists.get(text, [])]
        return [] if any(isinstance(own, JudgeFailure) for own in found) else found

    parts = {}
    for reply, (units, note) in read.items():
        statements = [
            [as_statement(part.text, unit.place.text) for part in unit.told] if unit.told else stated[text]
            for unit, text in zip(units, whole[reply], strict=True)
        ]
        notes = [
            f"“{unit.place.text}” is read as “{unit.resolved}”"
            for unit in units
            if any(part.row is None and not part.reason for part in unit.told)
        ]
        parts[reply] = _Parts(units, statements, list(map(apart, whole[reply])), [note] * bool(note) + notes)
    return parts


class _Pair(NamedTuple):
    """One row's pair that is to be judged: its premise, the rows of tables in it, and the judged text."""

    premise: str
    tables: list[Row]
    judged: _Parts


def _pair_of(name: str, row: AnswerRow, parts: Mapping[Reply, _Parts]) -> _Pair:
    """A pair as the judge sees it: texts resolved and read with the question, contexts as paragraphs of their own."""
    judged = parts[row.reply("ground_truth" if name == "truth_given_answer" else "answer")]
    if name == "answer_given_context":
        return _Pair("\n\n".join(passage for passage in row.contexts if passage.strip()), [], judged)
    given = parts[row.reply("ground_truth" if name == "answer_given_truth" else "answer")].units
    tables = [part.row for unit in given for part in unit.told if part.row]
    return _Pair(as_premise([unit.resolved for unit in given]), tables, judged)


def _learn(pairs: Sequence[_Pair], session: JudgeSession, shared: bool) -> dict[tuple[str, tuple[str, ...]], Any]:
    """What the judge says of the statements of each unit, each premise with the same statements asked about once."""
    items: dict[tuple[str, tuple[str, ...]], None] = {}
    for premise, _, own in pairs:
        for statements in [*own.statements, *(one for group in own.apart for one in group)]:
            if not isinstance(statements, JudgeFailure):
                items[premise, tuple(statement.text for statement in statements)] = None
    ask = session.share if shared else session.ask
    answers = ask("entail", [(premise, list(statements)) for premise, statements in items])
    return dict(zip(items, answers, strict=True))


def _judged_unit(
    pair: _Pair, unit: Unit, statements: list[Statement] | JudgeFailure, known: Mapping[Any, Any], by_words: bool
) -> list[JudgedStatement]:
    """A unit's statements with their entailments; with `by_words` a short answer's own words are looked for, too."""
    failed = statements if isinstance(statements, JudgeFailure) else None
    own = [as_statement(unit.resolved, unit.resolved)] if isinstance(statements, JudgeFailure) else statements
    tags = failed or known[pair.premise, tuple(statement.text for statement in own)]
    if isinstance(tags, JudgeFailure):
        tags = [Entailment(label=None, reason=str(tags)) for _ in own]
    elif by_words and unit.told:
        tags = [looked_up(told, pair.premise, tag) for told, tag in zip(unit.told, tags, strict=True)]
    elif by_words and pair.tables:
        tags = [looked_up_in_tables(pair.tables, one.text, tag) for one, tag in zip(own, tags, strict=True)]
    pairs = zip(own, tags, strict=True)
    return [JudgedStatement(statement=one, entailment=_placed(tag, one.text, unit)) for one, tag in pairs]


def _placed(entailment: Entailment, statement: str, unit: Unit) -> Entailment:
    """An entailment whose findings have their places in the user's own text."""
    if not entailment.findings:
        return entailment
    at, low = unit.resolved.find(statement), unit.place.start
    read, moved = (unit.resolved, at) if at >= 0 else (statement, 0)
    spans = own_spans(unit.place, read, [(one.start + moved, one.end + moved) for one in entailment.findings])
    placed = [
        finding._replace(text=unit.place.text[start - low : end - low], start=start, end=end)
        for finding, (start, end) in zip(entailment.findings, spans, strict=True)
    ]
    return replace(entailment, findings=tuple(placed))


def _hypothesis(pair: _Pair, place: int, known: Mapping[Any, Any], by_words: bool) -> Hypothesis:
    """A judged unit: a list's items with their lead-in, or its units without it where these are entailed more often."""
    units, statements, apart, _ = pair.judged
    kept = _judged_unit(pair, units[place], statements[place], known, by_words)
    alone = [_judged_unit(pair, units[place], own, known, by_words) for own in apart[place]]
    share = lambda found: hypothesis_score([one.entailment for one in found]) or 0.0
    if alone and sum(map(share, alone)) / len(alone) > share(kept):
        kept = [one for found in alone for one in found]
    return Hypothesis(unit=units[place], statements=tuple(kept))


def evaluate_rows(
    rows: Sequence[AnswerRow],
    session: JudgeSession,
    signature: Signature,
    *,
    score_refusals: bool = False,
    keep_lists: bool = False,
    max_failed: float = 0.5,
    shared: bool = False,
) -> list[AnswerReport]:
    """Return the reports of checked rows; `shared` is a session whose verdicts other measures want, too."""
    stage = Stages(refusals=1, statements=1, judge=8)
    with stage("refusals"):
        found = iter(session.refusals(text for row in rows for text in (row.answer, row.ground_truth)))
        flags = [{"answer": next(found), "ground_truth": next(found)} for _ in rows]
    reasons = {
        (i, name): _why_no_score(name, row, flags[i], score_refusals) for i, row in enumerate(rows) for name in PAIRS
    }
    wanted = [key for key, reason in reasons.items() if not reason]
    with stage("statements"):
        parts = _split_texts([rows[i].reply(text) for i, name in wanted for text in _TEXTS[name]], session, keep_lists)
    # rows with the same context one after the other: a context that twenty answers share lands in one batch
    wanted.sort(key=lambda key: (rows[key[0]].contexts, key[0]))
    pairs = {(i, name): _pair_of(name, rows[i], parts) for i, name in wanted}
    with stage("judge"):
        known = _learn(list(pairs.values()), session, shared)
    inferences = {key: Inference(name=key[1], reason=reason) for key, reason in reasons.items()}
    for key, pair in pairs.items():
        units = range(len(pair.judged.units))
        hypotheses = tuple(_hypothesis(pair, place, known, session.by_words) for place in units)
        tags = [[one.entailment for one in own.statements] for own in hypotheses]
        score, reason = pair_score(tags, max_failed)
        judged: JsonDict = {"premise": pair.premise, "hypotheses": hypotheses}
        inferences[key] = Inference(name=key[1], score=score, reason=reason, **judged)
    again: set[int] = set()
    for i, row in enumerate(rows):  # what repeats the truth is right, in whatever form or language
        refuses = flags[i]["answer"].value and not score_refusals
        both = [(i, "answer_given_truth"), (i, "truth_given_answer")]
        repeats = session.by_words and _in_short(row.answer, row.ground_truth) == _in_short(row.ground_truth) != ""
        if repeats and not refuses and any(inferences[key].score != 1 for key in both):
            again.add(i)
            inferences |= {key: replace(inferences[key], score=1.0, reason="") for key in both}
    return [
        AnswerReport(
            inferences={name: inferences[i, name] for name in PAIRS},
            **row._asdict(),
            repeats_truth=i in again,
            answer_refused=flags[i]["answer"],
            truth_refused=flags[i]["ground_truth"],
            signature=signature,
            notes=_notes_of(row, parts),
        )
        for i, row in enumerate(rows)
    ]


def _in_short(text: str, like: str = "") -> str:
    """A text without its last full stop, spaces and first capital, its dates and numbers as `like` writes them."""
    said = " ".join(normalize(text, like=like).text.split()).rstrip(" .!")
    return said[:1].lower() + said[1:]


def _notes_of(row: AnswerRow, parts: Mapping[Reply, _Parts]) -> tuple[str, ...]:
    """What a reader should know about how a row was read."""
    read = [parts[reply] for reply in map(row.reply, ("answer", "ground_truth")) if reply in parts]
    notes = [note for own in read for note in own.notes]
    if blank := sum(not passage.strip() for passage in row.contexts):
        notes.append(f"{blank} of {len(row.contexts)} contexts are empty and were left out")
    return tuple(dict.fromkeys(notes))


def _check_options(*, score_refusals: object, keep_lists: object, max_failed: object, **_: object) -> None:
    require_flag(score_refusals, "score_refusals")
    require_flag(keep_lists, "keep_lists")
    require_share(max_failed, "max_failed")


def _signature(*, judge: Any, score_refusals: bool, keep_lists: bool, max_failed: float, **_: object) -> Signature:
    """Every option that could change a number."""
    options = {"score_refusals": score_refusals, "keep_lists": keep_lists, "max_failed": float(max_failed)}
    return Signature({"metric": "answer", "judge": load_judge(judge).fingerprint, **options})


def _evaluate(rows: Sequence[AnswerRow], *, progress: bool | None = None, **how: Any) -> ScoreTable[AnswerReport]:
    """The reports of checked rows."""
    _warn_of_mistakes(rows)
    session, signature = JudgeSession(how["judge"], how["store"]), _signature(**how)
    options = {name: how[name] for name in ("score_refusals", "keep_lists", "max_failed")}
    order = sorted(range(len(rows)), key=lambda i: (rows[i].contexts, i))  # what shares a context comes together
    batches = [order[start : start + 256] for start in range(0, len(order), 256)]  # what an interruption can cost
    reports: dict[int, AnswerReport] = {}
    with one_bar(len(rows), "answers", "row", show=bool(progress)):
        for places in steps(batches, [len(places) for places in batches]):
            found = evaluate_rows([rows[i] for i in places], session, signature, **options)
            reports.update(zip(places, found, strict=True))
    return ScoreTable([reports[i] for i in range(len(rows))], signature=signature)


@metric("answers", check=_check_options, signature=_signature)
def evaluate_answer(
    contexts: str | Sequence[str],
    question: str,
    ground_truth: str | Sequence[str],
    answer: str,
    *,
    judge: str | Judge = "embedded",
    score_refusals: bool = False,
    keep_lists: bool = False,
    max_failed: float = 0.5,
    store: StoreOrPath = None,
) -> AnswerReport:
    """Evaluate one generated answer against its context and the expected answer.

    Parameters
    ----------
    contexts : str or sequence of str
        What the system was given: one text, or several documents.
    question, ground_truth, answer : str
        What was asked, the expected answer, the system's answer. Plain text.
    judge : str or Judge
        Who answers the small questions: `"embedded"` (chapter 51), `"nli:FOLDER"`,
        `"llm:FOLDER"` (chapter 51), or a judge. What the embedded judge says of a
        statement is what `evaluate` says of it.
    score_refusals : bool
        Score refused answers and ground truths like any other text.
    keep_lists : bool
        Keep list items together with the sentence that leads into them; each item is
        then a statement with that sentence, or without it where that is entailed
        more often. Under a sentence with a *not*, an item is always read with it.
    max_failed : float
        In [0, 1]: a pair with a greater share of failed statements has no score.
    store : Store or path, optional
        Where the judge's answers are kept.

    Returns
    -------
    AnswerReport
        `verdict` and `first_line`; `correctness`; `answer_given_context`,
        `answer_given_truth`, `truth_given_answer`: each in [0, 1], or None with a
        reason in `reasons`; `answer_refused`, `truth_refused`: flags with probability;
        every statement behind them. What the embedded judge leaves unclear is neutral
        and counts 0; what is in a language that it does not read is not judged, and the
        reason says so.

    Raises
    ------
    TypeError
        If a text is not a string.
    ValueError
        If `max_failed` is outside [0, 1] or the judge is unknown.

    Examples
    --------
    >>> bridge = "The bridge opened in 1931."
    >>> report = evaluate_answer(bridge, "Since when?", bridge, bridge)
    >>> report.answer_given_context, report.verdict
    (1.0, 'right')
    """
    how = locals()
    row = [how.pop(name) for name in AnswerRow._fields]
    _check_options(**how)
    return _evaluate([_check_row(*row)], **how)[0]


def _evaluate_table(
    contexts: Any, questions: Any, ground_truths: Any, answers: Any, *, progress: bool | None = None, **how: Any
) -> ScoreTable[AnswerReport]:
    """The reports of many answers, all rows checked before one is judged."""
    given = {"contexts": contexts, "question": questions, "ground_truth": ground_truths, "answer": answers}
    rows = table_rows({name: require_column(values, name) for name, values in given.items()})
    _check_options(**how)
    return _evaluate([_check_row(**row, where=f"row {n}: ") for n, row in enumerate(rows)], progress=progress, **how)


evaluate_answers = batch(evaluate_answer, _evaluate_table, name="evaluate_answers")
