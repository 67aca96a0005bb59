"""Chapter 42: thresholds with a guarantee. Exact numbers, a promise that is kept in simulations, bad input by table."""

import json
import math
import re

import numpy as np
import pytest
from helpers.late import Late

from summeval_nb import Verdict, evaluate
from summeval_nb.evidence import accepted_needed, error_bound, guarantee_thresholds, guaranteed_threshold
from summeval_nb.evidence.guarantee import FACTS

pd = Late("pandas")
stats = Late("scipy.stats")


@pytest.mark.parametrize(
    ("errors", "risk", "confidence", "needed"),
    [
        (0, 0.1, 0.9, 22),  # .9**21 = .109, .9**22 = .098
        (1, 0.1, 0.9, 38),
        (2, 0.1, 0.9, 52),
        (0, 0.05, 0.95, 59),  # the rule of three: about 3 / .05
        (0, 0.01, 0.95, 299),
        (0, 0.5, 0.9, 4),
    ],
)
def test_how_many_accepted_are_needed(errors, risk, confidence, needed):
    assert accepted_needed(errors, risk=risk, confidence=confidence) == needed
    assert stats.binom.cdf(errors, needed, risk) <= 1 - confidence < stats.binom.cdf(errors, needed - 1, risk)


@pytest.mark.parametrize(("errors", "accepted"), [(0, 1), (0, 22), (3, 50), (7, 7), (20, 200)])
def test_the_bound_is_scipys_exact_one(errors, accepted):
    for confidence in (0.9, 0.95):
        expected = stats.binomtest(errors, accepted, alternative="less").proportion_ci(confidence, "exact").high
        assert error_bound(errors, accepted, confidence=confidence) == pytest.approx(expected, abs=1e-12)


def test_nothing_accepted_bounds_nothing():
    assert error_bound([0, 5], [0, 5]).tolist() == [1.0, 1.0]


def surer_is_better(rng, n):
    p = rng.beta(2, 1, n)
    return p, (rng.random(n) < 1 / (1 + np.exp(-8 * (p - 0.45)))).astype(int)


def at_the_edge(rng, n):
    """Everything below .9 errs in just a little more than one case of ten: the worst that can happen to a walk."""
    p = rng.random(n)
    return p, (rng.random(n) < np.where(p > 0.9, 0.95, 0.89)).astype(int)


def overconfident(rng, n):
    p, label = surer_is_better(rng, n)
    return 0.97 + 0.03 * p, label


@pytest.mark.nightly
@pytest.mark.parametrize("side", ["supported", "contradicted"])
@pytest.mark.parametrize("n", [60, 150, 400])
@pytest.mark.parametrize("world", [surer_is_better, at_the_edge, overconfident])
def test_the_promise_is_kept_in_nine_of_ten_samples(world, n, side):
    def sample(rng, size):
        p, label = world(rng, size)
        return (p, label) if side == "supported" else (1 - p, 1 - label)

    p, label = sample(np.random.default_rng(9), 400_000)
    rng, broken, repetitions = np.random.default_rng(1), 0, 80
    for _ in range(repetitions):
        threshold = guaranteed_threshold(*sample(rng, n), side=side).threshold
        if threshold is not None:
            accepted = p >= threshold if side == "supported" else p <= threshold
            broken += (label[accepted] == (side == "contradicted")).mean() > 0.1
    assert broken <= stats.binom.ppf(0.999, repetitions, 0.1), f"{broken} of {repetitions}"


def test_articles_are_the_units():
    """Ten sentences an article that are right or wrong together: without groups the promise breaks, with them not."""

    def sample(rng, articles):
        p, label = surer_is_better(rng, articles)
        return p.repeat(10), label.repeat(10), np.arange(articles).repeat(10)

    p, label, _ = sample(np.random.default_rng(9), 100_000)
    rng, broken = np.random.default_rng(2), np.zeros(2)
    for _ in range(100):
        *values, article = sample(rng, 60)
        for place, groups in enumerate((article, None)):
            threshold = guaranteed_threshold(*values, groups).threshold
            broken[place] += threshold is not None and label[p >= threshold].mean() < 0.9
    assert broken[0] <= 18 < broken[1]


