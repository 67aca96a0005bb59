"""Checkers by their names, and those that ask a model: a classifier of pairs (chapter 35) or a language model (39)."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from summeval_nb.core.base import (
    OWN_CHECKERS,
    JsonDict,
    one_bar,
    require_count,
    require_flag,
    require_module,
    require_option,
    require_share,
    require_text,
    require_texts,
    steps,
)
from summeval_nb.core.results import Finding, Verdict
from summeval_nb.evidence.base import Checker, Pair, PairVectors, failure, of_samples
from summeval_nb.evidence.builtin import CarefulChecker, EmbeddedChecker, WordsChecker
from summeval_nb.evidence.claims import (
    Annotator,
    Claim,
    about_arcs,
    about_entities,
    entities_by_rules,
    statements_by_model,
    statements_by_rules,
)
from summeval_nb.evidence.llm import PROMPT, filled, prompt_version
from summeval_nb.evidence.nli import (
    AGGREGATES,
    ModelInput,
    PlacedInputs,
    encoded_windows,
    label_places,
    premises,
    probabilities,
    require_room,
)
from summeval_nb.models.base import (
    QUOTING,
    Backend,
    BackendError,
    BackendRejected,
    Choice,
    ContextTooLong,
    Undecided,
    answered,
    counted_as,
    neutralise,
)
from summeval_nb.models.local import (
    FORMS,
    load_backend,
    load_model,
    model_digest,
    read_model,
    require_weights,
    special_texts,
    unknown_name,
    unreadable,
)
from summeval_nb.text.language import reads, require_languages
from summeval_nb.text.split import split_text

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

__all__ = ["COMBINATIONS", "ClaimFinder", "LLMChecker", "NLIChecker", "load_checker"]


def load_checker(checker: str | Checker) -> Checker:
    """Return a checker by name, or the given object after a look at whether it is one.

    The names: `"embedded"`, the package's own, which reads, also called `"quick"`; `"careful"`, with a larger reader
    beside it (the extra `careful`); `"words"`, chapter 34's;
    `"nli:FOLDER"` for a classifier (chapter 35), `"nli:FOLDER?recipe=minicheck"` for one
    of a family that reads in its own way (also `hhem`, `alignscore`); `"llm:FOLDER"` or
    `"llm:NAME@http://HOST:PORT/v1"` for a language model (chapter 39).

    Raises
    ------
    ValueError
        If the name is unknown, or names a kind without a model.
    TypeError
        If the object lacks a part of the `Checker` protocol.

    Examples
    --------
    >>> load_checker("words").threshold
    0.5
    """
    if not isinstance(checker, str):
        return require_checker(checker)
    if checker.partition(":")[0] in ("nli", "llm"):
        return load_checker(named_checker(checker))
    if checker not in OWN_CHECKERS:
        raise unknown_name(checker, "checker")
    return packaged_checker(checker)


def named_checker(name: str, load: Callable[[str], Backend] = load_model) -> Checker:
    """Return the checker that a text such as "nli:FOLDER" or "llm:NAME@http://HOST/v1" names."""
    kind, _, model = name.partition(":")
    if kind not in ("nli", "llm"):
        raise ValueError(f"judge cannot be {kind!r}: name a model as 'llm:...' or 'nli:...'")
    if not model:
        forms = " or ".join(repr(form) for form in FORMS if form.startswith(kind))
        made = {"nli": "NLIChecker('FOLDER')", "llm": "LLMChecker(TransformersBackend('FOLDER'))"}[kind]
        build = f"from summeval_nb import {made.partition('(')[0]}; judge={made}"
        raise ValueError(f"judge={name!r} names no model: write {forms}, or build one: {build}")
    if kind == "nli":
        folder, _, recipe = model.partition("?recipe=")
        return NLIChecker(folder, recipe=recipe or None)
    return LLMChecker(load(model))


@cache
def packaged_checker(name: str) -> Checker:
    """Return one of the package's own checkers, made once."""
    return {"words": WordsChecker, "careful": CarefulChecker}.get(name, EmbeddedChecker)()


def require_checker(checker: Any) -> Checker:
    """Return the object if it has all parts of the `Checker` protocol; otherwise raise and say which are missing."""
    if isinstance(checker, type):
        raise TypeError(f"pass a checker, not its class: {checker.__name__}(...)")
    missing = [name for name in ("fingerprint", "threshold", "check_many") if not hasattr(checker, name)]
    if missing:
        raise TypeError(f"{type(checker).__name__} is no checker, it lacks {', '.join(missing)}")
    if not callable(checker.check_many):
        raise TypeError(f"a checker's check_many must be a method, not {checker.check_many!r:.40}")
    if not isinstance(checker.fingerprint, str) or not checker.fingerprint:
        raise TypeError(f"a checker's fingerprint must be a non-empty string, not {checker.fingerprint!r}")
    require_share(checker.threshold, "threshold")
    return checker


