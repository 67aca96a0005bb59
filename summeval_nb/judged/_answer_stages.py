"""The stages by which answers are judged: rows checked, refusals, units, statements, entailment. Edited directly.

Chapter 43 tells what they are for. In each stage the questions of all rows are put to the judge together, through
`ask(purpose, items)`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from summeval_nb.evidence._inputs import warn_of_paths
from summeval_nb.ground._callers import callers_level
from summeval_nb.ground._frames import Table, frame_rows
from summeval_nb.ground.results import InputWarning, Sentence, require_column, require_text, require_texts
from summeval_nb.judged.judging import (
    Ask,
    Asking,
    Entailment,
    Flag,
    Items,
    JudgeFailure,
    Resolution,
    Statement,
    as_statement,
    ask_many,
    json_size,
)
from summeval_nb.judged.load import load_judge
from summeval_nb.judged.statements import answer_units, as_premise, is_list
from summeval_nb.models._declared import added
from summeval_nb.models._named import StoreOrPath, load_store
from summeval_nb.models.llm import Calls, Most
from summeval_nb.text._lists import with_denying_leads
from summeval_nb.text.split import split_sentences, split_units

if TYPE_CHECKING:
    from summeval_nb.judged.judging import Judge
    from summeval_nb.models.store import Store

Said = list[tuple[Statement, Entailment]]
Tagged = tuple["Unit", Said]

# the texts that a pair is made of: what is said of it is undefined when one of them is empty or refuses
TEXTS = {
    "answer_given_context": ("answer",),
    "answer_given_truth": ("answer", "ground_truth"),
    "truth_given_answer": ("answer", "ground_truth"),
}


class AnswerChoices(TypedDict, total=False):
    """The fields of `AnswerMetric`."""

    judge: str | Judge
    score_refusals: bool
    keep_lists: bool
    max_failed: float
    store: Store | str | None


class Unit(NamedTuple):
    """A unit of a text: its place in the original, and its text with pronouns resolved."""

    place: Sentence
    resolved: str


class Row(NamedTuple):
    """One checked row."""

    context: tuple[str, ...]
    question: str
    ground_truth: str
    answer: str


def asking(judge: str | Judge, store: StoreOrPath, progress: bool) -> Ask:
    """The function that puts questions to a judge, with a memory for the length of one run."""
    chosen = load_judge(judge)
    chosen = chosen.for_run() if hasattr(chosen, "for_run") else chosen
    kept = load_store(store)

    def ask(purpose: str, items: Items) -> list[Any]:
        return ask_many(chosen, purpose, items, store=kept, progress=purpose if progress else "")

    return ask


def check_row(context: object, question: object, ground_truth: object, answer: object, where: str = "") -> Row:
    """Check the types of one row; `where` names it in messages."""
    contexts = (context,) if isinstance(context, str) else require_texts(context, f"{where}context")
    texts = {"question": question, "ground_truth": ground_truth, "answer": answer}
    return Row(tuple(contexts), *(require_text(text, f"{where}{name}") for name, text in texts.items()))


def table_records(table: Table, columns: Mapping[str, Sequence[str]]) -> list[dict[str, object]]:
    """Return a table's rows as dictionaries with the wanted names.

    Parameters
    ----------
    table : DataFrame, datasets.Dataset, list of dicts, or dict of columns
        The data.
    columns : mapping of str to sequence of str
        For each wanted name, the column names it may have.

    Raises
    ------
    TypeError
        If it is no table, a column no list or a row no dictionary.
    ValueError
        If a column is missing or columns have different lengths; the message names those that are there.
    """
    if hasattr(table, "to_dict") and hasattr(table, "columns"):
        given: Iterable[object] = frame_rows(table)  # pandas; a Dataset also has a to_dict, and no columns
    elif isinstance(table, Mapping):
        lists = {name: require_column(values, f"the column {name!r}") for name, values in table.items()}
        lengths = {name: len(values) for name, values in lists.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns must have the same length, not {lengths}")
        given = [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]
    else:
        given = table
    rows = isinstance(given, Iterable) or hasattr(given, "__getitem__")  # such as torch's Dataset
    if isinstance(given, (str, bytes)) or not rows:
        remedy = "pass a DataFrame, a Dataset, a list of dictionaries or a dictionary of columns"
        raise TypeError(f"table must be a table, not {type(given).__name__} ({given!r:.40}): {remedy}")
    records = []
    for number, record in enumerate(given):
        if not isinstance(record, Mapping):
            kind = type(record).__name__
            raise TypeError(f"row {number} must be a dictionary, not {kind}: pass a table or a list of dicts")
        found = {name: next((own for own in known if own in record), None) for name, known in columns.items()}
        missing = [" or ".join(map(repr, columns[name])) for name, own in found.items() if own is None]
        if missing:
            raise ValueError(f"row {number} has no column {', '.join(missing)}; it has {list(record)}")
        records.append({name: record[own] for name, own in found.items()})
    return records


def opening(text: str) -> str:
    """The first three sentences of a text."""
    sentences = split_sentences(text)[:3]
    return text[sentences[0].start : sentences[-1].end] if sentences else ""


def warn_of_questions(rows: Sequence[Row]) -> None:
    """Warn where another text asks, and the question does not: they may stand in each other's place."""
    marks = ("?", "？", "؟")
    for number, row in enumerate(rows):
        others = {"context": row.context[-1] if row.context else "", "ground_truth": row.ground_truth}
        others["answer"] = row.answer
        asking = [name for name, text in others.items() if text.rstrip().endswith(marks)]
        if asking and not any(mark in row.question for mark in marks):
            place = f" in row {number}" if len(rows) > 1 else ""
            remedy = "the order is evaluate_answer(context, question, ground_truth, answer)"
            warnings.warn(
                f"{asking[0]} ends with a question mark{place}, and question has none ({row.question!r:.60}): {remedy}",
                InputWarning,
                stacklevel=callers_level(),
            )
            return


