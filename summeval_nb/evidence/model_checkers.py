"""Checkers that ask a model: a classifier of pairs (chapter 35), or a language model (chapter 39)."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from summeval_nb.core.base import (
    JsonDict,
    one_bar,
    require_count,
    require_flag,
    require_module,
    require_option,
    require_share,
    require_text,
    steps,
)
from summeval_nb.core.results import Verdict
from summeval_nb.evidence.asking import ClaimFinder, Judged, Question, judge_claims
from summeval_nb.evidence.base import of_samples
from summeval_nb.evidence.claims import Annotator
from summeval_nb.evidence.families import FAMILIES, Family
from summeval_nb.evidence.llm import PROMPT, filled, prompt_version
from summeval_nb.evidence.nli import AGGREGATES, Row, Rows, encoded_windows, label_places, premises, probabilities
from summeval_nb.models.base import QUOTING, Backend, BackendError, Choice, ContextTooLong, Undecided, answered
from summeval_nb.models.load import load_backend
from summeval_nb.models.local import model_digest, read_model
from summeval_nb.text.language import reads, require_languages
from summeval_nb.text.split import split_text

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from summeval_nb.evidence.base import Pair, PairVectors

__all__ = ["LLMChecker", "NLIChecker"]


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
        # the findings of a stored verdict depend on the threshold, too
        if self.finder.mode != "sentence":
            parts += [f"claims={self.finder.fingerprint}", f"threshold={self.threshold}"]
        return ";".join(parts)

    def __repr__(self) -> str:
        shown = f"claims={self.finder.fingerprint!r}, aggregate={self.aggregate!r}"
        return f"NLIChecker({shown}, threshold={self.threshold}, {reads(self)})"

    def check_many(self, pairs: Sequence[Pair], *, vectors: Sequence[PairVectors] | None = None) -> list[Verdict]:
        """Return one verdict for each pair of (evidence sentences, summary sentence).

        `vectors` are not needed.
        """
        return judge_claims(pairs, self.finder, self.threshold, self._ask)

    def _ask(self, questions: list[Question]) -> list[Judged | Exception]:
        family = self.family

        def ask(questions: Sequence[Question]) -> list[Judged | Exception]:
            return _judged_all(
                questions,
                self._rows_of,
                lambda rows: probabilities(
                    self.model, self.tokenizer, rows, self.batch_size, family.logits if family else None
                ),
                self.places,
                progress=self.progress,
            )

        return _by_sentence(questions, ask) if family and family.by_sentence else ask(questions)

    def _rows_of(self, evidence: Sequence[str], claim: str) -> Rows:
        """Every window of every premise, with the place of its evidence sentence."""
        if self.family:
            rows = self.family.rows(evidence, claim, self.window)
            return [(None, {"input_ids": ids}) for ids in rows]
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
    """Which output is which relation, by the configuration or as it was said."""
    if labels is None:
        _require_logit(config)
    return label_places({int(at): name for at, name in config.id2label.items()}, labels)


def _require_logit(config: Any) -> None:
    """Refuse a single output that the model's configuration calls no logit."""
    kept = getattr(config, "sentence_transformers", None) or {}
    raw = "Identity" in str(kept.get("activation_fn", ""))
    if config.num_labels == 1 and (config.problem_type == "regression" or raw):
        raise ValueError(
            "the only output of this model is a number, not a logit of support, says "
            "its configuration; if its sigmoid is a probability, say "
            "labels={'entailment': 0}"
        )


def _fitting_window(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, window: int | None, limit: int | None = None
) -> int:
    """The window in tokens: the model's own limit, or the smaller one asked for."""
    config = model.config.get_text_config()
    limits = [tokenizer.model_max_length, getattr(config, "max_position_embeddings", None) or 10**9]
    limit = limit or int(min(limits))
    if limit >= 10**9:
        limit = 512
    if window is None:
        return limit
    if require_count(window, "window", minimum=32) > limit:
        raise ValueError(f"window={window} is more than the {limit} tokens that this model takes")
    return window


def _judged_all(
    questions: Sequence[Question],
    rows_of: Callable[[Sequence[str], str], Rows],
    outputs_of: Callable[[Sequence[Row]], np.ndarray],
    places: Mapping[str, int],
    *,
    progress: bool,
) -> list[Judged | Exception]:
    """Answer each question: the best of its premises and windows, or the reason why it cannot be judged."""
    answers: list[Judged | Exception] = []
    batches = [questions[start : start + 64] for start in range(0, len(questions), 64)]
    sizes = [len(batch) for batch in batches]
    with one_bar(len(questions), "inference", "pair", show=progress):
        for batch in steps(batches, sizes):
            answers += _answers_of(batch, rows_of, outputs_of, places)
    return answers