def with_threshold(checker: Checker, threshold: float) -> Checker:
    """Return a checker of the same kind with another threshold; the given one stays as it is."""
    share = require_share(threshold, "threshold")
    if callable(make := getattr(checker, "with_threshold", None)):
        return make(share)
    if "threshold" not in getattr(checker, "__dict__", {}):
        remedy = "build it with that threshold, or give it a method with_threshold(threshold)"
        raise TypeError(f"{type(checker).__name__} has no threshold that could be set for one call: {remedy}")
    other: Any = copy.copy(checker)
    other.threshold = share
    return other


AskedClaim = tuple[tuple[str, ...], str]  # evidence, claim
ClaimAnswer = tuple[float | str, JsonDict]  # a probability, or a hard verdict, with details
CLAIMS = ("sentence", "statements", "entities", "arcs")
COMBINATIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "minimum": min,
    "mean": lambda values: math.fsum(values) / len(values),
}


class ClaimFinder:
    """Cuts sentences into claims, and puts the answers together.

    Parameters
    ----------
    mode : str
        "sentence", "statements", "entities" or "arcs".
    combine : str
        "minimum" or "mean" of the claims' probabilities.
    annotator : callable, optional
        Text to stanza `Document`, such as a `stanza.Pipeline`: needed for arcs; for entities it replaces the rules.
    splitter : Backend or str, optional
        A language model that splits statements in place of the rules, or its name, as in `"llm:FOLDER"`.

    Examples
    --------
    >>> finder = ClaimFinder("statements")
    >>> found = finder.find("Anna bought a car, and Ben sold a boat.")
    >>> [claim.text for claim in found]
    ['Anna bought a car.', 'Ben sold a boat.']
    """

    def __init__(
        self,
        mode: str = "sentence",
        *,
        combine: str = "minimum",
        annotator: Annotator | None = None,
        splitter: Backend | str | None = None,
    ):
        self.mode = require_option(mode, "claims", CLAIMS)
        self.combine = require_option(combine, "combine", COMBINATIONS)
        if mode == "arcs" and annotator is None:
            raise ValueError("claims='arcs' needs a parser: annotator=stanza.Pipeline('en', download_method=None, ...)")
        if annotator is not None and mode not in ("entities", "arcs"):
            raise ValueError(f"annotator is for claims='entities' or 'arcs', not for {mode!r}: leave it out")
        if splitter is not None and mode != "statements":
            raise ValueError(f"splitter is for claims='statements', not for {mode!r}: leave it out")
        self.annotator = annotator
        self.splitter = None if splitter is None else load_backend(splitter)

    @property
    def backends(self) -> list[Backend]:
        """The language models that it asks."""
        return [] if self.splitter is None else [self.splitter]

    @property
    def fingerprint(self) -> str:
        """A name for the way claims are made and combined; "sentence" when nothing is cut."""
        if self.mode == "sentence":
            return self.mode
        by = "rules" if self.annotator is None else annotator_name(self.annotator)
        by = by if self.splitter is None else self.splitter.fingerprint
        return f"{self.mode}:{by}:{self.combine}"

    def fingerprint_parts(self, threshold: float) -> list[str]:
        """Return what a checker's fingerprint says of claims; stored findings depend on the threshold."""
        return [] if self.mode == "sentence" else [f"claims={self.fingerprint}", f"threshold={threshold}"]

    def find(self, sentence: str) -> list[Claim]:
        """Return the claims of a sentence, one at least."""
        whole = [Claim(require_text(sentence, "sentence"), 0, len(sentence))]
        return (self._parts(sentence) if sentence.strip() else []) or whole

    def _parts(self, sentence: str) -> list[Claim]:
        if self.mode == "statements":
            with counted_as("statements", self.splitter, 1):
                return statements_by_model(sentence, self.splitter) if self.splitter else statements_by_rules(sentence)
        if self.mode == "arcs" and self.annotator:
            return about_arcs(sentence, self.annotator)
        if self.mode != "entities":
            return []
        if self.annotator is None:
            return about_entities(sentence, entities_by_rules(sentence))
        found = self.annotator(sentence).ents
        return about_entities(sentence, [(one.start_char, one.end_char, one.type) for one in found])


def annotator_name(annotator: Any) -> str:
    """A name for an annotator: its own fingerprint, stanza's version and language, or the function's name."""
    own = getattr(annotator, "fingerprint", None)
    if isinstance(own, str):
        return own
    kind = type(annotator)
    if kind.__module__.split(".")[0] == "stanza":
        import stanza

        return f"stanza-{stanza.__version__}-{annotator.lang}"
    return getattr(annotator, "__qualname__", kind.__qualname__)


