"""The words checker: typography, features, bad input, the fit, and probabilities held against labels."""

from functools import cache
from importlib import resources

import numpy as np
import pytest
from helpers.late import Late
from helpers.says import Says
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb import Checker, checker, evaluate
from summeval_nb.core.results import Signature
from summeval_nb.evidence import Reliability, WordsChecker, load_checker, reliability, tokens, words
from summeval_nb.evidence.base import PairVectors, encode_pairs, fitted_words
from summeval_nb.evidence.builtin import logits_of, platt_scaling
from summeval_nb.evidence.guarantee import reliability_bins
from summeval_nb.evidence.tokens import sentence_tokens
from summeval_nb.text.embed import load_embedder

pd, fit_checker = Late("pandas"), Late("fit_checker")
ASSETS = resources.files("summeval_nb") / "assets"

ARTICLE = [
    "The council approved the plan on Monday.",
    "The mayor opposed the tram line, which costs 40 million euros.",
    "Construction will not begin before 2027.",
]


def keys(text):
    return [token.key for token in sentence_tokens(text)]


def vectors_of(pairs):
    return encode_pairs(pairs, load_embedder("minilm"))


def test_tokens_do_not_depend_on_typography():
    # The same words in the typography of different data sets. Left: as written; right: the keys.
    for text, expected in [
        ("He didn't go.", ["he", "did", "n't", "go"]),
        ("he didn\\'t go", ["he", "did", "n't", "go"]),  # XSumFaith's summaries
        ("Can't, won't, cannot", ["ca", "n't", "wo", "n't", "cannot"]),
        ("the team 's -lrb- own -rrb- goals", ["the", "team", "own", "goal"]),  # Penn Treebank, SummEval
        ("dr [UNK] venter", ["dr", "venter"]),  # XSumFaith's pointer-generator
        ("The U.S. and U.K. agreed", ["the", "us", "and", "uk", "agre"]),
        ("1,500 and 1, 500 and 1500", ["1500", "and", "1500", "and", "1500"]),  # QAGS writes "1, 500"
        ("98.7 and 98. 7 per cent", ["98.7", "and", "98.7", "per", "cent"]),
        ("In 2011, 400 people", ["in", "2011", "400", "peopl"]),
        ("£1.5m, 3bn, 20k", ["1.5", "million", "3", "billion", "20", "thousand"]),
        ("the 1st, 3rd and 83rd minute", ["the", "first", "third", "and", "83", "minut"]),
        ("Twenty-five of three", ["25", "of", "3"]),
        ("12:30 on 3.5.2021", ["12:30", "on", "3.5.2021"]),
        ("PLANNED plans", ["plan", "plan"]),
        ("北京很大", ["北", "京", "很", "大"]),
        ("القط على", ["القط", "على"]),
        ("...!? 😀", []),
    ]:
        assert keys(text) == expected
        assert all(0 <= token.start < token.end <= len(text) for token in sentence_tokens(text))


@given(st.text(max_size=200))
@settings(max_examples=300, deadline=None)
def test_tokens_stand_in_order_inside_any_text(text):
    tokens = sentence_tokens(text)
    assert all(a.end <= b.start for a, b in zip(tokens, tokens[1:], strict=False))
    assert all(text[token.start : token.end].strip() for token in tokens)


