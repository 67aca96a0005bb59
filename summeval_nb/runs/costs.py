"""Calls, tokens and seconds of each stage: what a run has used, and what stands for a model where one is planned."""

from __future__ import annotations

import copy
import functools
import json
import math
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from summeval_nb.core.base import JsonDict, hub_only_if, require_option
from summeval_nb.core.html import html_table, text_table
from summeval_nb.core.metric import Metric
from summeval_nb.core.results import Verdict
from summeval_nb.evidence.base import Checker, Pair, PairVectors
from summeval_nb.evidence.model_checkers import ClaimFinder, with_threshold
from summeval_nb.judged.embedded import BulkJudge
from summeval_nb.judged.judging import Judge
from summeval_nb.judged.session import ask_many
from summeval_nb.models.base import (
    Backend,
    BackendError,
    Choice,
    Schema,
    Usage,
    in_its_place,
)
from summeval_nb.models.store import Store
from summeval_nb.runs.file import RunFile, explained
from summeval_nb.text.split import split_sentences

__all__ = ["Ledger", "RecordingBackend", "find_backends", "read_ledger"]


COUNTS = ("questions", "from_store", *Usage.__dataclass_fields__, "call_seconds")
Stages: TypeAlias = Mapping[str, Mapping[str, float]]  # what language models used, by stage


def _used(backends: Sequence[Backend]) -> dict[str, float]:
    """What some backends have used so far; `call_seconds` is the time inside calls, added up over threads."""
    usages = [in_its_place(backend).usage for backend in backends]
    counts = [usage.to_dict() for usage in {id(usage): usage for usage in usages}.values()]
    total = {name: sum(count[name] for count in counts) for name in Usage.__dataclass_fields__}
    return total | {"call_seconds": total["seconds"], "seconds": time.perf_counter()}