def judge_claims(
    pairs: Iterable[tuple[Sequence[str], str]],
    finder: ClaimFinder,
    threshold: float,
    ask: Callable[[list[AskedClaim]], Sequence[ClaimAnswer | Exception]],
) -> list[Verdict]:
    """Return one verdict a pair (evidence sentences, sentence), by asking its claims, each different one once."""
    found: list[tuple[str, list[tuple[Claim, AskedClaim]] | BackendError]] = []
    asked: dict[AskedClaim, None] = {}
    for index, (evidence, sentence) in enumerate(pairs):
        texts = tuple(require_texts(evidence, f"pairs[{index}][0]"))
        text = require_text(sentence, f"pairs[{index}][1]")
        try:
            cut = [(claim, (texts, claim.text)) for claim in finder.find(text)]
        except BackendError as error:
            found.append((text, error))
            continue
        found.append((text, cut))
        asked |= dict.fromkeys(question for _, question in cut)
    answers = dict(zip(asked, ask(list(asked)) if asked else [], strict=True))
    return [
        failure(cut, threshold)
        if isinstance(cut, BackendError)
        else _combined(text, [(claim, answers[question]) for claim, question in cut], threshold, finder)
        for text, cut in found
    ]


def _combined(
    sentence: str, judged: Sequence[tuple[Claim, ClaimAnswer | Exception]], threshold: float, finder: ClaimFinder
) -> Verdict:
    """One verdict from the answers to a sentence's claims; of hard ones the worst counts."""
    if failed := next((answer for _, answer in judged if isinstance(answer, Exception)), None):
        return failure(failed, threshold)
    answers = [(claim, *answer) for claim, answer in judged if not isinstance(answer, Exception)]
    numbers = [p for _, p, _ in answers if not isinstance(p, str)]
    said: JsonDict = {"threshold": threshold, "probability": None}
    if len(numbers) == len(answers):
        said["probability"] = COMBINATIONS[finder.combine](numbers)
    else:
        states = [p for _, p, _ in answers]
        said["hard"] = next((state for state in ("contradicted", "unclear") if state in states), "supported")
    if finder.mode == "sentence":
        return Verdict(**said, details=answers[0][2])
    parts: list[JsonDict] = [
        {"text": claim.text, "start": claim.start, "end": claim.end}
        | {"hard" if isinstance(p, str) else "probability": p}
        | {name: value for name, value in details.items() if isinstance(value, float)}
        for claim, p, details in answers
    ]
    details: JsonDict = {"claims": parts, "combine": finder.combine}
    if all("probability_mass" in part for part in parts):
        details["probability_mass"] = min(part["probability_mass"] for part in parts)
    weak = [c for c, p, _ in answers if p != "supported" and (isinstance(p, str) or p < threshold)]
    findings = [Finding("claim", sentence[c.start : c.end], c.start, c.end) for c in weak]
    return Verdict(**said, findings=findings, details=details)