def ask_flags(rows: Sequence[Row], ask: Ask) -> list[dict[str, Flag]]:
    """For each row, whether its answer and its ground truth are refusals; a failure leaves it undecided."""
    warn_of_questions(rows)
    warn_of_paths([text for row in rows for text in (*row.context, row.ground_truth, row.answer)])
    texts = [opening(text) for row in rows for text in (row.answer, row.ground_truth)]
    flags = [
        Flag(value=None, reason=str(one)) if isinstance(one, JudgeFailure) else one
        for one in ask("refusal", [(text,) for text in texts])
    ]
    return [{"answer": flags[2 * i], "ground_truth": flags[2 * i + 1]} for i in range(len(rows))]


def why_no_score(name: str, row: Row, flags: Mapping[str, Flag], score_refusals: bool) -> str:
    """Why a pair has no score before anything was judged; '' if it is to be judged."""
    empty = [part for part in TEXTS[name] if not getattr(row, part).strip()]
    if name == "answer_given_context" and not any(one.strip() for one in row.context):
        empty.append("context")
    if empty:
        return f"the {empty[0].replace('_', ' ')} is empty"
    for part in () if score_refusals else TEXTS[name]:
        if flags[part].value is None:
            return f"it is undecided whether the {part.replace('_', ' ')} is a refusal: {flags[part].reason}"
        if flags[part].value:
            return f"the {part.replace('_', ' ')} is a refusal"
    return ""


def make_units(text: str, resolution: Resolution | None, *, keep_lists: bool = False) -> list[Unit]:
    """Return the units of a text with their resolved texts; without a resolution the text stays as it is.

    Examples
    --------
    >>> [unit.resolved for unit in make_units("The bridge is old. It opened in 1931.", None)]
    ['The bridge is old. It opened in 1931.']
    """
    places = answer_units(text, keep_lists=keep_lists)
    resolved = resolution.units if resolution is not None else [place.text for place in places]
    return [Unit(place, new) for place, new in zip(places, resolved, strict=True)]


def question_end(question: str) -> str:
    """Return the last unit of a question; '' if it is empty.

    Examples
    --------
    >>> question_end("Our server was moved in May. Since then mails are late. What should we check?")
    'What should we check?'
    """
    units = split_units(question)
    return units[-1].text if units else ""


class Parts(NamedTuple):
    """The units of one text, the statements of each (or the judge's failure), and notes.

    `apart` holds for a list that was kept together the statements of its units as they are read when it is not kept:
    without their lead-in, if that holds no *not*. It holds nothing for other units.
    """

    units: list[Unit]
    statements: list[list[Statement] | JudgeFailure]
    apart: list[list[list[Statement]]]
    notes: tuple[str, ...]