class Ledger:
    """What each stage of a metric has used: questions, calls, tokens, seconds.

    Parameters
    ----------
    stages : mapping of str to mapping, optional
        Counts to begin with, as `to_dict` returns them.

    Notes
    -----
    `questions` are those that the metric had, `from_store` those of them whose answers
    a store already held. `seconds` is the time of the stage, added up over workers,
    `call_seconds` that inside the calls, added up over threads too.

    Examples
    --------
    >>> ledger = Ledger({"checking": {"calls": 2, "prompt_tokens": 300}})
    >>> ledger.merge({"checking": {"calls": 1}, "refusals": {"calls": 4}})
    >>> ledger.total()["calls"]
    7
    """

    def __init__(self, stages: Stages | None = None):
        if not isinstance(stages or {}, Mapping):
            raise TypeError(f"stages must map a stage to its counts, not {type(stages).__name__}")
        self.stages: dict[str, dict[str, float]] = {}
        self._inside: list[dict[str, float]] = []
        self.merge(stages or {})

    def add(self, stage: str, **counts: float) -> None:
        """Add counts to a stage."""
        row = self.stages.setdefault(stage, dict.fromkeys(COUNTS, 0))
        for name, count in counts.items():
            row[require_option(name, "count", COUNTS)] += count

    def merge(self, stages: Stages) -> None:
        """Add the stages of another worker or attempt."""
        for name, counts in stages.items():
            self.add(name, **counts)

    @contextmanager
    def stage(self, name: str, backends: Sequence[Backend]) -> Iterator[None]:
        """Write what the backends use inside the block under a stage's name, stages within it taken off."""
        before = _used(backends)
        self._inside.append({})
        try:
            yield
        finally:
            spent = {key: count - before[key] for key, count in _used(backends).items()}
            inner = self._inside.pop()
            self.add(name, **{key: count - inner.get(key, 0) for key, count in spent.items()})
            if self._inside:
                self._inside[-1] = {key: count + self._inside[-1].get(key, 0) for key, count in spent.items()}

    def take(self) -> dict[str, dict[str, float]]:
        """Return the stages and begin anew."""
        stages, self.stages = self.stages, {}
        return stages

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the stages as plain data."""
        return {name: dict(counts) for name, counts in self.stages.items()}

    def total(self) -> dict[str, float]:
        """Return the sums over the stages."""
        return {name: sum(row[name] for row in self.stages.values()) for name in COUNTS}

    def rows(self) -> list[JsonDict]:
        """Return one row for each stage, and their sum."""
        rows = [{"stage": name, **counts} for name, counts in self.stages.items()]
        return [*rows, {"stage": "total", **self.total()}]

    def __repr__(self) -> str:
        return text_table(self.rows())

    def _repr_html_(self) -> str:
        return html_table(self.rows(), caption="Ledger")


def find_backends(value: object) -> list[Backend]:
    """Return the language models that an option will call, each once.

    They are looked for in lists, mappings, a metric's options and the arguments of a
    partial function; any other object is asked for its `backends`, and one that wraps
    another holds it as `inner`.

    Examples
    --------
    >>> from summeval_nb.models.base import ScriptedBackend
    >>> [backend.name for backend in find_backends({"judge": [ScriptedBackend(str)], "k": 3})]
    ['scripted']
    """
    if isinstance(value, Backend):
        return [value]
    found = [backend for part in _parts(value) for backend in find_backends(part)]
    return list({id(backend): backend for backend in found}.values())


def _parts(value: object) -> Sequence[object]:
    """Where a value may hold language models, as it says itself."""
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, type):
        return []
    if isinstance(value, Metric):
        return list(value.options().values())
    said, inner = getattr(value, "backends", None), getattr(value, "inner", None)
    return said if isinstance(said, (list, tuple)) else [] if inner is None else [inner]


class _Staged(Backend):
    """A backend whose calls are a stage of their own."""

    def __init__(self, inner: Backend, stage: str, ledger: Ledger, backends: Sequence[Backend]):
        self.inner, self.name, self.usage = inner, inner.name, inner.usage
        self._stage, self._ledger, self._backends = stage, ledger, backends

    @property
    def fingerprint(self) -> str:
        return self.inner.fingerprint

    def choose_many(self, prompts: Sequence[str], options: Sequence[str], **rest: Any) -> list[Choice | BackendError]:
        with self._ledger.stage(self._stage, self._backends):
            self._ledger.add(self._stage, questions=len(prompts))
            return self.inner.choose_many(prompts, options, **rest)

    def choose(self, prompt: str, options: Sequence[str], **rest: Any) -> Choice:
        with self._ledger.stage(self._stage, self._backends):
            self._ledger.add(self._stage, questions=1)
            return self.inner.choose(prompt, options, **rest)

    def generate_json(self, prompt: str, schema: type[Schema], *, max_tokens: int = 512) -> Schema:
        with self._ledger.stage(self._stage, self._backends):
            self._ledger.add(self._stage, questions=1)
            return self.inner.generate_json(prompt, schema, max_tokens=max_tokens)

    def _choose(self, prompt: str, options: tuple[str, ...]) -> Choice:
        return self.inner._choose(prompt, options)

    def _json(self, prompt: str, schema: JsonDict, max_tokens: int) -> str:
        return self.inner._json(prompt, schema, max_tokens)


class MeteredChecker:
    """A checker that writes what its language models use into a ledger, as the stages checking and statements."""

    def __init__(self, inner: Checker, ledger: Ledger):
        self._ledger, self.backends = ledger, find_backends(inner)
        finder: Any = getattr(inner, "finder", None)
        if getattr(finder, "splitter", None) is not None:
            held: Any = copy.copy(inner)
            finder = copy.copy(finder)
            finder.splitter = _Staged(finder.splitter, "statements", ledger, self.backends)
            held.finder, inner = finder, held
        self._inner = inner
        self.uses_vectors = getattr(inner, "uses_vectors", False)
        self.languages = getattr(inner, "languages", None)
        if samples := getattr(inner, "by_sample", None):
            self.by_sample = [MeteredChecker(sample, ledger) for sample in samples]
        for name in ("contradicted_below", "contradicted_below_of"):
            if hasattr(inner, name):  # which of its verdicts are unclear
                setattr(self, name, getattr(inner, name))

    @property
    def fingerprint(self) -> str:
        """The checker's own."""
        return self._inner.fingerprint

    @property
    def threshold(self) -> float:
        """The checker's own."""
        return self._inner.threshold

    def with_threshold(self, threshold: float) -> MeteredChecker:
        """Return the checker with another threshold, and the same meter."""
        other = copy.copy(self)
        other._inner = with_threshold(self._inner, threshold)
        return other

    def check_many(self, pairs: Sequence[Pair], *, vectors: Sequence[PairVectors] | None = None) -> list[Verdict]:
        """Return the checker's verdicts."""
        self._ledger.add("checking", questions=len(pairs))
        with self._ledger.stage("checking", self.backends):
            return self._inner.check_many(pairs, **({"vectors": vectors} if self.uses_vectors else {}))