class NLIChecker:
    """Whether the evidence entails a sentence, by an NLI classifier of transformers.

    Parameters
    ----------
    model : str, Path or transformers.PreTrainedModel
        A folder, a hub name whose files are on this machine, or a loaded classifier (then `tokenizer` is needed).
    recipe : {"minicheck", "hhem", "alignscore"}, optional
        The family of a published checker, whose input and output are then written and read as its own code does it;
        `model` is a folder, and `labels` and `aggregate` are not given. None: any classifier of pairs.
    labels : mapping of str to int, optional
        Which output is "entailment", "neutral", "contradiction"; needed only where the model's names do not say it.
    aggregate : str
        "max": the best single evidence sentence; "joint": all evidence sentences as one premise.
    window : int, optional
        How many tokens premise and sentence may have together; default: what the model takes. Longer premises are cut
        into overlapping windows, and the best one counts.
    threshold : float
        A sentence is supported when its probability is at least this, in [0, 1].
    claims, combine, annotator, splitter
        What to ask about and how to combine the answers, as in `LLMChecker`.
    languages : sequence of str, optional
        Codes of the languages that the model reads, such as ("en", "de"); None: any. Texts that are clearly in another
        one are not judged by `evaluate`.
    tokenizer, device, batch_size, download, progress : optional
        As their names say; nothing is fetched unless `download` is true.

    References
    ----------
    Laban et al., "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in
    Summarization", TACL 2022.
    """

    def __init__(
        self,
        model: str | Path | PreTrainedModel,
        *,
        recipe: str | None = None,
        labels: Mapping[str, int] | None = None,
        aggregate: str = "max",
        window: int | None = None,
        threshold: float = 0.5,
        claims: str = "sentence",
        combine: str = "minimum",
        annotator: Annotator | None = None,
        splitter: Backend | str | None = None,
        languages: Sequence[str] | None = None,
        tokenizer: PreTrainedTokenizerBase | None = None,
        device: str = "cpu",
        batch_size: int = 32,
        download: bool = False,
        progress: bool = False,
    ):
        self.family: Family | None = None
        if recipe is None:
            self.model, self.tokenizer = _load_classifier(model, tokenizer, download)
        else:
            require_option(recipe, "recipe", FAMILIES)
            if labels is not None or aggregate != "max":
                raise ValueError(f"recipe={recipe!r} says it: omit labels, aggregate")
            if not isinstance(model, (str, Path)) or tokenizer is not None:
                raise TypeError(f"recipe={recipe!r} reads a folder, no loaded model")
            self.family = FAMILIES[recipe](Path(model))
            self.model, self.tokenizer = self.family.model, self.family.tokenizer
        self.model.to(device).eval()
        self._digest = model_digest(self.model, self.tokenizer)
        self.places = {"entailment": self.family.support} if self.family else _places(self.model.config, labels)
        self.aggregate = require_option(aggregate, "aggregate", AGGREGATES)
        limit = self.family.limit if self.family else None
        self.window = _fitting_window(self.model, self.tokenizer, window, limit)
        self.threshold = require_share(threshold, "threshold")
        self.languages = require_languages(languages)
        self.finder = ClaimFinder(claims, combine=combine, annotator=annotator, splitter=splitter)
        self.batch_size = require_count(batch_size, "batch_size")
        self.progress = progress

    @property
    def backends(self) -> list[Backend]:
        """The language models that it asks: one that splits statements."""
        return self.finder.backends

    @property
    def fingerprint(self) -> str:
        """Model, label order, aggregation, window, claims: what can change a number."""
        order = ",".join(f"{name}={at}" for name, at in sorted(self.places.items()))
        parts = [f"nli:{self._digest}", order, self.aggregate, f"window={self.window}"]
        if self.family:
            parts.append(f"recipe={self.family.recipe}")
        return ";".join([*parts, *self.finder.fingerprint_parts(self.threshold)])

    def __repr__(self) -> str:
        shown = f"claims={self.finder.fingerprint!r}, aggregate={self.aggregate!r}"
        return f"NLIChecker({shown}, threshold={self.threshold}, {reads(self)})"

    def check_many(self, pairs: Sequence[Pair], *, vectors: Sequence[PairVectors] | None = None) -> list[Verdict]:
        """Return one verdict for each pair of (evidence sentences, summary sentence); `vectors` are not needed."""
        return judge_claims(pairs, self.finder, self.threshold, self._ask)

    def _ask(self, questions: list[AskedClaim]) -> list[ClaimAnswer | Exception]:
        if not (self.family and self.family.by_sentence):
            return self._answers(questions)
        parts = [
            [(evidence, part) for part in split_text(claim, lang="en") or [claim]] for evidence, claim in questions
        ]
        answers = iter(self._answers([part for group in parts for part in group]))
        found: list[ClaimAnswer | Exception] = []
        for group in parts:  # the mean over the sentences of a claim
            replies = [next(answers) for _ in group]
            failed = next((one for one in replies if isinstance(one, Exception)), None)
            mean = sum(float(one[0]) for one in replies if not isinstance(one, Exception)) / len(replies)
            found.append(failed or (mean, {"entailment": mean}))
        return found

    def _answers(self, questions: Sequence[AskedClaim]) -> list[ClaimAnswer | Exception]:
        """Answer each question: the best of its premises and windows, or the reason why it cannot be judged."""
        batches = [questions[start : start + 64] for start in range(0, len(questions), 64)]
        with one_bar(len(questions), "inference", "pair", show=self.progress):
            found = [self._answers_of(batch) for batch in steps(batches, [len(batch) for batch in batches])]
        return [answer for batch in found for answer in batch]

    def _answers_of(self, batch: Sequence[AskedClaim]) -> list[ClaimAnswer | Exception]:
        rows: list[ModelInput] = []
        spans: list[list[tuple[int, int | None]] | Exception] = []  # rows of a question, each with its evidence's place
        for evidence, claim in batch:
            try:
                parts = self._rows_of(evidence, claim)
            except ContextTooLong as error:
                spans.append(error)
                continue
            spans.append([(len(rows) + i, place) for i, (place, _) in enumerate(parts)])
            rows += [row for _, row in parts]
        logits = self.family.logits if self.family else None
        outputs = probabilities(self.model, self.tokenizer, rows, self.batch_size, logits)
        answers: list[ClaimAnswer | Exception] = []
        for span in spans:
            if isinstance(span, Exception):
                answers.append(span)
                continue
            row, evidence_place = max(span, key=lambda one: outputs[one[0], self.places["entailment"]])
            details: JsonDict = {name: float(outputs[row, place]) for name, place in self.places.items()}
            if evidence_place is not None:
                details["decided_by"] = evidence_place
            answers.append((min(1.0, details["entailment"]), details))
        return answers

    def _rows_of(self, evidence: Sequence[str], claim: str) -> PlacedInputs:
        """Every window of every premise, with the place of its evidence sentence."""
        if self.family:
            return [(None, {"input_ids": ids}) for ids in self.family.rows(evidence, claim, self.window)]
        return [
            (place, row)
            for place, premise in premises(evidence, self.aggregate)
            for row in encoded_windows(self.tokenizer, premise, claim, self.window)
        ]


