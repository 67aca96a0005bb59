"""What a run would take: a sample of rows is scored while somebody who asks nobody stands for each language model."""

from __future__ import annotations

import json
import math
import random
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from summeval_nb.core.base import JsonDict, require_count
from summeval_nb.core.files import Columns, Corpus, open_items
from summeval_nb.core.html import html_table, text_table
from summeval_nb.models.base import STAND_IN, Backend, Choice, Usage, UsageByStage, counting
from summeval_nb.models.local import load_model
from summeval_nb.models.store import Store, StoreOrPath
from summeval_nb.runs.file import FILE, RunFile, cut, explained
from summeval_nb.runs.running import Job, MetricOrFunction, Scorer, require_columns, require_same
from summeval_nb.text.split import split_sentences

__all__ = ["Estimate", "RecordingBackend", "RunPlan", "plan_run"]

# ---------------------------------------------------------------- what stands for a language model

BYTES_PER_TOKEN = 4  # of English
PHRASE = 100  # what may have no more characters is a phrase and gets three words
_CASE = re.compile(r"^Case (\d+): (.*)$", re.MULTILINE)
_TAGGED = re.compile(r"<([\w-]+)>\n?(.*?)\n?</\1>", re.DOTALL)


def _tokens(text: str) -> int:
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


class RecordingBackend(Backend):
    """Stands for a language model in a plan: counts what it is asked, and makes up its replies.

    Of options it chooses the first, and the last where the prompt asks about a refusal. JSON is filled with the
    sentences that the prompt shows. Four bytes count as a token, and a reply has as many tokens as it may have at most.

    Parameters
    ----------
    name : str
        The model's name.
    """

    def __init__(self, name: str):
        self.name, self.usage = name, Usage()

    @property
    def fingerprint(self) -> str:
        return f"recording:{self.name}"

    def _choose(self, prompt: str, options: tuple[str, ...]) -> Choice:
        self.usage.add(prompt_tokens=_tokens(prompt), generated_tokens=max(map(_tokens, options)))
        label = options[-1] if "refuse" in prompt.partition("\n")[0] else options[0]
        return Choice(label, {option: float(option == label) for option in options}, 1.0)

    def _json(self, prompt: str, schema: JsonDict, max_tokens: int) -> str:
        self.usage.add(prompt_tokens=_tokens(prompt), generated_tokens=max_tokens)
        shown = {}
        for number, line in _CASE.findall(prompt):
            with suppress(ValueError):  # a prompt of somebody's, which shows something else so
                shown[f"case_{number}"] = _texts_in(json.loads(line))
        tagged = [text for _, text in _TAGGED.findall(prompt)]
        rest = (tagged or prompt.strip().split("\n\n"))[-1]
        fields = schema.get("properties", {})
        return json.dumps({name: _made_up(part, shown.get(name, [rest]), schema) for name, part in fields.items()})


def _texts_in(value: object) -> list[str]:
    if isinstance(value, dict):
        value = [*value.values()]
    return [text for part in value for text in _texts_in(part)] if isinstance(value, list) else [str(value)]


