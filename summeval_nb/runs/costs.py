"""What a run would take: a sample of rows is scored while somebody who asks nobody stands for each language model."""

from __future__ import annotations

import json
import math
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from summeval_nb.core.base import JsonDict, hub_only_if, require_count
from summeval_nb.core.files import Columns, Corpus, open_items
from summeval_nb.core.html import html_table, text_table
from summeval_nb.core.results import Outcome
from summeval_nb.evidence.model_checkers import ClaimFinder
from summeval_nb.models.base import STAND_IN, Backend, Choice, Usage, UsageByStage, counting
from summeval_nb.models.local import load_model
from summeval_nb.models.store import Store, StoreOrPath
from summeval_nb.runs.file import FILE, RunFile, cut, explained
from summeval_nb.runs.running import Job, MetricOrFunction, Scorer, require_columns, require_same
from summeval_nb.text.split import split_sentences

__all__ = ["Estimate", "RecordingBackend", "RunPlan", "plan_run"]

# ---------------------------------------------------------------- what stands for a language model

BYTES_PER_TOKEN = 4  # of English, where the model's own tokenizer is not at hand
PHRASE = 100  # what may have no more characters is a phrase and gets three words
_CASE = re.compile(r"^Case (\d+): (.*)$", re.MULTILINE)
_TAGGED = re.compile(r"<([\w-]+)>\n?(.*?)\n?</\1>", re.DOTALL)


class RecordingBackend(Backend):
    """Stands for a language model in a plan: counts what it is asked, and makes up its replies.

    Of options it chooses the first, and the last where the prompt asks about a refusal.
    JSON is filled with the texts that the prompt shows, clause by clause.

    Parameters
    ----------
    name : str
        The model's name; that of a local folder finds its tokenizer.
    inner : Backend, optional
        The model that it stands for, which is never asked.

    Notes
    -----
    Tokens are counted by the model's own tokenizer, with its chat template. Where none
    is at hand, `estimates` is True, and four bytes count as a token. Of replies it
    counts as many as they may have at most.
    """

    def __init__(self, name: str, inner: Any = None):
        self.name, self.inner, self.usage = name, inner, Usage()

    @property
    def fingerprint(self) -> str:
        return f"recording:{self.name}"

    @cached_property
    def _tokenizer(self) -> Any:
        """The model's own tokenizer, if it is on this machine."""
        if self.inner is not None or not Path(self.name).is_dir():
            return getattr(self.inner, "tokenizer", None)
        with suppress(ImportError, OSError, ValueError), hub_only_if(False) as where:
            from transformers import AutoTokenizer

            return AutoTokenizer.from_pretrained(self.name, trust_remote_code=False, **where)
        return None

    @property
    def estimates(self) -> bool:
        """Whether tokens are estimated from bytes."""
        return self._tokenizer is None

    def _count(self, text: str, *, as_prompt: bool = False) -> int:
        if self._tokenizer is None:
            return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)
        if as_prompt and self._tokenizer.chat_template:
            said = [{"role": "user", "content": text}]
            text = self._tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
        return len(self._tokenizer.encode(text, add_special_tokens=False))

    def _choose(self, prompt: str, options: tuple[str, ...]) -> Choice:
        longest = max(self._count(option) for option in options)
        self.usage.add(prompt_tokens=self._count(prompt, as_prompt=True), generated_tokens=longest)
        label = options[-1] if "refuse" in prompt.partition("\n")[0] else options[0]
        return Choice(label, {option: float(option == label) for option in options}, 1.0)

    def _json(self, prompt: str, schema: JsonDict, max_tokens: int) -> str:
        self.usage.add(prompt_tokens=self._count(prompt, as_prompt=True), generated_tokens=max_tokens)
        shown, fields = _shown_texts(prompt), schema.get("properties", {})
        reply = {name: _made_up(part, shown.get(name, shown[""]), schema) for name, part in fields.items()}
        return json.dumps(reply)


def _shown_texts(prompt: str) -> dict[str, list[str]]:
    """The texts of each case that a prompt shows, and under '' what stands in its last tags, else its last lines."""
    cases = {}
    for number, line in _CASE.findall(prompt):
        with suppress(ValueError):
            cases[f"case_{number}"] = list(_texts_in(json.loads(line)))
    tagged = [text for _, text in _TAGGED.findall(prompt)]
    return cases | {"": [(tagged or prompt.strip().split("\n\n"))[-1]]}


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(part)