def _load_classifier(
    model: str | Path | PreTrainedModel, tokenizer: PreTrainedTokenizerBase | None, download: bool
) -> tuple[Any, Any]:
    """Load a sequence classifier and its tokenizer from a folder or a local copy, or take the loaded ones."""
    require_module("transformers", "models")
    if not isinstance(model, (str, Path)):
        if tokenizer is None:
            raise ValueError("a loaded model needs its tokenizer: NLIChecker(model, tokenizer=...)")
        return model, tokenizer
    require_flag(download, "download")
    remedy = "give one that holds a classifier, or a hub name with download=True"
    kind = ("AutoModelForSequenceClassification", "a classifier")
    return read_model(model, kind, download, remedy=remedy)


def _places(config: Any, labels: Mapping[str, int] | None) -> dict[str, int]:
    """Which output is which relation, by the configuration or as it was said; a single one must be a logit."""
    kept = getattr(config, "sentence_transformers", None) or {}
    raw = config.problem_type == "regression" or "Identity" in str(kept.get("activation_fn", ""))
    if labels is None and config.num_labels == 1 and raw:
        said = "the only output of this model is a number, not a logit of support, says its configuration"
        raise ValueError(f"{said}; if its sigmoid is a probability, say labels={{'entailment': 0}}")
    return label_places({int(at): name for at, name in config.id2label.items()}, labels)


def _fitting_window(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, window: int | None, limit: int | None = None
) -> int:
    """The window in tokens: the model's own limit, or the smaller one asked for."""
    own = getattr(model.config.get_text_config(), "max_position_embeddings", None) or 10**9
    limit = limit or int(min(tokenizer.model_max_length, own))
    limit = limit if limit < 10**9 else 512
    if window is None:
        return limit
    if require_count(window, "window", minimum=32) > limit:
        raise ValueError(f"window={window} is more than the {limit} tokens that this model takes")
    return window