def _made_up(schema: JsonDict, texts: Sequence[str], root: JsonDict, place: int = 0) -> Any:
    """A value that a JSON schema allows, of the texts that a prompt shows; `place` counts within a list."""
    while found := [schema[key] for key in ("$ref", "anyOf", "oneOf", "allOf") if key in schema]:
        schema = root["$defs"][found[0].split("/")[-1]] if isinstance(found[0], str) else found[0][0]
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[-1])
    kind = schema.get("type")
    if kind == "object":
        return {name: _made_up(part, texts, root, place) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        of, said = schema.get("items", {}), [one.text for text in texts for one in split_sentences(text)] or texts
        usual = 1 if of.get("type") in ("integer", "number") else len(said)
        count = min(max(usual, schema.get("minItems", 0)), schema.get("maxItems", 20))
        return [_made_up(of, said, root, place) for place in range(count)]
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind in ("boolean", "null"):
        return True if kind == "boolean" else None
    text, room = texts[place % len(texts)] if texts else "", schema.get("maxLength", 300)
    text = text if room > PHRASE else " ".join(text.split()[:3])
    return text[:room].ljust(schema.get("minLength", 0), ".")


# ---------------------------------------------------------------- plans


@dataclass(frozen=True)
class Estimate:
    """An estimated sum over all rows, and the ends of its 95 % interval."""

    value: float = 0.0
    low: float = 0.0
    high: float = 0.0

    def __str__(self) -> str:
        numbers = (self.value, self.low, self.high)
        digits = 0 if self.high >= 10 or all(float(number).is_integer() for number in numbers) else 2
        value, low, high = (f"{number:,.{digits}f}" for number in numbers)
        return value if low == high else f"{value} ({low} to {high})"


COUNTS = {name: name for name in ("questions", "from_store", "calls", "prompt_tokens")}
COUNTS["generated_tokens"] = "generated_tokens_at_most"


def _estimates(
    alone: Sequence[Mapping[str, float]], together: Mapping[str, float], rows: int, names: Mapping[str, str] = COUNTS
) -> dict[str, Estimate]:
    """The sums over `rows` rows, of which a sample took so much row by row and all `together`.

    The interval is that of Student for a sample without replacement. Where rows share calls, its ends lie further out
    by what one call more or less would take, for the last call of a batch is seldom full.
    """
    each = np.array([[row.get(name, 0) for name in names] for row in alone], float)
    whole, sums, n = np.array([together[name] for name in names], float), each.sum(axis=0), len(each)
    values, width = whole * rows / n, np.zeros(len(names))
    if 1 < n < rows:
        from scipy.stats import t

        share = np.divide(whole, sums, out=np.ones(len(names)), where=sums > 0)
        error = each.std(axis=0, ddof=1) * math.sqrt((1 / n) * (rows - n) / (rows - 1)) * share
        spared = dict(zip(names, sums - whole, strict=True)).get("calls", 0.0)
        spare = np.maximum(0, sums - whole) / spared if spared > 0 else 0.0
        width = (t.ppf(0.975, n - 1) * error + spare / n) * rows
    ends = zip(values.tolist(), np.maximum(whole, values - width).tolist(), (values + width).tolist(), strict=True)
    return {shown: Estimate(*numbers) for shown, numbers in zip(names.values(), ends, strict=True)}


@dataclass(frozen=True)
class RunPlan:
    """What a run would do, and an estimate of what it would take.

    Parameters
    ----------
    items, scored, to_score, unreadable : int
        Items of the corpus; those that the run's folder already holds; the others; those of them that cannot be read.
    sample : int
        How many rows were tried.
    stages, total : mapping
        For each stage of the ledger, and for all together, the `Estimate` of its `questions`, of those answered
        `from_store`, of `calls`, `prompt_tokens` and `generated_tokens_at_most`. No stage without a language model.
    seconds : Estimate
        Seconds of one process without the language models.
    note : str
        What a reader should know.
    """

    items: int = 0
    scored: int = 0
    to_score: int = 0
    unreadable: int = 0
    sample: int = 0
    stages: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    total: Mapping[str, Estimate] = field(default_factory=lambda: dict.fromkeys(COUNTS.values(), Estimate()))
    seconds: Estimate = field(default_factory=Estimate)
    note: str = ""

    @property
    def calls(self) -> Estimate:
        """How many calls all stages make."""
        return self.total["calls"]

    def rows(self) -> list[JsonDict]:
        """Return one row for each count and for each estimate."""
        told = {name: getattr(self, name) for name in ("items", "scored", "to_score", "unreadable", "sample")}
        total = {} if len(self.stages) == 1 else {"total": self.total}
        for stage, counts in {**self.stages, **total}.items():
            told |= {f"{stage}: {name}": one for name, one in counts.items() if one.high or name == "calls"}
        told["seconds without models"] = self.seconds
        return [{"what": name, "count": str(count)} for name, count in told.items()]

    def to_dict(self) -> JsonDict:
        """Return everything as plain data; an estimate has a value and its `low` and `high` end."""
        return asdict(self)

    def __repr__(self) -> str:
        return f"{text_table(self.rows())}\n{self.note}".rstrip()

    def _repr_html_(self) -> str:
        return html_table(self.rows(), caption="What a run would do", note=self.note)


def plan_run(
    items: Corpus,
    metric: MetricOrFunction,
    *,
    sample: int = 20,
    seed: int = 0,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    columns: Columns | None = None,
    format: str | None = None,
    store: StoreOrPath = None,
) -> RunPlan:
    """Return what `run` would do and an estimate of what it takes, without asking a language model.

    Rows drawn by lot are scored while a `RecordingBackend` stands for each language model, first all together and then
    one by one. Their calls, tokens and seconds are multiplied up to all rows.

    Parameters
    ----------
    items, metric, options, columns, format, store
        As for `run`, with the same errors.
    sample : int
        How many rows are tried, 2 or more; more of them make the interval narrower.
    seed : int
        Decides which.
    out : path, optional
        The folder of the run, whose rows are not counted again.

    Notes
    -----
    The interval says how far rows differ, not how far replies do. In a chain of questions, such as statements and then
    their entailment, all after the first stage depends on the replies, and these are made up: a sentence is one
    statement, nothing is refused, nothing has to be asked again. Questions that rows share are asked once in a run,
    which the estimate knows only where two of them are in the sample.

    Nothing is put into a store. While a plan is made, every `Backend` records instead of asking, wherever your code
    holds it. What else your code does with a row, such as a request without a `Backend`, or in a thread of its own, is
    done with the sample.

    Examples
    --------
    >>> pairs = [{"candidate": "the cat sat", "references": "a cat sat"}] * 5
    >>> plan = plan_run(pairs, "bleu")
    >>> plan.to_score, str(plan.calls)
    (5, '0')
    """
    require_count(sample, "sample", minimum=2)
    job = Job(metric, options, columns, store)
    counts: JsonDict = dict.fromkeys(("items", "scored", "to_score", "unreadable"), 0)
    draw, drawn = random.Random(seed), list[JsonDict]()
    with ExitStack() as stack:
        file: RunFile | None = None
        if out is not None and (Path(out) / FILE).exists():
            stack.enter_context(explained(Path(out), reading=True))
            file = stack.enter_context(RunFile(Path(out), "ro"))
            require_same(file, job.settings())
        for batch in require_columns(cut(open_items(items, format=format), job.batch_size), job):
            known = file.known(batch) if file else {}
            counts["items"] += len(batch)
            for entry in batch:
                if entry.place in known and known[entry.place][1] == entry.key:
                    counts["scored"] += 1
                    continue
                counts["to_score"] += 1
                row, problem = job.read(entry.item)
                if problem:
                    counts["unreadable"] += 1
                elif len(drawn) < sample:
                    drawn.append(row)
                elif (place := draw.randrange(counts["to_score"] - counts["unreadable"])) < sample:
                    drawn[place] = row
    return RunPlan(**counts, **_rehearsed(job, drawn, counts["to_score"] - counts["unreadable"]))


def _rehearsed(job: Job, drawn: Sequence[JsonDict], rows: int) -> JsonDict:
    """The fields of a plan that a sample of rows tells, scored while every language model records."""
    if not drawn:
        return {}

    def took(some: Sequence[JsonDict]) -> tuple[UsageByStage, dict[str, float], str]:
        started, failed = time.perf_counter(), ""
        with counting() as stages:
            try:
                failed = next((one.reason for one in scorer.outcomes(some) if one.status == "failed"), "")
            except Exception as error:
                failed = f"{type(error).__name__}: {error}"
        total = {name: sum(row[name] for row in stages.values()) for name in COUNTS}
        return {**stages, "total": total}, {"seconds": time.perf_counter() - started}, failed

    def open_store(path: str) -> object:  # one that gives what it holds and takes nothing: made-up replies are not kept
        return SimpleNamespace(get_many=Store(path).get_many, put_many=lambda kind, values: 0) if stored else None

    stored = job.store and Path(job.store).is_file()
    known = lambda backend: isinstance(backend, RecordingBackend)
    token = STAND_IN.set(lambda backend: backend if known(backend) else RecordingBackend(backend.name))
    try:  # a store's answers are found by the model's fingerprint, for which it is loaded
        scorer = Scorer(job, load_model if stored else RecordingBackend, open_store)
        took(drawn[:1])  # what is loaded first belongs to no row
        together, spent, _ = took(drawn)
        by_row, spent_by_row, failures = zip(*(took([row]) for row in drawn), strict=True)
    finally:
        STAND_IN.reset(token)
    notes = [f"Estimated from {len(drawn)} of {rows} rows, with 95 % intervals; no model was asked."]
    if len(drawn) == rows:
        notes = [f"All {rows} rows were tried; no model was asked."]
    if len(together) > 1:
        notes.append(f"Prompt tokens are estimated at {BYTES_PER_TOKEN} bytes each.")
    if len(together) > 2:
        said = "A chain of questions goes on from made-up replies"
        notes.append(f"{said}, so that all after its first stage depends on what the model will really say.")
    if failed := [why for why in failures if why]:
        notes.append(f"{len(failed)} of the sampled rows had no score, which may leave calls out: {failed[0]}")
    stages = {name: _estimates([one.get(name, {}) for one in by_row], own, rows) for name, own in together.items()}
    return {
        "sample": len(drawn),
        "total": stages.pop("total"),
        "stages": stages,
        **_estimates(spent_by_row, spent, rows, {"seconds": "seconds"}),
        "note": " ".join(notes),
    }
