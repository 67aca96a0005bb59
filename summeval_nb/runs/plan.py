"""What a run would take, estimated from a sample of its rows; made-up replies stand for those of language models."""

from __future__ import annotations

import copy
import gc
import json
import math
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from summeval_nb.core.base import JsonDict, hub_only_if, require_count
from summeval_nb.core.html import html_table, text_table
from summeval_nb.core.items import Shard, make_shards, open_items
from summeval_nb.core.metric import Metric, score_rows
from summeval_nb.core.results import Outcome, as_outcome
from summeval_nb.evidence.model_checkers import ClaimFinder
from summeval_nb.models.base import Backend, Choice, Usage
from summeval_nb.models.load import StoreOrPath, load_model
from summeval_nb.models.store import Store
from summeval_nb.runs.batch import finished_head
from summeval_nb.runs.costs import Ledger, Stages, metered
from summeval_nb.runs.folder import is_lost
from summeval_nb.runs.jobs import Columns, Job, MetricOrFunction, load_options, named_metric
from summeval_nb.runs.manifest import (
    Corpus,
    is_of_settings,
    is_recovered,
    make_settings,
    require_columns,
    settings_mark,
)
from summeval_nb.text.split import split_sentences

__all__ = ["Estimate", "RecordingBackend", "RunPlan", "plan_run"]


BYTES_PER_TOKEN = 4  # of English, where the model's own tokenizer is not at hand
PHRASE = 100  # what may have no more characters is a phrase and gets three words
_CASE = re.compile(r"^Case (\d+): (.*)$", re.MULTILINE)
_TAGGED = re.compile(r"<([\w-]+)>\n?(.*?)\n?</\1>", re.DOTALL)


class RecordingBackend(Backend):
    """Stands for a language model in a plan: counts what it is asked, and makes up its replies.

    Of options it chooses the first, and the last where the prompt asks whether a text
    refuses to answer. JSON is filled with the texts that the prompt shows: a list has
    as many parts as they have clauses, if its schema allows, an `enum` its last value.

    Parameters
    ----------
    name : str
        The model's name; that of a local folder finds its tokenizer.
    inner : Backend, optional
        The model that it stands for, which is never asked.

    Notes
    -----
    `usage.prompt_tokens` are counted by the model's own tokenizer, with its chat
    template. Where none is at hand, `estimates` is True, and four bytes of UTF-8 count
    as a token. `usage.generated_tokens` are as many as the replies may have at most.
    """

    def __init__(self, name: str, inner: Any = None):
        self.name, self.inner, self.usage = name, inner, Usage()

    @property
    def fingerprint(self) -> str:
        # a server may have to be asked for it, and a plan asks nobody
        asks = self.inner is None or hasattr(self.inner, "base_url")
        return f"recording:{self.name}" if asks else str(self.inner.fingerprint)

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

    def _text(self, prompt: str, regex: str | None, max_tokens: int) -> str:
        self.usage.add(prompt_tokens=self._count(prompt, as_prompt=True), generated_tokens=max_tokens)
        likely = (*_shown_texts(prompt)[""], "yes", "1", "")
        return next((text for text in likely if regex is None or re.fullmatch(regex, text)), "")


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


def _recorded(value: Any, known: dict[int, Any]) -> Any:
    """A copy of a value in which a `RecordingBackend` stands for each language model; itself where there is none.

    Models are looked for in containers, partial functions, bound methods and attributes
    of objects. `known` maps the id of all that was seen to what stands for it.
    """
    if id(value) not in known:
        known[id(value)] = value  # for what holds itself
        if not all(isinstance(backend, RecordingBackend) for backend in _reachable_backends(value)):
            known[id(value)] = _replaced(value, known)
    return known[id(value)]


def _replaced(value: Any, known: dict[int, Any]) -> Any:
    recorded = partial(_recorded, known=known)
    if hasattr(type(value), "choose_many"):
        return RecordingBackend(str(getattr(value, "name", type(value).__name__)), value)
    if isinstance(value, partial):
        return partial(recorded(value.func), *recorded(value.args), **recorded(value.keywords))
    if isinstance(value, MethodType):
        return MethodType(value.__func__, recorded(value.__self__))
    if isinstance(value, (tuple, frozenset)):  # a namedtuple, too
        made: Any = tuple if isinstance(value, tuple) else frozenset
        return made.__new__(type(value), map(recorded, value))
    try:
        found = known[id(value)] = copy.copy(value)
    except Exception:  # whatever an object's own copying raises: it stays, and a plan says so
        found = value
    if found is value:  # as a function is
        return value
    if isinstance(value, dict):
        dict.update(found, {key: recorded(item) for key, item in value.items()})
    if isinstance(value, list):
        list.__init__(found, map(recorded, value))
    if isinstance(value, set):
        set.__init__(found, map(recorded, value))
    for name, part in list(getattr(value, "__dict__", {}).items()):
        object.__setattr__(found, name, recorded(part))  # which a frozen dataclass allows, too
    return found


