"""The checker that reads: a clash is never supported, a verdict does not depend on its company, thresholds, figures."""

import math

import pytest

from summeval_nb import EmbeddedChecker, evaluate, load_checker
from summeval_nb.evidence import _reading
from summeval_nb.evidence._reading import ALL_FEATURES, fitted, forest
from summeval_nb.evidence.check import _encode_pairs
from summeval_nb.evidence.guarantee import error_bound
from summeval_nb.text.embed import load_embedder

ARTICLE = [
    "The harbour board approved the new ferry terminal on Tuesday after a debate of four hours.",
    "It will cost 48 million crowns, of which the state pays 12 million.",
    "Mayor Ilse Brandt defeated Henrik Solberg in the vote.",
    "No one was hurt when the old pier collapsed in 1998.",
]
TRUE = ["The harbour board approved the new ferry terminal on Tuesday.", "It will cost 48 million crowns."]
FALSE = [
    "The harbour board rejected the new ferry terminal on Tuesday.",
    "It will cost 84 million crowns.",
    "The state pays 48 million of which.",
    "The harbour board did not approve the new ferry terminal on Tuesday.",
    "Henrik Solberg defeated Mayor Ilse Brandt in the vote of the board.",
    "The harbour board approved the new ferry terminal on Friday.",
]


@pytest.fixture(scope="module")
def verdicts():
    claims = TRUE + FALSE
    return dict(zip(claims, EmbeddedChecker().check_many([(ARTICLE, claim) for claim in claims]), strict=True))


@pytest.mark.parametrize("claim", TRUE)
def test_what_the_article_says_is_supported(verdicts, claim):
    assert verdicts[claim].state == "supported"


@pytest.mark.parametrize("claim", FALSE)
def test_one_changed_fact_is_not(verdicts, claim):
    assert verdicts[claim].state != "supported"


def test_a_clash_is_never_supported_however_low_the_threshold():
    checker = EmbeddedChecker(threshold=0.0)
    for claim, verdict in zip(FALSE, checker.check_many([(ARTICLE, claim) for claim in FALSE]), strict=True):
        if any(finding.clash for finding in verdict.findings):
            assert verdict.state == "unclear", claim
    assert checker.check_many([(ARTICLE, TRUE[0])])[0].state == "supported"


def test_a_low_probability_alone_does_not_contradict():
    (verdict,) = EmbeddedChecker().check_many([(ARTICLE, "zebras graze quietly")])
    assert verdict.probability < 0.5 and not any(one.clash for one in verdict.findings)
    assert verdict.state == "unclear"


def test_a_verdict_does_not_depend_on_its_company_nor_on_who_made_the_vectors(verdicts):
    for claim, verdict in verdicts.items():
        pair = [(ARTICLE, claim)]
        (alone,) = EmbeddedChecker().check_many(pair)
        (given,) = EmbeddedChecker().check_many(pair, vectors=_encode_pairs(pair, load_embedder("minilm")))
        assert alone.probability == pytest.approx(verdict.probability, abs=1e-4)
        assert given.probability == pytest.approx(alone.probability, abs=1e-6)
        assert (alone.state, alone.findings) == (verdict.state, verdict.findings)


def test_what_moved_a_verdict_adds_up(verdicts):
    how = fitted()["calibration"]
    start = how["offset"] + how["tree"] * forest().base + how["words"] * how["words_mean"]
    for verdict in verdicts.values():
        moved = verdict.details["contributions"]
        assert set(moved) <= set(ALL_FEATURES) and set(verdict.details["features"]) >= set(moved)
        assert start + sum(moved.values()) == pytest.approx(
            verdict.details["logit"], abs=0.2
        )  # what moved < .005 is left out
        assert verdict.probability == pytest.approx(1 / (1 + math.exp(-verdict.details["logit"])))


def test_thresholds_and_calibration_stand_beside_the_fingerprint():
    one = EmbeddedChecker()
    assert one.fingerprint == EmbeddedChecker(threshold=0.9).fingerprint
    assert one.fingerprint != EmbeddedChecker(slope=2).fingerprint != EmbeddedChecker(offset=1).fingerprint
    assert one.fingerprint != EmbeddedChecker(precision="bfloat16").fingerprint
    assert one.with_threshold(0.2).contradicted_below <= 0.2
    with pytest.raises(ValueError, match="must not be"):
        EmbeddedChecker(threshold=0.2, contradicted_below=0.3)
    with pytest.raises(ValueError, match="precision"):
        EmbeddedChecker(precision="int4")


def test_the_report_says_who_judged_and_how_well():
    result = evaluate(" ".join(ARTICLE), TRUE[0])
    measured = load_checker("embedded").measured["package"]
    for page in (result.to_text(), result._repr_html_(), str(result.to_dict()["judged_by"])):
        assert f"{measured['n']} sentences" in page and "nli:FOLDER" in page
    own = evaluate(" ".join(ARTICLE), TRUE[0], threshold=0.5)
    assert "set by you" in own.judged_by
    assert "set by you" in EmbeddedChecker(contradicted_below=0.1).judged_by


def test_the_report_says_what_is_promised_on_which_sets_and_what_is_left_unclear():
    stored = fitted()["promise"]
    assert (
        stored["errors"] <= stored["articles"] and error_bound(stored["errors"], stored["articles"]) <= stored["risk"]
    )
    assert [stored["errors"], stored["articles"]] == fitted()["guarantees"]["all"]["supported"][1:]
    assert set(stored["sets"]) == set(fitted()["measured"]["states"])
    result = evaluate(" ".join(ARTICLE), TRUE[0])
    for page in (result.to_text(), result._repr_html_(), str(result.to_dict()["judged_by"])):
        assert f"at most {stored['risk']:.0%} are not, with {stored['confidence']:.0%} confidence" in page
        assert "SummEval" in page and f"{stored['unclear']:.0%} of those sentences were left unclear" in page
    assert "at most" not in EmbeddedChecker(threshold=0.5).judged_by


def test_without_a_stored_promise_nothing_is_promised(monkeypatch):
    without = {key: value for key, value in fitted().items() if key != "promise"}
    monkeypatch.setattr(_reading, "fitted", lambda: without)
    line = EmbeddedChecker().judged_by
    assert "confidence" not in line and "  " not in line and f"{fitted()['measured']['package']['n']} sentences" in line


def test_the_signature_names_both_thresholds():
    one = evaluate("It rained.", "It rained.", checker=EmbeddedChecker(threshold=0.8, contradicted_below=0.2)).signature
    assert (one["threshold"], one["contradicted_below"]) == ("0.8", "0.2")
    assert "contradicted_below" not in evaluate("It rained.", "It rained.", checker="words").signature


def test_a_claim_without_a_word_fails_alone():
    bad, good = EmbeddedChecker().check_many([(ARTICLE, "***"), (ARTICLE, TRUE[0])])
    assert bad.failed and "no word" in bad.reason and good.state == "supported"


def test_figures_in_the_package_meet_their_floors():
    """Measured with whole sets left out by `benchmarks/fit_reading.py`; a refit that falls below is no improvement."""
    auc = fitted()["measured"]["auc"]
    floors = {"qags_cnndm": 0.802, "summeval": 0.777, "xsumfaith": 0.794, "defacto": 0.791, "summedits": 0.57}
    assert all(auc[name] >= floor for name, floor in floors.items()), auc
    assert fitted()["measured"]["edits_found_at_75_kept"] >= 0.85