def _made_up(schema: JsonDict, texts: Sequence[str], root: JsonDict, place: int = 0) -> Any:
    """A value that a JSON schema allows, of the texts that a prompt shows; `place` counts within a list."""
    if "$ref" in schema:
        return _made_up(root["$defs"][schema["$ref"].split("/")[-1]], texts, root, place)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return _made_up(schema[several][0], texts, root, place)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[-1])
    kind = schema.get("type")
    if kind == "object":
        parts = schema.get("properties", {})
        return {name: _made_up(part, texts, root, place) for name, part in parts.items()}
    if kind == "array":
        least, most, of = schema.get("minItems", 0), schema.get("maxItems", 20), schema.get("items", {})
        numbers = of.get("type") in ("integer", "number")
        pieces = texts if least == most or numbers else _clauses(texts)
        usual = 1 if numbers else len(pieces)
        return [_made_up(of, pieces, root, place) for place in range(min(max(usual, least), most))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind in ("boolean", "null"):
        return True if kind == "boolean" else None
    text, room = texts[place % len(texts)] if texts else "", schema.get("maxLength", 300)
    text = text if room > PHRASE else " ".join(text.split()[:3])
    return text[:room].ljust(schema.get("minLength", 0), ".")


def _clauses(texts: Sequence[str]) -> list[str]:
    """What texts say, clause by clause, as the rules of chapter 37 cut them."""
    finder = ClaimFinder("statements")
    sentences = [sentence.text for text in texts for sentence in split_sentences(text)]
    return [claim.text for sentence in sentences for claim in finder.find(sentence)] or list(texts)


# ---------------------------------------------------------------- plans


class Estimate(NamedTuple):
    """An estimated sum over all rows, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        digits = 0 if self.high >= 10 or all(float(number).is_integer() for number in self) else 2
        value, low, high = (f"{number:,.{digits}f}" for number in self)
        return value if low == high else f"{value} ({low} to {high})"


NOTHING = Estimate(0.0, 0.0, 0.0)
COUNTS = {
    "questions": "questions",
    "from_store": "from_store",
    "calls": "calls",
    "prompt_tokens": "prompt_tokens",
    "generated_tokens": "generated_tokens_at_most",
}


def _estimate(alone: Sequence[float], together: float, spare: float, rows: int) -> Estimate:
    """The sum over `rows` rows, of which a sample took so much row by row and all `together`.

    The interval is that of Student for a sample without replacement. Its ends lie
    `spare` further out for the sample: what one call more or less would take.
    """
    from scipy.stats import t

    n, total = len(alone), math.fsum(alone)
    times = rows / n
    if n < 2 or rows <= n:
        return Estimate(together * times, together * times, together * times)
    deviation = math.sqrt(math.fsum((count - total / n) ** 2 for count in alone) / (n - 1))
    left_out = math.sqrt((rows - n) / (rows - 1))
    share = together / total if total else 1.0
    width = float(t.ppf(0.975, n - 1)) * deviation / math.sqrt(n) * rows * left_out * share + spare * times
    value = together * times
    return Estimate(value, max(together, value - width), value + width)


def _counts(alone: Sequence[Mapping[str, float]], together: Mapping[str, float], rows: int) -> dict[str, Estimate]:
    """Estimates of the counts of a stage."""
    sums = {name: math.fsum(row.get(name, 0) for row in alone) for name in COUNTS}
    shared = sums["calls"] - together["calls"]  # where rows share calls, the last call of a batch is seldom full
    spare = {name: max(0.0, (sums[name] - together[name]) / shared) if shared > 0 else 0.0 for name in COUNTS}
    return {
        shown: _estimate([row.get(name, 0) for row in alone], together[name], spare[name], rows)
        for name, shown in COUNTS.items()
    }


def _total(stages: UsageByStage) -> dict[str, float]:
    return {name: sum(row[name] for row in stages.values()) for name in COUNTS}


CHAIN = (
    "A chain of questions goes on from made-up replies, so that all after its first stage depends on what the model "
    "will really say."
)


@dataclass(frozen=True)
class RunPlan:
    """What a run would do, and an estimate of what it would take.

    Parameters
    ----------
    items, scored, to_score, unreadable : int
        Items of the corpus; those that the run's folder already holds; the others;
        those of them that cannot be read.
    sample : int
        How many rows were tried.
    stages, total : mapping
        For each stage of the ledger, and for all together, the `Estimate` of its
        `questions`, of those answered `from_store`, of `calls`, `prompt_tokens` and
        `generated_tokens_at_most`. No stage without a language model.
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
    total: Mapping[str, Estimate] = field(default_factory=lambda: dict.fromkeys(COUNTS.values(), NOTHING))
    seconds: Estimate = NOTHING
    note: str = ""

    @property
    def calls(self) -> Estimate:
        """How many calls all stages make."""
        return self.total["calls"]

    def rows(self) -> list[JsonDict]:
        """Return one row for each count and for each estimate."""
        names = ("items", "scored", "to_score", "unreadable", "sample")
        rows: list[JsonDict] = [{"what": name, "count": str(getattr(self, name))} for name in names]
        total = {} if len(self.stages) == 1 else {"total": self.total}
        for stage, counts in {**self.stages, **total}.items():
            shown = {name: estimate for name, estimate in counts.items() if estimate.high or name == "calls"}
            rows += [{"what": f"{stage}: {name}", "count": str(estimate)} for name, estimate in shown.items()]
        return [*rows, {"what": "seconds without models", "count": str(self.seconds)}]

    def to_dict(self) -> JsonDict:
        """Return everything as plain data; an estimate has a value and its `low` and `high` end."""

        def plain(value: Any) -> Any:
            if isinstance(value, Estimate):
                return value._asdict()
            return {name: plain(part) for name, part in value.items()} if isinstance(value, Mapping) else value

        return {name: plain(value) for name, value in vars(self).items()}

    def __repr__(self) -> str:
        return text_table(self.rows()) + (f"\n{self.note}" if self.note else "")

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

    Rows drawn by lot are scored while a `RecordingBackend` stands for each language
    model, first all together and then one by one. Their calls, tokens and seconds are
    multiplied up to all rows.

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
    The interval says how far rows differ, not how far replies do. In a chain of
    questions, such as statements and then their entailment, all after the first stage
    depends on the replies, and these are made up: a sentence has as many statements as
    rules find in it, nothing is refused, nothing has to be asked again. Questions that
    rows share are asked once in a run, which the estimate knows only where two of them
    are in the sample. On news the interval from 20 rows held the calls of every metric
    for a model that answers soberly. One that refuses half of the texts and whose JSON
    is often malformed took .6 to 3.2 times the estimate of a chain.

    Nothing is put into a store. While a plan is made, every `Backend` records instead
    of asking, wherever your code holds it. What else your code does with a row, such as
    a request without a `Backend`, or in a thread of its own, is done with the sample.

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
    draw, drawn, readable = random.Random(seed), list[JsonDict](), 0
    with ExitStack() as stack:
        file: RunFile | None = None
        if out is not None and (Path(out) / FILE).exists():
            stack.enter_context(explained(Path(out), reading=True))
            file = stack.enter_context(RunFile(Path(out), "ro"))
            require_same(file, job.settings())
        for batch in require_columns(cut(open_items(items, format=format), job.batch_size), job):
            known = file.known(batch) if file else set()
            counts["items"] += len(batch)
            for entry in batch:
                if entry.place in known:
                    counts["scored"] += 1
                    continue
                counts["to_score"] += 1
                row, problem = job.read(entry.item)
                readable += not problem
                if problem:
                    counts["unreadable"] += 1
                elif len(drawn) < sample:
                    drawn.append(row)
                elif (place := draw.randrange(readable)) < sample:
                    drawn[place] = row
    return RunPlan(**counts, **_rehearsed(job, drawn, readable))


class _ReadOnly:
    """A store that gives what it holds and takes nothing: made-up replies are never kept."""

    def __init__(self, path: str):
        self.get_many = Store(path).get_many

    def put_many(self, kind: str, values: Mapping[str, object]) -> int:
        """Keep nothing."""
        return 0


def _rehearsed(job: Job, drawn: Sequence[JsonDict], rows: int) -> JsonDict:
    """The fields of a plan that a sample of rows tells, scored while every language model records."""
    if not drawn:
        return {}
    known: dict[object, RecordingBackend] = {}

    def stand_in(backend: Backend) -> Backend:
        if isinstance(backend, RecordingBackend):
            return backend
        return known.setdefault(id(backend), RecordingBackend(backend.name, backend))

    def named(name: str) -> Backend:
        return known.setdefault(name, RecordingBackend(name))

    def took(some: Sequence[JsonDict]) -> tuple[UsageByStage, float, list[Outcome]]:
        started = time.perf_counter()
        with counting() as stages:
            try:
                outcomes = scorer.outcomes(some)
            except Exception as error:
                outcomes = [Outcome(None, "failed", f"{type(error).__name__}: {error}")] * len(some)
        return stages, time.perf_counter() - started, outcomes

    stored = job.store and Path(job.store).is_file()
    token = STAND_IN.set(stand_in)
    try:  # a store's answers are found by the model's fingerprint, for which it is loaded
        scorer = Scorer(job, load_model if stored else named, _ReadOnly if stored else lambda path: None)
        took(drawn[:1])  # what is loaded first belongs to no row
        together, seconds, _ = took(drawn)
        alone = [took([row]) for row in drawn]
    finally:
        STAND_IN.reset(token)
    failed = [outcome.reason for *_, outcomes in alone for outcome in outcomes if outcome.status == "failed"]
    notes = [f"Estimated from {len(drawn)} of {rows} rows, with 95 % intervals; no model was asked."]
    if len(drawn) == rows:
        notes = [f"All {rows} rows were tried; no model was asked."]
    if together:
        estimated = any(model.estimates for model in known.values())
        how = "estimated at 4 bytes each" if estimated else "counted by the model's own tokenizer"
        notes += [f"Prompt tokens are {how}.", *([CHAIN] if len(together) > 1 else [])]
    if failed:
        notes.append(f"{len(failed)} of the sampled rows had no score, which may leave calls out: {failed[0]}")
    return {
        "sample": len(drawn),
        "stages": {
            name: _counts([stages.get(name, {}) for stages, _, _ in alone], whole, rows)
            for name, whole in together.items()
        },
        "total": _counts([_total(stages) for stages, _, _ in alone], _total(together), rows),
        "seconds": _estimate([spent for _, spent, _ in alone], seconds, 0.0, rows),
        "note": " ".join(notes),
    }