class LLMChecker:
    """Whether a sentence follows from its evidence: a language model's probability.

    A model whose server gives no probabilities says yes or no, and the verdict is hard: supported or not, or unclear
    where the model says neither. No threshold applies.

    Parameters
    ----------
    backend : Backend or str
        `TransformersBackend`, `ServerBackend` or your own; or its name, as in `"llm:FOLDER"`.
    prompt : str
        Text with `{evidence}` and then `{claim}`, once each, best between the tags of `PROMPT`.
    options : (str, str)
        The allowed answers; the first means supported.
    threshold : float
        A sentence is supported when its probability is at least this, in [0, 1].
    samples : int
        With n of them the model is asked n times at a temperature of 1, and the share of its yeses is the probability.
        A store keeps each sample. 0: it is asked once, for its own probability.
    claims : str
        What to ask about: "sentence", "statements", "entities" or "arcs" (see chapter 37, claims).
    combine : str
        How the claims' probabilities are combined: "minimum" or "mean". Of hard verdicts the worst counts.
    annotator, splitter : optional
        A stanza pipeline for entities and arcs; a backend that splits statements.
    languages : sequence of str, optional
        Codes of the languages that the model reads, such as ("en", "zh"); None: any. Texts that are clearly in another
        one are not judged by `evaluate`.
    workers : int
        How many questions a server gets at once.
    progress : bool
        Show a progress bar.

    Examples
    --------
    >>> from summeval_nb import ScriptedBackend
    >>> checker = LLMChecker(ScriptedBackend(lambda prompt: "yes"))
    >>> checker.check_many([(["It rained."], "It rained.")])[0].supported
    True
    """

    def __init__(
        self,
        backend: Backend | str,
        *,
        prompt: str = PROMPT,
        options: tuple[str, str] = ("yes", "no"),
        threshold: float = 0.5,
        samples: int = 0,
        claims: str = "sentence",
        combine: str = "minimum",
        annotator: Annotator | None = None,
        splitter: Backend | str | None = None,
        languages: Sequence[str] | None = None,
        workers: int = 8,
        progress: bool = False,
    ):
        if isinstance(options, str) or len(options) != 2 or options[0] == options[1]:
            raise ValueError(f"options must be two different answers, the first for supported, not {options!r}")
        self.backend, self.options = load_backend(backend), (options[0], options[1])
        self.prompt = _fitting_prompt(prompt)
        self.threshold = require_share(threshold, "threshold")
        self.samples = require_count(samples, "samples", minimum=0)
        self._sample: int | None = None
        self.languages = require_languages(languages)
        self.finder = ClaimFinder(claims, combine=combine, annotator=annotator, splitter=splitter)
        self.workers, self.progress = require_count(workers, "workers"), progress

    @property
    def backends(self) -> list[Backend]:
        """The language models that it asks."""
        return [self.backend, *self.finder.backends]

    @property
    def fingerprint(self) -> str:
        """Model, prompt version, options, claims: all that could change an answer."""
        # of its words, and of how texts are put into it
        version = f"prompt={prompt_version(self.prompt)}.{QUOTING}"
        parts = [f"llm:{self.backend.fingerprint}", version, "/".join(self.options)]
        if self.samples:
            parts.append(f"samples={self.samples}")
        if self._sample is not None:
            parts.append(f"sample={self._sample}")
        return ";".join([*parts, *self.finder.fingerprint_parts(self.threshold)])

    def __repr__(self) -> str:
        shown = f"{self.backend.name!r}, claims={self.finder.fingerprint!r}"
        return f"LLMChecker({shown}, threshold={self.threshold}, {reads(self)})"

    def check_many(self, pairs: Sequence[Pair], *, vectors: Sequence[PairVectors] | None = None) -> list[Verdict]:
        """Return one verdict for each pair of (evidence sentences, summary sentence); `vectors` are not needed."""
        if self.samples:
            found = zip(*(one.check_many(pairs) for one in self.by_sample), strict=True)
            return [of_samples(verdicts, self.threshold) for verdicts in found]
        return judge_claims(pairs, self.finder, self.threshold, self._ask)

    @property
    def by_sample(self) -> list[LLMChecker]:
        """A checker for each sample, whose verdicts are hard."""
        found = [copy.copy(self) for _ in range(self.samples)]
        for number, drawing in enumerate(found):
            drawing.samples, drawing._sample = 0, number
        return found

    def _ask(self, questions: list[AskedClaim]) -> list[ClaimAnswer | Exception]:
        prompts = [filled(self.prompt, evidence, claim) for evidence, claim in questions]
        shown = "asking the model" if self.progress else ""
        drawn = {} if self._sample is None else {"sample": self._sample}
        answers = self.backend.choose_many(prompts, self.options, workers=self.workers, progress=shown, **drawn)
        return [self._judged(answered(answer)) for answer in answers]

    def _judged(self, answer: Choice | BackendError) -> ClaimAnswer | BackendError:
        if isinstance(answer, Undecided):
            return "unclear", {"note": f"the model says neither: {answer.args[0]}"}
        if isinstance(answer, BackendError):
            return answer
        yes = self.options[0]
        if answer.hard:
            return "supported" if answer.label == yes else "contradicted", {}
        details = {"probability_mass": answer.probability_mass}
        return answer.probabilities[yes], details


def _fitting_prompt(prompt: str) -> str:
    """Check that a prompt has its two places, once each, the evidence first."""
    places = re.findall(r"\{(evidence|claim)\}", require_text(prompt, "prompt"))
    if places != ["evidence", "claim"]:
        remedy = "write {evidence} once, then {claim} once"
        raise ValueError(f"the prompt has the places {places or 'none'}: {remedy}, so that claims share their evidence")
    return prompt


