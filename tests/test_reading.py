"""The checker that reads: a clash is never supported, a verdict does not depend on its company, thresholds, figures."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from summeval_nb import EmbeddedChecker, WordsChecker, evaluate
from summeval_nb.evidence import _reading
from summeval_nb.evidence._packaged import encode_pairs
from summeval_nb.evidence._reader import load_reader
from summeval_nb.evidence._reading import ALL_FEATURES, WORD_FEATURES, fitted, forest
from summeval_nb.ground.results import Finding, Verdict
from summeval_nb.judged.judge import _label
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


def test_without_a_clash_the_border_of_contradicted_follows_the_reader():
    claims, near_copies = ["zebras graze quietly", "The harbour has a library.", *TRUE], 0
    for verdict in EmbeddedChecker().check_many([(ARTICLE, one) for one in claims]):
        features = verdict.details["features"]
        border = fitted()["thresholds"]["unfound"] + _reading.DENIED * features["all_contradicted"]
        expected = min(0.5, 1 / (1 + math.exp(-border)))
        if features["edit"] >= _reading.NEAR_COPY:  # nearly all of it was found
            near_copies, expected = near_copies + 1, 0.0
        assert not any(one.clash for one in verdict.findings)
        assert verdict.contradicted_below == pytest.approx(expected, abs=1e-12)
    assert 0 < near_copies < len(claims)
    shy = EmbeddedChecker(contradicted_below=0.01)
    assert all(one.state != "contradicted" for one in shy.check_many([(ARTICLE, one) for one in claims]))
    less, more = ({"features": {"all_contradicted": one}} for one in (-2.0, -1.0))
    assert EmbeddedChecker().contradicted_below_of([], less) < EmbeddedChecker().contradicted_below_of([], more) < 0.5
    assert EmbeddedChecker().contradicted_below_of([], {}) == 0  # a verdict without features


def test_far_from_the_words_of_the_evidence_an_opposite_condemns_nothing_by_itself():
    checker, clash = EmbeddedChecker(), Finding("antonym", "fell", 0, 4, clash=True)
    far, near = ({"features": {"near_coverage": one, "all_contradicted": -2.0}} for one in (0.3, 0.8))
    assert checker.contradicted_below_of([clash], near) == 0.5
    assert checker.contradicted_below_of([clash], far) == checker.contradicted_below_of([], far) < 0.5
    for kind in ("name", "role", "replaced"):
        assert checker.contradicted_below_of([clash._replace(kind=kind)], far) == 0.5
    shown = clash._replace(clash=False)
    assert checker.contradicted_below_of([shown], near) == checker.contradicted_below_of([], near)
    assert checker.contradicted_below_of([clash], {}) == 0.5  # a verdict without features
    for details, label in ((near, "contradicted"), (far, "neutral")):  # a judge says the same
        assert _label(Verdict(probability=0.1, contradicted_below=0.4, findings=[clash], details=details)) == label


def test_a_report_says_where_nothing_clashes():
    hint = "too little of it was found: read the evidence"
    unfound = evaluate(" ".join(ARTICLE), "Heavy rain flooded the cellar.")
    assert unfound.verdicts[0].state == "contradicted" and hint in unfound.to_text() and hint in unfound._repr_html_()
    assert hint not in evaluate(" ".join(ARTICLE), FALSE[0]).to_text()
    assert hint not in evaluate(" ".join(ARTICLE), "Heavy rain flooded the cellar.", checker="words").to_text()
    unrelated = evaluate(" ".join(ARTICLE), "Zebras graze quietly.").verdicts[0]
    assert unrelated.state != "supported" and unrelated.probability < 0.5


def test_a_verdict_does_not_depend_on_its_company_nor_on_who_made_the_vectors(verdicts):
    for claim, verdict in verdicts.items():
        pair = [(ARTICLE, claim)]
        (alone,) = EmbeddedChecker().check_many(pair)
        (given,) = EmbeddedChecker().check_many(pair, vectors=encode_pairs(pair, load_embedder("minilm")))
        assert alone.probability == pytest.approx(verdict.probability, abs=1e-4)
        assert given.probability == pytest.approx(alone.probability, abs=1e-6)
        assert (alone.state, alone.findings) == (verdict.state, verdict.findings)


def test_what_moved_a_verdict_adds_up(verdicts):
    how, usual = fitted()["calibration"]["same_words"], fitted()["calibration"]["usual"]
    start = how["offset"] + how["tree"] * forest().base
    start += sum(how[part] * usual[part] for part in ("words", "reader", "denied"))
    assert start == pytest.approx(_reading.starting_logit())
    for verdict in verdicts.values():
        moved = verdict.details["contributions"]
        assert set(moved) <= {*ALL_FEATURES, "in_place", "own_words"} and set(verdict.details["features"]) >= set(moved)
        assert start + sum(moved.values()) == pytest.approx(
            verdict.details["logit"], abs=0.2
        )  # what moved < .005 is left out
        assert verdict.probability == pytest.approx(1 / (1 + math.exp(-verdict.details["logit"])))


def test_a_claim_is_told_in_its_own_words_if_few_stand_in_one_sentence_and_no_name_or_number_is_new():
    how = fitted()["calibration"]

    def own(near_coverage: float, names_new: float = 0, numbers_missing: float = 0) -> float:
        row = {"near_coverage": near_coverage, "names_new": names_new, "numbers_missing": numbers_missing}
        return float(_reading.own_words(row))

    shares = [own(one / 10) for one in range(11)]
    assert shares == sorted(shares, reverse=True) and shares[0] == 1 and shares[7:] == [0, 0, 0, 0]
    assert own(0.1, names_new=1) == own(0.1, numbers_missing=1) == 0 < own(0.5) < 1
    assert _reading._mixture(0.0) == how["same_words"] and _reading._mixture(1.0) == how["own_words"]
    assert how["own_words"]["reader"] > how["same_words"]["reader"] > 0
    assert how["same_words"]["words"] > how["own_words"]["words"] > 0
    assert how["own_words"]["denied"] < how["same_words"]["denied"] < 0


def test_what_a_feature_says_counts_by_how_far_a_claim_is_told_in_its_own_words(verdicts):
    for verdict in verdicts.values():
        features = verdict.details["features"]
        own = features["own_words"]
        assert own == float(_reading.own_words(features)) and 0 <= own <= 1
        how, usual = _reading._mixture(own), fitted()["calibration"]["usual"]
        names = forest().names
        logits, _ = forest().contributions(np.array([[features[name] for name in names]]))
        logit = how["offset"] + how["tree"] * logits[0] - _reading.IN_PLACE * features["in_place"]
        logit += sum(how[part] * features[name] for part, name in _reading.BESIDE_TREES.items())
        assert logit == pytest.approx(verdict.details["logit"], abs=1e-6) and set(usual) == set(_reading.BESIDE_TREES)


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


def test_the_report_says_who_judged():
    result = evaluate(" ".join(ARTICLE), TRUE[0])
    for page in (" ".join(result.to_text().split()), result._repr_html_(), str(result.to_dict()["judged_by"])):
        assert "Judged by the embedded checker, a quick first reader" in page
    own = evaluate(" ".join(ARTICLE), TRUE[0], threshold=0.5)
    assert "set by you" in own.judged_by and not own.report().measured
    assert "set by you" in EmbeddedChecker(contradicted_below=0.1).judged_by


def test_the_signature_names_both_thresholds():
    one = evaluate("It rained.", "It rained.", checker=EmbeddedChecker(threshold=0.8, contradicted_below=0.2)).signature
    assert (one["threshold"], one["contradicted_below"]) == ("0.8", "0.2")
    assert "contradicted_below" not in evaluate("It rained.", "It rained.", checker="words").signature


def test_a_claim_without_a_word_fails_alone():
    bad, good = EmbeddedChecker().check_many([(ARTICLE, "***"), (ARTICLE, TRUE[0])])
    assert bad.failed and "no word" in bad.reason and good.state == "supported"


def test_features_are_those_of_the_day_they_were_fitted_on():
    """Stored before the first storey was made faster; vectors of another machine differ in the seventh digit."""
    stored = json.loads((Path(__file__).parent / "reading_features.json").read_text(encoding="utf-8"))
    verdicts = EmbeddedChecker().check_many([(ARTICLE, one["claim"]) for one in stored])
    for one, verdict in zip(stored, verdicts, strict=True):
        words = {name: value for name, value in verdict.details["features"].items() if name in WORD_FEATURES}
        assert words == pytest.approx(one["features"], abs=2e-5), one["claim"]


def test_the_same_window_is_read_once(monkeypatch):
    read = []

    class Counting:
        def read(self, pairs, wide):
            read.extend((tuple(evidence), claim, i in wide) for i, (evidence, claim) in enumerate(pairs))
            return load_reader().read(pairs, wide=wide)

    monkeypatch.setattr("summeval_nb.evidence._reader.load_reader", lambda precision, device: Counting())
    EmbeddedChecker().check_many([(ARTICLE[:2], TRUE[0]), (ARTICLE[:1], TRUE[0]), (ARTICLE, TRUE[0])])
    assert len(read) == len(set(read)) < 6  # two windows a pair


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_shorter_numbers_move_a_verdict_by_little(precision):
    pairs = [(ARTICLE, claim) for claim in TRUE + FALSE]
    here, there = (EmbeddedChecker(precision=one).check_many(pairs) for one in ("float32", precision))
    moved = [abs(a.probability - b.probability) for a, b in zip(here, there, strict=True)]
    assert sum(moved) / len(moved) <= 0.005
    assert [v.details["reader"] for v in here] != [v.details["reader"] for v in there]  # it has been read in those


def test_precision_and_device_are_part_of_the_fingerprint():
    names = [("float32", "cpu"), ("int8", "cpu"), ("bfloat16", "cpu"), ("bfloat16", "cuda"), ("float32", "cuda:0")]
    found = [_reading.fingerprint(1.0, 0.0, *name) for name in names]
    assert len(set(found)) == len(found) and found[-1] == _reading.fingerprint(1.0, 0.0, "float32", "cuda:1")
    assert found[0] == EmbeddedChecker().fingerprint and found[1] == EmbeddedChecker(precision="int8").fingerprint


@pytest.mark.parametrize("kind", [WordsChecker, EmbeddedChecker])
def test_both_packaged_checkers_are_recalibrated_alike(kind):
    one = kind(threshold=0.7).calibrate([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    assert type(one) is kind and one.threshold == 0.7 and (one.slope, one.offset) != (1.0, 0.0)
    with pytest.raises(ValueError, match="run against the scores"):
        kind().calibrate([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0])
    short = EmbeddedChecker(precision="bfloat16", contradicted_below=0.2).calibrate([0.1, 0.9], [0, 1])
    assert (short.precision, short.contradicted_below) == ("bfloat16", 0.2)