def _answers_of(
    batch: Sequence[Question],
    rows_of: Callable[[Sequence[str], str], Rows],
    outputs_of: Callable[[Sequence[Row]], np.ndarray],
    places: Mapping[str, int],
) -> list[Judged | Exception]:
    rows: list[Row] = []
    spans: list[list[tuple[int, int | None]] | Exception] = []
    for evidence, claim in batch:
        try:
            parts = rows_of(evidence, claim)
        except ContextTooLong as error:
            spans.append(error)
            continue
        spans.append([(len(rows) + i, place) for i, (place, _) in enumerate(parts)])
        rows += [row for _, row in parts]
    outputs = outputs_of(rows)
    return [s if isinstance(s, Exception) else _best(s, outputs, places) for s in spans]


def _best(spans: Sequence[tuple[int, int | None]], outputs: np.ndarray, places: Mapping[str, int]) -> Judged:
    row, evidence = max(spans, key=lambda span: outputs[span[0], places["entailment"]])
    details: JsonDict = {name: float(outputs[row, place]) for name, place in places.items()}
    if evidence is not None:
        details["decided_by"] = evidence
    return min(1.0, details["entailment"]), details


def _by_sentence(
    questions: Sequence[Question], ask: Callable[[Sequence[Question]], list[Judged | Exception]]
) -> list[Judged | Exception]:
    """Answer each question with the mean over the sentences of its claim."""
    parts = [[(evidence, part) for part in split_text(claim, lang="en") or [claim]] for evidence, claim in questions]
    answers = iter(ask([part for group in parts for part in group]))
    found: list[Judged | Exception] = []
    for group in parts:
        replies = [next(answers) for _ in group]
        failed = next((one for one in replies if isinstance(one, Exception)), None)
        shares = [float(one[0]) for one in replies if not isinstance(one, Exception)]
        mean = sum(shares) / len(replies)
        found.append(failed or (mean, {"entailment": mean}))
    return found


class LLMChecker:
    """Whether a sentence follows from its evidence: a language model's probability.

    A model whose server gives no probabilities says yes or no, and the verdict is hard: supported or not, or unclear
    where the model says neither. No threshold applies.

    Parameters
    ----------
    backend : Backend or str
        `TransformersBackend`, `LlamaCppBackend`, `ServerBackend` or your own; or its name, as in `"llm:FOLDER"`.
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
        self.backend, self.options = load_backend(backend), _fitting_options(options)
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
        # the findings of a stored verdict depend on the threshold, too
        if self.finder.mode != "sentence":
            parts += [f"claims={self.finder.fingerprint}", f"threshold={self.threshold}"]
        return ";".join(parts)

    def __repr__(self) -> str:
        shown = f"{self.backend.name!r}, claims={self.finder.fingerprint!r}"
        return f"LLMChecker({shown}, threshold={self.threshold}, {reads(self)})"

    def check_many(self, pairs: Sequence[Pair], *, vectors: Sequence[PairVectors] | None = None) -> list[Verdict]:
        """Return one verdict for each pair of (evidence sentences, summary sentence).

        `vectors` are not needed.
        """
        if self.samples:
            found = zip(*(one.check_many(pairs) for one in self.by_sample), strict=True)
            return [of_samples(verdicts, self.threshold) for verdicts in found]
        return judge_claims(pairs, self.finder, self.threshold, self._ask)

    @property
    def by_sample(self) -> list[LLMChecker]:
        """A checker for each sample, whose verdicts are hard."""
        return [self._of_sample(number) for number in range(self.samples)]

    def _of_sample(self, number: int) -> LLMChecker:
        drawing = copy.copy(self)
        drawing.samples, drawing._sample = 0, number
        return drawing

    def _ask(self, questions: list[Question]) -> list[Judged | Exception]:
        prompts = [filled(self.prompt, evidence, claim) for evidence, claim in questions]
        shown = "asking the model" if self.progress else ""
        drawn = {} if self._sample is None else {"sample": self._sample}
        answers = self.backend.choose_many(prompts, self.options, workers=self.workers, progress=shown, **drawn)
        return [self._judged(answered(answer)) for answer in answers]

    def _judged(self, answer: Choice | BackendError) -> Judged | BackendError:
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


def _fitting_options(options: Sequence[str]) -> tuple[str, str]:
    if isinstance(options, str) or len(options) != 2 or options[0] == options[1]:
        raise ValueError(f"options must be two different answers, the first for supported, not {options!r}")
    return options[0], options[1]
