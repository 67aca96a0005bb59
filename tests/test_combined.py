"""Answers to claims as one verdict: findings below the threshold, failures whole, helpers only where they help."""

import pytest

from summeval_nb.evidence.checker import failure
from summeval_nb.evidence.claims import Claim, ClaimFinder, annotator_name, combined, require_helpers

SENTENCE = "Anna bought a car and Ben sold a boat"
CLAIMS = [Claim("Anna bought a car.", 0, 17), Claim("Ben sold a boat.", 22, 37)]


def together(*judged, mode="statements", of_parts=min):
    return combined(SENTENCE, CLAIMS, judged, 0.5, ClaimFinder(mode), of_parts)


def test_weak_parts_are_findings_and_every_part_is_told():
    verdict = together((0.9, {"mass": 0.8, "note": "text"}), (0.2, {"mass": 0.7}))
    assert verdict.probability == 0.2 and not verdict.supported
    assert [(one.kind, one.text, one.start, one.end) for one in verdict.findings] == [
        ("claim", "Ben sold a boat", 22, 37)
    ]
    assert verdict.details["combine"] == "minimum" and verdict.details["mass"] == 0.7
    assert verdict.details["claims"][0] == {**vars(CLAIMS[0]), "probability": 0.9, "mass": 0.8}


def test_a_mass_that_one_part_lacks_is_none_of_the_whole():
    assert "mass" not in together((0.9, {"mass": 0.8}), (0.2, {})).details


def test_one_failed_part_fails_the_sentence():
    verdict = together((0.9, {}), TimeoutError("busy"))
    assert verdict.failed and verdict.probability is None and verdict.reason == "TimeoutError: busy"
    assert verdict == failure(TimeoutError("busy"), 0.5)


def test_a_sentence_as_a_whole_keeps_its_details_and_has_no_findings():
    verdict = together((0.2, {"mass": 0.8}), mode="sentence")
    assert verdict.details == {"mass": 0.8} and not verdict.findings


@pytest.mark.parametrize(
    ("mode", "annotator", "splitter", "message"),
    [
        ("arcs", None, None, "needs a parser"),
        ("statements", print, None, "annotator is for claims='entities' or 'arcs', not for 'statements'"),
        ("entities", None, print, "splitter is for claims='statements'"),
    ],
)
def test_what_does_not_help_is_refused(mode, annotator, splitter, message):
    with pytest.raises(ValueError, match=message):
        require_helpers(mode, annotator, splitter)


def test_an_annotator_is_named_by_its_fingerprint_its_library_or_itself():
    class Named:
        fingerprint = "mine:1"

    class Plain:
        pass

    Foreign = type("Pipeline", (), {"__module__": "stanza.pipeline", "lang": "de"})
    assert annotator_name(Named()) == "mine:1"
    assert annotator_name(print) == "print"
    assert annotator_name(Plain()).endswith("Plain")
    stanza = pytest.importorskip("stanza")
    assert annotator_name(Foreign()) == f"stanza-{stanza.__version__}-de"