class Family:
    """A family reads its folder (a `BackendRejected` says what is missing), writes its input and reads its outputs."""

    support: int  # the output that is the probability of support
    limit: int | None = None  # tokens that its own code reads; None: what model and tokenizer say
    by_sentence = False  # each sentence of a claim is asked, and the mean counts

    def __init__(self, folder: Path):
        require_module("transformers", "models")
        self.folder = folder
        if not folder.is_dir():
            raise BackendRejected(f"there is no folder {folder}", remedy="give the folder that holds the model's files")
        self.model, self.tokenizer = self._load()

    def _load(self) -> tuple[Any, Any]:
        raise NotImplementedError

    def pieces(self, evidence: Sequence[str]) -> list[str]:
        """The evidence sentences, joined as the family reads them; the best piece counts."""
        return [" ".join(evidence)]

    def ids(self, piece: str, claim: str) -> list[int]:
        """The tokens of a piece and a claim."""
        return list(self.tokenizer(piece, claim)["input_ids"])

    def logits(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """The outputs for a batch, (rows, labels), before the softmax."""
        return cast("torch.Tensor", self.model(**batch).logits)

    def rows(self, evidence: Sequence[str], claim: str, window: int) -> list[list[int]]:
        """The tokens of every piece with the claim; a piece that does not fit is read in overlapping windows."""
        marks = special_texts(self.tokenizer)
        claim = neutralise(claim, marks)
        require_room(len(self.ids("", claim)), window)
        pieces = [neutralise(piece, marks) for piece in self.pieces(evidence)]
        return [row for piece in pieces for row in self._windows(piece, claim, window)]

    def _windows(self, piece: str, claim: str, window: int) -> list[list[int]]:
        count = 1
        while True:
            width = math.ceil(2 * len(piece) / (count + 1))
            rows = [self.ids(piece[i * width // 2 : i * width // 2 + width], claim) for i in range(count)]
            if max(map(len, rows)) <= window:
                return rows
            count = math.ceil(1.5 * count)

    def _refused(self, what: str, remedy: str) -> BackendRejected:
        return BackendRejected(f"{self.folder} is no folder for recipe={self.recipe!r}: {what}", remedy=remedy)

    @property
    def recipe(self) -> str:
        """Its name."""
        return next(name for name, family in FAMILIES.items() if isinstance(self, family))


class MiniCheck(Family):
    """MiniCheck (Tang, Laban and Durrett 2024, EMNLP), as RoBERTa, DeBERTa or Flan-T5.

    Evidence and claim are one text with an end mark between them. Evidence is read in chunks of whole sentences: 400
    tokens, or 500 words for Flan-T5. That one answers in its first token: "1" (token 209) against token 3.
    """

    support = 1

    def _load(self) -> tuple[Any, Any]:
        remedy = "give the folder of a MiniCheck model, such as a copy of lytang/MiniCheck-RoBERTa-Large"
        config = _config(self.folder, remedy)
        self.seq2seq = config.get("model_type") == "t5"
        kind = ("AutoModelForSequenceClassification", "a classifier")
        kind = ("AutoModelForSeq2SeqLM", "a model that writes") if self.seq2seq else kind
        model, tokenizer = read_model(self.folder, kind, False, remedy=remedy)
        if tokenizer.eos_token is None:
            raise self._refused("its tokenizer has no end mark (eos_token)", remedy)
        if self.seq2seq and model.config.vocab_size <= 209:
            raise self._refused(f"its vocabulary has {model.config.vocab_size} tokens, and no token 209", remedy)
        if not self.seq2seq and model.config.num_labels != 2:
            raise self._refused(f"it has {model.config.num_labels} outputs, MiniCheck has 2", remedy)
        self.limit = 2048 if config["model_type"] in ("t5", "deberta-v2") else None
        return model, tokenizer

    def pieces(self, evidence: Sequence[str]) -> list[str]:
        found: list[list[str]] = []
        size = most = 500 if self.seq2seq else 400
        for sentence in evidence:
            own = None if self.seq2seq else self.tokenizer(sentence, add_special_tokens=False)["input_ids"]
            more = len(sentence.split() if own is None else own)
            if not found or size + more > most:
                found.append([])
                size = 0
            found[-1].append(sentence)
            size += more
        return [" ".join(sentences) for sentences in found]

    def ids(self, piece: str, claim: str) -> list[int]:
        text = f"{piece}{self.tokenizer.eos_token}{claim}"
        return list(self.tokenizer("predict: " + text if self.seq2seq else text)["input_ids"])

    def logits(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        if not self.seq2seq:
            return super().logits(batch)
        start = batch["input_ids"].new_zeros((len(batch["input_ids"]), 1))
        return cast("torch.Tensor", self.model(**batch, decoder_input_ids=start).logits[:, 0, [3, 209]])


class Hhem(Family):
    """HHEM-2.1-open (Vectara 2024): the encoder of a T5 with two outputs for each token, of which the first's count.

    Its own code is not run. The sizes of the model are read from its weights. All evidence is one premise.
    """

    support = 1
    limit = 4096
    prompt = (
        "<pad> Determine if the hypothesis is true given the premise?\n\nPremise: {premise}\n\nHypothesis: {hypothesis}"
    )

    def _load(self) -> tuple[Any, Any]:
        from safetensors.torch import load_file
        from transformers import T5Config, T5ForTokenClassification

        remedy = "give a copy of vectara/hallucination_evaluation_model, version 2.1"
        _config(self.folder, remedy)
        with _reading(self.folder, "model.safetensors", remedy):
            stored = load_file(self.folder / "model.safetensors")
        weights = {name.removeprefix("t5."): weight.float() for name, weight in stored.items() if name[:3] == "t5."}
        block = "transformer.encoder.block.0.layer"
        needed = {
            "transformer.shared.weight",
            "classifier.weight",
            f"{block}.0.SelfAttention.q.weight",
            f"{block}.0.SelfAttention.relative_attention_bias.weight",
            f"{block}.1.DenseReluDense.wo.weight",
        }
        if missing := needed - set(weights):
            raise self._refused(f"its model.safetensors has no weight t5.{min(missing)}", remedy)
        if len(weights["classifier.weight"]) != 2:
            raise self._refused(f"it has {len(weights['classifier.weight'])} outputs, HHEM has 2", remedy)
        weights["transformer.encoder.embed_tokens.weight"] = weights["transformer.shared.weight"]
        tokens, width = weights["transformer.shared.weight"].shape
        buckets, heads = weights[f"{block}.0.SelfAttention.relative_attention_bias.weight"].shape
        gated = f"{block}.1.DenseReluDense.wi_0.weight" in weights
        config = T5Config(
            vocab_size=tokens,
            d_model=width,
            d_kv=weights[f"{block}.0.SelfAttention.q.weight"].shape[0] // heads,
            d_ff=weights[f"{block}.1.DenseReluDense.wo.weight"].shape[1],
            num_layers=len({name.split(".")[3] for name in weights if ".encoder.block." in name}),
            num_heads=heads,
            relative_attention_num_buckets=buckets,
            feed_forward_proj="gated-gelu" if gated else "relu",
        )
        model = T5ForTokenClassification(config)
        with _reading(self.folder, "model.safetensors", remedy):  # its weights may have other shapes
            require_weights(self.folder, model.load_state_dict(weights, strict=False).missing_keys, "a T5 with a head")
        return model, _tokenizer(self.folder, "the tokenizer's files of google/flan-t5-base")

    def ids(self, piece: str, claim: str) -> list[int]:
        return list(self.tokenizer(self.prompt.format(premise=piece, hypothesis=claim))["input_ids"])

    def logits(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return super().logits(batch)[:, 0]


class AlignScore(Family):
    """AlignScore (Zha et al. 2023, ACL), from its .ckpt file beside the config.json and the tokenizer of its RoBERTa.

    The file is read as weights only. Evidence is read in chunks of whole sentences, of about 350 words. The mean over
    the sentences of a claim counts.
    """

    support = 0
    by_sentence = True

    def _load(self) -> tuple[Any, Any]:
        import torch
        from transformers import RobertaConfig, RobertaForSequenceClassification

        remedy = "put AlignScore's .ckpt beside config.json and the tokenizer's files of its RoBERTa (base or large)"
        config = _config(self.folder, remedy)
        files = sorted(self.folder.glob("*.ckpt"))
        if len(files) != 1:
            raise self._refused(f"it has {len(files)} files that end in .ckpt, one is needed", remedy)
        if config.get("model_type") != "roberta":
            raise self._refused(f"its config.json is of a {config.get('model_type')}, not of a roberta", remedy)
        with _reading(self.folder, files[0].name, remedy):
            stored = torch.load(files[0], map_location="cpu", weights_only=True)["state_dict"]
            stored = {name: weight.float() for name, weight in stored.items()}
        weights = {}
        for name, weight in stored.items():
            name = name.replace("base_model.pooler.dense.", "classifier.dense.")
            name = name.replace("tri_layer.", "classifier.out_proj.").replace("base_model.", "roberta.")
            weights[name] = weight
        names = {0: "aligned", 1: "LABEL_1", 2: "LABEL_2"}
        model = RobertaForSequenceClassification(RobertaConfig.from_dict(config | {"id2label": names}))
        with _reading(self.folder, files[0].name, remedy):  # of the large one beside the base one's config.json
            missing = model.load_state_dict(weights, strict=False).missing_keys
        require_weights(self.folder, missing, "an AlignScore model")
        return model, _tokenizer(self.folder, "the tokenizer's files of its RoBERTa")

    def pieces(self, evidence: Sequence[str]) -> list[str]:
        chunks = len(" ".join(evidence).split()) // 350 + 1
        size = max(len(evidence) // chunks, 1)
        return [" ".join(evidence[at : at + size]) for at in range(0, len(evidence), size)]


FAMILIES: dict[str, type[Family]] = {"minicheck": MiniCheck, "hhem": Hhem, "alignscore": AlignScore}


@contextmanager
def _reading(folder: Path, part: str, remedy: str) -> Iterator[None]:
    """Refuse a folder of which a part cannot be read; the readers of damaged files have no class for it."""
    try:
        yield
    except BackendRejected:
        raise
    except Exception as error:
        raise unreadable(folder, part, error, remedy) from error


def _config(folder: Path, remedy: str) -> dict[str, Any]:
    """Return the content of config.json."""
    with _reading(folder, "config.json", remedy):  # missing, cut, no object
        return dict(json.loads((folder / "config.json").read_text(encoding="utf-8")).items())


def _tokenizer(folder: Path, which: str) -> Any:
    """The fast tokenizer of a folder, whatever its config.json says about the model."""
    from transformers import PreTrainedTokenizerFast

    with _reading(folder, "the tokenizer's files", f"copy {which} into it: tokenizer.json, tokenizer_config.json"):
        if not (folder / "tokenizer.json").is_file():
            raise FileNotFoundError("there is no tokenizer.json")
        return PreTrainedTokenizerFast.from_pretrained(str(folder), local_files_only=True)