def test_of_an_article_one_accepted_sentence_counts():
    ids = np.arange(30).repeat(4)
    p = np.tile([0.9, 0.9, 0.2, 0.1], 30)
    found = guaranteed_threshold(p, p > 0.5, ids)
    assert (found.n_accepted, found.n_articles, found.n_sentences, found.n_errors) == (30, 30, 120, 0)
    assert found.threshold == 0.21 and found.share_left == 0.5
    assert found.bound == pytest.approx(1 - 0.1 ** (1 / 30)) and found.signature["unit"] == "article"


def test_the_seed_draws_and_stands_in_the_signature():
    rng = np.random.default_rng(0)
    p, label = surer_is_better(rng, 600)
    ids = np.arange(600) // 3
    first, again, other = (guaranteed_threshold(p, label, ids, seed=seed) for seed in (0, 0, 1))
    assert first.to_dict() == again.to_dict()
    assert first.curve != other.curve and first.signature["seed"] == "0" and other.signature["seed"] == "1"


def test_failed_verdicts_are_left_out_and_counted():
    found = guaranteed_threshold([0.9] * 22 + [None] * 3, [1] * 22 + [0] * 3)
    assert found.n_failed == 3 and found.n_sentences == 22 and found.threshold == 0
    assert "3 more could not be judged" in str(found)


@pytest.mark.parametrize(
    ("p", "label", "reason"),
    [
        ([0.9] * 21, [1] * 21, "22 articles .* are needed, and 21 were judged: label at least 1 articles more"),
        ([], [], "and 0 were judged: label at least 22"),
        ([None] * 30, [1] * 30, "and 0 were judged"),
        ([0.9] * 40, [1] * 38 + [0] * 2, "2 of 40 accepted are wrong: at that rate about 78 .* articles instead of 40"),
        ([0.9] * 40, [1] * 20 + [0] * 20, "20 of 40 accepted are wrong: more labels will not help"),
    ],
)
def test_none_says_how_many_labels_would_be_needed(p, label, reason):
    found = guaranteed_threshold(p, label)
    assert found.threshold is None and found.guaranteed == [] and not found.accepts(1.0)
    assert re.search(reason, found.reason), found.reason
    assert found.reason in str(found) and json.loads(json.dumps(found.to_dict()))["score"] is None
    assert found.share_left == (1.0 if found.n_sentences else None)


def test_the_number_needed_is_enough_at_that_rate():
    label = [1] * 38 + [0] * 2
    needed = int(guaranteed_threshold([0.9] * 40, label).reason.partition("about ")[2].split()[0])
    assert guaranteed_threshold([0.9] * needed, [1] * (needed - 4) + [0] * 4).threshold is not None
    assert guaranteed_threshold([0.9] * (needed - 1), [1] * (needed - 5) + [0] * 4).threshold is None


GOOD = ([0.9] * 3, [1] * 3)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([0.9, 1.2], [1, 1]), {}, ValueError, r"probabilities\[1\].*1.2"),
        (([0.9, math.nan], [1, 1]), {}, ValueError, r"probabilities\[1\].*nan"),
        (([0.9, "high"], [1, 1]), {}, TypeError, r"probabilities\[1\].*str"),
        (("high", [1, 1]), {}, TypeError, "probabilities must be a list"),
        ((0.9, 1), {}, TypeError, "probabilities must be a list"),
        (([0.9, 0.8], [1, 2]), {}, ValueError, r"labels\[1\].*2"),
        (([0.9, 0.8], [1, None]), {}, ValueError, r"labels\[1\].*None"),
        (([0.9, 0.8], [1, "yes"]), {}, ValueError, r"labels\[1\].*yes"),
        (([0.9, 0.8], [1]), {}, ValueError, "2 probabilities, 1 labels"),
        (([0.9, 0.8], [1, 0], ["a"]), {}, ValueError, "1 groups"),
        (([0.9, 0.8], [1, 0], ["a", ["b"]]), {}, TypeError, r"groups\[1\].*\['b'\]"),
        (([0.9, 0.8], [1, 0], ["a", None]), {}, TypeError, r"groups\[1\].*None"),
        (GOOD, {"risk": 0}, ValueError, "risk.*0"),
        (GOOD, {"risk": "low"}, TypeError, "risk.*str"),
        (GOOD, {"confidence": 1}, ValueError, "confidence.*1"),
        (GOOD, {"confidence": 90}, ValueError, "confidence.*90"),
        (GOOD, {"side": "unclear"}, ValueError, "side.*unclear"),
        (GOOD, {"seed": -1}, ValueError, "seed"),
        (GOOD, {"seed": 1.5}, TypeError, "seed"),
    ],
)
def test_bad_input_is_named(arguments, options, error, message):
    with pytest.raises(error, match=message):
        guaranteed_threshold(*arguments, **options)


