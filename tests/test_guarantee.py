"""Chapter 42: thresholds with a guarantee. Exact numbers, a promise that is kept in simulations, bad input by table."""

import json
import re

import numpy as np
import pytest
from helpers.late import Late
from helpers.says import Says

from summeval_nb import evaluate
from summeval_nb.evidence import accepted_needed, error_bound, guarantee_thresholds, guaranteed_threshold
from summeval_nb.evidence.guarantee import FACTS

pd = Late("pandas")
stats = Late("scipy.stats")


def test_needed_labels_and_bounds_are_scipys_exact_ones():
    for errors, risk, confidence, needed in (
        (0, 0.1, 0.9, 22),  # .9**21 = .109, .9**22 = .098
        (2, 0.1, 0.9, 52),
        (0, 0.05, 0.95, 59),  # the rule of three: about 3 / .05
        (0, 0.5, 0.9, 4),
    ):
        assert accepted_needed(errors, risk=risk, confidence=confidence) == needed
        assert stats.binom.cdf(errors, needed, risk) <= 1 - confidence < stats.binom.cdf(errors, needed - 1, risk)
    for errors, accepted in ((0, 1), (0, 22), (3, 50), (7, 7), (20, 200)):
        expected = stats.binomtest(errors, accepted, alternative="less").proportion_ci(0.95, "exact").high
        assert error_bound(errors, accepted, confidence=0.95) == pytest.approx(expected, abs=1e-12)
    assert error_bound([0, 5], [0, 5]).tolist() == [1.0, 1.0]


def surer_is_better(rng, n):
    p = rng.beta(2, 1, n)
    return p, (rng.random(n) < 1 / (1 + np.exp(-8 * (p - 0.45)))).astype(int)


def at_the_edge(rng, n):
    """Everything below .9 errs in just a little more than one case of ten, the worst that can happen to a walk."""
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
    p, label = surer_is_better(np.random.default_rng(9), 100_000)
    rng, broken = np.random.default_rng(2), np.zeros(2)
    for _ in range(100):
        values = [own.repeat(10) for own in surer_is_better(rng, 60)]
        for place, groups in enumerate((np.arange(60).repeat(10), None)):
            threshold = guaranteed_threshold(*values, groups).threshold
            broken[place] += threshold is not None and label[p >= threshold].mean() < 0.9
    assert broken[0] <= 18 < broken[1]


def test_of_an_article_one_sentence_counts_that_the_seed_draws_and_no_failed_one():
    ids = np.arange(30).repeat(4)
    p = np.tile([0.9, 0.9, 0.2, 0.1], 30)
    found = guaranteed_threshold(p, p > 0.5, ids)
    assert (found.n_accepted, found.n_articles, found.n_sentences, found.n_errors) == (30, 30, 120, 0)
    assert found.threshold == 0.21 and found.share_left == 0.5
    assert found.bound == pytest.approx(1 - 0.1 ** (1 / 30)) and found.signature["unit"] == "article"
    p, label = surer_is_better(np.random.default_rng(0), 600)
    ids = np.arange(600) // 3
    first, again, other = (guaranteed_threshold(p, label, ids, seed=seed) for seed in (0, 0, 1))
    assert first.to_dict() == again.to_dict() and first.curve != other.curve and other.signature["seed"] == "1"
    found = guaranteed_threshold([0.9] * 22 + [None] * 3, [1] * 22 + [0] * 3)
    assert (found.n_failed, found.n_sentences, found.threshold) == (3, 22, 0)
    assert "3 more could not be judged" in str(found)