def _reachable_backends(value: object) -> list[Any]:
    """The language models that a value can reach: through all that it holds, closures, and globals of functions."""
    found, seen, left = list[Any](), dict[int, object](), [value]
    while left:
        part = left.pop()
        if id(part) in seen or isinstance(part, (type, ModuleType)):
            continue
        seen[id(part)] = part
        if hasattr(type(part), "choose_many"):
            found.append(part)
        elif isinstance(part, FunctionType):
            left += _held_by(part)
        else:
            left += gc.get_referents(part)
    return found


def _held_by(function: FunctionType) -> list[object]:
    """What a function holds and which globals it names; nothing for the package's own."""
    if function.__module__ and function.__module__.partition(".")[0] == "summeval_nb":
        return []
    codes = [function.__code__]
    for code in codes:
        codes += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    named = {name for code in codes for name in code.co_names} & function.__globals__.keys()
    held = [function.__closure__, function.__defaults__, function.__kwdefaults__, function.__dict__]
    return [*held, *(function.__globals__[name] for name in named)]


class _ReadOnly:
    """A store that gives what it holds and takes nothing: made-up replies are never kept."""

    def __init__(self, inner: Store):
        self.get_many = inner.get_many

    def put_many(self, kind: str, values: Mapping[str, object]) -> int:
        """Keep nothing."""
        return 0


class _Rehearsal:
    """A job whose language models are replaced: it scores rows, and says what that took."""

    def __init__(self, job: Job):
        self.ledger, known = Ledger(), dict[int, Any]()
        path = job.store if job.store and Path(job.store).is_file() else None
        load: Callable[[str], Backend] = RecordingBackend
        if path:  # whose answers are found by the model's fingerprint, for which it is loaded
            load = lambda text: RecordingBackend(text, None if "@http" in text else load_model(text))
        metric: Any = job.metric
        if isinstance(metric, str):
            options = _recorded(load_options(job.options, load), known)
            store: Any = _ReadOnly(Store(path)) if path else None
            reached = _reachable_backends(options)
            self._metric: Any = named_metric(metric, *metered(options, self.ledger, store))
        else:
            if isinstance(metric, Metric) and (options := load_options(metric.options(), load)):
                metric = replace(metric, **options)  # type: ignore[type-var]
            self._metric = _recorded(metric, known)
            reached = _reachable_backends(self._metric)
        self.models = [model for model in reached if isinstance(model, RecordingBackend)]
        self.real = [model for model in reached if not isinstance(model, RecordingBackend)]
        self._before = self._usage()

    def _usage(self) -> list[int]:
        """How many calls each model that was replaced has had, in the plan and before; 0 where it counts none."""
        usages = [getattr(model.inner, "usage", None) for model in self.models]
        return [usage.calls if isinstance(usage, Usage) else 0 for usage in usages]

    def asked(self) -> str:
        """Say whether a model was asked in spite of its stand-in."""
        calls = zip(self.models, self._usage(), self._before, strict=True)
        told = [f"{model.name} {now - before} times" for model, now, before in calls if now > before]
        return f"meanwhile a model was asked: {', '.join(told)}" if told else "no model was asked"

    def score(self, rows: Sequence[JsonDict]) -> list[Outcome]:
        """Outcomes of rows; what no other stage counts is of the stage "metric"."""
        with self.ledger.stage("metric", self.models):
            if hasattr(self._metric, "score_many"):
                return score_rows(self._metric, rows, progress=False)
            return [as_outcome(self._metric(row), "plan") for row in rows]

    def took(self, rows: Sequence[JsonDict]) -> tuple[Stages, float, list[Outcome]]:
        """What rows take by stage, the seconds, and the outcomes; a row may fail."""
        self.ledger.take()
        started = time.perf_counter()
        try:
            outcomes = self.score(rows)
        except Exception as error:
            outcomes = [Outcome(None, "failed", f"{type(error).__name__}: {error}")] * len(rows)
        spent = time.perf_counter() - started
        asked = {name: counts for name, counts in self.ledger.take().items() if counts["questions"] or counts["calls"]}
        return asked, spent, outcomes


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