@pytest.mark.parametrize("bad", [{"errors": -1}, {"errors": 1.5}, {"risk": 1}, {"confidence": 0}])
def test_bad_numbers_of_a_promise(bad):
    with pytest.raises((TypeError, ValueError), match=next(iter(bad))):
        accepted_needed(**bad)
    with pytest.raises(ValueError, match="errors must lie between 0"):
        error_bound(3, 2)


def test_a_guarantee_shows_itself_and_keeps_what_it_promised():
    p, label = surer_is_better(np.random.default_rng(0), 300)
    found = guaranteed_threshold(p, label)
    assert float(found) == found.threshold == found.guaranteed[-1]
    assert found.bound <= found.risk and found.accepts(1.0) and not found.accepts(0.0)
    data = json.loads(json.dumps(found.to_dict()))
    assert {"side", *FACTS, "score", "signature", "rows"} <= set(data) and data["n_articles"] == 300
    assert list(found.to_frame()) == ["threshold", "accepted", "errors", "share_left", "bound", "guaranteed"]
    assert "with 90 % confidence" in found._repr_html_() and "<table>" in found._repr_html_()
    assert found.plot().get_xlabel() == "threshold for supported"
    stricter = found.at(found.guaranteed[0])
    assert stricter.share_left > found.share_left and stricter.bound <= 0.1
    with pytest.raises(ValueError, match="no promise was made for 0"):
        found.at(0.0)
    with pytest.raises(ValueError, match="nothing to draw"):
        guaranteed_threshold([], []).plot()


class Fixed:
    """A checker that says what stands in the evidence; a minus sign is a failure."""

    fingerprint, threshold = "fixed-1", 0.5

    def check_many(self, pairs, *, vectors=None):
        numbers = [float(evidence[0]) for evidence, _ in pairs]
        failure = {"failed": True, "reason": "asked to fail", "probability": None}
        return [Verdict(**failure) if number < 0 else Verdict(probability=number) for number in numbers]


def rows(count, probability, label, start=0):
    return [
        {"evidence": [str(probability)], "sentence": "It is.", "label": label, "article_id": start + i}
        for i in range(count)
    ]


def test_calibrate_finds_both_sides_and_says_on_what():
    labelled = rows(30, 0.9, 1) + rows(30, 0.1, 0, 100) + rows(10, 0.5, 1, 200) + rows(10, 0.5, 0, 300)
    labelled += rows(2, -1, 0, 400)
    found = guarantee_thresholds(labelled, Fixed(), name="<b>a set</b>")
    assert found.opposite.threshold < found.threshold
    assert [found.state(p) for p in (0.05, 0.1, 0.9, 1)] == ["contradicted", "contradicted", "supported", "supported"]
    assert found.n_failed == 2 and found.signature["set"] == "<b>a set</b>"
    assert found.opposite.signature["checker"] == "fixed-1" and "fixed-1" in found._repr_html_()
    assert "<b>a set" not in found._repr_html_() and "&lt;b&gt;a set" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["opposite"]["n_sentences"] == 80
    assert (found.side, found.opposite.side) == ("supported", "contradicted")
    table = guarantee_thresholds(pd.DataFrame(labelled), Fixed(), name="<b>a set</b>")
    assert table.to_dict() == found.to_dict()


def test_what_both_sides_would_claim_goes_to_one_of_them():
    found = guarantee_thresholds(rows(100, 0.97, 1) + rows(100, 0.02, 0, 500), Fixed())
    assert found.opposite.threshold < found.threshold
    assert found.share_unclear == 0 and abs(found.threshold - 0.5) < 0.011
    assert (found.state(0.97), found.state(0.02)) == ("supported", "contradicted")
    everything = guarantee_thresholds(rows(100, 0.97, 1), Fixed())
    assert everything.state(0.97) == "supported" and everything.opposite.threshold is None


def test_with_few_labels_everything_is_unclear():
    found = guarantee_thresholds(rows(10, 0.9, 1), Fixed())
    assert (found.state(1.0), found.state(0.0), found.share_unclear) == ("unclear", "unclear", 1.0)
    assert "label at least 12 articles more" in str(found)
    assert guarantee_thresholds([], Fixed()).share_unclear is None