def test_given_vectors_are_used_only_from_the_right_embedder_and_in_bulk_is_one_by_one():
    pairs = [(ARTICLE, "The council approved the plan."), (ARTICLE[:1], "It rained in Oslo.")]
    own, ready = WordsChecker().check_many(pairs), vectors_of(pairs)
    given = WordsChecker().check_many(pairs, vectors=ready)
    assert [v.probability for v in given] == pytest.approx([v.probability for v in own], abs=1e-5)
    zero = lambda v: (v.evidence * 0, v.claim * 0, [t * 0 for t in v.evidence_tokens], v.claim_tokens * 0)
    fooled = WordsChecker().check_many(pairs, vectors=[PairVectors(v.embedder, *zero(v)) for v in ready])
    assert fooled[0].probability < given[0].probability - 0.2  # so they are really read ...
    again = WordsChecker().check_many(pairs, vectors=[PairVectors("other", *zero(v)) for v in ready])
    assert [v.probability for v in again] == pytest.approx([v.probability for v in own], abs=1e-5)  # ... or not
    claims = [f"The council approved plan number {n} on Monday." for n in range(300)]
    bulk = WordsChecker().check_many([(ARTICLE, claim) for claim in claims])
    for place in (0, 255, 256, 299):
        verdict = WordsChecker().check_many([(ARTICLE, claims[place])])[0]
        assert verdict.probability == pytest.approx(bulk[place].probability, abs=1e-5)
    assert WordsChecker().check_many([]) == []
    for other, message in ((ready[:1], "2 pairs"), (ready[::-1], "3 evidence")):
        with pytest.raises(ValueError, match=message):
            WordsChecker().check_many(pairs, vectors=other)


def test_a_failure_stops_no_other_and_caches_are_bounded():
    failed, good = WordsChecker().check_many([(ARTICLE, "***"), (ARTICLE, ARTICLE[0])])
    assert failed.failed and failed.probability is None and "no word" in failed.reason and good.supported
    for kept in (tokens.kept_parts, tokens.stem, words.stem_weight):
        assert kept.cache_info().maxsize is not None


def test_the_protocol_takes_any_object_that_keeps_it():
    sure = lambda threshold: Says(lambda evidence, claim: 0.6, threshold=threshold)
    for threshold, supported in ((0.5, True), (0.7, False)):
        assert evaluate("It rained.", "It rained.", checker=sure(threshold)).score == float(supported)
        assert checker(["It rained."], "It rained.", using=sure(threshold)) == (supported, 0.6)
    assert isinstance(sure(0.5), Checker) and isinstance(WordsChecker(), Checker)
    for name, value in (("fingerprint", ""), ("threshold", 2), ("check_many", 1)):
        broken = sure(0.5)
        setattr(broken, name, value)
        with pytest.raises((TypeError, ValueError), match=name):
            load_checker(broken)
    assert WordsChecker().fingerprint == WordsChecker(threshold=0.7).fingerprint  # the threshold stands beside it
    assert len({WordsChecker(slope=s, offset=o).fingerprint for s in (1, 2) for o in (0, 1)}) == 4


def test_reliability_bins_equal_scikit_learn():
    curve = pytest.importorskip("sklearn.calibration").calibration_curve
    generator = np.random.default_rng(1)
    p = generator.uniform(size=500)
    y = (generator.uniform(size=500) < p**2).astype(int)
    share, mean = curve(y, p, n_bins=10)
    bins = reliability(p, y).bins
    assert [row["share_supported"] for row in bins] == pytest.approx(share)
    assert [row["mean_probability"] for row in bins] == pytest.approx(mean)
    weight = np.array([row["n"] for row in bins]) / 500
    assert float(reliability(p, y)) == pytest.approx(float(weight @ np.abs(share - mean)))
    (row,) = reliability_bins([0.8, 1.0], [1, 0], n_bins=2)  # a border belongs to the upper bin
    assert (row["n"], row["mean_probability"], row["share_supported"]) == (2, 0.9, 0.5)
    assert 0 < row["share_low"] < 0.5 < row["share_high"] < 1
    bins = reliability_bins([0.0, 0.5, 1.0], [0, 1, 1], n_bins=2)
    assert [(part["low"], part["high"], part["n"]) for part in bins] == [(0.0, 0.5, 1), (0.5, 1.0, 2)]


def test_platt_scaling_equals_a_weighted_logistic_regression():
    linear = pytest.importorskip("sklearn.linear_model")
    generator = np.random.default_rng(2)
    p = generator.uniform(0.01, 0.99, size=200)
    y = (generator.uniform(size=200) < p**2).astype(int)
    n, m = y.sum(), (1 - y).sum()
    target = np.where(y == 1, (n + 1) / (n + 2), 1 / (m + 2))
    z = np.log(p / (1 - p))[:, None]
    model = linear.LogisticRegression(C=1e12, tol=1e-10, max_iter=10_000)
    model.fit(np.vstack([z, z]), np.repeat([1, 0], 200), sample_weight=np.concatenate([target, 1 - target]))
    assert platt_scaling(p, y) == pytest.approx((model.coef_[0, 0], model.intercept_[0]), abs=1e-4)


