"""Sentences cut into claims, each different question asked once, and the answers put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from summeval_nb.core.base import JsonDict, require_option, require_text, require_texts
from summeval_nb.core.results import Finding, Verdict
from summeval_nb.evidence.base import failure
from summeval_nb.evidence.claims import (
    Annotator,
    Claim,
    about_arcs,
    about_entities,
    entities_by_rules,
    statements_by_model,
    statements_by_rules,
)
from summeval_nb.models.base import Backend, BackendError
from summeval_nb.models.load import load_backend

__all__ = ["CLAIMS", "COMBINATIONS", "ClaimFinder", "Judged", "Question", "judge_claims"]

Question = tuple[tuple[str, ...], str]  # evidence, claim


# probability, or a hard verdict, with details
Judged = tuple[float | str, JsonDict]


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
        _require_helpers(mode, annotator, splitter)
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
        by = "rules" if self.annotator is None else _annotator_name(self.annotator)
        by = by if self.splitter is None else self.splitter.fingerprint
        return f"{self.mode}:{by}:{self.combine}"

    def find(self, sentence: str) -> list[Claim]:
        """Return the claims of a sentence, one at least."""
        whole = [Claim(require_text(sentence, "sentence"), 0, len(sentence))]
        return (self._parts(sentence) if sentence.strip() else []) or whole

    def _parts(self, sentence: str) -> list[Claim]:
        if self.mode == "statements" and self.splitter is not None:
            return statements_by_model(sentence, self.splitter)
        if self.mode == "statements":
            return statements_by_rules(sentence)
        if self.mode == "entities":
            return about_entities(sentence, self._entities(sentence))
        return about_arcs(sentence, self.annotator) if self.annotator else []

    def _entities(self, sentence: str) -> list[tuple[int, int, str]]:
        if self.annotator is None:
            return entities_by_rules(sentence)
        return [(found.start_char, found.end_char, found.type) for found in self.annotator(sentence).ents]


def _require_helpers(mode: str, annotator: object, splitter: object) -> None:
    """Raise unless a way of cutting has what it needs, and nothing that it has no use for."""
    if mode == "arcs" and annotator is None:
        raise ValueError("claims='arcs' needs a parser: annotator=stanza.Pipeline('en', download_method=None, ...)")
    for name, value, modes in (("annotator", annotator, ("entities", "arcs")), ("splitter", splitter, ("statements",))):
        if value is not None and mode not in modes:
            raise ValueError(f"{name} is for claims={' or '.join(map(repr, modes))}, not for {mode!r}: leave it out")


def _annotator_name(annotator: Any) -> str:
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
    ask: Callable[[list[Question]], Sequence[Judged | Exception]],
) -> list[Verdict]:
    """Return one verdict a pair (evidence sentences, sentence), by asking its claims.

    Each different question is asked once, with `ask`; the answers are combined.
    """
    found: list[tuple[tuple[str, ...], str, list[Claim] | BackendError]] = []
    asked: dict[Question, None] = {}
    for index, (evidence, sentence) in enumerate(pairs):
        texts = tuple(require_texts(evidence, f"pairs[{index}][0]"))
        text = require_text(sentence, f"pairs[{index}][1]")
        try:
            claims = finder.find(text)
            found.append((texts, text, claims))
            asked |= dict.fromkeys((texts, claim.text) for claim in claims)
        except BackendError as error:
            found.append((texts, text, error))
    answers = dict(zip(asked, ask(list(asked)) if asked else [], strict=True))
    verdicts = []
    for texts, text, cut in found:
        if isinstance(cut, BackendError):
            verdicts.append(failure(cut, threshold))
        else:
            judged = [answers[texts, claim.text] for claim in cut]
            by = COMBINATIONS[finder.combine]
            verdicts.append(_combined(text, cut, judged, threshold, finder, by))
    return verdicts


def _combined(
    sentence: str,
    claims: Sequence[Claim],
    judged: Sequence[Judged | Exception],
    threshold: float,
    finder: ClaimFinder,
    of_parts: Callable[[Sequence[float]], float],
) -> Verdict:
    """One verdict from the answers to a sentence's claims; `of_parts` makes one probability of theirs."""
    errors = [answer for answer in judged if isinstance(answer, Exception)]
    if errors:
        return failure(errors[0], threshold)
    answers = [answer for answer in judged if not isinstance(answer, Exception)]
    said = _said_of([p for p, _ in answers], of_parts)
    if finder.mode == "sentence":
        return Verdict(**said, threshold=threshold, details=answers[0][1])
    parts: list[JsonDict] = [
        {
            "text": claim.text,
            "start": claim.start,
            "end": claim.end,
            "hard" if isinstance(p, str) else "probability": p,
            **_numbers(details),
        }
        for claim, (p, details) in zip(claims, answers, strict=True)
    ]
    details: JsonDict = {"claims": parts, "combine": finder.combine}
    if all("probability_mass" in part for part in parts):
        details["probability_mass"] = min(part["probability_mass"] for part in parts)
    weak = [
        c
        for c, part in zip(claims, parts, strict=True)
        if part.get("probability", 0.0) < threshold and part.get("hard") != "supported"
    ]
    findings = [Finding("claim", sentence[c.start : c.end], c.start, c.end) for c in weak]
    return Verdict(**said, threshold=threshold, findings=findings, details=details)


def _said_of(parts: Sequence[float | str], of_parts: Callable[[Sequence[float]], float]) -> JsonDict:
    """A sentence's probability, or its hard verdict: the worst of its claims' is."""
    numbers = [p for p in parts if not isinstance(p, str)]
    if len(numbers) == len(parts):
        return {"probability": of_parts(numbers)}
    worst = (state for state in ("contradicted", "unclear") if state in parts)
    return {"probability": None, "hard": next(worst, "supported")}


def _numbers(details: Mapping[str, object]) -> dict[str, float]:
    return {name: value for name, value in details.items() if isinstance(value, float)}