def test_sentences_with_the_same_evidence_are_one_article():
    labelled = [{"evidence": ["0.9"], "sentence": f"It is {i}.", "label": 1} for i in range(50)]
    assert guarantee_thresholds(labelled, Fixed()).n_articles == 1


def test_an_article_is_judged_as_evaluate_judges_it():
    article = "The bridge opened in 1931. It is 1,149 metres long. The mayor cut a ribbon."
    sentence = "The bridge opened in 1931."
    asked = []

    class Recorder(Fixed):
        def check_many(self, pairs, *, vectors=None):
            asked.extend(pairs)
            return [Verdict(probability=0.25 if "metres" in claim else 0.75) for _, claim in pairs]

    evaluate(article, sentence, 2, checker=Recorder())
    expected, asked = list(asked), []
    guarantee_thresholds([{"text": article, "sentence": sentence, "label": 1}], Recorder(), k=2)
    assert asked == expected and len(asked[0][0]) == 2
    two = f"{sentence} It is 1,149 metres long."
    found = guarantee_thresholds([{"article": article, "sentence": two, "label": 1}], Recorder(), k=2)
    curve = {row["threshold"]: row["accepted"] for row in found.curve}
    assert (curve[0.25], curve[0.26]) == (1, 0), "of two sentences the weaker one counts"
    empty = guarantee_thresholds([{"article": article, "sentence": "", "label": 0}], Recorder())
    assert empty.n_failed == 1


def test_rows_of_the_checker_bench_are_taken_too():
    rows = [{"article": "0.9", "text": "It is.", "supported": True, "kind": ""}] * 3
    named = [{"article": "0.9", "sentence": "It is.", "label": 1}] * 3
    assert guarantee_thresholds(rows, Fixed()).to_dict() == guarantee_thresholds(named, Fixed()).to_dict()


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ("It is.", TypeError, r"labelled\[0\] must be a mapping"),
        ({"sentence": "It is.", "label": 1}, ValueError, r"labelled\[0\] needs either 'evidence'"),
        ({"sentence": "s", "label": 1, "evidence": ["e"], "article": "a"}, ValueError, "needs either"),
        ({"sentence": "s", "label": 1, "evidence": "e"}, TypeError, r"\['evidence'\] must be a list"),
        ({"sentence": "s", "label": 1, "evidence": []}, ValueError, "no evidence sentence"),
        ({"sentence": "s", "label": 1, "article": 7}, TypeError, r"\['article'\] must be a string"),
        ({"label": 1, "article": "a"}, ValueError, "lacks 'sentence'"),
        ({"sentence": "s", "article": "a"}, ValueError, "lacks 'label'"),
        ({"sentence": 7, "label": 1, "article": "a"}, TypeError, r"\['sentence'\]"),
        ({"sentence": "s", "label": 0.5, "article": "a"}, ValueError, r"\['label'\].*0.5"),
        ({"sentence": "s", "label": 1, "evidence": ["0.9"], "article_id": ["x"]}, TypeError, r"groups\[0\]"),
    ],
)
def test_a_wrong_row_is_named(row, error, message):
    with pytest.raises(error, match=message):
        guarantee_thresholds([row], Fixed())


def test_other_wrong_arguments_of_calibrate():
    for labelled in ("text", {"sentence": "s"}, 7):
        with pytest.raises(TypeError, match="labelled must be a list"):
            guarantee_thresholds(labelled, Fixed())
    with pytest.raises(TypeError, match="name must be a string"):
        guarantee_thresholds([], Fixed(), name=None)
    with pytest.raises(ValueError, match="no-such"):
        guarantee_thresholds([], "no-such")

    class Short(Fixed):
        def check_many(self, pairs, *, vectors=None):
            return [0.5]

    with pytest.raises(TypeError, match="Short must return one Verdict per pair"):
        guarantee_thresholds(rows(1, 0.9, 1), Short())


def test_a_set_is_named_in_the_signature_before_the_version():
    found = guarantee_thresholds(rows(22, 0.9, 1), Fixed(), name="mine")
    assert list(found.signature)[-3:] == ["set", "checker", "version"] == list(found.opposite.signature)[-3:]
    assert (found.signature["set"], found.signature["checker"]) == ("mine", "fixed-1")


def test_errors_and_accepted_are_arrays_of_one_shape():
    assert error_bound([0, 1], 2).shape == (2,)
    with pytest.raises(ValueError, match="errors must lie between 0 and the number accepted: got 3 and 2"):
        error_bound(3, 2)
