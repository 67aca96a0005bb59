"""The SummEval task against mteb's own evaluator, and what does not fit."""

from pathlib import Path

import meta  # the benchmark's embedders and its call of mteb
import numpy as np
import pytest
from helpers.late import Late

import summeval_nb
from summeval_nb.agreement.summeval import SIMILARITIES, p_values_of
from summeval_nb.agreement.tables import (
    embed_summaries,
    metric_table,
    reference_similarities,
    summeval_scores,
    summeval_task,
)
from summeval_nb.core.data import QUALITIES, SummEval, load_summeval, load_toy_summeval
from summeval_nb.text import load_embedder

stats = Late("scipy.stats")

TOY = load_toy_summeval()


@pytest.fixture(scope="module")
def real(data_folder) -> SummEval:
    return load_summeval(data_folder / "summeval.jsonl.gz")


def by_mteb(data, vectors, variant):
    pytest.importorskip("mteb")
    return meta.mteb_scores(data, vectors, deprecated=variant == "v1")[0]


def ours(data, vectors, variant):
    machine, human = embed_summaries(data, meta.Given(vectors))
    tables = {kind: reference_similarities(machine, human, similarity=kind) for kind in SIMILARITIES}
    return summeval_scores(tables, data.ratings["relevance"], variant=variant)[0]


def vectors_of(data, seed=0, length=1.0):
    texts = dict.fromkeys([t for row in (*data.summaries, *data.references) for t in row])
    rng = np.random.default_rng(seed)
    return {text: (rng.normal(size=384) * rng.uniform(0.5, length + 1)).astype(np.float32) for text in texts}


@pytest.mark.parametrize("variant", ["v1", "v2"])
def test_equal_to_mteb_on_the_same_vectors(real, variant):
    """54 summaries occur twice in an article here: their ties must be kept as mteb keeps them."""
    vectors = vectors_of(real)
    found, expected = ours(real, vectors, variant), by_mteb(real, vectors, variant)
    for name in ("cosine_spearman", "cosine_pearson", "dot_spearman", "dot_pearson"):
        assert found[name] == pytest.approx(expected[name], abs=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("variant", ["v1", "v2"])
def test_articles_are_skipped_by_mtebs_rule(variant):
    """One article gets equal ratings, another equal vectors; one has equal ratings in the toy already."""
    ratings = {quality: values.copy() for quality, values in TOY.ratings.items()}
    ratings["relevance"][2] = 3.0
    data = SummEval("toy", TOY.ids, TOY.sources, TOY.references, TOY.systems, TOY.summaries, ratings)
    vectors = vectors_of(data)
    for text in data.summaries[5]:
        vectors[text] = vectors[data.summaries[5][0]]
    machine, human = embed_summaries(data, meta.Given(vectors))
    tables = {kind: reference_similarities(machine, human, similarity=kind) for kind in SIMILARITIES}
    found, skipped = summeval_scores(tables, ratings["relevance"], variant=variant)
    assert skipped == [1, 2, 5]  # article 1 has four equal ratings in the toy itself
    expected = by_mteb(data, vectors, variant)
    for name in ("cosine_spearman", "cosine_pearson", "dot_spearman", "dot_pearson"):
        assert found[name] == pytest.approx(expected[name], abs=1e-9)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
@pytest.mark.parametrize("n", [3, 16])
def test_p_values_are_scipys(coefficient, n):
    rng = np.random.default_rng(n)
    reference = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}[coefficient]
    results = [reference(rng.normal(size=n), rng.normal(size=n)) for _ in range(20)]
    r, p = np.array([(result.statistic, result.pvalue) for result in results]).T
    assert p_values_of(r, np.full(20, n), coefficient) == pytest.approx(p, abs=1e-12)


def test_the_shipped_table_gives_the_published_numbers():
    """From numbers that ship with the package: no data file needed."""
    path = Path(summeval_nb.__file__).parent / "assets" / "summeval_real.npz"
    with np.load(path, allow_pickle=False) as file:
        relevance = file["thirds"][:, :, QUALITIES.index("relevance")] / 3
        best = np.round(file["cosine"].max(axis=2).astype(float), 12)
    assert relevance.mean() == pytest.approx(3.7770833, abs=1e-6)
    new, old = (summeval_scores({"cosine": best}, relevance, variant=v)[0] for v in ("v2", "v1"))
    assert new["cosine_pearson"] == pytest.approx(0.29751589, abs=1e-6)
    assert new["cosine_spearman"] == pytest.approx(0.2576, abs=5e-4)
    assert old["cosine_spearman"] == pytest.approx(0.3158, abs=1e-3)