def test_a_calibration_counts_failures_applies_itself_and_gives_table_numbers_and_picture():
    some = reliability([0.9, None, 0.2], [1, 1, 0])
    assert (some.n, some.n_failed) == (2, 1) and some.to_dict()["n_failed"] == 1 and "0.2" not in some.signature
    empty = reliability([None], [1])
    assert isinstance(empty, Reliability) and empty.score is None and empty.reason and empty.n_failed == 1
    one_sided = reliability([0.9, 0.8], [1, 1])
    assert one_sided.slope is None and float(one_sided) == pytest.approx(0.15)
    assert list(some.to_frame()["n"]) == [1, 1] and "<table" in some._repr_html_()
    none = Reliability(score=None, reason="no items", signature=Signature({"metric": "reliability"}))
    for repair in (none, reliability([0.2, 0.4], [1, 1])):
        with pytest.raises(ValueError, match="labels of both kinds"):
            repair.apply([0.5])
    result = reliability([0.9, 0.7, None, 0.2], [1, 0, 1, 0], n_bins=2)
    assert result.rows() == result.bins and result.rows()[0] is not result.bins[0]
    told = result.to_dict()
    assert (told["n"], told["n_failed"], told["brier"]) == (3, 1, pytest.approx((0.01 + 0.49 + 0.04) / 3))
    assert told["slope"] == result.slope and told["score"] == result.score
    moved = 1 / (1 + np.exp(-(result.slope * logits_of(np.array([0.9])) + result.offset)))
    assert result.apply([0.9]) == pytest.approx(moved)
    assert [text.get_text() for text in result.plot().texts] == ["1", "2"]


def test_recalibration_moves_the_level_and_keeps_the_order():
    claims = ["The council approved the plan.", "The council met in Paris.", "It rained.", "The mayor opposed it."]
    pairs = [(ARTICLE, claim) for claim in claims]
    first = WordsChecker()
    p = np.array([v.probability for v in first.check_many(pairs)])
    generator = np.random.default_rng(0)
    scores = generator.uniform(0.05, 0.95, size=400)
    labels = (generator.uniform(size=400) < scores / 2).astype(int)  # people are stricter than the checker
    second = first.calibrate(scores, labels)
    q = np.array([v.probability for v in second.check_many(pairs)])
    assert (np.argsort(p) == np.argsort(q)).all() and q.mean() < p.mean()
    logit = lambda x: np.log(x / (1 - x))
    twice = second.calibrate(q_scores := 1 / (1 + np.exp(-(second.slope * logit(scores) + second.offset))), labels)
    assert (twice.slope, twice.offset) == pytest.approx((second.slope, second.offset), abs=0.05)  # nothing left to mend
    assert float(reliability(q_scores, labels)) < float(reliability(scores, labels))


# ------------------------------------------------------------------------------------------------- what was fitted


@cache
def asset(name):
    return pd.read_csv(ASSETS / name)


def test_the_shipped_probability_is_calibrated_on_its_own_data():
    alone = asset("checker_sentences.csv.gz").query("judged_alone == 1")
    weights = words.feature_weights()
    logits = fitted_words()["intercept"] + alone[list(weights)].to_numpy() @ np.array(list(weights.values()))
    assert float(reliability(1 / (1 + np.exp(-logits)), alone["unit_label"].to_numpy())) < 0.08


@pytest.mark.slow
def test_features_of_real_articles_equal_the_packaged_table(data_folder, monkeypatch):
    monkeypatch.setattr(fit_checker, "KS", (8,))
    found = fit_checker.features(fit_checker.load(data_folder)[:3])
    stored = asset("checker_sentences.csv.gz").query("article < 3").reset_index(drop=True)
    for name in words.FEATURES:
        np.testing.assert_allclose(found[name], stored[name], atol=2e-3)