STAGES: Mapping[str, str] = {
    "resolve": "pronouns",
    "statements": "statements",
    "entail": "entailment",
    "refusal": "refusals",
    "keyphrases": "keyphrases",
    "questions": "questions",
    "answer": "answers",
}


class _Reached:
    """A judge that counts the questions that reach it."""

    def __init__(self, inner: Judge):
        self.inner, self.fingerprint, self.count = inner, inner.fingerprint, 0

    def many(self, task: str, items: Sequence[tuple[object, ...]]) -> list[Any]:
        self.count += len(items)
        return ask_many(self.inner, task, items)


class MeteredJudge(BulkJudge):
    """A judge that writes what its language models use into a ledger, a stage for each kind of question."""

    def __init__(self, inner: Judge, ledger: Ledger, store: Any = None):
        self.fingerprint = inner.fingerprint
        self._inner, self._ledger, self._store = inner, ledger, store
        self.backends = find_backends(inner)

    def many(self, task: str, items: Sequence[tuple[object, ...]]) -> list[Any]:
        """Return the judge's answers, from the store where it holds them."""
        reached: Any = _Reached(self._inner)
        with self._ledger.stage(STAGES[task], self.backends):
            answers = ask_many(reached, task, items, store=self._store)
        self._ledger.add(STAGES[task], questions=len(items), from_store=len(items) - reached.count)
        return answers


class CountedStore:
    """A store that writes how many answers of each kind it held into a ledger."""

    def __init__(self, inner: Store | CountedStore, stages: Mapping[str, str], ledger: Ledger):
        self._inner, self._stages, self._ledger = inner, stages, ledger

    def get_many(self, kind: str, keys: Sequence[str]) -> dict[str, Any]:
        """Return what the store holds."""
        found = self._inner.get_many(kind, keys)
        if kind in self._stages and found:
            self._ledger.add(self._stages[kind], questions=len(found), from_store=len(found))
        return found

    def put_many(self, kind: str, values: Mapping[str, Any]) -> int:
        """Store values."""
        return self._inner.put_many(kind, values)


def metered(
    options: Mapping[str, Any], ledger: Ledger, store: Store | None = None
) -> tuple[dict[str, Any], Store | CountedStore | None]:
    """Return a metric's options and store with meters in front of its language models.

    Where there is no language model, both are returned as they are.
    """
    found = dict(options)
    kept: Store | CountedStore | None = store
    for name, value in options.items():
        if not find_backends(value):
            continue
        if isinstance(value, Backend):
            found[name] = _Staged(value, "rating", ledger, [value])
            kept = kept and CountedStore(kept, {"rating": "rating"}, ledger)
        elif hasattr(value, "check_many"):
            found[name] = MeteredChecker(value, ledger)
            kept = kept and CountedStore(kept, {"verdict": "checking"}, ledger)
        elif hasattr(value, "entail"):
            found[name], kept = MeteredJudge(value, ledger, kept), None
    return found, kept


# ---------------------------------------------------------------- what stands for a language model in a plan

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


def read_ledger(folder: str | Path) -> Ledger:
    """Return what a run has used so far, in all its attempts; empty for metrics without a language model."""
    folder = Path(folder)
    with explained(folder, reading=True), RunFile(folder, "ro") as file:
        return Ledger(file.usage())
