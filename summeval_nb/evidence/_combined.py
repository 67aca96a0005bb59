# A plain private module: edited directly, exported by no notebook, tested in tests/test_combined.py.
"""The answers to a sentence's claims as one verdict, and what else a finder of claims needs to say of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from summeval_nb.ground.results import Finding, Verdict

from ..ground.base import JsonDict

if TYPE_CHECKING:
    from summeval_nb.evidence.claims import Claim, ClaimFinder, Judged


def require_helpers(mode: str, annotator: object, splitter: object) -> None:
    """Raise unless a way of cutting has what it needs, and nothing that it has no use for."""
    if mode == "arcs" and annotator is None:
        raise ValueError("claims='arcs' needs a parser: annotator=stanza.Pipeline('en', download_method=None, ...)")
    for name, value, modes in (
        ("annotator", annotator, ("entities", "arcs")),
        ("splitter", splitter, ("statements",)),
    ):
        if value is not None and mode not in modes:
            raise ValueError(f"{name} is for claims={' or '.join(map(repr, modes))}, not for {mode!r}: leave it out")


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


def failure(error: Exception, threshold: float) -> Verdict:
    """The verdict on a sentence that could not be judged, with the reason."""
    return Verdict(probability=None, threshold=threshold, failed=True, reason=f"{type(error).__name__}: {error}")


def combined(
    sentence: str,
    claims: Sequence[Claim],
    judged: Sequence[Judged | Exception],
    threshold: float,
    finder: ClaimFinder,
    of_parts: Callable[[Sequence[float]], float],
) -> Verdict:
    """One verdict from the answers to a sentence's claims; `of_parts` makes one probability of theirs."""
    errors = [one for one in judged if isinstance(one, Exception)]
    if errors:
        return failure(errors[0], threshold)
    answers = [one for one in judged if not isinstance(one, Exception)]
    probability = of_parts([p for p, _ in answers])
    if finder.mode == "sentence":
        return Verdict(probability=probability, threshold=threshold, details=answers[0][1])
    parts: list[JsonDict] = [
        {"text": claim.text, "start": claim.start, "end": claim.end, "probability": p, **_numbers(details)}
        for claim, (p, details) in zip(claims, answers, strict=True)
    ]
    details: JsonDict = {"claims": parts, "combine": finder.combine}
    if all("mass" in part for part in parts):
        details["mass"] = min(part["mass"] for part in parts)
    weak = [c for c, part in zip(claims, parts, strict=True) if part["probability"] < threshold]
    findings = [Finding("claim", sentence[c.start : c.end], c.start, c.end) for c in weak]
    return Verdict(probability=probability, threshold=threshold, findings=findings, details=details)


def _numbers(details: Mapping[str, object]) -> dict[str, float]:
    return {name: value for name, value in details.items() if isinstance(value, float)}