def test_none_says_how_many_labels_would_be_needed():
    for p, label, reason in (
        ([0.9] * 21, [1] * 21, "22 articles .* are needed, and 21 were judged: label at least 1 articles more"),
        ([None] * 30, [1] * 30, "and 0 were judged"),
        ([0.9] * 40, [1] * 38 + [0] * 2, "2 of 40 accepted are wrong: at that rate about 78 .* articles instead of 40"),
        ([0.9] * 40, [1] * 20 + [0] * 20, "20 of 40 accepted are wrong: more labels will not help"),
    ):
        found = guaranteed_threshold(p, label)
        assert found.threshold is None and found.guaranteed == [] and not found.accepts(1.0)
        assert re.search(reason, found.reason), found.reason
        assert found.reason in str(found) and json.loads(json.dumps(found.to_dict()))["score"] is None
        assert found.share_left == (1.0 if found.n_sentences else None)
    assert guaranteed_threshold([0.9] * 78, [1] * 74 + [0] * 4).threshold is not None  # so many are enough at that rate
    assert guaranteed_threshold([0.9] * 77, [1] * 73 + [0] * 4).threshold is None


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


FIXED = Says(lambda evidence, _: None if evidence[0][0] == "-" else float(evidence[0]), "fixed-1")  # what stands there


def rows(count, probability, label, start=0):
    row = {"evidence": [str(probability)], "sentence": "It is.", "label": label}
    return [row | {"article_id": start + i} for i in range(count)]


def test_calibrate_finds_both_sides_and_says_on_what():
    labelled = rows(30, 0.9, 1) + rows(30, 0.1, 0, 100) + rows(10, 0.5, 1, 200) + rows(10, 0.5, 0, 300)
    labelled += rows(2, -1, 0, 400)
    found = guarantee_thresholds(labelled, FIXED, name="<b>a set</b>")
    assert found.opposite.threshold < found.threshold
    assert [found.state(p) for p in (0.05, 0.1, 0.9, 1)] == ["contradicted", "contradicted", "supported", "supported"]
    assert found.n_failed == 2 and found.signature["set"] == "<b>a set</b>"
    assert found.opposite.signature["checker"] == "fixed-1" and "fixed-1" in found._repr_html_()
    assert "<b>a set" not in found._repr_html_() and "&lt;b&gt;a set" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["opposite"]["n_sentences"] == 80
    assert (found.side, found.opposite.side) == ("supported", "contradicted")
    assert found.accepts(found.threshold) and found.opposite.accepts(found.opposite.threshold), "itself included"
    table = guarantee_thresholds(pd.DataFrame(labelled), FIXED, name="<b>a set</b>")
    assert table.to_dict() == found.to_dict()


def test_what_both_sides_would_claim_goes_to_one_of_them_and_little_promises_little():
    found = guarantee_thresholds(rows(100, 0.97, 1) + rows(100, 0.02, 0, 500), FIXED)
    assert found.opposite.threshold < found.threshold
    assert found.share_unclear == 0 and abs(found.threshold - 0.5) < 0.011
    assert (found.state(0.97), found.state(0.02)) == ("supported", "contradicted")
    found = guarantee_thresholds(rows(10, 0.9, 1), FIXED)
    assert (found.state(1.0), found.state(0.0), found.share_unclear) == ("unclear", "unclear", 1.0)
    assert "label at least 12 articles more" in str(found)
    labelled = [{"evidence": ["0.9"], "sentence": f"It is {i}.", "label": 1} for i in range(50)]
    assert guarantee_thresholds(labelled, FIXED).n_articles == 1, "the same evidence is one article"


def test_an_article_is_judged_as_evaluate_judges_it():
    article = "The bridge opened in 1931. It is 1,149 metres long. The mayor cut a ribbon."
    sentence = "The bridge opened in 1931."
    first, second = (Says(lambda _, claim: 0.25 if "metres" in claim else 0.75) for _ in range(2))
    evaluate(article, sentence, 2, checker=first)
    guarantee_thresholds([{"text": article, "sentence": sentence, "label": 1}], second, k=2)
    assert second.asked == first.asked and len(first.asked[0][0]) == 2
    two = f"{sentence} It is 1,149 metres long."
    found = guarantee_thresholds([{"article": article, "sentence": two, "label": 1}], second, k=2)
    curve = {row["threshold"]: row["accepted"] for row in found.curve}
    assert (curve[0.25], curve[0.26]) == (1, 0), "of two sentences the weaker one counts"
    assert guarantee_thresholds([{"article": article, "sentence": "", "label": 0}], second).n_failed == 1