def _resolve(texts: Sequence[str], ask: Ask, keep_lists: bool) -> dict[str, tuple[list[Unit], tuple[str, ...]]]:
    """The units of each text with pronouns resolved, and a note on how."""
    places = {text: [place.text for place in answer_units(text, keep_lists=keep_lists)] for text in texts}
    found = dict(zip(texts, ask("resolve", [(text, places[text]) for text in texts]), strict=True))
    out: dict[str, tuple[list[Unit], tuple[str, ...]]] = {}
    for text, one in found.items():
        if isinstance(one, JudgeFailure):
            resolution, note = None, f"pronouns were left as they are: {one.reason}"
        else:
            resolution, note = one, one.note
        out[text] = (make_units(text, resolution, keep_lists=keep_lists), (note,) if note else ())
    return out


def split_texts(texts: Sequence[str], ask: Ask, keep_lists: bool = False) -> dict[str, Parts]:
    """The units and statements of each text."""
    resolved = _resolve(list(dict.fromkeys(texts)), ask, keep_lists)
    read = {text: with_denying_leads([unit.resolved for unit in units]) for text, (units, _) in resolved.items()}
    units = list(dict.fromkeys(one for own in read.values() for one in own))
    kept = [one for one in units if keep_lists and is_list(one)]
    lists = {one: with_denying_leads([part.text for part in answer_units(one)]) for one in kept}
    asked = list(dict.fromkeys([*units, *(part for parts in lists.values() for part in parts)]))
    statements = dict(zip(asked, ask("statements", [(one,) for one in asked]), strict=True))

    def apart(unit: str) -> list[list[Statement]]:
        found = [statements[part] for part in lists.get(unit, [])]
        said = [one for one in found if not isinstance(one, JudgeFailure)]
        return said if len(said) == len(found) else []

    return {
        text: Parts(found, [statements[one] for one in read[text]], [apart(one) for one in read[text]], notes)
        for text, (found, notes) in resolved.items()
    }


def premise_of(name: str, row: Row, parts: Mapping[str, Parts]) -> str:
    """The premise of a pair, as the judge sees it: resolved, and contexts as paragraphs of their own."""
    if name == "answer_given_context":
        return "\n\n".join(one for one in row.context if one.strip())
    given = row.ground_truth if name == "answer_given_truth" else row.answer
    resolved = as_premise([unit.resolved for unit in parts[given].units])
    return "\n\n".join(text for text in (question_end(row.question), resolved) if text)


def _tagged(unit: Unit, statements: list[Statement] | JudgeFailure, found: list[Entailment] | JudgeFailure) -> Said:
    """Statements with their entailments; a failure of the judge stands on each statement."""
    if isinstance(statements, JudgeFailure):
        found, statements = statements, [as_statement(unit.resolved, unit.resolved)]
    if isinstance(found, JudgeFailure):
        found = [Entailment(label=None, reason=str(found)) for _ in statements]
    return list(zip(statements, found, strict=True))


def _share(tagged: Said) -> float:
    """The share that is entailed of what could be judged, 0 for nothing."""
    labels = [tag.label for _, tag in tagged if not tag.failed]
    return sum(label == "entailed" for label in labels) / len(labels) if labels else 0.0


def _better(kept: Said, apart: Sequence[Said]) -> Said:
    """A list's items with their lead-in, or its units without it where these are entailed more often."""
    alone = sum(map(_share, apart)) / len(apart) if apart else 0.0
    return [one for tagged in apart for one in tagged] if alone > _share(kept) else kept


def tag_pairs(
    rows: Sequence[Row], wanted: Sequence[tuple[int, str]], parts: Mapping[str, Parts], ask: Ask
) -> dict[tuple[int, str], tuple[str, list[Tagged]]]:
    """The premise of each wanted (row, pair), and the units of its hypothesis with their tagged statements.

    Hypotheses of rows with the same context are put to the judge one after the other, so that they land in the same
    lot: there a context that twenty answers share is read once.
    """
    premises = {(i, name): premise_of(name, rows[i], parts) for i, name in wanted}
    texts = {(i, n): rows[i].ground_truth if n == "truth_given_answer" else rows[i].answer for i, n in wanted}
    items: dict[tuple[str, tuple[str, ...]], None] = {}
    for key in sorted(wanted, key=lambda key: (rows[key[0]].context, key[0])):
        own = parts[texts[key]]
        for statements in [*own.statements, *(one for group in own.apart for one in group)]:
            if not isinstance(statements, JudgeFailure):
                items[premises[key], tuple(one.text for one in statements)] = None
    replies = ask("entail", [(premise, list(statements)) for premise, statements in items])
    found = dict(zip(items, replies, strict=True))
    out: dict[tuple[int, str], tuple[str, list[Tagged]]] = {}
    for key in wanted:
        own, tagged = parts[texts[key]], list[Tagged]()

        def tags(unit: Unit, statements: list[Statement] | JudgeFailure, premise: str = premises[key]) -> Said:
            if isinstance(statements, JudgeFailure):
                return _tagged(unit, statements, statements)
            return _tagged(unit, statements, found[premise, tuple(s.text for s in statements)])

        for unit, statements, apart in zip(own.units, own.statements, own.apart, strict=True):
            tagged.append((unit, _better(tags(unit, statements), [tags(unit, one) for one in apart])))
        out[key] = (premises[key], tagged)
    return out