def _by_stage(alone: Sequence[Stages], together: Stages, rows: int) -> dict[str, dict[str, Estimate]]:
    """Estimates of each stage's counts."""
    stages = {}
    for stage, whole in together.items():
        sums = {
            name: math.fsum(stages_of_row.get(stage, {}).get(name, 0) for stages_of_row in alone) for name in COUNTS
        }
        shared = sums["calls"] - whole["calls"]
        stages[stage] = {
            shown: _estimate(
                [stages_of_row.get(stage, {}).get(name, 0) for stages_of_row in alone],
                whole[name],
                # where rows share calls, the last call of a batch is seldom full
                max(0.0, (sums[name] - whole[name]) / shared) if shared > 0 else 0.0,
                rows,
            )
            for name, shown in COUNTS.items()
        }
    return stages


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
        How many rows were tried, of all that are readable and to be scored.
    stages : mapping of str to mapping, or None
        For each stage of the ledger the `Estimate` of its `questions`, of those answered
        `from_store`, of `calls`, of `prompt_tokens` and of `generated_tokens_at_most`.
        Empty without a language model, None where nothing was tried.
    total : mapping of str to Estimate, or None
        The same over all stages.
    seconds : Estimate or None
        Seconds of one process without the language models: splitting, embedding,
        searching, checking by other models.
    note : str
        What a reader should know.
    """

    items: int = 0
    scored: int = 0
    to_score: int = 0
    unreadable: int = 0
    sample: int = 0
    stages: Mapping[str, Mapping[str, Estimate]] | None = field(default_factory=dict)
    total: Mapping[str, Estimate] | None = None
    seconds: Estimate | None = None
    note: str = ""

    @property
    def calls(self) -> Estimate | None:
        """How many calls all stages make."""
        return None if self.total is None else self.total["calls"]

    def rows(self) -> list[JsonDict]:
        """Return one row for each count and for each estimate."""
        names = ("items", "scored", "to_score", "unreadable", "sample")
        rows: list[JsonDict] = [{"what": name, "count": str(getattr(self, name))} for name in names]
        stages = dict(self.stages or {})
        if self.total and len(stages) != 1:
            stages["total"] = self.total
        for stage, counts in stages.items():
            shown = {name: estimate for name, estimate in counts.items() if estimate.high or name == "calls"}
            rows += [{"what": f"{stage}: {name}", "count": str(estimate)} for name, estimate in shown.items()]
        return [*rows, {"what": "seconds without models", "count": self.seconds and str(self.seconds)}]

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
    shard_size: int | None = None,
) -> RunPlan:
    """Return what `run` would do and an estimate of what it takes, without asking a language model.

    Rows drawn by lot are scored with a `RecordingBackend` in the place of each language
    model, first all together and then one by one. Their calls, tokens and seconds are
    multiplied up to all rows.

    Parameters
    ----------
    items, metric, options, columns, format, store, shard_size
        As for `run`.
    sample : int
        How many rows are tried, 2 or more; the interval is as narrow as their number
        and their likeness make it.
    seed : int
        Decides which.
    out : path, optional
        The folder of the run, whose finished shards are not counted again. To compare
        its settings, a server that was never asked may be asked who it is.

    Returns
    -------
    RunPlan
        Counts of items, and estimates with 95 % intervals.

    Raises
    ------
    ValueError, TypeError
        As `run` does for its arguments.

    Notes
    -----
    The interval says how far rows differ, not how far replies do. In a chain of
    questions, such as statements and then their entailment, all after the first stage
    depends on the replies, and these are made up: a sentence has as many statements as
    rules find in it, nothing is refused, nothing has to be asked again. Questions that
    rows share, such as those about one article with many summaries, are asked once in a
    run; the estimate knows of it only where two of them are in the sample. On 100
    to 300 rows of news, the interval from 20 held the calls of every metric for a
    scripted model that answers soberly. One that refuses half of the texts, draws
    the number of statements, and whose JSON is malformed in a fifth of its replies,
    took .6 to 3.2 times the estimate of a chain.

    What a store holds is counted and nothing is put into it. A metric of your own, or a
    function, is tried only where a `Backend` is found in its attributes or in the
    arguments of a `functools.partial`. Where one is held out of reach too, such as in a
    closure or a global, nothing is tried, and the `note` says so. Whatever else your
    code does with a row, such as a request without a `Backend` or through one that its
    methods find elsewhere, is done with the sample. The `note` counts the calls that a
    replaced model had meanwhile.

    Examples
    --------
    >>> pairs = [{"candidate": "the cat sat", "references": "a cat sat"}] * 5
    >>> plan = plan_run(pairs, "bleu")
    >>> plan.to_score, str(plan.calls)
    (5, '0')
    """
    require_count(sample, "sample", minimum=2)
    job = Job(metric, dict(options or {}), dict(columns or {}), store)
    size = job.shard_size if shard_size is None else require_count(shard_size, "shard_size")
    done: Callable[[Shard], bool] = lambda shard: False
    if out is not None and Path(out).exists():
        # what `run` would keep, with `recover` too where the manifest is lost
        recovered, mark = is_recovered(Path(out), is_lost(Path(out))), settings_mark(make_settings(job, size))
        head = partial(finished_head, Path(out) / "shards")
        done = lambda shard: bool((found := head(shard)) and is_of_settings(found, mark, recovered))
    counts: JsonDict = dict.fromkeys(("items", "scored", "to_score", "unreadable"), 0)
    draw, drawn, readable = random.Random(seed), list[JsonDict](), 0
    for shard in require_columns(make_shards(open_items(items, format=format), size), job):
        counts["items"] += len(shard.items)
        if done(shard):
            counts["scored"] += len(shard.items)
            continue
        counts["to_score"] += len(shard.items)
        for item in shard.items:
            row, problem = job.read(item)
            readable += not problem
            if problem:
                counts["unreadable"] += 1
            elif len(drawn) < sample:
                drawn.append(row)
            elif (place := draw.randrange(readable)) < sample:
                drawn[place] = row
    return RunPlan(**counts, **_rehearsed(job, drawn, readable))


def _rehearsed(job: Job, drawn: Sequence[JsonDict], rows: int) -> JsonDict:
    """The fields of a plan that a sample of rows tells."""
    rehearsal = _Rehearsal(job)
    if rehearsal.real:
        names = ", ".join(sorted({type(backend).__name__ for backend in rehearsal.real}))
        return _untried(job, f"it would ask a {names}, which is held where nothing can be put in its place")
    if not isinstance(job.metric, str) and not rehearsal.models:
        return _untried(job, "no Backend was found in it")
    if not drawn:
        return {"total": dict.fromkeys(COUNTS.values(), NOTHING), "seconds": NOTHING}
    rehearsal.took(drawn[:1])  # what is loaded first belongs to no row
    together, seconds, _ = rehearsal.took(drawn)
    alone = [rehearsal.took([row]) for row in drawn]
    sums = [_sum_of(stages) for stages, _, _ in alone]
    stages = _by_stage([stages for stages, _, _ in alone], together, rows)
    failed = [outcome.reason for *_, outcomes in alone for outcome in outcomes if outcome.status == "failed"]
    asked = rehearsal.asked()
    notes = [f"Estimated from {len(drawn)} of {rows} rows, with 95 % intervals; {asked}."]
    if len(drawn) == rows:
        notes = [f"All {rows} rows were tried; {asked}."]
    if stages:
        estimates = any(model.estimates for model in rehearsal.models)
        how = f"estimated at {BYTES_PER_TOKEN} bytes each" if estimates else "counted by the model's own tokenizer"
        notes += [f"Prompt tokens are {how}.", *([CHAIN] if len(stages) > 1 else [])]
    if failed:
        notes.append(f"{len(failed)} of the sampled rows had no score, which may leave calls out: {failed[0]}")
    return {
        "sample": len(drawn),
        "stages": stages,
        "total": _by_stage(sums, _sum_of(together), rows)["total"],
        "seconds": _estimate([spent for _, spent, _ in alone], seconds, 0.0, rows),
        "note": " ".join(notes),
    }


def _untried(job: Job, why: str) -> JsonDict:
    """The fields of a plan in which no row was tried."""
    own = job.metric if isinstance(job.metric, str) else getattr(job.metric, "__qualname__", type(job.metric).__name__)
    remedy = "give it as an attribute, or by functools.partial, and it is replaced"
    return {"stages": None, "note": f"{own} was not tried, since {why}: {remedy}"}


def _sum_of(stages: Stages) -> Stages:
    return {"total": Ledger(stages).total()}