@pytest.mark.nightly
def test_end_to_end_with_the_packaged_model(real):
    packaged = load_embedder("minilm")
    found = summeval_task(real, packaged)
    assert found["cosine_spearman"] == pytest.approx(0.2576, abs=5e-4)
    assert found["cosine_pearson"] == pytest.approx(0.29751589, abs=1e-5)
    assert found["dot_spearman"] == pytest.approx(found["cosine_spearman"], abs=1e-6)  # vectors of length one
    assert summeval_task(TOY).signature["embedder"] == packaged.fingerprint  # what is taken if nobody says


def test_missing_ratings_are_left_out_and_counted():
    ratings = {quality: values.copy() for quality, values in TOY.ratings.items()}
    ratings["relevance"][0, 1] = np.nan
    data = SummEval("toy", TOY.ids, TOY.sources, TOY.references, TOY.systems, TOY.summaries, ratings)
    found = summeval_task(data, meta.Random())
    assert found.n_missing == 1 and np.isfinite(found["main_score"])
    table = reference_similarities(*embed_summaries(data, meta.Random()))
    kept = [i for i in range(8) if i not in found.skipped]
    per_article = []
    for i in kept:
        there = ~np.isnan(ratings["relevance"][i])
        per_article.append(stats.spearmanr(table[i][there], ratings["relevance"][i][there]).statistic)
    assert found["main_score"] == pytest.approx(np.mean(per_article))


def test_an_article_with_nothing_to_correlate_is_skipped_and_two_pairs_have_no_p_value():
    """Ratings that are all equal where there is a similarity: found by the torture as NaN."""
    human = [[1.0, 2, 3, 4], [2.0, 4, np.nan, 2]]
    table = np.array([[1.0, 2, 4, 3], [5.0, np.nan, 1, 2]])
    for variant in ("v1", "v2"):
        found, skipped = summeval_scores({"cosine": table}, human, variant=variant)
        alone, _ = summeval_scores({"cosine": table[:1]}, human[:1], variant=variant)
        assert skipped == [1] and found == alone and np.isfinite(list(found.values())).all()
    human, table = [[1.0, 2, 3], [2.0, 4, 1]], np.array([[1.0, 3, 2], [5.0, np.nan, 1]])
    found, skipped = summeval_scores({"cosine": table}, human, variant="v1")
    assert skipped == [1] and np.isfinite(list(found.values())).all()
    assert summeval_scores({"cosine": table}, human)[1] == []
    with pytest.raises(ValueError, match="no article is left"):
        summeval_scores({"cosine": table[1:]}, human[1:], variant="v1")


# System-level Kendall's tau-b over the 16 systems with coherence, consistency, fluency, relevance, and the mean score.
# Computed once from this data file with rouge-score-rs 0.2.1 (best F of 11 references), sacrebleu 2.6.0 (sentence BLEU,
# all references), numpy's means and scipy's kendalltau, without this package: from the ratings as they are written.
# The last column is fluency from sums of three whole grades instead: M1 and M22 tie there, one pair of 120.
SYSTEM_LEVEL = {
    "rouge1": ([0.350000, 0.316667, 0.450000, 0.583333], 0.476604, 0.460255),
    "rouge2": ([0.233333, 0.233333, 0.466667, 0.466667], 0.249411, 0.476992),
    "rougeL": ([0.366667, 0.100000, 0.333333, 0.466667], 0.341698, 0.343099),
    "bleu": ([0.250000, -0.050000, 0.250000, 0.316667], 22.404996, 0.259416),
}


@pytest.mark.parametrize("raters", [None, 3])
def test_system_level_rows_of_rouge_and_bleu(data_folder, raters):
    data = load_summeval(data_folder / "summeval.jsonl.gz", raters=raters)
    found = metric_table(data, list(SYSTEM_LEVEL), level="system", rank=False, n_resamples=0)
    for name, (taus, mean, fluency) in SYSTEM_LEVEL.items():
        assert found.scores[name].mean() == pytest.approx(mean, abs=2e-6)
        expected = dict(zip(QUALITIES, taus, strict=True)) | ({"fluency": fluency} if raters else {})
        assert [found.correlations[name, q].score for q in QUALITIES] == pytest.approx(
            [expected[q] for q in QUALITIES], abs=1e-6
        )