def lots_of(rows: Sequence[Row], most: int = 256) -> list[list[int]]:
    """The numbers of rows that are judged together, those with the same context one after the other."""
    order = sorted(range(len(rows)), key=lambda i: (rows[i].context, i))
    return [order[start : start + most] for start in range(0, len(order), most)]


def most_calls(judge: str | Judge, rows: Sequence[Mapping[str, object]], keep_lists: bool) -> dict[str, Calls]:
    """At most what the stages above ask a judge about rows, lot after lot."""
    checked = [check_row(row["context"], row["question"], row["ground_truth"], row["answer"]) for row in rows]
    return added(*(_most_of_lot(judge, [checked[i] for i in lot], keep_lists) for lot in lots_of(checked)))


def _most_of_lot(judge: str | Judge, rows: Sequence[Row], keep_lists: bool) -> dict[str, Calls]:
    """At most what a lot asks: no text is a refusal, and each reply is as long as it may be."""
    ask, undecided = Asking(load_judge(judge)), {name: Flag(value=False) for name in ("answer", "ground_truth")}
    ask("refusal", [(opening(text),) for row in rows for text in (row.answer, row.ground_truth)])
    wanted = [(row, name) for row in rows for name in TEXTS if not why_no_score(name, row, undecided, True)]
    texts = list(dict.fromkeys(getattr(row, part) for row, name in wanted for part in TEXTS[name]))
    places = {text: tuple(place.text for place in answer_units(text, keep_lists=keep_lists)) for text in texts}
    resolved = dict(zip(texts, ask("resolve", [(text, places[text]) for text in texts]), strict=True))
    read = {text: _most_read(resolved[text], places[text], keep_lists) for text in texts}
    statements = dict(zip(texts, ask("statements", [(read[text],) for text in texts]), strict=True))

    def premise(name: str, row: Row) -> str | Most:
        if name == "answer_given_context":
            return premise_of(name, row, {})
        given = row.ground_truth if name == "answer_given_truth" else row.answer
        return Most(1, json_size(question_end(row.question)) + read[given].size + 10)

    of = {"answer_given_context": "answer", "answer_given_truth": "answer", "truth_given_answer": "ground_truth"}
    ask("entail", [(premise(name, row), statements[getattr(row, of[name])]) for row, name in wanted])
    return ask.calls


def _largest(texts: Sequence[str], said: Most) -> int:
    """How much of what is said in place of texts belongs to the longest of them, if it grows as the texts do."""
    sizes = [json_size(text) + 50 for text in texts]
    return -(-said.size * max(sizes) // sum(sizes)) if sizes else 0


def _together(parts: Sequence[Most]) -> Most:
    """Texts of several replies as one."""
    return Most(sum(one.count for one in parts), sum(one.size for one in parts))


def _most_read(resolved: Most, units: Sequence[str], keep_lists: bool) -> Most:
    """The units of a text as they are read: with their lead-ins where there are lists, and the parts of kept ones."""
    if not any(map(is_list, units)):
        return resolved
    longest = _largest(units, resolved)  # of a lead-in, which may stand above each item
    read = Most(resolved.count, resolved.size + resolved.count * longest)
    parts = sum(2 * len(answer_units(unit)) for unit in units if is_list(unit))
    return _together([read, Most(parts, read.size + parts * longest)]) if keep_lists else read


def notes_of(row: Row, parts: Mapping[str, Parts]) -> tuple[str, ...]:
    """What a reader should know about how a row was read."""
    notes = [note for text in (row.answer, row.ground_truth) if text in parts for note in parts[text].notes]
    blank = sum(not one.strip() for one in row.context)
    notes += [f"{blank} of {len(row.context)} contexts are empty and were left out"] if blank else []
    return tuple(dict.fromkeys(notes))
